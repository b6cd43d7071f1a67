//! From the colliders of a scene to solids that can be touched.

use nalgebra::UnitQuaternion;
use toile_contact::{
    Collider as SimCollider, ContactError, Keyframe, Motion, Shape, Sides as SimSides,
};
use toile_geometry::{Topology, TriMesh, Vec3, orient_consistently};

use crate::axes::Axes;
use crate::scene::Scene;
use crate::scene_contact::{Collider, Sides};
use crate::scene_error::SceneError;

/// The colliders of a scene, in metres with +z up; every problem points at a line of the scene.
pub fn load_colliders(scene: &Scene) -> Result<Vec<SimCollider>, SceneError> {
    (0..scene.colliders.len()).map(|index| Loader { scene, index }.load()).collect()
}

struct Loader<'a> {
    scene: &'a Scene,
    index: usize,
}

impl Loader<'_> {
    fn error(&self, key: &str, message: impl ToString, help: &str) -> SceneError {
        let key = format!("collider[{}].{key}", self.index);
        self.scene.error_at(key.trim_end_matches('.'), message.to_string(), help)
    }

    fn axes(&self, scale: f64) -> Axes {
        Axes { up: self.scene.up, scale }
    }

    fn point(&self, p: [f64; 3]) -> Vec3 {
        Vec3::from(self.axes(1.0).to_internal(p))
    }

    fn direction(&self, d: [f64; 3]) -> Vec3 {
        Vec3::from(self.axes(1.0).direction_to_internal(d))
    }

    fn load(&self) -> Result<SimCollider, SceneError> {
        let collider = &self.scene.colliders[self.index];
        let (key, shape) = self.shape(collider)?;
        let help = "lengths are in metres, in the axes of the files";
        let shape = shape.map_err(|e| self.error(key, e, help))?;
        let motion = self.motion(collider)?;
        let made = SimCollider::new(shape, motion).map_err(|e| self.error("motion", e, help))?;
        let made = made
            .with_friction(collider.friction)
            .map_err(|e| self.error("friction", e, "0 is frictionless, cloth on skin about 0.5"))?;
        let made = match collider.gap {
            Some(gap) => made.with_gap(gap).map_err(|e| self.error("gap", e, help))?,
            None => made,
        };
        Ok(made.with_sides(match collider.sides {
            Sides::Auto => SimSides::Auto,
            Sides::One => SimSides::One,
            Sides::Both => SimSides::Both,
        }))
    }

    fn shape(
        &self,
        c: &Collider,
    ) -> Result<(&'static str, Result<Shape, ContactError>), SceneError> {
        let mut found: Vec<(&'static str, Result<Shape, ContactError>)> = Vec::new();
        if let Some(path) = &c.mesh {
            found.push(("mesh", Shape::mesh(self.mesh(path, c.scale.unwrap_or(1.0))?)));
        }
        if let Some(s) = c.plane {
            let normal = s.normal.map_or(Vec3::z(), |n| self.direction(n));
            found.push(("plane", Shape::plane(self.point(s.point), normal)));
        }
        if let Some(s) = c.sphere {
            found.push(("sphere", Shape::sphere(self.point(s.center), s.radius)));
        }
        if let Some(s) = c.cylinder {
            let (center, axis) = (self.point(s.center), self.direction(s.axis));
            found.push(("cylinder", Shape::cylinder(center, axis, s.radius, s.length)));
        }
        if let Some(s) = c.capsule {
            found.push((
                "capsule",
                Shape::capsule(self.point(s.start), self.point(s.end), s.radius),
            ));
        }
        if let Some(s) = c.cone {
            let (base, tip) = (self.point(s.base), self.point(s.tip));
            found.push((
                "cone",
                match s.top_radius {
                    None => Shape::cone(base, tip, s.radius),
                    Some(top) => Shape::cone_frustum(base, tip, s.radius, top),
                },
            ));
        }
        if let Some(s) = c.cuboid {
            // Sides along the axes of the files: turned with them, lengths keep their signs aside.
            let size = self.direction(s.size).abs();
            let turn = UnitQuaternion::from_scaled_axis(self.direction(s.rotation));
            found.push(("box", Shape::cuboid(self.point(s.center), size, turn)));
        }
        if let Some(s) = c.torus {
            let (center, axis) = (self.point(s.center), self.direction(s.axis));
            found.push(("torus", Shape::torus(center, axis, s.radius, s.tube)));
        }
        let kinds = "mesh, plane, sphere, cylinder, capsule, cone, box or torus";
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(self.error("", "the collider has no shape", &format!("give it a {kinds}"))),
            _ => Err(self.error(
                found[1].0,
                format!("the collider is both a {} and a {}", found[0].0, found[1].0),
                "write one [[collider]] for each shape",
            )),
        }
    }

    fn positions(&self, path: &str, scale: f64) -> Result<(Vec<Vec3>, Vec<[u32; 3]>), SceneError> {
        let data = self
            .scene
            .read_mesh(path)
            .map_err(|e| self.error("mesh", e, "run `toile check` on the mesh"))?;
        let points = self.axes(scale).all_to_internal(&data.positions);
        Ok((points.into_iter().map(Vec3::from).collect(), data.faces))
    }

    fn mesh(&self, path: &str, scale: f64) -> Result<TriMesh, SceneError> {
        let (positions, faces) = self.positions(path, scale)?;
        let faces = orient_consistently(&faces).unwrap_or(faces);
        let topology = Topology::new(positions.len(), faces)
            .map_err(|e| self.error("mesh", e, "run `toile check` on the mesh"))?;
        Ok(TriMesh { topology, positions })
    }

    fn motion(&self, c: &Collider) -> Result<Motion, SceneError> {
        let Some(motion) = &c.motion else { return Ok(Motion::fixed()) };
        let steady = motion.velocity.is_some() || motion.angular_velocity.is_some();
        let kinds = [steady, !motion.keyframes.is_empty(), !motion.sequence.is_empty()];
        if kinds.iter().filter(|k| **k).count() != 1 {
            return Err(self.error(
                "motion",
                "`motion` needs exactly one of velocity (with angular_velocity), keyframes, sequence",
                "for example motion = { angular_velocity = [0, 0, 3.14] }",
            ));
        }
        let pivot = self.point(motion.pivot);
        let made = if steady {
            let velocity = self.direction(motion.velocity.unwrap_or_default());
            let turning = self.direction(motion.angular_velocity.unwrap_or_default());
            Motion::steady(pivot, velocity, turning)
        } else if motion.sequence.is_empty() {
            let key = |k: &crate::scene_contact::Key| Keyframe {
                time: k.time,
                position: self.direction(k.position),
                rotation: UnitQuaternion::from_scaled_axis(self.direction(k.rotation)),
            };
            Motion::keyframes(pivot, motion.keyframes.iter().map(key).collect())
        } else {
            let scale = c.scale.unwrap_or(1.0);
            let mut frames = Vec::new();
            for key in &motion.sequence {
                frames.push(self.positions(&key.mesh, scale)?.0);
            }
            Motion::sequence(motion.sequence.iter().map(|k| k.time).collect(), frames)
        };
        made.map_err(|e| self.error("motion", e, "times must increase, all numbers be finite"))
    }
}
