//! Fibres that come to rest on colliders and on each other.
//!
//! Where friction holds something depends on how it came to lie, so rest is the end of a motion: a fall with drag and nearly all of
//! the friction, then Newton's method with the contacts held where they are,
//!
//! ```text
//! K (q − q̄) + ∂E_load/∂q − Hᵀ r = 0,   contact points fixed,
//! ```
//!
//! whose forces are judged against the whole of the friction.

use nalgebra::{DMatrix, DVector};
use toile_cone::{Operator, Status};

use crate::RodError;
use crate::assembly::{Assembly, Fibre, FibreContact};
use crate::body::Body;
use crate::certificate::{CERTIFIED_RESIDUAL, RodCertificate};
use crate::chain::Chain;
use crate::delassus::Delassus;
use crate::forms::Mix;
use crate::lanczos::negative_eigenvalues;
use crate::motion::ClampMotion;
use crate::rod::Loads;
use crate::rotation::Vec3;
use crate::touch::{Pair, Side, Sites};

/// How rest is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleSettings {
    /// Drag during the fall \[1/s\]: near the lowest frequency of things of a few decimetres.
    pub drag: f64,
    /// Part of the friction that may be used on the way, so that contacts do not end at the very edge of their cones.
    pub friction: f64,
    /// Speed at which the fall has ended \[m/s\].
    pub speed: f64,
    /// Steps of the fall at most.
    pub max_steps: usize,
}

impl Default for SettleSettings {
    fn default() -> Self {
        Self { drag: 6.0, friction: 0.98, speed: 1e-4, max_steps: 10_000 }
    }
}

/// Where fibres came to rest, and how well.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Contacts that carry forces \[N\].
    pub contacts: Vec<FibreContact>,
    /// Each fibre with the contact forces on it; stability with contacts as dead forces.
    pub certificates: Vec<RodCertificate>,
    /// Ways to fall that contacts which stick do not stop.
    pub negative_modes: usize,
    /// Largest distance of a force from its cone, over the largest force.
    pub cone_gap: f64,
    /// Least 1 − ‖r_T‖/(μ r_N) over loaded contacts; 1 without any.
    pub cone_margin: f64,
    /// Deepest overlap \[m\].
    pub penetration: f64,
    /// Steps of the fall.
    pub steps: usize,
    /// Speed at its end \[m/s\].
    pub speed: f64,
    /// Newton steps.
    pub newton: usize,
    /// Whether forces balance, lie in their cones, and nothing can fall.
    pub certified: bool,
    /// Why, or why not, in words.
    pub reason: String,
}

/// Components of contacts up to which dense algebra is used.
const DENSE: usize = 900;

/// Newton steps at most: five bring what has fallen to round-off.
const NEWTON: usize = 25;

