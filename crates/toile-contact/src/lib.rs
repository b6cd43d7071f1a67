//! What touches what: colliders, proximity between layers, continuous collision detection.

mod bounds;
mod bvh;
mod collider;
mod contact;
mod distance;
mod error;
mod motion;
mod owner;
#[cfg(test)]
mod random;
mod shape;
mod touch;

pub use bounds::Bounds;
pub use bvh::Bvh;
pub use collider::{Closest, Collider, PlacedCollider};
pub use contact::{Contact, ContactKey};
pub use distance::{
    BetweenSegments, OnTriangle, Region, point_segment, point_triangle, segment_segment,
};
pub use error::ContactError;
pub use motion::{Keyframe, Motion, RigidState};
pub use shape::{MeshShape, Pose, Shape, Sides, SurfacePoint};
pub use touch::collider_contacts;
