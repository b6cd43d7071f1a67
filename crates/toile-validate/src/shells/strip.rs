//! A strip held in a clamp along one end.

use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3, generate};
use toile_sim::{Shell, ShellMaterial};

/// A flat strip 0 ≤ x ≤ `length` with normal +z, clamped along x = 0.
///
/// One more column of faces behind the clamp line is pinned: it gives the clamp its normal.
#[derive(Clone, Copy, Debug)]
pub struct ClampedStrip {
    /// L \[m\].
    pub length: f64,
    /// Width along y \[m\].
    pub width: f64,
    /// Cells along x, clamp column not counted; at least 1.
    pub nx: usize,
    /// Cells along y; at least 1.
    pub ny: usize,
    /// Ratio of the last cell's length to the first one's: above 1 the cells are finer towards the clamp.
    pub grading: f64,
    /// Elastic constants.
    pub stiffness: ShellStiffness,
    /// Rule for mid-edge normals.
    pub normals: NormalRule,
    /// Mass per area \[kg/m²\].
    pub areal_density: f64,
}

impl ClampedStrip {
    /// Position of the i-th column, the clamp's back at i = 0, its line at i = 1, the tip at i = `nx` + 1.
    ///
    /// Cell lengths grow in geometric progression.
    pub fn column(&self, i: usize) -> f64 {
        let n = self.nx.max(1);
        let q = if n > 1 { self.grading.powf(1.0 / (n as f64 - 1.0)) } else { 1.0 };
        // Share of the first k cells; the formula of the sum loses its digits near q = 1.
        let share = |k: i32| {
            if (q - 1.0).abs() < 1e-9 {
                f64::from(k) / n as f64
            } else {
                (q.powi(k) - 1.0) / (q.powi(n as i32) - 1.0)
            }
        };
        match i {
            0 => -self.length * share(1),
            i if i == n + 1 => self.length,
            i => self.length * share(i as i32 - 1),
        }
    }

    /// The mesh, clamp column first in every row: vertex (i, j) has number j (`nx` + 2) + i.
    pub fn mesh(&self) -> TriMesh {
        let columns = self.nx.max(1) + 2;
        let mut mesh = generate::strip(self.length, self.width, columns - 1, self.ny);
        for (v, x) in mesh.positions.iter_mut().enumerate() {
            x.x = self.column(v % columns);
        }
        let faces = mesh.faces().iter().map(|f| right_angle_first(f, &mesh.positions)).collect();
        TriMesh::new(mesh.positions, faces).expect("the same surface, its faces begun elsewhere")
    }

    /// The shell, flat at the start, its clamp column pinned.
    pub fn shell(&self) -> Shell {
        let mesh = self.mesh();
        let columns = self.nx.max(1) + 2;
        let pins = (0..mesh.positions.len()).filter(|v| v % columns < 2).map(|v| v as u32);
        Shell {
            pins: pins.collect(),
            seams: Vec::new(),
            damping: 0.0,
            topology: mesh.topology,
            rest_positions: mesh.positions.clone(),
            positions: mesh.positions,
            material: ShellMaterial::Koiter {
                stiffness: self.stiffness,
                normals: self.normals,
                membrane: Membrane::StVenantKirchhoff,
                warp: Vec3::x(),
            },
            areal_density: self.areal_density,
        }
    }

    /// Vertices of the free end from −y to +y, each with its share of the width \[m\].
    pub fn tip(&self) -> Vec<(u32, f64)> {
        let (columns, ny) = (self.nx.max(1) as u32 + 2, self.ny.max(1) as u32);
        let cell = self.width / f64::from(ny);
        (0..=ny)
            .map(|j| {
                let share = if j == 0 || j == ny { 0.5 * cell } else { cell };
                (j * columns + columns - 1, share)
            })
            .collect()
    }
}

/// The face begun at the corner across its longest edge.
///
/// The strain of a sliver is a difference of products of the edges at its first corner; between two long edges it
/// would drown in rounding, which on a strip with one cell across leaves forces of 1e-6 of a vertex's weight.
fn right_angle_first(face: &[u32; 3], positions: &[Vec3]) -> [u32; 3] {
    let across = |m: usize| {
        let [a, b] = [1, 2].map(|k| positions[face[(m + k) % 3] as usize]);
        (b - a).norm_squared()
    };
    let first = (0..3).max_by(|&i, &j| across(i).total_cmp(&across(j))).unwrap_or(0);
    std::array::from_fn(|k| face[(first + k) % 3])
}
