//! Rods that grow from each other and touch things.

use toile_cone::Status;
use toile_contact::{Collider, Shape};
use toile_rod::{
    Assembly, AssemblySettings, Clamp, ClampMotion, Fibre, Growth, Mat3, Model, Prior, Rod,
    RodState, Section, SettleSettings, StepSettings, Vec3, energies, turn,
};

const TWIG: Section = Section {
    bending_stiffness: [2.0e-6, 1.0e-6],
    twisting_stiffness: 7.0e-7,
    linear_density: 2.0e-5,
};
const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);
const MODELS: [Model; 2] = [Model::SuperHelix, Model::SuperClothoid];

fn settings(dt: f64, fibre_friction: Option<f64>) -> AssemblySettings {
    AssemblySettings {
        step: StepSettings { damping: 2e-3, drag: 2.0, ..StepSettings::new(dt) },
        gravity: DOWN,
        fibre_friction,
        tolerance: 1e-8,
        max_sweeps: 1000,
    }
}

fn along_x(position: Vec3) -> Clamp {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    Clamp { position, frame }
}

fn fibre(model: Model, n: usize, length: f64, clamp: Clamp) -> Fibre {
    let rod = Rod::new(model, n, length, TWIG, clamp).unwrap();
    let state = RodState::at_rest(rod.rest());
    Fibre { rod, state, motion: ClampMotion::default(), radius: 5e-4 }
}

fn plane(normal: Vec3, friction: f64) -> Collider {
    let plane = Shape::plane(Vec3::zeros(), normal).unwrap();
    Collider::fixed(plane).with_friction(friction).unwrap().with_gap(0.0).unwrap()
}

/// Sideways by an angle in the plane of the tangent and d₁.
fn aside(parent: usize, joint: usize, angle: f64) -> Option<Growth> {
    Some(Growth { parent, joint, turn: turn(&Vec3::new(0.0, angle, 0.0), 1.0) })
}

/// A trunk along x with a bough to each side, one of which bears a twig.
fn bush(model: Model, clamp: Clamp) -> (Vec<Fibre>, Vec<Option<Growth>>) {
    let fibres =
        [(6, 0.18), (4, 0.12), (4, 0.12), (3, 0.06)].map(|(n, l)| fibre(model, n, l, clamp));
    let growths = [None, aside(0, 3, 0.8), aside(0, 5, -0.7), aside(1, 2, -0.6)];
    (fibres.into(), growths.into())
}

/// A super-helix knows nothing of cuts: in two pieces, of which one grows from the other, it falls on a floor as in one.
#[test]
fn a_rod_cut_in_two_falls_as_the_rod() {
    let clamp = along_x(Vec3::new(0.0, 0.0, 0.03));
    let whole = fibre(Model::SuperHelix, 9, 0.27, clamp);
    let parts =
        vec![fibre(Model::SuperHelix, 4, 0.12, clamp), fibre(Model::SuperHelix, 5, 0.15, clamp)];
    let growths = [None, Some(Growth { parent: 0, joint: 4, turn: Mat3::identity() })];
    let make = |fibres| Assembly::new(fibres, vec![plane(Vec3::z(), 0.4)], settings(2e-3, None));
    let mut one = make(vec![whole]).unwrap();
    let mut two = make(parts).unwrap().grown(&growths).unwrap();
    let mut touched = 0;
    for step in 0..150 {
        let (a, b) = (one.step().unwrap(), two.step().unwrap());
        touched += usize::from(a.contacts.iter().any(|c| c.force.z > 1e-6));
        let carried = |r: &[toile_rod::FibreContact]| r.iter().map(|c| c.force.z).sum::<f64>();
        let off = (carried(&a.contacts) - carried(&b.contacts)).abs();
        assert!(off < 1e-6 * 2e-5 * 9.81 * 0.27 + 1e-5 * carried(&a.contacts), "{step}: {off:e} N");
        let (p, mut q) = (one.points(0), two.points(0));
        q.extend(&two.points(1)[1..]);
        let apart = p.iter().zip(&q).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(apart < 1e-8, "{step}: {apart:e} m");
    }
    assert!(touched > 50, "{touched}");
    // So do they rest.
    let fall = SettleSettings::default();
    let a = one.settle(&fall, &|_, _| true).unwrap();
    let b = two.settle(&fall, &|_, _| true).unwrap();
    assert!(a.certified && b.certified, "{}; {}", a.reason, b.reason);
    let (p, q) = (one.points(0)[9], two.points(1)[5]);
    assert!((p - q).norm() < 1e-7, "{p} {q}");
}

