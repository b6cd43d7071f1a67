//! The discrete Koiter shell: one face with its neighbours.

use toile_geometry::measure::{EdgeRule, FaceForms, NormalRule, forms};
use toile_num::lanes::Triple;
use toile_num::{Dual, Matrix, Scalar, Vector};

use crate::koiter_law::{KoiterRest, columns, linear_metric};
use crate::{Curvature, ShellStiffness};

/// Law of the membrane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membrane {
    /// St Venant–Kirchhoff: quadratic in the Green strain ½(a − ā); may be orthotropic.
    StVenantKirchhoff,
    /// Neo-Hookean in plane stress, isotropic: per rest area
    /// c66/2 (tr ā⁻¹a − 2 − ln J²) + c12′/8 (ln J²)², J² = det a/det ā, which resists collapse of a face.
    /// It takes c66 = G h as shear stiffness and c11 − 2 c66 in the place of c12.
    NeoHookean,
}

/// Stretching and bending of one face:
/// E = Ā/2 ( ε·C ε + κ·D κ ), ε = ½(a − ā), κ = b − b̄ in the orthonormal warp–weft frame of the rest face.
///
/// With C = E h/(1−ν²)… and D = h²/12 C this is ¼ (h/4 ‖a−ā‖ + h³/12 ‖b−b̄‖) √det ā of Koiter's shell.
/// Coordinates: corners, vertices across their opposite edges, edge angles
/// (see [`toile_geometry::measure::forms`]); what a face does not have is marked in `edges` and ignored.
/// A face none of whose edges has an angle is also an energy of the 18 coordinates of its points alone.
/// A face held in a clamp bends not at all: leave it out, and give its neighbour `fold` = 1 on the shared edge.
/// References: Ly 2021, eqs. 1.15–1.16 corrected; Weischedel 2012. Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug)]
pub struct KoiterFace {
    /// Rule for mid-edge normals.
    pub normals: NormalRule,
    /// Rule on each edge, by opposite corner.
    pub edges: [EdgeRule; 3],
    /// Law of the membrane.
    pub membrane: Membrane,
    /// Elastic constants in the warp–weft frame.
    pub stiffness: ShellStiffness,
    /// Warp direction c₁ (x̄₁ − x̄₀) + c₂ (x̄₂ − x̄₀): it moves with the material.
    pub warp: [f64; 2],
}

/// Rest area, and the matrix that turns (m₁₁, m₁₂, m₂₂) of the face basis into (m₁₁, m₂₂, 2m₁₂) of the
/// orthonormal warp–weft frame.
fn frame<T: Scalar>(a_bar: &Vector<3, T>, warp: &[f64; 2]) -> (T, Matrix<3, 3, T>) {
    let [a11, a12, a22] = [a_bar[0], a_bar[1], a_bar[2]];
    let root = (a11 * a22 - a12 * a12).sqrt();
    let [c1, c2] = warp.map(T::constant);
    let length = (c1 * c1 * a11 + c1 * c2 * a12 * 2.0 + c2 * c2 * a22).sqrt();
    let t1 = [c1 / length, c2 / length];
    let covector = [a11 * t1[0] + a12 * t1[1], a12 * t1[0] + a22 * t1[1]];
    let t2 = [-covector[1] / root, covector[0] / root];
    let map = Matrix::<3, 3, T>::new(
        t1[0] * t1[0],
        t1[0] * t1[1] * 2.0,
        t1[1] * t1[1],
        t2[0] * t2[0],
        t2[0] * t2[1] * 2.0,
        t2[1] * t2[1],
        t1[0] * t2[0] * 2.0,
        (t1[0] * t2[1] + t1[1] * t2[0]) * 2.0,
        t1[1] * t2[1] * 2.0,
    );
    (root * 0.5, map)
}

/// (b₀, b₁, b₂) to (b₁₁, b₁₂, b₂₂).
fn second_form<T: Scalar>(b: &Vector<3, T>) -> Vector<3, T> {
    Vector::<3, T>::new(b[0] + b[1], b[0], b[0] + b[2])
}

/// The matrix of [`second_form`].
fn second_form_matrix<T: Scalar>() -> Matrix<3, 3, T> {
    let (o, z) = (T::one(), T::zero());
    Matrix::<3, 3, T>::new(o, o, z, o, z, z, o, z, o)
}

