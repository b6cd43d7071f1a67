//! Balances that would not last are left.

use toile_contact::{Collider, Shape};
use toile_rod::{
    Assembly, AssemblySettings, Clamp, ClampMotion, Fibre, Growth, Loads, Mat3, Model,
    NaturalCurvature, Rod, RodError, RodSpec, RodState, Section, SettleSettings, StaticSettings,
    StepSettings, Vec3, equilibrium, hair_on_a_head, invert_fibre,
};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// Stands upright up to (7.837 EI₁ / ρg)^(1/3) = 0.342 m.
const HAIR: Section = Section {
    bending_stiffness: [1.0e-6, 1.5e-6],
    twisting_stiffness: 7.0e-7,
    linear_density: 2.0e-5,
};

fn settings() -> AssemblySettings {
    AssemblySettings {
        step: StepSettings { damping: 2e-3, ..StepSettings::new(2e-3) },
        gravity: DOWN,
        fibre_friction: Some(0.3),
        tolerance: 1e-8,
        max_sweeps: 1000,
    }
}

fn upright() -> Clamp {
    Clamp { position: Vec3::zeros(), frame: Mat3::identity() }
}

fn standing(model: Model, length: f64) -> Fibre {
    let rod = Rod::new(model, 12, length, HAIR, upright()).unwrap();
    let state = RodState::at_rest(rod.rest());
    Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 }
}

fn tip(scene: &Assembly, fibre: usize) -> Vec3 {
    *scene.points(fibre).last().unwrap()
}

/// Straight up forces balance at any length; beyond Greenhill's a rod bends over to where statics puts it, below it stays.
#[test]
fn an_upright_rod_beyond_greenhills_length_bends_over() {
    for model in [Model::SuperHelix, Model::SuperClothoid] {
        for (length, falls) in [(0.33, false), (0.36, true), (0.5, true)] {
            let fibre = standing(model, length);
            let loads = Loads::weight(&HAIR, DOWN);
            let exact = equilibrium(&fibre.rod, &loads, &StaticSettings::default()).unwrap();
            let end = fibre.rod.stations(&exact.q, &[length])[0].position;
            let mut scene = Assembly::new(vec![fibre], vec![], settings()).unwrap();
            let found = scene.settle(&SettleSettings::default(), &|_, _| true).unwrap();
            assert!(found.certified, "{model:?} {length}: {}", found.reason);
            assert_eq!(found.escapes > 0, falls, "{model:?} {length}: {found:?}");
            // It may bend to either side.
            let there = tip(&scene, 0);
            let aside = |p: Vec3| p.x.hypot(p.y);
            let error = (there.z - end.z).hypot(aside(there) - aside(end));
            assert!(error < 1e-6 * length, "{model:?} {length}: {there} for {end}");
            assert_eq!(aside(there) > 0.1 * length, falls, "{there}");
        }
    }
}

/// The same of nodes and angles, which knows no elastic stiffness apart.
#[test]
fn nodes_bend_over_as_well() {
    let spec = RodSpec {
        model: Model::SuperHelix,
        length: 0.5,
        section: HAIR,
        clamp: upright(),
        natural: NaturalCurvature::default(),
        planar: false,
    };
    let fibre = standing(Model::SuperHelix, 0.5);
    let scene = Assembly::new(vec![fibre], vec![], settings()).unwrap();
    let mut scene = scene.discrete(0, &spec).unwrap();
    let found = scene.settle(&SettleSettings::default(), &|_, _| true).unwrap();
    assert!(found.certified && found.escapes > 0, "{}", found.reason);
    let exact = spec.discrete_equilibrium(12, DOWN, 1000).unwrap();
    let (a, b) = (tip(&scene, 0), *exact.positions.last().unwrap());
    assert!((a.z - b.z).abs() < 1e-6 && a.z < 0.2, "{a} for {b}");
}

