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

#[cfg(test)]
mod tests {
    use crate::{MeshSource, SceneFormat, parse_scene};
    use toile_geometry::TriMesh;

    fn made(table: &str) -> TriMesh {
        let text = format!(
            "[[shell]]\nmesh = {{ {table} }}\nthickness = 1e-3\nareal_density = 1\n\
             material = {{ model = \"koiter\", young = 1, poisson = 0 }}\n"
        );
        let scene = parse_scene(&text, SceneFormat::Toml).unwrap();
        match &scene.shells[0].mesh {
            MeshSource::Generated(generator) => generator.build(),
            MeshSource::File(path) => panic!("{path}"),
        }
    }

    #[test]
    fn every_generator_has_the_size_and_count_asked_for() {
        for (table, vertices, size) in [
            ("generate = \"sheet\", n = 5, size = 2.0", 25, [2.0, 2.0, 0.0]),
            ("generate = \"sheet\", n = 5, size = 2.0, plane = \"xz\"", 25, [2.0, 0.0, 2.0]),
            (
                "generate = \"rectangle\", width = 2, height = 1, nx = 4, ny = 3",
                20,
                [2.0, 1.0, 0.0],
            ),
            (
                "generate = \"strip\", length = 3, width = 1, nx = 6, ny = 2, triangulation = \"random\"",
                21,
                [3.0, 1.0, 0.0],
            ),
            ("generate = \"disc\", radius = 1, rings = 2", 19, [2.0, 2.0, 0.0]),
            (
                "generate = \"annulus\", inner_radius = 1, outer_radius = 2, rings = 2, around = 8",
                24,
                [4.0, 4.0, 0.0],
            ),
            (
                "generate = \"cylinder\", radius = 1, height = 3, around = 8, along = 2",
                24,
                [2.0, 2.0, 3.0],
            ),
            (
                "generate = \"cone\", bottom_radius = 2, top_radius = 1, height = 3, around = 8, along = 2",
                24,
                [4.0, 4.0, 3.0],
            ),
            ("generate = \"sphere\", radius = 1, subdivisions = 1", 42, [2.0, 2.0, 2.0]),
        ] {
            let mesh = made(table);
            assert_eq!(mesh.positions.len(), vertices, "{table}");
            for k in 0..3 {
                let extent = |f: fn(f64, f64) -> f64, start| {
                    mesh.positions.iter().map(|p| p[k]).fold(start, f)
                };
                let length = extent(f64::max, f64::MIN) - extent(f64::min, f64::MAX);
                assert!((length - size[k]).abs() < 1e-12, "{table}: {length} along axis {k}");
            }
        }
    }
}
