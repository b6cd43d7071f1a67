//! Why the rods of a scene cannot be treated.

use toile_io::SceneError;
use toile_num::words::length;
use toile_rod::RodError;

/// Why the rods of a scene could not be treated at all.
#[derive(Debug, thiserror::Error)]
pub enum RodSceneError {
    /// The scene or one of its files.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A rod cannot be solved.
    #[error("rod {rod}: {source}")]
    Rod {
        /// Which, counted from 0.
        rod: usize,
        /// Why.
        source: RodError,
    },
    /// Rods and shells in one scene.
    #[error(
        "rods and shells of one scene are solved together by the commands `toile simulate` and `toile drape` only; for this put them in scenes of their own"
    )]
    Mixed,
    /// Hair has no natural shape of its own.
    #[error(
        "hair is drawn, not described: `rest_rods` lets it come to rest, `toile invert` finds its natural shape"
    )]
    OnlyHair,
    /// Nothing says how to go through time.
    #[error("the scene has no table [time]; add for example\n[time]\nstep = 0.001\nduration = 1.0")]
    NoTime,
    /// Rods of nodes where they cannot be solved.
    #[error(
        "rod {rod} is a discrete rod: {what} is known of the models \"super-clothoid\" and \"super-helix\", which converge faster; `drape` and `simulate` solve it where \
         no rod grows from another"
    )]
    Discrete {
        /// Which, counted from 0.
        rod: usize,
        /// What was asked for.
        what: &'static str,
    },
    /// Somebody wanted it to end before there was anything to show.
    #[error("stopped after {done} of {of} fibre(s); nothing was written")]
    Stopped {
        /// How many were done.
        done: usize,
        /// Of how many.
        of: usize,
    },
    /// Trees have no second drawing.
    #[error(
        "drawn rods that grow from others, and rods or hair beside such, have no `rest`; put them in scenes of their own, or leave `rest` out"
    )]
    RestOfTree,
    /// No nature that could be written down holds a fibre.
    #[error(
        "{name}, {} long, bends under its weight over {}: the nature that holds it as drawn turns by {turn:.0e} rad within an element; check the units of the file \
         (`scale`), bending stiffness (N·m²) and linear density (kg/m)",
        length(*.long),
        length(*.bends)
    )]
    Wound {
        /// The fibre.
        name: String,
        /// Its length \[m\].
        long: f64,
        /// Length over which it bends under its weight \[m\].
        bends: f64,
        /// What its nature turns by \[rad\].
        turn: f64,
    },
    /// Rods that may touch something.
    #[error("rods with colliders or `self_contact` come to rest by falling: `rest_rods` does that")]
    Contact,
    /// A drawn rod does not begin on the one it grows from.
    #[error(
        "rod {rod} grows from rod {parent}, but begins {} from it, {} along it; draw its first point on that rod",
        length(*.away),
        length(*.along)
    )]
    Apart {
        /// Which, counted from 0.
        rod: usize,
        /// The rod it names.
        parent: usize,
        /// How far it begins from there \[m\].
        away: f64,
        /// Where on that rod it was to grow \[m\].
        along: f64,
    },
    /// A fibre goes through a collider.
    #[error(
        "{name} is {} inside collider {collider} at joint {joint}, {}; move it out, make the collider smaller, leave it out, or let --push-out (push_out) move it{}",
        length(*.depth),
        match root {
            Some(away) => format!("but begins {} outside: it is not rooted there", length(*away)),
            None => "where it has already come out of it".into(),
        },
        if *.fibres > 1 { format!(" (it is the deepest of {} fibres)", .fibres) } else { String::new() }
    )]
    Inside {
        /// The fibre.
        name: String,
        /// Which joint.
        joint: usize,
        /// Which collider.
        collider: usize,
        /// How deep \[m\].
        depth: f64,
        /// How far its root is outside, where it is not rooted in it \[m\].
        root: Option<f64>,
        /// Fibres of which that is so; this is the deepest.
        fibres: usize,
    },
}
