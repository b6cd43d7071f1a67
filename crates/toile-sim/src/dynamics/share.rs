//! Contacts that share vertices, in a linearised balance whose other contacts are held.
//!
//! With what these contacts feel of each other as a dense matrix, the law for all of them is a problem for the kernel of cones. Most of those
//! that may close do not: the matrix is written down for those that push, and for those that would pierce without them, until none of the
//! others does.

use nalgebra::DMatrix;
use toile_cone::{Admm, DenseOperator, GaussSeidel, Problem, Settings, Solution, Solver, Status};
use toile_num::Vector;
use toile_solve::SolveError;

use super::linear::Linearised;
use super::rows::{ContactStatus, Row};

/// Violation of the law that is left, in units of the largest force; of a problem that is only a guess for the next.
const LAW: f64 = 1e-8;
const GUESS: f64 = 1e-2;

/// Sweeps over the contacts at most. Where many of them say nearly the same thing, sweeps creep, and alternating directions with a small
/// shift go on.
const SWEEPS: usize = 100;
const ALTERNATIONS: usize = 600;
const SHIFT: f64 = 0.03;

/// Contacts from which on that costs more than it brings, and sweeps then.
const MANY: usize = 150;
const MANY_SWEEPS: usize = 300;

/// Depth that counts as none, in units of the fall.
const PIERCED: f64 = 1e-4;

/// Mean violation of the law that is accepted, over the largest force.
const LAWFUL: f64 = 1e-6;

impl Linearised<'_> {
    /// Whether the contacts that share vertices obey the law after the step, all in all.
    pub(super) fn is_lawful(&self) -> bool {
        let (mut largest, mut sum) = (self.problem.weight(), 0.0);
        for &k in &self.shared {
            sum += self.rows[k].law_error(&self.displaced(k));
        }
        for row in &*self.rows {
            largest = largest.max(row.planned.norm());
        }
        sum <= LAWFUL * largest * self.rows.len() as f64
    }

    /// Forces of the contacts that share vertices, and what they add to the correction, which is that without them.
    pub(super) fn share(&mut self, last: bool) -> Result<(), SolveError> {
        let count = self.shared.len();
        let floor = -PIERCED * self.problem.fall;
        let row_of = |s: usize| self.shared[s];
        let free: Vec<Vector<3>> = (0..count)
            .map(|s| {
                let row = &self.rows[row_of(s)];
                self.displaced(row_of(s)) + row.local(&row.sum(&self.work.correction))
            })
            .collect();
        let mut forces: Vec<Vector<3>> = (0..count).map(|s| self.rows[row_of(s)].force).collect();
        let mut active: Vec<bool> =
            (0..count).map(|s| free[s][0] < floor || forces[s][0] > 0.0).collect();
        loop {
            let list: Vec<usize> = (0..count).filter(|s| active[*s]).collect();
            if list.is_empty() {
                self.work.before.fill(0.0);
                break;
            }
            let found = self.solve_shared(&list, &free, &forces, last)?;
            for (at, &s) in list.iter().enumerate() {
                forces[s] = Vector::<3>::from_column_slice(&found.r[3 * at..][..3]);
                self.rows[self.shared[s]].decide(status(found.status[at]), &forces[s]);
            }
            // Where they move everything; the direction of the last search is not needed any more.
            let moved = &mut self.work.before;
            moved.fill(0.0);
            for (&k, force) in self.shared.iter().zip(&forces) {
                self.rows[k].scatter_free(force, 1.0, self.problem.model.fixed(), moved);
            }
            self.system.solve(moved);
            let mut pierced = false;
            for s in 0..count {
                let row = &self.rows[self.shared[s]];
                if !active[s] && free[s][0] + row.frame[0].dot(&row.sum(moved)) < floor {
                    (active[s], pierced) = (true, true);
                }
            }
            // A guess may be wrong about a few.
            if !pierced || !last {
                break;
            }
        }
        for (s, force) in forces.iter().enumerate() {
            let row = &mut self.rows[self.shared[s]];
            if !active[s] {
                row.status = ContactStatus::Open;
            }
            (row.planned, row.force) = (*force, *force);
            row.bound = row.contact.friction * force[0];
        }
        let work = &mut *self.work;
        for (c, moved) in work.correction.iter_mut().zip(&work.before) {
            *c += moved;
        }
        Ok(())
    }

    /// The law among some of the contacts.
    fn solve_shared(
        &self,
        list: &[usize],
        free: &[Vector<3>],
        start: &[Vector<3>],
        last: bool,
    ) -> Result<Solution, SolveError> {
        let rows: Vec<&Row> = list.iter().map(|s| &self.rows[self.shared[*s]]).collect();
        let compliance = self.system.compliance(self.problem.model, &rows)?;
        let flat = |of: &[Vector<3>]| -> Vec<f64> {
            list.iter().flat_map(|s| of[*s].iter().copied()).collect()
        };
        let (b, start) = (flat(free), flat(start));
        let friction: Vec<f64> = rows.iter().map(|row| row.contact.friction).collect();
        let settings = Settings {
            tolerance: if last { LAW } else { GUESS },
            max_iterations: if list.len() < MANY { SWEEPS } else { MANY_SWEEPS },
            force_floor: Some(self.problem.weight()),
            // Contacts that say the same thing leave Newton steps nothing to go by.
            polish: false,
        };
        let not_finite = |_| SolveError::NotFinite { what: "contact" };
        let matrix = DMatrix::from_vec(b.len(), b.len(), compliance);
        let operator = DenseOperator::<3>::new(matrix).map_err(not_finite)?;
        let problem = Problem::new(&operator, &b, &friction).map_err(not_finite)?;
        let swept = GaussSeidel::default().solve(&problem, Some(&start), &settings, &|_, _| true);
        if swept.converged() || !last || list.len() >= MANY {
            return Ok(swept);
        }
        let settings = Settings { max_iterations: ALTERNATIONS, ..settings };
        let admm = Admm { measure_every: 20, factorisations: 1, shift: SHIFT };
        Ok(admm.solve(&problem, Some(&swept.r), &settings, &|_, _| true))
    }
}

fn status(of: Status) -> ContactStatus {
    match of {
        Status::TakeOff => ContactStatus::Open,
        Status::Stick => ContactStatus::Stick,
        Status::Slip => ContactStatus::Slip,
    }
}
