//! From energies to equilibria: models, assembly, static equilibrium, and the certificate.
//!
//! A [`Shell`] (mesh, rest shape, material, pins) is added to a [`ModelBuilder`]; the [`Model`] it builds
//! gives energy, gradient and Hessian of everything in it; [`equilibrium`] finds a stable state
//! and judges it by a [`Certificate`], [`frictional_equilibrium`] does with contact and friction; [`trace`] follows a path of equilibria as the load changes.

mod assembly;
mod certificate;
mod continuation;
pub mod dynamics;
mod error;
mod frictional;
mod mixed;
mod model;
mod seam;
mod shell;
mod state;
mod statics;
mod stencils;
mod together;

pub use certificate::{CERTIFIED_RESIDUAL, Certificate, certify, force_unit, stability};
pub use continuation::{PathPoint, PathSettings, trace};
pub use error::SimError;
pub use frictional::{
    CERTIFIED_DRIFT, FrictionalEquilibrium, FrictionalSettings, StaticContact,
    frictional_equilibrium,
};
pub use mixed::MixedPattern;
pub use model::{Model, ModelBuilder};
pub use seam::{
    SewnEdges, Stitch, close_seams, joined_seams, open_seams, pinching_stitches, sewn_edges,
    tied_vertices,
};
pub use shell::{Shell, ShellMaterial, ShellNodes};
pub use state::State;
pub use statics::{Equilibrium, Potential, equilibrium, relax, with_balanced_angles};
pub use stencils::{NO_NODE, Role};
pub use together::{Coupling, RestSettings, Rested, TogetherReport};
