//! `toile bench`: one JSON line in the form of the peers' drivers.

use crate::common::{Folder, code, said, toile};

#[test]
fn the_static_hang_is_a_minimum_at_the_known_depth() {
    let folder = Folder::new();
    let output = toile(&folder, &["bench", "w3", "--n", "17", "--quiet"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&line["peer"], &line["work"]), (&"toile".into(), &"W3".into()), "{line}");
    assert_eq!(line["minimum"], true, "{line}");
    assert!(line["residual"].as_f64().unwrap() < 1e-6, "{line}");
    // −1.0049 m at n = 33; a coarser mesh is a little stiffer or softer.
    assert!((line["lowest"].as_f64().unwrap() + 1.005).abs() < 3e-3, "{line}");
}

#[test]
fn assembly_is_measured_per_face() {
    let folder = Folder::new();
    let output = toile(&folder, &["bench", "assembly", "--n", "9"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(line["hessian_us_per_face"].as_f64().unwrap() > 0.0, "{line}");
}
