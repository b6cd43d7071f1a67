use toile_energy::{EdgeStretch, StencilEnergy, check_derivatives, check_material};
use toile_num::Vector;

const EDGE: EdgeStretch = EdgeStretch { stiffness: 3.0 };

#[test]
fn derivatives_match_dual_numbers() {
    let x_bar = Vector::<6>::from([0.1, -0.3, 0.0, 1.2, 0.4, 0.2]);
    let stretched = Vector::<6>::from([0.0, 0.2, -0.5, 0.9, 1.4, 0.7]);
    let squeezed = stretched * 0.4;
    for x in [stretched, squeezed] {
        check_derivatives(&EDGE, &x, &x_bar);
        check_material(&EDGE, &x, &x_bar);
    }
}

#[test]
fn tension_obeys_hookes_law() {
    let x_bar = Vector::<6>::from([0.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    let x = Vector::<6>::from([0.0, 0.0, 0.0, 2.2, 0.0, 0.0]); // strain 0.1
    let force_on_tip = -EDGE.gradient(&x, &EDGE.rest(&x_bar))[3];
    assert!((force_on_tip + 0.3).abs() < 1e-14, "{force_on_tip} N");
}
