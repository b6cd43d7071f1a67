use std::f64::consts::PI;
use toile_validate::protocol::{CapstanSettings, ProtocolError, capstan, capstan_of_points};

#[test]
fn tensions_on_a_turning_drum_are_those_of_as_many_points() {
    let outcome = capstan(&CapstanSettings::quick(), &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok && outcome.rows.len() == 4, "{outcome}\n{}", outcome.csv());
    assert!(outcome.csv().starts_with("mu,wrap,contacts,tension_ratio,"));
}

#[test]
fn points_have_the_published_ratios() {
    for (n, ratio) in [(4, 2.716), (10, 2.588), (50, 2.567)] {
        let found = capstan_of_points(0.3, PI, n);
        assert!((found - ratio).abs() < 5e-4, "{n}: {found}");
    }
    let limit = capstan_of_points(0.3, PI, 100_000);
    assert!((limit - (0.3 * PI).exp()).abs() < 1e-8, "{limit}");
    assert_eq!(capstan_of_points(1.1, PI, 2), f64::INFINITY);
}

#[test]
fn nonsense_is_answered_in_words() {
    let quick = CapstanSettings::quick;
    for bad in [
        CapstanSettings { frictions: vec![], ..quick() },
        CapstanSettings { frictions: vec![f64::NAN], ..quick() },
        CapstanSettings { wraps: vec![7.0], ..quick() },
        CapstanSettings { contacts: vec![3], ..quick() },
        CapstanSettings { frictions: vec![2.0], ..quick() },
        CapstanSettings { pull: 0.0, ..quick() },
    ] {
        let error = capstan(&bad, &mut |_, _| true).unwrap_err();
        assert!(matches!(error, ProtocolError::Input { .. }), "{error}");
    }
}
