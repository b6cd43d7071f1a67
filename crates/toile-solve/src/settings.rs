//! Choices common to the direct solvers.

/// How a symmetric factor is stored and computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Dense blocks for shells, single entries for the thin bands of rods: decided from the
    /// arithmetic per entry of the factor.
    #[default]
    Auto,
    /// Dense blocks always (columns with equal pattern together).
    Supernodal,
    /// Entry by entry always.
    Simplicial,
}

/// Settings of a direct solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorSettings {
    /// Most threads of one factorisation or solve; 0, the default, for all of the pool they are called
    /// in when the system is analysed. Systems too small to gain (below some five hundred shell vertices)
    /// and factors stored entry by entry use one. Neither factor nor solution depends on it.
    /// [`Lu`](crate::Lu) takes 0 for 1: threads in its kernels rarely pay.
    pub threads: usize,
    /// Storage of a symmetric factor; [`Lu`](crate::Lu) always decides alone.
    pub variant: Variant,
    /// Refinement steps a solve may take. Default 3; a quasi-definite system whose pivots were
    /// regularised takes two or three. Each costs one solve and one product.
    pub max_refinements: usize,
    /// Relative residual ‖Ax − b‖₂/‖b‖₂ at which refinement stops. Default 1e-14. Refinement also
    /// stops when the backward error reaches the rounding unit, since nothing better exists then.
    pub residual_target: f64,
    /// Backward error ‖Ax − b‖∞/(‖A‖∞‖x‖∞ + ‖b‖∞) above which a solution is refused.
    /// Default 1e-8, far above what a sound factorisation leaves (1e-15).
    pub backward_error_limit: f64,
}

impl Default for FactorSettings {
    fn default() -> Self {
        Self {
            threads: 0,
            variant: Variant::Auto,
            max_refinements: 3,
            residual_target: 1e-14,
            backward_error_limit: 1e-8,
        }
    }
}
