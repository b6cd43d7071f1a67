//! Linear solvers: sparse factorisations with symbolic reuse, and matrix-free iterations.
//!
//! The road of a symmetric system: describe which groups of unknowns touch each other
//! ([`NodeGraph`]), ask for an order of elimination ([`elimination_order`]), lay out the lower
//! triangle in that order ([`SymmetricPattern::from_node_graph`]), assemble values straight into
//! it, and hand them to [`Cholesky`] or [`Ldlt`]. Analysis happens once per pattern; a
//! factorisation permutes nothing and allocates nothing but lists of its parts. Non-symmetric systems go to [`Lu`];
//! what does not fit in memory goes to [`conjugate_gradient`] or [`minres`].
//!
//! Every direct solve measures its residual ‖Ax − b‖/‖b‖, refines, and refuses an answer that is
//! not a solution. Same input, same bits, whatever the number of threads: they share subtrees and
//! pieces of large fronts whose sums do not depend on who makes them.
//!
//! There is no mesh, no cloth and no unit here: entries carry whatever units the caller gives them.

mod backend;
mod cholesky;
mod direct;
mod eigen;
mod error;
mod frontal;
mod graph;
mod iterative;
mod ldlt;
mod lu;
mod newton;
mod ordering;
mod pattern;
mod precondition;
mod refine;
mod settings;
mod solver;

/// Parts that have tests of their own.
#[doc(hidden)]
pub mod internal {
    pub use crate::backend::approximate_minimum_degree;
    pub use crate::ordering::postordered;
    use crate::{Cholesky, Ldlt};

    /// Row, column and value of the entries of L.
    pub fn cholesky_entries(solver: &Cholesky) -> Vec<(usize, usize, f64)> {
        entries(&solver.inner.factor)
    }

    /// Row, column and value of the entries of D and, below the diagonal, of L.
    pub fn ldlt_entries(solver: &Ldlt) -> Vec<(usize, usize, f64)> {
        entries(&solver.inner.factor)
    }

    /// Computes dense blocks with narrower registers than there are; `false` where there are none of
    /// that many numbers.
    pub fn use_lanes(solver: &mut Cholesky, lanes: usize) -> bool {
        solver.inner.factor.use_lanes(lanes)
    }

    fn entries(factor: &crate::backend::SymmetricFactor) -> Vec<(usize, usize, f64)> {
        let mut entries = Vec::new();
        factor.for_each_entry(0, |row, column, value| entries.push((row, column, value)));
        entries
    }
}

pub use backend::Compliance;
pub use cholesky::Cholesky;
pub use eigen::{EigenSettings, Mode, lowest_mode};
pub use error::SolveError;
pub use graph::NodeGraph;
pub use iterative::{
    IterativeReport, IterativeSettings, LinearOperator, NegativeCurvature, OperatorFn, StopReason,
    SymmetricOperator, conjugate_gradient, minres,
};
pub use ldlt::{Inertia, Ldlt, Regularization};
pub use lu::{GeneralPattern, Lu};
pub use newton::{Minimum, NewtonSettings, Objective, Step, Stop, Timings, minimize};
pub use ordering::{Ordering, elimination_order, elimination_order_with_last};
pub use pattern::SymmetricPattern;
pub use precondition::{BlockJacobi, IdentityPreconditioner};
pub use refine::SolveReport;
pub use settings::{FactorSettings, Variant};
pub use solver::LinearSolver;
