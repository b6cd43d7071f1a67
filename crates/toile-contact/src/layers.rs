//! Which parts of the cloth may meet: one tree over its faces.

use toile_geometry::{Topology, Vec3};

use crate::ContactError;
use crate::bounds::Bounds;
use crate::bvh::Bvh;
use crate::owner::owners;
use crate::touch::check_positions;

/// Leaves per task.
pub(crate) const LEAF_BLOCK: usize = 32;

/// A vertex and a face, or two edges, that share no vertex and are not sewn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerPair {
    /// A vertex and a face.
    VertexFace {
        /// The vertex.
        vertex: u32,
        /// The face.
        face: u32,
    },
    /// Two edges.
    EdgeEdge {
        /// The edge with the smaller number.
        first: u32,
        /// The other edge.
        second: u32,
    },
}

impl LayerPair {
    /// The vertex and the corners of the face, or the ends of the two edges.
    pub fn vertices(&self, topology: &Topology) -> [u32; 4] {
        match *self {
            Self::VertexFace { vertex, face } => {
                let [a, b, c] = topology.faces()[face as usize];
                [vertex, a, b, c]
            }
            Self::EdgeEdge { first, second } => {
                let [a, b] = topology.edges()[first as usize].vertices;
                let [c, d] = topology.edges()[second as usize].vertices;
                [a, b, c, d]
            }
        }
    }
}

/// The cloth against itself: all layers of one topology, with a tree of boxes that is refitted at
/// every query and rebuilt when it is worn.
///
/// Vertices without faces take no part. Answers depend on the positions given, not on earlier
/// queries: the tree only changes how fast they are found.
#[derive(Clone, Debug)]
pub struct Layers {
    pub(crate) topology: Topology,
    owners: Vec<u8>,
    bvh: Bvh,
    /// Piece of each face, with rest positions, for [`with_rest_positions`](Self::with_rest_positions).
    pub(crate) rest: Option<(Vec<u32>, Vec<Vec3>)>,
}

impl Layers {
    /// Prepares queries for a cloth.
    pub fn new(topology: &Topology, positions: &[Vec3]) -> Result<Self, ContactError> {
        check_positions(positions, topology)?;
        let bvh = Bvh::new(&face_boxes(topology, positions));
        Ok(Self { topology: topology.clone(), owners: owners(topology), bvh, rest: None })
    }

    /// Leaves out pairs of one piece that are closer than the distance to be kept at rest, too.
    ///
    /// Needed where the mesh is finer than the cloth is thick. Rest positions of different pieces
    /// are not compared: patterns may lie on top of each other.
    pub fn with_rest_positions(self, rest: &[Vec3]) -> Result<Self, ContactError> {
        check_positions(rest, &self.topology)?;
        let pieces = self.topology.components().of_face;
        Ok(Self { rest: Some((pieces, rest.to_vec())), ..self })
    }

    /// The connectivity of the cloth.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Fits the tree to faces that stretch over all given positions, inflated by `margin`.
    #[doc(hidden)] // public for the test of all three
    pub fn refit(&mut self, states: &[&[Vec3]], margin: f64) {
        let Self { topology, bvh, .. } = self;
        let boxed = |f: u32| {
            let corners = topology.faces()[f as usize];
            let mut bounds = Bounds::EMPTY;
            for x in states {
                for v in corners {
                    bounds.include(&x[v as usize]);
                }
            }
            bounds.inflated(margin)
        };
        bvh.refit(boxed);
        if bvh.is_worn() {
            let boxes: Vec<Bounds> = (0..topology.face_count() as u32).map(boxed).collect();
            *bvh = Bvh::new(&boxes);
        }
    }

    #[doc(hidden)]
    pub fn leaf_count(&self) -> usize {
        self.bvh.leaf_count()
    }

    /// Visits edges and faces without common vertex or seam whose boxes overlap, each pair once in all.
    pub(crate) fn edge_face_pairs(&self, leaf: usize, mut visit: impl FnMut(u32, u32)) {
        let topology = &self.topology;
        self.bvh.pairs_of_leaf(leaf, |f, g| {
            for (own, other) in [(f, g), (g, f)] {
                let corners = topology.faces()[own as usize];
                let others = topology.faces()[other as usize];
                for m in (0..3).filter(|m| self.owners[own as usize] & (8 << m) != 0) {
                    let ends = [corners[(m + 1) % 3], corners[(m + 2) % 3]];
                    let apart = !others.contains(&ends[0]) && !others.contains(&ends[1]);
                    if apart && !topology.are_sewn(&ends, &others) {
                        visit(topology.face_edges()[own as usize][m], other);
                    }
                }
            }
        });
    }

    /// Visits the vertex–face and edge–edge pairs of a leaf, each pair of the cloth once in all.
    ///
    /// `keep` sees the four vertices first, and how many of them belong to the first thing: most
    /// pairs can be dropped there, before edges are looked up.
    #[doc(hidden)]
    pub fn pairs(
        &self,
        leaf: usize,
        keep: impl Fn(&[u32; 4], usize) -> bool,
        mut visit: impl FnMut(LayerPair),
    ) {
        let topology = &self.topology;
        self.bvh.pairs_of_leaf(leaf, |f, g| {
            let (mine, yours) = (topology.faces()[f as usize], topology.faces()[g as usize]);
            let (my, your) = (self.owners[f as usize], self.owners[g as usize]);
            for (bits, own, other, corners) in [(my, mine, g, yours), (your, yours, f, mine)] {
                for m in (0..3).filter(|m| bits & (1 << m) != 0) {
                    if !corners.contains(&own[m])
                        && !topology.are_sewn(&[own[m]], &corners)
                        && keep(&[own[m], corners[0], corners[1], corners[2]], 1)
                    {
                        visit(LayerPair::VertexFace { vertex: own[m], face: other });
                    }
                }
            }
            for m in (0..3).filter(|m| my & (8 << m) != 0) {
                let (a, b) = (mine[(m + 1) % 3], mine[(m + 2) % 3]);
                for k in (0..3).filter(|k| your & (8 << k) != 0) {
                    let (c, d) = (yours[(k + 1) % 3], yours[(k + 2) % 3]);
                    if a != c
                        && a != d
                        && b != c
                        && b != d
                        && !topology.are_sewn(&[a, b], &[c, d])
                        && keep(&[a, b, c, d], 2)
                    {
                        let e = topology.face_edges()[f as usize][m];
                        let h = topology.face_edges()[g as usize][k];
                        visit(LayerPair::EdgeEdge { first: e.min(h), second: e.max(h) });
                    }
                }
            }
        });
    }
}

fn face_boxes(topology: &Topology, positions: &[Vec3]) -> Vec<Bounds> {
    let corners = |face: &[u32; 3]| face.map(|v| positions[v as usize]);
    topology.faces().iter().map(|face| Bounds::around(&corners(face))).collect()
}
