//! Rods of a scene: their equilibrium, and the natures behind drawn ones.

use toile_io::{
    Axes, DrawnFibre, IntegratorName, LoadedRod, RodTable, Scene, SceneError, Time, load_colliders,
    load_drawn, load_rods, scene_gravity,
};
use toile_num::parallel::try_map;
use toile_num::words::length;
use toile_rod::{
    Assembly, AssemblyInversion, AssemblySettings, Branch, Clamp, ClampMotion, Closing,
    DiscreteEquilibrium, Fibre, FibreInversion, Fit, Growth, Loads, Prior, RefinedEquilibrium, Rod,
    RodEquilibrium, RodError, RodSpec, RodState, SettleSettings, Settled, StaticSettings, Station,
    StepSettings, Tree, Vec3, distances, fit, invert_fibre, invert_tree,
};

/// A draped rod: what went in and what came out.
#[derive(Clone, Debug)]
pub struct RodDrape {
    /// The rod of the scene.
    pub loaded: LoadedRod,
    /// Its equilibrium and the elements it took. Of a discrete rod: helices of its curvatures, and its own certificate.
    pub result: RefinedEquilibrium,
    /// The nodes of a discrete rod.
    pub nodes: Option<DiscreteEquilibrium>,
}

impl RodDrape {
    /// `count` stations at equal arclengths, clamp first.
    pub fn stations(&self, count: usize) -> Vec<Station> {
        match &self.nodes {
            Some(nodes) => nodes.equal_stations(count),
            None => self.result.rod.equal_stations(&self.result.equilibrium.q, count),
        }
    }
}

/// Why the rods of a scene could not be treated at all.
#[derive(Debug, thiserror::Error)]
pub enum RodSceneError {
    /// The scene or one of its files.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A rod cannot be solved.
    #[error("rod {rod}: {source}")]
    Rod {
        /// Which, counted from 0.
        rod: usize,
        /// Why.
        source: RodError,
    },
    /// Rods and shells in one scene.
    #[error(
        "rods and shells of one scene are solved together by the commands `toile simulate` and `toile drape` only; for this put them in scenes of their own"
    )]
    Mixed,
    /// Hair has no natural shape of its own.
    #[error(
        "hair is drawn, not described: `rest_rods` lets it come to rest, `toile invert` finds its natural shape"
    )]
    OnlyHair,
    /// Nothing says how to go through time.
    #[error("the scene has no table [time]; add for example\n[time]\nstep = 0.001\nduration = 1.0")]
    NoTime,
    /// Rods of nodes where they cannot be solved.
    #[error(
        "rod {rod} is a discrete rod: {what} is known of the models \"super-clothoid\" and \"super-helix\", which converge faster; `drape` and `simulate` solve it where \
         no rod grows from another"
    )]
    Discrete {
        /// Which, counted from 0.
        rod: usize,
        /// What was asked for.
        what: &'static str,
    },
    /// Rods that may touch something.
    #[error("rods with colliders or `self_contact` come to rest by falling: `rest_rods` does that")]
    Contact,
    /// A drawn rod does not begin on the one it grows from.
    #[error(
        "rod {rod} grows from rod {parent}, but begins {} from it, {} along it; draw its first point on that rod",
        length(*.away),
        length(*.along)
    )]
    Apart {
        /// Which, counted from 0.
        rod: usize,
        /// The rod it names.
        parent: usize,
        /// How far it begins from there \[m\].
        away: f64,
        /// Where on that rod it was to grow \[m\].
        along: f64,
    },
    /// A fibre goes through a collider.
    #[error(
        "{name} is {} inside collider {collider} at joint {joint}, {}; move it out, or leave the collider out",
        length(*.depth),
        match root {
            Some(away) => format!("but begins {} outside: it is not rooted there", length(*away)),
            None => "where it has already come out of it".into(),
        }
    )]
    Inside {
        /// The fibre.
        name: String,
        /// Which joint.
        joint: usize,
        /// Which collider.
        collider: usize,
        /// How deep \[m\].
        depth: f64,
        /// How far its root is outside, where it is not rooted in it \[m\].
        root: Option<f64>,
    },
}

