//! Friction problems as FCLib keeps them: HDF5 files with a group `fclib_local` or `fclib_global`.
//!
//! Local: u = W r + q. Global: M v = H r + f, u = Hᵀ v + w, H with a row for each unknown and a column for each component of a
//! contact. Components of a contact are normal first and the law is that of our own files: De Saxcé's shift μ‖u_T‖ of the normal
//! velocity. Solutions are groups `solution` beside the problem, with u, r and for global problems v.
//! Reference: Acary, Brémond, Koziara, Pérignon 2014.

use crate::friction::FrictionProblem;
use crate::friction_matrix::{FrictionMatrix, GlobalFriction, SparseMatrix};
use crate::hdf5::{Array, Group, Node, Values};
use toile_cone::{Law, Solution};

const LOCAL: &str = "fclib_local";
const GLOBAL: &str = "fclib_global";

/// The problem of a file, not yet checked beyond its lengths.
pub(crate) fn problem_of(root: &Group, id: String) -> Result<FrictionProblem, String> {
    // A file with both holds one problem in two forms; a solution then has velocities of the bodies.
    let (name, global) = match (group(root, GLOBAL), group(root, LOCAL)) {
        (Some(_), _) => (GLOBAL, true),
        (None, Some(_)) => (LOCAL, false),
        (None, None) => {
            let rolling = root.members.iter().any(|(name, _)| name.contains("rolling"));
            return Err(match rolling {
                true => "a problem with rolling friction, which is not known here".into(),
                false => format!("no group {LOCAL} or {GLOBAL}; FCLib keeps its problems there"),
            });
        }
    };
    let at = |part: &str| format!("{name}/{part}");
    let extra: &[&str] = if global { &["G"] } else { &["V", "R"] };
    for part in extra {
        if group(root, &at(part)).is_some() && integer(root, &at(&format!("{part}/n")))? > 0 {
            return Err(format!(
                "{} couples bodies by equations, which is not known here; eliminate them first",
                at(part)
            ));
        }
    }
    let dimension = match integer(root, &at("spacedim"))? {
        2 => 2,
        3 => 3,
        other => return Err(format!("{} is {other}; 2 and 3 are known", at("spacedim"))),
    };
    let mu = reals(root, &at("vectors/mu"))?;
    let b = reals(root, &at(if global { "vectors/w" } else { "vectors/q" }))?;
    let size = b.len();
    if mu.len().checked_mul(dimension) != Some(size) {
        return Err(format!(
            "{} contacts by {}, but {size} numbers in {}; {dimension} belong to each contact",
            mu.len(),
            at("vectors/mu"),
            at(if global { "vectors/w" } else { "vectors/q" })
        ));
    }
    let w = if global {
        let force = reals(root, &at("vectors/f"))?;
        let unknowns = force.len();
        FrictionMatrix::Global(Box::new(GlobalFriction {
            mass: matrix(root, &at("M"), (unknowns, unknowns))?,
            h: matrix(root, &at("H"), (unknowns, size))?,
            force,
        }))
    } else {
        FrictionMatrix::Sparse(matrix(root, &at("W"), (size, size))?)
    };
    Ok(FrictionProblem { id, dimension, law: Law::Coulomb, mu, w, b })
}

fn group<'a>(root: &'a Group, path: &str) -> Option<&'a Group> {
    match root.find(path)? {
        Node::Group(group) => Some(group),
        _ => None,
    }
}

fn array<'a>(root: &'a Group, path: &str) -> Result<&'a Array, String> {
    match root.find(path) {
        Some(Node::Array(array)) => Ok(array),
        Some(Node::Unread(what)) => Err(format!(
            "{path} is {what}, which is not read here; write it as a plain array of numbers"
        )),
        Some(Node::Group(_)) => Err(format!("{path} is a group; it should be an array")),
        None => Err(format!("{path} is missing")),
    }
}

fn integers<'a>(root: &'a Group, path: &str) -> Result<&'a [i64], String> {
    match &array(root, path)?.values {
        Values::Integers(values) => Ok(values),
        _ => Err(format!("{path} should hold integers")),
    }
}

fn integer(root: &Group, path: &str) -> Result<i64, String> {
    match integers(root, path)? {
        [value, ..] => Ok(*value),
        [] => Err(format!("{path} is empty")),
    }
}

fn reals(root: &Group, path: &str) -> Result<Vec<f64>, String> {
    let values = match &array(root, path)?.values {
        Values::Reals(values) => values.clone(),
        Values::Integers(values) => values.iter().map(|v| *v as f64).collect(),
        Values::Text(_) => return Err(format!("{path} should hold numbers")),
    };
    match values.iter().position(|v| !v.is_finite()) {
        Some(k) => Err(format!("{path}[{k}] is {}; give finite numbers", values[k])),
        None => Ok(values),
    }
}

