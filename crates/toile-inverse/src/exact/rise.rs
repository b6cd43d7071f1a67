//! Putting the weight on: Newton's method for all of it, in parts where that fails.

use toile_geometry::Vec3;
use toile_sim::State;

use super::pressed::Barrier;
use super::steady::ROUNDS;
use super::{BARRIER, Exact, Left, Point, SPRINGS, TOLERANCE, Watch};
use crate::InverseError;

/// Weight of the barrier where springs help: forces are then not given up for a shorter way.
const FIRM_BARRIER: f64 = 1e2;
/// Newton steps at one weight at most.
pub(crate) const NEWTON: usize = 20;
/// ... of which so many draw forces to the middle of their cones.
const CENTRING: usize = 5;
/// Least part of a Newton step worth taking.
const LEAST_PART: f64 = 0.02;
/// A step of a smaller part is a short one; so many in one search lead nowhere.
const SHORT: f64 = 0.15;
const MOST_SHORT: usize = 4;
/// Factorisations on the way to the full weight at most.
const MOST_STEPS: usize = 45;
/// Part of the weight below which a target is far from being held, and how well its part is then worth knowing.
const FAR: f64 = 0.5;
const COARSE: f64 = 0.4;
/// How well the part at which stability is lost is worth knowing above that.
const FINE: f64 = 0.1;
/// Halvings in which a stable rest shape is looked for below an unstable one.
const GUESSES: usize = 6;
/// Part of a weight that was not carried to try next.
const LESS: f64 = 0.3;
/// Least part of the weight worth asking for.
const LEAST_LOAD: f64 = 5e-4;
/// Force that counts as balanced where Newton's method, which ends quickly there, does not make it less: rounding does not let it, the less so the finer the
/// mesh is (3e-7 for 20 000 vertices), and draping the result mends it.
const ROUNDING: f64 = 1e-5;
/// Force left at which Newton's method is nearly there: where it gets no farther, a few triangles keep it.
const STUCK: f64 = 0.1;
/// Square of how much shorter a step must be than the one before for the factor to serve another one, how many it serves at most, and how far below what
/// counts as balanced it is to go.
const QUICK: f64 = 0.04;
const CHORDS: usize = 8;
const DEEPER: f64 = 0.1;
/// Steps towards the best rest shape with springs at most.
const NEARLY: usize = 8;

impl Exact {
    /// Puts all of the weight on at once; whether that is carried in a stable way. Where it is not, [`Exact::rise`] goes on from there with parts.
    pub(crate) fn at_once(&mut self, watch: &mut Watch<'_>) -> Result<bool, InverseError> {
        self.stopped = false;
        let before = self.point();
        if !self.carry(1.0, TOLERANCE, watch)? {
            if !self.stopped {
                self.refused = self.refused.min(1.0);
                self.first_load = LESS;
            }
            return Ok(false);
        }
        // Another rest shape that balances the weight may be stable.
        if self.stable()? || self.steady(ROUNDS, watch)? {
            return Ok(true);
        }
        self.unstable = Some(self.rest.clone());
        self.refused = self.refused.min(1.0);
        let high = self.point();
        self.return_to(before);
        self.first_load = self.guess_lost(&high)?;
        Ok(false)
    }

    /// Puts the weight on, at once if that was not tried yet and works, else in parts; the largest part found that is carried in a stable way.
    ///
    /// What was found there is what the search has then; with none, the target as its own rest shape. A search that was ended before it
    /// had any part goes on when it is called again.
    pub(crate) fn rise(&mut self, watch: &mut Watch<'_>) -> Result<f64, InverseError> {
        let mut stable = 0.0f64;
        // Least part at which stability is known to be lost, and least part that was not balanced.
        let (mut lost, mut failed) = match &self.unstable {
            Some(_) => (self.refused, f64::INFINITY),
            None => (f64::INFINITY, self.refused),
        };
        let mut step = self.first_load;
        let mut most = self.steps + MOST_STEPS;
        self.stopped = false;
        while self.load < 1.0 && self.steps < most && step >= LEAST_LOAD && !self.stopped {
            let before = self.point();
            let load = (self.load + step).min(1.0);
            if !self.carry(load, TOLERANCE, watch)? {
                if self.stopped {
                    self.first_load = LESS * step;
                    break; // which says nothing about the weight
                }
                failed = failed.min(load);
                self.refused = self.refused.min(load);
                step *= LESS;
                // Far below the full weight its part need not be known well.
                if failed < FAR && self.load > 0.0 {
                    step = step.min(0.5 * (failed - self.load));
                    if failed - self.load <= COARSE * failed {
                        break;
                    }
                }
                continue;
            }
            let steps = self.steps;
            // Where all of the weight is balanced, another rest shape that does so may be stable.
            let holds = self.stable()? || load >= 1.0 && self.steady(ROUNDS, watch)?;
            most += self.steps - steps;
            if holds {
                stable = load;
                step = if lost.is_finite() { 0.5 * (lost - load) } else { 2.0 * step };
                if failed < FAR {
                    step = step.min(0.5 * (failed - load));
                }
            } else {
                if load >= 1.0 {
                    self.unstable = Some(self.rest.clone());
                }
                lost = load;
                self.refused = self.refused.min(load);
                let high = self.point();
                self.return_to(before);
                step = self.guess_lost(&high)? * (lost - self.load);
            }
            if lost.min(failed) - stable <= COARSE * lost.min(failed) && lost.min(failed) < FAR
                || lost.is_finite() && lost - stable <= FINE * lost
            {
                break;
            }
        }
        Ok(stable)
    }

