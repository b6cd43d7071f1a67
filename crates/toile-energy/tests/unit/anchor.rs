use toile_energy::{Anchor, Curvature, StencilEnergy};
use toile_num::{Matrix, Vector};

#[test]
fn pulls_back_in_proportion() {
    let anchor = Anchor { stiffness: 4.0, point: Vector::<3>::new(1.0, 0.0, 0.0) };
    let x = Vector::<3>::new(1.0, 0.5, 0.0);
    assert_eq!(anchor.gradient(&x, &()), Vector::<3>::new(0.0, 2.0, 0.0));
    assert!((anchor.energy(&x, &()) - 0.5).abs() < 1e-15);
    assert_eq!(anchor.hessian(&x, &(), Curvature::Exact), Matrix::<3, 3>::identity() * 4.0);
}
