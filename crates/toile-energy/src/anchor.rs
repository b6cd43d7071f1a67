//! A spring from a vertex to a fixed point.

use toile_num::{Matrix, Scalar, Vector};

use crate::{Curvature, StencilEnergy};

/// Spring of rest length zero from a vertex to a fixed point: E = ½ k |x − p|².
///
/// A soft pin; it has no rest shape.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    /// k \[N/m\].
    pub stiffness: f64,
    /// p \[m\].
    pub point: Vector<3>,
}

impl StencilEnergy<3> for Anchor {
    const NODES: &'static [u8] = &[3];
    const TRANSLATION_INVARIANT: bool = false;
    type Rest = ();

    fn rest(&self, _: &Vector<3>) {}

    fn value<T: Scalar>(&self, x: &Vector<3, T>, _: &Vector<3, T>) -> T {
        let mut sum = T::zero();
        for i in 0..3 {
            sum += (x[i] - self.point[i]).squared();
        }
        sum * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<3>, (): &()) -> f64 {
        0.5 * self.stiffness * (x - self.point).norm_squared()
    }

    fn gradient(&self, x: &Vector<3>, (): &()) -> Vector<3> {
        (x - self.point) * self.stiffness
    }

    fn hessian(&self, _: &Vector<3>, (): &(), curvature: Curvature) -> Matrix<3, 3> {
        match curvature {
            Curvature::Material => Matrix::zeros(),
            _ => Matrix::identity() * self.stiffness,
        }
    }

    fn mixed_hessian(&self, _: &Vector<3>, _: &Vector<3>) -> Matrix<3, 3> {
        Matrix::zeros()
    }
}
