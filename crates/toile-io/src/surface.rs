//! From the triangles of a file to a surface that can be computed with.

use toile_geometry::{
    MendCounts, MendSettings, ProblemKind, Severity, Topology, Vec3, bounding_box, diagnose,
    inverted_faces, meeting_borders, mend, orient_consistently,
};
use toile_sim::{Stitch, pinching_stitches};

use crate::mesh::MeshData;

/// A surface, and how its vertices are those of a file.
pub(crate) struct Surface {
    pub(crate) positions: Vec<Vec3>,
    /// Faces that all run the same way round, if they can.
    pub(crate) faces: Vec<[u32; 3]>,
    /// Vertex of the file of each vertex.
    pub(crate) origin: Vec<u32>,
    /// Vertex of each vertex of the file.
    pub(crate) image: Vec<Option<u32>>,
    /// What was done to it.
    pub(crate) counts: MendCounts,
}

/// Borders this close, as a part of the size, meet.
const MEETING: f64 = 1e-6;
/// Pieces with a smaller part of the area are crumbs.
const CRUMB: f64 = 1e-3;
/// Triangles thinner than this part of their longest side are reshaped in a mesh that is mended: against them cloth is stiff beyond measure in one direction and
/// what balances it is lost in rounding. A mesh is mended for them where they are as thin as [`ProblemKind::Sliver`] says.
const SLENDER: f64 = 0.06;

impl Surface {
    /// The surface of a mesh; what had to be done is noted.
    ///
    /// Sound meshes are taken as they are, triangles thinner than a hundredth of their longest side put otherwise. Borders that meet are merged; where the mesh has a rest shape of its own, in which they
    /// may lie apart, they are sewn instead, and so they are where the file has stitches already.
    pub(crate) fn of(
        mesh: &MeshData,
        places: &[Vec3],
        has_rest: bool,
        seams: &mut Vec<Stitch>,
        notes: &mut Vec<String>,
    ) -> Self {
        let turned = orient_consistently(&mesh.faces);
        let faces = turned.clone().unwrap_or_else(|| mesh.faces.clone());
        let problems = diagnose(places, &faces);
        let open = problems.iter().any(|p| p.kind == ProblemKind::UnweldedSeam);
        let faulty = problems.iter().any(|p| p.severity == Severity::Error);
        let [low, high] = bounding_box(places).unwrap_or_default();
        let tolerance = MEETING * (high - low).norm();
        let stitched = !seams.is_empty();
        if open && has_rest && !stitched {
            let pairs = meeting_borders(places, &faces, tolerance);
            if !pairs.is_empty() {
                notes.push(format!("borders meet at {} vertices: taken as sewn", pairs.len()));
            }
            let sewn = pairs.iter().map(|&[a, b]| Stitch { vertex: b, edge: [a, a], weight: 0.0 });
            seams.extend(sewn);
        }
        // Upside-down faces of a file that can be read at all.
        let folded = || !faulty && !inverted_faces(places, &faces).is_empty();
        let thin =
            !has_rest && (problems.iter().any(|p| p.kind == ProblemKind::Sliver) || folded());
        if !faulty && !thin && (!open || has_rest || stitched) {
            let count = faces.iter().zip(&mesh.faces).filter(|(a, b)| a != b).count();
            if count > 0 {
                notes.push(format!(
                    "{count} of {} faces ran the other way round than their neighbours: turned for the \
                     computation, written as they were",
                    mesh.faces.len()
                ));
            }
            let count = places.len() as u32;
            let image = (0..count).map(Some).collect();
            return Self {
                positions: places.to_vec(),
                faces,
                origin: (0..count).collect(),
                image,
                counts: MendCounts::default(),
            };
        }
        let settings = MendSettings {
            tolerance: if has_rest || stitched { -1.0 } else { tolerance },
            crumb: CRUMB,
            slender: if has_rest { 0.0 } else { SLENDER },
            hole: 0.0,
        };
        let mended = mend(places, &faces, &settings);
        let words = mended.counts.words();
        if !words.is_empty() {
            notes.push(format!(
                "mended for the computation, and written as it was: {}",
                words.join("; ")
            ));
        }
        let image = mended.image;
        let keep = |v: u32| image[v as usize];
        *seams = seams
            .iter()
            .filter_map(|s| {
                let (vertex, a, b) = (keep(s.vertex)?, keep(s.edge[0])?, keep(s.edge[1])?);
                let weight = if a == b { 0.0 } else { s.weight };
                let stitch = Stitch { vertex, edge: [a, b], weight };
                let idle = stitch.pairs().any(|[v, e]| v == e);
                (!idle).then_some(stitch)
            })
            .collect();
        // Sheets that met at an edge of three faces have vertices of their own now: they stay joined by threads.
        let mut first = vec![None; places.len()];
        for (v, &old) in mended.origin.iter().enumerate() {
            match first[old as usize] {
                None => first[old as usize] = Some(v as u32),
                Some(a) => seams.push(Stitch { vertex: v as u32, edge: [a, a], weight: 0.0 }),
            }
        }
        let Some(positions) = mended.positions.get(..mended.origin.len()) else {
            unreachable!("no holes are filled")
        };
        Self {
            positions: positions.to_vec(),
            faces: mended.faces,
            origin: mended.origin,
            image,
            counts: mended.counts,
        }
    }
}

/// Leaves out stitches that cannot be closed beside the others without a face of the cloth losing its width: where triangles at a seam were merged away, where
/// the ends of an edge are sewn to one point, or all corners of a face to one line.
pub(crate) fn unpinch(
    positions: &[Vec3],
    topology: &Topology,
    seams: &mut Vec<Stitch>,
    notes: &mut Vec<String>,
) {
    let pinching = pinching_stitches(positions, topology, seams);
    if let [first, ..] = pinching.as_slice() {
        notes.push(format!(
            "{} of {} stitches left out, beside which others would leave a face no width (the first: vertex {} of the computation)",
            pinching.len(),
            seams.len(),
            seams[*first].vertex
        ));
        let mut number = 0..;
        seams.retain(|_| number.next().is_some_and(|s: usize| pinching.binary_search(&s).is_err()));
    }
}
