//! Fibres in `toile simulate`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use toile::io::{
    Scene, atomic_write, read_fibre_checkpoint, write_fibre_checkpoint, write_strands,
};
use toile::report::record::{Frame, INDEX};
use toile::report::stage::{Stage, Touch};
use toile::rod::{Assembly, AssemblyReport, FibreContact, FibreContactKey, RodError, SurfacePart};
use toile::rod_assembly;

use crate::args::{Global, SimulateArgs};
use crate::drape::make_folder;
use crate::film::Pace;
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts, interrupted};
use crate::rod::{FibreWatch, stopped};
use crate::show::{self, Account, Course, FolderStore, MovingBodies, Record, Strands, touch_of};
use crate::view::{Live, Teller};
use crate::{Failure, Outcome};

/// Moves the fibres of a scene, writes everything and says so.
pub(crate) fn simulate(
    scene: &Scene,
    args: &SimulateArgs,
    global: &Global,
) -> Result<Outcome, Failure> {
    catch_interrupts();
    make_folder(&args.out)?;
    let watch = FibreWatch::new(global);
    let (mut assembly, time, notes) =
        match rod_assembly(scene, args.start(), &|now| watch.tell(&now)) {
            Err(error) => return stopped(error),
            Ok(made) => made,
        };
    watch.finish();
    for note in &notes {
        json::tell(&format!("note: {note}"));
    }
    let per_frame = time.frame.map_or(1, |f| (f / time.step).round() as usize).max(1);
    let steps = (time.duration / time.step - 1e-9).ceil().max(1.0) as usize;
    let kept = args.out.join("checkpoint.txt");
    let mut first = 0;
    if args.resume {
        if kept.exists() {
            let (step, checkpoint) = read_fibre_checkpoint(&kept)?;
            assembly.restore(&checkpoint).map_err(|e| {
                let what = "checkpoint.txt was written for another scene";
                Failure(format!("{what}: {e}; start without --resume"))
            })?;
            first = step;
        } else {
            json::tell("no checkpoint.txt to resume from: starting at the beginning");
        }
    }
    if first > 0 {
        keep_lines(&args.out.join("steps.jsonl"), first)?;
    }
    let open = |name: &str| {
        let path = args.out.join(name);
        let goes_on = first > 0;
        File::options()
            .create(true)
            .write(true)
            .append(goes_on)
            .truncate(!goes_on)
            .open(&path)
            .map(BufWriter::new)
            .map_err(|e| Failure(format!("cannot write {}: {e}", path.display())))
    };
    let (mut log, mut contacts) = (open("steps.jsonl")?, open("contacts.jsonl")?);
    let mut share = Share::new(global.quiet || global.json);
    let clock = Instant::now();
    let mut course = Course::default();
    let start = strands_of(&assembly);
    let live = Live::start(&args.out, args.live, global)?;
    let kept_frames = first.div_ceil(per_frame);
    let mut film = FibreFilm::open(&args.out, scene, &assembly, kept_frames, live.teller())?;
    if first == 0 {
        write_frame(scene, &args.out, 0, &assembly)?;
        film.add(&assembly, &[], &course)?;
    }
    let mut touches = Vec::new();
    let (mut done, mut worst, mut deepest, mut most, mut failed) = (first, 0.0f64, 0.0f64, 0, 0);
    for step in first + 1..=steps {
        let report = match assembly.step_while(&|| !interrupted()) {
            Err(RodError::Stopped) => {
                write_fibre_checkpoint(&kept, done, &assembly.checkpoint())?;
                break;
            }
            report => report?,
        };
        done = step;
        worst = worst.max(report.residual);
        deepest = deepest.max(report.penetration);
        most = most.max(report.contacts.len());
        failed += usize::from(!report.converged);
        let sums = assembly.energies()?;
        writeln!(log, "{}", step_line(step, &assembly, &report, sums).line())?;
        let named = [("kinetic", sums[0]), ("elastic", sums[1]), ("of the weight", sums[2])];
        course.add(assembly.time, &named, report.contacts.len(), report.residual);
        touches = report.contacts.iter().map(touch_of).collect();
        if step % per_frame == 0 || step == steps {
            let frame = step.div_ceil(per_frame);
            write_frame(scene, &args.out, frame, &assembly)?;
            film.add(&assembly, &report.contacts, &course)?;
            for contact in &report.contacts {
                writeln!(contacts, "{}", contact_line(scene, frame, contact).line())?;
            }
            log.flush()?;
            contacts.flush()?;
            write_fibre_checkpoint(&kept, step, &assembly.checkpoint())?;
        }
        share.tell(step as f64 / steps as f64, &format!("{} contacts", report.contacts.len()));
        if interrupted() {
            write_fibre_checkpoint(&kept, step, &assembly.checkpoint())?;
            break;
        }
    }
    share.finish();
    log.flush()?;
    contacts.flush()?;
    let seconds = clock.elapsed().as_secs_f64();
    let summary = Object::default()
        .with("fibres", assembly.fibres.len())
        .with("steps", done)
        .with("seconds_per_step", seconds / (done - first).max(1) as f64)
        .with("contacts_most", most)
        .with("residual_worst", worst)
        .with("steps_not_converged", failed)
        .with("penetration_worst", deepest)
        .with("speed_at_end", assembly.speed());
    atomic_write(args.out.join("summary.json"), |w| writeln!(w, "{}", summary.pretty()))?;
    let good = done == steps && failed == 0;
    let reason = format!(
        "{} fibres, {done} steps to {:.4} s; at most {most} contacts; the law of friction holds to {worst:.1e} at worst.",
        assembly.fibres.len(),
        assembly.time
    );
    let radius = radius(&assembly);
    let layers = vec![strands_of(&assembly).layer("fibres", radius), start.layer("start", radius)];
    let colliders = &assembly.colliders;
    let mut account =
        show::of_motion(scene, colliders, assembly.time, layers, touches, &course, (good, reason));
    account.asked = show::of_scene(scene, &[]);
    account.notes = notes;
    account.timings = vec![("all steps".into(), seconds)];
    let names = ["frame_00000.obj", "steps.jsonl", "contacts.jsonl", "summary.json"];
    let account = account.about("simulate", scene);
    account.write_report(&args.out, &names.map(String::from))?;
    film.finish(&account)?;
    if global.json {
        json::print(&summary.pretty());
    } else if !global.quiet {
        json::print(&format!(
            "{} fibres, {done} steps, {:.1} ms each; at most {most} contacts; friction law to {worst:.1e}{}\nwritten to {}",
            assembly.fibres.len(),
            1e3 * seconds / (done - first).max(1) as f64,
            if failed > 0 { format!(" ({failed} steps beyond 1e-6)") } else { String::new() },
            args.out.display()
        ));
    }
    live.stay(global);
    Ok(if done == steps && failed == 0 { Outcome::Good } else { Outcome::Doubtful })
}