/// A curl drawn upwards is in balance with the nature that holds it there, and falls; its floor catches it.
#[test]
fn a_curl_drawn_upwards_comes_to_lie_on_the_floor() {
    let mut fibre = standing(Model::SuperClothoid, 0.5);
    let turns =
        |i: usize| Vec3::new(8.0 * (0.5 * i as f64).cos(), 8.0 * (0.5 * i as f64).sin(), 0.0);
    let q: Vec<Vec3> = (0..fibre.rod.blocks()).map(turns).collect();
    let found = invert_fibre(&fibre.rod, &q, &Loads::weight(&HAIR, DOWN)).unwrap();
    assert!(found.certificate.negative_modes > 0, "{}", found.certificate.reason);
    (fibre.rod, fibre.state) = (found.rod, RodState::at_rest(q));
    let floor = Collider::fixed(Shape::plane(Vec3::new(0.0, 0.0, -0.02), Vec3::z()).unwrap());
    let floor = floor.with_friction(0.4).unwrap().with_gap(0.0).unwrap();
    let mut scene = Assembly::new(vec![fibre], vec![floor], settings()).unwrap();
    let before = tip(&scene, 0);
    let found = scene.settle(&SettleSettings::default(), &|_, _| true).unwrap();
    assert!(found.certified && found.escapes > 0, "{} {}", found.escapes, found.reason);
    assert!((tip(&scene, 0) - before).norm() > 0.05, "{before} {}", tip(&scene, 0));
    let drift = scene.drift(0.5).unwrap();
    assert!(drift < 1e-4, "{drift:e}");
    // Stopped at once it stays where it was, and says why that is no rest.
    let mut stopped = Assembly::new(scene.fibres.clone(), vec![], settings()).unwrap();
    stopped.fibres[0] = standing(Model::SuperClothoid, 0.5);
    let found = stopped.settle(&SettleSettings::default(), &|_, _| false).unwrap();
    assert!(!found.certified && found.escapes == 0, "{}", found.reason);
    assert!(found.reason.contains("unstable"), "{}", found.reason);
}

/// What grows from others falls with them.
#[test]
fn a_tree_too_heavy_to_stand_bends_over() {
    let trunk = standing(Model::SuperClothoid, 0.3);
    let twig = standing(Model::SuperClothoid, 0.1);
    let grows = |turn: Mat3| Some(Growth { parent: 0, joint: 9, turn });
    let side = |s: f64| Mat3::from_columns(&[Vec3::y() * s, Vec3::z(), Vec3::x() * s]);
    let scene = Assembly::new(vec![trunk, twig.clone(), twig], vec![], settings()).unwrap();
    let mut scene = scene.grown(&[None, grows(side(1.0)), grows(side(-1.0))]).unwrap();
    let found = scene.settle(&SettleSettings::default(), &|_, _| true).unwrap();
    assert!(found.certified && found.escapes > 0, "{} {}", found.escapes, found.reason);
    assert!(tip(&scene, 0).z < 0.29, "{}", tip(&scene, 0));
}

/// A straight round rod may bend over to any side: that is not another way to fall, and pushing it further would not end.
#[test]
fn a_round_rod_is_not_pushed_around() {
    let round = Section { bending_stiffness: [1.0e-6; 2], ..HAIR };
    let rod = Rod::new(Model::SuperClothoid, 12, 0.5, round, upright()).unwrap();
    let state = RodState::at_rest(rod.rest());
    let fibre = Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 };
    let mut scene = Assembly::new(vec![fibre], vec![], settings()).unwrap();
    let found = scene.settle(&SettleSettings::default(), &|_, _| true).unwrap();
    assert!(found.certified && found.escapes == 1, "{} {}", found.escapes, found.reason);
}

/// Who stops a fall in mid-air gets what there is, without a search for a balance that is far: for a ball of hair that took minutes.
#[test]
fn a_fall_that_is_stopped_ends_there() {
    let mut scene = hair_on_a_head(40).unwrap();
    let start = scene.points(7);
    let found = scene.settle(&SettleSettings::default(), &|steps, _| steps < 30).unwrap();
    assert_eq!((found.steps, found.newton, found.escapes), (30, 0, 0));
    assert!(!found.certified && found.speed > 0.1, "{} {}", found.reason, found.speed);
    assert!(found.reason.contains("allow more steps"), "{}", found.reason);
    // As far as it fell, not further.
    let far = |(a, b): (&Vec3, Vec3)| (a - b).norm();
    let moved = start.iter().zip(scene.points(7)).map(far).fold(0.0, f64::max);
    assert!(moved > 1e-5 && moved < 0.05, "{moved}");
}

