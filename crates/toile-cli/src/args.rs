//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use toile::inverse::reference::{Forces, Optimiser, ReferenceSettings};
use toile::validate::protocol::ShellModel;

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
    /// Measure shells against reference curves and judge them.
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
colliders that move stand still where they start.

Ctrl-C stops after the current step and writes the best shape so far; a second one stops at once.

Examples:
  toile drape scene.toml --out result
  toile drape scene.toml --out result --json | jq .verdict
  toile drape scene.toml --out result --tolerance 1e-8 --max-steps 50
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
    /// Push cloth that starts inside colliders out of them first.
    #[arg(long)]
    pub(crate) push_out: bool,
    /// Simulate this long from the result with exact friction and say how far it moves [default: not at all].
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) drift: Option<f64>,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

const VIEW_HELP: &str = "\
Serves a page on this machine only, under an address with a secret in it, prints that address and opens it. Layers side by
side, fields as colours, contact forces with their cones, time line, plots, the certificate in words.
Ctrl-C ends it. A folder that holds only a report (of validate or friction) has that opened.

Examples:
  toile view toile-demo
  toile view motion --no-open             print the address only
  toile view scene.toml                   what a scene starts from

Mouse: drag turns, right drag shifts, wheel zooms. Keys: 1 3 7 (with Ctrl from behind), 4 6 8 2 turn, 5 parallel, . frame all,
Z wireframe, space play, arrows one frame, P picture, N panel.";

#[derive(Debug, Args)]
#[command(after_help = VIEW_HELP)]
pub(crate) struct ViewArgs {
    /// The folder of a result, or a scene.
    #[arg(value_name = "DIR|SCENE")]
    pub(crate) what: PathBuf,
    /// Print the address, open nothing.
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// Watching a command while it runs.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct LiveArgs {
    /// Watch it in the browser while it runs, with a stop button there; stays until Ctrl-C.
    #[arg(long)]
    pub(crate) view: bool,
    /// With --view: print the address, open nothing.
    #[arg(long, requires = "view")]
    pub(crate) no_open: bool,
}

const EXPORT_HELP: &str = "\
Reads the frames of `toile simulate` (frame_00000.obj, …), or rest.obj and equilibrium.obj of `toile invert` as two frames,
or equilibrium.obj of `toile drape` as one, and writes beside them (or into --to):
  pc2    shell.pc2 and shell.obj: Blender, Mesh Cache modifier (also 3ds Max, Maya)
  mdd    shell.mdd and shell.obj: the same in the older format, with times
  usda   shapes.usda: USD text with time samples, for Houdini, Blender, Maya, Omniverse
  vtk    shapes.pvd and shapes_00000.vtp, …: ParaView, with times
With several shells: shell_0.pc2, …; USD and VTK hold all of them.

Examples:
  toile export motion --format pc2
  toile export motion --format usda --up y --unit 0.01 --to houdini";

#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub(crate) struct ExportArgs {
    /// The folder of a result.
    pub(crate) dir: PathBuf,
    /// What to write.
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// Folder for the files [default: the folder of the result].
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Frames per second [default: as simulated, 24 for shapes without time].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) fps: Option<f64>,
    /// The upward axis of the files, told to USD: z or y.
    #[arg(long, value_enum, default_value_t = UpAxis::Z)]
    pub(crate) up: UpAxis,
    /// Length of one unit of the files, told to USD [m].
    #[arg(long, value_name = "METRES", default_value_t = 1.0, value_parser = positive)]
    pub(crate) unit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Pc2,
    Mdd,
    Usda,
    Vtk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpAxis {
    Z,
    Y,
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
The scene needs a table [time] (step, duration; also frame, integrator, damping, newton_steps) and has
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
Fibres ([[rod]], [[hair]]): frames are polylines, contacts say which fibres touch; there is no --resume for them.

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
    /// Move cloth that starts inside a collider to its surface first.
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
  log.jsonl             one line per step
  report.html           all of it on one page: pictures, plots, the certificate in words

Scenes of fibres have a table [[rod]] with `curve = \"strand.obj\"`, or [[hair]] with `strands = \"hair.obj\"` (also .ply with strand
numbers, .hair, .tfx), and write
  equilibrium.obj       the fitted fibres, as polylines
  rest.obj              their natural shapes
  rod_0.csv …           s,x,y,z and the frame at 21 stations (the first 100 fibres)
  natural_0.csv …       natural curvatures s,k1,k2,twist
  inverted.toml         a scene whose drape is the drawn shape (super-clothoids)
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

Exit codes: 0 in order (perhaps with notes), 1 warnings, 2 errors.";

#[derive(Debug, Args)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct CheckArgs {
    /// A mesh (.obj, .ply, .stl, .gltf, .glb) or a scene (.toml, .json).
    #[arg(value_name = "MESH|SCENE")]
    pub(crate) path: PathBuf,
    /// Length of one unit of a mesh file in metres; scenes have a key of that name.
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub(crate) scale: Option<f64>,
}

