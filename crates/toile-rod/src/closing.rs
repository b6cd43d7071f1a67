//! Drawn fibres brought into contact: small gaps closed, overlaps opened.
//!
//! A drawing that is a tenth of a radius off carries no force where its fibres should lean on each other. Of all changes that bring
//! the distances of near pairs to zero and open all overlaps the one is taken that stores the least elastic energy: with
//! q = q₀ + K⁻¹ Hᵀ λ along the normals, λ solves
//!
//! ```text
//! gap(q) = 0 at pairs that are to touch,    gap(q) ≥ 0 ⟂ λ ≥ 0 at all others,
//! ```
//!
//! linearised a few times over because distances are not linear. Pairs that contradict each other would move fibres far for nothing, so
//! springs pull them at first, εDλ is added to their gaps; where these stay open, pairs are left so. Then εD(λ − λ₀), with λ₀ of the last
//! round, brings the rest home.

use std::collections::{HashMap, HashSet};

use toile_cone::Operator;

use crate::RodError;
use crate::account::FibreContactKey;
use crate::assembly::Assembly;
use crate::body::Body;
use crate::chain::Chain;
use crate::delassus::Delassus;
use crate::friction::remembered;
use crate::motion::ClampMotion;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites};

/// What closing did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closing {
    /// Pairs that are in contact now.
    pub contacts: usize,
    /// Widest gap that was to be closed \[m\].
    pub gap: f64,
    /// Deepest overlap that was opened \[m\].
    pub overlap: f64,
    /// Furthest that a joint was moved \[m\].
    pub moved: f64,
    /// What is left of overlaps, and of gaps that were closed \[m\].
    pub left: f64,
    /// Pairs that were meant to touch and could not be brought together.
    pub open: usize,
}

/// Rounds at most; those in which pairs are pulled by springs, after which the ones that are still wide open are left so; and those in
/// which the rest is pulled home.
const ROUNDS: usize = 60;
const PULLED: usize = 8;
const CLOSED: usize = 16;

/// What counts as wide open then, in units of what counts as contact.
const WIDE: f64 = 5.0;

/// ε of pairs that are pulled, and of others: how a pair gives over how it gives alone.
const PULL: f64 = 1e-2;
const PUSH: f64 = 1e-4;

/// How far a joint may go in a round, over the radius: normals turn.
const FAR: f64 = 0.25;

/// Sweeps over the pairs in a round.
const SWEEPS: usize = 100;

/// Part of what counts as contact that closing goes for.
const FINE: f64 = 0.9;

/// What is known of a pair from round to round.
#[derive(Clone, Copy, Debug, Default)]
struct Tie {
    lambda: f64,
    /// Whether it is to touch; others only must not overlap.
    pulled: bool,
}

impl Assembly {
    /// Closes gaps of up to `widest` \[m\] where that takes little, and opens all overlaps, by the least change of shape. Fibres are at
    /// rest afterwards.
    pub fn close_gaps(&mut self, widest: f64) -> Result<Closing, RodError> {
        self.close_gaps_watched(widest, &|_| true)
    }

    /// The same, told of the part that is done at most; answered `false` it ends with [`RodError::Stopped`], and fibres stay where they were
    /// brought.
    pub fn close_gaps_watched(
        &mut self,
        widest: f64,
        watch: &dyn Fn(f64) -> bool,
    ) -> Result<Closing, RodError> {
        self.has_curvatures("closing of gaps")?;
        let mut out = Closing::default();
        for fibre in &mut self.fibres {
            fibre.state.rate.fill(Vec3::zeros());
        }
        let drawn: Vec<Vec<Vec3>> = self.fibres.iter().map(|f| f.state.q.clone()).collect();
        let before = self.sites_at_rest();
        let mut ties: HashMap<FibreContactKey, Tie> = HashMap::new();
        // Of several pairs at one place one is to touch; none may overlap.
        let meant: HashSet<FibreContactKey> =
            self.find(&before).iter().filter(|p| p.gap <= widest).map(|p| p.key).collect();
        for round in 0..=ROUNDS {
            if !watch(round as f64 / ROUNDS as f64) {
                return Err(RodError::Stopped);
            }
            let sites = self.sites_at_rest();
            let pairs = self.find_all(&sites);
            let mut known: Vec<Tie> = Vec::with_capacity(pairs.len());
            let mut left = 0.0f64;
            out.left = 0.0;
            for pair in &pairs {
                let new = Tie { lambda: 0.0, pulled: round == 0 && meant.contains(&pair.key) };
                let mut tie = remembered(&ties, &pair.key, &pairs).copied().unwrap_or(new);
                if round == 0 && tie.pulled {
                    (out.gap, out.overlap) = (out.gap.max(pair.gap), out.overlap.max(-pair.gap));
                }
                let most = match round {
                    ..PULLED => f64::INFINITY,
                    PULLED..CLOSED => WIDE * pair.slack,
                    _ => pair.slack,
                };
                if tie.pulled && pair.gap > most {
                    (tie.pulled, out.open) = (false, out.open + 1);
                    tie.lambda = tie.lambda.max(0.0);
                }
                if pair.gap < 0.0 || tie.pulled {
                    // In parts of what counts as contact.
                    left = left.max(pair.gap.abs() / pair.slack);
                    out.left = out.left.max(pair.gap.abs());
                }
                known.push(tie);
            }
            if left <= FINE || round == ROUNDS || pairs.is_empty() {
                break;
            }
            let springs = round < PULLED;
            let goes_on = || watch(round as f64 / ROUNDS as f64);
            self.move_together(&drawn, &sites, &pairs, &mut known, springs, &goes_on)?;
            ties = pairs.iter().zip(known).map(|(p, tie)| (p.key, tie)).collect();
        }
        let after = self.sites_at_rest();
        // From now on these keep their places.
        let pairs = self.find(&after);
        out.contacts = pairs.iter().filter(|p| p.gap <= p.slack).count();
        self.forces = pairs.iter().map(|p| (p.key, Vec3::zeros())).collect();
        for (a, b) in before.iter().zip(&after) {
            let moved = a.points.iter().zip(&b.points).map(|(a, b)| (a - b).norm());
            out.moved = moved.fold(out.moved, f64::max);
        }
        Ok(out)
    }

