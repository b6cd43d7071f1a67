use crate::random::Random;
use toile_contact::{ContactError, ImpactPair, LayerSettings, Layers, first_impact, safe_fraction};
use toile_geometry::{TriMesh, Vec3, generate};

/// Two crossed strips and a sheet, one above the other.
fn stack() -> TriMesh {
    let strip = generate::rectangle(0.2, 0.05, 8, 2, Default::default());
    let mut faces = strip.faces().to_vec();
    let count = strip.positions.len() as u32;
    faces.extend(strip.faces().iter().map(|f| f.map(|v| v + count)));
    let mut positions = strip.positions.clone();
    let middle = Vec3::new(0.1, 0.025, 0.0);
    let crossed = |x: &Vec3| {
        let d = x - middle;
        middle + Vec3::new(-d.y, d.x, 0.02)
    };
    positions.extend(strip.positions.iter().map(crossed));
    TriMesh::new(positions, faces).unwrap()
}

#[test]
fn falling_cloth_is_stopped_before_it_passes_through() {
    let cloth = stack();
    let count = cloth.positions.len() / 2;
    let mut layers = Layers::new(&cloth.topology, &cloth.positions).unwrap();
    let mut random = Random::new(61);
    for _ in 0..20 {
        let mut end = cloth.positions.clone();
        for (k, x) in end.iter_mut().enumerate() {
            let fall = if k >= count { -0.1 } else { 0.0 };
            *x += Vec3::z() * fall + random.point(0.004);
        }
        let first = layers.earliest_impact(&cloth.positions, &end, 1e-4).unwrap();
        let all = layers.impacts(&cloth.positions, &end, 1e-4).unwrap();
        assert_eq!(first, first_impact(all.iter().copied()));
        let part = safe_fraction(first);
        assert!((0.1..0.25).contains(&part), "{part}: 20 mm of 100 mm to fall");
        let at = |t: f64| -> Vec<Vec3> {
            let pairs = cloth.positions.iter().zip(&end);
            pairs.map(|(a, b)| a + (b - a) * t).collect()
        };
        let above = |x: &[Vec3]| {
            let low = |x: &[Vec3]| x.iter().map(|x| x.z).fold(f64::MAX, f64::min);
            let high = |x: &[Vec3]| x.iter().map(|x| x.z).fold(f64::MIN, f64::max);
            low(&x[count..]) - high(&x[..count])
        };
        // Wobbling by 4 mm at the end, 0.8 mm when they meet.
        assert!(above(&at(part)) > -2e-3 && above(&end) < -0.05);
    }
}

/// The strips cross each other once one is let down; what is then nearer than asked is found, and nothing else.
#[test]
fn parts_of_layers_that_are_in_each_other_are_found() {
    let cloth = stack();
    let mut x = cloth.positions.clone();
    let count = x.len() / 2;
    x[count..].iter_mut().for_each(|p| p.z -= 0.019);
    let mut layers = Layers::new(&cloth.topology, &x).unwrap();
    assert_eq!(layers.pairs_within(&x, 0.99e-3).unwrap(), []);
    let near = layers.pairs_within(&x, 1.01e-3).unwrap();
    assert!(!near.is_empty());
    let lower = |v: &u32| (*v as usize) < count;
    for pair in &near {
        let vertices = pair.vertices(&cloth.topology);
        let below = vertices.iter().filter(|v| lower(v)).count();
        assert!((1..=3).contains(&below), "{pair:?} is of one strip");
    }
    // Tilted, so that they cross along a line: every impact of a small move is of pairs that were found.
    for p in &mut x[count..] {
        p.z += 0.3 * (p.x - 0.1) - 1e-3;
    }
    let near = layers.pairs_within(&x, 1e-3).unwrap();
    let mut end = x.clone();
    end[count..].iter_mut().for_each(|p| p.z -= 1e-4);
    let impacts = layers.impacts(&x, &end, 1e-5).unwrap();
    assert!(!impacts.is_empty());
    for impact in impacts {
        let ImpactPair::Layers(pair) = impact.pair else { unreachable!() };
        assert!(near.binary_search(&pair).is_ok(), "{pair:?}");
    }
}

#[test]
fn resting_cloth_has_no_impacts_and_bad_input_is_refused() {
    let cloth = stack();
    let x = &cloth.positions;
    let mut layers = Layers::new(&cloth.topology, x).unwrap();
    assert_eq!(layers.impacts(x, x, 1e-3).unwrap(), []);
    let mut broken = x.clone();
    broken[3].x = f64::NAN;
    let error = layers.earliest_impact(x, &broken, 1e-3).unwrap_err();
    assert_eq!(error, ContactError::PositionNotFinite { vertex: 3 });
    assert!(layers.impacts(x, x, -1.0).is_err());
}

#[test]
fn what_meets_on_the_way_is_a_contact_that_points_back() {
    let mut cloth = stack();
    let count = cloth.positions.len() / 2;
    cloth.positions[count..].iter_mut().for_each(|x| x.x -= 0.06);
    let x = &cloth.positions;
    let mut layers = Layers::new(&cloth.topology, x).unwrap();
    let settings = LayerSettings { thickness: 1e-3, reach: 0.0, friction: 0.3 };
    // The upper strip falls by 100 mm: it ends 80 mm below the lower one, out of reach of any contact there.
    let fallen = |(k, x): (usize, &Vec3)| if k < count { *x } else { x - Vec3::new(0.0, 0.0, 0.1) };
    let end: Vec<Vec3> = x.iter().enumerate().map(fallen).collect();
    let mut meetings = |start: &[Vec3]| {
        let impacts = layers.impacts(start, &end, 1e-4).unwrap();
        let found = impacts.iter().filter_map(|i| layers.meeting(i, start, &end, &settings));
        (impacts.len(), found.collect::<Vec<_>>())
    };
    let (impacts, found) = meetings(x);
    assert_eq!(impacts, found.len());
    let mut straight = 0;
    for contact in &found {
        let upper = contact.carriers().next().unwrap().0 as usize >= count;
        let up = if upper { contact.normal.z } else { -contact.normal.z };
        assert!(up > 0.0, "{contact:?}"); // less than one where borders meet
        straight += usize::from(up > 0.99 && (contact.gap + 0.081).abs() < 5e-3);
        let sum = contact.normal.dot(&contact.sum(&end)) - settings.thickness;
        assert!((contact.gap - sum).abs() < 1e-15);
        assert_eq!(contact.friction, 0.3);
    }
    assert!(straight > 5 && 2 * straight > found.len(), "{straight} of {}", found.len());
    // What touches from the start has no direction.
    let mut flat = x.clone();
    flat[count..].iter_mut().for_each(|x| x.z = 0.0);
    let (impacts, found) = meetings(&flat);
    assert!(impacts > 0 && found.is_empty(), "{impacts} {found:?}");
}
