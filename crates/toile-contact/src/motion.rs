//! How a collider moves.

use nalgebra::UnitQuaternion;
use toile_geometry::Vec3;

use crate::{ContactError, Pose};

/// Where a rigid collider is at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// \[s\]
    pub time: f64,
    /// Shift from the place where the shape was defined \[m\].
    pub position: Vec3,
    /// Turn about the pivot; [`UnitQuaternion::from_scaled_axis`] makes one from axis and angle.
    pub rotation: UnitQuaternion<f64>,
}

/// How a collider moves: x(t) = pivot + R(t)(X − pivot) + position(t), or vertex by vertex.
///
/// Before its first and after its last key a collider rests. At a key it has the velocity with
/// which it goes on.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Kind {
    #[default]
    Fixed,
    Keys {
        pivot: Vec3,
        keys: Vec<Keyframe>,
    },
    Steady {
        pivot: Vec3,
        velocity: Vec3,
        angular_velocity: Vec3,
    },
    Sequence {
        times: Vec<f64>,
        frames: Vec<Vec<Vec3>>,
    },
}

/// Place and velocity of a rigid motion at one time: a point at x moves with
/// `velocity` + `angular_velocity` × (x − `center`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidState {
    /// From the place of definition to the world.
    pub pose: Pose,
    /// A point of the axis of rotation \[m\].
    pub center: Vec3,
    /// Velocity of that point \[m/s\].
    pub velocity: Vec3,
    /// \[rad/s\]
    pub angular_velocity: Vec3,
}

impl RigidState {
    /// Velocity of the material point at x \[m/s\].
    pub fn velocity_at(&self, x: &Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(&(x - self.center))
    }
}

fn check_times(times: impl Iterator<Item = f64>) -> Result<(), ContactError> {
    let mut previous = f64::NEG_INFINITY;
    let mut count = 0;
    for (key, time) in times.enumerate() {
        if !time.is_finite() {
            return Err(ContactError::NotFinite { what: "a key time" });
        }
        if time <= previous {
            return Err(ContactError::KeysNotIncreasing { key, time, previous });
        }
        previous = time;
        count += 1;
    }
    if count == 0 { Err(ContactError::NoKeys) } else { Ok(()) }
}

fn finite(what: &'static str, v: &Vec3) -> Result<(), ContactError> {
    if v.iter().all(|c| c.is_finite()) { Ok(()) } else { Err(ContactError::NotFinite { what }) }
}

/// Interval of a time among keys, and its part: `(k, part)` means keys k and k + 1; a `None`
/// interval means at rest at key k.
fn interval(count: usize, time_of: impl Fn(usize) -> f64, t: f64) -> (usize, Option<f64>) {
    if t < time_of(0) {
        return (0, None);
    }
    let (mut low, mut high) = (0, count);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if time_of(middle) <= t { low = middle } else { high = middle }
    }
    if low + 1 == count {
        (low, None)
    } else {
        (low, Some((t - time_of(low)) / (time_of(low + 1) - time_of(low))))
    }
}

impl Motion {
    /// Stays where it was defined.
    pub fn fixed() -> Self {
        Self::default()
    }

    /// Position linear, rotation by the shortest turn at constant rate between the keys.
    pub fn keyframes(pivot: Vec3, keys: Vec<Keyframe>) -> Result<Self, ContactError> {
        check_times(keys.iter().map(|key| key.time))?;
        finite("the pivot of the motion", &pivot)?;
        for key in &keys {
            finite("the position of a key", &key.position)?;
            if !key.rotation.coords.iter().all(|c| c.is_finite()) {
                return Err(ContactError::NotFinite { what: "the rotation of a key" });
            }
        }
        Ok(Self { kind: Kind::Keys { pivot, keys } })
    }

    /// Constant velocity \[m/s\] and rotation \[rad/s\] about a pivot that moves along, from t = 0 on
    /// and before.
    pub fn steady(
        pivot: Vec3,
        velocity: Vec3,
        angular_velocity: Vec3,
    ) -> Result<Self, ContactError> {
        finite("the pivot of the motion", &pivot)?;
        finite("the velocity", &velocity)?;
        finite("the angular velocity", &angular_velocity)?;
        Ok(Self { kind: Kind::Steady { pivot, velocity, angular_velocity } })
    }

