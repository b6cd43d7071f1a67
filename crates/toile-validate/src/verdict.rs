//! OK or KO by a stated tolerance: rows of measured against expected, their verdict, and both as text.
//!
//! The rule of the protocols: every row must lie within the tolerance; a single one outside makes the whole KO, and a
//! value that is not a number is outside by definition.

use std::fmt;
use std::io::{self, Write};

/// One measured value beside its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Where it was measured, for people: `"Γ* = 10, n = 40"`.
    pub at: String,
    /// The reference.
    pub expected: f64,
    /// The measurement.
    pub measured: f64,
}

impl Row {
    /// |measured − expected| / |expected|, or the absolute difference where the reference is zero; infinite if either
    /// value is not finite.
    pub fn deviation(&self) -> f64 {
        let difference = (self.measured - self.expected).abs();
        let relative =
            if self.expected == 0.0 { difference } else { difference / self.expected.abs() };
        if relative.is_finite() { relative } else { f64::INFINITY }
    }
}

/// The judgement of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether every row is within the tolerance. An empty table is not: nothing was shown.
    pub ok: bool,
    /// Largest deviation, relative.
    pub worst: f64,
    /// What was allowed, relative.
    pub tolerance: f64,
    /// Where the largest deviation is.
    pub at: String,
}

impl Verdict {
    /// `"OK"` or `"KO"`.
    pub fn word(&self) -> &'static str {
        if self.ok { "OK" } else { "KO" }
    }

    /// One verdict for several: OK if all are, with the place that comes closest to its tolerance or passes it most.
    pub fn all(verdicts: &[Self]) -> Self {
        let strain = |v: &Self| if v.tolerance > 0.0 { v.worst / v.tolerance } else { v.worst };
        let mut out = Self {
            ok: !verdicts.is_empty(),
            worst: 0.0,
            tolerance: 0.0,
            at: "nothing measured".into(),
        };
        let mut most = f64::NEG_INFINITY;
        for v in verdicts {
            // A KO is shown before any OK, whatever the figures.
            let rank = strain(v) + if v.ok { 0.0 } else { 1e300 };
            if rank > most {
                most = rank;
                out = Self { ok: out.ok, ..v.clone() };
            }
        }
        out.ok = !verdicts.is_empty() && verdicts.iter().all(|v| v.ok);
        out
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.worst.is_finite() {
            let (worst, tolerance) = (100.0 * self.worst, 100.0 * self.tolerance);
            let small = worst != 0.0 && worst.abs() < 1e-3;
            let worst = if small { format!("{worst:.1e}") } else { format!("{worst:.3}") };
            // Per cent of a round number need not be round.
            let tolerance = (1e9 * tolerance).round() / 1e9;
            write!(f, "{}: worst {worst} % of {tolerance} % allowed, at {}", self.word(), self.at)
        } else {
            write!(f, "{}: no finite value at {}", self.word(), self.at)
        }
    }
}

impl From<Verdict> for toile_report::plot::Judgement {
    fn from(verdict: Verdict) -> Self {
        Self { ok: verdict.ok, words: verdict.to_string() }
    }
}

/// A titled list of rows judged by one tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was compared.
    pub title: String,
    /// Allowed relative deviation.
    pub tolerance: f64,
    /// The comparisons.
    pub rows: Vec<Row>,
}

impl Report {
    /// An empty report.
    pub fn new(title: impl Into<String>, tolerance: f64) -> Self {
        Self { title: title.into(), tolerance, rows: Vec::new() }
    }

    /// Adds a comparison.
    pub fn push(&mut self, at: impl Into<String>, expected: f64, measured: f64) {
        self.rows.push(Row { at: at.into(), expected, measured });
    }

    /// The judgement of all rows.
    pub fn verdict(&self) -> Verdict {
        let mut worst: Option<(&Row, f64)> = None;
        for row in &self.rows {
            let deviation = row.deviation();
            if worst.is_none_or(|(_, w)| deviation > w) {
                worst = Some((row, deviation));
            }
        }
        match worst {
            Some((row, worst)) => Verdict {
                ok: worst <= self.tolerance,
                worst,
                tolerance: self.tolerance,
                at: row.at.clone(),
            },
            None => Verdict {
                ok: false,
                worst: f64::INFINITY,
                tolerance: self.tolerance,
                at: "no rows".into(),
            },
        }
    }
}

impl fmt::Display for Report {
    /// A table in fixed columns, ending with the verdict.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|r| r.at.chars().count()).max().unwrap_or(0).max(5);
        writeln!(f, "{}", self.title)?;
        writeln!(
            f,
            "  {:<width$}  {:>14}  {:>14}  {:>10}",
            "at", "expected", "measured", "off by"
        )?;
        for row in &self.rows {
            let mark = if row.deviation() <= self.tolerance { "" } else { "  KO" };
            let (expected, measured, off) = (row.expected, row.measured, 100.0 * row.deviation());
            writeln!(
                f,
                "  {:<width$}  {expected:>14.6}  {measured:>14.6}  {off:>8.3} %{mark}",
                row.at
            )?;
        }
        write!(f, "  {}", self.verdict())
    }
}

/// Comma-separated values to any writer: a header, then rows of exactly as many cells.
///
/// Numbers are written shortest-exact ([`cell`]), text with a comma, quote or line break is quoted. Fails on a row of
/// another length ([`io::ErrorKind::InvalidInput`]) or when the writer fails.
pub struct Csv<W: Write> {
    out: W,
    columns: usize,
}

impl<W: Write> Csv<W> {
    /// Writes the header.
    pub fn new(mut out: W, header: &[&str]) -> io::Result<Self> {
        let names: Vec<String> = header.iter().map(|name| quote(name)).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Self { out, columns: header.len() })
    }

    /// Writes one row.
    pub fn row<S: AsRef<str>>(&mut self, cells: &[S]) -> io::Result<()> {
        if cells.len() != self.columns {
            let message = format!(
                "a row of {} cells under {} columns; give one cell per column",
                cells.len(),
                self.columns
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let cells: Vec<String> = cells.iter().map(|cell| quote(cell.as_ref())).collect();
        writeln!(self.out, "{}", cells.join(","))
    }

    /// Flushes and gives the writer back.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A number as the shortest text that reads back to the same bits, with an exponent where that is shorter to read.
pub fn cell(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size.is_finite() && !(1e-4..1e9).contains(&size) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

fn quote(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
