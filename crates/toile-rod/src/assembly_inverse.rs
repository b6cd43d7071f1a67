//! Inverse statics of fibres in contact: natural shapes and contact forces for which an assembly rests as it is.
//!
//! Equilibrium, K (q − q̄) + ∂E_load/∂q = Hᵀ r with every r in its cone, leaves the forces open: r = 0 always has an answer. Of all
//! of them the one is taken whose natural shape is nearest to a wish q̄⁰, in the energy it would store:
//!
//! ```text
//! min ½ rᵀ W r + bᵀ r,  r ∈ ∏ K_μ,    W = H K⁻¹ Hᵀ + γ,    b = −H K⁻¹ (∂E_load/∂q + K (q − q̄⁰)),    q̄ = q + K⁻¹ (∂E_load/∂q − Hᵀ r)
//! ```
//!
//! Strictly convex, so the answer is unique; the conic kernel solves it without the De Saxcé shift, and all contacts stick. Where a fibre would
//! fall under the forces on it, γ grows at its contacts: any forces in their cones give an equilibrium, and smaller ones a steadier one.
//! Reference: Derouet-Jourdan, Bertails-Descoubes, Daviet and Thollot 2013; Bertails-Descoubes 2017, §4.3.

use toile_cone::{
    Auto, BlockSparseOperator, DENSE_LIMIT, GaussSeidel, Law, Problem, Settings, Solution, Solver,
    Status, project_cone,
};

use toile_num::parallel::map_items;

use crate::RodError;
use crate::account::FibreContact;
use crate::assembly::{Assembly, Fibre, GRAIN};
use crate::body::Body;
use crate::certificate::{CERTIFIED_RESIDUAL, RodCertificate, certify_held};
use crate::chain::Chain;
use crate::delassus::Delassus;
use crate::forms::{Mix, Shape};
use crate::held::Held;
use crate::motion::ClampMotion;
use crate::rod::Loads;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites};

/// γ over the mean diagonal of W: makes the problem strictly convex and moves forces in the ninth digit.
const REGULARISATION: f64 = 1e-9;

/// Part of the friction that may be used: contacts at the very edge of their cones slip at a breath.
const USED: f64 = 0.9;

/// Optimality that is asked for where W is small enough for exact methods, and where it is not. Any forces in their cones
/// give an exact equilibrium; optimality only decides how near the natural shapes are to the wish.
const TOLERANCE: [f64; 2] = [1e-10, 1e-5];

/// Least part of its elastic stiffness that a fibre should keep under the forces on it.
const STEADY: f64 = 0.05;

/// Price of the forces on fibres that keep less, over what forces cost anyway; its growth, and how often it may grow.
const FIRST_PRICE: f64 = 0.1;
const DEARER: f64 = 3.0;
const PRICES: usize = 8;

/// Part of the largest force below which a contact holds nothing.
const PRESSES: f64 = 1e-9;

/// Steps between looks at how far a watched assembly has gone.
const LOOK: usize = 20;

/// The wish for natural shapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Prior {
    /// The given shape itself: forces carry as much of the load as they can.
    Shape,
    /// Straight fibres.
    Straight,
    /// Any curvatures, per fibre.
    Given(Vec<Vec<Vec3>>),
}

/// What was found.
#[derive(Clone, Debug)]
pub struct AssemblyInversion {
    /// Natural curvatures per fibre.
    pub natural: Vec<Vec<Vec3>>,
    /// Contacts with their forces \[N\].
    pub contacts: Vec<FibreContact>,
    /// Largest distance of a force from its cone, over the largest force.
    pub cone_gap: f64,
    /// Least 1 − ‖r_T‖/(μ r_N) over loaded contacts; 1 without any.
    pub cone_margin: f64,
    /// Residual of the optimality conditions, relative.
    pub residual: f64,
    /// Deepest gap below zero \[m\].
    pub penetration: f64,
    /// Largest force that is not balanced on a fibre \[N\], as in [`crate::RodCertificate`].
    pub residual_n: f64,
    /// Sweeps of the friction solver.
    pub sweeps: usize,
    /// Whether each fibre holds its shape, with the contact forces on it.
    pub certificates: Vec<RodCertificate>,
    /// Ways for fibres to fall if the forces on them were dead loads.
    pub alone_negative_modes: usize,
    /// Those of them that contacts which press and stick do not stop.
    pub negative_modes: usize,
}

