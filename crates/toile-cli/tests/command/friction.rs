//! `toile friction`: problems in, judged forces out.

use std::fs;
use std::path::Path;

use crate::common::{Folder, code, said, toile};
use serde_json::Value;

const BLOCK: &str = r#"{"n": 1, "mu": [0.5], "W": [[1,0,0],[0,1,0],[0,0,1]], "b": [-1, 2, 0]}"#;

fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_sliding_block_is_solved_by_every_exact_solver() {
    let folder = Folder::new();
    folder.write("block.json", BLOCK);
    for solver in ["auto", "gauss-seidel", "newton", "admm", "projected-gradient", "cadoux"] {
        let args = ["friction", "block.json", "--solver", solver, "--out", "d", "--json"];
        let output = toile(&folder, &args);
        assert_eq!(code(&output), 0, "{solver}: {}", said(&output));
        let line: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(line["converged"], 1);
        let solution = read(folder.0.join("d/solution.json"));
        assert_eq!(solution["status"], "S");
        assert_eq!(solution["solver"], solver);
        let number = |key: &str, k: usize| solution[key][k].as_f64().unwrap();
        for (found, expected) in [
            (number("r", 0), 1.0),
            (number("r", 1), -0.5),
            (number("u", 0), 0.0),
            (number("u", 1), 1.5),
        ] {
            assert!((found - expected).abs() < 1e-9, "{solver}: {solution}");
        }
        assert!(solution["residuals"]["alart_curnier"].as_f64().unwrap() <= 1e-10);
    }
}

#[test]
fn a_set_gives_answers_by_id_and_facets_are_not_good_enough() {
    let folder = Folder::new();
    let skew = BLOCK.replace("{\"n\"", "{\"id\": 7, \"n\"").replace("-1, 2, 0", "-1, 2, 1");
    folder.write("set.json", &format!("{{\"problems\": [{skew}, {BLOCK}]}}"));
    let output = toile(&folder, &["friction", "set.json", "--out", "d"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("2 of 2 within 1e-10"), "{}", said(&output));
    let answers = read(folder.0.join("d/answers.json"));
    assert_eq!(answers["7"].as_array().unwrap().len(), 3);
    assert!((answers["1"][0].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(read(folder.0.join("d/solution.json"))["problems"].as_array().unwrap().len(), 2);
    let output = toile(&folder, &["friction", "set.json", "--out", "d", "--solver", "faceted"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
}

#[test]
fn bad_input_is_told() {
    let folder = Folder::new();
    folder.write("bad.json", &BLOCK.replace("[0.5]", "[-0.5]"));
    folder.write("no.json", "not json");
    for (file, words) in [
        ("bad.json", "contact 0 has friction -0.5"),
        ("no.json", "no.json: expected"),
        ("missing.json", "cannot read missing.json"),
    ] {
        let output = toile(&folder, &["friction", file, "--out", "d"]);
        assert_eq!(code(&output), 2);
        assert!(said(&output).contains(words), "{}", said(&output));
    }
    folder.write("block.json", BLOCK);
    let output = toile(&folder, &["friction", "block.json", "--out", "d", "--solver", "magic"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("gauss-seidel"), "{}", said(&output));
}

#[test]
fn the_reference_set_is_solved_by_several_families() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/7_friction");
    let set = root.join("dfcp_give.json");
    if !set.exists() {
        eprintln!("skipped: no reference set at {}", set.display());
        return;
    }
    let folder = Folder::new();
    let path = set.to_str().unwrap();
    for solver in ["auto", "gauss-seidel", "newton", "admm", "projected-gradient"] {
        let args = ["friction", path, "--solver", solver, "--out", "d", "--json"];
        let output = toile(&folder, &args);
        assert_eq!(code(&output), 0, "{solver}: {}", said(&output));
        let solutions = read(folder.0.join("d/solution.json"));
        let reference = read(&set);
        let pairs = reference["problems"].as_array().unwrap().iter();
        for (given, found) in pairs.zip(solutions["problems"].as_array().unwrap()) {
            for (key, compare) in [("r", "compare_r"), ("u", "compare_u")] {
                if given[compare] != true {
                    continue;
                }
                let numbers = |v: &Value| -> Vec<f64> {
                    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
                };
                let (a, b) = (numbers(&given[key]), numbers(&found[key]));
                let apart = a.iter().zip(&b).fold(0.0f64, |m, (x, y)| m.max((x - y).abs()));
                assert!(apart < 1e-6, "{solver}, {}: {key} differs by {apart:e}", given["id"]);
            }
        }
    }
}
