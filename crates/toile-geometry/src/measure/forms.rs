//! The fundamental forms of a triangle and its neighbours, with mid-edge normals.

use toile_num::{Matrix, Scalar, Vector};

use super::hinge::part_of_unit_angle;
use super::{Point, dihedral_angle, dot, norm};

/// Coordinates of a face stencil: corners 0–2, the vertices across the edges opposite to them (9 + 9
/// coordinates), and one angle for each of these edges.
pub const FORM_COORDINATES: usize = 21;

/// How the normal on the middle of an edge is found.
///
/// With h the altitude over the edge and α the tilt of the edge normal against the face normal, the
/// edge contributes b = 2 h sin α or 2 h tan α to the second fundamental form.
/// `Average` takes the mean of both face normals (α = θ/2, no further unknown); `Sin` and `Tan` let
/// the normal turn about the edge by an angle ξ that is an unknown of the problem (α = θ/2 ± ξ).
/// References: Grinspun, Gingold, Reisman, Zorin 2006; Ly 2021, §1.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormalRule {
    /// Mean of the two face normals.
    Average,
    /// Edge angles are unknowns; unit normal, b = 2 h sin α.
    Sin,
    /// Edge angles are unknowns; b = 2 h tan α, a barrier at |α| = π/2.
    Tan,
}

impl NormalRule {
    /// Whether edges carry an unknown angle.
    pub fn has_edge_angles(self) -> bool {
        !matches!(self, Self::Average)
    }

    /// S(α), S′(α), S″(α) from (sin α, cos α).
    fn profile(self, (sin, cos): (f64, f64)) -> [f64; 3] {
        match self {
            Self::Average | Self::Sin => [sin, cos, -sin],
            Self::Tan => {
                let (tan, slope) = (sin / cos, 1.0 / (cos * cos));
                [tan, slope, 2.0 * tan * slope]
            }
        }
    }

    fn profile_of<T: Scalar>(self, alpha: T) -> T {
        match self {
            Self::Average | Self::Sin => alpha.sin(),
            Self::Tan => alpha.tan(),
        }
    }
}

/// Tilt of the normal on one edge of a face: α = `fold` · θ + `turn` · ξ.
///
/// Half a fold inside the cloth, none on a free border, the whole fold where the neighbour is held
/// in a clamp whose normal does not yield. `turn` is ±1 by the side of the edge, or 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeRule {
    /// Weight of the dihedral angle θ; with 0 the neighbour's vertex is not looked at.
    pub fold: f64,
    /// Weight of the edge's own angle ξ.
    pub turn: f64,
}

/// First and second fundamental form of a face, (a₁₁, a₁₂, a₂₂, b₀, b₁, b₂), of any scalar.
///
/// a is the metric in the basis e₁ = x₁ − x₀, e₂ = x₂ − x₀. bₘ = 2 hₘ S(αₘ) belongs to the edge
/// opposite to corner m; the second form is [b₀+b₁, b₀; b₀, b₀+b₂], positive where the surface
/// bends away from its normal. Reference: Ly 2021, eq. 1.15 with the factor 2 of its correction.
///
/// As for [`FaceForms`] the stencil may lack the angles where no edge has one.
pub fn forms<T: Scalar, const N: usize>(
    x: &Vector<N, T>,
    normals: NormalRule,
    rules: &[EdgeRule; 3],
) -> Vector<6, T> {
    let p: [Point<T>; 6] = std::array::from_fn(|i| x.fixed_rows::<3>(3 * i).into_owned());
    let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
    let double_area = norm(&e1.cross(&e2));
    let mut q = Vector::<6, T>::zeros();
    q[0] = dot(&e1, &e1);
    q[1] = dot(&e1, &e2);
    q[2] = dot(&e2, &e2);
    for m in 0..3 {
        let (a, b) = (&p[(m + 1) % 3], &p[(m + 2) % 3]);
        let mut alpha = T::zero();
        if rules[m].turn != 0.0 {
            alpha += x[18 + m] * rules[m].turn;
        }
        if rules[m].fold != 0.0 {
            alpha += dihedral_angle(&p[m], a, b, &p[3 + m]) * rules[m].fold;
        }
        q[3 + m] = double_area / norm(&(b - a)) * normals.profile_of(alpha) * 2.0;
    }
    q
}

