use toile_cone::{BlockSparseOperator, GaussSeidel, Problem, Settings, Solver};
use toile_num::Matrix;

/// A row of contacts on one string, each nearly moving the next: a sweep carries a force one contact on, so that sweeps alone
/// need thousands; mixed, hundreds.
#[test]
fn forces_travel_along_a_row_of_contacts() {
    let n = 400;
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, Matrix::<3, 3>::identity() * 2.0));
        if i + 1 < n {
            entries.push((i, i + 1, Matrix::identity() * -0.998));
            entries.push((i + 1, i, Matrix::identity() * -0.998));
        }
    }
    let operator = BlockSparseOperator::from_blocks(n, entries).unwrap();
    let b: Vec<f64> =
        (0..3 * n).map(|k| if k % 3 == 0 { -1.0 } else { 0.7 * (0.05 * k as f64).sin() }).collect();
    let mu = vec![0.3; n];
    let problem = Problem::new(&operator, &b, &mu).unwrap();
    let settings = Settings { polish: false, max_iterations: 20_000, ..Settings::default() };
    let found = GaussSeidel::default().solve(&problem, None, &settings, &|_, _| true);
    assert!(found.converged() && found.iterations < 600, "{} sweeps", found.iterations);
}
