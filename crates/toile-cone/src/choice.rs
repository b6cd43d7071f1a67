//! Solvers by name, and one that chooses.

use crate::admm::Admm;
use crate::cadoux::Cadoux;
use crate::facets::Faceted;
use crate::gauss_seidel::GaussSeidel;
use crate::gradient::ProjectedGradient;
use crate::newton::AlartCurnierNewton;
use crate::problem::Problem;
use crate::solver::{Settings, Solution, Solver, Stop, Watch};

/// Names that [`solver_named`] knows.
pub const SOLVER_NAMES: [&str; 7] =
    ["auto", "gauss-seidel", "newton", "admm", "projected-gradient", "cadoux", "faceted"];

/// The solver of that name with its default settings.
pub fn solver_named<const D: usize>(name: &str) -> Option<Box<dyn Solver<D>>> {
    Some(match name {
        "auto" => Box::new(Auto),
        "gauss-seidel" => Box::new(GaussSeidel::default()),
        "newton" => Box::new(AlartCurnierNewton),
        "admm" => Box::new(Admm::default()),
        "projected-gradient" => Box::new(ProjectedGradient::default()),
        "cadoux" => Box::new(Cadoux::default()),
        "faceted" => Box::new(Faceted::default()),
        _ => return None,
    })
}

/// Gauss–Seidel where rows are cheap, then ADMM, Newton and projected gradient until one meets the
/// tolerance. Those after the first start from rest: what led one astray need not lead the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Auto;

/// Sweeps before the next solver is tried.
const SWEEPS: usize = 400;

impl<const D: usize> Solver<D> for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(
        &self,
        problem: &Problem<'_, D>,
        start: Option<&[f64]>,
        settings: &Settings,
        watch: Watch<'_>,
    ) -> Solution {
        let mut best: Option<Solution> = None;
        let mut done = 0;
        let mut history = Vec::new();
        for name in ["gauss-seidel", "admm", "newton", "projected-gradient"] {
            let Some(solver) = solver_named::<D>(name) else { continue };
            let go_on = |iteration: usize, residual: f64| watch(done + iteration, residual);
            let from = if best.is_none() { start } else { None };
            // Sweeps that have not converged by then crawl.
            let most = if best.is_none() { SWEEPS } else { usize::MAX };
            let stage =
                Settings { max_iterations: settings.max_iterations.min(most), ..settings.clone() };
            let found = solver.solve(problem, from, &stage, &go_on);
            history.extend(found.history.iter().map(|m| {
                let mut shifted = *m;
                shifted.iteration += done;
                shifted
            }));
            done += found.iterations;
            let ended = matches!(found.stop, Stop::Converged | Stop::Cancelled);
            let better = best
                .as_ref()
                .is_none_or(|b| found.residuals.alart_curnier < b.residuals.alart_curnier);
            let stop = found.stop;
            if better {
                best = Some(found);
            }
            if let Some(best) = &mut best {
                best.iterations = done;
                if stop == Stop::Cancelled {
                    best.stop = stop;
                }
            }
            if ended {
                break;
            }
        }
        let mut best =
            best.unwrap_or_else(|| GaussSeidel::default().solve(problem, start, settings, watch));
        best.history = history;
        best
    }
}
