//! The toile command, run as users run it. One binary: each would link everything again.
//!
//! Modules of the command with tests of their own are compiled again here.

#![allow(dead_code)]

mod batch;
mod bench;
#[path = "../../src/bench_measure.rs"]
mod bench_measure;
mod check;
mod common;
mod drape;
mod export;
mod fibres;
mod friction;
mod garments;
mod invert;
mod mixed;
#[path = "../../src/names.rs"]
mod names;
#[path = "../../src/random_scene.rs"]
mod random_scene;
mod refusals;
mod report;
mod rod;
mod simulate;
#[path = "../../src/show/timing.rs"]
mod timing;
mod tree;
mod validate;
mod view;
