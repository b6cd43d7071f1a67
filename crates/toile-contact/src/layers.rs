//! Which parts of the cloth may meet: one tree over its faces.

use toile_geometry::{Topology, Vec3};
use toile_num::parallel;

use crate::ContactError;
use crate::bounds::Bounds;
use crate::bvh::Bvh;
use crate::owner::owners;
use crate::touch::check_positions;

/// Faces per task where each takes little.
const FACES: usize = 1024;
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
        self.refit_by(states, |_| margin);
    }

    /// The same with a margin for each face.
    pub(crate) fn refit_by(&mut self, states: &[&[Vec3]], margin: impl Fn(&[u32; 3]) -> f64) {
        let Self { topology, bvh, .. } = self;
        let boxed = |f: u32| {
            let corners = topology.faces()[f as usize];
            let mut bounds = Bounds::EMPTY;
            for x in states {
                for v in corners {
                    bounds.include(&x[v as usize]);
                }
            }
            bounds.inflated(margin(&corners))
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

    /// Spans of all faces, for [`pairs`](Self::pairs): `span` tells where a vertex is.
    #[doc(hidden)]
    pub fn spread(&self, span: impl Fn(u32) -> Span + Sync) -> Vec<Spread> {
        let order = self.bvh.order();
        parallel::map(order.len(), FACES, |i| {
            Spread::new(self.topology.faces()[order[i] as usize], &span)
        })
    }

    /// Visits the vertex–face and edge–edge pairs of a leaf whose spans meet, each pair of the cloth once in all.
    #[doc(hidden)]
    pub fn pairs(&self, leaf: usize, spread: &[Spread], mut visit: impl FnMut(LayerPair)) {
        let (topology, order) = (&self.topology, self.bvh.order());
        self.bvh.places_of_leaf(leaf, |i, j| {
            let (f, g) = (order[i], order[j]);
            let (mine, yours) = (&spread[i], &spread[j]);
            let (my, your) = (self.owners[f as usize], self.owners[g as usize]);
            for (bits, own, other, face) in [(my, mine, g, yours), (your, yours, f, mine)] {
                for m in (0..3).filter(|m| bits & (1 << m) != 0) {
                    let v = own.corners[m];
                    if own.vertices[m].meets(&face.whole)
                        && !face.corners.contains(&v)
                        && !topology.are_sewn(&[v], &face.corners)
                    {
                        visit(LayerPair::VertexFace { vertex: v, face: other });
                    }
                }
            }
            for m in (0..3).filter(|m| my & (8 << m) != 0) {
                let edge = mine.edge(m);
                if !edge.meets(&yours.whole) {
                    continue;
                }
                let [a, b] = mine.ends(m);
                for k in (0..3).filter(|k| your & (8 << k) != 0) {
                    let [c, d] = yours.ends(k);
                    if a != c
                        && a != d
                        && b != c
                        && b != d
                        && edge.meets(&yours.edge(k))
                        && !topology.are_sewn(&[a, b], &[c, d])
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

/// Where something is: a box, and how far around it others count.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Span {
    low: Vec3,
    high: Vec3,
    margin: f64,
}

impl Span {
    /// A point that goes from one place to another.
    pub fn new(from: &Vec3, to: &Vec3, margin: f64) -> Self {
        Self { low: from.inf(to), high: from.sup(to), margin }
    }

    #[inline]
    fn join(&self, other: &Self) -> Self {
        Self {
            low: self.low.inf(&other.low),
            high: self.high.sup(&other.high),
            margin: self.margin.max(other.margin),
        }
    }

    #[inline]
    fn meets(&self, other: &Self) -> bool {
        let apart = (self.low - other.high).sup(&(other.low - self.high));
        apart.x.max(apart.y).max(apart.z) <= self.margin + other.margin
    }
}

/// The spans of a face's vertices and of the whole.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    corners: [u32; 3],
    vertices: [Span; 3],
    whole: Span,
}

impl Spread {
    fn new(corners: [u32; 3], span: impl Fn(u32) -> Span) -> Self {
        let vertices = [span(corners[0]), span(corners[1]), span(corners[2])];
        Self { corners, whole: vertices[0].join(&vertices[1]).join(&vertices[2]), vertices }
    }

    /// The ends of the edge opposite to a corner.
    fn ends(&self, m: usize) -> [u32; 2] {
        [self.corners[(m + 1) % 3], self.corners[(m + 2) % 3]]
    }

    fn edge(&self, m: usize) -> Span {
        self.vertices[(m + 1) % 3].join(&self.vertices[(m + 2) % 3])
    }
}

fn face_boxes(topology: &Topology, positions: &[Vec3]) -> Vec<Bounds> {
    let corners = |face: &[u32; 3]| face.map(|v| positions[v as usize]);
    topology.faces().iter().map(|face| Bounds::around(&corners(face))).collect()
}
