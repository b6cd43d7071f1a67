use nalgebra::UnitQuaternion;
use toile_contact::{
    Collider, Contact, ContactError, ContactKey, Motion, Shape, collider_contacts, rolls,
};
use toile_geometry::{TriMesh, Vec3, generate};

/// One large triangle at height z with its middle over the origin.
fn triangle(z: f64) -> TriMesh {
    let at = |x, y| Vec3::new(x, y, z);
    TriMesh::new(vec![at(-1.0, -1.0), at(1.0, -1.0), at(0.0, 2.0)], vec![[0, 1, 2]]).unwrap()
}

fn contacts(cloth: &TriMesh, shape: Shape, reach: f64) -> Vec<Contact> {
    let collider = Collider::fixed(shape).with_friction(0.3).unwrap();
    collider_contacts(&cloth.positions, &cloth.topology, &[collider.at(0.0)], reach).unwrap()
}

fn turn(axis: Vec3) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(axis)
}

#[test]
fn small_and_sharp_things_touch_the_inside_of_a_face() {
    let zero = Vec3::zeros();
    let up = Vec3::z();
    let tipped = turn(Vec3::y() * std::f64::consts::FRAC_PI_4) * turn(up * 0.2);
    let cube = Shape::cuboid(zero, Vec3::repeat(0.1), tipped).unwrap();
    let cube_top = (0..8).map(|k| {
        let c = Vec3::from_fn(|i, _| if k >> i & 1 == 1 { 0.05 } else { -0.05 });
        (tipped * c).z
    });
    let cube_top = cube_top.fold(f64::MIN, f64::max);
    let cases = [
        (Shape::sphere(zero, 0.1).unwrap(), 0.1),
        (Shape::capsule(up * -0.5, zero, 0.1).unwrap(), 0.1),
        (Shape::cone(up * -0.3, zero, 0.2).unwrap(), 0.0),
        (cube, cube_top),
        (Shape::torus(zero, Vec3::x(), 0.3, 0.05).unwrap(), 0.35),
        (Shape::cylinder(zero, Vec3::new(0.3, 0.1, 1.0), 0.1, Some(0.4)).unwrap(), {
            let a = Vec3::new(0.3, 0.1, 1.0).normalize();
            0.2 * a.z + 0.1 * (1.0 - a.z * a.z).sqrt()
        }),
        (Shape::mesh(generate::sphere(0.2, 2)).unwrap(), f64::NAN),
    ];
    for (shape, top) in cases {
        let top = if top.is_nan() {
            shape.as_mesh().unwrap().mesh().positions.iter().map(|x| x.z).fold(f64::MIN, f64::max)
        } else {
            top
        };
        for depth in [0.0005, -0.001] {
            let cloth = triangle(top + depth);
            let found = contacts(&cloth, shape.clone(), 1e-3);
            let faces: Vec<_> =
                found.iter().filter(|c| matches!(c.key, ContactKey::FaceCollider { .. })).collect();
            assert!(!faces.is_empty() && faces.len() == found.len(), "{shape:?}: {found:?}");
            let deepest = faces.iter().map(|c| c.gap).fold(f64::MAX, f64::min);
            assert!((deepest - (depth - 0.1e-3)).abs() < 1e-12, "{shape:?}: {deepest}");
            for c in faces {
                assert!((c.normal - up).norm() < 1e-12 && c.count == 3 && c.friction == 0.3);
                assert!((c.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_face_on_a_flat_end_rests_on_several_points() {
    let up = Vec3::z();
    let zero = Vec3::zeros();
    let turned = turn(up * 0.3);
    for shape in [
        Shape::cylinder(up * -0.2, up, 0.1, Some(0.4)).unwrap(),
        Shape::cuboid(up * -0.2, Vec3::new(0.2, 0.2, 0.4), turned).unwrap(),
        Shape::capsule(Vec3::new(-0.2, 0.0, -0.1), Vec3::new(0.2, 0.0, -0.1), 0.1).unwrap(),
        Shape::torus(up * -0.1, up, 0.3, 0.1).unwrap(),
    ] {
        let found = contacts(&triangle(0.0005), shape.clone(), 1e-3);
        let faces = found.iter().filter(|c| c.count == 3);
        // The middle of support: the origin, with equal forces.
        let (mut sum, mut count) = (zero, 0.0);
        for c in faces {
            let cloth = triangle(0.0);
            let place = c.carriers().map(|(v, w)| cloth.positions[v as usize] * w);
            sum += place.fold(zero, |a, b| a + b);
            count += 1.0;
        }
        assert!(count >= 2.0 && (sum / count).norm() < 1e-9, "{shape:?}: {count} {sum:?}");
    }
}

#[test]
fn an_edge_across_an_edge_is_a_contact_between_its_ends() {
    // A strip laid over thin things along y: its long sides touch between their ends.
    let at = |x, y| Vec3::new(x, y, 0.0);
    let cloth = TriMesh::new(
        vec![at(-1.0, -0.1), at(1.0, -0.1), at(1.0, 0.1), at(-1.0, 0.1)],
        vec![[0, 1, 2], [0, 2, 3]],
    )
    .unwrap();
    let tipped = turn(Vec3::y() * std::f64::consts::FRAC_PI_4);
    let side = 0.1 * 2f64.sqrt();
    let ridge = {
        // A roof along y: two faces meeting in the edge x = 0, z = 0.
        let x = vec![
            Vec3::new(0.0, -1.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
            Vec3::new(0.5, 0.0, -0.5),
            Vec3::new(-0.5, 0.0, -0.5),
        ];
        TriMesh::new(x, vec![[1, 0, 2], [0, 1, 3]]).unwrap()
    };
    let down = Vec3::z() * -1.0;
    let cases = [
        Shape::capsule(down * 0.05 - Vec3::y(), down * 0.05 + Vec3::y(), 0.05).unwrap(),
        Shape::cylinder(down * 0.05, Vec3::y(), 0.05, None).unwrap(),
        Shape::cylinder(down * 0.05, Vec3::y(), 0.05, Some(2.0)).unwrap(),
        Shape::cuboid(down * 0.1, Vec3::new(side, 2.0, side), tipped).unwrap(),
        Shape::mesh(ridge).unwrap(),
    ];
    for shape in cases {
        for sides in [toile_contact::Sides::Auto, toile_contact::Sides::One] {
            let collider = Collider::fixed(shape.clone()).with_sides(sides);
            let lift = Vec3::z() * 0.0004;
            let x: Vec<Vec3> = cloth.positions.iter().map(|x| x + lift).collect();
            let found = collider_contacts(&x, &cloth.topology, &[collider.at(0.0)], 1e-3).unwrap();
            let edges: Vec<_> = found.iter().filter(|c| c.count == 2).collect();
            // Two long sides and the diagonal.
            assert_eq!(edges.len(), 3, "{shape:?}: {found:?}");
            for c in edges {
                assert!((c.weights[0] - 0.5).abs() < 1e-6, "{shape:?}: {c:?}");
                assert!((c.gap - 0.0003).abs() < 1e-9, "{shape:?}: {c:?}");
                assert!((c.normal - Vec3::z()).norm() < 1e-6, "{shape:?}: {c:?}");
            }
        }
    }
}

#[test]
fn an_edge_over_a_flat_top_rests_on_both_rims() {
    let at = |x, y| Vec3::new(x, y, 0.0005);
    let cloth =
        TriMesh::new(vec![at(-1.0, 0.0), at(1.0, 0.0), at(0.0, 3.0)], vec![[0, 1, 2]]).unwrap();
    let up = Vec3::z();
    for shape in [
        Shape::cylinder(up * -0.2, up, 0.3, Some(0.4)).unwrap(),
        Shape::cuboid(up * -0.2, Vec3::new(0.6, 0.6, 0.4), UnitQuaternion::identity()).unwrap(),
    ] {
        let found = contacts(&cloth, shape, 1e-3);
        let mut places: Vec<f64> =
            found.iter().filter(|c| c.count == 2).map(|c| 2.0 * c.weights[1] - 1.0).collect();
        places.sort_by(f64::total_cmp);
        assert_eq!(places.len(), 2, "{found:?}");
        assert!((places[0] + 0.3).abs() < 1e-9 && (places[1] - 0.3).abs() < 1e-9, "{places:?}");
    }
}

#[test]
fn fine_cloth_on_a_large_ball_touches_at_vertices_only() {
    let cloth = generate::sphere(0.501, 5);
    let found = contacts(&cloth, Shape::sphere(Vec3::zeros(), 0.5).unwrap(), 1e-3);
    let vertices = found.iter().filter(|c| c.count == 1).count();
    assert_eq!(vertices, cloth.positions.len());
    // Faces with sides of 20 mm sag by 0.14 mm, much less than the gap: between vertices nothing is pressed.
    assert!(found.iter().all(|c| c.count == 1 || c.gap > 0.7e-3));
}

#[test]
fn contacts_move_with_their_collider_and_do_not_depend_on_threads() {
    let cloth = generate::rectangle(1.0, 1.0, 30, 30, Default::default());
    let drift = Vec3::new(6.0, 8.0, 0.0);
    let spin = Vec3::z() * 2.0;
    let mut low_ball = generate::sphere(0.2, 3);
    for x in &mut low_ball.positions {
        *x += Vec3::new(0.011, -0.31, -0.19);
    }
    let make = |velocity| {
        let shapes = [
            Shape::sphere(Vec3::new(0.0, 0.0, -0.3), 0.3).unwrap(),
            Shape::torus(Vec3::new(0.3, 0.3, -0.02), Vec3::z(), 0.1, 0.02).unwrap(),
            Shape::mesh(low_ball.clone()).unwrap(),
        ];
        let motion = Motion::steady(Vec3::zeros(), velocity, spin).unwrap();
        shapes.map(|s| Collider::new(s, motion.clone()).unwrap())
    };
    let t = 0.3;
    let run = |velocity: Vec3| {
        let colliders = make(velocity);
        let placed: Vec<_> = colliders.iter().map(|c| c.at(t)).collect();
        let x: Vec<Vec3> = cloth.positions.iter().map(|x| x + velocity * t).collect();
        collider_contacts(&x, &cloth.topology, &placed, 5e-3).unwrap()
    };
    let (still, moving) = (run(Vec3::zeros()), run(drift));
    assert!(still.iter().any(|c| c.count == 1) && still.len() == moving.len());
    for (a, b) in still.iter().zip(&moving) {
        assert_eq!(a.key, b.key);
        assert!((a.gap - b.gap).abs() < 1e-12);
        assert!((a.normal - b.normal).norm() < 1e-10);
        assert!((a.velocity + drift - b.velocity).norm() < 1e-10);
    }
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| run(drift)), moving);
}

#[test]
fn a_vertex_deep_inside_a_mesh_is_not_lost() {
    let cloth = triangle(0.0);
    let found = contacts(&cloth, Shape::mesh(generate::sphere(5.0, 2)).unwrap(), 1e-3);
    assert_eq!(found.iter().filter(|c| c.count == 1 && c.gap < -2.0).count(), 3);
}

#[test]
fn positions_that_are_no_numbers_are_refused() {
    let mut cloth = triangle(0.0);
    cloth.positions[1].y = f64::NAN;
    let error = collider_contacts(&cloth.positions, &cloth.topology, &[], 0.0).unwrap_err();
    assert_eq!(error, ContactError::PositionNotFinite { vertex: 1 });
    let error = collider_contacts(&cloth.positions[..2], &cloth.topology, &[], 0.0).unwrap_err();
    assert_eq!(error, ContactError::PositionCount { expected: 3, found: 2 });
}

#[test]
fn a_collider_that_is_nowhere_is_refused() {
    let cloth = triangle(0.0);
    let motion = Motion::steady(Vec3::zeros(), Vec3::x(), Vec3::zeros()).unwrap();
    let ball = Shape::sphere(Vec3::zeros(), 1.0).unwrap();
    let collider = Collider::new(ball, motion).unwrap();
    let placed = [collider.at(f64::NAN)];
    let error = collider_contacts(&cloth.positions, &cloth.topology, &placed, 0.0).unwrap_err();
    assert_eq!(error, ContactError::NotFinite { what: "the place of a collider" });
}

/// Tilted by a little, cloth is touched where the radius says.
#[test]
fn contacts_roll_as_tilted_cloth_finds_them() {
    let zero = Vec3::zeros();
    let shapes = [
        Shape::sphere(zero, 0.1).unwrap(),
        Shape::torus(zero, Vec3::new(1.0, 0.3, 0.1), 0.3, 0.05).unwrap(),
        // On the ends of thick ones.
        Shape::capsule(Vec3::z() * -0.5, zero, 0.2).unwrap(),
    ];
    for shape in shapes {
        let collider = Collider::fixed(shape.clone());
        let heights = (0..400).map(|k| 0.4 - 1e-3 * f64::from(k));
        let mut cloths = heights.map(triangle);
        let touching = |cloth: &TriMesh| !contacts(cloth, shape.clone(), 0.0).is_empty();
        let cloth = cloths.find(touching).unwrap();
        let contact = *contacts(&cloth, shape.clone(), 0.0).iter().find(|c| c.count == 3).unwrap();
        let found = rolls(&contact, &cloth.positions, &collider.at(0.0));
        assert_eq!(found.iter().flatten().count(), 2);
        let at = contact.sum(&cloth.positions);
        for roll in found.iter().flatten() {
            let along = Contact { weights: roll.weights, ..contact }.sum(&cloth.positions);
            assert!((along.norm() - 1.0).abs() < 1e-12 && along.dot(&contact.normal).abs() < 1e-12);
            let tilt = 1e-4;
            let mut tilted = cloth.clone();
            for p in &mut tilted.positions {
                *p += contact.normal * (tilt * (*p - at).dot(&along));
            }
            assert!((roll.tilt(&contact, &tilted.positions) - tilt).abs() < 1e-9);
            let there = contacts(&tilted, shape.clone(), 1e-3);
            let there = there.iter().find(|c| c.key == contact.key).unwrap();
            // The normal leans back, so the force goes towards what sank.
            let gone = there.sum(&tilted.positions) - at;
            let expected = -along * (roll.radius * tilt);
            assert!((gone - expected).norm() < 0.02 * expected.norm(), "{gone} not {expected}");
        }
    }
}
