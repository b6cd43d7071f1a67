//! What internal damping must and must not do.

use nalgebra::{Matrix3, SymmetricEigen};
use toile_contact::{Collider, Shape};
use toile_energy::{Curvature, Membrane, ShellStiffness};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3, generate};
use toile_sim::dynamics::{
    ContactSource, Integrator, NoContact, Simulator, StageSettings, Surroundings,
};
use toile_sim::{Model, ModelBuilder, Shell, ShellMaterial};

/// A sheet of 1000 N/m and 1e-4 N·m with so many seconds of damping.
fn damped_sheet(mesh: &TriMesh, pins: Vec<u32>, gravity: Vec3, damping: f64) -> Model {
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.clone(),
        rest_positions: mesh.positions.clone(),
        material: ShellMaterial::Koiter {
            stiffness: ShellStiffness::isotropic(1e6, 0.3, 1e-3),
            normals: NormalRule::Tan,
            membrane: Membrane::StVenantKirchhoff,
            warp: Vec3::x(),
        },
        areal_density: 0.2,
        pins,
        seams: Vec::new(),
        damping,
    };
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, gravity).unwrap();
    builder.build().unwrap()
}

fn give<S: ContactSource>(sim: &mut Simulator<S>, velocity: impl Fn(Vec3) -> Vec3) {
    let mut v = vec![0.0; sim.model().len()];
    for &node in sim.model().vertices() {
        let i = sim.model().unknown(node);
        if !sim.model().fixed()[i] {
            let p = sim.model().position(sim.state(), node);
            v[i..i + 3].copy_from_slice(velocity(p).as_slice());
        }
    }
    sim.set_velocities(&v);
}

fn total(sim: &Simulator<impl ContactSource>) -> f64 {
    let energies = sim.energies();
    energies.kinetic + energies.potential
}

/// The one free vertex of a framed sheet plucked in its plane along an eigenvector of its stiffness: m ẍ + β k ẋ + k x = 0.
#[test]
fn a_plucked_vertex_rings_down_as_kelvin_and_voigt_say() {
    let mesh = generate::sheet(3, 0.2);
    let frame: Vec<u32> = (0..9).filter(|v| *v != 4).collect();
    let beta = 1e-3;
    let model = damped_sheet(&mesh, frame, Vec3::zeros(), beta);
    let i = model.unknown(4);
    let mut values = vec![0.0; model.pattern().nnz()];
    model.hessian(model.start(), Curvature::Exact, &mut values);
    let block = Matrix3::from_fn(|r, c| {
        let at = model.pattern().position(i + r.max(c), i + r.min(c));
        values[at.unwrap()]
    });
    let eigen = SymmetricEigen::new(block);
    let stiffest = eigen.eigenvalues.imax();
    let (k, along) =
        (eigen.eigenvalues[stiffest], eigen.eigenvectors.column(stiffest).into_owned());
    let omega = (k / model.masses()[i]).sqrt();
    let zeta = 0.5 * beta * omega;
    assert!((0.05..0.9).contains(&zeta), "{zeta}: neither of the two could be seen");
    let (damped, speed, end) = (omega * (1.0 - zeta * zeta).sqrt(), 1e-3, 4.0 / omega);
    let exact = speed / damped * (-zeta * omega * end).exp() * (damped * end).sin();
    let error = |integrator: Integrator, steps: usize| {
        let model = damped_sheet(&mesh, (0..9).filter(|v| *v != 4).collect(), Vec3::zeros(), beta);
        let mut sim = Simulator::new(model, NoContact).unwrap();
        sim.set_integrator(integrator);
        sim.set_settings(StageSettings { tolerance: 1e-9, balance: 1e-12, ..Default::default() });
        give(&mut sim, |_| speed * along);
        for _ in 0..steps {
            sim.step(end / steps as f64).unwrap();
        }
        let moved = sim.model().position(sim.state(), 4) - mesh.positions[4];
        (moved.dot(&along) - exact).abs() / (speed / omega)
    };
    for (integrator, steps) in [
        (Integrator::ImplicitEuler, 400),
        (Integrator::Bdf2, 100),
        (Integrator::TrBdf2, 50),
        (Integrator::Sdirk2, 50),
    ] {
        let (coarse, fine) = (error(integrator, steps), error(integrator, 2 * steps));
        let order = (coarse / fine).log2();
        let expected = integrator.order() as f64;
        assert!(fine < 0.005, "{integrator:?}: off by {fine}");
        assert!((order - expected).abs() < 0.15, "{integrator:?}: order {order} at {fine}");
    }
}

