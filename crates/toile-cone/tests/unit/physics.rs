//! Dry friction as nature has it: slopes, thrown blocks, capstans; and solvers that agree.

use nalgebra::DMatrix;
use toile_cone::{
    Admm, AlartCurnierNewton, Auto, Cadoux, DenseOperator, GaussSeidel, Problem, ProjectedGradient,
    Random, Settings, Solution, Solver, Status, Stop,
};

const G: f64 = 9.81;

fn exact() -> Settings {
    Settings { tolerance: 1e-12, ..Settings::default() }
}

fn solvers() -> Vec<Box<dyn Solver<3>>> {
    vec![
        Box::new(GaussSeidel::default()),
        Box::new(AlartCurnierNewton),
        Box::new(Admm::default()),
        Box::new(ProjectedGradient::default()),
        Box::new(Cadoux::default()),
    ]
}

fn solve(solver: &dyn Solver<3>, w: &DenseOperator<3>, b: &[f64], mu: &[f64]) -> Solution {
    let problem = Problem::new(w, b, mu).unwrap();
    solver.solve(&problem, None, &exact(), &|_, _| true)
}

/// One step of a block of 1 kg on a plane inclined by `slope` towards `heading`.
fn step(
    solver: &dyn Solver<3>,
    mu: f64,
    slope: f64,
    heading: f64,
    v: [f64; 3],
    dt: f64,
) -> Solution {
    let w = DenseOperator::<3>::new(DMatrix::identity(3, 3)).unwrap();
    let pull = dt * G * slope.sin();
    let b = [v[0] - dt * G * slope.cos(), v[1] + pull * heading.cos(), v[2] + pull * heading.sin()];
    solve(solver, &w, &b, &[mu])
}

#[test]
fn a_block_slides_exactly_when_the_slope_exceeds_the_cone() {
    let mu: f64 = 0.37;
    for solver in solvers() {
        for heading in [0.0, 0.4, 1.1, 2.5, 4.0] {
            let stuck = step(&*solver, mu, (mu * 0.999).atan(), heading, [0.0; 3], 0.01);
            assert_eq!(stuck.status, [Status::Stick], "{}", solver.name());
            assert!(stuck.u.iter().all(|u| u.abs() < 1e-14), "{}: {:?}", solver.name(), stuck.u);
            let slope = (mu * 1.001).atan();
            let sliding = step(&*solver, mu, slope, heading, [0.0; 3], 0.01);
            assert_eq!(sliding.status, [Status::Slip], "{}", solver.name());
            let acceleration = sliding.u[1].hypot(sliding.u[2]) / 0.01;
            let expected = G * (slope.sin() - mu * slope.cos());
            assert!((acceleration - expected).abs() < 1e-9, "{}: {acceleration}", solver.name());
            assert!((sliding.u[2].atan2(sliding.u[1]).rem_euclid(6.3) - heading).abs() < 0.02);
        }
    }
}

#[test]
fn a_thrown_block_stops_where_it_should_and_stays() {
    // v = v₀ − k dt μ g for k sliding steps, then rest.
    let (mu, speed, dt) = (0.5, 1.0, 0.005);
    let (mut v, mut x, mut sliding) = ([0.0, 0.6 * speed, -0.8 * speed], 0.0, 0);
    for _ in 0..60 {
        let found = step(&GaussSeidel::default(), mu, 0.0, 0.0, v, dt);
        v = [found.u[0], found.u[1], found.u[2]];
        x += dt * v[1].hypot(v[2]);
        sliding += usize::from(found.status == [Status::Slip]);
    }
    assert_eq!(sliding, 40); // floor(v₀/(μ g dt))
    assert!((x - 0.0994475).abs() < 1e-12, "{x}");
    assert_eq!(v, [0.0; 3]);
    // The limit of small steps.
    assert!((x - speed * speed / (2.0 * mu * G)).abs() < dt * speed);
}

/// A rope without weight over n corners that turn it by `wrap`: H M⁻¹ Hᵀ of its n + 1 velocities
/// (one along, one lifting at each corner), and b for the tensions at its ends.
fn capstan(n: usize, wrap: f64, low: f64, high: f64) -> (DenseOperator<2>, Vec<f64>) {
    let half = wrap / (2 * n) as f64;
    let mut h = DMatrix::zeros(2 * n, n + 1);
    for i in 0..n {
        h[(2 * i, 1 + i)] = 1.0;
        // Segments keep their length: vT(i+1) = vT(i) − tan(half) (vN(i) + vN(i+1)).
        h[(2 * i + 1, 0)] = 1.0;
        for j in 0..i {
            h[(2 * i + 1, 1 + j)] -= half.tan();
            h[(2 * i + 1, 2 + j)] -= half.tan();
        }
    }
    let mass = h.transpose() * &h;
    // Pulls at the first and last corner, in (N, T) of the corner.
    let mut pull = nalgebra::DVector::zeros(2 * n);
    pull[0] -= low * half.sin();
    pull[1] -= low * half.cos();
    pull[2 * n - 2] -= high * half.sin();
    pull[2 * n - 1] += high * half.cos();
    let force = h.transpose() * pull;
    let v = mass.clone().cholesky().unwrap().solve(&force);
    (DenseOperator::from_mass(&h, &mass).unwrap(), (h * v).as_slice().to_vec())
}

