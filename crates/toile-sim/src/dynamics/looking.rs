//! Looking for contacts: before a stage is solved, and after, for what has turned, come or gone.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use toile_contact::{Contact, ContactKey};

use super::integrator::{Moving, Stage};
use super::rows::{ContactStatus, Row, at, set_apart};
use super::simulator::Simulator;
use super::source::{ContactSource, Reach};
use super::stage::StageReport;
use crate::{SimError, State};

/// Time in which contacts that are too close recover \[s\].
const RECOVERY: f64 = 0.02;

/// Longest displacement that counts as one unit, in units of the size.
const FARTHEST: f64 = 0.01;

/// Change of a gap after which the contacts of a stage are looked at again, in units of the fall.
const CHANGED: f64 = 1e-2;

/// The same where elasticity has not converged: looking again would only stir it.
const ROUGHLY: f64 = 5e-2;

/// Looks after which only changes that are larger by so much are minded, where contacts share vertices.
const PATIENT: usize = 1;
const IMPATIENCE: f64 = 10.0;

/// How often the slack of layers is granted at most, once more with each look.
const MOST_SLACKS: usize = 3;

/// Violation of the law, over the largest force, that shows that contacts which share vertices were missed.
const LAWLESS: f64 = 1e-4;

/// Depth to which edges and faces may be in colliders against what held them \[m\].
const MISSED: f64 = 1e-4;

/// Whether a contact is that of the inside of an edge or face with a collider.
fn is_between(contact: &Contact) -> bool {
    contact.count > 1 && !contact.key.between_layers()
}

/// The contact's name, whatever the collider touches it with.
fn pair_of(key: &ContactKey) -> ContactKey {
    match *key {
        ContactKey::FaceCollider { face, collider, .. } => {
            ContactKey::FaceCollider { face, collider, feature: 0 }
        }
        ContactKey::EdgeCollider { edge, collider, .. } => {
            ContactKey::EdgeCollider { edge, collider, feature: 0 }
        }
        other => other,
    }
}

impl<S: ContactSource> Simulator<S> {
    /// How far a vertex falls in a time, within reason: the measure of displacements \[m\].
    pub(super) fn fall(&self, tau: f64) -> f64 {
        (self.unit * tau * tau).min(FARTHEST * self.size)
    }

    /// Finds the contacts near a position.
    pub(super) fn look(&mut self, position: &State, time: f64, tau: f64) -> Result<(), SimError> {
        let clock = Instant::now();
        self.gather(position);
        // What the guess may be wrong by: the fall in a stage, and the last change of velocity once more.
        self.changes.clear();
        if let Some(before) = &self.before {
            let change = |&v: &u32| {
                let i = self.model.unknown(v);
                tau * (at(&self.moving.velocity, i) - at(&before.velocity, i)).norm()
            };
            self.changes.extend(self.model.vertices().iter().map(change));
        }
        let reach = Reach { everywhere: 2.0 * self.fall(tau), more: &self.changes };
        self.contacts.clear();
        self.replaced.clear();
        if self.positions.iter().all(|p| p.iter().all(|x| x.is_finite())) {
            self.source.contacts(&self.positions, time, &reach, &mut self.contacts)?;
            self.add_met();
        }
        self.work.timings.detection += clock.elapsed();
        Ok(())
    }

    /// Adds what met before, instead of what was found of the same pair: that may be pushed to the wrong side. Where the step ends it is minded
    /// again, for the normal of the meeting need not keep what has turned since from dipping in.
    fn add_met(&mut self) {
        if self.met.is_empty() {
            return;
        }
        let known: HashSet<ContactKey> = self.met.iter().map(|(c, _)| pair_of(&c.key)).collect();
        self.replaced.extend(self.contacts.extract_if(.., |c| known.contains(&pair_of(&c.key))));
        for (contact, base) in &self.met {
            let gap = base + contact.normal.dot(&contact.sum(&self.positions));
            self.contacts.push(Contact { gap, ..*contact });
        }
    }

    /// Keeps in mind what meets on the way to `after`. Whether anything does.
    pub(super) fn meets(&mut self, from: &Moving, after: &Moving) -> Result<bool, SimError> {
        let clock = Instant::now();
        let start = self.model.positions(&from.position);
        let end = self.model.positions(&after.position);
        let mut more = false;
        for contact in self.source.meetings(&start, &end, from.time, after.time)? {
            let base = contact.gap - contact.normal.dot(&contact.sum(&end));
            self.met.retain(|(c, _)| c.key != contact.key);
            self.met.push((contact, base));
            more = true;
        }
        self.work.timings.detection += clock.elapsed();
        Ok(more)
    }

    /// Whether edges or faces are in a collider deeper than what held them allows.
    pub(super) fn misses(&self) -> bool {
        let floors = self.floors();
        self.contacts.iter().chain(&self.replaced).filter(|c| is_between(c)).any(|c| {
            let floor = floors.get(&c.key).or(self.inside.get(&c.key)).copied().unwrap_or(0.0);
            c.gap < floor - MISSED
        })
    }

    fn floors(&self) -> HashMap<ContactKey, f64> {
        self.rows.iter().filter(|r| !r.past).map(|r| (r.key(), r.floor)).collect()
    }

