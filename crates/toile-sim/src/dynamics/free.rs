//! Stages in which nothing touches anything.
//!
//! The stage is then the minimum of a smooth potential. After a first Newton step, one factorised Hessian serves for
//! several more: each is corrected by what the change of the gradient along earlier ones tells of the curvature
//! (limited-memory BFGS around a factorisation: Nocedal 1980; Liu, Bouaziz, Kavan 2017). A gradient and a solve cost a
//! fifth of a Hessian and its factorisation. Where this turns slow, the Hessian is made anew.

use std::collections::VecDeque;
use std::time::Instant;

use toile_energy::Curvature;
use toile_solve::SolveError;

use super::rows::dot;
use super::stage::{BALANCED, SHIFTS, StageProblem, StageReport, Workspace};
use super::system::System;
use crate::SimError;

/// Steps that are remembered.
const MEMORY: usize = 8;

/// Steps with one Hessian at most.
const PATIENCE: usize = 12;

/// Slope left after a full step, in units of that before, up to which it is taken without looking at the potential.
const FLAT: f64 = 0.5;

/// Shortest part of a step that is tried.
const SHORTEST: f64 = 0.05;

/// A step taken, and what the gradient changed by.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// 1 / (step · change).
    weight: f64,
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
        self.balance(delta, work);
        loop {
            report.residual = self.size(&work.balance, &work.inertia);
            report.converged = report.residual <= BALANCED;
            let last = report.factorisations >= self.settings.max_iterations;
            if report.converged || last || !report.residual.is_finite() {
                return Ok(report);
            }
            self.factorize_free(system, work, &mut report)?;
            if self.descend(system, work, delta, &mut report) {
                report.converged = true;
                return Ok(report);
            }
        }
    }

    /// Factorises a positive definite Hessian at the present state.
    fn factorize_free(
        &self,
        system: &mut System,
        work: &mut Workspace,
        report: &mut StageReport,
    ) -> Result<(), SimError> {
        let positive = SHIFTS.map(|shift| (Curvature::Positive, shift));
        let mut outcome = Ok(());
        for (curvature, shift) in std::iter::once((Curvature::Exact, 0.0)).chain(positive) {
            self.assemble(system, work, report.iterations > 0, curvature, shift);
            let clock = Instant::now();
            outcome = system.factorize(self.model, std::iter::empty());
            work.timings.factorisation += clock.elapsed();
            report.factorisations += 1;
            if !matches!(outcome, Err(SolveError::NotPositiveDefinite { .. })) {
                break;
            }
        }
        Ok(outcome?)
    }

    /// Steps with the factorised Hessian until the stage is solved (`true`) or another Hessian is wanted.
    fn descend(
        &self,
        system: &mut System,
        work: &mut Workspace,
        delta: &mut [f64],
        report: &mut StageReport,
    ) -> bool {
        let mut pairs: VecDeque<Pair> = VecDeque::new();
        let mut moved = f64::INFINITY;
        let mut slow = 0;
        for _ in 0..PATIENCE {
            let clock = Instant::now();
            direction(system, &pairs, &work.balance, &mut work.step);
            work.timings.factorisation += clock.elapsed();
            report.iterations += 1;
            work.before.copy_from_slice(delta);
            work.residual.copy_from_slice(&work.balance);
            let scale = self.go(work, delta);
            if scale == 0.0 {
                return false;
            }
            let residual = self.size(&work.balance, &work.inertia);
            let length = scale * work.step.iter().fold(0.0f64, |a, b| a.max(b.abs())) / self.fall;
            let ratio = length / moved;
            moved = length;
            report.residual = residual;
            if !residual.is_finite() {
                return false;
            }
            // What is left, if later steps shrink as this one did.
            let rate = ratio.clamp(0.1, 0.9);
            if residual <= BALANCED || moved * rate / (1.0 - rate) <= self.settings.tolerance {
                return true;
            }
            // The first step ends where the second Hessian is worth its while: from there buckles grow the right way.
            if report.iterations == 1 {
                return false;
            }
            slow = if ratio > 0.7 { slow + 1 } else { 0 };
            if slow >= 3 {
                return false;
            }
            let step: Vec<f64> = work.step.iter().map(|s| scale * s).collect();
            let change: Vec<f64> =
                work.balance.iter().zip(&work.residual).map(|(now, was)| now - was).collect();
            let curve = dot(&step, &change);
            if curve > 0.0 {
                if pairs.len() == MEMORY {
                    pairs.pop_front();
                }
                pairs.push_back(Pair { step, change, weight: 1.0 / curve });
            }
        }
        false
    }

    /// Goes along the step as far as it pays; returns the part taken, zero for none.
    fn go(&self, work: &mut Workspace, delta: &mut [f64]) -> f64 {
        let slope = dot(&work.residual, &work.step);
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
            let clock = Instant::now();
            let at = *merit.get_or_insert_with(|| self.merit(&work.before, &[], &work.previous));
            let there = self.merit(delta, &[], &work.state);
            work.timings.assembly += clock.elapsed();
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

/// −H⁻¹g, H the factorised Hessian corrected by the pairs.
fn direction(system: &mut System, pairs: &VecDeque<Pair>, gradient: &[f64], out: &mut [f64]) {
    for (o, g) in out.iter_mut().zip(gradient) {
        *o = -g;
    }
    let mut shares = [0.0; MEMORY];
    for (pair, share) in pairs.iter().zip(&mut shares).rev() {
        *share = pair.weight * dot(&pair.step, out);
        add(out, -*share, &pair.change);
    }
    system.solve(out);
    for (pair, share) in pairs.iter().zip(&shares) {
        let back = pair.weight * dot(&pair.change, out);
        add(out, share - back, &pair.step);
    }
}

fn add(to: &mut [f64], scale: f64, what: &[f64]) {
    for (t, w) in to.iter_mut().zip(what) {
        *t += scale * w;
    }
}
