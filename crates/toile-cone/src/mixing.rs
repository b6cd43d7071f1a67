//! Fixed-point iterations made faster by mixing their last few iterates.
//!
//! A sweep maps r to G(r). Where sticking and sliding contacts have settled, G is nearly linear, and the combination of the last
//! iterates whose changes G(r) − r cancel best is as good as many sweeps: Anderson's mixing, which for linear maps is GMRES.
//! Reference: Anderson 1965; Walker and Ni 2011.

use nalgebra::{DMatrix, DVector};

use crate::operator::dot;

/// Iterates that are mixed: more cost more than they save.
const WINDOW: usize = 8;
/// Growth of the change beyond which mixing is taken back.
const GROWTH: f64 = 2.0;
/// Steps without mixing after it was taken back, at most.
const MOST_REST: usize = 32;

/// The last iterates of a fixed-point iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mixing {
    /// Differences of G(r) and of G(r) − r between successive iterates.
    images: Vec<Vec<f64>>,
    changes: Vec<Vec<f64>>,
    last_image: Vec<f64>,
    last_change: Vec<f64>,
    size: f64,
    /// Steps that are left as they are after mixtures that made things worse, and how many in the end.
    rest: usize,
    failures: usize,
}

impl Mixing {
    /// Forgets what it has seen.
    pub(crate) fn restart(&mut self) {
        self.images.clear();
        self.changes.clear();
        self.last_image.clear();
        self.last_change.clear();
        self.size = f64::INFINITY;
    }

    /// Given r and its image G(r), writes the next iterate into `image`. Says whether it is a mixture; the last image is taken up
    /// again where the mixture made things worse.
    pub(crate) fn mix(&mut self, r: &[f64], image: &mut [f64]) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        let change: Vec<f64> = image.iter().zip(r).map(|(g, r)| g - r).collect();
        let size = dot(&change, &change).sqrt();
        if !(size <= GROWTH * self.size) && !self.last_image.is_empty() {
            image.copy_from_slice(&self.last_image);
            self.restart();
            self.failures += 1;
            self.rest = (1 << self.failures.min(5)).min(MOST_REST);
            return false;
        }
        if !self.last_image.is_empty() {
            if self.images.len() == WINDOW {
                self.images.remove(0);
                self.changes.remove(0);
            }
            self.images.push(image.iter().zip(&self.last_image).map(|(a, b)| a - b).collect());
            self.changes.push(change.iter().zip(&self.last_change).map(|(a, b)| a - b).collect());
        }
        self.last_image.clear();
        self.last_image.extend_from_slice(image);
        self.size = size;
        let n = self.changes.len();
        let mixed = n > 0 && self.combine(&change, image);
        self.last_change = change;
        mixed
    }

    /// image − Σ γ Δimage with γ least-squares for change − Σ γ Δchange.
    fn combine(&self, change: &[f64], image: &mut [f64]) -> bool {
        let n = self.changes.len();
        let mut gram = DMatrix::<f64>::zeros(n, n);
        let mut right = DVector::<f64>::zeros(n);
        for i in 0..n {
            for j in 0..=i {
                gram[(i, j)] = dot(&self.changes[i], &self.changes[j]);
                gram[(j, i)] = gram[(i, j)];
            }
            right[i] = dot(&self.changes[i], change);
        }
        // Nearly parallel differences: their combination is noise.
        let trace = gram.trace();
        for i in 0..n {
            gram[(i, i)] += 1e-10 * trace;
        }
        let Some(factor) = gram.cholesky() else { return false };
        let gamma = factor.solve(&right);
        if !gamma.iter().all(|g| g.is_finite()) {
            return false;
        }
        for (g, difference) in gamma.iter().zip(&self.images) {
            image.iter_mut().zip(difference).for_each(|(x, d)| *x -= g * d);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear map with 6 slow directions: mixing ends it after about as many steps, plain steps need hundreds.
    #[test]
    fn a_linear_map_is_solved_in_as_many_steps_as_it_has_directions() {
        let rate = |i: usize| 0.99 - 0.1 * i as f64;
        let apply = |r: &[f64]| -> Vec<f64> {
            r.iter().enumerate().map(|(i, x)| 1.0 + rate(i) * x).collect()
        };
        let mut mixing = Mixing::default();
        mixing.restart();
        let mut r = vec![0.0; 6];
        for _ in 0..8 {
            let mut image = apply(&r);
            mixing.mix(&r, &mut image);
            r = image;
        }
        let error = |r: &[f64]| {
            let exact = |i: usize| 1.0 / (1.0 - rate(i));
            r.iter().enumerate().map(|(i, x)| (x / exact(i) - 1.0).abs()).fold(0.0, f64::max)
        };
        assert!(error(&r) < 1e-3, "{:e}", error(&r));
        let mut plain = vec![0.0; 6];
        (0..8).for_each(|_| plain = apply(&plain));
        assert!(error(&plain) > 0.5);
    }
}
