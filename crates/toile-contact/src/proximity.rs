//! Layers of cloth that come close to each other.

use toile_geometry::{Edge, Vec3};

use crate::distance::{
    OnTriangle, Region, blend, point_segment, point_triangle, segment_segment, segments_crossing,
};
use crate::layers::{LEAF_BLOCK, LayerPair, Layers, Span};
use crate::side::{LayerSides, face_normal};
use crate::touch::{check_length, check_positions, in_blocks};
use crate::{Contact, ContactError, ContactKey};

/// Edges whose angle has a smaller sin² are parallel: their closest pair includes an end, and the
/// vertex–face contact of that end stands for them.
const PARALLEL: f64 = 1e-6;
/// Places with a smaller weight belong to the border of their face or edge.
const BORDER: f64 = 1e-9;
/// Sines below this are round-off.
const LEVEL: f64 = 1e-9;
/// Faces that meet with a larger sine than this are bent.
const BENT: f64 = 1e-6;
/// Cosine above which neighbouring faces look the same way: 8 degrees.
const SAME_DIRECTION: f64 = 0.99;

/// How layers keep apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSettings {
    /// Distance kept between layers \[m\].
    pub thickness: f64,
    /// How far beyond the thickness contacts are sought \[m\].
    pub reach: f64,
    /// Coefficient of friction.
    pub friction: f64,
}

impl Layers {
    /// Contacts between layers closer than thickness plus reach, sorted by key.
    ///
    /// Each geometric contact comes once: a vertex above an edge or another vertex is given to the
    /// first face there, and only if no neighbour of that edge or vertex is closer. Two edges that
    /// cross are a contact when nothing around them is closer and each is a border or a bend; where
    /// flat layers lie on each other, vertices and borders carry them. Of neighbouring faces within
    /// 8 degrees that a vertex touches, the closest counts. Parallel edges are left to
    /// their vertices.
    pub fn contacts(
        &mut self,
        positions: &[Vec3],
        settings: &LayerSettings,
        sides: &LayerSides,
    ) -> Result<Vec<Contact>, ContactError> {
        self.contacts_within(positions, settings, sides, &[])
    }

    /// [`contacts`](Self::contacts), sought farther around some vertices: `more` \[m\] is added to the reach of each, and a pair is within reach
    /// by the mean of the largest on either side. Empty for none.
    pub fn contacts_within(
        &mut self,
        positions: &[Vec3],
        settings: &LayerSettings,
        sides: &LayerSides,
        more: &[f64],
    ) -> Result<Vec<Contact>, ContactError> {
        check_positions(positions, &self.topology)?;
        check_length("the thickness of a layer [m]", settings.thickness)?;
        check_length("the reach of the contact search [m]", settings.reach)?;
        check_length("the friction between layers", settings.friction)?;
        if !more.is_empty() && more.len() != positions.len() {
            let (expected, found) = (positions.len(), more.len());
            return Err(ContactError::PositionCount { expected, found });
        }
        for &reach in more {
            check_length("the reach of a vertex [m]", reach)?;
        }
        let near = settings.thickness + settings.reach;
        // Half on each side, and a grain more for round-off.
        self.refit_by(&[positions], |f| 0.5 * (near + farthest(more, f)) * (1.0 + 1e-12));
        let search = Search { layers: self, positions, settings, sides, near, more };
        let spread = self.spread(|v| {
            let x = &positions[v as usize];
            Span::new(x, x, 0.5 * (near + farthest(more, &[v])))
        });
        let mut contacts = in_blocks(self.leaf_count(), LEAF_BLOCK, |leaves, found| {
            for leaf in leaves {
                search.layers.pairs(leaf, &spread, |pair| {
                    let contact = match pair {
                        LayerPair::VertexFace { vertex, face } => search.vertex_face(vertex, face),
                        LayerPair::EdgeEdge { first, second } => search.edge_edge(first, second),
                    };
                    found.extend(contact);
                });
            }
        });
        contacts.sort_unstable_by_key(|contact| contact.key);
        self.drop_repeated(&mut contacts);
        Ok(contacts)
    }

    /// In a hollow a vertex has a closest point on each face around. Where these faces look nearly
    /// the same way only the closest one stays. Contacts must be sorted by key.
    fn drop_repeated(&self, contacts: &mut Vec<Contact>) {
        let vertex = |c: &Contact| match c.key {
            ContactKey::VertexFace { vertex, face } => Some((vertex, face)),
            _ => None,
        };
        let faces = self.topology.faces();
        let repeats = |c: &Contact, by: &Contact| {
            let (Some((v, f)), Some((w, g))) = (vertex(c), vertex(by)) else { return false };
            v == w
                && f != g
                && (by.gap, g) < (c.gap, f)
                && c.normal.dot(&by.normal) > SAME_DIRECTION
                && faces[f as usize].iter().any(|v| faces[g as usize].contains(v))
        };
        let mut kept = Vec::with_capacity(contacts.len());
        let groups = contacts.chunk_by(|a, b| {
            vertex(a).is_some_and(|(v, _)| vertex(b).is_some_and(|(w, _)| v == w))
        });
        for group in groups {
            kept.extend(group.iter().filter(|c| !group.iter().any(|by| repeats(c, by))));
        }
        *contacts = kept;
    }
}

