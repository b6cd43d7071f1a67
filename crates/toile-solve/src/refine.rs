//! Measuring a solution, and improving it with the factor that gave it.

use crate::{FactorSettings, SolveError};

/// How well a direct solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// ‖Ax − b‖₂/‖b‖₂; zero for b = 0. Of the worst column when there are several.
    pub residual: f64,
    /// ‖Ax − b‖∞/(‖A‖∞‖x‖∞ + ‖b‖∞): relative change of A and b that would make x exact. Close to
    /// 1e-16 for a sound solve however ill-conditioned A is, whereas `residual` grows with ‖A‖‖x‖/‖b‖.
    pub backward_error: f64,
    /// Refinement steps taken.
    pub refinements: usize,
}

impl SolveReport {
    /// The worse of two columns.
    pub(crate) fn worst(self, other: Self) -> Self {
        Self {
            residual: self.residual.max(other.residual),
            backward_error: self.backward_error.max(other.backward_error),
            refinements: self.refinements.max(other.refinements),
        }
    }
}

/// Vectors a refined solve works in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    residual: Vec<f64>,
    correction: Vec<f64>,
    previous: Vec<f64>,
}

impl Workspace {
    pub(crate) fn new(n: usize) -> Self {
        Self { residual: vec![0.0; n], correction: vec![0.0; n], previous: vec![0.0; n] }
    }

    /// Scratch of length n, free between solves.
    pub(crate) fn scratch(&mut self) -> &mut [f64] {
        &mut self.residual
    }
}

/// Improves x, an approximate solution of A x = b, in place.
///
/// `inverse` overwrites a vector v by (roughly) A⁻¹v, `product` computes A v, `norm` is ‖A‖∞.
/// Refinement in working precision: x ← x + A⁻¹(b − A x), kept only when the residual falls.
/// Fails on NaN and on a backward error above the limit; x is then the best iterate seen.
///
/// Reference: Skeel 1980; Higham 2002, "Accuracy and stability of numerical algorithms", ch. 12.
pub(crate) fn refine(
    mut inverse: impl FnMut(&mut [f64]),
    product: impl Fn(&[f64], &mut [f64]),
    norm: f64,
    rhs: &[f64],
    x: &mut [f64],
    settings: &FactorSettings,
    work: &mut Workspace,
) -> Result<SolveReport, SolveError> {
    let rhs_norm = norm2(rhs);
    if rhs_norm == 0.0 {
        x.fill(0.0);
        return Ok(SolveReport::default());
    }
    let rhs_max = norm_max(rhs);
    let mut report = SolveReport::default();
    let mut before: Option<SolveReport> = None;
    loop {
        product(x, &mut work.residual);
        for (r, b) in work.residual.iter_mut().zip(rhs) {
            *r = b - *r;
        }
        report.residual = norm2(&work.residual) / rhs_norm;
        report.backward_error =
            norm_max(&work.residual) / (norm * norm_max(x) + rhs_max).max(f64::MIN_POSITIVE);
        let finite = report.residual.is_finite() && report.backward_error.is_finite();
        if let Some(best) = before
            && !(finite && report.residual < best.residual)
        {
            // The step made things worse: go back and stop.
            x.copy_from_slice(&work.previous);
            report = SolveReport { refinements: report.refinements, ..best };
            break;
        }
        if !finite {
            return Err(SolveError::NotFinite { what: "solution" });
        }
        let stagnates = before.is_some_and(|best| report.residual > 0.5 * best.residual);
        if stagnates
            || report.residual <= settings.residual_target
            || report.backward_error <= f64::EPSILON
            || report.refinements >= settings.max_refinements
        {
            break;
        }
        before = Some(report);
        work.previous.copy_from_slice(x);
        work.correction.copy_from_slice(&work.residual);
        inverse(&mut work.correction);
        for (x, d) in x.iter_mut().zip(&work.correction) {
            *x += d;
        }
        report.refinements += 1;
    }
    if report.backward_error > settings.backward_error_limit {
        return Err(SolveError::Inaccurate {
            residual: report.residual,
            backward_error: report.backward_error,
            refinements: report.refinements,
        });
    }
    Ok(report)
}

/// Largest magnitude; NaN as soon as one entry is.
pub(crate) fn norm_max(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |largest: f64, &x| {
        let x = x.abs();
        if x.is_nan() || x > largest { x } else { largest }
    })
}

/// ‖v‖₂, scaled so that squares neither overflow nor vanish.
pub(crate) fn norm2(v: &[f64]) -> f64 {
    let scale = norm_max(v);
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    let sum: f64 = if (1e-100..1e100).contains(&scale) {
        return v.iter().map(|x| x * x).sum::<f64>().sqrt();
    } else {
        v.iter().map(|x| (x / scale) * (x / scale)).sum()
    };
    scale * sum.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_survive_extreme_sizes_and_keep_nan() {
        for size in [1e-200, 1.0, 1e200] {
            let norm = norm2(&[3.0 * size, -4.0 * size]);
            assert!((norm / size - 5.0).abs() < 1e-14, "{norm}");
        }
        // NaN first and last: a plain `max` would drop one of them.
        assert!(norm_max(&[f64::NAN, 1.0]).is_nan());
        assert!(norm_max(&[1.0, f64::NAN]).is_nan());
        assert!(norm2(&[1.0, f64::NAN]).is_nan());
    }

    fn settings() -> FactorSettings {
        FactorSettings { max_refinements: 30, ..FactorSettings::default() }
    }

    /// One unknown, A = 2, with an inverse that is `error` wrong.
    fn one_unknown(error: f64, start: f64) -> (Result<SolveReport, SolveError>, f64) {
        let mut x = [start];
        let report = refine(
            |v| v[0] *= 0.5 * (1.0 + error),
            |x, y| y[0] = 2.0 * x[0],
            2.0,
            &[6.0],
            &mut x,
            &settings(),
            &mut Workspace::new(1),
        );
        (report, x[0])
    }

    #[test]
    fn a_rough_inverse_is_repaired() {
        let (report, x) = one_unknown(1e-3, 3.003);
        let report = report.unwrap();
        assert!((x - 3.0).abs() < 1e-14);
        assert!((4..=6).contains(&report.refinements), "{report:?}");
    }

    #[test]
    fn a_wrong_inverse_is_refused_and_the_best_iterate_kept() {
        let (report, x) = one_unknown(-3.0, 9.0); // each step moves twice the error, the wrong way
        assert!(matches!(report, Err(SolveError::Inaccurate { .. })));
        assert_eq!(x, 9.0);
        assert_eq!(one_unknown(0.0, f64::NAN).0, Err(SolveError::NotFinite { what: "solution" }));
    }
}