/// Cuts a log off where a checkpoint was written.
fn keep_lines(path: &Path, count: usize) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    let kept: String = text.lines().take(count).flat_map(|line| [line, "\n"]).collect();
    Ok(atomic_write(path, |w| w.write_all(kept.as_bytes()))?)
}

fn write_frame(
    scene: &Scene,
    out: &Path,
    frame: usize,
    assembly: &Assembly,
) -> Result<(), Failure> {
    write_fibres(scene, &out.join(format!("frame_{frame:05}.obj")), assembly)
}

/// Writes all fibres as polylines.
pub(crate) fn write_fibres(scene: &Scene, path: &Path, assembly: &Assembly) -> Result<(), Failure> {
    let axes = scene.own_axes();
    let strands: Vec<Vec<[f64; 3]>> = (0..assembly.fibres.len())
        .map(|f| assembly.points(f).iter().map(|p| axes.to_file((*p).into())).collect())
        .collect();
    Ok(write_strands(path, &strands)?)
}

/// The frames for the viewer.
struct FibreFilm {
    record: Record,
    bodies: MovingBodies,
    pace: Pace,
}

impl FibreFilm {
    fn open(
        out: &Path,
        scene: &Scene,
        assembly: &Assembly,
        kept: usize,
        teller: Option<Teller>,
    ) -> Result<Self, Failure> {
        let pace = Pace::new(teller.is_some());
        let old = if kept > 0 { std::fs::read_to_string(out.join(INDEX)).ok() } else { None };
        let store = FolderStore::open(out, old.is_some(), teller)?;
        let title = Account::default().about("simulate", scene).title;
        let mut record = Record::new(store, &title, &show::command(), &show::version());
        let radius = radius(assembly);
        let layers =
            Vec::from(["fibres", "start"].map(|name| strands_of(assembly).layer(name, radius)));
        let bodies = show::bodies(scene, &assembly.colliders, 0.0, &layers);
        record.stage(&Stage { layers, bodies, touches: Vec::new() })?;
        record.begin_frames("time, s", 0, false);
        if let Some(old) = old {
            // Without it the frames begin where the run goes on.
            record.continue_frames(&old, kept + 1);
        }
        Ok(Self { record, bodies: MovingBodies::new(scene), pace })
    }

