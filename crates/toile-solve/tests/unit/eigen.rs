use std::sync::Arc;
use toile_solve::{Cholesky, EigenSettings, SymmetricPattern, lowest_mode};

/// Spring chain with both ends held: eigenvalues 2 − 2 cos(kπ/(n+1)) less `shift`.
fn chain(n: usize, shift: f64) -> (Cholesky, Vec<f64>) {
    let mut col_ptr = vec![0];
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for j in 0..n {
        rows.push(j);
        values.push(2.0 - shift);
        if j + 1 < n {
            rows.push(j + 1);
            values.push(-1.0);
        }
        col_ptr.push(rows.len());
    }
    let pattern = SymmetricPattern::new(n, col_ptr, rows).unwrap();
    (Cholesky::new(Arc::new(pattern)).unwrap(), values)
}

fn expected(n: usize) -> f64 {
    2.0 - 2.0 * (std::f64::consts::PI / (n as f64 + 1.0)).cos()
}

#[test]
fn lowest_mode_of_a_chain() {
    let (mut cholesky, values) = chain(200, 0.0);
    let mode = lowest_mode(&mut cholesky, &values, &[2.0; 200], &EigenSettings::default()).unwrap();
    let error = (mode.value / (0.5 * expected(200)) - 1.0).abs();
    assert!(error < 1e-9, "relative error {error:e}");
    let mut product = vec![0.0; 200];
    cholesky.pattern().clone().multiply(&values, &mode.vector, &mut product);
    let residual = (0..200)
        .map(|i| (product[i] - mode.value * 2.0 * mode.vector[i]).abs())
        .fold(0.0, f64::max);
    assert!(residual < 1e-8, "{residual:e}");
}

#[test]
fn negative_modes_are_found() {
    let shift = 0.5;
    let (mut cholesky, values) = chain(100, shift);
    let mode = lowest_mode(&mut cholesky, &values, &[1.0; 100], &EigenSettings::default()).unwrap();
    assert!((mode.value - (expected(100) - shift)).abs() < 1e-7, "{}", mode.value);
}

#[test]
fn unknowns_without_mass_follow() {
    // Mass on every other unknown only: eliminate the rest by hand for three unknowns.
    let (mut cholesky, values) = chain(3, 0.0);
    let mode =
        lowest_mode(&mut cholesky, &values, &[0.0, 1.0, 0.0], &EigenSettings::default()).unwrap();
    assert!((mode.value - 1.0).abs() < 1e-12, "{}", mode.value); // 2 − ½ − ½
    assert!((mode.vector[0] - 0.5 * mode.vector[1]).abs() < 1e-12);
}
