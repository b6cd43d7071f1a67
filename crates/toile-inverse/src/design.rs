//! The one call: from a target to its rest shape and certificate.

use toile_contact::Contact;
use toile_geometry::Vec3;
use toile_num::words::length;
use toile_sim::dynamics::ContactSource;
use toile_sim::{CERTIFIED_RESIDUAL, Certificate};

use crate::exact::Exact;
use crate::feasible::{self, Support};
use crate::judge::{distances, judge, made_as_drawn};
use crate::nearest::{Found, Ground};
use crate::settle::Carrying;
use crate::touch::{nearest, prepare};
use crate::{Garment, InverseError, TargetContact, Touching};

/// Part of the weight below which a target is far from being held.
const FAR: f64 = 0.5;

/// Settings of an inversion.
#[derive(Clone, Copy, Debug)]
pub struct InverseSettings {
    /// Vertices that are at most this much farther from a collider than its gap touch it \[m\]. Default 0.5 mm: drawn
    /// garments hover by about that much.
    pub contact_tolerance: f64,
    /// Stitches open by at most this much in the target are closed \[m\]. Default 5 mm: simulated garments keep the two sides of a seam
    /// that far apart.
    pub seam_tolerance: f64,
    /// Part of the friction that forces may use. Default 0.975 (Ly 2021, §5.3.4): strictly inside the cones, the
    /// equilibrium survives small changes.
    pub cone_part: f64,
    /// Steps (each with a factorisation of the saddle point) at most. Default 200.
    pub max_steps: usize,
    /// Distance from the target at which the search is content, relative to the size. Default 1e-9.
    pub target_tolerance: f64,
    /// Simulated time for the drift \[s\]; none without. Default 1.
    pub drift_time: f64,
    /// Whether to drape the target as its own rest shape for comparison. Default yes.
    pub naive_sag: bool,
}

impl Default for InverseSettings {
    fn default() -> Self {
        Self {
            contact_tolerance: 5e-4,
            seam_tolerance: 5e-3,
            cone_part: 0.975,
            max_steps: 200,
            target_tolerance: 1e-9,
            drift_time: 1.0,
            naive_sag: true,
        }
    }
}

/// How far an inversion is.
#[derive(Clone, Copy, Debug)]
pub struct InverseStep {
    /// Steps so far.
    pub steps: usize,
    /// Part of the weight that is carried; in a simulation, part of its time.
    pub load: f64,
    /// Largest distance from the target \[m\].
    pub distance: f64,
    /// Root mean square distance from the target \[m\].
    pub rms: f64,
    /// Contacts whose force is not yet inside its cone.
    pub outside: usize,
    /// What is going on.
    pub phase: Phase,
}

/// Parts of an inversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The weight is put on.
    Weight,
    /// The full weight is carried; the match is improved.
    Match,
    /// A rest shape is draped.
    Drape,
    /// No rest shape holds the target: it is let go, and where it comes to rest is looked at.
    Settle,
    /// The result is simulated for its drift.
    Drift,
    /// The target as its own rest shape is draped.
    Naive,
}

/// What keeps a target from being held, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Friction (the largest of the colliders, the others in proportion) that the balance of force and torque takes at least, where that is
    /// more than there is; infinite where no friction would do.
    pub least_friction: Option<f64>,
    /// Part of the weight that was carried within 1 % of the size from the target, forces inside their cones.
    pub weight_fraction: f64,
    /// Factor on all stiffnesses with which the target would be held within 1 % as far as is known: one over the weight fraction, since only
    /// their ratio counts. Infinite when no part of the weight was carried.
    pub stiffness_factor: f64,
    /// Where rounding alone keeps the forces from balancing: the flattest face of the rest shape (all shells numbered through) and its
    /// altitude \[m\].
    pub sliver: Option<(usize, f64)>,
}

/// A contact of the equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactResult {
    /// What touches what, with the vertices that carry the contact.
    pub contact: Contact,
    /// Coefficient of friction.
    pub friction: f64,
    /// Force on the cloth (on the first side between layers) \[N\].
    pub force: Vec3,
}

