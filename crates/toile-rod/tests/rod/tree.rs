//! Rods that grow from each other.

use std::time::Instant;

use nalgebra::{DMatrix, DVector};
use toile_rod::{
    Assembly, AssemblySettings, Branch, Clamp, ClampMotion, Fibre, Growth, Loads, Mat3, Model,
    NaturalCurvature, Prior, Rod, RodState, Section, StaticSettings, StepSettings, Tree, Vec3,
    acceleration, equilibrium, invert_fibre, invert_tree, turn,
};

const UNIT: Section =
    Section { bending_stiffness: [1.0, 1.3], twisting_stiffness: 0.7, linear_density: 1.0 };
const MODELS: [Model; 2] = [Model::SuperHelix, Model::SuperClothoid];
const DOWN: Vec3 = Vec3::new(0.0, 0.0, -4.0);

fn along_x() -> Clamp {
    let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
    Clamp { position: Vec3::new(0.1, -0.2, 0.3), frame }
}

fn rod(model: Model, elements: usize, length: f64) -> Rod {
    let natural = NaturalCurvature::polynomials([vec![0.6], vec![-0.4, 0.8], vec![0.9]]);
    let rod = Rod::new(model, elements, length, UNIT, along_x()).unwrap();
    rod.with_natural_curvature(&natural).unwrap()
}

/// A trunk with two boughs, one of which bears a twig.
fn small_tree(model: Model) -> Tree {
    let grows = |parent, joint, axis: Vec3| Some(Growth { parent, joint, turn: turn(&axis, 1.0) });
    Tree::new(vec![
        Branch { rod: rod(model, 4, 0.8), growth: None },
        Branch { rod: rod(model, 2, 0.5), growth: grows(0, 2, Vec3::new(0.7, 0.1, 0.3)) },
        Branch { rod: rod(model, 3, 0.4), growth: grows(0, 4, Vec3::new(-0.5, 0.4, 0.0)) },
        Branch { rod: rod(model, 2, 0.3), growth: grows(1, 1, Vec3::new(0.0, -0.9, 1.0)) },
    ])
    .unwrap()
}

fn wild(blocks: usize) -> RodState {
    let value =
        |i: usize, a: f64| Vec3::new((a * i as f64).sin(), (1.3 * a * i as f64).cos(), 0.5) * 2.0;
    RodState {
        q: (0..blocks).map(|i| value(i, 0.7)).collect(),
        rate: (0..blocks).map(|i| value(i, 1.1)).collect(),
    }
}

const SPINNING: ClampMotion = ClampMotion {
    velocity: Vec3::new(0.3, -0.2, 0.1),
    acceleration: Vec3::new(1.0, 2.0, -0.5),
    spin: Vec3::new(0.4, 2.0, -1.0),
    spin_rate: Vec3::new(-3.0, 0.2, 0.7),
};

fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
    let size = b.iter().map(|b| b.norm()).fold(0.0, f64::max);
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) / size
}

#[test]
fn a_tree_of_one_branch_is_the_rod() {
    for model in MODELS {
        let single = rod(model, 6, 1.0);
        let tree = Tree::new(vec![Branch { rod: single.clone(), growth: None }]).unwrap();
        let state = wild(single.blocks());
        let settings = StepSettings { damping: 1e-3, ..StepSettings::new(1e-2) };
        let a = acceleration(&single, &state, &DOWN, &SPINNING, &settings).unwrap();
        let b = tree.acceleration(&state, &DOWN, &SPINNING, &settings).unwrap();
        assert!(apart(&b, &a) == 0.0, "{model:?}: {:e}", apart(&b, &a));
        let loads = Loads::weight(&UNIT, DOWN);
        let alone = equilibrium(&single, &loads, &StaticSettings::default()).unwrap();
        let found = tree.equilibrium(&DOWN, &StaticSettings::default()).unwrap();
        assert!(found.certificate.certified && apart(&found.q, &alone.q) < 1e-12);
        assert!((found.load_energy - alone.load_energy).abs() < 1e-12);
    }
}

