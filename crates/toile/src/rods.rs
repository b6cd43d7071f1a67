//! Rods of a scene: their equilibrium, and the natures behind drawn ones.

use toile_io::{
    DrawnFibre, LoadedRod, Scene, SceneError, Time, load_colliders, load_drawn, load_rods,
    scene_gravity,
};
use toile_rod::{
    Assembly, AssemblyInversion, AssemblySettings, ClampMotion, Fibre, FibreInversion, Fit, Loads,
    Prior, RefinedEquilibrium, RodError, RodState, StaticSettings, StepSettings, fit, invert_fibre,
};

/// A draped rod: what went in and what came out.
#[derive(Clone, Debug)]
pub struct RodDrape {
    /// The rod of the scene.
    pub loaded: LoadedRod,
    /// Its equilibrium and the elements it took.
    pub result: RefinedEquilibrium,
}

/// Why the rods of a scene could not be treated at all.
#[derive(Debug, thiserror::Error)]
pub enum RodSceneError {
    /// The scene or one of its files.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A rod cannot be solved.
    #[error("rod {rod}: {source}")]
    Rod {
        /// Which, counted from 0.
        rod: usize,
        /// Why.
        source: RodError,
    },
    /// Rods and shells in one scene.
    #[error(
        "rods and shells in one scene are not solved together yet; put them in scenes of their own"
    )]
    Mixed,
    /// Hair has no natural shape of its own.
    #[error(
        "hair is drawn, not described: `toile invert` finds its natural shape; `drape` takes tables [[rod]]"
    )]
    OnlyHair,
    /// Nothing says how to go through time.
    #[error("the scene has no table [time]; add for example\n[time]\nstep = 0.001\nduration = 1.0")]
    NoTime,
    /// Statics with contact is not there yet.
    #[error(
        "`drape` does not know colliders for rods yet; remove the tables [[collider]] and [self_contact]"
    )]
    Contact,
}

/// Finds the equilibrium of every rod of a scene, each from its natural shape as its weight grows from nothing.
///
/// Same scene, same bits, whatever the number of threads.
pub fn drape_rods(
    scene: &Scene,
    settings: &StaticSettings,
) -> Result<Vec<RodDrape>, RodSceneError> {
    use rayon::prelude::*;
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    if !scene.colliders.is_empty() || scene.self_contact.is_some() {
        return Err(RodSceneError::Contact);
    }
    if !scene.hair.is_empty() {
        return Err(RodSceneError::OnlyHair);
    }
    let gravity = scene_gravity(scene);
    let one = |(rod, loaded): (usize, LoadedRod)| {
        let loads = Loads::weight(&loaded.spec.section, gravity);
        let result = loaded
            .spec
            .equilibrium(loaded.elements, &loads, loaded.accuracy, settings)
            .map_err(|source| RodSceneError::Rod { rod, source })?;
        Ok(RodDrape { loaded, result })
    };
    load_rods(scene)?.into_par_iter().enumerate().map(one).collect()
}

/// A drawn fibre, the rod fitted to it, and the nature with which it rests there.
#[derive(Clone, Debug)]
pub struct RodInversion {
    /// What was drawn.
    pub drawn: DrawnFibre,
    /// The rod in its shape.
    pub fit: Fit,
    /// Its natural curvatures and the certificate.
    pub result: FibreInversion,
}

/// Finds the natural shapes for which the drawn fibres of a scene (`curve` of a rod, `strands` of hair) are
/// equilibria, each alone. Also returns what was unusual in the files.
///
/// Same scene, same bits, whatever the number of threads.
pub fn invert_rods(scene: &Scene) -> Result<(Vec<RodInversion>, Vec<String>), RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let (fibres, notes) = load_drawn(scene)?;
    Ok((invert_all(fibres, scene_gravity(scene))?, notes))
}

fn invert_all(
    fibres: Vec<DrawnFibre>,
    gravity: toile_rod::Vec3,
) -> Result<Vec<RodInversion>, RodSceneError> {
    use rayon::prelude::*;
    let one = |(rod, drawn): (usize, DrawnFibre)| {
        let solve = || {
            let fit = fit(&drawn.curve, drawn.section, drawn.d1, &drawn.settings)?;
            let loads = Loads::weight(&drawn.section, gravity);
            let result = invert_fibre(&fit.rod, &fit.q, &loads)?;
            Ok((fit, result))
        };
        let (fit, result) = solve().map_err(|source| RodSceneError::Rod { rod, source })?;
        Ok(RodInversion { drawn, fit, result })
    };
    fibres.into_par_iter().enumerate().map(one).collect()
}

