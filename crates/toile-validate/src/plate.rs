//! Lateral buckling of a heavy thin plate by a Ritz method: a threshold that owes nothing to finite elements.
//!
//! The plate 0 ≤ x ≤ L, |y| ≤ w/2 is clamped along x = 0, with gravity along −y in its plane and h/L → 0. First the
//! plane-stress forces N(x, y) that carry the weight,
//!
//! ```text
//! ∫ N(u) : ε(δu) + ρ h g ∫ δu_y = 0,        u = 0 at x = 0,
//! ```
//!
//! then the deflection v at which bending no longer resists them (Kirchhoff),
//!
//! ```text
//! ∫ D [(Δv)² − 2(1−ν)(v_xx v_yy − v_xy²)] + ∫ N_ij v,i v,j = 0,        v = v,x = 0 at x = 0.
//! ```
//!
//! Both fields are polynomials, x^r P_a(2x−1) P_b(2y/w). N_xx and N_yy are odd in y and N_xy even, so the load couples
//! deflections even in y (bending) with odd ones (twisting) and nothing else: the threshold is the inverse of a largest
//! singular value, and gravity up or down gives the same one.
//!
//! For ν ≠ 0 the stresses are (weakly) singular at the two clamped corners, which limits the convergence to an
//! algebraic rate; the deflection vanishes there, so that the thresholds have four digits all the same.

use crate::quadrature::{gauss_legendre, legendre};
use nalgebra::DMatrix;

/// Why a threshold was not computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlateError {
    /// Outside the range where the method was checked.
    #[error("width {w_over_l} L; use a ratio w/L from 0.01 to 2")]
    Width {
        /// w/L.
        w_over_l: f64,
    },
    /// No such isotropic sheet.
    #[error("Poisson's ratio {nu}; use a number from -0.9 to 0.5")]
    Poisson {
        /// ν.
        nu: f64,
    },
    /// Fewer polynomials than a threshold needs, or so many that the matrices lose definiteness to rounding.
    #[error("{0} polynomials; use 2 to 40 along the length and 2 to 30 across")]
    Degree(usize),
    /// A stiffness matrix lost its positive definiteness to rounding.
    #[error(
        "the {0} stiffness is not positive definite in double precision; use fewer polynomials"
    )]
    Rounding(&'static str),
}

/// Numbers of polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Along the length, in each in-plane displacement.
    pub membrane_along: usize,
    /// Across the width, even and odd together.
    pub membrane_across: usize,
    /// Along the length, in the deflection.
    pub bending_along: usize,
    /// Across the width, even and odd together.
    pub bending_across: usize,
}

impl Default for Resolution {
    /// Thresholds within 0.02 % for w/L from 0.1 to 1, in a few tenths of a second.
    ///
    /// The membrane converges fast; the deflection needs its polynomials along the length, for the layer of width w
    /// at the clamp, and across it for ν ≠ 0, for the corners.
    fn default() -> Self {
        Self { membrane_along: 14, membrane_across: 10, bending_along: 26, bending_across: 14 }
    }
}

/// Γ*_c = ρ h g L³ / D at which a plate of width w/L = `w_over_l` and Poisson's ratio `nu` leaves its vertical plane.
///
/// Check: `published_thresholds_are_reproduced` (0.02 %), `narrow_plates_tend_to_the_rod`, `more_polynomials_change_little`.
pub fn lateral_buckling_threshold(w_over_l: f64, nu: f64) -> Result<f64, PlateError> {
    lateral_buckling_threshold_at(w_over_l, nu, Resolution::default())
}