/// Cut in two and put together again nothing changes: the unknowns of a super-helix know nothing of cuts.
#[test]
fn a_rod_cut_in_two_is_the_rod() {
    let whole = rod(Model::SuperHelix, 6, 1.2);
    let rest = whole.rest();
    let part = |q_bar: &[Vec3]| {
        Rod::new(Model::SuperHelix, q_bar.len(), 0.2 * q_bar.len() as f64, UNIT, along_x())
            .unwrap()
            .with_rest(q_bar)
            .unwrap()
    };
    let growth = Some(Growth { parent: 0, joint: 2, turn: Mat3::identity() });
    let tree = Tree::new(vec![
        Branch { rod: part(&rest[..2]), growth: None },
        Branch { rod: part(&rest[2..]), growth },
    ])
    .unwrap();
    let state = wild(6);
    let settings = StepSettings { damping: 1e-3, ..StepSettings::new(1e-2) };
    let a = acceleration(&whole, &state, &DOWN, &SPINNING, &settings).unwrap();
    let b = tree.acceleration(&state, &DOWN, &SPINNING, &settings).unwrap();
    assert!(apart(&b, &a) < 1e-11, "{:e}", apart(&b, &a));
    let loads = Loads::weight(&UNIT, DOWN);
    let alone = equilibrium(&whole, &loads, &StaticSettings::default()).unwrap();
    let found = tree.equilibrium(&DOWN, &StaticSettings::default()).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    assert!(apart(&found.q, &alone.q) < 1e-10, "{:e}", apart(&found.q, &alone.q));
    let (one, other) = (found.certificate.stability.unwrap(), alone.certificate.stability.unwrap());
    assert!((one / other - 1.0).abs() < 1e-8, "{one} {other}");
}

/// M q̈ + C = forces, with the mass matrix from kinetic energies and the rest from Lagrange's equation by differences.
#[test]
fn a_tree_obeys_lagranges_equation() {
    for model in MODELS {
        let tree = small_tree(model);
        let n = 3 * tree.blocks();
        let state = wild(tree.blocks());
        let still = ClampMotion::default();
        let flat = |v: &[Vec3]| DVector::from_fn(n, |i, _| v[i / 3][i % 3]);
        let blocks = |v: &DVector<f64>| -> Vec<Vec3> {
            (0..n / 3).map(|b| Vec3::new(v[3 * b], v[3 * b + 1], v[3 * b + 2])).collect()
        };
        let kinetic = |q: &[Vec3], rate: &DVector<f64>| {
            let state = RodState { q: q.to_vec(), rate: blocks(rate) };
            tree.energies(&state, &DOWN, &still).unwrap()[0]
        };
        let mass = |q: &[Vec3]| {
            let unit = |i: usize| DVector::from_fn(n, |k, _| f64::from(u8::from(k == i)));
            let own: Vec<f64> = (0..n).map(|i| kinetic(q, &unit(i))).collect();
            DMatrix::from_fn(n, n, |i, j| {
                if i == j {
                    2.0 * own[i]
                } else {
                    kinetic(q, &(unit(i) + unit(j))) - own[i] - own[j]
                }
            })
        };
        let potential = |q: &[Vec3]| {
            let e = tree.energies(&RodState::at_rest(q.to_vec()), &DOWN, &still).unwrap();
            e[1] + e[2]
        };
        let moved = |c: usize, by: f64| {
            let mut q = state.q.clone();
            q[c / 3][c % 3] += by;
            q
        };
        let (h, rate) = (1e-5, flat(&state.rate));
        let mut right = DVector::zeros(n);
        for c in 0..n {
            let slope =
                |f: &dyn Fn(&[Vec3]) -> f64| (f(&moved(c, h)) - f(&moved(c, -h))) / (2.0 * h);
            right[c] = slope(&|q| kinetic(q, &rate)) - slope(&potential);
        }
        // d/dt of M along q̇.
        let along = |t: f64| -> Vec<Vec3> {
            state.q.iter().zip(&state.rate).map(|(q, v)| q + v * t).collect()
        };
        let turning = (mass(&along(h)) - mass(&along(-h))) / (2.0 * h);
        right -= turning * &rate;
        // An explicit step: without the implicit part of elasticity.
        let settings = StepSettings::new(1e-9);
        let a = flat(&tree.acceleration(&state, &DOWN, &still, &settings).unwrap());
        let left = mass(&state.q) * &a;
        let error = (&left - &right).amax() / right.amax();
        assert!(error < 1e-6, "{model:?}: {error:e}");
    }
}

