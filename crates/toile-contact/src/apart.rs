//! Layers that were drawn through each other, and parting them.
//!
//! Nothing tells for certain on which side of each other two layers belong. Where they lie on each other and cross in a few places, most of
//! their vertices do: neighbours are asked together, and where they do not agree nothing is moved.

use std::collections::{HashMap, HashSet};

use toile_geometry::{Topology, Vec3};

use crate::distance::{blend, point_triangle, segments_crossing};
use crate::layers::{LayerPair, Layers};
use crate::side::face_normal;
use crate::{ContactError, Intrusion, Penetration, PlacedCollider};

/// What parting layers has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parted {
    /// What crossed.
    pub found: Vec<Penetration>,
    /// Vertices that were moved.
    pub moved: usize,
    /// The longest way one of them was moved \[m\].
    pub longest: f64,
    /// What still crosses.
    pub left: Vec<Penetration>,
}

impl Parted {
    /// The deepest of what crossed \[m\].
    pub fn deepest(&self) -> f64 {
        self.found.iter().map(|p| p.depth).fold(0.0, f64::max)
    }
}

/// Part of the neighbours that must agree on the side where they belong.
const AGREED: f64 = 0.7;
/// Cosine between the normal of a layer and the way to what lies on it, at least.
const ABOVE: f64 = 0.5;
/// The same for edges over edges, in turns: edges beside each other are not over each other, but where none counts crossings are left.
const UPRIGHT: [f64; 2] = [0.9, 0.7];
/// Times that pairs are looked for, rounds in between, and what is left of a distance that counts as none.
const LOOKS: usize = 6;
const ROUNDS: usize = 200;
const DONE: f64 = 1e-3;
/// How far pairs are looked for, in units of the longest move: both layers move. And how many are too many to look farther.
const FARTHEST: f64 = 3.0;
const MANY: usize = 3_000_000;
/// How much farther than the nearest face of a layer others count.
const NEAREST: f64 = 1.5;
/// Sine² below which edges are parallel.
const PARALLEL: f64 = 1e-4;

