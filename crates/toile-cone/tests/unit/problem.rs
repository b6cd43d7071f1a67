use nalgebra::DMatrix;
use toile_cone::internal::operator_norm;
use toile_cone::{DenseOperator, Operator, Problem, sheet_problem};

#[test]
fn residuals_do_not_depend_on_units() {
    let w = DMatrix::from_row_slice(3, 3, &[2.0, 0.3, 0.0, 0.3, 1.5, 0.2, 0.0, 0.2, 1.0]);
    let (b, r) = ([-1.0, 0.4, 0.2], [0.6, 0.1, -0.1]);
    let found = [1.0, 1e-6, 1e5].map(|unit| {
        let operator = DenseOperator::<3>::new(&w / unit).unwrap();
        let problem = Problem::new(&operator, &b, &[0.5]).unwrap();
        let r = r.map(|x| x * unit);
        let mut u = [0.0; 3];
        problem.velocity(&r, &mut u);
        problem.residuals(&r, &u, None)
    });
    assert!(found[0].alart_curnier > 0.01);
    for other in &found[1..] {
        assert!((other.alart_curnier / found[0].alart_curnier - 1.0).abs() < 1e-12);
        assert!((other.de_saxce / found[0].de_saxce - 1.0).abs() < 1e-12);
        let ratio = other.fischer_burmeister / found[0].fischer_burmeister;
        assert!((ratio - 1.0).abs() < 1e-12);
    }
}

#[test]
fn bad_numbers_are_refused() {
    let operator = DenseOperator::<3>::new(DMatrix::identity(3, 3)).unwrap();
    let pose = |b: &[f64], mu: &[f64]| Problem::new(&operator, b, mu).err().unwrap().to_string();
    assert!(pose(&[0.0; 4], &[0.1]).contains("b has 4 numbers"));
    assert!(pose(&[0.0; 3], &[-0.1]).contains("contact 0 has friction -0.1"));
    assert!(pose(&[0.0, f64::NAN, 0.0], &[0.1]).contains("b[1] is NaN"));
}

#[test]
fn the_norm_of_a_large_operator_is_found_in_a_few_products() {
    struct Counted<'a>(&'a dyn Operator<3>, std::sync::atomic::AtomicUsize);
    impl Operator<3> for Counted<'_> {
        fn contacts(&self) -> usize {
            self.0.contacts()
        }
        fn apply(&self, r: &[f64], out: &mut [f64]) {
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.0.apply(r, out);
        }
        fn diagonal(&self, i: usize) -> toile_num::Matrix<3, 3> {
            self.0.diagonal(i)
        }
        fn sweep<'a>(&'a self, _r: &[f64]) -> Option<Box<dyn toile_cone::Sweep<3> + 'a>> {
            None
        }
        fn shifted<'a>(&'a self, _rho: f64) -> Option<Box<dyn toile_cone::ShiftedSolve + 'a>> {
            None
        }
    }
    let sheet = sheet_problem(33, 0.6);
    let mass = sheet.banded();
    let operator = toile_cone::FactoredOperator::new(&sheet.rows, &mass).unwrap();
    let counted = Counted(&operator, Default::default());
    let norm = operator_norm(&counted);
    let used = counted.1.into_inner();
    // A rigid shift is what M resists least: ‖W‖ = 1/mass of a vertex.
    let exact = 32.0f64.powi(2) / 0.2;
    assert!(used <= 20 && norm <= exact * (1.0 + 1e-12), "{norm} after {used}");
    assert!(norm > 0.97 * exact, "{norm} of {exact} after {used}");
}
