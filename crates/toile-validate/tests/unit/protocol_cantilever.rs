use toile_validate::protocol::{CantileverSettings, ProtocolError, ShellModel, cantilever};

#[test]
fn cantilever_follows_the_elastica() {
    let outcome = cantilever(&CantileverSettings::quick(), &mut |_, _| true).unwrap();
    assert_eq!(outcome.rows.len(), 3 * 2 * 4);
    for row in outcome.rows.iter().filter(|r| r.model.is_koiter() && r.resolution == 48) {
        assert!(row.deviation().abs() < 0.015, "{row:?}: {:.4}", row.deviation());
    }
    // Hinges with k_b = D are stiffer than the plate they stand for, on every mesh.
    for row in outcome.rows.iter().filter(|r| !r.model.is_koiter()) {
        assert!(row.deviation() < -0.05, "{row:?}");
    }
    assert!(outcome.csv().starts_with("gamma,h_over_w,nu,model,resolution\n0.1,0.0"));
}

#[test]
fn wide_plate_with_poisson_lies_above_the_elastica() {
    let mut settings = CantileverSettings::with_poisson(&[0.3]);
    settings.series[0].gammas = vec![1.0];
    settings.series[0].resolutions = vec![40];
    settings.models = vec![ShellModel::TAN];
    let outcome = cantilever(&settings, &mut |_, _| true).unwrap();
    // The effect is 1.42 %; the mesh is good for a third of it.
    let off = outcome.rows[0].deviation();
    assert!((off - 0.0142).abs() < 0.005, "{off}");
    assert!(outcome.reports.len() == 1 && outcome.verdict().ok, "{outcome}");
}

#[test]
fn stopping_and_nonsense_are_answered_in_words() {
    let quick = CantileverSettings::quick();
    let stopped = cantilever(&quick, &mut |_, _| false).unwrap_err();
    assert!(matches!(stopped, ProtocolError::Interrupted { .. }), "{stopped}");
    let mut bad = quick.clone();
    bad.series[0].gammas[1] = -1.0;
    assert!(matches!(cantilever(&bad, &mut |_, _| true), Err(ProtocolError::Input { .. })));
    let mut bad = quick.clone();
    bad.series[0].resolutions = vec![1];
    assert!(matches!(cantilever(&bad, &mut |_, _| true), Err(ProtocolError::Input { .. })));
    let mut bad = quick;
    bad.series[0].strip.thickness = f64::NAN;
    assert!(matches!(cantilever(&bad, &mut |_, _| true), Err(ProtocolError::Input { .. })));
}
