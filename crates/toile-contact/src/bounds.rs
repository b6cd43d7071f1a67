//! Boxes along the axes.

use toile_geometry::Vec3;

/// A box with faces along the coordinate planes; empty when some `low` exceeds its `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest coordinates \[m\].
    pub low: [f64; 3],
    /// Largest coordinates \[m\].
    pub high: [f64; 3],
}

impl Bounds {
    /// Contains nothing; the neutral element of [`join`](Self::join).
    pub const EMPTY: Self = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };
    /// Contains everything.
    pub const ALL: Self = Self { low: [f64::NEG_INFINITY; 3], high: [f64::INFINITY; 3] };

    /// The least box around some points.
    pub fn around<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Self {
        let mut bounds = Self::EMPTY;
        for p in points {
            bounds.include(p);
        }
        bounds
    }

    /// Grows to contain a point.
    pub fn include(&mut self, p: &Vec3) {
        for k in 0..3 {
            self.low[k] = self.low[k].min(p[k]);
            self.high[k] = self.high[k].max(p[k]);
        }
    }

    /// The least box around both.
    pub fn join(&self, other: &Self) -> Self {
        let mut bounds = *self;
        for k in 0..3 {
            bounds.low[k] = bounds.low[k].min(other.low[k]);
            bounds.high[k] = bounds.high[k].max(other.high[k]);
        }
        bounds
    }

    /// Moved outwards by `margin` on all sides.
    pub fn inflated(&self, margin: f64) -> Self {
        Self { low: self.low.map(|c| c - margin), high: self.high.map(|c| c + margin) }
    }

    /// Whether the boxes have a point in common (touching counts).
    pub fn overlaps(&self, other: &Self) -> bool {
        // Without short cuts: the answer is hard to foresee, branches would cost more.
        let along = |k: usize| (self.low[k] <= other.high[k]) & (other.low[k] <= self.high[k]);
        along(0) & along(1) & along(2)
    }

    /// Whether the point is inside or on the border.
    pub fn contains(&self, p: &Vec3) -> bool {
        (0..3).all(|k| self.low[k] <= p[k] && p[k] <= self.high[k])
    }

    /// Square of the distance of a point to the box \[m²\]; zero inside.
    pub fn distance_squared(&self, p: &Vec3) -> f64 {
        let mut sum = 0.0;
        for k in 0..3 {
            let d = (self.low[k] - p[k]).max(p[k] - self.high[k]).max(0.0);
            sum += d * d;
        }
        sum
    }

    pub(crate) fn centre(&self) -> [f64; 3] {
        [0, 1, 2].map(|k| 0.5 * (self.low[k] + self.high[k]))
    }

    pub(crate) fn half_area(&self) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|k| (self.high[k] - self.low[k]).max(0.0));
        x * y + y * z + z * x
    }

    /// Length of the diagonal \[m\].
    pub fn diagonal(&self) -> f64 {
        let d = [0, 1, 2].map(|k| (self.high[k] - self.low[k]).max(0.0));
        Vec3::from(d).norm()
    }
}
