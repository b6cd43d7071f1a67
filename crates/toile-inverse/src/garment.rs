//! What is to be inverted: the target, what it is made of, what it lies on.

use toile_contact::Collider;
use toile_geometry::{Topology, Vec3};
use toile_sim::dynamics::Surroundings;
use toile_sim::{Model, ModelBuilder, Role, Shell, ShellNodes, Stitch, joined_seams};

use crate::InverseError;
use crate::settle::{Carrying, ties};

/// Distance and friction between layers of cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerContact {
    /// Distance layers keep \[m\].
    pub thickness: f64,
    /// Coefficient of friction.
    pub friction: f64,
}

/// A target with its material and surroundings.
///
/// The positions of the shells are the target; their rest positions are not used.
#[derive(Clone, Debug)]
pub struct Garment {
    /// The shells, vertices numbered one shell after the other.
    pub shells: Vec<Shell>,
    /// Acceleration of gravity \[m/s²\].
    pub gravity: Vec3,
    /// What the cloth touches.
    pub colliders: Vec<Collider>,
    /// Whether layers of cloth touch each other.
    pub self_contact: Option<LayerContact>,
}

impl Garment {
    /// Target positions of all vertices \[m\].
    pub fn target(&self) -> Vec<Vec3> {
        self.shells.iter().flat_map(|s| s.positions.iter().copied()).collect()
    }

    /// Which vertices are pinned.
    pub fn pinned(&self) -> Vec<bool> {
        let mut pinned = Vec::new();
        for shell in &self.shells {
            let base = pinned.len();
            pinned.resize(base + shell.positions.len(), false);
            for &pin in &shell.pins {
                if let Some(p) = pinned.get_mut(base + pin as usize) {
                    *p = true;
                }
            }
        }
        pinned
    }

    /// All shells as one surface, sewn where they are.
    pub fn topology(&self) -> Result<Topology, InverseError> {
        let mut faces = Vec::new();
        let mut base = 0;
        for shell in &self.shells {
            faces.extend(shell.topology.faces().iter().map(|f| f.map(|v| base + v)));
            base += shell.positions.len() as u32;
        }
        let sewn = self.seams();
        Ok(Topology::new(base as usize, faces)?.with_sewn(sewn.iter().flat_map(Stitch::pairs)))
    }

    /// All seams, vertices numbered through.
    pub fn seams(&self) -> Vec<Stitch> {
        joined_seams(&self.shells)
    }

    /// Stiffness of the thread of each seam \[N/m\].
    pub(crate) fn thread_stiffness(&self) -> Vec<f64> {
        let of = |s: &Shell| std::iter::repeat_n(s.thread_stiffness(), s.seams.len());
        self.shells.iter().flat_map(of).collect()
    }

    /// The shells with other positions and rest positions.
    pub fn with_shapes(&self, positions: &[Vec3], rest: &[Vec3]) -> Vec<Shell> {
        let mut base = 0;
        self.shells
            .iter()
            .map(|shell| {
                let range = base..base + shell.positions.len();
                base = range.end;
                Shell {
                    positions: positions[range.clone()].to_vec(),
                    rest_positions: rest[range].to_vec(),
                    ..shell.clone()
                }
            })
            .collect()
    }

    /// A model that starts at `positions` and rests at `rest`.
    pub fn model(
        &self,
        positions: &[Vec3],
        rest: &[Vec3],
    ) -> Result<(Model, Vec<ShellNodes>), InverseError> {
        let mut builder = ModelBuilder::new();
        let nodes = self.add_to(&mut builder, positions, rest)?;
        Ok((builder.build()?, nodes))
    }

    fn add_to(
        &self,
        builder: &mut ModelBuilder,
        positions: &[Vec3],
        rest: &[Vec3],
    ) -> Result<Vec<ShellNodes>, InverseError> {
        let shells = self.with_shapes(positions, rest);
        shells.iter().map(|shell| Ok(shell.add_to(builder, self.gravity)?)).collect()
    }

    /// A model with its contacts held where they are: vertices fixed, contacts of several vertices by stiff springs.
    pub(crate) fn held_model(
        &self,
        positions: &[Vec3],
        rest: &[Vec3],
        contacts: &[Carrying],
        stiffness: f64,
    ) -> Result<Model, InverseError> {
        let mut builder = ModelBuilder::new();
        let nodes = self.add_to(&mut builder, positions, rest)?;
        let mut vertex_nodes = Vec::with_capacity(positions.len());
        for (shell, nodes) in self.shells.iter().zip(&nodes) {
            vertex_nodes.extend((0..shell.positions.len() as u32).map(|v| nodes.vertices + v));
        }
        let (springs, stencils) = ties(contacts, positions, &vertex_nodes, stiffness);
        builder.add::<_, 12, 4>(Role::Elastic, springs, stencils);
        for c in contacts.iter().filter(|c| c.contact.count == 1 && !c.slides) {
            builder.fix(vertex_nodes[c.contact.vertices[0] as usize]);
        }
        Ok(builder.build()?)
    }

    /// What the cloth can touch in a simulation that starts at `positions`; what is a little inside there between vertices may stay.
    pub fn surroundings(
        &self,
        positions: &[Vec3],
        rest: &[Vec3],
    ) -> Result<Surroundings, InverseError> {
        Ok(self.bare_surroundings(positions, rest)?.accepting(positions)?)
    }

    /// The same for an equilibrium: what carries something touches where it is.
    pub(crate) fn surroundings_of(
        &self,
        positions: &[Vec3],
        rest: &[Vec3],
        carrying: &[Carrying],
    ) -> Result<Surroundings, InverseError> {
        let keys = carrying.iter().map(|c| c.contact.key);
        Ok(self.bare_surroundings(positions, rest)?.accepting_but(positions, keys)?)
    }

    pub(crate) fn bare_surroundings(
        &self,
        positions: &[Vec3],
        rest: &[Vec3],
    ) -> Result<Surroundings, InverseError> {
        let around = Surroundings::new(self.topology()?, self.colliders.clone());
        let around = around.with_seams(&self.seams());
        Ok(match self.self_contact {
            None => around,
            Some(own) => around.with_self_contact(positions, rest, own.thickness, own.friction)?,
        })
    }
}
