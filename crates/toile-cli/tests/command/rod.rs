//! Rods from scene to table.

use std::fs;

use crate::common::{Folder, code, said, toile, vertices};

const CURL: &str = r#"
[[rod]]
model = "super-clothoid"
elements = 40
length = 0.5
bending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7
linear_density = 2.0e-5
natural_curvature = { k1 = [30.0], k2 = [0.0], twist = [12.0] }
clamp = { position = [0, 0, 0], d1 = [1, 0, 0], d2 = [0, -1, 0], d3 = [0, 0, -1] }
"#;

fn table(path: std::path::PathBuf) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("s,x,y,z,d1x,d1y,d1z,d2x,d2y,d2z,d3x,d3y,d3z\n"));
    text.lines().skip(1).map(|l| l.split(',').map(|c| c.parse().unwrap()).collect()).collect()
}

#[test]
fn a_curl_hangs_where_shooting_puts_it() {
    let folder = Folder::new();
    folder.write("curl.toml", CURL);
    let output = toile(&folder, &["drape", "curl.toml", "--out", "a"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let rows = table(folder.0.join("a/rod_0.csv"));
    assert_eq!((rows.len(), rows[20][0]), (21, 0.5));
    // Tip of the shooting solution of the Kirchhoff equations.
    let tip = [0.112827992, 0.053007708, -0.178903287];
    for (got, expected) in rows[20][1..4].iter().zip(tip) {
        assert!((got - expected).abs() < 1e-7, "{:?}", rows[20]);
    }
    let certificate = fs::read_to_string(folder.0.join("a/certificate.json")).unwrap();
    assert!(certificate.contains("\"verdict\": \"certified\""), "{certificate}");
    // Other axes, other stations, the same rod.
    let turned = format!(
        "up = \"y\"\n{}",
        CURL.replace("[0, -1, 0], d3 = [0, 0, -1]", "[0, 0, 1], d3 = [0, -1, 0]")
    );
    folder.write("turned.toml", &turned);
    let output =
        toile(&folder, &["drape", "turned.toml", "--out", "b", "--stations", "5", "--json"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let turned = table(folder.0.join("b/rod_0.csv"));
    assert_eq!(turned.len(), 5);
    assert!(
        (turned[4][2] - rows[20][3]).abs() < 1e-12 && (turned[4][3] + rows[20][2]).abs() < 1e-12
    );
}

#[test]
fn bad_rods_are_answered_in_words() {
    let folder = Folder::new();
    for (from, to, expected) in [
        ("elements = 40", "elements = -3", "elements"),
        ("d2 = [0, -1, 0]", "d2 = [0, 1, 0]", "right-handed"),
        ("length = 0.5\n", "", "the rod has no `length`"),
    ] {
        folder.write("bad.toml", &CURL.replace(from, to));
        let output = toile(&folder, &["drape", "bad.toml", "--out", "bad"]);
        assert_eq!(code(&output), 2);
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}

const DRAWN: &str = r#"
[[rod]]
curve = "strand.obj"
elements = 20
bending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7
linear_density = 2.0e-5
"#;

fn strand() -> String {
    let mut text = String::new();
    for i in 0..200 {
        let t = f64::from(i) / 199.0;
        let (a, r) = (14.0 * t, 0.02 * (1.0 + 0.5 * t));
        text += &format!("v {} {} {}\n", r * a.cos(), r * a.sin(), -0.25 * t);
    }
    let indices: Vec<String> = (1..=200).map(|i| i.to_string()).collect();
    text + "l " + &indices.join(" ") + "\n"
}

#[test]
fn a_drawn_curl_is_inverted_and_drapes_back() {
    let folder = Folder::new();
    folder.write("strand.obj", &strand());
    folder.write("drawn.toml", DRAWN);
    let output = toile(&folder, &["invert", "drawn.toml", "--out", "found"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let drawn = table(folder.0.join("found/rod_0.csv"));
    let output = toile(&folder, &["drape", "found/inverted.toml", "--out", "back"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    for (a, b) in drawn.iter().zip(table(folder.0.join("back/rod_0.csv"))) {
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() < 1e-9, "{a:?}");
        }
    }
    let rest = fs::read_to_string(folder.0.join("found/rest.obj")).unwrap();
    assert_eq!(rest.lines().filter(|l| l.starts_with("v ")).count(), 81);
}

#[test]
fn soft_or_broken_strands_are_answered_in_words() {
    let folder = Folder::new();
    folder.write("strand.obj", "v 0 0 0\nv 0 0 0.25\nv 0 0 0.5\nl 1 2 3\n");
    folder.write("drawn.toml", DRAWN);
    let output = toile(&folder, &["invert", "drawn.toml", "--out", "found"]);
    assert_eq!(code(&output), 1);
    assert!(said(&output).contains("times as stiff"), "{}", said(&output));
    for (strand, expected) in [
        ("v 0 0 0\n", "two points apart"),
        ("v 0 0 0\nv 0 0 0\nl 1 2\n", "two points apart"),
        ("v 0 0 0\nv 0 0 nan\nl 1 2\n", "not finite"),
        ("v 0 0 0\nv 0 1 0\nv 1 0 0\nv 1 1 0\nl 1 2\nl 3 4\n", "use a table [[hair]]"),
        ("", "no strand"),
    ] {
        folder.write("strand.obj", strand);
        let output = toile(&folder, &["invert", "drawn.toml", "--out", "found"]);
        assert_eq!(code(&output), 2, "{strand}");
        assert!(said(&output).contains(expected), "{}", said(&output));
    }
}

#[test]
fn a_hair_falls_on_a_ball_and_the_files_tell() {
    let folder = Folder::new();
    let scene = r#"
[[rod]]
elements = 12
length = 0.3
bending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7
linear_density = 2.0e-5
clamp = { position = [-0.1, 0, 0.06], d1 = [0, 1, 0], d2 = [0, 0, 1], d3 = [1, 0, 0] }

[[collider]]
sphere = { center = [0, 0, 0], radius = 0.05 }
friction = 0.3

[time]
step = 2e-3
duration = 0.4
frame = 0.1
damping = 2.0
"#;
    folder.write("fall.toml", scene);
    let output = toile(&folder, &["simulate", "fall.toml", "--out", "fall"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    for frame in 0..5 {
        assert!(folder.0.join(format!("fall/frame_0000{frame}.obj")).is_file());
    }
    let contacts = fs::read_to_string(folder.0.join("fall/contacts.jsonl")).unwrap();
    assert!(contacts.contains("\"collider\": 0"), "{contacts}");
    let steps = fs::read_to_string(folder.0.join("fall/steps.jsonl")).unwrap();
    assert_eq!(steps.lines().count(), 200);
    // No point inside the ball.
    let last = fs::read_to_string(folder.0.join("fall/frame_00004.obj")).unwrap();
    for line in last.lines().filter(|l| l.starts_with("v ")) {
        let p: Vec<f64> = line[2..].split(' ').map(|w| w.parse().unwrap()).collect();
        let r = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
        assert!(r > 0.0514, "{line}: {r}");
    }
}

const FLOOR: &str = r#"
[[rod]]
elements = 12
length = 0.3
bending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7
linear_density = 2.0e-5
radius = 1e-3
clamp = { position = [0, 0, 0.03], d1 = [0, 1, 0], d2 = [0, 0, 1], d3 = [1, 0, 0] }

[[collider]]
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
friction = 0.4
gap = 0.0
"#;

#[test]
fn a_rod_drapes_on_a_floor_with_a_certificate_that_says_it_stays() {
    let folder = Folder::new();
    folder.write("floor.toml", FLOOR);
    let output = toile(&folder, &["drape", "floor.toml", "--out", "a", "--drift", "0.5"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = fs::read_to_string(folder.0.join("a/certificate.json")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&text).unwrap();
    let figure = |key: &str| certificate[key].as_f64().unwrap_or_else(|| panic!("{key}: {text}"));
    assert_eq!(certificate["verdict"], "certified", "{text}");
    assert!(figure("residual") <= 1e-8 && figure("cone_gap") <= 1e-8, "{text}");
    assert!(figure("cone_margin") > 0.0 && figure("penetration") < 1e-5, "{text}");
    assert!(figure("drift") <= 1e-4 && figure("contacts") >= 1.0, "{text}");
    let rows = table(folder.0.join("a/rod_0.csv"));
    let lowest = rows.iter().map(|r| r[3]).fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.5e-3 && lowest < 1.5e-3, "{lowest}");
    assert!(folder.0.join("a/contacts.jsonl").is_file());
    // A floor over the rod: said where and how deep.
    folder.write("deep.toml", &FLOOR.replace("point = [0, 0, 0]", "point = [0, 0, 0.2]"));
    let output = toile(&folder, &["drape", "deep.toml", "--out", "b"]);
    assert!([0, 1, 2].contains(&code(&output)), "{}", said(&output));
}

#[test]
fn fibres_resume_to_the_same_bits() {
    let folder = Folder::new();
    let time = |duration: f64| {
        format!("{FLOOR}\n[time]\nstep = 2e-3\nduration = {duration}\nframe = 0.02\n")
    };
    folder.write("whole.toml", &time(0.3));
    let output = toile(&folder, &["simulate", "whole.toml", "--out", "whole"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    folder.write("part.toml", &time(0.16));
    let output = toile(&folder, &["simulate", "part.toml", "--out", "parts"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = toile(&folder, &["simulate", "whole.toml", "--out", "parts", "--resume"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    for file in ["frame_00015.obj", "checkpoint.txt", "steps.jsonl"] {
        let read = |dir: &str| fs::read(folder.0.join(dir).join(file)).unwrap();
        assert!(read("whole") == read("parts"), "{file}");
    }
    // Of another scene, and damaged.
    folder.write("other.toml", &time(0.3).replace("elements = 12", "elements = 13"));
    let output = toile(&folder, &["simulate", "other.toml", "--out", "parts", "--resume"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("another scene"), "{}", said(&output));
    folder.write("parts/checkpoint.txt", "toile fibres 2\nstep 3\n");
    let output = toile(&folder, &["simulate", "whole.toml", "--out", "parts", "--resume"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("line 3"), "{}", said(&output));
}

const HAIR: &str = r#"
[[hair]]
strands = "hair.obj"
elements = 8
bending_stiffness = [1.0e-5, 1.0e-5]
twisting_stiffness = 7.0e-6
linear_density = 2.0e-5

[[collider]]
sphere = { center = [0, 0, 0], radius = 0.1 }
friction = 0.3

[self_contact]
friction = 0.3

[time]
step = 1e-3
duration = 2e-3
"#;

#[test]
fn hair_of_all_sorts_is_answered_in_words() {
    let folder = Folder::new();
    folder.write("hair.toml", HAIR);
    let good = "v 0 0 0.102\nv 0.02 0 0.16\nv 0.05 0 0.2\nl 1 2 3\n";
    for (hair, command, exit, expected) in [
        // Points twice, a strand of one point, one without length: left out and told.
        (
            "v 0 0 0.102\nv 0 0 0.102\nv 0.02 0 0.16\nv 0.05 0 0.2\nl 1 2 3 4\n",
            "invert",
            0,
            "certified",
        ),
        (
            "v 0 0 0.102\nv 0.02 0 0.16\nv 0.05 0 0.2\nl 1 2 3\nl 2\n",
            "invert",
            0,
            "fewer than two points",
        ),
        (
            "v 0 0 0.102\nv 0.02 0 0.16\nv 0.05 0 0.2\nl 1 2 3\nl 2 2\n",
            "invert",
            0,
            "without length",
        ),
        ("v 0 0 0.102\nl 1\n", "invert", 2, "no strand has a length"),
        ("v 0 0 0.102\nv 0 nan 0.2\nl 1 2\n", "invert", 2, "not finite"),
        ("v 0 0 0.102\nv 0 inf 0.2\nl 1 2\n", "simulate", 2, "not finite"),
        ("v 0 0 0.102\nl 1 7\n", "simulate", 2, "no vertex"),
        // Roots under the skin are usual; strands that go through the head are not.
        (
            "v 0 0 0.07\nv 0.02 0 0.16\nv 0.05 0 0.2\nl 1 2 3\n",
            "simulate",
            0,
            "start inside a collider",
        ),
        ("v 0 0 0.15\nv 0.01 0 0.05\nv 0 0 -0.2\nl 1 2 3\n", "simulate", 2, "inside collider 0"),
        ("v 0 0 0.15\nv 0.01 0 0.05\nv 0 0 -0.2\nl 1 2 3\n", "invert", 2, "inside collider 0"),
        // Begun outside, they are not rooted where they go in.
        ("v 0 0 0.11\nv 0 0 0.05\nv 0 0 -0.09\nl 1 2 3\n", "simulate", 2, "not rooted there"),
        ("v 0 0 0.11\nv 0 0 0.05\nv 0 0 -0.09\nl 1 2 3\n", "invert", 2, "not rooted there"),
        ("v 0 0 0.05\nv 0 0 0.06\nv 0.01 0 0.065\nl 1 2 3\n", "simulate", 0, "never touch it"),
        (
            "v 0 0 0.15\nv 0.02 0 0.2\nl 1 2\nv 0 0 0.15\nv 0.02 0 0.2\nl 3 4\n",
            "simulate",
            0,
            "exact copies",
        ),
        // Back on itself: no rod of a few elements does that.
        ("v 0 0 0.15\nv 0 0 0.25\nv 0 0 0.16\nl 1 2 3\n", "invert", 1, "are not what was drawn"),
        (good, "simulate", 0, ""),
    ] {
        folder.write("hair.obj", hair);
        let output = toile(&folder, &[command, "hair.toml", "--out", "out"]);
        assert_eq!(code(&output), exit, "{hair}\n{}", said(&output));
        assert!(said(&output).contains(expected), "{hair}\n{}", said(&output));
    }
}

/// A lock that goes through the head is refused, and lies on it where that is asked for.
#[test]
fn strands_through_the_head_are_pushed_out_on_request() {
    let folder = Folder::new();
    folder.write("hair.toml", HAIR);
    // Rooted on one side, out of the head, through its top and out again; and a lock that touches nothing.
    let lock = "v -0.07 0 0.0715\nv -0.085 0 0.1\nv -0.05 0.005 0.095\nv -0.02 0.01 0.088\nv 0.02 0.01 0.085\nv 0.06 0.01 0.085\nv 0.1 0.01 0.08\n";
    let free = "v 0 -0.1 0\nv 0 -0.13 0.02\nv 0 -0.16 0.01\n";
    folder.write("hair.obj", &format!("{lock}{free}l 1 2 3 4 5 6 7\nl 8 9 10\n"));
    let outside = |file: &str| {
        let norm = |p: &[f64; 3]| p.iter().map(|x| x * x).sum::<f64>().sqrt();
        vertices(folder.0.join(file)).iter().map(norm).fold(f64::INFINITY, f64::min)
    };
    for (command, file) in [
        ("simulate", "frame_00000.obj"),
        ("drape", "equilibrium.obj"),
        ("invert", "equilibrium.obj"),
    ] {
        let output = toile(&folder, &[command, "hair.toml", "--out", "out"]);
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert!(said(&output).contains("--push-out"), "{}", said(&output));
        let output = toile(&folder, &[command, "hair.toml", "--out", command, "--push-out"]);
        assert!(code(&output) < 2, "{command} {}", said(&output));
        let told = said(&output);
        assert!(told.contains("1 fibre(s) went through a collider and were pushed out"), "{told}");
        let least = outside(&format!("{command}/{file}"));
        assert!(least > 0.099, "{command}: {least}");
    }
}

/// Straight up, a strand falls by its weight beyond Greenhill's height, ρA g L³ = 7.8373 EI. `invert` tells how stiff it must be, and so stiff it holds.
#[test]
fn hair_too_soft_to_stand_is_told_how_stiff_it_must_be() {
    let folder = Folder::new();
    let scene = |times: f64| {
        let (bending, twisting) = (8e-9 * times, 6e-9 * times);
        HAIR.replace("[1.0e-5, 1.0e-5]", &format!("[{bending:e}, {bending:e}]"))
            .replace("7.0e-6", &format!("{twisting:e}"))
            .replace("2.0e-5", "6.5e-6\nradius = 2e-4")
            .replace("elements = 8", "elements = 20")
    };
    // One upright, two that cross beside it and lean on each other.
    let line = |from: [f64; 3], to: [f64; 3]| -> String {
        let at = |k: usize, i: usize| from[i] + (to[i] - from[i]) * k as f64 / 9.0;
        (0..10).map(|k| format!("v {} {} {}\n", at(k, 0), at(k, 1), at(k, 2))).collect()
    };
    let upright = line([0.0, 0.0, 0.1], [0.0, 0.0, 0.25]);
    let lower = line([0.08, 0.0, 0.06], [0.14, 0.0, 0.06]);
    let upper = line([0.1, 0.03, 0.0604], [0.1, -0.03, 0.0604]);
    let index = |from: usize| (from..from + 10).map(|i| format!(" {i}")).collect::<String>();
    let lines = [1, 11, 21].map(|from| format!("l{}\n", index(from))).concat();
    folder.write("hair.obj", &format!("{upright}{lower}{upper}{lines}"));
    let invert = |times: f64| {
        folder.write("hair.toml", &scene(times));
        let output = toile(&folder, &["invert", "hair.toml", "--out", "out", "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (code(&output), json)
    };
    let (exit, told) = invert(1.0);
    let factor = told["stiffening"].as_f64().unwrap();
    let greenhill = 6.5e-6 * 9.81 * 0.15f64.powi(3) / (7.8373 * 8e-9);
    assert_eq!(exit, 1, "{told}");
    assert!((factor / greenhill - 1.0).abs() < 0.005, "{factor} {greenhill}");
    let (exit, told) = invert(0.98 * factor);
    assert_eq!(exit, 1, "{told}");
    let (exit, told) = invert(1.02 * factor);
    assert_eq!((exit, told["contacts"].as_u64()), (0, Some(1)), "{told}");
    assert!(told["drift"].as_f64().unwrap() < 1e-4, "{told}");
}

/// Straight up, half a metre of hair is in balance and would fall: `drape` says where it comes to lie.
#[test]
fn hair_drawn_upright_is_draped_to_where_it_falls() {
    let folder = Folder::new();
    let alone = HAIR.split("[[collider]]").next().unwrap().replace("1.0e-5", "1.0e-6");
    folder.write("hair.toml", &alone);
    folder.write("hair.obj", "v 0 0 0\nv 0 0 0.25\nv 0 0 0.5\nl 1 2 3\n");
    let output =
        toile(&folder, &["drape", "hair.toml", "--out", "out", "--json", "--drift", "0.2"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["verdict"], &json["escapes"]), (&"certified".into(), &1.into()), "{json}");
    assert!(json["drift"].as_f64().unwrap() < 1e-4, "{json}");
    let lowest =
        vertices(folder.0.join("out/equilibrium.obj")).iter().map(|p| p[2]).fold(1.0, f64::min);
    assert!(lowest < -0.1, "{lowest}");
}

/// Before there is anything to show, Ctrl-C ends every command on hair soon, and leaves no file behind.
#[cfg(unix)]
#[test]
fn ctrl_c_while_strands_are_fitted_writes_nothing() {
    let folder = Folder::new();
    folder.write("hair.toml", &HAIR.replace("elements = 8", "elements = 30"));
    let strand = |i: usize| {
        let root = 0.102 + 1e-6 * i as f64;
        let point = |k: usize| {
            format!("v {} {} {}\n", 0.01 * k as f64, 1e-3 * (k * k) as f64, root + 0.01 * k as f64)
        };
        let points: String = (0..6).map(point).collect();
        format!("{points}l -6 -5 -4 -3 -2 -1\n")
    };
    folder.write("hair.obj", &(0..40_000).map(strand).collect::<String>());
    for command in ["simulate", "invert", "drape"] {
        let interrupt = format!(
            "\"$0\" {command} hair.toml --out {command} & id=$!; while [ ! -d {command} ]; do sleep 0.05; done; \
            kill -INT $id; wait $id"
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &interrupt, env!("CARGO_BIN_EXE_toile")])
            .current_dir(&folder.0)
            .output();
        let Ok(output) = output else { return }; // no bash here: nothing to test
        assert_eq!(code(&output), 1, "{command}: {}", said(&output));
        assert!(
            said(&output).contains("of 40000 fibre(s); nothing was written"),
            "{}",
            said(&output)
        );
        assert_eq!(fs::read_dir(folder.0.join(command)).unwrap().count(), 0, "{command}");
    }
}

#[test]
fn a_strand_of_a_quarter_million_points_is_read() {
    let folder = Folder::new();
    let count = 250_000u32;
    // Cem Yuksel's format: no array of segments, so their number is the default one.
    let mut bytes = b"HAIR".to_vec();
    for n in [1u32, count, 2, count - 1] {
        bytes.extend(n.to_le_bytes());
    }
    bytes.resize(128, 0);
    for i in 0..count {
        let t = f64::from(i) / f64::from(count - 1);
        for x in [0.05 * (6.0 * t).sin(), 0.05 * (6.0 * t).cos(), 0.12 - 0.2 * t] {
            bytes.extend((x as f32).to_le_bytes());
        }
    }
    fs::write(folder.0.join("hair.hair"), bytes).unwrap();
    let scene = HAIR.split("[[collider]]").next().unwrap().replace("hair.obj", "hair.hair");
    folder.write("hair.toml", &scene);
    let output = toile(&folder, &["invert", "hair.toml", "--out", "out"]);
    assert!([0, 1].contains(&code(&output)), "{}", said(&output));
    assert!(said(&output).contains("1 fibre(s)"), "{}", said(&output));
}

/// A branch that grows from the middle of another, a planar rod and the discrete one, on the command line.
#[test]
fn trees_planar_and_discrete_rods_drape() {
    let folder = Folder::new();
    let plain = CURL.replace("elements = 40", "elements = 20\naccuracy = 0");
    let twig = r#"
[[rod]]
elements = 8
length = 0.15
bending_stiffness = [1.0e-6, 1.0e-6]
twisting_stiffness = 7.0e-7
linear_density = 2.0e-5
parent = { rod = 0, at = 0.52, d1 = [1, 0, 0], d2 = [0, 0, 1], d3 = [0, -1, 0] }
"#;
    folder.write("tree.toml", &format!("{plain}{twig}"));
    let output = toile(&folder, &["drape", "tree.toml", "--out", "tree", "--stations", "26"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let (trunk, branch) =
        (table(folder.0.join("tree/rod_0.csv")), table(folder.0.join("tree/rod_1.csv")));
    // The branch starts where it grows: 0.52 of the trunk is station 13 of 26.
    for c in 1..4 {
        assert!((trunk[13][c] - branch[0][c]).abs() < 1e-9, "{:?} {:?}", trunk[13], branch[0]);
    }
    // Its weight pulls the trunk down: alone it ends higher.
    folder.write("alone.toml", &plain);
    assert_eq!(code(&toile(&folder, &["drape", "alone.toml", "--out", "alone"])), 0);
    let alone = table(folder.0.join("alone/rod_0.csv"));
    assert!(trunk[25][3] < alone[20][3] - 1e-4, "{} {}", trunk[25][3], alone[20][3]);
    folder.write("late.toml", &format!("{}{plain}", twig.replace("rod = 0", "rod = 1")));
    let output = toile(&folder, &["drape", "late.toml", "--out", "late"]);
    assert!(
        code(&output) == 2 && said(&output).contains("which is not before it"),
        "{}",
        said(&output)
    );
    // Let go in its natural shape it comes to rest there, trunk and branch.
    let time = "[time]\nstep = 0.005\nduration = 3.0\nframe = 3.0\ndamping = 8.0\n";
    folder.write("moving.toml", &format!("{plain}{twig}{time}"));
    let output = toile(&folder, &["simulate", "moving.toml", "--out", "moving"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let points = |frame: &str| -> Vec<Vec<f64>> {
        let text = fs::read_to_string(folder.0.join("moving").join(frame)).unwrap();
        let numbers = |l: &str| l[2..].split(' ').map(|w| w.parse().unwrap()).collect();
        text.lines().filter(|l| l.starts_with("v ")).map(numbers).collect()
    };
    let (start, end) = (points("frame_00000.obj"), points("frame_00001.obj"));
    let off = |p: &[f64], station: &[f64]| {
        (0..3).map(|c| (p[c] - station[c + 1]).abs()).fold(0.0, f64::max)
    };
    // Trunk: 20 elements and the cut where the branch grows.
    for (tip, station) in [(21, &trunk[25]), (end.len() - 1, &branch[25])] {
        let (before, after) = (off(&start[tip], station), off(&end[tip], station));
        assert!(after < 1e-5 && before > 1e-2, "{before:e} {after:e}");
    }
    // The same curl of nodes and angles.
    folder.write("nodes.toml", &plain.replace("super-clothoid", "discrete"));
    let output = toile(&folder, &["drape", "nodes.toml", "--out", "nodes"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let nodes = table(folder.0.join("nodes/rod_0.csv"));
    let far = (1..4).map(|c| (nodes[20][c] - alone[20][c]).abs()).fold(0.0, f64::max);
    assert!(far > 1e-6 && far < 0.02, "{far:e}");
    folder.write("flat.toml", &plain.replace("[[rod]]", "[[rod]]\nplanar = true"));
    let output = toile(&folder, &["drape", "flat.toml", "--out", "flat"]);
    assert!(
        code(&output) == 2 && said(&output).contains("does not stay in its plane"),
        "{}",
        said(&output)
    );
}

/// Held level and hanging, a fibre tells its stiffness; held one way only, it does not.
#[test]
fn two_poses_identify_a_fibre() {
    let folder = Folder::new();
    let curl = CURL
        .replace("elements = 40", "elements = 20\naccuracy = 0")
        .replace("super-clothoid", "super-helix");
    folder.write("hanging.toml", &curl);
    let clamp = "d1 = [0, 1, 0], d2 = [0, 0, 1], d3 = [1, 0, 0]";
    let level = curl.replace("d1 = [1, 0, 0], d2 = [0, -1, 0], d3 = [0, 0, -1]", clamp);
    assert_ne!(level, curl);
    folder.write("level.toml", &level);
    for pose in ["hanging", "level"] {
        let output = toile(&folder, &["drape", &format!("{pose}.toml"), "--out", pose]);
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
    let (a, b) = ("hanging/rod_0.csv", "level/rod_0.csv");
    let output = toile(
        &folder,
        &["identify", a, b, "--linear-density", "2.0e-5", "--out", "found", "--json"],
    );
    assert_eq!(code(&output), 0, "{}", said(&output));
    let found: serde_json::Value = serde_json::from_str(
        &std::fs::read_to_string(folder.0.join("found/identified.json")).unwrap(),
    )
    .unwrap();
    for (name, expected) in [("EI1", 1.0e-6), ("EI2", 1.0e-6), ("GJ", 7.0e-7)] {
        let off = found[name].as_f64().unwrap() / expected - 1.0;
        assert!(off.abs() < 1e-6, "{name}: {off:e}");
    }
    let output = toile(&folder, &["identify", a, a, "--out", "blind"]);
    assert!(code(&output) == 1 && said(&output).contains("do not tell"), "{}", said(&output));
    let output = toile(&folder, &["identify", a, "hanging.toml", "--out", "bad"]);
    assert!(code(&output) == 2 && said(&output).contains("is no station"), "{}", said(&output));
}
