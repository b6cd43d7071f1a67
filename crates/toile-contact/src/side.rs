//! On which side of each other two layers were.

use toile_geometry::{Topology, Vec3};

use crate::passing::{passes_edge, passes_face};
use crate::{Contact, ContactKey};

/// Normals closer than this (cosine) to the plane of a face do not tell its sides.
const CLEAR: f64 = 0.1;

/// Sides remembered from the end of a step: those of its contacts, and where everything was, from where nothing may
/// have passed through anything.
///
/// A pair that has changed sides since then has passed through: its contact keeps the old normal
/// and has a negative distance, so that it is pushed back and not out on the other side.
#[derive(Clone, Debug, Default)]
pub struct LayerSides {
    /// (vertex, face) and whether the vertex is on the side of the normal; sorted.
    faces: Vec<((u32, u32), bool)>,
    /// (first, second edge) and whether first × second leads from the second to the first; sorted.
    edges: Vec<((u32, u32), bool)>,
    /// Where everything was; empty if that is not known.
    last: Vec<Vec3>,
}

impl LayerSides {
    /// Nothing known: every pair is on the side where it is found.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// The sides of contacts between layers, found at the given positions.
    pub fn of(contacts: &[Contact], positions: &[Vec3], topology: &Topology) -> Self {
        let mut sides = Self { last: positions.to_vec(), ..Self::default() };
        for contact in contacts {
            match contact.key {
                ContactKey::VertexFace { vertex, face } => {
                    let cosine = face_normal(topology, positions, face).dot(&contact.normal);
                    if cosine.abs() > CLEAR {
                        sides.faces.push(((vertex, face), cosine > 0.0));
                    }
                }
                ContactKey::EdgeEdge { first, second } => {
                    let across =
                        edge(topology, positions, first).cross(&edge(topology, positions, second));
                    sides.edges.push(((first, second), across.dot(&contact.normal) > 0.0));
                }
                _ => {}
            }
        }
        sides.faces.sort_unstable();
        sides.edges.sort_unstable();
        sides
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

    /// Side of a vertex: of this face, or else of a face that shares a vertex with it.
    pub(crate) fn vertex_face(&self, topology: &Topology, vertex: u32, face: u32) -> Option<bool> {
        if self.faces.is_empty() {
            return None;
        }
        let start = self.faces.partition_point(|(key, _)| key.0 < vertex);
        let known = self.faces[start..].iter().take_while(|(key, _)| key.0 == vertex);
        let corners = topology.faces()[face as usize];
        let mut near = None;
        for &((_, other), side) in known {
            if other == face {
                return Some(side);
            }
            if topology.faces()[other as usize].iter().any(|v| corners.contains(v)) {
                near = near.or(Some(side));
            }
        }
        near
    }

    /// Whether the first edge is on the side of first × second, from the pair itself or from what is
    /// known of their ends.
    pub(crate) fn edge_edge(
        &self,
        topology: &Topology,
        positions: &[Vec3],
        first: u32,
        second: u32,
    ) -> Option<bool> {
        if let Ok(k) = self.edges.binary_search_by_key(&(first, second), |(key, _)| *key) {
            return Some(self.edges[k].1);
        }
        let across = edge(topology, positions, first).cross(&edge(topology, positions, second));
        for (upper, lower, turn) in [(first, second, false), (second, first, true)] {
            for v in topology.edges()[upper as usize].vertices {
                for f in topology.edges()[lower as usize].faces.into_iter().flatten() {
                    if topology.faces()[f as usize].contains(&v) {
                        continue;
                    }
                    let Some(side) = self.vertex_face(topology, v, f) else { continue };
                    let cosine = face_normal(topology, positions, f).dot(&across);
                    if cosine.abs() > CLEAR * across.norm() {
                        return Some((side == (cosine > 0.0)) != turn);
                    }
                }
            }
        }
        None
    }
}

/// Unit normal of a face, zero when it has no area.
pub(crate) fn face_normal(topology: &Topology, positions: &[Vec3], face: u32) -> Vec3 {
    let [a, b, c] = topology.faces()[face as usize].map(|v| positions[v as usize]);
    let n = (b - a).cross(&(c - a));
    let length = n.norm();
    if length > 0.0 { n / length } else { n }
}

fn edge(topology: &Topology, positions: &[Vec3], edge: u32) -> Vec3 {
    let [a, b] = topology.edges()[edge as usize].vertices;
    positions[b as usize] - positions[a as usize]
}
