//! The protocols: a shell solver is put through the published experiments and judged.
//!
//! [`cantilever()`] bends a strip by its weight, [`lateral_buckling()`] finds the weight at which a strip standing on
//! edge leaves its plane, [`rotation()`] turns one experiment into the other; these share the specimen ([`Clamped`]).
//! [`incline()`] watches sheets stick and slide on a slope, [`cylinder()`] cloth slip over a cylinder, [`capstan()`] belts on
//! a drum, [`stick_slip()`] a strip pushed against the ground. All share the rule that one setting of the solver serves a whole curve, and
//! the [`Outcome`]: rows for a table, reports judged by a tolerance, checks judged by a rule, and figures.
//!
//! [`rod_cantilever()`], [`rod_orders()`], [`frequencies()`], [`buckling()`] and [`bend_twist()`] do the same for rods.
//!
//! Reference: Ly 2021, §§3.3 and 3.5; Larionov 2022.

mod cantilever;
mod capstan;
mod cloth;
mod cylinder;
mod incline;
mod lateral_buckling;
mod progress;
mod rod_buckling;
mod rod_orders;
mod rods;
mod rotation;
mod stick_slip;
mod strip;

use std::fmt;

use toile_geometry::MeshError;
use toile_report::plot::Plot;
use toile_sim::{Model, SimError, State, relax};
use toile_solve::{NewtonSettings, SolveError, Step, Stop};

use crate::bvp::BvpError;
use crate::plate::PlateError;
use crate::verdict::{Csv, Report, Verdict};

/// Parts that have tests of their own.
#[doc(hidden)]
pub use self::{incline::square, rod_buckling::ring, rods::beam_frequency};
pub use cantilever::{
    CantileverRow, CantileverSeries, CantileverSettings, PLATE_EFFECT, PlateEffect, cantilever,
};
pub use capstan::{CapstanRow, CapstanSettings, DrumWay, capstan, capstan_of_points};
pub use cloth::ClothMaterial;
pub use cylinder::{
    CylinderRow, CylinderSettings, cylinder, weighted_capstan, weighted_capstan_of_points,
};
pub use incline::{InclineRow, InclineSettings, incline};
pub use lateral_buckling::{
    BucklingRow, BucklingSettings, Procedure, Threshold, lateral_buckling, threshold,
    threshold_by_continuation,
};
pub use progress::Progress;
pub use rod_buckling::{bend_twist, buckling};
pub use rod_orders::{OrderRow, rod_orders};
pub use rods::{RodRow, RodSettings, frequencies, rod_cantilever};
pub use rotation::{RotationRow, RotationSettings, RotationStrip, rotation};
pub use stick_slip::{StickSlipRow, StickSlipSettings, stick_slip};
use strip::Stages;
pub use strip::{Cells, Clamped, GRAVITY, ShellModel, Strip, UnknownModel};

/// Why a protocol gave no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A setting makes no sense.
    #[error("{what} is {value}; it must be {must}")]
    Input {
        /// Which setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        must: &'static str,
    },
    /// The caller asked to stop.
    #[error("stopped on request after {done} of {of} cases; no table was completed")]
    Interrupted {
        /// Cases finished.
        done: usize,
        /// Cases in all.
        of: usize,
    },
    /// The shell could not be built or factorised.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The mesh of a specimen is none.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The linear solver could not do its part.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The reference curve could not be computed.
    #[error(transparent)]
    Elastica(#[from] BvpError),
    /// A rod could not be built or solved.
    #[error(transparent)]
    Rod(#[from] toile_rod::RodError),
    /// The reference threshold could not be computed.
    #[error(transparent)]
    Plate(#[from] PlateError),
}

/// One line of the table of a protocol.
pub trait TableRow {
    /// Names of the columns.
    const HEADER: &'static [&'static str];
    /// One text per column.
    fn cells(&self) -> Vec<String>;
}

/// A judgement that is a rule rather than a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was asked.
    pub title: String,
    /// Whether it holds.
    pub ok: bool,
    /// The figures behind it.
    pub detail: String,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", if self.ok { "OK" } else { "KO" }, self.title, self.detail)
    }
}

