//! What is told of targets that are not held, tried out.

use toile_contact::{Collider, Shape};
use toile_geometry::{Vec3, generate};
use toile_inverse::gallery::Skirt;
use toile_inverse::{Garment, InverseSettings, invert};
use toile_sim::{Shell, ShellMaterial};

fn short() -> InverseSettings {
    InverseSettings { drift_time: 0.0, naive_sag: false, ..InverseSettings::default() }
}

/// A flared skirt that is much too soft is held where it was drawn by cloth a tenth stiffer against bending than what is told, and by nothing as soft as it is.
#[test]
fn cloth_as_stiff_against_bending_as_is_told_is_held() {
    let skirt = Skirt { rows: 8, around: 20, waves: 4, ..Skirt::default() };
    let of = |factor: f64| {
        let felt =
            ShellMaterial::DiscreteShells { k_length: 2.0, k_area: 0.0, k_bend: 2e-5 * factor };
        let garment = skirt.garment(felt, 0.05, 0.5).unwrap();
        invert(&garment, &short(), |_| true).unwrap()
    };
    let soft = of(1.0);
    let (c, d) = (&soft.certificate, &soft.diagnosis);
    assert!(c.reason.contains("too soft or too heavy"), "{}", c.reason);
    let told = d.bending_factor.unwrap();
    assert!(told > 2.0, "{told}");
    assert!(c.reason.contains("times as stiff against bending"), "{}", c.reason);
    let held = of(1.1 * told);
    let c = &held.certificate;
    assert!(c.certified && c.target_error_max.unwrap() <= 1e-6 * c.size, "{told}: {}", c.reason);
}

/// Under a ceiling nothing is carried, whatever the friction: that is told, and not that cloth is soft.
#[test]
fn contacts_from_above_carry_nothing_with_any_friction() {
    let ceiling = Shape::plane(Vec3::zeros(), -Vec3::z()).unwrap();
    let mut mesh = generate::sheet(6, 0.3);
    mesh.positions.iter_mut().for_each(|p| p.z = -1e-3);
    let garment = Garment {
        shells: vec![Shell {
            topology: mesh.topology,
            rest_positions: mesh.positions.clone(),
            positions: mesh.positions,
            material: ShellMaterial::DiscreteShells { k_length: 2.0, k_area: 0.0, k_bend: 5e-3 },
            areal_density: 0.2,
            pins: Vec::new(),
            seams: Vec::new(),
        }],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: vec![
            Collider::fixed(ceiling).with_friction(0.9).unwrap().with_gap(1e-3).unwrap(),
        ],
        self_contact: None,
    };
    let found = invert(&garment, &short(), |_| true).unwrap();
    let (c, d) = (&found.certificate, &found.diagnosis);
    assert!(!c.certified, "{}", c.reason);
    assert_eq!(d.least_friction, Some(f64::INFINITY));
    assert!(c.reason.starts_with("no friction would let these contacts"), "{}", c.reason);
    assert!(!c.reason.contains("too soft"), "{}", c.reason);
}
