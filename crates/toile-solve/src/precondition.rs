//! Cheap approximate inverses for the iterations.

use crate::error::check_length;
use crate::{LinearOperator, SolveError, SymmetricPattern};

/// No preconditioning: M = I.
#[derive(Clone, Copy, Debug)]
pub struct IdentityPreconditioner {
    /// Number of unknowns.
    pub n: usize,
}

impl LinearOperator for IdentityPreconditioner {
    fn dimension(&self) -> usize {
        self.n
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.copy_from_slice(x);
    }
}

/// Inverses of the diagonal blocks of a symmetric matrix, one block per node (3 × 3 for a vertex).
///
/// Always positive definite, as CG and MINRES require: a block that is not is replaced by the
/// magnitudes of its diagonal, and a vanishing diagonal by one.
#[derive(Clone, Debug)]
pub struct BlockJacobi {
    /// First unknown of each block, then the number of unknowns.
    starts: Vec<usize>,
    /// Where the (row-major, full) inverse of each block begins.
    offsets: Vec<usize>,
    inverses: Vec<f64>,
}

impl BlockJacobi {
    /// Inverts the diagonal blocks of the matrix; `starts` lists the first unknown of each block in
    /// increasing order, beginning with 0. Entries of a block that are not stored count as zero.
    pub fn new(
        pattern: &SymmetricPattern,
        values: &[f64],
        starts: &[usize],
    ) -> Result<Self, SolveError> {
        pattern.check()?;
        check_length("matrix values", values.len(), pattern.nnz())?;
        let n = pattern.n;
        let bounds_ok = match (starts.first(), starts.last()) {
            (None, None) => n == 0,
            (first, last) => first == Some(&0) && last.is_some_and(|&s| s < n),
        };
        if !bounds_ok || starts.windows(2).any(|w| w[0] >= w[1]) {
            return Err(SolveError::BadPattern {
                column: 0,
                reason: "block starts must increase from 0 and stay below n",
            });
        }
        let mut starts = starts.to_vec();
        starts.push(n);
        let mut offsets = Vec::with_capacity(starts.len());
        let mut inverses = Vec::new();
        for block in starts.windows(2) {
            let (begin, size) = (block[0], block[1] - block[0]);
            let mut dense = vec![0.0; size * size];
            for c in 0..size {
                for k in pattern.col_ptr[begin + c]..pattern.col_ptr[begin + c + 1] {
                    let row = pattern.row_idx[k];
                    if row < begin + size {
                        dense[(row - begin) * size + c] = values[k];
                        dense[c * size + row - begin] = values[k];
                    }
                }
            }
            if dense.iter().any(|v| !v.is_finite()) {
                return Err(SolveError::NotFinite { what: "matrix" });
            }
            offsets.push(inverses.len());
            inverses.extend(positive_inverse(&dense, size));
        }
        Ok(Self { starts, offsets, inverses })
    }

    /// Blocks of three, for a matrix whose unknowns are all vertex coordinates.
    pub fn by_threes(pattern: &SymmetricPattern, values: &[f64]) -> Result<Self, SolveError> {
        let starts: Vec<usize> = (0..pattern.n).step_by(3).collect();
        Self::new(pattern, values, &starts)
    }
}

impl LinearOperator for BlockJacobi {
    fn dimension(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        for (block, &offset) in self.starts.windows(2).zip(&self.offsets) {
            let (x, y) = (&x[block[0]..block[1]], &mut y[block[0]..block[1]]);
            let size = x.len();
            for (row, y) in self.inverses[offset..][..size * size].chunks_exact(size).zip(y) {
                *y = row.iter().zip(x).map(|(a, x)| a * x).sum();
            }
        }
    }
}

/// Inverse of a small symmetric matrix through its Cholesky factor, or of |diagonal|.
fn positive_inverse(a: &[f64], n: usize) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for j in 0..n {
        for i in j..n {
            let known: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = a[i * n + j] - known;
            if i > j {
                l[i * n + j] = rest / l[j * n + j];
            } else if rest > 1e-12 * a[j * n + j].abs() {
                l[j * n + j] = rest.sqrt();
            } else {
                return magnitude_inverse(a, n);
            }
        }
    }
    let mut inverse = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    for c in 0..n {
        for i in 0..n {
            let known: f64 = (0..i).map(|k| l[i * n + k] * column[k]).sum();
            column[i] = (f64::from(u8::from(i == c)) - known) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|k| l[k * n + i] * column[k]).sum();
            column[i] = (column[i] - known) / l[i * n + i];
        }
        for i in 0..n {
            inverse[i * n + c] = column[i];
        }
    }
    inverse
}

fn magnitude_inverse(a: &[f64], n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    for i in 0..n {
        let d = a[i * n + i].abs();
        inverse[i * n + i] = if d > f64::MIN_POSITIVE { 1.0 / d } else { 1.0 };
    }
    inverse
}