/// The same with a chosen resolution, to see the threshold converge (from above in the bending basis).
pub fn lateral_buckling_threshold_at(
    w_over_l: f64,
    nu: f64,
    resolution: Resolution,
) -> Result<f64, PlateError> {
    if !(0.01..=2.0).contains(&w_over_l) {
        return Err(PlateError::Width { w_over_l });
    }
    if !(-0.9..=0.5).contains(&nu) {
        return Err(PlateError::Poisson { nu });
    }
    let Resolution { membrane_along, membrane_across, bending_along, bending_across } = resolution;
    for (count, most) in
        [(membrane_along, 40), (membrane_across, 30), (bending_along, 40), (bending_across, 30)]
    {
        if !(2..=most).contains(&count) {
            return Err(PlateError::Degree(count));
        }
    }
    let grid = Grid::new(w_over_l, resolution);
    let forces = grid.gravity_forces(nu, resolution)?;
    let bending = |parity| {
        let field = grid.sample(2, bending_along, parity, bending_across);
        // √ of the energy density as three rows: (Δv)² − 2(1−ν)(v_xx v_yy − v_xy²)
        //   = (v_xx + ν v_yy)² + (1−ν²) v_yy² + 2(1−ν) v_xy².
        let rows = [
            &field.xx + &field.yy * nu,
            &field.yy * (1.0 - nu * nu).sqrt(),
            &field.xy * (2.0 * (1.0 - nu)).sqrt(),
        ];
        let stiffness = grid.gram(&rows);
        stiffness.cholesky().map(|c| (field, c.l())).ok_or(PlateError::Rounding("bending"))
    };
    let (even, even_root) = bending(Parity::Even)?;
    let (odd, odd_root) = bending(Parity::Odd)?;
    // ∫ N_ij v,i v,j between an even and an odd deflection.
    let scaled = |a: &DMatrix<f64>, n: &[f64]| {
        DMatrix::from_fn(a.nrows(), a.ncols(), |q, c| a[(q, c)] * n[q] * grid.weights[q])
    };
    let along = scaled(&odd.x, &forces.xx) + scaled(&odd.y, &forces.xy);
    let across = scaled(&odd.x, &forces.xy) + scaled(&odd.y, &forces.yy);
    let coupling = even.x.tr_mul(&along) + even.y.tr_mul(&across);

    let rounding = PlateError::Rounding("bending");
    let left = even_root.solve_lower_triangular(&coupling).ok_or(rounding.clone())?;
    let both = odd_root.solve_lower_triangular(&left.transpose()).ok_or(rounding)?;
    Ok(1.0 / both.singular_values().max())
}

/// Symmetry of a field about the centreline y = 0.
#[derive(Clone, Copy, PartialEq)]
enum Parity {
    Even,
    Odd,
}

/// Quadrature over the plate with L = 1.
#[doc(hidden)] // public for its test
pub struct Grid {
    width: f64,
    /// (x, 2y/w) of each point.
    pub points: Vec<(f64, f64)>,
    pub weights: Vec<f64>,
}

/// A basis and its derivatives at every point of the grid: one row per point, one column per polynomial.
struct Field {
    value: DMatrix<f64>,
    x: DMatrix<f64>,
    y: DMatrix<f64>,
    xx: DMatrix<f64>,
    xy: DMatrix<f64>,
    yy: DMatrix<f64>,
}

/// N / (ρ h g L) at every point of the grid.
#[doc(hidden)]
pub struct Forces {
    pub xx: Vec<f64>,
    pub xy: Vec<f64>,
    yy: Vec<f64>,
}

impl Grid {
    /// Enough points to integrate membrane force × slope² exactly.
    pub fn new(width: f64, r: Resolution) -> Self {
        let rule = |membrane: usize, bending: usize| {
            gauss_legendre(membrane.max(membrane / 2 + bending) + 3)
        };
        let along = rule(r.membrane_along, r.bending_along);
        let across = rule(r.membrane_across, r.bending_across);
        let mut grid = Self { width, points: Vec::new(), weights: Vec::new() };
        for (t, a) in along {
            for &(eta, b) in &across {
                grid.points.push((0.5 * (1.0 + t), eta));
                grid.weights.push(0.25 * a * b * width);
            }
        }
        grid
    }

