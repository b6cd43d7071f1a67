//! Fibres that would pass through each other within a step.
//!
//! Nearness at the start of a step finds what touches slowly. What moves by more than its thickness may be far away then, or near at
//! another place than where it will cross. Here the capsules go straight for the whole step, and the time at which two of them first
//! come too close is found by steps that cannot miss it: no pair comes closer faster than its ends move.

use toile_contact::{BetweenSegments, segment_segment};

use crate::assembly::Fibre;
use crate::body::Bodies;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites, TOUCHING, grid_pairs, segments_of};

/// Part of the sum of the radii below which two fibres count as passing: contacts that hold keep them farther apart.
const DEEP: f64 = 0.5;
/// Part of their distance to which fibres that are closer than that may come: less is on the way through.
const THROUGH: f64 = 0.25;
/// Part of it by which fibres may move in a step without being looked at: too little to pass from outside to `DEEP`.
const SLOW: f64 = 0.2;
/// Advances at most: each takes up at least the distance that is left, but for parallel segments.
const ADVANCES: usize = 200;

/// First time in \[0, 1\] at which two segments whose ends go straight come within `near`, and how they stand then; `None` if they
/// never do. Never too late.
pub(crate) fn first_near(
    start: [[Vec3; 2]; 2],
    way: [[Vec3; 2]; 2],
    near: f64,
) -> Option<(f64, BetweenSegments)> {
    let at = |k: usize, t: f64| [start[k][0] + way[k][0] * t, start[k][1] + way[k][1] * t];
    let mut fastest = 0.0f64;
    for a in &way[0] {
        for b in &way[1] {
            fastest = fastest.max((a - b).norm());
        }
    }
    let mut t = 0.0;
    for _ in 0..ADVANCES {
        let found = segment_segment(&at(0, t), &at(1, t), 1e-12);
        let left = found.distance_squared.sqrt() - near;
        if left <= 1e-3 * near {
            return Some((t, found));
        }
        t += left / fastest;
        if t.is_nan() || t > 1.0 {
            return None;
        }
    }
    let found = segment_segment(&at(0, t), &at(1, t), 1e-12);
    Some((t, found))
}

/// Whether anything moves so far in a step that it could pass.
pub(crate) fn is_fast(fibres: &[Fibre], sites: &[Sites], h: f64) -> bool {
    let thinnest = fibres.iter().map(|f| f.radius).fold(f64::INFINITY, f64::min);
    let fast = |s: &Sites| s.velocities.iter().any(|v| v.norm() * h > SLOW * thinnest);
    sites.iter().any(fast)
}

/// Pairs that would pass if all joints moved at the given velocities for a whole step, as contacts at the place and with the normal
/// of the moment at which they would come too close. Sorted by key.
pub(crate) fn passing(
    (fibres, bodies): (&[Fibre], &Bodies),
    sites: &[Sites],
    friction: f64,
    h: f64,
) -> Vec<Pair> {
    let boxed = |f: usize, i: usize| {
        let (p, v) = (&sites[f].points, &sites[f].velocities);
        let (a, b) = (p[i], p[i + 1]);
        let (c, d) = (a + v[i] * h, b + v[i + 1] * h);
        let margin = Vec3::repeat(fibres[f].radius);
        (a.inf(&b).inf(&c).inf(&d) - margin, a.sup(&b).sup(&c).sup(&d) + margin)
    };
    let test = |a: (usize, usize), b: (usize, usize)| one(fibres, sites, a, b, friction, h);
    let mut found = grid_pairs(bodies, &segments_of(sites), &boxed, &test);
    found.sort_unstable_by_key(|p| p.key);
    found
}

fn one(
    fibres: &[Fibre],
    sites: &[Sites],
    (f, i): (usize, usize),
    (g, k): (usize, usize),
    friction: f64,
    h: f64,
) -> Option<Pair> {
    let (p, q) = (&sites[f], &sites[g]);
    let radii = fibres[f].radius + fibres[g].radius;
    let start = [[p.points[i], p.points[i + 1]], [q.points[k], q.points[k + 1]]];
    let way = [
        [p.velocities[i] * h, p.velocities[i + 1] * h],
        [q.velocities[k] * h, q.velocities[k + 1] * h],
    ];
    let before = segment_segment(&start[0], &start[1], 1e-12).distance_squared.sqrt();
    // What is that close already is pushed apart by other means, unless it goes through all the same.
    let near = if before <= 1.1 * DEEP * radii { THROUGH * before } else { DEEP * radii };
    if near <= 0.0 {
        return None;
    }
    let (t, found) = first_near(start, way, near)?;
    let at = |k: usize, s: f64, t: f64| {
        let ends = [start[k][0] + way[k][0] * t, start[k][1] + way[k][1] * t];
        ends[0] * (1.0 - s) + ends[1] * s
    };
    let (pa, pb) = (at(0, found.s, t), at(1, found.t, t));
    let normal = (pa - pb).try_normalize(1e-15)?;
    // Along that normal the same two points of the fibres must stay apart by their radii.
    let gap = (at(0, found.s, 0.0) - at(1, found.t, 0.0)).dot(&normal) - radii;
    Some(Pair {
        point: (pa + pb) * 0.5,
        normal,
        gap,
        slack: TOUCHING * fibres[f].radius.min(fibres[g].radius),
        friction,
        ..Pair::of_fibres((f, i, found.s), (g, k, found.t))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random segments that fly about: against thousands of looks at each.
    #[test]
    fn no_near_miss_is_missed() {
        let mut seed = 7u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut point = |size: f64| Vec3::new(random(), random(), random()) * size;
        let (mut hits, near) = (0, 0.02);
        for _ in 0..400 {
            let start = [[point(1.0), point(1.0)], [point(1.0), point(1.0)]];
            let way = [[point(1.0), point(1.0)], [point(1.0), point(1.0)]];
            let at = |k: usize, t: f64| [start[k][0] + way[k][0] * t, start[k][1] + way[k][1] * t];
            let looked = (0..=2000).map(|i| f64::from(i) / 2000.0).find(|t| {
                let d = segment_segment(&at(0, *t), &at(1, *t), 1e-12).distance_squared.sqrt();
                d <= near
            });
            match (looked, first_near(start, way, near)) {
                (Some(seen), Some((t, found))) => {
                    hits += 1;
                    assert!(t <= seen + 1e-9, "{t} after {seen}");
                    let d = found.distance_squared.sqrt();
                    assert!(t == 0.0 || (d - near).abs() <= 2e-3 * near, "{d}");
                }
                (Some(seen), None) => panic!("missed at {seen}"),
                (None, Some((_, found))) => {
                    assert!(found.distance_squared.sqrt() <= 1.01 * near);
                }
                (None, None) => {}
            }
        }
        assert!(hits > 50, "{hits}");
    }
}
