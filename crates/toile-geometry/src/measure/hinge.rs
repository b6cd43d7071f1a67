//! The dihedral angle of two triangles that share an edge.

use toile_num::{Matrix, Scalar, Vector};

use super::{Point, Wing, dot, norm};

/// Signed angle between the normals of the triangles (c, a, b) and (d, b, a) in (−π, π]:
/// positive when the fold is convex seen from the side of the normals.
///
/// θ = atan2((n₁ × n₂)·ê, n₁·n₂), ê from a to b. Jumps by 2π when the fold closes on itself.
pub fn dihedral_angle<T: Scalar>(c: &Point<T>, a: &Point<T>, b: &Point<T>, d: &Point<T>) -> T {
    let e = b - a;
    let n1 = (a - c).cross(&(b - c));
    let n2 = (b - d).cross(&(a - d));
    (dot(&n1.cross(&n2), &e) / norm(&e)).atan2(dot(&n1, &n2))
}

/// Two wings on one edge, with the derivatives of their dihedral angle.
///
/// Points in the order (c, a, b, d): apex of the first triangle, edge, apex of the second.
/// ∂θ/∂p = Σ over the wings of w n/h, an identity of Tamstorf and Grinspun (2013), here in the
/// frames of the wings. Not finite when a triangle has no area.
/// Check: `angle_derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct Hinge {
    first: Wing,
    second: Wing,
}

/// Which points (c, a, b, d) a wing's (apex, a, b) are.
const FIRST: [usize; 3] = [0, 1, 2];
const SECOND: [usize; 3] = [3, 1, 2];

/// (sin, cos) of `part` · θ, where θ is the angle of the vector (`cos`, `sin`) of any length.
#[inline(always)]
fn part_of_angle(sin: f64, cos: f64, part: f64) -> (f64, f64) {
    if part == 0.5 {
        let radius = (sin * sin + cos * cos).sqrt();
        // The larger of cos θ/2 and |sin θ/2| first: no cancellation on either side of a right angle.
        let half = (0.5 * (radius + cos.abs()) / radius).sqrt();
        let other = 0.5 * sin / (radius * half);
        if cos >= 0.0 { (other, half) } else { (half.copysign(sin), other.abs()) }
    } else if part == 1.0 {
        let scale = 1.0 / (sin * sin + cos * cos).sqrt();
        (sin * scale, cos * scale)
    } else {
        (part * sin.atan2(cos)).sin_cos()
    }
}

impl Hinge {
    /// Hinge with first apex `c`, edge `a`→`b`, second apex `d`.
    pub fn new(c: &Point, a: &Point, b: &Point, d: &Point) -> Self {
        let e = b - a;
        let inverse_length = 1.0 / e.norm();
        let tangent = e * inverse_length;
        let normal = (a - c).cross(&(b - c));
        Self::on_edge(&tangent, inverse_length, &(c - a), &normal, &(d - a), &e)
    }

    /// The hinge on the edge `e` from a, with known unit tangent and first normal; apexes relative to a.
    pub(crate) fn on_edge(
        tangent: &Point,
        inverse_length: f64,
        ac: &Point,
        normal: &Point,
        ad: &Point,
        e: &Point,
    ) -> Self {
        Self {
            first: Wing::on_edge(tangent, inverse_length, ac, normal, 1.0),
            // Seen along a→b the second triangle is clockwise.
            second: Wing::on_edge(tangent, inverse_length, ad, &ad.cross(e), -1.0),
        }
    }

    /// The wing of the first triangle.
    pub fn first(&self) -> &Wing {
        &self.first
    }

    /// The wing of the second triangle, with that triangle's normal.
    pub fn second(&self) -> &Wing {
        &self.second
    }

    /// θ in (−π, π].
    pub fn angle(&self) -> f64 {
        let (n1, n2) = (&self.first.normal, &self.second.normal);
        n2.dot(&self.first.outward).atan2(n1.dot(n2))
    }

    /// (sin, cos) of `part` · θ. Without a trigonometric function for the whole and the half, which is all
    /// that shells ask for.
    pub fn fold(&self, part: f64) -> (f64, f64) {
        let (n1, n2) = (&self.first.normal, &self.second.normal);
        part_of_angle(n2.dot(&self.first.outward), n1.dot(n2), part)
    }

    /// ∂θ/∂(c, a, b, d).
    pub fn gradient(&self) -> Vector<12> {
        let mut g = Vector::<12>::zeros();
        for (wing, points) in [(&self.first, FIRST), (&self.second, SECOND)] {
            for i in 0..3 {
                let mut part = g.fixed_rows_mut::<3>(3 * points[i]);
                part += wing.angle_gradient(i);
            }
        }
        g
    }

    /// ∂²θ/∂(c, a, b, d)².
    pub fn hessian(&self) -> Matrix<12, 12> {
        let mut h = Matrix::<12, 12>::zeros();
        for (wing, points) in [(&self.first, FIRST), (&self.second, SECOND)] {
            for i in 0..3 {
                for j in 0..3 {
                    let mut part = h.fixed_view_mut::<3, 3>(3 * points[i], 3 * points[j]);
                    part += wing.angle_hessian(i, j);
                }
            }
        }
        h
    }
}
