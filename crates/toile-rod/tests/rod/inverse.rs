//! From curves to rods, and from shapes to the natures behind them.

use toile_rod::{
    Clamp, Curve, FitSettings, Loads, Mat3, Model, NaturalCurvature, Rod, RodState, Section,
    StaticSettings, StepSettings, Vec3, Within, bearable_natures, energies, equilibrium,
    equilibrium_from, fit, fit_within, identify, invert_fibre, natural_curvature_at,
    natural_curvatures, step,
};

const HAIR: Section = Section {
    bending_stiffness: [1.0e-6, 1.0e-6],
    twisting_stiffness: 7.0e-7,
    linear_density: 2.0e-5,
};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn curl(n: usize) -> Vec<Vec3> {
    let point = |i: usize| {
        let t = i as f64 / (n - 1) as f64;
        let (a, r) = (14.0 * t, 0.02 * (1.0 + 0.5 * t));
        Vec3::new(r * a.cos(), r * a.sin(), -0.25 * t)
    };
    (0..n).map(point).collect()
}

#[test]
fn fits_converge_at_the_second_and_fourth_order() {
    let curve = Curve::new(&curl(2000)).unwrap();
    let error = |model, elements| {
        let found = fit(&curve, HAIR, None, &FitSettings { elements, model, noise: 0.0 }).unwrap();
        found.error_max / curve.length()
    };
    let helices = [20, 40].map(|n| error(Model::SuperHelix, n));
    assert!((1.6..2.9).contains(&(helices[0] / helices[1]).log2()), "{helices:?}");
    let clothoids = [20, 40].map(|n| error(Model::SuperClothoid, n));
    assert!(clothoids[1] < 2e-5 && (clothoids[0] / clothoids[1]).log2() > 3.0, "{clothoids:?}");
}

/// Twelve turns in 40 cm, as curly hair is drawn: twenty elements go their own way by a tenth of the length, and what is curvier than it was drawn is wild.
#[test]
fn a_drawing_gets_the_elements_it_needs() {
    let coil = |turns: f64| -> Vec<Vec3> {
        let point = |i: usize| {
            let t = i as f64 / 99.0;
            let a = turns * std::f64::consts::TAU * t;
            Vec3::new(6e-3 * a.cos(), 6e-3 * a.sin(), -0.3 * t)
        };
        (0..100).map(point).collect()
    };
    let settings = FitSettings { elements: 20, model: Model::SuperClothoid, noise: 0.0 };
    let within = Within { tolerance: 5e-4, most_elements: 160 };
    let curly = Curve::new(&coil(12.0)).unwrap();
    let plain = fit(&curly, HAIR, None, &settings).unwrap();
    let found = fit_within(&curly, HAIR, None, &settings, &within).unwrap();
    let elements = found.rod.lengths().len();
    assert!(plain.error_max > 1e-3, "{:e}", plain.error_max);
    assert!(found.error_max <= 5e-4 && (40..=120).contains(&elements), "{elements}");
    // Curvature of the coil: a ω² / (a² ω² + c²).
    let omega = 12.0 * std::f64::consts::TAU;
    let drawn = 6e-3 * omega * omega / ((6e-3 * omega).powi(2) + 0.09);
    let most = found.q.iter().map(|k| k.norm()).fold(0.0, f64::max);
    assert!(most < 1.6 * drawn, "{most} {drawn}");
    // What twenty elements follow keeps them, and what no rod follows is not tried for ever.
    let straight = Curve::new(&coil(0.5)).unwrap();
    let found = fit_within(&straight, HAIR, None, &settings, &within).unwrap();
    assert_eq!(found.rod.lengths().len(), 20);
    let back = [Vec3::zeros(), Vec3::new(0.0, 0.0, 0.1), Vec3::new(0.0, 0.0, 0.01)];
    let back = Curve::new(&back).unwrap();
    let most = Within { most_elements: 40, ..within };
    let found = fit_within(&back, HAIR, None, &settings, &most).unwrap();
    assert!(found.rod.lengths().len() <= 40 && found.error_max > 1e-3);
}

