//! Many fibres in contact with colliders and each other: one step with exact dry friction.
//!
//! Without contact every fibre would have the rates v. A contact force r changes them by A⁻¹ Hᵀ r, with A = M + (θ²h² + νh) K
//! factorised per fibre; so the velocities at all contacts are u = W r + b with W = Σ H A⁻¹ Hᵀ over the fibres they share,
//! and the conic kernel finds the r that sticks, slides or takes off. Separated pairs may close their gap but no more:
//! u_N + gap/h ≥ 0. Reference: Daviet, Bertails-Descoubes and Boissieux 2011.

use std::collections::HashMap;

use toile_cone::SOLVER_NAMES;
use toile_contact::Collider;
use toile_num::parallel::{for_chunks, map_items};

use crate::RodError;
use crate::account::{AssemblyReport, FibreContactKey, Laps, StepTimings};
use crate::body::{Bodies, Body};
use crate::crowd::Crowd;
use crate::delassus::Delassus;
use crate::motion::{ClampMotion, Moving, RodState, StepSettings, advance, check, energies_after};
use crate::nodal_step::NodalFibre;
use crate::passing::{is_fast, passing};
use crate::rod::{Rod, Station};
use crate::rotation::Vec3;
use crate::supple::{Factorised, Supple};
use crate::touch::{Pair, Sites, find};
use crate::tree::accelerated;
use crate::turning::Turning;

/// Distance of its root from a collider within which a fibre of that radius and length is rooted in it \[m\]: drawings are that rough.
pub fn rooted_within(radius: f64, length: f64) -> f64 {
    (2.0 * radius).max(0.01 * length)
}

/// Fibres to a task.
pub(crate) const GRAIN: usize = 8;

/// A fibre that moves.
#[derive(Clone, Debug)]
pub struct Fibre {
    /// The rod.
    pub rod: Rod,
    /// Where it is and how fast.
    pub state: RodState,
    /// How its clamp moves.
    pub motion: ClampMotion,
    /// Radius for contact \[m\].
    pub radius: f64,
}

/// How an assembly is stepped.
#[derive(Clone, Debug)]
pub struct AssemblySettings {
    /// The step of each fibre; θ = 1.
    pub step: StepSettings,
    /// Gravity \[m/s²\].
    pub gravity: Vec3,
    /// Friction between fibres; `None` lets them pass through each other.
    pub fibre_friction: Option<f64>,
    /// Residual of the friction law that is good enough, relative to the largest force.
    pub tolerance: f64,
    /// Sweeps at most.
    pub max_sweeps: usize,
}

/// Fibres and what they touch.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The fibres.
    pub fibres: Vec<Fibre>,
    /// What they touch.
    pub colliders: Vec<Collider>,
    /// How they are stepped.
    pub settings: AssemblySettings,
    /// Time \[s\].
    pub time: f64,
    /// Length of the step that led here, or of the part of it that was the last \[s\]; 0 at the beginning.
    pub(crate) taken: f64,
    /// Forces of the last step \[N\], in world axes: where the next one begins, and which contacts keep their place.
    pub(crate) forces: HashMap<FibreContactKey, Vec3>,
    /// Part of the friction that contacts may use.
    pub(crate) friction_share: f64,
    /// Which solver of the kernel finds the forces, by its name.
    pub(crate) solver: &'static str,
    /// Which fibres move together because some grow from others.
    pub(crate) bodies: Bodies,
    /// Nodes and angles of the discrete rods among the fibres.
    pub(crate) nodal: HashMap<usize, NodalFibre>,
    /// Joints from the clamp on that began inside a collider, by fibre and collider: roots are often drawn under the skin.
    embedded: HashMap<(u32, u32), u32>,
    /// Fibres that began too close to each other.
    pub(crate) crowd: Crowd,
}

/// A fibre that is inside a collider where it has already come out of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Which fibre.
    pub fibre: usize,
    /// Which of its joints, the clamp being 0.
    pub joint: usize,
    /// Which collider.
    pub collider: usize,
    /// How deep \[m\].
    pub depth: f64,
    /// How far its root is outside, where it is not rooted in it \[m\].
    pub root: Option<f64>,
    /// Fibres of which that is so; this is the deepest.
    pub fibres: usize,
}

