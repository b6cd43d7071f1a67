//! Weight, with masses that follow the rest shape.

use toile_num::{Matrix, Scalar, Vector};

use crate::area::{area, area_gradient};
use crate::stencil::material_product;
use crate::{Curvature, MaterialEnergy, StencilEnergy};

/// Weight of one face: E = −(σ Ā/3) **g** · (x₀ + x₁ + x₂), a third of its mass at each corner.
///
/// The mass is that of the *rest* face: without ∂m/∂x̄ in the mixed Hessian inverse design weighs the wrong garment.
/// Reference: Ly 2021, §5.3.2 with the sign of **g** corrected. Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct Gravity {
    /// σ, mass per rest area \[kg/m²\].
    pub areal_density: f64,
    /// **g** \[m/s²\].
    pub acceleration: Vector<3>,
}

impl Gravity {
    /// Weight at each corner of a face of unit mass per corner, as a gradient: −**g** three times.
    fn pull(&self) -> Vector<9> {
        Vector::from_fn(|i, _| -self.acceleration[i % 3])
    }
}

impl StencilEnergy<9> for Gravity {
    const NODES: &'static [u8] = &[3, 3, 3];
    const TRANSLATION_INVARIANT: bool = false;
    const LINEAR: bool = true;
    /// Mass at each corner \[kg\].
    type Rest = f64;

    fn rest(&self, x_bar: &Vector<9>) -> f64 {
        self.areal_density * area(x_bar) / 3.0
    }

    fn value<T: Scalar>(&self, x: &Vector<9, T>, x_bar: &Vector<9, T>) -> T {
        let mut height = T::zero();
        for i in 0..9 {
            height -= x[i] * self.acceleration[i % 3];
        }
        area(x_bar) * height * (self.areal_density / 3.0)
    }

    fn energy(&self, x: &Vector<9>, mass: &f64) -> f64 {
        self.pull().dot(x) * mass
    }

    fn gradient(&self, _: &Vector<9>, mass: &f64) -> Vector<9> {
        self.pull() * *mass
    }

    fn hessian(&self, _: &Vector<9>, _: &f64, _: Curvature) -> Matrix<9, 9> {
        Matrix::zeros()
    }

    fn mixed_hessian(&self, _: &Vector<9>, x_bar: &Vector<9>) -> Matrix<9, 9> {
        self.pull() * area_gradient(x_bar).transpose() * (self.areal_density / 3.0)
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

impl MaterialEnergy<9, 1> for Gravity {
    const PARAMETERS: [&'static str; 1] = ["areal_density"];

    fn parameters(&self) -> Vector<1> {
        Vector::<1>::new(self.areal_density)
    }

    fn with_parameters(&self, p: &Vector<1>) -> Self {
        Self { areal_density: p[0], ..*self }
    }

    fn material_hessian(&self, x: &Vector<9>, x_bar: &Vector<9>) -> Matrix<9, 1> {
        let unit = self.with_parameters(&Vector::<1>::new(1.0));
        unit.gradient(x, &unit.rest(x_bar))
    }
}
