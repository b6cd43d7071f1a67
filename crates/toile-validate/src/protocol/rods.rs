//! Rods against the elastica and the frequencies of beams.

use toile_rod::{
    Clamp, Loads, Mat3, Model, Rod, Section, StaticSettings, Vec3, equilibrium,
    frequencies as rod_frequencies,
};

use super::progress::{Meter, Progress};
use super::{Figure, Outcome, ProtocolError, TableRow, some};
use crate::elastica::heavy_cantilever;
use crate::verdict::{Report, Row, cell};
use toile_report::plot::{Axis, Marker, Plot, Series};

/// What the protocols of rods measure.
#[derive(Clone, Debug, PartialEq)]
pub struct RodSettings {
    /// Elements, coarsest first; the finest is judged.
    pub elements: Vec<usize>,
    /// Allowed relative deviation at the finest.
    pub tolerance: f64,
}

impl Default for RodSettings {
    /// Half a per cent, which super-helices need up to 64 elements for (the ring).
    fn default() -> Self {
        Self { elements: vec![4, 8, 16, 32, 64], tolerance: 5e-3 }
    }
}

impl RodSettings {
    /// Seconds: few elements.
    pub fn quick() -> Self {
        Self { elements: vec![16, 64], ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), ProtocolError> {
        some("the number of resolutions", &self.elements)?;
        super::positive("the tolerance", self.tolerance)?;
        for &n in &self.elements {
            if !(1..=1000).contains(&n) {
                let must = "from 1 to 1000";
                return Err(ProtocolError::Input { what: "elements", value: n as f64, must });
            }
        }
        Ok(())
    }
}

/// One measurement of a rod.
#[derive(Clone, Debug, PartialEq)]
pub struct RodRow {
    /// What was measured.
    pub case: String,
    /// Element.
    pub model: Model,
    /// Elements.
    pub elements: usize,
    /// The parameter of the case: Γ, the number of the mode, GJ/EI.
    pub parameter: f64,
    /// The rod's answer.
    pub measured: f64,
    /// The reference.
    pub expected: f64,
}

impl TableRow for RodRow {
    const HEADER: &'static [&'static str] =
        &["case", "model", "elements", "parameter", "measured", "expected", "deviation"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.case.clone(),
            name(self.model).into(),
            self.elements.to_string(),
            cell(self.parameter),
            cell(self.measured),
            cell(self.expected),
            cell(self.measured / self.expected - 1.0),
        ]
    }
}

pub(super) fn name(model: Model) -> &'static str {
    match model {
        Model::SuperHelix => "super-helix",
        Model::SuperClothoid => "super-clothoid",
    }
}

pub(super) const MODELS: [Model; 2] = [Model::SuperHelix, Model::SuperClothoid];

/// Stiffness, density and length one; bending out of the plane a thousand times as stiff.
pub(super) const PLANE: Section =
    Section { bending_stiffness: [1.0, 1e3], twisting_stiffness: 1.0, linear_density: 1.0 };

/// Held at the origin with the tangent given, d₁ along y.
pub(super) fn clamped(tangent: Vec3) -> Clamp {
    let d1 = Vec3::y();
    let frame = Mat3::from_columns(&[d1, tangent.cross(&d1), tangent]);
    Clamp { position: Vec3::zeros(), frame }
}

/// Judges the finest resolution of every case and model, and draws all deviations.
pub(super) fn judged(
    title: &str,
    file: &str,
    settings: &RodSettings,
    rows: Vec<RodRow>,
) -> Outcome<RodRow> {
    let finest = settings.elements.iter().copied().max().unwrap_or(0);
    let report = |model: Model| {
        let mine = rows.iter().filter(|r| r.model == model && r.elements == finest);
        let compare = |r: &RodRow| Row {
            at: format!("{}, {} elements", r.case, r.elements),
            expected: r.expected,
            measured: r.measured,
        };
        Report {
            title: format!("{title}, {}", name(model)),
            tolerance: settings.tolerance,
            rows: mine.map(compare).collect(),
        }
    };
    let reports: Vec<Report> =
        MODELS.iter().map(|m| report(*m)).filter(|r| !r.rows.is_empty()).collect();
    let mut plot = Plot::new(title, Axis::log("elements"), Axis::log("|relative deviation|"));
    let mut cases: Vec<&str> = rows.iter().map(|r| r.case.as_str()).collect();
    cases.dedup();
    for (k, model) in MODELS.iter().enumerate() {
        for (i, case) in cases.iter().enumerate() {
            let points = rows.iter().filter(|r| r.model == *model && r.case == *case);
            let points: Vec<(f64, f64)> = points
                .map(|r| (r.elements as f64, (r.measured / r.expected - 1.0).abs()))
                .collect();
            if points.is_empty() {
                continue;
            }
            let marker = if k == 0 { Marker::Square } else { Marker::Circle };
            let label = if i == 0 { name(*model).to_string() } else { String::new() };
            plot = plot.with(Series::line_and_markers(label, marker, points).coloured(k));
        }
    }
    let figures = vec![Figure { file: file.into(), plot }];
    Outcome { rows, reports, checks: Vec::new(), notes: Vec::new(), figures }
}

