//! PAQ = LU for general square matrices.

use crate::backend::GeneralFactor;
use crate::error::{check_finite, check_length};
use crate::pattern::{check_columns, position};
use crate::refine::{Workspace, norm_max, refine};
use crate::{FactorSettings, SolveError, SolveReport};
use std::sync::Arc;

/// Square matrix in compressed columns, rows sorted, in the caller's own order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneralPattern {
    /// Number of unknowns.
    pub n: usize,
    /// Column j occupies `col_ptr[j]..col_ptr[j + 1]`.
    pub col_ptr: Vec<usize>,
    /// Row of each entry.
    pub row_idx: Vec<usize>,
}

impl GeneralPattern {
    /// A checked pattern, see [`GeneralPattern::check`].
    pub fn new(n: usize, col_ptr: Vec<usize>, row_idx: Vec<usize>) -> Result<Self, SolveError> {
        let pattern = Self { n, col_ptr, row_idx };
        pattern.check()?;
        Ok(pattern)
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }

    /// Index in the value array of entry (row, column), if it is stored.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        position(&self.col_ptr, &self.row_idx, row, column)
    }

    /// Checks that columns are in range, sorted, without repetition.
    pub fn check(&self) -> Result<(), SolveError> {
        check_columns(self.n, &self.col_ptr, &self.row_idx, |_, _| None)
    }

    /// y = A x, in one thread and one order.
    ///
    /// Panics when an array does not have the length of the pattern.
    pub fn multiply(&self, values: &[f64], x: &[f64], y: &mut [f64]) {
        assert_eq!(values.len(), self.nnz(), "one value per stored entry");
        assert_eq!(x.len(), self.n, "x has one entry per unknown");
        assert_eq!(y.len(), self.n, "y has one entry per unknown");
        y.fill(0.0);
        for j in 0..self.n {
            let column = self.col_ptr[j]..self.col_ptr[j + 1];
            for (&i, &v) in self.row_idx[column.clone()].iter().zip(&values[column]) {
                y[i] += v * x[j];
            }
        }
    }

    /// y = Aᵀx, in one thread and one order.
    ///
    /// Panics when an array does not have the length of the pattern.
    pub fn multiply_transposed(&self, values: &[f64], x: &[f64], y: &mut [f64]) {
        assert_eq!(values.len(), self.nnz(), "one value per stored entry");
        assert_eq!(x.len(), self.n, "x has one entry per unknown");
        assert_eq!(y.len(), self.n, "y has one entry per unknown");
        for j in 0..self.n {
            let column = self.col_ptr[j]..self.col_ptr[j + 1];
            y[j] = self.row_idx[column.clone()]
                .iter()
                .zip(&values[column])
                .map(|(&i, &v)| v * x[i])
                .sum();
        }
    }

    /// The largest number of columns that can be given a row of their own, each among its entries:
    /// below n the matrix is singular for all values.
    ///
    /// Augmenting paths, without recursion. Reference: Duff 1981, "On algorithms for obtaining a
    /// maximum transversal".
    pub fn structural_rank(&self) -> usize {
        const FREE: usize = usize::MAX;
        let mut column_of_row = vec![FREE; self.n];
        let mut seen = vec![FREE; self.n];
        // Next entry of a column to look at: once for free rows overall, once per search.
        let mut cheap = self.col_ptr.clone();
        let mut next = vec![0; self.n];
        let mut path: Vec<usize> = Vec::new();
        let mut rank = 0;
        for start in 0..self.n {
            path.clear();
            path.push(start);
            seen[start] = start;
            next[start] = self.col_ptr[start];
            'search: while let Some(&j) = path.last() {
                while cheap[j] < self.col_ptr[j + 1] {
                    let row = self.row_idx[cheap[j]];
                    cheap[j] += 1;
                    if column_of_row[row] == FREE {
                        // Each column of the path takes the row that led onwards from it.
                        column_of_row[row] = j;
                        for &k in path[..path.len() - 1].iter() {
                            column_of_row[self.row_idx[next[k] - 1]] = k;
                        }
                        rank += 1;
                        break 'search;
                    }
                }
                let mut deeper = None;
                while next[j] < self.col_ptr[j + 1] {
                    let row = self.row_idx[next[j]];
                    next[j] += 1;
                    let owner = column_of_row[row];
                    if seen[owner] != start {
                        seen[owner] = start;
                        next[owner] = self.col_ptr[owner];
                        deeper = Some(owner);
                        break;
                    }
                }
                match deeper {
                    Some(owner) => path.push(owner),
                    None => {
                        path.pop();
                    }
                }
            }
        }
        rank
    }

    /// ‖A‖∞ and ‖A‖₁; NaN or infinite as soon as an entry is.
    fn norms(&self, values: &[f64], row_sums: &mut [f64]) -> (f64, f64) {
        row_sums.fill(0.0);
        let mut norm_one = 0.0;
        for j in 0..self.n {
            let column = self.col_ptr[j]..self.col_ptr[j + 1];
            let mut sum = 0.0;
            for (&i, &v) in self.row_idx[column.clone()].iter().zip(&values[column]) {
                row_sums[i] += v.abs();
                sum += v.abs();
            }
            if sum.is_nan() || sum > norm_one {
                norm_one = sum;
            }
        }
        (norm_max(row_sums), norm_one)
    }
}

