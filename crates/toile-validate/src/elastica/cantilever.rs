//! The cantilever: clamped horizontally, bent by its own weight and by a downward force at its tip.

use super::Profile;
use crate::bvp::{
    BoundaryValueProblem, BvpError, Continuation, Settings, Solution, continue_parameter,
};
use nalgebra::DMatrix;

/// Dimensionless loads, both downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Γ = ρ A g L³ / EI for a rod, ρ h g L³ / D for a plate with ν = 0.
    pub gamma: f64,
    /// P L² / EI, a dead force at the tip.
    pub shear: f64,
}

/// A solved cantilever.
#[derive(Clone, Debug)]
pub struct Cantilever {
    /// The load it carries.
    pub load: Load,
    /// H/L, how far the tip lies below the clamp.
    pub drop: f64,
    /// W/L, horizontal distance of the tip from the clamp.
    pub reach: f64,
    /// H/W.
    pub drop_over_reach: f64,
    /// Tangent of the tip below the horizontal \[rad\].
    pub tip_angle: f64,
    /// Curvature at the clamp times L, which is its moment times L/EI.
    pub clamp_curvature: f64,
    /// The centreline.
    pub profile: Profile,
}

/// Largest load accepted; beyond, W/L loses its digits to rounding and no fabric lives there.
const LARGEST: f64 = 1e9;

/// The cantilever of weight `gamma`: θ'' + Γ (1 − s) cos θ = 0, θ(0) = 0, θ'(1) = 0.
///
/// H/W → Γ/8 for small and √(Γ/2) − 1 for large Γ. Found by continuation from a light rod, which stays on the branch
/// that hangs without loops. Takes milliseconds. Refuses negative, infinite and larger than 1e9 loads.
///
/// Reference: Ly 2021, §3.2.1 (spec 2.6). Check: `published_master_curve_is_reproduced`, `twenty_digit_points_are_met`.
pub fn heavy_cantilever(gamma: f64) -> Result<Cantilever, BvpError> {
    solve(Load { gamma, shear: 0.0 })
}

/// The massless cantilever with the force P L²/EI = `shear` at its tip: θ'' + P cos θ = 0, θ(0) = 0, θ'(1) = 0.
///
/// Reference: Sze, Liu, Lo, Finite Elem. Anal. Des. 40 (2004) 1551–1569, §3.1. Check: `end_shear_follows_first_integral`.
pub fn end_shear_cantilever(shear: f64) -> Result<Cantilever, BvpError> {
    solve(Load { gamma: 0.0, shear })
}

/// The master curve: one cantilever for each Γ, in the given order.
///
/// Cheaper than separate calls when the values increase, since each starts from the one before.
pub fn heavy_cantilever_curve(gammas: &[f64]) -> Result<Vec<Cantilever>, BvpError> {
    let mut out: Vec<Cantilever> = Vec::with_capacity(gammas.len());
    for &gamma in gammas {
        let load = Load { gamma, shear: 0.0 };
        let near = out
            .last()
            .filter(|c| c.load.gamma > 0.0 && gamma > c.load.gamma && gamma < 3.0 * c.load.gamma);
        out.push(match near {
            Some(c) => {
                check(load)?;
                follow(c.profile.solution(), c.load, load)?
            }
            None => solve(load)?,
        });
    }
    Ok(out)
}

fn check(load: Load) -> Result<(), BvpError> {
    for value in [load.gamma, load.shear] {
        if !(0.0..=LARGEST).contains(&value) {
            return Err(BvpError::Input(format!(
                "cantilever load {value}; use a number from 0 to {LARGEST:e}"
            )));
        }
    }
    Ok(())
}