/// Contacts of drawn fibres, and how they hold them.
#[derive(Clone, Debug)]
pub struct ContactInversion {
    /// Contacts, forces and natures.
    pub found: AssemblyInversion,
    /// Largest motion in the simulated time, over the size of the whole.
    pub drift: Option<f64>,
}

/// Finds natures and sticking contact forces for drawn fibres among the colliders of the scene (and each other, with
/// `self_contact`), then simulates the result for `seconds`. The natures in `fibres` are replaced.
pub fn invert_contacts(
    scene: &Scene,
    fibres: &mut [RodInversion],
    seconds: f64,
) -> Result<ContactInversion, RodSceneError> {
    let gravity = scene_gravity(scene);
    let one = |f: &RodInversion| Fibre {
        rod: f.fit.rod.clone(),
        state: RodState::at_rest(f.fit.q.clone()),
        motion: ClampMotion::default(),
        radius: f.drawn.radius,
    };
    let settings = AssemblySettings {
        step: StepSettings { damping: FIBRE_DAMPING, ..StepSettings::new(1e-3) },
        gravity,
        fibre_friction: scene.self_contact.map(|own| own.friction),
        tolerance: 1e-8,
        max_sweeps: 1000,
    };
    let failed = |source| RodSceneError::Rod { rod: 0, source };
    let assembly =
        Assembly::new(fibres.iter().map(one).collect(), load_colliders(scene)?, settings)
            .map_err(failed)?;
    let found = assembly.invert(&Prior::Shape).map_err(failed)?;
    for (fibre, natural) in fibres.iter_mut().zip(&found.natural) {
        fibre.result.rod = fibre.result.rod.clone().with_rest(natural).map_err(failed)?;
        fibre.result.natural.clone_from(natural);
    }
    let drift = if seconds > 0.0 {
        let held = assembly.with_natures(&found.natural).map_err(failed)?;
        Some(held.drift(seconds).map_err(failed)?)
    } else {
        None
    };
    Ok(ContactInversion { found, drift })
}

/// Internal damping of fibres in motion \[s\]: a curl of 10 Hz comes to rest in a second or two.
const FIBRE_DAMPING: f64 = 2e-3;

/// The fibres of a scene ready to move, and how they go through time.
///
/// Rods start at rest in their natural shape; drawn ones and hair start as drawn, with the nature that holds them there
/// without contact. What was unusual in the files is returned as well.
pub fn rod_assembly(scene: &Scene) -> Result<(Assembly, Time, Vec<String>), RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let time = scene.time.ok_or(RodSceneError::NoTime)?;
    let gravity = scene_gravity(scene);
    let mut fibres = Vec::new();
    let mut add = |rod: toile_rod::Rod, q: Vec<toile_rod::Vec3>, radius: f64| {
        fibres.push(Fibre {
            rod,
            state: RodState::at_rest(q),
            motion: ClampMotion::default(),
            radius,
        });
    };
    // Rods that are only drawn are told apart by having no length of their own.
    let mut described = scene.clone();
    described.rods.retain(|rod| rod.length.is_some() && rod.clamp.is_some());
    for (rod, loaded) in load_rods(&described)?.into_iter().enumerate() {
        let built = loaded
            .spec
            .build(loaded.elements)
            .map_err(|source| RodSceneError::Rod { rod, source })?;
        let q = built.rest();
        add(built, q, loaded.radius);
    }
    let mut drawn = scene.clone();
    drawn.rods.retain(|rod| rod.length.is_none() || rod.clamp.is_none());
    let (strands, notes) = load_drawn(&drawn)?;
    for found in invert_all(strands, gravity)? {
        add(found.result.rod, found.fit.q, found.drawn.radius);
    }
    let settings = AssemblySettings {
        step: StepSettings {
            damping: FIBRE_DAMPING,
            drag: time.damping,
            ..StepSettings::new(time.step)
        },
        gravity,
        fibre_friction: scene.self_contact.map(|own| own.friction),
        tolerance: 1e-6,
        max_sweeps: 500,
    };
    let assembly = Assembly::new(fibres, load_colliders(scene)?, settings)
        .map_err(|source| RodSceneError::Rod { rod: 0, source })?;
    Ok((assembly, time, notes))
}
