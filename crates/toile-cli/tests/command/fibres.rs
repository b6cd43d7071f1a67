//! Fibres by command: against solutions of others, with the rests of their files, and too close to each other.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::{Folder, code, said, toile};

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The given rods, with nothing said about elements and stations: positions over the length and frames at 21 stations to 1e-6.
#[test]
fn given_rods_are_met_by_default() {
    let given = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/reference/4_kirchhoff_rods");
    if !given.is_dir() {
        return eprintln!("skipped: {} is not there", given.display());
    }
    let folder = Folder::new();
    let mut rods: Vec<Value> = Vec::new();
    let mut files: Vec<PathBuf> = fs::read_dir(given).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let mut scene = String::new();
    for file in files {
        let rod: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let i = &rod["inputs"];
        if scene.is_empty() {
            let _ = writeln!(scene, "gravity = {}", i["gravity_m_per_s2"]);
        }
        let rows: Vec<Vec<f64>> =
            i["clamp_frame_columns_d1_d2_d3"].as_array().unwrap().iter().map(numbers).collect();
        let d = |c: usize| format!("[{:?}, {:?}, {:?}]", rows[0][c], rows[1][c], rows[2][c]);
        let natural = &i["natural_curvature_polynomials_in_s"];
        let _ = write!(
            scene,
            "[[rod]]\nlength = {}\nbending_stiffness = [{}, {}]\ntwisting_stiffness = {}\nlinear_density = {}\n\
             natural_curvature = {{ k1 = {}, k2 = {}, twist = {} }}\nclamp = {{ position = {}, d1 = {}, d2 = {}, d3 = {} }}\n",
            i["length_m"],
            i["EI1_Nm2"],
            i["EI2_Nm2"],
            i["GJ_Nm2"],
            i["linear_density_kg_per_m"],
            natural["k1"],
            natural["k2"],
            natural["k3_twist"],
            i["clamp_position_m"],
            d(0),
            d(1),
            d(2)
        );
        rods.push(rod);
    }
    folder.write("rods.toml", &scene);
    let output = toile(&folder, &["drape", "rods.toml", "--out", "out", "--quiet"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert_eq!(rods.len(), 3);
    for (k, rod) in rods.iter().enumerate() {
        let length = rod["inputs"]["length_m"].as_f64().unwrap();
        let table = fs::read_to_string(folder.0.join(format!("out/rod_{k}.csv"))).unwrap();
        let rows: Vec<Vec<f64>> = (table.lines().skip(1))
            .map(|l| l.split(',').map(|c| c.parse().unwrap()).collect())
            .collect();
        let stations = rod["stations"].as_array().unwrap();
        assert_eq!((rows.len(), stations.len()), (21, 21));
        for (row, station) in rows.iter().zip(stations) {
            let expected = ["r", "d1", "d2", "d3"].map(|key| numbers(&station[key])).concat();
            for (c, (got, expected)) in row[1..].iter().zip(expected).enumerate() {
                let unit = if c < 3 { length } else { 1.0 };
                let off = (got - expected).abs() / unit;
                assert!(off < 1e-6, "{}: column {c} at {}: {off:e}", rod["name"], row[0]);
            }
        }
    }
}

const HAIR: &str =
    "bending_stiffness = [1e-8, 1e-8]\ntwisting_stiffness = 7e-9\nlinear_density = 6.5e-6\n";

/// Curls that stand or hang, `count` of them.
fn curls(count: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        let way = if i % 2 == 0 { -1.0 } else { 1.0 };
        for k in 0..=40 {
            let (s, r, w) = (0.15 * f64::from(k) / 40.0, 0.01, 40.0 + 5.0 * i as f64);
            let x = 0.04 * i as f64 + r * (w * s).cos();
            let y = 0.03 * (i % 2) as f64 + r * (w * s).sin();
            let _ = writeln!(text, "v {x:?} {y:?} {:?}", way * (1.0 - r * r * w * w).sqrt() * s);
        }
        let first = 41 * i + 1;
        let all: Vec<String> = (first..first + 41).map(|n| n.to_string()).collect();
        let _ = writeln!(text, "l {}", all.join(" "));
    }
    text
}

fn value(folder: &Folder, path: &str, key: &str) -> f64 {
    let text = fs::read_to_string(folder.0.join(path)).unwrap();
    let certificate: Value = serde_json::from_str(&text).unwrap();
    certificate[key].as_f64().unwrap_or_else(|| panic!("{key} in {certificate}"))
}

/// Hair with a rest hangs by it, and what hangs is told to be in balance with it; another pose is told how far it is from that.
#[test]
fn hair_is_compared_with_the_rest_of_its_file() {
    let folder = Folder::new();
    folder.write("rest.obj", &curls(4));
    let scene = |strands: &str, more: &str| {
        format!("[[hair]]\nstrands = \"{strands}\"\nrest = \"rest.obj\"\n{HAIR}{more}")
    };
    folder.write("drape.toml", &scene("rest.obj", ""));
    let output = toile(&folder, &["drape", "drape.toml", "--out", "hangs", "--quiet"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    folder.write("hangs.toml", &scene("hangs/equilibrium.obj", ""));
    let output = toile(&folder, &["invert", "hangs.toml", "--out", "found"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("with the rest of the file"), "{}", said(&output));
    let found = |key: &str| value(&folder, "found/certificate.json", key);
    // As drawn, the same strands are far from their equilibrium.
    let output = toile(&folder, &["invert", "drape.toml", "--out", "drawn", "--json"]);
    let drawn: Value = serde_json::from_str(&String::from_utf8_lossy(&output.stdout)).unwrap();
    let drawn = |key: &str| drawn[key].as_f64().unwrap();
    assert!(found("rest_sag_rms") < 1e-3 && drawn("rest_sag_rms") > 1e-2);
    assert!(found("rest_curvature_rms") < 0.03 * found("rest_file_curvature_rms"));
    assert!(found("rest_position_rms") < 2e-3 && drawn("rest_position_rms") > 1e-2);
    let table = fs::read_to_string(folder.0.join("found/rest_compared.csv")).unwrap();
    assert_eq!(table.lines().count(), 5, "{table}");
    // In motion they begin with it: as drawn they fall, as they hang they stay.
    let time = "[time]\nstep = 0.002\nduration = 0.1\n";
    for (strands, name, moves) in [("rest.obj", "a", true), ("hangs/equilibrium.obj", "b", false)] {
        folder.write("move.toml", &scene(strands, time));
        let output = toile(&folder, &["simulate", "move.toml", "--out", name, "--quiet"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        let speed = value(&folder, &format!("{name}/summary.json"), "speed_at_end");
        assert_eq!(speed > 0.1, moves, "{name}: {speed}");
    }
    // In contact the rest is the wish.
    let held =
        "[[collider]]\nplane = { point = [0, 0, -0.2], normal = [0, 0, 1] }\nfriction = 0.3\n";
    folder.write("held.toml", &scene("hangs/equilibrium.obj", held));
    let output = toile(&folder, &["invert", "held.toml", "--out", "held", "--quiet"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(value(&folder, "held/certificate.json", "rest_sag") < 1e-2);
    // Bad rests.
    folder.write("fewer.obj", &curls(3));
    let bad = scene("rest.obj", "").replace("rest = \"rest.obj\"", "rest = \"fewer.obj\"");
    folder.write("bad.toml", &bad);
    let output = toile(&folder, &["invert", "bad.toml", "--out", "bad"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("3 strands, that of `strands` 4"), "{}", said(&output));
    folder.write("bad.toml", &bad.replace("fewer.obj", "none.obj"));
    let output = toile(&folder, &["invert", "bad.toml", "--out", "bad"]);
    assert!(code(&output) == 2 && said(&output).contains("does not exist"), "{}", said(&output));
}

/// Strands that cross inside each other and have one root: told, and moved.
#[test]
fn crowded_hair_is_told_and_moved() {
    let folder = Folder::new();
    folder.write(
        "cross.obj",
        "v 0 0 0\nv 0.05 0 0\nv 0.1 0 0\nv 0 0.0002 0\nv 0.05 0.02 0\nv 0.1 0.04 0\n\
         v 0.08 -0.05 0.0002\nv 0.08 0 0.0002\nv 0.08 0.05 0.0002\nl 1 2 3\nl 4 5 6\nl 7 8 9\n",
    );
    let scene = format!(
        "[[hair]]\nstrands = \"cross.obj\"\nelements = 8\n{HAIR}[self_contact]\nfriction = 0.3\n[time]\nstep = 0.002\nduration = 0.04\n"
    );
    folder.write("scene.toml", &scene);
    let output = toile(&folder, &["check", "scene.toml"]);
    assert!(said(&output).contains("3 pair(s) of strands overlap"), "{}", said(&output));
    let output = toile(&folder, &["simulate", "scene.toml", "--out", "out"]);
    let told = said(&output);
    assert_eq!(code(&output), 0, "{told}");
    assert!(told.contains("1 pair(s) of fibres have roots closer"), "{told}");
    assert!(told.contains("2 pair(s) overlap at the start"), "{told}");
    assert!(value(&folder, "out/summary.json", "speed_at_end") < 0.5);
}

/// Soft curls drawn upright fall on each other and on the floor to a certified rest; with less time than that takes, what fell so far is written, and why.
#[test]
fn a_fall_ends_with_its_minutes() {
    let folder = Folder::new();
    folder.write("curls.obj", &curls(6));
    let floor =
        "[[collider]]\nplane = { point = [0, 0, -0.16], normal = [0, 0, 1] }\nfriction = 0.3\n";
    let scene =
        format!("[[hair]]\nstrands = \"curls.obj\"\n{HAIR}{floor}[self_contact]\nfriction = 0.3\n");
    folder.write("scene.toml", &scene);
    let output = toile(&folder, &["drape", "scene.toml", "--out", "rest"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let whole = value(&folder, "rest/certificate.json", "steps");
    let brief = ["drape", "scene.toml", "--out", "brief", "--minutes", "0.0005"];
    let output = toile(&folder, &brief);
    let told = said(&output);
    assert_eq!(code(&output), 1, "{told}");
    assert!(told.contains("--minutes gives it more") && told.contains("not certified"), "{told}");
    assert!(value(&folder, "brief/certificate.json", "steps") < whole);
    assert!(folder.0.join("brief/equilibrium.obj").exists());
    assert!(folder.0.join("brief/report.html").exists());
}

/// Curly hair of real stiffness with nothing said about elements: its rods follow the drawing, `invert` says that it is too soft for it, and in motion it
/// sags instead of springing from the head.
#[test]
fn curly_hair_is_followed_and_sags() {
    let folder = Folder::new();
    let point = |i: usize| {
        let t = i as f64 / 99.0;
        let (sin, cos) = (t * 10.0 * std::f64::consts::TAU).sin_cos();
        format!("v {:?} {:?} {:?}\n", 0.3 * t, 7e-3 * cos, 0.1 + 7e-3 * sin - 0.05 * t)
    };
    let points: String = (0..100).map(point).collect();
    let line: String = (1..=100).map(|i| format!(" {i}")).collect();
    folder.write("curl.obj", &format!("{points}l{line}\n"));
    let scene = |elements: &str| {
        format!(
            "[[hair]]\nstrands = \"curl.obj\"\nbending_stiffness = [1e-8, 1e-8]\ntwisting_stiffness = 7e-9\nlinear_density = 6.5e-6\n{elements}\n\
             [time]\nstep = 0.002\nduration = 0.1\n"
        )
    };
    let missed = |elements: &str| {
        folder.write("curl.toml", &scene(elements));
        let output = toile(&folder, &["invert", "curl.toml", "--out", "out", "--json"]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(code(&output), 1, "{json}");
        assert!(json["reason"].as_str().unwrap().contains("times as stiff"), "{json}");
        json["target_error_max"].as_f64().unwrap()
    };
    let (by_default, closer, twenty) =
        (missed(""), missed("tolerance = 5e-5"), missed("elements = 20"));
    assert!(by_default <= 5e-4 && closer <= 5e-5, "{by_default:e} {closer:e}");
    assert!(twenty > 1e-3, "{twenty:e}");
    // A file in centimetres, read as metres: thirty metres of hair.
    folder.write("curl.toml", &scene("scale = 100"));
    let output = toile(&folder, &["invert", "curl.toml", "--out", "out"]);
    let text = said(&output);
    assert!(code(&output) == 2 && text.contains("`scale`") && text.contains("53.9 mm"), "{text}");
    folder.write("curl.toml", &scene("tolerance = 0"));
    let output = toile(&folder, &["check", "curl.toml"]);
    assert!(code(&output) == 2 && said(&output).contains("tolerance"), "{}", said(&output));
    folder.write("curl.toml", &scene(""));
    let output = toile(&folder, &["simulate", "curl.toml", "--out", "moved"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("too soft to hold what was drawn"), "{}", said(&output));
    let at = |frame: &str| -> Vec<Vec<f64>> {
        let text = fs::read_to_string(folder.0.join("moved").join(frame)).unwrap();
        let lines = text.lines().filter_map(|l| l.strip_prefix("v "));
        lines.map(|l| l.split_whitespace().map(|x| x.parse().unwrap()).collect()).collect()
    };
    let frames = fs::read_dir(folder.0.join("moved")).unwrap();
    let mut names: Vec<String> =
        frames.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|n| n.starts_with("frame_") && n.ends_with(".obj"));
    names.sort();
    let (before, after) = (at(&names[0]), at(&names[names.len() - 1]));
    // Free fall of a tenth of a second goes 5 cm.
    for (a, b) in before.iter().zip(&after) {
        let moved = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
        assert!(moved < 0.06, "{moved}");
    }
}
