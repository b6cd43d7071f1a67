//! Triangle meshes for toile: connectivity, generators, diagnosis and measures with
//! derivatives.
//!
//! Start with [`TriMesh`] and [`Topology`]; [`generate`] makes meshes out of numbers and
//! `diagnose` says in words what is wrong with somebody else's. Positions are in metres,
//! z is up, faces run counter-clockwise seen from the side of their normal.

mod error;
pub mod generate;
mod half_edges;
pub mod measure;
mod mesh;
mod topology;

pub use error::MeshError;
pub use mesh::TriMesh;
pub use topology::{Components, Edge, MAX_ELEMENTS, Topology};

/// A point or vector in space.
pub type Vec3 = nalgebra::Vector3<f64>;
