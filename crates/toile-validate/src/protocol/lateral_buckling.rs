//! Lateral buckling: a strip clamped along a vertical edge, with gravity in its plane, until it leaves the plane.

use toile_energy::Curvature;
use toile_geometry::Vec3;
use toile_geometry::generate::Triangulation;
use toile_sim::State;
use toile_solve::{Cholesky, EigenSettings, SolveError, lowest_mode};

use super::progress::{Meter, Progress};
use super::{
    Cells, Check, Clamped, Figure, GRAVITY, Outcome, ProtocolError, ShellModel, Stages, Strip,
    TableRow, positive, resolution, some,
};
use crate::lateral_buckling::thesis_fit;
use crate::plate::lateral_buckling_threshold;
use crate::verdict::{Report, cell};
use toile_report::plot::{Axis, Band, Marker, Plot, Series};

/// How a threshold is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Procedure {
    /// The load at which the least eigenvalue at the equilibrium in the plane passes zero.
    Stability,
    /// As published: buckled with a tilted clamp, set upright, then unloaded step by step until the strip is flat.
    Continuation {
        /// Γ* to start with.
        from: f64,
        /// Γ* at the end.
        to: f64,
        /// Steps between.
        steps: usize,
        /// Tilt of the clamp at the start \[rad\]; the thesis does not tell its own.
        tilt: f64,
    },
}

/// What [`lateral_buckling`] measures.
#[derive(Clone, Debug, PartialEq)]
pub struct BucklingSettings {
    /// w/L.
    pub widths: Vec<f64>,
    /// ν.
    pub poisson: Vec<f64>,
    /// Shell models.
    pub models: Vec<ShellModel>,
    /// Vertices per length L, coarsest first.
    pub resolutions: Vec<usize>,
    /// h/L. The reference is the limit of thin plates; the deflection in the plane before buckling changes the threshold
    /// by (h/w)², 1e-4 at w/L = 0.1 for the default of 1e-3.
    pub h_over_l: f64,
    /// How cells are cut. Parallel diagonals by default: on alternating ones averaged normals resist twisting by half as
    /// much again (see the patch test), and their thresholds do not converge.
    pub triangulation: Triangulation,
    /// How thresholds are found.
    pub procedure: Procedure,
    /// Allowed relative deviation for sin and tan normals at the finest mesh.
    pub tolerance: f64,
    /// How far too high the thresholds of hinges must be to count as the published failure.
    pub hinge_failure: f64,
}

impl Default for BucklingSettings {
    /// Ten widths for ν = 0, 0.2 and 0.35.
    fn default() -> Self {
        Self {
            widths: (1..=10).map(|i| 0.1 * f64::from(i)).collect(),
            poisson: vec![0.0, 0.2, 0.35],
            models: vec![ShellModel::SIN, ShellModel::TAN, ShellModel::AVERAGE, ShellModel::HINGES],
            resolutions: vec![25, 50],
            h_over_l: 1e-3,
            triangulation: Triangulation::Regular,
            procedure: Procedure::Stability,
            tolerance: 0.02,
            hinge_failure: 1.2,
        }
    }
}

impl BucklingSettings {
    /// A few seconds: two widths, one ν, coarse meshes.
    pub fn quick() -> Self {
        Self {
            widths: vec![0.2, 0.5],
            poisson: vec![0.35],
            resolutions: vec![16, 24],
            tolerance: 0.03,
            ..Self::default()
        }
    }
}

/// One threshold of [`lateral_buckling`].
#[derive(Clone, Debug, PartialEq)]
pub struct BucklingRow {
    /// w/L.
    pub w_over_l: f64,
    /// ν.
    pub nu: f64,
    /// Γ*_c; not a number where none was found.
    pub gamma_c: f64,
    /// The shell.
    pub model: ShellModel,
    /// Vertices per length.
    pub resolution: usize,
    /// Γ*_c of the thin plate, from [`crate::plate`].
    pub reference: f64,
}

impl TableRow for BucklingRow {
    const HEADER: &'static [&'static str] = &["w_over_l", "nu", "gamma_c", "model", "resolution"];

    fn cells(&self) -> Vec<String> {
        vec![
            // Tenths that are sums of tenths would otherwise print as 0.30000000000000004.
            cell((1e12 * self.w_over_l).round() / 1e12),
            cell(self.nu),
            cell(self.gamma_c),
            self.model.to_string(),
            self.resolution.to_string(),
        ]
    }
}

impl BucklingRow {
    fn ratio(&self) -> f64 {
        self.gamma_c / self.reference
    }
}

