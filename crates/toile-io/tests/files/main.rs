//! What the readers and writers promise. One binary: each would link everything again.

mod atomic;
mod closed_forms;
mod fuzz;
mod large;
mod mutation;
mod refusals;
mod round_trip;
mod scenes;
