//! Whether a target that its cloth does not hold would be held with more friction, and with how much.
//!
//! A tight waist carries the more weight the harder it squeezes, and with little friction that asks for stiff cloth. What rigid garments need
//! ([`friction_needed`](crate::held::friction_needed)) says nothing of that.

use crate::diagnosis::friction_of;
use crate::{Garment, InverseError};

/// Friction beyond which none is looked for: cloth has no more on anything.
const MOST: f64 = 1.0;
/// How near to each other friction that holds and friction that does not come, as a ratio.
const NEAR: f64 = 1.03;

/// The least friction (the largest of the colliders, the others in proportion) with which `holds`, to 3 %; none where that is too much, or not known because
/// trials were ended: then they give none.
pub(crate) fn friction_that_holds(
    garment: &Garment,
    holds: &mut dyn FnMut(&Garment) -> Result<Option<bool>, InverseError>,
) -> Result<Option<f64>, InverseError> {
    let mut low = friction_of(garment);
    let mut high = MOST;
    if !(low > 0.0 && low * NEAR < high) || holds(&stickier(garment, high / low)?)? != Some(true) {
        return Ok(None);
    }
    let now = low;
    while high > NEAR * low {
        let middle = (low * high).sqrt();
        match holds(&stickier(garment, middle / now)?)? {
            Some(true) => high = middle,
            Some(false) => low = middle,
            None => return Ok(None),
        }
    }
    Ok(Some(high))
}

/// The garment on colliders with so many times their friction.
fn stickier(garment: &Garment, factor: f64) -> Result<Garment, InverseError> {
    let mut other = garment.clone();
    other.colliders = Vec::with_capacity(garment.colliders.len());
    for collider in &garment.colliders {
        other.colliders.push(collider.clone().with_friction(factor * collider.friction())?);
    }
    Ok(other)
}
