//! Arguments of what shows and exports results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::positive;

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
