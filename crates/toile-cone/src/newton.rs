//! Alart–Curnier semismooth Newton: quadratic near a solution, also where W is singular.

use nalgebra::{DMatrix, DVector};
use toile_num::{Matrix, Vector};

use crate::alart_curnier::linearised;
use crate::cone::project_cone;
use crate::fischer_burmeister::contact_derivatives;
use crate::krylov::Gmres;
use crate::problem::Problem;
use crate::random::Random;
use crate::small::{block, set_block, solve};
use crate::solver::{Monitor, Settings, Solution, Solver, Stop, Watch, started};

/// Newton's method on Alart and Curnier's function F, in the sense of Levenberg and Marquardt:
/// each step minimises ‖F + J d‖² + λ‖d‖², so that many forces for one motion (W singular) are no
/// obstacle. Where it stalls, projection steps carry it elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlartCurnierNewton;

impl<const D: usize> Solver<D> for AlartCurnierNewton {
    fn name(&self) -> &'static str {
        "newton"
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
        let mut round = 0;
        let mut random = Random::new(1);
        while stop.is_none() {
            stop = Newton::new(problem).trial(round).run(&mut r, &mut monitor, 40);
            if stop == Some(Stop::Stalled) || stop.is_none() {
                round += 1;
                stop = None;
                if round % TRIALS.len() == 0 {
                    // Carry the iterate elsewhere: shake it, more each time, and sweep.
                    shake(problem, monitor.best(), 0.1 * round as f64, &mut random, &mut r);
                    stop = crate::gauss_seidel::carry(&mut r, &mut monitor, 20);
                }
            }
        }
        monitor.finish(stop.unwrap_or(Stop::Stalled))
    }
}

/// Forces near `from`, in their cones, moved by up to that part of the largest.
fn shake<const D: usize>(
    problem: &Problem<'_, D>,
    from: &[f64],
    part: f64,
    random: &mut Random,
    r: &mut [f64],
) {
    let size = part.min(1.0) * problem.force_scale(from, None);
    for i in 0..problem.contacts() {
        let moved = block::<D>(from, i) + Vector::from_fn(|_, _| random.normal() * size);
        set_block(r, i, &project_cone(problem.mu()[i], &moved));
    }
}

/// A function that vanishes exactly at solutions. They fail at different places, so where one
/// stalls another goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    AlartCurnier,
    FischerBurmeister,
}

/// Functions and factors of ρ in the order they are tried. Where W is large against |u|/|r| a large
/// ρ weighs velocities as much as forces.
const TRIALS: [(Function, f64); 6] = [
    (Function::AlartCurnier, 1.0),
    (Function::FischerBurmeister, 1.0),
    (Function::AlartCurnier, 30.0),
    (Function::FischerBurmeister, 30.0),
    (Function::AlartCurnier, 1000.0),
    (Function::FischerBurmeister, 1000.0),
];

/// Newton steps on one problem, its scales and buffers kept.
pub(crate) struct Newton<'a, const D: usize> {
    problem: &'a Problem<'a, D>,
    dense: Option<DMatrix<f64>>,
    /// ρ of each contact.
    rho: Vec<f64>,
    /// Which function is brought to zero.
    function: Function,
    diagonal: Vec<Matrix<D, D>>,
}

impl<'a, const D: usize> Newton<'a, D> {
    pub(crate) fn new(problem: &'a Problem<'a, D>) -> Self {
        let n = problem.contacts();
        let operator = problem.operator();
        let diagonal: Vec<Matrix<D, D>> = (0..n).map(|i| operator.diagonal(i)).collect();
        let rho = diagonal
            .iter()
            .map(|w| {
                let trace = w.trace();
                if trace > 0.0 { D as f64 / trace } else { problem.rho() }
            })
            .collect();
        let dense = if D * n <= crate::operator::DENSE_LIMIT { operator.dense() } else { None };
        Newton { problem, dense, rho, function: Function::AlartCurnier, diagonal }
    }

