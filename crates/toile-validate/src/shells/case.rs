//! What the shell cases have in common: settings, points of a load path, verdict, tables and plots.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use toile_geometry::measure::NormalRule;
use toile_sim::{Model, SimError, State, relax};
use toile_solve::{NewtonSettings, Stop};

use crate::bvp::BvpError;
use crate::verdict::{Csv, Verdict, cell};
use toile_report::plot::{Axis, Marker, Plot, Series, SlopeTriangle};

/// How a shell case is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Cells along the longer side, one mesh each, coarse to fine; the verdict is that of the last.
    pub resolutions: Vec<usize>,
    /// Load steps of equal size up to the full load.
    pub levels: usize,
    /// Rule for mid-edge normals.
    pub normals: NormalRule,
    /// Allowed relative deviation on the finest mesh.
    pub tolerance: f64,
}

impl Default for Settings {
    /// One mesh of 40 cells, 20 load steps as in the published tables, `Tan` normals, 1 %.
    fn default() -> Self {
        Self { resolutions: vec![40], levels: 20, normals: NormalRule::Tan, tolerance: 0.01 }
    }
}

/// Why a case could not be run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellCaseError {
    /// The settings ask for nothing.
    #[error("{what} is {value}; it must be {must}")]
    BadSetting {
        /// Which setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        must: &'static str,
    },
    /// A load step did not reach equilibrium.
    #[error(
        "{case}, {resolution} cells: no equilibrium at {load} of the load ({stop:?} after {steps} Newton steps, \
         residual {residual:.1e}); use more load steps"
    )]
    NoEquilibrium {
        /// Which case.
        case: &'static str,
        /// Cells along the longer side.
        resolution: usize,
        /// Share of the full load.
        load: f64,
        /// Why the search ended.
        stop: Stop,
        /// Newton steps taken.
        steps: usize,
        /// Residual reached.
        residual: f64,
    },
    /// The model could not be built or solved.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The reference could not be computed.
    #[error(transparent)]
    Reference(#[from] BvpError),
}

/// Two displacements at one load, beside their reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Share of the full load.
    pub load: f64,
    /// The shell's \[m\].
    pub measured: [f64; 2],
    /// The reference's \[m\]; NaN where there is none at this load.
    pub expected: [f64; 2],
    /// Newton steps, each with its factorisation, from the step before.
    pub newton_steps: usize,
    /// Largest unbalanced force over the mean load of a vertex.
    pub residual: f64,
}

impl Point {
    /// Whether the reference has a value here, of at least one displacement.
    pub fn has_reference(&self) -> bool {
        self.expected.iter().any(|e| !e.is_nan())
    }
}

/// The load path of one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Cells along the longer side.
    pub resolution: usize,
    /// Unknowns, fixed ones included.
    pub unknowns: usize,
    /// One point per load step.
    pub points: Vec<Point>,
    /// Wall time, model building included.
    pub time: Duration,
}

