//! Contacts as rows over the unknowns, and their law.

use std::collections::HashMap;

use toile_cone::{Contact as LocalContact, Law, project_disc};
use toile_contact::{Contact, ContactKey, Roll};
use toile_num::{Matrix, Vector};

use crate::State;

/// What a contact is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactStatus {
    /// Apart: no force.
    Open,
    /// Held by friction.
    Stick,
    /// Sliding, the force on the border of its cone.
    Slip,
}

/// A contact with the force it carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// The contact as it was at the end of the step.
    pub contact: Contact,
    /// Force on the first side \[N\], mean over the last stage.
    pub force: Vector<3>,
    /// Relative velocity of the sides \[m/s\].
    pub velocity: Vector<3>,
    /// What it is doing.
    pub status: ContactStatus,
}

/// What is kept of a contact when it is looked for anew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Force in space \[N\].
    pub(crate) force: Vector<3>,
    pub(crate) status: ContactStatus,
}

/// A contact in a stage: local displacement d = (gap, tangential slide), force λ, both normal first.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) contact: Contact,
    /// First unknown of each vertex.
    pub(crate) unknowns: [usize; 4],
    /// Normal and two tangents.
    pub(crate) frame: [Vector<3>; 3],
    /// d_N = base + n · Σ wᵢ xᵢ \[m\].
    base: f64,
    /// Gap that is allowed, zero or below \[m\].
    pub(crate) floor: f64,
    /// Mass of the contact over τ², by which forces and displacements compare \[N/m\].
    pub(crate) scale: f64,
    /// Whether one vertex carries it, and carries no other; see [`set_apart`].
    pub(crate) nodal: bool,
    /// Whether it may close, so that the linearised problem has to have it; the others are only watched.
    pub(crate) likely: bool,
    /// Whether it was seen at an earlier look of the stage, and somewhere else since.
    pub(crate) past: bool,
    /// λ \[N\].
    pub(crate) force: Vector<3>,
    /// λ as the linearised problem has it \[N\].
    pub(crate) planned: Vector<3>,
    /// What the contact does.
    pub(crate) status: ContactStatus,
    /// Whether it was just found to slide back, and is to be held.
    pub(crate) turned: bool,
    /// Direction of the friction of a contact that slips, in the tangent plane.
    pub(crate) pull: [f64; 2],
    /// Stiffness by which it is held in linear solves, along the normal and across \[N/m\].
    pub(crate) stiff: [f64; 2],
    /// What friction may carry, where several vertices carry the contact \[N\]; infinite while it is new.
    pub(crate) bound: f64,
    /// How it moves along its edge or face, and the tilts it was found at.
    pub(crate) rolls: [Option<(Roll, f64)>; 2],
}

impl Row {
    pub(crate) fn new(contact: Contact, unknowns: [usize; 4], state: &State, scale: f64) -> Self {
        let n = contact.normal;
        // Any axis that is not near the normal gives a tangent; the law does not depend on which.
        let axis = if n.x.abs() < 0.6 { Vector::<3>::x() } else { Vector::<3>::y() };
        let t1 = n.cross(&axis).normalize();
        let t2 = n.cross(&t1);
        let mut row = Self {
            contact,
            unknowns,
            frame: [n, t1, t2],
            base: 0.0,
            floor: 0.0,
            scale,
            nodal: false,
            likely: true,
            past: false,
            force: Vector::zeros(),
            planned: Vector::zeros(),
            status: ContactStatus::Open,
            turned: false,
            pull: [0.0; 2],
            stiff: [0.0; 2],
            bound: f64::INFINITY,
            rolls: [None; 2],
        };
        row.base = contact.gap - n.dot(&row.sum(state.coordinates()));
        row
    }

    /// Lets the gap be `floor` (below zero) instead of zero: a contact that starts too close recovers in its
    /// time, not at once, which would throw it.
    pub(crate) fn allow(&mut self, floor: f64) {
        self.base -= floor - self.floor;
        self.floor = floor;
    }

    /// The contact seen again from a new place keeps its force, and what it did.
    pub(crate) fn carry(&mut self, held: &Held) {
        let mut local = self.local(&held.force);
        local[0] = local[0].max(0.0);
        self.pull = direction(&local);
        self.status = held.status;
        self.bound = self.contact.friction * local[0];
        self.force = project_disc(self.bound, &local);
    }

