//! Physics that motion with friction must obey.

use toile_contact::{Collider, Motion, Shape};
use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3, generate};

use super::*;
use crate::{Model, ModelBuilder, Shell, ShellMaterial};

const GRAVITY: f64 = 9.81;

fn sheet_model(mesh: &TriMesh, pins: Vec<u32>, gravity: Vec3) -> Model {
    let (stretching, poisson, bending) = (1000.0, 0.3, 1e-5);
    let thickness = (12.0f64 * (1.0 - poisson * poisson) * bending / stretching).sqrt();
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        rest_positions: mesh.positions.clone(),
        material: ShellMaterial::Koiter {
            stiffness: ShellStiffness::isotropic(stretching / thickness, poisson, thickness),
            normals: NormalRule::Average,
            membrane: Membrane::StVenantKirchhoff,
            warp: Vec3::x(),
        },
        areal_density: 0.2,
        pins,
    };
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, gravity).unwrap();
    builder.build().unwrap()
}

/// A sheet lying on a plane that everything shares the velocity of, gravity leaning by `angle` towards x.
fn on_a_plane(mesh: &TriMesh, angle: f64, friction: f64, common: Vec3) -> Simulator<Surroundings> {
    let gravity = GRAVITY * Vec3::new(angle.sin(), 0.0, -angle.cos());
    let model = sheet_model(mesh, vec![], gravity);
    let plane = Shape::plane(Vec3::zeros(), Vec3::z()).unwrap();
    let motion = Motion::steady(Vec3::zeros(), common, Vec3::zeros()).unwrap();
    let plane = Collider::new(plane, motion).unwrap().with_friction(friction).unwrap();
    let plane = plane.with_gap(0.0).unwrap();
    let around = Surroundings::new(mesh.topology.clone(), vec![plane]);
    let mut sim = Simulator::new(model, around).unwrap();
    set_velocity(&mut sim, common);
    sim
}

fn set_velocity<S: ContactSource>(sim: &mut Simulator<S>, velocity: Vec3) {
    let mut v = vec![0.0; sim.model().len()];
    for &node in sim.model().vertices() {
        let i = sim.model().unknown(node);
        v[i..i + 3].copy_from_slice(velocity.as_slice());
    }
    sim.set_velocities(&v);
}

fn mean_velocity<S: ContactSource>(sim: &Simulator<S>) -> Vec3 {
    let vertices = sim.model().vertices();
    let sum = vertices.iter().fold(Vec3::zeros(), |sum, &node| {
        let i = sim.model().unknown(node);
        sum + Vec3::from_column_slice(&sim.velocities()[i..i + 3])
    });
    sum / vertices.len() as f64
}

#[test]
fn a_sheet_sticks_below_the_angle_of_friction_and_does_not_creep() {
    for common in [Vec3::zeros(), Vec3::new(10.0, -3.0, 0.0)] {
        let (angle, mesh) = (20f64.to_radians(), generate::sheet(9, 0.5));
        let mut sim = on_a_plane(&mesh, angle, 1.001 * angle.tan(), common);
        for _ in 0..50 {
            sim.step(0.01).unwrap();
        }
        for &node in sim.model().vertices() {
            let i = sim.model().unknown(node);
            let v = Vec3::from_column_slice(&sim.velocities()[i..i + 3]);
            assert_eq!(v, common, "a vertex creeps");
        }
        assert!(sim.contact_forces().iter().all(|f| f.status == ContactStatus::Stick));
    }
}

#[test]
fn a_sheet_slides_above_the_angle_of_friction_as_a_block_does() {
    let angle = 20f64.to_radians();
    for common in [Vec3::zeros(), Vec3::new(0.0, 10.0, 0.0)] {
        let mut sim = on_a_plane(&generate::sheet(9, 0.5), angle, 0.95 * angle.tan(), common);
        for _ in 0..50 {
            let report = sim.step(0.01).unwrap();
            assert!(report.converged && report.law_error <= 1e-8, "{report:?}");
        }
        let exact = 0.5 * 0.05 * GRAVITY * angle.sin();
        let speed = (mean_velocity(&sim) - common).x;
        assert!((speed / exact - 1.0).abs() < 1e-6, "{speed} m/s instead of {exact}");
    }
}

