//! Closest points of points, segments and triangles, right for slivers and parallel edges too.

use toile_geometry::Vec3;

/// Triangles lower than this part of their longest side are treated as their three sides:
/// below it round-off moves the normal.
const FLAT: f64 = 1e-9;

/// Where on a triangle a point lies; numbers are those of corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Inside.
    Face,
    /// On the side opposite to a corner.
    Edge(u8),
    /// At a corner.
    Vertex(u8),
}

/// The point of a triangle closest to another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnTriangle {
    /// Barycentric weights, none negative, sum one.
    pub weights: [f64; 3],
    /// Inside, on a side or at a corner.
    pub region: Region,
    /// Square of the distance \[m²\].
    pub distance_squared: f64,
}

/// The closest pair of points of two segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenSegments {
    /// Place on the first segment, 0 to 1.
    pub s: f64,
    /// Place on the second segment, 0 to 1.
    pub t: f64,
    /// Whether both places are between the ends and the segments are not parallel.
    pub crossing: bool,
    /// Square of the distance \[m²\].
    pub distance_squared: f64,
}

/// Place (0 to 1) on the segment from a to b closest to p; 0 for a segment without length.
pub fn point_segment(p: &Vec3, a: &Vec3, b: &Vec3) -> f64 {
    let e = b - a;
    let t = (p - a).dot(&e) / e.norm_squared();
    // NaN for 0/0 fails the comparison.
    if t > 0.0 { t.min(1.0) } else { 0.0 }
}

/// Whether a triangle is so low that it counts as its three sides.
pub(crate) fn is_flat(corners: &[Vec3; 3]) -> bool {
    let [a, b, c] = corners;
    flat(&(b - a), &(c - a), &(b - a).cross(&(c - a)))
}

fn flat(u: &Vec3, v: &Vec3, n: &Vec3) -> bool {
    let longest = u.norm_squared().max(v.norm_squared()).max((v - u).norm_squared());
    // |n| is the longest side times the height.
    n.norm_squared() <= (FLAT * longest).powi(2)
}

/// Point of the triangle closest to p.
///
/// A triangle whose height is below 1e-9 of its longest side counts as its three sides.
pub fn point_triangle(p: &Vec3, corners: &[Vec3; 3]) -> OnTriangle {
    let [a, b, c] = corners;
    let (u, v, w) = (b - a, c - a, p - a);
    let n = u.cross(&v);
    let mut outside = [true; 3];
    if !flat(&u, &v, &n) {
        let n2 = n.norm_squared();
        let beta = w.cross(&v).dot(&n) / n2;
        let gamma = u.cross(&w).dot(&n) / n2;
        let weights = [1.0 - beta - gamma, beta, gamma];
        outside = weights.map(|x| x <= 0.0);
        if outside == [false; 3] {
            let distance_squared = (w - u * beta - v * gamma).norm_squared();
            return OnTriangle { weights, region: Region::Face, distance_squared };
        }
    }
    let mut best = OnTriangle {
        weights: [1.0, 0.0, 0.0],
        region: Region::Vertex(0),
        distance_squared: f64::INFINITY,
    };
    for m in (0..3).filter(|&m| outside[m]) {
        let (i, j) = ((m + 1) % 3, (m + 2) % 3);
        let t = point_segment(p, &corners[i], &corners[j]);
        let q = corners[i] * (1.0 - t) + corners[j] * t;
        let distance_squared = (p - q).norm_squared();
        if distance_squared < best.distance_squared {
            let mut weights = [0.0; 3];
            (weights[i], weights[j]) = (1.0 - t, t);
            let region = if t == 0.0 {
                Region::Vertex(i as u8)
            } else if t == 1.0 {
                Region::Vertex(j as u8)
            } else {
                Region::Edge(m as u8)
            };
            best = OnTriangle { weights, region, distance_squared };
        }
    }
    best
}

/// Σ wᵢ cornerᵢ.
pub(crate) fn blend(corners: &[Vec3; 3], weights: &[f64; 3]) -> Vec3 {
    corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2]
}

