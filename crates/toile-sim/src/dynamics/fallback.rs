//! What is done with a part of a step that went wrong.

use std::time::Instant;

use toile_num::Vector;

use super::integrator::Moving;
use super::report::StepReport;
use super::rows::at;
use super::simulator::Simulator;
use super::source::ContactSource;
use super::zones::Zones;
use crate::SimError;

impl<S: ContactSource> Simulator<S> {
    /// Whether a step that did not converge at least made no energy: what it has more than before came from
    /// moving colliders, or is what may come from elsewhere \[J\].
    pub(super) fn spends(&self, from: &Moving, after: &Moving, dt: f64, beside: f64) -> bool {
        let energy = |at: &Moving| {
            let energies = self.energies_of(at);
            energies.kinetic + energies.potential
        };
        // All together: what is wedged between two sides of a collider is pushed by one and held by the other, with any force.
        let works = self.forces.iter().map(|f| f.force.dot(&f.contact.velocity) * dt);
        let given = works.sum::<f64>().max(0.0);
        let mass: f64 = self.model.masses().iter().sum::<f64>() / 3.0;
        // A tenth of what falling through one step would give: rounding of what is not converged.
        let slack = 0.1 * mass * (self.unit * dt).powi(2);
        energy(after) <= energy(from) + given + beside + slack
    }

    pub(super) fn safe_part(&mut self, from: &Moving, after: &Moving) -> Result<f64, SimError> {
        let (start, end) =
            (self.model.positions(&from.position), self.model.positions(&after.position));
        self.source.safe_part(&start, &end, from.time, after.time)
    }

    /// Work of colliders on vertices that went with them \[J\]: what inertia asks for there, less what the cloth and its load give, along the way.
    fn carrying_work(&mut self, from: &Moving, after: &Moving, dt: f64, carried: &[usize]) -> f64 {
        if carried.is_empty() {
            return 0.0;
        }
        let force = self.smooth_force(after);
        let masses = self.model.masses();
        let along = |i: usize| {
            let push = masses[i] * (after.velocity[i] - from.velocity[i]) / dt - force[i];
            push * after.velocity[i] * dt
        };
        carried.iter().flat_map(|&i| i..i + 3).map(along).sum::<f64>().max(0.0)
    }

    /// Where a part ends that contacts could not keep from colliding: what would collide goes together, the rest as was
    /// found. Where that makes energy, or nothing was found, everything stays where it is.
    pub(super) fn hold_back(
        &mut self,
        from: &Moving,
        found: Option<Moving>,
        dt: f64,
        report: &mut StepReport,
    ) -> Result<Moving, SimError> {
        let clock = Instant::now();
        let to = from.time + dt;
        let start = self.model.positions(&from.position);
        let unknowns: Vec<usize> =
            self.model.vertices().iter().map(|&v| self.model.unknown(v)).collect();
        let masses: Vec<f64> = unknowns.iter().map(|&i| self.model.masses()[i]).collect();
        let still = Moving { velocity: vec![0.0; from.velocity.len()], ..from.clone() };
        let mut last = (still.clone(), 0.0);
        for candidate in found.into_iter().chain([still]) {
            let mut way: Vec<f64> = (0..self.model.len())
                .map(|i| candidate.position.minus(&from.position, i))
                .collect();
            let alone: Vec<Vector<3>> = unknowns.iter().map(|&i| at(&way, i)).collect();
            let mut zones = Zones::new(unknowns.iter().map(|&i| self.model.fixed()[i]));
            let mut go = alone.clone();
            loop {
                let end: Vec<Vector<3>> = start.iter().zip(&go).map(|(x, d)| x + d).collect();
                let met = self.source.collisions(&start, &end, from.time, to)?;
                let mut grown = false;
                for collision in &met {
                    grown |= zones.join(collision);
                }
                if !grown {
                    break;
                }
                let carry = |c: u32, v: usize| self.source.carried(c, &start[v], from.time, to);
                go = zones.displacements(&alone, &masses, carry);
            }
            for (&i, d) in unknowns.iter().zip(&go) {
                way[i..i + 3].copy_from_slice(d.as_slice());
            }
            let mut after = candidate;
            from.position.advanced_into(&way, 1.0, &mut after.position);
            after.velocity = way.iter().map(|d| d / dt).collect();
            let carried = (0..unknowns.len() as u32).filter(|v| zones.is_carried(*v));
            let carried: Vec<usize> = carried.map(|v| unknowns[v as usize]).collect();
            let work = self.carrying_work(from, &after, dt, &carried);
            if self.spends(from, &after, dt, work) {
                report.carrying_work += work;
                report.held += zones.len();
                report.frozen += usize::from(zones.len() == unknowns.len());
                self.work.timings.detection += clock.elapsed();
                return Ok(after);
            }
            last = (after, work);
        }
        // Not even what stood still gained nothing: a collider has pushed it by more than is known of.
        report.frozen += 1;
        report.carrying_work += last.1;
        self.work.timings.detection += clock.elapsed();
        Ok(last.0)
    }
}
