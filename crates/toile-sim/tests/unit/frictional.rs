use toile_contact::{Collider, Intrusion, Penetration, Shape, penetrations};
use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3, generate};
use toile_sim::dynamics::Surroundings;
use toile_sim::{
    FrictionalEquilibrium, FrictionalSettings, ModelBuilder, Shell, ShellMaterial, StaticContact,
    frictional_equilibrium,
};
use toile_solve::NewtonSettings;

const WEIGHT: f64 = 9.81 * 0.2;

fn shell(mesh: &TriMesh) -> Shell {
    Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        rest_positions: mesh.positions.clone(),
        material: ShellMaterial::Koiter {
            stiffness: ShellStiffness::isotropic(1e6, 0.3, 1e-3),
            normals: NormalRule::Average,
            membrane: Membrane::StVenantKirchhoff,
            warp: Vec3::x(),
        },
        areal_density: 0.2,
        pins: vec![],
        seams: Vec::new(),
        damping: 0.0,
    }
}

fn drape(mesh: &TriMesh, gravity: Vec3, colliders: Vec<Collider>) -> FrictionalEquilibrium {
    drape_for(mesh, gravity, colliders, 0.3)
}

fn drape_for(
    mesh: &TriMesh,
    gravity: Vec3,
    colliders: Vec<Collider>,
    drift_time: f64,
) -> FrictionalEquilibrium {
    let shell = shell(mesh);
    let build = || {
        let mut builder = ModelBuilder::new();
        shell.add_to(&mut builder, gravity)?;
        Ok(builder)
    };
    let depth = |positions: &[Vec3]| {
        let placed: Vec<_> = colliders.iter().map(|c| c.at(0.0)).collect();
        let found = penetrations(positions, &mesh.topology, &placed)?;
        let own = |p: &&Penetration| matches!(p.what, Intrusion::EdgeThroughFace { .. });
        Ok(found.iter().filter(|p| !own(p)).map(|p| p.depth).fold(0.0, f64::max))
    };
    let mut around = Surroundings::new(mesh.topology.clone(), colliders.clone());
    let settings = FrictionalSettings {
        newton: NewtonSettings { tolerance: 1e-10, ..NewtonSettings::default() },
        longest_fall: 1.0,
        drift_time,
        ..FrictionalSettings::default()
    };
    frictional_equilibrium(build, &mut around, depth, &settings, |_| true).unwrap()
}

fn collider(shape: Shape, friction: f64) -> Collider {
    Collider::fixed(shape).with_friction(friction).unwrap().with_gap(4e-3).unwrap()
}

fn carried(found: &FrictionalEquilibrium) -> Vec3 {
    found.contacts.iter().fold(Vec3::zeros(), |sum, c| sum + c.force)
}

#[test]
fn a_cloth_on_a_ball_is_carried_by_forces_inside_their_cones() {
    let mut mesh = generate::sheet(13, 0.5);
    for p in &mut mesh.positions {
        *p += Vec3::new(0.02, 0.01, 0.206);
    }
    let ball = collider(Shape::sphere(Vec3::zeros(), 0.2).unwrap(), 0.4);
    let found = drape(&mesh, -9.81 * Vec3::z(), vec![ball]);
    let c = &found.equilibrium.certificate;
    assert!(c.certified, "{c:?}");
    assert!(c.cone_margin.unwrap() > 0.0 && c.drift.unwrap() <= 1e-4, "{c:?}");
    let up = carried(&found);
    let weight = WEIGHT * 0.25;
    assert!((up - Vec3::z() * weight).norm() < 1e-6 * weight, "{up} instead of {weight} N");
}

#[test]
fn a_sheet_at_rest_on_a_slope_has_the_margin_of_a_block() {
    let mesh = {
        let mut mesh = generate::sheet(5, 0.3);
        mesh.positions.iter_mut().for_each(|p| p.z += 0.0041);
        mesh
    };
    let (angle, mu) = (20f64.to_radians(), 0.5);
    let gravity = 9.81 * Vec3::new(angle.sin(), 0.0, -angle.cos());
    let plane = Shape::plane(Vec3::zeros(), Vec3::z()).unwrap();
    let found = drape(&mesh, gravity, vec![collider(plane.clone(), mu)]);
    let c = &found.equilibrium.certificate;
    assert!(c.certified, "{c:?}");
    let [n, t] = StaticContact { force: carried(&found), ..found.contacts[0] }.parts();
    assert!((t / n - angle.tan()).abs() < 1e-8, "{t} / {n}");
    // Nowhere more friction than the block as a whole needs and is allowed.
    assert!(c.cone_margin.unwrap() >= 0.02 - 1e-6, "{c:?}");
    // Too slippery: it slides as long as one looks.
    let found = drape(&mesh, gravity, vec![collider(plane, 0.9 * angle.tan())]);
    let c = &found.equilibrium.certificate;
    assert!(!c.certified && c.reason.contains("slide"), "{c:?}");
}

