//! LLᵀ and LDLᵀ of a matrix given by its lower triangle in elimination order.

use super::{allocate, parallelism, too_large, zeros};
use crate::{FactorSettings, SolveError, SymmetricPattern, Variant};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::ldlt::factor::{LdltError, LdltRegularization};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization};
use faer::sparse::linalg::SymbolicSupernodalParams;
use faer::sparse::linalg::cholesky::{simplicial, supernodal};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par};

/// Which factorisation the storage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A = LLᵀ.
    Llt,
    /// A = LDLᵀ, D diagonal, no pivoting.
    Ldlt,
}

/// Pivots of the wrong sign, or smaller than `epsilon`, are replaced by ±`delta`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PivotRegularization<'a> {
    /// Expected sign of each pivot: 1, −1, or 0 for either.
    pub(crate) signs: &'a [i8],
    /// Magnitude below which a pivot is replaced.
    pub(crate) epsilon: f64,
    /// Magnitude of the replacement.
    pub(crate) delta: f64,
}

/// Arithmetic per entry of the factor above which dense blocks pay.
///
/// Measured, factorisation and one solve together: rods whose vertices and edge angles reach two
/// neighbours (5 per entry) cost the same either way, three neighbours (7) are 1.3 times faster in
/// blocks, a sheet of 24 × 24 vertices (above 30) 3.4 times.
const SUPERNODAL_WORK_PER_ENTRY: f64 = 6.0;

enum Symbolic {
    Supernodal(supernodal::SymbolicSupernodalCholesky<usize>),
    Simplicial {
        symbolic: simplicial::SymbolicSimplicialCholesky<usize>,
        /// Upper triangle by columns, which is what the entry-by-entry code reads.
        upper: SymbolicSparseColMat<usize>,
        /// `upper_values[k] = values[from_lower[k]]`.
        from_lower: Vec<usize>,
        upper_values: Vec<f64>,
    },
}

/// Symbolic analysis, factor and working memory, reused from one factorisation to the next.
pub(crate) struct SymmetricFactor {
    kind: Kind,
    symbolic: Symbolic,
    /// Kept as the library's checked type: checking anew would cost a pass over the pattern.
    lower: SymbolicSparseColMat<usize>,
    factor: Vec<f64>,
    factor_memory: MemBuffer,
    solve_memory: MemBuffer,
    /// Right-hand sides `solve_memory` is large enough for.
    solve_columns: usize,
    par: Par,
}

impl SymmetricFactor {
    /// Analyses a pattern that [`SymmetricPattern::check`] has accepted.
    pub(crate) fn new(
        pattern: &SymmetricPattern,
        kind: Kind,
        settings: &FactorSettings,
    ) -> Result<Self, SolveError> {
        let n = pattern.n;
        let par = parallelism(settings.threads);
        let (upper, from_lower) = transpose(pattern);
        let mut parents = vec![0isize; n];
        let mut column_counts = vec![0usize; n];
        let mut memory = allocate(
            StackReq::new::<usize>(n)
                .or(supernodal::factorize_supernodal_symbolic_cholesky_scratch::<usize>(n))
                .or(simplicial::factorize_simplicial_symbolic_cholesky_scratch::<usize>(n)),
        )?;
        let stack = MemStack::new(&mut memory);
        let tree = simplicial::prefactorize_symbolic_cholesky(
            &mut parents,
            &mut column_counts,
            upper.as_ref(),
            stack,
        );
        let use_blocks = match settings.variant {
            Variant::Supernodal => true,
            Variant::Simplicial => false,
            Variant::Auto => work_per_entry(&column_counts) > SUPERNODAL_WORK_PER_ENTRY,
        };
        let (symbolic, factor_len, factor_req) = if use_blocks {
            let symbolic = supernodal::factorize_supernodal_symbolic_cholesky(
                upper.as_ref(),
                tree,
                &column_counts,
                stack,
                SymbolicSupernodalParams::default(),
            )
            .map_err(too_large)?;
            let req = match kind {
                Kind::Llt => supernodal::factorize_supernodal_numeric_llt_scratch::<usize, f64>(
                    &symbolic,
                    par,
                    Default::default(),
                ),
                Kind::Ldlt => supernodal::factorize_supernodal_numeric_ldlt_scratch::<usize, f64>(
                    &symbolic,
                    par,
                    Default::default(),
                ),
            };
            let len = symbolic.len_val();
            (Symbolic::Supernodal(symbolic), len, req)
        } else {
            let symbolic = simplicial::factorize_simplicial_symbolic_cholesky(
                upper.as_ref(),
                tree,
                &column_counts,
                stack,
            )
            .map_err(too_large)?;
            let req = match kind {
                Kind::Llt => simplicial::factorize_simplicial_numeric_llt_scratch::<usize, f64>(n),
                Kind::Ldlt => {
                    simplicial::factorize_simplicial_numeric_ldlt_scratch::<usize, f64>(n)
                }
            };
            let len = symbolic.len_val();
            let upper_values = zeros(pattern.nnz())?;
            (Symbolic::Simplicial { symbolic, upper, from_lower, upper_values }, len, req)
        };
        let lower = SymbolicSparseColMat::new_checked(
            n,
            n,
            pattern.col_ptr.clone(),
            None,
            pattern.row_idx.clone(),
        );
        let mut this = Self {
            kind,
            symbolic,
            lower,
            factor: zeros(factor_len)?,
            factor_memory: allocate(factor_req)?,
            solve_memory: allocate(StackReq::empty())?,
            solve_columns: 0,
            par,
        };
        this.reserve_solve(1)?;
        Ok(this)
    }

