//! Cloth and fibres of one scene in motion.

use toile_io::{IntegratorName, Scene};
use toile_rod::Assembly;
use toile_sim::{Coupling, SimError, TogetherReport};

use crate::rods::scene_fibres;
use crate::{DrapeError, RodSceneError, Simulation, Start};

/// Why cloth and fibres of a scene could not be moved together.
#[derive(Debug, thiserror::Error)]
pub enum MixedError {
    /// The cloth.
    #[error(transparent)]
    Cloth(#[from] DrapeError),
    /// The fibres.
    #[error(transparent)]
    Fibres(#[from] RodSceneError),
    /// A step.
    #[error(transparent)]
    Step(#[from] SimError),
    /// Nothing says how they rub.
    #[error(
        "{name} may touch a shell, but the scene does not say with which friction; give it `friction = 0.3`, or the scene a table\n\
         [self_contact]\nfriction = 0.3"
    )]
    NoFriction {
        /// The fibre.
        name: String,
    },
    /// Only one integrator knows both.
    #[error(
        "rods and shells of one scene move by implicit Euler; leave `integrator` out of [time]"
    )]
    Integrator,
    /// A fibre starts on both sides of a shell.
    #[error(
        "{name} goes through a shell between its joints {segment} and {} at the start; move one of them",
        *.segment + 1
    )]
    Pierced {
        /// The fibre.
        name: String,
        /// Which segment, that from the clamp being 0.
        segment: usize,
    },
}

/// A scene with cloth and fibres in motion.
pub struct MixedSimulation {
    /// The cloth with its colliders.
    pub cloth: Simulation,
    /// The fibres with theirs.
    pub fibres: Assembly,
    /// Name of each fibre.
    pub names: Vec<String>,
    /// What was unusual in the files.
    pub notes: Vec<String>,
    coupling: Coupling,
}

impl MixedSimulation {
    /// Reads the files of a scene and sets it up: cloth as [`Simulation`] does, fibres as
    /// [`rod_assembly`](crate::rod_assembly), both in the time of the scene.
    pub fn new(scene: &Scene, start: Start) -> Result<Self, MixedError> {
        let time = scene.time.ok_or(RodSceneError::NoTime)?;
        if time.integrator != IntegratorName::ImplicitEuler {
            return Err(MixedError::Integrator);
        }
        let mut cloth = Simulation::new(scene, start)?;
        let found = scene_fibres(scene, &time)?;
        let unknown = found.friction.iter().position(Option::is_none);
        if let Some(f) = unknown {
            return Err(MixedError::NoFriction { name: found.names[f].clone() });
        }
        let friction = found.friction.into_iter().flatten().collect();
        let half = cloth.shells.iter().flat_map(|s| {
            std::iter::repeat_n(0.5 * s.table.thickness, s.shell.topology.vertex_count())
        });
        let half = half.collect();
        let topology = cloth.topology().clone();
        let mut coupling = Coupling::new(&mut cloth.simulator, topology, half, friction)?;
        let (near, pierced) = coupling.depth(&cloth.simulator, &found.assembly);
        if let Some((fibre, segment)) = pierced {
            return Err(MixedError::Pierced { name: found.names[fibre].clone(), segment });
        }
        let mut notes = found.notes;
        if near > 1e-6 {
            let by = toile_num::words::length(near);
            notes.push(format!(
                "fibres start nearer to shells than their thicknesses allow, by up to {by}: they are pushed apart softly"
            ));
        }
        let (fibres, names) = (found.assembly, found.names);
        Ok(Self { cloth, fibres, names, notes, coupling })
    }

    /// Takes a step of `h` seconds.
    pub fn step(&mut self, h: f64) -> Result<TogetherReport, MixedError> {
        Ok(self.coupling.step(&mut self.cloth.simulator, &mut self.fibres, h)?)
    }

    /// How much nearer to shells than their thicknesses allow fibres are at most \[m\], and whether one goes through.
    pub fn depth(&mut self) -> (f64, bool) {
        let (depth, pierced) = self.coupling.depth(&self.cloth.simulator, &self.fibres);
        (depth, pierced.is_some())
    }
}
