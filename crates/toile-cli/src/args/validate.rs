//! Arguments of the protocols.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use toile::validate::protocol::ShellModel;

use super::positive;

pub(super) const VALIDATE_HELP: &str = "\
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