/// Parts layers of a cloth that pass through each other by moving vertices for which `movable` holds, until they are `distance` \[m\] apart
/// there; into no collider, and none by more than `most` \[m\]. Where that does not part all, what is best so far is kept.
///
/// Layers that cross nowhere are not touched, however near they are; nor are those of which it cannot be told on which side of each other they belong.
pub fn part_layers(
    positions: &mut [Vec3],
    topology: &Topology,
    colliders: &[PlacedCollider<'_>],
    distance: f64,
    most: f64,
    movable: impl Fn(usize) -> bool,
) -> Result<Parted, ContactError> {
    let mut layers = Layers::new(topology, positions)?;
    let found = layers.crossings(positions)?;
    if found.is_empty() {
        return Ok(Parted::default());
    }
    let original = positions.to_vec();
    let mut trial = positions.to_vec();
    let mut left = found.clone();
    // Near what still crosses there may be nothing that tells its side: later looks go as far as earlier ones.
    let mut before = 0.0;
    for look in 0..LOOKS {
        let now = layers.crossings(&trial)?;
        if now.is_empty() {
            break;
        }
        let deepest = now.iter().map(|p| p.depth).fold(0.0, f64::max);
        let crossed = crossed(topology, &now);
        let mut reach = (2.0 * deepest + 2.0 * distance).max(before).min(FARTHEST * most);
        let sides = loop {
            let pairs = layers.pairs_within(&trial, reach)?;
            let sides = Sides::find(topology, &trial, &pairs, &crossed, distance);
            // Vertices that are through as far as was looked may be through farther.
            if 2.0 * sides.through < reach || reach >= FARTHEST * most || pairs.len() > MANY {
                break sides;
            }
            reach = (2.0 * reach).min(FARTHEST * most);
        };
        if sides.touches.is_empty() {
            break;
        }
        before = reach;
        sides.part(topology, &mut trial, colliders, distance, UPRIGHT[look % 2], &movable);
        let mut ways = trial.iter().zip(&original).map(|(x, y)| (x - y).norm());
        if ways.any(|way| way > most || way.is_nan()) {
            break;
        }
        let after = layers.crossings(&trial)?;
        if after.len() < left.len() {
            positions.copy_from_slice(&trial);
            left = after;
        }
    }
    let ways = positions.iter().zip(&original).map(|(x, y)| (x - y).norm());
    let (mut moved, mut longest) = (0, 0.0f64);
    for way in ways.filter(|way| *way > 0.0) {
        moved += 1;
        longest = longest.max(way);
    }
    Ok(Parted { found, moved, longest, left })
}

/// Vertices of one thing and of the other that cross.
fn crossed(topology: &Topology, crossings: &[Penetration]) -> HashSet<[u32; 2]> {
    let mut pairs = HashSet::new();
    for crossing in crossings {
        let (own, face) = match crossing.what {
            Intrusion::EdgeThroughFace { edge, face } => {
                (topology.edges()[edge as usize].vertices, face)
            }
            Intrusion::VertexOnFace { vertex, face } => ([vertex; 2], face),
            _ => continue,
        };
        for v in own {
            pairs.extend(topology.faces()[face as usize].iter().flat_map(|&w| [[v, w], [w, v]]));
        }
    }
    pairs
}

/// Pairs near each other and the way out of the second for the first.
struct Sides {
    touches: Vec<(LayerPair, Vec3)>,
    /// How far a vertex is on the wrong side at most \[m\].
    through: f64,
}

/// A vertex over a face of another layer.
struct Over {
    vertex: u32,
    face: u32,
    normal: Vec3,
    place: Vec3,
    height: f64,
    away: f64,
    /// Whether it is over the face and not beyond a border, or level with it.
    sided: bool,
}

impl Sides {
    /// Of pairs whose patch crosses somewhere.
    fn find(
        topology: &Topology,
        x: &[Vec3],
        pairs: &[LayerPair],
        crossed: &HashSet<[u32; 2]>,
        distance: f64,
    ) -> Self {
        let mut over: Vec<Over> = pairs.iter().filter_map(|p| Over::new(topology, x, p)).collect();
        over.sort_unstable_by_key(|o| (o.vertex, o.face));
        let over = nearest(over, distance);
        let patches = patches(topology, x, &over);
        let mut votes: HashMap<usize, [usize; 2]> = HashMap::new();
        let mut concerned = HashSet::new();
        for (o, patch) in over.iter().zip(&patches) {
            let corners = topology.faces()[o.face as usize];
            if corners.iter().any(|w| crossed.contains(&[o.vertex, *w])) {
                // What crosses is on both sides and has no vote.
                concerned.insert(*patch);
            } else {
                votes.entry(*patch).or_default()[usize::from(o.height > 0.0)] += 1;
            }
        }
        let mut touches = Vec::new();
        let mut through = 0.0f64;
        let mut ways: HashMap<u32, Vec<(u32, Vec3)>> = HashMap::new();
        for (o, patch) in over.iter().zip(&patches) {
            let [below, above] = votes.get(patch).copied().unwrap_or_default();
            if !concerned.contains(patch)
                || below + above == 0
                || (below.max(above) as f64) < AGREED * (below + above) as f64
            {
                continue;
            }
            let side = if above >= below { 1.0 } else { -1.0 };
            let way = o.normal * side;
            through = through.max(-o.height * side);
            let pair = LayerPair::VertexFace { vertex: o.vertex, face: o.face };
            touches.push((pair, way));
            ways.entry(o.vertex).or_default().push((o.face, way));
        }
        // Two edges are on the side on which their ends are.
        for pair in pairs {
            let LayerPair::EdgeEdge { first, second } = *pair else { continue };
            let way =
                way_of(topology, &ways, first, second) - way_of(topology, &ways, second, first);
            if way.norm() > 0.0 {
                touches.push((*pair, way.normalize()));
            }
        }
        Self { touches, through }
    }

    fn part(
        &self,
        topology: &Topology,
        x: &mut [Vec3],
        colliders: &[PlacedCollider<'_>],
        distance: f64,
        upright: f64,
        movable: &impl Fn(usize) -> bool,
    ) {
        let mut involved: Vec<u32> =
            self.touches.iter().flat_map(|(pair, _)| pair.vertices(topology)).collect();
        involved.sort_unstable();
        involved.dedup();
        involved.retain(|v| movable(*v as usize));
        for _ in 0..ROUNDS {
            let mut worst = 0.0f64;
            for (pair, way) in &self.touches {
                let vertices = pair.vertices(topology);
                let Some((normal, weights)) = meeting(pair, x, &vertices, way, upright) else {
                    continue;
                };
                let carriers = || vertices.iter().map(|v| *v as usize).zip(weights);
                let gap: f64 =
                    carriers().map(|(v, w)| w * normal.dot(&x[v])).sum::<f64>() - distance;
                let squares: f64 =
                    carriers().filter(|(v, _)| movable(*v)).map(|(_, w)| w * w).sum();
                if gap < 0.0 && squares > 1e-6 {
                    worst = worst.max(-gap);
                    for (v, w) in carriers().filter(|(v, _)| movable(*v)) {
                        x[v] -= normal * (gap * w / squares);
                    }
                }
            }
            for &v in &involved {
                let p = &mut x[v as usize];
                for collider in colliders {
                    let near = collider.query(p);
                    let gap = near.distance - collider.gap();
                    if gap < 0.0 {
                        *p -= near.normal * gap;
                    }
                }
            }
            if worst <= DONE * distance {
                break;
            }
        }
    }
}

/// Normal along which a pair is apart, to the side of `way`, and the weights of its vertices, if its places lie above each other.
fn meeting(
    pair: &LayerPair,
    x: &[Vec3],
    v: &[u32; 4],
    way: &Vec3,
    upright: f64,
) -> Option<(Vec3, [f64; 4])> {
    let at = v.map(|v| x[v as usize]);
    let (normal, weights) = match pair {
        LayerPair::VertexFace { .. } => {
            let [p, a, b, c] = at;
            let n = (b - a).cross(&(c - a));
            let square = n.norm_squared();
            if square == 0.0 {
                return None;
            }
            let d = p - a;
            let t = d.cross(&(c - a)).dot(&n) / square;
            let u = (b - a).cross(&d).dot(&n) / square;
            if t < 0.0 || u < 0.0 || t + u > 1.0 {
                return None;
            }
            (n / square.sqrt(), [1.0, t + u - 1.0, -t, -u])
        }
        LayerPair::EdgeEdge { .. } => {
            let [a, b, c, d] = at;
            let near = segments_crossing(&[a, b], &[c, d], PARALLEL)?;
            let n = (b - a).cross(&(d - c)).normalize();
            (n, [1.0 - near.s, near.s, near.t - 1.0, -near.t])
        }
    };
    let along = normal.dot(way);
    let least = if matches!(pair, LayerPair::EdgeEdge { .. }) { upright } else { ABOVE };
    (along.abs() >= least).then(|| (normal * along.signum(), weights))
}

/// Where the ends of an edge belong as seen from the faces around another one: the sum of the ways out of these.
fn way_of(
    topology: &Topology,
    ways: &HashMap<u32, Vec<(u32, Vec3)>>,
    edge: u32,
    from: u32,
) -> Vec3 {
    let ends = topology.edges()[from as usize].vertices;
    let around = |face: u32| ends.iter().any(|v| topology.faces()[face as usize].contains(v));
    topology.edges()[edge as usize]
        .vertices
        .iter()
        .filter_map(|v| ways.get(v))
        .flatten()
        .filter(|(face, _)| around(*face))
        .fold(Vec3::zeros(), |sum, (_, way)| sum + way)
}

impl Over {
    fn new(topology: &Topology, x: &[Vec3], pair: &LayerPair) -> Option<Self> {
        let LayerPair::VertexFace { vertex, face } = *pair else { return None };
        let corners = topology.faces()[face as usize];
        let at = corners.map(|v| x[v as usize]);
        let p = x[vertex as usize];
        let near = point_triangle(&p, &at);
        let place = blend(&at, &near.weights);
        // Beyond the border of a layer there is no side.
        let edges = topology.face_edges()[face as usize];
        let beyond = (0..3).any(|m| {
            near.weights[m] <= 0.0 && topology.edges()[edges[m] as usize].faces.contains(&None)
        });
        let normal = face_normal(topology, x, face);
        let height = normal.dot(&(p - place));
        let away = (p - place).norm();
        let sided = !beyond && height.abs() >= ABOVE * away;
        (normal != Vec3::zeros()).then_some(Self {
            vertex,
            face,
            normal,
            place,
            height,
            away,
            sided,
        })
    }
}

/// Of the faces of a layer that a vertex is near to, the nearest count, and none where these have no side; the others may be the far slope of a fold.
fn nearest(over: Vec<Over>, distance: f64) -> Vec<Over> {
    let counts = |group: &[Over], o: &Over| {
        let same = group.iter().filter(|p| p.normal.dot(&o.normal) > ABOVE);
        let Some(first) = same.min_by(|p, q| p.away.total_cmp(&q.away)) else { return false };
        first.sided && o.sided && o.away <= NEAREST * first.away + distance
    };
    let groups = over.chunk_by(|a, b| a.vertex == b.vertex);
    let kept: Vec<bool> = groups.flat_map(|g| g.iter().map(move |o| counts(g, o))).collect();
    over.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(o, _)| o).collect()
}

/// Numbers of the patches to which vertices over faces belong: neighbours over neighbouring places of one layer are of one patch.
fn patches(topology: &Topology, x: &[Vec3], over: &[Over]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..over.len()).collect();
    let start = |v: u32| over.partition_point(|o| o.vertex < v);
    let of = |v: u32| start(v)..start(v + 1);
    let mut join = |i: usize, j: usize| {
        let mut root = |mut k: usize| {
            while parent[k] != k {
                parent[k] = parent[parent[k]];
                k = parent[k];
            }
            k
        };
        let (a, b) = (root(i), root(j));
        parent[a.max(b)] = a.min(b);
    };
    let alike = |i: usize, j: usize, length: f64| {
        let (a, b) = (&over[i], &over[j]);
        a.normal.dot(&b.normal) > ABOVE && (a.place - b.place).norm() <= 2.0 * length
    };
    for edge in topology.edges() {
        let [v, w] = edge.vertices;
        let length = (x[v as usize] - x[w as usize]).norm();
        for i in of(v) {
            for j in of(w).filter(|j| alike(i, *j, length)) {
                join(i, j);
            }
            for j in of(v).filter(|j| i < *j && alike(i, *j, length)) {
                join(i, j);
            }
        }
    }
    for i in 0..over.len() {
        let mut k = i;
        while parent[k] != k {
            k = parent[k];
        }
        parent[i] = k;
    }
    parent
}
