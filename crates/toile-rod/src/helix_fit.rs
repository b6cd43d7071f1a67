//! Piecewise helices through a curve: floating tangents.
//!
//! The tangents of the curve at equal arclengths are kept; its points are moved as little as possible so that between each
//! two there is a helix with these tangents. Reference: Derouet-Jourdan, Bertails-Descoubes and Thollot 2013.

use std::f64::consts::PI;

use crate::RodError;
use crate::curve::Curve;
use crate::element::Model;
use crate::fit::frame_along;
use crate::rod::{Clamp, Rod, Section};
use crate::rotation::{Vec3, straightened, turn};

/// An arc of a helix: its length \[m\] and Darboux vector \[1/m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HelixArc {
    /// Arclength \[m\].
    pub length: f64,
    /// The vector about which the frame turns, in world axes \[1/m\].
    pub darboux: Vec3,
}

/// The helix of at most one turn from p₀ with tangent t₀ to p₁ with tangent t₁.
///
/// It exists and is unique when (p₁ − p₀)·(t₁ − t₀) = 0 and p₁ is not behind; `None` for points that coincide or tangents
/// that are opposite.
pub fn short_helix(p0: &Vec3, t0: &Vec3, p1: &Vec3, t1: &Vec3) -> Option<HelixArc> {
    let c = p1 - p0;
    let (gap, sum) = (t0 - t1, t0 + t1);
    if !(c.norm() > 0.0 && sum.norm() > 1e-9) {
        return None;
    }
    if gap.norm() < 1e-10 {
        return Some(HelixArc { length: c.norm(), darboux: Vec3::zeros() });
    }
    let (n, m) = (gap.normalize(), sum.normalize());
    let b = m.cross(&n);
    let beta = (0.5 * gap.norm()).min(1.0).asin();
    let eta = c.dot(&b).atan2(c.dot(&m));
    let sign = if eta < 0.0 { -1.0 } else { 1.0 };
    let angles = |phi: f64| {
        let half = 0.5 * phi;
        let sine = (beta.sin() / half.sin()).clamp(0.0, 1.0);
        let cosine = (1.0 - sine * sine).max(0.0).sqrt();
        (sine, cosine, half.sin() / half, half.cos())
    };
    let rise = |phi: f64| {
        let (sine, cosine, sinc, half_cosine) = angles(phi);
        (sine * sinc).atan2(cosine) - (sine * half_cosine).atan2(cosine)
    };
    // rise is monotone from 0 to π.
    let phi = crossing(2.0 * beta, 2.0 * PI - 2.0 * beta, |phi| rise(phi) - eta.abs());
    let (sine, cosine, sinc, half_cosine) = angles(phi);
    let length = c.norm() / (cosine * cosine + (sine * sinc).powi(2)).sqrt();
    let psi = (sine * half_cosine).atan2(cosine);
    let axis = m * psi.cos() - b * (sign * psi.sin());
    Some(HelixArc { length, darboux: axis * (sign * phi / length) })
}

/// Where an increasing function crosses zero, to the last digit: by secants that keep it between their ends (Illinois), by halves where these
/// are slow.
fn crossing(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut a, mut b) = (low, high);
    let (mut fa, mut fb) = (f(a), f(b));
    if fa >= 0.0 {
        return a;
    }
    if fb <= 0.0 {
        return b;
    }
    let (mut wide, mut side) = (b - a, 0);
    for step in 0..200 {
        // Three secants must have halved it.
        let halve = step % 3 == 2 && b - a > 0.5 * wide;
        if step % 3 == 2 {
            wide = b - a;
        }
        let secant = a - fa * (b - a) / (fb - fa);
        let x = if halve || !(secant > a && secant < b) { 0.5 * (a + b) } else { secant };
        if x <= a || x >= b {
            break;
        }
        let fx = f(x);
        if fx == 0.0 {
            return x;
        }
        if fx < 0.0 {
            (a, fa) = (x, fx);
            // The same end twice: the other one weighs less.
            fb *= if side < 0 { 0.5 } else { 1.0 };
            side = -1;
        } else {
            (b, fb) = (x, fx);
            fa *= if side > 0 { 0.5 } else { 1.0 };
            side = 1;
        }
        // The last digit of an angle of a radian.
        if b - a < 1e-16 || fx.abs() < 1e-16 {
            return x;
        }
    }
    0.5 * (a + b)
}

