//! A fibre drawn twice: as it hangs, and as it rests.

use toile_rod::{
    Clamp, Curve, Fit, FitSettings, Loads, Mat3, Model, NaturalCurvature, Rod, Section,
    StaticSettings, Vec3, compare_natures, equilibrium, equilibrium_near, fit, invert_fibre,
    rest_pose, root_turn, shape_distance, turn,
};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn hair(flat: f64) -> Section {
    Section {
        bending_stiffness: [1.0e-6, flat * 1.0e-6],
        twisting_stiffness: 7.0e-7,
        linear_density: 2.0e-5,
    }
}

/// A curl of known nature that hangs, and it without its weight, elsewhere: both as polylines.
fn twice(section: Section) -> (Vec<Vec3>, Vec<Vec3>, Mat3) {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    let clamp = Clamp { position: Vec3::new(0.1, 0.0, 0.2), frame };
    // How a flat section is twisted at rest no curve tells: it is taken not to be.
    let [a, b] = section.bending_stiffness;
    let twist = if a == b { 9.0 } else { 0.0 };
    let nature = NaturalCurvature::polynomials([vec![25.0, 10.0], vec![-8.0], vec![twist]]);
    let rod = Rod::new(Model::SuperClothoid, 160, 0.25, section, clamp).unwrap();
    let rod = rod.with_natural_curvature(&nature).unwrap();
    let loads = Loads::weight(&section, DOWN);
    let hangs = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
    let line = |q: &[Vec3]| -> Vec<Vec3> {
        rod.equal_stations(q, 600).iter().map(|s| s.position).collect()
    };
    // The head was elsewhere, and turned, when the rest was written.
    let turned = turn(&Vec3::new(0.3, -0.5, 0.2), 1.0);
    let rest = line(&rod.rest()).iter().map(|p| turned * p + Vec3::new(1.0, 2.0, 3.0)).collect();
    (line(&hangs.q), rest, turned.transpose())
}

fn read(section: Section, elements: usize) -> (Fit, Vec<Vec3>) {
    let (hangs, rest, turn) = twice(section);
    let settings = FitSettings { elements, model: Model::SuperClothoid, noise: 0.0 };
    let (curve, rest) = (Curve::new(&hangs).unwrap(), Curve::new(&rest).unwrap());
    let mut shape = fit(&curve, section, Some(Vec3::y()), &settings).unwrap();
    let pose = rest_pose((&curve, &mut shape), &rest, &turn, &settings).unwrap();
    assert!(pose.stretch.abs() < 1e-5 && pose.tilt < 1e-3, "{pose:?}");
    (shape, pose.natural)
}

/// What hangs is in balance with the nature that its rest tells, and the nature found for it is that of the rest, the better the finer the elements: with
/// round sections, which turn as they like, and with flat ones.
#[test]
fn a_hanging_curl_is_in_balance_with_its_rest() {
    for flat in [1.0, 2.5] {
        let section = hair(flat);
        let loads = Loads::weight(&section, DOWN);
        let off = [20, 40].map(|n| {
            let (shape, natural) = read(section, n);
            assert!(shape.error_max < 2e-4, "{flat} {n}: {:e}", shape.error_max);
            let found = invert_fibre(&shape.rod, &shape.q, &loads).unwrap();
            let compared = compare_natures(&shape.rod, &found.natural, &natural, &loads);
            let rod = shape.rod.clone().with_rest(&natural).unwrap();
            let rests = equilibrium_near(&rod, &shape.q, &loads).unwrap();
            assert!(rests.certificate.certified, "{}", rests.certificate.reason);
            let sag = shape_distance(&rod, &shape.q, &rests.q).0;
            // Without its rest it would sag far more.
            let naive = shape.rod.clone().with_rest(&shape.q).unwrap();
            let sags = equilibrium_near(&naive, &shape.q, &loads).unwrap();
            assert!(shape_distance(&naive, &shape.q, &sags.q).0 > 20.0 * sag, "{flat} {n}");
            (compared.curvature_rms / compared.curvature_size, sag, compared.position_rms)
        });
        let [coarse, fine] = off;
        assert!(fine.0 < 0.5 * coarse.0 && fine.0 < 0.02, "{flat}: {off:?}");
        assert!(fine.1 < 0.5 * coarse.1 && fine.1 < 1e-3, "{flat}: {off:?}");
        assert!(fine.2 < 0.5 * coarse.2 && fine.2 < 1e-3, "{flat}: {off:?}");
    }
}

/// Roots tell how a head was turned; one root does with its direction.
#[test]
fn roots_tell_how_they_were_turned() {
    let turned = turn(&Vec3::new(1.0, -2.0, 0.5), 0.9);
    let root = |i: i32| {
        let a = f64::from(i);
        (Vec3::new(a.cos(), a.sin(), 0.1 * a), Vec3::new(0.2, a.sin(), 1.0).normalize())
    };
    let from: Vec<(Vec3, Vec3)> = (0..9).map(root).collect();
    let to: Vec<(Vec3, Vec3)> =
        from.iter().map(|(p, t)| (turned * p + Vec3::x(), turned * t)).collect();
    assert!((root_turn(&from, &to) - turned).norm() < 1e-12);
    let one = root_turn(&from[..1], &to[..1]);
    assert!((one * from[0].1 - to[0].1).norm() < 1e-12);
    assert!((one.transpose() * one - Mat3::identity()).norm() < 1e-12 && one.determinant() > 0.0);
    assert_eq!(root_turn(&[], &[]), Mat3::identity());
}