impl Assembly {
    /// Lets everything fall until it rests, and finds the equilibrium there. Ends early when `watch`, told of steps and speed,
    /// answers `false`.
    pub fn settle(
        &mut self,
        settings: &SettleSettings,
        watch: &dyn Fn(usize, f64) -> bool,
    ) -> Result<Settled, RodError> {
        self.has_curvatures("rest in contact")?;
        let before = (self.settings.step.drag, self.friction_share);
        (self.settings.step.drag, self.friction_share) = (settings.drag, settings.friction);
        let (mut steps, mut speed) = (0, f64::INFINITY);
        let mut last = Vec::new();
        let mut slow = 0;
        while steps < settings.max_steps {
            last = self.step()?.contacts;
            steps += 1;
            speed = self.speed();
            // A fall starts slowly, and turns slowly where it swings.
            slow = if speed < settings.speed { slow + 1 } else { 0 };
            if slow >= 20 || !watch(steps, speed) {
                break;
            }
        }
        (self.settings.step.drag, self.friction_share) = before;
        self.stop();
        let largest = last.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
        let sites = self.sites_at_rest();
        let mut pairs = self.find(&sites);
        let pressing = |p: &Pair| {
            last.binary_search_by_key(&p.key, |c| c.key)
                .ok()
                .filter(|i| last[*i].force.norm() > 1e-9 * largest)
        };
        pairs.retain(|p| pressing(p).is_some());
        let mut r = vec![0.0; 3 * pairs.len()];
        for (c, pair) in pairs.iter().enumerate() {
            if let Some(i) = pressing(pair) {
                let local = pair.frame().tr_mul(&last[i].force);
                r[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
            }
        }
        let newton = self.hold(&sites, &pairs, &mut r)?;
        self.judge(&pairs, &r, steps, speed, newton)
    }

    /// Newton's method with the contacts held; returns the steps taken.
    fn hold(&mut self, start: &[Sites], pairs: &[Pair], r: &mut [f64]) -> Result<usize, RodError> {
        let mut best = f64::INFINITY;
        for step in 0..NEWTON {
            let held = Held::new(self, start, pairs, r)?;
            let residual = held.residual;
            if residual <= 1e-3 * CERTIFIED_RESIDUAL || residual >= best && step > 3 {
                return Ok(step);
            }
            best = best.min(residual);
            let Some((dq, dr)) = held.step(self, start, pairs)? else { return Ok(step) };
            for (fibre, d) in self.fibres.iter_mut().zip(dq) {
                for (q, d) in fibre.state.q.iter_mut().zip(d) {
                    *q += d;
                }
                fibre.rod.check_blocks(&fibre.state.q)?;
            }
            self.place_grown();
            for (r, d) in r.iter_mut().zip(dr) {
                *r += d;
            }
        }
        Ok(NEWTON)
    }

    fn judge(
        &self,
        pairs: &[Pair],
        r: &[f64],
        steps: usize,
        speed: f64,
        newton: usize,
    ) -> Result<Settled, RodError> {
        let sites = self.sites_at_rest();
        let held = Held::new(self, &sites, pairs, r)?;
        let certify =
            |body: &Body| body.certify(&self.fibres, &self.settings.gravity, &held.forces);
        let certificates: Vec<RodCertificate> = self.bodies.try_map(certify)?;
        let alone: usize = certificates.iter().map(|c| c.negative_modes).sum();
        let negative_modes = if alone == 0 { 0 } else { held.negative_modes(alone) };
        let mut out = Settled {
            contacts: Vec::new(),
            negative_modes,
            cone_gap: 0.0,
            cone_margin: 1.0,
            penetration: self.find(&sites).iter().map(|p| -p.gap).fold(0.0, f64::max),
            steps,
            speed,
            newton,
            certified: false,
            reason: String::new(),
            certificates,
        };
        let largest = r.chunks(3).map(|r| Vec3::from_column_slice(r).norm()).fold(0.0, f64::max);
        for (c, pair) in pairs.iter().enumerate() {
            let force = Vec3::from_column_slice(&r[3 * c..3 * c + 3]);
            let (n, t) = (force[0], force[1].hypot(force[2]));
            let outside = (t - pair.friction * n).max(-n).max(0.0);
            out.cone_gap = out.cone_gap.max(outside / largest);
            if n > 1e-9 * largest && pair.friction > 0.0 {
                out.cone_margin = out.cone_margin.min(1.0 - t / (pair.friction * n));
            }
            out.contacts.push(pair.contact(pair.frame() * force, Status::Stick));
        }
        let residual = out.certificates.iter().map(|c| c.residual).fold(0.0, f64::max);
        let thinnest = self.fibres.iter().map(|f| f.radius).fold(f64::INFINITY, f64::min);
        let balanced = residual <= CERTIFIED_RESIDUAL;
        let inside = out.cone_gap <= CERTIFIED_RESIDUAL;
        let apart = out.penetration <= 0.1 * thinnest;
        out.certified = balanced && inside && apart && out.negative_modes == 0;
        let contacts = out.contacts.len();
        out.reason = if !balanced {
            format!(
                "forces do not balance: {residual:.1e} of a joint's weight is left; it still moved at {speed:.1e} m/s after \
                 {steps} steps of the fall: allow more steps"
            )
        } else if !inside {
            format!(
                "a contact force leaves its cone by {:.1e} of the largest: it slides",
                out.cone_gap
            )
        } else if !apart {
            format!(
                "fibres overlap by {:.1e} m: use shorter steps or more elements",
                out.penetration
            )
        } else {
            let what = format!(
                "forces balance to {residual:.1e} of a joint's weight, {contacts} contact(s) stick with {:.1} % of their friction to spare",
                100.0 * out.cone_margin
            );
            match out.negative_modes {
                0 => format!("{what}; every small motion is resisted"),
                n => format!("{what}; but it is unstable: {n} way(s) to fall"),
            }
        };
        Ok(out)
    }
}

/// An assembly linearised with its contacts held.
pub(crate) struct Held {
    /// Forces on the joints of each fibre.
    forces: Vec<Vec<Vec3>>,
    gradients: Vec<Vec<Vec3>>,
    chains: Vec<Chain>,
    delassus: Delassus,
    frictionless: Vec<bool>,
    /// The fibres of each contact.
    pairs_of: Vec<[Option<u32>; 2]>,
    /// Largest residual over the weight of a joint.
    residual: f64,
}

/// Trace of the identity in W: shares forces between contacts that hold the same thing.
const SHARED: f64 = 1e-10;

impl Held {
    pub(crate) fn new(
        scene: &Assembly,
        sites: &[Sites],
        pairs: &[Pair],
        r: &[f64],
    ) -> Result<Self, RodError> {
        let forces: Vec<Vec<Vec3>> = joint_forces(scene, sites, pairs, r);
        let exact = Mix { mass: 0.0, elastic: 1.0, geometric: 1.0 };
        let gravity = scene.settings.gravity;
        let linear = |body: &Body| body.held(&scene.fibres, &gravity, &forces, exact);
        let parts = scene.bodies.try_map(linear)?;
        let (gradients, chains): (Vec<Vec<Vec3>>, Vec<Chain>) = parts.into_iter().unzip();
        let relative = |(f, gradient): (&Fibre, &Vec<Vec3>)| {
            let weight = Loads::weight(f.rod.section(), gravity).per_length.norm();
            let unit = weight * f.rod.length() / f.rod.blocks() as f64;
            let left = crate::certificate::residual_n(&f.rod, gradient);
            if unit > 0.0 { left / unit } else { left }
        };
        let residual = scene.fibres.iter().zip(&gradients).map(relative).fold(0.0, f64::max);
        let delassus =
            Delassus::new(&scene.bodies, &chains.iter().collect::<Vec<_>>(), pairs, 0.0)?;
        let frictionless = pairs.iter().map(|p| p.friction == 0.0).collect();
        let fibre = |side: &Side| side.fibre as u32;
        let pairs_of =
            pairs.iter().map(|p| [Some(fibre(&p.first)), p.second.as_ref().map(fibre)]).collect();
        Ok(Self { forces, gradients, chains, delassus, frictionless, pairs_of, residual })
    }

