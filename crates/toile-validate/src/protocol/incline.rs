//! The incline: a sheet on a slope sticks or slides as a block does, whatever its mesh, heading and common motion.

use nalgebra::Rotation3;
use toile_contact::{Collider, Motion, Shape};
use toile_geometry::{TriMesh, Vec3};
use toile_sim::SimError;
use toile_sim::dynamics::{Simulator, Surroundings};

use super::cloth::{Cloth, ClothMaterial, mean_velocity, set_velocity, velocities};
use super::progress::{Meter, Progress};
use super::{Check, Figure, GRAVITY, Outcome, ProtocolError, TableRow, positive, some};
use crate::verdict::{Report, cell};
use toile_report::plot::{Axis, Marker, Plot, Series};

/// What [`incline`] measures.
#[derive(Clone, Debug, PartialEq)]
pub struct InclineSettings {
    /// Slope \[rad\].
    pub slope: f64,
    /// Triangles of the square sheets; even numbers.
    pub triangles: Vec<usize>,
    /// Headings of the slope in the axes of the sheet \[rad\].
    pub headings: Vec<f64>,
    /// Whether the slope itself leans (its normal is no axis and gravity points down), or gravity over a level plane.
    pub leaning: Vec<bool>,
    /// Velocities that sheet, slope and all have in common \[m/s\].
    pub common_speeds: Vec<f64>,
    /// μ over the tangent of the slope: sticks above one, slides below.
    pub ratios: Vec<f64>,
    /// Side of the sheets \[m\].
    pub side: f64,
    /// What they are made of.
    pub material: ClothMaterial,
    /// Time step \[s\].
    pub dt: f64,
    /// Time to settle, not judged \[s\].
    pub settling: f64,
    /// Time for which a sheet must stick \[s\].
    pub sticking: f64,
    /// Time over which the acceleration is measured \[s\].
    pub sliding: f64,
    /// Allowed relative deviation of the acceleration.
    pub tolerance: f64,
}

impl Default for InclineSettings {
    /// 10°, as in Larionov 2022; its squares of 2, 722 and 1322 triangles, five headings none of which is an axis or
    /// a diagonal of the mesh but the first, at rest and at 10 m/s, a thousandth on either side of the threshold.
    fn default() -> Self {
        Self {
            slope: 10f64.to_radians(),
            triangles: vec![2, 722, 1322],
            headings: (0..5).map(|k| (72.0 * f64::from(k)).to_radians()).collect(),
            leaning: vec![false, true],
            common_speeds: vec![0.0, 10.0],
            ratios: vec![1.001, 0.999],
            side: 1.0,
            material: ClothMaterial {
                stretching: 1000.0,
                bending: 1e-5,
                poisson: 0.3,
                areal_density: 0.2,
            },
            dt: 0.01,
            settling: 0.2,
            sticking: 10.0,
            sliding: 1.0,
            tolerance: 1e-6,
        }
    }
}

impl InclineSettings {
    /// Seconds: two meshes, two headings, one second of sticking.
    pub fn quick() -> Self {
        let headings = vec![0.0, 72f64.to_radians()];
        Self { triangles: vec![2, 98], headings, sticking: 1.0, sliding: 0.5, ..Self::default() }
    }
}

/// One measurement of [`incline`].
#[derive(Clone, Debug, PartialEq)]
pub struct InclineRow {
    /// Triangles of the sheet.
    pub triangles: usize,
    /// Heading of the slope in the axes of the sheet \[rad\].
    pub heading: f64,
    /// Whether the slope itself leans.
    pub leaning: bool,
    /// Common speed \[m/s\].
    pub common_speed: f64,
    /// μ over the tangent of the slope.
    pub ratio: f64,
    /// Largest speed of a vertex over the slope after settling \[m/s\].
    pub largest_creep: f64,
    /// Acceleration of the centre of mass down the slope \[m/s²\].
    pub acceleration: f64,
    /// g max(0, sin β − μ cos β) \[m/s²\].
    pub exact_acceleration: f64,
    /// Acceleration across the slope \[m/s²\].
    pub sideways: f64,
    /// Whether all of it is as it should be.
    pub ok: bool,
}