/// Eigenvalues of the tensor with the contravariant components n = (n¹¹, n¹², n²²) in a basis of metric a, the larger first.
pub fn principal_values(n: &[f64; 3], a: &Vector<3>) -> [f64; 2] {
    let half_trace = 0.5 * (n[0] * a[0] + 2.0 * n[1] * a[1] + n[2] * a[2]);
    let det = (n[0] * n[2] - n[1] * n[1]) * (a[0] * a[2] - a[1] * a[1]);
    let apart = (half_trace * half_trace - det).max(0.0).sqrt();
    [half_trace + apart, half_trace - apart]
}

impl KoiterFace {
    /// mapᵀ C map · factor.
    fn in_forms<T: Scalar>(c: &[f64; 4], map: &Matrix<3, 3, T>, factor: T) -> Matrix<3, 3, T> {
        (map.transpose() * ShellStiffness::matrix::<T>(c) * map).map(|v| v * factor)
    }

    fn membrane_matrix<T: Scalar>(&self, a_bar: &Vector<3, T>) -> Matrix<3, 3, T> {
        let (area, map) = frame(a_bar, &self.warp);
        Self::in_forms(&self.stiffness.membrane, &map, area * 0.25) // ε = ½(a − ā)
    }

    fn bending_matrix<T: Scalar>(&self, a_bar: &Vector<3, T>) -> Matrix<3, 3, T> {
        let (area, map) = frame(a_bar, &self.warp);
        let s = second_form_matrix::<T>();
        s.transpose() * Self::in_forms(&self.stiffness.bending, &map, area) * s
    }

    /// Shear stiffness and the first Lamé constant of the plane-stress neo-Hookean sheet \[N/m\].
    fn lame(&self) -> (f64, f64) {
        let [c11, _, _, c66] = self.stiffness.membrane;
        (c66, c11 - 2.0 * c66)
    }

    fn neo_hookean_energy<T: Scalar>(&self, a: &Vector<3, T>, a_bar: &Vector<3, T>) -> T {
        let (lame_mu, lame_lambda) = self.lame();
        let det = |m: &Vector<3, T>| m[0] * m[2] - m[1] * m[1];
        let det_bar = det(a_bar);
        let trace = (a_bar[2] * a[0] - a_bar[1] * a[1] * 2.0 + a_bar[0] * a[2]) / det_bar;
        let log = (det(a) / det_bar).ln();
        let density = (trace - 2.0 - log) * (0.5 * lame_mu) + log * log * (0.125 * lame_lambda);
        density * det_bar.sqrt() * 0.5
    }

    /// ∂/∂(a₁₁, a₁₂, a₂₂) of the membrane energy.
    fn membrane_stress<T: Scalar>(&self, a: &Vector<3, T>, a_bar: &Vector<3, T>) -> Vector<3, T> {
        match self.membrane {
            Membrane::StVenantKirchhoff => self.membrane_matrix(a_bar) * (a - a_bar),
            Membrane::NeoHookean => {
                let (lame_mu, lame_lambda) = self.lame();
                let det = |m: &Vector<3, T>| m[0] * m[2] - m[1] * m[1];
                let (d, d_bar) = (det(a), det(a_bar));
                let inverse = |m: &Vector<3, T>, d: T| {
                    Vector::<3, T>::new(m[2] / d, -m[1] * 2.0 / d, m[0] / d)
                };
                let factor = (d / d_bar).ln() * (0.25 * lame_lambda) - 0.5 * lame_mu;
                let area = d_bar.sqrt() * 0.5;
                let (now, then) = (inverse(a, d), inverse(a_bar, d_bar));
                Vector::<3, T>::from_fn(|i, _| (then[i] * (0.5 * lame_mu) + now[i] * factor) * area)
            }
        }
    }

    /// Principal forces of the membrane in the face as it is, the larger first \[N/m\]; tension is positive.
    ///
    /// They are those of Nⁱʲ gᵢ ⊗ gⱼ, Nⁱʲ = (2/A) ∂E/∂aᵢⱼ, on the edges gᵢ and the area A of the face: Cauchy stress times thickness.
    /// Bending is left out. Check: `a_pulled_strip_has_the_tension_of_its_material`.
    pub fn principal_tensions(&self, x: &[Vector<3>; 3], x_bar: &[Vector<3>; 3]) -> [f64; 2] {
        let metric = |p: &[Vector<3>; 3]| {
            let (g, h) = (p[1] - p[0], p[2] - p[0]);
            Vector::<3>::new(g.dot(&g), g.dot(&h), h.dot(&h))
        };
        let a = metric(x);
        let slope = self.membrane_stress(&a, &metric(x_bar));
        let area = 0.5 * (a[0] * a[2] - a[1] * a[1]).sqrt();
        // ∂/∂a₁₂ moves a₂₁ as well.
        principal_values(&[2.0 * slope[0] / area, slope[1] / area, 2.0 * slope[2] / area], &a)
    }

