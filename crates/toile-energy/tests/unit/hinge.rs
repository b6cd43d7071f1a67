use std::f64::consts::PI;
use toile_energy::{HingeBend, StencilEnergy, check_derivatives, check_material};
use toile_num::Vector;

fn poses() -> [Vector<12>; 2] {
    [
        Vector::from([0.3, -0.9, 0.1, 1.1, 0.1, -0.1, -0.8, 0.05, 0.2, -0.4, 0.7, -0.6]),
        Vector::from([0.2, -0.8, 0.0, 1.0, 0.0, -0.1, -0.9, 0.15, 0.1, -0.3, 0.9, 0.4]),
    ]
}

#[test]
fn derivatives_match_dual_numbers() {
    let [x, x_bar] = poses();
    for clamped in [false, true] {
        let hinge = HingeBend { stiffness: 0.7, clamped };
        check_derivatives(&hinge, &x, &x_bar);
        check_material(&hinge, &x, &x_bar);
    }
}

#[test]
fn a_fold_through_the_half_turn_keeps_its_energy_continuous() {
    // The apex passes from just short of closed to just beyond: θ jumps by 2π, E must not.
    let hinge = HingeBend { stiffness: 1.0, clamped: false };
    let pose = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        Vector::<12>::from([0.0, -1.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, cos, -sin])
    };
    let rest = hinge.rest(&pose(2.0)); // folded at rest, so the half turn is within reach
    let gap = hinge.energy(&pose(PI - 1e-3), &rest) - hinge.energy(&pose(PI + 1e-3), &rest);
    assert!(gap.abs() < 0.05, "{gap} J");
}
