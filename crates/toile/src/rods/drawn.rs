//! Drawn fibres: rods in their shapes, and the natures that hold them there.

use toile_io::{DrawnFibre, Scene, load_colliders, load_drawn, scene_gravity};
use toile_num::parallel::try_map;
use toile_rod::{
    Bearable, Branch, Clamp, Curve, FibreInversion, Fit, FitSettings, Growth, Loads, RestPose, Rod,
    RodError, Station, Tree, Vec3, bearable_natures, bearable_tree, distances, fit, fit_within,
    invert_fibre, invert_tree, natural_curvatures, rest_pose,
};

use super::compared::RestFound;
use super::push::pushed_out;
use super::{FibreProgress, RodSceneError};
use crate::Start;

/// A drawn fibre and the rod that has its shape.
#[derive(Clone, Debug)]
pub struct DrawnFit {
    /// What was drawn.
    pub drawn: DrawnFibre,
    /// The rod in its shape.
    pub fit: Fit,
    /// Where it grows from another, by its place among all.
    pub growth: Option<Growth>,
    /// The nature its file gives it.
    pub rest: Option<RestPose>,
}

/// A drawn fibre, the rod fitted to it, and the nature with which it rests there.
#[derive(Clone, Debug)]
pub struct RodInversion {
    /// What was drawn.
    pub drawn: DrawnFibre,
    /// The rod in its shape.
    pub fit: Fit,
    /// Its natural curvatures and the certificate.
    pub result: FibreInversion,
    /// Where it grows from another, by its place among all.
    pub growth: Option<Growth>,
    /// The nature its file gives it, and what comes of that.
    pub rest: Option<RestFound>,
}

impl RodInversion {
    /// Part of the length of what bears it at which it grows.
    pub fn grows_at(&self, all: &[Self]) -> Option<f64> {
        let growth = self.growth?;
        let rod = &all.get(growth.parent)?.fit.rod;
        Some(rod.lengths()[..growth.joint].iter().sum::<f64>() / rod.length())
    }
}

/// Puts rods into the drawn fibres of a scene (`curve` of a rod, `strands` of hair). Also returns what was unusual in the files.
///
/// Same scene, same bits, whatever the number of threads.
pub fn fit_drawn(
    scene: &Scene,
    start: Start,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<(Vec<DrawnFit>, Vec<String>), RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let (fibres, notes) = drawn_fibres(scene, start)?;
    let fits = fitted(fibres, watch)?;
    not_wound(&fits, scene_gravity(scene))?;
    Ok((fits, notes))
}

/// Turn of a nature within an element beyond which it is no shape any more \[rad\]: files in centimetres read as metres ask for millions.
const WOUND: f64 = 1e4;

/// Refuses what only a nature wound up beyond all measure would hold.
fn not_wound(fits: &[DrawnFit], gravity: Vec3) -> Result<(), RodSceneError> {
    let one = |rod: usize| {
        let Fit { rod: shape, q, .. } = &fits[rod].fit;
        let natural = natural_curvatures(shape, q, &Loads::weight(shape.section(), gravity));
        let natural = natural.map_err(|source| RodSceneError::Rod { rod, source })?;
        let longest = shape.lengths().iter().copied().fold(0.0, f64::max);
        let most = natural.iter().map(|k| k.norm()).fold(0.0, f64::max);
        Ok::<_, RodSceneError>(longest * most)
    };
    let turns = try_map(fits.len(), 8, one)?;
    let Some(rod) = turns.iter().position(|turn| turn.is_nan() || *turn > WOUND) else {
        return Ok(());
    };
    let (shape, drawn) = (&fits[rod].fit.rod, &fits[rod].drawn);
    let section = shape.section();
    let softest = section.bending_stiffness[0].min(section.bending_stiffness[1]);
    let bends = (softest / (section.linear_density * gravity.norm())).cbrt();
    Err(RodSceneError::Wound {
        name: drawn.name.clone(),
        long: shape.length(),
        bends,
        turn: turns[rod],
    })
}

/// The drawn fibres of a scene, out of its colliders if that is asked for.
pub(super) fn drawn_fibres(
    scene: &Scene,
    start: Start,
) -> Result<(Vec<DrawnFibre>, Vec<String>), RodSceneError> {
    let (mut fibres, mut notes) = load_drawn(scene)?;
    if start == Start::PushOut {
        notes.extend(pushed_out(&mut fibres, &load_colliders(scene)?)?);
    }
    Ok((fibres, notes))
}

/// Strands that are treated before somebody is told: a fraction of a second.
const BATCH: usize = 256;

/// Maps all fibres on all threads, a batch at a time; `goes_on` is told how many are done.
fn in_batches<T: Send>(
    of: usize,
    goes_on: impl Fn(usize) -> bool,
    one: impl Fn(usize) -> Result<T, RodError> + Sync,
) -> Result<Vec<T>, RodSceneError> {
    let mut out = Vec::with_capacity(of);
    while out.len() < of {
        let done = out.len();
        if !goes_on(done) {
            return Err(RodSceneError::Stopped { done, of });
        }
        let failed = |rod: usize| move |source| RodSceneError::Rod { rod, source };
        let batch = |i: usize| one(done + i).map_err(failed(done + i));
        out.extend(try_map(BATCH.min(of - done), 1, batch)?);
    }
    Ok(out)
}

