//! The end of a factor as a dense matrix.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};

/// XᵀL⁻ᵀL⁻¹X, whole, for a lower triangular L of n rows; X is lost. All column-major.
pub(crate) fn congruence(l: &[f64], n: usize, x: &mut [f64], columns: usize, out: &mut [f64]) {
    let l = MatRef::from_column_major_slice(l, n, n);
    let mut x = MatMut::from_column_major_slice_mut(x, n, columns);
    solve_lower_triangular_in_place(l, x.as_mut(), Par::Seq);
    let x = x.as_ref();
    let mut product = MatMut::from_column_major_slice_mut(out, columns, columns);
    matmul(
        product.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        x.transpose(),
        BlockStructure::Rectangular,
        x,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    for c in 0..columns {
        for r in 0..c {
            out[c * columns + r] = out[r * columns + c];
        }
    }
}
