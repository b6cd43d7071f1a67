//! `toile simulate`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use toile::io::{
    Scene, atomic_write, began_pushed_out, contact_words, load_scene, read_checkpoint,
    write_checkpoint,
};
use toile::sim::dynamics::{ContactForce, ContactStatus, StepReport};
use toile::{Beginning, Simulation, Start};

use crate::args::{Global, SimulateArgs};
use crate::drape::make_folder;
use crate::files::{write_picture, write_shell};
use crate::film::{self, Film};
use crate::json::{self, Object};
use crate::progress::{catch_interrupts, interrupted};
use crate::show::{self, Course, Surfaces};
use crate::view::Live;
use crate::{Failure, Outcome, check};

pub(crate) fn run(args: &SimulateArgs, global: &Global) -> Result<Outcome, Failure> {
    let scene = load_scene(&args.scene)?;
    if crate::rod::has_rods(&scene) && !scene.shells.is_empty() {
        return crate::mixed_simulate::simulate(&scene, args, global);
    }
    if crate::rod::has_rods(&scene) {
        return crate::rod_simulate::simulate(&scene, args, global);
    }
    let Some(time) = scene.time else {
        let help = "add for example\n[time]\nstep = 0.01\nduration = 2.0";
        return Err(Failure(format!("the scene has no table [time]; {help}")));
    };
    catch_interrupts();
    make_folder(&args.out)?;
    let checkpoint_file = args.out.join("checkpoint.txt");
    let start = start_of(args, &checkpoint_file);
    let mut simulation = Simulation::new(&scene, start)?;
    if !args.resume {
        check::warn_of_size(&simulation.shells);
        check::warn_of_gaps(&scene, &simulation.shells);
        warn_of_beginning(&simulation.beginning);
    }
    let per_frame = time.frame.map_or(1, |f| (f / time.step).round() as usize).max(1);
    let steps = (time.duration / time.step - 1e-9).ceil().max(1.0) as usize;
    let mut done = 0;
    if args.resume {
        if checkpoint_file.exists() {
            let (step, checkpoint) = read_checkpoint(&checkpoint_file)?;
            if !simulation.simulator.restore(&checkpoint)? {
                return Err(Failure(format!(
                    "checkpoint.txt was written for another scene: it has {} unknowns, this one {}; \
                     start without --resume",
                    checkpoint.now.high.len(),
                    simulation.simulator.model().len()
                )));
            }
            // Its steps were as long as those that follow, or frames would not be where they are said to be.
            let (now, then) = (simulation.simulator.time(), step as f64 * time.step);
            if (now - then).abs() > 1e-6 * now.max(then) {
                return Err(Failure(format!(
                    "checkpoint.txt was written after {step} steps at {now:.6} s, with steps of {:.6} s; this scene has `step = {}`: \
                     give it that step, or start without --resume",
                    now / step.max(1) as f64,
                    time.step
                )));
            }
            done = step;
        } else {
            json::tell("no checkpoint.txt to resume from: starting at the beginning");
        }
    }
    let clock = Instant::now();
    let mut log = Log::open(&args.out, done, per_frame)?;
    let live = Live::start(&args.out, args.live, global)?;
    let kept = done.div_ceil(per_frame);
    let mut film = Film::open(&args.out, &scene, &simulation, kept, live.teller())?;
    let mut course = Course::default();
    if done == 0 {
        write_frame(&args.out, 0, &simulation)?;
        film.add(&simulation, &course)?;
    }
    let mut last = Instant::now();
    let mut totals = Totals::default();
    let mut stopped = false;
    while done < steps {
        let step = simulation.simulator.step_while(time.step, &mut || !interrupted())?;
        let Some(report) = step else {
            stopped = true;
            break;
        };
        done += 1;
        totals.add(&report);
        log.step(done, &simulation, &report)?;
        let energies = simulation.simulator.energies();
        course.add(
            simulation.simulator.time(),
            &[("kinetic", energies.kinetic), ("potential", energies.potential)],
            report.contacts,
            report.law_error,
        );
        if done % per_frame == 0 || done == steps {
            let frame = done.div_ceil(per_frame);
            write_frame(&args.out, frame, &simulation)?;
            film.add(&simulation, &course)?;
            log.frame(frame, &simulation)?;
            log.flush()?;
            let pushed_out = start == Start::PushOut;
            write_checkpoint(
                &checkpoint_file,
                done,
                pushed_out,
                &simulation.simulator.checkpoint(),
            )?;
        }
        if !(global.quiet || global.json) && last.elapsed().as_secs_f64() > 1.0 {
            last = Instant::now();
            json::tell(&format!(
                "{:8.4} s of {:.4}   {:5} contacts   {:3} Newton steps   {:.0} ms a step",
                simulation.simulator.time(),
                time.duration,
                report.contacts,
                report.iterations,
                1e3 * clock.elapsed().as_secs_f64() / totals.steps as f64
            ));
        }
        if interrupted() {
            stopped = true;
            break;
        }
    }
    log.flush()?;
    let places = (0..simulation.shells.len()).map(|i| simulation.positions(i));
    write_picture(&args.out.join("last.png"), &simulation.shells, places)?;
    let mut summary = totals.summary(clock.elapsed().as_secs_f64(), &simulation);
    if done > totals.steps {
        // Figures of this run say nothing of what was done before.
        summary = summary.with("resumed_after_step", done - totals.steps);
    }
    let summary_file = args.out.join("summary.json");
    if totals.steps > 0 || !summary_file.exists() {
        atomic_write(summary_file, |w| writeln!(w, "{}", summary.pretty()))?;
    }
    let seconds = clock.elapsed().as_secs_f64();
    let good = !stopped && totals.held == 0;
    let mut account =
        account(&scene, &simulation, &course, (good, totals.words(&simulation, stopped)));
    account.timings = totals.timings(seconds);
    let names = [
        "frame_00000.obj",
        "steps.jsonl",
        "contacts.jsonl",
        "summary.json",
        "last.png",
        "checkpoint.txt",
    ];
    let account = account.about("simulate", &scene);
    account.write_report(&args.out, &names.map(String::from))?;
    film.finish(&account)?;
    if global.json {
        json::print(&summary.pretty());
    } else if !global.quiet {
        let (seconds, time) = (clock.elapsed().as_secs_f64(), simulation.simulator.time());
        let what = match totals.steps {
            0 => format!("nothing left to do at {time:.4} s; a longer `duration` goes on"),
            n => format!(
                "{n} steps to {time:.4} s in {seconds:.1} s ({:.1} ms a step)",
                1e3 * seconds / n as f64
            ),
        };
        json::print(&format!(
            "{what}; frames, contacts.jsonl, steps.jsonl, last.png, report.html in {}",
            args.out.display()
        ));
    }
    if totals.held > 0 && !global.quiet {
        json::tell(&format!(
            "{} times cloth was held before something it would have passed, no forces being found that keep it out: does it begin \
             inside something, or behind a mesh with `sides = \"one\"`? Else finer cloth or a shorter `step` helps",
            totals.held
        ));
    }
    if stopped {
        json::tell("stopped on request; --resume goes on from the last frame");
    }
    live.stay(global);
    Ok(if stopped || totals.held > 0 { Outcome::Doubtful } else { Outcome::Good })
}

