//! Fibres that touch.

use toile_cone::Status;
use toile_contact::{Collider, Shape};
use toile_rod::{
    Assembly, AssemblySettings, Clamp, ClampMotion, Fibre, FibreContact, FibreContactKey, Mat3,
    Model, Prior, Rod, RodState, Section, StepSettings, Vec3, hair_on_a_head,
};

const HAIR: Section = Section {
    bending_stiffness: [1.0e-6, 1.0e-6],
    twisting_stiffness: 7.0e-7,
    linear_density: 2.0e-5,
};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn settings(dt: f64, fibre_friction: Option<f64>) -> AssemblySettings {
    AssemblySettings {
        step: StepSettings { damping: 2e-3, drag: 2.0, ..StepSettings::new(dt) },
        gravity: DOWN,
        fibre_friction,
        tolerance: 1e-6,
        max_sweeps: 500,
    }
}

fn along_x(height: f64) -> Clamp {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    Clamp { position: Vec3::new(0.0, 0.0, height), frame }
}

fn fibre(model: Model, n: usize, length: f64, clamp: Clamp) -> Fibre {
    let rod = Rod::new(model, n, length, HAIR, clamp).unwrap();
    let state = RodState::at_rest(rod.rest());
    Fibre { rod, state, motion: ClampMotion::default(), radius: 5e-4 }
}

#[test]
fn a_fibre_comes_to_rest_on_the_floor() {
    for model in [Model::SuperHelix, Model::SuperClothoid] {
        let floor = Collider::fixed(Shape::plane(Vec3::zeros(), Vec3::z()).unwrap())
            .with_friction(0.4)
            .unwrap()
            .with_gap(0.0)
            .unwrap();
        let mut scene = Assembly::new(
            vec![fibre(model, 12, 0.3, along_x(0.05))],
            vec![floor],
            settings(2e-3, None),
        )
        .unwrap();
        let mut last = None;
        for _ in 0..1500 {
            let report = scene.step().unwrap();
            assert!(report.converged, "{:e} after {} sweeps", report.residual, report.sweeps);
            last = Some(report);
        }
        let report = last.unwrap();
        assert!(scene.speed() < 1e-4, "{model:?}: {} m/s", scene.speed());
        assert!(report.penetration < 1e-5, "{:e}", report.penetration);
        let lowest = scene.points(0).iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        assert!(lowest > 4.8e-4, "{lowest:e}");
        // The floor carries what the clamp does not, and everything sticks at rest.
        let carried: f64 = report.contacts.iter().map(|c| c.force.z).sum();
        let weight = 2.0e-5 * 9.81 * 0.3;
        assert!(carried > 0.2 * weight && carried < weight, "{} of the weight", carried / weight);
        for c in report.contacts.iter().filter(|c| c.force.norm() > 1e-9) {
            assert_eq!(c.status, Status::Stick, "{c:?}");
        }
    }
}

#[test]
fn a_pushed_fibre_sticks_below_its_cone_and_slides_above() {
    // A fibre that lies on a tilted floor, hardly held by its bending: the friction of each contact tells.
    for (mu, sliding) in [(0.6, false), (0.2, true)] {
        let normal = Vec3::new(0.0, -0.4f64.sin(), 0.4f64.cos());
        let slope = Collider::fixed(Shape::plane(Vec3::zeros(), normal).unwrap())
            .with_friction(mu)
            .unwrap()
            .with_gap(0.0)
            .unwrap();
        let clamp = Clamp { position: normal * 5e-4, ..along_x(0.0) };
        let mut scene = Assembly::new(
            vec![fibre(Model::SuperClothoid, 10, 0.3, clamp)],
            vec![slope],
            settings(1e-3, None),
        )
        .unwrap();
        let mut slips = 0;
        for _ in 0..100 {
            let report = scene.step().unwrap();
            assert!(report.converged);
            slips += report.contacts.iter().filter(|c| c.status == Status::Slip).count();
            for c in &report.contacts {
                let n = c.force.dot(&c.normal);
                let t = (c.force - c.normal * n).norm();
                assert!(t <= mu * n + 1e-9, "{c:?}");
            }
        }
        let tip = scene.points(0).last().copied().unwrap();
        if sliding {
            assert!(slips > 100 && tip.y < -0.01, "{slips} slips, tip {tip}");
        } else {
            assert!(slips == 0 && tip.y.abs() < 1e-6 + 3e-4, "{slips} slips, tip {tip}");
        }
    }
}

