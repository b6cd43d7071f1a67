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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use toile_num::{Scalar, VectorFunction, assert_close, jacobian_of};

    fn in_cone<const D: usize>(mu: f64, x: &Vector<D>, slack: f64) -> bool {
        tangent_norm(x) <= mu * x[0] + slack
    }

    fn moreau<const D: usize>() {
        let mut random = Random::new(D as u64);
        for k in 0..2000 {
            let mu = if k % 10 == 0 { 0.0 } else { 2.0 * random.uniform() };
            let x = Vector::<D>::from_fn(|_, _| random.normal());
            let (p, q) = (project_cone(mu, &x), project_dual(mu, &x));
            assert!(in_cone(mu, &p, 1e-15), "{p}");
            assert!(q[0] >= mu * tangent_norm(&q) - 1e-14, "{q}");
            let polar = project_cone(mu, &-x);
            assert!((x - (q - polar)).amax() < 1e-15 && q.dot(&polar).abs() < 1e-14);
            assert!((project_cone(mu, &p) - p).amax() < 1e-15);
            // Nearest: no other point of the cone is closer.
            let other = project_cone(mu, &Vector::<D>::from_fn(|_, _| random.normal()));
            assert!((x - p).norm() <= (x - other).norm() + 1e-14);
        }
    }

    #[test]
    fn projections_split_space_into_a_cone_and_its_polar() {
        moreau::<2>();
        moreau::<3>();
        moreau::<6>();
    }

    #[test]
    fn a_disc_keeps_the_normal() {
        let x = Vector::<3>::new(7.0, 3.0, -4.0);
        assert_eq!(project_disc(6.0, &x), x);
        assert!((project_disc(1.0, &x) - Vector::<3>::new(7.0, 0.6, -0.8)).amax() < 1e-15);
        assert_eq!(project_disc(-1.0, &x), Vector::<3>::new(7.0, 0.0, 0.0));
    }

    struct Border(f64);
    impl VectorFunction<3, 3> for Border {
        fn call<T: Scalar>(&self, x: &Vector<3, T>) -> Vector<3, T> {
            let t = (x[1].squared() + x[2].squared()).sqrt();
            let n = (x[0] + t * self.0) / (1.0 + self.0 * self.0);
            Vector::<3, T>::new(n, n * x[1] / t * self.0, n * x[2] / t * self.0)
        }
    }

    #[test]
    fn derivative_of_the_projection_matches_dual_numbers() {
        let (mu, x) = (0.6, Vector::<3>::new(0.3, -0.8, 1.1));
        let found = project_cone_derivative(mu, &x);
        assert!(!in_cone(mu, &x, 0.0) && project_cone(mu, &x)[0] > 0.1);
        assert_close("border", &found, &jacobian_of(&Border(mu), &x), 1e-14);
    }

    #[test]
    fn coulomb_shifts_and_the_cone_alone_does_not() {
        let u = Vector::<3>::new(0.1, 3.0, 4.0);
        assert!((Law::Coulomb.shifted(0.5, &u)[0] - 2.6).abs() < 1e-15);
        assert_eq!(Law::SecondOrderCone.shifted(0.5, &u), u);
    }
}
