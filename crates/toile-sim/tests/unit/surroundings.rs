use toile_contact::{Collider, Contact, Shape};
use toile_geometry::{Topology, generate};
use toile_num::Vector;
use toile_sim::Stitch;
use toile_sim::dynamics::{ContactSource, Reach, Surroundings};

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
        around.contacts(x, 0.0, &Reach::of(0.0), &mut found).unwrap();
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
    lenient.contacts(&sunk, 0.0, &Reach::of(0.0), &mut all).unwrap();
    let corner = all.iter().find(|c| c.count == 1).unwrap();
    assert!((corner.gap + 50.0 * gap).abs() < 1e-12, "{}", corner.gap);
    // What is far deeper than a chord is no chord.
    let inside = corners.map(|p| p * 0.5);
    let strict = Surroundings::new(topology, vec![ball]);
    let mut lenient = strict.accepting(&inside).unwrap();
    assert!(!between(&mut lenient, &inside).is_empty());
}

/// A vertex sewn to the middle of an edge lies on its chord, inside the distance a round collider keeps: the edge carries it, until the
/// seam opens.
#[test]
fn what_is_sewn_to_an_edge_is_carried_by_the_edge() {
    let (radius, gap) = (0.1, 1e-3);
    let at = |x: f64, y: f64| Vector::<3>::new(x, y, 0.3).normalize() * (radius + gap);
    let ball = Collider::fixed(Shape::sphere(Vector::zeros(), radius).unwrap());
    let ball = ball.with_gap(gap).unwrap();
    let [a, b] = [at(-0.03, 0.0), at(0.03, 0.0)];
    let mut positions = vec![a, b, at(0.0, -0.04), 0.5 * (a + b), at(0.0, 0.03), at(0.03, 0.04)];
    let topology = Topology::new(6, vec![[0, 2, 1], [3, 5, 4]]).unwrap();
    let seam = [Stitch { vertex: 3, edge: [0, 1], weight: 0.5 }];
    let touches = |positions: &[Vector<3>], seams: &[Stitch]| {
        let around = Surroundings::new(topology.clone(), vec![ball.clone()]);
        let mut found = Vec::new();
        around.with_seams(seams).contacts(positions, 0.0, &Reach::of(1e-4), &mut found).unwrap();
        let of = |v: u32| found.iter().any(|c| c.count == 1 && c.vertices[0] == v);
        (0..6).map(of).collect::<Vec<bool>>()
    };
    assert_eq!(touches(&positions, &[]), [true; 6]);
    assert_eq!(touches(&positions, &seam), [true, true, true, false, true, true]);
    positions[3].y += 2.0 * gap;
    assert_eq!(touches(&positions, &seam), [true; 6]);
}

/// Chords on a body of triangles that are deeper in it than the distance it keeps are accepted wherever a simulation looks for them;
/// those that are said to carry touch where they are.
#[test]
fn what_carries_is_not_accepted_and_deep_chords_are() {
    let (radius, gap) = (0.1, 1e-4);
    let body = Collider::fixed(Shape::mesh(generate::sphere(radius, 3)).unwrap());
    let body = body.with_gap(gap).unwrap();
    let at = |turn: f64| {
        let out = Vector::<3>::new(turn.cos(), turn.sin(), 3.0).normalize();
        out * (radius + gap)
    };
    let corners = [0.1, 2.2, 4.3].map(at);
    let topology = Topology::new(3, vec![[0, 1, 2]]).unwrap();
    let deep = |around: &mut Surroundings| -> Vec<Contact> {
        let mut found = Vec::new();
        around.contacts(&corners, 0.0, &Reach::of(60.0 * gap), &mut found).unwrap();
        found.retain(|c| c.count > 1 && c.gap < 0.0);
        found
    };
    let around = || Surroundings::new(topology.clone(), vec![body.clone()]);
    let all = deep(&mut around());
    assert!(all.iter().any(|c| c.gap < -5.0 * gap), "{all:?}");
    assert!(deep(&mut around().accepting(&corners).unwrap()).is_empty());
    let one = all[0].key;
    let mut carried = around().accepting_but(&corners, [one]).unwrap();
    let gap_of = |around: &mut Surroundings, sunk: f64| {
        let x = corners.map(|p| p * (1.0 - sunk / radius));
        let mut found = Vec::new();
        around.contacts(&x, 0.0, &Reach::of(60.0 * gap), &mut found).unwrap();
        found.iter().find(|c| c.key == one).map(|c| c.gap)
    };
    // It touches where it is, and pushes as soon as it gets deeper.
    assert_eq!(gap_of(&mut carried, 0.0), Some(0.0));
    let sunk = gap_of(&mut carried, 0.01 * gap).unwrap();
    assert!((-0.02 * gap..0.0).contains(&sunk), "{sunk}");
    assert_eq!(gap_of(&mut around().accepting(&corners).unwrap(), 0.01 * gap), None);
}

/// Layers that were drawn through each other may move on; those that are apart are still stopped.
#[test]
fn layers_that_cross_from_the_start_do_not_stop_every_step() {
    let topology = Topology::new(9, vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]]).unwrap();
    let flat = |z: f64| [[0.0, 0.0, z], [0.1, 0.0, z], [0.0, 0.1, z]];
    // The second pierces the first, the third is above both.
    let pierces = [[0.02, 0.02, -0.01], [0.03, 0.02, -0.01], [0.02, 0.03, 0.005]];
    let x: Vec<Vector<3>> =
        flat(0.0).into_iter().chain(pierces).chain(flat(0.02)).map(Vector::from).collect();
    let mut drawn = Surroundings::new(topology, Vec::new())
        .with_self_contact(&x, &x, 1e-3, 0.3)
        .unwrap()
        .accepting(&x)
        .unwrap();
    let moved = |by: &[Vector<3>; 3]| -> Vec<Vector<3>> {
        x.iter().enumerate().map(|(v, p)| p + by[v / 3]).collect()
    };
    let still = Vector::<3>::zeros();
    let slides = moved(&[still, Vector::<3>::new(1e-4, 5e-5, 0.0), still]);
    assert_eq!(drawn.safe_part(&x, &slides, 0.0, 0.01).unwrap(), 1.0);
    let falls = moved(&[still, still, Vector::<3>::new(0.0, 0.0, -0.03)]);
    let part = drawn.safe_part(&x, &falls, 0.0, 0.01).unwrap();
    assert!(part < 0.7, "{part}");
}
