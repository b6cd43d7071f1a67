//! Stick-slip: a strip pushed against the ground until its tip slips.

use toile_contact::{Collider, Motion, Shape};
use toile_geometry::{TriMesh, Vec3};
use toile_sim::SimError;
use toile_sim::dynamics::{Simulator, StageSettings, Surroundings};

use super::cloth::{Cloth, ClothMaterial};
use super::progress::{Meter, Progress};
use super::{Check, Figure, Outcome, ProtocolError, TableRow, positive, resolution, some};
use crate::elastica::{StickSlip, stick_slip as elastica, stick_slip_curve};
use crate::verdict::{Report, cell};
use toile_report::plot::{Axis, Band, Marker, Plot, Series};

/// What [`stick_slip`] measures.
#[derive(Clone, Debug, PartialEq)]
pub struct StickSlipSettings {
    /// Coefficients of friction.
    pub frictions: Vec<f64>,
    /// Cells along the strip, coarsest first.
    pub resolutions: Vec<usize>,
    /// L \[m\].
    pub length: f64,
    /// Width \[m\].
    pub width: f64,
    /// What the strip is made of; there is no gravity.
    pub material: ClothMaterial,
    /// ε at which pushing begins, the strip buckled as the elastica is; as a part of (μ/0.445)², the first estimate of
    /// where it slips.
    pub start: f64,
    /// How much ε grows in a step, as a part of the same.
    pub advance: f64,
    /// Time step \[s\].
    pub dt: f64,
    /// Allowed relative deviation of the friction at onset, at the finest mesh.
    pub tolerance: f64,
}

impl Default for StickSlipSettings {
    /// The strip of Ly 2021: 0.2 m × 0.01 m × 1 mm, 100 kg/m³, EI/L² = 10 N, ν = 0.3.
    fn default() -> Self {
        let thickness = 1e-3;
        let young = 4.8e11;
        let poisson = 0.3;
        Self {
            frictions: (1..=7).map(|k| 0.05 * f64::from(k)).collect(),
            resolutions: vec![25, 50],
            length: 0.2,
            width: 0.01,
            material: ClothMaterial {
                stretching: young * thickness,
                bending: young * f64::powi(thickness, 3) / (12.0 * (1.0 - poisson * poisson)),
                poisson,
                areal_density: 100.0 * thickness,
            },
            start: 0.1,
            advance: 1e-3,
            dt: 1e-3,
            tolerance: 0.015,
        }
    }
}

impl StickSlipSettings {
    /// Seconds: two coefficients, one mesh.
    pub fn quick() -> Self {
        Self { frictions: vec![0.1, 0.3], resolutions: vec![25], advance: 1e-3, ..Self::default() }
    }
}

/// One push of [`stick_slip`].
#[derive(Clone, Debug, PartialEq)]
pub struct StickSlipRow {
    /// Coefficient of friction.
    pub friction: f64,
    /// Cells along the strip.
    pub resolution: usize,
    /// ε at which the tip slipped, the mean of the last step that stuck and the one that slipped; not a number if it
    /// never did.
    pub shortening: f64,
    /// Q/P of the elastica at that ε.
    pub friction_needed: f64,
    /// Largest relative deviation of the measured Q/P from the elastica's while the tip stuck.
    pub force_error: f64,
    /// Q/P measured against ε.
    pub path: Vec<(f64, f64)>,
}

impl TableRow for StickSlipRow {
    const HEADER: &'static [&'static str] =
        &["mu", "resolution", "eps_y", "mu_elastica", "off_by", "force_error"];

    fn cells(&self) -> Vec<String> {
        vec![
            cell(self.friction),
            self.resolution.to_string(),
            cell(self.shortening),
            cell(self.friction_needed),
            cell(self.friction_needed / self.friction - 1.0),
            cell(self.force_error),
        ]
    }
}

/// How far the tip must have moved to have slipped, over L.
const SLIPPED: f64 = 1e-3;
/// How far the tip of a strip that holds may move, over the way of the ground.
///
/// A strip pushed along grows wider (Poisson), so the corners of its tip slip outwards long before the whole tip
/// slips; what that gives along the push is 1e-5 of the ground's way.
const HELD: f64 = 0.1;
/// Cells across: two, whose diagonals mirror each other, or the strip would twist and rest on one corner.
const ACROSS: usize = 2;
/// ε up to which the strip is pushed: a little beyond the triple point at 0.3303.
const FARTHEST: f64 = 0.34;

