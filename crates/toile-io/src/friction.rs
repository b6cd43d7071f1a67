//! Friction problems: our JSON, and FCLib's HDF5.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use toile_cone::{Law, ProblemError};

use crate::fclib;
use crate::friction_matrix::FrictionMatrix;
use crate::hdf5::{self, Group, parse_hdf5};

/// u = W r + b with friction μ, components of a contact normal first.
#[derive(Clone, Debug, PartialEq)]
pub struct FrictionProblem {
    /// Its name in a set; its place when it has none.
    pub id: String,
    /// Components of a contact: 2, 3 or 6.
    pub dimension: usize,
    /// Dry friction, or plain cones.
    pub law: Law,
    /// μ of each contact.
    pub mu: Vec<f64>,
    /// W, or what it is made of.
    pub w: FrictionMatrix,
    /// b; for a global problem only the part that is not Hᵀ M⁻¹ f.
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
    /// Whether they came as a set, `{"problems": […]}` or a folder, rather than alone.
    pub is_set: bool,
    /// Keys of a JSON file that say nothing here, in alphabetical order.
    pub unused_keys: Vec<String>,
    /// Of those that came as FCLib files, everything that was in them.
    pub(crate) trees: Vec<Option<Group>>,
}

impl FrictionFile {
    /// What stood in FCLib files beside the problems, could not be read and is missing in copies.
    pub fn left_out(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.trees.iter().flatten().for_each(|tree| tree.unread("", &mut found));
        found.dedup();
        found
    }
}

/// A friction problem that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrictionError {
    /// The file could not be opened or read at all.
    #[error("cannot read {}: {source}; give a JSON file of friction problems, an FCLib file or a folder of these", path.display())]
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
    /// The bytes are not an FCLib file.
    #[error("{file}: {message}")]
    Fclib {
        /// Name of the file, `input` for data in memory.
        file: String,
        /// What, where and what to do.
        message: String,
    },
    /// A folder without problems.
    #[error("{}: no file *.hdf5 or *.h5 in that folder; give one of FCLib problems, or a file", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
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
            FrictionError::Fclib { message, .. } => FrictionError::Fclib { file, message },
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

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawLaw {
    Coulomb,
    SecondOrderCone,
}

/// Keys that are read, and those of a solution, which may stand beside them.
const KEYS: [&str; 16] = [
    "id",
    "n",
    "dimension",
    "law",
    "mu",
    "W",
    "b",
    "r",
    "u",
    "v",
    "status",
    "solver",
    "converged",
    "stop",
    "iterations",
    "residuals",
];

#[derive(Deserialize)]
struct RawProblem {
    id: Option<Value>,
    n: Option<usize>,
    dimension: Option<usize>,
    law: Option<RawLaw>,
    mu: Friction,
    #[serde(rename = "W")]
    w: Vec<Vec<f64>>,
    b: Vec<f64>,
}

#[derive(Deserialize)]
struct RawSet {
    problems: Vec<RawProblem>,
}

