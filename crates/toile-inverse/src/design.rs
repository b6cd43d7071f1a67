//! The one call: from a target to its rest shape and certificate.

use std::cell::Cell;

use toile_contact::Contact;
use toile_geometry::Vec3;
use toile_sim::{Certificate, tied_vertices};

use crate::diagnosis::{Cause, explain, flattest, rounding};
use crate::exact::{Exact, NEWTON, Press};
use crate::held::{between_vertices, close_layers, friction_needed};
use crate::hover::hanging_on;
use crate::judge::{CERTIFIED_DRIFT, Crossing, Judged, distances, judge, made_as_drawn};
use crate::nearest::{Found, Ground, Start, Watch};
use crate::reach::{Reached, Show};
use crate::settle::Carrying;
use crate::stickier::friction_that_holds;
use crate::touch::{nearest, prepare, spread};
use crate::{Diagnosis, Garment, InverseError, TargetContact, Touching};

/// Part of the weight below which a target is far from being held.
const FAR: f64 = 0.5;

/// Force left, in units of a vertex's weight, beyond which a target with faces that no cloth can have is not tried further as it was drawn:
/// where these are what keeps it from balance they make a million of it, and other targets some hundreds.
const HOPELESS: f64 = 1e5;

/// What it costs a shape to yield by a thousandth of the size, beside a change of the rest shape by that much at each edge.
const SHAPE: f64 = 0.3;

/// How many times stiffer against bending cloth that holds the target may be than the cloth there is for a shape that yields to be near: a flared skirt held
/// with 8.6 times yields by 1.0 % of its size.
const MOST_FACTOR: f64 = 40.0;

/// Distance within which colliders are in the way of a shape that yields, in units of the size.
const WALLS: f64 = 0.05;

/// Settings of an inversion.
#[derive(Clone, Copy, Debug)]
pub struct InverseSettings {
    /// Vertices that are at most this much farther from a collider than its gap touch it \[m\]. None, the default, is 0.5 mm, or for a
    /// piece that was drawn farther off its body, or into it here and there, the least that lets it be carried and takes in a third of what
    /// goes along the body, up to 1 % of the size and 1 cm.
    pub contact_tolerance: Option<f64>,
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
    /// Whether a result in which layers pass through each other may be certified, where layers touch each other at all. Default no.
    pub layers_may_cross: bool,
}

impl Default for InverseSettings {
    fn default() -> Self {
        Self {
            contact_tolerance: None,
            seam_tolerance: 5e-3,
            cone_part: 0.975,
            max_steps: 200,
            target_tolerance: 1e-9,
            drift_time: 1.0,
            naive_sag: true,
            layers_may_cross: false,
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
    /// Part of the time that there is after which it is to end, so that other ways to a result have their share.
    pub until: f64,
}

impl InverseStep {
    /// Whether what is going on is to go on when `part` of the time that there is has passed.
    pub fn in_time(&self, part: f64) -> bool {
        part < self.until
    }
}

/// Parts of the time after which ways to a result are to end: balancing a target with faces that no cloth can have, balancing the target under all of its weight in one go, asking for more friction, bringing stiffer
/// cloth to its softness, the same with a shape that yields, knowing how soft it may be, holding a part of its weight, following it under the full weight, reaching it that way, coming to rest anywhere near it, getting nearer, judging what was found.
const AS_DRAWN: f64 = 0.25;
const AT_ONCE: f64 = 0.7;
const STICK: f64 = 0.15;
pub(crate) const HOLD: f64 = 0.66;
pub(crate) const SOFTEN: f64 = 0.3;
pub(crate) const YIELD: f64 = 0.8;
pub(crate) const FACTOR: f64 = 0.61;
pub(crate) const FOLLOW: f64 = 0.71;
pub(crate) const REACH: f64 = 0.85;
pub(crate) const REST: f64 = 0.91;
pub(crate) const NEAR: f64 = 0.93;
pub(crate) const JUDGE: f64 = 1.0;

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
    /// Where layers of the equilibrium pass through each other.
    pub crossing: Crossing,
    /// One entry per step.
    pub history: Vec<InverseStep>,
    /// Whether the observer ended a part of the search.
    pub interrupted: bool,
}

/// Finds the rest shape for which the target is a stable equilibrium under gravity and dry friction.
///
/// `observe` sees every step and by returning `false` ends what is going on; other ways to a result follow, until they are told to
/// end in their turn ([`InverseStep::in_time`]). The best that was found is returned with what can be said of it all the same. Same
/// input, same bits.
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
    let size = extent(&target);
    let mut touched = target.clone();
    let mut touching = prepare(&mut touched, garment, settings, size)?;
    if touching.evening.faces > 0 {
        // Faces that no cloth can have may be held all the same. Where they are not, what else is wrong is found again below.
        let drawn = Drawn { target: &target, touched: touched.clone(), touching: touching.clone() };
        if let Ok(Some(found)) =
            seek(garment, settings, drawn, Effort::Once, &mut observe, &mut show)
        {
            return Ok(found);
        }
        spread(&mut touched, &mut touching, garment, size)?;
    }
    let drawn = Drawn { target: &target, touched, touching };
    let found = seek(garment, settings, drawn, Effort::Whole, &mut observe, &mut show)?;
    Ok(found.unwrap_or_else(|| unreachable!("all ways together end with an answer")))
}

