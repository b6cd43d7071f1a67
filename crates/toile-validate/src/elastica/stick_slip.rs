//! The strip pushed against the ground: clamped above, pointing down, its tip held by friction below the clamp.

use super::Profile;
use crate::bvp::{
    BoundaryValueProblem, BvpError, Continuation, Settings, Solution, continue_parameter,
};
use nalgebra::DMatrix;

/// A strip whose clamp was lowered by ε L while its tip stuck.
#[derive(Clone, Debug)]
pub struct StickSlip {
    /// ε, how far the clamp was lowered / L.
    pub shortening: f64,
    /// p = P L²/EI, the vertical push.
    pub push: f64,
    /// q = Q L²/EI, the sideways force that friction must give.
    pub friction_force: f64,
    /// q/p: the tip slips when the friction coefficient is below.
    pub friction_needed: f64,
    /// Tangent of the tip from the downward vertical \[rad\]; beyond π/2 the strip would lie on the ground.
    pub tip_angle: f64,
    /// Curvature at the clamp · L.
    pub clamp_curvature: f64,
    /// The centreline.
    pub profile: Profile,
}

/// k, the first positive root of tan k = k: p → k² = 20.1907 as ε → 0, and q/p → (2/k) √ε.
///
/// Found by Newton's method on sin k − k cos k, which has no poles.
pub fn first_buckling_wavenumber() -> f64 {
    let mut k = 4.5_f64;
    for _ in 0..20 {
        k -= (k.sin() - k * k.cos()) / (k * k.sin());
    }
    k
}

/// The strip at shortening ε = `shortening`, from 1e-8 to 0.4 (contact with the ground is wider than a point beyond
/// the [`triple_point`] at 0.3303, which this solution ignores).
///
/// ψ'' = −p sin ψ + q cos ψ, x' = sin ψ, y' = cos ψ (y down), ψ(0) = x(0) = y(0) = 0, ψ'(1) = 0, x(1) = 0,
/// y(1) = 1 − ε. Of the two mirror images the one with q > 0. The printed form of the source has other signs and
/// cannot be satisfied (spec, fix 14).
///
/// Reference: Ly 2021, eqs. 3.6–3.7. Check: `published_master_curve_is_reproduced`.
pub fn stick_slip(shortening: f64) -> Result<StickSlip, BvpError> {
    check(shortening)?;
    let start = shortening.min(0.01);
    follow(&buckled(start, &[]), start, shortening)
}

/// The master curve: one strip for each ε, in the given order, each started from the one before where that helps.
pub fn stick_slip_curve(shortenings: &[f64]) -> Result<Vec<StickSlip>, BvpError> {
    let mut out: Vec<StickSlip> = Vec::with_capacity(shortenings.len());
    for &eps in shortenings {
        check(eps)?;
        out.push(match out.last().filter(|b| b.shortening >= 0.01 && eps >= 0.01) {
            Some(before) => follow(before.profile.solution(), before.shortening, eps)?,
            None => stick_slip(eps)?,
        });
    }
    Ok(out)
}

/// The strip whose tip is just tangent to the ground, where stick, slip and extended contact meet:
/// (ε, q/p) = (0.3303, 0.3564).
///
/// Solved directly, with ε as a third unknown parameter and ψ(1) = π/2 as the condition that closes the problem.
/// Check: `triple_point_is_where_the_tip_lies_flat`.
pub fn triple_point() -> Result<StickSlip, BvpError> {
    let start = 0.01;
    let angle = buckled(start, &[]).at(1.0)[0];
    let family = |angle: f64| Equation { closure: Closure::TipAngle(angle) };
    let quarter = std::f64::consts::FRAC_PI_2;
    let guess = buckled(start, &[start]);
    let solution = continue_parameter(
        &family,
        &guess,
        angle,
        quarter,
        &Continuation::default(),
        &Settings::default(),
    )?;
    let shortening = solution.parameters()[2];
    Ok(StickSlip::new(shortening, solution))
}

fn check(shortening: f64) -> Result<(), BvpError> {
    if (1e-8..=0.4).contains(&shortening) {
        return Ok(());
    }
    Err(BvpError::Input(format!(
        "the clamp is lowered by {shortening} L; use a number from 1e-8 to 0.4"
    )))
}

