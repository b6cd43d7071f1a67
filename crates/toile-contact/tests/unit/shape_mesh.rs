use crate::distance::is_flat;
use crate::random::Random;
use toile_contact::{ContactError, MeshShape, Sides};
use toile_geometry::{TriMesh, Vec3, generate};

fn ball(center: Vec3, radius: f64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mesh = generate::sphere(radius, 4);
    (mesh.positions.iter().map(|x| x + center).collect(), mesh.faces().to_vec())
}

fn joined(parts: &[(Vec<Vec3>, Vec<[u32; 3]>)]) -> MeshShape {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for (x, f) in parts {
        let shift = positions.len() as u32;
        faces.extend(f.iter().map(|f| f.map(|v| v + shift)));
        positions.extend_from_slice(x);
    }
    MeshShape::new(TriMesh::new(positions, faces).unwrap()).unwrap()
}

#[test]
fn the_sign_agrees_with_the_winding_number() {
    let mut random = Random::new(21);
    // A spiked ball: sharp vertices are where plain face normals fail.
    let (mut x, faces) = ball(Vec3::zeros(), 1.0);
    for p in &mut x {
        *p *= if random.unit() < 0.3 { 3.0 } else { 1.0 };
    }
    let shape = joined(&[(x, faces)]);
    for _ in 0..2000 {
        let p = random.point(2.0);
        let inside = shape.winding(0, &p) > 0.5;
        let near = shape.closest(&p, Sides::Auto);
        assert_eq!(near.distance < 0.0, inside, "at {p:?}: {near:?}");
        assert!((p - near.point - near.normal * near.distance).norm() < 1e-12);
    }
}

#[test]
fn the_sign_survives_slivers_and_inward_faces() {
    let mut random = Random::new(22);
    let (x, faces) = ball(Vec3::zeros(), 1.0);
    // Split an edge of face 0 by two vertices at the same place: one face without area.
    let mut positions = x.clone();
    let [a, b, _] = faces[0];
    let mesh = TriMesh::new(x.clone(), faces.clone()).unwrap();
    let e = mesh.topology.face_edges()[0][2];
    let [f, g] = mesh.topology.edges()[e as usize].faces.map(|f| f.unwrap() as usize);
    let (c, d) = {
        let far = |f: usize| *faces[f].iter().find(|&&v| v != a && v != b).unwrap();
        (far(f), far(g))
    };
    let middle = (x[a as usize] + x[b as usize]) * 0.5;
    let (m, n) = (positions.len() as u32, positions.len() as u32 + 1);
    positions.extend([middle, middle]);
    let mut cut: Vec<[u32; 3]> =
        faces.iter().enumerate().filter(|(k, _)| *k != f && *k != g).map(|(_, f)| *f).collect();
    // f: a b c with middle m; g: b a d with middle n; between them two faces without area.
    cut.extend([[a, m, c], [m, b, c], [b, n, d], [n, a, d], [a, n, m], [n, b, m]]);
    let good = joined(&[(x, faces)]);
    let bad = joined(&[(positions.clone(), cut.clone())]);
    let flat = |f: &[u32; 3]| is_flat(&f.map(|v| positions[v as usize]));
    assert!(cut.iter().any(flat), "the test needs a face without area");
    let turned = cut.iter().map(|f| [f[0], f[2], f[1]]).collect();
    let inward = joined(&[(positions, turned)]);
    for k in 0..2000 {
        let p = if k % 2 == 0 { random.point(1.3) } else { middle + random.point(0.1) };
        let expected = good.closest(&p, Sides::Auto).distance;
        for shape in [&bad, &inward] {
            let found = shape.closest(&p, Sides::Auto).distance;
            assert!((found - expected).abs() < 1e-12, "{found} against {expected} at {p:?}");
        }
    }
}

#[test]
fn a_union_hides_what_lies_in_another_part() {
    let (left, right) = (Vec3::x() * -0.5, Vec3::x() * 0.5);
    let shape = joined(&[ball(left, 1.0), ball(right, 1.0)]);
    let mut random = Random::new(23);
    for _ in 0..1000 {
        let p = random.point(1.2);
        let near = shape.closest(&p, Sides::Auto);
        // The union of two true balls: inside, its boundary is two caps and a circle.
        let ring = 0.75f64.sqrt();
        let mut exact = f64::INFINITY;
        let mut inside = false;
        for c in [left, right] {
            inside |= (p - c).norm() < 1.0;
            let q = c + (p - c).normalize();
            if (q - (left + right - c)).norm() >= 1.0 {
                exact = exact.min((p - q).norm());
            }
        }
        exact = exact.min(p.x.hypot(p.y.hypot(p.z) - ring));
        let exact = if inside { -exact } else { exact };
        // Facets lie up to 2.4 mm below the balls, which shifts their ring by twice as much.
        assert!((near.distance - exact).abs() < 0.005, "{} for {exact} at {p:?}", near.distance);
    }
    let deep = shape.closest(&Vec3::new(0.0, 0.1, 0.0), Sides::Auto);
    assert!(deep.distance < -0.7, "hidden surface counted: {}", deep.distance);
}

#[test]
fn an_open_sheet_pushes_to_both_sides_or_to_one() {
    let sheet = MeshShape::new(generate::rectangle(1.0, 1.0, 4, 4, Default::default())).unwrap();
    let p = Vec3::new(0.1, 0.1, -0.2);
    let c = sheet.closest(&p, Sides::Auto);
    assert!((c.distance - 0.2).abs() < 1e-15 && c.normal == -Vec3::z(), "{c:?}");
    let c = sheet.closest(&p, Sides::One);
    assert!((c.distance + 0.2).abs() < 1e-15 && c.normal == Vec3::z(), "{c:?}");
    // Beside the border nothing is below.
    let beside = sheet.closest(&Vec3::new(2.0, 0.0, -0.1), Sides::One);
    assert!(beside.distance > 0.0);
}

#[test]
fn a_mesh_without_area_is_refused() {
    let line = vec![Vec3::zeros(), Vec3::x(), Vec3::x() * 2.0];
    let mesh = TriMesh::new(line, vec![[0, 1, 2]]).unwrap();
    assert!(matches!(MeshShape::new(mesh), Err(ContactError::FlatMesh { faces: 1, .. })));
}

#[test]
fn a_point_that_is_nowhere_has_no_distance() {
    let shape = joined(&[ball(Vec3::zeros(), 1.0)]);
    assert!(shape.closest(&Vec3::repeat(f64::NAN), Sides::Auto).distance.is_nan());
}
