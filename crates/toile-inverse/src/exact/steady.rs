//! Stability: whether every small motion is resisted, and changes of the rest shape that make it so.
//!
//! Rest shapes that balance a shape are many: contacts that share a load in another way want another one. Where the one at hand is not
//! stable, the lowest modes φ of the Hessian H are raised together. How fast the quotient φᵀHφ changes with the rest shape is
//! ∂/∂x (∂²E/∂x∂x̄ φ) along φ, by central differences of the mixed Hessian; the step is the shortest that raises all modes that have been
//! met of late, forces staying balanced to first order, and Newton's method brings them back into balance.

use nalgebra::{DMatrix, DVector};
use toile_energy::Curvature;
use toile_geometry::Vec3;
use toile_solve::{EigenSettings, SolveError, lowest_mode};

use super::{BARRIER, Exact, FLOOR, LEAST_FLOOR, Step, TOLERANCE, Watch};
use crate::InverseError;

/// Steps on the way at most.
pub(super) const ROUNDS: usize = 30;
/// Steps after which a lowest eigenvalue that has not come nearer to zero by [`NEARER`] in the last [`LATELY`] steps is not worth more.
const EARLY: usize = 12;
const LATELY: usize = 4;
const NEARER: f64 = 0.6;
/// How much more is asked of a rest shape that proved too soft to stay.
const STEADIER: f64 = 4.0;
/// Modes that are raised together at most.
const MODES: usize = 8;
/// Least part of a step worth taking.
const LEAST_PART: f64 = 0.05;
/// Longest change of the rest shape in one step, in units of length.
const LONGEST: f64 = 10.0;
/// Way along a mode by which its quotient is differentiated, in units of length.
const DIFFERENCE: f64 = 1e-4;

/// A mode's quotient and how fast it changes with angles and rest shape.
struct Rate {
    value: f64,
    dx: Vec<f64>,
    drest: Vec<f64>,
}

