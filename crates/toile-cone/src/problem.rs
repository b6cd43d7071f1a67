//! The problem: operator, free velocity, friction, law; and how far a force is from solving it.

use toile_num::Vector;

use crate::alart_curnier::contact_residual;
use crate::cone::{Law, Status, project_cone};
use crate::error::{ProblemError, check_finite, check_length};
use crate::fischer_burmeister::contact_fischer_burmeister;
use crate::operator::{Operator, dot};
use crate::small::block;

/// Find r ∈ ∏K_μ with u = W r + b and the law at every contact; components normal first.
#[derive(Clone, Copy)]
pub struct Problem<'a, const D: usize> {
    operator: &'a dyn Operator<D>,
    b: &'a [f64],
    mu: &'a [f64],
    law: Law,
    rho: f64,
    bounded: bool,
}

impl<'a, const D: usize> Problem<'a, D> {
    /// Poses a problem with dry friction; lengths and numbers are checked, ‖W‖ is estimated.
    pub fn new(
        operator: &'a dyn Operator<D>,
        b: &'a [f64],
        mu: &'a [f64],
    ) -> Result<Self, ProblemError> {
        Self::with_norm(operator, b, mu, operator_norm(operator))
    }

    /// [`Problem::new`] with ‖W‖ known to half a per cent only, which is much cheaper: it is what velocities are measured by.
    pub fn roughly(
        operator: &'a dyn Operator<D>,
        b: &'a [f64],
        mu: &'a [f64],
    ) -> Result<Self, ProblemError> {
        Self::with_norm(operator, b, mu, lanczos_norm(operator))
    }

    /// [`Problem::new`] with ‖W‖ given.
    pub fn with_norm(
        operator: &'a dyn Operator<D>,
        b: &'a [f64],
        mu: &'a [f64],
        norm: f64,
    ) -> Result<Self, ProblemError> {
        let n = operator.contacts();
        check_length("b", b.len(), D * n, n, D)?;
        check_length("mu", mu.len(), n, n, D)?;
        check_finite("b", b)?;
        check_finite("mu", mu)?;
        if let Some(contact) = mu.iter().position(|m| *m < 0.0) {
            return Err(ProblemError::NegativeFriction { contact, mu: mu[contact] });
        }
        if !norm.is_finite() {
            return Err(ProblemError::NotFinite { what: "W r", index: 0, value: norm });
        }
        Ok(Problem {
            operator,
            b,
            mu,
            law: Law::Coulomb,
            rho: if norm > 0.0 { 1.0 / norm } else { 1.0 },
            bounded: false,
        })
    }

    /// The same under another law.
    pub fn with_law(self, law: Law) -> Self {
        Problem { law, ..self }
    }

    /// The same where forces that grow without end are to be no solution, even with a floor: see [`Problem::force_scale`].
    pub fn bounded(self) -> Self {
        Problem { bounded: true, ..self }
    }

