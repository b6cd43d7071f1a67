//! The target reached under the full weight, where the weight cannot be put on at the target.
//!
//! Cloth made as drawn is draped with its contacts held where the target has them. A few steps of the search bring contact forces
//! into their cones and the shape near the target; from there the rest shape follows the shape to the target ([`Exact::follow`]).

use toile_geometry::Vec3;

use crate::design::{FOLLOW, REACH};
use crate::exact::Exact;
use crate::judge::tie_stiffness;
use crate::nearest::{Ground, Start, Watch};
use crate::search::Search;
use crate::settle::Carrying;
use crate::{InverseError, Phase};

/// Steps of the search at most, and how many in a row may gain nothing worth speaking of.
const STEPS: usize = 20;
const SLOW: usize = 2;
/// A step that leaves more than this part of the merit is slow.
const GAIN: f64 = 0.9;
/// Residual of drapings, in units of a vertex's weight.
const TOLERANCE: f64 = 1e-7;
/// Weight of the metric of the rest shape at first.
const DAMPING: f64 = 1.0;

/// Longest way from where the search ends to the target that is worth following, in units of the size: cloth that cannot be held hangs
/// farther away.
const LONGEST_WAY: f64 = 0.05;

/// Shows rest shapes on the way.
pub(crate) type Show<'a> = dyn FnMut(&dyn Fn() -> Vec<Vec3>) + 'a;

/// How far a garment could be brought.
pub(crate) enum Reached {
    /// To the target, with the rest shape of the search for it.
    Target,
    /// Near it, the nearest first.
    Near(Vec<Start>),
}

impl Ground<'_> {
    /// Brings `exact` from cloth made as drawn to the target. Where it does not get there: rest shapes with which the garment rests nearby.
    pub(crate) fn reach(
        &self,
        exact: &mut Exact,
        contacts: &[Carrying],
        watch: &mut Watch<'_>,
        show: &mut Show<'_>,
    ) -> Result<Reached, InverseError> {
        let mut search = self.held_where_drawn(contacts)?;
        search.damping = DAMPING;
        search.settle(TOLERANCE, &mut || watch(Phase::Drape, 0, 1.0, 0.0, 0))?;
        let mut slow = 0;
        for _ in 0..STEPS {
            let mut go_on = || watch(Phase::Drape, 0, 1.0, 0.0, 0);
            let factor = search.improve(TOLERANCE, &mut go_on)?;
            let m = search.merit;
            if !watch(Phase::Match, exact.steps + search.steps, 1.0, m.distance, m.outside) {
                break;
            }
            slow = if factor > GAIN { slow + 1 } else { 0 };
            let met = m.distance <= self.settings.target_tolerance * self.size;
            if slow >= SLOW || m.outside == 0 && met {
                break;
            }
        }
        let positions = |state| search.model.positions(state);
        let held = |c: &&Carrying| c.contact.count == 1 || c.contact.key.between_layers();
        let near = Start {
            rest: positions(&search.rest),
            shape: positions(&search.x),
            contacts: contacts.iter().filter(held).copied().collect(),
            balanced: false,
        };
        let distance = search.merit.distance;
        if distance > LONGEST_WAY * self.size || !watch(Phase::Match, 0, 1.0, distance, 0) {
            return Ok(Reached::Near(vec![near]));
        }
        let forces = self.forces_at(&search, contacts);
        let mut seen = |steps, _: f64, _: f64, rest: &dyn Fn() -> Vec<Vec3>| {
            show(rest);
            watch(Phase::Match, steps, 1.0, distance, 0)
        };
        // A part of the way with true cones is worth more than all of it without.
        self.until.set(FOLLOW);
        let gone = exact.follow(&search.x, &search.rest, &forces, &mut seen)?;
        self.until.set(REACH);
        if gone > 0.0 {
            exact.narrow(&mut seen)?;
        }
        if gone >= 1.0 && exact.true_cones {
            return Ok(Reached::Target);
        }
        let mut starts = vec![near];
        if gone > 0.0 && exact.true_cones {
            let (rest, shape) = (exact.positions(&exact.rest), exact.positions(&exact.x));
            let contacts = exact.carrying(contacts);
            starts.insert(0, Start { rest, shape, contacts, balanced: true });
        }
        Ok(Reached::Near(starts))
    }

    /// A search from cloth made as drawn, its contacts held where the target has them, but for those inside edges and faces: held along
    /// with vertices they would carry whatever keeps the cloth from bending there.
    fn held_where_drawn(&self, contacts: &[Carrying]) -> Result<Search, InverseError> {
        let garment = self.garment;
        let several: Vec<Carrying> =
            contacts.iter().filter(|c| c.contact.key.between_layers()).copied().collect();
        let stiffness = tie_stiffness(garment, self.touched, self.size);
        let model = garment.held_model(self.touched, self.touched, &several, stiffness)?;
        self.search(model, contacts)
    }

    /// Forces of all contacts where a search is \[N\].
    fn forces_at(&self, search: &Search, contacts: &[Carrying]) -> Vec<Vec3> {
        let stiffness = tie_stiffness(self.garment, self.touched, self.size);
        let shape = search.model.positions(&search.x);
        let mut gradient = vec![0.0; search.model.len()];
        search.model.gradient(&search.x, &mut gradient);
        let mut alone = search.contact_forces(&gradient).into_iter();
        let force = |c: &Carrying| {
            if c.contact.count == 1 {
                return alone.next().unwrap_or_default();
            } else if !c.contact.key.between_layers() {
                return Vec3::zeros();
            }
            let moved = |(v, w): (u32, f64)| (self.touched[v as usize] - shape[v as usize]) * w;
            c.contact.carriers().map(moved).sum::<Vec3>() * stiffness
        };
        contacts.iter().map(force).collect()
    }
}
