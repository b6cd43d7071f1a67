//! `toile bench`: fixed tasks, measured.

use std::fs;
use std::time::Instant;

use toile::energy::{Curvature, Membrane, ShellStiffness};
use toile::geometry::measure::NormalRule;
use toile::geometry::{Vec3, generate};
use toile::sim::{
    Model, ModelBuilder, Shell, ShellMaterial, ShellNodes, State, equilibrium, force_unit, relax,
};
use toile::solve::{NewtonSettings, Stop};
use toile::validate::elastica::heavy_cantilever;
use toile::validate::shells::heavy_strip;

use crate::args::{BenchArgs, Global, Normals, Task};
use crate::json::{self, Object};
use crate::progress::{Progress, catch_interrupts};
use crate::{Failure, Outcome};

pub(crate) const GRAVITY: f64 = 9.81;

pub(crate) fn run(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    match args.task {
        Task::W1 => crate::bench_motion::w1(args),
        Task::W2 => crate::bench_motion::w2(args),
        Task::W3 => w3(args, global),
        Task::W4 => crate::bench_motion::w4(args),
        Task::W6 => w6(args),
        Task::Hang => hang(args, global),
        Task::Assembly => assembly(args),
        Task::Square1 => crate::bench_squares::run(args, 1, global),
        Task::Square3 => crate::bench_squares::run(args, 3, global),
        Task::Random => crate::bench_random::run(args, global),
        Task::Friction => crate::bench_friction::run(args, global),
        Task::Rods => crate::bench_rods::run(args),
        Task::Hair => crate::bench_hair::run(args, global),
        Task::HairInverse => crate::bench_hair_inverse::run(args, global),
        Task::Inverse => crate::bench_inverse::run(args, global),
        Task::Targets => crate::bench_targets::run(args, global),
    }
}

/// Cloth by E h \[N/m\], ν and D \[N·m\].
pub(crate) fn cloth(
    stretching: f64,
    poisson: f64,
    bending: f64,
    normals: NormalRule,
) -> ShellMaterial {
    let thickness = (12.0 * (1.0 - poisson * poisson) * bending / stretching).sqrt();
    ShellMaterial::Koiter {
        stiffness: ShellStiffness::isotropic(stretching / thickness, poisson, thickness),
        normals,
        membrane: Membrane::StVenantKirchhoff,
        warp: Vec3::x(),
    }
}

/// The sheet of all tasks, and its model: flat at rest, started lying or standing.
fn sheet(n: usize, standing: bool, normals: NormalRule) -> Result<(Model, ShellNodes), Failure> {
    let mesh = generate::sheet(n, 1.0);
    let stand = |p: &Vec3| Vec3::new(p.x, 0.0, p.y - 0.5);
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: if standing {
            mesh.positions.iter().map(stand).collect()
        } else {
            mesh.positions.clone()
        },
        rest_positions: mesh.positions,
        material: cloth(1000.0, 0.3, 1e-5, normals),
        areal_density: 0.2,
        pins: vec![((n - 1) * n) as u32, (n * n - 1) as u32],
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut builder = ModelBuilder::new();
    let nodes = shell.add_to(&mut builder, Vec3::new(0.0, 0.0, -GRAVITY))?;
    Ok((builder.build()?, nodes))
}

pub(crate) fn normals(args: &BenchArgs, default: Normals) -> NormalRule {
    match args.normals.unwrap_or(default) {
        Normals::Average => NormalRule::Average,
        Normals::Sin => NormalRule::Sin,
        Normals::Tan => NormalRule::Tan,
    }
}

fn lowest(model: &Model, state: &State) -> f64 {
    model.vertices().iter().map(|&v| model.position(state, v).z).fold(f64::INFINITY, f64::min)
}

