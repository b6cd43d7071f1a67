//! A friction problem from a file, solved by a solver of choice.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use toile_cone::{
    AlartCurnierNewton, BlockSparseOperator, ContactRows, DenseOperator, FactoredOperator,
    MassInverse, Operator, Problem, ProblemError, SOLVER_NAMES, Settings, Solution, Solver, Watch,
    solver_named,
};
use toile_io::{FrictionMatrix, FrictionProblem, GlobalFriction, SparseMatrix};
use toile_num::{Matrix, Vector};
use toile_solve::SolveError;

use crate::mass::SparseMass;

/// A friction problem that could not be posed or given to a solver.
#[derive(Debug, thiserror::Error)]
pub enum FrictionSolveError {
    /// The numbers do not make a problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The bodies of a global problem have no inverse.
    #[error("M of problem {id} cannot be factorised: {source}")]
    Mass {
        /// Which problem.
        id: String,
        /// What the factorisation said.
        source: SolveError,
    },
    /// The bodies of a global problem have no positive mass.
    #[error(
        "M of problem {id} is not positive definite; look for bodies without mass, or equations among those of motion"
    )]
    NoMass {
        /// Which problem.
        id: String,
    },
    /// No solver has that name.
    #[error("no solver is called {name}; there are {}", SOLVER_NAMES.join(", "))]
    NoSuchSolver {
        /// The name asked for.
        name: String,
    },
    /// The dimension has no cone here.
    #[error("contacts of dimension {dimension}; 2, 3 and 6 are known")]
    Dimension {
        /// The dimension asked for.
        dimension: usize,
    },
}

