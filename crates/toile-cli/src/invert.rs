//! `toile invert`.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use toile::geometry::Vec3;
use toile::inverse::reference::ReferenceSettings;
use toile::inverse::{InverseSettings, InverseStep, Inversion, Phase};
use toile::io::{Scene, load_scene};
use toile::report::figures::{digits, length};
use toile::report::picture::Point;
use toile::report::record::{Frame, Progress};
use toile::{SceneInversion, invert_settings};

use crate::args::{Global, InvertArgs};
use crate::drape::make_folder;
use crate::invert_files::write_all;
use crate::progress::{Share, catch_interrupts};
use crate::show::{Account, FolderStore, Record};
use crate::view::{Live, Teller};
use crate::{Failure, Outcome, json, rod, rod_invert, show};

pub(crate) fn run(args: &InvertArgs, global: &Global) -> Result<Outcome, Failure> {
    let scene = load_scene(&args.scene)?;
    if rod::has_rods(&scene) {
        let outcome = rod_invert::invert(&scene, args, global)?;
        // Fibres are found at one go: there is nothing to watch before the end.
        if args.live.view {
            catch_interrupts();
            Live::start(&args.out, args.live, global)?.stay(global);
        }
        return Ok(outcome);
    }
    let mut settings = invert_settings(&scene);
    if let Some(most) = args.max_steps {
        settings.max_steps = most as usize;
    }
    if args.no_drift {
        settings.drift_time = 0.0;
    }
    make_folder(&args.out)?;
    let live = Live::start(&args.out, args.live, global)?;
    let (minutes, teller) = (args.minutes, live.teller());
    let published = args.method.published(args.flat_start);
    let found =
        invert_to(&scene, &args.out, &settings, published.as_ref(), minutes, teller, global)?;
    live.stay(global);
    let certified = found.result.certificate.certified;
    Ok(if certified { Outcome::Good } else { Outcome::Doubtful })
}

/// Inverts a scene, writes everything into `out` and says so.
pub(crate) fn invert_to(
    scene: &Scene,
    out: &Path,
    settings: &InverseSettings,
    published: Option<&ReferenceSettings>,
    minutes: f64,
    live: Option<Teller>,
    global: &Global,
) -> Result<SceneInversion, Failure> {
    catch_interrupts();
    make_folder(out)?;
    let clock = Instant::now();
    let mut progress = Share::new(global.quiet || global.json);
    let gone = || clock.elapsed().as_secs_f64() / (60.0 * minutes);
    let mut phases = Phases::new();
    let watched = RefCell::new(Watched::open(scene, out, live)?);
    let observe = |step: &InverseStep| {
        phases.see(step.phase);
        watched.borrow_mut().see(step);
        progress.tell(share(step), &words(step)) && step.in_time(gone())
    };
    let found = match published {
        None => toile::invert_shown(scene, settings, observe, |rest| {
            watched.borrow_mut().show(&rest);
        }),
        Some(published) => toile::invert_by_reference(scene, settings, published, observe),
    };
    let watched = watched.into_inner();
    progress.finish();
    let found = found?;
    let mut names = write_all(out, scene, &found)?;
    let mut account = show::of_inversion(scene, &found).about("invert", scene);
    account.timings = phases.timings();
    watched.finish(&account, out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&found.certificate().pretty());
    } else if global.quiet {
        if !found.result.certificate.certified {
            json::tell(&format!("not certified: {}", found.result.certificate.reason));
        }
    } else {
        json::print(&summary(&found, settings.drift_time, clock.elapsed().as_secs_f64()));
        json::print(&format!("written to {}: {}", out.display(), names.join(", ")));
    }
    Ok(found)
}

/// The record of a search that is watched: where it starts, and how it goes.
struct Watched {
    record: Option<Record>,
    history: Vec<InverseStep>,
    next: Instant,
    next_frame: Instant,
}

/// Rest shapes of a search that are kept: more than anybody looks at.
const MOST_FRAMES: usize = 2000;

impl Watched {
    fn open(scene: &Scene, out: &Path, teller: Option<Teller>) -> Result<Self, Failure> {
        let mut record = None;
        if teller.is_some() {
            let store = FolderStore::open(out, false, teller)?;
            let title = Account::default().about("invert", scene).title;
            let mut new = Record::new(store, &title, &show::command(), &show::version());
            new.stage(&show::target_stage(scene)?)?;
            new.begin_frames("search step", 0, true);
            new.flush(Progress::Running, "looking at the target")?;
            record = Some(new);
        }
        let now = Instant::now();
        Ok(Self { record, history: Vec::new(), next: now, next_frame: now })
    }

