//! Motion with dry friction.
//!
//! Every integrator is a sequence of implicit stages of one shape (`integrator`). A stage finds the
//! displacement at which inertia, elasticity and contact forces balance (`stage`, `linear`, `cushion`), Signorini's and
//! Coulomb's laws included: contacts are rows over the unknowns (`rows`), their stiffness enters one sparse
//! system with the elastic one (`system`). [`Simulator`] strings stages into steps; where no contact forces are found that keep
//! things apart, what would collide goes together (`zones`).

mod cushion;
mod free;
mod held;
mod integrator;
mod layout;
mod linear;
mod rows;
mod simulator;
mod stage;
mod surroundings;
mod system;
mod zones;

pub use integrator::Integrator;
pub use rows::{ContactForce, ContactStatus};
pub use simulator::{
    Checkpoint, ContactSource, Energies, NoContact, Simulator, Snapshot, StepReport,
};
pub use stage::{StageSettings, StageTimings};
pub use surroundings::Surroundings;
pub use zones::Collision;

/// Parts that motion beside fibres shares.
pub(crate) mod internal {
    pub(crate) use super::rows::Row;
    pub(crate) use super::system::System;
}
