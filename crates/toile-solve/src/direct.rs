//! What the two symmetric factorisations share: storage, checks, measured solves.

use crate::backend::{Kind, SymmetricFactor};
use crate::error::{check_finite, check_length};
use crate::refine::{Workspace, refine};
use crate::{FactorSettings, SolveError, SolveReport, SymmetricPattern};
use std::sync::Arc;

/// Pattern, factor and the vectors of a refined solve.
pub(crate) struct SymmetricSolver {
    pub(crate) pattern: Arc<SymmetricPattern>,
    pub(crate) factor: SymmetricFactor,
    pub(crate) settings: FactorSettings,
    /// ‖A‖∞ of the factorised matrix, none without a valid factor.
    norm: Option<f64>,
    work: Workspace,
}

impl SymmetricSolver {
    pub(crate) fn new(
        pattern: Arc<SymmetricPattern>,
        kind: Kind,
        settings: FactorSettings,
    ) -> Result<Self, SolveError> {
        pattern.check()?;
        Ok(Self {
            factor: SymmetricFactor::new(&pattern, kind, &settings)?,
            work: Workspace::new(pattern.n),
            norm: None,
            settings,
            pattern,
        })
    }

    /// Checks the values of a matrix about to be factorised; returns ‖A‖∞. The old factor is void
    /// from here on.
    pub(crate) fn begin(&mut self, values: &[f64]) -> Result<f64, SolveError> {
        self.norm = None;
        check_length("matrix values", values.len(), self.pattern.nnz())?;
        let norm = self.pattern.norm_inf(values, self.work.scratch());
        if norm.is_finite() { Ok(norm) } else { Err(SolveError::NotFinite { what: "matrix" }) }
    }

    /// Declares the factor valid, after a look at its pivots.
    ///
    /// The pivots are enough: a NaN or infinity in row i of L enters pivot i.
    pub(crate) fn finish(&mut self, norm: f64) -> Result<(), SolveError> {
        if !self.factor.has_finite_pivots() {
            return Err(SolveError::NotFinite { what: "factor" });
        }
        self.norm = Some(norm);
        Ok(())
    }

    pub(crate) fn is_factorized(&self) -> bool {
        self.norm.is_some()
    }

    pub(crate) fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.solve_many(values, rhs, x, 1)
    }

    pub(crate) fn solve_many(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
        columns: usize,
    ) -> Result<SolveReport, SolveError> {
        let n = self.pattern.n;
        let norm = self.norm.ok_or(SolveError::NotFactorized)?;
        check_length("matrix values", values.len(), self.pattern.nnz())?;
        check_length("right-hand side", rhs.len(), n.saturating_mul(columns))?;
        check_length("solution", x.len(), n.saturating_mul(columns))?;
        check_finite("right-hand side", rhs)?;
        if n == 0 || columns == 0 {
            return Ok(SolveReport::default());
        }
        self.factor.reserve_solve(columns)?;
        x.copy_from_slice(rhs);
        // The costly pass over the factor is shared by all columns; refinement, rarely needed, is not.
        self.factor.solve_in_place(x, columns);
        let mut report = SolveReport::default();
        for (rhs, x) in rhs.chunks_exact(n).zip(x.chunks_exact_mut(n)) {
            let column = refine(
                |v| self.factor.solve_in_place(v, 1),
                |x, y| self.pattern.multiply(values, x, y),
                norm,
                rhs,
                x,
                &self.settings,
                &mut self.work,
            )?;
            report = report.worst(column);
        }
        Ok(report)
    }

    /// Panics without a valid factor or with a vector of the wrong length.
    pub(crate) fn apply_inverse(&mut self, x: &mut [f64]) {
        assert!(self.is_factorized(), "apply_inverse needs a valid factor");
        self.factor.solve_in_place(x, 1);
    }
}
