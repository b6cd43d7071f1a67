//! Time integrators as sequences of implicit stages.

use crate::State;

/// How a step is taken.
///
/// All are implicit and damp what is too fast for the step. Contact impulses are taken at the end of each
/// stage (Moreau 1988; Jean 1999), elastic forces by the quadrature of the scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Implicit Euler, first order: robust, damps strongly.
    #[default]
    ImplicitEuler,
    /// Backward differences over two steps, second order. Steps in which a contact closes are
    /// taken by implicit Euler, for the past is then no guide.
    Bdf2,
    /// Trapezoidal rule, then BDF2, over one step (Bank et al. 1985), second order.
    TrBdf2,
    /// Two diagonally implicit Runge–Kutta stages, second order.
    Sdirk2,
}

/// 1 − 1/√2: makes all stages of the two-stage schemes share one matrix.
pub(crate) const ALPHA: f64 = 1.0 - std::f64::consts::FRAC_1_SQRT_2;

impl Integrator {
    /// Implicit stages per step.
    pub fn stages(self) -> usize {
        match self {
            Self::ImplicitEuler | Self::Bdf2 => 1,
            Self::TrBdf2 | Self::Sdirk2 => 2,
        }
    }

    /// Order of accuracy for smooth motions.
    pub fn order(self) -> usize {
        if self == Self::ImplicitEuler { 1 } else { 2 }
    }
}

/// One implicit stage: find the displacement δ from q̂ such that, with v = δ/τ,
///
/// M (v − v̂) + τ ∂E/∂x(q̂ + δ) + τ C v = p + τ Hᵀλ.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// τ, the implicit part of the step \[s\].
    pub(crate) tau: f64,
    /// Time at the end of the stage \[s\].
    pub(crate) time: f64,
    /// q̂.
    pub(crate) base: State,
    /// v̂ \[m/s\].
    pub(crate) velocity: Vec<f64>,
    /// p, impulse known beforehand \[N·s\].
    pub(crate) impulse: Vec<f64>,
    /// Whether it belongs to a scheme of second order: then q̂ + τ v̂ is where it ends but for the square of the step.
    pub(crate) second_order: bool,
}

/// The state between steps.
#[derive(Clone, Debug)]
pub(crate) struct Moving {
    pub(crate) time: f64,
    pub(crate) position: State,
    pub(crate) velocity: Vec<f64>,
}

impl Stage {
    /// Implicit Euler from `from` over `tau`.
    pub(crate) fn euler(from: &Moving, tau: f64) -> Self {
        Self {
            tau,
            time: from.time + tau,
            base: from.position.clone(),
            velocity: from.velocity.clone(),
            impulse: vec![0.0; from.velocity.len()],
            second_order: false,
        }
    }

    /// The same stage, said to end at a time: sums of parts are rounded.
    pub(crate) fn until(mut self, time: f64) -> Self {
        self.time = time;
        self
    }

    /// BDF2 after two equal steps of `h`.
    pub(crate) fn bdf2(before: &Moving, from: &Moving, h: f64) -> Self {
        let mut base = from.position.clone();
        let back = difference(&from.position, &before.position);
        from.position.advanced_into(&back, 1.0 / 3.0, &mut base);
        let velocity =
            from.velocity.iter().zip(&before.velocity).map(|(v, w)| (4.0 * v - w) / 3.0).collect();
        let impulse = vec![0.0; from.velocity.len()];
        Self {
            tau: 2.0 / 3.0 * h,
            time: from.time + h,
            base,
            velocity,
            impulse,
            second_order: true,
        }
    }

    /// Trapezoidal rule over 2τ; `force` is the smooth force at the start \[N\].
    pub(crate) fn trapezoid(from: &Moving, force: &[f64], tau: f64) -> Self {
        let mut stage = Self::euler(from, tau);
        stage.time = from.time + 2.0 * tau;
        stage.second_order = true;
        from.position.advanced_into(&from.velocity, tau, &mut stage.base);
        for (p, f) in stage.impulse.iter_mut().zip(force) {
            *p = tau * f;
        }
        stage
    }

    /// Second stage of TR-BDF2: a step of `h` from `from`, with `middle` reached at (2 − √2)h.
    pub(crate) fn after_trapezoid(from: &Moving, middle: &Moving, h: f64) -> Self {
        let gamma = 2.0 * ALPHA;
        let weight = 1.0 / (gamma * (2.0 - gamma));
        // [middle − (1−γ)² from] / (γ(2−γ)) = from + weight (middle − from).
        let step = difference(&middle.position, &from.position);
        let mut base = from.position.clone();
        from.position.advanced_into(&step, weight, &mut base);
        let velocity =
            from.velocity.iter().zip(&middle.velocity).map(|(v, w)| v + weight * (w - v)).collect();
        let impulse = vec![0.0; from.velocity.len()];
        Self { tau: ALPHA * h, time: from.time + h, base, velocity, impulse, second_order: true }
    }

    /// First stage of SDIRK2 in a step of `h`.
    pub(crate) fn sdirk2_first(from: &Moving, h: f64) -> Self {
        Self { second_order: true, ..Self::euler(from, ALPHA * h) }
    }

    /// Second stage of SDIRK2 after `middle`, reached at αh; `force` is the smooth force there \[N\].
    pub(crate) fn sdirk2(from: &Moving, middle: &Moving, force: &[f64], h: f64) -> Self {
        let mut stage = Self::euler(from, ALPHA * h);
        stage.time = from.time + h;
        stage.second_order = true;
        let weight = (1.0 - ALPHA) * h;
        from.position.advanced_into(&middle.velocity, weight, &mut stage.base);
        for (p, f) in stage.impulse.iter_mut().zip(force) {
            *p = weight * f;
        }
        stage
    }
}

fn difference(a: &State, b: &State) -> Vec<f64> {
    (0..a.len()).map(|i| a.minus(b, i)).collect()
}