/// Finds the equilibrium of every rod of a scene, each from its natural shape as its weight grows from nothing.
///
/// Same scene, same bits, whatever the number of threads.
pub fn drape_rods(
    scene: &Scene,
    settings: &StaticSettings,
) -> Result<Vec<RodDrape>, RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    if !scene.colliders.is_empty() || scene.self_contact.is_some() {
        return Err(RodSceneError::Contact);
    }
    if !scene.hair.is_empty() {
        return Err(RodSceneError::OnlyHair);
    }
    let gravity = scene_gravity(scene);
    let all = load_rods(scene)?;
    if all.iter().any(|rod| rod.growth.is_some()) {
        return drape_trees(all, gravity, settings);
    }
    let one = |rod: usize| {
        let LoadedRod { spec, elements, accuracy, discrete, .. } = &all[rod];
        let failed = |source| RodSceneError::Rod { rod, source };
        if *discrete {
            let found = drape_discrete(spec, *elements, gravity, settings).map_err(failed)?;
            return Ok::<_, RodSceneError>((found.0, Some(found.1)));
        }
        let loads = Loads::weight(&spec.section, gravity);
        let found = spec.equilibrium(*elements, &loads, *accuracy, settings).map_err(failed)?;
        Ok((found, None))
    };
    let results = try_map(all.len(), 1, one)?;
    let drape = |(loaded, (result, nodes))| RodDrape { loaded, result, nodes };
    Ok(all.into_iter().zip(results).map(drape).collect())
}

fn drape_discrete(
    spec: &RodSpec,
    n: usize,
    gravity: Vec3,
    settings: &StaticSettings,
) -> Result<(RefinedEquilibrium, DiscreteEquilibrium), RodError> {
    let nodes = spec.discrete_equilibrium(n, gravity, settings.max_steps)?;
    let built = spec.build(n)?;
    let stations = nodes.equal_stations(n + 1);
    let bend = |w: &[Station]| {
        let turned = w[0].frame.transpose() * w[1].frame;
        let between = toile_rod::axial_angle(&turned);
        between / (w[1].s - w[0].s)
    };
    let equilibrium = RodEquilibrium {
        q: stations.windows(2).map(bend).collect(),
        elastic_energy: nodes.elastic_energy,
        load_energy: nodes.load_energy,
        steps: nodes.steps,
        escapes: 0,
        fraction: 1.0,
        certificate: nodes.certificate.clone(),
    };
    Ok((RefinedEquilibrium { rod: built, equilibrium, error: None }, nodes))
}

/// Rods that grow from each other, with their elements cut where others grow; elements are kept.
fn drape_trees(
    all: Vec<LoadedRod>,
    gravity: Vec3,
    settings: &StaticSettings,
) -> Result<Vec<RodDrape>, RodSceneError> {
    if let Some(rod) = all.iter().position(|r| r.discrete) {
        return Err(RodSceneError::Discrete { rod, what: "growing from others, or beside such," });
    }
    let failed = |source| RodSceneError::Rod { rod: 0, source };
    let tree = Tree::new(branches(&all)?).map_err(failed)?;
    let found = tree.equilibrium(&gravity, settings).map_err(failed)?;
    let rods = tree.placed(&found.q).map_err(failed)?;
    let mut from = 0;
    let mut out = Vec::with_capacity(all.len());
    for (i, (loaded, rod)) in all.into_iter().zip(rods).enumerate() {
        let q = found.q[from..from + rod.blocks()].to_vec();
        from += rod.blocks();
        // What belongs to the whole tree is counted once.
        let mut certificate = found.certificate.clone();
        if i > 0 {
            certificate.negative_modes = 0;
        }
        let whole = |x: f64| if i == 0 { x } else { 0.0 };
        let equilibrium = RodEquilibrium {
            q,
            elastic_energy: whole(found.elastic_energy),
            load_energy: whole(found.load_energy),
            steps: if i == 0 { found.steps } else { 0 },
            escapes: if i == 0 { found.escapes } else { 0 },
            fraction: found.fraction,
            certificate,
        };
        let result = RefinedEquilibrium { rod, equilibrium, error: None };
        out.push(RodDrape { loaded, result, nodes: None });
    }
    Ok(out)
}

