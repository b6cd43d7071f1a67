//! One implicit stage: inertia, elasticity and the law of contact together.
//!
//! Newton's method on the balance of forces; the linearised balance is solved under the exact law.
//! Contacts on colliders sit at single vertices, so their law only ties the unknowns of one vertex: sweeps of
//! exact one-vertex solutions (Gauss–Seidel) find out which contacts open, stick and slip, and a linear solve
//! with those held carries the news through the cloth. The two alternate until nothing changes its mind, which
//! is mostly at once (the pair is that of truncated nonsmooth Newton methods: Gräser, Kornhuber 2009).
//! Contacts that tie several vertices (inside faces and edges, between layers) carry their forces explicitly;
//! a linear solve holds them by a stiffness and the forces it takes, refined until they yield no more
//! (augmented Lagrangians: Alart, Curnier 1991).

use std::time::{Duration, Instant};

use toile_energy::Curvature;
use toile_num::{Matrix, Vector};
use toile_solve::SolveError;

use super::integrator::Stage;
use super::rows::{ContactStatus, Row, alone, at};
use super::system::{Neighbourhood, System};
use crate::{Model, SimError, State};

/// When a stage counts as solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageSettings {
    /// Largest move in the last Newton step, in units of the way a vertex falls in a stage. Default 1e-2:
    /// 1e-5 m in a step of 10 ms; the error is smaller, by the rate of convergence.
    pub tolerance: f64,
    /// Largest violation of the law of contact (Alart–Curnier), in units of the largest force. Default 1e-8.
    pub contact_tolerance: f64,
    /// Newton steps at most. One makes the elastic forces linearly implicit, as in most simulators of
    /// cloth; the law of contact is exact all the same. Default 8.
    pub max_iterations: usize,
}

impl Default for StageSettings {
    fn default() -> Self {
        Self { tolerance: 1e-2, contact_tolerance: 1e-8, max_iterations: 8 }
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

impl StageTimings {
    /// Sum of all parts.
    pub fn total(&self) -> Duration {
        self.detection + self.assembly + self.factorisation + self.friction
    }
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
}

/// Damping of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Damping {
    /// Force per mass and velocity \[1/s\].
    pub(crate) mass: f64,
}

/// Vectors a stage works in, kept from step to step.
pub(crate) struct Workspace {
    state: State,
    previous: State,
    /// Inertia and elasticity: what contacts must carry \[N\].
    balance: Vec<f64>,
    /// What of it no contact carries \[N\].
    residual: Vec<f64>,
    step: Vec<f64>,
    correction: Vec<f64>,
    /// A times the correction.
    product: Vec<f64>,
    /// δ before the step.
    before: Vec<f64>,
    /// Balance of the linearised problem, less what the contacts of several vertices carry.
    linear: Vec<f64>,

    /// Mass of each unknown, a mean one for angles: what turns residuals into accelerations.
    inertia: Vec<f64>,
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
            residual: vec![0.0; n],
            step: vec![0.0; n],
            correction: vec![0.0; n],
            product: vec![0.0; n],
            before: vec![0.0; n],
            linear: vec![0.0; n],

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
}

/// Stiffness by which a contact holds its vertex in a linear solve, in units of the stiffness there: it
/// yields by one part in a million, which the next sweep takes back.
const HOLD: f64 = 1e6;

/// The same for contacts that tie several vertices: their forces are read from how far they yield, so they
/// must yield visibly.
const HOLD_SEVERAL: f64 = 1e4;

/// Solves with one factorisation at most, while contacts tie several vertices.
const REFINEMENTS: usize = 8;

/// Sweeps over the contacts after the last linear solve, at most.
const SETTLING: usize = 20;

/// Acceleration left, in units of the load's, at which a stage is solved whatever the last step.
const BALANCED: f64 = 1e-6;

/// Linear solves per Newton step at most; what is undecided then is left to the next step.
const ROUNDS: usize = 3;

impl StageProblem<'_> {
    /// Balance at δ.
    fn balance(&self, delta: &[f64], work: &mut Workspace) {
        let clock = Instant::now();
        let (model, stage, tau) = (self.model, self.stage, self.stage.tau);
        stage.base.advanced_into(delta, 1.0, &mut work.state);
        model.gradient(&work.state, &mut work.balance);
        let masses = model.masses();
        for i in 0..delta.len() {
            let v = delta[i] / tau;
            let damped = (v - stage.velocity[i]) + tau * self.damping.mass * v;
            work.balance[i] += (masses[i] * damped - stage.impulse[i]) / tau;
        }
        for (r, fixed) in work.balance.iter_mut().zip(model.fixed()) {
            if *fixed {
                *r = 0.0;
            }
        }
        work.timings.assembly += clock.elapsed();
    }

