//! Accelerated projected gradient: only products with W, for the largest problems.

use crate::cone::project_cone;
use crate::newton::Polish;
use crate::problem::Problem;
use crate::small::{block, set_block};
use crate::solver::{Monitor, Settings, Solution, Solver, Stop, Watch, started};

/// Nesterov's projected gradient with restarts, r ← Π_K(y − tρũ(y)), the shift following u.
///
/// Reference: Mazhar, Heyn, Negrut, Tasora 2015 (without shift); O'Donoghue, Candès 2015 (restarts).
#[derive(Clone, Copy, Debug)]
pub struct ProjectedGradient {
    /// Projections between measurements.
    pub measure_every: usize,
}

impl Default for ProjectedGradient {
    fn default() -> Self {
        ProjectedGradient { measure_every: 10 }
    }
}

/// One projection step from y, whose velocity is u, into `out`.
fn project<const D: usize>(
    problem: &Problem<'_, D>,
    step: f64,
    y: &[f64],
    u: &[f64],
    out: &mut [f64],
) {
    for i in 0..problem.contacts() {
        let mu = problem.mu()[i];
        let shifted = problem.law().shifted::<D>(mu, &block(u, i));
        let p = project_cone(mu, &(block::<D>(y, i) - shifted * step));
        set_block(out, i, &p);
    }
}

/// Plain projection steps, in place.
pub(crate) fn projected_steps<const D: usize>(
    problem: &Problem<'_, D>,
    r: &mut [f64],
    count: usize,
) {
    let mut u = vec![0.0; r.len()];
    let mut out = r.to_vec();
    for _ in 0..count {
        problem.velocity(r, &mut u);
        project(problem, problem.rho(), r, &u, &mut out);
        r.copy_from_slice(&out);
    }
}

impl<const D: usize> Solver<D> for ProjectedGradient {
    fn name(&self) -> &'static str {
        "projected-gradient"
    }

    fn solve(
        &self,
        problem: &Problem<'_, D>,
        start: Option<&[f64]>,
        settings: &Settings,
        watch: Watch<'_>,
    ) -> Solution {
        let mut monitor = Monitor::new(problem, settings, watch);
        let mut r = started(problem, start);
        let n = r.len();
        // Velocities are affine in forces, so that of y follows from those of the last two r: one product an iteration serves
        // the step, the test of its length and the measurement.
        let (mut u, mut next, mut next_u) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        problem.velocity(&r, &mut u);
        let (mut y, mut y_u) = (r.clone(), u.clone());
        let mut step = problem.rho();
        let mut theta = 1.0f64;
        let mut stop = monitor.measure_with(0, &r, &u);
        let mut iteration = 0;
        let mut polish = Polish::new(problem, 200);
        while stop.is_none() {
            project(problem, step, &y, &y_u, &mut next);
            problem.velocity(&next, &mut next_u);
            iteration += 1;
            // The estimate of ‖W‖ comes from below: where the step proves too long it is shortened and taken again.
            let (mut square, mut curvature, mut against) = (0.0, 0.0, 0.0);
            for k in 0..n {
                let moved = next[k] - y[k];
                square += moved * moved;
                curvature += moved * (next_u[k] - y_u[k]);
                against -= moved * (next[k] - r[k]);
            }
            if step * curvature > (1.0 + 1e-9) * square && iteration < settings.max_iterations {
                step = 0.99 * square / curvature;
                continue;
            }
            // Restart when the step turns against the momentum.
            if against > 0.0 {
                theta = 1.0;
            }
            let grown = 0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt());
            let momentum = if against > 0.0 { 0.0 } else { (theta - 1.0) / grown };
            theta = grown;
            for k in 0..n {
                y[k] = next[k] + momentum * (next[k] - r[k]);
                y_u[k] = next_u[k] + momentum * (next_u[k] - u[k]);
            }
            std::mem::swap(&mut r, &mut next);
            std::mem::swap(&mut u, &mut next_u);
            if iteration % self.measure_every.max(1) == 0 || iteration >= settings.max_iterations {
                stop = monitor.measure_with(monitor.iterations.max(iteration), &r, &u);
                if stop.is_none() {
                    stop = polish.run(iteration, &r, &mut monitor);
                }
            }
        }
        monitor.finish(stop.unwrap_or(Stop::Stalled))
    }
}
