//! Bending at the tip of a dart, where a seam begins between two edges of one panel.

use toile_num::{Matrix, Scalar, Vector};

use crate::seam::SeamRest;
use crate::stencil::material_product;
use crate::{Curvature, HingeBend, MaterialEnergy, SeamBend, StencilEnergy};

/// [`SeamBend`] whose two edges have an end in common, the tip: the same energy of one point less.
///
/// Points (c, t, p, d, a): the first face has the apex c and the edge from the tip t to p, the second the apex d and the edge from t to a. In the six
/// points of the seam the tip stands twice, so derivatives by it are the sum of both: with x₁₈ = P x₁₅, gradients are Pᵀ g and Hessians Pᵀ H P.
/// Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DartBend {
    /// The seam of the two edges.
    pub seam: SeamBend,
    /// Which end of its edge the tip is, 0 or 1, in the first face and in the second.
    pub tip: [u8; 2],
}

impl DartBend {
    /// The point that each of the six points of the seam is.
    fn nodes(&self) -> [usize; 6] {
        let edge = |tip: u8, other: usize| if tip == 0 { [1, other] } else { [other, 1] };
        let ([p, q], [a, b]) = (edge(self.tip[0], 2), edge(self.tip[1], 4));
        [0, p, q, 3, a, b]
    }

    /// P x.
    fn doubled<T: Scalar>(&self, x: &Vector<15, T>) -> Vector<18, T> {
        let nodes = self.nodes();
        Vector::<18, T>::from_fn(|i, _| x[3 * nodes[i / 3] + i % 3])
    }

    /// Pᵀ g.
    fn summed(&self, g: &Vector<18>) -> Vector<15> {
        let mut sum = Vector::<15>::zeros();
        for (k, node) in self.nodes().into_iter().enumerate() {
            let mut rows = sum.fixed_rows_mut::<3>(3 * node);
            rows += g.fixed_rows::<3>(3 * k);
        }
        sum
    }

    /// Pᵀ H P.
    fn summed_hessian(&self, h: &Matrix<18, 18>) -> Matrix<15, 15> {
        let mut sum = Matrix::<15, 15>::zeros();
        let nodes = self.nodes();
        for (i, row) in nodes.into_iter().enumerate() {
            for (j, column) in nodes.into_iter().enumerate() {
                let mut block = sum.fixed_view_mut::<3, 3>(3 * row, 3 * column);
                block += h.fixed_view::<3, 3>(3 * i, 3 * j);
            }
        }
        sum
    }
}

impl StencilEnergy<15> for DartBend {
    const NODES: &'static [u8] = &[3; 5];
    const CORE: usize = 3;
    type Rest = SeamRest;

    fn rest(&self, x_bar: &Vector<15>) -> SeamRest {
        self.seam.rest(&self.doubled(x_bar))
    }

    fn value<T: Scalar>(&self, x: &Vector<15, T>, x_bar: &Vector<15, T>) -> T {
        self.seam.value(&self.doubled(x), &self.doubled(x_bar))
    }

    fn energy(&self, x: &Vector<15>, rest: &SeamRest) -> f64 {
        self.seam.energy(&self.doubled(x), rest)
    }

    fn gradient(&self, x: &Vector<15>, rest: &SeamRest) -> Vector<15> {
        self.summed(&self.seam.gradient(&self.doubled(x), rest))
    }

    fn hessian(&self, x: &Vector<15>, rest: &SeamRest, curvature: Curvature) -> Matrix<15, 15> {
        self.summed_hessian(&self.seam.hessian(&self.doubled(x), rest, curvature))
    }

    fn mixed_hessian(&self, x: &Vector<15>, x_bar: &Vector<15>) -> Matrix<15, 15> {
        self.summed_hessian(&self.seam.mixed_hessian(&self.doubled(x), &self.doubled(x_bar)))
    }

    fn material_names() -> &'static [&'static str] {
        HingeBend::material_names()
    }

    fn add_material_product(
        &self,
        x: &Vector<15>,
        x_bar: &Vector<15>,
        lambda: &Vector<15>,
        out: &mut [f64],
    ) {
        material_product::<15, 1, _>(self, x, x_bar, lambda, out);
    }
}

impl MaterialEnergy<15, 1> for DartBend {
    const PARAMETERS: [&'static str; 1] = ["k_bend"];

    fn parameters(&self) -> Vector<1> {
        self.seam.parameters()
    }

    fn with_parameters(&self, p: &Vector<1>) -> Self {
        Self { seam: self.seam.with_parameters(p), ..*self }
    }

    fn material_hessian(&self, x: &Vector<15>, x_bar: &Vector<15>) -> Matrix<15, 1> {
        self.summed(&self.seam.material_hessian(&self.doubled(x), &self.doubled(x_bar)))
    }
}
