//! One rod against closed forms and published figures.

use toile_rod::{
    Clamp, Loads, Mat3, Model, NaturalCurvature, Rod, Section, StaticSettings, Vec3, certify,
    equilibrium, frequencies, stability_margin,
};

/// Everything is one: K, ρA, L.
const UNIT: Section =
    Section { bending_stiffness: [1.0, 1.0], twisting_stiffness: 1.0, linear_density: 1.0 };

/// Tangent along x, d₁ along y, d₂ along z: the order (n₀, n₁, n₂) of the literature, tangent first.
fn along_x() -> Clamp {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    Clamp { position: Vec3::zeros(), frame }
}

fn upright() -> Clamp {
    let frame = Mat3::from_columns(&[Vec3::x(), Vec3::y(), Vec3::z()]);
    Clamp { position: Vec3::zeros(), frame }
}

fn down(g: f64) -> Vec3 {
    Vec3::new(0.0, 0.0, -g)
}

#[test]
fn one_helix_ends_where_the_literature_says() {
    let rod = Rod::new(Model::SuperHelix, 1, 1.0, UNIT, along_x()).unwrap();
    let q = [Vec3::new(-1.1, 1.9, 0.7)]; // (κ₁, κ₂, twist)
    let tip = rod.stations(&q, &[1.0])[0].position;
    let expected = Vec3::new(0.3848822280469, 0.4991103506486, 0.5155809610950);
    assert!((tip - expected).norm() < 1e-12, "{tip}");
}

#[test]
fn jacobians_and_second_derivatives_match_differences() {
    for model in [Model::SuperHelix, Model::SuperClothoid] {
        let rod = Rod::with_lengths(model, vec![0.3, 0.2, 0.4, 0.25], UNIT, along_x()).unwrap();
        let q: Vec<Vec3> = (0..rod.blocks())
            .map(|i| Vec3::new((i as f64).sin() * 3.0, 2.0 - i as f64, 1.0 + 0.7 * i as f64))
            .collect();
        let f = Vec3::new(0.3, -0.8, 1.1);
        for s in [0.45, 0.8, 1.15] {
            let (_, j, _) = rod.jacobian(&q, s);
            let second = rod.second_derivative(&q, s, &f);
            let h = 1e-5;
            for c in 0..3 * rod.blocks() {
                let moved = |by: f64| {
                    let mut q = q.clone();
                    q[c / 3][c % 3] += by;
                    q
                };
                let (ahead, behind) = (moved(h), moved(-h));
                let difference = (rod.stations(&ahead, &[s])[0].position
                    - rod.stations(&behind, &[s])[0].position)
                    / (2.0 * h);
                assert!((j.column(c) - difference).norm() < 1e-9, "{model:?} {s} {c}");
                let slopes =
                    (rod.jacobian(&ahead, s).1 - rod.jacobian(&behind, s).1).tr_mul(&f) / (2.0 * h);
                assert!((second.column(c) - slopes).amax() < 1e-9, "{model:?} {s} {c}");
            }
        }
    }
}

#[test]
fn cantilever_follows_the_elastica() {
    let expected = [
        (1.0, 0.991246, -0.123471),
        (5.0, 0.846657, -0.495905),
        (10.0, 0.656354, -0.700200),
        (50.0, 0.245015, -0.907917),
    ];
    for (gamma, x, z) in expected {
        let rod = Rod::new(Model::SuperClothoid, 40, 1.0, UNIT, along_x()).unwrap();
        let loads = Loads::weight(&UNIT, down(gamma));
        let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
        assert!(found.certificate.certified, "{}", found.certificate.reason);
        let tip = rod.stations(&found.q, &[1.0])[0].position;
        assert!((tip - Vec3::new(x, 0.0, z)).norm() < 1.5e-6, "Γ = {gamma}: {tip}");
    }
}

#[test]
fn one_element_solves_its_own_equation() {
    for (gamma, kappa) in [(1.0, -0.1659787), (10.0, -1.2818353)] {
        let rod = Rod::new(Model::SuperHelix, 1, 1.0, UNIT, along_x()).unwrap();
        let loads = Loads::weight(&UNIT, down(gamma));
        let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
        // Bending down from +x turns about +y, which is d₁.
        assert!((found.q[0] - Vec3::new(-kappa, 0.0, 0.0)).norm() < 1e-7, "{}", found.q[0]);
    }
}

