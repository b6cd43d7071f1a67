//! Arguments of the commands that take a scene.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use toile::Start;
use toile::inverse::reference::{Forces, Optimiser, ReferenceSettings};

use super::{LiveArgs, positive};

const DRAPE_HELP: &str = "\
Writes into DIR, in the units and axes of the input and with its vertex order:
  equilibrium.obj       the shape; with several shells all joined, and equilibrium_0.obj, … apart
  equilibrium.ply       with stretch, bending [1/m], stress (largest tension) [N/m] and residual [N] per vertex
  equilibrium.vtp       the same for ParaView
  equilibrium.png       a picture
  equilibrium.glb       for viewers, in metres with y up, coloured by stretch
  certificate.json      is it an equilibrium? figures, verdict and reason
  contacts.jsonl        with colliders or self-contact: place, normal and force [N] of every contact
  log.jsonl             one line per Newton step, and where the time went
  report.html           all of it on one page: pictures, plots, the certificate in words
For rods: rod_0.csv, … with s,x,y,z and the frame d1, d2, d3 at --stations points, and certificate.json.

On colliders, or with [self_contact], the cloth first falls with exact friction until it rests, which takes longer;
colliders that move stand still where they start. What touches inside its faces and edges, or itself, is then
simulated for a fifth of a second, or for --drift, and not certified where that moves it.

Ctrl-C stops after the current step and writes the best shape so far; a second one stops at once.

Examples:
  toile drape scene.toml --out result
  toile drape scene.toml --out result --json | jq .verdict
  toile drape scene.toml --out result --tolerance 1e-8 --max-steps 50
  toile drape hair.toml --out result --minutes 60    thousands of strands may fall longer than ten minutes
  toile drape scene.toml --out result --drift 1      and show that it stays for a second of exact motion
  toile drape scene.toml --out result --view         watch the solver in the browser, then look at the result

Exit codes: 0 certified, 1 not certified (the best shape is written all the same), 2 bad input.";

#[derive(Debug, Args)]
#[command(after_help = DRAPE_HELP)]
pub(crate) struct DrapeArgs {
    /// The scene, TOML or JSON.
    pub(crate) scene: PathBuf,
    /// Folder for the results; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Points of a rod's table, from clamp to tip [default: 21].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) stations: Option<u32>,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    /// Push cloth and drawn fibres that start inside colliders out of them first, and part layers that pass through each other where there is `self_contact`.
    #[arg(long)]
    pub(crate) push_out: bool,
    /// Time after which the best so far is judged and written [default: 10 for fibres without cloth, else none].
    #[arg(long, value_name = "MINUTES", value_parser = positive)]
    pub(crate) minutes: Option<f64>,
    /// Simulate this long from the result with exact friction and say how far it moves [default: not at all].
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) drift: Option<f64>,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

const BATCH_HELP: &str = "\
A job list:
  command = \"invert\"                     # or drape, simulate
  scene = \"skirt.toml\"                   # the scene all jobs start from, or several: [\"a.toml\", \"b.toml\"]
  arguments = [\"--no-drift\"]              # for the command, optional
  retries = 1                             # times a job that crashed or ran out of time is tried again
  timeout = 600                           # seconds for a job, optional
  [meshes]                                # optional: a job for every file, put at a key of the scene
  \"shell[0].mesh\" = \"garments/*.obj\"
  [grid]                                  # optional: a job for every combination of values
  \"shell[0].material.young\" = [1e5, 1e6]
  \"collider[0].friction\" = [0.3, 0.5, 0.7]

Writes into DIR: a folder for every job with what its command writes, summary.csv and summary.json with a row per job
(values, state, verdict, residual, …). A job that is done is not done again: after Ctrl-C, a crash or a change of the
list the same command goes on with what is missing (--restart begins anew). Jobs run on one thread each.

On many machines: `--list` prints the names of all jobs, `--only NAME` runs one, so a SLURM array, GNU parallel or Dask
(see toile.batch of the Python package) can share the work and the folder.

Exit codes: 0 all certified, 1 some are not, 2 bad input.";

#[derive(Debug, Args)]
#[command(after_help = BATCH_HELP)]
pub(crate) struct BatchArgs {
    /// The job list, TOML.
    pub(crate) jobs: PathBuf,
    /// Folder for the results; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Jobs at the same time [default: as many as there are cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,
    /// Do again what is done.
    #[arg(long)]
    pub(crate) restart: bool,
    /// Print the names of all jobs and do nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Run these jobs only; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Write the summary of what is done and run nothing.
    #[arg(long)]
    pub(crate) collect: bool,
}

const SIMULATE_HELP: &str = "\
The scene needs a table [time] (step, duration; also frame, integrator, damping by still air [1/s],
newton_steps); a [[shell]] may have a velocity and a damping inside its material [s]. It has
[[collider]] tables (mesh, plane, sphere, cylinder, capsule, cone, box, torus; friction, gap, motion) and
[self_contact] (friction, thickness) as wanted.

