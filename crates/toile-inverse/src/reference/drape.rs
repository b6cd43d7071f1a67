//! The draping function Φ^λ: where a rest shape comes to rest, held softly to the target.

use toile_energy::Curvature;
use toile_sim::{MixedPattern, Model, State, force_unit};
use toile_solve::{
    Cholesky, IdentityPreconditioner, IterativeSettings, SymmetricOperator, conjugate_gradient,
};

use super::lbfgs::dot;
use crate::InverseError;

/// The cloth with its contacts held, and the pull towards the target: E^λ = E + λ/2 Σ |x − x_t|².
pub(super) struct Draping {
    pub(super) model: Model,
    pub(super) mixed: MixedPattern,
    /// Coordinates of the target; edge angles have none.
    pub(super) target: Vec<f64>,
    /// Which unknowns are coordinates of vertices.
    pub(super) is_vertex: Vec<bool>,
    /// λ \[N/m\].
    pub(super) lambda: f64,
    /// Weight of a vertex \[N\].
    pub(super) force: f64,
    pub(super) hessian: Vec<f64>,
    pub(super) cholesky: Cholesky,
    diagonal: Vec<usize>,
    /// Drapes and Newton steps so far.
    pub(super) drapes: usize,
    pub(super) newton_steps: usize,
}

/// Largest force left at a vertex, in units of its weight.
const TOLERANCE: f64 = 1e-11;
/// From here on steps are solved directly.
const NEAR: f64 = 1e-4;
/// Newton steps of one draping at most.
const MOST: usize = 200;

impl Draping {
    /// `model` starts and rests at the target, its contacts fixed.
    pub(super) fn new(model: Model) -> Result<Self, InverseError> {
        let n = model.len();
        let pattern = model.pattern().clone();
        let diagonal: Option<Vec<usize>> = (0..n).map(|i| pattern.position(i, i)).collect();
        let mut is_vertex = vec![false; n];
        for &node in model.vertices() {
            let i = model.unknown(node);
            is_vertex[i..i + 3].fill(true);
        }
        Ok(Self {
            mixed: model.mixed_pattern(),
            target: model.start().coordinates().to_vec(),
            is_vertex,
            lambda: 0.0,
            force: force_unit(&model),
            hessian: vec![0.0; pattern.nnz()],
            cholesky: Cholesky::new(pattern)?,
            diagonal: diagonal.expect("a diagonal"),
            drapes: 0,
            newton_steps: 0,
            model,
        })
    }

    /// x − x_t at the vertices.
    pub(super) fn away(&self, x: &State) -> Vec<f64> {
        let x = x.coordinates().iter().zip(&self.target);
        x.zip(&self.is_vertex).map(|((x, t), v)| if *v { x - t } else { 0.0 }).collect()
    }

    fn energy(&self, x: &State) -> f64 {
        let away = self.away(x);
        self.model.energy(x) + 0.5 * self.lambda * dot(&away, &away)
    }

    /// ∇E^λ at all unknowns, fixed ones included.
    pub(super) fn forces(&self, x: &State) -> Vec<f64> {
        let mut gradient = vec![0.0; self.model.len()];
        self.model.gradient(x, &mut gradient);
        for (g, a) in gradient.iter_mut().zip(self.away(x)) {
            *g += self.lambda * a;
        }
        gradient
    }

    fn residual(&self, gradient: &[f64]) -> f64 {
        let levers = self.model.levers();
        gradient.iter().zip(levers).fold(0.0, |m: f64, (g, l)| m.max((g / l).abs())) / self.force
    }

    /// Assembles ∇²E^λ, identity at fixed unknowns.
    pub(super) fn assemble(&mut self, x: &State) {
        self.model.hessian(x, Curvature::Exact, &mut self.hessian);
        let fixed = self.model.fixed();
        for (i, &d) in self.diagonal.iter().enumerate() {
            if self.is_vertex[i] && !fixed[i] {
                self.hessian[d] += self.lambda;
            }
        }
    }

    /// Φ^λ of the model's rest shape, from the target: line-search Newton with truncated conjugate gradients that leave along negative
    /// curvature (Nocedal and Wright 2006, algorithm 7.1). `None` when it does not come to a stable rest.
    ///
    /// Afterwards `cholesky` holds the factors of ∇²E^λ there.
    pub(super) fn drape(&mut self) -> Result<Option<State>, InverseError> {
        self.drapes += 1;
        let n = self.model.len();
        let mut x = self.model.start().clone();
        let mut trial = x.clone();
        let mut energy = self.energy(&x);
        for _ in 0..MOST {
            let mut gradient = self.forces(&x);
            self.model.clear_fixed(&mut gradient);
            let residual = self.residual(&gradient);
            if !residual.is_finite() || !energy.is_finite() {
                return Ok(None);
            }
            self.assemble(&x);
            if residual <= TOLERANCE {
                return Ok(self.cholesky.factorize(&self.hessian).is_ok().then_some(x));
            }
            self.newton_steps += 1;
            let rhs: Vec<f64> = gradient.iter().map(|g| -g).collect();
            let mut step = vec![0.0; n];
            let mut direct = false;
            if residual < NEAR && self.cholesky.factorize(&self.hessian).is_ok() {
                direct = self.cholesky.solve(&self.hessian, &rhs, &mut step).is_ok();
            }
            if !direct {
                let operator =
                    SymmetricOperator { pattern: self.model.pattern(), values: &self.hessian };
                let settings = IterativeSettings {
                    tolerance: residual.sqrt().min(0.1),
                    max_iterations: 20 * n,
                };
                let plain = IdentityPreconditioner { n };
                let report = conjugate_gradient(&operator, &plain, &rhs, &mut step, &settings)?;
                if let Some(bend) = report.negative_curvature.filter(|_| dot(&step, &step) == 0.0) {
                    step = bend.direction;
                }
            }
            let slope = dot(&step, &gradient);
            let mut part = 1.0;
            let mut better = false;
            for _ in 0..40 {
                x.advanced_into(&step, part, &mut trial);
                let then = self.energy(&trial);
                let mut rounding = false;
                if residual < NEAR {
                    // Energies no longer tell; forces do.
                    let mut g = self.forces(&trial);
                    self.model.clear_fixed(&mut g);
                    rounding = self.residual(&g) < 0.9 * residual;
                }
                if then <= energy + 1e-4 * part * slope || rounding {
                    std::mem::swap(&mut x, &mut trial);
                    energy = then;
                    better = true;
                    break;
                }
                part *= 0.5;
            }
            if !better {
                // As far as rounding lets it.
                let there = residual < 1e-7 && self.cholesky.factorize(&self.hessian).is_ok();
                return Ok(there.then_some(x));
            }
        }
        Ok(None)
    }

    /// ∂²E/∂x∂x̄ at a state.
    pub(super) fn mixed_values(&self, x: &State) -> Vec<f64> {
        let mut values = vec![0.0; self.mixed.nnz()];
        self.model.mixed_hessian(x, &self.mixed, &mut values);
        values
    }

    /// (∇²E^λ)⁻¹ b with the factors of the last draping, zero at fixed unknowns.
    pub(super) fn solve(&mut self, b: &[f64]) -> Result<Vec<f64>, InverseError> {
        let mut rhs = b.to_vec();
        self.model.clear_fixed(&mut rhs);
        let mut out = vec![0.0; rhs.len()];
        self.cholesky.solve(&self.hessian, &rhs, &mut out)?;
        Ok(out)
    }
}
