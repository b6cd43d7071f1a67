//! What toile tells people: pictures, plots, figures in words, and pages made of them.
//!
//! | need | go to |
//! |---|---|
//! | a picture of meshes without a graphics card | [`picture::render`] |
//! | what there is to see, and its pictures | [`stage::Stage`], [`shots()`] |
//! | a plot as SVG | [`plot::Plot`] |
//! | what the figures of a certificate mean | [`figures::explain`] |
//! | all of it on one page | [`page::Page`] |
//! | the same for the viewer | [`record::Recorder`] |
//!
//! Numbers come in as plain arrays and leave as text or bytes: no numerics, no files, no clock in here.

pub mod figures;
pub mod page;
pub mod picture;
pub mod plot;
pub mod record;
mod shots;
pub mod stage;

pub use shots::{Shown, shots};
