//! Rods whose unknowns are curvatures: inextensible by construction, bent and twisted, clamped at one end.
//!
//! R = (d₁, d₂, d₃) is the material frame, d₃ = r′ the tangent, R′ = R \[κ\]×, and κ = (κ₁, κ₂, twist). The curvature is piecewise
//! constant (super-helix) or piecewise linear and continuous (super-clothoid); position and frame follow exactly.
//!
//! ```
//! use toile_rod::{Clamp, Loads, Mat3, Model, NaturalCurvature, RodSpec, Section, StaticSettings, Vec3};
//! let spec = RodSpec {
//!     model: Model::SuperClothoid,
//!     length: 1.0,
//!     section: Section { bending_stiffness: [1.0, 1.0], twisting_stiffness: 0.7, linear_density: 1.0 },
//!     clamp: Clamp {
//!         position: Vec3::zeros(),
//!         frame: Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]), // tangent along x
//!     },
//!     natural: NaturalCurvature::default(), // straight
//!     planar: false,
//! };
//! let loads = Loads::weight(&spec.section, Vec3::new(0.0, 0.0, -10.0));
//! let found = spec.equilibrium(20, &loads, 1e-8, &StaticSettings::default())?;
//! assert!(found.equilibrium.certificate.certified);
//! let tip = found.rod.stations(&found.equilibrium.q, &[1.0])[0].position;
//! assert!((tip.x - 0.656354).abs() < 1e-6 && (tip.z + 0.700200).abs() < 1e-6);
//! # Ok::<(), toile_rod::RodError>(())
//! ```
//!
//! | need | go to |
//! |---|---|
//! | a rod, its curve and derivatives | [`Rod`], [`RodSpec`] |
//! | equilibrium and its certificate | [`equilibrium`], [`RodSpec::equilibrium`], [`certify`] |
//! | frequencies, thresholds | [`frequencies`], [`stability_margin`] |
//! | a rod in the shape of a drawn curve | [`Curve`], [`fit()`], [`fit_within`] |
//! | the natural shape behind a shape | [`invert_fibre`] |
//! | the nature a second drawing gives, and how two natures agree | [`rest_pose()`], [`compare_natures`] |
//! | stiffness and nature behind several poses | [`identify()`], [`identify_stations`] |
//! | rods that grow from each other | [`Tree`]; in contact [`Assembly::grown`] |
//! | the nodal model of others, to compare | [`RodSpec::discrete_equilibrium`]; in motion [`Assembly::discrete`] |
//! | motion, in linear time per step | [`step`], [`RodState`] |
//! | fibres in contact, with dry friction | [`Assembly`] |
//! | fibres at rest on colliders and each other | [`Assembly::settle`] |
//! | natural shapes and forces of drawn fibres in contact | [`Assembly::close_gaps`], [`Assembly::invert`] |
//! | one clothoid, to round-off | [`clothoid`] |
//!
//! References: Bertails et al. 2006 (super-helices); Casati and Bertails-Descoubes 2013 (super-clothoids);
//! Bertails-Descoubes 2017.

#![forbid(unsafe_code)]

mod account;
mod assembly;
mod assembly_inverse;
mod body;
mod certificate;
mod chain;
mod closing;
mod crowd;
mod curve;
mod delassus;
mod discrete;
mod earlier;
mod element;
mod error;
mod fit;
mod fit_within;
mod forms;
mod framing;
mod friction;
mod gallery;
mod grown;
mod held;
mod helix_fit;
mod identify;
mod inverse;
mod lanczos;
mod moment;
mod motion;
mod nodal_step;
mod open;
mod panel;
mod passing;
mod refine;
mod rest_pose;
mod rod;
mod rotation;
mod series;
mod settle;
mod standing;
mod statics;
mod supple;
mod touch;
mod tree;
mod turning;

pub use account::{AssemblyReport, FibreContact, FibreContactKey, StepTimings, SurfacePart};
pub use assembly::{Assembly, AssemblySettings, Fibre, Overlap, rooted_within};
pub use assembly_inverse::{AssemblyInversion, Prior};
pub use certificate::{CERTIFIED_RESIDUAL, RodCertificate, certify, frequencies, stability_margin};
pub use closing::Closing;
pub use crowd::{Crowding, polyline_overlaps};
pub use curve::Curve;
pub use discrete::DiscreteEquilibrium;
pub use element::Model;
pub use error::RodError;
pub use fit::{Fit, FitSettings, distances, fit, fit_unmeasured};
pub use fit_within::{Within, fit_within};
pub use forms::{hessian, mass_matrix};
pub use framing::{Framing, least_energy_turn};
pub use gallery::{drawn_hair, hair_on_a_head, let_fall};
pub use helix_fit::{HelixArc, short_helix};
pub use identify::{Identification, Ratio, identify, identify_stations};
pub use inverse::{
    Bearable, FibreInversion, bearable_natures, bearable_tree, invert_fibre, invert_tree,
    natural_curvature_at, natural_curvatures,
};
pub use moment::{FibreCheckpoint, FibreMoment};
pub use motion::{
    ClampMotion, RodState, StepSettings, acceleration, acceleration_dense, energies, step,
};
pub use open::{Meeting, OpenStep};
pub use refine::{RefinedEquilibrium, RodSpec};
pub use rest_pose::{
    RestComparison, RestPose, compare_natures, equilibrium_near, rest_pose, root_turn,
    shape_distance,
};
pub use rod::{Clamp, Loads, NaturalCurvature, Rod, Section, Station};
pub use rotation::{Mat3, Vec3, axial_angle, cross_matrix, straightened, turn, turn_integral};
pub use series::{BOUND, clothoid, largest_bound, safe_arc};
pub use settle::{SettleSettings, Settled};
pub use standing::{Grips, Standing};
pub use statics::{RodEquilibrium, StaticSettings, equilibrium, equilibrium_from};
pub use tree::{Branch, Growth, Tree};
