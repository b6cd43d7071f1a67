//! Cloth and fibres that come to rest on each other.
//!
//! They fall with damping until they are slow, then take ever longer steps from standstill, each of which goes as far as forces that are not
//! balanced take it and slides only as far as it must. What is left of the balance falls by a factor from step to step. Meanwhile contacts are held now
//! and then and Newton's method looks for the equilibrium between them (`hold.rs`). Where all forces it ends with lie in their cones and nothing can
//! fall, and the same is found again after some more steps, that is where they rest; else it is where the next steps begin, in which the rest slides.

use std::collections::HashSet;

use nalgebra::DMatrix;
use toile_energy::Curvature;
use toile_geometry::Vec3;
use toile_rod::{Assembly, FibreContact};
use toile_solve::{Ldlt, SolveError};

use super::hold::Stay;
use super::near::{Place, key};
use super::{Coupling, TogetherReport, strands, vertex_velocities};
use crate::SimError;
use crate::certificate::CERTIFIED_RESIDUAL;
use crate::dynamics::{ContactForce, ContactSource, Reach, Simulator, StageSettings};

/// How rest is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestSettings {
    /// Drag during the fall \[1/s\]: near the lowest frequency of things of a few decimetres.
    pub damping: f64,
    /// Step of the fall \[s\].
    pub step: f64,
    /// Longest fall \[s\]; zero for none.
    pub longest_fall: f64,
    /// Speed at which the fall has ended \[m/s\].
    pub speed: f64,
    /// Steps from standstill at most.
    pub rests: usize,
    /// The longest of them \[s\].
    pub longest_rest: f64,
    /// Residual that is small enough.
    pub residual: f64,
    /// Whether contacts with the cloth are held where they are after the first few of these: on a round fibre they would roll on, ever so
    /// slowly.
    pub hold: bool,
    /// Part of the friction that contacts have: the result is judged by all of it, so that forces need not end at the very edge of their
    /// cones.
    pub caution: f64,
}

impl Default for RestSettings {
    fn default() -> Self {
        Self {
            damping: 6.0,
            step: 5e-3,
            longest_fall: 3.0,
            speed: 5e-3,
            rests: 120,
            longest_rest: 0.4,
            residual: ENOUGH,
            hold: true,
            caution: 1.0,
        }
    }
}

/// Where cloth and fibres came to rest, and how well.
#[derive(Clone, Debug, Default)]
pub struct Rested {
    /// Steps of the fall and from standstill.
    pub steps: [usize; 2],
    /// Largest residual: of the cloth over the weight of a vertex, of fibres over that of a joint.
    pub residual: f64,
    /// The same \[N\].
    pub residual_n: f64,
    /// Largest distance of a contact force from its cone, over the largest force.
    pub cone_gap: f64,
    /// Least 1 − ‖r_T‖/(μ r_N) over contacts that press; 1 without any.
    pub cone_margin: f64,
    /// How much nearer to the cloth than it should be a fibre is at most \[m\].
    pub penetration: f64,
    /// About the least eigenvalue of the stiffness against the mass with all contacts held, from below \[1/s²\]; `None` where there are
    /// too many contacts to tell.
    pub stability: Option<f64>,
    /// Ways to fall that held contacts leave.
    pub negative_modes: Option<usize>,
    /// Contacts of the fibres that press, with their forces.
    pub contacts: Vec<FibreContact>,
    /// Those of the cloth with colliders and itself.
    pub own: Vec<ContactForce>,
    /// Whether the equilibrium was found with contacts held.
    pub held: bool,
    /// Whether a fibre goes through the cloth.
    pub through: bool,
    /// Whether it was to stop.
    pub stopped: bool,
}

/// What contacts that are held lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// All forces lie in their cones.
    Rests,
    /// Not all do.
    Slides,
    /// Nothing.
    Not,
}

