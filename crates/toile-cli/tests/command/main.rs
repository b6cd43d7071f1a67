//! The toile command, run as users run it. One binary: each would link everything again.

mod batch;
mod bench;
mod check;
mod common;
mod drape;
mod export;
mod friction;
mod garments;
mod invert;
mod refusals;
mod report;
mod rod;
mod simulate;
mod validate;
mod view;
