//! A skirt of two layers on a torso, held by friction only.

use toile_contact::{Collider, Shape};
use toile_geometry::{Topology, TriMesh, Vec3, generate};
use toile_inverse::found::{layered_skirt, torso};
use toile_inverse::{Garment, InverseSettings, LayerContact, invert};
use toile_sim::{Shell, ShellMaterial};

/// A skirt of two layers, as drawn.
fn layered(vertices: usize, apart: f64) -> Garment {
    let (body, skirt) = (torso(30, 40, true), layered_skirt(vertices, 1e-3, apart));
    let body = TriMesh::new(body.positions, body.faces).unwrap();
    let body = Collider::fixed(Shape::mesh(body).unwrap());
    let shell = Shell {
        topology: Topology::new(skirt.positions.len(), skirt.faces).unwrap(),
        positions: skirt.positions.clone(),
        rest_positions: skirt.positions,
        material: ShellMaterial::isotropic(1.6e5, 0.3, 6.25e-3),
        areal_density: 0.15,
        pins: Vec::new(),
        seams: Vec::new(),
        damping: 0.0,
    };
    Garment {
        shells: vec![shell],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: vec![body.with_friction(0.6).unwrap().with_gap(1e-3).unwrap()],
        self_contact: Some(LayerContact { thickness: 1e-3, friction: 0.4 }),
    }
}

/// Chords of the two layers cross each other and are parted first; edges and faces lie on the body, and most contacts could share their load in other ways: with
/// the forces that were found the simulation has nothing left to do, and nothing moves.
#[test]
fn a_layered_skirt_is_parted_and_stays_where_it_was_drawn() {
    let garment = layered(300, 1.2e-3);
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.1, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified && !found.settled, "{}", c.reason);
    let between = found.contacts.iter().filter(|c| c.contact.key.between_layers()).count();
    assert!(between > 50, "{between}");
    assert!(c.drift.unwrap() < 1e-9, "{:?}", c.drift);
    let parting = &found.touching.parting;
    assert!(parting.crossings > 10 && parting.left == 0, "{parting:?}");
    assert!(parting.longest_move > 0.0 && parting.longest_move < 0.02 * c.size, "{parting:?}");
    assert_eq!((found.crossing.count, c.penetration), (0, Some(0.0)));
}

/// A sheet stands through another: nobody can tell where it belongs. That is no equilibrium one could see, and said so, unless it is allowed.
#[test]
fn layers_that_cross_and_cannot_be_parted_are_not_certified() {
    let flat = generate::rectangle(0.2, 0.2, 7, 7, Default::default());
    let count = flat.positions.len() as u32;
    let mut faces = flat.faces().to_vec();
    faces.extend(flat.faces().iter().map(|f| f.map(|v| v + count)));
    let mut positions = flat.positions.clone();
    positions.extend(flat.positions.iter().map(|p| Vec3::new(-0.0069, p.x, p.y + 0.0053)));
    // The flat one is held at its border, the upright one at its upper edge.
    let pinned = |p: &Vec3| p.x.abs().max(p.y.abs()) >= 0.1 - 1e-9;
    let top = |p: &Vec3| p.y >= 0.1 - 1e-9;
    let mut pins: Vec<u32> = (0..count).filter(|&v| pinned(&flat.positions[v as usize])).collect();
    pins.extend((0..count).filter(|&v| top(&flat.positions[v as usize])).map(|v| v + count));
    let shell = Shell {
        topology: Topology::new(positions.len(), faces).unwrap(),
        positions: positions.clone(),
        rest_positions: positions,
        material: ShellMaterial::isotropic(1e8, 0.3, 2e-3),
        areal_density: 0.15,
        pins,
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut garment = Garment {
        shells: vec![shell],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: Vec::new(),
        self_contact: Some(LayerContact { thickness: 1e-3, friction: 0.4 }),
    };
    let mut settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(!c.certified && c.reason.starts_with("layers pass through each other"), "{}", c.reason);
    assert!(found.crossing.count > 5 && c.penetration.unwrap() > 1e-4, "{:?}", found.crossing);
    assert!((found.crossing.place.x + 0.0069).abs() < 1e-3, "{:?}", found.crossing);
    assert!(c.target_error_max.unwrap() < 1e-9, "{:?}", c.target_error_max);
    settings.layers_may_cross = true;
    let allowed = invert(&garment, &settings, |_| true).unwrap();
    assert!(allowed.certificate.certified, "{}", allowed.certificate.reason);
    assert!(allowed.crossing.count > 5);
    // Cloth that does not touch itself does not mind.
    settings.layers_may_cross = false;
    garment.self_contact = None;
    let alone = invert(&garment, &settings, |_| true).unwrap();
    assert!(alone.certificate.certified && alone.crossing.count > 5);
    assert_eq!(alone.certificate.penetration, None);
}
