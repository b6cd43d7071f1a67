//! The fundamental forms of a triangle and its neighbours, with mid-edge normals.

use toile_num::{Matrix, Scalar, Vector};

use super::{Hinge, Point, Wing, dihedral_angle, dot, norm};

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

fn point<T: Scalar>(x: &Vector<FORM_COORDINATES, T>, i: usize) -> Point<T> {
    x.fixed_rows::<3>(3 * i).into_owned()
}

/// First and second fundamental form of a face, (a₁₁, a₁₂, a₂₂, b₀, b₁, b₂), of any scalar.
///
/// a is the metric in the basis e₁ = x₁ − x₀, e₂ = x₂ − x₀. bₘ = 2 hₘ S(αₘ) belongs to the edge
/// opposite to corner m; the second form is [b₀+b₁, b₀; b₀, b₀+b₂], positive where the surface
/// bends away from its normal. Reference: Ly 2021, eq. 1.15 with the factor 2 of its correction.
pub fn forms<T: Scalar>(
    x: &Vector<FORM_COORDINATES, T>,
    normals: NormalRule,
    rules: &[EdgeRule; 3],
) -> Vector<6, T> {
    let p: [Point<T>; 6] = std::array::from_fn(|i| point(x, i));
    let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
    let double_area = norm(&e1.cross(&e2));
    let mut q = Vector::<6, T>::zeros();
    q[0] = dot(&e1, &e1);
    q[1] = dot(&e1, &e2);
    q[2] = dot(&e2, &e2);
    for m in 0..3 {
        let (a, b) = (&p[(m + 1) % 3], &p[(m + 2) % 3]);
        let mut alpha = x[18 + m] * rules[m].turn;
        if rules[m].fold != 0.0 {
            alpha += dihedral_angle(&p[m], a, b, &p[3 + m]) * rules[m].fold;
        }
        q[3 + m] = double_area / norm(&(b - a)) * normals.profile_of(alpha) * 2.0;
    }
    q
}

/// One edge of the face: altitude, tilt and their gradients.
#[derive(Clone, Copy, Debug)]
struct Tilt {
    wing: Wing,
    /// The neighbour's wing, where the fold counts.
    second: Option<Wing>,
    fold: f64,
    turn: f64,
    /// S, S′, S″ at α.
    profile: [f64; 3],
}

/// Fundamental forms of one face with what their derivatives need.
///
/// Not finite when the face or a neighbour it looks at has no area; with [`NormalRule::Tan`] also
/// when an edge normal lies in the face. Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct FaceForms {
    e1: Point,
    e2: Point,
    tilts: [Tilt; 3],
}

impl FaceForms {
    /// Forms of the stencil at `x`.
    pub fn new(x: &Vector<FORM_COORDINATES>, normals: NormalRule, rules: &[EdgeRule; 3]) -> Self {
        let p: [Point; 6] = std::array::from_fn(|i| point(x, i));
        let (e1, e2) = (p[1] - p[0], p[2] - p[0]);
        let normal = e1.cross(&e2);
        let tilts = std::array::from_fn(|m| {
            let (a, b) = (&p[(m + 1) % 3], &p[(m + 2) % 3]);
            let EdgeRule { fold, turn } = rules[m];
            let e = b - a;
            let inverse_length = 1.0 / e.norm();
            let tangent = e * inverse_length;
            let ac = p[m] - a;
            let mut tilt = (0.0, 1.0);
            let (wing, second) = if fold == 0.0 {
                (Wing::on_edge(&tangent, inverse_length, &ac, &normal, 1.0), None)
            } else {
                let ad = p[3 + m] - a;
                let hinge = Hinge::on_edge(&tangent, inverse_length, &ac, &normal, &ad, &e);
                tilt = hinge.fold(fold);
                (*hinge.first(), Some(*hinge.second()))
            };
            if turn != 0.0 {
                let (sin, cos) = (turn * x[18 + m]).sin_cos();
                tilt = (tilt.0 * cos + tilt.1 * sin, tilt.1 * cos - tilt.0 * sin);
            }
            Tilt { wing, second, fold, turn, profile: normals.profile(tilt) }
        });
        Self { e1, e2, tilts }
    }

    /// (a₁₁, a₁₂, a₂₂).
    pub fn metric(&self) -> Vector<3> {
        Vector::<3>::new(self.e1.dot(&self.e1), self.e1.dot(&self.e2), self.e2.dot(&self.e2))
    }

