use crate::random::Random;
use toile_contact::{
    Contact, ContactKey, LayerSettings, LayerSides, Layers, point_triangle, segment_segment,
};
use toile_geometry::{Topology, TriMesh, Vec3, generate};

const SETTINGS: LayerSettings = LayerSettings { thickness: 1e-3, reach: 1e-3, friction: 0.2 };

fn joined(parts: &[&TriMesh]) -> TriMesh {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for mesh in parts {
        let shift = positions.len() as u32;
        faces.extend(mesh.faces().iter().map(|f| f.map(|v| v + shift)));
        positions.extend_from_slice(&mesh.positions);
    }
    TriMesh::new(positions, faces).unwrap()
}

fn moved(mesh: &TriMesh, shift: Vec3) -> TriMesh {
    let mut mesh = mesh.clone();
    mesh.positions.iter_mut().for_each(|x| *x += shift);
    mesh
}

fn find(mesh: &TriMesh, sides: &LayerSides) -> Vec<Contact> {
    let mut layers = Layers::new(&mesh.topology, &mesh.positions).unwrap();
    layers.contacts(&mesh.positions, &SETTINGS, sides).unwrap()
}

/// Relative position of the two sides of a contact.
fn relative(contact: &Contact, x: &[Vec3]) -> Vec3 {
    contact.carriers().fold(Vec3::zeros(), |sum, (v, w)| sum + x[v as usize] * w)
}

#[test]
fn weights_sum_to_zero_and_give_the_distance_along_the_normal() {
    let mut random = Random::new(41);
    let sheet = generate::rectangle(0.1, 0.1, 8, 8, generate::Triangulation::Random { seed: 3 });
    let mut upper = moved(&sheet, Vec3::new(0.0031, 0.0017, 1.5e-3));
    upper.positions.iter_mut().for_each(|x| *x += random.point(3e-4));
    let mut lower = sheet.clone();
    lower.positions.iter_mut().for_each(|x| *x += random.point(3e-4));
    let mesh = joined(&[&lower, &upper]);
    let found = find(&mesh, &LayerSides::unknown());
    let kinds = |vf: bool| {
        found.iter().filter(|c| matches!(c.key, ContactKey::VertexFace { .. }) == vf).count()
    };
    assert!(kinds(true) > 100 && kinds(false) > 10, "{} {}", kinds(true), kinds(false));
    for c in &found {
        assert!(c.weights.iter().sum::<f64>().abs() < 1e-12);
        let d = relative(c, &mesh.positions);
        assert!((d - c.normal * (c.gap + 1e-3)).norm() < 1e-12, "{c:?}");
    }
}

/// The least distance between the two halves of a mesh, by looking at all pairs.
fn least_distance(mesh: &TriMesh, split: u32) -> f64 {
    let x = |v: u32| mesh.positions[v as usize];
    let mut least = f64::INFINITY;
    for f in mesh.faces() {
        for v in 0..mesh.positions.len() as u32 {
            if (v < split) != (f[0] < split) {
                least = least.min(point_triangle(&x(v), &f.map(x)).distance_squared);
            }
        }
    }
    for a in mesh.topology.edges() {
        for b in mesh.topology.edges() {
            if (a.vertices[0] < split) && (b.vertices[0] >= split) {
                let pair = segment_segment(&a.vertices.map(x), &b.vertices.map(x), 1e-12);
                least = least.min(pair.distance_squared);
            }
        }
    }
    least.sqrt()
}

#[test]
fn the_closest_contact_is_never_lost() {
    // Two small triangle pairs in random, parallel and degenerate positions.
    let mut random = Random::new(42);
    let mut near = 0;
    for case in 0..1000 {
        let quad = |random: &mut Random| {
            let x = (0..4).map(|_| random.point(1.0)).collect();
            TriMesh::new(x, vec![[0, 1, 2], [2, 1, 3]]).unwrap()
        };
        let mut a = quad(&mut random);
        let mut b = quad(&mut random);
        match case % 4 {
            1 => {
                // parallel, aligned grids
                for (k, (p, q)) in a.positions.iter_mut().zip(&mut b.positions).enumerate() {
                    *p = Vec3::new((k & 1) as f64, (k >> 1) as f64, 0.0);
                    *q = *p + Vec3::new(0.5 * (case % 3) as f64, 0.25 * (case % 5) as f64, 0.0);
                }
            }
            2 => a.positions[1] = a.positions[0], // edge without length
            3 => b.positions[1] = (b.positions[0] + b.positions[2]) * 0.5, // sliver
            _ => {}
        }
        // Bring them to 1.5 mm along x.
        let shift = |s: f64| {
            let direction = if case % 4 == 1 { Vec3::z() } else { Vec3::x() };
            joined(&[&a, &moved(&b, direction * s)])
        };
        // By steps of the distance itself they cannot pass each other.
        let mut s = if case % 4 == 1 { 1.5e-3 } else { 4.0 };
        for _ in 0..100 {
            s -= (least_distance(&shift(s), 4) - 1.5e-3).max(0.0);
        }
        let mesh = shift(s);
        let least = least_distance(&mesh, 4);
        if least > 1.9e-3 {
            continue;
        }
        near += 1;
        let found = find(&mesh, &LayerSides::unknown());
        let closest = found
            .iter()
            .filter(|c| c.carriers().any(|(v, _)| v < 4) && c.carriers().any(|(v, _)| v >= 4))
            .map(|c| c.gap + 1e-3)
            .fold(f64::INFINITY, f64::min);
        // Parallel edges within sin² = 1e-6 may be left to a vertex that is a little farther.
        assert!((closest - least).abs() < 1e-6, "case {case}: {closest} for {least}: {found:?}");
    }
    assert!(near > 600, "only {near} cases came close");
}

