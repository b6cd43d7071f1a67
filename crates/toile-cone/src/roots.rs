//! Roots of functions of one variable, found inside a bracket that never opens.

/// A root of f between `a` and `b`, where f has opposite signs: Brent's method, which bisects
/// whenever interpolation does not pay and so cannot fail.
pub(crate) fn bracketed_root(
    mut f: impl FnMut(f64) -> f64,
    (mut a, mut fa): (f64, f64),
    (mut b, mut fb): (f64, f64),
) -> f64 {
    let (mut c, mut fc) = (a, fa);
    let (mut step, mut before) = (b - a, b - a);
    for _ in 0..300 {
        if (fb > 0.0) == (fc > 0.0) {
            (c, fc) = (a, fa);
            step = b - a;
            before = step;
        }
        if fc.abs() < fb.abs() {
            // b is always the better end.
            (a, fa) = (b, fb);
            (b, fb) = (c, fc);
            (c, fc) = (a, fa);
        }
        let tolerance = 2.0 * f64::EPSILON * b.abs();
        let half = 0.5 * (c - b);
        if half.abs() <= tolerance || fb == 0.0 {
            return b;
        }
        let interpolated = if before.abs() >= tolerance && fa.abs() > fb.abs() {
            let s = fb / fa;
            let (p, q) = if a == c {
                (2.0 * half * s, 1.0 - s)
            } else {
                let (q, r) = (fa / fc, fb / fc);
                let p = s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0));
                (p, (q - 1.0) * (r - 1.0) * (s - 1.0))
            };
            let (p, q) = if p > 0.0 { (p, -q) } else { (-p, q) };
            let inside = 2.0 * p < (3.0 * half * q - (tolerance * q).abs());
            (inside && 2.0 * p < (before * q).abs()).then(|| p / q)
        } else {
            None
        };
        (before, step) = interpolated.map_or((half, half), |s| (step, s));
        (a, fa) = (b, fb);
        b += if step.abs() > tolerance { step } else { tolerance.copysign(half) };
        fb = f(b);
        if fb.is_nan() {
            return a;
        }
    }
    b
}

/// The positive real roots of Σ coefficients[k] xᵏ in increasing order.
///
/// The roots of each derivative bracket those of the one before, so none of odd multiplicity is
/// missed. Roots of even multiplicity may be.
pub(crate) fn positive_roots(coefficients: &[f64]) -> Vec<f64> {
    let degree = coefficients.iter().rposition(|c| *c != 0.0).unwrap_or(0);
    let c = &coefficients[..=degree];
    if degree == 0 {
        return Vec::new();
    }
    if degree == 1 {
        let x = -c[0] / c[1];
        return if x > 0.0 && x.is_finite() { vec![x] } else { Vec::new() };
    }
    let value = |x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let derivative: Vec<f64> = c.iter().enumerate().skip(1).map(|(k, c)| c * k as f64).collect();
    // No root lies beyond Cauchy's bound.
    let bound = 1.0 + c[..degree].iter().fold(0.0f64, |m, v| m.max((v / c[degree]).abs()));
    let mut ends = vec![0.0];
    ends.extend(positive_roots(&derivative).into_iter().filter(|x| *x < bound));
    ends.push(bound);
    let mut roots = Vec::new();
    for pair in ends.windows(2) {
        let (fa, fb) = (value(pair[0]), value(pair[1]));
        if fa * fb < 0.0 || (fb == 0.0 && fa != 0.0) {
            roots.push(bracketed_root(value, (pair[0], fa), (pair[1], fb)));
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_positive_root_of_a_quartic_is_found() {
        // (x − 1)(x − 2)(x − 30)(x + 4)
        let c = [-240.0, 308.0, -40.0, -29.0, 1.0];
        let roots = positive_roots(&c);
        assert_eq!(roots.len(), 3);
        for (found, exact) in roots.iter().zip([1.0, 2.0, 30.0]) {
            assert!((found - exact).abs() < 1e-12 * exact, "{found}");
        }
        assert!(positive_roots(&[1.0, 0.0, 1.0]).is_empty());
        assert!(positive_roots(&[0.0, 0.0]).is_empty());
    }

    #[test]
    fn a_bracket_with_a_kink_and_a_wide_range_is_closed() {
        let f = |x: f64| if x < 3e-9 { -1.0 } else { x - 3e-9 + 1e-30 };
        let x = bracketed_root(f, (0.0, -1.0), (1e12, f(1e12)));
        assert!((x - 3e-9).abs() < 1e-20, "{x}");
    }
}