    /// (b₀, b₁, b₂).
    pub fn curvature(&self) -> Vector<3> {
        Vector::<3>::from_fn(|m, _| 2.0 * self.tilts[m].wing.altitude * self.tilts[m].profile[0])
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

    /// ∂(h₀, α₀, h₁, α₁, h₂, α₂)/∂x, a row per quantity.
    fn tilt_gradients(&self) -> [[f64; FORM_COORDINATES]; 6] {
        let mut z = [[0.0; FORM_COORDINATES]; 6];
        for (m, tilt) in self.tilts.iter().enumerate() {
            let Tilt { wing, second, fold, turn, .. } = tilt;
            let (a, b) = ((m + 1) % 3, (m + 2) % 3);
            let angle = if second.is_some() { fold / wing.altitude } else { 0.0 };
            for (i, node) in [m, a, b].into_iter().enumerate() {
                for k in 0..3 {
                    z[2 * m][3 * node + k] = wing.w[i] * wing.outward[k];
                    z[2 * m + 1][3 * node + k] = angle * wing.w[i] * wing.normal[k];
                }
            }
            if let Some(second) = second {
                let angle = fold / second.altitude;
                for (i, node) in [3 + m, a, b].into_iter().enumerate() {
                    for k in 0..3 {
                        z[2 * m + 1][3 * node + k] += angle * second.w[i] * second.normal[k];
                    }
                }
            }
            z[2 * m + 1][18 + m] = *turn;
        }
        z
    }

    /// ∂b/∂(h, α) for each edge: (2 S, 2 h S′).
    fn tilt_slopes(&self) -> [[f64; 2]; 3] {
        self.tilts.map(|t| [2.0 * t.profile[0], 2.0 * t.wing.altitude * t.profile[1]])
    }

    /// ∂(b₀, b₁, b₂)/∂x, transposed: a column per edge.
    pub fn curvature_gradients(&self) -> Matrix<FORM_COORDINATES, 3> {
        let z = self.tilt_gradients();
        let slopes = self.tilt_slopes();
        Matrix::from_fn(|i, m| z[2 * m][i] * slopes[m][0] + z[2 * m + 1][i] * slopes[m][1])
    }

    /// Gradient in x of a function of b with gradient `g`: Σ gₘ ∂bₘ/∂x.
    pub fn curvature_gradient(&self, g: &Vector<3>) -> Vector<FORM_COORDINATES> {
        let z = self.tilt_gradients();
        let slopes = self.tilt_slopes();
        let mut out = Vector::<FORM_COORDINATES>::zeros();
        for m in 0..3 {
            let (ch, ca) = (g[m] * slopes[m][0], g[m] * slopes[m][1]);
            for i in 0..FORM_COORDINATES {
                out[i] += z[2 * m][i] * ch + z[2 * m + 1][i] * ca;
            }
        }
        out
    }

    /// Hessian in x of a function of b with gradient `g` and Hessian `c`:
    /// Jᵀ c J + Σ gₘ ∂²bₘ/∂x². Without `second_order` the sum is left out, which keeps the result
    /// positive semi-definite when `c` is.
    pub fn curvature_hessian(
        &self,
        g: &Vector<3>,
        c: &Matrix<3, 3>,
        second_order: bool,
    ) -> Matrix<FORM_COORDINATES, FORM_COORDINATES> {
        // Through the six intermediate variables (h, α) of the three edges: their 6×6 core first.
        let slopes = self.tilt_slopes();
        let mut core = [[0.0; 6]; 6];
        for i in 0..6 {
            for j in 0..6 {
                core[i][j] = slopes[i / 2][i % 2] * c[(i / 2, j / 2)] * slopes[j / 2][j % 2];
            }
        }
        if second_order {
            for (m, tilt) in self.tilts.iter().enumerate() {
                let cross = 2.0 * g[m] * tilt.profile[1];
                core[2 * m][2 * m + 1] += cross;
                core[2 * m + 1][2 * m] += cross;
                core[2 * m + 1][2 * m + 1] += 2.0 * g[m] * tilt.wing.altitude * tilt.profile[2];
            }
        }
        let z = self.tilt_gradients();
        let mut zc = [[0.0; FORM_COORDINATES]; 6];
        for k in 0..6 {
            for l in 0..6 {
                for i in 0..FORM_COORDINATES {
                    zc[k][i] += core[k][l] * z[l][i];
                }
            }
        }
        // z core zᵀ column by column; most entries of z are zero. Symmetric as it stands.
        let mut h = Matrix::<FORM_COORDINATES, FORM_COORDINATES>::zeros();
        for (j, column) in h.as_mut_slice().chunks_exact_mut(FORM_COORDINATES).enumerate() {
            for k in 0..6 {
                let f = z[k][j];
                if f != 0.0 {
                    for (target, value) in column.iter_mut().zip(&zc[k]) {
                        *target += value * f;
                    }
                }
            }
        }
        if second_order {
            for (m, tilt) in self.tilts.iter().enumerate() {
                let (a, b) = ((m + 1) % 3, (m + 2) % 3);
                let (gh, ga) = (g[m] * slopes[m][0], g[m] * slopes[m][1] * tilt.fold);
                tilt.wing.add_hessians([m, a, b], gh, ga, h.as_mut_slice());
                if let Some(second) = &tilt.second {
                    second.add_hessians([3 + m, a, b], 0.0, ga, h.as_mut_slice());
                }
            }
        }
        h.fill_upper_triangle_with_lower_triangle();
        h
    }
}

#[cfg(test)]
mod tests {
    use toile_num::{ScalarFunction, VectorFunction, assert_close, hessian_of, jacobian_of};