    /// The trial of that number, cyclically.
    pub(crate) fn trial(mut self, k: usize) -> Self {
        let (function, factor) = TRIALS[k % TRIALS.len()];
        self.function = function;
        self.rho.iter_mut().for_each(|rho| *rho *= factor);
        self
    }

    fn contact(&self, i: usize, r: &[f64], u: &[f64]) -> (Vector<D>, Matrix<D, D>, Matrix<D, D>) {
        let (mu, law, rho) = (self.problem.mu()[i], self.problem.law(), self.rho[i]);
        let (r, u) = (block(r, i), block(u, i));
        match self.function {
            Function::AlartCurnier => linearised(law, mu, rho, &r, &u),
            Function::FischerBurmeister => contact_derivatives(law, mu, rho, &r, &u),
        }
    }

    /// F, and ½‖F‖².
    fn function(&self, r: &[f64], u: &[f64], f: &mut [f64]) -> f64 {
        for i in 0..self.problem.contacts() {
            set_block(f, i, &self.contact(i, r, u).0);
        }
        let merit = 0.5 * f.iter().map(|x| x * x).sum::<f64>();
        if merit.is_finite() { merit } else { f64::INFINITY }
    }

    /// Steps until the monitor says stop, the merit stalls, or `most` steps are done (`None`).
    pub(crate) fn run(
        &mut self,
        r: &mut Vec<f64>,
        monitor: &mut Monitor<'_, D>,
        most: usize,
    ) -> Option<Stop> {
        let n = r.len();
        let (mut u, mut f) = (vec![0.0; n], vec![0.0; n]);
        let (mut trial, mut trial_u, mut trial_f) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.problem.velocity(r, &mut u);
        let mut merit = self.function(r, &u, &mut f);
        let mut damping = 1e-3;
        let mut idle = 0;
        let begun = merit;
        let mut before = merit;
        let mut forcing = 0.01;
        for step in 0..most {
            if merit == 0.0 {
                return Some(Stop::Stalled);
            }
            let mut accepted = false;
            for _ in 0..8 {
                let Some(d) = self.step(r, &u, &f, damping, forcing) else { break };
                trial.iter_mut().zip(r.iter().zip(&d)).for_each(|(t, (r, d))| *t = r + d);
                self.problem.velocity(&trial, &mut trial_u);
                let next = self.function(&trial, &trial_u, &mut trial_f);
                if next < merit * (1.0 - 1e-6) {
                    damping = if next < 0.25 * merit { damping * 0.02 } else { damping * 0.3 };
                    damping = damping.max(1e-14);
                    std::mem::swap(r, &mut trial);
                    std::mem::swap(&mut u, &mut trial_u);
                    std::mem::swap(&mut f, &mut trial_f);
                    merit = next;
                    accepted = true;
                    break;
                }
                damping = (damping * 10.0).max(1e-10);
            }
            if let Some(stop) = monitor.measure_with(monitor.iterations + 1, r, &u) {
                return Some(stop);
            }
            if !accepted {
                return Some(Stop::Stalled);
            }
            idle = if merit > 0.9 * before { idle + 1 } else { 0 };
            // Linear systems as exact as the last step was good (Eisenstat, Walker 1996).
            forcing = (0.5 * merit / before).clamp(1e-6, 0.01);
            before = merit;
            if idle > 6 || (step == 25 && merit > 0.5 * begun) {
                return Some(Stop::Stalled);
            }
        }
        None
    }

    /// The step of that damping, which is relative to the size of J; iterative systems are solved to
    /// `forcing`.
    fn step(
        &self,
        r: &[f64],
        u: &[f64],
        f: &[f64],
        damping: f64,
        forcing: f64,
    ) -> Option<Vec<f64>> {
        let n = self.problem.contacts();
        let parts: Vec<_> = (0..n)
            .map(|i| {
                let (_, by_r, by_u) = self.contact(i, r, u);
                (by_r, by_u)
            })
            .collect();
        match &self.dense {
            Some(w) => dense_step::<D>(w, &parts, f, damping),
            None => self.iterative_step(&parts, f, damping, forcing),
        }
    }

