//! `toile bench w1|w2|w4`: the works in motion that other simulators have done, with their keys.

use toile::contact::{Collider, Shape};
use toile::geometry::{TriMesh, Vec3, generate};
use toile::sim::dynamics::{
    ContactSource, NoContact, Simulator, StageSettings, StageTimings, StepReport, Surroundings,
};
use toile::sim::{Model, ModelBuilder, Shell, SimError};

use crate::args::{BenchArgs, Normals};
use crate::bench::{Clock, GRAVITY, cloth, normals, rounded};
use crate::bench_measure::{depth, slope};
use crate::json::{self, Object};
use crate::{Failure, Outcome};

const DT: f64 = 0.01;
const AREAL_DENSITY: f64 = 0.2;
/// The ball of W2 \[m\].
const RADIUS: f64 = 0.3;
/// Distance kept by contacts, as by the peers' \[m\].
const GAP: f64 = 1e-3;

/// A sheet at `positions`, its rest shape flat, in the peers' material.
fn model(
    args: &BenchArgs,
    mesh: TriMesh,
    positions: Vec<Vec3>,
    pins: Vec<u32>,
    gravity: Vec3,
) -> Result<Model, SimError> {
    let shell = Shell {
        topology: mesh.topology,
        positions,
        rest_positions: mesh.positions,
        material: cloth(1000.0, 0.3, 1e-5, normals(args, Normals::Average)),
        areal_density: AREAL_DENSITY,
        pins,
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, gravity)?;
    builder.build()
}

/// What all works say.
struct Run {
    line: Object,
    steps: usize,
    iterations: usize,
    factorisations: usize,
    contacts: usize,
    worst_law: f64,
    mean_law: f64,
    unconverged: usize,
    parts: StageTimings,
}

impl Run {
    fn new(work: &str, n: usize) -> Self {
        let line = Object::default()
            .with("peer", "toile")
            .with("version", env!("CARGO_PKG_VERSION"))
            .with("work", work)
            .with("n", n)
            .with("solver", "implicit Euler")
            .with("dt", DT);
        Self {
            line,
            steps: 0,
            iterations: 0,
            factorisations: 0,
            contacts: 0,
            worst_law: 0.0,
            mean_law: 0.0,
            unconverged: 0,
            parts: StageTimings::default(),
        }
    }

    fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.iterations += report.iterations;
        self.factorisations += report.factorisations;
        self.contacts = self.contacts.max(report.contacts);
        self.worst_law = self.worst_law.max(report.law_error);
        self.mean_law += report.mean_law_error;
        self.unconverged += usize::from(!report.converged);
        self.parts += report.timings;
    }

    fn timed(self, setup: f64, (wall, cpu): (f64, Option<f64>)) -> Object {
        let time = self.steps as f64 * DT;
        self.line
            .with("setup_s", rounded(setup))
            .with("wall_per_sim_s", rounded(wall / time))
            .with("cpu_per_sim_s", cpu.map(|c| rounded(c / time)))
            .with("iters_mean", self.iterations as f64 / self.steps.max(1) as f64)
            .with("factorisations_mean", self.factorisations as f64 / self.steps.max(1) as f64)
            .with("steps_not_converged", self.unconverged)
            .with("detection_s", rounded(self.parts.detection.as_secs_f64() / time))
            .with("assembly_s", rounded(self.parts.assembly.as_secs_f64() / time))
            .with("factorisation_s", rounded(self.parts.factorisation.as_secs_f64() / time))
            .with("friction_s", rounded(self.parts.friction.as_secs_f64() / time))
    }
}

/// Newton steps until elasticity has converged, or `--newton-steps` at most.
pub(crate) fn stage_settings(args: &BenchArgs, otherwise: usize) -> StageSettings {
    let max_iterations = args.newton_steps.map_or(otherwise, |n| n as usize);
    StageSettings { max_iterations, ..StageSettings::default() }
}

