//! Natural continuation: follow a branch in a parameter of the problem, with steps as long as Newton allows.

use super::{BoundaryValueProblem, BvpError, Settings, Solution, solve};

/// Step control of [`continue_parameter`].
#[derive(Clone, Debug)]
pub struct Continuation {
    /// First step, as a fraction of the whole way; later ones double after success and halve after failure.
    pub first_step: f64,
    /// Smallest step, as a fraction of the whole way, before giving up: natural continuation cannot pass a fold.
    pub smallest_step: f64,
    /// Tolerance of the solutions on the way; the last one meets that of the [`Settings`].
    pub tolerance_on_the_way: f64,
}

impl Default for Continuation {
    fn default() -> Self {
        Self { first_step: 0.25, smallest_step: 1e-5, tolerance_on_the_way: 1e-5 }
    }
}

/// Solves `family(to)` by way of `family(from)`, which `guess` must be good enough for.
///
/// Each step is predicted by the secant through the last two solutions. The parameter may be any monotone function of
/// the physical one: pass ln Γ to cross decades. Fails with [`BvpError::Continuation`] at a fold or where the branch ends.
pub fn continue_parameter<P: BoundaryValueProblem>(
    family: &impl Fn(f64) -> P,
    guess: &Solution,
    from: f64,
    to: f64,
    continuation: &Continuation,
    settings: &Settings,
) -> Result<Solution, BvpError> {
    let loose = Settings {
        tolerance: settings.tolerance.max(continuation.tolerance_on_the_way),
        ..settings.clone()
    };
    if from == to {
        return solve(&family(to), guess, settings);
    }
    if !(from.is_finite() && to.is_finite()) {
        return Err(BvpError::Input(format!(
            "continuation from {from} to {to}; use finite numbers"
        )));
    }
    let mut here = (0.0, solve(&family(from), guess, &loose)?);
    let mut before: Option<(f64, Solution)> = None;
    let mut step = continuation.first_step.clamp(continuation.smallest_step, 1.0);
    loop {
        let next = (here.0 + step).min(1.0);
        let last = next == 1.0;
        let start = match &before {
            Some((t, u)) => here.1.extrapolate(u, (next - here.0) / (here.0 - t)),
            None => here.1.clone(),
        };
        let value = if last { to } else { from + next * (to - from) };
        match solve(&family(value), &start, if last { settings } else { &loose }) {
            Ok(u) if last => return Ok(u),
            Ok(u) => {
                before = Some(std::mem::replace(&mut here, (next, u)));
                step *= 2.0;
            }
            Err(cause) => {
                step = 0.5 * (next - here.0);
                if step < continuation.smallest_step {
                    let reached = from + here.0 * (to - from);
                    return Err(BvpError::Continuation {
                        reached,
                        target: to,
                        cause: Box::new(cause),
                    });
                }
            }
        }
    }
}
