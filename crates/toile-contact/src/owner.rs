//! Which face speaks for a vertex or an edge.

use toile_geometry::Topology;

/// For each face, bits 0–2: it owns the vertex at that corner; bits 3–5: it owns the edge opposite
/// to that corner. Every vertex with faces and every edge has exactly one owner, so that one tree
/// over faces finds each pair of vertices, edges and faces once (Curtis et al. 2008).
pub(crate) fn owners(topology: &Topology) -> Vec<u8> {
    let own = |f: usize| {
        let mut bits = 0;
        for m in 0..3 {
            let v = topology.faces()[f][m] as usize;
            if topology.vertex_faces(v)[0] == f as u32 {
                bits |= 1 << m;
            }
            let edge = &topology.edges()[topology.face_edges()[f][m] as usize];
            if edge.faces[0] == Some(f as u32) {
                bits |= 8 << m;
            }
        }
        bits
    };
    (0..topology.face_count()).map(own).collect()
}
