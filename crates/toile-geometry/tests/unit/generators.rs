//! Laws that all generated meshes obey.

use toile_geometry::generate::{
    Around, Triangulation, annulus, cone_frustum, cylinder, cylindrical_panel, disc, hemisphere,
    rectangle, sheet, sphere, strip,
};
use toile_geometry::{TriMesh, Vec3};

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

fn close(measured: f64, expected: f64, relative: f64) {
    let error = (measured / expected - 1.0).abs();
    assert!(error < relative, "{measured} instead of {expected}");
}

#[test]
fn flat_meshes_have_their_area_and_face_up() {
    for triangulation in all_triangulations() {
        let mesh = rectangle(1.3, 0.9, 7, 5, triangulation);
        close(mesh.area(), 1.3 * 0.9, 1e-14);
        assert!(mesh.face_normals().iter().all(|n| n.z == 1.0), "{triangulation:?}");
    }
    for mesh in [disc(0.4, 5), annulus(0.1, 0.4, 3, 17), strip(2.0, 0.1, 9, 2)] {
        assert!(mesh.face_normals().iter().all(|n| n.z == 1.0));
    }
    let corner = strip(2.0, 0.1, 9, 2).positions[0];
    assert!((corner - Vec3::new(0.0, -0.05, 0.0)).norm() < 1e-15);
}

#[test]
fn the_sheet_is_numbered_as_promised() {
    let mesh = sheet(4, 3.0);
    assert_eq!(mesh.positions[6], Vec3::new(0.5, -0.5, 0.0)); // i = 2, j = 1
    assert_eq!(mesh.faces()[..4], [[0, 1, 5], [0, 5, 4], [1, 2, 5], [2, 6, 5]]);
}

/// Error of the area at n and 2n cells: inscribed meshes converge as 1/n².
fn area_rate(expected: f64, area: impl Fn(usize) -> f64) -> f64 {
    ((expected - area(12)) / (expected - area(24))).log2()
}

#[test]
fn areas_of_curved_meshes_converge_at_second_order() {
    use std::f64::consts::PI;
    let slant = (0.7f64.powi(2) + 0.3f64.powi(2)).sqrt();
    let zone = PI * 2.0 * 0.3f64.cos(); // of the unit hemisphere with its hole
    let rates = [
        area_rate(PI * 0.16, |n| disc(0.4, n).area()),
        area_rate(PI * 0.15, |n| annulus(0.1, 0.4, n, 3 * n).area()),
        area_rate(2.0 * PI * 0.3, |n| cylinder(0.3, 1.0, 2 * n, n).area()),
        area_rate(PI * 0.7 * slant, |n| cone_frustum(0.5, 0.2, 0.7, 2 * n, n).area()),
        area_rate(zone, |n| hemisphere(1.0, 0.3, Around::Full, 2 * n, n).area()),
        area_rate(zone / 4.0, |n| hemisphere(1.0, 0.3, Around::Quarter, n, n).area()),
        area_rate(1.2 * 0.8, |n| cylindrical_panel(1.0, 1.2, 0.8, n, n).area()),
    ];
    for (i, rate) in rates.iter().enumerate() {
        assert!((rate - 2.0).abs() < 0.1, "mesh {i}: rate {rate}");
    }
}

#[test]
fn the_sphere_has_its_area_and_volume_in_the_limit() {
    use std::f64::consts::PI;
    let (area, volume) = (4.0 * PI * 0.49, 4.0 / 3.0 * PI * 0.343);
    let error = |n| {
        let mesh = sphere(0.7, n);
        [1.0 - mesh.area() / area, 1.0 - mesh.volume() / volume]
    };
    let (coarse, fine) = (error(3), error(4));
    for i in 0..2 {
        assert!(0.0 < fine[i] && fine[i] < 5e-3, "{fine:?}");
        assert!((coarse[i] / fine[i] - 4.0).abs() < 0.1, "{coarse:?} {fine:?}");
    }
}

#[test]
fn vertices_lie_on_their_surface() {
    for x in sphere(0.7, 3).positions {
        assert!((x.norm() - 0.7).abs() < 1e-15);
    }
    for x in hemisphere(10.0, 18f64.to_radians(), Around::Quarter, 8, 8).positions {
        assert!((x.norm() - 10.0).abs() < 1e-14);
    }
    for x in cylinder(0.3, 1.0, 13, 4).positions {
        assert!((x.xy().norm() - 0.3).abs() < 1e-16);
    }
    for x in cone_frustum(0.5, 0.2, 0.6, 13, 4).positions {
        assert!((x.xy().norm() - 0.5 + 0.5 * x.z).abs() < 1e-15);
    }
    for x in cylindrical_panel(2.0, 1.0, 1.0, 5, 2).positions {
        assert!((x.xz().norm() - 2.0).abs() < 1e-15);
    }
}

