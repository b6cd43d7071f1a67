//! What can go wrong between a matrix and its solution.

/// Why a system could not be analysed, factorised or solved.
///
/// Columns are numbered in the order of the matrix handed over, that is in elimination order for
/// the symmetric solvers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The compressed columns do not describe a matrix of the wanted kind.
    #[error("malformed sparsity pattern at column {column}: {reason}")]
    BadPattern {
        /// First offending column.
        column: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// The node graph is not a symmetric adjacency without self loops.
    #[error("malformed node graph at node {node}: {reason}")]
    BadGraph {
        /// First offending node.
        node: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// An array has the wrong length.
    #[error("{what} has length {found}, expected {expected}")]
    WrongLength {
        /// Which argument.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A NaN or an infinity in the matrix, the right-hand side, the factor or the solution.
    #[error("{what} holds a NaN or an infinity; look for it where that array is made")]
    NotFinite {
        /// Where it was seen.
        what: &'static str,
    },
    /// A pivot is zero or negative: the matrix is not positive definite.
    #[error(
        "pivot of column {column} is not positive, so the matrix is not positive definite; \
         shift or project it, or factorise it as LDLᵀ"
    )]
    NotPositiveDefinite {
        /// First column whose pivot is not positive.
        column: usize,
    },
    /// A pivot vanished (or overflowed) in a factorisation without pivoting.
    #[error(
        "pivot of column {column} is zero or not finite: the matrix is singular, or needs signs \
         (quasi-definite regularisation) or a factorisation with pivoting"
    )]
    ZeroPivot {
        /// Column of the lost pivot.
        column: usize,
    },
    /// No choice of pivots exists, whatever the values.
    #[error(
        "the pattern is structurally singular: only {rank} of {n} columns can be matched with rows"
    )]
    StructurallySingular {
        /// Structural rank.
        rank: usize,
        /// Number of columns.
        n: usize,
    },
    /// The values make the matrix singular to working precision.
    #[error("the matrix is singular to working precision")]
    Singular,
    /// The computed solution does not solve the system.
    #[error(
        "relative residual {residual:.1e} (backward error {backward_error:.1e}) after {refinements} \
         refinements: the factorisation cannot be trusted; regularise or rescale the matrix"
    )]
    Inaccurate {
        /// ‖Ax − b‖₂/‖b‖₂.
        residual: f64,
        /// ‖Ax − b‖∞/(‖A‖∞‖x‖∞ + ‖b‖∞).
        backward_error: f64,
        /// Refinement steps taken.
        refinements: usize,
    },
    /// A solve was asked for before a successful factorisation.
    #[error("no valid factorisation at hand: call `factorize` first, and check its result")]
    NotFactorized,
    /// The factor does not fit in memory or in the index type.
    #[error("the factor does not fit in memory ({entries} entries)")]
    TooLarge {
        /// Entries of the factor, zero when unknown.
        entries: usize,
    },
}

/// Fails unless `found == expected`.
pub(crate) fn check_length(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), SolveError> {
    if found == expected { Ok(()) } else { Err(SolveError::WrongLength { what, found, expected }) }
}

/// Fails on the first NaN or infinity.
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), SolveError> {
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(SolveError::NotFinite { what }) }
}
