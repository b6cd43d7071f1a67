//! The published algorithm, for comparison and tests: Ly 2021 (chapter 5 and appendix D) after Casati et al. 2016.
//!
//! Step one matches the target through the draping function with contacts held as pins, step two brings the forces into their cones;
//! both are repeated while the pull λ towards the target is taken back. It defines the problem, and is minutes where
//! [`crate::invert`] is seconds.

mod coulomb;
mod drape;
mod flat;
mod invert;
mod lbfgs;
mod match_target;
#[cfg(test)]
mod tests;

use toile_geometry::Vec3;
use toile_sim::State;

use crate::{Garment, InverseError, TargetContact};
pub use invert::invert_by_reference;

use coulomb::Pressed;
use drape::Draping;
use lbfgs::{Limits, dot, minimise};

/// How step one is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimiser {
    /// Limited-memory BFGS with adjoint gradients: as published.
    #[default]
    Bfgs,
    /// Gauss–Newton, matrix-free: two back-solves a product.
    GaussNewton,
    /// Newton with the direct-adjoint Hessian (D.6).
    Newton,
}

/// What is asked of the forces at contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forces {
    /// Step two after step one, for each λ.
    #[default]
    TwoSteps,
    /// Nothing: contacts are pins (Casati's first step alone).
    Pins,
    /// One problem (5.27): the distance from the target, and a penalty on forces outside their cones.
    OneShot,
}

/// Settings of the published algorithm.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceSettings {
    /// How step one is solved. Default BFGS.
    pub optimiser: Optimiser,
    /// What is asked of contact forces. Default two steps.
    pub forces: Forces,
    /// Whether to start from the target without its folds (Casati et al. 2016, §5.5) instead of from the target. Default no.
    pub flat_start: bool,
    /// First λ \[N/m\]; halved until it is at most `least_lambda`, then zero. Default 1000.
    pub lambda: f64,
    /// Default 0.1.
    pub least_lambda: f64,
    /// Iterations of step one at each λ at most. Default 2000.
    pub match_iterations: usize,
    /// Iterations of step two at each λ at most. Default 5000.
    pub force_iterations: usize,
    /// J per squared size at which step one is content. Default 1e-22.
    pub enough: f64,
    /// Part of the friction forces may use. Default 0.975.
    pub cone_part: f64,
}

impl Default for ReferenceSettings {
    fn default() -> Self {
        Self {
            optimiser: Optimiser::Bfgs,
            forces: Forces::TwoSteps,
            flat_start: false,
            lambda: 1000.0,
            least_lambda: 0.1,
            match_iterations: 2000,
            force_iterations: 5000,
            enough: 1e-22,
            cone_part: 0.975,
        }
    }
}

/// One pass of the λ schedule.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// λ \[N/m\].
    pub lambda: f64,
    /// J = ½ ‖x − x_t‖² \[m²\].
    pub distance: f64,
    /// ½ Σ ‖G‖² \[N²\].
    pub forces: f64,
    /// Iterations of the two steps so far in this pass.
    pub iterations: [usize; 2],
}

/// What the published algorithm found.
#[derive(Clone, Debug)]
pub struct ReferenceResult {
    /// The rest shape \[m\].
    pub rest: Vec<Vec3>,
    /// Its drape with the contacts held, at λ = 0 \[m\].
    pub shape: Vec<Vec3>,
    /// Forces at the contacts \[N\], in their order.
    pub forces: Vec<Vec3>,
    /// One entry per λ.
    pub passes: Vec<Pass>,
    /// Drapes and Newton steps in them.
    pub drapes: [usize; 2],
    /// Whether the λ schedule was gone through to its end.
    pub complete: bool,
}

