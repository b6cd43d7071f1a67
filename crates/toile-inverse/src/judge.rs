//! The judgement: whether what was found is an equilibrium, in figures.

use toile_contact::{Layers, PlacedCollider};
use toile_geometry::Vec3;
use toile_num::words::length;
use toile_sim::dynamics::{Simulator, Surroundings};
use toile_sim::{
    CERTIFIED_RESIDUAL, Certificate, SimError, equilibrium, relax, tied_vertices,
    with_balanced_angles,
};
use toile_solve::{NewtonSettings, Stop};

use crate::design::extent;
use crate::settle::Carrying;
use crate::touch::nearest;
use crate::{Garment, InverseError, InverseSettings, Phase};

/// What comes out of the judgement.
pub(crate) struct Judged {
    pub(crate) equilibrium: Vec<Vec3>,
    pub(crate) contacts: Vec<Carrying>,
    pub(crate) certificate: Certificate,
    /// Force left at each vertex \[N\].
    pub(crate) residual: Vec<f64>,
    /// Layers that pass through each other.
    pub(crate) crossing: Crossing,
    /// Whether that is all that keeps it from being certified.
    pub(crate) but_for_crossing: bool,
}

impl Judged {
    /// Counts layers that are inside each other as penetrations, where they mind.
    pub(crate) fn count_layers(&mut self, garment: &Garment) {
        if garment.self_contact.is_some() {
            let depth = self.certificate.penetration.unwrap_or(0.0);
            self.certificate.penetration = Some(depth.max(self.crossing.deepest));
        }
    }
}

/// Where layers of a shape pass through each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crossing {
    /// Edges that pass through faces.
    pub count: usize,
    /// By how much the deepest does \[m\].
    pub deepest: f64,
    /// Where that is \[m\].
    pub place: Vec3,
}

impl Crossing {
    pub(crate) fn of(garment: &Garment, positions: &[Vec3]) -> Result<Self, InverseError> {
        let topology = garment.topology()?;
        let found = Layers::new(&topology, positions)?.crossings(positions)?;
        let worst = found.iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
        let (deepest, place) = worst.map_or((0.0, Vec3::zeros()), |p| (p.depth, p.place));
        Ok(Self { count: found.len(), deepest, place })
    }
}

/// Drift up to which a result is certified, relative to its size.
pub(crate) const CERTIFIED_DRIFT: f64 = 1e-4;
/// Longest and shortest step of the simulation that measures the drift \[s\].
const DRIFT_STEP: f64 = 0.01;
const LEAST_DRIFT_STEP: f64 = 2e-3;
/// Times that contacts which pull are let go and vertices which have entered a collider are caught.
const ROUNDS: usize = 8;

/// Newton steps of one draping at most.
const NEWTON_STEPS: usize = 200;

/// Judges a rest shape whose cloth lies at `shape` on `contacts`; unless `relaxed`, exactly there.
pub(crate) fn judge(
    garment: &Garment,
    settings: &InverseSettings,
    target: &[Vec3],
    rest: &[Vec3],
    shape: &[Vec3],
    contacts: Vec<Carrying>,
    relaxed: bool,
    observe: &mut dyn FnMut(Phase, f64, f64) -> bool,
) -> Result<Judged, InverseError> {
    let size = extent(target);
    let steps = if relaxed { NEWTON_STEPS } else { 0 };
    let Balanced { equilibrium: positions, contacts, mut certificate, residual } =
        balance(garment, rest, shape, contacts, steps, observe)?;
    certificate.size = size;
    if !contacts.is_empty() {
        let (gap, margin) = cone_figures(garment, &contacts);
        certificate.cone_gap = Some(gap);
        certificate.cone_margin = Some(margin);
    }
    if !garment.colliders.is_empty() {
        certificate.penetration = Some(deepest(garment, &positions));
    }
    let (max, rms) = distances(&positions, target);
    certificate.target_error_max = Some(max);
    certificate.target_error_rms = Some(rms);
    let crossing = Crossing::of(garment, &positions)?;
    let crosses =
        crossing.count > 0 && garment.self_contact.is_some() && !settings.layers_may_cross;
    let sound = certificate.certified
        && !crosses
        && certificate.cone_gap.is_none_or(|g| g <= CERTIFIED_RESIDUAL)
        && certificate.penetration.is_none_or(|p| p <= 0.0);
    if sound && settings.drift_time > 0.0 {
        let around = garment.surroundings_of(&positions, rest, &contacts)?;
        let time = settings.drift_time;
        let moved = drift(garment, around, time, &positions, rest, &contacts, observe)?;
        certificate.drift = moved.map(|m| m / size);
    }
    verdict(&mut certificate, garment, &contacts, settings.drift_time);
    let but_for_crossing = crosses && certificate.certified;
    if crosses {
        tell_crossing(&mut certificate, &crossing);
    }
    Ok(Judged {
        equilibrium: positions,
        contacts,
        certificate,
        residual,
        crossing,
        but_for_crossing,
    })
}

