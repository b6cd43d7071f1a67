use nalgebra::DMatrix;
use toile_cone::internal::lemke;
use toile_cone::{DenseOperator, Faceted, GaussSeidel, Problem, Settings, Solver};

/// Speed left of a block pushed along a heading, by a solver.
fn speed(solver: &dyn Solver<3>, heading: f64) -> f64 {
    let operator = DenseOperator::<3>::new(DMatrix::identity(3, 3)).unwrap();
    let b = [-1.0, 2.0 * heading.cos(), 2.0 * heading.sin()];
    let problem = Problem::new(&operator, &b, &[0.5]).unwrap();
    let found = solver.solve(&problem, None, &Settings::default(), &|_, _| true);
    found.u[1].hypot(found.u[2])
}

#[test]
fn facets_feel_the_heading_and_the_cone_does_not() {
    let headings = [0.0, 0.3, std::f64::consts::FRAC_PI_4, 1.0];
    for heading in headings {
        let exact = speed(&GaussSeidel::default(), heading);
        assert!((exact - 1.5).abs() < 1e-12, "{exact}");
    }
    let pyramid = headings.map(|h| speed(&Faceted::default(), h));
    assert!((pyramid[0] - 1.5).abs() < 1e-9, "{pyramid:?}");
    assert!(pyramid[2] > 1.6, "{pyramid:?}");
    // Finer pyramids come nearer.
    let fine = headings.map(|h| speed(&Faceted { facets: 32 }, h));
    assert!(fine.iter().all(|s| (s - 1.5).abs() < 0.01), "{fine:?}");
}

#[test]
fn pivots_solve_a_linear_complementarity_problem() {
    let m = DMatrix::from_row_slice(3, 3, &[2.0, 1.0, 0.0, 1.0, 3.0, -1.0, 0.0, -1.0, 4.0]);
    let q = [-1.0, -2.0, 3.0];
    let (z, _) = lemke(m.clone(), &q, 100);
    let w =
        &m * nalgebra::DVector::from_column_slice(&z) + nalgebra::DVector::from_column_slice(&q);
    for i in 0..3 {
        assert!(z[i] >= 0.0 && w[i] >= -1e-10 && z[i] * w[i] < 1e-9, "{z:?} {w}");
    }
}
