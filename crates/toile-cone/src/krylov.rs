//! Iterative solution of linear systems known by their products.

use crate::operator::dot;

/// Generalised minimal residuals with restarts (Saad, Schultz 1986), preconditioned from the right.
pub(crate) struct Gmres {
    pub(crate) restart: usize,
    pub(crate) most: usize,
    pub(crate) tolerance: f64,
}

impl Gmres {
    /// Solves a·x = b from x = 0; returns the products used. `both(v, z, az)` gives z = p·v with the preconditioner p, and
    /// a·z: they may share work.
    pub(crate) fn solve(
        &self,
        both: impl Fn(&[f64], &mut [f64], &mut [f64]),
        b: &[f64],
        x: &mut [f64],
    ) -> usize {
        let n = b.len();
        let m = self.restart.min(n).max(1);
        let target = self.tolerance * norm(b);
        let mut used = 0;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let (mut work, mut z, mut sum) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let mut rest = b.to_vec();
        x.fill(0.0);
        while used < self.most {
            let size = norm(&rest);
            if !(size > target) {
                break;
            }
            basis.clear();
            basis.push(rest.iter().map(|v| v / size).collect());
            let mut h: Vec<Vec<f64>> = Vec::new();
            let mut turns: Vec<(f64, f64)> = Vec::new();
            let mut g = vec![size];
            while h.len() < m && used < self.most {
                let k = h.len();
                both(&basis[k], &mut z, &mut work);
                used += 1;
                let mut column = Vec::with_capacity(k + 2);
                for q in &basis {
                    let c = dot(q, &work);
                    work.iter_mut().zip(q).for_each(|(w, q)| *w -= c * q);
                    column.push(c);
                }
                let left = norm(&work);
                for (i, (c, s)) in turns.iter().enumerate() {
                    let (p, q) = (column[i], column[i + 1]);
                    column[i] = c * p + s * q;
                    column[i + 1] = c * q - s * p;
                }
                let length = column[k].hypot(left);
                if length == 0.0 || !length.is_finite() {
                    break;
                }
                let (c, s) = (column[k] / length, left / length);
                column[k] = length;
                turns.push((c, s));
                let last = g[k];
                g[k] = c * last;
                g.push(-s * last);
                h.push(column);
                if g[k + 1].abs() <= target || left <= 1e-14 * length {
                    break;
                }
                basis.push(work.iter().map(|w| w / left).collect());
            }
            let k = h.len();
            if k == 0 {
                break;
            }
            let mut y = g[..k].to_vec();
            for i in (0..k).rev() {
                for j in i + 1..k {
                    y[i] -= h[j][i] * y[j];
                }
                y[i] /= h[i][i];
            }
            sum.fill(0.0);
            for (y, q) in y.iter().zip(&basis) {
                sum.iter_mut().zip(q).for_each(|(z, q)| *z += y * q);
            }
            both(&sum, &mut z, &mut work);
            used += 1;
            for i in 0..n {
                x[i] += z[i];
                rest[i] -= work[i];
            }
            if g[k].abs() <= target {
                break;
            }
        }
        used
    }
}

/// Conjugate gradients for a symmetric positive definite a; improves x, returns the products used.
pub(crate) fn conjugate_gradients(
    a: impl Fn(&[f64], &mut [f64]),
    b: &[f64],
    x: &mut [f64],
    tolerance: f64,
    most: usize,
) -> usize {
    let n = b.len();
    let mut work = vec![0.0; n];
    a(x, &mut work);
    let mut rest: Vec<f64> = b.iter().zip(&work).map(|(b, w)| b - w).collect();
    let mut p = rest.clone();
    let mut square = dot(&rest, &rest);
    let target = (tolerance * norm(b)).powi(2);
    for k in 0..most {
        if !(square > target) {
            return k + 1;
        }
        a(&p, &mut work);
        let curvature = dot(&p, &work);
        if !(curvature > 0.0) {
            return k + 2;
        }
        let alpha = square / curvature;
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
        rest.iter_mut().zip(&work).for_each(|(r, w)| *r -= alpha * w);
        let next = dot(&rest, &rest);
        let beta = next / square;
        p.iter_mut().zip(&rest).for_each(|(p, r)| *p = r + beta * *p);
        square = next;
    }
    most + 1
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A convection–diffusion chain: not symmetric.
    fn chain(wind: f64) -> impl Fn(&[f64], &mut [f64]) {
        move |x: &[f64], out: &mut [f64]| {
            let n = x.len();
            for i in 0..n {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i + 1 < n { x[i + 1] } else { 0.0 };
                out[i] = 2.1 * x[i] - (1.0 + wind) * left - (1.0 - wind) * right;
            }
        }
    }

    #[test]
    fn systems_are_solved_to_the_tolerance() {
        let n = 120;
        let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        let mut x = vec![0.0; n];
        let used = Gmres { restart: 40, most: 600, tolerance: 1e-11 }.solve(
            |v, z, az| {
                z.iter_mut().zip(v).for_each(|(z, v)| *z = v / 2.1);
                chain(0.4)(z, az);
            },
            &b,
            &mut x,
        );
        let mut out = vec![0.0; n];
        chain(0.4)(&x, &mut out);
        let error = out.iter().zip(&b).fold(0.0f64, |m, (o, b)| m.max((o - b).abs()));
        assert!(error < 1e-10 && used < 600, "{error:e} after {used}");
        let mut x = vec![0.0; n];
        let used = conjugate_gradients(chain(0.0), &b, &mut x, 1e-12, 400);
        chain(0.0)(&x, &mut out);
        let error = out.iter().zip(&b).fold(0.0f64, |m, (o, b)| m.max((o - b).abs()));
        assert!(error < 1e-10 && used < 200, "{error:e} after {used}");
    }
}
