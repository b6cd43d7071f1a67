//! The symmetric operator W of a problem, as solvers see it, and W as a dense matrix.

use nalgebra::{Cholesky, DMatrix, DVector};
use toile_num::lanes::{Simd, WithSimd, wide};
use toile_num::parallel::for_chunks;
use toile_num::{Matrix, Vector};

use crate::error::{ProblemError, check_finite, check_length};
use crate::small::set_block;

/// W = H M⁻¹ Hᵀ: symmetric, without negative eigenvalues, in blocks of D × D for each pair of
/// contacts. Every product has the same bits for any number of threads.
pub trait Operator<const D: usize>: Sync {
    /// Number of contacts.
    fn contacts(&self) -> usize;

    /// `out` = W r.
    fn apply(&self, r: &[f64], out: &mut [f64]);

    /// The block W_ii.
    fn diagonal(&self, i: usize) -> Matrix<D, D>;

    /// State for sweeps over single contacts, started at r; `None` when single rows cost as much as
    /// the whole product.
    fn sweep<'a>(&'a self, r: &[f64]) -> Option<Box<dyn Sweep<D> + 'a>>;

    /// Sets of contacts that do not see each other, to be swept in parallel; `None` when nearly all
    /// see each other.
    fn colours(&self) -> Option<Vec<Vec<u32>>> {
        None
    }

    /// Columns and blocks of a row, columns increasing; `None` where rows are not kept.
    fn row_blocks(&self, _i: usize) -> Option<(&[u32], &[Matrix<D, D>])> {
        None
    }

    /// W as a dense matrix, when it is that or small enough to become it.
    fn dense(&self) -> Option<DMatrix<f64>> {
        let n = D * self.contacts();
        if n > DENSE_LIMIT {
            return None;
        }
        let mut w = DMatrix::zeros(n, n);
        let mut unit = vec![0.0; n];
        for j in 0..n {
            unit[j] = 1.0;
            self.apply(&unit, w.column_mut(j).as_mut_slice());
            unit[j] = 0.0;
        }
        Some(w)
    }

    /// (1 + W C)⁻¹W for one symmetric C_i without negative eigenvalues per contact, by one factorisation; `None` when there is
    /// none. The one thing Newton's method needs where W is large.
    fn weighted<'a>(&'a self, _weights: &'a [Matrix<D, D>]) -> Option<Box<dyn ShiftedSolve + 'a>> {
        None
    }

    /// A solver of (W + ρ1)x = y kept for many right sides, by one factorisation; `None` when there
    /// is none, and conjugate gradients must do.
    fn shifted<'a>(&'a self, rho: f64) -> Option<Box<dyn ShiftedSolve + 'a>>;
}

/// Largest number of components for which the solvers make W dense of their own accord: its
/// factorisations then take a fraction of a second.
pub const DENSE_LIMIT: usize = 600;

/// Products of single rows while forces change one at a time.
pub trait Sweep<const D: usize>: Sync {
    /// (W r)_i for the present r.
    fn row(&self, i: usize) -> Vector<D>;
    /// r_i ← r_i + change.
    fn add(&mut self, i: usize, change: &Vector<D>);
}

/// (W + ρ1)⁻¹ or (1 + W C)⁻¹W, factorised.
pub trait ShiftedSolve: Sync {
    /// x ← (W + ρ1)⁻¹x, or (1 + W C)⁻¹W x.
    fn solve(&self, x: &mut [f64]);
}

/// W given entry by entry.
#[derive(Clone, Debug)]
pub struct DenseOperator<const D: usize> {
    w: DMatrix<f64>,
}

impl<const D: usize> DenseOperator<D> {
    /// From a square matrix, which is checked: finite, symmetric to 1e-9 of its largest entry, no
    /// negative entry on the diagonal. The symmetric part is kept.
    pub fn new(w: DMatrix<f64>) -> Result<Self, ProblemError> {
        let n = w.nrows();
        check_length("W", w.ncols(), n, n / D, D)?;
        check_length("W", n, n / D * D, n.div_ceil(D), D)?;
        check_finite("W", w.as_slice())?;
        let largest = w.amax();
        for i in 0..n {
            if w[(i, i)] < -1e-9 * largest {
                return Err(ProblemError::NegativeDiagonal { row: i, value: w[(i, i)] });
            }
            for j in 0..i {
                let (one, other) = (w[(i, j)], w[(j, i)]);
                if (one - other).abs() > 1e-9 * largest {
                    return Err(ProblemError::Asymmetric {
                        row: i,
                        column: j,
                        one,
                        other,
                        largest,
                    });
                }
            }
        }
        let w = DMatrix::from_fn(n, n, |i, j| 0.5 * (w[(i, j)] + w[(j, i)]));
        Ok(DenseOperator { w })
    }

    /// W = H M⁻¹ Hᵀ of a small problem: `h` has a row per component, `mass` is positive definite.
    pub fn from_mass(h: &DMatrix<f64>, mass: &DMatrix<f64>) -> Result<Self, ProblemError> {
        check_length("the mass matrix", mass.nrows(), h.ncols(), h.nrows() / D, D)?;
        let factor = Cholesky::new(mass.clone());
        let factor = factor.ok_or(ProblemError::NegativeDiagonal { row: 0, value: f64::NAN })?;
        Self::new(h * factor.solve(&h.transpose()))
    }
}

/// Contacts in a task: enough work to pay for handing it over.
const CHUNK: usize = 32;

