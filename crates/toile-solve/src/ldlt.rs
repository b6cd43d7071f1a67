//! A = LDLᵀ for symmetric indefinite matrices, and their inertia.

use crate::backend::{Kind, PivotRegularization};
use crate::direct::SymmetricSolver;
use crate::error::check_length;
use crate::{FactorSettings, SolveError, SolveReport, SymmetricPattern};
use std::sync::Arc;

/// Numbers of positive, negative and zero eigenvalues of a symmetric matrix, equal by Sylvester's
/// law to the signs of D in A = LDLᵀ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inertia {
    /// Positive eigenvalues.
    pub positive: usize,
    /// Negative eigenvalues.
    pub negative: usize,
    /// Pivots that are zero to working precision: |dⱼ| ≤ 64 ε |aⱼⱼ|, a test that does not depend on
    /// the units of the unknowns. Their sign is noise.
    pub zero: usize,
}

/// Size of the pivots put in place of those that are too small or of the wrong sign, relative to the
/// largest entry of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularization {
    /// Pivots below `epsilon`·max|aᵢⱼ| in the expected direction are replaced. Default 1e-13, a
    /// hundred times the rounding of an entry.
    pub epsilon: f64,
    /// ... by `delta`·max|aᵢⱼ|. Default 1e-8, about √ε: loses half of the digits, which
    /// refinement gives back.
    pub delta: f64,
}

impl Default for Regularization {
    fn default() -> Self {
        Self { epsilon: 1e-13, delta: 1e-8 }
    }
}

/// Sparse factorisation A = LDLᵀ without pivoting, L unit lower triangular, D diagonal.
///
/// Exists for definite and quasi-definite matrices in any order, and for almost every indefinite
/// one; near a vanishing pivot it loses accuracy, which the solve measures and repairs or refuses.
/// Before trusting an [`Inertia`] near singularity, solve once: a small residual certifies the
/// factors. Reference for quasi-definite systems: Vanderbei 1995.
pub struct Ldlt {
    pub(crate) inner: SymmetricSolver,
    regularization: Regularization,
    replaced: usize,
}

impl Ldlt {
    /// Analyses a pattern, with default settings but up to ten refinements: a regularised factor
    /// needs two or three, sometimes more.
    pub fn new(pattern: Arc<SymmetricPattern>) -> Result<Self, SolveError> {
        let settings = FactorSettings { max_refinements: 10, ..FactorSettings::default() };
        Self::with_settings(pattern, settings)
    }

    /// Analyses a pattern.
    pub fn with_settings(
        pattern: Arc<SymmetricPattern>,
        settings: FactorSettings,
    ) -> Result<Self, SolveError> {
        Ok(Self {
            inner: SymmetricSolver::new(pattern, Kind::Ldlt, settings)?,
            regularization: Regularization::default(),
            replaced: 0,
        })
    }

    /// Changes the size of the replacement pivots used when signs are given.
    pub fn set_regularization(&mut self, regularization: Regularization) {
        self.regularization = regularization;
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

    /// Pivots the last factorisation replaced.
    pub fn replaced_pivots(&self) -> usize {
        self.replaced
    }

    /// Factorises the matrix with these entries (in the order of the pattern) and returns its inertia.
    ///
    /// With `signs` (1 for an unknown, −1 for a multiplier, 0 for either), a pivot that is tiny or of
    /// the other sign is replaced as [`Regularization`] says: the factor is then that of a nearby
    /// quasi-definite matrix, the inertia that of the signs, and refinement makes the solution that
    /// of the matrix given. Meant for few and tiny pivots; refuse `replaced_pivots` by the thousand.
    /// Without signs a zero pivot is [`SolveError::ZeroPivot`].
    pub fn factorize(
        &mut self,
        values: &[f64],
        signs: Option<&[i8]>,
    ) -> Result<Inertia, SolveError> {
        self.replaced = 0;
        let norm = self.inner.begin(values)?;
        let mut delta = f64::NAN; // equal to no pivot
        let regularization = match signs {
            None => None,
            Some(signs) => {
                check_length("signs", signs.len(), self.dimension())?;
                let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                delta = self.regularization.delta * largest;
                Some(PivotRegularization {
                    signs,
                    epsilon: self.regularization.epsilon * largest,
                    delta,
                })
            }
        };
        self.inner
            .factor
            .factorize_ldlt(values, regularization)
            .map_err(|column| SolveError::ZeroPivot { column })?;
        self.inner.finish(norm)?;
        let mut inertia = Inertia::default();
        let mut replaced = 0;
        let pattern = &self.inner.pattern;
        self.inner.factor.for_each_pivot(|column, pivot| {
            let diagonal = values[pattern.col_ptr[column]];
            if pivot.abs() == delta {
                replaced += 1;
            }
            if pivot.abs() <= 64.0 * f64::EPSILON * diagonal.abs() {
                inertia.zero += 1;
            } else if pivot > 0.0 {
                inertia.positive += 1;
            } else {
                inertia.negative += 1;
            }
        });
        self.replaced = replaced;
        Ok(inertia)
    }

    /// Solves A x = `rhs`, measures and refines, as [`Cholesky::solve`](crate::Cholesky::solve).
    pub fn solve(
        &mut self,
        values: &[f64],
        rhs: &[f64],
        x: &mut [f64],
    ) -> Result<SolveReport, SolveError> {
        self.inner.solve(values, rhs, x)
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
        self.inner.solve_many(values, rhs, x, columns)
    }

    /// x ← (LDLᵀ)⁻¹x, raw: no check, no refinement. For inverse iterations and preconditioning.
    ///
    /// Panics without a valid factor or when x has not one entry per unknown.
    pub fn apply_inverse(&mut self, x: &mut [f64]) {
        self.inner.apply_inverse(x);
    }
}