#[test]
fn frequencies_converge_as_published() {
    let stiff = Section { bending_stiffness: [1.0, 1e4], ..UNIT };
    let none = Loads::weight(&UNIT, Vec3::zeros());
    let first = |model, n| {
        let rod = Rod::new(model, n, 1.0, stiff, along_x()).unwrap();
        frequencies(&rod, &rod.rest(), &none, 1).unwrap()[0]
    };
    for (n, w) in [(1, 4.4721), (2, 3.6948), (4, 3.5591), (8, 3.5267), (16, 3.5187)] {
        assert!(
            (first(Model::SuperHelix, n) - w).abs() < 6e-5,
            "helix {n}: {}",
            first(Model::SuperHelix, n)
        );
    }
    for (n, w) in [(1, 3.5327), (2, 3.5182), (4, 3.5161), (8, 3.5160)] {
        assert!((first(Model::SuperClothoid, n) - w).abs() < 6e-5, "clothoid {n}");
    }
    let rod = Rod::new(Model::SuperClothoid, 16, 1.0, stiff, along_x()).unwrap();
    let both = frequencies(&rod, &rod.rest(), &none, 2).unwrap();
    assert!((both[1] - 22.0345).abs() < 1e-3, "{both:?}");
}

#[test]
fn upright_rod_buckles_under_its_weight() {
    let threshold = |model, n| {
        let rod = Rod::new(model, n, 1.0, UNIT, upright()).unwrap();
        let loads = Loads::weight(&UNIT, down(1.0));
        1.0 / (1.0 - stability_margin(&rod, &rod.rest(), &loads).unwrap())
    };
    for (n, expected) in [(1, 12.0), (2, 8.432), (4, 7.987), (8, 7.875), (16, 7.847)] {
        let got = threshold(Model::SuperHelix, n);
        assert!((got - expected).abs() < 6e-4, "{n}: {got}");
    }
    let got = threshold(Model::SuperClothoid, 32);
    assert!((got - 7.83734743894348).abs() < 1e-5, "{got}");
}

#[test]
fn beyond_the_threshold_the_rod_falls_to_a_stable_side() {
    let rod = Rod::new(Model::SuperClothoid, 20, 1.0, UNIT, upright()).unwrap();
    let loads = Loads::weight(&UNIT, down(12.0));
    assert!(
        !certify(&rod, &rod.rest(), &loads).unwrap().certified,
        "standing is no equilibrium to trust"
    );
    let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
    // An isotropic rod may fall to any side: the way round is not resisted, the fall itself is.
    assert!(
        found.certificate.residual < 1e-8 && found.escapes >= 1,
        "{}",
        found.certificate.reason
    );
    assert!(rod.stations(&found.q, &[1.0])[0].position.z < 0.6);
}

#[test]
fn natural_curl_without_weight_stays_put() {
    let natural = NaturalCurvature::polynomials([vec![3.0, -1.0, 0.5], vec![0.2], vec![4.0, 2.0]]);
    let rod = Rod::new(Model::SuperClothoid, 8, 1.0, UNIT, along_x())
        .unwrap()
        .with_natural_curvature(&natural)
        .unwrap();
    let loads = Loads::weight(&UNIT, Vec3::zeros());
    let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
    assert!(found.certificate.certified && (found.certificate.margin - 1.0).abs() < 1e-9);
    // κ̄ is quadratic, the unknowns linear: only what cannot be represented is stored.
    assert!(found.elastic_energy > 0.0 && found.elastic_energy < 1e-6, "{}", found.elastic_energy);
}

#[test]
fn bad_rods_are_refused_in_words() {
    let make = |n, length, section, clamp| Rod::new(Model::SuperHelix, n, length, section, clamp);
    let text = |r: Result<Rod, toile_rod::RodError>| r.unwrap_err().to_string();
    assert!(text(make(0, 1.0, UNIT, upright())).contains("0 elements"));
    assert!(text(make(4, f64::NAN, UNIT, upright())).contains("length"));
    let weak = Section { twisting_stiffness: 0.0, ..UNIT };
    assert!(text(make(4, 1.0, weak, upright())).contains("twisting stiffness"));
    let mirrored = Clamp { frame: -Mat3::identity(), ..upright() };
    assert!(text(make(4, 1.0, UNIT, mirrored)).contains("right-handed"));
}
