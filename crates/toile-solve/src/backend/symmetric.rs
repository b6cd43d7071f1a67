//! LLᵀ and LDLᵀ of a matrix given by its lower triangle in elimination order.

use super::{allocate, too_large, zeros};
use crate::frontal::FrontalFactor;
use crate::{FactorSettings, SolveError, SymmetricPattern, Variant};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::ldlt::factor::{LdltError, LdltRegularization};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization};
use faer::sparse::linalg::cholesky::simplicial;
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
/// Measured on rods of 2000 vertices and edge angles, factorisation and one solve together: those that
/// reach one neighbour (3 per entry) cost the same either way, and solves alone half as much entry by
/// entry; two neighbours (5) are 1.7 times faster in blocks, three (7) 2.1 times.
const SUPERNODAL_WORK_PER_ENTRY: f64 = 4.0;

/// A factor in one of two forms.
enum Form {
    /// In dense blocks, ours.
    Frontal(Box<FrontalFactor>),
    /// Entry by entry, the library's.
    Simplicial(Box<Simplicial>),
}

struct Simplicial {
    symbolic: simplicial::SymbolicSimplicialCholesky<usize>,
    /// Upper triangle by columns, which is what the entry-by-entry code reads.
    upper: SymbolicSparseColMat<usize>,
    /// `upper_values[k] = values[from_lower[k]]`.
    from_lower: Vec<usize>,
    upper_values: Vec<f64>,
    factor: Vec<f64>,
    factor_memory: MemBuffer,
    solve_memory: MemBuffer,
    /// Right-hand sides `solve_memory` is large enough for.
    solve_columns: usize,
}

/// Symbolic analysis, factor and working memory, reused from one factorisation to the next.
pub(crate) struct SymmetricFactor {
    kind: Kind,
    n: usize,
    form: Form,
}

