//! How a cloth yields where fibres press on it, within one step.

use toile_energy::Curvature;
use toile_num::{Matrix, Vector};
use toile_solve::SolveError;

use super::near::Place;
use crate::dynamics::internal::{Row, System};
use crate::dynamics::{ContactForce, ContactSource, ContactStatus, Simulator};
use crate::{Model, SimError};

/// Stiffness of what contacts of the cloth hold, in units of the cloth's own.
const HELD: f64 = 1e3;

/// What the core may leave out of the matrix, in units of the inertia.
const LEFT_OUT: f64 = 0.1;

/// What is added to how each place yields, in parts of how its vertices would alone: contacts that say the same thing then agree on their
/// shares. Trials do not end elsewhere for it.
const PROXIMAL: f64 = 1e-3;

/// A factorised matrix of a cloth, kept from step to step.
pub(crate) struct Yielding {
    system: System,
    /// The matrix of internal damping; empty where nothing is viscous.
    viscosity: Vec<f64>,
}

impl Yielding {
    pub(crate) fn new(model: &Model) -> Result<Self, SimError> {
        Ok(Self { system: System::new(model)?, viscosity: Vec::new() })
    }

    /// Changes of velocity at each place (row after row) by an impulse at each, in a step of length h from where the cloth is; what its
    /// own contacts hold stays there.
    pub(crate) fn compliance<S: ContactSource>(
        &mut self,
        cloth: &Simulator<S>,
        h: f64,
        places: &[Place],
    ) -> Result<Vec<Matrix<3, 3>>, SimError> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let (model, state, held) = (cloth.model(), cloth.state(), cloth.contact_forces());
        let rows: Vec<Row> = held
            .iter()
            .map(|force| {
                let mut unknowns = [0; 4];
                for k in 0..force.contact.count as usize {
                    let node = model.vertices()[force.contact.vertices[k] as usize];
                    unknowns[k] = model.unknown(node);
                }
                Row::new(force.contact, unknowns, state, 0.0)
            })
            .collect();
        let system = &mut self.system;
        system.prepare(model, &rows);
        let rate = 1.0 / (h * h) + cloth.mass_damping() / h;
        // In a step inertia nearly always makes the exact matrix positive definite; a shift makes trials slower, not wrong.
        let tries =
            [(Curvature::Exact, 0.0), (Curvature::Positive, 0.0), (Curvature::Positive, 1e3)];
        let mut outcome = Ok(());
        for (curvature, shift) in tries {
            model.hessian(state, curvature, &mut system.elastic);
            if model.is_viscous() {
                self.viscosity.resize(system.elastic.len(), 0.0);
                model.viscosity(state, &mut self.viscosity);
                for (e, c) in system.elastic.iter_mut().zip(&self.viscosity) {
                    *e += c / h;
                }
            }
            system.assemble(model, |i| model.masses()[i] * rate * (1.0 + shift), LEFT_OUT)?;
            outcome = factorize(system, model, &rows, held);
            if outcome.is_ok() {
                break;
            }
        }
        outcome?;
        let count = places.len();
        let mut out = vec![Matrix::<3, 3>::zeros(); count * count];
        let mut x = vec![0.0; model.len()];
        let unknown = |v: u32| model.unknown(model.vertices()[v as usize]);
        for (j, place) in places.iter().enumerate() {
            for axis in 0..3 {
                x.fill(0.0);
                for (v, w) in place.carriers {
                    x[unknown(v) + axis] += w;
                }
                model.clear_fixed(&mut x);
                system.solve(&mut x);
                model.clear_fixed(&mut x);
                for (i, other) in places.iter().enumerate() {
                    let mut moved = Vector::<3>::zeros();
                    for (v, w) in other.carriers {
                        let k = unknown(v);
                        moved += Vector::<3>::from_column_slice(&x[k..k + 3]) * w;
                    }
                    out[i * count + j].set_column(axis, &(moved / (h * h)));
                }
            }
        }
        for (i, place) in places.iter().enumerate() {
            let alone = |&(v, w): &(u32, f64)| {
                let stiff = system.diagonal(unknown(v)).trace() / 3.0;
                if model.fixed()[unknown(v)] || stiff <= 0.0 { 0.0 } else { w * w / stiff }
            };
            let alone: f64 = place.carriers.iter().map(alone).sum();
            out[i * count + i] += Matrix::identity() * (PROXIMAL * alone / (h * h));
        }
        // Equal to its transpose to the last bit, as the kernel takes it to be.
        for i in 0..count {
            for j in 0..=i {
                let mean = (out[i * count + j] + out[j * count + i].transpose()) * 0.5;
                out[j * count + i] = mean.transpose();
                out[i * count + j] = mean;
            }
        }
        Ok(out)
    }
}

fn factorize(
    system: &mut System,
    model: &Model,
    rows: &[Row],
    held: &[ContactForce],
) -> Result<(), SolveError> {
    let stiffness = |(row, force): (&Row, &ContactForce)| {
        let count = row.contact.count as usize;
        let own = row.unknowns[..count].iter().map(|&i| system.diagonal(i).trace());
        let stiff = HELD * own.fold(0.0, f64::max);
        let n = force.contact.normal;
        match force.status {
            ContactStatus::Open => Matrix::zeros(),
            ContactStatus::Stick => Matrix::identity() * stiff,
            ContactStatus::Slip => n * n.transpose() * stiff,
        }
    };
    let holds: Vec<Matrix<3, 3>> = rows.iter().zip(held).map(stiffness).collect();
    system.factorize(model, rows.iter().zip(holds))
}