    /// ∂²/∂a² of the neo-Hookean membrane energy.
    fn neo_hookean_tangent(&self, a: &Vector<3>, rest: &KoiterRest) -> Matrix<3, 3> {
        let (lame_mu, lame_lambda) = self.lame();
        let det = |m: &Vector<3>| m[0] * m[2] - m[1] * m[1];
        let d = det(a);
        let log = (d / det(&Vector::from(rest.a_bar))).ln();
        // Derivative of ln det a, and its own derivative: −a⁻¹ da a⁻¹.
        let slope = Vector::<3>::new(a[2], -2.0 * a[1], a[0]) / d;
        let twist = Matrix::<3, 3>::new(0.0, 0.0, 1.0, 0.0, -2.0, 0.0, 1.0, 0.0, 0.0) / d;
        let second = twist - slope * slope.transpose();
        (second * (0.25 * lame_lambda * log - 0.5 * lame_mu)
            + slope * slope.transpose() * (0.25 * lame_lambda))
            * rest.area
    }

    /// Forms of a stencil with angles (21 coordinates) or without (18).
    #[inline(always)]
    fn current<const N: usize>(&self, x: &Vector<N>) -> FaceForms {
        FaceForms::new(x, self.normals, &self.edges)
    }

    /// ∂/∂a and ∂/∂b.
    fn stress(&self, f: &FaceForms, rest: &KoiterRest) -> ([f64; 3], [f64; 3]) {
        let membrane = match self.membrane {
            Membrane::StVenantKirchhoff => rest.membrane_stress(&f.metric_lanes()),
            Membrane::NeoHookean => self.neo_hookean_stress(&f.metric_lanes(), rest),
        };
        (membrane, rest.moment(f))
    }

    fn neo_hookean_stress(&self, a: &[f64; 3], rest: &KoiterRest) -> [f64; 3] {
        self.membrane_stress(&Vector::from(*a), &Vector::from(rest.a_bar)).into()
    }

    /// Membrane stress that a linear law of motion would have made of the move from `before` to x.
    fn extrapolated_stress(
        &self,
        x: &[Triple<f64>; 3],
        before: &[Triple<f64>; 3],
        rest: &KoiterRest,
    ) -> [f64; 3] {
        let linear = linear_metric(x, before);
        match self.membrane {
            Membrane::StVenantKirchhoff => rest.membrane_stress(&linear),
            // A linearised metric may have no area; keep the true one then.
            Membrane::NeoHookean if linear[0] * linear[2] <= linear[1] * linear[1] => {
                self.neo_hookean_stress(&linear_metric(x, x), rest)
            }
            Membrane::NeoHookean => self.neo_hookean_stress(&linear, rest),
        }
    }

    pub(crate) fn rest_of<const N: usize>(&self, x_bar: &Vector<N>) -> KoiterRest {
        let f = self.current(x_bar);
        let a_bar = f.metric();
        KoiterRest {
            a_bar: a_bar.into(),
            b_bar: f.curvature_lanes(),
            membrane: columns(&self.membrane_matrix(&a_bar)),
            bending: columns(&self.bending_matrix(&a_bar)),
            area: frame(&a_bar, &self.warp).0,
        }
    }

    pub(crate) fn value_of<T: Scalar, const N: usize>(
        &self,
        x: &Vector<N, T>,
        x_bar: &Vector<N, T>,
    ) -> T {
        let q = forms(x, self.normals, &self.edges);
        let q_bar = forms(x_bar, self.normals, &self.edges);
        let part = |q: &Vector<6, T>, i: usize| q.fixed_rows::<3>(i).into_owned();
        let (a, a_bar) = (part(&q, 0), part(&q_bar, 0));
        let (area, map) = frame(&a_bar, &self.warp);
        let quadratic = |c: &[f64; 4], m: &Vector<3, T>| {
            let v = map * m;
            (v.transpose() * ShellStiffness::matrix::<T>(c) * v)[0] * area * 0.5
        };
        let membrane = match self.membrane {
            Membrane::StVenantKirchhoff => {
                quadratic(&self.stiffness.membrane, &(a - a_bar).map(|v| v * 0.5))
            }
            Membrane::NeoHookean => self.neo_hookean_energy(&a, &a_bar),
        };
        let bend = second_form(&(part(&q, 3) - part(&q_bar, 3)));
        membrane + quadratic(&self.stiffness.bending, &bend)
    }

