//! Laws that all generated meshes obey.

use super::*;

fn euler_and_loops(mesh: &TriMesh) -> (i64, usize) {
    let topology = &mesh.topology;
    (topology.euler_characteristic(), topology.boundary_loops().len())
}

fn all_triangulations() -> [Triangulation; 4] {
    [
        Triangulation::Regular,
        Triangulation::Alternating,
        Triangulation::Equilateral,
        Triangulation::Random { seed: 7 },
    ]
}

#[test]
fn euler_characteristic_and_boundary_loops_are_those_of_the_surface() {
    for triangulation in all_triangulations() {
        for (nx, ny) in [(1, 1), (4, 3), (5, 6), (0, 0)] {
            let mesh = rectangle(1.3, 0.9, nx, ny, triangulation);
            assert_eq!(euler_and_loops(&mesh), (1, 1), "{triangulation:?}");
        }
    }
    assert_eq!(euler_and_loops(&sheet(9, 1.0)), (1, 1));
    assert_eq!(euler_and_loops(&strip(1.0, 0.2, 10, 2)), (1, 1));
    assert_eq!(euler_and_loops(&disc(0.5, 1)), (1, 1));
    assert_eq!(euler_and_loops(&disc(0.5, 5)), (1, 1));
    assert_eq!(euler_and_loops(&annulus(0.2, 0.5, 3, 11)), (0, 2));
    assert_eq!(euler_and_loops(&cylinder(0.2, 0.5, 9, 4)), (0, 2));
    assert_eq!(euler_and_loops(&cone_frustum(0.2, 0.1, 0.5, 3, 1)), (0, 2));
    assert_eq!(euler_and_loops(&sphere(0.2, 0)), (2, 0));
    assert_eq!(euler_and_loops(&sphere(0.2, 3)), (2, 0));
    let quarter = hemisphere(10.0, 0.3, Around::Quarter, 6, 5);
    assert_eq!(euler_and_loops(&quarter), (1, 1));
    let full = hemisphere(10.0, 0.3, Around::Full, 12, 5);
    assert_eq!(euler_and_loops(&full), (0, 2));
    let panel = cylindrical_panel(1.0, 1.0, 1.0, 4, 5);
    assert_eq!(euler_and_loops(&panel), (1, 1));
}
