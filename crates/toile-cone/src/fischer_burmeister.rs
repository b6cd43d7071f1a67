//! Fischer and Burmeister's function on the second-order cone, and its derivatives.
//!
//! f(x, y) = x + y − (x∘x + y∘y)^½ vanishes exactly where K₁ ∋ x ⟂ y ∈ K₁. Contacts enter by
//! x = (μr_N, r_T) and y = (ũ_N, μũ_T). Reference: Fukushima, Luo, Tseng 2002; Daviet, Bertails-Descoubes,
//! Boissieux 2011.

use toile_num::{Matrix, Scalar, Vector};

use crate::cone::Law;
use crate::small::tangent_norm;

/// f(x, y) in the Jordan algebra of the cone; x∘x = (‖x‖², 2x_N x_T).
///
/// Singular derivatives where x∘x + y∘y lies on the border of the cone.
pub fn fischer_burmeister<const D: usize, T: Scalar>(
    x: &Vector<D, T>,
    y: &Vector<D, T>,
) -> Vector<D, T> {
    let root = jordan_root(x, y);
    Vector::<D, T>::from_fn(|k, _| x[k] + y[k] - root[k])
}

/// (x∘x + y∘y)^½ by its spectral values λ₁ ≤ λ₂.
fn jordan_root<const D: usize, T: Scalar>(x: &Vector<D, T>, y: &Vector<D, T>) -> Vector<D, T> {
    let mut z0 = T::zero();
    for k in 0..D {
        z0 += x[k].squared() + y[k].squared();
    }
    let zt =
        Vector::<D, T>::from_fn(
            |k, _| {
                if k == 0 { T::zero() } else { (x[0] * x[k] + y[0] * y[k]) * 2.0 }
            },
        );
    let mut squared = T::zero();
    for k in 1..D {
        squared += zt[k].squared();
    }
    if squared.real() <= 0.0 {
        let mut root = Vector::<D, T>::from_fn(|_, _| T::zero());
        root[0] = if z0.real() > 0.0 { z0.sqrt() } else { T::zero() };
        return root;
    }
    let size = squared.sqrt();
    let (least, most) = (z0 - size, z0 + size);
    let s1 = if least.real() > 0.0 { least.sqrt() } else { T::zero() };
    let s2 = most.sqrt();
    Vector::<D, T>::from_fn(
        |k, _| {
            if k == 0 { (s1 + s2) * 0.5 } else { (s2 - s1) * 0.5 * zt[k] / size }
        },
    )
}

/// f with (∂f/∂x, ∂f/∂y), or elements of their generalised derivatives where there are none.
pub fn fischer_burmeister_derivatives<const D: usize>(
    x: &Vector<D>,
    y: &Vector<D>,
) -> (Vector<D>, Matrix<D, D>, Matrix<D, D>) {
    let w = jordan_root(x, y);
    let f = x + y - w;
    let t = tangent_norm(&w);
    let one = Matrix::<D, D>::identity();
    // δ = w_N² − ‖w_T‖² = √(λ₁λ₂), without cancellation of squares.
    let delta = (w[0] - t) * (w[0] + t);
    if delta > 1e-28 * w[0] * w[0] && w[0] > 0.0 {
        let inverse = arrow_inverse(&w, delta);
        return (f, one - inverse * arrow(x), one - inverse * arrow(y));
    }
    let size = x[0].hypot(y[0]);
    if size > 0.0 {
        (f, one * (1.0 - x[0] / size), one * (1.0 - y[0] / size))
    } else {
        // x = y = 0: the element of the set with equal weights.
        let c = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
        (f, one * c, one * c)
    }
}

/// L_x, the matrix of z ↦ x∘z.
fn arrow<const D: usize>(x: &Vector<D>) -> Matrix<D, D> {
    Matrix::from_fn(|i, j| {
        if i == j {
            x[0]
        } else if i == 0 {
            x[j]
        } else if j == 0 {
            x[i]
        } else {
            0.0
        }
    })
}

fn arrow_inverse<const D: usize>(w: &Vector<D>, delta: f64) -> Matrix<D, D> {
    Matrix::from_fn(|i, j| match (i, j) {
        (0, 0) => w[0] / delta,
        (0, k) | (k, 0) => -w[k] / delta,
        _ => {
            let diagonal = if i == j { delta } else { 0.0 };
            (diagonal + w[i] * w[j]) / (w[0] * delta)
        }
    })
}

/// f of a contact's force r and velocity u, where u is multiplied by ρ \[force/velocity\] so that
/// both are forces. For μ = 0 the scalar function of the normals, and r_T.
pub fn contact_fischer_burmeister<const D: usize>(
    law: Law,
    mu: f64,
    rho: f64,
    r: &Vector<D>,
    u: &Vector<D>,
) -> Vector<D> {
    if mu == 0.0 {
        let mut f = *r;
        f[0] = r[0] + rho * u[0] - r[0].hypot(rho * u[0]);
        return f;
    }
    let (x, y) = cone_pair(law, mu, rho, r, u);
    fischer_burmeister(&x, &y)
}

fn cone_pair<const D: usize>(
    law: Law,
    mu: f64,
    rho: f64,
    r: &Vector<D>,
    u: &Vector<D>,
) -> (Vector<D>, Vector<D>) {
    let mut x = *r;
    x[0] *= mu;
    let mut y = law.shifted(mu, u) * rho;
    for k in 1..D {
        y[k] *= mu;
    }
    (x, y)
}

/// f as [`contact_fischer_burmeister`], with ∂f/∂r and ∂f/∂u (r and u taken as independent).
pub fn contact_derivatives<const D: usize>(
    law: Law,
    mu: f64,
    rho: f64,
    r: &Vector<D>,
    u: &Vector<D>,
) -> (Vector<D>, Matrix<D, D>, Matrix<D, D>) {
    if mu == 0.0 {
        let f = contact_fischer_burmeister(law, mu, rho, r, u);
        let mut by_r = Matrix::<D, D>::identity();
        let mut by_u = Matrix::<D, D>::zeros();
        let size = r[0].hypot(rho * u[0]);
        let (c, s) = if size > 0.0 {
            (r[0] / size, rho * u[0] / size)
        } else {
            (std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2)
        };
        by_r[(0, 0)] = 1.0 - c;
        by_u[(0, 0)] = rho * (1.0 - s);
        return (f, by_r, by_u);
    }
    let (x, y) = cone_pair(law, mu, rho, r, u);
    let (f, by_x, by_y) = fischer_burmeister_derivatives(&x, &y);
    let mut x_by_r = Matrix::<D, D>::identity();
    x_by_r[(0, 0)] = mu;
    let mut y_by_u = Matrix::<D, D>::identity() * (rho * mu);
    y_by_u[(0, 0)] = rho;
    let t = tangent_norm(u);
    if law == Law::Coulomb && t > 0.0 {
        for k in 1..D {
            y_by_u[(0, k)] = rho * mu * u[k] / t;
        }
    }
    (f, by_x * x_by_r, by_y * y_by_u)
}
