use toile_validate::lateral_buckling::{first_zero_of_bessel, rod_limit, thesis_fit};

#[test]
fn bessel_zeros_are_those_of_the_tables() {
    // J_{−1/2} and J_{1/2} are a cosine and a sine; J_0 and J_1 from Abramowitz and Stegun, table 9.5.
    let pi = std::f64::consts::PI;
    for (order, zero) in [(-0.5, pi / 2.0), (0.5, pi), (0.0, 2.4048255577), (1.0, 3.8317059702)] {
        assert!((first_zero_of_bessel(order) - zero).abs() < 1e-10, "J_{order}");
    }
    assert!((first_zero_of_bessel(-1.0 / 6.0) - 2.14229).abs() < 5e-6);
    assert!(first_zero_of_bessel(f64::NAN).is_nan());
}

#[test]
fn published_constants_are_reproduced() {
    assert!((rod_limit(0.0) - 18.177966).abs() < 5e-7, "{}", rod_limit(0.0));
    assert!((rod_limit(0.35) - 13.728577).abs() < 5e-7, "{}", rod_limit(0.35));
    assert!(
        (thesis_fit(0.1, 0.35) - 15.20).abs() < 6e-3
            && (thesis_fit(1.0, 0.35) - 28.25).abs() < 6e-3
    );
}