#[test]
fn a_resting_tree_stays_where_it_is() {
    for model in MODELS {
        let mut tree = small_tree(model);
        let found = tree.equilibrium(&DOWN, &StaticSettings::default()).unwrap();
        assert!(found.certificate.certified, "{}", found.certificate.reason);
        let mut state = RodState::at_rest(found.q.clone());
        let mut still = ClampMotion::default();
        for _ in 0..300 {
            tree.step(&mut state, &DOWN, &mut still, &StepSettings::new(5e-3)).unwrap();
        }
        assert!(apart(&state.q, &found.q) < 1e-9, "{:e}", apart(&state.q, &found.q));
        // Its lowest frequency squared is the certificate's: pushed along nothing in particular, it comes back.
        let mut pushed = RodState::at_rest(found.q.iter().map(|k| k * 1.02).collect());
        let damped = StepSettings { damping: 0.2, drag: 1.0, ..StepSettings::new(1e-2) };
        for _ in 0..2000 {
            tree.step(&mut pushed, &DOWN, &mut still, &damped).unwrap();
        }
        assert!(apart(&pushed.q, &found.q) < 1e-4, "{:e}", apart(&pushed.q, &found.q));
    }
}

/// The weeping willow: 242 elements in wind, at 25 steps a second or more.
#[test]
fn a_willow_of_242_elements_moves_in_real_time() {
    let section = |share: f64| Section {
        bending_stiffness: [2e-2 * share; 2],
        twisting_stiffness: 1e-2 * share,
        linear_density: 0.05 * share.sqrt(),
    };
    let upright = Clamp { position: Vec3::zeros(), frame: Mat3::identity() };
    let make = |elements, length, share| {
        Rod::new(Model::SuperHelix, elements, length, section(share), upright).unwrap()
    };
    // A trunk of 12, ten boughs of 8 and thirty hanging twigs of 5: 242 in all.
    let mut branches = vec![Branch { rod: make(12, 0.6, 10.0), growth: None }];
    for i in 0..10 {
        let angle = 2.4 * f64::from(i);
        let axis = Vec3::new(angle.cos(), angle.sin(), 0.0) * 0.8;
        let growth = Growth { parent: 0, joint: 3 + i as usize, turn: turn(&axis, 1.0) };
        branches.push(Branch { rod: make(8, 0.3, 1.0), growth: Some(growth) });
    }
    for i in 0..30 {
        let axis = Vec3::new(1.0, 0.3 * f64::from(i % 3), 0.0) * 0.6;
        let growth = Growth {
            parent: 1 + i as usize / 3,
            joint: 2 + 3 * (i as usize % 3),
            turn: turn(&axis, 1.0),
        };
        branches.push(Branch { rod: make(5, 0.2, 0.05), growth: Some(growth) });
    }
    let mut tree = Tree::new(branches).unwrap();
    assert_eq!(tree.elements(), 242);
    let mut state = RodState::at_rest(tree.rest());
    let mut still = ClampMotion::default();
    let settings = StepSettings { damping: 0.01, drag: 0.5, ..StepSettings::new(1e-2) };
    let clock = Instant::now();
    let steps = 50;
    for i in 0..steps {
        // Gusts.
        let wind = Vec3::new(3.0 * (0.3 * f64::from(i)).sin(), 1.0, -9.81);
        tree.step(&mut state, &wind, &mut still, &settings).unwrap();
    }
    let each = clock.elapsed().as_secs_f64() / f64::from(steps);
    eprintln!("242 elements: {:.2} ms a step", 1e3 * each);
    assert!(each < 1.0 / 25.0, "{each} s a step");
    assert!(state.q.iter().all(|k| k.norm() < 50.0));
    let moved = state.q.iter().map(|k| k.norm()).fold(0.0, f64::max);
    assert!(moved > 0.5, "the wind moves nothing: {moved}");
}

