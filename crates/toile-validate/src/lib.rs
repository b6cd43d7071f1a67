//! Validation of toile against published curves.
//!
//! References and solver must not know each other's answers:
//!
//! - *references*, computed here by methods that share nothing with the shell solver: a collocation solver for
//!   boundary-value problems ([`bvp`]), the elastica curves it gives ([`elastica`]), hanging rods ([`kirchhoff`]), and a Ritz method for the
//!   lateral buckling of a heavy plate ([`plate`], with its limits in [`lateral_buckling`]);
//! - the [`protocol`]s, which put the shell solver through the published experiments;
//! - *judgement*: a [`verdict`] OK or KO by a stated tolerance, its table as CSV, and its [`plot`](toile_report::plot) as SVG.

pub mod bvp;
pub mod elastica;
pub mod kirchhoff;
pub mod lateral_buckling;
pub mod plate;
pub mod protocol;
pub mod quadrature;
pub mod shells;
pub mod verdict;

// Lints look at the tests that modules keep from here, too.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../tests/unit/reference.rs"]
mod reference;