    fn iterative_step(
        &self,
        parts: &[(Matrix<D, D>, Matrix<D, D>)],
        f: &[f64],
        damping: f64,
        forcing: f64,
    ) -> Option<Vec<f64>> {
        let mut x = vec![0.0; f.len()];
        let right: Vec<f64> = f.iter().map(|x| -x).collect();
        let product = |z: &[f64], az: &mut [f64]| {
            for (i, (by_r, by_u)) in parts.iter().enumerate() {
                let zi = block::<D>(z, i);
                let v = (by_r + Matrix::identity() * damping) * zi + by_u * block::<D>(az, i);
                set_block(az, i, &v);
            }
        };
        let gmres = Gmres { restart: 50, most: 150, tolerance: forcing };
        let lagged = self.lagged(parts, damping);
        let factored = lagged.as_ref().and_then(|l| self.problem.operator().weighted(&l.weights));
        if let (Some(lagged), Some(factored)) = (&lagged, factored) {
            let both = |v: &[f64], z: &mut [f64], az: &mut [f64]| {
                for (i, inverse) in lagged.inverses.iter().enumerate() {
                    set_block(az, i, &(inverse * block::<D>(v, i)));
                }
                z.copy_from_slice(az);
                // W z of the z that is made next.
                factored.solve(az);
                for (i, weight) in lagged.weights.iter().enumerate() {
                    let zi = block::<D>(z, i) - weight * block::<D>(az, i);
                    set_block(z, i, &zi);
                }
                product(z, az);
            };
            gmres.solve(both, &right, &mut x);
        } else {
            let inverses: Vec<Option<Matrix<D, D>>> = parts
                .iter()
                .zip(&self.diagonal)
                .map(|((by_r, by_u), w)| inverse(&(by_r + by_u * w + Matrix::identity() * damping)))
                .collect();
            let both = |v: &[f64], z: &mut [f64], az: &mut [f64]| {
                for (i, inverse) in inverses.iter().enumerate() {
                    let vi = block::<D>(v, i);
                    set_block(z, i, &inverse.map_or(vi, |inverse| inverse * vi));
                }
                self.problem.operator().apply(z, az);
                product(z, az);
            };
            gmres.solve(both, &right, &mut x);
        }
        x.iter().all(|v| v.is_finite()).then_some(x)
    }

    /// The system of a step with the radius of each disc of friction held, ∂F/∂r + ∂F/∂u W ≈ D(1 + C W): C is symmetric, so that one
    /// Cholesky factorisation inverts it. Only for Alart and Curnier's function, F = r − P(r − ρu).
    fn lagged(&self, parts: &[(Matrix<D, D>, Matrix<D, D>)], damping: f64) -> Option<Lagged<D>> {
        if self.function != Function::AlartCurnier {
            return None;
        }
        // Contacts that stick have no stiffness of their own; this much keeps the factor sound.
        let soft = Matrix::<D, D>::identity() * damping.max(1e-4);
        let mut lagged = Lagged { inverses: Vec::new(), weights: Vec::new() };
        for (i, (_, by_u)) in parts.iter().enumerate() {
            let mut slope = by_u / self.rho[i];
            if self.problem.law() == crate::cone::Law::Coulomb {
                (1..D).for_each(|k| slope[(k, 0)] = 0.0);
            }
            let inverse = inverse(&(Matrix::identity() - slope + soft))?;
            let weight = inverse * slope * self.rho[i];
            lagged.inverses.push(inverse);
            lagged.weights.push((weight + weight.transpose()) * 0.5);
        }
        Some(lagged)
    }
}

