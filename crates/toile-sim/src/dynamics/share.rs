//! Contacts that share vertices, in a linearised balance whose other contacts are held.
//!
//! With what these contacts feel of each other as a dense matrix, the law for all of them is a problem for the kernel of cones. Most of those
//! that may close do not: the matrix is written down for those that push, and for those that would pierce without them, a few at a time until
//! none of the others does.

use nalgebra::DMatrix;
use toile_cone::{Admm, DenseOperator, GaussSeidel, Problem, Settings, Solution, Solver, Status};
use toile_num::Vector;
use toile_solve::{Compliance, SolveError};

use super::linear::Linearised;
use super::many::Many;
use super::rows::{ContactStatus, Row};

/// Violation of the law that is left in a problem that is only a guess for the next, in units of the largest force.
const GUESS: f64 = 1e-2;

/// Sweeps over the contacts at most. Where many of them say nearly the same thing, sweeps creep, and alternating directions with a small
/// shift go on.
const SWEEPS: usize = 40;
const ALTERNATIONS: usize = 600;
const SHIFT: f64 = 0.03;

/// The shift where contacts are many and there are no sweeps: large ones are quick to tell which push, smaller ones to end.
const FIRST_SHIFT: f64 = 1.0;
const SECOND_SHIFT: f64 = 0.2;

/// Trials of which contacts push, of a problem that is only a guess, and those in which they may let go again.
const MOST_TRIES: usize = 20;
const GUESSES: usize = 3;
const LETTING_GO: usize = 4;

/// Depth that counts as none, in units of the fall.
const PIERCED: f64 = 1e-4;

