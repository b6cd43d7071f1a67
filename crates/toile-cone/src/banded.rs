//! Cholesky factor of a matrix with a band: enough for grids.

use crate::factored::{Gram, MassInverse};
use crate::operator::dot;

/// A symmetric positive definite matrix whose entries lie within a band, and its factor.
#[derive(Clone, Debug)]
pub struct BandedMass {
    size: usize,
    width: usize,
    /// Lower band of M, row by row: entry (i, j) at j + width − i.
    matrix: Vec<f64>,
    /// Lower band of its Cholesky factor.
    factor: Vec<f64>,
}

impl BandedMass {
    /// From entries (i, j, value) of which those of one place are added; only j ≤ i are read. `None`
    /// when an entry lies outside of the band or the matrix is not positive definite.
    pub fn new(
        size: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Option<Self> {
        let mut matrix = vec![0.0; size * (width + 1)];
        for (i, j, value) in entries {
            if j > i {
                continue;
            }
            if i >= size || i - j > width {
                return None;
            }
            matrix[i * (width + 1) + j + width - i] += value;
        }
        Self::factorise(size, width, matrix)
    }

    fn factorise(size: usize, width: usize, matrix: Vec<f64>) -> Option<Self> {
        let stride = width + 1;
        let mut factor = matrix.clone();
        for i in 0..size {
            let (before, now) = factor.split_at_mut(i * stride);
            let row = &mut now[..stride];
            let first = i.saturating_sub(width);
            for j in first..i {
                let other = &before[j * stride..(j + 1) * stride];
                // Columns both rows have: first..j.
                let begin = first.max(j.saturating_sub(width));
                let sum =
                    dot(&row[begin + width - i..j + width - i], &other[begin + width - j..width]);
                row[j + width - i] = (row[j + width - i] - sum) / other[width];
            }
            let pivot = row[width] - dot(&row[..width], &row[..width]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            row[width] = pivot.sqrt();
        }
        Some(BandedMass { size, width, matrix, factor })
    }
}

impl MassInverse for BandedMass {
    fn unknowns(&self) -> usize {
        self.size
    }

    fn solve(&self, x: &mut [f64]) {
        let (width, stride) = (self.width, self.width + 1);
        for i in 0..self.size {
            let row = &self.factor[i * stride..(i + 1) * stride];
            let first = i.saturating_sub(width);
            let sum = dot(&row[first + width - i..width], &x[first..i]);
            x[i] = (x[i] - sum) / row[width];
        }
        for i in (0..self.size).rev() {
            let row = &self.factor[i * stride..(i + 1) * stride];
            let first = i.saturating_sub(width);
            let value = x[i] / row[width];
            x[i] = value;
            let part = &row[first + width - i..width];
            x[first..i].iter_mut().zip(part).for_each(|(x, l)| *x -= value * l);
        }
    }

    fn augmented<'a>(&'a self, gram: &Gram<'_>, weight: f64) -> Option<Box<dyn MassInverse + 'a>> {
        let mut matrix = self.matrix.clone();
        let mut inside = true;
        gram.for_each(|i, j, value| {
            if j <= i {
                if i - j > self.width {
                    inside = false;
                } else {
                    matrix[i * (self.width + 1) + j + self.width - i] += weight * value;
                }
            }
        });
        if !inside {
            return None;
        }
        Some(Box::new(Self::factorise(self.size, self.width, matrix)?))
    }
}
