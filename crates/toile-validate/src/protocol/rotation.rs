//! Rotation: a clamp turned from the cantilever to lateral buckling.

use std::f64::consts::FRAC_PI_2;

use toile_geometry::Vec3;
use toile_geometry::generate::Triangulation;

use super::progress::{Meter, Progress};
use super::{
    Cells, Check, Figure, GRAVITY, Outcome, ProtocolError, ShellModel, Stages, Strip, TableRow,
    positive, resolution, some,
};
use crate::plate::lateral_buckling_threshold;
use crate::verdict::cell;
use toile_report::plot::{Axis, Marker, Plot, Series};

/// A strip of [`rotation`], cut to a length that gives its load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationStrip {
    /// Γ*.
    pub gamma: f64,
    /// w \[m\].
    pub width: f64,
}

/// What [`rotation`] measures.
#[derive(Clone, Debug, PartialEq)]
pub struct RotationSettings {
    /// The strips.
    pub strips: Vec<RotationStrip>,
    /// h \[m\].
    pub thickness: f64,
    /// ρ \[kg/m³\].
    pub density: f64,
    /// ν.
    pub poisson: f64,
    /// E/(1−ν²) \[Pa\].
    pub plate_young: f64,
    /// Steps from θ = π/2 to 0.
    pub steps: usize,
    /// Shell models.
    pub models: Vec<ShellModel>,
    /// Vertices along the length.
    pub resolution: usize,
}

impl Default for RotationSettings {
    /// The plastic film of the thesis in its two lengths, 0.17 m and 0.27 m, one on either side of its threshold.
    fn default() -> Self {
        let strip = |gamma| RotationStrip { gamma, width: 0.1 };
        Self {
            strips: vec![strip(10.5172), strip(42.1353)],
            thickness: 1e-4,
            density: 1410.0,
            poisson: 0.35,
            plate_young: 7.75e9,
            steps: 18,
            models: vec![ShellModel::SIN, ShellModel::TAN, ShellModel::AVERAGE, ShellModel::HINGES],
            resolution: 30,
        }
    }
}

impl RotationSettings {
    /// A few seconds: coarse mesh, few angles, tan normals.
    pub fn quick() -> Self {
        Self { steps: 6, models: vec![ShellModel::TAN], resolution: 16, ..Self::default() }
    }

    /// The strip of one experiment, as long as its Γ asks.
    pub fn strip(&self, strip: RotationStrip) -> Strip {
        let d = self.plate_young * self.thickness.powi(3) / 12.0;
        let length = (strip.gamma * d / (self.density * self.thickness * GRAVITY)).cbrt();
        Strip {
            length,
            width: strip.width,
            thickness: self.thickness,
            density: self.density,
            poisson: self.poisson,
        }
    }
}

/// One measurement of [`rotation`].
#[derive(Clone, Debug, PartialEq)]
pub struct RotationRow {
    /// θ from gravity in the plane (0) to gravity normal to it (π/2) \[rad\].
    pub angle: f64,
    /// Displacement of the tip at mid width normal to the clamp's plane, over L; not a number where no equilibrium was found.
    pub lateral: f64,
    /// The shell.
    pub model: ShellModel,
    /// Γ* of the strip.
    pub gamma: f64,
    /// Vertices along the length.
    pub resolution: usize,
}

impl TableRow for RotationRow {
    const HEADER: &'static [&'static str] =
        &["angle", "lateral_over_l", "model", "gamma", "resolution"];

    fn cells(&self) -> Vec<String> {
        vec![
            cell(self.angle),
            cell(self.lateral),
            self.model.to_string(),
            cell(self.gamma),
            self.resolution.to_string(),
        ]
    }
}

/// Lateral displacement over L below which a strip is flat, and above which it has buckled.
const FLAT_AND_BUCKLED: (f64, f64) = (1e-4, 0.02);

