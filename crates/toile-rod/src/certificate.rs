//! Whether a shape of a rod is a stable equilibrium, in figures.

use crate::RodError;
use crate::forms::{Mix, Shape};
use crate::rod::{Loads, Rod};
use crate::rotation::Vec3;
use crate::statics::{Body, Factor, evaluate_held};

/// Residual up to which an equilibrium is certified, as for shells.
pub const CERTIFIED_RESIDUAL: f64 = 1e-8;

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
    let negative_modes = modes.below(Pencil::Elastic, 0.0);
    let margin = modes.least(Pencil::Elastic).unwrap_or(f64::NAN);
    let stability = modes.least(Pencil::Mass);
    let stable = negative_modes == 0 && margin > 1e-9;
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
fn force_unit(rod: &Rod, loads: &Loads) -> f64 {
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

/// Eigenvalues of a shape, by counting pivots: linear time each, no iteration that could miss one.
pub(crate) struct Modes<'a, B: Body> {
    pub(crate) body: &'a B,
    pub(crate) shape: &'a B::Shape,
}

impl<B: Body> Modes<'_, B> {
    /// Eigenvalues below λ.
    pub(crate) fn below(&self, pencil: Pencil, lambda: f64) -> usize {
        let mix = match pencil {
            Pencil::Elastic => Mix { mass: 0.0, elastic: 1.0 - lambda, geometric: 1.0 },
            Pencil::Mass => Mix { mass: -lambda, elastic: 1.0, geometric: 1.0 },
        };
        self.body.factorise(self.shape, mix).not_positive()
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
        for _ in 0..200 {
            if high - low <= 1e-11 * (low.abs() + high.abs()) + 1e-14 * unit {
                break;
            }
            let middle = 0.5 * (low + high);
            if self.below(pencil, middle) > index { high = middle } else { low = middle }
        }
        Some(0.5 * (low + high))
    }
}

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
