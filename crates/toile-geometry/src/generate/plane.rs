//! Rectangles in the plane z = 0.

use super::{Triangulation, assert_length, built, grid_faces, random, step};
use crate::{TriMesh, Vec3};

/// Rectangle of `width` along x and `height` along y \[m\], centred at the origin, with nx × ny
/// cells.
///
/// Vertices are numbered row by row from the lower left, j (nx + 1) + i, except for
/// [`Triangulation::Equilateral`], whose odd rows have nx + 2 vertices.
pub fn rectangle(
    width: f64,
    height: f64,
    nx: usize,
    ny: usize,
    triangulation: Triangulation,
) -> TriMesh {
    assert_length("width", width);
    assert_length("height", height);
    let (nx, ny) = (nx.max(1), ny.max(1));
    if triangulation == Triangulation::Equilateral {
        return equilateral(width, height, nx, ny);
    }
    let mut positions = Vec::with_capacity((nx + 1) * (ny + 1));
    for j in 0..=ny {
        for i in 0..=nx {
            let x = step(-0.5 * width, 0.5 * width, i, nx);
            let y = step(-0.5 * height, 0.5 * height, j, ny);
            positions.push(Vec3::new(x, y, 0.0));
        }
    }
    let parallel = triangulation == Triangulation::Regular;
    let mut faces = grid_faces(nx, ny, parallel, |i, j| j * (nx + 1) + i);
    if let Triangulation::Random { seed } = triangulation {
        let cell = [width / nx as f64, height / ny as f64];
        random::shuffle(&mut positions, &mut faces, cell, seed);
    }
    built(positions, faces)
}

fn equilateral(width: f64, height: f64, nx: usize, ny: usize) -> TriMesh {
    let mut positions = Vec::new();
    let mut row_starts = Vec::with_capacity(ny + 1);
    for j in 0..=ny {
        row_starts.push(positions.len() as u32);
        let y = step(-0.5 * height, 0.5 * height, j, ny);
        let at = |halves: usize| {
            let x = step(-0.5 * width, 0.5 * width, halves, 2 * nx);
            Vec3::new(x, y, 0.0)
        };
        if j % 2 == 0 {
            positions.extend((0..=nx).map(|i| at(2 * i)));
        } else {
            positions.push(at(0));
            positions.extend((0..nx).map(|i| at(2 * i + 1)));
            positions.push(at(2 * nx));
        }
    }
    let mut faces = Vec::new();
    let nx = nx as u32;
    for j in 0..ny {
        let (low, high) = (row_starts[j], row_starts[j + 1]);
        // The row of full cells points its triangles at the middles of the other row.
        if j % 2 == 0 {
            for i in 0..=nx {
                faces.push([low + i, high + i + 1, high + i]);
                if i < nx {
                    faces.push([low + i, low + i + 1, high + i + 1]);
                }
            }
        } else {
            for i in 0..=nx {
                faces.push([low + i, low + i + 1, high + i]);
                if i < nx {
                    faces.push([low + i + 1, high + i + 1, high + i]);
                }
            }
        }
    }
    built(positions, faces)
}

/// Square sheet of n × n vertices and the given side \[m\], centred at the origin.
///
/// Vertex (i, j) has number j n + i. With a = (i, j), b = (i+1, j), c = (i+1, j+1),
/// d = (i, j+1), cells with i + j even are cut into abc and acd, the others into abd and bcd.
pub fn sheet(n: usize, size: f64) -> TriMesh {
    let cells = n.max(2) - 1;
    rectangle(size, size, cells, cells, Triangulation::Alternating)
}

/// Strip 0 ≤ x ≤ `length`, |y| ≤ `width`/2 \[m\], with nx × ny cells and alternating diagonals.
pub fn strip(length: f64, width: f64, nx: usize, ny: usize) -> TriMesh {
    strip_with(length, width, nx, ny, Triangulation::Alternating)
}

/// As [`strip`], with a choice of triangulation.
pub fn strip_with(
    length: f64,
    width: f64,
    nx: usize,
    ny: usize,
    triangulation: Triangulation,
) -> TriMesh {
    let mut mesh = rectangle(length, width, nx, ny, triangulation);
    for x in &mut mesh.positions {
        x.x += 0.5 * length;
    }
    mesh
}
