//! Seams: panels sewn together by stitches.
//!
//! A stitch joins a vertex to a point of an edge, so the two sides of a seam need not have the same vertices, three
//! layers may meet in a pleat, and each panel keeps a rest shape of its own: positions meet at a seam, rest positions need
//! not. In a model every stitch is a thread of no length ([`toile_energy::Thread`]), a thousand times stiffer than the cloth. Across a seam cloth bends as
//! if it were one piece ([`toile_energy::SeamBend`]): threads alone would let the panels turn about it freely.

use std::collections::{BTreeMap, BTreeSet};

use toile_energy::{DartBend, SeamBend, Thread};
use toile_geometry::{Topology, Vec3, size};

use crate::{Shell, ShellMaterial};

/// Vertex `vertex` is sewn to the point (1 − w) a + w b of the edge from a to b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stitch {
    /// The sewn vertex.
    pub vertex: u32,
    /// The ends a and b of the edge.
    pub edge: [u32; 2],
    /// w in 0..=1.
    pub weight: f64,
}

/// Stiffness of a thread over that of the cloth it joins. A seam under the pull of a garment then opens by less than a micron,
/// which is below what a target is matched to, and well above what equations can bear.
const THREAD: f64 = 1e3;

impl Stitch {
    /// The vertices and their weights in the opening, which sum to zero.
    pub fn carriers(&self) -> [(u32, f64); 3] {
        let [a, b] = self.edge;
        [(self.vertex, 1.0), (a, self.weight - 1.0), (b, -self.weight)]
    }

    /// The pairs of vertices it makes neighbours.
    pub fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let [_, a, b] = self.carriers();
        [a, b].into_iter().filter(|(_, w)| *w != 0.0).map(move |(e, _)| [self.vertex, e])
    }

    /// How far it is open \[m\].
    pub fn opening(&self, positions: &[Vec3]) -> Vec3 {
        self.carriers().iter().fold(Vec3::zeros(), |d, (v, w)| d + positions[*v as usize] * *w)
    }

    pub(crate) fn thread(&self, stiffness: f64) -> Thread {
        Thread { weight: self.weight, stiffness }
    }
}

/// Stiffness of the threads that sew a cloth of such a material with edges of such a length \[N/m\].
pub(crate) fn thread_stiffness(material: &ShellMaterial, edge: f64) -> f64 {
    THREAD
        * match material {
            ShellMaterial::Koiter { stiffness, .. }
            | ShellMaterial::HingedMembrane { stiffness, .. } => {
                stiffness.membrane.iter().copied().fold(0.0, f64::max)
            }
            ShellMaterial::DiscreteShells { k_length, .. } => k_length / edge,
        }
}

/// Bending stiffness of the hinges across a seam of such a material, as that of [`toile_energy::HingeBend`] \[N·m\]. Three of it are a plate
/// modulus (see the page of [`toile_energy`]); of unlike ones along warp and weft the mean counts.
pub(crate) fn seam_stiffness(material: &ShellMaterial) -> f64 {
    match material {
        ShellMaterial::Koiter { stiffness, .. } => {
            let [along_warp, _, along_weft, _] = stiffness.bending;
            (along_warp + along_weft) / 6.0
        }
        ShellMaterial::DiscreteShells { k_bend, .. }
        | ShellMaterial::HingedMembrane { k_bend, .. } => *k_bend,
    }
}

/// Part of a border edge sewn to part of another: where cloth bends across a seam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SewnEdges {
    /// The faces at the two edges, apex first: (c, p, q) and (d, a, b).
    pub faces: [[u32; 3]; 2],
    /// Part of the edge p–q.
    pub part: f64,
    /// Middle of that part: (1 − s) p + s q meets (1 − u) a + u b.
    pub middle: [f64; 2],
}

/// Border edges passed at most on one side of a seam from one stitch to the next.
const LONGEST_WALK: usize = 32;

