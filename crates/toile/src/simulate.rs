//! Simulation: from a scene to its motion.

use toile_contact::{Collider, Penetration, penetrations, push_out};
use toile_geometry::{Topology, Vec3};
use toile_io::{
    Axes, IntegratorName, LoadedShell, Scene, Time, load_colliders, load_shells, scene_gravity,
};
use toile_sim::dynamics::{Integrator, Simulator, StageSettings, Surroundings};
use toile_sim::{ShellNodes, SimError};

use crate::{DrapeError, shells};

/// Distance between layers where the scene gives none \[m\].
const LAYER_DISTANCE: f64 = 1e-3;

/// A scene in motion.
pub struct Simulation {
    /// The shells of the scene, in its order.
    pub shells: Vec<LoadedShell>,
    /// Where each shell is in the model.
    pub nodes: Vec<ShellNodes>,
    /// What moves them.
    pub simulator: Simulator<Surroundings>,
    /// What started inside something else, in words.
    pub penetrations: Vec<String>,
    /// What the shells can touch.
    pub colliders: Vec<Collider>,
    /// All shells as one surface.
    topology: Topology,
}

/// What to do with cloth that starts inside something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Report it.
    #[default]
    AsGiven,
    /// Push it out of colliders first.
    PushOut,
}

impl Simulation {
    /// Reads the meshes of a scene and sets it up at rest, or with the velocities it gives.
    pub fn new(scene: &Scene, start: Start) -> Result<Self, DrapeError> {
        let mut shells = load_shells(scene)?;
        let colliders = load_colliders(scene)?;
        let gravity = scene_gravity(scene);
        let (topology, mut positions, rest) = joined(&shells)?;
        let mut said = Vec::new();
        if !colliders.is_empty() || scene.self_contact.is_some() {
            let placed: Vec<_> = colliders.iter().map(|c: &Collider| c.at(0.0)).collect();
            if start == Start::PushOut {
                let pinned = pinned(&shells);
                push_out(&mut positions, &topology, &placed, |v| !pinned[v])
                    .map_err(SimError::from)?;
                spread(&mut shells, &positions);
            }
            let found = penetrations(&positions, &topology, &placed).map_err(SimError::from)?;
            said = found.iter().map(ToString::to_string).collect();
        }
        let (model, nodes) = shells::build(&shells, gravity)?;
        let mut around = Surroundings::new(topology.clone(), colliders.clone());
        if let Some(own) = scene.self_contact {
            let thickness = own.thickness.unwrap_or(LAYER_DISTANCE);
            around = around.with_self_contact(&positions, &rest, thickness, own.friction)?;
        }
        let mut simulator = Simulator::new(model, around)?;
        if let Some(time) = scene.time {
            configure(&mut simulator, &time);
        }
        let mut velocities = vec![0.0; simulator.model().len()];
        for ((shell, loaded), nodes) in scene.shells.iter().zip(&shells).zip(&nodes) {
            let Some(velocity) = shell.velocity else { continue };
            let v = Axes { up: scene.up, scale: 1.0 }.direction_to_internal(velocity);
            let count = loaded.shell.positions.len() as u32;
            for node in nodes.vertices..nodes.vertices + count {
                let i = simulator.model().unknown(node);
                if !simulator.model().fixed()[i] {
                    velocities[i..i + 3].copy_from_slice(&v);
                }
            }
        }
        simulator.set_velocities(&velocities);
        Ok(Self { shells, nodes, simulator, penetrations: said, colliders, topology })
    }

    /// What is inside something else now; shells pass through each other where the scene lets them.
    pub fn penetrations_now(&self) -> Result<Vec<Penetration>, DrapeError> {
        let positions: Vec<Vec3> =
            (0..self.shells.len()).flat_map(|shell| self.positions(shell)).collect();
        let time = self.simulator.time();
        let placed: Vec<_> = self.colliders.iter().map(|c| c.at(time)).collect();
        Ok(penetrations(&positions, &self.topology, &placed).map_err(SimError::from)?)
    }

    /// Positions of the vertices of a shell \[m\], +z up.
    pub fn positions(&self, shell: usize) -> Vec<Vec3> {
        let (nodes, loaded) = (&self.nodes[shell], &self.shells[shell]);
        shells::positions(self.simulator.model(), self.simulator.state(), nodes, loaded)
    }

    /// The same in the units and axes of the files.
    pub fn file_positions(&self, shell: usize) -> Vec<[f64; 3]> {
        shells::file_positions(&self.shells[shell], &self.positions(shell))
    }
}

fn configure(simulator: &mut Simulator<Surroundings>, time: &Time) {
    simulator.set_integrator(match time.integrator {
        IntegratorName::ImplicitEuler => Integrator::ImplicitEuler,
        IntegratorName::Bdf2 => Integrator::Bdf2,
        IntegratorName::TrBdf2 => Integrator::TrBdf2,
        IntegratorName::Sdirk2 => Integrator::Sdirk2,
    });
    simulator.set_mass_damping(time.damping);
    let mut settings = StageSettings::default();
    if let Some(steps) = time.newton_steps {
        settings.max_iterations = steps as usize;
    }
    simulator.set_settings(settings);
}

/// All shells as one surface, numbered one after the other.
fn joined(shells: &[LoadedShell]) -> Result<(Topology, Vec<Vec3>, Vec<Vec3>), DrapeError> {
    let (mut faces, mut positions, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for loaded in shells {
        let base = positions.len() as u32;
        faces.extend(loaded.shell.topology.faces().iter().map(|f| f.map(|v| base + v)));
        positions.extend_from_slice(&loaded.shell.positions);
        rest.extend_from_slice(&loaded.shell.rest_positions);
    }
    let topology = Topology::new(positions.len(), faces)?;
    Ok((topology, positions, rest))
}

fn pinned(shells: &[LoadedShell]) -> Vec<bool> {
    let mut all = Vec::new();
    for loaded in shells {
        let base = all.len();
        all.resize(base + loaded.shell.positions.len(), false);
        for &pin in &loaded.shell.pins {
            all[base + pin as usize] = true;
        }
    }
    all
}

fn spread(shells: &mut [LoadedShell], positions: &[Vec3]) {
    let mut base = 0;
    for loaded in shells {
        let count = loaded.shell.positions.len();
        loaded.shell.positions.copy_from_slice(&positions[base..base + count]);
        base += count;
    }
}
