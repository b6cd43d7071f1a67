use toile_geometry::measure::NormalRule;
use toile_validate::elastica::heavy_cantilever;
use toile_validate::shells::{heavy_strip, heavy_strip_with};

#[test]
fn heavy_strip_follows_the_elastica() {
    for (gamma, nx, allowed) in [(10.0, 80, 6e-5), (196.2, 160, 1.2e-4)] {
        let rod = heavy_cantilever(gamma).unwrap();
        let strip = heavy_strip(gamma, nx, 1).unwrap();
        let off = (strip.drop - rod.drop).abs().max((strip.reach - rod.reach).abs());
        assert!(off < allowed, "γ = {gamma}: off by {off:.1e} L, {strip:?}");
        assert!(strip.residual < 1e-8, "{strip:?}");
    }
}

#[test]
fn impossible_loads_are_refused() {
    assert!(heavy_strip(f64::NAN, 10, 1).is_err());
    assert!(heavy_strip(-1.0, 10, 1).is_err());
    assert!(heavy_strip_with(1.0, 10, 1, 0.0, NormalRule::Tan).is_err());
}