fn follow(guess: &Solution, from: f64, to: f64) -> Result<StickSlip, BvpError> {
    // The amplitude grows as √ε, which is therefore the natural parameter.
    let family = |root: f64| Equation {
        closure: Closure::Shortening(if root == to.sqrt() { to } else { root * root }),
    };
    let continuation = Continuation { first_step: 0.5, ..Continuation::default() };
    let solution = continue_parameter(
        &family,
        guess,
        from.sqrt(),
        to.sqrt(),
        &continuation,
        &Settings::default(),
    )?;
    Ok(StickSlip::new(to, solution))
}

impl StickSlip {
    fn new(shortening: f64, solution: Solution) -> Self {
        let (push, friction_force) = (solution.parameters()[0], solution.parameters()[1]);
        let profile = Profile { solution, curvature_scale: 1.0, shortening: true };
        Self {
            shortening,
            push,
            friction_force,
            friction_needed: friction_force / push,
            tip_angle: profile.at(1.0).angle,
            clamp_curvature: profile.at(0.0).curvature,
            profile,
        }
    }
}

/// The buckling mode ψ = μ (1 − cos ks − k sin ks) with μ = 2√ε/k, for which ½∫ψ² = ε.
fn buckled(shortening: f64, further_parameters: &[f64]) -> Solution {
    let k = first_buckling_wavenumber();
    let mu = 2.0 * shortening.sqrt() / k;
    let mut parameters = vec![k * k, mu * k * k];
    parameters.extend_from_slice(further_parameters);
    Solution::from_function(12, &parameters, |s| {
        let (sin, cos) = (k * s).sin_cos();
        vec![
            mu * (1.0 - cos - k * sin),
            mu * k * (sin - k * cos),
            mu * (s - sin / k - (1.0 - cos)),
            shortening * s,
        ]
    })
}

/// What is prescribed besides the clamp and the place of the tip.
#[doc(hidden)]
pub enum Closure {
    /// ε.
    Shortening(f64),
    /// ψ(1) \[rad\], with ε an unknown parameter.
    TipAngle(f64),
}

/// Unknowns (ψ, κ, x, e) with e = s − y: e' = 2 sin²(ψ/2) keeps its digits when ε is tiny, where 1 − y would not.
#[doc(hidden)] // public for the check of its derivatives
pub struct Equation {
    pub closure: Closure,
}

impl BoundaryValueProblem for Equation {
    fn dimension(&self) -> usize {
        4
    }

    fn parameter_count(&self) -> usize {
        match self.closure {
            Closure::Shortening(_) => 2,
            Closure::TipAngle(_) => 3,
        }
    }

    fn rhs(&self, _: f64, y: &[f64], p: &[f64], f: &mut [f64]) {
        let (sin, cos) = y[0].sin_cos();
        f[0] = y[1];
        f[1] = -p[0] * sin + p[1] * cos;
        f[2] = sin;
        f[3] = 2.0 * (0.5 * y[0]).sin().powi(2);
    }

    fn rhs_jacobian(
        &self,
        _: f64,
        y: &[f64],
        p: &[f64],
        fy: &mut DMatrix<f64>,
        fp: &mut DMatrix<f64>,
    ) {
        let (sin, cos) = y[0].sin_cos();
        fy[(0, 1)] = 1.0;
        fy[(1, 0)] = -p[0] * cos - p[1] * sin;
        fy[(2, 0)] = cos;
        fy[(3, 0)] = sin;
        fp[(1, 0)] = -sin;
        fp[(1, 1)] = cos;
    }

    fn boundary(&self, y0: &[f64], y1: &[f64], p: &[f64], g: &mut [f64]) {
        let shortening = match self.closure {
            Closure::Shortening(eps) => eps,
            Closure::TipAngle(_) => p[2],
        };
        g[..6].copy_from_slice(&[y0[0], y0[2], y0[3], y1[1], y1[2], y1[3] - shortening]);
        if let Closure::TipAngle(angle) = self.closure {
            g[6] = y1[0] - angle;
        }
    }

    fn boundary_jacobian(
        &self,
        _: &[f64],
        _: &[f64],
        _: &[f64],
        g0: &mut DMatrix<f64>,
        g1: &mut DMatrix<f64>,
        gp: &mut DMatrix<f64>,
    ) {
        for (row, component) in [(0, 0), (1, 2), (2, 3)] {
            g0[(row, component)] = 1.0;
        }
        for (row, component) in [(3, 1), (4, 2), (5, 3)] {
            g1[(row, component)] = 1.0;
        }
        if let Closure::TipAngle(_) = self.closure {
            gp[(5, 2)] = -1.0;
            g1[(6, 0)] = 1.0;
        }
    }
}