    /// One round: λ of the linearised problem, and the shapes that belong to it.
    fn move_together(
        &mut self,
        drawn: &[Vec<Vec3>],
        sites: &[Sites],
        pairs: &[Pair],
        ties: &mut [Tie],
        springs: bool,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), RodError> {
        let still = ClampMotion::default();
        let chains = self.elastic_chains()?;
        let all: Vec<&Chain> = chains.iter().collect();
        let moved = |ways: &[Vec<Vec3>]| {
            self.bodies.map(|body: &Body| body.velocities(|f| all[f], |f| &ways[f], &still))
        };
        // H (q₀ − q): what going back to the drawing would do to the distances.
        let away: Vec<Vec<Vec3>> = self
            .fibres
            .iter()
            .zip(drawn)
            .map(|(f, drawn)| drawn.iter().zip(&f.state.q).map(|(a, b)| a - b).collect())
            .collect();
        let back = Sites::with(sites, moved(&away));
        let delassus = Delassus::new(&self.bodies, &all, pairs, 0.0)?;
        let free: Vec<f64> = pairs
            .iter()
            .map(|p| {
                let way: Vec3 = p.sides().map(|s| back[s.fibre].velocity(s) * s.sign).sum();
                p.gap + p.normal.dot(&way)
            })
            .collect();
        if !sweep(&delassus, &free, ties, springs, goes_on) {
            return Err(RodError::Stopped);
        }
        let lambda: Vec<f64> = ties.iter().flat_map(|t| [t.lambda, 0.0, 0.0]).collect();
        let changes = delassus.pushed(&self.bodies, &all, sites, &lambda);
        let ways: Vec<Vec<Vec3>> = away
            .iter()
            .zip(&changes)
            .map(|(back, change)| back.iter().zip(change).map(|(a, d)| a + d).collect())
            .collect();
        let moved = moved(&ways);
        let far = |f: &usize| {
            let most = moved[*f].iter().map(|v| v.norm()).fold(0.0, f64::max);
            most / self.fibres[*f].radius
        };
        // What moves together goes the same part of its way.
        let parts = self.bodies.map(|body: &Body| {
            let most = body.fibres.iter().map(far).fold(0.0, f64::max);
            vec![(FAR / most).min(1.0); body.fibres.len()]
        });
        for ((fibre, way), part) in self.fibres.iter_mut().zip(ways).zip(parts) {
            for (q, d) in fibre.state.q.iter_mut().zip(way) {
                *q += d * part;
            }
            fibre.rod.check_blocks(&fibre.state.q)?;
        }
        self.place_grown();
        Ok(())
    }
}

/// (W + εD) λ = εD λ₀ − gap for the normals of pairs that are pulled, λ₀ = 0 while springs pull them; the same as an inequality, with
/// λ ≥ 0, for the others. By sweeps back and forth; `false` where it was to end before.
fn sweep(
    delassus: &Delassus,
    free: &[f64],
    ties: &mut [Tie],
    springs: bool,
    goes_on: &dyn Fn() -> bool,
) -> bool {
    let from = |t: &Tie| if t.pulled && springs { 0.0 } else { t.lambda };
    let start: Vec<f64> = ties.iter().map(from).collect();
    // Normals only.
    let row = |c: usize| {
        let (columns, blocks) = delassus.w.row_blocks(c).unwrap_or_default();
        columns.iter().zip(blocks).map(|(k, block)| (*k, block[(0, 0)])).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<(u32, f64)>> = (0..ties.len()).map(row).collect();
    let own: Vec<f64> = (0..ties.len()).map(|c| delassus.w.diagonal(c)[(0, 0)]).collect();
    for _ in 0..SWEEPS {
        if !goes_on() {
            return false;
        }
        let mut change = 0.0f64;
        for c in (0..ties.len()).chain((0..ties.len()).rev()) {
            if own[c] <= 0.0 {
                continue;
            }
            let (tie, given) = (ties[c], if ties[c].pulled { PULL } else { PUSH } * own[c]);
            let mut gap = free[c] + given * (tie.lambda - start[c]);
            for (k, w) in &rows[c] {
                gap += w * ties[*k as usize].lambda;
            }
            let new = tie.lambda - gap / (own[c] + given);
            let new = if tie.pulled { new } else { new.max(0.0) };
            change = change.max((new - tie.lambda).abs() * own[c]);
            ties[c].lambda = new;
        }
        if change < 1e-11 {
            break;
        }
    }
    true
}
