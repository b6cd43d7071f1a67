//! The certificate: whether a result is an equilibrium, in figures.

use toile_energy::Curvature;
use toile_solve::{EigenSettings, Inertia, Ldlt, SolveError, lowest_mode};

use crate::{Model, SimError, State};

/// Residual up to which an equilibrium is certified.
pub const CERTIFIED_RESIDUAL: f64 = 1e-8;

/// What can be said about a static result.
///
/// Figures that do not apply (contact without colliders, a target without inversion) are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// ‖∂E/∂x at free coordinates‖∞ over (total weight / number of vertices).
    pub residual: f64,
    /// The same in newtons.
    pub residual_n: f64,
    /// Largest distance of a contact force from its cone, relative to the largest force.
    pub cone_gap: Option<f64>,
    /// Least 1 − ‖r_T‖/(μ r_N): how far from slipping; −9 where a force uses ten times its friction or more, or pulls.
    pub cone_margin: Option<f64>,
    /// Deepest point inside a collider or another layer \[m\].
    pub penetration: Option<f64>,
    /// Least eigenvalue of the Hessian against the masses \[1/s²\].
    pub stability: Option<f64>,
    /// Negative pivots of the factorised Hessian: directions in which the result would fall.
    pub negative_modes: Option<usize>,
    /// Largest motion in a simulated second, relative to size.
    pub drift: Option<f64>,
    /// Largest distance from the target \[m\].
    pub target_error_max: Option<f64>,
    /// Root mean square distance from the target \[m\].
    pub target_error_rms: Option<f64>,
    /// Diagonal of the box around the result \[m\].
    pub size: f64,
    /// Whether all figures are within their limits.
    pub certified: bool,
    /// Why, or why not, in words.
    pub reason: String,
}

impl Certificate {
    /// "certified" or "not certified".
    pub fn verdict(&self) -> &'static str {
        if self.certified { "certified" } else { "not certified" }
    }
}

/// Force by which residuals are measured: the weight of a mean vertex, or the mean load where nothing
/// weighs, or one newton where nothing pulls at all \[N\].
pub fn force_unit(model: &Model) -> f64 {
    let loads = model.load_vector();
    let on_vertex = |&node: &u32| {
        let i = model.unknown(node);
        loads[i..i + 3].iter().map(|f| f * f).sum::<f64>().sqrt()
    };
    let load: f64 = model.vertices().iter().map(on_vertex).sum();
    let unit = model.load().abs() * load / model.vertex_count().max(1) as f64;
    if unit > 0.0 && unit.is_finite() { unit } else { 1.0 }
}

/// Residual of a gradient in newtons: the largest force at a free unknown, moments over their levers.
pub(crate) fn residual_n(model: &Model, gradient: &[f64]) -> f64 {
    let mut largest = 0.0f64;
    for (i, g) in gradient.iter().enumerate() {
        if !model.fixed()[i] {
            let force = (g / model.levers()[i]).abs();
            if !force.is_finite() {
                return f64::INFINITY; // a NaN must not hide in a maximum
            }
            largest = largest.max(force);
        }
    }
    largest
}

/// Judges a state: residual, stability, and the verdict that follows.
pub fn certify(model: &Model, state: &State) -> Result<Certificate, SimError> {
    let mut gradient = vec![0.0; model.len()];
    model.gradient(state, &mut gradient);
    let residual_n = residual_n(model, &gradient);
    let residual = residual_n / force_unit(model);
    let mut certificate = Certificate {
        residual,
        residual_n,
        cone_gap: None,
        cone_margin: None,
        penetration: None,
        stability: None,
        negative_modes: None,
        drift: None,
        target_error_max: None,
        target_error_rms: None,
        size: model.size(state),
        certified: false,
        reason: String::new(),
    };
    if !residual.is_finite() {
        certificate.reason = "the forces are not finite: a face has collapsed".into();
        return Ok(certificate);
    }
    if model.is_empty() {
        certificate.certified = true;
        certificate.reason = "every vertex is pinned: there is nothing to move".into();
        return Ok(certificate);
    }
    let (stability, inertia) = stability(model, state)?;
    certificate.stability = stability;
    certificate.negative_modes = inertia.map(|i| i.negative);
    let noise = neutral_limit(model, certificate.size);
    // Where no vertex can move, only the angles of edges are left: they have no mass, but an inertia.
    let held = |&v: &u32| model.fixed()[model.unknown(v)..][..3].iter().all(|f| *f);
    let stable = if model.vertices().iter().all(held) {
        inertia.is_some_and(|i| i.negative == 0)
    } else {
        stability.is_some_and(|s| s > noise) && inertia.is_none_or(|i| i.negative == 0)
    };
    certificate.certified = residual <= CERTIFIED_RESIDUAL && stable;
    certificate.reason = reason(&certificate, stable, noise);
    Ok(certificate)
}

/// Eigenvalue below which a motion counts as not resisted at all: 1e-9 of that of a pendulum as long as the
/// model, well above rounding \[1/s²\].
fn neutral_limit(model: &Model, size: f64) -> f64 {
    let mass: f64 = model.vertices().iter().map(|&v| model.masses()[model.unknown(v)]).sum();
    let force = force_unit(model) * model.vertex_count() as f64;
    let pendulum = force / (mass * size);
    if pendulum.is_finite() { 1e-9 * pendulum } else { 0.0 }
}

fn reason(c: &Certificate, stable: bool, noise: f64) -> String {
    let balance = if c.residual <= CERTIFIED_RESIDUAL {
        format!("forces balance to {:.1e} of a vertex's weight", c.residual)
    } else {
        format!(
            "forces do not balance: {:.1e} of a vertex's weight ({:.1e} N) is left where {:.0e} is asked; \
             allow more iterations",
            c.residual, c.residual_n, CERTIFIED_RESIDUAL
        )
    };
    match (stable, c.stability) {
        (true, _) => format!("{balance}; every small motion is resisted"),
        (false, Some(s)) if s < -noise => {
            let modes = c.negative_modes.unwrap_or(1).max(1);
            format!(
                "{balance}; but it is unstable: {modes} way(s) to fall, the steepest with {s:.2e} 1/s²"
            )
        }
        (false, _) => format!(
            "{balance}; but some motion is not resisted at all, as when a cloth hangs from one point and may turn"
        ),
    }
}

/// Least eigenvalue of the Hessian against the masses, and its inertia where it can be told.
///
/// `None` for the eigenvalue when no mass is free to move.
pub fn stability(model: &Model, state: &State) -> Result<(Option<f64>, Option<Inertia>), SimError> {
    let mut values = vec![0.0; model.pattern().nnz()];
    model.hessian(state, Curvature::Exact, &mut values);
    let mut ldlt = Ldlt::new(model.pattern().clone())?;
    let inertia = match ldlt.factorize(&values, None) {
        Ok(inertia) => Some(inertia),
        Err(SolveError::ZeroPivot { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    drop(ldlt);
    let masses: Vec<f64> =
        (0..model.len()).map(|i| if model.fixed()[i] { 0.0 } else { model.masses()[i] }).collect();
    if masses.iter().all(|m| *m == 0.0) {
        return Ok((None, inertia));
    }
    let mut cholesky = toile_solve::Cholesky::new(model.pattern().clone())?;
    match lowest_mode(&mut cholesky, &values, &masses, &EigenSettings::default()) {
        Ok(mode) => Ok((Some(mode.value), inertia)),
        // An angle without inertia can make every shift fail; the inertia still tells.
        Err(SolveError::NotPositiveDefinite { .. }) => Ok((None, inertia)),
        Err(error) => Err(error.into()),
    }
}