    /// The same operator and friction with another b, under another law.
    pub(crate) fn with_b<'b>(&self, b: &'b [f64], law: Law) -> Problem<'b, D>
    where
        'a: 'b,
    {
        Problem {
            operator: self.operator,
            b,
            mu: self.mu,
            law,
            rho: self.rho,
            bounded: self.bounded,
        }
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.mu.len()
    }

    /// W.
    pub fn operator(&self) -> &'a dyn Operator<D> {
        self.operator
    }

    /// The free velocity b.
    pub fn b(&self) -> &'a [f64] {
        self.b
    }

    /// μ of each contact.
    pub fn mu(&self) -> &'a [f64] {
        self.mu
    }

    /// The law.
    pub fn law(&self) -> Law {
        self.law
    }

    /// ρ = 1/‖W‖₂, which turns velocities into forces.
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// u = W r + b.
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        self.operator.apply(r, u);
        u.iter_mut().zip(self.b).for_each(|(u, b)| *u += b);
    }

    /// The size a residual is measured by: the largest force, at least `floor`.
    ///
    /// Without a floor, between 1 and 10⁶ times ρ‖b‖∞: no unit matters, and forces that grow without
    /// end, as where no solution exists, do not pass for a solution. With a floor only a [`Problem::bounded`] one asks for that, at
    /// 10⁴ times what is larger of the floor and ρ‖b‖∞.
    pub fn force_scale(&self, r: &[f64], floor: Option<f64>) -> f64 {
        let least = floor.unwrap_or_else(|| self.free_force());
        amax(r).max(least).min(self.most_force(floor))
    }

    /// ρ‖b‖∞, the force that what comes free would need.
    pub fn free_force(&self) -> f64 {
        (self.rho * amax(self.b)).max(f64::MIN_POSITIVE)
    }

    /// The largest size a residual is measured by.
    fn most_force(&self, floor: Option<f64>) -> f64 {
        match floor {
            None => 1e6 * self.free_force(),
            Some(floor) if self.bounded => 1e4 * floor.max(self.free_force()),
            Some(_) => f64::INFINITY,
        }
    }

    /// Whether forces are so large that there is hardly an end to them.
    pub(crate) fn runs_away(&self, r: &[f64], floor: Option<f64>) -> bool {
        !(amax(r) < 0.5 * self.most_force(floor))
    }

    /// Largest component of the Alart–Curnier function over all contacts, in units of force.
    pub fn alart_curnier(&self, r: &[f64], u: &[f64]) -> f64 {
        self.largest(r, u, |mu, r, u| contact_residual(self.law, mu, self.rho, r, u).amax())
    }

    /// All measures of a force, relative to [`Problem::force_scale`].
    pub fn residuals(&self, r: &[f64], u: &[f64], floor: Option<f64>) -> Residuals {
        let (law, rho) = (self.law, self.rho);
        let scale = self.force_scale(r, floor);
        let unit_step = |mu: f64, r: &Vector<D>, u: &Vector<D>, rho: f64| {
            r - project_cone(mu, &(r - law.shifted(mu, u) * rho))
        };
        let mut squares = 0.0;
        for i in 0..self.contacts() {
            squares += unit_step(self.mu[i], &block(r, i), &block(u, i), 1.0).norm_squared();
        }
        let size = self.b.iter().map(|b| b * b).sum::<f64>().sqrt();
        Residuals {
            alart_curnier: self.alart_curnier(r, u) / scale,
            de_saxce: self.largest(r, u, |mu, r, u| unit_step(mu, r, u, rho).amax()) / scale,
            fischer_burmeister: self
                .largest(r, u, |mu, r, u| contact_fischer_burmeister(law, mu, rho, r, u).amax())
                / scale,
            natural_map: squares.sqrt() / if size > 0.0 { size } else { 1.0 },
        }
    }

    /// What each contact does, for a force known to that relative residual.
    pub fn status(&self, r: &[f64], u: &[f64], residual: f64, floor: Option<f64>) -> Vec<Status> {
        let negligible = (10.0 * residual).clamp(1e-12, 1e-3) * self.force_scale(r, floor);
        let one = |i| Status::of::<D>(&block(r, i), &(block::<D>(u, i) * self.rho), negligible);
        (0..self.contacts()).map(one).collect()
    }

    fn largest(&self, r: &[f64], u: &[f64], f: impl Fn(f64, &Vector<D>, &Vector<D>) -> f64) -> f64 {
        // A NaN must not pass for a small number.
        let worse = |m: f64, v: f64| if v.is_nan() { f64::INFINITY } else { m.max(v) };
        (0..self.contacts()).map(|i| f(self.mu[i], &block(r, i), &block(u, i))).fold(0.0, worse)
    }
}

