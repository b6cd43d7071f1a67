//! One contact solved exactly: the step that every sweep repeats.

use toile_num::{Matrix, Vector};

use crate::alart_curnier::contact_residual;
use crate::cone::{Law, project_cone};
use crate::fischer_burmeister::contact_derivatives;
use crate::roots::{bracketed_root, positive_roots};
use crate::small::{definiteness, solve, symmetric_eigen, tangent, tangent_norm};

/// How a contact was solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// r = 0 holds the law.
    TakeOff,
    /// r = −W⁻¹b lies in the cone.
    Stick,
    /// Without friction the normal alone decides.
    Frictionless,
    /// Newton's method on Fischer and Burmeister's function.
    Newton,
    /// The smallest admissible root of the quartic (dimension 3).
    Quartic,
    /// A root in a bracket of the secular equation, which always exists.
    Bisection,
    /// W is singular: a sequence of regular problems (W + ε1)r − εr_old.
    Proximal,
}

/// Force of one contact and how it was found.
#[derive(Clone, Copy, Debug)]
pub struct ContactForce<const D: usize> {
    /// r, normal first.
    pub r: Vector<D>,
    /// How.
    pub way: Way,
    /// Largest component of the Alart–Curnier function with ρ = 1/‖W‖, in units of force.
    pub residual: f64,
}

/// Which way a sliding contact is to be solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sliding {
    /// Newton, then the quartic, then bisection: fast, and cannot fail for a definite W.
    #[default]
    Hybrid,
    /// Newton alone, with whatever residual it ends.
    Newton,
    /// The quartic alone (dimension 3, Coulomb); otherwise bisection.
    Quartic,
    /// Bisection alone.
    Bisection,
}

/// The symmetric matrix W of one contact, prepared for many right sides b.
#[derive(Clone, Debug)]
pub struct Contact<const D: usize> {
    w: Matrix<D, D>,
    law: Law,
    mu: f64,
    rho: f64,
    /// Eigenvalues and vectors of S = W_T − w wᵀ/w_N, with zeros in the place of the normal.
    s_values: Vector<D>,
    s_vectors: Matrix<D, D>,
    /// ε of the proximal sequence where W is not definite.
    proximal: Option<f64>,
}

/// Pivots below this part of the largest diagonal entry count as zero.
const DEFINITE: f64 = 1e-11;
/// Last change of a root, relative to it, whose square is round-off.
const SQUARED: f64 = 1e-8;
/// Residual, relative to the force, with which a way is content.
const EXACT: f64 = 1e-13;

impl<const D: usize> Contact<D> {
    /// Prepares u = W r + b under that law.
    pub fn new(law: Law, mu: f64, w: &Matrix<D, D>) -> Self {
        let size = w.diagonal().amax();
        let proximal = (definiteness(w) < DEFINITE || !(w[(0, 0)] > 0.0))
            .then_some(if size > 0.0 { 1e-4 * size } else { 1.0 });
        let mut w = *w;
        if let Some(epsilon) = proximal {
            w += Matrix::identity() * epsilon;
        }
        let column = tangent(&w.column(0).into_owned());
        let mut s = w - column * column.transpose() / w[(0, 0)];
        for k in 0..D {
            s[(0, k)] = 0.0;
            s[(k, 0)] = 0.0;
        }
        let (s_values, s_vectors) = symmetric_eigen(&s);
        let norm = (0..D).map(|k| w.row(k).iter().map(|v| v.abs()).sum()).fold(0.0f64, f64::max);
        Contact { w, law, mu, rho: 1.0 / norm, s_values, s_vectors, proximal }
    }

    /// W of the contact, as given.
    pub fn matrix(&self) -> Matrix<D, D> {
        self.w - Matrix::identity() * self.proximal.unwrap_or(0.0)
    }

    /// ρ = 1/‖W‖∞, which turns velocities into forces.
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// The force with u = W r + b under the law, from a guess (zero will do).
    ///
    /// For a definite W it always exists and is found. Where W is singular a force exists or not
    /// with b: `residual` tells. Check: `every_random_contact_is_solved`.
    pub fn solve(&self, b: &Vector<D>, guess: &Vector<D>) -> ContactForce<D> {
        self.solve_by(Sliding::Hybrid, b, guess)
    }

