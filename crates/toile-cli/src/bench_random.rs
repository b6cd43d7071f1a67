//! `toile bench random`: random scenes, watched for crashes, numbers that are none, tunnelling and energy from nowhere.

use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use toile::cone::Random;
use toile::contact::{Collider, Intrusion};
use toile::geometry::{Vec3, generate};
use toile::io::{ObjWriter, Scene, atomic_write, load_scene, write_obj};
use toile::sim::dynamics::{Simulator, Surroundings};
use toile::{Simulation, Start};

use crate::args::{BenchArgs, Global};
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::progress::{catch_interrupts, interrupted};
use crate::{Failure, Outcome};

/// A step that takes longer hangs \[s\].
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
    if !simulation.penetrations.is_empty() {
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
        let clock = Instant::now();
        let report = simulation.simulator.step(time.step)?;
        let sim = &simulation.simulator;
        let seconds = clock.elapsed().as_secs_f64();
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
        least += if moving { 2.0 * given } else { 0.0 };
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

/// What decides about a scene.
struct Dice(Random);

impl Dice {
    fn new(seed: u64, number: u64) -> Self {
        // Streams of near seeds overlap; a large odd factor takes them far apart.
        let mixed = (seed.rotate_left(32) ^ number).wrapping_mul(0xff51_afd7_ed55_8ccd);
        Self(Random::new(mixed ^ (mixed >> 29)))
    }

    /// In [a, b).
    fn within(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.0.uniform()
    }

    /// In [a, b), evenly over the decades.
    fn decades(&mut self, a: f64, b: f64) -> f64 {
        self.within(a.ln(), b.ln()).exp()
    }

    /// One of 0..n.
    fn below(&mut self, n: u64) -> u64 {
        (self.0.uniform() * n as f64) as u64
    }

    fn chance(&mut self, part: f64) -> bool {
        self.within(0.0, 1.0) < part
    }

    fn vector(&mut self, size: f64) -> [f64; 3] {
        [(); 3].map(|()| self.within(-size, size))
    }
}

fn list(v: [f64; 3]) -> String {
    format!("[{:?}, {:?}, {:?}]", v[0], v[1], v[2])
}

/// Writes a random scene with its meshes into a folder; where the scene is.
fn write_scene(folder: &Path, seed: u64, number: u64) -> Result<PathBuf, Failure> {
    let mut random = Dice::new(seed, number);
    make_folder(folder)?;
    let mut text = format!("# Scene {number} of seed {seed}.\n");
    let (colliders, mut top, moving) = colliders_text(&mut random);
    for sheet in 0..=random.below(3) {
        let n = 4 + random.below(9) as usize;
        let size = random.within(0.3, 1.0);
        let mesh = generate::sheet(n, size);
        let tilt = random.within(0.0, 0.25);
        let (heading, turn) = (random.within(0.0, 6.3), random.within(0.0, 6.3));
        let axis = Vec3::new(heading.cos(), heading.sin(), 0.0);
        let rise = 0.75 * size * tilt.sin();
        let aside = random.vector(0.15);
        let middle = Vec3::new(aside[0], aside[1], top + 0.006 + rise + random.within(0.0, 0.03));
        top = middle.z + rise;
        let place = |x: &Vec3| -> [f64; 3] {
            let (sin, cos) = turn.sin_cos();
            let flat = Vec3::new(cos * x.x - sin * x.y, sin * x.x + cos * x.y, 0.0);
            // Turned about a horizontal axis, the angle given by its sine and cosine (Rodrigues).
            let (s, c) = tilt.sin_cos();
            let tilted = flat * c + axis.cross(&flat) * s + axis * (axis.dot(&flat) * (1.0 - c));
            (tilted + middle).into()
        };
        let positions: Vec<[f64; 3]> = mesh.positions.iter().map(place).collect();
        let file = format!("sheet_{sheet}.obj");
        write_obj(folder.join(&file), &positions, mesh.topology.faces(), &ObjWriter::default())?;
        let (stretching, bending) = (random.decades(50.0, 5e3), random.decades(1e-7, 1e-4));
        let poisson = random.within(0.0, 0.45);
        let thickness = (12.0 * (1.0 - poisson * poisson) * bending / stretching).sqrt();
        let mut velocity = random.vector(1.0);
        velocity[2] = -random.within(0.0, 3.0);
        let _ = writeln!(
            text,
            "\n[[shell]]\nmesh = \"{file}\"\nthickness = {thickness:?}\nareal_density = {:?}\nvelocity = {}\n\
             material = {{ model = \"koiter\", young = {:?}, poisson = {poisson:?}, normals = \"average\" }}",
            random.decades(0.05, 1.0),
            list(velocity),
            stretching / thickness
        );
        if !moving && random.chance(0.25) {
            let _ = writeln!(text, "pins = {{ vertices = [{}, {}] }}", 0, n - 1);
        }
    }
    text.push_str(&colliders);
    if random.chance(0.6) {
        let (mu, thickness) = (friction(&mut random), random.within(1e-3, 4e-3));
        let _ = writeln!(text, "\n[self_contact]\nfriction = {mu:?}\nthickness = {thickness:?}");
    }
    let step = random.decades(1e-3, 20e-3);
    let count = 30 + random.below(40);
    let names = ["implicit-euler", "implicit-euler", "implicit-euler", "bdf2", "tr-bdf2", "sdirk2"];
    let integrator = names[random.below(6) as usize];
    let _ = writeln!(
        text,
        "\n[time]\nstep = {step:?}\nduration = {:?}\nintegrator = \"{integrator}\"",
        step * count as f64
    );
    let path = folder.join("scene.toml");
    atomic_write(&path, |w| w.write_all(text.as_bytes()))?;
    Ok(path)
}

/// Mostly between 0 and 1, sometimes one of them.
fn friction(random: &mut Dice) -> f64 {
    match random.below(8) {
        0 => 0.0,
        1 => 1.0,
        _ => random.within(0.0, 1.0),
    }
}

/// Some colliders, how high they reach, and whether one moves.
///
/// Only a collider alone moves, and nothing is held then: cloth that two solid things squeeze has no place to go.
fn colliders_text(random: &mut Dice) -> (String, f64, bool) {
    let (mut text, mut top) = (String::new(), -0.4f64);
    let ground = random.chance(0.6);
    let count = if ground { random.below(3) } else { 1 + random.below(3) };
    let moving = !ground && count == 1 && random.chance(0.6);
    if ground {
        let _ = writeln!(text, "\n[[collider]]\nplane = {{ point = [0.0, 0.0, -0.4] }}");
        let _ = writeln!(text, "friction = {:?}", friction(random));
    }
    for _ in 0..count {
        let [x, y, _] = random.vector(0.25);
        let z = random.within(-0.3, 0.0);
        let center = [x, y, z];
        let radius = random.within(0.05, 0.25);
        let high = match random.below(6) {
            0 => {
                let at = list(center);
                let _ = writeln!(
                    text,
                    "\n[[collider]]\nsphere = {{ center = {at}, radius = {radius:?} }}"
                );
                z + radius
            }
            1 => {
                let size = [(); 3].map(|()| random.within(0.1, 0.5));
                let half = size.map(|s| 0.5 * s);
                let (at, size, turn) = (list(center), list(size), list(random.vector(1.0)));
                let _ = writeln!(
                    text,
                    "\n[[collider]]\nbox = {{ center = {at}, size = {size}, rotation = {turn} }}"
                );
                z + half.iter().map(|h| h * h).sum::<f64>().sqrt()
            }
            2 => {
                let half = random.vector(0.3);
                let [start, end] = [-1.0, 1.0].map(|s| [0, 1, 2].map(|k| center[k] + s * half[k]));
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ncapsule = {{ start = {}, end = {}, radius = {radius:?} }}",
                    list(start),
                    list(end)
                );
                z + half[2].abs() + radius
            }
            3 => {
                let length = random.within(0.1, 0.6);
                let mut axis = random.vector(1.0);
                axis[0] += 1.5; // never zero
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ncylinder = {{ center = {}, axis = {}, radius = {radius:?}, length = {length:?} }}",
                    list(center),
                    list(axis)
                );
                z + radius.hypot(0.5 * length)
            }
            4 => {
                let tip = [x, y, z + random.within(0.1, 0.4)];
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ncone = {{ base = {}, tip = {}, radius = {radius:?} }}",
                    list(center),
                    list(tip)
                );
                tip[2]
            }
            _ => {
                let tube = random.within(0.03, 0.08);
                let mut axis = random.vector(1.0);
                axis[2] += 1.5;
                let _ = writeln!(
                    text,
                    "\n[[collider]]\ntorus = {{ center = {}, axis = {}, radius = {:?}, tube = {tube:?} }}",
                    list(center),
                    list(axis),
                    radius + 0.05
                );
                z + radius + 0.05 + tube
            }
        };
        top = top.max(high);
        let _ = writeln!(text, "friction = {:?}", friction(random));
        let _ = writeln!(text, "gap = {:?}", random.within(1e-3, 4e-3));
        if moving {
            let (v, w) = (list(random.vector(0.5)), list(random.vector(3.0)));
            let _ = writeln!(
                text,
                "motion = {{ pivot = {}, velocity = {v}, angular_velocity = {w} }}",
                list(center)
            );
        }
    }
    (text, top, moving)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_can_be_read_and_follow_from_their_seed() {
        let folder = std::env::temp_dir().join(format!("toile-random-{}", std::process::id()));
        for number in 0..60 {
            let path = write_scene(&folder, 1, number).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            let scene = load_scene(&path).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let simulation = Simulation::new(&scene, Start::AsGiven);
            assert!(simulation.is_ok(), "{text}");
            write_scene(&folder, 1, number).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            write_scene(&folder, 2, number).unwrap();
            assert_ne!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
