//! Everything that may be wrong with somebody's mesh, in words.

mod problem;
mod shape;
mod surface;

pub use problem::{Element, Problem, ProblemKind, Severity};

use crate::topology::MAX_ELEMENTS;
use crate::{Vec3, mesh::is_finite};

/// Finds every problem of a mesh, the gravest first; alike ones are grouped.
///
/// Never fails, whatever the input: faces that cannot be understood are reported and left out
/// of the further checks. A mesh without a problem of severity [`Severity::Error`] is accepted
/// by [`TriMesh::new`](crate::TriMesh::new) and has no face without area. O(n log n).
pub fn diagnose(positions: &[Vec3], faces: &[[u32; 3]]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if positions.is_empty() {
        problems.push(Problem::whole(
            ProblemKind::NoVertices,
            Severity::Error,
            "the mesh has no vertices".into(),
            "check that the file is complete and in the format its name says".into(),
        ));
    }
    if faces.is_empty() {
        problems.push(Problem::whole(
            ProblemKind::NoFaces,
            Severity::Error,
            "the mesh has no faces".into(),
            "export it as a surface of triangles; a point cloud or lines carry no cloth".into(),
        ));
    }
    if positions.len() > MAX_ELEMENTS || faces.len() > MAX_ELEMENTS {
        problems.push(Problem::whole(
            ProblemKind::TooLarge,
            Severity::Error,
            format!("the mesh has {} vertices and {} faces", positions.len(), faces.len()),
            format!("decimate it or split it: at most {MAX_ELEMENTS} of each can be numbered"),
        ));
        return problems;
    }
    let bad = (0..positions.len()).filter(|&v| !is_finite(&positions[v]));
    problems.extend(Problem::group(
        ProblemKind::NonFinite,
        Severity::Error,
        bad.map(|v| Element::Vertex(v as u32)),
        "a coordinate that is not a finite number",
        "correct the coordinates, or remove the vertices and their faces",
    ));
    let sound = surface::sound_faces(positions.len(), faces, &mut problems);
    surface::check(positions.len(), faces, &sound, &mut problems);
    shape::check(positions, faces, &sound, &mut problems);
    problems.sort_by_key(|p| (std::cmp::Reverse(p.severity), p.kind));
    problems
}
