//! Where cloth touches colliders: at vertices, inside edges and inside faces.

use toile_geometry::{Topology, Vec3};
use toile_num::parallel::map;

use crate::collider::Body;
use crate::distance::{Region, point_triangle, segments_crossing};
use crate::shape::{MeshShape, Pose, Solid};
use crate::{Bounds, Contact, ContactError, ContactKey, PlacedCollider, owner};

/// Distance that is kept inside edges and faces, in units of the gap that vertices keep: cloth that hugs a
/// smooth thing with its vertices rests on them alone, and only what they leave uncovered is held between them.
pub const INSIDE: f64 = 0.1;
/// Elements per task; small enough for two dozen tasks on a sheet of 77 × 77 vertices.
const CHUNK: usize = 256;
/// Two contacts of one edge closer than this part of it are one.
const SAME_PLACE: f64 = 0.05;
/// A point of a face nearer to its border than this weight belongs to the border.
const BORDER: f64 = 1e-3;

pub(crate) fn check_positions(positions: &[Vec3], topology: &Topology) -> Result<(), ContactError> {
    let (expected, found) = (topology.vertex_count(), positions.len());
    if expected != found {
        return Err(ContactError::PositionCount { expected, found });
    }
    match positions.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
        Some(vertex) => Err(ContactError::PositionNotFinite { vertex }),
        None => Ok(()),
    }
}

pub(crate) fn check_length(what: &'static str, value: f64) -> Result<(), ContactError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(ContactError::Negative { what, value })
    }
}

/// Runs `work` over blocks of 0..count and joins what it finds in order, whatever the threads.
pub(crate) fn in_blocks<T: Send>(
    count: usize,
    block: usize,
    work: impl Fn(std::ops::Range<usize>, &mut Vec<T>) + Sync,
) -> Vec<T> {
    let blocks = count.div_ceil(block);
    let run = |b: usize| {
        let mut found = Vec::new();
        work(b * block..((b + 1) * block).min(count), &mut found);
        found
    };
    if blocks <= 1 {
        return if blocks == 1 { run(0) } else { Vec::new() };
    }
    let lists: Vec<Vec<T>> = map(blocks, 1, run);
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    for list in lists {
        all.extend(list);
    }
    all
}

/// Distance that a contact of the cloth keeps from a collider with that gap \[m\].
pub(crate) fn kept(contact: &Contact, gap: f64) -> f64 {
    if contact.count == 1 { gap } else { INSIDE * gap }
}

/// Contacts of the cloth with colliders, those closer than their gap plus `reach` \[m\].
///
/// Vertices keep the gap of the collider. Between them, where an edge or a face comes closer than its corners (sharp
/// points and rims, thin and small things), a tenth of it is kept.
/// `positions` and `reach` must be finite; contacts are sorted by key.
pub fn collider_contacts(
    positions: &[Vec3],
    topology: &Topology,
    colliders: &[PlacedCollider<'_>],
    reach: f64,
) -> Result<Vec<Contact>, ContactError> {
    check_positions(positions, topology)?;
    check_length("the reach of the contact search [m]", reach)?;
    for placed in colliders {
        let pose = &placed.state().pose;
        if !pose.rotation.iter().chain(&pose.origin).all(|c| c.is_finite()) {
            return Err(ContactError::NotFinite { what: "the place of a collider" });
        }
    }
    let mut contacts = Vec::new();
    let mut distances = Vec::new();
    let mut owners = None;
    for (number, placed) in colliders.iter().enumerate() {
        let search = Search {
            positions,
            topology,
            placed,
            number: number as u32,
            near: placed.gap() + reach,
            inside: INSIDE * placed.gap(),
            reach,
            bounds: placed.bounds().inflated(placed.gap() + reach),
        };
        search.vertices(&mut distances, &mut contacts);
        if !search.has_interior_contacts() {
            continue;
        }
        if let Body::Mesh(mesh) = &placed.body {
            let owners = owners.get_or_insert_with(|| owner::owners(topology));
            contacts.extend(in_blocks(topology.face_count(), CHUNK, |range, found| {
                let mut near = Vec::new();
                range.for_each(|f| {
                    search.face_on_mesh(f, owners[f], mesh, &distances, &mut near, found);
                });
            }));
        } else {
            contacts.extend(in_blocks(topology.edge_count(), CHUNK, |range, found| {
                range.for_each(|e| search.edge(e, &distances, &[], found));
            }));
            contacts.extend(in_blocks(topology.face_count(), CHUNK, |range, found| {
                range.for_each(|f| search.face(f, &distances, &[], found));
            }));
        }
    }
    contacts.sort_unstable_by_key(|contact| contact.key);
    Ok(contacts)
}

struct Search<'a> {
    positions: &'a [Vec3],
    topology: &'a Topology,
    placed: &'a PlacedCollider<'a>,
    number: u32,
    /// Gap plus reach.
    near: f64,
    /// Gap kept inside edges and faces.
    inside: f64,
    reach: f64,
    /// Of the collider, with `near` around it.
    bounds: Bounds,
}

