//! Case 4: the Scordelis–Lo roof.

use std::time::Instant;

use toile_energy::ShellStiffness;
use toile_geometry::generate::cylindrical_panel;
use toile_geometry::measure::triangle_area;
use toile_geometry::{TriMesh, Vec3};
use toile_sim::ModelBuilder;

use super::case::climb;
use super::{Case, MirroredShell, Run, Settings, ShellCaseError};

/// R, length, h \[m\], half the angle \[rad\], E \[Pa\], load per area \[N/m²\]; ν = 0.
const RADIUS: f64 = 25.0;
const LENGTH: f64 = 50.0;
const THICKNESS: f64 = 0.25;
const HALF_ANGLE: f64 = 40.0 * std::f64::consts::PI / 180.0;
const YOUNG: f64 = 4.32e8;
const LOAD: f64 = 90.0;

/// Vertical deflection at the middle of the free edge: the converged Kirchhoff–Love value \[m\].
const KIRCHHOFF_LOVE: f64 = 0.300_592_5;

/// Share of the load that is applied: small enough to be linear to 1e-5, large against rounding.
const SMALL: f64 = 1e-3;

/// Cylindrical roof on end diaphragms under its weight, linear: drop and inward motion of the middle of the free
/// edge, the second without a reference.
///
/// R = 25, length 50, h = 0.25, 80°, E = 4.32e8, ν = 0, 90 per area. A thousandth of the load is applied and the
/// result scaled up (`levels` has no effect). A quarter is computed, with its images. Reference: MacNeal, Harder, Finite Elements in Analysis and
/// Design 1 (1985) 3–20; the shallow-shell value 0.3024 given there is not the converged one, 0.3006.
/// Check: `roof_sinks_as_kirchhoff_and_love_say`.
pub fn scordelis_lo(settings: &Settings) -> Result<Case, ShellCaseError> {
    settings.check()?;
    let runs = settings.resolutions.iter().map(|&n| path(n, settings));
    Ok(Case {
        title: "Scordelis–Lo roof".into(),
        names: ["drop", "inward"],
        runs: runs.collect::<Result<_, _>>()?,
        tolerance: settings.tolerance,
        as_vector: false,
        published: None,
    })
}

impl Settings {
    /// The settings of [`scordelis_lo`] that show 1 %.
    pub fn scordelis_lo() -> Self {
        Self { resolutions: vec![8, 16, 32, 64], levels: 1, ..Self::default() }
    }
}

/// The quarter x ≥ 0, y ≥ 0 of the roof, n cells along and as many around.
fn quarter(n: usize) -> TriMesh {
    let mut mesh = cylindrical_panel(RADIUS, HALF_ANGLE, 0.5 * LENGTH, n, n);
    for (v, x) in mesh.positions.iter_mut().enumerate() {
        let (i, j) = (v % (n + 1), v / (n + 1));
        let phi = HALF_ANGLE * i as f64 / n as f64;
        let y = 0.5 * LENGTH * j as f64 / n as f64;
        *x = Vec3::new(RADIUS * phi.sin(), y, RADIUS * phi.cos());
    }
    mesh
}

fn path(n: usize, settings: &Settings) -> Result<Run, ShellCaseError> {
    let begun = Instant::now();
    let mesh = quarter(n);
    let mut weight = vec![0.0; mesh.positions.len()];
    for (f, corners) in mesh.faces().iter().enumerate() {
        for &v in corners {
            weight[v as usize] += LOAD * triangle_area(&mesh.corners(f)) / 3.0;
        }
    }
    let end: Vec<u32> = (0..=n).map(|i| (n * (n + 1) + i) as u32).collect();
    let shell = MirroredShell {
        mesh,
        mirrors: [true, true, false],
        stiffness: ShellStiffness::isotropic(YOUNG, 0.0, THICKNESS),
        normals: settings.normals,
    };
    let mut builder = ModelBuilder::new();
    let nodes = shell.add_to(&mut builder);
    for v in end {
        builder.fix_axes(nodes.vertices + v, [true, false, true]);
    }
    let mut model = builder.build()?;
    for (v, w) in weight.iter().enumerate() {
        let i = model.unknown(nodes.vertices + v as u32) + 2;
        model.external_mut()[i] = -w;
    }
    let corner = nodes.vertices + n as u32;
    let at_rest = shell.mesh.positions[n];
    let (mut run, _) = climb(
        &mut model,
        &[SMALL],
        "Scordelis–Lo roof",
        n,
        begun,
        |model, state| {
            let moved = (model.position(state, corner) - at_rest) / SMALL;
            [-moved.z, -moved.x]
        },
        |_| [KIRCHHOFF_LOVE, f64::NAN],
    )?;
    for point in &mut run.points {
        point.load = 1.0;
    }
    Ok(run)
}
