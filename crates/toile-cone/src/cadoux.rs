//! Cadoux's fixed point: friction as a sequence of convex problems.

use crate::cone::Law;
use crate::gauss_seidel::GaussSeidel;
use crate::gradient::ProjectedGradient;
use crate::newton::Polish;
use crate::problem::Problem;
use crate::small::{block, tangent_norm};
use crate::solver::{Monitor, Settings, Solution, Solver, Stop, Watch, started};

/// s ← μ‖u_T‖, then min ½rᵀWr + (b + s e_N)ᵀr over the cones, again and again.
///
/// Reference: Cadoux 2009; Acary, Cadoux, Lemaréchal, Malick 2011. One round alone is the convex
/// relaxation of Anitescu, in which what slides also lifts off.
#[derive(Clone, Copy, Debug)]
pub struct Cadoux {
    /// Rounds at most.
    pub rounds: usize,
}

impl Default for Cadoux {
    fn default() -> Self {
        Cadoux { rounds: 200 }
    }
}

impl<const D: usize> Solver<D> for Cadoux {
    fn name(&self) -> &'static str {
        "cadoux"
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
        let mut stop = monitor.measure(0, &r);
        let mut b = problem.b().to_vec();
        let mut u = vec![0.0; b.len()];
        let mut sweeps = 0;
        let mut polish = Polish::new(problem, 4);
        for round in 0..self.rounds {
            if stop.is_some() {
                break;
            }
            if problem.law() == Law::Coulomb && (round > 0 || start.is_some()) {
                problem.velocity(&r, &mut u);
                for i in 0..problem.contacts() {
                    let shift = problem.mu()[i] * tangent_norm(&block::<D>(&u, i));
                    b[D * i] = problem.b()[D * i] + shift;
                }
            }
            let convex = problem.with_b(&b, Law::SecondOrderCone);
            let inner = Settings {
                tolerance: (0.02 * monitor.last_residual()).clamp(0.2 * settings.tolerance, 1e-2),
                max_iterations: (settings.max_iterations - sweeps.min(settings.max_iterations))
                    .min(400),
                ..settings.clone()
            };
            let go_on = |iteration: usize, residual: f64| watch(sweeps + iteration, residual);
            let solver: &dyn Solver<D> = if problem.operator().sweep(&r).is_some() {
                &GaussSeidel { measure_every: 5, colours: true }
            } else {
                &ProjectedGradient { measure_every: 10 }
            };
            let found = solver.solve(&convex, Some(&r), &inner, &go_on);
            sweeps += found.iterations.max(1);
            r = found.r;
            stop = monitor.measure(monitor.iterations.max(sweeps), &r);
            if found.stop == Stop::Cancelled {
                stop = Some(Stop::Cancelled);
            }
            if stop.is_none() {
                stop = polish.run(round, &r, &mut monitor);
            }
        }
        monitor.finish(stop.unwrap_or(Stop::MaxIterations))
    }
}
