use toile_energy::{AreaStretch, check_derivatives, check_material};
use toile_num::Vector;

#[test]
fn derivatives_match_dual_numbers() {
    let face = AreaStretch { stiffness: 2.0 };
    let x_bar = Vector::<9>::from([0.1, -0.3, 0.0, 1.2, 0.4, 0.2, 0.3, 0.9, -0.4]);
    let x = Vector::<9>::from([0.0, 0.2, -0.5, 0.9, 1.4, 0.7, -0.8, 0.6, 1.0]);
    for x in [x, x * 0.3] {
        check_derivatives(&face, &x, &x_bar);
        check_material(&face, &x, &x_bar);
    }
}