    /// Forces of the contacts, those at single vertices from the balance there; the residual is what
    /// they leave.
    fn split(&self, delta: &[f64], rows: &mut [Row], work: &mut Workspace) {
        work.residual.copy_from_slice(&work.balance);
        for row in rows.iter().filter(|r| !r.is_nodal()) {
            row.scatter(&row.force, -1.0, &mut work.residual);
        }
        for row in rows.iter_mut().filter(|r| r.is_nodal()) {
            let d = row.displacement(work.state.coordinates(), delta, self.stage.tau);
            let local = row.local(&at(&work.residual, row.unknowns[0]));
            row.force = row.obeyed(&local, &d, self.floor());
            row.scatter(&row.force, -1.0, &mut work.residual);
        }
        for (r, fixed) in work.residual.iter_mut().zip(self.model.fixed()) {
            if *fixed {
                *r = 0.0;
            }
        }
    }

    /// Slide that counts as none \[m\].
    fn floor(&self) -> f64 {
        1e-7 * self.fall()
    }

    /// How far a vertex falls in a stage, the measure of displacements \[m\].
    fn fall(&self) -> f64 {
        self.unit * self.stage.tau * self.stage.tau
    }

    /// Largest acceleration left, in units of the load's.
    fn size(&self, residual: &[f64], inertia: &[f64]) -> f64 {
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

    /// Largest and mean violation of the law, over the largest force.
    ///
    /// What is left of the balance where one vertex carries a contact counts as the contact's, unless
    /// `residual` is empty.
    fn violation(&self, rows: &[Row], state: &State, delta: &[f64], residual: &[f64]) -> [f64; 2] {
        if rows.is_empty() {
            return [0.0; 2];
        }
        let (mut largest, mut worst, mut sum) = (0.0f64, 0.0f64, 0.0f64);
        for row in rows {
            let d = row.displacement(state.coordinates(), delta, self.stage.tau);
            largest = largest.max(row.force.norm());
            let mut error = row.law_error(&d);
            if row.is_nodal() && row.status != ContactStatus::Open && !residual.is_empty() {
                error += at(residual, row.unknowns[0]).norm();
            }
            worst = worst.max(error);
            sum += error;
        }
        let mean = self.model.masses().iter().sum::<f64>() / self.model.len().max(1) as f64;
        let unit = largest.max(mean * self.unit);
        [worst / unit, sum / (rows.len() as f64 * unit)]
    }

    /// Newton's method from `delta`, which it replaces; contact forces are left in the rows.
    pub(crate) fn solve(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &mut [f64],
    ) -> Result<StageReport, SimError> {
        let mut report = StageReport::default();
        let clock = Instant::now();
        system.prepare(self.model, rows)?;
        work.timings.friction += clock.elapsed();
        let mut moved = f64::INFINITY;
        self.balance(delta, work);
        loop {
            let clock = Instant::now();
            self.split(delta, rows, work);
            report.residual = self.size(&work.residual, &work.inertia);
            [report.law_error, report.mean_law_error] =
                self.violation(rows, &work.state, delta, &work.residual);
            work.timings.friction += clock.elapsed();
            report.converged = (report.residual <= BALANCED || moved <= self.settings.tolerance)
                && report.law_error <= self.settings.contact_tolerance;
            let last = report.iterations >= self.settings.max_iterations;
            if last && !report.converged && report.residual.is_finite() {
                // The elastic forces are those of the linearised problem, and so are the contacts'.
                for row in rows.iter_mut().filter(|r| r.is_nodal()) {
                    row.force = row.planned;
                }
                [report.law_error, report.mean_law_error] =
                    self.violation(rows, &work.state, delta, &[]);
            }
            if report.converged || last || !report.residual.is_finite() {
                self.settle(work, rows, delta);
                return Ok(report);
            }
            report.iterations += 1;
            let started = report.iterations > 1;
            self.newton_step(system, work, rows, delta, started, &mut report)?;
            std::mem::swap(&mut work.previous, &mut work.state);
            // The last step is taken whole: it obeys the law.
            let free = started && report.iterations < self.settings.max_iterations;
            moved = self.advance(work, rows, delta, free, report.residual);
        }
    }

    /// What sticks moves with its collider to the last bit: rounding must not add up to creep.
    fn settle(&self, work: &mut Workspace, rows: &[Row], delta: &mut [f64]) {
        for row in rows.iter().filter(|r| r.is_nodal() && r.status == ContactStatus::Stick) {
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
        let length = work.step.iter().fold(0.0f64, |a, b| a.max(b.abs())) / self.fall();
        work.before.copy_from_slice(delta);
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
            let clock = Instant::now();
            let at = *merit.get_or_insert_with(|| self.merit(&work.before, rows, &work.previous));
            let there = self.merit(delta, rows, &work.state);
            work.timings.assembly += clock.elapsed();
            if there <= at + 1e-12 * at.abs() {
                break;
            }
            scale *= 0.5;
        }
        scale * length
    }

    /// Potential of the increment, friction at its present bounds included \[J\].
    fn merit(&self, delta: &[f64], rows: &[Row], state: &State) -> f64 {
        let (stage, tau) = (self.stage, self.stage.tau);
        let mut sum = self.model.energy(state);
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
            if !row.is_nodal() {
                sum -= normal * d[0]; // held to a few digits only
            }
        }
        sum
    }