    /// Whether the contacts last looked for show that those solved with have turned, come or gone.
    /// Where contacts share vertices, later rounds mind large changes only.
    pub(super) fn looks_different(
        &self,
        stage: &Stage,
        solved: &StageReport,
        round: usize,
    ) -> bool {
        let part = if solved.converged { CHANGED } else { ROUGHLY };
        let shared = Row::any_shared(&self.rows);
        if shared && !solved.complete && solved.law_error > LAWLESS {
            return true;
        }
        let hurried = shared && round >= PATIENT;
        let slack = |key: &ContactKey| {
            let patience = if hurried && key.between_layers() { IMPATIENCE } else { 1.0 };
            let layers = (round + 1).min(MOST_SLACKS) as f64 * self.source.layer_slack();
            let least = if key.between_layers() { layers } else { 0.0 };
            least.max(patience * part * self.fall(stage.tau))
        };
        let floors = self.floors();
        let floor = |key: &ContactKey| floors.get(key).copied().unwrap_or(0.0);
        if self.contacts.iter().any(|c| c.gap < floor(&c.key) - slack(&c.key)) {
            return true;
        }
        let gaps: HashMap<ContactKey, f64> = self.contacts.iter().map(|c| (c.key, c.gap)).collect();
        let mut closed = self.rows.iter().filter(|r| !r.past && r.status != ContactStatus::Open);
        // What slid off the end of an edge is held by what came in its place, the next time.
        closed.any(|r| match gaps.get(&r.key()) {
            Some(gap) => (gap - r.floor).abs() > slack(&r.key()),
            None => !r.key().between_layers(),
        })
    }

    /// Makes rows of the contacts last looked for, at a `first` guess or later.
    pub(super) fn adopt(&mut self, position: &State, stage: &Stage, first: bool) {
        // Vertices that came too close unheld: what is between them may be held with them.
        let held: HashSet<ContactKey> = self.rows.iter().map(Row::key).collect();
        let missed: HashSet<u32> = self
            .contacts
            .iter()
            .filter(|c| c.count == 1 && c.gap < 0.0 && !held.contains(&c.key))
            .map(|c| c.vertices[0])
            .collect();
        // Where the cloth turned on what held it, what was in the way before is in the way still.
        let mut past = std::mem::take(&mut self.rows);
        past.retain(|row| row.contact.count > 1 && !row.key().between_layers());
        let rate = 1.0 / (stage.tau * stage.tau);
        for contact in &self.contacts {
            // Between vertices nothing is expected: what comes too close although they are held is found by looking
            // again.
            let between =
                is_between(contact) && !self.met.iter().any(|(known, _)| known.key == contact.key);
            let expected = !first
                && contact.gap <= 0.0
                && !contact.vertices[..contact.count as usize].iter().any(|v| missed.contains(v));
            if between && !expected && !self.warm.contains_key(&contact.key) {
                continue;
            }
            let mut unknowns = [0; 4];
            let mut inverse = 0.0;
            for k in 0..contact.count as usize {
                let node = self.model.vertices()[contact.vertices[k] as usize];
                unknowns[k] = self.model.unknown(node);
                let m = self.model.masses()[unknowns[k]];
                if !self.model.fixed()[unknowns[k]] && m > 0.0 {
                    inverse += contact.weights[k] * contact.weights[k] / m;
                }
            }
            if inverse == 0.0 {
                continue; // nothing in it can move
            }
            past.retain(|row| row.key() != contact.key || !row.is_near(contact));
            let mut row = Row::new(*contact, unknowns, position, rate / inverse);
            // Where the contact was at the start of the step.
            let start = &self.moving.position;
            let back = row.sum(start.coordinates()) - row.sum(position.coordinates());
            let time = stage.time - self.moving.time;
            let gap = contact.gap + contact.normal.dot(&(back + contact.velocity * time));
            let gap =
                if between { self.inside.get(&contact.key).copied().unwrap_or(0.0) } else { gap };
            if gap < 0.0 {
                row.allow(gap * (1.0 - time / RECOVERY).max(0.0));
            }
            if let Some(held) = self.warm.get(&contact.key) {
                row.carry(held);
            }
            if row.force[0] > 0.0 {
                let rolls = self.source.rolls(contact, &self.positions, stage.time);
                row.rolls =
                    rolls.map(|r| r.map(|roll| (roll, roll.tilt(contact, &self.positions))));
            }
            self.rows.push(row);
        }
        for row in &mut past {
            row.past = true;
        }
        self.rows.append(&mut past);
        let near = self.fall(stage.tau);
        for row in &mut self.rows {
            row.likely = row.status != ContactStatus::Open || row.past || row.contact.gap < near;
        }
        set_apart(&mut self.rows);
    }

    /// How deep edges and faces are in colliders, among contacts.
    pub(super) fn remember_depths(&mut self, contacts: &[Contact]) {
        self.inside.clear();
        let deep = contacts.iter().filter(|c| is_between(c) && c.gap < 0.0);
        self.inside.extend(deep.map(|c| (c.key, c.gap)));
    }
}
