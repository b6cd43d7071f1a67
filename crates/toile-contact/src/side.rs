//! On which side of each other two layers were.

use toile_geometry::{Topology, Vec3};

use crate::{Contact, ContactKey};

/// Normals closer than this (cosine) to the plane of a face do not tell its sides.
const CLEAR: f64 = 0.1;

/// Sides remembered from the contacts of a step.
///
/// A pair that has changed sides since then has passed through: its contact keeps the old normal
/// and has a negative distance, so that it is pushed back and not out on the other side.
#[derive(Clone, Debug, Default)]
pub struct LayerSides {
    /// (vertex, face) and whether the vertex is on the side of the normal; sorted.
    faces: Vec<((u32, u32), bool)>,
    /// (first, second edge) and whether first × second leads from the second to the first; sorted.
    edges: Vec<((u32, u32), bool)>,
}

impl LayerSides {
    /// Nothing known: every pair is on the side where it is found.
    pub fn unknown() -> Self {
        Self::default()
    }

    /// The sides of contacts between layers, found at the given positions.
    pub fn of(contacts: &[Contact], positions: &[Vec3], topology: &Topology) -> Self {
        let mut sides = Self::default();
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

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty() && self.edges.is_empty()
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
        if self.is_empty() {
            return None;
        }
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