/// The result of an inversion: the best that was found, with what can be said about it.
#[derive(Clone, Debug)]
pub struct Inversion {
    /// The target with contacts closed \[m\].
    pub touched: Vec<Vec3>,
    /// What was moved to make the contacts, and the contacts.
    pub touching: Touching,
    /// The rest shape \[m\].
    pub rest: Vec<Vec3>,
    /// The equilibrium \[m\].
    pub equilibrium: Vec<Vec3>,
    /// Length of the force that is left at each vertex \[N\]; zero where it is held.
    pub residual: Vec<f64>,
    /// The contacts of the equilibrium and the force each carries.
    pub contacts: Vec<ContactResult>,
    /// The judgement.
    pub certificate: Certificate,
    /// Largest motion of the target as its own rest shape, draped with its contacts stuck \[m\].
    pub naive_sag: Option<f64>,
    /// The shape of that draping \[m\].
    pub naive: Option<Vec<Vec3>>,
    /// What would have to change, where the target cannot be held.
    pub diagnosis: Diagnosis,
    /// Where no rest shape holds the target: the force at each vertex that one near the target leaves to be carried where it was drawn
    /// \[N\]. It is largest where the target asks too much.
    pub unheld: Option<Vec<f64>>,
    /// Whether the result is where the garment came to rest when it was let go, because no rest shape was found that holds the target.
    pub settled: bool,
    /// One entry per step.
    pub history: Vec<InverseStep>,
    /// Whether the observer ended the search.
    pub interrupted: bool,
}

/// Finds the rest shape for which the target is a stable equilibrium under gravity and dry friction.
///
/// `observe` sees every step and ends the search by returning `false`: the best so far is returned and judged all the
/// same. Same input, same bits.
pub fn invert(
    garment: &Garment,
    settings: &InverseSettings,
    observe: impl FnMut(&InverseStep) -> bool,
) -> Result<Inversion, InverseError> {
    invert_shown(garment, settings, observe, |_| {})
}