/// Drawn upwards in a curl that gravity bends the other way: its nature curves against its shape, so sections would turn over about their own
/// tangent, which has no inertia. Without damping inside that flung strands about, and elements turned a million times.
#[test]
fn strands_whose_nature_curves_the_other_way_come_to_rest() {
    let soft = Section {
        bending_stiffness: [8.0e-9; 2],
        twisting_stiffness: 6.4e-9,
        linear_density: 6.5e-6,
    };
    let strand = |side: f64| {
        let frame = Mat3::from_columns(&[Vec3::z(), Vec3::y() * -side, Vec3::x() * side]);
        let position = Vec3::new(0.01 * side, 0.0, 0.1);
        let clamp = Clamp { position, frame };
        let rod = Rod::new(Model::SuperClothoid, 12, 0.2, soft, clamp).unwrap();
        let q: Vec<Vec3> = (0..rod.blocks()).map(|_| Vec3::new(1.0, -6.0, 1.0)).collect();
        let rod = invert_fibre(&rod, &q, &Loads::weight(&soft, DOWN)).unwrap().rod;
        let (state, motion) = (RodState::at_rest(q), ClampMotion::default());
        Fibre { rod, state, motion, radius: 1e-4 }
    };
    let floor = Collider::fixed(Shape::plane(Vec3::zeros(), Vec3::z()).unwrap());
    let floor = floor.with_friction(0.4).unwrap().with_gap(0.0).unwrap();
    let fibres = vec![strand(1.0), strand(-1.0)];
    // The nature of each curves against its shape somewhere.
    for fibre in &fibres {
        let against = |(k, n): (&Vec3, &Vec3)| k.x * n.x + k.y * n.y < 0.0;
        assert!(fibre.state.q.iter().zip(&fibre.rod.rest()).any(against));
    }
    let mut scene = Assembly::new(fibres, vec![floor], settings()).unwrap();
    let fastest = std::cell::Cell::new(0.0f64);
    let settled = scene.settle(&SettleSettings::default(), &|_, speed| {
        if speed.is_finite() {
            fastest.set(fastest.get().max(speed));
        }
        true
    });
    let found = settled.unwrap();
    assert!(found.certified, "{} after {} steps", found.reason, found.steps);
    // What falls a fifth of a metre gets no faster.
    assert!(fastest.get() < 3.0, "{} m/s", fastest.get());
}

/// A rod that begins by turning a million times in a step is caught; one wound up beyond all bounds is told: integrals over elements that turn a million
/// times took hours and gigabytes.
#[test]
fn a_motion_out_of_hand_is_told() {
    let clock = std::time::Instant::now();
    let mut fibre = standing(Model::SuperClothoid, 0.3);
    fibre.state.rate[12] = Vec3::new(1.0e9, 0.0, 0.0);
    let mut scene = Assembly::new(vec![fibre.clone()], vec![], settings()).unwrap();
    for _ in 0..50 {
        scene.step().unwrap();
    }
    assert!(scene.speed() < 10.0, "{} m/s", scene.speed());
    fibre.state = RodState::at_rest(fibre.rod.rest());
    fibre.state.q[12] = Vec3::new(1.0e6, 0.0, 0.0);
    fibre.rod = fibre.rod.clone().with_rest(&fibre.state.q).unwrap();
    let mut scene = Assembly::new(vec![fibre], vec![], settings()).unwrap();
    let error = (0..50).find_map(|_| scene.step().err());
    assert!(matches!(error, Some(RodError::Wild { fibre: 0, .. })), "{error:?}");
    assert!(clock.elapsed().as_secs() < 10, "{:?}", clock.elapsed());
}
