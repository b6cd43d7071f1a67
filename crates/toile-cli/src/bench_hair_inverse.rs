//! `toile bench hair-inverse`: natures and contact forces of hair drawn on a head, strands lying on each other.

use toile::rod::{Assembly, Prior, RodError, Vec3, drawn_hair};

use crate::args::{BenchArgs, Global};
use crate::bench::{Clock, rounded};
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::{Failure, Outcome};

/// Strands.
const COUNT: usize = 2000;
/// Step with which the result is watched \[s\].
const STEP: f64 = 4e-3;
/// How long it is watched \[s\].
const WATCHED: f64 = 1.0;
/// How long the drawing, made as drawn, may sag \[s\].
const SAG: f64 = 0.1;
/// Drift that is still rest.
const MOST_DRIFT: f64 = 1e-4;

pub(crate) fn run(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    let count = args.n.map_or(COUNT, |n| n as usize);
    let scene = drawn_hair(count)?;
    let share = std::cell::RefCell::new(Share::new(global.quiet || global.json));
    let told = |done: f64, what: &str| {
        share.borrow_mut().tell(done, what);
        !interrupted()
    };
    let clock = Clock::start();
    let holding = |done: f64| told(done, "looking for forces that hold it");
    let found = match scene.invert_watched(&Prior::Shape, &holding) {
        Err(RodError::Stopped) => return Ok(Outcome::Doubtful),
        found => found?,
    };
    let (wall, cpu) = clock.stop();
    let watch = |done: f64| told(done, "watching that it stays");
    let watched = |mut held: Assembly, seconds: f64| {
        held.settings.step.dt = STEP;
        held.settings.step.drag = 0.0;
        held.settings.tolerance = 1e-8;
        held.drift_watched(seconds, &watch)
    };
    let clock = Clock::start();
    let drift = watched(scene.held_by(&found)?, args.duration.unwrap_or(WATCHED))?;
    let (watching, _) = clock.stop();
    let shapes: Vec<Vec<Vec3>> = scene.fibres.iter().map(|f| f.state.q.clone()).collect();
    let sag = watched(scene.with_natures(&shapes)?, SAG)?;
    share.borrow().finish();
    let not_held = found.certificates.iter().filter(|c| !c.certified).count();
    let residual = found.certificates.iter().map(|c| c.residual).fold(0.0, f64::max);
    let margin = found.certificates.iter().map(|c| c.margin).fold(f64::INFINITY, f64::min);
    let pressing = found.contacts.iter().filter(|c| c.force.norm() > 0.0).count();
    let good = not_held == 0 && found.negative_modes == 0 && drift.is_some_and(|d| d <= MOST_DRIFT);
    let line = Object::default()
        .with("fibres", count)
        .with("contacts", found.contacts.len())
        .with("pressing", pressing)
        .with("seconds", rounded(wall))
        .with("cpu_seconds", cpu.map(rounded))
        .with("sweeps", found.sweeps)
        .with("optimality", found.residual)
        .with("residual", residual)
        .with("cone_gap", found.cone_gap)
        .with("cone_margin", found.cone_margin)
        .with("ways_to_fall_alone", found.alone_negative_modes)
        .with("ways_to_fall", found.negative_modes)
        .with("fibres_not_held", not_held)
        .with("stability_margin", rounded(margin))
        .with("drift", drift)
        .with("seconds_watching", rounded(watching))
        .with("naive_sag", sag);
    json::print(&line.line());
    Ok(if good { Outcome::Good } else { Outcome::Doubtful })
}