#[test]
fn branches_that_grow_from_nothing_are_refused() {
    let growth = Some(Growth { parent: 1, joint: 0, turn: Mat3::identity() });
    let one = Branch { rod: rod(Model::SuperHelix, 2, 1.0), growth };
    let error = Tree::new(vec![one]).unwrap_err().to_string();
    assert!(error.contains("branch 0 grows from joint 0 of branch 1"), "{error}");
}

/// Whatever shape a tree is drawn in, its natures hold it: a bough hangs on its trunk. Made as drawn it would sag, and a rod cut in two has the
/// natures of the rod. What an assembly without contacts finds is the same.
#[test]
fn a_drawn_tree_is_an_equilibrium_of_its_natures() {
    for model in MODELS {
        let tree = small_tree(model);
        let mut q = wild(tree.blocks()).q;
        q.iter_mut().for_each(|k| *k *= 0.3);
        let gravity = DOWN * 0.2;
        let found = invert_tree(&tree, &q, &gravity).unwrap();
        assert!(found[0].certificate.certified, "{model:?}: {}", found[0].certificate.reason);
        assert!(found[0].certificate.residual < 1e-11, "{:e}", found[0].certificate.residual);
        assert!(found[1].certificate.negative_modes == 0 && !found[0].unique);
        let naive: Vec<Branch> = (tree.branches().iter().zip(split(&tree, &q)))
            .map(|(b, q)| Branch { rod: b.rod.clone().with_rest(&q).unwrap(), growth: b.growth })
            .collect();
        let sags = Tree::new(naive).unwrap().certify(&q, &gravity).unwrap();
        assert!(sags.residual > 0.1, "{}", sags.reason);
        // Gravity from nothing brings the natures back to the drawing.
        let made: Vec<Branch> = (tree.branches().iter().zip(&found))
            .map(|(b, f)| Branch { rod: f.rod.clone(), growth: b.growth })
            .collect();
        let draped =
            Tree::new(made).unwrap().equilibrium(&gravity, &StaticSettings::default()).unwrap();
        assert!(apart(&draped.q, &q) < 1e-9, "{model:?}: {:e}", apart(&draped.q, &q));
        let (fibres, growths) = fibres_of(&tree, &q);
        let settings = AssemblySettings {
            step: StepSettings::new(2e-3),
            gravity,
            fibre_friction: None,
            tolerance: 1e-8,
            max_sweeps: 10,
        };
        let scene = Assembly::new(fibres, vec![], settings).unwrap().grown(&growths).unwrap();
        let together = scene.invert(&Prior::Shape).unwrap();
        for (a, b) in together.natural.iter().zip(&found) {
            assert!(apart(a, &b.natural) < 1e-12);
        }
        assert!(scene.held_by(&together).unwrap().drift(0.5).unwrap() < 1e-8);
    }
    let whole = rod(Model::SuperHelix, 6, 1.2);
    let part = |n: usize| Rod::new(Model::SuperHelix, n, 0.2 * n as f64, UNIT, along_x()).unwrap();
    let growth = Some(Growth { parent: 0, joint: 2, turn: Mat3::identity() });
    let tree =
        Tree::new(vec![Branch { rod: part(2), growth: None }, Branch { rod: part(4), growth }]);
    let q = wild(6).q;
    let one = invert_fibre(&whole, &q, &Loads::weight(&UNIT, DOWN)).unwrap();
    let two = invert_tree(&tree.unwrap(), &q, &DOWN).unwrap();
    let natural: Vec<Vec3> = two.iter().flat_map(|f| f.natural.clone()).collect();
    assert!(apart(&natural, &one.natural) < 1e-12);
}

