//! The linearised balance of a stage under the exact law, with contacts that share vertices.
//!
//! Contacts inside faces and edges and between layers tie several vertices, and several of them may say the
//! same thing. Here every contact acts through its augmented Lagrangian: with the multiplier λ, the
//! stiffness ρ and the friction bound b it pushes with the projection of λ − ρd on [0, ∞) × disc(b) (Alart, Curnier 1991).
//! For given λ and b that is the gradient of a convex function of the step, which conjugate gradients
//! make least, preconditioned by the factorised matrix of the contacts as they were (its core, whatever that leaves out) and with exact line searches:
//! contacts that change their minds cost an iteration, not a factorisation. Then λ and b learn from the forces, until those
//! no longer change.

use std::time::Instant;

use toile_num::Vector;
use toile_solve::SolveError;

use super::rows::{ContactStatus, Row, dot};
use super::stage::{StageProblem, StageReport, Workspace};
use super::system::System;

/// ρ in units of the stiffness of the vertices: the forces learn a digit or two per solve, and what slides
/// is told from what sticks within the reach of a line search.
const STIFFNESS: f64 = 20.0;

/// By how much ρ grows when the forces learn too slowly, by less than `SLOW`, and how much at most.
const STIFFER: f64 = 4.0;
const SLOW: f64 = 0.3;
const STIFFEST: f64 = 1e4;

/// Change of the forces at which they are found, in units of the largest.
const LEARNT: f64 = 1e-6;

/// Force that counts as none, in units of the weight of a vertex.
const BALANCED: f64 = 1e-8;

/// The same before the forces are known at all.
const FIRST: f64 = 1e-2;

/// Part of the last change of the forces to which the balance is solved meanwhile.
const HASTE: f64 = 0.1;

/// Solves with one factorisation, as long as it costs about as much as they do.
const SOLVES: usize = 12;

/// Iterations at most: contacts that contradict each other never agree.
const ITERATIONS: usize = 300;

/// The same of a problem whose forces are a guess for the next.
const GUESSED: f64 = 1e-3;
const GUESSES: usize = 40;

/// Halvings of the interval in which the best step length lies.
const BISECTIONS: usize = 50;

/// The linearised problem; its solution is left in `work.step` and the forces in the rows.
pub(crate) struct Cushioned<'a> {
    problem: &'a StageProblem<'a>,
    system: &'a mut System,
    work: &'a mut Workspace,
    rows: &'a mut [Row],
    /// d of each contact after the step so far, and how it changes along the direction.
    ways: Vec<[Vector<3>; 2]>,
}

impl<'a> Cushioned<'a> {
    /// The problem with A as the system holds it.
    pub(crate) fn new(
        problem: &'a StageProblem<'a>,
        system: &'a mut System,
        work: &'a mut Workspace,
        rows: &'a mut [Row],
        delta: &[f64],
    ) -> Self {
        let clock = Instant::now();
        work.step.fill(0.0);
        work.linear.copy_from_slice(&work.balance);
        let mut ways = Vec::with_capacity(rows.len());
        for row in rows.iter_mut() {
            let mut stiff = [0.0f64; 2];
            for &i in &row.unknowns[..row.contact.count as usize] {
                if !problem.model.fixed()[i] {
                    let block = row.local_matrix(&system.diagonal(i));
                    stiff[0] = stiff[0].max(block[(0, 0)]);
                    stiff[1] = stiff[1].max(0.5 * (block[(1, 1)] + block[(2, 2)]));
                }
            }
            row.stiff = stiff.map(|s| STIFFNESS * s);
            let d = row.displacement(work.state.coordinates(), delta, problem.stage.tau);
            if row.bound.is_infinite() && d[0] > 0.0 {
                row.bound = 0.0; // new, and not yet there
            }
            row.planned = row.pressed(&d);
            row.scatter(&row.planned, -1.0, &mut work.linear);
            ways.push([d, Vector::zeros()]);
        }
        problem.model.clear_fixed(&mut work.linear);
        work.timings.friction += clock.elapsed();
        Self { problem, system, work, rows, ways }
    }

    /// Solves it; roughly, unless it is the `last` one, for then the forces it finds are those of the stage.
    pub(crate) fn solve(&mut self, last: bool, report: &mut StageReport) -> Result<(), SolveError> {
        let (learnt, iterations) = if last { (LEARNT, ITERATIONS) } else { (GUESSED, GUESSES) };
        let least = BALANCED * self.problem.weight();
        let mut wanted = FIRST * self.problem.weight();
        let (mut solves, mut slope) = (SOLVES, 0.0);
        let (mut before, mut stiffened) = (f64::INFINITY, 1.0);
        let mut agreed = false;
        for _ in 0..iterations {
            if solves >= SOLVES {
                self.factorize(report)?;
                (solves, slope) = (0, 0.0);
            }
            let clock = Instant::now();
            slope = self.turn(slope);
            self.work.timings.factorisation += clock.elapsed();
            solves += 1;
            let clock = Instant::now();
            self.go();
            let left = self.work.linear.iter().fold(0.0f64, |a, b| a.max(b.abs()));
            let mut found = false;
            if left <= wanted {
                let [change, largest] = self.learn();
                found = change <= learnt * largest || change <= least;
                wanted = least.max(HASTE * change);
                slope = 0.0;
                // Contacts that say nearly the same thing hand over their load in steps of ρd.
                if !found && change > SLOW * before && stiffened < STIFFEST {
                    stiffened *= STIFFER;
                    for k in 0..self.rows.len() {
                        self.rows[k].stiff = self.rows[k].stiff.map(|s| STIFFER * s);
                        self.press(k);
                    }
                    solves = SOLVES;
                }
                before = change;
            }
            self.work.timings.friction += clock.elapsed();
            if found {
                agreed = true;
                break;
            }
        }
        report.disagreements += usize::from(last && !agreed);
        for (row, [d, _]) in self.rows.iter_mut().zip(&self.ways) {
            row.force = row.planned;
            let [pushes, holds] = row.judged(d);
            let status = match (pushes, holds) {
                (false, _) => ContactStatus::Open,
                (true, true) => ContactStatus::Stick,
                (true, false) => ContactStatus::Slip,
            };
            let force = row.planned;
            row.decide(status, &force);
        }
        Ok(())
    }

