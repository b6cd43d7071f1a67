//! The capstan: a light belt on a turning drum, one end held, the other pulled.

use std::f64::consts::{PI, TAU};

use nalgebra::UnitQuaternion;
use toile_contact::{Collider, ContactError, Keyframe, Motion, Shape};
use toile_geometry::{TriMesh, Vec3};
use toile_sim::SimError;
use toile_sim::dynamics::{ContactStatus, Simulator, StageSettings, Surroundings};

use super::cloth::{Cloth, ClothMaterial, velocities};
use super::progress::{Meter, Progress};
use super::{Check, Figure, Outcome, ProtocolError, TableRow, positive, some};
use crate::verdict::{Report, cell};
use toile_report::plot::{Axis, Marker, Plot, Series};

/// Which way a drum turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrumWay {
    /// Away from the held end, which then bears more than the pull.
    Tightening,
    /// Towards it: it bears less.
    Loosening,
}

impl DrumWay {
    /// 1 or −1, as the logarithm of the ratio of tensions has it.
    fn sign(self) -> f64 {
        if self == DrumWay::Tightening { 1.0 } else { -1.0 }
    }

    fn name(self) -> &'static str {
        if self == DrumWay::Tightening { "tightening" } else { "loosening" }
    }
}

/// What [`capstan`] measures.
#[derive(Clone, Debug, PartialEq)]
pub struct CapstanSettings {
    /// Coefficients of friction.
    pub frictions: Vec<f64>,
    /// Angles over which the belt lies on the drum \[rad\].
    pub wraps: Vec<f64>,
    /// Which way the drum turns under the belt.
    pub ways: Vec<DrumWay>,
    /// Numbers of rows of vertices that touch the drum.
    pub contacts: Vec<usize>,
    /// Radius of the drum \[m\].
    pub radius: f64,
    /// Width of the belt \[m\].
    pub width: f64,
    /// Force at the end that is pulled \[N\].
    pub pull: f64,
    /// What the belt is made of; there is no gravity. Stiff and soft to bend, or the belt would not be the capstan's.
    pub material: ClothMaterial,
    /// Speed of the drum's surface \[m/s\].
    pub speed: f64,
    /// Time step \[s\].
    pub dt: f64,
    /// Allowed relative deviation from as many point contacts.
    pub tolerance: f64,
}

impl Default for CapstanSettings {
    /// Half a turn at μ = 0.3 on 4, 10 and 50 rows, which must give 2.716, 2.588 and 2.567 (2.566 in the limit) or one over
    /// that, with weaker and stronger friction and a quarter turn.
    fn default() -> Self {
        Self {
            frictions: vec![0.1, 0.3, 0.5],
            wraps: vec![0.5 * PI, PI],
            ways: vec![DrumWay::Tightening, DrumWay::Loosening],
            contacts: vec![4, 10, 50],
            radius: 0.1,
            width: 0.02,
            pull: 1.0,
            material: ClothMaterial {
                stretching: 1e7,
                bending: 1e-9,
                poisson: 0.0,
                areal_density: 0.2,
            },
            speed: 0.1,
            dt: 0.01,
            tolerance: 2e-4,
        }
    }
}

impl CapstanSettings {
    /// Seconds: half a turn at μ = 0.3 on 4 and 10 rows.
    pub fn quick() -> Self {
        Self { frictions: vec![0.3], wraps: vec![PI], contacts: vec![4, 10], ..Self::default() }
    }
}

/// Ratio of the tensions of a belt that slips over `contacts` points, evenly spread over the angle `wrap` \[rad\].
///
/// At each the belt turns by φ/n, so that balance along and across the bisector gives a factor
/// (1 + μ tan(φ/2n))/(1 − μ tan(φ/2n)). Tends to e^(μφ) from above; infinite where one point would hold any pull.
pub fn capstan_of_points(mu: f64, wrap: f64, contacts: usize) -> f64 {
    let n = contacts.max(1) as f64;
    let x = mu * (0.5 * wrap / n).tan();
    if !(0.0..1.0).contains(&x) {
        return f64::INFINITY;
    }
    ((1.0 + x) / (1.0 - x)).powf(n)
}

