//! Continuous collision detection over a step in which every vertex moves linearly.

use toile_geometry::Vec3;

use crate::advance::{Four, edge_edge_time, vertex_face_time};
use crate::distance::{point_triangle, segment_segment};
use crate::layers::{LEAF_BLOCK, LayerPair, Layers, Span, Spread};
use crate::touch::{check_length, check_positions, in_blocks};
use crate::{Contact, ContactError, ContactKey, LayerSettings};

/// Edges whose angle has a smaller sin² are parallel.
const PARALLEL: f64 = 1e-14;
/// Distances below this part of the size have no direction.
const ROUND_OFF: f64 = 1e-12;

/// What meets in an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImpactPair {
    /// Two parts of the cloth.
    Layers(LayerPair),
    /// A vertex and a collider.
    VertexCollider {
        /// The vertex.
        vertex: u32,
        /// Place of the collider in the scene.
        collider: u32,
    },
    /// The inside of an edge and an edge or axis of a collider.
    EdgeCollider {
        /// The edge.
        edge: u32,
        /// Place of the collider in the scene.
        collider: u32,
    },
    /// The inside of a face and a corner or middle of a collider.
    FaceCollider {
        /// The face.
        face: u32,
        /// Place of the collider in the scene.
        collider: u32,
    },
}

/// Two things about to meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Part of the step, 0 to 1, up to which they certainly stay apart.
    pub time: f64,
    /// What meets.
    pub pair: ImpactPair,
}

fn earlier(a: Option<Impact>, b: Impact) -> Option<Impact> {
    match a {
        Some(a) if (a.time, a.pair) <= (b.time, b.pair) => Some(a),
        _ => Some(b),
    }
}

/// The first of some impacts; of simultaneous ones the first pair.
pub fn first_impact(impacts: impl IntoIterator<Item = Impact>) -> Option<Impact> {
    impacts.into_iter().fold(None, earlier)
}

/// Part of the step that keeps everything apart: the time of the first impact, or 1.
pub fn safe_fraction(first: Option<Impact>) -> f64 {
    first.map_or(1.0, |impact| impact.time)
}

impl Layers {
    /// Impacts between layers while vertices go straight from `start` to `end`, sorted by pair.
    ///
    /// Up to its time a pair stays farther apart than `separation` \[m\], or, if it starts closer than
    /// twice that, than half its starting distance; no collision is missed. A pair that starts in
    /// contact (distance zero) has time 0. Pairs with a common vertex are not tested.
    pub fn impacts(
        &mut self,
        start: &[Vec3],
        end: &[Vec3],
        separation: f64,
    ) -> Result<Vec<Impact>, ContactError> {
        self.prepare(start, end, separation)?;
        let this = &*self;
        let spread = self.ways(start, end, separation);
        let mut impacts = in_blocks(self.leaf_count(), LEAF_BLOCK, |leaves, found| {
            for leaf in leaves {
                this.pairs(leaf, &spread, |pair| {
                    let time = this.time_of(pair, start, end, separation, 1.0);
                    found.extend(time.map(|time| Impact { time, pair: ImpactPair::Layers(pair) }));
                });
            }
        });
        impacts.sort_unstable_by_key(|impact| impact.pair);
        Ok(impacts)
    }

    /// An impact on the way from `start` to `end` as a contact: normal and weights are those of the moment before, the gap along that normal is
    /// that of the end. It keeps apart what a contact found at the end knows nothing of, because they are past each other by then. `None` for
    /// what touches from the start, which has no normal.
    pub fn meeting(
        &self,
        impact: &Impact,
        start: &[Vec3],
        end: &[Vec3],
        settings: &LayerSettings,
    ) -> Option<Contact> {
        let ImpactPair::Layers(pair) = impact.pair else { return None };
        let vertices = pair.vertices(&self.topology);
        let [from, to] = [start, end].map(|x| vertices.map(|v| x[v as usize]));
        let x = [0, 1, 2, 3].map(|k| from[k] + (to[k] - from[k]) * impact.time);
        let (key, weights) = match pair {
            LayerPair::VertexFace { vertex, face } => {
                let [a, b, c] = point_triangle(&x[0], &[x[1], x[2], x[3]]).weights;
                (ContactKey::VertexFace { vertex, face }, [1.0, -a, -b, -c])
            }
            LayerPair::EdgeEdge { first, second } => {
                let near = segment_segment(&[x[0], x[1]], &[x[2], x[3]], PARALLEL);
                let (s, t) = (near.s, near.t);
                (ContactKey::EdgeEdge { first, second }, [1.0 - s, s, t - 1.0, -t])
            }
        };
        let sum = |x: &[Vec3; 4]| (0..4).fold(Vec3::zeros(), |sum, k| sum + x[k] * weights[k]);
        let apart = sum(&x);
        let distance = apart.norm();
        let size = x.iter().map(|p| (p - x[0]).amax()).fold(0.0, f64::max);
        if distance <= ROUND_OFF * size {
            return None;
        }
        let normal = apart / distance;
        Some(Contact {
            key,
            vertices,
            weights,
            count: 4,
            normal,
            gap: normal.dot(&sum(&to)) - settings.thickness,
            velocity: Vec3::zeros(),
            friction: settings.friction,
        })
    }

