//! One step of the search: derivatives, the saddle point, and what is read from it.

use nalgebra::Matrix3;
use toile_energy::Curvature;
use toile_geometry::Vec3;

use super::Search;
use crate::InverseError;
use crate::cone::Cone;
use crate::kkt::{Rows, Weights};

/// Longest change of an edge of the rest shape in one step, as a part of its length.
const EDGE_CHANGE: f64 = 0.4;
/// Rounds of the alternating directions at most.
const ROUNDS: usize = 40;

/// A step of the linear model.
pub(super) struct Direction {
    pub(super) dx: Vec<f64>,
    pub(super) drest: Vec<f64>,
    /// Part of it that changes no edge too much.
    pub(super) allowed: f64,
}

impl Search {
    /// Derivatives at the present point, contacts let go so that their forces are seen.
    pub(super) fn derivatives(&mut self) {
        for c in &self.contacts {
            for k in 0..3 {
                self.model.set_fixed(c.unknown + k, false);
            }
        }
        self.model.hessian(&self.x, Curvature::Exact, &mut self.hessian);
        for c in &self.contacts {
            for k in 0..3 {
                self.model.set_fixed(c.unknown + k, true);
            }
        }
        self.model.mixed_hessian(&self.x, &self.mixed, &mut self.mixed_values);
        self.model.gradient(&self.x, &mut self.gradient);
    }

    /// Assembles and factorises the saddle point with the derivatives at hand; `cone` says what the rows of a contact are.
    fn prepare(&mut self, cone: impl Fn(usize, &Vec3) -> Rows) -> Result<bool, InverseError> {
        self.steps += 1;
        let nodes = self.model.graph().len();
        let mut rows = vec![Rows::Balance; nodes];
        self.kkt.rhs.fill(0.0);
        for v in 0..nodes {
            let f = self.model.first_unknowns()[v];
            if self.pinned[f] {
                rows[v] = Rows::Free;
            }
            let (x, _, multiplier) = self.kkt.at(v);
            let vertex = self.model.graph().sizes[v] == 3;
            for k in 0..self.model.graph().sizes[v] as usize {
                if self.model.fixed()[f + k] {
                    continue;
                }
                let lever = self.model.levers()[f + k];
                self.kkt.rhs[multiplier + k] = -self.gradient[f + k] / (lever * self.force);
                if vertex {
                    let away = self.target[f + k] - self.x.coordinates()[f + k];
                    self.kkt.rhs[x + k] = self.shape_weight[f + k] * away / self.length;
                }
            }
        }
        for (i, c) in self.contacts.iter().enumerate() {
            let force = Vec3::from_column_slice(&self.gradient[c.unknown..c.unknown + 3]);
            rows[c.node as usize] = cone(i, &force);
        }
        let weights =
            Weights { shape: &self.shape_weight, rest: self.damping, cone: self.cone_weight };
        let unit = self.length / self.force;
        self.kkt.assemble(
            &self.model,
            &self.hessian,
            (&self.mixed, &self.mixed_values),
            &weights,
            &rows,
            self.model.fixed(),
            &self.rest_held,
            unit,
        );
        Ok(self.kkt.factorize()?)
    }

    /// The step with the derivatives at hand; `None` when there is none.
    ///
    /// First that of Newton for the penalty. It sees the borders of the cones that matter now; where it would throw other
    /// forces out, the linear model is solved with all cones instead.
    pub(super) fn direction(&mut self) -> Result<Option<Direction>, InverseError> {
        let cones: Vec<Cone> =
            self.contacts.iter().zip(&self.borders).map(|(c, soft)| self.aim(c, *soft)).collect();
        if !self.prepare(|i, force| Rows::Cone(cones[i].outside(force).root))? {
            return Ok(None);
        }
        for (c, cone) in self.contacts.iter().zip(&cones) {
            let force = Vec3::from_column_slice(&self.gradient[c.unknown..c.unknown + 3]);
            let outside = cone.outside(&force);
            let (_, _, multiplier) = self.kkt.at(c.node as usize);
            for k in 0..3 {
                self.kkt.rhs[multiplier + k] = -outside.target[k] / self.force;
            }
        }
        if !self.kkt.solve() {
            return Ok(None);
        }
        let newton = self.take_direction();
        if self.contacts.is_empty() {
            return Ok(Some(newton));
        }
        let mut forces = vec![0.0; self.model.len()];
        self.predicted(&newton.dx, &newton.drest, &mut forces);
        let (now, then) = (self.cone_penalty(&self.gradient), self.cone_penalty(&forces));
        if then <= 0.5 * now || then <= 1e-6 * self.merit.value {
            return Ok(Some(newton));
        }
        self.all_cones()
    }