    /// As [`Contact::solve`], sliding contacts by a way of choice.
    pub fn solve_by(&self, sliding: Sliding, b: &Vector<D>, guess: &Vector<D>) -> ContactForce<D> {
        let Some(epsilon) = self.proximal else {
            return self.solve_definite(sliding, b, guess);
        };
        let mut r = if guess.iter().all(|v| v.is_finite()) { *guess } else { Vector::zeros() };
        let takes_off = self.takes_off(b);
        for _ in 0..if takes_off { 0 } else { 200 } {
            let next = self.solve_definite(sliding, &(b - r * epsilon), &r).r;
            let change = (next - r).amax();
            r = next;
            if change <= 1e-15 * r.amax() {
                break;
            }
        }
        if takes_off {
            r = Vector::zeros();
        }
        let u = self.w * r - r * epsilon + b;
        let residual = contact_residual(self.law, self.mu, self.rho, &r, &u).amax();
        ContactForce { r, way: if takes_off { Way::TakeOff } else { Way::Proximal }, residual }
    }

    fn takes_off(&self, b: &Vector<D>) -> bool {
        match self.law {
            Law::Coulomb => b[0] >= 0.0,
            Law::SecondOrderCone => b[0] >= self.mu * tangent_norm(b),
        }
    }

    fn solve_definite(
        &self,
        sliding: Sliding,
        b: &Vector<D>,
        guess: &Vector<D>,
    ) -> ContactForce<D> {
        if self.takes_off(b) {
            return ContactForce { r: Vector::zeros(), way: Way::TakeOff, residual: 0.0 };
        }
        if self.mu == 0.0 {
            let mut r = Vector::zeros();
            r[0] = -b[0] / self.w[(0, 0)];
            return self.judged(r, Way::Frictionless, b);
        }
        if let Some(r) = solve(&self.w, &-b)
            && tangent_norm(&r) <= self.mu * r[0]
        {
            return self.judged(r, Way::Stick, b);
        }
        let size = |r: &Vector<D>| r.amax().max(self.rho * b.amax());
        // What slid in the last sweep slides on at nearly the same speed.
        if sliding == Sliding::Hybrid
            && self.law == Law::Coulomb
            && let Some(r) = self.slides_on(b, guess)
        {
            let found = self.judged(r, Way::Newton, b);
            if found.residual <= EXACT * size(&found.r) {
                return found;
            }
        }
        if matches!(sliding, Sliding::Hybrid | Sliding::Newton) {
            let found = self.judged(self.newton(b, guess), Way::Newton, b);
            if sliding == Sliding::Newton || found.residual <= EXACT * size(&found.r) {
                return found;
            }
        }
        let mut best: Option<ContactForce<D>> = None;
        if D == 3
            && self.law == Law::Coulomb
            && sliding != Sliding::Bisection
            && let Some(alpha) = self.quartic_root(b)
        {
            let r = self.on_border(self.sliding(b, alpha));
            let found = self.judged(r, Way::Quartic, b);
            if sliding == Sliding::Quartic || found.residual <= EXACT * size(&found.r) {
                return found;
            }
            best = Some(found);
        }
        let r = match self.law {
            Law::Coulomb => self.sliding(b, self.secular_root(b)),
            Law::SecondOrderCone => self.lifting(b),
        };
        let found = self.judged(self.on_border(r), Way::Bisection, b);
        match best {
            Some(other) if other.residual < found.residual => other,
            _ => found,
        }
    }

    fn judged(&self, r: Vector<D>, way: Way, b: &Vector<D>) -> ContactForce<D> {
        let u = self.w * r + b;
        let residual = contact_residual(self.law, self.mu, self.rho, &r, &u).amax();
        ContactForce { r, way, residual }
    }

