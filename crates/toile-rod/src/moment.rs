//! Moving fibres put down and taken up again.

use crate::RodError;
use crate::account::FibreContactKey;
use crate::assembly::Assembly;
use crate::motion::ClampMotion;
use crate::nodal_step::NodalFibre;
use crate::rod::Clamp;
use crate::rotation::{Mat3, Vec3};

/// One fibre at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct FibreMoment {
    /// Curvatures; of a discrete rod what its nodes and angles are kept as.
    pub q: Vec<Vec3>,
    /// Their rates.
    pub rate: Vec<Vec3>,
    /// Position, d₁, d₂, d₃ of the clamp; its velocity, acceleration, spin and rate of spin.
    pub clamp: [Vec3; 8],
}

/// All that the next steps of an [`Assembly`] follow from, besides what its scene says.
#[derive(Clone, Debug, PartialEq)]
pub struct FibreCheckpoint {
    /// Time \[s\].
    pub time: f64,
    /// Length of the step that led there, or of the part of it that was the last \[s\]; 0 at the beginning.
    pub taken: f64,
    /// Every fibre.
    pub fibres: Vec<FibreMoment>,
    /// Forces of the last step \[N\], from which the next one starts, sorted by key.
    pub forces: Vec<(FibreContactKey, Vec3)>,
}

impl Assembly {
    /// Where everything is.
    pub fn checkpoint(&self) -> FibreCheckpoint {
        let one = |(i, f): (usize, &crate::Fibre)| {
            let (c, m) = (f.rod.clamp(), &f.motion);
            let column = |i: usize| Vec3::from(c.frame.column(i));
            let own = || (f.state.q.clone(), f.state.rate.clone());
            let (q, rate) = self.nodal.get(&i).map_or_else(own, NodalFibre::kept);
            FibreMoment {
                q,
                rate,
                clamp: [
                    c.position,
                    column(0),
                    column(1),
                    column(2),
                    m.velocity,
                    m.acceleration,
                    m.spin,
                    m.spin_rate,
                ],
            }
        };
        let mut forces: Vec<_> = self.forces.iter().map(|(k, v)| (*k, *v)).collect();
        forces.sort_by_key(|f| f.0);
        FibreCheckpoint {
            time: self.time,
            taken: self.taken,
            fibres: self.fibres.iter().enumerate().map(one).collect(),
            forces,
        }
    }

    /// Goes on from there; the number of fibres and their unknowns must fit.
    pub fn restore(&mut self, from: &FibreCheckpoint) -> Result<(), RodError> {
        let (found, expected) = (from.fibres.len(), self.fibres.len());
        if found != expected {
            return Err(RodError::Count { what: "fibres", found, expected });
        }
        for (f, (fibre, moment)) in self.fibres.iter().zip(&from.fibres).enumerate() {
            if self.nodal.contains_key(&f) {
                continue;
            }
            fibre.rod.check_blocks(&moment.q)?;
            fibre.rod.check_blocks(&moment.rate)?;
        }
        for (f, (fibre, moment)) in self.fibres.iter_mut().zip(&from.fibres).enumerate() {
            let [position, d1, d2, d3, velocity, acceleration, spin, spin_rate] = moment.clamp;
            fibre.rod.set_clamp(Clamp { position, frame: Mat3::from_columns(&[d1, d2, d3]) });
            fibre.motion = ClampMotion { velocity, acceleration, spin, spin_rate };
            if let Some(nodes) = self.nodal.get_mut(&f) {
                nodes.restore(&moment.q, &moment.rate)?;
                nodes.follow(fibre);
                fibre.state.q = nodes.curvatures();
                continue;
            }
            fibre.state.q.clone_from(&moment.q);
            fibre.state.rate.clone_from(&moment.rate);
        }
        (self.time, self.taken) = (from.time, from.taken);
        self.forces = from.forces.iter().copied().collect();
        Ok(())
    }
}
