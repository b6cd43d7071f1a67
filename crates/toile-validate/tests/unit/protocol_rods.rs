use toile_validate::protocol::{RodSettings, beam_frequency, frequencies, rod_cantilever};

#[test]
fn beams_have_their_textbook_frequencies() {
    assert!((beam_frequency(0) - 3.516015).abs() < 1e-6);
    assert!((beam_frequency(1) - 22.034492).abs() < 1e-6);
}

#[test]
fn rods_pass_and_coarse_ones_fail() {
    let outcome = frequencies(&RodSettings::quick(), &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok, "{outcome}");
    let outcome = rod_cantilever(&RodSettings::quick(), &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok, "{outcome}");
    let coarse = RodSettings { elements: vec![2], tolerance: 5e-3 };
    assert!(!frequencies(&coarse, &mut |_, _| true).unwrap().verdict().ok);
}
