//! What lies inside what, and getting it out.

use std::fmt;

use toile_geometry::{Topology, Vec3};

use crate::distance::{point_triangle, segment_segment};
use crate::layers::{LEAF_BLOCK, LayerPair, Layers, Span};
use crate::predicate::{orientation, passes_through};
use crate::side::face_normal;
use crate::touch::{check_positions, in_blocks, kept};
use crate::{ContactError, ContactKey, PlacedCollider, collider_contacts};

/// What penetrates what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intrusion {
    /// A vertex of the cloth inside a collider.
    VertexInCollider {
        /// The vertex.
        vertex: u32,
        /// Place of the collider in the scene.
        collider: u32,
    },
    /// The inside of an edge of the cloth inside a collider.
    EdgeInCollider {
        /// The edge.
        edge: u32,
        /// Place of the collider in the scene.
        collider: u32,
    },
    /// A sharp point of a collider that has passed the inside of a face.
    FaceInCollider {
        /// The face.
        face: u32,
        /// Place of the collider in the scene.
        collider: u32,
    },
    /// An edge of the cloth that passes through a face of the cloth.
    EdgeThroughFace {
        /// The edge.
        edge: u32,
        /// The face.
        face: u32,
    },
    /// A vertex of the cloth that lies in a face of the cloth, on neither side.
    VertexOnFace {
        /// The vertex.
        vertex: u32,
        /// The face.
        face: u32,
    },
}

/// One place where things are inside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// What is inside what.
    pub what: Intrusion,
    /// How deep \[m\]; for an edge through a face the way of its nearer end back to the plane, or off the face if that is shorter.
    pub depth: f64,
    /// Where \[m\].
    pub place: Vec3,
}

impl fmt::Display for Penetration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = self.depth * 1e3;
        let [x, y, z] = [self.place.x, self.place.y, self.place.z];
        match self.what {
            Intrusion::VertexInCollider { vertex, collider } => {
                write!(f, "vertex {vertex} is {depth:.3} mm inside collider {collider}")?;
            }
            Intrusion::EdgeInCollider { edge, collider } => {
                write!(f, "edge {edge} dips {depth:.3} mm into collider {collider}")?;
            }
            Intrusion::FaceInCollider { face, collider } => {
                write!(f, "collider {collider} sticks {depth:.3} mm through face {face}")?;
            }
            Intrusion::EdgeThroughFace { edge, face } => {
                write!(f, "edge {edge} passes {depth:.3} mm through face {face}")?;
            }
            Intrusion::VertexOnFace { vertex, face } => {
                write!(f, "vertex {vertex} lies in face {face}, on neither of its sides")?;
            }
        }
        write!(f, " at ({x:.4}, {y:.4}, {z:.4}) m; ")?;
        match self.what {
            Intrusion::EdgeThroughFace { .. } | Intrusion::VertexOnFace { .. } => {
                write!(f, "move the layers apart by more than their thickness")
            }
            _ => write!(f, "move the cloth or the collider, or ask for push-out"),
        }
    }
}

