//! The meshes that scenes make by rule.

use crate::scene::{Generator, Plane, Triangulation};
use toile_geometry::{TriMesh, generate};

impl Generator {
    /// Makes the mesh, in metres and z up.
    ///
    /// Panics on sizes that are not positive and finite, which the check of a scene refuses.
    pub fn build(&self) -> TriMesh {
        let n = |count: u32| count as usize;
        match *self {
            Generator::Sheet(g) => {
                let cells = n(g.n).max(2) - 1;
                let t = g.triangulation.into();
                stand(generate::rectangle(g.size, g.size, cells, cells, t), g.plane)
            }
            Generator::Rectangle(g) => {
                let t = g.triangulation.into();
                stand(generate::rectangle(g.width, g.height, n(g.nx), n(g.ny), t), g.plane)
            }
            Generator::Strip(g) => {
                let t = g.triangulation.into();
                stand(generate::strip_with(g.length, g.width, n(g.nx), n(g.ny), t), g.plane)
            }
            Generator::Disc(g) => generate::disc(g.radius, n(g.rings)),
            Generator::Annulus(g) => {
                generate::annulus(g.inner_radius, g.outer_radius, n(g.rings), n(g.around))
            }
            Generator::Cylinder(g) => {
                generate::cylinder(g.radius, g.height, n(g.around), n(g.along))
            }
            Generator::Cone(g) => generate::cone_frustum(
                g.bottom_radius,
                g.top_radius,
                g.height,
                n(g.around),
                n(g.along),
            ),
            Generator::Sphere(g) => generate::sphere(g.radius, g.subdivisions),
        }
    }
}

impl From<Triangulation> for generate::Triangulation {
    fn from(t: Triangulation) -> Self {
        match t {
            Triangulation::Regular => generate::Triangulation::Regular,
            Triangulation::Alternating => generate::Triangulation::Alternating,
            Triangulation::Equilateral => generate::Triangulation::Equilateral,
            // One fixed seed: the same scene gives the same bits.
            Triangulation::Random => generate::Triangulation::Random { seed: 1 },
        }
    }
}

/// Turns a lying mesh by a quarter about x if it is to stand: y becomes z.
fn stand(mut mesh: TriMesh, plane: Plane) -> TriMesh {
    if plane == Plane::Xz {
        for p in &mut mesh.positions {
            (p.y, p.z) = (-p.z, p.y);
        }
    }
    mesh
}
