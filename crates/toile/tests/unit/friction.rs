//! Friction problems in every form their matrix may have.

use toile::cone::{Law, Settings, Stop};
use toile::io::{FrictionMatrix, FrictionProblem, GlobalFriction, SparseMatrix};
use toile::{body_velocities, solve_friction};

/// So many contacts in the plane apart from each other, each between two unknowns: M = diag(2, 4), H = [1 ½; 0 1], f = (−2, 8),
/// w = (0, ½), μ = ½. Each slides on: r = (8/3, −4/3), u = (0, 13/6), v = (0, 5/3).
fn apart(n: usize) -> FrictionProblem {
    let diagonal = |k: usize| (k as u32, k as u32, if k.is_multiple_of(2) { 2.0 } else { 4.0 });
    let block = |k: usize| {
        let k = 2 * k as u32;
        [(k, k, 1.0), (k, k + 1, 0.5), (k + 1, k + 1, 1.0)]
    };
    let global = GlobalFriction {
        mass: SparseMatrix::new(2 * n, 2 * n, (0..2 * n).map(diagonal).collect()),
        h: SparseMatrix::new(2 * n, 2 * n, (0..n).flat_map(block).collect()),
        force: [-2.0, 8.0].repeat(n),
    };
    FrictionProblem {
        id: "apart".into(),
        dimension: 2,
        law: Law::Coulomb,
        mu: vec![0.5; n],
        w: FrictionMatrix::Global(Box::new(global)),
        b: [0.0, 0.5].repeat(n),
    }
}

/// The same with W = Hᵀ M⁻¹ H = [½ ¼; ¼ ⅜] and q = Hᵀ M⁻¹ f + w = (−1, 2).
fn local(n: usize) -> FrictionProblem {
    let block = |k: usize| {
        let k = 2 * k as u32;
        [(k, k, 0.5), (k, k + 1, 0.25), (k + 1, k, 0.25), (k + 1, k + 1, 0.375)]
    };
    let w = SparseMatrix::new(2 * n, 2 * n, (0..n).flat_map(block).collect());
    FrictionProblem { w: FrictionMatrix::Sparse(w), b: [-1.0, 2.0].repeat(n), ..apart(n) }
}

fn assert_close(what: &str, found: &[f64], expected: [f64; 2]) {
    for (k, value) in found.iter().enumerate() {
        let apart = (value - expected[k % 2]).abs();
        assert!(apart < 1e-9, "{what}[{k}] is off by {apart:e}");
    }
}

#[test]
fn contacts_apart_answer_as_one_alone_in_every_form() {
    // Below and above the size up to which W is kept whole.
    for n in [1, 3, 760] {
        for problem in [apart(n), local(n)] {
            let settings = Settings { tolerance: 1e-12, ..Settings::default() };
            let found = solve_friction(&problem, "auto", &settings, &|_, _| true).unwrap();
            assert!(found.converged(), "{n}: {:?}", found.stop);
            assert_close("r", &found.r, [8.0 / 3.0, -4.0 / 3.0]);
            assert_close("u", &found.u, [0.0, 13.0 / 6.0]);
            match body_velocities(&problem, &found.r).unwrap() {
                Some(v) => assert_close("v", &v, [0.0, 5.0 / 3.0]),
                None => assert!(matches!(problem.w, FrictionMatrix::Sparse(_))),
            }
        }
    }
}

#[test]
fn bodies_without_mass_are_told() {
    let mut problem = apart(2);
    let FrictionMatrix::Global(global) = &mut problem.w else { panic!("it is global") };
    global.mass.entries[3].2 = 0.0;
    let error = solve_friction(&problem, "auto", &Settings::default(), &|_, _| true).unwrap_err();
    assert!(error.to_string().contains("bodies without mass"), "{error}");
}

/// One contact per row of b, W = w times the identity.
fn diagonal(w: f64, b: &[f64]) -> FrictionProblem {
    let size = b.len();
    let mut dense = vec![0.0; size * size];
    (0..size).for_each(|i| dense[i * size + i] = w);
    FrictionProblem {
        id: "diagonal".into(),
        dimension: 3,
        law: Law::Coulomb,
        mu: vec![0.5; size / 3],
        w: FrictionMatrix::Dense(dense),
        b: b.to_vec(),
    }
}

#[test]
fn forces_that_would_grow_without_end_are_no_solution() {
    let settings = Settings { tolerance: 1e-10, force_floor: Some(1.0), ..Settings::default() };
    // Two contacts without friction press one thing from two sides: u_0 + u_1 = -2 whatever the forces.
    let mut squeezed = diagonal(0.0, &[-1.0, 0.0, 0.0, -1.0, 0.0, 0.0]);
    if let FrictionMatrix::Dense(w) = &mut squeezed.w {
        for (k, value) in [(0, 1.0), (3, -1.0), (18, -1.0), (21, 1.0)] {
            w[k] = value;
        }
    }
    squeezed.mu = vec![0.0; 2];
    let rigid = diagonal(0.0, &[-1.0, 2.0, 0.0]);
    for (what, problem) in [("squeezed", &squeezed), ("rigid", &rigid)] {
        for tolerance in [1e-10, 1e-6] {
            let settings = Settings { tolerance, ..settings.clone() };
            for solver in ["auto", "gauss-seidel", "newton", "admm", "projected-gradient", "cadoux"]
            {
                let found = solve_friction(problem, solver, &settings, &|_, _| true).unwrap();
                assert!(!found.converged(), "{what}, {solver}: r = {:?}", found.r);
            }
        }
        let found = solve_friction(problem, "auto", &settings, &|_, _| true).unwrap();
        assert_eq!(found.stop, Stop::Unbounded, "{what}: r = {:?}", found.r);
    }
}

#[test]
fn small_forces_are_found_as_well_as_large_ones() {
    let settings = Settings { tolerance: 1e-10, force_floor: Some(1.0), ..Settings::default() };
    for w in [1e12, 1.0, 1e-6] {
        let problem = diagonal(w, &[-1.0, 2.0, 0.0]);
        let found = solve_friction(&problem, "auto", &settings, &|_, _| true).unwrap();
        assert!(found.converged());
        let expected = [1.0 / w, -0.5 / w, 0.0];
        for (r, expected) in found.r.iter().zip(expected) {
            assert!((r - expected).abs() < 1e-9 / w, "W = {w:e}: {:?}", found.r);
        }
    }
}
