//! Inversion: from a target to the rest shape that holds it.

use toile_geometry::Vec3;
use toile_inverse::reference::{self, ReferenceSettings};
use toile_inverse::{Garment, InverseError, InverseSettings, InverseStep, Inversion, LayerContact};
use toile_io::{
    LoadedShell, Scene, SceneError, leave_out_trims, load_shells, loaded_colliders, scene_gravity,
};

use crate::{Fields, shell_fields, shell_tensions};

/// Distance between layers where the scene gives none \[m\].
const LAYER_DISTANCE: f64 = 1e-3;

/// An inverted scene: what went in and what came out.
pub struct SceneInversion {
    /// The shells of the scene, in its order; their positions are the target.
    pub shells: Vec<LoadedShell>,
    /// What was done to bodies to make colliders of them, in words.
    pub body_notes: Vec<String>,
    /// Rest shape, equilibrium, contact forces and certificate, vertices of one shell after the other.
    pub result: Inversion,
}

/// Why a scene could not be inverted at all.
#[derive(Debug, thiserror::Error)]
pub enum InvertError {
    /// The scene or one of its files.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The inversion.
    #[error(transparent)]
    Inverse(#[from] InverseError),
}

/// Settings of an inversion: the defaults, with what the scene says in `[invert]`.
pub fn invert_settings(scene: &Scene) -> InverseSettings {
    let mut settings = InverseSettings::default();
    if let Some(own) = scene.invert {
        settings.contact_tolerance = own.contact_tolerance;
        settings.seam_tolerance = own.seam_tolerance.unwrap_or(settings.seam_tolerance);
        settings.layers_may_cross = own.layers_may_cross.unwrap_or(false);
        settings.cone_part = own.cone_part.unwrap_or(settings.cone_part);
        if let Some(most) = own.max_steps {
            settings.max_steps = most as usize;
        }
    }
    settings
}

/// The target of a scene with its material and surroundings.
pub fn scene_garment(scene: &Scene) -> Result<(Vec<LoadedShell>, Garment), SceneError> {
    let (shells, garment, _) = with_notes(scene)?;
    Ok((shells, garment))
}

/// The same, and what was done to the bodies.
fn with_notes(scene: &Scene) -> Result<(Vec<LoadedShell>, Garment, Vec<String>), SceneError> {
    let shells = load_shells(scene)?;
    let mut notes = Vec::new();
    let mut colliders = Vec::new();
    for (i, loaded) in loaded_colliders(scene)?.into_iter().enumerate() {
        let name = scene.colliders[i].mesh.as_deref().unwrap_or("a solid");
        notes.extend(loaded.notes.iter().map(|note| format!("collider {i} ({name}): {note}")));
        colliders.push(loaded.collider);
    }
    let garment = Garment {
        shells: shells.iter().map(|s| s.shell.clone()).collect(),
        gravity: scene_gravity(scene),
        colliders,
        self_contact: scene.self_contact.map(|own| LayerContact {
            thickness: own.thickness.unwrap_or(LAYER_DISTANCE),
            friction: own.friction,
        }),
    };
    Ok((shells, garment, notes))
}

/// Finds the rest shape for which the meshes of a scene are a stable equilibrium under gravity and friction.
///
/// `observe` sees every step and ends the search by returning `false`; what was reached by then is returned and
/// judged all the same. Same scene, same bits, whatever the number of threads.
pub fn invert(
    scene: &Scene,
    settings: &InverseSettings,
    observe: impl FnMut(&InverseStep) -> bool,
) -> Result<SceneInversion, InvertError> {
    invert_shown(scene, settings, observe, |_| {})
}

/// [`invert`] by the published algorithm, for comparison.
pub fn invert_by_reference(
    scene: &Scene,
    settings: &InverseSettings,
    published: &ReferenceSettings,
    mut observe: impl FnMut(&InverseStep) -> bool,
) -> Result<SceneInversion, InvertError> {
    but_for_trims(scene, |garment| {
        reference::invert_by_reference(garment, settings, published, &mut observe)
    })
}

/// [`invert`], showing the rest shape on the way: see [`toile_inverse::invert_shown`].
pub fn invert_shown(
    scene: &Scene,
    settings: &InverseSettings,
    mut observe: impl FnMut(&InverseStep) -> bool,
    mut show: impl FnMut(&dyn Fn() -> Vec<Vec3>),
) -> Result<SceneInversion, InvertError> {
    but_for_trims(scene, |garment| {
        toile_inverse::invert_shown(garment, settings, &mut observe, &mut show)
    })
}

/// Inverts the target of a scene, small pieces left out that nothing holds.
fn but_for_trims(
    scene: &Scene,
    mut run: impl FnMut(&Garment) -> Result<Inversion, InverseError>,
) -> Result<SceneInversion, InvertError> {
    let (mut shells, mut garment, body_notes) = with_notes(scene)?;
    loop {
        match run(&garment) {
            Ok(result) => return Ok(SceneInversion { shells, body_notes, result }),
            Err(InverseError::Unheld { pieces, .. } | InverseError::Uncarried { pieces, .. })
                if leave_out_trims(&mut shells, &pieces).is_ok_and(|small| small) =>
            {
                garment.shells = shells.iter().map(|s| s.shell.clone()).collect();
            }
            Err(error) => return Err(error.into()),
        }
    }
}

impl SceneInversion {
    /// Vertices of a shell among all.
    pub fn range(&self, shell: usize) -> std::ops::Range<usize> {
        let count = |s: &LoadedShell| s.shell.positions.len();
        let base = self.shells[..shell].iter().map(count).sum::<usize>();
        base..base + count(&self.shells[shell])
    }

    /// Positions in the units and axes of the files a shell came from; those that are the target's are given back to the bit.
    pub fn to_file(&self, shell: usize, positions: &[Vec3]) -> Vec<[f64; 3]> {
        self.shells[shell].to_file(positions)
    }

    /// Largest tension of the membrane at the vertices of a shell in the equilibrium \[N/m\]: see [`shell_tensions`].
    pub fn tensions(&self, shell: usize) -> Vec<f64> {
        let range = self.range(shell);
        let (rest, now) = (&self.result.rest[range.clone()], &self.result.equilibrium[range]);
        shell_tensions(&self.shells[shell].shell, rest, now)
    }

    /// Stretch and bending from the rest shape to the equilibrium and the force that is left there, at the vertices of a shell.
    pub fn fields(&self, shell: usize) -> Fields {
        let range = self.range(shell);
        let forces = vec![Vec3::zeros(); range.len()];
        let result = &self.result;
        let (rest, now) = (&result.rest[range.clone()], &result.equilibrium[range.clone()]);
        let fields = shell_fields(&self.shells[shell].shell.topology, rest, now, &forces);
        Fields { residual: result.residual[range].to_vec(), ..fields }
    }
}
