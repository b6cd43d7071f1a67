//! Simulation: from a scene to its motion.

use toile_contact::{Collider, Penetration, penetrations};
use toile_geometry::{Topology, Vec3};
use toile_io::{Axes, IntegratorName, LoadedShell, Scene, Time, load_contact_forces};
use toile_sim::dynamics::{Integrator, Simulator, StageSettings, Surroundings};
use toile_sim::{ShellNodes, SimError, with_balanced_angles};
use toile_solve::NewtonSettings;

use crate::setting::{Beginning, Setting};
use crate::{DrapeError, shells};

/// A scene in motion.
pub struct Simulation {
    /// The shells of the scene, in its order.
    pub shells: Vec<LoadedShell>,
    /// Where each shell is in the model.
    pub nodes: Vec<ShellNodes>,
    /// What moves them.
    pub simulator: Simulator<Surroundings>,
    /// How the cloth lay before anything moved.
    pub beginning: Beginning,
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
    /// Push it out of colliders first, and part layers that pass through each other, where layers touch.
    PushOut,
}

impl Simulation {
    /// Reads the meshes of a scene and sets it up at rest, or with the velocities it gives.
    pub fn new(scene: &Scene, start: Start) -> Result<Self, DrapeError> {
        let setting = Setting::new(scene, start)?;
        let (mut model, nodes) = shells::build(&setting.shells, setting.gravity)?;
        let forces = load_contact_forces(scene, setting.counts())?;
        let mut simulator = if forces.is_empty() || start == Start::PushOut {
            Simulator::new(model, setting.accepting()?)?
        } else {
            // An equilibrium: what carries touches where it is, and angles are those of the equilibrium.
            let newton = NewtonSettings { tolerance: 1e-10, ..NewtonSettings::default() };
            let state = with_balanced_angles(&mut model, &newton)?;
            let around = setting.accepting_but(forces.iter().map(|(key, _)| *key))?;
            let mut simulator = Simulator::new(model, around)?;
            simulator.set_state(&state);
            simulator.expect(forces);
            simulator
        };
        if let Some(time) = scene.time {
            configure(&mut simulator, &time);
        }
        let mut velocities = vec![0.0; simulator.model().len()];
        let Setting { shells, beginning, colliders, topology, .. } = setting;
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
        Ok(Self { shells, nodes, simulator, beginning, colliders, topology })
    }

    /// What is inside something else now; shells pass through each other where the scene lets them.
    pub fn penetrations_now(&self) -> Result<Vec<Penetration>, DrapeError> {
        let positions: Vec<Vec3> =
            (0..self.shells.len()).flat_map(|shell| self.positions(shell)).collect();
        let time = self.simulator.time();
        let placed: Vec<_> = self.colliders.iter().map(|c| c.at(time)).collect();
        Ok(penetrations(&positions, &self.topology, &placed).map_err(SimError::from)?)
    }

    /// All shells as one surface.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Positions of the vertices of a shell \[m\], +z up.
    pub fn positions(&self, shell: usize) -> Vec<Vec3> {
        let (nodes, loaded) = (&self.nodes[shell], &self.shells[shell]);
        shells::positions(self.simulator.model(), self.simulator.state(), nodes, loaded)
    }

    /// The same in the units and axes of the files.
    pub fn file_positions(&self, shell: usize) -> Vec<[f64; 3]> {
        self.shells[shell].to_file(&self.positions(shell))
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
