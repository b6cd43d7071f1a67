//! Alternating directions: one factorisation of W + σ1, then a solve and a projection each time.

use crate::cone::{Law, project_cone};
use crate::krylov::conjugate_gradients;
use crate::mixing::Mixing;
use crate::newton::Polish;
use crate::operator::ShiftedSolve;
use crate::problem::{Problem, amax};
use crate::small::{block, set_block, tangent_norm};
use crate::solver::{Monitor, Settings, Solution, Solver, Stop, Watch, started};

/// Alternating direction method of multipliers on ½rᵀWr + (b + s)ᵀr over the cones, the De Saxcé
/// shift s following the dual variable.
///
/// Reference: Boyd, Parikh, Chu, Peleato, Eckstein 2011; with friction Tasora, Mangoni, Benatti,
/// Garziera 2021. Iterates are mixed as sweeps are. Needs `Operator::shifted`; conjugate gradients stand in for it.
#[derive(Clone, Copy, Debug)]
pub struct Admm {
    /// Iterations between measurements.
    pub measure_every: usize,
    /// Factorisations at most: σ is corrected only when primal and dual residuals lie far apart.
    pub factorisations: usize,
    /// σ at the start, in units of the mean diagonal of W. Small ones are slow at first and come further where contacts say nearly the
    /// same thing.
    pub shift: f64,
}

impl Default for Admm {
    fn default() -> Self {
        Admm { measure_every: 5, factorisations: 8, shift: 0.3 }
    }
}

/// Over-relaxation, within the range that is known to help.
const RELAXATION: f64 = 1.6;

enum Inverse<'a> {
    Factored(Box<dyn ShiftedSolve + 'a>),
    Iterative,
}

impl<const D: usize> Solver<D> for Admm {
    fn name(&self) -> &'static str {
        "admm"
    }

    fn solve(
        &self,
        problem: &Problem<'_, D>,
        start: Option<&[f64]>,
        settings: &Settings,
        watch: Watch<'_>,
    ) -> Solution {
        let mut monitor = Monitor::new(problem, settings, watch);
        let operator = problem.operator();
        let contacts = problem.contacts();
        let mut z = started(problem, start);
        let n = z.len();
        let mut stop = monitor.measure(0, &z);
        if n == 0 {
            return monitor.finish(stop.unwrap_or(Stop::Converged));
        }
        let trace: f64 = (0..contacts).map(|i| operator.diagonal(i).trace()).sum();
        let mut sigma = if trace > 0.0 { self.shift * trace / n as f64 } else { 1.0 };
        let factor =
            |sigma: f64| operator.shifted(sigma).map_or(Inverse::Iterative, Inverse::Factored);
        let mut inverse = factor(sigma);
        let mut factorisations = 1;
        let (mut y, mut r, mut old) = (vec![0.0; n], z.clone(), z.clone());
        let mut right = vec![0.0; n];
        // ũ = −σy; from the velocity of the start.
        problem.velocity(&z, &mut right);
        y.iter_mut().zip(&right).for_each(|(y, u)| *y = -u / sigma);
        let (mut before, mut moved) = (vec![0.0; n], vec![0.0; n]);
        let mut mixing = Mixing::default();
        mixing.restart();
        let mut iteration = 0;
        let mut polish = Polish::new(problem, 100);
        let mut next_balance = 10;
        while stop.is_none() {
            for i in 0..contacts {
                let (zi, yi) = (block::<D>(&z, i), block::<D>(&y, i));
                let mut v = (zi - yi) * sigma - block::<D>(problem.b(), i);
                if problem.law() == Law::Coulomb {
                    v[0] -= problem.mu()[i] * sigma * tangent_norm(&yi);
                }
                set_block(&mut right, i, &v);
            }
            match &inverse {
                Inverse::Factored(inverse) => {
                    r.copy_from_slice(&right);
                    inverse.solve(&mut r);
                }
                Inverse::Iterative => {
                    let apply = |x: &[f64], out: &mut [f64]| {
                        operator.apply(x, out);
                        out.iter_mut().zip(x).for_each(|(o, x)| *o += sigma * x);
                    };
                    let tolerance = (0.01 * monitor.last_residual()).clamp(1e-13, 1e-4);
                    conjugate_gradients(apply, &right, &mut r, tolerance, 200);
                }
            }
            old.copy_from_slice(&z);
            // An iteration maps z + y to the next one, of which z is the part in the cones.
            for i in 0..n {
                before[i] = z[i] + y[i];
                moved[i] = r[i] * RELAXATION + z[i] * (1.0 - RELAXATION) + y[i];
            }
            mixing.mix(&before, &mut moved);
            for i in 0..contacts {
                let moved = block::<D>(&moved, i);
                let inside = project_cone(problem.mu()[i], &moved);
                set_block(&mut z, i, &inside);
                set_block(&mut y, i, &(moved - inside));
            }
            iteration += 1;
            if iteration % self.measure_every.max(1) == 0 || iteration >= settings.max_iterations {
                stop = monitor.measure(monitor.iterations.max(iteration), &z);
                if stop.is_none() {
                    stop = polish.run(iteration, &z, &mut monitor);
                }
            }
            if iteration == next_balance && factorisations < self.factorisations {
                next_balance = iteration + iteration / 2 + 10;
                let apart = |a: &[f64], b: &[f64]| {
                    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
                };
                let primal = apart(&r, &z) / amax(&z).max(amax(&r)).max(f64::MIN_POSITIVE);
                let dual = apart(&z, &old) / amax(&y).max(f64::MIN_POSITIVE);
                let ratio = (primal / dual.max(1e-300)).sqrt().clamp(0.02, 50.0);
                if !(0.3..=3.0).contains(&ratio) {
                    sigma *= ratio;
                    y.iter_mut().for_each(|y| *y /= ratio);
                    inverse = factor(sigma);
                    factorisations += 1;
                    mixing.restart();
                }
            }
        }
        monitor.finish(stop.unwrap_or(Stop::Stalled))
    }
}
