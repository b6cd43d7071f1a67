//! Elastic constants of sheets: from moduli to stiffness per width.

use toile_num::{Matrix, Scalar};

/// Stiffness of an orthotropic sheet in its warp–weft frame, for (ε₁₁, ε₂₂, 2ε₁₂) and
/// (κ₁₁, κ₂₂, 2κ₁₂).
///
/// Each is [c11, c12, 0; c12, c22, 0; 0, 0, c66], stored as [c11, c12, c22, c66].
/// Isotropic: c11 = c22 = E h/(1−ν²), c12 = ν c11, c66 = E h/(2(1+ν)); bending the same times h²/12,
/// so that its c11 is the plate modulus D = E h³/(12(1−ν²)).
/// Reference: Ly 2021, appendix A (2D).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShellStiffness {
    /// Force per width and strain \[N/m\].
    pub membrane: [f64; 4],
    /// Moment per width and curvature \[N·m\].
    pub bending: [f64; 4],
}

impl ShellStiffness {
    /// Isotropic sheet of Young's modulus `young` \[Pa\], Poisson's ratio `poisson`, `thickness` \[m\].
    pub fn isotropic(young: f64, poisson: f64, thickness: f64) -> Self {
        let shear = young / (2.0 * (1.0 + poisson));
        Self::orthotropic([young, young], poisson, shear, thickness)
    }

    /// Orthotropic sheet: moduli along warp and weft \[Pa\], ν₁₂ (contraction along weft under
    /// tension along warp), shear modulus \[Pa\], thickness \[m\]. ν₂₁ = ν₁₂ E₂/E₁.
    pub fn orthotropic(young: [f64; 2], poisson: f64, shear: f64, thickness: f64) -> Self {
        let [membrane, bending] = Self::constants(young, poisson, shear, thickness);
        Self { membrane, bending }
    }

    /// [membrane; bending] of [`ShellStiffness::orthotropic`] for any scalar: dual numbers give their derivatives.
    pub fn constants<T: Scalar>(young: [T; 2], poisson: T, shear: T, thickness: T) -> [[T; 4]; 2] {
        let [e1, e2] = young;
        let denominator = T::one() - poisson * poisson * e2 / e1;
        let plane = [e1 / denominator, poisson * e2 / denominator, e2 / denominator, shear];
        let cube = thickness * thickness * thickness / 12.0;
        [plane.map(|c| c * thickness), plane.map(|c| c * cube)]
    }

    /// The same sheet with the isotropic plate modulus `d` \[N·m\] in place of what its thickness
    /// implies, Poisson's ratio kept: woven cloth bends far more easily than a solid sheet.
    pub fn with_plate_modulus(self, d: f64) -> Self {
        Self { bending: Self::plate_constants(self.membrane, d), ..self }
    }

    /// Bending constants of [`ShellStiffness::with_plate_modulus`] for any scalar.
    pub fn plate_constants<T: Scalar>(membrane: [T; 4], d: T) -> [T; 4] {
        let factor = d / (membrane[0] * membrane[2]).sqrt();
        membrane.map(|c| c * factor)
    }

    /// [c11, c12, 0; c12, c22, 0; 0, 0, c66].
    pub(crate) fn matrix<T: Scalar>(c: &[f64; 4]) -> Matrix<3, 3, T> {
        let z = T::zero();
        let [c11, c12, c22, c66] = c.map(T::constant);
        Matrix::<3, 3, T>::new(c11, c12, z, c12, c22, z, z, z, c66)
    }

    /// Whether both matrices are positive definite, without which nothing is stable.
    pub fn is_positive(&self) -> bool {
        [self.membrane, self.bending]
            .iter()
            .all(|[a, b, c, d]| *a > 0.0 && *c > 0.0 && *d > 0.0 && a * c > b * b)
    }
}

/// Stiffness matrix of a three-dimensional orthotropic solid for
/// (ε₁₁, ε₂₂, ε₃₃, ε₂₃, ε₁₃, ε₁₂), tensor shear strains (hence 2G on the diagonal).
///
/// `young` = (E₁, E₂, E₃), `poisson` = (ν₁₂, ν₁₃, ν₂₃), `shear` = (G₂₃, G₁₃, G₁₂) \[Pa\]; the other
/// ratios follow from νᵢⱼ/Eᵢ = νⱼᵢ/Eⱼ. Reference: Ly 2021, eq. A.5 with its signs and the C₂₃ prefactor
/// corrected. Check: `orthotropic_stiffness_inverts_the_compliance`.
pub fn orthotropic_3d(young: [f64; 3], poisson: [f64; 3], shear: [f64; 3]) -> Matrix<6, 6> {
    let [e1, e2, e3] = young;
    let [n12, n13, n23] = poisson;
    let (n21, n31, n32) = (n12 * e2 / e1, n13 * e3 / e1, n23 * e3 / e2);
    let delta = 1.0 - n12 * n21 - n13 * n31 - n23 * n32 - 2.0 * n12 * n23 * n31;
    let c12 = e2 * (n12 + n13 * n32) / delta;
    let c13 = e3 * (n13 + n12 * n23) / delta;
    let c23 = e3 * (n23 + n13 * n21) / delta;
    let mut c = Matrix::<6, 6>::zeros();
    c[(0, 0)] = e1 * (1.0 - n23 * n32) / delta;
    c[(1, 1)] = e2 * (1.0 - n13 * n31) / delta;
    c[(2, 2)] = e3 * (1.0 - n12 * n21) / delta;
    for (i, j, value) in [(0, 1, c12), (0, 2, c13), (1, 2, c23)] {
        c[(i, j)] = value;
        c[(j, i)] = value;
    }
    for k in 0..3 {
        c[(3 + k, 3 + k)] = 2.0 * shear[k];
    }
    c
}