/// Runs the published algorithm on a garment whose contacts are known.
///
/// `touched` is the target with its contacts closed. `observe` sees each iteration and ends the search by returning `false`.
pub fn reference(
    garment: &Garment,
    touched: &[Vec3],
    contacts: &[TargetContact],
    settings: &ReferenceSettings,
    mut observe: impl FnMut(&Pass) -> bool,
) -> Result<ReferenceResult, InverseError> {
    let mut held = garment.pinned();
    let pinned = held.clone();
    for c in contacts {
        held[c.vertex as usize] = true;
    }
    let (mut model, _) = garment.model(touched, touched)?;
    let mut pressed = Vec::with_capacity(contacts.len());
    for c in contacts {
        let unknown = model.unknown(model.vertices()[c.vertex as usize]);
        (unknown..unknown + 3).for_each(|i| model.set_fixed(i, true));
        let friction = settings.cone_part * c.friction;
        pressed.push(Pressed { unknown, normal: c.normal, friction });
    }
    let free = |held: &[bool]| {
        let mut free = vec![false; model.len()];
        for (v, &node) in model.vertices().iter().enumerate() {
            let i = model.unknown(node);
            free[i..i + 3].fill(!held[v]);
        }
        free
    };
    // Step one leaves the rest shape of contacts alone, step two does not.
    let (match_free, force_free) = (free(&held), free(&pinned));
    let mut rest = model.rest().clone();
    if settings.flat_start {
        let flat = flat::flattened(garment, touched, &held)?;
        for (v, p) in flat.iter().enumerate() {
            let i = model.unknown(model.vertices()[v]);
            (0..3).for_each(|k| rest.set(i + k, p[k]));
        }
    }
    let size = crate::design::extent(touched).max(f64::MIN_POSITIVE);
    let mut run = Run {
        draping: Draping::new(model)?,
        pressed,
        match_free,
        force_free,
        settings: *settings,
        size,
        rest,
    };
    let mut passes: Vec<Pass> = Vec::new();
    let mut lambda = settings.lambda;
    let mut complete = true;
    loop {
        if lambda <= settings.least_lambda {
            lambda = 0.0;
        }
        run.draping.lambda = lambda;
        let mut pass = Pass { lambda, distance: f64::NAN, forces: 0.0, iterations: [0; 2] };
        let go_on = run.pass(&mut pass, &mut observe)?;
        passes.push(pass);
        if !go_on {
            complete = false;
            break;
        }
        if lambda == 0.0 {
            break;
        }
        lambda *= 0.5;
    }
    run.finish(passes, complete)
}

struct Run {
    draping: Draping,
    pressed: Vec<Pressed>,
    match_free: Vec<bool>,
    force_free: Vec<bool>,
    settings: ReferenceSettings,
    size: f64,
    rest: State,
}

impl Run {
    /// Both steps at one λ; whether to go on.
    fn pass(
        &mut self,
        pass: &mut Pass,
        observe: &mut dyn FnMut(&Pass) -> bool,
    ) -> Result<bool, InverseError> {
        if !self.match_target(pass, observe)? {
            return Ok(false);
        }
        if self.pressed.is_empty() || self.settings.forces != Forces::TwoSteps {
            return Ok(true);
        }
        self.draping.model.set_rest(&self.rest);
        let Some(x) = self.draping.drape()? else { return Ok(false) };
        self.correct_forces(&x, pass, observe)
    }

    fn match_target(
        &mut self,
        pass: &mut Pass,
        observe: &mut dyn FnMut(&Pass) -> bool,
    ) -> Result<bool, InverseError> {
        let (base, settings) = (self.rest.clone(), self.settings);
        let enough = settings.enough * self.size * self.size;
        let one_shot = settings.forces == Forces::OneShot && !self.pressed.is_empty();
        let free = if one_shot { self.force_free.clone() } else { self.match_free.clone() };
        let mut told = |iterations: usize, value: f64| {
            pass.distance = value;
            pass.iterations[0] = iterations;
            observe(pass)
        };
        if settings.optimiser != Optimiser::Bfgs {
            let full = settings.optimiser == Optimiser::Newton;
            let most = settings.match_iterations;
            let found = match_target::newton(
                &mut self.draping,
                &base,
                &free,
                full,
                most,
                enough,
                &mut told,
            )?;
            let Some(found) = found else { return Ok(false) };
            (pass.distance, pass.iterations[0]) = (found.value, found.iterations);
            base.advanced_into(&found.change, 1.0, &mut self.rest);
            return Ok(!found.interrupted);
        }
        let limits = Limits {
            iterations: settings.match_iterations,
            gradient: 1e-15,
            step: 1e-15,
            value: enough,
            first: 1e-3 * self.size,
        };
        let (draping, pressed) = (&mut self.draping, &self.pressed);
        let function = |change: &[f64]| -> Result<Option<(f64, Vec<f64>)>, InverseError> {
            let Some(at) = match_target::evaluate(draping, &base, change, &free)? else {
                return Ok(None);
            };
            if !one_shot {
                return Ok(Some((at.value, at.gradient)));
            }
            let (penalty, gradient) = penalised(draping, pressed, &at, &free)?;
            let sum = at.gradient.iter().zip(&gradient).map(|(a, b)| a + b).collect();
            Ok(Some((at.value + penalty, sum)))
        };
        let found = minimise(function, vec![0.0; free.len()], &limits, &mut told)?;
        let Some(found) = found else { return Ok(false) };
        (pass.distance, pass.iterations[0]) = (found.value, found.iterations);
        base.advanced_into(&found.x, 1.0, &mut self.rest);
        Ok(!found.interrupted)
    }

