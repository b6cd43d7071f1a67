//! Steps in time.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use toile_contact::{Contact, ContactKey};
use toile_num::Vector;

use super::integrator::{ALPHA, Integrator, Moving, Stage};
use super::rows::{ContactForce, ContactStatus, Held, Row, at};
use super::stage::{Damping, StageProblem, StageReport, StageSettings, StageTimings, Workspace};
use super::system::System;
use super::zones::{Collision, Zones};
use crate::{Model, SimError, State};

/// Finds the contacts of a configuration.
pub trait ContactSource {
    /// Appends all contacts nearer than `reach` \[m\] with the vertices at `positions` and everything
    /// else where it is at `time` \[s\].
    fn contacts(
        &mut self,
        positions: &[Vector<3>],
        time: f64,
        reach: f64,
        out: &mut Vec<Contact>,
    ) -> Result<(), SimError>;

    /// Part of the straight way from `start` to `end` that can be gone before anything passes through anything:
    /// one if all of it. The last line of defence, when the contacts have failed.
    fn safe_part(
        &mut self,
        _start: &[Vector<3>],
        _end: &[Vector<3>],
        _from: f64,
        _to: f64,
    ) -> Result<f64, SimError> {
        Ok(1.0)
    }

    /// What would collide on the straight way from `start` to `end`, or be deeper in a collider at its end than it was.
    fn collisions(
        &mut self,
        _start: &[Vector<3>],
        _end: &[Vector<3>],
        _from: f64,
        _to: f64,
    ) -> Result<Vec<Collision>, SimError> {
        Ok(Vec::new())
    }

    /// Displacement of a point at `place` that goes with a collider.
    fn carried(&self, _collider: u32, _place: &Vector<3>, _from: f64, _to: f64) -> Vector<3> {
        Vector::zeros()
    }

    /// Told where a step has ended.
    fn arrived(&mut self, _positions: &[Vector<3>]) {}
}

/// Nothing to touch.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContact;

impl ContactSource for NoContact {
    fn contacts(
        &mut self,
        _: &[Vector<3>],
        _: f64,
        _: f64,
        _: &mut Vec<Contact>,
    ) -> Result<(), SimError> {
        Ok(())
    }
}

/// Energies of a moving model \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// ½ vᵀMv.
    pub kinetic: f64,
    /// Elastic energy and that of the loads.
    pub potential: f64,
}

/// How a step went.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepReport {
    /// Newton steps.
    pub iterations: usize,
    /// Factorisations.
    pub factorisations: usize,
    /// Contacts looked at.
    pub candidates: usize,
    /// Contacts that carry force.
    pub contacts: usize,
    /// Whether every stage met its tolerances.
    pub converged: bool,
    /// Largest acceleration left, in units of the load's.
    pub residual: f64,
    /// Largest violation of the law of contact (Alart–Curnier), over the largest force.
    pub law_error: f64,
    /// The same, mean over all contacts looked at.
    pub mean_law_error: f64,
    /// Parts the step was cut into.
    pub substeps: usize,
    /// Parts whose contacts could not be solved: what would have collided in them went together.
    pub stopped: usize,
    /// Vertices that went together in these parts.
    pub held: usize,
    /// Parts in which nothing could be moved as it should.
    pub frozen: usize,
    /// Where the time went.
    pub timings: StageTimings,
}

impl StepReport {
    /// Adds what a later part says.
    fn absorb(&mut self, part: &Self) {
        self.iterations += part.iterations;
        self.factorisations += part.factorisations;
        self.converged &= part.converged;
        self.residual = self.residual.max(part.residual);
        self.law_error = self.law_error.max(part.law_error);
        self.mean_law_error = self.mean_law_error.max(part.mean_law_error);
        self.candidates = part.candidates;
        self.contacts = part.contacts;
    }
}

/// Shortest part a step is cut into, as a fraction.
const SHORTEST: usize = 8;

