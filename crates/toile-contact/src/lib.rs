//! What touches what: colliders, proximity between layers, continuous collision detection.
//!
//! A [`Collider`] is a [`Shape`] with a [`Motion`]; [`Collider::at`] places it in time for queries.
//! [`collider_contacts`] finds where cloth touches colliders, [`Layers::contacts`] where it touches
//! itself. [`Layers::earliest_impact`] and [`collider_impacts`] say how far a step can go before
//! anything passes through anything else; [`penetrations`] lists what already has, [`push_out`]
//! and [`part_layers`] repair what can be. Lengths in metres, times in seconds; answers do not depend on threads.

mod advance;
mod apart;
mod bounds;
mod bvh;
mod collider;
mod contact;
mod crossing;
mod distance;
mod error;
mod impact;
mod layers;
mod motion;
mod owner;
mod passing;
mod penetration;
mod pierce;
mod predicate;
mod proximity;
// Lints look at the tests that modules keep from here, too.
#[cfg(test)]
#[path = "../tests/unit/random.rs"]
mod random;
mod roll;
mod shape;
mod side;
mod surface;
mod touch;
mod way;

pub use apart::{Parted, part_layers};
pub use bounds::Bounds;
pub use bvh::Bvh;
pub use collider::{Closest, Collider, PlacedCollider};
pub use contact::{Contact, ContactKey};
pub use distance::{
    BetweenSegments, OnTriangle, Region, point_segment, point_triangle, segment_segment,
};
pub use error::ContactError;
pub use impact::{Impact, ImpactPair, first_impact, safe_fraction};
pub use layers::{LayerPair, Layers, Span, Spread};
pub use motion::{Keyframe, Motion, RigidState};
pub use penetration::{Intrusion, Penetration, PushOut, penetrations, push_out};
pub use pierce::{piercing_contacts, piercing_impacts};
pub use proximity::LayerSettings;
pub use roll::{Roll, rolls};
pub use shape::{MeshShape, Pose, Shape, Sides, SurfacePoint};
pub use side::LayerSides;
pub use surface::Surface;
pub use touch::{INSIDE, collider_contacts};
pub use way::collider_impacts;