impl Exact {
    /// Whether the shape is a stable equilibrium with its contacts held.
    pub(super) fn stable(&mut self) -> Result<bool, InverseError> {
        self.held_hessian();
        match self.cholesky.factorize(&self.hessian) {
            Ok(()) => Ok(true),
            Err(SolveError::NotPositiveDefinite { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The Hessian with contacts held.
    fn held_hessian(&mut self) {
        self.hold(true);
        self.model.hessian(&self.x, Curvature::Exact, &mut self.hessian);
        self.hold(false);
        let pattern = self.model.pattern();
        let first = self.model.first_unknowns();
        for c in self.contacts.iter().filter(|c| c.unknown.is_none()) {
            for &(a, wa) in &c.carriers {
                for &(b, wb) in &c.carriers {
                    for k in 0..3 {
                        let (row, column) = (first[a] + k, first[b] + k);
                        if row >= column
                            && let Some(at) = pattern.position(row, column)
                        {
                            self.hessian[at] += self.holding * wa * wb;
                        }
                    }
                }
            }
        }
    }

    fn hold(&mut self, held: bool) {
        for unknown in self.contacts.iter().filter_map(|c| c.unknown) {
            for k in 0..3 {
                self.model.set_fixed(unknown + k, held);
            }
        }
    }

    /// The lowest eigenvalue with contacts held \[1/s²\], and its mode; `None` where it cannot be told.
    fn lowest(&mut self) -> Result<Option<(f64, Vec<f64>)>, InverseError> {
        self.held_hessian();
        self.hold(true);
        let fixed = self.model.fixed().to_vec();
        self.hold(false);
        let mass = |(m, fixed): (&f64, &bool)| if *fixed { 0.0 } else { *m };
        let masses: Vec<f64> = self.model.masses().iter().zip(&fixed).map(mass).collect();
        let settings = EigenSettings { tolerance: 1e-4, ..EigenSettings::default() };
        match lowest_mode(&mut self.cholesky, &self.hessian, &masses, &settings) {
            Ok(mode) => {
                let still = |(v, fixed): (f64, &bool)| if *fixed { 0.0 } else { v };
                let vector = mode.vector.into_iter().zip(&fixed).map(still).collect();
                Ok(Some((mode.value, vector)))
            }
            Err(SolveError::NotPositiveDefinite { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn rate(&mut self, mode: &[f64]) -> Rate {
        let n = self.model.len();
        let (mut drest, mut dx, mut out) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let largest = mode.iter().fold(0.0f64, |m, p| m.max(p.abs()));
        let h = DIFFERENCE * self.length / largest.max(f64::MIN_POSITIVE);
        let mut value = 0.0;
        let mut there = self.x.clone();
        for sign in [1.0, -1.0] {
            let add = |sum: &mut [f64], part: &[f64]| {
                sum.iter_mut().zip(part).for_each(|(s, p)| *s += sign * p / (2.0 * h));
            };
            self.x.advanced_into(mode, sign * h, &mut there);
            self.model.mixed_hessian(&there, &self.mixed, &mut self.mixed_values);
            self.mixed.multiply_transposed(&self.mixed_values, mode, &mut out);
            add(&mut drest, &out);
            self.model.hessian(&there, Curvature::Exact, &mut self.hessian);
            self.model.pattern().multiply(&self.hessian, mode, &mut out);
            add(&mut dx, &out);
            value += 0.5 * dot(&out, mode);
        }
        Rate { value, dx, drest }
    }

    /// Changes the rest shape, forces balanced, until every small motion is resisted; `false`, and nothing changed, where that fails.
    pub(super) fn steady(
        &mut self,
        rounds: usize,
        watch: &mut Watch<'_>,
    ) -> Result<bool, InverseError> {
        let start = self.point();
        let mut most = 1.0f64;
        let mut best = (f64::NEG_INFINITY, self.point());
        let mut bests = Vec::new();
        for round in 0..rounds {
            let Some((value, mode)) = self.lowest()? else { break };
            if value >= self.floor {
                return Ok(true);
            }
            if self.modes.len() == MODES {
                self.modes.remove(0);
            }
            self.modes.push(mode);
            if value > best.0 {
                best = (value, self.point());
                most = (2.0 * most).min(1.0);
            } else {
                self.return_to(best.1.clone());
                most *= 0.5;
            }
            bests.push(best.0);
            let slow = round >= EARLY && best.0 < NEARER * bests[round - LATELY];
            if most < LEAST_PART || slow || self.stopped {
                break;
            }
            let Some((dx, drest, dforces)) = self.raise()? else { break };
            let longest = drest.iter().fold(0.0f64, |m, p| m.max(p.abs())) / self.length;
            let part = self.allowed(&drest, &dforces).min(most).min(most * LONGEST / longest);
            let before = self.point();
            self.advance(&before, (&dx, &drest, &dforces), part);
            if !self.balance(TOLERANCE, 0, watch)? {
                self.return_to(before);
                most *= 0.5;
            }
        }
        let enough = best.0 >= LEAST_FLOOR / FLOOR * self.floor;
        self.return_to(if enough { best.1 } else { start });
        Ok(enough)
    }

    /// Raises the lowest eigenvalue well above what counts as stable; whether it rose.
    pub(crate) fn steadier(&mut self, watch: &mut Watch<'_>) -> Result<bool, InverseError> {
        let Some((before, _)) = self.lowest()? else { return Ok(false) };
        let (floor, start) = (self.floor, self.point());
        self.floor = (STEADIER * floor).max(STEADIER * before);
        let raised = self.steady(ROUNDS, watch)?;
        self.floor = floor;
        let after = if raised { self.lowest()?.map_or(before, |l| l.0) } else { before };
        if after < 2.0 * before {
            self.return_to(start);
            return Ok(false);
        }
        Ok(true)
    }

    /// The shortest step that brings the quotients of all modes above the least one that counts as stable.
    fn raise(&mut self) -> Result<Option<Step>, InverseError> {
        let modes = std::mem::take(&mut self.modes);
        let mut rates: Vec<Rate> = modes.iter().map(|m| self.rate(m)).collect();
        self.modes = modes;
        rates.retain(|r| r.value < 2.0 * self.floor);
        let barriers = self.barriers(BARRIER);
        if !self.factorize(&barriers, 0.0)? {
            return Ok(None);
        }
        let mut steps = Vec::new();
        for rate in &rates {
            self.kkt.rhs.fill(0.0);
            for (v, &f) in self.model.first_unknowns().iter().enumerate() {
                let (x, rest, _) = self.kkt.at(v);
                let size = self.model.graph().sizes[v] as usize;
                for k in 0..size {
                    if size == 3 && !self.rest_held[v] {
                        self.kkt.rhs[rest + k] = self.length * rate.drest[f + k];
                    } else if size != 3 && !self.pinned[f + k] {
                        let unit = self.length / self.model.levers()[f + k];
                        self.kkt.rhs[x + k] = unit * rate.dx[f + k];
                    }
                }
            }
            if !self.kkt.solve() {
                return Ok(None);
            }
            steps.push(self.step(&barriers, false));
        }
        let gram = DMatrix::from_fn(rates.len(), rates.len(), |i, j| {
            dot(&rates[i].dx, &steps[j].0) + dot(&rates[i].drest, &steps[j].1)
        });
        let wanted: Vec<f64> = rates.iter().map(|r| 2.0 * self.floor - r.value).collect();
        let Some(weights) = least_rise(&gram, &wanted) else { return Ok(None) };
        let n = self.model.len();
        let (mut dx, mut drest) = (vec![0.0; n], vec![0.0; n]);
        let mut dforces = vec![Vec3::zeros(); self.forces.len() + self.threads.len()];
        for (w, (x, r, f)) in weights.iter().zip(&steps) {
            dx.iter_mut().zip(x).for_each(|(d, x)| *d += w * x);
            drest.iter_mut().zip(r).for_each(|(d, x)| *d += w * x);
            dforces.iter_mut().zip(f).for_each(|(d, x)| *d += x * *w);
        }
        Ok(Some((dx, drest, dforces)))
    }
}

/// Weights ≥ 0 with which all rise by what is wanted or more, those with a weight by just that.
fn least_rise(gram: &DMatrix<f64>, wanted: &[f64]) -> Option<Vec<f64>> {
    let mut active: Vec<usize> = (0..wanted.len()).collect();
    let mut weights = vec![0.0; wanted.len()];
    while !active.is_empty() {
        let m = active.len();
        let mut part = DMatrix::from_fn(m, m, |i, j| gram[(active[i], active[j])]);
        // Modes met twice are nearly the same.
        let little = 1e-6 * part.trace() / m as f64;
        for i in 0..m {
            part[(i, i)] += little;
        }
        let found = part.lu().solve(&DVector::from_fn(m, |i, _| wanted[active[i]]))?;
        let lowest = (0..m).min_by(|&i, &j| found[i].total_cmp(&found[j]))?;
        if found[lowest] < 0.0 {
            active.remove(lowest);
            continue;
        }
        for (i, at) in active.iter().enumerate() {
            weights[*at] = found[i];
        }
        break;
    }
    Some(weights)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