impl SymmetricFactor {
    /// Analyses a pattern that [`SymmetricPattern::check`] has accepted.
    pub(crate) fn new(
        pattern: &SymmetricPattern,
        kind: Kind,
        settings: &FactorSettings,
    ) -> Result<Self, SolveError> {
        let n = pattern.n;
        let (upper, from_lower) = transpose(pattern);
        let mut parents = vec![0isize; n];
        let mut column_counts = vec![0usize; n];
        let mut memory = allocate(
            StackReq::new::<usize>(n)
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
        let form = if use_blocks {
            let parents = tree.into_inner();
            let signed = kind == Kind::Ldlt;
            Form::Frontal(Box::new(FrontalFactor::new(
                pattern,
                parents,
                &column_counts,
                signed,
                settings.threads,
            )?))
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
            Form::Simplicial(Box::new(Simplicial {
                factor: zeros(symbolic.len_val())?,
                upper_values: zeros(pattern.nnz())?,
                factor_memory: allocate(req)?,
                solve_memory: allocate(StackReq::empty())?,
                solve_columns: 0,
                symbolic,
                upper,
                from_lower,
            }))
        };
        let mut this = Self { kind, n, form };
        this.reserve_solve(1)?;
        Ok(this)
    }

    /// Entries of the stored factor, zeros inside dense blocks included.
    pub(crate) fn factor_entries(&self) -> usize {
        match &self.form {
            Form::Frontal(factor) => factor.entries(),
            Form::Simplicial(this) => this.factor.len(),
        }
    }

    /// Whether the factor is stored in dense blocks.
    pub(crate) fn is_supernodal(&self) -> bool {
        matches!(self.form, Form::Frontal(_))
    }

    /// A = LLᵀ; on failure, the first column without a positive pivot.
    pub(crate) fn factorize_llt(&mut self, values: &[f64]) -> Result<(), usize> {
        assert_eq!(self.kind, Kind::Llt);
        match &mut self.form {
            Form::Frontal(factor) => factor.factorize(values, None),
            Form::Simplicial(this) => {
                gather(&mut this.upper_values, values, &this.from_lower);
                simplicial::factorize_simplicial_numeric_llt(
                    &mut this.factor,
                    SparseColMatRef::new(this.upper.as_ref(), this.upper_values.as_slice()),
                    LltRegularization::default(),
                    &this.symbolic,
                    MemStack::new(&mut this.factor_memory),
                )
                .map(|_| ())
                // This variant counts columns from one.
                .map_err(|LltError::NonPositivePivot { index }| index - 1)
            }
        }
    }

    /// A = LDLᵀ; on failure, the first column whose pivot is zero or not finite.
    pub(crate) fn factorize_ldlt(
        &mut self,
        values: &[f64],
        regularization: Option<PivotRegularization<'_>>,
    ) -> Result<(), usize> {
        assert_eq!(self.kind, Kind::Ldlt);
        match &mut self.form {
            Form::Frontal(factor) => factor.factorize(values, regularization),
            Form::Simplicial(this) => {
                gather(&mut this.upper_values, values, &this.from_lower);
                let regularization = match regularization {
                    None => LdltRegularization::default(),
                    Some(r) => LdltRegularization {
                        dynamic_regularization_signs: Some(r.signs),
                        dynamic_regularization_delta: r.delta,
                        dynamic_regularization_epsilon: r.epsilon,
                    },
                };
                simplicial::factorize_simplicial_numeric_ldlt(
                    &mut this.factor,
                    SparseColMatRef::new(this.upper.as_ref(), this.upper_values.as_slice()),
                    regularization,
                    &this.symbolic,
                    MemStack::new(&mut this.factor_memory),
                )
                .map(|_| ())
                .map_err(|LdltError::ZeroPivot { index }| index - 1)
            }
        }
    }

    /// Diagonal of the factor with its columns: of L for LLᵀ, of D for LDLᵀ.
    pub(crate) fn for_each_pivot(&self, mut visit: impl FnMut(usize, f64)) {
        match &self.form {
            Form::Frontal(factor) => factor.for_each_pivot(visit),
            Form::Simplicial(this) => {
                for (j, &at) in this.symbolic.col_ptr()[..self.n].iter().enumerate() {
                    visit(j, this.factor[at]);
                }
            }
        }
    }

    /// Whether no pivot overflowed.
    pub(crate) fn has_finite_pivots(&self) -> bool {
        match &self.form {
            // Others are refused on the way.
            Form::Frontal(_) => true,
            Form::Simplicial(_) => {
                let mut finite = true;
                self.for_each_pivot(|_, pivot| finite &= pivot.is_finite());
                finite
            }
        }
    }

    /// Row, column and value of the stored entries: of L for LLᵀ; of D and, below, of L for LDLᵀ.
    pub(crate) fn entries(&self) -> Vec<(usize, usize, f64)> {
        let mut entries = Vec::new();
        match &self.form {
            Form::Frontal(factor) => factor.for_each_entry(|i, j, v| entries.push((i, j, v))),
            Form::Simplicial(this) => {
                let (col_ptr, row_idx) = (this.symbolic.col_ptr(), this.symbolic.row_idx());
                for j in 0..self.n {
                    let range = col_ptr[j]..col_ptr[j + 1];
                    entries.extend(range.map(|k| (row_idx[k], j, this.factor[k])));
                }
            }
        }
        entries
    }

    /// Computes dense blocks with registers of that many numbers; `false` where there are none.
    pub(crate) fn use_lanes(&mut self, lanes: usize) -> bool {
        match &mut self.form {
            Form::Frontal(factor) => factor.use_lanes(lanes),
            Form::Simplicial(_) => false,
        }
    }

    /// Makes room for solves with that many right-hand sides at once.
    pub(crate) fn reserve_solve(&mut self, columns: usize) -> Result<(), SolveError> {
        match &mut self.form {
            Form::Frontal(factor) => factor.reserve_solve(columns)?,
            Form::Simplicial(this) if columns > this.solve_columns => {
                this.solve_memory = allocate(this.symbolic.solve_in_place_scratch::<f64>(columns))?;
                this.solve_columns = columns;
            }
            Form::Simplicial(_) => {}
        }
        Ok(())
    }

    /// X ← A⁻¹X for column-major X, with the factor at hand.
    ///
    /// Panics when X does not hold whole columns or [`Self::reserve_solve`] was not called.
    pub(crate) fn solve_in_place(&mut self, x: &mut [f64], columns: usize) {
        let n = self.n;
        assert_eq!(x.len(), n * columns);
        if n == 0 || columns == 0 {
            return;
        }
        let this = match &mut self.form {
            Form::Frontal(factor) => return factor.solve_in_place(x),
            Form::Simplicial(this) => this,
        };
        assert!(columns <= this.solve_columns);
        let stack = MemStack::new(&mut this.solve_memory);
        let x = MatMut::from_column_major_slice_mut(x, n, columns);
        let factor = this.factor.as_slice();
        match self.kind {
            Kind::Llt => simplicial::SimplicialLltRef::new(&this.symbolic, factor)
                .solve_in_place_with_conj(Conj::No, x, Par::Seq, stack),
            Kind::Ldlt => simplicial::SimplicialLdltRef::new(&this.symbolic, factor)
                .solve_in_place_with_conj(Conj::No, x, Par::Seq, stack),
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