/// The rods of a scene as branches, their elements cut where others grow.
fn branches(all: &[LoadedRod]) -> Result<Vec<Branch>, RodSceneError> {
    let mut branches: Vec<Branch> = Vec::with_capacity(all.len());
    let mut joints: Vec<Option<usize>> = vec![None; all.len()];
    for (rod, loaded) in all.iter().enumerate() {
        let borne: Vec<(usize, f64)> = (all.iter().enumerate())
            .filter_map(|(i, r)| r.growth.filter(|g| g.parent == rod).map(|g| (i, g.at)))
            .collect();
        let cuts: Vec<f64> = borne.iter().map(|b| b.1).collect();
        let spec = &loaded.spec;
        let whole = || Ok((spec.build(loaded.elements)?, Vec::new()));
        let cut = || spec.build_cut(loaded.elements, &cuts);
        let built = if cuts.is_empty() { whole() } else { cut() };
        let (built, found) = built.map_err(|source| RodSceneError::Rod { rod, source })?;
        for ((i, _), joint) in borne.iter().zip(found) {
            joints[*i] = Some(joint);
        }
        let growth = loaded.growth.map(|g| Growth {
            parent: g.parent,
            joint: joints[rod].unwrap_or(0),
            turn: g.turn,
        });
        branches.push(Branch { rod: built, growth });
    }
    Ok(branches)
}

/// Refuses discrete rods.
fn no_nodes(rods: &[LoadedRod], what: &'static str) -> Result<(), RodSceneError> {
    let rod = rods.iter().position(|r| r.discrete);
    rod.map_or(Ok(()), |rod| Err(RodSceneError::Discrete { rod, what }))
}

/// Rods at rest on colliders and each other.
#[derive(Clone, Debug)]
pub struct RodRest {
    /// Name of each fibre.
    pub names: Vec<String>,
    /// Units and axes of what is written of them.
    pub axes: Axes,
    /// What was unusual in the files.
    pub notes: Vec<String>,
    /// Where they are.
    pub assembly: Assembly,
    /// How they got there and what holds them.
    pub settled: Settled,
    /// Largest motion in the simulated time, over the size of the whole.
    pub drift: Option<f64>,
}

/// Step of the fall in which rods come to rest \[s\].
const FALL_STEP: f64 = 2e-3;

/// Lets the rods of a scene fall on its colliders (and each other, with `self_contact`) until they rest, finds the equilibrium there,
/// and watches it for `drift` seconds. Elements are kept as they are given. Drawn rods and hair begin as drawn, with the nature that holds them there without
/// contact, as in motion.
pub fn rest_rods(
    scene: &Scene,
    settings: &SettleSettings,
    drift: f64,
    watch: &dyn Fn(usize, f64) -> bool,
) -> Result<RodRest, RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let time = Time {
        step: FALL_STEP,
        duration: 1.0,
        frame: None,
        damping: 0.0,
        integrator: IntegratorName::ImplicitEuler,
        newton_steps: None,
    };
    let SceneFibres { mut assembly, names, notes, .. } = scene_fibres(scene, &time)?;
    (assembly.settings.tolerance, assembly.settings.max_sweeps) = (1e-8, 1000);
    let failed = |source| RodSceneError::Rod { rod: 0, source };
    let settled = assembly.settle(settings, watch).map_err(failed)?;
    let goes_on = |_: f64| watch(settled.steps, 0.0);
    let drift =
        if drift > 0.0 { assembly.drift_watched(drift, &goes_on).map_err(failed)? } else { None };
    Ok(RodRest { names, axes: scene.own_axes(), notes, assembly, settled, drift })
}