fn solve(load: Load) -> Result<Cantilever, BvpError> {
    check(load)?;
    // The small-deflection shape is a good guess up to a total load of one.
    let share = 1.0 / (load.gamma + load.shear).max(1.0);
    let light = Load { gamma: share * load.gamma, shear: share * load.shear };
    let equation = Equation { load: light };
    let guess = Solution::from_function(8, &[], |s| {
        let (g, p, r) = (light.gamma, light.shear, 1.0 - s);
        let theta = g * (1.0 - r.powi(3)) / 6.0 + p * (1.0 - r * r) / 2.0;
        vec![theta, (0.5 * g * r * r + p * r) / equation.scale(), s, 0.5 * theta * s]
    });
    follow(&guess, light, load)
}

/// Continues from one load to another along a straight line in their logarithms.
fn follow(guess: &Solution, from: Load, to: Load) -> Result<Cantilever, BvpError> {
    let blend = |a: f64, b: f64, t: f64| if t == 1.0 { b } else { a * (b / a).powf(t) };
    let family = |t: f64| Equation {
        load: Load {
            gamma: if to.gamma == 0.0 { 0.0 } else { blend(from.gamma, to.gamma, t) },
            shear: if to.shear == 0.0 { 0.0 } else { blend(from.shear, to.shear, t) },
        },
    };
    let solution = if from == to {
        crate::bvp::solve(&family(1.0), guess, &Settings::default())?
    } else {
        // Half a decade per first step: Newton takes it from any converged neighbour.
        let decades = ((to.gamma + to.shear) / (from.gamma + from.shear)).log10().abs();
        let continuation =
            Continuation { first_step: (0.5 / decades).min(1.0), ..Continuation::default() };
        continue_parameter(&family, guess, 0.0, 1.0, &continuation, &Settings::default())?
    };
    let profile =
        Profile { solution, curvature_scale: Equation { load: to }.scale(), shortening: false };
    let (clamp, tip) = (profile.at(0.0), profile.at(1.0));
    Ok(Cantilever {
        load: to,
        drop: tip.y,
        reach: tip.x,
        drop_over_reach: tip.y / tip.x,
        tip_angle: tip.angle,
        clamp_curvature: clamp.curvature,
        profile,
    })
}

/// Unknowns (θ, κ/c, x, y) with c = √(1 + Γ + P), the curvature scale of the layer at the clamp: all of order one.
#[doc(hidden)] // public for the check of its derivatives
pub struct Equation {
    pub load: Load,
}

impl Equation {
    fn scale(&self) -> f64 {
        (1.0 + self.load.gamma + self.load.shear).sqrt()
    }

    /// Downward force beyond s, over c.
    fn pull(&self, s: f64) -> f64 {
        (self.load.gamma * (1.0 - s) + self.load.shear) / self.scale()
    }
}

impl BoundaryValueProblem for Equation {
    fn dimension(&self) -> usize {
        4
    }

    fn rhs(&self, s: f64, y: &[f64], _: &[f64], f: &mut [f64]) {
        let (sin, cos) = y[0].sin_cos();
        f[0] = self.scale() * y[1];
        f[1] = -self.pull(s) * cos;
        f[2] = cos;
        f[3] = sin;
    }

    fn rhs_jacobian(
        &self,
        s: f64,
        y: &[f64],
        _: &[f64],
        fy: &mut DMatrix<f64>,
        _: &mut DMatrix<f64>,
    ) {
        let (sin, cos) = y[0].sin_cos();
        fy[(0, 1)] = self.scale();
        fy[(1, 0)] = self.pull(s) * sin;
        fy[(2, 0)] = -sin;
        fy[(3, 0)] = cos;
    }

    fn boundary(&self, y0: &[f64], y1: &[f64], _: &[f64], g: &mut [f64]) {
        g.copy_from_slice(&[y0[0], y0[2], y0[3], y1[1]]);
    }

    fn boundary_jacobian(
        &self,
        _: &[f64],
        _: &[f64],
        _: &[f64],
        g0: &mut DMatrix<f64>,
        g1: &mut DMatrix<f64>,
        _: &mut DMatrix<f64>,
    ) {
        g0[(0, 0)] = 1.0;
        g0[(1, 2)] = 1.0;
        g0[(2, 3)] = 1.0;
        g1[(3, 1)] = 1.0;
    }
}