/// Says that layers pass through each other, which no cloth can.
fn tell_crossing(c: &mut Certificate, crossing: &Crossing) {
    let Crossing { count, deepest, place } = crossing;
    let words = format!(
        "layers pass through each other: {count} times an edge through a face, by up to {}, the deepest at ({:.4}, {:.4}, {:.4}) m; move \
         them apart there, or allow it by `layers_may_cross` in [invert]",
        length(*deepest),
        place.x,
        place.y,
        place.z
    );
    c.reason = if c.certified { words } else { format!("{words}; {}", c.reason) };
    c.certified = false;
}

/// What comes out of [`balance`].
struct Balanced {
    equilibrium: Vec<Vec3>,
    contacts: Vec<Carrying>,
    certificate: Certificate,
    residual: Vec<f64>,
}

/// The last digits: rest shape and start are now what the files will say. Contacts that would have to pull are let go, vertices that
/// end inside a collider are caught on its surface.
fn balance(
    garment: &Garment,
    rest: &[Vec3],
    shape: &[Vec3],
    mut contacts: Vec<Carrying>,
    max_steps: usize,
    observe: &mut dyn FnMut(Phase, f64, f64) -> bool,
) -> Result<Balanced, InverseError> {
    let newton = NewtonSettings { tolerance: 1e-10, max_steps, ..NewtonSettings::default() };
    let pinned = garment.pinned();
    // What is sewn to others rests where they do: held twice, its thread would be stretched.
    let tied = tied_vertices(shape.len(), &garment.seams());
    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let size = extent(shape);
    let mut positions = shape.to_vec();
    let mut round = 0;
    loop {
        let stiffness = tie_stiffness(garment, rest, size);
        let mut model = garment.held_model(&positions, rest, &contacts, stiffness)?;
        let before = positions.clone();
        let start = with_balanced_angles(&mut model, &newton)?;
        let found = equilibrium(&model, &start, &newton, |_| observe(Phase::Drape, 1.0, 0.0))?;
        let mut gradient = vec![0.0; model.len()];
        model.gradient(&found.state, &mut gradient);
        positions = model.positions(&found.state);
        for c in &mut contacts {
            if c.contact.count == 1 {
                let i = model.unknown(model.vertices()[c.contact.vertices[0] as usize]);
                c.force = Vec3::from_column_slice(&gradient[i..i + 3]);
            } else {
                let off = |p: &[Vec3]| {
                    let blend = c.contact.carriers().map(|(v, w)| p[v as usize] * w);
                    blend.fold(Vec3::zeros(), |sum, p| sum + p)
                };
                c.force -= (off(&positions) - off(&before)) * stiffness;
            }
        }
        round += 1;
        model.clear_fixed(&mut gradient);
        let left = |node: &u32| {
            let i = model.unknown(*node);
            Vec3::from_column_slice(&gradient[i..i + 3]).norm()
        };
        let done = Balanced {
            equilibrium: positions.clone(),
            contacts: contacts.clone(),
            certificate: found.certificate,
            residual: model.vertices().iter().map(left).collect(),
        };
        if round == ROUNDS || max_steps == 0 || found.stop == Stop::Interrupted {
            return Ok(done);
        }
        let count = contacts.len();
        let holds = |c: &Carrying| c.force.dot(&c.contact.normal) >= 0.0;
        if !contacts.iter().any(holds) && !pinned.contains(&true) {
            return Ok(done); // let go, it would fall for ever
        }
        contacts.retain(holds);
        let mut changed = contacts.len() != count;
        let mut touches = pinned.clone();
        for c in &contacts {
            for (v, _) in c.contact.carriers() {
                touches[v as usize] = true;
            }
        }
        for (v, p) in positions.iter_mut().enumerate() {
            if touches[v] || tied[v] {
                continue;
            }
            let Some((c, gap)) = nearest(&placed, p) else { continue };
            if gap < -1e-6 * size {
                let near = placed[c].query(p);
                *p -= near.normal * gap;
                let normal = placed[c].query(p).normal;
                contacts.push(Carrying::vertex(v as u32, c as u32, normal));
                changed = true;
            }
        }
        if !changed {
            return Ok(done);
        }
    }
}

