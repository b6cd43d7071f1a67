//! The cantilever: a strip clamped horizontally, bent by its weight, at many weights and scales.

use toile_geometry::Vec3;
use toile_geometry::generate::Triangulation;
use toile_sim::State;

use super::progress::{Meter, Progress};
use super::{
    Cells, Check, Figure, Outcome, ProtocolError, ShellModel, Stages, Strip, TableRow, positive,
    resolution, some,
};
use crate::elastica::{heavy_cantilever, heavy_cantilever_curve};
use crate::verdict::{Report, cell};
use toile_report::plot::{Axis, Band, Marker, Plot, Series};

/// H/W at mid width of a plate of finite width, which is not that of the elastica.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlateEffect {
    /// w/L.
    pub w_over_l: f64,
    /// h/L.
    pub h_over_l: f64,
    /// ν.
    pub nu: f64,
    /// Γ*.
    pub gamma: f64,
    /// H/W at mid width.
    pub h_over_w: f64,
}

/// Values of a Kirchhoff–Love shell computed with another discretisation (isogeometric, to six digits).
///
/// Between the free edges, where it bends like a rod, and the middle, where anticlastic bending is suppressed, a plate
/// with ν > 0 lies 0.3 to 1.4 % above the elastica.
pub const PLATE_EFFECT: [PlateEffect; 3] = {
    const fn at(gamma: f64, h_over_w: f64) -> PlateEffect {
        PlateEffect { w_over_l: 0.6, h_over_l: 0.002, nu: 0.3, gamma, h_over_w }
    }
    [at(1.0, 0.126330), at(10.0, 1.071923), at(100.0, 5.903438)]
};

/// One specimen with the loads and meshes it is measured at.
#[derive(Clone, Debug, PartialEq)]
pub struct CantileverSeries {
    /// The strip.
    pub strip: Strip,
    /// Γ*, sorted upwards when run.
    pub gammas: Vec<f64>,
    /// Vertices along the length, coarsest first.
    pub resolutions: Vec<usize>,
}

/// What [`cantilever`] measures.
#[derive(Clone, Debug, PartialEq)]
pub struct CantileverSettings {
    /// Specimens.
    pub series: Vec<CantileverSeries>,
    /// Shell models, each put through all series.
    pub models: Vec<ShellModel>,
    /// See [`Cells::grading`]. At Γ* = 1e4 the strip turns down within L/√Γ* = L/100 of the clamp; with 4 the first of
    /// 60 cells is L/400. The same for every Γ*.
    pub grading: f64,
    /// How cells are cut; see [`BucklingSettings::triangulation`](super::BucklingSettings::triangulation).
    pub triangulation: Triangulation,
    /// Allowed relative deviation of H/W for Koiter shells at the finest mesh.
    pub tolerance: f64,
}

impl CantileverSettings {
    /// Loads and resolutions of [`Default`] for other Poisson's ratios.
    ///
    /// With ν = 0 bending is cylindrical whatever the width, and the curve is that of the elastica: two narrow strips
    /// of the thesis' lengths and densities. They are thinner than the thesis', since a sheet stretches by
    /// Γ* h²/12L² of its length: 1 % at Γ* = 1e4 for its 2.5 mm, 0.03 % here. Narrow, because the error of sin and tan
    /// normals grows with the cells' width over the length L/√Γ* of the bend, and cells across cost.
    /// With ν ≠ 0 the width matters: the plate of [`PLATE_EFFECT`] (L = 0.5 m, w = 0.3 m, h = 1 mm, as in the thesis),
    /// to Γ* = 100, beyond which a mesh that resolves the bend in both directions takes minutes.
    pub fn with_poisson(poisson: &[f64]) -> Self {
        let mut series = Vec::new();
        for &poisson in poisson {
            if poisson == 0.0 {
                let gammas: Vec<f64> = (-4..=8).map(|i| 10f64.powf(0.5 * f64::from(i))).collect();
                // Another scale is shown at the finest mesh only: a scaled problem has scaled errors.
                for (length, thickness, density, resolutions) in
                    [(0.5, 0.25e-3, 1287.0, vec![30, 60, 120]), (0.8, 0.5e-3, 12.87, vec![120])]
                {
                    let width = length / 100.0;
                    let strip = Strip { length, width, thickness, density, poisson };
                    series.push(CantileverSeries { strip, gammas: gammas.clone(), resolutions });
                }
            } else {
                let strip =
                    Strip { length: 0.5, width: 0.3, thickness: 1e-3, density: 1287.0, poisson };
                let gammas = vec![0.01, 0.1, 1.0, 10.0, 100.0];
                series.push(CantileverSeries { strip, gammas, resolutions: vec![30, 60, 120] });
            }
        }
        let models =
            vec![ShellModel::AVERAGE, ShellModel::SIN, ShellModel::TAN, ShellModel::HINGES];
        Self {
            series,
            models,
            grading: 4.0,
            triangulation: Triangulation::Regular,
            tolerance: 0.01,
        }
    }

