//! The way to the target from an equilibrium under the full weight.
//!
//! Soft cloth does not bear its weight bit by bit: with a part of it, a target may have no stable rest shape although it has one with all.
//! Here the weight stays and the shape moves, on a straight line from one with which the cloth is known to rest to the target;
//! the rest shape follows. Every point of the way is an exact and stable equilibrium, forces inside cones that are wider
//! than the true ones until the end of the way, where they narrow to them: a step is predicted along the tangent, brought back by Newton's method, and made stable again where it is not.

use toile_geometry::Vec3;
use toile_sim::State;

use super::steady::ROUNDS;
use super::{BARRIER, Exact, TOLERANCE, Watch};
use crate::InverseError;

/// Factorisations at most: on the way, and while cones narrow.
const MOST_STEPS: [usize; 2] = [800, 300];
/// Least part of the way worth going.
const LEAST_STEP: f64 = 1e-3;
/// Factorisations of one step after which the next is no longer.
const EASY: usize = 7;
/// How far cones are moved back on the way, in units of the normal force that is aimed at: forces that may pull a little leave the
/// rest shape more ways to follow.
const WIDENED: f64 = 1.0;

impl Exact {
    /// Goes from an equilibrium `x` with the rest shape `rest` under the full weight, its contacts where the target has them and carrying
    /// `forces` \[N\], towards the target; the part of the way that was gone, which is where the search is then, with wider cones than the true ones.
    pub(crate) fn follow(
        &mut self,
        x: &State,
        rest: &State,
        forces: &[Vec3],
        watch: &mut Watch<'_>,
    ) -> Result<f64, InverseError> {
        self.stopped = false;
        let forces: Vec<Vec3> = forces.iter().map(|f| f / self.force).collect();
        let threads = vec![Vec3::zeros(); self.seams.len()];
        self.return_to(super::Point {
            x: x.clone(),
            rest: rest.clone(),
            forces,
            threads,
            load: 1.0,
        });
        self.widen();
        let way = self.way();
        let none = vec![0.0; self.contacts.len()];
        self.true_cones = false;
        self.walk(&way, &none, self.steps + MOST_STEPS[0], watch)
    }

    /// Narrows the cones to the true ones where the way ended; [`Exact::true_cones`] says whether that went well.
    pub(crate) fn narrow(&mut self, watch: &mut Watch<'_>) -> Result<(), InverseError> {
        self.stopped = false;
        let widened: Vec<f64> = self.contacts.iter().map(|c| c.shift).collect();
        let still = vec![0.0; self.model.len()];
        let narrowed = self.walk(&still, &widened, self.steps + MOST_STEPS[1], watch)?;
        self.true_cones = narrowed >= 1.0;
        Ok(())
    }

    /// Goes a way with the shape while cones narrow by what they are widened, over stable points only; the part that was gone.
    fn walk(
        &mut self,
        way: &[f64],
        widened: &[f64],
        most: usize,
        watch: &mut Watch<'_>,
    ) -> Result<f64, InverseError> {
        let fixed: Vec<f64> = self.contacts.iter().zip(widened).map(|(c, w)| c.shift - w).collect();
        let (mut gone, mut step) = (0.0f64, 1.0f64);
        while gone < 1.0 && step >= LEAST_STEP && self.steps < most && !self.stopped {
            let before = self.point();
            let steps = self.steps;
            let longest = step.min(1.0 - gone);
            let Some(part) = self.predict(way, widened, longest)? else { break };
            let left = (1.0 - gone - part).max(0.0);
            for ((c, w), fixed) in self.contacts.iter_mut().zip(widened).zip(&fixed) {
                c.shift = fixed + w * left;
            }
            let there = self.balance(TOLERANCE, 0, watch)?
                && (self.stable()? || self.steady(ROUNDS, watch)?);
            if there {
                // The last part must end at one, whatever the rounding.
                gone = if part >= 1.0 - gone { 1.0 } else { gone + part };
                step = if self.steps - steps <= EASY { 2.0 * part } else { part };
            } else {
                self.return_to(before);
                for ((c, w), fixed) in self.contacts.iter_mut().zip(widened).zip(&fixed) {
                    c.shift = fixed + w * (1.0 - gone);
                }
                step = 0.3 * part;
            }
        }
        Ok(gone)
    }

    /// Moves all cones back, and those with forces outside until all are inside.
    fn widen(&mut self) {
        for (c, f) in self.contacts.iter_mut().zip(&self.forces) {
            c.shift = 0.0;
            c.shift = WIDENED * c.typical + (-c.depth(f) / c.friction).max(0.0);
        }
    }

    /// From where the shape is to the target; edge angles are found on the way.
    fn way(&self) -> Vec<f64> {
        let goal = self.model.start().coordinates();
        let mut way: Vec<f64> =
            goal.iter().zip(self.x.coordinates()).map(|(goal, x)| goal - x).collect();
        for (&f, &size) in self.model.first_unknowns().iter().zip(&self.model.graph().sizes) {
            if size != 3 {
                way[f..f + size as usize].fill(0.0);
            }
        }
        way
    }

