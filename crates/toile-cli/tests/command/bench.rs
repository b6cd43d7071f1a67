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

fn line_of(args: &str) -> (i32, serde_json::Value) {
    let folder = Folder::new();
    let output = toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    let line = serde_json::from_slice(&output.stdout);
    (code(&output), line.unwrap_or_else(|e| panic!("{e}: {}", said(&output))))
}

#[test]
fn a_sheet_on_a_slope_sticks_without_creep_and_slides_as_a_block() {
    let (status, line) = line_of("bench w4 --n 5 --duration 0.3");
    assert_eq!((status, line["creep"].as_f64()), (0, Some(0.0)), "{line}");
    let (status, line) = line_of("bench w4 --n 5 --duration 0.3 --ratio 0.95");
    // g sin 20° (1 − 0.95)
    assert!((line["acc_fit"].as_f64().unwrap() - 0.167761).abs() < 1e-6, "{line}");
    assert_eq!(status, 0);
}

#[test]
fn sheets_that_fall_swing_and_drape_say_what_the_peers_say() {
    let (_, line) = line_of("bench w1 --n 9 --duration 0.1");
    // Free fall but for the two corners: the middle is lower than the mean, and not by much.
    let (low, mean) = (line["zmin"].as_f64().unwrap(), line["com_z"].as_f64().unwrap());
    assert!(line["work"] == "W1" && -0.054 < low && low < mean && mean < -0.03, "{line}");
    let (status, line) = line_of("bench w2 --n 9 --duration 0.1");
    for key in ["cpu_per_sim_s", "iters_mean", "ncon_max", "pen_max_mm", "vt_mean", "n_near"] {
        assert!(line[key].is_number(), "{key}: {line}");
    }
    assert!(status == 0 && line["ncon_max"].as_f64().unwrap() > 0.0, "{line}");
    let (_, line) = line_of("bench square1 --n 9 --duration 0.05 --mu 0.1 --quiet");
    for key in ["ms_per_step", "detection_ms", "assembly_ms", "factorisation_ms", "friction_ms"] {
        assert!(line[key].as_f64().unwrap() >= 0.0, "{key}: {line}");
    }
    assert!(line["steps"] == 10 && line["mean_law_error"].is_number(), "{line}");
}

#[test]
fn random_scenes_are_watched_and_only_faulty_ones_are_kept() {
    let folder = Folder::new();
    let args = "bench random --minutes 0.001 --seed 5 --first 2 --out kept --quiet";
    let output = toile(&folder, &args.split_whitespace().collect::<Vec<_>>());
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(line["seed"] == 5 && line["first"] == 2, "{line}");
    assert!(line["scenes"].as_u64() >= Some(1) && line["steps"].as_u64() > Some(0), "{line}");
    let faults = line["faults"].as_u64().unwrap();
    let kept = std::fs::read_dir(folder.0.join("kept")).unwrap().count() as u64;
    assert_eq!((kept, code(&output)), (faults, i32::from(faults > 0)), "{}", said(&output));
}

/// The recursion takes the dense step, and leaves it far behind.
#[test]
fn steps_of_rods_are_measured_against_the_dense_one() {
    let folder = Folder::new();
    let output = toile(&folder, &["bench", "rods", "--n", "100"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let lines: Vec<serde_json::Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for line in &lines[..2] {
        assert!(line["difference"].as_f64().unwrap() < 1e-10, "{line}");
        assert!(line["gain"].as_f64().unwrap() > 5.0, "{line}");
    }
    for line in &lines[2..] {
        assert!(line["error"].as_f64().unwrap() < 1e-3, "{line}");
    }
}