struct Search<'a> {
    layers: &'a Layers,
    positions: &'a [Vec3],
    settings: &'a LayerSettings,
    sides: &'a LayerSides,
    near: f64,
    more: &'a [f64],
}

/// The largest of what is added to the reach of some vertices.
fn farthest(more: &[f64], vertices: &[u32]) -> f64 {
    if more.is_empty() {
        return 0.0;
    }
    vertices.iter().fold(0.0, |most, v| most.max(more[*v as usize]))
}

/// Moves a place to the border it nearly lies on.
fn settled(mut on: OnTriangle) -> OnTriangle {
    let inside = on.weights.map(|w| w > BORDER);
    if inside != [true; 3] {
        for m in 0..3 {
            if !inside[m] {
                on.weights[m] = 0.0;
            }
        }
        let sum: f64 = on.weights.iter().sum();
        on.weights = on.weights.map(|w| w / sum);
        on.region = match inside {
            [true, true, false] => Region::Edge(2),
            [true, false, true] => Region::Edge(1),
            [false, true, true] => Region::Edge(0),
            [true, _, _] => Region::Vertex(0),
            [_, true, _] => Region::Vertex(1),
            _ => Region::Vertex(2),
        };
    }
    on
}

impl Search<'_> {
    fn x(&self, v: u32) -> Vec3 {
        self.positions[v as usize]
    }

    fn corners(&self, face: [u32; 3]) -> [Vec3; 3] {
        [self.x(face[0]), self.x(face[1]), self.x(face[2])]
    }

    /// Distance within which the first `split` vertices and the rest are a contact.
    fn near(&self, vertices: &[u32; 4], split: usize) -> f64 {
        let (first, second) = vertices.split_at(split);
        self.near + 0.5 * (farthest(self.more, first) + farthest(self.more, second))
    }

    fn vertex_face(&self, v: u32, f: u32) -> Option<Contact> {
        let topology = &self.layers.topology;
        let p = self.x(v);
        let face = topology.faces()[f as usize];
        let corners = self.corners(face);
        let on = point_triangle(&p, &corners);
        let vertices = [v, face[0], face[1], face[2]];
        if on.distance_squared > self.near(&vertices, 1).powi(2) {
            return None;
        }
        let on = settled(on);
        let q = blend(&corners, &on.weights);
        let d = p - q;
        let distance = d.norm();
        let away = if distance > 0.0 { d / distance } else { d };
        // The direction in which the surface looks where it is touched, and whether a vertex can
        // get around it.
        let (look, border) = match on.region {
            Region::Face => (face_normal(topology, self.positions, f), false),
            Region::Edge(m) => {
                let edge =
                    &topology.edges()[topology.face_edges()[f as usize][m as usize] as usize];
                let first = edge.faces.iter().flatten().min();
                if first != Some(&f) || !self.is_ridge(edge, &away) {
                    return None;
                }
                let faces = edge.faces.into_iter().flatten();
                (self.mean_normal(faces), edge.is_boundary())
            }
            Region::Vertex(m) => {
                let u = face[m as usize];
                let around = topology.vertex_faces(u as usize);
                if u < v || around[0] != f || !self.is_peak(u, &away) {
                    return None;
                }
                (self.mean_normal(around.iter().copied()), topology.is_boundary_vertex(u as usize))
            }
        };
        if self.close_at_rest(f, topology.vertex_faces(v as usize)[0], |x| {
            let rest = face.map(|v| x[v as usize]);
            point_triangle(&x[v as usize], &rest).distance_squared
        }) {
            return None;
        }
        let passed = !border && self.sides.passed_face(topology, self.positions, v, f);
        let (normal, distance) = oriented(&d, distance, &look, passed, &p);
        Some(Contact {
            key: ContactKey::VertexFace { vertex: v, face: f },
            vertices,
            weights: [1.0, -on.weights[0], -on.weights[1], -on.weights[2]],
            count: 4,
            normal,
            gap: distance - self.settings.thickness,
            velocity: Vec3::zeros(),
            friction: self.settings.friction,
        })
    }

    fn edge_edge(&self, first: u32, second: u32) -> Option<Contact> {
        let topology = &self.layers.topology;
        let edges = [first, second].map(|e| &topology.edges()[e as usize]);
        let ends = |e: &Edge| [self.x(e.vertices[0]), self.x(e.vertices[1])];
        let (a, b) = (ends(edges[0]), ends(edges[1]));
        let pair = segments_crossing(&a, &b, PARALLEL)?;
        let inner = |s: f64| s > BORDER && s < 1.0 - BORDER;
        let ([i, j], [k, l]) = (edges[0].vertices, edges[1].vertices);
        let near = self.near(&[i, j, k, l], 2);
        if pair.distance_squared > near * near || !inner(pair.s) || !inner(pair.t) {
            return None;
        }
        if self.close_at_rest(
            edges[0].faces[0].expect("left face"),
            edges[1].faces[0].expect("left face"),
            |x| {
                let [a, b] = edges.map(|e| e.vertices.map(|v| x[v as usize]));
                segment_segment(&a, &b, PARALLEL).distance_squared
            },
        ) {
            return None;
        }
        let (s, t) = (pair.s, pair.t);
        let places = [a[0] + (a[1] - a[0]) * s, b[0] + (b[1] - b[0]) * t];
        let d = places[0] - places[1];
        let look = (a[1] - a[0]).cross(&(b[1] - b[0]));
        let passed = self.sides.passed_edge(topology, self.positions, first, second);
        let (normal, distance) = oriented(&d, d.norm(), &look.normalize(), passed, &places[0]);
        if !self.is_rim(edges[0], edges[1], &-normal) || !self.is_rim(edges[1], edges[0], &normal) {
            return None;
        }
        Some(Contact {
            key: ContactKey::EdgeEdge { first, second },
            vertices: [i, j, k, l],
            weights: [1.0 - s, s, t - 1.0, -t],
            count: 4,
            normal,
            gap: distance - self.settings.thickness,
            velocity: Vec3::zeros(),
            friction: self.settings.friction,
        })
    }

    /// Whether the faces at an edge lead away from direction d, so that the edge is closest. The same
    /// answer whichever face asks.
    fn is_ridge(&self, edge: &Edge, d: &Vec3) -> bool {
        self.slopes(edge, d).into_iter().flatten().all(|slope| slope <= LEVEL)
    }

    /// A ridge at which the surface ends or bends: where flat pieces lie on each other these are the
    /// borders of what touches, and the edges in between add nothing.
    ///
    /// A face that ends at the other edge rises towards it by its nature and says nothing.
    fn is_rim(&self, edge: &Edge, other: &Edge, d: &Vec3) -> bool {
        let mut slopes = self.slopes(edge, d);
        let mut shared = false;
        for (slope, opposite) in slopes.iter_mut().zip(edge.opposite) {
            if opposite.is_some_and(|w| other.vertices.contains(&w)) {
                (*slope, shared) = (None, true);
            }
        }
        slopes.into_iter().flatten().all(|slope| slope <= LEVEL)
            && (edge.is_boundary()
                || shared
                || slopes.into_iter().flatten().any(|slope| slope < -BENT))
    }

    /// How much each face at an edge rises towards unit direction d, as a sine.
    fn slopes(&self, edge: &Edge, d: &Vec3) -> [Option<f64>; 2] {
        let [a, b] = edge.vertices.map(|v| self.x(v));
        edge.opposite.map(|w| {
            let w = self.x(w?);
            let inward = w - (a + (b - a) * line_place(&w, &a, &b));
            let length = inward.norm();
            Some(if length > 0.0 { inward.dot(d) / length } else { 0.0 })
        })
    }

    /// Whether all edges at a vertex lead away from unit direction d.
    fn is_peak(&self, u: u32, d: &Vec3) -> bool {
        let topology = &self.layers.topology;
        let x = self.x(u);
        topology.vertex_faces(u as usize).iter().all(|&f| {
            topology.faces()[f as usize].iter().all(|&w| {
                let along = self.x(w) - x;
                along.dot(d) <= LEVEL * along.norm()
            })
        })
    }

    fn mean_normal(&self, faces: impl Iterator<Item = u32>) -> Vec3 {
        let normals = faces.map(|f| face_normal(&self.layers.topology, self.positions, f));
        let sum = normals.fold(Vec3::zeros(), |a, b| a + b);
        let length = sum.norm();
        if length > 1e-9 { sum / length } else { Vec3::zeros() }
    }

    fn close_at_rest(&self, f: u32, g: u32, distance_squared: impl Fn(&[Vec3]) -> f64) -> bool {
        self.layers.rest.as_ref().is_some_and(|(pieces, rest)| {
            pieces[f as usize] == pieces[g as usize]
                && distance_squared(rest) < self.settings.thickness.powi(2)
        })
    }
}

/// Place of the foot of p on the line a b, not clamped; 0 when a = b.
fn line_place(p: &Vec3, a: &Vec3, b: &Vec3) -> f64 {
    let e = b - a;
    let length = e.norm_squared();
    if length > 0.0 { (p - a).dot(&e) / length } else { point_segment(p, a, b) }
}

/// Normal and signed distance of two places d apart. `look` tells the sides apart, `passed` whether they have
/// changed them.
fn oriented(d: &Vec3, distance: f64, look: &Vec3, passed: bool, place: &Vec3) -> (Vec3, f64) {
    let clear = look.dot(d).abs() > 0.1 * distance;
    if distance <= 1e-14 * (1.0 + place.amax()) {
        let n = if *look == Vec3::zeros() { Vec3::z() } else { *look };
        return (n, 0.0);
    }
    let n = d / distance;
    if passed && clear { (-n, -distance) } else { (n, distance) }
}
