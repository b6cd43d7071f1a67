//! Turns of sections about their own tangent: resolved by the step, however fast they would be.
//!
//! A thin rod has no inertia against them. Along a curve that stays where it is, sections that turn by ϑ(s) change the bending b = (κ₁, κ₂) of their own
//! axes to b − ϑ e₃ × b, and with it the elastic energy,
//!
//! ```text
//! E″ = k − s,   k = EI (e₃ × b)²,   s = EI (b − b̄)·b   [N]
//! ```
//!
//! of which an implicit step sees k only: K is constant in the curvatures, and s comes from how the motions without inertia turn with the sections. With
//! θ = 1 such a motion is multiplied by s/k in a step. That grows where b·b̄ < 0 (the nature curves the other way: E″ < 0, sections turn over at once) and
//! also where b·b̄ > 2 b² (straightened curls), where nothing but the step is at fault; with θ = ½ it grows wherever s < 0. So turns are resisted, implicitly,
//! by the moment h γ ω·d₃ per length,
//!
//! ```text
//! γ = max(0, −s − k ν/h) + max(0, N (s − k) − k (θ² + ν/h)) + (1 − θ) k
//! ```
//!
//! less for internal damping ν, which resists them too. That takes a step to the balance of sections that turn back, and N steps to turn over by e where they do not. It is of the order of the step, nothing
//! at the natural shape, and leaves balances as they are.

use toile_num::Vector;

use crate::chain::Form;
use crate::element::Node;
use crate::motion::{ClampMotion, Local, StepSettings};
use crate::rod::Rod;
use crate::rotation::Vec3;

/// Steps in which sections that turn over turn e times as far.
const RESOLVED: f64 = 8.0;

/// What resists turns in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turning {
    /// h \[s\].
    pub(crate) dt: f64,
    /// That of the step before \[s\].
    pub(crate) before: f64,
    /// θ of the step.
    pub(crate) theta: f64,
    /// ν/h: the internal damping.
    pub(crate) damped: f64,
    /// Angular velocity of the clamp that bears all \[rad/s\]: what turns with it is not resisted.
    pub(crate) spin: Vec3,
}

/// γ \[N\] at a curvature with its nature.
fn resistance(bending: [f64; 2], kappa: &Vec3, natural: &Vec3, theta: f64, damped: f64) -> f64 {
    let [b1, b2] = bending;
    let k = b1 * kappa.y * kappa.y + b2 * kappa.x * kappa.x;
    let s = b1 * (kappa.x - natural.x) * kappa.x + b2 * (kappa.y - natural.y) * kappa.y;
    let back = (-s - k * damped).max(0.0);
    let over = (RESOLVED * (s - k) - k * (theta * theta + damped)).max(0.0);
    back + over + (1.0 - theta) * k
}

impl Turning {
    /// For a step of a body whose clamp moves like this, after one as long.
    pub(crate) fn of_step(settings: &StepSettings, motion: &ClampMotion) -> Self {
        let dt = settings.dt;
        let damped = settings.damping / dt;
        Self { dt, before: dt, theta: settings.theta, damped, spin: motion.spin }
    }

    /// h² ∫ γ t tᵀ and −h ∫ γ t (t·v) of an element, t·v = ω·d₃ of its nodes.
    pub(crate) fn of(
        &self,
        rod: &Rod,
        curvatures: [(Vec3, Vec3); 2],
        nodes: &[Node],
        spin: &Vec3,
        rate: &Vector<6>,
    ) -> Option<(Form, Local)> {
        let bending = rod.section().bending_stiffness;
        let [from, to] = curvatures;
        let mut form = Form::zeros();
        let mut load = Local::zeros();
        let mut any = false;
        let moving = spin - self.spin;
        for node in nodes {
            let [a, b] = node.shape;
            let (kappa, natural) = (from.0 * a + to.0 * b, from.1 * a + to.1 * b);
            let gamma = resistance(bending, &kappa, &natural, self.theta, self.damped);
            if gamma == 0.0 {
                continue;
            }
            any = true;
            let d3: Vec3 = node.frame.column(2).into();
            let mut row = Vector::<9>::zeros();
            row.fixed_rows_mut::<3>(0).copy_from(&d3);
            row.fixed_rows_mut::<6>(3).copy_from(&node.theta.tr_mul(&d3));
            let turns = d3.dot(&moving) + row.fixed_rows::<6>(3).dot(rate);
            let weighed = row * (gamma * node.weight * self.dt);
            let mut block = form.fixed_view_mut::<9, 9>(3, 3);
            block += weighed * (row * self.dt).transpose();
            let mut part = load.fixed_rows_mut::<9>(3);
            part -= weighed * turns;
        }
        any.then_some((form, load))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k − s is the second derivative of the elastic energy where the bending turns, and γ makes up for what of it a step does not see.
    #[test]
    fn what_a_step_does_not_see_is_resisted() {
        let bending = [1.3, 0.7];
        let energy = |b: [f64; 2], n: [f64; 2], turned: f64| {
            let (sin, cos) = turned.sin_cos();
            let now = [cos * b[0] + sin * b[1], cos * b[1] - sin * b[0]];
            (0..2).map(|i| 0.5 * bending[i] * (now[i] - n[i]).powi(2)).sum::<f64>()
        };
        let h = 1e-4;
        // Natures along the shape, three times as bent, across it, and the other way.
        for n in [[2.0, 1.0], [6.0, 3.0], [-1.0, 2.0], [-4.0, 1.0]] {
            let b = [2.0, 1.0];
            let at = |t: f64| energy(b, n, t);
            let bend = (at(h) - 2.0 * at(0.0) + at(-h)) / (h * h);
            let (kappa, natural) = (Vec3::new(b[0], b[1], 0.4), Vec3::new(n[0], n[1], 9.0));
            let k = bending[0] + bending[1] * 4.0;
            let s = k - bend;
            for damped in [0.0, 1.0, 50.0] {
                let gamma = resistance(bending, &kappa, &natural, 1.0, damped);
                // One step: x⁺ = x + x (s − k) / (k + k ν/h + γ).
                let grows = 1.0 + (s - k) / (k * (1.0 + damped) + gamma);
                let most = 1.0 + 1.0 / RESOLVED + 1e-6;
                assert!((-1e-6..=most).contains(&grows), "{n:?} {damped}: {grows}");
                assert!(gamma == 0.0 || damped < 50.0, "{n:?}: {gamma}");
                let half = resistance(bending, &kappa, &natural, 0.5, damped);
                assert!(half >= 0.5 * k, "{n:?} {damped}: {half}");
            }
        }
    }
}
