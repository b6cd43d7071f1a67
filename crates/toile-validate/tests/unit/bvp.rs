//! Boundary-value problems, and the parts of their solver, compiled here again with their own tests.

use nalgebra::DMatrix;
pub(crate) use toile_validate::bvp::BvpError;
use toile_validate::bvp::{
    BoundaryValueProblem, Continuation, Settings, Solution, continue_parameter, jacobian_error,
    solve, solve_on_given_mesh,
};

#[path = "../../src/bvp/collocation.rs"]
mod collocation;
#[path = "../../src/bvp/elimination.rs"]
mod elimination;
#[path = "../../src/bvp/mesh.rs"]
mod mesh;
#[path = "../../src/bvp/solution.rs"]
mod solution;

/// ε² y'' = y with y(0) = 1, y(1) = 0: two modes growing and decaying as exp(±s/ε), exact sinh((1−s)/ε)/sinh(1/ε).
struct Layer {
    epsilon: f64,
}

impl BoundaryValueProblem for Layer {
    fn dimension(&self) -> usize {
        2
    }
    fn rhs(&self, _: f64, y: &[f64], _: &[f64], f: &mut [f64]) {
        f[0] = y[1] / self.epsilon;
        f[1] = y[0] / self.epsilon;
    }
    fn rhs_jacobian(
        &self,
        _: f64,
        _: &[f64],
        _: &[f64],
        fy: &mut DMatrix<f64>,
        _: &mut DMatrix<f64>,
    ) {
        fy[(0, 1)] = 1.0 / self.epsilon;
        fy[(1, 0)] = 1.0 / self.epsilon;
    }
    fn boundary(&self, y0: &[f64], y1: &[f64], _: &[f64], g: &mut [f64]) {
        g[0] = y0[0] - 1.0;
        g[1] = y1[0];
    }
    fn boundary_jacobian(
        &self,
        _: &[f64],
        _: &[f64],
        _: &[f64],
        g0: &mut DMatrix<f64>,
        g1: &mut DMatrix<f64>,
        _: &mut DMatrix<f64>,
    ) {
        g0[(0, 0)] = 1.0;
        g1[(1, 0)] = 1.0;
    }
}

/// Bratu's equation u'' + λ eᵘ = 0, u(0) = u(1) = 0, λ unknown, closed by u'(0) = `slope`: with a = u'(0) the
/// exact relation is λ = 2 b² / cosh²(b/2), 2 b tanh(b/2) = a.
struct Bratu {
    slope: f64,
}

impl BoundaryValueProblem for Bratu {
    fn dimension(&self) -> usize {
        2
    }
    fn parameter_count(&self) -> usize {
        1
    }
    fn rhs(&self, _: f64, y: &[f64], p: &[f64], f: &mut [f64]) {
        f[0] = y[1];
        f[1] = -p[0] * y[0].exp();
    }
    fn rhs_jacobian(
        &self,
        _: f64,
        y: &[f64],
        p: &[f64],
        fy: &mut DMatrix<f64>,
        fp: &mut DMatrix<f64>,
    ) {
        fy[(0, 1)] = 1.0;
        fy[(1, 0)] = -p[0] * y[0].exp();
        fp[(1, 0)] = -y[0].exp();
    }
    fn boundary(&self, y0: &[f64], y1: &[f64], _: &[f64], g: &mut [f64]) {
        g[0] = y0[0];
        g[1] = y1[0];
        g[2] = y0[1] - self.slope;
    }
    fn boundary_jacobian(
        &self,
        _: &[f64],
        _: &[f64],
        _: &[f64],
        g0: &mut DMatrix<f64>,
        g1: &mut DMatrix<f64>,
        _: &mut DMatrix<f64>,
    ) {
        g0[(0, 0)] = 1.0;
        g1[(1, 0)] = 1.0;
        g0[(2, 1)] = 1.0;
    }
}

#[test]
fn nodes_converge_with_order_2k() {
    let problem = Layer { epsilon: 0.2 };
    let settings = Settings { stages: 3, ..Settings::default() };
    let error = |intervals| {
        let guess = Solution::from_function(intervals, &[], |_| vec![0.0, 0.0]);
        let u = solve_on_given_mesh(&problem, &guess, &settings).unwrap();
        let exact = |s: f64| ((1.0 - s) / 0.2).sinh() / 5.0_f64.sinh();
        u.mesh().iter().map(|&s| (u.at(s)[0] - exact(s)).abs()).fold(0.0, f64::max)
    };
    let rate = (error(6) / error(12)).log2();
    assert!((5.7..6.4).contains(&rate), "rate {rate}, six expected");
}

#[test]
fn boundary_layer_is_resolved() {
    // exp(1/ε) overflows by far: only a solver that separates the modes survives.
    let problem = Layer { epsilon: 1e-4 };
    let guess = Solution::from_function(10, &[], |_| vec![0.0, 0.0]);
    let u = solve(&problem, &guess, &Settings::default()).unwrap();
    for s in [0.0, 1e-5, 1e-4, 1e-3, 0.5, 1.0] {
        let exact = if s < 1.0 { (-s / 1e-4_f64).exp() } else { 0.0 };
        assert!((u.at(s)[0] - exact).abs() < 1e-11, "{} for {exact} at {s}", u.at(s)[0]);
    }
    assert!(u.mesh().len() < 400, "{} points", u.mesh().len());
}

#[test]
fn unknown_parameter_is_found_beyond_the_fold() {
    // The fold of Bratu's branch lies at u'(0) = 4; followed by the slope it is an ordinary point.
    let guess = Solution::from_function(10, &[0.1], |s| vec![s * (1.0 - s), 1.0 - 2.0 * s]);
    let (mut b, slope) = (5.0_f64, 8.0);
    for _ in 0..50 {
        let t = (b / 2.0).tanh();
        b -= (2.0 * b * t - slope) / (2.0 * t + b * (1.0 - t * t));
    }
    let lambda = 2.0 * b * b / (b / 2.0).cosh().powi(2);
    let family = |slope| Bratu { slope };
    let u = continue_parameter(
        &family,
        &guess,
        0.1,
        slope,
        &Continuation::default(),
        &Settings::default(),
    )
    .unwrap();
    assert!(
        (u.parameters()[0] - lambda).abs() < 1e-12 * lambda,
        "{} for {lambda}",
        u.parameters()[0]
    );
}

#[test]
fn wrong_sizes_and_bad_guesses_are_refused() {
    let settings = Settings::default();
    let guess = Solution::from_function(5, &[], |_| vec![0.0; 3]);
    assert!(matches!(solve(&Layer { epsilon: 0.1 }, &guess, &settings), Err(BvpError::Input(_))));
    let guess = Solution::from_function(5, &[], |_| vec![f64::NAN; 2]);
    assert!(matches!(
        solve(&Layer { epsilon: 0.1 }, &guess, &settings),
        Err(BvpError::NotFinite { .. })
    ));
    let guess = Solution::from_function(5, &[0.0], |_| vec![0.0; 2]);
    let tight = Settings { intervals: 6, ..settings };
    assert!(matches!(
        solve(&Bratu { slope: 8.0 }, &guess, &tight),
        Err(BvpError::Mesh { .. } | BvpError::Newton { .. })
    ));
}

#[test]
fn jacobians_of_the_examples_match_differences() {
    let error = jacobian_error(&Bratu { slope: 1.0 }, 0.3, &[0.4, 1.2], &[0.1, -0.7], &[2.0]);
    assert!(error < 1e-8, "{error}");
}