/// How a scene starts: what a run goes on from began as it did before, whatever is asked for now.
pub(crate) fn start_of(args: &SimulateArgs, checkpoint: &Path) -> Start {
    match args.resume && checkpoint.exists() {
        true if began_pushed_out(checkpoint) => Start::PushOut,
        true => Start::AsGiven,
        false => args.start(),
    }
}

/// Says how cloth begins.
pub(crate) fn warn_of_beginning(start: &Beginning) {
    if start.pushed > 0 {
        let longest = 1e3 * start.longest_push;
        let vertices = start.pushed;
        json::tell(&format!(
            "pushed {vertices} vertices out of colliders, by up to {longest:.3} mm"
        ));
    }
    if start.parted > 0 {
        let longest = 1e3 * start.longest_parting;
        let vertices = start.parted;
        json::tell(&format!(
            "moved {vertices} vertices to part layers that pass through each other, by up to {longest:.3} mm"
        ));
    }
    const SHOWN: usize = 5;
    for found in start.penetrations.iter().take(SHOWN) {
        json::tell(&format!("warning: {found}"));
    }
    let deepest = match start.penetrations.len() {
        0 => return,
        count if count > SHOWN => {
            format!("{count} places start inside something, the deepest {SHOWN} are above")
        }
        1 => "1 place starts inside something".into(),
        count => format!("{count} places start inside something"),
    };
    json::tell(&if start.pushed + start.parted > 0 {
        format!("{deepest}; --push-out could not part them")
    } else {
        format!(
            "{deepest}; --push-out moves cloth out of colliders first, and layers apart with [self_contact]"
        )
    });
}

