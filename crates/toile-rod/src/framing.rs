//! How a fibre of known nature turns about a given curve.
//!
//! A curve fixes how a frame along it bends, not how the section turns about the tangent. With curvatures k along any frame, a section
//! that is turned from it by θ(s) has
//!
//! ```text
//! κ₁ = k₁ cos θ + k₂ sin θ,   κ₂ = k₂ cos θ − k₁ sin θ,   κ₃ = k₃ + θ′
//! ```
//!
//! and of all θ with θ(0) = 0 the one is taken that makes ½ ∫ (κ − κ̄)ᵀ K (κ − κ̄) ds least: the balance of moments about the tangent, in which
//! forces have no part. For a round section that is straight by nature that is the frame that does not twist (Bishop). Several may be stationary; the
//! one that is found is where Newton's method goes from θ = 0.
//! Reference: Bertails-Descoubes 2017, §4.4. Check: `an_equilibrium_is_turned_as_the_frame_law_says`.

use crate::RodError;
use crate::rod::Section;
use crate::rotation::Vec3;

/// How a section turns along a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Framing {
    /// θ at equal arclengths from the clamp to the tip \[rad\].
    pub theta: Vec<f64>,
    /// Elastic energy of that \[J\].
    pub energy: f64,
    /// Newton steps taken.
    pub steps: usize,
    /// Whether moments about the tangent balance.
    pub converged: bool,
}

/// Newton steps at most.
const STEPS: usize = 100;
/// Moment over the largest of stiffness and turn at which all is balanced.
const BALANCED: f64 = 1e-12;

/// The turn θ of least energy about a curve of some length \[m\] whose curvatures along a frame, and whose natural ones in the frame of the
/// section, are given at any arclength \[1/m\]; on so many equal pieces, between which it is linear: errors fall with their square.
pub fn least_energy_turn(
    section: &Section,
    length: f64,
    pieces: usize,
    along: impl Fn(f64) -> Vec3,
    natural: impl Fn(f64) -> Vec3,
) -> Result<Framing, RodError> {
    if !(length > 0.0 && length.is_finite()) {
        return Err(RodError::NotPositive { what: "length", value: length });
    }
    if pieces == 0 {
        return Err(RodError::Elements { elements: 0, most: usize::MAX });
    }
    let h = length / pieces as f64;
    // Two points to a piece, by Gauss.
    let places = [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()];
    let at = |i: usize, t: f64| (i as f64 + t) * h;
    let point = |i: usize| places.map(|t| (t, along(at(i, t)), natural(at(i, t))));
    let points: Vec<[(f64, Vec3, Vec3); 2]> = (0..pieces).map(point).collect();
    if !points.iter().flatten().all(|p| (p.1 + p.2).iter().all(|x| x.is_finite())) {
        return Err(RodError::NotFinite { what: "curvature" });
    }
    let problem = Problem { stiffness: section.stiffness(), h, points };
    let mut theta = vec![0.0; pieces + 1];
    let mut now = problem.at(&theta);
    let scale = problem.stiffness.max() * (1.0 / h + length);
    let (mut steps, mut shift) = (0, 0.0f64);
    while steps < STEPS && now.largest() > BALANCED * scale {
        steps += 1;
        let Some(step) = now.step(shift) else {
            shift = (4.0 * shift).max(1e-3 * problem.stiffness.z / h);
            continue;
        };
        let slope: f64 = step.iter().zip(&now.gradient).map(|(d, g)| d * g).sum();
        let mut part = 1.0;
        let better = loop {
            let trial: Vec<f64> = theta.iter().zip(&step).map(|(t, d)| t + part * d).collect();
            let then = problem.at(&trial);
            let noise = 1e-14 * now.energy.abs();
            if then.energy <= now.energy + 1e-4 * part * slope + noise {
                break Some((trial, then));
            }
            part *= 0.5;
            if part < 1e-10 {
                break None;
            }
        };
        let Some(found) = better else { break };
        (theta, now) = found;
        shift = if shift < 1e-6 * problem.stiffness.z / h { 0.0 } else { 0.25 * shift };
    }
    let converged = now.largest() <= 1e3 * BALANCED * scale;
    Ok(Framing { energy: now.energy, theta, steps, converged })
}

struct Problem {
    stiffness: Vec3,
    h: f64,
    points: Vec<[(f64, Vec3, Vec3); 2]>,
}

/// Energy with its derivatives: the first θ is held.
struct Point {
    energy: f64,
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    /// Between each θ and the next.
    beside: Vec<f64>,
}

impl Problem {
    fn at(&self, theta: &[f64]) -> Point {
        let n = theta.len();
        let mut out = Point {
            energy: 0.0,
            gradient: vec![0.0; n],
            diagonal: vec![0.0; n],
            beside: vec![0.0; n - 1],
        };
        let (k, h) = (self.stiffness, self.h);
        for (i, points) in self.points.iter().enumerate() {
            let rate = (theta[i + 1] - theta[i]) / h;
            for (t, along, natural) in points {
                let (sin, cos) = (theta[i] * (1.0 - t) + theta[i + 1] * t).sin_cos();
                let [a, b] = [along.x * cos + along.y * sin, along.y * cos - along.x * sin];
                let off = Vec3::new(a, b, along.z + rate) - natural;
                let weight = 0.5 * h;
                out.energy += 0.5 * weight * off.dot(&k.component_mul(&off));
                // ∂κ₁/∂θ = κ₂, ∂κ₂/∂θ = −κ₁.
                let first = weight * (k.x * off.x * b - k.y * off.y * a);
                let second = weight * (k.x * (b * b - off.x * a) + k.y * (a * a - off.y * b));
                let (moment, stiff) = (weight * k.z * off.z / h, weight * k.z / (h * h));
                let shares = [1.0 - t, *t];
                for (c, share) in shares.iter().enumerate() {
                    let sign = [-1.0, 1.0][c];
                    out.gradient[i + c] += first * share + sign * moment;
                    out.diagonal[i + c] += second * share * share + stiff;
                }
                out.beside[i] += second * shares[0] * shares[1] - stiff;
            }
        }
        out.gradient[0] = 0.0;
        out
    }
}

impl Point {
    fn largest(&self) -> f64 {
        self.gradient.iter().fold(0.0, |m, g| m.max(g.abs()))
    }

    /// Newton's step with a shift of the diagonal; `None` where the matrix is not positive definite.
    fn step(&self, shift: f64) -> Option<Vec<f64>> {
        let n = self.diagonal.len();
        let (mut pivots, mut x) = (vec![1.0; n], vec![0.0; n]);
        for i in 1..n {
            pivots[i] = self.diagonal[i] + shift;
            x[i] = -self.gradient[i];
            if i > 1 {
                let l = self.beside[i - 1] / pivots[i - 1];
                pivots[i] -= l * self.beside[i - 1];
                x[i] -= l * x[i - 1];
            }
            if pivots[i].is_nan() || pivots[i] <= 0.0 {
                return None;
            }
        }
        for i in (1..n).rev() {
            let after = if i + 1 < n { self.beside[i] * x[i + 1] } else { 0.0 };
            x[i] = (x[i] - after) / pivots[i];
        }
        Some(x)
    }
}