/// How far the whole weight would move a contact of several vertices, in units of the size, at least, and for each vertex of the cloth. Stiffer ones would drown the
/// last digits of the balance: positions are rounded to 1e-16 of the size, which they turn into forces. What they carry at first is known, so they hardly yield.
const YIELDING: (f64, f64) = (1e-4, 2e-7);

/// How far the whole weight would move a contact of several vertices, in units of the size, in cloth of so many vertices.
pub(crate) fn yielding(vertices: usize) -> f64 {
    YIELDING.0.max(YIELDING.1 * vertices as f64)
}

/// Stiffness of the springs that hold contacts of several vertices: the whole weight on one of them would move it by [`yielding`] \[N/m\].
pub(crate) fn tie_stiffness(garment: &Garment, rest: &[Vec3], size: f64) -> f64 {
    let mut weight = 0.0;
    let mut base = 0;
    for shell in &garment.shells {
        for f in shell.topology.faces() {
            let [a, b, c] = f.map(|v| rest[base + v as usize]);
            weight += 0.5 * shell.areal_density * (b - a).cross(&(c - a)).norm();
        }
        base += shell.positions.len();
    }
    let k = weight * garment.gravity.norm() / (yielding(rest.len()) * size);
    if k > 0.0 && k.is_finite() { k } else { 1e6 }
}

/// The target as its own rest shape, draped with its contacts stuck; `None` when the observer wanted no more.
pub(crate) fn made_as_drawn(
    garment: &Garment,
    touched: &[Vec3],
    contacts: &[Carrying],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<Vec3>>, InverseError> {
    let model = garment.held_model(touched, touched, contacts, 1.0)?;
    let newton = NewtonSettings { tolerance: 1e-4, max_steps: 80, ..NewtonSettings::default() };
    let fallen = relax(&model, model.start(), &newton, |_| go_on())?;
    Ok((fallen.stop != Stop::Interrupted).then(|| model.positions(&fallen.point)))
}

/// Largest and root mean square distance.
pub(crate) fn distances(a: &[Vec3], b: &[Vec3]) -> (f64, f64) {
    let squared: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b).norm_squared()).collect();
    let largest = squared.iter().copied().fold(0.0, f64::max).sqrt();
    (largest, (squared.iter().sum::<f64>() / squared.len().max(1) as f64).sqrt())
}

/// Largest distance from the cones over the largest force, and least margin.
fn cone_figures(garment: &Garment, contacts: &[Carrying]) -> (f64, f64) {
    let largest = contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
    let (mut gap, mut margin) = (0.0f64, 1.0f64);
    for c in contacts {
        let cone = c.cone(garment);
        gap = gap.max(cone.distance(&c.force));
        // A force that is nothing but rounding says nothing about slipping.
        if c.force.norm() > 1e-9 * largest {
            margin = margin.min(cone.margin(&c.force).max(-1e3));
        }
    }
    (if largest > 0.0 { gap / largest } else { 0.0 }, margin)
}

