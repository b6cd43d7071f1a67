//! What the rest shape of a Koiter face contributes, and the quadratic law built on it, for any number of faces at once.

use toile_geometry::measure::{FaceForms, FormDerivatives};
use toile_num::Matrix;
use toile_num::lanes::{Entries, Lanes, Triple};

use crate::Curvature;

/// Rest forms and stiffness of a face in the basis of the forms.
#[derive(Clone, Copy, Debug)]
pub struct KoiterRest<T = f64> {
    pub(crate) a_bar: [T; 3],
    pub(crate) b_bar: [T; 3],
    /// Hessian of the St Venant–Kirchhoff membrane energy in a, by columns.
    pub(crate) membrane: [[T; 3]; 3],
    /// Hessian of the bending energy in (b₀, b₁, b₂), by columns.
    pub(crate) bending: [[T; 3]; 3],
    pub(crate) area: T,
}

/// A matrix as an array of columns.
pub(crate) fn columns(m: &Matrix<3, 3>) -> [[f64; 3]; 3] {
    std::array::from_fn(|j| std::array::from_fn(|i| m[(i, j)]))
}

#[inline(always)]
fn difference<T: Lanes>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// m v of a symmetric matrix.
#[inline(always)]
fn product<T: Lanes>(m: &[[T; 3]; 3], v: &[T; 3]) -> [T; 3] {
    let ([a, b, c], v) = ([Triple(m[0]), Triple(m[1]), Triple(m[2])], Triple(*v));
    [a.dot(v), b.dot(v), c.dot(v)]
}

/// ½ v·m v.
#[inline(always)]
fn quadratic<T: Lanes>(m: &[[T; 3]; 3], v: &[T; 3]) -> T {
    v[0].like(0.5) * Triple(*v).dot(Triple(product(m, v)))
}

/// Metric after the move from `before` to x, to first order in it: 2 e·f − e·e and so on.
#[inline(always)]
pub(crate) fn linear_metric<T: Lanes>(x: &[Triple<T>; 3], before: &[Triple<T>; 3]) -> [T; 3] {
    let (e1, e2) = (before[1] - before[0], before[2] - before[0]);
    let (f1, f2) = (x[1] - x[0], x[2] - x[0]);
    let two = e1[0].like(2.0);
    [
        two * e1.dot(f1) - e1.dot(e1),
        e1.dot(f2) + e2.dot(f1) - e1.dot(e2),
        two * e2.dot(f2) - e2.dot(e2),
    ]
}

impl<T: Lanes> KoiterRest<T> {
    #[inline(always)]
    pub(crate) fn membrane_energy(&self, f: &FaceForms<T>) -> T {
        quadratic(&self.membrane, &difference(&f.metric_lanes(), &self.a_bar))
    }

    #[inline(always)]
    pub(crate) fn bending_energy(&self, f: &FaceForms<T>) -> T {
        quadratic(&self.bending, &difference(&f.curvature_lanes(), &self.b_bar))
    }

    /// Energy of a St Venant–Kirchhoff face.
    #[inline(always)]
    pub(crate) fn energy(&self, f: &FaceForms<T>) -> T {
        self.membrane_energy(f) + self.bending_energy(f)
    }

    /// ∂/∂a of the St Venant–Kirchhoff membrane energy.
    #[inline(always)]
    pub(crate) fn membrane_stress(&self, metric: &[T; 3]) -> [T; 3] {
        product(&self.membrane, &difference(metric, &self.a_bar))
    }

    /// ∂/∂b of the bending energy.
    #[inline(always)]
    pub(crate) fn moment(&self, f: &FaceForms<T>) -> [T; 3] {
        product(&self.bending, &difference(&f.curvature_lanes(), &self.b_bar))
    }

    /// Hessian in x, in the lower triangle of `out`, from the gradients `s` in a and `moment` in b and the membrane's `tangent`.
    #[inline(always)]
    pub(crate) fn write_hessian<const N: usize>(
        &self,
        f: &FaceForms<T>,
        s: [T; 3],
        moment: [T; 3],
        tangent: [[T; 3]; 3],
        curvature: Curvature,
        out: &mut (impl Entries<T> + ?Sized),
    ) {
        let (two, zero) = (s[0].like(2.0), s[0].like(0.0));
        let geometric = [two * s[0], s[1], two * s[2]];
        let derivatives = FormDerivatives {
            metric_tangent: tangent,
            metric_geometric: match curvature {
                Curvature::Exact => geometric,
                Curvature::Positive => positive_part(geometric),
                Curvature::Material => [zero; 3],
            },
            curvature_gradient: moment,
            curvature_tangent: self.bending,
            curvature_second_order: curvature == Curvature::Exact,
        };
        f.hessian_into::<N>(&derivatives, out);
    }
}

/// Nearest positive semi-definite matrix to [g₁₁, g₁₂; g₁₂, g₂₂], as (g₁₁, g₁₂, g₂₂).
#[doc(hidden)] // public for its test
#[inline(always)]
pub fn positive_part<T: Lanes>([g11, g12, g22]: [T; 3]) -> [T; 3] {
    let (zero, half) = (g11.like(0.0), g11.like(0.5));
    let (mean, apart) = (half * (g11 + g22), half * (g11 - g22));
    let radius = (apart * apart + g12 * g12).sqrt();
    // (λ/2r) (G − λ′ I) with the eigenvalues λ = m + r > 0 > λ′ = m − r.
    let (high, low) = (mean + radius, mean - radius);
    let factor = high / (radius + radius);
    let mixed = [factor * (g11 - low), factor * g12, factor * (g22 - low)];
    let negative = -radius - mean;
    [
        low.choose(g11, negative.choose(zero, mixed[0])),
        low.choose(g12, negative.choose(zero, mixed[1])),
        low.choose(g22, negative.choose(zero, mixed[2])),
    ]
}
