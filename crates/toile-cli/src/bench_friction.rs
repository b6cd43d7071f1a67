//! `toile bench friction`: the friction kernel on sheets of cloth, time and iterations by solver.

use std::time::Instant;

use toile::SparseMass;
use toile::cone::{
    FactoredOperator, Problem, Settings, Solution, Status, sheet_problem, solver_named,
};

use crate::args::{BenchArgs, Global};
use crate::bench::Clock;
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts};
use crate::{Failure, Outcome};

/// Sides of the sheets: 1024, 3025 and 10 000 contacts.
const SIDES: [usize; 3] = [32, 55, 100];
const TOLERANCE: f64 = 1e-6;
const FRICTION: f64 = 0.6;
/// A solver that takes longer on one sheet is stopped.
const LIMIT_SECONDS: f64 = 120.0;
/// Contacts up to which the columns of sweeps fit into memory.
const SWEPT: usize = 2500;

pub(crate) fn run(args: &BenchArgs, global: &Global) -> Result<Outcome, Failure> {
    catch_interrupts();
    let sides = args.n.map_or(SIDES.to_vec(), |n| vec![n as usize]);
    let mut outcome = Outcome::Good;
    for side in sides {
        let begun = Instant::now();
        let sheet = sheet_problem(side, FRICTION);
        let mass = SparseMass::new(sheet.unknowns(), 3, &sheet.entries)?;
        let b = sheet.free_velocity(&mass);
        let build = begun.elapsed().as_secs_f64();
        let contacts = sheet.mu.len();
        for name in ["projected-gradient", "newton", "gauss-seidel", "admm", "cadoux"] {
            if args.solver.as_ref().is_some_and(|asked| asked != name) {
                continue;
            }
            let begun = Instant::now();
            let swept = name == "gauss-seidel";
            if swept && contacts > SWEPT {
                continue;
            }
            let operator = if swept {
                FactoredOperator::with_columns(&sheet.rows, &mass)?
            } else {
                FactoredOperator::new(&sheet.rows, &mass)?
            };
            let problem = Problem::new(&operator, &b, &sheet.mu)?;
            let prepare = begun.elapsed().as_secs_f64();
            let Some(solver) = solver_named::<3>(name) else { continue };
            let settings = Settings {
                tolerance: TOLERANCE,
                max_iterations: args.max_steps as usize,
                ..Settings::default()
            };
            let share = std::cell::RefCell::new(Share::new(global.quiet || global.json));
            let clock = Clock::start();
            let watch = |iteration: usize, residual: f64| {
                let seconds = clock.stop().0;
                let what = format!("{name}: iteration {iteration}, residual {residual:.1e}");
                share.borrow_mut().tell((seconds / LIMIT_SECONDS).min(1.0), &what)
                    && seconds < LIMIT_SECONDS
            };
            let found = solver.solve(&problem, None, &settings, &watch);
            share.borrow().finish();
            let (solve, cpu) = clock.stop();
            // Cadoux is a baseline; the others must get there.
            if !found.converged() && name != "cadoux" {
                outcome = Outcome::Doubtful;
            }
            json::print(&line(name, contacts, [build, prepare, solve], cpu, &found).line());
        }
    }
    Ok(outcome)
}

fn line(
    name: &str,
    contacts: usize,
    times: [f64; 3],
    cpu: Option<f64>,
    found: &Solution,
) -> Object {
    let of = |status| found.status.iter().filter(|s| **s == status).count();
    let milliseconds = |seconds: f64| (seconds * 1e4).round() / 10.0;
    Object::default()
        .with("work", "friction")
        .with("solver", name)
        .with("contacts", contacts)
        .with("build_ms", milliseconds(times[0]))
        .with("prepare_ms", milliseconds(times[1]))
        .with("solve_ms", milliseconds(times[2]))
        .with("cpu_ms", cpu.map(milliseconds))
        .with("iterations", found.iterations)
        .with("residual", found.residuals.alart_curnier)
        .with("converged", found.converged())
        .with("off", of(Status::TakeOff))
        .with("stick", of(Status::Stick))
        .with("slip", of(Status::Slip))
}
