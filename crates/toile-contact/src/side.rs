//! On which side of each other two layers were.

use toile_geometry::{Topology, Vec3};

use crate::passing::{passes_edge, passes_face};

/// Where everything was at the end of a step, from where nothing may have passed through anything.
///
/// A pair that has passed through each other on the straight way from there has a contact with the old normal
/// and a negative distance, so that it is pushed back and not out on the other side. The way alone tells: a side that was
/// remembered for a face would be wrong once the vertex has gone round a fold or a border.
#[derive(Clone, Debug, Default)]
pub struct LayerSides {
    /// Empty if it is not known.
    last: Vec<Vec3>,
}

impl LayerSides {
    /// Nothing known: every pair is on the side where it is found.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// The sides on which everything is at these positions.
    pub fn at(positions: &[Vec3]) -> Self {
        Self { last: positions.to_vec() }
    }

    /// Whether a vertex has passed a face, or one of those around it, on the way to `now`.
    pub(crate) fn passed_face(
        &self,
        topology: &Topology,
        now: &[Vec3],
        vertex: u32,
        face: u32,
    ) -> bool {
        if self.last.is_empty() {
            return false;
        }
        let corners = topology.faces()[face as usize];
        let through = |f: u32| {
            let [a, b, c] = topology.faces()[f as usize];
            let four = [vertex, a, b, c].map(|v| v as usize);
            ![a, b, c].contains(&vertex)
                && passes_face(&four.map(|v| self.last[v]), &four.map(|v| now[v]))
        };
        through(face)
            || corners
                .iter()
                .any(|&v| topology.vertex_faces(v as usize).iter().any(|&f| through(f)))
    }

    /// Whether an edge has passed another, or their ends faces at them, on the way to `now`.
    pub(crate) fn passed_edge(
        &self,
        topology: &Topology,
        now: &[Vec3],
        first: u32,
        second: u32,
    ) -> bool {
        if self.last.is_empty() {
            return false;
        }
        let [one, other] = [first, second].map(|e| &topology.edges()[e as usize]);
        let ([a, b], [c, d]) = (one.vertices, other.vertices);
        let four = [a, b, c, d].map(|v| v as usize);
        if passes_edge(&four.map(|v| self.last[v]), &four.map(|v| now[v])) {
            return true;
        }
        [(one, other), (other, one)].iter().any(|(upper, lower)| {
            upper.vertices.iter().any(|&v| {
                lower.faces.iter().flatten().any(|&f| {
                    let [p, q, r] = topology.faces()[f as usize];
                    let four = [v, p, q, r].map(|v| v as usize);
                    ![p, q, r].contains(&v)
                        && passes_face(&four.map(|v| self.last[v]), &four.map(|v| now[v]))
                })
            })
        })
    }
}

/// Unit normal of a face, zero when it has no area.
pub(crate) fn face_normal(topology: &Topology, positions: &[Vec3], face: u32) -> Vec3 {
    let [a, b, c] = topology.faces()[face as usize].map(|v| positions[v as usize]);
    let n = (b - a).cross(&(c - a));
    let length = n.norm();
    if length > 0.0 { n / length } else { n }
}
