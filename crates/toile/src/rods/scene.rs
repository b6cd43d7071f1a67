//! All fibres of a scene, ready to move.

use toile_io::{
    LoadedRod, RodTable, Scene, Time, load_colliders, load_drawn, load_rods, scene_gravity,
};
use toile_num::words::length;
use toile_rod::{
    Assembly, AssemblySettings, ClampMotion, Crowding, Fibre, Growth, Overlap, Rod, RodState,
    StepSettings, Tree, Vec3, rooted_within,
};

use super::drape::branches;
use super::drawn::{DrawnFit, drawn_fibres, fitted, natures};
use super::{FibreProgress, RodSceneError};
use crate::Start;

/// Whether a scene has fibres that are only drawn: hair, or rods without length and clamp.
pub fn has_drawn(scene: &Scene) -> bool {
    !scene.hair.is_empty() || scene.rods.iter().any(|rod| !is_described(rod))
}

/// Refuses discrete rods.
fn no_nodes(rods: &[LoadedRod], what: &'static str) -> Result<(), RodSceneError> {
    let rod = rods.iter().position(|r| r.discrete);
    rod.map_or(Ok(()), |rod| Err(RodSceneError::Discrete { rod, what }))
}

/// Refuses fibres that go through colliders.
pub(super) fn outside(
    assembly: &Assembly,
    name: impl Fn(usize) -> String,
    allowed: impl Fn(usize) -> f64,
) -> Result<(), RodSceneError> {
    assembly.overlap_beyond(allowed).map_or(Ok(()), |o| {
        let Overlap { joint, collider, depth, root, fibres, .. } = o;
        Err(RodSceneError::Inside { name: name(o.fibre), joint, collider, depth, root, fibres })
    })
}

/// What is to be said of fibres that begin inside colliders.
pub(super) fn roots_inside(assembly: &Assembly) -> Vec<String> {
    let (under, buried) = (assembly.embedded(), assembly.buried());
    let mut notes = Vec::new();
    if under > buried {
        notes.push(format!(
            "{} fibre(s) start inside a collider: their first joints, up to where they come out, do not touch it",
            under - buried
        ));
    }
    if buried > 0 {
        notes.push(format!(
            "{buried} fibre(s) lie inside a collider from end to end and never touch it: move them out, or make the collider smaller"
        ));
    }
    notes
}

/// What is to be said of fibres that overlap where they begin.
fn crowded(found: &Crowding) -> Vec<String> {
    let mut notes = Vec::new();
    if found.rooted > 0 {
        notes.push(format!(
            "{} pair(s) of fibres have roots closer than they are thick: up to where they part they do not touch",
            found.rooted
        ));
    }
    if found.pairs > 0 {
        notes.push(format!(
            "{} pair(s) overlap at the start, by up to {}: they part slowly; `radius` is half the thickness of a fibre",
            found.pairs,
            length(found.deepest)
        ));
    }
    notes
}

/// Internal damping of fibres in motion \[s\]: a curl of 10 Hz comes to rest in a second or two.
pub(super) const FIBRE_DAMPING: f64 = 2e-3;

/// The fibres of a scene ready to move, and how they go through time.
///
/// Rods start at rest in their natural shape, those that grow from others where these put them; drawn ones and hair start as drawn, with the
/// nature that holds them there without contact (or bears what part of their weight it can), those that go through colliders out of them if `start` says so. What was unusual in the files is returned as well.
pub fn rod_assembly(
    scene: &Scene,
    start: Start,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<(Assembly, Time, Vec<String>), RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let time = scene.time.ok_or(RodSceneError::NoTime)?;
    let found = scene_fibres(scene, &time, start, watch)?;
    Ok((found.assembly, time, found.notes))
}

/// All fibres of a scene, whatever else is in it.
pub(crate) struct SceneFibres {
    pub(crate) assembly: Assembly,
    pub(crate) names: Vec<String>,
    /// Friction of each with shells, where the scene gives one.
    pub(crate) friction: Vec<Option<f64>>,
    pub(crate) notes: Vec<String>,
}

/// Rods that are only drawn are told apart by having no length of their own.
fn is_described(rod: &RodTable) -> bool {
    rod.length.is_some() && (rod.clamp.is_some() || rod.parent.is_some())
}

