//! How the equilibrium of a scene moves with its rest shapes, materials and supports.

use toile_energy::ShellStiffness;
use toile_inverse::{Adjoint, InverseError};
use toile_io::{Bending, Koiter, LoadedShell, Material, Rest, Young};
use toile_num::{Dual, Scalar};

use crate::Drape;

/// Derivatives of a function of the equilibrium by what one shell is made of, in the units and axes of its files.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellGradient {
    /// By the rest position of each vertex; masses follow the rest shape. For `rest = "uv"` by the pattern, z unused.
    pub rest: Vec<[f64; 3]>,
    /// By the position of each vertex that is pinned or sticks to a collider; zero elsewhere, where the start does not matter.
    pub supports: Vec<[f64; 3]>,
    /// By each number of the material and the density, under its name in the scene file.
    pub parameters: Vec<(&'static str, Vec<f64>)>,
}

/// Why derivatives cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum GradientError {
    /// The state is no equilibrium.
    #[error(
        "derivatives need an equilibrium, and this drape is not certified: {reason}; drape it further first"
    )]
    NotAtRest {
        /// What the certificate says.
        reason: String,
    },
    /// Contacts between vertices are held by springs, whose give would be taken for the cloth's.
    #[error(
        "{count} of the contacts lie inside edges or faces or between layers; derivatives know contacts at vertices \
         only: refine the cloth or leave out [self_contact]"
    )]
    ContactInside {
        /// How many.
        count: usize,
    },
    /// Wrong sizes.
    #[error("derivatives for shell {shell} have {found} rows, but it has {expected} vertices")]
    Length {
        /// Which shell; their number when that is wrong.
        shell: usize,
        /// Rows given.
        found: usize,
        /// Rows needed.
        expected: usize,
    },
    /// The Hessian cannot be solved with.
    #[error(transparent)]
    Inverse(#[from] InverseError),
}

impl Drape {
    /// Pulls ∂L/∂x, one row per vertex of every shell in the units and axes of its files, back to rest shapes,
    /// supports and materials.
    ///
    /// Contacts stick where they are: friction that is not used up has no influence (its derivative is zero), and
    /// what sticks moves with its collider (`supports`). The warp of orthotropic cloth moves with the rest faces.
    pub fn vjp(&self, dl_dx: &[Vec<[f64; 3]>]) -> Result<Vec<ShellGradient>, GradientError> {
        let certificate = &self.result.certificate;
        if !certificate.certified {
            return Err(GradientError::NotAtRest { reason: certificate.reason.clone() });
        }
        let count = self.contacts.iter().filter(|c| c.contact.count != 1).count();
        if count > 0 {
            return Err(GradientError::ContactInside { count });
        }
        if dl_dx.len() != self.shells.len() {
            let (found, expected) = (dl_dx.len(), self.shells.len());
            return Err(GradientError::Length { shell: expected, found, expected });
        }
        let mut load = vec![0.0; self.model.len()];
        for (shell, (rows, loaded)) in dl_dx.iter().zip(&self.shells).enumerate() {
            let expected = loaded.image.len();
            if rows.len() != expected {
                return Err(GradientError::Length { shell, found: rows.len(), expected });
            }
            // Vertices of the mesh that became one move together; those that are lost do not move.
            for (row, image) in rows.iter().zip(&loaded.image) {
                let Some(vertex) = image else { continue };
                let i = self.model.unknown(self.nodes[shell].vertices + vertex);
                let turned = loaded.axes.direction_to_internal(*row);
                for k in 0..3 {
                    // x_file = x / scale.
                    load[i + k] += turned[k] / loaded.axes.scale;
                }
            }
        }
        let mut adjoint = Adjoint::new(&self.model, &self.result.state)?;
        let pulled = adjoint.pull(&load)?;
        let one = |(shell, loaded): (usize, &LoadedShell)| {
            let base = self.nodes[shell].vertices;
            let count = loaded.shell.positions.len() as u32;
            let rows = |values: &[f64], turned: bool| -> Vec<[f64; 3]> {
                let mut found = vec![[0.0; 3]; loaded.image.len()];
                for (v, &origin) in (0..count).zip(&loaded.origin) {
                    let i = self.model.unknown(base + v);
                    let own = [values[i], values[i + 1], values[i + 2]];
                    let own = if turned { loaded.axes.direction_to_file(own) } else { own };
                    found[origin as usize] = own.map(|g| g * loaded.axes.scale);
                }
                found
            };
            let constants = adjoint.material(&pulled, base..base + count);
            let by = |name: &str| constants.get(name).copied().unwrap_or(0.0);
            let mut parameters = vec![("areal_density", vec![by("areal_density")])];
            match &loaded.table.material {
                Material::Koiter(koiter) => {
                    // Across seams it bends by a sixth of the sum of both (see `SeamBend`).
                    let seams = by("k_bend") / 6.0;
                    let by = |name: &str| match name {
                        "bending_11" | "bending_22" => by(name) + seams,
                        _ => by(name),
                    };
                    parameters.extend(by_moduli(koiter, loaded.table.thickness, by));
                }
                Material::DiscreteShells(_) => parameters
                    .extend(["k_length", "k_area", "k_bend"].map(|name| (name, vec![by(name)]))),
            }
            ShellGradient {
                rest: rows(&pulled.rest, loaded.table.rest != Some(Rest::Uv)),
                supports: rows(&pulled.supports, true),
                parameters,
            }
        };
        Ok(self.shells.iter().enumerate().map(one).collect())
    }
}

