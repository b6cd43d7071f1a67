//! Vertices on their way past moving colliders.

use toile_geometry::Vec3;

use crate::advance::{Four, vertex_face_time};
use crate::bounds::Bounds;
use crate::bvh::Bvh;
use crate::collider::PlacedCollider;
use crate::touch::{check_length, in_blocks};
use crate::{Collider, ContactError, Impact, ImpactPair, RigidState};

/// Longest search along the way of one vertex; the time reached by then is safe.
const STEPS: usize = 2000;
/// Part of the clearance, the lesser of that at the start and at the end, at which things count as touching.
const LEFT: f64 = 0.1;
/// Depths below this are round-off: what touches with no gap is a little inside or outside \[m\].
const GRAIN: f64 = 1e-10;

/// Impacts of vertices with colliders while vertices go straight from `start` (at time `from`) to
/// `end` (at time `to`, both \[s\]) and colliders move, sorted by pair.
///
/// Up to its time a vertex stays farther from the surface than `separation` \[m\], or, if it starts
/// closer than twice that, than half its starting distance. A vertex that starts inside is an impact
/// at time 0 if it ends deeper than it started, and none otherwise. Corners and edges of colliders that pass
/// through the cloth between its vertices are seen by [`piercing_impacts`](crate::piercing_impacts).
///
/// The signed distance changes no faster than vertex and surface move relative to each other
/// (conservative advancement); for a rigid motion that speed is largest at an end of each interval
/// between keys. The faces of a mesh sequence move linearly between keys and are taken one by one.
pub fn collider_impacts(
    start: &[Vec3],
    end: &[Vec3],
    colliders: &[Collider],
    from: f64,
    to: f64,
    separation: f64,
) -> Result<Vec<Impact>, ContactError> {
    if !(from.is_finite() && to.is_finite() && from <= to) {
        return Err(ContactError::BadInterval { start: from, end: to });
    }
    if start.len() != end.len() {
        let (expected, found) = (start.len(), end.len());
        return Err(ContactError::PositionCount { expected, found });
    }
    for x in [start, end] {
        if let Some(vertex) = x.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
            return Err(ContactError::PositionNotFinite { vertex });
        }
    }
    check_length("the separation from colliders [m]", separation)?;
    let mut impacts = Vec::new();
    for (number, collider) in colliders.iter().enumerate() {
        let mut times = vec![from];
        times.extend(collider.motion().keys_between(from, to));
        times.push(to);
        let first = collider.at(from);
        let way = Way {
            start,
            end,
            collider,
            separation,
            bounds: first.bounds(),
            states: times.iter().map(|&t| collider.motion().rigid_at(t)).collect(),
            first,
            last: collider.at(to),
            moving: moving_faces(collider, &times),
            times,
        };
        impacts.extend(in_blocks(start.len(), 64, |range, found| {
            for v in range {
                let pair = ImpactPair::VertexCollider { vertex: v as u32, collider: number as u32 };
                found.extend(way.first_touch(v).map(|time| Impact { time, pair }));
            }
        }));
    }
    impacts.sort_unstable_by_key(|impact| impact.pair);
    Ok(impacts)
}

/// Vertices of a mesh sequence at the ends of one interval, and boxes over its moving faces.
struct Moving {
    start: Vec<Vec3>,
    end: Vec<Vec3>,
    bvh: Bvh,
}

/// One entry per interval; none for rigid colliders.
fn moving_faces(collider: &Collider, times: &[f64]) -> Vec<Moving> {
    let Some(mesh) = collider.shape().as_mesh().filter(|_| !collider.motion().is_rigid()) else {
        return Vec::new();
    };
    let frame = |t: f64| collider.motion().frame_at(t).expect("a mesh sequence").0;
    let interval = |pair: &[f64]| {
        let (start, end) = (frame(pair[0]), frame(pair[1]));
        let swept = |face: &[u32; 3]| {
            let mut bounds = Bounds::EMPTY;
            for &v in face {
                bounds.include(&start[v as usize]);
                bounds.include(&end[v as usize]);
            }
            bounds
        };
        let boxes: Vec<Bounds> = mesh.mesh().faces().iter().map(swept).collect();
        Moving { bvh: Bvh::new(&boxes), start, end }
    };
    times.windows(2).map(interval).collect()
}

struct Way<'a> {
    start: &'a [Vec3],
    end: &'a [Vec3],
    collider: &'a Collider,
    separation: f64,
    first: PlacedCollider<'a>,
    last: PlacedCollider<'a>,
    moving: Vec<Moving>,
    /// Ends of the intervals in which the collider moves steadily.
    times: Vec<f64>,
    /// Motion at the start of each interval.
    states: Vec<RigidState>,
    /// Box around the collider at the start.
    bounds: Bounds,
}

