//! A friction problem from a file, solved by a solver of choice.

use nalgebra::DMatrix;
use toile_cone::{
    AlartCurnierNewton, DenseOperator, Problem, ProblemError, SOLVER_NAMES, Settings, Solution,
    Solver, Watch, solver_named,
};
use toile_io::FrictionProblem;

/// A friction problem that could not be posed or given to a solver.
#[derive(Debug, thiserror::Error)]
pub enum FrictionSolveError {
    /// The numbers do not make a problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
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
    let size = D * problem.contacts();
    if problem.w.len() != size * size {
        return Err(FrictionSolveError::Problem(ProblemError::Length {
            what: "W",
            found: problem.w.len(),
            expected: size * size,
            contacts: problem.contacts(),
            dimension: D,
        }));
    }
    let operator = DenseOperator::<D>::new(DMatrix::from_row_slice(size, size, &problem.w))?;
    let posed = Problem::new(&operator, &problem.b, &problem.mu)?;
    let mut found = solver.solve(&posed, None, settings, watch);
    if found.converged() {
        // A few Newton steps more cost little and often reach round-off.
        let closer = Settings {
            tolerance: 1e-3 * settings.tolerance,
            max_iterations: 8,
            ..settings.clone()
        };
        let refined = AlartCurnierNewton.solve(&posed, Some(&found.r), &closer, &|_, _| true);
        if refined.residuals.alart_curnier < found.residuals.alart_curnier {
            found.iterations += refined.iterations;
            (found.r, found.u, found.status) = (refined.r, refined.u, refined.status);
            found.residuals = refined.residuals;
        }
    }
    Ok(found)
}
