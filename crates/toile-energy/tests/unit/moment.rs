use toile_energy::{EdgeMoment, StencilEnergy, check_derivatives};
use toile_num::Vector;

fn border() -> (EdgeMoment, Vector<10>) {
    let load = EdgeMoment {
        moment: 2.0,
        axis: Vector::<3>::new(0.0, 1.0, 0.0),
        reference: 0.0,
        turn: 1.0,
    };
    (load, Vector::from([0.0, 0.5, 0.1, 1.0, 0.0, 0.3, 1.1, 1.0, 0.2, 0.2]))
}

#[test]
fn derivatives_match_dual_numbers() {
    let (load, x) = border();
    let x_bar = Vector::from([0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 1.0, 1.3, 0.1, 0.0]);
    check_derivatives(&load, &x, &x_bar);
}

#[test]
fn work_is_moment_times_angle() {
    let (load, x_bar) = border();
    let rest = load.rest(&x_bar);
    let turn = nalgebra::Rotation3::from_axis_angle(&nalgebra::Vector3::y_axis(), 0.3);
    let mut x = x_bar;
    for i in 0..3 {
        let p = turn * x_bar.fixed_rows::<3>(3 * i);
        x.fixed_rows_mut::<3>(3 * i).copy_from(&p);
    }
    let work = load.energy(&x_bar, &rest) - load.energy(&x, &rest);
    assert!((work - 2.0 * rest * 0.3).abs() < 1e-12, "{work} J");
}