    /// Entries of the stored factor, zeros inside dense blocks included.
    pub(crate) fn factor_entries(&self) -> usize {
        self.factor.len()
    }

    /// Whether the factor is stored in dense blocks.
    pub(crate) fn is_supernodal(&self) -> bool {
        matches!(self.symbolic, Symbolic::Supernodal(_))
    }

    /// A = LLᵀ; on failure, the first column without a positive pivot.
    pub(crate) fn factorize_llt(&mut self, values: &[f64]) -> Result<(), usize> {
        assert_eq!(self.kind, Kind::Llt);
        let stack = MemStack::new(&mut self.factor_memory);
        let regularization = LltRegularization::default();
        match &mut self.symbolic {
            Symbolic::Supernodal(symbolic) => supernodal::factorize_supernodal_numeric_llt(
                &mut self.factor,
                SparseColMatRef::new(self.lower.as_ref(), values),
                regularization,
                symbolic,
                self.par,
                stack,
                Default::default(),
            )
            .map_err(|LltError::NonPositivePivot { index }| index)?,
            Symbolic::Simplicial { symbolic, upper, from_lower, upper_values } => {
                gather(upper_values, values, from_lower);
                simplicial::factorize_simplicial_numeric_llt(
                    &mut self.factor,
                    SparseColMatRef::new(upper.as_ref(), upper_values.as_slice()),
                    regularization,
                    symbolic,
                    stack,
                )
                // This variant counts columns from one.
                .map_err(|LltError::NonPositivePivot { index }| index - 1)?
            }
        };
        Ok(())
    }

    /// A = LDLᵀ; on failure, the first column whose pivot is zero or not finite.
    pub(crate) fn factorize_ldlt(
        &mut self,
        values: &[f64],
        regularization: Option<PivotRegularization<'_>>,
    ) -> Result<(), usize> {
        assert_eq!(self.kind, Kind::Ldlt);
        let stack = MemStack::new(&mut self.factor_memory);
        let regularization = match regularization {
            None => LdltRegularization::default(),
            Some(r) => LdltRegularization {
                dynamic_regularization_signs: Some(r.signs),
                dynamic_regularization_delta: r.delta,
                dynamic_regularization_epsilon: r.epsilon,
            },
        };
        match &mut self.symbolic {
            Symbolic::Supernodal(symbolic) => supernodal::factorize_supernodal_numeric_ldlt(
                &mut self.factor,
                SparseColMatRef::new(self.lower.as_ref(), values),
                regularization,
                symbolic,
                self.par,
                stack,
                Default::default(),
            )
            .map_err(|LdltError::ZeroPivot { index }| index)?,
            Symbolic::Simplicial { symbolic, upper, from_lower, upper_values } => {
                gather(upper_values, values, from_lower);
                simplicial::factorize_simplicial_numeric_ldlt(
                    &mut self.factor,
                    SparseColMatRef::new(upper.as_ref(), upper_values.as_slice()),
                    regularization,
                    symbolic,
                    stack,
                )
                .map_err(|LdltError::ZeroPivot { index }| index - 1)?
            }
        };
        Ok(())
    }

    /// Diagonal of the factor: of L for LLᵀ, of D for LDLᵀ, column by column.
    pub(crate) fn for_each_pivot(&self, mut visit: impl FnMut(usize, f64)) {
        match &self.symbolic {
            Symbolic::Supernodal(symbolic) => {
                for s in 0..symbolic.n_supernodes() {
                    let begin = symbolic.supernode_begin()[s];
                    let columns = symbolic.supernode_end()[s] - begin;
                    let rows = columns + symbolic.supernode(s).pattern().len();
                    let at = symbolic.col_ptr_for_val()[s];
                    for c in 0..columns {
                        visit(begin + c, self.factor[at + c * (rows + 1)]);
                    }
                }
            }
            Symbolic::Simplicial { symbolic, .. } => {
                for (j, &at) in symbolic.col_ptr()[..symbolic.ncols()].iter().enumerate() {
                    visit(j, self.factor[at]);
                }
            }
        }
    }

