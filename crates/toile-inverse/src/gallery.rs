//! Garments drawn by rule, on bodies that are solids.
//!
//! Sizes, materials, vertex and contact numbers follow the table of Ly 2021 (chapter 5); the dimensions, which it does not
//! give, are ours.

use std::f64::consts::TAU;

use toile_contact::{Collider, ContactError, Shape};
use toile_geometry::{Topology, TriMesh, Vec3};
use toile_sim::{Shell, ShellMaterial};

use crate::{Garment, InverseError};

mod drawn;
mod random;
mod table;

pub use drawn::{beret, bitriangle, book_page, tablecloth};
pub use random::{RandomTarget, cotton, random_target, with};
pub use table::{Piece, table};

/// A drawn skirt: rows of vertices from the waist down, the first ones on a cylinder around z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skirt {
    /// Rows of vertices.
    pub rows: usize,
    /// Vertices around.
    pub around: usize,
    /// Rows that lie on the body.
    pub band: usize,
    /// Radius of the waist \[m\].
    pub waist: f64,
    /// Mean radius of the hem \[m\].
    pub hem: f64,
    /// From waist to hem \[m\].
    pub height: f64,
    /// Number of waves around.
    pub waves: usize,
    /// Height of the waves at the hem \[m\].
    pub amplitude: f64,
}

impl Default for Skirt {
    /// 0.7 m long, flared from 0.2 m to 0.5 m in eight waves: 960 vertices, 80 on the body.
    fn default() -> Self {
        Self {
            rows: 24,
            around: 40,
            band: 2,
            waist: 0.2,
            hem: 0.5,
            height: 0.7,
            waves: 8,
            amplitude: 0.05,
        }
    }
}

impl Skirt {
    /// The mesh, waist at z = 0.
    pub fn mesh(&self) -> TriMesh {
        let last = (self.rows.max(2) - 1) as f64;
        let edge = (self.band.max(1) - 1) as f64 / last;
        let point = |i: usize, turn: f64| {
            let s = i as f64 / last;
            let q = ((s - edge) / (1.0 - edge)).max(0.0);
            let wave = self.amplitude * q * (self.waves as f64 * turn).cos();
            let r = self.waist + (self.hem - self.waist) * q.powf(0.8) + wave;
            Vec3::new(r * turn.cos(), r * turn.sin(), -self.height * s)
        };
        tube(self.rows.max(2), self.around.max(3), point)
    }

    /// Contact distance of [`Skirt::body`] \[m\]: edges between vertices that keep it may come closer by half of it.
    pub const GAP: f64 = 2e-3;

    /// The body: a cylinder around z that the band touches.
    pub fn body(&self, friction: f64) -> Result<Collider, ContactError> {
        let shape = Shape::cylinder(Vec3::zeros(), Vec3::z(), self.waist - Self::GAP, None)?;
        Collider::fixed(shape).with_friction(friction)?.with_gap(Self::GAP)
    }

    /// The skirt on its body, made of something.
    pub fn garment(
        &self,
        material: ShellMaterial,
        areal_density: f64,
        friction: f64,
    ) -> Result<Garment, InverseError> {
        Ok(made_of(self.mesh(), material, areal_density, vec![self.body(friction)?]))
    }
}

/// Rows of vertices around z, every other row shifted by half a cell; `point` takes the row and the angle.
pub(crate) fn tube(rows: usize, around: usize, point: impl Fn(usize, f64) -> Vec3) -> TriMesh {
    let mut positions = Vec::with_capacity(rows * around);
    for i in 0..rows {
        for j in 0..around {
            positions.push(point(i, TAU * (j as f64 + 0.5 * (i % 2) as f64) / around as f64));
        }
    }
    let mut faces = Vec::new();
    for i in 0..rows - 1 {
        for j in 0..around {
            let at = |i: usize, j: usize| (i * around + j % around) as u32;
            let (a, b, c, d) = (at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1));
            if i % 2 == 0 {
                faces.extend([[a, c, b], [b, c, d]]);
            } else {
                faces.extend([[a, c, d], [a, d, b]]);
            }
        }
    }
    let topology = Topology::new(positions.len(), faces).expect("a tube is a surface");
    TriMesh { topology, positions }
}

/// A mesh as target, of some material, on colliders.
pub(crate) fn made_of(
    mesh: TriMesh,
    material: ShellMaterial,
    areal_density: f64,
    colliders: Vec<Collider>,
) -> Garment {
    Garment {
        shells: vec![Shell {
            topology: mesh.topology,
            rest_positions: mesh.positions.clone(),
            positions: mesh.positions,
            material,
            areal_density,
            pins: vec![],
            seams: Vec::new(),
            damping: 0.0,
        }],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders,
        self_contact: None,
    }
}