/// Time in which contacts that are too close recover \[s\].
const RECOVERY: f64 = 0.02;

/// Longest displacement that counts as one unit, in units of the size.
const FARTHEST: f64 = 0.01;

/// How often the contacts of a stage are looked for at most.
const LOOKS: usize = 5;

/// Violation of the law up to which a step is accepted, in units of the largest force.
const LAWFUL: f64 = 1e-2;

/// Change of a gap after which the contacts of a stage are looked at again, in units of the fall.
const CHANGED: f64 = 1e-2;

/// The same where elasticity has not converged: looking again would only stir it.
const ROUGHLY: f64 = 5e-2;

/// Depth to which edges and faces may be in colliders against what held them \[m\].
const MISSED: f64 = 1e-4;

/// Whether a contact is that of the inside of an edge or face with a collider.
fn is_between(contact: &Contact) -> bool {
    contact.count > 1 && !contact.key.between_layers()
}

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

/// A model in motion.
pub struct Simulator<S> {
    model: Model,
    source: S,
    integrator: Integrator,
    settings: StageSettings,
    damping: Damping,
    moving: Moving,
    before: Option<Moving>,
    forces: Vec<ContactForce>,
    warm: HashMap<ContactKey, Held>,
    system: System,
    work: Workspace,
    rows: Vec<Row>,
    contacts: Vec<Contact>,
    positions: Vec<Vector<3>>,
    delta: Vec<f64>,
    /// Length of the stage it was found for \[s\], and whether it is a guess for the next.
    tau: f64,
    again: bool,
    owners: HashSet<usize>,
    /// Gaps of the edges and faces that were in colliders when the last part of a step ended \[m\].
    inside: HashMap<ContactKey, f64>,
    /// Whether anything touched in a stage of the step.
    touched: bool,
    unit: f64,
    /// Of the model at its start \[m\].
    size: f64,
}

impl<S: ContactSource> Simulator<S> {
    /// A model at rest in its start state.
    pub fn new(model: Model, source: S) -> Result<Self, SimError> {
        let n = model.len();
        let system = System::new(&model)?;
        let work = Workspace::new(&model);
        let moving = Moving { time: 0.0, position: model.start().clone(), velocity: vec![0.0; n] };
        let loads = model.load_vector();
        let mass: f64 = model.vertices().iter().map(|&v| model.masses()[model.unknown(v)]).sum();
        let load: f64 = model
            .vertices()
            .iter()
            .map(|&v| Vector::<3>::from_column_slice(&loads[model.unknown(v)..][..3]).norm())
            .sum();
        let size = model.size(model.start());
        let unit = if load > 0.0 && mass > 0.0 { load / mass } else { 1.0 };
        Ok(Self {
            integrator: Integrator::default(),
            settings: StageSettings::default(),
            damping: Damping::default(),
            before: None,
            forces: Vec::new(),
            warm: HashMap::new(),
            rows: Vec::new(),
            contacts: Vec::new(),
            positions: Vec::new(),
            delta: vec![0.0; n],
            tau: 0.0,
            again: false,
            owners: HashSet::new(),
            inside: HashMap::new(),
            touched: false,
            model,
            source,
            moving,
            system,
            work,
            unit,
            size: if size > 0.0 { size } else { 1.0 },
        })
    }

    /// Chooses the integrator.
    pub fn set_integrator(&mut self, integrator: Integrator) {
        self.integrator = integrator;
        self.before = None;
    }

    /// Changes the tolerances.
    pub fn set_settings(&mut self, settings: StageSettings) {
        self.settings = settings;
    }

    /// Damping by a force against the velocity, per mass \[1/s\]: still air, or a means to come to rest.
    pub fn set_mass_damping(&mut self, rate: f64) {
        self.damping.mass = rate;
    }

