//! What the one-call functions promise. One binary: each would link everything again.

mod fields;
mod friction;
mod gradient;
mod mass;
mod tension;
mod words;