#[test]
fn curved_meshes_face_outwards() {
    let from_axis = |x: Vec3| Vec3::new(x.x, x.y, 0.0);
    let check = |mesh: TriMesh, outwards: &dyn Fn(Vec3) -> Vec3| {
        for (f, n) in mesh.face_normals().iter().enumerate() {
            let [a, b, c] = mesh.corners(f);
            assert!(n.dot(&outwards((a + b + c) / 3.0)) > 0.0, "face {f}");
        }
    };
    check(sphere(0.2, 2), &|x| x);
    check(hemisphere(1.0, 0.3, Around::Full, 9, 4), &|x| x);
    check(hemisphere(1.0, 0.3, Around::Quarter, 3, 4), &|x| x);
    check(cylinder(0.2, 0.5, 7, 3), &from_axis);
    check(cone_frustum(0.5, 0.2, 0.5, 7, 3), &from_axis);
    check(cylindrical_panel(1.0, 1.0, 1.0, 4, 3), &|x| Vec3::new(x.x, 0.0, x.z));
}

#[test]
fn the_quarter_hemisphere_ends_exactly_in_its_symmetry_planes() {
    let (n, m) = (6, 5);
    let mesh = hemisphere(10.0, 18f64.to_radians(), Around::Quarter, n, m);
    for j in 0..=m {
        assert_eq!(mesh.positions[j * (n + 1)].y, 0.0);
        assert_eq!(mesh.positions[j * (n + 1) + n].x, 0.0);
    }
    assert!((0..=n).all(|k| mesh.positions[k].z == 0.0));
    assert_eq!(mesh.positions[0], Vec3::new(10.0, 0.0, 0.0));
}

#[test]
fn equilateral_triangles_are_equilateral_inside() {
    let (nx, ny) = (6, 4);
    let mesh = rectangle(6.0, 2.0 * 3f64.sqrt(), nx, ny, Triangulation::Equilateral);
    let equal = |f: &usize| {
        let [a, b, c] = mesh.corners(*f);
        [b - a, c - b, a - c].iter().all(|e| (e.norm() - 1.0).abs() < 1e-14)
    };
    let count = (0..mesh.faces().len()).filter(equal).count();
    assert_eq!(count, (2 * nx - 1) * ny);
    assert_eq!(mesh.faces().len(), count + 2 * ny);
}

/// Sign of the in-circle determinant, an independent way to the Delaunay property.
fn in_circle(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let row = |p: Vec3| {
        let q = p - d;
        [q.x, q.y, q.x * q.x + q.y * q.y]
    };
    let (r, s, t) = (row(a), row(b), row(c));
    nalgebra::Matrix3::from([r, s, t]).determinant()
}

#[test]
fn random_meshes_are_delaunay_irregular_and_reproducible() {
    for seed in 0..5 {
        let triangulation = Triangulation::Random { seed };
        let mesh = rectangle(1.2, 0.8, 18, 12, triangulation);
        for (e, edge) in mesh.topology.interior_edges() {
            let at = |v: Option<u32>| mesh.positions[v.unwrap() as usize];
            let [a, b] = edge.vertices.map(|v| at(Some(v)));
            let (c, d) = (at(edge.opposite[0]), at(edge.opposite[1]));
            let depth = in_circle(a, b, c, d);
            assert!(depth < 1e-12 * (b - a).norm_squared().powi(2), "edge {e}: {depth}");
        }
        let valence = |v: &usize| mesh.topology.vertex_faces(*v).len();
        let inside = (0..mesh.positions.len()).filter(|&v| !mesh.topology.is_boundary_vertex(v));
        let irregular = inside.filter(|v| valence(v) != 6).count();
        assert!(irregular > 40, "{irregular} vertices of valence other than 6");
        assert_eq!(mesh, rectangle(1.2, 0.8, 18, 12, triangulation));
        assert_ne!(mesh, rectangle(1.2, 0.8, 18, 12, Triangulation::Random { seed: seed + 1 }));
    }
}

#[test]
fn boundary_vertices_of_random_meshes_stay_on_the_grid() {
    let random = rectangle(1.0, 1.0, 8, 8, Triangulation::Random { seed: 1 });
    let grid = sheet(9, 1.0);
    for (v, (x, y)) in random.positions.iter().zip(&grid.positions).enumerate() {
        assert!(!grid.topology.is_boundary_vertex(v) || x == y);
    }
}
