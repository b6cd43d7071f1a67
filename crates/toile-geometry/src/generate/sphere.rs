//! Icosphere.

use std::collections::HashMap;

use super::{assert_length, built};
use crate::{TriMesh, Vec3};

/// Sphere of given radius \[m\]: an icosahedron whose faces are quartered `subdivisions` times,
/// every vertex pushed onto the sphere. 20·4ⁿ faces, 10·4ⁿ + 2 vertices.
///
/// Panics above 12 subdivisions (335 million faces).
pub fn sphere(radius: f64, subdivisions: u32) -> TriMesh {
    assert_length("radius", radius);
    assert!(subdivisions <= 12, "{subdivisions} subdivisions make too many faces");
    let (mut directions, mut faces) = icosahedron();
    for _ in 0..subdivisions {
        // Only looked up, never walked through: the numbering does not depend on the hash.
        let mut middles = HashMap::new();
        let mut finer = Vec::with_capacity(4 * faces.len());
        for &[a, b, c] in &faces {
            let mut middle = |u: u32, v: u32| {
                *middles.entry((u.min(v), u.max(v))).or_insert_with(|| {
                    let sum: Vec3 = directions[u as usize] + directions[v as usize];
                    directions.push(sum.normalize());
                    directions.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        faces = finer;
    }
    built(directions.iter().map(|d| d * radius).collect(), faces)
}

/// Unit icosahedron with outward normals: cyclic permutations of (0, ±1, ±φ).
fn icosahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    let mut vertices = Vec::with_capacity(12);
    for axis in 0..3 {
        for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let mut v = Vec3::zeros();
            v[(axis + 1) % 3] = s;
            v[(axis + 2) % 3] = t * golden;
            vertices.push(v);
        }
    }
    // Faces are the triples at mutual distance 2, turned outwards.
    let near = |i: usize, j: usize| ((vertices[i] - vertices[j]).norm() - 2.0).abs() < 1e-9;
    let mut faces = Vec::with_capacity(20);
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if near(i, j) && near(j, k) && near(k, i) {
                    let volume = vertices[i].dot(&vertices[j].cross(&vertices[k]));
                    let (j, k) = if volume > 0.0 { (j, k) } else { (k, j) };
                    faces.push([i as u32, j as u32, k as u32]);
                }
            }
        }
    }
    let directions = vertices.iter().map(|v| v.normalize()).collect();
    (directions, faces)
}
