//! Fibres that overlap where they begin, and work that is stopped.

use toile_rod::{
    Assembly, AssemblySettings, Clamp, ClampMotion, Fibre, Mat3, Model, Prior, Rod, RodError,
    RodState, Section, StepSettings, Vec3, drawn_hair, polyline_overlaps,
};

const HAIR: Section = Section {
    bending_stiffness: [1.0e-7, 1.0e-7],
    twisting_stiffness: 7.0e-8,
    linear_density: 2.0e-5,
};

/// A fibre from a root, along a direction.
fn fibre(root: Vec3, along: Vec3) -> Fibre {
    stiff(root, along, 1.0)
}

/// The same, so many times as stiff.
fn stiff(root: Vec3, along: Vec3, times: f64) -> Fibre {
    let section = Section {
        bending_stiffness: HAIR.bending_stiffness.map(|b| times * b),
        twisting_stiffness: times * HAIR.twisting_stiffness,
        ..HAIR
    };
    let along = along.normalize();
    let d1 = along.cross(&Vec3::z()).normalize();
    let frame = Mat3::from_columns(&[d1, along.cross(&d1), along]);
    let clamp = Clamp { position: root, frame };
    let rod = Rod::new(Model::SuperClothoid, 10, 0.1, section, clamp).unwrap();
    let state = RodState::at_rest(rod.rest());
    Fibre { rod, state, motion: ClampMotion::default(), radius: 5e-4 }
}

fn together(fibres: Vec<Fibre>) -> Assembly {
    let settings = AssemblySettings {
        step: StepSettings { damping: 2e-3, ..StepSettings::new(1e-3) },
        gravity: Vec3::zeros(),
        fibre_friction: Some(0.3),
        tolerance: 1e-6,
        max_sweeps: 500,
    };
    Assembly::new(fibres, vec![], settings).unwrap()
}

/// Two fibres that cross inside each other part, and slowly; pushed out in one step they fly apart.
#[test]
fn what_overlaps_parts_slowly() {
    let crossing = || {
        let a = fibre(Vec3::new(-0.05, 0.0, 0.0), Vec3::x());
        let b = fibre(Vec3::new(0.0, -0.05, 2e-4), Vec3::y());
        together(vec![a, b])
    };
    let (mut rash, mut calm) = (crossing(), crossing());
    let found = calm.part_slowly();
    assert!(found.pairs == 1 && found.rooted == 0 && (found.deepest - 8e-4).abs() < 1e-9);
    let lines: Vec<Vec<Vec3>> = (0..2).map(|f| calm.points(f)).collect();
    let seen = polyline_overlaps(&lines, &[5e-4; 2]);
    assert!(seen.0 == 1 && (seen.1 - 8e-4).abs() < 1e-9, "{seen:?}");
    let fastest = |scene: &mut Assembly| {
        let one = |_| {
            let report = scene.step().unwrap();
            assert!(report.converged);
            (scene.speed(), report.penetration)
        };
        let all: Vec<(f64, f64)> = (0..60).map(one).collect();
        (all.iter().map(|s| s.0).fold(0.0, f64::max), all[59].1)
    };
    let (rash, calm) = (fastest(&mut rash), fastest(&mut calm));
    assert!(calm.0 < 0.1 && calm.1 < 1e-6, "{calm:?}");
    assert!(rash.0 > 0.3, "{rash:?}");
}

/// Roots that are closer than fibres are thick do not push each other: clamps do not yield. Where the fibres have parted they touch again.
#[test]
fn what_is_rooted_together_parts_before_it_touches() {
    let a = stiff(Vec3::zeros(), Vec3::x(), 100.0);
    let b = fibre(Vec3::new(0.0, 2e-4, 0.0), Vec3::new(1.0, 0.05, 0.0));
    let mut scene = together(vec![a, b]);
    assert_eq!(scene.part_slowly().rooted, 1);
    for _ in 0..20 {
        let report = scene.step().unwrap();
        assert!(report.contacts.iter().all(|c| c.force.norm() < 1e-9), "{:?}", report.contacts);
    }
    assert!(scene.speed() < 1e-6, "{}", scene.speed());
    // The softer falls onto the other.
    scene.settings.gravity = Vec3::new(0.0, -9.81, 0.0);
    let mut met = 0;
    for _ in 0..200 {
        met =
            met.max(scene.step().unwrap().contacts.iter().filter(|c| c.force.norm() > 0.0).count());
    }
    assert!(met > 0);
}

/// Whoever watches may end what takes long.
#[test]
fn closing_and_inverting_stop_when_asked() {
    let mut scene = drawn_hair(40).unwrap();
    let calls = std::cell::Cell::new(0);
    let twice = |part: f64| {
        assert!((0.0..=1.0).contains(&part));
        calls.set(calls.get() + 1);
        calls.get() < 3
    };
    let stopped = scene.invert_watched(&Prior::Shape, &twice);
    // Once it is answered, at most the loops around the innermost ask again.
    assert!(matches!(stopped, Err(RodError::Stopped)) && calls.get() <= 6, "{}", calls.get());
    // Out of contact again, so that there is something to close.
    for fibre in &mut scene.fibres {
        fibre.state.q.iter_mut().for_each(|k| *k *= 1.001);
    }
    calls.set(0);
    assert!(matches!(scene.close_gaps_watched(1e-4, &twice), Err(RodError::Stopped)));
    assert!(calls.get() <= 6, "{}", calls.get());
}

/// A step that is stopped among its sweeps moves nothing, and the next goes on from there.
#[test]
fn a_step_that_is_stopped_leaves_everything_where_it_was() {
    let mut scene = drawn_hair(40).unwrap();
    let other = scene.checkpoint();
    let asked = std::cell::Cell::new(0);
    let stopped = scene.step_while(&|| {
        asked.set(asked.get() + 1);
        false
    });
    assert!(matches!(stopped, Err(RodError::Stopped)) && asked.get() > 0, "{stopped:?}");
    assert_eq!(scene.checkpoint(), other);
    scene.step_while(&|| true).unwrap();
    assert!(scene.time > other.time);
}
