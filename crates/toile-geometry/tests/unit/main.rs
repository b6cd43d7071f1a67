//! Topology, generators, diagnosis and measures against counts, closed forms and dual numbers.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub)]

use toile_geometry::{MeshError, Topology, TriMesh, Vec3, generate};

mod curvature;
mod diagnose;
mod generators;
mod measure_face_hessian;
mod measure_forms;
mod measure_hinge;
mod mend;
#[path = "../../src/mesh.rs"]
mod mesh;
mod orient;
#[path = "../../src/rng.rs"]
mod rng;
mod shape;
mod topology;
#[path = "../../src/weld.rs"]
mod weld;
