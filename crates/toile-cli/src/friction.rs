//! `toile friction`: contact problems with dry friction, solved and judged.

use std::cell::RefCell;
use std::time::Instant;

use toile::cone::{Settings, Solution, Status};
use toile::io::{FrictionProblem, read_friction, write_friction};

use crate::args::{FrictionArgs, Global};
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts};
use crate::{Failure, Outcome, show};

pub(crate) fn run(args: &FrictionArgs, global: &Global) -> Result<Outcome, Failure> {
    let file = read_friction(&args.problem)?;
    make_folder(&args.out)?;
    catch_interrupts();
    let begun = Instant::now();
    let settings = Settings {
        tolerance: args.tolerance,
        max_iterations: args.max_iterations as usize,
        // Residuals are measured by the largest force, at least 1, as in published tables.
        force_floor: Some(1.0),
        ..Settings::default()
    };
    let share = RefCell::new(Share::new(global.quiet || global.json));
    let count = file.problems.len();
    let mut found: Vec<Solution> = Vec::new();
    for (k, problem) in file.problems.iter().enumerate() {
        let watch = |iteration: usize, residual: f64| {
            let what =
                format!("problem {}: iteration {iteration}, residual {residual:.1e}", problem.id);
            share.borrow_mut().tell(k as f64 / count as f64, &what)
        };
        let solver = args.solver.as_str();
        found.push(toile::solve_friction(problem, solver, &settings, &watch)?);
    }
    share.borrow().finish();
    let mut names = write_friction(&args.out, &file, &args.solver, &found)?;
    let good = found.iter().filter(|s| s.converged()).count();
    let seconds = begun.elapsed().as_secs_f64();
    let mut account =
        show::of_friction(&file.problems, &found, &args.solver, args.tolerance, seconds);
    let name = args.problem.file_name().unwrap_or(args.problem.as_os_str());
    account.title = format!("friction {}", name.to_string_lossy());
    account.write(&args.out, &names)?;
    names.push(show::REPORT.into());
    if global.json {
        json::print(&line(args, &file.problems, &found, seconds).line());
    } else if !global.quiet {
        for (problem, solution) in file.problems.iter().zip(&found) {
            json::print(&text(problem, solution));
        }
        json::print(&format!(
            "{good} of {count} within {:.0e} by {} in {seconds:.2} s; written to {}: {}",
            args.tolerance,
            args.solver,
            args.out.display(),
            names.join(", ")
        ));
        if good < count {
            json::print("not all: raise --max-iterations or try --solver auto or admm");
        }
    }
    Ok(if good == count { Outcome::Good } else { Outcome::Doubtful })
}

fn text(problem: &FrictionProblem, found: &Solution) -> String {
    let of = |status| found.status.iter().filter(|s| **s == status).count();
    format!(
        "problem {:>4}: {:3} contacts ({} off, {} stick, {} slip), residual {:.1e} after {} iterations{}",
        problem.id,
        problem.contacts(),
        of(Status::TakeOff),
        of(Status::Stick),
        of(Status::Slip),
        found.residuals.alart_curnier,
        found.iterations,
        if found.converged() { String::new() } else { format!(": {:?}", found.stop) }
    )
}

fn line(
    args: &FrictionArgs,
    problems: &[FrictionProblem],
    found: &[Solution],
    seconds: f64,
) -> Object {
    let worst = |f: fn(&Solution) -> f64| found.iter().map(f).fold(0.0, f64::max);
    Object::default()
        .with("solver", args.solver.as_str())
        .with("problems", problems.len())
        .with("converged", found.iter().filter(|s| s.converged()).count())
        .with("tolerance", args.tolerance)
        .with("alart_curnier", worst(|s| s.residuals.alart_curnier))
        .with("de_saxce", worst(|s| s.residuals.de_saxce))
        .with("fischer_burmeister", worst(|s| s.residuals.fischer_burmeister))
        .with("natural_map", worst(|s| s.residuals.natural_map))
        .with("iterations", found.iter().map(|s| s.iterations).sum::<usize>())
        .with("seconds", seconds)
}
