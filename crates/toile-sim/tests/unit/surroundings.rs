use toile_contact::{Collider, Shape};
use toile_geometry::Topology;
use toile_num::Vector;
use toile_sim::dynamics::{ContactSource, Surroundings};

/// A triangle whose corners lie on a ball has chords inside it: accepted, they are no contacts until they get deeper.
#[test]
fn chords_on_a_round_body_are_accepted_and_corners_are_not() {
    let (radius, gap) = (0.1, 1e-4);
    let at = |turn: f64| {
        let flat = Vector::<3>::new(turn.cos(), turn.sin(), 3.0);
        flat.normalize() * (radius + gap)
    };
    let corners = [0.0, 2.1, 4.2].map(at);
    let ball = Collider::fixed(Shape::sphere(Vector::zeros(), radius).unwrap());
    let ball = ball.with_gap(gap).unwrap();
    let topology = Topology::new(3, vec![[0, 1, 2]]).unwrap();
    let between = |around: &mut Surroundings, x: &[Vector<3>]| -> Vec<f64> {
        let mut found = Vec::new();
        around.contacts(x, 0.0, 0.0, &mut found).unwrap();
        found.iter().filter(|c| c.count > 1).map(|c| c.gap).collect()
    };
    let mut strict = Surroundings::new(topology.clone(), vec![ball.clone()]);
    let deep = between(&mut strict, &corners);
    assert!(!deep.is_empty() && deep.iter().all(|g| *g < 0.0), "{deep:?}");
    let mut lenient = strict.accepting(&corners).unwrap();
    assert!(between(&mut lenient, &corners).is_empty());
    // Deeper by 50 gaps, the corners with them.
    let sunk = corners.map(|p| p - p.normalize() * (50.0 * gap));
    let deeper = between(&mut lenient, &sunk);
    assert!(!deeper.is_empty());
    for g in &deeper {
        assert!((-60.0 * gap..-40.0 * gap).contains(g), "{g}");
    }
    let mut all = Vec::new();
    lenient.contacts(&sunk, 0.0, 0.0, &mut all).unwrap();
    let corner = all.iter().find(|c| c.count == 1).unwrap();
    assert!((corner.gap + 50.0 * gap).abs() < 1e-12, "{}", corner.gap);
    // What is far deeper than a chord is no chord.
    let inside = corners.map(|p| p * 0.5);
    let strict = Surroundings::new(topology, vec![ball]);
    let mut lenient = strict.accepting(&inside).unwrap();
    assert!(!between(&mut lenient, &inside).is_empty());
}