impl<const D: usize> Operator<D> for DenseOperator<D> {
    fn contacts(&self) -> usize {
        self.w.nrows() / D
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        let some = |first: usize, part: &mut [f64]| {
            for (k, o) in part.chunks_exact_mut(D).enumerate() {
                o.copy_from_slice(rows::<D>(&self.w, first + k, r).as_slice());
            }
        };
        if self.contacts() < 4 * CHUNK {
            some(0, out);
        } else {
            for_chunks(out, D * CHUNK, |c, part| some(c * CHUNK, part));
        }
    }

    fn diagonal(&self, i: usize) -> Matrix<D, D> {
        self.w.fixed_view::<D, D>(D * i, D * i).into_owned()
    }

    fn sweep<'a>(&'a self, r: &[f64]) -> Option<Box<dyn Sweep<D> + 'a>> {
        Some(Box::new(DenseSweep { w: &self.w, r: r.to_vec() }))
    }

    fn dense(&self) -> Option<DMatrix<f64>> {
        Some(self.w.clone())
    }

    fn shifted<'a>(&'a self, rho: f64) -> Option<Box<dyn ShiftedSolve + 'a>> {
        let mut w = self.w.clone();
        for i in 0..w.nrows() {
            w[(i, i)] += rho;
        }
        Some(Box::new(DenseShifted(Cholesky::new(w)?)))
    }
}

/// Dot product in four interleaved sums, which the compiler can keep in one vector register.
// Sweeps are compiled where they are used, and this with them.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (pa, ra) = a.as_chunks::<4>();
    let (pb, rb) = b.as_chunks::<4>();
    for (x, y) in pa.iter().zip(pb) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = ra.iter().zip(rb).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// The rows of a contact times r.
fn rows<const D: usize>(w: &DMatrix<f64>, contact: usize, r: &[f64]) -> Vector<D> {
    let n = w.nrows();
    // Column-major and symmetric: column i serves as row i.
    let columns: [&[f64]; D] = std::array::from_fn(|k| &w.as_slice()[(D * contact + k) * n..][..n]);
    let products = wide(Products { columns, x: r });
    Vector::from(products.unwrap_or_else(|this| this.columns.map(|column| dot(column, r))))
}

/// Dot products of a few columns with x.
struct Products<'a, const D: usize> {
    columns: [&'a [f64]; D],
    x: &'a [f64],
}

impl<const D: usize> WithSimd for Products<'_, D> {
    type Output = [f64; D];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [f64; D] {
        let (x, rest) = S::as_simd_f64s(self.x);
        let columns = self.columns.map(|column| S::as_simd_f64s(&column[..self.x.len()]));
        // Two sums each, one after the other would wait for the last.
        let mut sums = [[simd.splat_f64s(0.0); 2]; D];
        for (i, x) in x.iter().enumerate() {
            for (sum, column) in sums.iter_mut().zip(&columns) {
                sum[i % 2] = simd.mul_add_f64s(column.0[i], *x, sum[i % 2]);
            }
        }
        std::array::from_fn(|k| {
            let sum = simd.reduce_sum_f64s(simd.add_f64s(sums[k][0], sums[k][1]));
            sum + columns[k].1.iter().zip(rest).map(|(a, b)| a * b).sum::<f64>()
        })
    }
}

struct DenseSweep<'a> {
    w: &'a DMatrix<f64>,
    r: Vec<f64>,
}

impl<const D: usize> Sweep<D> for DenseSweep<'_> {
    fn row(&self, i: usize) -> Vector<D> {
        rows(self.w, i, &self.r)
    }

    fn add(&mut self, i: usize, change: &Vector<D>) {
        let now = crate::small::block::<D>(&self.r, i) + change;
        set_block(&mut self.r, i, &now);
    }
}

struct DenseShifted(Cholesky<f64, nalgebra::Dyn>);

impl ShiftedSolve for DenseShifted {
    fn solve(&self, x: &mut [f64]) {
        if let Err(this) = wide(Substitution { l: self.0.l_dirty(), x }) {
            let mut v = DVector::from_column_slice(this.x);
            self.0.solve_mut(&mut v);
            this.x.copy_from_slice(v.as_slice());
        }
    }
}

/// x ← L⁻ᵀL⁻¹x; what L has above its diagonal is not read.
struct Substitution<'a> {
    l: &'a DMatrix<f64>,
    x: &'a mut [f64],
}

impl WithSimd for Substitution<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let n = self.x.len();
        let column = |j: usize| self.l.as_slice()[j * n..(j + 1) * n].split_at(j + 1);
        for j in 0..n {
            let (above, below) = column(j);
            let (done, rest) = self.x.split_at_mut(j + 1);
            done[j] /= above[j];
            let by = simd.splat_f64s(-done[j]);
            let (l, l_end) = S::as_simd_f64s(below);
            let (x, x_end) = S::as_mut_simd_f64s(rest);
            for (x, l) in x.iter_mut().zip(l) {
                *x = simd.mul_add_f64s(*l, by, *x);
            }
            for (x, l) in x_end.iter_mut().zip(l_end) {
                *x -= l * done[j];
            }
        }
        for j in (0..n).rev() {
            let (above, below) = column(j);
            let (now, done) = self.x.split_at_mut(j + 1);
            let [sum] = Products { columns: [below], x: done }.with_simd(simd);
            now[j] = (now[j] - sum) / above[j];
        }
    }
}
