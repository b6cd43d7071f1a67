use toile_validate::protocol::{RotationSettings, rotation};

#[test]
fn short_strip_ends_flat_and_long_strip_buckled() {
    let outcome = rotation(&RotationSettings::quick(), &mut |_, _| true).unwrap();
    assert!(outcome.checks.len() == 2 && outcome.verdict().ok, "{outcome}");
    let at = |gamma: f64, i: usize| {
        outcome.rows.iter().filter(|r| r.gamma == gamma).nth(i).unwrap().lateral
    };
    // The cantilever end: H/L of the elastica, within what the plate effect and the mesh leave.
    for gamma in [10.5172, 42.1353] {
        let drop = toile_validate::elastica::heavy_cantilever(gamma).unwrap().drop;
        assert!((at(gamma, 0) / drop - 1.0).abs() < 0.03, "{} for {drop}", at(gamma, 0));
    }
    assert!(at(42.1353, 6) > 0.1, "{}", at(42.1353, 6));
}

#[test]
fn lengths_are_those_of_the_thesis() {
    let settings = RotationSettings::default();
    let lengths: Vec<f64> = settings.strips.iter().map(|s| settings.strip(*s).length).collect();
    assert!((lengths[0] - 0.17).abs() < 1e-3 && (lengths[1] - 0.27).abs() < 1e-3, "{lengths:?}");
    let gamma = settings.strips[0].gamma;
    let strip = settings.strip(settings.strips[0]);
    let young = settings.plate_young * (1.0 - settings.poisson.powi(2));
    assert!((strip.young(gamma) / young - 1.0).abs() < 1e-12);
}