    fn correct_forces(
        &mut self,
        x: &State,
        pass: &mut Pass,
        observe: &mut dyn FnMut(&Pass) -> bool,
    ) -> Result<bool, InverseError> {
        let base = self.rest.clone();
        let force = self.draping.force;
        let limits = Limits {
            iterations: self.settings.force_iterations,
            gradient: 1e-15,
            step: 1e-15,
            value: 1e-24 * force * force,
            first: 1e-4 * self.size,
        };
        let (draping, pressed, free) = (&mut self.draping, &self.pressed, &self.force_free);
        let function = |change: &[f64]| -> Result<Option<(f64, Vec<f64>)>, InverseError> {
            Ok(Some(coulomb::evaluate(draping, x, pressed, &base, change, free)))
        };
        let mut told = |iterations: usize, value: f64| {
            pass.forces = value;
            pass.iterations[1] = iterations;
            observe(pass)
        };
        let Some(found) = minimise(function, vec![0.0; free.len()], &limits, &mut told)? else {
            return Ok(false);
        };
        (pass.forces, pass.iterations[1]) = (found.value, found.iterations);
        base.advanced_into(&found.x, 1.0, &mut self.rest);
        Ok(!found.interrupted)
    }

    fn finish(
        mut self,
        passes: Vec<Pass>,
        complete: bool,
    ) -> Result<ReferenceResult, InverseError> {
        self.draping.lambda = 0.0;
        self.draping.model.set_rest(&self.rest);
        let draped = self.draping.drape()?;
        let stable = draped.is_some();
        let x = draped.unwrap_or_else(|| self.draping.model.start().clone());
        let forces = self.draping.forces(&x);
        let force = |c: &Pressed| Vec3::from_column_slice(&forces[c.unknown..c.unknown + 3]);
        Ok(ReferenceResult {
            rest: self.draping.model.positions(&self.rest),
            shape: self.draping.model.positions(&x),
            forces: self.pressed.iter().map(force).collect(),
            passes,
            drapes: [self.draping.drapes, self.draping.newton_steps],
            complete: complete && stable,
        })
    }
}

/// Weight of forces outside their cones against distances in the one-shot problem, in (size of a vertex's weight)⁻² size²: a force off by
/// a vertex's weight counts as a thousandth of the size.
const PENALTY: f64 = 1e-6;

/// The penalty ½ c Σ G² of (5.27) at a drape with its total derivative by x̄: one more adjoint.
fn penalised(
    draping: &mut Draping,
    pressed: &[Pressed],
    at: &match_target::Matched,
    free: &[bool],
) -> Result<(f64, Vec<f64>), InverseError> {
    let size = draping.model.size(draping.model.start());
    let c = PENALTY * (size / draping.force).powi(2);
    let forces = draping.forces(&at.x);
    let n = forces.len();
    let (mut value, mut q) = (0.0, vec![0.0; n]);
    for contact in pressed {
        let force = Vec3::from_column_slice(&forces[contact.unknown..contact.unknown + 3]);
        let (g, slope) = coulomb::outside(contact, &force);
        value += 0.5 * c * g * g;
        (0..3).for_each(|k| q[contact.unknown + k] = c * g * slope[k]);
    }
    // Straight: qᵀ ∂F/∂x̄. Through the drape: qᵀ ∂F/∂x DΦ, with the rows of ∂F/∂x that belong to contacts.
    let mut gradient = vec![0.0; n];
    draping.mixed.multiply_transposed(&at.mixed, &q, &mut gradient);
    let held: Vec<usize> = pressed.iter().flat_map(|c| c.unknown..c.unknown + 3).collect();
    held.iter().for_each(|&i| draping.model.set_fixed(i, false));
    let mut full = vec![0.0; draping.hessian.len()];
    draping.model.hessian(&at.x, toile_energy::Curvature::Exact, &mut full);
    held.iter().for_each(|&i| draping.model.set_fixed(i, true));
    let mut pull = vec![0.0; n];
    draping.model.pattern().multiply(&full, &q, &mut pull);
    let p = draping.solve(&pull)?;
    let mut through = vec![0.0; n];
    draping.mixed.multiply_transposed(&at.mixed, &p, &mut through);
    gradient.iter_mut().zip(&through).for_each(|(g, t)| *g -= t);
    match_target::keep(free, &mut gradient);
    debug_assert!(dot(&gradient, &gradient).is_finite());
    Ok((value, gradient))
}
