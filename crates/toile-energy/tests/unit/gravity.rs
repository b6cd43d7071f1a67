use toile_energy::{Gravity, StencilEnergy, check_derivatives, check_material};
use toile_num::Vector;

#[test]
fn derivatives_match_dual_numbers() {
    let face = Gravity { areal_density: 0.3, acceleration: Vector::<3>::new(0.4, -1.0, -9.6) };
    let x_bar = Vector::<9>::from([0.1, -0.3, 0.0, 1.2, 0.4, 0.2, 0.3, 0.9, -0.4]);
    let x = Vector::<9>::from([0.0, 0.2, -0.5, 0.9, 1.4, 0.7, -0.8, 0.6, 1.0]);
    check_derivatives(&face, &x, &x_bar);
    check_material(&face, &x, &x_bar);
}

#[test]
fn forces_add_up_to_the_weight() {
    let face = Gravity { areal_density: 0.5, acceleration: Vector::<3>::new(0.0, 0.0, -9.81) };
    let x_bar = Vector::<9>::from([0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0]); // 3 m²
    let g = face.gradient(&x_bar, &face.rest(&x_bar));
    let lift: f64 = (0..3).map(|i| g[3 * i + 2]).sum();
    assert!((lift - 3.0 * 0.5 * 9.81).abs() < 1e-12, "{lift} N");
}
