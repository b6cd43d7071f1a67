//! Cloth and fibres that touch.

use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3, generate};
use toile_rod::{
    Assembly, AssemblySettings, Clamp, ClampMotion, Fibre, FibreContactKey, Mat3, Model as Element,
    Rod, RodState, Section, StepSettings,
};
use toile_sim::dynamics::{Simulator, Surroundings};
use toile_sim::{Coupling, ModelBuilder, RestSettings, Shell, ShellMaterial, TogetherReport};

const GRAVITY: f64 = 9.81;
const RADIUS: f64 = 1e-3;
const THICKNESS: f64 = 4e-4;
const DENSITY: f64 = 0.2;

/// How a sheet resists stretching \[N/m\] and bending \[N·m\].
#[derive(Clone, Copy)]
struct Stiff(f64, f64);

const CLOTH: Stiff = Stiff(200.0, 1e-5);
const PLATE: Stiff = Stiff(2e4, 0.1);

fn cloth(mesh: &TriMesh, pins: Vec<u32>, stiff: Stiff, gravity: Vec3) -> Simulator<Surroundings> {
    cloth_with(mesh, pins, stiff, gravity, NormalRule::Average)
}

fn cloth_with(
    mesh: &TriMesh,
    pins: Vec<u32>,
    stiff: Stiff,
    gravity: Vec3,
    normals: NormalRule,
) -> Simulator<Surroundings> {
    let poisson = 0.3;
    let thickness = (12.0 * (1.0 - poisson * poisson) * stiff.1 / stiff.0).sqrt();
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        rest_positions: mesh.positions.clone(),
        material: ShellMaterial::Koiter {
            stiffness: ShellStiffness::isotropic(stiff.0 / thickness, poisson, thickness),
            normals,
            membrane: Membrane::StVenantKirchhoff,
            warp: Vec3::x(),
        },
        areal_density: DENSITY,
        pins,
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, gravity).unwrap();
    let around = Surroundings::new(mesh.topology.clone(), Vec::new());
    Simulator::new(builder.build().unwrap(), around).unwrap()
}

/// A straight rod from a place along a direction.
fn rod(from: Vec3, along: Vec3, length: f64, elements: usize, bending: f64) -> Fibre {
    let d1 = along.cross(&Vec3::z()).normalize();
    let frame = Mat3::from_columns(&[d1, along.cross(&d1), along]);
    let section = Section {
        bending_stiffness: [bending; 2],
        twisting_stiffness: 0.7 * bending,
        linear_density: 5e-3,
    };
    let clamp = Clamp { position: from, frame };
    let rod = Rod::new(Element::SuperClothoid, elements, length, section, clamp).unwrap();
    let state = RodState::at_rest(rod.rest());
    Fibre { rod, state, motion: ClampMotion::default(), radius: RADIUS }
}

struct Together {
    cloth: Simulator<Surroundings>,
    fibres: Assembly,
    coupling: Coupling,
}

impl Together {
    fn step(&mut self, h: f64) -> TogetherReport {
        self.coupling.step(&mut self.cloth, &mut self.fibres, h).unwrap()
    }

    fn depth(&mut self) -> (f64, Option<(usize, usize)>) {
        self.coupling.depth(&self.cloth, &self.fibres).unwrap()
    }
}

fn together(
    mesh: &TriMesh,
    mut cloth: Simulator<Surroundings>,
    rods: Vec<Fibre>,
    gravity: Vec3,
    friction: f64,
    damping: f64,
) -> Together {
    cloth.set_mass_damping(damping);
    let settings = AssemblySettings {
        step: StepSettings { damping: 2e-3, drag: damping, ..StepSettings::new(1e-3) },
        gravity,
        fibre_friction: Some(friction),
        tolerance: 1e-6,
        max_sweeps: 500,
    };
    let count = rods.len();
    let fibres = Assembly::new(rods, Vec::new(), settings).unwrap();
    let half = vec![0.5 * THICKNESS; mesh.positions.len()];
    let friction = vec![friction; count];
    let coupling = Coupling::new(&mut cloth, mesh.topology.clone(), half, friction).unwrap();
    Together { cloth, fibres, coupling }
}

fn lifted(mut mesh: TriMesh, by: Vec3) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p += by);
    mesh
}

fn on_surface(report: &TogetherReport) -> impl Iterator<Item = &toile_rod::FibreContact> {
    let all = report.fibres.contacts.iter();
    all.filter(|c| matches!(c.key, FibreContactKey::Surface { .. }))
}

