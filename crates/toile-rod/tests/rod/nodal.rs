//! The discrete rod of nodes and angles in motion: it must do what the super-clothoid does, where both are fine enough.

use toile_cone::Status;
use toile_contact::{Collider, Shape};
use toile_rod::{
    Assembly, AssemblySettings, Clamp, ClampMotion, Fibre, Mat3, Model, NaturalCurvature, Prior,
    RodSpec, RodState, Section, SettleSettings, StepSettings, Vec3,
};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn spec(natural: NaturalCurvature) -> RodSpec {
    RodSpec {
        model: Model::SuperClothoid,
        length: 0.3,
        section: Section {
            bending_stiffness: [1.0e-6, 1.4e-6],
            twisting_stiffness: 0.9e-6,
            linear_density: 2.0e-5,
        },
        clamp: Clamp {
            position: Vec3::new(0.0, 0.0, 0.04),
            frame: Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]),
        },
        natural,
        planar: false,
    }
}

fn scene(
    spec: &RodSpec,
    n: usize,
    discrete: bool,
    motion: ClampMotion,
    gravity: Vec3,
    step: StepSettings,
    colliders: Vec<Collider>,
) -> Assembly {
    let rod = spec.build(n).unwrap();
    let state = RodState::at_rest(rod.rest());
    let settings =
        AssemblySettings { step, gravity, fibre_friction: None, tolerance: 1e-8, max_sweeps: 1000 };
    let fibre = Fibre { rod, state, motion, radius: 5e-4 };
    let scene = Assembly::new(vec![fibre], colliders, settings).unwrap();
    if discrete { scene.discrete(0, spec).unwrap() } else { scene }
}

/// Let go straight and level under little weight, a beam swings about its sag: nodes keep pace with clothoids at the second order, and keep
/// the energy.
#[test]
fn a_beam_of_nodes_swings_as_one_of_clothoids() {
    let beam = spec(NaturalCurvature::default());
    let step = StepSettings { theta: 0.5, ..StepSettings::new(1e-3) };
    let make =
        |n, discrete| scene(&beam, n, discrete, ClampMotion::default(), DOWN * 1e-3, step, vec![]);
    let mut exact = make(20, false);
    let mut nodes = [10, 20].map(|n| make(n, true));
    // ω = 3.516 √(EI/ρAL⁴): more than a period.
    let period = 2.0 * std::f64::consts::PI / 3.516 * (0.3f64.powi(4) * 2e-5 / 1e-6).sqrt();
    let (mut sag, mut off) = (0.0f64, [0.0f64; 2]);
    let start = nodes[1].energies().unwrap().iter().sum::<f64>();
    let mut kinetic = 0.0f64;
    for _ in 0..(1.1 * period / 1e-3) as usize {
        exact.step().unwrap();
        let tip = exact.points(0)[20];
        sag = sag.max(0.04 - tip.z);
        for (k, scene) in nodes.iter_mut().enumerate() {
            scene.step().unwrap();
            let there = *scene.points(0).last().unwrap();
            off[k] = off[k].max((there - tip).norm());
        }
        let energy = nodes[1].energies().unwrap();
        kinetic = kinetic.max(energy[0]);
        let change = energy.iter().sum::<f64>() - start;
        assert!(change.abs() < 2e-2 * kinetic.max(1e-16), "{change:e} of {kinetic:e} J");
    }
    let order = (off[0] / off[1]).log2();
    assert!(sag > 1e-4, "{sag:e}");
    assert!(off[1] < 0.01 * sag && (1.7..2.3).contains(&order), "{off:?} of {sag:e}: {order}");
}

/// A curl whose clamp speeds up and turns while its weight unwinds it: the same way at the second order.
#[test]
fn a_falling_curl_of_nodes_approaches_one_of_clothoids() {
    let curl = spec(NaturalCurvature::polynomials([vec![15.0], vec![3.0], vec![8.0]]));
    let motion = ClampMotion {
        acceleration: Vec3::new(0.0, 2.0, 1.0),
        spin_rate: Vec3::new(4.0, 2.0, 12.0),
        ..ClampMotion::default()
    };
    let fall = |n, discrete| {
        let step = StepSettings { damping: 1e-3, ..StepSettings::new(5e-4) };
        let mut scene = scene(&curl, n, discrete, motion, DOWN, step, vec![]);
        let before = scene.points(0)[n];
        for _ in 0..200 {
            scene.step().unwrap();
        }
        let moved = (scene.points(0)[n] - before).norm();
        (scene.points(0)[n / 2], scene.points(0)[n], moved)
    };
    let (middle, tip, moved) = fall(40, false);
    assert!(moved > 0.03, "{moved}");
    let off = [10, 20].map(|n| {
        let found = fall(n, true);
        (found.0 - middle).norm().max((found.1 - tip).norm())
    });
    let order = (off[0] / off[1]).log2();
    assert!(off[1] < 0.06 * moved && (1.6..2.4).contains(&order), "{off:?} of {moved}: {order}");
}

