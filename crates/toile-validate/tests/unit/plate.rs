use crate::reference::{Table, assert_relative};
use toile_validate::lateral_buckling::rod_limit;
use toile_validate::plate::{
    Grid, PlateError, Resolution, lateral_buckling_threshold, lateral_buckling_threshold_at,
};

#[test]
fn published_thresholds_are_reproduced() {
    for (w_over_l, nu, expected) in [
        (0.1, 0.0, 19.348),
        (0.5, 0.0, 24.963),
        (1.0, 0.0, 32.516),
        (0.2, 0.35, 16.191),
        (1.0, 0.35, 29.147),
    ] {
        let value = lateral_buckling_threshold(w_over_l, nu).unwrap();
        assert_relative(value, expected, 2e-4, &format!("w/L = {w_over_l}, ν = {nu}"));
    }
}

#[test]
fn reference_table_is_met() {
    let Some(table) = Table::read("2_lateral_buckling/lateral_buckling_table.csv") else {
        return;
    };
    let columns = ["w_over_L", "nu", "Gamma_star_c"].map(|name| table.column(name));
    for i in 0..columns[0].len() {
        let (w_over_l, nu) = (columns[0][i], columns[1][i]);
        let value = lateral_buckling_threshold(w_over_l, nu).unwrap();
        assert_relative(value, columns[2][i], 2e-4, &format!("w/L = {w_over_l}, ν = {nu}"));
    }
}

#[test]
fn narrow_plates_tend_to_the_rod() {
    for nu in [0.0, 0.35] {
        let [a, b] = [0.05, 0.025].map(|w| lateral_buckling_threshold(w, nu).unwrap());
        let limit = rod_limit(nu);
        assert!(a > b && b > limit, "{a}, {b}, {limit}");
        // The excess is linear in w/L, so extrapolating removes most of it.
        assert_relative(2.0 * b - a, limit, 3e-3, "w/L → 0");
    }
}

#[test]
fn more_polynomials_change_little() {
    let fine = Resolution {
        membrane_along: 20,
        membrane_across: 14,
        bending_along: 30,
        bending_across: 16,
    };
    for nu in [0.0, 0.35] {
        let [a, b] = [Resolution::default(), fine]
            .map(|r| lateral_buckling_threshold_at(0.6, nu, r).unwrap());
        assert_relative(a, b, 2e-4, "default against fine");
    }
}

#[test]
fn in_plane_forces_carry_the_weight() {
    // Across each section the shear is the weight beyond, ∫N_xy dy = −w (1 − x), and the moment −w (1 − x)²/2.
    let r = Resolution::default();
    let grid = Grid::new(0.4, r);
    let forces = grid.gravity_forces(0.3, r).unwrap();
    let (mut shear, mut moment) = (0.0, 0.0);
    for (q, &(x, eta)) in grid.points.iter().enumerate() {
        shear += grid.weights[q] * forces.xy[q] * x;
        moment += grid.weights[q] * forces.xx[q] * eta * 0.2;
    }
    // Weighted by x and 1 and integrated along: ∓ 0.4 ∫ x(1−x) and 0.4 ∫ (1−x)²/2.
    assert_relative(shear.abs(), 0.4 / 6.0, 1e-3, "shear");
    assert_relative(moment.abs(), 0.4 / 6.0, 1e-3, "moment");
}

#[test]
fn impossible_plates_are_refused() {
    assert!(matches!(lateral_buckling_threshold(0.0, 0.3), Err(PlateError::Width { .. })));
    assert!(matches!(lateral_buckling_threshold(f64::NAN, 0.3), Err(PlateError::Width { .. })));
    assert!(matches!(lateral_buckling_threshold(0.3, 1.0), Err(PlateError::Poisson { .. })));
    let none = Resolution { bending_across: 0, ..Resolution::default() };
    assert_eq!(lateral_buckling_threshold_at(0.3, 0.3, none), Err(PlateError::Degree(0)));
}