/// Pushes strips, clamped above and pointing down, slowly against the ground and finds when their tips slip.
///
/// The ground rises, which is the clamp coming down. The tip must slip where the friction that the elastica needs
/// ([`crate::elastica::stick_slip()`]) reaches μ, within [`StickSlipSettings::tolerance`] at the finest mesh, with one
/// setting for all μ.
/// Reference: Ly 2021, §§3.3.4 and 3.5.4.
pub fn stick_slip(
    settings: &StickSlipSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<StickSlipRow>, ProtocolError> {
    check(settings)?;
    let mut cases = Vec::new();
    for &n in &settings.resolutions {
        cases.extend(settings.frictions.iter().map(|&mu| (n, mu)));
    }
    let shortenings: Vec<f64> =
        (0..=68).map(|k| 1e-3f64.max(FARTHEST * f64::from(k) / 68.0)).collect();
    let curve = stick_slip_curve(&shortenings)?;
    let rows = {
        let meter = Meter::new(progress, cases.len());
        let work = |&(n, mu): &(usize, f64)| push(settings, n, mu, &meter);
        meter.run(&cases, |c| c.0 as f64, work)?
    };
    Ok(judge(settings, &curve, rows))
}

fn check(settings: &StickSlipSettings) -> Result<(), ProtocolError> {
    some("the number of coefficients of friction", &settings.frictions)?;
    some("the number of resolutions", &settings.resolutions)?;
    settings.material.check()?;
    for (what, value) in [
        ("the length", settings.length),
        ("the width", settings.width),
        ("the time step", settings.dt),
        ("the tolerance", settings.tolerance),
    ] {
        positive(what, value)?;
    }
    settings.resolutions.iter().try_for_each(|n| resolution(*n))?;
    let input = |what, value, must| Err(ProtocolError::Input { what, value, must });
    if !(0.01..=0.5).contains(&settings.start) {
        return input("the start", settings.start, "from 0.01 to 0.5 of where the tip may slip");
    }
    if !(1e-5..=0.1).contains(&settings.advance) {
        return input("the advance in a step", settings.advance, "from 1e-5 to 0.1");
    }
    let fits = |mu: &&f64| !(0.02..=0.356).contains(*mu);
    if let Some(&mu) = settings.frictions.iter().find(fits) {
        let must = "from 0.02 to 0.356, where the tip lies down before it slips";
        return input("the coefficient of friction", mu, must);
    }
    Ok(())
}

/// The strip, its rest shape and where it starts, with a column of faces above the clamp; the clamp is at the
/// origin and the strip points to −z.
fn strip(
    settings: &StickSlipSettings,
    n: usize,
    start: f64,
) -> Result<(TriMesh, Vec<Vec3>, Vec<u32>), ProtocolError> {
    let buckled = elastica(start)?;
    let l = settings.length;
    let (mut rest, mut positions, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..=n + 1 {
        let s = (i as f64 - 1.0) / n as f64;
        let place = if i < 2 {
            Vec3::new(0.0, 0.0, -s * l)
        } else {
            let station = buckled.profile.at(s);
            l * Vec3::new(station.x, 0.0, -station.y)
        };
        for j in 0..=ACROSS {
            let y = settings.width * (j as f64 / ACROSS as f64 - 0.5);
            rest.push(Vec3::new(s * l, y, 0.0));
            positions.push(place + y * Vec3::y());
        }
    }
    for i in 0..=n {
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
    let pins = (0..2 * (ACROSS as u32 + 1)).collect();
    Ok((TriMesh::new(rest, faces)?, positions, pins))
}

/// Place of the tip along x, mean over its vertices \[m\].
fn tip(sim: &Simulator<Surroundings>) -> f64 {
    let vertices = sim.model().vertices();
    let last = &vertices[vertices.len() - (ACROSS + 1)..];
    last.iter().map(|&v| sim.model().position(sim.state(), v).x).sum::<f64>() / last.len() as f64
}

fn push(
    settings: &StickSlipSettings,
    n: usize,
    friction: f64,
    meter: &Meter<'_>,
) -> Result<StickSlipRow, ProtocolError> {
    let &StickSlipSettings { length, dt, .. } = settings;
    let estimate = (friction / 0.445).powi(2);
    let (start, step) = (settings.start * estimate, settings.advance * estimate);
    let (rest, positions, pins) = strip(settings, n, start)?;
    let ground = -length * (1.0 - start);
    let ground = Shape::plane(Vec3::new(0.0, 0.0, ground), Vec3::z()).map_err(SimError::from)?;
    let rising = Vec3::new(0.0, 0.0, step * length / dt);
    let ground = Motion::steady(Vec3::zeros(), rising, Vec3::zeros())
        .and_then(|motion| Collider::new(ground, motion))
        .and_then(|c| c.with_friction(friction))
        .and_then(|c| c.with_gap(0.0))
        .map_err(SimError::from)?;
    let cloth = Cloth { rest: &rest, positions, material: settings.material, pins };
    let mut sim = cloth.among(vec![ground], Vec3::zeros())?;
    // A strip that is about to buckle further answers slowly.
    sim.set_settings(StageSettings { max_iterations: 50, ..StageSettings::default() });
    let foot = tip(&sim);
    let (mut path, mut ways) = (Vec::new(), vec![0.0]);
    let steps = ((FARTHEST - start) / step).ceil() as usize;
    let mut slipped = false;
    for k in 1..=steps {
        sim.step(dt)?;
        if !meter.alive() {
            meter.check()?;
        }
        let total = sim.contact_forces().iter().fold(Vec3::zeros(), |sum, f| sum + f.force);
        path.push((start + step * k as f64, total.x.abs() / total.z));
        ways.push((tip(&sim) - foot).abs());
        if ways[k].is_nan() || ways[k] > SLIPPED * length {
            slipped = true;
            break;
        }
    }
    // Back from where it had slipped for certain to the last step in which it held.
    let mut shortening = f64::NAN;
    if slipped {
        let mut k = ways.len() - 1;
        while k > 1 && ways[k - 1] - ways[k - 2] > HELD * step * length {
            k -= 1;
        }
        path.truncate(k - 1);
        shortening = start + step * (k as f64 - 0.5);
    }
    let friction_needed = if shortening.is_finite() && shortening <= 0.4 {
        elastica(shortening)?.friction_needed
    } else {
        f64::NAN
    };
    let row = StickSlipRow {
        friction,
        resolution: n,
        shortening,
        friction_needed,
        force_error: f64::NAN,
        path,
    };
    meter.finished(&format!("μ = {friction:.3}, {n} cells along"));
    Ok(row)
}

fn judge(
    settings: &StickSlipSettings,
    curve: &[StickSlip],
    mut rows: Vec<StickSlipRow>,
) -> Outcome<StickSlipRow> {
    let finest = settings.resolutions.iter().copied().max().unwrap_or(0);
    let mut report = Report::new("friction at which the tip slips", settings.tolerance);
    for row in &mut rows {
        // The beginning is left out: the strip still finds its own shape there.
        let settled = row.path.iter().skip(row.path.len() / 4);
        row.force_error = settled
            .map(|&(eps, ratio)| (ratio / between(curve, eps) - 1.0).abs())
            .fold(0.0, |a: f64, b| if a.is_nan() || b <= a { a } else { b });
        if row.resolution == finest {
            let at = format!("μ = {:.3}, ε = {:.4}", row.friction, row.shortening);
            report.push(at, row.friction, row.friction_needed);
        }
    }
    let fine = || rows.iter().filter(|r| r.resolution == finest);
    let worst = fine()
        .map(|r| r.force_error)
        .fold(0.0, |a: f64, b| if a.is_nan() || b <= a { a } else { b });
    let checks = vec![Check {
        title: "while it sticks, Q/P is that of the elastica".into(),
        ok: worst <= settings.tolerance,
        detail: format!("off by at most {:.2} %", 100.0 * worst),
    }];
    let mut outcome =
        Outcome { rows, reports: vec![report], checks, notes: Vec::new(), figures: Vec::new() };
    outcome.figures = vec![figure(settings, curve, &outcome)];
    outcome
}

/// Q/P between the points of the master curve, linear in √ε as the curve nearly is.
fn between(curve: &[StickSlip], eps: f64) -> f64 {
    let k = curve.partition_point(|c| c.shortening < eps).clamp(1, curve.len() - 1);
    let (a, b) = (&curve[k - 1], &curve[k]);
    let t = (eps.sqrt() - a.shortening.sqrt()) / (b.shortening.sqrt() - a.shortening.sqrt());
    a.friction_needed + t * (b.friction_needed - a.friction_needed)
}

fn figure(
    settings: &StickSlipSettings,
    curve: &[StickSlip],
    outcome: &Outcome<StickSlipRow>,
) -> Figure {
    const MARKERS: [Marker; 5] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];
    let line: Vec<(f64, f64)> = curve.iter().map(|c| (c.shortening, c.friction_needed)).collect();
    let name = format!("± {} %", 100.0 * settings.tolerance);
    let x = Axis::linear("ε, how far the clamp came down / L");
    let mut plot = Plot::new("Strip pushed against the ground", x, Axis::linear("μ"))
        .with_band(Band::around(name, &line, settings.tolerance))
        .with(Series::line("elastica: sticks above, slips below", line).coloured(0))
        .with_verdict(outcome.verdict());
    for (k, &n) in settings.resolutions.iter().enumerate() {
        let mine = outcome.rows.iter().filter(|r| r.resolution == n && r.shortening.is_finite());
        let points = mine.map(|r| (r.shortening, r.friction)).collect();
        let name = format!("slips, {n} cells along");
        plot = plot.with(Series::markers(name, MARKERS[k % 5], points).coloured(k + 1));
    }
    Figure { file: "stick_slip.svg".into(), plot }
}