#[test]
fn crossing_fibres_do_not_pass_through_each_other() {
    // One lies across under the other's fall.
    let lower = {
        let frame = Mat3::from_columns(&[Vec3::z(), Vec3::x(), Vec3::y()]);
        let stiff = Section { bending_stiffness: [1e-3; 2], twisting_stiffness: 1e-3, ..HAIR };
        let clamp = Clamp { position: Vec3::new(0.1, -0.1, 0.0), frame };
        let rod = Rod::new(Model::SuperClothoid, 8, 0.2, stiff, clamp).unwrap();
        let state = RodState::at_rest(rod.rest());
        Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 }
    };
    let upper = Fibre { radius: 1e-3, ..fibre(Model::SuperClothoid, 12, 0.25, along_x(0.02)) };
    let mut scene = Assembly::new(vec![lower, upper], vec![], settings(1e-3, Some(0.3))).unwrap();
    let mut touched = false;
    for _ in 0..800 {
        let report = scene.step().unwrap();
        assert!(report.converged);
        touched |= report.contacts.iter().any(|c| c.force.z.abs() > 1e-6);
    }
    assert!(touched);
    // The upper one still lies over the lower one where they cross.
    let over = scene
        .points(1)
        .into_iter()
        .min_by(|a, b| (a.x - 0.1).abs().total_cmp(&(b.x - 0.1).abs()))
        .unwrap();
    assert!(over.z > 0.0, "{over}");
}

#[test]
fn hair_falls_on_a_head() {
    let mut scene = hair_on_a_head(60).unwrap();
    let mut worst = 0.0f64;
    for _ in 0..60 {
        let report = scene.step().unwrap();
        assert!(report.converged, "{:e} after {} sweeps", report.residual, report.sweeps);
        worst = worst.max(report.residual);
    }
    assert!(worst <= 1e-6, "{worst:e}");
}

#[test]
fn hair_falls_alike_on_any_number_of_threads() {
    let fall = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut scene = hair_on_a_head(40).unwrap();
            for _ in 0..15 {
                scene.step().unwrap();
            }
            scene.fibres.iter().flat_map(|f| f.state.q.clone()).collect::<Vec<_>>()
        })
    };
    let one = fall(1);
    assert!(fall(3).iter().zip(&one).all(|(a, b)| a == b));
}

#[test]
fn a_prop_carries_three_eighths() {
    // A straight horizontal cantilever with a frictionless prop under its tip, straight by nature: the published reactions.
    for (n, expected) in [(1, 0.3333), (2, 0.36667), (5, 0.37374), (10, 0.37469), (20, 0.37492)] {
        let clamp = along_x(0.0);
        let beam = fibre(Model::SuperHelix, n, 1.0, clamp);
        // Only the tip comes near the top of the ball.
        let ball = Collider::fixed(Shape::sphere(Vec3::new(1.0, 0.0, -0.0105), 0.01).unwrap())
            .with_friction(0.0)
            .unwrap()
            .with_gap(0.0)
            .unwrap();
        let scene = Assembly::new(vec![beam], vec![ball], settings(1e-3, None)).unwrap();
        let found = scene.invert(&Prior::Straight).unwrap();
        assert_eq!(found.contacts.len(), 1);
        let share = found.contacts[0].force.z / (2.0e-5 * 9.81);
        assert!((share - expected).abs() < 5e-5, "{n}: {share}");
        assert!(found.residual <= 1e-10 && found.cone_gap <= 1e-10);
    }
}

#[test]
fn a_settled_assembly_is_inverted_and_stays() {
    // Let a fibre fall on the floor, then find a nature that holds it where it lies.
    let floor = Collider::fixed(Shape::plane(Vec3::zeros(), Vec3::z()).unwrap())
        .with_friction(0.4)
        .unwrap()
        .with_gap(0.0)
        .unwrap();
    let fibres = vec![fibre(Model::SuperClothoid, 12, 0.3, along_x(0.02))];
    let mut scene = Assembly::new(fibres, vec![floor], settings(2e-3, None)).unwrap();
    for _ in 0..1500 {
        scene.step().unwrap();
    }
    let found = scene.invert(&Prior::Shape).unwrap();
    assert!(!found.contacts.is_empty() && found.residual < 1e-8, "{:e}", found.residual);
    assert!(found.cone_gap < 1e-8 && found.cone_margin >= -1e-8, "{:e}", found.cone_gap);
    let mut held = scene.with_natures(&found.natural).unwrap();
    held.settings.step.drag = 0.0;
    held.settings.tolerance = 1e-10;
    let drift = held.drift(0.2).unwrap();
    // The naive nature, the shape itself, sags.
    let shapes: Vec<Vec<Vec3>> = scene.fibres.iter().map(|f| f.state.q.clone()).collect();
    let mut naive = scene.with_natures(&shapes).unwrap();
    naive.settings.step.drag = 0.0;
    let sag = naive.drift(0.2).unwrap();
    assert!(drift < 1e-4 && sag > 1e-3, "drift {drift:e}, sag {sag:e}");
}