/// [`invert`], showing the rest shape on the way: `show` is called before each step of the search is observed, with a function
/// that gives the rest shape of that step \[m\].
pub fn invert_shown(
    garment: &Garment,
    settings: &InverseSettings,
    mut observe: impl FnMut(&InverseStep) -> bool,
    mut show: impl FnMut(&dyn Fn() -> Vec<Vec3>),
) -> Result<Inversion, InverseError> {
    check(settings)?;
    let target = garment.target();
    let pinned = garment.pinned();
    let size = extent(&target);
    let mut touched = target.clone();
    let touching = prepare(&mut touched, garment, settings, size)?;
    let layers = layers_touching(garment, &touched, settings)?;
    let hung = check_held(garment, &touched, &pinned, &touching, &layers, settings)?;
    // What hangs on other layers is carried by what carries those.
    let least_friction =
        if hung { None } else { friction_needed(garment, &touched, &pinned, &touching)? };
    let carried = least_friction.is_none() && !hung;
    let (model, nodes) = garment.model(&touched, &touched)?;
    let mut edges = Vec::new();
    for (shell, nodes) in garment.shells.iter().zip(&nodes) {
        let pairs = shell.topology.edges().iter();
        edges.extend(pairs.map(|e| {
            let [a, b] = e.vertices.map(|v| nodes.vertices + v);
            (a, b)
        }));
    }
    let mut history: Vec<InverseStep> = Vec::new();
    let mut go_on = true;
    let mut watch = |phase, steps, load, distance, outside| {
        let before = history.last().map_or(0, |s: &InverseStep| s.steps);
        let steps = before.max(steps);
        let step = InverseStep { steps, load, distance, rms: distance, outside, phase };
        history.push(step);
        go_on &= observe(&step);
        go_on
    };

    // A rest shape that holds the target exactly where it was drawn.
    let carrying = |c: &TargetContact| Carrying::vertex(c.vertex, c.collider, c.normal);
    let mut contacts: Vec<Carrying> = touching.contacts.iter().map(carrying).collect();
    if hung {
        let between = |c: &Contact| Carrying { contact: *c, force: Vec3::zeros(), slides: false };
        contacts.extend(layers.iter().map(between));
    }
    let mut exact =
        Exact::new(model, &touching.contacts, &garment.seams(), &edges, settings.cone_part)?;
    let mut within = 0.0;
    let mut found = None;
    let sticky = touching.contacts.iter().all(|c| c.friction > 0.0);
    let mut starts = Vec::new();
    let mut unheld = None;
    if carried && sticky {
        let mut seen = |steps, load, left: f64, rest: &dyn Fn() -> Vec<Vec3>| {
            show(rest);
            watch(Phase::Weight, steps, load, left, 0)
        };
        within = exact.rise(&mut seen)?;
        if within >= 1.0 {
            let rest = exact.positions(&exact.rest);
            let mut seen = |phase, part, distance| watch(phase, 0, part, distance, 0);
            let held = contacts.clone();
            let judged = judge(garment, settings, &target, &rest, &touched, held, true, &mut seen)?;
            found = Some(Found { rest, judged, settled: false });
        } else {
            starts.extend(exact.unstable.as_ref().map(|rest| exact.positions(rest)));
            let mut seen = |steps, load, left: f64, rest: &dyn Fn() -> Vec<Vec3>| {
                show(rest);
                watch(Phase::Weight, steps, load, left, 0)
            };
            exact.nearly(&mut seen)?;
            unheld = Some(exact.unheld());
            starts.push(exact.positions(&exact.rest));
        }
    }
    drop(exact);

    // Else the nearest equilibrium that is found.
    if found.as_ref().is_none_or(|f| !f.judged.certificate.certified) {
        starts.push(touched.clone());
        let far = carried && sticky && within < FAR;
        let (target, touched, edges) = (&target, &touched, &edges);
        let ground = Ground { garment, settings, target, touched, edges, size, far };
        let near = ground.approach(&starts, &contacts, &mut watch)?;
        if let Some(near) = near.filter(|n| found.as_ref().is_none_or(|f| n.better_than(f))) {
            found = Some(ground.with_drift(near, &mut watch)?);
        }
    }
    let Found { rest, mut judged, settled } = match found {
        Some(found) if found.judged.certificate.penetration.is_none_or(|d| d <= 0.0) => found,
        // Nothing rests: show the target, not something inside a collider.
        _ => {
            let rest = starts.swap_remove(0);
            let mut seen = |phase, part, distance| watch(phase, 0, part, distance, 0);
            let judged = judge(
                garment,
                settings,
                &target,
                &rest,
                &touched,
                contacts.clone(),
                false,
                &mut seen,
            )?;
            Found { rest, judged, settled: false }
        }
    };
    let near = distances(&judged.equilibrium, &touched).0 <= 0.01 * size;
    if judged.certificate.certified && near {
        within = 1.0;
    }
    let diagnosis = Diagnosis {
        least_friction,
        weight_fraction: within,
        stiffness_factor: if within > 0.0 { 1.0 / within } else { f64::INFINITY },
        sliver: rounding(&judged.certificate).then(|| flattest(garment, &rest)).flatten(),
    };
    let near_enough = judged.certificate.certified && near;
    if hung && !near_enough {
        let reason = &mut judged.certificate.reason;
        *reason = format!(
            "{reason}; pieces of it hang on other layers only, and the forces between layers ({} contacts) are not sought along with the rest \
             shape: this is where it rests made as drawn; sew or pin these pieces to what carries them",
            layers.len()
        );
    } else {
        explain(&mut judged.certificate, &diagnosis, garment, &touching, size);
    }
    if !watch(Phase::Match, 0, 1.0, 0.0, 0) {
        let reason = &mut judged.certificate.reason;
        *reason = format!("stopped early, this is the best so far: {reason}");
    }
    let (mut naive, mut naive_sag) = (None, None);
    if settings.naive_sag && watch(Phase::Naive, 0, 0.0, 0.0, 0) {
        let fallen = made_as_drawn(garment, &touched, &contacts)?;
        naive_sag = Some(distances(&fallen, &touched).0);
        naive = Some(fallen);
    }
    let contacts = judged
        .contacts
        .iter()
        .map(|c| ContactResult {
            contact: c.contact,
            friction: c.cone(garment).friction,
            force: c.force,
        })
        .collect();
    Ok(Inversion {
        touched,
        touching,
        rest,
        equilibrium: judged.equilibrium,
        residual: judged.residual,
        contacts,
        certificate: judged.certificate,
        naive_sag,
        naive,
        diagnosis,
        unheld,
        settled,
        history,
        interrupted: !go_on,
    })
}