/// Hair of 40 cm drawn level across the air: the nature that holds it there curls it up in a few millimetres when it is let go. With that which bears what it can
/// of the weight it sags; what is stiff enough is held as ever.
#[test]
fn what_is_too_soft_sags_instead_of_springing() {
    let soft = Section {
        bending_stiffness: [8e-9; 2],
        twisting_stiffness: 6.4e-9,
        linear_density: 6.5e-6,
    };
    let point = |i: usize| {
        let t = f64::from(i as u32) / 29.0;
        Vec3::new(0.4 * t, 0.03 * (7.0 * t).sin(), 0.05 * t)
    };
    let curve = Curve::new(&(0..30).map(point).collect::<Vec<_>>()).unwrap();
    let settings = FitSettings { elements: 20, model: Model::SuperClothoid, noise: 0.0 };
    let fitted = fit(&curve, soft, None, &settings).unwrap();
    let loads = Loads::weight(&soft, DOWN);
    let found = bearable_natures(&fitted.rod, &fitted.q, &loads).unwrap();
    let stiffening = invert_fibre(&fitted.rod, &fitted.q, &loads).unwrap().stiffening;
    assert!((found.part * stiffening - 0.9).abs() < 1e-6 && found.part < 0.3, "{}", found.part);
    // Under that part it would just stand.
    let lighter = Loads::weight(&soft, DOWN * found.part);
    let rod = fitted.rod.clone().with_rest(&found.natural).unwrap();
    let stands = invert_fibre(&rod, &fitted.q, &lighter).unwrap();
    assert!(stands.certificate.certified, "{}", stands.certificate.reason);
    let off = stands.natural.iter().zip(&found.natural).map(|(a, b)| (a - b).norm());
    assert!(off.fold(0.0, f64::max) < 1e-9);
    // Energy that is let go, over that of the weight: from natures that hold it, and from these.
    let weight = soft.linear_density * 9.81 * rod.length().powi(2);
    let spring = |natural: &[Vec3]| {
        let rod = fitted.rod.clone().with_rest(natural).unwrap();
        let state = RodState::at_rest(fitted.q.clone());
        energies(&rod, &state, &DOWN, &Default::default()).unwrap()[1] / weight
    };
    let all = natural_curvatures(&fitted.rod, &fitted.q, &loads).unwrap();
    assert!(spring(&all) > 4.0 && spring(&found.natural) < 0.1, "{}", spring(&found.natural));
    // Nothing falls faster than free fall.
    let (mut rod, mut state) = (rod, RodState::at_rest(fitted.q.clone()));
    let (settings, mut still) = (StepSettings::new(2e-3), Default::default());
    for i in 1..=100 {
        step(&mut rod, &mut state, &DOWN, &mut still, &settings).unwrap();
        let kinetic = energies(&rod, &state, &DOWN, &still).unwrap()[0];
        let free = 0.5 * soft.linear_density * rod.length() * (9.81 * 2e-3 * f64::from(i)).powi(2);
        assert!(kinetic < 1.2 * free + 0.1 * weight, "{i}: {kinetic:e} {free:e}");
    }
    // A strand stiff enough is held by what it was held by.
    let stiff = Section { bending_stiffness: [1e-5; 2], twisting_stiffness: 8e-6, ..soft };
    let fitted = fit(
        &curve,
        stiff,
        None,
        &FitSettings { elements: 20, model: Model::SuperClothoid, noise: 0.0 },
    )
    .unwrap();
    let found = bearable_natures(&fitted.rod, &fitted.q, &loads).unwrap();
    assert_eq!(found.part, 1.0);
    assert_eq!(found.natural, natural_curvatures(&fitted.rod, &fitted.q, &loads).unwrap());
}

#[test]
fn a_rod_that_is_one_is_found_again() {
    let clamp = Clamp { position: Vec3::new(0.1, 0.2, 0.3), frame: Mat3::identity() };
    let rod = Rod::new(Model::SuperClothoid, 10, 0.4, HAIR, clamp).unwrap();
    let q: Vec<Vec3> =
        (0..11).map(|i| Vec3::new(20.0 * (0.7 * f64::from(i)).sin(), 12.0, 0.0)).collect();
    let points: Vec<Vec3> = rod.equal_stations(&q, 1200).iter().map(|s| s.position).collect();
    let curve = Curve::new(&points).unwrap();
    let settings = FitSettings { elements: 10, model: Model::SuperClothoid, noise: 0.0 };
    let found = fit(&curve, HAIR, Some(Vec3::x()), &settings).unwrap();
    assert!(found.error_max < 1e-7 * 0.4, "{:e}", found.error_max);
    for (a, b) in found.q.iter().zip(&q) {
        assert!((a - b).norm() < 1e-3, "{a} {b}");
    }
}