#[test]
fn a_thrown_sheet_stops_where_coulomb_says_in_every_direction() {
    let (mu, v0, h) = (0.5, 1.0, 0.005);
    let steps = (v0 / (mu * GRAVITY * h)).floor();
    // Moreau's scheme slides with v0 − j μ g h in step j and sticks in the one after the last.
    let exact = h * (steps * v0 - 0.5 * steps * (steps + 1.0) * mu * GRAVITY * h);
    for k in 0..5 {
        let (s, c) = (0.3 + 1.1 * f64::from(k)).sin_cos();
        let mut sim = on_a_plane(&generate::sheet(3, 0.2), 0.0, mu, Vec3::zeros());
        set_velocity(&mut sim, v0 * Vec3::new(c, s, 0.0));
        let start = sim.model().position(sim.state(), 0);
        for _ in 0..60 {
            sim.step(h).unwrap();
        }
        let way = sim.model().position(sim.state(), 0) - start;
        assert!((way.norm() - exact).abs() < 1e-6 * exact, "{} m, not {exact}", way.norm());
        assert!((way.x - c * way.norm()).abs() < 1e-6 * exact, "it turned: {way}");
        assert!(sim.velocities().iter().all(|v| *v == 0.0), "it still moves");
    }
}

#[test]
fn cloth_on_a_ball_stays_outside_and_obeys_the_law() {
    let mut mesh = generate::sheet(17, 0.4);
    let center = mesh.positions.iter().fold(Vec3::zeros(), |a, b| a + b) / 289.0;
    for p in &mut mesh.positions {
        *p += Vec3::new(0.03, 0.02, 0.2015) - center;
    }
    let model = sheet_model(&mesh, vec![], -GRAVITY * Vec3::z());
    let ball = Shape::sphere(Vec3::zeros(), 0.2).unwrap();
    let ball = Collider::fixed(ball).with_friction(0.3).unwrap();
    let around = Surroundings::new(mesh.topology.clone(), vec![ball]);
    let mut sim = Simulator::new(model, around).unwrap();
    let (mut last, mut sum) = (f64::INFINITY, 0.0);
    for step in 0..10 {
        let report = sim.step(0.01).unwrap();
        assert!(report.law_error <= 1e-4, "step {step}: {report:?}");
        sum += report.mean_law_error / 10.0;
        for &node in sim.model().vertices() {
            let r = sim.model().position(sim.state(), node).norm();
            // Part of the gap may be lost while contacts come and go.
            assert!(r > 0.2, "vertex {node} at {r} in step {step}");
        }
        // Nothing feeds energy in, up to what a step that did not converge may leave.
        let energies = sim.energies();
        let total = energies.kinetic + energies.potential;
        assert!(
            total <= last + 1e-3 * 0.032 * GRAVITY,
            "energy grew by {} J in step {step}",
            total - last
        );
        last = total;
    }
    assert!(sum <= 1e-6, "mean violation of the law {sum:e}");
    assert!(sim.contact_forces().len() > 8);
}

/// Position of the loose end of a strip that swings, after 0.1 s in `steps` steps.
fn swing(integrator: Integrator, steps: usize) -> Vec3 {
    let mesh = generate::sheet(2, 0.3);
    let model = sheet_model(&mesh, vec![0, 1], -GRAVITY * Vec3::z());
    let mut sim = Simulator::new(model, NoContact).unwrap();
    sim.set_integrator(integrator);
    sim.set_settings(StageSettings { tolerance: 1e-10, max_iterations: 60, ..Default::default() });
    // Start on the way, so that the first step is as smooth as the others.
    for _ in 0..steps {
        let report = sim.step(0.05 / steps as f64).unwrap();
        assert!(report.converged);
    }
    sim.model().position(sim.state(), 3)
}

#[test]
fn integrators_converge_at_their_orders() {
    let exact = swing(Integrator::Sdirk2, 12_800);
    for integrator in
        [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::TrBdf2, Integrator::Sdirk2]
    {
        let errors = [1600, 3200].map(|steps| (swing(integrator, steps) - exact).norm());
        let order = (errors[0] / errors[1]).log2();
        let expected = integrator.order() as f64;
        assert!((order - expected).abs() < 0.25, "{integrator:?}: order {order:.2} {errors:?}");
    }
}
