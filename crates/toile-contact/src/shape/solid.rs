//! Signed distance of the solids that are given by a few numbers, in their own axes.

use toile_geometry::Vec3;

use super::SurfacePoint;

/// A solid in its own axes: centred at the origin, axis of revolution z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Solid {
    /// Everything below z = 0.
    HalfSpace,
    Sphere {
        radius: f64,
    },
    /// Segment from −half to half along z, thickened.
    Capsule {
        half: f64,
        radius: f64,
    },
    /// Cylinder, cone or frustum: radii at z = −half and z = half.
    Frustum {
        half: f64,
        low: f64,
        high: f64,
    },
    /// Cylinder without ends.
    Pipe {
        radius: f64,
    },
    Block {
        half: Vec3,
    },
    Torus {
        major: f64,
        minor: f64,
    },
}

/// Where a solid touches a segment between its ends.
pub(crate) struct Touch {
    /// Which of its places.
    pub(crate) feature: u32,
    /// Along the segment, 0 to 1.
    pub(crate) s: f64,
    /// Along the normal, negative inside.
    pub(crate) distance: f64,
    /// From the solid to the segment.
    pub(crate) normal: Vec3,
}

/// Mean of normals below which they count as opposite.
const OPPOSITE: f64 = 0.2;

/// Depth at a ridge, in units of the depth of the segment, beyond which it is the far side's.
const FAR_SIDE: f64 = 3.0;

/// Points a solid offers to a flat thing from one direction.
pub(crate) struct Supports {
    /// Point and direction from there to the flat thing.
    points: [(Vec3, Vec3); 8],
    count: usize,
}

impl Supports {
    fn new() -> Self {
        Self { points: [(Vec3::zeros(), Vec3::zeros()); 8], count: 0 }
    }

    fn push(&mut self, p: Vec3, side: Vec3) {
        self.points[self.count] = (p, side);
        self.count += 1;
    }

    pub(crate) fn points(&self) -> &[(Vec3, Vec3)] {
        &self.points[..self.count]
    }
}

/// v / |v|, or `otherwise` where v is too short to have a direction.
fn direction(v: Vec3, least: f64, otherwise: Vec3) -> Vec3 {
    let length = v.norm();
    if length > least { v / length } else { otherwise }
}

fn round(p: &Vec3, centre: Vec3, radius: f64, otherwise: Vec3) -> SurfacePoint {
    let normal = direction(p - centre, 1e-14 * radius, otherwise);
    let distance = (p - centre).dot(&normal) - radius;
    SurfacePoint::new(distance, centre + normal * radius, normal)
}

impl Solid {
    /// Signed distance, closest point of the surface and outward normal there.
    pub(crate) fn closest(&self, p: &Vec3) -> SurfacePoint {
        match *self {
            Self::HalfSpace => SurfacePoint::new(p.z, Vec3::new(p.x, p.y, 0.0), Vec3::z()),
            Self::Sphere { radius } => round(p, Vec3::zeros(), radius, Vec3::z()),
            Self::Capsule { half, radius } => {
                let centre = Vec3::z() * p.z.clamp(-half, half);
                round(p, centre, radius, Vec3::x())
            }
            Self::Pipe { radius } => round(p, Vec3::z() * p.z, radius, Vec3::x()),
            Self::Torus { major, minor } => {
                let out = direction(Vec3::new(p.x, p.y, 0.0), 1e-14 * major, Vec3::x());
                round(p, out * major, minor, Vec3::z())
            }
            Self::Block { half } => block(p, &half),
            Self::Frustum { half, low, high } => frustum(p, half, low, high),
        }
    }

    /// Whether the signed distance is a convex function.
    pub(crate) fn is_convex(&self) -> bool {
        !matches!(self, Self::Torus { .. })
    }

    /// Half the diagonal of the bounding box in own axes, or `None` when infinite.
    pub(crate) fn half_extent(&self) -> Option<Vec3> {
        match *self {
            Self::HalfSpace | Self::Pipe { .. } => None,
            Self::Sphere { radius } => Some(Vec3::repeat(radius)),
            Self::Capsule { half, radius } => Some(Vec3::new(radius, radius, half + radius)),
            Self::Frustum { half, low, high } => {
                Some(Vec3::new(low.max(high), low.max(high), half))
            }
            Self::Block { half } => Some(half),
            Self::Torus { major, minor } => Some(Vec3::new(major + minor, major + minor, minor)),
        }
    }

