//! Krylov iterations against the direct solvers.

use crate::common::{Noise, difference, laplacian, sheet};
use std::cell::Cell;
use toile_solve::{
    BlockJacobi, Cholesky, IdentityPreconditioner, IterativeSettings, Ldlt, LinearOperator,
    OperatorFn, Ordering, SolveError, StopReason, SymmetricOperator, conjugate_gradient, minres,
};

const TIGHT: IterativeSettings = IterativeSettings { tolerance: 1e-12, max_iterations: 5_000 };

#[test]
fn conjugate_gradients_and_minres_agree_with_cholesky() {
    let a = sheet(12, Ordering::Amd);
    let n = a.pattern.n;
    let b = Noise(4).vector(n);
    let mut expected = vec![0.0; n];
    let mut cholesky = Cholesky::new(a.pattern.clone()).unwrap();
    cholesky.factorize(&a.values).unwrap();
    cholesky.solve(&a.values, &b, &mut expected).unwrap();
    let operator = SymmetricOperator { pattern: &a.pattern, values: &a.values };
    let jacobi = BlockJacobi::by_threes(&a.pattern, &a.values).unwrap();
    let none = IdentityPreconditioner { n };
    let mut x = vec![0.0; n];
    for report in [
        {
            x.fill(0.0);
            conjugate_gradient(&operator, &jacobi, &b, &mut x, &TIGHT).unwrap()
        },
        {
            assert!(difference(&x, &expected) < 1e-11);
            x.fill(0.3); // any start will do
            conjugate_gradient(&operator, &none, &b, &mut x, &TIGHT).unwrap()
        },
        {
            assert!(difference(&x, &expected) < 1e-11);
            x.fill(0.3);
            minres(&operator, &jacobi, &b, &mut x, &TIGHT).unwrap()
        },
        {
            assert!(difference(&x, &expected) < 1e-11);
            x.fill(0.0);
            minres(&operator, &none, &b, &mut x, &TIGHT).unwrap()
        },
    ] {
        assert_eq!(report.stop, StopReason::Converged);
        assert!(report.residual <= 1e-12);
        assert!(report.iterations < 60, "{report:?}");
    }
    assert!(difference(&x, &expected) < 1e-11);
}

#[test]
fn block_jacobi_repairs_bad_scaling() {
    let mut a = sheet(10, Ordering::Amd);
    // Unknowns in other units: S A S.
    let scale = |i: usize| if (i / 3).is_multiple_of(2) { 1.0 } else { 1e3 };
    for j in 0..a.pattern.n {
        for k in a.pattern.col_ptr[j]..a.pattern.col_ptr[j + 1] {
            a.values[k] *= scale(j) * scale(a.pattern.row_idx[k]);
        }
    }
    let operator = SymmetricOperator { pattern: &a.pattern, values: &a.values };
    let b = Noise(8).vector(a.pattern.n);
    let count = |m: &dyn LinearOperator| {
        let m = OperatorFn { n: a.pattern.n, function: |x: &[f64], y: &mut [f64]| m.apply(x, y) };
        let mut x = vec![0.0; b.len()];
        let settings = IterativeSettings::default();
        conjugate_gradient(&operator, &m, &b, &mut x, &settings).unwrap().iterations
    };
    let with = count(&BlockJacobi::by_threes(&a.pattern, &a.values).unwrap());
    let without = count(&IdentityPreconditioner { n: a.pattern.n });
    assert!(4 * with < without, "{with} against {without}");
}

#[test]
fn minres_solves_indefinite_systems() {
    let (a, eigenvalues) = laplacian(15, -1.3, Ordering::Amd);
    assert!(eigenvalues.iter().any(|&e| e < 0.0));
    let n = a.pattern.n;
    let b = Noise(6).vector(n);
    let mut expected = vec![0.0; n];
    let mut ldlt = Ldlt::new(a.pattern.clone()).unwrap();
    ldlt.factorize(&a.values, None).unwrap();
    ldlt.solve(&a.values, &b, &mut expected).unwrap();
    let operator = SymmetricOperator { pattern: &a.pattern, values: &a.values };
    let mut x = vec![0.0; n];
    let none = IdentityPreconditioner { n };
    let report = minres(&operator, &none, &b, &mut x, &TIGHT).unwrap();
    assert_eq!(report.stop, StopReason::Converged, "{report:?}");
    assert!(difference(&x, &expected) < 1e-9);
}

