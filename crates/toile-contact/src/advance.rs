//! When two moving things meet: conservative advancement.
//!
//! Between convex things at distance d, with unit direction n from the closest point of the second
//! to that of the first, every point pair keeps at least its separation along n. While points move
//! linearly that separation is linear in time, so the first moment it could fall below a level is
//! known; the distance cannot fall below it earlier. Advancing to that moment and measuring again
//! never steps over a contact. The speed bound of Li et al. 2021 (additive CCD) is used where it is
//! longer. Touching is reported when a tenth of the distance at the start, or at the end if that is less, is left.

use toile_geometry::Vec3;

use crate::distance::{blend, point_triangle, segment_segment};

/// Part of the clearance at which things count as touching.
const LEFT: f64 = 0.1;
/// More steps than this end the search at the time reached, which is safe.
const STEPS: usize = 2000;

/// Positions of four points at the start and their motion over the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Four {
    pub(crate) start: [Vec3; 4],
    pub(crate) motion: [Vec3; 4],
}

impl Four {
    pub(crate) fn new(start: [Vec3; 4], end: [Vec3; 4]) -> Self {
        // Relative to the first point and without the common motion: no digits are lost to them.
        let mut motion = [0, 1, 2, 3].map(|k| end[k] - start[k]);
        let mean = (motion[0] + motion[1] + motion[2] + motion[3]) / 4.0;
        motion.iter_mut().for_each(|m| *m -= mean);
        Self { start: start.map(|x| x - start[0]), motion }
    }

    fn at(&self, t: f64) -> [Vec3; 4] {
        let x = |k: usize| self.start[k] + self.motion[k] * t;
        [x(0), x(1), x(2), x(3)]
    }
}

/// Vector between the closest points of the first `N` of four points and the rest, from the rest.
type Gap = fn(&[Vec3; 4]) -> Vec3;

fn vertex_face_gap(x: &[Vec3; 4]) -> Vec3 {
    let corners = [x[1], x[2], x[3]];
    x[0] - blend(&corners, &point_triangle(&x[0], &corners).weights)
}

fn edge_edge_gap(x: &[Vec3; 4]) -> Vec3 {
    let pair = segment_segment(&[x[0], x[1]], &[x[2], x[3]], 1e-14);
    x[0] + (x[1] - x[0]) * pair.s - x[2] - (x[3] - x[2]) * pair.t
}

/// Earliest time in [0, 1] at which a vertex (first point) comes within `separation` of a face, or,
/// when it starts closer than twice that, within half its starting distance. Never too late.
pub(crate) fn vertex_face_time(four: &Four, separation: f64, until: f64) -> Option<f64> {
    meeting_time(four, 1, vertex_face_gap, separation, until)
}

/// The same for two edges: points 0, 1 and points 2, 3.
pub(crate) fn edge_edge_time(four: &Four, separation: f64, until: f64) -> Option<f64> {
    meeting_time(four, 2, edge_edge_gap, separation, until)
}

