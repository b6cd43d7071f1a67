//! Cloth in motion among colliders: the specimen of the protocols of friction.

use toile_contact::Collider;
use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3};
use toile_sim::dynamics::{Simulator, Surroundings};
use toile_sim::{ModelBuilder, Shell, ShellMaterial};

use super::ProtocolError;

/// What the cloth is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothMaterial {
    /// E h, tension per width and strain \[N/m\].
    pub stretching: f64,
    /// D, flexural rigidity \[N·m\].
    pub bending: f64,
    /// ν.
    pub poisson: f64,
    /// Mass per area \[kg/m²\].
    pub areal_density: f64,
}

impl ClothMaterial {
    /// Refuses what cannot be a material.
    pub(super) fn check(&self) -> Result<(), ProtocolError> {
        super::positive("E h", self.stretching)?;
        super::positive("the flexural rigidity", self.bending)?;
        super::positive("the areal density", self.areal_density)?;
        if self.poisson.abs() < 1.0 {
            return Ok(());
        }
        let must = "between -1 and 1";
        Err(ProtocolError::Input { what: "Poisson's ratio", value: self.poisson, must })
    }
}

/// Cloth with flat rest shape `rest`, at `positions`, with vertices `pins` held.
pub(super) struct Cloth<'a> {
    pub(super) rest: &'a TriMesh,
    pub(super) positions: Vec<Vec3>,
    pub(super) material: ClothMaterial,
    pub(super) pins: Vec<u32>,
}

impl Cloth<'_> {
    /// The cloth at rest among colliders.
    pub(super) fn among(
        self,
        colliders: Vec<Collider>,
        gravity: Vec3,
    ) -> Result<Simulator<Surroundings>, ProtocolError> {
        self.pulled(colliders, gravity, &[])
    }

    /// The same with forces \[N\] at vertices.
    pub(super) fn pulled(
        self,
        colliders: Vec<Collider>,
        gravity: Vec3,
        forces: &[(u32, Vec3)],
    ) -> Result<Simulator<Surroundings>, ProtocolError> {
        let ClothMaterial { stretching, bending, poisson, areal_density } = self.material;
        let thickness = (12.0 * (1.0 - poisson * poisson) * bending / stretching).sqrt();
        let topology = self.rest.topology.clone();
        let shell = Shell {
            topology: topology.clone(),
            positions: self.positions,
            rest_positions: self.rest.positions.clone(),
            material: ShellMaterial::Koiter {
                stiffness: ShellStiffness::isotropic(stretching / thickness, poisson, thickness),
                normals: NormalRule::Average,
                membrane: Membrane::StVenantKirchhoff,
                warp: Vec3::x(),
            },
            areal_density,
            pins: self.pins,
            seams: Vec::new(),
            damping: 0.0,
        };
        let mut builder = ModelBuilder::new();
        let nodes = shell.add_to(&mut builder, gravity)?;
        let mut model = builder.build()?;
        for (vertex, force) in forces {
            let i = model.unknown(nodes.vertices + vertex);
            model.external_mut()[i..i + 3].copy_from_slice(force.as_slice());
        }
        Ok(Simulator::new(model, Surroundings::new(topology, colliders))?)
    }
}

/// Gives every vertex the same velocity \[m/s\].
pub(super) fn set_velocity(sim: &mut Simulator<Surroundings>, velocity: Vec3) {
    let mut v = vec![0.0; sim.model().len()];
    for &node in sim.model().vertices() {
        let i = sim.model().unknown(node);
        v[i..i + 3].copy_from_slice(velocity.as_slice());
    }
    sim.set_velocities(&v);
}

/// Velocity of each vertex \[m/s\].
pub(super) fn velocities(sim: &Simulator<Surroundings>) -> impl Iterator<Item = Vec3> + '_ {
    sim.model().vertices().iter().map(|&node| {
        let i = sim.model().unknown(node);
        Vec3::from_column_slice(&sim.velocities()[i..i + 3])
    })
}

/// Velocity of the centre of mass \[m/s\].
pub(super) fn mean_velocity(sim: &Simulator<Surroundings>) -> Vec3 {
    let (mut momentum, mut mass) = (Vec3::zeros(), 0.0);
    for (&node, v) in sim.model().vertices().iter().zip(velocities(sim)) {
        let m = sim.model().masses()[sim.model().unknown(node)];
        momentum += m * v;
        mass += m;
    }
    momentum / mass
}
