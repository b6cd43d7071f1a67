//! Each problem is found on a small example, and random meshes never break the search.

use crate::rng::Rng;
use toile_geometry::generate::{Around, Triangulation};
use toile_geometry::{
    Element, Problem, ProblemKind, Severity, Topology, TriMesh, Vec3, diagnose, generate,
    orient_consistently,
};

/// A flat patch of four vertices: faces 0 1 2 and 0 2 3.
fn patch() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let positions = corners.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
    (positions, vec![[0, 1, 2], [0, 2, 3]])
}

/// The one problem of that kind; the test fails if there is none.
fn find(problems: &[Problem], kind: ProblemKind) -> &Problem {
    let found: Vec<&Problem> = problems.iter().filter(|p| p.kind == kind).collect();
    assert_eq!(found.len(), 1, "{kind:?} in {problems:#?}");
    found[0]
}

/// Kinds that are more than notes.
fn grave(problems: &[Problem]) -> Vec<ProblemKind> {
    let grave = problems.iter().filter(|p| p.severity > Severity::Note);
    grave.map(|p| p.kind).collect()
}

#[test]
fn generated_meshes_are_sound() {
    let triangulations = [
        Triangulation::Regular,
        Triangulation::Alternating,
        Triangulation::Equilateral,
        Triangulation::Random { seed: 5 },
    ];
    let mut meshes: Vec<TriMesh> =
        triangulations.iter().map(|t| generate::rectangle(1.0, 0.7, 20, 14, *t)).collect();
    meshes.extend([
        generate::sheet(12, 1.0),
        generate::strip(1.0, 0.1, 40, 4),
        generate::annulus(0.1, 0.4, 6, 30),
        generate::disc(0.5, 8),
        generate::cylinder(0.2, 0.5, 20, 10),
        generate::cone_frustum(0.2, 0.4, 0.5, 20, 10),
        generate::sphere(0.5, 3),
        generate::hemisphere(1.0, 0.3, Around::Full, 24, 8),
        generate::hemisphere(1.0, 0.3, Around::Quarter, 8, 8),
        generate::cylindrical_panel(1.0, 1.0, 1.0, 8, 8),
    ]);
    for (i, mesh) in meshes.iter().enumerate() {
        let problems = diagnose(&mesh.positions, mesh.faces());
        assert_eq!(grave(&problems), [], "mesh {i}: {problems:#?}");
        let loops = find(&problems, ProblemKind::BoundaryLoops).count;
        assert_eq!(loops, mesh.topology.boundary_loops().len());
    }
}

#[test]
fn an_empty_mesh_is_called_empty() {
    assert_eq!(grave(&diagnose(&[], &[])), [ProblemKind::NoVertices, ProblemKind::NoFaces]);
    let cloud = grave(&diagnose(&patch().0, &[]));
    assert_eq!(cloud, [ProblemKind::NoFaces, ProblemKind::UnreferencedVertex]);
}

#[test]
fn coordinates_that_are_no_numbers_are_named() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (mut positions, faces) = patch();
        positions[3].y = bad;
        let problems = diagnose(&positions, &faces);
        assert_eq!(grave(&problems), [ProblemKind::NonFinite]);
        assert_eq!(problems[0].elements, [Element::Vertex(3)]);
    }
}

#[test]
fn faces_with_wrong_or_repeated_vertices_are_named() {
    let (positions, mut faces) = patch();
    faces.extend([[1, 2, 4], [2, 2, 3], [0, 1, u32::MAX]]);
    let problems = diagnose(&positions, &faces);
    assert_eq!(grave(&problems), [ProblemKind::IndexOutOfRange, ProblemKind::RepeatedVertex]);
    assert_eq!(problems[0].elements, [Element::Face(2), Element::Face(4)]);
    assert_eq!(problems[0].count, 2);
    assert_eq!(problems[1].elements, [Element::Face(3)]);
    assert_eq!(
        problems[0].to_string(),
        "error: 2 faces have a vertex number beyond the 4 vertices there are (2, 4); \
         correct the numbers or remove the faces (is the file cut short?)"
    );
}

#[test]
fn repeated_faces_are_named_whichever_way_they_turn() {
    let (positions, mut faces) = patch();
    faces.extend([[3, 2, 0], [1, 2, 0]]);
    let problems = diagnose(&positions, &faces);
    assert_eq!(grave(&problems), [ProblemKind::DuplicateFace]);
    assert_eq!(problems[0].elements, [Element::Face(2), Element::Face(3)]);
}

