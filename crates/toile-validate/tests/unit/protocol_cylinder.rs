use std::f64::consts::PI;
use toile_validate::protocol::{
    CylinderSettings, ProtocolError, cylinder, weighted_capstan, weighted_capstan_of_points,
};

#[test]
fn threshold_of_cloth_over_a_cylinder_is_that_of_the_weighted_capstan() {
    let outcome = cylinder(&CylinderSettings::quick(), &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok && outcome.checks.len() == 2, "{outcome}");
    assert!(outcome.rows.iter().any(|r| r.slips) && outcome.rows.iter().any(|r| !r.slips));
    assert!(outcome.csv().starts_with("resolution,mu,speed,travel,phase\n40,0.12,"));
}

#[test]
fn points_tend_to_the_curve_as_their_square() {
    let settings = CylinderSettings::default();
    let off = |n| weighted_capstan_of_points(&settings, n) - settings.threshold();
    for n in [40, 80, 160, 320] {
        // Cells on the circle and on the ends are rounded to whole ones, which leaves the rate a little uneven.
        assert!((off(n) * (n * n) as f64).abs() < 1.0, "{n}: {:e}", off(n));
    }
    assert!(off(640).abs() < 2e-6 && off(40).abs() > 2e-6);
}

#[test]
fn weighted_capstan_has_the_published_roots() {
    // 0.14015161654962582 is printed for R = 1.6/π; 0.13993 belongs to 0.5 m.
    for (radius, root) in [(1.6 / PI, 0.14015161654962582), (0.5, 0.13993)] {
        let settings = CylinderSettings { radius, ..CylinderSettings::default() };
        let mu = settings.threshold();
        assert!((mu - root).abs() < if radius == 0.5 { 5e-6 } else { 1e-14 }, "{mu}");
    }
    let light = weighted_capstan(1e-12, 2.0, 1.0);
    assert!((light - 2f64.ln() / PI).abs() < 1e-10, "{light}");
    assert_eq!(weighted_capstan(0.5, 1.0, 1.0), 0.0);
}

#[test]
fn nonsense_is_answered_in_words() {
    let quick = CylinderSettings::quick;
    for bad in [
        CylinderSettings { radius: 0.0, ..quick() },
        CylinderSettings { offset: 2.4, ..quick() },
        CylinderSettings { resolutions: vec![8], ..quick() },
        CylinderSettings { frictions: vec![f64::NAN], ..quick() },
    ] {
        let error = cylinder(&bad, &mut |_, _| true).unwrap_err();
        assert!(matches!(error, ProtocolError::Input { .. }), "{error}");
    }
    let stopped = cylinder(&quick(), &mut |_, _| false).unwrap_err();
    assert!(matches!(stopped, ProtocolError::Interrupted { .. }), "{stopped}");
}
