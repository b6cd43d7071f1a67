//! As many elements as a drawing needs.

use crate::RodError;
use crate::curve::Curve;
use crate::fit::{Fit, FitSettings, fit};
use crate::rod::Section;
use crate::rotation::Vec3;

/// How near a rod is to be to its drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Within {
    /// Largest distance from a point of the drawing to the rod \[m\].
    pub tolerance: f64,
    /// Elements beyond which it stays as near as it is.
    pub most_elements: usize,
}

/// Elements that are added at a time, as a part of those there are.
const MORE: f64 = 0.5;
/// Turn of the curve within one element that is not even tried \[rad\]: coils need about as many, and tries with too few of
/// them would take most of the time.
const MOST_TURN: f64 = 0.8;
/// Part of the error by which it must fall for more elements to be worth their time.
const WORTH: f64 = 0.8;

/// [`fit`] with the elements of the settings or, where the rod would miss the drawing by more than that, with more.
///
/// Where no number of elements does (a strand that turns back on itself at a point) the fewest are taken with which it is about as near as it gets.
pub fn fit_within(
    curve: &Curve,
    section: Section,
    d1: Option<Vec3>,
    settings: &FitSettings,
    within: &Within,
) -> Result<Fit, RodError> {
    let most = within.most_elements.max(settings.elements);
    let turns = (turning(curve) / MOST_TURN).ceil();
    let mut elements = settings.elements.max(turns.min(most as f64) as usize);
    let with = |elements: usize| fit(curve, section, d1, &FitSettings { elements, ..*settings });
    let mut best = with(elements)?;
    while best.error_max > within.tolerance && elements < most {
        elements = ((elements as f64 * (1.0 + MORE)).ceil() as usize).min(most);
        let finer = with(elements)?;
        if finer.error_max < WORTH * best.error_max {
            best = finer;
        }
    }
    Ok(best)
}

/// By how much a polyline turns, all its points together \[rad\].
fn turning(curve: &Curve) -> f64 {
    let at = |w: &[Vec3]| {
        let (a, b) = (w[1] - w[0], w[2] - w[1]);
        a.cross(&b).norm().atan2(a.dot(&b))
    };
    curve.points().windows(3).map(at).sum()
}
