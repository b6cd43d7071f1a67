//! A skirt on a cylinder, held by friction only.

use toile_contact::{Collider, Shape};
use toile_geometry::measure::NormalRule;
use toile_geometry::{TriMesh, Vec3, generate};
use toile_inverse::gallery::{Skirt, random_target};
use toile_inverse::{Cause, Garment, InverseError, InverseSettings, LayerContact, invert};
use toile_sim::dynamics::Simulator;
use toile_sim::{Shell, ShellMaterial};

/// The material of the thesis' Gored Skirt.
const FELT: ShellMaterial =
    ShellMaterial::DiscreteShells { k_length: 0.8, k_area: 0.0, k_bend: 5e-3 };

/// Without drift and without what it would be made as drawn.
fn short() -> InverseSettings {
    InverseSettings { drift_time: 0.0, naive_sag: false, ..InverseSettings::default() }
}

#[test]
fn a_skirt_of_the_thesis_holds_by_friction_exactly_where_it_was_drawn() {
    let skirt = Skirt { rows: 16, around: 36, ..Skirt::default() };
    let garment = skirt.garment(FELT, 0.05, 0.7).unwrap();
    let found = invert(&garment, &InverseSettings::default(), |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified, "{}", c.reason);
    assert!(c.target_error_max.unwrap() <= 1e-9 * c.size, "{:?}", c.target_error_max);
    assert!(c.drift.unwrap() <= 1e-8, "{:?}", c.drift);
    assert!(c.cone_margin.unwrap() >= 0.025, "{:?}", c.cone_margin);
    assert_eq!(found.contacts.len(), 72);
    assert!(!found.settled);
    // The contacts carry the weight and nothing else.
    let carried: f64 = found.contacts.iter().map(|c| c.force.z).sum();
    let mass = 0.05 * area(&garment.shells[0].topology, &found.rest);
    assert!((carried - 9.81 * mass).abs() < 1e-9 * carried, "{carried} N");
    assert!(found.naive_sag.unwrap() > 5e-3 * c.size, "{:?}", found.naive_sag);
}

/// Ly 2021, §5.6.4: a change of the weight by a hundredth must not make the cloth leave its shape.
#[test]
fn a_hundredth_more_or_less_weight_keeps_the_shape() {
    let skirt = Skirt { rows: 12, around: 28, waves: 4, ..Skirt::default() };
    let garment = skirt.garment(FELT, 0.05, 0.7).unwrap();
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    let naive: Vec<Vec3> = garment.target();
    let moved = |rest: &[Vec3], factor: f64| {
        let other = Garment { gravity: garment.gravity * factor, ..garment.clone() };
        let (model, _) = other.model(&found.equilibrium, rest).unwrap();
        let around = other.surroundings(&found.equilibrium, rest).unwrap();
        let mut simulator = Simulator::new(model, around).unwrap();
        simulator.set_mass_damping(4.0);
        for _ in 0..50 {
            simulator.step(0.02).unwrap();
        }
        let now = simulator.model().positions(simulator.state());
        now.iter().zip(&found.equilibrium).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    };
    let size = found.certificate.size;
    for factor in [0.99, 1.01] {
        let way = moved(&found.rest, factor);
        assert!(way > 0.0 && way < 2e-3 * size, "{factor}: {way} of {size}");
    }
    assert!(moved(&naive, 1.0) > 5e-3 * size);
}

/// Too heavy, too soft and too slippery are three answers, each with the figure that would mend it.
#[test]
fn what_is_missing_is_told_apart() {
    let skirt = Skirt { rows: 8, around: 24, waves: 4, height: 0.4, ..Skirt::default() };
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    let of = |k_bend: f64, density: f64| {
        let felt = ShellMaterial::DiscreteShells { k_length: 2.0, k_area: 0.0, k_bend };
        let garment = skirt.garment(felt, density, 0.5).unwrap();
        invert(&garment, &settings, |_| true).unwrap()
    };
    let good = of(5e-3, 0.05);
    assert!(good.certificate.certified && good.diagnosis.weight_fraction == 1.0);
    for (bad, cause) in [(of(5e-3, 5.0), Cause::TooHeavy), (of(2e-7, 0.05), Cause::TooSoft)] {
        let (c, d) = (&bad.certificate, &bad.diagnosis);
        assert_eq!(d.cause, Some(cause), "{}", c.reason);
        assert!(d.least_friction.is_none() && d.weight_fraction < 1.0, "{d:?}");
        assert!(d.stiffness_factor > 1.0 && c.penetration == Some(0.0), "{d:?}");
        assert!(bad.unheld.unwrap().iter().any(|f| *f > 0.0));
    }
}