/// The pairs of border edges that stitches join, each once.
///
/// An edge both of whose ends are sewn is sewn to what lies between their stitches on the other border; where that is several edges, each has its share by
/// their number, not by their length, so that the pairs follow from the mesh alone. Stitches to the inside of a panel join no edges.
pub fn sewn_edges(topology: &Topology, seams: &[Stitch]) -> Vec<SewnEdges> {
    let border = Border::new(topology);
    // Where each vertex is sewn to; between two vertices a stitch has no direction.
    let mut sewn: BTreeMap<u32, Vec<([u32; 2], f64)>> = BTreeMap::new();
    for s in seams {
        let (edge, weight) = match s.weight {
            w if w <= 0.0 => ([s.edge[0]; 2], 0.0),
            w if w >= 1.0 => ([s.edge[1]; 2], 0.0),
            w => (s.edge, w),
        };
        sewn.entry(s.vertex).or_default().push((edge, weight));
        if weight == 0.0 {
            sewn.entry(edge[0]).or_default().push(([s.vertex; 2], 0.0));
        }
    }
    for tip in border.tips(&sewn) {
        sewn.insert(tip, vec![([tip; 2], 0.0)]);
    }
    let mut found = Vec::new();
    let mut joined = BTreeSet::new();
    for (e, &(ends, apex)) in border.edges.iter().enumerate() {
        let [Some(from), Some(to)] = ends.map(|v| sewn.get(&v)) else { continue };
        let ways = from.iter().flat_map(|p| to.iter().map(move |q| (p, q)));
        let walks = ways.filter_map(|(p, q)| border.walk(e, *p, *q));
        let Some(walk) = walks.min_by(|a, b| length(a).total_cmp(&length(b))) else { continue };
        let whole = length(&walk);
        let mut gone = 0.0;
        for (other, [start, end]) in walk {
            let part = (end - start).abs() / whole;
            let key = [e.min(other), e.max(other)];
            let ([a, b], d) = border.edges[other];
            // At the tip of a dart the two edges have an end in common; nothing else may be the same.
            let common = [a, b].iter().filter(|v| ends.contains(v)).count();
            let apart = common < 2 && ![a, b, d].contains(&apex) && !ends.contains(&d);
            // Both sides may have stitches that say the same.
            if part > 0.0 && apart && joined.insert(key) {
                found.push(SewnEdges {
                    faces: [[apex, ends[0], ends[1]], [d, a, b]],
                    part,
                    middle: [gone + 0.5 * part, 0.5 * (start + end)],
                });
            }
            gone += part;
        }
    }
    found
}

/// Edges on a border, each from and to a place between 0 and 1.
type Walk = Vec<(usize, [f64; 2])>;

/// Edges that are passed, parts counted as such.
fn length(walk: &Walk) -> f64 {
    walk.iter().map(|(_, [start, end])| (end - start).abs()).sum()
}

/// The border of a surface: its edges with the vertex across, and the edges at each vertex.
struct Border {
    edges: Vec<([u32; 2], u32)>,
    at: BTreeMap<u32, Vec<usize>>,
}

impl Border {
    fn new(topology: &Topology) -> Self {
        let mut edges = Vec::new();
        let mut at: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for edge in topology.edges() {
            if let ([Some(_), None], [Some(apex), _]) = (edge.faces, edge.opposite) {
                edge.vertices.iter().for_each(|v| at.entry(*v).or_default().push(edges.len()));
                edges.push((edge.vertices, apex));
            }
        }
        Self { edges, at }
    }

    /// Tips of darts: vertices that are not sewn, between two edges of the border whose other ends are sewn to each other.
    fn tips(&self, sewn: &BTreeMap<u32, Vec<([u32; 2], f64)>>) -> Vec<u32> {
        let tip = |(v, edges): (&u32, &Vec<usize>)| {
            let [e, f] = edges[..] else { return None };
            let [p, q] = [e, f].map(|e| {
                let [a, b] = self.edges[e].0;
                if a == *v { b } else { a }
            });
            let meets = |p: u32, q: u32| {
                sewn.get(&p).into_iter().flatten().any(|(edge, _)| edge.contains(&q))
            };
            (!sewn.contains_key(v) && (meets(p, q) || meets(q, p))).then_some(*v)
        };
        self.at.iter().filter_map(tip).collect()
    }

    /// Where a stitch ends: edges of the border and the place on them.
    fn places(&self, (edge, weight): ([u32; 2], f64)) -> Vec<(usize, f64)> {
        let near = self.at.get(&edge[0]).into_iter().flatten();
        let place = |&e: &usize| {
            let [a, b] = self.edges[e].0;
            match edge {
                [v, w] if v == w => Some((e, if v == a { 0.0 } else { 1.0 })),
                [v, w] if [v, w] == [a, b] => Some((e, weight)),
                [v, w] if [w, v] == [a, b] => Some((e, 1.0 - weight)),
                _ => None,
            }
        };
        near.filter_map(place).collect()
    }