    use super::*;

    struct Forms(NormalRule, [EdgeRule; 3]);
    impl VectorFunction<21, 6> for Forms {
        fn call<T: Scalar>(&self, x: &Vector<21, T>) -> Vector<6, T> {
            forms(x, self.0, &self.1)
        }
    }
    /// g·b + ½ b·c·b, whose Hessian is what `curvature_hessian` gives with gradient g + c b.
    struct Quadratic(Forms, Vector<3>, Matrix<3, 3>);
    impl ScalarFunction<21> for Quadratic {
        fn call<T: Scalar>(&self, x: &Vector<21, T>) -> T {
            let q = self.0.call(x);
            let mut sum = T::zero();
            for i in 0..3 {
                sum += q[3 + i] * self.1[i];
                for j in 0..3 {
                    sum += q[3 + i] * q[3 + j] * (0.5 * self.2[(i, j)]);
                }
            }
            sum
        }
    }

    fn pose() -> Vector<21> {
        let p = [
            [0.0, 0.0, 0.1],
            [1.0, 0.1, -0.1],
            [0.2, 0.9, 0.0],
            [1.1, 1.2, -0.5],
            [-0.9, 0.6, 0.4],
            [0.6, -0.8, -0.3],
        ];
        let mut x = Vector::<21>::zeros();
        for i in 0..18 {
            x[i] = p[i / 3][i % 3];
        }
        x[18] = 0.15;
        x[19] = -0.2;
        x[20] = 0.3;
        x
    }

    const INSIDE: EdgeRule = EdgeRule { fold: 0.5, turn: 1.0 };
    const OTHER_SIDE: EdgeRule = EdgeRule { fold: 0.5, turn: -1.0 };
    const BORDER: EdgeRule = EdgeRule { fold: 0.0, turn: 1.0 };
    const CLAMP: EdgeRule = EdgeRule { fold: 1.0, turn: 0.0 };

    #[test]
    fn derivatives_match_dual_numbers() {
        let x = pose();
        for normals in [NormalRule::Sin, NormalRule::Tan] {
            for rules in [[INSIDE, OTHER_SIDE, INSIDE], [BORDER, CLAMP, OTHER_SIDE]] {
                let oracle = Forms(normals, rules);
                let f = FaceForms::new(&x, normals, &rules);
                let q = oracle.call(&x);
                assert!((f.metric() - q.fixed_rows::<3>(0)).amax() < 1e-14);
                assert!((f.curvature() - q.fixed_rows::<3>(3)).amax() < 1e-14);
                let jacobian = jacobian_of(&oracle, &x);
                let metric = jacobian.fixed_view::<3, 9>(0, 0).into_owned();
                assert_close("metric", &f.metric_jacobian(), &metric, 1e-13);
                let curvature = jacobian.fixed_view::<3, 21>(3, 0).transpose();
                assert_close("curvature", &f.curvature_gradients(), &curvature, 1e-12);

                let (g, c) = (
                    Vector::<3>::new(0.7, -0.4, 0.9),
                    Matrix::<3, 3>::new(2.0, 0.3, -0.2, 0.3, 1.5, 0.4, -0.2, 0.4, 1.1),
                );
                let at_x = g + c * f.curvature();
                let hessian = f.curvature_hessian(&at_x, &c, true);
                let expected = hessian_of(&Quadratic(oracle, g, c), &x);
                assert_close("hessian", &hessian, &expected, 1e-12);
            }
        }
    }

    #[test]
    fn cylinder_has_one_principal_curvature() {
        // Equilateral stencil on a cylinder of radius R about y: shape operator a⁻¹ b = (1/R, 0).
        let (radius, edge) = (1.0f64, 1e-3f64);
        let row = edge * 3f64.sqrt() / 2.0;
        let on = |u: f64, v: f64| [radius * (u / radius).sin(), v, radius * (u / radius).cos()];
        let p = [
            on(0.0, 0.0),
            on(edge, 0.0),
            on(edge / 2.0, row),
            on(1.5 * edge, row),
            on(-0.5 * edge, row),
            on(0.5 * edge, -row),
        ];
        let mut x = Vector::<21>::zeros();
        for i in 0..18 {
            x[i] = p[i / 3][i % 3];
        }
        let rule = EdgeRule { fold: 0.5, turn: 0.0 };
        let f = FaceForms::new(&x, NormalRule::Average, &[rule; 3]);
        let (a, b) = (f.metric(), f.curvature());
        let metric = Matrix::<2, 2>::new(a[0], a[1], a[1], a[2]);
        let second = Matrix::<2, 2>::new(b[0] + b[1], b[0], b[0], b[0] + b[2]);
        let shape = metric.try_inverse().unwrap() * second;
        assert!((shape.trace() - 1.0 / radius).abs() < 1e-6, "{shape}");
        assert!(shape.determinant().abs() < 1e-6, "{shape}");
    }
}
