//! Patch test of bending: what modulus do meshes have whose vertices lie on a cylinder?
//!
//! A flat mesh is rolled up without stretching, at any angle between its edges and the axis. Each face of a Koiter shell
//! should then store ½ D κ² per area; a hinge stores what its direction makes of it. Only the interior counts: a border
//! edge has one face and sees no fold.

use toile_energy::{Curvature, HingeBend, KoiterFace, Membrane, ShellStiffness, StencilEnergy};
use toile_geometry::generate::{self, Triangulation};
use toile_geometry::measure::{EdgeRule, NormalRule, triangle_area};
use toile_geometry::{TriMesh, Vec3};
use toile_num::Vector;

/// Radius of the cylinder \[m\]; the meshes are 1 m wide with cells of about 4 cm.
const RADIUS: f64 = 1.0;
const CELLS: usize = 24;

/// The flat mesh rolled up about an axis at `angle` to y.
fn rolled(mesh: &TriMesh, angle: f64) -> Vec<Vec3> {
    let (sin, cos) = angle.sin_cos();
    let roll = |p: &Vec3| {
        let (across, along) = (cos * p.x + sin * p.y, cos * p.y - sin * p.x);
        Vec3::new(RADIUS * (across / RADIUS).sin(), along, RADIUS * (1.0 - (across / RADIUS).cos()))
    };
    mesh.positions.iter().map(roll).collect()
}

fn gather<const N: usize>(points: &[Vec3], nodes: &[u32]) -> Vector<N> {
    let mut x = Vector::<N>::zeros();
    for (k, &v) in nodes.iter().enumerate() {
        for c in 0..3 {
            x[3 * k + c] = points[v as usize][c];
        }
    }
    x
}

/// Whether a face has no vertex on the border.
fn interior(mesh: &TriMesh, face: usize) -> bool {
    mesh.faces()[face].iter().all(|&v| !mesh.topology.is_boundary_vertex(v as usize))
}

/// Bending energy of the core over ½κ² times its area, in units of D (ν = 0), edge angles at their minimum.
///
/// The angles of edges on the rim of the mesh are free of their outer face, which softens some cells beside it; the core
/// begins four cells inside. Damped Jacobi sweeps find the minimum, for which the diagonal of the Hessian at zero angles
/// is good enough. Averaged normals have no angles.
fn koiter_modulus(mesh: &TriMesh, angle: f64, normals: NormalRule) -> f64 {
    let stiffness = ShellStiffness::isotropic(12.0, 0.0, 1.0); // D = 1
    let stiffness = ShellStiffness { membrane: stiffness.membrane.map(|c| 1e-12 * c), ..stiffness };
    let x = rolled(mesh, angle);
    let faces: Vec<usize> = (0..mesh.faces().len()).filter(|f| interior(mesh, *f)).collect();
    let mut angles = vec![0.0; mesh.topology.edge_count()];
    let stencil = |f: usize, angles: &[f64]| {
        let mut nodes = mesh.faces()[f].to_vec();
        let mut rules = [EdgeRule { fold: 0.5, turn: 0.0 }; 3];
        let mut turns = [0.0; 3];
        for m in 0..3 {
            let e = mesh.topology.face_edges()[f][m] as usize;
            let edge = &mesh.topology.edges()[e];
            let side = usize::from(edge.faces[0] != Some(f as u32));
            nodes.push(edge.opposite[1 - side].expect("interior"));
            if normals.has_edge_angles() {
                rules[m].turn = if side == 0 { 1.0 } else { -1.0 };
                turns[m] = angles[e];
            }
        }
        let membrane = Membrane::StVenantKirchhoff;
        let face = KoiterFace { normals, edges: rules, membrane, stiffness, warp: [1.0, 0.0] };
        let mut now = gather::<21>(&x, &nodes);
        for m in 0..3 {
            now[18 + m] = turns[m];
        }
        (face, now, gather::<21>(&mesh.positions, &nodes))
    };
    if normals.has_edge_angles() {
        let mut curvature = vec![0.0; angles.len()];
        for &f in &faces {
            let (face, now, rest) = stencil(f, &angles);
            let hessian = face.hessian(&now, &face.rest(&rest), Curvature::Exact);
            for m in 0..3 {
                let e = mesh.topology.face_edges()[f][m] as usize;
                curvature[e] += hessian[(18 + m, 18 + m)];
            }
        }
        for _ in 0..30 {
            let mut slope = vec![0.0; angles.len()];
            for &f in &faces {
                let (face, now, rest) = stencil(f, &angles);
                let gradient = face.gradient(&now, &face.rest(&rest));
                for m in 0..3 {
                    let e = mesh.topology.face_edges()[f][m] as usize;
                    slope[e] += gradient[18 + m];
                }
            }
            for e in 0..angles.len() {
                if curvature[e] > 0.0 {
                    angles[e] -= 0.5 * slope[e] / curvature[e]; // damped Jacobi
                }
            }
        }
    }
    let (mut energy, mut area) = (0.0, 0.0);
    let rim = 0.5 - 5.0 / CELLS as f64;
    let core = |p: Vec3| p.x.abs() < rim && p.y.abs() < rim;
    for &f in faces.iter().filter(|f| mesh.corners(**f).into_iter().all(core)) {
        let (face, now, rest) = stencil(f, &angles);
        energy += face.value(&now, &rest);
        area += triangle_area(&mesh.corners(f));
    }
    energy / (0.5 * area / (RADIUS * RADIUS))
}

