//! The cones K_μ = {x : ‖x_T‖ ≤ μ x_N}, their duals, and projections onto them.

use toile_num::{Matrix, Vector};

use crate::small::{tangent, tangent_norm};

/// What holds between the force r and the velocity u of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Dry friction: K_μ ∋ r ⟂ u + μ‖u_T‖e_N ∈ K*, the De Saxcé form of take-off, stick and slip.
    Coulomb,
    /// The optimality conditions of a convex problem: K_μ ∋ r ⟂ u ∈ K*. Sliding then lifts off by
    /// u_N = μ‖u_T‖.
    SecondOrderCone,
}

impl Law {
    /// ũ = u + s(u), which the law makes orthogonal to r.
    pub fn shifted<const D: usize>(self, mu: f64, u: &Vector<D>) -> Vector<D> {
        let mut shifted = *u;
        if self == Law::Coulomb {
            shifted[0] += mu * tangent_norm(u);
        }
        shifted
    }
}

/// Euclidean projection onto K_μ; for μ = 0 onto the half-line of pushes without friction.
pub fn project_cone<const D: usize>(mu: f64, x: &Vector<D>) -> Vector<D> {
    let t = tangent_norm(x);
    if t <= mu * x[0] {
        return *x;
    }
    if mu * t <= -x[0] {
        return Vector::zeros();
    }
    let normal = (x[0] + mu * t) / (1.0 + mu * mu);
    let mut p = if t > 0.0 { *x * (mu * normal / t) } else { Vector::zeros() };
    p[0] = normal;
    p
}

/// Euclidean projection onto the dual cone K* = {y : y_N ≥ μ‖y_T‖}, which is K_{1/μ} and for μ = 0
/// the half-space y_N ≥ 0. By Moreau's decomposition x = Π_{K*}(x) − Π_K(−x).
pub fn project_dual<const D: usize>(mu: f64, x: &Vector<D>) -> Vector<D> {
    x + project_cone(mu, &-x)
}

/// Projection of x_T onto the disc of that radius; x_N is kept.
pub fn project_disc<const D: usize>(radius: f64, x: &Vector<D>) -> Vector<D> {
    let t = tangent_norm(x);
    if t <= radius {
        return *x;
    }
    let mut p = *x * (radius.max(0.0) / t);
    p[0] = x[0];
    p
}

/// An element of the generalised derivative of [`project_cone`]; the derivative where there is one.
pub fn project_cone_derivative<const D: usize>(mu: f64, x: &Vector<D>) -> Matrix<D, D> {
    let t = tangent_norm(x);
    if t <= mu * x[0] {
        return Matrix::identity();
    }
    if mu * t <= -x[0] {
        return Matrix::zeros();
    }
    // On the boundary: Π = y_N (1, μ t̂) with y_N = (x_N + μ‖x_T‖)/(1 + μ²).
    let along = tangent(x) / t;
    let mut ray = along * mu;
    ray[0] = 1.0;
    let normal = (x[0] + mu * t) / (1.0 + mu * mu);
    let mut across = Matrix::<D, D>::identity() - along * along.transpose();
    across[(0, 0)] = 0.0;
    ray * ray.transpose() / (1.0 + mu * mu) + across * (mu * normal / t)
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// No force.
    TakeOff,
    /// A force and no motion.
    Stick,
    /// A force on the border of the cone, and a motion against it.
    Slip,
}

impl Status {
    /// O, T (*tenir*) or S, as in tables of friction problems.
    pub fn letter(self) -> char {
        match self {
            Status::TakeOff => 'O',
            Status::Stick => 'T',
            Status::Slip => 'S',
        }
    }

    /// Reads a pair (r, ρu), both in units of force: sizes below `negligible` count as zero.
    pub fn of<const D: usize>(r: &Vector<D>, scaled_u: &Vector<D>, negligible: f64) -> Status {
        if r[0] <= negligible {
            Status::TakeOff
        } else if tangent_norm(scaled_u) <= negligible {
            Status::Stick
        } else {
            Status::Slip
        }
    }
}
