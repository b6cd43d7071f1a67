//! Tension of the membrane.

use toile::energy::{Membrane, ShellStiffness};
use toile::geometry::measure::NormalRule;
use toile::geometry::{Topology, Vec3, generate};
use toile::shell_tensions;
use toile::sim::{Shell, ShellMaterial};

const ALONG: Vec3 = Vec3::new(0.6, 0.8, 0.0);
const ACROSS: Vec3 = Vec3::new(-0.8, 0.6, 0.0);

fn shell(topology: Topology, positions: Vec<Vec3>, material: ShellMaterial) -> Shell {
    Shell {
        topology,
        rest_positions: positions.clone(),
        positions,
        material,
        areal_density: 0.2,
        pins: Vec::new(),
        seams: Vec::new(),
        damping: 0.0,
    }
}

/// Tensions of a sheet of this material, pulled to 1.2 along a slanted direction and 0.9 across, and turned in space.
fn pulled(material: ShellMaterial) -> Vec<f64> {
    let mesh = generate::sheet(5, 1.0);
    let turned = |p: &Vec3| Vec3::new(0.0, 1.2 * p.dot(&ALONG), 0.9 * p.dot(&ACROSS));
    let moved: Vec<Vec3> = mesh.positions.iter().map(turned).collect();
    let sheet = shell(mesh.topology, mesh.positions, material);
    shell_tensions(&sheet, &sheet.rest_positions, &moved)
}

fn koiter(stiffness: ShellStiffness, membrane: Membrane) -> ShellMaterial {
    ShellMaterial::Koiter { stiffness, normals: NormalRule::Tan, membrane, warp: ALONG }
}

#[test]
fn a_pulled_strip_has_the_tension_of_its_material() {
    // St Venant–Kirchhoff, stiff along the pull: second Piola stress C ε, Cauchy's λ₁/λ₂ times that.
    let stiffness = ShellStiffness::orthotropic([3e5, 1e5], 0.3, 4e4, 1e-3);
    let [c11, c12, ..] = stiffness.membrane;
    let strain = [1.2, 0.9].map(|l: f64| 0.5 * (l * l - 1.0));
    let expected = (c11 * strain[0] + c12 * strain[1]) * 1.2 / 0.9;
    for tension in pulled(koiter(stiffness, Membrane::StVenantKirchhoff)) {
        assert!((tension / expected - 1.0).abs() < 1e-12, "{tension} N/m, not {expected}");
    }
    // Neo-Hookean: (μ (λ₁² − 1) + λ ln J) / J.
    let stiffness = ShellStiffness::isotropic(2e5, 0.3, 1e-3);
    let [c11, _, _, mu] = stiffness.membrane;
    let j = 1.2 * 0.9f64;
    let expected = (mu * (1.2 * 1.2 - 1.0) + (c11 - 2.0 * mu) * j.ln()) / j;
    for tension in pulled(koiter(stiffness, Membrane::NeoHookean)) {
        assert!((tension / expected - 1.0).abs() < 1e-12, "{tension} N/m, not {expected}");
    }
}

#[test]
fn springs_of_a_face_pull_as_their_energy_grows_with_its_area() {
    let (length, s) = (0.1, 1.1);
    let corners = [[0.0, 0.0], [length, 0.0], [0.5 * length, 0.5 * 3f64.sqrt() * length]];
    let rest: Vec<Vec3> = corners.iter().map(|[x, y]| Vec3::new(*x, *y, 0.0)).collect();
    let grown: Vec<Vec3> = rest.iter().map(|p| p * s).collect();
    let (k_length, k_area) = (7.0, 30.0);
    let material = ShellMaterial::DiscreteShells { k_length, k_area, k_bend: 1e-4 };
    let face = shell(Topology::new(3, vec![[0, 1, 2]]).unwrap(), rest, material);
    let area = 0.25 * 3f64.sqrt() * length * length;
    // dE/ds of three edges over dA/ds, and the surface tension.
    let expected = 3.0 * k_length * length * (s - 1.0) / (2.0 * area * s) + k_area * (s * s - 1.0);
    for tension in shell_tensions(&face, &face.rest_positions, &grown) {
        assert!((tension / expected - 1.0).abs() < 1e-12, "{tension} N/m, not {expected}");
    }
}

#[test]
fn a_hanging_strip_carries_what_hangs_below() {
    let scene = toile::io::parse_scene(
        r#"
        gravity = [9.81, 0.0, 0.0]
        [[shell]]
        mesh = { generate = "strip", length = 0.5, width = 0.1, nx = 40, ny = 4 }
        thickness = 1e-3
        areal_density = 0.2
        material = { model = "koiter", young = 1e6, poisson = 0.0 }
        pins = { box = [[-0.01, -1, -1], [1e-6, 1, 1]] }
        "#,
        toile::io::SceneFormat::Toml,
    )
    .unwrap();
    let drape = toile::drape(&scene, &toile::scene_settings(&scene), |_| true).unwrap();
    assert!(drape.result.certificate.certified, "{}", drape.result.certificate.reason);
    let rest = &drape.shells[0].shell.rest_positions;
    let far = rest.iter().map(|p| p.x).fold(0.0, f64::max);
    for (p, tension) in rest.iter().zip(drape.tensions(0)) {
        let expected = 0.2 * 9.81 * (far - p.x);
        // Faces are constant: half a row of them at the ends.
        assert!((tension - expected).abs() < 0.015, "{tension} N/m at {}, not {expected}", p.x);
    }
    let most = drape.tensions(0).into_iter().fold(0.0, f64::max);
    assert!((most / (0.2 * 9.81 * far) - 1.0).abs() < 0.02, "{most} N/m at the top");
}
