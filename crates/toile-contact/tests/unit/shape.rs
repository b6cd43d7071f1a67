use nalgebra::UnitQuaternion;
use toile_contact::{ContactError, Shape, Sides, SurfacePoint};
use toile_geometry::{TriMesh, Vec3};

#[test]
fn shapes_stand_where_they_are_put() {
    let up = Vec3::z();
    let at = |x, y, z| Vec3::new(x, y, z);
    let d = |shape: Result<Shape, _>, p: Vec3| shape.unwrap().closest(&p, Sides::Auto);
    let near = d(Shape::plane(at(0.0, 0.0, 1.0), at(0.0, 0.0, 5.0)), at(3.0, 2.0, 1.25));
    assert!((near.distance - 0.25).abs() < 1e-15 && (near.normal - up).norm() < 1e-15);
    let near = d(Shape::cylinder(at(0.0, 0.0, 1.0), Vec3::x(), 0.5, None), at(9.0, 0.0, 2.0));
    assert!((near.distance - 0.5).abs() < 1e-15 && (near.normal - up).norm() < 1e-15);
    let near = d(Shape::cone(Vec3::zeros(), up, 1.0), at(0.0, 0.0, 1.5));
    assert!((near.distance - 0.5).abs() < 1e-15 && (near.point - up).norm() < 1e-15);
    let near = d(Shape::capsule(Vec3::zeros(), Vec3::y(), 0.1), at(0.0, 2.0, 0.0));
    assert!((near.distance - 0.9).abs() < 1e-15);
    let turn = UnitQuaternion::from_scaled_axis(up * std::f64::consts::FRAC_PI_4);
    let near = d(Shape::cuboid(Vec3::x(), Vec3::repeat(2.0), turn), Vec3::x() * 4.0);
    assert!((near.distance - (3.0 - 2f64.sqrt())).abs() < 1e-14, "{near:?}");
    let near = d(Shape::torus(Vec3::zeros(), Vec3::y(), 1.0, 0.25), Vec3::zeros());
    assert!((near.distance - 0.75).abs() < 1e-15);
}

#[test]
fn a_thin_shell_holds_what_is_inside() {
    let ball = Shape::sphere(Vec3::zeros(), 1.0).unwrap();
    let near = ball.closest(&(Vec3::z() * 0.8), Sides::Both);
    assert!((near.distance - 0.2).abs() < 1e-15 && near.normal == -Vec3::z());
}

#[test]
fn numbers_that_make_no_shape_are_refused_in_words() {
    let zero = Vec3::zeros();
    let text = |shape: Result<Shape, ContactError>| shape.unwrap_err().to_string();
    assert!(text(Shape::sphere(zero, 0.0)).contains("radius of the sphere is 0 m"));
    assert!(text(Shape::sphere(zero, f64::NAN)).contains("positive"));
    assert!(text(Shape::plane(zero, zero)).contains("no length"));
    assert!(text(Shape::plane(Vec3::repeat(f64::NAN), Vec3::z())).contains("finite"));
    assert!(text(Shape::capsule(zero, Vec3::z(), -1.0)).contains("-1"));
    assert!(text(Shape::cone(zero, zero, 1.0)).contains("axis of the cone"));
    assert!(text(Shape::torus(zero, Vec3::z(), 1.0, 1.0)).contains("axis"));
    assert!(text(Shape::cylinder(zero, Vec3::z(), 1.0, Some(f64::INFINITY))).contains("inf"));
    let flat = Vec3::new(1.0, 0.0, 1.0);
    assert!(Shape::cuboid(zero, flat, UnitQuaternion::identity()).is_err());
    let empty = TriMesh::new(Vec::new(), Vec::new()).unwrap();
    assert_eq!(Shape::mesh(empty).unwrap_err(), ContactError::EmptyMesh);
}

#[path = "../../src/shape/solid.rs"]
mod solid;
