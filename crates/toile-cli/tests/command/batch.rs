//! `toile batch`.

use std::fs;

use crate::common::{Folder, code, said, toile};

const SCENE: &str = r#"
    [[shell]]
    mesh = { generate = "sheet", n = 4, size = 0.3 }
    thickness = 1e-3
    areal_density = 0.2
    material = { model = "koiter", young = 1e5, poisson = 0.3 }
    pins = { vertices = [12, 15] }
"#;

const JOBS: &str = r#"
    command = "drape"
    scene = "scene.toml"
    [grid]
    "shell[0].material.young" = [1e5, 2e5]
    "shell[0].pins.vertices" = [[12, 15], [0, 3], [99]]
"#;

#[test]
fn a_grid_is_run_summed_up_and_taken_up_again() {
    let folder = Folder::new();
    folder.write("scene.toml", SCENE);
    folder.write("jobs.toml", JOBS);
    let batch = |more: &[&str]| {
        let all = [&["batch", "jobs.toml", "--out", "out"], more].concat();
        let run = toile(&folder, &all);
        (code(&run), said(&run))
    };
    let (_, names) = batch(&["--list"]);
    assert_eq!(names.lines().collect::<Vec<_>>(), ["0000", "0001", "0002", "0003", "0004", "0005"]);
    let (exit, text) = batch(&["--only", "0003", "--json"]);
    assert!(exit == 0 && text.contains("\"ran\": 1"), "{text}");
    let (exit, text) = batch(&["--workers", "2", "--json"]);
    assert_eq!(exit, 1, "two of them have no vertex 99: {text}");
    assert!(text.contains("\"certified\": 4") && text.contains("\"failed\": 2"), "{text}");
    assert!(text.contains("\"ran\": 5"), "{text}");
    let table = fs::read_to_string(folder.0.join("out/summary.csv")).unwrap();
    assert_eq!(table.lines().count(), 7);
    assert!(table.lines().nth(3).unwrap().contains("failed"), "{table}");
    // A scene of a job runs by itself, to the same certificate.
    toile(&folder, &["drape", "out/0004/scene.toml", "--out", "again", "--quiet"]);
    let read = |path: &str| fs::read(folder.0.join(path)).unwrap();
    assert_eq!(read("again/certificate.json"), read("out/0004/certificate.json"));
    // Only what failed is tried again.
    let (_, text) = batch(&["--json"]);
    assert!(text.contains("\"ran\": 2"), "{text}");
}

#[test]
fn mistakes_in_a_list_are_told() {
    let folder = Folder::new();
    folder.write("scene.toml", SCENE);
    folder.write("jobs.toml", &JOBS.replace("young", "yong"));
    let run = toile(&folder, &["batch", "jobs.toml", "--out", "out"]);
    assert!(code(&run) == 2 && said(&run).contains("yong"), "{}", said(&run));
    folder.write("jobs.toml", JOBS);
    let run = toile(&folder, &["batch", "jobs.toml", "--out", "out", "--only", "17"]);
    assert!(code(&run) == 2 && said(&run).contains("from 0000 to 0005"), "{}", said(&run));
}
