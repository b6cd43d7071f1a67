//! Inextensible planar rods in closed dimensionless form: what thin strips must reproduce.
//!
//! [`cantilever`] bends under its weight or an end force; [`mod@stick_slip`] is pushed against the ground and held by
//! friction. Lengths are divided by L, curvatures multiplied by L, forces multiplied by L²/EI.

pub mod cantilever;
pub mod stick_slip;

pub use cantilever::{
    Cantilever, Load, end_shear_cantilever, heavy_cantilever, heavy_cantilever_curve,
};
pub use stick_slip::{StickSlip, stick_slip, stick_slip_curve, triple_point};

use crate::bvp::Solution;

/// One point of a planar curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Arclength from the clamp / L.
    pub s: f64,
    /// x/L: reach for a cantilever, sideways for stick-slip.
    pub x: f64,
    /// y/L, downwards.
    pub y: f64,
    /// Angle of the tangent: below the horizontal for a cantilever, from the downward vertical for stick-slip \[rad\].
    pub angle: f64,
    /// Curvature · L.
    pub curvature: f64,
}

/// A centreline that can be evaluated anywhere.
#[derive(Clone, Debug)]
pub struct Profile {
    solution: Solution,
    /// Factor from the second unknown of the solution to curvature · L.
    curvature_scale: f64,
    /// Whether the fourth unknown is the shortening s − y rather than y.
    shortening: bool,
}

impl Profile {
    /// The point at arclength `s`, clamped to [0, 1].
    pub fn at(&self, s: f64) -> Station {
        self.station(s.clamp(0.0, 1.0), &self.solution.at(s))
    }

    /// `count` stations (at least two) at equal arclengths from clamp to tip.
    pub fn stations(&self, count: usize) -> Vec<Station> {
        let last = count.max(2) - 1;
        let s: Vec<f64> = (0..=last).map(|i| i as f64 / last as f64).collect();
        self.solution.at_stations(&s).iter().zip(&s).map(|(y, &s)| self.station(s, y)).collect()
    }

    /// The solution of the boundary-value problem behind this curve, e.g. for its mesh and local error.
    pub fn solution(&self) -> &Solution {
        &self.solution
    }

    fn station(&self, s: f64, y: &[f64]) -> Station {
        let down = if self.shortening { s - y[3] } else { y[3] };
        Station { s, x: y[2], y: down, angle: y[0], curvature: self.curvature_scale * y[1] }
    }
}
