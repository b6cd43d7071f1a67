//! Boundary-value problems y' = f(s, y, p) on [0, 1] with unknown parameters p, solved by Gauss collocation.
//!
//! On each interval of a mesh the solution is a polynomial of degree k that satisfies the equation at the k Gauss
//! points. The values at the mesh points then have an error of order h^{2k} (10 with the default k = 5), between them
//! h^{k+1}. The mesh is adapted until h·‖u' − f(u)‖, a local error, is below a tolerance everywhere. Each Newton step
//! costs O(N) for N intervals and is stable whatever the growth of the modes, which is what shooting lacks:
//! on the heavy elastica single shooting finds spurious solutions beyond Γ ≈ 200.
//!
//! Reference: U. Ascher, R. Mattheij, R. Russell, *Numerical Solution of Boundary Value Problems for Ordinary
//! Differential Equations*, SIAM 1995: collocation ch. 5, damped Newton §8.1, mesh selection ch. 9.

mod collocation;
mod continuation;
mod elimination;
mod mesh;
mod newton;
mod solution;

pub use continuation::{Continuation, continue_parameter};
pub use solution::Solution;

use nalgebra::DMatrix;

/// y' = f(s, y, p) on [0, 1] with n unknown functions y, m unknown parameters p and n + m boundary conditions
/// g(y(0), y(1), p) = 0.
///
/// The Jacobians are exact and given by the problem; [`jacobian_error`] compares them with differences in a test.
pub trait BoundaryValueProblem {
    /// n, the number of unknown functions.
    fn dimension(&self) -> usize;

    /// m, the number of unknown parameters.
    fn parameter_count(&self) -> usize {
        0
    }

    /// f(s, y, p) into `f` (length n).
    fn rhs(&self, s: f64, y: &[f64], p: &[f64], f: &mut [f64]);

    /// ∂f/∂y into `fy` (n × n) and ∂f/∂p into `fp` (n × m); both arrive filled with zeros.
    fn rhs_jacobian(
        &self,
        s: f64,
        y: &[f64],
        p: &[f64],
        fy: &mut DMatrix<f64>,
        fp: &mut DMatrix<f64>,
    );

    /// g(y(0), y(1), p) into `g` (length n + m).
    fn boundary(&self, y0: &[f64], y1: &[f64], p: &[f64], g: &mut [f64]);

    /// ∂g/∂y(0) into `g0`, ∂g/∂y(1) into `g1` ((n + m) × n), ∂g/∂p into `gp` ((n + m) × m); all arrive filled with zeros.
    fn boundary_jacobian(
        &self,
        y0: &[f64],
        y1: &[f64],
        p: &[f64],
        g0: &mut DMatrix<f64>,
        g1: &mut DMatrix<f64>,
        gp: &mut DMatrix<f64>,
    );
}

/// How hard [`solve`] works; the defaults aim at twelve digits.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Largest allowed local error h·|u' − f|, relative to the size of each component of y. The values at the mesh
    /// points are much better than this, thanks to superconvergence.
    pub tolerance: f64,
    /// k, Gauss points per interval, 1 to 8. Five gives order 10 at the mesh points with 5n × 5n local systems.
    pub stages: usize,
    /// Newton steps on one mesh. Damped Newton that needs more than 40 is lost: continuation helps, patience does not.
    pub newton_steps: usize,
    /// Relative size of the Newton correction at which a mesh is solved: the square of it is below rounding.
    pub newton_tolerance: f64,
    /// Meshes tried before giving up.
    pub refinements: usize,
    /// Largest number of intervals; bounds memory (about 4 kB per interval for n = 4, k = 5).
    pub intervals: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            stages: 5,
            newton_steps: 40,
            newton_tolerance: 1e-10,
            refinements: 20,
            intervals: 4000,
        }
    }
}

/// Why a boundary-value problem was not solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BvpError {
    /// The guess or the settings cannot be used.
    #[error("{0}")]
    Input(String),
    /// f, g or a Jacobian is infinite or not a number at the start of Newton's method.
    #[error(
        "the equation is not finite at the guess (interval {interval}); start from a point where f, g and their Jacobians exist"
    )]
    NotFinite {
        /// Interval of the mesh where it was seen.
        interval: usize,
    },
    /// The linear system of a Newton step is singular: a bifurcation, a fold, or dependent boundary conditions.
    #[error(
        "the linearised problem is singular; near a fold or bifurcation follow another parameter, else check the boundary conditions"
    )]
    Singular,
    /// Newton's method stopped before convergence.
    #[error(
        "Newton stopped after {steps} steps with a relative correction of {correction:.1e}; start closer, e.g. by continuation"
    )]
    Newton {
        /// Steps done on the last mesh.
        steps: usize,
        /// Relative size of the last correction.
        correction: f64,
    },
    /// The tolerance was not met by the finest mesh.
    #[error(
        "the local error is still {error:.1e} on {intervals} intervals, {tolerance:.1e} was asked; loosen the tolerance or allow more intervals"
    )]
    Mesh {
        /// Largest relative local error.
        error: f64,
        /// The tolerance asked for.
        tolerance: f64,
        /// Intervals of the last mesh.
        intervals: usize,
    },
    /// Continuation had to make its steps too small.
    #[error("continuation stopped at {reached} on its way to {target}: {cause}")]
    Continuation {
        /// Last value of the parameter that was solved.
        reached: f64,
        /// Value that was wanted.
        target: f64,
        /// Failure of the last attempt.
        cause: Box<BvpError>,
    },
}

