//! Where the mesh must be finer: local errors from the defect, and their equidistribution.

use super::collocation::Rule;
use super::solution::Solution;
use super::{BoundaryValueProblem, Settings};

/// h·max|u' − f(u)| on each interval, relative to the largest magnitude of the component.
///
/// The defect is sampled at the ends and between the Gauss points, where it peaks (at the points it vanishes).
pub(crate) fn local_errors<P: BoundaryValueProblem>(
    problem: &P,
    rule: &Rule,
    u: &Solution,
) -> Vec<f64> {
    let mut samples = vec![0.0, 1.0];
    samples.extend(rule.points.windows(2).map(|w| 0.5 * (w[0] + w[1])));
    let factors: Vec<_> =
        samples.iter().map(|&tau| (tau, rule.lagrange(tau), rule.integrals(tau))).collect();
    let sizes = u.sizes();
    let mut f = vec![0.0; u.dimension];
    (0..u.intervals())
        .map(|i| {
            let h = u.mesh[i + 1] - u.mesh[i];
            let mut worst = 0.0_f64;
            for (tau, lagrange, integrals) in &factors {
                let slope = u.combine(i, lagrange);
                let mut y = u.node(i).to_vec();
                for (y, increment) in y.iter_mut().zip(u.combine(i, integrals)) {
                    *y += h * increment;
                }
                problem.rhs(u.mesh[i] + tau * h, &y, &u.parameters, &mut f);
                for c in 0..u.dimension {
                    if sizes[c] > 0.0 {
                        worst = worst.max(h * (slope[c] - f[c]).abs() / sizes[c]);
                    }
                }
            }
            worst
        })
        .collect()
}

/// A mesh on which the local errors, of order h^{k+1}, should all be half the tolerance.
///
/// The count may fall but grows at most fourfold at a time, since errors on a coarse mesh predict little. No interval
/// is wider than ten times the average of the density asks for, so that empty stretches keep some points.
pub(crate) fn equidistribute(
    mesh: &[f64],
    errors: &[f64],
    stages: usize,
    settings: &Settings,
) -> Vec<f64> {
    let count = errors.len();
    let root = 1.0 / (stages as f64 + 1.0);
    let target = 0.5 * settings.tolerance;
    // Intervals wanted inside each old interval.
    let mut wanted: Vec<f64> = errors.iter().map(|e| (e / target).powf(root).min(1e6)).collect();
    let widths: Vec<f64> = mesh.windows(2).map(|w| w[1] - w[0]).collect();
    let average: f64 = wanted.iter().sum();
    for (wanted, width) in wanted.iter_mut().zip(&widths) {
        *wanted = wanted.max(0.1 * average * width);
    }
    let total: f64 = wanted.iter().sum();
    let mut new_count = (total.ceil() as usize).clamp(count.div_ceil(2).max(4), 4 * count);
    if new_count > settings.intervals && count < settings.intervals {
        new_count = settings.intervals;
    }
    let mut out = Vec::with_capacity(new_count + 1);
    out.push(0.0);
    let (mut i, mut passed) = (0, 0.0);
    for j in 1..new_count {
        let goal = total * j as f64 / new_count as f64;
        while i + 1 < count && passed + wanted[i] < goal {
            passed += wanted[i];
            i += 1;
        }
        let s = mesh[i] + widths[i] * ((goal - passed) / wanted[i]).clamp(0.0, 1.0);
        // Points that rounding would merge are dropped.
        if s > out[out.len() - 1] + 1e-14 && s < 1.0 - 1e-14 {
            out.push(s);
        }
    }
    out.push(1.0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mesh_gathers_where_the_error_is() {
        let mesh = [0.0, 0.25, 0.5, 0.75, 1.0];
        let settings = Settings { tolerance: 1e-6, ..Settings::default() };
        let new = equidistribute(&mesh, &[1e-3, 1e-9, 1e-9, 1e-9], 5, &settings);
        let first = new.iter().filter(|&&s| s < 0.25).count();
        assert!(first > new.len() / 2, "{new:?}");
        assert!(new.windows(2).all(|w| w[0] < w[1]) && new[0] == 0.0 && new[new.len() - 1] == 1.0);
    }

    #[test]
    fn vanishing_errors_keep_a_mesh() {
        let new = equidistribute(&[0.0, 0.5, 1.0], &[0.0, 0.0], 5, &Settings::default());
        assert!(new.len() >= 2 && new.iter().all(|s| s.is_finite()), "{new:?}");
    }
}