    /// Pairs of layers that are nearer to each other than `separation` \[m\], sorted: those that [`impacts`](Self::impacts) cannot keep so
    /// far apart.
    pub fn pairs_within(
        &mut self,
        positions: &[Vec3],
        separation: f64,
    ) -> Result<Vec<LayerPair>, ContactError> {
        self.prepare(positions, positions, separation)?;
        let this = &*self;
        let spread = self.ways(positions, positions, separation);
        let near = |pair: &LayerPair| {
            let [a, b, c, d] = pair.vertices(&this.topology).map(|v| positions[v as usize]);
            let squared = match pair {
                LayerPair::VertexFace { .. } => point_triangle(&a, &[b, c, d]).distance_squared,
                LayerPair::EdgeEdge { .. } => {
                    segment_segment(&[a, b], &[c, d], 0.0).distance_squared
                }
            };
            squared <= separation * separation
        };
        let mut pairs = in_blocks(self.leaf_count(), LEAF_BLOCK, |leaves, found| {
            for leaf in leaves {
                this.pairs(leaf, &spread, |pair| found.extend(Some(pair).filter(near)));
            }
        });
        pairs.sort_unstable();
        Ok(pairs)
    }

    /// The first impact between layers; see [`impacts`](Self::impacts). Faster than all of them.
    pub fn earliest_impact(
        &mut self,
        start: &[Vec3],
        end: &[Vec3],
        separation: f64,
    ) -> Result<Option<Impact>, ContactError> {
        self.prepare(start, end, separation)?;
        let this = &*self;
        let spread = self.ways(start, end, separation);
        let firsts = in_blocks(self.leaf_count(), LEAF_BLOCK, |leaves, found| {
            let mut first = None;
            for leaf in leaves {
                this.pairs(leaf, &spread, |pair| {
                    // Later ones do not matter; equally early ones are decided by pair.
                    let until = safe_fraction(first);
                    if let Some(time) = this.time_of(pair, start, end, separation, until) {
                        first = earlier(first, Impact { time, pair: ImpactPair::Layers(pair) });
                    }
                });
            }
            found.extend(first);
        });
        Ok(first_impact(firsts))
    }

    fn prepare(
        &mut self,
        start: &[Vec3],
        end: &[Vec3],
        separation: f64,
    ) -> Result<(), ContactError> {
        check_positions(start, &self.topology)?;
        check_positions(end, &self.topology)?;
        check_length("the separation of layers [m]", separation)?;
        // Round-off of the boxes themselves is far below this.
        let grain = 1e-12 * start.iter().chain(end).map(Vec3::amax).fold(0.0, f64::max);
        self.refit(&[start, end], 0.5 * separation + grain);
        Ok(())
    }

    fn ways(&self, start: &[Vec3], end: &[Vec3], separation: f64) -> Vec<Spread> {
        self.spread(|v| Span::new(&start[v as usize], &end[v as usize], 0.5 * separation))
    }

    fn time_of(
        &self,
        pair: LayerPair,
        start: &[Vec3],
        end: &[Vec3],
        separation: f64,
        until: f64,
    ) -> Option<f64> {
        let vertices = pair.vertices(&self.topology);
        let split = if matches!(pair, LayerPair::VertexFace { .. }) { 1 } else { 2 };
        let at = |x: &[Vec3]| vertices.map(|v| x[v as usize]);
        let (x0, x1) = (at(start), at(end));
        let four = Four::new(x0, x1);
        if split == 1 {
            vertex_face_time(&four, separation, until)
        } else {
            edge_edge_time(&four, separation, until)
        }
    }
}
