//! Newton's method for a minimum, from anywhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::eigen::{EigenSettings, lowest_mode};
use crate::{Cholesky, SolveError, SymmetricPattern};

/// A function to be minimised, with its derivatives.
pub trait Objective {
    /// Where the function is evaluated; may carry more precision than its coordinates.
    type Point: Clone;

    /// Pattern of the Hessian.
    fn pattern(&self) -> &Arc<SymmetricPattern>;
    /// f(x).
    fn energy(&self, x: &Self::Point) -> f64;
    /// ∂f/∂x, zero at fixed unknowns.
    fn gradient(&self, x: &Self::Point, out: &mut [f64]);
    /// ∂²f/∂x² in the values of the pattern, identity at fixed unknowns; with `positive` a nearby
    /// positive semi-definite matrix.
    fn hessian(&self, x: &Self::Point, positive: bool, values: &mut [f64]);
    /// Weight of each unknown when the length of a step is limited; positive.
    fn metric(&self) -> &[f64];
    /// x + scale · step.
    fn advance(&self, x: &Self::Point, step: &[f64], scale: f64, out: &mut Self::Point);
    /// How far from a stationary point, in the unit of [`NewtonSettings::tolerance`].
    fn residual(&self, gradient: &[f64]) -> f64;
    /// Length of a step against the longest that linearisation can be trusted with at all: above 1
    /// the step is shortened.
    fn step_ratio(&self, step: &[f64]) -> f64;
}

/// Settings of [`minimize`].
#[derive(Clone, Copy, Debug)]
pub struct NewtonSettings {
    /// Residual at which the search ends.
    pub tolerance: f64,
    /// Newton steps (each with its factorisation) at most.
    pub max_steps: usize,
    /// Further steps tried with the same factorisation. Each costs a gradient and a solve, a tenth of a
    /// new factorisation, and takes out what the stiff directions made of the curvature of the path.
    pub corrections: usize,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_steps: 500, corrections: 4 }
    }
}

/// Why [`minimize`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The residual is below the tolerance and the Hessian is positive definite.
    Minimum,
    /// The residual is below the tolerance, but the Hessian is not positive definite and no descent
    /// along negative curvature was found (a neutral direction, as a free swing about an axis).
    Degenerate,
    /// The step limit was reached.
    StepLimit,
    /// Rounding leaves no step that lowers the function or the residual.
    Stagnation,
    /// The observer asked to stop.
    Interrupted,
    /// The function or its derivatives are not finite at the start.
    NotFinite,
}

/// One step of the history.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Steps taken before.
    pub step: usize,
    /// f(x) before the step.
    pub energy: f64,
    /// Residual before the step.
    pub residual: f64,
    /// Shift τ added to the Hessian (times the metric).
    pub shift: f64,
    /// Whether the exact Hessian was used.
    pub exact: bool,
    /// Length of the first move with this factorisation, as [`Objective::step_ratio`].
    pub length: f64,
    /// Moves made with this factorisation.
    pub moves: usize,
    /// Time since the start.
    pub elapsed: Duration,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Assembly of Hessians.
    pub assembly: Duration,
    /// Numeric factorisations.
    pub factorisation: Duration,
    /// Triangular solves with their checks.
    pub solve: Duration,
    /// Energies and gradients.
    pub evaluation: Duration,
    /// Symbolic analysis.
    pub analysis: Duration,
    /// All of it.
    pub total: Duration,
}

/// Result of [`minimize`]: the best point found and how it was reached.
#[derive(Clone, Debug)]
pub struct Minimum<P> {
    /// The last point.
    pub point: P,
    /// f there.
    pub energy: f64,
    /// Residual there.
    pub residual: f64,
    /// Why the search ended.
    pub stop: Stop,
    /// One entry per factorised step.
    pub history: Vec<Step>,
    /// Numeric factorisations, failed ones included.
    pub factorisations: usize,
    /// Escapes from saddle points.
    pub escapes: usize,
    /// Where the time went.
    pub timings: Timings,
}

