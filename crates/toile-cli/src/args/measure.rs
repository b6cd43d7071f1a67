//! Arguments of the kernel alone, of identification and of measurements.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{not_negative, positive};

const FRICTION_HELP: &str = "\
A problem file of our own, components of a contact normal first (in newton-seconds and metres per second, say):
  { \"n\": 1, \"mu\": [0.5], \"W\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], \"b\": [-1, 2, 0] }
asks for r and u = W r + b so that each contact takes off (r = 0, u_N >= 0), sticks (u = 0, r inside its
cone) or slips (r on the cone, u_T against it). \"mu\" may be one number for all contacts, \"dimension\" 2, 3
or 6, \"law\": \"second-order-cone\" leaves out the shift of the normal velocity (a convex problem).
A set is { \"problems\": [ ... ] }, each with an \"id\".

Files of FCLib (HDF5; the Frictional Contact Library) are read too: local ones u = W r + q, global ones
M v = H r + f, u = H^T v + w, with 2 or 3 components of a contact; a folder of them is a set. Equations beside
the contacts (V, R or G) and rolling friction are not known here.

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
  solution.hdf5         for an FCLib file: all that was in it and a group `solution` with u, r and, if global, v;
                        for a folder of them, files of the same names
  report.html           convergence, use of the cones and a table on one page

Examples:
  toile friction problem.json --out result
  toile friction problems.json --solver admm --tolerance 1e-12 --out result --json
  toile friction LMGC_Cubes_H8_2-i00001-5-00031.hdf5 --out result
  toile friction problem.json --export problem.hdf5                 our JSON as an FCLib file, not solved
  toile friction problems.json --out result --export set.hdf5       set-ID.hdf5 for each, with its solution

Exit codes: 0 all within the tolerance, 1 not all (the best forces are written all the same), 2 bad input.";

#[derive(Debug, Args)]
#[command(after_help = FRICTION_HELP)]
pub(crate) struct FrictionArgs {
    /// One problem or a set, JSON; an FCLib file, or a folder of them.
    pub(crate) problem: PathBuf,
    /// Folder for the results; made if it does not exist.
    #[arg(long, short, value_name = "DIR", required_unless_present = "export")]
    pub(crate) out: Option<PathBuf>,
    /// Write the problem as an FCLib file; with --out its solution too.
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
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
    /// One rod: its step in linear time beside the dense one, by elements, and two fits to a curve: one JSON line each.
    Rods,
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
  toile bench inverse                     eleven garments of 4 to 2550 vertices
  toile bench inverse --n 500             those with at most 500 vertices
  toile bench inverse --only saroual --cotton --minutes 5
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
    /// For inverse: only garments with this in their name.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
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
