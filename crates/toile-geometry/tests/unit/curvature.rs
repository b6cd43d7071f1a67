use std::f64::consts::TAU;
use toile_geometry::generate::{Around, Triangulation};
use toile_geometry::{
    Vec3, angle_defect_derivatives, angle_defects, corner_angle, corner_angle_gradient,
    corner_angle_hessian, generate, total_curvature,
};
use toile_num::{Scalar, ScalarFunction, Vector, assert_close, gradient_of, hessian_of};

struct Angle;
impl ScalarFunction<9> for Angle {
    fn call<T: Scalar>(&self, x: &Vector<9, T>) -> T {
        corner_angle(&[0, 1, 2].map(|i| x.fixed_rows::<3>(3 * i).into_owned()))
    }
}

#[test]
fn angle_derivatives_match_dual_numbers() {
    // Acute, right, obtuse, nearly straight, in general position.
    for (x, y) in [(0.9, 0.7), (0.0, 1.3), (-0.8, 0.4), (-1.5, 0.05)] {
        let frame = nalgebra::Rotation3::from_euler_angles(0.3, -1.1, 2.0);
        let shift = Vec3::new(0.2, -0.4, 0.7);
        let points = [Vec3::zeros(), Vec3::new(1.2, 0.0, 0.0), Vec3::new(x, y, 0.0)];
        let p = points.map(|q| frame * q + shift);
        let flat = Vector::<9>::from_fn(|i, _| p[i / 3][i % 3]);
        assert!((corner_angle(&p) - f64::atan2(y, x)).abs() < 1e-14);
        assert_close("gradient", &corner_angle_gradient(&p), &gradient_of(&Angle, &flat), 1e-12);
        assert_close("hessian", &corner_angle_hessian(&p), &hessian_of(&Angle, &flat), 1e-12);
    }
}

#[test]
fn a_sphere_has_total_curvature_4_pi() {
    let mesh = generate::sphere(0.7, 4);
    let total = total_curvature(&mesh.topology, &mesh.positions);
    assert!((total - 2.0 * TAU).abs() < 1e-10, "{total}");
    // And no vertex has none.
    let defects = angle_defects(&mesh.topology, &mesh.positions);
    assert!(defects.iter().all(|&k| k > 1e-4));
}

#[test]
fn total_curvature_is_2_pi_chi_whatever_the_shape() {
    let mut meshes = vec![
        generate::annulus(0.1, 0.4, 3, 14),
        generate::disc(0.3, 4),
        generate::cylinder(0.2, 0.6, 9, 5),
        generate::hemisphere(1.0, 0.3, Around::Full, 12, 5),
        generate::rectangle(1.0, 0.5, 4, 5, Triangulation::Equilateral),
    ];
    // Two triangles that touch in a vertex: χ = 1.
    let corners = [[0.0, 0.0], [1.0, 0.1], [0.8, 0.9], [-1.0, 0.2], [-0.7, -1.0]];
    let corners = corners.map(|[x, y]| Vec3::new(x, y, x * y)).to_vec();
    meshes.push(toile_geometry::TriMesh::new(corners, vec![[0, 1, 2], [0, 3, 4]]).unwrap());
    for mut mesh in meshes {
        for x in &mut mesh.positions {
            *x += Vec3::new((5.0 * x.y).sin(), x.z * x.x, (7.0 * x.x).cos()) * 0.1;
        }
        let expected = TAU * mesh.topology.euler_characteristic() as f64;
        let total = total_curvature(&mesh.topology, &mesh.positions);
        assert!((total - expected).abs() < 1e-10, "{total} instead of {expected}");
    }
}

#[test]
fn developable_meshes_have_no_defect_inside() {
    let meshes = [
        generate::rectangle(1.0, 1.0, 7, 6, Triangulation::Random { seed: 3 }),
        generate::cylinder(0.3, 1.0, 11, 6),
        generate::cone_frustum(0.5, 0.2, 0.7, 10, 5),
        generate::cylindrical_panel(1.0, 1.2, 0.8, 6, 5),
    ];
    for mesh in meshes {
        let defects = angle_defects(&mesh.topology, &mesh.positions);
        for (v, k) in defects.iter().enumerate() {
            let inside = !mesh.topology.is_boundary_vertex(v);
            assert!(!inside || k.abs() < 1e-12, "vertex {v}: {k}");
        }
    }
}

#[test]
fn defect_derivatives_are_the_slopes_of_the_defect() {
    let mesh = generate::sphere(1.0, 1);
    for vertex in [0, 20] {
        let d = angle_defect_derivatives(&mesh.topology, &mesh.positions, vertex);
        assert_eq!(d.vertices.len(), if vertex == 0 { 6 } else { 7 });
        // Along one direction of all vertices around: first and second derivative.
        let motion = |v: u32| Vec3::new((v as f64).sin(), (2.0 * v as f64).cos(), 0.4);
        let (mut slope, mut bend) = (0.0, 0.0);
        for (i, &v) in d.vertices.iter().enumerate() {
            slope += d.gradient[i].dot(&motion(v));
            for (j, &w) in d.vertices.iter().enumerate() {
                bend += motion(v).dot(&(d.hessian[i][j] * motion(w)));
            }
        }
        let defect = |t: f64| {
            let moved: Vec<Vec3> =
                (0u32..).zip(&mesh.positions).map(|(v, x)| x + motion(v) * t).collect();
            angle_defects(&mesh.topology, &moved)[vertex]
        };
        let h = 1e-4;
        let (minus, zero, plus) = (defect(-h), defect(0.0), defect(h));
        assert!(slope.abs() > 0.1 && bend.abs() > 0.1, "{slope} {bend}");
        assert!((slope - (plus - minus) / (2.0 * h)).abs() < 1e-6 * slope.abs().max(1.0));
        assert!((bend - (plus - 2.0 * zero + minus) / (h * h)).abs() < 1e-4 * bend.abs().max(1.0));
    }
}
