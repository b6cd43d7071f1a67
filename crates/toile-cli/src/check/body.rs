//! Does the cloth lie on its body?

use toile::contact::{Bounds, PlacedCollider};
use toile::geometry::{Vec3, size};
use toile::io::LoadedShell;
use toile::num::words::length;

use super::findings::Report;

/// What is at most this much farther than its gap from a collider touches it \[m\]: as in inversions.
const TOUCHING: f64 = 5e-4;
/// Depth inside a body that is no slip of the hand, in units of the size of the cloth.
const DEEP: f64 = 0.02;
/// Distance from the body that nobody draws a garment at, the same.
const FAR: f64 = 0.1;
/// How many times larger one of cloth and body may be than the other before their units are doubted.
const ALIKE: f64 = 5.0;

/// How a shell lies on the colliders of its scene, at the start.
pub(super) fn findings(loaded: &LoadedShell, placed: &[PlacedCollider<'_>], report: &mut Report) {
    let positions = &loaded.shell.positions;
    if placed.is_empty() || positions.is_empty() {
        return;
    }
    let gap = |p: &Vec3| {
        let of = |c: &PlacedCollider<'_>| {
            let distance = c.query(p).distance;
            (distance - c.gap(), distance)
        };
        placed
            .iter()
            .map(of)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::INFINITY, f64::INFINITY))
    };
    let gaps: Vec<(f64, f64)> = positions.iter().map(gap).collect();
    let touching = gaps.iter().filter(|(gap, _)| *gap <= TOUCHING).count();
    let inside = gaps.iter().filter(|(_, distance)| *distance < 0.0).count();
    let nearest = gaps.iter().map(|(_, d)| *d).fold(f64::INFINITY, f64::min);
    let own = size(positions);
    report.fact(format!(
        "{touching} of {} vertices touch colliders (within {} of their gap), {inside} are inside; the nearest is at {}",
        positions.len(),
        length(TOUCHING),
        length(nearest)
    ));
    let all = placed.iter().fold(Bounds::EMPTY, |all, c| all.join(&c.bounds()));
    let body = (0..3).map(|k| (all.high[k] - all.low[k]).max(0.0).powi(2)).sum::<f64>().sqrt();
    let meshes = placed.iter().all(|c| c.collider().shape().as_mesh().is_some());
    if meshes && body > 0.0 && own > 0.0 && !(1.0 / ALIKE..=ALIKE).contains(&(own / body)) {
        report.warning(format!(
            "it is {} large and its body {}: are both in one unit (`scale`)?",
            length(own),
            length(body)
        ));
    } else if nearest < -DEEP * own {
        report.warning(format!(
            "{inside} vertices are inside colliders, the deepest by {}: do both files have the same axis up, and are they in one place?",
            length(-nearest)
        ));
    } else if nearest > FAR * own {
        report.note(format!(
            "it is {} away from all colliders: it can fall on them, but `invert` needs it where it lies on its body",
            length(nearest)
        ));
    }
}
