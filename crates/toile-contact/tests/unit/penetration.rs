use toile_contact::{Collider, Intrusion, Shape, penetrations, push_out};
use toile_geometry::{TriMesh, Vec3, generate};

#[test]
fn a_sheet_through_a_sheet_is_reported_where_it_passes() {
    let flat = generate::rectangle(0.1, 0.1, 5, 5, Default::default());
    let count = flat.positions.len() as u32;
    let mut faces = flat.faces().to_vec();
    faces.extend(flat.faces().iter().map(|f| f.map(|v| v + count)));
    let mut positions = flat.positions.clone();
    let middle = flat.positions.iter().sum::<Vec3>() / f64::from(count);
    // Upright, shifted off the grid lines.
    let upright = |x: &Vec3| {
        let d = x - middle;
        middle + Vec3::new(0.0031, 0.8 * d.x, d.y + 0.0047)
    };
    positions.extend(flat.positions.iter().map(upright));
    let mesh = TriMesh::new(positions, faces).unwrap();
    let found = penetrations(&mesh.positions, &mesh.topology, &[]).unwrap();
    assert!(found.len() > 10, "{found:?}");
    for p in &found {
        assert!(matches!(p.what, Intrusion::EdgeThroughFace { .. }), "{p}");
        assert!(p.place.z.abs() < 1e-12 && (p.place.x - middle.x - 0.0031).abs() < 1e-9, "{p}");
        assert!(p.depth > 0.0 && p.depth < 0.02);
    }
    let text = found[0].to_string();
    assert!(text.contains("through face") && text.contains("move the layers apart"), "{text}");
    // Apart they are clean.
    let mut apart = mesh.positions.clone();
    apart[count as usize..].iter_mut().for_each(|x| x.z += 0.2);
    assert_eq!(penetrations(&apart, &mesh.topology, &[]).unwrap(), []);
}

#[test]
fn layers_in_the_same_plane_are_reported() {
    let flat = generate::rectangle(0.1, 0.1, 2, 2, Default::default());
    let count = flat.positions.len() as u32;
    let mut faces = flat.faces().to_vec();
    faces.extend(flat.faces().iter().map(|f| f.map(|v| v + count)));
    let mut positions = flat.positions.clone();
    positions.extend(flat.positions.iter().map(|x| x + Vec3::new(0.01, 0.02, 0.0)));
    let mesh = TriMesh::new(positions, faces).unwrap();
    let found = penetrations(&mesh.positions, &mesh.topology, &[]).unwrap();
    assert!(!found.is_empty());
    assert!(found.iter().all(|p| matches!(p.what, Intrusion::VertexOnFace { .. })), "{found:?}");
    // A flat sheet alone is no penetration.
    assert_eq!(penetrations(&flat.positions, &flat.topology, &[]).unwrap(), []);
}

#[test]
fn cloth_is_pushed_out_of_a_corner_between_colliders() {
    let zero = Vec3::zeros();
    let colliders = [
        Collider::fixed(Shape::plane(zero, Vec3::z()).unwrap()),
        Collider::fixed(Shape::plane(zero, Vec3::new(1.0, 0.0, 0.4)).unwrap()),
        Collider::fixed(Shape::sphere(Vec3::new(0.05, 0.05, 0.0), 0.03).unwrap()),
    ];
    let placed: Vec<_> = colliders.iter().map(|c| c.at(0.0)).collect();
    let mut cloth = generate::rectangle(0.1, 0.1, 10, 10, Default::default());
    for x in &mut cloth.positions {
        x.z -= 0.005;
        x.x -= 0.03;
    }
    let before = penetrations(&cloth.positions, &cloth.topology, &placed).unwrap();
    assert!(before.len() > 100);
    assert!(before[0].to_string().contains("mm inside collider"), "{}", before[0]);
    let done = push_out(&mut cloth.positions, &cloth.topology, &placed, |_| true).unwrap();
    assert!(done.left.iter().all(|p| matches!(
        p.what,
        Intrusion::EdgeThroughFace { .. } | Intrusion::VertexOnFace { .. }
    )));
    assert!(done.moved > 100 && done.longest > 5e-3 && done.longest < 0.1, "{done}");
    for x in &cloth.positions {
        for collider in &placed {
            assert!(collider.query(x).distance > 1e-3 - 1e-7, "{x:?}");
        }
    }
}

#[test]
fn what_cannot_be_repaired_is_said() {
    let zero = Vec3::zeros();
    // Two half-spaces that leave no room, and a pinned sheet.
    let colliders = [
        Collider::fixed(Shape::plane(Vec3::z() * 0.01, Vec3::z()).unwrap()),
        Collider::fixed(Shape::plane(zero, -Vec3::z()).unwrap()),
    ];
    let placed: Vec<_> = colliders.iter().map(|c| c.at(0.0)).collect();
    let sheet = generate::rectangle(0.1, 0.1, 2, 2, Default::default());
    let mut x = sheet.positions.clone();
    let done = push_out(&mut x, &sheet.topology, &placed, |_| true).unwrap();
    assert!(!done.left.is_empty() && done.to_string().contains("left, the first"), "{done}");
    let mut x = sheet.positions.clone();
    let done = push_out(&mut x, &sheet.topology, &placed[..1], |v| v != 0).unwrap();
    assert_eq!(x[0], sheet.positions[0]);
    assert!(done.moved == 8 && !done.left.is_empty(), "{done}");
}
