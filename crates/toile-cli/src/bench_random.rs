//! `toile bench random`: random scenes, watched for crashes, numbers that are none, tunnelling and energy from nowhere.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use toile::contact::{Collider, Intrusion};
use toile::geometry::Vec3;
use toile::io::{Scene, atomic_write, load_scene};
use toile::sim::dynamics::{Simulator, Surroundings};
use toile::{Simulation, Start};

use crate::args::{BenchArgs, Global};
use crate::bench::Clock;
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::progress::{catch_interrupts, interrupted};
use crate::random_scene::write_scene;
use crate::{Failure, Outcome};

/// A step that computes for longer hangs \[s\]. Time of the processor where the system tells it: on a machine that is stopped or shared the clock goes on.
const LONGEST_STEP: f64 = 60.0;
/// Steps running in which nothing could move in any part but together: the scene is frozen.
const FROZEN: usize = 5;
/// Energy that may come from nowhere, over the energy the scene has to spend.
const ENERGY_SLACK: f64 = 0.02;

pub(crate) fn run(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    make_folder(&args.out)?;
    let clock = Instant::now();
    let mut all = Totals::default();
    let given = args.scenes.as_ref().map(|scenes| scenes.iter().copied());
    let mut numbers: Box<dyn Iterator<Item = u64>> = match given {
        Some(scenes) => Box::new(scenes),
        None => Box::new(args.first..),
    };
    let in_time = |all: &Totals| {
        let minutes = clock.elapsed().as_secs_f64() / 60.0;
        args.scenes.is_some() || minutes < args.minutes || all.scenes == 0
    };
    while !interrupted() && in_time(&all) {
        let Some(number) = numbers.next() else { break };
        let folder = args.out.join(format!("seed_{}_scene_{number}", args.seed));
        let begun = Instant::now();
        make_folder(&folder)?;
        let made = write_scene(&folder, args.seed, number)?;
        let watched = catch_unwind(AssertUnwindSafe(|| watch(&made, &mut all)));
        let fault = match watched {
            Ok(Ok(fault)) => fault,
            Ok(Err(failure)) => Some(format!("error: {}", failure.0)),
            Err(_) => Some("panic".into()),
        };
        match fault {
            Some(what) => {
                all.faults += 1;
                atomic_write(folder.join("fault.txt"), |w| writeln!(w, "{what}"))?;
                json::tell(&format!("{}: {what}", folder.display()));
            }
            None => fs::remove_dir_all(&folder)?,
        }
        if !(global.quiet || global.json) {
            json::tell(&format!(
                "scene {number}: {:.1} s; {} scenes, {} steps, {} faults",
                begun.elapsed().as_secs_f64(),
                all.scenes,
                all.steps,
                all.faults
            ));
        }
    }
    let line = Object::default()
        .with("peer", "toile")
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("work", "random")
        .with("seed", args.seed)
        .with("first", args.first)
        .with("minutes", clock.elapsed().as_secs_f64() / 60.0)
        .with("scenes", all.scenes)
        .with("scenes_skipped", all.skipped)
        .with("steps", all.steps)
        .with("steps_not_converged", all.unconverged)
        .with("parts_held_back", all.stopped)
        .with("vertices_held_back", all.held)
        .with("parts_frozen", all.frozen)
        .with("steps_with_dips", all.dips)
        .with("contacts", all.contacts)
        .with("worst_law_error", all.law)
        .with("faults", all.faults);
    json::print(&line.line());
    Ok(if all.faults == 0 { Outcome::Good } else { Outcome::Doubtful })
}

#[derive(Default)]
struct Totals {
    scenes: usize,
    skipped: usize,
    steps: usize,
    unconverged: usize,
    stopped: usize,
    held: usize,
    frozen: usize,
    dips: usize,
    contacts: usize,
    law: f64,
    faults: usize,
}

