//! The way to soft cloth from stiffer cloth, the full weight on it.
//!
//! Soft cloth hangs by its tension: with a part of its weight it would have a part of that, and a target that is stable under all of it may
//! have no stable rest shape on the way there. Cloth that only bends less easily keeps its tension. If a rest shape holds the target with moments
//! m = D (κ − κ̄), one with the same forces and moments holds it for every greater D, and more stably. So D comes down from where
//! the target is held without trouble to what it is; curvatures of the rest shape go as 1/D, by which each point is predicted from the two before.

use toile_sim::{ShellMaterial, State};

use super::steady::ROUNDS;
use super::{Exact, Point, TOLERANCE, Watch};
use crate::{Garment, InverseError};

/// How much stiffer in bending the cloth is at first.
const FIRST: f64 = 100.0;
/// Factor by which it gets softer at first, at most, and at least.
const RATIO: f64 = 2.5;
const MOST_RATIO: f64 = 2.5;
const LEAST_RATIO: f64 = 1.03;
/// The same where the shape yields: it has to be made stable at every step, then, and few modes are lost in a short one.
const YIELDING_RATIO: f64 = 1.1;
const MOST_YIELDING: f64 = 1.3;
const LEAST_YIELDING: f64 = 1.01;
const MOST_YIELDING_STEPS: usize = 800;
/// Rounds in which such a step is made stable at most: where it takes more, two shorter ones are quicker.
const FEW_ROUNDS: usize = 10;
/// Ratio up to which it is worth more.
const SHORT: f64 = 1.06;
/// Way from the target beyond which a shape that yields is not what was asked for, in units of length.
const FARTHEST: f64 = 30.0;
/// Factorisations of one such step beyond which the next is shorter.
const HARD: usize = 30;
/// Factorisations of one step up to which the next is longer, and by which power of its ratio where the shape yields.
const EASY: usize = 6;
const LONGER: f64 = 1.4;
const A_LITTLE: f64 = 1.2;
/// Factorisations of a step in which the shape is drawn to the target up to which that is worth it, and by what it is drawn less or more the next time.
const WORTH: usize = 12;
const LESS: f64 = 0.3;
const MORE: f64 = 1.7;
const LEAST_PULL: f64 = 0.02;
/// Part of the way below which it is not that what makes a step fail.
const FAINT: f64 = 0.1;
/// Factorisations on the way at most.
const MOST_STEPS: usize = 250;

/// The garment with all stiffnesses against bending multiplied.
fn stiffened(garment: &Garment, factor: f64) -> Garment {
    let mut stiff = garment.clone();
    for shell in &mut stiff.shells {
        match &mut shell.material {
            ShellMaterial::Koiter { stiffness, .. } => {
                stiffness.bending.iter_mut().for_each(|b| *b *= factor);
            }
            ShellMaterial::DiscreteShells { k_bend, .. }
            | ShellMaterial::HingedMembrane { k_bend, .. } => *k_bend *= factor,
        }
    }
    stiff
}

/// The softest cloth that was held on the way, and how.
#[derive(Clone)]
pub(crate) struct Softened {
    /// By how much it is stiffer against bending than the cloth is.
    pub(crate) factor: f64,
    here: Point,
    /// The point before, and one over its factor; at infinite stiffness the target rests as it is.
    before: (f64, Point),
}

impl Softened {
    /// Where it was held.
    pub(super) fn point(&self) -> &Point {
        &self.here
    }
}

/// Gives a search for a garment.
pub(crate) type Make<'a> = dyn Fn(&Garment) -> Result<Exact, InverseError> + 'a;

