//! Rods on colliders in `toile drape`.

use std::fmt::Write;

use toile::io::{Scene, atomic_write, write_stations, write_strands};
use toile::rod::SettleSettings;
use toile::{FibreProgress, has_drawn, rest_rods};

use crate::args::{DrapeArgs, Global};
use crate::drape::make_folder;
use crate::json;
use crate::progress::catch_interrupts;
use crate::rod::{FibreWatch, STATIONS, stopped};
use crate::rod_invert::MOST_TABLES;
use crate::rod_simulate::contact_line;
use crate::{Failure, Outcome, show, summary};

/// Minutes after which a fall ends when none are asked for.
const MINUTES: f64 = 10.0;

/// Lets the rods of a scene come to rest, writes everything and says so.
pub(crate) fn drape(scene: &Scene, args: &DrapeArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    make_folder(&args.out)?;
    let clock = std::time::Instant::now();
    let mut settings = SettleSettings::default();
    if let Some(steps) = args.solver.max_steps {
        settings.max_steps = steps as usize;
    }
    let watch = FibreWatch::of_fall(global, settings.max_steps);
    let late = std::cell::Cell::new(false);
    let tell = |now: FibreProgress| {
        // Fits cannot be judged by halves; what falls can, and is written as it is.
        if !matches!(now, FibreProgress::Fitting { .. }) {
            late.set(late.get() || !args.in_time(&clock, MINUTES));
        }
        watch.tell(&now) && !late.get()
    };
    let drift = args.drift.unwrap_or(0.0);
    let mut rest = match rest_rods(scene, args.start(), &settings, drift, &tell) {
        Err(error) => return stopped(error),
        Ok(rest) => rest,
    };
    watch.finish();
    if late.get() {
        let minutes = args.minutes.unwrap_or(MINUTES);
        rest.notes.push(format!("stopped after {minutes} minute(s): --minutes gives it more"));
    }
    let stations = args.stations.unwrap_or(STATIONS) as usize;
    let mut names = Vec::new();
    for i in 0..rest.names.len().min(MOST_TABLES) {
        let name = format!("rod_{i}.csv");
        let rows = rest.assembly.stations(i, stations);
        write_stations(args.out.join(&name), &rows, &rest.axes)?;
        names.push(name);
    }
    if has_drawn(scene) {
        let line = |i: usize| -> Vec<[f64; 3]> {
            let count = 4 * rest.assembly.fibres[i].rod.lengths().len() + 1;
            let stations = rest.assembly.stations(i, count);
            stations.iter().map(|s| rest.axes.to_file(s.position.into())).collect()
        };
        let lines: Vec<Vec<[f64; 3]>> = (0..rest.names.len()).map(line).collect();
        write_strands(args.out.join("equilibrium.obj"), &lines)?;
        names.push("equilibrium.obj".into());
    }
    for note in &rest.notes {
        json::tell(&format!("note: {note}"));
    }
    atomic_write(args.out.join("contacts.jsonl"), |w| {
        for contact in &rest.settled.contacts {
            writeln!(w, "{}", contact_line(scene, 0, contact).line())?;
        }
        Ok(())
    })?;
    let certificate = rest.certificate();
    atomic_write(args.out.join("certificate.json"), |w| writeln!(w, "{}", certificate.pretty()))?;
    names.extend(["contacts.jsonl".into(), "certificate.json".into()]);
    let (certified, reason) = rest.verdict();
    let seconds = clock.elapsed().as_secs_f64();
    let mut account =
        show::of_fibre_rest(scene, &rest, (certified, &reason), seconds).about("drape", scene);
    account.notes.clone_from(&rest.notes);
    account.write(&args.out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&certificate.pretty());
    } else if !global.quiet {
        let mut text = String::new();
        let settled = &rest.settled;
        let _ = writeln!(
            text,
            "{} rod(s) fell for {} steps, then {} Newton steps{}",
            rest.names.len(),
            settled.steps,
            settled.newton,
            match settled.escapes {
                0 => String::new(),
                n => format!("; {n} time(s) from a balance that would not have lasted"),
            }
        );
        text += &summary::verdict(certified, &reason, &args.out, &names);
        json::print(&text);
    } else if !certified {
        json::tell(&format!("not certified: {reason}"));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}
