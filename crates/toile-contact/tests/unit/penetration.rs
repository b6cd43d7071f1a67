use toile_contact::{Collider, Intrusion, Shape, part_layers, penetrations, push_out};
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

/// Two sheets over each other, the upper one in waves of another fineness; it dips through where these are high.
fn waves_through_a_sheet(height: f64) -> TriMesh {
    let lower = generate::rectangle(0.3, 0.3, 20, 20, Default::default());
    let upper = generate::rectangle(0.3, 0.3, 17, 17, Default::default());
    let count = lower.positions.len() as u32;
    let mut faces = lower.faces().to_vec();
    faces.extend(upper.faces().iter().map(|f| f.map(|v| v + count)));
    let mut positions = lower.positions.clone();
    let wave = |p: &Vec3| 2e-3 + height * (40.0 * p.x).sin() * (35.0 * p.y).cos();
    positions.extend(upper.positions.iter().map(|p| Vec3::new(p.x, p.y, wave(p))));
    TriMesh::new(positions, faces).unwrap()
}

#[test]
fn layers_that_cross_a_little_are_parted_and_moved_no_farther_than_needed() {
    let mut mesh = waves_through_a_sheet(4e-3);
    let start = mesh.positions.clone();
    let done = part_layers(&mut mesh.positions, &mesh.topology, &[], 2e-4, 1e-2, |_| true).unwrap();
    assert!(done.found.len() > 50 && done.left.is_empty(), "{} left", done.left.len());
    assert_eq!(penetrations(&mesh.positions, &mesh.topology, &[]).unwrap(), []);
    // Through by 2 mm: each of the two layers goes back a part of that.
    assert!(done.longest > 3e-4 && done.longest < 3e-3, "{}", done.longest);
    let count = start.iter().zip(&mesh.positions).filter(|(a, b)| a != b).count();
    assert_eq!(count, done.moved);
    assert!(count < start.len() / 2, "{count} of {}", start.len());
    // What may not move does not, and nothing is pushed below a table under the lower sheet.
    let mut mesh = waves_through_a_sheet(4e-3);
    let table = Collider::fixed(Shape::plane(Vec3::zeros(), Vec3::z()).unwrap());
    let table = [table.with_gap(0.0).unwrap()];
    let placed: Vec<_> = table.iter().map(|c| c.at(0.0)).collect();
    let still = |v: usize| v >= 441;
    let done =
        part_layers(&mut mesh.positions, &mesh.topology, &placed, 2e-4, 1e-2, still).unwrap();
    assert!(done.left.is_empty(), "{} left", done.left.len());
    assert_eq!(mesh.positions[..441], start[..441]);
    assert!(mesh.positions.iter().all(|p| p.z >= 0.0));
}

#[test]
fn layers_that_do_not_tell_where_they_belong_stay() {
    // Upright through each other: half of it is on either side.
    let flat = generate::rectangle(0.1, 0.1, 8, 8, Default::default());
    let count = flat.positions.len() as u32;
    let mut faces = flat.faces().to_vec();
    faces.extend(flat.faces().iter().map(|f| f.map(|v| v + count)));
    let mut positions = flat.positions.clone();
    let upright = |x: &Vec3| Vec3::new(0.0031, x.x, x.y + 0.0047);
    positions.extend(flat.positions.iter().map(upright));
    let mut mesh = TriMesh::new(positions, faces).unwrap();
    let start = mesh.positions.clone();
    let done = part_layers(&mut mesh.positions, &mesh.topology, &[], 2e-4, 2e-3, |_| true).unwrap();
    assert!(!done.found.is_empty() && done.left.len() == done.found.len());
    assert_eq!((done.moved, done.longest), (0, 0.0));
    assert_eq!(mesh.positions, start);
}