/// Sparse factorisation PAQ = LU with partial pivoting (rows P chosen by size, columns Q chosen once
/// for little fill).
///
/// The column order and the analysis are reused; the factors keep their memory but may grow, since
/// pivoting decides their pattern. Same values, same bits, for any number of threads.
pub struct Lu {
    pattern: Arc<GeneralPattern>,
    factor: GeneralFactor,
    settings: FactorSettings,
    /// ‖A‖∞ and ‖A‖₁ of the factorised matrix, none without valid factors.
    norms: Option<(f64, f64)>,
    work: Workspace,
}

impl Lu {
    /// Analyses a pattern, with default settings.
    pub fn new(pattern: Arc<GeneralPattern>) -> Result<Self, SolveError> {
        Self::with_settings(pattern, FactorSettings::default())
    }

    /// Analyses a pattern; refuses one that is singular for all values.
    pub fn with_settings(
        pattern: Arc<GeneralPattern>,
        settings: FactorSettings,
    ) -> Result<Self, SolveError> {
        pattern.check()?;
        let rank = pattern.structural_rank();
        if rank < pattern.n {
            return Err(SolveError::StructurallySingular { rank, n: pattern.n });
        }
        Ok(Self {
            factor: GeneralFactor::new(&pattern, &settings)?,
            work: Workspace::new(pattern.n),
            norms: None,
            settings,
            pattern,
        })
    }

    /// Number of unknowns.
    pub fn dimension(&self) -> usize {
        self.pattern.n
    }

    /// The analysed pattern.
    pub fn pattern(&self) -> &Arc<GeneralPattern> {
        &self.pattern
    }

    /// Whether the last factorisation succeeded.
    pub fn is_factorized(&self) -> bool {
        self.norms.is_some()
    }

    /// Factorises the matrix with these entries (in the order of the pattern).
    ///
    /// Vanishing pivots do not stop the elimination, so the factors are probed with one solve:
    /// [`SolveError::Singular`] when that leaves the finite numbers.
    pub fn factorize(&mut self, values: &[f64]) -> Result<(), SolveError> {
        self.norms = None;
        check_length("matrix values", values.len(), self.pattern.nnz())?;
        let norms = self.pattern.norms(values, self.work.scratch());
        if !(norms.0.is_finite() && norms.1.is_finite()) {
            return Err(SolveError::NotFinite { what: "matrix" });
        }
        if self.pattern.n == 0 {
            self.norms = Some(norms);
            return Ok(());
        }
        self.factor.factorize(values)?;
        let probe = self.work.scratch();
        for (i, p) in probe.iter_mut().enumerate() {
            // No particular vector: entries of changing size and sign.
            *p = norms.0 * (1.0 + i as f64).sin();
        }
        self.factor.solve_in_place(probe, 1, false);
        // A solution as large as 1/ε says that A has lost rank to working precision.
        let size = norm_max(probe);
        if size.is_nan() || size >= 1.0 / f64::EPSILON {
            return Err(SolveError::Singular);
        }
        self.norms = Some(norms);
        Ok(())
    }

    /// Solves A x = `rhs`, measures and refines, as [`Cholesky::solve`](crate::Cholesky::solve).
    pub fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.solve_columns(values, rhs, x, 1, false)
    }

    /// Solves Aᵀx = `rhs` with the same factors: what an adjoint asks for.
    pub fn solve_transposed(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.solve_columns(values, rhs, x, 1, true)
    }

    /// Solves for a block of right-hand sides, as
    /// [`Cholesky::solve_many`](crate::Cholesky::solve_many).
    pub fn solve_many(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
        columns: usize,
    ) -> Result<SolveReport, SolveError> {
        self.solve_columns(values, rhs, x, columns, false)
    }

    fn solve_columns(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
        columns: usize,
        transposed: bool,
    ) -> Result<SolveReport, SolveError> {
        let n = self.pattern.n;
        let norms = self.norms.ok_or(SolveError::NotFactorized)?;
        check_length("matrix values", values.len(), self.pattern.nnz())?;
        check_length("right-hand side", rhs.len(), n.saturating_mul(columns))?;
        check_length("solution", x.len(), n.saturating_mul(columns))?;
        check_finite("right-hand side", rhs)?;
        if n == 0 || columns == 0 {
            return Ok(SolveReport::default());
        }
        self.factor.reserve_solve(columns)?;
        x.copy_from_slice(rhs);
        self.factor.solve_in_place(x, columns, transposed);
        let mut report = SolveReport::default();
        for (rhs, x) in rhs.chunks_exact(n).zip(x.chunks_exact_mut(n)) {
            let column = refine(
                |v| self.factor.solve_in_place(v, 1, transposed),
                |x, y| {
                    if transposed {
                        self.pattern.multiply_transposed(values, x, y);
                    } else {
                        self.pattern.multiply(values, x, y);
                    }
                },
                if transposed { norms.1 } else { norms.0 },
                rhs,
                x,
                &self.settings,
                &mut self.work,
            )?;
            report = report.worst(column);
        }
        Ok(report)
    }
}