#[test]
fn a_vertex_above_a_vertex_or_an_edge_is_one_contact() {
    // Equal grids on top of each other: 25 pairs of vertices, no crossing edges.
    let sheet = generate::rectangle(0.1, 0.1, 4, 4, generate::Triangulation::Regular);
    let above = joined(&[&sheet, &moved(&sheet, Vec3::z() * 1e-3)]);
    let found = find(&above, &LayerSides::unknown());
    assert_eq!(found.len(), 25, "{found:#?}");
    // Shifted by half a cell: 20 vertices of each sheet above edges of the other one.
    let shifted = joined(&[&sheet, &moved(&sheet, Vec3::new(0.0125, 0.0, 1e-3))]);
    let found = find(&shifted, &LayerSides::unknown());
    let mut at: Vec<(u32, Vec<i64>)> = found
        .iter()
        .filter(|c| matches!(c.key, ContactKey::VertexFace { .. }))
        .map(|c| {
            let place = shifted.positions[c.vertices[0] as usize];
            (c.vertices[0], place.iter().map(|c| (c * 1e6).round() as i64).collect())
        })
        .collect();
    let count = at.len();
    at.dedup();
    assert_eq!((count, at.len()), (40, 40), "{found:#?}");
}

#[test]
fn flat_cloth_does_not_touch_itself() {
    let sheet = generate::rectangle(0.1, 0.1, 20, 20, Default::default());
    assert_eq!(find(&sheet, &LayerSides::unknown()), []);
    // Finer than it is thick: cells of 0.5 mm; neighbours are contacts unless the rest shape is known.
    let fine = generate::rectangle(0.01, 0.01, 20, 20, Default::default());
    let rest = fine.positions.clone();
    let mut layers = Layers::new(&fine.topology, &rest).unwrap();
    let settings = LayerSettings { reach: 0.0, ..SETTINGS };
    let without = layers.contacts(&rest, &settings, &LayerSides::unknown()).unwrap().len();
    let mut layers = layers.with_rest_positions(&rest).unwrap();
    let with = layers.contacts(&rest, &settings, &LayerSides::unknown()).unwrap().len();
    assert_eq!(with, 0, "{without} without rest shape");
}

#[test]
fn layers_that_have_just_passed_through_are_pushed_back() {
    let sheet = generate::rectangle(0.1, 0.1, 6, 6, generate::Triangulation::Random { seed: 1 });
    let at = |z: f64| joined(&[&sheet, &moved(&sheet, Vec3::new(0.0071, 0.0043, z))]);
    let before = at(8e-4);
    let contacts = find(&before, &LayerSides::unknown());
    let sides = LayerSides::at(&before.positions);
    let split = sheet.positions.len() as u32;
    // A little sideways, too, so that some pairs are new.
    let after = joined(&[&sheet, &moved(&sheet, Vec3::new(0.0101, 0.0067, -3e-4))]);
    let known: std::collections::BTreeSet<_> = contacts.iter().map(|c| c.key).collect();
    let found = find(&after, &sides);
    let new = found.iter().filter(|c| !known.contains(&c.key)).count();
    assert!(found.len() > 60 && new > 10, "{} contacts, {new} new", found.len());
    for c in &found {
        let upper_first = c.vertices[0] >= split;
        let up = if upper_first { c.normal.z } else { -c.normal.z };
        let on_border = c.weights.iter().any(|w| w.abs() < 1e-9) || c.gap > 0.0;
        assert!(up > 0.9 || on_border, "{c:?}");
        if up > 0.9 {
            assert!((c.gap + 1.3e-3).abs() < 1e-9, "{c:?}");
        }
    }
    // Without memory they are taken for what they are.
    assert!(find(&after, &LayerSides::unknown()).iter().all(|c| c.gap < -6e-4));
}