#[test]
fn a_capstan_holds_up_to_its_ratio() {
    let (mu, wrap): (f64, f64) = (0.3, std::f64::consts::PI);
    for (n, printed) in [(4, 2.716), (10, 2.588), (50, 2.567)] {
        let tan = (wrap / (2 * n) as f64).tan();
        let ratio = ((1.0 + mu * tan) / (1.0 - mu * tan)).powi(n as i32);
        assert!((ratio - printed).abs() < 6e-4);
        for (factor, holds) in [(0.999, true), (1.001, false)] {
            let (w, b) = capstan(n, wrap, 1.0, ratio * factor);
            let friction = vec![mu; n];
            let problem = Problem::new(&w, &b, &friction).unwrap();
            let settings = Settings { tolerance: 1e-11, ..Settings::default() };
            let found = Auto.solve(&problem, None, &settings, &|_, _| true);
            assert!(found.converged(), "{n} corners × {factor}: {:?}", found.residuals);
            let speed = found.u.iter().fold(0.0f64, |m, u| m.max(u.abs()));
            assert_eq!(speed < 1e-7, holds, "{n} corners × {factor}: speed {speed:e}");
            if !holds {
                assert!(found.status.iter().all(|s| *s == Status::Slip), "{:?}", found.status);
            }
        }
    }
}

/// A random problem of full rank with moderate friction, where the motion is unique.
fn random_problem(n: usize, seed: u64) -> (DenseOperator<3>, Vec<f64>, Vec<f64>) {
    let mut random = Random::new(seed);
    let h = DMatrix::from_fn(3 * n, 4 * n, |_, _| random.normal());
    let b = (0..3 * n).map(|_| random.normal()).collect();
    let mu = (0..n).map(|_| 0.3 * random.uniform()).collect();
    (DenseOperator::new(&h * h.transpose() / (4 * n) as f64).unwrap(), b, mu)
}

#[test]
fn all_solvers_find_the_same_motion() {
    for (n, seed) in [(3, 1), (5, 2), (10, 3), (20, 4), (35, 5), (50, 6)] {
        let (w, b, mu) = random_problem(n, seed);
        let reference = solve(&GaussSeidel::default(), &w, &b, &mu);
        assert!(reference.converged());
        for solver in solvers() {
            let found = solve(&*solver, &w, &b, &mu);
            assert!(found.converged(), "{} {n}: {:?}", solver.name(), found.residuals);
            let apart = found.u.iter().zip(&reference.u).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f64::max);
            assert!(apart < 1e-8, "{} {n}: {apart:e}", solver.name());
            assert_eq!(found.status, reference.status);
        }
    }
}

#[test]
fn the_unit_of_force_changes_nothing() {
    let (w, b, mu) = random_problem(12, 7);
    let reference = solve(&Auto, &w, &b, &mu);
    let dense = toile_cone::Operator::<3>::dense(&w).unwrap();
    for unit in [1e-7, 1e6] {
        let w = DenseOperator::<3>::new(&dense / unit).unwrap();
        let found = solve(&Auto, &w, &b, &mu);
        assert!(found.converged());
        let worst = found.r.iter().zip(&reference.r).map(|(a, b)| (a / unit - b).abs());
        assert!(worst.fold(0.0, f64::max) < 1e-9, "{unit}");
    }
}

#[test]
fn a_watcher_ends_a_solve_with_the_best_force() {
    let (w, b, mu) = random_problem(30, 8);
    let problem = Problem::new(&w, &b, &mu).unwrap();
    let mut all = solvers();
    all.push(Box::new(Auto));
    for solver in all {
        let found = solver.solve(&problem, None, &exact(), &|iteration, _| iteration < 2);
        assert_eq!(found.stop, Stop::Cancelled, "{}", solver.name());
        assert!(found.residuals.alart_curnier.is_finite() && found.r.len() == 90);
        let limited = Settings { max_iterations: 1, polish: false, ..exact() };
        let found = solver.solve(&problem, None, &limited, &|_, _| true);
        assert!(!found.converged() && found.r.iter().all(|r| r.is_finite()));
    }
}

#[test]
fn no_contacts_are_no_problem() {
    let w = DenseOperator::<3>::new(DMatrix::zeros(0, 0)).unwrap();
    let problem = Problem::new(&w, &[], &[]).unwrap();
    for solver in solvers() {
        let found = solver.solve(&problem, None, &exact(), &|_, _| true);
        assert!(found.converged() && found.r.is_empty(), "{}", solver.name());
    }
}

#[test]
fn a_problem_without_solution_ends() {
    // Nothing moves whatever the force, yet the free velocity goes inwards.
    let w = DenseOperator::<3>::new(DMatrix::zeros(3, 3)).unwrap();
    for solver in solvers() {
        let limited = Settings { max_iterations: 100, ..Settings::default() };
        let problem = Problem::new(&w, &[-1.0, 0.2, 0.0], &[0.5]).unwrap();
        let found = solver.solve(&problem, None, &limited, &|_, _| true);
        assert!(!found.converged(), "{}", solver.name());
        assert!(found.r.iter().all(|r| r.is_finite()));
    }
}