/// `split` points against the rest. `None` when they do not meet up to and including `until`.
fn meeting_time(four: &Four, split: usize, gap: Gap, separation: f64, until: f64) -> Option<f64> {
    let mut d = gap(&four.start);
    let mut distance = d.norm();
    let reach = four.start.iter().map(Vec3::amax).fold(0.0, f64::max);
    // Below this, round-off decides.
    let grain = 1e-12 * reach;
    if distance <= grain {
        return Some(0.0);
    }
    let kept = separation.min(0.5 * distance);
    // What comes from afar to rest nearby has not touched.
    let ends = gap(&four.at(1.0)).norm();
    let clear = if ends > kept { distance.min(ends) } else { distance };
    let near = kept + LEFT * (clear - kept);
    // Aim between what must be kept and what counts as touching.
    let level = 0.5 * (kept + near);
    let size = |m: &[Vec3]| m.iter().map(Vec3::norm).fold(0.0, f64::max);
    let speed = size(&four.motion[..split]) + size(&four.motion[split..]);
    let mut t = 0.0;
    for _ in 0..STEPS {
        if distance <= near {
            return Some(t);
        }
        let n = d / distance;
        let x = four.at(t);
        let mut along = f64::INFINITY;
        for i in 0..split {
            for j in split..4 {
                let closing = n.dot(&(four.motion[j] - four.motion[i]));
                if closing > 0.0 {
                    let apart = n.dot(&(x[i] - x[j]));
                    along = along.min((apart - level) / closing);
                }
            }
        }
        let by_speed = if speed > 0.0 { (distance - level) / speed } else { f64::INFINITY };
        t += along.max(by_speed);
        if t > until {
            return None;
        }
        d = gap(&four.at(t));
        distance = d.norm();
    }
    Some(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const SEPARATION: f64 = 1e-3;

    /// Least distance over many times up to `end`.
    fn sampled(four: &Four, gap: Gap, end: f64) -> f64 {
        let n = 4000;
        (0..=n).map(|k| gap(&four.at(end * k as f64 / n as f64)).norm()).fold(f64::MAX, f64::min)
    }

    /// Whether the points pass through each other: the signed volume changes while the pair is
    /// close. Found by the distance at the roots of the volume, located by fine sampling.
    fn check(case: usize, four: &Four, gap: Gap, found: Option<f64>) {
        let start = gap(&four.start).norm();
        let kept = SEPARATION.min(0.5 * start);
        let end = found.unwrap_or(1.0);
        assert!((0.0..=1.0).contains(&end), "case {case}: time {end}");
        let least = sampled(four, gap, end);
        assert!(least >= kept * (1.0 - 1e-9), "case {case}: {least} m left of {kept} before {end}");
        // Not far too early: a tenth of the clearance is all that is given away, unless a long way
        // at a hair's breadth takes too many steps.
        if found.is_some() && start > 1e-5 {
            let left = gap(&four.at(end)).norm();
            assert!(left <= kept + 0.1001 * (start - kept), "case {case}: {left} of {start} left");
        }
    }

    fn cases(random: &mut Random, case: usize) -> Four {
        let mut start = [0; 4].map(|_| random.point(1.0));
        let mut end = [0; 4].map(|_| random.point(1.0));
        match case % 8 {
            // grazing: all move in parallel planes 0.5 mm to 2 mm apart
            1 => {
                let z = random.between(0.5e-3, 2e-3);
                for k in 0..4 {
                    start[k].z = if k == 0 { z } else { 0.0 };
                    end[k].z = start[k].z;
                }
            }
            // coplanar all the time
            2 => {
                for k in 0..4 {
                    start[k].z = 0.0;
                    end[k].z = 0.0;
                }
            }
            // parallel edges
            3 => {
                start[3] = start[2] + (start[1] - start[0]) * random.between(-1.0, 1.0);
                end[3] = end[2] + (end[1] - end[0]);
            }
            // without length or area
            4 => {
                start[3] = start[2];
                end[3] = end[2];
            }
            // sliver
            5 => {
                start[3] = (start[1] + start[2]) * 0.5 + random.point(1e-9);
                end[3] = (end[1] + end[2]) * 0.5;
            }
            // starts very close and moves far
            6 => {
                let flat = vertex_face_gap(&start);
                start[0] -= flat * (1.0 - 1e-6 / flat.norm());
            }
            // fast along the face
            7 => {
                let slide = random.point(1.0);
                for k in 0..4 {
                    end[k] = start[k] + if k == 0 { slide } else { random.point(1e-3) };
                }
            }
            _ => {}
        }
        Four::new(start, end)
    }

    #[test]
    fn no_vertex_comes_closer_to_a_face_before_the_time_found() {
        let mut random = Random::new(51);
        let mut hits = 0;
        for case in 0..2000 {
            let four = cases(&mut random, case);
            let found = vertex_face_time(&four, SEPARATION, 1.0);
            hits += usize::from(found.is_some());
            check(case, &four, vertex_face_gap, found);
        }
        assert!(hits > 300, "only {hits} met");
    }

    #[test]
    fn no_edges_come_closer_before_the_time_found() {
        let mut random = Random::new(52);
        let mut hits = 0;
        for case in 0..2000 {
            let four = cases(&mut random, case);
            let found = edge_edge_time(&four, SEPARATION, 1.0);
            hits += usize::from(found.is_some());
            check(case, &four, edge_edge_gap, found);
        }
        assert!(hits > 300, "only {hits} met");
    }

    #[test]
    fn head_on_times_are_those_of_the_formula() {
        let face =
            [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, -1.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
        let four = |from: f64, to: f64| {
            let start = [Vec3::z() * from, face[0], face[1], face[2]];
            let mut end = start;
            end[0] = Vec3::z() * to;
            // far away and fast: only relative motion counts
            let shift = Vec3::new(100.0, 50.0, 3.0);
            Four::new(start.map(|x| x + shift), end.map(|x| x - shift))
        };
        let t = vertex_face_time(&four(1.0, -1.0), 0.1, 1.0).unwrap();
        // 0.1 + 0.1 · 0.9 left at z = 1 − 2t, give or take half of it.
        assert!((0.40..=0.45).contains(&t), "{t}");
        assert_eq!(vertex_face_time(&four(1.0, 0.25), 0.1, 1.0), None);
        assert_eq!(vertex_face_time(&four(0.0, 1.0), 0.1, 1.0), Some(0.0));
    }
}