    /// Lets a contact push as its multiplier and the step say.
    fn press(&mut self, k: usize) {
        let row = &mut self.rows[k];
        let force = row.pressed(&self.ways[k][0]);
        if force != row.planned {
            row.scatter_free(
                &(force - row.planned),
                -1.0,
                self.problem.model.fixed(),
                &mut self.work.linear,
            );
            row.planned = force;
        }
    }

    /// Takes the forces as multipliers. By how much they changed, and the largest \[N\].
    fn learn(&mut self) -> [f64; 2] {
        let (mut change, mut largest) = (0.0f64, 0.0f64);
        for k in 0..self.rows.len() {
            let row = &mut self.rows[k];
            let bound = row.contact.friction * row.planned[0];
            change = change.max((row.planned - row.force).norm());
            if row.bound.is_finite() {
                change = change.max((bound - row.bound).abs());
            }
            largest = largest.max(row.planned.norm());
            row.force = row.planned;
            row.bound = bound;
            self.press(k);
        }
        [change, largest]
    }

    /// Factorises A with the contacts as they are.
    fn factorize(&mut self, report: &mut StageReport) -> Result<(), SolveError> {
        let clock = Instant::now();
        report.factorisations += 1;
        let holds = self.rows.iter().zip(&self.ways).map(|(row, [d, _])| (row, row.softness(d)));
        let outcome = self.system.factorize(self.problem.model, holds);
        self.work.timings.factorisation += clock.elapsed();
        outcome
    }

    /// The next direction, conjugate to the last one (Polak, Ribière) unless `before` is zero, and A times it.
    /// Returns gᵀM⁻¹g.
    fn turn(&mut self, before: f64) -> f64 {
        let work = &mut *self.work;
        work.correction.copy_from_slice(&work.linear);
        self.system.solve(&mut work.correction);
        let now = dot(&work.linear, &work.correction);
        let shared = dot(&work.residual, &work.correction);
        let weight = if before > 0.0 { ((now - shared) / before).max(0.0) } else { 0.0 };
        work.residual.copy_from_slice(&work.linear);
        for (p, z) in work.before.iter_mut().zip(&work.correction) {
            *p = weight * *p - z;
        }
        if dot(&work.before, &work.linear) >= 0.0 {
            for (p, z) in work.before.iter_mut().zip(&work.correction) {
                *p = -z;
            }
        }
        self.system.multiply_all(self.problem.model, &work.before, &mut work.product);
        self.problem.model.clear_fixed(&mut work.product);
        now
    }

    /// Goes along the direction to where the linearised problem gains nothing more.
    fn go(&mut self) {
        let work = &mut *self.work;
        for (row, [_, way]) in self.rows.iter().zip(&mut self.ways) {
            *way = row.local(&row.sum(&work.before));
        }
        let (slope, curve) = (dot(&work.linear, &work.before), dot(&work.product, &work.before));
        let slope_at = |scale: f64| -> f64 {
            let mut sum = slope + scale * curve;
            for (row, [d, way]) in self.rows.iter().zip(&self.ways) {
                // What the slope counts of its force is exchanged for what it is there.
                sum += (row.planned - row.pressed(&(d + scale * way))).dot(way);
            }
            sum
        };
        // Convex: its slope changes sign once.
        let [mut low, mut high] = [0.0, 1.0];
        let (mut at_low, mut at_high) = (slope, slope_at(1.0));
        while at_high < 0.0 && high < 1e3 {
            (low, at_low) = (high, at_high);
            high *= 2.0;
            at_high = slope_at(high);
        }
        let enough = 1e-3 * slope.abs();
        let mut scale = high;
        for k in 0..BISECTIONS {
            if at_high.abs() <= enough {
                scale = high;
                break;
            }
            // The secant first, halves when it does not pay.
            let secant = low + (high - low) * (-at_low / (at_high - at_low)).clamp(0.01, 0.99);
            scale = if k % 3 == 2 { 0.5 * (low + high) } else { secant };
            let here = slope_at(scale);
            if here.abs() <= enough {
                break;
            }
            if here < 0.0 {
                (low, at_low) = (scale, here);
            } else {
                (high, at_high) = (scale, here);
            }
        }
        for i in 0..work.step.len() {
            work.step[i] += scale * work.before[i];
            work.linear[i] += scale * work.product[i];
        }
        self.problem.model.clear_fixed(&mut work.linear);
        for k in 0..self.rows.len() {
            let [d, way] = self.ways[k];
            self.ways[k][0] = d + scale * way;
            self.press(k);
        }
    }
}
