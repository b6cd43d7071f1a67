//! What all solvers take and give back.

use crate::cone::Status;
use crate::problem::{Problem, Residuals};

/// When to stop, and how to measure.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Alart–Curnier residual that is good enough. 1e-8: forces to eight digits, beyond what a time
    /// step needs, and still far from round-off for badly scaled contacts.
    pub tolerance: f64,
    /// Iterations at most, in the unit of the solver: a sweep, a Newton step, a projection.
    pub max_iterations: usize,
    /// Smallest force a residual is measured by; `None` measures by ρ‖b‖ and depends on no unit. See
    /// [`Problem::force_scale`].
    pub force_floor: Option<f64>,
    /// Whether a solver of linear convergence may end with Newton steps on its active set.
    pub polish: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { tolerance: 1e-8, max_iterations: 2000, force_floor: None, polish: true }
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The residual is within the tolerance.
    Converged,
    /// All iterations are spent.
    MaxIterations,
    /// Nothing improves any more.
    Stalled,
    /// Forces grow without end: perhaps none obey the law.
    Unbounded,
    /// The watcher asked for it.
    Cancelled,
    /// This solver cannot work with this operator or dimension.
    Unsupported,
}

/// One measured iterate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Iterations done.
    pub iteration: usize,
    /// Alart–Curnier residual.
    pub residual: f64,
}

/// The best force a solver found, and why it stopped.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Forces, normal first.
    pub r: Vec<f64>,
    /// Velocities u = W r + b.
    pub u: Vec<f64>,
    /// What each contact does.
    pub status: Vec<Status>,
    /// How far from the law.
    pub residuals: Residuals,
    /// Iterations done.
    pub iterations: usize,
    /// Why it ended.
    pub stop: Stop,
    /// Residuals on the way.
    pub history: Vec<Measure>,
}

impl Solution {
    /// Whether the tolerance was met.
    pub fn converged(&self) -> bool {
        self.stop == Stop::Converged
    }
}

/// Told of each measured iteration and its residual; `false` ends the solve.
pub type Watch<'a> = &'a dyn Fn(usize, f64) -> bool;

/// A way to solve problems with contacts of dimension D.
pub trait Solver<const D: usize> {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Solves from a start (`None`: from rest, r = 0). Always returns the best iterate.
    fn solve(
        &self,
        problem: &Problem<'_, D>,
        start: Option<&[f64]>,
        settings: &Settings,
        watch: Watch<'_>,
    ) -> Solution;
}

/// Watches over an iteration: keeps the best force, the history, and says when to stop.
pub(crate) struct Monitor<'a, const D: usize> {
    pub(crate) problem: &'a Problem<'a, D>,
    pub(crate) settings: &'a Settings,
    pub(crate) watch: Watch<'a>,
    pub(crate) iterations: usize,
    best: Vec<f64>,
    best_residual: f64,
    history: Vec<Measure>,
    u: Vec<f64>,
}

impl<'a, const D: usize> Monitor<'a, D> {
    pub(crate) fn new(
        problem: &'a Problem<'a, D>,
        settings: &'a Settings,
        watch: Watch<'a>,
    ) -> Self {
        let n = problem.b().len();
        Monitor {
            problem,
            settings,
            watch,
            iterations: 0,
            best: vec![0.0; n],
            best_residual: f64::INFINITY,
            history: Vec::new(),
            u: vec![0.0; n],
        }
    }

    /// The relative Alart–Curnier residual of a force whose velocity is known.
    pub(crate) fn residual(&self, r: &[f64], u: &[f64]) -> f64 {
        self.problem.alart_curnier(r, u) / self.problem.force_scale(r, self.settings.force_floor)
    }

    /// Measures an iterate; says whether and why to stop.
    pub(crate) fn measure(&mut self, iteration: usize, r: &[f64]) -> Option<Stop> {
        let mut u = std::mem::take(&mut self.u);
        self.problem.velocity(r, &mut u);
        let stop = self.measure_with(iteration, r, &u);
        self.u = u;
        stop
    }

    /// As [`Monitor::measure`], with u = W r + b at hand.
    pub(crate) fn measure_with(&mut self, iteration: usize, r: &[f64], u: &[f64]) -> Option<Stop> {
        let residual = self.residual(r, u);
        self.iterations = iteration;
        self.history.push(Measure { iteration, residual });
        if residual < self.best_residual {
            self.best_residual = residual;
            self.best.copy_from_slice(r);
        }
        if residual <= self.settings.tolerance {
            Some(Stop::Converged)
        } else if !(self.watch)(iteration, residual) {
            Some(Stop::Cancelled)
        } else if iteration >= self.settings.max_iterations {
            Some(Stop::MaxIterations)
        } else {
            None
        }
    }

    pub(crate) fn best(&self) -> &[f64] {
        &self.best
    }

    /// The last measured residual.
    pub(crate) fn last_residual(&self) -> f64 {
        self.history.last().map_or(f64::INFINITY, |m| m.residual)
    }

    pub(crate) fn finish(self, stop: Stop) -> Solution {
        let Monitor { problem, settings, best: r, mut u, .. } = self;
        problem.velocity(&r, &mut u);
        let residuals = problem.residuals(&r, &u, settings.force_floor);
        let stop = match stop {
            Stop::Cancelled | Stop::Unsupported => stop,
            _ if residuals.alart_curnier <= settings.tolerance => Stop::Converged,
            _ if problem.runs_away(&r, settings.force_floor) => Stop::Unbounded,
            Stop::Converged => Stop::Stalled,
            other => other,
        };
        let status = problem.status(&r, &u, residuals.alart_curnier, settings.force_floor);
        Solution {
            r,
            u,
            status,
            residuals,
            iterations: self.iterations,
            stop,
            history: self.history,
        }
    }
}

/// The start as a vector of the problem's length; anything unusable becomes rest.
pub(crate) fn started<const D: usize>(problem: &Problem<'_, D>, start: Option<&[f64]>) -> Vec<f64> {
    match start {
        Some(r) if r.len() == problem.b().len() && r.iter().all(|v| v.is_finite()) => r.to_vec(),
        _ => vec![0.0; problem.b().len()],
    }
}
