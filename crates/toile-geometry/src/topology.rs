//! Connectivity of a triangle mesh, checked when it is built.

use crate::MeshError;
use crate::half_edges::{HalfEdge, by_edge, sorted_half_edges};

/// Largest number of vertices and of faces: the sides of all faces are numbered in 32 bits.
pub const MAX_ELEMENTS: usize = (u32::MAX / 3) as usize;

/// An edge with the faces on both sides.
///
/// The edge a→b runs along `faces[0]`, which lies on its left; `faces[1]`, if any, sees it
/// as b→a. `opposite[k]` is the vertex of `faces[k]` that is not on the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The ends a and b.
    pub vertices: [u32; 2],
    /// Faces on the left and on the right; the left one always exists.
    pub faces: [Option<u32>; 2],
    /// Vertices across the edge, in the left and in the right face.
    pub opposite: [Option<u32>; 2],
}

impl Edge {
    /// Whether only one face touches the edge.
    pub fn is_boundary(&self) -> bool {
        self.faces[1].is_none()
    }
}

/// The pieces of a mesh that share no vertex and are not sewn together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// How many pieces there are.
    pub count: usize,
    /// The piece of each face, numbered in the order in which the faces reach them.
    pub of_face: Vec<u32>,
    /// The piece of each vertex; `None` for a vertex without faces.
    pub of_vertex: Vec<Option<u32>>,
}

/// Connectivity of a triangle mesh: valid indices, manifold edges, consistent orientation.
///
/// Knows no positions. Edges are numbered in the order in which the faces reach them
/// (face by face, the side opposite to corner 0, 1, 2), so the same faces always give the
/// same numbers. Vertices without faces and vertices where two sheets touch (bow ties) are
/// allowed: no energy is undefined there; [`diagnose`](crate::diagnose()) reports them.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    faces: Vec<[u32; 3]>,
    edges: Vec<Edge>,
    face_edges: Vec<[u32; 3]>,
    /// Faces of vertex v: `vertex_faces[vertex_starts[v]..vertex_starts[v + 1]]`.
    vertex_starts: Vec<u32>,
    vertex_faces: Vec<u32>,
    on_boundary: Vec<bool>,
    /// Vertices each vertex is sewn to; empty where nothing is sewn.
    sewn: Vec<Vec<u32>>,
}

impl Topology {
    /// Connects the faces, or says what makes them no surface.
    ///
    /// Refuses indices out of range, a vertex repeated in a face, two faces with the same
    /// vertices, edges with three faces or more, and neighbours of opposite orientation.
    /// O(n log n) in the number of faces; memory grows with `vertex_count` too.
    pub fn new(vertex_count: usize, faces: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        if vertex_count > MAX_ELEMENTS || faces.len() > MAX_ELEMENTS {
            return Err(MeshError::TooLarge { vertices: vertex_count, faces: faces.len() });
        }
        check_faces(vertex_count, &faces)?;
        let half_edges = sorted_half_edges(&faces, |_| true);
        for group in by_edge(&half_edges) {
            check_edge(group, &faces)?;
        }
        let (edges, face_edges) = number_edges(&half_edges, &faces);

        let mut on_boundary = vec![false; vertex_count];
        for edge in edges.iter().filter(|edge| edge.is_boundary()) {
            for v in edge.vertices {
                on_boundary[v as usize] = true;
            }
        }
        let (vertex_starts, vertex_faces) = faces_by_vertex(vertex_count, &faces);
        let sewn = Vec::new();
        Ok(Self { faces, edges, face_edges, vertex_starts, vertex_faces, on_boundary, sewn })
    }

    /// The same with pairs of vertices sewn together, besides those that were: pieces hang together there, and
    /// parts of the surface that meet at a seam are neighbours, not layers.
    ///
    /// Panics if there is no such vertex.
    #[must_use]
    pub fn with_sewn(mut self, pairs: impl IntoIterator<Item = [u32; 2]>) -> Self {
        for [a, b] in pairs {
            if self.sewn.is_empty() {
                self.sewn = vec![Vec::new(); self.vertex_count()];
            }
            self.sewn[a as usize].push(b);
            self.sewn[b as usize].push(a);
        }
        for others in &mut self.sewn {
            others.sort_unstable();
            others.dedup();
        }
        self
    }

    /// Vertices that a vertex is sewn to, in increasing order. Panics if there is no such vertex.
    pub fn sewn_to(&self, vertex: usize) -> &[u32] {
        if self.sewn.is_empty() {
            assert!(vertex < self.vertex_count(), "no vertex {vertex}");
            return &[];
        }
        &self.sewn[vertex]
    }

    /// Whether a vertex of the first kind is sewn to one of the second.
    pub fn are_sewn(&self, first: &[u32], second: &[u32]) -> bool {
        !self.sewn.is_empty()
            && first.iter().any(|&a| self.sewn[a as usize].iter().any(|b| second.contains(b)))
    }

