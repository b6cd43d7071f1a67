use crate::passing::{passes_edge, passes_face};
use crate::random::Random;
use nalgebra::UnitQuaternion;
use toile_contact::{
    Collider, Contact, ContactError, Impact, ImpactPair, Motion, Shape, piercing_contacts,
    piercing_impacts,
};
use toile_geometry::{TriMesh, Vec3, generate};

/// Two triangles of a metre, level.
fn sheet(height: f64) -> TriMesh {
    let at = |x: f64, y: f64| Vec3::new(x, y, height);
    let positions = vec![at(-0.5, -0.5), at(0.5, -0.5), at(0.5, 0.5), at(-0.5, 0.5)];
    TriMesh::new(positions, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
}

fn moved(x: &[Vec3], by: Vec3) -> Vec<Vec3> {
    x.iter().map(|x| x + by).collect()
}

/// A thin closed needle with its tip at the origin, pointing up.
fn needle() -> Shape {
    let base = |a: f64| Vec3::new(1e-3 * a.cos(), 1e-3 * a.sin(), -0.2);
    let positions = vec![Vec3::zeros(), base(0.0), base(2.1), base(4.2)];
    let faces = vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    Shape::mesh(TriMesh::new(positions, faces).unwrap()).unwrap()
}

fn impacts(shape: &Shape, motion: Motion, start: &TriMesh, end: &[Vec3]) -> Vec<Impact> {
    let collider = Collider::new(shape.clone(), motion).unwrap();
    piercing_impacts(&start.positions, end, &start.topology, &[collider], 0.0, 1.0).unwrap()
}

#[test]
fn a_coarse_sheet_does_not_fall_through_a_needle() {
    let start = sheet(0.1);
    let off = Vec3::new(-0.2, -0.05, 0.0); // the tip is inside the first face
    let fall = |by: f64| moved(&start.positions, off - Vec3::z() * by);
    let shapes = [
        needle(),
        Shape::cone(-0.2 * Vec3::z(), Vec3::zeros(), 1e-3).unwrap(),
        Shape::sphere(-1e-3 * Vec3::z(), 1e-3).unwrap(),
        Shape::capsule(-0.2 * Vec3::z(), -1e-3 * Vec3::z(), 1e-3).unwrap(),
        Shape::cuboid(-0.1 * Vec3::z(), Vec3::new(1e-3, 1e-3, 0.2), UnitQuaternion::identity())
            .unwrap(),
    ];
    for shape in &shapes {
        // No vertex of the sheet comes near, so that nothing else sees it.
        let found = impacts(shape, Motion::fixed(), &start, &fall(0.15));
        let pair = ImpactPair::FaceCollider { face: 0, collider: 0 };
        assert_eq!(found.len(), 1, "{shape:?}: {found:?}");
        assert!(found[0].pair == pair && (found[0].time - 0.67).abs() < 0.01, "{found:?}");
        assert!(impacts(shape, Motion::fixed(), &start, &fall(0.09)).is_empty());
        // The same seen the other way: the needle is shot up through a sheet at rest.
        let up = Motion::steady(Vec3::zeros(), Vec3::z() * 0.15 - off, Vec3::zeros()).unwrap();
        assert_eq!(impacts(shape, up, &start, &start.positions).len(), 1);
    }
}

/// What pierces is a contact at the place of the crossing, on the side where the cloth comes from, as far beyond at the end as the cloth has gone.
#[test]
fn what_pierces_is_a_contact_that_would_have_held() {
    let start = sheet(0.1);
    let off = Vec3::new(-0.2, -0.05, 0.0);
    let end = moved(&start.positions, off - Vec3::z() * 0.15);
    let gap = 1e-3;
    let contacts = |shape: &Shape, motion: Motion, end: &[Vec3]| -> Vec<Contact> {
        let collider = Collider::new(shape.clone(), motion).unwrap();
        let collider = collider.with_gap(gap).unwrap().with_friction(0.4).unwrap();
        let (x, topology) = (&start.positions, &start.topology);
        piercing_contacts(x, end, topology, &[collider], 0.0, 1.0).unwrap()
    };
    // Shapes whose top is at the origin, the ball by its middle.
    let radius = 1e-2;
    let shapes = [
        needle(),
        Shape::cone(-0.2 * Vec3::z(), Vec3::zeros(), 1e-3).unwrap(),
        Shape::sphere(-radius * Vec3::z(), radius).unwrap(),
    ];
    for shape in &shapes {
        let found = contacts(shape, Motion::fixed(), &end);
        assert_eq!(found.len(), 1, "{shape:?}: {found:?}");
        let c = found[0];
        assert!((c.normal - Vec3::z()).norm() < 1e-12 && c.friction == 0.4, "{c:?}");
        // The end of the way is 5 cm below the top.
        assert!((c.gap + 0.05 + gap).abs() < 1e-12, "{c:?}");
        // At the crossing the blend of the vertices is over the top: a part of the way off.
        let met = impacts(shape, Motion::fixed(), &start, &end)[0].time;
        let at = c.sum(&start.positions) + (off - Vec3::z() * 0.15) * met;
        assert!(at.x.hypot(at.y) < 1e-12, "{at}");
        // Shot up at a sheet at rest it has the same gap, and the velocity of the needle.
        let speed = Vec3::z() * 0.15 - off;
        let up = Motion::steady(Vec3::zeros(), speed, Vec3::zeros()).unwrap();
        let shot = contacts(shape, up, &start.positions)[0];
        assert!((shot.gap - c.gap).abs() < 1e-12 && (shot.velocity - speed).norm() < 1e-12);
    }
    // A spike that turns through the sheet: the normal goes on with it, to where it came from as seen from the spike.
    let spike = Shape::cone(Vec3::zeros(), 0.15 * Vec3::x(), 1e-4).unwrap();
    let turn = Motion::steady(Vec3::zeros(), Vec3::zeros(), -Vec3::y() * 1.0).unwrap();
    let found = contacts(&spike, turn, &start.positions);
    assert!(!found.is_empty());
    for c in &found {
        assert!(c.gap < -gap, "{c:?}");
        // sin φ = 0.1 / 0.15 at the crossing, in the middle of the sheet: the rest of the radian turns the normal further.
        let more = 1.0 - (0.1f64 / 0.15).asin();
        assert!((c.normal.z - more.cos()).abs() < 2e-3, "{c:?}");
    }
}

#[test]
fn what_is_pierced_may_go_back() {
    let start = sheet(-0.05);
    let end = moved(&start.positions, Vec3::new(0.1, 0.05, 0.2));
    let box_corners =
        Shape::cuboid(-0.1 * Vec3::z(), Vec3::new(1e-3, 1e-3, 0.2), UnitQuaternion::identity());
    for shape in [needle(), box_corners.unwrap()] {
        let back = impacts(&shape, Motion::fixed(), &start, &end);
        let faces = back.iter().filter(|i| matches!(i.pair, ImpactPair::FaceCollider { .. }));
        assert_eq!(faces.count(), 0, "{back:?}");
    }
}

#[test]
fn a_fast_sheet_does_not_fold_over_the_edge_of_a_box_through_it() {
    // The border of the sheet comes down across the edge of a bench; its ends stay beside the bench.
    let bench = Shape::cuboid(
        Vec3::new(0.0, 0.0, -0.05),
        Vec3::new(0.3, 0.3, 0.1),
        UnitQuaternion::identity(),
    )
    .unwrap();
    let start = sheet(0.02);
    let by = Vec3::new(0.6, 0.0, -0.04);
    let found = impacts(&bench, Motion::fixed(), &start, &moved(&start.positions, by));
    assert!(found.iter().any(|i| matches!(i.pair, ImpactPair::EdgeCollider { .. })), "{found:?}");
    // Sliding across it at a hair's breadth is no impact, however fast.
    let start = sheet(1e-5);
    let slide = moved(&start.positions, Vec3::x() * 0.9);
    assert_eq!(impacts(&bench, Motion::fixed(), &start, &slide), []);
    // Nor is lying on it.
    let start = sheet(0.0);
    let turn = moved(&start.positions, Vec3::new(0.1, 0.05, 1e-13));
    assert_eq!(impacts(&bench, Motion::fixed(), &start, &turn), []);
}

#[test]
fn turning_and_breathing_colliders_are_seen() {
    // A spike that turns once while nothing else moves.
    let spike = Shape::cone(Vec3::zeros(), 0.4 * Vec3::x(), 1e-3).unwrap();
    let wall = {
        let mut wall = sheet(0.0);
        for x in &mut wall.positions {
            *x = Vec3::new(0.2 + x.x, 0.2, x.y); // upright, at y = 0.2
        }
        wall
    };
    let turn = Motion::steady(Vec3::zeros(), Vec3::zeros(), Vec3::z() * std::f64::consts::TAU);
    let found = impacts(&spike, turn.unwrap(), &wall, &wall.positions);
    // The tip meets the wall at sin φ = 1/2, a twelfth of the turn.
    let first = toile_contact::first_impact(found.iter().copied()).unwrap();
    assert!((first.time - 1.0 / 12.0).abs() < 2e-3, "{found:?}");
    // A ball of triangles grows through a face.
    let ball = generate::sphere(0.01, 1);
    let grown: Vec<Vec3> = ball.positions.iter().map(|x| x * 10.0).collect();
    let motion = Motion::sequence(vec![0.0, 1.0], vec![ball.positions.clone(), grown]).unwrap();
    let over = sheet(0.05);
    let over =
        TriMesh::new(moved(&over.positions, Vec3::new(0.2, 0.1, 0.0)), over.faces().to_vec());
    let over = over.unwrap();
    let found = impacts(&Shape::mesh(ball).unwrap(), motion, &over, &over.positions);
    assert!(!found.is_empty() && found.iter().all(|i| i.time > 0.3 && i.time < 1.0), "{found:?}");
}

#[test]
fn boxes_on_random_ways_are_seen_as_often_as_they_pierce() {
    let mut random = Random::new(91);
    let mut hits = 0;
    for case in 0..300 {
        let half = Vec3::new(0.05, 0.1, 0.15);
        let shape = Shape::cuboid(Vec3::zeros(), half * 2.0, UnitQuaternion::identity()).unwrap();
        let away = random.point(1.0);
        let start: Vec<Vec3> = (0..3).map(|_| random.point(0.5) + away).collect();
        let end: Vec<Vec3> = (0..3).map(|_| random.point(0.5) - away * 0.5).collect();
        let cloth = TriMesh::new(start, vec![[0, 1, 2]]).unwrap();
        let outside = |x: &[Vec3]| {
            let touches = |w: [f64; 3]| {
                let p = x[0] * w[0] + x[1] * w[1] + x[2] * w[2];
                (0..3).all(|k| p[k].abs() <= half[k])
            };
            let n = 40;
            !(0..=n).any(|i| {
                (0..=n - i).any(|j| {
                    let (u, v) = (i as f64 / n as f64, j as f64 / n as f64);
                    touches([u, v, 1.0 - u - v])
                })
            })
        };
        if !outside(&cloth.positions) {
            continue;
        }
        let found = impacts(&shape, Motion::fixed(), &cloth, &end);
        // The oracle: a thousand short straight ways, corners through the face and edges through edges.
        let n = 1000;
        let at = |k: usize| -> Vec<Vec3> {
            let t = k as f64 / n as f64;
            cloth.positions.iter().zip(&end).map(|(a, b)| a + (b - a) * t).collect()
        };
        // Vertices that get in are not for us, and what follows them out are ways out.
        let enters = |x: &Vec3| (0..3).all(|k| x[k].abs() <= half[k] + 1e-3);
        if (0..=n).any(|k| at(k).iter().any(enters)) {
            continue;
        }
        let corner = |k: usize| {
            let side = |bit: usize| if k >> bit & 1 == 1 { half[bit] } else { -half[bit] };
            Vec3::new(side(0), side(1), side(2))
        };
        let corners: Vec<Vec3> = (0..8).map(corner).collect();
        let upward = |k: usize| {
            (0..3).filter(move |bit| k >> bit & 1 == 0).map(move |bit| [k, k | 1 << bit])
        };
        let edges: Vec<[Vec3; 2]> = (0..8).flat_map(upward).map(|ends| ends.map(corner)).collect();
        let pierced = (0..n).any(|k| {
            let (a, b) = (at(k), at(k + 1));
            corners.iter().any(|p| passes_face(&[*p, a[0], a[1], a[2]], &[*p, b[0], b[1], b[2]]))
                || edges.iter().any(|s| {
                    (0..3).any(|m| {
                        let (i, j) = (m, (m + 1) % 3);
                        passes_edge(&[s[0], s[1], a[i], a[j]], &[s[0], s[1], b[i], b[j]])
                    })
                })
        });
        assert_eq!(!found.is_empty(), pierced, "case {case}: {found:?}");
        hits += usize::from(pierced);
    }
    assert!(hits > 20, "only {hits} hits");
}

#[test]
fn bad_input_is_refused() {
    let cloth = sheet(0.0);
    let x = &cloth.positions;
    let error = piercing_impacts(x, &x[..3], &cloth.topology, &[], 0.0, 1.0).unwrap_err();
    assert!(matches!(error, ContactError::PositionCount { .. }));
    assert!(piercing_impacts(x, x, &cloth.topology, &[], 1.0, 0.0).is_err());
}
