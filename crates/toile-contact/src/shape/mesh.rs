//! Triangle meshes as colliders.

use toile_geometry::{TriMesh, Vec3};

use super::union::Cover;
use super::{Sides, SurfacePoint};
use crate::ContactError;
use crate::bounds::Bounds;
use crate::bvh::Bvh;
use crate::distance::{OnTriangle, Region, blend, is_flat, point_triangle};
use crate::owner::owners;

/// A triangle mesh that knows its nearest points and its inside.
///
/// Pieces that share no vertex are parts. A closed part has an inside, whichever way its faces are
/// turned; overlapping closed parts make a union whose surface is only what lies in no other part.
/// An open part has no inside unless [`Sides::One`] gives it one below its faces.
///
/// Inside or outside is read from angle-weighted normals (Bærentzen & Aanæs 2005), exact for closed
/// surfaces without self-crossings, and from the winding number where the nearest point touches a
/// face without area. Check: `the_sign_agrees_with_the_winding_number`.
#[derive(Clone, Debug)]
pub struct MeshShape {
    mesh: TriMesh,
    pub(super) parts: Vec<Part>,
    pub(super) part_of_face: Vec<u32>,
    normals: Normals,
    pub(crate) owners: Vec<u8>,
    cover: Option<Cover>,
}

/// Faces joined through vertices.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) faces: Vec<u32>,
    /// Over `faces`, by their place in that list.
    pub(super) bvh: Bvh,
    pub(super) closed: bool,
    /// −1 when the faces of a closed part look inwards.
    turn: f64,
}

#[derive(Clone, Debug)]
struct Normals {
    /// Zero where the face is flat.
    face: Vec<Vec3>,
    edge: Vec<Vec3>,
    vertex: Vec<Vec3>,
    flat: Vec<bool>,
    edge_doubtful: Vec<bool>,
    vertex_doubtful: Vec<bool>,
}

impl Normals {
    fn new(mesh: &TriMesh) -> Self {
        let topology = &mesh.topology;
        let count = topology.face_count();
        let mut normals = Self {
            face: Vec::with_capacity(count),
            edge: vec![Vec3::zeros(); topology.edge_count()],
            vertex: vec![Vec3::zeros(); topology.vertex_count()],
            flat: Vec::with_capacity(count),
            edge_doubtful: vec![false; topology.edge_count()],
            vertex_doubtful: vec![false; topology.vertex_count()],
        };
        for f in 0..count {
            let x = mesh.corners(f);
            let flat = is_flat(&x);
            let n = if flat { Vec3::zeros() } else { (x[1] - x[0]).cross(&(x[2] - x[0])) };
            let n = if flat { n } else { n.normalize() };
            for m in 0..3 {
                let (v, e) = (mesh.faces()[f][m] as usize, topology.face_edges()[f][m] as usize);
                let (a, b) = (x[(m + 1) % 3] - x[m], x[(m + 2) % 3] - x[m]);
                let angle = a.cross(&b).norm().atan2(a.dot(&b));
                normals.vertex[v] += n * angle;
                normals.edge[e] += n;
                normals.vertex_doubtful[v] |= flat;
                normals.edge_doubtful[e] |= flat;
            }
            normals.face.push(n);
            normals.flat.push(flat);
        }
        for n in normals.edge.iter_mut().chain(&mut normals.vertex) {
            let length = n.norm();
            if length > 0.0 {
                *n /= length;
            }
        }
        normals
    }
}

