//! One implicit stage: inertia, elasticity and the law of contact together.
//!
//! Newton's method on the balance of forces; each linearised balance is solved under the exact law
//! ([`Linearised`]; [`Cushioned`] where contacts that share vertices do not come to agree).

use std::time::{Duration, Instant};

use toile_energy::Curvature;
use toile_num::{Matrix, parallel};
use toile_solve::SolveError;

use super::cushion::Cushioned;
use super::free::Memory;
use super::integrator::Stage;
use super::linear::Linearised;
use super::proximal::{LARGER, Linear, NEARLY, Proximal};
use super::rolling::Rolling;
use super::rows::{ContactStatus, Row, at, set_apart};
use super::system::{self, System};
use crate::{Model, SimError, State};

/// When a stage counts as solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageSettings {
    /// Largest move that is left, by the lengths of the last steps, in units of the way a vertex falls in a stage. Default 1e-2:
    /// 1e-5 m in a step of 10 ms, a hundredth of what the step itself is wrong by.
    pub tolerance: f64,
    /// Largest violation of the law of contact (Alart–Curnier), in units of the largest force. Default 1e-8.
    pub contact_tolerance: f64,
    /// Acceleration left at which a stage is solved whatever the last step, in units of the load's. Default 1e-6.
    pub balance: f64,
    /// Newton steps at most. One makes the elastic forces linearly implicit, as in most simulators of
    /// cloth; the law of contact is exact all the same. Default 8.
    pub max_iterations: usize,
}

impl Default for StageSettings {
    fn default() -> Self {
        Self { tolerance: 1e-2, contact_tolerance: 1e-8, balance: 1e-6, max_iterations: 8 }
    }
}

/// Where the time of a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimings {
    /// Looking for contacts.
    pub detection: Duration,
    /// Energies, gradients and Hessians.
    pub assembly: Duration,
    /// Factorisations and solves.
    pub factorisation: Duration,
    /// Contact law, rows and the pattern that couples them.
    pub friction: Duration,
}

impl std::ops::AddAssign for StageTimings {
    fn add_assign(&mut self, other: Self) {
        self.detection += other.detection;
        self.assembly += other.assembly;
        self.factorisation += other.factorisation;
        self.friction += other.friction;
    }
}

/// How a stage went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageReport {
    pub(crate) iterations: usize,
    pub(crate) factorisations: usize,
    pub(crate) converged: bool,
    pub(crate) residual: f64,
    pub(crate) law_error: f64,
    pub(crate) mean_law_error: f64,
    /// Newton steps whose contacts did not agree on their forces.
    pub(crate) disagreements: usize,
    /// Whether all contacts that were found were solved for.
    pub(crate) complete: bool,
}

/// Damping of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Damping {
    /// Force per mass and velocity \[1/s\].
    pub(crate) mass: f64,
}

/// Vectors a stage works in, kept from step to step.
pub(crate) struct Workspace {
    pub(super) state: State,
    pub(super) previous: State,
    /// Inertia and elasticity: what contacts must carry \[N\].
    pub(super) balance: Vec<f64>,
    /// The matrix C of internal damping, as it is through the stage, and C δ; empty where nothing is viscous.
    pub(super) viscosity: Vec<f64>,
    pub(super) slowed: Vec<f64>,
    /// Elastic energy and that of the loads at the same place, and half of what internal damping has taken on the way \[J\].
    pub(super) energy: f64,
    /// What contacts that roll add to it.
    pub(super) rolling: Vec<Rolling>,
    /// What of it no contact carries \[N\].
    pub(super) residual: Vec<f64>,
    pub(super) step: Vec<f64>,
    pub(super) correction: Vec<f64>,
    /// A times the correction.
    pub(super) product: Vec<f64>,
    /// δ before the step; the direction of a search.
    pub(super) before: Vec<f64>,
    /// Balance of the linearised problem, less what the contacts of several vertices carry.
    pub(super) linear: Vec<f64>,
    /// Stiffnesses of the contacts in the matrix.
    pub(super) holds: Vec<(usize, Matrix<3, 3>)>,
    /// What a stage without contacts learns.
    pub(super) memory: Memory,
    /// Mass of each unknown, a mean one for angles: what turns residuals into accelerations.
    pub(super) inertia: Vec<f64>,
    pub(crate) timings: StageTimings,
}

