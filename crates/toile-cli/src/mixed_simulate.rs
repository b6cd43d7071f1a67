//! Cloth and fibres of one scene in `toile simulate`.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use toile::io::{
    Scene, atomic_write, read_checkpoint, read_fibre_checkpoint, write_checkpoint,
    write_fibre_checkpoint,
};
use toile::report::picture::{Paint, PictureMesh, Point, View, png_to, render};
use toile::report::record::{BodyMotion, Frame, INDEX};
use toile::report::stage::{Body, Layer, Stage, Touch};
use toile::rod::FibreContact;
use toile::sim::TogetherReport;
use toile::{MixedSimulation, RodSceneError, Start};

use crate::args::{Global, SimulateArgs};
use crate::drape::make_folder;
use crate::film::{self, Pace};
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::rod_simulate::{contact_line as fibre_line, write_fibres};
use crate::show::{self, Account, Course, FolderStore, MovingBodies, Record, Surfaces, touch_of};
use crate::simulate::{Log, contact_line, start_of, warn_of_beginning, write_frame};
use crate::view::{Live, Teller};
use crate::{Failure, Outcome};

/// Where the fibres go on; the cloth goes on from `checkpoint.txt`.
const FIBRES: &str = "fibres.txt";

/// Moves shells and rods of a scene together, writes everything and says so.
pub(crate) fn simulate(
    scene: &Scene,
    args: &SimulateArgs,
    global: &Global,
) -> Result<Outcome, Failure> {
    let time = scene.time.ok_or(RodSceneError::NoTime)?;
    catch_interrupts();
    let start = start_of(args, &args.out.join("checkpoint.txt"));
    let mut scene_in_motion = MixedSimulation::new(scene, start)?;
    make_folder(&args.out)?;
    for note in &scene_in_motion.notes {
        json::tell(&format!("note: {note}"));
    }
    if !args.resume {
        warn_of_beginning(&scene_in_motion.cloth.beginning);
    }
    let per_frame = time.frame.map_or(1, |f| (f / time.step).round() as usize).max(1);
    let steps = (time.duration / time.step - 1e-9).ceil().max(1.0) as usize;
    let first = if args.resume { resume(&args.out, &mut scene_in_motion)? } else { 0 };
    let mut log = Log::open(&args.out, first, per_frame)?;
    let live = Live::start(&args.out, args.live, global)?;
    let mut share = Share::new(global.quiet || global.json);
    let clock = Instant::now();
    let mut course = Course::default();
    let kept = first.div_ceil(per_frame);
    let mut film = MixedFilm::open(&args.out, scene, &scene_in_motion, kept, live.teller())?;
    if first == 0 {
        write_moment(scene, &args.out, 0, &scene_in_motion)?;
        film.add(&scene_in_motion, &[], &course)?;
    }
    let (mut done, mut totals, mut contacts) = (first, Totals::default(), Vec::new());
    for step in first + 1..=steps {
        let report = scene_in_motion.step(time.step)?;
        done = step;
        totals.add(&report);
        log_step(&mut log, &mut course, step, &scene_in_motion, &report)?;
        contacts = report.fibres.contacts;
        share.tell(step as f64 / steps as f64, &format!("{} fibre contacts", contacts.len()));
        let stops = interrupted();
        if step % per_frame == 0 || step == steps || stops {
            let frame = step.div_ceil(per_frame);
            write_moment(scene, &args.out, frame, &scene_in_motion)?;
            film.add(&scene_in_motion, &contacts, &course)?;
            for contact in scene_in_motion.cloth.simulator.contact_forces() {
                let line = contact_line(frame, contact, &scene_in_motion.cloth).line();
                writeln!(log.contacts, "{line}")?;
            }
            for contact in &contacts {
                writeln!(log.contacts, "{}", fibre_line(scene, frame, contact).line())?;
            }
            log.flush()?;
            let checkpoint = scene_in_motion.cloth.simulator.checkpoint();
            write_fibre_checkpoint(
                args.out.join(FIBRES),
                step,
                &scene_in_motion.fibres.checkpoint(),
            )?;
            let pushed_out = start == Start::PushOut;
            write_checkpoint(args.out.join("checkpoint.txt"), step, pushed_out, &checkpoint)?;
        }
        if stops {
            break;
        }
    }
    share.finish();
    log.flush()?;
    let seconds = clock.elapsed().as_secs_f64();
    let (depth, through) = scene_in_motion.depth()?;
    let summary = totals.summary(seconds, &scene_in_motion, depth, through)?;
    atomic_write(args.out.join("summary.json"), |w| writeln!(w, "{}", summary.pretty()))?;
    picture(&args.out.join("last.png"), &scene_in_motion)?;
    let good = done == steps && totals.is_good() && !through;
    let reason = totals.words(&scene_in_motion, done, through);
    let mut account = account(scene, &scene_in_motion, &contacts, &course, (good, reason));
    account.timings = totals.timings(seconds);
    let names = [
        "frame_00000.obj",
        "fibres_00000.obj",
        "steps.jsonl",
        "contacts.jsonl",
        "summary.json",
        "last.png",
        "checkpoint.txt",
    ];
    let account = account.about("simulate", scene);
    account.write_report(&args.out, &names.map(String::from))?;
    film.finish(&account)?;
    if global.json {
        json::print(&summary.pretty());
    } else if !global.quiet {
        json::print(&format!(
            "{} {:.1} ms a step; frames, fibres, contacts.jsonl, steps.jsonl, last.png, report.html in {}",
            totals.words(&scene_in_motion, done, through),
            1e3 * seconds / totals.steps.max(1) as f64,
            args.out.display()
        ));
    }
    if done < steps {
        json::tell("stopped on request; --resume goes on from the last frame");
    }
    live.stay(global);
    Ok(if good { Outcome::Good } else { Outcome::Doubtful })
}