/// Drop and reach of a heavy cantilever against the elastica.
pub fn rod_cantilever(
    settings: &RodSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<RodRow>, ProtocolError> {
    settings.check()?;
    let mut cases = Vec::new();
    for gamma in [1.0, 10.0, 100.0] {
        for model in MODELS {
            cases.extend(settings.elements.iter().map(|&n| (gamma, model, n)));
        }
    }
    let rows = {
        let meter = Meter::new(progress, cases.len());
        let work = |&(gamma, model, n): &(f64, Model, usize)| {
            let rod = Rod::new(model, n, 1.0, PLANE, clamped(Vec3::x()))?;
            let loads = Loads::weight(&PLANE, Vec3::new(0.0, 0.0, -gamma));
            let found = equilibrium(&rod, &loads, &StaticSettings::default())?;
            let sound = found.certificate.certified;
            let tip = rod.stations(&found.q, &[1.0])[0].position;
            let exact = heavy_cantilever(gamma)?;
            meter.finished(&format!("Γ = {gamma}, {} × {n}", name(model)));
            let row = |what: &str, measured: f64, expected: f64| RodRow {
                case: format!("{what} at Γ = {gamma}"),
                model,
                elements: n,
                parameter: gamma,
                measured: if sound { measured } else { f64::NAN },
                expected,
            };
            Ok(vec![row("drop", -tip.z, exact.drop), row("reach", tip.x, exact.reach)])
        };
        meter.run(&cases, |c| c.2 as f64, work)?.concat()
    };
    Ok(judged("Heavy cantilever", "rod_cantilever.svg", settings, sorted(rows)))
}

/// Rows of one case together, in the order of first appearance.
pub(super) fn sorted(rows: Vec<RodRow>) -> Vec<RodRow> {
    let mut names: Vec<String> = Vec::new();
    for row in &rows {
        if !names.contains(&row.case) {
            names.push(row.case.clone());
        }
    }
    let place = |r: &RodRow| names.iter().position(|n| *n == r.case);
    let mut rows = rows;
    rows.sort_by_key(place);
    rows
}

/// The first three frequencies of a straight rod without weight: cos x cosh x = −1.
pub fn frequencies(
    settings: &RodSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<RodRow>, ProtocolError> {
    settings.check()?;
    let mut cases = Vec::new();
    for model in MODELS {
        cases.extend(settings.elements.iter().map(|&n| (model, n)));
    }
    let rows = {
        let meter = Meter::new(progress, cases.len());
        let work = |&(model, n): &(Model, usize)| {
            let rod = Rod::new(model, n, 1.0, PLANE, clamped(Vec3::x()))?;
            let none = Loads::weight(&PLANE, Vec3::zeros());
            // The second mode in the plane is below the first out of it.
            let found = rod_frequencies(&rod, &rod.rest(), &none, 2)?;
            meter.finished(&format!("{} × {n}", name(model)));
            let row = |(i, measured): (usize, &f64)| RodRow {
                case: format!("mode {}", i + 1),
                model,
                elements: n,
                parameter: (i + 1) as f64,
                measured: *measured,
                expected: beam_frequency(i),
            };
            Ok(found.iter().enumerate().map(row).collect::<Vec<_>>())
        };
        meter.run(&cases, |c| c.1 as f64, work)?.concat()
    };
    Ok(judged("Frequencies of a clamped beam", "frequencies.svg", settings, sorted(rows)))
}

/// x² for the root of cos x cosh x = −1 in (iπ, (i+1)π).
pub fn beam_frequency(i: usize) -> f64 {
    let f = |x: f64| x.cos() + 1.0 / x.cosh();
    let (mut low, mut high) =
        (i as f64 * std::f64::consts::PI + 1e-9, (i as f64 + 1.0) * std::f64::consts::PI);
    let sign = f(low).signum();
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle).signum() == sign { low = middle } else { high = middle }
    }
    low * low
}
