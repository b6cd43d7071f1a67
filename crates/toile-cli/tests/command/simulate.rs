//! `toile simulate`: motion on disk.

use std::fs;

use crate::common::{Folder, code, said, toile};

const SCENE: &str = r#"
gravity = [3.2, 0.0, -9.27]
[[shell]]
mesh = { generate = "sheet", n = 5, size = 0.4 }
thickness = 3.3e-4
areal_density = 0.2
material = { model = "koiter", young = 3e6, poisson = 0.3, normals = "average" }
[[collider]]
plane = {}
friction = FRICTION
gap = 0.0
[time]
step = 0.01
duration = 0.2
frame = 0.05
"#;

fn end(folder: &Folder, name: &str) -> (String, serde_json::Value) {
    let frame = fs::read_to_string(folder.0.join(name).join("frame_00004.obj")).unwrap();
    let summary = fs::read_to_string(folder.0.join(name).join("summary.json")).unwrap();
    (frame, serde_json::from_str(&summary).unwrap())
}

#[test]
fn a_sheet_on_a_slope_sticks_or_slides_by_its_friction() {
    let folder = Folder::new();
    for (name, friction) in [("stuck", "0.36"), ("sliding", "0.3")] {
        folder.write("scene.toml", &SCENE.replace("FRICTION", friction));
        let output = toile(&folder, &["simulate", "scene.toml", "--out", name, "--quiet"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        let (_, summary) = end(&folder, name);
        assert!(summary["worst_law_error"].as_f64().unwrap() < 1e-8);
        let kinetic = summary["kinetic_energy"].as_f64().unwrap();
        // Half the mass times the speed (g sin β − μ g cos β) t squared; the mass is 0.2 · 0.16 kg.
        let speed = (3.2 - friction.parse::<f64>().unwrap() * 9.27).max(0.0) * 0.2;
        assert!((kinetic - 0.016 * speed * speed).abs() < 1e-6 * 0.016, "{name}: {kinetic} J");
        let contacts = fs::read_to_string(folder.0.join(name).join("contacts.jsonl")).unwrap();
        let word = if name == "stuck" { "stick" } else { "slip" };
        assert_eq!(contacts.matches(word).count(), 4 * 25, "{name}");
    }
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let folder = Folder::new();
    let scene = SCENE.replace("FRICTION", "0.3");
    folder.write("scene.toml", &scene);
    let whole = toile(&folder, &["simulate", "scene.toml", "--out", "whole", "--quiet"]);
    assert_eq!(code(&whole), 0, "{}", said(&whole));
    folder.write("scene.toml", &scene.replace("duration = 0.2", "duration = 0.1"));
    let half = toile(&folder, &["simulate", "scene.toml", "--out", "parts", "--quiet"]);
    assert_eq!(code(&half), 0, "{}", said(&half));
    folder.write("scene.toml", &scene);
    let rest = toile(&folder, &["simulate", "scene.toml", "--out", "parts", "--resume", "--quiet"]);
    assert_eq!(code(&rest), 0, "{}", said(&rest));
    assert_eq!(end(&folder, "whole").0, end(&folder, "parts").0);
    for log in ["contacts.jsonl", "checkpoint.txt"] {
        let read = |name: &str| fs::read_to_string(folder.0.join(name).join(log)).unwrap();
        assert_eq!(read("whole"), read("parts"), "{log}");
    }
}

#[test]
fn scenes_that_cannot_move_are_refused_in_words() {
    let folder = Folder::new();
    let scene = SCENE.replace("FRICTION", "0.3");
    for (from, to, words) in [
        ("plane = {}", "plane = {}\nsphere = { center = [0, 0, 0], radius = 1 }", "both a plane"),
        ("plane = {}", "sphere = { center = [0, 0, 0], radius = -1 }", "radius"),
        ("plane = {}\n", "", "no shape"),
        ("friction = 0.3", "friction = -1", "friction"),
        ("step = 0.01", "step = 0", "step"),
        ("frame = 0.05", "frame = 0.033", "multiple"),
    ] {
        folder.write("scene.toml", &scene.replace(from, to));
        let output = toile(&folder, &["simulate", "scene.toml", "--out", "d"]);
        assert_eq!(code(&output), 2, "{to}: {}", said(&output));
        assert!(said(&output).contains(words), "{to}: {}", said(&output));
    }
}

#[test]
fn checkpoints_of_other_scenes_and_damaged_ones_are_refused() {
    let folder = Folder::new();
    let scene = SCENE.replace("FRICTION", "0.3").replace("duration = 0.2", "duration = 0.05");
    folder.write("scene.toml", &scene);
    let resume = ["simulate", "scene.toml", "--out", "d", "--resume", "--quiet"];
    assert_eq!(code(&toile(&folder, &resume[..4])), 0);
    folder.write("scene.toml", &scene.replace("n = 5", "n = 4"));
    let output = toile(&folder, &resume);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("75 unknowns, this one 48"), "{}", said(&output));
    folder.write("scene.toml", &scene);
    let path = folder.0.join("d/checkpoint.txt");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    let output = toile(&folder, &resume);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("checkpoint.txt, line "), "{}", said(&output));
}