/// A bush comes to rest on a floor; however it is moved from there, contact forces do the work that weight and elasticity take.
#[test]
fn contacts_of_a_resting_tree_balance_its_weight() {
    for model in MODELS {
        let (fibres, growths) = bush(model, along_x(Vec3::new(0.0, 0.0, 0.03)));
        let floor = plane(Vec3::z(), 0.4);
        let scene = Assembly::new(fibres, vec![floor], settings(2e-3, Some(0.4))).unwrap();
        let mut scene = scene.grown(&growths).unwrap();
        let settled = scene.settle(&SettleSettings::default(), &|_, _| true).unwrap();
        assert!(settled.certified, "{model:?}: {}", settled.reason);
        let loaded = settled.contacts.iter().filter(|c| c.force.z > 1e-7);
        let touching: std::collections::BTreeSet<u32> =
            loaded.filter_map(|c| collider_of(c).map(|(f, _)| f)).collect();
        assert!(touching.len() >= 3, "{model:?}: {touching:?} touch");
        let weight = 2e-5 * 9.81 * 0.48;
        let carried: f64 = settled.contacts.iter().map(|c| c.force.z).sum();
        assert!(carried > 0.3 * weight && carried < weight, "{model:?}: {}", carried / weight);
        let lowest = (0..4).flat_map(|f| scene.points(f)).map(|p| p.z).fold(1.0, f64::min);
        assert!(lowest > 4.9e-4, "{lowest:e}");
        // Virtual work, by differences.
        for seed in 0..5 {
            let moved = |by: f64| {
                let mut other = scene.clone();
                for (f, fibre) in other.fibres.iter_mut().enumerate() {
                    for (i, q) in fibre.state.q.iter_mut().enumerate() {
                        let at =
                            |k: f64| ((seed as f64 + 1.0) * (k + i as f64 + 7.0 * f as f64)).sin();
                        *q += Vec3::new(at(0.1), at(0.2), at(0.3)) * by;
                    }
                }
                // Growths are put where the others have them.
                other.stop();
                other
            };
            let h = 1e-3;
            let (ahead, behind) = (moved(h), moved(-h));
            let energy = |scene: &Assembly| -> f64 {
                let still = ClampMotion::default();
                let one = |f: &Fibre| energies(&f.rod, &f.state, &DOWN, &still).unwrap();
                scene.fibres.iter().map(|f| one(f)[1] + one(f)[2]).sum()
            };
            let slope = (energy(&ahead) - energy(&behind)) / (2.0 * h);
            let (mut work, mut size) = (0.0, 0.0);
            for c in &settled.contacts {
                let Some((fibre, joint)) = collider_of(c) else { continue };
                let at = |s: &Assembly| s.points(fibre as usize)[joint as usize];
                let part = c.force.dot(&(at(&ahead) - at(&behind))) / (2.0 * h);
                (work, size) = (work + part, size + part.abs());
            }
            assert!((slope - work).abs() < 1e-5 * size, "{model:?}: {slope:e} {work:e} {size:e}");
        }
    }
}

/// A bush that lies on a floor, drawn a little above it here and in it there, is brought into contact, and natures and forces that hold it as it then
/// is are found: it stays for a while of exact friction, and made as drawn it goes.
#[test]
fn a_drawn_tree_in_contact_stays() {
    for model in MODELS {
        let (fibres, growths) = bush(model, along_x(Vec3::new(0.0, 0.0, 0.03)));
        let floor = plane(Vec3::z(), 0.4);
        let scene = Assembly::new(fibres, vec![floor], settings(2e-3, Some(0.4))).unwrap();
        let mut scene = scene.grown(&growths).unwrap();
        scene.settle(&SettleSettings::default(), &|_, _| true).unwrap();
        // Drawn by hand: not quite as it lay.
        for (f, fibre) in scene.fibres.iter_mut().enumerate() {
            for (i, q) in fibre.state.q.iter_mut().enumerate() {
                *q += Vec3::new((1.3 * (i + f) as f64).sin(), 0.0, 0.0) * 1e-2;
            }
        }
        scene.stop();
        let closing = scene.close_gaps(5e-5).unwrap();
        assert!(closing.contacts >= 3 && closing.left < 1e-6, "{model:?}: {closing:?}");
        assert!(closing.moved > 0.0 && closing.moved < 1e-3, "{model:?}: {closing:?}");
        let found = scene.invert(&Prior::Shape).unwrap();
        assert!(found.negative_modes == 0 && found.cone_gap == 0.0, "{model:?}");
        let worst = found.certificates.iter().map(|c| c.residual).fold(0.0, f64::max);
        assert!(worst < 1e-9, "{model:?}: {worst:e}");
        let carried: f64 = found.contacts.iter().map(|c| c.force.z).sum();
        assert!(carried > 0.1 * 2e-5 * 9.81 * 0.48, "{carried:e} N");
        let drift = scene.held_by(&found).unwrap().drift(0.3).unwrap();
        assert!(drift < 1e-5, "{model:?}: {drift:e}");
        let shapes: Vec<_> = scene.fibres.iter().map(|f| f.state.q.clone()).collect();
        let sag = scene.with_natures(&shapes).unwrap().drift(0.3).unwrap();
        assert!(sag > 1e-3, "{model:?}: {sag:e}");
    }
}

