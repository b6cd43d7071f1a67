//! One contact in space with its tangents where five numbers say how it yields, for sweeps that solve it thousands of times.

use toile_num::{Matrix, Vector};

use crate::cone::{Law, Status};
use crate::local::Contact;
use crate::small::definiteness;

/// Newton steps at most; more are left to the general way.
const STEPS: usize = 12;

/// Pivots below this part of the largest diagonal entry count as zero.
const DEFINITE: f64 = 1e-11;

/// Coulomb's law of one contact u = W r + b, with
///
///   W = w (1, a)(1, a)ᵀ + diag(0, s₁, s₂)
///
/// in tangents along the eigenvectors of S = W_T − w a aᵀ. A force that slides with u_T = −α r_T then has
/// r_k = −c_k/(s_k + α), c = b_T − a b_N and r_N = −b_N/w − a·r_T, and one that sticks has α = 0.
///
/// The α of the last solution is kept: what slid in the last sweep slides on at nearly the same speed.
/// Check: `aligned_contacts_are_solved_as_others_are`.
#[derive(Clone, Copy, Debug)]
pub struct AlignedContact {
    /// w and 1/w.
    normal: [f64; 2],
    /// a.
    lean: [f64; 2],
    /// s and 1/s.
    tangent: [[f64; 2]; 2],
    mu: f64,
    /// α, zero where it has not slid yet.
    alpha: f64,
}

impl AlignedContact {
    /// Prepares a contact; W is given in any tangents. Also by which cosine and sine these turn, about the normal, into its own. `None` where W is
    /// not definite.
    pub fn new(mu: f64, w: &Matrix<3, 3>) -> Option<(Self, [f64; 2])> {
        let normal = w[(0, 0)];
        if !(normal > 0.0 && definiteness(w) >= DEFINITE) {
            return None;
        }
        let (p, q) = (w[(1, 0)], w[(2, 0)]);
        let s11 = w[(1, 1)] - p * p / normal;
        let s22 = w[(2, 2)] - q * q / normal;
        let s12 = w[(2, 1)] - p * q / normal;
        // Half of the angle whose tangent is 2 s12/(s11 − s22).
        let (sin, cos) = (0.5 * (2.0 * s12).atan2(s11 - s22)).sin_cos();
        let along = cos * cos * s11 + 2.0 * cos * sin * s12 + sin * sin * s22;
        let across = sin * sin * s11 - 2.0 * cos * sin * s12 + cos * cos * s22;
        let lean = [(cos * p + sin * q) / normal, (cos * q - sin * p) / normal];
        let tangent = [[along, across], [1.0 / along, 1.0 / across]];
        let contact = Self { normal: [normal, 1.0 / normal], lean, tangent, mu, alpha: 0.0 };
        let definite = along > 0.0 && across > 0.0 && (1.0 / along + 1.0 / across).is_finite();
        definite.then_some((contact, [cos, sin]))
    }

    /// W in its own tangents.
    pub fn matrix(&self) -> Matrix<3, 3> {
        let ([w, _], [a, b], [s, _]) = (self.normal, self.lean, self.tangent);
        let column = Vector::<3>::new(1.0, a, b);
        Matrix::from_diagonal(&Vector::<3>::new(0.0, s[0], s[1])) + column * column.transpose() * w
    }

    /// W r.
    #[inline]
    pub fn apply(&self, r: &Vector<3>) -> Vector<3> {
        let ([w, _], [a, b], [s, _]) = (self.normal, self.lean, self.tangent);
        let normal = w * (r[0] + a * r[1] + b * r[2]);
        Vector::<3>::new(normal, a * normal + s[0] * r[1], b * normal + s[1] * r[2])
    }

    /// Makes W larger by a factor.
    pub fn scale(&mut self, factor: f64) {
        self.normal = [self.normal[0] * factor, self.normal[1] / factor];
        self.tangent = [self.tangent[0].map(|s| s * factor), self.tangent[1].map(|s| s / factor)];
        self.alpha *= factor;
    }

    /// The force with u = W r + b under the law, and what the contact does; that of one that slides is on the border of its cone, and before
    /// it was put there it was off by no more than `precision` of itself.
    #[inline]
    pub fn solve(&mut self, b: &Vector<3>, precision: f64) -> (Vector<3>, Status) {
        if b[0] >= 0.0 {
            return (Vector::zeros(), Status::TakeOff);
        }
        let reduced = [b[1] - self.lean[0] * b[0], b[2] - self.lean[1] * b[0]];
        let push = -b[0] * self.normal[1];
        if self.mu == 0.0 {
            return (Vector::<3>::new(push, 0.0, 0.0), Status::Slip);
        }
        let [_, inverse] = self.tangent;
        let stick = [-reduced[0] * inverse[0], -reduced[1] * inverse[1]];
        let normal = push - self.lean[0] * stick[0] - self.lean[1] * stick[1];
        let bound = self.mu * normal;
        if normal > 0.0 && stick[0] * stick[0] + stick[1] * stick[1] <= bound * bound {
            return (Vector::<3>::new(normal, stick[0], stick[1]), Status::Stick);
        }
        let slid = if self.alpha > 0.0 { self.slides_on(push, &reduced, precision) } else { None };
        (slid.unwrap_or_else(|| self.slides(b)), Status::Slip)
    }

    /// Newton steps on μ r_N/‖r_T‖ − 1, which is nearly linear in α, from the α it slid with.
    #[inline]
    fn slides_on(&mut self, push: f64, reduced: &[f64; 2], precision: f64) -> Option<Vector<3>> {
        let ([s, _], a) = (self.tangent, self.lean);
        let mut alpha = self.alpha;
        for _ in 0..STEPS {
            let inverse = [1.0 / (s[0] + alpha), 1.0 / (s[1] + alpha)];
            let t = [-reduced[0] * inverse[0], -reduced[1] * inverse[1]];
            let normal = push - a[0] * t[0] - a[1] * t[1];
            let square = t[0] * t[0] + t[1] * t[1];
            let over = self.mu / square.sqrt();
            let left = over * normal - 1.0;
            if left.abs() <= precision {
                self.alpha = alpha;
                // On the border of the cone: r_T in length μ r_N.
                let stretch = 1.0 + left;
                return Some(Vector::<3>::new(normal, t[0] * stretch, t[1] * stretch));
            }
            let [p, q] = [t[0] * inverse[0], t[1] * inverse[1]];
            let slope = over * (a[0] * p + a[1] * q + normal * (t[0] * p + t[1] * q) / square);
            let next = alpha - left / slope;
            if !(next > 0.0 && next.is_finite()) {
                return None;
            }
            alpha = next;
        }
        None
    }

    /// The general way, which cannot fail.
    #[cold]
    fn slides(&mut self, b: &Vector<3>) -> Vector<3> {
        let w = self.matrix();
        let r = Contact::new(Law::Coulomb, self.mu, &w).solve(b, &Vector::zeros()).r;
        let u = w * r + b;
        let held = r[1] * r[1] + r[2] * r[2];
        let alpha = -(r[1] * u[1] + r[2] * u[2]) / held;
        self.alpha = if alpha.is_finite() { alpha.max(0.0) } else { 0.0 };
        r
    }
}
