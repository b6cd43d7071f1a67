//! Static equilibrium with contact and dry friction.
//!
//! What friction holds depends on how it came to lie, so the search is a motion: the cloth falls with
//! exact friction and some damping until it is slow ([`Simulator`]), then rests in ever longer steps from standstill, each of which
//! slides only as far as it must. When nothing slides any more, its contacts are held where they are and Newton's method
//! finds the shape between them to the last digit. Meanwhile friction is taken a little too low, so that the forces of the
//! result lie inside their cones, not on the border.

use toile_cone::project_cone;
use toile_contact::Contact;
use toile_energy::Tie;
use toile_num::{Matrix, Vector};
use toile_solve::{NewtonSettings, Step, Stop};

use crate::certificate::{CERTIFIED_RESIDUAL, Certificate};
use crate::dynamics::{ContactSource, Reach, Simulator, StageSettings};
use crate::{Equilibrium, Model, ModelBuilder, NO_NODE, Role, SimError, State, equilibrium};

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
    /// Simulated time in which the result must not move, none if zero \[s\]. Default 0.
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
/// Longest step of coming to rest \[s\].
const LONGEST: f64 = 1.0;
/// Move in such a step at which it is worth a search, in units of the size.
const STILL: f64 = 1e-5;
/// Searches with contacts held at most.
const SEARCHES: usize = 6;
/// Times that what moved in its simulated time is let come to rest where it went.
const ATTEMPTS: usize = 3;
/// Times contacts that do not hold are let go or let slide in one search.
const RELEASES: usize = 12;
/// Stiffness of what holds a contact of several vertices, in units of the mean stiffness of a vertex: it need not
/// be hard, for what it carries counts, and the softer it is the less rounding it makes of it.
const HOLD: f64 = 100.0;
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
        if !found.equilibrium.certificate.certified || settings.drift_time <= 0.0 {
            return Ok(found);
        }
        let (drift, end) = drift(&build, source, &found, settings.drift_time)?;
        let certificate = &mut found.equilibrium.certificate;
        certificate.drift = Some(drift);
        certificate.certified = drift <= CERTIFIED_DRIFT;
        let moved =
            format!("simulated for {} s it moves by {drift:.1e} of its size", settings.drift_time);
        certificate.reason = match certificate.certified {
            true => format!("{}; {moved}", certificate.reason),
            false => format!(
                "it does not stay: {moved}, and {CERTIFIED_DRIFT:.0e} is allowed; finer cloth, or more friction, may help; before that {}",
                certificate.reason
            ),
        };
        if certificate.certified || !going || attempt == ATTEMPTS {
            return Ok(found);
        }
        // It had not come to rest: where it went is a better place to look for one.
        start = Some(end);
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

/// A contact in a search.
struct Held {
    contact: Contact,
    force: Vector<3>,
    /// Held along its normal only; across it the force is what friction gives.
    slides: bool,
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
        observe(&Step {
            step: self.steps - 1,
            energy: energies.kinetic + energies.potential,
            residual: moved,
            shift: 0.0,
            exact: false,
            length: moved,
            scale: 1.0,
            elapsed: self.clock.elapsed(),
        })
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