/// A step's system as D(1 + C W), contact by contact.
struct Lagged<const D: usize> {
    /// D⁻¹.
    inverses: Vec<Matrix<D, D>>,
    /// C, symmetric.
    weights: Vec<Matrix<D, D>>,
}

fn inverse<const D: usize>(j: &Matrix<D, D>) -> Option<Matrix<D, D>> {
    let mut inverse = Matrix::<D, D>::zeros();
    for k in 0..D {
        let mut unit = Vector::<D>::zeros();
        unit[k] = 1.0;
        inverse.set_column(k, &solve(j, &unit)?);
    }
    Some(inverse)
}

/// min ‖F + J d‖² + λ‖d‖² by orthogonal factorisation, which does not square the condition of J.
fn dense_step<const D: usize>(
    w: &DMatrix<f64>,
    parts: &[(Matrix<D, D>, Matrix<D, D>)],
    f: &[f64],
    damping: f64,
) -> Option<Vec<f64>> {
    let n = f.len();
    let mut j = DMatrix::zeros(2 * n, n);
    for (i, (by_r, by_u)) in parts.iter().enumerate() {
        let mut rows = by_u * w.rows_generic(D * i, nalgebra::Const::<D>);
        let mut own = rows.fixed_view_mut::<D, D>(0, D * i);
        own += by_r;
        j.view_mut((D * i, 0), (D, n)).copy_from(&rows);
    }
    // Columns of like size, so that damping weighs all alike.
    let scales: Vec<f64> = (0..n).map(|k| j.column(k).norm().max(1e-12)).collect();
    for k in 0..n {
        j.column_mut(k).scale_mut(1.0 / scales[k]);
        j[(n + k, k)] = damping;
    }
    let mut right = DVector::zeros(2 * n);
    right.rows_mut(0, n).copy_from_slice(f);
    let qr = j.qr();
    qr.q_tr_mul(&mut right);
    let mut d = right.rows(0, n).into_owned();
    if !qr.r().solve_upper_triangular_mut(&mut d) {
        return None;
    }
    d.iter()
        .zip(&scales)
        .all(|(v, _)| v.is_finite())
        .then(|| d.iter().zip(&scales).map(|(v, s)| -v / s).collect())
}

/// When a method of linear convergence tries Newton steps.
pub(crate) struct Polish {
    /// Whether W is small enough for dense steps, which are cheap against the iterations.
    small: bool,
    every: usize,
    next: usize,
    last_residual: f64,
}

impl Polish {
    /// At first after `every` iterations, then at growing intervals; on small problems also whenever
    /// the residual has fallen a thousandfold.
    pub(crate) fn new<const D: usize>(problem: &Problem<'_, D>, every: usize) -> Self {
        let small = D * problem.contacts() <= crate::operator::DENSE_LIMIT;
        // On large ones an iteration is cheap against a Newton step.
        let every = if small { every } else { 10 * every };
        Polish { small, every, next: every, last_residual: f64::INFINITY }
    }

    /// Newton steps from r if it is time for them; the best goes to the monitor. `None` when more of
    /// the other method is needed.
    pub(crate) fn run<const D: usize>(
        &mut self,
        iteration: usize,
        r: &[f64],
        monitor: &mut Monitor<'_, D>,
    ) -> Option<Stop> {
        let residual = monitor.last_residual();
        let fallen = self.small && residual < 1e-3 * self.last_residual;
        if !monitor.settings.polish || residual > 0.05 || !(fallen || iteration >= self.next) {
            return None;
        }
        self.last_residual = residual;
        self.next = iteration + iteration / 2 + self.every;
        let mut trial: Vec<f64> = r.to_vec();
        for k in 0..if self.small { TRIALS.len() } else { 1 } {
            trial.copy_from_slice(r);
            let stop = Newton::new(monitor.problem).trial(k).run(&mut trial, monitor, 25);
            if stop.is_some() && stop != Some(Stop::Stalled) {
                return stop;
            }
        }
        None
    }
}
