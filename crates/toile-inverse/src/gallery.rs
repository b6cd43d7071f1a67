//! Garments drawn by rule: surfaces of revolution with waves, on bodies that are solids.
//!
//! Sizes, materials, vertex and contact numbers follow the table of Ly 2021 (chapter 5); the dimensions, which it does not
//! give, are ours.

use std::f64::consts::TAU;

use toile_contact::{Collider, ContactError, Shape};
use toile_geometry::{Topology, TriMesh, Vec3};
use toile_sim::{Shell, ShellMaterial};

use crate::{Garment, InverseError};

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
        let mesh = self.mesh();
        Ok(Garment {
            shells: vec![Shell {
                topology: mesh.topology,
                rest_positions: mesh.positions.clone(),
                positions: mesh.positions,
                material,
                areal_density,
                pins: vec![],
                seams: Vec::new(),
            }],
            gravity: Vec3::new(0.0, 0.0, -9.81),
            colliders: vec![self.body(friction)?],
            self_contact: None,
        })
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

/// A scene of the table of Ly 2021 (chapter 5), with the time published there.
pub struct Piece {
    /// Its name there.
    pub name: &'static str,
    /// Published time \[min\].
    pub minutes: f64,
    /// Published numbers of vertices and contacts.
    pub published: [usize; 2],
    /// Ours, of about that size and of that material.
    pub garment: Garment,
}

/// The garments of the table: its materials, frictions, vertex and contact numbers on shapes of ours.
///
/// All are tubes that lie on a body with some rows and stand or hang freely with the others. The Bitriangle (no time is given), the
/// Book Page and the Beret (no tubes) are left out.
pub fn table() -> Result<Vec<Piece>, InverseError> {
    let piece = |name,
                 minutes,
                 published,
                 skirt: Skirt,
                 [density, k_length, k_bend, friction]: [f64; 4]| {
        let material = ShellMaterial::DiscreteShells { k_length, k_area: 0.0, k_bend };
        Ok(Piece { name, minutes, published, garment: skirt.garment(material, density, friction)? })
    };
    let tube = |rows, around, band, waist, hem, height, waves, amplitude| Skirt {
        rows,
        around,
        band,
        waist,
        hem,
        height,
        waves,
        amplitude,
    };
    [
        piece(
            "Synthetic Skirt",
            4.0,
            [200, 19],
            tube(10, 20, 1, 0.05, 0.16, 0.2, 5, 0.01),
            [0.1, 3.0, 5e-3, 0.6],
        ),
        piece(
            "Puff Sleeve",
            14.0,
            [402, 67],
            tube(12, 34, 2, 0.05, 0.07, 0.12, 8, 0.004),
            [1.0, 0.1, 1e-3, 0.7],
        ),
        piece(
            "Floppy Hat",
            50.0,
            [876, 178],
            tube(20, 44, 4, 0.09, 0.17, 0.1, 4, 0.01),
            [2.5, 5.0, 5e-4, 0.6],
        ),
        piece(
            "Top",
            382.0,
            [900, 116],
            tube(23, 39, 3, 0.15, 0.2, 0.3, 6, 0.01),
            [0.5, 0.2, 1e-1, 0.2],
        ),
        piece(
            "Gored Skirt",
            427.0,
            [1255, 168],
            tube(30, 42, 4, 0.2, 0.5, 0.7, 8, 0.05),
            [0.05, 0.8, 5e-3, 0.7],
        ),
        piece(
            "Saroual",
            950.0,
            [2500, 61],
            tube(41, 61, 1, 0.18, 0.35, 0.8, 6, 0.03),
            [0.05, 1.0, 1e-2, 0.2],
        ),
        piece(
            "ClothCap Shirt",
            750.0,
            [2550, 931],
            tube(51, 50, 19, 0.18, 0.24, 0.6, 5, 0.01),
            [1.0, 3.0, 5e-4, 0.2],
        ),
    ]
    .into_iter()
    .collect()
}
