//! Rods of a scene that touch nothing, at rest.

use toile_io::{LoadedRod, Scene, load_rods, scene_gravity};
use toile_num::parallel::try_map;
use toile_rod::{
    Branch, DiscreteEquilibrium, Growth, Loads, RefinedEquilibrium, RodEquilibrium, RodError,
    RodSpec, StaticSettings, Station, Tree, Vec3,
};

use super::RodSceneError;

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
pub(super) fn branches(all: &[LoadedRod]) -> Result<Vec<Branch>, RodSceneError> {
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