/// Reads one problem or a set from a file, JSON or FCLib's HDF5, or a folder of FCLib files.
///
/// Problems of FCLib are called as their files are.
pub fn read_friction(path: impl AsRef<Path>) -> Result<FrictionFile, FrictionError> {
    let path = path.as_ref();
    if !path.is_dir() {
        return read_file(path);
    }
    let unreadable = |source| FrictionError::Unreadable { path: path.to_path_buf(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.path();
        if is_fclib_name(&name) && name.is_file() {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(FrictionError::EmptyFolder { path: path.to_path_buf() });
    }
    names.sort();
    let mut whole = FrictionFile {
        problems: Vec::new(),
        is_set: true,
        unused_keys: Vec::new(),
        trees: Vec::new(),
    };
    for name in names {
        let file = read_file(&name)?;
        whole.problems.extend(file.problems);
        whole.trees.extend(file.trees);
    }
    Ok(whole)
}

/// Whether a file is called as HDF5 files are.
fn is_fclib_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    ["hdf5", "h5", "hdf"].contains(&ending.to_ascii_lowercase().as_str())
}

fn read_file(path: &Path) -> Result<FrictionFile, FrictionError> {
    let bytes = fs::read(path)
        .map_err(|source| FrictionError::Unreadable { path: path.to_path_buf(), source })?;
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let file = if is_fclib_name(path) { parse_fclib(&bytes, &stem) } else { parse(&bytes, &stem) };
    file.map_err(|e| e.in_file(path))
}

/// Reads an FCLib file.
fn parse_fclib(bytes: &[u8], id: &str) -> Result<FrictionFile, FrictionError> {
    let fclib = |message: String| FrictionError::Fclib { file: "input".into(), message };
    if bytes.is_empty() {
        return Err(fclib("the file is empty; give an FCLib file".into()));
    }
    let root = parse_hdf5(bytes)
        .map_err(|e| fclib(format!("no HDF5 file that can be read: {e}; write it again")))?;
    let problem = fclib::problem_of(&root, id.into()).map_err(fclib)?;
    let invalid = |message| FrictionError::Invalid { file: "input".into(), id: id.into(), message };
    if let Some(contact) = problem.mu.iter().position(|m| *m < 0.0) {
        let mu = problem.mu[contact];
        return Err(invalid(ProblemError::NegativeFriction { contact, mu }.to_string()));
    }
    let flaw = match &problem.w {
        FrictionMatrix::Sparse(w) => w.flaw("W"),
        FrictionMatrix::Global(global) => global.mass.flaw("M"),
        FrictionMatrix::Dense(_) => None,
    };
    if let Some(message) = flaw {
        return Err(invalid(message));
    }
    Ok(FrictionFile {
        problems: vec![problem],
        is_set: false,
        unused_keys: Vec::new(),
        trees: vec![Some(root)],
    })
}

/// Reads one problem `{"n", "mu", "W", "b"}`, a set `{"problems": […]}` or an FCLib file from memory.
///
/// `mu` is a number for each contact or one for all; `dimension` (2, 3 or 6) is 3 when left out, `law` (`"coulomb"` or
/// `"second-order-cone"`) Coulomb's; `n` and `id` may be left out, ids of a set differ; other keys are in
/// [`FrictionFile::unused_keys`]. Lengths, signs and symmetry are checked.
pub fn parse_friction(text: &[u8]) -> Result<FrictionFile, FrictionError> {
    parse(text, "0")
}

/// As [`parse_friction`]; an FCLib problem, which has no name inside, is given one.
fn parse(text: &[u8], id: &str) -> Result<FrictionFile, FrictionError> {
    if text.starts_with(&hdf5::SIGNATURE) {
        return parse_fclib(text, id);
    }
    let wrong = |message: String| FrictionError::Syntax { file: "input".into(), message };
    let syntax = |e: serde_json::Error| wrong(e.to_string());
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(wrong("the file is empty".into()));
    }
    // Which of the two it is decides whose complaint is told.
    let value = serde_json::from_slice::<Value>(text).map_err(syntax)?;
    let is_set = value.get("problems").is_some();
    // Lists would pass for objects whose keys come in the order of ours.
    match value.get("problems").unwrap_or(&value) {
        Value::Array(problems) if is_set && problems.is_empty() => {
            return Err(wrong("the set has no problems".into()));
        }
        Value::Array(problems) if is_set => {
            if let Some(k) = problems.iter().position(|p| !p.is_object()) {
                return Err(wrong(format!("problem {k} of the set is no object")));
            }
        }
        Value::Object(_) if !is_set => {}
        _ if is_set => return Err(wrong("\"problems\" is no list".into())),
        _ => return Err(wrong("no object, but a list or a single value".into())),
    }
    let objects = match value.get("problems") {
        Some(Value::Array(problems)) => problems.iter().collect(),
        _ => vec![&value],
    };
    let keys = objects.into_iter().filter_map(Value::as_object).flat_map(|o| o.keys());
    let unused: BTreeSet<&String> = keys.filter(|k| !KEYS.contains(&k.as_str())).collect();
    let unused_keys = unused.into_iter().cloned().collect();
    drop(value);
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
    let problems = problems.collect::<Result<Vec<_>, _>>()?;
    let mut ids = BTreeSet::new();
    if let Some(twice) = problems.iter().find(|p| !ids.insert(&p.id)) {
        return Err(FrictionError::Invalid {
            file: "input".into(),
            id: twice.id.clone(),
            message: "two problems of the set have that id; give each its own, answers are told apart by it".into(),
        });
    }
    let trees = problems.iter().map(|_| None).collect();
    Ok(FrictionFile { problems, is_set, unused_keys, trees })
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
    let law = match raw.law {
        None | Some(RawLaw::Coulomb) => Law::Coulomb,
        Some(RawLaw::SecondOrderCone) => Law::SecondOrderCone,
    };
    Ok(FrictionProblem { id, dimension, law, mu, w: FrictionMatrix::Dense(w), b: raw.b })
}
