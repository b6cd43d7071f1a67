use toile_rod::Model;
use toile_validate::protocol::{RodSettings, bend_twist, buckling, ring};

#[test]
fn thresholds_are_met() {
    let quick = RodSettings { elements: vec![64], ..RodSettings::quick() };
    let outcome = buckling(&quick, &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok, "{outcome}\n{}", outcome.csv());
}

/// Elements with linear curvature need far fewer for the ring: its mode is no constant curvature.
#[test]
fn a_ring_of_few_clothoids_leaves_its_plane_at_zajacs_twist() {
    let zajac = 2.0 * std::f64::consts::PI * 3f64.sqrt() * 1.5; // of EI/GJ = 1.5
    let off = |model, n| ring(model, n).unwrap() / zajac - 1.0;
    assert!(off(Model::SuperClothoid, 16).abs() < 2e-3, "{}", off(Model::SuperClothoid, 16));
    let (coarse, fine) = (off(Model::SuperHelix, 16), off(Model::SuperHelix, 32));
    assert!((coarse / fine).log2() > 1.7, "{coarse} {fine}");
}

#[test]
fn hanging_rods_leave_their_plane_where_theory_says() {
    let quick = RodSettings { elements: vec![32], ..RodSettings::quick() };
    let outcome = bend_twist(&quick, &mut |_, _| true).unwrap();
    assert!(outcome.verdict().ok, "{outcome}\n{}", outcome.csv());
}
