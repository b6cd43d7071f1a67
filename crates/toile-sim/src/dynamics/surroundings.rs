//! What a cloth can touch: colliders and itself.

use toile_contact::{
    Collider, Contact, LayerSettings, LayerSides, Layers, collider_contacts, collider_impacts,
    first_impact, safe_fraction,
};
use toile_geometry::Topology;
use toile_num::Vector;

use super::simulator::ContactSource;
use crate::SimError;

/// Colliders, and the layers of the cloth.
pub struct Surroundings {
    topology: Topology,
    colliders: Vec<Collider>,
    layers: Option<SelfContact>,
}

struct SelfContact {
    layers: Layers,
    thickness: f64,
    friction: f64,
    sides: LayerSides,
}

/// Distance that continuous detection keeps between layers, in units of their thickness: far below what
/// contacts keep, so that it only speaks when they have failed.
const LAST_LINE: f64 = 0.05;

impl Surroundings {
    /// Colliders around a cloth with that connectivity; its vertices are numbered as the simulator's.
    pub fn new(topology: Topology, colliders: Vec<Collider>) -> Self {
        Self { topology, colliders, layers: None }
    }

    /// Lets the cloth touch itself: layers keep `thickness` \[m\] apart, with that coefficient of friction.
    ///
    /// Pairs closer than that in the rest shape are neighbours, not layers.
    pub fn with_self_contact(
        mut self,
        positions: &[Vector<3>],
        rest_positions: &[Vector<3>],
        thickness: f64,
        friction: f64,
    ) -> Result<Self, SimError> {
        let layers = Layers::new(&self.topology, positions)?.with_rest_positions(rest_positions)?;
        self.layers =
            Some(SelfContact { layers, thickness, friction, sides: LayerSides::unknown() });
        Ok(self)
    }

    /// The colliders.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// The connectivity of the cloth.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }
}

impl ContactSource for Surroundings {
    fn contacts(
        &mut self,
        positions: &[Vector<3>],
        time: f64,
        reach: f64,
        out: &mut Vec<Contact>,
    ) -> Result<(), SimError> {
        if !self.colliders.is_empty() {
            let placed: Vec<_> = self.colliders.iter().map(|c| c.at(time)).collect();
            out.extend(collider_contacts(positions, &self.topology, &placed, reach)?);
        }
        if let Some(own) = &mut self.layers {
            let settings = LayerSettings {
                thickness: own.thickness,
                reach: reach.min(2.0 * own.thickness),
                friction: own.friction,
            };
            out.extend(own.layers.contacts(positions, &settings, &own.sides)?);
        }
        Ok(())
    }

    fn safe_part(
        &mut self,
        start: &[Vector<3>],
        end: &[Vector<3>],
        from: f64,
        to: f64,
    ) -> Result<f64, SimError> {
        let mut safe = 1.0f64;
        if let Some(own) = &mut self.layers {
            let first = own.layers.earliest_impact(start, end, LAST_LINE * own.thickness)?;
            safe = safe.min(safe_fraction(first));
        }
        if !self.colliders.is_empty() {
            let impacts = collider_impacts(start, end, &self.colliders, from, to, 0.0)?;
            safe = safe.min(safe_fraction(first_impact(impacts)));
        }
        Ok(safe)
    }

    fn arrived(&mut self, positions: &[Vector<3>], contacts: &[Contact]) {
        if let Some(own) = &mut self.layers {
            let layers: Vec<Contact> =
                contacts.iter().filter(|c| c.key.between_layers()).copied().collect();
            own.sides = LayerSides::of(&layers, positions, &self.topology);
        }
    }
}