/// First step from standstill \[s\].
const FIRST: f64 = 0.01;
/// Part of a step that was too long with which it is tried again.
const SHORTER: f64 = 0.3;
/// Residual that is small enough, below what is certified.
const ENOUGH: f64 = 0.05 * CERTIFIED_RESIDUAL;
/// Residual that will do where rounding leaves no smaller one.
const GOOD: f64 = 0.5 * CERTIFIED_RESIDUAL;
/// Part of the least residual so far that counts as much smaller.
const BETTER: f64 = 0.8;
/// Steps without a smaller residual after which none is to come, and without a much smaller one after which none is needed.
const NO_BETTER: usize = 25;
const NO_BETTER_NEEDED: usize = 4;
/// Steps from standstill after which contacts may be held.
const HELD_AFTER: usize = 3;
/// Steps from standstill before contacts are held for Newton's method, and how many more, over those so far, where it has not ended.
const FIRST_TRY: usize = 2;
const MORE_TRIES: f64 = 0.5;
/// Rows of contacts up to which ways to fall are counted.
const MOST_ROWS: usize = 1200;
/// Part of the radius of the thinnest fibre by which it may be nearer to the cloth than it should.
const CLOSE: f64 = 0.1;
/// How far two equilibria between held contacts, with steps from standstill between them, may be apart to be one, over the size of the cloth.
const AGREES: f64 = 2e-5;
/// How far into something a place may be that is not held, over the size of the cloth.
const SUNK: f64 = 1e-5;
/// Least eigenvalue that counts as one \[1/s²\].
const LEAST: f64 = 1e-3;

