//! The Koiter face as an energy of stencils with and without edge angles.

use toile_num::lanes::LANES;
use toile_num::{Matrix, Scalar, Vector};

use crate::stencil::material_product;
use crate::{Curvature, KoiterFace, KoiterRest, MaterialEnergy, StencilEnergy, Together};

/// The face as an energy of a stencil with so many coordinates.
macro_rules! face_stencil {
    ($n:literal, $nodes:expr, $core:literal) => {
        impl StencilEnergy<$n> for KoiterFace {
            const NODES: &'static [u8] = &$nodes;
            const CORE: usize = $core;
            const TOGETHER: bool = true;
            type Rest = KoiterRest;

            fn rest(&self, x_bar: &Vector<$n>) -> KoiterRest {
                self.rest_of(x_bar)
            }

            fn value<T: Scalar>(&self, x: &Vector<$n, T>, x_bar: &Vector<$n, T>) -> T {
                self.value_of(x, x_bar)
            }

            fn energy(&self, x: &Vector<$n>, rest: &KoiterRest) -> f64 {
                self.energy_of(x, rest)
            }

            fn gradient(&self, x: &Vector<$n>, rest: &KoiterRest) -> Vector<$n> {
                self.gradient_of(x, rest)
            }

            fn hessian(
                &self,
                x: &Vector<$n>,
                rest: &KoiterRest,
                curvature: Curvature,
            ) -> Matrix<$n, $n> {
                self.full_hessian(x, None, rest, curvature)
            }

            fn secant_hessian(
                &self,
                x: &Vector<$n>,
                before: &Vector<$n>,
                rest: &KoiterRest,
                curvature: Curvature,
            ) -> Matrix<$n, $n> {
                self.full_hessian(x, Some(before), rest, curvature)
            }

            fn hessian_into(
                &self,
                x: &Vector<$n>,
                before: Option<&Vector<$n>>,
                rest: &KoiterRest,
                curvature: Curvature,
                out: &mut Matrix<$n, $n>,
            ) {
                self.write_hessian(x, before, rest, curvature, out);
            }

            fn energy_together(faces: &Together<'_, Self, $n>) -> Option<[f64; LANES]> {
                Self::energies(faces)
            }

            fn gradient_together(
                faces: &Together<'_, Self, $n>,
                out: &mut [f64],
            ) -> Option<[f64; LANES]> {
                Self::gradients(faces, out)
            }

            fn hessian_together(
                faces: &Together<'_, Self, $n>,
                curvature: Curvature,
                out: &mut [f64],
            ) -> bool {
                Self::hessians(faces, curvature, out)
            }

            fn mixed_hessian(&self, x: &Vector<$n>, x_bar: &Vector<$n>) -> Matrix<$n, $n> {
                self.mixed_hessian_of(x, x_bar)
            }

            fn material_names() -> &'static [&'static str] {
                &PARAMETERS
            }

            fn add_material_product(
                &self,
                x: &Vector<$n>,
                x_bar: &Vector<$n>,
                lambda: &Vector<$n>,
                out: &mut [f64],
            ) {
                material_product::<$n, 8, _>(self, x, x_bar, lambda, out);
            }
        }

        impl MaterialEnergy<$n, 8> for KoiterFace {
            const PARAMETERS: [&'static str; 8] = PARAMETERS;

            fn parameters(&self) -> Vector<8> {
                let s = &self.stiffness;
                Vector::from_fn(|i, _| if i < 4 { s.membrane[i] } else { s.bending[i - 4] })
            }

            fn with_parameters(&self, p: &Vector<8>) -> Self {
                self.scaled(p)
            }

            fn material_hessian(&self, x: &Vector<$n>, x_bar: &Vector<$n>) -> Matrix<$n, 8> {
                self.material_hessian_of(x, x_bar)
            }
        }
    };
}

const PARAMETERS: [&str; 8] = [
    "membrane_11",
    "membrane_12",
    "membrane_22",
    "membrane_66",
    "bending_11",
    "bending_12",
    "bending_22",
    "bending_66",
];

face_stencil!(21, [3, 3, 3, 3, 3, 3, 1, 1, 1], 9);
face_stencil!(18, [3, 3, 3, 3, 3, 3], 3);