    /// What [`Row::carry`] needs.
    pub(crate) fn held(&self) -> Held {
        Held { force: self.world(&self.force), status: self.status }
    }

    /// Σ wᵢ aᵢ over the vertices of the contact.
    pub(crate) fn sum(&self, a: &[f64]) -> Vector<3> {
        let mut out = Vector::zeros();
        for k in 0..self.contact.count as usize {
            out += self.contact.weights[k] * at(a, self.unknowns[k]);
        }
        out
    }

    /// Adds `scale` · Hᵀf for a local force f.
    pub(crate) fn scatter(&self, force: &Vector<3>, scale: f64, out: &mut [f64]) {
        let world = self.world(force) * scale;
        for k in 0..self.contact.count as usize {
            let i = self.unknowns[k];
            for c in 0..3 {
                out[i + c] += self.contact.weights[k] * world[c];
            }
        }
    }

    /// [`Row::scatter`] to unknowns that move only.
    pub(crate) fn scatter_free(
        &self,
        force: &Vector<3>,
        scale: f64,
        fixed: &[bool],
        out: &mut [f64],
    ) {
        let world = self.world(force) * scale;
        for k in 0..self.contact.count as usize {
            let i = self.unknowns[k];
            for c in (0..3).filter(|c| !fixed[i + c]) {
                out[i + c] += self.contact.weights[k] * world[c];
            }
        }
    }

    pub(crate) fn local(&self, world: &Vector<3>) -> Vector<3> {
        Vector::<3>::new(
            self.frame[0].dot(world),
            self.frame[1].dot(world),
            self.frame[2].dot(world),
        )
    }

    pub(crate) fn world(&self, local: &Vector<3>) -> Vector<3> {
        self.frame[0] * local[0] + self.frame[1] * local[1] + self.frame[2] * local[2]
    }

    /// Turns a matrix in space into the frame of the contact.
    pub(crate) fn local_matrix(&self, world: &Matrix<3, 3>) -> Matrix<3, 3> {
        let frame = Matrix::<3, 3>::from_columns(&self.frame);
        frame.transpose() * world * frame
    }

    /// d at position x, reached by the displacement δ in the time τ.
    pub(crate) fn displacement(&self, x: &[f64], delta: &[f64], tau: f64) -> Vector<3> {
        let slide = self.sum(delta) - tau * self.contact.velocity;
        Vector::<3>::new(
            self.base + self.frame[0].dot(&self.sum(x)),
            self.frame[1].dot(&slide),
            self.frame[2].dot(&slide),
        )
    }

    /// Alart–Curnier residual \[N\]: what is left of the law with λ and d as they are.
    pub(crate) fn law_error(&self, d: &Vector<3>) -> f64 {
        self.law_error_of(&self.force, d)
    }

    /// The same with another λ.
    pub(crate) fn law_error_of(&self, force: &Vector<3>, d: &Vector<3>) -> f64 {
        let mut trial = force - self.scale * d;
        trial[0] = trial[0].max(0.0);
        (force - project_disc(self.contact.friction * trial[0], &trial)).norm()
    }

    /// Force when the balance of the contact alone leaves it `local` and it does what its status says.
    /// Slides shorter than `floor` do not tell their direction.
    pub(crate) fn obeyed(&self, local: &Vector<3>, d: &Vector<3>, floor: f64) -> Vector<3> {
        match self.status {
            ContactStatus::Open => Vector::zeros(),
            ContactStatus::Stick => *local,
            ContactStatus::Slip => {
                let radius = self.contact.friction * local[0].max(0.0);
                let [c, s] = self.way(d, floor);
                Vector::<3>::new(local[0], -radius * c, -radius * s)
            }
        }
    }

    /// Direction in which it slides; slides shorter than `floor` do not tell theirs.
    pub(crate) fn way(&self, d: &Vector<3>, floor: f64) -> [f64; 2] {
        if d[1].hypot(d[2]) > floor { direction(d) } else { self.pull.map(|p| -p) }
    }

    /// Takes a status and the friction that goes with it.
    pub(crate) fn decide(&mut self, status: ContactStatus, force: &Vector<3>) {
        self.status = status;
        if status == ContactStatus::Slip {
            self.pull = direction(force);
        }
    }

