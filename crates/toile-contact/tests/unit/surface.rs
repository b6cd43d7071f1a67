use nalgebra::UnitQuaternion;
use toile_contact::{Bounds, Collider, Motion, Shape};
use toile_geometry::{Vec3, generate};

#[test]
fn every_triangle_lies_on_its_collider_and_looks_outwards() {
    let c = Vec3::new(0.2, -0.1, 0.3);
    let axis = Vec3::new(1.0, 2.0, -0.5);
    let turn = UnitQuaternion::from_scaled_axis(axis);
    let shapes = [
        Shape::plane(c, axis),
        Shape::sphere(c, 0.4),
        Shape::cylinder(c, axis, 0.3, Some(0.8)),
        Shape::cylinder(c, axis, 0.3, None),
        Shape::capsule(c, c + axis, 0.2),
        Shape::cone(c, c + axis, 0.5),
        Shape::cuboid(c, Vec3::new(0.4, 0.6, 0.8), turn),
        Shape::torus(c, axis, 0.5, 0.2),
        Shape::mesh(generate::sphere(0.5, 3)),
    ];
    let region = Bounds::around([&Vec3::repeat(-1.0), &Vec3::repeat(1.0)]);
    for shape in shapes {
        let motion = Motion::steady(Vec3::x(), Vec3::y(), Vec3::repeat(0.7)).unwrap();
        let collider = Collider::new(shape.unwrap(), motion).unwrap();
        let placed = collider.at(0.9);
        let surface = placed.surface(&region);
        assert!(!surface.faces.is_empty());
        for p in &surface.positions {
            let d = placed.query(p).distance;
            assert!(d.abs() < 1e-12, "{d} from {:?}", collider.shape());
        }
        let mut outwards = 0.0;
        for face in &surface.faces {
            let [a, b, c] = face.map(|v| surface.positions[v as usize]);
            let area = (b - a).cross(&(c - a));
            if area.norm() < 1e-12 {
                continue;
            }
            // The normal just outside the middle of the face.
            let out = placed.query(&((a + b + c) / 3.0 + area.normalize() * 1e-2)).normal;
            assert!(out.dot(&area.normalize()) > 0.5, "{:?}", collider.shape());
            outwards += area.norm();
        }
        assert!(outwards > 0.0);
    }
}

#[test]
fn what_has_no_end_is_shown_where_the_cloth_is() {
    let far = Vec3::new(100.0, 0.0, 0.0);
    let region = Bounds::around([&(far - Vec3::repeat(1.0)), &(far + Vec3::repeat(1.0))]);
    let plane = Collider::fixed(Shape::plane(Vec3::zeros(), Vec3::z()).unwrap());
    let surface = plane.at(0.0).surface(&region);
    let middle = surface.positions.iter().sum::<Vec3>() / surface.positions.len() as f64;
    assert!((middle - far).norm() < 1e-9, "{middle:?}");
}