/// From the derivatives by the eight constants of a sheet to those by the numbers of the scene.
fn by_moduli(
    koiter: &Koiter,
    thickness: f64,
    by: impl Fn(&str) -> f64,
) -> Vec<(&'static str, Vec<f64>)> {
    const MEMBRANE: [&str; 4] = ["membrane_11", "membrane_12", "membrane_22", "membrane_66"];
    const BENDING: [&str; 4] = ["bending_11", "bending_12", "bending_22", "bending_66"];
    // E₁, E₂, ν, G, h, D.
    let variable = |value: f64, k: usize| Dual::<f64, 6>::variable(value, k);
    let (poisson, h) = (variable(koiter.poisson, 2), variable(thickness, 4));
    let (young, shear) = match koiter.young {
        Young::Isotropic(e) => {
            let e = variable(e, 0);
            ([e, e], e / ((poisson + 1.0) * 2.0))
        }
        Young::Orthotropic([e1, e2]) => {
            let shear = variable(koiter.shear.unwrap_or(0.0), 3);
            ([variable(e1, 0), variable(e2, 1)], shear)
        }
    };
    let [membrane, solid] = ShellStiffness::constants(young, poisson, shear, h);
    let bending = match koiter.bending {
        None => solid,
        Some(Bending::Isotropic(d)) => ShellStiffness::plate_constants(membrane, variable(d, 5)),
        Some(Bending::Orthotropic(_)) => [Dual::constant(0.0); 4],
    };
    let mut sums = [0.0; 6];
    let constants = membrane.iter().zip(MEMBRANE).chain(bending.iter().zip(BENDING));
    for (constant, name) in constants {
        for k in 0..6 {
            sums[k] += by(name) * constant.partials[k];
        }
    }
    let mut found = match koiter.young {
        Young::Isotropic(_) => vec![("young", vec![sums[0]])],
        Young::Orthotropic(_) => vec![("young", vec![sums[0], sums[1]]), ("shear", vec![sums[3]])],
    };
    found.extend([("poisson", vec![sums[2]]), ("thickness", vec![sums[4]])]);
    match koiter.bending {
        None => {}
        Some(Bending::Isotropic(_)) => found.push(("bending", vec![sums[5]])),
        // D1, D2, D12, Dshear in the scene; 11, 12, 22, 66 inside.
        Some(Bending::Orthotropic(_)) => {
            found.push(("bending", [0, 2, 1, 3].map(|k| by(BENDING[k])).to_vec()));
        }
    }
    found
}