fn steps(args: &BenchArgs) -> usize {
    (args.duration.unwrap_or(1.0) / DT).round().max(1.0) as usize
}

fn places<S: ContactSource>(sim: &Simulator<S>) -> Vec<Vec3> {
    let model = sim.model();
    model.vertices().iter().map(|&v| model.position(sim.state(), v)).collect()
}

fn velocities<S: ContactSource>(sim: &Simulator<S>) -> Vec<Vec3> {
    let model = sim.model();
    let one = |&v: &u32| Vec3::from_column_slice(&sim.velocities()[model.unknown(v)..][..3]);
    model.vertices().iter().map(one).collect()
}

fn mean(all: &[Vec3]) -> Vec3 {
    all.iter().sum::<Vec3>() / all.len().max(1) as f64
}

fn lowest(all: &[Vec3]) -> f64 {
    all.iter().map(|x| x.z).fold(f64::INFINITY, f64::min)
}

/// Hang: flat and horizontal, two corners of one edge held, one second.
pub(crate) fn w1(args: &BenchArgs) -> Result<Outcome, Failure> {
    let n = args.n.unwrap_or(33) as usize;
    let clock = Clock::start();
    let mesh = generate::sheet(n, 1.0);
    let (positions, pins) =
        (mesh.positions.clone(), vec![((n - 1) * n) as u32, (n * n - 1) as u32]);
    let model = model(args, mesh, positions, pins, -GRAVITY * Vec3::z())?;
    let mut sim = Simulator::new(model, NoContact)?;
    sim.set_settings(stage_settings(args, StageSettings::default().max_iterations));
    let setup = clock.stop().0;
    let clock = Clock::start();
    let mut run = Run::new("W1", n);
    for _ in 0..steps(args) {
        run.add(&sim.step(DT)?);
    }
    let time = clock.stop();
    let good = run.unconverged == 0;
    let (x, v) = (places(&sim), velocities(&sim));
    let line = run
        .timed(setup, time)
        .with("zmin", lowest(&x))
        .with("com_z", mean(&x).z)
        .with("vmax", v.iter().map(Vec3::norm).fold(0.0, f64::max));
    json::print(&line.line());
    Ok(if good { Outcome::Good } else { Outcome::Doubtful })
}

/// Drape: the sheet falls by a centimetre on a ball, beside its pole, μ = 0.3, one second.
pub(crate) fn w2(args: &BenchArgs) -> Result<Outcome, Failure> {
    let n = args.n.unwrap_or(33) as usize;
    let clock = Clock::start();
    let mesh = generate::sheet(n, 1.0);
    let topology = mesh.topology.clone();
    let shift = Vec3::new(0.05, 0.03, RADIUS + 0.01);
    let positions = mesh.positions.iter().map(|x| x + shift).collect();
    let model = model(args, mesh, positions, Vec::new(), -GRAVITY * Vec3::z())?;
    let ball = Shape::sphere(Vec3::zeros(), RADIUS).map(Collider::fixed)?;
    let ball = ball.with_friction(0.3)?.with_gap(GAP)?;
    let mut sim = Simulator::new(model, Surroundings::new(topology.clone(), vec![ball]))?;
    // Wrinkles that a step makes faster than it can follow keep Newton's method from converging within reason; the
    // peers' one linearised step does not converge either. The law of contact is exact all the same.
    sim.set_settings(stage_settings(args, 2));
    let setup = clock.stop().0;
    let clock = Clock::start();
    let mut run = Run::new("W2", n);
    let mut deepest = 0.0f64;
    for _ in 0..steps(args) {
        run.add(&sim.step(DT)?);
        deepest = deepest.max(depth(&places(&sim), topology.faces(), RADIUS).0);
    }
    let time = clock.stop();
    let (x, v) = (places(&sim), velocities(&sim));
    let (any, at_vertices) = depth(&x, topology.faces(), RADIUS);
    // Tangential speed of what lies on the ball, within 5 mm.
    let near: Vec<(Vec3, Vec3)> = x
        .iter()
        .zip(&v)
        .filter(|(x, _)| x.norm() < RADIUS + GAP + 5e-3)
        .map(|(x, v)| (*v, v - x * (x.dot(v) / x.norm_squared())))
        .collect();
    let speeds: Vec<f64> = near.iter().map(|(_, t)| t.norm()).collect();
    let net = mean(&near.iter().map(|(v, _)| *v).collect::<Vec<_>>());
    let (worst_law, mean_law) = (run.worst_law, run.mean_law / run.steps as f64);
    let (good, contacts) = (deepest == 0.0, run.contacts);
    let line = run
        .timed(setup, time)
        .with("ncon_max", contacts)
        .with("zmin", lowest(&x))
        .with("com", mean(&x).as_slice().to_vec())
        .with("pen_max_mm", 1e3 * any)
        .with("pen_vert_mm", 1e3 * at_vertices)
        .with("pen_ever_mm", 1e3 * deepest)
        .with("n_near", near.len())
        .with("vt_mean", speeds.iter().sum::<f64>() / speeds.len().max(1) as f64)
        .with("vt_max", speeds.iter().copied().fold(0.0, f64::max))
        .with("vt_net", net.as_slice().to_vec())
        .with("mean_law_error", mean_law)
        .with("worst_law_error", worst_law);
    json::print(&line.line());
    Ok(if good { Outcome::Good } else { Outcome::Doubtful })
}

