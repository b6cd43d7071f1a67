use toile_energy::{Curvature, Membrane, ShellStiffness};
use toile_geometry::generate;
use toile_geometry::measure::NormalRule;
use toile_geometry::{Topology, Vec3};
use toile_sim::{ModelBuilder, Shell, ShellMaterial, State};

/// The whole matrix from its lower triangle times v.
fn product(model: &toile_sim::Model, values: &[f64], v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; v.len()];
    model.pattern().multiply(values, v, &mut out);
    out
}

#[test]
fn one_vertex_in_several_places_of_a_stencil_counts_in_all() {
    // A closed tetrahedron: the three neighbours of a face share their third vertex.
    let corners: Vec<Vec3> =
        [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
            .map(Vec3::from)
            .into();
    let faces = vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
    for normals in [NormalRule::Average, NormalRule::Tan] {
        for pins in [vec![], vec![1]] {
            let shell = Shell {
                topology: Topology::new(4, faces.clone()).unwrap(),
                positions: corners
                    .iter()
                    .map(|p| p * 1.1 + Vec3::new(0.1 * p.y, 0.0, 0.2 * p.x))
                    .collect(),
                rest_positions: corners.clone(),
                material: ShellMaterial::Koiter {
                    stiffness: ShellStiffness::isotropic(2.0, 0.3, 0.5),
                    normals,
                    membrane: Membrane::StVenantKirchhoff,
                    warp: Vec3::x(),
                },
                areal_density: 0.1,
                pins,
                seams: Vec::new(),
                damping: 0.0,
            };
            let mut builder = ModelBuilder::new();
            shell.add_to(&mut builder, Vec3::new(0.0, 0.0, -9.81)).unwrap();
            let model = builder.build().unwrap();
            let n = model.len();
            let v: Vec<f64> = (0..n)
                .map(|i| if model.fixed()[i] { 0.0 } else { (1.7 * i as f64).sin() })
                .collect();
            let mut values = vec![0.0; model.pattern().nnz()];
            model.hessian(model.start(), Curvature::Exact, &mut values);
            let found = product(&model, &values, &v);
            let gradient_at = |step: f64| {
                let mut state = State::new(vec![0.0; n]);
                model.start().advanced_into(&v, step, &mut state);
                let mut gradient = vec![0.0; n];
                model.gradient(&state, &mut gradient);
                gradient
            };
            // Fourth order in the step: the error is about 1e-11.
            let step = 1e-3;
            let g = [-2.0, -1.0, 1.0, 2.0].map(|k| gradient_at(k * step));
            let size = found.iter().fold(0.0f64, |m, f| m.max(f.abs()));
            for i in (0..n).filter(|&i| !model.fixed()[i]) {
                let expected = (g[0][i] - 8.0 * g[1][i] + 8.0 * g[2][i] - g[3][i]) / (12.0 * step);
                let error = (found[i] - expected).abs();
                assert!(error < 1e-8 * size, "unknown {i}: {} and {expected}", found[i]);
            }
        }
    }
}

#[test]
fn the_energy_beside_the_gradient_counts_every_stencil_once() {
    // Large enough to be cut into tasks, which share the stencils on the cuts.
    let mesh = generate::sheet(55, 1.0);
    for membrane in [Membrane::StVenantKirchhoff, Membrane::NeoHookean] {
        let ripple =
            |p: &Vec3| p + Vec3::new(0.0, 0.02 * p.x, 0.05 * (9.0 * p.x + 5.0 * p.y).sin());
        let shell = Shell {
            topology: mesh.topology.clone(),
            positions: mesh.positions.iter().map(ripple).collect(),
            rest_positions: mesh.positions.clone(),
            material: ShellMaterial::Koiter {
                stiffness: ShellStiffness::isotropic(2.0, 0.3, 0.5),
                normals: NormalRule::Average,
                membrane,
                warp: Vec3::x(),
            },
            areal_density: 0.1,
            pins: vec![0],
            seams: Vec::new(),
            damping: 0.0,
        };
        let mut builder = ModelBuilder::new();
        shell.add_to(&mut builder, Vec3::new(0.0, 0.0, -9.81)).unwrap();
        let mut model = builder.build().unwrap();
        assert!(model.len() > 8000, "one task only");
        model.external_mut()[7] = 0.3;
        let (mut alone, mut beside) = (vec![0.0; model.len()], vec![0.0; model.len()]);
        model.gradient(model.start(), &mut alone);
        let found = model.energy_and_gradient(model.start(), &mut beside);
        let expected = model.energy(model.start());
        assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found} and {expected}");
        assert_eq!(alone, beside);
    }
}
