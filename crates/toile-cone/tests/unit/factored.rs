use crate::small::{block, set_block};
use nalgebra::{Cholesky, DMatrix, DVector};
use toile_cone::{
    ContactRows, DenseOperator, FactoredOperator, Gram, MassInverse, Operator, ProblemError, Random,
};
use toile_num::{Matrix, Vector};

struct DenseMass {
    m: DMatrix<f64>,
    factor: Cholesky<f64, nalgebra::Dyn>,
}
impl DenseMass {
    fn new(m: DMatrix<f64>) -> Self {
        DenseMass { factor: Cholesky::new(m.clone()).unwrap(), m }
    }
}
impl MassInverse for DenseMass {
    fn unknowns(&self) -> usize {
        self.m.nrows()
    }
    fn solve(&self, x: &mut [f64]) {
        let y = self.factor.solve(&DVector::from_column_slice(x));
        x.copy_from_slice(y.as_slice());
    }
    fn augmented<'a>(&'a self, gram: &Gram<'_>, weight: f64) -> Option<Box<dyn MassInverse + 'a>> {
        let mut m = self.m.clone();
        gram.for_each(|i, j, value| m[(i, j)] += weight * value);
        Some(Box::new(DenseMass::new(m)))
    }
}

#[test]
fn factored_and_explicit_operators_agree() {
    let mut random = Random::new(4);
    let (unknowns, contacts) = (20, 5);
    let g = DMatrix::from_fn(unknowns, unknowns, |_, _| random.normal());
    let mass = DenseMass::new(&g * g.transpose() + DMatrix::identity(unknowns, unknowns));
    let mut rows = ContactRows::<3>::new(unknowns);
    let mut h = DMatrix::zeros(3 * contacts, unknowns);
    for i in 0..contacts {
        let row: Vec<_> =
            (0..6).map(|k| (3 * i + k, Vector::<3>::from_fn(|_, _| random.normal()))).collect();
        for (column, entry) in &row {
            h.fixed_view_mut::<3, 1>(3 * i, *column).copy_from(entry);
        }
        rows.push(&row).unwrap();
    }
    let dense = DenseOperator::<3>::from_mass(&h, &mass.m).unwrap();
    let factored = FactoredOperator::with_columns(&rows, &mass).unwrap();
    let x: Vec<f64> = (0..15).map(|_| random.normal()).collect();
    let (mut a, mut b) = (vec![0.0; 15], vec![0.0; 15]);
    dense.apply(&x, &mut a);
    factored.apply(&x, &mut b);
    let apart =
        |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(apart(&a, &b) < 1e-12);
    assert!((dense.diagonal(2) - factored.diagonal(2)).amax() < 1e-12);
    let mut sweep = factored.sweep(&x).unwrap();
    let change = Vector::<3>::new(0.3, -0.2, 0.5);
    sweep.add(1, &change);
    let mut moved = x.clone();
    (0..3).for_each(|k| moved[3 + k] += change[k]);
    dense.apply(&moved, &mut a);
    assert!((sweep.row(3) - block::<3>(&a, 3)).amax() < 1e-12);
    let (mut p, mut q) = (x.clone(), x.clone());
    dense.shifted(0.2).unwrap().solve(&mut p);
    factored.shifted(0.2).unwrap().solve(&mut q);
    assert!(apart(&p, &q) < 1e-11);
    // (1 + W C)⁻¹W x = y means y + W C y = W x.
    let weights: Vec<Matrix<3, 3>> = (0..5)
        .map(|i| {
            let g = Matrix::<3, 3>::from_fn(|_, _| random.normal());
            g * g.transpose() * i as f64
        })
        .collect();
    let mut y = x.clone();
    factored.weighted(&weights).unwrap().solve(&mut y);
    let mut cy = y.clone();
    (0..5).for_each(|i| set_block(&mut cy, i, &(weights[i] * block::<3>(&y, i))));
    let (mut wcy, mut wx) = (vec![0.0; 15], vec![0.0; 15]);
    dense.apply(&cy, &mut wcy);
    dense.apply(&x, &mut wx);
    wcy.iter_mut().zip(&y).for_each(|(w, y)| *w += y);
    assert!(apart(&wcy, &wx) < 1e-9, "{:e}", apart(&wcy, &wx));
    assert!(FactoredOperator::new(&rows, &mass).unwrap().sweep(&x).is_none());
}

#[test]
fn a_row_of_an_unknown_that_is_not_there_is_refused() {
    let mut rows = ContactRows::<3>::new(4);
    let error = rows.push(&[(4, Vector::<3>::x())]).unwrap_err();
    assert!(matches!(error, ProblemError::NoSuchColumn { column: 4, columns: 4, .. }));
}
