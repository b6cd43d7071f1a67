//! The one call: from a target to its rest shape and certificate.

use toile_contact::Contact;
use toile_geometry::Vec3;
use toile_sim::{Certificate, SimError, State};

use crate::feasible::{self, Support};
use crate::judge::{Judged, distances, judge, made_as_drawn};
use crate::search::{Search, Steering};
use crate::settle::{Carrying, settle};
use crate::touch::{nearest, prepare};
use crate::{Garment, InverseError, TargetContact, Touching};

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
    /// Part of the weight put on at first. Default 0.1.
    pub weight_step: f64,
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
            weight_step: 0.1,
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
    mut observe: impl FnMut(&InverseStep) -> bool,
) -> Result<Inversion, InverseError> {
    check(settings)?;
    let target = garment.target();
    let pinned = garment.pinned();
    let size = extent(&target);
    let mut touched = target.clone();
    let touching = prepare(&mut touched, garment, settings, size)?;
    check_held(garment, &touched, &pinned, &touching, settings)?;
    let least_friction = friction_needed(garment, &touched, &pinned, &touching)?;
    let carried = least_friction.is_none();
    let (model, nodes) = garment.model(&touched, &touched)?;
    let mut edges = Vec::new();
    for (shell, nodes) in garment.shells.iter().zip(&nodes) {
        let pairs = shell.topology.edges().iter();
        edges.extend(pairs.map(|e| {
            let [a, b] = e.vertices.map(|v| nodes.vertices + v);
            (a, b)
        }));
    }
    let steering = Steering { cone_part: settings.cone_part, drape_steps: 60 };
    let mut search = Search::new(model, &touching.contacts, edges, steering)?;
    let mut history = Vec::new();
    let mut go_on = true;
    let mut tell = |search: &Search, phase: Phase, history: &mut Vec<InverseStep>| {
        let step = InverseStep {
            steps: search.steps,
            load: search.load,
            distance: search.merit.distance,
            rms: search.merit.rms,
            outside: search.merit.outside,
            phase,
        };
        history.push(step);
        observe(&step)
    };
    let mut within = 0.0f64;

    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();

    // The weight goes on.
    let mut step = settings.weight_step;
    let jump = 0.02 * size;
    while carried && search.load < 1.0 && go_on && search.steps < settings.max_steps {
        // At this pace it would never end.
        if search.steps >= 6
            && search.steps as f64 > HOPELESS * search.load * settings.max_steps as f64
        {
            break;
        }
        let load = (search.load + step).min(1.0);
        let patient = step > 2e-3;
        let limit = if patient { jump } else { f64::INFINITY };
        if !search.raise(load, limit, PATH_TOLERANCE)? {
            if !patient {
                break;
            }
            search.damping = (search.damping * 4.0).min(1e2);
            step *= 0.5;
            continue;
        }
        go_on = tell(&search, Phase::Weight, &mut history);
        let mut slow = 0;
        for _ in 0..PATH_STEPS {
            let inside =
                search.merit.outside == 0 || search.merit.cones <= 0.1 * search.tolerable();
            let enough = inside && search.merit.distance <= 1e-4 * size;
            if enough || slow > 1 || !go_on || search.steps >= settings.max_steps {
                break;
            }
            let factor = search.improve(PATH_TOLERANCE)?;
            go_on = tell(&search, Phase::Weight, &mut history);
            slow = if factor > 0.8 { slow + 1 } else { 0 };
        }
        if search.merit.outside > 0 {
            search.review(&placed, 0.1, PATH_TOLERANCE)?;
        }
        if search.merit.distance <= 0.01 * size && search.merit.cone < 1e-2 {
            within = search.load;
        }
        let well = search.merit.outside == 0 || search.merit.cones <= 0.1 * search.tolerable();
        step = (step * if well { 2.0 } else { 1.2 }).min(0.25);
    }

    // No way leads there step by step: the cloth falls, and is brought back as far as it goes.
    let mut most = settings.max_steps;
    if touching.contacts.is_empty() && search.load < 1.0 && go_on {
        search.leap(PATH_TOLERANCE)?;
        most = search.steps + settings.max_steps / 2;
    }

    // The full weight is carried: improve the match.
    let mut slow = 0;
    if search.load >= 1.0 {
        search.settle(MATCH_TOLERANCE)?;
    }
    while search.load >= 1.0 && go_on && search.steps < most {
        search.refresh();
        let met = search.merit.distance <= settings.target_tolerance * size;
        if met && search.merit.outside == 0 {
            break;
        }
        if search.merit.outside > 0 || search.merit.distance > 1e-3 * size {
            search.review(&placed, 0.0, MATCH_TOLERANCE)?;
        }
        let factor = search.improve(MATCH_TOLERANCE)?;
        go_on = tell(&search, Phase::Match, &mut history);
        // Inside at last: from here on only the distance counts.
        if search.merit.outside == 0 && search.merit.distance <= 1e-4 * size {
            search.softness = 0.0;
        }
        slow = if factor > 0.97 { slow + 1 } else { 0 };
        if slow >= 3 {
            if search.merit.outside == 0 || search.cone_weight > 1e8 {
                break;
            }
            search.cone_weight *= 10.0;
            slow = 0;
        }
    }

    let positions = |state: &State| -> Vec<Vec3> {
        let model = &search.model;
        model.vertices().iter().map(|&v| model.position(state, v)).collect()
    };
    let (rest, shape) = (positions(&search.rest), positions(&search.x));
    let load = search.load;
    let carrying = |c: &TargetContact| Carrying::vertex(c.vertex, c.collider, c.normal);
    let touching_contacts: Vec<Carrying> = touching.contacts.iter().map(carrying).collect();
    let inside = search.merit.outside == 0;
    let held = search.contacts.iter().map(|c| Carrying::vertex(c.vertex, c.collider, c.normal));
    let held: Vec<Carrying> = held.collect();
    drop(search);
    let last = history.last().copied();
    let mut watch = |phase, part, distance| {
        observe(&InverseStep {
            steps: last.map_or(0, |s| s.steps),
            load: part,
            distance,
            rms: distance,
            outside: last.map_or(0, |s| s.outside),
            phase,
        })
    };
    let mut found: Option<(Vec<Vec3>, Judged)> = None;
    let mut settled = false;
    if load >= 1.0 && inside || !go_on {
        let contacts = held.clone();
        let judged =
            judge(garment, settings, &target, &rest, &shape, contacts, load, go_on, &mut watch)?;
        found = Some((rest.clone(), judged));
    }
    // No rest shape holds the target (or none was found): let the target go and see where it rests; then make it by as much
    // otherwise, and let it go again.
    if go_on && found.as_ref().is_none_or(|(_, judged)| !judged.certificate.certified) {
        let without_drift = InverseSettings { drift_time: 0.0, ..*settings };
        let part = 0.95 * settings.cone_part;
        let mut made = touched.clone();
        let mut best: Option<(Vec<Vec3>, Judged)> = None;
        for _ in 0..=COMPENSATIONS {
            let mut moved = |part: f64, speed: f64| {
                go_on = watch(Phase::Settle, part, speed);
                go_on
            };
            let resting = match settle(garment, &touched, &made, part, size, &mut moved) {
                Ok(Some(resting)) => resting,
                Ok(None) | Err(InverseError::Sim(SimError::FlatRestFace { .. })) => break,
                Err(error) => return Err(error),
            };
            let judged = judge(
                garment,
                &without_drift,
                &target,
                &made,
                &resting.positions,
                resting.contacts,
                1.0,
                go_on,
                &mut watch,
            )?;
            let error = |j: &Judged| j.certificate.target_error_max.unwrap_or(f64::INFINITY);
            let away = error(&judged);
            let change: Vec<Vec3> =
                touched.iter().zip(&judged.equilibrium).map(|(t, x)| t - x).collect();
            let rank = |j: &Judged| (!j.certificate.certified, error(j));
            let better = best.as_ref().is_none_or(|(_, b)| rank(&judged) < rank(b));
            let next = made.iter().zip(&change).map(|(m, c)| m + c).collect();
            if better {
                best = Some((made, judged));
            }
            made = next;
            if !better || !go_on || away <= 2e-3 * size {
                break;
            }
        }
        if let Some((made, resting)) = best {
            let known = found.is_some();
            if resting.certificate.certified || !known {
                let contacts = resting.contacts.clone();
                let judged = judge(
                    garment,
                    settings,
                    &target,
                    &made,
                    &resting.equilibrium,
                    contacts,
                    1.0,
                    go_on,
                    &mut watch,
                )?;
                settled = true;
                found = Some((made, judged));
            }
        }
    }
    let (rest, judged) = match found {
        Some(found) => found,
        None => {
            // Nothing rests: show how far the search came.
            let judged =
                judge(garment, settings, &target, &rest, &shape, held, load, go_on, &mut watch)?;
            (rest, judged)
        }
    };
    let size_error = judged.certificate.target_error_max.unwrap_or(0.0) / size;
    if !settled && load >= 1.0 && inside && size_error <= 0.01 {
        within = 1.0;
    }
    let diagnosis = Diagnosis {
        least_friction,
        weight_fraction: within,
        stiffness_factor: if within > 0.0 { 1.0 / within } else { f64::INFINITY },
    };
    let mut judged = judged;
    explain(&mut judged.certificate, &diagnosis, garment, size);
    let (mut naive, mut naive_sag) = (None, None);
    if settings.naive_sag && go_on && watch(Phase::Naive, 0.0, 0.0) {
        let fallen = made_as_drawn(garment, &touched, &touching_contacts)?;
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
        contacts,
        certificate: judged.certificate,
        naive_sag,
        naive,
        diagnosis,
        settled,
        history,
        interrupted: !go_on,
    })
}