/// Curvatures of each branch.
fn split(tree: &Tree, q: &[Vec3]) -> Vec<Vec<Vec3>> {
    let mut from = 0;
    let part = |b: &Branch| {
        let part = q[from..from + b.rod.blocks()].to_vec();
        from += b.rod.blocks();
        part
    };
    tree.branches().iter().map(part).collect()
}

fn fibres_of(tree: &Tree, q: &[Vec3]) -> (Vec<Fibre>, Vec<Option<Growth>>) {
    let one = |(b, q): (&Branch, Vec<Vec3>)| {
        let (state, motion) = (RodState::at_rest(q), ClampMotion::default());
        Fibre { rod: b.rod.clone(), state, motion, radius: 1e-3 }
    };
    let growths = tree.branches().iter().map(|b| b.growth).collect();
    (tree.branches().iter().zip(split(tree, q)).map(one).collect(), growths)
}

/// An assembly whose fibres grow from each other goes the way of the tree, has its energy, and goes on from a checkpoint.
#[test]
fn grown_fibres_of_an_assembly_move_as_the_tree() {
    for model in MODELS {
        let mut tree = small_tree(model);
        let mut state = wild(tree.blocks());
        let (mut motion, step) = (SPINNING, StepSettings { drag: 0.3, ..StepSettings::new(2e-3) });
        let mut from = 0;
        let fibres: Vec<Fibre> = (tree.branches().iter())
            .map(|b| {
                let part = from..from + b.rod.blocks();
                from = part.end;
                let own = |all: &[Vec3]| all[part.clone()].to_vec();
                let state = RodState { q: own(&state.q), rate: own(&state.rate) };
                Fibre { rod: b.rod.clone(), state, motion: SPINNING, radius: 1e-3 }
            })
            .collect();
        let growths: Vec<Option<Growth>> = tree.branches().iter().map(|b| b.growth).collect();
        let settings = AssemblySettings {
            step,
            gravity: DOWN,
            fibre_friction: None,
            tolerance: 1e-8,
            max_sweeps: 10,
        };
        let alone = Assembly::new(fibres, vec![], settings).unwrap();
        let mut scene = alone.clone().grown(&growths).unwrap();
        let mut kept = None;
        for k in 0..20 {
            tree.step(&mut state, &DOWN, &mut motion, &step).unwrap();
            scene.step().unwrap();
            if k == 9 {
                kept = Some(scene.checkpoint());
            }
        }
        let together: Vec<Vec3> = scene.fibres.iter().flat_map(|f| f.state.q.clone()).collect();
        // The clamps of fibres are straightened at every step.
        assert!(apart(&together, &state.q) < 1e-12);
        let stations = tree.equal_stations(&state.q, 2).unwrap();
        for (f, ends) in stations.iter().enumerate() {
            let tip = *scene.points(f).last().unwrap();
            assert!((tip - ends[1].position).norm() < 1e-12, "{tip}");
        }
        let mut sum = [0.0; 3];
        for f in &scene.fibres {
            let part = toile_rod::energies(&f.rod, &f.state, &DOWN, &f.motion).unwrap();
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
        }
        let whole = tree.energies(&state, &DOWN, &motion).unwrap();
        let off = |k: usize| (sum[k] - whole[k]).abs() / whole[k].abs();
        assert!((0..3).all(|k| off(k) < 1e-12), "{sum:?} {whole:?}");
        let mut again = alone.grown(&growths).unwrap();
        again.restore(&kept.unwrap()).unwrap();
        (0..10).for_each(|_| drop(again.step().unwrap()));
        assert_eq!(again.checkpoint(), scene.checkpoint());
    }
}
