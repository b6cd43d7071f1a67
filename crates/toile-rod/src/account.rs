//! What a step found: contacts by their names, their forces, and where the time went.

use std::time::Instant;

use toile_cone::Status;

use crate::rotation::Vec3;

/// Names a contact from one step to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FibreContactKey {
    /// A point of a fibre on a collider.
    Collider {
        /// Which fibre.
        fibre: u32,
        /// Which point along it.
        point: u32,
        /// Which collider.
        collider: u32,
    },
    /// Two fibres that cross.
    Fibres {
        /// Fibre and segment of the first.
        first: (u32, u32),
        /// Fibre and segment of the second.
        second: (u32, u32),
    },
    /// A fibre on a surface that moves by laws of its own.
    Surface {
        /// Fibre and segment.
        fibre: (u32, u32),
        /// Which part of the surface.
        part: SurfacePart,
    },
}

/// A part of a surface, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SurfacePart {
    /// A corner of faces.
    Vertex(u32),
    /// A side of faces.
    Edge(u32),
    /// A face, touched by a joint.
    Face(u32),
}

/// A contact after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibreContact {
    /// What touches what.
    pub key: FibreContactKey,
    /// Where \[m\].
    pub point: Vec3,
    /// Unit normal towards the (first) fibre.
    pub normal: Vec3,
    /// Force on the (first) fibre \[N\], in world axes.
    pub force: Vec3,
    /// Distance beyond the radii before the step \[m\]; negative when too close.
    pub gap: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Stick, slip or take-off.
    pub status: Status,
}

/// Where the time of a step went \[s\].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTimings {
    /// Shapes, masses and factorisations of the fibres, and moving them.
    pub fibres: f64,
    /// Finding contacts.
    pub detection: f64,
    /// How contacts move each other.
    pub operator: f64,
    /// Solving the law of friction.
    pub friction: f64,
}

impl StepTimings {
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            fibres: self.fibres + other.fibres,
            detection: self.detection + other.detection,
            operator: self.operator + other.operator,
            friction: self.friction + other.friction,
        }
    }
}

/// Times between calls.
pub(crate) struct Laps(Instant);

impl Laps {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        std::mem::replace(&mut self.0, now).elapsed().as_secs_f64()
    }
}

/// What a step found.
#[derive(Clone, Debug, Default)]
pub struct AssemblyReport {
    /// All contacts, sorted by key.
    pub contacts: Vec<FibreContact>,
    /// Sweeps of the friction solver.
    pub sweeps: usize,
    /// Residual of the friction law, relative to the largest force.
    pub residual: f64,
    /// Whether it is within the tolerance.
    pub converged: bool,
    /// Deepest gap below zero before the step \[m\].
    pub penetration: f64,
    /// Pairs of fibres that still pass through each other in the step, although they were held: too long a step.
    pub passing: usize,
    /// Parts the step was taken in beyond the first.
    pub cuts: usize,
    /// Where the time went.
    pub timings: StepTimings,
    /// Whether anything moved so far that it could pass.
    pub(crate) fast: bool,
}

impl AssemblyReport {
    /// Two parts of a step as one.
    pub(crate) fn followed_by(self, next: Self) -> Self {
        Self {
            sweeps: self.sweeps + next.sweeps,
            residual: self.residual.max(next.residual),
            converged: self.converged && next.converged,
            penetration: self.penetration.max(next.penetration),
            passing: self.passing.max(next.passing),
            cuts: self.cuts + next.cuts + 1,
            timings: self.timings.plus(&next.timings),
            fast: true,
            contacts: next.contacts,
        }
    }
}
