//! Inverse design: the rest shape for which a target is a stable equilibrium under gravity and dry friction.
//!
//! [`invert`] takes a [`Garment`] (target shells, material, gravity, colliders) and returns an [`Inversion`]: rest shape,
//! equilibrium, contact forces and a certificate that says whether it holds. Contacts are where the target comes near a collider.
//! [`Adjoint`] tells how an equilibrium moves with its rest shape, its material and its supports.

mod adjoint;
mod cone;
mod design;
mod diagnosis;
mod ease;
mod error;
mod exact;
mod fabric;
mod feasible;
pub mod found;
pub mod gallery;
mod garment;
mod held;
mod hover;
mod judge;
mod kkt;
mod nearest;
mod reach;
pub mod reference;
mod search;
mod settle;
mod slide;
mod stickier;
mod touch;

pub use adjoint::{Adjoint, Pullback};
pub use design::{
    ContactResult, InverseSettings, InverseStep, Inversion, Phase, invert, invert_shown,
};
pub use diagnosis::{Cause, Diagnosis};
pub use error::InverseError;
pub use garment::{Garment, LayerContact};
pub use hover::Tolerance;
pub use judge::Crossing;
pub use touch::{Evening, Parting, Sewing, TargetContact, Touching};