    fn add(
        &mut self,
        assembly: &Assembly,
        contacts: &[FibreContact],
        course: &Course,
    ) -> Result<(), Failure> {
        let layer = strands_of(assembly).layer("", 0.0);
        let placed = self.bodies.at(&assembly.colliders, assembly.time);
        let bodies: Vec<_> = placed.iter().map(|p| p.motion()).collect();
        let touches: Vec<Touch> = contacts.iter().map(touch_of).collect();
        let (positions, fields) = (&layer.positions, &layer.fields);
        let time = assembly.time;
        let touches = &touches;
        let frame = Frame { time, positions, fields, touches, bodies: &bodies };
        self.pace.add(&mut self.record, course, &frame)
    }

    fn finish(mut self, account: &Account) -> Result<(), Failure> {
        account.finish(&mut self.record)
    }
}

fn radius(assembly: &Assembly) -> f64 {
    assembly.fibres.iter().map(|f| f.radius).fold(0.0, f64::max)
}

fn strands_of(assembly: &Assembly) -> Strands {
    let mut strands = Strands::default();
    for f in 0..assembly.fibres.len() {
        strands.add(assembly.points(f));
    }
    strands
}

fn step_line(step: usize, assembly: &Assembly, report: &AssemblyReport, sum: [f64; 3]) -> Object {
    Object::default()
        .with("step", step)
        .with("time", assembly.time)
        .with("kinetic", sum[0])
        .with("elastic", sum[1])
        .with("gravity", sum[2])
        .with("contacts", report.contacts.len())
        .with("sweeps", report.sweeps)
        .with("residual", report.residual)
        .with("penetration", report.penetration)
}

pub(crate) fn contact_line(
    scene: &Scene,
    frame: usize,
    contact: &toile::rod::FibreContact,
) -> Object {
    let axes = scene.own_axes();
    let list = |v: [f64; 3]| serde_json::Value::from(v.to_vec());
    let turned = |v: toile::rod::Vec3| list(axes.direction_to_file(v.into()));
    let object = Object::default().with("frame", frame);
    let object = match contact.key {
        FibreContactKey::Collider { fibre, point, collider } => {
            object.with("fibre", fibre).with("along", point).with("collider", collider)
        }
        FibreContactKey::Fibres { first, second } => object
            .with("fibre", first.0)
            .with("along", first.1)
            .with("other", second.0)
            .with("other_along", second.1),
        FibreContactKey::Surface { fibre, part } => {
            let (kind, number) = match part {
                SurfacePart::Vertex(n) => ("vertex", n),
                SurfacePart::Edge(n) => ("edge", n),
                SurfacePart::Face(n) => ("face", n),
            };
            object.with("fibre", fibre.0).with("along", fibre.1).with(kind, number)
        }
    };
    object
        .with("point", list(axes.to_file(contact.point.into())))
        .with("normal", turned(contact.normal))
        .with("force", turned(contact.force))
        .with("gap", contact.gap)
        .with("status", format!("{:?}", contact.status).to_lowercase())
}
