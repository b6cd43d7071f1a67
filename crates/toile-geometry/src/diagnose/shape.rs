//! Are the triangles, edges and the size reasonable?

use super::{Element, Problem, ProblemKind, Severity};
use crate::half_edges::{by_edge, sorted_half_edges};
use crate::mesh::is_finite;
use crate::weld::coincident;
use crate::{Vec3, shape};

/// Height over longest side below which a face has no area: a few times what round-off makes
/// of collinear points given with 12 digits.
const ZERO_HEIGHT: f64 = 1e-10;
/// Height over longest side of a sliver: an angle of half a degree, which costs the linear
/// solver two to four digits.
const SLIVER_HEIGHT: f64 = 1e-2;
/// Longest over shortest edge beyond which the mesh is called uneven.
const UNEVEN: f64 = 100.0;
/// Sizes of things made of cloth, paper or hair \[m\].
const USUAL_SIZES: std::ops::RangeInclusive<f64> = 0.01..=20.0;

/// Faces, edges, coincident vertices and size, over the sound faces with finite corners.
pub(super) fn check(
    positions: &[Vec3],
    faces: &[[u32; 3]],
    sound: &[bool],
    problems: &mut Vec<Problem>,
) {
    let finite: Vec<bool> = positions.iter().map(is_finite).collect();
    let sound: Vec<bool> = (0..faces.len())
        .map(|f| sound[f] && faces[f].iter().all(|&v| finite[v as usize]))
        .collect();
    if !sound.contains(&true) {
        return;
    }
    let (points, metres) = unit_size(positions, faces, &sound);
    check_faces(&points, faces, &sound, problems);
    check_edges(&points, faces, &sound, metres, problems);
    if metres > 0.0 && !USUAL_SIZES.contains(&metres) {
        let large = metres > *USUAL_SIZES.end();
        let remedy = if large {
            "if the file is in centimetres set `scale = 0.01`, in millimetres `scale = 0.001`"
        } else {
            "if the file is in other units than metres set `scale`: 0.01 for centimetres, \
             100 if it was divided once too often"
        };
        problems.push(Problem::whole(
            ProblemKind::SuspiciousSize,
            Severity::Warning,
            format!("the mesh measures {} across", in_metres(metres)),
            remedy.into(),
        ));
    }
}

/// The points scaled to a mesh of size 1 around the origin, so that no square overflows, and
/// the size in metres. Points outside the mesh may come out anywhere.
fn unit_size(positions: &[Vec3], faces: &[[u32; 3]], sound: &[bool]) -> (Vec<Vec3>, f64) {
    let used = (0..faces.len()).filter(|&f| sound[f]).flat_map(|f| faces[f]);
    let used: Vec<Vec3> = used.map(|v| positions[v as usize]).collect();
    let reach = used.iter().fold(0.0, |m: f64, x| m.max(x.amax()));
    if reach == 0.0 {
        return (vec![Vec3::zeros(); positions.len()], 0.0);
    }
    let near: Vec<Vec3> = used.iter().map(|x| x / reach).collect();
    let [low, high] = shape::bounding_box(&near).unwrap_or_default();
    let diagonal = (high - low).norm();
    let stretch = if diagonal > 0.0 { diagonal } else { 1.0 };
    let centre = (low + high) * 0.5;
    let points = positions.iter().map(|x| (x / reach - centre) / stretch).collect();
    (points, diagonal * reach)
}

fn check_faces(points: &[Vec3], faces: &[[u32; 3]], sound: &[bool], problems: &mut Vec<Problem>) {
    // Height over longest side; 0 for a face that is a point at the scale of the mesh.
    let slimness = |f: usize| {
        let [a, b, c] = faces[f].map(|v| points[v as usize]);
        let (u, v) = (b - a, c - a);
        let longest = u.norm().max(v.norm()).max((c - b).norm());
        if longest < 1e-13 { 0.0 } else { (u / longest).cross(&(v / longest)).norm() }
    };
    let slim: Vec<(usize, f64)> = (0..faces.len())
        .filter(|&f| sound[f])
        .map(|f| (f, slimness(f)))
        .filter(|&(_, s)| s < SLIVER_HEIGHT)
        .collect();
    let flat = slim.iter().filter(|(_, s)| *s < ZERO_HEIGHT);
    problems.extend(Problem::group(
        ProblemKind::ZeroArea,
        Severity::Error,
        flat.map(|&(f, _)| Element::Face(f as u32)),
        "no area",
        "merge their vertices, remove them or remesh; if only the draped shape is bad, give a \
         sound rest shape",
    ));
    let slivers = slim.iter().filter(|(_, s)| *s >= ZERO_HEIGHT);
    let worst = slivers.clone().fold(f64::INFINITY, |m, (_, s)| m.min(*s));
    problems.extend(Problem::group(
        ProblemKind::Sliver,
        Severity::Warning,
        slivers.map(|&(f, _)| Element::Face(f as u32)),
        &format!("a height below 1 % of the longest side (worst: {:.1e})", worst),
        "remesh: slivers make the cloth locally stiff and the equations ill-conditioned",
    ));
}

