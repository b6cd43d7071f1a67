//! Meshes made from a few numbers, for tests, demos and validation.
//!
//! All lengths in metres, all angles in radians. Vertices lie exactly (to round-off) on the
//! surface they stand for. Counts below the least that makes a surface are raised to it.
//! Flat meshes lie in the plane z = 0 with normal +z; curved ones have outward normals.
//!
//! The functions panic on lengths that are not positive and finite and on meshes too large
//! to number: their arguments are the program's, not the user's.

mod plane;
mod random;
mod revolution;
mod round;
mod sphere;

pub use plane::{rectangle, sheet, strip, strip_with};
pub use revolution::{
    Around, cone_frustum, cylinder, cylindrical_panel, hemisphere, spherical_cap,
};
pub use round::{annulus, disc};
pub use sphere::sphere;

use crate::{TriMesh, Vec3};

/// How a rectangle is cut into triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Triangulation {
    /// All diagonals parallel to (1, 1): simple, but stiffer along one direction.
    Regular,
    /// Diagonals alternate like a chequerboard: no preferred diagonal.
    #[default]
    Alternating,
    /// Rows shifted by half a cell, with half triangles along two sides; equilateral when
    /// the rows are √3/2 cells high.
    Equilateral,
    /// Interior vertices displaced at random, then Delaunay; boundary vertices stay.
    Random {
        /// Equal seeds give equal meshes.
        seed: u64,
    },
}

/// Cuts nx × ny cells in two. `vertex(i, j)` numbers the corners; `parallel` chooses between
/// one diagonal everywhere and the chequerboard.
fn grid_faces(
    nx: usize,
    ny: usize,
    parallel: bool,
    vertex: impl Fn(usize, usize) -> usize,
) -> Vec<[u32; 3]> {
    let vertex = |i, j| vertex(i, j) as u32;
    let mut faces = Vec::with_capacity(2 * nx * ny);
    for j in 0..ny {
        for i in 0..nx {
            let (a, b) = (vertex(i, j), vertex(i + 1, j));
            let (d, c) = (vertex(i, j + 1), vertex(i + 1, j + 1));
            if parallel || (i + j) % 2 == 0 {
                faces.extend([[a, b, c], [a, c, d]]);
            } else {
                faces.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    faces
}

/// The mesh of a generator; anything wrong with it is a bug of the generator or its caller.
fn built(positions: Vec<Vec3>, faces: Vec<[u32; 3]>) -> TriMesh {
    TriMesh::new(positions, faces).expect("generated meshes are surfaces")
}

fn assert_length(name: &str, length: f64) {
    assert!(
        length.is_finite() && length > 0.0,
        "{name} is {length} m, must be positive and finite"
    );
}

/// The i-th of n equal steps from `start` to `end`, exact at both ends.
fn step(start: f64, end: f64, i: usize, n: usize) -> f64 {
    if i == n { end } else { start + (end - start) * (i as f64 / n as f64) }
}
