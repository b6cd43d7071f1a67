//! Friction problems and their solutions as JSON.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use toile_cone::{ProblemError, Solution};

use crate::atomic::{WriteError, atomic_write};

/// u = W r + b with friction μ, components of a contact normal first.
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionProblem {
    /// Its name in a set; its place when it has none.
    pub id: String,
    /// Components of a contact: 2, 3 or 6.
    pub dimension: usize,
    /// μ of each contact.
    pub mu: Vec<f64>,
    /// W, row after row.
    pub w: Vec<f64>,
    /// b.
    pub b: Vec<f64>,
}

impl FrictionProblem {
    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }
}

/// What a file held.
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionFile {
    /// The problems in their order.
    pub problems: Vec<FrictionProblem>,
    /// Whether they came as a set `{"problems": […]}` rather than alone.
    pub is_set: bool,
}

/// A friction problem that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrictionError {
    /// The file could not be opened or read at all.
    #[error("cannot read {}: {source}; give a JSON file of friction problems", path.display())]
    Unreadable {
        /// The file as it was asked for.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The text is not JSON of the form expected.
    #[error(
        "{file}: {message}; write {{\"n\", \"mu\", \"W\", \"b\"}} or {{\"problems\": […]}} with finite numbers"
    )]
    Syntax {
        /// Name of the file, `input` for data in memory.
        file: String,
        /// What and where.
        message: String,
    },
    /// The numbers do not make a problem.
    #[error("{file}, problem {id}: {message}")]
    Invalid {
        /// Name of the file, `input` for data in memory.
        file: String,
        /// Which problem.
        id: String,
        /// What is wrong, where, how much, what to do.
        message: String,
    },
}