impl Workspace {
    pub(crate) fn new(model: &Model) -> Self {
        let n = model.len();
        let total: f64 = model.masses().iter().sum();
        let count = model.masses().iter().filter(|m| **m > 0.0).count().max(1);
        let mean = if total > 0.0 { total / count as f64 } else { 1.0 };
        let inertia = (0..n)
            .map(|i| {
                let m = if model.masses()[i] > 0.0 { model.masses()[i] } else { mean };
                m * model.levers()[i]
            })
            .collect();
        Self {
            state: State::new(vec![0.0; n]),
            previous: State::new(vec![0.0; n]),
            balance: vec![0.0; n],
            viscosity: if model.is_viscous() {
                vec![0.0; model.pattern().nnz()]
            } else {
                Vec::new()
            },
            slowed: if model.is_viscous() { vec![0.0; n] } else { Vec::new() },
            energy: 0.0,
            rolling: Vec::new(),
            residual: vec![0.0; n],
            step: vec![0.0; n],
            correction: vec![0.0; n],
            product: vec![0.0; n],
            before: vec![0.0; n],
            linear: vec![0.0; n],
            holds: Vec::new(),
            memory: Memory::default(),
            inertia,
            timings: StageTimings::default(),
        }
    }
}

/// A stage with everything it needs.
pub(crate) struct StageProblem<'a> {
    pub(crate) model: &'a Model,
    pub(crate) stage: &'a Stage,
    pub(crate) damping: Damping,
    pub(crate) settings: &'a StageSettings,
    /// Acceleration in which residuals are measured \[m/s²\].
    pub(crate) unit: f64,
    /// How far a vertex falls in the stage, the measure of displacements \[m\].
    pub(crate) fall: f64,
    /// Whether contacts will not be looked for again.
    pub(crate) last_look: bool,
}

/// Parts of the inertia that are added where the Hessian is not positive definite, one after the other.
pub(super) const SHIFTS: [f64; 8] = [0.0, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6];

/// Newton steps after which contacts that do not agree are left to shorter steps.
const DISAGREEMENTS: usize = 2;

/// What may be left of the balance where something slides, over the largest force: what a move leaves says little there, for
/// friction is small beside the stiffness, and errors of one sign would add up.
const EVEN: f64 = 1e-6;

/// Length of a Newton step, in units of the fall, up to which its contacts are worth to be gone on with.
const SETTLED: f64 = 1.0;

/// How often contacts that were left out of the last linearised problem are taken in.
const MISSES: usize = 8;

/// Mean acceleration that may be left of a linearised balance that is not factorised, in units of the load's and of the tolerance of the law:
/// what is off by a thousandth of the load is found displaced by a thousandth of the fall. Before the last one a part of what the first step
/// leaves is enough, too.
const LEFT: f64 = 100.0;
const LEFT_FIRST: f64 = 0.02;

/// Change of a displacement at which contacts obey the law, in units of its tolerance and of the fall.
const STILL: f64 = 0.1;

/// What more may be left where it goes no further, in units of what may be left.
const FAR: f64 = 10.0;

/// √(stiffness/inertia) up to which a linearised balance is not factorised where contacts share vertices, and where these are so many that the
/// factorised way is slow, too. Elsewhere a few steps tell whether the forces that are there already do.
const STIFFEST: f64 = 60.0;
const STIFFEST_OF_MANY: f64 = 300.0;
const FEW_STEPS: usize = 30;

/// What the core may leave out of the matrix of a linearised problem, in units of the inertia.
const LEFT_OUT: f64 = 3.0;

