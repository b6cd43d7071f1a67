//! The linear solvers against each other, Newton's method and the parts of both. One binary: each would link everything again.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub)]

use toile_solve::{FactorSettings, SolveError};

mod common;
mod direct;
mod eigen;
mod frontal;
mod graph;
mod iterative;
mod lu;
mod newton;
mod ordering;
mod pattern;
mod precondition;
#[path = "../../src/refine.rs"]
mod refine;
