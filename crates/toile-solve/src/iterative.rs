//! Krylov iterations for symmetric systems that are only known through their product.

use crate::error::{check_finite, check_length};
use crate::refine::norm2;
use crate::{SolveError, SymmetricPattern};

/// A square matrix known by what it does to a vector.
pub trait LinearOperator {
    /// Number of unknowns.
    fn dimension(&self) -> usize;
    /// y = A x; both have one entry per unknown.
    fn apply(&self, x: &[f64], y: &mut [f64]);
}

/// An operator made of a function (x, y) ↦ y = A x.
#[derive(Clone, Copy, Debug)]
pub struct OperatorFn<F> {
    /// Number of unknowns.
    pub n: usize,
    /// Writes A x into its second argument.
    pub function: F,
}

impl<F: Fn(&[f64], &mut [f64])> LinearOperator for OperatorFn<F> {
    fn dimension(&self) -> usize {
        self.n
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        (self.function)(x, y);
    }
}

/// A stored symmetric matrix as an operator.
#[derive(Clone, Copy, Debug)]
pub struct SymmetricOperator<'a> {
    /// Where the entries are.
    pub pattern: &'a SymmetricPattern,
    /// The entries.
    pub values: &'a [f64],
}

impl LinearOperator for SymmetricOperator<'_> {
    fn dimension(&self) -> usize {
        self.pattern.n
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.pattern.multiply(self.values, x, y);
    }
}

/// When to stop an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterativeSettings {
    /// Wanted ‖Ax − b‖₂/‖b‖₂. Default 1e-10.
    pub tolerance: f64,
    /// Products with A at most. Default 10 000.
    pub max_iterations: usize,
}

impl Default for IterativeSettings {
    fn default() -> Self {
        Self { tolerance: 1e-10, max_iterations: 10_000 }
    }
}

/// Why an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The residual, recomputed from its definition, is below the tolerance.
    Converged,
    /// The allowed number of products was used.
    IterationLimit,
    /// A direction p with pᵀAp ≤ 0 was met: A is not positive definite (CG only).
    NegativeCurvature,
    /// Rounding, or a singular matrix with an incompatible right-hand side, allows no progress.
    Stagnation,
    /// The preconditioner is not positive definite: rᵀM⁻¹r < 0.
    IndefinitePreconditioner,
}

/// A direction along which a quadratic form does not increase.
#[derive(Clone, Debug, PartialEq)]
pub struct NegativeCurvature {
    /// p, not normalised; it is a descent direction: pᵀ(b − Ax) > 0.
    pub direction: Vec<f64>,
    /// pᵀAp/pᵀp ≤ 0.
    pub curvature: f64,
}

/// How an iteration went; the iterate itself is in the vector given for it.
#[derive(Clone, Debug, PartialEq)]
pub struct IterativeReport {
    /// Why it ended.
    pub stop: StopReason,
    /// Products with A inside the iteration.
    pub iterations: usize,
    /// ‖Ax − b‖₂/‖b‖₂ of the returned x, recomputed from its definition.
    pub residual: f64,
    /// For CG that met one.
    pub negative_curvature: Option<NegativeCurvature>,
}

