//! How a step went.

use super::stage::StageTimings;

/// Energies of a moving model \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// ½ vᵀMv.
    pub kinetic: f64,
    /// Elastic energy and that of the loads.
    pub potential: f64,
}

/// How a step went.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepReport {
    /// Newton steps.
    pub iterations: usize,
    /// Factorisations.
    pub factorisations: usize,
    /// Contacts looked at.
    pub candidates: usize,
    /// Contacts that carry force.
    pub contacts: usize,
    /// Whether every stage met its tolerances.
    pub converged: bool,
    /// Largest acceleration left, in units of the load's.
    pub residual: f64,
    /// Largest violation of the law of contact (Alart–Curnier), over the largest force.
    pub law_error: f64,
    /// The same, mean over all contacts looked at.
    pub mean_law_error: f64,
    /// Parts the step was cut into.
    pub substeps: usize,
    /// Parts whose contacts could not be solved: what would have collided in them went together.
    pub stopped: usize,
    /// Vertices that went together in these parts.
    pub held: usize,
    /// Parts in which nothing could be moved as it should.
    pub frozen: usize,
    /// Work of colliders on what went with them in the parts held back \[J\]: no contact force tells of it.
    pub carrying_work: f64,
    /// Where the time went.
    pub timings: StageTimings,
}

impl StepReport {
    /// Adds what a later part says.
    pub(super) fn absorb(&mut self, part: &Self) {
        self.iterations += part.iterations;
        self.factorisations += part.factorisations;
        self.converged &= part.converged;
        self.residual = self.residual.max(part.residual);
        self.law_error = self.law_error.max(part.law_error);
        self.mean_law_error = self.mean_law_error.max(part.mean_law_error);
        self.candidates = part.candidates;
        self.contacts = part.contacts;
    }
}