/// Gap of contacts that may yet push, the same.
const NEARLY: f64 = 0.05;

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
        let forces: Vec<Vector<3>> = (0..count).map(|s| self.rows[row_of(s)].force).collect();
        let mut active: Vec<bool> = forces.iter().map(|force| force[0] > 0.0).collect();
        if !active.contains(&true) {
            active = free.iter().map(|d| d[0] < floor).collect();
        }
        // Where each trial costs a factorisation, more are tried at once.
        let mut kept = floor;
        if !self.system.condenses() {
            active.fill(true);
            kept = NEARLY * self.problem.fall;
        }
        let mut sharing = Sharing { compliance: None, place: vec![None; count], free, forces };
        let law = self.problem.settings.contact_tolerance;
        let mut tolerance = GUESS.max(law);
        self.work.before.fill(0.0);
        for round in 1..=MOST_TRIES {
            let list: Vec<usize> = (0..count).filter(|s| active[*s]).collect();
            if list.is_empty() {
                break;
            }
            let found = self.solve_shared(&mut sharing, &list, tolerance)?;
            for (at, &s) in list.iter().enumerate() {
                sharing.forces[s] = Vector::<3>::from_column_slice(&found.r[3 * at..][..3]);
                self.rows[self.shared[s]].decide(status(found.status[at]), &sharing.forces[s]);
            }
            // Where they move everything; the direction of the last search is not needed any more.
            let moved = &mut self.work.before;
            moved.fill(0.0);
            for (&k, force) in self.shared.iter().zip(&sharing.forces) {
                self.rows[k].scatter_free(force, 1.0, self.problem.model.fixed(), moved);
            }
            self.system.solve(moved);
            // Those that were asked and do not push are asked again only while they are looked for.
            let mut pierced = false;
            for s in 0..count {
                let row = &self.rows[self.shared[s]];
                let pushes = sharing.forces[s][0] > 0.0;
                let gap = sharing.free[s][0] + row.frame[0].dot(&row.sum(moved));
                pierced |= gap < floor && !active[s];
                active[s] = pushes || gap < kept || (active[s] && round > LETTING_GO);
            }
            if pierced && (last || round < GUESSES) {
                continue;
            }
            if !last || tolerance == law {
                break;
            }
            tolerance = law;
        }
        for (s, force) in sharing.forces.iter().enumerate() {
            let row = &mut self.rows[self.shared[s]];
            // What is too little to be told from nothing is a force all the same.
            if force[0] <= 0.0 {
                row.status = ContactStatus::Open;
            } else if row.status == ContactStatus::Open {
                row.decide(ContactStatus::Slip, force);
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
        &mut self,
        sharing: &mut Sharing,
        list: &[usize],
        tolerance: f64,
    ) -> Result<Solution, SolveError> {
        let model = self.problem.model;
        let row = |s: &usize| &self.rows[self.shared[*s]];
        let flat = |of: &[Vector<3>]| -> Vec<f64> {
            list.iter().flat_map(|s| of[*s].iter().copied()).collect()
        };
        let (b, start) = (flat(&sharing.free), flat(&sharing.forces));
        let friction: Vec<f64> = list.iter().map(|s| row(s).contact.friction).collect();
        let settings = Settings {
            tolerance,
            max_iterations: SWEEPS,
            force_floor: Some(self.problem.weight()),
            // Contacts that say the same thing leave Newton steps nothing to go by.
            polish: false,
        };
        let not_finite = |_| SolveError::NotFinite { what: "contact" };
        let go_on = |_: usize, _: f64| true;
        let admm = Admm { measure_every: 10, factorisations: 1, shift: SHIFT };
        let longer = Settings { max_iterations: ALTERNATIONS, ..settings };
        if !self.system.writes_down(list.len()) {
            let many = Many::new(model, self.system, list.iter().map(row).collect());
            let norm = many.norm();
            let problem = Problem::with_norm(&many, &b, &friction, norm).map_err(not_finite)?;
            let guess = tolerance > self.problem.settings.contact_tolerance;
            let admm = Admm { shift: if guess { FIRST_SHIFT } else { SECOND_SHIFT }, ..admm };
            return Ok(admm.solve(&problem, Some(&start), &longer, &go_on));
        }
        let compliance = match &mut sharing.compliance {
            Some(compliance) => compliance,
            none => none.insert(self.system.compliance()?),
        };
        let new: Vec<usize> =
            list.iter().copied().filter(|s| sharing.place[*s].is_none()).collect();
        for (k, &s) in new.iter().enumerate() {
            sharing.place[s] = Some(compliance.columns() + 3 * k);
        }
        let rows: Vec<&Row> = new.iter().map(row).collect();
        self.system.extend(model, compliance, &rows);
        let columns: Vec<usize> =
            list.iter().flat_map(|s| sharing.place[*s]).flat_map(|at| at..at + 3).collect();
        let matrix = DMatrix::from_fn(columns.len(), columns.len(), |r, c| {
            compliance.at(columns[r], columns[c])
        });
        let operator = DenseOperator::<3>::new(matrix).map_err(not_finite)?;
        let problem = Problem::roughly(&operator, &b, &friction).map_err(not_finite)?;
        let swept = GaussSeidel::default().solve(&problem, Some(&start), &settings, &go_on);
        if swept.converged() || tolerance > self.problem.settings.contact_tolerance {
            return Ok(swept);
        }
        let found = admm.solve(&problem, Some(&swept.r), &longer, &go_on);
        let error = |solution: &Solution| solution.residuals.alart_curnier;
        Ok(if error(&found) < error(&swept) { found } else { swept })
    }
}

/// What is known of the contacts that share vertices while they are solved.
struct Sharing {
    /// As soon as it is wanted.
    compliance: Option<Compliance>,
    /// First of the three columns of each contact.
    place: Vec<Option<usize>>,
    /// d without the forces of any of them.
    free: Vec<Vector<3>>,
    forces: Vec<Vector<3>>,
}

fn status(of: Status) -> ContactStatus {
    match of {
        Status::TakeOff => ContactStatus::Open,
        Status::Stick => ContactStatus::Stick,
        Status::Slip => ContactStatus::Slip,
    }
}