/// A finished case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What was compared.
    pub title: String,
    /// Names of the two displacements.
    pub names: [&'static str; 2],
    /// One per mesh, in the order of the settings.
    pub runs: Vec<Run>,
    /// Allowed relative deviation.
    pub tolerance: f64,
    /// Whether the two displacements are judged as one vector: on a path where one of them passes through zero a
    /// relative deviation of its own means nothing.
    pub as_vector: bool,
    /// Other people's values, load share and both displacements, drawn but not judged; a name and its points.
    pub published: Option<(&'static str, Vec<[f64; 3]>)>,
}

impl Case {
    /// Relative deviation at a point: the larger one of the displacements that have a reference, or that of the vector;
    /// infinite where the measured value is not a number.
    pub fn deviation(&self, point: &Point) -> f64 {
        let off: [f64; 2] = std::array::from_fn(|k| point.measured[k] - point.expected[k]);
        let finite = |ratio: f64| if ratio.is_nan() { f64::INFINITY } else { ratio };
        if self.as_vector {
            return finite(off[0].hypot(off[1]) / point.expected[0].hypot(point.expected[1]));
        }
        let referenced = (0..2).filter(|&k| !point.expected[k].is_nan());
        referenced.map(|k| finite((off[k] / point.expected[k]).abs())).fold(0.0, f64::max)
    }

    /// Largest deviation of a run and the load where it is, over the loads that have a reference.
    pub fn worst(&self, run: &Run) -> (f64, f64) {
        run.points.iter().filter(|p| p.has_reference()).map(|p| (self.deviation(p), p.load)).fold(
            (f64::NEG_INFINITY, f64::NAN),
            |worst, here| if here.0 > worst.0 { here } else { worst },
        )
    }

    /// The judgement of the finest mesh.
    pub fn verdict(&self) -> Verdict {
        let Some(run) = self.runs.last() else {
            let at = "no mesh".into();
            return Verdict { ok: false, worst: f64::INFINITY, tolerance: self.tolerance, at };
        };
        let (worst, load) = self.worst(run);
        let worst = if worst >= 0.0 { worst } else { f64::INFINITY };
        let at = format!("{load:.2} of the load, {} cells", run.resolution);
        Verdict { ok: worst <= self.tolerance, worst, tolerance: self.tolerance, at }
    }

    /// Orders of convergence between successive meshes, −d ln deviation / d ln n, of the worst deviation.
    pub fn orders(&self) -> Vec<f64> {
        let of = |run: &Run| (self.worst(run).0.ln(), (run.resolution as f64).ln());
        self.runs
            .windows(2)
            .map(|w| {
                let ((e0, n0), (e1, n1)) = (of(&w[0]), of(&w[1]));
                (e0 - e1) / (n1 - n0)
            })
            .collect()
    }

    /// Load against both displacements, all meshes and the reference with its tolerance.
    pub fn load_plot(&self) -> Plot {
        let mut plot = Plot::new(
            &self.title,
            Axis::linear("displacement [m]"),
            Axis::linear("load / full load"),
        )
        .with_verdict(self.verdict());
        let markers = [Marker::Circle, Marker::Square, Marker::Triangle];
        for k in 0..2 {
            if let Some(run) = self.runs.last() {
                let points = run.points.iter().filter(|p| !p.expected[k].is_nan());
                let mut curve: Vec<(f64, f64)> = points.map(|p| (p.expected[k], p.load)).collect();
                let name = format!("{}, reference", self.names[k]);
                // A line through a few points of a curve would not be the curve.
                if curve.len() == run.points.len() {
                    curve.insert(0, (0.0, 0.0));
                    plot = plot.with(Series::line(name, curve).coloured(k));
                } else if !curve.is_empty() {
                    plot = plot.with(Series::markers(name, Marker::Diamond, curve).coloured(k));
                }
            }
            if let Some((name, rows)) = &self.published {
                let points = rows.iter().map(|row| (row[1 + k], row[0])).collect();
                let name = format!("{}, {name}", self.names[k]);
                plot = plot.with(Series::markers(name, Marker::Cross, points).coloured(k));
            }
            for (r, run) in self.runs.iter().enumerate() {
                let points = run.points.iter().map(|p| (p.measured[k], p.load)).collect();
                let name = format!("{}, n = {}", self.names[k], run.resolution);
                let series = Series::markers(name, markers[r % markers.len()], points);
                plot = plot.with(series.coloured(2 + 2 * r + k));
            }
        }
        plot
    }

    /// Worst deviation against cells along the longer side, both axes logarithmic.
    pub fn convergence_plot(&self) -> Plot {
        let curve: Vec<(f64, f64)> =
            self.runs.iter().map(|r| (r.resolution as f64, self.worst(r).0)).collect();
        let title = format!("{}: convergence", self.title);
        let mut plot =
            Plot::new(title, Axis::log("cells n"), Axis::log("worst relative deviation"));
        if let (Some(first), Some(last)) = (curve.first(), curve.last()) {
            let limit = vec![(first.0, self.tolerance), (last.0, self.tolerance)];
            plot = plot.with(Series::dashed("allowed", limit));
        }
        if let Some(triangle) = SlopeTriangle::below(&curve, -2.0) {
            plot = plot.with_slope(triangle);
        }
        plot.with(Series::line_and_markers("worst", Marker::Circle, curve))
            .with_verdict(self.verdict())
    }

    /// All points of all meshes as comma-separated values.
    pub fn write_csv(&self, out: impl Write) -> io::Result<()> {
        let [a, b] = self.names;
        let (ra, rb) = (format!("{a}_reference"), format!("{b}_reference"));
        let header = ["resolution", "load", a, b, &ra, &rb, "newton_steps", "residual"];
        let mut csv = Csv::new(out, &header)?;
        for run in &self.runs {
            for p in &run.points {
                let number = |v: f64| if v.is_nan() { String::new() } else { cell(v) };
                csv.row(&[
                    run.resolution.to_string(),
                    cell(p.load),
                    number(p.measured[0]),
                    number(p.measured[1]),
                    number(p.expected[0]),
                    number(p.expected[1]),
                    p.newton_steps.to_string(),
                    cell(p.residual),
                ])?;
            }
        }
        csv.finish().map(drop)
    }
}

impl Settings {
    /// Refuses settings that ask for nothing.
    pub(crate) fn check(&self) -> Result<(), ShellCaseError> {
        let bad = |what, value, must| Err(ShellCaseError::BadSetting { what, value, must });
        if self.levels == 0 {
            return bad("levels", 0.0, "at least 1");
        }
        match self.resolutions.iter().min() {
            None => bad("the number of resolutions", 0.0, "at least 1"),
            Some(&least) if least < 2 => bad("a resolution", least as f64, "at least 2 cells"),
            _ => Ok(()),
        }
    }

    /// Shares of the full load, in equal steps up to 1.
    pub(crate) fn loads(&self) -> Vec<f64> {
        (1..=self.levels).map(|i| i as f64 / self.levels as f64).collect()
    }
}

/// Residual at which a load step is settled: far below what any displacement shows, above rounding.
pub(crate) const SETTLED: f64 = 1e-7;

/// Residual up to which a search that rounding has stopped is believed: Newton's error is its square.
const BELIEVED: f64 = 1e-5;

/// Newton steps a load step may take; the cases need some ten.
pub(crate) const MAX_STEPS: usize = 300;

/// Follows one load step; `case` and `resolution` only name what failed.
pub(crate) fn settle(
    model: &Model,
    start: &State,
    case: &'static str,
    resolution: usize,
    load: f64,
) -> Result<(State, usize, f64), ShellCaseError> {
    let settings =
        NewtonSettings { tolerance: SETTLED, max_steps: MAX_STEPS, ..NewtonSettings::default() };
    let found = relax(model, start, &settings, |_| true)?;
    let steps = found.history.len();
    if found.residual.is_nan() || found.residual > BELIEVED {
        let (stop, residual) = (found.stop, found.residual);
        return Err(ShellCaseError::NoEquilibrium {
            case,
            resolution,
            load,
            stop,
            steps,
            residual,
        });
    }
    Ok((found.point, steps, found.residual))
}

/// Loads a model in steps, each from the equilibrium before, and measures after each.
pub(crate) fn climb(
    model: &mut Model,
    loads: &[f64],
    case: &'static str,
    resolution: usize,
    begun: Instant,
    measure: impl Fn(&Model, &State) -> [f64; 2],
    expected: impl Fn(usize) -> [f64; 2],
) -> Result<(Run, State), ShellCaseError> {
    let mut state = model.start().clone();
    let mut points = Vec::with_capacity(loads.len());
    for (i, &load) in loads.iter().enumerate() {
        model.set_load(load);
        let (next, newton_steps, residual) = settle(model, &state, case, resolution, load)?;
        state = next;
        points.push(Point {
            load,
            measured: measure(model, &state),
            expected: expected(i),
            newton_steps,
            residual,
        });
    }
    let run = Run { resolution, unknowns: model.len(), points, time: begun.elapsed() };
    Ok((run, state))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(points: Vec<([f64; 2], [f64; 2])>, as_vector: bool) -> Case {
        let points = points.into_iter().enumerate().map(|(i, (measured, expected))| Point {
            load: i as f64,
            measured,
            expected,
            newton_steps: 1,
            residual: 0.0,
        });
        let time = Duration::ZERO;
        let run = Run { resolution: 10, unknowns: 1, points: points.collect(), time };
        let finer = Run { resolution: 20, ..run.clone() };
        Case {
            title: "test".into(),
            names: ["u", "w"],
            runs: vec![run, finer],
            tolerance: 0.01,
            as_vector,
            published: None,
        }
    }

    #[test]
    fn the_worse_displacement_decides() {
        let c = case(vec![([1.0, 2.0], [1.0, 2.0]), ([1.001, 2.1], [1.0, 2.0])], false);
        let verdict = c.verdict();
        assert!(!verdict.ok && (verdict.worst - 0.05).abs() < 1e-12, "{verdict}");
        // As a vector a displacement that passes through zero does no harm.
        let c = case(vec![([10.0, 0.05], [10.0, 0.0])], true);
        assert!(c.verdict().ok && (c.verdict().worst - 0.005).abs() < 1e-12);
    }

    #[test]
    fn only_references_judge_and_nan_is_never_ok() {
        let none = [f64::NAN; 2];
        assert!(case(vec![([1.0, 9.0], [1.0, f64::NAN]), ([5.0, 5.0], none)], false).verdict().ok);
        assert!(!case(vec![([5.0, 5.0], none)], false).verdict().ok, "nothing was shown");
        assert!(!case(vec![(none, [1.0, 1.0])], false).verdict().ok);
        assert!(!case(vec![(none, [1.0, 1.0])], true).verdict().ok);
        assert!(!Case { runs: vec![], ..case(vec![], false) }.verdict().ok);
    }

    #[test]
    fn order_of_a_quadratic_method_is_two() {
        let mut c = case(vec![([1.04, 1.0], [1.0, 1.0])], false);
        c.runs[1].points[0].measured = [1.01, 1.0];
        assert!((c.orders()[0] - 2.0).abs() < 1e-12, "{:?}", c.orders());
        let svg = c.convergence_plot().to_svg();
        assert!(svg.contains("class=\"slope\""));
        let mut text = Vec::new();
        c.write_csv(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("resolution,load,u,w,u_reference,w_reference,newton_steps"));
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn settings_that_ask_for_nothing_are_refused() {
        let ok = Settings::default();
        assert!(ok.check().is_ok());
        assert!(Settings { levels: 0, ..ok.clone() }.check().is_err());
        assert!(Settings { resolutions: vec![], ..ok.clone() }.check().is_err());
        assert!(Settings { resolutions: vec![20, 1], ..ok }.check().is_err());
    }
}