    /// The step to the solution of the linearised balance under the exact law, into `work.step`.
    fn newton_step(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &[f64],
        started: bool,
        report: &mut StageReport,
    ) -> Result<(), SimError> {
        let tau = self.stage.tau;
        // What pierces is taken to touch.
        for row in rows.iter_mut() {
            let d = row.displacement(work.state.coordinates(), delta, tau);
            if row.status == ContactStatus::Open && d[0] < 1e-6 * self.fall() {
                row.status = ContactStatus::Stick;
            }
        }
        // The exact matrix; its positive part; that with more inertia, until it is positive definite. A shift
        // makes the step shorter, not wrong. Sweeps over contacts need a matrix that is positive definite
        // without them, so with contacts the exact one is not tried.
        let exact = rows.is_empty().then_some((Curvature::Exact, 0.0));
        let positive = (0..8).map(|k| if k == 0 { 0.0 } else { 10f64.powi(k - 1) });
        let tries = exact.into_iter().chain(positive.map(|shift| (Curvature::Positive, shift)));
        let mut last = Ok(());
        for (curvature, shift) in tries {
            last = self.linearised(curvature, shift, system, work, rows, delta, started, report);
            if !matches!(last, Err(SolveError::NotPositiveDefinite { .. })) {
                break;
            }
        }
        Ok(last?)
    }

    /// [`Self::newton_step`] with one matrix.
    fn linearised(
        &self,
        curvature: Curvature,
        shift: f64,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &[f64],
        started: bool,
        report: &mut StageReport,
    ) -> Result<(), SolveError> {
        let (model, tau) = (self.model, self.stage.tau);
        let rate = 1.0 / (tau * tau) + self.damping.mass / tau;
        let clock = Instant::now();
        if started {
            model.secant_hessian(&work.state, &work.previous, curvature, &mut system.elastic);
        } else {
            model.hessian(&work.state, curvature, &mut system.elastic);
        }
        system.assemble(model, |i| model.masses()[i] * rate * (1.0 + shift));
        work.timings.assembly += clock.elapsed();
        work.step.fill(0.0);
        work.linear.copy_from_slice(&work.balance);
        for row in rows.iter().filter(|r| !r.is_nodal()) {
            row.scatter(&row.force, -1.0, &mut work.linear);
        }
        let clock = Instant::now();
        let around: Vec<Around> = rows.iter().map(|row| self.around(system, row)).collect();
        work.timings.friction += clock.elapsed();
        self.factorize(system, work, rows, &around, delta, report)?;
        // What the last Newton step leaves undecided stays so.
        let last = report.iterations >= self.settings.max_iterations;
        let rounds = if last { 2 * ROUNDS } else { ROUNDS };
        for round in 0..rounds {
            let clock = Instant::now();
            let mut changes = self.correct(system, work, rows, &around, delta, round > 0);
            work.timings.factorisation += clock.elapsed();

            if rows.is_empty() {
                break;
            }
            let clock = Instant::now();
            for _ in 0..3 {
                let now = self.sweep(system, work, rows, &around, delta);
                changes += now;
                if now == 0 {
                    break;
                }
            }
            work.timings.friction += clock.elapsed();
            if changes == 0 || round + 1 == rounds {
                break;
            }
            self.factorize(system, work, rows, &around, delta, report)?;
        }
        if last {
            // What the linear solves could not agree on, the contacts settle among themselves.
            let clock = Instant::now();
            for row in rows.iter_mut() {
                row.turned = false;
            }
            for _ in 0..SETTLING {
                if self.sweep(system, work, rows, &around, delta) == 0 {
                    break;
                }
            }
            work.timings.friction += clock.elapsed();
        }
        for row in rows.iter_mut().filter(|r| r.is_nodal()) {
            let d = self.displaced(row, work, delta);
            row.planned = self.carried(row, work, &d);
        }
        Ok(())
    }

