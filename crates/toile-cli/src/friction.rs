//! `toile friction`: contact problems with dry friction, solved and judged.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use toile::cone::{Settings, Solution, Status, Stop};
use toile::io::{
    FrictionAnswer, FrictionFile, FrictionProblem, export_friction, read_friction, write_friction,
};

use crate::args::{FrictionArgs, Global};
use crate::drape::make_folder;
use crate::json::{self, Object};
use crate::progress::{Share, catch_interrupts};
use crate::{Failure, Outcome, show};

pub(crate) fn run(args: &FrictionArgs, global: &Global) -> Result<Outcome, Failure> {
    let file = read_friction(&args.problem)?;
    if let Some(path) = &args.export {
        prepare_export(path)?;
    }
    let told = !global.quiet && !global.json;
    if told && !file.unused_keys.is_empty() {
        json::tell(&format!("note: keys without a meaning here: {}", few(&file.unused_keys)));
    }
    let Some(out) = &args.out else { return convert(args, global, &file) };
    make_folder(out)?;
    // Copies with solutions bear the names of the files they were read from.
    let same = |a: &Path, b: &Path| a.canonicalize().ok() == b.canonicalize().ok();
    if args.problem.is_dir() && same(&args.problem, out) {
        let shown = out.display();
        return Err(Failure(format!(
            "--out {shown} is the folder of the problems, which would be replaced; choose another"
        )));
    }
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
    let mut bodies = Vec::new();
    for (problem, solution) in file.problems.iter().zip(&found) {
        bodies.push(toile::body_velocities(problem, &solution.r)?);
    }
    let answers: Vec<FrictionAnswer<'_>> = found
        .iter()
        .zip(&bodies)
        .map(|(solution, v)| FrictionAnswer { solution, bodies: v.as_deref() })
        .collect();
    let mut names = write_friction(out, &file, &args.solver, &answers)?;
    let exported = match &args.export {
        Some(path) => shown(&export_friction(path, &file, Some(&answers))?),
        None => Vec::new(),
    };
    let good = found.iter().filter(|s| s.converged()).count();
    let seconds = begun.elapsed().as_secs_f64();
    let mut account =
        show::of_friction(&file.problems, &found, &args.solver, args.tolerance, seconds);
    let name = args.problem.file_name().unwrap_or(args.problem.as_os_str());
    account.title = format!("friction {}", name.to_string_lossy());
    account.write(out, &names)?;
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
            out.display(),
            few(&names)
        ));
        if !exported.is_empty() {
            json::print(&format!("problems and solutions as FCLib files: {}", few(&exported)));
        }
        tell_left_out(&file);
        let endless = found.iter().filter(|s| s.stop == Stop::Unbounded).count();
        if endless > 0 {
            json::print(
                "where forces grow without end none may obey the law: two contacts that press the same thing from two sides, \
                 or rows of W that are zero while b presses; look at u of solution.json, it tells what stays open",
            );
        }
        if good + endless < count {
            json::print("not all: raise --max-iterations or try --solver auto or admm");
        }
    }
    Ok(if good == count { Outcome::Good } else { Outcome::Doubtful })
}

fn shown(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|f| f.display().to_string()).collect()
}

/// The first names of a list that may be long.
fn few(names: &[String]) -> String {
    match names.len() {
        0..=10 => names.join(", "),
        n => format!("{}, … and {} more", names[..8].join(", "), n - 8),
    }
}

/// Says what copies of FCLib files do not have.
fn tell_left_out(file: &FrictionFile) {
    let left_out = file.left_out();
    if let Some(first) = left_out.first() {
        let more = match left_out.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        json::tell(&format!("note: not copied, since it cannot be read here: {first}{more}"));
    }
}

/// Sees to it, before anything is solved, that the files can be written.
fn prepare_export(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    if !["hdf5", "h5"].contains(&ending) {
        let path = path.display();
        return Err(Failure(format!("--export {path}: give a name that ends in .hdf5 or .h5")));
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => make_folder(folder),
        _ => Ok(()),
    }
}

/// Writes the problems as FCLib files and nothing else.
fn convert(args: &FrictionArgs, global: &Global, file: &FrictionFile) -> Result<Outcome, Failure> {
    let Some(path) = &args.export else {
        return Err(Failure("give --out DIR to solve, --export FILE to convert, or both".into()));
    };
    let names = shown(&export_friction(path, file, None)?);
    if global.json {
        let count = file.problems.len();
        json::print(&Object::default().with("problems", count).with("files", names).line());
    } else if !global.quiet {
        json::print(&format!("written as FCLib files, not solved: {}", few(&names)));
        tell_left_out(file);
    }
    Ok(Outcome::Good)
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
        if found.converged() { String::new() } else { format!(": {}", show::ended(found.stop)) }
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
