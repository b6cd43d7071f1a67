//! How an equilibrium moves with what it is made of, by the adjoint.
//!
//! At rest the free forces vanish, F(x, x̄, p) = 0, so a function L(x) changes through x̄ and p by
//!
//! > dL/dx̄ = −λᵀ ∂F/∂x̄,  dL/dp = −λᵀ ∂F/∂p,  with  (∂F/∂x) λ = ∂L/∂x
//!
//! over the free unknowns: one factorisation of the Hessian, one solve per function, whatever the number of parameters.
//! Vertices that are held move with their supports: dL/dx_s = ∂L/∂x_s − λᵀ ∂F/∂x_s.
//! Reference: Ly 2021, §5.3.3; Giles and Pierce 2000 for the method.

use std::collections::BTreeMap;
use std::ops::Range;

use toile_sim::{Model, State};
use toile_solve::{Ldlt, SolveError};

use crate::InverseError;

/// The factorised Hessian of an equilibrium.
pub struct Adjoint<'a> {
    model: &'a Model,
    state: &'a State,
    values: Vec<f64>,
    factor: Ldlt,
}

/// What one function L of the equilibrium feels, in the order of the unknowns of the model.
#[derive(Clone, Debug)]
pub struct Pullback {
    /// dL/dx̄ at every rest coordinate, those of held vertices included; angles have none: zero.
    pub rest: Vec<f64>,
    /// dL/dx_s at unknowns that are held; zero at free ones, whose start does not matter.
    pub supports: Vec<f64>,
    /// λ.
    pub lambda: Vec<f64>,
}

impl<'a> Adjoint<'a> {
    /// Factorises the exact Hessian at an equilibrium.
    ///
    /// Fails where it is singular: there the equilibrium does not follow its parameters.
    pub fn new(model: &'a Model, state: &'a State) -> Result<Self, InverseError> {
        let mut values = vec![0.0; model.pattern().nnz()];
        model.hessian(state, toile_energy::Curvature::Exact, &mut values);
        let mut factor = Ldlt::new(model.pattern().clone())?;
        let inertia = factor.factorize(&values, None)?;
        if inertia.zero > 0 {
            return Err(SolveError::ZeroPivot { column: 0 }.into());
        }
        Ok(Self { model, state, values, factor })
    }

    /// Pulls ∂L/∂x (one number per unknown of the model) back to the rest shape and the supports.
    pub fn pull(&mut self, dl_dx: &[f64]) -> Result<Pullback, InverseError> {
        let n = self.model.len();
        let mut load = dl_dx.to_vec();
        self.model.clear_fixed(&mut load);
        let mut lambda = vec![0.0; n];
        self.factor.solve(&self.values, &load, &mut lambda)?;
        self.model.clear_fixed(&mut lambda);
        let pattern = self.model.mixed_pattern();
        let mut mixed = vec![0.0; pattern.nnz()];
        self.model.mixed_hessian(self.state, &pattern, &mut mixed);
        let mut rest = vec![0.0; n];
        pattern.multiply_transposed(&mixed, &lambda, &mut rest);
        for r in &mut rest {
            *r = -*r;
        }
        // Rest angles are zero by definition, not parameters.
        for (v, &size) in self.model.graph().sizes.iter().enumerate() {
            if size != 3 {
                let i = self.model.first_unknowns()[v];
                rest[i..i + size as usize].fill(0.0);
            }
        }
        let mut whole = vec![0.0; self.values.len()];
        self.model.unsupported_hessian(self.state, &mut whole);
        let mut felt = vec![0.0; n];
        self.model.pattern().multiply(&whole, &lambda, &mut felt);
        let supports =
            (0..n).map(|i| if self.model.fixed()[i] { dl_dx[i] - felt[i] } else { 0.0 }).collect();
        Ok(Pullback { rest, supports, lambda })
    }