/// Whether a scene has fibres that are only drawn: hair, or rods without length and clamp.
pub fn has_drawn(scene: &Scene) -> bool {
    !scene.hair.is_empty() || scene.rods.iter().any(|rod| !is_described(rod))
}

/// Refuses fibres that go through colliders.
fn outside(assembly: &Assembly, name: impl Fn(usize) -> String) -> Result<(), RodSceneError> {
    assembly.overlap().map_or(Ok(()), |o| {
        let (joint, collider, depth, root) = (o.joint, o.collider, o.depth, o.root);
        Err(RodSceneError::Inside { name: name(o.fibre), joint, collider, depth, root })
    })
}

/// What is to be said of fibres that begin inside colliders.
fn roots_inside(assembly: &Assembly) -> Vec<String> {
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
}

impl RodInversion {
    /// Part of the length of what bears it at which it grows.
    pub fn grows_at(&self, all: &[Self]) -> Option<f64> {
        let growth = self.growth?;
        let rod = &all.get(growth.parent)?.fit.rod;
        Some(rod.lengths()[..growth.joint].iter().sum::<f64>() / rod.length())
    }
}

/// Finds the natural shapes for which the drawn fibres of a scene (`curve` of a rod, `strands` of hair) are
/// equilibria, each alone. Also returns what was unusual in the files.
///
/// Same scene, same bits, whatever the number of threads.
pub fn invert_rods(scene: &Scene) -> Result<(Vec<RodInversion>, Vec<String>), RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let (fibres, notes) = load_drawn(scene)?;
    Ok((invert_all(fibres, scene_gravity(scene))?, notes))
}

fn invert_all(fibres: Vec<DrawnFibre>, gravity: Vec3) -> Result<Vec<RodInversion>, RodSceneError> {
    let fit_one = |rod: usize| {
        let drawn = &fibres[rod];
        fit(&drawn.curve, drawn.section, drawn.d1, &drawn.settings)
            .map_err(|source| RodSceneError::Rod { rod, source })
    };
    let fits = try_map(fibres.len(), 1, fit_one)?;
    if fibres.iter().any(|f| f.parent.is_some()) {
        return invert_grown(fibres, fits, gravity);
    }
    let one = |rod: usize| {
        let loads = Loads::weight(&fibres[rod].section, gravity);
        invert_fibre(&fits[rod].rod, &fits[rod].q, &loads)
            .map_err(|source| RodSceneError::Rod { rod, source })
    };
    let results = try_map(fibres.len(), 1, one)?;
    let together = |((drawn, fit), result)| RodInversion { drawn, fit, result, growth: None };
    Ok(fibres.into_iter().zip(fits).zip(results).map(together).collect())
}

/// How far from what bears it a drawn rod may begin, in radii of that; it is moved there.
const BEGINS_WITHIN: f64 = 2.0;