const VALIDATE_HELP: &str = "\
Each writes a table (CSV), figures (SVG) and report.html into DIR and prints OK or KO by its tolerance.

Examples:
  toile validate cantilever --out report
  toile validate cantilever --out report --nu 0 --gammas 0.1,10,1000 --models koiter-tan --resolutions 60,120
  toile validate lateral-buckling --out report --w-over-l 0.2,0.5 --nu 0.35
  toile validate rotation --out report --quick
  toile validate shells --out report --cases end-shear,hemisphere
  toile validate incline --out report --mu-over-tan 1.05,0.95 --triangles 722
  toile validate cylinder --out report --offset 0.64
  toile validate buckling --out report --elements 16,64

Models: koiter-average, koiter-sin, koiter-tan, ds-hinge. Exit codes: 0 OK, 1 KO, 2 bad input.";

#[derive(Debug, Subcommand)]
pub(crate) enum Protocol {
    /// A strip bent by its weight, against the elastica: cantilever.csv.
    Cantilever(CantileverArgs),
    /// The weight at which a strip on edge leaves its plane: lateral_buckling.csv.
    LateralBuckling(BucklingArgs),
    /// A clamp turned from the one to the other: rotation.csv.
    Rotation(RotationArgs),
    /// Large bending of shells against published curves.
    Shells(ShellsArgs),
    /// Sheets on a slope stick without creep or slide as blocks do: incline.csv.
    Incline(InclineArgs),
    /// The friction at which cloth slips over a cylinder, against the weighted capstan: cylinder.csv.
    Cylinder(CylinderArgs),
    /// Tensions of a belt on a turning drum, against e^(μφ): capstan.csv.
    Capstan(CapstanArgs),
    /// A strip pushed against the ground until its tip slips, against the elastica: stick_slip.csv.
    StickSlip(StickSlipArgs),
    /// Heavy rods against the elastica: rod_cantilever.csv.
    RodCantilever(RodProtocolArgs),
    /// How errors of rods fall with their elements: rod_orders.csv.
    RodOrders(RodProtocolArgs),
    /// Frequencies of a clamped rod against those of a beam: frequencies.csv.
    Frequencies(RodProtocolArgs),
    /// Euler, Greenhill, Prandtl-Michell and the twisted ring: buckling.csv.
    Buckling(RodProtocolArgs),
    /// The natural curvature at which a hanging rod leaves its plane: bend_twist.csv.
    BendTwist(RodProtocolArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Folder for tables and figures; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Poisson's ratios.
    #[arg(long, value_delimiter = ',', value_name = "LIST", allow_negative_numbers = true)]
    pub(crate) nu: Option<Vec<f64>>,
    /// Shell models.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) models: Option<Vec<ShellModel>>,
    /// Vertices along the length, coarsest first.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) resolutions: Option<Vec<usize>>,
    /// Allowed relative deviation at the finest resolution.
    #[arg(long, value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// Few points on coarse meshes: seconds instead of minutes.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// What the protocols of friction share.
#[derive(Debug, Args)]
pub(crate) struct FrictionCommon {
    /// Folder for tables and figures; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Time step in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) dt: Option<f64>,
    /// Allowed relative deviation.
    #[arg(long, value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// Few points on coarse meshes: seconds instead of minutes.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// What the protocols of rods share.
#[derive(Debug, Args)]
pub(crate) struct RodProtocolArgs {
    /// Folder for tables and figures; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Elements, coarsest first; the finest is judged [default: 4,8,16,32,64].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) elements: Option<Vec<usize>>,
    /// Allowed relative deviation [default: 0.005].
    #[arg(long, value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// Fewer resolutions.
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InclineArgs {
    #[command(flatten)]
    pub(crate) common: FrictionCommon,
    /// Slope in degrees [default: 10].
    #[arg(long, value_name = "DEGREES", value_parser = positive)]
    pub(crate) slope_deg: Option<f64>,
    /// Triangles of the square sheets, even numbers [default: 2,722,1322].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) triangles: Option<Vec<usize>>,
    /// Headings of the slope in the axes of the sheet, in degrees [default: five, 72° apart].
    #[arg(long, value_delimiter = ',', value_name = "LIST", allow_negative_numbers = true)]
    pub(crate) headings_deg: Option<Vec<f64>>,
    /// Speeds shared by sheet and slope in metres per second [default: 0,10].
    #[arg(long, value_delimiter = ',', value_name = "LIST", allow_negative_numbers = true)]
    pub(crate) common_speeds: Option<Vec<f64>>,
    /// Coefficients of friction over the tangent of the slope: above 1 it must stick, below slide
    /// [default: 1.001,0.999].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) mu_over_tan: Option<Vec<f64>>,
    /// How long it must stick, in seconds [default: 10].
    #[arg(long, value_parser = positive)]
    pub(crate) seconds: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct CylinderArgs {
    #[command(flatten)]
    pub(crate) common: FrictionCommon,
    /// Radius of the cloth on the cylinder in metres [default: 0.5].
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub(crate) radius: Option<f64>,
    /// Length of the cloth in metres [default: 4].
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub(crate) length: Option<f64>,
    /// How much lower one end hangs, in metres [default: 0.8].
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub(crate) offset: Option<f64>,
    /// Coefficients of friction to try besides the search [default: 0.12,0.13,0.14,0.15,0.16].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) mu: Option<Vec<f64>>,
    /// Cells along the cloth, one search each [default: 40,80,160].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) resolutions: Option<Vec<usize>>,
}

#[derive(Debug, Args)]
pub(crate) struct CapstanArgs {
    #[command(flatten)]
    pub(crate) common: FrictionCommon,
    /// Coefficients of friction [default: 0.1,0.3,0.5].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) mu: Option<Vec<f64>>,
    /// Angles on the drum in degrees [default: 90,180].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) wraps_deg: Option<Vec<f64>>,
    /// Rows of vertices on the drum [default: 4,10,50].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) contacts: Option<Vec<usize>>,
}

#[derive(Debug, Args)]
pub(crate) struct StickSlipArgs {
    #[command(flatten)]
    pub(crate) common: FrictionCommon,
    /// Coefficients of friction, up to 0.356 [default: 0.05,0.1,...,0.35].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) mu: Option<Vec<f64>>,
    /// Cells along the strip, coarsest first [default: 25,50].
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) resolutions: Option<Vec<usize>>,
    /// Length of the strip in metres [default: 0.2].
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub(crate) length: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct CantileverArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Loads Γ* = ρ g h L³ / D.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) gammas: Option<Vec<f64>>,
    /// Lengths of the strips in metres; one specimen per ν and length.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) lengths: Option<Vec<f64>>,
    /// Width over length.
    #[arg(long, value_parser = positive)]
    pub(crate) w_over_l: Option<f64>,
    /// Thickness over length.
    #[arg(long, value_parser = positive)]
    pub(crate) h_over_l: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct BucklingArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Widths over length.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) w_over_l: Option<Vec<f64>>,
    /// Thickness over length.
    #[arg(long, value_parser = positive)]
    pub(crate) h_over_l: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct RotationArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Steps from 90° to 0°.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) steps: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellCase {
    /// Strip bent by a force at its end.
    EndShear,
    /// Strip rolled up by a moment at its end.
    EndMoment,
    /// Hemisphere with a hole, pinched.
    Hemisphere,
    /// Roof under its weight.
    ScordelisLo,
}

#[derive(Debug, Args)]
pub(crate) struct ShellsArgs {
    /// Folder for tables and figures; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Which cases.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "end-shear,end-moment,hemisphere,scordelis-lo"
    )]
    pub(crate) cases: Vec<ShellCase>,
    /// Cells along the longer side, one mesh each; each case has its own by default.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(crate) resolutions: Option<Vec<usize>>,
    /// Allowed relative deviation at the finest mesh.
    #[arg(long, value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
}

