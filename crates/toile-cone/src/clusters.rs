//! Contacts that sweeps leave behind, solved together with their neighbours.
//!
//! Sweeps bring most contacts of a large problem to rest in a few rounds and then creep at a few places where forces can be shared
//! in many ways. There a Newton step on a few dozen contacts at once, all others held, does what thousands of sweeps would.

use nalgebra::DMatrix;

use crate::alart_curnier::contact_residual;
use crate::newton::AlartCurnierNewton;
use crate::operator::DenseOperator;
use crate::problem::Problem;
use crate::small::{block, set_block};
use crate::solver::{Settings, Solver};

/// Contacts of a cluster at most: a dense Newton step on them takes about a millisecond.
const MOST: usize = 24;
/// Clusters solved in one round at most.
const ROUND: usize = 40;

/// Improves r around the contacts that break the law by more than the tolerance; u is the velocity of r, and is brought up to
/// date. Returns whether anything changed. Same input, same bits.
pub(crate) fn improve<const D: usize>(
    problem: &Problem<'_, D>,
    settings: &Settings,
    r: &mut [f64],
    u: &mut [f64],
) -> bool {
    let operator = problem.operator();
    if problem.contacts() == 0 || operator.row_blocks(0).is_none() {
        return false;
    }
    let scale = problem.force_scale(r, settings.force_floor);
    let residual = |i: usize, r: &[f64], u: &[f64]| {
        let (r, u) = (block::<D>(r, i), block::<D>(u, i));
        contact_residual(problem.law(), problem.mu()[i], problem.rho(), &r, &u).amax() / scale
    };
    let mut bad: Vec<(f64, usize)> = (0..problem.contacts())
        .map(|i| (residual(i, r, u), i))
        .filter(|(e, _)| !(*e <= 0.5 * settings.tolerance))
        .collect();
    bad.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut changed = false;
    let mut member = vec![false; problem.contacts()];
    for (_, seed) in bad.into_iter().take(ROUND) {
        // Another cluster may have solved it, or moved it.
        if member[seed] || residual(seed, r, u) <= 0.5 * settings.tolerance {
            continue;
        }
        let cluster = cluster(problem, seed, r, u, &residual);
        cluster.iter().for_each(|&i| member[i] = true);
        changed |= solve(problem, settings, scale, &cluster, r, u);
    }
    changed
}

/// Contacts near a seed, those that matter first: they press, or nearly do.
fn cluster<const D: usize>(
    problem: &Problem<'_, D>,
    seed: usize,
    r: &[f64],
    u: &[f64],
    residual: &impl Fn(usize, &[f64], &[f64]) -> f64,
) -> Vec<usize> {
    let operator = problem.operator();
    let mut members = vec![seed];
    let mut seen = std::collections::BTreeSet::from([seed]);
    let mut ring: Vec<usize> = vec![seed];
    while members.len() < MOST && !ring.is_empty() {
        let mut next: Vec<usize> = Vec::new();
        for &i in &ring {
            let columns = operator.row_blocks(i).map_or(&[][..], |row| row.0);
            let presses = |j: usize| r[D * j] > 0.0 || u[D * j] <= 0.0;
            next.extend(
                columns.iter().map(|j| *j as usize).filter(|&j| presses(j) && seen.insert(j)),
            );
        }
        next.sort_by(|&a, &b| residual(b, r, u).total_cmp(&residual(a, r, u)).then(a.cmp(&b)));
        next.truncate(MOST - members.len());
        members.extend(&next);
        ring = next;
    }
    members.sort_unstable();
    members
}

fn solve<const D: usize>(
    problem: &Problem<'_, D>,
    settings: &Settings,
    scale: f64,
    cluster: &[usize],
    r: &mut [f64],
    u: &mut [f64],
) -> bool {
    let operator = problem.operator();
    let n = cluster.len();
    let mut w = DMatrix::zeros(D * n, D * n);
    for (a, &i) in cluster.iter().enumerate() {
        let Some((columns, blocks)) = operator.row_blocks(i) else { return false };
        for (column, value) in columns.iter().zip(blocks) {
            if let Ok(b) = cluster.binary_search(&(*column as usize)) {
                w.fixed_view_mut::<D, D>(D * a, D * b).copy_from(value);
            }
        }
    }
    let gather = |x: &[f64]| -> Vec<f64> {
        cluster.iter().flat_map(|&i| x[D * i..D * (i + 1)].iter().copied()).collect()
    };
    let (old, now) = (gather(r), gather(u));
    let own = &w * nalgebra::DVector::from_column_slice(&old);
    let b: Vec<f64> = now.iter().zip(own.iter()).map(|(u, w)| u - w).collect();
    let mu: Vec<f64> = cluster.iter().map(|&i| problem.mu()[i]).collect();
    let Ok(dense) = DenseOperator::<D>::new(w) else { return false };
    let Ok(part) = Problem::new(&dense, &b, &mu) else { return false };
    let part = part.with_law(problem.law());
    // The tolerance of the whole, in the part's own measure.
    let measure = |r: &[f64], u: &[f64]| {
        let one = |a: usize| {
            let (r, u) = (block::<D>(r, a), block::<D>(u, a));
            contact_residual(problem.law(), mu[a], problem.rho(), &r, &u).amax()
        };
        (0..n).map(one).fold(0.0, f64::max) / scale
    };
    let before = measure(&old, &now);
    let inner = Settings {
        tolerance: 1e-3 * settings.tolerance,
        max_iterations: 40,
        force_floor: Some(scale),
        polish: false,
    };
    let found = AlartCurnierNewton.solve(&part, Some(&old), &inner, &|_, _| true);
    if !(measure(&found.r, &found.u) < 0.9 * before) {
        return false;
    }
    for (a, &i) in cluster.iter().enumerate() {
        let new = block::<D>(&found.r, a);
        let change = new - block::<D>(&old, a);
        set_block(r, i, &new);
        if let Some((columns, blocks)) = operator.row_blocks(i) {
            for (column, value) in columns.iter().zip(blocks) {
                let j = *column as usize;
                let moved = block::<D>(u, j) + value.transpose() * change;
                set_block(u, j, &moved);
            }
        }
    }
    true
}