/// Incline: half a metre of sheet on a slope of 20°, μ = `--ratio` times its tangent, one second.
pub(crate) fn w4(args: &BenchArgs) -> Result<Outcome, Failure> {
    let n = args.n.unwrap_or(17) as usize;
    let (sin, cos) = 20f64.to_radians().sin_cos();
    let clock = Clock::start();
    let mesh = generate::sheet(n, 0.5);
    let topology = mesh.topology.clone();
    let positions = mesh.positions.iter().map(|x| x + GAP * Vec3::z()).collect();
    let gravity = GRAVITY * Vec3::new(sin, 0.0, -cos);
    let model = model(args, mesh, positions, Vec::new(), gravity)?;
    let ground = Shape::plane(Vec3::zeros(), Vec3::z()).map(Collider::fixed)?;
    let ground = ground.with_friction(args.ratio * sin / cos)?.with_gap(GAP)?;
    let mut sim = Simulator::new(model, Surroundings::new(topology, vec![ground]))?;
    sim.set_settings(stage_settings(args, StageSettings::default().max_iterations));
    let setup = clock.stop().0;
    let clock = Clock::start();
    let mut run = Run::new("W4", n);
    let (mut centres, mut speeds, mut creep) = (Vec::new(), Vec::new(), 0.0f64);
    let count = steps(args);
    for k in 0..count {
        run.add(&sim.step(DT)?);
        let v = velocities(&sim);
        centres.push(mean(&places(&sim)).x);
        speeds.push(mean(&v).x);
        if k >= count / 2 {
            creep = creep.max(v.iter().map(Vec3::norm).fold(0.0, f64::max));
        }
    }
    let time = clock.stop();
    let half = count / 2;
    let exact = (GRAVITY * sin * (1.0 - args.ratio)).max(0.0);
    let found = slope(&speeds[half..], DT);
    let good = if exact == 0.0 { creep == 0.0 } else { (found / exact - 1.0).abs() <= 1e-5 };
    let line = run
        .timed(setup, time)
        .with("ratio", args.ratio)
        .with("dx_half", centres[count - 1] - centres[half])
        .with("v_end", speeds[count - 1])
        .with("creep", creep)
        .with("acc_fit", found)
        .with("acc_exact", exact)
        .with("zmin_mm", 1e3 * lowest(&places(&sim)));
    json::print(&line.line());
    Ok(if good { Outcome::Good } else { Outcome::Doubtful })
}
