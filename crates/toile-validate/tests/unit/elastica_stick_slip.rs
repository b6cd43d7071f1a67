use crate::reference::{Table, assert_relative};
use toile_validate::bvp::{BvpError, jacobian_error};
use toile_validate::elastica::stick_slip::{
    Closure, Equation, first_buckling_wavenumber, stick_slip, stick_slip_curve, triple_point,
};

#[test]
fn jacobians_match_differences() {
    let (y0, y1) = ([0.4, -1.0, 0.2, 0.1], [1.1, 0.3, -0.1, 0.2]);
    let by_shortening = Equation { closure: Closure::Shortening(0.1) };
    let by_angle = Equation { closure: Closure::TipAngle(1.0) };
    assert!(jacobian_error(&by_shortening, 0.5, &y0, &y1, &[20.0, 3.0]) < 1e-8);
    assert!(jacobian_error(&by_angle, 0.5, &y0, &y1, &[20.0, 3.0, 0.1]) < 1e-8);
}

#[test]
fn published_master_curve_is_reproduced() {
    // Ly 2021 as tabulated in the specification.
    let table = [
        (0.001, 0.01409),
        (0.005, 0.03159),
        (0.025, 0.07176),
        (0.05, 0.10354),
        (0.10, 0.15279),
        (0.15, 0.19592),
        (0.20, 0.23777),
        (0.25, 0.28071),
        (0.30, 0.32649),
        (0.33, 0.35608),
    ];
    for (eps, expected) in table {
        let value = stick_slip(eps).unwrap().friction_needed;
        assert!((value - expected).abs() < 5.1e-6, "ε = {eps}: {value} for {expected}");
    }
}

#[test]
fn small_push_buckles_at_the_root_of_tan_k() {
    let s = stick_slip(1e-6).unwrap();
    assert_relative(s.push, 20.1907, 2e-6, "p");
    assert_relative(s.friction_needed, 0.4451e-3, 1e-4, "q/p");
    assert_relative(s.friction_needed, 2e-3 / first_buckling_wavenumber(), 1e-5, "(2/k) √ε");
}

#[test]
fn triple_point_is_where_the_tip_lies_flat() {
    let t = triple_point().unwrap();
    assert!((t.tip_angle - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    assert!((t.shortening - 0.3303).abs() < 5e-5 && (t.friction_needed - 0.3564).abs() < 5e-5);
    // The same state from the other side: prescribe the shortening, find the angle.
    let s = stick_slip(t.shortening).unwrap();
    assert_relative(s.tip_angle, t.tip_angle, 1e-10, "tip angle");
    assert_relative(s.push, t.push, 1e-10, "p");
}

#[test]
fn moment_at_the_clamp_balances_the_sideways_force() {
    // Moments about the clamp: κ(0) = p x(1) − q y(1) = −q (1 − ε).
    let s = stick_slip(0.2).unwrap();
    assert_relative(s.clamp_curvature, -s.friction_force * 0.8, 1e-11, "moment");
}

#[test]
fn reference_curve_is_met() {
    let Some(table) = Table::read("3_stick_slip/stick_slip_master_curve.csv") else { return };
    let column = |name| table.column(name);
    let (eps, mu) = (column("eps_y"), column("mu_QoverP"));
    let (p, q) = (column("P_L2_over_EI"), column("Q_L2_over_EI"));
    let (tip, clamp) =
        (column("tip_tangent_angle_from_vertical_rad"), column("clamp_curvature_times_L"));
    for (i, s) in stick_slip_curve(&eps).unwrap().iter().enumerate() {
        assert_relative(s.friction_needed, mu[i], 1e-8, "μ");
        assert_relative(s.push, p[i], 1e-8, "p");
        assert_relative(s.friction_force, q[i], 1e-8, "q");
        assert_relative(s.tip_angle, tip[i], 1e-8, "tip");
        assert_relative(s.clamp_curvature, clamp[i], 1e-8, "clamp");
    }
}

#[test]
fn reference_shapes_are_met() {
    let Some(table) = Table::read("3_stick_slip/shapes.csv") else { return };
    let columns =
        ["eps_y", "s_over_L", "x_over_L", "y_over_L_downwards", "psi_rad", "curvature_times_L"]
            .map(|name| table.column(name));
    let mut strip = stick_slip(columns[0][0]).unwrap();
    for i in 0..columns[0].len() {
        if strip.shortening != columns[0][i] {
            strip = stick_slip(columns[0][i]).unwrap();
        }
        let p = strip.profile.at(columns[1][i]);
        for (value, expected) in [p.x, p.y, p.angle, p.curvature].iter().zip(&columns[2..]) {
            assert!(
                (value - expected[i]).abs() < 2e-10,
                "{value} for {} at s = {}",
                expected[i],
                p.s
            );
        }
    }
}

#[test]
fn impossible_shortenings_are_refused() {
    for eps in [0.0, -0.1, 0.9, f64::NAN] {
        assert!(matches!(stick_slip(eps), Err(BvpError::Input(_))), "{eps}");
    }
}
