//! Whether a shape of a rod is a stable equilibrium, in figures.

use crate::RodError;
use crate::forms::{Mix, Shape};
use crate::rod::{Loads, Rod};
use crate::rotation::Vec3;
use crate::statics::{Body, Factor, any_change, dot, evaluate_held};

/// Residual up to which an equilibrium is certified, as for shells.
pub const CERTIFIED_RESIDUAL: f64 = 1e-8;

/// Part of the elastic stiffness below which a motion is neither resisted nor a fall: a straight round rod that bends over may do so to any side.
const NEUTRAL: f64 = 1e-9;

/// What can be said about a static shape of a rod.
#[derive(Clone, Debug, PartialEq)]
pub struct RodCertificate {
    /// Largest force that is not balanced, over the weight of a mean joint.
    pub residual: f64,
    /// The same in newtons: moments that are not balanced over the length of an element.
    pub residual_n: f64,
    /// Least eigenvalue of the stiffness against the mass \[1/s²\].
    pub stability: Option<f64>,
    /// Least eigenvalue of the stiffness against its elastic part: 1 without load, 0 where stability is lost.
    pub margin: f64,
    /// Directions in which the shape would fall.
    pub negative_modes: usize,
    /// Diagonal of the box around the rod \[m\].
    pub size: f64,
    /// Whether all figures are within their limits.
    pub certified: bool,
    /// Why, or why not, in words.
    pub reason: String,
}

impl RodCertificate {
    /// "certified" or "not certified".
    pub fn verdict(&self) -> &'static str {
        if self.certified { "certified" } else { "not certified" }
    }
}

/// Judges a shape under dead loads.
pub fn certify(rod: &Rod, q: &[Vec3], loads: &Loads) -> Result<RodCertificate, RodError> {
    certify_held(rod, q, loads, &[])
}

/// Judges a shape that contact forces at its joints help to hold \[N\], clamp first.
///
/// Stability counts the forces as dead: contacts that stick hold more than that, so what is stable here is stable with them.
pub(crate) fn certify_held(
    rod: &Rod,
    q: &[Vec3],
    loads: &Loads,
    at_joints: &[Vec3],
) -> Result<RodCertificate, RodError> {
    rod.check_blocks(q)?;
    let point = evaluate_held(rod, q, loads, at_joints, true);
    let residual_n = residual_n(rod, &point.gradient);
    let residual = residual_n / force_unit(rod, loads);
    let size = size(rod, q);
    Ok(judged(rod, &point.shape, residual, residual_n, size))
}

/// The certificate of a shape whose forces are known.
pub(crate) fn judged<B: Body>(
    body: &B,
    shape: &B::Shape,
    residual: f64,
    residual_n: f64,
    size: f64,
) -> RodCertificate {
    let modes = Modes { body, shape };
    let negative_modes = modes.below(Pencil::Elastic, -NEUTRAL);
    let margin = modes.least(Pencil::Elastic).unwrap_or(f64::NAN);
    let stability = modes.least(Pencil::Mass);
    let stable = negative_modes == 0 && margin > NEUTRAL;
    let certified = residual <= CERTIFIED_RESIDUAL && stable;
    let balance = if residual <= CERTIFIED_RESIDUAL {
        format!("forces balance to {residual:.1e} of a joint's weight")
    } else {
        format!(
            "forces do not balance: {residual:.1e} of a joint's weight ({residual_n:.1e} N) is left where \
             {CERTIFIED_RESIDUAL:.0e} is asked; use more elements or allow more steps"
        )
    };
    let reason = if stable {
        format!("{balance}; every small motion is resisted")
    } else if negative_modes > 0 {
        format!("{balance}; but it is unstable: {negative_modes} way(s) to fall")
    } else {
        format!(
            "{balance}; but some motion is hardly resisted: {margin:.1e} of its elastic stiffness is left"
        )
    };
    RodCertificate {
        residual,
        residual_n,
        stability,
        margin,
        negative_modes,
        size,
        certified,
        reason,
    }
}