/// Closest pair of two segments if it lies between the ends of both and sin² of their angle is not
/// below `parallel`.
#[inline]
pub(crate) fn segments_crossing(
    a: &[Vec3; 2],
    b: &[Vec3; 2],
    parallel: f64,
) -> Option<BetweenSegments> {
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    // By cross product: u²v² − (u·v)² would lose all digits for small angles.
    let n = u.cross(&v);
    let det = n.norm_squared();
    if det == 0.0 || det <= parallel * u.norm_squared() * v.norm_squared() {
        return None;
    }
    // w + s u − t v is parallel to n.
    let s = v.cross(&w).dot(&n) / det;
    let t = u.cross(&w).dot(&n) / det;
    (s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0).then(|| {
        let distance_squared = (w + u * s - v * t).norm_squared();
        BetweenSegments { s, t, crossing: true, distance_squared }
    })
}

/// Closest pair of the segments a₀a₁ and b₀b₁.
///
/// When sin² of their angle is below `parallel` an end is always part of the pair returned, so that
/// nothing is divided by a vanishing determinant.
pub fn segment_segment(a: &[Vec3; 2], b: &[Vec3; 2], parallel: f64) -> BetweenSegments {
    if let Some(crossing) = segments_crossing(a, b, parallel) {
        return crossing;
    }
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let mut best =
        BetweenSegments { s: 0.0, t: 0.0, crossing: false, distance_squared: f64::INFINITY };
    for k in 0..2 {
        let end = k as f64;
        for (s, t) in
            [(end, point_segment(&a[k], &b[0], &b[1])), (point_segment(&b[k], &a[0], &a[1]), end)]
        {
            let distance_squared = (w + u * s - v * t).norm_squared();
            if distance_squared < best.distance_squared {
                best = BetweenSegments { s, t, crossing: false, distance_squared };
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Least distance² over a fine grid of the triangle.
    fn sampled(p: &Vec3, corners: &[Vec3; 3]) -> f64 {
        let mut least = f64::INFINITY;
        for i in 0..=60 {
            for j in 0..=60 - i {
                let (b, c) = (i as f64 / 60.0, j as f64 / 60.0);
                let q = blend(corners, &[1.0 - b - c, b, c]);
                least = least.min((p - q).norm_squared());
            }
        }
        least
    }

    #[test]
    fn closest_points_of_triangles_beat_every_sample_even_on_slivers() {
        let mut random = Random::new(1);
        for case in 0..400 {
            let a = random.point(1.0);
            let (u, v) = (random.point(1.0), random.point(1.0));
            let flat = [1.0, 1e-4, 1e-11, 0.0][case % 4];
            let corners = [a, a + u, a + u * random.unit() + v * flat];
            let p = random.point(1.5);
            let found = point_triangle(&p, &corners);
            let q = blend(&corners, &found.weights);
            assert!(found.weights.iter().all(|&w| w >= 0.0));
            assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(((p - q).norm() - found.distance_squared.sqrt()).abs() < 1e-8, "case {case}");
            let least = sampled(&p, &corners).sqrt();
            assert!(found.distance_squared.sqrt() <= least + 1e-9, "case {case}: {found:?}");
            assert!(found.distance_squared.sqrt() >= least - 0.05, "case {case}: {found:?}");
        }
    }

    #[test]
    fn closest_pairs_of_segments_beat_every_sample_for_any_angle() {
        let mut random = Random::new(2);
        for case in 0..400 {
            let tilt = [1.0, 1e-3, 1e-9, 0.0][case % 4];
            let size = if case % 5 == 0 { 0.0 } else { 1.0 };
            let (p, u) = (random.point(1.0), random.point(1.0));
            let a = [p, p + u];
            let q = random.point(0.5);
            let b = [q, q + (u * random.between(-1.0, 1.0) + random.point(1.0) * tilt) * size];
            let found = segment_segment(&a, &b, 1e-12);
            let mut least = f64::INFINITY;
            for i in 0..=50 {
                let x = a[0] + u * (i as f64 / 50.0);
                let t = point_segment(&x, &b[0], &b[1]);
                least = least.min((x - b[0] - (b[1] - b[0]) * t).norm());
            }
            let d = found.distance_squared.sqrt();
            assert!(d <= least + 1e-9 && d >= least - 0.05, "case {case}: {d} against {least}");
        }
    }

    #[test]
    fn regions_name_the_sides_and_corners() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let at = |x, y| point_triangle(&Vec3::new(x, y, 0.3), &corners).region;
        assert_eq!(at(0.2, 0.2), Region::Face);
        assert_eq!(at(0.5, -1.0), Region::Edge(2));
        assert_eq!(at(1.0, 1.0), Region::Edge(0));
        assert_eq!(at(-1.0, 0.5), Region::Edge(1));
        assert_eq!(at(2.0, -0.5), Region::Vertex(1));
    }
}