impl MeshShape {
    /// Takes a mesh with at least one face that has an area.
    pub fn new(mesh: TriMesh) -> Result<Self, ContactError> {
        if mesh.faces().is_empty() {
            return Err(ContactError::EmptyMesh);
        }
        let count = mesh.topology.face_count();
        let normals = Normals::new(&mesh);
        if normals.flat.iter().all(|&flat| flat) {
            let largest = mesh.face_areas();
            let largest = largest.into_iter().fold(0.0, f64::max);
            return Err(ContactError::FlatMesh { faces: count, largest });
        }
        let pieces = mesh.topology.components();
        let mut faces = vec![Vec::new(); pieces.count];
        for (f, &piece) in pieces.of_face.iter().enumerate() {
            faces[piece as usize].push(f as u32);
        }
        let mut open = vec![false; pieces.count];
        for edge in mesh.topology.edges().iter().filter(|e| e.is_boundary()) {
            open[pieces.of_face[edge.faces[0].expect("left face") as usize] as usize] = true;
        }
        let parts = faces.into_iter().zip(open).map(|(faces, open)| {
            let boxes: Vec<Bounds> =
                faces.iter().map(|&f| Bounds::around(&mesh.corners(f as usize))).collect();
            Part { turn: 1.0, bvh: Bvh::new(&boxes), closed: !open, faces }
        });
        let parts = parts.collect();
        let owners = owners(&mesh.topology);
        let part_of_face = pieces.of_face;
        let mut shape = Self { mesh, parts, part_of_face, normals, owners, cover: None };
        shape.settle();
        Ok(shape)
    }

    /// What depends on positions besides boxes and normals.
    fn settle(&mut self) {
        for k in 0..self.parts.len() {
            self.parts[k].turn = if self.volume(k) < 0.0 { -1.0 } else { 1.0 };
        }
        self.cover = Cover::new(self);
    }

    /// The same mesh with its vertices elsewhere (as many as it has).
    pub(crate) fn deformed(&self, positions: Vec<Vec3>) -> Self {
        let mut shape = self.clone();
        shape.mesh.positions = positions;
        shape.normals = Normals::new(&shape.mesh);
        let Self { mesh, parts, .. } = &mut shape;
        for part in parts {
            let faces = &part.faces;
            part.bvh.refit(|i| Bounds::around(&mesh.corners(faces[i as usize] as usize)));
        }
        shape.settle();
        shape
    }

    /// The mesh itself.
    pub fn mesh(&self) -> &TriMesh {
        &self.mesh
    }

    /// Box around all faces.
    pub fn bounds(&self) -> Bounds {
        self.parts.iter().fold(Bounds::EMPTY, |sum, part| sum.join(&part.bvh.bounds()))
    }

    /// Six times the volume of a part, relative to its middle.
    fn volume(&self, part: usize) -> f64 {
        let middle = Vec3::from(self.parts[part].bvh.bounds().centre());
        let wedge = |&f: &u32| {
            let x = self.mesh.corners(f as usize).map(|x| x - middle);
            x[0].dot(&x[1].cross(&x[2]))
        };
        self.parts[part].faces.iter().map(wedge).sum()
    }

    /// Nearest face of a part within a distance, with the place on it.
    fn nearest(&self, part: usize, p: &Vec3, limit_squared: f64) -> Option<(u32, OnTriangle)> {
        let part = &self.parts[part];
        let (i, _) = part.bvh.nearest(p, limit_squared, |i| {
            let corners = self.mesh.corners(part.faces[i as usize] as usize);
            point_triangle(p, &corners).distance_squared
        })?;
        let face = part.faces[i as usize];
        Some((face, point_triangle(p, &self.mesh.corners(face as usize))))
    }

    /// Normal of the face, side or corner on which a point of a face lies, and whether it can be
    /// trusted.
    fn normal_at(&self, face: u32, on: &OnTriangle) -> (Vec3, bool) {
        let f = face as usize;
        match on.region {
            Region::Face => (self.normals.face[f], true),
            Region::Edge(m) => {
                let e = self.mesh.topology.face_edges()[f][m as usize] as usize;
                (self.normals.edge[e], !self.normals.edge_doubtful[e])
            }
            Region::Vertex(m) => {
                let v = self.mesh.faces()[f][m as usize] as usize;
                (self.normals.vertex[v], !self.normals.vertex_doubtful[v])
            }
        }
    }

