//! The search: from an equilibrium under the full weight to one nearer to the target.
//!
//! Every point of the search is a pair (x, x̄) with x a *stable* equilibrium of the cloth with rest shape x̄ whose contacts
//! stick: after each move of x̄ the cloth is draped again, by minimisation. What is minimised over x̄ is
//!
//! ½ Σ aᵢ |xᵢ − tᵢ|²/ℓ² + κ/2 Σ dist²(r_c, K_c)/f²
//!
//! the distance from the target and that of the contact forces from their cones (made narrower than Coulomb's, so that forces
//! end strictly inside). A step is the Gauss–Newton one of this problem under the linearised balance of forces, shortest in a metric
//! that prefers smooth changes of x̄, with its length controlled as by Levenberg and Marquardt.

use toile_contact::PlacedCollider;
use toile_geometry::Vec3;
use toile_sim::{MixedPattern, Model, State, force_unit, relax};
use toile_solve::{NewtonSettings, Stop};

use crate::cone::Cone;
use crate::kkt::Kkt;
use crate::touch::nearest;
use crate::{InverseError, TargetContact};

mod step;

use step::Direction;

/// A contact of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Vertex of the cloth.
    pub(crate) vertex: u32,
    /// Place of the collider in the scene.
    pub(crate) collider: u32,
    /// First unknown of its vertex.
    pub(crate) unknown: usize,
    /// Node of its vertex.
    pub(crate) node: u32,
    /// Unit normal.
    pub(crate) normal: Vec3,
    /// The true coefficient of friction.
    pub(crate) friction: f64,
    /// Weight of the vertex at full load \[N\].
    pub(crate) weight: f64,
}

/// Numbers that steer the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steering {
    /// Part of the friction forces may use.
    pub(crate) cone_part: f64,
    /// Newton steps of one draping at most.
    pub(crate) drape_steps: usize,
}

/// Forces aim at a cone narrower than what they are judged by, by this factor on the friction.
const AIM: f64 = 0.97;
/// Least normal force that is aimed at, in units of the vertex's weight.
const LEAST_FORCE: f64 = 1e-6;
/// Unit of length, as a part of the size: about the distance at which a target counts as met by eye.
const LENGTH_UNIT: f64 = 1e-3;
/// Bounds of the factor on the metric of x̄.
const LEAST_DAMPING: f64 = 1e-8;
const MOST_DAMPING: f64 = 1e4;

/// Steps in a row that may climb.
const DARING: usize = 1;
/// ... by this factor at most.
const MOST_CLIMB: f64 = 1e3;

/// Asked at every step of a draping: whether to go on.
pub(crate) type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// How far a point is from what is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Merit {
    /// The function that is minimised.
    pub(crate) value: f64,
    /// The part of it that comes from the cones.
    pub(crate) cones: f64,
    /// Largest distance from the target \[m\].
    pub(crate) distance: f64,
    /// Root mean square distance \[m\].
    pub(crate) rms: f64,
    /// Largest distance of a force from the cone it is judged by, over the largest force.
    pub(crate) cone: f64,
    /// Contacts outside that cone.
    pub(crate) outside: usize,
}

/// Where the search is.
pub(crate) struct Search {
    pub(crate) model: Model,
    kkt: Kkt,
    mixed: MixedPattern,
    /// Where the vertices should be, in the order of the unknowns.
    target: Vec<f64>,
    shape_weight: Vec<f64>,
    pub(crate) contacts: Vec<Held>,
    /// Pins: unknowns that neither move nor change their rest value.
    pinned: Vec<bool>,
    rest_held: Vec<bool>,
    edges: Vec<(u32, u32)>,
    pub(crate) x: State,
    pub(crate) rest: State,
    length: f64,
    force: f64,
    /// Size of the acceleration of gravity \[m/s²\].
    gravity: f64,
    /// β, factor on the metric of x̄.
    pub(crate) damping: f64,
    /// κ, stiffness of the cones.
    pub(crate) cone_weight: f64,
    /// How soft the cones' borders are; zero for hard ones.
    pub(crate) softness: f64,
    /// Width of each border \[N\].
    borders: Vec<f64>,
    pub(crate) steering: Steering,
    pub(crate) merit: Merit,
    pub(crate) steps: usize,
    /// Vertices that rest where those do to which they are sewn; none when empty.
    pub(crate) tied: Vec<bool>,
    hessian: Vec<f64>,
    mixed_values: Vec<f64>,
    gradient: Vec<f64>,
}

