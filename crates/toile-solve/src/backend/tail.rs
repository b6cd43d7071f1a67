//! What is left of A⁻¹ where little was eliminated last.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use toile_num::parallel::for_chunks;

/// Columns in a task, whatever the number of threads: bits depend on it.
const CHUNK: usize = 48;

/// XᵀA⁻¹X for columns X that are given a few at a time, each with the rows from some unknown on: those before are zero.
///
/// Only the end of the factor is read, which is cheap where what X touches was eliminated last. Made by [`Cholesky::compliance`].
///
/// [`Cholesky::compliance`]: crate::Cholesky::compliance
#[derive(Clone, Debug)]
pub struct Compliance {
    size: usize,
    /// End of the factor L, column-major.
    factor: Vec<f64>,
    /// L⁻¹X.
    halves: Vec<f64>,
    columns: usize,
    /// XᵀA⁻¹X, whole.
    product: Vec<f64>,
}

impl Compliance {
    pub(crate) fn new(factor: Vec<f64>, size: usize) -> Self {
        Self { size, factor, halves: Vec::new(), columns: 0, product: Vec::new() }
    }

    /// Rows of a column.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Columns so far.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Entry of XᵀA⁻¹X.
    ///
    /// Panics beyond the columns there are.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.product[column * self.columns + row]
    }

    /// Takes in more columns, one after the other.
    ///
    /// Panics when they are not whole.
    pub fn add(&mut self, x: &[f64]) {
        let n = self.size;
        if x.is_empty() {
            return;
        }
        assert_eq!(x.len() % n, 0);
        let (old, all) = (self.columns, self.columns + x.len() / n);
        self.halves.extend_from_slice(x);
        let l = MatRef::from_column_major_slice(&self.factor, n, n);
        for_chunks(&mut self.halves[old * n..], CHUNK * n, |_, part| {
            let count = part.len() / n;
            // What comes before the first entry stays zero.
            let leads = part.chunks_exact(n).map(|c| c.iter().take_while(|x| **x == 0.0).count());
            let skip = leads.min().unwrap_or(0);
            let below = MatMut::from_column_major_slice_mut(part, n, count);
            let l = l.submatrix(skip, skip, n - skip, n - skip);
            solve_lower_triangular_in_place(l, below.subrows_mut(skip, n - skip), Par::Seq);
        });
        let halves = MatRef::from_column_major_slice(&self.halves, n, all);
        let mut product = vec![0.0; all * all];
        for_chunks(&mut product[old * all..], CHUNK * all, |chunk, part| {
            let (first, count) = (old + chunk * CHUNK, part.len() / all);
            let part = MatMut::from_column_major_slice_mut(part, all, count);
            // What is below the diagonal is copied from above.
            let above = first + count;
            let left = halves.subcols(0, above).transpose();
            let right = halves.subcols(first, count);
            matmul(part.subrows_mut(0, above), Accum::Replace, left, right, 1.0, Par::Seq);
        });
        for c in 0..old {
            product[c * all..][..old].copy_from_slice(&self.product[c * old..][..old]);
        }
        for c in 0..all {
            for r in old.max(c + 1)..all {
                product[c * all + r] = product[r * all + c];
            }
        }
        (self.product, self.columns) = (product, all);
    }
}
