//! A strip that bends under its own weight: accuracy per second.

use std::time::{Duration, Instant};

use toile_energy::ShellStiffness;
use toile_geometry::Vec3;
use toile_geometry::measure::NormalRule;
use toile_sim::{ModelBuilder, relax};
use toile_solve::NewtonSettings;

use super::{ClampedStrip, ShellCaseError};

/// What [`heavy_strip`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeavyStrip {
    /// Depth of the tip below the clamp over L.
    pub drop: f64,
    /// Distance of the tip from the clamp's plane over L.
    pub reach: f64,
    /// Newton steps, each with its factorisation.
    pub newton_steps: usize,
    /// Largest unbalanced force over the weight of a mean vertex.
    pub residual: f64,
    /// Wall time, model building included.
    pub time: Duration,
}

/// Heavy cantilever strip at γ = w L³/D with ν = 0, straight from the flat shape to equilibrium.
///
/// E h = 1000 N/m, D = 1e-5 N·m, 0.2 kg/m², g = 9.81 m/s²; L follows from γ, the width is L/5. Cells grow sixteenfold
/// from clamp to tip, and normals are averaged: without Poisson's effect one cell across (`ny` = 1) is then enough, while
/// edge angles of their own make a border of few cells too soft (1 % at `ny` = 1, falling with its square).
///
/// 240 × 1 cells reach 1e-4 of L in the drop up to γ = 200. There the strip also stretches by w L/2Eh, 9e-5 of L at
/// γ = 196.2, which the inextensible elastica ignores and no mesh can take away. Check: `heavy_strip_follows_the_elastica`.
pub fn heavy_strip(gamma: f64, nx: usize, ny: usize) -> Result<HeavyStrip, ShellCaseError> {
    heavy_strip_with(gamma, nx, ny, 16.0, NormalRule::Average)
}

/// As [`heavy_strip`], with a choice of grading ([`ClampedStrip::grading`]) and normals.
pub fn heavy_strip_with(
    gamma: f64,
    nx: usize,
    ny: usize,
    grading: f64,
    normals: NormalRule,
) -> Result<HeavyStrip, ShellCaseError> {
    for (what, value) in [("gamma", gamma), ("grading", grading)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(ShellCaseError::BadSetting { what, value, must: "positive and finite" });
        }
    }
    let begun = Instant::now();
    let (membrane, bending, density, g) = (1000.0, 1e-5, 0.2, 9.81);
    let length = (gamma * bending / (density * g)).cbrt();
    let thickness = (12.0f64 * bending / membrane).sqrt();
    let strip = ClampedStrip {
        length,
        width: 0.2 * length,
        nx,
        ny,
        grading,
        stiffness: ShellStiffness::isotropic(membrane / thickness, 0.0, thickness),
        normals,
        areal_density: density,
    };
    let mut builder = ModelBuilder::new();
    let nodes = strip.shell().add_to(&mut builder, Vec3::new(0.0, 0.0, -g))?;
    let model = builder.build()?;
    let settings = NewtonSettings { tolerance: 1e-8, ..NewtonSettings::default() };
    let found = relax(&model, model.start(), &settings, |_| true)?;
    let mut mean = Vec3::zeros();
    for (v, share) in strip.tip() {
        mean += model.position(&found.point, nodes.vertices + v) * (share / strip.width);
    }
    Ok(HeavyStrip {
        drop: -mean.z / length,
        reach: mean.x / length,
        newton_steps: found.history.len(),
        residual: found.residual,
        time: begun.elapsed(),
    })
}
