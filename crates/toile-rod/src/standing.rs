//! Fibres that stand still among other things: what is left of their balance, and how they yield where they are held.

use nalgebra::DMatrix;
use toile_cone::Operator;

use crate::RodError;
use crate::assembly::{Assembly, Fibre, FibreContact};
use crate::body::Body;
use crate::certificate::residual_n;
use crate::chain::Chain;
use crate::delassus::Delassus;
use crate::forms::Mix;
use crate::nodal_step::NodalFibre;
use crate::open::Meeting;
use crate::rod::Loads;
use crate::rotation::Vec3;
use crate::touch::Pair;

/// Fibres held by contacts.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Largest residual of a fibre over the weight of a joint of it.
    pub residual: f64,
    /// The same \[N\].
    pub residual_n: f64,
    /// Negative eigenvalues of K − σM of all fibres alone.
    pub negative: usize,
    /// Contacts with colliders and between fibres that press; those with surfaces come after them.
    pub own: usize,
    /// How the contacts give way to forces at them \[m/N\], in space: three rows each.
    pub compliance: DMatrix<f64>,
}

/// Part of the largest force below which a contact does not press.
const PRESSES: f64 = 1e-9;

impl Assembly {
    /// Judges fibres that rest under the forces of contacts, as a step reported them, those at meetings with a surface given with the meetings.
    /// Forms are shifted by σ times the mass.
    pub fn standing(
        &self,
        contacts: &[FibreContact],
        meetings: &[(Meeting, Vec3)],
        shift: f64,
    ) -> Result<Standing, RodError> {
        self.has_curvatures("rest among surfaces")?;
        let sites = self.sites_at_rest();
        let largest = contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
        let mut pairs: Vec<Pair> = Vec::new();
        let mut forces: Vec<Vec3> = Vec::new();
        for pair in self.find(&sites) {
            let known = contacts.iter().find(|c| c.key == pair.key);
            if let Some(c) = known.filter(|c| c.force.norm() > PRESSES * largest) {
                pairs.push(pair);
                forces.push(c.force);
            }
        }
        let own = pairs.len();
        pairs.extend(meetings.iter().map(|(meeting, _)| meeting.pair()));
        forces.extend(meetings.iter().map(|(_, force)| *force));
        let mut at_joints: Vec<Vec<Vec3>> =
            sites.iter().map(|s| vec![Vec3::zeros(); s.points.len()]).collect();
        for (pair, force) in pairs.iter().zip(&forces) {
            for side in pair.sides() {
                for (joint, share) in side.joints() {
                    at_joints[side.fibre][joint] += force * (share * side.sign);
                }
            }
        }
        let mix = Mix { mass: -shift, elastic: 1.0, geometric: 1.0 };
        let linear = |body: &Body| body.held(&self.fibres, &self.settings.gravity, &at_joints, mix);
        let parts = self.bodies.try_map(linear)?;
        let left = |(f, part): (&Fibre, &(Vec<Vec3>, Chain))| {
            let weight = Loads::weight(f.rod.section(), self.settings.gravity).per_length.norm();
            let unit = weight * f.rod.length() / f.rod.blocks() as f64;
            let left = residual_n(&f.rod, &part.0);
            (left, if unit > 0.0 { left / unit } else { left })
        };
        let residuals: Vec<(f64, f64)> = self.fibres.iter().zip(&parts).map(left).collect();
        let chains: Vec<&Chain> = parts.iter().map(|p| &p.1).collect();
        let n = 3 * pairs.len();
        let mut compliance = DMatrix::zeros(n, n);
        if n > 0 {
            let delassus = Delassus::new(&self.bodies, &chains, &pairs, 0.0)?;
            // In space from end to end: what else yields there knows no frames.
            let mut local = vec![0.0; n];
            let mut moved = vec![0.0; n];
            for j in 0..n {
                local.fill(0.0);
                let turned = delassus.frame(j / 3).tr_mul(&Vec3::ith(j % 3, 1.0));
                local[j - j % 3..j - j % 3 + 3].copy_from_slice(turned.as_slice());
                delassus.w.apply(&local, &mut moved);
                for c in 0..pairs.len() {
                    let there =
                        delassus.frame(c) * Vec3::from_column_slice(&moved[3 * c..3 * c + 3]);
                    for k in 0..3 {
                        compliance[(3 * c + k, j)] = there[k];
                    }
                }
            }
        }
        Ok(Standing {
            residual: residuals.iter().map(|p| p.1).fold(0.0, f64::max),
            residual_n: residuals.iter().map(|p| p.0).fold(0.0, f64::max),
            negative: chains.iter().map(|c| c.negative).sum(),
            own,
            compliance,
        })
    }

    /// Takes all motion away.
    pub fn stop(&mut self) {
        for fibre in &mut self.fibres {
            fibre.state.rate.fill(Vec3::zeros());
        }
        self.nodal.values_mut().for_each(NodalFibre::stop);
        self.place_grown();
    }
}