impl FrictionError {
    fn in_file(self, path: &Path) -> Self {
        let file = path.display().to_string();
        match self {
            FrictionError::Syntax { message, .. } => FrictionError::Syntax { file, message },
            FrictionError::Invalid { id, message, .. } => {
                FrictionError::Invalid { file, id, message }
            }
            other => other,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Friction {
    Same(f64),
    Each(Vec<f64>),
}

#[derive(Deserialize)]
struct RawProblem {
    id: Option<Value>,
    n: Option<usize>,
    dimension: Option<usize>,
    mu: Friction,
    #[serde(rename = "W")]
    w: Vec<Vec<f64>>,
    b: Vec<f64>,
}

#[derive(Deserialize)]
struct RawSet {
    problems: Vec<RawProblem>,
}

/// Reads one problem or a set from a file.
pub fn read_friction(path: impl AsRef<Path>) -> Result<FrictionFile, FrictionError> {
    let path = path.as_ref();
    let bytes = fs::read(path)
        .map_err(|source| FrictionError::Unreadable { path: path.to_path_buf(), source })?;
    parse_friction(&bytes).map_err(|e| e.in_file(path))
}

/// Reads one problem `{"n", "mu", "W", "b"}` or a set `{"problems": […]}` from memory.
///
/// `mu` is a number for each contact or one for all; `dimension` (2, 3 or 6) is 3 when left out;
/// `n` and `id` may be left out; other keys are ignored. Lengths, signs and symmetry are checked.
pub fn parse_friction(text: &[u8]) -> Result<FrictionFile, FrictionError> {
    let syntax = |e: serde_json::Error| FrictionError::Syntax {
        file: "input".into(),
        message: e.to_string(),
    };
    // Which of the two it is decides whose complaint is told.
    let is_set = serde_json::from_slice::<Value>(text).map_err(syntax)?.get("problems").is_some();
    let raw = if is_set {
        serde_json::from_slice::<RawSet>(text).map_err(syntax)?.problems
    } else {
        vec![serde_json::from_slice::<RawProblem>(text).map_err(syntax)?]
    };
    let problems = raw.into_iter().enumerate().map(|(place, raw)| {
        let id = match &raw.id {
            Some(Value::String(s)) => s.clone(),
            Some(other) => other.to_string(),
            None => place.to_string(),
        };
        checked(id.clone(), raw).map_err(|message| FrictionError::Invalid {
            file: "input".into(),
            id,
            message,
        })
    });
    Ok(FrictionFile { problems: problems.collect::<Result<_, _>>()?, is_set })
}

fn checked(id: String, raw: RawProblem) -> Result<FrictionProblem, String> {
    let dimension = raw.dimension.unwrap_or(3);
    if ![2, 3, 6].contains(&dimension) {
        return Err(format!("dimension {dimension} of a contact; 2, 3 and 6 are known"));
    }
    let size = raw.b.len();
    if !size.is_multiple_of(dimension) {
        return Err(format!(
            "b has {size} numbers, no multiple of {dimension}; give {dimension} for each contact"
        ));
    }
    let n = size / dimension;
    if let Some(said) = raw.n.filter(|said| *said != n) {
        return Err(format!(
            "n is {said} but b has {size} numbers, {dimension} for each of {n} contacts; correct the one or the other"
        ));
    }
    let mu = match raw.mu {
        Friction::Same(mu) => vec![mu; n],
        Friction::Each(mu) => mu,
    };
    if mu.len() != n {
        return Err(format!(
            "mu has {} numbers for {n} contacts; give one each, or a single one for all",
            mu.len()
        ));
    }
    if let Some(contact) = mu.iter().position(|m| !(*m >= 0.0 && m.is_finite())) {
        let mu = mu[contact];
        return Err(ProblemError::NegativeFriction { contact, mu }.to_string());
    }
    if raw.w.len() != size {
        return Err(format!(
            "W has {} rows, b has {size} numbers; W is square of that size",
            raw.w.len()
        ));
    }
    for (i, row) in raw.w.iter().enumerate() {
        if row.len() != size {
            return Err(format!(
                "row {i} of W has {} numbers instead of {size}; complete it",
                row.len()
            ));
        }
    }
    let w: Vec<f64> = raw.w.into_iter().flatten().collect();
    let largest = w.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for row in 0..size {
        for column in 0..row {
            let (one, other) = (w[row * size + column], w[column * size + row]);
            if (one - other).abs() > 1e-9 * largest {
                let error = ProblemError::Asymmetric { row, column, one, other, largest };
                return Err(error.to_string());
            }
        }
        let value = w[row * size + row];
        if value < -1e-9 * largest {
            return Err(ProblemError::NegativeDiagonal { row, value }.to_string());
        }
    }
    Ok(FrictionProblem { id, dimension, mu, w, b: raw.b })
}

/// A solution with the name of the solver that found it, as it is written.
fn solution_value(problem: &FrictionProblem, solver: &str, found: &Solution) -> Value {
    let residuals = &found.residuals;
    json!({
        "id": problem.id,
        "n": problem.contacts(),
        "dimension": problem.dimension,
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
    })
}

/// Writes `solution.json` for a problem alone; for a set one entry per problem, and `answers.json`
/// with the forces by id. Returns the names of the files.
pub fn write_friction(
    folder: impl AsRef<Path>,
    file: &FrictionFile,
    solver: &str,
    found: &[Solution],
) -> Result<Vec<String>, WriteError> {
    let folder = folder.as_ref();
    let entries: Vec<Value> =
        file.problems.iter().zip(found).map(|(p, s)| solution_value(p, solver, s)).collect();
    let whole = match entries.first() {
        Some(alone) if !file.is_set => alone.clone(),
        _ => json!({ "solver": solver, "problems": entries }),
    };
    write_text(&folder.join("solution.json"), &format!("{whole:#}\n"))?;
    let mut names = vec!["solution.json".to_string()];
    if file.is_set {
        let mut text = String::from("{\n");
        for (k, (problem, s)) in file.problems.iter().zip(found).enumerate() {
            let comma = if k + 1 < found.len() { "," } else { "" };
            let _ = writeln!(text, "  {}: {}{comma}", json!(problem.id), json!(s.r));
        }
        text.push_str("}\n");
        write_text(&folder.join("answers.json"), &text)?;
        names.push("answers.json".into());
    }
    Ok(names)
}

fn write_text(path: &Path, text: &str) -> Result<(), WriteError> {
    atomic_write(path, |w: &mut dyn Write| w.write_all(text.as_bytes()))
}
