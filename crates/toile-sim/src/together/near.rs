//! Where fibres come near a cloth.
//!
//! A fibre is the capsules between its joints, a cloth its triangles, each with half its thickness around it. They meet where a joint is over a
//! face, where a capsule crosses an edge, and where it passes over a vertex that is nearer to it than anything around that vertex.

use toile_contact::{Bounds, Bvh, Region, point_segment, point_triangle, segment_segment};
use toile_geometry::{Topology, Vec3};
use toile_num::parallel::map;
use toile_rod::{Meeting, SurfacePart};

/// A fibre in a step: its joints, how they move if nothing touches it, and its thickness.
pub(crate) struct Strand<'a> {
    pub(crate) points: &'a [Vec3],
    pub(crate) velocities: &'a [Vec3],
    pub(crate) radius: f64,
    pub(crate) friction: f64,
}

/// A place where a fibre may touch the cloth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) meeting: Meeting,
    /// Vertices of the cloth that carry it, with their shares.
    pub(crate) carriers: [(u32, f64); 3],
}

impl Place {
    /// The same place, held at the distance it has.
    pub(crate) fn held_here(&self) -> Self {
        Self { meeting: Meeting { gap: 0.0, ..self.meeting }, ..*self }
    }

    /// Σ wᵢ aᵢ over what carries it.
    pub(crate) fn blend(&self, a: &[Vec3]) -> Vec3 {
        self.carriers.iter().map(|(v, w)| a[*v as usize] * *w).sum()
    }
}

/// Part of the distance to be kept within which contacts are looked at though nothing closes.
const AHEAD: f64 = 0.25;
/// Part of an edge or a segment, the shorter of both, within which a fibre touches once.
const ONE_PLACE: f64 = 0.5;
/// Cosine of the angle between normals beyond which two contacts press from different sides.
const ONE_SIDE: f64 = 0.7;
/// Part of the distance to be kept below which a fibre counts as passing through the cloth: contacts that hold keep them farther apart.
const DEEP: f64 = 0.5;
/// Advances at most on the way to a first approach.
const ADVANCES: usize = 100;

/// A cloth among fibres.
pub(crate) struct Near {
    topology: Topology,
    tree: Bvh,
    /// Half the thickness of the cloth at each vertex \[m\].
    half: Vec<f64>,
}

impl Near {
    pub(crate) fn new(topology: Topology, positions: &[Vec3], half: Vec<f64>) -> Self {
        let around = |f: &[u32; 3]| Bounds::around(f.iter().map(|v| &positions[*v as usize]));
        let boxes: Vec<Bounds> = topology.faces().iter().map(around).collect();
        Self { tree: Bvh::new(&boxes), topology, half }
    }

    fn corners(&self, face: u32, x: &[Vec3]) -> [Vec3; 3] {
        self.topology.faces()[face as usize].map(|v| x[v as usize])
    }

    /// Fits the boxes around the ways of all faces in a time h.
    fn refit(&mut self, x: &[Vec3], v: &[Vec3], h: f64) {
        let faces = self.topology.faces();
        let half = &self.half;
        self.tree.refit(|f| {
            let mut bounds = Bounds::EMPTY;
            let mut wide = 0.0f64;
            for &i in &faces[f as usize] {
                bounds.include(&x[i as usize]);
                bounds.include(&(x[i as usize] + v[i as usize] * h));
                wide = wide.max(half[i as usize]);
            }
            bounds.inflated(wide)
        });
    }

    /// Calls for every face whose way in a time h may come near a segment's.
    fn faces_near(&self, strand: &Strand, segment: usize, h: f64, reach: f64) -> Vec<u32> {
        let mut bounds = Bounds::EMPTY;
        for j in [segment, segment + 1] {
            bounds.include(&strand.points[j]);
            bounds.include(&(strand.points[j] + strand.velocities[j] * h));
        }
        let mut found = Vec::new();
        self.tree.overlapping(&bounds.inflated(strand.radius + reach), |f| found.push(f));
        found.sort_unstable();
        found
    }