/// What there is to see at the end.
fn account(
    scene: &Scene,
    simulation: &Simulation,
    course: &Course,
    verdict: (bool, String),
) -> show::Account {
    let surfaces = Surfaces::new(&simulation.shells);
    let (now, fields) = film::now(simulation);
    let start = film::start(simulation);
    let layers =
        vec![surfaces.layer("cloth", &now, fields), surfaces.layer("start", &start, Vec::new())];
    let touches = film::touches(simulation);
    let (time, colliders) = (simulation.simulator.time(), &simulation.colliders);
    let mut account = show::of_motion(scene, colliders, time, layers, touches, course, verdict);
    account.asked = show::of_scene(scene, &simulation.shells);
    account.notes = simulation.shells.iter().flat_map(|s| s.notes.clone()).collect();
    account
}

/// Sums over all steps.
#[derive(Default)]
struct Totals {
    steps: usize,
    iterations: usize,
    factorisations: usize,
    substeps: usize,
    held: usize,
    unconverged: usize,
    law_error: f64,
    worst_law_error: f64,
    detection: f64,
    assembly: f64,
    factorisation: f64,
    friction: f64,
}

impl Totals {
    fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.iterations += report.iterations;
        self.factorisations += report.factorisations;
        self.substeps += report.substeps;
        self.held += report.stopped;
        self.unconverged += usize::from(!report.converged);
        self.law_error += report.mean_law_error;
        self.worst_law_error = self.worst_law_error.max(report.law_error);
        self.detection += report.timings.detection.as_secs_f64();
        self.assembly += report.timings.assembly.as_secs_f64();
        self.factorisation += report.timings.factorisation.as_secs_f64();
        self.friction += report.timings.friction.as_secs_f64();
    }

    /// How it went, for people.
    fn words(&self, simulation: &Simulation, stopped: bool) -> String {
        let mut text = format!("{} steps to {:.4} s", self.steps, simulation.simulator.time());
        text.push_str(&format!(
            "; the law of friction holds to {:.1e} at worst",
            self.worst_law_error
        ));
        if self.unconverged > 0 {
            text.push_str(&format!(
                "; {} steps are short of the tolerance of elastic forces",
                self.unconverged
            ));
        }
        if self.held > 0 {
            text.push_str(&format!("; {} times the cloth was held before a collision", self.held));
        }
        text.push_str(if stopped { "; stopped on request." } else { "." });
        text
    }

    fn timings(&self, seconds: f64) -> Vec<(String, f64)> {
        show::parts(
            seconds,
            &[
                ("detection", self.detection),
                ("assembly", self.assembly),
                ("factorisation", self.factorisation),
                ("friction", self.friction),
            ],
        )
    }

    fn summary(&self, seconds: f64, simulation: &Simulation) -> Object {
        let steps = self.steps.max(1) as f64;
        let energies = simulation.simulator.energies();
        Object::default()
            .with("time", simulation.simulator.time())
            .with("steps", self.steps)
            .with("wall_s", seconds)
            .with("ms_per_step", 1e3 * seconds / steps)
            .with("detection_ms", 1e3 * self.detection / steps)
            .with("assembly_ms", 1e3 * self.assembly / steps)
            .with("factorisation_ms", 1e3 * self.factorisation / steps)
            .with("friction_ms", 1e3 * self.friction / steps)
            .with("newton_steps", self.iterations)
            .with("factorisations", self.factorisations)
            .with("parts", self.substeps)
            .with("steps_not_converged", self.unconverged)
            .with("steps_stopped_by_collision", self.held)
            .with("mean_law_error", self.law_error / steps)
            .with("worst_law_error", self.worst_law_error)
            .with("kinetic_energy", energies.kinetic)
            .with("potential_energy", energies.potential)
    }
}

