//! A skirt of four panels on a torso, sewn and held by friction only.

use toile_contact::{Collider, Shape};
use toile_geometry::{Topology, TriMesh, Vec3};
use toile_inverse::found::{panelled_skirt, torso};
use toile_inverse::{Garment, InverseSettings, invert};
use toile_sim::{Shell, ShellMaterial};

fn skirt_of_panels(fineness: usize) -> Garment {
    let (body, skirt) = (torso(30, 40, true), panelled_skirt(fineness, 1e-3, 1e-3));
    let body = TriMesh::new(body.positions, body.faces).unwrap();
    let body = Collider::fixed(Shape::mesh(body).unwrap());
    let shell = Shell {
        topology: Topology::new(skirt.positions.len(), skirt.faces).unwrap(),
        positions: skirt.positions.clone(),
        rest_positions: skirt.positions,
        material: ShellMaterial::DiscreteShells { k_length: 10.0, k_area: 10.0, k_bend: 2e-3 },
        areal_density: 0.1,
        pins: Vec::new(),
        seams: skirt.stitches,
    };
    Garment {
        shells: vec![shell],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: vec![body.with_friction(0.6).unwrap().with_gap(1e-3).unwrap()],
        self_contact: None,
    }
}

/// Panels whose sides are divided differently, so that no vertex meets another: threads that turned freely would let the seams fold.
#[test]
fn sewn_panels_are_held_as_they_were_drawn() {
    let garment = skirt_of_panels(4);
    let settings = InverseSettings {
        naive_sag: false,
        contact_tolerance: 3e-3,
        drift_time: 0.1,
        ..InverseSettings::default()
    };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified && !found.settled, "{}", c.reason);
    // Held where its seams and contacts are closed, but for what the threads stretch under their load.
    let seams = garment.seams();
    let away = |(a, b): (&Vec3, &Vec3)| (a - b).norm();
    let moved = found.equilibrium.iter().zip(&found.touched).map(away).fold(0.0, f64::max);
    assert!(moved > 0.0 && moved < 1e-6 * c.size, "{moved} m");
    let open = |s: &toile_sim::Stitch| s.opening(&found.equilibrium).norm();
    let widest = seams.iter().map(open).fold(0.0, f64::max);
    assert!(widest > 0.0 && widest < 1e-6, "{widest} m");
    // At rest the sides of a seam are apart: nothing sews rest shapes.
    let apart = seams.iter().map(|s| s.opening(&found.rest).norm()).fold(0.0, f64::max);
    assert!(apart > 1e-5, "{apart} m");
}