    /// The vertices of a contact in A.
    fn around(&self, system: &System, row: &Row) -> Around {
        let count = row.contact.count as usize;
        let mut compliance = Matrix::<3, 3>::zeros();
        let mut soft = [Matrix::<3, 3>::zeros(); 4];
        let mut stiff = 0.0f64;
        for k in 0..count {
            let i = row.unknowns[k];
            if self.model.fixed()[i] {
                continue;
            }
            // A can be softer at a vertex than its inertia where only the contact keeps it from buckling.
            let mut eigen = system.diagonal(i).symmetric_eigen();
            let least = self.model.masses()[i] / (self.stage.tau * self.stage.tau);
            for value in eigen.eigenvalues.iter_mut() {
                *value = value.max(least);
            }
            stiff = stiff.max(eigen.eigenvalues.sum());
            for value in eigen.eigenvalues.iter_mut() {
                *value = 1.0 / *value;
            }
            let inverse = eigen.recompose();
            soft[k] = inverse * row.contact.weights[k];
            compliance += inverse * row.contact.weights[k].powi(2);
        }
        let vertices = (0..count).map(|k| system.neighbourhood(self.model, row.unknowns[k]));
        Around {
            vertices: vertices.collect(),
            soft,
            compliance: row.local_matrix(&compliance),
            stiff,
        }
    }

    /// Factorises A with the closed contacts held.
    fn factorize(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &[Row],
        around: &[Around],
        delta: &[f64],
        report: &mut StageReport,
    ) -> Result<(), SolveError> {
        let clock = Instant::now();
        report.factorisations += 1;
        let work_ref = &*work;
        let closed = rows.iter().zip(around).filter(|(r, _)| r.status != ContactStatus::Open);
        let holds = closed.map(|(row, around)| {
            let d = self.displaced(row, work_ref, delta);
            (row, self.hold(row, around, &self.carried(row, work_ref, &d), &d))
        });
        let outcome = system.factorize(self.model, holds);
        work.timings.factorisation += clock.elapsed();
        outcome
    }

    /// d after the step so far.
    fn displaced(&self, row: &Row, work: &Workspace, delta: &[f64]) -> Vector<3> {
        let d = row.displacement(work.state.coordinates(), delta, self.stage.tau);
        d + row.local(&row.sum(&work.step))
    }

    /// Force of a contact in the linearised problem.
    fn carried(&self, row: &Row, work: &Workspace, d: &Vector<3>) -> Vector<3> {
        if row.is_nodal() {
            let local = row.local(&at(&work.linear, row.unknowns[0]));
            row.obeyed(&local, d, self.floor())
        } else {
            row.obeyed(&row.force, d, self.floor())
        }
    }

    fn holding(&self, row: &Row, around: &Around) -> f64 {
        if row.is_nodal() { HOLD * around.stiff } else { HOLD_SEVERAL * around.stiff }
    }

    /// Stiffness that stands for a closed contact in a linear solve.
    fn hold(&self, row: &Row, around: &Around, force: &Vector<3>, d: &Vector<3>) -> Matrix<3, 3> {
        let stiff = self.holding(row, around);
        let [n, t1, t2] = row.frame;
        if row.status == ContactStatus::Stick {
            return Matrix::identity() * stiff;
        }
        // Friction turns with the slide: −μλ_N d_T/‖d_T‖.
        let length = d[1].hypot(d[2]);
        let radius = row.contact.friction * force[0].max(0.0);
        let mut hold = n * n.transpose() * stiff;
        if radius > 0.0 {
            let [c, s] =
                if length > self.floor() { [d[1] / length, d[2] / length] } else { row.pull };
            let across = t2 * c - t1 * s;
            let turn = (radius / length.max(self.floor())).min(stiff);
            hold += across * across.transpose() * turn;
        }
        hold
    }

