//! Fibres of a scene that fall until they rest.

use toile_io::{Axes, IntegratorName, Scene, Time};
use toile_rod::{Assembly, RodError, SettleSettings, Settled};

use super::contact::WATCH_STEP;
use super::scene::{SceneFibres, scene_fibres};
use super::{FibreProgress, RodSceneError};
use crate::Start;

/// Rods at rest on colliders and each other.
#[derive(Clone, Debug)]
pub struct RodRest {
    /// Name of each fibre.
    pub names: Vec<String>,
    /// Units and axes of what is written of them.
    pub axes: Axes,
    /// What was unusual in the files.
    pub notes: Vec<String>,
    /// Where they are.
    pub assembly: Assembly,
    /// How they got there and what holds them.
    pub settled: Settled,
    /// Largest motion in the simulated time, over the size of the whole.
    pub drift: Option<f64>,
}

/// Step of the fall in which rods come to rest \[s\]: damped inside, they do not need shorter ones.
const FALL_STEP: f64 = 5e-3;

/// Lets the rods of a scene fall on its colliders (and each other, with `self_contact`) until they rest, finds the equilibrium there,
/// and watches it for `drift` seconds. Elements are kept as they are given. Drawn rods and hair begin as drawn, with the nature that holds them there without
/// contact, as in motion.
pub fn rest_rods(
    scene: &Scene,
    start: Start,
    settings: &SettleSettings,
    drift: f64,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<RodRest, RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let time = Time {
        step: FALL_STEP,
        duration: 1.0,
        frame: None,
        damping: 0.0,
        integrator: IntegratorName::ImplicitEuler,
        newton_steps: None,
    };
    let SceneFibres { mut assembly, names, notes, .. } = scene_fibres(scene, &time, start, watch)?;
    (assembly.settings.tolerance, assembly.settings.max_sweeps) = (1e-8, 1000);
    let failed = |source| RodSceneError::Rod { rod: 0, source };
    let mut left = 0;
    if scene.colliders.is_empty() && scene.self_contact.is_none() {
        let of = names.len();
        let tell = |done: usize| watch(FibreProgress::Judging { done, of });
        left = assembly.rest_alone(&tell).map_err(|source| match source {
            RodError::Stopped => RodSceneError::Stopped { done: 0, of },
            source => failed(source),
        })?;
    }
    let falling = |steps: usize, speed: f64| watch(FibreProgress::Falling { steps, speed });
    let mut settled = assembly.settle(settings, &falling).map_err(failed)?;
    settled.escapes += left;
    let watching = |part: f64| watch(FibreProgress::Watching { part });
    // A motion is what short steps make of it.
    assembly.settings.step.dt = WATCH_STEP;
    let drift =
        if drift > 0.0 { assembly.drift_watched(drift, &watching).map_err(failed)? } else { None };
    Ok(RodRest { names, axes: scene.own_axes(), notes, assembly, settled, drift })
}
