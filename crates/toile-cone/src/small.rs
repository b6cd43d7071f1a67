//! Blocks of long vectors and linear algebra of matrices of a few rows.

use toile_num::{Matrix, Vector};

/// Block `i` of a long vector.
pub(crate) fn block<const D: usize>(x: &[f64], i: usize) -> Vector<D> {
    Vector::from_fn(|k, _| x[D * i + k])
}

/// Writes block `i` of a long vector.
pub(crate) fn set_block<const D: usize>(x: &mut [f64], i: usize, value: &Vector<D>) {
    x[D * i..D * (i + 1)].copy_from_slice(value.as_slice());
}

/// ‖x_T‖, the length of all components but the first; exact when one of them is alone.
pub(crate) fn tangent_norm<const D: usize>(x: &Vector<D>) -> f64 {
    match D {
        2 => x[1].abs(),
        3 => {
            // hypot is four times as slow, and needed only where squares leave the range of numbers.
            let squared = x[1] * x[1] + x[2] * x[2];
            if squared > 1e-280 && squared < 1e280 { squared.sqrt() } else { x[1].hypot(x[2]) }
        }
        _ => {
            let largest = (1..D).fold(0.0f64, |m, k| m.max(x[k].abs()));
            if largest > 0.0 {
                largest * (1..D).map(|k| (x[k] / largest).powi(2)).sum::<f64>().sqrt()
            } else {
                0.0
            }
        }
    }
}

/// x with its first component replaced by zero.
pub(crate) fn tangent<const D: usize>(x: &Vector<D>) -> Vector<D> {
    let mut t = *x;
    t[0] = 0.0;
    t
}

/// Solution of a·x = b by elimination with row exchanges; `None` when a pivot is below `f64`'s
/// resolution of the matrix.
pub(crate) fn solve<const D: usize>(a: &Matrix<D, D>, b: &Vector<D>) -> Option<Vector<D>> {
    let (mut a, mut x) = (*a, *b);
    let smallest = f64::EPSILON * 1e-2 * a.amax();
    for k in 0..D {
        let pivot = (k..D).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs()))?;
        // A matrix of zeros or with a NaN ends here too.
        if !(a[(pivot, k)].abs() > smallest) {
            return None;
        }
        if pivot != k {
            a.swap_rows(k, pivot);
            x.swap_rows(k, pivot);
        }
        for i in k + 1..D {
            let factor = a[(i, k)] / a[(k, k)];
            if factor != 0.0 {
                for j in k + 1..D {
                    a[(i, j)] -= factor * a[(k, j)];
                }
                x[i] -= factor * x[k];
            }
        }
    }
    for k in (0..D).rev() {
        for j in k + 1..D {
            x[k] -= a[(k, j)] * x[j];
        }
        x[k] /= a[(k, k)];
    }
    x.iter().all(|v| v.is_finite()).then_some(x)
}

/// Smallest pivot of the Cholesky factorisation relative to its diagonal entry: about 1 for a
/// diagonal matrix, 0 or less for one that is not positive definite.
pub(crate) fn definiteness<const D: usize>(a: &Matrix<D, D>) -> f64 {
    let mut l = *a;
    let mut least = f64::INFINITY;
    let size = a.diagonal().amax();
    for k in 0..D {
        let mut pivot = l[(k, k)];
        for j in 0..k {
            pivot -= l[(k, j)] * l[(k, j)];
        }
        least = least.min(pivot / size);
        if !(pivot > 0.0) {
            return least.min(0.0);
        }
        let root = pivot.sqrt();
        l[(k, k)] = root;
        for i in k + 1..D {
            let mut v = l[(i, k)];
            for j in 0..k {
                v -= l[(i, j)] * l[(k, j)];
            }
            l[(i, k)] = v / root;
        }
    }
    least
}

/// Eigenvalues and, in columns, eigenvectors of a symmetric matrix by Jacobi's rotations.
pub(crate) fn symmetric_eigen<const D: usize>(a: &Matrix<D, D>) -> (Vector<D>, Matrix<D, D>) {
    let (mut a, mut q) = (*a, Matrix::<D, D>::identity());
    for _ in 0..30 {
        let mut off = 0.0f64;
        for i in 0..D {
            for j in i + 1..D {
                off = off.max(a[(i, j)].abs());
            }
        }
        if !(off > 1e-17 * a.diagonal().amax()) {
            break;
        }
        for i in 0..D {
            for j in i + 1..D {
                if a[(i, j)] == 0.0 {
                    continue;
                }
                let theta = (a[(j, j)] - a[(i, i)]) / (2.0 * a[(i, j)]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..D {
                    let (x, y) = (a[(k, i)], a[(k, j)]);
                    a[(k, i)] = c * x - s * y;
                    a[(k, j)] = s * x + c * y;
                }
                for k in 0..D {
                    let (x, y) = (a[(i, k)], a[(j, k)]);
                    a[(i, k)] = c * x - s * y;
                    a[(j, k)] = s * x + c * y;
                }
                for k in 0..D {
                    let (x, y) = (q[(k, i)], q[(k, j)]);
                    q[(k, i)] = c * x - s * y;
                    q[(k, j)] = s * x + c * y;
                }
            }
        }
    }
    (a.diagonal(), q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn elimination_and_rotations_invert_each_other() {
        let mut random = Random::new(3);
        for _ in 0..200 {
            let g = Matrix::<6, 6>::from_fn(|_, _| random.normal());
            let a = g * g.transpose() + Matrix::identity() * 0.1;
            let b = Vector::<6>::from_fn(|_, _| random.normal());
            let x = solve(&a, &b).unwrap();
            assert!((a * x - b).amax() < 1e-12 * (1.0 + x.amax()) * a.amax());
            let (values, q) = symmetric_eigen(&a);
            let back = q * Matrix::<6, 6>::from_diagonal(&values) * q.transpose();
            assert!((back - a).amax() < 1e-13 * a.amax());
            assert!(definiteness(&a) > 0.0);
        }
        let flat = Matrix::<3, 3>::new(1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0);
        assert!(solve(&flat, &Vector::<3>::new(1.0, 0.0, 0.0)).is_none());
        assert!(definiteness(&flat) <= 1e-15);
    }

    #[test]
    fn lengths_do_not_overflow() {
        let x = Vector::<6>::new(9.0, 3e200, 4e200, 0.0, 0.0, 0.0);
        assert!((tangent_norm(&x) / 5e200 - 1.0).abs() < 1e-15);
        assert_eq!(tangent_norm(&Vector::<3>::new(1.0, 0.0, -2.0)), 2.0);
        assert_eq!(tangent_norm(&Vector::<6>::zeros()), 0.0);
    }
}