/// Takes up both checkpoints; the step they were written at.
fn resume(out: &Path, moving: &mut MixedSimulation) -> Result<usize, Failure> {
    let (cloth, fibres) = (out.join("checkpoint.txt"), out.join(FIBRES));
    if !cloth.exists() || !fibres.exists() {
        json::tell("no checkpoint.txt and fibres.txt to resume from: starting at the beginning");
        return Ok(0);
    }
    let (step, checkpoint) = read_checkpoint(&cloth)?;
    let (other, threads) = read_fibre_checkpoint(&fibres)?;
    let another = |what: String| {
        Failure(format!(
            "the checkpoint was written for another scene: {what}; start without --resume"
        ))
    };
    if step != other {
        return Err(another(format!("its cloth is at step {step}, its fibres at step {other}")));
    }
    moving.fibres.restore(&threads).map_err(|e| another(e.to_string()))?;
    if !moving.cloth.simulator.restore(&checkpoint)? {
        let (found, expected) = (checkpoint.now.high.len(), moving.cloth.simulator.model().len());
        return Err(another(format!("it has {found} unknowns, this one {expected}")));
    }
    Ok(step)
}

fn write_moment(
    scene: &Scene,
    out: &Path,
    frame: usize,
    moving: &MixedSimulation,
) -> Result<(), Failure> {
    write_frame(out, frame, &moving.cloth)?;
    write_fibres(scene, &out.join(format!("fibres_{frame:05}.obj")), &moving.fibres)
}

fn log_step(
    log: &mut Log,
    course: &mut Course,
    step: usize,
    moving: &MixedSimulation,
    report: &TogetherReport,
) -> Result<(), Failure> {
    let cloth = moving.cloth.simulator.energies();
    let fibres = moving.fibres.energies()?;
    let law_error = report.law_error.max(report.cloth.law_error);
    let contacts = report.fibres.contacts.len() + report.cloth.contacts;
    let time = moving.cloth.simulator.time();
    let line = Object::default()
        .with("step", step)
        .with("time", time)
        .with("kinetic_energy", cloth.kinetic + fibres[0])
        .with("potential_energy", cloth.potential + fibres[1] + fibres[2])
        .with("contacts", contacts)
        .with("fibre_contacts", report.fibres.contacts.len())
        .with("trials", report.trials)
        .with("sweeps", report.fibres.sweeps)
        .with("parts", report.parts)
        .with("converged", report.converged && report.cloth.converged)
        .with("law_error", law_error);
    writeln!(log.steps, "{}", line.line())?;
    let energies = [
        ("kinetic, cloth", cloth.kinetic),
        ("potential, cloth", cloth.potential),
        ("kinetic, fibres", fibres[0]),
        ("potential, fibres", fibres[1] + fibres[2]),
    ];
    course.add(time, &energies, contacts, law_error);
    Ok(())
}

