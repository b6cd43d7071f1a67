//! Annulus and disc in the plane z = 0.

use std::f64::consts::TAU;

use super::{assert_length, built, grid_faces, step};
use crate::{TriMesh, Vec3};

/// Ring between two radii \[m\] with `n_radial` × `n_around` cells, alternating diagonals.
///
/// Vertex (r, k) has number r n_around + k: ring by ring from the inner one, k counter-clockwise
/// from the x axis.
pub fn annulus(inner_radius: f64, outer_radius: f64, n_radial: usize, n_around: usize) -> TriMesh {
    assert_length("inner radius", inner_radius);
    assert_length("width of the annulus", outer_radius - inner_radius);
    let (n_radial, n_around) = (n_radial.max(1), n_around.max(3));
    let mut positions = Vec::with_capacity((n_radial + 1) * n_around);
    for r in 0..=n_radial {
        let radius = step(inner_radius, outer_radius, r, n_radial);
        positions.extend((0..n_around).map(|k| on_circle(radius, k, n_around)));
    }
    let faces = grid_faces(n_radial, n_around, false, |r, k| r * n_around + k % n_around);
    built(positions, faces)
}

/// Disc of given radius \[m\] made of a centre and rings of 6, 12, 18… vertices.
///
/// Vertex 0 is the centre, ring r = 1, 2… starts at 1 + 3 r (r − 1); the triangles are nearly
/// equilateral.
pub fn disc(radius: f64, rings: usize) -> TriMesh {
    assert_length("radius", radius);
    let rings = rings.max(1);
    let start = |r: usize| if r == 0 { 0 } else { 1 + 3 * r * (r - 1) };
    let mut positions = vec![Vec3::zeros()];
    let mut faces = Vec::with_capacity(6 * rings * rings);
    for r in 1..=rings {
        let radius = step(0.0, radius, r, rings);
        positions.extend((0..6 * r).map(|k| on_circle(radius, k, 6 * r)));
        let inside = |k: usize| match r {
            1 => 0,
            _ => (start(r - 1) + k % (6 * (r - 1))) as u32,
        };
        let outside = |k: usize| (start(r) + k % (6 * r)) as u32;
        for sector in 0..6 {
            for k in 0..r {
                let (low, high) = (sector * (r - 1) + k, sector * r + k);
                faces.push([inside(low), outside(high), outside(high + 1)]);
                if k + 1 < r {
                    faces.push([inside(low), outside(high + 1), inside(low + 1)]);
                }
            }
        }
    }
    built(positions, faces)
}

/// The k-th of n points on a circle, exact on the axes.
pub(super) fn on_circle(radius: f64, k: usize, n: usize) -> Vec3 {
    let (cos, sin) = cos_sin(k, n);
    Vec3::new(radius * cos, radius * sin, 0.0)
}

/// Cosine and sine of k/n turns, exact at multiples of a quarter, so that symmetric meshes
/// are symmetric to the bit.
pub(super) fn cos_sin(k: usize, n: usize) -> (f64, f64) {
    let quarter = 4 * k / n;
    let rest = 4 * k - quarter * n; // in units of 1/(4n) turns, below n
    let (sin, cos) = if 2 * rest <= n {
        (TAU * rest as f64 / (4 * n) as f64).sin_cos()
    } else {
        let (cos, sin) = (TAU * (n - rest) as f64 / (4 * n) as f64).sin_cos();
        (sin, cos)
    };
    match quarter % 4 {
        0 => (cos, sin),
        1 => (-sin, cos),
        2 => (-cos, -sin),
        _ => (sin, -cos),
    }
}
