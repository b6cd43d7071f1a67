//! Hybrid Gauss–Seidel: each contact in turn solved exactly, the others held.

use toile_num::Vector;
use toile_num::parallel::for_chunks;

use crate::alart_curnier::contact_residual;
use crate::clusters;
use crate::cone::project_cone;
use crate::local::Contact;
use crate::mixing::Mixing;
use crate::newton::Polish;
use crate::operator::Sweep;
use crate::problem::Problem;
use crate::small::{block, set_block};
use crate::solver::{Monitor, Settings, Solution, Solver, Stop, Watch, started};

/// Sweeps between attempts on what they leave behind.
const CLUSTERS_EVERY: usize = 40;
/// Contacts that still break the law at which an attempt is cheap, and the sweeps after which it may be made again.
const FEW: usize = 24;
const CLUSTERS_REST: usize = 15;
/// Unknowns up to which dense Newton steps cost no more than a few sweeps, and the sweeps after which larger problems try them.
const SMALL: usize = 150;
const POLISH_LARGE: usize = 200;
/// Fall of the residual between two attempts on clusters beyond which sweeps creep.
const CREEPING: f64 = 0.1;
/// Part of the tolerance within which an open contact is left alone until it is measured again.
const OPEN: f64 = 0.1;

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
        let mut u = vec![0.0; r.len()];
        problem.velocity(&r, &mut u);
        let mut stop = monitor.measure_with(0, &r, &u);
        let Some(mut sweeps) = Sweeps::new(problem, self.colours) else {
            return monitor.finish(Stop::Unsupported);
        };
        let mut polish = Polish::new(problem, 50);
        let mut mixing = Mixing::default();
        mixing.restart();
        // Small problems are ended by Newton steps, which need no help; those of a few hundred unknowns pay late.
        let large = D * problem.contacts() > SMALL;
        let mut before = r.clone();
        // When clusters may be tried again, when they were tried, and the residual then.
        let mut clustered = (CLUSTERS_REST, 0, 0.0);
        while stop.is_none() {
            sweeps.choose(&r, &u, settings);
            let count = self.measure_every.max(1);
            for _ in 0..count {
                before.copy_from_slice(&r);
                sweeps.run(&mut r, 1);
                if large && mixing.mix(&before, &mut r) {
                    for i in 0..problem.contacts() {
                        let kept = project_cone(problem.mu()[i], &block::<D>(&r, i));
                        set_block(&mut r, i, &kept);
                    }
                }
            }
            problem.velocity(&r, &mut u);
            stop = monitor.measure_with(monitor.iterations + count, &r, &u);
            // What most contacts have settled around is solved together: where little is left, or where sweeps creep.
            if large && stop.is_none() && monitor.iterations >= clustered.0 {
                let now = monitor.last_residual();
                let few = sweeps.broken(&r, &u, settings) <= FEW;
                let creeps = monitor.iterations >= clustered.1 + CLUSTERS_EVERY
                    && now > CREEPING * clustered.2;
                if few || creeps {
                    clustered = (monitor.iterations + CLUSTERS_REST, monitor.iterations, now);
                    if clusters::improve(problem, settings, &mut r, &mut u) {
                        mixing.restart();
                        stop = monitor.measure(monitor.iterations, &r);
                    }
                }
            }
            // Newton steps pay when the sets of sticking and sliding contacts have settled.
            if stop.is_none() && (!large || monitor.iterations >= POLISH_LARGE) {
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
    /// Contacts that are swept; all of them where it is empty.
    wanted: Vec<bool>,
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
        Some(Sweeps { problem, contacts, colours, next: Vec::new(), wanted: Vec::new() })
    }

    /// From now on sweeps only over contacts that press or break the law: open ones are looked at again when everything is
    /// measured.
    fn choose(&mut self, r: &[f64], u: &[f64], settings: &Settings) {
        let most = OPEN * settings.tolerance * self.problem.force_scale(r, settings.force_floor);
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.clear();
        wanted.extend(
            (0..self.problem.contacts())
                .map(|i| block::<D>(r, i).amax() > 0.0 || !(self.residual(i, r, u) <= most)),
        );
        self.wanted = wanted;
    }

    /// Contacts that break the law by more than the tolerance allows.
    fn broken(&self, r: &[f64], u: &[f64], settings: &Settings) -> usize {
        let most = settings.tolerance * self.problem.force_scale(r, settings.force_floor);
        (0..self.problem.contacts()).filter(|&i| !(self.residual(i, r, u) <= most)).count()
    }

    fn residual(&self, i: usize, r: &[f64], u: &[f64]) -> f64 {
        let (r, u) = (block::<D>(r, i), block::<D>(u, i));
        let problem = self.problem;
        contact_residual(problem.law(), problem.mu()[i], problem.rho(), &r, &u).amax()
    }

    /// That many sweeps from r.
    pub(crate) fn run(&mut self, r: &mut [f64], count: usize) {
        let Some(mut sweep) = self.problem.operator().sweep(r) else { return };
        let wanted = |i: &u32| self.wanted.get(*i as usize).is_none_or(|wanted| *wanted);
        let keep = |group: &Vec<u32>| group.iter().copied().filter(&wanted).collect::<Vec<u32>>();
        if let Some(colours) = &self.colours {
            let groups: Vec<Vec<u32>> =
                colours.iter().map(keep).filter(|group| !group.is_empty()).collect();
            for _ in 0..count {
                for group in &groups {
                    self.colour(group, r, sweep.as_mut());
                }
            }
        } else {
            let all: Vec<u32> = (0..self.contacts.len() as u32).filter(&wanted).collect();
            for _ in 0..count {
                for &i in &all {
                    let i = i as usize;
                    let new = self.one(i, r, sweep.as_ref());
                    let old = block::<D>(r, i);
                    sweep.add(i, &(new - old));
                    set_block(r, i, &new);
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
            next.resize(colour.len(), Vector::zeros());
            for_chunks(&mut next, 32, |c, part| {
                for (new, &i) in part.iter_mut().zip(&colour[32 * c..]) {
                    *new = self.one(i as usize, now, shared);
                }
            });
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
