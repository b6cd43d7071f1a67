//! Solutions of friction problems, and problems as FCLib files.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toile_cone::{Law, Solution};

use crate::atomic::{WriteError, atomic_write, invalid_data};
use crate::fclib;
use crate::friction::{FrictionFile, FrictionProblem};
use crate::hdf5::{Group, hdf5_bytes};

/// What a solver found of a problem.
#[derive(Clone, Copy, Debug)]
pub struct FrictionAnswer<'a> {
    /// Forces and velocities of the contacts.
    pub solution: &'a Solution,
    /// Velocities v of the bodies, of a global problem.
    pub bodies: Option<&'a [f64]>,
}

/// A solution with the name of the solver that found it, as it is written.
fn solution_value(problem: &FrictionProblem, solver: &str, answer: &FrictionAnswer<'_>) -> Value {
    let found = answer.solution;
    let residuals = &found.residuals;
    let mut value = json!({
        "id": problem.id,
        "n": problem.contacts(),
        "dimension": problem.dimension,
        "law": match problem.law {
            Law::Coulomb => "coulomb",
            Law::SecondOrderCone => "second-order-cone",
        },
        "solver": solver,
        "converged": found.converged(),
        "stop": format!("{:?}", found.stop),
        "iterations": found.iterations,
        "residuals": {
            "alart_curnier": residuals.alart_curnier,
            "de_saxce": residuals.de_saxce,
            "fischer_burmeister": residuals.fischer_burmeister,
            "natural_map": residuals.natural_map,
        },
        "status": found.status.iter().map(|s| s.letter()).collect::<String>(),
        "r": found.r,
        "u": found.u,
    });
    if let Some(v) = answer.bodies {
        value["v"] = json!(v);
    }
    value
}

/// Writes `solution.json` for a problem alone; for a set one entry per problem, and `answers.json`
/// with the forces by id. An FCLib problem is written once more with its `solution` beside it: `solution.hdf5`, in a set
/// under its own name. Returns the names of the files.
pub fn write_friction(
    folder: impl AsRef<Path>,
    file: &FrictionFile,
    solver: &str,
    answers: &[FrictionAnswer<'_>],
) -> Result<Vec<String>, WriteError> {
    let folder = folder.as_ref();
    let pairs = || file.problems.iter().zip(answers);
    let entries: Vec<Value> = pairs().map(|(p, s)| solution_value(p, solver, s)).collect();
    let whole = match entries.first() {
        Some(alone) if !file.is_set => alone.clone(),
        _ => json!({ "solver": solver, "problems": entries }),
    };
    write_text(&folder.join("solution.json"), &format!("{whole:#}\n"))?;
    let mut names = vec!["solution.json".to_string()];
    if file.is_set {
        let mut text = String::from("{\n");
        for (k, (problem, s)) in pairs().enumerate() {
            let comma = if k + 1 < answers.len() { "," } else { "" };
            let _ = writeln!(text, "  {}: {}{comma}", json!(problem.id), json!(s.solution.r));
        }
        text.push_str("}\n");
        write_text(&folder.join("answers.json"), &text)?;
        names.push("answers.json".into());
    }
    for ((problem, answer), tree) in pairs().zip(&file.trees) {
        let Some(tree) = tree else { continue };
        let name = match file.is_set {
            true => format!("{}.hdf5", file_word(&problem.id)),
            false => "solution.hdf5".into(),
        };
        write_tree(&folder.join(&name), tree.clone(), Some(answer))?;
        names.push(name);
    }
    Ok(names)
}

/// Writes problems as FCLib files, with what was found of them where it is given; FCLib keeps one problem in a file, so those of a
/// set are called `STEM-ID.hdf5`. Returns the names of the files.
///
/// Of a problem that came as an FCLib file everything that could be read is kept.
pub fn export_friction(
    path: impl AsRef<Path>,
    file: &FrictionFile,
    answers: Option<&[FrictionAnswer<'_>]>,
) -> Result<Vec<PathBuf>, WriteError> {
    let path = path.as_ref();
    let refuse =
        |message: String| WriteError { path: path.to_path_buf(), source: invalid_data(message) };
    let mut files: Vec<(PathBuf, Group)> = Vec::new();
    for (problem, tree) in file.problems.iter().zip(&file.trees) {
        let tree = match tree {
            Some(tree) => tree.clone(),
            None => fclib::tree_of(problem).map_err(refuse)?,
        };
        let name = match file.is_set {
            true => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                path.with_file_name(format!("{stem}-{}.hdf5", file_word(&problem.id)))
            }
            false => path.to_path_buf(),
        };
        if files.iter().any(|(other, _)| *other == name) {
            let message = format!("two problems would be called {}", name.display());
            return Err(refuse(format!("{message}; give them different ids")));
        }
        files.push((name, tree));
    }
    let mut names = Vec::new();
    for (k, (name, tree)) in files.into_iter().enumerate() {
        write_tree(&name, tree, answers.and_then(|a| a.get(k)))?;
        names.push(name);
    }
    Ok(names)
}

/// A name as part of a file's: letters, digits and a few signs.
fn file_word(id: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
    id.chars().take(100).map(plain).collect()
}

fn write_tree(
    path: &Path,
    mut tree: Group,
    answer: Option<&FrictionAnswer<'_>>,
) -> Result<(), WriteError> {
    if let Some(answer) = answer {
        fclib::put_solution(&mut tree, answer.solution, answer.bodies);
    }
    atomic_write(path, |w: &mut dyn Write| w.write_all(&hdf5_bytes(&tree)))
}

fn write_text(path: &Path, text: &str) -> Result<(), WriteError> {
    atomic_write(path, |w: &mut dyn Write| w.write_all(text.as_bytes()))
}
