//! The linear solvers against each other. One binary: each would link everything again.

mod common;
mod direct;
mod iterative;
