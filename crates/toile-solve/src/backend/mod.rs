//! The only room that names the types of the factorisation library.
//!
//! Everything that enters or leaves is ours: patterns, slices, plain errors. Its calls are the
//! low-level ones, which take the matrix in elimination order and write into storage we keep.

mod amd;
mod general;
mod symmetric;
mod tail;

pub use amd::approximate_minimum_degree;
pub(crate) use general::GeneralFactor;
pub(crate) use symmetric::{Kind, PivotRegularization, SymmetricFactor};
pub use tail::Compliance;

use crate::SolveError;
use faer::Par;
use faer::dyn_stack::{MemBuffer, StackReq};
use faer::sparse::FaerError;

/// Parallelism inside the dense kernels of a factorisation.
fn parallelism(threads: usize) -> Par {
    // One rayon thread would still pay for the fork and join.
    if threads <= 1 { Par::Seq } else { Par::rayon(threads) }
}

/// Working memory, or an error instead of an abort.
fn allocate(req: StackReq) -> Result<MemBuffer, SolveError> {
    MemBuffer::try_new(req)
        .map_err(|_| SolveError::TooLarge { entries: req.size_bytes() / size_of::<f64>() })
}

/// A vector of zeros, or an error instead of an abort.
pub(crate) fn zeros(len: usize) -> Result<Vec<f64>, SolveError> {
    // A probe, since `vec!` is the one that gets untouched zero pages from the system but aborts
    // when it cannot.
    Vec::<f64>::new().try_reserve_exact(len).map_err(|_| SolveError::TooLarge { entries: len })?;
    Ok(vec![0.0; len])
}

fn too_large(error: FaerError) -> SolveError {
    // Overflow of the index type and lack of memory have the same remedy.
    let _ = error;
    SolveError::TooLarge { entries: 0 }
}
