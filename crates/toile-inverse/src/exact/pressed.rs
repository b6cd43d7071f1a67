//! A contact whose force is an unknown, and the barrier that keeps the force inside its cone.

use nalgebra::Matrix3;
use toile_geometry::Vec3;

use crate::settle::Carrying;
use crate::{Garment, TargetContact};

/// What a search has to know of a contact: the vertices that carry it, its normal and its friction.
#[derive(Clone, Debug)]
pub(crate) struct Press {
    pub(crate) carriers: Vec<(u32, f64)>,
    pub(crate) normal: Vec3,
    pub(crate) friction: f64,
}

impl Press {
    pub(crate) fn of(contact: &Carrying, garment: &Garment) -> Self {
        let friction = contact.cone(garment).friction;
        let carriers = contact.contact.carriers().filter(|(_, w)| *w != 0.0).collect();
        Self { carriers, normal: contact.contact.normal, friction }
    }
}

impl From<&TargetContact> for Press {
    fn from(c: &TargetContact) -> Self {
        Self { carriers: vec![(c.vertex, 1.0)], normal: c.normal, friction: c.friction }
    }
}

/// A contact in the units of a search.
#[derive(Clone, Debug)]
pub(super) struct Pressed {
    /// Nodes that carry it, with weights; pins left out.
    pub(super) carriers: Vec<(usize, f64)>,
    /// First unknown of its vertex, where it has only one.
    pub(super) unknown: Option<usize>,
    pub(super) normal: Vec3,
    pub(super) friction: f64,
    /// Normal force to aim at, at full weight, in units of force.
    pub(super) typical: f64,
    /// How far the tip of the cone is moved back along the normal, in units of force: forces that are not yet inside are inside of that.
    pub(super) shift: f64,
}

/// The logarithmic barrier of a cone at a force: τ (−log((μ f_N)² − |f_T|²) + 2 f_N / typical).
pub(super) struct Barrier {
    pub(super) gradient: Vec3,
    /// Inverse of its Hessian.
    pub(super) compliance: Matrix3<f64>,
}

impl Pressed {
    /// Distance to the border of the cone, negative outside.
    pub(super) fn depth(&self, f: &Vec3) -> f64 {
        let along = f.dot(&self.normal);
        self.friction * (along + self.shift) - (f - self.normal * along).norm()
    }

    pub(super) fn barrier(&self, f: &Vec3, typical: f64, weight: f64) -> Barrier {
        let n = self.normal;
        let f = f + n * self.shift;
        let along = f.dot(&n);
        let across = f - n * along;
        let (mu, y) = (self.friction, self.friction * along);
        let q = y * y - across.norm_squared();
        let aim = n * (2.0 / (typical + self.shift));
        let gradient = (n * (-2.0 * mu * y) + across * 2.0) / q + aim;
        // (∇²φ)⁻¹ = S⁻¹ (2 y yᵀ − q J) S⁻¹ / 2 with y = S f, S = μ along n and 1 across it.
        let nn = n * n.transpose();
        let tangent = Matrix3::identity() - nn;
        let compliance = f * f.transpose() - nn * (0.5 * q / (mu * mu)) + tangent * (0.5 * q);
        Barrier { gradient: gradient * weight, compliance: compliance / weight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compliance_is_the_inverse_of_how_the_barrier_bends() {
        let normal = Vec3::new(0.6, 0.0, 0.8);
        let cone = Pressed {
            carriers: vec![(0, 1.0)],
            unknown: None,
            normal,
            friction: 0.4,
            typical: 1.0,
            shift: 0.5,
        };
        let f = normal * 0.3 + Vec3::new(0.0, 0.2, 0.0);
        assert!(cone.depth(&f) > 0.0 && cone.depth(&(f - normal * 0.5)) < 0.0);
        let here = cone.barrier(&f, 1.0, 3.0);
        let h = 1e-6;
        let bend = Matrix3::from_columns(&[0, 1, 2].map(|k| {
            let mut step = Vec3::zeros();
            step[k] = h;
            let at = |f: Vec3| cone.barrier(&f, 1.0, 3.0).gradient;
            (at(f + step) - at(f - step)) / (2.0 * h)
        }));
        let one = here.compliance * bend;
        assert!((one - Matrix3::identity()).norm() < 1e-7, "{one}");
    }
}
