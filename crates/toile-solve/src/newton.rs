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
    /// positive semi-definite matrix. Given the point `before` the last move the objective may take from it
    /// what makes the Hessian follow the path better, as long as the difference is of second order.
    fn hessian(
        &self,
        x: &Self::Point,
        before: Option<&Self::Point>,
        positive: bool,
        values: &mut [f64],
    );
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
    /// Full steps that may be taken in a row above the lowest point so far before the search goes back to
    /// it. Following a curved valley, as unstretchable cloth does, a full step that overshoots and
    /// its correction lead farther than two halved ones: a sheet of 65 × 65 vertices hangs after 67
    /// steps instead of 92.
    pub daring: usize,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_steps: 500, daring: 3 }
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
    /// Length of the Newton step, as [`Objective::step_ratio`].
    pub length: f64,
    /// Part of it that was taken.
    pub scale: f64,
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
/// shift τ times the metric where that is not enough or the step would be too long. A step that raises f
/// stands only if f falls below where it was within [`NewtonSettings::daring`] further steps, else all of them are
/// taken back and the first is shortened; below the rounding of f the residual decides. A stationary
/// point with negative curvature is left along it. `observe` sees every step and may end the search by `false`; the
/// lowest point is returned.
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
    let mut patience = Patience::new(search.energy, search.residual);
    if !(search.energy.is_finite() && search.residual.is_finite()) {
        stop = Stop::NotFinite;
    } else {
        while history.len() < settings.max_steps {
            if search.residual <= settings.tolerance && search.checkpoint.is_none() {
                // Stationary: a minimum, or a saddle to be left.
                if search.factorize(false, false, 0.0)? {
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
            if !patience.goes_on(search.energy, search.residual) {
                stop = Stop::Stagnation;
                break;
            }
            // A saddle draws Newton in; with an indefinite Hessian there is no need to go all the way.
            if !step.exact && search.residual < SADDLE_SUSPECTED && search.escape()? {
                escapes += 1;
            }
        }
    }
    search.return_to_lowest();
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

/// Ends a search that goes round in circles.
struct Patience {
    energy: f64,
    residual: f64,
    /// Steps since either was last improved.
    idle: usize,
}

impl Patience {
    fn new(energy: f64, residual: f64) -> Self {
        Self { energy, residual, idle: 0 }
    }

    fn goes_on(&mut self, energy: f64, residual: f64) -> bool {
        let lower = energy < self.energy - ENERGY_NOISE * self.energy.abs();
        if lower || residual < 0.9 * self.residual {
            self.energy = self.energy.min(energy);
            self.residual = self.residual.min(residual);
            self.idle = 0;
        } else {
            self.idle += 1;
        }
        self.idle < IDLE_LIMIT
    }
}

/// Where the search stood before it dared to go up.
struct Checkpoint<P> {
    x: P,
    energy: f64,
    residual: f64,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// Derivative of f along the direction.
    slope: f64,
    /// Steps taken since.
    age: usize,
}

struct Search<'a, O: Objective> {
    objective: &'a O,
    cholesky: Cholesky,
    x: O::Point,
    trial: O::Point,
    /// The point before the last move, if there was one.
    before: O::Point,
    moved: bool,
    energy: f64,
    residual: f64,
    gradient: Vec<f64>,
    trial_gradient: Vec<f64>,
    checkpoint: Option<Checkpoint<O::Point>>,
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

/// Part of the decrease a linear function would show that is asked of a step.
const ARMIJO: f64 = 1e-4;

/// How far a daring step may rise, in units of the decrease hoped for.
const RISE_LIMIT: f64 = 20.0;

/// Shortest part of a Newton step that is tried before the Hessian is shifted instead.
const SHORTEST_PART: f64 = 1e-3;

/// Steps without a lower energy or residual after which there is no hope.
const IDLE_LIMIT: usize = 30;

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
            before: start.clone(),
            moved: false,
            checkpoint: None,
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

    fn factorize(&mut self, secant: bool, positive: bool, shift: f64) -> Result<bool, SolveError> {
        let clock = Instant::now();
        let before = (self.moved && secant).then_some(&self.before);
        self.objective.hessian(&self.x, before, positive, &mut self.values);
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

    /// Factorises a usable Hessian at x, finds a step of acceptable length and takes it or a part of
    /// it. `None` when nothing helps any more.
    fn step(&mut self, settings: &NewtonSettings) -> Result<Option<Step>, SolveError> {
        let mut exact = self.exact_pause == 0;
        if !exact {
            self.exact_pause -= 1;
        }
        let least_shift = self.least_shift();
        // Where no part of a step helps, going up once more would only lead back here.
        let mut sober = false;
        loop {
            if self.factorize(true, !exact, self.shift)? {
                self.solve()?;
                let length = self.objective.step_ratio(&self.direction);
                if length <= 1.0 {
                    let daring = if sober { 0 } else { settings.daring };
                    let scale = if self.dare(daring) { 1.0 } else { self.line_search() };
                    sober = true;
                    if scale > 0.0 {
                        let shift = self.shift;
                        if exact {
                            // One success among failures is no proof that the next will succeed.
                            self.next_pause = (self.next_pause / 2).max(1);
                        }
                        self.shift = if shift < least_shift { 0.0 } else { shift / 8.0 };
                        return Ok(Some(Step {
                            step: 0,
                            energy: 0.0,
                            residual: 0.0,
                            shift,
                            exact,
                            length,
                            scale,
                            elapsed: Duration::ZERO,
                        }));
                    }
                }
                self.raise_shift(length, least_shift);
            } else if exact {
                exact = false;
                self.exact_pause = self.next_pause;
                self.next_pause = (2 * self.next_pause).min(8);
            } else {
                self.raise_shift(1.0, least_shift);
            }
            if self.shift > 1e12 * least_shift {
                return Ok(None);
            }
        }
    }

    /// A shift too small to matter: a ten-thousandth of the one that makes steepest descent as long as
    /// steps may be at all.
    fn least_shift(&self) -> f64 {
        let metric = self.objective.metric();
        let descent: Vec<f64> = self.gradient.iter().zip(metric).map(|(g, m)| g / m).collect();
        (1e-4 * self.objective.step_ratio(&descent)).max(1e-30)
    }

    fn raise_shift(&mut self, length: f64, least_shift: f64) {
        self.shift = (length.clamp(4.0, 100.0) * self.shift).max(10.0 * least_shift);
    }

    /// Takes the full step when f falls below the lowest value so far, or when it may still do so within
    /// `daring` steps. Otherwise goes back to the checkpoint, if there is one, and leaves it to the
    /// caller to search along `direction` from `x`.
    fn dare(&mut self, daring: usize) -> bool {
        let slope = dot(&self.gradient, &self.direction);
        // Where rounding decides there is nothing to dare.
        if daring == 0 || slope.is_nan() || -slope <= 1e4 * ENERGY_NOISE * self.energy.abs() {
            return self.give_up_daring();
        }
        self.objective.advance(&self.x, &self.direction, 1.0, &mut self.trial);
        let energy = self.evaluate();
        let (reference, first_slope, age) = self
            .checkpoint
            .as_ref()
            .map_or((self.energy, slope, 0), |c| (c.energy, c.slope, c.age));
        if energy <= reference + ARMIJO * first_slope {
            self.checkpoint = None;
        } else if age < daring && energy <= reference - RISE_LIMIT * first_slope {
            let checkpoint = self.checkpoint.get_or_insert_with(|| Checkpoint {
                x: self.x.clone(),
                energy: self.energy,
                residual: self.residual,
                gradient: self.gradient.clone(),
                direction: self.direction.clone(),
                slope,
                age: 0,
            });
            checkpoint.age += 1;
        } else {
            return self.give_up_daring();
        }
        self.evaluate_gradient();
        self.accept(energy);
        true
    }

    fn give_up_daring(&mut self) -> bool {
        if let Some(checkpoint) = self.checkpoint.take() {
            self.x = checkpoint.x;
            self.energy = checkpoint.energy;
            self.residual = checkpoint.residual;
            self.gradient = checkpoint.gradient;
            self.direction = checkpoint.direction;
            self.moved = false;
        }
        false
    }

    /// Makes the lowest point the current one.
    fn return_to_lowest(&mut self) {
        if self.checkpoint.as_ref().is_some_and(|c| c.energy < self.energy) {
            self.give_up_daring();
        }
    }

    /// Halves the step until f falls enough, and takes it. Returns the part taken, zero for none.
    fn line_search(&mut self) -> f64 {
        let slope = dot(&self.gradient, &self.direction);
        if slope >= 0.0 || slope.is_nan() {
            return 0.0;
        }
        let noise = ENERGY_NOISE * self.energy.abs();
        let mut scale = 1.0;
        while scale >= SHORTEST_PART {
            self.objective.advance(&self.x, &self.direction, scale, &mut self.trial);
            let energy = self.evaluate();
            let accepted = if -slope * scale < noise {
                energy <= self.energy + noise && self.evaluate_gradient() < 0.9 * self.residual
            } else {
                let lower = energy <= self.energy + ARMIJO * scale * slope;
                if lower {
                    self.evaluate_gradient();
                }
                lower
            };
            if accepted {
                self.accept(energy);
                return scale;
            }
            scale *= 0.5;
        }
        0.0
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
        std::mem::swap(&mut self.before, &mut self.x);
        std::mem::swap(&mut self.x, &mut self.trial);
        self.moved = true;
        std::mem::swap(&mut self.gradient, &mut self.trial_gradient);
        self.energy = energy;
        self.residual = self.objective.residual(&self.gradient);
    }

    /// Leaves a point whose Hessian has a negative eigenvalue along its eigenvector, as far as the
    /// function falls. False when there is no such direction or it does not lead down.
    fn escape(&mut self) -> Result<bool, SolveError> {
        self.objective.hessian(&self.x, None, false, &mut self.values);
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
        let slope = dot(&self.gradient, &direction);
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

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
