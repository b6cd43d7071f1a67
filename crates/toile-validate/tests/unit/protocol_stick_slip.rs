use toile_validate::protocol::{ProtocolError, StickSlipSettings, stick_slip};

#[test]
fn tips_slip_where_the_elastica_needs_more_than_coulomb_gives() {
    let outcome = stick_slip(&StickSlipSettings::quick(), &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok && outcome.rows.len() == 2, "{outcome}\n{}", outcome.csv());
    assert!(outcome.csv().starts_with("mu,resolution,eps_y,mu_elastica,off_by,force_error\n"));
}

#[test]
fn nonsense_is_answered_in_words() {
    let quick = StickSlipSettings::quick;
    for bad in [
        StickSlipSettings { frictions: vec![0.5], ..quick() },
        StickSlipSettings { frictions: vec![f64::NAN], ..quick() },
        StickSlipSettings { start: 0.0, ..quick() },
        StickSlipSettings { advance: 1.0, ..quick() },
        StickSlipSettings { resolutions: vec![1], ..quick() },
    ] {
        let error = stick_slip(&bad, &mut |_, _| true).unwrap_err();
        assert!(matches!(error, ProtocolError::Input { .. }), "{error}");
    }
}
