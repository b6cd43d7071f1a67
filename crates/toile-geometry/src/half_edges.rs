//! Half-edges sorted so that those of one edge lie side by side.

/// Side of a face, sorted by the edge it lies on and then by (face, corner).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HalfEdge {
    /// Lower end in the high word, higher end in the low word.
    key: u64,
    /// 3 × face + corner opposite to the side.
    index: u32,
}

impl HalfEdge {
    pub(crate) fn face(self) -> usize {
        self.index as usize / 3
    }

    pub(crate) fn corner(self) -> usize {
        self.index as usize % 3
    }

    /// Ends, the lower number first.
    pub(crate) fn ends(self) -> [u32; 2] {
        [(self.key >> 32) as u32, self.key as u32]
    }

    /// Ends in the direction in which the face runs.
    pub(crate) fn directed(self, faces: &[[u32; 3]]) -> [u32; 2] {
        let face = faces[self.face()];
        [face[(self.corner() + 1) % 3], face[(self.corner() + 2) % 3]]
    }

    /// The vertex of the face that is not on the side.
    pub(crate) fn opposite(self, faces: &[[u32; 3]]) -> u32 {
        faces[self.face()][self.corner()]
    }
}

/// All half-edges of the faces that `keep` accepts, sorted by edge.
///
/// A sort of (edge, half-edge) pairs: O(n log n), the same order whatever the machine, and
/// unlike a hash table or per-vertex lists it cannot be slowed down by hostile indices.
/// The number of faces must be below [`crate::topology::MAX_ELEMENTS`].
pub(crate) fn sorted_half_edges(faces: &[[u32; 3]], keep: impl Fn(usize) -> bool) -> Vec<HalfEdge> {
    let mut half_edges = Vec::with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate() {
        if !keep(f) {
            continue;
        }
        for m in 0..3 {
            let (a, b) = (face[(m + 1) % 3], face[(m + 2) % 3]);
            half_edges.push(HalfEdge {
                key: u64::from(a.min(b)) << 32 | u64::from(a.max(b)),
                index: (3 * f + m) as u32,
            });
        }
    }
    half_edges.sort_unstable();
    half_edges
}

/// The half-edges of each edge in turn.
pub(crate) fn by_edge(half_edges: &[HalfEdge]) -> impl Iterator<Item = &[HalfEdge]> {
    half_edges.chunk_by(|p, q| p.key == q.key)
}
