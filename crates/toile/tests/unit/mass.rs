use toile::SparseMass;
use toile_cone::{FactoredOperator, MassInverse, Operator, sheet_problem};

#[test]
fn sparse_and_banded_masses_are_the_same() {
    let sheet = sheet_problem(9, 0.4);
    let sparse = SparseMass::new(sheet.unknowns(), 3, &sheet.entries).unwrap();
    let banded = sheet.banded();
    let x: Vec<f64> = (0..sheet.unknowns()).map(|i| (0.3 * i as f64).sin()).collect();
    let apart = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs() / b.abs().max(1.0)))
    };
    let (mut a, mut b) = (x.clone(), x.clone());
    sparse.solve(&mut a);
    banded.solve(&mut b);
    assert!(apart(&a, &b) < 1e-9, "{:e}", apart(&a, &b));
    let one = FactoredOperator::new(&sheet.rows, &sparse).unwrap();
    let other = FactoredOperator::new(&sheet.rows, &banded).unwrap();
    let (mut a, mut b) = (x.clone(), x);
    one.shifted(3.0).unwrap().solve(&mut a);
    other.shifted(3.0).unwrap().solve(&mut b);
    assert!(apart(&a, &b) < 1e-10, "{:e}", apart(&a, &b));
}

#[test]
fn what_is_not_positive_definite_is_refused() {
    assert!(SparseMass::new(2, 1, &[(0, 0, 1.0), (1, 1, 1.0), (1, 0, 2.0)]).is_err());
    assert!(SparseMass::new(2, 1, &[(0, 0, 1.0), (5, 1, 1.0)]).is_err());
}