/// L = 1 m, D = 1 N·m; the load factor of the model is Γ* itself.
fn specimen(w_over_l: f64, nu: f64, h_over_l: f64) -> Strip {
    Strip {
        length: 1.0,
        width: w_over_l,
        thickness: h_over_l,
        density: 1.0 / (h_over_l * GRAVITY),
        poisson: nu,
    }
}

/// Square cells, at least six across.
fn cells(w_over_l: f64, resolution: usize, triangulation: Triangulation) -> Cells {
    Cells {
        along: resolution,
        across: ((resolution as f64 * w_over_l).round() as usize).max(6),
        grading: 0.0,
        triangulation,
    }
}

/// A threshold and what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Γ*_c; not a number if none was found.
    pub gamma: f64,
    /// Loads at which the stability was computed.
    pub evaluations: usize,
}

/// Γ*_c by [`Procedure::Stability`].
///
/// At each load the equilibrium in the plane is found with the strip held in it; freed, its Hessian has a least
/// eigenvalue against the masses that falls with the load. Since gravity up and down are the same, it is a function of
/// Γ*², nearly a straight line: a secant iteration in Γ*², kept between known signs, needs about five loads.
pub fn threshold(
    w_over_l: f64,
    nu: f64,
    h_over_l: f64,
    shell: ShellModel,
    vertices_per_length: usize,
    triangulation: Triangulation,
) -> Result<Threshold, ProtocolError> {
    let mut nobody = |_: f64, _: &str| true;
    let meter = Meter::new(&mut nobody, 1);
    find_threshold(w_over_l, nu, h_over_l, shell, vertices_per_length, triangulation, &meter)
}

/// Relative accuracy of a threshold.
const ACCURACY: f64 = 1e-4;

fn find_threshold(
    w_over_l: f64,
    nu: f64,
    h_over_l: f64,
    shell: ShellModel,
    n: usize,
    triangulation: Triangulation,
    meter: &Meter<'_>,
) -> Result<Threshold, ProtocolError> {
    let strip = specimen(w_over_l, nu, h_over_l);
    strip.check()?;
    let mut plate =
        Clamped::new(&strip, cells(w_over_l, n, triangulation), shell, 1.0, -Vec3::y())?;
    let mut cholesky = Cholesky::new(plate.model.pattern().clone())?;
    let mut state = plate.flat.clone();
    let mut eigenvalue = |gamma: f64| -> Result<f64, ProtocolError> {
        state = planar(&mut plate, &mut cholesky, &state, gamma)?;
        stability(&plate, &mut cholesky, &state)
    };
    // Known points (Γ*², λ) on either side: below the threshold λ > 0, above it λ < 0.
    let mut below = (0.0, eigenvalue(0.0)?);
    let mut above: Option<(f64, f64)> = None;
    // Where to look first: below the threshold of any plate, so that the factorisation is definite.
    let mut q = 100.0f64;
    let mut last = below;
    for evaluations in 2..=40 {
        meter.alive();
        meter.check()?;
        let here = (q, eigenvalue(q.sqrt())?);
        let slope = (here.1 - last.1) / (here.0 - last.0);
        last = here;
        if here.1 > 0.0 {
            below = here
        } else {
            above = Some(here)
        }
        let secant = here.0 - here.1 / slope;
        let next = match above {
            // No sign change yet: follow the secant, but not too far.
            None if slope < 0.0 => secant.min(16.0 * q),
            None => 4.0 * q,
            Some(above) if secant > below.0 && secant < above.0 => secant,
            Some(above) => 0.5 * (below.0 + above.0),
        };
        if (next.sqrt() - q.sqrt()).abs() <= ACCURACY * q.sqrt() {
            return Ok(Threshold { gamma: next.sqrt(), evaluations });
        }
        q = next;
        if q > 1e8 {
            break; // Γ* = 1e4: nothing buckles there for the first time
        }
    }
    Ok(Threshold { gamma: f64::NAN, evaluations: 40 })
}