    /// About which part of the way from here to an unstable point stability is lost, by looking between the two rest shapes; a little less, and
    /// at most a half.
    fn guess_lost(&mut self, high: &Point) -> Result<f64, InverseError> {
        let here = self.point();
        let between = |a: &State, b: &State| -> Vec<f64> {
            a.coordinates().iter().zip(b.coordinates()).map(|(a, b)| b - a).collect()
        };
        let (way, turn) = (between(&here.rest, &high.rest), between(&here.x, &high.x));
        let (mut low, mut part) = (0.0, 0.5);
        for _ in 0..GUESSES {
            self.advance(&here, (&turn, &way, &[]), part);
            if self.stable()? {
                low = part;
                break;
            }
            part *= 0.5;
        }
        self.return_to(here);
        Ok(if low > 0.0 { low } else { part })
    }

    /// The rest shape that balances the drawn shape as well as one near the target can, its contacts pressed as they should be.
    ///
    /// Springs carry what soft cloth cannot; the cheaper they are the less the rest shape changes.
    pub(crate) fn nearly(&mut self, watch: &mut Watch<'_>) -> Result<(), InverseError> {
        let (x, rest) = (self.model.start().clone(), self.target.clone());
        let forces = self.contacts.iter().map(|c| c.normal * c.typical).collect();
        let threads = vec![Vec3::zeros(); self.seams.len()];
        self.return_to(Point { x, rest, forces, threads, load: 1.0 });
        let mut left = self.left();
        for _ in 0..NEARLY {
            if !left.largest.is_finite() || !self.tell(&left, watch) {
                break;
            }
            let barriers = self.barriers(FIRM_BARRIER);
            if !self.factorize(&barriers, SPRINGS)? {
                break;
            }
            let Some(level) = self.level(&left) else { break };
            let Some((dx, drest, dforces)) = self.solve(&left, &barriers, true) else { break };
            let start = self.point();
            let mut part = self.allowed((&dx, &drest, &dforces));
            let fallen = loop {
                if part < LEAST_PART {
                    break None;
                }
                self.advance(&start, (&dx, &drest, &dforces), part);
                left = self.left();
                let now = if left.largest.is_finite() { self.level(&left) } else { None };
                if let Some(now) = now.filter(|l| *l < level) {
                    break Some(now / level);
                }
                part *= 0.5;
            };
            let Some(fallen) = fallen else {
                self.return_to(start);
                break;
            };
            if fallen > 0.95 {
                break;
            }
        }
        Ok(())
    }

    /// Carries `load` of the weight if Newton's method gets there; else nothing is changed.
    fn carry(
        &mut self,
        load: f64,
        tolerance: f64,
        watch: &mut Watch<'_>,
    ) -> Result<bool, InverseError> {
        let before = self.point();
        for (c, f) in self.contacts.iter().zip(&mut self.forces) {
            *f = if self.load > 0.0 {
                *f * (load / self.load)
            } else {
                c.normal * (c.typical * load)
            };
        }
        if self.load > 0.0 {
            self.threads.iter_mut().for_each(|f| *f *= load / self.load);
        }
        self.load = load;
        self.model.set_load(load);
        if self.balance(tolerance, CENTRING, watch)? {
            return Ok(true);
        }
        self.return_to(before);
        Ok(false)
    }

    /// Balances what is left with the factor at hand, whose step for it is solved for and has the squared length `level`, as long as squares of steps fall
    /// by `quick`; what is left then. Reference: Deuflhard 2011 (simplified Newton).
    pub(super) fn chord(
        &mut self,
        (mut left, mut level): (Left, f64),
        barriers: &[Barrier],
        tolerance: f64,
        quick: f64,
    ) -> Left {
        for _ in 0..CHORDS {
            let (dx, drest, dforces) = self.step(barriers, false);
            if left.largest <= DEEPER * tolerance || self.allowed((&dx, &drest, &dforces)) < 1.0 {
                break;
            }
            let start = self.point();
            self.advance(&start, (&dx, &drest, &dforces), 1.0);
            let then = self.left();
            let now = if then.largest.is_finite() { self.level(&then) } else { None };
            let Some(now) = now.filter(|l| *l <= quick * level) else {
                if then.largest > left.largest || then.largest.is_nan() {
                    self.return_to(start);
                } else {
                    left = then;
                }
                break;
            };
            (left, level) = (then, now);
        }
        left
    }

