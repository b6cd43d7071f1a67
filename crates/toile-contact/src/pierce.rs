//! Corners and edges of colliders on their way through the cloth between its vertices.

use toile_geometry::{Topology, Vec3};

use crate::bounds::Bounds;
use crate::collider::Body;
use crate::crossing::{Crossing, edges_cross, vertex_crosses};
use crate::owner::owners;
use crate::shape::{MeshShape, Pose, Solid};
use crate::touch::{check_positions, in_blocks};
use crate::{Collider, Contact, ContactError, ContactKey, Impact, ImpactPair, Sides};

/// Faces in a task.
const BLOCK: usize = 128;
/// A turning collider is taken in parts of at most this angle \[rad\]; between their ends cloth goes straight as seen from it.
const TURN: f64 = 0.1;
/// Parts of a step at most.
const PARTS: usize = 64;

/// Impacts of the insides of faces and edges with colliders while vertices go straight from `start` (at time `from`) to `end` (at
/// time `to`, both \[s\]) and colliders move, sorted by pair; each thing of the cloth meets each collider at most once.
///
/// Seen are: corners of boxes, tips of cones, vertices of meshes, and the middles of balls, capsules, cylinders and cones through faces;
/// edges of boxes and meshes, and the axes of capsules, cylinders and cones through edges. Each crossing is a root of a cubic and
/// none is skipped. What leaves a solid it was in is no impact. Vertices are those of
/// [`collider_impacts`](crate::collider_impacts); the two together leave nothing but the rims of round things unseen.
pub fn piercing_impacts(
    start: &[Vec3],
    end: &[Vec3],
    topology: &Topology,
    colliders: &[Collider],
    from: f64,
    to: f64,
) -> Result<Vec<Impact>, ContactError> {
    let pierced = all_pierced(start, end, topology, colliders, from, to)?;
    Ok(pierced.into_iter().map(|p| p.impact).collect())
}

/// The same as contacts that would have prevented them: normal and weights are those of the crossing, as they go on with the collider, gaps those
/// of the end. A contact found at the end knows nothing of them, where the collider is through the cloth by then.
pub fn piercing_contacts(
    start: &[Vec3],
    end: &[Vec3],
    topology: &Topology,
    colliders: &[Collider],
    from: f64,
    to: f64,
) -> Result<Vec<Contact>, ContactError> {
    let pierced = all_pierced(start, end, topology, colliders, from, to)?;
    Ok(pierced.iter().filter_map(|p| p.contact(end, topology, colliders, to)).collect())
}

fn all_pierced(
    start: &[Vec3],
    end: &[Vec3],
    topology: &Topology,
    colliders: &[Collider],
    from: f64,
    to: f64,
) -> Result<Vec<Pierced>, ContactError> {
    if !(from.is_finite() && to.is_finite() && from <= to) {
        return Err(ContactError::BadInterval { start: from, end: to });
    }
    check_positions(start, topology)?;
    check_positions(end, topology)?;
    let mut all: Vec<Pierced> = Vec::new();
    let mut owned = None;
    for (number, collider) in colliders.iter().enumerate() {
        let placed = collider.at(from);
        let features = match &placed.body {
            Body::Solid { solid, .. } => Features::of_solid(solid),
            Body::Mesh(_) => Features::default(),
        };
        if features.is_empty() && matches!(placed.body, Body::Solid { .. }) {
            continue;
        }
        let owned = owned.get_or_insert_with(|| owners(topology));
        let mut met: Vec<Pierced> = Vec::new();
        for (t0, t1) in parts(collider, from, to) {
            let part = |t: f64| if to > from { (t - from) / (to - from) } else { 1.0 };
            let (s0, s1) = (part(t0), part(t1));
            let passage = Passage {
                topology,
                owners: owned,
                collider,
                number: number as u32,
                features: &features,
                ends: [
                    Side::new(collider, start, end, t0, s0),
                    Side::new(collider, start, end, t1, s1),
                ],
            };
            met.extend(passage.pierced(s0, s1));
        }
        let order = |a: &Pierced, b: &Pierced| {
            a.impact.pair.cmp(&b.impact.pair).then(a.impact.time.total_cmp(&b.impact.time))
        };
        met.sort_by(order);
        met.dedup_by_key(|p| p.impact.pair);
        all.extend(met);
    }
    all.sort_by_key(|p| p.impact.pair);
    Ok(all)
}

