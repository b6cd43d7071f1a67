//! The linearised balance of a stage under the exact law of contact.
//!
//! Contacts that sit at single vertices, one at each, tie the unknowns of that vertex only, so
//! sweeps of exact one-vertex solutions (Gauss–Seidel) find out which of them open, stick and slip, and a linear
//! solve with those held carries the news through the cloth. The two alternate until nothing changes its mind,
//! which is mostly at once (the pair is that of truncated nonsmooth Newton methods: Gräser, Kornhuber 2009).
//!
//! Contacts that share vertices, inside faces and edges and between layers, are solved to the end in each linear solve, the others held: by the kernel of
//! cones, with what they feel of each other through the cloth as a small dense matrix (their vertices are eliminated last), or, where they are many,
//! through the factorised balance.

use std::time::Instant;

use toile_num::{Matrix, Vector};
use toile_solve::SolveError;

use super::rows::{ContactStatus, Row, alone, at, dot};
use super::stage::{StageProblem, StageReport, Workspace};
use super::system::{Neighbourhood, System};

/// Stiffness by which a contact holds its vertex in a linear solve, in units of the stiffness there: it
/// yields by one part in a million, which the next sweep takes back.
const HOLD: f64 = 1e6;

/// Halvings of the interval in which the best step length lies.
const BISECTIONS: usize = 40;

/// Shortest part of a correction that is taken.
const SHORTEST: f64 = 1e-4;

/// Sweeps over the contacts after the last linear solve, at most.
const SETTLING: usize = 100;

/// Factorisations per Newton step at most; what is undecided then is left to the next step, whose matrix is a
/// better one anyway.
const ROUNDS: usize = 1;

/// The same for the last Newton step.
const LAST_ROUNDS: usize = 2;

/// Depth from which on a contact that was only watched has to be solved for, in units of the fall.
const MISSED: f64 = 1e-3;

/// Part of the contacts with a vertex of their own that may still change their minds in the last round where others share vertices: they settle among
/// themselves.
const FEW: f64 = 0.01;

/// The linearised problem; its solution is left in `work.step` and the forces in the rows.
pub(crate) struct Linearised<'a> {
    pub(crate) problem: &'a StageProblem<'a>,
    pub(crate) system: &'a mut System,
    pub(crate) work: &'a mut Workspace,
    pub(crate) rows: &'a mut [Row],
    pub(crate) delta: &'a [f64],
    /// Contacts at vertices of their own.
    own: Vec<Own>,
    /// Contacts that share vertices.
    pub(super) shared: Vec<usize>,
}

/// A contact at a vertex of its own, with its neighbourhood in A.
struct Own {
    row: usize,
    vertex: Neighbourhood,
    /// Inverse of A at the vertex, in the frame of the contact \[m/N\].
    compliance: Matrix<3, 3>,
}

impl<'a> Linearised<'a> {
    /// The problem with A as the system holds it.
    pub(crate) fn new(
        problem: &'a StageProblem<'a>,
        system: &'a mut System,
        work: &'a mut Workspace,
        rows: &'a mut [Row],
        delta: &'a [f64],
    ) -> Self {
        let clock = Instant::now();
        work.step.fill(0.0);
        work.linear.copy_from_slice(&work.balance);
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for (k, row) in rows.iter_mut().enumerate() {
            if row.is_shared() {
                shared.push(k);
            }
            if !row.nodal {
                continue;
            }
            let i = row.unknowns[0];
            let block = system.diagonal(i);
            row.stiff = [HOLD * block.trace(); 2];
            let compliance = row.local_matrix(&block.try_inverse().unwrap_or_else(Matrix::zeros));
            own.push(Own { row: k, vertex: system.neighbourhood(problem.model, i), compliance });
        }
        work.timings.friction += clock.elapsed();
        Self { problem, system, work, rows, delta, own, shared }
    }

    /// Solves it. `last` when no Newton step follows that could mend what is left undecided.
    pub(crate) fn solve(&mut self, last: bool, report: &mut StageReport) -> Result<(), SolveError> {
        self.factorize(report)?;
        let rounds = if last { LAST_ROUNDS } else { ROUNDS };
        for round in 1..=rounds {
            let clock = Instant::now();
            let mut changes = self.correct(round > 1, last)?;
            self.work.timings.factorisation += clock.elapsed();
            if self.rows.is_empty() {
                break;
            }
            let clock = Instant::now();
            for _ in 0..3 {
                let now = self.sweep();
                changes += now;
                if now == 0 {
                    break;
                }
            }
            self.work.timings.friction += clock.elapsed();
            let few = if self.shared.is_empty() { 0.0 } else { FEW * self.own.len() as f64 };
            if changes as f64 <= few || round == rounds {
                break;
            }
            self.factorize(report)?;
        }
        let clock = Instant::now();
        if last {
            // What the linear solves could not agree on, the contacts settle among themselves.
            for own in &self.own {
                self.rows[own.row].turned = false;
            }
            for _ in 0..SETTLING {
                // One that sticks may have been left with more than it can hold by those after it.
                if self.sweep() == 0 && self.plan() <= self.problem.settings.contact_tolerance {
                    break;
                }
            }
        }
        self.plan();
        self.work.timings.friction += clock.elapsed();
        Ok(())
    }

