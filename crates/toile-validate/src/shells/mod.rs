//! Shells against published and exact answers: large bending of strips, the pinched hemisphere, the roof.
//!
//! Each case loads a discrete Koiter shell in steps, follows it by Newton's method from one step to the next and
//! compares two displacements with a reference at every step, on several meshes:
//!
//! | case | reference | what is hard |
//! |---|---|---|
//! | [`end_shear`](fn@end_shear) | our elastica | rotations of 60° |
//! | [`end_moment`](fn@end_moment) | exact circle | a full turn |
//! | [`hemisphere`](fn@hemisphere) | published table | bending of a doubly curved sheet without stretching it |
//! | [`scordelis_lo`](fn@scordelis_lo) | converged Kirchhoff–Love value | membrane and bending together, linear |
//! | [`heavy_strip`](fn@heavy_strip) | our elastica | accuracy per second |
//!
//! Reference: Sze, Liu, Lo, Finite Elements in Analysis and Design 40 (2004) 1551–1569.

mod case;
mod end_moment;
mod end_shear;
mod heavy_strip;
mod hemisphere;
mod mirror;
mod scordelis_lo;
mod strip;

pub use case::{Case, Point, Run, Settings, ShellCaseError};
pub use end_moment::end_moment;
pub use end_shear::end_shear;
pub use heavy_strip::{HeavyStrip, heavy_strip, heavy_strip_with};
pub use hemisphere::hemisphere;
pub use mirror::{MirroredFace, MirroredShell, Mirrors};
pub use scordelis_lo::scordelis_lo;
pub use strip::ClampedStrip;
