//! How errors of rods fall with their elements: positions and frames at 21 stations, against the finest.

use toile_rod::{Loads, Model, NaturalCurvature, RodSpec, Section, StaticSettings, Station, Vec3};

use super::progress::{Meter, Progress};
use super::rods::{MODELS, clamped, name};
use super::{Figure, Outcome, ProtocolError, RodSettings, TableRow};
use crate::verdict::{Report, Row, cell};
use toile_report::plot::{Axis, Marker, Plot, Series};

/// Stations at which solutions are compared.
const STATIONS: usize = 21;

/// Error of a rod on some elements.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderRow {
    /// Which rod.
    pub case: &'static str,
    /// Element.
    pub model: Model,
    /// Elements.
    pub elements: usize,
    /// Largest error of a position over the length.
    pub position: f64,
    /// Largest error of an entry of a frame.
    pub frame: f64,
    /// Largest error of a position after extrapolation from half as many elements.
    pub extrapolated: f64,
}

impl TableRow for OrderRow {
    const HEADER: &'static [&'static str] = &[
        "case",
        "model",
        "elements",
        "position_error",
        "frame_error",
        "extrapolated_position_error",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.case.into(),
            name(self.model).into(),
            self.elements.to_string(),
            cell(self.position),
            cell(self.frame),
            cell(self.extrapolated),
        ]
    }
}

/// A hook in a plane, a hanging curl, and a curl clamped horizontally with an oval section: Γ from 2 to 250.
fn rods() -> [(&'static str, RodSpec, f64); 3] {
    let section = |ei: [f64; 2], gj: f64| Section {
        bending_stiffness: ei,
        twisting_stiffness: gj,
        linear_density: 1.0,
    };
    let spec = |section: Section, tangent: Vec3, natural: [Vec<f64>; 3]| RodSpec {
        model: Model::SuperClothoid,
        length: 1.0,
        section,
        clamp: clamped(tangent),
        natural: NaturalCurvature::polynomials(natural),
        planar: false,
    };
    [
        (
            "hook in a plane",
            spec(section([1.0; 2], 0.7), Vec3::x(), [vec![2.0, 1.0], vec![], vec![]]),
            10.0,
        ),
        (
            "hanging curl",
            spec(section([1.0; 2], 0.7), -Vec3::z(), [vec![15.0], vec![], vec![6.0]]),
            24.5,
        ),
        (
            "oval curl, clamped level",
            spec(section([1.0, 2.0], 0.8), Vec3::x(), [vec![5.0], vec![2.0], vec![4.0]]),
            20.0,
        ),
    ]
}

/// Measures the order of convergence of both elements on three rods.
///
/// A rod's curvature lies outside the space of its elements by O(h) or O(h²); a Galerkin solution has the square of that in
/// everything that is an integral of it, positions and frames among them: orders 2 and 4. The deviation judged is that of the measured
/// order, between the two finest resolutions, from those.
pub fn rod_orders(
    settings: &RodSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<OrderRow>, ProtocolError> {
    settings.check()?;
    let finest = settings.elements.iter().copied().max().unwrap_or(1);
    let cases: Vec<(usize, Model)> = (0..3).flat_map(|i| MODELS.map(|m| (i, m))).collect();
    let rows: Vec<OrderRow> = {
        let meter = Meter::new(progress, cases.len());
        let work = |&(i, model): &(usize, Model)| {
            let (case, spec, gamma) = rods()[i].clone();
            let loads = Loads { per_length: Vec3::new(0.0, 0.0, -gamma), tip: Vec3::zeros() };
            let solve = |model: Model, n: usize| -> Result<Vec<Station>, ProtocolError> {
                let spec = RodSpec { model, ..spec.clone() };
                let found = spec.equilibrium(n, &loads, 0.0, &StaticSettings::default())?;
                Ok(found.rod.equal_stations(&found.equilibrium.q, STATIONS))
            };
            let exact = solve(Model::SuperClothoid, 8 * finest)?;
            let mut rows = Vec::new();
            for &n in &settings.elements {
                let fine = solve(model, n)?;
                let coarse = solve(model, (n / 2).max(1))?;
                let weight = if model == Model::SuperHelix { 3.0 } else { 15.0 };
                let (mut position, mut frame, mut better) = (0.0f64, 0.0f64, 0.0f64);
                for ((f, c), e) in fine.iter().zip(&coarse).zip(&exact) {
                    position = position.max((f.position - e.position).norm());
                    frame = frame.max((f.frame - e.frame).amax());
                    let ahead = f.position + (f.position - c.position) / weight;
                    better = better.max((ahead - e.position).norm());
                }
                rows.push(OrderRow {
                    case,
                    model,
                    elements: n,
                    position,
                    frame,
                    extrapolated: better,
                });
            }
            meter.finished(&format!("{case}, {}", name(model)));
            Ok(rows)
        };
        meter.run(&cases, |_| 1.0, work)?.concat()
    };
    Ok(judged(settings, rows))
}

fn judged(settings: &RodSettings, rows: Vec<OrderRow>) -> Outcome<OrderRow> {
    let mut reports = Vec::new();
    let mut plot =
        Plot::new("Errors of rods", Axis::log("elements"), Axis::log("position error / length"));
    for (k, model) in MODELS.iter().enumerate() {
        let order = if *model == Model::SuperHelix { 2.0 } else { 4.0 };
        let mut judged = Vec::new();
        for (i, (case, _, _)) in rods().iter().enumerate() {
            let mine: Vec<&OrderRow> =
                rows.iter().filter(|r| r.model == *model && r.case == *case).collect();
            if let [.., a, b] = mine[..] {
                let halvings = (b.elements as f64 / a.elements as f64).log2();
                judged.push(Row {
                    at: format!("order of {case}, {} to {} elements", a.elements, b.elements),
                    expected: order,
                    measured: (a.position / b.position).log2() / halvings,
                });
            }
            let points = mine.iter().map(|r| (r.elements as f64, r.position)).collect();
            let marker = if k == 0 { Marker::Square } else { Marker::Circle };
            let label = if i == 0 { name(*model).to_string() } else { String::new() };
            plot = plot.with(Series::line_and_markers(label, marker, points).coloured(k));
        }
        if !judged.is_empty() {
            let title = format!("Orders, {}", name(*model));
            // Between resolutions an order is only nearly reached.
            let tolerance = settings.tolerance.max(0.15);
            reports.push(Report { title, tolerance, rows: judged });
        }
    }
    let figures = vec![Figure { file: "rod_orders.svg".into(), plot }];
    Outcome { rows, reports, checks: Vec::new(), notes: Vec::new(), figures }
}