    /// The shortest way along the border from one stitch to another, which does not pass `own`.
    fn walk(&self, own: usize, from: ([u32; 2], f64), to: ([u32; 2], f64)) -> Option<Walk> {
        let (starts, ends) = (self.places(from), self.places(to));
        let mut best: Option<Walk> = None;
        for &(first, start) in starts.iter().filter(|(e, _)| *e != own) {
            for goal in [0.0, 1.0] {
                let mut walk = Walk::new();
                let (mut edge, mut place, mut ahead) = (first, start, goal);
                for _ in 0..LONGEST_WALK {
                    let stop = ends.iter().find(|(e, p)| {
                        *e == edge && if ahead > 0.5 { *p > place } else { *p < place }
                    });
                    if let Some(&(_, stop)) = stop {
                        walk.push((edge, [place, stop]));
                        if best.as_ref().is_none_or(|b| length(&walk) < length(b)) {
                            best = Some(walk);
                        }
                        break;
                    }
                    walk.push((edge, [place, ahead]));
                    let corner = self.edges[edge].0[if ahead > 0.5 { 1 } else { 0 }];
                    let next = self.at[&corner].iter().find(|e| **e != edge);
                    let Some(&next) = next.filter(|e| **e != own) else { break };
                    (place, ahead) =
                        if self.edges[next].0[0] == corner { (0.0, 1.0) } else { (1.0, 0.0) };
                    edge = next;
                }
            }
        }
        best
    }
}

/// Openings of seams in the rest shape, root of the mean of squares as a part of its size, beyond which panels are not laid out as they are sewn.
const LAID_APART: f64 = 0.05;

/// Hinges across seams with their nodes.
pub(crate) struct SeamHinges {
    /// Between two edges; nodes (c, p, q, d, a, b).
    pub(crate) seams: (Vec<SeamBend>, Vec<[u32; 6]>),
    /// At tips of darts; nodes (c, t, p, d, a).
    pub(crate) tips: (Vec<DartBend>, Vec<[u32; 5]>),
}

/// The hinges across the seams of a shell.
///
/// Where the rest shape has the panels about where they meet, it says at which angle; panels of a pattern that lie apart are sewn flat.
pub(crate) fn seam_hinges(shell: &Shell) -> SeamHinges {
    let rest = &shell.rest_positions;
    let squares: f64 = shell.seams.iter().map(|s| s.opening(rest).norm_squared()).sum();
    let mean = (squares / shell.seams.len().max(1) as f64).sqrt();
    let pressed_open = mean > LAID_APART * size(rest);
    let stiffness = seam_stiffness(&shell.material);
    let mut hinges = SeamHinges { seams: (vec![], vec![]), tips: (vec![], vec![]) };
    for s in sewn_edges(&shell.topology, &shell.seams) {
        let seam = SeamBend { stiffness, part: s.part, middle: s.middle, pressed_open };
        let [[c, p, q], [d, a, b]] = s.faces;
        let Some(t) = [p, q].into_iter().find(|v| [a, b].contains(v)) else {
            hinges.seams.0.push(seam);
            hinges.seams.1.push([c, p, q, d, a, b]);
            continue;
        };
        let end = |[first, second]: [u32; 2]| if first == t { (0, second) } else { (1, first) };
        let ((in_first, p), (in_second, a)) = (end([p, q]), end([a, b]));
        hinges.tips.0.push(DartBend { seam, tip: [in_first, in_second] });
        hinges.tips.1.push([c, t, p, d, a]);
    }
    hinges
}

/// The stitches of shells whose vertices are numbered one shell after the other.
pub fn joined_seams<'a>(shells: impl IntoIterator<Item = &'a Shell>) -> Vec<Stitch> {
    let (mut all, mut base) = (Vec::new(), 0);
    for shell in shells {
        all.extend(shell.seams.iter().map(|s| Stitch {
            vertex: base + s.vertex,
            edge: s.edge.map(|v| base + v),
            weight: s.weight,
        }));
        base += shell.positions.len() as u32;
    }
    all
}

/// Vertices that a stitch ties to others that are free: what the others do, they do.
///
/// Of each cycle of stitches one vertex stays out.
pub fn tied_vertices(count: usize, seams: &[Stitch]) -> Vec<bool> {
    let mut on: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut seen = vec![usize::MAX; count];
    for (s, stitch) in seams.iter().enumerate() {
        let v = stitch.vertex as usize;
        if !on[v].is_empty() {
            continue;
        }
        let ends: Vec<u32> =
            stitch.carriers()[1..].iter().filter(|(_, w)| *w != 0.0).map(|(e, _)| *e).collect();
        // Does an end hang on this vertex already?
        let mut stack = ends.clone();
        let mut round = false;
        while let Some(u) = stack.pop() {
            round |= u == stitch.vertex;
            if seen[u as usize] != s {
                seen[u as usize] = s;
                stack.extend(&on[u as usize]);
            }
        }
        if !round {
            on[v] = ends;
        }
    }
    on.iter().map(|ends| !ends.is_empty()).collect()
}

/// Closes all seams by the shortest way: [`open_seams`] by nothing.
pub fn close_seams(positions: &mut [Vec3], seams: &[Stitch], held: &[bool]) -> f64 {
    open_seams(positions, seams, held, &vec![Vec3::zeros(); seams.len()])
}