    /// A few seconds: three loads, one narrow strip, coarse meshes.
    pub fn quick() -> Self {
        let mut settings = Self::with_poisson(&[0.0]);
        settings.series.truncate(1);
        settings.series[0].gammas = vec![0.1, 10.0, 1000.0];
        settings.series[0].resolutions = vec![24, 48];
        settings
    }
}

impl Default for CantileverSettings {
    /// ν = 0 and 0.3, Koiter with its three normals, and hinges.
    fn default() -> Self {
        Self::with_poisson(&[0.0, 0.3])
    }
}

/// One measurement of [`cantilever`].
#[derive(Clone, Debug, PartialEq)]
pub struct CantileverRow {
    /// Γ*.
    pub gamma: f64,
    /// H/W at mid width; not a number where no equilibrium was found.
    pub h_over_w: f64,
    /// The shell.
    pub model: ShellModel,
    /// Vertices along the length.
    pub resolution: usize,
    /// The specimen, with its ν.
    pub strip: Strip,
    /// H/W of the elastica at this Γ*.
    pub elastica: f64,
}

impl TableRow for CantileverRow {
    const HEADER: &'static [&'static str] = &["gamma", "h_over_w", "nu", "model", "resolution"];

    fn cells(&self) -> Vec<String> {
        vec![
            cell(self.gamma),
            cell(self.h_over_w),
            cell(self.strip.poisson),
            self.model.to_string(),
            self.resolution.to_string(),
        ]
    }
}

impl CantileverRow {
    /// H/W over that of the elastica, less one.
    pub fn deviation(&self) -> f64 {
        self.h_over_w / self.elastica - 1.0
    }

    fn reference(&self) -> Option<f64> {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
        if self.strip.poisson == 0.0 {
            return Some(self.elastica);
        }
        let strip = &self.strip;
        PLATE_EFFECT
            .iter()
            .find(|p| {
                near(strip.width / strip.length, p.w_over_l)
                    && near(strip.thickness / strip.length, p.h_over_l)
                    && near(strip.poisson, p.nu)
                    && near(self.gamma, p.gamma)
            })
            .map(|p| p.h_over_w)
    }
}

struct Case {
    series: CantileverSeries,
    model: ShellModel,
    cells: Cells,
    resolution: usize,
}

/// Cells across: on a wide plate half as long again as the mean cell along, on a narrow strip one for thirty along; they shrink
/// in both directions with refinement.
fn cells(strip: &Strip, resolution: usize, grading: f64, triangulation: Triangulation) -> Cells {
    let n = resolution as f64;
    let across = (n * strip.width / strip.length / 1.5).max(n / 30.0).round() as usize;
    Cells { along: resolution - 1, across: across.max(2), grading, triangulation }
}