pub(super) fn fitted(
    mut fibres: Vec<DrawnFibre>,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<Vec<DrawnFit>, RodSceneError> {
    let of = fibres.len();
    let goes_on = |done: usize| watch(FibreProgress::Fitting { done, of });
    let both = in_batches(of, goes_on, |rod| {
        let DrawnFibre { curve, section, d1, rest, .. } = &fibres[rod];
        let mut shape = fit_drawing(&fibres[rod], curve, 0)?;
        let Some((rest, turn)) = rest else { return Ok((shape, None)) };
        let settings = |elements| FitSettings { elements, ..fibres[rod].settings };
        // One number of elements for both, as many as the curlier asks for.
        let coarse = shape.rod.lengths().len();
        let elements = fit_drawing(&fibres[rod], rest, coarse)?.rod.lengths().len();
        if elements > coarse {
            shape = fit(curve, *section, *d1, &settings(elements))?;
        }
        let pose = rest_pose((curve, &mut shape), rest, turn, &settings(elements))?;
        Ok((shape, Some(pose)))
    })?;
    for (fibre, (fit, _)) in fibres.iter_mut().zip(&both) {
        fibre.settings.elements = fit.rod.lengths().len();
    }
    let (mut fits, rests): (Vec<Fit>, Vec<Option<RestPose>>) = both.into_iter().unzip();
    if rests.iter().any(Option::is_some) && fibres.iter().any(|f| f.parent.is_some()) {
        return Err(RodSceneError::RestOfTree);
    }
    let growths = if fibres.iter().any(|f| f.parent.is_some()) {
        grown(&fibres, &mut fits)?
    } else {
        vec![None; of]
    };
    let together = |(((drawn, fit), growth), rest)| DrawnFit { drawn, fit, growth, rest };
    Ok(fibres.into_iter().zip(fits).zip(growths).zip(rests).map(together).collect())
}

/// A rod in the shape of a curve of a fibre, of this many elements or more.
fn fit_drawing(fibre: &DrawnFibre, curve: &Curve, elements: usize) -> Result<Fit, RodError> {
    let DrawnFibre { section, d1, settings, within, .. } = fibre;
    let settings = FitSettings { elements: settings.elements.max(elements), ..*settings };
    match within {
        Some(within) => fit_within(curve, *section, *d1, &settings, within),
        None => fit(curve, *section, *d1, &settings),
    }
}

fn any_grown(fits: &[DrawnFit]) -> bool {
    fits.iter().any(|f| f.growth.is_some())
}

/// All fibres as one tree, and its unknowns.
fn tree_of(fits: &[DrawnFit]) -> Result<(Tree, Vec<Vec3>), RodSceneError> {
    let branch = |f: &DrawnFit| Branch { rod: f.fit.rod.clone(), growth: f.growth };
    let tree = Tree::new(fits.iter().map(branch).collect());
    let tree = tree.map_err(|source| RodSceneError::Rod { rod: 0, source })?;
    Ok((tree, fits.iter().flat_map(|f| f.fit.q.iter().copied()).collect()))
}

/// The rods with the natures of their files or, where there are none, those that hold them as drawn without contact; where they are too soft for that, as much of
/// their weight as they can bear. Those are told.
pub(super) fn natures(
    fits: &[DrawnFit],
    gravity: Vec3,
) -> Result<(Vec<Rod>, Option<String>), RodSceneError> {
    if any_grown(fits) {
        let (tree, q) = tree_of(fits)?;
        let failed = |source| RodSceneError::Rod { rod: 0, source };
        let found = bearable_tree(&tree, &q, &gravity).map_err(failed)?;
        let rods = found.0.into_iter().map(|f| f.rod).collect();
        return Ok((rods, sagging(fits, &[found.1], "tree of rods is")));
    }
    let found = try_map(fits.len(), 8, |rod| {
        let Fit { rod: shape, q, .. } = &fits[rod].fit;
        let loads = Loads::weight(shape.section(), gravity);
        let found = match &fits[rod].rest {
            Some(rest) => Ok(Bearable { natural: rest.natural.clone(), part: 1.0 }),
            None => bearable_natures(shape, q, &loads),
        };
        let nature = found.and_then(|b| Ok((shape.clone().with_rest(&b.natural)?, b.part)));
        nature.map_err(|source| RodSceneError::Rod { rod, source })
    })?;
    let (rods, parts): (Vec<Rod>, Vec<f64>) = found.into_iter().unzip();
    Ok((rods, sagging(fits, &parts, "fibre(s) are")))
}

/// What is said of fibres that bear a part of their weight only.
fn sagging(fits: &[DrawnFit], parts: &[f64], are: &str) -> Option<String> {
    let soft: Vec<usize> = (0..parts.len()).filter(|i| parts[*i] < 1.0).collect();
    let first = *soft.first()?;
    let least = parts.iter().copied().fold(1.0, f64::min);
    Some(format!(
        "{} {are} too soft to hold what was drawn, first {}: they begin with the nature that bears {:.2} of their weight or more, and sag; \
         `toile invert` tells how stiff they must be, a `rest` how they rest without load",
        soft.len(),
        fits[first].drawn.name,
        least
    ))
}

/// Finds the natural shapes for which drawn fibres are equilibria, each alone.
pub fn invert_alone(
    fits: Vec<DrawnFit>,
    gravity: Vec3,
    watch: &dyn Fn(FibreProgress) -> bool,
) -> Result<Vec<RodInversion>, RodSceneError> {
    let of = fits.len();
    let grown = any_grown(&fits);
    let results = if grown {
        let (tree, q) = tree_of(&fits)?;
        let found = invert_tree(&tree, &q, &gravity);
        let found = found.map_err(|source| RodSceneError::Rod { rod: 0, source })?;
        found.into_iter().map(|found| (found, None)).collect()
    } else {
        let goes_on = |done: usize| watch(FibreProgress::Judging { done, of });
        in_batches(of, goes_on, |rod| {
            let DrawnFit { fit: Fit { rod: shape, q, .. }, rest, .. } = &fits[rod];
            let loads = Loads::weight(shape.section(), gravity);
            let found = invert_fibre(shape, q, &loads)?;
            let rest = rest.as_ref().map(|rest| RestFound::alone(&found, q, rest, &loads));
            Ok((found, rest.transpose()?))
        })?
    };
    let together = |(found, (result, rest)): (DrawnFit, (FibreInversion, Option<RestFound>))| {
        let DrawnFit { drawn, mut fit, growth, .. } = found;
        if grown {
            fit.rod.set_clamp(*result.rod.clamp());
            (fit.error_max, fit.error_rms) = distances(&drawn.curve, &fit.rod, &fit.q);
        }
        RodInversion { drawn, fit, result, growth, rest }
    };
    Ok(fits.into_iter().zip(results).map(together).collect())
}

/// How far from what bears it a drawn rod may begin, in radii of that; it is moved there.
const BEGINS_WITHIN: f64 = 2.0;

/// Drawn rods of which some grow from others: each is put where it grows, and what bears it is cut there.
fn grown(fibres: &[DrawnFibre], fits: &mut [Fit]) -> Result<Vec<Option<Growth>>, RodSceneError> {
    let failed = |rod: usize| move |source| RodSceneError::Rod { rod, source };
    let mut growths: Vec<Option<Growth>> = vec![None; fibres.len()];
    for bearer in 0..fibres.len() {
        let grows = |(f, drawn): (usize, &DrawnFibre)| {
            drawn.parent.filter(|p| p.0 == bearer).map(|p| (f, p.1))
        };
        let borne: Vec<(usize, Option<f64>)> =
            fibres.iter().enumerate().filter_map(grows).collect();
        let whole = fits[bearer].rod.length();
        let places: Vec<f64> = borne
            .iter()
            .map(|(f, at)| {
                let begins = fibres[*f].curve.at(0.0).0;
                at.map_or_else(|| nearest(&fits[bearer], &begins), |part| part * whole)
            })
            .collect();
        let (cut, joints) = fits[bearer].cut(&places).map_err(failed(bearer))?;
        fits[bearer] = cut;
        let (rod, q) = (&fits[bearer].rod, &fits[bearer].q);
        let stations = rod.stations(q, &places);
        for (((f, _), joint), station) in borne.iter().zip(joints).zip(stations) {
            let clamp = *fits[*f].rod.clamp();
            let away = (clamp.position - station.position).norm();
            let near = BEGINS_WITHIN * fibres[bearer].radius.max(fibres[*f].radius);
            if away > near {
                let (rod, parent, along) = (*f, bearer, station.s);
                return Err(RodSceneError::Apart { rod, parent, away, along });
            }
            let turn = toile_rod::straightened(&(station.frame.transpose() * clamp.frame));
            growths[*f] = Some(Growth { parent: bearer, joint, turn });
            // Children of this one are looked for where it will be.
            fits[*f].rod.set_clamp(Clamp { position: station.position, ..clamp });
        }
    }
    Ok(growths)
}

/// Arclength at which a fitted rod is nearest to a point \[m\].
fn nearest(fit: &Fit, point: &Vec3) -> f64 {
    let length = fit.rod.length();
    let away = |s: f64| (fit.rod.stations(&fit.q, &[s])[0].position - point).norm();
    let count = 20 * fit.rod.lengths().len();
    let stations = fit.rod.equal_stations(&fit.q, count + 1);
    let by = |s: &Station| (s.position - point).norm();
    let first = stations.iter().min_by(|a, b| by(a).total_cmp(&by(b))).map_or(0.0, |s| s.s);
    let step = length / count as f64;
    let (mut low, mut high) = ((first - step).max(0.0), (first + step).min(length));
    // By thirds: the distance has one least value in so short a stretch.
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if away(a) < away(b) { high = b } else { low = a }
    }
    0.5 * (low + high)
}