/// Forces that stick and bring natural shapes nearest to the wish.
fn sticking(
    w: &BlockSparseOperator<3>,
    b: &[f64],
    mu: &[f64],
    start: Option<&[f64]>,
    watch: &dyn Fn() -> bool,
) -> Result<Solution, RodError> {
    let failed = |_| RodError::NotFinite { what: "contact problem" };
    let problem = Problem::new(w, b, mu).map_err(failed)?.with_law(Law::SecondOrderCone);
    let small = b.len() <= DENSE_LIMIT;
    let settings = Settings {
        tolerance: TOLERANCE[usize::from(!small)],
        max_iterations: if small { 2000 } else { 400 },
        ..Settings::default()
    };
    let found = GaussSeidel::default().solve(&problem, start, &settings, &|_, _| watch());
    if !watch() {
        return Err(RodError::Stopped);
    }
    if found.converged() || !small {
        return Ok(found);
    }
    let other = Auto.solve(&problem, Some(&found.r), &settings, &|_, _| watch());
    let better = other.residuals.alart_curnier < found.residuals.alart_curnier;
    Ok(if better { other } else { found })
}

/// The elastic stiffness alone.
const ELASTIC: Mix = Mix { mass: 0.0, elastic: 1.0, geometric: 0.0 };

/// A fibre with its weight.
struct Bent {
    /// The elastic stiffness alone.
    chain: Chain,
    /// K⁻¹ ∂E_load/∂q.
    by_load: Vec<Vec3>,
    /// q − q̄⁰ + K⁻¹ ∂E_load/∂q: what contact forces should undo.
    away: Vec<Vec3>,
}

impl Assembly {
    /// Finds natural curvatures and sticking contact forces for the present shape of all fibres, at rest.
    ///
    /// Only pairs closer than a thousandth of a radius beyond contact carry forces, as in motion: through a wider gap nothing is held
    /// ([`Assembly::close_gaps`] closes it). A tenth of the friction is kept in reserve.
    pub fn invert(&self, prior: &Prior) -> Result<AssemblyInversion, RodError> {
        self.invert_watched(prior, &|_| true)
    }

    /// The same, told of the part that is done at most; answered `false` it ends with [`RodError::Stopped`].
    pub fn invert_watched(
        &self,
        prior: &Prior,
        watch: &dyn Fn(f64) -> bool,
    ) -> Result<AssemblyInversion, RodError> {
        self.invert_from(prior, None, watch)
    }

