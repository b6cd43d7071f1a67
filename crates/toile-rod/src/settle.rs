//! Fibres that come to rest on colliders and on each other.
//!
//! Where friction holds something depends on how it came to lie, so rest is the end of a motion: a fall with drag and nearly all of
//! the friction, then Newton's method with the contacts held where they are,
//!
//! ```text
//! K (q − q̄) + ∂E_load/∂q − Hᵀ r = 0,   contact points fixed,
//! ```
//!
//! whose forces are judged against the whole of the friction. Where that is a balance that would not last, it is given a push along what
//! would fall, and falls on.

use toile_cone::Status;
use toile_num::parallel::try_map;

use crate::RodError;
use crate::account::FibreContact;
use crate::assembly::{Assembly, Fibre};
use crate::body::Body;
use crate::certificate::{CERTIFIED_RESIDUAL, RodCertificate};
use crate::held::Held;
use crate::rest_pose::equilibrium_near;
use crate::rod::Loads;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites};

/// How rest is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettleSettings {
    /// Drag during the fall \[1/s\]: near the lowest frequency of things of a few decimetres.
    pub drag: f64,
    /// Internal damping during the fall \[s\]: some steps' length. Turns of a section about its own tangent have no inertia, so a drawn fibre whose nature
    /// curves the other way would turn over at once, and what a step makes of that flings it about.
    pub damping: f64,
    /// Part of the friction that may be used on the way, so that contacts do not end at the very edge of their cones.
    pub friction: f64,
    /// Speed at which the fall has ended \[m/s\].
    pub speed: f64,
    /// Steps of the fall at most.
    pub max_steps: usize,
}

impl Default for SettleSettings {
    fn default() -> Self {
        Self { drag: 6.0, damping: 0.1, friction: 0.98, speed: 1e-4, max_steps: 10_000 }
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
    /// Times a balance that would not last was left along what would fall.
    pub escapes: usize,
    /// Whether forces balance, lie in their cones, and nothing can fall.
    pub certified: bool,
    /// Why, or why not, in words.
    pub reason: String,
}

impl Settled {
    /// Largest residual of a fibre, over the weight of a joint.
    fn residual(&self) -> f64 {
        self.certificates.iter().map(|c| c.residual).fold(0.0, f64::max)
    }

    /// Whether all forces balance, inside their cones.
    fn balances(&self) -> bool {
        self.residual() <= CERTIFIED_RESIDUAL && self.cone_gap <= CERTIFIED_RESIDUAL
    }
}

/// Newton steps at most: five bring what has fallen to round-off.
const NEWTON: usize = 25;

/// Way, over the length of a fibre, that a first push takes it out of a balance that would not last: plain to see, and far below what it falls.
const PUSH: f64 = 2e-3;

/// The strongest push; each is four times as strong as the last.
const STRONGEST: f64 = 0.5;

/// Pushes at most: of hundreds of fibres some come from one balance that would not last to the next.
const ESCAPES: usize = 16;

/// Speed, over that at which the fall ends, at which a balance is first looked for; where there is none that holds, the fall goes on to a fifth of it.
const FIRST_LOOK: f64 = 100.0;
const NEXT_LOOK: f64 = 0.2;

/// Slowest look, over the speed at which a fall ends: damping hides how far something is from where it would come to lie.
const LAST_LOOK: f64 = 1e-2;

/// Part of the highest speed since a push at which what it set off may have ended.
const PUSHED: f64 = 0.1;

/// Residual of the friction law that is good enough on the way: Newton's method follows.
const ROUGHLY: f64 = 1e-4;

/// Sweeps at most on the way.
const FEW_SWEEPS: usize = 100;

/// Fibres that are brought to rest before somebody is told.
const BATCH: usize = 256;

impl Assembly {
    /// Brings fibres that touch nothing to their equilibria, each alone and without a fall; `watch` is told how many are there. Those that find none,
    /// trees and discrete rods stay where they are. Returns how many left a balance that would not have lasted.
    pub fn rest_alone(&mut self, watch: &dyn Fn(usize) -> bool) -> Result<usize, RodError> {
        let gravity = self.settings.gravity;
        let (mut done, mut left) = (0, 0);
        while done < self.fibres.len() {
            if !watch(done) {
                return Err(RodError::Stopped);
            }
            let alone = |f: usize| {
                let (body, _) = self.bodies.of[f];
                self.bodies.list[body].alone().is_some() && !self.nodal.contains_key(&f)
            };
            let one = |i: usize| {
                let Fibre { rod, state, .. } = &self.fibres[done + i];
                if !alone(done + i) {
                    return Ok((state.q.clone(), 0));
                }
                let loads = Loads::weight(rod.section(), gravity);
                let found = equilibrium_near(rod, &state.q, &loads)?;
                let rests = found.certificate.certified;
                Ok(if rests { (found.q, found.escapes) } else { (state.q.clone(), 0) })
            };
            let rests = try_map(BATCH.min(self.fibres.len() - done), 1, one)?;
            for (fibre, (q, escapes)) in self.fibres[done..].iter_mut().zip(rests) {
                fibre.state.q = q;
                left += usize::from(escapes > 0);
                done += 1;
            }
        }
        Ok(left)
    }

