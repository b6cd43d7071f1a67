//! Numbers of toile: scalars that carry derivatives, and the checks built on them.
//!
//! Energies are written once, generic over [`Scalar`]: with `f64` they simulate, with [`Dual`] they
//! give derivatives exact to round-off, against which the hand-written ones are tested.

mod check;
mod dual;
pub mod lanes;
pub mod parallel;
pub mod words;

pub use check::{
    ScalarFunction, VectorFunction, assert_close, gradient_of, hessian_of, jacobian_of,
};
pub use dual::{Dual, Scalar};

/// Column vector of fixed size, of any scalar.
pub type Vector<const N: usize, T = f64> = nalgebra::SVector<T, N>;
/// Matrix of fixed size, of any scalar.
pub type Matrix<const R: usize, const C: usize, T = f64> = nalgebra::SMatrix<T, R, C>;
