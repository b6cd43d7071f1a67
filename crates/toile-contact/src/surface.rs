//! The surface of a collider as triangles, to be looked at.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use toile_geometry::Vec3;

use crate::collider::Body;
use crate::shape::Solid;
use crate::{Bounds, PlacedCollider};

/// Triangles for pictures; flat parts have vertices of their own, so that edges look sharp.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Triangles, seen counterclockwise from outside.
    pub faces: Vec<[u32; 3]>,
}

/// Sides of what is round.
const AROUND: usize = 64;

impl Surface {
    /// Rows of points (rings around z or lines), joined; `closed` joins the last of a row to its first.
    fn grid(
        &mut self,
        rows: usize,
        columns: usize,
        closed: bool,
        at: impl Fn(usize, usize) -> Vec3,
    ) {
        let base = self.positions.len() as u32;
        for i in 0..rows {
            self.positions.extend((0..columns).map(|j| at(i, j)));
        }
        let n = columns as u32;
        for i in 0..rows as u32 - 1 {
            for j in 0..if closed { n } else { n - 1 } {
                let k = (j + 1) % n;
                let [a, b] = [base + i * n, base + (i + 1) * n];
                self.faces.push([a + j, a + k, b + k]);
                self.faces.push([a + j, b + k, b + j]);
            }
        }
    }

    /// A surface of revolution about z through the points (radius, height), from below to above outside.
    fn revolve(&mut self, profile: &[(f64, f64)]) {
        self.grid(profile.len(), AROUND, true, |i, j| {
            let (sin, cos) = (TAU * j as f64 / AROUND as f64).sin_cos();
            let (radius, z) = profile[i];
            Vec3::new(radius * cos, radius * sin, z)
        });
    }
}

fn arc(from: f64, to: f64, radius: f64, z: f64) -> Vec<(f64, f64)> {
    let n = AROUND / 4;
    let angle = |i: usize| from + (to - from) * i as f64 / n as f64;
    (0..=n).map(|i| (radius * angle(i).cos(), z + radius * angle(i).sin())).collect()
}

fn solid_surface(solid: &Solid, reach: f64) -> Surface {
    let mut out = Surface::default();
    match *solid {
        Solid::HalfSpace => out.grid(2, 2, false, |i, j| {
            Vec3::new(reach * (2.0 * j as f64 - 1.0), reach * (2.0 * i as f64 - 1.0), 0.0)
        }),
        Solid::Sphere { radius } => out.revolve(&arc(-FRAC_PI_2, FRAC_PI_2, radius, 0.0)),
        Solid::Capsule { half, radius } => {
            let mut profile = arc(-FRAC_PI_2, 0.0, radius, -half);
            profile.extend(arc(0.0, FRAC_PI_2, radius, half));
            out.revolve(&profile);
        }
        Solid::Frustum { half, low, high } => {
            out.revolve(&[(0.0, -half), (low, -half)]);
            out.revolve(&[(low, -half), (high, half)]);
            out.revolve(&[(high, half), (0.0, half)]);
        }
        Solid::Pipe { radius } => out.revolve(&[(radius, -reach), (radius, reach)]),
        Solid::Block { half } => {
            for axis in 0..3 {
                for sign in [-1.0, 1.0] {
                    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                    out.grid(2, 2, false, |i, j| {
                        // Seen from outside the first direction goes to the right.
                        let mut p = Vec3::zeros();
                        p[axis] = sign * half[axis];
                        p[u] = sign * half[u] * (2.0 * j as f64 - 1.0);
                        p[v] = half[v] * (2.0 * i as f64 - 1.0);
                        p
                    });
                }
            }
        }
        Solid::Torus { major, minor } => {
            let n = AROUND / 2;
            let profile: Vec<(f64, f64)> = (0..=n)
                .map(|i| {
                    let t = -PI + TAU * i as f64 / n as f64;
                    (major + minor * t.cos(), minor * t.sin())
                })
                .collect();
            out.revolve(&profile);
        }
    }
    out
}

impl PlacedCollider<'_> {
    /// The surface as triangles in the world. Of what has no end, the part around `region`.
    pub fn surface(&self, region: &Bounds) -> Surface {
        match &self.body {
            Body::Solid { solid, pose } => {
                let half = Vec3::from_fn(|k, _| 0.5 * (region.high[k] - region.low[k]));
                let size = half.norm();
                let reach = if size.is_finite() && size > 0.0 { 1.25 * size } else { 1.0 };
                let mut surface = solid_surface(solid, reach);
                // What has no end is shown beside the region, wherever it was defined.
                let mut shift = Vec3::zeros();
                let middle = Vec3::from(region.centre());
                if middle.iter().all(|c| c.is_finite()) {
                    let own = pose.recall(&middle);
                    match solid {
                        Solid::HalfSpace => shift = Vec3::new(own.x, own.y, 0.0),
                        Solid::Pipe { .. } => shift = Vec3::new(0.0, 0.0, own.z),
                        _ => {}
                    }
                }
                for p in &mut surface.positions {
                    *p = pose.place(&(*p + shift));
                }
                surface
            }
            Body::Mesh(mesh) => {
                let pose = &self.state().pose;
                let mesh = mesh.mesh();
                Surface {
                    positions: mesh.positions.iter().map(|p| pose.place(p)).collect(),
                    faces: mesh.faces().to_vec(),
                }
            }
        }
    }
}
