use toile_geometry::{TriMesh, Vec3, generate, size, vertex_normals};

#[test]
fn a_unit_square_has_area_one_and_normals_up() {
    let mesh = generate::sheet(5, 1.0);
    assert!((mesh.area() - 1.0).abs() < 1e-14);
    assert!((mesh.vertex_areas().iter().sum::<f64>() - 1.0).abs() < 1e-14);
    assert!(mesh.face_normals().iter().all(|n| (n - Vec3::z()).norm() < 1e-15));
    assert!((mesh.size() - 2f64.sqrt()).abs() < 1e-15);
    let normals = vertex_normals(&mesh.topology, &mesh.positions);
    assert!(normals.iter().all(|n| (n - Vec3::z()).norm() < 1e-15));
}

#[test]
fn a_corner_vertex_owns_a_third_of_its_faces() {
    let mesh = generate::sheet(2, 1.0); // faces 0 1 3 and 0 3 2
    let areas = mesh.vertex_areas();
    let expected = [1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0];
    assert!(areas.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{areas:?}");
}

#[test]
fn a_face_without_area_has_no_normal() {
    let line = vec![Vec3::zeros(), Vec3::x(), Vec3::x() * 2.0];
    let mesh = TriMesh::new(line, vec![[0, 1, 2]]).unwrap();
    assert_eq!(mesh.face_normals(), [Vec3::zeros()]);
    assert_eq!(size(&[]), 0.0);
}
