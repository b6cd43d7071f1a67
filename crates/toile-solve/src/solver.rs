//! The one shape all direct solvers share.

use crate::{Cholesky, Ldlt, Lu, SolveError, SolveReport};

/// Factorise once, solve many times.
///
/// `values` are the entries of the matrix in the order of the pattern the solver was made for.
pub trait LinearSolver {
    /// Number of unknowns.
    fn dimension(&self) -> usize;

    /// Computes the factors of the matrix with these entries. After a failure no solve is possible.
    fn factorize(&mut self, values: &[f64]) -> Result<(), SolveError>;

    /// Solves A x = `rhs` with the factors at hand, measures and refines. `values` must be those
    /// that were factorised, or those of a nearby matrix that refinement is to solve instead.
    fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError>;
}

impl LinearSolver for Cholesky {
    fn dimension(&self) -> usize {
        self.dimension()
    }
    fn factorize(&mut self, values: &[f64]) -> Result<(), SolveError> {
        self.factorize(values)
    }
    fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.solve(values, rhs, x)
    }
}

impl LinearSolver for Ldlt {
    fn dimension(&self) -> usize {
        self.dimension()
    }
    fn factorize(&mut self, values: &[f64]) -> Result<(), SolveError> {
        self.factorize(values, None).map(|_| ())
    }
    fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.solve(values, rhs, x)
    }
}

impl LinearSolver for Lu {
    fn dimension(&self) -> usize {
        self.dimension()
    }
    fn factorize(&mut self, values: &[f64]) -> Result<(), SolveError> {
        self.factorize(values)
    }
    fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.solve(values, rhs, x)
    }
}