    /// x^order P_a(2x−1) P_b(2y/w) with b of one parity below `across`.
    fn sample(&self, order: i32, along: usize, parity: Parity, across: usize) -> Field {
        let first = if parity == Parity::Even { 0 } else { 1 };
        let rows: Vec<usize> = (first..across).step_by(2).collect();
        let zeros = DMatrix::zeros(self.points.len(), along * rows.len());
        let mut field = Field {
            value: zeros.clone(),
            x: zeros.clone(),
            y: zeros.clone(),
            xx: zeros.clone(),
            xy: zeros.clone(),
            yy: zeros,
        };
        let r = f64::from(order);
        let dy = 2.0 / self.width;
        for (q, &(x, eta)) in self.points.iter().enumerate() {
            let (px, py) = (legendre(along, 2.0 * x - 1.0), legendre(across, eta));
            let (f, f1, f2) =
                (x.powi(order), r * x.powi(order - 1), r * (r - 1.0) * x.powi(order - 2));
            for (a, p) in px.iter().enumerate() {
                let (p0, p1, p2) = (p[0], 2.0 * p[1], 4.0 * p[2]);
                let (g, g1, g2) = (f * p0, f1 * p0 + f * p1, f2 * p0 + 2.0 * f1 * p1 + f * p2);
                for (b, &row) in rows.iter().enumerate() {
                    let (h, h1, h2) = (py[row][0], py[row][1] * dy, py[row][2] * dy * dy);
                    let at = (q, a * rows.len() + b);
                    field.value[at] = g * h;
                    field.x[at] = g1 * h;
                    field.y[at] = g * h1;
                    field.xx[at] = g2 * h;
                    field.xy[at] = g1 * h1;
                    field.yy[at] = g * h2;
                }
            }
        }
        field
    }

    /// Σ ∫ rowᵀ row.
    fn gram(&self, rows: &[DMatrix<f64>]) -> DMatrix<f64> {
        let size = rows[0].ncols();
        rows.iter().fold(DMatrix::zeros(size, size), |sum, row| {
            let weighted =
                DMatrix::from_fn(row.nrows(), size, |q, c| row[(q, c)] * self.weights[q].sqrt());
            sum + weighted.tr_mul(&weighted)
        })
    }

    /// Plane stress under the weight; E h/(1−ν²) = 1 since the forces do not depend on it.
    pub fn gravity_forces(&self, nu: f64, r: Resolution) -> Result<Forces, PlateError> {
        // u_x is odd and u_y even in y.
        let u = self.sample(1, r.membrane_along, Parity::Odd, r.membrane_across);
        let v = self.sample(1, r.membrane_along, Parity::Even, r.membrane_across);
        let join = |a: DMatrix<f64>, b: DMatrix<f64>| {
            let (points, first, second) = (a.nrows(), a.ncols(), b.ncols());
            let mut out = DMatrix::zeros(points, first + second);
            out.columns_mut(0, first).copy_from(&a);
            out.columns_mut(first, second).copy_from(&b);
            out
        };
        // √ of the energy: (ε_xx + ν ε_yy)² + (1−ν²) ε_yy² + (1−ν)/2 γ².
        let (n_xx, e_yy) = (join(u.x, &v.y * nu), join(u.value.clone() * 0.0, v.y));
        let shear = join(u.y, v.x);
        let stiffness = self.gram(&[
            n_xx.clone(),
            &e_yy * (1.0 - nu * nu).sqrt(),
            &shear * (0.5 * (1.0 - nu)).sqrt(),
        ]);
        let value = join(u.value * 0.0, v.value);
        let load = -value.tr_mul(&nalgebra::DVector::from_column_slice(&self.weights));
        let solution = stiffness.cholesky().ok_or(PlateError::Rounding("membrane"))?.solve(&load);
        let (xx, strain_yy, gamma) = (&n_xx * &solution, &e_yy * &solution, &shear * &solution);
        Ok(Forces {
            // N_yy = ν N_xx + (1−ν²) ε_yy.
            yy: (&xx * nu + strain_yy * (1.0 - nu * nu)).as_slice().to_vec(),
            xx: xx.as_slice().to_vec(),
            xy: (gamma * (0.5 * (1.0 - nu))).as_slice().to_vec(),
        })
    }
}
