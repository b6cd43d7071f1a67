//! Steps in time.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use toile_contact::{Contact, ContactKey};
use toile_num::Vector;

use super::integrator::{ALPHA, Integrator, Moving, Stage};
use super::report::{Energies, StepReport};
use super::rows::{ContactForce, ContactStatus, Held, Row};
use super::source::ContactSource;
use super::stage::{Damping, StageProblem, StageReport, StageSettings, StageTimings, Workspace};
use super::system::System;
use crate::{Model, SimError, State};

/// Shortest part a step is cut into, as a fraction.
const SHORTEST: usize = 8;

/// How often the contacts of a stage are looked for at most.
const LOOKS: usize = 5;

/// How often a part of a step is taken again with what met on its way, before it is cut.
const MEETINGS: usize = 3;

/// Violation of the law up to which a step is accepted, in units of the largest force.
const LAWFUL: f64 = 1e-2;

/// Energy that a step of second order may make where nothing touches, over the kinetic energy before it: the error of the scheme, which is
/// far below where the motion is resolved. What makes more (a stiff sheet stopped by its pins) is taken again.
const WOBBLE: f64 = 0.01;

/// A model in motion.
pub struct Simulator<S> {
    pub(super) model: Model,
    pub(super) source: S,
    pub(super) integrator: Integrator,
    pub(super) settings: StageSettings,
    pub(super) damping: Damping,
    pub(super) moving: Moving,
    pub(super) before: Option<Moving>,
    pub(super) forces: Vec<ContactForce>,
    pub(super) warm: HashMap<ContactKey, Held>,
    pub(super) system: System,
    pub(super) work: Workspace,
    pub(super) rows: Vec<Row>,
    pub(super) contacts: Vec<Contact>,
    /// What met on the way when the part was taken before, and gap less normal times places \[m\].
    pub(super) met: Vec<(Contact, f64)>,
    /// What was found of the same pairs at the last look.
    pub(super) replaced: Vec<Contact>,
    pub(super) positions: Vec<Vector<3>>,
    /// What the last change of velocity makes of a stage, for each vertex \[m\].
    pub(super) changes: Vec<f64>,
    pub(super) delta: Vec<f64>,
    /// Length of the stage it was found for \[s\], and whether it is a guess for the next.
    pub(super) tau: f64,
    pub(super) again: bool,
    /// Gaps of the edges and faces that were in colliders when the last part of a step ended \[m\].
    pub(super) inside: HashMap<ContactKey, f64>,
    /// Whether anything touched in a stage of the step.
    pub(super) touched: bool,
    pub(super) unit: f64,
    /// Of the model at its start \[m\].
    pub(super) size: f64,
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
            met: Vec::new(),
            replaced: Vec::new(),
            positions: Vec::new(),
            changes: Vec::new(),
            delta: vec![0.0; n],
            tau: 0.0,
            again: false,
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
    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    /// What finds the contacts, to be changed.
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

    /// Tells which forces contacts are expected to carry at first \[N, on their first side\]: those of an equilibrium from which nothing is to move.
    pub fn expect(&mut self, forces: impl IntoIterator<Item = (ContactKey, Vector<3>)>) {
        let held = |force| Held { force, status: ContactStatus::Stick };
        self.warm.extend(forces.into_iter().map(|(key, force)| (key, held(force))));
    }