    /// Points of the surface that can touch the inside of a flat face through `place` with unit
    /// normal ±n, each with the normal that points from the solid to the face.
    pub(crate) fn supports(&self, n: &Vec3, place: &Vec3, towards: &Vec3) -> Supports {
        let mut found = Supports::new();
        match *self {
            Self::HalfSpace | Self::Pipe { .. } => {}
            // A sphere-swept point, segment or circle touches with its centre line shifted by r n.
            Self::Sphere { radius } => {
                let side = facing(n, place);
                found.push(side * radius, side);
            }
            Self::Capsule { half, radius } => {
                for centre in [Vec3::z() * -half, Vec3::z() * half] {
                    let side = facing(n, &(place - centre));
                    found.push(centre + side * radius, side);
                }
            }
            Self::Torus { major, minor } => {
                for centre in around(n, major, 0.0) {
                    let side = facing(n, &(place - centre));
                    found.push(centre + side * minor, side);
                }
            }
            Self::Block { half } => {
                let n = facing(n, towards);
                for corner in 0..8 {
                    let sign = Vec3::from_fn(|k, _| if corner >> k & 1 == 1 { 1.0 } else { -1.0 });
                    // Only corners that lie foremost along n; a flat side offers four.
                    if (0..3).all(|k| sign[k] * n[k] > -0.05) {
                        found.push(sign.component_mul(&half), n);
                    }
                }
            }
            Self::Frustum { half, low, high } => {
                let n = facing(n, towards);
                for (radius, z) in [(low, -half), (high, half)] {
                    if radius == 0.0 {
                        found.push(Vec3::z() * z, n);
                    } else {
                        for p in around(&n, radius, z) {
                            found.push(p, n);
                        }
                    }
                }
            }
        }
        found
    }