    pub(crate) fn energy_of<const N: usize>(&self, x: &Vector<N>, rest: &KoiterRest) -> f64 {
        let f = self.current(x);
        let membrane = match self.membrane {
            Membrane::StVenantKirchhoff => rest.membrane_energy(&f),
            Membrane::NeoHookean => self.neo_hookean_energy(&f.metric(), &rest.a_bar.into()),
        };
        membrane + rest.bending_energy(&f)
    }

    pub(crate) fn gradient_of<const N: usize>(
        &self,
        x: &Vector<N>,
        rest: &KoiterRest,
    ) -> Vector<N> {
        let f = self.current(x);
        let (membrane, bending) = self.stress(&f, rest);
        f.gradient(&membrane, &bending).into()
    }

    pub(crate) fn write_hessian<const N: usize>(
        &self,
        x: &Vector<N>,
        before: Option<&Vector<N>>,
        rest: &KoiterRest,
        curvature: Curvature,
        out: &mut Matrix<N, N>,
    ) {
        let f = self.current(x);
        let (mut s, moment) = self.stress(&f, rest);
        if let Some(before) = before {
            s = self.extrapolated_stress(&corners(x), &corners(before), rest);
        }
        let mut tangent = rest.membrane;
        if self.membrane == Membrane::NeoHookean {
            let mut exact = self.neo_hookean_tangent(&f.metric(), rest);
            if curvature != Curvature::Exact {
                let mut eigen = exact.symmetric_eigen();
                eigen.eigenvalues.apply(|v| *v = v.max(0.0));
                exact = eigen.recompose();
            }
            tangent = columns(&exact);
        }
        rest.write_hessian::<N>(&f, s, moment, tangent, curvature, out.as_mut_slice());
    }

    pub(crate) fn full_hessian<const N: usize>(
        &self,
        x: &Vector<N>,
        before: Option<&Vector<N>>,
        rest: &KoiterRest,
        curvature: Curvature,
    ) -> Matrix<N, N> {
        let mut h = Matrix::<N, N>::zeros();
        self.write_hessian(x, before, rest, curvature, &mut h);
        h.fill_upper_triangle_with_lower_triangle();
        h
    }

    pub(crate) fn mixed_hessian_of<const N: usize>(
        &self,
        x: &Vector<N>,
        x_bar: &Vector<N>,
    ) -> Matrix<N, N> {
        let (f, f_bar) = (self.current(x), self.current(x_bar));
        let (a, b) = (f.metric(), f.curvature());
        let a_bar = f_bar.metric();
        // ∂(stress, moment)/∂(ā, b̄) of the law: six numbers by six, by dual numbers in ā.
        type D = Dual<f64, 3>;
        let a_dual = Vector::<3, D>::from_fn(|i, _| D::variable(a_bar[i], i));
        let stress = self.membrane_stress(&a.map(D::constant), &a_dual);
        let moment = self.bending_matrix(&a_dual) * (b - f_bar.curvature()).map(D::constant);
        let by_metric = |v: &Vector<3, D>| Matrix::<3, 3>::from_fn(|i, j| v[i].partials[j]);
        let moment_by_curvature = -self.bending_matrix(&a_bar);

        let (j, k) = (f.metric_jacobian(), f.curvature_gradients::<N>());
        let (j_bar, k_bar) = (f_bar.metric_jacobian(), f_bar.curvature_gradients::<N>());
        let mut h = k * moment_by_curvature * k_bar.transpose();
        let mut left = h.fixed_columns_mut::<9>(0);
        left += k * by_metric(&moment) * j_bar;
        let mut corners = h.fixed_view_mut::<9, 9>(0, 0);
        corners += j.tr_mul(&(by_metric(&stress) * j_bar));
        h
    }

    pub(crate) fn material_hessian_of<const N: usize>(
        &self,
        x: &Vector<N>,
        x_bar: &Vector<N>,
    ) -> Matrix<N, 8> {
        let mut h = Matrix::<N, 8>::zeros();
        for k in 0..8 {
            let mut unit = Vector::<8>::zeros();
            unit[k] = 1.0;
            let unit = self.scaled(&unit);
            h.set_column(k, &unit.gradient_of(x, &unit.rest_of(x_bar)));
        }
        h
    }

    /// The same face with the eight constants of `p`.
    pub(crate) fn scaled(&self, p: &Vector<8>) -> Self {
        let stiffness = ShellStiffness {
            membrane: std::array::from_fn(|i| p[i]),
            bending: std::array::from_fn(|i| p[4 + i]),
        };
        Self { stiffness, ..*self }
    }
}

/// The corners of a stencil.
fn corners<const N: usize>(x: &Vector<N>) -> [Triple<f64>; 3] {
    std::array::from_fn(|i| Triple([x[3 * i], x[3 * i + 1], x[3 * i + 2]]))
}
