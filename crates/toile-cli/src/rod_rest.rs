//! Rods on colliders in `toile drape`.

use std::fmt::Write;

use toile::io::{Scene, atomic_write, write_stations};
use toile::rest_rods;
use toile::rod::SettleSettings;

use crate::args::{DrapeArgs, Global};
use crate::json;
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::rod::STATIONS;
use crate::rod_simulate::contact_line;
use crate::{Failure, Outcome, show, summary};

/// Lets the rods of a scene come to rest, writes everything and says so.
pub(crate) fn drape(scene: &Scene, args: &DrapeArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    let clock = std::time::Instant::now();
    let mut settings = SettleSettings::default();
    if let Some(steps) = args.solver.max_steps {
        settings.max_steps = steps as usize;
    }
    let share = std::cell::RefCell::new(Share::new(global.quiet || global.json));
    let watch = |step: usize, speed: f64| {
        let done = step as f64 / settings.max_steps as f64;
        share.borrow_mut().tell(done, &format!("falling, {speed:.1e} m/s"));
        !interrupted()
    };
    let rest = rest_rods(scene, &settings, args.drift.unwrap_or(0.0), &watch)?;
    share.borrow().finish();
    let stations = args.stations.unwrap_or(STATIONS) as usize;
    let mut names = Vec::new();
    for (i, (fibre, loaded)) in rest.assembly.fibres.iter().zip(&rest.loaded).enumerate() {
        let name = format!("rod_{i}.csv");
        let rows = fibre.rod.equal_stations(&fibre.state.q, stations);
        write_stations(args.out.join(&name), &rows, &loaded.axes)?;
        names.push(name);
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
    show::of_fibre_rest(scene, &rest, (certified, &reason), seconds)
        .about("drape", scene)
        .write(&args.out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&certificate.pretty());
    } else if !global.quiet {
        let mut text = String::new();
        let settled = &rest.settled;
        let _ = writeln!(
            text,
            "{} rod(s) fell for {} steps, then {} Newton steps",
            rest.loaded.len(),
            settled.steps,
            settled.newton
        );
        text += &summary::verdict(certified, &reason, &args.out, &names);
        json::print(&text);
    } else if !certified {
        json::tell(&format!("not certified: {reason}"));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}
