//! Cloth and fibres that come to rest on each other.
//!
//! They fall with damping until they are slow, then take ever longer steps from standstill, each of which goes as far as forces that are not
//! balanced take it and slides only as far as it must. What is left of the balance falls by a factor from step to step, to round-off.

use nalgebra::DMatrix;
use toile_energy::Curvature;
use toile_geometry::Vec3;
use toile_rod::{Assembly, FibreContact, Meeting};
use toile_solve::{Ldlt, SolveError};

use super::{Coupling, Place, TogetherReport, vertex_velocities};
use crate::SimError;
use crate::certificate::{CERTIFIED_RESIDUAL, force_unit, residual_n};
use crate::dynamics::{ContactForce, ContactSource, Simulator, StageSettings};

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
    /// Whether a fibre goes through the cloth.
    pub through: bool,
    /// Whether it was to stop.
    pub stopped: bool,
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
/// Rows of contacts up to which ways to fall are counted.
const MOST_ROWS: usize = 1200;
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
            [rested.residual, rested.residual_n] =
                self.balance(cloth, fibres, &report.fibres.contacts)?;
            since = if rested.residual < best { 0 } else { since + 1 };
            steady = if rested.residual < BETTER * best { 0 } else { steady + 1 };
            // What grows is taken in shorter steps: the weight's own stiffness is not implicit in the fibres.
            let grows = rested.residual > 3.0 * last || report.parts > 1;
            h = if grows { (0.5 * h).max(FIRST) } else { (1.5 * h).min(longest.max(FIRST)) };
            longest = (1.2 * longest).min(settings.longest_rest);
            (best, last) = (best.min(rested.residual), rested.residual);
            rested.stopped = !watch(rested.steps[0] + rested.steps[1], rested.residual);
            let good = rested.residual <= GOOD && steady >= NO_BETTER_NEEDED;
            if rested.residual <= settings.residual || good || since >= NO_BETTER {
                break;
            }
        }
        (self.held, self.whole, self.least) = (None, false, 1);
        let largest = report.fibres.contacts.iter().map(|c| c.force.norm()).fold(0.0, f64::max);
        rested.contacts = report.fibres.contacts;
        rested.contacts.retain(|c| c.force.norm() > 1e-9 * largest);
        self.judge(cloth, fibres, &mut rested)?;
        Ok(rested)
    }

    /// What is left of the balance after a step from standstill: relative, and \[N\].
    fn balance<S: ContactSource>(
        &self,
        cloth: &mut Simulator<S>,
        fibres: &Assembly,
        contacts: &[FibreContact],
    ) -> Result<[f64; 2], SimError> {
        cloth.push(pushes(&self.last));
        let model = cloth.model();
        let mut left = vec![0.0; model.len()];
        model.gradient(cloth.state(), &mut left);
        for own in cloth.contact_forces() {
            for (v, w) in own.contact.carriers() {
                let i = model.unknown(model.vertices()[v as usize]);
                for k in 0..3 {
                    left[i + k] -= w * own.force[k];
                }
            }
        }
        let newtons = residual_n(model, &left);
        cloth.push([]);
        let unit = force_unit(cloth.model());
        let standing = fibres.standing(contacts, &held(&self.last), 0.0)?;
        Ok([(newtons / unit).max(standing.residual), newtons.max(standing.residual_n)])
    }

    fn judge<S: ContactSource>(
        &mut self,
        cloth: &mut Simulator<S>,
        fibres: &Assembly,
        rested: &mut Rested,
    ) -> Result<(), SimError> {
        let (depth, pierced) = self.depth(cloth, fibres)?;
        (rested.penetration, rested.through) = (depth, pierced.is_some());
        let own =
            cloth.contact_forces().iter().map(|c| (c.force, c.contact.normal, c.contact.friction));
        let theirs = rested.contacts.iter().map(|c| (c.force, c.normal, c.friction));
        let all: Vec<(Vec3, Vec3, f64)> = own.chain(theirs).collect();
        let largest = all.iter().map(|c| c.0.norm()).fold(0.0, f64::max);
        rested.cone_margin = 1.0;
        for (force, normal, friction) in all {
            let (mu, n) = (friction, force.dot(&normal));
            let t = (force - normal * n).norm();
            rested.cone_gap = rested.cone_gap.max((t - mu * n).max(-n).max(0.0) / largest);
            if n > 1e-9 * largest && mu > 0.0 {
                rested.cone_margin = rested.cone_margin.min(1.0 - t / (mu * n));
            }
        }
        cloth.push(pushes(&self.last));
        let found = self.lowest(cloth, fibres, &rested.contacts);
        cloth.push([]);
        (rested.stability, rested.negative_modes) = found?;
        Ok(())
    }

    /// About the least eigenvalue, from below, and the ways to fall.
    fn lowest<S: ContactSource>(
        &self,
        cloth: &Simulator<S>,
        fibres: &Assembly,
        contacts: &[FibreContact],
    ) -> Result<(Option<f64>, Option<usize>), SimError> {
        let Some(falling) = self.falling(cloth, fibres, contacts, LEAST)? else {
            return Ok((None, None));
        };
        // Outwards to a shift on the other side, then between both.
        let sign = if falling == 0 { 1.0 } else { -1.0 };
        let (mut inner, mut outer) = (LEAST, sign * 4.0 * LEAST);
        for _ in 0..20 {
            let count = self.falling(cloth, fibres, contacts, outer)?.unwrap_or(0);
            if (count == 0) != (sign > 0.0) {
                break;
            }
            (inner, outer) = (outer, 4.0 * outer);
        }
        for _ in 0..5 {
            let middle = 0.5 * (inner + outer);
            let count = self.falling(cloth, fibres, contacts, middle)?.unwrap_or(0);
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
        contacts: &[FibreContact],
        shift: f64,
    ) -> Result<Option<usize>, SimError> {
        let standing = fibres.standing(contacts, &held(&self.last), shift)?;
        let model = cloth.model();
        let unknown = |v: u32| model.unknown(model.vertices()[v as usize]);
        // Vertices that lie on colliders are fixed; contacts of several vertices are rows, as those with fibres.
        let mut fixed = model.fixed().to_vec();
        let mut rows: Vec<Vec<(usize, f64)>> = self
            .last
            .iter()
            .map(|(place, _)| place.carriers.iter().map(|(v, w)| (unknown(*v), *w)).collect())
            .collect();
        for ContactForce { contact, .. } in cloth.contact_forces() {
            if contact.count == 1 {
                let i = unknown(contact.vertices[0]);
                fixed[i..i + 3].fill(true);
            } else {
                rows.push(contact.carriers().map(|(v, w)| (unknown(v), w)).collect());
            }
        }
        let own = 3 * standing.own;
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
                return self.falling(cloth, fibres, contacts, shift * 1.001 + 1e-9);
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

/// Forces on the vertices of the cloth by what presses on it.
fn pushes(last: &[(Place, Vec3)]) -> impl Iterator<Item = (u32, Vec3)> + '_ {
    last.iter().flat_map(|(place, force)| place.carriers.map(|(v, w)| (v, force * -w)))
}

fn held(last: &[(Place, Vec3)]) -> Vec<(Meeting, Vec3)> {
    last.iter().map(|(place, force)| (place.meeting, *force)).collect()
}