/// Times what would pass is added and everything solved again: one is nearly always enough.
const MOST_PASSING: usize = 4;

/// Times a step may be halved because something passed.
const MOST_CUTS: usize = 6;

/// Whether the forces of so many pairs were not found, with all the work that they are worth.
fn is_dear(report: &AssemblyReport, pairs: usize) -> bool {
    !report.converged && pairs * report.sweeps > MOST_WORK
}

/// Times a step may be halved because its forces were not found: sweeps that stall take long.
const MOST_RETRIES: usize = 2;

/// Contacts times sweeps beyond which a step whose forces were not found is taken as it is: dense drawings have pairs that contradict each other, half a step on
/// as well, and a crowd of 1600 pairs among 100 strands took more than a minute for the tries of its first step.
const MOST_WORK: usize = 1_000_000;

/// Angle of an element beyond which a motion has got out of hand \[rad\]: integrals over it would take for ever.
const MOST_TURN: f64 = 1e3;

/// A fibre during a step.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) chain: Factorised,
    /// Rates at the end of the step without contact.
    pub(crate) free: Vec<Vec3>,
}

impl Assembly {
    /// Fibres in their surroundings at time 0. Rods must not be empty and radii positive.
    pub fn new(
        fibres: Vec<Fibre>,
        colliders: Vec<Collider>,
        settings: AssemblySettings,
    ) -> Result<Self, RodError> {
        for fibre in &fibres {
            check(&fibre.rod, &fibre.state, &settings.step)?;
            if !(fibre.radius > 0.0 && fibre.radius.is_finite()) {
                return Err(RodError::NotPositive { what: "radius", value: fibre.radius });
            }
        }
        let bodies = Bodies::alone(fibres.len());
        let mut out = Self {
            fibres,
            colliders,
            settings,
            time: 0.0,
            taken: 0.0,
            forces: HashMap::new(),
            friction_share: 1.0,
            solver: SOLVER_NAMES[1],
            bodies,
            nodal: HashMap::new(),
            embedded: HashMap::new(),
            crowd: Crowd::default(),
        };
        out.embed();
        Ok(out)
    }

    /// Sees which fibres begin inside colliders.
    pub(crate) fn embed(&mut self) {
        self.embedded.clear();
        if self.settings.fibre_friction.is_some() {
            self.crowd = Crowd::new(&self.fibres, &self.bodies, &self.sites_at_rest());
        }
        let placed: Vec<_> = self.colliders.iter().map(|c| c.at(0.0)).collect();
        for (f, fibre) in self.fibres.iter().enumerate() {
            let points = if placed.is_empty() { vec![] } else { self.points(f) };
            for (c, collider) in placed.iter().enumerate() {
                let away = |p: &Vec3| collider.query(p).distance - collider.gap();
                // A fibre that begins outside and goes in is not rooted there.
                if away(&points[0]) > rooted_within(fibre.radius, fibre.rod.length()) {
                    continue;
                }
                let inside = |p: &&Vec3| away(p) < 0.5 * fibre.radius;
                let count = points.iter().skip(1).take_while(inside).count();
                if count > 0 {
                    self.embedded.insert((f as u32, c as u32), count as u32);
                }
            }
        }
    }

    /// The same with forces found by another solver of the kernel: sweeps are the fastest, the others are there to compare.
    pub fn solved_by(mut self, name: &str) -> Result<Self, RodError> {
        let found = SOLVER_NAMES.iter().find(|known| **known == name);
        self.solver = found.ok_or_else(|| RodError::Solver { name: name.into() })?;
        Ok(self)
    }

    /// Fibres whose first joints began inside a collider: those joints do not touch it.
    pub fn embedded(&self) -> usize {
        let fibres: std::collections::BTreeSet<u32> = self.embedded.keys().map(|k| k.0).collect();
        fibres.len()
    }

    /// Fibres that began inside a collider from end to end.
    pub fn buried(&self) -> usize {
        let whole = |f: usize| self.fibres[f].rod.lengths().len() as u32;
        let inside = self.embedded.iter().filter(|(key, count)| **count == whole(key.0 as usize));
        inside.map(|(key, _)| key.0).collect::<std::collections::BTreeSet<u32>>().len()
    }