    /// Solves for the rest of the step with the contacts held. How many slides it turned back.
    fn correct(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        around: &[Around],
        delta: &[f64],
        checked: bool,
    ) -> usize {
        let ways: Vec<Vector<3>> =
            rows.iter().map(|row| self.way(row, &self.displaced(row, work, delta))).collect();
        // Friction is bounded by the normal forces of before, or the two would chase each other.
        let bounds: Vec<f64> = rows.iter().map(|row| row.force[0].max(0.0)).collect();
        let several = rows.iter().any(|r| !r.is_nodal() && r.status != ContactStatus::Open);
        // Forces of contacts that tie several vertices come out of what the hold yields, a few digits at a time.
        for _ in 0..if several { REFINEMENTS } else { 1 } {
            self.solve_held(system, work, rows, around, delta);
            let scale = if checked { self.damped(work, rows, delta) } else { 1.0 };
            for i in 0..work.step.len() {
                work.step[i] += scale * work.correction[i];
                work.linear[i] += scale * work.product[i];
            }
            let (mut yielded, mut largest) = (0.0f64, 0.0f64);
            for (k, row) in rows.iter_mut().enumerate().filter(|(_, r)| !r.is_nodal()) {
                let around = &around[k];
                let d = self.displaced(row, work, delta);
                let stiff = self.holding(row, around);
                let force = match row.status {
                    ContactStatus::Open => Vector::zeros(),
                    ContactStatus::Stick => row.force - stiff * d,
                    ContactStatus::Slip => {
                        let bound = Vector::<3>::new(bounds[k], 0.0, 0.0);
                        let mut force = row.obeyed(&bound, &d, self.floor());
                        force[0] = row.force[0] - stiff * d[0];
                        force
                    }
                };
                row.scatter(&(force - row.force), -1.0, &mut work.linear);
                yielded = yielded.max((force - row.force).norm());
                largest = largest.max(force.norm());
                row.force = force;
            }
            if yielded <= 1e-11 * largest {
                break;
            }
        }
        // Friction does not drive: what it would push back, it holds.
        let mut turned = 0;
        for (row, way) in rows.iter_mut().zip(&ways) {
            row.turned = false;
            if row.status == ContactStatus::Slip {
                let d = self.displaced(row, work, delta);
                if d[1] * way[1] + d[2] * way[2] < 0.0 && d[1].hypot(d[2]) > self.floor() {
                    row.status = ContactStatus::Stick;
                    row.turned = true;
                    turned += 1;
                }
            }
        }
        turned
    }

    /// Direction in which a contact slides.
    fn way(&self, row: &Row, d: &Vector<3>) -> Vector<3> {
        let length = d[1].hypot(d[2]);
        if length > self.floor() {
            Vector::<3>::new(0.0, d[1] / length, d[2] / length)
        } else {
            Vector::<3>::new(0.0, -row.pull[0], -row.pull[1])
        }
    }

    /// The correction that the held system asks for, and A times it.
    fn solve_held(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &[Row],
        around: &[Around],
        delta: &[f64],
    ) {
        for (c, l) in work.correction.iter_mut().zip(&work.linear) {
            *c = -l;
        }
        for (row, around) in rows.iter().zip(around) {
            if row.status == ContactStatus::Open {
                continue;
            }
            let d = self.displaced(row, work, delta);
            let stiff = self.holding(row, around);
            let mut pull = Vector::<3>::new(-stiff * d[0], 0.0, 0.0);
            if row.status == ContactStatus::Stick {
                pull = -stiff * d;
            }
            if row.is_nodal() {
                // Where one vertex carries the contact, the balance there is the contact's.
                let i = row.unknowns[0];
                if row.status == ContactStatus::Slip {
                    let left = row.local(&at(&work.linear, i)) - self.carried(row, work, &d);
                    pull[1] = -left[1];
                    pull[2] = -left[2];
                }
                let pull = row.world(&pull);
                for k in 0..3 {
                    work.correction[i + k] = pull[k];
                }
            } else {
                row.scatter(&pull, 1.0, &mut work.correction);
            }
        }
        for (c, fixed) in work.correction.iter_mut().zip(self.model.fixed()) {
            if *fixed {
                *c = 0.0;
            }
        }
        system.solve(&mut work.correction);
        // Nothing is carried into a collider.
        for row in rows.iter().filter(|r| r.is_nodal() && r.status == ContactStatus::Open) {
            let i = row.unknowns[0];
            let n = row.frame[0];
            let gap = self.displaced(row, work, delta)[0];
            let depth = gap.max(0.0) + n.dot(&at(&work.correction, i));
            if depth < 0.0 {
                for k in 0..3 {
                    work.correction[i + k] -= depth * n[k];
                }
            }
        }
        system.multiply(&work.correction, &mut work.product);
    }

