//! LU with partial pivoting of a matrix given by columns.

use super::{allocate, parallelism, too_large};
use crate::{FactorSettings, GeneralPattern, SolveError};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::LuError;
use faer::sparse::linalg::lu::{self, LuRef, NumericLu, SymbolicLu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par};

/// Symbolic analysis, factors and working memory, reused from one factorisation to the next.
pub(crate) struct GeneralFactor {
    matrix: SymbolicSparseColMat<usize>,
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
    factor_memory: MemBuffer,
    solve_memory: MemBuffer,
    solve_columns: usize,
    par: Par,
}

impl GeneralFactor {
    /// Analyses a checked pattern of full structural rank.
    pub(crate) fn new(
        pattern: &GeneralPattern,
        settings: &FactorSettings,
    ) -> Result<Self, SolveError> {
        let n = pattern.n;
        let par = parallelism(settings.threads);
        let matrix = SymbolicSparseColMat::new_checked(
            n,
            n,
            pattern.col_ptr.clone(),
            None,
            pattern.row_idx.clone(),
        );
        let symbolic =
            lu::factorize_symbolic_lu(matrix.as_ref(), Default::default()).map_err(too_large)?;
        let factor_memory =
            allocate(symbolic.factorize_numeric_lu_scratch::<f64>(par, Default::default()))?;
        let mut this = Self {
            matrix,
            symbolic,
            numeric: NumericLu::new(),
            factor_memory,
            solve_memory: allocate(StackReq::empty())?,
            solve_columns: 0,
            par,
        };
        this.reserve_solve(1)?;
        Ok(this)
    }

    /// PAQ = LU. A pivot that is numerically zero goes unnoticed here: the caller probes the factors.
    pub(crate) fn factorize(&mut self, values: &[f64]) -> Result<(), SolveError> {
        self.symbolic
            .factorize_numeric_lu(
                &mut self.numeric,
                SparseColMatRef::new(self.matrix.as_ref(), values),
                self.par,
                MemStack::new(&mut self.factor_memory),
                Default::default(),
            )
            .map(|_| ())
            .map_err(|error| match error {
                LuError::SymbolicSingular { .. } => SolveError::Singular,
                LuError::Generic(error) => too_large(error),
            })
    }

    /// Makes room for solves with that many right-hand sides at once.
    pub(crate) fn reserve_solve(&mut self, columns: usize) -> Result<(), SolveError> {
        if columns > self.solve_columns {
            let req = self
                .symbolic
                .solve_in_place_scratch::<f64>(columns, Par::Seq)
                .or(self.symbolic.solve_transpose_in_place_scratch::<f64>(columns, Par::Seq));
            self.solve_memory = allocate(req)?;
            self.solve_columns = columns;
        }
        Ok(())
    }

    /// X ← A⁻¹X, or A⁻ᵀX, for column-major X, in one thread.
    ///
    /// Panics when X does not hold whole columns, or without factors.
    pub(crate) fn solve_in_place(&mut self, x: &mut [f64], columns: usize, transposed: bool) {
        let n = self.matrix.nrows();
        assert_eq!(x.len(), n * columns);
        assert!(columns <= self.solve_columns);
        if n == 0 || columns == 0 {
            return;
        }
        let factors = LuRef::new_unchecked(&self.symbolic, &self.numeric);
        let stack = MemStack::new(&mut self.solve_memory);
        let x = MatMut::from_column_major_slice_mut(x, n, columns);
        if transposed {
            factors.solve_transpose_in_place_with_conj(Conj::No, x, Par::Seq, stack);
        } else {
            factors.solve_in_place_with_conj(Conj::No, x, Par::Seq, stack);
        }
    }
}