    /// Changes of unknowns and forces; `None` where they cannot be found.
    #[expect(clippy::type_complexity)]
    fn step(
        &self,
        scene: &Assembly,
        start: &[Sites],
        pairs: &[Pair],
    ) -> Result<Option<(Vec<Vec<Vec3>>, Vec<f64>)>, RodError> {
        let still = ClampMotion::default();
        // Without contacts moving along: A⁻¹ g, and how far contact points are from where they were.
        let chains: Vec<&Chain> = self.chains.iter().collect();
        let free: Vec<Vec<Vec3>> = scene.bodies.map(|body| body.solve(&chains, &self.gradients));
        let velocities =
            scene.bodies.map(|body| body.velocities(|f| chains[f], |f| &free[f], &still));
        let sites = |(f, velocities): (usize, Vec<Vec3>)| {
            let points = Sites::points_along(&scene.fibres[f], &self.chains[f]);
            Sites { points, velocities }
        };
        let now: Vec<Sites> = velocities.into_iter().enumerate().map(sites).collect();
        let mut right = vec![0.0; 3 * pairs.len()];
        for (c, pair) in pairs.iter().enumerate() {
            let mut way = Vec3::zeros();
            for side in pair.sides() {
                let (a, b) = (&now[side.fibre], &start[side.fibre]);
                let gone: Vec3 = side.joints().map(|(j, w)| (a.points[j] - b.points[j]) * w).sum();
                way += (a.velocity(side) - gone) * side.sign;
            }
            let mut local = self.delassus.frame(c).tr_mul(&way);
            if self.frictionless[c] {
                (local[1], local[2]) = (0.0, 0.0);
            }
            right[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
        }
        let Some(dr) = self.solve(&right) else { return Ok(None) };
        let by_contact = self.delassus.pushed(&scene.bodies, &chains, start, &dr);
        let less = |(pushed, free): (Vec<Vec3>, &Vec<Vec3>)| -> Vec<Vec3> {
            pushed.iter().zip(free).map(|(c, v)| c - v).collect()
        };
        let dq: Vec<Vec<Vec3>> = by_contact.into_iter().zip(&free).map(less).collect();
        let finite = dq.iter().flatten().all(|d| d.iter().all(|x| x.is_finite()));
        Ok(finite.then_some((dq, dr)))
    }

    /// W x = y with W dense or by conjugate gradients.
    fn solve(&self, y: &[f64]) -> Option<Vec<f64>> {
        let n = y.len();
        if n == 0 {
            return Some(Vec::new());
        }
        if let Some(mut w) = self.dense() {
            let lift = SHARED * w.diagonal().amax();
            for i in 0..n {
                w[(i, i)] += lift;
            }
            let x = w.lu().solve(&DVector::from_column_slice(y))?;
            return x.iter().all(|v| v.is_finite()).then(|| x.as_slice().to_vec());
        }
        conjugate_gradients(&self.delassus, &self.frictionless, y)
    }

    /// W with frictionless contacts free in their tangents.
    fn dense(&self) -> Option<DMatrix<f64>> {
        let n = 3 * self.frictionless.len();
        if n > DENSE {
            return None;
        }
        let mut w = DMatrix::zeros(n, n);
        let mut unit = vec![0.0; n];
        for j in 0..n {
            unit[j] = 1.0;
            self.delassus.w.apply(&unit, w.column_mut(j).as_mut_slice());
            unit[j] = 0.0;
        }
        for (c, free) in self.frictionless.iter().enumerate() {
            if *free {
                for i in [3 * c + 1, 3 * c + 2] {
                    w.row_mut(i).fill(0.0);
                    w.column_mut(i).fill(0.0);
                    w[(i, i)] = 1.0;
                }
            }
        }
        Some(w)
    }

    /// Falling directions that held contacts leave: those of the fibres alone less the negative eigenvalues of W.
    ///
    /// The inertia of ((A, Hᵀ), (H, 0)) is that of A and of −H A⁻¹ Hᵀ together, and nothing falls with H δq = 0 when it has as
    /// many negative eigenvalues as there are constraints.
    ///
    /// Where W is large, as many negative eigenvalues are counted as Lanczos' process has seen: never too many.
    pub(crate) fn negative_modes(&self, alone: usize) -> usize {
        if self.frictionless.is_empty() {
            return alone;
        }
        let stopped = match self.dense() {
            Some(w) => {
                let values = w.symmetric_eigenvalues();
                let floor = 1e-12 * values.amax();
                values.iter().filter(|v| **v < -floor).count()
            }
            None => self.seen_negative(alone),
        };
        alone.saturating_sub(stopped)
    }

    fn seen_negative(&self, most: usize) -> usize {
        let n = 3 * self.frictionless.len();
        let taken = |x: &mut [f64]| {
            for (c, free) in self.frictionless.iter().enumerate() {
                if *free {
                    x[3 * c + 1..3 * c + 3].fill(0.0);
                }
            }
        };
        // Contacts of the fibres that would fall alone, no two alike.
        let falls = |c: usize| {
            self.pairs_of[c].iter().flatten().any(|f| self.chains[*f as usize].negative > 0)
        };
        let begin = |i: usize| if falls(i / 3) { 1.0 + (1.3 * i as f64).sin() } else { 0.0 };
        let mut start: Vec<f64> = (0..n).map(begin).collect();
        taken(&mut start);
        let apply = |x: &[f64], y: &mut [f64]| {
            self.delassus.w.apply(x, y);
            taken(y);
        };
        negative_eigenvalues(&apply, start, most)
    }
}

fn joint_forces(scene: &Assembly, sites: &[Sites], pairs: &[Pair], r: &[f64]) -> Vec<Vec<Vec3>> {
    let mut forces: Vec<Vec<Vec3>> =
        (0..scene.fibres.len()).map(|f| vec![Vec3::zeros(); sites[f].points.len()]).collect();
    for (c, pair) in pairs.iter().enumerate() {
        let force = pair.frame() * Vec3::from_column_slice(&r[3 * c..3 * c + 3]);
        for side in pair.sides() {
            for (joint, share) in side.joints() {
                forces[side.fibre][joint] += force * (share * side.sign);
            }
        }
    }
    forces
}

fn conjugate_gradients(delassus: &Delassus, frictionless: &[bool], y: &[f64]) -> Option<Vec<f64>> {
    let n = y.len();
    let scale: Vec<f64> = (0..n)
        .map(|i| {
            if i % 3 > 0 && frictionless[i / 3] {
                return 0.0;
            }
            let d = delassus.w.diagonal(i / 3)[(i % 3, i % 3)];
            if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut x = vec![0.0; n];
    let mut left: Vec<f64> = y.iter().zip(&scale).map(|(y, s)| y * s).collect();
    let mut way = left.clone();
    let (mut scaled, mut product) = (vec![0.0; n], vec![0.0; n]);
    let begun = dot(&left, &left);
    let mut size = begun;
    for _ in 0..3000 {
        if size <= 1e-26 * begun || begun == 0.0 {
            break;
        }
        for i in 0..n {
            scaled[i] = way[i] * scale[i];
        }
        delassus.w.apply(&scaled, &mut product);
        for i in 0..n {
            product[i] = product[i] * scale[i] + SHARED * way[i];
        }
        let step = size / dot(&way, &product);
        if !step.is_finite() {
            return None;
        }
        for i in 0..n {
            x[i] += step * way[i];
            left[i] -= step * product[i];
        }
        let next = dot(&left, &left);
        for i in 0..n {
            way[i] = left[i] + way[i] * (next / size);
        }
        size = next;
    }
    Some(x.iter().zip(&scale).map(|(x, s)| x * s).collect())
}
