//! `toile drape`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use toile::io::{Scene, load_scene};
use toile::report::record::Progress as State;
use toile::solve::Step;
use toile::{Drape, scene_settings};

use crate::args::{DrapeArgs, Global};
use crate::progress::{Progress, catch_interrupts};
use crate::show::{Account, FolderStore, Record};
use crate::view::{Live, Teller};
use crate::{Failure, Outcome, check, files, json, rod, show, summary};

pub(crate) fn run(args: &DrapeArgs, global: &Global) -> Result<Outcome, Failure> {
    let scene = load_scene(&args.scene)?;
    if rod::has_rods(&scene) {
        let outcome = if scene.shells.is_empty() {
            rod::drape(&scene, args, global)?
        } else {
            crate::mixed_drape::drape(&scene, args, global)?
        };
        // Fibres are found at one go: there is nothing to watch before the end.
        if args.live.view {
            catch_interrupts();
            Live::start(&args.out, args.live, global)?.stay(global);
        }
        return Ok(outcome);
    }
    catch_interrupts();
    // Minutes of work must not end in a folder that cannot be written.
    make_folder(&args.out)?;
    let live = Live::start(&args.out, args.live, global)?;
    let outcome = drape_to(&scene, args, live.teller(), global)?;
    live.stay(global);
    Ok(outcome)
}

/// Drapes a scene, writes everything and says so.
fn drape_to(
    scene: &Scene,
    args: &DrapeArgs,
    teller: Option<Teller>,
    global: &Global,
) -> Result<Outcome, Failure> {
    let clock = Instant::now();
    let (out, solver) = (&args.out, &args.solver);
    let mut settings = scene_settings(scene);
    settings.tolerance = solver.tolerance.unwrap_or(settings.tolerance);
    settings.max_steps = solver.max_steps.map_or(settings.max_steps, |n| n as usize);
    let mut progress = Progress::new(global.quiet || global.json);
    let mut watched = teller.map(|t| Watched::open(scene, out, t)).transpose()?;
    let observe = |step: &Step| {
        if let Some(watched) = &mut watched {
            watched.see(step);
        }
        progress.step(step) && args.in_time(&clock, f64::INFINITY)
    };
    let touches = !scene.colliders.is_empty() || scene.self_contact.is_some();
    let start = args.start();
    if touches {
        // Before the minutes it may take.
        crate::simulate::warn_of_beginning(&toile::beginning(scene, start)?);
    }
    let drape = if touches {
        toile::drape_on(scene, &settings, start, args.drift.unwrap_or(0.0), observe)
    } else {
        toile::drape(scene, &settings, observe)
    };
    progress.finish();
    let drape: Drape = drape?;
    check::warn_of_size(&drape.shells);
    check::warn_of_gaps(scene, &drape.shells);
    let mut names = files::write_all(out, &drape)?;
    let account = show::of_drape(scene, &drape).about("drape", scene);
    match watched {
        None => account.write(out, &names)?,
        Some(mut watched) => {
            account.write_report(out, &names)?;
            watched.record.stage(&account.stage)?;
            account.finish(&mut watched.record)?;
        }
    }
    names.push(show::REPORT.into());
    let certified = drape.result.certificate.certified;
    if global.json {
        json::print(&drape.certificate().pretty());
    } else if !global.quiet {
        json::print(&summary::text(&drape, &settings, out, &names));
    } else if !certified {
        json::tell(&format!("not certified: {}", drape.result.certificate.reason));
    }
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

/// The record of a drape that is watched: where it starts, and how the solver goes.
struct Watched {
    record: Record,
    history: Vec<Step>,
    next: Instant,
}

impl Watched {
    fn open(scene: &Scene, out: &Path, teller: Teller) -> Result<Self, Failure> {
        let store = FolderStore::open(out, false, Some(teller))?;
        let title = Account::default().about("drape", scene).title;
        let mut record = Record::new(store, &title, &show::command(), &show::version());
        record.stage(&show::start_stage(scene)?)?;
        record.flush(State::Running, "beginning")?;
        Ok(Self { record, history: Vec::new(), next: Instant::now() })
    }

    fn see(&mut self, step: &Step) {
        self.history.push(*step);
        if Instant::now() < self.next {
            return;
        }
        self.record.plots(&show::newton_plots(&self.history));
        let doing = format!("Newton step {}, residual {:.1e}", step.step + 1, step.residual);
        // What cannot be shown must not end the search.
        let _ = self.record.flush(State::Running, &doing);
        self.next = Instant::now() + Duration::from_millis(200);
    }
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
