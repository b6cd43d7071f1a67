use toile_cone::{
    Admm, AlartCurnierNewton, FactoredOperator, GaussSeidel, Problem, ProjectedGradient, Settings,
    Solution, Solver, Status, sheet_problem,
};

#[test]
fn a_sheet_on_a_turning_sphere_sticks_slips_and_leaves() {
    let sheet = sheet_problem(15, 0.6);
    let mass = sheet.banded();
    let b = sheet.free_velocity(&mass);
    let columns = FactoredOperator::with_columns(&sheet.rows, &mass).unwrap();
    let products = FactoredOperator::new(&sheet.rows, &mass).unwrap();
    let settings = Settings { tolerance: 1e-6, ..Settings::default() };
    let by_sweeps = Problem::new(&columns, &b, &sheet.mu).unwrap();
    let by_products = Problem::new(&products, &b, &sheet.mu).unwrap();
    let solve = |solver: &dyn Solver<3>, problem: &Problem<'_, 3>| -> Solution {
        let found = solver.solve(problem, None, &settings, &|_, _| true);
        assert!(found.converged(), "{}: {:?}", solver.name(), found.residuals);
        found
    };
    let sweeps = solve(&GaussSeidel::default(), &by_sweeps);
    for status in [Status::TakeOff, Status::Stick, Status::Slip] {
        assert!(sweeps.status.contains(&status), "{status:?}");
    }
    let speed = sweeps.u.iter().fold(0.0f64, |m, u| m.max(u.abs()));
    let others: [&dyn Solver<3>; 3] =
        [&AlartCurnierNewton, &Admm::default(), &ProjectedGradient::default()];
    for solver in others {
        let found = solve(solver, &by_products);
        let apart = found.u.iter().zip(&sweeps.u).map(|(a, b)| (a - b).abs());
        let apart = apart.fold(0.0, f64::max);
        assert!(apart < 1e-3 * speed, "{}: {apart:e} of {speed:e}", solver.name());
    }
}
