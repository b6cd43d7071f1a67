//! Faces that no cloth can have, spread by moving their vertices.
//!
//! Where vertices of a drawn or scanned garment have been moved, onto a body for instance, faces may come to lie upside down or lose their width. The mesh
//! stays as it is; the vertices of such faces go towards the middle of their neighbours until there are none.

use std::collections::BTreeSet;

use super::faces::{fold, inverted_faces, slenderness};
use crate::{Topology, Vec3};

/// Fold of two neighbours beyond which they lie flat on each other \[rad\]: normals of edges have no meaning at half a turn.
const PRESSED: f64 = 3.0;
/// Part of the way to the middle of its neighbours that a vertex goes at once.
const PART: f64 = 0.5;
/// Times in one go.
const ROUNDS: usize = 2;

/// Faces that lie upside down among their neighbours, flat on one of them, or are thinner than `slender` of their longest side.
pub fn unfit_faces(positions: &[Vec3], topology: &Topology, slender: f64) -> Vec<u32> {
    let faces = topology.faces();
    let mut unfit: BTreeSet<u32> = inverted_faces(positions, faces).into_iter().collect();
    for (f, face) in faces.iter().enumerate() {
        if slenderness(face.map(|v| positions[v as usize])).0 < slender {
            unfit.insert(f as u32);
        }
    }
    for (_, edge) in topology.interior_edges() {
        if let [Some(c), Some(d)] = edge.opposite
            && fold(positions, c, edge.vertices, d) > PRESSED
        {
            unfit.extend(edge.faces.into_iter().flatten());
        }
    }
    unfit.into_iter().collect()
}

/// Moves the vertices of some faces, and those within `rings` edges of them, towards the middle of their neighbours, where `free` lets them.
pub fn even_out(
    positions: &mut [Vec3],
    topology: &Topology,
    faces: &[u32],
    rings: usize,
    free: impl Fn(usize) -> bool,
) {
    let edges_at = |v: usize| {
        let faces = topology.vertex_faces(v).iter();
        let edges = faces.flat_map(|&f| topology.face_edges()[f as usize]);
        let edges = edges.map(|e| &topology.edges()[e as usize]);
        edges.filter(move |e| e.vertices.contains(&(v as u32)))
    };
    // The corner of a single face would go onto the side across.
    let free = |v: usize| free(v) && topology.vertex_faces(v).len() > 1;
    let mut moved: BTreeSet<usize> = BTreeSet::new();
    for &f in faces {
        moved.extend(topology.faces()[f as usize].map(|v| v as usize));
    }
    for _ in 0..rings {
        let near = moved.iter().flat_map(|&v| topology.vertex_faces(v));
        let near: Vec<usize> =
            near.flat_map(|&f| topology.faces()[f as usize]).map(|v| v as usize).collect();
        moved.extend(near);
    }
    for _ in 0..ROUNDS {
        let goal = |&v: &usize| {
            let (mut sum, mut count) = (Vec3::zeros(), 0.0);
            for edge in edges_at(v) {
                sum += positions[edge.vertices[0] as usize] + positions[edge.vertices[1] as usize]
                    - positions[v];
                count += 1.0;
            }
            if count > 0.0 { sum / count } else { positions[v] }
        };
        let goals: Vec<(usize, Vec3)> =
            moved.iter().filter(|v| free(**v)).map(|v| (*v, goal(v))).collect();
        for (v, goal) in goals {
            positions[v] += (goal - positions[v]) * PART;
        }
    }
}