    fn is_on_border(&self, face: u32, region: Region) -> bool {
        let (f, topology) = (face as usize, &self.mesh.topology);
        match region {
            Region::Face => false,
            Region::Edge(m) => {
                topology.edges()[topology.face_edges()[f][m as usize] as usize].is_boundary()
            }
            Region::Vertex(m) => {
                topology.is_boundary_vertex(self.mesh.faces()[f][m as usize] as usize)
            }
        }
    }

    /// Whether p is inside a closed part, given its nearest point there.
    fn is_inside(&self, part: usize, p: &Vec3, face: u32, on: &OnTriangle) -> bool {
        let (n, trusted) = self.normal_at(face, on);
        if trusted && n != Vec3::zeros() {
            let q = blend(&self.mesh.corners(face as usize), &on.weights);
            (p - q).dot(&n) * self.parts[part].turn < 0.0
        } else {
            self.winding(part, p).abs() > 0.5
        }
    }

    /// How often a part surrounds a point: the sum of solid angles of its faces over 4π
    /// (van Oosterom & Strackee 1983).
    pub fn winding(&self, part: usize, p: &Vec3) -> f64 {
        let angle = |&f: &u32| {
            let [a, b, c] = self.mesh.corners(f as usize).map(|x| x - p);
            let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
            let below = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
            2.0 * a.dot(&b.cross(&c)).atan2(below)
        };
        self.parts[part].faces.iter().map(angle).sum::<f64>() / (4.0 * std::f64::consts::PI)
    }

    /// Whether p lies inside a closed part, deeper than `depth`.
    pub(super) fn is_within(&self, part: usize, p: &Vec3, depth: f64) -> bool {
        self.parts[part].closed
            && self.parts[part].bvh.bounds().contains(p)
            && self.nearest(part, p, f64::INFINITY).is_some_and(|(face, on)| {
                on.distance_squared > depth * depth && self.is_inside(part, p, face, &on)
            })
    }

    /// Whether p lies inside a closed part other than `except`, deeper than `depth`.
    pub(super) fn is_covered(&self, p: &Vec3, except: u32, depth: f64) -> bool {
        (0..self.parts.len()).any(|k| k as u32 != except && self.is_within(k, p, depth))
    }

    /// Whether a point of the surface of a face's part is hidden in another part.
    pub(crate) fn is_hidden(&self, p: &Vec3, face: u32) -> bool {
        let size = self.bounds().diagonal();
        self.cover.is_some() && self.is_covered(p, self.part_of_face[face as usize], 1e-9 * size)
    }

    /// Nearest point of the surface (of the union); not a number for a point that is none.
    pub fn closest(&self, p: &Vec3, sides: Sides) -> SurfacePoint {
        let mut best: Option<(u32, OnTriangle)> = None;
        let mut inside = false;
        for (k, part) in self.parts.iter().enumerate() {
            let limit = best.map_or(f64::INFINITY, |b| b.1.distance_squared);
            let may_hold = part.closed && sides != Sides::Both && part.bvh.bounds().contains(p);
            let limit = if may_hold { f64::INFINITY } else { limit };
            let Some((face, on)) = self.nearest(k, p, limit) else { continue };
            let within = may_hold && self.is_inside(k, p, face, &on);
            // Inside a part its surface counts, not that of parts around the point.
            let nearer = best.is_none_or(|b| on.distance_squared < b.1.distance_squared);
            if (within && !inside) || (nearer && within == inside) {
                best = Some((face, on));
            }
            inside |= within;
        }
        // Only a point that is nowhere has no nearest face.
        let Some((face, on)) = best else {
            let nowhere = Vec3::repeat(f64::NAN);
            return SurfacePoint::new(f64::NAN, nowhere, nowhere);
        };
        if inside && let Some(cover) = &self.cover {
            return cover.way_out(self, p).unwrap_or_else(|| self.surface(p, face, &on, true));
        }
        let part = &self.parts[self.part_of_face[face as usize] as usize];
        if sides == Sides::One && !part.closed && !self.is_on_border(face, on.region) {
            let q = blend(&self.mesh.corners(face as usize), &on.weights);
            let (n, _) = self.normal_at(face, &on);
            return self.surface(p, face, &on, (p - q).dot(&n) < 0.0);
        }
        self.surface(p, face, &on, inside)
    }

