//! How the solution of a friction problem moves with the problem, by the adjoint.
//!
//! Where every contact is strictly open, sticking or slipping, the law is a set of smooth equations G(r, u) = 0:
//!
//! > open r = 0;  stick u = 0;  slip u_N = 0, r_T + μ r_N u_T/‖u_T‖ = 0;  u = W r + b,
//!
//! so a function L(r, u) changes with W, b and μ through one solve with (∂G/∂r + ∂G/∂u W)ᵀ. Between those states (a contact that just
//! opens or just slips) there are only one-sided derivatives; those of the state that was found are given.

use nalgebra::{DMatrix, DVector};

use crate::{Solution, Status};

/// Derivatives of a function of the solution by the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// By W, row after row. W is taken as any matrix: of a symmetric change both entries count.
    pub w: Vec<f64>,
    /// By b.
    pub b: Vec<f64>,
    /// By μ of each contact: zero unless it slips.
    pub mu: Vec<f64>,
}

/// Why there are no derivatives.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SensitivityError {
    /// A vector has the wrong length.
    #[error("{what} has {found} numbers, the problem needs {expected}")]
    Length {
        /// Which vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length needed.
        expected: usize,
    },
    /// Forces that no law determines.
    #[error(
        "the forces are not unique: sticking contacts share what one of them could carry; derivatives need W to be \
         positive definite on them"
    )]
    NotUnique,
}

/// Pulls ∂L/∂r and ∂L/∂u back to W (row after row), b and μ.
pub fn sensitivity<const D: usize>(
    w: &[f64],
    mu: &[f64],
    solution: &Solution,
    dl_dr: &[f64],
    dl_du: &[f64],
) -> Result<Sensitivity, SensitivityError> {
    let size = D * mu.len();
    let lengths = [
        ("W", w.len(), size * size),
        ("the solution", solution.r.len(), size),
        ("dL/dr", dl_dr.len(), size),
        ("dL/du", dl_du.len(), size),
    ];
    if let Some(&(what, found, expected)) = lengths.iter().find(|(_, f, e)| f != e) {
        return Err(SensitivityError::Length { what, found, expected });
    }
    let w = DMatrix::from_row_slice(size, size, w);
    let (r, u) = (&solution.r, &solution.u);
    // ∂G/∂r, ∂G/∂u (both block diagonal) and ∂G/∂μ.
    let mut by_r = DMatrix::<f64>::zeros(size, size);
    let mut by_u = DMatrix::<f64>::zeros(size, size);
    let mut by_mu = DVector::<f64>::zeros(size);
    for (i, status) in solution.status.iter().enumerate() {
        let base = D * i;
        let speed = u[base + 1..base + D].iter().map(|v| v * v).sum::<f64>().sqrt();
        match status {
            Status::TakeOff => (0..D).for_each(|k| by_r[(base + k, base + k)] = 1.0),
            Status::Stick if mu[i] > 0.0 => {
                (0..D).for_each(|k| by_u[(base + k, base + k)] = 1.0);
            }
            Status::Stick | Status::Slip => {
                by_u[(base, base)] = 1.0;
                for k in 1..D {
                    by_r[(base + k, base + k)] = 1.0;
                    if speed == 0.0 {
                        continue; // without friction, and at rest
                    }
                    let t = u[base + k] / speed;
                    by_r[(base + k, base)] = mu[i] * t;
                    by_mu[base + k] = r[base] * t;
                    for l in 1..D {
                        let s = u[base + l] / speed;
                        let across = f64::from(u8::from(k == l)) - t * s;
                        by_u[(base + k, base + l)] = mu[i] * r[base] * across / speed;
                    }
                }
            }
        }
    }
    let slope = &by_r + &by_u * &w;
    let total = DVector::from_column_slice(dl_dr) + w.tr_mul(&DVector::from_column_slice(dl_du));
    let scale = slope.amax().max(f64::MIN_POSITIVE);
    let lu = slope.transpose().full_piv_lu();
    let least = lu.u().diagonal().iter().fold(f64::INFINITY, |m, v| m.min(v.abs()));
    let y = lu.solve(&total).filter(|_| size == 0 || least > 1e-13 * scale);
    let y = y.ok_or(SensitivityError::NotUnique)?;
    let b = DVector::from_column_slice(dl_du) - by_u.tr_mul(&y);
    let mut out = Vec::with_capacity(size * size);
    for row in 0..size {
        out.extend(r.iter().map(|r| b[row] * r));
    }
    let mu = (0..mu.len())
        .map(|i| -(1..D).map(|k| y[D * i + k] * by_mu[D * i + k]).sum::<f64>())
        .collect();
    Ok(Sensitivity { w: out, b: b.iter().copied().collect(), mu })
}
