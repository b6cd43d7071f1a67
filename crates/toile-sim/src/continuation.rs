//! Paths of equilibria: step by step in the load, or by arc length around folds.

use toile_energy::Curvature;
use toile_solve::{Inertia, Ldlt, SolveError};

use crate::certificate::{force_unit, residual_n};
use crate::{Model, SimError, State};

/// A point on a path of equilibria.
#[derive(Clone, Debug)]
pub struct PathPoint {
    /// Load factor.
    pub load: f64,
    /// The equilibrium.
    pub state: State,
    /// Inertia of the Hessian there; no negative pivot means stable.
    pub inertia: Inertia,
    /// Newton corrections it took.
    pub corrections: usize,
}

/// Settings of [`trace`].
#[derive(Clone, Copy, Debug)]
pub struct PathSettings {
    /// Residual asked of every point, as in the certificate (at load factor one).
    pub tolerance: f64,
    /// First step along the path, as a part of the model's size per coordinate.
    pub first_step: f64,
    /// Longest step, the same way.
    pub longest_step: f64,
    /// Newton corrections before a step is halved.
    pub max_corrections: usize,
    /// Points at most.
    pub max_points: usize,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            first_step: 1e-2,
            longest_step: 1e-1,
            max_corrections: 12,
            max_points: 400,
        }
    }
}

/// Follows equilibria from `start` (one at the model's present load factor) by arc length, through limit points
/// where the load must fall again, until `keep_going` says no or the points run out.
///
/// The step is bounded in the combined length of displacement (root mean square, relative to the size) and
/// load factor; predictor along the tangent, Newton corrections on the plane through the predicted
/// point perpendicular to the tangent. The Hessian may be indefinite on the way.
/// Leaves the model at the load of the last point. Reference: Riks 1979; Crisfield 1981.
/// Check: `arc_length_passes_the_snap_of_a_shallow_truss`.
pub fn trace(
    model: &mut Model,
    start: &State,
    settings: &PathSettings,
    mut keep_going: impl FnMut(&PathPoint) -> bool,
) -> Result<Vec<PathPoint>, SimError> {
    let n = model.len();
    let mut newton = Bordered::new(model)?;
    let size = model.size(start).max(f64::MIN_POSITIVE);
    let free = model.fixed().iter().filter(|f| !**f).count().max(1);
    // Displacements are measured per unknown, relative to the size; loads count as they are.
    let weight = 1.0 / (size * size * free as f64);
    let mut state = start.clone();
    let mut load = model.load();
    let loads = model.load_vector();
    let unit = {
        model.set_load(1.0);
        force_unit(model)
    };
    model.set_load(load);
    let mut step = settings.first_step;
    let mut previous: Option<(Vec<f64>, f64)> = None;
    let mut points = Vec::new();
    let mut trial = state.clone();
    while points.len() < settings.max_points {
        newton.factorize(model, &state)?;
        // Tangent: K dx = f dλ, normalised, in the direction of travel.
        let mut tangent = newton.solve(&loads)?;
        let square: f64 = tangent.iter().map(|t| t * t).sum::<f64>() * weight;
        let mut tangent_load = 1.0 / (1.0 + square).sqrt();
        let forward = previous.as_ref().map_or(1.0, |(dx, dl)| {
            let along: f64 = dx.iter().zip(&tangent).map(|(a, b)| a * b).sum::<f64>() * weight;
            along + dl
        });
        tangent_load *= forward.signum();
        tangent.iter_mut().for_each(|t| *t *= tangent_load);

        let mut accepted = None;
        while accepted.is_none() {
            if step < 1e-8 {
                return Ok(points); // the path cannot be followed any more
            }
            state.advanced_into(&tangent, step, &mut trial);
            let mut trial_load = load + step * tangent_load;
            let mut moved: Vec<f64> = tangent.iter().map(|t| t * step).collect();
            for k in 0..settings.max_corrections {
                model.set_load(trial_load);
                let gradient = newton.residual(model, &trial);
                if residual_n(model, &gradient) <= settings.tolerance * unit {
                    accepted = Some((trial_load, k));
                    break;
                }
                newton.factorize(model, &trial)?;
                let by_force = newton.solve(&gradient)?;
                let by_load = newton.solve(&loads)?;
                // (−K⁻¹g + K⁻¹f dλ, dλ) perpendicular to the tangent.
                let dot =
                    |a: &[f64]| a.iter().zip(&tangent).map(|(a, t)| a * t).sum::<f64>() * weight;
                let change = dot(&by_force) / (dot(&by_load) + tangent_load);
                let correction: Vec<f64> =
                    (0..n).map(|i| by_load[i] * change - by_force[i]).collect();
                let largest = correction.iter().fold(0.0f64, |a, c| a.max(c.abs()));
                if !largest.is_finite() || largest > size {
                    break;
                }
                let here = trial.clone();
                here.advanced_into(&correction, 1.0, &mut trial);
                moved.iter_mut().zip(&correction).for_each(|(m, c)| *m += c);
                trial_load += change;
            }
            if let Some((new_load, corrections)) = accepted {
                previous = Some((moved, new_load - load));
                load = new_load;
                std::mem::swap(&mut state, &mut trial);
                let inertia = newton.factorize(model, &state)?;
                points.push(PathPoint { load, state: state.clone(), inertia, corrections });
                // Few corrections: the path is straighter than the step.
                let growth = if corrections <= 3 { 1.5 } else { 0.75 };
                step = (step * growth).min(settings.longest_step);
            } else {
                model.set_load(load);
                step *= 0.5;
            }
        }
        if let Some(point) = points.last()
            && !keep_going(point)
        {
            break;
        }
    }
    Ok(points)
}

/// Factorised Hessian with its scratch.
struct Bordered {
    ldlt: Ldlt,
    values: Vec<f64>,
}

impl Bordered {
    fn new(model: &Model) -> Result<Self, SimError> {
        let ldlt = Ldlt::new(model.pattern().clone())?;
        Ok(Self { ldlt, values: vec![0.0; model.pattern().nnz()] })
    }

    fn factorize(&mut self, model: &Model, state: &State) -> Result<Inertia, SimError> {
        model.hessian(state, Curvature::Exact, &mut self.values);
        match self.ldlt.factorize(&self.values, None) {
            Ok(inertia) => Ok(inertia),
            Err(SolveError::ZeroPivot { .. }) => {
                // Exactly on a limit point: a hair off is as good.
                let col_ptr = &model.pattern().col_ptr;
                for i in 0..model.len() {
                    self.values[col_ptr[i]] *= 1.0 + 1e-12;
                }
                Ok(self.ldlt.factorize(&self.values, None)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// K⁻¹ b at the free unknowns.
    fn solve(&mut self, b: &[f64]) -> Result<Vec<f64>, SimError> {
        let mut x = vec![0.0; b.len()];
        self.ldlt.solve(&self.values, b, &mut x)?;
        Ok(x)
    }

    /// Gradient at the free unknowns.
    fn residual(&self, model: &Model, state: &State) -> Vec<f64> {
        let mut gradient = vec![0.0; model.len()];
        model.gradient(state, &mut gradient);
        for (g, fixed) in gradient.iter_mut().zip(model.fixed()) {
            if *fixed {
                *g = 0.0;
            }
        }
        gradient
    }
}
