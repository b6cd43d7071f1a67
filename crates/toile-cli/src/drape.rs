//! `toile drape`.

use std::fs;
use std::path::Path;

use toile::io::{Scene, load_scene};
use toile::{Drape, Start, scene_settings};

use crate::args::{DrapeArgs, Global, SolverArgs};
use crate::progress::{Progress, catch_interrupts};
use crate::{Failure, Outcome, files, json, rod, show, summary};

pub(crate) fn run(args: &DrapeArgs, global: &Global) -> Result<Outcome, Failure> {
    let scene = load_scene(&args.scene)?;
    if rod::has_rods(&scene) {
        return rod::drape(&scene, args, global);
    }
    let start = if args.push_out { Start::PushOut } else { Start::AsGiven };
    let contact = Contact { start, drift: args.drift.unwrap_or(0.0) };
    let written = drape_to(&scene, &args.out, &args.solver, contact, global)?;
    Ok(written.outcome)
}

/// What concerns contact.
#[derive(Clone, Copy, Default)]
pub(crate) struct Contact {
    start: Start,
    drift: f64,
}

/// A result on disk.
pub(crate) struct Written {
    pub(crate) outcome: Outcome,
}

/// Drapes a scene, writes everything into `out` and says so.
pub(crate) fn drape_to(
    scene: &Scene,
    out: &Path,
    solver: &SolverArgs,
    contact: Contact,
    global: &Global,
) -> Result<Written, Failure> {
    catch_interrupts();
    // Minutes of work must not end in a folder that cannot be written.
    make_folder(out)?;
    let mut settings = scene_settings(scene);
    settings.tolerance = solver.tolerance.unwrap_or(settings.tolerance);
    settings.max_steps = solver.max_steps.map_or(settings.max_steps, |n| n as usize);
    let mut progress = Progress::new(global.quiet || global.json);
    let touches = !scene.colliders.is_empty() || scene.self_contact.is_some();
    let drape = if touches {
        let Contact { start, drift } = contact;
        toile::drape_on(scene, &settings, start, drift, |step| progress.step(step))
    } else {
        toile::drape(scene, &settings, |step| progress.step(step))
    };
    progress.finish();
    let drape: Drape = drape?;
    let mut names = files::write_all(out, &drape)?;
    show::of_drape(scene, &drape).about("drape", scene).write(out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&drape.certificate().pretty());
    } else if !global.quiet {
        json::print(&summary::text(&drape, &settings, out, &names));
    } else if !drape.result.certificate.certified {
        json::tell(&format!("not certified: {}", drape.result.certificate.reason));
    }
    let certified = drape.result.certificate.certified;
    Ok(Written { outcome: if certified { Outcome::Good } else { Outcome::Doubtful } })
}

/// Makes the folder and tries to write there.
pub(crate) fn make_folder(out: &Path) -> Result<(), Failure> {
    if out.exists() && !out.is_dir() {
        let shown = out.display();
        return Err(Failure(format!("{shown} is a file, not a folder; choose another --out")));
    }
    fs::create_dir_all(out).map_err(|e| {
        let shown = out.display();
        Failure(format!("cannot make the folder {shown}: {e}; choose another --out"))
    })?;
    let trial = out.join(format!(".toile-{}.tmp", std::process::id()));
    let tried = fs::write(&trial, b"").and_then(|()| fs::remove_file(&trial));
    tried.map_err(|e| {
        let shown = out.display();
        Failure(format!("cannot write into {shown}: {e}; choose a folder you may write to"))
    })
}