/// Minimises a function by Newton's method.
///
/// The exact Hessian is used where it is positive definite; elsewhere the objective's positive one, and a
/// shift τ times the metric where that is not enough or the step would be too long. No move
/// that raises f is accepted, except below its rounding, where the residual decides. A stationary point with
/// negative curvature is left along it. `observe` sees every step and may end the search by `false`.
pub fn minimize<O: Objective>(
    objective: &O,
    start: &O::Point,
    settings: &NewtonSettings,
    mut observe: impl FnMut(&Step) -> bool,
) -> Result<Minimum<O::Point>, SolveError> {
    let begun = Instant::now();
    let mut search = Search::new(objective, start)?;
    let mut stop = Stop::StepLimit;
    let mut history: Vec<Step> = Vec::new();
    let mut escapes = 0;
    if !(search.energy.is_finite() && search.residual.is_finite()) {
        stop = Stop::NotFinite;
    } else {
        while history.len() < settings.max_steps {
            if search.residual <= settings.tolerance {
                // Stationary: a minimum, or a saddle to be left.
                if search.factorize(false, 0.0)? {
                    stop = Stop::Minimum;
                    break;
                }
                if !search.escape()? {
                    stop = Stop::Degenerate;
                    break;
                }
                escapes += 1;
            }
            let before = (search.energy, search.residual);
            let Some(taken) = search.step(settings)? else {
                stop = Stop::Stagnation;
                break;
            };
            let step = Step {
                step: history.len(),
                energy: before.0,
                residual: before.1,
                elapsed: begun.elapsed(),
                ..taken
            };
            history.push(step);
            if !observe(&step) {
                stop = Stop::Interrupted;
                break;
            }
            // A saddle draws Newton in; with an indefinite Hessian there is no need to go all the way.
            if !step.exact && search.residual < SADDLE_SUSPECTED && search.escape()? {
                escapes += 1;
            }
        }
    }
    search.timings.total = begun.elapsed();
    Ok(Minimum {
        point: search.x,
        energy: search.energy,
        residual: search.residual,
        stop,
        history,
        factorisations: search.factorisations,
        escapes,
        timings: search.timings,
    })
}

struct Search<'a, O: Objective> {
    objective: &'a O,
    cholesky: Cholesky,
    x: O::Point,
    trial: O::Point,
    energy: f64,
    residual: f64,
    gradient: Vec<f64>,
    trial_gradient: Vec<f64>,
    values: Vec<f64>,
    direction: Vec<f64>,
    rhs: Vec<f64>,
    shift: f64,
    /// Steps to go before the exact Hessian is tried again.
    exact_pause: usize,
    /// Pause after the next failure of the exact Hessian.
    next_pause: usize,
    factorisations: usize,
    timings: Timings,
}

/// Relative rounding of the energy: differences below this times |f| say nothing.
const ENERGY_NOISE: f64 = 1e-14;

/// Residual below which an indefinite Hessian is looked at for a way out.
const SADDLE_SUSPECTED: f64 = 1e-2;

impl<'a, O: Objective> Search<'a, O> {
    fn new(objective: &'a O, start: &O::Point) -> Result<Self, SolveError> {
        let clock = Instant::now();
        let pattern = objective.pattern().clone();
        let (n, nnz) = (pattern.n, pattern.nnz());
        let cholesky = Cholesky::new(pattern)?;
        let mut timings = Timings { analysis: clock.elapsed(), ..Timings::default() };
        let clock = Instant::now();
        let energy = objective.energy(start);
        let mut gradient = vec![0.0; n];
        objective.gradient(start, &mut gradient);
        let residual = objective.residual(&gradient);
        timings.evaluation += clock.elapsed();
        Ok(Self {
            objective,
            cholesky,
            x: start.clone(),
            trial: start.clone(),
            energy,
            residual,
            trial_gradient: gradient.clone(),
            gradient,
            values: vec![0.0; nnz],
            direction: vec![0.0; n],
            rhs: vec![0.0; n],
            shift: 0.0,
            exact_pause: 0,
            next_pause: 1,
            factorisations: 0,
            timings,
        })
    }