    /// The rows and columns of L from `first` on, column-major, zero above the diagonal.
    pub(crate) fn tail(&self, first: usize) -> Result<Vec<f64>, SolveError> {
        let size = self.lower.nrows() - first;
        let mut tail = zeros(size * size)?;
        match &self.symbolic {
            Symbolic::Supernodal(symbolic) => {
                for s in (0..symbolic.n_supernodes()).rev() {
                    let (begin, end) = (symbolic.supernode_begin()[s], symbolic.supernode_end()[s]);
                    if end <= first {
                        break;
                    }
                    let (columns, below) = (end - begin, symbolic.supernode(s).pattern());
                    let rows = columns + below.len();
                    for c in first.saturating_sub(begin)..columns {
                        let from = &self.factor[symbolic.col_ptr_for_val()[s] + c * rows..][..rows];
                        let to = &mut tail[(begin + c - first) * size..][..size];
                        to[begin + c - first..end - first].copy_from_slice(&from[c..columns]);
                        for (&row, value) in below.iter().zip(&from[columns..]) {
                            to[row - first] = *value;
                        }
                    }
                }
            }
            Symbolic::Simplicial { symbolic, .. } => {
                for j in first..self.lower.nrows() {
                    for k in symbolic.col_ptr()[j]..symbolic.col_ptr()[j + 1] {
                        tail[(j - first) * size + symbolic.row_idx()[k] - first] = self.factor[k];
                    }
                }
            }
        }
        Ok(tail)
    }

    /// Makes room for solves with that many right-hand sides at once.
    pub(crate) fn reserve_solve(&mut self, columns: usize) -> Result<(), SolveError> {
        if columns > self.solve_columns {
            let req = match &self.symbolic {
                Symbolic::Supernodal(symbolic) => {
                    symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq)
                }
                Symbolic::Simplicial { symbolic, .. } => {
                    symbolic.solve_in_place_scratch::<f64>(columns)
                }
            };
            self.solve_memory = allocate(req)?;
            self.solve_columns = columns;
        }
        Ok(())
    }

    /// X ← A⁻¹X for column-major X, with the factor at hand. Always in one thread: the threaded
    /// triangular solves do not repeat their bits.
    ///
    /// Panics when X does not hold whole columns or [`Self::reserve_solve`] was not called.
    pub(crate) fn solve_in_place(&mut self, x: &mut [f64], columns: usize) {
        let n = self.lower.nrows();
        assert_eq!(x.len(), n * columns);
        assert!(columns <= self.solve_columns);
        if n == 0 || columns == 0 {
            return;
        }
        let stack = MemStack::new(&mut self.solve_memory);
        let x = MatMut::from_column_major_slice_mut(x, n, columns);
        let factor = self.factor.as_slice();
        match (&self.symbolic, self.kind) {
            (Symbolic::Supernodal(symbolic), Kind::Llt) => {
                supernodal::SupernodalLltRef::new(symbolic, factor).solve_in_place_with_conj(
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                );
            }
            (Symbolic::Supernodal(symbolic), Kind::Ldlt) => {
                supernodal::SupernodalLdltRef::new(symbolic, factor).solve_in_place_with_conj(
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                );
            }
            (Symbolic::Simplicial { symbolic, .. }, Kind::Llt) => {
                simplicial::SimplicialLltRef::new(symbolic, factor).solve_in_place_with_conj(
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                );
            }
            (Symbolic::Simplicial { symbolic, .. }, Kind::Ldlt) => {
                simplicial::SimplicialLdltRef::new(symbolic, factor).solve_in_place_with_conj(
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                );
            }
        }
    }
}

fn gather(upper_values: &mut [f64], values: &[f64], from_lower: &[usize]) {
    for (to, &from) in upper_values.iter_mut().zip(from_lower) {
        *to = values[from];
    }
}

/// Multiplications per stored entry of the factor.
fn work_per_entry(column_counts: &[usize]) -> f64 {
    let (mut work, mut entries) = (0.0, 0.0);
    for &count in column_counts {
        let count = count as f64;
        work += 0.5 * count * (count + 1.0);
        entries += count;
    }
    if entries == 0.0 { 0.0 } else { work / entries }
}

/// Upper triangle by columns, and the place of each of its entries in the lower one.
fn transpose(pattern: &SymmetricPattern) -> (SymbolicSparseColMat<usize>, Vec<usize>) {
    let n = pattern.n;
    let mut col_ptr = vec![0usize; n + 1];
    for &i in &pattern.row_idx {
        col_ptr[i + 1] += 1;
    }
    for j in 0..n {
        col_ptr[j + 1] += col_ptr[j];
    }
    let mut next = col_ptr.clone();
    let mut row_idx = vec![0usize; pattern.nnz()];
    let mut from_lower = vec![0usize; pattern.nnz()];
    for j in 0..n {
        for k in pattern.col_ptr[j]..pattern.col_ptr[j + 1] {
            let slot = &mut next[pattern.row_idx[k]];
            row_idx[*slot] = j;
            from_lower[*slot] = k;
            *slot += 1;
        }
    }
    (SymbolicSparseColMat::new_checked(n, n, col_ptr, None, row_idx), from_lower)
}
