//! Surfaces of revolution around z, and the cylindrical roof.

use super::round::cos_sin;
use super::{assert_length, built, grid_faces, step};
use crate::{TriMesh, Vec3};

/// How far a surface of revolution goes around its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Closed: vertex k + n is vertex k.
    Full,
    /// The quarter x ≥ 0, y ≥ 0, with its two edges in the planes y = 0 and x = 0.
    Quarter,
}

/// Open cylinder 0 ≤ z ≤ `height`, closed around the z axis \[m\].
///
/// Vertex (k, j) has number j n_around + k, ring by ring upwards. Edges along z are rulings,
/// so that every quadrilateral is flat and the mesh developable.
pub fn cylinder(radius: f64, height: f64, n_around: usize, n_along: usize) -> TriMesh {
    cone_frustum(radius, radius, height, n_around, n_along)
}

/// Side of a truncated cone, from `bottom_radius` at z = 0 to `top_radius` at z = `height` \[m\].
///
/// Numbered as [`cylinder`]; developable for the same reason.
pub fn cone_frustum(
    bottom_radius: f64,
    top_radius: f64,
    height: f64,
    n_around: usize,
    n_along: usize,
) -> TriMesh {
    assert_length("bottom radius", bottom_radius);
    assert_length("top radius", top_radius);
    assert_length("height", height);
    revolve(Around::Full, n_around, n_along, |j, n| {
        [step(bottom_radius, top_radius, j, n), step(0.0, height, j, n)]
    })
}

/// Upper half of a sphere with a hole around the pole, as used by the pinched-hemisphere
/// benchmark (hole of 18°).
///
/// `hole_angle` is measured from the pole \[rad\]. Vertex (k, j) has number j columns + k, with
/// j = 0 on the equator and j = `n_meridian` at the hole; columns is `n_around` for
/// [`Around::Full`] and `n_around` + 1 for [`Around::Quarter`].
///
/// Reference: MacNeal, Harder 1985, "A proposed standard set of problems to test finite element
/// accuracy".
pub fn hemisphere(
    radius: f64,
    hole_angle: f64,
    around: Around,
    n_around: usize,
    n_meridian: usize,
) -> TriMesh {
    let equator = std::f64::consts::FRAC_PI_2;
    spherical_cap(radius, equator, hole_angle, around, n_around, n_meridian)
}

/// Part of a sphere between two angles from the pole +z \[rad\], the wider one first.
///
/// Numbered as [`hemisphere`]. The hole keeps the structured mesh free of degenerate triangles.
/// Panics unless 0 < `hole_angle` < `rim_angle` < π.
pub fn spherical_cap(
    radius: f64,
    rim_angle: f64,
    hole_angle: f64,
    around: Around,
    n_around: usize,
    n_meridian: usize,
) -> TriMesh {
    assert_length("radius", radius);
    assert!(
        0.0 < hole_angle && hole_angle < rim_angle && rim_angle < std::f64::consts::PI,
        "angles from the pole must satisfy 0 < hole ({hole_angle}) < rim ({rim_angle}) < π"
    );
    revolve(around, n_around, n_meridian, |j, n| {
        let from_pole = step(rim_angle, hole_angle, j, n);
        let (sin, cos) = from_pole.sin_cos();
        let on_equator = from_pole == std::f64::consts::FRAC_PI_2;
        [radius * sin, if on_equator { 0.0 } else { radius * cos }]
    })
}

/// Revolves a profile (distance from the axis, height), given for j of n steps upwards.
fn revolve(
    around: Around,
    n_around: usize,
    n_along: usize,
    profile: impl Fn(usize, usize) -> [f64; 2],
) -> TriMesh {
    let n_along = n_along.max(1);
    let (n_around, columns, turn) = match around {
        Around::Full => (n_around.max(3), n_around.max(3), n_around.max(3)),
        Around::Quarter => (n_around.max(1), n_around.max(1) + 1, 4 * n_around.max(1)),
    };
    let mut positions = Vec::with_capacity(columns * (n_along + 1));
    for j in 0..=n_along {
        let [radius, z] = profile(j, n_along);
        positions.extend((0..columns).map(|k| {
            let (cos, sin) = cos_sin(k, turn);
            Vec3::new(radius * cos, radius * sin, z)
        }));
    }
    let faces = grid_faces(n_around, n_along, false, |k, j| j * columns + k % columns);
    built(positions, faces)
}

/// Cylindrical roof: |φ| ≤ `angle`/2 around the y axis with its crown at z = `radius`,
/// |y| ≤ `length`/2 [m, rad].
///
/// x = R sin φ, z = R cos φ. Vertex (i, j) has number j (n_around + 1) + i, i along +x,
/// j along +y; normals point away from the axis. Panics unless 0 < `angle` < 2π.
pub fn cylindrical_panel(
    radius: f64,
    angle: f64,
    length: f64,
    n_around: usize,
    n_along: usize,
) -> TriMesh {
    assert_length("radius", radius);
    assert_length("length", length);
    assert!(
        0.0 < angle && angle < std::f64::consts::TAU,
        "the panel spans {angle} rad, must lie between 0 and 2π"
    );
    let (n_around, n_along) = (n_around.max(1), n_along.max(1));
    let mut positions = Vec::with_capacity((n_around + 1) * (n_along + 1));
    for j in 0..=n_along {
        let y = step(-0.5 * length, 0.5 * length, j, n_along);
        for i in 0..=n_around {
            let (sin, cos) = step(-0.5 * angle, 0.5 * angle, i, n_around).sin_cos();
            positions.push(Vec3::new(radius * sin, y, radius * cos));
        }
    }
    let faces = grid_faces(n_around, n_along, false, |i, j| j * (n_around + 1) + i);
    built(positions, faces)
}