impl Coupling {
    /// Lets cloth and fibres fall until they rest. `watch` is told of steps and of the speed or, later, the residual, and ends the search
    /// by answering `false`.
    pub fn settle<S: ContactSource>(
        &mut self,
        cloth: &mut Simulator<S>,
        fibres: &mut Assembly,
        settings: &RestSettings,
        watch: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Rested, SimError> {
        let mut rested = Rested::default();
        cloth.set_mass_damping(settings.damping);
        fibres.settings.step.drag = settings.damping;
        let most = (settings.longest_fall / settings.step) as usize;
        let mut slow = 0;
        while rested.steps[0] < most && slow < 20 {
            self.step(cloth, fibres, settings.step)?;
            rested.steps[0] += 1;
            // Of vertices: angles of edges have rates of their own, in radians a second.
            let fastest = vertex_velocities(cloth).iter().map(|v| v.norm()).fold(0.0, f64::max);
            let speed = fastest.max(fibres.speed());
            // A fall starts slowly, and turns slowly where it swings.
            slow = if speed < settings.speed { slow + 1 } else { 0 };
            if !watch(rested.steps[0], speed) {
                rested.stopped = true;
                break;
            }
        }
        cloth.set_mass_damping(0.0);
        fibres.settings.step.drag = 0.0;
        cloth.set_settings(StageSettings {
            tolerance: 1e-10,
            balance: 1e-11,
            max_iterations: 30,
            ..StageSettings::default()
        });
        fibres.settings.tolerance = fibres.settings.tolerance.min(1e-10);
        let still = vec![0.0; cloth.model().len()];
        let (mut h, mut longest) = (FIRST, settings.longest_rest);
        let (mut best, mut last, mut since, mut steady) = (f64::INFINITY, f64::INFINITY, 0, 0);
        let mut report = TogetherReport::default();
        let (mut next_try, mut before) = (FIRST_TRY, None);
        while rested.steps[1] < settings.rests && !rested.stopped {
            cloth.set_velocities(&still);
            fibres.stop();
            if settings.hold && rested.steps[1] >= HELD_AFTER {
                self.least = 2;
                self.held = Some(self.last.iter().map(|(place, _)| *place).collect());
            }
            // From standstill a step that is too long is as well taken shorter: its parts would be motion again, and cost as many steps each.
            self.whole = h > FIRST;
            let taken = self.step(cloth, fibres, h)?;
            rested.steps[1] += 1;
            if taken.parts == 0 {
                (h, longest) = ((SHORTER * h).max(FIRST), 0.5 * h);
                rested.stopped = !watch(rested.steps[0] + rested.steps[1], best);
                continue;
            }
            report = taken;
            let contacts = &report.fibres.contacts;
            let stay = self.stay(cloth, fibres, contacts, settings.caution);
            let standing = fibres.standing(&stay.grips, 0.0)?;
            [rested.residual, rested.residual_n] =
                stay.balance(cloth.model(), cloth.state(), &standing);
            rested.stopped = !watch(rested.steps[0] + rested.steps[1], rested.residual);
            if rested.steps[1] >= next_try {
                let steps = rested.steps[1];
                match self.held_to_the_end(cloth, fibres, stay, &mut rested)? {
                    Held::Rests => {
                        // What contacts keep too close, or touches anew, the steps between would have moved.
                        let now = points(cloth, fibres);
                        let size = AGREES * cloth.model().size(cloth.state());
                        let near = |(a, b): (&Vec3, &Vec3)| (a - b).norm() <= size;
                        let agrees = |before: &Vec<Vec3>| before.iter().zip(&now).all(near);
                        if before.as_ref().is_some_and(agrees) {
                            break;
                        }
                        (rested.held, before) = (false, Some(now));
                        next_try = steps + FIRST_TRY;
                        continue;
                    }
                    Held::Slides => next_try = steps + FIRST_TRY,
                    Held::Not => next_try = steps + (MORE_TRIES * steps as f64).ceil() as usize,
                }
            }
            since = if rested.residual < best { 0 } else { since + 1 };
            steady = if rested.residual < BETTER * best { 0 } else { steady + 1 };
            // What grows is taken in shorter steps: the weight's own stiffness is not implicit in the fibres.
            let grows = rested.residual > 3.0 * last || report.parts > 1;
            h = if grows { (0.5 * h).max(FIRST) } else { (1.5 * h).min(longest.max(FIRST)) };
            longest = (1.2 * longest).min(settings.longest_rest);
            (best, last) = (best.min(rested.residual), rested.residual);
            let good = rested.residual <= GOOD && steady >= NO_BETTER_NEEDED;
            // What was found between held contacts is to be found once more.
            let enough = if before.is_some() { ENOUGH } else { settings.residual };
            if rested.residual <= enough || good || since >= NO_BETTER {
                break;
            }
        }
        (self.held, self.whole, self.least) = (None, false, 1);
        if !rested.held {
            let contacts = &report.fibres.contacts;
            let stay = self.stay(cloth, fibres, contacts, settings.caution);
            self.judge(cloth, fibres, &stay, &mut rested)?;
        }
        Ok(rested)
    }

    /// Looks for the equilibrium between contacts that are held. Everything is there afterwards, unless it would fall from there or there is
    /// none.
    fn held_to_the_end<S: ContactSource>(
        &mut self,
        cloth: &mut Simulator<S>,
        fibres: &mut Assembly,
        stay: Stay,
        rested: &mut Rested,
    ) -> Result<Held, SimError> {
        let before = (cloth.keep(), fibres.clone());
        let Some(stay) = Self::hold(cloth, fibres, stay)? else { return Ok(Held::Not) };
        let mut found = Rested { held: true, ..rested.clone() };
        let standing = fibres.standing(&stay.grips, 0.0)?;
        [found.residual, found.residual_n] = stay.balance(cloth.model(), cloth.state(), &standing);
        self.judge(cloth, fibres, &stay, &mut found)?;
        let thinnest = fibres.fibres.iter().map(|f| f.radius).fold(f64::INFINITY, f64::min);
        let apart = !found.through && found.penetration <= CLOSE * thinnest;
        if apart && found.negative_modes.is_none_or(|n| n == 0) {
            if found.cone_gap > CERTIFIED_RESIDUAL || self.sunk(cloth, fibres, &stay)? > 0 {
                return Ok(Held::Slides);
            }
            *rested = found;
            return Ok(Held::Rests);
        }
        cloth.put_back(&before.0);
        *fibres = before.1;
        Ok(Held::Not)
    }

    /// How many places that are not held have sunk into something: motion would push them out.
    fn sunk<S: ContactSource>(
        &mut self,
        cloth: &mut Simulator<S>,
        fibres: &Assembly,
        stay: &Stay,
    ) -> Result<usize, SimError> {
        let x = cloth.model().positions(cloth.state());
        let least = -SUNK * cloth.model().size(cloth.state());
        let mut found = Vec::new();
        let time = cloth.time();
        cloth.source_mut().contacts(&x, time, &Reach::of(0.0), &mut found)?;
        let own: HashSet<_> = stay.own.iter().map(|f| f.contact.key).collect();
        let sunk = found.iter().filter(|c| c.gap < least && !own.contains(&c.key)).count();
        let held: HashSet<_> = stay.places.iter().map(key).collect();
        let open = fibres.open()?;
        let strands = strands(fibres, &self.friction, &open, None);
        let still = vec![Vec3::zeros(); x.len()];
        let near = self.near.find(&strands, &x, &still, 0.0, &|p| held.contains(&key(p)));
        let deep = |p: &&Place| p.meeting.gap < least && !held.contains(&key(p));
        Ok(sunk + near.iter().filter(deep).count())
    }

    fn judge<S: ContactSource>(
        &mut self,
        cloth: &mut Simulator<S>,
        fibres: &Assembly,
        stay: &Stay,
        rested: &mut Rested,
    ) -> Result<(), SimError> {
        let (depth, pierced) = self.depth(cloth, fibres)?;
        (rested.penetration, rested.through) = (depth, pierced.is_some());
        let largest = stay.forces().map(|f| f.force.norm()).fold(0.0, f64::max);
        (rested.cone_gap, rested.cone_margin) = (0.0, 1.0);
        for f in stay.forces() {
            rested.cone_gap = rested.cone_gap.max(f.outside() / largest);
            if f.along > 1e-9 * largest && f.friction > 0.0 {
                let used = f.across.norm() / (f.friction * f.along);
                rested.cone_margin = rested.cone_margin.min(1.0 - used);
            }
        }
        (rested.stability, rested.negative_modes) = self.lowest(cloth, fibres, stay)?;
        let all = stay.grips.contacts().into_iter().filter(|c| c.force.norm() > 1e-9 * largest);
        rested.contacts =
            all.map(|c| FibreContact { friction: c.friction / stay.caution, ..c }).collect();
        rested.own.clone_from(&stay.own);
        rested.own.iter_mut().for_each(|c| c.contact.friction /= stay.caution);
        Ok(())
    }

    /// About the least eigenvalue, from below, and the ways to fall.
    fn lowest<S: ContactSource>(
        &self,
        cloth: &Simulator<S>,
        fibres: &Assembly,
        stay: &Stay,
    ) -> Result<(Option<f64>, Option<usize>), SimError> {
        let Some(falling) = self.falling(cloth, fibres, stay, LEAST)? else {
            return Ok((None, None));
        };
        // Outwards to a shift on the other side, then between both.
        let sign = if falling == 0 { 1.0 } else { -1.0 };
        let (mut inner, mut outer) = (LEAST, sign * 4.0 * LEAST);
        for _ in 0..20 {
            let count = self.falling(cloth, fibres, stay, outer)?.unwrap_or(0);
            if (count == 0) != (sign > 0.0) {
                break;
            }
            (inner, outer) = (outer, 4.0 * outer);
        }
        for _ in 0..5 {
            let middle = 0.5 * (inner + outer);
            let count = self.falling(cloth, fibres, stay, middle)?.unwrap_or(0);
            if (count == 0) == (sign > 0.0) {
                inner = middle;
            } else {
                outer = middle;
            }
        }
        Ok((Some(if sign > 0.0 { inner } else { outer }), Some(falling)))
    }

    /// Negative eigenvalues of K − σM where contacts are held: those of both sides alone, less the negative ones of how the contacts
    /// yield. `None` where there are too many.
    fn falling<S: ContactSource>(
        &self,
        cloth: &Simulator<S>,
        fibres: &Assembly,
        stay: &Stay,
        shift: f64,
    ) -> Result<Option<usize>, SimError> {
        let standing = fibres.standing(&stay.grips, shift)?;
        let model = cloth.model();
        let unknown = |v: u32| model.unknown(model.vertices()[v as usize]);
        // Vertices that lie on colliders are fixed; contacts of several vertices are rows, as those with fibres.
        let mut fixed = model.fixed().to_vec();
        let mut rows: Vec<Vec<(usize, f64)>> = stay
            .places
            .iter()
            .map(|place| place.carriers.iter().map(|(v, w)| (unknown(*v), *w)).collect())
            .collect();
        for ContactForce { contact, .. } in &stay.own {
            if contact.count == 1 {
                let i = unknown(contact.vertices[0]);
                fixed[i..i + 3].fill(true);
            } else {
                rows.push(contact.carriers().map(|(v, w)| (unknown(v), w)).collect());
            }
        }
        let own = 3 * stay.grips.own;
        let size = own + 3 * rows.len();
        if size > MOST_ROWS {
            return Ok(None);
        }
        let pattern = model.pattern();
        let mut values = vec![0.0; pattern.nnz()];
        model.hessian(cloth.state(), Curvature::Exact, &mut values);
        for column in 0..pattern.n {
            for k in pattern.col_ptr[column]..pattern.col_ptr[column + 1] {
                let row = pattern.row_idx[k];
                if fixed[row] || fixed[column] {
                    values[k] = f64::from(u8::from(row == column));
                } else if row == column {
                    values[k] -= shift * model.masses()[row];
                }
            }
        }
        let mut ldlt = Ldlt::new(pattern.clone())?;
        let inertia = match ldlt.factorize(&values, None) {
            Ok(inertia) => inertia,
            // At an eigenvalue to the last bit; beside it is as good.
            Err(SolveError::ZeroPivot { .. }) => {
                return self.falling(cloth, fibres, stay, shift * 1.001 + 1e-9);
            }
            Err(error) => return Err(error.into()),
        };
        if size == 0 {
            // Nothing touches.
            return Ok(Some(inertia.negative + standing.negative));
        }
        let mut w = DMatrix::zeros(size, size);
        let shared = standing.compliance.nrows();
        w.view_mut((0, 0), (shared, shared)).copy_from(&standing.compliance);
        let mut x = vec![0.0; pattern.n];
        for j in 0..3 * rows.len() {
            x.fill(0.0);
            for (i, weight) in rows[j / 3].iter().filter(|(i, _)| !fixed[i + j % 3]) {
                x[i + j % 3] += weight;
            }
            ldlt.apply_inverse(&mut x);
            for i in 0..3 * rows.len() {
                let moved = rows[i / 3].iter().filter(|(u, _)| !fixed[u + i % 3]);
                w[(own + i, own + j)] += moved.map(|(u, s)| x[u + i % 3] * s).sum::<f64>();
            }
        }
        let symmetric = (&w + w.transpose()) * 0.5;
        let values = symmetric.symmetric_eigenvalues();
        let floor = 1e-12 * values.amax();
        let stopped = values.iter().filter(|v| **v < -floor).count();
        Ok(Some((inertia.negative + standing.negative).saturating_sub(stopped)))
    }
}

/// Vertices of the cloth, then joints of the fibres.
fn points<S: ContactSource>(cloth: &Simulator<S>, fibres: &Assembly) -> Vec<Vec3> {
    let mut all = cloth.model().positions(cloth.state());
    all.extend((0..fibres.fibres.len()).flat_map(|f| fibres.points(f)));
    all
}
