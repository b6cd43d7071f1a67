//! Everything a simulation needs to go on as if it had never stopped.

use std::collections::HashMap;

use toile_contact::{Contact, ContactKey};

use super::integrator::Moving;
use super::rows::{ContactForce, ContactStatus, Held};
use super::simulator::Simulator;
use super::source::{ContactSource, Reach};
use crate::{SimError, State};

/// Positions and velocities at one time, in the order of the unknowns.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// \[s\]
    pub time: f64,
    /// Coordinates \[m\].
    pub high: Vec<f64>,
    /// What they are rounded by \[m\].
    pub low: Vec<f64>,
    /// \[m/s\]
    pub velocity: Vec<f64>,
}

impl Snapshot {
    fn moving(&self) -> Moving {
        Moving {
            time: self.time,
            position: State::from_parts(self.high.clone(), self.low.clone()),
            velocity: self.velocity.clone(),
        }
    }
}

/// What a simulation needs to go on as if it had never stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Where it is.
    pub now: Snapshot,
    /// Where it was a step before, if that matters.
    pub before: Option<Snapshot>,
    /// Contacts with their forces in space \[N\].
    pub held: Vec<(ContactKey, [f64; 3], ContactStatus)>,
    /// Pairs of nodes that contacts have tied, and how many stages ago.
    pub couplings: Vec<[u32; 3]>,
}

/// A moment of a simulator, to go back to.
pub(crate) struct Kept {
    moving: Moving,
    before: Option<Moving>,
    warm: HashMap<ContactKey, Held>,
    forces: Vec<ContactForce>,
    contacts: Vec<Contact>,
    inside: HashMap<ContactKey, f64>,
}

impl<S: ContactSource> Simulator<S> {
    /// Everything the next step depends on.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut held: Vec<(ContactKey, [f64; 3], ContactStatus)> =
            self.warm.iter().map(|(key, held)| (*key, held.force.into(), held.status)).collect();
        held.sort_unstable_by_key(|(key, ..)| *key);
        let snapshot = |m: &Moving| Snapshot {
            time: m.time,
            high: m.position.coordinates().to_vec(),
            low: m.position.low().to_vec(),
            velocity: m.velocity.clone(),
        };
        Checkpoint {
            now: snapshot(&self.moving),
            before: self.before.as_ref().map(snapshot),
            held,
            couplings: self.system.couplings(),
        }
    }

    /// Goes on from a checkpoint of the same model, to the same bits. `false` if it does not fit.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<bool, SimError> {
        let n = self.model.len();
        let fits = |s: &Snapshot| [&s.high, &s.low, &s.velocity].iter().all(|a| a.len() == n);
        if !fits(&checkpoint.now) || !checkpoint.before.as_ref().is_none_or(fits) {
            return Ok(false);
        }
        if !self.system.set_couplings(&self.model, &checkpoint.couplings) {
            return Ok(false);
        }
        self.moving = checkpoint.now.moving();
        self.before = checkpoint.before.as_ref().map(Snapshot::moving);
        self.warm = checkpoint
            .held
            .iter()
            .map(|(key, force, status)| (*key, Held { force: (*force).into(), status: *status }))
            .collect();
        self.forces.clear();
        self.gather(&self.moving.position.clone());
        self.source.arrived(&self.positions);
        let mut contacts = Vec::new();
        let reach = Reach::of(0.0);
        self.source.contacts(&self.positions, self.moving.time, &reach, &mut contacts)?;
        self.remember_depths(&contacts);
        Ok(true)
    }

    /// What a step changes.
    pub(crate) fn keep(&self) -> Kept {
        Kept {
            moving: self.moving.clone(),
            before: self.before.clone(),
            warm: self.warm.clone(),
            forces: self.forces.clone(),
            contacts: self.contacts.clone(),
            inside: self.inside.clone(),
        }
    }

    /// Goes back to a moment.
    pub(crate) fn put_back(&mut self, kept: &Kept) {
        self.moving.clone_from(&kept.moving);
        self.before.clone_from(&kept.before);
        self.warm.clone_from(&kept.warm);
        self.forces.clone_from(&kept.forces);
        self.contacts.clone_from(&kept.contacts);
        self.inside.clone_from(&kept.inside);
        self.gather(&self.moving.position.clone());
        self.source.arrived(&self.positions);
    }

    /// Goes back to a moment to take its step again, a little differently: where that led is the first guess.
    pub(crate) fn try_again(&mut self, kept: &Kept) {
        self.put_back(kept);
        self.again = true;
    }
}
