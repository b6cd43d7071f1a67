//! Axes: ranges that hold the data and ticks at round numbers.

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equal lengths.
    Linear,
    /// Equal ratios are equal lengths; only positive values exist.
    Log,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Text beside it, with the unit in brackets.
    pub label: String,
    /// Its scale.
    pub scale: Scale,
    /// What it shows; `None` fits the data.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis fitted to the data.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None }
    }

    /// A logarithmic axis fitted to the data.
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }
}

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where.
    pub value: f64,
    /// Text and exponent: `("5", None)` reads 5, `("10", Some("-3"))` reads 10⁻³; `None` marks a minor tick.
    pub label: Option<(String, Option<String>)>,
}

impl Scale {
    /// Whether `value` exists on this scale; magnitudes near the ends of f64 are refused, since margins would overflow.
    pub(super) fn admits(self, value: f64) -> bool {
        let size = value.abs();
        match self {
            Self::Linear => size <= 1e290,
            Self::Log => value > 0.0 && (1e-290..=1e290).contains(&size),
        }
    }

    /// The coordinate in which the axis is uniform.
    pub(super) fn forward(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.log10(),
        }
    }

    fn back(self, t: f64) -> f64 {
        match self {
            Self::Linear => t,
            Self::Log => 10f64.powf(t),
        }
    }
}

/// A range that holds the admissible `values` with a margin of 4 %, ending at a tick if one is near.
pub(super) fn fit(axis: &Axis, values: impl Iterator<Item = f64>) -> (f64, f64) {
    if let Some((a, b)) = axis.range
        && a < b
        && axis.scale.admits(a)
        && axis.scale.admits(b)
    {
        return (a, b);
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for t in values.filter(|&v| axis.scale.admits(v)).map(|v| axis.scale.forward(v)) {
        low = low.min(t);
        high = high.max(t);
    }
    if low > high {
        (low, high) = (0.0, 1.0);
    }
    let floor =
        if axis.scale == Scale::Log { 0.3 } else { 1e-9 * low.abs().max(high.abs()).max(1e-280) };
    if high - low < floor {
        // A single value sits in the middle of something visible.
        let half = if axis.scale == Scale::Log { 0.5 } else { (0.5 * low.abs()).max(floor) };
        (low, high) = (low - half, high + half);
    }
    let margin = 0.04 * (high - low);
    // Positive data that come near zero show the zero rather than a margin below it.
    if axis.scale == Scale::Linear && low >= 0.0 && low < 0.15 * high {
        return (0.0, high + margin);
    }
    (axis.scale.back(low - margin), axis.scale.back(high + margin))
}

/// Ticks inside [low, high], about `wanted` of them labelled.
///
/// Linear: steps of 1, 2 or 5 times a power of ten, with four or five minor intervals. Logarithmic: powers of ten
/// (every second, third … over many decades) with minor ticks at 2 … 9; below two decades 2 and 5 are labelled too, and
/// below a factor of three the ticks are those of a linear axis.
pub fn ticks(scale: Scale, low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    if !(low < high && scale.admits(low) && scale.admits(high)) {
        return Vec::new();
    }
    match scale {
        Scale::Log if high / low > 3.0 => log_ticks(low, high, wanted),
        _ => linear_ticks(low, high, wanted),
    }
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let rough = (high - low) / wanted.max(2) as f64;
    let power = rough.log10().floor();
    let unit = 10f64.powf(power);
    let (step, parts) = match rough / unit {
        r if r < 1.5 => (unit, 5),
        r if r < 3.5 => (2.0 * unit, 4),
        r if r < 7.5 => (5.0 * unit, 5),
        _ => (10.0 * unit, 5),
    };
    let minor = step / parts as f64;
    let first = (low / minor - 1e-6).ceil();
    let last = (high / minor + 1e-6).floor();
    // A range narrower than rounding around a large offset has no ticks that differ.
    if !(first.abs() < 1e15 && last.abs() < 1e15 && last - first < 1000.0) {
        return Vec::new();
    }
    let largest = low.abs().max(high.abs());
    (first as i64..=last as i64)
        .map(|i| {
            let value = i as f64 * minor;
            let major = i.rem_euclid(parts) == 0;
            Tick { value, label: major.then(|| linear_label(value, step, largest)) }
        })
        .collect()
}

/// Fixed notation between 1e-4 and 1e5, else mantissa · 10ⁿ, with the digits the step asks for.
fn linear_label(value: f64, step: f64, largest: f64) -> (String, Option<String>) {
    if value == 0.0 {
        return ("0".into(), None);
    }
    if (1e-3..1e5).contains(&largest) {
        let decimals = (-(step * 1.0001).log10().floor()).max(0.0) as usize;
        return (minus(format!("{value:.decimals$}")), None);
    }
    let power = value.abs().log10().floor();
    // Rounding may turn 9.9999999 into 10.
    let power = if (value.abs() / 10f64.powf(power)) > 9.999_999 { power + 1.0 } else { power };
    let decimals = (power - (step * 1.0001).log10().floor()).clamp(0.0, 12.0) as usize;
    let mantissa = minus(format!("{:.decimals$}", value / 10f64.powf(power)));
    (format!("{mantissa}·10"), Some(minus(format!("{power:.0}"))))
}

fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    let stride = (decades / wanted.max(2) as f64).ceil().max(1.0) as i32;
    let mut out = Vec::new();
    for power in from..=to {
        for digit in 1..10 {
            let value = f64::from(digit) * 10f64.powi(power);
            if value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9) {
                continue;
            }
            let label = match digit {
                1 if power.rem_euclid(stride) == 0 => Some(power_label(power, decades)),
                2 | 5 if decades < 2.0 => Some(multiple_label(digit, power)),
                _ => None,
            };
            // Over many decades minor ticks inside each would merge into a grey bar.
            if digit == 1 || decades < 12.0 {
                out.push(Tick { value, label });
            }
        }
    }
    out
}

fn power_label(power: i32, decades: f64) -> (String, Option<String>) {
    match power {
        -2..=3 if decades < 2.0 => (plain(1, power), None),
        0 => ("1".into(), None),
        1 => ("10".into(), None),
        _ => ("10".into(), Some(minus(power.to_string()))),
    }
}

fn multiple_label(digit: i32, power: i32) -> (String, Option<String>) {
    match power {
        -2..=3 => (plain(digit, power), None),
        _ => (format!("{digit}·10"), Some(minus(power.to_string()))),
    }
}

fn plain(digit: i32, power: i32) -> String {
    let decimals = (-power).max(0) as usize;
    format!("{:.decimals$}", f64::from(digit) * 10f64.powi(power))
}

/// The typographic minus, as wide as the digits.
fn minus(text: String) -> String {
    text.replace('-', "−")
}
