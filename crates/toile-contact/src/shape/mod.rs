//! What a collider is made of.

mod mesh;
mod solid;
mod union;

use nalgebra::{Matrix3, UnitQuaternion};
use toile_geometry::{TriMesh, Vec3};

pub use mesh::MeshShape;
pub(crate) use solid::Solid;

use crate::{Bounds, ContactError};

/// Which sides of a surface push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// Closed surfaces push outwards, open ones to both sides.
    #[default]
    Auto,
    /// Surfaces push to the side of their normals, open ones too.
    One,
    /// Thin shells: closed surfaces, too, hold what is inside.
    Both,
}

/// The nearest point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Signed distance \[m\], negative inside.
    pub distance: f64,
    /// The nearest point \[m\].
    pub point: Vec3,
    /// Unit normal, along which the distance grows.
    pub normal: Vec3,
    /// Face of the mesh that holds the point; 0 for other shapes.
    pub face: u32,
    /// Barycentric weights of the point in that face; zero for other shapes.
    pub weights: [f64; 3],
}

impl SurfacePoint {
    /// A point of a shape without faces.
    pub fn new(distance: f64, point: Vec3, normal: Vec3) -> Self {
        Self { distance, point, normal, face: 0, weights: [0.0; 3] }
    }
}

/// A turn followed by a shift: x = R X + origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// R, an orthogonal matrix.
    pub rotation: Matrix3<f64>,
    /// Image of the origin \[m\].
    pub origin: Vec3,
}

impl Pose {
    /// Changes nothing.
    pub fn identity() -> Self {
        Self { rotation: Matrix3::identity(), origin: Vec3::zeros() }
    }

    /// From own axes to outer ones.
    pub fn place(&self, p: &Vec3) -> Vec3 {
        self.rotation * p + self.origin
    }

    /// From outer axes to own ones.
    pub fn recall(&self, p: &Vec3) -> Vec3 {
        self.rotation.tr_mul(&(p - self.origin))
    }

    /// First `inner`, then this one.
    pub fn after(&self, inner: &Self) -> Self {
        Self { rotation: self.rotation * inner.rotation, origin: self.place(&inner.origin) }
    }

    pub(crate) fn place_surface(&self, near: &SurfacePoint) -> SurfacePoint {
        SurfacePoint {
            point: self.place(&near.point),
            normal: self.rotation * near.normal,
            ..*near
        }
    }
}

/// A solid or a surface that cloth can touch.
///
/// Solids give signed distances, negative inside; for meshes see [`MeshShape`]. Every constructor
/// checks its numbers.
#[derive(Clone, Debug)]
pub struct Shape {
    form: Form,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Solid { solid: Solid, frame: Pose },
    Mesh(Box<MeshShape>),
}

fn finite(what: &'static str, p: &Vec3) -> Result<(), ContactError> {
    if p.iter().all(|c| c.is_finite()) { Ok(()) } else { Err(ContactError::NotFinite { what }) }
}

fn positive(what: &'static str, value: f64) -> Result<(), ContactError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(ContactError::NotPositive { what, value })
    }
}

fn unit(what: &'static str, v: &Vec3) -> Result<Vec3, ContactError> {
    finite(what, v)?;
    // Scaled first: the square of a very short or very long vector would vanish or overflow.
    let largest = v.amax();
    if largest == 0.0 {
        return Err(ContactError::NoDirection { what });
    }
    Ok((v / largest).normalize())
}

/// The frame whose z axis is the given unit vector.
fn frame(origin: Vec3, axis: &Vec3) -> Pose {
    let side = if axis.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() };
    let x = (side - axis * axis.dot(&side)).normalize();
    Pose { rotation: Matrix3::from_columns(&[x, axis.cross(&x), *axis]), origin }
}

impl Shape {
    fn solid(solid: Solid, frame: Pose) -> Self {
        Self { form: Form::Solid { solid, frame } }
    }

    /// Everything on the far side of a plane through `point`; `normal` (of any length) points out.
    pub fn plane(point: Vec3, normal: Vec3) -> Result<Self, ContactError> {
        finite("the point of the plane", &point)?;
        let n = unit("the normal of the plane", &normal)?;
        Ok(Self::solid(Solid::HalfSpace, frame(point, &n)))
    }

    /// A ball.
    pub fn sphere(center: Vec3, radius: f64) -> Result<Self, ContactError> {
        finite("the center of the sphere", &center)?;
        positive("the radius of the sphere", radius)?;
        Ok(Self::solid(Solid::Sphere { radius }, Pose { origin: center, ..Pose::identity() }))
    }

