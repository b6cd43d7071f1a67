//! Static equilibrium: the state in which the potential energy has a minimum.

use std::sync::Arc;

use toile_energy::Curvature;
use toile_solve::{Minimum, NewtonSettings, Objective, Step, Stop, SymmetricPattern, minimize};

use crate::certificate::{certify, force_unit, residual_n};
use crate::{Certificate, Model, SimError, State};

/// The potential energy of a model as a function to be minimised.
pub struct Potential<'a> {
    model: &'a Model,
    metric: Vec<f64>,
    force_unit: f64,
    longest_step: f64,
}

impl<'a> Potential<'a> {
    /// The potential of a model near `state`, whose size limits the steps.
    pub fn new(model: &'a Model, state: &State) -> Self {
        // Massless unknowns still need a weight.
        let mean = model.metric().iter().sum::<f64>() / model.len().max(1) as f64;
        let floor = if mean > 0.0 { 1e-3 * mean } else { 1.0 };
        let metric = model.metric().iter().map(|m| m.max(floor)).collect();
        let size = model.size(state);
        let longest_step = if size > 0.0 { LONGEST_STEP * size } else { 1.0 };
        Self { model, metric, force_unit: force_unit(model), longest_step }
    }
}

/// Longest step in units of the size: a linearised rotation by a quarter stretches by 3 %, more is
/// never worth trying.
const LONGEST_STEP: f64 = 0.25;

impl Objective for Potential<'_> {
    type Point = State;

    fn pattern(&self) -> &Arc<SymmetricPattern> {
        self.model.pattern()
    }

    fn energy(&self, x: &State) -> f64 {
        self.model.energy(x)
    }

    fn gradient(&self, x: &State, out: &mut [f64]) {
        self.model.gradient(x, out);
        self.model.clear_fixed(out);
    }

    fn hessian(&self, x: &State, before: Option<&State>, positive: bool, values: &mut [f64]) {
        let curvature = if positive { Curvature::Positive } else { Curvature::Exact };
        match before {
            None => self.model.hessian(x, curvature, values),
            Some(before) => self.model.secant_hessian(x, before, curvature, values),
        }
    }

    fn metric(&self) -> &[f64] {
        &self.metric
    }

    fn advance(&self, x: &State, step: &[f64], scale: f64, out: &mut State) {
        x.advanced_into(step, scale, out);
    }

    fn residual(&self, gradient: &[f64]) -> f64 {
        residual_n(self.model, gradient) / self.force_unit
    }

    fn step_ratio(&self, step: &[f64]) -> f64 {
        let metres = step.iter().zip(self.model.levers()).map(|(s, lever)| (s * lever).abs());
        metres.fold(0.0, f64::max) / self.longest_step
    }
}

/// A static equilibrium, or the best that was found, with what can be said about it.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// The state.
    pub state: State,
    /// Potential energy \[J\].
    pub energy: f64,
    /// Why the search ended.
    pub stop: Stop,
    /// One entry per Newton step.
    pub history: Vec<Step>,
    /// Numeric factorisations.
    pub factorisations: usize,
    /// Saddle points that were left.
    pub escapes: usize,
    /// Where the time went.
    pub timings: toile_solve::Timings,
    /// The judgement.
    pub certificate: Certificate,
}

/// Finds a stable equilibrium of a model, starting from `start`.
///
/// `observe` sees every Newton step and ends the search by returning `false`; the best state so far is
/// returned and judged all the same.
pub fn equilibrium(
    model: &Model,
    start: &State,
    settings: &NewtonSettings,
    observe: impl FnMut(&Step) -> bool,
) -> Result<Equilibrium, SimError> {
    let found = relax(model, start, settings, observe)?;
    let mut certificate = certify(model, &found.point)?;
    if !certificate.certified && found.stop == Stop::Interrupted {
        certificate.reason = format!("stopped on request; {}", certificate.reason);
    }
    Ok(Equilibrium {
        state: found.point,
        energy: found.energy,
        stop: found.stop,
        history: found.history,
        factorisations: found.factorisations,
        escapes: found.escapes,
        timings: found.timings,
        certificate,
    })
}

/// [`equilibrium`] without the judgement.
pub fn relax(
    model: &Model,
    start: &State,
    settings: &NewtonSettings,
    observe: impl FnMut(&Step) -> bool,
) -> Result<Minimum<State>, SimError> {
    Ok(minimize(&Potential::new(model, start), start, settings, observe)?)
}

/// Where a model starts, its edge angles in balance while the vertices stay: angles have no mass, and in a mesh they are only guessed. From a guess,
/// cloth would leave an equilibrium that it is already in.
pub fn with_balanced_angles(
    model: &mut Model,
    settings: &NewtonSettings,
) -> Result<State, SimError> {
    if settings.max_steps == 0 || model.graph().sizes.iter().all(|size| *size == 3) {
        return Ok(model.start().clone());
    }
    let first = model.vertices().iter().map(|&v| model.unknown(v));
    let free: Vec<usize> = first.flat_map(|i| i..i + 3).filter(|&i| !model.fixed()[i]).collect();
    free.iter().for_each(|&i| model.set_fixed(i, true));
    let found = relax(model, model.start(), settings, |_| true);
    free.iter().for_each(|&i| model.set_fixed(i, false));
    Ok(found?.point)
}