/// Preconditioned conjugate gradients for symmetric positive definite A, from the x given.
///
/// `preconditioner` applies M⁻¹, symmetric positive definite. On a direction of non-positive
/// curvature x is the last iterate before it and the report carries the direction; other early stops
/// are no errors either. Fails on NaN and on arrays of the wrong length.
///
/// Reference: Hestenes, Stiefel 1952.
pub fn conjugate_gradient(
    operator: &impl LinearOperator,
    preconditioner: &impl LinearOperator,
    rhs: &[f64],
    x: &mut [f64],
    settings: &IterativeSettings,
) -> Result<IterativeReport, SolveError> {
    let n = check(operator, preconditioner, rhs, x)?;
    let target = settings.tolerance * norm2(rhs);
    let mut r = vec![0.0; n];
    let (mut z, mut p, mut ap) = (r.clone(), r.clone(), r.clone());
    let mut iterations = 0;
    let mut negative_curvature = None;
    let mut last_true_residual = f64::INFINITY;
    let stop = 'restart: loop {
        // The true residual: the recurrence drifts from it, so it is taken anew before any claim.
        let true_residual = residual(operator, rhs, x, &mut r);
        if true_residual.is_nan() {
            return Err(SolveError::NotFinite { what: "residual" });
        }
        if true_residual <= target {
            break StopReason::Converged;
        }
        if true_residual > 0.5 * last_true_residual {
            break StopReason::Stagnation;
        }
        last_true_residual = true_residual;
        preconditioner.apply(&r, &mut z);
        p.copy_from_slice(&z);
        let mut rz = dot(&r, &z);
        loop {
            if rz.is_nan() {
                return Err(SolveError::NotFinite { what: "iterate" });
            }
            if rz <= 0.0 {
                break 'restart StopReason::IndefinitePreconditioner;
            }
            if iterations >= settings.max_iterations {
                break 'restart StopReason::IterationLimit;
            }
            operator.apply(&p, &mut ap);
            iterations += 1;
            let curvature = dot(&p, &ap);
            if curvature.is_nan() {
                return Err(SolveError::NotFinite { what: "product with the operator" });
            }
            if curvature <= 0.0 {
                negative_curvature =
                    Some(NegativeCurvature { curvature: curvature / dot(&p, &p), direction: p });
                break 'restart StopReason::NegativeCurvature;
            }
            let alpha = rz / curvature;
            for i in 0..n {
                x[i] += alpha * p[i];
                r[i] -= alpha * ap[i];
            }
            if norm2(&r) <= target {
                continue 'restart;
            }
            preconditioner.apply(&r, &mut z);
            let rz_next = dot(&r, &z);
            let beta = rz_next / rz;
            rz = rz_next;
            for i in 0..n {
                p[i] = z[i] + beta * p[i];
            }
        }
    };
    finish(operator, rhs, x, stop, iterations, negative_curvature)
}