#[test]
fn faces_without_area_are_errors_and_slivers_warnings_at_any_scale() {
    for scale in [1e-160, 0.1, 1.0, 1e200] {
        for (height, expected) in [
            (0.0, Some(ProblemKind::ZeroArea)),
            (1e-12, Some(ProblemKind::ZeroArea)),
            (1e-8, Some(ProblemKind::Sliver)),
            (5e-3, Some(ProblemKind::Sliver)),
            (2e-2, None),
        ] {
            let (mut positions, faces) = patch();
            positions[3] = Vec3::new(0.5 - height, 0.5 + height, 0.0);
            let positions: Vec<Vec3> = positions.iter().map(|x| x * scale).collect();
            let mut kinds = grave(&diagnose(&positions, &faces));
            kinds.retain(|k| *k != ProblemKind::SuspiciousSize);
            assert_eq!(kinds, Vec::from_iter(expected), "height {height}, scale {scale}");
        }
    }
    // All in one point.
    let faces = [[0, 1, 2]];
    let problems = diagnose(&[Vec3::x(); 3], &faces);
    assert_eq!(find(&problems, ProblemKind::ZeroArea).elements, [Element::Face(0)]);
}

#[test]
fn an_edge_with_three_faces_is_named() {
    let (mut positions, mut faces) = patch();
    positions.push(Vec3::new(0.5, 0.5, 1.0));
    faces.push([0, 2, 4]);
    let problems = diagnose(&positions, &faces);
    assert_eq!(grave(&problems), [ProblemKind::NonManifoldEdge]);
    assert_eq!(problems[0].elements, [Element::Edge([0, 2])]);
}

#[test]
fn a_bow_tie_is_named() {
    let (mut positions, mut faces) = patch();
    positions.extend([Vec3::new(2.0, 1.0, 0.0), Vec3::new(2.0, 2.0, 0.0)]);
    faces.push([2, 4, 5]);
    let problems = diagnose(&positions, &faces);
    assert_eq!(grave(&problems), [ProblemKind::NonManifoldVertex]);
    assert_eq!(problems[0].elements, [Element::Vertex(2)]);
}

#[test]
fn opposite_normals_come_with_the_faces_to_reverse() {
    let mesh = generate::sheet(5, 1.0);
    let mut faces = mesh.faces().to_vec();
    faces[9].reverse();
    let problems = diagnose(&mesh.positions, &faces);
    assert_eq!(grave(&problems), [ProblemKind::InconsistentOrientation]);
    assert_eq!(problems[0].count, 3);
    assert!(problems[0].remedy.contains("reverse 1 face (9)"), "{}", problems[0]);
}

#[test]
fn a_one_sided_surface_is_called_one_sided() {
    let turn = |i: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / 5.0).sin_cos();
        Vec3::new(cos, sin, 0.3 * f64::from(i % 2))
    };
    let positions: Vec<Vec3> = (0..5).map(turn).collect();
    let faces: Vec<[u32; 3]> = (0..5).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
    let problems = diagnose(&positions, &faces);
    let found = find(&problems, ProblemKind::InconsistentOrientation);
    assert!(found.remedy.contains("Möbius"), "{found}");
}

#[test]
fn unused_vertices_are_named() {
    let (mut positions, faces) = patch();
    positions.extend([Vec3::zeros(), Vec3::new(1e9, 0.0, 0.0)]);
    let problems = diagnose(&positions, &faces);
    assert_eq!(grave(&problems), [ProblemKind::UnreferencedVertex]);
    assert_eq!(problems[0].elements, [Element::Vertex(4), Element::Vertex(5)]);
}

#[test]
fn an_open_seam_is_named_and_several_pieces_noted() {
    let panel = generate::sheet(4, 1.0);
    let mut positions = panel.positions.clone();
    positions.extend(panel.positions.iter().map(|x| x + Vec3::new(1.0, 0.0, 0.0)));
    let mut faces = panel.faces().to_vec();
    faces.extend(panel.faces().iter().map(|f| f.map(|v| v + 16)));
    let problems = diagnose(&positions, &faces);
    assert_eq!(grave(&problems), [ProblemKind::UnweldedSeam]);
    assert_eq!(problems[0].count, 4);
    assert_eq!(problems[0].elements[0], Element::Vertex(16));
    assert_eq!(find(&problems, ProblemKind::SeveralComponents).count, 2);
    assert_eq!(find(&problems, ProblemKind::BoundaryLoops).count, 2);
}

#[test]
fn layers_that_touch_inside_are_only_noted() {
    let layer = generate::sphere(1.0, 1);
    let n = layer.positions.len() as u32;
    let positions = [layer.positions.clone(), layer.positions.clone()].concat();
    let mut faces = layer.faces().to_vec();
    faces.extend(layer.faces().iter().map(|f| f.map(|v| v + n)));
    let problems = diagnose(&positions, &faces);
    assert_eq!(grave(&problems), []);
    assert_eq!(find(&problems, ProblemKind::CoincidentVertices).count, n as usize);
}

#[test]
fn sizes_in_other_units_are_suspected() {
    for (size, suspicious) in [(100.0, true), (1.0, false), (0.02, false), (0.005, true)] {
        let mesh = generate::sheet(5, size);
        let problems = diagnose(&mesh.positions, mesh.faces());
        let expected = if suspicious { vec![ProblemKind::SuspiciousSize] } else { vec![] };
        assert_eq!(grave(&problems), expected, "{size} m");
    }
    let mesh = generate::sheet(5, 120.0);
    let problems = diagnose(&mesh.positions, mesh.faces());
    let words = problems[0].to_string();
    assert!(words.contains("170 m") && words.contains("scale = 0.01"), "{words}");
}