/// One edge of the face: the face seen from it, its neighbour, and the tilt of the normal between them.
///
/// The notation is that of [`super::Wing`]; apex, a and b are the corners m, m+1 and m+2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilt {
    /// ê, from a to b.
    pub(super) tangent: Point,
    /// o of the face.
    pub(super) outward: Point,
    /// 1/L.
    pub(super) inverse_length: f64,
    /// h of the face.
    pub(super) altitude: f64,
    /// t of the face.
    pub(super) foot: f64,
    /// The neighbour; all zero where the fold does not count.
    pub(super) second: SecondWing,
    pub(super) fold: f64,
    pub(super) turn: f64,
    /// S, S′, S″ at α.
    pub(super) profile: [f64; 3],
}

/// The neighbour's wing on an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecondWing {
    pub(super) normal: Point,
    pub(super) outward: Point,
    pub(super) inverse_altitude: f64,
    pub(super) foot: f64,
}

impl Tilt {
    /// w of the face's corners, by corner.
    pub(super) fn weights(&self, m: usize) -> [f64; 3] {
        let mut w = [-1.0; 3];
        w[(m + 1) % 3] = 1.0 - self.foot;
        w[(m + 2) % 3] = self.foot;
        w
    }

    /// ∂b/∂h and ∂b/∂α of b = 2 h S(α).
    pub(super) fn slopes(&self) -> [f64; 2] {
        [2.0 * self.profile[0], 2.0 * self.altitude * self.profile[1]]
    }
}

/// Fundamental forms of one face with what their derivatives need.
///
/// The stencil has [`FORM_COORDINATES`] coordinates, or only the 18 of its points where no edge has
/// an angle. Not finite when the face or a neighbour it looks at has no area; with
/// [`NormalRule::Tan`] also when an edge normal lies in the face.
/// Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct FaceForms {
    pub(super) e1: Point,
    pub(super) e2: Point,
    pub(super) normal: Point,
    pub(super) tilts: [Tilt; 3],
}

impl FaceForms {
    /// Forms of the stencil at `x`, which holds the angles of all edges with `turn` ≠ 0.
    // Inlined so that a caller who wants the forms alone does not pay for what derivatives need.
    #[inline(always)]
    pub fn new<const N: usize>(x: &Vector<N>, normals: NormalRule, rules: &[EdgeRule; 3]) -> Self {
        const { assert!(N >= 18, "a face stencil has six points") };
        let point = |i: usize| Point::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
        let p = [point(0), point(1), point(2)];
        let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
        let area_normal = e1.cross(&e2);
        let double_area = area_normal.norm();
        // Divisions and roots are what this costs: each is made once.
        let normal = area_normal * (1.0 / double_area);
        let tilt = |m: usize| {
            let (a, b) = (&p[(m + 1) % 3], &p[(m + 2) % 3]);
            let EdgeRule { fold, turn } = rules[m];
            let e = b - a;
            let length = e.norm();
            let inverse_length = 1.0 / length;
            let tangent = e * inverse_length;
            let outward = tangent.cross(&normal);
            let mut tilt = (0.0, 1.0);
            let mut second = SecondWing {
                normal: Point::zeros(),
                outward: Point::zeros(),
                inverse_altitude: 0.0,
                foot: 0.0,
            };
            if fold != 0.0 {
                let ad = point(3 + m) - a;
                // Seen along a→b the second triangle is clockwise.
                let n = ad.cross(&e);
                let inverse_area = 1.0 / n.norm();
                let other = n * inverse_area;
                tilt = part_of_unit_angle(other.dot(&outward), other.dot(&normal), fold);
                second = SecondWing {
                    normal: other,
                    outward: other.cross(&tangent),
                    inverse_altitude: length * inverse_area,
                    foot: ad.dot(&tangent) * inverse_length,
                };
            }
            if turn != 0.0 {
                let (sin, cos) = (turn * x[18 + m]).sin_cos();
                tilt = (tilt.0 * cos + tilt.1 * sin, tilt.1 * cos - tilt.0 * sin);
            }
            Tilt {
                tangent,
                outward,
                inverse_length,
                altitude: double_area * inverse_length,
                foot: (p[m] - a).dot(&tangent) * inverse_length,
                second,
                fold,
                turn,
                profile: normals.profile(tilt),
            }
        };
        Self { e1, e2, normal, tilts: [tilt(0), tilt(1), tilt(2)] }
    }