fn positions(scene: &Together) -> Vec<Vec3> {
    scene.cloth.model().positions(scene.cloth.state())
}

/// Distance of the middle planes of a rod and a cloth that touch.
const TOUCH: f64 = RADIUS + 0.5 * THICKNESS;

#[test]
fn a_clamped_rod_carries_the_cloth_that_hangs_over_it() {
    let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
    // 12 cm across the rod, 4 cm along it.
    let mesh = lifted(generate::strip(0.12, 0.04, 12, 4), Vec3::new(-0.06, 0.0, TOUCH));
    let cloth = cloth(&mesh, vec![], CLOTH, gravity);
    let bar = rod(Vec3::new(0.0, -0.05, 0.0), Vec3::y(), 0.1, 8, 1.0);
    let mut scene = together(&mesh, cloth, vec![bar], gravity, 0.5, 15.0);
    let mut last = None;
    for _ in 0..150 {
        let report = scene.step(8e-3);
        assert!(report.converged, "{:e}", report.law_error);
        last = Some(report);
    }
    let report = last.unwrap();
    let weight = DENSITY * 0.12 * 0.04 * GRAVITY;
    let carried: Vec3 = on_surface(&report).map(|c| -c.force).sum();
    assert!((carried - Vec3::z() * weight).norm() < 1e-3 * weight, "{carried} of {weight}");
    // It hangs down on both sides, and nothing has passed.
    let x = positions(&scene);
    let lowest = x.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    assert!(lowest < -0.04, "{lowest}");
    let (depth, pierced) = scene.depth();
    assert!(depth < 0.02 * TOUCH && pierced.is_none(), "{depth:e} {pierced:?}");
    let fastest = scene.cloth.velocities().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(fastest < 1e-3, "{fastest} m/s");
}

/// How a plate on two bars that lean by β moves in half a second \[m\].
fn slide(share: f64) -> f64 {
    let (mu, seconds, h) = (0.4f64, 0.1, 2e-3);
    let slope = mu * share;
    let gravity = GRAVITY * Vec3::new(slope, 0.0, -1.0).normalize();
    let mesh = lifted(generate::sheet(6, 0.05), Vec3::new(0.0, 0.0, TOUCH));
    let cloth = cloth(&mesh, vec![], PLATE, gravity);
    let bar = |y: f64| rod(Vec3::new(-0.1, y, 0.0), Vec3::x(), 0.3, 6, 1e4);
    let mut scene = together(&mesh, cloth, vec![bar(-0.013), bar(0.012)], gravity, mu, 0.0);
    let mean = |x: &[Vec3]| x.iter().map(|p| p.x).sum::<f64>() / x.len() as f64;
    let before = mean(&positions(&scene));
    for _ in 0..(seconds / h) as usize {
        let report = scene.step(h);
        assert!(report.converged, "{:e}", report.law_error);
    }
    mean(&positions(&scene)) - before
}

#[test]
fn a_plate_on_tilted_rods_slides_from_the_angle_of_friction_on() {
    let held = slide(0.99);
    assert!(held.abs() < 1e-7, "{held:e}");
    // a = g (sin β − μ cos β), a tenth more than is held; implicit Euler is half a step ahead.
    let slid = slide(1.1);
    let beta = (0.4f64 * 1.1).atan();
    let a = GRAVITY * (beta.sin() - 0.4 * beta.cos());
    let expected = 0.5 * a * 0.1 * (0.1 + 2e-3);
    assert!((slid / expected - 1.0).abs() < 0.01, "{slid:e} {expected:e}");
    assert!(slide(1.01) > 1e-5);
}

#[test]
fn what_the_rod_gives_the_cloth_gets() {
    // A sheet flies against a soft rod, without weight: its momentum changes by the impulses that are told.
    let mesh = lifted(generate::sheet(7, 0.06), Vec3::new(0.0, 0.0, 2.0 * TOUCH));
    let mut sheet = cloth(&mesh, vec![], CLOTH, Vec3::zeros());
    let model = sheet.model();
    let mut v = vec![0.0; model.len()];
    for &node in model.vertices() {
        v[model.unknown(node)..][..3].copy_from_slice(&[0.2, 0.0, -0.5]);
    }
    sheet.set_velocities(&v);
    let bar = rod(Vec3::new(0.005, -0.05, 0.0), Vec3::y(), 0.12, 8, 1e-4);
    let mut scene = together(&mesh, sheet, vec![bar], Vec3::zeros(), 0.3, 0.0);
    let momentum = |scene: &Together| -> Vec3 {
        let model = scene.cloth.model();
        let one = |&node: &u32| {
            let i = model.unknown(node);
            Vec3::from_column_slice(&scene.cloth.velocities()[i..i + 3]) * model.masses()[i]
        };
        model.vertices().iter().map(one).sum()
    };
    let (start, h) = (momentum(&scene), 1e-3);
    let mut given = Vec3::zeros();
    for _ in 0..30 {
        let report = scene.step(h);
        assert!(report.converged && report.parts == 1, "{:e}", report.law_error);
        given += on_surface(&report).map(|c| -c.force * h).sum::<Vec3>();
    }
    let change = momentum(&scene) - start;
    assert!(change.norm() > 0.05 * start.norm(), "{change}");
    assert!((change - given).norm() < 1e-6 * change.norm(), "{change} {given}");
    // The rod has been pushed down.
    assert!(scene.fibres.points(0).last().unwrap().z < -1e-4);
}