/// Solves a problem read by `toile::io::read_friction`.
///
/// ```
/// let text = br#"{"mu": 0.5, "W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "b": [-1, 2, 0]}"#;
/// let file = toile::io::parse_friction(text)?;
/// let settings = toile::cone::Settings::default();
/// let found = toile::solve_friction(&file.problems[0], "auto", &settings, &|_, _| true)?;
/// assert!((found.u[1] - 1.5).abs() < 1e-12); // slides on, slowed by μ times the normal impulse
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve_friction(
    problem: &FrictionProblem,
    solver: &str,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Solution, FrictionSolveError> {
    match problem.dimension {
        2 => solve_in::<2>(problem, solver, settings, watch),
        3 => solve_in::<3>(problem, solver, settings, watch),
        6 => solve_in::<6>(problem, solver, settings, watch),
        dimension => Err(FrictionSolveError::Dimension { dimension }),
    }
}

fn solve_in<const D: usize>(
    problem: &FrictionProblem,
    name: &str,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Solution, FrictionSolveError> {
    let solver = solver_named::<D>(name)
        .ok_or_else(|| FrictionSolveError::NoSuchSolver { name: name.into() })?;
    let (n, size) = (problem.contacts(), D * problem.contacts());
    let solve = |operator: &dyn Operator<D>, b: &[f64]| {
        solve_posed(
            &*solver,
            &Problem::new(operator, b, &problem.mu)?.with_law(problem.law).bounded(),
            settings,
            watch,
        )
    };
    match &problem.w {
        FrictionMatrix::Dense(w) => {
            if w.len() != size * size {
                return Err(FrictionSolveError::Problem(ProblemError::Length {
                    what: "W",
                    found: w.len(),
                    expected: size * size,
                    contacts: n,
                    dimension: D,
                }));
            }
            let operator = DenseOperator::<D>::new(DMatrix::from_row_slice(size, size, w))?;
            solve(&operator, &problem.b)
        }
        FrictionMatrix::Sparse(w) if size <= MOST_DENSE => {
            let mut dense = DMatrix::zeros(size, size);
            w.entries.iter().for_each(|(i, j, v)| dense[(*i as usize, *j as usize)] = *v);
            solve(&DenseOperator::<D>::new(dense)?, &problem.b)
        }
        FrictionMatrix::Sparse(w) => solve(&blocks::<D>(n, w)?, &problem.b),
        FrictionMatrix::Global(global) => {
            let mass = mass_of(problem, global)?;
            let rows = rows::<D>(n, global)?;
            let mut v = global.force.clone();
            mass.solve(&mut v);
            let mut b = vec![0.0; size];
            rows.product(&v, &mut b);
            b.iter_mut().zip(&problem.b).for_each(|(b, w)| *b += w);
            if size <= MOST_DENSE {
                solve(&DenseOperator::<D>::new(delassus(&rows, &mass, size))?, &b)
            } else {
                solve(&FactoredOperator::new(&rows, &mass)?, &b)
            }
        }
    }
}

/// Rows of W up to which all of it is kept, 18 MB: there every solver works, and products are as fast as any.
const MOST_DENSE: usize = 1500;

/// v = M⁻¹(H r + f) of the bodies of a global problem; `None` when the problem knows no bodies.
pub fn body_velocities(
    problem: &FrictionProblem,
    r: &[f64],
) -> Result<Option<Vec<f64>>, FrictionSolveError> {
    let FrictionMatrix::Global(global) = &problem.w else { return Ok(None) };
    let mut v = global.force.clone();
    for &(row, column, value) in &global.h.entries {
        v[row as usize] += value * r.get(column as usize).copied().unwrap_or(0.0);
    }
    mass_of(problem, global)?.solve(&mut v);
    Ok(Some(v))
}

fn mass_of(
    problem: &FrictionProblem,
    global: &GlobalFriction,
) -> Result<SparseMass, FrictionSolveError> {
    let entry = |(i, j, v): &(u32, u32, f64)| (*i as usize, *j as usize, *v);
    let entries: Vec<_> = global.mass.entries.iter().map(entry).collect();
    SparseMass::new(global.mass.rows, 1, &entries).map_err(|source| {
        let id = problem.id.clone();
        match source {
            SolveError::NotPositiveDefinite { .. } => FrictionSolveError::NoMass { id },
            source => FrictionSolveError::Mass { id, source },
        }
    })
}

/// W in blocks of contacts.
fn blocks<const D: usize>(
    contacts: usize,
    w: &SparseMatrix,
) -> Result<BlockSparseOperator<D>, ProblemError> {
    let mut blocks: BTreeMap<(usize, usize), Matrix<D, D>> = BTreeMap::new();
    for &(row, column, value) in &w.entries {
        let (i, j) = (row as usize, column as usize);
        let block = blocks.entry((i / D, j / D)).or_insert_with(Matrix::zeros);
        block[(i % D, j % D)] = value;
    }
    let entries = blocks.into_iter().map(|((i, j), block)| (i, j, block)).collect();
    BlockSparseOperator::from_blocks(contacts, entries)
}

/// Hᵀ, contact by contact.
fn rows<const D: usize>(
    contacts: usize,
    global: &GlobalFriction,
) -> Result<ContactRows<D>, ProblemError> {
    let mut seen: Vec<Vec<(usize, Vector<D>)>> = vec![Vec::new(); contacts];
    // In the order of unknowns, so those of one contact and unknown follow each other.
    for &(row, column, value) in &global.h.entries {
        let (unknown, contact) = (row as usize, column as usize / D);
        let entries = &mut seen[contact];
        if entries.last().is_none_or(|(last, _)| *last != unknown) {
            entries.push((unknown, Vector::zeros()));
        }
        if let Some((_, entry)) = entries.last_mut() {
            entry[column as usize % D] = value;
        }
    }
    let mut rows = ContactRows::new(global.mass.rows);
    for entries in &seen {
        rows.push(entries)?;
    }
    Ok(rows)
}

/// All of Hᵀ M⁻¹ H, symmetric to the last bit.
fn delassus<const D: usize>(rows: &ContactRows<D>, mass: &SparseMass, size: usize) -> DMatrix<f64> {
    let mut w = DMatrix::zeros(size, size);
    let (mut unit, mut v, mut column) =
        (vec![0.0; size], vec![0.0; rows.unknowns()], vec![0.0; size]);
    for k in 0..size {
        unit[k] = 1.0;
        rows.transposed_product(&unit, &mut v);
        unit[k] = 0.0;
        mass.solve(&mut v);
        rows.product(&v, &mut column);
        w.column_mut(k).copy_from_slice(&column);
    }
    let mirror = w.transpose();
    (w + mirror) * 0.5
}

fn solve_posed<const D: usize>(
    solver: &dyn Solver<D>,
    posed: &Problem<'_, D>,
    settings: &Settings,
    watch: Watch<'_>,
) -> Result<Solution, FrictionSolveError> {
    // A floor is for forces of usual size; where all are smaller it would let anything pass.
    let floor = settings.force_floor.map(|floor| floor.min(posed.free_force()));
    let settings = &Settings { force_floor: floor, ..settings.clone() };
    let mut found = solver.solve(posed, None, settings, watch);
    if found.converged() {
        // A few Newton steps more cost little and often reach round-off.
        let closer = Settings {
            tolerance: 1e-3 * settings.tolerance,
            max_iterations: 8,
            ..settings.clone()
        };
        let refined = AlartCurnierNewton.solve(posed, Some(&found.r), &closer, &|_, _| true);
        if refined.residuals.alart_curnier < found.residuals.alart_curnier {
            found.iterations += refined.iterations;
            (found.r, found.u, found.status) = (refined.r, refined.u, refined.status);
            found.residuals = refined.residuals;
        }
    }
    Ok(found)
}
