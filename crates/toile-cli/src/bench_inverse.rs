//! `toile bench inverse`: garments like those of the published table, and their times.

use std::time::Instant;

use toile::inverse::gallery::{Piece, cotton, table, with};
use toile::inverse::reference::{ReferenceSettings, invert_by_reference};
use toile::inverse::{InverseSettings, InverseStep, Inversion, invert};

use crate::args::{BenchArgs, Global};
use crate::json::{self, Object};
use crate::progress::{catch_interrupts, interrupted};
use crate::{Failure, Outcome};

/// One row per garment; those with more than `--n` vertices are left out. The time is that of the inversion and its certificate; the simulated
/// second and the comparison with the naive rest shape come after, untimed.
pub(crate) fn run(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    if args.compare {
        return compare(args, global);
    }
    if !global.json {
        json::print(
            "garment           vertices contacts  published        ours     faster  residual  cone gap  \
             from target    drift  verdict",
        );
    }
    let mut all = true;
    for mut piece in wanted(args)? {
        if args.cotton {
            piece.garment = with(piece.garment, cotton(500.0, 5e-5), 0.15);
            piece.minutes = None;
        }
        let count = piece.garment.shells.iter().map(|s| s.positions.len()).sum::<usize>();
        if args.n.is_some_and(|n| count > n as usize) || interrupted() {
            continue;
        }
        let short = InverseSettings { drift_time: 0.0, naive_sag: false, ..Default::default() };
        let clock = Instant::now();
        let gone = || clock.elapsed().as_secs_f64() / (60.0 * args.minutes);
        let in_time = |step: &InverseStep| !interrupted() && step.in_time(gone());
        let timed = invert(&piece.garment, &short, in_time)?;
        let seconds = clock.elapsed().as_secs_f64();
        let long = InverseSettings { naive_sag: false, ..Default::default() };
        let found = if timed.certificate.certified && !timed.settled {
            let clock = Instant::now();
            let gone = || clock.elapsed().as_secs_f64() / (60.0 * args.minutes);
            invert(&piece.garment, &long, |s| !interrupted() && s.in_time(gone()))?
        } else {
            timed
        };
        let c = &found.certificate;
        all &= c.certified;
        let error = c.target_error_max.unwrap_or(0.0) / c.size;
        if global.json {
            let row = Object::default()
                .with("garment", piece.name)
                .with("vertices", count)
                .with("contacts", found.touching.contacts.len())
                .with("published_s", piece.minutes.map(|m| 60.0 * m))
                .with("seconds", seconds)
                .with("residual", c.residual)
                .with("cone_gap", c.cone_gap)
                .with("target_error", error)
                .with("drift", c.drift)
                .with("verdict", c.verdict())
                .with("reason", c.reason.as_str());
            json::print(&row.line());
        } else {
            json::print(&format!(
                "{:<17} {count:>8} {:>8} {:>11} {seconds:>9.2} s {:>10}  {:.1e}   {:.1e}      {error:.1e}  {}  {}",
                piece.name,
                found.touching.contacts.len(),
                piece.minutes.map_or("–".into(), |m| format!("{m:.0} min")),
                piece.minutes.map_or("–".into(), |m| format!("{:.0} ×", 60.0 * m / seconds)),
                c.residual,
                c.cone_gap.unwrap_or(0.0),
                c.drift.map_or("      –".into(), |d| format!("{d:.1e}")),
                c.verdict()
            ));
            if !c.certified || error > 0.01 {
                json::print(&format!("  {}", c.reason));
            }
        }
    }
    Ok(if all { Outcome::Good } else { Outcome::Doubtful })
}

/// The garments of the table that `--only` lets through.
fn wanted(args: &BenchArgs) -> Result<Vec<Piece>, Failure> {
    let mut pieces = table()?;
    if let Some(only) = &args.only {
        let names: Vec<&str> = pieces.iter().map(|p| p.name).collect();
        let unknown = format!("no garment has `{only}` in its name: {}", names.join(", "));
        pieces.retain(|p| p.name.to_lowercase().contains(&only.to_lowercase()));
        if pieces.is_empty() {
            return Err(Failure(unknown));
        }
    }
    Ok(pieces)
}

/// The three smallest garments by the published algorithm and by the fast one, in one run.
fn compare(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    if !global.json {
        json::print(
            "garment           vertices contacts   as published        ours     ratio  from target, both   forces outside, both",
        );
    }
    let limit = 60.0 * args.minutes;
    let mut pieces = wanted(args)?;
    let count = |p: &Piece| -> usize { p.garment.shells.iter().map(|s| s.positions.len()).sum() };
    pieces.sort_by_key(count);
    let settings = InverseSettings { drift_time: 0.0, naive_sag: false, ..Default::default() };
    let mut all = true;
    for piece in pieces.iter().take(3) {
        if interrupted() {
            break;
        }
        let clock = Instant::now();
        let ours = invert(&piece.garment, &settings, |_| !interrupted())?;
        let seconds = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let in_time = |_: &InverseStep| !interrupted() && clock.elapsed().as_secs_f64() < limit;
        let published = ReferenceSettings::default();
        let theirs = invert_by_reference(&piece.garment, &settings, &published, in_time)?;
        let longer = clock.elapsed().as_secs_f64();
        all &= ours.certificate.certified;
        let error =
            |f: &Inversion| f.certificate.target_error_max.unwrap_or(0.0) / f.certificate.size;
        let gap = |f: &Inversion| f.certificate.cone_gap.unwrap_or(0.0);
        let unfinished = theirs.interrupted;
        if global.json {
            let row = Object::default()
                .with("garment", piece.name)
                .with("vertices", count(piece))
                .with("contacts", ours.touching.contacts.len())
                .with("reference_s", longer)
                .with("reference_finished", !unfinished)
                .with("seconds", seconds)
                .with("ratio", longer / seconds)
                .with("reference_target_error", error(&theirs))
                .with("target_error", error(&ours))
                .with("reference_cone_gap", gap(&theirs))
                .with("cone_gap", gap(&ours))
                .with("reference_verdict", theirs.certificate.verdict())
                .with("verdict", ours.certificate.verdict());
            json::print(&row.line());
        } else {
            json::print(&format!(
                "{:<17} {:>8} {:>8} {}{longer:>11.1} s {seconds:>9.2} s {:>7.0} ×   {:.1e}  {:.1e}     {:.1e}  {:.1e}",
                piece.name,
                count(piece),
                ours.touching.contacts.len(),
                if unfinished { ">" } else { " " },
                longer / seconds,
                error(&theirs),
                error(&ours),
                gap(&theirs),
                gap(&ours)
            ));
        }
    }
    Ok(if all { Outcome::Good } else { Outcome::Doubtful })
}