/// Largest moment that is not balanced, over the length of its element \[N\].
pub(crate) fn residual_n(rod: &Rod, gradient: &[Vec3]) -> f64 {
    let mean = rod.length() / rod.lengths().len() as f64;
    // A block's gradient is a moment integrated over its shape function.
    let mut share = vec![0.0; rod.blocks()];
    for (e, l) in rod.lengths().iter().enumerate() {
        let blocks = rod.blocks_of(e);
        let parts = if blocks[0].is_some() { [0.5, 0.5] } else { [0.0, 1.0] };
        for (block, part) in blocks.iter().zip(parts) {
            if let Some(block) = block {
                share[*block] += part * l;
            }
        }
    }
    let mut largest = 0.0f64;
    for (g, share) in gradient.iter().zip(&share) {
        let force = g.amax() / (share * mean);
        if !force.is_finite() {
            return f64::INFINITY;
        }
        largest = largest.max(force);
    }
    largest
}

/// Weight (or load) of a mean joint; the force that bends the rod by a radian where nothing pulls \[N\].
pub(crate) fn force_unit(rod: &Rod, loads: &Loads) -> f64 {
    let joints = rod.lengths().len() as f64 + 1.0;
    let load = loads.per_length.norm() * rod.length() + loads.tip.norm();
    if load > 0.0 {
        return load / joints;
    }
    rod.section().stiffness().max() / rod.length().powi(2) / joints
}

fn size(rod: &Rod, q: &[Vec3]) -> f64 {
    let stations = rod.equal_stations(q, 2 * rod.lengths().len() + 1);
    let (mut low, mut high) = (stations[0].position, stations[0].position);
    for s in &stations {
        low = low.inf(&s.position);
        high = high.sup(&s.position);
    }
    (high - low).norm()
}

/// What the stiffness is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pencil {
    /// The elastic stiffness: dimensionless, positive definite.
    Elastic,
    /// The mass: \[1/s²\], blind to twist of a straight stretch.
    Mass,
}

impl Pencil {
    /// The stiffness less λ times what it is measured against.
    fn shifted(self, lambda: f64) -> Mix {
        match self {
            Self::Elastic => Mix { mass: 0.0, elastic: 1.0 - lambda, geometric: 1.0 },
            Self::Mass => Mix { mass: -lambda, elastic: 1.0, geometric: 1.0 },
        }
    }

    /// What the stiffness is measured against.
    fn measure(self) -> Mix {
        match self {
            Self::Elastic => Mix { mass: 0.0, elastic: 1.0, geometric: 0.0 },
            Self::Mass => Mix { mass: 1.0, elastic: 0.0, geometric: 0.0 },
        }
    }
}

/// Eigenvalues of a shape, by counting pivots: linear time each, no iteration that could miss one.
pub(crate) struct Modes<'a, B: Body> {
    pub(crate) body: &'a B,
    pub(crate) shape: &'a B::Shape,
}