#[test]
fn uneven_edges_are_named() {
    let mut mesh = generate::sheet(9, 1.0);
    for x in &mut mesh.positions {
        *x = (*x + Vec3::new(0.5, 0.5, 0.0)).map(|c| c.powi(4)); // 8⁻⁴ … 0.41
    }
    let problems = diagnose(&mesh.positions, mesh.faces());
    let found = find(&problems, ProblemKind::UnevenEdges);
    assert_eq!(found.elements[0], Element::Edge([0, 1]));
    assert_eq!(found.severity, Severity::Warning);
}

#[test]
fn many_alike_problems_are_one_with_a_count() {
    let (positions, mut faces) = patch();
    faces.extend(vec![[7, 8, 9]; 1000]);
    let problems = diagnose(&positions, &faces);
    assert_eq!(problems[0].count, 1000);
    assert_eq!(problems[0].elements.len(), Problem::SHOWN);
    assert!(problems[0].message.contains("(2, 3, 4, 5, 6, …)"), "{}", problems[0]);
}

#[test]
fn errors_come_before_warnings_before_notes() {
    let (mut positions, mut faces) = patch();
    positions.push(Vec3::new(0.0, 0.0, 1000.0));
    faces.extend([[0, 1, 9], [0, 1, 1]]);
    let problems = diagnose(&positions, &faces);
    assert!(problems.is_sorted_by_key(|p| std::cmp::Reverse(p.severity)));
    assert_eq!(problems[0].severity, Severity::Error);
}

/// A coordinate as hostile files have them.
fn coordinate(rng: &mut Rng) -> f64 {
    match rng.below(13) {
        0..8 => rng.symmetric(),
        8..12 => rng.below(5) as f64 - 2.0,
        _ => f64::from_bits(rng.bits()), // NaN, infinities, subnormal numbers
    }
}

fn soup(rng: &mut Rng) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let positions = (0..rng.below(10)).map(|_| Vec3::from_fn(|_, _| coordinate(rng))).collect();
    let index = |rng: &mut Rng| match rng.below(62) {
        0 => u32::MAX,
        1 => 8 + rng.below(4) as u32,
        _ => rng.below(8) as u32,
    };
    let faces = (0..rng.below(9)).map(|_| std::array::from_fn(|_| index(rng))).collect();
    (positions, faces)
}

/// What the diagnosis calls an error of topology is what the constructor refuses.
#[test]
fn diagnosis_and_constructor_agree() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..20_000 {
        let (positions, faces) = soup(&mut Rng::new(seed));
        let problems = diagnose(&positions, &faces);
        for p in &problems {
            assert!(!p.to_string().is_empty() && p.elements.len() <= Problem::SHOWN);
        }
        let refused = TriMesh::new(positions, faces).is_err();
        let shape_only = [ProblemKind::NoVertices, ProblemKind::NoFaces, ProblemKind::ZeroArea];
        let blamed =
            problems.iter().any(|p| p.severity == Severity::Error && !shape_only.contains(&p.kind));
        assert_eq!(refused, blamed, "seed {seed}: {problems:#?}");
        if refused { rejected += 1 } else { accepted += 1 }
    }
    assert!(accepted > 500 && rejected > 500, "{accepted} accepted, {rejected} rejected");
}

/// A soup can be oriented exactly if one of all choices of reversals is accepted.
#[test]
fn orientation_is_found_exactly_when_there_is_one() {
    let mut triples = Vec::new();
    for a in 0..6u32 {
        for b in a + 1..6 {
            triples.extend((b + 1..6).map(|c| [a, b, c]));
        }
    }
    let (mut with, mut without) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        // One to five different triples, each turned or not.
        let mut left = triples.clone();
        let count = 1 + rng.below(5);
        let faces: Vec<[u32; 3]> = (0..count)
            .map(|_| {
                let mut face = left.swap_remove(rng.below(left.len()));
                if rng.below(2) == 1 {
                    face.reverse();
                }
                face
            })
            .collect();
        let possible = (0..1u32 << faces.len()).any(|mask| {
            let mut turned = faces.clone();
            for (f, face) in turned.iter_mut().enumerate() {
                if mask >> f & 1 == 1 {
                    face.swap(1, 2);
                }
            }
            Topology::new(6, turned).is_ok()
        });
        let oriented = orient_consistently(&faces);
        assert_eq!(oriented.is_some(), possible, "seed {seed}: {faces:?}");
        if let Some(oriented) = oriented {
            assert!(Topology::new(6, oriented).is_ok());
        }
        if possible { with += 1 } else { without += 1 }
    }
    assert!(with > 500 && without > 500, "{with} orientable, {without} not");
}