    /// dL/dp of the material of the stencils whose first node is one of `among`, by name.
    pub fn material(&self, pullback: &Pullback, among: Range<u32>) -> BTreeMap<&'static str, f64> {
        let mut product = self.model.material_product(self.state, &pullback.lambda, among);
        for value in product.values_mut() {
            *value = -*value;
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use toile_energy::{Membrane, ShellStiffness};
    use toile_geometry::Vec3;
    use toile_geometry::generate::{self, Triangulation};
    use toile_geometry::measure::NormalRule;
    use toile_sim::{ModelBuilder, Shell, ShellMaterial, equilibrium};
    use toile_solve::NewtonSettings;

    use super::*;

    fn shell(material: ShellMaterial) -> Shell {
        let mesh = generate::rectangle(0.3, 0.2, 4, 3, Triangulation::Random { seed: 3 });
        Shell {
            topology: mesh.topology.clone(),
            positions: mesh.positions.clone(),
            rest_positions: mesh
                .positions
                .iter()
                .map(|p| p + Vec3::z() * 0.02 * (9.0 * p.y).cos())
                .collect(),
            material,
            areal_density: 0.4,
            pins: vec![0, 1, 4],
            seams: Vec::new(),
            damping: 0.0,
        }
    }

    fn settled(shell: &Shell, from: Option<(&Model, &State)>) -> (Model, State) {
        let mut builder = ModelBuilder::new();
        shell.add_to(&mut builder, Vec3::new(0.5, 0.0, -9.81)).unwrap();
        let model = builder.build().unwrap();
        let mut start = model.start().clone();
        if let Some((other, state)) = from {
            // Same nodes, same order: everything that is free starts where the other ended.
            assert_eq!(other.len(), model.len());
            for i in 0..model.len() {
                if !model.fixed()[i] {
                    start.set(i, state.coordinates()[i]);
                }
            }
        }
        let settings = NewtonSettings { tolerance: 1e-13, ..NewtonSettings::default() };
        let found = equilibrium(&model, &start, &settings, |_| true).unwrap();
        assert!(found.certificate.certified, "{}", found.certificate.reason);
        (model, found.state)
    }

    /// L = Σ wᵢ xᵢ over vertices, with weights that single nothing out.
    fn weights(model: &Model) -> Vec<f64> {
        let mut w = vec![0.0; model.len()];
        for &node in model.vertices() {
            for k in 0..3 {
                w[model.unknown(node) + k] = (1.7 * f64::from(3 * node) + k as f64).sin();
            }
        }
        w
    }

    fn value(model: &Model, state: &State) -> f64 {
        weights(model).iter().zip(state.coordinates()).map(|(w, x)| w * x).sum()
    }

    fn materials() -> [ShellMaterial; 3] {
        let stiffness = ShellStiffness::isotropic(2e4, 0.3, 1e-3).with_plate_modulus(2e-3);
        let koiter = |normals| ShellMaterial::Koiter {
            stiffness,
            normals,
            membrane: Membrane::StVenantKirchhoff,
            warp: Vec3::x(),
        };
        [
            koiter(NormalRule::Tan),
            koiter(NormalRule::Average),
            ShellMaterial::DiscreteShells { k_length: 10.0, k_area: 5.0, k_bend: 2e-3 },
        ]
    }

    /// Central difference of L with the shell changed by ±step.
    fn slope(base: &(Model, State), change: impl Fn(f64) -> Shell, step: f64) -> f64 {
        let [low, high] = [-step, step].map(|s| {
            let (model, state) = settled(&change(s), Some((&base.0, &base.1)));
            value(&model, &state)
        });
        (high - low) / (2.0 * step)
    }

    #[test]
    fn rest_shape_and_supports_agree_with_differences() {
        for material in materials() {
            let shell = shell(material);
            let base = settled(&shell, None);
            let mut adjoint = Adjoint::new(&base.0, &base.1).unwrap();
            let pulled = adjoint.pull(&weights(&base.0)).unwrap();
            let n = shell.positions.len() as u32;
            let way =
                |v: u32| Vec3::new((2.1 * f64::from(v)).cos(), (0.7 * f64::from(v)).sin(), 0.4);
            let along = |values: &[f64]| -> f64 {
                let at = |v: u32| Vec3::from_column_slice(&values[base.0.unknown(v)..][..3]);
                (0..n).map(|v| at(v).dot(&way(v))).sum()
            };
            let found = along(&pulled.rest);
            let expected = slope(
                &base,
                |s| {
                    let mut moved = shell.clone();
                    for (v, p) in moved.rest_positions.iter_mut().enumerate() {
                        *p += way(v as u32) * s;
                    }
                    moved
                },
                2e-6,
            );
            assert!(expected.abs() > 0.1, "{expected}");
            assert!((found - expected).abs() < 2e-6 * expected.abs(), "{found} {expected}");
            let found = along(&pulled.supports);
            let expected = slope(
                &base,
                |s| {
                    let mut moved = shell.clone();
                    for &pin in &shell.pins {
                        moved.positions[pin as usize] += way(pin) * s;
                    }
                    moved
                },
                2e-6,
            );
            assert!(expected.abs() > 0.1, "{expected}");
            assert!((found - expected).abs() < 2e-6 * expected.abs(), "{found} {expected}");
        }
    }

    #[test]
    fn material_and_weight_agree_with_differences() {
        let base_shell = shell(materials()[2]);
        let base = settled(&base_shell, None);
        let mut adjoint = Adjoint::new(&base.0, &base.1).unwrap();
        let pulled = adjoint.pull(&weights(&base.0)).unwrap();
        let found = adjoint.material(&pulled, 0..base_shell.positions.len() as u32);
        let names: Vec<_> = found.keys().copied().collect();
        assert_eq!(names, ["areal_density", "k_area", "k_bend", "k_length"]);
        for (name, found) in found {
            let change = |s: f64| {
                let mut made = base_shell.clone();
                let ShellMaterial::DiscreteShells { k_length, k_area, k_bend } = &mut made.material
                else {
                    unreachable!()
                };
                match name {
                    "k_length" => *k_length += s,
                    "k_area" => *k_area += s,
                    "k_bend" => *k_bend += s,
                    _ => made.areal_density += s,
                }
                made
            };
            let size = match name {
                "k_length" => 10.0,
                "k_area" => 5.0,
                "k_bend" => 2e-3,
                _ => 0.4,
            };
            let expected = slope(&base, change, 1e-5 * size);
            assert!((expected * size).abs() > 1e-5, "{name} {expected}");
            assert!((found - expected).abs() < 1e-5 * expected.abs(), "{name}: {found} {expected}");
        }
    }
}