    /// Number of vertices, with or without faces.
    pub fn vertex_count(&self) -> usize {
        self.on_boundary.len()
    }

    /// Number of faces.
    pub fn face_count(&self) -> usize {
        self.faces.len()
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Vertices of each face, counter-clockwise seen from the side of its normal.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// The edges, numbered in the order in which the faces reach them.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// `face_edges()[f]\[m\]` is the edge opposite to corner m of face f.
    pub fn face_edges(&self) -> &[[u32; 3]] {
        &self.face_edges
    }

    /// Faces around a vertex, in increasing order. Panics if there is no such vertex.
    pub fn vertex_faces(&self, vertex: usize) -> &[u32] {
        let (start, end) = (self.vertex_starts[vertex], self.vertex_starts[vertex + 1]);
        &self.vertex_faces[start as usize..end as usize]
    }

    /// Whether the vertex is an end of a boundary edge. Panics if there is no such vertex.
    pub fn is_boundary_vertex(&self, vertex: usize) -> bool {
        self.on_boundary[vertex]
    }

    /// The edges that have two faces.
    pub fn interior_edges(&self) -> impl Iterator<Item = (usize, &Edge)> {
        let edges = self.edges.iter().enumerate();
        edges.filter(|(_, edge)| !edge.is_boundary())
    }

    /// Whether every edge has two faces.
    pub fn is_closed(&self) -> bool {
        !self.edges.iter().any(Edge::is_boundary)
    }

    /// Neighbour across the edge opposite to corner m of face f.
    pub fn neighbour(&self, face: usize, corner: usize) -> Option<u32> {
        let edge = &self.edges[self.face_edges[face][corner] as usize];
        if edge.faces[0] == Some(face as u32) { edge.faces[1] } else { edge.faces[0] }
    }

    /// V − E + F, counting only vertices that have faces: 2 for a sphere, 1 for a disc,
    /// 0 for a cylinder or an annulus.
    pub fn euler_characteristic(&self) -> i64 {
        let starts = &self.vertex_starts;
        let vertices = starts.windows(2).filter(|pair| pair[0] != pair[1]).count();
        vertices as i64 - self.edges.len() as i64 + self.faces.len() as i64
    }

    /// The boundary, as closed loops of vertices with the surface on the left.
    ///
    /// Loops come in the order of their first edge. Where two sheets touch in one vertex the
    /// loop stays on its sheet, so that the vertex may occur twice.
    pub fn boundary_loops(&self) -> Vec<Vec<u32>> {
        let mut done = vec![false; self.edges.len()];
        let mut loops = Vec::new();
        for first in 0..self.edges.len() {
            if !self.edges[first].is_boundary() || done[first] {
                continue;
            }
            let mut vertices = Vec::new();
            let mut edge = first;
            while !done[edge] {
                done[edge] = true;
                vertices.push(self.edges[edge].vertices[0]);
                edge = self.next_on_boundary(edge);
            }
            loops.push(vertices);
        }
        loops
    }

    /// The boundary edge that starts where the given one ends, found by turning around that
    /// end through the faces. The turn is a permutation of the half-edges without boundary
    /// images, so it reaches the boundary after each face at most once.
    fn next_on_boundary(&self, edge: usize) -> usize {
        let pivot = self.edges[edge].vertices[1];
        let mut face = self.edges[edge].faces[0].expect("every edge has a left face") as usize;
        loop {
            // The side pivot → next corner is opposite to the corner before the pivot.
            let corner = self.corner(face, pivot);
            let before = (corner + 2) % 3;
            match self.neighbour(face, before) {
                Some(across) => face = across as usize,
                None => return self.face_edges[face][before] as usize,
            }
        }
    }

    /// Position of a vertex in one of its faces.
    fn corner(&self, face: usize, vertex: u32) -> usize {
        let corners = self.faces[face].iter();
        let mut hits = corners.enumerate().filter(|&(_, &v)| v == vertex);
        hits.next().expect("the face contains the vertex").0
    }

    /// The pieces that share no vertex and are not sewn together.
    pub fn components(&self) -> Components {
        let pairs = self.sewn.iter().enumerate();
        let pairs = pairs.flat_map(|(a, others)| others.iter().map(move |&b| [a as u32, b]));
        joined_components(self.vertex_count(), &self.faces, pairs)
    }
}

/// Pieces of a face set with valid indices, joined through common vertices.
pub(crate) fn components(vertex_count: usize, faces: &[[u32; 3]]) -> Components {
    joined_components(vertex_count, faces, std::iter::empty())
}

fn joined_components(
    vertex_count: usize,
    faces: &[[u32; 3]],
    pairs: impl Iterator<Item = [u32; 2]>,
) -> Components {
    let mut parent: Vec<u32> = (0..vertex_count as u32).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            // Path halving keeps the trees flat.
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for face in faces {
        let first = root(&mut parent, face[0]);
        for &v in &face[1..] {
            let other = root(&mut parent, v);
            let first = root(&mut parent, first);
            parent[first.max(other) as usize] = first.min(other);
        }
    }
    for [a, b] in pairs {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut label = vec![None; vertex_count];
    let mut count = 0;
    let mut of_vertex = vec![None; vertex_count];
    let mut of_face = Vec::with_capacity(faces.len());
    for face in faces {
        let top = root(&mut parent, face[0]) as usize;
        let piece = *label[top].get_or_insert_with(|| {
            count += 1;
            count - 1
        });
        of_face.push(piece);
        for &v in face {
            of_vertex[v as usize] = Some(piece);
        }
    }
    Components { count: count as usize, of_face, of_vertex }
}

fn check_faces(vertex_count: usize, faces: &[[u32; 3]]) -> Result<(), MeshError> {
    for (f, &[a, b, c]) in faces.iter().enumerate() {
        if let Some(&vertex) = [a, b, c].iter().find(|&&v| v as usize >= vertex_count) {
            return Err(MeshError::IndexOutOfRange { face: f, vertex, vertex_count });
        }
        if a == b || b == c || c == a {
            let vertex = if b == c { b } else { a };
            return Err(MeshError::RepeatedVertex { face: f, vertex });
        }
    }
    Ok(())
}

fn check_edge(group: &[HalfEdge], faces: &[[u32; 3]]) -> Result<(), MeshError> {
    if group.len() < 2 {
        return Ok(());
    }
    // Duplicates first: they are also the usual cause of edges with many faces.
    let mut opposite: Vec<(u32, usize)> =
        group.iter().map(|h| (h.opposite(faces), h.face())).collect();
    opposite.sort_unstable();
    if let Some(pair) = opposite.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(MeshError::DuplicateFace { first: pair[0].1, second: pair[1].1 });
    }
    if group.len() > 2 {
        return Err(MeshError::NonManifoldEdge {
            vertices: group[0].ends(),
            faces: [group[0].face(), group[1].face(), group[2].face()],
            count: group.len(),
        });
    }
    if group[0].directed(faces) == group[1].directed(faces) {
        return Err(MeshError::InconsistentOrientation {
            faces: [group[0].face(), group[1].face()],
            vertices: group[0].ends(),
        });
    }
    Ok(())
}

/// Edges in the order in which the faces reach them. The groups have been checked.
fn number_edges(half_edges: &[HalfEdge], faces: &[[u32; 3]]) -> (Vec<Edge>, Vec<[u32; 3]>) {
    // Groups are sorted by half-edge inside, so the first of a group is where the edge appears.
    const NONE: u32 = u32::MAX;
    let mut twin = vec![[NONE; 3]; faces.len()];
    let mut leads = vec![[false; 3]; faces.len()];
    for group in by_edge(half_edges) {
        let first = group[0];
        leads[first.face()][first.corner()] = true;
        if let [_, second] = group {
            twin[first.face()][first.corner()] = (3 * second.face() + second.corner()) as u32;
        }
    }
    let mut edges = Vec::with_capacity(half_edges.len() * 2 / 3);
    let mut face_edges = vec![[NONE; 3]; faces.len()];
    for (f, face) in faces.iter().enumerate() {
        for m in 0..3 {
            if !leads[f][m] {
                continue;
            }
            let number = edges.len() as u32;
            face_edges[f][m] = number;
            let across = match twin[f][m] {
                NONE => None,
                t => Some((t as usize / 3, t as usize % 3)),
            };
            if let Some((g, n)) = across {
                face_edges[g][n] = number;
            }
            edges.push(Edge {
                vertices: [face[(m + 1) % 3], face[(m + 2) % 3]],
                faces: [Some(f as u32), across.map(|(g, _)| g as u32)],
                opposite: [Some(face[m]), across.map(|(g, n)| faces[g][n])],
            });
        }
    }
    (edges, face_edges)
}

/// Faces of each vertex as (starts, faces), by counting.
pub(crate) fn faces_by_vertex(vertex_count: usize, faces: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; vertex_count + 1];
    for &v in faces.iter().flatten() {
        starts[v as usize + 1] += 1;
    }
    for v in 0..vertex_count {
        starts[v + 1] += starts[v];
    }
    let mut next = starts.clone();
    let mut list = vec![0u32; 3 * faces.len()];
    for (f, face) in faces.iter().enumerate() {
        for &v in face {
            list[next[v as usize] as usize] = f as u32;
            next[v as usize] += 1;
        }
    }
    (starts, list)
}