/// Times that a garment which cannot be held is made otherwise by as much as it missed.
const COMPENSATIONS: usize = 2;
/// Times the allowed number of steps at which the way to the full weight is given up.
const HOPELESS: f64 = 3.0;
/// Improvements at each weight on the way at most.
const PATH_STEPS: usize = 25;
/// Residual of drapings on the way, in units of a vertex's weight.
const PATH_TOLERANCE: f64 = 1e-5;
/// The same while the match is improved.
const MATCH_TOLERANCE: f64 = 1e-9;

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
    within("weight_step", settings.weight_step, 1e-4, 1.0, "between 0.0001 and 1")?;
    within("drift_time", settings.drift_time, 0.0, 1e4, "a time ≥ 0 [s]")?;
    within("target_tolerance", settings.target_tolerance, 0.0, 1.0, "between 0 and 1")
}

/// Refuses pieces that nothing holds.
fn check_held(
    garment: &Garment,
    positions: &[Vec3],
    pinned: &[bool],
    touching: &Touching,
    settings: &InverseSettings,
) -> Result<(), InverseError> {
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
    let Some(c) = held.iter().position(|h| !h) else { return Ok(()) };
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

/// Says what would have to change.
fn explain(c: &mut Certificate, diagnosis: &Diagnosis, garment: &Garment, size: f64) {
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
            if diagnosis.weight_fraction <= 0.0 {
                words.push(
                    "too soft or too heavy: no part of the weight was carried within 1 % of the size from the target".into(),
                );
            } else if diagnosis.weight_fraction < 1.0 {
                words.push(format!(
                    "too soft or too heavy: {part:.0} % of the weight was carried within 1 % of the size from the target; make \
                     it {:.1} times stiffer or lighter",
                    diagnosis.stiffness_factor
                ));
            }
        }
    }
    if far && c.certified {
        words.push(format!(
            "the nearest equilibrium that was found is {:.1} mm away (see target_error in maps.ply)",
            1e3 * c.target_error_max.unwrap_or(0.0)
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
