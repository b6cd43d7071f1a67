//! Hybrid Gauss–Seidel: each contact in turn solved exactly, the others held.

use rayon::prelude::*;
use toile_num::Vector;

use crate::clusters;
use crate::local::Contact;
use crate::newton::Polish;
use crate::operator::Sweep;
use crate::problem::Problem;
use crate::small::{block, set_block};
use crate::solver::{Monitor, Settings, Solution, Solver, Stop, Watch, started};

/// Sweeps between attempts on what they leave behind.
const CLUSTERS_EVERY: usize = 40;

/// Nonsmooth Gauss–Seidel with the exact contact solver inside.
///
/// Reference: Jean 1999; Daviet, Bertails-Descoubes, Boissieux 2011. Needs row products.
#[derive(Clone, Copy, Debug)]
pub struct GaussSeidel {
    /// Sweeps between measurements: one costs about as much as a sweep.
    pub measure_every: usize,
    /// Sweep independent contacts in parallel where the operator knows them. The order, and so the
    /// result, is that of the colours for any number of threads.
    pub colours: bool,
}

impl Default for GaussSeidel {
    fn default() -> Self {
        GaussSeidel { measure_every: 5, colours: true }
    }
}

impl<const D: usize> Solver<D> for GaussSeidel {
    fn name(&self) -> &'static str {
        "gauss-seidel"
    }

    fn solve(
        &self,
        problem: &Problem<'_, D>,
        start: Option<&[f64]>,
        settings: &Settings,
        watch: Watch<'_>,
    ) -> Solution {
        let mut monitor = Monitor::new(problem, settings, watch);
        let mut r = started(problem, start);
        let mut stop = monitor.measure(0, &r);
        let Some(mut sweeps) = Sweeps::new(problem, self.colours) else {
            return monitor.finish(Stop::Unsupported);
        };
        let mut polish = Polish::new(problem, 50);
        let mut u = vec![0.0; r.len()];
        while stop.is_none() {
            let count = self.measure_every.max(1);
            sweeps.run(&mut r, count);
            stop = monitor.measure(monitor.iterations + count, &r);
            // What most contacts have settled around is solved together.
            if stop.is_none() && monitor.iterations.is_multiple_of(CLUSTERS_EVERY) {
                monitor.problem.velocity(&r, &mut u);
                if clusters::improve(problem, settings, &mut r, &mut u) {
                    stop = monitor.measure(monitor.iterations, &r);
                }
            }
            // Newton steps pay when the sets of sticking and sliding contacts have settled.
            if stop.is_none() {
                stop = polish.run(monitor.iterations, &r, &mut monitor);
            }
        }
        monitor.finish(stop.unwrap_or(Stop::Stalled))
    }
}

/// Contacts prepared for sweeping.
pub(crate) struct Sweeps<'a, const D: usize> {
    problem: &'a Problem<'a, D>,
    contacts: Vec<Contact<D>>,
    colours: Option<Vec<Vec<u32>>>,
    next: Vec<Vector<D>>,
}

impl<'a, const D: usize> Sweeps<'a, D> {
    /// `None` when the operator has no row products.
    pub(crate) fn new(problem: &'a Problem<'a, D>, colours: bool) -> Option<Self> {
        let operator = problem.operator();
        operator.sweep(&vec![0.0; problem.b().len()])?;
        let contacts = (0..problem.contacts())
            .map(|i| Contact::new(problem.law(), problem.mu()[i], &operator.diagonal(i)))
            .collect();
        let colours = if colours { operator.colours() } else { None };
        Some(Sweeps { problem, contacts, colours, next: Vec::new() })
    }

    /// That many sweeps from r.
    pub(crate) fn run(&mut self, r: &mut [f64], count: usize) {
        let Some(mut sweep) = self.problem.operator().sweep(r) else { return };
        for _ in 0..count {
            match self.colours.take() {
                Some(colours) => {
                    for colour in &colours {
                        self.colour(colour, r, sweep.as_mut());
                    }
                    self.colours = Some(colours);
                }
                None => {
                    for i in 0..self.contacts.len() {
                        let new = self.one(i, r, sweep.as_ref());
                        let old = block::<D>(r, i);
                        sweep.add(i, &(new - old));
                        set_block(r, i, &new);
                    }
                }
            }
        }
    }

    fn one(&self, i: usize, r: &[f64], sweep: &dyn Sweep<D>) -> Vector<D> {
        let old = block::<D>(r, i);
        let contact = &self.contacts[i];
        let own = contact.matrix() * old;
        let b = block::<D>(self.problem.b(), i) + sweep.row(i) - own;
        contact.solve(&b, &old).r
    }

    fn colour(&mut self, colour: &[u32], r: &mut [f64], sweep: &mut dyn Sweep<D>) {
        let mut next = std::mem::take(&mut self.next);
        {
            let (shared, now): (&dyn Sweep<D>, &[f64]) = (sweep, r);
            colour
                .par_iter()
                .with_min_len(32)
                .map(|&i| self.one(i as usize, now, shared))
                .collect_into_vec(&mut next);
        }
        for (&i, new) in colour.iter().zip(&next) {
            let old = block::<D>(r, i as usize);
            sweep.add(i as usize, &(new - old));
            set_block(r, i as usize, new);
        }
        self.next = next;
    }
}

/// Sweeps r on without measuring in between; projection steps where there are no rows.
pub(crate) fn carry<const D: usize>(
    r: &mut [f64],
    monitor: &mut Monitor<'_, D>,
    count: usize,
) -> Option<Stop> {
    let problem = monitor.problem;
    match Sweeps::new(problem, true) {
        Some(mut sweeps) => sweeps.run(r, count),
        None => crate::gradient::projected_steps(problem, r, 5 * count),
    }
    monitor.measure(monitor.iterations + count, r)
}