    /// Lets everything fall until it rests, and finds the equilibrium there; one that is not stable is left. Ends early when `watch`,
    /// told of steps and speed and asked in each sweep over the contacts as well, answers `false`.
    pub fn settle(
        &mut self,
        settings: &SettleSettings,
        watch: &dyn Fn(usize, f64) -> bool,
    ) -> Result<Settled, RodError> {
        let stopped = std::cell::Cell::new(false);
        let told = |steps: usize, speed: f64| {
            // Who said no once is not asked again.
            stopped.set(stopped.get() || !watch(steps, speed));
            !stopped.get()
        };
        let first = FIRST_LOOK * settings.speed;
        let (mut slow, mut push, mut pushed) = (first, PUSH, false);
        let (mut steps, mut newton, mut escapes) = (0, 0, 0);
        loop {
            let (count, speed, last) = self.fall(settings, steps, (slow, pushed), &told)?;
            steps += count;
            let fallen = self.checkpoint();
            let before = self.sites_at_rest();
            self.stop();
            let (pairs, mut r) = self.pressing(&before, &last);
            // What is stopped in mid-air has no balance near it, and counting its ways to fall takes long.
            if !stopped.get() {
                newton += self.hold(&before, &pairs, &mut r, &|| told(steps, speed))?;
            }
            let passed =
                if stopped.get() { 0 } else { self.passed(&before, self.settings.step.dt) };
            let (mut settled, forces) =
                self.judge(&pairs, &r, (steps, speed, newton), !stopped.get())?;
            settled.escapes = escapes;
            let there = settled.certified && passed == 0;
            if there || stopped.get() {
                return Ok(settled);
            }
            let last_look = slow <= LAST_LOOK * settings.speed || steps >= settings.max_steps;
            if settled.balances() && passed == 0 && settled.negative_modes > 0 {
                if escapes == ESCAPES || steps >= settings.max_steps {
                    return Ok(settled);
                }
                // Drag alone would end the push after this way.
                self.tip_over(&settled.certificates, &forces, push * settings.drag)?;
                push = (4.0 * push).min(STRONGEST);
                escapes += 1;
                (slow, pushed) = (first, true);
                continue;
            }
            if last_look && passed == 0 {
                return Ok(settled);
            }
            self.restore(&fallen)?;
            if last_look {
                // The balance that was found lies on the other side of something.
                self.stop();
                let (pairs, r) = self.pressing(&before, &last);
                settled = self.judge(&pairs, &r, (steps, speed, newton), true)?.0;
                settled.escapes = escapes;
                return Ok(settled);
            }
            (slow, pushed) = (NEXT_LOOK * slow, false);
        }
    }