    /// λ − ρd.
    fn trial(&self, d: &Vector<3>) -> Vector<3> {
        let [n, t] = self.stiff;
        self.force - Vector::<3>::new(n * d[0], t * d[1], t * d[2])
    }

    /// What a contact of several vertices does at d: whether it pushes, and whether it holds.
    pub(crate) fn judged(&self, d: &Vector<3>) -> [bool; 2] {
        let trial = self.trial(d);
        [trial[0] > 0.0, trial[1].hypot(trial[2]) <= self.bound]
    }

    /// Its force at d: the projection of λ − ρd on [0, ∞) × disc(b).
    pub(crate) fn pressed(&self, d: &Vector<3>) -> Vector<3> {
        let mut trial = self.trial(d);
        trial[0] = trial[0].max(0.0);
        project_disc(self.bound, &trial)
    }

    /// Minus the derivative of that force, in space \[N/m\].
    pub(crate) fn softness(&self, d: &Vector<3>) -> Matrix<3, 3> {
        let trial = self.trial(d);
        let [n, t1, t2] = self.frame;
        let mut k = Matrix::zeros();
        if trial[0] > 0.0 {
            k += n * n.transpose() * self.stiff[0];
        }
        let size = trial[1].hypot(trial[2]);
        if size <= self.bound {
            k += (t1 * t1.transpose() + t2 * t2.transpose()) * self.stiff[1];
        } else {
            let [c, s] = direction(&trial);
            let across = t2 * c - t1 * s;
            k += across * across.transpose() * (self.stiff[1] * self.bound / size);
        }
        k
    }

    /// Whether a contact is at nearly the same place of the cloth.
    pub(crate) fn is_near(&self, other: &Contact) -> bool {
        let pairs = self.contact.weights.iter().zip(&other.weights);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 0.05
            && self.contact.normal.dot(&other.normal) > 0.9
    }

    /// Whether it may close and shares vertices with others that may.
    pub(crate) fn is_shared(&self) -> bool {
        self.likely && !self.nodal
    }

    /// Whether any of them does.
    pub(crate) fn any_shared(rows: &[Row]) -> bool {
        rows.iter().any(Row::is_shared)
    }

    /// What names the contact.
    pub(crate) fn key(&self) -> ContactKey {
        self.contact.key
    }
}

/// Tells contacts that have a vertex of their own, and are solved each there, from those that share vertices, and are solved together.
pub(crate) fn set_apart(rows: &mut [Row]) {
    let mut at_vertex: HashMap<usize, u32> = HashMap::new();
    for row in rows.iter().filter(|r| r.contact.count == 1 || r.likely) {
        for i in &row.unknowns[..row.contact.count as usize] {
            *at_vertex.entry(*i).or_default() += 1;
        }
    }
    for row in rows {
        row.nodal = row.contact.count == 1 && at_vertex[&row.unknowns[0]] == 1;
        row.likely |= row.contact.count == 1;
    }
}

/// Unit direction of the tangential part, zero if there is none.
fn direction(local: &Vector<3>) -> [f64; 2] {
    let size = local[1].hypot(local[2]);
    if size > 0.0 { [local[1] / size, local[2] / size] } else { [0.0; 2] }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Entries i, i + 1, i + 2.
pub(crate) fn at(a: &[f64], i: usize) -> Vector<3> {
    Vector::<3>::new(a[i], a[i + 1], a[i + 2])
}

/// One contact alone, exactly: d = Wλ + b with (λ, d) obeying Coulomb's law, W positive definite, in the
/// frame of the contact. Returns λ, d and the status.
pub(crate) fn alone(
    w: &Matrix<3, 3>,
    b: &Vector<3>,
    mu: f64,
) -> Option<(Vector<3>, Vector<3>, ContactStatus)> {
    if b[0] >= 0.0 {
        return Some((Vector::zeros(), *b, ContactStatus::Open));
    }
    let stick = -(w.try_inverse()? * b);
    if stick[1].hypot(stick[2]) <= mu * stick[0] {
        return Some((stick, Vector::zeros(), ContactStatus::Stick));
    }
    let force = LocalContact::new(Law::Coulomb, mu, w).solve(b, &Vector::zeros()).r;
    let mut d = w * force + b;
    d[0] = 0.0;
    Some((force, d, ContactStatus::Slip))
}
