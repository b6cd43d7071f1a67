//! Plots as SVG text: curves, points, tolerance bands, linear or logarithmic axes, without any dependency.
//!
//! ```
//! use toile_report::plot::{Axis, Marker, Plot, Series};
//! let svg = Plot::new("Heavy cantilever", Axis::log("Γ"), Axis::log("H/W"))
//!     .with(Series::line("elastica", vec![(0.1, 0.0125), (1.0, 0.1246), (10.0, 1.067)]))
//!     .with(Series::markers("shell, n = 40", Marker::Circle, vec![(1.0, 0.125), (10.0, 1.06)]))
//!     .to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```
//!
//! Points that cannot be drawn (not finite, or not positive on a logarithmic axis) are left out and break their line.

mod axis;
mod draw;
mod histogram;
mod inline;

pub(crate) use draw::escape;

pub use axis::{Axis, Scale, Tick, ticks};

/// A verdict on what a plot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it is good.
    pub ok: bool,
    /// In words.
    pub words: String,
}

/// Shape of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle, point up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// An x.
    Cross,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Without gaps.
    Solid,
    /// With gaps, for asymptotes and fits.
    Dashed,
}

/// A named set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend; empty for none.
    pub name: String,
    /// (x, y) in the units of the axes, in the order of the line.
    pub points: Vec<(f64, f64)>,
    /// Whether and how the points are joined.
    pub stroke: Option<Stroke>,
    /// Whether and how the points are marked.
    pub marker: Option<Marker>,
    /// Place in the list of seven colours, counted round; `None` takes the place of the series in its plot.
    pub colour: Option<usize>,
}

impl Series {
    /// A curve.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, stroke: Some(Stroke::Solid), marker: None, colour: None }
    }

    /// A dashed curve.
    pub fn dashed(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { stroke: Some(Stroke::Dashed), ..Self::line(name, points) }
    }

    /// Points that are not joined.
    pub fn markers(name: impl Into<String>, marker: Marker, points: Vec<(f64, f64)>) -> Self {
        Self { stroke: None, marker: Some(marker), ..Self::line(name, points) }
    }

    /// The same in a chosen colour, e.g. that of the series it belongs to.
    #[must_use]
    pub fn coloured(self, colour: usize) -> Self {
        Self { colour: Some(colour), ..self }
    }

    /// Points joined by a line.
    pub fn line_and_markers(
        name: impl Into<String>,
        marker: Marker,
        points: Vec<(f64, f64)>,
    ) -> Self {
        Self { marker: Some(marker), ..Self::line(name, points) }
    }
}

/// A shaded region between two curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Name in the legend; empty for none.
    pub name: String,
    /// (x, lower y, upper y) with x increasing.
    pub points: Vec<(f64, f64, f64)>,
}

impl Band {
    /// The region within a relative `tolerance` of a curve.
    pub fn around(name: impl Into<String>, curve: &[(f64, f64)], tolerance: f64) -> Self {
        let points = curve
            .iter()
            .map(|&(x, y)| (x, y - tolerance * y.abs(), y + tolerance * y.abs()))
            .collect();
        Self { name: name.into(), points }
    }
}

/// A small right triangle that shows a slope in a log-log plot, its right angle below the hypotenuse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlopeTriangle {
    /// Left end (x, y) of the hypotenuse, in the units of the axes.
    pub at: (f64, f64),
    /// d ln y / d ln x.
    pub slope: f64,
    /// Ratio of x between its two ends, above 1.
    pub ratio: f64,
}

impl SlopeTriangle {
    /// A triangle under the middle of a curve with increasing x, parallel to it if the curve has that slope.
    ///
    /// `None` for fewer than two points with positive coordinates, or if they share one x.
    pub fn below(curve: &[(f64, f64)], slope: f64) -> Option<Self> {
        let scale = Scale::Log;
        let logs: Vec<(f64, f64)> = curve
            .iter()
            .filter(|(x, y)| scale.admits(*x) && scale.admits(*y))
            .map(|(x, y)| (x.log10(), y.log10()))
            .collect();
        let (first, last) = (logs.first()?, logs.last()?);
        let width = last.0 - first.0;
        if width.is_nan() || width <= 0.0 {
            return None;
        }
        let (left, right) = (first.0 + 0.4 * width, first.0 + 0.6 * width);
        // Under every chord between the two ends, by a share of the height of the curve.
        let line = |t: f64| {
            let i = logs.partition_point(|p| p.0 <= t).clamp(1, logs.len() - 1);
            let (a, b) = (logs[i - 1], logs[i]);
            if b.0 > a.0 { a.1 + (t - a.0) / (b.0 - a.0) * (b.1 - a.1) } else { a.1.min(b.1) }
        };
        let heights = logs.iter().map(|p| p.1);
        let height = heights.clone().fold(f64::MIN, f64::max) - heights.fold(f64::MAX, f64::min);
        let y = (0..=20)
            .map(|i| left + (right - left) * f64::from(i) / 20.0)
            .map(|t| line(t) - slope * (t - left))
            .fold(f64::MAX, f64::min)
            - 0.08 * height.max(0.1);
        let at = (10f64.powf(left), 10f64.powf(y));
        Some(Self { at, slope, ratio: 10f64.powf(right - left) })
    }
}

/// A plot under construction.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Above the frame.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Regions, drawn first.
    pub bands: Vec<Band>,
    /// Curves and points, coloured in this order.
    pub series: Vec<Series>,
    /// Slopes to compare with.
    pub slopes: Vec<SlopeTriangle>,
    /// Judgement printed under the title in green or red, with the frame tinted alike.
    pub verdict: Option<Judgement>,
    /// Width and height \[px\].
    pub size: (f64, f64),
}

impl Plot {
    /// An empty plot of 760 × 520 px.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            bands: Vec::new(),
            series: Vec::new(),
            slopes: Vec::new(),
            verdict: None,
            size: (760.0, 520.0),
        }
    }

    /// Adds a curve or points.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a shaded region.
    #[must_use]
    pub fn with_band(mut self, band: Band) -> Self {
        self.bands.push(band);
        self
    }

    /// Adds a slope triangle; it is drawn on log-log axes only.
    #[must_use]
    pub fn with_slope(mut self, triangle: SlopeTriangle) -> Self {
        self.slopes.push(triangle);
        self
    }

    /// Prints a verdict.
    #[must_use]
    pub fn with_verdict(mut self, verdict: impl Into<Judgement>) -> Self {
        self.verdict = Some(verdict.into());
        self
    }

    /// The SVG document.
    pub fn to_svg(&self) -> String {
        draw::svg(self)
    }

    /// The same to stand inside a page: as wide as there is room, in the colours of the page. `id` must be unique there.
    ///
    /// The page sets the custom properties `--ink`, `--paper`, `--panel`, `--line`, `--good`, `--bad` and `--series-0` to
    /// `--series-5`; where it does not, the colours are those of [`Plot::to_svg`].
    pub fn to_inline_svg(&self, id: &str) -> String {
        inline::within(&draw::svg(self), id)
    }

    /// Writes the SVG document.
    pub fn write(&self, mut out: impl std::io::Write) -> std::io::Result<()> {
        out.write_all(self.to_svg().as_bytes())
    }
}
