//! A triangle seen from one of its edges: the frame in which all hinge derivatives become short.

use toile_num::Matrix;

use super::Point;

/// Triangle with edge a→b and apex c, seen from the edge.
///
/// Let ê be the unit edge, n the normal of (c, a, b), o = ê × n the in-plane direction that points
/// out of the triangle, L the edge length, h the altitude of c and t its foot in units of L. With
///
/// ```text
/// w = (−1, 1−t, t)       for the points (c, a, b)
/// r = ( 0, 1/L, −1/L)
/// ```
///
/// every first derivative follows: ∂h/∂pᵢ = wᵢ o, the normal turns by ∂(n·o)/∂pᵢ = −wᵢ n/h, the edge
/// by ∂(ê·o)/∂pᵢ = −rᵢ o, and ∂wᵢ/∂pⱼ = rᵢ wⱼ ê − rᵢ rⱼ h o. The second triangle of an edge has the
/// normal of its own orientation, and everything else seen along the same edge direction.
/// Not finite for a triangle without area. Check: tests of [`super::Hinge`] and [`super::FaceForms`].
#[derive(Clone, Copy, Debug)]
pub struct Wing {
    /// Unit vector from a to b.
    pub tangent: Point,
    /// Unit normal of (c, a, b).
    pub normal: Point,
    /// In-plane unit vector, perpendicular to the edge, away from the apex.
    pub outward: Point,
    /// Altitude of the apex \[m\].
    pub altitude: f64,
    /// w of the apex, a and b.
    pub w: [f64; 3],
    /// r of the apex, a and b \[1/m\].
    pub r: [f64; 3],
}

impl Wing {
    /// The wing with apex `c` on the edge from `a` to `b`.
    pub fn new(c: &Point, a: &Point, b: &Point) -> Self {
        let e = b - a;
        let inverse_length = 1.0 / e.norm();
        Self::on_edge(
            &(e * inverse_length),
            inverse_length,
            &(c - a),
            &(a - c).cross(&(b - c)),
            1.0,
        )
    }

    /// The wing whose apex lies at `ac` from a, on an edge of known direction and length; `side` = −1
    /// when its area normal `n` (twice the area long) sees the edge as b→a.
    pub(crate) fn on_edge(
        tangent: &Point,
        inverse_length: f64,
        ac: &Point,
        n: &Point,
        side: f64,
    ) -> Self {
        let double_area = n.norm();
        let normal = n / double_area;
        let t = ac.dot(tangent) * inverse_length;
        Self {
            tangent: *tangent,
            normal,
            outward: tangent.cross(&normal) * side,
            altitude: double_area * inverse_length,
            w: [-1.0, 1.0 - t, t],
            r: [0.0, inverse_length, -inverse_length],
        }
    }

    /// ∂h/∂pᵢ for i = apex, a, b.
    pub fn altitude_gradient(&self, i: usize) -> Point {
        self.outward * self.w[i]
    }

    /// ∂²h/∂pᵢ∂pⱼ.
    pub fn altitude_hessian(&self, i: usize, j: usize) -> Matrix<3, 3> {
        let Self { tangent: e, normal: n, outward: o, altitude: h, w, r } = self;
        n * n.transpose() * (w[i] * w[j] / h)
            + e * o.transpose() * (w[i] * r[j])
            + o * e.transpose() * (r[i] * w[j])
            - o * o.transpose() * (r[i] * r[j] * h)
    }

    /// This wing's part of ∂θ/∂pᵢ, the dihedral angle at the edge: wᵢ n/h.
    pub fn angle_gradient(&self, i: usize) -> Point {
        self.normal * (self.w[i] / self.altitude)
    }

    /// This wing's part of ∂²θ/∂pᵢ∂pⱼ, symmetrised (only the sum over both wings is symmetric by
    /// itself, and symmetrising the parts does not change it).
    pub fn angle_hessian(&self, i: usize, j: usize) -> Matrix<3, 3> {
        let Self { tangent: e, normal: n, outward: o, altitude: h, w, r } = self;
        let on = o * n.transpose();
        let en = e * n.transpose();
        (on + on.transpose()) * (-w[i] * w[j] / (h * h) - 0.5 * r[i] * r[j])
            + en * (w[i] * r[j] / h)
            + en.transpose() * (r[i] * w[j] / h)
    }
}