/// Equilibrium in the plane at load `gamma`, from a nearby one.
fn planar(
    plate: &mut Clamped,
    cholesky: &mut Cholesky,
    start: &State,
    gamma: f64,
) -> Result<State, ProtocolError> {
    plate.model.set_load(gamma);
    plate.hold_in_plane(true);
    let model = &plate.model;
    let mut state = start.clone();
    let mut next = start.clone();
    let mut gradient = vec![0.0; model.len()];
    let mut step = vec![0.0; model.len()];
    let mut values = vec![0.0; model.pattern().nnz()];
    // Thin sheets hardly move in their plane: two steps are the rule.
    for _ in 0..20 {
        model.gradient(&state, &mut gradient);
        for (g, fixed) in gradient.iter_mut().zip(model.fixed()) {
            *g = if *fixed { 0.0 } else { -*g };
        }
        model.hessian(&state, Curvature::Exact, &mut values);
        cholesky.factorize(&values)?;
        cholesky.solve(&values, &gradient, &mut step)?;
        state.advanced_into(&step, 1.0, &mut next);
        std::mem::swap(&mut state, &mut next);
        if step.iter().fold(0.0f64, |a, s| a.max(s.abs())) < 1e-11 {
            break;
        }
    }
    plate.hold_in_plane(false);
    Ok(state)
}

/// Least eigenvalue of the Hessian against the masses \[1/s²\].
fn stability(
    plate: &Clamped,
    cholesky: &mut Cholesky,
    state: &State,
) -> Result<f64, ProtocolError> {
    let model = &plate.model;
    let mut values = vec![0.0; model.pattern().nnz()];
    model.hessian(state, Curvature::Exact, &mut values);
    let masses: Vec<f64> = (model.masses().iter().zip(model.fixed()))
        .map(|(m, fixed)| if *fixed { 0.0 } else { *m })
        .collect();
    let settings = EigenSettings { tolerance: 1e-6, ..EigenSettings::default() };
    match lowest_mode(cholesky, &values, &masses, &settings) {
        Ok(mode) => Ok(mode.value),
        // No shift of the masses makes it definite: an edge angle itself has lost its resistance.
        Err(SolveError::NotPositiveDefinite { .. }) => Ok(f64::NAN),
        Err(error) => Err(error.into()),
    }
}

/// Γ*_c by [`Procedure::Continuation`]: where the square of the lateral tip displacement, extrapolated from the last two
/// buckled loads, vanishes.
pub fn threshold_by_continuation(
    w_over_l: f64,
    nu: f64,
    h_over_l: f64,
    shell: ShellModel,
    vertices_per_length: usize,
    triangulation: Triangulation,
    procedure: Procedure,
) -> Result<f64, ProtocolError> {
    let mut nobody = |_: f64, _: &str| true;
    let meter = Meter::new(&mut nobody, 1);
    follow_down(
        w_over_l,
        nu,
        h_over_l,
        shell,
        vertices_per_length,
        triangulation,
        procedure,
        &meter,
    )
}

/// Lateral displacement over L from which a strip counts as buckled.
const BUCKLED: f64 = 1e-3;

fn follow_down(
    w_over_l: f64,
    nu: f64,
    h_over_l: f64,
    shell: ShellModel,
    n: usize,
    triangulation: Triangulation,
    procedure: Procedure,
    meter: &Meter<'_>,
) -> Result<f64, ProtocolError> {
    let Procedure::Continuation { from, to, steps, tilt } = procedure else {
        return Ok(find_threshold(w_over_l, nu, h_over_l, shell, n, triangulation, meter)?.gamma);
    };
    positive("the first load", from)?;
    positive("the last load", to)?;
    let strip = specimen(w_over_l, nu, h_over_l);
    strip.check()?;
    let tilted = Vec3::new(0.0, -tilt.cos(), -tilt.sin());
    let cells = cells(w_over_l, n, triangulation);
    let mut stages = Stages::new(&strip, cells, shell, from, tilted)?;
    let flat = stages.strip().flat.clone();
    let Some(mut state) = stages.settle(&flat, meter)? else { return Ok(f64::NAN) };
    stages.pull(-Vec3::y());
    let mut buckled: Vec<(f64, f64)> = Vec::new();
    for i in 0..=steps.max(1) {
        let gamma = from + (to - from) * i as f64 / steps.max(1) as f64;
        stages.set_load(gamma / from);
        let Some(next) = stages.settle(&state, meter)? else { return Ok(f64::NAN) };
        state = next;
        let lateral = stages.strip().tip_displacement(&state).z.abs();
        if lateral > BUCKLED {
            buckled.push((gamma, lateral * lateral));
            continue;
        }
        return Ok(match buckled[..] {
            [] => f64::NAN, // flat from the start: the threshold lies above
            [(last, _)] => 0.5 * (last + gamma),
            [.., (g1, a1), (g2, a2)] => {
                (g2 - a2 * (g1 - g2) / (a1 - a2)).clamp(gamma.min(g2), gamma.max(g2))
            }
        });
    }
    Ok(f64::NAN) // still buckled at the end: the threshold lies below
}

