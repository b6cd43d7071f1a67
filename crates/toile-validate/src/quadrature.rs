//! Gauss–Legendre points and Legendre polynomials, the common ground of collocation and of the Ritz method.

/// P₀ … P_{count−1} and their first two derivatives at `t` in [−1, 1].
///
/// Each entry is `[P_k, P_k', P_k'']`, by the three-term recurrence differentiated twice, which is stable on [−1, 1]
/// (the closed formula for P' divides by 1 − t² and fails at the ends).
pub fn legendre(count: usize, t: f64) -> Vec<[f64; 3]> {
    let mut p = Vec::with_capacity(count);
    for k in 0..count {
        p.push(match k {
            0 => [1.0, 0.0, 0.0],
            1 => [t, 1.0, 0.0],
            _ => {
                let (a, b): ([f64; 3], [f64; 3]) = (p[k - 1], p[k - 2]);
                let n = k as f64;
                let (c, d) = ((2.0 * n - 1.0) / n, (n - 1.0) / n);
                [
                    c * t * a[0] - d * b[0],
                    c * (a[0] + t * a[1]) - d * b[1],
                    c * (2.0 * a[1] + t * a[2]) - d * b[2],
                ]
            }
        });
    }
    p
}

/// Gauss–Legendre rule with `count` points on [−1, 1], exact for polynomials of degree 2·count − 1.
///
/// Returns `(point, weight)` in increasing order. The points are the zeros of P_count, found by Newton's method from
/// the usual cosine guess; the weights are 2 / ((1 − t²) P'²).
pub fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    (0..count)
        .map(|i| {
            let mut t = -((i as f64 + 0.75) / (count as f64 + 0.5) * std::f64::consts::PI).cos();
            let mut slope = 1.0;
            // Quadratic from a guess good to O(1/count²): six steps are twice what is needed.
            for _ in 0..6 {
                let p = legendre(count + 1, t)[count];
                slope = p[1];
                t -= p[0] / slope;
            }
            (t, 2.0 / ((1.0 - t * t) * slope * slope))
        })
        .collect()
}