    /// The answer for a point with its nearest place on the mesh.
    pub(super) fn surface(
        &self,
        p: &Vec3,
        face: u32,
        on: &OnTriangle,
        inside: bool,
    ) -> SurfacePoint {
        let point = blend(&self.mesh.corners(face as usize), &on.weights);
        let sign = if inside { -1.0 } else { 1.0 };
        let distance = (p - point).norm();
        let normal = if distance > 1e-12 * (1.0 + p.amax()) {
            (p - point) * (sign / distance)
        } else {
            let (n, _) = self.normal_at(face, on);
            let turn = self.parts[self.part_of_face[face as usize] as usize].turn;
            if n == Vec3::zeros() { Vec3::z() } else { n * turn }
        };
        SurfacePoint { distance: sign * distance, point, normal, face, weights: on.weights }
    }

    /// Visits the faces whose boxes overlap the given one.
    pub(crate) fn faces_near(&self, query: &Bounds, mut visit: impl FnMut(u32)) {
        for part in &self.parts {
            part.bvh.overlapping(query, |i| visit(part.faces[i as usize]));
        }
    }

    /// Outward normal of an edge, zero at an edge between faces without area.
    pub(crate) fn edge_normal(&self, edge: u32) -> Vec3 {
        let face = self.mesh.topology.edges()[edge as usize].faces[0].expect("left face");
        self.normals.edge[edge as usize]
            * self.parts[self.part_of_face[face as usize] as usize].turn
    }

    /// Outward normal of a vertex.
    pub(crate) fn vertex_normal(&self, vertex: u32) -> Vec3 {
        let faces = self.mesh.topology.vertex_faces(vertex as usize);
        let turn =
            faces.first().map_or(1.0, |&f| self.parts[self.part_of_face[f as usize] as usize].turn);
        self.normals.vertex[vertex as usize] * turn
    }

    /// Whether the part of a face has an inside under the given rule.
    pub(crate) fn has_inside(&self, face: u32, sides: Sides) -> bool {
        match sides {
            Sides::Auto => self.parts[self.part_of_face[face as usize] as usize].closed,
            Sides::One => true,
            Sides::Both => false,
        }
    }

    /// Whether direction n leads away from both faces at an edge: the edge is foremost along n.
    pub(crate) fn is_foremost_edge(&self, edge: u32, n: &Vec3) -> bool {
        let e = &self.mesh.topology.edges()[edge as usize];
        let x = |v: u32| self.mesh.positions[v as usize];
        let (a, b) = (x(e.vertices[0]), x(e.vertices[1]));
        let along = (b - a).normalize();
        e.opposite.iter().flatten().all(|&v| {
            let inward = x(v) - a;
            let inward = inward - along * along.dot(&inward);
            inward.dot(n) <= 0.02 * inward.norm()
        })
    }

    /// Whether all neighbours of a vertex lie behind it, seen along n.
    pub(crate) fn is_foremost_vertex(&self, vertex: u32, n: &Vec3) -> bool {
        let x = |v: u32| self.mesh.positions[v as usize];
        let p = x(vertex);
        self.mesh.topology.vertex_faces(vertex as usize).iter().all(|&f| {
            self.mesh.faces()[f as usize].iter().all(|&v| {
                let d = x(v) - p;
                d.dot(n) <= 0.02 * d.norm()
            })
        })
    }
}