impl<B: Body> Modes<'_, B> {
    /// Eigenvalues below λ.
    pub(crate) fn below(&self, pencil: Pencil, lambda: f64) -> usize {
        self.body.factorise(self.shape, pencil.shifted(lambda)).not_positive()
    }

    fn unit(&self, pencil: Pencil) -> f64 {
        let (stiffness, density) = self.body.scales();
        match pencil {
            Pencil::Elastic => 1.0,
            Pencil::Mass => stiffness / (density * self.body.length().powi(4)),
        }
    }

    /// The least eigenvalue to ten digits; `None` where there is none, as below a massless fall.
    pub(crate) fn least(&self, pencil: Pencil) -> Option<f64> {
        self.eigenvalue(pencil, 0)
    }

    /// The eigenvalue with `index` others below it.
    pub(crate) fn eigenvalue(&self, pencil: Pencil, index: usize) -> Option<f64> {
        let unit = self.unit(pencil);
        let (mut low, mut high);
        if self.below(pencil, 0.0) > index {
            (low, high) = (-unit, 0.0);
            while self.below(pencil, low) > index {
                (low, high) = (low * 4.0, low);
                if low < -1e20 * unit {
                    return None;
                }
            }
        } else {
            (low, high) = (0.0, unit);
            while self.below(pencil, high) <= index {
                (low, high) = (high, high * 4.0);
                // Against the elastic stiffness all may be above: without load all are 1.
                if high > 1e20 * unit {
                    return None;
                }
            }
        }
        if index == 0 {
            (low, high) = self.narrowed(pencil, low, high);
        }
        for _ in 0..200 {
            if high - low <= self.fine(pencil, low, high) {
                break;
            }
            let middle = 0.5 * (low + high);
            if self.below(pencil, middle) > index { high = middle } else { low = middle }
        }
        Some(0.5 * (low + high))
    }

    /// Width of a bracket that is narrow enough.
    fn fine(&self, pencil: Pencil, low: f64, high: f64) -> f64 {
        1e-11 * (low.abs() + high.abs()) + 1e-14 * self.unit(pencil)
    }

    /// Narrows a bracket of the least eigenvalue: inverse iteration from its lower end tells about where it is, pivots beside that prove it.
    fn narrowed(&self, pencil: Pencil, mut low: f64, mut high: f64) -> (f64, f64) {
        let measured = |x: &[Vec3]| self.body.product(self.shape, pencil.measure(), x);
        let mut x: Option<Vec<Vec3>> = None;
        let mut doubt = 2.0;
        for _ in 0..NARROWED {
            let factor = self.body.factorise(self.shape, pencil.shifted(low));
            let begin = |x: &mut Option<Vec<Vec3>>| match x.take() {
                Some(x) => Some(x),
                None => measured(&any_change(factor.blocks())),
            };
            let Some(mut right) = begin(&mut x).filter(|_| factor.not_positive() == 0) else {
                return (low, high);
            };
            let (mut guess, mut change) = (high, f64::INFINITY);
            for _ in 0..ITERATED {
                let y = factor.solve(&right);
                let Some(mut next) = measured(&y) else { return (low, high) };
                let size = dot(&y, &next);
                let found = low + dot(&y, &right) / size;
                if !(size > 0.0 && found.is_finite()) {
                    return (low, high);
                }
                next.iter_mut().for_each(|x| *x /= size.sqrt());
                (change, guess, right) = ((found - guess).abs(), found, next);
                if change <= 0.1 * self.fine(pencil, guess, guess) {
                    break;
                }
            }
            x = Some(right);
            // What is found lies above the eigenvalue, by about how much it still changes; by more where others are near.
            let fine = 0.4 * self.fine(pencil, guess, guess);
            let under = guess - (doubt * change).max(fine);
            let under = if under > low { under } else { 0.5 * (low + guess) };
            for at in [under, guess + fine] {
                if at > low && at < high {
                    if self.below(pencil, at) > 0 { high = at } else { low = at }
                }
            }
            doubt *= if low < under { 8.0 } else { 1.0 };
            if high - low <= self.fine(pencil, low, high) {
                break;
            }
        }
        (low, high)
    }
}

/// Rounds of inverse iteration from a better and better place, and steps of each.
const NARROWED: usize = 8;
const ITERATED: usize = 8;

/// The lowest angular frequencies of small motions about a shape \[rad/s\].
///
/// Against the mass without its massless directions; fewer than asked where the rod has fewer.
pub fn frequencies(
    rod: &Rod,
    q: &[Vec3],
    loads: &Loads,
    count: usize,
) -> Result<Vec<f64>, RodError> {
    rod.check_blocks(q)?;
    let shape = Shape::new(rod, q, loads, true);
    let modes = Modes { body: rod, shape: &shape };
    let mut found = Vec::new();
    for index in 0..count {
        match modes.eigenvalue(Pencil::Mass, index) {
            Some(value) if value > 0.0 => found.push(value.sqrt()),
            Some(_) => found.push(f64::NAN),
            None => break,
        }
    }
    Ok(found)
}

