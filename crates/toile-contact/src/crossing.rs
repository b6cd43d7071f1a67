//! When points that move straight come to lie in a plane, and whether they meet there.

use toile_geometry::Vec3;

/// Two things pass through each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Crossing {
    /// Part of the way, 0 to 1.
    pub(crate) time: f64,
    /// Normal of the plane in which they lie then, of any length, turned to where the first thing comes through.
    pub(crate) normal: Vec3,
    /// Weights of the four points in the difference of the two places that meet.
    pub(crate) weights: [f64; 4],
}

/// How far beyond its border a thing counts as met, in parts of it: no path may slip between two things.
const BORDER: f64 = 1e-9;
/// What goes through by less is rounding \[m\].
const GRAIN: f64 = 1e-10;
const HALVINGS: usize = 60;

/// Crossings of a point (first) with a face (the others) while all go straight from `last` to `now`, first one first.
pub(crate) fn vertex_crosses(last: &[Vec3; 4], now: &[Vec3; 4]) -> Vec<Crossing> {
    // Where all corners stay on one side along some axis nothing crosses.
    if apart(last, now, 1) {
        return Vec::new();
    }
    let legs = |x: &[Vec3; 4]| [x[2] - x[1], x[3] - x[1], x[0] - x[1]];
    crossings(last, now, legs, |x| {
        let [b, c, d] = legs(x);
        let n = b.cross(&c);
        let square = n.norm_squared();
        let (v, w) = (d.cross(&c).dot(&n) / square, b.cross(&d).dot(&n) / square);
        let u = 1.0 - v - w;
        let inside = [u, v, w].iter().all(|w| *w >= -BORDER);
        inside.then_some([1.0, -u, -v, -w])
    })
}

/// The same for two edges: points 0, 1 and points 2, 3.
pub(crate) fn edges_cross(last: &[Vec3; 4], now: &[Vec3; 4]) -> Vec<Crossing> {
    if apart(last, now, 2) {
        return Vec::new();
    }
    let legs = |x: &[Vec3; 4]| [x[1] - x[0], x[3] - x[2], x[0] - x[2]];
    crossings(last, now, legs, |x| {
        let [e, f, d] = legs(x);
        let (ee, ef, ff) = (e.dot(&e), e.dot(&f), f.dot(&f));
        let det = ee * ff - ef * ef;
        let s = (ef * f.dot(&d) - ff * e.dot(&d)) / det;
        let t = (ee * f.dot(&d) - ef * e.dot(&d)) / det;
        let within = |x: f64| (-BORDER..=1.0 + BORDER).contains(&x);
        // NaN for parallel edges fails the comparison; their ends meet the faces.
        (within(s) && within(t)).then_some([1.0 - s, s, t - 1.0, -t])
    })
}

/// Whether boxes around the ways of the first `split` points and of the others are apart.
fn apart(last: &[Vec3; 4], now: &[Vec3; 4], split: usize) -> bool {
    (0..3).any(|k| {
        let range = |points: std::ops::Range<usize>| {
            points.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), i| {
                (low.min(last[i][k]).min(now[i][k]), high.max(last[i][k]).max(now[i][k]))
            })
        };
        let (a, b) = (range(0..split), range(split..4));
        let slack = BORDER * (a.1 - a.0 + b.1 - b.0);
        a.0 > b.1 + slack || b.0 > a.1 + slack
    })
}