#[test]
fn a_cloth_over_a_block_is_held_between_its_vertices_too() {
    let mut mesh = generate::sheet(15, 0.4);
    for p in &mut mesh.positions {
        *p += Vec3::new(0.02, 0.01, 0.106);
    }
    let turn = nalgebra::UnitQuaternion::identity();
    let block = Shape::cuboid(Vec3::zeros(), Vec3::repeat(0.2), turn).unwrap();
    let found = drape(&mesh, -9.81 * Vec3::z(), vec![collider(block, 0.5)]);
    let c = &found.equilibrium.certificate;
    assert!(c.certified, "{c:?}");
    assert!(found.contacts.iter().any(|c| c.contact.count > 1), "all contacts at vertices");
    let weight = WEIGHT * 0.16;
    assert!((carried(&found) - Vec3::z() * weight).norm() < 1e-6 * weight);
}

/// Contacts inside its edges and faces go along them as it settles: held where the fall left them, it moved by 6e-4 of its size in its first half second,
/// or was said to rest on places where nothing was.
#[test]
fn coarse_cloth_on_a_ring_stays_where_it_was_certified() {
    for n in [6, 11] {
        let mut mesh = generate::sheet(n, 0.5);
        let middle = mesh.positions.iter().sum::<Vec3>() / mesh.positions.len() as f64;
        mesh.positions.iter_mut().for_each(|p| *p += Vec3::new(0.013, 0.007, 0.036) - middle);
        let ring = Shape::torus(Vec3::zeros(), Vec3::z(), 0.2, 0.03).unwrap();
        let found = drape(&mesh, -9.81 * Vec3::z(), vec![collider(ring, 0.5)]);
        let c = &found.equilibrium.certificate;
        assert!(c.certified && c.drift.unwrap() <= 1e-4, "{n}: {c:?}");
        let between = found.contacts.iter().filter(|c| c.contact.count > 1).count();
        assert!(between > found.contacts.len() / 2, "{n}: {between} of {}", found.contacts.len());
        let weight = WEIGHT * 0.25;
        assert!((carried(&found) - Vec3::z() * weight).norm() < 1e-6 * weight, "{n}");
    }
}

#[test]
fn what_touches_inside_faces_is_watched_for_a_while_though_nobody_asked() {
    let mut mesh = generate::sheet(15, 0.4);
    mesh.positions.iter_mut().for_each(|p| *p += Vec3::new(0.02, 0.01, 0.106));
    let block =
        Shape::cuboid(Vec3::zeros(), Vec3::repeat(0.2), nalgebra::UnitQuaternion::identity());
    let block = collider(block.unwrap(), 0.5);
    let found = drape_for(&mesh, -9.81 * Vec3::z(), vec![block], 0.0);
    let c = &found.equilibrium.certificate;
    assert!(c.certified && c.drift.is_some_and(|d| d <= 1e-4), "{c:?}");
    assert!(c.reason.contains("simulated for 0.2 s"), "{}", c.reason);
    let plane = Shape::plane(Vec3::zeros(), Vec3::z()).unwrap();
    let found = drape_for(&mesh, -9.81 * Vec3::z(), vec![collider(plane, 0.5)], 0.0);
    assert!(found.equilibrium.certificate.certified);
    assert_eq!(found.equilibrium.certificate.drift, None);
}

#[test]
fn what_misses_every_collider_is_told_to_fall() {
    let mesh = generate::sheet(3, 0.2);
    let ball = Shape::sphere(Vec3::new(5.0, 0.0, 0.0), 0.1).unwrap();
    let found = drape(&mesh, -9.81 * Vec3::z(), vec![collider(ball, 0.4)]);
    let c = &found.equilibrium.certificate;
    assert!(!c.certified && c.reason.contains("nothing holds it"), "{c:?}");
}