/// Least eigenvalue of the stiffness under loads against the elastic stiffness, at a given shape: 0 at the
/// threshold of stability.
pub fn stability_margin(rod: &Rod, q: &[Vec3], loads: &Loads) -> Result<f64, RodError> {
    rod.check_blocks(q)?;
    let shape = Shape::new(rod, q, loads, true);
    Ok(Modes { body: rod, shape: &shape }.least(Pencil::Elastic).unwrap_or(f64::NAN))
}

/// By how much all stiffnesses must be multiplied for a shape not to fall; none where it does not.
pub(crate) fn stiffening(rod: &Rod, shape: &Shape) -> Option<f64> {
    let modes = Modes { body: rod, shape };
    if modes.below(Pencil::Elastic, -NEUTRAL) == 0 {
        return None;
    }
    Some(1.0 - modes.least(Pencil::Elastic)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Model;
    use crate::rod::{Clamp, Section};
    use crate::rotation::Mat3;

    /// Least eigenvalues of stable and falling curls, against those of full matrices.
    #[test]
    fn least_eigenvalues_are_those_of_the_full_matrices() {
        let section = Section {
            bending_stiffness: [1e-6, 1.3e-6],
            twisting_stiffness: 7e-7,
            linear_density: 2e-5,
        };
        let clamp = Clamp { position: Vec3::zeros(), frame: Mat3::identity() };
        let mut signs = [0, 0];
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            for (n, length) in [(1, 0.05), (9, 0.1), (20, 0.2), (20, 0.6)] {
                let rod = Rod::new(model, n, length, section, clamp).unwrap();
                let bend = |i: usize| Vec3::new(20.0, 4.0 * (i as f64).sin(), 3.0);
                let q: Vec<Vec3> = (0..rod.blocks()).map(bend).collect();
                let loads = Loads::weight(&section, Vec3::new(0.0, 0.0, -9.81));
                let shape = Shape::new(&rod, &q, &loads, true);
                let modes = Modes { body: &rod, shape: &shape };
                for pencil in [Pencil::Elastic, Pencil::Mass] {
                    let found = modes.least(pencil).unwrap();
                    // Nothing below, something above: how many there are is known from pivots, which are compared with full matrices elsewhere.
                    let off = 1e-10 * found.abs() + 1e-13 * modes.unit(pencil);
                    let beside = [found - off, found + off].map(|at| modes.below(pencil, at));
                    assert!(beside[0] == 0 && beside[1] > 0, "{model:?} {n} {pencil:?}: {found}");
                    signs[usize::from(found < 0.0)] += 1;
                    let wide = 0.5 * found.abs() + 0.1 * modes.unit(pencil);
                    let (low, high) = modes.narrowed(pencil, found - wide, found + wide);
                    let narrow = high - low <= 1e3 * modes.fine(pencil, low, high);
                    assert!(narrow && low <= found + off && found <= high + off, "{low} {high}");
                }
                let full = |mix: Mix| shape.dense(&rod, mix);
                let l = full(Pencil::Elastic.measure()).cholesky().unwrap().l();
                let half = l.solve_lower_triangular(&full(Pencil::Elastic.shifted(0.0))).unwrap();
                let whole = l.solve_lower_triangular(&half.transpose()).unwrap();
                let (exact, found) =
                    (whole.symmetric_eigenvalues().min(), modes.least(Pencil::Elastic).unwrap());
                assert!((found - exact).abs() < 1e-9, "{model:?} {n}: {found} for {exact}");
            }
        }
        assert!(signs.iter().all(|n| *n >= 4), "{signs:?}");
    }
}
