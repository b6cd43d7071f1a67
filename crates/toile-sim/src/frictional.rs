//! Static equilibrium with contact and dry friction.
//!
//! What friction holds depends on how it came to lie, so the search is a motion: the cloth falls with
//! exact friction and some damping until it is slow ([`Simulator`]), then rests in ever longer steps from standstill, each of which
//! slides only as far as it must. When nothing slides any more, its contacts are held where they are and Newton's method
//! finds the shape between them to the last digit; those inside edges and faces roll meanwhile, and are looked for anew at its end. Meanwhile friction is taken a little too low, so that the forces of the
//! result lie inside their cones, not on the border.

use toile_cone::project_cone;
use toile_contact::{Contact, Roll};
use toile_num::Vector;
use toile_solve::{NewtonSettings, Step, Stop};

use crate::certificate::{CERTIFIED_RESIDUAL, Certificate};
use crate::dynamics::{ContactSource, Reach, Simulator, StageSettings};
use crate::{Equilibrium, Model, ModelBuilder, SimError, State};

mod hold;

/// How a frictional equilibrium is looked for.
#[derive(Clone, Copy, Debug)]
pub struct FrictionalSettings {
    /// Of the last search, with the contacts held.
    pub newton: NewtonSettings,
    /// Part of the friction that is used. Default 0.98.
    pub caution: f64,
    /// Damping of the fall, force per mass and velocity \[1/s\]. Default 2: a swing dies in a few seconds.
    pub damping: f64,
    /// Longest fall \[s\]. Default 4.
    pub longest_fall: f64,
    /// Simulated time in which the result must not move \[s\]. Default 0: none where it touches at vertices only, and a fifth of a second else.
    pub drift_time: f64,
}

impl Default for FrictionalSettings {
    fn default() -> Self {
        Self {
            newton: NewtonSettings::default(),
            caution: 0.98,
            damping: 2.0,
            longest_fall: 4.0,
            drift_time: 0.0,
        }
    }
}

/// A frictional equilibrium, or the best that was found.
pub struct FrictionalEquilibrium {
    /// The model with its contacts held; its nodes are those of the model that was asked for.
    pub model: Model,
    /// State, history and certificate.
    pub equilibrium: Equilibrium,
    /// Where the cloth is held, and by which force.
    pub contacts: Vec<StaticContact>,
    /// Steps of the fall and of coming to rest.
    pub steps: usize,
}

/// A contact at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticContact {
    /// The contact.
    pub contact: Contact,
    /// Force on its first side \[N\].
    pub force: Vector<3>,
    /// Whether it had to slide to get there, and friction is all it can give but for the caution.
    pub slid: bool,
}

impl StaticContact {
    /// Normal and tangential force \[N\].
    pub fn parts(&self) -> [f64; 2] {
        let normal = self.force.dot(&self.contact.normal);
        [normal, (self.force - self.contact.normal * normal).norm()]
    }

    /// Distance of the force from its cone \[N\].
    pub fn cone_distance(&self) -> f64 {
        let force = Vector::<2>::from(self.parts());
        (force - project_cone(self.contact.friction, &force)).norm()
    }
}

/// Step of the fall \[s\].
const STEP: f64 = 0.01;
/// Steps of coming to rest at most, before each search with contacts held.
const RESTS: usize = 25;
/// The same where contacts inside edges and faces move along them as the cloth settles.
const SETTLINGS: usize = 400;
/// First step there \[s\].
const GENTLE: f64 = 5e-3;
/// The shortest \[s\].
const SHORTEST: f64 = 2.5e-3;
/// Longest move in such a step, in units of the size.
const FARTHEST: f64 = 1e-2;
/// What moves with less of the acceleration of its load in three steps has settled.
const SETTLED: f64 = 1e-6;
/// So has what moves by less of its size.
const UNMOVED: f64 = 1e-9;
/// Longest step of coming to rest \[s\].
const LONGEST: f64 = 1.0;
/// Move in such a step at which it is worth a search, in units of the size.
const STILL: f64 = 1e-5;
/// Searches with contacts held at most.
const SEARCHES: usize = 6;
/// Times that what moved in its simulated time is let come to rest where it went.
const ATTEMPTS: usize = 3;
/// Simulated time in which a result must not move that touches inside edges and faces, or itself, where none is asked for \[s\].
const LEAST_DRIFT_TIME: f64 = 0.2;
/// Drift up to which a result is certified, relative to its size.
pub const CERTIFIED_DRIFT: f64 = 1e-4;

