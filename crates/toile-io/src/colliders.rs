//! From the colliders of a scene to solids that can be touched.

use nalgebra::UnitQuaternion;
use toile_contact::{
    Collider as SimCollider, ContactError, Keyframe, Motion, Shape, Sides as SimSides,
};
use toile_geometry::{
    MendSettings, Topology, TriMesh, Vec3, bounding_box, mend, orient_consistently,
};

use crate::axes::Axes;
use crate::mesh::MeshData;
use crate::scene::Scene;
use crate::scene_contact::{Collider, Sides};
use crate::scene_error::SceneError;

/// A collider of a scene, and what was done to make it.
#[derive(Clone, Debug)]
pub struct LoadedCollider {
    /// In metres with +z up.
    pub collider: SimCollider,
    /// What the user may want to know.
    pub notes: Vec<String>,
}

/// The colliders of a scene, in metres with +z up; every problem points at a line of the scene.
pub fn load_colliders(scene: &Scene) -> Result<Vec<SimCollider>, SceneError> {
    Ok(loaded_colliders(scene)?.into_iter().map(|c| c.collider).collect())
}

/// The colliders of a scene with what was done to make them.
pub fn loaded_colliders(scene: &Scene) -> Result<Vec<LoadedCollider>, SceneError> {
    (0..scene.colliders.len()).map(|index| Loader { scene, index }.load()).collect()
}

/// Vertices this close, as a part of the size, are one.
const MEETING: f64 = 1e-6;
/// Holes whose border squared is less than this part of the area of their piece are filled: necks, wrists, torn meshes, but no bowls.
const HOLE: f64 = 1.0;

/// A body as a surface.
struct Body {
    mesh: TriMesh,
    /// Vertex of the file of each vertex.
    origin: Vec<u32>,
    notes: Vec<String>,
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

    fn load(&self) -> Result<LoadedCollider, SceneError> {
        let collider = &self.scene.colliders[self.index];
        let mut body = None;
        let (key, shape) = self.shape(collider, &mut body)?;
        let help = "lengths are in metres, in the axes of the files";
        let shape = shape.map_err(|e| self.error(key, e, help))?;
        let motion = self.motion(collider, body.as_ref())?;
        let made = SimCollider::new(shape, motion).map_err(|e| self.error("motion", e, help))?;
        let made = made
            .with_friction(collider.friction)
            .map_err(|e| self.error("friction", e, "0 is frictionless, cloth on skin about 0.5"))?;
        let made = match collider.gap {
            Some(gap) => made.with_gap(gap).map_err(|e| self.error("gap", e, help))?,
            None => made,
        };
        let collider = made.with_sides(match collider.sides {
            Sides::Auto => SimSides::Auto,
            Sides::One => SimSides::One,
            Sides::Both => SimSides::Both,
        });
        Ok(LoadedCollider { collider, notes: body.map(|b| b.notes).unwrap_or_default() })
    }

    fn shape(
        &self,
        c: &Collider,
        body: &mut Option<Body>,
    ) -> Result<(&'static str, Result<Shape, ContactError>), SceneError> {
        let mut found: Vec<(&'static str, Result<Shape, ContactError>)> = Vec::new();
        if let Some(path) = &c.mesh {
            let made = self.body(path, c)?;
            found.push(("mesh", Shape::mesh(made.mesh.clone())));
            *body = Some(made);
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

    fn read(&self, path: &str) -> Result<MeshData, SceneError> {
        self.scene
            .read_mesh(path)
            .map_err(|e| self.error("mesh", e, "run `toile check` on the mesh"))
    }

    fn metres(&self, data: &MeshData, scale: f64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let points = self.axes(scale).all_to_internal(&data.positions);
        (points.into_iter().map(Vec3::from).collect(), data.faces.clone())
    }

    /// The mesh of a body, mended where it is no surface, and closed where it has holes.
    fn body(&self, path: &str, c: &Collider) -> Result<Body, SceneError> {
        let data = self.read(path)?;
        let mut notes = data.notes.clone();
        let (positions, faces) = self.metres(&data, c.scale.unwrap_or(1.0));
        let turned = orient_consistently(&faces);
        let as_it_is =
            Topology::new(positions.len(), turned.clone().unwrap_or_else(|| faces.clone()));
        let moving = c.motion.as_ref().is_some_and(|m| !m.sequence.is_empty());
        // An open surface that is meant to be one stays open.
        let hole = if moving || c.sides == Sides::Both { 0.0 } else { HOLE };
        let origin = match as_it_is {
            Ok(topology) if topology.is_closed() || hole == 0.0 => {
                let count = positions.len() as u32;
                let mesh = TriMesh { topology, positions };
                return Ok(Body { mesh, origin: (0..count).collect(), notes });
            }
            _ => {
                let [low, high] = bounding_box(&positions).unwrap_or_default();
                let tolerance = MEETING * (high - low).norm();
                let settings = MendSettings { tolerance, crumb: 0.0, slender: 0.0, hole };
                mend(&positions, &faces, &settings)
            }
        };
        let words = origin.counts.words();
        if !words.is_empty() {
            notes.push(format!("the mesh was mended: {}", words.join("; ")));
        }
        let topology = Topology::new(origin.positions.len(), origin.faces)
            .map_err(|e| self.error("mesh", e, "run `toile check` on the mesh"))?;
        if !topology.is_closed() {
            let loops = topology.boundary_loops().len();
            notes.push(format!(
                "the mesh is open ({loops} borders): an open piece has no inside, and holds cloth on both sides; close it, or set \
                 `sides = \"one\"` if the cloth is outside"
            ));
        }
        let mesh = TriMesh { topology, positions: origin.positions };
        Ok(Body { mesh, origin: origin.origin, notes })
    }

    fn motion(&self, c: &Collider, body: Option<&Body>) -> Result<Motion, SceneError> {
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
                let places = self.metres(&self.read(&key.mesh)?, scale).0;
                // Frames have the vertices of the file; the body has those that were left of them.
                let place = |v: &u32| places.get(*v as usize).copied();
                let moved: Option<Vec<Vec3>> =
                    body.and_then(|b| b.origin.iter().map(place).collect());
                frames.push(moved.filter(|m| m.len() <= places.len()).unwrap_or(places));
            }
            Motion::sequence(motion.sequence.iter().map(|k| k.time).collect(), frames)
        };
        made.map_err(|e| self.error("motion", e, "times must increase, all numbers be finite"))
    }
}