/// Sums over all steps.
#[derive(Default)]
struct Totals {
    steps: usize,
    trials: usize,
    parts: usize,
    failed: usize,
    held: usize,
    most: usize,
    law_error: f64,
    seconds: [f64; 4],
}

impl Totals {
    fn add(&mut self, report: &TogetherReport) {
        self.steps += 1;
        self.trials += report.trials;
        self.parts += report.parts;
        self.failed += usize::from(!report.converged || report.passing > 0);
        self.held += report.cloth.stopped;
        self.most = self.most.max(report.fibres.contacts.len());
        self.law_error = self.law_error.max(report.law_error).max(report.cloth.law_error);
        for (sum, s) in self.seconds.iter_mut().zip(report.seconds) {
            *sum += s;
        }
    }

    fn is_good(&self) -> bool {
        self.failed == 0 && self.held == 0
    }

    fn words(&self, moving: &MixedSimulation, done: usize, through: bool) -> String {
        let mut text = format!(
            "{} shells and {} fibres, {done} steps to {:.4} s; at most {} contacts of fibres; the law of friction holds to {:.1e} at worst",
            moving.cloth.shells.len(),
            moving.fibres.fibres.len(),
            moving.cloth.simulator.time(),
            self.most,
            self.law_error
        );
        if self.failed > 0 {
            text.push_str(&format!("; {} steps are short of it: take shorter steps", self.failed));
        }
        if self.held > 0 {
            text.push_str(&format!("; {} times the cloth was held before a collision", self.held));
        }
        if through {
            text.push_str("; a fibre went through a shell: take shorter steps");
        }
        text.push('.');
        text
    }

    fn timings(&self, seconds: f64) -> Vec<(String, f64)> {
        let [cloth, places, yielding, friction] = self.seconds;
        show::parts(
            seconds,
            &[
                ("cloth", cloth),
                ("where fibres meet it", places),
                ("how it yields there", yielding),
                ("fibres and friction", friction),
            ],
        )
    }

    fn summary(
        &self,
        seconds: f64,
        moving: &MixedSimulation,
        depth: f64,
        through: bool,
    ) -> Result<Object, Failure> {
        let steps = self.steps.max(1) as f64;
        let [cloth, places, yielding, friction] = self.seconds.map(|s| 1e3 * s / steps);
        let energies = moving.cloth.simulator.energies();
        let fibres = moving.fibres.energies()?;
        Ok(Object::default()
            .with("time", moving.cloth.simulator.time())
            .with("steps", self.steps)
            .with("fibres", moving.fibres.fibres.len())
            .with("wall_s", seconds)
            .with("ms_per_step", 1e3 * seconds / steps)
            .with("cloth_ms", cloth)
            .with("detection_ms", places)
            .with("yielding_ms", yielding)
            .with("friction_ms", friction)
            .with("trials", self.trials)
            .with("parts", self.parts)
            .with("fibre_contacts_most", self.most)
            .with("steps_not_converged", self.failed)
            .with("steps_stopped_by_collision", self.held)
            .with("worst_law_error", self.law_error)
            .with("penetration", depth)
            .with("passed_through", through)
            .with("speed_at_end", moving.fibres.speed())
            .with("kinetic_energy", energies.kinetic + fibres[0])
            .with("potential_energy", energies.potential + fibres[1] + fibres[2]))
    }
}

/// All there is to see of the fibres among the bodies, after the colliders.
pub(crate) fn bodies(scene: &Scene, moving: &MixedSimulation, layers: &[Layer]) -> Vec<Body> {
    let time = moving.cloth.simulator.time();
    let mut bodies = show::bodies(scene, &moving.cloth.colliders, time, layers);
    bodies.push(show::tubes(&moving.fibres));
    bodies
}

fn touches(moving: &MixedSimulation, contacts: &[FibreContact]) -> Vec<Touch> {
    let mut all = film::touches(&moving.cloth);
    all.extend(contacts.iter().map(touch_of));
    all
}

