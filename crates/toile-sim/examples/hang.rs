//! experiment
use std::time::Instant;
use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::{Vec3, generate, measure::NormalRule};
use toile_sim::*;
use toile_solve::*;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let start = &args[2];
    let normals = match args[3].as_str() {
        "avg" => NormalRule::Average,
        "sin" => NormalRule::Sin,
        _ => NormalRule::Tan,
    };
    let strategy: usize = args[4].parse().unwrap();
    let maxit: usize = args[5].parse().unwrap();
    let mesh = generate::sheet(n, 1.0);
    let (eh, nu, d) = (1000.0, 0.3, 1e-5);
    let h = (12.0f64 * (1.0 - nu * nu) * d / eh).sqrt();
    let rest = mesh.positions.clone();
    let pos: Vec<Vec3> = match start.as_str() {
        "flat" => rest.clone(),
        _ => rest
            .iter()
            .enumerate()
            .map(|(i, p)| {
                Vec3::new(p.x, 0.0 * ((i * 7919 % 1000) as f64 / 1000.0 - 0.5), p.y - 0.5)
            })
            .collect(),
    };
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: pos,
        rest_positions: rest,
        material: ShellMaterial::Koiter {
            stiffness: ShellStiffness::isotropic(eh / h, nu, h),
            normals,
            membrane: Membrane::StVenantKirchhoff,
            warp: Vec3::x(),
        },
        areal_density: 0.2,
        pins: vec![((n - 1) * n) as u32, (n * n - 1) as u32],
    };
    let t = Instant::now();
    let mut b = ModelBuilder::new();
    let nodes = shell.add_to(&mut b, Vec3::new(0.0, 0.0, -9.81)).unwrap();
    let model = b.build().unwrap();
    println!("build {:?} n={} nnz={}", t.elapsed(), model.len(), model.pattern().nnz());
    let settings = NewtonSettings { tolerance: 1e-9, max_steps: maxit, corrections: strategy };
    let m = equilibrium(&model, model.start(), &settings, |s| {
        if s.step % 10 == 0 || maxit < 40 {
            println!(
                "{:4} E {:.10} res {:.3e} len {:.2e} tau {:.1e} exact {} moves {}",
                s.step, s.energy, s.residual, s.length, s.shift, s.exact, s.moves
            );
        }
        true
    })
    .unwrap();
    println!("{:?}", m.certificate);
    let x = &m.state;
    let low = (0..n * n)
        .map(|v| model.position(&x, nodes.vertices + v as u32).z)
        .fold(f64::INFINITY, f64::min);
    let t = m.timings;
    println!(
        "{:?} steps {} fac {} escapes {} time {:.2?} analysis {:.2?} assembly {:.2?} factor {:.2?} solve {:.2?} eval {:.2?} res {:.1e} lowest {low:.6} E {:.12} moves {}",
        m.stop,
        m.history.len(),
        m.factorisations,
        m.escapes,
        t.total,
        t.analysis,
        t.assembly,
        t.factorisation,
        t.solve,
        t.evaluation,
        m.certificate.residual,
        m.energy,
        m.history.iter().map(|s| s.moves).sum::<usize>()
    );
}
