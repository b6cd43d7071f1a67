use nalgebra::{DMatrix, DVector};
use toile_cone::Operator;
pub(crate) use toile_cone::internal::dot;
use toile_cone::{DenseOperator, ProblemError};

#[test]
fn matrices_that_are_none_are_refused() {
    let w = DMatrix::from_row_slice(2, 2, &[1.0, 0.5, 0.4, 1.0]);
    let error = DenseOperator::<2>::new(w).unwrap_err();
    assert!(error.to_string().contains("W[1][0] = 4e-1 but W[0][1] = 5e-1"), "{error}");
    let mut w = DMatrix::identity(3, 3);
    w[(1, 1)] = f64::NAN;
    assert!(matches!(DenseOperator::<3>::new(w), Err(ProblemError::NotFinite { .. })));
    let w = DMatrix::identity(4, 4);
    assert!(matches!(DenseOperator::<3>::new(w), Err(ProblemError::Length { .. })));
    let w = -DMatrix::identity(3, 3);
    assert!(matches!(DenseOperator::<3>::new(w), Err(ProblemError::NegativeDiagonal { .. })));
}

#[test]
fn rows_products_and_shifted_solutions_agree() {
    let n = 300;
    let w = DMatrix::from_fn(n, n, |i, j| 1.0 / (1.0 + i.abs_diff(j) as f64).powi(2));
    let operator = DenseOperator::<3>::new(w.clone()).unwrap();
    let r: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let mut out = vec![0.0; n];
    operator.apply(&r, &mut out);
    let expected = &w * DVector::from_column_slice(&r);
    assert!((DVector::from_column_slice(&out) - expected).amax() < 1e-13);
    let mut sweep = operator.sweep(&vec![0.0; n]).unwrap();
    for i in 0..n / 3 {
        sweep.add(i, &crate::small::block::<3>(&r, i));
    }
    assert!((sweep.row(7) - crate::small::block::<3>(&out, 7)).amax() < 1e-14);
    let mut x = out.clone();
    x.iter_mut().zip(&r).for_each(|(x, r)| *x += 0.3 * r);
    operator.shifted(0.3).unwrap().solve(&mut x);
    assert!(x.iter().zip(&r).all(|(x, r)| (x - r).abs() < 1e-12));
}
