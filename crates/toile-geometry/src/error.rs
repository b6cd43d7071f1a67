//! Why a mesh is refused.

use thiserror::Error;

/// The first reason found why a set of triangles cannot carry shell energies.
///
/// [`diagnose`](crate::diagnose()) lists every problem at once; this type names one, where
/// code has to stop.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// More vertices or half-edges than 32-bit numbers can name.
    #[error(
        "the mesh has {vertices} vertices and {faces} faces; at most {limit} of each can be numbered: \
         decimate it or split it",
        limit = crate::topology::MAX_ELEMENTS
    )]
    TooLarge {
        /// Number of vertices asked for.
        vertices: usize,
        /// Number of faces asked for.
        faces: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error(
        "vertex {vertex} has a coordinate that is not a finite number; correct it or remove the vertex"
    )]
    NotFinite {
        /// Number of the vertex.
        vertex: usize,
    },
    /// A face names a vertex that does not exist.
    #[error(
        "face {face} uses vertex {vertex}, but there are only {vertex_count} vertices \
         (counted from 0); correct the index"
    )]
    IndexOutOfRange {
        /// Number of the face.
        face: usize,
        /// The index it gives.
        vertex: u32,
        /// Number of vertices of the mesh.
        vertex_count: usize,
    },
    /// A face names the same vertex twice.
    #[error("face {face} uses vertex {vertex} more than once; remove the face")]
    RepeatedVertex {
        /// Number of the face.
        face: usize,
        /// The vertex that comes twice.
        vertex: u32,
    },
    /// Two faces have the same three vertices.
    #[error("faces {first} and {second} have the same three vertices; remove one of them")]
    DuplicateFace {
        /// The face that comes first.
        first: usize,
        /// The face that repeats it.
        second: usize,
    },
    /// An edge belongs to three faces or more.
    #[error(
        "the edge between vertices {a} and {b} belongs to {count} faces (faces {first}, {second}, \
         {third}…), at most 2 make a surface; remove faces or split the edge's vertices",
        a = vertices[0], b = vertices[1], first = faces[0], second = faces[1], third = faces[2]
    )]
    NonManifoldEdge {
        /// The two ends of the edge.
        vertices: [u32; 2],
        /// The first three faces at the edge.
        faces: [usize; 3],
        /// How many faces there are at the edge.
        count: usize,
    },
    /// Two neighbours turn opposite ways.
    #[error(
        "faces {first} and {second} run along their common edge ({a}, {b}) in the same direction, so \
         their normals point to opposite sides; orient the faces consistently \
         (`orient_consistently`) or reverse one of them",
        first = faces[0], second = faces[1], a = vertices[0], b = vertices[1]
    )]
    InconsistentOrientation {
        /// The two faces.
        faces: [usize; 2],
        /// The two ends of their common edge.
        vertices: [u32; 2],
    },
}
