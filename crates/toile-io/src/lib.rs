//! The files of toile: scenes, meshes and tables.
//!
//! | need | call |
//! |---|---|
//! | read a mesh of any format | [`read_mesh`], in memory [`parse_mesh`] |
//! | read a scene | [`load_scene`], in memory [`parse_scene`], [`parse_scene_at`] with [`Attached`] meshes |
//! | the colliders of a scene | [`load_colliders`] |
//! | the rods of a scene, and their stations | [`load_rods`], [`write_stations`] |
//! | drawn fibres: hair files | [`load_drawn`], [`read_strands`], [`write_strands`] |
//! | the JSON schema of scenes | [`scene_schema`] |
//! | write OBJ, PLY, GLB, VTK, CSV | [`write_obj`], [`write_ply`], [`write_glb`], [`write_vtp`], [`write_csv`] |
//! | moving meshes: PC2, MDD, USD, VTK series | [`write_pc2`], [`write_mdd`], [`write_usda`], [`write_pvd`] |
//! | many scenes from one: job lists | [`plan_jobs`] |
//! | friction problems and their solutions, JSON and FCLib | [`read_friction`], [`write_friction`], [`export_friction`] |
//! | go on with a simulation | [`read_checkpoint`], [`write_checkpoint`], [`began_pushed_out`] |
//! | write any file whole or not at all | [`atomic_write`] |
//! | centimetres, y up | [`Axes`] |
//!
//! Readers never panic, hang or allocate more than a fixed multiple of their input: every count of
//! a header is compared with the bytes that are present before anything is reserved. All errors say
//! which file, where in it, what is wrong and what to do.

#![forbid(unsafe_code)]

mod atomic;
mod attached;
mod axes;
mod base64;
mod checkpoint;
mod colliders;
mod contact_forces;
mod csv;
mod error;
mod fclib;
mod fibre_checkpoint;
mod friction;
mod friction_matrix;
mod friction_write;
mod generate;
mod glb_write;
mod gltf;
mod gltf_data;
mod hdf5;
mod jobs;
mod mesh;
mod model;
mod obj;
mod obj_write;
mod object;
mod ply;
mod ply_header;
mod ply_write;
mod point_cache;
mod rods;
mod scene;
mod scene_check;
mod scene_contact;
mod scene_error;
mod scene_load;
mod scene_rod;
mod scene_schema;
mod scene_tree;
mod stitches;
mod stl;
mod strands;
mod suggest;
mod surface;
mod text;
mod trim;
mod usd;
mod usd_curves;
mod usd_transform;
mod vtk;
mod weld;

/// Parts that have tests of their own.
#[doc(hidden)]
pub mod internal {
    pub use crate::checkpoint::{checkpoint_text, checksum};
    pub use crate::fibre_checkpoint::text as fibre_checkpoint_text;
    pub use crate::jobs::fits;
}

pub use atomic::{WriteError, atomic_write};
pub use attached::Attached;
pub use axes::{Axes, Up};
pub use base64::encode as base64_encode;
pub use checkpoint::{
    CheckpointError, began_pushed_out, contact_words, parse_checkpoint, read_checkpoint,
    write_checkpoint,
};
pub use colliders::{LoadedCollider, load_colliders, loaded_colliders};
pub use contact_forces::{load_contact_forces, write_contact_forces};
pub use csv::{Cell, csv_to, write_csv};
pub use error::{MeshError, Place};
pub use fibre_checkpoint::{parse_fibre_checkpoint, read_fibre_checkpoint, write_fibre_checkpoint};
pub use friction::{FrictionError, FrictionFile, FrictionProblem, parse_friction, read_friction};
pub use friction_matrix::{FrictionMatrix, GlobalFriction, SparseMatrix};
pub use friction_write::{FrictionAnswer, export_friction, write_friction};
pub use glb_write::{GlbMesh, glb_to, write_glb};
pub use jobs::{Job, JobCommand, JobError, JobList, plan_jobs};
pub use mesh::{Group, MeshData, MeshFormat, Stitch, parse_mesh, read_mesh, sniff_format};
pub use model::{LoadedShell, load_shell, load_shells, scene_gravity, unsupported_piece};
pub use obj::{parse_stitches, read_stitches};
pub use obj_write::{ObjWriter, obj_to, write_obj};
pub use object::Object;
pub use ply_write::{PlyWriter, ply_to, write_ply};
pub use point_cache::{Frames, mdd_to, pc2_to, write_mdd, write_pc2};
pub use rods::{
    DrawnFibre, FIBRE_RADIUS, LoadedGrowth, LoadedRod, load_drawn, load_rods, read_stations,
    write_natural, write_stations,
};
pub use scene::{
    Annulus, Bending, Cone, Cylinder, Disc, DiscreteShells, Generator, Invert, Koiter, Material,
    Membrane, MeshSource, Normals, Pins, Plane, Rectangle, Rest, Scene, Sheet, Shell, Solver,
    Sphere, Strip, Triangulation, Young,
};
pub use scene_contact::{
    Ball, Capsule, Collider, ColliderMotion, Cuboid, HalfSpace, IntegratorName, Key, MeshKey, Ring,
    Rod, SelfContact, Sides, SolidCone, Time,
};
pub use scene_error::{Diagnostic, SceneError};
pub use scene_load::{SceneFormat, load_scene, parse_scene, parse_scene_at};
pub use scene_rod::{
    HairTable, NaturalPolynomials, NaturalSource, RodClamp, RodModel, RodParent, RodTable,
};
pub use scene_schema::scene_schema;
pub use scene_tree::SceneSource;
pub use strands::{StrandFormat, Strands, parse_strands, read_strands, write_strands};
pub use trim::leave_out_trims;
pub use usd::{MeshFrames, UsdMesh, UsdStage, usda_to, write_usda};
pub use vtk::{vtp_to, write_pvd, write_vtp};
