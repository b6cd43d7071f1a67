use toile_geometry::{Topology, TriMesh, Vec3, generate};
use toile_sim::{ModelBuilder, Shell, ShellMaterial, equilibrium};
use toile_solve::NewtonSettings;

use super::*;
use crate::gallery;
use crate::touch::touch;

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn shell(mesh: &TriMesh, pins: Vec<u32>, material: ShellMaterial, density: f64) -> Shell {
    Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        rest_positions: mesh.positions.clone(),
        material,
        areal_density: density,
        pins,
        seams: Vec::new(),
        damping: 0.0,
    }
}

/// A garment whose target is the drape of a shell.
fn draped(shell: &Shell) -> Garment {
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, DOWN).unwrap();
    let model = builder.build().unwrap();
    let settings = NewtonSettings { tolerance: 1e-11, ..NewtonSettings::default() };
    let found = equilibrium(&model, model.start(), &settings, |_| true).unwrap();
    let positions = model.positions(&found.state);
    Garment {
        shells: vec![Shell { positions, ..shell.clone() }],
        gravity: DOWN,
        colliders: vec![],
        self_contact: None,
    }
}

fn bitriangle() -> (Garment, Vec<Vec3>) {
    let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]].map(Vec3::from);
    let topology = Topology::new(4, vec![[0, 1, 2], [1, 3, 2]]).unwrap();
    let material = ShellMaterial::DiscreteShells { k_length: 50.0, k_area: 0.0, k_bend: 5e-2 };
    let mesh = TriMesh { topology, positions: flat.to_vec() };
    let mut start = shell(&mesh, vec![0, 1, 2], material, 0.5);
    start.positions[3].z = -0.3;
    (draped(&start), flat.to_vec())
}

fn run(garment: &Garment, settings: &ReferenceSettings) -> ReferenceResult {
    reference(garment, &garment.target(), &[], settings, |_| true).unwrap()
}