#[test]
fn noise_is_smoothed_away() {
    let clean = curl(400);
    let mut seed = 3u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * 0.5e-3
    };
    let noisy: Vec<Vec3> =
        clean.iter().map(|p| p + Vec3::new(random(), random(), random())).collect();
    let curve = Curve::new(&noisy).unwrap();
    let settings = FitSettings { elements: 40, model: Model::SuperClothoid, noise: 1e-3 };
    let found = fit(&curve, HAIR, None, &settings).unwrap();
    assert!(found.error_rms <= 1e-3);
    let largest = found.q.iter().map(|k| k.norm()).fold(0.0, f64::max);
    // The curl itself bends at about 30 1/m, the noise at thousands.
    assert!(largest < 150.0, "{largest}");
}

#[test]
fn the_drawn_shape_is_an_equilibrium_of_its_nature() {
    for model in [Model::SuperHelix, Model::SuperClothoid] {
        let curve = Curve::new(&curl(300)).unwrap();
        let found =
            fit(&curve, HAIR, None, &FitSettings { elements: 20, model, noise: 0.0 }).unwrap();
        let loads = Loads::weight(&HAIR, DOWN);
        let inverted = invert_fibre(&found.rod, &found.q, &loads).unwrap();
        assert!(inverted.certificate.certified, "{model:?}: {}", inverted.certificate.reason);
        assert!(inverted.unique && inverted.stiffening < 1.0);
        // Pushed away, it comes back.
        let pushed: Vec<Vec3> =
            found.q.iter().map(|k| k * 1.01 + Vec3::new(0.1, -0.1, 0.05)).collect();
        let back = equilibrium_from(&inverted.rod, pushed, 1.0, &loads, &StaticSettings::default())
            .unwrap();
        let away = back.q.iter().zip(&found.q).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(away < 1e-8, "{model:?}: {away:e}");
        // The naive nature, the drawn shape itself, sags.
        let naive = found.rod.clone().with_rest(&found.q).unwrap();
        let sagged = equilibrium(&naive, &loads, &StaticSettings::default()).unwrap();
        let tip = |q: &[Vec3]| naive.stations(q, &[naive.length()])[0].position;
        assert!((tip(&sagged.q) - tip(&found.q)).norm() > 0.01);
    }
}

#[test]
fn the_discrete_nature_approaches_the_continuous_one() {
    let natural = NaturalCurvature::polynomials([vec![20.0, 10.0], vec![5.0], vec![3.0]]);
    let clamp = Clamp {
        position: Vec3::zeros(),
        frame: Mat3::from_columns(&[Vec3::x(), -Vec3::y(), -Vec3::z()]),
    };
    let loads = Loads::weight(&HAIR, DOWN);
    let error = |n| {
        let rod = Rod::new(Model::SuperClothoid, n, 0.3, HAIR, clamp).unwrap();
        let rod = rod.with_natural_curvature(&natural).unwrap();
        let q = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap().q;
        // The middle, where elements are regular.
        (natural_curvature_at(&rod, &q, &loads, 0.15) - natural.at(0.15)).norm() / 20.0
    };
    let (coarse, fine) = (error(20), error(40));
    assert!(fine < 2e-4 && (1.5..3.0).contains(&(coarse / fine).log2()), "{coarse:e} {fine:e}");
}

#[test]
fn too_soft_a_fibre_is_told_how_much_stiffer_it_must_be() {
    // Drawn standing, 0.5 m tall, far beyond its threshold.
    let points: Vec<Vec3> = (0..50).map(|i| Vec3::new(0.0, 0.0, 0.01 * f64::from(i))).collect();
    let curve = Curve::new(&points).unwrap();
    let settings = FitSettings { elements: 20, model: Model::SuperClothoid, noise: 0.0 };
    let found = fit(&curve, HAIR, None, &settings).unwrap();
    let loads = Loads::weight(&HAIR, DOWN);
    let inverted = invert_fibre(&found.rod, &found.q, &loads).unwrap();
    assert!(!inverted.certificate.certified && inverted.certificate.negative_modes > 0);
    // Greenhill: ρA g L³ / EI = 7.8373 at the threshold.
    let expected = 2.0e-5 * 9.81 * 0.49f64.powi(3) / 1e-6 / 7.837347;
    assert!((inverted.stiffening / expected - 1.0).abs() < 1e-4, "{}", inverted.stiffening);
}

