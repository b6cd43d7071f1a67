use toile::shell_fields;
use toile_geometry::{Vec3, generate};

#[test]
fn a_pulled_sheet_shows_its_stretch_at_every_vertex() {
    let mesh = generate::sheet(7, 1.0);
    // 1.2 along a slanted direction, 0.9 across, and turned in space.
    let (along, across) = (Vec3::new(0.6, 0.8, 0.0), Vec3::new(-0.8, 0.6, 0.0));
    let moved: Vec<Vec3> = mesh
        .positions
        .iter()
        .map(|p| Vec3::new(0.0, 1.2 * p.dot(&along), 0.9 * p.dot(&across)))
        .collect();
    let zero = vec![Vec3::zeros(); moved.len()];
    let fields = shell_fields(&mesh.topology, &mesh.positions, &moved, &zero);
    for v in 0..moved.len() {
        assert!((fields.stretch[v] - 0.2).abs() < 1e-12, "{}", fields.stretch[v]);
        assert!(fields.bending[v] < 1e-9, "{}", fields.bending[v]);
    }
}

#[test]
fn a_rolled_sheet_shows_the_curvature_of_the_roll() {
    let (radius, n) = (0.4, 41);
    let mesh = generate::sheet(n, 1.0); // right angles, valences of 4 and 8
    let roll = |p: &Vec3| {
        let t = p.x / radius;
        Vec3::new(radius * t.sin(), p.y, radius * t.cos())
    };
    let rolled: Vec<Vec3> = mesh.positions.iter().map(roll).collect();
    let zero = vec![Vec3::zeros(); rolled.len()];
    let fields = shell_fields(&mesh.topology, &mesh.positions, &rolled, &zero);
    for v in (0..rolled.len()).filter(|&v| !mesh.topology.is_boundary_vertex(v)) {
        let error = fields.bending[v] * radius - 1.0;
        assert!(error.abs() < 0.01, "{error} at {v}");
    }
    // At rest on the roll itself nothing is bent.
    let still = shell_fields(&mesh.topology, &rolled, &rolled, &zero);
    assert!(still.bending.iter().all(|b| *b == 0.0));
}
