//! Change of face areas.

use toile_geometry::measure::{Wing, triangle_area, triangle_area_gradient};
use toile_num::{Matrix, Scalar, Vector};

use crate::stencil::material_product;
use crate::{Curvature, MaterialEnergy, StencilEnergy};

/// Change of area of one face: E = k (A − Ā)² / 2Ā.
///
/// Singular at A = 0; Ā = 0 is refused when the mesh is built.
/// Reference: Ly 2021, eq. 1.13. Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct AreaStretch {
    /// k, tension per unit of relative area change \[N/m\].
    pub stiffness: f64,
}

fn corners<T: Scalar>(x: &Vector<9, T>) -> [Vector<3, T>; 3] {
    std::array::from_fn(|i| x.fixed_rows::<3>(3 * i).into_owned())
}

pub(crate) fn area_gradient(x: &Vector<9>) -> Vector<9> {
    let g = triangle_area_gradient(&corners(x));
    Vector::from_fn(|i, _| g[i / 3][i % 3])
}

pub(crate) fn area<T: Scalar>(x: &Vector<9, T>) -> T {
    triangle_area(&corners(x))
}

/// ∂²A/∂x² through A = ½ L h of the edge opposite to corner 0.
fn area_hessian(x: &Vector<9>) -> Matrix<9, 9> {
    let [c, a, b] = corners(x);
    let wing = Wing::new(&c, &a, &b);
    let length = (b - a).norm();
    // ∂L/∂pᵢ = −L rᵢ ê; ∂²L/∂pᵢ∂pⱼ = L rᵢ rⱼ (I − ê êᵀ).
    let (e, r) = (wing.tangent, wing.r);
    let across = Matrix::<3, 3>::identity() - e * e.transpose();
    let mut h = Matrix::<9, 9>::zeros();
    for i in 0..3 {
        for j in 0..3 {
            let dl = [e * (-length * r[i]), e * (-length * r[j])];
            let dh = [wing.altitude_gradient(i), wing.altitude_gradient(j)];
            let block = wing.altitude_hessian(i, j) * length
                + dl[0] * dh[1].transpose()
                + dh[0] * dl[1].transpose()
                + across * (length * r[i] * r[j] * wing.altitude);
            h.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(&(block * 0.5));
        }
    }
    h
}

impl StencilEnergy<9> for AreaStretch {
    const NODES: &'static [u8] = &[3, 3, 3];
    type Rest = f64;

    fn rest(&self, x_bar: &Vector<9>) -> f64 {
        area(x_bar)
    }

    fn value<T: Scalar>(&self, x: &Vector<9, T>, x_bar: &Vector<9, T>) -> T {
        let (a, a_bar) = (area(x), area(x_bar));
        (a - a_bar).squared() / a_bar * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<9>, a_bar: &f64) -> f64 {
        0.5 * self.stiffness * (area(x) - a_bar).powi(2) / a_bar
    }

    fn gradient(&self, x: &Vector<9>, a_bar: &f64) -> Vector<9> {
        area_gradient(x) * (self.stiffness * (area(x) / a_bar - 1.0))
    }

    fn hessian(&self, x: &Vector<9>, a_bar: &f64, curvature: Curvature) -> Matrix<9, 9> {
        let g = area_gradient(x);
        let law = g * g.transpose() * (self.stiffness / a_bar);
        match curvature {
            Curvature::Exact => law + area_hessian(x) * (self.stiffness * (area(x) / a_bar - 1.0)),
            Curvature::Positive | Curvature::Material => law,
        }
    }

    fn mixed_hessian(&self, x: &Vector<9>, x_bar: &Vector<9>) -> Matrix<9, 9> {
        let (a, a_bar) = (area(x), area(x_bar));
        area_gradient(x)
            * area_gradient(x_bar).transpose()
            * (-self.stiffness * a / (a_bar * a_bar))
    }

    fn material_names() -> &'static [&'static str] {
        &<Self as MaterialEnergy<9, 1>>::PARAMETERS
    }

    fn add_material_product(
        &self,
        x: &Vector<9>,
        x_bar: &Vector<9>,
        lambda: &Vector<9>,
        out: &mut [f64],
    ) {
        material_product::<9, 1, _>(self, x, x_bar, lambda, out);
    }
}

impl MaterialEnergy<9, 1> for AreaStretch {
    const PARAMETERS: [&'static str; 1] = ["k_area"];

    fn parameters(&self) -> Vector<1> {
        Vector::<1>::new(self.stiffness)
    }

    fn with_parameters(&self, p: &Vector<1>) -> Self {
        Self { stiffness: p[0] }
    }

    fn material_hessian(&self, x: &Vector<9>, x_bar: &Vector<9>) -> Matrix<9, 1> {
        Self { stiffness: 1.0 }.gradient(x, &self.rest(x_bar))
    }
}
