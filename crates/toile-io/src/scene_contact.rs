//! Colliders, self-contact and time in the scene file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something solid the cloth can touch: exactly one of `mesh`, `plane`, `sphere`, `cylinder`, `capsule`, `cone`,
/// `box`, `torus`, in the axes of the files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collider {
    /// A mesh file, relative to the scene file; closed ones are solid, open ones push on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<String>,
    /// Length of one unit of the mesh file \[m\]; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Everything below a plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<HalfSpace>,
    /// A ball.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sphere: Option<Ball>,
    /// A solid cylinder with flat ends, or without ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinder: Option<Rod>,
    /// A cylinder with round ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capsule: Option<Capsule>,
    /// A solid cone, or a frustum with `top_radius`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cone: Option<SolidCone>,
    /// A box.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub cuboid: Option<Cuboid>,
    /// A ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torus: Option<Ring>,
    /// Coefficient of friction; 0 by default.
    #[serde(default)]
    pub friction: f64,
    /// Contact distance \[m\]; 1e-3 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Which sides of a mesh push.
    #[serde(default)]
    pub sides: Sides,
    /// How it moves; it rests by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motion: Option<ColliderMotion>,
}

/// Which sides of a collider push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// The outside of closed meshes, both sides of open ones.
    #[default]
    Auto,
    /// The side the normals look to.
    One,
    /// Both.
    Both,
}

/// Everything below a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HalfSpace {
    /// A point of the plane \[m\]; the origin by default.
    #[serde(default)]
    pub point: [f64; 3],
    /// Outward normal; `up` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// \[m\]
    pub center: [f64; 3],
    /// \[m\]
    pub radius: f64,
}

/// A cylinder around an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rod {
    /// \[m\]
    pub center: [f64; 3],
    /// Direction of the axis.
    pub axis: [f64; 3],
    /// \[m\]
    pub radius: f64,
    /// Length along the axis \[m\]; without ends when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
}

/// All points within a radius of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// One end of the segment \[m\].
    pub start: [f64; 3],
    /// The other \[m\].
    pub end: [f64; 3],
    /// \[m\]
    pub radius: f64,
}

/// A solid cone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolidCone {
    /// Centre of the base \[m\].
    pub base: [f64; 3],
    /// The tip, or the centre of the top of a frustum \[m\].
    pub tip: [f64; 3],
    /// Radius of the base \[m\].
    pub radius: f64,
    /// Radius of the top \[m\]; a pointed cone by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_radius: Option<f64>,
}

/// A box along the axes, turned by `rotation`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cuboid {
    /// \[m\]
    pub center: [f64; 3],
    /// Lengths of the sides \[m\].
    pub size: [f64; 3],
    /// Turn about the centre: axis times angle \[rad\]; none by default.
    #[serde(default)]
    pub rotation: [f64; 3],
}

/// A torus.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// \[m\]
    pub center: [f64; 3],
    /// Axis of the ring.
    pub axis: [f64; 3],
    /// From the centre to the middle of the tube \[m\].
    pub radius: f64,
    /// Radius of the tube \[m\].
    pub tube: f64,
}

/// How a collider moves: with steady velocities, through keyframes, or through a sequence of meshes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColliderMotion {
    /// Point about which it turns \[m\]; the origin by default.
    #[serde(default)]
    pub pivot: [f64; 3],
    /// Steady velocity \[m/s\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// Steady angular velocity \[rad/s\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<[f64; 3]>,
    /// Places at given times; straight in between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keyframes: Vec<Key>,
    /// Mesh files with the vertices of `mesh`, at given times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<MeshKey>,
}

/// A place at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// \[s\]
    pub time: f64,
    /// Shift from where it is defined \[m\].
    #[serde(default)]
    pub position: [f64; 3],
    /// Turn about the pivot: axis times angle \[rad\].
    #[serde(default)]
    pub rotation: [f64; 3],
}

/// A mesh at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshKey {
    /// \[s\]
    pub time: f64,
    /// A file with the same vertices.
    pub mesh: String,
}

/// Cloth that touches itself, or other cloth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfContact {
    /// Coefficient of friction between layers.
    pub friction: f64,
    /// Distance layers keep \[m\]; 1e-3 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
}

/// How `simulate` goes through time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// Time step \[s\].
    pub step: f64,
    /// Simulated time \[s\].
    pub duration: f64,
    /// Time between frames on disk \[s\], a multiple of the step; every step by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<f64>,
    /// The integrator.
    #[serde(default)]
    pub integrator: IntegratorName,
    /// Damping force per mass and velocity, as by still air \[1/s\]; 0 by default.
    #[serde(default)]
    pub damping: f64,
    /// Newton steps per stage at most; 8 by default, 1 for linearly implicit elasticity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newton_steps: Option<u32>,
}

/// Names of the integrators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IntegratorName {
    /// First order, damps strongly.
    #[default]
    ImplicitEuler,
    /// Second order, two steps.
    Bdf2,
    /// Second order, two stages.
    TrBdf2,
    /// Second order, two stages.
    Sdirk2,
}