    /// The deepest place where a fibre is inside a collider, roots under the skin left out.
    pub fn overlap(&self) -> Option<Overlap> {
        self.overlap_beyond(|_| 0.0)
    }

    /// The same of fibres that are deeper inside than they may be \[m\], each by its number.
    pub fn overlap_beyond(&self, allowed: impl Fn(usize) -> f64) -> Option<Overlap> {
        let sites = self.sites_at_rest();
        let deep = |p: &Pair| match p.key {
            FibreContactKey::Collider { fibre, point, collider } => {
                let (fibre, joint, collider) = (fibre as usize, point as usize, collider as usize);
                let depth = -p.gap;
                let rooted = self.embedded.contains_key(&(fibre as u32, collider as u32));
                let root = || {
                    let placed = self.colliders[collider].at(0.0);
                    placed.query(&sites[fibre].points[0]).distance - placed.gap()
                };
                let own = &self.fibres[fibre];
                (depth > own.radius + allowed(fibre)).then(|| {
                    let root = (!rooted).then(root).filter(|away| *away > 0.0);
                    Overlap { fibre, joint, collider, depth, root, fibres: 1 }
                })
            }
            _ => None,
        };
        let pairs = self.find(&sites);
        let all: Vec<Overlap> = pairs.iter().filter_map(deep).collect();
        let fibres: std::collections::BTreeSet<usize> = all.iter().map(|o| o.fibre).collect();
        let deepest = all.into_iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
        deepest.map(|o| Overlap { fibres: fibres.len(), ..o })
    }

    /// Takes one step. Where fast fibres would pass through each other on the way, or where sweeps over the contacts stall, it is taken in
    /// halves.
    pub fn step(&mut self) -> Result<AssemblyReport, RodError> {
        self.step_while(&|| true)
    }

    /// [`step`](Self::step) that asks whether to go on in each sweep over the contacts, of which a dense crowd has hundreds of thousands. Otherwise it
    /// ends with [`RodError::Stopped`], everything where it was.
    pub fn step_while(&mut self, go_on: &dyn Fn() -> bool) -> Result<AssemblyReport, RodError> {
        self.step_in_parts(0, go_on)
    }

    /// Length of the step that led here, or would have \[s\].
    fn last_step(&self) -> f64 {
        if self.taken > 0.0 { self.taken } else { self.settings.step.dt }
    }

    /// All fibres ready for a step, and where their joints are.
    pub(crate) fn prepared(&self) -> Result<(Vec<Prepared>, Vec<Sites>), RodError> {
        let one = |body: &Body| match body.alone().and_then(|f| self.nodal.get_key_value(&f)) {
            Some((f, nodes)) => {
                let motion = &self.fibres[*f].motion;
                let (factor, free) = nodes.prepared(motion, &self.settings.step)?;
                let velocities = factor.velocities(&free, &motion.after(self.settings.step.dt));
                let sites = Sites { points: nodes.points(), velocities };
                Ok(vec![(Prepared { chain: Factorised::Nodes(factor), free }, sites)])
            }
            None => Ok(prepare(body, &self.fibres, &self.settings, self.last_step())),
        };
        Ok(self.bodies.try_map(one)?.into_iter().unzip())
    }

