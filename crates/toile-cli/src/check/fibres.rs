//! Rods and hair: are their curves such as can be fitted, in these units, among these colliders?

use std::collections::HashSet;
use std::path::Path;

use toile::contact::PlacedCollider;
use toile::geometry::Vec3;
use toile::io::{Axes, HairTable, RodTable, Scene, Strands, load_rods, read_strands};
use toile::num::words::length;
use toile::rod::{polyline_overlaps, rooted_within};
use toile::{RodLine, rod_lines};

use super::findings::Report;
use super::scene_error;

/// Polylines of one table or file \[m\].
struct Lines<'a> {
    points: Vec<Vec<Vec3>>,
    /// How one is called.
    what: &'a str,
    /// Elements of each; none where nothing says.
    elements: Option<usize>,
}

/// Lengths of fibres of anything known \[m\].
const SHORTEST: f64 = 2e-3;
const LONGEST: f64 = 5.0;
/// Points of a strand beyond which most of them say nothing.
const MANY_POINTS: usize = 2000;
/// Points of all strands beyond which reading and fitting take long.
const VERY_MANY: usize = 5_000_000;
/// Cosine of the turn at a point beyond which a curve goes back on itself.
const BACK: f64 = -0.9;

/// A file of strands alone.
pub(super) fn check_strands(path: &Path, scale: f64, report: &mut Report) {
    report.section(format!("Strands {}", path.display()));
    match read_strands(path) {
        Ok(read) => {
            let axes = Axes { up: Default::default(), scale };
            let points = internal(&read, &axes, usize::MAX);
            read.notes.iter().for_each(|note| report.note(note.clone()));
            curves(&Lines { points, what: "strand", elements: None }, report);
        }
        Err(error) => report.error(error.to_string()),
    }
}

fn internal(read: &Strands, axes: &Axes, most: usize) -> Vec<Vec<Vec3>> {
    let one = |s: &Vec<[f64; 3]>| s.iter().map(|p| Vec3::from(axes.to_internal(*p))).collect();
    read.strands.iter().take(most).map(one).collect()
}