/// A plot and the name it should have.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name.
    pub file: String,
    /// What it shows.
    pub plot: Plot,
}

/// What a protocol found.
#[derive(Clone, Debug)]
pub struct Outcome<R> {
    /// The table, in a fixed order.
    pub rows: Vec<R>,
    /// Comparisons judged by a tolerance.
    pub reports: Vec<Report>,
    /// Judgements by a rule.
    pub checks: Vec<Check>,
    /// Observations that are not judged.
    pub notes: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

impl<R: TableRow> Outcome<R> {
    /// OK when every report and every check is.
    pub fn verdict(&self) -> Verdict {
        let rule = |check: &Check| Verdict {
            ok: check.ok,
            worst: if check.ok { 0.0 } else { f64::INFINITY },
            tolerance: 0.0,
            at: check.title.clone(),
        };
        let verdicts: Vec<Verdict> = (self.reports.iter().map(Report::verdict))
            .chain(self.checks.iter().map(rule))
            .collect();
        Verdict::all(&verdicts)
    }

    /// The table as comma-separated values.
    pub fn csv(&self) -> String {
        let write = || -> std::io::Result<Vec<u8>> {
            let mut csv = Csv::new(Vec::new(), R::HEADER)?;
            for row in &self.rows {
                csv.row(&row.cells())?;
            }
            csv.finish()
        };
        let bytes = write().expect("memory takes every row, and rows have their columns");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl<R> fmt::Display for Outcome<R> {
    /// Verdicts of all reports, the checks and the notes, one line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for report in &self.reports {
            writeln!(f, "{}: {}", report.title, report.verdict())?;
        }
        for check in &self.checks {
            writeln!(f, "{check}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

/// Length of a Newton step, in units of the longest allowed (a quarter of the size), at which a shape is taken as found.
///
/// Forces are the wrong measure here: a sheet a thousand times longer than thick answers a rounding of its
/// coordinates with a force of the order of its weight. A full exact step of 1e-7 leaves 1e-14 by quadratic
/// convergence, and its factorisation has shown that the state is a minimum.
const SETTLED: f64 = 1e-7;

/// The same for a shape that is only a start.
const NEARLY_SETTLED: f64 = 1e-4;

/// A stable equilibrium near `start`, found when a step is no longer than `shortest`; `None` when the search did not get
/// there.
fn settle(
    model: &Model,
    start: &State,
    shortest: f64,
    meter: &progress::Meter<'_>,
) -> Result<Option<State>, ProtocolError> {
    let mut settled = false;
    let settings = NewtonSettings::default();
    let found = relax(model, start, &settings, |step: &Step| {
        settled = step.exact && step.shift == 0.0 && step.length <= shortest;
        meter.alive() && !settled
    })?;
    meter.check()?;
    // Rounding may end the search a step before the shape is as good as asked; it is good enough all the same.
    let ended = settled || matches!(found.stop, Stop::Minimum | Stop::Stagnation);
    let close = found.history.last().is_none_or(|s| s.length <= NEARLY_SETTLED);
    Ok((ended && (close || found.stop == Stop::Minimum)).then_some(found.point))
}

/// Refuses an empty list.
fn some<T>(what: &'static str, list: &[T]) -> Result<(), ProtocolError> {
    if list.is_empty() {
        return Err(ProtocolError::Input { what, value: 0.0, must: "at least one" });
    }
    Ok(())
}

/// Refuses a resolution that no mesh can have, or that no memory would hold.
fn resolution(n: usize) -> Result<(), ProtocolError> {
    if (4..=2000).contains(&n) {
        return Ok(());
    }
    let must = "from 4 to 2000 vertices along the length";
    Err(ProtocolError::Input { what: "the resolution", value: n as f64, must })
}

/// Refuses what is not a positive number.
fn positive(what: &'static str, value: f64) -> Result<(), ProtocolError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(ProtocolError::Input { what, value, must: "a positive number" })
}