/// How far a force is from the law, each measure without unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// Largest component of Alart and Curnier's function with ρ = 1/‖W‖₂, over the force scale.
    pub alart_curnier: f64,
    /// Largest component of r − Π_K(r − ρũ), over the force scale.
    pub de_saxce: f64,
    /// Largest component of Fischer and Burmeister's function, over the force scale; loses half the
    /// digits where a contact both rests and is about to leave.
    pub fischer_burmeister: f64,
    /// ‖r − Π_K(r − ũ)‖₂ over ‖b‖₂, all contacts together with a unit step: the measure of published
    /// comparisons, which depends on units.
    pub natural_map: f64,
}

pub(crate) fn amax(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// ‖W‖₂ from a fixed start. Small operators: power iteration until it no longer moves. Large ones are dear: the largest
/// eigenvalue Lanczos sees, which comes from below and is good to a per cent or two; who needs a bound tests it.
pub fn operator_norm<const D: usize>(operator: &dyn Operator<D>) -> f64 {
    let n = D * operator.contacts();
    if n > 3000 {
        return lanczos_norm(operator);
    }
    let mut v = uneven(n);
    let mut w = vec![0.0; n];
    let mut norm = 0.0;
    for _ in 0..500 {
        operator.apply(&v, &mut w);
        let now = w.iter().map(|x| x * x).sum::<f64>().sqrt();
        if now == 0.0 || !now.is_finite() {
            return now;
        }
        v.iter_mut().zip(&w).for_each(|(v, w)| *v = w / now);
        if (now - norm).abs() <= 1e-13 * now {
            return now;
        }
        norm = now;
    }
    norm
}

/// A vector that has a part of every other.
fn uneven(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + 0.01 * (i % 1000) as f64).collect()
}

/// Largest eigenvalue of the tridiagonal matrix of Lanczos' process, which ends when it grows by less than half a per cent.
fn lanczos_norm<const D: usize>(operator: &dyn Operator<D>) -> f64 {
    const STEPS: usize = 20;
    let mut v = uneven(D * operator.contacts());
    let mut w = vec![0.0; v.len()];
    let mut before = vec![0.0; v.len()];
    let (mut diagonal, mut beside) = (Vec::new(), vec![0.0f64]);
    let size = dot(&v, &v).sqrt();
    v.iter_mut().for_each(|x| *x /= size);
    let mut norm = 0.0;
    for k in 0..STEPS {
        operator.apply(&v, &mut w);
        let alpha = dot(&v, &w);
        if !alpha.is_finite() {
            return f64::NAN;
        }
        let last = beside[k];
        for i in 0..v.len() {
            w[i] -= alpha * v[i] + last * before[i];
        }
        diagonal.push(alpha);
        let now = largest_eigenvalue(&diagonal, &beside[1..]);
        let still = now - norm <= 5e-3 * now;
        norm = now;
        let beta = dot(&w, &w).sqrt();
        if still && k > 2 || beta <= 1e-12 * norm {
            break;
        }
        beside.push(beta);
        std::mem::swap(&mut before, &mut v);
        v.iter_mut().zip(&w).for_each(|(v, w)| *v = w / beta);
    }
    norm
}

/// Largest eigenvalue of a symmetric tridiagonal matrix, by bisection on the number of those above (Sturm).
fn largest_eigenvalue(diagonal: &[f64], beside: &[f64]) -> f64 {
    let at = |i: usize| beside.get(i).map_or(0.0, |b| b.abs());
    let reach = |i: usize| diagonal[i] + at(i) + if i > 0 { at(i - 1) } else { 0.0 };
    let mut low = diagonal.iter().fold(f64::NEG_INFINITY, |m, d| m.max(*d));
    let mut high = (0..diagonal.len()).map(reach).fold(low, f64::max);
    let all_below = |x: f64| {
        let mut pivot = diagonal[0] - x;
        (1..diagonal.len()).all(|i| {
            let fine = pivot < 0.0;
            pivot = diagonal[i] - x - at(i - 1) * at(i - 1) / pivot;
            fine
        }) && pivot < 0.0
    };
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if all_below(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}
