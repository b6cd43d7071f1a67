//! The super-clothoid: curvature linear in arclength, integrated by power series to round-off.
//!
//! With κ = κ₀ + s γ the frame obeys R′ = R \[κ\]×. Its Taylor terms, already multiplied by sⁿ, follow from
//!
//! ```text
//! R̃₁ = s R̃₀ [κ₀]×,   R̃ₙ₊₂ = s (R̃ₙ₊₁ [κ₀]× + s R̃ₙ [γ]×) / (n + 2),   r̃ₙ₊₁ = s R̃ₙ e₃ / (n + 1).
//! ```
//!
//! They grow before they fall, and what has grown cancels; so long arcs are cut where
//! λ(s) = 2 s (‖κ‖ + s ‖γ‖) (largest components) reaches a bound.
//! Reference: Bertails-Descoubes 2017, §2.3.2; Casati and Bertails-Descoubes 2013.

use toile_num::Scalar;

use crate::rotation::{Mat3, Vec3, cross_matrix};

/// The bound on λ with which long arcs are cut: well below [`largest_bound`], so that rounding stays at 1e-15.
pub const BOUND: f64 = 10.0;

/// Most terms of a sum; with λ ≤ 19 about 90 are needed.
const MOST_TERMS: usize = 160;

/// The largest n with (n+1)ⁿ ≤ 10^(d/2) n!: bounding λ by it leaves half of d decimal digits.
pub fn largest_bound(digits: u32) -> u32 {
    let limit = f64::from(digits) / 2.0 * std::f64::consts::LN_10;
    let mut log_factorial = 0.0;
    let mut n = 0;
    loop {
        let next = f64::from(n + 1);
        log_factorial += next.ln();
        if next * (next + 1.0).ln() > limit + log_factorial {
            return n;
        }
        n += 1;
    }
}

/// Arclength at which λ reaches the bound; infinite for a straight rod.
///
/// The conjugate form of the root: nothing cancels as γ → 0.
pub fn safe_arc(k: &Vec3, gamma: &Vec3, bound: f64) -> f64 {
    let (k, g) = (k.amax(), gamma.amax());
    bound / (k + (k * k + 2.0 * bound * g).sqrt())
}

/// Frames and positions at parts of an arc, and at its end.
type Summed<T, const N: usize> = ([Mat3<T>; N], [Vec3<T>; N], (Mat3<T>, Vec3<T>));

/// Sum of the series at the parts `at` of `s` and at its end, without any cut: frames and positions relative to the start.
///
/// Each term is raised to another arclength t s, 0 ≤ t ≤ 1, at no cost: the nodes of a panel share their terms.
pub(crate) fn sum_terms<T: Scalar, const N: usize>(
    start: &Mat3<T>,
    k0: &Vec3<T>,
    gamma: &Vec3<T>,
    s: T,
    at: &[f64; N],
) -> Summed<T, N> {
    let (kx, gx) = (cross_matrix(k0) * s, cross_matrix(gamma) * (s * s));
    let mut before = Mat3::<T>::zeros();
    let mut term = *start;
    let mut frames = [term; N];
    let mut points = [Vec3::<T>::zeros(); N];
    let mut end = (term, Vec3::<T>::zeros());
    let mut powers = [1.0; N];
    let mut small = 0;
    for n in 0..MOST_TERMS {
        let order = T::constant(n as f64 + 1.0);
        let step = term.column(2) * (s / order);
        let next = (term * kx + before * gx) / order;
        (before, term) = (term, next);
        let size = term.iter().fold(0.0f64, |m, x| m.max(x.real().abs()));
        end.0 += term;
        end.1 += step;
        for (((frame, point), power), t) in
            frames.iter_mut().zip(&mut points).zip(&mut powers).zip(at)
        {
            *power *= t;
            let power = T::constant(*power);
            *frame += term * power;
            *point += step * power;
        }
        // Two in a row: at κ₀ = 0 every other term vanishes.
        small = if size < 1e-18 { small + 1 } else { 0 };
        // Of a straight rod all vanish, but not their derivatives if T carries some.
        if small >= 2 && n >= 6 {
            break;
        }
    }
    (frames, points, end)
}

/// Where an arc of length `s` leads from the identity: frame, position and the number of pieces it was cut into.
///
/// Lengths whose λ stays within `bound` are summed at once. Exact to about 1e-15 per radian turned for bounds up to 10.
pub fn clothoid(k0: &Vec3, gamma: &Vec3, s: f64, bound: f64) -> (Mat3, Vec3, usize) {
    clothoid_from(&Mat3::identity(), k0, gamma, s, bound)
}

