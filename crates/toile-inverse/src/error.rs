//! What keeps an inversion from being tried at all.

use toile_contact::ContactError;
use toile_num::words::length;
use toile_sim::SimError;
use toile_solve::SolveError;

/// Why an inversion could not be tried. A search that does not get there is no error: its best result is
/// returned with a certificate that says so.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InverseError {
    /// Neither pins nor contacts hold a piece of the target.
    #[error(
        "the piece with vertex {vertex} ({size} vertices) is not pinned and nowhere nearer than {} to a collider \
         (gap + tolerance; the nearest is {} away): move it onto the body, raise `contact_tolerance`{}, or pin some of it{}",
        length(*.reach), length(*.nearest), raised(*.enough, .sizes[0]), other_unit(.sizes)
    )]
    Unheld {
        /// A vertex of the piece.
        vertex: usize,
        /// How many vertices it has.
        size: usize,
        /// A vertex of each piece that nothing holds, this one's among them.
        pieces: Vec<u32>,
        /// How near a vertex must be to count as touching \[m\].
        reach: f64,
        /// How near its nearest vertex is \[m\].
        nearest: f64,
        /// Tolerance with which one in twenty of its vertices would touch \[m\].
        enough: f64,
        /// Sizes of the target and of all colliders \[m\]; infinite for planes.
        sizes: [f64; 2],
    },
    /// Small pieces touch colliders that do not carry them.
    #[error(
        "the small piece with vertex {vertex} ({size} vertices) touches its body and would slide off it even if it were rigid: sew it to the rest of the garment \
         (`stitches`), pin some of it, or leave it out"
    )]
    Uncarried {
        /// A vertex of the first of them.
        vertex: u32,
        /// How many vertices that has.
        size: usize,
        /// A vertex of each of them.
        pieces: Vec<u32>,
    },
    /// The target is so deep inside a collider that pushing it out would make something else of it.
    #[error(
        "{count} vertices are inside a collider, one by {}, which is {:.0} % of the target's size: it does not lie on this body; do both files have the same \
         axis up, and are they in one place?{}",
        length(*.deepest), 100.0 * .deepest / .sizes[0], other_unit(.sizes)
    )]
    Inside {
        /// How many vertices are inside.
        count: usize,
        /// How deep the deepest is \[m\].
        deepest: f64,
        /// Sizes of the target and of all colliders \[m\]; infinite for planes.
        sizes: [f64; 2],
    },
    /// The target is not sewn.
    #[error(
        "{count} stitches are open in the target, the one of vertex {vertex} by {}, more than {}: the target must \
         be the garment as sewn, not its panels; let `toile simulate` draw the seams together first, or raise `seam_tolerance`",
        length(*.gap), length(*.tolerance)
    )]
    OpenSeam {
        /// How many are open too far.
        count: usize,
        /// The sewn vertex of the widest.
        vertex: usize,
        /// How far it is open \[m\].
        gap: f64,
        /// How far it may be \[m\].
        tolerance: f64,
    },
    /// A setting is out of range.
    #[error("{what} is {value}; it must be {must}")]
    BadSetting {
        /// Which one.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        must: &'static str,
    },
    /// The model.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// Contact detection.
    #[error(transparent)]
    Contact(#[from] ContactError),
    /// A linear solver.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The connectivity.
    #[error(transparent)]
    Mesh(#[from] toile_geometry::MeshError),
}

/// How far off its body a garment may be drawn for a larger tolerance to be the remedy, in units of its size.
const HOVERING: f64 = 0.02;

/// Says which tolerance would do.
fn raised(enough: f64, size: f64) -> String {
    if !(enough > 0.0 && enough <= HOVERING * size) {
        return String::new();
    }
    // Two digits, rounded up.
    let unit = 10f64.powf(enough.log10().floor() - 1.0);
    let enough = (enough / unit).ceil() * unit;
    format!(" (with {enough:.1e} one in twenty of its vertices would touch)")
}

/// How many times larger one of a garment and its body may be than the other before their units are doubted.
const ALIKE: f64 = 5.0;

/// Asks for the unit where a garment and its body cannot belong together.
fn other_unit([target, body]: &[f64; 2]) -> String {
    if body.is_finite() && *body > 0.0 && !(1.0 / ALIKE..=ALIKE).contains(&(target / body)) {
        let (target, body) = (length(*target), length(*body));
        return format!(
            "; it is {target} large and what it could touch {body}: are both in one unit (`scale`)?"
        );
    }
    String::new()
}
