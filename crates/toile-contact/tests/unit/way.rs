use crate::random::Random;
use nalgebra::UnitQuaternion;
use toile_contact::{
    Collider, ContactError, ImpactPair, Keyframe, Motion, Shape, collider_impacts,
};
use toile_geometry::{Vec3, generate};

fn shapes() -> Vec<Shape> {
    let (c, up) = (Vec3::new(0.1, 0.0, -0.1), Vec3::z());
    vec![
        Shape::plane(c, up).unwrap(),
        Shape::sphere(c, 0.3).unwrap(),
        Shape::cylinder(c, Vec3::x(), 0.2, Some(0.5)).unwrap(),
        Shape::capsule(c, c + up, 0.02).unwrap(),
        Shape::cone(c, c + up, 0.3).unwrap(),
        Shape::cuboid(c, Vec3::repeat(0.4), UnitQuaternion::identity()).unwrap(),
        Shape::torus(c, up, 0.4, 0.05).unwrap(),
        Shape::mesh(generate::sphere(0.3, 2)).unwrap(),
    ]
}

fn motions() -> Vec<Motion> {
    let key = |time: f64, position: Vec3, turn: Vec3| Keyframe {
        time,
        position,
        rotation: UnitQuaternion::from_scaled_axis(turn),
    };
    let zero = Vec3::zeros();
    let keys = vec![
        key(0.0, zero, zero),
        key(0.4, Vec3::new(0.3, 0.0, 0.2), Vec3::z() * 1.5),
        key(0.7, Vec3::new(0.0, 0.5, 0.0), Vec3::x() * 1.0),
    ];
    vec![
        Motion::fixed(),
        Motion::steady(Vec3::x() * 0.1, Vec3::new(1.0, 0.0, 2.0), Vec3::new(0.0, 4.0, 3.0))
            .unwrap(),
        Motion::keyframes(zero, keys).unwrap(),
    ]
}

/// Depths below this are round-off [m].
const GRAIN: f64 = 1e-10;

#[test]
fn no_vertex_enters_a_moving_collider_before_the_time_found() {
    let mut random = Random::new(71);
    let (from, to) = (0.1, 0.9);
    let mut hits = 0;
    for shape in shapes() {
        for motion in motions() {
            let collider = Collider::new(shape.clone(), motion).unwrap();
            let start: Vec<Vec3> = (0..40).map(|_| random.point(1.0)).collect();
            let end: Vec<Vec3> = start.iter().map(|_| random.point(0.5)).collect();
            let colliders = [collider];
            let found = collider_impacts(&start, &end, &colliders, from, to, 1e-3).unwrap();
            hits += found.len();
            for v in 0..start.len() {
                let pair = ImpactPair::VertexCollider { vertex: v as u32, collider: 0 };
                let time = found.iter().find(|i| i.pair == pair).map(|i| i.time);
                let at = |s: f64| {
                    let placed = colliders[0].at(from + (to - from) * s);
                    placed.query(&(start[v] + (end[v] - start[v]) * s)).distance
                };
                let first = at(0.0);
                if first <= GRAIN {
                    assert_eq!(time.is_some(), at(1.0) < first.min(0.0) - GRAIN);
                    continue;
                }
                let kept = 1e-3f64.min(0.5 * first);
                let stop = time.unwrap_or(1.0);
                let n = 300;
                let least =
                    (0..=n).map(|k| at(stop * k as f64 / n as f64)).fold(f64::MAX, f64::min);
                assert!(least >= kept - 1e-12, "{least} of {kept} before {stop}: {colliders:?}");
                if time.is_some() {
                    assert!(at(stop) <= kept + 0.1001 * (first - kept), "stopped early");
                }
            }
        }
    }
    assert!(hits > 150, "only {hits} hits");
}

#[test]
fn a_vertex_that_comes_from_afar_to_rest_nearby_has_touched_nothing() {
    let ball = Collider::fixed(Shape::sphere(Vec3::zeros(), 0.3).unwrap());
    let meets = |from: f64, to: f64| {
        let [start, end] = [from, to].map(|z| [Vec3::z() * z]);
        collider_impacts(&start, &end, std::slice::from_ref(&ball), 0.0, 1.0, 0.0).unwrap().len()
    };
    assert_eq!(meets(0.32, 0.301), 0);
    assert_eq!(meets(0.32, 0.299), 1);
}

#[test]
fn a_mesh_that_breathes_out_meets_resting_vertices() {
    let ball = generate::sphere(1.0, 3);
    let grown: Vec<Vec3> = ball.positions.iter().map(|x| x * 2.0).collect();
    let frames = vec![ball.positions.clone(), grown, ball.positions.clone()];
    let motion = Motion::sequence(vec![0.0, 1.0, 2.0], frames).unwrap();
    let collider = [Collider::new(Shape::mesh(ball).unwrap(), motion).unwrap()];
    let x = [Vec3::new(0.0, 0.3, 1.5), Vec3::x() * 3.0, Vec3::x() * 0.5];
    let found = collider_impacts(&x, &x, &collider, 0.0, 2.0, 1e-3).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    // |x| = 1.53 is met by the ball of radius 1 + t at half of t = 0.53, less a tenth.
    assert!((0.22..0.27).contains(&found[0].time), "{found:?}");
}

#[test]
fn intervals_that_run_backwards_are_refused() {
    let error = collider_impacts(&[], &[], &[], 1.0, 0.0, 0.0).unwrap_err();
    assert_eq!(error, ContactError::BadInterval { start: 1.0, end: 0.0 });
}