/// Features of contacts that were met on the way are numbered from here: those found where things are keep their own numbers.
const MET: u32 = 1 << 31;

/// What of a collider goes through the cloth.
#[derive(Clone, Copy)]
struct Spot {
    number: u32,
    /// Place in the axes of a collider that is rigid.
    place: Vec3,
    /// Vertices of a mesh, and their weights.
    vertices: [(u32, f64); 2],
    /// How far inside the collider it is \[m\].
    deep: f64,
}

/// A crossing of the cloth by a collider.
struct Pierced {
    impact: Impact,
    /// In the axes of the collider, of any length.
    normal: Vec3,
    /// Of the vertices of the cloth.
    weights: [f64; 3],
    spot: Spot,
}

impl Pierced {
    fn contact(
        &self,
        end: &[Vec3],
        topology: &Topology,
        colliders: &[Collider],
        to: f64,
    ) -> Option<Contact> {
        let Spot { number, place, vertices: of_mesh, deep } = self.spot;
        let feature = MET | number;
        let (key, vertices, count, collider) = match self.impact.pair {
            ImpactPair::FaceCollider { face, collider } => {
                let [a, b, c] = topology.faces()[face as usize];
                let key = ContactKey::FaceCollider { face, collider, feature };
                (key, [a, b, c, 0], 3, collider)
            }
            ImpactPair::EdgeCollider { edge, collider } => {
                let [a, b] = topology.edges()[edge as usize].vertices;
                let key = ContactKey::EdgeCollider { edge, collider, feature };
                (key, [a, b, 0, 0], 2, collider)
            }
            _ => return None,
        };
        let collider = &colliders[collider as usize];
        let pose = own_axes(collider, to);
        let place = match collider.motion().frame_at(to) {
            Some((frame, _)) => {
                of_mesh.iter().fold(Vec3::zeros(), |sum, &(v, w)| sum + frame[v as usize] * w)
            }
            None => pose.place(&place),
        };
        let normal = (pose.rotation * self.normal).try_normalize(0.0)?;
        let [a, b, c] = self.weights;
        let mut contact = Contact {
            key,
            vertices,
            weights: [a, b, c, 0.0],
            count,
            normal,
            gap: 0.0,
            velocity: collider.at(to).velocity_of_vertices(&place, &of_mesh),
            friction: collider.friction(),
        };
        contact.gap = normal.dot(&(contact.sum(end) - place)) - deep - collider.gap();
        Some(contact)
    }
}

/// Axes in which a rigid collider stands still; those of the world for one that deforms.
fn own_axes(collider: &Collider, time: f64) -> Pose {
    let placed = collider.at(time);
    match &placed.body {
        Body::Solid { pose, .. } => *pose,
        Body::Mesh(_) if collider.motion().is_rigid() => placed.state().pose,
        Body::Mesh(_) => Pose::identity(),
    }
}

/// Intervals in which cloth goes nearly straight as seen from the collider.
fn parts(collider: &Collider, from: f64, to: f64) -> Vec<(f64, f64)> {
    let mut times = vec![from];
    times.extend(collider.motion().keys_between(from, to));
    times.push(to);
    let mut parts = Vec::new();
    for pair in times.windows(2) {
        let turn =
            collider.motion().rigid_at(pair[0]).angular_velocity.norm() * (pair[1] - pair[0]);
        let count = ((turn / TURN).ceil() as usize).clamp(1, PARTS);
        let at = |k: usize| {
            // The ends are the times themselves.
            if k == count {
                pair[1]
            } else {
                pair[0] + (pair[1] - pair[0]) * k as f64 / count as f64
            }
        };
        parts.extend((0..count).map(|k| (at(k), at(k + 1))));
    }
    parts
}

