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
/// by ∂(ê·o)/∂pᵢ = −rᵢ o, and ∂wᵢ/∂pⱼ = rᵢ wⱼ ê − rᵢ rⱼ h o.
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
        let length = e.norm();
        let tangent = e / length;
        let ac = c - a;
        let along = ac.dot(&tangent);
        let across = ac - tangent * along; // = −h o
        let altitude = across.norm();
        let outward = -across / altitude;
        let t = along / length;
        Self {
            tangent,
            normal: outward.cross(&tangent),
            outward,
            altitude,
            w: [-1.0, 1.0 - t, t],
            r: [0.0, 1.0 / length, -1.0 / length],
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

    /// Adds `by_altitude` ∂²h/∂pᵢ∂pⱼ + `by_angle` (this wing's part of ∂²θ/∂pᵢ∂pⱼ) to the blocks of a
    /// matrix on the given nodes, those with node i ≥ node j only (the lower triangle).
    ///
    /// The same as [`Wing::altitude_hessian`] and [`Wing::angle_hessian`] for all pairs, with the outer
    /// products formed once.
    pub(crate) fn add_hessians<const N: usize>(
        &self,
        nodes: [usize; 3],
        by_altitude: f64,
        by_angle: f64,
        out: &mut Matrix<N, N>,
    ) {
        let Self { tangent: e, normal: n, outward: o, altitude: h, w, r } = self;
        let (ha, an) = (by_altitude, by_angle);
        let nn = n * n.transpose() * (ha / h);
        let oo = o * o.transpose() * (ha * h);
        let on = o * n.transpose();
        let on = on + on.transpose();
        // ê times (altitude: o, angle: n/h), used as it is and transposed.
        let mixed = e * (o * ha + n * (an / h)).transpose();
        let mixed_t = mixed.transpose();
        let ww = nn - on * (an / (h * h));
        let rr = oo + on * (0.5 * an);
        for j in 0..3 {
            for i in 0..3 {
                if nodes[i] < nodes[j] {
                    continue;
                }
                let block = ww * (w[i] * w[j]) + mixed * (w[i] * r[j]) + mixed_t * (r[i] * w[j])
                    - rr * (r[i] * r[j]);
                let mut target = out.fixed_view_mut::<3, 3>(3 * nodes[i], 3 * nodes[j]);
                target += block;
            }
        }
    }
}
