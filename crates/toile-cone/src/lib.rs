//! Dry friction as a conic complementarity problem, solved to round-off; usable alone.
//!
//! Find forces r and velocities u of all contacts, components normal first, with
//!
//! ```text
//! u = W r + b      K_μ ∋ r ⟂ u + μ‖u_T‖e_N ∈ K*      K_μ = {‖r_T‖ ≤ μ r_N}
//! ```
//!
//! which is take-off (r = 0), stick (u = 0) or slip (r on the cone, against u). Without the shift
//! μ‖u_T‖ it is a convex cone problem: [`Law::SecondOrderCone`].
//!
//! ```
//! use nalgebra::DMatrix;
//! use toile_cone::{Auto, DenseOperator, Problem, Settings, Solver, Status};
//!
//! // A block of 1 kg, pressed down at 1 m/s and pushed sideways at 2 m/s, μ = 0.5.
//! let w = DenseOperator::<3>::new(DMatrix::identity(3, 3))?;
//! let problem = Problem::new(&w, &[-1.0, 2.0, 0.0], &[0.5])?;
//! let found = Auto.solve(&problem, None, &Settings::default(), &|_, _| true);
//! assert!(found.converged() && found.status == [Status::Slip]);
//! assert!((found.u[1] - 1.5).abs() < 1e-12);
//! # Ok::<(), toile_cone::ProblemError>(())
//! ```
//!
//! | need | go to |
//! |---|---|
//! | W entry by entry, in blocks, through M⁻¹ | [`DenseOperator`], [`BlockSparseOperator`], [`FactoredOperator`] |
//! | a solver without choosing | [`Auto`], by name [`solver_named`] |
//! | few iterations, exact contacts | [`GaussSeidel`] |
//! | quadratic convergence | [`AlartCurnierNewton`] |
//! | one factorisation, hard problems | [`Admm`] |
//! | only products with W | [`ProjectedGradient`] |
//! | convex subproblems; pyramids to compare with | [`Cadoux`], [`Faceted`] |
//! | one contact | [`Contact`] |
//! | how forces and velocities move with W, b and μ | [`sensitivity`] |
//! | how good is a force | [`Problem::residuals`] |
//!
//! No solver fails: each returns its best force, why it stopped, and all four residuals. Same input,
//! same bits, for any number of threads.

// Negated comparisons send NaN the way of failure.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod admm;
mod alart_curnier;
mod aligned;
mod banded;
mod block_sparse;
mod cadoux;
mod choice;
mod clusters;
mod cone;
mod error;
mod facets;
mod factored;
mod fischer_burmeister;
mod gauss_seidel;
mod gradient;
mod krylov;
mod local;
mod mixing;
mod newton;
mod operator;
mod problem;
mod random;
mod roots;
mod sensitivity;
mod sheet;
mod small;
mod solver;

/// Parts that have tests of their own.
#[doc(hidden)]
pub mod internal {
    pub use crate::alart_curnier::linearised;
    pub use crate::facets::lemke;
    pub use crate::operator::dot;
    pub use crate::problem::operator_norm;
}

pub use admm::Admm;
pub use alart_curnier::contact_residual;
pub use aligned::AlignedContact;
pub use banded::BandedMass;
pub use block_sparse::BlockSparseOperator;
pub use cadoux::Cadoux;
pub use choice::{Auto, SOLVER_NAMES, solver_named};
pub use cone::{Law, Status, project_cone, project_cone_derivative, project_disc, project_dual};
pub use error::ProblemError;
pub use facets::Faceted;
pub use factored::{ContactRows, FactoredOperator, Gram, MassInverse};
pub use fischer_burmeister::{
    contact_derivatives, contact_fischer_burmeister, fischer_burmeister,
    fischer_burmeister_derivatives,
};
pub use gauss_seidel::GaussSeidel;
pub use gradient::ProjectedGradient;
pub use local::{Contact, ContactForce, Sliding, Way};
pub use newton::AlartCurnierNewton;
pub use operator::{DENSE_LIMIT, DenseOperator, Operator, ShiftedSolve, Sweep};
pub use problem::{Problem, Residuals};
pub use random::Random;
pub use sensitivity::{Sensitivity, SensitivityError, sensitivity};
pub use sheet::{SheetProblem, sheet_problem};
pub use solver::{Measure, Settings, Solution, Solver, Stop, Watch};