/// A sharp point of a solid, or one in its middle.
struct Point {
    place: Vec3,
    /// The way out of the solid there; zero where there is none.
    out: Vec3,
    /// How far inside it is \[m\].
    deep: f64,
}

/// A sharp edge of a solid, or its axis.
struct Segment {
    ends: [Vec3; 2],
    out: Vec3,
    /// How far inside its ends are \[m\].
    deep: [f64; 2],
}

/// Sharp or thin things of a solid, in its own axes.
#[derive(Default)]
struct Features {
    points: Vec<Point>,
    segments: Vec<Segment>,
    bounds: Option<Bounds>,
}

impl Features {
    fn is_empty(&self) -> bool {
        self.points.is_empty() && self.segments.is_empty()
    }

    fn of_solid(solid: &Solid) -> Self {
        let mut features = Self::default();
        let axis = |half: f64| [-half * Vec3::z(), half * Vec3::z()];
        let inside = |place: Vec3, deep: f64| Point { place, out: Vec3::zeros(), deep };
        match *solid {
            Solid::HalfSpace | Solid::Pipe { .. } | Solid::Torus { .. } => {}
            Solid::Sphere { radius } => features.points.push(inside(Vec3::zeros(), radius)),
            Solid::Capsule { half, radius } => {
                features.points.extend(axis(half).map(|p| inside(p, radius)));
                let (ends, deep) = (axis(half), [radius; 2]);
                features.segments.push(Segment { ends, out: Vec3::zeros(), deep });
            }
            Solid::Frustum { half, low, high } => {
                let ends = axis(half);
                // A tip points out; the middle of a flat end does, too.
                let out = [-Vec3::z(), Vec3::z()];
                let end = |k: usize| Point { place: ends[k], out: out[k], deep: 0.0 };
                features.points.extend([end(0), end(1)]);
                features.segments.push(Segment { ends, out: Vec3::zeros(), deep: [low, high] });
            }
            Solid::Block { half } => {
                let corner = |k: usize| {
                    let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    Vec3::new(sign(0), sign(1), sign(2))
                };
                let at = |k: usize| corner(k).component_mul(&half);
                let point = |k: usize| Point { place: at(k), out: corner(k), deep: 0.0 };
                features.points.extend((0..8).map(point));
                for k in 0..8 {
                    for bit in (0..3).filter(|bit| k >> bit & 1 == 0) {
                        let (a, b) = (k, k | 1 << bit);
                        let (ends, out) = ([at(a), at(b)], corner(a) + corner(b));
                        features.segments.push(Segment { ends, out, deep: [0.0; 2] });
                    }
                }
            }
        }
        let ends = features.segments.iter().flat_map(|s| s.ends);
        let all: Vec<Vec3> = features.points.iter().map(|p| p.place).chain(ends).collect();
        features.bounds = (!all.is_empty()).then(|| Bounds::around(&all));
        features
    }
}

/// Cloth and a collider at one time, seen from the collider.
struct Side {
    cloth: Vec<Vec3>,
    /// Vertices of a mesh that deforms; empty for rigid ones.
    mesh: Vec<Vec3>,
}

impl Side {
    fn new(collider: &Collider, start: &[Vec3], end: &[Vec3], time: f64, s: f64) -> Self {
        let pose = own_axes(collider, time);
        let cloth = start.iter().zip(end).map(|(a, b)| pose.recall(&(a + (b - a) * s))).collect();
        let mesh = collider.motion().frame_at(time).map_or(Vec::new(), |frame| frame.0);
        Side { cloth, mesh }
    }
}

struct Passage<'a> {
    topology: &'a Topology,
    owners: &'a [u8],
    collider: &'a Collider,
    number: u32,
    features: &'a Features,
    ends: [Side; 2],
}

