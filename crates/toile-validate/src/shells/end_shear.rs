//! Case 1: a strip bent by a shear force at its end.

use std::time::Instant;

use toile_energy::ShellStiffness;
use toile_geometry::Vec3;
use toile_sim::ModelBuilder;

use super::case::climb;
use super::{Case, ClampedStrip, Run, Settings, ShellCaseError};
use crate::elastica::end_shear_cantilever;

/// L, b, h \[m\], E \[Pa\], full load \[N\]; ν = 0.
const LENGTH: f64 = 10.0;
const WIDTH: f64 = 1.0;
const THICKNESS: f64 = 0.1;
const YOUNG: f64 = 1.2e6;
const FULL_LOAD: f64 = 4.0;

/// Cantilever strip under a dead force across its tip: shortening −U and deflection W of the tip.
///
/// L = 10, b = 1, h = 0.1, E = 1.2e6, ν = 0, P up to 4, so P L²/EI = 4 at full load. The reference is the
/// inextensible elastica; the strip also stretches, which moves the tip by 4e-5 of the deflection.
/// Reference: Sze, Liu, Lo 2004, §3.1. Check: `end_shear_follows_the_elastica`.
pub fn end_shear(settings: &Settings) -> Result<Case, ShellCaseError> {
    settings.check()?;
    let loads = settings.loads();
    let inertia = WIDTH * THICKNESS.powi(3) / 12.0;
    let mut expected = Vec::with_capacity(loads.len());
    for load in &loads {
        let shear = load * FULL_LOAD * LENGTH * LENGTH / (YOUNG * inertia);
        let rod = end_shear_cantilever(shear)?;
        expected.push([LENGTH * (1.0 - rod.reach), LENGTH * rod.drop]);
    }
    let run = |&n: &usize| path(n, settings, &loads, &expected);
    Ok(Case {
        title: "Cantilever strip under end shear".into(),
        names: ["minus_u", "w"],
        runs: settings.resolutions.iter().map(run).collect::<Result<_, _>>()?,
        tolerance: settings.tolerance,
        as_vector: false,
        published: None,
    })
}

impl Settings {
    /// The settings of [`end_shear`] that show 1 % and its order: 10 to 80 cells, 20 load steps.
    pub fn end_shear() -> Self {
        Self { resolutions: vec![10, 20, 40, 80], ..Self::default() }
    }
}

fn path(
    n: usize,
    settings: &Settings,
    loads: &[f64],
    expected: &[[f64; 2]],
) -> Result<Run, ShellCaseError> {
    let begun = Instant::now();
    let strip = ClampedStrip {
        length: LENGTH,
        width: WIDTH,
        nx: n,
        ny: (n / 10).max(1),
        grading: 1.0,
        stiffness: ShellStiffness::isotropic(YOUNG, 0.0, THICKNESS),
        normals: settings.normals,
        areal_density: 1.0, // weighs steps, pulls nothing
    };
    let mut builder = ModelBuilder::new();
    let nodes = strip.shell().add_to(&mut builder, Vec3::zeros())?;
    let mut model = builder.build()?;
    let tip = strip.tip();
    for &(v, share) in &tip {
        let i = model.unknown(nodes.vertices + v) + 2;
        model.external_mut()[i] = FULL_LOAD * share / WIDTH;
    }
    let (run, _) = climb(
        &mut model,
        loads,
        "end shear",
        n,
        begun,
        |model, state| {
            let mut mean = Vec3::zeros();
            for &(v, share) in &tip {
                mean += model.position(state, nodes.vertices + v) * (share / WIDTH);
            }
            [LENGTH - mean.x, mean.z]
        },
        |i| expected[i],
    )?;
    Ok(run)
}
