//! Stages in which nothing touches anything.
//!
//! The stage is then the minimum of a smooth potential. One factorised matrix, the core of the positive part of the Hessian
//! ([`super::system::Extent::Core`]), serves for several steps: each is corrected by what the change of the gradient along
//! earlier ones tells of the curvature (limited-memory BFGS around a factorisation: Nocedal 1980; Liu, Bouaziz, Kavan 2017). Where
//! this turns slow, the matrix is made anew. Where bending matters beside inertia, what the core leaves out is put back by
//! conjugate gradients with the core as preconditioner.

use std::time::Instant;

use toile_energy::Curvature;
use toile_solve::SolveError;

use super::rows::dot;
use super::stage::{SHIFTS, StageProblem, StageReport, Workspace};
use super::system::System;
use crate::SimError;

/// Steps that are remembered.
const MEMORY: usize = 8;

/// Steps with one matrix at least, as long as they lead down, and at most. A step costs a fifth of a matrix.
const PATIENCE: [usize; 2] = [8, 16];

/// Length of a step in units of the last above which the matrix is made anew.
const SLOW: f64 = 0.7;

/// Slope left after a full step, in units of that before, up to which it is taken without looking at the potential.
const FLAT: f64 = 0.5;

/// Shortest part of a step that is tried.
const SHORTEST: f64 = 0.05;

/// What the core may leave out, in units of the inertia: up to the first the remembered steps make up for it, up to the
/// second conjugate gradients do.
const LEFT_OUT: [f64; 2] = [3.0, 50.0];

/// Part of a residual that conjugate gradients leave.
const ROUGH: f64 = 0.1;

/// Iterations of conjugate gradients at most.
const ITERATIONS: usize = 40;

/// The last steps, and what the gradient changed by along them.
#[derive(Default)]
pub(crate) struct Memory {
    pairs: Vec<Pair>,
    /// The oldest pair, once there are as many as are kept.
    oldest: usize,
    shares: Vec<f64>,
    /// How many of the pairs count.
    count: usize,
}

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// 1 / (step · change).
    weight: f64,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        (self.count, self.oldest) = (0, 0);
    }

    /// Remembers a step that changed the gradient from `was` to `now`, unless the potential bends down along it.
    pub(super) fn keep(&mut self, step: &[f64], scale: f64, now: &[f64], was: &[f64]) {
        let curve: f64 = step.iter().zip(now.iter().zip(was)).map(|(s, (n, w))| s * (n - w)).sum();
        if curve * scale <= 0.0 {
            return;
        }
        let at = (self.oldest + self.count) % MEMORY;
        if self.count == MEMORY {
            self.oldest = (self.oldest + 1) % MEMORY;
        } else {
            self.count += 1;
        }
        if self.pairs.len() == at {
            let zeros = vec![0.0; step.len()];
            self.pairs.push(Pair { step: zeros.clone(), change: zeros, weight: 0.0 });
        }
        let pair = &mut self.pairs[at];
        for i in 0..step.len() {
            pair.step[i] = scale * step[i];
            pair.change[i] = now[i] - was[i];
        }
        pair.weight = 1.0 / (scale * curve);
    }

    /// Before the matrix is inverted, newest first.
    pub(super) fn before(&mut self, x: &mut [f64]) {
        self.shares.resize(MEMORY, 0.0);
        for k in (0..self.count).rev() {
            let pair = &self.pairs[(self.oldest + k) % MEMORY];
            self.shares[k] = pair.weight * dot(&pair.step, x);
            add(x, -self.shares[k], &pair.change);
        }
    }

    /// After it, oldest first.
    pub(super) fn after(&self, x: &mut [f64]) {
        for k in 0..self.count {
            let pair = &self.pairs[(self.oldest + k) % MEMORY];
            let back = pair.weight * dot(&pair.change, x);
            add(x, self.shares[k] - back, &pair.step);
        }
    }
}

