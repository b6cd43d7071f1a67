//! Physics that equilibria must obey.

use toile_energy::{Curvature, Membrane, ShellStiffness};
use toile_geometry::generate::{self, Triangulation};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3};
use toile_sim::{
    Model, ModelBuilder, Shell, ShellMaterial, ShellNodes, State, certify, equilibrium,
};
use toile_solve::{NewtonSettings, Stop};

const DOWN: Vec3 = Vec3::new(0.0, 0.0, -9.81);

fn koiter(normals: NormalRule) -> ShellMaterial {
    // E h = 1000 N/m, ν = 0.3, D = 1e-5 N·m.
    let thickness = (12.0 * 0.91 * 1e-5 / 1000.0f64).sqrt();
    let stiffness = ShellStiffness::isotropic(1000.0 / thickness, 0.3, thickness);
    let membrane = Membrane::StVenantKirchhoff;
    ShellMaterial::Koiter { stiffness, normals, membrane, warp: Vec3::x() }
}

fn model(
    mesh: &TriMesh,
    start: Vec<Vec3>,
    material: ShellMaterial,
    pins: Vec<u32>,
) -> (Model, ShellNodes) {
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: start,
        rest_positions: mesh.positions.clone(),
        material,
        areal_density: 0.2,
        pins,
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut builder = ModelBuilder::new();
    let nodes = shell.add_to(&mut builder, DOWN).unwrap();
    (builder.build().unwrap(), nodes)
}

fn corners(n: usize) -> Vec<u32> {
    vec![((n - 1) * n) as u32, (n * n - 1) as u32]
}

/// Every shape below is bent and strained everywhere, so that no derivative vanishes.
fn wavy(mesh: &TriMesh) -> Vec<Vec3> {
    let bump = |p: &Vec3| 0.05 * (7.0 * p.x + 3.0 * p.y).sin();
    mesh.positions.iter().map(|p| Vec3::new(p.x * 1.02, p.y * 0.97, p.z + bump(p))).collect()
}

#[test]
fn assembled_derivatives_are_those_of_the_energy() {
    let mesh = generate::rectangle(0.4, 0.3, 5, 4, Triangulation::Random { seed: 3 });
    for material in [
        koiter(NormalRule::Tan),
        ShellMaterial::DiscreteShells { k_length: 3.0, k_area: 1.0, k_bend: 1e-3 },
    ] {
        let (model, _) = model(&mesh, wavy(&mesh), material, vec![0]);
        let x = model.start().clone();
        let n = model.len();
        let mut gradient = vec![0.0; n];
        model.gradient(&x, &mut gradient);
        let mut values = vec![0.0; model.pattern().nnz()];
        model.hessian(&x, Curvature::Exact, &mut values);
        let direction: Vec<f64> =
            (0..n).map(|i| if model.fixed()[i] { 0.0 } else { (i as f64 * 0.7).sin() }).collect();
        let at = |step: f64| {
            let mut moved = x.clone();
            x.advanced_into(&direction, step, &mut moved);
            let mut g = vec![0.0; n];
            model.gradient(&moved, &mut g);
            (model.energy(&moved), g)
        };
        let step = 1e-6;
        let ((ea, ga), (eb, gb)) = (at(step), at(-step));
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        let difference = (ea - eb) / (2.0 * step);
        assert!((difference - slope).abs() < 1e-6 * slope.abs(), "{difference} {slope}");
        let mut product = vec![0.0; n];
        model.pattern().multiply(&values, &direction, &mut product);
        let size = product.iter().fold(0.0f64, |a, p| a.max(p.abs()));
        for i in (0..n).filter(|&i| !model.fixed()[i]) {
            let difference = (ga[i] - gb[i]) / (2.0 * step);
            assert!(
                (difference - product[i]).abs() < 1e-5 * size,
                "{i}: {difference} {}",
                product[i]
            );
        }
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let mesh = generate::sheet(60, 1.0); // several tasks
    let (model, _) = model(&mesh, wavy(&mesh), koiter(NormalRule::Sin), corners(60));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let x = model.start();
            let mut gradient = vec![0.0; model.len()];
            let mut values = vec![0.0; model.pattern().nnz()];
            model.gradient(x, &mut gradient);
            model.hessian(x, Curvature::Exact, &mut values);
            let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            (model.energy(x).to_bits(), bits(&gradient), bits(&values))
        })
    };
    assert!(run(1) == run(2) && run(1) == run(5));
}