/// Contacts with less friction than there is.
struct Cautious<'a, S> {
    inner: &'a mut S,
    factor: f64,
}

impl<S: ContactSource> ContactSource for Cautious<'_, S> {
    fn contacts(
        &mut self,
        positions: &[Vector<3>],
        time: f64,
        reach: &Reach<'_>,
        out: &mut Vec<Contact>,
    ) -> Result<(), SimError> {
        let before = out.len();
        self.inner.contacts(positions, time, reach, out)?;
        for contact in &mut out[before..] {
            contact.friction *= self.factor;
            contact.velocity = Vector::zeros(); // at rest means beside colliders that stand still
        }
        Ok(())
    }

    fn meetings(
        &mut self,
        start: &[Vector<3>],
        end: &[Vector<3>],
        _: f64,
        to: f64,
    ) -> Result<Vec<Contact>, SimError> {
        let mut found = self.inner.meetings(start, end, to, to)?;
        for contact in &mut found {
            contact.friction *= self.factor;
            contact.velocity = Vector::zeros();
        }
        Ok(found)
    }

    fn safe_part(
        &mut self,
        start: &[Vector<3>],
        end: &[Vector<3>],
        _: f64,
        _: f64,
    ) -> Result<f64, SimError> {
        self.inner.safe_part(start, end, 0.0, 0.0)
    }

    fn rolls(&self, contact: &Contact, positions: &[Vector<3>], time: f64) -> [Option<Roll>; 2] {
        self.inner.rolls(contact, positions, time)
    }

    fn layer_slack(&self) -> f64 {
        self.inner.layer_slack()
    }

    fn arrived(&mut self, positions: &[Vector<3>]) {
        self.inner.arrived(positions);
    }
}

/// Finds a stable equilibrium with friction, starting from where the model starts.
///
/// `build` makes the model anew each time: contacts that hold become part of it. Colliders stand where they are at time
/// zero. `depth` tells how deep the deepest point of a shape is inside something \[m\]. `observe` sees every step and ends
/// the search by returning `false`.
pub fn frictional_equilibrium<S: ContactSource>(
    build: impl Fn() -> Result<ModelBuilder, SimError>,
    source: &mut S,
    depth: impl Fn(&[Vector<3>]) -> Result<f64, SimError>,
    settings: &FrictionalSettings,
    mut observe: impl FnMut(&Step) -> bool,
) -> Result<FrictionalEquilibrium, SimError> {
    let clock = std::time::Instant::now();
    let mut steps = 0;
    let mut start: Option<State> = None;
    let mut attempt = 0;
    let mut moved: Option<FrictionalEquilibrium> = None;
    loop {
        attempt += 1;
        let model = build()?.build()?;
        let cautious = Cautious { inner: &mut *source, factor: settings.caution };
        let simulator = Simulator::new(model, cautious)?;
        let mut fall = Fall { simulator, steps, first: 2.0 * STEP, clock };
        fall.simulator.set_mass_damping(settings.damping);
        let going = match &start {
            Some(state) => {
                fall.simulator.set_state(state);
                true
            }
            None => fall.down(settings, &mut observe)?,
        };
        let (mut found, going) = fall.search(&build, &depth, settings, going, &mut observe)?;
        steps = fall.steps;
        found.steps = steps;
        let between = found.contacts.iter().any(|c| c.contact.count > 1);
        let time = match settings.drift_time {
            time if time > 0.0 => time,
            _ if between => LEAST_DRIFT_TIME,
            _ => 0.0,
        };
        if !found.equilibrium.certificate.certified || time == 0.0 {
            // What only moved a little says more than what came of going on from there.
            return Ok(match moved {
                Some(before) if !found.equilibrium.certificate.certified => {
                    FrictionalEquilibrium { steps, ..before }
                }
                _ => found,
            });
        }
        let mut tell = |moved: f64| {
            steps += 1;
            observe(&step_of(steps - 1, 0.0, moved, clock.elapsed()))
        };
        let watched = drift(&build, source, &found, time, &mut tell)?;
        found.steps = steps;
        let Some((drift, end)) = watched else {
            let certificate = &mut found.equilibrium.certificate;
            certificate.certified = false;
            certificate.reason =
                format!("stopped before it was seen whether it stays; {}", certificate.reason);
            found.equilibrium.stop = Stop::Interrupted;
            return Ok(found);
        };
        let certificate = &mut found.equilibrium.certificate;
        certificate.drift = Some(drift);
        certificate.certified = drift <= CERTIFIED_DRIFT;
        let by = format!("simulated for {time} s it moves by {drift:.1e} of its size");
        certificate.reason = match certificate.certified {
            true => format!("{}; {by}", certificate.reason),
            false => format!(
                "it does not stay: {by}, and {CERTIFIED_DRIFT:.0e} is allowed; finer cloth, or more friction, may help; before that {}",
                certificate.reason
            ),
        };
        let certified = certificate.certified;
        let least = moved.as_ref().and_then(|m| m.equilibrium.certificate.drift);
        if certified || least.is_none_or(|least| drift <= least) {
            moved = Some(found);
        }
        if let Some(found) = moved.take_if(|_| certified || !going || attempt == ATTEMPTS) {
            return Ok(FrictionalEquilibrium { steps, ..found });
        }
        // It had not come to rest: where it went is a better place to look for one.
        start = Some(end);
    }
}