/// Moves the points, the first one kept, as little as possible so that each chord is normal to the change of
/// its tangents.
fn floated(points: &[Vec3], tangents: &[Vec3]) -> Vec<Vec3> {
    let n = points.len() - 1;
    let d: Vec<Vec3> = tangents.windows(2).map(|w| w[1] - w[0]).collect();
    // Tridiagonal; a straight piece has d = 0 and asks for nothing.
    let mut pivot = vec![0.0; n];
    let mut lambda = vec![0.0; n];
    for i in 0..n {
        let own = d[i].norm_squared() * if i == 0 { 1.0 } else { 2.0 };
        let right = d[i].dot(&(points[i + 1] - points[i]));
        let off = if i > 0 { -d[i].dot(&d[i - 1]) } else { 0.0 };
        let ratio = if i > 0 { off / pivot[i - 1] } else { 0.0 };
        pivot[i] = (own - ratio * off).max(1e-30);
        lambda[i] = right - if i > 0 { ratio * lambda[i - 1] } else { 0.0 };
    }
    lambda[n - 1] /= pivot[n - 1];
    for i in (0..n - 1).rev() {
        let off = -d[i + 1].dot(&d[i]);
        lambda[i] = (lambda[i] - off * lambda[i + 1]) / pivot[i];
    }
    (0..=n)
        .map(|i| {
            let before = if i > 0 { d[i - 1] * lambda[i - 1] } else { Vec3::zeros() };
            let after = if i < n && i > 0 { d[i] * lambda[i] } else { Vec3::zeros() };
            points[i] - before + after
        })
        .collect()
}

/// A super-helix along a curve.
pub(crate) fn floating_tangents(
    curve: &Curve,
    section: Section,
    d1: Option<Vec3>,
    elements: usize,
) -> Result<(Rod, Vec<Vec3>), RodError> {
    if elements == 0 || elements > 100_000 {
        return Err(RodError::Elements { elements, most: 100_000 });
    }
    let at = |i: usize| curve.at(curve.length() * i as f64 / elements as f64);
    let (points, tangents): (Vec<Vec3>, Vec<Vec3>) = (0..=elements).map(at).unzip();
    let moved = floated(&points, &tangents);
    let mut arcs = Vec::with_capacity(elements);
    for i in 0..elements {
        let arc = short_helix(&moved[i], &tangents[i], &moved[i + 1], &tangents[i + 1])
            .ok_or(RodError::CurveFolds { s: curve.length() * i as f64 / elements as f64 })?;
        arcs.push(arc);
    }
    let clamp = Clamp { position: points[0], frame: frame_along(&tangents[0], d1) };
    let mut frame = clamp.frame;
    let mut q = Vec::with_capacity(elements);
    for arc in &arcs {
        let k = frame.transpose() * arc.darboux;
        frame = straightened(&(frame * turn(&k, arc.length)));
        q.push(k);
    }
    let lengths = arcs.iter().map(|a| a.length).collect();
    let rod = Rod::with_lengths(Model::SuperHelix, lengths, section, clamp)?;
    Ok((rod, q))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation::turn_integral;

    /// A small generator: numbers in (−1, 1).
    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    #[test]
    fn short_helices_meet_both_ends() {
        let mut seed = 7;
        let mut tried = 0;
        while tried < 10_000 {
            let mut v = || Vec3::new(random(&mut seed), random(&mut seed), random(&mut seed));
            let (t0, t1) = (v().normalize(), v().normalize());
            let (p0, raw) = (v(), v());
            let d = t1 - t0;
            if d.norm() < 0.05 || (t0 + t1).norm() < 0.1 {
                continue;
            }
            let c = raw - d * (raw.dot(&d) / d.norm_squared());
            // Beyond ±(π − a little) there is no helix of one turn.
            let m = (t0 + t1).normalize();
            if c.dot(&m) < -0.95 * c.norm() {
                continue;
            }
            let arc = short_helix(&p0, &t0, &(p0 + c), &t1).unwrap();
            let reached = turn_integral(&arc.darboux, arc.length) * t0;
            let turned = turn(&arc.darboux, arc.length) * t0;
            assert!((reached - c).norm() < 1e-10 && (turned - t1).norm() < 1e-10, "{arc:?}");
            assert!(arc.darboux.norm() * arc.length <= 2.0 * PI + 1e-9);
            tried += 1;
        }
    }

    #[test]
    fn floated_points_satisfy_the_condition() {
        let curve = |i: usize| {
            let t = 0.4 * i as f64;
            (
                Vec3::new(t.cos(), (1.3 * t).sin(), 0.3 * t),
                Vec3::new(-t.sin(), 1.3 * (1.3 * t).cos(), 0.3).normalize(),
            )
        };
        let (p, t): (Vec<Vec3>, Vec<Vec3>) = (0..12).map(curve).unzip();
        let moved = floated(&p, &t);
        assert_eq!(moved[0], p[0]);
        for i in 0..11 {
            let miss = (moved[i + 1] - moved[i]).dot(&(t[i + 1] - t[i]));
            assert!(miss.abs() < 1e-12, "{i}: {miss:e}");
        }
    }
}
