//! The fundamental forms of a triangle and its neighbours, with mid-edge normals.

use toile_num::lanes::{Lanes, Triple};
use toile_num::{Matrix, Scalar, Vector};

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
    #[inline(always)]
    fn profile<T: Lanes>(self, [sin, cos]: [T; 2]) -> [T; 3] {
        match self {
            Self::Average | Self::Sin => [sin, cos, -sin],
            Self::Tan => {
                let (tan, slope) = (sin / cos, sin.like(1.0) / (cos * cos));
                [tan, slope, sin.like(2.0) * tan * slope]
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
    /// Weight of the dihedral angle θ: 0, ½ or 1; with 0 the neighbour's vertex is not looked at.
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
pub(super) struct Tilt<T> {
    /// ê, from a to b.
    pub(super) tangent: Triple<T>,
    /// o of the face.
    pub(super) outward: Triple<T>,
    /// 1/L.
    pub(super) inverse_length: T,
    /// h of the face.
    pub(super) altitude: T,
    /// 1/h.
    pub(super) inverse_altitude: T,
    /// t of the face.
    pub(super) foot: T,
    /// The neighbour.
    pub(super) second: SecondWing<T>,
    pub(super) fold: T,
    pub(super) turn: T,
    /// S, S′, S″ at α.
    pub(super) profile: [T; 3],
}

/// The neighbour's wing on an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecondWing<T> {
    pub(super) normal: Triple<T>,
    pub(super) outward: Triple<T>,
    pub(super) inverse_altitude: T,
    pub(super) foot: T,
}

impl<T: Lanes> Tilt<T> {
    /// w of the face's corners, by corner.
    #[inline(always)]
    pub(super) fn weights(&self, m: usize) -> [T; 3] {
        let one = self.foot.like(1.0);
        let mut w = [-one; 3];
        w[(m + 1) % 3] = one - self.foot;
        w[(m + 2) % 3] = self.foot;
        w
    }

    /// ∂b/∂h and ∂b/∂α of b = 2 h S(α).
    #[inline(always)]
    pub(super) fn slopes(&self) -> [T; 2] {
        let two = self.foot.like(2.0);
        [two * self.profile[0], two * self.altitude * self.profile[1]]
    }
}

/// (sin, cos) of `part` · θ for `part` 0, ½ or 1, from the sine and cosine of θ.
#[inline(always)]
fn part_of_angle<T: Lanes>(sin: T, cos: T, part: T) -> [T; 2] {
    let (zero, half, one) = (sin.like(0.0), sin.like(0.5), sin.like(1.0));
    // The larger of cos θ/2 and |sin θ/2| first: no cancellation on either side of a right angle.
    let larger = half.mul_add(cos.abs(), half).sqrt();
    let other = half * sin / larger;
    let halved = [cos.choose(other, sin.choose(larger, -larger)), cos.choose(larger, other.abs())];
    let (whole, none) = (part - sin.like(0.75), sin.like(0.25) - part);
    [
        whole.choose(sin, none.choose(zero, halved[0])),
        whole.choose(cos, none.choose(one, halved[1])),
    ]
}

/// A face stencil as its forms see it.
#[derive(Clone, Copy, Debug)]
pub struct FaceStencil<T> {
    /// Corners, then the vertices across the edges opposite to them; where `fold` is 0 any point that makes a triangle with
    /// the edge, for instance by [`FaceStencil::close_borders`].
    pub points: [Triple<T>; 6],
    /// [`EdgeRule::fold`] of each edge.
    pub fold: [T; 3],
    /// [`EdgeRule::turn`] of each edge.
    pub turn: [T; 3],
    /// Sine and cosine of `turn` · ξ of each edge, for rules with edge angles.
    pub turned: Option<[[T; 2]; 3]>,
}

impl<T: Lanes> FaceStencil<T> {
    /// Gives every edge without a fold the mirror image of the face for a neighbour.
    #[inline(always)]
    pub fn close_borders(&mut self) {
        let p = self.points;
        for m in 0..3 {
            let image = p[(m + 1) % 3] + p[(m + 2) % 3] - p[m];
            let border = p[0][0].like(0.25) - self.fold[m];
            for k in 0..3 {
                self.points[3 + m].0[k] = border.choose(image[k], p[3 + m][k]);
            }
        }
    }
}

/// Fundamental forms of one face with what their derivatives need, or of several faces side by side.
///
/// The stencil has [`FORM_COORDINATES`] coordinates, or only the 18 of its points where no edge has
/// an angle. Not finite when the face or a neighbour it looks at has no area; with
/// [`NormalRule::Tan`] also when an edge normal lies in the face.
/// Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct FaceForms<T = f64> {
    pub(super) e1: Triple<T>,
    pub(super) e2: Triple<T>,
    pub(super) normal: Triple<T>,
    pub(super) tilts: [Tilt<T>; 3],
}

impl FaceForms {
    /// Forms of the stencil at `x`, which holds the angles of all edges with `turn` ≠ 0.
    // Inlined so that a caller who wants the forms alone does not pay for what derivatives need.
    #[inline(always)]
    pub fn new<const N: usize>(x: &Vector<N>, normals: NormalRule, rules: &[EdgeRule; 3]) -> Self {
        const { assert!(N >= 18, "a face stencil has six points") };
        let mut stencil = FaceStencil {
            points: std::array::from_fn(|i| Triple([x[3 * i], x[3 * i + 1], x[3 * i + 2]])),
            fold: rules.map(|r| r.fold),
            turn: rules.map(|r| r.turn),
            turned: (N > 18).then(|| {
                std::array::from_fn(|m| {
                    let (sin, cos) = (rules[m].turn * x[18 + m]).sin_cos();
                    [sin, cos]
                })
            }),
        };
        stencil.close_borders();
        Self::of(&stencil, normals)
    }

    /// (a₁₁, a₁₂, a₂₂).
    #[inline]
    pub fn metric(&self) -> Vector<3> {
        Vector::<3>::from(self.metric_lanes())
    }

    /// (b₀, b₁, b₂).
    #[inline]
    pub fn curvature(&self) -> Vector<3> {
        Vector::<3>::from(self.curvature_lanes())
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
            let mut unit = [0.0; 3];
            unit[m] = 1.0;
            gradients.set_column(m, &Vector::<N>::from(self.gradient::<N>(&[0.0; 3], &unit)));
        }
        gradients
    }
}