#[test]
fn supports_carry_the_weight() {
    let n = 9;
    let mesh = generate::sheet(n, 1.0);
    let (model, _) = model(&mesh, mesh.positions.clone(), koiter(NormalRule::Average), corners(n));
    let found = equilibrium(&model, model.start(), &NewtonSettings::default(), |_| true).unwrap();
    assert_eq!(found.stop, Stop::Minimum, "{:?}", found.certificate);
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    assert!(found.certificate.residual <= 1e-9);
    let mut gradient = vec![0.0; model.len()];
    model.gradient(&found.state, &mut gradient);
    let mut reaction = Vec3::zeros();
    for &v in model.vertices() {
        let i = model.unknown(v);
        if model.fixed()[i] {
            // At a pin ∂E/∂x is what the support must supply.
            reaction += Vec3::new(gradient[i], gradient[i + 1], gradient[i + 2]);
        }
    }
    assert!((reaction - Vec3::new(0.0, 0.0, 0.2 * 9.81)).norm() < 1e-9, "{reaction}");
}

#[test]
fn a_hanging_sheet_leaves_its_plane() {
    // Started in the vertical plane by symmetry it could stay there; that is a saddle.
    let n = 17;
    let mesh = generate::sheet(n, 1.0);
    let start: Vec<Vec3> = mesh.positions.iter().map(|p| Vec3::new(p.x, 0.0, p.y - 0.5)).collect();
    let (model, nodes) = model(&mesh, start, koiter(NormalRule::Average), corners(n));
    let found = equilibrium(&model, model.start(), &NewtonSettings::default(), |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    assert!(found.escapes > 0);
    let out_of_plane = (0..(n * n) as u32)
        .map(|v| model.position(&found.state, nodes.vertices + v).y.abs())
        .fold(0.0, f64::max);
    assert!(out_of_plane > 1e-2, "{out_of_plane} m");
}

#[test]
fn a_saddle_is_not_certified() {
    // The sheet kept in its plane is an equilibrium, and unstable.
    let n = 9;
    let mesh = generate::sheet(n, 1.0);
    let start: Vec<Vec3> = mesh.positions.iter().map(|p| Vec3::new(p.x, 0.0, p.y - 0.5)).collect();
    let (mut model, nodes) = model(&mesh, start, koiter(NormalRule::Average), corners(n));
    for v in 0..(n * n) as u32 {
        let i = model.unknown(nodes.vertices + v);
        model.set_fixed(i + 1, true);
    }
    let flat = equilibrium(&model, model.start(), &NewtonSettings::default(), |_| true).unwrap();
    assert!(flat.certificate.certified, "stable within the plane: {}", flat.certificate.reason);
    for v in 0..(n * n) as u32 {
        let i = model.unknown(nodes.vertices + v);
        model.set_fixed(i + 1, model.fixed()[i]);
    }
    let judged = certify(&model, &flat.state).unwrap();
    assert!(!judged.certified && judged.residual < 1e-8, "{judged:?}");
    assert!(judged.stability.unwrap() < 0.0 && judged.negative_modes.unwrap() > 0);
}

#[test]
fn hung_from_one_point_nothing_resists_turning() {
    let n = 4;
    let mesh = generate::sheet(n, 0.3);
    // Stiff enough not to fold through itself, which nothing forbids without contact.
    let board = ShellMaterial::isotropic(1e5, 0.3, 1e-2);
    let (model, _) = model(&mesh, mesh.positions.clone(), board, vec![0]);
    let found = equilibrium(&model, model.start(), &NewtonSettings::default(), |_| true).unwrap();
    assert!(found.certificate.residual < 1e-8, "{:?}", found.certificate);
    assert!(!found.certificate.certified);
    assert!(found.certificate.reason.contains("not resisted"), "{}", found.certificate.reason);
}

#[test]
fn two_pieces_hang_as_each_would_alone() {
    let n = 5;
    let mesh = generate::sheet(n, 0.5);
    // Clamped along an edge a sheet has one way to hang; from two corners it has many.
    let clamp: Vec<u32> = (0..2 * n as u32).collect();
    let alone = {
        let (model, nodes) =
            model(&mesh, mesh.positions.clone(), koiter(NormalRule::Tan), clamp.clone());
        let found =
            equilibrium(&model, model.start(), &NewtonSettings::default(), |_| true).unwrap();
        model.position(&found.state, nodes.vertices + (n * n - 1) as u32)
    };
    let mut builder = ModelBuilder::new();
    let mut nodes = Vec::new();
    for k in 0..2 {
        let away = Vec3::new(3.0 * k as f64, 0.0, 0.0);
        let shell = Shell {
            topology: mesh.topology.clone(),
            positions: mesh.positions.iter().map(|p| p + away).collect(),
            rest_positions: mesh.positions.clone(),
            material: koiter(NormalRule::Tan),
            areal_density: 0.2,
            pins: clamp.clone(),
            seams: Vec::new(),
            damping: 0.0,
        };
        nodes.push(shell.add_to(&mut builder, DOWN).unwrap());
    }
    let model = builder.build().unwrap();
    let found = equilibrium(&model, model.start(), &NewtonSettings::default(), |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    for (k, nodes) in nodes.iter().enumerate() {
        let p = model.position(&found.state, nodes.vertices + (n * n - 1) as u32)
            - Vec3::new(3.0 * k as f64, 0.0, 0.0);
        assert!((p - alone).norm() < 1e-6, "piece {k}: {p} {alone}");
    }
}

#[test]
fn mixed_hessian_is_the_change_of_forces_with_the_rest_shape() {
    let mesh = generate::rectangle(0.4, 0.3, 4, 4, Triangulation::Random { seed: 5 });
    let (mut model, nodes) = model(&mesh, wavy(&mesh), koiter(NormalRule::Tan), vec![0]);
    let x: State = model.start().clone();
    let (node, axis, step) = (nodes.vertices + 5, 1, 1e-6);
    let column = model.unknown(node) + axis;
    let mut expected = vec![0.0; model.len()];
    let pattern = model.mixed_pattern();
    let mut values = vec![0.0; pattern.nnz()];
    model.mixed_hessian(&x, &pattern, &mut values);
    for k in pattern.col_ptr[column]..pattern.col_ptr[column + 1] {
        expected[pattern.row_idx[k]] = values[k];
    }
    let rest = mesh.positions[5];
    let mut forces_at = |shift: f64| {
        let mut moved = rest;
        moved[axis] += shift;
        model.set_rest_position(node, moved);
        model.refresh_rest();
        let mut g = vec![0.0; model.len()];
        model.gradient(&x, &mut g);
        g
    };
    let (above, below) = (forces_at(step), forces_at(-step));
    let size = expected.iter().fold(0.0f64, |a, e| a.max(e.abs()));
    assert!(size > 0.0);
    for i in 0..expected.len() {
        let difference = (above[i] - below[i]) / (2.0 * step);
        assert!(
            (difference - expected[i]).abs() < 1e-5 * size,
            "{i}: {difference} {}",
            expected[i]
        );
    }
}

#[test]
fn what_is_held_at_every_vertex_is_stable_though_its_edges_may_turn() {
    let mesh = generate::sheet(4, 0.3);
    let (mut model, _) = model(&mesh, mesh.positions.clone(), koiter(NormalRule::Tan), vec![]);
    for node in model.vertices().to_vec() {
        let i = model.unknown(node);
        (i..i + 3).for_each(|i| model.set_fixed(i, true));
    }
    assert!(!model.is_empty(), "the angles of the edges are free");
    let certificate = certify(&model, model.start()).unwrap();
    assert!(certificate.certified, "{}", certificate.reason);
}
