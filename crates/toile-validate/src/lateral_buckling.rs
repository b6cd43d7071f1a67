//! Lateral buckling of a heavy strip clamped along a vertical edge: the published fit and the limit of a narrow strip.
//!
//! The load is Γ* = ρ h g L³ / D with D = E h³ / 12(1 − ν²); a strip of width w stays in its plane below Γ*_c(w/L, ν).
//! [`thesis_fit`] is what the thesis printed; the threshold itself is [`crate::plate::lateral_buckling_threshold`].

/// Γ*_c ≈ 18.2 (1 − ν) √(1 + ν) + 14.5 w/L, the affine fit of the thesis for 0 < w/L ≤ 1.
///
/// **A fit, not a reference**: between w/L = 0.1 and 1 it is off by −3.1 % to +2.8 % (ν = 0.35; 0.6 % to 2.4 % too high
/// for ν = 0). Judge by the threshold of the plate, show the fit beside it.
///
/// Reference: Ly 2021, eq. 3.5; its 18.2 rounds the 18.178 of [`rod_limit`].
pub fn thesis_fit(w_over_l: f64, nu: f64) -> f64 {
    18.2 * (1.0 - nu) * (1.0 + nu).sqrt() + 14.5 * w_over_l
}

/// Γ*_c for w/L → 0: 6√2 j (1 − ν) √(1 + ν) = 18.178 (1 − ν) √(1 + ν), j the first zero of J_{−1/6}.
///
/// A cantilever of bending stiffness B = D(1−ν²)w about its weak axis and torsional stiffness C = 2D(1−ν)w twists when
/// its weight times L³ reaches 6 j √(B C): Γ* = 6 j √(B C)/(D w) = 6√2 j (1−ν)√(1+ν).
/// Reference: Michell 1899, Prandtl 1899; Timoshenko and Gere, *Theory of Elastic Stability*, §6.3.
pub fn rod_limit(nu: f64) -> f64 {
    6.0 * std::f64::consts::SQRT_2
        * first_zero_of_bessel(-1.0 / 6.0)
        * (1.0 - nu)
        * (1.0 + nu).sqrt()
}

/// First positive zero of the Bessel function J_order, for orders from −0.9 to 5.
///
/// J is its power series without the leading (x/2)^order / Γ(order + 1), which has no zero of its own; the first sign
/// change is bracketed from 0 and bisected to rounding. Not a number outside the range, where the series loses digits.
pub fn first_zero_of_bessel(order: f64) -> f64 {
    if !(-0.9..=5.0).contains(&order) {
        return f64::NAN;
    }
    let series = |x: f64| {
        let (mut term, mut sum) = (1.0, 1.0);
        for m in 1..60 {
            term *= -0.25 * x * x / (m as f64 * (m as f64 + order));
            sum += term;
        }
        sum
    };
    // Zeros of J_order are more than 2 apart in this range, so steps of 0.1 cannot skip a pair.
    let mut high = 0.1;
    while series(high) > 0.0 {
        high += 0.1;
    }
    let mut low = high - 0.1;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if series(middle) > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
