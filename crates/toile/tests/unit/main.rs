//! What the one-call functions promise. One binary: each would link everything again.

mod tension;
mod words;
