//! Structured orthogonal elimination of the bordered almost-block-diagonal system of a Newton step.
//!
//! The condensed equations are, for i = 0 … N−1,
//!
//! ```text
//! y_{i+1} − G_i y_i − P_i p = r_i          and          B₀ y_0 + B₁ y_N + B_p p = β.
//! ```
//!
//! Interior points are removed one by one by a QR factorisation of the 2n × n column of y_i, which leaves one block
//! row in (y_0, y_{i+1}, p); the last system has size 2n + m. Multiplying the G_i instead (condensation, shooting)
//! overflows as soon as modes grow; orthogonal factors do not. Cost O(N n³), memory O(N n²).
//!
//! Reference: S. Wright, Stable parallel algorithms for two-point boundary value problems, SIAM J. Sci. Stat. Comput.
//! 13 (1992) 742–764; Ascher, Mattheij, Russell §7.

use super::BvpError;
use nalgebra::{DMatrix, DVector, Dyn, LU, QR};

/// Border blocks B₀, B₁ ((n+m) × n) and B_p ((n+m) × m).
pub(crate) struct Border {
    pub(crate) start: DMatrix<f64>,
    pub(crate) end: DMatrix<f64>,
    pub(crate) parameters: DMatrix<f64>,
}

/// Removal of one interior point: R y_i + T (y_0, y_{i+1}, p) = t.
struct Step {
    q: QR<f64, Dyn, Dyn>,
    r: DMatrix<f64>,
    rest: DMatrix<f64>,
}

/// The factorised system, good for several right-hand sides.
pub(crate) struct Elimination {
    n: usize,
    m: usize,
    steps: Vec<Step>,
    last: LU<f64, Dyn, Dyn>,
}

impl Elimination {
    /// Factorises from the pairs (G_i, P_i).
    pub(crate) fn new(
        intervals: &[(DMatrix<f64>, DMatrix<f64>)],
        border: &Border,
    ) -> Result<Self, BvpError> {
        let (n, m) = (border.start.ncols(), border.parameters.ncols());
        let (mut a, mut b, mut c) = (-&intervals[0].0, DMatrix::identity(n, n), -&intervals[0].1);
        let mut steps = Vec::with_capacity(intervals.len().saturating_sub(1));
        for (g, p) in &intervals[1..] {
            let mut column = DMatrix::zeros(2 * n, n);
            column.rows_mut(0, n).copy_from(&b);
            column.rows_mut(n, n).copy_from(&-g);
            let mut rest = DMatrix::zeros(2 * n, 2 * n + m);
            rest.view_mut((0, 0), (n, n)).copy_from(&a);
            rest.view_mut((n, n), (n, n)).fill_with_identity();
            rest.view_mut((0, 2 * n), (n, m)).copy_from(&c);
            rest.view_mut((n, 2 * n), (n, m)).copy_from(&-p);
            let q = column.qr();
            q.q_tr_mul(&mut rest);
            a = rest.view((n, 0), (n, n)).into_owned();
            b = rest.view((n, n), (n, n)).into_owned();
            c = rest.view((n, 2 * n), (n, m)).into_owned();
            steps.push(Step { r: q.r(), rest: rest.rows(0, n).into_owned(), q });
        }
        let size = 2 * n + m;
        let mut last = DMatrix::zeros(size, size);
        last.view_mut((0, 0), (n, n)).copy_from(&a);
        last.view_mut((0, n), (n, n)).copy_from(&b);
        last.view_mut((0, 2 * n), (n, m)).copy_from(&c);
        last.view_mut((n, 0), (n + m, n)).copy_from(&border.start);
        last.view_mut((n, n), (n + m, n)).copy_from(&border.end);
        last.view_mut((n, 2 * n), (n + m, m)).copy_from(&border.parameters);
        let last = last.lu();
        if !last.is_invertible() {
            return Err(BvpError::Singular);
        }
        Ok(Self { n, m, steps, last })
    }

    /// All y_i (n each) and p for the right-hand sides r_i and β.
    pub(crate) fn solve(
        &self,
        r: &[DVector<f64>],
        beta: &DVector<f64>,
    ) -> Result<(Vec<DVector<f64>>, DVector<f64>), BvpError> {
        let (n, m) = (self.n, self.m);
        let mut carried = r[0].clone();
        let mut kept = Vec::with_capacity(self.steps.len());
        for (step, r) in self.steps.iter().zip(&r[1..]) {
            let mut t = DVector::zeros(2 * n);
            t.rows_mut(0, n).copy_from(&carried);
            t.rows_mut(n, n).copy_from(r);
            step.q.q_tr_mul(&mut t);
            carried = t.rows(n, n).into_owned();
            kept.push(t.rows(0, n).into_owned());
        }
        let mut end = DVector::zeros(2 * n + m);
        end.rows_mut(0, n).copy_from(&carried);
        end.rows_mut(n, n + m).copy_from(beta);
        if !self.last.solve_mut(&mut end) {
            return Err(BvpError::Singular);
        }
        let (first, p) = (end.rows(0, n).into_owned(), end.rows(2 * n, m).into_owned());
        let mut known = DVector::zeros(2 * n + m);
        known.copy_from(&end);
        let mut y = vec![end.rows(n, n).into_owned()];
        for (step, t) in self.steps.iter().zip(kept).rev() {
            let mut here = t - &step.rest * &known;
            if !step.r.solve_upper_triangular_mut(&mut here) {
                return Err(BvpError::Singular);
            }
            known.rows_mut(n, n).copy_from(&here);
            y.push(here);
        }
        y.push(first);
        y.reverse();
        Ok((y, p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries without structure from a small congruential sequence.
    fn noise(rows: usize, columns: usize, seed: &mut u64) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*seed >> 40) as f64 / (1u64 << 23) as f64 - 1.0
        })
    }

    #[test]
    fn elimination_solves_the_equations_it_was_given() {
        let (n, m, count, mut seed) = (3, 2, 40, 7);
        // Modes that grow and decay a hundredfold per interval: products would reach 1e80.
        let blocks: Vec<_> = (0..count)
            .map(|_| {
                let mut g = noise(n, n, &mut seed);
                g[(0, 0)] += 100.0;
                (g, noise(n, m, &mut seed))
            })
            .collect();
        let border = Border {
            start: noise(n + m, n, &mut seed),
            end: noise(n + m, n, &mut seed),
            parameters: noise(n + m, m, &mut seed),
        };
        let r: Vec<DVector<f64>> =
            (0..count).map(|_| noise(n, 1, &mut seed).column(0).into_owned()).collect();
        let beta = noise(n + m, 1, &mut seed).column(0).into_owned();
        let (y, p) = Elimination::new(&blocks, &border).unwrap().solve(&r, &beta).unwrap();
        for i in 0..count {
            let residual = &y[i + 1] - &blocks[i].0 * &y[i] - &blocks[i].1 * &p - &r[i];
            assert!(residual.amax() < 1e-11, "interval {i}: {residual}");
        }
        let residual =
            &border.start * &y[0] + &border.end * &y[count] + &border.parameters * &p - beta;
        assert!(residual.amax() < 1e-11, "border: {residual}");
    }
}