/// One belt of [`capstan`].
#[derive(Clone, Debug, PartialEq)]
pub struct CapstanRow {
    /// Coefficient of friction.
    pub friction: f64,
    /// Angle on the drum \[rad\].
    pub wrap: f64,
    /// Which way the drum turns.
    pub way: DrumWay,
    /// Rows of vertices on the drum.
    pub contacts: usize,
    /// Tension at the held end over the pull at the other.
    pub ratio: f64,
    /// The same over as many points, see [`capstan_of_points`].
    pub of_points: f64,
    /// e^(μφ), or e^(−μφ) where the drum loosens the belt.
    pub of_curves: f64,
    /// Whether every vertex on the drum slipped in the end, and nothing moved any more.
    pub steady: bool,
}

impl TableRow for CapstanRow {
    const HEADER: &'static [&'static str] =
        &["mu", "wrap", "contacts", "tension_ratio", "of_points", "exp_mu_wrap", "drum"];

    fn cells(&self) -> Vec<String> {
        vec![
            cell(self.friction),
            cell(self.wrap),
            self.contacts.to_string(),
            cell(self.ratio),
            cell(self.of_points),
            cell(self.of_curves),
            self.way.name().into(),
        ]
    }
}

#[derive(Clone, Copy)]
struct Case {
    wrap: f64,
    friction: f64,
    way: DrumWay,
    contacts: usize,
}

impl Case {
    /// Ratio of the tensions over points.
    fn ratio(&self) -> f64 {
        capstan_of_points(self.friction, self.wrap, self.contacts).powf(self.way.sign())
    }
}

/// Cells across the belt.
const ACROSS: usize = 2;
/// Cells along each end that does not touch.
const FREE: usize = 3;
/// Steps in which a belt must come to rest.
const STEPS: usize = 400;
/// Steps in which the drum gets its speed.
const STARTING: i32 = 90;
/// Speed at which it has, over the drum's.
const RESTS: f64 = 1e-4;

