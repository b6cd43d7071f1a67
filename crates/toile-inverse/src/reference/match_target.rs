//! Step one: the rest shape whose drape is nearest to the target, contacts held as if pinned.
//!
//! J(x̄) = ½ ‖Φ^λ(x̄) − x_t‖² with its gradient by the adjoint (Ly 2021, algorithm 4): (∇²E^λ) p = x − x_t, ∇J = −(∂²E/∂x∂x̄)ᵀ p;
//! and second derivatives as products: Gauss–Newton's, and the full ones by the direct-adjoint formula (D.6), with third
//! derivatives of the energy by dual numbers.

use toile_sim::State;
use toile_solve::{IdentityPreconditioner, IterativeSettings, OperatorFn, conjugate_gradient};

use super::drape::Draping;
use super::lbfgs::{dot, largest};
use crate::InverseError;

/// A rest shape, its drape, and the derivatives of J there.
pub(super) struct Matched {
    pub(super) x: State,
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    pub(super) mixed: Vec<f64>,
    /// p = −(∇²E^λ)⁻¹ (x − x_t), the sign of (D.6).
    pub(super) adjoint: Vec<f64>,
}

/// Sets to zero what may not change.
pub(super) fn keep(free: &[bool], v: &mut [f64]) {
    for (v, free) in v.iter_mut().zip(free) {
        if !free {
            *v = 0.0;
        }
    }
}

/// Drapes the rest shape `base` + `change` and differentiates; `None` where it has no stable drape.
pub(super) fn evaluate(
    draping: &mut Draping,
    base: &State,
    change: &[f64],
    free: &[bool],
) -> Result<Option<Matched>, InverseError> {
    let mut rest = base.clone();
    base.advanced_into(change, 1.0, &mut rest);
    draping.model.set_rest(&rest);
    let Some(x) = draping.drape()? else { return Ok(None) };
    let away = draping.away(&x);
    let value = 0.5 * dot(&away, &away);
    let p = draping.solve(&away)?;
    let mixed = draping.mixed_values(&x);
    let mut gradient = vec![0.0; p.len()];
    draping.mixed.multiply_transposed(&mixed, &p, &mut gradient);
    gradient.iter_mut().for_each(|g| *g = -*g);
    keep(free, &mut gradient);
    let adjoint = p.iter().map(|p| -p).collect();
    Ok(Some(Matched { x, value, gradient, mixed, adjoint }))
}

/// DΦ v = −(∇²E^λ)⁻¹ (∂²E/∂x∂x̄) v.
fn follow(draping: &mut Draping, at: &Matched, v: &[f64]) -> Result<Vec<f64>, InverseError> {
    let mut moved = vec![0.0; v.len()];
    draping.mixed.multiply(&at.mixed, v, &mut moved);
    let mut u = draping.solve(&moved)?;
    u.iter_mut().for_each(|u| *u = -*u);
    Ok(u)
}

/// DΦᵀ w.
fn pull_back(draping: &mut Draping, at: &Matched, w: &[f64]) -> Result<Vec<f64>, InverseError> {
    let p = draping.solve(w)?;
    let mut out = vec![0.0; w.len()];
    draping.mixed.multiply_transposed(&at.mixed, &p, &mut out);
    out.iter_mut().for_each(|o| *o = -*o);
    Ok(out)
}

/// The second derivative of J times v: DΦᵀ DΦ v, and with `full` what (D.6) adds to it.
pub(super) fn curvature(
    draping: &mut Draping,
    at: &Matched,
    v: &[f64],
    free: &[bool],
    full: bool,
) -> Result<Vec<f64>, InverseError> {
    let u = follow(draping, at, v)?;
    let on_shape = |(u, v): (&f64, &bool)| if *v { *u } else { 0.0 };
    let mut in_x: Vec<f64> = u.iter().zip(&draping.is_vertex).map(on_shape).collect();
    let mut in_rest = vec![0.0; v.len()];
    if full {
        let mut third = vec![0.0; v.len()];
        draping.model.third_derivative(&at.x, &at.adjoint, &u, v, &mut third, &mut in_rest);
        in_x.iter_mut().zip(&third).for_each(|(x, t)| *x += t);
    }
    let mut out = pull_back(draping, at, &in_x)?;
    out.iter_mut().zip(&in_rest).for_each(|(o, r)| *o += r);
    keep(free, &mut out);
    Ok(out)
}

/// What [`newton`] found.
pub(super) struct Second {
    pub(super) change: Vec<f64>,
    pub(super) value: f64,
    pub(super) iterations: usize,
    pub(super) interrupted: bool,
}

/// Makes J least by Gauss–Newton's method or, with `full`, by Newton's; steps by conjugate gradients with the products above,
/// damped as by Levenberg and Marquardt.
pub(super) fn newton(
    draping: &mut Draping,
    base: &State,
    free: &[bool],
    full: bool,
    most: usize,
    enough: f64,
    observe: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<Option<Second>, InverseError> {
    let n = free.len();
    let mut change = vec![0.0; n];
    let Some(mut at) = evaluate(draping, base, &change, free)? else { return Ok(None) };
    let mut iterations = 0;
    let mut damping = f64::NAN;
    let mut interrupted = false;
    while iterations < most && at.value > enough && dot(&at.gradient, &at.gradient) > 1e-30 {
        if !observe(iterations, at.value) {
            interrupted = true;
            break;
        }
        if damping.is_nan() {
            // A thousandth of the curvature along the gradient.
            let g = at.gradient.clone();
            let bend = curvature(draping, &at, &g, free, false)?;
            damping = 1e-3 * dot(&g, &bend) / dot(&g, &g);
        }
        let rhs: Vec<f64> = at.gradient.iter().map(|g| -g).collect();
        let mut better = None;
        for _ in 0..30 {
            let mut step = vec![0.0; n];
            {
                let failed = std::cell::Cell::new(false);
                let cell = std::cell::RefCell::new(&mut *draping);
                let product = |v: &[f64], out: &mut [f64]| {
                    match curvature(&mut cell.borrow_mut(), &at, v, free, full) {
                        Ok(bend) => out.copy_from_slice(&bend),
                        Err(_) => failed.set(true),
                    }
                    out.iter_mut().zip(v).for_each(|(o, v)| *o += damping * v);
                };
                let operator = OperatorFn { n, function: product };
                let settings = IterativeSettings { tolerance: 1e-6, max_iterations: 400 };
                let plain = IdentityPreconditioner { n };
                let report = conjugate_gradient(&operator, &plain, &rhs, &mut step, &settings)?;
                if let Some(bend) = report.negative_curvature.filter(|_| largest(&step) == 0.0) {
                    step = bend.direction;
                }
                if failed.get() {
                    break;
                }
            }
            let there: Vec<f64> = change.iter().zip(&step).map(|(c, s)| c + s).collect();
            match evaluate(draping, base, &there, free)? {
                Some(then) if then.value < at.value => {
                    better = Some((there, then));
                    damping *= 0.1;
                    break;
                }
                _ => damping *= 10.0,
            }
        }
        let Some((there, then)) = better else { break };
        let slow = then.value > 0.999_999 * at.value;
        (change, at) = (there, then);
        iterations += 1;
        if slow {
            break;
        }
    }
    Ok(Some(Second { change, value: at.value, iterations, interrupted }))
}