    /// The same from forces in the frames of the contacts, which decide how long it takes and nothing else.
    fn invert_from(
        &self,
        prior: &Prior,
        mut start: Option<Vec<f64>>,
        watch: &dyn Fn(f64) -> bool,
    ) -> Result<AssemblyInversion, RodError> {
        self.has_curvatures("inversion")?;
        let sites = self.sites_at_rest();
        let mut pairs = self.find(&sites);
        pairs.retain(|pair| pair.gap <= pair.slack);
        let bent = self.bent(prior)?;
        let chains: Vec<&Chain> = bent.iter().map(|b| &b.chain).collect();
        let delassus = Delassus::new(&self.bodies, &chains, &pairs, REGULARISATION)?;
        let count = pairs.len();
        // b = −H K⁻¹ (…): how the contact points would move if every fibre went to its wish.
        let still = ClampMotion::default();
        let to_wish = |body: &Body| body.velocities(|f| chains[f], |f| &bent[f].away, &still);
        let ways = Sites::with(&sites, self.bodies.map(to_wish));
        let mut b = vec![0.0; 3 * count];
        for (c, pair) in pairs.iter().enumerate() {
            let way: Vec3 = pair.sides().map(|s| ways[s.fibre].velocity(s) * s.sign).sum();
            let local = -delassus.frame(c).tr_mul(&way);
            b[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
        }
        let mut r = vec![0.0; 3 * count];
        let mut out = AssemblyInversion {
            natural: Vec::new(),
            contacts: Vec::new(),
            cone_gap: 0.0,
            cone_margin: 1.0,
            residual: 0.0,
            penetration: pairs.iter().map(|p| -p.gap).fold(0.0, f64::max),
            residual_n: 0.0,
            sweeps: 0,
            certificates: Vec::new(),
            alone_negative_modes: 0,
            negative_modes: 0,
        };
        let mu: Vec<f64> = pairs.iter().map(|p| USED * p.friction).collect();
        let mut dearer = vec![0.0; count];
        // What is asked again in every round is known where nothing pushes otherwise: forces of the last round, and which fibres hold without any.
        let mut before: Vec<Vec<Vec3>> = Vec::new();
        let mut without: Vec<Option<bool>> = vec![None; sites.len()];
        for round in 0..=PRICES {
            let done = |part: f64| watch((round as f64 + part) / (PRICES + 1) as f64);
            if count > 0 {
                let priced = if round > 0 { Some(delassus.priced(&dearer)?) } else { None };
                let w = priced.as_ref().unwrap_or(&delassus.w);
                let found = sticking(w, &b, &mu, start.as_deref(), &|| done(0.0))?;
                (out.residual, out.sweeps) =
                    (found.residuals.alart_curnier, out.sweeps + found.iterations);
                for c in 0..count {
                    let force = Vec3::from_column_slice(&found.r[3 * c..3 * c + 3]);
                    r[3 * c..3 * c + 3].copy_from_slice(project_cone(mu[c], &force).as_slice());
                }
                start = Some(found.r);
            }
            let forces =
                map_items(&sites, GRAIN, |f, s| delassus.joint_forces(f, s.points.len(), &r));
            let natures = self.bodies.try_map_watched(
                |part| done(0.2 + 0.4 * part),
                |body| {
                    if round > 0 && body.fibres.iter().all(|f| before[*f] == forces[*f]) {
                        let known =
                            |f: &usize| (out.natural[*f].clone(), out.certificates[*f].clone());
                        return Ok(body.fibres.iter().map(known).collect());
                    }
                    self.natures(body, &bent, &chains, &forces)
                },
            )?;
            (out.natural, out.certificates) = natures.into_iter().unzip();
            before = forces;
            // Forces under which a fibre would fall alone are made dearer for it, if its nature holds it without them.
            let none: Vec<Vec<Vec3>> =
                sites.iter().map(|s| vec![Vec3::zeros(); s.points.len()]).collect();
            let judging = |part: f64| done(0.6 + 0.4 * part);
            let judged = self.bodies.try_map_watched(judging, |body| {
                let steady = |c: &RodCertificate| c.margin >= STEADY;
                let (count, first) = (body.fibres.len(), body.fibres[0]);
                if body.fibres.iter().all(|f| steady(&out.certificates[*f])) {
                    return Ok(vec![(false, without[first]); count]);
                }
                let holds = match without[first] {
                    Some(known) => known,
                    None => {
                        self.natures(body, &bent, &chains, &none)?.iter().all(|(_, c)| steady(c))
                    }
                };
                Ok(vec![(holds, Some(holds)); count])
            })?;
            let loose: Vec<bool> = judged.iter().map(|j| j.0).collect();
            without = judged.into_iter().map(|j| j.1).collect();
            let mut more = false;
            for (c, pair) in pairs.iter().enumerate() {
                if pair.sides().any(|s| loose[s.fibre]) && r[3 * c] > 0.0 {
                    dearer[c] = (DEARER * dearer[c]).max(FIRST_PRICE);
                    more = true;
                }
            }
            if !more {
                break;
            }
        }
        out.residual_n = out.certificates.iter().map(|c| c.residual_n).fold(0.0, f64::max);
        let largest = r.chunks(3).map(|r| Vec3::from_column_slice(r).norm()).fold(0.0, f64::max);
        for (c, pair) in pairs.iter().enumerate() {
            let r = Vec3::from_column_slice(&r[3 * c..3 * c + 3]);
            let (n, t) = (r[0], (r[1] * r[1] + r[2] * r[2]).sqrt());
            let outside = (t - pair.friction * n).max(-n).max(0.0);
            if largest > 0.0 {
                out.cone_gap = out.cone_gap.max(outside / largest);
                if n > 1e-9 * largest && pair.friction > 0.0 {
                    out.cone_margin = out.cone_margin.min(1.0 - t / (pair.friction * n));
                }
            }
            let status = if r.norm() > 0.0 { Status::Stick } else { Status::TakeOff };
            out.contacts.push(pair.contact(delassus.frame(c) * r, status));
        }
        self.judge_together(&mut out, &sites, &pairs, &r, largest)?;
        Ok(out)
    }

    /// Natures of what moves together under contact forces at the joints of all fibres, and whether they hold.
    fn natures(
        &self,
        body: &Body,
        bent: &[Bent],
        chains: &[&Chain],
        forces: &[Vec<Vec3>],
    ) -> Result<Vec<(Vec<Vec3>, RodCertificate)>, RodError> {
        let by_contact = body.pushed(chains, forces);
        let nature = |(f, by_contact): (&usize, Vec<Vec3>)| -> Vec<Vec3> {
            let sum = |((q, l), d): ((&Vec3, &Vec3), Vec3)| q + l - d;
            let q = &self.fibres[*f].state.q;
            q.iter().zip(&bent[*f].by_load).zip(by_contact).map(sum).collect()
        };
        let natural: Vec<Vec<Vec3>> = body.fibres.iter().zip(by_contact).map(nature).collect();
        if let Some(f) = body.alone() {
            let Fibre { rod, state, .. } = &self.fibres[f];
            let rod = rod.clone().with_rest(&natural[0])?;
            let loads = Loads::weight(rod.section(), self.settings.gravity);
            let certificate = certify_held(&rod, &state.q, &loads, &forces[f])?;
            return Ok(natural.into_iter().map(|n| (n, certificate.clone())).collect());
        }
        let mut fibres = self.fibres.clone();
        for (f, natural) in body.fibres.iter().zip(&natural) {
            fibres[*f].rod = fibres[*f].rod.clone().with_rest(natural)?;
        }
        let certificates = body.certify(&fibres, &self.settings.gravity, forces)?;
        Ok(natural.into_iter().zip(certificates).collect())
    }

    /// Whether contacts hold what would fall alone.
    fn judge_together(
        &self,
        out: &mut AssemblyInversion,
        sites: &[Sites],
        pairs: &[Pair],
        r: &[f64],
        largest: f64,
    ) -> Result<(), RodError> {
        out.alone_negative_modes = out.certificates.iter().map(|c| c.negative_modes).sum();
        if out.alone_negative_modes == 0 {
            return Ok(());
        }
        let presses = |c: &usize| r[3 * c] > PRESSES * largest;
        let list: Vec<usize> = (0..pairs.len()).filter(presses).collect();
        let pressing: Vec<Pair> = list.iter().map(|c| pairs[*c].clone()).collect();
        let forces: Vec<f64> =
            list.iter().flat_map(|c| r[3 * c..3 * c + 3].iter().copied()).collect();
        let held = Held::new(self, sites, &pressing, &forces, 0.0)?;
        out.negative_modes = held.negative_modes(out.alone_negative_modes);
        if out.negative_modes > 0 {
            return Ok(());
        }
        for c in &mut out.certificates {
            if c.negative_modes > 0 && c.residual <= CERTIFIED_RESIDUAL {
                c.certified = true;
                c.reason = format!(
                    "forces balance to {:.1e} of a joint's weight; alone there would be {} way(s) to fall, but contacts stick and hold it",
                    c.residual, c.negative_modes
                );
            }
        }
        Ok(())
    }

    /// Elastic stiffness of all fibres alone, factorised.
    pub(crate) fn elastic_chains(&self) -> Result<Vec<Chain>, RodError> {
        let nothing: Vec<Vec<Vec3>> = vec![Vec::new(); self.fibres.len()];
        let none = Vec3::zeros();
        let linear = |body: &Body| match body.alone() {
            Some(f) => {
                let Fibre { rod, state, .. } = &self.fibres[f];
                let loads = Loads { per_length: none, tip: none };
                Ok(vec![Shape::new(rod, &state.q, &loads, false).chain(rod, ELASTIC)])
            }
            None => {
                let parts = body.held(&self.fibres, &none, &nothing, ELASTIC)?;
                Ok(parts.into_iter().map(|(_, chain)| chain).collect())
            }
        };
        self.bodies.try_map(linear)
    }

    /// Weight and wish of all fibres, with their elastic stiffness factorised.
    fn bent(&self, prior: &Prior) -> Result<Vec<Bent>, RodError> {
        let chains = self.elastic_chains()?;
        let gravity = self.settings.gravity;
        let nothing: Vec<Vec<Vec3>> = vec![Vec::new(); self.fibres.len()];
        let load = |body: &Body| {
            if let Some(f) = body.alone() {
                let Fibre { rod, state, .. } = &self.fibres[f];
                let loads = Loads::weight(rod.section(), gravity);
                return Ok(vec![Shape::new(rod, &state.q, &loads, false).load_gradient]);
            }
            // What is borne hangs on what bears it; less the elastic moments, which have no part in the load.
            let parts = body.held(&self.fibres, &gravity, &nothing, ELASTIC)?;
            let of_load = |(f, (gradient, _)): (&usize, (Vec<Vec3>, Chain))| -> Vec<Vec3> {
                let Fibre { rod, state, .. } = &self.fibres[*f];
                let elastic = rod.elastic(&state.q);
                let own = elastic.iter().zip(rod.rest_moment()).map(|(k, b)| k - b);
                gradient.iter().zip(own).map(|(g, own)| g - own).collect()
            };
            Ok(body.fibres.iter().zip(parts).map(of_load).collect())
        };
        let loads = self.bodies.try_map(load)?;
        let one = |(f, (chain, load)): (usize, (Chain, Vec<Vec3>))| {
            let (rod, q) = (&self.fibres[f].rod, &self.fibres[f].state.q);
            let by_load = rod.solve_elastic(&load);
            let wish: Vec<Vec3> = match prior {
                Prior::Shape => q.clone(),
                Prior::Straight => vec![Vec3::zeros(); q.len()],
                Prior::Given(all) => {
                    let (found, expected) = (all.len(), self.fibres.len());
                    let what = "priors";
                    let one = all.get(f).ok_or(RodError::Count { what, found, expected })?;
                    rod.check_blocks(one)?;
                    one.clone()
                }
            };
            let away = q.iter().zip(&wish).zip(&by_load).map(|((q, w), l)| q - w + l).collect();
            Ok(Bent { chain, by_load, away })
        };
        chains.into_iter().zip(loads).enumerate().map(one).collect()
    }

    /// The same assembly with other natures, at rest in its present shape.
    pub fn with_natures(&self, natural: &[Vec<Vec3>]) -> Result<Self, RodError> {
        let mut out = self.clone();
        if natural.len() != out.fibres.len() {
            let (found, expected) = (natural.len(), out.fibres.len());
            return Err(RodError::Count { what: "natures", found, expected });
        }
        for (fibre, q_bar) in out.fibres.iter_mut().zip(natural) {
            fibre.rod = fibre.rod.clone().with_rest(q_bar)?;
            fibre.state.rate.fill(Vec3::zeros());
        }
        out.place_grown();
        Ok(out)
    }

    /// The same assembly with the natures that were found, at rest under the forces that were found: the first step begins with them.
    pub fn held_by(&self, found: &AssemblyInversion) -> Result<Self, RodError> {
        let mut out = self.with_natures(&found.natural)?;
        out.forces = found.contacts.iter().map(|c| (c.key, c.force)).collect();
        Ok(out)
    }

    /// Moves a copy for a while and returns how far any of its joints went, over the size of the whole.
    pub fn drift(&self, seconds: f64) -> Result<f64, RodError> {
        Ok(self.drift_watched(seconds, &|_| true)?.unwrap_or(f64::INFINITY))
    }

    /// The same, told of the share that is done; `None` when that answers `false` before the end.
    pub fn drift_watched(
        &self,
        seconds: f64,
        watch: &dyn Fn(f64) -> bool,
    ) -> Result<Option<f64>, RodError> {
        let start: Vec<Vec<Vec3>> = (0..self.fibres.len()).map(|f| self.points(f)).collect();
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(-f64::INFINITY));
        for p in start.iter().flatten() {
            (low, high) = (low.inf(p), high.sup(p));
        }
        let mut moving = self.clone();
        let steps = (seconds / self.settings.step.dt - 1e-9).ceil().max(1.0) as usize;
        let mut most = 0.0f64;
        for step in 1..=steps {
            if !watch(step as f64 / steps as f64) {
                return Ok(None);
            }
            moving.step()?;
            if step % LOOK == 0 || step == steps {
                let far = |f: usize, before: &Vec<Vec3>| {
                    let points = moving.points(f);
                    before.iter().zip(points).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
                };
                most = map_items(&start, GRAIN, far).into_iter().fold(most, f64::max);
            }
        }
        Ok(Some(most / (high - low).norm().max(1e-300)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::drawn_hair;

    /// The problem is strictly convex: nothing, noise and forces a hundred times too large lead to the same forces and natures.
    #[test]
    fn the_answer_does_not_depend_on_the_start() {
        let scene = drawn_hair(100).unwrap();
        let found = scene.invert(&Prior::Shape).unwrap();
        let count = found.contacts.len();
        let largest = found.contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
        assert!(count > 20 && found.residual <= TOLERANCE[0], "{count} {:e}", found.residual);
        for size in [1.0, 100.0] {
            let noise = |i: usize| (1.7 * i as f64).sin() * size * largest;
            let start = Some((0..3 * count).map(noise).collect());
            let other = scene.invert_from(&Prior::Shape, start, &|_| true).unwrap();
            for (a, b) in found.contacts.iter().zip(&other.contacts) {
                let error = (a.force - b.force).norm() / largest;
                assert!(a.key == b.key && error < 1e-6, "{size} {:?}: {error:e}", a.key);
            }
            for (a, b) in found.natural.iter().flatten().zip(other.natural.iter().flatten()) {
                assert!((a - b).norm() < 1e-5, "{size}: {a} {b}");
            }
        }
    }
}
