//! One place where two things touch.

use toile_num::Vector;

/// Names a contact from one step to the next, so that its force can be kept as a first guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactKey {
    /// A vertex on the surface of a collider.
    VertexCollider {
        /// Vertex of the cloth.
        vertex: u32,
        /// Place of the collider in the scene.
        collider: u32,
    },
    /// A face of the cloth on a vertex (or other sharp point) of a collider.
    FaceCollider {
        /// Face of the cloth.
        face: u32,
        /// Place of the collider in the scene.
        collider: u32,
        /// Which point of the collider.
        feature: u32,
    },
    /// An edge of the cloth across an edge of a collider.
    EdgeCollider {
        /// Edge of the cloth.
        edge: u32,
        /// Place of the collider in the scene.
        collider: u32,
        /// Which edge of the collider.
        feature: u32,
    },
    /// A vertex of the cloth on a face of the cloth.
    VertexFace {
        /// The vertex.
        vertex: u32,
        /// The face.
        face: u32,
    },
    /// Two edges of the cloth that cross.
    EdgeEdge {
        /// The edge with the smaller number.
        first: u32,
        /// The other edge.
        second: u32,
    },
}

impl ContactKey {
    /// Whether both sides are cloth.
    pub fn between_layers(&self) -> bool {
        matches!(self, Self::VertexFace { .. } | Self::EdgeEdge { .. })
    }

    /// The collider it is with, if any.
    pub fn collider(&self) -> Option<u32> {
        match *self {
            Self::VertexCollider { collider, .. }
            | Self::EdgeCollider { collider, .. }
            | Self::FaceCollider { collider, .. } => Some(collider),
            Self::VertexFace { .. } | Self::EdgeEdge { .. } => None,
        }
    }
}

/// One place where the cloth touches a collider or itself.
///
/// The relative position of the two sides is Σ wᵢ xᵢ − p, with p a point of the collider (zero
/// between two layers); its derivative in time is the relative velocity u = Σ wᵢ vᵢ − ṗ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// What touches what.
    pub key: ContactKey,
    /// Vertices of the cloth that carry the contact; the first `count` are meant.
    pub vertices: [u32; 4],
    /// Weight of each of them; they sum to one on a collider, to zero between two layers.
    pub weights: [f64; 4],
    /// How many vertices carry the contact (1 to 4).
    pub count: u8,
    /// Unit normal, from the second side (collider, face, second edge) to the first.
    pub normal: Vector<3>,
    /// Distance along the normal minus the distance to be kept \[m\]; negative when too close.
    pub gap: f64,
    /// Velocity of the collider at the contact \[m/s\]; zero between two layers.
    pub velocity: Vector<3>,
    /// Coefficient of friction.
    pub friction: f64,
}

impl Contact {
    /// The vertices that carry the contact with their weights.
    pub fn carriers(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let count = usize::from(self.count);
        self.vertices[..count].iter().copied().zip(self.weights[..count].iter().copied())
    }

    /// Σ wᵢ xᵢ: where a contact with a collider is, or how far two layers are apart \[m\].
    pub fn sum(&self, positions: &[Vector<3>]) -> Vector<3> {
        self.carriers().fold(Vector::zeros(), |sum, (v, w)| sum + positions[v as usize] * w)
    }
}
