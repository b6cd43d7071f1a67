use toile_geometry::{Topology, generate, orient_consistently};

#[test]
fn the_fewest_faces_are_turned_back() {
    let mesh = generate::sheet(6, 1.0);
    let mut faces = mesh.faces().to_vec();
    for f in [0, 7, 8, 20, 41] {
        faces[f].reverse();
    }
    assert!(Topology::new(36, faces.clone()).is_err());
    let turned = orient_consistently(&faces).unwrap();
    for (f, (new, old)) in turned.iter().zip(mesh.faces()).enumerate() {
        let k = old.iter().position(|v| v == &new[0]).unwrap();
        assert_eq!([old[k], old[(k + 1) % 3], old[(k + 2) % 3]], *new, "face {f}");
    }
}

#[test]
fn a_moebius_strip_has_no_orientation() {
    // Five triangles around: i, i+1, i+2 modulo 5.
    let faces: Vec<[u32; 3]> = (0..5).map(|i| [i, (i + 1) % 5, (i + 2) % 5]).collect();
    assert_eq!(orient_consistently(&faces), None);
    // Cut open it is a plain strip.
    assert!(orient_consistently(&faces[..4]).is_some());
}

#[test]
fn three_faces_at_an_edge_have_no_orientation() {
    assert_eq!(orient_consistently(&[[0, 1, 2], [1, 0, 3], [0, 1, 4]]), None);
}