/// Runs a scene; what is wrong with it, if anything.
fn watch(path: &Path, all: &mut Totals) -> Result<Option<String>, Failure> {
    let scene = load_scene(path)?;
    let Some(time) = scene.time else { return Err(Failure("no time".into())) };
    let mut simulation = Simulation::new(&scene, Start::AsGiven)?;
    if !simulation.beginning.penetrations.is_empty() {
        all.skipped += 1; // it starts inside something: no fault of the motion
        return Ok(None);
    }
    all.scenes += 1;
    let moving = scene.colliders.iter().any(|c| c.motion.is_some());
    let sim = &simulation.simulator;
    let mass: f64 = sim.model().masses().iter().sum::<f64>() / 3.0;
    let total = |sim: &Simulator<Surroundings>| {
        let energies = sim.energies();
        energies.kinetic + energies.potential
    };
    let begin = sim.energies();
    // What there is to spend: the motion it has, and a fall of 10 cm.
    let unit = begin.kinetic + 0.1 * 9.81 * mass;
    let (mut least, mut before) = (total(sim), total(sim));
    let mut frozen = 0;
    for step in 1..=(time.duration / time.step).round() as usize {
        let clock = Clock::start();
        let report = simulation.simulator.step(time.step)?;
        let sim = &simulation.simulator;
        let (wall, computed) = clock.stop();
        let seconds = computed.unwrap_or(wall);
        all.steps += 1;
        all.unconverged += usize::from(!report.converged);
        all.stopped += report.stopped;
        all.held += report.held;
        all.frozen += report.frozen;
        all.contacts += report.contacts;
        all.law = all.law.max(report.law_error);
        let at = |what: String| Ok(Some(format!("step {step}, {:.4} s: {what}", sim.time())));
        if seconds > LONGEST_STEP {
            return at(format!("took {seconds:.0} s"));
        }
        // Parts in which everything goes with what it would meet must be the exception.
        frozen = if report.frozen == report.substeps { frozen + 1 } else { 0 };
        if frozen == FROZEN {
            return at(format!("nothing could move as it should {FROZEN} times running"));
        }
        let model = sim.model();
        let places: Vec<Vec3> =
            model.vertices().iter().map(|&v| model.position(sim.state(), v)).collect();
        let finite = places.iter().all(|x| x.iter().all(|c| c.is_finite()))
            && sim.velocities().iter().all(|v| v.is_finite());
        if !finite {
            return at("a position or velocity is not a number".into());
        }
        if let Some(what) = tunnelling(&scene, &simulation, all)? {
            return at(what);
        }
        let now = total(sim);
        // Moving colliders give what they push, along the relative motion of the end of the step.
        let given: f64 = sim
            .contact_forces()
            .iter()
            .map(|f| f.force.dot(&f.contact.velocity).abs() * time.step)
            .sum();
        least += if moving { 2.0 * given + report.carrying_work } else { 0.0 };
        if now > least + ENERGY_SLACK * unit {
            let grown = (now - least) / unit;
            return at(format!(
                "energy grew by {:.1} % of what there was to spend, {:.3e} J in this step",
                100.0 * grown,
                now - before
            ));
        }
        (least, before) = (least.min(now), now);
    }
    Ok(None)
}

/// What is inside something else: vertices in colliders, layers through layers. Edges and faces that dip into a
/// collider by less than its gap are only counted.
fn tunnelling(
    scene: &Scene,
    simulation: &Simulation,
    all: &mut Totals,
) -> Result<Option<String>, Failure> {
    let gap = |c: u32| simulation.colliders[c as usize].gap();
    let found = simulation.penetrations_now()?;
    let mut dipped = false;
    for one in &found {
        let bad = match one.what {
            Intrusion::VertexInCollider { .. } => one.depth > 1e-9,
            Intrusion::EdgeInCollider { collider, .. }
            | Intrusion::FaceInCollider { collider, .. } => {
                dipped = true;
                one.depth > gap(collider)
            }
            Intrusion::EdgeThroughFace { .. } | Intrusion::VertexOnFace { .. } => {
                scene.self_contact.is_some()
            }
        };
        if bad {
            // Which of the two is wrong, the motion or what was found?
            let time = simulation.simulator.time();
            let near = |c: &Collider| c.at(time).query(&one.place).distance;
            let distance = match one.what {
                Intrusion::FaceInCollider { collider, .. }
                | Intrusion::EdgeInCollider { collider, .. } => {
                    near(&simulation.colliders[collider as usize])
                }
                _ => -one.depth,
            };
            let doubt = format!(" (a false alarm: {:.3} mm outside there)", 1e3 * distance);
            return Ok(Some(format!("{one}{}", if distance > 0.0 { &doubt } else { "" })));
        }
    }
    all.dips += usize::from(dipped);
    Ok(None)
}
