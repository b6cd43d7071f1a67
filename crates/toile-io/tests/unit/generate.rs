use toile_geometry::TriMesh;
use toile_io::{MeshSource, SceneFormat, parse_scene};

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
        ("generate = \"rectangle\", width = 2, height = 1, nx = 4, ny = 3", 20, [2.0, 1.0, 0.0]),
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
            let extent =
                |f: fn(f64, f64) -> f64, start| mesh.positions.iter().map(|p| p[k]).fold(start, f);
            let length = extent(f64::max, f64::MIN) - extent(f64::min, f64::MAX);
            assert!((length - size[k]).abs() < 1e-12, "{table}: {length} along axis {k}");
        }
    }
}
