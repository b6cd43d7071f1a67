//! `toile bench targets`: random targets, and what becomes of them.

use std::time::Instant;

use toile::inverse::gallery::random_target;
use toile::inverse::{InverseError, InverseSettings, InverseStep, Inversion, invert};

use crate::args::{BenchArgs, Global};
use crate::json::{self, Object};
use crate::progress::{catch_interrupts, interrupted};
use crate::{Failure, Outcome};

/// What becomes of a target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Certified within 1 % of its size.
    Held,
    /// Certified farther away, with what keeps it from being held.
    Near,
    /// Not certified, with what keeps it from being held.
    Refused,
    /// Anything else.
    Unexplained,
}

fn fate(found: &Result<Inversion, InverseError>) -> Fate {
    let Ok(found) = found else { return Fate::Refused };
    let (c, d) = (&found.certificate, &found.diagnosis);
    let near = c.target_error_max.unwrap_or(f64::INFINITY) <= 0.01 * c.size;
    // A reason is one the user can act on: the friction it takes, the part of the weight that would be carried, how much stiffer it would have to be,
    // the face that is too flat, or what had to be moved before anything could be sought.
    let soft = d.weight_refused.is_some_and(|r| r < 1.0)
        || d.weight_fraction > 0.0 && d.weight_fraction < 1.0
        || d.bending_factor.is_some_and(|f| f > 1.0);
    let moves = [found.touching.longest_move, found.touching.evening.longest_move];
    let moved = moves.iter().any(|m| *m > 0.5 * c.target_error_max.unwrap_or(f64::INFINITY));
    let reason = d.least_friction.is_some() || d.sliver.is_some() || soft || c.certified && moved;
    match (c.certified, near, reason) {
        (true, true, _) => Fate::Held,
        (true, false, true) => Fate::Near,
        (false, _, true) => Fate::Refused,
        _ => Fate::Unexplained,
    }
}

/// One row per target, then the counts.
pub(crate) fn run(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    let fates = [Fate::Held, Fate::Near, Fate::Refused, Fate::Unexplained];
    let names = ["held", "near", "refused", "unexplained"];
    let mut counts = [0usize; 4];
    for number in args.first..args.first.saturating_add(args.count) {
        if interrupted() {
            break;
        }
        let target = random_target(args.seed, number)?;
        let settings =
            InverseSettings { drift_time: 0.0, naive_sag: false, ..InverseSettings::default() };
        let clock = Instant::now();
        let gone = || clock.elapsed().as_secs_f64() / (60.0 * args.minutes);
        let in_time = |step: &InverseStep| !interrupted() && step.in_time(gone());
        let found = invert(&target.garment, &settings, in_time);
        let seconds = clock.elapsed().as_secs_f64();
        let fate = fate(&found);
        let at = fates.iter().position(|f| *f == fate).unwrap_or(3);
        counts[at] += 1;
        let (error, reason) = match &found {
            Ok(f) => (f.certificate.target_error_max, f.certificate.reason.clone()),
            Err(error) => (None, error.to_string()),
        };
        if global.json {
            let row = Object::default()
                .with("number", number)
                .with("target", target.words.as_str())
                .with("fate", names[at])
                .with("target_error", error)
                .with("seconds", seconds)
                .with("reason", reason.as_str());
            json::print(&row.line());
        } else {
            let away = error.map_or("–".into(), |e| format!("{:.1e} mm", 1e3 * e));
            json::print(&format!(
                "{number:>4}  {:<11} {seconds:>7.1} s  {away:>10}  {}",
                names[at], target.words
            ));
            if fate != Fate::Held {
                json::print(&format!("      {reason}"));
            }
        }
    }
    let words: Vec<String> =
        counts.iter().zip(names).map(|(count, name)| format!("{count} {name}")).collect();
    if !global.json {
        json::print(&words.join(", "));
    }
    Ok(if counts[3] == 0 { Outcome::Good } else { Outcome::Doubtful })
}
