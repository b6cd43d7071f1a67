use nalgebra::DMatrix;
use toile_cone::{
    AlartCurnierNewton, Auto, DenseOperator, Problem, SensitivityError, Settings, Solution, Solver,
    Status, sensitivity,
};

fn solved(w: &[f64], b: &[f64], mu: &[f64]) -> Solution {
    let n = b.len();
    let operator = DenseOperator::<3>::new(DMatrix::from_row_slice(n, n, w)).unwrap();
    let problem = Problem::new(&operator, b, mu).unwrap();
    let settings = Settings { tolerance: 1e-12, ..Settings::default() };
    let first = Auto.solve(&problem, None, &settings, &|_, _| true);
    let settings = Settings { tolerance: 1e-15, max_iterations: 8, ..Settings::default() };
    AlartCurnierNewton.solve(&problem, Some(&first.r), &settings, &|_, _| true)
}

/// Three contacts: one slips, one sticks, one opens, all coupled.
fn data() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let n = 9;
    let a = DMatrix::<f64>::from_fn(n, n, |i, j| ((3 * i + 5 * j) as f64).sin());
    let w = &a * a.transpose() * 0.05 + DMatrix::<f64>::identity(n, n);
    let w = (&w + w.transpose()) * 0.5;
    let b = vec![-1.0, 2.0, -0.7, -1.0, 0.1, 0.05, 3.0, 0.4, 0.2];
    (w.transpose().iter().copied().collect(), b, vec![0.4, 0.6, 0.5])
}

fn weights(k: f64) -> Vec<f64> {
    (0..9).map(|i| (k + f64::from(i)).cos()).collect()
}

fn value(s: &Solution) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(&weights(0.3), &s.r) + dot(&weights(1.1), &s.u)
}

#[test]
fn slipping_sticking_and_opening_agree_with_differences() {
    let (w, b, mu) = data();
    let base = solved(&w, &b, &mu);
    assert_eq!(base.status, [Status::Slip, Status::Stick, Status::TakeOff]);
    let found = sensitivity::<3>(&w, &mu, &base, &weights(0.3), &weights(1.1)).unwrap();
    let step = 1e-6;
    let slope = |f: &dyn Fn(f64) -> Solution| (value(&f(step)) - value(&f(-step))) / (2.0 * step);
    for i in 0..9 {
        let expected = slope(&|s| {
            let mut b = b.clone();
            b[i] += s;
            solved(&w, &b, &mu)
        });
        assert!((found.b[i] - expected).abs() < 1e-7, "b[{i}]: {} {expected}", found.b[i]);
    }
    for i in 0..3 {
        let expected = slope(&|s| {
            let mut mu = mu.clone();
            mu[i] += s;
            solved(&w, &b, &mu)
        });
        assert!((found.mu[i] - expected).abs() < 1e-7, "μ[{i}]: {} {expected}", found.mu[i]);
    }
    assert!(found.mu[0].abs() > 0.1 && found.mu[1] == 0.0 && found.mu[2] == 0.0);
    for (i, j) in [(0, 0), (1, 4), (5, 2), (3, 3)] {
        let expected = slope(&|s| {
            let mut w = w.clone();
            w[9 * i + j] += s;
            if i != j {
                w[9 * j + i] += s;
            }
            solved(&w, &b, &mu)
        });
        let both = found.w[9 * i + j] + if i == j { 0.0 } else { found.w[9 * j + i] };
        assert!((both - expected).abs() < 1e-7, "W[{i}][{j}]: {both} {expected}");
    }
}

#[test]
fn shared_contacts_are_refused() {
    // The same contact twice: who carries what is anybody's guess.
    let mut w = vec![0.0; 36];
    for k in 0..3 {
        for (i, j) in [(k, k), (k, 3 + k), (3 + k, k), (3 + k, 3 + k)] {
            w[6 * i + j] = 1.0;
        }
    }
    let (b, mu) = (vec![-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], vec![0.5, 0.5]);
    let mut base = solved(&w, &b, &mu);
    (base.r[0], base.r[3], base.status) = (0.5, 0.5, vec![Status::Stick; 2]);
    let error = sensitivity::<3>(&w, &mu, &base, &[1.0; 6], &[0.0; 6]).unwrap_err();
    assert_eq!(error, SensitivityError::NotUnique);
}