Writes into DIR:
  frame_00000.obj …     the cloth, in the units and axes of the input; with several shells frame_00000_0.obj …
  contacts.jsonl        one line per contact and frame: point, normal, force [N], stick or slip
  steps.jsonl           one line per step: energies [J], contacts, Newton steps, error of the law
  summary.json          time per step and its parts, errors, energies
  last.png              a picture of the end
  checkpoint.txt        where to go on with --resume, to the same bits
  report.html           pictures, energies, contacts and times on one page
Fibres ([[rod]], [[hair]]), alone or with cloth: frames of them are polylines, contacts say which fibres touch.

Ctrl-C stops after the current step.

Examples:
  toile simulate scene.toml --out motion
  toile simulate scene.toml --out motion --resume
  toile simulate scene.toml --out motion --view

Exit codes: 0 done, 1 stopped early or cloth had to be held before a collision, 2 bad input.";

#[derive(Debug, Args)]
#[command(after_help = SIMULATE_HELP)]
pub(crate) struct SimulateArgs {
    /// The scene, TOML or JSON.
    pub(crate) scene: PathBuf,
    /// Folder for the results; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Go on from the last frame in DIR.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Move cloth and drawn fibres that start inside a collider to its surface first, and part layers that pass through each other where there is `self_contact`.
    #[arg(long)]
    pub(crate) push_out: bool,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

const INVERT_HELP: &str = "\
The meshes of the scene are the target: where the garment should be when it hangs on the [[collider]] bodies or from
its pins. Vertices nearer to a collider than its gap and `contact_tolerance` of a table [invert] touch it, with dry friction.

Writes into DIR, in the units and axes of the input and with its vertex order:
  rest.obj              the shape to make; with several shells rest_0.obj, …
  equilibrium.obj       where it then hangs
  contacts.ply          the contact forces [N], with normals and the part of the friction they use
  certificate.json      is it a stable equilibrium? figures, verdict and reason
  maps.ply, maps.vtp    stretch, bending [1/m], stress [N/m], residual [N], distance from the target [m] per vertex
  edges.csv             stretch and bend [rad] per edge
  inversion.glb         target, rest shape, equilibrium and the target made as drawn, side by side
  simulation.toml       a scene for `toile simulate`: it should stay where it is
  forces.csv            what each contact carries, from where that simulation starts (certified results)
  log.jsonl             one line per step
  report.html           all of it on one page: pictures, plots, the certificate in words

Scenes of fibres have a table [[rod]] with `curve = \"strand.obj\"`, or [[hair]] with `strands = \"hair.obj\"` (also .ply with strand
numbers, .hair, .tfx), and write
  equilibrium.obj       the fitted fibres, as polylines
  rest.obj              their natural shapes
  rod_0.csv …           s,x,y,z and the frame at 21 stations (the first 100 fibres)
  natural_0.csv …       natural curvatures s,k1,k2,twist
  inverted.toml         a scene whose drape is the drawn shape (super-clothoids that touch nothing)
  certificate.json      forces, stability, distance from the drawing, verdict and reason

Ctrl-C stops after the current step and writes the best so far; a second one stops at once.

Examples:
  toile invert dress.toml --out result
  toile invert dress.toml --out result --json | jq .verdict
  toile invert dress.toml --out result --view
  toile simulate result/simulation.toml --out motion

Exit codes: 0 certified, 1 not certified (the best is written all the same), 2 bad input.";

#[derive(Debug, Args)]
#[command(after_help = INVERT_HELP)]
pub(crate) struct InvertArgs {
    /// The scene, TOML or JSON.
    pub(crate) scene: PathBuf,
    /// Folder for the results; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Steps at most [default: the scene's, or 200].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// Do not simulate the result.
    #[arg(long)]
    pub(crate) no_drift: bool,
    /// Hair: move strands that go through a collider to its surface first; drawn cloth always is.
    #[arg(long)]
    pub(crate) push_out: bool,
    /// Time after which the best so far is judged and written.
    #[arg(long, value_name = "MINUTES", default_value_t = 10.0, value_parser = positive)]
    pub(crate) minutes: f64,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    /// How the rest shape is sought: by the fast way, or by the published algorithm with one of its optimisers.
    #[arg(long, value_enum, default_value_t = Method::Fast)]
    pub(crate) method: Method,
    /// With a published method: start from the target without its folds.
    #[arg(long)]
    pub(crate) flat_start: bool,
}

/// Ways to a rest shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// All at once, sparse: the default.
    Fast,
    /// As published: draping function, adjoint gradient, L-BFGS, then the Coulomb correction.
    Reference,
    /// The same with Gauss–Newton steps, matrix-free.
    GaussNewton,
    /// The same with the direct-adjoint Hessian.
    Newton,
    /// One problem: distance and forces outside their cones.
    OneShot,
    /// Contacts as pins, forces as they come.
    Pins,
}

