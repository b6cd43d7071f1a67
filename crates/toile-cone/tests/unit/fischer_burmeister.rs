use toile_cone::{
    Law, Random, contact_derivatives, fischer_burmeister, fischer_burmeister_derivatives,
};
use toile_num::{Scalar, Vector, VectorFunction, assert_close, jacobian_of};

struct Both {
    fixed: Vector<3>,
    first: bool,
}
impl VectorFunction<3, 3> for Both {
    fn call<T: Scalar>(&self, x: &Vector<3, T>) -> Vector<3, T> {
        let other = self.fixed.map(T::constant);
        if self.first { fischer_burmeister(x, &other) } else { fischer_burmeister(&other, x) }
    }
}

struct Contact {
    mu: f64,
    rho: f64,
    r: Vector<3>,
    u: Vector<3>,
    by_force: bool,
}
impl VectorFunction<3, 3> for Contact {
    fn call<T: Scalar>(&self, v: &Vector<3, T>) -> Vector<3, T> {
        let (mut r, mut u) = (self.r.map(T::constant), self.u.map(T::constant));
        *(if self.by_force { &mut r } else { &mut u }) = *v;
        let t = (u[1].squared() + u[2].squared()).sqrt();
        let x = Vector::<3, T>::new(r[0] * self.mu, r[1], r[2]);
        let y = Vector::<3, T>::new(
            (u[0] + t * self.mu) * self.rho,
            u[1] * (self.mu * self.rho),
            u[2] * (self.mu * self.rho),
        );
        fischer_burmeister(&x, &y)
    }
}

#[test]
fn derivatives_match_dual_numbers() {
    let mut random = Random::new(11);
    for _ in 0..100 {
        let x = Vector::<3>::from_fn(|_, _| random.normal());
        let y = Vector::<3>::from_fn(|_, _| random.normal());
        let (_, by_x, by_y) = fischer_burmeister_derivatives(&x, &y);
        let oracle = jacobian_of(&Both { fixed: y, first: true }, &x);
        assert_close("∂f/∂x", &by_x, &oracle, 1e-10);
        let oracle = jacobian_of(&Both { fixed: x, first: false }, &y);
        assert_close("∂f/∂y", &by_y, &oracle, 1e-10);
    }
}

#[test]
fn contact_derivatives_match_dual_numbers() {
    let (r, u) = (Vector::<3>::new(1.3, 0.4, -0.2), Vector::<3>::new(-0.3, 0.7, 0.5));
    let (mu, rho) = (0.45, 1.7);
    let (_, by_r, by_u) = contact_derivatives(Law::Coulomb, mu, rho, &r, &u);
    let oracle = jacobian_of(&Contact { mu, rho, r, u, by_force: true }, &r);
    assert_close("∂f/∂r", &by_r, &oracle, 1e-12);
    let oracle = jacobian_of(&Contact { mu, rho, r, u, by_force: false }, &u);
    assert_close("∂f/∂u", &by_u, &oracle, 1e-12);
}

#[test]
fn vanishes_on_complementary_pairs_only() {
    let on = Vector::<3>::new(5.0, 3.0, 4.0);
    let against = Vector::<3>::new(2.5, -1.5, -2.0);
    assert!(fischer_burmeister(&on, &against).amax() < 1e-7);
    assert!(fischer_burmeister(&on, &Vector::zeros()).amax() < 1e-15);
    let inside = Vector::<3>::new(6.0, 3.0, 4.0);
    assert!(fischer_burmeister(&inside, &against).amax() > 0.1);
    assert!(fischer_burmeister(&on, &on).amax() > 0.1);
}
