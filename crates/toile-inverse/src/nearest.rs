//! The nearest equilibrium, where no rest shape holds the target exactly.
//!
//! First some rest shape with which the garment rests at all: stuck where it was drawn if its contacts hold, else let go until they do.
//! From there on every point that is kept is a certified equilibrium, and each is nearer to the target than the one before.

use std::cell::Cell;

use toile_contact::ContactKey;
use toile_geometry::Vec3;
use toile_sim::{CERTIFIED_RESIDUAL, Model, SimError, tied_vertices};

use crate::design::{NEAR, REACH, REST};
use crate::judge::{Judged, distances, judge, tie_stiffness};
use crate::search::{Search, Steering};
use crate::settle::{Carrying, Settled, settle};
use crate::slide::slide;
use crate::{Garment, InverseError, InverseSettings, Phase, TargetContact};

/// What stays the same from trial to trial.
pub(crate) struct Ground<'a> {
    pub(crate) garment: &'a Garment,
    pub(crate) settings: &'a InverseSettings,
    pub(crate) target: &'a [Vec3],
    /// The target with its contacts closed.
    pub(crate) touched: &'a [Vec3],
    pub(crate) edges: &'a [(u32, u32)],
    pub(crate) size: f64,
    /// Whether the target is far from being held, so that cloth will go a long way.
    pub(crate) far: bool,
    /// Part of the time after which what is going on is to end.
    pub(crate) until: &'a Cell<f64>,
}

/// A rest shape and where the garment rests with it.
pub(crate) struct Found {
    pub(crate) rest: Vec<Vec3>,
    pub(crate) judged: Judged,
    /// Whether it was let go to find out.
    pub(crate) settled: bool,
}

/// A rest shape to begin with, and about where the garment rests with it.
pub(crate) struct Start {
    pub(crate) rest: Vec<Vec3>,
    pub(crate) shape: Vec<Vec3>,
    /// What holds it there.
    pub(crate) contacts: Vec<Carrying>,
    /// Whether it is known to be in balance there, forces inside their cones.
    pub(crate) balanced: bool,
}

impl Found {
    pub(crate) fn error(&self) -> f64 {
        self.judged.certificate.target_error_max.unwrap_or(f64::INFINITY)
    }

    pub(crate) fn better_than(&self, other: &Self) -> bool {
        let rank = |f: &Self| {
            let c = &f.judged.certificate;
            let inside = c.penetration.is_some_and(|d| d > 0.0);
            let slips = c.cone_gap.is_some_and(|g| g > CERTIFIED_RESIDUAL);
            (!c.certified, inside, c.residual > BALANCED, slips, f.error())
        };
        rank(self) < rank(other)
    }
}

/// What a search came to, not yet judged.
struct Nearer {
    rest: Vec<Vec3>,
    shape: Vec<Vec3>,
    contacts: Vec<Carrying>,
}

/// How far the search is, and whether it is to go on.
pub(crate) type Watch<'a> = dyn FnMut(Phase, usize, f64, f64, usize) -> bool + 'a;

/// Times the search begins anew from a better equilibrium.
const ROUNDS: usize = 8;
/// Part of the distance a round must gain for another one.
const GAIN: f64 = 0.05;
/// Steps of one round at most.
const STEPS: usize = 12;
/// How far from the target an equilibrium that was reached over others is enough, in units of the size.
const YIELDED: f64 = 0.03;
/// Contacts between layers up to which a garment is let go.
const MOST_LAYERS: usize = 100;
/// Times contacts are let slide anew.
const SLIDES: usize = 4;
/// Force left, in units of a vertex's weight, up to which a shape is balanced but for its contacts.
const BALANCED: f64 = 1e-6;
/// Residual of drapings, in units of a vertex's weight.
const TOLERANCE: f64 = 1e-7;

