//! Different models of one rod: they must agree where all are fine enough.

use toile_rod::{
    Clamp, Loads, Mat3, Model, NaturalCurvature, RodSpec, Section, StaticSettings, Station, Vec3,
    equilibrium,
};

/// A curl that its weight unwinds.
fn curl(model: Model) -> RodSpec {
    RodSpec {
        model,
        length: 0.3,
        section: Section {
            bending_stiffness: [1.0e-6, 1.4e-6],
            twisting_stiffness: 0.9e-6,
            linear_density: 2.0e-5,
        },
        clamp: Clamp {
            position: Vec3::zeros(),
            frame: Mat3::from_columns(&[Vec3::x(), -Vec3::y(), -Vec3::z()]),
        },
        natural: NaturalCurvature::polynomials([vec![25.0], vec![5.0], vec![12.0]]),
        planar: false,
    }
}

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn error(a: &[Station], b: &[Station]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max) / 0.3
}

/// Super-helix, super-clothoid and discrete rod reach one equilibrium: at the second, fourth and second order.
#[test]
fn three_models_reach_one_equilibrium() {
    let solved = |model, n| {
        let spec = curl(model);
        let rod = spec.build(n).unwrap();
        let loads = Loads::weight(&spec.section, DOWN);
        let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
        assert!(found.certificate.certified, "{}", found.certificate.reason);
        rod.equal_stations(&found.q, 11)
    };
    let exact = solved(Model::SuperClothoid, 80);
    let discrete = [20, 40].map(|n| {
        let found = curl(Model::SuperHelix).discrete_equilibrium(n, DOWN, 2000).unwrap();
        assert!(found.certificate.certified, "{n}: {}", found.certificate.reason);
        error(&found.equal_stations(11), &exact)
    });
    let helices = [20, 40].map(|n| error(&solved(Model::SuperHelix, n), &exact));
    let clothoids = [10, 20].map(|n| error(&solved(Model::SuperClothoid, n), &exact));
    eprintln!("discrete {discrete:?}\nhelices {helices:?}\nclothoids {clothoids:?}");
    let order = |e: &[f64; 2]| (e[0] / e[1]).log2();
    assert!((1.8..2.2).contains(&order(&discrete)) && discrete[1] < 3e-3, "{discrete:?}");
    assert!((1.8..2.2).contains(&order(&helices)), "{helices:?}");
    assert!((3.5..4.5).contains(&order(&clothoids)), "{clothoids:?}");
    // The same number of unknowns and edges: smooth elements are ahead.
    assert!(helices[1] < discrete[1] && clothoids[1] < 0.01 * discrete[0]);
}

/// In its plane a rod of planar elements is the rod in space; across it nothing gives way.
#[test]
fn planar_rods_are_those_in_space_that_stay_in_their_plane() {
    let section =
        Section { bending_stiffness: [1.0, 0.2], twisting_stiffness: 0.3, linear_density: 1.0 };
    let spec = |planar, tangent: Vec3| RodSpec {
        model: Model::SuperClothoid,
        length: 1.0,
        section,
        clamp: Clamp {
            position: Vec3::zeros(),
            frame: Mat3::from_columns(&[Vec3::y(), tangent.cross(&Vec3::y()), tangent]),
        },
        natural: NaturalCurvature::polynomials([vec![0.4], vec![], vec![]]),
        planar,
    };
    let loads = Loads::weight(&section, Vec3::new(0.0, 0.0, -1.5));
    let [flat, free] = [true, false].map(|planar| {
        let rod = spec(planar, Vec3::x()).build(10).unwrap();
        let found = equilibrium(&rod, &loads, &StaticSettings::default()).unwrap();
        assert!(found.certificate.certified, "{}", found.certificate.reason);
        (rod.equal_stations(&found.q, 11), found.certificate)
    });
    assert!(error(&flat.0, &free.0) < 1e-10, "{:e}", error(&flat.0, &free.0));
    // Sideways it is five times as soft: the lowest motion of the free rod is not that of the planar one.
    assert!(flat.1.stability.unwrap() > 1.5 * free.1.stability.unwrap());
    // Upright, the free rod falls about its weak axis first; the planar one knows only the strong one.
    let upright = spec(true, Vec3::z());
    let straight = RodSpec { natural: NaturalCurvature::default(), ..upright };
    let threshold = |planar| {
        let rod = RodSpec { planar, ..straight.clone() }.build(20).unwrap();
        let unit = Loads::weight(&section, Vec3::new(0.0, 0.0, -1.0));
        1.0 / (1.0 - toile_rod::stability_margin(&rod, &rod.rest(), &unit).unwrap())
    };
    assert!((threshold(true) / 7.837347 - 1.0).abs() < 1e-4, "{}", threshold(true));
    assert!((threshold(false) / (0.2 * 7.837347) - 1.0).abs() < 1e-4, "{}", threshold(false));
}
