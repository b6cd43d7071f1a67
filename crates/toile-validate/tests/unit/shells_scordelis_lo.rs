use toile_validate::shells::{Settings, scordelis_lo};

#[test]
fn roof_sinks_as_kirchhoff_and_love_say() {
    let settings = Settings { resolutions: vec![8, 16], ..Settings::default() };
    let case = scordelis_lo(&settings).unwrap();
    assert!(case.verdict().worst < 0.035, "{}", case.verdict());
    assert!(case.orders()[0] > 1.6, "order {:?}", case.orders());
    let inward = case.runs[1].points[0].measured[1];
    assert!(inward > 0.0, "the free edge moves inward, not by {inward} m");
}
