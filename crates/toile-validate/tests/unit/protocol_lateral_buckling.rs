use toile_geometry::generate::Triangulation;
use toile_validate::plate::lateral_buckling_threshold;
use toile_validate::protocol::{
    BucklingSettings, Procedure, ShellModel, lateral_buckling, threshold, threshold_by_continuation,
};

#[test]
fn threshold_is_that_of_the_thin_plate() {
    let reference = lateral_buckling_threshold(0.5, 0.35).unwrap();
    for model in [ShellModel::SIN, ShellModel::TAN] {
        let found = threshold(0.5, 0.35, 1e-3, model, 20, Triangulation::Regular).unwrap();
        let off = found.gamma / reference - 1.0;
        assert!(off.abs() < 0.03, "{model}: {found:?}, off by {off}");
        assert!(found.evaluations <= 8, "{found:?}");
    }
}

#[test]
fn both_procedures_find_the_same_threshold() {
    let direct =
        threshold(0.4, 0.35, 1e-3, ShellModel::TAN, 14, Triangulation::Alternating).unwrap().gamma;
    let published = Procedure::Continuation { from: 28.0, to: 13.0, steps: 15, tilt: 0.05 };
    let followed = threshold_by_continuation(
        0.4,
        0.35,
        1e-3,
        ShellModel::TAN,
        14,
        Triangulation::Alternating,
        published,
    )
    .unwrap();
    assert!((followed / direct - 1.0).abs() < 0.03, "{followed} for {direct}");
}

#[test]
fn hinges_buckle_far_too_late_and_refinement_does_not_help() {
    let reference = lateral_buckling_threshold(0.5, 0.35).unwrap();
    let [coarse, fine] = [12, 24].map(|n| {
        threshold(0.5, 0.35, 1e-3, ShellModel::HINGES, n, Triangulation::Regular).unwrap().gamma
    });
    assert!(coarse > 1.2 * reference && fine > 1.2 * reference, "{coarse}, {fine}");
    assert!((fine / coarse - 1.0).abs() < 0.1, "{coarse}, {fine}");
}

#[test]
fn the_protocol_judges_and_draws() {
    let settings = BucklingSettings {
        widths: vec![0.4],
        resolutions: vec![10, 16],
        ..BucklingSettings::quick()
    };
    let outcome = lateral_buckling(&settings, &mut |_, _| true).unwrap();
    assert_eq!(outcome.rows.len(), 8);
    assert!(outcome.csv().starts_with("w_over_l,nu,gamma_c,model,resolution\n0.4,0.35,"));
    assert!(outcome.checks.iter().all(|c| c.ok), "{outcome}");
    assert_eq!(outcome.figures.len(), 3);
}