/// The same for hinges of k_b = 1; half of each belongs to either face.
fn hinge_modulus(mesh: &TriMesh, angle: f64) -> f64 {
    let x = rolled(mesh, angle);
    let (mut energy, mut area) = (0.0, 0.0);
    for f in (0..mesh.faces().len()).filter(|f| interior(mesh, *f)) {
        for e in mesh.topology.face_edges()[f] {
            let edge = &mesh.topology.edges()[e as usize];
            let [Some(c), Some(d)] = edge.opposite else { panic!("interior") };
            let [a, b] = edge.vertices;
            let hinge = HingeBend { stiffness: 1.0, clamped: false };
            let [now, rest] = [&x, &mesh.positions].map(|p| gather::<12>(p, &[c, a, b, d]));
            energy += 0.5 * hinge.value(&now, &rest);
        }
        area += triangle_area(&mesh.corners(f));
    }
    energy / (0.5 * area / (RADIUS * RADIUS))
}

fn square(triangulation: Triangulation) -> TriMesh {
    generate::rectangle(1.0, 1.0, CELLS, CELLS, triangulation)
}

fn equilateral() -> TriMesh {
    let row = 0.75f64.sqrt() / CELLS as f64;
    generate::rectangle(1.0, 28.0 * row, CELLS, 28, Triangulation::Equilateral)
}

const DEGREES: [f64; 6] = [0.0, 20.0, 45.0, 70.0, 90.0, 135.0];
const RANDOM: Triangulation = Triangulation::Random { seed: 7 };

#[track_caller]
fn assert_modulus(value: f64, expected: std::ops::RangeInclusive<f64>, what: &str, degrees: f64) {
    assert!(expected.contains(&value), "{what} at {degrees}°: {value} D");
}

#[test]
fn cylinder_patch_has_the_plate_modulus() {
    let meshes = [
        ("equilateral", equilateral()),
        ("regular", square(Triangulation::Regular)),
        ("alternating", square(Triangulation::Alternating)),
        ("random", square(RANDOM)),
    ];
    for (name, mesh) in &meshes {
        for degrees in DEGREES {
            for normals in [NormalRule::Sin, NormalRule::Tan] {
                let modulus = koiter_modulus(mesh, degrees.to_radians(), normals);
                assert_modulus(modulus, 0.99..=1.01, &format!("{name}, {normals:?}"), degrees);
            }
        }
    }
    // Averaged normals know the curvature across their own edge only; on these two meshes that is enough.
    for (name, mesh) in &meshes[..2] {
        for degrees in DEGREES {
            let modulus = koiter_modulus(mesh, degrees.to_radians(), NormalRule::Average);
            assert_modulus(modulus, 0.99..=1.01, &format!("{name}, average"), degrees);
        }
    }
}

#[test]
fn averaged_normals_are_too_stiff_on_irregular_triangles() {
    let alternating = square(Triangulation::Alternating);
    let diagonal = koiter_modulus(&alternating, 45f64.to_radians(), NormalRule::Average);
    assert_modulus(diagonal, 1.49..=1.51, "alternating, average", 45.0);
    let random = square(RANDOM);
    for degrees in DEGREES {
        let modulus = koiter_modulus(&random, degrees.to_radians(), NormalRule::Average);
        assert_modulus(modulus, 1.2..=1.7, "random, average", degrees);
    }
}

#[test]
fn hinges_are_three_times_too_stiff_on_equilateral_triangles() {
    let mesh = equilateral();
    for degrees in DEGREES {
        assert_modulus(hinge_modulus(&mesh, degrees.to_radians()), 2.85..=3.15, "hinges", degrees);
    }
}

#[test]
fn hinges_are_three_to_nine_times_too_stiff_on_right_triangles() {
    let mesh = square(Triangulation::Regular);
    for (degrees, expected) in [(0.0, 3.0), (45.0, 9.0), (90.0, 3.0), (135.0, 3.0f64)] {
        let modulus = hinge_modulus(&mesh, f64::to_radians(degrees));
        assert_modulus(modulus, 0.99 * expected..=1.01 * expected, "hinges", degrees);
    }
}