/// Lengths of edges, and vertices in the same place.
fn check_edges(
    points: &[Vec3],
    faces: &[[u32; 3]],
    sound: &[bool],
    metres: f64,
    problems: &mut Vec<Problem>,
) {
    let half_edges = sorted_half_edges(faces, |f| sound[f]);
    let mut lengths = Vec::new();
    let (mut shortest, mut longest) = ((f64::INFINITY, [0; 2]), (0.0, [0; 2]));
    let mut place = vec![None; points.len()]; // whether on the boundary, if used
    for group in by_edge(&half_edges) {
        let ends = group[0].ends();
        for v in ends {
            let boundary = place[v as usize].get_or_insert(false);
            *boundary |= group.len() == 1;
        }
        let length = (points[ends[0] as usize] - points[ends[1] as usize]).norm();
        if length < 1e-13 {
            continue; // its faces have no area, which is said elsewhere
        }
        lengths.push(length);
        if length < shortest.0 {
            shortest = (length, ends);
        }
        if length > longest.0 {
            longest = (length, ends);
        }
    }
    if lengths.is_empty() {
        return;
    }
    if longest.0 > UNEVEN * shortest.0 {
        problems.push(Problem {
            elements: vec![Element::Edge(shortest.1), Element::Edge(longest.1)],
            ..Problem::whole(
                ProblemKind::UnevenEdges,
                Severity::Warning,
                format!(
                    "edge lengths run from {} (edge {}–{}) to {} (edge {}–{})",
                    in_metres(shortest.0 * metres),
                    shortest.1[0],
                    shortest.1[1],
                    in_metres(longest.0 * metres),
                    longest.1[0],
                    longest.1[1]
                ),
                "remesh more evenly: accuracy is that of the longest edges, cost and conditioning \
                 those of the shortest"
                    .into(),
            )
        });
    }
    let middle = lengths.len() / 2;
    let (_, median, _) = lengths.select_nth_unstable_by(middle, f64::total_cmp);
    check_coincident(points, &place, f64::min(1e-6, 0.01 * *median), problems);
}

/// Used vertices in the same place: on boundaries the sign of a seam that is not sewn.
fn check_coincident(
    points: &[Vec3],
    place: &[Option<bool>],
    tolerance: f64,
    problems: &mut Vec<Problem>,
) {
    // Boundary vertices first, so that each is paired with another one of the boundary if it can.
    let used = |boundary| (0..points.len()).filter(move |&v| place[v] == Some(boundary));
    let order: Vec<usize> = used(true).chain(used(false)).collect();
    let boundary_count = used(true).count();
    let ordered: Vec<Vec3> = order.iter().map(|&v| points[v]).collect();
    let partner = coincident(&ordered, tolerance);
    let meeting = |range: std::ops::Range<usize>| {
        let mut vertices: Vec<usize> =
            range.filter(|&i| partner[i] != i).map(|i| order[i]).collect();
        vertices.sort_unstable();
        vertices.into_iter().map(|v| Element::Vertex(v as u32))
    };
    problems.extend(Problem::group(
        ProblemKind::UnweldedSeam,
        Severity::Warning,
        meeting(0..boundary_count),
        "the place of another boundary vertex, like a seam that is not sewn",
        "merge the vertices if the seam should hold, or add stitches; now the sides come apart",
    ));
    problems.extend(Problem::group(
        ProblemKind::CoincidentVertices,
        Severity::Note,
        meeting(boundary_count..order.len()),
        "the place of another vertex",
        "no harm where layers touch; merge them if they should be one",
    ));
}

/// A length with three digits, without hundreds of zeros for absurd sizes.
fn in_metres(length: f64) -> String {
    if (1e-3..1e5).contains(&length) {
        let digits = (2.0 - length.log10().floor()).clamp(0.0, 5.0) as usize;
        format!("{length:.digits$} m")
    } else {
        format!("{length:.2e} m")
    }
}