    /// Longer and longer steps from standstill, until they lead nowhere. `false` when it was to stop.
    fn rest(&mut self, observe: &mut impl FnMut(&Step) -> bool) -> Result<bool, SimError> {
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

    /// Holds the contacts that carry and finds the equilibrium between them.
    fn hold(
        &self,
        build: &impl Fn() -> Result<ModelBuilder, SimError>,
        settings: &FrictionalSettings,
        observe: &mut impl FnMut(&Step) -> bool,
    ) -> Result<FrictionalEquilibrium, SimError> {
        let mut held: Vec<Held> = self
            .simulator
            .contact_forces()
            .iter()
            .map(|f| {
                let mut contact = f.contact;
                contact.friction /= settings.caution;
                Held { contact, force: f.force, slides: contact.friction == 0.0 }
            })
            .collect();
        let mut start = None;
        let mut round = 0;
        loop {
            let found = self.between(build, &held, start.as_ref(), settings, observe)?;
            let largest = found.contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
            let least = CERTIFIED_RESIDUAL * largest;
            let wrong = found.contacts.iter().filter(|c| c.cone_distance() > 0.5 * least).count();
            if wrong == 0 || round == RELEASES || found.equilibrium.stop == Stop::Interrupted {
                return Ok(found);
            }
            // What pulls is not held by anything; what pulls sideways too much slides, under the friction there is.
            for (held, now) in held.iter_mut().zip(&found.contacts) {
                let [n, t] = now.parts();
                held.force = now.force;
                if held.slides || now.cone_distance() > 0.5 * least {
                    held.slides = true;
                    let along = held.contact.normal * n;
                    let most = settings.caution * held.contact.friction * n.max(0.0);
                    held.force =
                        along + (now.force - along) * if t > most { most / t } else { 1.0 };
                }
            }
            let mut now = found.contacts.iter();
            held.retain(|_| now.next().is_none_or(|c| c.parts()[0] > -0.5 * least));
            start = Some(found);
            round += 1;
        }
    }

    /// The equilibrium with these contacts held.
    fn between(
        &self,
        build: &impl Fn() -> Result<ModelBuilder, SimError>,
        held: &[Held],
        start: Option<&FrictionalEquilibrium>,
        settings: &FrictionalSettings,
        observe: &mut impl FnMut(&Step) -> bool,
    ) -> Result<FrictionalEquilibrium, SimError> {
        let before = match start {
            Some(found) => (&found.model, &found.equilibrium.state),
            None => (self.simulator.model(), self.simulator.state()),
        };
        let mut builder = build()?;
        let vertices = self.simulator.model().vertices();
        for &node in vertices {
            builder.place(node, before.0.position(before.1, node));
        }
        let stiffness = HOLD * mean_stiffness(self.simulator.model(), self.simulator.state());
        let nodes: Vec<[u32; 4]> = held
            .iter()
            .map(|h| {
                let count = h.contact.count as usize;
                let node = |k: usize| vertices[h.contact.vertices[k] as usize];
                std::array::from_fn(|k| if k < count { node(k) } else { NO_NODE })
            })
            .collect();
        // A vertex with one contact that sticks is simply held; everything else is tied.
        let mut used = std::collections::HashMap::<u32, usize>::new();
        for n in nodes.iter().flatten().filter(|n| **n != NO_NODE) {
            *used.entry(*n).or_default() += 1;
        }
        let fixed = |h: &Held, n: &[u32; 4]| h.contact.count == 1 && !h.slides && used[&n[0]] == 1;
        let (mut ties, mut tied) = (Vec::new(), Vec::new());
        for (h, n) in held.iter().zip(&nodes) {
            if fixed(h, n) {
                builder.fix(n[0]);
                continue;
            }
            let mut weights = [0.0; 4];
            let mut point = Vector::zeros();
            for (k, (_, w)) in h.contact.carriers().enumerate() {
                weights[k] = w;
                // Held where it lay when it came to rest.
                let model = self.simulator.model();
                point += w * model.position(self.simulator.state(), n[k]);
            }
            let normal = h.contact.normal;
            let k = if h.slides { normal * normal.transpose() } else { Matrix::identity() };
            ties.push(Tie { weights, point, stiffness: k * stiffness, force: h.force });
            tied.push(*n);
        }
        builder.add::<Tie, 12, 4>(Role::Elastic, ties.clone(), tied.clone());
        let model = builder.build()?;
        let state = transfer(before.0, before.1, &model);
        let equilibrium = equilibrium(&model, &state, &settings.newton, &mut *observe)?;
        let mut gradient = vec![0.0; model.len()];
        model.gradient(&equilibrium.state, &mut gradient);
        let mut tie = ties.iter().zip(&tied);
        let force = |(h, n): (&Held, &[u32; 4])| {
            let force = if fixed(h, n) {
                let i = model.unknown(n[0]);
                Vector::<3>::from_column_slice(&gradient[i..i + 3])
            } else {
                tie.next().map_or_else(Vector::zeros, |(tie, nodes)| {
                    let mut x = Vector::<12>::zeros();
                    for (k, node) in nodes.iter().enumerate().filter(|(_, n)| **n != NO_NODE) {
                        let p = model.position(&equilibrium.state, *node);
                        x.fixed_rows_mut::<3>(3 * k).copy_from(&p);
                    }
                    tie.carried(&x)
                })
            };
            StaticContact { contact: h.contact, force, slid: h.slides }
        };
        let contacts = held.iter().zip(&nodes).map(force).collect();
        Ok(FrictionalEquilibrium { model, equilibrium, contacts, steps: 0 })
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

/// Mean stiffness of a vertex \[N/m\].
fn mean_stiffness(model: &Model, state: &State) -> f64 {
    let mut values = vec![0.0; model.pattern().nnz()];
    model.hessian(state, toile_energy::Curvature::Positive, &mut values);
    let (mut sum, mut count) = (0.0, 0usize);
    for &node in model.vertices() {
        let i = model.unknown(node);
        if !model.fixed()[i] {
            sum += values[model.pattern().col_ptr[i]];
            count += 1;
        }
    }
    if count > 0 && sum > 0.0 { sum / count as f64 } else { 1.0 }
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

/// Largest motion in a simulated time, exact friction, from rest, relative to the size, and where it ended.
fn drift<S: ContactSource>(
    build: &impl Fn() -> Result<ModelBuilder, SimError>,
    source: &mut S,
    found: &FrictionalEquilibrium,
    time: f64,
) -> Result<(f64, State), SimError> {
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
    }
    Ok((largest / found.equilibrium.certificate.size, simulator.state().clone()))
}
