//! A skirt of two layers on a torso, held by friction only.

use toile_contact::{Collider, Shape};
use toile_geometry::{Topology, TriMesh, Vec3};
use toile_inverse::found::{layered_skirt, torso};
use toile_inverse::{Garment, InverseSettings, LayerContact, invert};
use toile_sim::{Shell, ShellMaterial};

/// Chords of the two layers cross each other here and there, edges and faces lie on the body, and most contacts could share their load in other ways: with
/// the forces that were found the simulation has nothing left to do, and nothing moves.
#[test]
fn a_layered_skirt_stays_where_it_was_drawn() {
    let (body, skirt) = (torso(30, 40, true), layered_skirt(300, 1e-3, 1.2e-3));
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
    };
    let garment = Garment {
        shells: vec![shell],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: vec![body.with_friction(0.6).unwrap().with_gap(1e-3).unwrap()],
        self_contact: Some(LayerContact { thickness: 1e-3, friction: 0.4 }),
    };
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.1, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified && !found.settled, "{}", c.reason);
    let between = found.contacts.iter().filter(|c| c.contact.key.between_layers()).count();
    assert!(between > 50, "{between}");
    assert!(c.drift.unwrap() < 1e-9, "{:?}", c.drift);
}