/// Part of its height that a face keeps where closing seams does not pinch it, and height over longest side above which it is not pinched whatever it was.
const PINCHED: f64 = 0.1;
const THIN: f64 = 0.01;
/// Rounds in which stitches are left out at most.
const UNPINCHING: usize = 20;

/// Stitches that cannot be closed beside the others, in their order: they would leave a face of the cloth no width, as where the ends of an edge are sewn to one point,
/// one vertex to two points of an edge, or all corners of a face to one line. Of those that pinch a face the widest is named, until none is pinched.
pub fn pinching_stitches(positions: &[Vec3], topology: &Topology, seams: &[Stitch]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..seams.len()).collect();
    let free = vec![false; positions.len()];
    // Height of a face over its longest side, and that.
    let extent = |x: &[Vec3], face: &[u32; 3]| {
        let [a, b, c] = face.map(|v| x[v as usize]);
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let height = (b - a).cross(&(c - a)).norm() / longest.max(f64::MIN_POSITIVE);
        (height, longest)
    };
    for _ in 0..UNPINCHING {
        let sewn: Vec<Stitch> = kept.iter().map(|&s| seams[s]).collect();
        let mut closed = positions.to_vec();
        close_seams(&mut closed, &sewn, &free);
        let mut at: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &s in &kept {
            for (v, _) in seams[s].carriers().into_iter().filter(|(_, w)| *w != 0.0) {
                at.entry(v).or_default().push(s);
            }
        }
        let mut left_out = BTreeSet::new();
        for face in topology.faces() {
            let ((height, longest), (drawn, _)) = (extent(&closed, face), extent(positions, face));
            if height >= THIN * longest || height >= PINCHED * drawn {
                continue;
            }
            let near = || face.iter().filter_map(|v| at.get(v)).flatten().copied();
            // What pinches this face may pinch others: one at a time.
            if near().any(|s| left_out.contains(&s)) {
                continue;
            }
            let open = |s: &usize| seams[*s].opening(positions).norm();
            left_out.extend(near().max_by(|a, b| open(a).total_cmp(&open(b))));
        }
        if left_out.is_empty() {
            break;
        }
        kept.retain(|s| !left_out.contains(s));
    }
    let mut kept = kept.into_iter().peekable();
    (0..seams.len()).filter(|s| kept.next_if_eq(s).is_none()).collect()
}

/// Opens all seams by what is wanted \[m\], by the shortest way: moves x by least δ (in the sum of squares).
///
/// Vertices with `held` do not move. Returns the longest move \[m\]. The equations C Cᵀ λ = C x − d are solved by
/// conjugate gradients, so stitches may repeat each other.
pub fn open_seams(positions: &mut [Vec3], seams: &[Stitch], held: &[bool], wanted: &[Vec3]) -> f64 {
    let start: Vec<Vec3> = positions.to_vec();
    let free = |v: u32| !held[v as usize];
    // Cᵀ λ on the vertices, then C of that on the stitches.
    let spread = |lambda: &[Vec3]| {
        let mut moved = vec![Vec3::zeros(); start.len()];
        for (stitch, l) in seams.iter().zip(lambda) {
            for (v, w) in stitch.carriers().into_iter().filter(|(v, _)| free(*v)) {
                moved[v as usize] += l * w;
            }
        }
        moved
    };
    let openings = |x: &[Vec3]| -> Vec<Vec3> { seams.iter().map(|s| s.opening(x)).collect() };
    let dot = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    let mut residual = openings(&start);
    for ((opening, stitch), wanted) in residual.iter_mut().zip(seams).zip(wanted) {
        *opening -= wanted;
        // Between held vertices nothing can be closed.
        if stitch.carriers().iter().all(|(v, w)| *w == 0.0 || !free(*v)) {
            *opening = Vec3::zeros();
        }
    }
    let mut direction = residual.clone();
    let mut lambda = vec![Vec3::zeros(); seams.len()];
    let mut size = dot(&residual, &residual);
    let enough = 1e-30 * size;
    for _ in 0..(4 * seams.len()).min(20_000) {
        if size <= enough || size == 0.0 {
            break;
        }
        let image = openings(&spread(&direction));
        let along = dot(&direction, &image);
        if along.is_nan() || along <= 1e-12 * dot(&direction, &direction) {
            break; // what is left cannot be closed
        }
        let step = size / along;
        for k in 0..seams.len() {
            lambda[k] += direction[k] * step;
            residual[k] -= image[k] * step;
        }
        let next = dot(&residual, &residual);
        for (d, r) in direction.iter_mut().zip(&residual) {
            *d = r + *d * (next / size);
        }
        size = next;
    }
    let mut longest = 0.0f64;
    for (p, moved) in positions.iter_mut().zip(spread(&lambda)) {
        *p -= moved;
        longest = longest.max(moved.norm());
    }
    longest
}
