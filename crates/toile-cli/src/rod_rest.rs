//! Rods on colliders in `toile drape`.

use std::fmt::Write;

use toile::io::{Scene, atomic_write, write_stations};
use toile::rod::SettleSettings;
use toile::{RodRest, rest_rods};

use crate::args::{DrapeArgs, Global};
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::rod::STATIONS;
use crate::rod_simulate::contact_line;
use crate::{Failure, Outcome, show};

/// Drift that is still rest.
const MOST_DRIFT: f64 = 1e-4;

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
    let certificate = certificate(&rest);
    atomic_write(args.out.join("certificate.json"), |w| writeln!(w, "{}", certificate.pretty()))?;
    names.extend(["contacts.jsonl".into(), "certificate.json".into()]);
    let (certified, reason) = verdict(&rest);
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
        let said = if certified { "certified" } else { "not certified" };
        let _ = writeln!(text, "  {said}: {reason}");
        let _ = write!(text, "written to {}: {}", args.out.display(), names.join(", "));
        json::print(&text);
    } else if !certified {
        json::tell(&format!("not certified: {reason}"));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

fn verdict(rest: &RodRest) -> (bool, String) {
    let reason = &rest.settled.reason;
    match rest.drift {
        Some(drift) if drift > MOST_DRIFT => (
            false,
            format!("{reason}; but in the simulated time it moves by {drift:.1e} of its size"),
        ),
        Some(drift) => (
            rest.settled.certified,
            format!("{reason}; in the simulated time it moves by {drift:.1e} of its size"),
        ),
        None => (rest.settled.certified, reason.clone()),
    }
}

fn certificate(rest: &RodRest) -> Object {
    let settled = &rest.settled;
    let all = || settled.certificates.iter();
    let most = |f: fn(&toile::rod::RodCertificate) -> f64| all().map(f).fold(0.0, f64::max);
    let stability = all().map(|c| c.stability).try_fold(f64::INFINITY, |m, s| Some(m.min(s?)));
    // Held by sticking contacts alone: there is no figure, only a sign.
    let stability = stability.filter(|s| *s > 0.0 || settled.negative_modes != Some(0));
    let (certified, reason) = verdict(rest);
    let none: Option<f64> = None;
    Object::default()
        .with("verdict", if certified { "certified" } else { "not certified" })
        .with("reason", reason)
        .with("residual", most(|c| c.residual))
        .with("residual_n", most(|c| c.residual_n))
        .with("cone_gap", settled.cone_gap)
        .with("cone_margin", settled.cone_margin)
        .with("penetration", settled.penetration)
        .with("stability", stability)
        .with("drift", rest.drift)
        .with("target_error_max", none)
        .with("target_error_rms", none)
        .with("size", most(|c| c.size))
        .with("negative_modes", settled.negative_modes)
        .with("contacts", settled.contacts.len())
        .with("steps", settled.steps)
        .with("newton_steps", settled.newton)
        .with("rods", rest.loaded.len())
}