/// The scene with its rods of one kind, and their places in it. Trees name rods by their places, so parents are numbered anew; one of the other kind is
/// refused with what `refused` says of a rod and its parent.
fn rods_that(
    scene: &Scene,
    wanted: impl Fn(&RodTable) -> bool,
    refused: impl Fn(usize, usize) -> (String, &'static str),
) -> Result<(Scene, Vec<usize>), RodSceneError> {
    let places: Vec<usize> = (0..scene.rods.len()).filter(|i| wanted(&scene.rods[*i])).collect();
    let mut out = scene.clone();
    out.rods.retain(wanted);
    for (i, rod) in places.iter().zip(&mut out.rods) {
        let Some(parent) = &mut rod.parent else { continue };
        let bearer = parent.rod as usize;
        match places.iter().position(|p| *p == bearer) {
            Some(place) => parent.rod = place as u32,
            None if bearer < *i => {
                let (what, help) = refused(*i, bearer);
                return Err(scene.error_at(&format!("rod[{i}].parent"), what, help).into());
            }
            None => {}
        }
    }
    Ok((out, places))
}

/// The scene with those of its rods that are not only drawn, and their places in it.
fn described(scene: &Scene) -> Result<(Scene, Vec<usize>), RodSceneError> {
    rods_that(scene, is_described, |rod, bearer| {
        let help =
            "give that one `length`, `clamp` and `natural_curvature`: `toile invert` writes them";
        (format!("rod {rod} grows from rod {bearer}, which is only drawn"), help)
    })
}

/// The scene with those of its rods that are only drawn.
fn only_drawn(scene: &Scene) -> Result<Scene, RodSceneError> {
    let (drawn, _) = rods_that(
        scene,
        |rod| !is_described(rod),
        |rod, bearer| {
            let what = format!("rod {rod} is drawn and grows from rod {bearer}, which is not");
            (what, "draw all rods of a tree, or none")
        },
    )?;
    Ok(drawn)
}

/// Where a rod of a scene begins.
#[derive(Clone, Debug)]
pub struct RodLine {
    /// Points along it, clamp first \[m\]: joints in its natural shape, or what was drawn.
    pub points: Vec<Vec3>,
    /// Radius for contact \[m\].
    pub radius: f64,
}

/// All rods of a scene where they begin, in their order.
pub fn rod_lines(scene: &Scene) -> Result<Vec<RodLine>, RodSceneError> {
    let (known, places) = described(scene)?;
    let loaded = load_rods(&known)?;
    let mut out: Vec<Option<RodLine>> = vec![None; scene.rods.len()];
    if !loaded.is_empty() {
        let failed = |source| RodSceneError::Rod { rod: 0, source };
        let tree = Tree::new(branches(&loaded)?).map_err(failed)?;
        let rest = tree.rest();
        let mut left = &rest[..];
        for ((rod, one), place) in
            tree.placed(&rest).map_err(failed)?.iter().zip(&loaded).zip(&places)
        {
            let (own, others) = left.split_at(rod.blocks());
            left = others;
            let stations = rod.equal_stations(own, rod.lengths().len() + 1);
            let points = stations.iter().map(|s| s.position).collect();
            out[*place] = Some(RodLine { points, radius: one.radius });
        }
    }
    let mut drawn = only_drawn(scene)?;
    drawn.hair.clear();
    let strands = load_drawn(&drawn)?.0;
    let slots = out.iter_mut().filter(|line| line.is_none());
    for (slot, fibre) in slots.zip(strands) {
        let points = fibre.curve.points().to_vec();
        *slot = Some(RodLine { points, radius: fibre.radius });
    }
    Ok(out.into_iter().flatten().collect())
}

/// Those that are drawn are fitted first, of which `watch` is told.
pub(crate) fn scene_fibres(
    scene: &Scene,
    time: &Time,
    start: Start,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<SceneFibres, RodSceneError> {
    let gravity = scene_gravity(scene);
    let (mut fibres, mut names, mut friction) = (Vec::new(), Vec::new(), Vec::new());
    // How far rods are from what was drawn.
    let mut missed = Vec::new();
    let mut add = |name: String, rod: Rod, q: Vec<Vec3>, radius: f64, mu: Option<f64>| {
        names.push(name);
        friction.push(mu);
        let (state, motion) = (RodState::at_rest(q), ClampMotion::default());
        fibres.push(Fibre { rod, state, motion, radius });
    };
    let (described, places) = described(scene)?;
    let known = load_rods(&described)?;
    if known.iter().any(|rod| rod.growth.is_some()) {
        no_nodes(&known, "growing from others, or beside such,")?;
    }
    let mut growths: Vec<Option<Growth>> = Vec::with_capacity(known.len());
    for ((branch, loaded), rod) in branches(&known)?.into_iter().zip(&known).zip(places) {
        let q = branch.rod.rest();
        growths.push(branch.growth);
        missed.push(0.0);
        add(format!("rod {rod}"), branch.rod, q, loaded.radius, loaded.friction);
    }
    let (strands, mut notes) = drawn_fibres(&only_drawn(scene)?, start)?;
    let first = growths.len();
    let fits = fitted(strands, watch)?;
    let (rods, sagging) = natures(&fits, gravity)?;
    notes.extend(sagging);
    for (DrawnFit { drawn, fit, growth, .. }, rod) in fits.into_iter().zip(rods) {
        growths.push(growth.map(|g| Growth { parent: first + g.parent, ..g }));
        missed.push(fit.error_max);
        add(drawn.name, rod, fit.q, drawn.radius, drawn.friction);
    }
    let settings = AssemblySettings {
        step: StepSettings {
            damping: FIBRE_DAMPING,
            drag: time.damping,
            ..StepSettings::new(time.step)
        },
        gravity,
        fibre_friction: scene.self_contact.map(|own| own.friction),
        tolerance: 1e-6,
        max_sweeps: 500,
    };
    growths.resize(fibres.len(), None);
    let failed = |source| RodSceneError::Rod { rod: 0, source };
    let mut assembly = Assembly::new(fibres, load_colliders(scene)?, settings).map_err(failed)?;
    if growths.iter().any(Option::is_some) {
        assembly = assembly.grown(&growths).map_err(failed)?;
    }
    for (f, loaded) in known.iter().enumerate().filter(|(_, rod)| rod.discrete) {
        assembly = assembly.discrete(f, &loaded.spec).map_err(failed)?;
    }
    // What is hardly inside parts slowly, as roughly as things are drawn and fitted.
    let rough = |f: usize| {
        let Fibre { rod, radius, .. } = &assembly.fibres[f];
        rooted_within(*radius, rod.length()) + missed[f]
    };
    outside(&assembly, |f| names[f].clone(), rough)?;
    notes.extend(roots_inside(&assembly));
    notes.extend(crowded(&assembly.part_slowly()));
    Ok(SceneFibres { assembly, names, friction, notes })
}
