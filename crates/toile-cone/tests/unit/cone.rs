use crate::small::tangent_norm;
use toile_cone::{Law, Random, project_cone, project_cone_derivative, project_disc, project_dual};
use toile_num::{Scalar, Vector, VectorFunction, assert_close, jacobian_of};

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
