//! Triangle meshes for toile: connectivity, generators, diagnosis and measures with
//! derivatives.
//!
//! Start with [`TriMesh`] and [`Topology`]; [`generate`] makes meshes out of numbers and
//! [`diagnose()`] says in words what is wrong with somebody else's. Positions are in metres,
//! z is up, faces run counter-clockwise seen from the side of their normal.

mod curvature;
mod diagnose;
mod error;
pub mod generate;
mod half_edges;
pub mod measure;
mod mend;
mod mesh;
mod orient;
mod rng;
mod shape;
mod topology;
mod weld;

pub use curvature::{
    DefectDerivatives, angle_defect_derivatives, angle_defects, corner_angle,
    corner_angle_gradient, corner_angle_hessian, total_curvature,
};
pub use diagnose::{Element, Problem, ProblemKind, Severity, diagnose};
pub use error::MeshError;
pub use mend::{
    MendCounts, MendSettings, Mended, even_out, inverted_faces, is_surface, meeting_borders, mend,
    unfit_faces,
};
pub use mesh::TriMesh;
pub use orient::orient_consistently;
pub use shape::{bounding_box, face_areas, face_normals, size, vertex_areas, vertex_normals};
pub use topology::{Components, Edge, MAX_ELEMENTS, Topology};
pub use weld::{Welded, weld};

/// A point or vector in space.
pub type Vec3 = nalgebra::Vector3<f64>;
