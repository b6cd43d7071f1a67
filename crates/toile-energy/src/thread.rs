//! The thread of a seam: a vertex sewn to a point of an edge.

use toile_num::{Matrix, Scalar, Vector};

use crate::{Curvature, StencilEnergy};

/// A thread of no length between a vertex and a point of an edge: E = ½ k |d|², d = x₀ − (1 − w) x₁ − w x₂.
///
/// It has no rest shape, so the pieces it joins may rest anywhere, as panels of a pattern do; it lets them turn
/// about the seam freely. Quadratic in x, hence no trouble for Newton's method however stiff.
/// Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thread {
    /// w in 0..=1: 0 sews to x₁, 1 to x₂.
    pub weight: f64,
    /// k \[N/m\].
    pub stiffness: f64,
}

impl Thread {
    /// Weights of the three vertices in d; they sum to zero.
    fn weights(&self) -> [f64; 3] {
        [1.0, self.weight - 1.0, -self.weight]
    }

    /// d, how far the seam is open \[m\].
    pub fn opening(&self, x: &Vector<9>) -> Vector<3> {
        let [a, b, c] = self.weights();
        x.fixed_rows::<3>(0) * a + x.fixed_rows::<3>(3) * b + x.fixed_rows::<3>(6) * c
    }
}

impl StencilEnergy<9> for Thread {
    const NODES: &'static [u8] = &[3, 3, 3];
    type Rest = ();

    fn rest(&self, _: &Vector<9>) {}

    fn value<T: Scalar>(&self, x: &Vector<9, T>, _: &Vector<9, T>) -> T {
        let mut squared = T::zero();
        for c in 0..3 {
            let mut d = T::zero();
            for (k, w) in self.weights().iter().enumerate() {
                d += x[3 * k + c] * *w;
            }
            squared += d * d;
        }
        squared * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<9>, (): &()) -> f64 {
        0.5 * self.stiffness * self.opening(x).norm_squared()
    }

    fn gradient(&self, x: &Vector<9>, (): &()) -> Vector<9> {
        let pull = self.opening(x) * self.stiffness;
        let mut gradient = Vector::<9>::zeros();
        for (k, w) in self.weights().iter().enumerate() {
            gradient.fixed_rows_mut::<3>(3 * k).copy_from(&(pull * *w));
        }
        gradient
    }

    fn hessian(&self, _: &Vector<9>, (): &(), curvature: Curvature) -> Matrix<9, 9> {
        let mut hessian = Matrix::<9, 9>::zeros();
        if curvature == Curvature::Material {
            return hessian;
        }
        for (a, wa) in self.weights().iter().enumerate() {
            for (b, wb) in self.weights().iter().enumerate() {
                for k in 0..3 {
                    hessian[(3 * a + k, 3 * b + k)] = self.stiffness * wa * wb;
                }
            }
        }
        hessian
    }

    fn mixed_hessian(&self, _: &Vector<9>, _: &Vector<9>) -> Matrix<9, 9> {
        Matrix::zeros()
    }
}