/// On a floor nodes come to rest where clothoids do, nothing goes through, the floor carries the same, and all sticks. What rests goes on from
/// a checkpoint to the bit; what is only known of curvatures is refused.
#[test]
fn nodes_come_to_rest_on_the_floor() {
    let straight = spec(NaturalCurvature::default());
    let floor = Collider::fixed(Shape::plane(Vec3::zeros(), Vec3::z()).unwrap())
        .with_friction(0.4)
        .unwrap()
        .with_gap(0.0)
        .unwrap();
    let fall = |discrete| {
        let step = StepSettings { damping: 2e-3, drag: 2.0, ..StepSettings::new(2e-3) };
        let still = ClampMotion::default();
        let mut scene = scene(&straight, 12, discrete, still, DOWN, step, vec![floor.clone()]);
        let mut last = None;
        for _ in 0..1200 {
            let report = scene.step().unwrap();
            assert!(report.converged, "{:e}", report.residual);
            last = Some(report);
        }
        (scene, last.unwrap())
    };
    let ((mut nodes, report), (clothoids, other)) = (fall(true), fall(false));
    assert!(nodes.speed() < 1e-4, "{} m/s", nodes.speed());
    let carried = |r: &toile_rod::AssemblyReport| r.contacts.iter().map(|c| c.force.z).sum::<f64>();
    let (a, b) = (carried(&report), carried(&other));
    assert!((a / b - 1.0).abs() < 0.05 && a > 0.2 * 2e-5 * 9.81 * 0.3, "{a:e} {b:e} N");
    let lowest = nodes.points(0).iter().map(|p| p.z).fold(1.0, f64::min);
    assert!(lowest > 4.8e-4, "{lowest:e}");
    for c in report.contacts.iter().filter(|c| c.force.norm() > 1e-8) {
        assert_eq!(c.status, Status::Stick, "{c:?}");
    }
    let (p, q) = (nodes.points(0), clothoids.points(0));
    let apart = p.iter().zip(&q).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(apart < 0.01 * 0.3, "{apart:e} m");
    let kept = nodes.checkpoint();
    let mut again = fall(true).0;
    again.restore(&kept).unwrap();
    for scene in [&mut nodes, &mut again] {
        (0..20).for_each(|_| drop(scene.step().unwrap()));
    }
    assert_eq!(nodes.checkpoint(), again.checkpoint());
    assert!(nodes.invert(&Prior::Shape).is_err());
    // From there Newton's method brings both to round-off, and what holds the one holds the other.
    let settings = SettleSettings::default();
    let (mut nodes, mut clothoids) = (nodes, clothoids);
    let found = nodes.settle(&settings, &|_, _| true).unwrap();
    let other = clothoids.settle(&settings, &|_, _| true).unwrap();
    assert!(found.certified && other.certified, "{}; {}", found.reason, other.reason);
    assert!(found.certificates[0].residual < 1e-9, "{:?}", found.certificates);
    let carried = |s: &toile_rod::Settled| s.contacts.iter().map(|c| c.force.z).sum::<f64>();
    let (a, b) = (carried(&found), carried(&other));
    assert!((a / b - 1.0).abs() < 0.05, "{a:e} {b:e} N");
    assert!(nodes.drift(0.2).unwrap() < 1e-6);
}

/// Without its floor the same shape is none in which nodes rest: the certificate is not blind to contact forces.
#[test]
fn nodes_do_not_rest_on_nothing() {
    let straight = spec(NaturalCurvature::default());
    let step = StepSettings { damping: 2e-3, drag: 2.0, ..StepSettings::new(2e-3) };
    let still = ClampMotion::default();
    let mut scene = scene(&straight, 12, true, still, DOWN, step, vec![]);
    let short = SettleSettings { max_steps: 3, ..SettleSettings::default() };
    let found = scene.settle(&short, &|_, _| true).unwrap();
    // Newton's method may still find where it hangs; then it has moved there.
    let hangs = straight.discrete_equilibrium(12, DOWN, 1000).unwrap();
    let apart = (scene.points(0)[12] - hangs.positions[12]).norm();
    assert!(!found.certified || apart < 1e-6, "{}: {apart:e} m", found.reason);
}
