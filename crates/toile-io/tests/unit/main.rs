//! What the readers and writers promise. One binary: each would link everything again.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub)]

mod atomic;
mod attached;
mod axes;
#[path = "../../src/base64.rs"]
mod base64;
mod checkpoint;
mod closed_forms;
mod contact_forces;
mod csv;
mod fclib;
mod fibre_checkpoint;
mod friction;
mod fuzz;
mod generate;
mod jobs;
mod large;
/// What `stitches` names.
mod mesh {
    pub(crate) use toile_io::Stitch;
}
mod model;
mod mutation;
mod object;
mod point_cache;
mod refusals;
mod round_trip;
mod scenes;
#[path = "../../src/stitches.rs"]
mod stitches;
mod strands;
#[path = "../../src/suggest.rs"]
mod suggest;
mod usd;
mod vtk;