/// Everything that is inside something else: cloth in colliders, layers in each other. Sorted.
///
/// Whether an edge passes through a face is decided exactly. Faces that share a vertex with the
/// edge are not tested.
pub fn penetrations(
    positions: &[Vec3],
    topology: &Topology,
    colliders: &[PlacedCollider<'_>],
) -> Result<Vec<Penetration>, ContactError> {
    let mut found = in_colliders(positions, topology, colliders)?;
    found.extend(Layers::new(topology, positions)?.crossings(positions)?);
    Ok(found)
}

fn in_colliders(
    positions: &[Vec3],
    topology: &Topology,
    colliders: &[PlacedCollider<'_>],
) -> Result<Vec<Penetration>, ContactError> {
    let contacts = collider_contacts(positions, topology, colliders, 0.0)?;
    let inside = contacts.iter().filter_map(|contact| {
        let (what, collider) = match contact.key {
            ContactKey::VertexCollider { vertex, collider } => {
                (Intrusion::VertexInCollider { vertex, collider }, collider)
            }
            ContactKey::EdgeCollider { edge, collider, .. } => {
                (Intrusion::EdgeInCollider { edge, collider }, collider)
            }
            ContactKey::FaceCollider { face, collider, .. } => {
                (Intrusion::FaceInCollider { face, collider }, collider)
            }
            _ => return None,
        };
        let depth = -contact.gap - kept(contact, colliders[collider as usize].gap());
        (depth > 0.0).then(|| Penetration { what, depth, place: contact.sum(positions) })
    });
    Ok(inside.collect())
}

impl Layers {
    /// Edges that pass through faces and vertices that lie in faces, by exact tests; sorted.
    pub fn crossings(&mut self, positions: &[Vec3]) -> Result<Vec<Penetration>, ContactError> {
        check_positions(positions, &self.topology)?;
        self.refit(&[positions], 0.0);
        let this = &*self;
        let at = |v: u32| Span::new(&positions[v as usize], &positions[v as usize], 0.0);
        let spread = self.spread(at);
        let mut found = in_blocks(self.leaf_count(), LEAF_BLOCK, |leaves, found| {
            for leaf in leaves {
                this.edge_face_pairs(leaf, |edge, face| {
                    found.extend(this.edge_through_face(positions, edge, face));
                });
                this.pairs(leaf, &spread, |pair| {
                    if let LayerPair::VertexFace { vertex, face } = pair {
                        found.extend(this.vertex_on_face(positions, vertex, face));
                    }
                });
            }
        });
        found.sort_unstable_by_key(|penetration: &Penetration| penetration.what);
        Ok(found)
    }

    fn edge_through_face(&self, x: &[Vec3], edge: u32, face: u32) -> Option<Penetration> {
        let [p, q] = self.topology.edges()[edge as usize].vertices.map(|v| x[v as usize]);
        let corners = self.topology.faces()[face as usize].map(|v| x[v as usize]);
        if !passes_through(&p, &q, &corners) {
            return None;
        }
        let n = face_normal(&self.topology, x, face);
        let (dp, dq) = (n.dot(&(p - corners[0])).abs(), n.dot(&(q - corners[0])).abs());
        let place = if dp + dq > 0.0 { p + (q - p) * (dp / (dp + dq)) } else { p };
        // Back out by an end, or off over a side of the face.
        let [a, b, c] = corners;
        let sides = [[a, b], [b, c], [c, a]];
        let aside = |side: &[Vec3; 2]| segment_segment(&[p, q], side, 0.0).distance_squared.sqrt();
        let depth = sides.iter().map(aside).fold(dp.min(dq), f64::min);
        let what = Intrusion::EdgeThroughFace { edge, face };
        Some(Penetration { what, depth, place })
    }

    fn vertex_on_face(&self, x: &[Vec3], vertex: u32, face: u32) -> Option<Penetration> {
        let p = x[vertex as usize];
        let corners = self.topology.faces()[face as usize].map(|v| x[v as usize]);
        let [a, b, c] = &corners;
        if orientation(a, b, c, &p) != 0 {
            return None;
        }
        let grain = 1e-15 * (1.0 + p.amax());
        let touches = point_triangle(&p, &corners).distance_squared <= grain * grain;
        let what = Intrusion::VertexOnFace { vertex, face };
        touches.then_some(Penetration { what, depth: 0.0, place: p })
    }
}

/// What a push-out has done.
#[derive(Clone, Debug, PartialEq)]
pub struct PushOut {
    /// Vertices that were moved.
    pub moved: usize,
    /// The longest way one of them was moved \[m\].
    pub longest: f64,
    /// What could not be repaired: cloth still inside colliders, or layers inside each other.
    pub left: Vec<Penetration>,
}

impl fmt::Display for PushOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "moved {} vertices, by up to {:.3} mm", self.moved, self.longest * 1e3)?;
        match self.left.as_slice() {
            [] => write!(f, "; nothing is inside anything else"),
            [first, ..] => write!(f, "; {} penetrations left, the first: {first}", self.left.len()),
        }
    }
}

/// Rounds of a push-out: a vertex in a corner of 10 degrees between colliders gets out in fewer.
const ROUNDS: usize = 200;

/// Moves cloth out of colliders, to their gap, and says what is left.
///
/// Only vertices for which `movable` holds move, each to the nearest surface; with several
/// colliders in turns. Layers inside each other are reported, not repaired.
pub fn push_out(
    positions: &mut [Vec3],
    topology: &Topology,
    colliders: &[PlacedCollider<'_>],
    movable: impl Fn(usize) -> bool,
) -> Result<PushOut, ContactError> {
    let original = positions.to_vec();
    let mut before = original.clone();
    for _ in 0..ROUNDS {
        let contacts = collider_contacts(positions, topology, colliders, 0.0)?;
        before.copy_from_slice(positions);
        let mut done = true;
        for contact in &contacts {
            let free = |v: u32| movable(v as usize);
            let carriers = || contact.carriers().filter(|&(v, _)| free(v));
            let sum: f64 = carriers().map(|(_, w)| w * w).sum();
            // What earlier contacts of this round have done counts.
            let way = carriers().fold(Vec3::zeros(), |s, (v, w)| {
                s + (positions[v as usize] - before[v as usize]) * w
            });
            let gap = contact.gap + contact.normal.dot(&way);
            if gap >= -1e-9 * (1.0 + way.amax()) || sum == 0.0 {
                continue;
            }
            done = false;
            for (v, w) in carriers() {
                positions[v as usize] -= contact.normal * (gap * w / sum);
            }
        }
        if done {
            break;
        }
    }
    let ways = positions.iter().zip(&original).map(|(x, y)| (x - y).norm());
    let (mut moved, mut longest) = (0, 0.0f64);
    for way in ways.filter(|&way| way > 0.0) {
        moved += 1;
        longest = longest.max(way);
    }
    Ok(PushOut { moved, longest, left: penetrations(positions, topology, colliders)? })
}