impl Exact {
    /// Holds the target under the full weight with cloth that is stiffer against bending, and makes that softer as far as it goes; `make` gives a search for a
    /// garment as this one is for `garment`. The softest with which the target was held, if any; where that is as soft as it should be, the search is there, and
    /// only then anything is changed. At a factor of `enough` the first failure ends it.
    pub(crate) fn soften(
        &mut self,
        (garment, enough): (&Garment, f64),
        make: &Make<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Softened>, InverseError> {
        let mut held = make(&stiffened(garment, FIRST))?;
        held.steps = self.steps;
        let there = held.at_once(watch)?;
        self.steps = held.steps;
        if !there {
            return Ok(None);
        }
        let target = Point { rest: self.target.clone(), ..held.point() };
        let mut softened = Softened { factor: FIRST, here: held.point(), before: (0.0, target) };
        if !held.stopped {
            self.soften_on(&mut softened, (garment, enough), make, watch)?;
        }
        Ok(Some(softened))
    }

    /// Makes held cloth softer as far as it goes; where that is as soft as it should be, the search is there.
    ///
    /// At a factor of `enough` the first failure ends it.
    pub(crate) fn soften_on(
        &mut self,
        softened: &mut Softened,
        (garment, enough): (&Garment, f64),
        make: &Make<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<(), InverseError> {
        let Softened { factor, here, before } = softened;
        let moving = !self.shape.is_empty();
        let (mut ratio, least_ratio, most_ratio, most) = match moving {
            true => (YIELDING_RATIO, LEAST_YIELDING, MOST_YIELDING, MOST_YIELDING_STEPS),
            false => (RATIO, LEAST_RATIO, MOST_RATIO, MOST_STEPS),
        };
        // Whether the last two points say where the next one is: not where a rest shape was changed to make it stable.
        let mut smooth = true;
        let mut stopped = false;
        let mut modes = Vec::new();
        let mut failed = false;
        // Part of the way to the target that the shape is drawn at the same time, and whether it is in the next step.
        let (mut pull, mut eager) = (1.0f64, moving);
        let most = self.steps + most;
        while *factor > 1.0 && ratio >= least_ratio && self.steps < most && !stopped {
            let next = (*factor / ratio).max(1.0);
            let mut softer = make(&stiffened(garment, next))?;
            let start = self.steps;
            softer.steps = start;
            softer.return_to(here.clone());
            if moving {
                let price = softer.shape.clone();
                softer.mind_far(&price);
            }
            if smooth {
                // κ̄ is linear in 1/D.
                let way = (1.0 / next - 1.0 / *factor) / (1.0 / *factor - before.0);
                let ahead = |now: &State, then: &State, to: &mut State| {
                    let both = now.coordinates().iter().zip(then.coordinates());
                    let change: Vec<f64> = both.map(|(now, then)| now - then).collect();
                    now.advanced_into(&change, way, to);
                };
                ahead(&here.rest, &before.1.rest, &mut softer.rest);
                if !softer.shape.is_empty() {
                    ahead(&here.x, &before.1.x, &mut softer.x);
                }
                softer.model.set_rest(&softer.rest);
            }
            softer.modes.clone_from(&modes);
            let drawn = std::mem::take(&mut eager);
            softer.drawn = if drawn { pull } else { 0.0 };
            let rounds = if moving && ratio > SHORT { FEW_ROUNDS } else { ROUNDS };
            // A shape that yields is balanced and made stable in the same steps: balanced alone, it would lose what it has of stability.
            let balanced = moving || softer.balance(TOLERANCE, 0, watch)?;
            let stable = !moving && balanced && softer.stable()?;
            let there = stable || balanced && softer.steady(rounds, watch)?;
            stopped = softer.stopped;
            self.steps = softer.steps;
            eager = moving && there;
            // What costs much stability is made good by many steps: it is drawn less the next time.
            if drawn {
                let much = !there || self.steps - start > WORTH;
                pull = if much { (LESS * pull).max(LEAST_PULL) } else { (MORE * pull).min(1.0) };
            }
            if there {
                *before = (1.0 / *factor, here.clone());
                *here = softer.point();
                *factor = next;
                let taken = softer.steps - start;
                ratio = match moving {
                    false if taken <= EASY => (1.5 * ratio).min(most_ratio),
                    false if stable => ratio,
                    // After a step that was too long the next one is not longer.
                    true if taken <= EASY && !failed => ratio.powf(LONGER).min(most_ratio),
                    true if taken <= WORTH && !failed => ratio.powf(A_LITTLE).min(most_ratio),
                    true if taken <= HARD => ratio,
                    true => ratio.sqrt().max(SHORT),
                    false => ratio.sqrt(),
                };
                failed = false;
                modes = std::mem::take(&mut softer.modes);
                smooth = stable;
                if moving && softer.away().0 > FARTHEST * softer.length {
                    break;
                }
            } else if smooth || drawn && pull > FAINT {
                // From the point itself and not towards the target first, before a shorter way is tried.
                smooth = false;
            } else {
                ratio = ratio.sqrt();
                failed = true;
                if *factor <= enough {
                    break;
                }
            }
        }
        if *factor <= 1.0 {
            self.take(softened);
        }
        Ok(())
    }

    /// Goes to where held cloth is.
    pub(crate) fn take(&mut self, softened: &Softened) {
        self.return_to(Point { load: 1.0, ..softened.here.clone() });
    }
}