#[test]
fn a_rod_rests_on_a_sheet_held_by_its_border() {
    let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
    let n = 9;
    let mesh = generate::sheet(n, 0.16);
    let border = |k: &usize| [0, n - 1].contains(&(k % n)) || [0, n - 1].contains(&(k / n));
    let pins = (0..n * n).filter(border).map(|k| k as u32).collect();
    let cloth = cloth(&mesh, pins, CLOTH, gravity);
    let soft = rod(Vec3::new(-0.12, 0.003, 0.01), Vec3::x(), 0.2, 12, 2e-5);
    let mut scene = together(&mesh, cloth, vec![soft], gravity, 0.4, 10.0);
    let mut last = None;
    for _ in 0..250 {
        let report = scene.step(4e-3);
        assert!(report.converged, "{:e}", report.law_error);
        last = Some(report);
    }
    let report = last.unwrap();
    let weight = 5e-3 * 0.2 * GRAVITY;
    let carried: Vec3 = on_surface(&report).map(|c| c.force).sum();
    assert!(carried.z > 0.3 * weight && carried.z < weight, "{} of {weight}", carried.z);
    let (depth, pierced) = scene.depth();
    assert!(depth < 0.02 * TOUCH && pierced.is_none(), "{depth:e} {pierced:?}");
    assert!(scene.fibres.speed() < 1e-3, "{}", scene.fibres.speed());
}

#[test]
fn cloth_and_rod_rest_on_each_other_to_the_last_digits() {
    let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
    let mesh = lifted(generate::strip(0.1, 0.03, 10, 3), Vec3::new(-0.047, 0.0, TOUCH));
    let cloth = cloth(&mesh, vec![], CLOTH, gravity);
    let bar = rod(Vec3::new(0.0, -0.04, 0.0), Vec3::y(), 0.08, 6, 1e-3);
    let mut scene = together(&mesh, cloth, vec![bar], gravity, 0.5, 0.0);
    let settings = RestSettings { damping: 15.0, step: 8e-3, ..RestSettings::default() };
    let Together { cloth, fibres, coupling } = &mut scene;
    let rested = coupling.settle(cloth, fibres, &settings, &mut |_, _| true).unwrap();
    assert!(rested.residual <= 1e-8 && rested.cone_gap <= 1e-8, "{rested:?}");
    assert!(rested.stability.unwrap() > 1.0 && rested.negative_modes == Some(0), "{rested:?}");
    assert!(rested.penetration < 0.02 * TOUCH && !rested.through, "{rested:?}");
    let weight = DENSITY * 0.1 * 0.03 * GRAVITY;
    let carried: Vec3 = rested.contacts.iter().map(|c| -c.force).sum();
    assert!((carried - Vec3::z() * weight).norm() < 1e-6 * weight, "{carried} of {weight}");
    // Unloaded the tip sags by q L⁴ / 8 EI; the cloth bends it further.
    let alone = 5e-3 * GRAVITY * 0.08f64.powi(4) / (8.0 * 1e-3);
    let tip = -scene.fibres.points(0).last().unwrap().z;
    assert!(tip > 1.5 * alone, "{tip} {alone}");
}