    /// A solid cylinder with flat ends, or one without ends when `length` is `None`.
    pub fn cylinder(
        center: Vec3,
        axis: Vec3,
        radius: f64,
        length: Option<f64>,
    ) -> Result<Self, ContactError> {
        finite("the center of the cylinder", &center)?;
        let axis = unit("the axis of the cylinder", &axis)?;
        positive("the radius of the cylinder", radius)?;
        let solid = match length {
            None => Solid::Pipe { radius },
            Some(length) => {
                positive("the length of the cylinder", length)?;
                Solid::Frustum { half: 0.5 * length, low: radius, high: radius }
            }
        };
        Ok(Self::solid(solid, frame(center, &axis)))
    }

    /// All points within `radius` of the segment from `start` to `end`.
    pub fn capsule(start: Vec3, end: Vec3, radius: f64) -> Result<Self, ContactError> {
        finite("the start of the capsule", &start)?;
        finite("the end of the capsule", &end)?;
        positive("the radius of the capsule", radius)?;
        let half = 0.5 * (end - start).norm();
        if half == 0.0 {
            return Self::sphere(start, radius);
        }
        let axis = unit("the axis of the capsule", &(end - start))?;
        Ok(Self::solid(Solid::Capsule { half, radius }, frame((start + end) * 0.5, &axis)))
    }

    /// A solid cone from the middle of its base to its tip.
    pub fn cone(base: Vec3, tip: Vec3, radius: f64) -> Result<Self, ContactError> {
        positive("the radius of the cone", radius)?;
        Self::cone_frustum(base, tip, radius, 0.0)
    }

    /// A solid cone cut across: radii at both ends, one of them may be zero.
    pub fn cone_frustum(
        start: Vec3,
        end: Vec3,
        start_radius: f64,
        end_radius: f64,
    ) -> Result<Self, ContactError> {
        finite("the base of the cone", &start)?;
        finite("the tip of the cone", &end)?;
        for value in [start_radius, end_radius] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ContactError::Negative { what: "a radius of the cone [m]", value });
            }
        }
        positive("the larger radius of the cone", start_radius.max(end_radius))?;
        let axis = unit("the axis of the cone", &(end - start))?;
        let half = 0.5 * (end - start).norm();
        let solid = Solid::Frustum { half, low: start_radius, high: end_radius };
        Ok(Self::solid(solid, frame((start + end) * 0.5, &axis)))
    }

    /// A box given by its center, the lengths of its sides and its orientation.
    pub fn cuboid(
        center: Vec3,
        sides: Vec3,
        rotation: UnitQuaternion<f64>,
    ) -> Result<Self, ContactError> {
        finite("the center of the box", &center)?;
        for &side in sides.iter() {
            positive("a side of the box", side)?;
        }
        let rotation = rotation.to_rotation_matrix().into_inner();
        if !rotation.iter().all(|c| c.is_finite()) {
            return Err(ContactError::NotFinite { what: "the rotation of the box" });
        }
        Ok(Self::solid(Solid::Block { half: sides * 0.5 }, Pose { rotation, origin: center }))
    }

    /// A solid ring: a tube of radius `minor` around a circle of radius `major`.
    pub fn torus(center: Vec3, axis: Vec3, major: f64, minor: f64) -> Result<Self, ContactError> {
        finite("the center of the torus", &center)?;
        let axis = unit("the axis of the torus", &axis)?;
        positive("the ring radius of the torus", major)?;
        positive("the tube radius of the torus", minor)?;
        if minor >= major {
            return Err(ContactError::TorusClosesOnItself { major, minor });
        }
        Ok(Self::solid(Solid::Torus { major, minor }, frame(center, &axis)))
    }

    /// A triangle mesh, closed or open, or a union of overlapping closed parts.
    pub fn mesh(mesh: TriMesh) -> Result<Self, ContactError> {
        Ok(Self { form: Form::Mesh(Box::new(MeshShape::new(mesh)?)) })
    }

    /// Nearest point of the surface.
    pub fn closest(&self, p: &Vec3, sides: Sides) -> SurfacePoint {
        match &self.form {
            Form::Solid { solid, frame } => {
                let near = frame.place_surface(&solid.closest(&frame.recall(p)));
                if sides == Sides::Both && near.distance < 0.0 {
                    SurfacePoint { distance: -near.distance, normal: -near.normal, ..near }
                } else {
                    near
                }
            }
            Form::Mesh(mesh) => mesh.closest(p, sides),
        }
    }

    /// Box around the shape, infinite for planes and cylinders without ends.
    pub fn bounds(&self) -> Bounds {
        match &self.form {
            Form::Solid { solid, frame } => solid.half_extent().map_or(Bounds::ALL, |half| {
                let reach = frame.rotation.abs() * half;
                Bounds::around([&(frame.origin - reach), &(frame.origin + reach)])
            }),
            Form::Mesh(mesh) => mesh.bounds(),
        }
    }

    /// The mesh, if the shape is one.
    pub fn as_mesh(&self) -> Option<&MeshShape> {
        match &self.form {
            Form::Mesh(mesh) => Some(mesh),
            Form::Solid { .. } => None,
        }
    }

    pub(crate) fn form(&self) -> &Form {
        &self.form
    }
}
