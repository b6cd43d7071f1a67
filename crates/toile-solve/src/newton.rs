//! Newton's method for a minimum, from anywhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::{Cholesky, SolveError, SymmetricPattern};

/// A function to be minimised, with its derivatives.
pub trait Objective {
    /// Where the function is evaluated; may carry more precision than its coordinates.
    type Point: Clone;

    /// Pattern of the Hessian.
    fn pattern(&self) -> &Arc<SymmetricPattern>;
    /// f(x).
    fn energy(&self, x: &Self::Point) -> f64;
    /// ∂f/∂x, zero at fixed unknowns.
    fn gradient(&self, x: &Self::Point, out: &mut [f64]);
    /// ∂²f/∂x² in the values of the pattern, identity at fixed unknowns; with `positive` a nearby
    /// positive semi-definite matrix.
    fn hessian(&self, x: &Self::Point, positive: bool, values: &mut [f64]);
    /// Weight of each unknown when the length of a step is limited; positive.
    fn metric(&self) -> &[f64];
    /// x + scale · step.
    fn advance(&self, x: &Self::Point, step: &[f64], scale: f64, out: &mut Self::Point);
    /// How far from a stationary point, in the unit of [`NewtonSettings::tolerance`].
    fn residual(&self, gradient: &[f64]) -> f64;
}

/// Settings of [`minimize`].
#[derive(Clone, Copy, Debug)]
pub struct NewtonSettings {
    /// Residual at which the search ends.
    pub tolerance: f64,
    /// Factorised Newton systems at most.
    pub max_iterations: usize,
}
