use toile_geometry::{MeshError, Topology};

/// Two triangles over a unit square: 0 1 2 and 0 2 3.
fn square() -> Topology {
    Topology::new(4, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
}

#[test]
fn edges_are_numbered_in_the_order_the_faces_reach_them() {
    let topology = square();
    let ends: Vec<_> = topology.edges().iter().map(|e| e.vertices).collect();
    assert_eq!(ends, [[1, 2], [2, 0], [0, 1], [2, 3], [3, 0]]);
    assert_eq!(topology.face_edges(), [[0, 1, 2], [3, 4, 1]]);
}

#[test]
fn an_edge_runs_along_its_left_face_and_against_its_right_face() {
    let topology = square();
    let shared = topology.edges()[1];
    assert_eq!(shared.faces, [Some(0), Some(1)]);
    assert_eq!(shared.opposite, [Some(1), Some(3)]);
    for (f, face) in topology.faces().iter().enumerate() {
        for m in 0..3 {
            let edge = topology.edges()[topology.face_edges()[f][m] as usize];
            let side = [face[(m + 1) % 3], face[(m + 2) % 3]];
            let k = usize::from(edge.faces[1] == Some(f as u32));
            let mut seen = edge.vertices;
            if k == 1 {
                seen.reverse();
            }
            assert_eq!(seen, side, "face {f} corner {m}");
            assert_eq!(edge.opposite[k], Some(face[m]));
        }
    }
}

#[test]
fn the_boundary_keeps_the_surface_on_its_left() {
    assert_eq!(square().boundary_loops(), [[1, 2, 3, 0]]);
}

#[test]
fn boundary_loops_stay_on_their_sheet_at_a_bow_tie() {
    let topology = Topology::new(5, vec![[0, 1, 2], [0, 3, 4]]).unwrap();
    assert_eq!(topology.boundary_loops(), [[1, 2, 0], [3, 4, 0]]);
    assert_eq!(topology.components().count, 1);
}

#[test]
fn components_are_numbered_by_their_first_face() {
    let topology = Topology::new(8, vec![[4, 5, 6], [0, 1, 2], [6, 5, 7]]).unwrap();
    let pieces = topology.components();
    assert_eq!(pieces.count, 2);
    assert_eq!(pieces.of_face, [0, 1, 0]);
    assert_eq!(pieces.of_vertex[3], None);
    assert_eq!(pieces.of_vertex[7], Some(0));
}

#[test]
fn sewn_pieces_are_one() {
    let faces = vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]];
    let topology = Topology::new(9, faces).unwrap().with_sewn([[4, 2], [2, 4], [3, 1]]);
    let pieces = topology.components();
    assert_eq!(pieces.count, 2);
    assert_eq!(pieces.of_face, [0, 0, 1]);
    assert_eq!(topology.sewn_to(2), [4]);
    assert!(topology.are_sewn(&[0, 1], &[3, 7]) && !topology.are_sewn(&[0, 6], &[3, 7]));
}

#[test]
fn a_tetrahedron_is_closed_and_has_euler_characteristic_two() {
    let faces = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let topology = Topology::new(4, faces).unwrap();
    assert!(topology.is_closed());
    assert_eq!(topology.euler_characteristic(), 2);
    assert_eq!(topology.vertex_faces(3), [1, 2, 3]);
    assert!(!topology.is_boundary_vertex(0));
}

#[test]
fn what_is_no_surface_is_refused_with_its_element() {
    let refuse = |faces: Vec<[u32; 3]>| Topology::new(5, faces).unwrap_err();
    assert_eq!(
        refuse(vec![[0, 1, 2], [1, 2, u32::MAX]]),
        MeshError::IndexOutOfRange { face: 1, vertex: u32::MAX, vertex_count: 5 }
    );
    assert_eq!(refuse(vec![[0, 3, 3]]), MeshError::RepeatedVertex { face: 0, vertex: 3 });
    for twin in [[1, 2, 0], [2, 1, 0]] {
        assert_eq!(refuse(vec![[0, 1, 2], twin]), MeshError::DuplicateFace { first: 0, second: 1 });
    }
    assert_eq!(
        refuse(vec![[0, 1, 2], [1, 0, 3], [0, 1, 4]]),
        MeshError::NonManifoldEdge { vertices: [0, 1], faces: [0, 1, 2], count: 3 }
    );
    assert_eq!(
        refuse(vec![[0, 1, 2], [0, 1, 3]]),
        MeshError::InconsistentOrientation { faces: [0, 1], vertices: [0, 1] }
    );
}

#[test]
fn a_mesh_too_large_to_number_is_refused_before_memory_is_asked_for() {
    assert!(matches!(Topology::new(usize::MAX, Vec::new()), Err(MeshError::TooLarge { .. })));
}