    /// All places that may touch within a step of length h, with the cloth at `x` moving at `v`: sorted by fibre and place. Of several at
    /// one place those that are `known` are kept, lest they take turns.
    pub(crate) fn find(
        &mut self,
        strands: &[Strand],
        x: &[Vec3],
        v: &[Vec3],
        h: f64,
        known: &(dyn Fn(&Place) -> bool + Sync),
    ) -> Vec<Place> {
        // What closes at the velocities of the start may close twice as fast under weight and neighbours.
        self.refit(x, v, 2.0 * h);
        let this = &*self;
        let per_fibre = map(strands.len(), 4, |f| {
            let strand = &strands[f];
            let mut all = Vec::new();
            for segment in 0..strand.points.len() - 1 {
                this.around_segment(strand, f, segment, x, v, h, &mut all);
            }
            all.sort_by(|a, b| key(a).cmp(&key(b)).then(a.meeting.gap.total_cmp(&b.meeting.gap)));
            all.dedup_by_key(|p| key(p));
            this.thinned(all, strand, x, known)
        });
        per_fibre.into_iter().flatten().collect()
    }

    #[expect(clippy::too_many_arguments)]
    fn around_segment(
        &self,
        strand: &Strand,
        fibre: usize,
        segment: usize,
        x: &[Vec3],
        v: &[Vec3],
        h: f64,
        out: &mut Vec<Place>,
    ) {
        let ends = [strand.points[segment], strand.points[segment + 1]];
        let last = segment + 2 == strand.points.len();
        let reach = AHEAD * (strand.radius + self.half.iter().fold(0.0f64, |a, b| a.max(*b)));
        let faces = self.faces_near(strand, segment, 2.0 * h, reach);
        let mut add = |along: f64, part: SurfacePart, carriers: [(u32, f64); 3]| {
            let at = |j: &[Vec3]| j[segment] * (1.0 - along) + j[segment + 1] * along;
            let mut place = Place {
                meeting: Meeting {
                    fibre,
                    segment,
                    along,
                    part,
                    point: Vec3::zeros(),
                    normal: Vec3::zeros(),
                    gap: 0.0,
                    friction: strand.friction,
                },
                carriers,
            };
            let (p, q) = (at(strand.points), place.blend(x));
            let Some(normal) = (p - q).try_normalize(1e-12) else { return };
            let half: f64 = carriers.iter().map(|(v, w)| self.half[*v as usize] * w).sum();
            let keep = strand.radius + half;
            let gap = (p - q).norm() - keep;
            let closing = (place.blend(v) - at(strand.velocities)).dot(&normal).max(0.0);
            if gap > 2.0 * h * closing + AHEAD * keep {
                return;
            }
            let m = &mut place.meeting;
            (m.point, m.normal, m.gap) = (q + normal * half, normal, gap);
            out.push(place);
        };
        // Joints over faces: beside faces only where nothing is nearer.
        let joints: &[usize] = if last { &[0, 1] } else { &[0] };
        for &j in joints {
            let over = |f: &u32| (*f, point_triangle(&ends[j], &self.corners(*f, x)));
            let found: Vec<_> = faces.iter().map(over).collect();
            let nearest = found
                .iter()
                .min_by(|a, b| a.1.distance_squared.total_cmp(&b.1.distance_squared))
                .map(|n| n.0);
            for (f, on) in found {
                if on.region == Region::Face || Some(f) == nearest {
                    let corners = self.topology.faces()[f as usize];
                    let carriers = [0, 1, 2].map(|k| (corners[k], on.weights[k]));
                    add(j as f64, SurfacePart::Face(f), carriers);
                }
            }
        }
        for &f in &faces {
            for e in self.topology.face_edges()[f as usize] {
                let [a, b] = self.topology.edges()[e as usize].vertices;
                let between = segment_segment(&ends, &[x[a as usize], x[b as usize]], 1e-9);
                if between.crossing {
                    let carriers = [(a, 1.0 - between.t), (b, between.t), (a, 0.0)];
                    add(between.s, SurfacePart::Edge(e), carriers);
                }
            }
            for c in self.topology.faces()[f as usize] {
                let corner = x[c as usize];
                let along = point_segment(&corner, &ends[0], &ends[1]);
                let towards = ends[0] * (1.0 - along) + ends[1] * along - corner;
                if along > 0.0 && along < 1.0 && self.is_nearest(c, &towards, x) {
                    add(along, SurfacePart::Vertex(c), [(c, 1.0), (c, 0.0), (c, 0.0)]);
                }
            }
        }
    }