impl Method {
    /// The settings of a published method; none for the fast one.
    pub(crate) fn published(self, flat_start: bool) -> Option<ReferenceSettings> {
        let settings = match self {
            Method::Fast => return None,
            Method::Reference => ReferenceSettings::default(),
            Method::GaussNewton => ReferenceSettings::with_optimiser(Optimiser::GaussNewton),
            Method::Newton => ReferenceSettings::with_optimiser(Optimiser::Newton),
            Method::OneShot => ReferenceSettings::with_forces(Forces::OneShot),
            Method::Pins => ReferenceSettings::with_forces(Forces::Pins),
        };
        Some(ReferenceSettings { flat_start, ..settings })
    }
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct SolverArgs {
    /// Largest force left at a vertex, relative to the mean weight of a vertex [default: the scene's, or 1e-9].
    #[arg(long, value_name = "RESIDUAL", value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// Newton steps at most [default: the scene's, or 500].
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<u32>,
}

const CHECK_HELP: &str = "\
Examples:
  toile check dress.obj
  toile check dress.obj --scale 0.01      the file is in centimetres
  toile check scene.toml --json
  toile check problem.hdf5                friction problems: JSON or FCLib

Exit codes: 0 in order (perhaps with notes), 1 warnings, 2 errors.";

#[derive(Debug, Args)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArgs {
    /// A mesh (.obj, .ply, .stl, .gltf, .glb), a scene (.toml, .json) or a friction problem (.json, .hdf5).
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// Length of one unit of a mesh file in metres; scenes have a key of that name.
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub(crate) scale: Option<f64>,
}

const DEMO_HELP: &str = "\
Examples:
  toile demo
  toile demo --n 65 --out fine
  toile invert toile-demo/scene.toml --out toile-demo    after editing the scene";

#[derive(Debug, Args)]
#[command(after_help = DEMO_HELP)]
pub(crate) struct DemoArgs {
    /// Folder for the scene and the results.
    #[arg(long, short, value_name = "DIR", default_value = "toile-demo")]
    pub(crate) out: PathBuf,
    /// Vertices around the waist; half as many rows.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(36..=400))]
    pub(crate) n: u32,
}

/// What is done with what starts inside colliders.
fn start(push_out: bool) -> Start {
    if push_out { Start::PushOut } else { Start::AsGiven }
}

impl DrapeArgs {
    /// Whether there is time left, of so many minutes where none are asked for.
    pub(crate) fn in_time(&self, clock: &Instant, otherwise: f64) -> bool {
        clock.elapsed().as_secs_f64() <= 60.0 * self.minutes.unwrap_or(otherwise)
    }

    pub(crate) fn start(&self) -> Start {
        start(self.push_out)
    }
}

impl SimulateArgs {
    pub(crate) fn start(&self) -> Start {
        start(self.push_out)
    }
}

impl InvertArgs {
    pub(crate) fn start(&self) -> Start {
        start(self.push_out)
    }
}