    /// Acceleration that the loads give \[m/s²\].
    pub(crate) fn unit(&self) -> f64 {
        self.unit
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

    pub(super) fn energies_of(&self, at: &Moving) -> Energies {
        Energies { kinetic: self.kinetic_energy(at), potential: self.model.energy(&at.position) }
    }

    fn kinetic_energy(&self, at: &Moving) -> f64 {
        at.velocity.iter().zip(self.model.masses()).map(|(v, m)| 0.5 * m * v * v).sum()
    }

    /// Takes a step of `h` seconds.
    ///
    /// A part that fails (the law of contact unsolved, a collision missed, energy from nowhere, a face collapsed) is
    /// taken again in halves, by implicit Euler.
    pub fn step(&mut self, h: f64) -> Result<StepReport, SimError> {
        self.whole_step(h, &mut || true)
    }

    /// [`step`](Self::step), asking before each part of it, each look for contacts and each of its Newton steps whether to go on. `None` when it was to stop:
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
        let mut meetings = 0;
        self.met.clear();
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
            // too late; schemes of second order may, across impacts, and a little anywhere.
            let between = self.forces.iter().any(|f| f.contact.count > 1);
            let touched = self.touched || !kept.1.is_empty();
            let euler = self.integrator == Integrator::ImplicitEuler;
            let tame = trial.converged && euler && !(touched && between);
            let wobbles = trial.converged && !touched;
            let beside = if wobbles { WOBBLE * self.kinetic_energy(&from) } else { 0.0 };
            let lawful = trial.law_error <= LAWFUL
                && trial.residual.is_finite()
                && after.as_ref().is_none_or(|a| tame || self.spends(&from, a, dt, beside));
            let mut safe = 1.0;
            if let Some(after) = after.as_mut().filter(|_| lawful) {
                let clock = Instant::now();
                safe = self.safe_part(&from, after)?;
                self.work.timings.detection += clock.elapsed();
            }
            let after_failure = after.clone().filter(|_| trial.residual.is_finite());
            let good = after.is_some() && lawful && safe >= 1.0;
            // What passes through something is told what it meets before the whole part is cut for it.
            if safe < 1.0
                && meetings < MEETINGS
                && let Some(after) = &after
                && self.meets(&from, after)?
            {
                meetings += 1;
                self.again = true;
                report.iterations += trial.iterations;
                report.factorisations += trial.factorisations;
                continue;
            }
            meetings = 0;
            self.met.clear();
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
                let middle = self.stage(&Stage::sdirk2_first(from, h), report, go_on)?;
                let force = self.smooth_force_after(&middle);
                self.stage(&Stage::sdirk2(from, &middle, &force, h).until(to), report, go_on)
            }
        }
    }

    pub(super) fn gather(&mut self, position: &State) {
        self.positions.clear();
        let vertices = self.model.vertices().iter();
        self.positions.extend(vertices.map(|&v| self.model.position(position, v)));
    }

    /// Elastic, load and damping forces \[N\].
    pub(super) fn smooth_force(&mut self, at: &Moving) -> Vec<f64> {
        if self.model.is_viscous() {
            self.model.viscosity(&at.position, &mut self.work.viscosity);
        }
        self.smooth_force_after(at)
    }

    /// The same with the matrix of internal damping of the stage before: what was solved with one must not be asked with another, for what
    /// the sheet does not strain in the first it may in the second, and that is stiff.
    fn smooth_force_after(&mut self, at: &Moving) -> Vec<f64> {
        let mut force = vec![0.0; self.model.len()];
        self.model.gradient(&at.position, &mut force);
        for i in 0..force.len() {
            force[i] = -force[i] - self.damping.mass * self.model.masses()[i] * at.velocity[i];
        }
        if self.model.is_viscous() {
            let mut slowed = vec![0.0; force.len()];
            let matrix = &self.work.viscosity;
            self.model.pattern().multiply(matrix, &at.velocity, &mut slowed);
            force.iter_mut().zip(&slowed).for_each(|(f, s)| *f -= s);
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
            // Another look is after contacts: elasticity has had its steps, and those that share vertices are dear.
            let mut settings = self.settings;
            if (round > 0 || !self.met.is_empty()) && Row::any_shared(&self.rows) {
                settings.max_iterations = settings.max_iterations.div_ceil(2);
            }
            let problem = StageProblem {
                model: &self.model,
                stage,
                damping: self.damping,
                settings: &settings,
                unit: self.unit,
                fall: self.fall(stage.tau),
                last_look: round + 1 == LOOKS,
            };
            let solved = problem.solve(
                &mut self.system,
                &mut self.work,
                &mut self.rows,
                &mut self.delta,
                go_on,
            )?;
            total.iterations += solved.iterations;
            total.factorisations += solved.factorisations;
            last = solved;
            stage.base.advanced_into(&self.delta, 1.0, &mut position);
            self.look(&position, stage.time, stage.tau)?;
            if !solved.residual.is_finite()
                || round + 1 == LOOKS
                || !self.looks_different(stage, &solved, round)
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
}