const FRICTION_HELP: &str = "\
A problem file, components of a contact normal first (in newton-seconds and metres per second, say):
  { \"n\": 1, \"mu\": [0.5], \"W\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"b\": [-1, 2, 0] }
asks for r and u = W r + b so that each contact takes off (r = 0, u_N >= 0), sticks (u = 0, r inside its
cone) or slips (r on the cone, u_T against it). \"mu\" may be one number for all contacts, \"dimension\" 2, 3
or 6. A set is { \"problems\": [ ... ] }, each with an \"id\".

Solvers:
  auto                  Gauss-Seidel, then ADMM, Newton and projected gradient until one succeeds
  gauss-seidel          each contact solved exactly in turn
  newton                semismooth Newton on the Alart-Curnier function
  admm                  one factorisation, then a projection each time; good on hyperstatic problems
  projected-gradient    only products with W
  cadoux                a sequence of convex problems
  faceted               pyramids instead of cones: a baseline, not exact

Writes into DIR:
  solution.json         r, u, status (O off, T stick, S slip), residuals, iterations; per problem of a set
  answers.json          for a set: the forces by id
  report.html           convergence, use of the cones and a table on one page

Examples:
  toile friction problem.json --out result
  toile friction problems.json --solver admm --tolerance 1e-12 --out result --json

Exit codes: 0 all within the tolerance, 1 not all (the best forces are written all the same), 2 bad input.";

#[derive(Debug, Args)]
#[command(after_help = FRICTION_HELP)]
pub(crate) struct FrictionArgs {
    /// One problem or a set, JSON.
    pub(crate) problem: PathBuf,
    /// Folder for the results; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// How to solve.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = clap::builder::PossibleValuesParser::new(toile::cone::SOLVER_NAMES))]
    pub(crate) solver: String,
    /// Alart-Curnier residual, relative to the largest force and at least 1, that is good enough.
    #[arg(long, value_name = "RESIDUAL", default_value = "1e-10", value_parser = positive)]
    pub(crate) tolerance: f64,
    /// Iterations at most: sweeps, Newton steps or projections.
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub(crate) max_iterations: u32,
}

const IDENTIFY_HELP: &str = "\
Poses are tables of stations s,x,y,z,d1x,…,d3z as `toile drape` writes them (rod_0.csv), of one fibre held in different ways. Writes into DIR:
  identified.json       EI1, EI2 and GJ over the density [m⁴/s²], how well they explain the shapes, and which the poses do not tell
  natural.csv           s,k1,k2,twist: `natural_curvature` of a scene

Examples:
  toile identify level/rod_0.csv hanging/rod_0.csv --out found
  toile identify level/rod_0.csv hanging/rod_0.csv --linear-density 4e-5 --out found";

#[derive(Debug, Args)]
#[command(after_help = IDENTIFY_HELP)]
pub(crate) struct IdentifyArgs {
    /// Tables of stations, two or more.
    #[arg(required = true, num_args = 2..)]
    pub(crate) poses: Vec<PathBuf>,
    /// Folder for the results; made if it does not exist.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Gravity in the axes of the tables [m/s²].
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true, default_values_t = [0.0, 0.0, -9.81])]
    pub(crate) gravity: Vec<f64>,
    /// Mass per length [kg/m]: gives the stiffnesses themselves.
    #[arg(long, value_name = "KG/M", value_parser = positive)]
    pub(crate) linear_density: Option<f64>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Task {
    /// The sheet swings from two corners for a second: one JSON line, as all of w1 to w6.
    W1,
    /// The sheet falls on a ball, μ = 0.3.
    W2,
    /// Static hang from the vertical plane to 1e-6: one JSON line.
    W3,
    /// Half a metre of sheet on a slope of 20°, μ = --ratio times its tangent.
    W4,
    /// Heavy strip at --gamma, against the elastica: one JSON line.
    W6,
    /// The same sheet from the horizontal plane to 1e-9, with the shares of the time.
    Hang,
    /// Energy, gradient and Hessian of a sheet.
    Assembly,
    /// A sheet falls on a turning ball: time per step with its parts, errors of the law, penetrations.
    Square1,
    /// The same with three sheets.
    Square3,
    /// Random scenes, watched for crashes, tunnelling and energy from nowhere; faulty ones are kept in --out.
    Random,
    /// The friction kernel on a sheet of n × n contacts to 1e-6: one JSON line per solver.
    Friction,
    /// Hair falls on a head and settles: contacts, sweeps, residual and time per step, one JSON line per 50 ms.
    Hair,
    /// Natures and contact forces of hair drawn on a head, found and watched for a second: one JSON line.
    HairInverse,
    /// Garments like those of the published table, inverted and certified: one row each.
    Inverse,
    /// Random targets (noise, wrinkles, bad triangles, missing contacts) from a seed, inverted: how many are certified or refused with a reason.
    Targets,
}

const BENCH_HELP: &str = "\
The sheet: 1 m × 1 m, n × n vertices, 0.2 kg/m², E h = 1000 N/m, ν = 0.3, D = 1e-5 N·m, two corners held.

Examples:
  toile bench w1 --n 65
  toile bench w4 --ratio 0.95
  toile bench square1 --mu 0.1 --duration 0.5
  toile bench random --minutes 30 --seed 7
  toile bench w3 --n 33
  toile bench w6 --gamma 50 --n 81
  toile bench hang --n 129
  toile bench assembly --n 129 --threads 1
  toile bench friction                    1024 and 10 000 contacts
  toile bench friction --n 50
  toile bench inverse                     seven garments of 200 to 2550 vertices
  toile bench inverse --n 500             those with at most 500 vertices
  toile bench inverse --compare           the three smallest, against the published algorithm here
  toile bench hair                        100, 500 and 2000 strands of 20 elements for half a second
  toile bench hair --n 500 --duration 1
  toile bench hair-inverse --n 2000       strands in contact, inverted, certified and watched";

#[derive(Debug, Args)]
#[command(after_help = BENCH_HELP)]
pub(crate) struct BenchArgs {
    /// What to measure.
    pub(crate) task: Task,
    /// For inverse: run the three smallest garments by the published algorithm too, each for --minutes at most.
    #[arg(long)]
    pub(crate) compare: bool,
    /// Vertices along each side [default: 33; 17 for w4, 77 for the squares]; for w6 along the length [default: 241];
    /// for inverse of a garment at most [default: no limit]; strands of hair [default: 100, 500, 2000].
    #[arg(long, value_parser = clap::value_parser!(u32).range(3..=4097))]
    pub(crate) n: Option<u32>,
    /// Mid-edge normals of the sheet [default: tan for hang and assembly, average otherwise, as in the peers].
    #[arg(long, value_enum)]
    pub(crate) normals: Option<Normals>,
    /// For w1, w2, w4, square1, square3, hair: simulated time in seconds [default: 1; 2 for the squares; 0.5 for hair].
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) duration: Option<f64>,
    /// For w1, w2, w4, square1, square3: Newton steps per step at most [default: 8; 2 for w2 and the squares, whose elastic
    /// forces are then linearised twice].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) newton_steps: Option<u32>,
    /// For w4: friction over the tangent of the slope; sticks above 1, slides below.
    #[arg(long, default_value_t = 1.05, value_parser = positive)]
    pub(crate) ratio: f64,
    /// For square1 and square3: coefficient of friction.
    #[arg(long, default_value_t = 0.3, value_parser = not_negative)]
    pub(crate) mu: f64,
    /// For inverse: the garments made of cotton (E h 500 N/m, D 5e-5 N·m, 0.15 kg/m²) instead.
    #[arg(long)]
    pub(crate) cotton: bool,
    /// For targets: how many.
    #[arg(long, default_value_t = 50)]
    pub(crate) count: u64,
    /// For random: how long to go on; for inverse and targets: how long one garment may take.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    pub(crate) minutes: f64,
    /// For random and targets: what the scenes follow from.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// For random and targets: number of the first scene.
    #[arg(long, default_value_t = 0)]
    pub(crate) first: u64,
    /// For random: these scenes and no others, however long they take.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', conflicts_with = "first")]
    pub(crate) scenes: Option<Vec<u64>>,
    /// For random: folder for faulty scenes.
    #[arg(long, short, value_name = "DIR", default_value = "random")]
    pub(crate) out: PathBuf,
    /// For friction: this solver only [default: all].
    #[arg(long, value_parser = ["projected-gradient", "newton", "gauss-seidel", "admm", "cadoux"])]
    pub(crate) solver: Option<String>,
    /// For w6: γ = w L³ / D.
    #[arg(long, default_value_t = 10.0, value_parser = positive)]
    pub(crate) gamma: f64,
    /// For w6: cells across the strip.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) across: u32,
    /// Newton steps at most.
    #[arg(long, default_value_t = 2000)]
    pub(crate) max_steps: u32,
}

/// Rule for mid-edge normals.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Normals {
    /// Mean of the two face normals.
    Average,
    /// Edge angles are unknowns, b = 2h sin α.
    Sin,
    /// Edge angles are unknowns, b = 2h tan α.
    Tan,
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
