//! Fibres that stand still among other things: what is left of their balance, and how they yield where they are held.

use nalgebra::DMatrix;
use toile_cone::{Operator, Status};

use crate::RodError;
use crate::account::FibreContact;
use crate::assembly::Assembly;
use crate::held::Held;
use crate::nodal_step::NodalFibre;
use crate::open::Meeting;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites};

/// Contacts that hold fibres which stand still: those with colliders and between fibres that press, then those with a surface.
#[derive(Clone, Debug)]
pub struct Grips {
    pairs: Vec<Pair>,
    /// Where the joints were when they took hold.
    start: Vec<Sites>,
    /// How many are not with a surface.
    pub own: usize,
    /// Their forces on the (first) fibre \[N\].
    pub forces: Vec<Vec3>,
}

impl Grips {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// As contacts that stick.
    pub fn contacts(&self) -> Vec<FibreContact> {
        let both = self.pairs.iter().zip(&self.forces);
        let mut out: Vec<FibreContact> =
            both.map(|(pair, force)| pair.contact(*force, Status::Stick)).collect();
        out.sort_by_key(|c| c.key);
        out
    }

    /// Normal, and coefficient of friction.
    pub fn law(&self, contact: usize) -> (Vec3, f64) {
        (self.pairs[contact].normal, self.pairs[contact].friction)
    }

    /// Lets those go that are not to be kept.
    pub fn retain(&mut self, keep: &[bool]) {
        self.own = keep[..self.own].iter().filter(|k| **k).count();
        let mut kept = keep.iter();
        self.pairs.retain(|_| kept.next().is_some_and(|k| *k));
        let mut kept = keep.iter();
        self.forces.retain(|_| kept.next().is_some_and(|k| *k));
    }
}

/// Fibres held by contacts.
pub struct Standing {
    held: Held,
    /// A⁻¹ g of each fibre.
    free: Vec<Vec<Vec3>>,
    /// Largest residual of a fibre over the weight of a joint of it.
    pub residual: f64,
    /// The same \[N\].
    pub residual_n: f64,
    /// Negative eigenvalues of K − σM of all fibres alone.
    pub negative: usize,
    /// How the contacts give way to forces at them \[m/N\], in space: three rows each.
    pub compliance: DMatrix<f64>,
    /// How far forces that are left would move the point of each contact if it were let go, from where it took hold \[m\]: the opposite of
    /// what it has to make good.
    pub ways: Vec<Vec3>,
}

/// Part of the largest force below which a contact does not press.
const PRESSES: f64 = 1e-9;

impl Assembly {
    /// What holds fibres that rest under the forces of contacts as a step reported them, those with a surface given with their
    /// meetings.
    pub fn grips(&self, contacts: &[FibreContact], meetings: &[(Meeting, Vec3)]) -> Grips {
        let start = self.sites_at_rest();
        let largest = contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
        let mut out = Grips { pairs: Vec::new(), start, own: 0, forces: Vec::new() };
        for pair in self.find(&out.start) {
            let known = contacts.iter().find(|c| c.key == pair.key);
            if let Some(c) = known.filter(|c| c.force.norm() > PRESSES * largest) {
                out.pairs.push(pair);
                out.forces.push(c.force);
            }
        }
        out.own = out.pairs.len();
        out.pairs.extend(meetings.iter().map(|(meeting, _)| meeting.pair()));
        out.forces.extend(meetings.iter().map(|(_, force)| *force));
        out
    }

    /// Judges fibres that rest held by contacts. Forms are shifted by σ times the mass.
    pub fn standing(&self, grips: &Grips, shift: f64) -> Result<Standing, RodError> {
        let Grips { pairs, start, forces, .. } = grips;
        let local = |(pair, force): (&Pair, &Vec3)| pair.frame().tr_mul(force);
        let r: Vec<f64> =
            pairs.iter().zip(forces).map(local).flat_map(|f| [f.x, f.y, f.z]).collect();
        let held = Held::new(self, start, pairs, &r, shift)?;
        let (free, ways) = held.ways(self, start, pairs);
        let n = 3 * pairs.len();
        let mut compliance = DMatrix::zeros(n, n);
        let delassus = &held.delassus;
        // In space from end to end: what else yields there knows no frames.
        let mut local = vec![0.0; n];
        let mut moved = vec![0.0; n];
        for j in 0..n {
            local.fill(0.0);
            let turned = delassus.frame(j / 3).tr_mul(&Vec3::ith(j % 3, 1.0));
            local[j - j % 3..j - j % 3 + 3].copy_from_slice(turned.as_slice());
            delassus.w.apply(&local, &mut moved);
            for c in 0..pairs.len() {
                let there = delassus.frame(c) * Vec3::from_column_slice(&moved[3 * c..3 * c + 3]);
                for k in 0..3 {
                    compliance[(3 * c + k, j)] = there[k];
                }
            }
        }
        Ok(Standing {
            residual: held.residual,
            residual_n: held.residual_n,
            negative: held.negative(),
            compliance,
            ways,
            free,
            held,
        })
    }

    /// Moves fibres by a part of a step of Newton's method, in all of which the forces of their contacts change by these \[N\], in space;
    /// `false` where that is not finite, and nothing is moved.
    pub fn give_way(
        &mut self,
        grips: &mut Grips,
        standing: &Standing,
        changes: &[Vec3],
        part: f64,
    ) -> Result<bool, RodError> {
        let frame = |c: usize| standing.held.delassus.frame(c);
        let local = |(c, change): (usize, &Vec3)| frame(c).tr_mul(change);
        let dr: Vec<f64> =
            changes.iter().enumerate().map(local).flat_map(|f| [f.x, f.y, f.z]).collect();
        let Some(mut dq) = standing.held.changes(self, &grips.start, &standing.free, &dr) else {
            return Ok(false);
        };
        dq.iter_mut().flatten().for_each(|d| *d *= part);
        self.change_by(dq)?;
        grips.forces.iter_mut().zip(changes).for_each(|(force, change)| *force += change * part);
        Ok(true)
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