    /// Keeps the rest shape as a frame, unless one was kept just now.
    fn show(&mut self, rest: &dyn Fn() -> Vec<Vec3>) {
        let Some(record) = &mut self.record else { return };
        if Instant::now() < self.next_frame || record.frame_count() >= MOST_FRAMES {
            return;
        }
        let positions: Vec<Point> = rest().iter().map(|p| (*p).into()).collect();
        let time = self.history.len() as f64;
        let frame = Frame { time, positions: &positions, fields: &[], touches: &[], bodies: &[] };
        // What cannot be shown must not end the search.
        let _ = record.frame(&frame);
        self.next_frame = Instant::now() + Duration::from_millis(100);
    }

    /// Writes report and record; that of a search that was watched keeps its frames.
    fn finish(self, account: &Account, out: &Path, names: &[String]) -> Result<(), Failure> {
        let Some(mut record) = self.record else { return account.write(out, names) };
        account.write_report(out, names)?;
        record.stage(&account.stage)?;
        let rest = account.stage.layers.iter().position(|l| l.name == show::REST);
        record.move_frames(rest.unwrap_or(0));
        account.finish(&mut record)
    }

    fn see(&mut self, step: &InverseStep) {
        let Some(record) = &mut self.record else { return };
        self.history.push(*step);
        if Instant::now() < self.next {
            return;
        }
        record.plots(&show::search_plots(&self.history));
        let _ = record.flush(Progress::Running, &words(step));
        self.next = Instant::now() + Duration::from_millis(200);
    }
}

/// Time spent in each part of an inversion: what passes before a part is first seen belongs to it.
struct Phases {
    last: Instant,
    seconds: [f64; 5],
    now: usize,
}

impl Phases {
    const NAMES: [&str; 5] = [
        "putting on the weight",
        "improving the match",
        "letting it go",
        "simulating the result",
        "judging and draping it as drawn",
    ];

    fn new() -> Self {
        Self { last: Instant::now(), seconds: [0.0; 5], now: 0 }
    }

    fn see(&mut self, phase: Phase) {
        self.now = match phase {
            Phase::Weight => 0,
            Phase::Match => 1,
            Phase::Settle => 2,
            Phase::Drift => 3,
            Phase::Drape | Phase::Naive => 4,
        };
        self.add(self.now);
    }

    fn add(&mut self, part: usize) {
        self.seconds[part] += self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
    }

    fn timings(mut self) -> Vec<(String, f64)> {
        // After the last step came its end.
        self.add(self.now);
        let all = Self::NAMES.iter().zip(self.seconds);
        all.filter(|(_, s)| *s > 0.0).map(|(n, s)| ((*n).into(), s)).collect()
    }
}

fn share(step: &InverseStep) -> f64 {
    match step.phase {
        Phase::Weight => 0.6 * step.load,
        Phase::Match | Phase::Drape => 0.6,
        Phase::Settle => 0.6 + 0.2 * step.load,
        Phase::Naive => 0.98,
        Phase::Drift => 0.8 + 0.15 * step.load,
    }
}

fn words(step: &InverseStep) -> String {
    let away = length(step.distance);
    match step.phase {
        Phase::Weight => format!(
            "step {:3}: {:3.0} % of the weight, forces balance to {:.1e} of a vertex's weight",
            step.steps,
            100.0 * step.load,
            step.distance
        ),
        Phase::Match => format!(
            "step {:3}: full weight, {away} from the target, {} forces outside",
            step.steps, step.outside
        ),
        Phase::Drape => "draping".into(),
        Phase::Settle => {
            format!("no rest shape holds it; letting it go: {:.1e} m/s", step.distance)
        }
        Phase::Naive => "draping the target as its own rest shape, for comparison".into(),
        Phase::Drift => format!("simulating: moved by {away}"),
    }
}

/// What was and is to be said of layers that pass through each other.
fn crossing_lines(result: &Inversion) -> Vec<String> {
    let (parting, now) = (&result.touching.parting, &result.crossing);
    let mut lines = Vec::new();
    if parting.crossings > 0 {
        let deepest = length(parting.deepest);
        let what = format!(
            "{} times an edge passed through a face of another layer, by up to {deepest}",
            parting.crossings
        );
        lines.push(match (parting.moved, parting.left) {
            (0, _) => format!("{what}; they could not be parted"),
            (moved, 0) => format!(
                "{what}: parted by moving {moved} vertices {} at most",
                length(parting.longest_move)
            ),
            (moved, left) => format!(
                "{what}: {moved} vertices were moved by up to {}, {left} crossings are left",
                length(parting.longest_move)
            ),
        });
    }
    // Where layers mind, the verdict tells it.
    let mind = result.contacts.iter().any(|c| c.contact.key.between_layers());
    if now.count > 0 && parting.crossings == 0 && !mind {
        let place = now.place;
        lines.push(format!(
            "warning: layers pass through each other, {} times an edge through a face, by up to {}, the deepest at ({:.4}, {:.4}, {:.4}) m; only a table \
             [self_contact] keeps them apart",
            now.count,
            length(now.deepest),
            place.x,
            place.y,
            place.z
        ));
    }
    lines
}