impl TableRow for InclineRow {
    const HEADER: &'static [&'static str] = &[
        "triangles",
        "heading_deg",
        "common_speed",
        "mu_over_tan",
        "largest_creep",
        "acceleration",
        "exact_acceleration",
        "leans",
        "verdict",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.triangles.to_string(),
            cell((1e9 * self.heading.to_degrees()).round() / 1e9),
            cell(self.common_speed),
            cell(self.ratio),
            cell(self.largest_creep),
            cell(self.acceleration),
            cell(self.exact_acceleration),
            if self.leaning { "plane" } else { "gravity" }.into(),
            if self.ok { "OK" } else { "KO" }.into(),
        ]
    }
}

#[derive(Clone, Copy)]
struct Case {
    triangles: usize,
    heading: f64,
    leaning: bool,
    common_speed: f64,
    ratio: f64,
}

/// Lays square sheets on a slope with friction and watches them stick or slide.
///
/// With μ above the tangent of the slope every vertex must, after settling, move with exactly the velocity of the
/// slope: largest creep 0, not small. Below, the centre of mass must accelerate by g (sin β − μ cos β) down the slope, within
/// [`InclineSettings::tolerance`] of that along and across. The same in every heading, on every mesh, and when
/// everything shares a velocity. Either gravity leans over the plane z = 0, where rest is representable, or the plane leans and
/// every number is rounded.
/// Reference: Larionov 2022, ramp slide; Ly 2021, §2.3.3.
pub fn incline(
    settings: &InclineSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<InclineRow>, ProtocolError> {
    check(settings)?;
    let mut cases = Vec::new();
    for &triangles in &settings.triangles {
        for &common_speed in &settings.common_speeds {
            for &heading in &settings.headings {
                for &leaning in &settings.leaning {
                    let case = |ratio| Case { triangles, heading, leaning, common_speed, ratio };
                    cases.extend(settings.ratios.iter().map(|&ratio| case(ratio)));
                }
            }
        }
    }
    let rows = {
        let meter = Meter::new(progress, cases.len());
        let cost = |c: &Case| c.triangles as f64 * if c.ratio > 1.0 { 2.0 } else { 1.0 };
        meter.run(&cases, cost, |case| measure(settings, case, &meter))?
    };
    Ok(judge(settings, rows))
}

fn check(settings: &InclineSettings) -> Result<(), ProtocolError> {
    some("the number of sheets", &settings.triangles)?;
    some("the number of headings", &settings.headings)?;
    some("the number of common speeds", &settings.common_speeds)?;
    some("the number of things that lean", &settings.leaning)?;
    some("the number of ratios", &settings.ratios)?;
    for (what, value) in [
        ("the side", settings.side),
        ("the time step", settings.dt),
        ("the time of settling", settings.settling),
        ("the time of sticking", settings.sticking),
        ("the time of sliding", settings.sliding),
        ("the tolerance", settings.tolerance),
    ] {
        positive(what, value)?;
    }
    settings.material.check()?;
    settings.ratios.iter().try_for_each(|r| positive("μ over the tangent of the slope", *r))?;
    let input = |what, value, must| Err(ProtocolError::Input { what, value, must });
    if let Some(&r) = settings.ratios.iter().find(|r| **r == 1.0) {
        return input("μ over the tangent of the slope", r, "other than 1, where both may happen");
    }
    if !(settings.slope > 0.0 && settings.slope < 1.5) {
        return input("the slope", settings.slope, "an angle between 0 and 1.5 rad");
    }
    let fine = |t: &&usize| !(t.is_multiple_of(2) && (2..=100_000).contains(*t));
    if let Some(&t) = settings.triangles.iter().find(fine) {
        return input("the number of triangles", t as f64, "even, from 2 to 100000");
    }
    if let Some(&h) = settings.headings.iter().find(|h| !h.is_finite()) {
        return input("a heading", h, "a finite angle");
    }
    if let Some(&v) = settings.common_speeds.iter().find(|v| !v.is_finite() || v.abs() > 1000.0) {
        return input("a common speed", v, "at most 1000 m/s");
    }
    Ok(())
}

/// A square of any even number of triangles: a grid as square as the number allows, some of whose cells are cut in four.
pub fn square(triangles: usize, side: f64) -> Result<TriMesh, ProtocolError> {
    let pairs = triangles / 2;
    let nx = pairs.isqrt();
    let ny = pairs / nx;
    let crossed = pairs - nx * ny; // less than nx
    let at = |i: usize, n: usize| side * (i as f64 / n as f64 - 0.5);
    let mut positions = Vec::new();
    for j in 0..=ny {
        for i in 0..=nx {
            positions.push(Vec3::new(at(i, nx), at(j, ny), 0.0));
        }
    }
    let mut faces = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            let number = |i: usize, j: usize| (j * (nx + 1) + i) as u32;
            let [a, b, c, d] =
                [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
            if i < crossed && j == i * ny / nx {
                let centre = positions.len() as u32;
                positions.push(0.5 * (positions[a as usize] + positions[c as usize]));
                faces.extend([[a, b, centre], [b, c, centre], [c, d, centre], [d, a, centre]]);
            } else if (i + j) % 2 == 0 {
                faces.extend([[a, b, c], [a, c, d]]);
            } else {
                faces.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    Ok(TriMesh::new(positions, faces)?)
}

fn measure(
    settings: &InclineSettings,
    case: &Case,
    meter: &Meter<'_>,
) -> Result<InclineRow, ProtocolError> {
    let &InclineSettings { slope, dt, .. } = settings;
    let (sin, cos) = slope.sin_cos();
    let heading = Vec3::new(case.heading.cos(), case.heading.sin(), 0.0);
    // From the axes of a level plane to the world.
    let tilt = if case.leaning { slope } else { 0.0 };
    let turn = Rotation3::from_scaled_axis(tilt * Vec3::z().cross(&heading));
    let (normal, downhill) = (turn * Vec3::z(), turn * heading);
    let gravity =
        if case.leaning { -GRAVITY * Vec3::z() } else { GRAVITY * (sin * downhill - cos * normal) };
    // Oblique to all headings but one; on a level plane with components that are exact.
    let common = turn * (case.common_speed * Vec3::new(0.8, 0.6, 0.0));
    let mu = case.ratio * slope.tan();
    let plane = Shape::plane(Vec3::zeros(), normal).map_err(SimError::from)?;
    let motion = Motion::steady(Vec3::zeros(), common, Vec3::zeros()).map_err(SimError::from)?;
    let plane = Collider::new(plane, motion)
        .and_then(|c| c.with_friction(mu))
        .and_then(|c| c.with_gap(0.0))
        .map_err(SimError::from)?;
    let mesh = square(case.triangles, settings.side)?;
    let cloth = Cloth {
        rest: &mesh,
        positions: mesh.positions.iter().map(|x| turn * x).collect(),
        material: settings.material,
        pins: Vec::new(),
    };
    let mut sim = cloth.among(vec![plane], gravity)?;
    set_velocity(&mut sim, common);
    let steps = |time: f64| (time / dt).ceil().max(1.0) as usize;
    let go = |sim: &mut Simulator<Surroundings>, count: usize| {
        let mut fastest = 0.0f64;
        for _ in 0..count {
            sim.step(dt)?;
            let over = velocities(sim).map(|v| (v - common).norm());
            fastest = over.fold(fastest, |a, b| if a.is_nan() || b <= a { a } else { b });
            if !meter.alive() {
                meter.check()?;
            }
        }
        Ok::<f64, ProtocolError>(fastest)
    };
    go(&mut sim, steps(settings.settling))?;
    let before = mean_velocity(&sim);
    let sticks = case.ratio > 1.0;
    let count = steps(if sticks { settings.sticking } else { settings.sliding });
    let largest_creep = go(&mut sim, count)?;
    let gained = (mean_velocity(&sim) - before) / (count as f64 * dt);
    let acceleration = gained.dot(&downhill);
    let sideways = (gained - acceleration * downhill).norm();
    let exact_acceleration = (GRAVITY * (sin - mu * cos)).max(0.0);
    let ok = if sticks {
        largest_creep == 0.0
    } else {
        let allowed = settings.tolerance * exact_acceleration;
        (acceleration - exact_acceleration).abs() <= allowed && sideways <= allowed
    };
    let Case { triangles, heading, leaning, common_speed, ratio } = *case;
    meter.finished(&format!("{triangles} triangles, {common_speed} m/s, μ/tan = {ratio}"));
    Ok(InclineRow {
        triangles,
        heading,
        leaning,
        common_speed,
        ratio,
        largest_creep,
        acceleration,
        exact_acceleration,
        sideways,
        ok,
    })
}

fn judge(settings: &InclineSettings, rows: Vec<InclineRow>) -> Outcome<InclineRow> {
    let (mut reports, mut checks) = (Vec::new(), Vec::new());
    let mut slides = Report::new("sliding, acceleration down the slope", settings.tolerance);
    for row in rows.iter().filter(|r| r.ratio < 1.0) {
        let InclineRow { triangles, heading, common_speed, ratio, .. } = row;
        let leans = if row.leaning { "plane" } else { "gravity" };
        let at = format!(
            "{triangles} triangles, {:.0}°, {leans} leans, {common_speed} m/s, μ/tan = {ratio}",
            heading.to_degrees()
        );
        slides.push(at, row.exact_acceleration, row.acceleration);
    }
    if !slides.rows.is_empty() {
        let across = |r: &InclineRow| r.sideways / r.exact_acceleration;
        let worst = rows.iter().filter(|r| r.ratio < 1.0).map(across).fold(0.0, worse);
        reports.push(slides);
        checks.push(Check {
            title: "sliding sheets go straight down".into(),
            ok: worst <= settings.tolerance,
            detail: format!("at most {worst:.1e} of the acceleration across"),
        });
    }
    let stuck: Vec<&InclineRow> = rows.iter().filter(|r| r.ratio > 1.0).collect();
    if !stuck.is_empty() {
        let creep = stuck.iter().map(|r| r.largest_creep).fold(0.0, worse);
        let still = stuck.iter().filter(|r| r.ok).count();
        checks.push(Check {
            title: format!("no creep at all in {} s", settings.sticking),
            ok: still == stuck.len(),
            detail: format!("{still} of {}; largest speed {creep:e} m/s", stuck.len()),
        });
    }
    let mut outcome = Outcome { rows, reports, checks, notes: Vec::new(), figures: Vec::new() };
    outcome.figures = vec![figure(settings, &outcome)];
    outcome
}

/// The larger of two numbers, and what is not a number before any.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

fn figure(settings: &InclineSettings, outcome: &Outcome<InclineRow>) -> Figure {
    const MARKERS: [Marker; 5] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];
    let g_sin = GRAVITY * settings.slope.sin();
    let away = |r: f64| (r - 1.0).abs();
    let widest = settings.ratios.iter().copied().map(away).fold(0.0, f64::max);
    let curve = [1.0 - 1.5 * widest, 1.0, 1.0 + 1.5 * widest]
        .map(|r| (100.0 * (r - 1.0), 1e3 * g_sin * (1.0 - r).max(0.0)));
    let x = Axis::linear("μ / tan β − 1 [%]");
    let y = Axis::linear("acceleration [mm/s²]");
    let title = format!("Sheets on a slope of {:.1}°", settings.slope.to_degrees());
    let mut plot = Plot::new(title, x, y)
        .with(Series::line("g max(0, sin β − μ cos β)", curve.to_vec()).coloured(0))
        .with_verdict(outcome.verdict());
    for (k, &triangles) in settings.triangles.iter().enumerate() {
        let mine = outcome.rows.iter().filter(|r| r.triangles == triangles);
        let points = mine.map(|r| (100.0 * (r.ratio - 1.0), 1e3 * r.acceleration)).collect();
        let name = format!("{triangles} triangles");
        plot = plot.with(Series::markers(name, MARKERS[k % 5], points).coloured(k + 1));
    }
    Figure { file: "incline.svg".into(), plot }
}
