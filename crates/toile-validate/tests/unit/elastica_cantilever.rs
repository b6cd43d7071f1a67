use crate::reference::{Table, assert_relative};
use toile_validate::bvp::{BvpError, jacobian_error};
use toile_validate::elastica::cantilever::{
    Equation, Load, end_shear_cantilever, heavy_cantilever, heavy_cantilever_curve,
};

#[test]
fn jacobian_matches_differences() {
    let equation = Equation { load: Load { gamma: 7.0, shear: 2.0 } };
    let error = jacobian_error(&equation, 0.3, &[0.8, 0.5, 0.2, 0.1], &[1.1, 0.0, 0.6, 0.7], &[]);
    assert!(error < 1e-8, "{error}");
}

#[test]
fn published_master_curve_is_reproduced() {
    // Ly 2021 as tabulated in the specification, with the digits it prints.
    let table = [
        (0.01, 0.00125, 5e-6),
        (0.1, 0.012500, 5e-7),
        (1.0, 0.12456, 5e-6),
        (2.0, 0.24667, 5e-6),
        (5.0, 0.58572, 5e-6),
        (10.0, 1.06680, 5e-6),
        (20.0, 1.86393, 5e-6),
        (50.0, 3.70556, 5e-6),
        (100.0, 5.88810, 5e-6),
        (200.0, 8.90677, 5e-6),
        (500.0, 14.7688, 5e-5),
        (1e3, 21.3354, 5e-5),
        (1e4, 69.709, 5e-4),
        (1e5, 222.61, 5e-3),
        (1e6, 706.11, 5e-3),
    ];
    for (gamma, expected, half_digit) in table {
        let value = heavy_cantilever(gamma).unwrap().drop_over_reach;
        assert!(
            (value - expected).abs() <= 1.01 * half_digit,
            "Γ = {gamma}: {value} for {expected}"
        );
    }
}

#[test]
fn twenty_digit_points_are_met() {
    let Some(table) = Table::read("1_cantilever/highprecision_points.csv") else { return };
    let (gamma, w, h, ratio) = (
        table.column("Gamma"),
        table.column("W_over_L_20digits"),
        table.column("H_over_L_20digits"),
        table.column("H_over_W_20digits"),
    );
    for i in 0..gamma.len() {
        let c = heavy_cantilever(gamma[i]).unwrap();
        assert_relative(c.reach, w[i], 1e-12, "W/L");
        assert_relative(c.drop, h[i], 1e-12, "H/L");
        assert_relative(c.drop_over_reach, ratio[i], 1e-12, "H/W");
    }
}

#[test]
fn reference_curve_is_met_to_nine_digits() {
    let Some(table) = Table::read("1_cantilever/cantilever_master_curve.csv") else { return };
    let column = |name| table.column(name);
    let (gamma, ratio, h, w) =
        (column("Gamma"), column("H_over_W"), column("H_over_L"), column("W_over_L"));
    let (tip, clamp) = (column("theta_tip_rad"), column("curvature_at_clamp_times_L"));
    let curve = heavy_cantilever_curve(&gamma).unwrap();
    for (i, c) in curve.iter().enumerate() {
        let at = format!("at Γ = {}", gamma[i]);
        assert_relative(c.drop_over_reach, ratio[i], 1e-9, &format!("H/W {at}"));
        assert_relative(c.drop, h[i], 1e-9, &format!("H {at}"));
        assert_relative(c.reach, w[i], 1e-9, &format!("W {at}"));
        assert_relative(c.tip_angle, tip[i], 1e-9, &format!("tip {at}"));
        assert_relative(c.clamp_curvature, clamp[i], 1e-9, &format!("clamp {at}"));
    }
}

#[test]
fn reference_profiles_are_met() {
    let Some(table) = Table::read("1_cantilever/cantilever_profiles.csv") else { return };
    let columns =
        ["Gamma", "s_over_L", "x_over_L", "y_over_L_down", "theta_rad", "curvature_times_L"]
            .map(|name| table.column(name));
    let mut c = heavy_cantilever(columns[0][0]).unwrap();
    for i in 0..columns[0].len() {
        if c.load.gamma != columns[0][i] {
            c = heavy_cantilever(columns[0][i]).unwrap();
        }
        let p = c.profile.at(columns[1][i]);
        for (value, expected) in [p.x, p.y, p.angle, p.curvature].iter().zip(&columns[2..]) {
            // Printed with eleven decimals.
            assert!(
                (value - expected[i]).abs() < 2e-11,
                "{value} for {} at s = {}",
                expected[i],
                p.s
            );
        }
    }
}

#[test]
fn light_and_heavy_limits_are_approached() {
    let light = heavy_cantilever(1e-4).unwrap().drop_over_reach;
    assert_relative(light, 1e-4 / 8.0, 1e-8, "Γ/8");
    let heavy = heavy_cantilever(1e6).unwrap().drop_over_reach;
    assert_relative(heavy, 5e5_f64.sqrt() - 1.0, 1e-5, "√(Γ/2) − 1");
}

#[test]
fn clamp_carries_the_moment_of_the_weight() {
    // M(0) = Γ ∫ (1−s) cos θ ds = Γ ∫ x ds after an integration by parts: the weight times its lever.
    let c = heavy_cantilever(30.0).unwrap();
    let lever: f64 = toile_validate::quadrature::gauss_legendre(40)
        .iter()
        .map(|(t, w)| 0.5 * w * c.profile.at(0.5 + 0.5 * t).x)
        .sum();
    assert_relative(c.clamp_curvature, 30.0 * lever, 1e-10, "moment");
}

#[test]
fn end_shear_follows_first_integral() {
    // κ²/2 + P sin θ is constant along a massless rod.
    let c = end_shear_cantilever(4.0).unwrap();
    let tip = 4.0 * c.tip_angle.sin();
    for p in c.profile.stations(17) {
        let sum = 0.5 * p.curvature * p.curvature + 4.0 * p.angle.sin();
        assert_relative(sum, tip, 1e-11, "first integral");
    }
    // Tip of the benchmark at full load, L = 10.
    assert_relative(10.0 * (1.0 - c.reach), 3.2894124225, 1e-9, "−U");
    assert_relative(10.0 * c.drop, 6.6996418128, 1e-9, "W");
}

#[test]
fn reference_end_shear_is_met() {
    let Some(table) = Table::read("6_shells/sze31_cantilever_end_shear.csv") else { return };
    let columns =
        ["P_over_Pmax", "minus_U_tip_elastica", "W_tip_elastica", "tip_angle_rad_elastica"]
            .map(|name| table.column(name));
    for i in 0..columns[0].len() {
        // L = 10, EI = 1.2e6 · 0.1³/12 = 100, Pmax = 4: P L²/EI = 4 P/Pmax.
        let c = end_shear_cantilever(4.0 * columns[0][i]).unwrap();
        assert_relative(10.0 * (1.0 - c.reach), columns[1][i], 1e-9, "−U");
        assert_relative(10.0 * c.drop, columns[2][i], 1e-9, "W");
        assert_relative(c.tip_angle, columns[3][i], 1e-9, "tip angle");
    }
}

#[test]
fn impossible_loads_are_refused() {
    for gamma in [-1.0, f64::NAN, f64::INFINITY, 1e10] {
        assert!(matches!(heavy_cantilever(gamma), Err(BvpError::Input(_))), "{gamma}");
    }
    assert_eq!(heavy_cantilever(0.0).unwrap().drop, 0.0);
}