    /// Counts contacts that were only watched and would pierce among those that have to be solved. Whether there are any.
    pub(crate) fn missed(&mut self) -> bool {
        let least = -MISSED * self.problem.fall;
        let mut any = false;
        for k in 0..self.rows.len() {
            if !self.rows[k].likely && self.displaced(k)[0] < least {
                self.rows[k].likely = true;
                any = true;
            }
        }
        any
    }

    /// d after the step so far.
    pub(super) fn displaced(&self, k: usize) -> Vector<3> {
        let (row, work) = (&self.rows[k], &*self.work);
        let d = row.displacement(work.state.coordinates(), self.delta, self.problem.stage.tau);
        d + row.local(&row.sum(&work.step))
    }

    /// Force of a contact, from what the balance leaves there.
    fn carried(&self, k: usize, d: &Vector<3>) -> Vector<3> {
        let row = &self.rows[k];
        let local = row.local(&at(&self.work.linear, row.unknowns[0]));
        row.obeyed(&local, d, self.problem.floor())
    }

    /// Takes what the balance leaves at contacts with a vertex of their own for their forces. Largest violation of the law, over the largest force.
    fn plan(&mut self) -> f64 {
        let (mut largest, mut worst) = (self.problem.weight(), 0.0f64);
        for &Own { row: k, .. } in &self.own {
            let d = self.displaced(k);
            let force = self.carried(k, &d);
            largest = largest.max(force.norm());
            worst = worst.max(self.rows[k].law_error_of(&force, &d));
            self.rows[k].planned = force;
        }
        worst / largest
    }

    /// Factorises A with the closed contacts held.
    fn factorize(&mut self, report: &mut StageReport) -> Result<(), SolveError> {
        let clock = Instant::now();
        report.factorisations += 1;
        let mut holds = std::mem::take(&mut self.work.holds);
        holds.clear();
        for &Own { row, .. } in &self.own {
            if self.rows[row].status != ContactStatus::Open {
                holds.push((row, self.hold(row, &self.displaced(row))));
            }
        }
        let rows = &*self.rows;
        let pairs = holds.iter().map(|(k, hold)| (&rows[*k], *hold));
        let outcome = self.system.factorize(self.problem.model, pairs);
        self.work.holds = holds;
        self.work.timings.factorisation += clock.elapsed();
        outcome
    }

    /// Stiffness that stands for a closed contact in a linear solve.
    fn hold(&self, k: usize, d: &Vector<3>) -> Matrix<3, 3> {
        let row = &self.rows[k];
        if row.status == ContactStatus::Stick {
            return Matrix::identity() * row.stiff[0];
        }
        // Friction turns with the slide: −μλ_N d_T/‖d_T‖.
        let [n, t1, t2] = row.frame;
        let mut hold = n * n.transpose() * row.stiff[0];
        let radius = row.contact.friction * self.carried(k, d)[0].max(0.0);
        if radius > 0.0 {
            let floor = self.problem.floor();
            let [c, s] = row.way(d, floor);
            let across = t2 * c - t1 * s;
            let turn = (radius / d[1].hypot(d[2]).max(floor)).min(row.stiff[0]);
            hold += across * across.transpose() * turn;
        }
        hold
    }

    /// Solves for the rest of the step with the contacts held. How many slides it turned back.
    fn correct(&mut self, checked: bool, last: bool) -> Result<usize, SolveError> {
        if checked && !self.shared.is_empty() {
            // Sweeps know the core only.
            let work = &mut *self.work;
            self.system.multiply_all(self.problem.model, &work.step, &mut work.product);
            for ((l, b), p) in work.linear.iter_mut().zip(&work.balance).zip(&work.product) {
                *l = b + p;
            }
            self.problem.model.clear_fixed(&mut work.linear);
        }
        let floor = self.problem.floor();
        let ways: Vec<[f64; 2]> =
            self.own.iter().map(|o| self.rows[o.row].way(&self.displaced(o.row), floor)).collect();
        self.solve_held(last)?;
        // Contacts that share vertices obey the law after the whole step.
        let scale = if checked && self.shared.is_empty() { self.damped() } else { 1.0 };
        let work = &mut *self.work;
        for i in 0..work.step.len() {
            work.step[i] += scale * work.correction[i];
            work.linear[i] += scale * work.product[i];
        }
        // Friction does not drive: what it would push back, it holds.
        let mut turned = 0;
        for (own, way) in self.own.iter().zip(&ways) {
            let k = own.row;
            self.rows[k].turned = false;
            if self.rows[k].status == ContactStatus::Slip {
                let d = self.displaced(k);
                if d[1] * way[0] + d[2] * way[1] < 0.0 && d[1].hypot(d[2]) > floor {
                    self.rows[k].status = ContactStatus::Stick;
                    self.rows[k].turned = true;
                    turned += 1;
                }
            }
        }
        Ok(turned)
    }