    /// (a₁₁, a₁₂, a₂₂).
    #[inline]
    pub fn metric(&self) -> Vector<3> {
        Vector::<3>::new(self.e1.dot(&self.e1), self.e1.dot(&self.e2), self.e2.dot(&self.e2))
    }

    /// (b₀, b₁, b₂).
    #[inline]
    pub fn curvature(&self) -> Vector<3> {
        let b = |t: &Tilt| 2.0 * t.altitude * t.profile[0];
        Vector::<3>::new(b(&self.tilts[0]), b(&self.tilts[1]), b(&self.tilts[2]))
    }

    /// ∂(a₁₁, a₁₂, a₂₂)/∂(x₀, x₁, x₂).
    pub fn metric_jacobian(&self) -> Matrix<3, 9> {
        let (e1, e2) = (&self.e1, &self.e2);
        let mut j = Matrix::<3, 9>::zeros();
        for k in 0..3 {
            j[(0, 3 + k)] = 2.0 * e1[k];
            j[(0, k)] = -2.0 * e1[k];
            j[(1, 3 + k)] = e2[k];
            j[(1, 6 + k)] = e1[k];
            j[(1, k)] = -e1[k] - e2[k];
            j[(2, 6 + k)] = 2.0 * e2[k];
            j[(2, k)] = -2.0 * e2[k];
        }
        j
    }

    /// ∂(b₀, b₁, b₂)/∂x, transposed: a column per edge.
    pub fn curvature_gradients<const N: usize>(&self) -> Matrix<N, 3> {
        let mut gradients = Matrix::<N, 3>::zeros();
        for m in 0..3 {
            let mut unit = Vector::<3>::zeros();
            unit[m] = 1.0;
            gradients.set_column(m, &self.gradient::<N>(&Vector::<3>::zeros(), &unit));
        }
        gradients
    }

    /// Gradient in x of a function of a and b with gradients `s` and `g`: Σ sₖ ∂aₖ/∂x + Σ gₘ ∂bₘ/∂x.
    #[inline]
    pub fn gradient<const N: usize>(&self, s: &Vector<3>, g: &Vector<3>) -> Vector<N> {
        let by_e1 = self.e1 * (2.0 * s[0]) + self.e2 * s[1];
        let by_e2 = self.e1 * s[1] + self.e2 * (2.0 * s[2]);
        let mut corners = [-by_e1 - by_e2, by_e1, by_e2];
        let mut out = Vector::<N>::zeros();
        for (m, t) in self.tilts.iter().enumerate() {
            let (a, b) = ((m + 1) % 3, (m + 2) % 3);
            let slopes = t.slopes();
            let (by_altitude, by_fold) = (g[m] * slopes[0], g[m] * slopes[1] * t.fold);
            let face = t.outward * by_altitude + self.normal * (by_fold / t.altitude);
            let across = t.second.normal * (by_fold * t.second.inverse_altitude);
            corners[m] -= face;
            corners[a] += face * (1.0 - t.foot) + across * (1.0 - t.second.foot);
            corners[b] += face * t.foot + across * t.second.foot;
            for k in 0..3 {
                out[9 + 3 * m + k] = -across[k];
            }
            if N > 18 {
                out[18 + m] = g[m] * slopes[1] * t.turn;
            }
        }
        for i in 0..9 {
            out[i] = corners[i / 3][i % 3];
        }
        out
    }
}
