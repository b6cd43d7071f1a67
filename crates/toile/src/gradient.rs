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

#[cfg(test)]
mod tests {
    use toile_io::{Axes, Scene, SceneFormat, parse_scene};

    use super::*;
    use crate::{drape, scene_settings};

    fn scene(material: &str, density: f64, thickness: f64, up: &str) -> Scene {
        // A sheet that leans, so that no figure is zero by symmetry.
        let gravity = if up == "y" { "[1.0, -9.0, 2.0]" } else { "[1.0, -2.0, -9.0]" };
        let text = format!(
            "up = \"{up}\"\ngravity = {gravity}\n[solver]\ntolerance = 1e-13\n[[shell]]\nmesh = {{ generate = \"rectangle\", \
             width = 0.3, height = 0.2, nx = 4, ny = 3, triangulation = \"random\" }}\nthickness = {thickness:?}\n\
             areal_density = {density:?}\nmaterial = {material}\npins = {{ vertices = [0, 1, 5, 6] }}\n"
        );
        parse_scene(&text, SceneFormat::Toml).unwrap()
    }

    fn draped(scene: &Scene) -> Drape {
        let found = drape(scene, &scene_settings(scene), |_| true).unwrap();
        assert!(found.result.certificate.certified, "{}", found.result.certificate.reason);
        found
    }

    fn weights(drape: &Drape) -> Vec<Vec<[f64; 3]>> {
        let n = drape.shells[0].shell.positions.len();
        vec![(0..n).map(|v| [(v as f64).sin(), (2.0 * v as f64).cos(), 0.3 + v as f64]).collect()]
    }

    fn value(drape: &Drape) -> f64 {
        let rows = weights(drape);
        let all = rows[0].iter().flatten().zip(drape.file_positions(0).into_iter().flatten());
        all.map(|(w, x)| w * x).sum()
    }

    /// `text` with the number after `@` replaced, against the derivative found under `name`.
    fn compare(text: &str, name: &str, part: usize, up: &str) {
        let (head, tail) = text.split_once('@').unwrap();
        let end = tail.find([',', ' ', ']']).unwrap();
        let size: f64 = tail[..end].parse().unwrap();
        let at = |value: f64| scene(&format!("{head}{value:?}{}", &tail[end..]), 0.3, 2e-3, up);
        let base = draped(&at(size));
        let found = base.vjp(&weights(&base)).unwrap();
        let (_, found) = found[0].parameters.iter().find(|(n, _)| *n == name).unwrap();
        let step = 1e-4 * size;
        let expected =
            (value(&draped(&at(size + step))) - value(&draped(&at(size - step)))) / (2.0 * step);
        assert!((expected * size).abs() > 1e-6, "{name}: {expected}");
        let error = (found[part] - expected).abs();
        assert!(error < 2e-5 * expected.abs(), "{name}: {found:?} {expected}");
    }

    #[test]
    fn numbers_of_the_scene_agree_with_differences() {
        let koiter = |rest: &str| format!("{{ model = \"koiter\", {rest} }}");
        compare(&koiter("young = @2e5, poisson = 0.3"), "young", 0, "z");
        compare(&koiter("young = 2e5, poisson = @0.3 "), "poisson", 0, "y");
        compare(&koiter("young = 2e5, poisson = 0.3, bending = @3e-4 "), "bending", 0, "z");
        compare(&koiter("young = 2e5, poisson = @0.3, bending = 3e-4"), "poisson", 0, "z");
        let orthotropic =
            "young = [2e5, 1e5], poisson = 0.2, shear = @3e4, bending = [3e-4, 2e-4, 5e-5, 1e-4] ";
        compare(&koiter(orthotropic), "shear", 0, "z");
        let second = "young = [2e5, @1e5], poisson = 0.2, shear = 3e4 ";
        compare(&koiter(second), "young", 1, "z");
        let own = "young = 2e5, poisson = 0.2, bending = [3e-4, @2e-4, 5e-5, 1e-4] ";
        compare(&koiter(own), "bending", 1, "z");
    }

    #[test]
    fn thickness_and_density_agree_with_differences() {
        let material = "{ model = \"koiter\", young = 2e5, poisson = 0.3 }";
        let base = draped(&scene(material, 0.3, 2e-3, "z"));
        let found = base.vjp(&weights(&base)).unwrap();
        let get = |name: &str| {
            found[0].parameters.iter().find(|(n, _)| *n == name).map(|(_, v)| v[0]).unwrap()
        };
        let slope = |step: f64, at: &dyn Fn(f64) -> Scene| {
            (value(&draped(&at(step))) - value(&draped(&at(-step)))) / (2.0 * step)
        };
        let expected = slope(2e-7, &|s| scene(material, 0.3, 2e-3 + s, "z"));
        assert!((get("thickness") - expected).abs() < 2e-5 * expected.abs(), "{expected}");
        let expected = slope(3e-5, &|s| scene(material, 0.3 + s, 2e-3, "z"));
        assert!((get("areal_density") - expected).abs() < 2e-5 * expected.abs(), "{expected}");
    }

    /// Turning the axes of the files turns the derivatives with them.
    #[test]
    fn derivatives_are_in_the_axes_of_the_files() {
        let material = "{ model = \"koiter\", young = 2e5, poisson = 0.3 }";
        let (z, y) =
            (draped(&scene(material, 0.3, 2e-3, "z")), draped(&scene(material, 0.3, 2e-3, "y")));
        let axes: Axes = y.shells[0].axes;
        let w = weights(&z);
        let turned = vec![w[0].iter().map(|r| axes.direction_to_file(*r)).collect::<Vec<_>>()];
        let (a, b) = (z.vjp(&w).unwrap(), y.vjp(&turned).unwrap());
        for (a, b) in a[0].rest.iter().zip(&b[0].rest) {
            let a = axes.direction_to_file(*a);
            for k in 0..3 {
                assert!((a[k] - b[k]).abs() < 1e-7 * (1.0 + a[k].abs()), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn what_is_not_at_rest_is_refused() {
        let mut hasty = scene("{ model = \"koiter\", young = 2e5, poisson = 0.3 }", 0.3, 2e-3, "z");
        hasty.solver = Some(toile_io::Solver { tolerance: None, max_iterations: Some(1) });
        let found = drape(&hasty, &scene_settings(&hasty), |_| true).unwrap();
        let error = found.vjp(&weights(&found)).unwrap_err();
        assert!(error.to_string().contains("not certified"), "{error}");
    }
}
