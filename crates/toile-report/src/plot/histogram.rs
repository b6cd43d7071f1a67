//! How often which value occurs.

use super::{Axis, Band, Plot, Series};

impl Plot {
    /// Counts of `values` in `bins` equal parts of the range from `low` to `high`, as steps over a filled region. Values
    /// outside go to the parts at the ends, those that are not finite are left out.
    pub fn histogram(
        title: impl Into<String>,
        label: impl Into<String>,
        values: impl IntoIterator<Item = f64>,
        (low, high): (f64, f64),
        bins: usize,
    ) -> Self {
        let bins = bins.max(1);
        let width = (high - low) / bins as f64;
        let mut counts = vec![0.0; bins];
        for v in values.into_iter().filter(|v| v.is_finite()) {
            let part = ((v - low) / width).floor();
            let bin =
                if part.is_finite() { part.clamp(0.0, bins as f64 - 1.0) as usize } else { 0 };
            counts[bin] += 1.0;
        }
        let most = counts.iter().copied().fold(1.0, f64::max);
        let mut outline = vec![(low, 0.0)];
        let mut region = Vec::with_capacity(2 * bins);
        for (i, count) in counts.iter().enumerate() {
            for x in [low + width * i as f64, low + width * (i + 1) as f64] {
                outline.push((x, *count));
                region.push((x, 0.0, *count));
            }
        }
        outline.push((high, 0.0));
        let y = Axis { range: Some((0.0, 1.08 * most)), ..Axis::linear("count") };
        let x = Axis { range: Some((low, high)), ..Axis::linear(label) };
        Plot::new(title, x, y)
            .with_band(Band { name: String::new(), points: region })
            .with(Series::line("", outline))
    }
}
