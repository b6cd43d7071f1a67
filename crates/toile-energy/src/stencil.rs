//! What every energy offers, and the check every energy passes.

use toile_num::lanes::LANES;
use toile_num::{
    Dual, Matrix, Scalar, ScalarFunction, Vector, assert_close, gradient_of, hessian_of,
};

/// Which second derivative a solver asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// The exact Hessian.
    Exact,
    /// A nearby positive semi-definite matrix, in closed form: the part of the Hessian that comes
    /// from the law, and of the geometric part only what tension contributes.
    Positive,
    /// What the law alone makes of strains that change: Jᵀ C J with the strains' derivatives J and a positive semi-definite C. Motions that
    /// strain nothing, turns among them, meet no resistance whatever the stress; supports and threads, which have no strain, none at all. What
    /// internal damping is made of.
    Material,
}

/// [`LANES`] stencils to be worked on together.
#[derive(Debug)]
pub struct Together<'a, E: StencilEnergy<N>, const N: usize> {
    /// Their energies.
    pub energies: [&'a E; LANES],
    /// Their rest quantities.
    pub rests: [&'a E::Rest; LANES],
    /// Their coordinates, those of one number side by side.
    pub x: &'a [[f64; LANES]; N],
    /// Their coordinates before the last move, where [`StencilEnergy::secant_hessian`] is asked for.
    pub before: Option<&'a [[f64; LANES]; N]>,
}

/// Energy of one stencil with `N` coordinates, current x and rest x̄.
///
/// What depends on x̄ alone can be kept in `Rest`, an explicit function of x̄.
pub trait StencilEnergy<const N: usize> {
    /// Number of coordinates of each node of the stencil, in order: 3 for a point, 1 for an angle.
    const NODES: &'static [u8];
    /// Whether moving all points together changes nothing; then the solver may hand over
    /// coordinates relative to the first point, which keeps small edges exact far from the origin.
    const TRANSLATION_INVARIANT: bool = true;
    /// Whether the energy is linear in x, so that its Hessian need not be assembled.
    const LINEAR: bool = false;
    /// Whether several stencils can be worked on together, as [`StencilEnergy::energy_together`] does.
    const TOGETHER: bool = false;
    /// How many of its nodes, the first ones, the stiff part of the energy joins: what it says of pairs with others is weak,
    /// as bending is beside stretching. All of them by default.
    const CORE: usize = Self::NODES.len();
    /// What the rest shape contributes.
    type Rest: Clone + Send + Sync;

    /// The constants that follow from the rest shape.
    fn rest(&self, x_bar: &Vector<N>) -> Self::Rest;
    /// E(x, x̄) \[J\], for any scalar: `f64` to simulate, dual numbers to check.
    fn value<T: Scalar>(&self, x: &Vector<N, T>, x_bar: &Vector<N, T>) -> T;
    /// E \[J\] from prepared rest quantities.
    fn energy(&self, x: &Vector<N>, rest: &Self::Rest) -> f64;
    /// ∂E/∂x \[N\].
    fn gradient(&self, x: &Vector<N>, rest: &Self::Rest) -> Vector<N>;
    /// ∂²E/∂x² \[N/m\].
    fn hessian(&self, x: &Vector<N>, rest: &Self::Rest, curvature: Curvature) -> Matrix<N, N>;
    /// [`StencilEnergy::hessian`] with the membrane stress that a linear law of motion would have
    /// made of the move from `before` to x.
    ///
    /// A long Newton step turns edges and thereby stretches them; the stress of that stretch is gone
    /// after the next step, but until then it stiffens the Hessian against every further turn. Taking the stress
    /// from the linearised strain instead is Newton's method on stresses and positions together.
    /// It differs from the Hessian by the square of the move. Reference: Magisano, Leonetti, Garcea 2017.
    fn secant_hessian(
        &self,
        x: &Vector<N>,
        _before: &Vector<N>,
        rest: &Self::Rest,
        curvature: Curvature,
    ) -> Matrix<N, N> {
        self.hessian(x, rest, curvature)
    }
    /// [`StencilEnergy::hessian`], or given `before` [`StencilEnergy::secant_hessian`], written over the lower triangle of
    /// `out`; what lies above may be anything. What assembly calls: no copy, no mirrored half.
    fn hessian_into(
        &self,
        x: &Vector<N>,
        before: Option<&Vector<N>>,
        rest: &Self::Rest,
        curvature: Curvature,
        out: &mut Matrix<N, N>,
    ) {
        *out = match before {
            None => self.hessian(x, rest, curvature),
            Some(before) => self.secant_hessian(x, before, rest, curvature),
        };
    }
    /// E of [`LANES`] stencils at once, or `None` where they must be taken one by one; so for the two below.
    fn energy_together(_stencils: &Together<'_, Self, N>) -> Option<[f64; LANES]>
    where
        Self: Sized,
    {
        None
    }
    /// ∂E/∂x of [`LANES`] stencils at once, the numbers of one coordinate side by side; E, which comes with it, is returned.
    fn gradient_together(
        _stencils: &Together<'_, Self, N>,
        _out: &mut [f64],
    ) -> Option<[f64; LANES]>
    where
        Self: Sized,
    {
        None
    }
    /// [`StencilEnergy::hessian_into`] of [`LANES`] stencils at once, the numbers of one entry side by side.
    fn hessian_together(
        _stencils: &Together<'_, Self, N>,
        _curvature: Curvature,
        _out: &mut [f64],
    ) -> bool
    where
        Self: Sized,
    {
        false
    }
    /// ∂²E/∂x∂x̄ \[N/m\], row x, column x̄.
    fn mixed_hessian(&self, x: &Vector<N>, x_bar: &Vector<N>) -> Matrix<N, N>;
    /// Names of the material parameters p; none by default. See [`MaterialEnergy`].
    fn material_names() -> &'static [&'static str] {
        &[]
    }
    /// λᵀ ∂²E/∂x∂p, one number per name, added to `out`: what an adjoint λ makes of the material.
    fn add_material_product(
        &self,
        _x: &Vector<N>,
        _x_bar: &Vector<N>,
        _lambda: &Vector<N>,
        _out: &mut [f64],
    ) {
    }
}

/// [`StencilEnergy::add_material_product`] by [`MaterialEnergy::material_hessian`].
pub(crate) fn material_product<const N: usize, const P: usize, E: MaterialEnergy<N, P>>(
    energy: &E,
    x: &Vector<N>,
    x_bar: &Vector<N>,
    lambda: &Vector<N>,
    out: &mut [f64],
) {
    let product = energy.material_hessian(x, x_bar).transpose() * lambda;
    for (sum, part) in out.iter_mut().zip(product.iter()) {
        *sum += part;
    }
}

/// An energy that depends on `P` material parameters.
pub trait MaterialEnergy<const N: usize, const P: usize>: StencilEnergy<N> {
    /// Names of the parameters, as in scene files where they have one.
    const PARAMETERS: [&'static str; P];
    /// Their values.
    fn parameters(&self) -> Vector<P>;
    /// The same energy with other parameters.
    fn with_parameters(&self, p: &Vector<P>) -> Self;
    /// ∂²E/∂x∂p, row x, column p.
    fn material_hessian(&self, x: &Vector<N>, x_bar: &Vector<N>) -> Matrix<N, P>;
}

/// Checks gradient, Hessian and mixed Hessian against dual numbers, to 1e-11 of their size.
///
/// Panics with the figures when one differs, or when one is zero and so tests nothing.
#[track_caller]
pub fn check_derivatives<const N: usize, E: StencilEnergy<N>>(
    energy: &E,
    x: &Vector<N>,
    x_bar: &Vector<N>,
) {
    struct InX<'a, E, const N: usize>(&'a E, &'a Vector<N>);
    impl<const N: usize, E: StencilEnergy<N>> ScalarFunction<N> for InX<'_, E, N> {
        fn call<T: Scalar>(&self, x: &Vector<N, T>) -> T {
            self.0.value(x, &self.1.map(T::constant))
        }
    }
    let in_x = InX(energy, x_bar);
    let rest = energy.rest(x_bar);
    let value = in_x.call(x);
    let found = energy.energy(x, &rest);
    assert!((value - found).abs() <= 1e-12 * value.abs(), "energy {found:e}, generic {value:e}");
    let tolerance = 1e-11;
    assert_close("gradient", &energy.gradient(x, &rest), &gradient_of(&in_x, x), tolerance);
    let oracle = hessian_of(&in_x, x);
    if oracle.amax() > 0.0 {
        let found = energy.hessian(x, &rest, Curvature::Exact);
        assert_close("hessian", &found, &oracle, tolerance);
    } else {
        assert_eq!(
            energy.hessian(x, &rest, Curvature::Exact).amax(),
            0.0,
            "hessian of a linear energy"
        );
    }
    let positive = energy.hessian(x, &rest, Curvature::Positive);
    let least = least_eigenvalue(&positive);
    assert!(least >= -1e-10 * positive.amax(), "positive curvature has eigenvalue {least:e}");

    let material = energy.hessian(x, &rest, Curvature::Material);
    let least = least_eigenvalue(&material);
    assert!(least >= -1e-10 * material.amax(), "material curvature has eigenvalue {least:e}");
    let gradient = energy.gradient(x, &rest);
    for axis in 0..3 {
        let turn = turning::<N, E>(x, axis);
        // An energy of what is fixed in space (a plane of symmetry) may well resist.
        if gradient.dot(&turn).abs() > 1e-10 * gradient.amax() * turn.amax() {
            continue;
        }
        let resisted = (material * turn).amax();
        assert!(
            resisted <= 1e-10 * material.amax() * turn.amax(),
            "material curvature resists a turn by {resisted:e}"
        );
    }

    // ∂²E/∂x∂x̄ column by column: one dual direction in x̄ inside the gradient's dual numbers.
    let mut mixed = Matrix::<N, N>::zeros();
    for j in 0..N {
        let column = gradient_of(&InRest { energy, x_bar, column: j }, x);
        mixed.set_column(j, &column);
    }
    let found = energy.mixed_hessian(x, x_bar);
    if mixed.amax() > 0.0 {
        assert_close("mixed hessian", &found, &mixed, tolerance);
    } else {
        assert_eq!(found.amax(), 0.0, "mixed hessian of an energy without a rest shape");
    }
}

/// x ↦ ∂E/∂x̄ⱼ (x, x̄).
struct InRest<'a, E, const N: usize> {
    energy: &'a E,
    x_bar: &'a Vector<N>,
    column: usize,
}

