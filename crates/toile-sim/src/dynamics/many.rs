//! Contacts that share vertices where they are many.
//!
//! What they feel of each other is not written down then: forces go through the factorised balance, and alternating directions need one more
//! factorisation, of the balance with all these contacts braced by springs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toile_cone::{Operator, ShiftedSolve, Sweep};
use toile_num::Matrix;

use super::rows::{Row, at};
use super::system::System;
use crate::Model;

/// Contacts that tell how far they yield.
const SAMPLES: usize = 6;

/// W of contacts in the balance that was factorised last.
pub(super) struct Many<'a> {
    model: &'a Model,
    rows: Vec<&'a Row>,
    /// W of each contact, roughly \[m/N\].
    own: Vec<Matrix<3, 3>>,
    inner: Mutex<Inner<'a>>,
}

struct Inner<'a> {
    system: &'a mut System,
    moved: Vec<f64>,
}

impl<'a> Many<'a> {
    pub(super) fn new(model: &'a Model, system: &'a mut System, rows: Vec<&'a Row>) -> Self {
        let own = |row: &&Row| {
            let mut sum = Matrix::<3, 3>::zeros();
            for k in 0..row.contact.count as usize {
                let i = row.unknowns[k];
                if let Some(inverse) =
                    system.diagonal(i).try_inverse().filter(|_| !model.fixed()[i])
                {
                    sum += inverse * row.contact.weights[k].powi(2);
                }
            }
            row.local_matrix(&sum)
        };
        let own = rows.iter().map(own).collect();
        let moved = vec![0.0; model.len()];
        let mut many = Self { model, rows, own, inner: Mutex::new(Inner { system, moved }) };
        many.sample();
        many
    }

    /// Makes up for what is around the vertices, which yields too, by asking a few contacts.
    fn sample(&mut self) {
        let count = self.rows.len();
        let mut force = vec![0.0; 3 * count];
        let mut slide = force.clone();
        let (mut alone, mut all) = (0.0, 0.0);
        for k in (0..count).step_by(count.div_ceil(SAMPLES).max(1)) {
            force[3 * k] = 1.0;
            self.apply(&force, &mut slide);
            force[3 * k] = 0.0;
            alone += self.own[k][(0, 0)];
            all += slide[3 * k];
        }
        if alone > 0.0 && all > alone {
            self.own.iter_mut().for_each(|own| *own *= all / alone);
        }
    }

    /// Size of W, by the contact that yields most.
    pub(super) fn norm(&self) -> f64 {
        self.own.iter().map(Matrix::trace).fold(0.0, f64::max)
    }

    fn inner(&self) -> MutexGuard<'_, Inner<'a>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forces at all vertices.
    fn spread(&self, forces: &[f64], scale: f64, moved: &mut [f64]) {
        moved.fill(0.0);
        for (k, row) in self.rows.iter().enumerate() {
            let force = at(forces, 3 * k);
            if force.amax() > 0.0 {
                row.scatter_free(&force, scale, self.model.fixed(), moved);
            }
        }
    }
}

impl Operator<3> for Many<'_> {
    fn contacts(&self) -> usize {
        self.rows.len()
    }

    fn apply(&self, r: &[f64], out: &mut [f64]) {
        let mut inner = self.inner();
        let Inner { system, moved } = &mut *inner;
        self.spread(r, 1.0, moved);
        system.solve(moved);
        for (row, out) in self.rows.iter().zip(out.chunks_exact_mut(3)) {
            out.copy_from_slice(row.local(&row.sum(moved)).as_slice());
        }
    }

    fn diagonal(&self, i: usize) -> Matrix<3, 3> {
        self.own[i]
    }

    fn sweep<'b>(&'b self, _r: &[f64]) -> Option<Box<dyn Sweep<3> + 'b>> {
        None
    }

    fn shifted<'b>(&'b self, rho: f64) -> Option<Box<dyn ShiftedSolve + 'b>> {
        let brace = Matrix::<3, 3>::identity() / rho;
        let pairs = self.rows.iter().map(|row| (*row, brace));
        self.inner().system.brace(self.model, pairs).ok()?;
        Some(Box::new(Braced { many: self, rho }))
    }
}

/// (W + ρ1)⁻¹, by Woodbury's formula.
struct Braced<'a, 'b> {
    many: &'b Many<'a>,
    rho: f64,
}

impl ShiftedSolve for Braced<'_, '_> {
    fn solve(&self, x: &mut [f64]) {
        let mut inner = self.many.inner();
        let Inner { system, moved } = &mut *inner;
        self.many.spread(x, 1.0 / self.rho, moved);
        system.solve_braced(moved);
        for (row, x) in self.many.rows.iter().zip(x.chunks_exact_mut(3)) {
            let away = row.local(&row.sum(moved));
            for c in 0..3 {
                x[c] = (x[c] - away[c]) / self.rho;
            }
        }
    }
}