    /// Part of the correction that pays in the linearised problem.
    fn damped(&self, work: &Workspace, rows: &[Row], delta: &[f64]) -> f64 {
        let slope: f64 = work.linear.iter().zip(&work.correction).map(|(l, c)| l * c).sum();
        let curve: f64 = work.product.iter().zip(&work.correction).map(|(p, c)| p * c).sum();
        let drag = |scale: f64| -> f64 {
            rows.iter()
                .filter(|r| r.is_nodal() && r.status != ContactStatus::Open)
                .map(|row| {
                    let i = row.unknowns[0];
                    let d = self.displaced(row, work, delta);
                    let e = d + row.local(&at(&work.correction, i)) * scale;
                    let normal = row.local(&at(&work.linear, i))[0].max(0.0);
                    let slid = e[1].hypot(e[2]) - d[1].hypot(d[2]);
                    // The normal force does the work it did in the slope.
                    row.contact.friction * normal * slid - normal * (e[0] - d[0])
                })
                .sum()
        };
        let mut scale = 1.0;
        while scale > 0.05 && scale * slope + 0.5 * scale * scale * curve + drag(scale) > 0.0 {
            scale *= 0.5;
        }
        scale
    }

    /// Solves every contact exactly, all that is around its vertices held. How many changed what they do.
    fn sweep(
        &self,
        system: &System,
        work: &mut Workspace,
        rows: &mut [Row],
        around: &[Around],
        delta: &[f64],
    ) -> usize {
        let mut changes = 0;
        for (row, around) in rows.iter_mut().zip(around).filter(|(r, _)| !r.turned) {
            let d = self.displaced(row, work, delta);
            let w = &around.compliance;
            // What the contact would be left with if it carried nothing.
            let force = if row.is_nodal() {
                row.local(&at(&work.linear, row.unknowns[0]))
            } else {
                row.force
            };
            let mu = row.contact.friction;
            let Some((new, to, status)) = alone(w, &(d - w * force), mu) else { continue };
            if status == ContactStatus::Open && row.status == ContactStatus::Open {
                continue; // the linear solve knows better where it goes
            }
            changes += usize::from(status != row.status);
            row.decide(status, &new);
            if row.is_nodal() {
                let i = row.unknowns[0];
                let e = row.world(&(to - d));
                for k in 0..3 {
                    work.step[i + k] += e[k];
                }
                system.spread(&around.vertices[0], i, &e, &mut work.linear);
            } else {
                let push = row.world(&(new - row.force));
                for k in 0..row.contact.count as usize {
                    let i = row.unknowns[k];
                    let e = around.soft[k] * push;
                    for c in 0..3 {
                        work.step[i + c] += e[c];
                    }
                    system.spread(&around.vertices[k], i, &e, &mut work.linear);
                }
                row.scatter(&(new - row.force), -1.0, &mut work.linear);
                row.force = new;
            }
        }
        changes
    }
}

/// A contact's neighbourhood in A.
struct Around {
    vertices: Vec<Neighbourhood>,
    /// Wᵢ = wᵢ Aᵢᵢ⁻¹ of each vertex \[m/N\].
    soft: [Matrix<3, 3>; 4],
    /// Σ wᵢ² Aᵢᵢ⁻¹, in the frame of the contact \[m/N\].
    compliance: Matrix<3, 3>,
    /// Stiffness of the stiffest vertex \[N/m\].
    stiff: f64,
}