/// All rods and hair of a scene.
pub(super) fn findings(
    scene: &Scene,
    colliders: &[PlacedCollider<'_>],
    g: f64,
    report: &mut Report,
) {
    if !scene.rods.is_empty() {
        report.section(format!("{} rod(s)", scene.rods.len()));
        let described = |rod: &RodTable| rod.curve.is_none();
        if scene.rods.iter().all(described)
            && let Err(error) = load_rods(scene)
        {
            return scene_error(&error, report);
        }
        match rod_lines(scene) {
            Ok(lines) => rods(scene, &lines, colliders, g, report),
            Err(error) => report.error(error.to_string()),
        }
    }
    for (i, hair) in scene.hair.iter().enumerate() {
        report.section(format!("Hair {i} ({})", hair.strands));
        let axes = Axes { up: scene.up, scale: hair.scale.unwrap_or(1.0) };
        match scene.read_strands(&hair.strands) {
            Ok(read) => {
                let most = hair.most_strands.map_or(usize::MAX, |n| n as usize);
                let points = internal(&read, &axes, most);
                read.notes.iter().for_each(|note| report.note(note.clone()));
                let elements = hair.elements.map(|n| n as usize);
                let lines = Lines { points, what: "strand", elements };
                curves(&lines, report);
                let radius = hair.radius.unwrap_or(toile::io::FIBRE_RADIUS);
                let radii = vec![radius; lines.points.len()];
                among(&lines, &radii, colliders, report);
                if scene.self_contact.is_some() {
                    crowd(&lines, &radii, hair.radius.is_none(), report);
                }
                material(hair, &lines, g, report);
            }
            Err(error) => report.error(error.to_string()),
        }
    }
}

fn rods(
    scene: &Scene,
    found: &[RodLine],
    colliders: &[PlacedCollider<'_>],
    g: f64,
    report: &mut Report,
) {
    let grown = scene.rods.iter().filter(|rod| rod.parent.is_some()).count();
    if grown > 0 {
        report.fact(format!("{grown} of them grow from others"));
    }
    let points = found.iter().map(|line| line.points.clone()).collect();
    let lines = Lines { points, what: "rod", elements: None };
    curves(&lines, report);
    let radii: Vec<f64> = found.iter().map(|line| line.radius).collect();
    among(&lines, &radii, colliders, report);
    for (i, (rod, points)) in scene.rods.iter().zip(&lines.points).enumerate() {
        bends(
            &format!("rod {i}"),
            rod.bending_stiffness,
            rod.twisting_stiffness,
            rod.linear_density,
            long(points),
            g,
            report,
        );
    }
}

fn long(points: &[Vec3]) -> f64 {
    points.windows(2).map(|w| (w[1] - w[0]).norm()).sum()
}

/// Some of a list, for people.
fn some(which: &[usize]) -> String {
    let shown: Vec<String> = which.iter().take(5).map(usize::to_string).collect();
    format!("{}{}", shown.join(", "), if which.len() > 5 { ", …" } else { "" })
}

fn curves(lines: &Lines<'_>, report: &mut Report) {
    let Lines { points, what, .. } = lines;
    let total: usize = points.iter().map(Vec::len).sum();
    let most = points.iter().map(Vec::len).max().unwrap_or(0);
    let fewest = points.iter().map(Vec::len).min().unwrap_or(0);
    report.fact(format!("{} {what}(s) of {fewest} to {most} points, {total} in all", points.len()));
    let mut lengths: Vec<f64> = points.iter().map(|p| long(p)).collect();
    let where_is = |test: &dyn Fn(&[Vec3]) -> bool| -> Vec<usize> {
        (0..points.len()).filter(|i| test(&points[*i])).collect()
    };
    let single = where_is(&|p| p.len() < 2);
    if !single.is_empty() {
        report.warning(format!(
            "{} {what}(s) have fewer than two points ({}): they are left out",
            single.len(),
            some(&single)
        ));
    }
    let still = where_is(&|p| p.len() > 1 && long(p) == 0.0);
    if !still.is_empty() {
        report.warning(format!(
            "all points of {} {what}(s) are one ({}): they have no length and are left out",
            still.len(),
            some(&still)
        ));
    }
    let doubled = where_is(&|p| long(p) > 0.0 && p.windows(2).any(|w| w[0] == w[1]));
    if !doubled.is_empty() {
        let count: usize =
            doubled.iter().map(|i| points[*i].windows(2).filter(|w| w[0] == w[1]).count()).sum();
        report.note(format!(
            "{count} point(s) of {} {what}(s) repeat the one before ({}): each is taken once",
            doubled.len(),
            some(&doubled)
        ));
    }
    let mut seen = HashSet::new();
    let bits = |p: &Vec<Vec3>| -> Vec<u64> {
        p.iter().flat_map(|p| p.iter().map(|x| x.to_bits())).collect()
    };
    let copies: Vec<usize> = (0..points.len())
        .filter(|i| points[*i].len() > 1 && !seen.insert(bits(&points[*i])))
        .collect();
    if !copies.is_empty() {
        report.warning(format!(
            "{} {what}(s) are exact copies of others ({}): two that lie inside each other do not touch; delete the copies",
            copies.len(),
            some(&copies)
        ));
    }
    let back = where_is(&turns_back);
    if !back.is_empty() {
        report.warning(format!(
            "{} {what}(s) turn back on themselves at a point ({}): no smooth fibre does; smooth them, or are points out of order?",
            back.len(),
            some(&back)
        ));
    }
    if most > MANY_POINTS {
        let of = lines.elements.map_or(String::new(), |n| format!(" for {n} elements"));
        report.note(format!("a {what} has {most} points{of}: a few for each element are enough"));
    }
    if total > VERY_MANY {
        report.warning(format!(
            "{total} points in all take gigabytes and minutes: export fewer points or fewer {what}s, or set `most_strands`"
        ));
    }
    lengths.retain(|l| *l > 0.0);
    lengths.sort_by(f64::total_cmp);
    let Some((low, high)) = lengths.first().zip(lengths.last()) else {
        return report
            .error(format!("no {what} has a length: export {what}s of two points or more"));
    };
    let middle = lengths[lengths.len() / 2];
    report.fact(format!(
        "{} to {} long, half of them over {}",
        length(*low),
        length(*high),
        length(middle)
    ));
    if middle > LONGEST {
        report.warning(format!(
            "half of the {what}s are over {} long; if the file is in centimetres set `scale = 0.01`, in millimetres 0.001",
            length(middle)
        ));
    } else if middle < SHORTEST {
        report.warning(format!(
            "half of the {what}s are under {} long; if the file is in decimetres or another unit set `scale`",
            length(middle)
        ));
    }
}

fn turns_back(points: &[Vec3]) -> bool {
    let ways: Vec<Vec3> =
        points.windows(2).map(|w| w[1] - w[0]).filter(|w| w.norm() > 0.0).collect();
    ways.windows(2).any(|w| w[0].dot(&w[1]) < BACK * w[0].norm() * w[1].norm())
}

/// Where fibres stand to the colliders.
fn among(lines: &Lines<'_>, radii: &[f64], colliders: &[PlacedCollider<'_>], report: &mut Report) {
    let Lines { points, what, .. } = lines;
    let (mut under, mut buried, mut through, mut into) = (vec![], vec![], vec![], vec![]);
    let mut hardly = vec![];
    let mut upside = 0;
    let (mut deepest, mut farthest) = (0.0f64, 0.0f64);
    for (i, (line, radius)) in points.iter().zip(radii).enumerate() {
        if line.len() < 2 || long(line) == 0.0 {
            continue;
        }
        let (mut near, mut tip) = (f64::INFINITY, f64::INFINITY);
        for collider in colliders {
            let away = |p: &Vec3| collider.query(p).distance - collider.gap();
            let first = away(&line[0]);
            near = near.min(first);
            tip = tip.min(away(&line[line.len() - 1]));
            // As in motion: joints from the clamp on may begin inside, where it is rooted.
            let covered = line[1..].iter().take_while(|p| away(p) < 0.5 * radius).count();
            let rooted = first <= rooted_within(*radius, long(line));
            if covered > 0 && !rooted {
                into.push(i);
                continue;
            }
            if covered + 1 == line.len() {
                buried.push(i);
                continue;
            }
            if first < -radius || covered > 0 {
                under.push(i);
            }
            let deep = line[covered + 1..].iter().map(|p| -away(p)).fold(0.0, f64::max);
            if deep > rooted_within(*radius, long(line)) {
                through.push(i);
                deepest = deepest.max(deep);
            } else if deep > 0.0 {
                hardly.push(i);
            }
        }
        if near.is_finite() {
            farthest = farthest.max(near);
            upside += usize::from(tip.abs() < near.abs());
        }
    }
    under.dedup();
    if !through.is_empty() {
        report.error(format!(
            "{} {what}(s) go through a collider, up to {} deep after they have come out of it ({}): move them out, make the collider smaller, or let `--push-out` move them",
            through.len(),
            length(deepest),
            some(&through)
        ));
    }
    if !hardly.is_empty() {
        report.note(format!(
            "{} {what}(s) are a little inside a collider after they have come out of it ({}): in motion they part slowly, `invert` moves them out",
            hardly.len(),
            some(&hardly)
        ));
    }
    if !buried.is_empty() {
        report.warning(format!(
            "{} {what}(s) lie inside a collider from end to end and never touch it ({}): move them out, or make the collider smaller",
            buried.len(),
            some(&buried)
        ));
    }
    if !into.is_empty() {
        report.error(format!(
            "{} {what}(s) start outside a collider and go into it with their next points ({}): put the roots on it, or turn the {what}s outwards",
            into.len(),
            some(&into)
        ));
    }
    if !under.is_empty() {
        report.note(format!(
            "{} {what}(s) start inside a collider ({}): up to where they come out they do not touch it",
            under.len(),
            some(&under)
        ));
    }
    if colliders.is_empty() {
        return;
    }
    report.fact(format!("roots are up to {} from the nearest collider", length(farthest.max(0.0))));
    if points.len() > 4 && 10 * upside > 9 * points.len() {
        report.warning(format!(
            "the last points of nearly all {what}s are nearer to a collider than the first: roots must come first, turn them round"
        ));
    }
}

/// Polylines with more segments than this are not searched for overlaps.
const MOST_SEARCHED: usize = 3_000_000;

/// Where strands overlap each other.
fn crowd(lines: &Lines<'_>, radii: &[f64], by_default: bool, report: &mut Report) {
    let Lines { points, what, .. } = lines;
    if points.iter().map(Vec::len).sum::<usize>() > MOST_SEARCHED {
        return report.note(format!("overlaps of so many {what}s were not looked for"));
    }
    let (pairs, deepest) = polyline_overlaps(points, radii);
    if pairs == 0 {
        return;
    }
    let radius = if by_default {
        format!("; `radius` is {} by default", length(radii[0]))
    } else {
        String::new()
    };
    let text = format!(
        "{pairs} pair(s) of {what}s overlap as drawn, by up to {}: `invert` moves them apart, in motion they part slowly{radius}",
        length(deepest)
    );
    if pairs > CROWDED * points.len() {
        report.warning(format!(
            "{text}; that is {:.0} to a {what}, more than contacts can open: make them thinner, or leave [self_contact] out",
            2.0 * pairs as f64 / points.len() as f64
        ));
    } else {
        report.note(text);
    }
}

/// Overlaps to a strand beyond which a drawing is too dense for its thickness.
const CROWDED: usize = 10;

fn material(hair: &HairTable, lines: &Lines<'_>, g: f64, report: &mut Report) {
    let mut lengths: Vec<f64> = lines.points.iter().map(|p| long(p)).collect();
    lengths.sort_by(f64::total_cmp);
    let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(0.0);
    let HairTable { bending_stiffness: b, twisting_stiffness: t, linear_density: m, .. } = hair;
    bends("hair", *b, *t, *m, middle, g, report);
}

/// Length over which a fibre bends under its own weight, (EI/ρg)^⅓, against its own.
fn bends(
    name: &str,
    bending: [f64; 2],
    twisting: f64,
    density: f64,
    own: f64,
    g: f64,
    report: &mut Report,
) {
    let mean = (bending[0] * bending[1]).sqrt();
    let ratio = twisting / mean;
    if !(0.01..=20.0).contains(&ratio) {
        report.warning(format!(
            "{name}: twisting stiffness is {ratio:.1e} of the bending stiffness; round fibres have about 0.7: is one of them in other units?"
        ));
    }
    if g == 0.0 || own <= 0.0 {
        return;
    }
    let reach = (mean / (density * g)).cbrt();
    report.fact(format!("{name} bends under its weight over {}", length(reach)));
    if reach < 1e-2 * own {
        report.warning(format!(
            "{name}: that is {:.1e} of its length: it hangs like a chain; check the units of bending stiffness (N·m²) and linear density (kg/m)",
            reach / own
        ));
    } else if reach > 1e3 * own {
        report.warning(format!(
            "{name}: that is {:.0} times its length: its weight does nothing; check the units of bending stiffness (N·m²) and linear density (kg/m)",
            reach / own
        ));
    }
}
