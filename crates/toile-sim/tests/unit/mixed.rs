use toile_energy::{Membrane, ShellStiffness};
use toile_geometry::generate::Triangulation;
use toile_geometry::measure::NormalRule;
use toile_geometry::{Vec3, generate};
use toile_sim::{Model, ModelBuilder, Shell, ShellMaterial, State};

fn model(material: ShellMaterial, clamp: Vec<u32>) -> Model {
    let mesh = generate::rectangle(0.4, 0.3, 5, 4, Triangulation::Random { seed: 5 });
    let bent = |p: &Vec3| Vec3::new(1.05 * p.x, p.y, 0.1 * (7.0 * p.x).sin() + 0.3 * p.y * p.y);
    let shell = Shell {
        topology: mesh.topology.clone(),
        positions: mesh.positions.iter().map(bent).collect(),
        rest_positions: mesh
            .positions
            .iter()
            .map(|p| p + Vec3::z() * 0.05 * (9.0 * p.y).cos())
            .collect(),
        material,
        areal_density: 0.3,
        pins: clamp,
        seams: Vec::new(),
        damping: 0.0,
    };
    let mut builder = ModelBuilder::new();
    shell.add_to(&mut builder, Vec3::new(0.0, 1.0, -9.81)).unwrap();
    builder.build().unwrap()
}

/// Every energy of a shell, weight included, along a direction in which all of x̄ moves.
#[test]
fn is_the_change_of_all_forces_with_the_rest_shape() {
    let stiffness = ShellStiffness::isotropic(1e5, 0.3, 1e-3);
    let stvk = Membrane::StVenantKirchhoff;
    let koiter =
        |normals, membrane| ShellMaterial::Koiter { stiffness, normals, membrane, warp: Vec3::x() };
    for material in [
        koiter(NormalRule::Average, stvk),
        koiter(NormalRule::Tan, Membrane::NeoHookean),
        koiter(NormalRule::Sin, stvk),
        ShellMaterial::DiscreteShells { k_length: 3.0, k_area: 1.0, k_bend: 1e-3 },
        ShellMaterial::HingedMembrane { stiffness, membrane: stvk, k_bend: 1e-3 },
    ] {
        for clamp in [vec![], vec![0, 1, 5, 6, 7]] {
            let mut model = model(material, clamp);
            let n = model.len();
            let mut v = vec![0.0; n];
            for &node in model.vertices() {
                let i = model.unknown(node);
                for k in 0..3 {
                    v[i + k] = (1.3 * (i + k) as f64).sin();
                }
            }
            let pattern = model.mixed_pattern();
            let mut values = vec![0.0; pattern.nnz()];
            let x = model.start().clone();
            model.set_load(0.7);
            model.mixed_hessian(&x, &pattern, &mut values);
            let mut found = vec![0.0; n];
            pattern.multiply(&values, &v, &mut found);

            // Transposed and straight must be one matrix.
            let mut back = vec![0.0; n];
            pattern.multiply_transposed(&values, &v, &mut back);
            let [a, b] = [&found, &back].map(|p| p.iter().zip(&v).map(|(p, v)| p * v).sum::<f64>());
            assert!((a - b).abs() < 1e-9 * a.abs(), "{a} {b}");

            let rest = model.rest().clone();
            let mut gradient_at = |step: f64| {
                let mut moved = State::new(vec![0.0; n]);
                rest.advanced_into(&v, step, &mut moved);
                model.set_rest(&moved);
                let mut g = vec![0.0; n];
                model.gradient(&x, &mut g);
                g
            };
            // Fourth order in the step.
            let step = 2e-6;
            let g = [-2.0, -1.0, 1.0, 2.0].map(|k| gradient_at(k * step));
            let size = found.iter().fold(0.0f64, |m, f| m.max(f.abs()));
            assert!(size > 1.0, "{size}");
            for i in 0..n {
                let expected = (g[0][i] - 8.0 * g[1][i] + 8.0 * g[2][i] - g[3][i]) / (12.0 * step);
                let error = (found[i] - expected).abs();
                assert!(error < 1e-7 * size, "{material:?} {i}: {} {expected}", found[i]);
            }
        }
    }
}

/// Against differences of ∂²E/∂x² p and (∂²E/∂x∂x̄)ᵀ p along a direction in which everything moves.
#[test]
fn third_derivative_is_the_change_of_the_second_ones() {
    let stiffness = ShellStiffness::isotropic(1e5, 0.3, 1e-3);
    let membrane = Membrane::StVenantKirchhoff;
    let tan = NormalRule::Tan;
    for material in [
        ShellMaterial::Koiter { stiffness, normals: tan, membrane, warp: Vec3::x() },
        ShellMaterial::DiscreteShells { k_length: 3.0, k_area: 1.0, k_bend: 1e-3 },
    ] {
        let mut model = model(material, vec![]);
        let n = model.len();
        let wave = |a: f64, i: usize| (a * i as f64).sin();
        let p: Vec<f64> = (0..n).map(|i| wave(1.1, i)).collect();
        let u: Vec<f64> = (0..n).map(|i| wave(0.7, i)).collect();
        let mut v = vec![0.0; n];
        for &node in model.vertices() {
            let i = model.unknown(node);
            (i..i + 3).for_each(|k| v[k] = wave(1.7, k));
        }
        let (x, rest) = (model.start().clone(), model.rest().clone());
        let (mut in_x, mut in_rest) = (vec![0.0; n], vec![0.0; n]);
        model.third_derivative(&x, &p, &u, &v, &mut in_x, &mut in_rest);
        let pattern = model.mixed_pattern();
        let mut second = |step: f64| {
            let (mut there, mut below) = (x.clone(), rest.clone());
            x.advanced_into(&u, step, &mut there);
            rest.advanced_into(&v, step, &mut below);
            model.set_rest(&below);
            let mut hessian = vec![0.0; model.pattern().nnz()];
            model.hessian(&there, toile_energy::Curvature::Exact, &mut hessian);
            let mut mixed = vec![0.0; pattern.nnz()];
            model.mixed_hessian(&there, &pattern, &mut mixed);
            let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
            model.pattern().multiply(&hessian, &p, &mut a);
            pattern.multiply_transposed(&mixed, &p, &mut b);
            (a, b)
        };
        let step = 1e-6;
        let g = [-2.0, -1.0, 1.0, 2.0].map(|k| second(k * step));
        for (which, found) in [&in_x, &in_rest].into_iter().enumerate() {
            let size = found.iter().fold(0.0f64, |m, f| m.max(f.abs()));
            assert!(size > 1.0, "{size}");
            for i in 0..n {
                let at = |k: usize| if which == 0 { g[k].0[i] } else { g[k].1[i] };
                let expected = (at(0) - 8.0 * at(1) + 8.0 * at(2) - at(3)) / (12.0 * step);
                let error = (found[i] - expected).abs();
                // Rest angles have no derivative: their columns stay empty.
                if which == 1 && v[i] == 0.0 {
                    continue;
                }
                assert!(error < 1e-6 * size, "{which} {i}: {} {expected}", found[i]);
            }
        }
    }
}
