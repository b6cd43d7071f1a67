//! `toile invert` and `toile demo`: from a drawn shape to one that can be made.

use std::fs;

use crate::common::{Folder, code, said, toile};

#[test]
fn the_demo_is_certified_leaves_a_scene_and_holds_when_simulated() {
    let folder = Folder::new();
    let output = toile(&folder, &["demo", "--n", "36"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let text = said(&output);
    assert!(
        text.contains("certified: forces balance") && text.contains("as drawn it sags"),
        "{text}"
    );
    assert!(text.contains("; simulated for 1 s it moves by "), "{text}");
    assert!(text.contains(" mm of the target\n"), "lengths read well: {text}");
    let certificate = fs::read_to_string(folder.0.join("toile-demo/certificate.json")).unwrap();
    let certificate: serde_json::Value = serde_json::from_str(&certificate).unwrap();
    for key in ["residual", "residual_n", "cone_gap", "penetration"] {
        let value = certificate[key].as_f64().unwrap();
        assert!((0.0..=1e-8).contains(&value), "{key}: {value}");
    }
    assert!(certificate["stability"].as_f64().unwrap() > 0.0);
    assert!(certificate["drift"].as_f64().unwrap() <= 1e-4);
    assert!(certificate["target_error_max"].as_f64().unwrap() <= 1e-6);
    assert!(certificate["naive_sag"].as_f64().unwrap() > 5e-3);

    // Same scene, same bits; same vertices in the same order.
    let args =
        ["invert", "toile-demo/scene.toml", "--out", "again", "-q", "--threads", "1", "--no-drift"];
    let again = toile(&folder, &args);
    assert_eq!(code(&again), 0, "{}", said(&again));
    let read = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap();
    assert!(read("toile-demo/rest.obj") == read("again/rest.obj"));
    let faces = |name: &str| -> Vec<String> {
        read(name).lines().filter(|l| l.starts_with("f ")).map(String::from).collect()
    };
    assert_eq!(faces("toile-demo/rest.obj"), faces("toile-demo/skirt.obj"));

    // What comes out can be simulated as it is, and does not move.
    let scene = read("toile-demo/simulation.toml");
    folder.write("toile-demo/short.toml", &scene.replace("duration = 1.0", "duration = 0.1"));
    let motion = toile(&folder, &["simulate", "toile-demo/short.toml", "--out", "motion", "-q"]);
    assert_eq!(code(&motion), 0, "{}", said(&motion));
    let points = |name: &str| -> Vec<f64> {
        let text = read(name);
        let lines = text.lines().filter_map(|l| l.strip_prefix("v "));
        lines.flat_map(|l| l.split(' ').map(|w| w.parse().unwrap()).collect::<Vec<f64>>()).collect()
    };
    let (now, then) = (points("motion/frame_00001.obj"), points("toile-demo/equilibrium.obj"));
    let moved = now.iter().zip(&then).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-8, "moved by {moved} m");
}

#[test]
fn pins_hold_too_and_axes_come_back_as_they_were() {
    let folder = Folder::new();
    // A hanging strip of felt, y up and in centimetres.
    let mut text = String::new();
    for i in 0..6 {
        for j in 0..3 {
            let (s, t) = (f64::from(i), f64::from(j));
            text += &format!("v {} {} {}\n", 4.0 * t, 90.0 - 4.0 * s, 0.3 * s * s);
        }
    }
    for i in 0..5 {
        for j in 0..2 {
            let a = 3 * i + j + 1;
            text += &format!("f {} {} {}\nf {} {} {}\n", a, a + 3, a + 1, a + 1, a + 3, a + 4);
        }
    }
    folder.write("strip.obj", &text);
    folder.write(
        "scene.toml",
        "up = \"y\"\n[[shell]]\nmesh = \"strip.obj\"\nscale = 0.01\nthickness = 2e-3\nareal_density = 0.2\n\
         material = { model = \"koiter\", young = 1e6, poisson = 0.3 }\npins = { vertices = [0, 1, 2, 3, 4, 5] }\n",
    );
    let output = toile(&folder, &["invert", "scene.toml", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let rest = fs::read_to_string(folder.0.join("out/rest.obj")).unwrap();
    assert!(rest.contains("v 0.0 90.0 0.0\n"), "{rest}"); // a pin, as it was
    let found = fs::read_to_string(folder.0.join("out/equilibrium.obj")).unwrap();
    let last: Vec<f64> = found
        .lines()
        .filter_map(|l| l.strip_prefix("v "))
        .next_back()
        .unwrap()
        .split(' ')
        .map(|w| w.parse().unwrap())
        .collect();
    for (found, wanted) in last.iter().zip([8.0, 70.0, 7.5]) {
        assert!((found - wanted).abs() < 1e-5, "{last:?}");
    }
}

#[test]
fn what_cannot_be_held_is_refused_in_words() {
    let folder = Folder::new();
    folder.write(
        "scene.toml",
        "[[shell]]\nmesh = { generate = \"sheet\", n = 5, size = 1.0 }\nthickness = 1e-3\nareal_density = 0.2\n\
         material = { model = \"koiter\", young = 1e6, poisson = 0.3 }\n\
         [[collider]]\nsphere = { center = [0, 0, -1], radius = 0.5 }\nfriction = 0.5\n",
    );
    let output = toile(&folder, &["invert", "scene.toml", "--out", "out"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("25 vertices") && text.contains("contact_tolerance"), "{text}");
}
