use nalgebra::UnitQuaternion;
use toile_contact::{ContactError, Keyframe, Motion};
use toile_geometry::Vec3;

fn key(time: f64, position: Vec3, turn: Vec3) -> Keyframe {
    Keyframe { time, position, rotation: UnitQuaternion::from_scaled_axis(turn) }
}

#[test]
fn velocities_are_the_derivatives_of_places() {
    let pivot = Vec3::new(0.3, -0.2, 0.5);
    let keys = vec![
        key(0.0, Vec3::zeros(), Vec3::zeros()),
        key(1.0, Vec3::new(1.0, 0.5, 0.0), Vec3::new(0.0, 0.4, 2.5)),
        key(1.5, Vec3::new(0.0, 2.0, 0.1), Vec3::new(0.0, -0.4, -2.9)),
    ];
    let motions = [
        Motion::keyframes(pivot, keys).unwrap(),
        Motion::steady(pivot, Vec3::new(1.0, 0.0, 2.0), Vec3::new(0.0, 3.0, 1.0)).unwrap(),
    ];
    let place = Vec3::new(0.9, 0.1, -0.4);
    for motion in motions {
        for t in [0.2, 0.7, 1.2, 1.4] {
            let h = 1e-6;
            let x = |t: f64| motion.rigid_at(t).pose.place(&place);
            let measured = (x(t + h) - x(t - h)) / (2.0 * h);
            let stated = motion.rigid_at(t).velocity_at(&x(t));
            assert!((measured - stated).norm() < 1e-7, "{measured:?} for {stated:?} at {t}");
        }
    }
}

#[test]
fn keys_are_met_and_outside_them_the_collider_rests() {
    let end = key(2.0, Vec3::x(), Vec3::z() * 1.0);
    let motion = Motion::keyframes(Vec3::zeros(), vec![key(1.0, Vec3::y(), Vec3::zeros()), end]);
    let motion = motion.unwrap();
    for (t, expected) in [(0.0, Vec3::y()), (1.0, Vec3::y()), (2.0, Vec3::x()), (9.0, Vec3::x())] {
        let state = motion.rigid_at(t);
        assert!((state.pose.origin - expected).norm() < 1e-15, "at {t}");
        assert_eq!(state.velocity == Vec3::zeros(), t != 1.0, "at {t}");
    }
    let between: Vec<f64> = motion.keys_between(1.0, 3.0).collect();
    assert_eq!(between, [2.0]);
}

#[test]
fn keys_out_of_order_are_refused() {
    let zero = Vec3::zeros();
    let keys = vec![key(1.0, zero, zero), key(1.0, zero, zero)];
    let error = Motion::keyframes(zero, keys).unwrap_err();
    assert_eq!(error, ContactError::KeysNotIncreasing { key: 1, time: 1.0, previous: 1.0 });
    assert_eq!(Motion::keyframes(zero, vec![]).unwrap_err(), ContactError::NoKeys);
    assert!(Motion::keyframes(zero, vec![key(f64::NAN, zero, zero)]).is_err());
    let frames = vec![vec![zero; 3], vec![zero; 4]];
    let error = Motion::sequence(vec![0.0, 1.0], frames).unwrap_err();
    assert_eq!(error, ContactError::SequenceCount { key: 1, expected: 3, found: 4 });
}
