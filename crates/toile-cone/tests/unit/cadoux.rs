use nalgebra::DMatrix;
use toile_cone::{Cadoux, DenseOperator, Problem, Settings, Solver};

#[test]
fn a_single_round_lifts_a_sliding_block_off() {
    let operator = DenseOperator::<3>::new(DMatrix::identity(3, 3)).unwrap();
    let b = [-1.0, 2.0, 0.0];
    let problem = Problem::new(&operator, &b, &[0.5]).unwrap();
    let settings = Settings { tolerance: 1e-12, polish: false, ..Settings::default() };
    let convex = Cadoux { rounds: 1 }.solve(&problem, None, &settings, &|_, _| true);
    // u = ν(μ, 1): lifting at μ times the sliding speed.
    assert!(convex.u[0] > 0.1, "{:?}", convex.u);
    assert!((convex.u[0] - 0.5 * convex.u[1]).abs() < 1e-3, "{:?}", convex.u);
    let exact = Cadoux::default().solve(&problem, None, &settings, &|_, _| true);
    assert!(exact.converged());
    assert!(exact.u[0].abs() < 1e-11 && (exact.u[1] - 1.5).abs() < 1e-11, "{:?}", exact.u);
}