    /// Whether nothing around a vertex is nearer to what is in a direction from it.
    fn is_nearest(&self, vertex: u32, towards: &Vec3, x: &[Vec3]) -> bool {
        let around = self.topology.vertex_faces(vertex as usize).iter();
        let mut others = around.flat_map(|f| self.topology.faces()[*f as usize]);
        others.all(|w| {
            let way = x[w as usize] - x[vertex as usize];
            way.dot(towards) <= 1e-9 * way.norm() * towards.norm()
        })
    }

    /// Leaves out contacts at one place, but for the closest: how they would share a force is not determined.
    fn thinned(
        &self,
        mut all: Vec<Place>,
        strand: &Strand,
        x: &[Vec3],
        known: &(dyn Fn(&Place) -> bool + Sync),
    ) -> Vec<Place> {
        let first = |p: &Place| p.meeting.gap - if known(p) { AHEAD * strand.radius } else { 0.0 };
        all.sort_by(|a, b| first(a).total_cmp(&first(b)).then(key(a).cmp(&key(b))));
        let reach = |p: &Place| {
            let i = p.meeting.segment;
            let segment = (strand.points[i + 1] - strand.points[i]).norm();
            let length = |e: &u32| {
                let [a, b] = self.topology.edges()[*e as usize].vertices;
                (x[a as usize] - x[b as usize]).norm()
            };
            let around = match p.meeting.part {
                SurfacePart::Face(f) => {
                    self.topology.face_edges()[f as usize].iter().map(length).fold(0.0, f64::max)
                }
                SurfacePart::Edge(e) => length(&e),
                SurfacePart::Vertex(v) => {
                    let faces = self.topology.vertex_faces(v as usize).iter();
                    let edges = faces.flat_map(|f| &self.topology.face_edges()[*f as usize]);
                    edges.map(length).fold(f64::INFINITY, f64::min)
                }
            };
            ONE_PLACE * segment.min(around)
        };
        let mut kept: Vec<Place> = Vec::with_capacity(all.len());
        for place in all {
            let near = reach(&place);
            let same = |other: &Place| {
                (other.meeting.point - place.meeting.point).norm() <= near
                    && other.meeting.normal.dot(&place.meeting.normal) > ONE_SIDE
            };
            if !kept.iter().any(same) {
                kept.push(place);
            }
        }
        kept.sort_by_key(key);
        kept
    }

    /// Places where fibres would pass through the cloth while joints and vertices go straight for a time h, with the normal of the moment
    /// at which they come too close.
    pub(crate) fn passing(
        &mut self,
        strands: &[Strand],
        x: &[Vec3],
        v: &[Vec3],
        h: f64,
    ) -> Vec<Place> {
        self.refit(x, v, h);
        let this = &*self;
        let per_fibre = map(strands.len(), 4, |f| {
            let strand = &strands[f];
            let mut all: Vec<Place> = Vec::new();
            for segment in 0..strand.points.len() - 1 {
                for face in this.faces_near(strand, segment, h, 0.0) {
                    all.extend(this.first_near(strand, f, segment, face, x, v, h));
                }
            }
            all.sort_by_key(key);
            all.dedup_by_key(|p| key(p));
            this.thinned(all, strand, x, &|_| false)
        });
        per_fibre.into_iter().flatten().collect()
    }

