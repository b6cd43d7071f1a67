//! Drawn fibres brought into contact: small gaps closed, overlaps opened.
//!
//! A drawing that is a tenth of a radius off carries no force where its fibres should lean on each other. Of all changes that bring
//! the distances of near pairs to zero the one is taken that stores the least elastic energy: δq = K⁻¹ Hᵀ λ with
//! H K⁻¹ Hᵀ λ = −gap for the normals, a few times over because distances are not linear.

use toile_cone::Operator;
use toile_num::parallel::map_items;

use crate::RodError;
use crate::assembly::{Assembly, GRAIN};
use crate::chain::Chain;
use crate::delassus::Delassus;
use crate::forms::{Mix, Shape};
use crate::rod::Loads;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites};

/// What closing did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closing {
    /// Pairs that are in contact now.
    pub contacts: usize,
    /// Widest gap that was closed \[m\].
    pub gap: f64,
    /// Deepest overlap that was opened \[m\].
    pub overlap: f64,
    /// Furthest that a joint was moved \[m\].
    pub moved: f64,
    /// What is left of gaps and overlaps \[m\].
    pub left: f64,
}

/// Rounds at most; the first leaves the squares of gaps over the radius of curvature.
const ROUNDS: usize = 12;

impl Assembly {
    /// Closes gaps of up to `widest` \[m\] and opens all overlaps by the least change of shape. Fibres are at rest afterwards.
    pub fn close_gaps(&mut self, widest: f64) -> Result<Closing, RodError> {
        let mut out = Closing::default();
        let before = self.sites_at_rest();
        let fine = 1e-3 * self.fibres.iter().map(|f| f.radius).fold(f64::INFINITY, f64::min);
        for fibre in &mut self.fibres {
            fibre.state.rate.fill(Vec3::zeros());
        }
        for round in 0..=ROUNDS {
            let sites = self.sites_at_rest();
            let mut pairs = self.find(&sites);
            pairs.retain(|p| p.gap <= widest);
            let gap = pairs.iter().map(|p| p.gap).fold(0.0, f64::max);
            let overlap = pairs.iter().map(|p| -p.gap).fold(0.0, f64::max);
            if round == 0 {
                (out.gap, out.overlap) = (gap, overlap);
            }
            (out.contacts, out.left) = (pairs.len(), gap.max(overlap));
            if out.left <= fine || round == ROUNDS || pairs.is_empty() {
                break;
            }
            self.move_together(&sites, &pairs)?;
        }
        let after = self.sites_at_rest();
        for (a, b) in before.iter().zip(&after) {
            let moved = a.points.iter().zip(&b.points).map(|(a, b)| (a - b).norm());
            out.moved = moved.fold(out.moved, f64::max);
        }
        Ok(out)
    }

    fn move_together(&mut self, sites: &[Sites], pairs: &[Pair]) -> Result<(), RodError> {
        let none = Loads { per_length: Vec3::zeros(), tip: Vec3::zeros() };
        let elastic = Mix { mass: 0.0, elastic: 1.0, geometric: 0.0 };
        let chains = map_items(&self.fibres, GRAIN, |_, f| {
            Shape::new(&f.rod, &f.state.q, &none, false).chain(&f.rod, elastic)
        });
        let delassus = Delassus::new(&chains.iter().collect::<Vec<_>>(), pairs, 0.0)?;
        let lambda = normals(&delassus, pairs);
        let change = |f: usize, chain: &Chain| {
            chain.solve_joint_forces(&delassus.joint_forces(f, sites[f].points.len(), &lambda))
        };
        let changes = map_items(&chains, GRAIN, change);
        for (fibre, change) in self.fibres.iter_mut().zip(changes) {
            for (q, d) in fibre.state.q.iter_mut().zip(change) {
                *q += d;
            }
            fibre.rod.check_blocks(&fibre.state.q)?;
        }
        Ok(())
    }
}

/// λ with (W λ)_N = −gap by conjugate gradients with the diagonal as preconditioner; least squares where pairs contradict.
fn normals(delassus: &Delassus, pairs: &[Pair]) -> Vec<f64> {
    let n = pairs.len();
    let scale: Vec<f64> = (0..n)
        .map(|c| delassus.w.diagonal(c)[(0, 0)])
        .map(|d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 })
        .collect();
    let (mut full, mut out) = (vec![0.0; 3 * n], vec![0.0; 3 * n]);
    // S W_N S with a trace of the identity: redundant pairs share.
    let mut apply = |x: &[f64], y: &mut [f64]| {
        for c in 0..n {
            full[3 * c] = x[c] * scale[c];
        }
        delassus.w.apply(&full, &mut out);
        for c in 0..n {
            y[c] = out[3 * c] * scale[c] + 1e-9 * x[c];
        }
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut x = vec![0.0; n];
    let mut residual: Vec<f64> = pairs.iter().zip(&scale).map(|(p, s)| -p.gap * s).collect();
    let mut way = residual.clone();
    let mut product = vec![0.0; n];
    let begun = dot(&residual, &residual);
    let mut size = begun;
    for _ in 0..400 {
        if size.is_nan() || size <= 1e-12 * begun {
            break;
        }
        apply(&way, &mut product);
        let step = size / dot(&way, &product);
        for c in 0..n {
            x[c] += step * way[c];
            residual[c] -= step * product[c];
        }
        let next = dot(&residual, &residual);
        for c in 0..n {
            way[c] = residual[c] + way[c] * (next / size);
        }
        size = next;
    }
    let mut lambda = vec![0.0; 3 * n];
    for c in 0..n {
        lambda[3 * c] = x[c] * scale[c];
    }
    lambda
}
