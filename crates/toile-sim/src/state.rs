//! Where everything is: coordinates beyond double precision.

/// Coordinates of a model, in the order of its unknowns.
///
/// Each is a sum `high + low` with `low` below half a unit in the last place of `high`. A stiff fine mesh
/// needs it: at an edge of 4 mm, one metre from the origin, rounding a position to double precision
/// makes forces of the order of 1e-13 N (stiffness times half a unit in the last place, an estimate), as large as the residual
/// asked for. Differences of nearby points
/// keep the low parts, so the state can be as accurate as the forces are.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    high: Vec<f64>,
    low: Vec<f64>,
}

impl State {
    /// A state at plain coordinates.
    pub fn new(coordinates: Vec<f64>) -> Self {
        let low = vec![0.0; coordinates.len()];
        Self { high: coordinates, low }
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        self.high.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.high.is_empty()
    }

    /// Coordinates rounded to double precision.
    pub fn coordinates(&self) -> &[f64] {
        &self.high
    }

    /// What the coordinates are rounded by.
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// A state from coordinates and what they are rounded by; panics if their numbers differ.
    pub fn from_parts(high: Vec<f64>, low: Vec<f64>) -> Self {
        assert_eq!(high.len(), low.len(), "one low part per coordinate");
        Self { high, low }
    }

    /// Puts coordinate `i` at `value`.
    pub fn set(&mut self, i: usize, value: f64) {
        self.high[i] = value;
        self.low[i] = 0.0;
    }

    /// `self + scale · step`, written to `out`.
    pub fn advanced_into(&self, step: &[f64], scale: f64, out: &mut Self) {
        for i in 0..self.high.len() {
            // Exact sum of two doubles (Knuth), the small rest joined to the low part.
            let (a, b) = (self.high[i], self.low[i] + scale * step[i]);
            let sum = a + b;
            let back = sum - a;
            out.high[i] = sum;
            out.low[i] = (a - (sum - back)) + (b - back);
        }
    }

    /// Coordinate `i` of `self` minus that of `other`, low parts included.
    pub(crate) fn minus(&self, other: &Self, i: usize) -> f64 {
        (self.high[i] - other.high[i]) + (self.low[i] - other.low[i])
    }

    /// Three coordinates from `at` on, relative to those from `origin` on.
    #[inline(always)]
    pub fn relative(&self, at: usize, origin: usize) -> [f64; 3] {
        let (high, low) = (&self.high[at..at + 3], &self.low[at..at + 3]);
        let (high_o, low_o) = (&self.high[origin..origin + 3], &self.low[origin..origin + 3]);
        std::array::from_fn(|k| (high[k] - high_o[k]) + (low[k] - low_o[k]))
    }
}
