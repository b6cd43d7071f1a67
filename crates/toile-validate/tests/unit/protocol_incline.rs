use toile_validate::protocol::{InclineSettings, ProtocolError, incline, square};

#[test]
fn sheets_stick_above_the_threshold_and_slide_below() {
    let outcome = incline(&InclineSettings::quick(), &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok && outcome.rows.len() == 32, "{outcome}");
    for row in &outcome.rows {
        if row.ratio > 1.0 {
            assert_eq!(row.largest_creep, 0.0, "{row:?}");
        } else {
            let off = row.acceleration / row.exact_acceleration - 1.0;
            assert!(off.abs() < 1e-6, "{row:?}: {off:e}");
        }
    }
    let header = "triangles,heading_deg,common_speed,mu_over_tan,largest_creep,";
    assert!(outcome.csv().starts_with(header), "{}", outcome.csv());
}

#[test]
fn squares_have_the_triangles_asked_for_and_their_area() {
    for triangles in [2, 4, 98, 722, 1322] {
        let mesh = square(triangles, 2.0).unwrap();
        assert_eq!(mesh.topology.faces().len(), triangles);
        let areas = mesh.face_areas();
        assert!((areas.iter().sum::<f64>() - 4.0).abs() < 1e-12);
        assert!(areas.iter().all(|a| *a > 1.0 / triangles as f64), "{triangles}");
    }
}

#[test]
fn nonsense_is_answered_in_words() {
    let quick = InclineSettings::quick;
    for bad in [
        InclineSettings { ratios: vec![1.0], ..quick() },
        InclineSettings { triangles: vec![3], ..quick() },
        InclineSettings { slope: f64::NAN, ..quick() },
        InclineSettings { headings: vec![f64::INFINITY], ..quick() },
        InclineSettings { dt: -0.01, ..quick() },
    ] {
        let error = incline(&bad, &mut |_, _| true).unwrap_err();
        assert!(matches!(error, ProtocolError::Input { .. }), "{error}");
    }
    let stopped = incline(&quick(), &mut |_, _| false).unwrap_err();
    assert!(matches!(stopped, ProtocolError::Interrupted { .. }), "{stopped}");
}
