//! What touches what: colliders, proximity between layers, continuous collision detection.

mod contact;

pub use contact::{Contact, ContactKey};
