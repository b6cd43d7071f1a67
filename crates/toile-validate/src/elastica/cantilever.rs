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
struct Equation {
    load: Load,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bvp::jacobian_error;
    use crate::reference::{Table, assert_relative};

    #[test]
    fn jacobian_matches_differences() {
        let equation = Equation { load: Load { gamma: 7.0, shear: 2.0 } };
        let error =
            jacobian_error(&equation, 0.3, &[0.8, 0.5, 0.2, 0.1], &[1.1, 0.0, 0.6, 0.7], &[]);
        assert!(error < 1e-8, "{error}");
    }

    #[test]
    fn published_master_curve_is_reproduced() {
        // Ly 2021 as tabulated in the specification, with the digits it prints.
        let table = [
            (0.01, 0.00125, 5e-6),
            (0.1, 0.012500, 5e-7),
            (1.0, 0.12456, 5e-6),
            (2.0, 0.24667, 5e-6),
            (5.0, 0.58572, 5e-6),
            (10.0, 1.06680, 5e-6),
            (20.0, 1.86393, 5e-6),
            (50.0, 3.70556, 5e-6),
            (100.0, 5.88810, 5e-6),
            (200.0, 8.90677, 5e-6),
            (500.0, 14.7688, 5e-5),
            (1e3, 21.3354, 5e-5),
            (1e4, 69.709, 5e-4),
            (1e5, 222.61, 5e-3),
            (1e6, 706.11, 5e-3),
        ];
        for (gamma, expected, half_digit) in table {
            let value = heavy_cantilever(gamma).unwrap().drop_over_reach;
            assert!(
                (value - expected).abs() <= 1.01 * half_digit,
                "Γ = {gamma}: {value} for {expected}"
            );
        }
    }

    #[test]
    fn twenty_digit_points_are_met() {
        let Some(table) = Table::read("1_cantilever/highprecision_points.csv") else { return };
        let (gamma, w, h, ratio) = (
            table.column("Gamma"),
            table.column("W_over_L_20digits"),
            table.column("H_over_L_20digits"),
            table.column("H_over_W_20digits"),
        );
        for i in 0..gamma.len() {
            let c = heavy_cantilever(gamma[i]).unwrap();
            assert_relative(c.reach, w[i], 1e-12, "W/L");
            assert_relative(c.drop, h[i], 1e-12, "H/L");
            assert_relative(c.drop_over_reach, ratio[i], 1e-12, "H/W");
        }
    }

    #[test]
    fn reference_curve_is_met_to_nine_digits() {
        let Some(table) = Table::read("1_cantilever/cantilever_master_curve.csv") else { return };
        let column = |name| table.column(name);
        let (gamma, ratio, h, w) =
            (column("Gamma"), column("H_over_W"), column("H_over_L"), column("W_over_L"));
        let (tip, clamp) = (column("theta_tip_rad"), column("curvature_at_clamp_times_L"));
        let curve = heavy_cantilever_curve(&gamma).unwrap();
        for (i, c) in curve.iter().enumerate() {
            let at = format!("at Γ = {}", gamma[i]);
            assert_relative(c.drop_over_reach, ratio[i], 1e-9, &format!("H/W {at}"));
            assert_relative(c.drop, h[i], 1e-9, &format!("H {at}"));
            assert_relative(c.reach, w[i], 1e-9, &format!("W {at}"));
            assert_relative(c.tip_angle, tip[i], 1e-9, &format!("tip {at}"));
            assert_relative(c.clamp_curvature, clamp[i], 1e-9, &format!("clamp {at}"));
        }
    }

    #[test]
    fn reference_profiles_are_met() {
        let Some(table) = Table::read("1_cantilever/cantilever_profiles.csv") else { return };
        let columns =
            ["Gamma", "s_over_L", "x_over_L", "y_over_L_down", "theta_rad", "curvature_times_L"]
                .map(|name| table.column(name));
        let mut c = heavy_cantilever(columns[0][0]).unwrap();
        for i in 0..columns[0].len() {
            if c.load.gamma != columns[0][i] {
                c = heavy_cantilever(columns[0][i]).unwrap();
            }
            let p = c.profile.at(columns[1][i]);
            for (value, expected) in [p.x, p.y, p.angle, p.curvature].iter().zip(&columns[2..]) {
                // Printed with eleven decimals.
                assert!(
                    (value - expected[i]).abs() < 2e-11,
                    "{value} for {} at s = {}",
                    expected[i],
                    p.s
                );
            }
        }
    }

    #[test]
    fn light_and_heavy_limits_are_approached() {
        let light = heavy_cantilever(1e-4).unwrap().drop_over_reach;
        assert_relative(light, 1e-4 / 8.0, 1e-8, "Γ/8");
        let heavy = heavy_cantilever(1e6).unwrap().drop_over_reach;
        assert_relative(heavy, 5e5_f64.sqrt() - 1.0, 1e-5, "√(Γ/2) − 1");
    }

    #[test]
    fn clamp_carries_the_moment_of_the_weight() {
        // M(0) = Γ ∫ (1−s) cos θ ds = Γ ∫ x ds after an integration by parts: the weight times its lever.
        let c = heavy_cantilever(30.0).unwrap();
        let lever: f64 = crate::quadrature::gauss_legendre(40)
            .iter()
            .map(|(t, w)| 0.5 * w * c.profile.at(0.5 + 0.5 * t).x)
            .sum();
        assert_relative(c.clamp_curvature, 30.0 * lever, 1e-10, "moment");
    }

    #[test]
    fn end_shear_follows_first_integral() {
        // κ²/2 + P sin θ is constant along a massless rod.
        let c = end_shear_cantilever(4.0).unwrap();
        let tip = 4.0 * c.tip_angle.sin();
        for p in c.profile.stations(17) {
            let sum = 0.5 * p.curvature * p.curvature + 4.0 * p.angle.sin();
            assert_relative(sum, tip, 1e-11, "first integral");
        }
        // Tip of the benchmark at full load, L = 10.
        assert_relative(10.0 * (1.0 - c.reach), 3.2894124225, 1e-9, "−U");
        assert_relative(10.0 * c.drop, 6.6996418128, 1e-9, "W");
    }

    #[test]
    fn reference_end_shear_is_met() {
        let Some(table) = Table::read("6_shells/sze31_cantilever_end_shear.csv") else { return };
        let columns =
            ["P_over_Pmax", "minus_U_tip_elastica", "W_tip_elastica", "tip_angle_rad_elastica"]
                .map(|name| table.column(name));
        for i in 0..columns[0].len() {
            // L = 10, EI = 1.2e6 · 0.1³/12 = 100, Pmax = 4: P L²/EI = 4 P/Pmax.
            let c = end_shear_cantilever(4.0 * columns[0][i]).unwrap();
            assert_relative(10.0 * (1.0 - c.reach), columns[1][i], 1e-9, "−U");
            assert_relative(10.0 * c.drop, columns[2][i], 1e-9, "W");
            assert_relative(c.tip_angle, columns[3][i], 1e-9, "tip angle");
        }
    }

    #[test]
    fn impossible_loads_are_refused() {
        for gamma in [-1.0, f64::NAN, f64::INFINITY, 1e10] {
            assert!(matches!(heavy_cantilever(gamma), Err(BvpError::Input(_))), "{gamma}");
        }
        assert_eq!(heavy_cantilever(0.0).unwrap().drop, 0.0);
    }
}