/// Lays light belts on a drum that turns under them, away from the held end or towards it, and compares the ratio of the
/// tensions at their ends with that of as many point contacts; the finest also with Euler's and Eytelwein's e^(μφ).
///
/// Since the drum slips everywhere, the belt comes to rest and its friction is that of the law, with no threshold to look
/// for. Half a turn at μ = 0.3: 2.716, 2.588, 2.567 for 4, 10 and 50 points, 2.566 in the limit.
/// Reference: Bertails-Descoubes 2017 (spec, check C5).
pub fn capstan(
    settings: &CapstanSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<CapstanRow>, ProtocolError> {
    check(settings)?;
    let mut cases = Vec::new();
    for &wrap in &settings.wraps {
        for &mu in &settings.frictions {
            for &way in &settings.ways {
                let case = |&contacts: &usize| Case { wrap, friction: mu, way, contacts };
                cases.extend(settings.contacts.iter().map(case));
            }
        }
    }
    let rows = {
        let meter = Meter::new(progress, cases.len());
        let work = |case: &Case| belt(settings, case, &meter);
        meter.run(&cases, |c| c.contacts as f64, work)?
    };
    Ok(judge(settings, rows))
}

fn check(settings: &CapstanSettings) -> Result<(), ProtocolError> {
    for (what, value) in [
        ("the radius", settings.radius),
        ("the width", settings.width),
        ("the pull", settings.pull),
        ("the speed of the drum", settings.speed),
        ("the time step", settings.dt),
        ("the tolerance", settings.tolerance),
    ] {
        positive(what, value)?;
    }
    settings.material.check()?;
    some("the number of coefficients of friction", &settings.frictions)?;
    some("the number of wraps", &settings.wraps)?;
    some("the number of contacts", &settings.contacts)?;
    some("the number of ways of the drum", &settings.ways)?;
    settings.frictions.iter().try_for_each(|mu| positive("the coefficient of friction", *mu))?;
    settings.wraps.iter().try_for_each(|wrap| positive("the angle of wrap", *wrap))?;
    let input = |what, value, must| Err(ProtocolError::Input { what, value, must });
    if let Some(&wrap) = settings.wraps.iter().find(|w| **w > TAU) {
        return input("the angle of wrap", wrap, "at most a full turn, 2π");
    }
    for &n in &settings.contacts {
        // Beyond an eighth of a turn at one row of vertices the faces between would cut deep into the drum.
        let turn = settings.wraps.iter().map(|w| w / n.max(1) as f64).fold(0.0, f64::max);
        if turn > 0.25 * PI + 1e-12 || n > 1000 {
            let must = "at least eight for a full turn in proportion, and at most 1000";
            return input("the number of contacts", n as f64, must);
        }
        for &mu in &settings.frictions {
            if mu * (0.5 * turn).tan() > 0.5 {
                let must = "so small that one row of vertices cannot hold any pull";
                return input("the coefficient of friction", mu, must);
            }
        }
    }
    Ok(())
}

/// The belt: its flat rest shape, its place, and the directions in which its ends leave, the held one first.
fn strip(
    settings: &CapstanSettings,
    wrap: f64,
    n: usize,
) -> Result<(TriMesh, Vec<Vec3>, [Vec3; 2]), ProtocolError> {
    let r = settings.radius;
    let turn = wrap / n as f64;
    let chord = 2.0 * r * (0.5 * turn).sin();
    let radial = |a: f64| Vec3::new(a.sin(), 0.0, a.cos());
    let along = |a: f64| Vec3::new(a.cos(), 0.0, -a.sin());
    let ends = [-along(-0.5 * wrap), along(0.5 * wrap)];
    let angle = |k: usize| (k as f64 + 0.5) * turn - 0.5 * wrap;
    let stations = n + 2 * FREE;
    // Free cells are longer than the chord, or their first vertices would be on the circle again.
    let cell = 1.5 * chord;
    let station = |i: usize| {
        let [before, after] = [FREE.saturating_sub(i), (i + 1).saturating_sub(FREE + n)];
        let k = (i + before - after) - FREE;
        let off = ends[0] * before as f64 + ends[1] * after as f64;
        r * radial(angle(k)) + cell * off
    };
    // The belt is tight from the start.
    let stretch = 1.0 + settings.pull / (settings.material.stretching * settings.width);
    let mut s = 0.0;
    let (mut rest, mut positions, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..stations {
        let place = station(i);
        if i > 0 {
            s += (place - station(i - 1)).norm() / stretch;
        }
        for j in 0..=ACROSS {
            let y = settings.width * (j as f64 / ACROSS as f64 - 0.5);
            rest.push(Vec3::new(s, y, 0.0));
            positions.push(place + y * Vec3::y());
        }
    }
    for i in 0..stations - 1 {
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
    Ok((TriMesh::new(rest, faces)?, positions, ends))
}

/// A drum that starts so slowly that stiff belts follow it before they slip, its speed growing by a fifth with every step up to `spin` \[rad/s\].
///
/// Taken along by a whole step of the full speed, a belt would be strained far beyond what friction can bear. Where the drum loosens it
/// Coulomb's law then has another solution, jammed between drum and held end, and the step finds that.
fn turning(spin: f64, dt: f64) -> Result<Motion, ContactError> {
    let mut angle = 0.0;
    let keys = (0..=STEPS + 1).map(|k| {
        let key = Keyframe {
            time: k as f64 * dt,
            position: Vec3::zeros(),
            rotation: UnitQuaternion::from_scaled_axis(angle * Vec3::y()),
        };
        angle += spin * dt * 1.2f64.powi(k as i32 - STARTING).min(1.0);
        key
    });
    Motion::keyframes(Vec3::zeros(), keys.collect())
}

fn belt(
    settings: &CapstanSettings,
    case: &Case,
    meter: &Meter<'_>,
) -> Result<CapstanRow, ProtocolError> {
    let &Case { wrap, friction, way, contacts: n } = case;
    let (rest, positions, ends) = strip(settings, wrap, n)?;
    // The vertices keep the radius; the drum lies below it by so much that the chords stay clear.
    let gap = 4.0 * settings.radius * (1.0 - (0.5 * wrap / n as f64).cos());
    let radius = settings.radius - gap;
    let motion = turning(way.sign() * settings.speed / radius, settings.dt);
    let drum = Shape::cylinder(Vec3::zeros(), Vec3::y(), radius, None).map_err(SimError::from)?;
    let drum = motion
        .and_then(|motion| Collider::new(drum, motion))
        .and_then(|c| c.with_friction(friction))
        .and_then(|c| c.with_gap(gap))
        .map_err(SimError::from)?;
    let row = ACROSS as u32 + 1;
    let last = positions.len() as u32 - row;
    // Half shares at the borders, as a uniform tension has.
    let share = |j: u32| if j == 0 || j == row - 1 { 0.5 } else { 1.0 } / ACROSS as f64;
    let forces: Vec<(u32, Vec3)> =
        (0..row).map(|j| (last + j, settings.pull * share(j) * ends[1])).collect();
    let pins: Vec<u32> = (0..row).collect();
    let cloth = Cloth { rest: &rest, positions, material: settings.material, pins };
    let mut sim = cloth.pulled(vec![drum], Vec3::zeros(), &forces)?;
    // Balanced forces end a step here, not short moves: a stiff belt has its tension from moves that are shorter still.
    sim.set_settings(StageSettings {
        tolerance: 1e-7,
        max_iterations: 40,
        ..StageSettings::default()
    });
    let mut steady = false;
    for step in 0..STEPS {
        sim.step(settings.dt)?;
        if !meter.alive() {
            meter.check()?;
        }
        let fastest = velocities(&sim).map(|v| v.norm()).fold(0.0, f64::max);
        if step > STARTING as usize && fastest <= RESTS * settings.speed {
            let slipping = sim.contact_forces().iter().filter(|f| f.status == ContactStatus::Slip);
            steady = slipping.count() == n * (ACROSS + 1);
            break;
        }
    }
    let ratio = tension(&sim, row) / settings.pull;
    let of_points = case.ratio();
    let of_curves = (way.sign() * friction * wrap).exp();
    let name = way.name();
    meter.finished(&format!("μ = {friction}, {n} rows on {:.0}°, {name}", wrap.to_degrees()));
    Ok(CapstanRow { friction, wrap, way, contacts: n, ratio, of_points, of_curves, steady })
}

/// What the belt pulls at its held end \[N\].
fn tension(sim: &Simulator<Surroundings>, held: u32) -> f64 {
    let mut gradient = vec![0.0; sim.model().len()];
    sim.model().gradient(sim.state(), &mut gradient);
    let pulls = (0..held as usize).map(|j| {
        let i = sim.model().unknown(sim.model().vertices()[j]);
        Vec3::from_column_slice(&gradient[i..i + 3])
    });
    pulls.fold(Vec3::zeros(), |sum, f| sum + f).norm()
}

fn judge(settings: &CapstanSettings, rows: Vec<CapstanRow>) -> Outcome<CapstanRow> {
    let finest = settings.contacts.iter().copied().max().unwrap_or(0);
    let mut points = Report::new("ratio of tensions over as many points", settings.tolerance);
    let mut notes = Vec::new();
    for row in &rows {
        let (rows, degrees, name) = (row.contacts, row.wrap.to_degrees(), row.way.name());
        let at = format!("μ = {}, {rows} rows on {degrees:.0}°, {name}", row.friction);
        points.push(at, row.of_points, row.ratio);
        if row.contacts == finest {
            notes.push(format!(
                "μ = {}, {degrees:.0}°, {name}: {:.4} over {finest} rows; e^(±μφ) = {:.4}",
                row.friction, row.ratio, row.of_curves
            ));
        }
    }
    let restless = rows.iter().filter(|r| !r.steady).count();
    let checks = vec![Check {
        title: "every belt comes to rest with the drum slipping under all of it".into(),
        ok: restless == 0,
        detail: format!("{} of {}", rows.len() - restless, rows.len()),
    }];
    let mut outcome = Outcome { rows, reports: vec![points], checks, notes, figures: Vec::new() };
    outcome.figures = vec![figure(settings, &outcome)];
    outcome
}

fn figure(settings: &CapstanSettings, outcome: &Outcome<CapstanRow>) -> Figure {
    const MARKERS: [Marker; 5] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];
    let most = outcome.rows.iter().map(|r| r.friction * r.wrap).fold(0.0, f64::max);
    let loosened = outcome.rows.iter().any(|r| r.way == DrumWay::Loosening);
    let least = if loosened { -most } else { 0.0 };
    let limit = (0..=50).map(|k| least + (most - least) * f64::from(k) / 50.0);
    let limit = limit.map(|x| (x, x.exp())).collect();
    let mut plot = Plot::new(
        "Belt on a turning drum",
        Axis::linear("μ times angle, negative where the drum loosens"),
        Axis::linear("ratio of the tensions"),
    )
    .with(Series::line("e^(μφ)", limit).coloured(0))
    .with_verdict(outcome.verdict());
    for (k, &n) in settings.contacts.iter().enumerate() {
        let mine = outcome.rows.iter().filter(|r| r.contacts == n);
        let points = mine.map(|r| (r.way.sign() * r.friction * r.wrap, r.ratio)).collect();
        let name = format!("{n} rows of vertices");
        plot = plot.with(Series::markers(name, MARKERS[k % 5], points).coloured(k + 1));
    }
    Figure { file: "capstan.svg".into(), plot }
}
