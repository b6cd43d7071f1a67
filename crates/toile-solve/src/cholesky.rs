//! A = LLᵀ for symmetric positive definite matrices.

use crate::backend::{Compliance, Kind};
use crate::direct::SymmetricSolver;
use crate::{FactorSettings, SolveError, SolveReport, SymmetricPattern};
use std::sync::Arc;

/// Sparse Cholesky factorisation A = LLᵀ, L lower triangular.
///
/// Analysis, factor and scratch are made once by [`Cholesky::new`] and reused: a factorisation allocates
/// no number. Same values, same bits, for any number of threads. Fails cleanly on the first
/// pivot that is not positive, which makes it the cheapest test of positive definiteness.
pub struct Cholesky {
    pub(crate) inner: SymmetricSolver,
}

impl Cholesky {
    /// Analyses a pattern, with default settings.
    pub fn new(pattern: Arc<SymmetricPattern>) -> Result<Self, SolveError> {
        Self::with_settings(pattern, FactorSettings::default())
    }

    /// Analyses a pattern.
    pub fn with_settings(
        pattern: Arc<SymmetricPattern>,
        settings: FactorSettings,
    ) -> Result<Self, SolveError> {
        let inner = SymmetricSolver::new(pattern, Kind::Llt, settings)?;
        Ok(Self { inner })
    }

    /// Number of unknowns.
    pub fn dimension(&self) -> usize {
        self.inner.pattern.n
    }

    /// The analysed pattern.
    pub fn pattern(&self) -> &Arc<SymmetricPattern> {
        &self.inner.pattern
    }

    /// Entries of the stored factor, zeros inside its dense blocks included.
    pub fn factor_entries(&self) -> usize {
        self.inner.factor.factor_entries()
    }

    /// Whether the factor is stored in dense blocks.
    pub fn is_supernodal(&self) -> bool {
        self.inner.factor.is_supernodal()
    }

    /// Whether the last factorisation succeeded.
    pub fn is_factorized(&self) -> bool {
        self.inner.is_factorized()
    }

    /// Factorises the matrix with these entries (in the order of the pattern).
    ///
    /// [`SolveError::NotPositiveDefinite`] names the first column without a positive pivot,
    /// [`SolveError::NotFinite`] tells of NaN or infinity. After a failure there is no factor.
    pub fn factorize(&mut self, values: &[f64]) -> Result<(), SolveError> {
        let norm = self.inner.begin(values)?;
        self.inner
            .factor
            .factorize_llt(values)
            .map_err(|column| SolveError::NotPositiveDefinite { column })?;
        self.inner.finish(norm)
    }

    /// Solves A x = `rhs`, measures ‖Ax − b‖/‖b‖ with `values`, and refines until it is at the
    /// target of the settings, at rounding level, or no longer halves.
    ///
    /// `values` are those factorised; given those of a nearby matrix, refinement solves that one.
    pub fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.inner.solve(values, rhs, x)
    }

    /// Solves A X = B for `columns` right-hand sides stored one after the other (column-major), as
    /// [`Cholesky::solve`] does for one but in one pass over the factor for eight columns,
    /// which cost about as much as three alone. Reports the worst column.
    pub fn solve_many(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
        columns: usize,
    ) -> Result<SolveReport, SolveError> {
        self.inner.solve_many(values, rhs, x, columns)
    }

    /// x ← A⁻¹x, raw: no check, no refinement. For Lanczos iterations and preconditioning.
    ///
    /// Panics without a valid factor or when x has not one entry per unknown.
    pub fn apply_inverse(&mut self, x: &mut [f64]) {
        self.inner.apply_inverse(x);
    }

    /// How what was eliminated from unknown `first` on yields; made for columns given to it.
    pub fn compliance(&self, first: usize) -> Result<Compliance, SolveError> {
        if !self.is_factorized() {
            return Err(SolveError::NotFactorized);
        }
        Ok(Compliance::new(self.inner.factor.tail(first)?, self.inner.pattern.n - first))
    }

    /// log det A = 2 Σ log Lⱼⱼ, of the factorised matrix.
    pub fn log_determinant(&self) -> Result<f64, SolveError> {
        if !self.is_factorized() {
            return Err(SolveError::NotFactorized);
        }
        let mut sum = 0.0;
        self.inner.factor.for_each_pivot(|_, pivot| sum += 2.0 * pivot.ln());
        Ok(sum)
    }
}
