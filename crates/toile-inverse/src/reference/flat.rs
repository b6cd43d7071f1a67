//! The as-flat-as-possible start: the target with its lengths and areas, but without its folds (Casati et al. 2016, §5.5).

use toile_energy::{AreaStretch, Curvature, EdgeStretch, StencilEnergy};
use toile_geometry::Vec3;
use toile_geometry::measure::{Hinge, dihedral_angle, edge, triangle_area};
use toile_num::{Matrix, Scalar, Vector};
use toile_sim::{ModelBuilder, Role, relax};
use toile_solve::NewtonSettings;

use crate::{Garment, InverseError};

/// A hinge that would lie flat: E = ½ k 3 L̄²/Ā θ².
///
/// Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
struct FlatHinge {
    stiffness: f64,
}

fn points<T: Scalar>(x: &Vector<12, T>) -> [Vector<3, T>; 4] {
    std::array::from_fn(|i| x.fixed_rows::<3>(3 * i).into_owned())
}

fn factor<T: Scalar>(x_bar: &Vector<12, T>) -> T {
    let [c, a, b, d] = points(x_bar);
    let area = triangle_area(&[c, a, b]) + triangle_area(&[d, b, a]);
    edge(&a, &b).0.squared() / area * 3.0
}

fn hinge(x: &Vector<12>) -> Hinge {
    let [c, a, b, d] = points(x);
    Hinge::new(&c, &a, &b, &d)
}

impl StencilEnergy<12> for FlatHinge {
    const NODES: &'static [u8] = &[3, 3, 3, 3];
    type Rest = f64;

    fn rest(&self, x_bar: &Vector<12>) -> f64 {
        factor(x_bar)
    }

    fn value<T: Scalar>(&self, x: &Vector<12, T>, x_bar: &Vector<12, T>) -> T {
        let [c, a, b, d] = points(x);
        dihedral_angle(&c, &a, &b, &d).squared() * factor(x_bar) * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<12>, rest: &f64) -> f64 {
        0.5 * self.stiffness * rest * hinge(x).angle().powi(2)
    }

    fn gradient(&self, x: &Vector<12>, rest: &f64) -> Vector<12> {
        let hinge = hinge(x);
        hinge.gradient() * (self.stiffness * rest * hinge.angle())
    }

    fn hessian(&self, x: &Vector<12>, rest: &f64, curvature: Curvature) -> Matrix<12, 12> {
        let hinge = hinge(x);
        let (k, g) = (self.stiffness * rest, hinge.gradient());
        let law = g * g.transpose() * k;
        match curvature {
            Curvature::Exact => law + hinge.hessian() * (k * hinge.angle()),
            Curvature::Positive | Curvature::Material => law,
        }
    }

    /// The rest shape of the flattening is the target and stays: not needed, and left out.
    fn mixed_hessian(&self, _: &Vector<12>, _: &Vector<12>) -> Matrix<12, 12> {
        Matrix::zeros()
    }
}

/// Bending against stretching of the flattening: folds open while lengths stay within a few percent.
const BENDING: f64 = 1e-3;

/// The target without its folds, pins and `held` vertices where they are.
pub(super) fn flattened(
    garment: &Garment,
    target: &[Vec3],
    held: &[bool],
) -> Result<Vec<Vec3>, InverseError> {
    let mut builder = ModelBuilder::new();
    for p in target {
        builder.vertex(*p, *p);
    }
    let mut base = 0;
    for shell in &garment.shells {
        let topology = &shell.topology;
        let edges: Vec<[u32; 2]> =
            topology.edges().iter().map(|e| e.vertices.map(|v| base + v)).collect();
        let size = crate::design::extent(&shell.positions).max(f64::MIN_POSITIVE);
        let springs = vec![EdgeStretch { stiffness: 1.0 }; edges.len()];
        builder.add::<_, 6, 2>(Role::Elastic, springs, edges);
        let faces: Vec<[u32; 3]> = topology.faces().iter().map(|f| f.map(|v| base + v)).collect();
        let areas = vec![AreaStretch { stiffness: 1.0 / size }; faces.len()];
        builder.add::<_, 9, 3>(Role::Elastic, areas, faces);
        let mut hinges = Vec::new();
        for (_, edge) in topology.interior_edges() {
            if let [Some(c), Some(d)] = edge.opposite {
                hinges.push([c, edge.vertices[0], edge.vertices[1], d].map(|v| base + v));
            }
        }
        let flat = vec![FlatHinge { stiffness: BENDING * size }; hinges.len()];
        builder.add::<_, 12, 4>(Role::Elastic, flat, hinges);
        base += shell.positions.len() as u32;
    }
    for (v, held) in held.iter().enumerate() {
        builder.add_mass(v as u32, 1.0);
        if *held {
            builder.fix(v as u32);
        }
    }
    let model = builder.build()?;
    let settings = NewtonSettings { tolerance: 1e-6, max_steps: 100, ..NewtonSettings::default() };
    let found = relax(&model, model.start(), &settings, |_| true)?;
    Ok(model.positions(&found.point))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_num::{ScalarFunction, assert_close, gradient_of, hessian_of};

    #[test]
    fn derivatives_match_dual_numbers() {
        struct InX(Vector<12>);
        impl ScalarFunction<12> for InX {
            fn call<T: Scalar>(&self, x: &Vector<12, T>) -> T {
                FlatHinge { stiffness: 3.0 }.value(x, &self.0.map(T::constant))
            }
        }
        let x_bar = Vector::<12>::from_fn(|i, _| (1.3 * i as f64).sin());
        let x = Vector::<12>::from_fn(|i, _| (0.7 * i as f64).cos());
        let (energy, f) = (FlatHinge { stiffness: 3.0 }, InX(x_bar));
        let rest = energy.rest(&x_bar);
        assert_close("gradient", &energy.gradient(&x, &rest), &gradient_of(&f, &x), 1e-11);
        let found = energy.hessian(&x, &rest, Curvature::Exact);
        assert_close("hessian", &found, &hessian_of(&f, &x), 1e-11);
    }
}
