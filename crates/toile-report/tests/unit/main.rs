//! Pictures, plots and pages: what is drawn, and what is said where something is missing.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub)]

#[path = "../../src/picture/colour.rs"]
mod colour;
mod figures;
mod page;
mod picture;
mod picture_raster;
mod picture_solid;
mod plot;
mod plot_axis;
mod plot_histogram;
mod plot_inline;
mod record;
mod shots;
mod stage;