/// Lines per step and per contact.
pub(crate) struct Log {
    pub(crate) steps: fs::File,
    pub(crate) contacts: fs::File,
}

impl Log {
    /// Opens the logs; what they hold beyond the step resumed from is cut.
    pub(crate) fn open(out: &Path, done: usize, per_frame: usize) -> Result<Self, Failure> {
        let open = |name: &str, keep: usize, key: &str| -> Result<fs::File, Failure> {
            let path = out.join(name);
            if done == 0 {
                return Ok(fs::File::create(&path)?);
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let number = |line: &str| -> Option<usize> {
                let rest = line.split_once(&format!("\"{key}\":"))?.1;
                rest.trim_start().split([',', '}']).next()?.trim().parse().ok()
            };
            let kept: String = text
                .lines()
                .filter(|l| number(l).is_some_and(|n| n <= keep))
                .flat_map(|l| [l, "\n"])
                .collect();
            atomic_write(&path, |w| w.write_all(kept.as_bytes()))?;
            Ok(fs::OpenOptions::new().append(true).open(&path)?)
        };
        let frames = done.div_ceil(per_frame);
        Ok(Self {
            steps: open("steps.jsonl", done, "step")?,
            contacts: open("contacts.jsonl", frames, "frame")?,
        })
    }

    fn step(
        &mut self,
        step: usize,
        simulation: &Simulation,
        report: &StepReport,
    ) -> Result<(), Failure> {
        let energies = simulation.simulator.energies();
        let line = Object::default()
            .with("step", step)
            .with("time", simulation.simulator.time())
            .with("kinetic_energy", energies.kinetic)
            .with("potential_energy", energies.potential)
            .with("contacts", report.contacts)
            .with("newton_steps", report.iterations)
            .with("parts", report.substeps)
            .with("converged", report.converged)
            .with("law_error", report.law_error)
            .with("mean_law_error", report.mean_law_error);
        Ok(writeln!(self.steps, "{}", line.line())?)
    }

    fn frame(&mut self, frame: usize, simulation: &Simulation) -> Result<(), Failure> {
        for contact in simulation.simulator.contact_forces() {
            writeln!(self.contacts, "{}", contact_line(frame, contact, simulation).line())?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.steps.flush()?;
        Ok(self.contacts.flush()?)
    }
}

pub(crate) fn contact_line(
    frame: usize,
    contact: &ContactForce,
    simulation: &Simulation,
) -> Object {
    let (kind, ids) = contact_words(&contact.contact.key);
    let point = film::contact_point(contact, simulation);
    let list = |v: &[f64]| v.to_vec();
    Object::default()
        .with("frame", frame)
        .with("kind", kind)
        .with("ids", ids.iter().map(|i| f64::from(*i)).collect::<Vec<f64>>())
        .with("point", list(&point))
        .with("normal", list(contact.contact.normal.as_slice()))
        .with("force", list(contact.force.as_slice()))
        .with("status", if contact.status == ContactStatus::Stick { "stick" } else { "slip" })
}

pub(crate) fn write_frame(
    out: &Path,
    frame: usize,
    simulation: &Simulation,
) -> Result<(), Failure> {
    for (i, loaded) in simulation.shells.iter().enumerate() {
        let name = if simulation.shells.len() > 1 {
            format!("frame_{frame:05}_{i}.obj")
        } else {
            format!("frame_{frame:05}.obj")
        };
        let positions = simulation.file_positions(i);
        write_shell(&out.join(name), loaded, &positions, "toile: a moment of a simulation")?;
    }
    Ok(())
}