impl Way<'_> {
    /// Part of the step at a time.
    fn part(&self, t: f64) -> f64 {
        let (from, to) = (self.times[0], self.times[self.times.len() - 1]);
        if to > from { ((t - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Largest speed of a vertex as seen from a rigid collider in an interval, per whole step \[m\].
    ///
    /// Seen from the collider the velocity is linear in time, so its size is largest at an end.
    fn relative_speed(&self, interval: usize, v: usize) -> f64 {
        let (t0, t1) = (self.times[interval], self.times[interval + 1]);
        let duration = self.times[self.times.len() - 1] - self.times[0];
        let state = &self.states[interval];
        let motion = self.end[v] - self.start[v];
        let at = |s: f64, center: Vec3| {
            let x = self.start[v] + motion * s;
            (motion - (state.velocity + state.angular_velocity.cross(&(x - center))) * duration)
                .norm()
        };
        let s0 = if interval == 0 { 0.0 } else { self.part(t0) };
        at(s0, state.center).max(at(self.part(t1), state.center + state.velocity * (t1 - t0)))
    }

    /// Whether a vertex is too far from a rigid collider to reach it.
    fn is_out_of_reach(&self, v: usize) -> bool {
        let apart = self.bounds.distance_squared(&self.start[v]).sqrt() - self.separation;
        if apart <= 0.0 || !self.collider.motion().is_rigid() {
            return false;
        }
        let mut way = 0.0;
        for (k, pair) in self.times.windows(2).enumerate() {
            let s0 = if k == 0 { 0.0 } else { self.part(pair[0]) };
            way += self.relative_speed(k, v) * (self.part(pair[1]) - s0);
        }
        way < apart
    }

    fn first_touch(&self, v: usize) -> Option<f64> {
        if self.is_out_of_reach(v) {
            return None;
        }
        let distance = self.first.query(&self.start[v]).distance;
        if distance <= GRAIN {
            let ends = self.last.query(&self.end[v]).distance;
            return (ends < distance.min(0.0) - GRAIN).then_some(0.0);
        }
        if self.collider.motion().is_rigid() {
            self.rigid(v, distance)
        } else {
            self.sequence(v, distance)
        }
    }

    fn rigid(&self, v: usize, mut distance: f64) -> Option<f64> {
        let (x0, motion) = (self.start[v], self.end[v] - self.start[v]);
        let kept = self.separation.min(0.5 * distance);
        // A vertex that comes from afar to rest nearby has touched nothing.
        let ends = self.last.query(&self.end[v]).distance;
        let clear = if ends > kept { distance.min(ends) } else { distance };
        let near = kept + LEFT * (clear - kept);
        let level = 0.5 * (kept + near);
        let duration = self.times[self.times.len() - 1] - self.times[0];
        let mut steps = 0;
        for (k, pair) in self.times.windows(2).enumerate() {
            // Everything per whole step: time runs from 0 to 1.
            let (mut s, end) = (if k == 0 { 0.0 } else { self.part(pair[0]) }, self.part(pair[1]));
            let speed = self.relative_speed(k, v);
            // Without relative motion the next moment is at infinity.
            loop {
                s += (distance - level) / speed;
                if s >= end {
                    break;
                }
                let t = self.times[0] + s * duration;
                distance = self.collider.at(t).query(&(x0 + motion * s)).distance;
                steps += 1;
                if distance <= near || steps > STEPS {
                    return Some(s);
                }
            }
            // Only needed to go on: at the end of an interval the vertex is still clear.
            if k + 2 < self.times.len() {
                distance = self.collider.at(pair[1]).query(&(x0 + motion * end)).distance;
                if distance <= near {
                    return Some(end);
                }
            }
        }
        None
    }

    fn sequence(&self, v: usize, distance: f64) -> Option<f64> {
        let kept = self.separation.min(0.5 * distance);
        let faces = self.collider.shape().as_mesh().expect("a mesh sequence").mesh().faces();
        for (pair, moving) in self.times.windows(2).zip(&self.moving) {
            let (s0, s1) = (self.part(pair[0]), self.part(pair[1]));
            let s0 = if pair[0] == self.times[0] { 0.0 } else { s0 };
            let at = |s: f64| self.start[v] + (self.end[v] - self.start[v]) * s;
            let (a, b) = (at(s0), at(s1));
            let grain = 1e-12 * (a.amax() + b.amax());
            let query = Bounds::around([&a, &b]).inflated(kept + grain);
            let mut first: Option<f64> = None;
            moving.bvh.overlapping(&query, |f| {
                let [i, j, k] = faces[f as usize].map(|v| v as usize);
                let four = Four::new(
                    [a, moving.start[i], moving.start[j], moving.start[k]],
                    [b, moving.end[i], moving.end[j], moving.end[k]],
                );
                let until = first.unwrap_or(1.0);
                if let Some(time) = vertex_face_time(&four, kept, until) {
                    first = Some(time.min(until));
                }
            });
            if let Some(time) = first {
                return Some(s0 + (s1 - s0) * time);
            }
        }
        None
    }
}
