//! Cloth over a cylinder, one end hanging lower: the coefficient of friction at which it begins to slip.

use std::f64::consts::PI;

use toile_contact::{Collider, Shape};
use toile_geometry::{TriMesh, Vec3};
use toile_sim::SimError;
use toile_sim::dynamics::{Simulator, Surroundings};

use super::cloth::{Cloth, ClothMaterial, velocities};
use super::progress::{Meter, Progress};
use super::{Check, Figure, GRAVITY, Outcome, ProtocolError, TableRow, positive, resolution, some};
use crate::verdict::{Report, cell};
use toile_report::plot::{Axis, Marker, Plot, Series};

/// What [`cylinder`] measures.
#[derive(Clone, Debug, PartialEq)]
pub struct CylinderSettings {
    /// Radius of the cloth on the cylinder \[m\].
    pub radius: f64,
    /// Length of the cloth \[m\].
    pub length: f64,
    /// How much lower one end hangs \[m\].
    pub offset: f64,
    /// Cells along the cloth, coarsest first.
    pub resolutions: Vec<usize>,
    /// Coefficients of friction tried at the finest mesh before the threshold is looked for.
    pub frictions: Vec<f64>,
    /// What the cloth is made of. It starts with the tension it slips with, so that no weight comes on suddenly: cloth that starts
    /// unstretched gets a speed that carries it on by 0.9 mm here, which leaves the lower end heavier and the threshold 3e-4 higher.
    pub material: ClothMaterial,
    /// Time step \[s\].
    pub dt: f64,
    /// Time for which the cloth is watched \[s\].
    pub watching: f64,
    /// Width of the bracket at which the search for the threshold ends.
    pub bracket: f64,
    /// Allowed relative deviation of the threshold at the finest mesh from that of a curve.
    pub tolerance: f64,
    /// Allowed relative deviation of the threshold at every mesh from that of as many points.
    pub tolerance_of_points: f64,
}

impl Default for CylinderSettings {
    /// 4 m of cloth over a radius of 0.5 m with 0.8 m between the ends (Larionov 2022): threshold 0.1399.
    fn default() -> Self {
        Self {
            radius: 0.5,
            length: 4.0,
            offset: 0.8,
            resolutions: vec![40, 80, 160],
            frictions: vec![0.12, 0.13, 0.14, 0.15, 0.16],
            material: ClothMaterial {
                stretching: 1e5,
                bending: 1e-5,
                poisson: 0.0,
                areal_density: 0.2,
            },
            dt: 0.01,
            watching: 1.5,
            bracket: 1e-5,
            tolerance: 5e-4,
            tolerance_of_points: 2e-4,
        }
    }
}

impl CylinderSettings {
    /// Seconds: one coarse mesh, a wider bracket.
    pub fn quick() -> Self {
        Self {
            resolutions: vec![40],
            frictions: vec![0.12, 0.16],
            bracket: 1e-4,
            tolerance: 0.01,
            tolerance_of_points: 1e-3,
            ..Self::default()
        }
    }
}

