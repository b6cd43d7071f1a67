//! Rods and hair of a scene: their equilibrium, their motion, and the natures behind drawn ones.

mod compared;
mod contact;
mod drape;
mod drawn;
mod error;
mod push;
mod rest;
mod scene;

pub use compared::{RestFound, RestSummary};
pub(crate) use contact::SAG_TIME;
pub use contact::{ContactInversion, invert_contacts};
pub use drape::{RodDrape, drape_rods};
pub use drawn::{DrawnFit, RodInversion, fit_drawn, invert_alone};
pub use error::RodSceneError;
pub use rest::{RodRest, rest_rods};
pub(crate) use scene::scene_fibres;
pub use scene::{RodLine, has_drawn, rod_assembly, rod_lines};

/// What is being done with the fibres of a scene, and how far it is; whoever is told may answer `false` to end it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FibreProgress {
    /// Rods are put into drawn strands.
    Fitting {
        /// Strands that have theirs.
        done: usize,
        /// All strands.
        of: usize,
    },
    /// Natures are found and judged.
    Judging {
        /// Fibres that have theirs.
        done: usize,
        /// All fibres.
        of: usize,
    },
    /// Gaps of a drawing are closed.
    Closing {
        /// Part that is done, at most.
        part: f64,
    },
    /// Forces and natures are sought that hold it.
    Holding {
        /// Part that is done, at most.
        part: f64,
    },
    /// Everything falls until it rests.
    Falling {
        /// Steps taken.
        steps: usize,
        /// Speed of the fastest joint \[m/s\].
        speed: f64,
    },
    /// A result is simulated, to see it stay.
    Watching {
        /// Part of the time that is over.
        part: f64,
    },
}
