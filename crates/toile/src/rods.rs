//! Rods of a scene: their equilibrium, and the natures behind drawn ones.

use toile_io::{DrawnFibre, LoadedRod, Scene, SceneError, load_drawn, load_rods, scene_gravity};
use toile_rod::{
    FibreInversion, Fit, Loads, RefinedEquilibrium, RodError, StaticSettings, fit, invert_fibre,
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
    /// Inversion of fibres in contact.
    #[error(
        "`invert` takes fibres one by one; it does not know colliders for them yet: remove the tables [[collider]] and \
         [self_contact]"
    )]
    InvertContact,
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
    use rayon::prelude::*;
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    if !scene.colliders.is_empty() || scene.self_contact.is_some() {
        return Err(RodSceneError::InvertContact);
    }
    let gravity = scene_gravity(scene);
    let (fibres, notes) = load_drawn(scene)?;
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
    let found: Result<Vec<RodInversion>, RodSceneError> =
        fibres.into_par_iter().enumerate().map(one).collect();
    Ok((found?, notes))
}