/// The coefficient of friction at which heavy cloth over half a cylinder begins to slip.
///
/// With its weight per length as the unit of force, sliding cloth obeys dT/dφ = R cos φ − μ (T + R sin φ) between
/// T(0) = `long` and T(π) = `short`, which gives (long − a) e^(−μπ) = short + a with a = 2 μ R/(1 + μ²). The left falls and
/// the right grows with μ, so that the root is single; found by bisection. Zero if the ends balance.
/// Without weight on the cylinder (R → 0) it is the capstan's, log(long/short)/π.
/// Reference: Larionov 2022, appendix B, whose πR − ℓ is misprinted as μR − ℓ (spec, E14).
pub fn weighted_capstan(radius: f64, long: f64, short: f64) -> f64 {
    let excess = |mu: f64| {
        let a = 2.0 * mu * radius / (1.0 + mu * mu);
        (long - a) * (-mu * PI).exp() - short - a
    };
    // a is largest at μ = 1; a threshold beyond is that of long ends and small radii.
    let (mut low, mut high) = (0.0, 1.0);
    if excess(low).is_nan() || excess(low) <= 0.0 {
        return 0.0;
    }
    while excess(high) > 0.0 && high < 1e3 {
        high *= 2.0;
    }
    while high - low > 1e-15 * high {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// One trial of [`cylinder`].
#[derive(Clone, Debug, PartialEq)]
pub struct CylinderRow {
    /// Cells along the cloth.
    pub resolution: usize,
    /// Coefficient of friction.
    pub friction: f64,
    /// Speed of the cloth on the cylinder at the end, fastest vertex \[m/s\].
    pub speed: f64,
    /// How far the lower end has come down \[m\].
    pub travel: f64,
    /// Whether it slips.
    pub slips: bool,
}

impl TableRow for CylinderRow {
    const HEADER: &'static [&'static str] = &["resolution", "mu", "speed", "travel", "phase"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.resolution.to_string(),
            cell(self.friction),
            cell(self.speed),
            cell(self.travel),
            if self.slips { "slip" } else { "stick" }.into(),
        ]
    }
}

/// Speed above which cloth slips \[m/s\]. A coefficient short of the threshold by 1e-5 gives 1.5e-4 m/s in the 1.5 s it is
/// watched; cloth that sticks has 0.
const SLIPS: f64 = 5e-5;

/// Trials of one search at most.
const TRIALS: usize = 40;