/// A point that has been tried.
struct Trial {
    x: State,
    rest: State,
    merit: Merit,
}

impl Search {
    /// A search that starts where a model starts and with what it rests at, its contacts held; `target` is where the vertices
    /// should be.
    ///
    /// `edges` are the edges of all shells as pairs of nodes.
    pub(crate) fn new(
        mut model: Model,
        target: &[Vec3],
        touching: &[TargetContact],
        edges: Vec<(u32, u32)>,
        steering: Steering,
    ) -> Result<Self, InverseError> {
        let n = model.len();
        let mut wanted = vec![0.0; n];
        for (&node, p) in model.vertices().iter().zip(target) {
            let i = model.unknown(node);
            wanted[i..i + 3].copy_from_slice(p.as_slice());
        }
        let pinned = model.fixed().to_vec();
        let first = model.first_unknowns().to_vec();
        let rest_held: Vec<bool> = first
            .iter()
            .zip(&model.graph().sizes)
            .map(|(&f, &size)| pinned[f..f + size as usize].iter().all(|p| *p))
            .collect();
        model.set_load(1.0);
        let loads = model.load_vector();
        let contacts: Vec<Held> = touching
            .iter()
            .map(|c| {
                let node = model.vertices()[c.vertex as usize];
                let unknown = model.unknown(node);
                let weight = Vec3::from_column_slice(&loads[unknown..unknown + 3]).norm();
                Held {
                    vertex: c.vertex,
                    collider: c.collider,
                    unknown,
                    node,
                    normal: c.normal,
                    friction: c.friction,
                    weight,
                }
            })
            .collect();
        for c in &contacts {
            for k in 0..3 {
                model.set_fixed(c.unknown + k, true);
            }
        }
        let size = model.size(model.start());
        let vertices = model.vertex_count().max(1) as f64;
        let mass: f64 = model.vertices().iter().map(|&v| model.masses()[model.unknown(v)]).sum();
        let mean = if mass > 0.0 { mass / vertices } else { 1.0 };
        let share = |m: f64| if mass > 0.0 { (m / mean).max(1e-2) } else { 1.0 };
        let shape_weight: Vec<f64> = model.masses().iter().map(|m| share(*m)).collect();
        let force = force_unit(&model);
        // The metric of x̄: differences along edges, and a little of the move itself, so that rigid motions
        // (which change no force) cost something.
        let ground: Vec<f64> = first.iter().map(|&f| 1e-3 * shape_weight[f]).collect();
        let springs = edges.iter().map(|&(a, b)| (a, b, 1.0)).collect();
        let mixed = model.mixed_pattern();
        let kkt = Kkt::new(&model, &mixed, springs, ground, true)?;
        let (x, rest) = (model.start().clone(), model.rest().clone());
        let gravity = if mass > 0.0 { force * vertices / mass } else { 0.0 };
        Ok(Self {
            gravity,
            hessian: vec![0.0; model.pattern().nnz()],
            mixed_values: vec![0.0; mixed.nnz()],
            gradient: vec![0.0; n],
            kkt,
            mixed,
            target: wanted,
            shape_weight,
            contacts,
            pinned,
            rest_held,
            edges,
            x,
            rest,
            length: LENGTH_UNIT * size.max(f64::MIN_POSITIVE),
            force,
            damping: 1e-2,
            cone_weight: 1e2,
            softness: 1.0,
            borders: vec![0.0; touching.len()],
            steering,
            merit: Merit::default(),
            steps: 0,
            tied: Vec::new(),
            model,
        })
    }

    fn aim(&self, c: &Held, soft: f64) -> Cone {
        let friction = AIM * self.steering.cone_part * c.friction;
        Cone { normal: c.normal, friction, least: LEAST_FORCE * c.weight, soft }
    }

    /// A cone inside the one that is aimed at.
    fn narrow(&self, c: &Held) -> Cone {
        let aim = self.aim(c, 0.0);
        Cone { friction: 0.95 * aim.friction, least: 10.0 * aim.least, ..aim }
    }

