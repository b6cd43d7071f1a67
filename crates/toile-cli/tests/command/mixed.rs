//! Shells and rods in one scene.

use std::fs;

use crate::common::{Folder, code, said, toile, vertices};

const POLE: &str = r#"
[[shell]]
mesh = { generate = "sheet", n = 7, size = 0.1 }
thickness = 5e-4
areal_density = 0.2
material = { model = "koiter", young = 2e5, poisson = 0.3 }

[[rod]]
elements = 6
length = 0.16
bending_stiffness = [0.1, 0.1]
twisting_stiffness = 0.1
linear_density = 0.02
radius = 4e-3
friction = 0.4
clamp = { position = [-0.08, 0.001, -4.25e-3], d1 = [0, 1, 0], d2 = [0, 0, 1], d3 = [1, 0, 0] }

[time]
step = 0.005
duration = 0.1
frame = 0.05
damping = 5.0
"#;

/// How the rod lies: under the sheet.
const LEVEL: &str = "-4.25e-3], d1 = [0, 1, 0], d2 = [0, 0, 1], d3 = [1, 0, 0]";

#[test]
fn a_cloth_hangs_over_a_rod_and_goes_on_where_it_stopped() {
    let folder = Folder::new();
    folder.write("pole.toml", POLE);
    let output = toile(&folder, &["check", "pole.toml"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = toile(&folder, &["simulate", "pole.toml", "--out", "whole"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let at = |name: &str| folder.0.join(name);
    for name in ["report.html", "last.png", "steps.jsonl", "view.json", "fibres.txt"] {
        assert!(at("whole").join(name).exists(), "{name}");
    }
    // It bends down on both sides and lies on the rod, whose middle is under its own.
    let cloth = vertices(at("whole/frame_00002.obj"));
    let rod = vertices(at("whole/fibres_00002.obj"));
    assert_eq!((cloth.len(), rod.len()), (49, 7));
    assert!(cloth[3][2] < -0.01 && cloth[45][2] < -0.01, "{cloth:?}");
    assert!(cloth[24][2] - rod[3][2] > 4e-3, "{:?} {:?}", cloth[24], rod[3]);
    let contacts = fs::read_to_string(at("whole/contacts.jsonl")).unwrap();
    let last = contacts.lines().filter(|l| l.contains("\"frame\": 2"));
    assert!(last.clone().count() > 3 && contacts.contains("\"edge\""), "{contacts}");
    let summary = fs::read_to_string(at("whole/summary.json")).unwrap();
    assert!(summary.contains("\"passed_through\": false"), "{summary}");
    // Half of it, and the rest from there: the same to the bit.
    folder.write("half.toml", &POLE.replace("duration = 0.1", "duration = 0.05"));
    let output = toile(&folder, &["simulate", "half.toml", "--out", "parts"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = toile(&folder, &["simulate", "pole.toml", "--out", "parts", "--resume"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    for name in ["frame_00002.obj", "fibres_00002.obj", "steps.jsonl", "contacts.jsonl"] {
        let read = |folder: &str| fs::read_to_string(at(folder).join(name)).unwrap();
        assert_eq!(read("whole"), read("parts"), "{name}");
    }
}

#[test]
fn a_cloth_rests_on_a_rod_and_a_table() {
    let folder = Folder::new();
    // The rod holds the middle of a small cloth, the table its sides.
    let scene = POLE.replace("n = 7, size = 0.1", "n = 5, size = 0.06");
    let scene = scene.replace("[-0.08, 0.001, ", "[-0.08, 0.012, ");
    let ball =
        "\n[[collider]]\nplane = { point = [0, 0, -0.012], normal = [0, 0, 1] }\nfriction = 0.5\n";
    folder.write("both.toml", &format!("{scene}{ball}"));
    let args = ["drape", "both.toml", "--out", "rest", "--drift", "0.1", "--stations", "5"];
    let output = toile(&folder, &args);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let at = |name: &str| folder.0.join("rest").join(name);
    let read = |name: &str| fs::read_to_string(at(name)).unwrap();
    assert!(read("certificate.json").contains("\"verdict\": \"certified\""));
    assert_eq!(vertices(at("equilibrium.obj")).len(), 25);
    assert_eq!(read("rod_0.csv").lines().count(), 6);
    // What rod and table carry is the weight: the force of a line is that on the rod, or by the table on the cloth.
    let mut carried = 0.0;
    for line in read("contacts.jsonl").lines() {
        let force = line.split_once("\"force\": [").unwrap().1.split(']').next().unwrap();
        let z: f64 = force.split(',').nth(2).unwrap().trim().parse().unwrap();
        carried += if line.contains("\"fibre\"") { -z } else { z };
    }
    let weight = 0.2 * 0.06 * 0.06 * 9.81;
    assert!((carried / weight - 1.0).abs() < 1e-6, "{carried} of {weight}");
    for name in ["report.html", "equilibrium.png", "view.json"] {
        assert!(at(name).exists(), "{name}");
    }
}

#[test]
fn what_cannot_move_together_is_told_in_words() {
    let folder = Folder::new();
    for (from, to, expected) in [
        ("friction = 0.4\n", "", "with which friction"),
        ("friction = 0.4", "friction = -1.0", "friction"),
        ("damping = 5.0", "integrator = \"bdf2\"", "implicit Euler"),
        (
            LEVEL,
            "-0.05], d1 = [0, 1, 0], d2 = [-0.6, 0, 0.8], d3 = [0.8, 0, 0.6]",
            "goes through a shell",
        ),
        ("[time]\nstep = 0.005\nduration = 0.1\nframe = 0.05\ndamping = 5.0", "", "[time]"),
    ] {
        assert!(POLE.contains(from), "{from}");
        folder.write("bad.toml", &POLE.replace(from, to));
        let output = toile(&folder, &["simulate", "bad.toml", "--out", "bad"]);
        assert_eq!(code(&output), 2, "{to}: {}", said(&output));
        assert!(said(&output).contains(expected), "{expected}: {}", said(&output));
    }
}