/// What had to be done to the target before anything was sought: what was taken to touch, and what was moved.
pub(crate) fn what_was_done(result: &Inversion) -> Vec<String> {
    let c = &result.certificate;
    let mut lines = Vec::new();
    let touching = &result.touching;
    let sewing = &touching.sewing;
    if sewing.open > 0 {
        lines.push(format!(
            "{} of {} stitches were open, by {} at most: closed by moving vertices {} at most",
            sewing.open,
            sewing.stitches,
            length(sewing.widest),
            length(sewing.longest_move)
        ));
    }
    if touching.tolerance.is_raised() {
        let t = &touching.tolerance;
        let far = t.largest().max(t.of_layers());
        lines.push(format!(
            "note: it hovers over what carries it; what is within {} of touching was taken to touch, the least that lets it be carried \
             (`contact_tolerance` in [invert] sets another)",
            length(far)
        ));
    }
    if !touching.contacts.is_empty() {
        lines.push(format!("{} vertices touch colliders", touching.contacts.len()));
        if touching.pushed_out + touching.drawn_in > 0 {
            lines.push(format!(
                "  {} of them were too close and {} hovered; they were moved to the contact distance, by {} at most",
                touching.pushed_out,
                touching.drawn_in,
                length(touching.longest_move)
            ));
        }
    }
    lines.extend(crossing_lines(result));
    let evening = &touching.evening;
    let unfit = format!("{} faces lay upside down, flat on others or had no width", evening.faces);
    if evening.spread() > 0 {
        let left = match evening.left {
            0 => String::new(),
            left => format!("; {left} are left, remesh there"),
        };
        let moved = length(evening.longest_move);
        lines.push(format!("{unfit}: spread by moving vertices {moved} at most{left}"));
    } else if evening.faces > 0 {
        let what = if c.certified { "held as they were drawn" } else { "remesh there" };
        lines.push(format!("{unfit}: {what}"));
    }
    lines
}

/// What was inverted, how it went and the certificate, for people.
fn summary(found: &SceneInversion, drift_time: f64, seconds: f64) -> String {
    let (result, c) = (&found.result, &found.result.certificate);
    let mut lines = Vec::new();
    for (i, loaded) in found.shells.iter().enumerate() {
        let shell = &loaded.shell;
        lines.push(format!(
            "shell {i} ({}): {} vertices, {} faces, {} pinned",
            loaded.name,
            shell.topology.vertex_count(),
            shell.topology.face_count(),
            shell.pins.len()
        ));
        lines.extend(loaded.notes.iter().map(|note| format!("  note: {note}")));
    }
    lines.extend(found.body_notes.iter().cloned());
    lines.extend(what_was_done(result));
    let steps = result.history.last().map_or(0, |s| s.steps);
    lines.push(format!("{steps} steps, {seconds:.2} s"));
    lines.push(format!("{}: {}", c.verdict(), c.reason));
    let mut figure = |name: &str, text: String| lines.push(format!("  {name:<12} {text}"));
    figure("residual", format!("{:.2e} of a vertex's weight ({:.2e} N)", c.residual, c.residual_n));
    if let (Some(gap), Some(margin)) = (c.cone_gap, c.cone_margin) {
        figure("cone gap", format!("{} of the largest contact force", digits(gap)));
        figure(
            "cone margin",
            if margin < 0.0 {
                "none: there are forces that friction does not hold".into()
            } else {
                format!("{:.1} % of the friction is to spare", 100.0 * margin)
            },
        );
    }
    if let Some(depth) = c.penetration {
        figure("penetration", length(depth));
    }
    if let Some(stability) = c.stability {
        figure("stability", format!("{} 1/s²", digits(stability)));
    }
    if let Some(drift) = c.drift {
        figure(
            "drift",
            format!(
                "{} of the size ({}) in {drift_time} s of simulation",
                digits(drift),
                length(drift * c.size)
            ),
        );
    }
    if let (Some(most), Some(rms)) = (c.target_error_max, c.target_error_rms) {
        figure(
            "target error",
            format!(
                "{} at most, {} in the mean ({} of the size)",
                length(most),
                length(rms),
                digits(most / c.size)
            ),
        );
    }
    figure("size", length(c.size));
    if let Some(sag) = result.naive_sag {
        figure("naive sag", format!("{} if it were made as drawn", length(sag)));
    }
    lines.join("\n")
}
