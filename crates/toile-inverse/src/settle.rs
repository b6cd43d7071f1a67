//! Letting a garment come to rest with friction: the last resort, and a sure one.
//!
//! Where no rest shape was found that holds the target, the cloth with the best one is let go, damped, with a little less friction
//! than there is: what it comes to is an equilibrium whose forces are inside the true cones.

use toile_contact::{Collider, Contact, ContactKey};
use toile_energy::Tie;
use toile_geometry::Vec3;
use toile_num::Matrix;
use toile_sim::SimError;
use toile_sim::dynamics::{Simulator, StageSettings};

use crate::cone::Cone;
use crate::{Garment, InverseError};

/// A contact of a settled garment and the force it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carrying {
    pub(crate) contact: Contact,
    pub(crate) force: Vec3,
    /// Whether it is held along its normal only, and carries across it what `force` says.
    pub(crate) slides: bool,
}

/// Where a garment came to rest.
pub(crate) struct Settled {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) contacts: Vec<Carrying>,
}

/// Damping while settling \[1/s\].
const DAMPING: f64 = 8.0;
/// Time steps \[s\]: while it falls, and once it is slower than these parts of the size per second.
const STEPS: [(f64, f64); 3] = [(f64::INFINITY, 0.02), (5e-3, 0.1), (5e-4, 0.5)];
/// Steps at most.
const MOST_STEPS: usize = 150;
/// Steps from standstill at most, the longest of them \[s\], and the way in it at which nothing slides any more, in units of the size.
const MOST_RESTS: usize = 25;
const LONGEST: f64 = 1.0;
const STILL: f64 = 1e-6;
/// Speed at which it counts as resting, per size \[1/s\].
const REST: f64 = 1e-5;

/// Lets a garment with a rest shape come to rest from `start`; if that is `still`, balanced but for some contacts, in long steps from
/// standstill, each of which slides only as far as it must.
pub(crate) fn settle(
    garment: &Garment,
    start: &[Vec3],
    rest: &[Vec3],
    friction_part: f64,
    size: f64,
    still: bool,
    observe: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Option<Settled>, InverseError> {
    let mut gentle = garment.clone();
    gentle.colliders = garment
        .colliders
        .iter()
        .map(|c| c.clone().with_friction(friction_part * c.friction()))
        .collect::<Result<Vec<Collider>, _>>()?;
    if let Some(own) = &mut gentle.self_contact {
        own.friction *= friction_part;
    }
    let (model, _) = gentle.model(start, rest)?;
    let around = gentle.surroundings(start, rest)?;
    let mut simulator = Simulator::new(model, around)?;
    simulator.set_mass_damping(DAMPING);
    // A fall need not be right on the way.
    let max_iterations = if still { 12 } else { 2 };
    simulator.set_settings(StageSettings { max_iterations, ..StageSettings::default() });
    let mut h = STEPS[0].1;
    let standstill = vec![0.0; simulator.model().len()];
    for step in 0..if still { MOST_RESTS } else { MOST_STEPS } {
        if still {
            simulator.set_velocities(&standstill);
        }
        match simulator.step(h) {
            // Where nothing credible is found, nothing moves.
            Ok(report) if report.stopped >= report.substeps => return Ok(None),
            Ok(_) => {}
            Err(SimError::StepFailed { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let model = simulator.model();
        let speed = model
            .vertices()
            .iter()
            .map(|&v| {
                let i = model.unknown(v);
                Vec3::from_column_slice(&simulator.velocities()[i..i + 3]).norm()
            })
            .fold(0.0, f64::max);
        let away = model
            .vertices()
            .iter()
            .zip(start)
            .map(|(&v, p)| (model.position(simulator.state(), v) - p).norm())
            .fold(0.0, f64::max);
        if !speed.is_finite() || away > 0.5 * size {
            return Ok(None); // it has fallen off
        }
        if !observe((step + 1) as f64 / MOST_STEPS as f64, speed) {
            break;
        }
        if still {
            if speed * h <= STILL * size && h >= LONGEST {
                break;
            }
            h = (2.0 * h).min(LONGEST);
            continue;
        }
        if speed <= REST * size {
            break;
        }
        // It starts from rest, so it is slow at first, too.
        if step >= 10 {
            let slow = STEPS.iter().filter(|(limit, _)| speed <= limit * size);
            h = slow.map(|(_, h)| *h).fold(STEPS[0].1, f64::max);
        }
    }
    let model = simulator.model();
    let positions =
        model.vertices().iter().map(|&v| model.position(simulator.state(), v)).collect();
    let contacts = simulator
        .contact_forces()
        .iter()
        .map(|f| Carrying { contact: f.contact, force: f.force, slides: false })
        .collect();
    Ok(Some(Settled { positions, contacts }))
}

impl Carrying {
    /// A vertex on a collider that carries nothing yet.
    pub(crate) fn vertex(vertex: u32, collider: u32, normal: Vec3) -> Self {
        let contact = Contact {
            key: ContactKey::VertexCollider { vertex, collider },
            vertices: [vertex, 0, 0, 0],
            weights: [1.0, 0.0, 0.0, 0.0],
            count: 1,
            normal,
            gap: 0.0,
            velocity: Vec3::zeros(),
            friction: 0.0,
        };
        Self { contact, force: Vec3::zeros(), slides: false }
    }

    /// The cone of the contact with the true friction of the garment.
    pub(crate) fn cone(&self, garment: &Garment) -> Cone {
        let of = |c: u32| garment.colliders.get(c as usize).map_or(0.0, Collider::friction);
        let friction = match self.contact.key {
            ContactKey::VertexCollider { collider, .. }
            | ContactKey::FaceCollider { collider, .. }
            | ContactKey::EdgeCollider { collider, .. } => of(collider),
            ContactKey::VertexFace { .. } | ContactKey::EdgeEdge { .. } => {
                garment.self_contact.map_or(0.0, |own| own.friction)
            }
        };
        Cone { normal: self.contact.normal, friction, least: 0.0, soft: 0.0 }
    }
}

/// The springs that hold contacts of several vertices and those that slide, with the nodes they hold.
pub(crate) fn ties(
    contacts: &[Carrying],
    positions: &[Vec3],
    vertex_nodes: &[u32],
    stiffness: f64,
) -> (Vec<Tie>, Vec<[u32; 4]>) {
    let mut springs = Vec::new();
    let mut nodes = Vec::new();
    for c in contacts.iter().filter(|c| c.contact.count > 1 || c.slides) {
        let mut weights = [0.0; 4];
        let mut stencil = [toile_sim::NO_NODE; 4];
        let mut here = Vec3::zeros();
        for (k, (v, w)) in c.contact.carriers().enumerate() {
            weights[k] = w;
            stencil[k] = vertex_nodes[v as usize];
            here += positions[v as usize] * w;
        }
        let normal = c.contact.normal;
        let held = if c.slides { normal * normal.transpose() } else { Matrix::identity() };
        let stiffness = held * stiffness;
        springs.push(Tie { weights, point: here, stiffness, force: c.force });
        nodes.push(stencil);
    }
    (springs, nodes)
}