impl<T: Lanes> FaceForms<T> {
    /// Forms of a stencil.
    #[inline(always)]
    pub fn of(stencil: &FaceStencil<T>, normals: NormalRule) -> Self {
        let p = &stencil.points;
        let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
        let area_normal = e1.cross(e2);
        let double_area = area_normal.norm();
        // Divisions and roots are what this costs: each is made once.
        let inverse_area = double_area.like(1.0) / double_area;
        let normal = area_normal * inverse_area;
        let areas = [double_area, inverse_area];
        let tilts = [
            Self::tilt::<0>(stencil, normals, normal, areas),
            Self::tilt::<1>(stencil, normals, normal, areas),
            Self::tilt::<2>(stencil, normals, normal, areas),
        ];
        Self { e1, e2, normal, tilts }
    }

    #[inline(always)]
    fn tilt<const M: usize>(
        stencil: &FaceStencil<T>,
        normals: NormalRule,
        normal: Triple<T>,
        [double_area, inverse_double_area]: [T; 2],
    ) -> Tilt<T> {
        let p = &stencil.points;
        let (a, b) = (p[(M + 1) % 3], p[(M + 2) % 3]);
        let (fold, turn) = (stencil.fold[M], stencil.turn[M]);
        let e = b - a;
        let length = e.norm();
        let inverse_length = length.like(1.0) / length;
        let tangent = e * inverse_length;
        let outward = tangent.cross(normal);
        let ad = p[3 + M] - a;
        // Seen along a→b the second triangle is clockwise.
        let n = ad.cross(e);
        let inverse_area = length.like(1.0) / n.norm();
        let other = n * inverse_area;
        let mut tilt = part_of_angle(other.dot(outward), other.dot(normal), fold);
        if let Some(turned) = &stencil.turned {
            let [sin, cos] = turned[M];
            tilt = [tilt[0] * cos + tilt[1] * sin, tilt[1] * cos - tilt[0] * sin];
        }
        Tilt {
            tangent,
            outward,
            inverse_length,
            altitude: double_area * inverse_length,
            inverse_altitude: inverse_double_area * length,
            foot: (p[M] - a).dot(tangent) * inverse_length,
            second: SecondWing {
                normal: other,
                outward: other.cross(tangent),
                inverse_altitude: length * inverse_area,
                foot: ad.dot(tangent) * inverse_length,
            },
            fold,
            turn,
            profile: normals.profile(tilt),
        }
    }

    /// (a₁₁, a₁₂, a₂₂).
    #[inline(always)]
    pub fn metric_lanes(&self) -> [T; 3] {
        [self.e1.dot(self.e1), self.e1.dot(self.e2), self.e2.dot(self.e2)]
    }

    /// (b₀, b₁, b₂).
    #[inline(always)]
    pub fn curvature_lanes(&self) -> [T; 3] {
        let [t, u, v] = &self.tilts;
        let two = t.altitude.like(2.0);
        [
            two * t.altitude * t.profile[0],
            two * u.altitude * u.profile[0],
            two * v.altitude * v.profile[0],
        ]
    }

    /// Gradient in x of a function of a and b with gradients `s` and `g`: Σ sₖ ∂aₖ/∂x + Σ gₘ ∂bₘ/∂x.
    #[inline(always)]
    pub fn gradient<const N: usize>(&self, s: &[T; 3], g: &[T; 3]) -> [T; N] {
        let two = s[0].like(2.0);
        let by_e1 = self.e1.mul_add(two * s[0], self.e2 * s[1]);
        let by_e2 = self.e1.mul_add(s[1], self.e2 * (two * s[2]));
        let mut corners = [-by_e1 - by_e2, by_e1, by_e2];
        let mut out = [s[0].like(0.0); N];
        for m in 0..3 {
            let t = &self.tilts[m];
            let (a, b) = ((m + 1) % 3, (m + 2) % 3);
            let slopes = t.slopes();
            let (by_altitude, by_angle) = (g[m] * slopes[0], g[m] * slopes[1]);
            let by_fold = by_angle * t.fold;
            let face = t.outward.mul_add(by_altitude, self.normal * (by_fold * t.inverse_altitude));
            let across = t.second.normal * (by_fold * t.second.inverse_altitude);
            let one = s[0].like(1.0);
            corners[m] = corners[m] - face;
            corners[a] =
                face.mul_add(one - t.foot, across.mul_add(one - t.second.foot, corners[a]));
            corners[b] = face.mul_add(t.foot, across.mul_add(t.second.foot, corners[b]));
            for k in 0..3 {
                out[9 + 3 * m + k] = -across[k];
            }
            if N > 18 {
                out[18 + m] = by_angle * t.turn;
            }
        }
        for i in 0..9 {
            out[i] = corners[i / 3][i % 3];
        }
        out
    }
}