/// The same from any frame.
pub(crate) fn clothoid_from(
    start: &Mat3,
    k0: &Vec3,
    gamma: &Vec3,
    s: f64,
    bound: f64,
) -> (Mat3, Vec3, usize) {
    let (mut frame, mut point) = (*start, Vec3::zeros());
    let (mut done, mut pieces) = (0.0, 0);
    while done < s {
        let k = k0 + gamma * done;
        let left = s - done;
        let safe = safe_arc(&k, gamma, bound);
        let h = if safe < left { safe } else { left };
        let (_, _, (next, step)) = sum_terms(&frame, &k, gamma, h, &[]);
        frame = crate::rotation::straightened(&next);
        point += step;
        pieces += 1;
        done = if h == left { s } else { done + h };
        if pieces > 10_000_000 || h.is_nan() {
            return (Mat3::from_element(f64::NAN), Vec3::from_element(f64::NAN), pieces);
        }
    }
    (frame, point, pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation::{turn, turn_integral};

    /// From the order (twist, κ₁, κ₂) with the tangent first to ours with the tangent last.
    fn ours(v: [f64; 3]) -> Vec3 {
        Vec3::new(v[1], v[2], v[0])
    }

    #[test]
    fn bounds_of_double_and_single_precision() {
        assert_eq!((largest_bound(16), largest_bound(7)), (19, 9));
    }

    #[test]
    fn planar_clothoid_ends_at_the_fresnel_integrals() {
        let (_, tip, _) =
            clothoid(&Vec3::zeros(), &ours([0.0, 0.0, std::f64::consts::PI]), 1.0, BOUND);
        let expected = ours([0.7798934003768228, 0.4382591473903548, 0.0]);
        assert!((tip - expected).norm() < 1e-15, "{tip}");
    }

    #[test]
    fn cuts_do_not_change_the_curve() {
        let (k, g) = (ours([1.0, -2.0, 3.0]), ours([0.5, 1.0, -0.7]));
        let expected = ours([1.10150444696035, -1.79982009330134, 3.26253142681160]);
        let (_, at_10, pieces_10) = clothoid(&k, &g, 6.0, 10.0);
        let (frame, at_2, pieces_2) = clothoid(&k, &g, 6.0, 2.0);
        assert_eq!((pieces_10, pieces_2), (5, 19));
        assert!((at_10 - expected).norm() < 1e-12 && (at_2 - at_10).norm() < 1e-13);
        assert!((frame.transpose() * frame - Mat3::identity()).norm() < 1e-14);
    }

    #[test]
    fn constant_curvature_gives_the_helix_and_needs_the_cuts() {
        let k = Vec3::new(1.2, -0.9, 1.4); // |k| = 2.05
        for length in [1.0, 10.0, 100.0 / 2.05] {
            let (frame, tip, _) = clothoid(&k, &Vec3::zeros(), length, BOUND);
            assert!((frame - turn(&k, length)).norm() < 1e-12, "{length}");
            assert!((tip - turn_integral(&k, length).column(2)).norm() < 1e-12, "{length}");
        }
        // λ = 2 · 28.6 · 1.4 = 80: the plain sum has lost every digit.
        let length = 80.0 / 2.8;
        let (_, _, (frame, _)) = sum_terms(&Mat3::identity(), &k, &Vec3::zeros(), length, &[]);
        assert!((frame - turn(&k, length)).norm() > 0.1);
    }

    #[test]
    fn the_series_solves_its_differential_equation() {
        // Independent integration: the classical Runge-Kutta rule in small steps.
        let (k0, g) = (Vec3::new(3.0, -1.0, 2.0), Vec3::new(-4.0, 2.5, 1.0));
        let rate = |r: &Mat3, s: f64| r * cross_matrix(&(k0 + g * s));
        let (mut r, mut x) = (Mat3::identity(), Vec3::zeros());
        let (n, length) = (4000, 1.5);
        let h = length / f64::from(n);
        for i in 0..n {
            let s = h * f64::from(i);
            let a = rate(&r, s);
            let rb = r + a * (h / 2.0);
            let b = rate(&rb, s + h / 2.0);
            let rc = r + b * (h / 2.0);
            let c = rate(&rc, s + h / 2.0);
            let rd = r + c * h;
            let d = rate(&rd, s + h);
            x += (r.column(2) + rb.column(2) * 2.0 + rc.column(2) * 2.0 + rd.column(2)) * (h / 6.0);
            r += (a + b * 2.0 + c * 2.0 + d) * (h / 6.0);
        }
        let (frame, tip, _) = clothoid(&k0, &g, length, BOUND);
        assert!((frame - r).norm() < 1e-11 && (tip - x).norm() < 1e-11, "{}", (frame - r).norm());
    }
}
