//! Units and axes of files against those of the computation: metres, +z up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The axis that points against gravity in the files of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// +z is up, as inside toile.
    #[default]
    Z,
    /// +y is up, as in glTF and many modelling programs.
    Y,
}

/// How the numbers of a file become metres with +z up, and how they go back.
///
/// For y up the map is the quarter turn about x, (x, y, z) ↦ (x, −z, y): a rotation, so left stays
/// left and the orientation of faces is kept. Exchanging y and z would mirror the garment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// The upward axis of the file.
    pub up: Up,
    /// Length of one unit of the file \[m\]; 0.01 for centimetres.
    pub scale: f64,
}

impl Default for Axes {
    /// Metres, z up: numbers pass unchanged.
    fn default() -> Self {
        Axes { up: Up::Z, scale: 1.0 }
    }
}

impl Axes {
    /// A direction of the file, turned to +z up; its length is kept.
    pub fn direction_to_internal(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self.up {
            Up::Z => [x, y, z],
            Up::Y => [x, -z, y],
        }
    }

    /// A direction with +z up, turned to the axes of the file.
    pub fn direction_to_file(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self.up {
            Up::Z => [x, y, z],
            Up::Y => [x, z, -y],
        }
    }

    /// A point of the file \[file units\] as a point inside \[m, +z up\].
    pub fn to_internal(&self, point: [f64; 3]) -> [f64; 3] {
        self.direction_to_internal(point).map(|v| v * self.scale)
    }

    /// A point inside \[m, +z up\] as a point of the file \[file units\].
    pub fn to_file(&self, point: [f64; 3]) -> [f64; 3] {
        self.direction_to_file(point).map(|v| v / self.scale)
    }

    /// All points, by [`Axes::to_internal`].
    pub fn all_to_internal(&self, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
        points.iter().map(|&p| self.to_internal(p)).collect()
    }

    /// All points, by [`Axes::to_file`].
    pub fn all_to_file(&self, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
        points.iter().map(|&p| self.to_file(p)).collect()
    }

    /// A box with corners in metres along the axes of the file, as (least, greatest) corner inside.
    ///
    /// Boxes of scenes are in metres already, so `scale` plays no part.
    pub fn box_to_internal(&self, corners: [[f64; 3]; 2]) -> [[f64; 3]; 2] {
        let [a, b] = corners.map(|c| self.direction_to_internal(c));
        let pick = |f: fn(f64, f64) -> f64| [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])];
        [pick(f64::min), pick(f64::max)]
    }
}
