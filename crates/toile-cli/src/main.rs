//! The `toile` command line.

mod args;
mod batch;
mod bench;
mod bench_friction;
mod bench_hair;
mod bench_hair_inverse;
mod bench_inverse;
mod bench_measure;
mod bench_motion;
mod bench_random;
mod bench_rods;
mod bench_squares;
mod bench_targets;
mod check;
mod demo;
mod drape;
mod export;
mod files;
mod film;
mod friction;
mod identify;
mod invert;
mod invert_files;
mod json;
mod mixed_drape;
mod mixed_simulate;
mod names;
mod progress;
mod random_scene;
mod rod;
mod rod_invert;
mod rod_rest;
mod rod_simulate;
mod show;
mod simulate;
mod summary;
mod validate;
mod view;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// What the caller's shell is told: 0 good, 1 not certified or with warnings, 2 bad input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Good,
    Doubtful,
    Bad,
}

/// Anything that ends a command with exit code 2, already in words.
#[derive(Debug)]
struct Failure(String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.to_string())
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(threads) = cli.global.threads {
        toile::set_threads(threads as usize);
    }
    let global = &cli.global;
    let outcome = match &cli.command {
        Command::Drape(args) => drape::run(args, global),
        Command::Simulate(args) => simulate::run(args, global),
        Command::Invert(args) => invert::run(args, global),
        Command::View(args) => view::run(args, global),
        Command::Export(args) => export::run(args, global),
        Command::Batch(args) => batch::run(args, global),
        Command::Check(args) => check::run(args, global),
        Command::Validate(protocol) => validate::run(protocol, global),
        Command::Friction(args) => friction::run(args, global),
        Command::Identify(args) => identify::run(args, global),
        Command::Demo(args) => demo::run(args, global),
        Command::Bench(args) => bench::run(args, global),
        Command::Schema => {
            json::print_pretty(&toile::io::scene_schema());
            Ok(Outcome::Good)
        }
    };
    match outcome {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Doubtful) => ExitCode::from(1),
        Ok(Outcome::Bad) => ExitCode::from(2),
        Err(Failure(message)) => {
            json::tell(&format!("error: {message}"));
            ExitCode::from(2)
        }
    }
}