/// A fibre held two ways hangs in two shapes; both together tell how stiff it is for its weight, and its natural shape.
#[test]
fn two_poses_tell_stiffness_and_nature() {
    let section = Section {
        bending_stiffness: [2.0e-6, 3.1e-6],
        twisting_stiffness: 1.3e-6,
        linear_density: 4.0e-5,
    };
    let natural = NaturalCurvature::polynomials([vec![9.0, 5.0], vec![-2.0], vec![6.0]]);
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    let pose = |frame: Mat3| {
        let clamp = Clamp { position: Vec3::zeros(), frame };
        let rod = Rod::new(Model::SuperClothoid, 16, 0.4, section, clamp).unwrap();
        let rod = rod.with_natural_curvature(&natural).unwrap();
        let loads = Loads::weight(&section, gravity);
        let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
        assert!(found.certificate.certified);
        (rod, found.q)
    };
    let level = pose(Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]));
    let hanging = pose(Mat3::from_columns(&[Vec3::x(), -Vec3::y(), -Vec3::z()]));
    let found = identify(&[(&level.0, &level.1), (&hanging.0, &hanging.1)], gravity).unwrap();
    let k = section.stiffness() / section.linear_density;
    for c in 0..3 {
        let ratio = found.ratios[c];
        let off = ratio.value.unwrap() / k[c] - 1.0;
        assert!(off.abs() < 1e-6 && ratio.misfit < 1e-6, "{c}: {off:e} {ratio:?}");
    }
    let rest = level.0.rest();
    let off = found.natural.iter().zip(&rest).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max);
    assert!(off < 1e-6 * 9.0 && found.spread < 1e-5, "{off:e} {:e}", found.spread);
    // From tables of stations, as they are written: exact for helices between them.
    let tables = [&level, &hanging].map(|(rod, _)| {
        let rod = Rod::new(Model::SuperHelix, 20, 0.4, section, *rod.clamp()).unwrap();
        let rod = rod.with_natural_curvature(&natural).unwrap();
        let loads = Loads::weight(&section, gravity);
        let q = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap().q;
        rod.equal_stations(&q, 21)
    });
    let (found, middles) = toile_rod::identify_stations(&tables, gravity).unwrap();
    assert!(middles.len() == 20 && (middles[0] - 0.01).abs() < 1e-12);
    for c in 0..3 {
        let off = found.ratios[c].value.unwrap() / k[c] - 1.0;
        assert!(off.abs() < 1e-6, "{c}: {off:e}");
    }
    let short = vec![tables[0].clone(), tables[1][..9].to_vec()];
    let refused = toile_rod::identify_stations(&short, gravity).unwrap_err().to_string();
    assert!(refused.contains("pose 1 has 9 stations"), "{refused}");
    // A fibre that stays in a plane says nothing of bending across it, nor of twist.
    let straight = |tangent: Vec3| {
        let frame = Mat3::from_columns(&[Vec3::y(), tangent.cross(&Vec3::y()), tangent]);
        let rod = Rod::new(
            Model::SuperClothoid,
            16,
            0.4,
            section,
            Clamp { position: Vec3::zeros(), frame },
        )
        .unwrap();
        let loads = Loads::weight(&section, gravity);
        let q = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap().q;
        (rod, q)
    };
    let (a, b) = (straight(Vec3::x()), straight(Vec3::new(0.6, 0.0, -0.8)));
    let found = identify(&[(&a.0, &a.1), (&b.0, &b.1)], gravity).unwrap();
    assert!((found.ratios[0].value.unwrap() / k[0] - 1.0).abs() < 1e-6);
    assert_eq!((found.ratios[1].value, found.ratios[2].value), (None, None));
    assert!(identify(&[(&a.0, &a.1)], gravity).is_err());
}
