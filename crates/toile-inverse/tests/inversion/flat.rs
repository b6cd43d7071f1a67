//! Flat sheets, draped and found again.

use toile_geometry::{Topology, Vec3, generate};
use toile_inverse::{Cause, Garment, InverseSettings, Inversion, invert};
use toile_sim::{ModelBuilder, Shell, ShellMaterial, equilibrium};
use toile_solve::NewtonSettings;

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn drape(shell: &Shell) -> Vec<Vec3> {
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, DOWN).unwrap();
    let model = builder.build().unwrap();
    let settings = NewtonSettings { tolerance: 1e-11, ..NewtonSettings::default() };
    let found = equilibrium(&model, model.start(), &settings, |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    model.vertices().iter().map(|&v| model.position(&found.state, v)).collect()
}

fn inverse(shell: &Shell, target: Vec<Vec3>) -> Inversion {
    let garment = Garment {
        shells: vec![Shell { positions: target, ..shell.clone() }],
        gravity: DOWN,
        colliders: vec![],
        self_contact: None,
    };
    let settings = InverseSettings { drift_time: 0.0, ..InverseSettings::default() };
    invert(&garment, &settings, |_| true).unwrap()
}

fn error(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Ly 2021, figure 5.6, with the numbers of an independent computation.
#[test]
fn bitriangle_is_flat_again_because_its_mass_follows_the_rest_shape() {
    let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]].map(Vec3::from);
    let shell = Shell {
        topology: Topology::new(4, vec![[0, 1, 2], [1, 3, 2]]).unwrap(),
        positions: flat.to_vec(),
        rest_positions: flat.to_vec(),
        material: ShellMaterial::DiscreteShells { k_length: 50.0, k_area: 0.0, k_bend: 5e-2 },
        areal_density: 0.5,
        pins: vec![0, 1, 2],
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut start = shell.clone();
    start.positions[3].z = -0.3;
    let target = drape(&start);
    let found = inverse(&shell, target);
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    let off = error(&found.rest, &flat);
    assert!(off < 1e-8, "{off:e} m from flat: {}", found.rest[3]);
}

#[test]
fn hanging_sheet_is_flat_again() {
    let n = 13;
    let mesh = generate::sheet(n, 1.0);
    let corners = [0, n - 1, n * n - n, n * n - 1].map(|v| v as u32);
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        rest_positions: mesh.positions.clone(),
        material: ShellMaterial::DiscreteShells { k_length: 5.0, k_area: 2.0, k_bend: 1e-2 },
        areal_density: 0.25,
        pins: corners.to_vec(),
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut start = shell.clone();
    for p in &mut start.positions {
        p.z -= 0.1 * (1.0 - 4.0 * p.x * p.x) * (1.0 - 4.0 * p.y * p.y);
    }
    let target = drape(&start);
    let found = inverse(&shell, target);
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    let off = error(&found.rest, &mesh.positions);
    assert!(off < 1e-8, "{off:e} m from flat");
}

/// A strip drawn standing out from its clamp: felt can, silk cannot, and is told by how much it misses.
#[test]
fn a_strip_that_is_too_soft_is_answered_with_the_nearest_equilibrium_and_a_diagnosis() {
    let mesh = generate::strip(0.2, 0.06, 8, 2);
    let mut pins: Vec<u32> = Vec::new();
    for (v, p) in mesh.positions.iter().enumerate() {
        if p.x < 0.03 {
            pins.push(v as u32);
        }
    }
    let shell = |bend: f64| Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        rest_positions: mesh.positions.clone(),
        material: ShellMaterial::DiscreteShells { k_length: 20.0, k_area: 0.0, k_bend: bend },
        areal_density: 0.2,
        pins: pins.clone(),
        seams: Vec::new(),
        damping: 0.0,
    };
    let stiff = inverse(&shell(2e-2), mesh.positions.clone());
    assert!(stiff.certificate.certified, "{}", stiff.certificate.reason);
    assert!(stiff.certificate.target_error_max.unwrap() < 1e-9);
    assert_eq!(stiff.diagnosis.weight_fraction, 1.0);
    let soft = inverse(&shell(1e-5), mesh.positions.clone());
    let (c, d) = (&soft.certificate, &soft.diagnosis);
    assert!(c.residual <= 1e-8 && c.stability.unwrap() > 0.0, "{}", c.reason);
    assert!(c.target_error_max.unwrap() > 0.01 * c.size, "{:?}", c.target_error_max);
    assert!(d.weight_fraction < 0.9, "{d:?} {}", c.reason);
    // 3e-5 N·m are ordinary cloth, which nobody would expect to stand out of a clamp.
    assert_eq!(d.cause, Some(Cause::AsksTooMuch), "{}", c.reason);
}
