//! The end of a factor as a dense matrix.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use toile_num::parallel::for_chunks;

/// Columns in a task, whatever the number of threads: bits depend on it.
const CHUNK: usize = 48;

/// XᵀL⁻ᵀL⁻¹X, whole, for a lower triangular L of n rows; X is lost. All column-major.
pub(crate) fn congruence(l: &[f64], n: usize, x: &mut [f64], columns: usize, out: &mut [f64]) {
    if n == 0 || columns == 0 {
        return;
    }
    let l = MatRef::from_column_major_slice(l, n, n);
    for_chunks(x, CHUNK * n, |_, part| {
        let count = part.len() / n;
        let part = MatMut::from_column_major_slice_mut(part, n, count);
        solve_lower_triangular_in_place(l, part, Par::Seq);
    });
    let x = MatRef::from_column_major_slice(x, n, columns);
    for_chunks(out, CHUNK * columns, |chunk, part| {
        // What is above the diagonal is copied from below.
        let (first, count) = (chunk * CHUNK, part.len() / columns);
        let part = MatMut::from_column_major_slice_mut(part, columns, count);
        let right = x.subcols(first, count);
        let left = x.subcols(first, columns - first).transpose();
        let below = part.subrows_mut(first, columns - first);
        matmul(below, Accum::Replace, left, right, 1.0, Par::Seq);
    });
    for c in 0..columns {
        for r in 0..c {
            out[c * columns + r] = out[r * columns + c];
        }
    }
}