/// What has been found, in the axes of the collider.
struct Found {
    distance: f64,
    normal: Vec3,
    /// On the collider.
    point: Vec3,
}

impl Search<'_> {
    fn has_interior_contacts(&self) -> bool {
        !matches!(self.placed.body, Body::Solid { solid: Solid::HalfSpace, .. })
    }

    /// Contacts of vertices; `distances` receives the distance of each, infinite when out of reach.
    fn vertices(&self, distances: &mut Vec<f64>, contacts: &mut Vec<Contact>) {
        let found: Vec<(f64, Option<Contact>)> =
            in_blocks(self.positions.len(), CHUNK, |range, found| {
                found.reserve(range.len());
                for v in range {
                    let x = &self.positions[v];
                    if !self.bounds.contains(x) {
                        found.push((f64::INFINITY, None));
                        continue;
                    }
                    let near = self.placed.query(x);
                    let contact = (near.distance <= self.near).then(|| Contact {
                        key: ContactKey::VertexCollider { vertex: v as u32, collider: self.number },
                        vertices: [v as u32, 0, 0, 0],
                        weights: [1.0, 0.0, 0.0, 0.0],
                        count: 1,
                        normal: near.normal,
                        gap: near.distance - self.placed.gap(),
                        velocity: near.velocity,
                        friction: self.placed.friction(),
                    });
                    found.push((near.distance, contact));
                }
            });
        distances.clear();
        distances.extend(found.iter().map(|f| f.0));
        contacts.extend(found.into_iter().filter_map(|f| f.1));
    }

    fn pose(&self) -> &Pose {
        match &self.placed.body {
            Body::Solid { pose, .. } => pose,
            Body::Mesh(_) => &self.placed.state().pose,
        }
    }

    /// Whether something of given box and corner distances can come within reach.
    fn out_of_reach(&self, bounds: &Bounds, least: f64) -> bool {
        // The distance changes by no more than the way.
        !bounds.overlaps(&self.bounds)
            || (least.is_finite() && least - bounds.diagonal() > self.near)
    }

    /// `near` are the faces of a mesh collider that may touch the edge.
    fn edge(&self, e: usize, distances: &[f64], near: &[u32], contacts: &mut Vec<Contact>) {
        let ends = self.topology.edges()[e].vertices;
        let x = ends.map(|v| self.positions[v as usize]);
        let least = distances[ends[0] as usize].min(distances[ends[1] as usize]);
        if self.out_of_reach(&Bounds::around(&x), least) {
            return;
        }
        let limit = least.min(self.inside + self.reach);
        let own = x.map(|x| self.pose().recall(&x));
        let start = contacts.len();
        let mut push = |s: f64, feature: u32, found: Found, velocity: &dyn Fn(&Vec3) -> Vec3| {
            let known = contacts[start..].iter().any(|c| (c.weights[1] - s).abs() < SAME_PLACE);
            if !known && found.distance < limit && s > BORDER && s < 1.0 - BORDER {
                contacts.push(Contact {
                    key: ContactKey::EdgeCollider {
                        edge: e as u32,
                        collider: self.number,
                        feature,
                    },
                    vertices: [ends[0], ends[1], 0, 0],
                    weights: [1.0 - s, s, 0.0, 0.0],
                    count: 2,
                    normal: self.pose().rotation * found.normal,
                    gap: found.distance - self.inside,
                    velocity: velocity(&self.pose().place(&found.point)),
                    friction: self.placed.friction(),
                });
            }
        };
        match &self.placed.body {
            Body::Solid { solid, .. } => {
                if solid.is_convex() && self.misses(solid, &own, limit) {
                    return;
                }
                let both = self.placed.collider().sides() == crate::Sides::Both;
                solid.touch_segment(&own[0], &own[1], &mut |touch| {
                    let sign = if both && touch.distance < 0.0 { -1.0 } else { 1.0 };
                    let at = own[0] + (own[1] - own[0]) * touch.s;
                    let found = Found {
                        distance: touch.distance * sign,
                        normal: touch.normal * sign,
                        point: at - touch.normal * touch.distance,
                    };
                    let velocity = |p: &Vec3| self.placed.state().velocity_at(p);
                    push(touch.s, touch.feature, found, &velocity);
                });
            }
            Body::Mesh(mesh) => {
                for &f in near {
                    for m in (0..3).filter(|m| mesh.owners[f as usize] & (8 << m) != 0) {
                        let edge = mesh.mesh().topology.face_edges()[f as usize][m];
                        if let Some((s, t, found)) = self.mesh_edge(mesh, edge, f, &own) {
                            let ends = mesh.mesh().topology.edges()[edge as usize].vertices;
                            let blend = [(ends[0], 1.0 - t), (ends[1], t)];
                            push(s, edge, found, &|p| self.placed.velocity_of_vertices(p, &blend));
                        }
                    }
                }
            }
        }
    }

    /// Whether a convex distance, bounded below by its tangents at the ends of an edge, stays above
    /// the limit or has its minimum at an end.
    fn misses(&self, solid: &Solid, own: &[Vec3; 2], limit: f64) -> bool {
        let e = own[1] - own[0];
        let [a, b] = own.map(|x| solid.closest(&x));
        let (down, up) = (a.normal.dot(&e), b.normal.dot(&e));
        if down >= 0.0 || up <= 0.0 {
            return true;
        }
        // a.distance + s down = b.distance − (1 − s) up
        let s = (b.distance - up - a.distance) / (down - up);
        a.distance + s * down > limit
    }

    /// Closest places of a cloth edge and an edge of the mesh, if the latter is foremost there.
    fn mesh_edge(
        &self,
        mesh: &MeshShape,
        edge: u32,
        face: u32,
        own: &[Vec3; 2],
    ) -> Option<(f64, f64, Found)> {
        let ends = mesh.mesh().topology.edges()[edge as usize].vertices;
        let other = ends.map(|v| mesh.mesh().positions[v as usize]);
        let apart = |k: usize| {
            (own[0][k].min(own[1][k]) - other[0][k].max(other[1][k]))
                .max(other[0][k].min(other[1][k]) - own[0][k].max(own[1][k]))
        };
        if apart(0).max(apart(1)).max(apart(2)) > self.near {
            return None;
        }
        let pair = segments_crossing(own, &other, 1e-6)?;
        if pair.distance_squared > self.near * self.near {
            return None;
        }
        let point = other[0] + (other[1] - other[0]) * pair.t;
        let d = own[0] + (own[1] - own[0]) * pair.s - point;
        let length = d.norm();
        let out = mesh.edge_normal(edge);
        let apart = length > 1e-12 * (1.0 + point.amax());
        let mut n = if apart {
            d / length
        } else {
            (own[1] - own[0]).cross(&(other[1] - other[0])).normalize()
        };
        let mut distance = length;
        if (mesh.has_inside(face, self.placed.collider().sides()) || !apart) && n.dot(&out) < 0.0 {
            (n, distance) = (-n, -distance);
        }
        let foremost = mesh.is_foremost_edge(edge, &n) && !mesh.is_hidden(&point, face);
        foremost.then_some((pair.s, pair.t, Found { distance, normal: n, point }))
    }

    /// Looks for a face and the edges it owns at once: one search in the mesh serves all.
    fn face_on_mesh(
        &self,
        f: usize,
        owned: u8,
        mesh: &MeshShape,
        distances: &[f64],
        near: &mut Vec<u32>,
        contacts: &mut Vec<Contact>,
    ) {
        let corners = self.topology.faces()[f];
        let x = corners.map(|v| self.positions[v as usize]);
        let least = corners.iter().map(|&v| distances[v as usize]).fold(f64::INFINITY, f64::min);
        if self.out_of_reach(&Bounds::around(&x), least) {
            return;
        }
        let own = x.map(|x| self.pose().recall(&x));
        // A border of one edge may be farther from the mesh than the face's nearest corner.
        let most = corners.iter().map(|&v| distances[v as usize]).fold(0.0, f64::max);
        let margin = most.max(self.inside).min(self.inside + self.reach);
        near.clear();
        mesh.faces_near(&Bounds::around(&own).inflated(margin), |g| near.push(g));
        if near.is_empty() {
            return;
        }
        self.face(f, distances, near, contacts);
        for m in (0..3).filter(|m| owned & (8 << m) != 0) {
            self.edge(self.topology.face_edges()[f][m] as usize, distances, near, contacts);
        }
    }

    /// `near` are the faces of a mesh collider that may touch the face.
    fn face(&self, f: usize, distances: &[f64], near: &[u32], contacts: &mut Vec<Contact>) {
        let corners = self.topology.faces()[f];
        let x = corners.map(|v| self.positions[v as usize]);
        let least = corners.iter().map(|&v| distances[v as usize]).fold(f64::INFINITY, f64::min);
        if self.out_of_reach(&Bounds::around(&x), least) {
            return;
        }
        let own = x.map(|x| self.pose().recall(&x));
        let n = (own[1] - own[0]).cross(&(own[2] - own[0]));
        if crate::distance::is_flat(&own) {
            return;
        }
        let n = n.normalize();
        let limit = least.min(self.inside + self.reach);
        let mut push = |feature: u32, point: Vec3, side: Vec3, velocity: &dyn Fn(&Vec3) -> Vec3| {
            let distance = side.dot(&(own[0] - point));
            if distance >= limit {
                return;
            }
            let on = point_triangle(&point, &own);
            if on.region != Region::Face || on.weights.iter().any(|&w| w < BORDER) {
                return;
            }
            contacts.push(Contact {
                key: ContactKey::FaceCollider { face: f as u32, collider: self.number, feature },
                vertices: [corners[0], corners[1], corners[2], 0],
                weights: [on.weights[0], on.weights[1], on.weights[2], 0.0],
                count: 3,
                normal: self.pose().rotation * side,
                gap: distance - self.inside,
                velocity: velocity(&self.pose().place(&point)),
                friction: self.placed.friction(),
            });
        };
        match &self.placed.body {
            Body::Solid { solid, .. } => {
                let nearest = own.map(|x| solid.closest(&x));
                let nearest = nearest.iter().min_by(|a, b| a.distance.total_cmp(&b.distance));
                let towards = nearest.map_or(own[0], |c| c.normal);
                let found = solid.supports(&n, &own[0], &towards);
                for (k, (point, side)) in found.points().iter().enumerate() {
                    // What has passed a face has the face inside; points on the far side only look like it.
                    let passed = side.dot(&(own[0] - point)) < 0.0;
                    if passed {
                        let w = point_triangle(point, &own).weights;
                        let place = own[0] * w[0] + own[1] * w[1] + own[2] * w[2];
                        if solid.closest(&place).distance > 1e-9 {
                            continue;
                        }
                    }
                    push(k as u32, *point, *side, &|p| self.placed.state().velocity_at(p));
                }
            }
            Body::Mesh(mesh) => {
                for &g in near {
                    for m in (0..3).filter(|m| mesh.owners[g as usize] & (1 << m) != 0) {
                        let v = mesh.mesh().faces()[g as usize][m];
                        let point = mesh.mesh().positions[v as usize];
                        let sides = self.placed.collider().sides();
                        let towards = if mesh.has_inside(g, sides) {
                            mesh.vertex_normal(v)
                        } else {
                            own[0] - point
                        };
                        let side = if n.dot(&towards) < 0.0 { -n } else { n };
                        let distance = side.dot(&(own[0] - point));
                        if distance < limit
                            && mesh.is_foremost_vertex(v, &side)
                            && !mesh.is_hidden(&point, g)
                        {
                            push(v, point, side, &|p| {
                                self.placed.velocity_of_vertices(p, &[(v, 1.0)])
                            });
                        }
                    }
                }
            }
        }
    }
}
