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
/// Factorisations of one step up to which the next is longer.
const EASY: usize = 6;
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

impl Exact {
    /// Brings the search to the target under the full weight by way of cloth that is stiffer against bending; `make` gives a search for a garment
    /// as this one is for `garment`. The least factor of stiffness with which the target was held: 1 where that went well, and only then anything is changed.
    pub(crate) fn soften(
        &mut self,
        garment: &Garment,
        make: &dyn Fn(&Garment) -> Result<Exact, InverseError>,
        watch: &mut Watch<'_>,
    ) -> Result<f64, InverseError> {
        let mut factor = FIRST;
        let mut held = make(&stiffened(garment, factor))?;
        held.steps = self.steps;
        if !held.at_once(watch)? {
            self.steps = held.steps;
            return Ok(f64::INFINITY);
        }
        let mut here = held.point();
        // Where the last point was found, and the one before; at infinite stiffness the target rests as it is.
        let mut before: (f64, State) = (0.0, self.target.clone());
        let mut ratio = RATIO;
        // Whether the last two points say where the next one is: not where a rest shape was changed to make it stable.
        let mut smooth = true;
        let mut stopped = held.stopped;
        let most = held.steps + MOST_STEPS;
        while factor > 1.0 && ratio >= LEAST_RATIO && held.steps < most && !stopped {
            let next = (factor / ratio).max(1.0);
            let mut softer = make(&stiffened(garment, next))?;
            softer.steps = held.steps;
            let start = held.steps;
            softer.return_to(here.clone());
            // κ̄ is linear in 1/D.
            let way = match smooth {
                true => (1.0 / next - 1.0 / factor) / (1.0 / factor - before.0),
                false => 0.0,
            };
            let change: Vec<f64> = here
                .rest
                .coordinates()
                .iter()
                .zip(before.1.coordinates())
                .map(|(now, then)| now - then)
                .collect();
            here.rest.advanced_into(&change, way, &mut softer.rest);
            softer.model.set_rest(&softer.rest);
            let balanced = softer.balance(TOLERANCE, 0, watch)?;
            let stable = balanced && softer.stable()?;
            let there = stable || balanced && softer.steady(ROUNDS, watch)?;
            stopped = softer.stopped;
            held.steps = softer.steps;
            if there {
                before = (1.0 / factor, here.rest.clone());
                here = softer.point();
                factor = next;
                if softer.steps - start <= EASY {
                    ratio = (1.5 * ratio).min(MOST_RATIO);
                } else if !stable {
                    ratio = ratio.sqrt();
                }
                smooth = stable;
            } else if smooth {
                // From the point itself first, before a shorter way is tried.
                smooth = false;
            } else {
                ratio = ratio.sqrt();
            }
        }
        self.steps = held.steps;
        if factor <= 1.0 {
            let Point { x, rest, forces, threads, .. } = here;
            self.return_to(Point { x, rest, forces, threads, load: 1.0 });
        }
        Ok(factor)
    }
}