    /// Falls until it is as slow as this, or slow beside what a push set off, after so many steps of others: how many steps that took, the speed at the end, and the contacts of the last step.
    fn fall(
        &mut self,
        settings: &SettleSettings,
        before: usize,
        (slow, pushed): (f64, bool),
        watch: &dyn Fn(usize, f64) -> bool,
    ) -> Result<(usize, f64, Vec<FibreContact>), RodError> {
        let kept = (self.settings.clone(), self.friction_share);
        let own = &mut self.settings;
        own.step.drag = settings.drag;
        // The slower, the less is left to turn over at once, and the more it matters.
        let part = slow / (FIRST_LOOK * settings.speed);
        own.step.damping = own.step.damping.max(settings.damping * part.sqrt());
        own.tolerance = own.tolerance.max(ROUGHLY * part);
        own.max_sweeps = own.max_sweeps.min(FEW_SWEEPS);
        self.friction_share = settings.friction;
        let (mut steps, mut speed, mut last, mut quiet) = (0, f64::INFINITY, Vec::new(), 0);
        let mut fastest = 0.0f64;
        let mut fall = || {
            while before + steps < settings.max_steps {
                match self.step_while(&|| watch(before + steps, speed)) {
                    Err(RodError::Stopped) => return Ok(()),
                    report => last = report?.contacts,
                }
                steps += 1;
                speed = self.speed();
                // A fall starts slowly, and turns slowly where it swings.
                fastest = fastest.max(speed);
                let most =
                    if pushed { (PUSHED * fastest).clamp(settings.speed, slow) } else { slow };
                quiet = if speed < most { quiet + 1 } else { 0 };
                if quiet >= 20 || !watch(before + steps, speed) {
                    return Ok(());
                }
            }
            Ok(())
        };
        let fell = fall();
        (self.settings, self.friction_share) = kept;
        fell.map(|()| (steps, speed, last))
    }

