//! The figures of a certificate, each in words.

pub use toile_num::words::{digits, duration, length};

/// Residual and cone gap up to which a result is certified.
pub const BALANCED: f64 = 1e-8;
/// Drift up to which a result is certified, relative to its size.
pub const STILL: f64 = 1e-4;

/// Figures of a certificate; those that do not apply are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// Largest force left at a free vertex, over the weight of a mean vertex.
    pub residual: Option<f64>,
    /// The same \[N\].
    pub residual_n: Option<f64>,
    /// Largest distance of a contact force from its cone, relative to the largest force.
    pub cone_gap: Option<f64>,
    /// Least 1 − ‖r_T‖/(μ r_N).
    pub cone_margin: Option<f64>,
    /// Deepest point inside something \[m\].
    pub penetration: Option<f64>,
    /// Distance that contacts keep \[m\]: how deep a point may be.
    pub contact_distance: Option<f64>,
    /// Least eigenvalue against the masses \[1/s²\].
    pub stability: Option<f64>,
    /// Directions in which the result would fall.
    pub negative_modes: Option<usize>,
    /// Motion in simulated time, relative to size.
    pub drift: Option<f64>,
    /// Largest distance from the target \[m\].
    pub target_error_max: Option<f64>,
    /// Root mean square distance from the target \[m\].
    pub target_error_rms: Option<f64>,
    /// Motion of the target made as drawn \[m\].
    pub naive_sag: Option<f64>,
    /// Diagonal of the box around the result \[m\].
    pub size: Option<f64>,
    /// Number of contacts.
    pub contacts: Option<usize>,
    /// What keeps a target from being held, by its name.
    pub cause: Option<&'static str>,
}

/// One figure for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Key in `certificate.json`.
    pub key: &'static str,
    /// Its value with a unit.
    pub value: String,
    /// Whether it is within its limit, where it has one.
    pub ok: Option<bool>,
    /// What it has to be.
    pub limit: String,
    /// What it says about this result.
    pub meaning: String,
}

/// Every figure that applies, with its limit and its meaning.
pub fn explain(v: &Values) -> Vec<Figure> {
    let mut out = Vec::new();
    let mut tell = |key, value: String, ok, limit: &str, meaning: String| {
        out.push(Figure { key, value, ok, limit: limit.into(), meaning });
    };
    if let Some(cause) = v.cause {
        let meaning =
            "What keeps it from being held where it was drawn; the verdict says what would help."
                .into();
        tell("cause", cause.into(), Some(false), "none", meaning);
    }
    if let Some(residual) = v.residual {
        let newtons = v.residual_n.map_or(String::new(), |n| format!(" ({n:.1e} N)"));
        let ok = residual <= BALANCED;
        let meaning = if ok {
            format!(
                "Elastic forces, weight and contact forces cancel at every free vertex; what is left is at most \
                 {residual:.1e} of the weight of a vertex{newtons}."
            )
        } else {
            format!(
                "Somewhere {residual:.1e} of the weight of a vertex{newtons} is left over: let go, the thing would start to move \
                 there. The picture of the residual shows where."
            )
        };
        tell("residual", format!("{residual:.1e}"), Some(ok), "at most 1e-8", meaning);
    }
    if let Some(gap) = v.cone_gap {
        let count = v.contacts.map_or("the".into(), |n| format!("the {n}"));
        let ok = gap <= BALANCED;
        let meaning = if ok {
            format!(
                "Each of {count} contact forces is one that dry friction can give: it pushes, and lies inside its cone."
            )
        } else {
            format!(
                "A contact would have to pull, or hold more than friction allows, by {gap:.1e} of the largest force: in reality it \
                 would let go or slip."
            )
        };
        tell("cone_gap", digits(gap), Some(ok), "at most 1e-8", meaning);
    }
    if let Some(margin) = v.cone_margin {
        let meaning = if margin > 0.0 {
            format!(
                "The contact nearest to slipping uses {:.1} % of its friction; all others use less.",
                100.0 * (1.0 - margin)
            )
        } else {
            "A contact uses all of its friction: it is about to slip, or slips.".into()
        };
        tell("cone_margin", format!("{:.1} %", 100.0 * margin), None, "larger is safer", meaning);
    }
    if let Some(depth) = v.penetration {
        let ok = v.contact_distance.map(|d| depth <= d);
        let limit = v
            .contact_distance
            .map_or("within the contact distance".into(), |d| format!("at most {}", length(d)));
        let meaning = if depth > 0.0 {
            format!(
                "The deepest point is {} inside something; contacts are kept at a distance, so a little is no fault.",
                length(depth)
            )
        } else {
            "Nothing is inside anything else.".into()
        };
        tell("penetration", length(depth), ok, &limit, meaning);
    }
    if let Some(stability) = v.stability {
        let ok = stability > 0.0 && v.negative_modes.is_none_or(|n| n == 0);
        let meaning = if ok {
            format!(
                "Pushed a little in any direction it comes back; the slowest swing would take about {}.",
                duration(std::f64::consts::TAU / stability.sqrt())
            )
        } else {
            let count = v.negative_modes.unwrap_or(1);
            format!(
                "It stands on a ridge: pushed in {count} direction(s) it falls away, so nobody would see it like this."
            )
        };
        tell("stability", format!("{} 1/s²", digits(stability)), Some(ok), "above 0", meaning);
    }
    if let Some(drift) = v.drift {
        let ok = drift <= STILL;
        let moved = v.size.map_or(String::new(), |s| format!(" ({})", length(drift * s)));
        let meaning = format!(
            "Let go and simulated with exact friction, it moved by {drift:.1e} of its size{moved}{}.",
            if ok { ": it stays" } else { ": it does not stay" }
        );
        tell("drift", digits(drift), Some(ok), "at most 1e-4", meaning);
    }
    if let Some(most) = v.target_error_max {
        let rms =
            v.target_error_rms.map_or(String::new(), |r| format!(", {} in the mean", length(r)));
        let meaning =
            format!("The equilibrium is at most {} from what was drawn{rms}.", length(most));
        tell("target_error_max", length(most), None, "smaller is better", meaning);
    }
    if let Some(sag) = v.naive_sag {
        let meaning = format!("Made as drawn, gravity would move it by {}.", length(sag));
        tell("naive_sag", length(sag), None, "for comparison", meaning);
    }
    if let Some(size) = v.size {
        let meaning =
            "Diagonal of the box around it; relative figures are relative to this.".into();
        tell("size", length(size), None, "", meaning);
    }
    out
}