/// Stretched by its own spin, it turns as long as one without damping.
#[test]
fn a_spinning_sheet_does_not_feel_its_damping() {
    let left = |damping: f64| {
        let mesh = generate::sheet(5, 0.4);
        let center = mesh.positions.iter().sum::<Vec3>() / mesh.positions.len() as f64;
        let model = damped_sheet(&mesh, vec![], Vec3::zeros(), damping);
        let mut sim = Simulator::new(model, NoContact).unwrap();
        sim.set_integrator(Integrator::TrBdf2);
        let axis = Vec3::new(0.0, 2.0, 9.0);
        give(&mut sim, |p| axis.cross(&(p - center)));
        let spun = sim.energies().kinetic;
        for _ in 0..200 {
            sim.step(2e-3).unwrap();
        }
        total(&sim) / spun
    };
    let (without, with) = (left(0.0), left(0.02));
    // It stretches when it is let go and rings, which damping does take.
    assert!(without > 0.9 && with > without - 0.02, "{with} left of the energy, {without} without");
}

#[test]
fn damping_takes_energy_and_leaves_momentum() {
    let mesh = generate::sheet(6, 0.5);
    let model = damped_sheet(&mesh, vec![], Vec3::zeros(), 5e-3);
    let mut sim = Simulator::new(model, NoContact).unwrap();
    sim.set_settings(StageSettings { tolerance: 1e-9, balance: 1e-12, ..Default::default() });
    let wild =
        |p: Vec3| Vec3::new((9.0 * p.y).sin(), 2.0 * (11.0 * p.x).cos(), 3.0 * (8.0 * p.x).sin());
    give(&mut sim, wild);
    let momentum = |sim: &Simulator<NoContact>| {
        let mut sum = Vec3::zeros();
        for &node in sim.model().vertices() {
            let i = sim.model().unknown(node);
            sum += sim.model().masses()[i] * Vec3::from_column_slice(&sim.velocities()[i..i + 3]);
        }
        sum
    };
    let (start, mut last) = (momentum(&sim), total(&sim));
    for step in 0..40 {
        sim.step(4e-3).unwrap();
        let now = total(&sim);
        assert!(now <= last * (1.0 + 1e-9), "step {step}: {now} J after {last} J");
        last = now;
    }
    let lost = (momentum(&sim) - start).norm();
    assert!(lost < 1e-9 * start.norm(), "{lost} N·s lost of {start}");
}

/// A piece that slides strains nothing: neither friction nor acceleration change.
#[test]
fn a_damped_sheet_slides_as_a_block_does() {
    let angle = 20f64.to_radians();
    let mesh = generate::sheet(7, 0.5);
    let gravity = 9.81 * Vec3::new(angle.sin(), 0.0, -angle.cos());
    let model = damped_sheet(&mesh, vec![], gravity, 0.05);
    let plane = Shape::plane(Vec3::zeros(), Vec3::z()).unwrap();
    let plane = Collider::fixed(plane);
    let plane = plane.with_friction(0.95 * angle.tan()).unwrap().with_gap(0.0).unwrap();
    let around = Surroundings::new(mesh.topology.clone(), vec![plane]);
    let mut sim = Simulator::new(model, around).unwrap();
    for _ in 0..50 {
        let report = sim.step(0.01).unwrap();
        assert!(report.converged && report.law_error <= 1e-8, "{report:?}");
    }
    let exact = 0.5 * 0.05 * 9.81 * angle.sin();
    for &node in sim.model().vertices() {
        let speed = sim.velocities()[sim.model().unknown(node)];
        assert!((speed / exact - 1.0).abs() < 1e-6, "{speed} m/s instead of {exact}");
    }
}

/// A stiff sheet that swings from two corners; its own damping made energy where the two stages of a step had different matrices of it.
#[test]
fn a_damped_swing_gains_no_energy() {
    let mesh = generate::sheet(9, 0.5);
    for integrator in [Integrator::ImplicitEuler, Integrator::Sdirk2] {
        let gravity = -9.81 * Vec3::z();
        let model = damped_sheet(&mesh, vec![0, 8], gravity, 3e-3);
        let mut sim = Simulator::new(model, NoContact).unwrap();
        sim.set_integrator(integrator);
        let first = total(&sim);
        let (mut energies, mut parts) = (vec![first], 0);
        for _ in 0..200 {
            parts += sim.step(5e-3).unwrap().substeps;
            energies.push(total(&sim));
        }
        let range = first - energies[200];
        let rise = energies.windows(2).map(|e| e[1] - e[0]).fold(0.0, f64::max);
        assert!(rise < 1e-4 * range, "{integrator:?}: a step makes {rise} of {range} J");
        assert_eq!(parts, 200, "{integrator:?}");
    }
}
