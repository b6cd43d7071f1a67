//! Bending across edges, as in Discrete Shells.

use toile_geometry::measure::{Hinge, dihedral_angle, edge, triangle_area, triangle_area_gradient};
use toile_num::{Matrix, Scalar, Vector};

use crate::stencil::material_product;
use crate::{Curvature, MaterialEnergy, StencilEnergy};

/// Bending of one hinge: E = ½ k 3 L̄²/Ā (θ − θ̄)², Ā the sum of both rest areas.
///
/// Points (c, a, b, d): first apex, edge, second apex. When the second face is held in a clamp, only
/// the first bends, and Ā is its area alone (the symmetric half of a hinge folded by 2θ).
/// The difference of angles is taken modulo 2π. Not finite when a face has no area.
/// References: Grinspun et al. 2003; Ly 2021, eq. 1.12 corrected. Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct HingeBend {
    /// k, bending stiffness \[N·m\]; see the crate page for the modulus it amounts to.
    pub stiffness: f64,
    /// Whether the second face is held in a clamp.
    pub clamped: bool,
}

/// Rest angle and stiffness factor 3 L̄²/Ā of a hinge.
#[derive(Clone, Copy, Debug)]
pub struct HingeRest {
    theta_bar: f64,
    factor: f64,
}

fn points<T: Scalar>(x: &Vector<12, T>) -> [Vector<3, T>; 4] {
    std::array::from_fn(|i| x.fixed_rows::<3>(3 * i).into_owned())
}

fn hinge(x: &Vector<12>) -> Hinge {
    let [c, a, b, d] = points(x);
    Hinge::new(&c, &a, &b, &d)
}

/// θ − θ̄ brought back to (−π, π].
fn fold<T: Scalar>(difference: T) -> T {
    let turns = (difference.real() / std::f64::consts::TAU).round();
    difference - turns * std::f64::consts::TAU
}

impl HingeBend {
    /// 3 L̄²/Ā.
    fn factor<T: Scalar>(&self, x_bar: &Vector<12, T>) -> T {
        let [c, a, b, d] = points(x_bar);
        let mut area = triangle_area(&[c, a, b]);
        if !self.clamped {
            area += triangle_area(&[d, b, a]);
        }
        edge(&a, &b).0.squared() / area * 3.0
    }

    fn factor_gradient(&self, x_bar: &Vector<12>) -> Vector<12> {
        let [c, a, b, d] = points(x_bar);
        let (l, t) = edge(&a, &b);
        let mut area = triangle_area(&[c, a, b]);
        let mut area_gradient = Vector::<12>::zeros();
        let mut add = |nodes: [usize; 3], g: [Vector<3>; 3]| {
            for i in 0..3 {
                let mut part = area_gradient.fixed_rows_mut::<3>(3 * nodes[i]);
                part += g[i];
            }
        };
        add([0, 1, 2], triangle_area_gradient(&[c, a, b]));
        if !self.clamped {
            area += triangle_area(&[d, b, a]);
            add([3, 2, 1], triangle_area_gradient(&[d, b, a]));
        }
        let mut g = area_gradient * (-3.0 * l * l / (area * area));
        let along = t * (6.0 * l / area);
        let mut part = g.fixed_rows_mut::<3>(3);
        part -= along;
        let mut part = g.fixed_rows_mut::<3>(6);
        part += along;
        g
    }
}

impl StencilEnergy<12> for HingeBend {
    const NODES: &'static [u8] = &[3, 3, 3, 3];
    const CORE: usize = 3;
    type Rest = HingeRest;

    fn rest(&self, x_bar: &Vector<12>) -> HingeRest {
        HingeRest { theta_bar: hinge(x_bar).angle(), factor: self.factor(x_bar) }
    }

    fn value<T: Scalar>(&self, x: &Vector<12, T>, x_bar: &Vector<12, T>) -> T {
        let angle = |x: &Vector<12, T>| {
            let [c, a, b, d] = points(x);
            dihedral_angle(&c, &a, &b, &d)
        };
        let difference = fold(angle(x) - angle(x_bar));
        difference.squared() * self.factor(x_bar) * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<12>, rest: &HingeRest) -> f64 {
        0.5 * self.stiffness * rest.factor * fold(hinge(x).angle() - rest.theta_bar).powi(2)
    }

    fn gradient(&self, x: &Vector<12>, rest: &HingeRest) -> Vector<12> {
        let hinge = hinge(x);
        hinge.gradient() * (self.stiffness * rest.factor * fold(hinge.angle() - rest.theta_bar))
    }

    fn hessian(&self, x: &Vector<12>, rest: &HingeRest, curvature: Curvature) -> Matrix<12, 12> {
        let hinge = hinge(x);
        let k = self.stiffness * rest.factor;
        let g = hinge.gradient();
        let law = g * g.transpose() * k;
        match curvature {
            Curvature::Exact => law + hinge.hessian() * (k * fold(hinge.angle() - rest.theta_bar)),
            Curvature::Positive | Curvature::Material => law,
        }
    }

    fn mixed_hessian(&self, x: &Vector<12>, x_bar: &Vector<12>) -> Matrix<12, 12> {
        let (now, then) = (hinge(x), hinge(x_bar));
        let moment_slope = then.gradient() * -self.factor(x_bar)
            + self.factor_gradient(x_bar) * fold(now.angle() - then.angle());
        now.gradient() * moment_slope.transpose() * self.stiffness
    }

    fn material_names() -> &'static [&'static str] {
        &<Self as MaterialEnergy<12, 1>>::PARAMETERS
    }

    fn add_material_product(
        &self,
        x: &Vector<12>,
        x_bar: &Vector<12>,
        lambda: &Vector<12>,
        out: &mut [f64],
    ) {
        material_product::<12, 1, _>(self, x, x_bar, lambda, out);
    }
}

impl MaterialEnergy<12, 1> for HingeBend {
    const PARAMETERS: [&'static str; 1] = ["k_bend"];

    fn parameters(&self) -> Vector<1> {
        Vector::<1>::new(self.stiffness)
    }

    fn with_parameters(&self, p: &Vector<1>) -> Self {
        Self { stiffness: p[0], ..*self }
    }

    fn material_hessian(&self, x: &Vector<12>, x_bar: &Vector<12>) -> Matrix<12, 1> {
        self.with_parameters(&Vector::<1>::new(1.0)).gradient(x, &self.rest(x_bar))
    }
}