    /// Chooses the widths of the cones' borders by the present forces.
    fn soften(&mut self) {
        let forces = self.contact_forces(&self.gradient);
        let width = |(c, f): (&Held, &Vec3)| {
            self.softness * c.friction * (0.3 * c.weight).max(0.1 * f.norm())
        };
        self.borders = self.contacts.iter().zip(&forces).map(width).collect();
    }

    /// Forces of the contacts on the cloth at a point \[N\].
    pub(crate) fn contact_forces(&self, gradient: &[f64]) -> Vec<Vec3> {
        self.contacts
            .iter()
            .map(|c| Vec3::from_column_slice(&gradient[c.unknown..c.unknown + 3]))
            .collect()
    }

    /// Merit of the model's present rest shape at `x`, the gradient left in `gradient`.
    fn judge(&self, x: &State, gradient: &mut [f64]) -> Merit {
        self.model.gradient(x, gradient);
        let mut merit = Merit::default();
        let (mut sum, mut weight) = (0.0, 0.0);
        for &node in self.model.vertices() {
            let i = self.model.unknown(node);
            let away = (0..3).map(|k| (x.coordinates()[i + k] - self.target[i + k]).powi(2));
            let squared: f64 = away.sum();
            merit.value += 0.5 * self.shape_weight[i] * squared / (self.length * self.length);
            merit.distance = merit.distance.max(squared.sqrt());
            sum += self.shape_weight[i] * squared;
            weight += self.shape_weight[i];
        }
        merit.rms = (sum / weight.max(f64::MIN_POSITIVE)).sqrt();
        let (mut largest, mut worst) = (0.0f64, 0.0f64);
        for (i, (c, force)) in self.contacts.iter().zip(self.contact_forces(gradient)).enumerate() {
            largest = largest.max(force.norm());
            let penalty = self.aim(c, self.borders[i]).outside(&force).energy;
            merit.cones += self.cone_weight * penalty / (self.force * self.force);
            let judged = Cone {
                normal: c.normal,
                friction: self.steering.cone_part * c.friction,
                least: 0.0,
                soft: 0.0,
            };
            let off = judged.distance(&force);
            merit.outside += usize::from(off > 0.0);
            worst = worst.max(off);
        }
        merit.value += merit.cones;
        merit.cone = if largest > 0.0 { worst / largest } else { 0.0 };
        if !merit.value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
            merit.value = f64::INFINITY;
        }
        merit
    }

    /// Judges where the search is.
    pub(crate) fn refresh(&mut self) {
        let mut gradient = std::mem::take(&mut self.gradient);
        self.merit = self.judge(&self.x, &mut gradient);
        self.gradient = gradient;
    }

    /// Drapes the model's present rest shape from `guess`.
    fn drape(
        &self,
        guess: &State,
        tolerance: f64,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<State>, InverseError> {
        let max_steps = self.steering.drape_steps;
        let settings = NewtonSettings { tolerance, max_steps, ..NewtonSettings::default() };
        let found = relax(&self.model, guess, &settings, |_| go_on())?;
        let there = match found.stop {
            Stop::Minimum | Stop::Degenerate => true,
            Stop::Stagnation | Stop::StepLimit => found.residual <= 1e2 * tolerance,
            Stop::Interrupted | Stop::NotFinite => false,
        };
        Ok(there.then_some(found.point))
    }

    /// Drapes where the search is, to a tighter tolerance.
    pub(crate) fn settle(
        &mut self,
        tolerance: f64,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), InverseError> {
        if let Some(x) = self.drape(&self.x, tolerance, go_on)? {
            self.x = x;
        }
        self.refresh();
        Ok(())
    }

    /// Lets go of contacts that would have to pull and catches vertices that have entered a collider; whether any did.
    ///
    /// Contacts within `slack` (in units of their vertex's weight) of carrying nothing stay.
    pub(crate) fn review(
        &mut self,
        placed: &[PlacedCollider<'_>],
        slack: f64,
        tolerance: f64,
        go_on: &mut GoOn<'_>,
    ) -> Result<bool, InverseError> {
        if placed.is_empty() {
            return Ok(false);
        }
        let size = self.length / LENGTH_UNIT;
        self.model.gradient(&self.x, &mut self.gradient);
        let forces = self.contact_forces(&self.gradient);
        let mut changed = false;
        let mut kept = Vec::with_capacity(self.contacts.len());
        for (c, force) in self.contacts.iter().zip(&forces) {
            if force.dot(&c.normal) < -slack * c.weight {
                for k in 0..3 {
                    self.model.set_fixed(c.unknown + k, false);
                }
                changed = true;
            } else {
                kept.push(*c);
            }
        }
        self.contacts = kept;
        for v in 0..self.model.vertex_count() {
            if self.tied.get(v) == Some(&true) {
                continue;
            }
            let node = self.model.vertices()[v];
            let unknown = self.model.unknown(node);
            if self.model.fixed()[unknown] {
                continue;
            }
            let p = self.model.position(&self.x, node);
            let Some((c, gap)) = nearest(placed, &p) else { continue };
            if gap >= -1e-6 * size {
                continue;
            }
            let p = p - placed[c].query(&p).normal * gap;
            for k in 0..3 {
                self.x.set(unknown + k, p[k]);
                self.model.set_fixed(unknown + k, true);
            }
            let mass = self.model.masses()[unknown];
            self.contacts.push(Held {
                vertex: v as u32,
                collider: c as u32,
                unknown,
                node,
                normal: placed[c].query(&p).normal,
                friction: placed[c].friction(),
                weight: mass * self.gravity,
            });
            changed = true;
        }
        if changed {
            self.borders = vec![0.0; self.contacts.len()];
            self.settle(tolerance, go_on)?;
        }
        Ok(changed)
    }

    /// Goes a part of a step and drapes; `None` when that leads nowhere.
    fn attempt(
        &mut self,
        direction: &Direction,
        part: f64,
        tolerance: f64,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<Trial>, InverseError> {
        let n = self.model.len();
        let Direction { dx, drest, allowed } = direction;
        let scale = part * allowed;
        let (mut guess, mut rest) = (self.x.clone(), self.rest.clone());
        self.x.advanced_into(dx, scale, &mut guess);
        self.rest.advanced_into(drest, scale, &mut rest);
        self.model.set_rest(&rest);
        let Some(x) = self.drape(&guess, tolerance, go_on)? else {
            return Ok(None);
        };
        let mut gradient = vec![0.0; n];
        let merit = self.judge(&x, &mut gradient);
        if !merit.value.is_finite() {
            return Ok(None);
        }
        Ok(Some(Trial { x, rest, merit }))
    }

    fn accept(&mut self, trial: Trial) {
        self.x = trial.x;
        self.rest = trial.rest;
        self.merit = trial.merit;
    }

    /// Takes back what a failed trial has changed.
    fn restore(&mut self) {
        self.model.set_rest(&self.rest);
    }

    /// One improvement: the factor by which the merit fell (1 when nothing better was found).
    pub(crate) fn improve(
        &mut self,
        tolerance: f64,
        go_on: &mut GoOn<'_>,
    ) -> Result<f64, InverseError> {
        self.derivatives();
        self.soften();
        self.refresh();
        let before = self.merit.value;
        if before == 0.0 {
            return Ok(1.0);
        }
        let start = (self.x.clone(), self.rest.clone(), self.merit);
        let damping = self.damping;
        for _ in 0..3 {
            if !go_on() {
                break;
            }
            // A step that bends the rest shape stretches it to second order, and stiff cloth answers with large forces;
            // the next step takes them back. So steps may climb for a while before they are judged.
            for daring in 0..=DARING {
                let Some(direction) = self.direction()? else { break };
                let Some(trial) = self.attempt(&direction, 1.0, tolerance, go_on)? else { break };
                let value = trial.merit.value;
                if value < before {
                    let factor = value / before;
                    self.accept(trial);
                    self.damping *= if daring > 0 {
                        1.5
                    } else if factor < 0.3 {
                        0.1
                    } else {
                        0.4
                    };
                    self.damping = self.damping.clamp(LEAST_DAMPING, MOST_DAMPING);
                    return Ok(factor);
                }
                if value > MOST_CLIMB * before {
                    break;
                }
                self.accept(trial);
                self.derivatives();
            }
            (self.x, self.rest, self.merit) = start.clone();
            self.restore();
            self.derivatives();
            self.damping = (self.damping * 20.0).min(MOST_DAMPING);
        }
        self.damping = damping;
        Ok(1.0)
    }
}