/// A step of a motion, as searches tell theirs.
fn step_of(step: usize, energy: f64, moved: f64, elapsed: std::time::Duration) -> Step {
    Step {
        step,
        energy,
        residual: moved,
        shift: 0.0,
        exact: false,
        length: moved,
        scale: 1.0,
        elapsed,
    }
}

/// The state of one model in the numbering of another with the same nodes.
fn transfer(from: &Model, state: &State, to: &Model) -> State {
    let (mut high, mut low) = (vec![0.0; to.len()], vec![0.0; to.len()]);
    for node in 0..from.first_unknowns().len() as u32 {
        let (i, j) = (from.unknown(node), to.unknown(node));
        let size = from.graph().sizes[node as usize] as usize;
        high[j..j + size].copy_from_slice(&state.coordinates()[i..i + size]);
        low[j..j + size].copy_from_slice(&state.low()[i..i + size]);
    }
    State::from_parts(high, low)
}

/// How coming to rest in short steps ended.
enum Settling {
    Done,
    /// No step is short enough.
    Stuck,
    Interrupted,
}

/// The motion that looks for a place to rest.
struct Fall<'a, S> {
    simulator: Simulator<Cautious<'a, S>>,
    steps: usize,
    /// First step of the next rest \[s\].
    first: f64,
    clock: std::time::Instant,
}