struct Case {
    w_over_l: f64,
    nu: f64,
    model: ShellModel,
    resolution: usize,
}

/// Finds the loads at which strips leave their plane and compares them with the Ritz solution of [`crate::plate`].
///
/// Sin and tan normals must keep [`BucklingSettings::tolerance`] at the finest resolution. Averaged normals converge more
/// slowly (in the thesis too: only from 100 vertices per length) and are reported. Hinges must fail, as published:
/// thresholds far too high, and refinement no help.
pub fn lateral_buckling(
    settings: &BucklingSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<BucklingRow>, ProtocolError> {
    some("the number of widths", &settings.widths)?;
    some("the number of Poisson's ratios", &settings.poisson)?;
    some("the number of models", &settings.models)?;
    some("the number of resolutions", &settings.resolutions)?;
    positive("the tolerance", settings.tolerance)?;
    positive("h/L", settings.h_over_l)?;
    settings.resolutions.iter().try_for_each(|n| resolution(*n))?;
    let mut cases = Vec::new();
    let mut references = Vec::new();
    for &nu in &settings.poisson {
        for &w_over_l in &settings.widths {
            references.push((w_over_l, nu));
            for &n in &settings.resolutions {
                for &model in &settings.models {
                    cases.push(Case { w_over_l, nu, model, resolution: n });
                }
            }
        }
    }
    let rows = {
        let meter = Meter::new(progress, cases.len() + references.len());
        let references = meter.run(
            &references,
            |_| 0.0,
            |&(w_over_l, nu)| {
                let value = lateral_buckling_threshold(w_over_l, nu)?;
                meter.finished(&format!("reference w/L = {w_over_l}"));
                Ok((w_over_l, nu, value))
            },
        )?;
        let cost = |c: &Case| {
            c.w_over_l
                * (c.resolution * c.resolution) as f64
                * if c.model.has_edge_angles() { 2.0 } else { 1.0 }
        };
        meter.run(&cases, cost, |c| {
            let gamma_c = follow_down(
                c.w_over_l,
                c.nu,
                settings.h_over_l,
                c.model,
                c.resolution,
                settings.triangulation,
                settings.procedure,
                &meter,
            )?;
            meter.finished(&format!("{} n = {} w/L = {:.2}", c.model, c.resolution, c.w_over_l));
            let known = references.iter().find(|r| r.0 == c.w_over_l && r.1 == c.nu);
            Ok(BucklingRow {
                w_over_l: c.w_over_l,
                nu: c.nu,
                gamma_c,
                model: c.model,
                resolution: c.resolution,
                reference: known.map_or(f64::NAN, |r| r.2),
            })
        })?
    };
    Ok(judge(settings, rows))
}

fn judge(settings: &BucklingSettings, rows: Vec<BucklingRow>) -> Outcome<BucklingRow> {
    let (mut reports, mut checks, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let finest = settings.resolutions.iter().copied().max().unwrap_or(0);
    let of = |model: ShellModel, n: usize| {
        rows.iter().filter(move |r| r.model == model && r.resolution == n)
    };
    let mut sizes = settings.resolutions.clone();
    sizes.sort_unstable();
    for &model in &settings.models {
        let worst: Vec<String> = sizes
            .iter()
            .map(|&n| {
                let off = of(model, n).map(|r| (r.ratio() - 1.0).abs());
                let most = off.fold(0.0, |a: f64, b| if b.is_nan() || b > a { b } else { a });
                format!("n = {n}: {:.2} %", 100.0 * most)
            })
            .collect();
        let worst = worst.join(", ");
        if model.has_edge_angles() {
            let title = format!("lateral buckling, {model}, against the thin plate");
            let mut report = Report::new(title, settings.tolerance);
            for row in of(model, finest) {
                let at = format!("w/L = {:.2}, ν = {}, n = {finest}", row.w_over_l, row.nu);
                report.push(at, row.reference, row.gamma_c);
            }
            reports.push(report);
            notes.push(format!("{model}: largest deviations {worst}"));
        } else if model.is_koiter() {
            notes.push(format!("{model} converges more slowly, not judged: {worst}"));
        } else {
            let ratios = |n| of(model, n).map(BucklingRow::ratio);
            let least =
                ratios(finest).fold(f64::INFINITY, |a, b| if b.is_nan() { b } else { a.min(b) });
            let most = ratios(finest).fold(0.0, f64::max);
            checks.push(Check {
                title: format!("{model} fails as published: thresholds far too high"),
                ok: least > settings.hinge_failure,
                detail: format!("{least:.2} to {most:.2} times the plate's at n = {finest}"),
            });
            if let [.., coarse, fine] = sizes[..] {
                let change = (of(model, coarse).zip(of(model, fine)))
                    .map(|(a, b)| (b.gamma_c / a.gamma_c - 1.0).abs())
                    .fold(0.0, f64::max);
                checks.push(Check {
                    title: format!("{model} fails as published: refinement does not help"),
                    ok: change < 0.25 * (least - 1.0),
                    detail: format!(
                        "changes by {:.1} % from n = {coarse} to {fine}",
                        100.0 * change
                    ),
                });
            }
        }
    }
    let mut outcome = Outcome { rows, reports, checks, notes, figures: Vec::new() };
    outcome.figures = figures(settings, &outcome, finest);
    outcome
}

const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];

fn figures(
    settings: &BucklingSettings,
    outcome: &Outcome<BucklingRow>,
    finest: usize,
) -> Vec<Figure> {
    let mut out = Vec::new();
    let percent = 100.0 * settings.tolerance;
    let span = |w: f64| {
        (
            settings.widths.iter().copied().fold(w, f64::min),
            settings.widths.iter().copied().fold(w, f64::max),
        )
    };
    let (low, high) = span(settings.widths[0]);
    let y = Axis::linear("deviation from the thin plate [%]");
    let mut off = Plot::new("Lateral buckling: deviation, Koiter shells", Axis::linear("w/L"), y)
        .with_band(Band {
            name: format!("± {percent} %"),
            points: vec![(low, -percent, percent), (high, -percent, percent)],
        })
        .with_verdict(outcome.verdict());
    for (k, &nu) in settings.poisson.iter().enumerate() {
        let rows = || outcome.rows.iter().filter(|r| r.nu == nu && r.resolution == finest);
        let mut reference: Vec<(f64, f64)> = rows().map(|r| (r.w_over_l, r.reference)).collect();
        reference.sort_by(|a, b| a.0.total_cmp(&b.0));
        reference.dedup();
        let fit = reference.iter().map(|p| (p.0, thesis_fit(p.0, nu))).collect();
        let mut plot = Plot::new(
            format!("Lateral buckling, ν = {nu}"),
            Axis::linear("w/L"),
            Axis::linear("Γ* at buckling"),
        )
        .with(Series::line("thin plate (Ritz)", reference).coloured(0))
        .with(Series::dashed("affine fit of the thesis", fit).coloured(6))
        .with_verdict(outcome.verdict());
        for (i, &model) in settings.models.iter().enumerate() {
            let mine = || rows().filter(|r| r.model == model);
            let points = mine().map(|r| (r.w_over_l, r.gamma_c)).collect();
            if !model.is_koiter() {
                continue;
            }
            let name = format!("{model}, n = {finest}");
            plot = plot.with(Series::markers(name, MARKERS[i % 5], points).coloured(i + 1));
            let points = mine().map(|r| (r.w_over_l, 100.0 * (r.ratio() - 1.0))).collect();
            let series =
                Series::line_and_markers(format!("{model}, ν = {nu}"), MARKERS[k % 5], points);
            off = off.with(series.coloured(i + 1));
        }
        out.push(Figure { file: format!("lateral_buckling_nu{nu}.svg"), plot });
    }
    out.push(Figure { file: "lateral_buckling_deviation.svg".into(), plot: off });
    for &model in settings.models.iter().filter(|m| !m.is_koiter()) {
        let y = Axis { range: Some((10.0, 2000.0)), ..Axis::log("Γ* at buckling") };
        let title = format!("Lateral buckling: {model} fails, as published");
        let mut plot = Plot::new(title, Axis::linear("w/L"), y);
        for (k, &nu) in settings.poisson.iter().enumerate() {
            let rows = || outcome.rows.iter().filter(|r| r.nu == nu && r.model == model);
            let fine = || rows().filter(|r| r.resolution == finest);
            let plate = fine().map(|r| (r.w_over_l, r.reference)).collect();
            plot = plot.with(Series::line(format!("thin plate, ν = {nu}"), plate).coloured(k));
            let points = fine().map(|r| (r.w_over_l, r.gamma_c)).collect();
            let name = format!("{model}, ν = {nu}, n = {finest}");
            plot = plot.with(Series::markers(name, MARKERS[k % 5], points).coloured(k));
        }
        out.push(Figure { file: format!("lateral_buckling_{model}.svg"), plot });
    }
    out
}