    /// Newton with halved steps on ½‖f‖², f of Fischer and Burmeister.
    fn newton(&self, b: &Vector<D>, guess: &Vector<D>) -> Vector<D> {
        let (mu, rho) = (self.mu, self.rho);
        let mut r = project_cone(mu, guess);
        if !(r[0] > 0.0) || !r.iter().all(|v| v.is_finite()) {
            r = Vector::zeros();
            r[0] = (-b[0] / self.w[(0, 0)]).max(rho * b.amax() * 1e-3);
        }
        let at = |r: &Vector<D>| contact_derivatives(self.law, mu, rho, r, &(self.w * r + b));
        let (mut f, mut by_r, mut by_u) = at(&r);
        for _ in 0..40 {
            let size = r.amax().max(rho * b.amax());
            if f.amax() <= 0.01 * EXACT * size {
                break;
            }
            let jacobian = by_r + by_u * self.w;
            let gradient = jacobian.transpose() * f;
            let newton = solve(&jacobian, &-f);
            let step = newton.unwrap_or(-gradient / gradient.norm().max(1e-300) * f.norm());
            let merit = f.norm_squared();
            let slope = gradient.dot(&step);
            let mut length = 1.0;
            let mut better = None;
            for _ in 0..15 {
                let trial = r + step * length;
                let next = at(&trial);
                if next.0.norm_squared() <= merit + 2e-4 * length * slope {
                    better = Some((trial, next));
                    break;
                }
                length *= 0.5;
            }
            let Some((trial, next)) = better else { break };
            r = trial;
            (f, by_r, by_u) = next;
        }
        // Round-off leaves r a few units off the cone.
        let on = self.on_border(r);
        if (on - r).amax() <= 1e-12 * r.amax() { on } else { r }
    }

    /// r with its tangent scaled to μ r_N.
    fn on_border(&self, r: Vector<D>) -> Vector<D> {
        let t = tangent_norm(&r);
        if !(t > 0.0) || !(r[0] > 0.0) {
            return r;
        }
        let mut on = r * (self.mu * r[0] / t);
        on[0] = r[0];
        on
    }

    /// c = b_T − w b_N/w_N.
    fn reduced(&self, b: &Vector<D>) -> Vector<D> {
        let w = tangent(&self.w.column(0).into_owned());
        tangent(b) - w * (b[0] / self.w[(0, 0)])
    }

    /// −(S + α)⁻¹c in the tangent plane.
    fn tangential(&self, c: &Vector<D>, alpha: f64) -> Vector<D> {
        let mut t = Vector::zeros();
        for k in 1..D {
            let q = self.s_vectors.column(k);
            t -= q * (q.dot(c) / (self.s_values[k].max(0.0) + alpha));
        }
        t
    }

    /// The force that slides with u_T = −α r_T and u_N = 0.
    fn sliding(&self, b: &Vector<D>, alpha: f64) -> Vector<D> {
        let mut r = self.tangential(&self.reduced(b), alpha);
        let w = self.w.column(0);
        r[0] = -(b[0] + w.dot(&r)) / w[0];
        r
    }

    /// The force of a contact that slides, by a few Newton steps on h(α) = μ r_N(α) − ‖r_T(α)‖ from the α with which a guess slides; `None`
    /// where that does not slide, or where they do not end. Whether the contact slides at all is for [`Contact::solve`] to tell.
    fn slides_on(&self, b: &Vector<D>, guess: &Vector<D>) -> Option<Vector<D>> {
        let held = tangent(guess).norm_squared();
        let u = self.w * guess + b;
        let mut alpha = -tangent(guess).dot(&tangent(&u)) / held;
        if !(alpha > 0.0 && alpha.is_finite()) {
            return None;
        }
        let w = self.w.column(0);
        let c = self.reduced(b);
        // Along the eigenvectors of S: r_T = −Σ q c/(s + α).
        let mut parts = [(0.0, 0.0, 0.0); D];
        for k in 1..D {
            let q = self.s_vectors.column(k);
            parts[k] = (self.s_values[k].max(0.0), q.dot(&c), q.dot(&w));
        }
        for _ in 0..8 {
            let (mut square, mut square_slope, mut along, mut along_slope) = (0.0, 0.0, 0.0, 0.0);
            for &(s, c, w) in &parts[1..] {
                let inverse = 1.0 / (s + alpha);
                let t = c * inverse;
                square += t * t;
                square_slope += t * t * inverse;
                along += w * t;
                along_slope += w * t * inverse;
            }
            let size = square.sqrt();
            let h = self.mu * (along - b[0]) / w[0] - size;
            let slope = square_slope / size - self.mu * along_slope / w[0];
            let step = h / slope;
            let next = alpha - step;
            if !(next > 0.0 && next.is_finite()) {
                return None;
            }
            alpha = next;
            if step.abs() <= SQUARED * alpha {
                break;
            }
        }
        Some(self.on_border(self.sliding(b, alpha)))
    }