impl<S: ContactSource> Fall<'_, S> {
    fn tell(&mut self, moved: f64, observe: &mut impl FnMut(&Step) -> bool) -> bool {
        let energies = self.simulator.energies();
        self.steps += 1;
        let energy = energies.kinetic + energies.potential;
        observe(&step_of(self.steps - 1, energy, moved, self.clock.elapsed()))
    }

    fn largest_velocity(&self) -> f64 {
        self.simulator.velocities().iter().fold(0.0f64, |a, b| a.max(b.abs()))
    }

    /// Falls until it is slow. `false` when it was to stop.
    fn down(
        &mut self,
        settings: &FrictionalSettings,
        observe: &mut impl FnMut(&Step) -> bool,
    ) -> Result<bool, SimError> {
        self.simulator.set_settings(StageSettings { max_iterations: 3, ..Default::default() });
        let size = self.simulator.model().size(self.simulator.model().start()).max(1e-9);
        let mut fastest = 0.0f64;
        for _ in 0..(settings.longest_fall / STEP).ceil() as usize {
            self.simulator.step(STEP)?;
            let speed = self.largest_velocity();
            fastest = fastest.max(speed);
            if !self.tell(speed * STEP / size, observe) {
                return Ok(false);
            }
            if speed * STEP <= 1e-4 * size || speed <= 0.01 * fastest {
                break;
            }
        }
        Ok(true)
    }

    /// Steps from standstill until they lead nowhere. `false` when it was to stop.
    fn rest(&mut self, observe: &mut impl FnMut(&Step) -> bool) -> Result<bool, SimError> {
        let inside = |c: &Contact| c.count > 1 && !c.key.between_layers();
        if self.simulator.contact_forces().iter().any(|f| inside(&f.contact)) {
            match self.settle(observe)? {
                Settling::Interrupted => return Ok(false),
                Settling::Done => return Ok(true),
                Settling::Stuck => {}
            }
        }
        self.lie_down(observe)
    }

    /// Steps as long as they converge, where contacts move along edges and faces: longer ones would leap over where these hold.
    fn settle(&mut self, observe: &mut impl FnMut(&Step) -> bool) -> Result<Settling, SimError> {
        let settings =
            StageSettings { max_iterations: 12, tolerance: 1e-3, ..StageSettings::default() };
        self.simulator.set_settings(settings);
        let size = self.simulator.model().size(self.simulator.state()).max(1e-9);
        let still = vec![0.0; self.simulator.model().len()];
        let (mut h, mut good, mut calm, mut stuck) = (GENTLE, 0, 0, 0);
        for _ in 0..SETTLINGS {
            let kept = self.simulator.keep();
            self.simulator.set_velocities(&still);
            let report = self.simulator.step(h)?;
            let moved = self.largest_velocity() * h / size;
            if !self.tell(moved, observe) {
                return Ok(Settling::Interrupted);
            }
            if !report.converged || report.substeps > 1 || moved > FARTHEST {
                good = 0;
                if h > SHORTEST {
                    self.simulator.put_back(&kept);
                    h = (0.5 * h).max(SHORTEST);
                } else if stuck == 0 {
                    // What is pushed out of something gains energy, the more of it the shorter the step.
                    (h, stuck) = (2.0 * STEP, 1);
                } else {
                    return Ok(Settling::Stuck);
                }
                continue;
            }
            good += 1;
            let slow = moved <= SETTLED * self.simulator.unit() * h * h / size;
            calm = if slow || moved <= UNMOVED { calm + 1 } else { 0 };
            if calm == 3 {
                break;
            }
            if good == 3 {
                (h, good) = ((1.5 * h).min(LONGEST), 0);
            }
        }
        self.simulator.set_velocities(&still);
        Ok(Settling::Done)
    }

    /// Longer and longer steps. `false` when it was to stop.
    fn lie_down(&mut self, observe: &mut impl FnMut(&Step) -> bool) -> Result<bool, SimError> {
        let settings =
            StageSettings { max_iterations: 20, tolerance: 1e-4, ..StageSettings::default() };
        self.simulator.set_settings(settings);
        let size = self.simulator.model().size(self.simulator.state()).max(1e-9);
        let still = vec![0.0; self.simulator.model().len()];
        let mut h = self.first;
        for _ in 0..RESTS {
            self.simulator.set_velocities(&still);
            self.simulator.step(h)?;
            let moved = self.largest_velocity() * h / size;
            if !self.tell(moved, observe) {
                return Ok(false);
            }
            if moved <= STILL && h >= LONGEST {
                break;
            }
            h = (2.0 * h).min(LONGEST);
        }
        self.simulator.set_velocities(&still);
        Ok(true)
    }

    /// Rests and holds what carries until that is certified; the best that was found, and whether to go on.
    fn search(
        &mut self,
        build: &impl Fn() -> Result<ModelBuilder, SimError>,
        depth: &impl Fn(&[Vector<3>]) -> Result<f64, SimError>,
        settings: &FrictionalSettings,
        mut going: bool,
        observe: &mut impl FnMut(&Step) -> bool,
    ) -> Result<(FrictionalEquilibrium, bool), SimError> {
        let figure = |f: &FrictionalEquilibrium| {
            let c = &f.equilibrium.certificate;
            c.residual.max(c.cone_gap.unwrap_or(0.0)).max(c.penetration.unwrap_or(0.0))
        };
        let mut best: Option<FrictionalEquilibrium> = None;
        let mut search = 0;
        loop {
            search += 1;
            if going {
                going = self.rest(observe)?;
            }
            let mut found = self.hold(build, settings, observe)?;
            let positions = found.model.positions(&found.equilibrium.state);
            let sunk = self.sunk(&positions)?;
            judge(&mut found, depth, &positions)?;
            let certified = found.equilibrium.certificate.certified && sunk == 0;
            going &= found.equilibrium.stop != Stop::Interrupted;
            // A balanced shape whose contacts do not hold is the better start of the next rest.
            let balanced = found.equilibrium.certificate.residual <= CERTIFIED_RESIDUAL;
            if !certified && sunk == 0 && balanced {
                let model = self.simulator.model();
                let state = transfer(&found.model, &found.equilibrium.state, model);
                self.simulator.set_state(&state);
                self.first = LONGEST;
            }
            let better = match best {
                Some(best) if !certified && figure(&found) >= figure(&best) => best,
                _ => found,
            };
            if certified || !going || search == SEARCHES {
                return Ok((better, going));
            }
            best = Some(better);
        }
    }

    /// How many places that are not held have sunk into something.
    fn sunk(&mut self, positions: &[Vector<3>]) -> Result<usize, SimError> {
        let mut near = Vec::new();
        let size = self.simulator.model().size(self.simulator.state());
        self.simulator.source_mut().contacts(positions, 0.0, &Reach::of(0.0), &mut near)?;
        let held: std::collections::HashSet<_> =
            self.simulator.contact_forces().iter().map(|f| f.contact.key).collect();
        Ok(near.iter().filter(|c| c.gap < -1e-5 * size && !held.contains(&c.key)).count())
    }
}

