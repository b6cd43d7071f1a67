use toile_solve::{BlockJacobi, LinearOperator, SymmetricPattern};

#[test]
fn a_block_diagonal_matrix_is_inverted_exactly() {
    // Blocks [[4, 1], [1, 3]] and [2].
    let pattern = SymmetricPattern::new(3, vec![0, 2, 3, 4], vec![0, 1, 1, 2]).unwrap();
    let values = [4.0, 1.0, 3.0, 2.0];
    let jacobi = BlockJacobi::new(&pattern, &values, &[0, 2]).unwrap();
    let (x, mut b, mut y) = ([1.0, -2.0, 3.0], [0.0; 3], [0.0; 3]);
    pattern.multiply(&values, &x, &mut b);
    jacobi.apply(&b, &mut y);
    for (y, x) in y.iter().zip(x) {
        assert!((y - x).abs() < 1e-15);
    }
}

#[test]
fn an_indefinite_block_still_gives_a_positive_preconditioner() {
    let pattern = SymmetricPattern::new(2, vec![0, 2, 3], vec![0, 1, 1]).unwrap();
    let jacobi = BlockJacobi::new(&pattern, &[-2.0, 5.0, 0.0], &[0]).unwrap();
    let mut y = [0.0; 2];
    jacobi.apply(&[1.0, 1.0], &mut y);
    assert_eq!(y, [0.5, 1.0]);
    assert!(BlockJacobi::new(&pattern, &[f64::NAN, 0.0, 1.0], &[0]).is_err());
    assert!(BlockJacobi::new(&pattern, &[1.0, 0.0, 1.0], &[1]).is_err());
}
