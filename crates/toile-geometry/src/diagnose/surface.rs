//! Do the faces make an oriented surface?

use super::{Element, Problem, ProblemKind, Severity};
use crate::Topology;
use crate::half_edges::{HalfEdge, by_edge, sorted_half_edges};
use crate::orient::reversals;
use crate::topology::components;

/// Marks faces with valid, distinct indices that do not repeat an earlier face; reports the
/// others.
pub(super) fn sound_faces(
    vertex_count: usize,
    faces: &[[u32; 3]],
    problems: &mut Vec<Problem>,
) -> Vec<bool> {
    let outside = |f: &usize| faces[*f].iter().any(|&v| v as usize >= vertex_count);
    let repeats = |f: &usize| {
        let [a, b, c] = faces[*f];
        a == b || b == c || c == a
    };
    let face = |f: usize| Element::Face(f as u32);
    let all = 0..faces.len();
    problems.extend(Problem::group(
        ProblemKind::IndexOutOfRange,
        Severity::Error,
        all.clone().filter(outside).map(face),
        &format!("a vertex number beyond the {vertex_count} vertices there are"),
        "correct the numbers or remove the faces (is the file cut short?)",
    ));
    problems.extend(Problem::group(
        ProblemKind::RepeatedVertex,
        Severity::Error,
        all.clone().filter(repeats).map(face),
        "the same vertex twice",
        "remove such faces: they are lines or points",
    ));
    let mut sound: Vec<bool> = all.map(|f| !outside(&f) && !repeats(&f)).collect();

    let sorted = |f: usize| {
        let mut face = faces[f];
        face.sort_unstable();
        (face, f)
    };
    let candidates = (0..faces.len()).filter(|&f| sound[f]);
    let mut sets: Vec<([u32; 3], usize)> = candidates.map(sorted).collect();
    sets.sort_unstable();
    for pair in sets.windows(2) {
        if pair[0].0 == pair[1].0 {
            sound[pair[1].1] = false;
        }
    }
    let mut twins: Vec<usize> = sets.iter().map(|s| s.1).filter(|&f| !sound[f]).collect();
    twins.sort_unstable();
    problems.extend(Problem::group(
        ProblemKind::DuplicateFace,
        Severity::Error,
        twins.into_iter().map(face),
        "the same three vertices as an earlier face",
        "remove the copies; a second layer of cloth needs vertices of its own",
    ));
    sound
}

/// Edges, orientation, vertices, pieces and boundary of the sound faces.
pub(super) fn check(
    vertex_count: usize,
    faces: &[[u32; 3]],
    sound: &[bool],
    problems: &mut Vec<Problem>,
) {
    let half_edges = sorted_half_edges(faces, |f| sound[f]);
    let crowded = by_edge(&half_edges).filter(|group| group.len() > 2);
    problems.extend(Problem::group(
        ProblemKind::NonManifoldEdge,
        Severity::Error,
        crowded.map(|group| Element::Edge(group[0].ends())),
        "three faces or more",
        "remove faces, or give each sheet its own vertices there (a seam can join them)",
    ));
    check_orientation(faces, &half_edges, problems);
    check_vertices(vertex_count, faces, sound, &half_edges, problems);

    // What follows only makes sense on a surface.
    let kept: Vec<[u32; 3]> = (0..faces.len()).filter(|&f| sound[f]).map(|f| faces[f]).collect();
    if kept.is_empty() {
        return;
    }
    let pieces = components(vertex_count, &kept).count;
    if pieces > 1 {
        problems.push(Problem {
            count: pieces,
            ..Problem::whole(
                ProblemKind::SeveralComponents,
                Severity::Note,
                format!("the mesh has {pieces} separate pieces"),
                "each falls by itself unless pins, seams or contacts hold it".into(),
            )
        });
    }
    if let Ok(topology) = Topology::new(vertex_count, kept) {
        let loops = topology.boundary_loops().len();
        let message = match loops {
            0 => "the surface is closed: it has no boundary".to_string(),
            1 => "the surface has 1 boundary loop".to_string(),
            _ => format!("the surface has {loops} boundary loops"),
        };
        let remedy = "if there should be others, look for holes or seams left open";
        problems.push(Problem {
            count: loops,
            ..Problem::whole(ProblemKind::BoundaryLoops, Severity::Note, message, remedy.into())
        });
    }
}