/// A waist of this cloth cannot squeeze hard enough for so little friction, though a stiffer one could: with what is told it is held, and with a little less it is not at once.
#[test]
fn cloth_too_soft_for_so_little_friction_is_told_the_friction_that_holds_it() {
    let skirt = Skirt { rows: 8, around: 24, waves: 4, height: 0.4, ..Skirt::default() };
    let felt = ShellMaterial::DiscreteShells { k_length: 2.0, k_area: 0.0, k_bend: 5e-3 };
    let of = |friction: f64| {
        let garment = skirt.garment(felt, 0.3, friction).unwrap();
        invert(&garment, &short(), |_| true).unwrap()
    };
    let slips = of(0.02);
    let (c, d) = (&slips.certificate, &slips.diagnosis);
    assert!(!c.certified || c.target_error_max.unwrap() > 0.01 * c.size);
    assert!(c.reason.contains("too slippery: this cloth is held"), "{}", c.reason);
    assert_eq!(d.cause, Some(Cause::TooSlippery));
    assert!(d.least_friction.is_none(), "{d:?}");
    let told = d.held_friction.unwrap();
    assert!(told > 0.03 && told <= 1.0, "{told}");
    let held = of(1.05 * told);
    assert!(held.certificate.certified, "{}", held.certificate.reason);
    assert!(held.certificate.target_error_max.unwrap() < 1e-6);
    let (c, d) = {
        let less = of(0.95 * told);
        (less.certificate, less.diagnosis)
    };
    assert!(!c.certified || c.target_error_max.unwrap() > 1e-6, "{}", c.reason);
    assert!(d.held_friction.is_none_or(|f| (f / told - 1.0).abs() < 0.04), "{d:?}, {told}");
}

/// Inside a body by a tenth of its size a garment is not drawn on it: its axes or its place are wrong, not its stiffness.
#[test]
fn a_skirt_deep_inside_its_body_is_refused_and_asked_for_its_place() {
    let mut garment = Skirt::default().garment(FELT, 0.05, 0.7).unwrap();
    for p in &mut garment.shells[0].positions {
        p.x += 0.12;
    }
    let said = invert(&garment, &InverseSettings::default(), |_| true).err().unwrap();
    assert!(matches!(said, InverseError::Inside { .. }), "{said}");
    assert!(said.to_string().contains("axis up"), "{said}");
}

fn area(topology: &toile_geometry::Topology, p: &[toile_geometry::Vec3]) -> f64 {
    let of = |f: &[u32; 3]| {
        let [a, b, c] = f.map(|v| p[v as usize]);
        0.5 * (b - a).cross(&(c - a)).norm()
    };
    topology.faces().iter().map(of).sum()
}

/// Cotton: E h in N/m, bending in N·m.
fn cotton(stretch: f64, bend: f64) -> ShellMaterial {
    let thickness = (12.0 * (1.0 - 0.09) * bend / stretch).sqrt();
    match ShellMaterial::isotropic(stretch / thickness, 0.3, thickness) {
        ShellMaterial::Koiter { stiffness, membrane, warp, .. } => {
            ShellMaterial::Koiter { stiffness, normals: NormalRule::Average, membrane, warp }
        }
        other => other,
    }
}

#[test]
fn a_nearly_straight_skirt_of_cotton_holds_exactly_where_it_was_drawn() {
    let skirt =
        Skirt { rows: 14, around: 28, hem: 0.24, amplitude: 0.01, waves: 4, ..Skirt::default() };
    let garment = skirt.garment(cotton(500.0, 5e-5), 0.15, 0.5).unwrap();
    let settings = InverseSettings { naive_sag: false, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified, "{}", c.reason);
    assert!(c.target_error_max.unwrap() <= 1e-9 * c.size, "{:?}", c.target_error_max);
}

