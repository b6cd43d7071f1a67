//! Stretching along edges.

use toile_geometry::measure::edge;
use toile_num::{Matrix, Scalar, Vector};

use crate::stencil::material_product;
use crate::{Curvature, MaterialEnergy, StencilEnergy};

/// Stretching of one edge: E = k (L − L̄)² / 2L̄, L = |x₁ − x₀|.
///
/// Singular at L = 0; L̄ = 0 is refused when the mesh is built.
/// Reference: Ly 2021, eq. 1.13 (Grinspun et al. 2003 without the ½). Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct EdgeStretch {
    /// k, tension per unit strain \[N\].
    pub stiffness: f64,
}

fn ends<T: Scalar>(x: &Vector<6, T>) -> (T, Vector<3, T>) {
    edge(&x.fixed_rows::<3>(0).into_owned(), &x.fixed_rows::<3>(3).into_owned())
}

/// The stencil matrix [k, −k; −k, k].
fn opposed(k: &Matrix<3, 3>) -> Matrix<6, 6> {
    Matrix::from_fn(|i, j| if i / 3 == j / 3 { k[(i % 3, j % 3)] } else { -k[(i % 3, j % 3)] })
}

impl StencilEnergy<6> for EdgeStretch {
    const NODES: &'static [u8] = &[3, 3];
    type Rest = f64;

    fn rest(&self, x_bar: &Vector<6>) -> f64 {
        ends(x_bar).0
    }

    fn value<T: Scalar>(&self, x: &Vector<6, T>, x_bar: &Vector<6, T>) -> T {
        let (l, l_bar) = (ends(x).0, ends(x_bar).0);
        (l - l_bar).squared() / l_bar * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<6>, l_bar: &f64) -> f64 {
        0.5 * self.stiffness * (ends(x).0 - l_bar).powi(2) / l_bar
    }

    fn gradient(&self, x: &Vector<6>, l_bar: &f64) -> Vector<6> {
        let (l, t) = ends(x);
        let pull = t * (self.stiffness * (l - l_bar) / l_bar);
        Vector::from_fn(|i, _| if i < 3 { -pull[i] } else { pull[i - 3] })
    }

    fn hessian(&self, x: &Vector<6>, l_bar: &f64, curvature: Curvature) -> Matrix<6, 6> {
        let (l, t) = ends(x);
        let along = t * t.transpose();
        let stress = (l - l_bar) / (l_bar * l);
        let across = match curvature {
            Curvature::Exact => stress,
            Curvature::Positive => stress.max(0.0),
            Curvature::Material => 0.0,
        };
        opposed(&((along / *l_bar + (Matrix::identity() - along) * across) * self.stiffness))
    }

    fn mixed_hessian(&self, x: &Vector<6>, x_bar: &Vector<6>) -> Matrix<6, 6> {
        let ((l, t), (l_bar, t_bar)) = (ends(x), ends(x_bar));
        opposed(&(t * t_bar.transpose() * (-self.stiffness * l / (l_bar * l_bar))))
    }

    fn material_names() -> &'static [&'static str] {
        &<Self as MaterialEnergy<6, 1>>::PARAMETERS
    }

    fn add_material_product(
        &self,
        x: &Vector<6>,
        x_bar: &Vector<6>,
        lambda: &Vector<6>,
        out: &mut [f64],
    ) {
        material_product::<6, 1, _>(self, x, x_bar, lambda, out);
    }
}

impl MaterialEnergy<6, 1> for EdgeStretch {
    const PARAMETERS: [&'static str; 1] = ["k_length"];

    fn parameters(&self) -> Vector<1> {
        Vector::<1>::new(self.stiffness)
    }

    fn with_parameters(&self, p: &Vector<1>) -> Self {
        Self { stiffness: p[0] }
    }

    fn material_hessian(&self, x: &Vector<6>, x_bar: &Vector<6>) -> Matrix<6, 1> {
        Self { stiffness: 1.0 }.gradient(x, &self.rest(x_bar))
    }
}
