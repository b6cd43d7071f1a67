use toile_cone::{
    BlockSparseOperator, GaussSeidel, Operator, Problem, ProblemError, Random, Settings, Solver,
};
use toile_num::Matrix;

/// Contacts in a ring, each seeing its neighbours.
fn ring(n: usize) -> (BlockSparseOperator<3>, Vec<f64>) {
    let mut random = Random::new(9);
    let mut entries = Vec::new();
    for i in 0..n {
        let g = Matrix::<3, 3>::from_fn(|_, _| random.normal()) * 0.5;
        let j = (i + 1) % n;
        entries.push((i, i, Matrix::identity() + g * g.transpose()));
        entries.push((j, j, Matrix::identity() * 0.8));
        entries.push((i, j, g * 0.5));
        entries.push((j, i, g.transpose() * 0.5));
    }
    let b = (0..3 * n).map(|k| random.normal() - if k % 3 == 0 { 0.5 } else { 0.0 }).collect();
    (BlockSparseOperator::from_blocks(n, entries).unwrap(), b)
}

#[test]
fn products_are_those_of_the_dense_matrix() {
    let (operator, b) = ring(40);
    let w = operator.dense().unwrap();
    let mut out = vec![0.0; 120];
    operator.apply(&b, &mut out);
    let expected = &w * nalgebra::DVector::from_column_slice(&b);
    assert!(out.iter().zip(expected.iter()).all(|(a, b)| (a - b).abs() < 1e-13));
    assert!((operator.diagonal(5) - w.fixed_view::<3, 3>(15, 15)).amax() == 0.0);
}

#[test]
fn sweeps_have_the_same_bits_for_any_number_of_threads() {
    let (operator, b) = ring(400);
    let colours = operator.colours().unwrap();
    assert!(colours.len() <= 3 && colours.iter().map(Vec::len).sum::<usize>() == 400);
    let mu = vec![0.4; 400];
    let solve = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let problem = Problem::new(&operator, &b, &mu).unwrap();
            let settings = Settings { tolerance: 1e-10, polish: false, ..Default::default() };
            GaussSeidel::default().solve(&problem, None, &settings, &|_, _| true)
        })
    };
    let one = solve(1);
    assert!(one.converged(), "{:?}", one.residuals);
    for threads in [2, 5] {
        let other = solve(threads);
        assert!(one.r.iter().zip(&other.r).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn blocks_that_have_no_mirror_are_refused() {
    let one = (0, 1, Matrix::<3, 3>::identity());
    let error = BlockSparseOperator::from_blocks(2, vec![one]).unwrap_err();
    assert!(matches!(error, ProblemError::Asymmetric { row: 0, column: 3, .. }), "{error}");
    let far = (0, 7, Matrix::<3, 3>::identity());
    let error = BlockSparseOperator::from_blocks(2, vec![far]).unwrap_err();
    assert!(matches!(error, ProblemError::NoSuchColumn { column: 7, .. }));
}
