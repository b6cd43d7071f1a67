//! What can go wrong between a scene and a model.

use toile_contact::ContactError;
use toile_solve::SolveError;

/// Why a model could not be built or solved.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// A rest face has no area to speak of.
    #[error("face {face} has rest area {area:.1e} m²; merge its vertices or remesh the rest shape")]
    FlatRestFace {
        /// The face.
        face: usize,
        /// Its rest area \[m²\].
        area: f64,
    },
    /// Rest shape and start shape do not have the same vertices.
    #[error(
        "the rest shape has {rest} vertices and the mesh {mesh}; they must correspond one to one"
    )]
    RestMismatch {
        /// Vertices of the rest shape.
        rest: usize,
        /// Vertices of the mesh.
        mesh: usize,
    },
    /// A pin or a stitch names a vertex that does not exist.
    #[error(
        "pinned or sewn vertex {vertex} does not exist; the mesh has {count} vertices, numbered from 0"
    )]
    NoSuchVertex {
        /// The vertex.
        vertex: usize,
        /// How many there are.
        count: usize,
    },
    /// Nothing holds a piece of cloth, so it would fall for ever.
    #[error(
        "the piece with vertex {vertex} ({size} vertices) has no pinned vertex and nothing to rest on; \
         pin some of it, or remove it"
    )]
    FreeFall {
        /// A vertex of the piece.
        vertex: usize,
        /// How many vertices it has.
        size: usize,
    },
    /// A material constant is not one.
    #[error("{what} is {value}; it must be {must}")]
    BadParameter {
        /// Which constant.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        must: &'static str,
    },
    /// A coordinate is not a number.
    #[error("vertex {vertex} has a coordinate that is not a number")]
    NotFinite {
        /// The vertex.
        vertex: usize,
    },
    /// A collider or a layer of cloth could not be queried.
    #[error(transparent)]
    Contact(#[from] ContactError),
    /// A step in time could not be taken.
    #[error(
        "the step at {time:.4} s failed even when cut into {parts} parts; shorten the time step, or look for \
         cloth squeezed between colliders"
    )]
    StepFailed {
        /// Time at its start \[s\].
        time: f64,
        /// Parts that were tried.
        parts: usize,
    },
    /// A step in time was to stop.
    #[error("stopped on request in the middle of a step")]
    Stopped,
    /// The fibres beside a cloth could not do theirs.
    #[error(transparent)]
    Rod(#[from] toile_rod::RodError),
    /// The linear solver could not do its part.
    #[error(transparent)]
    Solve(#[from] SolveError),
}