#[test]
fn conjugate_gradients_report_negative_curvature() {
    let (a, _) = laplacian(9, -1.0, Ordering::Natural);
    let n = a.pattern.n;
    let b = Noise(1).vector(n);
    let operator = SymmetricOperator { pattern: &a.pattern, values: &a.values };
    let mut x = vec![0.0; n];
    let none = IdentityPreconditioner { n };
    let report = conjugate_gradient(&operator, &none, &b, &mut x, &TIGHT).unwrap();
    assert_eq!(report.stop, StopReason::NegativeCurvature);
    let found = report.negative_curvature.unwrap();
    let p = &found.direction;
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let curvature = dot(p, &a.multiply(p)) / dot(p, p);
    assert!(curvature < 0.0);
    assert!((curvature - found.curvature).abs() < 1e-14);
    let ax = a.multiply(&x);
    let r: Vec<f64> = b.iter().zip(ax).map(|(b, ax)| b - ax).collect();
    assert!(dot(p, &r) > 0.0, "a descent direction");
}

#[test]
fn a_singular_compatible_system_is_solved_by_minres() {
    // Path Laplacian: constants in the kernel, right-hand side orthogonal to them.
    let n = 50;
    let operator = OperatorFn {
        n,
        function: |x: &[f64], y: &mut [f64]| {
            for i in 0..n {
                let left = if i > 0 { x[i] - x[i - 1] } else { 0.0 };
                let right = if i + 1 < n { x[i] - x[i + 1] } else { 0.0 };
                y[i] = left + right;
            }
        },
    };
    let mut b = vec![0.0; n];
    (b[0], b[n - 1]) = (1.0, -1.0);
    let mut x = vec![0.0; n];
    let none = IdentityPreconditioner { n };
    let settings = IterativeSettings::default();
    let report = minres(&operator, &none, &b, &mut x, &settings).unwrap();
    assert_eq!(report.stop, StopReason::Converged, "{report:?}");
    assert!((x[0] - x[n - 1] - 49.0).abs() < 1e-7); // unit current through 49 unit resistors
    // A right-hand side outside the range: no solution, and it says so.
    b[0] = 2.0;
    let report = minres(&operator, &none, &b, &mut x, &settings).unwrap();
    assert_eq!(report.stop, StopReason::Stagnation, "{report:?}");
    assert!(report.iterations < settings.max_iterations);
}

#[test]
fn iterations_stop_at_their_limit_and_refuse_nan() {
    let (a, _) = laplacian(20, 0.0, Ordering::Natural);
    let n = a.pattern.n;
    let products = Cell::new(0);
    let operator = OperatorFn {
        n,
        function: |x: &[f64], y: &mut [f64]| {
            products.set(products.get() + 1);
            a.pattern.multiply(&a.values, x, y);
        },
    };
    let none = IdentityPreconditioner { n };
    let few = IterativeSettings { max_iterations: 5, ..TIGHT };
    let b = vec![1.0; n];
    for solve in [conjugate_gradient, minres] {
        products.set(0);
        let mut x = vec![0.0; n];
        let report = solve(&operator, &none, &b, &mut x, &few).unwrap();
        assert_eq!((report.stop, report.iterations), (StopReason::IterationLimit, 5));
        assert!(products.get() <= 8);
        let mut bad = b.clone();
        bad[3] = f64::NAN;
        assert!(solve(&operator, &none, &bad, &mut x, &few).is_err());
        let poisoned = OperatorFn {
            n,
            function: |x: &[f64], y: &mut [f64]| {
                let all = x.iter().sum::<f64>();
                y.fill(if all == 0.0 { 0.0 } else { f64::NAN });
            },
        };
        let mut x = vec![0.0; n];
        let outcome = conjugate_gradient(&poisoned, &none, &b, &mut x, &few);
        assert!(matches!(outcome, Err(SolveError::NotFinite { .. })));
        let outcome = minres(&poisoned, &none, &b, &mut x, &few);
        assert!(matches!(outcome, Err(SolveError::NotFinite { .. })));
    }
}