/// Use of the friction beyond which it does not matter how much is asked.
const MOST_USE: f64 = 10.0;

/// Adds the figures of contact to the certificate, and the verdict that follows.
fn judge(
    found: &mut FrictionalEquilibrium,
    depth: &impl Fn(&[Vector<3>]) -> Result<f64, SimError>,
    positions: &[Vector<3>],
) -> Result<(), SimError> {
    let largest = found.contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
    let gap = found.contacts.iter().map(StaticContact::cone_distance).fold(0.0, f64::max);
    let margin = found
        .contacts
        .iter()
        .filter(|c| c.contact.friction > 0.0 && c.force.norm() > 1e-6 * largest)
        .map(|c| {
            let [n, t] = c.parts();
            1.0 - (t / (c.contact.friction * n.max(f64::MIN_POSITIVE))).min(MOST_USE)
        })
        .fold(1.0, f64::min);
    let c: &mut Certificate = &mut found.equilibrium.certificate;
    c.cone_gap = Some(if largest > 0.0 { gap / largest } else { 0.0 });
    c.cone_margin = Some(margin);
    let depth = depth(positions)?;
    c.penetration = Some(depth);
    let mut bad = Vec::new();
    if !c.certified && found.contacts.is_empty() && !found.model.fixed().contains(&true) {
        bad.push(
            "nothing holds it: it falls past every collider; start it above one, or pin it".into(),
        );
    } else if !c.certified {
        bad.push(c.reason.clone());
    }
    if let Some(gap) = c.cone_gap.filter(|g| *g > CERTIFIED_RESIDUAL) {
        bad.push(format!(
            "a contact force is outside its cone by {gap:.1e} of the largest force; more friction, or more time to settle, may help"
        ));
    }
    if depth > 0.0 {
        bad.push(format!("something is {:.2} mm inside something else", 1e3 * depth));
    }
    let slid = found.contacts.iter().filter(|c| c.slid && c.contact.friction > 0.0).count();
    if slid > 0 && !bad.is_empty() {
        bad.push(format!(
            "{slid} of {} contacts slide: it needs more friction, or a better place to start from",
            found.contacts.len()
        ));
    }
    if bad.is_empty() {
        let held = found.contacts.len();
        c.reason = format!(
            "{}; {held} contacts hold, {:.1} % of the friction to spare",
            c.reason,
            100.0 * margin
        );
    } else {
        c.certified = false;
        c.reason = bad.join("; ");
    }
    Ok(())
}

/// Largest motion in a simulated time, exact friction, from rest, relative to the size, and where it ended; `None` when it was to stop.
fn drift<S: ContactSource>(
    build: &impl Fn() -> Result<ModelBuilder, SimError>,
    source: &mut S,
    found: &FrictionalEquilibrium,
    time: f64,
    go_on: &mut impl FnMut(f64) -> bool,
) -> Result<Option<(f64, State)>, SimError> {
    let mut builder = build()?;
    let (held, state) = (&found.model, &found.equilibrium.state);
    let start = held.positions(state);
    for (&node, p) in held.vertices().iter().zip(&start) {
        builder.place(node, *p);
    }
    let model = builder.build()?;
    let state = transfer(held, state, &model);
    let mut simulator = Simulator::new(model, Cautious { inner: source, factor: 1.0 })?;
    simulator.set_state(&state);
    simulator.expect(found.contacts.iter().map(|c| (c.contact.key, c.force)));
    let steps = (time / (0.5 * STEP)).ceil().max(1.0);
    let mut largest = 0.0f64;
    for _ in 0..steps as usize {
        simulator.step(time / steps)?;
        let now = simulator.model().positions(simulator.state());
        largest = now.iter().zip(&start).map(|(a, b)| (a - b).norm()).fold(largest, f64::max);
        if !go_on(largest / found.equilibrium.certificate.size) {
            return Ok(None);
        }
    }
    Ok(Some((largest / found.equilibrium.certificate.size, simulator.state().clone())))
}