/// Turns the clamp from θ = π/2 (gravity normal to the strip, a cantilever) to 0 (gravity in its plane), following the
/// equilibrium, and measures how far the tip leaves the plane of the clamp.
///
/// At θ = 0 a strip below its buckling threshold must be flat and one above it buckled, for Koiter shells; what hinges do
/// is noted. The sudden rest of the buckled branch is why the angle comes down from above.
/// Reference: Ly 2021, §3.5.3.
pub fn rotation(
    settings: &RotationSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<RotationRow>, ProtocolError> {
    some("the number of strips", &settings.strips)?;
    some("the number of models", &settings.models)?;
    positive("E*", settings.plate_young)?;
    resolution(settings.resolution)?;
    let mut cases = Vec::new();
    for &strip in &settings.strips {
        positive("Γ*", strip.gamma)?;
        settings.strip(strip).check()?;
        cases.extend(settings.models.iter().map(|&model| (strip, model)));
    }
    let steps = settings.steps.max(1);
    let rows = {
        let meter = Meter::new(progress, cases.len() * (steps + 1));
        let cost = |c: &(RotationStrip, ShellModel)| if c.1.has_edge_angles() { 2.0 } else { 1.0 };
        let work = |&(strip, model): &_| turn(settings, strip, model, steps, &meter);
        meter.run(&cases, cost, work)?.concat()
    };
    let (mut checks, mut notes) = (Vec::new(), Vec::new());
    for &(strip, model) in &cases {
        let last = rows.iter().rfind(|r| r.gamma == strip.gamma && r.model == model);
        let lateral = last.map_or(f64::NAN, |r| r.lateral.abs());
        let shape = settings.strip(strip);
        let critical = lateral_buckling_threshold(shape.width / shape.length, shape.poisson)?;
        let buckles = strip.gamma > critical;
        let (flat, buckled) = FLAT_AND_BUCKLED;
        let ok = if buckles { lateral > buckled } else { lateral < flat };
        let word = if buckles { "buckled" } else { "flat" };
        let title = format!("{model}, Γ* = {}: {word} at θ = 0", strip.gamma);
        let detail = format!("tip {lateral:.2e} L off the plane; threshold {critical:.2}");
        if model.is_koiter() {
            checks.push(Check { title, ok, detail });
        } else {
            let so = if ok { "as it should be" } else { "wrong: too stiff" };
            notes.push(format!("{title}: {so} ({detail})"));
        }
    }
    let mut outcome = Outcome { rows, reports: Vec::new(), checks, notes, figures: Vec::new() };
    outcome.figures = vec![figure(settings, &outcome)];
    Ok(outcome)
}

fn turn(
    settings: &RotationSettings,
    strip: RotationStrip,
    model: ShellModel,
    steps: usize,
    meter: &Meter<'_>,
) -> Result<Vec<RotationRow>, ProtocolError> {
    let shape = settings.strip(strip);
    let across = settings.resolution as f64 * shape.width / shape.length;
    let cells = Cells {
        along: settings.resolution - 1,
        across: (across.round() as usize).max(4),
        grading: 0.0,
        triangulation: Triangulation::Regular,
    };
    let mut stages = Stages::new(&shape, cells, model, strip.gamma, -Vec3::z())?;
    let mut state = stages.strip().flat.clone();
    let mut out = Vec::new();
    for i in 0..=steps {
        let angle = FRAC_PI_2 * (steps - i) as f64 / steps as f64;
        let down = if i == steps { -Vec3::y() } else { Vec3::new(0.0, -angle.cos(), -angle.sin()) };
        stages.pull(down);
        let mut lateral = f64::NAN;
        if let Some(next) = stages.settle(&state, meter)? {
            state = next;
            // Down at the start: positive.
            lateral = -stages.strip().tip_displacement(&state).z / shape.length;
        }
        meter.finished(&format!("{model} Γ* = {} θ = {angle:.2}", strip.gamma));
        let resolution = settings.resolution;
        out.push(RotationRow { angle, lateral, model, gamma: strip.gamma, resolution });
    }
    Ok(out)
}

fn figure(settings: &RotationSettings, outcome: &Outcome<RotationRow>) -> Figure {
    const MARKERS: [Marker; 5] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];
    const SHAPES: [&str; 5] = ["circles", "squares", "triangles", "diamonds", "crosses"];
    let strips: Vec<String> = (settings.strips.iter().enumerate())
        .map(|(k, strip)| format!("{} Γ* = {:.2}", SHAPES[k % 5], strip.gamma))
        .collect();
    let word = if outcome.verdict().ok { "OK" } else { "KO" };
    let mut plot = Plot::new(
        format!("Clamp turned from cantilever (90°) to lateral buckling (0°): {word}"),
        Axis::linear(format!("θ [°]; {}", strips.join(", "))),
        Axis::linear("lateral tip displacement / L"),
    );
    for (i, &model) in settings.models.iter().enumerate() {
        for (k, strip) in settings.strips.iter().enumerate() {
            let mine = |r: &&RotationRow| r.model == model && r.gamma == strip.gamma;
            let points = outcome.rows.iter().filter(mine);
            let points = points.map(|r| (r.angle.to_degrees(), r.lateral)).collect();
            let name = if k == 0 { model.to_string() } else { String::new() };
            let series = Series::line_and_markers(name, MARKERS[k % 5], points);
            plot = plot.with(series.coloured(i));
        }
    }
    Figure { file: "rotation.svg".into(), plot }
}
