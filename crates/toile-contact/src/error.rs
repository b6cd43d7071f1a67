//! Why a collider, a motion or a query is refused.

use thiserror::Error;

/// What is wrong with the input of a contact query.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ContactError {
    /// A length that must be positive is not.
    #[error("{what} is {value} m; give a positive, finite length")]
    NotPositive {
        /// Which length.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A quantity that must not be negative is.
    #[error("{what} is {value}; give zero or a positive, finite number")]
    Negative {
        /// Which quantity.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A vector with a coordinate that is NaN or infinite.
    #[error("{what} has a coordinate that is not a finite number; correct it")]
    NotFinite {
        /// Which vector.
        what: &'static str,
    },
    /// A direction without length.
    #[error("{what} has no length, so it gives no direction; give a vector that is not zero")]
    NoDirection {
        /// Which direction.
        what: &'static str,
    },
    /// A torus whose tube reaches its axis.
    #[error(
        "the tube of the torus (radius {minor} m) reaches its axis (ring radius {major} m); make the \
         ring radius larger than the tube radius"
    )]
    TorusClosesOnItself {
        /// Radius of the ring \[m\].
        major: f64,
        /// Radius of the tube \[m\].
        minor: f64,
    },
    /// A mesh without faces.
    #[error("the collider mesh has no faces; give at least one triangle")]
    EmptyMesh,
    /// A mesh whose faces all lie on lines.
    #[error(
        "all {faces} faces of the collider mesh have no area (the largest {largest:.1e} m²); check the \
         coordinates and the scale"
    )]
    FlatMesh {
        /// Number of faces.
        faces: usize,
        /// Largest area \[m²\].
        largest: f64,
    },
    /// A motion without key times.
    #[error("the motion has no keys; give at least one time with its position")]
    NoKeys,
    /// Key times that do not increase.
    #[error(
        "key {key} is at {time} s, not after key {before} at {previous} s; sort the keys by time and \
         remove repeated ones",
        before = key - 1
    )]
    KeysNotIncreasing {
        /// The later key.
        key: usize,
        /// Its time \[s\].
        time: f64,
        /// Time of the key before \[s\].
        previous: f64,
    },
    /// A frame of a mesh sequence has another number of vertices.
    #[error(
        "key {key} of the mesh sequence has {found} vertices, the collider mesh has {expected}; \
         use the same mesh in every frame"
    )]
    SequenceCount {
        /// The key.
        key: usize,
        /// Vertices of the collider mesh.
        expected: usize,
        /// Vertices of the frame.
        found: usize,
    },
    /// A mesh sequence with another number of frames than times.
    #[error("the mesh sequence has {expected} times but {found} frames; give one frame per time")]
    FrameCount {
        /// Number of times.
        expected: usize,
        /// Number of frames.
        found: usize,
    },
    /// A mesh sequence for a shape that is no mesh.
    #[error("a mesh sequence moves vertices, but the collider is no mesh; use keyframes instead")]
    SequenceWithoutMesh,
    /// Another number of positions than the topology has vertices.
    #[error(
        "{found} positions were given for a mesh of {expected} vertices; give one position per vertex"
    )]
    PositionCount {
        /// Vertices of the mesh.
        expected: usize,
        /// Positions given.
        found: usize,
    },
    /// A vertex of the cloth is nowhere.
    #[error(
        "vertex {vertex} of the cloth has a coordinate that is not a finite number; the step that \
         produced it failed, take a shorter one"
    )]
    PositionNotFinite {
        /// The vertex.
        vertex: usize,
    },
    /// A time that is NaN or infinite, or an interval that runs backwards.
    #[error("the interval from {start} s to {end} s is no time step; give finite times in order")]
    BadInterval {
        /// Start \[s\].
        start: f64,
        /// End \[s\].
        end: f64,
    },
}
