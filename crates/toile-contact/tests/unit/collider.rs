use crate::random::Random;
use nalgebra::UnitQuaternion;
use toile_contact::{Collider, ContactError, Motion, Shape};
use toile_geometry::{Vec3, generate};

fn shapes() -> Vec<Shape> {
    let c = Vec3::new(0.2, -0.1, 0.3);
    let axis = Vec3::new(1.0, 2.0, -0.5);
    vec![
        Shape::plane(c, axis).unwrap(),
        Shape::sphere(c, 0.4).unwrap(),
        Shape::cylinder(c, axis, 0.3, Some(0.8)).unwrap(),
        Shape::cylinder(c, axis, 0.3, None).unwrap(),
        Shape::capsule(c, c + axis, 0.2).unwrap(),
        Shape::cone(c, c + axis, 0.5).unwrap(),
        Shape::cuboid(c, Vec3::new(0.4, 0.6, 0.8), UnitQuaternion::from_scaled_axis(axis)).unwrap(),
        Shape::torus(c, axis, 0.5, 0.2).unwrap(),
        Shape::mesh(generate::sphere(0.5, 2)).unwrap(),
    ]
}

#[test]
fn moving_everything_at_ten_metres_per_second_changes_only_velocities() {
    let drift = Vec3::new(6.0, 0.0, -8.0);
    let spin = Vec3::new(0.5, 1.0, -2.0);
    let pivot = Vec3::new(0.1, 0.2, 0.3);
    let mut random = Random::new(31);
    for shape in shapes() {
        let at_rest = Motion::steady(pivot, Vec3::zeros(), spin).unwrap();
        let moving = Motion::steady(pivot, drift, spin).unwrap();
        let at_rest = Collider::new(shape.clone(), at_rest).unwrap();
        let moving = Collider::new(shape, moving).unwrap();
        for _ in 0..50 {
            let (p, t) = (random.point(1.0), random.between(0.0, 2.0));
            let still = at_rest.at(t).query(&p);
            let driven = moving.at(t).query(&(p + drift * t));
            assert!((still.distance - driven.distance).abs() < 1e-13);
            assert!((still.normal - driven.normal).norm() < 1e-11);
            assert!((still.point + drift * t - driven.point).norm() < 1e-11);
            assert!((still.velocity + drift - driven.velocity).norm() < 1e-10);
        }
    }
}

#[test]
fn a_mesh_sequence_carries_its_surface_along() {
    let ball = generate::sphere(1.0, 2);
    let grown: Vec<Vec3> = ball.positions.iter().map(|x| x * 2.0).collect();
    let frames = vec![ball.positions.clone(), grown];
    let motion = Motion::sequence(vec![0.0, 2.0], frames).unwrap();
    let collider = Collider::new(Shape::mesh(ball.clone()).unwrap(), motion).unwrap();
    let top = ball.positions.iter().fold(Vec3::zeros(), |a, b| if b.z > a.z { *b } else { a });
    let near = collider.at(1.0).query(&(top * 2.0));
    assert!((near.distance - 0.5).abs() < 1e-12, "{near:?}");
    assert!((near.velocity - top * 0.5).norm() < 1e-12, "{near:?}");
    assert!(collider.at(3.0).query(&top).velocity == Vec3::zeros());
}

#[test]
fn boxes_hold_the_whole_collider() {
    let mut random = Random::new(32);
    for shape in shapes() {
        let motion = Motion::steady(Vec3::x(), Vec3::y(), Vec3::repeat(0.7)).unwrap();
        let collider = Collider::new(shape, motion).unwrap();
        let placed = collider.at(0.9);
        let bounds = placed.bounds().inflated(1e-12);
        for _ in 0..200 {
            let near = placed.query(&random.point(2.0));
            assert!(bounds.contains(&near.point), "{near:?} outside {bounds:?}");
        }
    }
}

#[test]
fn colliders_refuse_what_does_not_fit() {
    let ball = || Shape::sphere(Vec3::zeros(), 1.0).unwrap();
    assert!(Collider::fixed(ball()).with_friction(-0.1).is_err());
    assert!(Collider::fixed(ball()).with_gap(f64::NAN).is_err());
    let motion = Motion::sequence(vec![0.0], vec![vec![Vec3::zeros()]]).unwrap();
    assert_eq!(
        Collider::new(ball(), motion.clone()).unwrap_err(),
        ContactError::SequenceWithoutMesh
    );
    let mesh = Shape::mesh(generate::sphere(1.0, 1)).unwrap();
    assert!(matches!(
        Collider::new(mesh, motion).unwrap_err(),
        ContactError::SequenceCount { found: 1, .. }
    ));
}