    fn factorize(&mut self, positive: bool, shift: f64) -> Result<bool, SolveError> {
        let clock = Instant::now();
        self.objective.hessian(&self.x, positive, &mut self.values);
        if shift > 0.0 {
            let col_ptr = &self.objective.pattern().col_ptr;
            for (i, weight) in self.objective.metric().iter().enumerate() {
                self.values[col_ptr[i]] += shift * weight;
            }
        }
        self.timings.assembly += clock.elapsed();
        let clock = Instant::now();
        let result = self.cholesky.factorize(&self.values);
        self.timings.factorisation += clock.elapsed();
        self.factorisations += 1;
        match result {
            Ok(()) => Ok(true),
            Err(SolveError::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// direction = −H⁻¹ (gradient at x).
    fn solve(&mut self) -> Result<(), SolveError> {
        let clock = Instant::now();
        for (b, g) in self.rhs.iter_mut().zip(&self.gradient) {
            *b = -g;
        }
        self.cholesky.solve(&self.values, &self.rhs, &mut self.direction)?;
        self.timings.solve += clock.elapsed();
        Ok(())
    }

    /// Factorises a usable Hessian at x, finds a step of acceptable length and takes it, then as many
    /// corrections with the same factorisation as pay. `None` when nothing helps any more.
    fn step(&mut self, settings: &NewtonSettings) -> Result<Option<Step>, SolveError> {
        let mut exact = self.exact_pause == 0;
        if !exact {
            self.exact_pause -= 1;
        }
        loop {
            if self.factorize(!exact, self.shift)? {
                self.solve()?;
                let length = self.objective.step_ratio(&self.direction);
                if length <= 1.0 {
                    let moves = self.moves(settings)?;
                    if moves > 0 {
                        let shift = self.shift;
                        if exact {
                            self.next_pause = 1;
                        }
                        self.shift = if shift < self.least_shift() { 0.0 } else { shift / 8.0 };
                        return Ok(Some(Step {
                            step: 0,
                            energy: 0.0,
                            residual: 0.0,
                            shift,
                            exact,
                            length,
                            moves,
                            elapsed: Duration::ZERO,
                        }));
                    }
                    if self.shift > 1e12 * self.least_shift() {
                        return Ok(None);
                    }
                }
                self.raise_shift(length);
            } else if exact {
                exact = false;
                self.exact_pause = self.next_pause;
                self.next_pause = (2 * self.next_pause).min(8);
            } else {
                if self.shift > 1e12 * self.least_shift() {
                    return Ok(None);
                }
                self.raise_shift(1.0);
            }
        }
    }

    /// Shift for which steepest descent has the longest trusted length: beyond it steps are shorter.
    fn descent_shift(&self) -> f64 {
        let metric = self.objective.metric();
        let scaled: Vec<f64> = self.gradient.iter().zip(metric).map(|(g, m)| g / m).collect();
        self.objective.step_ratio(&scaled)
    }

    fn least_shift(&self) -> f64 {
        1e-4 * self.descent_shift()
    }

    fn raise_shift(&mut self, length: f64) {
        let factor = length.clamp(4.0, 100.0);
        self.shift = (factor * self.shift).max(self.least_shift() * 10.0);
    }

    /// Moves along −H⁻¹g with the factorisation at hand: the first with backtracking, further ones only
    /// while each lowers the function by a good part of the one before.
    fn moves(&mut self, settings: &NewtonSettings) -> Result<usize, SolveError> {
        let mut moves = 0;
        let mut last_decrease = f64::INFINITY;
        loop {
            let Some(decrease) = self.line_search(moves == 0)? else {
                return Ok(moves);
            };
            moves += 1;
            let settled = self.residual <= settings.tolerance;
            if settled
                || moves > settings.corrections
                || decrease < 0.1 * last_decrease.min(1e300) && moves > 1
            {
                return Ok(moves);
            }
            last_decrease = decrease;
            self.solve()?;
            if self.objective.step_ratio(&self.direction) > 1.0 {
                return Ok(moves);
            }
        }
    }

    /// Finds a point along the direction that lowers the function enough, possibly after one
    /// second-order correction, and goes there. Returns the decrease.
    fn line_search(&mut self, backtrack: bool) -> Result<Option<f64>, SolveError> {
        let slope: f64 = self.gradient.iter().zip(&self.direction).map(|(g, d)| g * d).sum();
        if slope >= 0.0 || slope.is_nan() {
            return Ok(None);
        }
        let noise = ENERGY_NOISE * self.energy.abs();
        let mut scale = 1.0;
        let smallest = if backtrack { 1e-3 } else { 0.5 };
        while scale >= smallest {
            self.objective.advance(&self.x, &self.direction, scale, &mut self.trial);
            let energy = self.evaluate();
            // Below rounding the energy says nothing: let the residual decide.
            let accepted = if -slope * scale < noise {
                energy <= self.energy + noise && {
                    let residual = self.evaluate_gradient();
                    residual < 0.9 * self.residual
                }
            } else {
                let good = energy <= self.energy + 1e-4 * scale * slope;
                if good {
                    self.evaluate_gradient();
                }
                good
            };
            if accepted {
                if std::env::var("DBG").is_ok() {
                    eprintln!(
                        "   scale {scale} slope {slope:.3e} dE {:.3e} res {:.2e}",
                        energy - self.energy,
                        self.residual
                    );
                }
                let decrease = self.energy - energy;
                self.accept(energy);
                return Ok(Some(decrease.max(0.0)));
            }
            scale *= 0.5;
        }
        Ok(None)
    }

    fn evaluate(&mut self) -> f64 {
        let clock = Instant::now();
        let energy = self.objective.energy(&self.trial);
        self.timings.evaluation += clock.elapsed();
        energy
    }

    fn evaluate_gradient(&mut self) -> f64 {
        let clock = Instant::now();
        self.objective.gradient(&self.trial, &mut self.trial_gradient);
        self.timings.evaluation += clock.elapsed();
        self.objective.residual(&self.trial_gradient)
    }

    /// Makes the trial point, whose gradient is known, the current one.
    fn accept(&mut self, energy: f64) {
        std::mem::swap(&mut self.x, &mut self.trial);
        std::mem::swap(&mut self.gradient, &mut self.trial_gradient);
        self.energy = energy;
        self.residual = self.objective.residual(&self.gradient);
    }

    /// Leaves a point whose Hessian has a negative eigenvalue along its eigenvector, as far as the
    /// function falls. False when there is no such direction or it does not lead down.
    fn escape(&mut self) -> Result<bool, SolveError> {
        self.objective.hessian(&self.x, false, &mut self.values);
        let clock = Instant::now();
        let metric = self.objective.metric();
        let mode =
            lowest_mode(&mut self.cholesky, &self.values, metric, &EigenSettings::default())?;
        self.timings.factorisation += clock.elapsed();
        self.factorisations += mode.factorisations;
        if mode.value >= 0.0 || mode.value.is_nan() {
            return Ok(false);
        }
        let mut direction = mode.vector;
        let slope: f64 = self.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let ratio = self.objective.step_ratio(&direction);
        let sign = if slope > 0.0 { -1.0 } else { 1.0 };
        direction.iter_mut().for_each(|d| *d *= sign / ratio); // now as long as trusted
        let mut best: Option<(f64, f64)> = None;
        let mut scale = 1.0;
        while scale > 1e-9 {
            for side in [scale, -scale] {
                self.objective.advance(&self.x, &direction, side, &mut self.trial);
                let energy = self.evaluate();
                if energy < self.energy && best.is_none_or(|(e, _)| energy < e) {
                    best = Some((energy, side));
                }
            }
            if best.is_some_and(|(_, side)| side.abs() > 1.5 * scale) {
                break; // shorter steps no longer improve
            }
            scale *= 0.5;
        }
        let Some((energy, side)) = best else { return Ok(false) };
        self.objective.advance(&self.x, &direction, side, &mut self.trial);
        self.evaluate_gradient();
        self.accept(energy);
        self.exact_pause = 0;
        Ok(true)
    }
}
