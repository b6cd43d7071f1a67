//! The words of the command line.

mod look;
mod measure;
mod scene;
mod validate;

use clap::{Args, Parser, Subcommand};

pub(crate) use look::*;
pub(crate) use measure::*;
pub(crate) use scene::*;
pub(crate) use validate::*;

const EXAMPLES: &str = "\
Examples:
  toile demo                              a skirt held by friction alone; look at the files
  toile check dress.obj                   what is wrong with a mesh, in words
  toile check scene.toml                  the same for a whole scene
  toile validate cantilever --out report  is the shell right? tables, figures and a verdict
  toile drape scene.toml --out result     find the equilibrium and certify it
  toile invert dress.toml --out result    find the rest shape that holds the drawn one, and certify it
  toile view result                       look at it: layers, fields, forces, verdict
  toile export result --format usda       for Houdini, Blender and others; see also pc2, mdd, vtk
  toile batch jobs.toml --out results     many scenes: grids of values, folders of garments
  toile friction problem.json --out r     solve contacts with dry friction
  toile schema > scene.schema.json        for editors that complete and check scene files

A scene file:
  [[shell]]
  mesh = \"cloth.obj\"                      # or { generate = \"sheet\", n = 33, size = 1.0 }
  thickness = 0.5e-3                      # SI units throughout
  areal_density = 0.2
  material = { model = \"koiter\", young = 2.0e5, poisson = 0.3 }
  pins = { vertices = [0, 12] }

Exit codes: 0 certified or in order, 1 not certified or with warnings, 2 bad input.";

/// Thin elastic things under gravity: find the shape at rest, and prove that it is one.
#[derive(Debug, Parser)]
#[command(name = "toile", version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Threads to use; all cores by default. The result is the same to the bit.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Print one JSON object on standard output instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress and no summary; errors are still told.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the static equilibrium of a scene and certify it.
    Drape(DrapeArgs),
    /// Let a scene move: cloth, colliders, exact dry friction.
    Simulate(SimulateArgs),
    /// Find the rest shape, or the natural curvatures of fibres, for which a target is a stable equilibrium.
    Invert(InvertArgs),
    /// Look at a result or a scene in the browser.
    View(ViewArgs),
    /// Write the shapes of a result for other programs: point caches, USD, VTK series.
    Export(ExportArgs),
    /// Run many scenes: parameter grids and folders of garments, over several processes.
    Batch(BatchArgs),
    /// Say in words what is wrong with a mesh or a scene.
    Check(CheckArgs),
    /// Measure shells, rods and dry friction against reference curves and judge them.
    #[command(subcommand, after_help = VALIDATE_HELP)]
    Validate(Protocol),
    /// Solve contact problems with dry friction, u = W r + b, and judge the forces.
    Friction(FrictionArgs),
    /// Find how stiff a fibre is for its weight, and its natural shape, from how it hangs in two or more poses.
    Identify(IdentifyArgs),
    /// A drawn skirt that friction alone holds on a body: the whole path in seconds.
    Demo(DemoArgs),
    /// Measure: time and quality on fixed tasks.
    Bench(BenchArgs),
    /// Print the JSON schema of scene files.
    Schema,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("give a positive number, such as 1e-9".into()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("give a number from 0 on, such as 0.3".into()),
    }
}
