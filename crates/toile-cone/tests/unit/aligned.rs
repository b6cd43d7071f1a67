use toile_cone::{AlignedContact, Contact, Law, Random, Status, contact_residual};
use toile_num::{Matrix, Vector};

/// W of a contact between points whose D is up to a hundred times stiffer one way than another.
fn yields(random: &mut Random) -> Matrix<3, 3> {
    let g = Matrix::<3, 3>::from_fn(|_, _| random.normal());
    (g * g.transpose() + Matrix::identity() * 1e-2) * 10f64.powf(4.0 * random.uniform() - 2.0)
}

#[test]
fn aligned_contacts_are_solved_as_others_are() {
    let mut random = Random::new(5);
    let mut seen = [0; 3];
    for k in 0..20_000 {
        let (w, mu) = (yields(&mut random), if k % 50 == 0 { 0.0 } else { random.uniform() });
        let (mut contact, [cos, sin]) = AlignedContact::new(mu, &w).expect("definite");
        let turn = Matrix::<3, 3>::new(1.0, 0.0, 0.0, 0.0, cos, -sin, 0.0, sin, cos);
        let own = turn.transpose() * w * turn;
        assert!((own - contact.matrix()).amax() <= 1e-13 * w.amax(), "{own}{}", contact.matrix());
        let mut b = Vector::<3>::from_fn(|_, _| random.normal());
        // A contact that is pushed differently again and again, as in sweeps.
        for round in 0..4 {
            let (r, status) = contact.solve(&b, 1e-13);
            let u = contact.apply(&r) + b;
            let rho = 1.0 / w.amax();
            let error = contact_residual(Law::Coulomb, mu, rho, &r, &u).amax();
            let size = r.amax() + rho * b.amax();
            assert!(error <= 1e-11 * size, "case {k}.{round}: {error:e} of {size:e} {status:?}");
            let other = Contact::new(Law::Coulomb, mu, &w).solve(&(turn * b), &Vector::zeros()).r;
            // Several forces may obey the law where friction is high and W leans; below, there is one.
            if mu < 0.2 {
                let apart = (turn * r - other).amax();
                assert!(apart <= 1e-9 * size, "case {k}.{round}: {apart:e} of {size:e}");
            }
            seen[match status {
                Status::TakeOff => 0,
                Status::Stick => 1,
                Status::Slip => 2,
            }] += 1;
            b += Vector::<3>::from_fn(|_, _| 0.1 * random.normal());
        }
    }
    assert!(seen.iter().all(|n| *n > 2_000), "{seen:?}");
}

#[test]
fn a_larger_matrix_asks_for_smaller_forces() {
    let mut random = Random::new(6);
    for _ in 0..100 {
        let w = yields(&mut random);
        let (mut contact, _) = AlignedContact::new(0.4, &w).expect("definite");
        let b = Vector::<3>::new(-1.0, random.normal(), random.normal());
        let (before, _) = contact.solve(&b, 1e-13);
        contact.scale(3.0);
        let (after, _) = contact.solve(&b, 1e-13);
        assert!((before - after * 3.0).amax() <= 1e-11 * before.amax(), "{before}{after}");
    }
}

#[test]
fn what_cannot_yield_is_not_aligned() {
    assert!(AlignedContact::new(0.3, &Matrix::zeros()).is_none());
    let flat = Matrix::from_diagonal(&Vector::<3>::new(1.0, 1.0, 0.0));
    assert!(AlignedContact::new(0.3, &flat).is_none());
    assert!(AlignedContact::new(0.3, &Matrix::repeat(f64::NAN)).is_none());
}
