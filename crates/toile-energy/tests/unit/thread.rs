use toile_energy::{StencilEnergy, Thread, check_derivatives};
use toile_num::Vector;

#[test]
fn derivatives_match_dual_numbers() {
    let thread = Thread { weight: 0.3, stiffness: 40.0 };
    let x = Vector::<9>::from_fn(|i, _| (1.7 * i as f64).sin());
    check_derivatives(&thread, &x, &Vector::<9>::from_fn(|i, _| (0.9 * i as f64).cos()));
}

#[test]
fn both_sides_of_a_seam_are_pulled_alike() {
    let thread = Thread { weight: 0.25, stiffness: 8.0 };
    let mut x = Vector::<9>::zeros();
    x[2] = 0.5; // the vertex is half a metre above the edge
    let force = -thread.gradient(&x, &());
    assert_eq!([force[2], force[5], force[8]], [-4.0, 3.0, 1.0]);
}
