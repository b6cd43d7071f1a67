//! `toile friction`: problems in, judged forces out.

use std::fs;
use std::path::{Path, PathBuf};

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

/// The given problems, where they are.
fn reference_set() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/7_friction");
    let set = root.join("dfcp_give.json");
    if !set.exists() {
        eprintln!("skipped: no reference set at {}", set.display());
        return None;
    }
    Some(set)
}

#[test]
fn the_reference_set_is_solved_by_several_families() {
    let Some(set) = reference_set() else { return };
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

/// Forces by id.
fn answers(path: impl AsRef<Path>) -> Vec<(String, Vec<f64>)> {
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let file = read(path);
    file.as_object().unwrap().iter().map(|(id, r)| (id.clone(), numbers(r))).collect()
}

#[test]
fn the_reference_set_has_the_same_answers_through_fclib_files() {
    let Some(set) = reference_set() else { return };
    let folder = Folder::new();
    let path = set.to_str().unwrap();
    let output = toile(&folder, &["friction", path, "--out", "json", "--export", "files/s.hdf5"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = toile(&folder, &["friction", "files", "--out", "hdf5"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let output = toile(&folder, &["friction", "files", "--out", "files"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("choose another"), "{}", said(&output));
    let given = answers(folder.0.join("json/answers.json"));
    let mut found = answers(folder.0.join("hdf5/answers.json"));
    found.iter_mut().for_each(|(id, _)| *id = id.replacen("s-", "", 1));
    assert!(given.len() > 20);
    for (id, r) in &given {
        let other = found.iter().find(|(other, _)| other == id).map(|(_, r)| r);
        assert_eq!(other, Some(r), "problem {id}: the same matrix gives the same bits");
    }
}

#[test]
fn an_fclib_file_is_solved_by_its_own_conventions() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toile-io/tests/unit/data");
    let folder = Folder::new();
    // One contact in the plane: M = diag(2, 4), f = (-2, 8), H = [1 ½; 0 1], w = (0, ½), μ = ½. Sliding on, u_N = 0 and
    // r_T = -½ r_N against it: (½ + 0) r_N + ¼ r_T = 1, so r_N = 8/3.
    let path = data.join("global.hdf5");
    let output = toile(&folder, &["friction", path.to_str().unwrap(), "--out", "g"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let found = read(folder.0.join("g/solution.json"));
    for (key, expected) in
        [("r", [8.0 / 3.0, -4.0 / 3.0]), ("u", [0.0, 13.0 / 6.0]), ("v", [0.0, 5.0 / 3.0])]
    {
        for (k, value) in expected.iter().enumerate() {
            let apart = (found[key][k].as_f64().unwrap() - value).abs();
            assert!(apart < 1e-12, "{key}[{k}] is off by {apart:e}");
        }
    }
    // What was written is a file of the same kind, with the solution beside the problem.
    let output = toile(&folder, &["friction", "g/solution.hdf5", "--out", "again"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert_eq!(read(folder.0.join("again/solution.json"))["r"], found["r"]);
}

#[test]
fn fclib_files_that_cannot_be_read_or_written_are_named() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toile-io/tests/unit/data");
    let folder = Folder::new();
    let whole = std::fs::read(data.join("classic.hdf5")).unwrap();
    std::fs::write(folder.0.join("cut.hdf5"), &whole[..5000]).unwrap();
    std::fs::write(folder.0.join("empty.h5"), []).unwrap();
    folder.write("words.hdf5", "not HDF5 at all");
    folder.write("block.json", BLOCK);
    for (arguments, words) in [
        (
            &["cut.hdf5", "--out", "d"][..],
            "cut.hdf5: no HDF5 file that can be read: damaged at byte",
        ),
        (&["empty.h5", "--out", "d"], "empty.h5: the file is empty"),
        (&["words.hdf5", "--out", "d"], "no HDF5 signature"),
        (&["block.json"], "--out"),
        (&["block.json", "--export", "block.json"], "ends in .hdf5 or .h5"),
        (&["block.json", "--export", "block.json/p.hdf5"], "block.json"),
    ] {
        let output = toile(&folder, &[&["friction"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(words), "{arguments:?}: {}", said(&output));
    }
    assert!(!folder.0.join("d").exists(), "nothing is made for what cannot be read");
    let output = toile(&folder, &["friction", "block.json", "--export", "made/p.hdf5", "--json"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(folder.0.join("made/p.hdf5").exists());
}

#[test]
fn plain_cones_are_asked_for_by_name() {
    let folder = Folder::new();
    // Under a plain cone sliding lifts off by mu |u_T|.
    let law = |law: &str| BLOCK.replace("\"n\"", &format!("\"law\": \"{law}\", \"n\""));
    folder.write("cone.json", &law("second-order-cone"));
    folder.write("dry.json", &law("coulomb"));
    folder.write("odd.json", &law("tresca"));
    for (name, lift) in [("cone", 0.5), ("dry", 0.0)] {
        let file = format!("{name}.json");
        let output = toile(&folder, &["friction", &file, "--out", name]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        let u = &read(folder.0.join(name).join("solution.json"))["u"];
        let (up, along) = (u[0].as_f64().unwrap(), u[1].as_f64().unwrap());
        assert!((up - lift * along).abs() < 1e-9 && along > 0.1, "{name}: {u}");
    }
    let output = toile(&folder, &["friction", "odd.json", "--out", "d"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("second-order-cone"), "{}", said(&output));
    let output = toile(&folder, &["friction", "cone.json", "--out", "d", "--export", "cone.hdf5"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("plain cones"), "{}", said(&output));
}

#[test]
fn what_a_file_says_in_vain_or_twice_is_told() {
    let folder = Folder::new();
    folder.write("odd.json", &BLOCK.replace("\"n\"", "\"freiction\": 0.7, \"n\""));
    let output = toile(&folder, &["friction", "odd.json", "--out", "d"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("without a meaning here: freiction"), "{}", said(&output));
    let same = BLOCK.replace("\"n\"", "\"id\": 4, \"n\"");
    folder.write("twice.json", &format!("{{\"problems\": [{same}, {same}]}}"));
    let output = toile(&folder, &["friction", "twice.json", "--out", "d"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("problem 4: two problems"), "{}", said(&output));
}

#[test]
fn a_problem_without_a_solution_is_told() {
    let folder = Folder::new();
    let rigid = BLOCK.replace("[[1,0,0],[0,1,0],[0,0,1]]", "[[0,0,0],[0,0,0],[0,0,0]]");
    folder.write("rigid.json", &rigid);
    let output = toile(&folder, &["friction", "rigid.json", "--out", "d"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("forces grow without end"), "{}", said(&output));
    assert_eq!(read(folder.0.join("d/solution.json"))["stop"], "Unbounded");
}