#[test]
fn a_drape_on_a_slope_is_certified_with_the_margin_of_a_block() {
    let folder = Folder::new();
    let scene = SCENE.split("[time]").next().unwrap_or_default().replace("FRICTION", "0.6");
    folder.write("scene.toml", &scene);
    let args = ["drape", "scene.toml", "--out", "rest", "--drift", "0.2", "--quiet"];
    let output = toile(&folder, &args);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = fs::read_to_string(folder.0.join("rest/certificate.json")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&text).unwrap();
    let figure = |key: &str| certificate[key].as_f64().unwrap();
    assert_eq!(certificate["verdict"], "certified");
    assert!(figure("cone_gap") <= 1e-8 && figure("drift") <= 1e-4);
    assert_eq!(figure("penetration"), 0.0);
    // The sheet lands flat: every vertex needs tan β = 3.2 / 9.27 of its 0.6.
    assert!((figure("cone_margin") - (1.0 - 3.2 / 9.27 / 0.6)).abs() < 1e-6, "{text}");
    let contacts = fs::read_to_string(folder.0.join("rest/contacts.jsonl")).unwrap();
    assert_eq!(contacts.lines().count(), 25);
    // Too slippery: refused, with a reason, and the best shape written.
    folder.write("scene.toml", &scene.replace("0.6", "0.3"));
    let output = toile(&folder, &["drape", "scene.toml", "--out", "slides", "--quiet"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("slide"), "{}", said(&output));
    assert!(folder.0.join("slides/equilibrium.obj").exists());
}

#[test]
fn what_begins_inside_a_collider_is_told_or_pushed_out() {
    let folder = Folder::new();
    // The slope goes up to 30 mm through the sheet's plane.
    let scene =
        SCENE.replace("FRICTION", "0.3").replace("plane = {}", "plane = { point = [0, 0, 0.03] }");
    folder.write("scene.toml", &scene.replace("duration = 0.2", "duration = 0.05"));
    for command in ["simulate", "drape"] {
        let told = toile(&folder, &[command, "scene.toml", "--out", "d", "--max-steps", "1"]);
        let told = match command {
            "simulate" => toile(&folder, &[command, "scene.toml", "--out", "d"]),
            _ => told,
        };
        let text = said(&told);
        assert!(text.contains("is 30.000 mm inside collider 0"), "{command}: {text}");
        assert!(text.contains("25 places start inside something, the deepest 5"), "{text}");
    }
    let pushed = toile(&folder, &["simulate", "scene.toml", "--out", "d", "--push-out"]);
    assert_eq!(code(&pushed), 0, "{}", said(&pushed));
    let text = said(&pushed);
    assert!(text.contains("pushed 25 vertices out of colliders, by up to 30.000 mm"), "{text}");
    assert!(!text.contains("start inside"), "{text}");
}

/// Two sheets in waves of different fineness, the second over the first: 2 mm apart in the mean, through each other by up to 2 mm.
fn waves_through_each_other(folder: &Folder) {
    for (name, n, height) in [("lower.obj", 13usize, 0.0), ("upper.obj", 11, 2e-3)] {
        let at = |i: usize| 0.3 * i as f64 / (n - 1) as f64;
        let mut text = String::new();
        for k in 0..n * n {
            let (x, y) = (at(k % n), at(k / n));
            let wave = if height > 0.0 { 4e-3 * (40.0 * x).sin() * (35.0 * y).cos() } else { 0.0 };
            text += &format!("v {x} {y} {}\n", height + wave);
        }
        for k in (0..n * (n - 1)).filter(|k| k % n + 1 < n) {
            let (a, b, c, d) = (k + 1, k + 2, k + n + 1, k + n + 2);
            text += &format!("f {a} {b} {d}\nf {a} {d} {c}\n");
        }
        folder.write(name, &text);
    }
    let shell = |name: &str| {
        format!(
            "[[shell]]\nmesh = \"{name}\"\nthickness = 5e-4\nareal_density = 0.2\n\
             material = {{ model = \"koiter\", young = 1e6, poisson = 0.3, normals = \"average\" }}\n"
        )
    };
    let rest = "[[collider]]\nplane = { point = [0, 0, -0.01] }\nfriction = 0.4\n[self_contact]\nfriction = 0.4\nthickness = 1e-3\n\
                [time]\nstep = 0.005\nduration = 0.04\n";
    folder.write("layers.toml", &(shell("lower.obj") + &shell("upper.obj") + rest));
}

#[test]
fn layers_that_begin_through_each_other_are_parted_and_the_run_goes_on_from_there() {
    let folder = Folder::new();
    waves_through_each_other(&folder);
    let scene = fs::read_to_string(folder.0.join("layers.toml")).unwrap();
    folder.write("short.toml", &scene.replace("duration = 0.04", "duration = 0.02"));
    let told = toile(&folder, &["simulate", "short.toml", "--out", "told"]);
    let text = said(&told);
    assert!(text.contains("start inside something, the deepest 5 are above; --push-out"), "{text}");
    let parted = toile(&folder, &["simulate", "layers.toml", "--out", "whole", "--push-out"]);
    assert_eq!(code(&parted), 0, "{}", said(&parted));
    let text = said(&parted);
    assert!(text.contains("vertices to part layers that pass through each other"), "{text}");
    assert!(!text.contains("start inside"), "{text}");
    // Goes on without being told again how it began, to the same bits.
    let half = ["simulate", "short.toml", "--out", "half", "--push-out", "--quiet"];
    assert_eq!(code(&toile(&folder, &half)), 0);
    let output = toile(&folder, &["simulate", "layers.toml", "--out", "half", "--resume"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    for name in ["frame_00008_0.obj", "frame_00008_1.obj", "contacts.jsonl", "checkpoint.txt"] {
        let read = |run: &str| fs::read(folder.0.join(run).join(name)).unwrap();
        assert!(read("whole") == read("half"), "{name}");
    }
    // And a run that began as given does not begin otherwise.
    let plain = ["simulate", "layers.toml", "--out", "plain", "--quiet"];
    toile(&folder, &plain);
    let again =
        [&["simulate", "layers.toml", "--out", "told", "--resume", "--quiet", "--push-out"][..]]
            .concat();
    toile(&folder, &again);
    let read = |run: &str| fs::read(folder.0.join(run).join("checkpoint.txt")).unwrap();
    assert!(read("plain") == read("told"));
}

#[test]
fn a_run_goes_on_with_steps_of_the_same_length_only() {
    let folder = Folder::new();
    let scene = SCENE.replace("FRICTION", "0.3");
    folder.write("scene.toml", &scene);
    let whole = toile(&folder, &["simulate", "scene.toml", "--out", "d", "--quiet"]);
    assert_eq!(code(&whole), 0, "{}", said(&whole));
    let summary = fs::read_to_string(folder.0.join("d/summary.json")).unwrap();
    let again = toile(&folder, &["simulate", "scene.toml", "--out", "d", "--resume", "--quiet"]);
    assert_eq!(code(&again), 0, "{}", said(&again));
    assert_eq!(fs::read_to_string(folder.0.join("d/summary.json")).unwrap(), summary);
    folder.write("scene.toml", &scene.replace("step = 0.01", "step = 0.005"));
    let other = toile(&folder, &["simulate", "scene.toml", "--out", "d", "--resume"]);
    assert_eq!(code(&other), 2, "{}", said(&other));
    assert!(said(&other).contains("with steps of 0.010000 s"), "{}", said(&other));
}

#[test]
fn gaps_as_large_as_the_cloth_and_steps_beyond_the_end_are_told() {
    let folder = Folder::new();
    let scene = SCENE.replace("FRICTION", "0.3");
    folder.write("gap.toml", &scene.replace("gap = 0.0", "gap = 1.0"));
    let gap = toile(&folder, &["check", "gap.toml"]);
    assert_eq!(code(&gap), 1);
    assert!(said(&gap).contains("the `gap` of collider 0 is 1 m"), "{}", said(&gap));
    folder.write("step.toml", &scene.replace("duration = 0.2", "duration = 0.005"));
    let step = toile(&folder, &["simulate", "step.toml", "--out", "d"]);
    assert_eq!(code(&step), 2, "{}", said(&step));
    assert!(said(&step).contains("longer than the `duration` of 0.005 s"), "{}", said(&step));
}