impl Ground<'_> {
    /// Where the garment rests with one of some rest shapes, brought as near to the target as it goes; `None` when it rests with none.
    pub(crate) fn approach(
        &self,
        starts: &[Start],
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, InverseError> {
        let mut best: Option<Found> = None;
        for (k, Start { rest, shape, contacts, balanced }) in starts.iter().enumerate() {
            // What takes long must not keep the next from being tried.
            let share = (k + 1) as f64 / starts.len() as f64;
            self.until.set(REACH + share * (REST - REACH));
            if best.is_some() && !watch(Phase::Match, 0, 1.0, 0.0, 0) {
                continue;
            }
            // What rests there already must not be let go: a little of the friction is taken from cloth that moves.
            let far = self.far && !balanced;
            let found = self.rest_with(rest, shape, shape, contacts, far, watch)?;
            best = match (found, best) {
                (Some(f), Some(b)) if !f.better_than(&b) => Some(b),
                (Some(f), _) => Some(f),
                (None, b) => b,
            };
            // What was brought there over equilibria is nearer than what comes to rest by itself.
            let near = if *balanced { YIELDED } else { 0.01 };
            let enough =
                |f: &Found| f.judged.certificate.certified && self.away(f) <= near * self.size;
            if best.as_ref().is_some_and(enough) {
                break;
            }
        }
        self.until.set(NEAR);
        self.nearer(best, watch)
    }

    /// Where the garment rests within 1 % of its size from the target at a start that is in balance; `None` where its contacts do not hold there.
    pub(crate) fn held_near(
        &self,
        start: &Start,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, InverseError> {
        let without_drift = InverseSettings { drift_time: 0.0, ..*self.settings };
        let mut observe = |phase, part, distance| watch(phase, 0, part, distance, 0);
        let (rest, shape, held) = (&start.rest, &start.shape, start.contacts.clone());
        let (garment, target) = (self.garment, self.target);
        let judged = judge(garment, &without_drift, target, rest, shape, held, true, &mut observe)?;
        let found = Found { rest: rest.clone(), judged, settled: false };
        if !found.judged.certificate.certified || self.away(&found) > 0.01 * self.size {
            return Ok(None);
        }
        self.with_drift(found, watch).map(Some)
    }

    /// An equilibrium brought nearer to the target, step by step.
    fn nearer(
        &self,
        mut best: Option<Found>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, InverseError> {
        let mut steps = 0;
        for _ in 0..ROUNDS {
            let Some(now) = best.as_ref().filter(|b| b.judged.certificate.certified) else { break };
            let met = self.away(now) <= self.settings.target_tolerance * self.size;
            if met || steps >= self.settings.max_steps {
                break;
            }
            let Some(Nearer { rest, shape, contacts }) = self.improved(now, &mut steps, watch)?
            else {
                break;
            };
            let start = now.judged.equilibrium.clone();
            let Some(next) = self.rest_with(&rest, &shape, &start, &contacts, self.far, watch)?
            else {
                break;
            };
            let gained = self.away(&next) <= (1.0 - GAIN) * self.away(now);
            if next.better_than(now) {
                best = Some(next);
            }
            if !gained {
                break;
            }
        }
        Ok(best)
    }

    /// Largest distance of an equilibrium from the target with its contacts closed \[m\].
    fn away(&self, found: &Found) -> f64 {
        distances(&found.judged.equilibrium, self.touched).0
    }

    /// The same with its drift.
    pub(crate) fn with_drift(
        &self,
        found: Found,
        watch: &mut Watch<'_>,
    ) -> Result<Found, InverseError> {
        // Judging anew takes some steps: nothing for a search that was told to end.
        if !found.judged.certificate.certified
            || self.settings.drift_time <= 0.0
            || !watch(Phase::Match, 0, 1.0, found.error(), 0)
        {
            return Ok(found);
        }
        let Found { rest, judged, settled } = found;
        let Judged { equilibrium, contacts, .. } = judged;
        let mut observe = |phase, part, distance| watch(phase, 0, part, distance, 0);
        let (garment, settings) = (self.garment, self.settings);
        let shape = &equilibrium;
        let judged =
            judge(garment, settings, self.target, &rest, shape, contacts, true, &mut observe)?;
        Ok(Found { rest, judged, settled })
    }

    /// Where the garment rests with a rest shape: near `shape` with its contacts stuck if they hold, else where it comes to when it is let go at
    /// `start`; that first where it is `far`.
    fn rest_with(
        &self,
        rest: &[Vec3],
        shape: &[Vec3],
        start: &[Vec3],
        contacts: &[Carrying],
        far: bool,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, InverseError> {
        let without_drift = InverseSettings { drift_time: 0.0, ..*self.settings };
        let (garment, target) = (self.garment, self.target);
        let part = 0.95 * self.settings.cone_part;
        let layers = contacts.iter().filter(|c| c.contact.key.between_layers()).count();
        // A long way is gone sooner in motion than from one balance to the next.
        if far && layers <= MOST_LAYERS && !garment.colliders.is_empty() {
            let mut moved = |part: f64, speed: f64| watch(Phase::Settle, 0, part, speed, 0);
            let resting = settle(garment, start, rest, part, self.size, false, &mut moved)?;
            if let Some(resting) = resting {
                let found = self.judged(rest, resting, watch)?;
                if found.judged.certificate.certified || !watch(Phase::Match, 0, 1.0, 0.0, 0) {
                    return Ok(Some(found));
                }
            }
        }
        let mut go_on = true;
        let mut observe = |phase, part, distance| {
            go_on &= watch(phase, 0, part, distance, 0);
            go_on
        };
        let held = contacts.to_vec();
        let stuck =
            judge(garment, &without_drift, target, rest, shape, held.clone(), true, &mut observe);
        let stuck = match stuck {
            Ok(judged) => Some(Found { rest: rest.to_vec(), judged, settled: false }),
            Err(InverseError::Sim(SimError::FlatRestFace { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        let holds = stuck.as_ref().is_some_and(|f| f.judged.certificate.certified);
        if holds || garment.colliders.is_empty() || !go_on {
            return Ok(stuck);
        }
        // Let contacts slide; where that leads nowhere, let the garment go. A shape that is balanced but for its contacts is a better start
        // than the target.
        let balanced = stuck.as_ref().filter(|f| {
            let c = &f.judged.certificate;
            c.residual <= BALANCED && c.penetration.is_none_or(|d| d <= 0.0)
        });
        let (start, held) = match balanced {
            Some(f) => (f.judged.equilibrium.clone(), f.judged.contacts.clone()),
            None => (start.to_vec(), held),
        };
        let (mut from, mut held) = (start.clone(), held);
        for _ in 0..SLIDES {
            let mut seen = || watch(Phase::Drape, 0, 1.0, 0.0, 0);
            let Some(slid) = slide(garment, rest, &from, held, part, self.size, &mut seen)? else {
                break;
            };
            let mut observe = |phase, part, distance| watch(phase, 0, part, distance, 0);
            let (shape, sticks) = (&slid.positions, slid.contacts);
            let judged =
                judge(garment, &without_drift, target, rest, shape, sticks, true, &mut observe)?;
            if judged.certificate.certified {
                return Ok(Some(Found { rest: rest.to_vec(), judged, settled: true }));
            }
            if judged.certificate.residual > BALANCED {
                break;
            }
            // Balanced to the last digit, some contacts hold less than they seemed to.
            (from, held) = (judged.equilibrium, judged.contacts);
        }
        let mut moved = |part: f64, speed: f64| {
            go_on &= watch(Phase::Settle, 0, part, speed, 0);
            go_on
        };
        let still = balanced.is_some();
        // A step of a simulation with many contacts between layers has no end that is worth waiting for.
        if layers > MOST_LAYERS {
            return Ok(stuck);
        }
        let Some(resting) = settle(garment, &start, rest, part, self.size, still, &mut moved)?
        else {
            return Ok(stuck);
        };
        let let_go = self.judged(rest, resting, watch)?;
        Ok(match stuck {
            Some(stuck) if !let_go.better_than(&stuck) => Some(stuck),
            _ => Some(let_go),
        })
    }

    /// What is to be said of where a garment came to rest.
    fn judged(
        &self,
        rest: &[Vec3],
        resting: Settled,
        watch: &mut Watch<'_>,
    ) -> Result<Found, InverseError> {
        let settings = InverseSettings { drift_time: 0.0, ..*self.settings };
        let mut observe = |phase, part, distance| watch(phase, 0, part, distance, 0);
        let Settled { positions, contacts } = resting;
        let (garment, target) = (self.garment, self.target);
        let judged =
            judge(garment, &settings, target, rest, &positions, contacts, true, &mut observe)?;
        Ok(Found { rest: rest.to_vec(), judged, settled: true })
    }

    /// A search with the garment's vertices held where `contacts` have them on colliders.
    pub(crate) fn search(
        &self,
        model: Model,
        contacts: &[Carrying],
    ) -> Result<Search, InverseError> {
        let held: Vec<TargetContact> = contacts
            .iter()
            .filter_map(|c| match c.contact.key {
                ContactKey::VertexCollider { vertex, collider } => Some(TargetContact {
                    vertex,
                    collider,
                    normal: c.contact.normal,
                    friction: c.cone(self.garment).friction,
                    gap: 0.0,
                }),
                _ => None,
            })
            .collect();
        let steering = Steering { cone_part: self.settings.cone_part, drape_steps: 60 };
        Search::new(model, self.touched, &held, self.edges.to_vec(), steering)
    }

    /// A rest shape, shape and contacts nearer to the target, by Gauss and Newton; `None` when there is none.
    fn improved(
        &self,
        from: &Found,
        steps: &mut usize,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Nearer>, InverseError> {
        let garment = self.garment;
        let (shape, all) = (&from.judged.equilibrium, &from.judged.contacts);
        let (one, several): (Vec<Carrying>, Vec<Carrying>) =
            all.iter().partition(|c| c.contact.count == 1);
        let stiffness = tie_stiffness(garment, &from.rest, self.size);
        let model = garment.held_model(shape, &from.rest, &several, stiffness)?;
        let held = one.len();
        let mut search = self.search(model, &one)?;
        search.tied = tied_vertices(shape.len(), &garment.seams());
        let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
        search.settle(TOLERANCE, &mut || watch(Phase::Drape, 0, 1.0, 0.0, 0))?;
        let start = search.merit;
        // No gain in distance may be paid for by contacts that slip.
        search.cone_weight *= 1.0 + start.value / held.max(1) as f64;
        let mut slow = 0;
        for _ in 0..STEPS {
            let before = search.steps;
            let mut go_on = || watch(Phase::Drape, 0, 1.0, 0.0, 0);
            let factor = search.improve(TOLERANCE, &mut go_on)?;
            *steps += search.steps - before;
            search.review(&placed, 0.0, TOLERANCE, &mut go_on)?;
            let m = search.merit;
            if !watch(Phase::Match, *steps, 1.0, m.distance, m.outside) {
                break;
            }
            let met = m.distance <= self.settings.target_tolerance * self.size;
            slow = if factor > 0.9 { slow + 1 } else { 0 };
            if met && m.outside == 0 || slow >= 2 || *steps >= self.settings.max_steps {
                break;
            }
        }
        if search.merit.rms >= start.rms {
            return Ok(None);
        }
        let mut contacts = several;
        let held = search.contacts.iter();
        contacts.extend(held.map(|c| Carrying::vertex(c.vertex, c.collider, c.normal)));
        let positions = |state| search.model.positions(state);
        let (rest, shape) = (positions(&search.rest), positions(&search.x));
        Ok(Some(Nearer { rest, shape, contacts }))
    }
}

#[cfg(test)]
mod tests {
    use toile_sim::Certificate;

    use super::*;

    /// Balanced but for the last digits, with forces inside their cones, a shape says more than a nearer one whose contacts slip.
    #[test]
    fn a_shape_that_holds_is_better_than_a_nearer_one_that_slips() {
        let found = |certified, cone_gap, error| Found {
            rest: Vec::new(),
            judged: Judged {
                equilibrium: Vec::new(),
                contacts: Vec::new(),
                certificate: Certificate {
                    residual: 1.2e-8,
                    residual_n: 0.0,
                    cone_gap: Some(cone_gap),
                    cone_margin: None,
                    penetration: Some(0.0),
                    stability: Some(1.0),
                    negative_modes: Some(0),
                    drift: None,
                    target_error_max: Some(error),
                    target_error_rms: None,
                    size: 1.0,
                    certified,
                    reason: String::new(),
                },
                residual: Vec::new(),
                crossing: crate::Crossing::default(),
                but_for_crossing: false,
            },
            settled: false,
        };
        let (holds, slips) = (found(false, 0.0, 2e-3), found(false, 0.6, 1e-3));
        assert!(holds.better_than(&slips) && !slips.better_than(&holds));
        assert!(found(false, 0.0, 1e-3).better_than(&holds));
        assert!(found(true, 0.0, 0.1).better_than(&holds));
    }
}