    /// α > 0 with h(α) = μ r_N(α) − ‖r_T(α)‖ = 0: h < 0 at 0, where sticking failed, and
    /// h → −μ b_N/w_N > 0.
    fn secular_root(&self, b: &Vector<D>) -> f64 {
        let h = |alpha: f64| {
            let r = self.sliding(b, alpha);
            self.mu * r[0] - tangent_norm(&r)
        };
        let unit = self.s_values.amax().max(f64::MIN_POSITIVE);
        let (mut low, mut high) = (unit, unit);
        let (mut h_low, mut h_high) = (h(low), h(high));
        while h_high <= 0.0 && high < 1e300 * unit.min(1.0) {
            (low, h_low) = (high, h_high);
            high *= 16.0;
            h_high = h(high);
        }
        while h_low > 0.0 && low > unit * 1e-40 {
            (high, h_high) = (low, h_low);
            low /= 16.0;
            h_low = h(low);
        }
        if h_low > 0.0 {
            return low; // sticking, up to round-off
        }
        bracketed_root(h, (low, h_low), (high, h_high))
    }

    /// α by the quartic μ²p(α)² = w_N²‖αc + d‖², p(α) < 0; dimension 3.
    fn quartic_root(&self, b: &Vector<D>) -> Option<f64> {
        let w_n = self.w[(0, 0)];
        let w = [self.w[(1, 0)], self.w[(2, 0)]];
        let s11 = self.w[(1, 1)] - w[0] * w[0] / w_n;
        let s22 = self.w[(2, 2)] - w[1] * w[1] / w_n;
        let s12 = self.w[(1, 2)] - w[0] * w[1] / w_n;
        let c = [b[1] - w[0] * b[0] / w_n, b[2] - w[1] * b[0] / w_n];
        let (trace, det) = (s11 + s22, s11 * s22 - s12 * s12);
        let d = [s22 * c[0] - s12 * c[1], s11 * c[1] - s12 * c[0]];
        // In units of the trace, so that no power over- or underflows.
        let p = [
            b[0] * det / trace / trace - (w[0] * d[0] + w[1] * d[1]) / trace / trace,
            b[0] - (w[0] * c[0] + w[1] * c[1]) / trace,
            b[0],
        ];
        let q = [[d[0] / trace, d[1] / trace], [c[0], c[1]]];
        let (m, n) = (self.mu * self.mu, (w_n / trace) * (w_n / trace));
        let dot = |x: [f64; 2], y: [f64; 2]| x[0] * y[0] + x[1] * y[1];
        let coefficients = [
            m * p[0] * p[0] - n * dot(q[0], q[0]),
            2.0 * (m * p[0] * p[1] - n * dot(q[0], q[1])),
            m * (p[1] * p[1] + 2.0 * p[0] * p[2]) - n * dot(q[1], q[1]),
            2.0 * m * p[1] * p[2],
            m * p[2] * p[2],
        ];
        let negative = |x: &f64| p[0] + x * (p[1] + x * p[2]) < 0.0;
        let found = positive_roots(&coefficients).into_iter().find(negative)?;
        Some(found * trace)
    }

    /// The plain cone: u = ν(μ, −r_T/‖r_T‖), with ν > 0 the root of the dual's derivative
    /// μ r_N(ν) − ‖r_T(ν)‖, which increases.
    fn lifting(&self, b: &Vector<D>) -> Vector<D> {
        let w = self.w.column(0).into_owned();
        let c = self.reduced(b);
        let at = |nu: f64| {
            // r_T minimises ½r_TᵀS r_T + c(ν)·r_T + ν‖r_T‖.
            let c = c + tangent(&w) * (self.mu * nu / w[0]);
            let size = tangent_norm(&c);
            let mut r = Vector::zeros();
            if size > nu {
                let gap = |alpha: f64| alpha * tangent_norm(&self.tangential(&c, alpha)) - nu;
                let mut high = self.s_values.amax().max(f64::MIN_POSITIVE);
                while gap(high) <= 0.0 && high < 1e300 {
                    high *= 16.0;
                }
                let alpha = bracketed_root(gap, (0.0, -nu), (high, gap(high)));
                r = self.tangential(&c, alpha);
            }
            r[0] = -(b[0] - self.mu * nu + w.dot(&r)) / w[0];
            r
        };
        let h = |nu: f64| {
            let r = at(nu);
            self.mu * r[0] - tangent_norm(&r)
        };
        let mut high = b.amax();
        let mut low = 0.0;
        while h(high) <= 0.0 && high < 1e300 {
            low = high;
            high *= 4.0;
        }
        at(bracketed_root(h, (low, h(low)), (high, h(high))))
    }
}
