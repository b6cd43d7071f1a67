//! A rod described apart from its elements, and its equilibrium to a given accuracy.

use crate::RodError;
use crate::element::Model;
use crate::rod::{Clamp, Loads, NaturalCurvature, Rod, Section, Station};
use crate::rotation::Vec3;
use crate::statics::{RodEquilibrium, StaticSettings, equilibrium, equilibrium_from};

/// A rod whose elements are not chosen yet.
#[derive(Clone, Debug, PartialEq)]
pub struct RodSpec {
    /// How the curvature varies along an element.
    pub model: Model,
    /// Length \[m\].
    pub length: f64,
    /// Stiffness and mass.
    pub section: Section,
    /// Where it is held.
    pub clamp: Clamp,
    /// Its shape without load.
    pub natural: NaturalCurvature,
    /// Whether it is kept in the plane of d₂ and d₃.
    pub planar: bool,
}

/// An equilibrium with its discretisation.
#[derive(Clone, Debug)]
pub struct RefinedEquilibrium {
    /// The rod with the elements that were needed.
    pub rod: Rod,
    /// Its equilibrium.
    pub equilibrium: RodEquilibrium,
    /// Estimated error of positions over the length and of frames at 21 stations; `None` if the elements were kept.
    pub error: Option<f64>,
}

/// Times the elements may be halved: super-helices of second order need seven for six more digits than one per cent.
const MOST_HALVINGS: usize = 7;

/// Stations at which solutions on different elements are compared.
const COMPARED: usize = 21;

impl RodSpec {
    /// The rod with equal elements.
    pub fn build(&self, elements: usize) -> Result<Rod, RodError> {
        let rod = Rod::new(self.model, elements, self.length, self.section, self.clamp)?;
        Ok(rod.with_natural_curvature(&self.natural)?.with_planar(self.planar))
    }

    /// The rod with equal elements, cut where others grow from it: at these parts of its length. Also returns their joints.
    pub fn build_cut(&self, elements: usize, at: &[f64]) -> Result<(Rod, Vec<usize>), RodError> {
        let whole = self.build(elements)?;
        let edge = self.length / elements as f64;
        let mut cuts: Vec<f64> = (0..=elements).map(|i| edge * i as f64).collect();
        // A cut beside a joint is that joint.
        let near = |cuts: &[f64], s: f64| cuts.iter().position(|c| (c - s).abs() < 1e-6 * edge);
        for part in at {
            let s = part.clamp(0.0, 1.0) * self.length;
            if near(&cuts, s).is_none() {
                cuts.push(s);
            }
        }
        cuts.sort_by(f64::total_cmp);
        let lengths: Vec<f64> = cuts.windows(2).map(|w| w[1] - w[0]).collect();
        let rod = Rod::with_lengths(self.model, lengths, self.section, *whole.clamp())?
            .with_natural_curvature(&self.natural)?
            .with_planar(self.planar);
        let joint = |part: &f64| near(&cuts, part.clamp(0.0, 1.0) * self.length).unwrap_or(0);
        Ok((rod, at.iter().map(joint).collect()))
    }

    /// Equilibrium on `elements` elements, halved until the estimated error at 21 stations, of positions over the length and
    /// of frames, is at most `accuracy`; 0 keeps the elements.
    ///
    /// The error falls with the fourth power of the elements' length for super-clothoids and with the second for
    /// super-helices, so the difference of two solutions over 15 or 3 estimates that of the finer.
    pub fn equilibrium(
        &self,
        elements: usize,
        loads: &Loads,
        accuracy: f64,
        settings: &StaticSettings,
    ) -> Result<RefinedEquilibrium, RodError> {
        let rod = self.build(elements)?;
        let found = equilibrium(&rod, loads, settings)?;
        let mut best = RefinedEquilibrium { rod, equilibrium: found, error: None };
        if accuracy.is_nan() || accuracy <= 0.0 {
            return Ok(best);
        }
        let order_factor = match self.model {
            Model::SuperHelix => 3.0,
            Model::SuperClothoid => 15.0,
        };
        let mut before = best.rod.equal_stations(&best.equilibrium.q, COMPARED);
        for _ in 0..MOST_HALVINGS {
            let finer = self.build(2 * best.rod.lengths().len())?;
            let start = resampled(&best.rod, &best.equilibrium.q, &finer);
            let mut found = equilibrium_from(&finer, start, 1.0, loads, settings)?;
            if !found.certificate.certified && best.equilibrium.certificate.certified {
                found = equilibrium(&finer, loads, settings)?;
            }
            found.steps += best.equilibrium.steps;
            found.escapes += best.equilibrium.escapes;
            let now = finer.equal_stations(&found.q, COMPARED);
            let error = difference(&before, &now, self.length) / order_factor;
            best = RefinedEquilibrium { rod: finer, equilibrium: found, error: Some(error) };
            if error <= accuracy {
                break;
            }
            before = now;
        }
        Ok(best)
    }
}

/// The curvatures of one rod read off at the unknowns of another of the same length.
pub(crate) fn resampled(from: &Rod, q: &[Vec3], to: &Rod) -> Vec<Vec3> {
    let mut s = 0.0;
    let mut out = Vec::with_capacity(to.blocks());
    if to.model() == Model::SuperClothoid {
        out.push(from.curvature(q, 0.0));
    }
    for l in to.lengths() {
        let at = if to.model() == Model::SuperClothoid { s + l } else { s + 0.5 * l };
        out.push(from.curvature(q, at));
        s += l;
    }
    out
}

fn difference(a: &[Station], b: &[Station], length: f64) -> f64 {
    let one = |(a, b): (&Station, &Station)| {
        let moved = (a.position - b.position).norm() / length;
        moved.max((a.frame - b.frame).amax())
    };
    a.iter().zip(b).map(one).fold(0.0, f64::max)
}