/// Depth of the deepest vertex inside a collider, its gap not counted \[m\].
///
/// What is sewn to an edge is a point of that edge: on a round body it lies below the vertices that touch, as every chord does, and counts only where it is
/// deeper than the gap.
fn deepest(garment: &Garment, positions: &[Vec3]) -> f64 {
    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let tied = tied_vertices(positions.len(), &garment.seams());
    let depth = |(p, tied): (&Vec3, &bool)| {
        let below = |c: &PlacedCollider<'_>| {
            let depth = -c.query(p).distance;
            if *tied && depth <= c.gap() { 0.0 } else { depth }
        };
        placed.iter().map(below).fold(f64::MIN, f64::max)
    };
    positions.iter().zip(&tied).map(depth).fold(0.0, f64::max)
}

/// Largest motion in a simulated time, exact friction, from rest \[m\]; `None` when the observer wanted no more.
fn drift(
    garment: &Garment,
    around: Surroundings,
    time: f64,
    start: &[Vec3],
    rest: &[Vec3],
    contacts: &[Carrying],
    observe: &mut dyn FnMut(Phase, f64, f64) -> bool,
) -> Result<Option<f64>, InverseError> {
    let (mut model, _) = garment.model(start, rest)?;
    let newton =
        NewtonSettings { tolerance: 1e-10, max_steps: NEWTON_STEPS, ..NewtonSettings::default() };
    let state = with_balanced_angles(&mut model, &newton)?;
    let mut simulator = Simulator::new(model, around)?;
    simulator.set_state(&state);
    // Where many contacts say nearly the same thing, others would be found for the same weight, slowly.
    simulator.expect(contacts.iter().map(|c| (c.contact.key, c.force)));
    let mut h = DRIFT_STEP.min(time);
    let mut largest = 0.0f64;
    while simulator.time() < (1.0 - 1e-9) * time {
        let part = simulator.time() / time;
        let next = h.min(time - simulator.time());
        match simulator.step_while(next, &mut || observe(Phase::Drift, part, largest)) {
            // A step that had to be cut was too long, and the next one would be, too.
            Ok(Some(report)) if report.substeps > 1 => h = (0.5 * h).max(LEAST_DRIFT_STEP),
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(SimError::StepFailed { .. }) => return Ok(Some(f64::INFINITY)),
            Err(error) => return Err(error.into()),
        }
        let now = simulator.model().positions(simulator.state());
        largest = largest.max(distances(&now, start).0);
        if largest > extent(start) {
            break; // it falls
        }
        if !observe(Phase::Drift, simulator.time() / time, largest) {
            return Ok(None);
        }
    }
    Ok(Some(largest))
}

/// Says whether all is well; `time` is how long the result was simulated \[s\].
fn verdict(c: &mut Certificate, garment: &Garment, contacts: &[Carrying], time: f64) {
    let mut bad = Vec::new();
    if !c.certified {
        bad.push(c.reason.clone());
    }
    if let Some(gap) = c.cone_gap.filter(|g| *g > CERTIFIED_RESIDUAL) {
        let count = contacts.iter().filter(|c| c.cone(garment).distance(&c.force) > 0.0).count();
        bad.push(format!(
            "{count} of {} contact forces are outside their cones, the worst by {gap:.1e} of the largest force",
            contacts.len()
        ));
    }
    if let Some(depth) = c.penetration.filter(|d| *d > 0.0) {
        bad.push(format!("a vertex is {} inside a collider", length(depth)));
    }
    if let Some(drift) = c.drift.filter(|d| *d > CERTIFIED_DRIFT || d.is_nan()) {
        bad.push(format!(
            "simulated for {time} s it moves by {} ({drift:.1e} of its size)",
            length(drift * c.size)
        ));
    }
    c.certified = bad.is_empty();
    if c.certified {
        let far = c.target_error_max.unwrap_or(0.0);
        let hold = if contacts.is_empty() {
            String::new()
        } else {
            format!(
                "; {} contact forces inside their cones, {:.0} % of the friction to spare",
                contacts.len(),
                100.0 * c.cone_margin.unwrap_or(0.0)
            )
        };
        let still = c.drift.map_or(String::new(), |d| {
            format!("; simulated for {time} s it moves by {}", length(d * c.size))
        });
        c.reason = format!("{}{hold}{still}; within {} of the target", c.reason, length(far));
    } else {
        c.reason = bad.join("; ");
    }
}
