//! Motion with dry friction.
//!
//! Every integrator is a sequence of implicit stages of one shape (`integrator`). A stage finds the
//! displacement at which inertia, elasticity and contact forces balance (`stage`, `proximal`, `touches`, `linear`, `share`, `cushion`), Signorini's and
//! Coulomb's laws included: contacts are rows over the unknowns (`rows`), those inside edges and faces roll (`rolling`), their stiffness enters one sparse
//! system with the elastic one (`system`). [`Simulator`] strings stages into steps; it looks for contacts before and after
//! each (`looking`); where no contact forces are found that keep things apart, what would collide goes together (`fallback`, `zones`).

mod blocked;
mod checkpoint;
mod cushion;
mod fallback;
mod free;
mod held;
mod integrator;
mod layout;
mod linear;
mod looking;
mod many;
mod proximal;
mod report;
mod rolling;
mod rows;
mod share;
mod simulator;
mod source;
mod stage;
mod surroundings;
mod system;
mod touches;
mod zones;

pub use checkpoint::{Checkpoint, Snapshot};
pub use integrator::Integrator;
pub use report::{Energies, StepReport};
pub use rows::{ContactForce, ContactStatus};
pub use simulator::Simulator;
pub use source::{ContactSource, NoContact, Reach};
pub use stage::{StageSettings, StageTimings};
pub use surroundings::Surroundings;
pub use zones::Collision;

/// Parts that motion beside fibres shares.
pub(crate) mod internal {
    pub(crate) use super::rows::Row;
    pub(crate) use super::system::System;
}
