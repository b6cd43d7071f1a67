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
        damping: 0.0,
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
        contact_tolerance: Some(3e-3),
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

/// Two strips side by side over a log, one divided twice as finely: half of its vertices are sewn to the middle of chords, below the vertices that touch.
#[test]
fn what_is_sewn_to_a_chord_on_a_round_body_lies_as_deep_as_the_chord() {
    const RADIUS: f64 = 0.05;
    const GAP: f64 = 1e-3;
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    let mut strip = |y: [f64; 2], around: usize| -> Vec<u32> {
        let base = positions.len() as u32;
        let columns = 4;
        for i in 0..=around {
            let turn = (30.0 + 120.0 * i as f64 / around as f64).to_radians();
            for j in 0..columns {
                let y = y[0] + (y[1] - y[0]) * f64::from(j) / f64::from(columns - 1);
                let out = Vec3::new(turn.cos(), 0.0, turn.sin()) * (RADIUS + GAP);
                positions.push(out + Vec3::y() * y);
            }
        }
        for i in 0..around as u32 {
            for j in 0..columns - 1 {
                let a = base + i * columns + j;
                faces.extend([[a, a + 1, a + columns], [a + 1, a + columns + 1, a + columns]]);
            }
        }
        (0..=around as u32).map(|i| base + i * columns).collect()
    };
    let (coarse, fine) = (strip([0.0, -0.06], 4), strip([0.0, 0.06], 8));
    let stitch = |(k, &vertex): (usize, &u32)| {
        let e = (k / 2).min(coarse.len() - 2);
        let weight = 0.5 * k as f64 - e as f64;
        toile_sim::Stitch { vertex, edge: [coarse[e], coarse[e + 1]], weight }
    };
    let shell = Shell {
        topology: Topology::new(positions.len(), faces).unwrap(),
        positions: positions.clone(),
        rest_positions: positions,
        material: ShellMaterial::DiscreteShells { k_length: 10.0, k_area: 10.0, k_bend: 2e-3 },
        areal_density: 0.1,
        pins: Vec::new(),
        seams: fine.iter().enumerate().map(stitch).collect(),
        damping: 0.0,
    };
    let log = Shape::cylinder(Vec3::zeros(), Vec3::y(), RADIUS, None).unwrap();
    let garment = Garment {
        shells: vec![shell],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: vec![Collider::fixed(log).with_friction(0.6).unwrap().with_gap(GAP).unwrap()],
        self_contact: None,
    };
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.1, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified && !found.settled, "{}", c.reason);
    assert_eq!(c.penetration, Some(0.0));
    let deepest = found.equilibrium.iter().map(|p| RADIUS - p.x.hypot(p.z)).fold(0.0, f64::max);
    // At most 1 − cos 15° of the radius, less the gap: closing the seam has raised the chords.
    assert!((0.3e-3..0.75e-3).contains(&deepest), "{deepest} m");
}
