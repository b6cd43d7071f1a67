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

use super::pressed::Barrier;
use super::{BARRIER, Exact, FLOOR, LEAST_FLOOR, Left, Point, Step, TOLERANCE, Watch};
use crate::InverseError;

/// Steps on the way at most.
pub(super) const ROUNDS: usize = 60;
/// Steps after which a lowest eigenvalue that has not come nearer to zero by [`NEARER`] in the last [`LATELY`] steps is not worth more.
const EARLY: usize = 12;
const LATELY: usize = 4;
const NEARER: f64 = 0.9;
/// How much more is asked of a rest shape that proved too soft to stay.
const STEADIER: f64 = 4.0;
/// Lanczos vectors for low modes beside the lowest.
const VECTORS: usize = 40;
/// Modes that are raised together at most, and how many are looked for at once beside the lowest; those of two such looks are kept. One by one the modes of a
/// drawn dress of cotton, hundreds of them, take a factorisation each.
const MODES: usize = 8;
const MORE: usize = 8;
/// Force that counts as balanced while modes are being raised where the shape yields, in units of a vertex's weight.
const ROUGH: f64 = 1e-3;
/// Square of how much shorter a step must be than the one before for the factor with which modes were raised to serve another one.
const RAISED: f64 = 0.25;
/// Least part of a step worth taking.
const LEAST_PART: f64 = 0.05;
/// Longest change of the rest shape in one step, in units of length.
const LONGEST: f64 = 10.0;
/// How often colliders that a step would enter are shut before it is taken as far as they let it.
const SHUT: usize = 4;
/// Way along a mode by which its quotient is differentiated, in units of length.
const DIFFERENCE: f64 = 1e-4;

/// A mode's quotient and how fast it changes with angles and rest shape.
struct Rate {
    value: f64,
    dx: Vec<f64>,
    drest: Vec<f64>,
}