/// Solves `problem` from `guess`, refining the mesh until `settings.tolerance` is met.
///
/// Which solution is found depends on the guess; follow a branch with [`continue_parameter`]. Check:
/// `nodes_converge_with_order_2k`, `boundary_layer_is_resolved`.
pub fn solve<P: BoundaryValueProblem>(
    problem: &P,
    guess: &Solution,
    settings: &Settings,
) -> Result<Solution, BvpError> {
    check(problem, guess, settings)?;
    let rule = collocation::Rule::gauss(settings.stages);
    let mut u = guess.on_rule(&rule);
    for _ in 0..settings.refinements.max(1) {
        newton::solve_on_mesh(problem, &rule, &mut u, settings)?;
        let errors = mesh::local_errors(problem, &rule, &u);
        u.local_error = errors.iter().copied().fold(0.0, f64::max);
        if u.local_error <= settings.tolerance {
            return Ok(u);
        }
        let nodes = mesh::equidistribute(&u.mesh, &errors, rule.stages(), settings);
        if nodes.len() > settings.intervals + 1 {
            break;
        }
        u = u.on_mesh(nodes, &rule);
    }
    Err(BvpError::Mesh {
        error: u.local_error,
        tolerance: settings.tolerance,
        intervals: u.mesh.len() - 1,
    })
}

/// Solves on the mesh of the guess only, without refinement; for convergence studies.
pub fn solve_on_given_mesh<P: BoundaryValueProblem>(
    problem: &P,
    guess: &Solution,
    settings: &Settings,
) -> Result<Solution, BvpError> {
    check(problem, guess, settings)?;
    let rule = collocation::Rule::gauss(settings.stages);
    let mut u = guess.on_rule(&rule);
    newton::solve_on_mesh(problem, &rule, &mut u, settings)?;
    u.local_error = mesh::local_errors(problem, &rule, &u).into_iter().fold(0.0, f64::max);
    Ok(u)
}

fn check<P: BoundaryValueProblem>(
    problem: &P,
    guess: &Solution,
    settings: &Settings,
) -> Result<(), BvpError> {
    let (n, m) = (problem.dimension(), problem.parameter_count());
    if guess.dimension != n || guess.parameters.len() != m {
        return Err(BvpError::Input(format!(
            "the guess has {} functions and {} parameters, the problem {n} and {m}; build the guess for this problem",
            guess.dimension,
            guess.parameters.len()
        )));
    }
    if !(1..=8).contains(&settings.stages) {
        return Err(BvpError::Input(format!(
            "{} Gauss points per interval; use 1 to 8",
            settings.stages
        )));
    }
    if settings.tolerance.is_nan() || settings.tolerance <= 0.0 {
        return Err(BvpError::Input(format!(
            "tolerance {}; use a positive number",
            settings.tolerance
        )));
    }
    Ok(())
}

/// Largest difference between the Jacobians a problem gives and central differences of f and g, relative to the
/// largest entry of each matrix plus one. For tests: a right Jacobian gives about 1e-9.
pub fn jacobian_error<P: BoundaryValueProblem>(
    problem: &P,
    s: f64,
    y0: &[f64],
    y1: &[f64],
    p: &[f64],
) -> f64 {
    let (n, m) = (problem.dimension(), problem.parameter_count());
    let (mut fy, mut fp) = (DMatrix::zeros(n, n), DMatrix::zeros(n, m));
    problem.rhs_jacobian(s, y0, p, &mut fy, &mut fp);
    let (mut g0, mut g1) = (DMatrix::zeros(n + m, n), DMatrix::zeros(n + m, n));
    let mut gp = DMatrix::zeros(n + m, m);
    problem.boundary_jacobian(y0, y1, p, &mut g0, &mut g1, &mut gp);

    let rhs = |y: &[f64], p: &[f64]| {
        let mut f = vec![0.0; n];
        problem.rhs(s, y, p, &mut f);
        f
    };
    let boundary = |y0: &[f64], y1: &[f64], p: &[f64]| {
        let mut g = vec![0.0; n + m];
        problem.boundary(y0, y1, p, &mut g);
        g
    };
    let mut worst = 0.0_f64;
    let mut compare = |exact: &DMatrix<f64>, at: &[f64], f: &dyn Fn(&[f64]) -> Vec<f64>| {
        let size = 1.0 + exact.amax();
        for c in 0..at.len() {
            let h = 1e-5 * (1.0 + at[c].abs());
            let mut shifted = at.to_vec();
            shifted[c] = at[c] + h;
            let plus = f(&shifted);
            shifted[c] = at[c] - h;
            let minus = f(&shifted);
            for r in 0..plus.len() {
                worst = worst.max(((plus[r] - minus[r]) / (2.0 * h) - exact[(r, c)]).abs() / size);
            }
        }
    };
    compare(&fy, y0, &|y| rhs(y, p));
    compare(&fp, p, &|p| rhs(y0, p));
    compare(&g0, y0, &|y| boundary(y, y1, p));
    compare(&g1, y1, &|y| boundary(y0, y, p));
    compare(&gp, p, &|p| boundary(y0, y1, p));
    worst
}