/// Bends strips by their weight and compares H/W at mid width of the tip with the elastica (ν = 0) or with the
/// plate of finite width ([`PLATE_EFFECT`]).
///
/// One setting of the solver for all; weights are increased in turn, each from the shape before.
/// Koiter shells must keep [`CantileverSettings::tolerance`] at their finest resolution and come closer with refinement;
/// hinges are measured and reported, since their modulus is that of the mesh.
pub fn cantilever(
    settings: &CantileverSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<CantileverRow>, ProtocolError> {
    some("the number of specimens", &settings.series)?;
    some("the number of models", &settings.models)?;
    positive("the tolerance", settings.tolerance)?;
    if !(0.0..=12.0).contains(&settings.grading) {
        let value = settings.grading;
        return Err(ProtocolError::Input { what: "the grading", value, must: "from 0 to 12" });
    }
    let mut cases = Vec::new();
    for series in &settings.series {
        series.strip.check()?;
        some("the number of loads", &series.gammas)?;
        some("the number of resolutions", &series.resolutions)?;
        series.gammas.iter().try_for_each(|g| positive("Γ*", *g))?;
        let mut series = series.clone();
        series.gammas.sort_by(f64::total_cmp);
        for &n in &series.resolutions {
            resolution(n)?;
            for &model in &settings.models {
                let cells = cells(&series.strip, n, settings.grading, settings.triangulation);
                cases.push(Case { series: series.clone(), model, cells, resolution: n });
            }
        }
    }
    let meter_progress: &mut Progress<'_> = progress;
    let count = cases.iter().map(|c| c.series.gammas.len()).sum();
    let rows = {
        let meter = Meter::new(meter_progress, count);
        let cost = |c: &Case| {
            (c.cells.along * c.cells.across * c.series.gammas.len()) as f64
                * if c.model.has_edge_angles() { 4.0 } else { 1.0 }
        };
        meter.run(&cases, cost, |case| measure(case, &meter))?.concat()
    };
    Ok(judge(settings, rows))
}

fn measure(case: &Case, meter: &Meter<'_>) -> Result<Vec<CantileverRow>, ProtocolError> {
    let CantileverSeries { strip, gammas, .. } = &case.series;
    let mut state: Option<State> = None;
    let mut out = Vec::new();
    for (&gamma, curve) in gammas.iter().zip(heavy_cantilever_curve(gammas)?) {
        let stages = Stages::new(strip, case.cells, case.model, gamma, -Vec3::z())?;
        let start = state.as_ref().unwrap_or(&stages.strip().flat);
        let found = stages.settle(start, meter)?;
        let h_over_w = found.as_ref().map_or(f64::NAN, |s| {
            let tip = stages.strip().tip(s);
            -tip.z / tip.x
        });
        state = found.or(state);
        meter.finished(&format!("{} n = {} Γ* = {gamma}", case.model, case.resolution));
        out.push(CantileverRow {
            gamma,
            h_over_w,
            model: case.model,
            resolution: case.resolution,
            strip: *strip,
            elastica: curve.drop_over_reach,
        });
    }
    Ok(out)
}

fn judge(settings: &CantileverSettings, rows: Vec<CantileverRow>) -> Outcome<CantileverRow> {
    let (mut reports, mut checks, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (reference, title) in [(true, "elastica"), (false, "plate of finite width")] {
        for &model in settings.models.iter().filter(|m| m.is_koiter()) {
            let name = format!("cantilever, {model}, against the {title}");
            let mut report = Report::new(name, settings.tolerance);
            for series in &settings.series {
                if (series.strip.poisson == 0.0) != reference {
                    continue;
                }
                let finest = series.resolutions.iter().max();
                let mine = |r: &&CantileverRow| {
                    r.strip == series.strip && r.model == model && Some(&r.resolution) == finest
                };
                for row in rows.iter().filter(mine) {
                    if let Some(expected) = row.reference() {
                        let (nu, n) = (row.strip.poisson, row.resolution);
                        let at = format!(
                            "Γ* = {}, L = {} m, ν = {nu}, n = {n}",
                            cell((1e4 * row.gamma).round() / 1e4),
                            row.strip.length
                        );
                        report.push(at, expected, row.h_over_w);
                    }
                }
            }
            if !report.rows.is_empty() {
                reports.push(report);
            }
        }
    }
    for &model in &settings.models {
        for series in &settings.series {
            let mut sizes = series.resolutions.clone();
            sizes.sort_unstable();
            let worst: Vec<f64> = sizes
                .iter()
                .map(|n| {
                    let mine = |r: &&CantileverRow| {
                        r.strip == series.strip && r.model == model && r.resolution == *n
                    };
                    let off = |r: &CantileverRow| Some((r.h_over_w / r.reference()? - 1.0).abs());
                    let nan_last = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
                    rows.iter().filter(mine).filter_map(off).fold(0.0, nan_last)
                })
                .collect();
            let Strip { length, poisson, .. } = series.strip;
            let list: Vec<String> = (sizes.iter().zip(&worst))
                .map(|(n, w)| format!("n = {n}: {:.3} %", 100.0 * w))
                .collect();
            let detail = format!("L = {length} m, ν = {poisson}; worst {}", list.join(", "));
            if !model.is_koiter() {
                notes.push(format!("{model} is as stiff as its mesh makes it: {detail}"));
            } else if worst.len() > 1 && worst.iter().any(|w| *w != 0.0) {
                // Below a tenth of the tolerance the stretch of the sheet decides, not the mesh.
                let floor = 0.1 * settings.tolerance;
                let ok = worst.windows(2).all(|w| w[1] < w[0] || w[1] < floor);
                let title = format!("{model} comes closer with refinement");
                checks.push(Check { title, ok, detail });
            }
        }
    }
    let wide = rows.iter().filter(|r| r.model.is_koiter() && r.strip.poisson != 0.0);
    let above = wide.map(|r| r.deviation()).filter(|d| d.is_finite()).fold(0.0, f64::max);
    if above > 0.0 {
        notes.push(format!(
            "plates with ν > 0 lie up to {:.1} % above the elastica: anticlastic bending, not an error",
            100.0 * above
        ));
    }
    let mut outcome = Outcome { rows, reports, checks, notes, figures: Vec::new() };
    outcome.figures = figures(settings, &outcome);
    outcome
}

const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];

fn figures(settings: &CantileverSettings, outcome: &Outcome<CantileverRow>) -> Vec<Figure> {
    let rows = &outcome.rows;
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for row in rows {
        (low, high) = (low.min(row.gamma), high.max(row.gamma));
    }
    let curve: Vec<(f64, f64)> = (0..=80)
        .map(|i| low * (high / low).powf(f64::from(i) / 80.0))
        .filter_map(|g| heavy_cantilever(g).ok().map(|c| (g, c.drop_over_reach)))
        .collect();
    let finest = |r: &CantileverRow| {
        let same = |s: &&CantileverSeries| s.strip == r.strip;
        let series = settings.series.iter().find(same);
        series.and_then(|s| s.resolutions.iter().max()) == Some(&r.resolution)
    };
    let pick = |model: ShellModel, flat: bool, y: &dyn Fn(&CantileverRow) -> f64| {
        let mine =
            |r: &&CantileverRow| r.model == model && finest(r) && (r.strip.poisson == 0.0) == flat;
        rows.iter().filter(mine).map(|r| (r.gamma, y(r))).collect::<Vec<_>>()
    };
    let verdict = outcome.verdict();
    let mut master = Plot::new("Cantilever under its weight", Axis::log("Γ*"), Axis::log("H/W"))
        .with(Series::line("elastica", curve).coloured(0))
        .with_verdict(verdict.clone());
    let band = Band {
        name: format!("± {} %", 100.0 * settings.tolerance),
        points: vec![
            (low, -100.0 * settings.tolerance, 100.0 * settings.tolerance),
            (high, -100.0 * settings.tolerance, 100.0 * settings.tolerance),
        ],
    };
    let y = Axis::linear("deviation of H/W from the elastica [%]");
    let mut off = Plot::new("Cantilever: deviation, Koiter shells", Axis::log("Γ*"), y)
        .with_band(band)
        .with_verdict(verdict);
    for (i, &model) in settings.models.iter().enumerate() {
        for flat in [true, false] {
            let points = pick(model, flat, &|r| r.h_over_w);
            if points.is_empty() {
                continue;
            }
            let name = format!("{model}, {}", if flat { "ν = 0" } else { "ν > 0, wide" });
            let marker = MARKERS[i % 5];
            let colour = i + 1;
            if flat || settings.series.iter().all(|s| s.strip.poisson != 0.0) {
                master = master.with(Series::markers(&name, marker, points).coloured(colour));
            }
            if model.is_koiter() {
                let mut points = pick(model, flat, &|r| 100.0 * r.deviation());
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                let series = if flat {
                    Series::markers(name, marker, points)
                } else {
                    Series {
                        stroke: Some(toile_report::plot::Stroke::Dashed),
                        ..Series::markers(name, marker, points)
                    }
                };
                off = off.with(series.coloured(colour));
            }
        }
    }
    let known: Vec<(f64, f64)> = PLATE_EFFECT
        .iter()
        .filter_map(|p| {
            let elastica = heavy_cantilever(p.gamma).ok()?.drop_over_reach;
            Some((p.gamma, 100.0 * (p.h_over_w / elastica - 1.0)))
        })
        .collect();
    if settings.series.iter().any(|s| s.strip.poisson != 0.0) {
        let name = "plate of width 0.6 L, ν = 0.3";
        off = off.with(Series::line_and_markers(name, Marker::Cross, known).coloured(0));
    }
    vec![
        Figure { file: "cantilever.svg".into(), plot: master },
        Figure { file: "cantilever_deviation.svg".into(), plot: off },
    ]
}