    /// Newton's method at the present weight, with some steps that draw forces to the middle of their cones.
    pub(super) fn balance(
        &mut self,
        tolerance: f64,
        most_centring: usize,
        watch: &mut Watch<'_>,
    ) -> Result<bool, InverseError> {
        let mut left = self.left();
        let mut last = f64::INFINITY;
        let mut short = 0;
        for round in 0..NEWTON {
            let rounding = left.largest <= ROUNDING && left.largest > 0.1 * last;
            if left.largest <= tolerance || rounding {
                return Ok(true);
            }
            last = left.largest;
            if !left.largest.is_finite() || !self.tell(&left, watch) {
                return Ok(false);
            }
            let barriers = self.barriers(BARRIER);
            if !self.factorize(&barriers, 0.0)? {
                return Ok(false);
            }
            let Some(level) = self.level(&left) else { return Ok(false) };
            // First to the middle of the cones, then the shortest way to the balance.
            let mut centring = left.largest > 1e-2 && round < most_centring;
            let step = match centring || self.drawn > 0.0 {
                true => self.solve(&left, &barriers, centring),
                false => Some(self.step(&barriers, false)),
            };
            let Some((mut dx, mut drest, mut dforces)) = step else { return Ok(false) };
            if self.shut_before(&dx) {
                continue;
            }
            let mut part = self.allowed((&dx, &drest, &dforces));
            let start = self.point();
            loop {
                if part < LEAST_PART && centring {
                    // Where the balance is all but there, the way to the middle of the cones is much longer than what it has left, and leads away from it.
                    centring = false;
                    self.return_to(start.clone());
                    if self.level(&left).is_none() {
                        return Ok(false);
                    }
                    (dx, drest, dforces) = self.step(&barriers, false);
                    part = self.allowed((&dx, &drest, &dforces));
                    continue;
                }
                if part < SHORT && short >= MOST_SHORT {
                    return Ok(false);
                }
                self.advance(&start, (&dx, &drest, &dforces), part);
                let then = self.left();
                let now = if then.largest.is_finite() { self.level(&then) } else { None };
                let falls = now.is_some_and(|l| l <= (1.0 - 0.5 * part).powi(2) * level);
                if falls || then.largest <= tolerance {
                    short += usize::from(part < SHORT);
                    left = match now {
                        Some(now) if now <= QUICK * level => {
                            self.chord((then, now), &barriers, tolerance, QUICK)
                        }
                        _ => then,
                    };
                    break;
                }
                part *= 0.5;
                if part < LEAST_PART && !centring {
                    self.return_to(start);
                    self.stuck |= left.largest > ROUNDING && left.largest <= STUCK;
                    return Ok(left.largest <= ROUNDING);
                }
            }
        }
        Ok(left.largest <= tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Press;
    use super::*;
    use crate::InverseSettings;
    use crate::gallery::{Skirt, cotton};
    use crate::settle::Carrying;
    use crate::touch::prepare;

    /// What is all but balanced, with forces far from the middle of their cones, is balanced although the way to that middle is long.
    #[test]
    fn a_balance_with_little_left_is_not_given_up_for_the_middle_of_cones() {
        let stiff = cotton(1000.0, 1e-3);
        let skirt = Skirt { rows: 8, around: 20, ..Skirt::default() };
        let garment = skirt.garment(stiff, 0.15, 0.7).unwrap();
        let settings = InverseSettings::default();
        let mut touched = garment.target();
        let touching = prepare(&mut touched, &garment, &settings, 1.0).unwrap();
        let pressed: Vec<Press> = touching
            .contacts
            .iter()
            .map(|c| Press::of(&Carrying::vertex(c.vertex, c.collider, c.normal), &garment))
            .collect();
        let edges: Vec<(u32, u32)> = garment.shells[0]
            .topology
            .edges()
            .iter()
            .map(|e| (e.vertices[0], e.vertices[1]))
            .collect();
        let model = garment.held_model(&touched, &touched, &[], 0.0).unwrap();
        let part = settings.cone_part;
        let mut exact = Exact::new(model, &pressed, &[], &edges, part, None).unwrap();
        let go_on = &mut |_: usize, _: f64, _: f64, _: &dyn Fn() -> Vec<Vec3>| true;
        // Balanced the shortest way, which leaves forces where they are.
        for (k, (c, f)) in exact.contacts.iter().zip(&mut exact.forces).enumerate() {
            *f = c.normal * c.typical * if k % 2 == 0 { 4.0 } else { 0.3 };
        }
        exact.load = 1.0;
        exact.model.set_load(1.0);
        assert!(exact.balance(TOLERANCE, 0, go_on).unwrap());
        // A vertex of the rest shape moves by so little that a few hundredths of a vertex's weight are not balanced.
        let middle = exact.model.unknown(exact.model.vertices()[90]);
        let mut way = vec![0.0; exact.model.len()];
        way[middle] = 1e-7;
        let start = exact.point();
        exact.advance(&start, (&vec![0.0; way.len()], &way, &[]), 1.0);
        let small = exact.left().largest;
        exact.advance(&start, (&vec![0.0; way.len()], &way, &[]), 0.012 / small);
        let left = exact.left().largest;
        assert!((0.01..0.1).contains(&left), "{left}");
        assert!(exact.balance(TOLERANCE, CENTRING, go_on).unwrap());
        assert!(exact.left().largest <= TOLERANCE);
    }
}