impl StageProblem<'_> {
    /// Minimises the potential of a stage without contacts, from `delta`, which it replaces.
    pub(super) fn solve_free(
        &self,
        system: &mut System,
        work: &mut Workspace,
        delta: &mut [f64],
    ) -> Result<StageReport, SimError> {
        let mut report = StageReport::default();
        let mut memory = std::mem::take(&mut work.memory);
        let outcome = self.descend(system, work, delta, &mut memory, &mut report);
        work.memory = memory;
        outcome.map(|()| report)
    }

    fn descend(
        &self,
        system: &mut System,
        work: &mut Workspace,
        delta: &mut [f64],
        memory: &mut Memory,
        report: &mut StageReport,
    ) -> Result<(), SimError> {
        let mut moved = f64::INFINITY;
        // Steps taken with the present matrix; none at first.
        let mut used = None;
        let mut left_out = 0.0;
        self.balance(delta, work);
        loop {
            report.residual = self.size(&work.balance, &work.inertia);
            report.converged = report.residual <= self.settings.balance;
            if report.converged || !report.residual.is_finite() {
                return Ok(());
            }
            let steps = match used {
                Some(steps) => steps,
                None if report.factorisations >= self.settings.max_iterations => return Ok(()),
                None => {
                    left_out = self.factorize_free(system, work, report)?;
                    memory.clear();
                    0
                }
            };
            let clock = Instant::now();
            for (s, g) in work.step.iter_mut().zip(&work.balance) {
                *s = -g;
            }
            memory.before(&mut work.step);
            self.invert(system, work, left_out);
            memory.after(&mut work.step);
            work.timings.factorisation += clock.elapsed();
            report.iterations += 1;
            let length = work.step.iter().fold(0.0f64, |a, b| a.max(b.abs())) / self.fall;
            // What will be left, if later steps shrink as this one did.
            let rate = if moved.is_finite() { (length / moved).clamp(0.1, 0.9) } else { 0.5 };
            if length * rate / (1.0 - rate) <= self.settings.tolerance {
                add(delta, 1.0, &work.step);
                self.stage.base.advanced_into(delta, 1.0, &mut work.state);
                report.converged = true;
                return Ok(());
            }
            work.before.copy_from_slice(delta);
            work.residual.copy_from_slice(&work.balance);
            let scale = self.go(work, delta);
            if scale == 0.0 && steps == 0 {
                return Ok(()); // not even along a new matrix
            }
            let ratio = scale * length / moved;
            moved = scale * length;
            let slow = steps + 1 >= PATIENCE[0] && ratio > SLOW;
            used = Some(steps + 1);
            if scale == 0.0 || slow || steps + 1 >= PATIENCE[1] {
                used = None;
            } else {
                memory.keep(&work.step, scale, &work.balance, &work.residual);
            }
        }
    }

    /// Factorises the positive part of the Hessian at the present state, or its core. Returns what that leaves out.
    ///
    /// The exact Hessian is seldom positive definite between wrinkles, and not worth the attempt.
    fn factorize_free(
        &self,
        system: &mut System,
        work: &mut Workspace,
        report: &mut StageReport,
    ) -> Result<f64, SimError> {
        let mut outcome = Ok(());
        let mut left_out = 0.0;
        self.linearise(system, work, report.iterations > 0, Curvature::Positive);
        for shift in SHIFTS {
            left_out = self.assemble(system, work, shift, LEFT_OUT[1])?;
            let clock = Instant::now();
            outcome = system.factorize(self.model, std::iter::empty());
            work.timings.factorisation += clock.elapsed();
            report.factorisations += 1;
            if !matches!(outcome, Err(SolveError::NotPositiveDefinite { .. })) {
                break;
            }
        }
        outcome?;
        Ok(left_out)
    }

    /// Divides the step by the factorised matrix, and by what it leaves out where that matters.
    fn invert(&self, system: &mut System, work: &mut Workspace, left_out: f64) {
        if left_out <= LEFT_OUT[0] {
            system.solve(&mut work.step);
            return;
        }
        // Residual, preconditioned residual, direction and its product.
        let (r, z) = (&mut work.linear, &mut work.correction);
        let (p, q) = (&mut work.before, &mut work.product);
        r.copy_from_slice(&work.step);
        z.copy_from_slice(r);
        system.solve(z);
        p.copy_from_slice(z);
        work.step.fill(0.0);
        let first = dot(r, z);
        let mut size = first;
        for _ in 0..ITERATIONS {
            system.multiply_all(self.model, p, q);
            let part = size / dot(p, q);
            add(&mut work.step, part, p);
            add(r, -part, q);
            z.copy_from_slice(r);
            system.solve(z);
            let now = dot(r, z);
            if now <= ROUGH * ROUGH * first {
                add(&mut work.step, 1.0, z);
                return;
            }
            for (p, z) in p.iter_mut().zip(&*z) {
                *p = z + now / size * *p;
            }
            size = now;
        }
    }

    /// Goes along the step as far as it pays; returns the part taken, zero for none.
    fn go(&self, work: &mut Workspace, delta: &mut [f64]) -> f64 {
        let slope = dot(&work.residual, &work.step);
        let energy = work.energy;
        let mut scale = 1.0;
        let mut merit = None;
        loop {
            for i in 0..delta.len() {
                delta[i] = work.before[i] + scale * work.step[i];
            }
            if scale == 1.0 {
                std::mem::swap(&mut work.previous, &mut work.state);
            }
            self.balance(delta, work);
            if dot(&work.balance, &work.step).abs() <= FLAT * slope.abs() {
                return scale;
            }
            let at =
                *merit.get_or_insert_with(|| self.merit(&work.before, &[], &work.previous, energy));
            let there = self.merit(delta, &[], &work.state, work.energy);
            if there <= at + 1e-4 * scale * slope + 1e-12 * at.abs() {
                return scale;
            }
            scale *= 0.5;
            if scale < SHORTEST {
                delta.copy_from_slice(&work.before);
                self.balance(delta, work);
                return 0.0;
            }
        }
    }
}

fn add(to: &mut [f64], scale: f64, what: &[f64]) {
    for (t, w) in to.iter_mut().zip(what) {
        *t += scale * w;
    }
}
