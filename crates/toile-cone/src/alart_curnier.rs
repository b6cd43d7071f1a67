//! Alart and Curnier's function of a contact, and its generalised derivatives.

use toile_num::{Matrix, Vector};

use crate::cone::{Law, project_cone, project_cone_derivative, project_disc};
use crate::small::{tangent, tangent_norm};

/// F = r − (max(0, r_N − ρu_N), Π_{μ max(0, r_N)}(r_T − ρu_T)), zero exactly where Coulomb's law
/// holds; for the plain cone the natural map r − Π_K(r − ρu). In units of force.
///
/// Reference: Alart, Curnier 1991.
pub fn contact_residual<const D: usize>(
    law: Law,
    mu: f64,
    rho: f64,
    r: &Vector<D>,
    u: &Vector<D>,
) -> Vector<D> {
    let z = r - u * rho;
    match law {
        Law::Coulomb => {
            let radius = mu * r[0].max(0.0);
            // Inside the disc r_T − z_T, which forces far above ρu must not absorb.
            let mut f =
                if tangent_norm(&z) <= radius { u * rho } else { r - project_disc(radius, &z) };
            f[0] = r[0].min(rho * u[0]);
            f
        }
        Law::SecondOrderCone if tangent_norm(&z) <= mu * z[0] => u * rho,
        Law::SecondOrderCone => r - project_cone(mu, &z),
    }
}

/// F with radius μ max(0, r_N − ρu_N), which the pushed-on normal force sets, and elements of
/// (∂F/∂r, ∂F/∂u), r and u taken as independent.
pub fn linearised<const D: usize>(
    law: Law,
    mu: f64,
    rho: f64,
    r: &Vector<D>,
    u: &Vector<D>,
) -> (Vector<D>, Matrix<D, D>, Matrix<D, D>) {
    let z = r - u * rho;
    let one = Matrix::<D, D>::identity();
    // F = r − P(z): ∂F/∂r = 1 − P', ∂F/∂u = ρP'.
    let (p, slope) = match law {
        Law::SecondOrderCone => (project_cone(mu, &z), project_cone_derivative(mu, &z)),
        Law::Coulomb if z[0] <= 0.0 => (Vector::zeros(), Matrix::zeros()),
        Law::Coulomb => {
            let t = tangent_norm(&z);
            let radius = mu * z[0];
            if t <= radius {
                (z, one)
            } else {
                let along = tangent(&z) / t;
                let mut p = along * radius;
                p[0] = z[0];
                let mut slope = (one - along * along.transpose()) * (radius / t);
                slope.set_column(0, &(along * mu));
                slope[(0, 0)] = 1.0;
                (p, slope)
            }
        }
    };
    let f = if p == z { u * rho } else { r - p };
    (f, one - slope, slope * rho)
}