    /// Pairs that pressed in the last step, with their forces in their frames.
    fn pressing(&self, sites: &[Sites], last: &[FibreContact]) -> (Vec<Pair>, Vec<f64>) {
        let largest = last.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
        let pressing = |p: &Pair| {
            last.binary_search_by_key(&p.key, |c| c.key)
                .ok()
                .filter(|i| last[*i].force.norm() > 1e-9 * largest)
        };
        let mut pairs = self.find(sites);
        pairs.retain(|p| pressing(p).is_some());
        let mut r = vec![0.0; 3 * pairs.len()];
        for (c, pair) in pairs.iter().enumerate() {
            if let Some(i) = pressing(pair) {
                let local = pair.frame().tr_mul(&last[i].force);
                r[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
            }
        }
        (pairs, r)
    }

    /// Newton's method with the contacts held, as long as it may go on; returns the steps taken.
    fn hold(
        &mut self,
        start: &[Sites],
        pairs: &[Pair],
        r: &mut [f64],
        go_on: &dyn Fn() -> bool,
    ) -> Result<usize, RodError> {
        let mut best = f64::INFINITY;
        for step in 0..NEWTON {
            if !go_on() {
                return Ok(step);
            }
            let held = Held::new(self, start, pairs, r, 0.0)?;
            let residual = held.residual;
            if residual <= 1e-3 * CERTIFIED_RESIDUAL || residual >= best && step > 3 {
                return Ok(step);
            }
            best = best.min(residual);
            let Some((dq, dr)) = held.step(self, start, pairs) else { return Ok(step) };
            self.change_by(dq)?;
            for (r, d) in r.iter_mut().zip(dr) {
                *r += d;
            }
        }
        Ok(NEWTON)
    }

    /// What stands at the end of a fall; `count` asks which ways to fall contacts leave open, else all of them are taken to be.
    fn judge(
        &self,
        pairs: &[Pair],
        r: &[f64],
        (steps, speed, newton): (usize, f64, usize),
        count: bool,
    ) -> Result<(Settled, Vec<Vec<Vec3>>), RodError> {
        let sites = self.sites_at_rest();
        let held = Held::new(self, &sites, pairs, r, 0.0)?;
        let certify = |body: &Body| match body.alone().and_then(|f| self.nodal.get_key_value(&f)) {
            Some((f, nodes)) => Ok(vec![nodes.certify(&held.forces[*f])?]),
            None => body.certify(&self.fibres, &self.settings.gravity, &held.forces),
        };
        let certificates: Vec<RodCertificate> = self.bodies.try_map(certify)?;
        let alone: usize = certificates.iter().map(|c| c.negative_modes).sum();
        let negative_modes = if alone > 0 && count { held.negative_modes(alone) } else { alone };
        let mut out = Settled {
            contacts: Vec::new(),
            negative_modes,
            cone_gap: 0.0,
            cone_margin: 1.0,
            penetration: self.find(&sites).iter().map(|p| -p.gap).fold(0.0, f64::max),
            steps,
            speed,
            newton,
            escapes: 0,
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
        let residual = out.residual();
        let thinnest = self.fibres.iter().map(|f| f.radius).fold(f64::INFINITY, f64::min);
        let balanced = residual <= CERTIFIED_RESIDUAL;
        let inside = out.cone_gap <= CERTIFIED_RESIDUAL;
        let apart = out.penetration <= 0.1 * thinnest;
        out.certified = balanced && inside && apart && out.negative_modes == 0;
        let contacts = out.contacts.len();
        out.reason = if !balanced {
            format!(
                "forces do not balance: {residual:.1e} of a joint's weight is left; it still moved at {speed:.1e} m/s after \
                 {steps} steps of the fall: allow more steps, or more time"
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
        Ok((out, held.forces))
    }

    /// Gives fibres that would fall alone a push along the way they would fall, the fastest joint at so many of their lengths a second.
    fn tip_over(
        &mut self,
        certificates: &[RodCertificate],
        forces: &[Vec<Vec3>],
        push: f64,
    ) -> Result<(), RodError> {
        let falls = |body: &Body| body.fibres.iter().any(|f| certificates[*f].negative_modes > 0);
        let mut ways: Vec<Vec<Vec3>> = self.bodies.try_map(|body| {
            if !falls(body) {
                return Ok(vec![Vec::new(); body.fibres.len()]);
            }
            match body.alone().and_then(|f| self.nodal.get_key_value(&f)) {
                Some((f, nodes)) => Ok(vec![nodes.falling(&forces[*f])?]),
                None => body.falling(&self.fibres, &self.settings.gravity, forces),
            }
        })?;
        self.set_rates(&ways);
        let factor = |body: &Body| {
            let fastest = body.fibres.iter().map(|f| self.speed_of(*f)).fold(0.0, f64::max);
            let longest =
                body.fibres.iter().map(|f| self.fibres[*f].rod.length()).fold(0.0, f64::max);
            if fastest > 0.0 { push * longest / fastest } else { 0.0 }
        };
        let factors: Vec<f64> = self.bodies.list.iter().map(factor).collect();
        for (way, (body, _)) in ways.iter_mut().zip(&self.bodies.of) {
            way.iter_mut().for_each(|rate| *rate *= factors[*body]);
        }
        self.set_rates(&ways);
        Ok(())
    }

    /// Gives fibres rates of their unknowns, where there are any for them.
    fn set_rates(&mut self, rates: &[Vec<Vec3>]) {
        for (f, rate) in rates.iter().enumerate().filter(|(_, rate)| !rate.is_empty()) {
            match self.nodal.get_mut(&f) {
                Some(nodes) => nodes.set_rate(rate),
                None => self.fibres[f].state.rate.clone_from(rate),
            }
        }
        self.place_grown();
    }
}
