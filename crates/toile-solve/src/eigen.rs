//! The lowest eigenvalue of a sparse symmetric matrix against a diagonal metric.

use crate::{Cholesky, SolveError};

/// Settings of [`lowest_mode`].
#[derive(Clone, Copy, Debug)]
pub struct EigenSettings {
    /// Relative accuracy of the eigenvalue.
    pub tolerance: f64,
    /// Lanczos vectors at most; all are kept and made orthogonal to each other.
    pub max_vectors: usize,
}

impl Default for EigenSettings {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_vectors: 80 }
    }
}

/// An eigenpair A v = λ M v, vᵀ M v = 1.
#[derive(Clone, Debug)]
pub struct Mode {
    /// λ.
    pub value: f64,
    /// v.
    pub vector: Vec<f64>,
    /// Bound on the error of λ relative to the shifted spectrum.
    pub error: f64,
    /// Numeric factorisations used.
    pub factorisations: usize,
}

/// Lowest λ of A v = λ M v with a diagonal M ≥ 0, by Lanczos iterations on M½ (A + σM)⁻¹ M½.
///
/// σ = 0 when A is positive definite; otherwise it is raised until A + σM is, so the result tells the
/// sign of the spectrum as reliably as the factorisation does. Unknowns without mass follow the others.
/// Overwrites the factorisation in `cholesky` (whose pattern A has).
/// Reference: Ericsson and Ruhe 1980. Check: `lowest_mode_of_a_chain`, `negative_modes_are_found`.
pub fn lowest_mode(
    cholesky: &mut Cholesky,
    values: &[f64],
    metric: &[f64],
    settings: &EigenSettings,
) -> Result<Mode, SolveError> {
    let pattern = cholesky.pattern().clone();
    let n = pattern.n;
    let diagonal = |i: usize| pattern.col_ptr[i];
    let mut factorisations = 1;
    let mut shift = 0.0;
    if let Err(error) = cholesky.factorize(values) {
        if !matches!(error, SolveError::NotPositiveDefinite { .. }) {
            return Err(error);
        }
        // Gershgorin gives a shift that must do; smaller ones are tried on the way up, since a tight
        // one separates the spectrum better.
        let ratio = (0..n)
            .filter(|&i| metric[i] > 0.0)
            .map(|i| values[diagonal(i)].abs() / metric[i])
            .fold(0.0, f64::max);
        let mut shifted = values.to_vec();
        shift = 1e-10 * ratio;
        loop {
            for i in 0..n {
                shifted[diagonal(i)] = values[diagonal(i)] + shift * metric[i];
            }
            factorisations += 1;
            match cholesky.factorize(&shifted) {
                Ok(()) => break,
                Err(SolveError::NotPositiveDefinite { .. }) if shift < 1e3 * ratio => shift *= 8.0,
                Err(error) => return Err(error),
            }
        }
    }
    let root: Vec<f64> = metric.iter().map(|m| m.sqrt()).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut alphas, mut betas): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut q = start_vector(&root);
    let mut best = (0.0, Vec::new(), f64::INFINITY);
    for k in 0..settings.max_vectors.min(n) {
        let mut w: Vec<f64> = q.iter().zip(&root).map(|(q, r)| q * r).collect();
        cholesky.apply_inverse(&mut w);
        w.iter_mut().zip(&root).for_each(|(w, r)| *w *= r);
        let alpha = dot(&w, &q);
        alphas.push(alpha);
        basis.push(q);
        // Twice is enough (Kahan, Parlett).
        for _ in 0..2 {
            for b in &basis {
                let c = dot(&w, b);
                w.iter_mut().zip(b).for_each(|(w, b)| *w -= c * b);
            }
        }
        let beta = dot(&w, &w).sqrt();
        // The Ritz values change slowly: look at them every few vectors.
        let last = k + 1 == settings.max_vectors.min(n) || beta <= 1e-14 * alpha.abs();
        if last || k % 5 == 4 {
            let (theta, s) = largest_ritz(&alphas, &betas);
            let error = beta * s[k].abs() / theta.abs();
            best = (theta, s, error);
            if last || error <= settings.tolerance {
                break;
            }
        }
        betas.push(beta);
        q = w.iter().map(|w| w / beta).collect();
    }
    let (theta, s, error) = best;
    // v = (A + σM)⁻¹ M½ y / θ, which also gives the massless unknowns their part.
    let mut y = vec![0.0; n];
    for (b, c) in basis.iter().zip(&s) {
        y.iter_mut().zip(b).for_each(|(y, b)| *y += c * b);
    }
    let mut vector: Vec<f64> = y.iter().zip(&root).map(|(y, r)| y * r / theta).collect();
    cholesky.apply_inverse(&mut vector);
    Ok(Mode { value: 1.0 / theta - shift, vector, error, factorisations })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A fixed vector without symmetries, so that no mode is missed by accident.
fn start_vector(weights: &[f64]) -> Vec<f64> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut q: Vec<f64> = weights
        .iter()
        .map(|w| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            w * ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
        })
        .collect();
    let norm = dot(&q, &q).sqrt();
    if norm > 0.0 {
        q.iter_mut().for_each(|q| *q /= norm);
    }
    q
}

/// Largest eigenvalue of the tridiagonal matrix and its eigenvector, by bisection (Sturm counts) and
/// inverse iteration.
fn largest_ritz(alphas: &[f64], betas: &[f64]) -> (f64, Vec<f64>) {
    let k = alphas.len();
    let off = |i: usize| if i < betas.len() && i + 1 < k { betas[i].abs() } else { 0.0 };
    let bound = (0..k)
        .map(|i| alphas[i].abs() + off(i) + if i > 0 { off(i - 1) } else { 0.0 })
        .fold(0.0, f64::max);
    // Number of eigenvalues above t.
    let above = |t: f64| {
        let mut count = 0;
        let mut d = 1.0;
        for i in 0..k {
            let b = if i > 0 { off(i - 1) } else { 0.0 };
            d = alphas[i] - t - b * b / d;
            if d == 0.0 {
                d = -f64::EPSILON * bound;
            }
            if d > 0.0 {
                count += 1;
            }
        }
        count
    };
    let (mut low, mut high) = (-bound, bound);
    while high - low > 1e-15 * bound {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if above(middle) > 0 { low = middle } else { high = middle }
    }
    let theta = high;
    // (T − θ'I) s = rhs twice, with θ' a little off so that the elimination stays finite.
    let target = theta + 1e-13 * bound;
    let mut s = vec![1.0 / (k as f64).sqrt(); k];
    for _ in 0..3 {
        let mut diagonal = vec![0.0; k];
        for i in 0..k {
            let b = if i > 0 { off(i - 1) } else { 0.0 };
            let correction = if i > 0 { b * b / diagonal[i - 1] } else { 0.0 };
            diagonal[i] = alphas[i] - target - correction;
            if i > 0 {
                s[i] -= b / diagonal[i - 1] * s[i - 1];
            }
        }
        for i in (0..k).rev() {
            if i + 1 < k {
                s[i] -= off(i) * s[i + 1];
            }
            s[i] /= diagonal[i];
        }
        let norm = dot(&s, &s).sqrt();
        s.iter_mut().for_each(|s| *s /= norm);
    }
    (theta, s)
}