/// Lays cloth over a fixed cylinder, one end lower, and finds by bisection the coefficient of friction below which it slips;
/// compares it with [`weighted_capstan`].
///
/// The cloth starts at rest on the half circle with its ends straight down and the tension it has when it slips.
/// Its threshold must be that of [`weighted_capstan_of_points`] at every mesh and keep [`CylinderSettings::tolerance`] at the finest,
/// and it must slip or stick at every one of [`CylinderSettings::frictions`] that is not within the tolerance of the threshold.
pub fn cylinder(
    settings: &CylinderSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<CylinderRow>, ProtocolError> {
    check(settings)?;
    let exact = settings.threshold();
    let finest = settings.resolutions.iter().copied().max().unwrap_or(0);
    let found = {
        let meter = Meter::new(progress, settings.resolutions.len());
        let work = |&n: &usize| {
            let given = if n == finest { &settings.frictions[..] } else { &[] };
            let rows = search(settings, n, given, exact, &meter)?;
            meter.finished(&format!("{n} cells along"));
            Ok(rows)
        };
        meter.run(&settings.resolutions, |n| (n * n) as f64, work)?
    };
    Ok(judge(settings, exact, found))
}

impl CylinderSettings {
    /// Lengths that hang on either side \[m\].
    fn ends(&self) -> (f64, f64) {
        let mean = 0.5 * (self.length - PI * self.radius);
        (mean + 0.5 * self.offset, mean - 0.5 * self.offset)
    }

    /// The exact threshold.
    pub fn threshold(&self) -> f64 {
        let (long, short) = self.ends();
        weighted_capstan(self.radius, long, short)
    }
}

fn check(settings: &CylinderSettings) -> Result<(), ProtocolError> {
    for (what, value) in [
        ("the radius", settings.radius),
        ("the length", settings.length),
        ("the offset of the ends", settings.offset),
        ("the time step", settings.dt),
        ("the time of watching", settings.watching),
        ("the bracket", settings.bracket),
        ("the tolerance", settings.tolerance),
        ("the tolerance of points", settings.tolerance_of_points),
    ] {
        positive(what, value)?;
    }
    settings.material.check()?;
    some("the number of resolutions", &settings.resolutions)?;
    let input = |what, value, must| Err(ProtocolError::Input { what, value, must });
    for &n in &settings.resolutions {
        resolution(n)?;
        if n < 16 {
            return input("the resolution", n as f64, "at least 16 cells along");
        }
    }
    settings.frictions.iter().try_for_each(|mu| positive("the coefficient of friction", *mu))?;
    let (_, short) = settings.ends();
    if short <= 0.05 * settings.length {
        let must = "at least a twentieth of the length; take longer cloth or a smaller offset";
        return input("the length hanging on the shorter side", short, must);
    }
    Ok(())
}

/// Trials at the given coefficients, then bisection; the trials and the threshold.
fn search(
    settings: &CylinderSettings,
    n: usize,
    given: &[f64],
    exact: f64,
    meter: &Meter<'_>,
) -> Result<(Vec<CylinderRow>, f64), ProtocolError> {
    let mut rows = Vec::new();
    for &mu in given {
        rows.push(trial(settings, n, mu, meter)?);
    }
    // The exact value only says where to begin; the bracket grows until it holds both phases.
    let (mut slip, mut stick): (Option<f64>, Option<f64>) = (None, None);
    for _ in 0..TRIALS {
        let mu = match (slip, stick) {
            (Some(low), Some(high)) if high - low <= settings.bracket => {
                return Ok((rows, 0.5 * (low + high)));
            }
            (Some(low), Some(high)) => 0.5 * (low + high),
            (Some(low), None) => 1.2 * low,
            (None, Some(high)) => 0.8 * high,
            (None, None) => 0.9 * exact,
        };
        let row = trial(settings, n, mu, meter)?;
        *(if row.slips { &mut slip } else { &mut stick }) = Some(mu);
        rows.push(row);
    }
    Ok((rows, f64::NAN))
}

/// Cloth over the cylinder as a chain of points: where it touches, they lie on the circle.
struct Chain {
    /// From the lower end, in the plane y = 0.
    places: Vec<Vec3>,
    /// First and last that touch.
    touching: [usize; 2],
}

impl Chain {
    fn new(settings: &CylinderSettings, n: usize) -> Self {
        let (long, short) = settings.ends();
        let r = settings.radius;
        let count = |l: f64| (n as f64 * l / settings.length).round().max(2.0) as usize;
        let (a, b, c) = (count(long), count(PI * r), count(short));
        let mut places = Vec::with_capacity(a + b + c + 1);
        places.extend((0..a).map(|k| Vec3::new(r, 0.0, long * (k as f64 / a as f64 - 1.0))));
        places.extend((0..=b).map(|k| {
            let (sin, cos) = (PI * k as f64 / b as f64).sin_cos();
            Vec3::new(r * cos, 0.0, if k == b { 0.0 } else { r * sin })
        }));
        places.extend((1..=c).map(|k| Vec3::new(-r, 0.0, -short * k as f64 / c as f64)));
        Chain { places, touching: [a, a + b] }
    }

    fn link(&self, i: usize) -> Vec3 {
        self.places[i + 1] - self.places[i]
    }

    /// Tension of every link when all points that touch slip towards the lower end, with the weight of a unit of length as the
    /// unit of force: the two equations of each point, along and across the circle, give the force of the cylinder and the next
    /// tension. Half of each link weighs at either of its ends.
    fn slipping(&self, mu: f64) -> Vec<f64> {
        let links = self.places.len() - 1;
        let [first, last] = self.touching;
        let mut tensions = vec![0.0; links];
        let mut hanging = 0.0;
        for i in 0..first {
            tensions[i] = hanging + 0.5 * self.link(i).norm();
            hanging += self.link(i).norm();
        }
        for i in first..=last {
            let (before, after) = (self.link(i - 1), self.link(i));
            let weight = 0.5 * (before.norm() + after.norm()) * Vec3::z();
            let normal = self.places[i].normalize();
            // Friction on the cloth points away from the lower end, to which it slips.
            let friction = normal + mu * Vec3::new(-normal.z, 0.0, normal.x);
            // N friction + T after/|after| = T_before before/|before| + weight.
            let (p, q) = (friction, after.normalize());
            let load = tensions[i - 1] * before.normalize() + weight;
            tensions[i] = (p.x * load.z - p.z * load.x) / (p.x * q.z - p.z * q.x);
        }
        let mut hanging = 0.0;
        for i in (last + 1..links).rev() {
            tensions[i] = hanging + 0.5 * self.link(i).norm();
            hanging += self.link(i).norm();
        }
        tensions
    }

    /// By how much the last point that touches pulls the shorter end up when all slip; falls with μ.
    fn excess(&self, mu: f64) -> f64 {
        let last = self.touching[1];
        let tensions = self.slipping(mu);
        // What hangs on the shorter side, and half of its first link at the last point.
        let short: f64 = (last..self.places.len() - 1).map(|i| self.link(i).norm()).sum();
        tensions[last] - (short - 0.5 * self.link(last).norm())
    }
}

/// The coefficient of friction at which cloth begins to slip whose weight sits at points and which touches the cylinder there:
/// [`weighted_capstan`] for `cells` cells along the cloth, to which it tends as their square.
pub fn weighted_capstan_of_points(settings: &CylinderSettings, cells: usize) -> f64 {
    let chain = Chain::new(settings, cells);
    let (mut low, mut high) = (0.0, 2.0 * settings.threshold() + 0.01);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *(if chain.excess(middle) > 0.0 { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

/// The stretch λ at which a strip of St. Venant and Kirchhoff carries that tension per width over E h: ½(λ² − 1)λ.
fn stretch(tension: f64) -> f64 {
    let mut x = 1.0 + tension;
    for _ in 0..20 {
        x -= (0.5 * (x * x - 1.0) * x - tension) / (1.5 * x * x - 0.5);
    }
    x
}

/// The cloth: its flat rest shape, where it lies, and how deep its chords cut into the circle. Stretched as when it slips.
fn drape(
    settings: &CylinderSettings,
    n: usize,
    friction: f64,
) -> Result<(TriMesh, Vec<Vec3>, f64), ProtocolError> {
    const ACROSS: usize = 2;
    let chain = Chain::new(settings, n);
    let width = 2.0 * settings.length / n as f64;
    let unit = settings.material.areal_density * GRAVITY / settings.material.stretching;
    let mut along = vec![0.0];
    for (i, tension) in chain.slipping(friction).into_iter().enumerate() {
        along.push(along[i] + chain.link(i).norm() / stretch(unit * tension.max(0.0)));
    }
    let (mut rest, mut positions, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for (&s, &place) in along.iter().zip(&chain.places) {
        for j in 0..=ACROSS {
            let y = width * (j as f64 / ACROSS as f64 - 0.5);
            rest.push(Vec3::new(s, y, 0.0));
            positions.push(place + y * Vec3::y());
        }
    }
    for i in 0..along.len() - 1 {
        for j in 0..ACROSS {
            let number = |i: usize, j: usize| (i * (ACROSS + 1) + j) as u32;
            let [a, b, c, d] =
                [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
            if (i + j) % 2 == 0 {
                faces.extend([[a, b, c], [a, c, d]]);
            } else {
                faces.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    let [first, last] = chain.touching;
    let sagitta = settings.radius * (1.0 - (0.5 * PI / (last - first) as f64).cos());
    Ok((TriMesh::new(rest, faces)?, positions, sagitta))
}

fn trial(
    settings: &CylinderSettings,
    n: usize,
    friction: f64,
    meter: &Meter<'_>,
) -> Result<CylinderRow, ProtocolError> {
    let (rest, positions, sagitta) = drape(settings, n, friction)?;
    // The vertices keep the radius; the collider lies below it by so much that the chords stay clear.
    let gap = 4.0 * sagitta;
    let pipe = Shape::cylinder(Vec3::zeros(), Vec3::y(), settings.radius - gap, None);
    let pipe = pipe
        .and_then(|p| Collider::fixed(p).with_friction(friction))
        .and_then(|c| c.with_gap(gap))
        .map_err(SimError::from)?;
    let start = positions[0];
    let cloth = Cloth { rest: &rest, positions, material: settings.material, pins: Vec::new() };
    let mut sim = cloth.among(vec![pipe], -GRAVITY * Vec3::z())?;
    let steps = (settings.watching / settings.dt).ceil().max(1.0) as usize;
    for _ in 0..steps {
        sim.step(settings.dt)?;
        if !meter.alive() {
            meter.check()?;
        }
    }
    let speed = slipping(&sim);
    let first = sim.model().vertices()[0];
    let travel = (start - sim.model().position(sim.state(), first)).z;
    // What is not a number slips.
    let slips = speed.is_nan() || speed > SLIPS;
    Ok(CylinderRow { resolution: n, friction, speed, travel, slips })
}

/// Largest speed of the vertices that touch \[m/s\].
fn slipping(sim: &Simulator<Surroundings>) -> f64 {
    let speeds: Vec<f64> = velocities(sim).map(|v| v.norm()).collect();
    let touching = sim.contact_forces().iter().map(|f| speeds[f.contact.vertices[0] as usize]);
    touching.fold(f64::NAN, f64::max)
}

fn judge(
    settings: &CylinderSettings,
    exact: f64,
    found: Vec<(Vec<CylinderRow>, f64)>,
) -> Outcome<CylinderRow> {
    let finest = settings.resolutions.iter().copied().max().unwrap_or(0);
    let (mut reports, mut checks, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut report = Report::new("threshold of slip, weighted capstan", settings.tolerance);
    let allowed = settings.tolerance_of_points;
    let mut points = Report::new("threshold of slip, weights at as many points", allowed);
    for (&n, (_, threshold)) in settings.resolutions.iter().zip(&found) {
        let of_points = weighted_capstan_of_points(settings, n);
        points.push(format!("{n} cells along"), of_points, *threshold);
        if n == finest {
            report.push(format!("{n} cells along"), exact, *threshold);
        }
        notes.push(format!(
            "threshold {threshold:.5} with {n} cells along; of as many points {of_points:.5}, of a curve {exact:.5}"
        ));
    }
    reports.push(report);
    reports.push(points);
    let rows: Vec<CylinderRow> = found.into_iter().flat_map(|(rows, _)| rows).collect();
    for &mu in &settings.frictions {
        if (mu / exact - 1.0).abs() <= settings.tolerance {
            continue; // either may happen
        }
        if let Some(row) = rows.iter().find(|r| r.friction == mu && r.resolution == finest) {
            let word = if mu < exact { "slips" } else { "sticks" };
            checks.push(Check {
                title: format!("{word} at μ = {mu}"),
                ok: row.slips == (mu < exact),
                detail: format!("{:.1e} m/s after {} s", row.speed, settings.watching),
            });
        }
    }
    let mut outcome = Outcome { rows, reports, checks, notes, figures: Vec::new() };
    outcome.figures = vec![figure(settings, exact, &outcome)];
    outcome
}

fn figure(settings: &CylinderSettings, exact: f64, outcome: &Outcome<CylinderRow>) -> Figure {
    const MARKERS: [Marker; 5] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];
    let most = outcome.rows.iter().map(|r| 1e3 * r.travel).fold(0.0, f64::max);
    let y = Axis::linear(format!("way of the lower end in {} s [mm]", settings.watching));
    let mut plot = Plot::new("Cloth over a cylinder", Axis::linear("μ"), y)
        .with(Series::dashed("weighted capstan", vec![(exact, 0.0), (exact, most)]).coloured(0))
        .with_verdict(outcome.verdict());
    for (k, &n) in settings.resolutions.iter().enumerate() {
        let mine = outcome.rows.iter().filter(|r| r.resolution == n);
        let points = mine.map(|r| (r.friction, 1e3 * r.travel)).collect();
        let name = format!("{n} cells along");
        plot = plot.with(Series::markers(name, MARKERS[k % 5], points).coloured(k + 1));
    }
    Figure { file: "cylinder.svg".into(), plot }
}
