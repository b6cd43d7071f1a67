//! Thin elastic things under gravity: the public face of toile.
//!
//! One call drapes a scene and says whether the result is an equilibrium:
//!
//! ```
//! let scene = toile::io::parse_scene(
//!     r#"
//!     [[shell]]
//!     mesh = { generate = "sheet", n = 5, size = 1.0 }
//!     thickness = 1e-3
//!     areal_density = 0.2
//!     material = { model = "koiter", young = 1e6, poisson = 0.3 }
//!     pins = { vertices = [20, 24] }
//!     "#,
//!     toile::io::SceneFormat::Toml,
//! )?;
//! let drape = toile::drape(&scene, &toile::scene_settings(&scene), |_| true)?;
//! assert!(drape.result.certificate.certified, "{}", drape.result.certificate.reason);
//! let lowest = drape.positions(0).iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
//! assert!(lowest < -0.9, "{lowest} m");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | need | go to |
//! |---|---|
//! | drape a scene, in the air or on things | [`drape`], [`drape_on`], [`Drape`] |
//! | drape the rods of a scene | [`drape_rods`], [`rod`]; with shells [`drape_mixed`] |
//! | the fibres of a scene in motion | [`rod_assembly`] |
//! | the natures behind drawn fibres | [`invert_hair`]; each alone [`invert_alone`] |
//! | simulate a scene | [`Simulation`]; shells with rods [`MixedSimulation`] |
//! | the rest shape of a target | [`invert()`], [`SceneInversion`] |
//! | how an equilibrium moves with rest shape, material and supports | [`Drape::vjp`] |
//! | stretch, bending and residual per vertex, tension | [`Fields`], [`shell_tensions`] |
//! | a model of your own | [`sim`]: `Shell`, `ModelBuilder`, `equilibrium` |
//! | files | [`io`] |
//! | meshes | [`geometry`] |
//! | energies and their derivatives | [`energy`] |
//! | linear and nonlinear solvers | [`solve`] |
//! | colliders, contacts, continuous detection | [`contact`] |
//! | dry friction: the conic kernel | [`solve_friction`], [`cone`]; on large cloth with [`SparseMass`] |
//! | reference solutions and protocols | [`validate`] |
//! | pictures, plots, pages | [`report`] |

mod certificate;
mod drape;
mod fields;
mod friction;
mod gradient;
mod hair;
mod invert;
mod mass;
mod mixed;
mod rods;
mod setting;
mod shells;
mod simulate;
mod tension;

pub use certificate::certificate_figures;
pub use drape::{Drape, DrapeError, drape, drape_on, scene_settings, set_threads};
pub use fields::{Fields, shell_fields};
pub use friction::{FrictionSolveError, body_velocities, solve_friction};
pub use gradient::{GradientError, ShellGradient};
pub use hair::{HairInversion, in_contact, invert_hair, rods_certificate, rods_verdict};
pub use invert::{
    InvertError, SceneInversion, invert, invert_by_reference, invert_settings, invert_shown,
    scene_garment,
};
pub use mass::SparseMass;
pub use mixed::{MixedError, MixedRest, MixedSimulation, drape_mixed};
pub use rods::{
    ContactInversion, DrawnFit, FibreProgress, RestFound, RestSummary, RodDrape, RodInversion,
    RodLine, RodRest, RodSceneError, drape_rods, fit_drawn, has_drawn, invert_alone,
    invert_contacts, rest_rods, rod_assembly, rod_lines,
};
pub use setting::{Beginning, beginning};
pub use simulate::{Simulation, Start};
pub use tension::shell_tensions;

pub use toile_cone as cone;
pub use toile_contact as contact;
pub use toile_energy as energy;
pub use toile_geometry as geometry;
pub use toile_inverse as inverse;
pub use toile_io as io;
pub use toile_num as num;
pub use toile_report as report;
pub use toile_rod as rod;
pub use toile_sim as sim;
pub use toile_solve as solve;
pub use toile_validate as validate;