/// A sparse matrix of a size that other arrays tell.
fn matrix(root: &Group, path: &str, size: (usize, usize)) -> Result<SparseMatrix, String> {
    let at = |part: &str| format!("{path}/{part}");
    let (rows, columns) = (integer(root, &at("m"))?, integer(root, &at("n"))?);
    if (rows, columns) != (size.0 as i64, size.1 as i64) {
        return Err(format!(
            "{path} has {rows} rows and {columns} columns, the vectors ask for {} and {}",
            size.0, size.1
        ));
    }
    let kind = integer(root, &at("nz"))?;
    let (p, i) = (integers(root, &at("p"))?, integers(root, &at("i"))?);
    let x = reals(root, &at("x"))?;
    let mut entries = Vec::new();
    let place = |(row, column): (i64, i64)| {
        let fits = (0..rows).contains(&row) && (0..columns).contains(&column);
        fits.then_some((row as u32, column as u32))
    };
    let outside = |k: usize, (row, column): (i64, i64)| {
        format!("entry {k} of {path} is at row {row}, column {column} of {rows} × {columns}")
    };
    match kind {
        -2 | -1 => {
            let lines = if kind == -1 { size.1 } else { size.0 };
            let starts = p.get(..lines + 1).ok_or_else(|| {
                format!("{} has {} numbers, {} are needed", at("p"), p.len(), lines + 1)
            })?;
            let most = i.len().min(x.len()) as i64;
            if starts[0] != 0 || starts.windows(2).any(|w| w[1] < w[0]) || starts[lines] > most {
                return Err(format!("{} does not rise from 0 to at most {most}", at("p")));
            }
            for (line, range) in starts.windows(2).enumerate() {
                for k in range[0] as usize..range[1] as usize {
                    let (a, b) = (i[k], line as i64);
                    let pair = if kind == -1 { (a, b) } else { (b, a) };
                    let (row, column) = place(pair).ok_or_else(|| outside(k, pair))?;
                    entries.push((row, column, x[k]));
                }
            }
        }
        0.. => {
            let count = usize::try_from(kind).unwrap_or(usize::MAX);
            let (Some(p), Some(i), Some(x)) = (p.get(..count), i.get(..count), x.get(..count))
            else {
                return Err(format!(
                    "{} announces {count} entries; p, i and x have {}, {} and {}",
                    at("nz"),
                    p.len(),
                    i.len(),
                    x.len()
                ));
            };
            // Programs write triplets with rows in i (CSparse); the words of the format put them into p.
            let usual = (0..count).all(|k| place((i[k], p[k])).is_some());
            for k in 0..count {
                let pair = if usual { (i[k], p[k]) } else { (p[k], i[k]) };
                let (row, column) = place(pair).ok_or_else(|| outside(k, (i[k], p[k])))?;
                entries.push((row, column, x[k]));
            }
        }
        other => return Err(format!("{} is {other}; from -2 on it has a meaning", at("nz"))),
    }
    Ok(SparseMatrix::new(size.0, size.1, entries))
}

/// The tree of a file with a problem; the reason where FCLib has no place for it.
pub(crate) fn tree_of(problem: &FrictionProblem) -> Result<Group, String> {
    if ![2, 3].contains(&problem.dimension) {
        return Err(format!(
            "FCLib knows contacts of 2 and 3 components, problem {} has {}",
            problem.id, problem.dimension
        ));
    }
    if problem.law != Law::Coulomb {
        return Err(format!(
            "FCLib knows Coulomb's law only, problem {} has plain cones; leave out --export",
            problem.id
        ));
    }
    let mut inner = Group::default();
    inner.put("spacedim", Array::integers(vec![problem.dimension as i64]));
    let mut vectors = Group::default();
    let size = problem.b.len();
    let name = match &problem.w {
        FrictionMatrix::Dense(w) => {
            let at = |k: usize| ((k / size) as u32, (k % size) as u32, w[k]);
            let kept = |k: &usize| w[*k] != 0.0 || k / size == k % size;
            let entries = (0..w.len()).filter(kept).map(at).collect();
            inner.put("W", columns_of(&SparseMatrix::new(size, size, entries))?);
            LOCAL
        }
        FrictionMatrix::Sparse(w) => {
            inner.put("W", columns_of(w)?);
            LOCAL
        }
        FrictionMatrix::Global(global) => {
            inner.put("M", columns_of(&global.mass)?);
            inner.put("H", columns_of(&global.h)?);
            vectors.put("f", Array::reals(global.force.clone()));
            GLOBAL
        }
    };
    vectors.put(if name == LOCAL { "q" } else { "w" }, Array::reals(problem.b.clone()));
    vectors.put("mu", Array::reals(problem.mu.clone()));
    inner.put("vectors", Node::Group(vectors));
    let mut info = Group::default();
    info.put("title", Array::text(&problem.id));
    info.put("description", Array::text("written by toile"));
    info.put("math_info", Array::text(""));
    inner.put("info", Node::Group(info));
    let mut root = Group::default();
    root.put(name, Node::Group(inner));
    Ok(root)
}

/// Compressed columns, as most files have them.
fn columns_of(matrix: &SparseMatrix) -> Result<Node, String> {
    let mut entries = matrix.entries.clone();
    entries.sort_by_key(|(row, column, _)| (*column, *row));
    if i32::try_from(entries.len()).is_err() {
        return Err(format!("{} entries; FCLib counts to 2147483647", entries.len()));
    }
    let mut starts = vec![0i64; matrix.columns + 1];
    entries.iter().for_each(|(_, column, _)| starts[*column as usize + 1] += 1);
    (0..matrix.columns).for_each(|k| starts[k + 1] += starts[k]);
    let mut group = Group::default();
    for (name, value) in [
        ("nzmax", entries.len() as i64),
        ("m", matrix.rows as i64),
        ("n", matrix.columns as i64),
        ("nz", -1),
    ] {
        group.put(name, Array::integers(vec![value]));
    }
    group.put("p", Array::integers(starts));
    group.put("i", Array::integers(entries.iter().map(|e| i64::from(e.0)).collect()));
    group.put("x", Array::reals(entries.iter().map(|e| e.2).collect()));
    Ok(Node::Group(group))
}

/// Puts a solution beside a problem, in the place of an older one.
pub(crate) fn put_solution(root: &mut Group, found: &Solution, bodies: Option<&[f64]>) {
    let mut group = Group::default();
    if let Some(v) = bodies {
        group.put("v", Array::reals(v.to_vec()));
    }
    group.put("u", Array::reals(found.u.clone()));
    group.put("r", Array::reals(found.r.clone()));
    root.put("solution", Node::Group(group));
}
