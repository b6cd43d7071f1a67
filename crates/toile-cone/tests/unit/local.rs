use std::collections::HashMap;
use toile_cone::{
    Contact, Law, Random, Sliding, Way, contact_fischer_burmeister, contact_residual,
};
use toile_num::{Matrix, Vector};

fn spd<const D: usize>(random: &mut Random, k: usize) -> Matrix<D, D> {
    let g = Matrix::<D, D>::from_fn(|_, _| random.normal());
    let floor = [1e-1, 1e-3, 1e-5][k % 3];
    (g * g.transpose() + Matrix::identity() * floor) * 10f64.powf(6.0 * random.uniform() - 3.0)
}

fn mu(random: &mut Random, k: usize) -> f64 {
    if k.is_multiple_of(50) { 0.0 } else { 10f64.powf(2.5 * random.uniform() - 2.0) }
}

fn sweep<const D: usize>(law: Law, count: usize, seed: u64) -> HashMap<Way, usize> {
    let mut random = Random::new(seed);
    let mut ways = HashMap::new();
    for k in 0..count {
        let (w, mu) = (spd::<D>(&mut random, k), mu(&mut random, k));
        let b = Vector::<D>::from_fn(|_, _| random.normal());
        let contact = Contact::new(law, mu, &w);
        let found = contact.solve(&b, &Vector::zeros());
        let u = w * found.r + b;
        let size = 1.0 + found.r.amax();
        let ac = contact_residual(law, mu, contact.rho(), &found.r, &u).amax();
        let fb = contact_fischer_burmeister(law, mu, contact.rho(), &found.r, &u).amax();
        assert!(ac <= 1e-9 * size, "case {k}: AC {ac:e} by {:?}\n{w}{b}{mu}", found.way);
        assert!(fb <= 1e-9 * size, "case {k}: FB {fb:e} by {:?}\n{w}{b}{mu}", found.way);
        *ways.entry(found.way).or_insert(0) += 1;
    }
    ways
}

#[test]
fn every_random_contact_is_solved() {
    let ways = sweep::<3>(Law::Coulomb, 100_000, 1);
    let of = |way| ways.get(&way).copied().unwrap_or(0);
    assert!(of(Way::TakeOff) > 20_000 && of(Way::Stick) > 2_000, "{ways:?}");
    let fallen = of(Way::Quartic) + of(Way::Bisection);
    assert!(of(Way::Newton) >= 99 * fallen, "{ways:?}");
}

#[test]
fn other_dimensions_and_the_plain_cone_are_solved() {
    sweep::<2>(Law::Coulomb, 5_000, 2);
    sweep::<6>(Law::Coulomb, 5_000, 3);
    sweep::<2>(Law::SecondOrderCone, 3_000, 4);
    sweep::<3>(Law::SecondOrderCone, 5_000, 5);
    sweep::<6>(Law::SecondOrderCone, 3_000, 6);
}

#[test]
fn quartic_and_bisection_agree() {
    let mut random = Random::new(7);
    let mut slides = 0;
    for k in 0..5_000 {
        let (w, mu) = (spd::<3>(&mut random, 0), mu(&mut random, k).max(0.02));
        let b = Vector::<3>::from_fn(|_, _| random.normal());
        let contact = Contact::new(Law::Coulomb, mu, &w);
        let by = |sliding| contact.solve_by(sliding, &b, &Vector::zeros());
        let (quartic, bisection) = (by(Sliding::Quartic), by(Sliding::Bisection));
        if quartic.way == Way::Quartic {
            slides += 1;
            assert_eq!(bisection.way, Way::Bisection);
            let apart = (quartic.r - bisection.r).amax();
            assert!(apart <= 1e-7 * quartic.r.amax(), "case {k}: {apart:e}");
        }
    }
    assert!(slides > 1_000);
}

#[test]
fn bisection_of_the_plain_cone_agrees_with_newton() {
    let mut random = Random::new(8);
    let mut slides = 0;
    for k in 0..2_000 {
        let (w, mu) = (spd::<6>(&mut random, k), mu(&mut random, k).max(0.02));
        let b = Vector::<6>::from_fn(|_, _| random.normal());
        let contact = Contact::new(Law::SecondOrderCone, mu, &w);
        let by = |sliding| contact.solve_by(sliding, &b, &Vector::zeros());
        let (newton, bisection) = (by(Sliding::Hybrid), by(Sliding::Bisection));
        if bisection.way == Way::Bisection {
            slides += 1;
            let apart = (newton.r - bisection.r).amax();
            assert!(apart <= 1e-6 * newton.r.amax(), "case {k}: {apart:e}");
        }
    }
    assert!(slides > 500, "{slides}");
}

#[test]
fn a_singular_matrix_is_solved_where_a_force_exists() {
    // Tangential motion is not resisted along the second axis at all.
    let w = Matrix::<3, 3>::from_diagonal(&Vector::<3>::new(2.0, 1.0, 0.0));
    let contact = Contact::new(Law::Coulomb, 0.5, &w);
    let found = contact.solve(&Vector::<3>::new(-4.0, 0.3, 0.0), &Vector::zeros());
    assert!((found.r - Vector::<3>::new(2.0, -0.3, 0.0)).amax() < 1e-12, "{}", found.r);
    assert!(found.residual < 1e-12);
    let slipping = contact.solve(&Vector::<3>::new(-4.0, 0.0, 1.0), &Vector::zeros());
    assert!((slipping.r - Vector::<3>::new(2.0, 0.0, -1.0)).amax() < 1e-10, "{}", slipping.r);
    let nothing = Contact::new(Law::Coulomb, 0.5, &Matrix::<3, 3>::zeros());
    assert!(nothing.solve(&Vector::<3>::new(1.0, 1.0, 0.0), &Vector::zeros()).r.amax() == 0.0);
}