impl Passage<'_> {
    /// Crossings in this part of the step, which lasts from `s0` to `s1` of it.
    fn pierced(&self, s0: f64, s1: f64) -> Vec<Pierced> {
        let around =
            |sides: &[Side; 2]| Bounds::around(sides[0].cloth.iter().chain(&sides[1].cloth));
        let mesh = self.collider.shape().as_mesh();
        let reach = match (self.features.bounds, mesh) {
            (Some(bounds), _) => bounds,
            (None, Some(mesh)) if self.ends[0].mesh.is_empty() => mesh.bounds(),
            _ => Bounds::around(self.ends[0].mesh.iter().chain(&self.ends[1].mesh)),
        };
        if !around(&self.ends).overlaps(&reach) {
            return Vec::new();
        }
        let deforming = mesh.filter(|_| !self.ends[0].mesh.is_empty()).map(|mesh| {
            let boxes: Vec<Bounds> =
                mesh.mesh().faces().iter().map(|f| self.swept(f, true)).collect();
            crate::bvh::Bvh::new(&boxes)
        });
        in_blocks(self.topology.face_count(), BLOCK, |range, found| {
            let mut near: Vec<u32> = Vec::new();
            for f in range {
                let swept = self.swept(&self.topology.faces()[f], false);
                if !swept.overlaps(&reach) {
                    continue;
                }
                let mut report = |pair: ImpactPair, crossing: &Crossing, spot: Spot| {
                    let time = (s0 + (s1 - s0) * crossing.time).clamp(0.0, 1.0);
                    let [_, a, b, c] = crossing.weights;
                    let weights = match pair {
                        ImpactPair::EdgeCollider { .. } => [-b, -c, 0.0],
                        _ => [-a, -b, -c],
                    };
                    let (impact, normal) = (Impact { time, pair }, crossing.normal);
                    found.push(Pierced { impact, normal, weights, spot });
                };
                match mesh {
                    None => self.solid(f, &mut report),
                    Some(mesh) => {
                        near.clear();
                        match &deforming {
                            Some(bvh) => bvh.overlapping(&swept, |g| near.push(g)),
                            None => mesh.faces_near(&swept, |g| near.push(g)),
                        }
                        self.mesh(f, mesh, &near, &mut report);
                    }
                }
            }
        })
    }

    /// Box around a face on its way, of the mesh or of the cloth.
    fn swept(&self, face: &[u32; 3], mesh: bool) -> Bounds {
        let mut bounds = Bounds::EMPTY;
        for side in &self.ends {
            let x = if mesh { &side.mesh } else { &side.cloth };
            face.iter().for_each(|&v| bounds.include(&x[v as usize]));
        }
        // Round-off of the boxes themselves is far below this.
        bounds.inflated(1e-12 * (1.0 + bounds.diagonal()))
    }

    /// The ways of a face's corners, after that of a point.
    fn face_ways(&self, f: usize, point: [Vec3; 2]) -> [[Vec3; 4]; 2] {
        let v = self.topology.faces()[f].map(|v| v as usize);
        [0, 1].map(|k| {
            let x = &self.ends[k].cloth;
            [point[k], x[v[0]], x[v[1]], x[v[2]]]
        })
    }

    /// The ways of an edge's ends, after those of a segment.
    fn edge_ways(&self, e: usize, segment: [[Vec3; 2]; 2]) -> [[Vec3; 4]; 2] {
        let v = self.topology.edges()[e].vertices.map(|v| v as usize);
        [0, 1].map(|k| {
            let x = &self.ends[k].cloth;
            [segment[k][0], segment[k][1], x[v[0]], x[v[1]]]
        })
    }

    fn solid(&self, f: usize, report: &mut dyn FnMut(ImpactPair, &Crossing, Spot)) {
        let both = self.collider.sides() == Sides::Both;
        let (face, collider) = (f as u32, self.number);
        let no_mesh = [(0, 0.0); 2];
        for (number, point) in self.features.points.iter().enumerate() {
            let &Point { place, out, deep } = point;
            let [last, now] = self.face_ways(f, [place; 2]);
            let out = if both { Vec3::zeros() } else { out };
            if let Some(crossing) = first_entry(vertex_crosses(&last, &now), &out) {
                let spot = Spot { number: number as u32, place, vertices: no_mesh, deep };
                report(ImpactPair::FaceCollider { face, collider }, &crossing, spot);
            }
        }
        for e in self.owned_edges(f) {
            for (number, segment) in self.features.segments.iter().enumerate() {
                let [last, now] = self.edge_ways(e, [segment.ends; 2]);
                let out = if both { Vec3::zeros() } else { segment.out };
                if let Some(crossing) = first_entry(edges_cross(&last, &now), &out) {
                    let [a, b, ..] = crossing.weights;
                    let place = segment.ends[0] * a + segment.ends[1] * b;
                    let deep = segment.deep[0] * a + segment.deep[1] * b;
                    let spot = Spot { number: number as u32, place, vertices: no_mesh, deep };
                    report(ImpactPair::EdgeCollider { edge: e as u32, collider }, &crossing, spot);
                }
            }
        }
    }

    fn mesh(
        &self,
        f: usize,
        mesh: &MeshShape,
        near: &[u32],
        report: &mut dyn FnMut(ImpactPair, &Crossing, Spot),
    ) {
        let (face, collider) = (f as u32, self.number);
        let place = |k: usize, v: u32| {
            let moved = &self.ends[k].mesh;
            if moved.is_empty() { mesh.mesh().positions[v as usize] } else { moved[v as usize] }
        };
        let sides = self.collider.sides();
        for &g in near {
            let inside = mesh.has_inside(g, sides);
            let out = |n: Vec3| if inside { n } else { Vec3::zeros() };
            for m in (0..3).filter(|m| mesh.owners[g as usize] & (1 << m) != 0) {
                let v = mesh.mesh().faces()[g as usize][m];
                let [last, now] = self.face_ways(f, [place(0, v), place(1, v)]);
                let entry = first_entry(vertex_crosses(&last, &now), &out(mesh.vertex_normal(v)));
                if let Some(crossing) = entry.filter(|_| !mesh.is_hidden(&place(0, v), g)) {
                    let vertices = [(v, 1.0), (v, 0.0)];
                    let spot = Spot { number: v, place: place(0, v), vertices, deep: 0.0 };
                    report(ImpactPair::FaceCollider { face, collider }, &crossing, spot);
                }
            }
            for m in (0..3).filter(|m| mesh.owners[g as usize] & (8 << m) != 0) {
                let edge = mesh.mesh().topology.face_edges()[g as usize][m];
                let ends = mesh.mesh().topology.edges()[edge as usize].vertices;
                let segment = [0, 1].map(|k| ends.map(|v| place(k, v)));
                for e in self.owned_edges(f) {
                    let [last, now] = self.edge_ways(e, segment);
                    let entry = first_entry(edges_cross(&last, &now), &out(mesh.edge_normal(edge)));
                    let hidden = || mesh.is_hidden(&((segment[0][0] + segment[0][1]) * 0.5), g);
                    if let Some(crossing) = entry.filter(|_| !hidden()) {
                        let [a, b, ..] = crossing.weights;
                        let spot = Spot {
                            number: edge,
                            place: segment[0][0] * a + segment[0][1] * b,
                            vertices: [(ends[0], a), (ends[1], b)],
                            deep: 0.0,
                        };
                        let pair = ImpactPair::EdgeCollider { edge: e as u32, collider };
                        report(pair, &crossing, spot);
                    }
                }
            }
        }
    }

    fn owned_edges(&self, f: usize) -> impl Iterator<Item = usize> + '_ {
        let owned = self.owners[f];
        (0..3)
            .filter(move |m| owned & (8 << m) != 0)
            .map(move |m| self.topology.face_edges()[f][m] as usize)
    }
}

/// The first crossing by which cloth gets into the solid, which then comes through it to where `out` points; any if that is zero.
fn first_entry(crossings: impl IntoIterator<Item = Crossing>, out: &Vec3) -> Option<Crossing> {
    crossings.into_iter().find(|c| c.normal.dot(out) >= 0.0)
}