    /// The step of the linear model with every force inside its cone, by the alternating direction method of multipliers:
    /// one factorisation, many solves. Reference: Boyd, Parikh, Chu, Peleato, Eckstein 2011.
    fn all_cones(&mut self) -> Result<Option<Direction>, InverseError> {
        if !self.prepare(|_, _| Rows::Cone(Matrix3::identity()))? {
            return Ok(None);
        }
        let cones: Vec<Cone> = self.contacts.iter().map(|c| self.narrow(c)).collect();
        let start = self.contact_forces(&self.gradient);
        let mut inside: Vec<Vec3> = start.iter().zip(&cones).map(|(f, c)| c.project(f)).collect();
        let mut scaled = vec![Vec3::zeros(); start.len()];
        let mut first = 0.0f64;
        for _ in 0..ROUNDS {
            for (i, c) in self.contacts.iter().enumerate() {
                let (_, _, multiplier) = self.kkt.at(c.node as usize);
                let wanted = inside[i] - scaled[i] - start[i];
                for k in 0..3 {
                    self.kkt.rhs[multiplier + k] = wanted[k] / self.force;
                }
            }
            if !self.kkt.solve() {
                return Ok(None);
            }
            let mut apart = 0.0f64;
            for (i, c) in self.contacts.iter().enumerate() {
                let (_, _, multiplier) = self.kkt.at(c.node as usize);
                let pull = Vec3::from_fn(|k, _| self.kkt.solution[multiplier + k]);
                let force = inside[i] - scaled[i] + pull * (self.force / self.cone_weight);
                // Over-relaxed.
                let ahead = force * 1.6 - inside[i] * 0.6;
                let next = cones[i].project(&(ahead + scaled[i]));
                scaled[i] += ahead - next;
                apart = apart.max((force - next).norm() / self.force);
                inside[i] = next;
            }
            first = first.max(apart);
            if apart <= 1e-3 * first {
                break;
            }
        }
        Ok(Some(self.take_direction()))
    }

    /// Reads a step from the solution of the saddle point.
    fn take_direction(&self) -> Direction {
        let n = self.model.len();
        let (mut dx, mut drest) = (vec![0.0; n], vec![0.0; n]);
        for v in 0..self.model.graph().len() {
            let f = self.model.first_unknowns()[v];
            let (x, rest, _) = self.kkt.at(v);
            for k in 0..self.model.graph().sizes[v] as usize {
                if !self.model.fixed()[f + k] {
                    let lever = self.model.levers()[f + k];
                    dx[f + k] = self.length / lever * self.kkt.solution[x + k];
                }
                if self.model.graph().sizes[v] == 3 && !self.rest_held[v] {
                    drest[f + k] = self.length * self.kkt.solution[rest + k];
                }
            }
        }
        let allowed = self.allowed(&drest);
        Direction { dx, drest, allowed }
    }

    /// The gradient that the linear model predicts after a step.
    fn predicted(&self, dx: &[f64], drest: &[f64], out: &mut [f64]) {
        let mut part = vec![0.0; dx.len()];
        self.model.pattern().multiply(&self.hessian, dx, out);
        self.mixed.multiply(&self.mixed_values, drest, &mut part);
        for ((o, p), g) in out.iter_mut().zip(&part).zip(&self.gradient) {
            *o += p + g;
        }
    }

    /// Penalty of the cones on a gradient.
    fn cone_penalty(&self, gradient: &[f64]) -> f64 {
        let forces = self.contact_forces(gradient);
        let energy =
            |(i, f): (usize, &Vec3)| self.aim(&self.contacts[i], self.borders[i]).outside(f).energy;
        let sum: f64 = forces.iter().enumerate().map(energy).sum();
        self.cone_weight * sum / (self.force * self.force)
    }

    /// Part of a change of the rest shape that changes no edge too much.
    fn allowed(&self, drest: &[f64]) -> f64 {
        let mut scale = 1.0f64;
        let first = self.model.first_unknowns();
        let rest = self.rest.coordinates();
        for &(a, b) in &self.edges {
            let (a, b) = (first[a as usize], first[b as usize]);
            let (mut length, mut change) = (0.0, 0.0);
            for k in 0..3 {
                length += (rest[a + k] - rest[b + k]).powi(2);
                change += (drest[a + k] - drest[b + k]).powi(2);
            }
            if change > 0.0 {
                scale = scale.min(EDGE_CHANGE * (length / change).sqrt());
            }
        }
        scale
    }
}