/// A target, and how it is once its contacts are closed.
struct Drawn<'a> {
    target: &'a [Vec3],
    touched: Vec<Vec3>,
    touching: Touching,
}

/// Which ways to a result are gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// The target is balanced in one go and certified, or nothing comes of it.
    Once,
    /// All of them, one after the other.
    Whole,
}

/// The search of [`invert_shown`] for a target with its contacts closed; always something where no effort is spared.
fn seek(
    garment: &Garment,
    settings: &InverseSettings,
    Drawn { target, mut touched, mut touching }: Drawn<'_>,
    effort: Effort,
    observe: &mut dyn FnMut(&InverseStep) -> bool,
    show: &mut Show<'_>,
) -> Result<Option<Inversion>, InverseError> {
    let once = effort == Effort::Once;
    let (pinned, size) = (garment.pinned(), extent(target));
    let (mut layers, hung) = hanging_on(garment, &touched, &pinned, &mut touching)?;
    if hung {
        layers = close_layers(garment, &mut touched, &pinned, &touching)?;
    }
    // What hangs on other layers is carried by what carries those.
    let least_friction = if hung {
        None
    } else {
        friction_needed(garment, &touched, &touching, settings.cone_part)?
    };
    let carried = least_friction.is_none();
    let (_, nodes) = garment.model(&touched, &touched)?;
    let mut edges = Vec::new();
    for (shell, nodes) in garment.shells.iter().zip(&nodes) {
        let pairs = shell.topology.edges().iter();
        edges.extend(pairs.map(|e| {
            let [a, b] = e.vertices.map(|v| nodes.vertices + v);
            (a, b)
        }));
    }
    let mut history: Vec<InverseStep> = Vec::new();
    let until = Cell::new(if once { AS_DRAWN } else { AT_ONCE });
    let ended = Cell::new(0.0);
    let mut watch = |phase, steps, load, distance, outside| {
        let before = history.last().map_or(0, |s: &InverseStep| s.steps);
        let (steps, until) = (before.max(steps), until.get());
        let step = InverseStep { steps, load, distance, rms: distance, outside, phase, until };
        history.push(step);
        if !observe(&step) {
            ended.set(until);
        }
        ended.get() != until
    };

    // A rest shape that holds the target exactly where it was drawn.
    let carrying = |c: &TargetContact| Carrying::vertex(c.vertex, c.collider, c.normal);
    let mut contacts: Vec<Carrying> = touching.contacts.iter().map(carrying).collect();
    let between = |c: &Contact| Carrying { contact: *c, force: Vec3::zeros(), slides: false };
    contacts.extend(between_vertices(garment, &touched)?.iter().map(between));
    if hung {
        contacts.extend(layers.iter().map(between));
    }
    let pressed: Vec<Press> = contacts.iter().map(|c| Press::of(c, garment)).collect();
    let several: Vec<Carrying> = contacts.iter().filter(|c| c.contact.count > 1).copied().collect();
    // Springs of no stiffness: the system must know which vertices a contact joins.
    let seeking = |garment: &Garment, shape: Option<f64>| -> Result<Exact, InverseError> {
        let model = garment.held_model(&touched, &touched, &several, 0.0)?;
        Exact::new(model, &pressed, &garment.seams(), &edges, settings.cone_part, shape)
    };
    let search = |garment: &Garment| seeking(garment, None);
    let mut exact = search(garment)?;
    let (mut within, mut refused, mut stuck) = (0.0, f64::INFINITY, false);
    let mut found = None;
    let (mut bending_factor, mut held_friction) = (None, None);
    let sticky = pressed.iter().all(|c| c.friction > 0.0);
    let mut starts = Vec::new();
    let mut unheld = None;
    let drawn =
        |rest| Start { rest, shape: touched.clone(), contacts: contacts.clone(), balanced: false };
    let far = |within: f64| carried && sticky && within < FAR;
    let ground = |far| Ground {
        garment,
        settings,
        target,
        touched: &touched,
        edges: &edges,
        size,
        far,
        until: &until,
    };
    let hold = |exact: &Exact, settings: &InverseSettings, watch: &mut Watch<'_>| {
        let (rest, shape) = (exact.positions(&exact.rest), exact.positions(&exact.x));
        let held = exact.carrying(&contacts);
        let mut seen = |phase, part, distance| watch(phase, 0, part, distance, 0);
        judge(garment, settings, target, &rest, &shape, held, true, &mut seen).map(|j| (j, rest))
    };
    if carried && sticky {
        // One go is short if it leads anywhere, and most targets need no more: large ones should not be taken from it.
        let (at_once, otherwise) =
            (Cell::new(NEWTON), Cell::new(if once { AS_DRAWN } else { HOLD }));
        let weighed = |watch: &mut Watch<'_>,
                       show: &mut Show<'_>,
                       steps,
                       load,
                       left: f64,
                       rest: &dyn Fn() -> Vec<Vec3>| {
            show(rest);
            let at_first = steps <= at_once.get() && load >= 1.0;
            until.set(match at_first {
                true if once => AS_DRAWN,
                true => AT_ONCE,
                false => otherwise.get(),
            });
            watch(Phase::Weight, steps, load, left, 0) && !(once && left > HOPELESS)
        };
        let mut seen = |steps, load, left: f64, rest: &dyn Fn() -> Vec<Vec3>| {
            weighed(&mut watch, show, steps, load, left, rest)
        };
        let mut holds = exact.at_once(&mut seen)?;
        at_once.set(0);
        if once && !holds {
            return Ok(None);
        }
        if !holds {
            otherwise.set(STICK);
            let mut with = |other: &Garment| -> Result<Option<bool>, InverseError> {
                let pressed: Vec<Press> = contacts.iter().map(|c| Press::of(c, other)).collect();
                let model = garment.held_model(&touched, &touched, &several, 0.0)?;
                let seams = garment.seams();
                let mut trial =
                    Exact::new(model, &pressed, &seams, &edges, settings.cone_part, None)?;
                trial.steps = exact.steps;
                let held = trial.at_once(&mut seen)?;
                exact.steps = trial.steps;
                Ok((held || ended.get() != STICK).then_some(held))
            };
            held_friction = friction_that_holds(garment, &mut with)?;
            if ended.get() == STICK {
                ended.set(0.0); // that was a question beside the search
            }
        }
        let mut exactly = None;
        if !holds {
            otherwise.set(SOFTEN);
            let softened = exact.soften((garment, MOST_FACTOR), &search, &mut seen)?;
            holds = softened.as_ref().is_some_and(|s| s.factor <= 1.0);
            bending_factor = softened.as_ref().map(|s| s.factor);
            exactly.clone_from(&softened);
            if let Some(mut softened) = softened.filter(|s| !holds && s.factor <= MOST_FACTOR) {
                // A shape that yields a little is worth more than parts of the weight at one that does not.
                otherwise.set(YIELD);
                let walls = walls(garment, &touched, &contacts);
                let strain = exact.typical_strain(&softened);
                let yielding = |garment: &Garment| {
                    Ok(seeking(garment, Some(SHAPE))?.among(&walls).minding(strain))
                };
                let mut near = yielding(garment)?;
                near.steps = exact.steps;
                near.soften_on(&mut softened, (garment, 0.0), &yielding, &mut seen)?;
                let balanced = softened.factor <= 1.0;
                if balanced {
                    near.pull(&mut seen)?;
                    near.stretch_threads(&garment.seams(), &garment.thread_stiffness(), &mut seen)?;
                } else {
                    near.take(&softened);
                }
                exact.steps = near.steps;
                let start = Start {
                    rest: near.positions(&near.rest),
                    shape: near.positions(&near.x),
                    contacts: near.carrying(&contacts),
                    balanced,
                };
                if balanced {
                    until.set(JUDGE);
                    found = ground(false).held_near(&start, &mut watch)?;
                }
                starts.push(start);
            }
        }
        let mut seen = |steps, load, left: f64, rest: &dyn Fn() -> Vec<Vec3>| {
            weighed(&mut watch, show, steps, load, left, rest)
        };
        if let Some(mut exactly) = exactly.filter(|_| !holds && found.is_none()) {
            // By how much it would have to be stiffer is worth knowing better, then.
            otherwise.set(FACTOR);
            exact.soften_on(&mut exactly, (garment, 0.0), &search, &mut seen)?;
            bending_factor = Some(exactly.factor);
            holds = exactly.factor <= 1.0;
        }
        within = if holds { 1.0 } else { 0.0 };
        let sought = !holds && found.is_none();
        if sought {
            otherwise.set(HOLD);
            within = exact.rise(&mut seen)?;
            if within <= 0.0 && ended.get() > 0.0 {
                // That some part of the weight is carried, and which, is worth more than other ways to the target.
                otherwise.set(REACH);
                within = exact.rise(&mut seen)?;
            }
            holds = within >= 1.0;
        }
        otherwise.set(REACH);
        refused = exact.refused;
        // Softness shows in shapes that balance and are not stable, or in steps that lead nowhere; not in the last digits.
        stuck = within <= 0.0 && exact.stuck;
        if sought && !holds {
            until.set(REACH);
            starts.extend(exact.unstable.as_ref().map(|rest| drawn(exact.positions(rest))));
            exact.nearly(&mut seen)?;
            unheld = Some(exact.unheld());
            let nearly = exact.positions(&exact.rest);
            match ground(far(within)).reach(&mut exact, &contacts, &mut watch, show)? {
                Reached::Target => holds = true,
                Reached::Near(near) => starts = near.into_iter().chain(starts).collect(),
            }
            starts.push(drawn(nearly));
        }
        if holds {
            until.set(JUDGE);
            let mut steps = |steps, load, left: f64, _: &dyn Fn() -> Vec<Vec3>| {
                watch(Phase::Weight, steps, load, left, 0)
            };
            exact.stretch_threads(&garment.seams(), &garment.thread_stiffness(), &mut steps)?;
            exact.let_go()?; // what judges has factors of its own
            if once {
                // A simulated second only for what is worth it.
                let still = InverseSettings { drift_time: 0.0, ..*settings };
                let tried = hold(&exact, &still, &mut watch)?.0;
                if !tried.certificate.certified && !tried.but_for_crossing {
                    return Ok(None);
                }
            }
            let (mut judged, mut rest) = hold(&exact, settings, &mut watch)?;
            // Where it does not stay although forces balance, it is too easily moved.
            let moves =
                |j: &Judged| j.certificate.drift.is_some_and(|d| d > CERTIFIED_DRIFT || d.is_nan());
            let mut steps = |steps, load, left: f64, _: &dyn Fn() -> Vec<Vec3>| {
                watch(Phase::Weight, steps, load, left, 0)
            };
            if moves(&judged) && exact.steadier(&mut steps)? {
                exact.let_go()?;
                let (again, other) = hold(&exact, settings, &mut watch)?;
                if !moves(&again) {
                    (judged, rest) = (again, other);
                }
            }
            found = Some(Found { rest, judged, settled: false });
        }
    }
    drop(exact);

    // Else the nearest equilibrium that is found.
    let done = |f: &Found| f.judged.certificate.certified || f.judged.but_for_crossing;
    if !found.as_ref().is_some_and(done) {
        if once {
            return Ok(None);
        }
        starts.push(drawn(touched.clone()));
        let ground = ground(far(within));
        let near = ground.approach(&starts, &mut watch)?;
        until.set(JUDGE);
        if let Some(near) = near.filter(|n| found.as_ref().is_none_or(|f| n.better_than(f))) {
            found = Some(ground.with_drift(near, &mut watch)?);
        }
    }
    let Found { rest, mut judged, settled } = match found {
        Some(found) if found.judged.certificate.penetration.is_none_or(|d| d <= 0.0) => found,
        // Nothing rests: show the target, not something inside a collider.
        _ => {
            let rest = starts.swap_remove(0).rest;
            let mut seen = |phase, part, distance| watch(phase, 0, part, distance, 0);
            let judged = judge(
                garment,
                settings,
                target,
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
    let mut diagnosis = Diagnosis {
        cause: None,
        held_density: None,
        least_friction,
        weight_fraction: within,
        weight_refused: (within < 1.0 && refused.is_finite()).then_some(refused),
        stiffness_factor: if within > 0.0 { 1.0 / within } else { f64::INFINITY },
        bending_factor,
        held_friction: held_friction.filter(|_| within < 1.0),
        sliver: if rounding(&judged.certificate) || stuck && within <= 0.0 {
            flattest(garment, &rest)
        } else {
            None
        },
    };
    explain(&mut judged.certificate, &mut diagnosis, garment, &touching, size);
    if judged.but_for_crossing && diagnosis.cause.is_none() {
        diagnosis.cause = Some(Cause::LayersCross);
    }
    judged.count_layers(garment);
    let interrupted = ended.get() > 0.0;
    if interrupted && !(judged.certificate.certified && within >= 1.0 && !settled) {
        let reason = &mut judged.certificate.reason;
        *reason = format!("stopped early, this is the best so far: {reason}");
    }
    let (mut naive, mut naive_sag) = (None, None);
    if settings.naive_sag && watch(Phase::Naive, 0, 0.0, 0.0, 0) {
        let mut seen = || watch(Phase::Naive, 0, 0.0, 0.0, 0);
        if let Some(fallen) = made_as_drawn(garment, &touched, &contacts, &mut seen)? {
            naive_sag = Some(distances(&fallen, &touched).0);
            naive = Some(fallen);
        }
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
    Ok(Some(Inversion {
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
        crossing: judged.crossing,
        history,
        interrupted,
    }))
}

/// Colliders near vertices that touch none: vertex, normal, and distance from where it would \[m\].
fn walls(garment: &Garment, touched: &[Vec3], contacts: &[Carrying]) -> Vec<(u32, Vec3, f64)> {
    let placed: Vec<_> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let mut touches = tied_vertices(touched.len(), &garment.seams());
    for c in contacts.iter().filter(|c| c.contact.count == 1) {
        touches[c.contact.vertices[0] as usize] = true;
    }
    let size = extent(touched);
    let wall = |(v, p): (usize, &Vec3)| {
        let (c, gap) = nearest(&placed, p).filter(|(_, gap)| !touches[v] && *gap < WALLS * size)?;
        Some((v as u32, placed[c].query(p).normal, gap))
    };
    touched.iter().enumerate().filter_map(wall).collect()
}

fn check(settings: &InverseSettings) -> Result<(), InverseError> {
    let within = |what, value: f64, low: f64, high: f64, must| {
        if value >= low && value <= high {
            Ok(())
        } else {
            Err(InverseError::BadSetting { what, value, must })
        }
    };
    within(
        "contact_tolerance",
        settings.contact_tolerance.unwrap_or(0.0),
        0.0,
        1e3,
        "a length ≥ 0 [m]",
    )?;
    within("seam_tolerance", settings.seam_tolerance, 0.0, 1e3, "a length ≥ 0 [m]")?;
    within("cone_part", settings.cone_part, 1e-3, 1.0, "above 0 and at most 1")?;
    within("drift_time", settings.drift_time, 0.0, 1e4, "a time ≥ 0 [s]")?;
    within("target_tolerance", settings.target_tolerance, 0.0, 1.0, "between 0 and 1")
}

/// Diagonal of the box around points \[m\].
pub(crate) fn extent(points: &[Vec3]) -> f64 {
    let start = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (low, high) = points.iter().fold(start, |(l, h), p| (l.inf(p), h.sup(p)));
    if points.is_empty() { 0.0 } else { (high - low).norm() }
}