fn error(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

#[test]
fn bitriangle_is_flat_again_by_every_optimiser() {
    let (garment, flat) = bitriangle();
    for optimiser in [Optimiser::Bfgs, Optimiser::GaussNewton, Optimiser::Newton] {
        let settings =
            ReferenceSettings { optimiser, enough: 1e-30, ..ReferenceSettings::default() };
        let found = run(&garment, &settings);
        assert!(found.complete, "{optimiser:?}");
        // 1000 halved until it is at most 0.1, and once without.
        assert_eq!(found.passes.len(), 15, "{optimiser:?}");
        let off = error(&found.rest, &flat);
        assert!(off < 1e-8, "{optimiser:?}: {off:e} m from flat after {:?}", found.passes.last());
        assert!(error(&found.shape, &garment.target()) < 1e-9);
    }
}

#[test]
fn a_flat_start_finds_a_small_hanging_sheet() {
    let mesh = generate::sheet(5, 1.0);
    let material = ShellMaterial::DiscreteShells { k_length: 20.0, k_area: 2.0, k_bend: 2e-2 };
    let garment = draped(&shell(&mesh, vec![0, 4, 20, 24], material, 0.25));
    let naive = error(&garment.target(), &mesh.positions);
    assert!(naive > 0.05, "it hangs: {naive}");
    let settings = ReferenceSettings {
        optimiser: Optimiser::GaussNewton,
        flat_start: true,
        lambda: 10.0,
        ..ReferenceSettings::default()
    };
    let found = run(&garment, &settings);
    assert!(error(&found.shape, &garment.target()) < 1e-7, "{:?}", found.passes.last());
    // The target lies in the plane of the pins nowhere, its rest shape nearly does.
    let off = error(&found.rest, &mesh.positions);
    assert!(off < 0.2 * naive, "{off} of {naive}");
}

#[test]
fn gradient_and_curvature_are_those_of_the_drape() {
    let mesh = generate::sheet(4, 1.0);
    for material in [
        ShellMaterial::DiscreteShells { k_length: 20.0, k_area: 2.0, k_bend: 2e-2 },
        ShellMaterial::isotropic(2e4, 0.3, 2e-3),
    ] {
        let garment = draped(&shell(&mesh, vec![0, 3], material, 0.25));
        let target = garment.target();
        let (model, _) = garment.model(&target, &target).unwrap();
        let mut draping = Draping::new(model).unwrap();
        draping.lambda = 2.0;
        let n = draping.model.len();
        let mut free = vec![false; n];
        for &node in draping.model.vertices() {
            let i = draping.model.unknown(node);
            free[i..i + 3].fill(!draping.model.fixed()[i]);
        }
        let base = draping.model.rest().clone();
        let wave = |a: f64| -> Vec<f64> {
            (0..n).map(|i| if free[i] { 0.01 * (a * i as f64).sin() } else { 0.0 }).collect()
        };
        let (here, v) = (wave(0.9), wave(1.3));
        let at = match_target::evaluate(&mut draping, &base, &here, &free).unwrap().unwrap();
        let bend = match_target::curvature(&mut draping, &at, &v, &free, true).unwrap();
        let gauss = match_target::curvature(&mut draping, &at, &v, &free, false).unwrap();
        assert!((dot(&bend, &v) - dot(&gauss, &v)).abs() > 1e-3 * dot(&gauss, &v), "they differ");
        let mut along = |step: f64| {
            let there: Vec<f64> = here.iter().zip(&v).map(|(h, v)| h + step * v).collect();
            match_target::evaluate(&mut draping, &base, &there, &free).unwrap().unwrap()
        };
        let step = 1e-3;
        let (up, down) = (along(step), along(-step));
        let slope = (up.value - down.value) / (2.0 * step);
        let found = dot(&at.gradient, &v);
        assert!((slope - found).abs() < 1e-5 * found.abs(), "{slope} {found}");
        let size = bend.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        for i in 0..n {
            let expected = (up.gradient[i] - down.gradient[i]) / (2.0 * step);
            assert!((expected - bend[i]).abs() < 1e-4 * size, "{i}: {expected} {}", bend[i]);
        }
    }
}

#[test]
fn the_gradient_of_the_one_shot_problem_is_right() {
    let (garment, contacts, touched) = small_skirt();
    let (mut model, _) = garment.model(&touched, &touched).unwrap();
    let mut pressed = Vec::new();
    for c in &contacts {
        let unknown = model.unknown(model.vertices()[c.vertex as usize]);
        (unknown..unknown + 3).for_each(|i| model.set_fixed(i, true));
        pressed.push(Pressed { unknown, normal: c.normal, friction: 0.5 * c.friction });
    }
    let mut draping = Draping::new(model).unwrap();
    draping.lambda = 5.0;
    let n = draping.model.len();
    let free = draping.is_vertex.clone();
    let base = draping.model.rest().clone();
    let v: Vec<f64> = (0..n).map(|i| 1e-4 * (1.7 * i as f64).sin()).collect();
    let mut at = |step: f64| {
        let there: Vec<f64> = v.iter().map(|v| step * v).collect();
        let at = match_target::evaluate(&mut draping, &base, &there, &free).unwrap().unwrap();
        penalised(&mut draping, &pressed, &at, &free).unwrap()
    };
    let (value, gradient) = at(0.0);
    assert!(value > 0.0, "forces are outside at first");
    // Long enough that the tolerance of drapes does not show, too short for forces to enter their cones.
    let h = 5e-4;
    let slope = (at(h).0 - at(-h).0) / (2.0 * h);
    let found = dot(&gradient, &v);
    assert!((slope - found).abs() < 2e-4 * found.abs(), "{slope} {found}");
}

fn small_skirt() -> (Garment, Vec<TargetContact>, Vec<Vec3>) {
    let skirt = gallery::Skirt {
        rows: 5,
        around: 10,
        band: 1,
        waist: 0.05,
        hem: 0.12,
        height: 0.12,
        waves: 3,
        amplitude: 0.005,
    };
    let material = ShellMaterial::DiscreteShells { k_length: 3.0, k_area: 0.0, k_bend: 5e-3 };
    let garment = skirt.garment(material, 0.1, 0.6).unwrap();
    let mut touched = garment.target();
    let size = crate::design::extent(&touched);
    let contacts = touch(&mut touched, &garment.colliders, |_| 5e-4, size, |_| true).contacts;
    (garment, contacts, touched)
}

#[test]
fn a_small_skirt_is_held_by_friction_and_not_by_pins() {
    let (garment, contacts, touched) = small_skirt();
    let outside = |found: &ReferenceResult| {
        let cone = |c: &TargetContact, f: &Vec3| {
            let along = f.dot(&c.normal);
            (f - c.normal * along).norm() - c.friction * along
        };
        contacts.iter().zip(&found.forces).filter(|(c, f)| cone(c, f) > 1e-12).count()
    };
    let short = ReferenceSettings { lambda: 4.0, ..ReferenceSettings::default() };
    let pins = ReferenceSettings { forces: Forces::Pins, ..short };
    let pinned = reference(&garment, &touched, &contacts, &pins, |_| true).unwrap();
    assert!(error(&pinned.shape, &touched) < 1e-7, "{:?}", pinned.passes.last());
    assert!(outside(&pinned) > 0, "the forces of pins are not those of friction");
    let found = reference(&garment, &touched, &contacts, &short, |_| true).unwrap();
    let last = found.passes.last().unwrap();
    assert!(found.complete && last.forces < 1e-16, "{last:?}");
    assert_eq!(outside(&found), 0);
    assert!(error(&found.shape, &touched) < 1e-6, "{last:?}");
}
