//! Garments that are no tubes: an arched page, a beret, a tablecloth, two triangles.

use std::f64::consts::{PI, TAU};

use toile_contact::{Collider, Shape};
use toile_geometry::{Topology, TriMesh, Vec3, generate};
use toile_sim::ShellMaterial;

use super::{Skirt, made_of};
use crate::{Garment, InverseError};

/// Contact distance of the colliders here \[m\].
const GAP: f64 = Skirt::GAP;

fn discrete(k_length: f64, k_bend: f64) -> ShellMaterial {
    ShellMaterial::DiscreteShells { k_length, k_area: 0.0, k_bend }
}

/// Ly's Bitriangle: a square of two triangles, one held, the other bent down.
pub fn bitriangle() -> Result<Garment, InverseError> {
    let target =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.765462, 0.765462, -0.615392]];
    let topology = Topology::new(4, vec![[0, 1, 2], [1, 3, 2]])?;
    let mesh = TriMesh { topology, positions: target.map(Vec3::from).to_vec() };
    let mut garment = made_of(mesh, discrete(50.0, 5e-2), 0.5, vec![]);
    garment.shells[0].pins = vec![0, 1, 2];
    Ok(garment)
}

/// A heavy page that arches between two strips on which it lies: 19 × 43 vertices, 8 of the 43 on the table.
pub fn book_page() -> Result<Garment, InverseError> {
    let (across, along, foot, cell) = (19usize, 43usize, 4usize, 2e-3);
    let width = (across - 1) as f64 * cell;
    let last = (along - 1) as f64;
    let (from, to) = ((foot - 1) as f64, last - (foot - 1) as f64);
    let mesh = generate::strip(last * cell, width, along - 1, across - 1);
    let arch = |p: &Vec3| {
        let t = ((p.x / cell - from) / (to - from)).clamp(0.0, 1.0);
        // Steeper on one side, and higher at its borders.
        let rise = 0.022 * (PI * t).sin().powf(1.3) * (1.0 + 0.3 * (PI * t).cos());
        let wave = 1.0 + 0.1 * (TAU * p.y / width).cos();
        Vec3::new(p.x, p.y, GAP + rise * wave)
    };
    let low = mesh.positions.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    let positions = mesh.positions.iter().map(|p| arch(&(p - Vec3::x() * low))).collect();
    let table = Shape::plane(Vec3::zeros(), Vec3::z())?;
    let table = Collider::fixed(table).with_friction(0.4)?.with_gap(GAP)?;
    let mesh = TriMesh { topology: mesh.topology, positions };
    Ok(made_of(mesh, discrete(5.0, 2e-3), 10.0, vec![table]))
}

/// A beret: a crown wider than the head, drawn in again to a rim that lies on it.
pub fn beret() -> Result<Garment, InverseError> {
    let (head, rim, brim) = (0.11, 0.095f64, 0.125);
    let rings = 16usize;
    let mesh = generate::disc(1.0, rings);
    let center = -(head * head - rim * rim).sqrt();
    let place = |p: &Vec3| {
        let (s, turn) = (p.norm(), p.y.atan2(p.x));
        let (r, z) = if s <= 0.7 {
            (brim * s / 0.7, 0.08 - 0.02 * (s / 0.7).powi(2))
        } else {
            let q = (s - 0.7) / 0.3;
            (brim - (brim - rim) * q * q, 0.06 * (1.0 - q))
        };
        // Not quite round, but for the rim.
        let r = r * (1.0 + 0.02 * (1.0 - s * s) * (3.0 * turn).cos());
        Vec3::new(r * turn.cos(), r * turn.sin(), z)
    };
    let positions = mesh.positions.iter().map(place).collect();
    let shape = Shape::sphere(Vec3::new(0.0, 0.0, center), head - GAP)?;
    let body = Collider::fixed(shape).with_friction(0.3)?.with_gap(GAP)?;
    let mesh = TriMesh { topology: mesh.topology, positions };
    Ok(made_of(mesh, discrete(5e-2, 5e-4), 0.25, vec![body]))
}

/// A round cloth on a round table, its border hanging in waves.
pub fn tablecloth(material: ShellMaterial, areal_density: f64) -> Result<Garment, InverseError> {
    let (radius, flat, drop) = (0.3, 0.65, 0.15);
    let mesh = generate::disc(1.0, 18);
    let place = |p: &Vec3| {
        let (s, turn) = (p.norm(), p.y.atan2(p.x));
        let q = ((s - flat) / (1.0 - flat)).max(0.0);
        let round = (q / 0.25).min(1.0); // over the edge of the table
        let r = radius * (s / flat).min(1.0)
            + 0.03 * (0.5 * PI * round).sin()
            + q * (0.02 + 0.012 * (8.0 * turn).cos());
        let z = GAP - 0.02 * (1.0 - (0.5 * PI * round).cos()) - drop * (q - 0.25).max(0.0) / 0.75;
        Vec3::new(r * turn.cos(), r * turn.sin(), z)
    };
    let positions = mesh.positions.iter().map(place).collect();
    let shape = Shape::cylinder(Vec3::new(0.0, 0.0, -0.5), Vec3::z(), radius, Some(1.0))?;
    let table = Collider::fixed(shape).with_friction(0.4)?.with_gap(GAP)?;
    let mesh = TriMesh { topology: mesh.topology, positions };
    Ok(made_of(mesh, material, areal_density, vec![table]))
}