    /// Goes up to `part` of the way along the tangent; how much of it that was.
    ///
    /// As cones narrow, forces move along with their tips, so that they stay as deep inside as they are.
    fn predict(
        &mut self,
        way: &[f64],
        widened: &[f64],
        part: f64,
    ) -> Result<Option<f64>, InverseError> {
        let barriers = self.barriers(BARRIER);
        if !self.factorize(&barriers, 0.0)? {
            return Ok(None);
        }
        let mut pull = vec![0.0; self.model.len()];
        self.model.pattern().multiply(&self.hessian, way, &mut pull);
        self.kkt.rhs.fill(0.0);
        let levers = self.model.levers();
        for (v, &f) in self.model.first_unknowns().iter().enumerate() {
            let (_, _, multiplier) = self.kkt.at(v);
            for k in 0..self.model.graph().sizes[v] as usize {
                if !self.pinned[f + k] {
                    self.kkt.rhs[multiplier + k] = -pull[f + k] / (levers[f + k] * self.force);
                }
            }
        }
        for (c, shift) in self.contacts.iter().zip(widened) {
            for &(node, weight) in &c.carriers {
                let (_, _, multiplier) = self.kkt.at(node);
                for k in 0..3 {
                    self.kkt.rhs[multiplier + k] += weight * shift * c.normal[k];
                }
            }
        }
        if !self.kkt.solve() {
            return Ok(None);
        }
        let (mut dx, drest, mut dforces) = self.step(&barriers, false);
        dx.iter_mut().zip(way).for_each(|(d, w)| *d += w);
        let part = part.min(self.allowed((&dx, &drest, &dforces)));
        for ((d, c), shift) in dforces.iter_mut().zip(&self.contacts).zip(widened) {
            *d += c.normal * *shift;
        }
        let here = self.point();
        self.advance(&here, (&dx, &drest, &dforces), part);
        Ok(Some(part))
    }
}

#[cfg(test)]
mod tests {
    use toile_sim::{ShellMaterial, relax};
    use toile_solve::NewtonSettings;

    use super::super::Press;
    use super::*;
    use crate::InverseSettings;
    use crate::design::extent;
    use crate::gallery::Skirt;
    use crate::touch::prepare;

    /// A skirt made as drawn sags; its contacts pull then. From there the rest shape follows the skirt to where it was drawn, over stable equilibria, and the contacts
    /// end inside their true cones.
    #[test]
    fn the_rest_shape_follows_a_skirt_from_where_it_sags_to_where_it_was_drawn() {
        let felt = ShellMaterial::DiscreteShells { k_length: 0.8, k_area: 0.0, k_bend: 5e-3 };
        let skirt = Skirt { rows: 8, around: 16, ..Skirt::default() };
        let garment = skirt.garment(felt, 0.05, 0.7).unwrap();
        let settings = InverseSettings::default();
        let mut drawn = garment.target();
        let size = extent(&drawn);
        let touching = prepare(&mut drawn, &garment, &settings, size).unwrap();
        let (mut model, _) = garment.model(&drawn, &drawn).unwrap();
        let first = |v: u32| model.unknown(model.vertices()[v as usize]);
        let held: Vec<usize> = touching.contacts.iter().map(|c| first(c.vertex)).collect();
        held.iter().for_each(|&i| (i..i + 3).for_each(|k| model.set_fixed(k, true)));
        let newton = NewtonSettings { tolerance: 1e-8, ..NewtonSettings::default() };
        let sagged = relax(&model, model.start(), &newton, |_| true).unwrap().point;
        let mut gradient = vec![0.0; model.len()];
        model.gradient(&sagged, &mut gradient);
        let forces: Vec<Vec3> =
            held.iter().map(|&i| Vec3::from_column_slice(&gradient[i..i + 3])).collect();
        let (model, _) = garment.model(&drawn, &drawn).unwrap();
        let way = model.positions(&sagged).into_iter().zip(&drawn).map(|(a, b)| (a - b).norm());
        let way = way.fold(0.0, f64::max);
        assert!(way > 5e-3 * size, "it sags by {way} m");
        let edges: Vec<(u32, u32)> = garment.shells[0]
            .topology
            .edges()
            .iter()
            .map(|e| (e.vertices[0], e.vertices[1]))
            .collect();
        let pressed: Vec<Press> = touching.contacts.iter().map(Press::from).collect();
        let rest = model.rest().clone();
        let mut exact = Exact::new(model, &pressed, &[], &edges, settings.cone_part, None).unwrap();
        // Some contacts pull or slip where it sags.
        let outside = exact.contacts.iter().zip(&forces).filter(|(c, f)| c.depth(f) < 0.0).count();
        assert!(outside > 0);
        let mut points = 0;
        let mut watch = |_: usize, _: f64, _: f64, _: &dyn Fn() -> Vec<Vec3>| {
            points += 1;
            true
        };
        let gone = exact.follow(&sagged, &rest, &forces, &mut watch).unwrap();
        assert_eq!(gone, 1.0);
        assert!(!exact.true_cones);
        exact.narrow(&mut watch).unwrap();
        assert!(exact.true_cones && exact.stable().unwrap());
        assert!(exact.left().largest <= 1e-7, "{}", exact.left().largest);
        let (now, goal) = (exact.positions(&exact.x), &drawn);
        let off = now.iter().zip(goal).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(off < 1e-12 * size, "{off} m from where it was drawn");
        assert!(exact.contacts.iter().zip(&exact.forces).all(|(c, f)| c.depth(f) > 0.0));
        assert!(points > 0);
    }
}
