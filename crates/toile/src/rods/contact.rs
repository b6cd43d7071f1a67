//! Drawn fibres that touch: natures and contact forces.

use toile_io::{Scene, load_colliders, scene_gravity};
use toile_rod::{
    Assembly, AssemblyInversion, AssemblySettings, ClampMotion, Closing, Fibre, FibreInversion,
    Growth, Loads, Prior, RodError, RodState, StepSettings, Vec3, distances,
};

use super::compared::RestFound;
use super::drawn::{DrawnFit, RodInversion};
use super::scene::{FIBRE_DAMPING, outside, roots_inside};
use super::{FibreProgress, RodSceneError};

/// Contacts of drawn fibres, and how they hold them.
#[derive(Clone, Debug)]
pub struct ContactInversion {
    /// Contacts, forces and natures.
    pub found: AssemblyInversion,
    /// What was done to bring the drawing into contact.
    pub closing: Closing,
    /// Largest motion in the simulated time, over the size of the whole; `None` if it was not asked for, was cut short, or a fibre would fall anyway.
    pub drift: Option<f64>,
    /// How far the drawing would sag in the first fifth of a second if it were made as drawn, over the size of the whole.
    pub naive_sag: Option<f64>,
    /// The same with the rest of its file.
    pub rest_sag: Option<f64>,
    /// What was unusual about how the fibres lie among the colliders.
    pub notes: Vec<String>,
}

/// Gap over the thinnest radius up to which drawn fibres are meant to touch.
const MEANT: f64 = 0.1;

/// Step with which a result is watched \[s\].
pub(super) const WATCH_STEP: f64 = 2e-3;

/// Time for which a drawing made as drawn may sag \[s\].
pub(crate) const SAG_TIME: f64 = 0.2;

/// Finds natures and sticking contact forces for drawn fibres among the colliders of the scene (and each other, with
/// `self_contact`), then simulates the result for `seconds`, unless `watch` ends it or a fibre would fall anyway. Small gaps of the drawing are closed first, which moves
/// the fibres.
pub fn invert_contacts(
    scene: &Scene,
    mut fits: Vec<DrawnFit>,
    seconds: f64,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<(Vec<RodInversion>, ContactInversion), RodSceneError> {
    let gravity = scene_gravity(scene);
    let one = |f: &DrawnFit| Fibre {
        rod: f.fit.rod.clone(),
        state: RodState::at_rest(f.fit.q.clone()),
        motion: ClampMotion::default(),
        radius: f.drawn.radius,
    };
    let settings = AssemblySettings {
        step: StepSettings { damping: FIBRE_DAMPING, ..StepSettings::new(WATCH_STEP) },
        gravity,
        fibre_friction: scene.self_contact.map(|own| own.friction),
        tolerance: 1e-8,
        max_sweeps: 1000,
    };
    let of = fits.len();
    let failed = |source| match source {
        RodError::Stopped => RodSceneError::Stopped { done: 0, of },
        source => RodSceneError::Rod { rod: 0, source },
    };
    let mut assembly =
        Assembly::new(fits.iter().map(one).collect(), load_colliders(scene)?, settings)
            .map_err(failed)?;
    let growths: Vec<Option<Growth>> = fits.iter().map(|f| f.growth).collect();
    if growths.iter().any(Option::is_some) {
        assembly = assembly.grown(&growths).map_err(failed)?;
    }
    let notes = roots_inside(&assembly);
    let thinnest = fits.iter().map(|f| f.drawn.radius).fold(f64::INFINITY, f64::min);
    let closing = assembly
        .close_gaps_watched(MEANT * thinnest, &|part| watch(FibreProgress::Closing { part }))
        .map_err(failed)?;
    // Small overlaps were opened; what is still inside goes through.
    outside(&assembly, |f| fits[f].drawn.name.clone(), |_| 0.0)?;
    // The wish: as the file says it rests, or else as drawn.
    let rests: Option<Vec<Vec<Vec3>>> = fits.iter().any(|f| f.rest.is_some()).then(|| {
        let wish = |(f, held): (&DrawnFit, &Fibre)| {
            f.rest.as_ref().map_or_else(|| held.state.q.clone(), |rest| rest.natural.clone())
        };
        fits.iter().zip(&assembly.fibres).map(wish).collect()
    });
    let prior = rests.clone().map_or(Prior::Shape, Prior::Given);
    let found = assembly
        .invert_watched(&prior, &|part| watch(FibreProgress::Holding { part }))
        .map_err(failed)?;
    let mut fibres = Vec::with_capacity(fits.len());
    let held = assembly.fibres.iter().zip(&found.natural).zip(&found.certificates);
    for (DrawnFit { drawn, mut fit, growth, rest }, ((held, natural), certificate)) in
        fits.drain(..).zip(held)
    {
        fit.q.clone_from(&held.state.q);
        fit.rod.set_clamp(*held.rod.clamp());
        (fit.error_max, fit.error_rms) = distances(&drawn.curve, &fit.rod, &fit.q);
        let rod = fit.rod.clone().with_rest(natural).map_err(failed)?;
        let loads = Loads::weight(rod.section(), gravity);
        let rest = rest.map(|rest| RestFound::held(&rod, natural, &rest, &loads));
        let result = FibreInversion::new(rod, natural.clone(), certificate.clone());
        fibres.push(RodInversion { drawn, fit, result, growth, rest });
    }
    // What would fall falls: to watch it tells nothing. How far the drawing is from the rest of its file is asked all the same.
    let asked = seconds;
    let seconds = if found.certificates.iter().all(|c| c.certified) { seconds } else { 0.0 };
    let shapes: Vec<_> = assembly.fibres.iter().map(|f| f.state.q.clone()).collect();
    let watching = |part: f64| watch(FibreProgress::Watching { part });
    let moves = |held: Assembly, seconds: f64| {
        if seconds <= 0.0 { Ok(None) } else { held.drift_watched(seconds, &watching) }
    };
    let naive = assembly.with_natures(&shapes).map_err(failed)?;
    let drift = moves(assembly.held_by(&found).map_err(failed)?, seconds).map_err(failed)?;
    let naive_sag = moves(naive, SAG_TIME.min(seconds)).map_err(failed)?;
    let rest_sag = match rests {
        Some(rests) => {
            let held = assembly.with_natures(&rests).map_err(failed)?;
            moves(held, SAG_TIME.min(asked)).map_err(failed)?
        }
        None => None,
    };
    Ok((fibres, ContactInversion { found, closing, drift, naive_sag, rest_sag, notes }))
}
