use toile_report::figures::{Values, digits, duration, explain, length};

#[test]
fn lengths_read_in_their_own_unit() {
    assert_eq!(length(0.0213), "21.3 mm");
    assert_eq!(length(2.0e-10), "2.0e-10 m");
    assert_eq!(length(3.04e-7), "304 nm");
    assert_eq!(length(1.5), "1.50 m");
    assert_eq!(duration(0.25), "250 ms");
    assert_eq!(digits(123456.0), "123456");
    assert_eq!(digits(f64::INFINITY), "inf");
}

#[test]
fn what_fails_is_said_to_fail() {
    let good = Values {
        residual: Some(1e-12),
        stability: Some(4.0),
        drift: Some(1e-9),
        cone_gap: Some(0.0),
        cone_margin: Some(0.25),
        contacts: Some(80),
        ..Values::default()
    };
    let figures = explain(&good);
    assert!(figures.iter().all(|f| f.ok != Some(false)), "{figures:?}");
    let margin = figures.iter().find(|f| f.key == "cone_margin").unwrap();
    assert!(margin.meaning.contains("uses 75.0 % of its friction"), "{}", margin.meaning);
    let bad = Values {
        residual: Some(1e-3),
        stability: Some(-1.0),
        negative_modes: Some(2),
        drift: Some(0.1),
        penetration: Some(2e-3),
        contact_distance: Some(1e-3),
        ..Values::default()
    };
    for figure in explain(&bad) {
        assert_eq!(figure.ok, Some(false), "{figure:?}");
    }
    assert!(explain(&Values::default()).is_empty());
}