    /// All vertices of a mesh at each key time, linear in between.
    pub fn sequence(times: Vec<f64>, frames: Vec<Vec<Vec3>>) -> Result<Self, ContactError> {
        check_times(times.iter().copied())?;
        let expected = frames.first().map_or(0, Vec::len);
        for (key, frame) in frames.iter().enumerate() {
            if frame.len() != expected {
                let found = frame.len();
                return Err(ContactError::SequenceCount { key, expected, found });
            }
            for x in frame {
                finite("a vertex of the mesh sequence", x)?;
            }
        }
        if frames.len() != times.len() {
            let (expected, found) = (times.len(), frames.len());
            return Err(ContactError::FrameCount { expected, found });
        }
        Ok(Self { kind: Kind::Sequence { times, frames } })
    }

    /// Whether the collider moves as one piece.
    pub fn is_rigid(&self) -> bool {
        !matches!(self.kind, Kind::Sequence { .. })
    }

    /// Place and velocity at time t; the identity for a mesh sequence.
    pub fn rigid_at(&self, t: f64) -> RigidState {
        let still = |pose, center| RigidState {
            pose,
            center,
            velocity: Vec3::zeros(),
            angular_velocity: Vec3::zeros(),
        };
        let pose = |pivot: &Vec3, position: Vec3, rotation: UnitQuaternion<f64>| {
            let rotation = rotation.to_rotation_matrix().into_inner();
            Pose { rotation, origin: pivot + position - rotation * pivot }
        };
        match &self.kind {
            Kind::Fixed | Kind::Sequence { .. } => still(Pose::identity(), Vec3::zeros()),
            Kind::Steady { pivot, velocity, angular_velocity } => RigidState {
                pose: pose(
                    pivot,
                    velocity * t,
                    UnitQuaternion::from_scaled_axis(angular_velocity * t),
                ),
                center: pivot + velocity * t,
                velocity: *velocity,
                angular_velocity: *angular_velocity,
            },
            Kind::Keys { pivot, keys } => {
                let (k, part) = interval(keys.len(), |k| keys[k].time, t);
                let a = &keys[k];
                let Some(s) = part else {
                    return still(pose(pivot, a.position, a.rotation), pivot + a.position);
                };
                let b = &keys[k + 1];
                let rate = 1.0 / (b.time - a.time);
                let turn = shortest(&(b.rotation * a.rotation.inverse()));
                let position = a.position + (b.position - a.position) * s;
                let rotation = UnitQuaternion::from_scaled_axis(turn * s) * a.rotation;
                RigidState {
                    pose: pose(pivot, position, rotation),
                    center: pivot + position,
                    velocity: (b.position - a.position) * rate,
                    angular_velocity: turn * rate,
                }
            }
        }
    }

    /// Vertices of a mesh sequence at time t and their velocities.
    pub(crate) fn frame_at(&self, t: f64) -> Option<(Vec<Vec3>, Vec<Vec3>)> {
        let Kind::Sequence { times, frames } = &self.kind else { return None };
        let (k, part) = interval(times.len(), |k| times[k], t);
        let Some(s) = part else {
            return Some((frames[k].clone(), vec![Vec3::zeros(); frames[k].len()]));
        };
        let rate = 1.0 / (times[k + 1] - times[k]);
        let pairs = || frames[k].iter().zip(&frames[k + 1]);
        let positions = pairs().map(|(a, b)| a + (b - a) * s).collect();
        Some((positions, pairs().map(|(a, b)| (b - a) * rate).collect()))
    }

    /// Key times strictly between two times, in order: where velocities may jump.
    pub fn keys_between(&self, start: f64, end: f64) -> impl Iterator<Item = f64> + '_ {
        let (keys, times): (&[Keyframe], &[f64]) = match &self.kind {
            Kind::Keys { keys, .. } => (keys, &[]),
            Kind::Sequence { times, .. } => (&[], times),
            _ => (&[], &[]),
        };
        let all = keys.iter().map(|key| key.time).chain(times.iter().copied());
        all.filter(move |&t| start < t && t < end)
    }
}

/// Axis times angle, the angle at most π; exact zero for no turn.
fn shortest(q: &UnitQuaternion<f64>) -> Vec3 {
    if q.w < 0.0 {
        UnitQuaternion::new_unchecked(-q.into_inner()).scaled_axis()
    } else {
        q.scaled_axis()
    }
}