/// The lowest eigenvalue, its mode, and others that are low.
type Low = (f64, Vec<f64>, Vec<Vec<f64>>);

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
        Ok(self.lowest_with(0)?.map(|(value, mode, _)| (value, mode)))
    }

    /// The same with up to so many modes more that are low, not to many digits.
    fn lowest_with(&mut self, more: usize) -> Result<Option<Low>, InverseError> {
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
                let others = match more > 0 && mode.value < self.floor {
                    true => self.others(&mode.vector, &masses, more),
                    false => Vec::new(),
                };
                let free = |vector: Vec<f64>| {
                    vector.into_iter().zip(&fixed).map(still).collect::<Vec<f64>>()
                };
                Ok(Some((mode.value, free(mode.vector), others.into_iter().map(free).collect())))
            }
            Err(SolveError::NotPositiveDefinite { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Low modes beside the lowest, by Lanczos iterations with the factor that was used for it. Reference: Ericsson and Ruhe 1980.
    fn others(&mut self, lowest: &[f64], masses: &[f64], count: usize) -> Vec<Vec<f64>> {
        let root: Vec<f64> = masses.iter().map(|m| m.sqrt()).collect();
        let scaled = |v: &[f64]| -> Vec<f64> { v.iter().zip(&root).map(|(v, r)| v * r).collect() };
        let mut known = scaled(lowest);
        let size = dot(&known, &known).sqrt();
        known.iter_mut().for_each(|k| *k /= size);
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut q: Vec<f64> = root
            .iter()
            .map(|r| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                r * ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
            })
            .collect();
        let mut basis: Vec<Vec<f64>> = vec![known];
        let mut square: Vec<Vec<f64>> = Vec::new();
        for k in 0..VECTORS {
            for _ in 0..2 {
                for b in &basis {
                    let c = dot(&q, b);
                    q.iter_mut().zip(b).for_each(|(q, b)| *q -= c * b);
                }
            }
            let size = dot(&q, &q).sqrt();
            if size <= 1e-12 || size.is_nan() {
                break;
            }
            q.iter_mut().for_each(|q| *q /= size);
            let mut w = scaled(&q);
            self.cholesky.apply_inverse(&mut w);
            w = scaled(&w);
            basis.push(q);
            square.push(basis[1..k + 2].iter().map(|b| dot(b, &w)).collect());
            q = w;
        }
        let m = square.len();
        let ritz = DMatrix::from_fn(m, m, |i, j| square[i.max(j)][i.min(j)]).symmetric_eigen();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&i, &j| ritz.eigenvalues[j].total_cmp(&ritz.eigenvalues[i]));
        order
            .into_iter()
            .take(count)
            .map(|i| {
                let theta = ritz.eigenvalues[i];
                let mut y = vec![0.0; root.len()];
                for (b, c) in basis[1..].iter().zip(ritz.eigenvectors.column(i).iter()) {
                    y.iter_mut().zip(b).for_each(|(y, b)| *y += c * b);
                }
                let mut vector: Vec<f64> =
                    y.iter().zip(&root).map(|(y, r)| y * r / theta).collect();
                self.cholesky.apply_inverse(&mut vector);
                vector
            })
            .collect()
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
            let Some((value, mode, others)) = self.lowest_with(MORE)? else { break };
            let tolerance = if self.shape.is_empty() { TOLERANCE } else { ROUGH };
            let left = self.left();
            let balanced = left.largest <= tolerance;
            if value >= self.floor && balanced {
                return self.settled(start, watch);
            }
            self.modes.extend(others);
            self.modes.push(mode);
            let old = self.modes.len().saturating_sub(MODES + 2 * MORE);
            self.modes.drain(..old);
            // At first forces may not be balanced, and what is not balanced says little of what will be.
            if (balanced || round > 0) && value > best.0 {
                best = (value, self.point());
                most = (2.0 * most).min(1.0);
            } else if balanced || round > 0 {
                self.return_to(best.1.clone());
                most *= 0.5;
            }
            bests.push(best.0);
            let slow = round >= EARLY && best.0 < NEARER * bests[round - LATELY];
            if most < LEAST_PART || slow || self.stopped {
                break;
            }
            let left = self.left();
            if !left.largest.is_finite() || !self.tell(&left, watch) {
                break;
            }
            let left = (left.largest > tolerance).then_some(left);
            let Some(((dx, drest, dforces), barriers)) = self.raise(left)? else { break };
            let longest = drest.iter().fold(0.0f64, |m, p| m.max(p.abs())) / self.length;
            let part =
                self.allowed((&dx, &drest, &dforces)).min(most).min(most * LONGEST / longest);
            let before = self.point();
            // The factor with which modes were raised balances what the step has left, too, where it was short enough.
            if self.strains.minded() {
                let aim = self.strains_ahead((&dx, &drest), part);
                self.advance(&before, (&dx, &drest, &dforces), part);
                self.correct(&aim, &barriers, tolerance);
            } else {
                self.advance(&before, (&dx, &drest, &dforces), part);
                let left = self.left();
                if left.largest.is_finite()
                    && let Some(level) = self.level(&left)
                {
                    self.chord((left, level), &barriers, tolerance, RAISED);
                }
            }
            if !self.balance(tolerance, 0, watch)? {
                self.return_to(before);
                most *= 0.5;
            }
        }
        if best.0 >= LEAST_FLOOR / FLOOR * self.floor {
            self.return_to(best.1);
            return self.settled(start, watch);
        }
        self.return_to(start);
        Ok(false)
    }

    /// Balances to the last digits what is stable; `false`, back at `start`, where that fails.
    fn settled(&mut self, start: Point, watch: &mut Watch<'_>) -> Result<bool, InverseError> {
        let there = self.shape.is_empty() || self.balance(TOLERANCE, 0, watch)? && self.stable()?;
        if !there {
            self.return_to(start);
        }
        Ok(there)
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

    /// The shortest step that brings the quotients of all modes above the least one that counts as stable, and balances what is `left`.
    fn raise(&mut self, left: Option<Left>) -> Result<Option<(Step, Vec<Barrier>)>, InverseError> {
        let modes = std::mem::take(&mut self.modes);
        let mut rates = Vec::new();
        self.held_hessian();
        let mut pushed = vec![0.0; self.model.len()];
        let low = |mode: &[f64], this: &Self, pushed: &mut [f64]| {
            this.model.pattern().multiply(&this.hessian, mode, pushed);
            dot(pushed, mode) < 2.0 * this.floor
        };
        let wanted: Vec<bool> = modes.iter().map(|m| low(m, self, &mut pushed)).collect();
        for (mode, _) in modes.iter().zip(wanted).filter(|(_, low)| *low) {
            rates.push(self.rate(mode));
        }
        self.modes = modes;
        rates.retain(|r| r.value < 2.0 * self.floor);
        let left = match left {
            None if self.drawn > 0.0 => Some(self.left()),
            left => left,
        };
        let drawn = self.drawn;
        for _ in 0..SHUT {
            let step = self.step_up(&rates, left.as_ref())?;
            // Colliders that are shut change the step, and with it what else it would enter.
            if !step.as_ref().is_some_and(|((dx, ..), _)| self.shut_before(dx)) {
                return Ok(step);
            }
            self.drawn = drawn;
        }
        self.step_up(&rates, left.as_ref())
    }

    /// The shortest step that raises quotients as [`Exact::raise`] does, with the barriers of its saddle point.
    fn step_up(
        &mut self,
        rates: &[Rate],
        left: Option<&Left>,
    ) -> Result<Option<(Step, Vec<Barrier>)>, InverseError> {
        let barriers = self.barriers(BARRIER);
        if !self.factorize(&barriers, 0.0)? {
            return Ok(None);
        }
        let mut whole = None;
        if let Some(left) = left {
            whole = self.solve(left, &barriers, false);
            if whole.is_none() {
                return Ok(None);
            }
        }
        let n = self.model.len();
        let (mut dx, mut drest, mut dforces) = whole.unwrap_or_else(|| {
            let forces = self.forces.len() + self.threads.len();
            (vec![0.0; n], vec![0.0; n], vec![Vec3::zeros(); forces])
        });
        let mut steps = Vec::new();
        for rate in rates {
            self.kkt.rhs.fill(0.0);
            for (v, &f) in self.model.first_unknowns().iter().enumerate() {
                let (x, rest, _) = self.kkt.at(v);
                let size = self.model.graph().sizes[v] as usize;
                for k in 0..size {
                    if size == 3 && !self.rest_held[v] {
                        self.kkt.rhs[rest + k] = self.length * rate.drest[f + k];
                    }
                    if self.moves(size, f + k) {
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
        let risen = |r: &Rate| r.value + dot(&r.dx, &dx) + dot(&r.drest, &drest);
        let wanted: Vec<f64> = rates.iter().map(|r| 2.0 * self.floor - risen(r)).collect();
        let Some(weights) = least_rise(&gram, &wanted) else { return Ok(None) };
        for (w, (x, r, f)) in weights.iter().zip(&steps) {
            dx.iter_mut().zip(x).for_each(|(d, x)| *d += w * x);
            drest.iter_mut().zip(r).for_each(|(d, x)| *d += w * x);
            dforces.iter_mut().zip(f).for_each(|(d, x)| *d += x * *w);
        }
        Ok(Some(((dx, drest, dforces), barriers)))
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