#[test]
fn a_thrown_cloth_is_caught_by_a_thin_rod() {
    // 20 mm in a step, ten times what is kept.
    let mesh = lifted(generate::sheet(6, 0.08), Vec3::new(0.002, 0.001, 0.03));
    let mut sheet = cloth(&mesh, vec![], CLOTH, Vec3::zeros());
    let model = sheet.model();
    let mut v = vec![0.0; model.len()];
    for &node in model.vertices() {
        v[model.unknown(node)..][..3].copy_from_slice(&[0.0, 0.0, -5.0]);
    }
    sheet.set_velocities(&v);
    let bar = rod(Vec3::new(0.0, -0.06, 0.0), Vec3::y(), 0.12, 6, 1.0);
    let mut scene = together(&mesh, sheet, vec![bar], Vec3::zeros(), 0.3, 0.0);
    for step in 0..12 {
        let report = scene.step(4e-3);
        assert_eq!(report.passing, 0, "step {step}");
        let (_, pierced) = scene.depth();
        assert!(pierced.is_none(), "step {step}");
    }
    // Folded around it, not beyond it.
    let x = positions(&scene);
    let middle = x.iter().filter(|p| p.x.abs() < 0.01).map(|p| p.z).fold(f64::INFINITY, f64::min);
    assert!(middle > -0.02, "{middle}");
}

/// A cloth whose edges have angles of their own falls over a pole beside its middle, slides, and comes to rest to the last digits: rates of
/// angles are no speeds, so the fall ends when vertices are slow. The pole carries the cloth.
#[test]
fn cloth_that_slides_over_a_pole_comes_to_rest() {
    let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
    let mesh = lifted(generate::strip(0.3, 0.1, 12, 4), Vec3::new(-0.12, 0.0, 5.0 * TOUCH));
    let soft = Stiff(100.0, 2e-6);
    let make = |friction| {
        let cloth = cloth_with(&mesh, vec![], soft, gravity, NormalRule::Tan);
        let pole = rod(Vec3::new(0.0, -0.08, 0.0), Vec3::y(), 0.16, 6, 0.05);
        together(&mesh, cloth, vec![pole], gravity, friction, 0.0)
    };
    let settings = RestSettings {
        rests: 60,
        longest_rest: 0.08,
        residual: 1e-5,
        hold: false,
        caution: 0.98,
        ..RestSettings::default()
    };
    let mut falling = make(0.98 * 0.5);
    let Together { cloth, fibres, coupling } = &mut falling;
    let rest = coupling.settle(cloth, fibres, &settings, &mut |_, _| true).unwrap();
    // Three seconds are the longest.
    assert!(rest.steps[0] < 599, "{:?}", rest.steps);
    // Found between contacts that are held, and judged by all of the friction.
    assert!(rest.held && rest.residual < 1e-9, "{:?}: {:e}", rest.steps, rest.residual);
    assert!(rest.cone_gap <= 1e-8 && rest.cone_margin > 0.0, "{}", rest.cone_margin);
    assert_eq!(rest.negative_modes, Some(0));
    assert!(rest.contacts.iter().all(|c| (c.friction - 0.5).abs() < 1e-12));
    assert!(rest.steps[1] < 60, "{:?}", rest.steps);
    // With that friction it stays where it is.
    let mut scene = make(0.5);
    let Together { cloth, fibres, .. } = &mut scene;
    cloth.set_state(falling.cloth.state());
    fibres.restore(&falling.fibres.checkpoint()).unwrap();
    fibres.stop();
    let before = positions(&scene);
    for _ in 0..50 {
        scene.step(4e-3);
    }
    let after = positions(&scene);
    let moved = after.iter().zip(&before).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(moved < 1e-6, "{moved:e} m");
    let carried: f64 = rest.contacts.iter().map(|c| -c.force.z).sum();
    let weight = DENSITY * 0.3 * 0.1 * GRAVITY;
    assert!((carried / weight - 1.0).abs() < 1e-6, "{}", carried / weight);
    assert!(!rest.through && rest.penetration < 0.1 * RADIUS, "{:e}", rest.penetration);
}

/// A cloth that falls past a rod touches nothing, and is told to fall.
#[test]
fn cloth_that_misses_the_rod_is_answered() {
    let gravity = Vec3::new(0.0, 0.0, -GRAVITY);
    let mesh = lifted(generate::strip(0.1, 0.1, 2, 2), Vec3::new(1.0, 0.0, 0.1));
    let cloth = cloth(&mesh, vec![], CLOTH, gravity);
    let bar = rod(Vec3::new(0.0, -0.05, 0.0), Vec3::y(), 0.1, 4, 1.0);
    let mut scene = together(&mesh, cloth, vec![bar], gravity, 0.5, 0.0);
    let settings = RestSettings { longest_fall: 0.05, rests: 2, ..RestSettings::default() };
    let Together { cloth, fibres, coupling } = &mut scene;
    let rest = coupling.settle(cloth, fibres, &settings, &mut |_, _| true).unwrap();
    assert!(rest.contacts.is_empty() && rest.residual > 0.1, "{:e}", rest.residual);
}