/// `legs` are three vectors whose volume vanishes where the points lie in a plane; `meet` gives the weights of the points in the
/// difference of the two places that meet, if they do.
fn crossings(
    last: &[Vec3; 4],
    now: &[Vec3; 4],
    legs: impl Fn(&[Vec3; 4]) -> [Vec3; 3],
    meet: impl Fn(&[Vec3; 4]) -> Option<[f64; 4]>,
) -> Vec<Crossing> {
    let [a, b] = [legs(last), legs(now)];
    // Volume as a cubic in time.
    let m = [0, 1, 2].map(|k| b[k] - a[k]);
    let (aa, am, mm) =
        (a[0].cross(&a[1]), m[0].cross(&a[1]) + a[0].cross(&m[1]), m[0].cross(&m[1]));
    let c = [
        aa.dot(&a[2]),
        am.dot(&a[2]) + aa.dot(&m[2]),
        mm.dot(&a[2]) + am.dot(&m[2]),
        mm.dot(&m[2]),
    ];
    let volume = |t: f64| ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
    let at = |t: f64| [0, 1, 2, 3].map(|k| last[k] + (now[k] - last[k]) * t);
    // Height of one thing over the other.
    let height = |t: f64| {
        let [p, q, _] = legs(&at(t));
        volume(t).abs() / p.cross(&q).norm()
    };
    // Between its extrema a cubic has at most one root.
    let mut ends = vec![0.0];
    let (p, q, r) = (3.0 * c[3], 2.0 * c[2], c[1]);
    let root = (q * q - 4.0 * p * r).sqrt();
    if !root.is_nan() {
        let w = -0.5 * (q + root.copysign(q));
        let mut turns: Vec<f64> =
            [w / p, r / w].into_iter().filter(|t| *t > 0.0 && *t < 1.0).collect();
        turns.sort_by(f64::total_cmp);
        ends.extend(turns);
    }
    ends.push(1.0);
    let mut times = Vec::new();
    for pair in ends.windows(2) {
        let (mut low, mut high) = (pair[0], pair[1]);
        let positive = volume(low) > 0.0;
        if positive == (volume(high) > 0.0) {
            continue;
        }
        for _ in 0..HALVINGS {
            let t = 0.5 * (low + high);
            *(if (volume(t) > 0.0) == positive { &mut low } else { &mut high }) = t;
        }
        times.push(0.5 * (low + high));
    }
    let mut found = Vec::new();
    for (k, &time) in times.iter().enumerate() {
        let next = times.get(k + 1).copied().unwrap_or(1.0);
        let far = height(0.5 * (time + next)).max(if next == 1.0 { height(1.0) } else { 0.0 });
        if far.is_nan() || far <= GRAIN {
            continue;
        }
        if let Some(weights) = meet(&at(time)) {
            let ways = (0..4).map(|k| (now[k] - last[k]) * weights[k]);
            let approach = ways.fold(Vec3::zeros(), |a, b| a + b);
            let [p, q, _] = legs(&at(time));
            let n = p.cross(&q);
            let normal = if n.dot(&approach) < 0.0 { -n } else { n };
            found.push(Crossing { time, normal, weights });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passing::{passes_edge, passes_face};
    use crate::random::Random;

    /// Crossings that a thousand short ways find, in which what turns back within one is not seen.
    fn sampled(
        last: &[Vec3; 4],
        now: &[Vec3; 4],
        passes: fn(&[Vec3; 4], &[Vec3; 4]) -> bool,
    ) -> usize {
        let n = 1000;
        let at =
            |k: usize| [0, 1, 2, 3].map(|i| last[i] + (now[i] - last[i]) * (k as f64 / n as f64));
        (0..n).filter(|&k| passes(&at(k), &at(k + 1))).count()
    }

    #[test]
    fn every_crossing_is_found_and_no_other() {
        let mut random = Random::new(81);
        let mut seen = [0; 4];
        for case in 0..3000 {
            let last = [0; 4].map(|_| random.point(1.0));
            let now = [0; 4].map(|_| random.point(1.0));
            let (found, expected) = if case % 2 == 0 {
                (vertex_crosses(&last, &now), sampled(&last, &now, passes_face))
            } else {
                (edges_cross(&last, &now), sampled(&last, &now, passes_edge))
            };
            assert_eq!(found.len(), expected, "case {case}: {found:?}");
            assert!(found.windows(2).all(|w| w[0].time < w[1].time));
            seen[found.len()] += 1;
        }
        assert!(seen[1] > 300 && seen[2] > 10, "{seen:?}");
    }

    #[test]
    fn touching_and_sliding_are_no_crossings() {
        let face = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let way = |from: Vec3, to: Vec3| {
            vertex_crosses(&[from, face[0], face[1], face[2]], &[to, face[0], face[1], face[2]])
                .len()
        };
        let over = Vec3::new(0.2, 0.2, 0.0);
        assert_eq!(way(over + Vec3::z(), over - Vec3::z()), 1);
        assert_eq!(way(over + Vec3::z(), over + Vec3::z() * 1e-12), 0);
        assert_eq!(way(over + Vec3::z(), over - Vec3::z() * 1e-11), 0);
        assert_eq!(way(over, over + Vec3::x() * 0.1), 0);
        assert_eq!(way(over + Vec3::z() * 1e-4, over + Vec3::new(0.5, 0.0, 1e-4)), 0);
    }
}
