use std::sync::Arc;
use toile_solve::{NewtonSettings, Objective, Stop, SymmetricPattern, minimize};

/// A function of two variables with a full 2×2 Hessian.
struct Plane {
    pattern: Arc<SymmetricPattern>,
    value: fn(f64, f64) -> f64,
    gradient: fn(f64, f64) -> [f64; 2],
    /// (∂xx, ∂xy, ∂yy).
    hessian: fn(f64, f64) -> [f64; 3],
}

impl Plane {
    fn new(
        value: fn(f64, f64) -> f64,
        gradient: fn(f64, f64) -> [f64; 2],
        hessian: fn(f64, f64) -> [f64; 3],
    ) -> Self {
        let pattern = SymmetricPattern::new(2, vec![0, 2, 3], vec![0, 1, 1]).unwrap();
        Self { pattern: Arc::new(pattern), value, gradient, hessian }
    }
}

impl Objective for Plane {
    type Point = [f64; 2];
    fn pattern(&self) -> &Arc<SymmetricPattern> {
        &self.pattern
    }
    fn energy(&self, x: &[f64; 2]) -> f64 {
        (self.value)(x[0], x[1])
    }
    fn gradient(&self, x: &[f64; 2], out: &mut [f64]) {
        out.copy_from_slice(&(self.gradient)(x[0], x[1]));
    }
    fn hessian(&self, x: &[f64; 2], _: Option<&[f64; 2]>, positive: bool, values: &mut [f64]) {
        values.copy_from_slice(&(self.hessian)(x[0], x[1]));
        if positive {
            values.copy_from_slice(&[values[0].max(0.0), 0.0, values[2].max(0.0)]);
        }
    }
    fn metric(&self) -> &[f64] {
        &[1.0, 1.0]
    }
    fn advance(&self, x: &[f64; 2], step: &[f64], scale: f64, out: &mut [f64; 2]) {
        *out = [x[0] + scale * step[0], x[1] + scale * step[1]];
    }
    fn residual(&self, gradient: &[f64]) -> f64 {
        gradient[0].abs().max(gradient[1].abs())
    }
    fn step_ratio(&self, step: &[f64]) -> f64 {
        step[0].abs().max(step[1].abs()) / 2.0
    }
}

fn rosenbrock() -> Plane {
    Plane::new(
        |x, y| (1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2),
        |x, y| [-2.0 * (1.0 - x) - 400.0 * x * (y - x * x), 200.0 * (y - x * x)],
        |x, y| [2.0 - 400.0 * (y - 3.0 * x * x), -400.0 * x, 200.0],
    )
}

#[test]
fn follows_a_curved_valley_to_its_end() {
    for daring in [0, 3] {
        let settings = NewtonSettings { tolerance: 1e-12, daring, ..NewtonSettings::default() };
        let found = minimize(&rosenbrock(), &[-1.2, 1.0], &settings, |_| true).unwrap();
        assert_eq!(found.stop, Stop::Minimum);
        assert!((found.point[0] - 1.0).abs() < 1e-10 && (found.point[1] - 1.0).abs() < 1e-10);
        assert!(found.history.len() < 40, "{} steps", found.history.len());
    }
}

#[test]
fn leaves_a_saddle_along_negative_curvature() {
    // Minima at y = ±1, a saddle at the origin that Newton finds from the line y = 0.
    let double_well = Plane::new(
        |x, y| x * x + 0.25 * y.powi(4) - 0.5 * y * y,
        |x, y| [2.0 * x, y.powi(3) - y],
        |_, y| [2.0, 0.0, 3.0 * y * y - 1.0],
    );
    let settings = NewtonSettings::default();
    let found = minimize(&double_well, &[0.7, 0.0], &settings, |_| true).unwrap();
    assert_eq!(found.stop, Stop::Minimum);
    assert!(found.escapes > 0 && (found.point[1].abs() - 1.0).abs() < 1e-8, "{found:?}");
    assert!((found.energy + 0.25).abs() < 1e-12);
}

#[test]
fn a_neutral_direction_is_called_degenerate() {
    let trough = Plane::new(|x, _| x * x, |x, _| [2.0 * x, 0.0], |_, _| [2.0, 0.0, 0.0]);
    let found = minimize(&trough, &[1.0, 3.0], &NewtonSettings::default(), |_| true).unwrap();
    assert_eq!(found.stop, Stop::Degenerate);
    assert!(found.point[0].abs() < 1e-9 && found.point[1] == 3.0, "{:?}", found.point);
}

#[test]
fn the_lowest_point_is_returned_when_interrupted() {
    let objective = rosenbrock();
    let start = [-1.2, 1.0];
    for stop_after in 0..10 {
        let found =
            minimize(&objective, &start, &NewtonSettings::default(), |s| s.step < stop_after)
                .unwrap();
        assert_eq!(found.stop, Stop::Interrupted);
        assert!(found.energy <= objective.energy(&start));
        assert_eq!(found.energy, objective.energy(&found.point));
    }
}

#[test]
fn a_start_that_is_not_finite_is_refused() {
    let found =
        minimize(&rosenbrock(), &[f64::NAN, 0.0], &NewtonSettings::default(), |_| true).unwrap();
    assert_eq!(found.stop, Stop::NotFinite);
}