    /// Damping per mass \[1/s\].
    pub fn mass_damping(&self) -> f64 {
        self.damping.mass
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What finds the contacts.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Puts everything elsewhere, at rest; the past is forgotten.
    pub fn set_state(&mut self, state: &State) {
        self.moving.position = state.clone();
        self.moving.velocity.fill(0.0);
        self.before = None;
        self.warm.clear();
        self.forces.clear();
    }

    /// Time \[s\].
    pub fn time(&self) -> f64 {
        self.moving.time
    }

    /// Where everything is.
    pub fn state(&self) -> &State {
        &self.moving.position
    }

    /// Velocity of each unknown \[m/s\].
    pub fn velocities(&self) -> &[f64] {
        &self.moving.velocity
    }

    /// Changes the velocities; the past is forgotten.
    pub fn set_velocities(&mut self, velocities: &[f64]) {
        self.moving.velocity.copy_from_slice(velocities);
        self.before = None;
    }

    /// Contacts that carried force in the last step.
    pub fn contact_forces(&self) -> &[ContactForce] {
        &self.forces
    }

    /// Energies now.
    pub fn energies(&self) -> Energies {
        self.energies_of(&self.moving)
    }

    fn energies_of(&self, at: &Moving) -> Energies {
        let pairs = at.velocity.iter().zip(self.model.masses());
        let kinetic = pairs.map(|(v, m)| 0.5 * m * v * v).sum();
        Energies { kinetic, potential: self.model.energy(&at.position) }
    }

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
        self.source.contacts(&self.positions, self.moving.time, 0.0, &mut contacts)?;
        self.remember_depths(&contacts);
        Ok(true)
    }

    /// Takes a step of `h` seconds.
    ///
    /// A part that fails (the law of contact unsolved, a collision missed, energy from nowhere, a face collapsed) is
    /// taken again in halves, by implicit Euler.
    pub fn step(&mut self, h: f64) -> Result<StepReport, SimError> {
        self.whole_step(h, &mut || true)
    }

