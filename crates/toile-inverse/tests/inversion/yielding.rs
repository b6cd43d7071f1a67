//! Cloth too soft to be held where it was drawn.

use toile_inverse::gallery::Skirt;
use toile_inverse::{InverseSettings, Inversion, invert};
use toile_sim::ShellMaterial;

/// A skirt flared in four waves that no rest shape holds exactly: stiffer cloth is held, and softer cloth yields by less than a hundredth of its size, all
/// contacts inside their cones. Without a shape that yields the nearest that was found was 1.3 % of the size away.
#[test]
fn cloth_too_soft_to_be_held_as_drawn_yields_by_less_than_a_hundredth_of_its_size() {
    let found = flared(3e-4);
    let (c, d) = (&found.certificate, &found.diagnosis);
    assert!(c.certified && !found.settled, "{}", c.reason);
    assert_eq!(c.penetration, Some(0.0));
    let away = c.target_error_max.unwrap() / c.size;
    assert!(away > 1e-3 && away <= 0.01, "{away} of the size away");
    assert!(d.bending_factor.is_some_and(|f| f > 1.0), "{d:?}");
}

/// The same of cotton, which would have to be ten and forty times as stiff to be held exactly: 3.6 % of the size away before that could yield. Before
/// steps minded strains the first took 424 factorisations (215).
#[test]
fn cotton_yields_by_less_than_a_hundredth_of_its_size() {
    for bending in [1e-4, 5e-5] {
        let found = flared(bending);
        let c = &found.certificate;
        assert!(c.certified && !found.settled, "{}", c.reason);
        let away = c.target_error_max.unwrap() / c.size;
        assert!(away <= 0.01, "{away} of the size away with {bending} N m");
        let steps = found.history.last().unwrap().steps;
        assert!(steps <= 350, "{steps} factorisations with {bending} N m");
    }
}

fn flared(bending: f64) -> Inversion {
    let skirt =
        Skirt { rows: 8, around: 20, hem: 0.4, amplitude: 0.05, waves: 4, ..Skirt::default() };
    let stretching = 1000.0;
    let thickness = (12.0 * (1.0 - 0.09) * bending / stretching).sqrt();
    let material = ShellMaterial::isotropic(stretching / thickness, 0.3, thickness);
    let garment = skirt.garment(material, 0.15, 0.6).unwrap();
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    invert(&garment, &settings, |_| true).unwrap()
}
