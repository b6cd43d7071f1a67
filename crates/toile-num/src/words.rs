//! Numbers for people: three digits, and the unit that reads best.

/// Three significant digits, without an exponent where that is readable.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let places = (2 - size.log10().floor() as i32).max(0) as usize;
    format!("{value:.places$}")
}

/// A length in the unit that reads best: `47.4 mm`, `0.501 mm`, `12.0 µm`; below a nanometre it is rounding, and written as such (`2.0e-10 m`).
pub fn length(metres: f64) -> String {
    let size = metres.abs();
    if size == 0.0 {
        "0 mm".into()
    } else if !(1e-9..1e4).contains(&size) {
        format!("{metres:.1e} m")
    } else if size < 1e-6 {
        format!("{} nm", digits(1e9 * metres))
    } else if size < 1e-4 {
        format!("{} µm", digits(1e6 * metres))
    } else if size < 1.0 {
        format!("{} mm", digits(1e3 * metres))
    } else {
        format!("{} m", digits(metres))
    }
}

/// A time in the unit that reads best.
pub fn duration(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{} µs", digits(1e6 * seconds))
    } else if seconds < 1.0 {
        format!("{} ms", digits(1e3 * seconds))
    } else if seconds < 120.0 {
        format!("{} s", digits(seconds))
    } else {
        format!("{} min", digits(seconds / 60.0))
    }
}
