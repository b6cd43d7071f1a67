//! FCLib files: layouts of other programs, our own, and what is wrong with them in words.

use std::fs;
use std::path::PathBuf;

use toile_cone::{Residuals, Solution, Stop};
use toile_io::{
    FrictionAnswer, FrictionFile, FrictionMatrix, FrictionProblem, export_friction, parse_friction,
    read_friction, write_friction,
};

/// One problem of two contacts as the reference library writes it: `tests/unit/data/fclib.py` made them.
pub(crate) const FILES: [(&str, &[u8]); 3] = [
    ("symbol tables as FCLib itself, chunks in a tree", include_bytes!("data/classic.hdf5")),
    ("link messages, a heap of links, chunks in a list", include_bytes!("data/latest.hdf5")),
    ("global, triplets", include_bytes!("data/global.hdf5")),
];

/// The same problem in our own format.
pub(crate) const SAME: &str = r#"{"mu": [0.5, 0.375], "b": [-1, 2, 0, 0.5, 0.25, -3], "W": [
    [2, 0.5, 0, 0, 0, 0], [0.5, 3, 0, 0, 0.125, 0], [0, 0, 1, 0, 0, 0],
    [0, 0, 0, 4, 0, 0], [0, 0.125, 0, 0, 2, 0], [0, 0, 0, 0, 0, 1]]}"#;

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("toile-fclib-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// W as a full matrix.
fn dense(problem: &FrictionProblem) -> Vec<f64> {
    let size = problem.b.len();
    match &problem.w {
        FrictionMatrix::Dense(w) => w.clone(),
        FrictionMatrix::Sparse(w) => {
            let mut full = vec![0.0; size * size];
            w.entries.iter().for_each(|(i, j, v)| full[*i as usize * size + *j as usize] = *v);
            full
        }
        FrictionMatrix::Global(_) => panic!("a global problem"),
    }
}

fn alone(file: &FrictionFile) -> &FrictionProblem {
    assert_eq!(file.problems.len(), 1);
    &file.problems[0]
}

fn some_solution(n: usize) -> Solution {
    let r = (0..n).map(|k| 0.5 * k as f64).collect();
    let u = (0..n).map(|k| 1.0 / (k + 3) as f64).collect();
    Solution {
        r,
        u,
        status: Vec::new(),
        residuals: Residuals::default(),
        iterations: 0,
        stop: Stop::Converged,
        history: Vec::new(),
    }
}

#[test]
fn files_of_the_reference_library_hold_the_same_problem() {
    let json = parse_friction(SAME.as_bytes()).unwrap();
    for (what, bytes) in &FILES[..2] {
        let file = parse_friction(bytes).unwrap_or_else(|e| panic!("{what}: {e}"));
        let (a, b) = (alone(&json), alone(&file));
        assert_eq!((a.dimension, &a.mu, &a.b), (b.dimension, &b.mu, &b.b), "{what}");
        assert_eq!(dense(a), dense(b), "{what}");
    }
    // M = diag(2, 4), H with a column for each component of the contact: rows of triplets stand in i.
    let file = parse_friction(FILES[2].1).unwrap();
    let FrictionMatrix::Global(global) = &alone(&file).w else { panic!("it is global") };
    assert_eq!(global.mass.entries, [(0, 0, 2.0), (1, 1, 4.0)]);
    assert_eq!((global.h.rows, global.h.columns), (2, 2));
    assert_eq!(global.h.entries, [(0, 0, 1.0), (0, 1, 0.5), (1, 1, 1.0)]);
    assert_eq!(
        (global.force.as_slice(), alone(&file).b.as_slice()),
        (&[-2.0, 8.0][..], &[0.0, 0.5][..])
    );
}

#[test]
fn what_is_exported_is_read_again_with_everything_around_it() {
    let folder = folder("export");
    let json = parse_friction(SAME.as_bytes()).unwrap();
    let path = folder.join("p.hdf5");
    export_friction(&path, &json, None).unwrap();
    let again = read_friction(&path).unwrap();
    assert_eq!(again.problems[0].id, "p");
    assert_eq!(dense(alone(&again)), dense(alone(&json)));
    assert_eq!((&alone(&again).mu, &alone(&again).b), (&alone(&json).mu, &alone(&json).b));
    // The same input gives the same bytes, and what came as HDF5 keeps them.
    export_friction(folder.join("q.hdf5"), &again, None).unwrap();
    assert_eq!(fs::read(&path).unwrap(), fs::read(folder.join("q.hdf5")).unwrap());

    // A solution stands beside the problem; guesses, words and attributes of the file stay.
    for (what, bytes) in FILES {
        let file = parse_friction(bytes).unwrap();
        let found = some_solution(file.problems[0].b.len());
        let v = [1.5, 2.75];
        let bodies = matches!(file.problems[0].w, FrictionMatrix::Global(_)).then_some(&v[..]);
        let answer = FrictionAnswer { solution: &found, bodies };
        let names = write_friction(&folder, &file, "auto", &[answer]).unwrap();
        assert_eq!(names, ["solution.json", "solution.hdf5"], "{what}");
        let written = fs::read(folder.join("solution.hdf5")).unwrap();
        let has = |words: &[u8]| written.windows(words.len()).any(|w| w == words);
        assert!(has(b"solution") && has(b"guesses") && has(b"a title"), "{what}");
        assert!(file.left_out().is_empty(), "{what}: {:?}", file.left_out());
        assert_eq!(has(b"words of any length"), bytes == FILES[0].1, "{what}");
        assert!(has(b"numberOfDegreeOfFreedom") && has(&found.u[1].to_le_bytes()), "{what}");
        assert_eq!(has(&2.75f64.to_le_bytes()), bodies.is_some(), "{what}");
        assert_eq!(parse_friction(&written).unwrap().problems[0].w, file.problems[0].w, "{what}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn sets_are_files_by_name_and_folders_are_sets() {
    let folder = folder("sets");
    let set = SAME.replacen('{', r#"{"id": "a/b", "#, 1);
    let set = format!(r#"{{"problems": [{set}, {SAME}]}}"#);
    let set = parse_friction(set.as_bytes()).unwrap();
    let names = export_friction(folder.join("s.hdf5"), &set, None).unwrap();
    assert_eq!(names, [folder.join("s-a_b.hdf5"), folder.join("s-1.hdf5")]);
    let again = read_friction(&folder).unwrap();
    let ids: Vec<&str> = again.problems.iter().map(|p| p.id.as_str()).collect();
    assert!(again.is_set && ids == ["s-1", "s-a_b"]);
    let found = some_solution(6);
    let answer = FrictionAnswer { solution: &found, bodies: None };
    let names = write_friction(&folder, &again, "auto", &[answer, answer]).unwrap();
    assert_eq!(names, ["solution.json", "answers.json", "s-1.hdf5", "s-a_b.hdf5"]);

    let named = |id: &str| SAME.replacen('{', &format!(r#"{{"id": "{id}", "#), 1);
    let [one, other] = ["a/b", "a_b"].map(named);
    let twice = parse_friction(format!(r#"{{"problems": [{one}, {other}]}}"#).as_bytes()).unwrap();
    let error = export_friction(folder.join("t.hdf5"), &twice, None).unwrap_err().to_string();
    assert!(error.contains("give them different ids"), "{error}");
    let empty = folder.join("empty");
    fs::create_dir(&empty).unwrap();
    let error = read_friction(&empty).unwrap_err().to_string();
    assert!(error.contains("no file *.hdf5"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_with_an_fclib_file_is_said() {
    // Each names bytes that occur once, and others of the same length.
    let bytes = FILES[0].1;
    let with = |from: &[u8], to: &[u8]| {
        let places: Vec<usize> =
            (0..bytes.len() - from.len()).filter(|k| bytes[*k..].starts_with(from)).collect();
        assert_eq!((places.len(), from.len()), (1, to.len()), "{from:?}");
        let mut changed = bytes.to_vec();
        changed[places[0]..places[0] + from.len()].copy_from_slice(to);
        parse_friction(&changed).unwrap_err().to_string()
    };
    let number = |x: f64| x.to_le_bytes();
    for (message, words) in [
        (with(b"fclib_local\0", b"fclib_vocal\0"), "no group fclib_local or fclib_global"),
        (with(b"spacedim\0", b"spaceman\0"), "fclib_local/spacedim is missing"),
        (with(b"nzmax\0\0\0m\0", b"nzmax\0\0\0k\0"), "fclib_local/W/m is missing"),
        (with(&number(-1.0), &number(f64::NAN)), "fclib_local/vectors/q[0] is NaN"),
        (with(&number(0.375), &number(-0.375)), "contact 1 has friction -0.375"),
        (with(b"vectors\0", b"vektors\0"), "fclib_local/vectors/mu is missing"),
    ] {
        assert!(message.contains(words), "{message}");
    }
    // Column 1 begins twice.
    let starts = |p: [i32; 7]| p.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let message = with(&starts([0, 2, 5, 6, 7, 9, 10]), &starts([0, 5, 2, 6, 7, 9, 10]));
    assert!(message.contains("fclib_local/W/p does not rise"), "{message}");
    let rows = |i: [i32; 10]| i.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let message =
        with(&rows([0, 1, 0, 1, 4, 2, 3, 1, 4, 5]), &rows([0, 6, 0, 1, 4, 2, 3, 1, 4, 5]));
    assert!(message.contains("entry 1 of fclib_local/W is at row 6, column 0"), "{message}");
    let message =
        with(&rows([0, 1, 0, 1, 4, 2, 3, 1, 4, 5]), &rows([0, 1, 0, 1, 5, 2, 3, 1, 4, 5]));
    assert!(message.contains("W is symmetric"), "{message}");
    let cut = parse_friction(&bytes[..bytes.len() - 100]).unwrap_err().to_string();
    assert!(cut.contains("cut short"), "{cut}");
    // A six-component contact has no place in FCLib.
    let six = r#"{"dimension": 6, "mu": 1, "b": [0,0,0,0,0,0], "W": [[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],
        [0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]}"#;
    let six = parse_friction(six.as_bytes()).unwrap();
    let error = export_friction("never.hdf5", &six, None).unwrap_err().to_string();
    assert!(error.contains("2 and 3 components"), "{error}");
}
