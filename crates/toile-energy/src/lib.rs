//! Energies of thin elastic things, each with its derivatives in shape, rest shape and material.
//!
//! An energy knows one stencil (an edge, a face, a hinge, a face with its neighbours) and nothing of
//! meshes. All are linear in their material parameters, so a parameter derivative is the gradient
//! taken with a unit parameter.
//!
//! | energy | stencil | parameters |
//! |---|---|---|
//! | [`KoiterFace`] | face and neighbours | membrane and bending stiffness, orthotropic |
//! | [`EdgeStretch`], [`AreaStretch`], [`HingeBend`] | edge, face, hinge | Discrete Shells' k_l, k_a, k_b |
//! | [`SeamBend`] | two faces of different panels | as [`HingeBend`] |
//! | [`Gravity`] | face | areal density |
//! | [`Anchor`] | vertex | spring stiffness |
//! | [`Tie`] | up to four vertices | spring stiffness, dead force |
//! | [`EdgeMoment`] | border face | moment per length |
//!
//! # What bending modulus the discretisations really have
//!
//! On a smooth surface [`KoiterFace`] with `Sin` or `Tan` normals converges to Koiter's energy ½ D κ² per area,
//! whatever the triangulation (check: `cylinder_patch_has_the_plate_modulus` in toile-validate). `Average` normals do so only on
//! regular meshes: on alternating diagonals or random triangles they come out up to 1.5 D, too stiff in twist, and refinement does not
//! cure it (check: `averaged_normals_are_too_stiff_on_irregular_triangles`); they cost a third of the unknowns, and on curved
//! shells they are not to be trusted. [`HingeBend`] converges on no general mesh: the angle of a hinge measures curvature across its
//! own edge only, so the modulus depends on how the edges lie. On equilateral triangles it is 3 k_b in every direction;
//! on right triangles it runs from 3 k_b to 9 k_b. Setting k_b = D, as is often done, is therefore three times too stiff at best
//! (check: `hinges_are_three_times_too_stiff_on_equilateral_triangles`); the remedy on equilateral meshes is
//! k_b = D/3, and there is none for a general mesh.
//! References: Grinspun et al. 2003; Ly 2021, §1.1.2 and the corrections to its eq. 1.12.

mod anchor;
mod area;
mod dart;
mod edge;
mod gravity;
mod hinge;
mod koiter;
mod koiter_law;
mod koiter_stencil;
mod koiter_wide;
mod moment;
mod seam;
mod stencil;
mod stiffness;
mod thread;
mod tie;

pub use anchor::Anchor;
pub use area::AreaStretch;
pub use dart::DartBend;
pub use edge::EdgeStretch;
pub use gravity::Gravity;
pub use hinge::HingeBend;
pub use koiter::{KoiterFace, Membrane, principal_values};
pub use koiter_law::KoiterRest;
#[doc(hidden)]
pub use koiter_law::positive_part;
pub use moment::EdgeMoment;
pub use seam::SeamBend;
pub use stencil::{
    Curvature, MaterialEnergy, StencilEnergy, Together, check_derivatives, check_material,
};
pub use stiffness::{ShellStiffness, orthotropic_3d};
pub use thread::Thread;
pub use tie::Tie;