    /// [`step`](Self::step), asking before each part of it and each look for contacts whether to go on. `None` when it was to stop:
    /// everything is then as it was before.
    pub fn step_while(
        &mut self,
        h: f64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<StepReport>, SimError> {
        let kept = self.keep();
        match self.whole_step(h, go_on) {
            Ok(report) => Ok(Some(report)),
            Err(SimError::Stopped) => {
                self.put_back(&kept);
                Ok(None)
            }
            Err(error) => Err(error),
        }
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

    /// Replaces the dead forces on vertices, numbered as the source of contacts has them \[N\].
    pub fn push(&mut self, forces: impl IntoIterator<Item = (u32, Vector<3>)>) {
        self.model.external_mut().fill(0.0);
        for (vertex, force) in forces {
            let i = self.model.unknown(self.model.vertices()[vertex as usize]);
            for k in 0..3 {
                self.model.external_mut()[i + k] += force[k];
            }
        }
    }

    fn whole_step(
        &mut self,
        h: f64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<StepReport, SimError> {
        let mut report = StepReport { converged: true, ..StepReport::default() };
        self.work.timings = StageTimings::default();
        // In units of the shortest part, so that the parts add up to the step exactly.
        let (mut done, mut part) = (0, SHORTEST);
        let start = self.moving.time;
        while done < SHORTEST {
            let from = self.moving.clone();
            let dt = h * part as f64 / SHORTEST as f64;
            let kept = (self.warm.clone(), self.forces.clone());
            let mut trial = StepReport { converged: true, ..StepReport::default() };
            let to = start + h * (done + part) as f64 / SHORTEST as f64;
            self.touched = false;
            let outcome = self.take(&from, dt, to, part == SHORTEST, &mut trial, go_on);
            let mut after = match outcome {
                Ok(after) => Some(after),
                Err(SimError::Solve(_)) => None,
                Err(error) => return Err(error),
            };
            // Implicit Euler makes no energy when it converges, unless contacts between vertices push out what they found
            // too late; schemes of second order may, across impacts.
            let between = self.forces.iter().any(|f| f.contact.count > 1);
            let touched = self.touched || !kept.1.is_empty();
            let tame = trial.converged
                && (!touched || (self.integrator == Integrator::ImplicitEuler && !between));
            let lawful = trial.law_error <= LAWFUL
                && trial.residual.is_finite()
                && after.as_ref().is_none_or(|a| tame || self.spends(&from, a, dt));
            let mut safe = 1.0;
            if let Some(after) = after.as_mut().filter(|_| lawful) {
                let clock = Instant::now();
                safe = self.safe_part(&from, after)?;
                self.work.timings.detection += clock.elapsed();
            }
            let after_failure = after.clone().filter(|_| trial.residual.is_finite());
            let good = after.is_some() && lawful && safe >= 1.0;
            if !good && part > 1 {
                part /= 2;
                (self.warm, self.forces) = kept;
                report.iterations += trial.iterations;
                report.factorisations += trial.factorisations;
                continue;
            }
            let mut after = match after.filter(|_| good) {
                Some(after) => after,
                None => {
                    if !self.energies().potential.is_finite() {
                        return Err(SimError::StepFailed { time: start, parts: SHORTEST });
                    }
                    let ended = after_failure;
                    trial.converged = false;
                    trial.residual = 0.0;
                    trial.law_error = 0.0;
                    trial.mean_law_error = 0.0;
                    report.stopped += 1;
                    (self.warm, self.forces) = kept;
                    self.hold_back(&from, ended, dt, &mut report)?
                }
            };
            done += part;
            after.time = to;
            // What was found belongs to where the step would have ended.
            if !good {
                self.look(&after.position, after.time, dt)?;
            } else {
                self.gather(&after.position);
            }
            self.source.arrived(&self.positions);
            let contacts = std::mem::take(&mut self.contacts);
            self.remember_depths(&contacts);
            self.contacts = contacts;
            let equal = part == SHORTEST;
            self.moving = after;
            self.before = equal.then_some(from);
            report.substeps += 1;
            report.absorb(&trial);
            while part < SHORTEST && done % (2 * part) == 0 {
                part *= 2;
            }
        }
        report.timings = self.work.timings;
        Ok(report)
    }

    /// How deep edges and faces are in colliders, among contacts.
    fn remember_depths(&mut self, contacts: &[Contact]) {
        self.inside.clear();
        let deep = contacts.iter().filter(|c| is_between(c) && c.gap < 0.0);
        self.inside.extend(deep.map(|c| (c.key, c.gap)));
    }

    /// One step of the integrator, which ends at the time `to`.
    fn take(
        &mut self,
        from: &Moving,
        h: f64,
        to: f64,
        whole: bool,
        report: &mut StepReport,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Moving, SimError> {
        match self.integrator {
            Integrator::ImplicitEuler => {
                self.stage(&Stage::euler(from, h).until(to), report, go_on)
            }
            // What went wrong in one piece is taken as cautiously as can be.
            _ if !whole => self.stage(&Stage::euler(from, h).until(to), report, go_on),
            Integrator::Bdf2 => {
                if let Some(before) = self.before.take() {
                    let stage = Stage::bdf2(&before, from, h).until(to);
                    self.before = Some(before);
                    let known: HashSet<ContactKey> = self.warm.keys().copied().collect();
                    let after = self.stage(&stage, report, go_on)?;
                    if self.warm.keys().all(|key| known.contains(key)) {
                        return Ok(after);
                    }
                }
                self.stage(&Stage::euler(from, h).until(to), report, go_on)
            }
            Integrator::TrBdf2 => {
                let force = self.smooth_force(from);
                let middle =
                    self.stage(&Stage::trapezoid(from, &force, ALPHA * h), report, go_on)?;
                self.stage(&Stage::after_trapezoid(from, &middle, h).until(to), report, go_on)
            }
            Integrator::Sdirk2 => {
                let middle = self.stage(&Stage::euler(from, ALPHA * h), report, go_on)?;
                let force = self.smooth_force(&middle);
                self.stage(&Stage::sdirk2(from, &middle, &force, h).until(to), report, go_on)
            }
        }
    }

    /// Whether a step that did not converge at least made no energy: what it has more than before came from
    /// moving colliders.
    fn spends(&self, from: &Moving, after: &Moving, dt: f64) -> bool {
        let energy = |at: &Moving| {
            let energies = self.energies_of(at);
            energies.kinetic + energies.potential
        };
        let given: f64 =
            self.forces.iter().map(|f| f.force.dot(&f.contact.velocity).max(0.0) * dt).sum();
        let mass: f64 = self.model.masses().iter().sum::<f64>() / 3.0;
        // A tenth of what falling through one step would give: rounding of what is not converged.
        let slack = 0.1 * mass * (self.unit * dt).powi(2);
        energy(after) <= energy(from) + given + slack
    }

    fn safe_part(&mut self, from: &Moving, after: &Moving) -> Result<f64, SimError> {
        let (start, end) =
            (self.model.positions(&from.position), self.model.positions(&after.position));
        self.source.safe_part(&start, &end, from.time, after.time)
    }

    /// Where a part ends that contacts could not keep from colliding: what would collide goes together, the rest as was
    /// found. Where that makes energy, or nothing was found, everything stays where it is.
    fn hold_back(
        &mut self,
        from: &Moving,
        found: Option<Moving>,
        dt: f64,
        report: &mut StepReport,
    ) -> Result<Moving, SimError> {
        let clock = Instant::now();
        let to = from.time + dt;
        let start = self.model.positions(&from.position);
        let unknowns: Vec<usize> =
            self.model.vertices().iter().map(|&v| self.model.unknown(v)).collect();
        let masses: Vec<f64> = unknowns.iter().map(|&i| self.model.masses()[i]).collect();
        let still = Moving { velocity: vec![0.0; from.velocity.len()], ..from.clone() };
        let mut last = still.clone();
        for candidate in found.into_iter().chain([still]) {
            let mut way: Vec<f64> = (0..self.model.len())
                .map(|i| candidate.position.minus(&from.position, i))
                .collect();
            let alone: Vec<Vector<3>> = unknowns.iter().map(|&i| at(&way, i)).collect();
            let mut zones = Zones::new(unknowns.iter().map(|&i| self.model.fixed()[i]));
            let mut go = alone.clone();
            loop {
                let end: Vec<Vector<3>> = start.iter().zip(&go).map(|(x, d)| x + d).collect();
                let met = self.source.collisions(&start, &end, from.time, to)?;
                let mut grown = false;
                for collision in &met {
                    grown |= zones.join(collision);
                }
                if !grown {
                    break;
                }
                let carry = |c: u32, v: usize| self.source.carried(c, &start[v], from.time, to);
                go = zones.displacements(&alone, &masses, carry);
            }
            for (&i, d) in unknowns.iter().zip(&go) {
                way[i..i + 3].copy_from_slice(d.as_slice());
            }
            let mut after = candidate;
            from.position.advanced_into(&way, 1.0, &mut after.position);
            after.velocity = way.iter().map(|d| d / dt).collect();
            if self.spends(from, &after, dt) {
                report.held += zones.len();
                report.frozen += usize::from(zones.len() == unknowns.len());
                self.work.timings.detection += clock.elapsed();
                return Ok(after);
            }
            last = after;
        }
        // Not even what stood still gained nothing: a collider has pushed it, and that work is not counted.
        report.frozen += 1;
        self.work.timings.detection += clock.elapsed();
        Ok(last)
    }

    fn gather(&mut self, position: &State) {
        self.positions.clear();
        let vertices = self.model.vertices().iter();
        self.positions.extend(vertices.map(|&v| self.model.position(position, v)));
    }

    /// Elastic, load and damping forces \[N\].
    fn smooth_force(&self, at: &Moving) -> Vec<f64> {
        let mut force = vec![0.0; self.model.len()];
        self.model.gradient(&at.position, &mut force);
        for i in 0..force.len() {
            force[i] = -force[i] - self.damping.mass * self.model.masses()[i] * at.velocity[i];
        }
        force
    }

    fn stage(
        &mut self,
        stage: &Stage,
        report: &mut StepReport,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Moving, SimError> {
        // First guess: as before, changing as before; not across an impact.
        let smooth = self.before.as_ref().filter(|_| self.warm.is_empty());
        let again = std::mem::take(&mut self.again) && self.tau == stage.tau;
        self.tau = stage.tau;
        for i in (0..self.delta.len()).filter(|_| !again) {
            let v = self.moving.velocity[i];
            let change = smooth.map_or(0.0, |before| 0.5 * (v - before.velocity[i]));
            self.delta[i] = if self.model.fixed()[i] { 0.0 } else { stage.tau * (v + change) };
        }
        let mut position = stage.base.clone();
        let (mut total, mut last) = (StepReport::default(), StageReport::default());
        self.rows.clear();
        stage.base.advanced_into(&self.delta, 1.0, &mut position);
        self.look(&position, stage.time, stage.tau)?;
        for round in 0..LOOKS {
            if !go_on() {
                return Err(SimError::Stopped);
            }
            self.adopt(&position, stage, round == 0);
            let problem = StageProblem {
                model: &self.model,
                stage,
                damping: self.damping,
                settings: &self.settings,
                unit: self.unit,
                fall: self.fall(stage.tau),
            };
            let solved =
                problem.solve(&mut self.system, &mut self.work, &mut self.rows, &mut self.delta)?;
            total.iterations += solved.iterations;
            total.factorisations += solved.factorisations;
            last = solved;
            stage.base.advanced_into(&self.delta, 1.0, &mut position);
            self.look(&position, stage.time, stage.tau)?;
            if !solved.residual.is_finite()
                || round + 1 == LOOKS
                || !self.looks_different(stage, &solved)
            {
                break;
            }
            self.warm.clear();
            for row in self.rows.iter().filter(|row| !row.past) {
                self.warm.insert(row.key(), row.held());
            }
        }
        if self.misses() {
            last.law_error = f64::INFINITY;
        }
        let tau = stage.tau;
        let mut velocity: Vec<f64> = self.delta.iter().map(|d| d / tau).collect();
        // What goes with its collider to the last bit has its velocity, too, which (v τ)/τ need not be.
        for row in self.rows.iter().filter(|r| r.nodal && r.status == ContactStatus::Stick) {
            let (i, v) = (row.unknowns[0], row.contact.velocity);
            if (0..3).all(|k| self.delta[i + k] == v[k] * tau) {
                velocity[i..i + 3].copy_from_slice(v.as_slice());
            }
        }
        self.forces.clear();
        self.warm.clear();
        for row in &self.rows {
            if row.status != ContactStatus::Open {
                if !row.past {
                    self.warm.insert(row.key(), row.held());
                }
                self.forces.push(ContactForce {
                    contact: row.contact,
                    force: row.world(&row.force),
                    velocity: row.sum(&velocity) - row.contact.velocity,
                    status: row.status,
                });
            }
        }
        self.touched |= !self.forces.is_empty();
        report.absorb(&StepReport {
            converged: last.converged,
            residual: last.residual,
            law_error: last.law_error,
            mean_law_error: last.mean_law_error,
            candidates: self.rows.len(),
            contacts: self.forces.len(),
            ..total
        });
        Ok(Moving { time: stage.time, position, velocity })
    }

    /// How far a vertex falls in a time, within reason: the measure of displacements \[m\].
    fn fall(&self, tau: f64) -> f64 {
        (self.unit * tau * tau).min(FARTHEST * self.size)
    }

    /// Finds the contacts near a position.
    fn look(&mut self, position: &State, time: f64, tau: f64) -> Result<(), SimError> {
        let clock = Instant::now();
        self.gather(position);
        // What the guess may be wrong by: the fall in a stage, and the last change of velocity once more.
        let change = self.before.as_ref().map_or(0.0, |before| {
            let pairs = self.moving.velocity.iter().zip(&before.velocity);
            pairs.map(|(v, w)| (v - w).abs()).fold(0.0, f64::max)
        });
        let reach = 2.0 * self.fall(tau) + tau * change;
        self.contacts.clear();
        if self.positions.iter().all(|p| p.iter().all(|x| x.is_finite())) {
            self.source.contacts(&self.positions, time, reach, &mut self.contacts)?;
        }
        self.work.timings.detection += clock.elapsed();
        Ok(())
    }

    /// Whether edges or faces are in a collider deeper than what held them allows.
    fn misses(&self) -> bool {
        let floors = self.floors();
        self.contacts.iter().filter(|c| is_between(c)).any(|c| {
            let floor = floors.get(&c.key).or(self.inside.get(&c.key)).copied().unwrap_or(0.0);
            c.gap < floor - MISSED
        })
    }

    fn floors(&self) -> HashMap<ContactKey, f64> {
        self.rows.iter().filter(|r| !r.past).map(|r| (r.key(), r.floor)).collect()
    }

    /// Whether the contacts last looked for show that those solved with have turned, come or gone.
    fn looks_different(&self, stage: &Stage, solved: &StageReport) -> bool {
        let part = if solved.converged { CHANGED } else { ROUGHLY };
        let slack = part * self.fall(stage.tau);
        let floors = self.floors();
        let floor = |key: &ContactKey| floors.get(key).copied().unwrap_or(0.0);
        if self.contacts.iter().any(|c| c.gap < floor(&c.key) - slack) {
            return true;
        }
        let gaps: HashMap<ContactKey, f64> = self.contacts.iter().map(|c| (c.key, c.gap)).collect();
        let mut closed = self.rows.iter().filter(|r| !r.past && r.status != ContactStatus::Open);
        closed.any(|r| gaps.get(&r.key()).is_none_or(|gap| (gap - r.floor).abs() > slack))
    }

    /// Makes rows of the contacts last looked for, at a `first` guess or later.
    fn adopt(&mut self, position: &State, stage: &Stage, first: bool) {
        // Vertices that came too close unheld: what is between them may be held with them.
        let held: HashSet<ContactKey> = self.rows.iter().map(Row::key).collect();
        let missed: HashSet<u32> = self
            .contacts
            .iter()
            .filter(|c| c.count == 1 && c.gap < 0.0 && !held.contains(&c.key))
            .map(|c| c.vertices[0])
            .collect();
        // Where the cloth turned on what held it, what was in the way before is in the way still.
        self.rows.retain(|row| row.contact.count > 1 && !row.key().between_layers());
        for row in &mut self.rows {
            row.past = true;
        }
        let rate = 1.0 / (stage.tau * stage.tau);
        for contact in &self.contacts {
            // Between vertices nothing is expected: what comes too close although they are held is found by looking
            // again.
            let between = is_between(contact);
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
            self.rows.retain(|row| !row.past || row.key() != contact.key || !row.is_near(contact));
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
            self.rows.push(row);
        }
        // Contacts that share vertices are solved together; the others each at its vertex.
        self.owners.clear();
        let single = |row: &Row| row.contact.count == 1;
        let apart = self.rows.iter().all(|row| single(row) && self.owners.insert(row.unknowns[0]));
        for row in &mut self.rows {
            row.nodal = apart;
        }
    }
}