/// Cotton cannot stand off a body in a cone: its hoops would have to bear pressure. It hangs instead, and the answer says so.
#[test]
fn a_flared_skirt_of_cotton_is_answered_with_how_it_hangs_and_what_it_would_carry() {
    let skirt = Skirt { rows: 10, around: 24, waves: 4, ..Skirt::default() };
    let garment = skirt.garment(cotton(500.0, 5e-5), 0.15, 0.5).unwrap();
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let (c, d) = (&found.certificate, &found.diagnosis);
    assert!(c.certified, "{}", c.reason);
    assert_eq!(c.penetration, Some(0.0));
    assert!(c.target_error_max.unwrap() > 0.01 * c.size, "{:?}", c.target_error_max);
    assert!(d.weight_fraction > 0.0 && d.weight_fraction < 0.5, "{d:?}");
    assert_eq!(d.cause, Some(Cause::AsksTooMuch), "{}", c.reason);
    // With as much of the weight as it says it would carry, it is held.
    let light = skirt.garment(cotton(500.0, 5e-5), 0.15 * d.weight_fraction, 0.5).unwrap();
    let held = invert(&light, &settings, |_| true).unwrap();
    let error = held.certificate.target_error_max.unwrap() / held.certificate.size;
    assert!(held.certificate.certified && error < 1e-9, "{error} {}", held.certificate.reason);
}

/// However little time there is, every way to a result has its share of it, and what is known by then is told.
#[test]
fn a_search_without_time_says_what_keeps_the_target_from_being_held() {
    let skirt = Skirt { rows: 10, around: 24, waves: 4, ..Skirt::default() };
    let garment = skirt.garment(cotton(500.0, 5e-5), 0.15, 0.5).unwrap();
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    for (calls, carried) in [(60, false), (200, true)] {
        let mut seen = 0;
        let found = invert(&garment, &settings, |step| {
            seen += 1;
            step.in_time(f64::from(seen) / f64::from(calls))
        });
        let found = found.unwrap();
        let (c, d) = (&found.certificate, &found.diagnosis);
        assert!(found.interrupted && seen < 2 * calls, "{seen}");
        assert!(d.weight_refused.unwrap() < 1.0, "{d:?}");
        assert!(!carried || d.weight_fraction > 0.0, "{d:?}");
        assert_eq!(d.cause, Some(Cause::AsksTooMuch), "{}", c.reason);
        assert!(found.unheld.unwrap().iter().any(|f| *f > 0.0));
        let mut shares: Vec<f64> = found.history.iter().map(|s| s.until).collect();
        shares.dedup();
        // What leads to all at once has the most; then each its part.
        assert!(shares.len() >= 5 && shares[1..].is_sorted(), "{shares:?}");
    }
}

#[test]
fn a_skirt_in_the_air_is_refused_with_its_distance() {
    let mut garment = Skirt::default().garment(FELT, 0.05, 0.7).unwrap();
    for p in &mut garment.shells[0].positions {
        p.x += 0.6;
    }
    garment.colliders.pop();
    let found = invert(&garment, &InverseSettings::default(), |_| true);
    assert!(matches!(found, Err(InverseError::Unheld { size: 960, .. })), "{:?}", found.err());
    assert!(!found.err().unwrap().to_string().contains("one unit"));
}

/// A skirt that hovers by so much \[m\].
fn hovering(by: f64) -> Garment {
    let mut garment = Skirt::default().garment(FELT, 0.05, 0.7).unwrap();
    for p in &mut garment.shells[0].positions {
        let out = Vec3::new(p.x, p.y, 0.0).normalize();
        *p += out * by;
    }
    garment
}

