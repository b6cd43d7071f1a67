//! A shape that moves, and where it is at one time.

use std::borrow::Cow;

use toile_geometry::Vec3;

use crate::shape::{Form, MeshShape};
use crate::{Bounds, ContactError, Motion, Pose, RigidState, Shape, Sides, SurfacePoint};

/// Something cloth can touch: a shape, how it moves, how rough it is.
#[derive(Clone, Debug)]
pub struct Collider {
    shape: Shape,
    motion: Motion,
    friction: f64,
    gap: f64,
    sides: Sides,
}

/// The nearest point of a collider, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Signed distance \[m\], negative inside.
    pub distance: f64,
    /// Nearest point of the surface \[m\].
    pub point: Vec3,
    /// Unit normal, along which the distance grows.
    pub normal: Vec3,
    /// Velocity of the material point of the surface \[m/s\].
    pub velocity: Vec3,
}

fn not_negative(what: &'static str, value: f64) -> Result<f64, ContactError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(ContactError::Negative { what, value })
    }
}

impl Collider {
    /// Distance kept to a collider when nothing else is said \[m\]: about two thicknesses of cloth.
    pub const DEFAULT_GAP: f64 = 1e-3;

    /// A frictionless collider with the default gap, both changed by the `with_` methods.
    pub fn new(shape: Shape, motion: Motion) -> Result<Self, ContactError> {
        if let crate::motion::Kind::Sequence { frames, .. } = &motion.kind {
            let mesh = shape.as_mesh().ok_or(ContactError::SequenceWithoutMesh)?;
            let (expected, found) = (mesh.mesh().positions.len(), frames[0].len());
            if expected != found {
                return Err(ContactError::SequenceCount { key: 0, expected, found });
            }
        }
        Ok(Self { shape, motion, friction: 0.0, gap: Self::DEFAULT_GAP, sides: Sides::Auto })
    }

    /// A collider that stays where it is.
    pub fn fixed(shape: Shape) -> Self {
        let motion = Motion::fixed();
        Self { shape, motion, friction: 0.0, gap: Self::DEFAULT_GAP, sides: Sides::Auto }
    }

    /// Sets the coefficient of friction.
    pub fn with_friction(self, friction: f64) -> Result<Self, ContactError> {
        Ok(Self { friction: not_negative("the friction of the collider", friction)?, ..self })
    }

    /// Sets the distance the cloth keeps \[m\].
    pub fn with_gap(self, gap: f64) -> Result<Self, ContactError> {
        Ok(Self { gap: not_negative("the gap of the collider [m]", gap)?, ..self })
    }

    /// Sets which sides push.
    pub fn with_sides(self, sides: Sides) -> Self {
        Self { sides, ..self }
    }

    /// What it is made of, as defined.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How it moves.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// Coefficient of friction.
    pub fn friction(&self) -> f64 {
        self.friction
    }

    /// Distance the cloth keeps \[m\].
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// Which sides push.
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// The collider at time t \[s\]. Cheap for rigid motions; a mesh sequence is copied.
    pub fn at(&self, t: f64) -> PlacedCollider<'_> {
        let state = self.motion.rigid_at(t);
        let (solid, mesh) = match self.shape.form() {
            Form::Solid { solid, frame } => (Some((solid, state.pose.after(frame))), None),
            Form::Mesh(mesh) => (None, Some(mesh)),
        };
        let (mesh, vertex_velocities) = match (mesh, self.motion.frame_at(t)) {
            (Some(mesh), Some((positions, velocities))) => {
                (Some(Cow::Owned(Box::new(mesh.deformed(positions)))), velocities)
            }
            (mesh, _) => (mesh.map(Cow::Borrowed), Vec::new()),
        };
        let body = match (solid, mesh) {
            (Some((solid, pose)), _) => Body::Solid { solid: *solid, pose },
            (None, mesh) => Body::Mesh(mesh.expect("a shape is a solid or a mesh")),
        };
        PlacedCollider { collider: self, body, state, vertex_velocities }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Body<'a> {
    Solid { solid: crate::shape::Solid, pose: Pose },
    Mesh(Cow<'a, Box<MeshShape>>),
}

/// A collider at one time, for queries in the world.
#[derive(Clone, Debug)]
pub struct PlacedCollider<'a> {
    collider: &'a Collider,
    pub(crate) body: Body<'a>,
    state: RigidState,
    /// Of a mesh sequence; empty for rigid motions.
    vertex_velocities: Vec<Vec3>,
}

impl PlacedCollider<'_> {
    /// What has been placed.
    pub fn collider(&self) -> &Collider {
        self.collider
    }

    /// Coefficient of friction.
    pub fn friction(&self) -> f64 {
        self.collider.friction
    }

    /// Distance the cloth keeps \[m\].
    pub fn gap(&self) -> f64 {
        self.collider.gap
    }

    /// Place and velocity as a rigid body; at rest for a mesh sequence.
    pub fn state(&self) -> &RigidState {
        &self.state
    }

    /// Nearest point of the surface, its normal and its velocity.
    pub fn query(&self, p: &Vec3) -> Closest {
        let near = match &self.body {
            Body::Solid { solid, pose } => {
                let mut near = pose.place_surface(&solid.closest(&pose.recall(p)));
                if self.collider.sides == Sides::Both && near.distance < 0.0 {
                    near.distance = -near.distance;
                    near.normal = -near.normal;
                }
                near
            }
            Body::Mesh(mesh) => {
                let pose = &self.state.pose;
                pose.place_surface(&mesh.closest(&pose.recall(p), self.collider.sides))
            }
        };
        Closest {
            distance: near.distance,
            point: near.point,
            normal: near.normal,
            velocity: self.velocity_of(&near),
        }
    }

    fn velocity_of(&self, near: &SurfacePoint) -> Vec3 {
        match &self.body {
            Body::Mesh(mesh) if !self.vertex_velocities.is_empty() => {
                let face = mesh.mesh().faces()[near.face as usize];
                let velocity =
                    |m: usize| self.vertex_velocities[face[m] as usize] * near.weights[m];
                velocity(0) + velocity(1) + velocity(2)
            }
            _ => self.state.velocity_at(&near.point),
        }
    }

    /// Velocity of a blend of mesh vertices that lies at `x` in the world \[m/s\].
    pub(crate) fn velocity_of_vertices(&self, x: &Vec3, vertices: &[(u32, f64)]) -> Vec3 {
        if self.vertex_velocities.is_empty() {
            self.state.velocity_at(x)
        } else {
            let terms = vertices.iter().map(|&(v, w)| self.vertex_velocities[v as usize] * w);
            terms.fold(Vec3::zeros(), |sum, v| sum + v)
        }
    }

    /// Box around the collider in the world; infinite for planes and cylinders without ends.
    pub fn bounds(&self) -> Bounds {
        let (own, pose) = match &self.body {
            Body::Solid { solid, pose } => match solid.half_extent() {
                None => return Bounds::ALL,
                Some(half) => (Bounds::around([&-half, &half]), pose),
            },
            Body::Mesh(mesh) => (mesh.bounds(), &self.state.pose),
        };
        let middle = pose.place(&Vec3::from(own.centre()));
        let half = Vec3::from_fn(|k, _| 0.5 * (own.high[k] - own.low[k]));
        let reach = pose.rotation.abs() * half;
        Bounds::around([&(middle - reach), &(middle + reach)])
    }
}