/// ‖∂E/∂x at free coordinates‖₂ over the weight, the measure the peers' drivers use.
fn norm_over_weight(model: &Model, state: &State) -> f64 {
    let mut gradient = vec![0.0; model.len()];
    model.gradient(state, &mut gradient);
    let free = gradient.iter().zip(model.fixed()).filter(|(_, fixed)| !**fixed);
    let norm = free.map(|(g, _)| g * g).sum::<f64>().sqrt();
    norm / (force_unit(model) * model.vertex_count() as f64)
}

fn w3(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    let n = args.n.unwrap_or(33) as usize;
    catch_interrupts();
    let clock = Clock::start();
    let (model, _) = sheet(n, true, normals(args, Normals::Average))?;
    // The peers ask for ‖∂E/∂x‖₂ below 1e-6 of the whole weight; ours bounds each unknown by a part of
    // a vertex's weight, so this is enough.
    let vertices = model.vertex_count() as f64;
    let settings = NewtonSettings {
        tolerance: 1e-6 * vertices / (model.len() as f64).sqrt(),
        max_steps: args.max_steps as usize,
        ..NewtonSettings::default()
    };
    let mut progress = Progress::new(global.quiet || global.json);
    let found = relax(&model, model.start(), &settings, |s| progress.step(s))?;
    progress.finish();
    let (wall, cpu) = clock.stop();
    let line = Object::default()
        .with("peer", "toile")
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("work", "W3")
        .with("n", n)
        .with("wall_s", rounded(wall))
        .with("cpu_s", cpu.map(rounded))
        .with("steps", found.history.len())
        .with("residual", norm_over_weight(&model, &found.point))
        .with("residual_max", found.residual)
        .with("lowest", lowest(&model, &found.point))
        .with("energy", found.energy)
        .with("minimum", found.stop == Stop::Minimum);
    json::print(&line.line());
    Ok(if found.stop == Stop::Minimum { Outcome::Good } else { Outcome::Doubtful })
}

fn w6(args: &BenchArgs) -> Result<Outcome, Failure> {
    let columns = args.n.unwrap_or(241) as usize;
    let clock = Clock::start();
    let found = heavy_strip(args.gamma, columns - 1, args.across as usize)?;
    let (wall, cpu) = clock.stop();
    let exact = heavy_cantilever(args.gamma)?;
    let error = found.drop / exact.drop - 1.0;
    let line = Object::default()
        .with("peer", "toile")
        .with("version", env!("CARGO_PKG_VERSION"))
        .with("work", "W6")
        .with("n", columns)
        .with("gamma", args.gamma)
        .with("wall_s", rounded(wall))
        .with("cpu_s", cpu.map(rounded))
        .with("steps", found.newton_steps)
        .with("residual", found.residual)
        .with("drop", found.drop)
        .with("x", found.reach)
        .with("drop_elastica", exact.drop)
        .with("drop_error", error);
    json::print(&line.line());
    Ok(if error.abs() < 0.05 { Outcome::Good } else { Outcome::Doubtful })
}