fn account(
    scene: &Scene,
    moving: &MixedSimulation,
    contacts: &[FibreContact],
    course: &Course,
    verdict: (bool, String),
) -> Account {
    let surfaces = Surfaces::new(&moving.cloth.shells);
    let (now, fields) = film::now(&moving.cloth);
    let start = film::start(&moving.cloth);
    let layers =
        vec![surfaces.layer("cloth", &now, fields), surfaces.layer("start", &start, Vec::new())];
    let touches = touches(moving, contacts);
    let (time, colliders) = (moving.cloth.simulator.time(), &moving.cloth.colliders);
    let mut account = show::of_motion(scene, colliders, time, layers, touches, course, verdict);
    account.stage.bodies = bodies(scene, moving, &account.stage.layers);
    account.asked = show::of_scene(scene, &moving.cloth.shells);
    account.notes = moving.cloth.shells.iter().flat_map(|s| s.notes.clone()).collect();
    account.notes.extend(moving.notes.clone());
    account
}

pub(crate) fn picture(path: &Path, moving: &MixedSimulation) -> Result<(), Failure> {
    let points: Vec<Vec<Point>> = (0..moving.cloth.shells.len())
        .map(|i| moving.cloth.positions(i).iter().map(|p| (*p).into()).collect())
        .collect();
    let tubes = show::tubes(&moving.fibres);
    let shells = moving.cloth.shells.iter().zip(&points).map(|(loaded, points)| PictureMesh {
        positions: points,
        faces: loaded.shell.topology.faces(),
        paint: Paint::Cloth,
    });
    let wood = Paint::Plain([0.55, 0.4, 0.25]);
    let fibres = PictureMesh { positions: &tubes.positions, faces: &tubes.faces, paint: wood };
    let picture = render(&shells.chain([fibres]).collect::<Vec<_>>(), &View::default());
    Ok(atomic_write(path, |w| png_to(w, &picture))?)
}

/// The frames for the viewer: the cloth is the layer, fibres are a body that changes.
struct MixedFilm {
    record: Record,
    colliders: MovingBodies,
    fibres: usize,
    pace: Pace,
}

impl MixedFilm {
    fn open(
        out: &Path,
        scene: &Scene,
        moving: &MixedSimulation,
        kept: usize,
        teller: Option<Teller>,
    ) -> Result<Self, Failure> {
        let pace = Pace::new(teller.is_some());
        let old = if kept > 0 { std::fs::read_to_string(out.join(INDEX)).ok() } else { None };
        let store = FolderStore::open(out, old.is_some(), teller)?;
        let title = Account::default().about("simulate", scene).title;
        let mut record = Record::new(store, &title, &show::command(), &show::version());
        let surfaces = Surfaces::new(&moving.cloth.shells);
        let start = film::start(&moving.cloth);
        let layers =
            Vec::from(["cloth", "start"].map(|name| surfaces.layer(name, &start, Vec::new())));
        let bodies = bodies(scene, moving, &layers);
        let fibres = bodies.len() - 1;
        record.stage(&Stage { layers, bodies, touches: Vec::new() })?;
        record.begin_frames("time, s", 0, false);
        if let Some(old) = old {
            // Without it the frames begin where the run goes on.
            record.continue_frames(&old, kept + 1);
        }
        Ok(Self { record, colliders: MovingBodies::new(scene), fibres, pace })
    }

    fn add(
        &mut self,
        moving: &MixedSimulation,
        contacts: &[FibreContact],
        course: &Course,
    ) -> Result<(), Failure> {
        let (positions, fields) = film::now(&moving.cloth);
        let positions: Vec<Point> = positions.iter().map(|p| (*p).into()).collect();
        let time = moving.cloth.simulator.time();
        let placed = self.colliders.at(&moving.cloth.colliders, time);
        let tubes = show::tubes(&moving.fibres);
        let mut bodies: Vec<_> = placed.iter().map(|p| p.motion()).collect();
        bodies.push((self.fibres, BodyMotion::Deforming(&tubes.positions)));
        let touches = touches(moving, contacts);
        let (positions, fields) = (&positions, &fields);
        let touches = &touches;
        let frame = Frame { time, positions, fields, touches, bodies: &bodies };
        self.pace.add(&mut self.record, course, &frame)
    }

    fn finish(mut self, account: &Account) -> Result<(), Failure> {
        account.finish(&mut self.record)
    }
}