/// Drawn garments keep off their body: what carries the skirt is found, no more is moved than it hovers by, and that is told.
#[test]
fn a_skirt_that_hovers_touches_within_the_least_tolerance_that_carries_it() {
    let touching = invert(&hovering(0.0), &short(), |_| true).unwrap().touching;
    assert!(!touching.tolerance.is_raised());
    for by in [1e-3, 3e-3] {
        let found = invert(&hovering(by), &short(), |_| true).unwrap();
        assert!(found.certificate.certified, "{}", found.certificate.reason);
        let chosen = found.touching.tolerance.largest();
        assert!(found.touching.tolerance.is_raised() && chosen < by + 5e-4, "{chosen}");
        assert_eq!(found.touching.contacts.len(), touching.contacts.len());
        assert!(found.touching.longest_move < 1.01 * by, "{}", found.touching.longest_move);
    }
}

/// A few vertices drawn inside the body would carry a rigid skirt; that the rest of its waist hovers is seen all the same.
#[test]
fn a_skirt_that_hovers_and_dips_in_here_and_there_touches_where_it_hovers() {
    let touching = invert(&hovering(0.0), &short(), |_| true).unwrap().touching;
    let mut garment = hovering(3e-3);
    for c in touching.contacts.iter().step_by(4) {
        garment.shells[0].positions[c.vertex as usize] -= c.normal * 5e-3;
    }
    let found = invert(&garment, &short(), |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    assert_eq!(found.touching.contacts.len(), touching.contacts.len());
}

/// A tolerance that is given is kept; the one that is told instead is one with which the skirt is held.
#[test]
fn a_skirt_that_hovers_is_told_the_tolerance_that_takes_it_for_touching() {
    let garment = hovering(3e-3);
    let mut settings = InverseSettings { contact_tolerance: Some(5e-4), ..short() };
    let refused = invert(&garment, &settings, |_| true).err().unwrap();
    let words = refused.to_string();
    let Some((_, told)) = words.split_once("(with ") else { panic!("{words}") };
    let told: f64 = told.split(' ').next().unwrap().parse().unwrap();
    assert!((3.0e-3..3.2e-3).contains(&told), "{words}");
    settings.contact_tolerance = Some(told);
    let found = invert(&garment, &settings, |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
}

#[test]
fn a_skirt_in_centimetres_on_a_body_in_metres_is_asked_for_its_unit() {
    let mut garment = Skirt::default().garment(FELT, 0.05, 0.7).unwrap();
    garment.shells[0].positions.iter_mut().for_each(|p| *p *= 100.0);
    let body = Collider::fixed(Shape::sphere(Vec3::zeros(), 0.3).unwrap());
    garment.colliders = vec![body.with_friction(0.5).unwrap()];
    let said = invert(&garment, &InverseSettings::default(), |_| true).err().unwrap().to_string();
    assert!(said.contains("are both in one unit"), "{said}");
}

/// A sheet of felt on a slope.
fn on_a_slope(angle: f64, friction: f64) -> Garment {
    let (sin, cos) = angle.sin_cos();
    let mesh = generate::sheet(7, 0.3);
    let up = Vec3::new(sin, 0.0, cos);
    let place = |p: &Vec3| Vec3::new(cos, 0.0, -sin) * p.x + Vec3::y() * p.y + up * 1e-3;
    let positions: Vec<Vec3> = mesh.positions.iter().map(place).collect();
    let slope = Shape::plane(Vec3::zeros(), up).unwrap();
    let slope = Collider::fixed(slope).with_friction(friction).unwrap().with_gap(1e-3).unwrap();
    Garment {
        shells: vec![Shell {
            topology: mesh.topology,
            rest_positions: positions.clone(),
            positions,
            material: FELT,
            areal_density: 0.05,
            pins: vec![],
            seams: Vec::new(),
            damping: 0.0,
        }],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: vec![slope],
        self_contact: None,
    }
}

#[test]
fn a_slope_holds_above_its_friction_and_the_diagnosis_knows_it_below() {
    let angle = 0.35f64;
    let settings = InverseSettings::default();
    let held = invert(&on_a_slope(angle, 1.2 * angle.tan()), &settings, |_| true).unwrap();
    assert!(held.certificate.certified, "{}", held.certificate.reason);
    assert!(held.certificate.target_error_max.unwrap() < 1e-9);
    let slips = invert(&on_a_slope(angle, 0.5 * angle.tan()), &settings, |_| true).unwrap();
    assert!(!slips.certificate.certified);
    let least = slips.diagnosis.least_friction.unwrap();
    // Of which forces may use 97.5 %.
    let enough = angle.tan() / settings.cone_part;
    assert!((least / enough - 1.0).abs() < 0.01, "{least} {enough}");
    assert!(slips.certificate.reason.contains("too slippery"), "{}", slips.certificate.reason);
}

/// A sheet that lies on another one touches no collider and is held all the same.
#[test]
fn a_layer_on_a_layer_is_held() {
    let table = Shape::plane(Vec3::zeros(), Vec3::z()).unwrap();
    let table = Collider::fixed(table).with_friction(0.5).unwrap().with_gap(1e-3).unwrap();
    let sheet = |divisions: usize, width: f64, height: f64| {
        let mut mesh = generate::sheet(divisions, width);
        mesh.positions.iter_mut().for_each(|p| p.z = height);
        mesh
    };
    let shell = |mesh: TriMesh| Shell {
        topology: mesh.topology,
        rest_positions: mesh.positions.clone(),
        positions: mesh.positions,
        material: FELT,
        areal_density: 0.2,
        pins: Vec::new(),
        seams: Vec::new(),
        damping: 0.0,
    };
    let garment = |upper: f64| Garment {
        shells: vec![shell(sheet(5, 0.3, 1e-3)), shell(sheet(4, 0.2, upper))],
        gravity: Vec3::new(0.0, 0.0, -9.81),
        colliders: vec![table.clone()],
        self_contact: Some(LayerContact { thickness: 1e-3, friction: 0.4 }),
    };
    let settings =
        InverseSettings { drift_time: 0.0, naive_sag: false, ..InverseSettings::default() };
    let found = invert(&garment(2e-3), &settings, |_| true).unwrap();
    assert!(found.certificate.certified, "{}", found.certificate.reason);
    let carried: f64 = found
        .contacts
        .iter()
        .filter(|c| c.contact.key.between_layers())
        .map(|c| c.force.z.abs())
        .sum();
    let weight = 0.2 * 0.2 * 0.2 * 9.81;
    assert!((carried - weight).abs() < 1e-3 * weight, "{carried} N of {weight} N");
    let high = invert(&garment(9e-3), &settings, |_| true);
    assert!(matches!(high, Err(InverseError::Unheld { .. })));
}

/// A trim that would slide off by itself is named; it does not make the whole garment too slippery.
#[test]
fn a_small_piece_that_slides_off_by_itself_is_named() {
    let mut garment = on_a_slope(0.8, 0.3);
    let level = Shape::plane(Vec3::zeros(), Vec3::z()).unwrap();
    let level = Collider::fixed(level).with_friction(0.5).unwrap().with_gap(1e-3).unwrap();
    garment.colliders.push(level);
    let up_the_slope = Vec3::new(-0.8f64.cos(), 0.0, 0.8f64.sin());
    let small = &mut garment.shells[0];
    small.positions.iter_mut().for_each(|p| *p = *p * 0.2 + up_the_slope);
    // Its distance from the slope as before.
    let out = Vec3::new(0.8f64.sin(), 0.0, 0.8f64.cos());
    small.positions.iter_mut().for_each(|p| *p += out * (1e-3 - out.dot(p)));
    small.rest_positions.clone_from(&small.positions);
    let mut sheet = generate::sheet(7, 0.3);
    sheet.positions.iter_mut().for_each(|p| *p += Vec3::new(0.5, 0.0, 1e-3));
    let large = Shell {
        topology: sheet.topology,
        rest_positions: sheet.positions.clone(),
        positions: sheet.positions,
        ..garment.shells[0].clone()
    };
    garment.shells.push(large);
    let found = invert(&garment, &short(), |_| true).err();
    assert!(
        matches!(&found, Some(InverseError::Uncarried { pieces, .. }) if *pieces == [0]),
        "{found:?}"
    );
    // Where all of it slides the garment is too slippery.
    let found = invert(&on_a_slope(0.8, 0.3), &short(), |_| true).unwrap();
    assert!(found.diagnosis.least_friction.is_some());
}

/// Where soft cloth is known to hang, some rest shape holds it exactly, although no part of the weight can be put on there bit by bit.
#[test]
fn a_shape_in_which_cotton_hangs_is_held_exactly() {
    let skirt = Skirt { rows: 7, around: 16, waves: 4, ..Skirt::default() };
    let mut garment = skirt.garment(cotton(500.0, 5e-5), 0.15, 0.5).unwrap();
    let settings = InverseSettings {
        naive_sag: false,
        drift_time: 0.0,
        contact_tolerance: Some(1e-6),
        ..InverseSettings::default()
    };
    let hung = invert(&garment, &settings, |_| true).unwrap();
    assert!(hung.certificate.certified, "{}", hung.certificate.reason);
    assert!(hung.certificate.target_error_max.unwrap() > 0.01 * hung.certificate.size);
    garment.shells[0].positions = hung.equilibrium;
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified, "{}", c.reason);
    assert!(c.target_error_max.unwrap() <= 1e-9 * c.size, "{:?}", c.target_error_max);
}

/// A drawn shape at which the weight cannot be put on bit by bit is reached under the full weight, by way of cloth that is stiffer against bending.
#[test]
fn soft_cloth_comes_from_stiffer_cloth_to_a_drawn_shape_that_carries_no_part_of_the_weight_less_than_all()
 {
    let skirt = Skirt { rows: 7, around: 12, waves: 3, hem: 0.3, ..Skirt::default() };
    let garment = skirt.garment(cotton(500.0, 1e-4), 0.15, 0.5).unwrap();
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let c = &found.certificate;
    assert!(c.certified && !found.settled, "{}", c.reason);
    assert!(c.target_error_max.unwrap() <= 1e-9 * c.size, "{:?}", c.target_error_max);
    // Not by putting the weight on.
    assert_eq!(found.diagnosis.bending_factor, Some(1.0));
}

/// Noise may move a vertex across an edge: what is upside down then is left alone if it can be held so. A vertex that comes to lie on another leaves faces of no
/// area, which nothing holds: they are spread.
#[test]
fn faces_that_no_cloth_can_have_are_spread_where_they_are_not_held() {
    let skirt = Skirt { rows: 8, around: 16, ..Skirt::default() };
    let drawn = skirt.garment(cotton(500.0, 1e-3), 0.05, 0.7).unwrap();
    // A vertex below the waist, and the neighbour that is not in the same row.
    let (v, below) = (16 * 5 + 3, 16 * 6 + 3);
    for (part, held) in [(1.3, true), (1.0, false)] {
        let mut garment = drawn.clone();
        let places = &mut garment.shells[0].positions;
        let way = places[below] - places[v];
        places[v] += way * part;
        let settings =
            InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
        let found = invert(&garment, &settings, |_| true).unwrap();
        let (evening, c) = (&found.touching.evening, &found.certificate);
        assert!(evening.faces > 0 && (evening.spread() == 0) == held, "{part}: {evening:?}");
        assert!(c.certified && !found.settled, "{part}: {}", c.reason);
        // Where it was spread it is as far from the drawing as it was moved, and no farther.
        let off = c.target_error_max.unwrap();
        assert!((off - evening.longest_move).abs() < 1e-9 * c.size, "{part}: {off}, {evening:?}");
    }
}

/// Bad triangles are no reason to move anything where cloth holds them: felt bends little, whatever its normals mean.
#[test]
fn bad_triangles_that_can_be_held_are_left_as_they_were_drawn() {
    let garment = random_target(1, 1).unwrap().garment;
    let settings =
        InverseSettings { naive_sag: false, drift_time: 0.0, ..InverseSettings::default() };
    let found = invert(&garment, &settings, |_| true).unwrap();
    let (evening, c) = (&found.touching.evening, &found.certificate);
    assert!(evening.faces > 0 && evening.spread() == 0, "{evening:?}");
    assert!(c.certified, "{}", c.reason);
    assert!(c.target_error_max.unwrap() <= 1e-9 * c.size, "{:?}", c.target_error_max);
}