impl<const N: usize, E: StencilEnergy<N>> ScalarFunction<N> for InRest<'_, E, N> {
    fn call<T: Scalar>(&self, x: &Vector<N, T>) -> T {
        let x = x.map(|v| Dual::<T, 1> { value: v, partials: [T::zero()] });
        let x_bar = Vector::<N, Dual<T, 1>>::from_fn(|i, _| {
            let v = T::constant(self.x_bar[i]);
            let d = if i == self.column { T::one() } else { T::zero() };
            Dual { value: v, partials: [d] }
        });
        self.energy.value(&x, &x_bar).partials[0]
    }
}

/// Checks `material_hessian` against a difference of gradients, exact because the energy is linear in
/// its parameters.
#[track_caller]
pub fn check_material<const N: usize, const P: usize, E: MaterialEnergy<N, P>>(
    energy: &E,
    x: &Vector<N>,
    x_bar: &Vector<N>,
) {
    let mut expected = Matrix::<N, P>::zeros();
    let gradient = |e: &E| e.gradient(x, &e.rest(x_bar));
    for k in 0..P {
        let p = energy.parameters();
        let step = 0.5 * (1.0 + p[k].abs());
        let (mut above, mut below) = (p, p);
        above[k] += step;
        below[k] -= step;
        let slope = (gradient(&energy.with_parameters(&above))
            - gradient(&energy.with_parameters(&below)))
            / (2.0 * step);
        expected.set_column(k, &slope);
    }
    assert_close("material", &energy.material_hessian(x, x_bar), &expected, 1e-10);
}

/// Velocities of the coordinates when everything turns about an axis through the origin; angles stay.
fn turning<const N: usize, E: StencilEnergy<N>>(x: &Vector<N>, axis: usize) -> Vector<N> {
    let mut turn = Vector::<N>::zeros();
    let mut at = 0;
    for &size in E::NODES {
        if size == 3 {
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            turn[at + next] = -x[at + last];
            turn[at + last] = x[at + next];
        }
        at += size as usize;
    }
    turn
}

fn least_eigenvalue<const N: usize>(m: &Matrix<N, N>) -> f64 {
    let dynamic = nalgebra::DMatrix::from_fn(N, N, |i, j| m[(i, j)]);
    dynamic.symmetric_eigenvalues().min()
}