/// Preconditioned MINRES for symmetric, possibly indefinite A, from the x given.
///
/// Minimises the residual in the norm of M⁻¹ over the Krylov space; `preconditioner` applies M⁻¹,
/// symmetric positive definite. For a singular, compatible system it finds a solution. Fails on NaN
/// and on arrays of the wrong length; other early stops are no errors.
///
/// Reference: Paige, Saunders 1975, "Solution of sparse indefinite systems of linear equations".
pub fn minres(
    operator: &impl LinearOperator,
    preconditioner: &impl LinearOperator,
    rhs: &[f64],
    x: &mut [f64],
    settings: &IterativeSettings,
) -> Result<IterativeReport, SolveError> {
    let n = check(operator, preconditioner, rhs, x)?;
    let target = settings.tolerance * norm2(rhs);
    let zero = vec![0.0; n];
    // Lanczos: r_old, r are the unnormalised vectors, v the preconditioned normalised one.
    let (mut r_old, mut r, mut z, mut v, mut av) =
        (zero.clone(), zero.clone(), zero.clone(), zero.clone(), zero.clone());
    // Search directions of the last two steps.
    let (mut w, mut w_old) = (zero.clone(), zero);
    let mut best = x.to_vec();
    let mut iterations = 0;
    let mut last_true_residual = f64::INFINITY;
    let stop = 'restart: loop {
        let true_residual = residual(operator, rhs, x, &mut r);
        if true_residual.is_nan() {
            return Err(SolveError::NotFinite { what: "residual" });
        }
        if true_residual <= target {
            break StopReason::Converged;
        }
        if true_residual < last_true_residual {
            best.copy_from_slice(x);
        } else {
            x.copy_from_slice(&best);
        }
        if iterations >= settings.max_iterations {
            break StopReason::IterationLimit;
        }
        if true_residual > 0.5 * last_true_residual {
            break StopReason::Stagnation;
        }
        last_true_residual = true_residual;
        preconditioner.apply(&r, &mut z);
        let start = dot(&r, &z);
        if start.is_nan() {
            return Err(SolveError::NotFinite { what: "iterate" });
        }
        if start <= 0.0 {
            break StopReason::IndefinitePreconditioner;
        }
        let mut beta = start.sqrt();
        let mut beta_old = 0.0;
        // Estimated residual in the preconditioned norm, and what it must shrink to.
        let mut phi = beta;
        let goal = 0.5 * beta * (target / true_residual);
        r_old.fill(0.0);
        w.fill(0.0);
        w_old.fill(0.0);
        // The two last plane rotations, which make the tridiagonal matrix triangular.
        let (mut c, mut s, mut c_old, mut s_old) = (1.0, 0.0, 1.0, 0.0);
        // Largest entry of the tridiagonal matrix: the scale of A in this basis.
        let mut scale: f64 = 0.0;
        loop {
            for i in 0..n {
                v[i] = z[i] / beta;
            }
            operator.apply(&v, &mut av);
            iterations += 1;
            let alpha = dot(&v, &av);
            for i in 0..n {
                let next = av[i]
                    - (alpha / beta) * r[i]
                    - if beta_old > 0.0 { (beta / beta_old) * r_old[i] } else { 0.0 };
                r_old[i] = r[i];
                r[i] = next;
            }
            preconditioner.apply(&r, &mut z);
            let square = dot(&r, &z);
            if square.is_nan() || alpha.is_nan() {
                return Err(SolveError::NotFinite { what: "product with the operator" });
            }
            scale = scale.max(alpha.abs()).max(beta_old);
            // The Krylov space is exhausted when the next vector is pure rounding.
            let rounding = f64::EPSILON * scale;
            if square < -rounding * rounding {
                break 'restart StopReason::IndefinitePreconditioner;
            }
            let beta_next = square.max(0.0).sqrt();
            // Column of the tridiagonal matrix, (beta_from_above, alpha, beta_next), rotated.
            let above = if beta_old > 0.0 { beta } else { 0.0 };
            let epsilon = s_old * above;
            let middle = c_old * above;
            let delta = c * middle + s * alpha;
            let gamma_bar = -s * middle + c * alpha;
            let gamma = gamma_bar.hypot(beta_next);
            let exhausted = beta_next <= rounding;
            // |A r|/|r| of the residual so far (Choi, Paige, Saunders 2011): when it vanishes, A is
            // singular and no step along this space makes r smaller.
            if gamma_bar.hypot(c * beta_next) <= 100.0 * rounding {
                continue 'restart;
            }
            (c_old, s_old) = (c, s);
            (c, s) = (gamma_bar / gamma, beta_next / gamma);
            let step = c * phi;
            phi *= -s;
            for i in 0..n {
                let next = (v[i] - delta * w[i] - epsilon * w_old[i]) / gamma;
                w_old[i] = w[i];
                w[i] = next;
                x[i] += step * next;
            }
            if phi.abs() <= goal || exhausted || iterations >= settings.max_iterations {
                continue 'restart;
            }
            beta_old = beta;
            beta = beta_next;
        }
    };
    finish(operator, rhs, x, stop, iterations, None)
}

fn check(
    operator: &impl LinearOperator,
    preconditioner: &impl LinearOperator,
    rhs: &[f64],
    x: &[f64],
) -> Result<usize, SolveError> {
    let n = operator.dimension();
    check_length("preconditioner", preconditioner.dimension(), n)?;
    check_length("right-hand side", rhs.len(), n)?;
    check_length("solution", x.len(), n)?;
    check_finite("right-hand side", rhs)?;
    check_finite("starting point", x)?;
    Ok(n)
}

/// r = b − A x; returns ‖r‖₂.
fn residual(operator: &impl LinearOperator, rhs: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
    operator.apply(x, r);
    for (r, b) in r.iter_mut().zip(rhs) {
        *r = b - *r;
    }
    norm2(r)
}

fn finish(
    operator: &impl LinearOperator,
    rhs: &[f64],
    x: &[f64],
    stop: StopReason,
    iterations: usize,
    negative_curvature: Option<NegativeCurvature>,
) -> Result<IterativeReport, SolveError> {
    let mut r = vec![0.0; rhs.len()];
    let size = residual(operator, rhs, x, &mut r);
    if !size.is_finite() {
        return Err(SolveError::NotFinite { what: "iterate" });
    }
    let rhs_norm = norm2(rhs);
    let residual = if rhs_norm > 0.0 { size / rhs_norm } else { size };
    Ok(IterativeReport { stop, iterations, residual, negative_curvature })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