    fn step_in_parts(
        &mut self,
        cuts: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<AssemblyReport, RodError> {
        let h = self.settings.step.dt;
        let mut clock = Laps::start();
        let (prepared, sites) = self.prepared()?;
        let mut timings = StepTimings { fibres: clock.lap(), ..StepTimings::default() };
        let mut pairs = self.find(&sites);
        timings.detection = clock.lap();
        let mut report = AssemblyReport { converged: true, ..AssemblyReport::default() };
        let mut change: Vec<Vec<Vec3>> = Vec::new();
        let chains: Vec<&Factorised> = prepared.iter().map(|p| &p.chain).collect();
        for _ in 0..=MOST_PASSING {
            if !pairs.is_empty() {
                let delassus = Delassus::new(&self.bodies, &chains, &pairs, 0.0)?;
                timings.operator += clock.lap();
                let r = self.contact_forces(&delassus, &sites, &pairs, &mut report, go_on)?;
                timings.friction += clock.lap();
                change = delassus.pushed(&self.bodies, &chains, &sites, &r);
            }
            (report.fast, report.passing) =
                self.stop_passing(&prepared, &sites, &change, &mut pairs);
            timings.detection += clock.lap();
            if report.passing == 0 || is_dear(&report, pairs.len()) {
                break;
            }
        }
        report.timings = timings;
        let dear = is_dear(&report, pairs.len());
        if !report.converged && cuts < MOST_RETRIES && !dear {
            // How contacts share their forces is hardly determined here; half a step on they lie otherwise.
            let mut halves = self.step_in_halves(cuts, go_on)?;
            halves.sweeps += report.sweeps;
            halves.timings = halves.timings.plus(&timings);
            return Ok(halves);
        }
        let start = report.fast.then(|| (self.checkpoint(), sites));
        self.move_by(&prepared, &change)?;
        report.timings.fibres += clock.lap();
        if let Some((before, sites)) = start {
            // Joints did not go straight: look at where they really are.
            report.passing = self.passed(&sites, h);
            report.timings.detection += clock.lap();
            if report.passing > 0 && cuts < MOST_CUTS && !dear {
                self.restore(&before)?;
                return self.step_in_halves(cuts, go_on);
            }
        }
        Ok(report)
    }

    fn step_in_halves(
        &mut self,
        cuts: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<AssemblyReport, RodError> {
        let h = self.settings.step.dt;
        let before = self.checkpoint();
        self.settings.step.dt = 0.5 * h;
        let halves = self
            .step_in_parts(cuts + 1, go_on)
            .and_then(|first| Ok((first, self.step_in_parts(cuts + 1, go_on)?)));
        self.settings.step.dt = h;
        if let Err(RodError::Stopped) = halves {
            self.restore(&before)?;
        }
        let (first, second) = halves?;
        Ok(first.followed_by(second))
    }

    /// Ends a step: rates change by what the contacts did, and everything moves.
    pub(crate) fn move_by(
        &mut self,
        prepared: &[Prepared],
        change: &[Vec<Vec3>],
    ) -> Result<(), RodError> {
        let (step, h) = (self.settings.step, self.settings.step.dt);
        let nodal = &self.nodal;
        let move_one = |f: usize, fibre: &mut Fibre| {
            let clamp = fibre.motion.advanced(fibre.rod.clamp(), h);
            fibre.rod.set_clamp(clamp);
            fibre.motion = fibre.motion.after(h);
            if nodal.contains_key(&f) {
                return;
            }
            let mut rate = prepared[f].free.clone();
            for (x, d) in rate.iter_mut().zip(change.get(f).into_iter().flatten()) {
                *x += d;
            }
            let acceleration: Vec<Vec3> =
                rate.iter().zip(&fibre.state.rate).map(|(new, old)| (new - old) / h).collect();
            advance(&mut fibre.state, &acceleration, &step);
        };
        for_chunks(&mut self.fibres, GRAIN, |chunk, fibres| {
            for (k, fibre) in fibres.iter_mut().enumerate() {
                move_one(chunk * GRAIN + k, fibre);
            }
        });
        for (f, nodes) in &mut self.nodal {
            let mut rate = prepared[*f].free.clone();
            for (x, d) in rate.iter_mut().zip(change.get(*f).into_iter().flatten()) {
                *x += d;
            }
            nodes.advance(&self.fibres[*f], rate, &step);
            nodes.check()?;
            self.fibres[*f].state.q = nodes.curvatures();
        }
        for (f, fibre) in self.fibres.iter().enumerate() {
            fibre.rod.check_blocks(&fibre.state.q)?;
            let longest = fibre.rod.lengths().iter().copied().fold(0.0, f64::max);
            let angle = longest * fibre.state.q.iter().map(|k| k.norm()).fold(0.0, f64::max);
            if angle > MOST_TURN {
                return Err(RodError::Wild { fibre: f, angle, time: self.time + h });
            }
        }
        self.place_grown();
        self.taken = h;
        self.time += h;
        Ok(())
    }

    /// Pairs of fibres that have passed through each other on the way from their sites of a time h ago.
    pub(crate) fn passed(&self, before: &[Sites], h: f64) -> usize {
        let Some(friction) = self.settings.fibre_friction else { return 0 };
        let gone = |f: usize, _: &Fibre| {
            let from = &before[f];
            let now = self.points(f);
            let velocities = now.iter().zip(&from.points).map(|(a, b)| (a - b) / h).collect();
            Sites { points: from.points.clone(), velocities }
        };
        let ways = map_items(&self.fibres, GRAIN, gone);
        let found = passing((&self.fibres, &self.bodies), &ways, friction, h);
        found.iter().filter(|pair| !self.crowd.ignores(pair)).count()
    }

    /// Adds the pairs of fibres that would pass through each other on the way that was found; whether anything is fast enough to
    /// pass, and how many pairs would.
    pub(crate) fn stop_passing(
        &self,
        prepared: &[Prepared],
        sites: &[Sites],
        change: &[Vec<Vec3>],
        pairs: &mut Vec<Pair>,
    ) -> (bool, usize) {
        let h = self.settings.step.dt;
        let Some(friction) = self.settings.fibre_friction else { return (false, 0) };
        let at = |(site, velocities): (&Sites, Vec<Vec3>)| Sites {
            points: site.points.clone(),
            velocities,
        };
        let velocities = self.velocities_after(prepared, change, 1.0);
        let ends: Vec<Sites> = sites.iter().zip(velocities).map(at).collect();
        if !is_fast(&self.fibres, &ends, h) {
            return (false, 0);
        }
        let mut found =
            passing((&self.fibres, &self.bodies), &ends, friction * self.friction_share, h);
        found.retain(|pair| !self.crowd.ignores(pair));
        let count = found.len();
        // What was held at another place is held here as well: both must be kept.
        pairs.append(&mut found);
        pairs.sort_by_key(|p| p.key);
        (true, count)
    }

    /// Velocities of all joints at the end of a step in which contacts change rates, of which drag leaves a part.
    pub(crate) fn velocities_after(
        &self,
        prepared: &[Prepared],
        change: &[Vec<Vec3>],
        drag: f64,
    ) -> Vec<Vec<Vec3>> {
        let rates = map_items(prepared, GRAIN, |f, one| {
            let mut rate = one.free.clone();
            for (x, d) in rate.iter_mut().zip(change.get(f).into_iter().flatten()) {
                *x += d;
            }
            rate.iter_mut().for_each(|x| *x *= drag);
            rate
        });
        self.bodies.map(|body| {
            let motion = self.fibres[body.fibres[0]].motion.after(self.settings.step.dt);
            body.velocities(|f| &prepared[f].chain, |f| &rates[f], &motion)
        })
    }

    /// The joints of all fibres as they are, without velocities.
    pub(crate) fn sites_at_rest(&self) -> Vec<Sites> {
        map_items(&self.fibres, GRAIN, |f, fibre| match self.nodal.get(&f) {
            Some(nodes) => {
                let points = nodes.points();
                let velocities = vec![Vec3::zeros(); points.len()];
                Sites { points, velocities }
            }
            None => Sites::at_rest(fibre),
        })
    }

    /// Pairs that may touch within the next step.
    pub(crate) fn find(&self, sites: &[Sites]) -> Vec<Pair> {
        let known = |key: &FibreContactKey| self.forces.contains_key(key);
        self.find_with(sites, Some(&known))
    }

    /// The same, of several pairs at one place all.
    pub(crate) fn find_all(&self, sites: &[Sites]) -> Vec<Pair> {
        self.find_with(sites, None)
    }

    fn find_with(
        &self,
        sites: &[Sites],
        known: Option<&dyn Fn(&FibreContactKey) -> bool>,
    ) -> Vec<Pair> {
        let h = self.settings.step.dt;
        let own = self.settings.fibre_friction;
        let mut pairs = find(
            (&self.fibres, &self.bodies),
            sites,
            &self.colliders,
            own,
            self.time + h,
            h,
            known,
        );
        if !self.embedded.is_empty() {
            pairs.retain(|pair| match pair.key {
                FibreContactKey::Collider { fibre, point, collider } => {
                    self.embedded.get(&(fibre, collider)).is_none_or(|under| point > *under)
                }
                _ => true,
            });
        }
        pairs.retain(|pair| !self.crowd.ignores(pair));
        for pair in &mut pairs {
            pair.friction *= self.friction_share;
            pair.parting = self.crowd.parting(pair);
        }
        pairs
    }

    /// Speed of the fastest joint \[m/s\].
    pub fn speed(&self) -> f64 {
        (0..self.fibres.len()).map(|f| self.speed_of(f)).fold(0.0, f64::max)
    }

    /// Speed of the fastest joint of a fibre \[m/s\].
    pub(crate) fn speed_of(&self, fibre: usize) -> f64 {
        let f = &self.fibres[fibre];
        let velocities = match self.nodal.get(&fibre) {
            Some(nodes) => nodes.velocities(&f.motion),
            None => Sites::along(&f.rod, &f.state.q, &f.state.rate, &f.motion).velocities,
        };
        velocities.iter().map(|v| v.norm()).fold(0.0, f64::max)
    }

    /// Kinetic and elastic energy of all fibres and the potential of their weight from the origin \[J\].
    pub fn energies(&self) -> Result<[f64; 3], RodError> {
        let mut sum = [0.0; 3];
        for (i, f) in self.fibres.iter().enumerate() {
            let one = match self.nodal.get(&i) {
                Some(nodes) => nodes.energies(),
                None => {
                    let dt = Some(self.last_step());
                    energies_after(&f.rod, &f.state, &self.settings.gravity, &f.motion, dt)?
                }
            };
            sum.iter_mut().zip(one).for_each(|(s, e)| *s += e);
        }
        Ok(sum)
    }

    /// `count` stations at equal arclengths of a fibre, clamp first.
    pub fn stations(&self, fibre: usize, count: usize) -> Vec<Station> {
        match self.nodal.get(&fibre) {
            Some(nodes) => nodes.equal_stations(count),
            None => {
                let Fibre { rod, state, .. } = &self.fibres[fibre];
                rod.equal_stations(&state.q, count)
            }
        }
    }

    /// Contact points of a fibre, clamp first \[m\].
    pub fn points(&self, fibre: usize) -> Vec<Vec3> {
        match self.nodal.get(&fibre) {
            Some(nodes) => nodes.points(),
            None => Sites::at_rest(&self.fibres[fibre]).points,
        }
    }
}

fn prepare(
    body: &Body,
    fibres: &[Fibre],
    settings: &AssemblySettings,
    before: f64,
) -> Vec<(Prepared, Sites)> {
    let h = settings.step.dt;
    let own: Vec<&Fibre> = body.fibres.iter().map(|f| &fibres[*f]).collect();
    let turning = Turning { before, ..Turning::of_step(&settings.step, &own[0].motion) };
    let ready = |f: &&Fibre| Moving::new(&f.rod, &f.state, &settings.gravity, &f.motion, &turning);
    let moving: Vec<Moving> = own.iter().map(ready).collect();
    let parts: Vec<_> = own.iter().zip(&moving).map(|(f, m)| (&f.rod, &f.state, m)).collect();
    let (chains, accelerations) = accelerated(&body.growths, &parts, &settings.step);
    let ahead = |(f, a): (&&Fibre, &Vec<Vec3>)| -> Vec<Vec3> {
        f.state.rate.iter().zip(a).map(|(v, a)| v + a * h).collect()
    };
    let free: Vec<Vec<Vec3>> = own.iter().zip(&accelerations).map(ahead).collect();
    let place = |f: usize| body.fibres.iter().position(|g| *g == f).unwrap_or(0);
    // The clamp's motion at the end of the step.
    let motion = own[0].motion.after(h);
    let velocities = body.velocities(|f| &chains[place(f)], |f| &free[place(f)], &motion);
    let points: Vec<Vec<Vec3>> =
        own.iter().zip(&chains).map(|(f, chain)| Sites::points_along(f, chain)).collect();
    let sites = points.into_iter().zip(velocities);
    let sites = sites.map(|(points, velocities)| Sites { points, velocities });
    let prepared = chains.into_iter().zip(free);
    let prepared = prepared
        .map(|(chain, free)| Prepared { chain: Factorised::Curvatures(Box::new(chain)), free });
    prepared.zip(sites).collect()
}