fn check(settings: &InverseSettings) -> Result<(), InverseError> {
    let within = |what, value: f64, low: f64, high: f64, must| {
        if value >= low && value <= high {
            Ok(())
        } else {
            Err(InverseError::BadSetting { what, value, must })
        }
    };
    within("contact_tolerance", settings.contact_tolerance, 0.0, 1e3, "a length ≥ 0 [m]")?;
    within("seam_tolerance", settings.seam_tolerance, 0.0, 1e3, "a length ≥ 0 [m]")?;
    within("cone_part", settings.cone_part, 1e-3, 1.0, "above 0 and at most 1")?;
    within("drift_time", settings.drift_time, 0.0, 1e4, "a time ≥ 0 [s]")?;
    within("target_tolerance", settings.target_tolerance, 0.0, 1.0, "between 0 and 1")
}

/// Where layers of the target touch each other.
fn layers_touching(
    garment: &Garment,
    positions: &[Vec3],
    settings: &InverseSettings,
) -> Result<Vec<Contact>, InverseError> {
    let mut found = Vec::new();
    if garment.self_contact.is_some() {
        let mut around = garment.surroundings(positions, positions)?;
        around.contacts(positions, 0.0, settings.contact_tolerance, &mut found)?;
        found.retain(|c| c.key.between_layers());
    }
    Ok(found)
}

/// Refuses pieces that nothing holds; whether some are held by other layers only.
fn check_held(
    garment: &Garment,
    positions: &[Vec3],
    pinned: &[bool],
    touching: &Touching,
    layers: &[Contact],
    settings: &InverseSettings,
) -> Result<bool, InverseError> {
    let components = garment.topology()?.components();
    let mut held = vec![false; components.count];
    let mut size = vec![0; components.count];
    for (v, pinned) in pinned.iter().enumerate() {
        if let Some(c) = components.of_vertex[v] {
            size[c as usize] += 1;
            held[c as usize] |= pinned;
        }
    }
    for contact in &touching.contacts {
        if let Some(c) = components.of_vertex[contact.vertex as usize] {
            held[c as usize] = true;
        }
    }
    let hung = held.contains(&false);
    let piece = |v: u32| components.of_vertex[v as usize].map(|c| c as usize);
    for _ in 0..components.count {
        for contact in layers {
            let pieces: Vec<usize> = contact.carriers().filter_map(|(v, _)| piece(v)).collect();
            if pieces.iter().any(|c| held[*c]) {
                pieces.iter().for_each(|c| held[*c] = true);
            }
        }
    }
    let Some(c) = held.iter().position(|h| !h) else { return Ok(hung) };
    let of = |v: &usize| components.of_vertex[*v] == Some(c as u32);
    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let away = (0..positions.len())
        .filter(of)
        .filter_map(|v| nearest(&placed, &positions[v]))
        .map(|(c, gap)| gap + placed[c].gap())
        .fold(f64::INFINITY, f64::min);
    let gap = garment.colliders.iter().map(toile_contact::Collider::gap).fold(0.0, f64::max);
    Err(InverseError::Unheld {
        vertex: (0..positions.len()).find(of).unwrap_or(0),
        size: size[c],
        reach: gap + settings.contact_tolerance,
        nearest: away,
    })
}

/// The largest friction of the colliders.
fn friction_of(garment: &Garment) -> f64 {
    garment.colliders.iter().map(toile_contact::Collider::friction).fold(0.0, f64::max)
}

/// Least friction with which the contacts of every piece without pins could balance its weight; `None` when it is there.
fn friction_needed(
    garment: &Garment,
    positions: &[Vec3],
    pinned: &[bool],
    touching: &Touching,
) -> Result<Option<f64>, InverseError> {
    let components = garment.topology()?.components();
    let mut mass = vec![0.0; components.count];
    let mut moment = vec![Vec3::zeros(); components.count];
    let mut free = vec![true; components.count];
    let mut base = 0;
    for shell in &garment.shells {
        for face in shell.topology.faces() {
            let [a, b, c] = face.map(|v| positions[base + v as usize]);
            let m = 0.5 * shell.areal_density * (b - a).cross(&(c - a)).norm();
            if let Some(k) = components.of_vertex[base + face[0] as usize] {
                mass[k as usize] += m;
                moment[k as usize] += (a + b + c) * (m / 3.0);
            }
        }
        base += shell.positions.len();
    }
    for (v, pinned) in pinned.iter().enumerate() {
        if let (true, Some(k)) = (pinned, components.of_vertex[v]) {
            free[k as usize] = false;
        }
    }
    let most = friction_of(garment);
    let base = if most > 0.0 { most } else { 1.0 };
    let mut worst: Option<f64> = None;
    for k in (0..components.count).filter(|&k| free[k] && mass[k] > 0.0) {
        let supports: Vec<Support> = touching
            .contacts
            .iter()
            .filter(|c| components.of_vertex[c.vertex as usize] == Some(k as u32))
            .map(|c| Support {
                point: positions[c.vertex as usize],
                normal: c.normal,
                friction: if most > 0.0 { c.friction } else { base },
            })
            .collect();
        let weight = garment.gravity * mass[k];
        let centre = moment[k] / mass[k];
        if most > 0.0 && feasible::can_carry(&supports, &weight, &centre, 1.0) {
            continue;
        }
        let factor = feasible::least_friction(&supports, &weight, &centre);
        let least = base * factor.unwrap_or(f64::INFINITY);
        worst = Some(worst.map_or(least, |w| w.max(least)));
    }
    Ok(worst)
}

