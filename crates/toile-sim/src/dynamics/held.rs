//! Between two linearised problems: contacts go on as the last one left them.
//!
//! With every contact open, stuck or sliding as it is, a stage is a smooth problem again: what sticks goes with its collider,
//! what slides stays on it and is pulled back by a force of known direction. The factorised matrix of the linearised problem
//! serves for several steps of it, corrected as in a stage without contacts (`free`). What that finds is then judged by the
//! law of contact, and another linearised problem decides anew where it is broken.

use std::time::Instant;

use super::free::Memory;
use super::rows::{ContactStatus, Row, at, dot};
use super::stage::{StageProblem, StageReport, Workspace};
use super::system::System;

/// Steps at most.
const PATIENCE: usize = 12;

/// Length of a step in units of the last above which it is slow, and how many slow ones end it.
const SLOW: f64 = 0.8;
const SLOW_STEPS: usize = 2;

/// Slope left after a step, in units of that before, up to which it is taken.
const FLAT: f64 = 0.9;

/// Shortest part of a step that is tried.
const SHORTEST: f64 = 0.2;

impl StageProblem<'_> {
    /// Steps with the contacts as they are, from a balance at `delta` that `moved` led to. Returns what will be left of the way,
    /// in units of the fall.
    pub(super) fn carry_on(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &mut [f64],
        moved: f64,
        report: &mut StageReport,
    ) -> f64 {
        let mut memory = std::mem::take(&mut work.memory);
        memory.clear();
        let left = self.slide(system, work, rows, delta, moved, &mut memory, report);
        work.memory = memory;
        left
    }

    fn slide(
        &self,
        system: &mut System,
        work: &mut Workspace,
        rows: &mut [Row],
        delta: &mut [f64],
        mut moved: f64,
        memory: &mut Memory,
        report: &mut StageReport,
    ) -> f64 {
        let mut slow = 0;
        self.split(delta, rows, work);
        for _ in 0..PATIENCE {
            let clock = Instant::now();
            for (s, r) in work.step.iter_mut().zip(&work.residual) {
                *s = -r;
            }
            memory.before(&mut work.step);
            system.solve(&mut work.step);
            memory.after(&mut work.step);
            keep_held(rows, &mut work.step);
            work.timings.factorisation += clock.elapsed();
            let length = work.step.iter().fold(0.0f64, |a, b| a.max(b.abs())) / self.fall;
            let rate = (length / moved).clamp(0.1, 0.9);
            let left = length * rate / (1.0 - rate);
            work.before.copy_from_slice(delta);
            work.linear.copy_from_slice(&work.residual);
            let scale = self.follow(work, rows, delta);
            if scale == 0.0 {
                return moved;
            }
            report.iterations += 1;
            if left <= self.settings.tolerance {
                return left;
            }
            slow = if length * scale > SLOW * moved { slow + 1 } else { 0 };
            moved = length * scale;
            if slow >= SLOW_STEPS || self.meets(work, rows, delta) {
                return moved;
            }
            memory.keep(&work.step, scale, &work.residual, &work.linear);
        }
        moved
    }

    /// Takes the step, or the part of it that pays; returns the part, zero for none.
    fn follow(&self, work: &mut Workspace, rows: &mut [Row], delta: &mut [f64]) -> f64 {
        let slope = dot(&work.linear, &work.step);
        let mut scale = 1.0;
        while slope < 0.0 && scale >= SHORTEST {
            for i in 0..delta.len() {
                delta[i] = work.before[i] + scale * work.step[i];
            }
            self.balance(delta, work);
            self.split(delta, rows, work);
            if dot(&work.residual, &work.step) <= FLAT * slope.abs() {
                return scale;
            }
            scale *= 0.5;
        }
        delta.copy_from_slice(&work.before);
        self.balance(delta, work);
        self.split(delta, rows, work);
        0.0
    }

    /// Whether an open contact closes.
    fn meets(&self, work: &Workspace, rows: &[Row], delta: &[f64]) -> bool {
        rows.iter().filter(|row| row.status == ContactStatus::Open).any(|row| {
            let d = row.displacement(work.state.coordinates(), delta, self.stage.tau);
            d[0] < -1e-6 * self.fall
        })
    }
}

/// Takes out of a step what contacts hold.
fn keep_held(rows: &[Row], step: &mut [f64]) {
    for row in rows {
        let i = row.unknowns[0];
        let kept = match row.status {
            ContactStatus::Open => continue,
            ContactStatus::Stick => [0.0; 3].into(),
            ContactStatus::Slip => {
                let s = at(step, i);
                s - row.frame[0] * row.frame[0].dot(&s)
            }
        };
        step[i..i + 3].copy_from_slice(kept.as_slice());
    }
}
