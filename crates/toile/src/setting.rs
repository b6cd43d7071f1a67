//! What a scene sets up: shells as one surface, and what they may touch.

use toile_contact::{Collider, ContactKey, Intrusion, part_layers, penetrations, push_out};
use toile_geometry::{Topology, Vec3, size};
use toile_io::{LoadedShell, Scene, SelfContact, load_colliders, load_shells, scene_gravity};
use toile_sim::dynamics::Surroundings;
use toile_sim::{ModelBuilder, SimError, Stitch, joined_seams};

use crate::{DrapeError, Start};

/// Distance between layers where the scene gives none \[m\].
const LAYER_DISTANCE: f64 = 1e-3;

pub(crate) struct Setting {
    pub(crate) shells: Vec<LoadedShell>,
    pub(crate) gravity: Vec3,
    pub(crate) colliders: Vec<Collider>,
    own: Option<SelfContact>,
    pub(crate) topology: Topology,
    positions: Vec<Vec3>,
    rest: Vec<Vec3>,
    pub(crate) beginning: Beginning,
}

/// Distance to which layers that begin through each other are parted, in units of their thickness: what is nearer than that has a side.
const APART: f64 = 0.2;
/// Longest move that parts layers, in units of the diagonal of the box around the cloth.
const LONGEST_PARTING: f64 = 0.02;

impl Setting {
    pub(crate) fn new(scene: &Scene, start: Start) -> Result<Self, DrapeError> {
        let mut shells = load_shells(scene)?;
        let colliders = load_colliders(scene)?;
        let (topology, mut positions, rest) = joined(&shells)?;
        let own = scene.self_contact;
        let mut beginning = Beginning::default();
        if !colliders.is_empty() || own.is_some() {
            let placed: Vec<_> = colliders.iter().map(|c: &Collider| c.at(0.0)).collect();
            if start == Start::PushOut {
                let pinned = pinned(&shells);
                let done = push_out(&mut positions, &topology, &placed, |v| !pinned[v])
                    .map_err(SimError::from)?;
                (beginning.pushed, beginning.longest_push) = (done.moved, done.longest);
                if let Some(own) = &own {
                    let distance = APART * own.thickness.unwrap_or(LAYER_DISTANCE);
                    let most = LONGEST_PARTING * size(&positions);
                    let free = |v: usize| !pinned[v];
                    let done =
                        part_layers(&mut positions, &topology, &placed, distance, most, free)
                            .map_err(SimError::from)?;
                    (beginning.parted, beginning.longest_parting) = (done.moved, done.longest);
                }
                spread(&mut shells, &positions);
            }
            let mut found = penetrations(&positions, &topology, &placed).map_err(SimError::from)?;
            found.sort_by(|a, b| b.depth.total_cmp(&a.depth));
            beginning.penetrations = found.iter().map(ToString::to_string).collect();
        }
        let gravity = scene_gravity(scene);
        Ok(Self { shells, gravity, colliders, own, topology, positions, rest, beginning })
    }

    /// What the cloth may touch.
    pub(crate) fn surroundings(&self) -> Result<Surroundings, SimError> {
        let around = Surroundings::new(self.topology.clone(), self.colliders.clone());
        let around = around.with_seams(&joined_seams(self.shells.iter().map(|s| &s.shell)));
        let Some(own) = self.own else { return Ok(around) };
        let thickness = own.thickness.unwrap_or(LAYER_DISTANCE);
        around.with_self_contact(&self.positions, &self.rest, thickness, own.friction)
    }

    /// The same, where chords of the start shape inside round colliders may stay.
    pub(crate) fn accepting(&self) -> Result<Surroundings, SimError> {
        self.surroundings()?.accepting(&self.positions)
    }

    /// The same for an equilibrium, whose contacts with these keys carry.
    pub(crate) fn accepting_but(
        &self,
        carrying: impl IntoIterator<Item = ContactKey>,
    ) -> Result<Surroundings, SimError> {
        self.surroundings()?.accepting_but(&self.positions, carrying)
    }

    /// How many vertices and faces there are.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.positions.len(), self.topology.faces().len()]
    }

    /// A builder with all shells in it.
    pub(crate) fn builder(&self) -> Result<ModelBuilder, SimError> {
        let mut builder = ModelBuilder::new();
        for loaded in &self.shells {
            loaded.shell.add_to(&mut builder, self.gravity)?;
        }
        Ok(builder)
    }

    /// How deep the deepest point of a shape is inside a collider, or inside the cloth if that minds \[m\].
    pub(crate) fn depth(&self, positions: &[Vec3]) -> Result<f64, SimError> {
        let placed: Vec<_> = self.colliders.iter().map(|c| c.at(0.0)).collect();
        let found = penetrations(positions, &self.topology, &placed)?;
        let counts = |what: &Intrusion| {
            self.own.is_some() || !matches!(what, Intrusion::EdgeThroughFace { .. })
        };
        Ok(found.iter().filter(|p| counts(&p.what)).map(|p| p.depth).fold(0.0, f64::max))
    }
}

/// How the cloth of a scene lies before anything moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beginning {
    /// How many vertices were pushed out of colliders.
    pub pushed: usize,
    /// The longest way one was pushed \[m\].
    pub longest_push: f64,
    /// How many vertices were moved to part layers that passed through each other.
    pub parted: usize,
    /// The longest way one was moved for that \[m\].
    pub longest_parting: f64,
    /// What is inside something else, in words, the deepest first.
    pub penetrations: Vec<String>,
}

/// Says how the cloth of a scene begins, with what [`Start::PushOut`] does to it.
pub fn beginning(scene: &Scene, start: Start) -> Result<Beginning, DrapeError> {
    Ok(Setting::new(scene, start)?.beginning)
}

/// All shells as one surface, numbered one after the other.
fn joined(shells: &[LoadedShell]) -> Result<(Topology, Vec<Vec3>, Vec<Vec3>), DrapeError> {
    let (mut faces, mut positions, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut sewn = Vec::new();
    for loaded in shells {
        let base = positions.len() as u32;
        let pairs = loaded.shell.seams.iter().flat_map(Stitch::pairs);
        sewn.extend(pairs.map(|pair| pair.map(|v| base + v)));
        faces.extend(loaded.shell.topology.faces().iter().map(|f| f.map(|v| base + v)));
        positions.extend_from_slice(&loaded.shell.positions);
        rest.extend_from_slice(&loaded.shell.rest_positions);
    }
    let topology = Topology::new(positions.len(), faces)?.with_sewn(sewn);
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