    /// Where the solid may touch a segment between its ends, at most 32 places.
    ///
    /// Least signed distance along the segment, by bisection on its slope, and the places where
    /// the segment passes over edges and rims: lying on a flat side it rests on two of them.
    pub(crate) fn touch_segment(&self, a: &Vec3, b: &Vec3, visit: &mut dyn FnMut(Touch)) {
        let e = b - a;
        let slope = |s: f64| self.closest(&(a + e * s)).normal.dot(&e);
        // A torus has at most four local minima along a line.
        let pieces = if self.is_convex() { 1 } else { 12 };
        let mut before = slope(0.0);
        let mut deepest = f64::INFINITY;
        for k in 0..pieces {
            let (mut low, mut high) = (k as f64 / pieces as f64, (k + 1) as f64 / pieces as f64);
            let after = slope(high);
            if before < 0.0 && after > 0.0 {
                while high - low > 1e-12 {
                    let middle = 0.5 * (low + high);
                    if slope(middle) < 0.0 {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                let touch = self.least(a, &e, low, high, k as u32);
                deepest = deepest.min(touch.distance);
                visit(touch);
            }
            before = after;
        }
        let [start, end] = [a, b].map(|x| self.closest(x).distance);
        // What lies under the solid is not on its ridges.
        let least = FAR_SIDE * deepest.min(start).min(end).min(0.0) - 1e-9;
        self.ridges(a, b, &mut |feature, s, point, tangent, sides| {
            let Some(across) = e.cross(&tangent).try_normalize(1e-9 * e.norm()) else { return };
            let normal = if across.dot(&(sides[0] + sides[1])) < 0.0 { -across } else { across };
            // Both sides of the ridge fall away from the segment.
            let foremost = sides.iter().all(|side| normal.dot(side) > -1e-3);
            let distance = normal.dot(&(a + e * s - point));
            if foremost && distance > least {
                visit(Touch { feature: 12 + feature, s, distance, normal });
            }
        });
    }

    /// The touch where the signed distance along a + s e is least, between two near places.
    ///
    /// On a ridge, the sides that meet there both push: the normal is the mixture of theirs that is across the segment.
    fn least(&self, a: &Vec3, e: &Vec3, low: f64, high: f64, feature: u32) -> Touch {
        let s = 0.5 * (low + high);
        let [p, q] = [low, high].map(|s| self.closest(&(a + e * s)));
        let distance = self.closest(&(a + e * s)).distance;
        let (down, up) = (p.normal.dot(e), q.normal.dot(e));
        let mixed =
            if up > down { (p.normal * up - q.normal * down) / (up - down) } else { p.normal };
        let size = mixed.norm();
        if size < OPPOSITE {
            // Sides that face away from each other: there is no ridge near.
            return Touch { feature, s, distance, normal: p.normal };
        }
        let deeper = if distance < 0.0 { distance / size } else { distance };
        Touch { feature, s, distance: deeper, normal: mixed / size }
    }

    /// Edges and rims that the segment passes over: number, place along the segment, point of the ridge, its tangent
    /// there and the normals of the sides that meet in it.
    fn ridges(&self, a: &Vec3, b: &Vec3, visit: &mut dyn FnMut(u32, f64, Vec3, Vec3, [Vec3; 2])) {
        let e = b - a;
        match *self {
            Self::Block { half } => {
                for axis in 0..3 {
                    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
                    let tangent = Vec3::ith(axis, 1.0);
                    for side in 0..4 {
                        let mut end = half;
                        end[j] *= if side & 1 == 0 { 1.0 } else { -1.0 };
                        end[k] *= if side & 2 == 0 { 1.0 } else { -1.0 };
                        let mut start = end;
                        start[axis] = -half[axis];
                        let pair = crate::segment_segment(&[*a, *b], &[start, end], 1e-6);
                        if pair.crossing {
                            let sides = [j, k].map(|k| Vec3::ith(k, end[k].signum()));
                            let point = start + (end - start) * pair.t;
                            visit((4 * axis + side) as u32, pair.s, point, tangent, sides);
                        }
                    }
                }
            }
            Self::Frustum { half, low, high } => {
                let slant = Vec3::new(2.0 * half, 0.0, low - high).normalize();
                for (number, (radius, z)) in [(low, -half), (high, half)].into_iter().enumerate() {
                    // |(a + s e)ₓᵧ| = radius
                    let (ex, ey) = (e.x, e.y);
                    let qa = ex * ex + ey * ey;
                    let qb = a.x * ex + a.y * ey;
                    let qc = a.x * a.x + a.y * a.y - radius * radius;
                    let disc = qb * qb - qa * qc;
                    if radius == 0.0 || qa == 0.0 || disc <= 0.0 {
                        continue;
                    }
                    for (k, root) in [-disc.sqrt(), disc.sqrt()].into_iter().enumerate() {
                        let s = (-qb + root) / qa;
                        if s > 0.0 && s < 1.0 {
                            let at = a + e * s;
                            let out = Vec3::new(at.x / radius, at.y / radius, 0.0);
                            let point = out * radius + Vec3::z() * z;
                            let tangent = Vec3::new(-out.y, out.x, 0.0);
                            let sides =
                                [out * slant.x + Vec3::z() * slant.z, Vec3::z() * z.signum()];
                            visit((2 * number + k) as u32, s, point, tangent, sides);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// n or −n, whichever leads towards the vector.
fn facing(n: &Vec3, towards: &Vec3) -> Vec3 {
    if n.dot(towards) < 0.0 { -n } else { *n }
}

/// Four points of a circle around z, the first one foremost along n.
fn around(n: &Vec3, radius: f64, z: f64) -> [Vec3; 4] {
    let u = direction(Vec3::new(n.x, n.y, 0.0), 1e-6, Vec3::x());
    let v = Vec3::new(-u.y, u.x, 0.0);
    [u, v, -u, -v].map(|d| d * radius + Vec3::z() * z)
}

fn block(p: &Vec3, half: &Vec3) -> SurfacePoint {
    let clamped = Vec3::from_fn(|k, _| p[k].clamp(-half[k], half[k]));
    let out = p - clamped;
    let distance = out.norm();
    if distance > 1e-14 * half.max() {
        return SurfacePoint::new(distance, clamped, out / distance);
    }
    // Inside: the nearest side, the last of equal ones.
    let (mut axis, mut depth) = (0, f64::INFINITY);
    for k in 0..3 {
        let d = half[k] - p[k].abs();
        if d <= depth {
            (axis, depth) = (k, d);
        }
    }
    let mut normal = Vec3::zeros();
    normal[axis] = 1.0f64.copysign(p[axis]);
    let mut point = *p;
    point[axis] = half[axis] * normal[axis];
    SurfacePoint::new(-depth, point, normal)
}

/// In a half-plane through the axis the surface is a polyline of three segments: lower cap, side,
/// upper cap. The closest point lies in the half-plane of p.
fn frustum(p: &Vec3, half: f64, low: f64, high: f64) -> SurfacePoint {
    let r = p.x.hypot(p.y);
    let out = if r > 0.0 { Vec3::new(p.x / r, p.y / r, 0.0) } else { Vec3::x() };
    let line = [(0.0, -half), (low, -half), (high, half), (0.0, half)];
    let inside = p.z.abs() <= half && r <= low + (high - low) * (p.z + half) / (2.0 * half);
    let mut best = (f64::INFINITY, (0.0, 0.0), (0.0, 0.0));
    for k in 0..3 {
        let ((r0, z0), (r1, z1)) = (line[k], line[k + 1]);
        let (dr, dz) = (r1 - r0, z1 - z0);
        let length = dr.hypot(dz);
        if length == 0.0 {
            continue;
        }
        let t = (((r - r0) * dr + (p.z - z0) * dz) / (length * length)).clamp(0.0, 1.0);
        let q = (r0 + t * dr, z0 + t * dz);
        let d = (r - q.0).hypot(p.z - q.1);
        if d < best.0 {
            best = (d, q, (dz / length, -dr / length));
        }
    }
    let (d, q, side) = best;
    let lift = |(r, z): (f64, f64)| out * r + Vec3::z() * z;
    let normal = if inside || d < 1e-14 * (half + low + high) {
        lift(side)
    } else {
        lift(((r - q.0) / d, (p.z - q.1) / d))
    };
    SurfacePoint::new(if inside { -d } else { d }, lift(q), normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const SOLIDS: [Solid; 9] = [
        Solid::HalfSpace,
        Solid::Sphere { radius: 0.7 },
        Solid::Capsule { half: 0.4, radius: 0.3 },
        Solid::Frustum { half: 0.5, low: 0.4, high: 0.4 },
        Solid::Frustum { half: 0.5, low: 0.6, high: 0.0 },
        Solid::Frustum { half: 0.3, low: 0.2, high: 0.7 },
        Solid::Pipe { radius: 0.5 },
        Solid::Block { half: Vec3::new(0.3, 0.5, 0.2) },
        Solid::Torus { major: 0.6, minor: 0.2 },
    ];

    #[test]
    fn distance_is_that_of_the_closest_point_and_its_gradient_is_the_normal() {
        let mut random = Random::new(11);
        for solid in SOLIDS {
            for _ in 0..500 {
                let p = random.point(1.2);
                let near = solid.closest(&p);
                assert!((near.normal.norm() - 1.0).abs() < 1e-12, "{solid:?}");
                let gap = (p - near.point).norm() - near.distance.abs();
                assert!(gap.abs() < 1e-12, "{solid:?} at {p:?}: {gap}");
                let on = solid.closest(&near.point).distance;
                assert!(on.abs() < 1e-12, "{solid:?}: closest point {on} m off the surface");
                let along = (p - near.point - near.normal * near.distance).norm();
                assert!(along < 1e-12, "{solid:?} at {p:?}: normal off by {along}");
                // One-Lipschitz everywhere.
                let q = p + random.point(0.05);
                let change = (solid.closest(&q).distance - near.distance).abs();
                assert!(change <= (q - p).norm() + 1e-12, "{solid:?}");
            }
        }
    }

    #[test]
    fn normals_are_defined_where_the_closest_point_is_not_unique() {
        for solid in SOLIDS {
            for p in [Vec3::zeros(), Vec3::z() * 0.1, Vec3::x() * 0.6] {
                let near = solid.closest(&p);
                assert!((near.normal.norm() - 1.0).abs() < 1e-12, "{solid:?} at {p:?}");
                assert!(near.distance.is_finite());
            }
        }
    }

    #[test]
    fn the_convex_solids_have_convex_distances() {
        let mut random = Random::new(12);
        for solid in SOLIDS.into_iter().filter(Solid::is_convex) {
            for _ in 0..300 {
                let (a, b) = (random.point(1.0), random.point(1.0));
                let d = |p: Vec3| solid.closest(&p).distance;
                let middle = d((a + b) * 0.5);
                assert!(middle <= 0.5 * (d(a) + d(b)) + 1e-12, "{solid:?}");
            }
        }
    }

    #[test]
    fn the_least_distance_along_a_segment_is_among_the_places() {
        let mut random = Random::new(13);
        for solid in SOLIDS {
            for _ in 0..200 {
                let (a, b) = (random.point(1.2), random.point(1.2));
                let d = |s: f64| solid.closest(&(a + (b - a) * s)).distance;
                let mut found = d(0.0).min(d(1.0));
                solid.touch_segment(&a, &b, &mut |touch| found = found.min(d(touch.s)));
                let sampled = (0..=500).map(|i| d(i as f64 / 500.0)).fold(f64::MAX, f64::min);
                assert!(found <= sampled + 1e-9, "{solid:?}: {found} against {sampled}");
            }
        }
    }
}