/// Drawn rods of which some grow from others: each is put where it grows, and what bears it is cut there.
fn invert_grown(
    fibres: Vec<DrawnFibre>,
    mut fits: Vec<Fit>,
    gravity: Vec3,
) -> Result<Vec<RodInversion>, RodSceneError> {
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
    let branch =
        |(fit, growth): (&Fit, &Option<Growth>)| Branch { rod: fit.rod.clone(), growth: *growth };
    let tree = Tree::new(fits.iter().zip(&growths).map(branch).collect()).map_err(failed(0))?;
    let q: Vec<Vec3> = fits.iter().flat_map(|fit| fit.q.iter().copied()).collect();
    let results = invert_tree(&tree, &q, &gravity).map_err(failed(0))?;
    let together =
        |(((drawn, mut fit), result), growth): (((DrawnFibre, Fit), FibreInversion), _)| {
            fit.rod.set_clamp(*result.rod.clamp());
            (fit.error_max, fit.error_rms) = distances(&drawn.curve, &fit.rod, &fit.q);
            RodInversion { drawn, fit, result, growth }
        };
    Ok(fibres.into_iter().zip(fits).zip(results).zip(growths).map(together).collect())
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

/// Contacts of drawn fibres, and how they hold them.
#[derive(Clone, Debug)]
pub struct ContactInversion {
    /// Contacts, forces and natures.
    pub found: AssemblyInversion,
    /// What was done to bring the drawing into contact.
    pub closing: Closing,
    /// Largest motion in the simulated time, over the size of the whole; `None` if it was not asked for or was cut short.
    pub drift: Option<f64>,
    /// How far the drawing would sag in the first fifth of a second if it were made as drawn, over the size of the whole.
    pub naive_sag: Option<f64>,
    /// What was unusual about how the fibres lie among the colliders.
    pub notes: Vec<String>,
}

/// Gap over the thinnest radius up to which drawn fibres are meant to touch.
const MEANT: f64 = 0.1;

/// Step with which a result is watched \[s\].
const WATCH_STEP: f64 = 2e-3;

/// Time for which a drawing made as drawn may sag \[s\].
pub(crate) const SAG_TIME: f64 = 0.2;

/// Finds natures and sticking contact forces for drawn fibres among the colliders of the scene (and each other, with
/// `self_contact`), then simulates the result for `seconds`, unless `watch` ends it. Small gaps of the drawing are closed first.
/// Shapes, natures and certificates in `fibres` are replaced.
pub fn invert_contacts(
    scene: &Scene,
    fibres: &mut [RodInversion],
    seconds: f64,
    watch: &dyn Fn(f64) -> bool,
) -> Result<ContactInversion, RodSceneError> {
    let gravity = scene_gravity(scene);
    let one = |f: &RodInversion| Fibre {
        rod: f.fit.rod.clone(),
        state: RodState::at_rest(f.fit.q.clone()),
        motion: ClampMotion::default(),
        radius: f.drawn.radius,
    };
    let settings = AssemblySettings {
        step: StepSettings { damping: FIBRE_DAMPING, ..StepSettings::new(WATCH_STEP) },
        gravity,
        fibre_friction: scene.self_contact.map(|own| own.friction),
        tolerance: 1e-8,
        max_sweeps: 1000,
    };
    let failed = |source| RodSceneError::Rod { rod: 0, source };
    let mut assembly =
        Assembly::new(fibres.iter().map(one).collect(), load_colliders(scene)?, settings)
            .map_err(failed)?;
    let growths: Vec<Option<Growth>> = fibres.iter().map(|f| f.growth).collect();
    if growths.iter().any(Option::is_some) {
        assembly = assembly.grown(&growths).map_err(failed)?;
    }
    let notes = roots_inside(&assembly);
    let thinnest = fibres.iter().map(|f| f.drawn.radius).fold(f64::INFINITY, f64::min);
    let closing = assembly.close_gaps(MEANT * thinnest).map_err(failed)?;
    // Small overlaps were opened; what is still inside goes through.
    outside(&assembly, |f| fibres[f].drawn.name.clone())?;
    let found = assembly.invert(&Prior::Shape).map_err(failed)?;
    let certificates = found.certificates.iter().cloned();
    for ((fibre, natural), certificate) in fibres.iter_mut().zip(&found.natural).zip(certificates) {
        fibre.result.rod = fibre.result.rod.clone().with_rest(natural).map_err(failed)?;
        fibre.result.natural.clone_from(natural);
        fibre.result.stiffening = 1.0 - certificate.margin;
        fibre.result.certificate = certificate;
    }
    for (fibre, held) in fibres.iter_mut().zip(&assembly.fibres) {
        fibre.fit.q.clone_from(&held.state.q);
        fibre.fit.rod.set_clamp(*held.rod.clamp());
        fibre.result.rod.set_clamp(*held.rod.clamp());
        (fibre.fit.error_max, fibre.fit.error_rms) =
            distances(&fibre.drawn.curve, &fibre.fit.rod, &fibre.fit.q);
    }
    let shapes: Vec<_> = assembly.fibres.iter().map(|f| f.state.q.clone()).collect();
    let moves = |held: Assembly, seconds: f64| {
        if seconds <= 0.0 { Ok(None) } else { held.drift_watched(seconds, watch) }
    };
    let naive = assembly.with_natures(&shapes).map_err(failed)?;
    let drift = moves(assembly.held_by(&found).map_err(failed)?, seconds).map_err(failed)?;
    let naive_sag = moves(naive, SAG_TIME.min(seconds)).map_err(failed)?;
    Ok(ContactInversion { found, closing, drift, naive_sag, notes })
}

/// Internal damping of fibres in motion \[s\]: a curl of 10 Hz comes to rest in a second or two.
const FIBRE_DAMPING: f64 = 2e-3;

/// The fibres of a scene ready to move, and how they go through time.
///
/// Rods start at rest in their natural shape, those that grow from others where these put them; drawn ones and hair start as drawn, with the
/// nature that holds them there without contact. What was unusual in the files is returned as well.
pub fn rod_assembly(scene: &Scene) -> Result<(Assembly, Time, Vec<String>), RodSceneError> {
    if !scene.shells.is_empty() {
        return Err(RodSceneError::Mixed);
    }
    let time = scene.time.ok_or(RodSceneError::NoTime)?;
    let found = scene_fibres(scene, &time)?;
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

/// The scene with those of its rods that are not only drawn, and their places in it.
fn described(scene: &Scene) -> Result<(Scene, Vec<usize>), RodSceneError> {
    let places: Vec<usize> =
        (0..scene.rods.len()).filter(|i| is_described(&scene.rods[*i])).collect();
    let mut described = scene.clone();
    described.rods.retain(is_described);
    // Trees name rods by their place in the scene.
    for (i, rod) in places.iter().zip(&mut described.rods) {
        let Some(parent) = &mut rod.parent else { continue };
        let bearer = parent.rod as usize;
        match places.iter().position(|p| *p == bearer) {
            Some(place) => parent.rod = place as u32,
            None if bearer < *i => {
                let what = format!("rod {i} grows from rod {bearer}, which is only drawn");
                let help = "give that one `length`, `clamp` and `natural_curvature`: `toile invert` writes them";
                return Err(scene.error_at(&format!("rod[{i}].parent"), what, help).into());
            }
            None => {}
        }
    }
    Ok((described, places))
}

/// The scene with those of its rods that are only drawn.
fn only_drawn(scene: &Scene) -> Result<Scene, RodSceneError> {
    let places: Vec<usize> =
        (0..scene.rods.len()).filter(|i| !is_described(&scene.rods[*i])).collect();
    let mut drawn = scene.clone();
    drawn.rods.retain(|rod| !is_described(rod));
    for (i, rod) in places.iter().zip(&mut drawn.rods) {
        let Some(parent) = &mut rod.parent else { continue };
        let bearer = parent.rod as usize;
        match places.iter().position(|p| *p == bearer) {
            Some(place) => parent.rod = place as u32,
            None if bearer < *i => {
                let what = format!("rod {i} is drawn and grows from rod {bearer}, which is not");
                let help = "draw all rods of a tree, or none";
                return Err(scene.error_at(&format!("rod[{i}].parent"), what, help).into());
            }
            None => {}
        }
    }
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

pub(crate) fn scene_fibres(scene: &Scene, time: &Time) -> Result<SceneFibres, RodSceneError> {
    let gravity = scene_gravity(scene);
    let (mut fibres, mut names, mut friction) = (Vec::new(), Vec::new(), Vec::new());
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
        add(format!("rod {rod}"), branch.rod, q, loaded.radius, loaded.friction);
    }
    let (strands, mut notes) = load_drawn(&only_drawn(scene)?)?;
    let first = growths.len();
    for found in invert_all(strands, gravity)? {
        let (radius, mu) = (found.drawn.radius, found.drawn.friction);
        growths.push(found.growth.map(|g| Growth { parent: first + g.parent, ..g }));
        add(found.drawn.name, found.result.rod, found.fit.q, radius, mu);
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
    outside(&assembly, |f| names[f].clone())?;
    notes.extend(roots_inside(&assembly));
    Ok(SceneFibres { assembly, names, friction, notes })
}