fn check_orientation(faces: &[[u32; 3]], half_edges: &[HalfEdge], problems: &mut Vec<Problem>) {
    let clashing = by_edge(half_edges).filter(|group| match group {
        [p, q] => p.directed(faces) == q.directed(faces),
        _ => false,
    });
    let found = Problem::group(
        ProblemKind::InconsistentOrientation,
        Severity::Error,
        clashing.map(|group| Element::Edge(group[0].ends())),
        "faces on both sides whose normals point to opposite sides",
        "",
    );
    let Some(mut problem) = found else {
        return;
    };
    problem.remedy = match reversals(faces, half_edges) {
        Some(reversed) => {
            let turn: Vec<usize> = (0..faces.len()).filter(|&f| reversed[f]).collect();
            let mut names: Vec<String> =
                turn.iter().take(Problem::SHOWN).map(ToString::to_string).collect();
            if turn.len() > names.len() {
                names.push("…".into());
            }
            let (n, s) = (turn.len(), if turn.len() == 1 { "" } else { "s" });
            format!(
                "a consistent orientation exists: reverse {n} face{s} ({}), as \"recalculate \
                 normals\" does in a modelling program",
                names.join(", ")
            )
        }
        None => "no consistent orientation exists, the surface is one-sided like a Möbius strip: \
                 cut it open along a line of edges"
            .into(),
    };
    problems.push(problem);
}

/// Vertices without faces, and vertices whose faces make several fans.
fn check_vertices(
    vertex_count: usize,
    faces: &[[u32; 3]],
    sound: &[bool],
    half_edges: &[HalfEdge],
    problems: &mut Vec<Problem>,
) {
    let mut used = vec![false; vertex_count];
    for &v in faces.iter().flatten() {
        // Faces left out count too: their own problem is enough.
        if let Some(mark) = used.get_mut(v as usize) {
            *mark = true;
        }
    }
    problems.extend(Problem::group(
        ProblemKind::UnreferencedVertex,
        Severity::Warning,
        (0..vertex_count).filter(|&v| !used[v]).map(|v| Element::Vertex(v as u32)),
        "no face",
        "remove such vertices: without mass and stiffness they have no equilibrium",
    ));

    // Join the corners of each vertex across common edges; several groups are several fans.
    let mut parent: Vec<u32> = (0..3 * faces.len() as u32).collect();
    let corner = |f: usize, v: u32| {
        let k = if faces[f][0] == v { 0 } else { 1 + usize::from(faces[f][1] != v) };
        3 * f + k
    };
    for group in by_edge(half_edges) {
        for pair in group.windows(2) {
            for v in pair[0].ends() {
                let p = root(&mut parent, corner(pair[0].face(), v));
                let q = root(&mut parent, corner(pair[1].face(), v));
                parent[p.max(q)] = p.min(q) as u32;
            }
        }
    }
    let mut fans = vec![0u32; vertex_count];
    for f in (0..faces.len()).filter(|&f| sound[f]) {
        for k in 0..3 {
            if parent[3 * f + k] as usize == 3 * f + k {
                fans[faces[f][k] as usize] += 1;
            }
        }
    }
    problems.extend(Problem::group(
        ProblemKind::NonManifoldVertex,
        Severity::Warning,
        (0..vertex_count).filter(|&v| fans[v] > 1).map(|v| Element::Vertex(v as u32)),
        "several sheets that touch in this point only",
        "give each sheet its own vertex, or join them along an edge: now they turn freely there",
    ));
}

fn root(parent: &mut [u32], mut i: usize) -> usize {
    while parent[i] as usize != i {
        // Path halving keeps the trees flat.
        parent[i] = parent[parent[i] as usize];
        i = parent[i] as usize;
    }
    i
}
