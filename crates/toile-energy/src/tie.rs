//! A tie of up to four vertices to a point or to each other.

use toile_num::{Matrix, Scalar, Vector};

use crate::{Curvature, StencilEnergy};

/// Spring and dead force on a weighted sum of vertices: E = ½ dᵀKd − f·d, with d = Σ wᵢ xᵢ − p.
///
/// What a contact that holds does to the cloth: p is where it holds, f what it carries when nothing has yielded,
/// and f − Kd what it carries. Weights that sum to zero tie two places of the cloth to each other. It has no rest shape.
/// Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct Tie {
    /// w; zero for vertices the tie does not have.
    pub weights: [f64; 4],
    /// p \[m\].
    pub point: Vector<3>,
    /// K, symmetric \[N/m\].
    pub stiffness: Matrix<3, 3>,
    /// f \[N\].
    pub force: Vector<3>,
}

impl Tie {
    /// d \[m\].
    pub fn displacement(&self, x: &Vector<12>) -> Vector<3> {
        let mut d = -self.point;
        for (k, w) in self.weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            d += x.fixed_rows::<3>(3 * k) * *w;
        }
        d
    }

    /// f − Kd, the force on the weighted sum \[N\].
    pub fn carried(&self, x: &Vector<12>) -> Vector<3> {
        self.force - self.stiffness * self.displacement(x)
    }
}

impl StencilEnergy<12> for Tie {
    const NODES: &'static [u8] = &[3, 3, 3, 3];
    const TRANSLATION_INVARIANT: bool = false;
    type Rest = ();

    fn rest(&self, _: &Vector<12>) {}

    fn value<T: Scalar>(&self, x: &Vector<12, T>, _: &Vector<12, T>) -> T {
        let d: [T; 3] = std::array::from_fn(|c| {
            let mut sum = T::zero() - self.point[c];
            for (k, w) in self.weights.iter().enumerate() {
                sum += x[3 * k + c] * *w;
            }
            sum
        });
        let mut energy = T::zero();
        for a in 0..3 {
            energy -= d[a] * self.force[a];
            for b in 0..3 {
                energy += d[a] * d[b] * (0.5 * self.stiffness[(a, b)]);
            }
        }
        energy
    }

    fn energy(&self, x: &Vector<12>, (): &()) -> f64 {
        let d = self.displacement(x);
        0.5 * d.dot(&(self.stiffness * d)) - self.force.dot(&d)
    }

    fn gradient(&self, x: &Vector<12>, (): &()) -> Vector<12> {
        let pull = -self.carried(x);
        let mut gradient = Vector::<12>::zeros();
        for (k, w) in self.weights.iter().enumerate() {
            gradient.fixed_rows_mut::<3>(3 * k).copy_from(&(pull * *w));
        }
        gradient
    }

    fn hessian(&self, _: &Vector<12>, (): &(), curvature: Curvature) -> Matrix<12, 12> {
        let mut hessian = Matrix::<12, 12>::zeros();
        if curvature == Curvature::Material {
            return hessian;
        }
        for (a, wa) in self.weights.iter().enumerate() {
            for (b, wb) in self.weights.iter().enumerate() {
                let block = self.stiffness * (wa * wb);
                hessian.fixed_view_mut::<3, 3>(3 * a, 3 * b).copy_from(&block);
            }
        }
        hessian
    }

    fn mixed_hessian(&self, _: &Vector<12>, _: &Vector<12>) -> Matrix<12, 12> {
        Matrix::zeros()
    }
}
