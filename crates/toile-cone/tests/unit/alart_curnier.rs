use toile_cone::internal::linearised;
use toile_cone::{Law, Random, contact_residual, project_cone};
use toile_num::{Matrix, Scalar, Vector, VectorFunction, assert_close, jacobian_of};

struct Slip {
    mu: f64,
    rho: f64,
    u: Vector<3>,
}
impl VectorFunction<3, 3> for Slip {
    fn call<T: Scalar>(&self, r: &Vector<3, T>) -> Vector<3, T> {
        let z = Vector::<3, T>::from_fn(|k, _| r[k] - self.u[k] * self.rho);
        let t = (z[1].squared() + z[2].squared()).sqrt();
        let radius = z[0] * self.mu;
        Vector::<3, T>::new(r[0] - z[0], r[1] - radius * z[1] / t, r[2] - radius * z[2] / t)
    }
}

#[test]
fn derivatives_on_the_slip_branch_match_dual_numbers() {
    let (mu, rho) = (0.3, 0.8);
    let (r, u) = (Vector::<3>::new(2.0, 0.3, -0.4), Vector::<3>::new(0.1, -1.0, 0.6));
    let (f, by_r, by_u) = linearised(Law::Coulomb, mu, rho, &r, &u);
    assert!(f.amax() > 0.05);
    assert_close("∂F/∂r", &by_r, &jacobian_of(&Slip { mu, rho, u }, &r), 1e-13);
    // F depends on u through r − ρu.
    assert_close("∂F/∂u", &by_u, &((Matrix::identity() - by_r) * rho), 1e-13);
}

#[test]
fn all_functions_vanish_together() {
    use toile_cone::contact_fischer_burmeister;
    let mut random = Random::new(5);
    for k in 0..600 {
        let mu = 0.1 + random.uniform();
        let rho = 0.2 + random.uniform();
        let angle = 6.3 * random.uniform();
        let normal = 0.1 + random.uniform();
        let heading = Vector::<3>::new(0.0, angle.cos(), angle.sin());
        let push = Vector::<3>::new(normal, 0.0, 0.0);
        let (r, u) = match k % 3 {
            0 => (Vector::zeros(), push + heading * (2.0 * random.uniform())),
            1 => (push + heading * (0.9 * mu * normal), Vector::zeros()),
            _ => (push + heading * (mu * normal), -heading * (0.1 + random.uniform())),
        };
        let all = |r: &Vector<3>, u: &Vector<3>| {
            let shifted = Law::Coulomb.shifted(mu, u);
            [
                contact_residual(Law::Coulomb, mu, rho, r, u).amax(),
                (r - project_cone(mu, &(r - shifted * rho))).amax(),
                contact_fischer_burmeister(Law::Coulomb, mu, rho, r, u).amax(),
                linearised(Law::Coulomb, mu, rho, r, u).0.amax(),
            ]
        };
        let zero = all(&r, &u);
        assert!(zero.iter().all(|f| *f < 1e-7), "{k}: {zero:?}");
        let off = all(&(r + push * 0.1), &(u + push * 0.1 + heading * 0.05));
        assert!(off.iter().all(|f| *f > 1e-3), "{k}: {off:?}");
    }
}