/// A fibre thrown at another at forty metres a second goes forty radii in a step, and is caught all the same.
#[test]
fn fast_fibres_do_not_pass_each_other_within_a_step() {
    let lower = {
        let frame = Mat3::from_columns(&[Vec3::z(), Vec3::x(), Vec3::y()]);
        let stiff = Section { bending_stiffness: [1e-2; 2], twisting_stiffness: 1e-2, ..HAIR };
        let clamp = Clamp { position: Vec3::new(0.1, -0.1, 0.0), frame };
        let rod = Rod::new(Model::SuperClothoid, 8, 0.2, stiff, clamp).unwrap();
        let state = RodState::at_rest(rod.rest());
        Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 }
    };
    for height in [0.03, 0.037, 0.055] {
        let mut upper = fibre(Model::SuperClothoid, 12, 0.25, along_x(height));
        upper.radius = 1e-3;
        upper.motion.velocity = Vec3::new(0.0, 0.0, -40.0);
        let fibres = vec![lower.clone(), upper];
        let mut scene = Assembly::new(fibres, vec![], settings(1e-3, Some(0.3))).unwrap();
        for step in 0..2 {
            let report = scene.step().unwrap();
            assert_eq!(report.passing, 0, "step {step}");
        }
        // The clamp went below, the fibre hangs over the other one.
        assert!(scene.fibres[1].rod.clamp().position.z < -0.02);
        let across: Vec<f64> = (scene.points(1).windows(2))
            .filter(|w| (w[0].x - 0.1) * (w[1].x - 0.1) <= 0.0)
            .map(|w| w[0].z + (w[1].z - w[0].z) * (0.1 - w[0].x) / (w[1].x - w[0].x))
            .collect();
        // The other one gives way a little.
        let under = scene.points(0)[4].z;
        assert!(across.iter().all(|z| *z > under + 5e-4), "{height}: {across:?} over {under}");
    }
}

/// Two fibres that touch on both sides of a joint touch once, also when one of them touches a third.
#[test]
fn contacts_at_one_place_are_one_whatever_else_touches() {
    let bent = {
        let rod = Rod::new(Model::SuperHelix, 2, 0.2, HAIR, along_x(0.0)).unwrap();
        let state = RodState::at_rest(vec![Vec3::new(3.0, 0.0, 0.0); rod.blocks()]);
        Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 }
    };
    let alone = Assembly::new(vec![bent.clone()], vec![], settings(1e-3, None)).unwrap();
    let p = alone.points(0);
    // Towards the inside of the bend, at the joint and at the middle of the first element.
    let inside = (p[0] + p[2] - p[1] * 2.0).normalize();
    let along = (p[1] - p[0]).normalize();
    let across = Vec3::y().cross(&along);
    let across = if across.dot(&inside) > 0.0 { across } else { -across };
    assert!(inside.y.abs() < 1e-9 && p[2].y.abs() < 1e-9, "{p:?}");
    let over = |at: Vec3| {
        let frame = Mat3::from_columns(&[Vec3::z(), Vec3::x(), Vec3::y()]);
        let clamp = Clamp { position: at - Vec3::y() * 0.1, frame };
        Fibre { radius: 1e-3, ..fibre(Model::SuperHelix, 3, 0.2, clamp) }
    };
    let joint = over(p[1] + inside * (2e-3 / inside.dot(&across)));
    let middle = over((p[0] + p[1]) * 0.5 + across * 2e-3);
    let scene = Assembly::new(vec![bent, joint, middle], vec![], settings(1e-3, Some(0.3)));
    let found = scene.unwrap().invert(&Prior::Shape).unwrap();
    let count = |other: u32| {
        let of = |c: &&FibreContact| match c.key {
            FibreContactKey::Fibres { first, second } => first.0 == 0 && second.0 == other,
            _ => false,
        };
        found.contacts.iter().filter(of).count()
    };
    assert_eq!((count(1), count(2)), (1, 1), "{:?}", found.contacts);
}