    #[expect(clippy::too_many_arguments)]
    fn first_near(
        &self,
        strand: &Strand,
        fibre: usize,
        segment: usize,
        face: u32,
        x: &[Vec3],
        v: &[Vec3],
        h: f64,
    ) -> Option<Place> {
        let corners = self.topology.faces()[face as usize];
        let half = corners.iter().map(|c| self.half[*c as usize]).fold(0.0, f64::max);
        let (keep, pair) = (strand.radius + half, [segment, segment + 1]);
        let ends = pair.map(|j| strand.points[j]);
        let ways = pair.map(|j| strand.velocities[j] * h);
        let (tri, moves) = (self.corners(face, x), corners.map(|c| v[c as usize] * h));
        let fastest = ways.iter().flat_map(|a| moves.iter().map(move |b| (a - b).norm()));
        let fastest = fastest.fold(0.0, f64::max);
        let at = |t: f64| {
            let p = [0, 1].map(|k| ends[k] + ways[k] * t);
            let q = [0, 1, 2].map(|k| tri[k] + moves[k] * t);
            closest(&p, &q)
        };
        let near = DEEP * keep;
        let start = at(0.0);
        // What is that close already is pushed apart by other means.
        if start.distance <= 1.1 * near {
            return None;
        }
        let (mut t, mut found) = (0.0, start);
        for _ in 0..ADVANCES {
            let left = found.distance - near;
            if left <= 1e-3 * near {
                break;
            }
            t += left / fastest;
            if t.is_nan() || t > 1.0 {
                return None;
            }
            found = at(t);
        }
        let along = found.along;
        let carriers = [0, 1, 2].map(|k| (corners[k], found.weights[k]));
        let place = |p: &[Vec3; 2], q: &[Vec3; 3]| {
            let fibre = p[0] * (1.0 - along) + p[1] * along;
            let cloth: Vec3 = (0..3).map(|k| q[k] * found.weights[k]).sum();
            fibre - cloth
        };
        let then = place(
            &[0, 1].map(|k| ends[k] + ways[k] * t),
            &[0, 1, 2].map(|k| tri[k] + moves[k] * t),
        );
        let normal = then.try_normalize(1e-15)?;
        // Along that normal the same two points must stay as far apart as is to be kept.
        let gap = place(&ends, &tri).dot(&normal) - keep;
        let part = SurfacePart::Face(face);
        let friction = strand.friction;
        let mut out = Place {
            meeting: Meeting {
                fibre,
                segment,
                along,
                part,
                point: Vec3::zeros(),
                normal,
                gap,
                friction,
            },
            carriers,
        };
        out.meeting.point = out.blend(x) + normal * half;
        Some(out)
    }

    /// Deepest that a fibre is nearer to the cloth than it should be \[m\], and whether any goes through it.
    pub(crate) fn depth(
        &mut self,
        strands: &[Strand],
        x: &[Vec3],
    ) -> (f64, Option<(usize, usize)>) {
        let still = vec![Vec3::zeros(); x.len()];
        let deepest = self
            .find(strands, x, &still, 0.0, &|_| false)
            .iter()
            .map(|p| -p.meeting.gap)
            .fold(0.0, f64::max);
        let mut pierced = None;
        for (f, strand) in strands.iter().enumerate() {
            for segment in 0..strand.points.len() - 1 {
                let ends = [strand.points[segment], strand.points[segment + 1]];
                for face in self.faces_near(strand, segment, 0.0, 0.0) {
                    if pierced.is_none() && pierces(&ends, &self.corners(face, x)) {
                        pierced = Some((f, segment));
                    }
                }
            }
        }
        (deepest, pierced)
    }
}

/// What names a place among those of all fibres.
pub(crate) fn key(place: &Place) -> (usize, usize, SurfacePart, bool) {
    let m = &place.meeting;
    (m.fibre, m.segment, m.part, m.along >= 1.0)
}

struct Closest {
    distance: f64,
    along: f64,
    weights: [f64; 3],
}

/// Closest points of a segment and a triangle that do not cross.
fn closest(p: &[Vec3; 2], q: &[Vec3; 3]) -> Closest {
    let mut best = Closest { distance: f64::INFINITY, along: 0.0, weights: [1.0, 0.0, 0.0] };
    for (along, end) in [(0.0, &p[0]), (1.0, &p[1])] {
        let on = point_triangle(end, q);
        let distance = on.distance_squared.sqrt();
        if distance < best.distance {
            best = Closest { distance, along, weights: on.weights };
        }
    }
    for k in 0..3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let between = segment_segment(p, &[q[i], q[j]], 1e-12);
        let distance = between.distance_squared.sqrt();
        if distance < best.distance {
            let mut weights = [0.0; 3];
            (weights[i], weights[j]) = (1.0 - between.t, between.t);
            best = Closest { distance, along: between.s, weights };
        }
    }
    best
}

/// Whether a segment goes through a triangle.
fn pierces(p: &[Vec3; 2], q: &[Vec3; 3]) -> bool {
    let normal = (q[1] - q[0]).cross(&(q[2] - q[0]));
    let (a, b) = ((p[0] - q[0]).dot(&normal), (p[1] - q[0]).dot(&normal));
    if a * b >= 0.0 {
        return false;
    }
    let hit = p[0] + (p[1] - p[0]) * (a / (a - b));
    (0..3).all(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        (q[j] - q[i]).cross(&(hit - q[i])).dot(&normal) >= 0.0
    })
}