/// Whether the forces balance but for rounding.
fn rounding(c: &Certificate) -> bool {
    let inside = c.cone_gap.is_none_or(|g| g <= CERTIFIED_RESIDUAL);
    let stable = c.stability.is_some_and(|s| s > 0.0);
    !c.certified && inside && stable && c.residual > CERTIFIED_RESIDUAL && c.residual < 1e-5
}

/// The face with the least altitude, and that.
fn flattest(garment: &Garment, rest: &[Vec3]) -> Option<(usize, f64)> {
    let mut base = 0;
    let mut altitudes = Vec::new();
    for shell in &garment.shells {
        altitudes.extend(shell.topology.faces().iter().map(|f| {
            let [a, b, c] = f.map(|v| rest[base + v as usize]);
            let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
            (b - a).cross(&(c - a)).norm() / longest
        }));
        base += shell.positions.len();
    }
    altitudes.into_iter().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Says what would have to change.
fn explain(
    c: &mut Certificate,
    diagnosis: &Diagnosis,
    garment: &Garment,
    touching: &Touching,
    size: f64,
) {
    let far = c.target_error_max.unwrap_or(0.0) > 0.01 * size;
    if c.certified && !far {
        return;
    }
    let mut words = Vec::new();
    let friction = friction_of(garment);
    match diagnosis.least_friction {
        Some(least) if least.is_infinite() => words.push(
            "no friction would let these contacts carry the weight: it tips or falls off; support it elsewhere or pin it".into(),
        ),
        Some(least) => words.push(format!(
            "too slippery: even a rigid garment would slide off; the friction must be at least {least:.3} instead of {friction:.3}"
        )),
        None => {
            let part = 100.0 * diagnosis.weight_fraction;
            if diagnosis.weight_fraction <= 0.0 && diagnosis.sliver.is_none() {
                words.push(
                    "too soft or too heavy: no part of the weight was carried within 1 % of the size from the target".into(),
                );
            } else if diagnosis.weight_fraction < 1.0 && diagnosis.sliver.is_none() {
                words.push(format!(
                    "too soft or too heavy: {part:.0} % of the weight was carried within 1 % of the size from the target; make \
                     it {:.1} times stiffer or lighter",
                    diagnosis.stiffness_factor
                ));
            }
        }
    }
    if let Some((face, altitude)) = diagnosis.sliver {
        words.push(format!(
            "that is rounding where triangles are flat: face {face} is {} high; remesh it",
            length(altitude)
        ));
    }
    if far && touching.longest_move > 0.5 * c.target_error_max.unwrap_or(0.0) {
        words.push(format!(
            "the target was drawn up to {} inside a collider, or off it; {} vertices were moved by up to {} before anything was sought",
            length(touching.deepest),
            touching.pushed_out + touching.drawn_in,
            length(touching.longest_move)
        ));
    }
    if far && c.certified {
        words.push(format!(
            "the nearest equilibrium that was found is {} away (see target_error in maps.ply)",
            length(c.target_error_max.unwrap_or(0.0))
        ));
    }
    if !words.is_empty() {
        c.reason = format!("{}; {}", c.reason, words.join("; "));
    }
}

/// Diagonal of the box around points \[m\].
pub(crate) fn extent(points: &[Vec3]) -> f64 {
    let start = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (low, high) = points.iter().fold(start, |(l, h), p| (l.inf(p), h.sup(p)));
    if points.is_empty() { 0.0 } else { (high - low).norm() }
}
