//! Negative eigenvalues of large symmetric matrices, as many as can be seen.

use toile_num::parallel::map_items;

/// Steps at most: the ends of a spectrum show after a few dozen.
const STEPS: usize = 150;

/// Part of the largest eigenvalue below which one counts as zero.
const ZERO: f64 = 1e-10;

/// Counts negative eigenvalues of a symmetric operator, `most` of them at most, by Lanczos' process from a start.
///
/// The eigenvalues of its tridiagonal matrix interlace with those of the operator: some may not be seen, none is made up.
pub(crate) fn negative_eigenvalues(
    apply: &impl Fn(&[f64], &mut [f64]),
    start: Vec<f64>,
    most: usize,
) -> usize {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let size = dot(&start, &start).sqrt();
    if !(size > 0.0 && size.is_finite()) {
        return 0;
    }
    let mut basis: Vec<Vec<f64>> = vec![start.iter().map(|x| x / size).collect()];
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut next = vec![0.0; start.len()];
    let mut count = 0;
    for step in 0..STEPS.min(start.len()) {
        apply(&basis[step], &mut next);
        diagonal.push(dot(&next, &basis[step]));
        // Twice against all before: what is lost of their right angles shows as eigenvalues that are there already.
        for _ in 0..2 {
            let along = map_items(&basis, 8, |_, v| dot(v, &next));
            for (a, v) in along.iter().zip(&basis) {
                next.iter_mut().zip(v).for_each(|(x, v)| *x -= a * v);
            }
        }
        count = below_zero(&diagonal, &beside);
        let left = dot(&next, &next).sqrt();
        let scale = diagonal.iter().fold(0.0f64, |m, d| m.max(d.abs()));
        if count >= most || left.is_nan() || left <= 1e-12 * scale {
            break;
        }
        beside.push(left);
        basis.push(next.iter().map(|x| x / left).collect());
    }
    count.min(most)
}

/// Eigenvalues of a symmetric tridiagonal matrix below zero by more than rounding (Sturm).
fn below_zero(diagonal: &[f64], beside: &[f64]) -> usize {
    let largest = diagonal.iter().chain(beside).fold(0.0f64, |m, d| m.max(d.abs()));
    let shift = ZERO * largest;
    let (mut count, mut pivot) = (0, 1.0);
    for (i, d) in diagonal.iter().enumerate() {
        let coupling = if i > 0 { beside[i - 1] } else { 0.0 };
        pivot = d + shift - coupling * coupling / pivot;
        if pivot == 0.0 {
            pivot = f64::MIN_POSITIVE;
        }
        count += usize::from(pivot < 0.0);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A spectrum of thousands of positive numbers and three negative ones: all are seen, and no fourth.
    #[test]
    fn few_negative_eigenvalues_among_many_positive_are_counted() {
        let n = 3000;
        let value = |i: usize| match i {
            5 => -0.3,
            700 => -0.02,
            2100 => -1.0,
            _ => 1e-6 + (i as f64 * 0.37).sin().powi(2),
        };
        let apply = |x: &[f64], y: &mut [f64]| {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                *y = value(i) * x;
            }
        };
        let start: Vec<f64> = (0..n).map(|i| 1.0 + (1.3 * i as f64).sin()).collect();
        assert_eq!(negative_eigenvalues(&apply, start.clone(), 10), 3);
        assert_eq!(negative_eigenvalues(&apply, start, 2), 2);
        let positive = |x: &[f64], y: &mut [f64]| {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                *y = value(i).abs() * x;
            }
        };
        assert_eq!(negative_eigenvalues(&positive, vec![1.0; n], 10), 0);
    }
}