#[test]
fn the_answer_depends_neither_on_threads_nor_on_earlier_queries() {
    let sheet = generate::rectangle(0.3, 0.3, 30, 30, Default::default());
    let mesh = joined(&[&sheet, &moved(&sheet, Vec3::new(0.004, 0.003, 1.1e-3))]);
    let mut random = Random::new(43);
    let x: Vec<Vec3> = mesh.positions.iter().map(|x| x + random.point(2e-4)).collect();
    let topology: &Topology = &mesh.topology;
    let unknown = LayerSides::unknown();
    let fresh = Layers::new(topology, &x).unwrap().contacts(&x, &SETTINGS, &unknown).unwrap();
    let folded: Vec<Vec3> = x.iter().map(|x| Vec3::new(x.x.abs(), x.y * 3.0, x.z)).collect();
    let mut used = Layers::new(topology, &folded).unwrap();
    used.contacts(&folded, &SETTINGS, &unknown).unwrap();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let again = one.install(|| used.contacts(&x, &SETTINGS, &unknown).unwrap());
    assert_eq!(fresh, again);
}

/// Round a fold the side of one of its faces is not that of the other: what goes round passes through nothing.
#[test]
fn a_vertex_that_goes_round_a_sharp_fold_stays_outside() {
    let fold = |turn: f64| {
        // Two leaves of a fold along y, closed but for 10 degrees; a third triangle goes round the ridge with its tip.
        let rise = 0.02 * 5f64.to_radians().sin();
        let tip = 1.5e-3 * Vec3::new(turn.sin(), 0.0, turn.cos());
        let positions = vec![
            Vec3::new(0.0, -0.02, 0.0),
            Vec3::new(0.0, 0.02, 0.0),
            Vec3::new(-0.02, 0.0, rise),
            Vec3::new(-0.02, 0.0, -rise),
            tip,
            tip + Vec3::new(0.01, 0.01, 0.0) + 5.0 * tip,
            tip + Vec3::new(0.01, -0.01, 0.0) + 5.0 * tip,
        ];
        (positions, Topology::new(7, vec![[0, 1, 2], [1, 0, 3], [4, 5, 6]]).unwrap())
    };
    let mut sides = LayerSides::unknown();
    for degrees in (0..=180).step_by(5) {
        let (positions, topology) = fold(f64::from(degrees).to_radians());
        let settings = LayerSettings { thickness: 2e-3, reach: 0.0, friction: 0.0 };
        let mut layers = Layers::new(&topology, &positions).unwrap();
        let found = layers.contacts(&positions, &settings, &sides).unwrap();
        let tips: Vec<_> = found
            .iter()
            .filter(|c| matches!(c.key, ContactKey::VertexFace { vertex: 4, .. }))
            .collect();
        assert!(!tips.is_empty(), "{degrees}");
        for c in tips {
            assert!(c.gap > -settings.thickness, "{degrees} degrees: {c:?}");
        }
        sides = LayerSides::at(&positions);
    }
}

/// Reach around single vertices finds what it should there and nothing elsewhere.
#[test]
fn contacts_are_sought_farther_around_what_may_be_elsewhere() {
    let lower = generate::sheet(6, 0.1);
    let count = lower.positions.len();
    let mut faces = lower.faces().to_vec();
    faces.extend(lower.faces().iter().map(|f| f.map(|v| v + count as u32)));
    let mut positions = lower.positions.clone();
    positions.extend(lower.positions.iter().map(|x| x + Vec3::new(0.003, 0.004, 5e-3)));
    let mesh = TriMesh::new(positions, faces).unwrap();
    let x = &mesh.positions;
    let mut layers = Layers::new(&mesh.topology, x).unwrap();
    let sides = LayerSides::unknown();
    let near = LayerSettings { reach: 0.0, ..SETTINGS };
    assert!(layers.contacts(x, &near, &sides).unwrap().is_empty());
    // 5 mm apart, 1 mm kept: half of 9 mm on one side is enough.
    let mut more = vec![0.0; x.len()];
    let vertex = count as u32 + 14;
    more[vertex as usize] = 9e-3;
    let found = layers.contacts_within(x, &near, &sides, &more).unwrap();
    assert!(!found.is_empty());
    assert!(found.iter().all(|c| c.vertices.contains(&vertex)), "{found:?}");
    // All of them together are those of the same reach everywhere.
    more.fill(9e-3);
    let all = layers.contacts_within(x, &near, &sides, &more).unwrap();
    let wide = LayerSettings { reach: 9e-3, ..near };
    assert_eq!(all, layers.contacts(x, &wide, &sides).unwrap());
    assert!(all.len() > found.len());
    assert!(layers.contacts_within(x, &near, &sides, &more[1..]).is_err());
    more[3] = f64::NAN;
    assert!(layers.contacts_within(x, &near, &sides, &more).is_err());
}