fn collider_of(c: &toile_rod::FibreContact) -> Option<(u32, u32)> {
    match c.key {
        toile_rod::FibreContactKey::Collider { fibre, point, .. } => Some((fibre, point)),
        _ => None,
    }
}

/// A bush on a slope lies still below the angle of friction and slides above it; forces never leave their cones.
#[test]
fn a_tree_sticks_below_its_cone_and_slides_above() {
    for (mu, sliding) in [(0.6, false), (0.2, true)] {
        let normal = Vec3::new(0.0, -0.4f64.sin(), 0.4f64.cos());
        let frame = Mat3::from_columns(&[normal.cross(&Vec3::x()), normal, Vec3::x()]);
        let clamp = Clamp { position: normal * 5e-4, frame };
        let (fibres, growths) = bush(Model::SuperClothoid, clamp);
        let slope = plane(normal, mu);
        let settings = AssemblySettings { tolerance: 1e-6, ..settings(1e-3, None) };
        let scene = Assembly::new(fibres, vec![slope], settings).unwrap();
        let mut scene = scene.grown(&growths).unwrap();
        let before: Vec<Vec3> = (0..4).flat_map(|f| scene.points(f)).collect();
        let mut slips = 0;
        for _ in 0..100 {
            let report = scene.step().unwrap();
            assert!(report.converged, "{:e}", report.residual);
            slips += report.contacts.iter().filter(|c| c.status == Status::Slip).count();
            for c in &report.contacts {
                let n = c.force.dot(&c.normal);
                assert!((c.force - c.normal * n).norm() <= mu * n + 1e-9, "{c:?}");
            }
        }
        let after = (0..4).flat_map(|f| scene.points(f));
        let far = before.iter().zip(after).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        if sliding {
            assert!(slips > 100 && far > 0.01, "{slips} slips, {far} m");
        } else {
            assert!(slips == 0 && far < 1e-6, "{slips} slips, {far:e} m");
        }
    }
}

/// A soft bough falls on a bar that grows from the same trunk and hangs over it; where they grow they do not push each other.
#[test]
fn branches_of_one_tree_do_not_pass_each_other() {
    let upright = Clamp { position: Vec3::zeros(), frame: Mat3::identity() };
    let stiff = Section { bending_stiffness: [1e-3; 2], twisting_stiffness: 1e-3, ..TWIG };
    let soft = Section { bending_stiffness: [1e-7; 2], twisting_stiffness: 1e-7, ..TWIG };
    let rod = |n, l, section| {
        let rod = Rod::new(Model::SuperClothoid, n, l, section, upright).unwrap();
        let state = RodState::at_rest(rod.rest());
        Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 }
    };
    let grows = |parent, joint, axis: Vec3| {
        Some(Growth { parent, joint, turn: turn(&axis, std::f64::consts::FRAC_PI_2) })
    };
    // An arm along x, the bar from its tip along y, and the bough from the top of the trunk between the two.
    let fibres =
        vec![rod(4, 0.08, stiff), rod(3, 0.06, stiff), rod(5, 0.1, stiff), rod(9, 0.2, soft)];
    let between = Vec3::new(-1.0, 1.0, 0.0).normalize();
    let growths = [None, grows(0, 2, Vec3::y()), grows(1, 3, -Vec3::x()), grows(0, 4, between)];
    let fall = |threads: usize, steps: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fibres = fibres.clone();
        pool.install(move || {
            let settings = AssemblySettings { tolerance: 1e-6, ..settings(1e-3, Some(0.3)) };
            let scene = Assembly::new(fibres, vec![], settings).unwrap();
            let mut scene = scene.grown(&growths).unwrap();
            let mut most = 0.0f64;
            let first = scene.step().unwrap();
            assert!(first.contacts.is_empty(), "{:?}", first.contacts);
            for _ in 0..steps {
                let report = scene.step().unwrap();
                assert!(report.converged, "{:e}", report.residual);
                assert!(report.penetration < 1e-4, "{:e} m", report.penetration);
                most = report.contacts.iter().map(|c| c.force.norm()).fold(most, f64::max);
            }
            (scene, most)
        })
    };
    let (scene, most) = fall(2, 700);
    assert!(most > 1e-5, "{most:e} N");
    let crossed: Vec<Vec3> = (scene.points(3).windows(2))
        .filter(|w| (w[0].x - 0.06) * (w[1].x - 0.06) <= 0.0)
        .map(|w| w[0] + (w[1] - w[0]) * ((0.06 - w[0].x) / (w[1].x - w[0].x)))
        .collect();
    let bar = scene.points(2)[3].z;
    assert!(crossed.len() == 1 && crossed[0].z > bar + 1.5e-3, "{crossed:?} over {bar}");
    let (one, two) = (fall(1, 200).0, fall(2, 200).0);
    assert!(one.checkpoint() == two.checkpoint());
}