    /// The correction that the held system asks for, and A times it.
    fn solve_held(&mut self, last: bool) -> Result<(), SolveError> {
        for (c, l) in self.work.correction.iter_mut().zip(&self.work.linear) {
            *c = -l;
        }
        for &Own { row: k, .. } in &self.own {
            let row = &self.rows[k];
            if row.status == ContactStatus::Open {
                continue;
            }
            // Where one vertex carries the contact, the balance there is the contact's.
            let d = self.displaced(k);
            let mut pull = -row.stiff[0] * d;
            if row.status == ContactStatus::Slip {
                let left = row.local(&at(&self.work.linear, row.unknowns[0])) - self.carried(k, &d);
                (pull[1], pull[2]) = (-left[1], -left[2]);
            }
            let pull = row.world(&pull);
            self.work.correction[row.unknowns[0]..][..3].copy_from_slice(pull.as_slice());
        }
        self.problem.model.clear_fixed(&mut self.work.correction);
        self.system.solve(&mut self.work.correction);
        if !self.shared.is_empty() {
            self.share(last)?;
        }
        // Nothing is carried into a collider.
        for &Own { row: k, .. } in &self.own {
            let row = &self.rows[k];
            if row.status != ContactStatus::Open {
                continue;
            }
            let (i, n) = (row.unknowns[0], row.frame[0]);
            let depth = self.displaced(k)[0].max(0.0) + n.dot(&at(&self.work.correction, i));
            if depth < 0.0 {
                for c in 0..3 {
                    self.work.correction[i + c] -= depth * n[c];
                }
            }
        }
        let work = &mut *self.work;
        if self.shared.is_empty() {
            self.system.multiply(&work.correction, &mut work.product);
        } else {
            self.system.multiply_all(self.problem.model, &work.correction, &mut work.product);
        }
        self.problem.model.clear_fixed(&mut work.product);
        Ok(())
    }

    /// Part of the correction after which the linearised problem gains nothing more.
    fn damped(&self) -> f64 {
        let work = &*self.work;
        let (slope, curve) =
            (dot(&work.linear, &work.correction), dot(&work.product, &work.correction));
        let ways: Vec<[Vector<3>; 2]> = self
            .own
            .iter()
            .map(|own| {
                let row = &self.rows[own.row];
                [self.displaced(own.row), row.local(&row.sum(&work.correction))]
            })
            .collect();
        let slope_at = |scale: f64| -> f64 {
            let mut sum = slope + scale * curve;
            for (own, [d, way]) in self.own.iter().zip(&ways) {
                let row = &self.rows[own.row];
                let e = d + scale * way;
                if row.status != ContactStatus::Open {
                    let normal = row.local(&at(&work.linear, row.unknowns[0]))[0].max(0.0);
                    let [c, s] = row.way(&e, 0.0);
                    // The normal force does the work it does in the slope.
                    sum += normal * (row.contact.friction * (c * way[1] + s * way[2]) - way[0]);
                }
            }
            sum
        };
        if slope_at(1.0) <= 0.0 {
            return 1.0;
        }
        // Convex: its slope changes sign once.
        let [mut low, mut high] = [0.0, 1.0];
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if slope_at(middle) <= 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high.max(SHORTEST)
    }

    /// Solves every contact exactly, all that is around its vertex held. How many changed what they do.
    fn sweep(&mut self) -> usize {
        let mut changes = 0;
        for around in &self.own {
            let k = around.row;
            if self.rows[k].turned {
                continue;
            }
            let d = self.displaced(k);
            let row = &mut self.rows[k];
            let w = &around.compliance;
            // What the contact would be left with if it carried nothing.
            let force = row.local(&at(&self.work.linear, row.unknowns[0]));
            let Some((new, to, status)) = alone(w, &(d - w * force), row.contact.friction) else {
                continue;
            };
            if status == ContactStatus::Open && row.status == ContactStatus::Open {
                continue; // the linear solve knows better where it goes
            }
            changes += usize::from(status != row.status);
            row.decide(status, &new);
            let (i, e) = (row.unknowns[0], row.world(&(to - d)));
            for c in 0..3 {
                self.work.step[i + c] += e[c];
            }
            self.system.spread(&around.vertex, i, &e, &mut self.work.linear);
        }
        changes
    }
}
