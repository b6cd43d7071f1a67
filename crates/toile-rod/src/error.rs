//! What can be wrong with a rod.

/// Why a rod cannot be made or solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RodError {
    /// A number that must be positive is not.
    #[error("the {what} of the rod is {value:e}; it must be a positive number")]
    NotPositive {
        /// Which.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number is NaN or infinite.
    #[error("the {what} of the rod is not a finite number; correct it in the scene or the file")]
    NotFinite {
        /// Which.
        what: &'static str,
    },
    /// The clamp's frame is no rotation.
    #[error(
        "the clamp's d1, d2, d3 are not a right-handed orthonormal frame: they miss it by {by:.1e}; \
         d3 is the tangent, and d1 × d2 = d3"
    )]
    Frame {
        /// Distance from a rotation.
        by: f64,
    },
    /// No element, or an absurd number of them.
    #[error("a rod of {elements} elements cannot be made; give 1 to {most}")]
    Elements {
        /// How many were asked for.
        elements: usize,
        /// How many are allowed.
        most: usize,
    },
    /// A list has the wrong length.
    #[error("{what}: {found} given where the rod has {expected}")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The kernel has no such solver.
    #[error("there is no friction solver {name:?}; known are {}", toile_cone::SOLVER_NAMES.join(", "))]
    Solver {
        /// The name that was given.
        name: String,
    },
    /// Tables of poses do not belong to one fibre.
    #[error(
        "pose {pose} has {found} stations over {length} m where the first has {expected} over {first} m; tables of one fibre \
         have the same arclengths"
    )]
    Pose {
        /// Which.
        pose: usize,
        /// Its stations.
        found: usize,
        /// Its length.
        length: f64,
        /// Stations of the first.
        expected: usize,
        /// Length of the first.
        first: f64,
    },
    /// A branch grows from nothing.
    #[error(
        "branch {branch} grows from joint {joint} of branch {parent}, which there is not before it; list branches after what \
         bears them"
    )]
    Growth {
        /// Which.
        branch: usize,
        /// The branch it names.
        parent: usize,
        /// The joint it names.
        joint: usize,
    },
    /// A discrete rod where only curvatures will do.
    #[error(
        "{what} is only known of rods whose unknowns are curvatures, not of the discrete rod of nodes and angles"
    )]
    Nodal {
        /// What was asked for.
        what: &'static str,
    },
    /// A point of a drawn curve is not finite.
    #[error("point {point} of the curve is not a finite number; correct the file")]
    CurvePoint {
        /// Which, counted from 0.
        point: usize,
    },
    /// Too few points for a curve.
    #[error(
        "a curve of {points} point(s), {distinct} of them distinct, has no length; a fibre needs two points apart"
    )]
    CurveTooShort {
        /// Points given.
        points: usize,
        /// Points that differ from the one before.
        distinct: usize,
    },
    /// A curve turns back on itself within an element.
    #[error("the curve turns back on itself near {s:.4} m from its root; use more elements there")]
    CurveFolds {
        /// Where \[m\].
        s: f64,
    },
    /// A motion in which curvatures grow beyond all bounds.
    #[error(
        "fibre {fibre} turns by {angle:.0e} rad within one element after {time:.4} s: its motion has got out of hand, as that of a fibre much too soft \
         for its drawn shape does; make it stiffer or lighter, begin with a `rest`, or take a shorter `step`"
    )]
    Wild {
        /// Which, counted from 0.
        fibre: usize,
        /// By how much \[rad\].
        angle: f64,
        /// When \[s\].
        time: f64,
    },
    /// Whoever watched wanted no more.
    #[error("stopped before its end")]
    Stopped,
    /// An equilibrium could not be followed.
    #[error(
        "no equilibrium was found beyond {fraction:.3} of the weight; use more elements, or check the units of \
         stiffness and density"
    )]
    Lost {
        /// Fraction of the weight that was carried.
        fraction: f64,
    },
}