impl StageProblem<'_> {
    /// Balance at δ.
    pub(super) fn balance(&self, delta: &[f64], work: &mut Workspace) {
        let clock = Instant::now();
        let (model, stage, tau) = (self.model, self.stage, self.stage.tau);
        stage.base.advanced_into(delta, 1.0, &mut work.state);
        work.energy = model.energy_and_gradient(&work.state, &mut work.balance);
        let masses = model.masses();
        for i in 0..delta.len() {
            let v = delta[i] / tau;
            let damped = (v - stage.velocity[i]) + tau * self.damping.mass * v;
            work.balance[i] += (masses[i] * damped - stage.impulse[i]) / tau;
        }
        if self.model.is_viscous() {
            model.pattern().multiply(&work.viscosity, delta, &mut work.slowed);
            for ((b, s), d) in work.balance.iter_mut().zip(&work.slowed).zip(delta) {
                *b += s / tau;
                work.energy += 0.5 * s * d / tau;
            }
        }
        for roll in &work.rolling {
            work.energy += roll.add_to(work.state.coordinates(), &mut work.balance);
        }
        self.model.clear_fixed(&mut work.balance);
        work.timings.assembly += clock.elapsed();
    }

    /// Prepares internal damping for the stage.
    ///
    /// Its matrix is that of one state throughout: what strains the cloth as it is, resisted by velocities along the stage, so the stage has a
    /// potential and loses energy whatever it does. That state is where the stage begins or, for a scheme of second order, where it
    /// would end if nothing changed the velocity, which is off by the square of the step only.
    fn begin_damping(&self, work: &mut Workspace) {
        if !self.model.is_viscous() {
            return;
        }
        let clock = Instant::now();
        let base = &self.stage.base;
        if self.stage.second_order {
            base.advanced_into(&self.stage.velocity, self.stage.tau, &mut work.state);
            self.model.viscosity(&work.state, &mut work.viscosity);
        }
        // What would end in a face without area says nothing.
        if !self.stage.second_order || work.viscosity.iter().any(|v| !v.is_finite()) {
            self.model.viscosity(base, &mut work.viscosity);
        }
        work.timings.assembly += clock.elapsed();
    }

    /// Forces of the contacts, those at single vertices from the balance there; the residual is what
    /// they leave.
    pub(super) fn split(&self, delta: &[f64], rows: &mut [Row], work: &mut Workspace) {
        work.residual.copy_from_slice(&work.balance);
        for row in rows.iter().filter(|r| !r.nodal) {
            row.scatter(&row.force, -1.0, &mut work.residual);
        }
        for row in rows.iter_mut().filter(|r| r.nodal) {
            let d = row.displacement(work.state.coordinates(), delta, self.stage.tau);
            let local = row.local(&at(&work.residual, row.unknowns[0]));
            row.force = row.obeyed(&local, &d, self.floor());
            row.scatter(&row.force, -1.0, &mut work.residual);
        }
        self.model.clear_fixed(&mut work.residual);
    }

    /// Slide that counts as none \[m\].
    pub(super) fn floor(&self) -> f64 {
        1e-7 * self.fall
    }

    /// Load on a mean vertex \[N\].
    pub(super) fn weight(&self) -> f64 {
        self.unit * self.model.masses().iter().sum::<f64>() / self.model.len().max(1) as f64
    }

    /// Largest acceleration left, in units of the load's.
    pub(super) fn size(&self, residual: &[f64], inertia: &[f64]) -> f64 {
        let mut largest = 0.0f64;
        for (r, m) in residual.iter().zip(inertia) {
            let a = (r / m).abs();
            if a.is_nan() {
                return f64::INFINITY;
            }
            largest = largest.max(a);
        }
        largest / self.unit
    }

    /// Largest and mean violation of the law by the forces and displacements of the contacts, over the largest force. What is left
    /// of the balance at a vertex that slides is an error of elasticity there, as anywhere else.
    fn violation(&self, rows: &[Row], state: &State, delta: &[f64]) -> [f64; 2] {
        if rows.is_empty() {
            return [0.0; 2];
        }
        let (mut largest, mut worst, mut sum) = (0.0f64, 0.0f64, 0.0f64);
        for row in rows {
            let d = row.displacement(state.coordinates(), delta, self.stage.tau);
            largest = largest.max(row.force.norm());
            let error = row.law_error(&d);
            worst = worst.max(error);
            sum += error;
        }
        let unit = largest.max(self.weight());
        [worst / unit, sum / (rows.len() as f64 * unit)]
    }

    /// What is left of the balance at vertices that slide, over the largest force.
    fn unevenness(&self, rows: &[Row], residual: &[f64]) -> f64 {
        let (mut largest, mut left) = (self.weight(), 0.0f64);
        for row in rows.iter().filter(|r| r.nodal) {
            largest = largest.max(row.force.norm());
            if row.status == ContactStatus::Slip {
                left = left.max(at(residual, row.unknowns[0]).norm());
            }
        }
        left / largest
    }

    /// Newton's method from `delta`, which it replaces; contact forces are left in the rows. Asked before each linearised balance whether to go on:
    /// with thousands of contacts one takes a second.
    pub(crate) fn solve(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &mut [f64],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<StageReport, SimError> {
        let mut report = StageReport { complete: Row::any_shared(rows), ..StageReport::default() };
        self.begin_damping(work);
        work.rolling = Rolling::of(rows);
        if !report.complete {
            self.prepare(system, work, rows);
        }
        if rows.is_empty() {
            return self.solve_free(system, work, delta);
        }
        let mut moved = f64::INFINITY;
        let mut outer = 0;
        self.balance(delta, work);
        loop {
            let clock = Instant::now();
            self.split(delta, rows, work);
            report.residual = self.size(&work.residual, &work.inertia);
            [report.law_error, report.mean_law_error] = self.violation(rows, &work.state, delta);
            work.timings.friction += clock.elapsed();
            report.converged = (report.residual <= self.settings.balance
                || moved <= self.settings.tolerance)
                && report.law_error <= self.settings.contact_tolerance
                && self.unevenness(rows, &work.residual) <= EVEN;
            let last =
                outer >= self.settings.max_iterations || report.disagreements >= DISAGREEMENTS;
            if last && !report.converged && report.residual.is_finite() {
                // The elastic forces are those of the linearised problem, and so are the contacts'.
                for row in rows.iter_mut().filter(|r| r.nodal) {
                    row.force = row.planned;
                }
                [report.law_error, report.mean_law_error] =
                    self.violation(rows, &work.state, delta);
            }
            if report.converged || last || !report.residual.is_finite() {
                self.settle(work, rows, delta);
                return Ok(report);
            }
            if outer > 0 && !go_on() {
                return Err(SimError::Stopped);
            }
            report.iterations += 1;
            outer += 1;
            self.linearise(system, work, outer > 1, Curvature::Positive);
            let final_step = outer >= self.settings.max_iterations;
            if report.complete && !self.proximal_step(system, work, rows, delta, final_step) {
                report.complete = false;
                self.prepare(system, work, rows);
            }
            if !report.complete {
                self.newton_step(system, work, rows, delta, final_step, &mut report)?;
            }
            std::mem::swap(&mut work.previous, &mut work.state);
            // The last step is taken whole: it obeys the law.
            let free = outer > 1 && outer < self.settings.max_iterations;
            moved = self.advance(work, rows, delta, free, report.residual);
            let settled = (self.settings.tolerance..=SETTLED).contains(&moved);
            if settled && outer < self.settings.max_iterations && !Row::any_shared(rows) {
                moved = self.carry_on(system, work, rows, delta, moved, &mut report);
            }
        }
    }

    /// What sticks moves with its collider to the last bit: rounding must not add up to creep.
    fn settle(&self, work: &mut Workspace, rows: &[Row], delta: &mut [f64]) {
        for row in rows.iter().filter(|r| r.nodal && r.status == ContactStatus::Stick) {
            let i = row.unknowns[0];
            let along = row.contact.velocity * self.stage.tau;
            if (at(delta, i) - along).norm() <= 1e-2 * self.floor() {
                for k in 0..3 {
                    delta[i + k] = along[k];
                }
            }
        }
        self.stage.base.advanced_into(delta, 1.0, &mut work.state);
    }

    /// Goes along the step as far as it pays; returns the move in units of the fall.
    fn advance(
        &self,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &mut [f64],
        free: bool,
        residual: f64,
    ) -> f64 {
        let length = work.step.iter().fold(0.0f64, |a, b| a.max(b.abs())) / self.fall;
        work.before.copy_from_slice(delta);
        let energy = work.energy;
        let mut merit = None;
        let mut scale = 1.0;
        loop {
            for i in 0..delta.len() {
                delta[i] = work.before[i] + scale * work.step[i];
            }
            self.balance(delta, work);
            // The first step leaves a guess that need not obey anything; short ones are the last.
            if !free || scale * length <= self.settings.tolerance || scale < 0.1 {
                break;
            }
            self.split(delta, rows, work);
            if self.size(&work.residual, &work.inertia) <= 0.5 * residual {
                break;
            }
            let at = *merit
                .get_or_insert_with(|| self.merit(&work.before, rows, &work.previous, energy));
            let there = self.merit(delta, rows, &work.state, work.energy);
            if there <= at + 1e-12 * at.abs() {
                break;
            }
            scale *= 0.5;
        }
        scale * length
    }

    /// Potential of the increment that leads to `state`, which has this `energy`, friction at its present bounds included \[J\].
    pub(super) fn merit(&self, delta: &[f64], rows: &[Row], state: &State, energy: f64) -> f64 {
        let (stage, tau) = (self.stage, self.stage.tau);
        let mut sum = energy;
        for i in 0..delta.len() {
            let m = self.model.masses()[i];
            let v = delta[i] / tau;
            let dv = v - stage.velocity[i];
            sum += 0.5 * m * (dv * dv + tau * self.damping.mass * v * v) - stage.impulse[i] * v;
        }
        for row in rows {
            let d = row.displacement(state.coordinates(), delta, tau);
            let normal = row.force[0].max(0.0);
            sum += row.contact.friction * normal * d[1].hypot(d[2]);
            if !row.nodal {
                sum -= normal * d[0]; // held to a few digits only
            }
        }
        sum
    }

    /// Makes room for the contacts in the matrix.
    fn prepare(&self, system: &mut System, work: &mut Workspace, rows: &[Row]) {
        let clock = Instant::now();
        system.prepare(self.model, rows);
        work.timings.friction += clock.elapsed();
    }

    /// Elastic Hessian at the present state, after a move along it too if there was one.
    pub(super) fn linearise(
        &self,
        system: &mut System,
        work: &mut Workspace,
        moved: bool,
        curvature: Curvature,
    ) {
        let clock = Instant::now();
        // A first guess turns edges as a step does, from where the stage began.
        let before = if moved { &work.previous } else { &self.stage.base };
        self.model.secant_hessian(&work.state, before, curvature, &mut system.elastic);
        for (e, c) in system.elastic.iter_mut().zip(&work.viscosity) {
            *e += c / self.stage.tau;
        }
        for roll in &work.rolling {
            roll.stiffen(self.model.pattern(), self.model.fixed(), &mut system.elastic);
        }
        work.timings.assembly += clock.elapsed();
    }

    /// What makes inertia of mass, damping included \[1/s²\].
    fn rate(&self) -> f64 {
        let tau = self.stage.tau;
        1.0 / (tau * tau) + self.damping.mass / tau
    }

    /// The matrix of the linearised balance; the shift is more inertia, in parts of what there is.
    pub(super) fn assemble(
        &self,
        system: &mut System,
        work: &mut Workspace,
        shift: f64,
        slack: f64,
    ) -> Result<f64, SimError> {
        let clock = Instant::now();
        let model = self.model;
        let rate = (1.0 + shift) * self.rate();
        let left_out = system.assemble(model, |i| model.masses()[i] * rate, slack)?;
        work.timings.assembly += clock.elapsed();
        Ok(left_out)
    }

    /// The step to the solution of the linearised balance under the exact law, into `work.step`, without a factorisation. `false` where that
    /// would take too long, or did.
    fn proximal_step(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &[f64],
        last: bool,
    ) -> bool {
        let clock = Instant::now();
        let (model, tau) = (self.model, self.stage.tau);
        let rate = self.rate();
        system.set_inertia(model, |i| model.masses()[i] * rate);
        let matrix = system.blocked(model);
        let linear = Linear {
            matrix,
            balance: &work.balance,
            coordinates: work.state.coordinates(),
            masses: &work.inertia,
            fixed: model.fixed(),
            unit: self.unit,
            // A vertex whose contact yields by the fall carries its weight less or more.
            still: if last {
                STILL * self.settings.contact_tolerance * self.fall
            } else {
                f64::INFINITY
            },
            root: (LARGER * matrix.stiffness_over(|i| work.inertia[i] * rate)).sqrt(),
            // What the elastic forces are off by after the first is more.
            tolerance: [
                LEFT * self.settings.contact_tolerance,
                if last { 0.0 } else { LEFT_FIRST },
            ],
        };
        let start = |row: &Row| row.displacement(work.state.coordinates(), delta, tau);
        let stiffest = if system::are_many(rows) { STIFFEST_OF_MANY } else { STIFFEST };
        let most = if linear.root <= stiffest { linear.most_steps() } else { FEW_STEPS };
        // It shares its work a thousand times.
        let done = parallel::within(|| {
            Proximal::new(&linear, rows, start).is_some_and(|mut found| {
                let [left, part] = found.solve(rows, start, most);
                let done = left <= FAR || part <= NEARLY;
                if done {
                    found.finish(rows, &mut work.step);
                }
                done
            })
        });
        work.timings.friction += clock.elapsed();
        done
    }

    /// The step to the solution of the linearised balance under the exact law, into `work.step`.
    fn newton_step(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &[f64],
        last: bool,
        report: &mut StageReport,
    ) -> Result<(), SimError> {
        let tau = self.stage.tau;
        // What pierces is taken to touch.
        for row in rows.iter_mut() {
            let d = row.displacement(work.state.coordinates(), delta, tau);
            if row.status == ContactStatus::Open && d[0] < 1e-6 * self.fall {
                row.status = ContactStatus::Stick;
            }
        }
        // The positive part; that with more inertia, until it is positive definite. A shift makes the step shorter,
        // not wrong. Sweeps over contacts need a matrix that is positive definite without them, so the exact one is
        // not tried.
        let mut outcome = Ok(true);
        for shift in SHIFTS {
            // Conjugate gradients make up for what the core leaves out.
            let slack = if Row::any_shared(rows) { f64::INFINITY } else { LEFT_OUT };
            self.assemble(system, work, shift, slack)?;
            outcome = self.solve_linearised(system, work, rows, delta, last, report);
            if let Ok(false) = outcome {
                for row in rows.iter_mut() {
                    row.force = row.planned;
                    row.bound = row.contact.friction * row.planned[0].max(0.0);
                    (row.nodal, row.likely) = (false, true);
                }
                let mut problem = Cushioned::new(self, system, work, rows, delta);
                outcome = problem.solve(last, report).map(|()| true).map_err(SimError::from);
            }
            if !matches!(outcome, Err(SimError::Solve(SolveError::NotPositiveDefinite { .. }))) {
                break;
            }
            // Contacts that were cushioned are told apart again, and have their places in the matrix.
            set_apart(rows);
            system.prepare(self.model, rows);
        }
        outcome.map(|_| ())
    }

    /// The linearised problem, with more and more contacts until none that was left out pierces. Whether those that share vertices
    /// came to agree.
    fn solve_linearised(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &[f64],
        last: bool,
        report: &mut StageReport,
    ) -> Result<bool, SimError> {
        for round in 1.. {
            let mut problem = Linearised::new(self, system, work, rows, delta);
            problem.solve(last, report)?;
            // A guess need not be lawful.
            if last && !problem.is_lawful() {
                return Ok(false);
            }
            if !problem.missed() {
                break;
            }
            set_apart(rows);
            system.prepare(self.model, rows);
            // Another step or look has them, and assembles anew.
            if !(last && self.last_look) || round == MISSES {
                break;
            }
            let clock = Instant::now();
            system.fill(self.model, f64::INFINITY)?;
            work.timings.friction += clock.elapsed();
        }
        Ok(true)
    }
}