fn hang(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    let n = args.n.unwrap_or(33) as usize;
    catch_interrupts();
    let clock = Clock::start();
    let (model, _) = sheet(n, false, normals(args, Normals::Tan))?;
    let build = clock.stop().0;
    let settings = NewtonSettings {
        tolerance: 1e-9,
        max_steps: args.max_steps as usize,
        ..NewtonSettings::default()
    };
    let mut progress = Progress::new(global.quiet || global.json);
    let found = equilibrium(&model, model.start(), &settings, |s| progress.step(s))?;
    progress.finish();
    let (wall, cpu) = clock.stop();
    let t = found.timings;
    let share = |d: std::time::Duration| d.as_secs_f64() / t.total.as_secs_f64().max(1e-9);
    let (assembly, factorisation) = (share(t.assembly), share(t.factorisation));
    let certificate = &found.certificate;
    let minimum = found.stop == Stop::Minimum && certificate.negative_modes == Some(0);
    if global.json {
        let line = Object::default()
            .with("peer", "toile")
            .with("work", "hang")
            .with("n", n)
            .with("wall_s", rounded(wall))
            .with("cpu_s", cpu.map(rounded))
            .with("build_s", rounded(build))
            .with("solve_s", rounded(t.total.as_secs_f64()))
            .with("steps", found.history.len())
            .with("factorisations", found.factorisations)
            .with("escapes", found.escapes)
            .with("residual", certificate.residual)
            .with("stability", certificate.stability)
            .with("negative_modes", certificate.negative_modes)
            .with("minimum", minimum)
            .with("lowest", lowest(&model, &found.state))
            .with("energy", found.energy)
            .with("share_assembly", assembly)
            .with("share_factorisation", factorisation)
            .with("share_rest", 1.0 - assembly - factorisation);
        json::print(&line.line());
    } else {
        json::print(&format!(
            "hang of {n} × {n} vertices ({} unknowns) from flat to 1e-9\n\
             {} steps, {} factorisations, {} saddle(s) left, {:.2} s ({:.2} s with model and certificate)\n\
             assembly {:.0} %, factorisation {:.0} %, rest {:.0} %\n\
             {}: {}\n\
             minimum: {} (negative pivots: {}); lowest point {:.6} m, energy {:.9} J",
            model.len(),
            found.history.len(),
            found.factorisations,
            found.escapes,
            t.total.as_secs_f64(),
            wall,
            100.0 * assembly,
            100.0 * factorisation,
            100.0 * (1.0 - assembly - factorisation),
            certificate.verdict(),
            certificate.reason,
            if minimum { "yes" } else { "no" },
            certificate.negative_modes.map_or("unknown".into(), |m| m.to_string()),
            lowest(&model, &found.state),
            found.energy
        ));
    }
    Ok(if certificate.certified { Outcome::Good } else { Outcome::Doubtful })
}

/// Times of one evaluation each, the best of several.
fn assembly(args: &BenchArgs) -> Result<Outcome, Failure> {
    let n = args.n.unwrap_or(33) as usize;
    let (model, _) = sheet(n, false, normals(args, Normals::Tan))?;
    let state = model.start();
    let mut gradient = vec![0.0; model.len()];
    let mut values = vec![0.0; model.pattern().nnz()];
    let energy_s = best(|| {
        std::hint::black_box(model.energy(state));
    });
    let gradient_s = best(|| model.gradient(state, &mut gradient));
    let exact_s = best(|| model.hessian(state, Curvature::Exact, &mut values));
    let positive_s = best(|| model.hessian(state, Curvature::Positive, &mut values));
    let faces = 2 * (n - 1) * (n - 1);
    let line = Object::default()
        .with("peer", "toile")
        .with("work", "assembly")
        .with("n", n)
        .with("unknowns", model.len())
        .with("nonzeros", model.pattern().nnz())
        .with("energy_s", energy_s)
        .with("gradient_s", gradient_s)
        .with("hessian_s", exact_s)
        .with("positive_hessian_s", positive_s)
        .with("hessian_us_per_face", 1e6 * exact_s / faces as f64);
    json::print(&line.line());
    Ok(Outcome::Good)
}

fn best(mut work: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..7 {
        let begun = Instant::now();
        work();
        least = least.min(begun.elapsed().as_secs_f64());
    }
    least
}

/// Six digits after the point, as the peers' drivers print.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Wall time and the processor time of all threads since the start.
pub(crate) struct Clock {
    wall: Instant,
    cpu: Option<f64>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu_seconds() }
    }

    pub(crate) fn stop(&self) -> (f64, Option<f64>) {
        let cpu = cpu_seconds().zip(self.cpu).map(|(now, then)| now - then);
        (self.wall.elapsed().as_secs_f64(), cpu)
    }
}

/// Processor time of this process, user and system \[s\]; `None` where the system does not tell.
///
/// Linux counts nanoseconds per thread; threads that have ended are left out, and ours live as long as
/// the program.
fn cpu_seconds() -> Option<f64> {
    let mut total = 0.0;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        total += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(1e-9 * total)
}
