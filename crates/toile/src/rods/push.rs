//! Drawn fibres that go through colliders, brought to their surfaces on request.

use toile_contact::{Collider, PlacedCollider};
use toile_io::DrawnFibre;
use toile_num::parallel::try_map;
use toile_num::words::length;
use toile_rod::{Curve, Vec3, rooted_within};

use super::RodSceneError;

/// Parts of a piece of the drawing that are looked at: between two points outside it may go through.
const PARTS: usize = 8;

/// Rounds for a point among several colliders.
const ROUNDS: usize = 200;

/// Rounds in which what was moved is smoothed: where a strand enters and leaves it would have kinks.
const SMOOTHING: usize = 10;

/// Rounds in which pieces that still go through are halved: of a strand across a head, far points come out at far places.
const HALVINGS: usize = 6;

/// Moves what is inside colliders to their surfaces, as far out as the fibre is thick. Roots stay: what is inside from the root on up to where the
/// fibre comes out is not touched. Says what was done.
pub(super) fn pushed_out(
    fibres: &mut [DrawnFibre],
    colliders: &[Collider],
) -> Result<Option<String>, RodSceneError> {
    let placed: Vec<PlacedCollider<'_>> = colliders.iter().map(|c| c.at(0.0)).collect();
    let found: Result<_, RodSceneError> = try_map(fibres.len(), 8, |f| {
        let DrawnFibre { curve, radius, .. } = &fibres[f];
        let Some((points, way)) = outside(curve, *radius, &placed) else { return Ok(None) };
        let curve = Curve::new(&points);
        Ok(Some((curve.map_err(|source| RodSceneError::Rod { rod: f, source })?, way)))
    });
    let found: Vec<Option<(Curve, f64)>> = found?;
    let (mut count, mut longest) = (0, 0.0f64);
    for (fibre, (curve, way)) in
        fibres.iter_mut().zip(found).filter_map(|(fibre, found)| Some((fibre, found?)))
    {
        fibre.redraw(curve);
        (count, longest) = (count + 1, longest.max(way));
    }
    Ok((count > 0).then(|| {
        format!(
            "{count} fibre(s) went through a collider and were pushed out of it, points by up to {}",
            length(longest)
        )
    }))
}

/// Distance from the surface \[m\], negative inside.
fn away(collider: &PlacedCollider<'_>, p: &Vec3) -> f64 {
    collider.query(p).distance - collider.gap()
}

/// A point of a fibre on its way out.
#[derive(Clone, Copy)]
struct Point {
    at: Vec3,
    /// Where it was drawn.
    drawn: Vec3,
    /// Which point of the drawing it follows.
    place: usize,
    /// Whether it was inside: then it is kept a radius outside, others only must not come in.
    held: bool,
}

impl Point {
    fn between(a: &Self, b: &Self, t: f64, held: bool) -> Self {
        Self { at: a.at.lerp(&b.at, t), drawn: a.drawn.lerp(&b.drawn, t), place: a.place, held }
    }
}

/// What a fibre is brought out of.
struct Around<'a> {
    placed: &'a [PlacedCollider<'a>],
    /// The point of the drawing from which on it may not be in each of them.
    rooted: Vec<usize>,
    radius: f64,
}

impl Around<'_> {
    fn forbidden(&self, place: usize) -> impl Iterator<Item = &PlacedCollider<'_>> {
        self.placed.iter().zip(&self.rooted).filter(move |c| place >= *c.1).map(|c| c.0)
    }

    fn is_inside(&self, p: &Point) -> bool {
        self.forbidden(p.place).any(|c| away(c, &p.at) < 0.0)
    }

    fn push(&self, p: &mut Point) {
        for _ in 0..ROUNDS {
            let mut moved = false;
            for c in self.forbidden(p.place) {
                let found = c.query(&p.at);
                let gap = found.distance - c.gap();
                if gap < 0.0 || (p.held && gap < 0.999 * self.radius) {
                    p.at += found.normal * (self.radius - gap);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// Halves pieces between points outside that go through.
    fn refine(&self, points: &[Point]) -> Vec<Point> {
        let mut out = vec![points[0]];
        for w in points.windows(2) {
            let mut middle = Point::between(&w[0], &w[1], 0.5, true);
            if self.is_inside(&middle) && (w[1].at - w[0].at).norm() > self.radius {
                self.push(&mut middle);
                out.push(middle);
            }
            out.push(w[1]);
        }
        out
    }
}

/// The points of a curve with what was inside brought out, and the longest way of one; `None` where nothing is inside.
fn outside(curve: &Curve, radius: f64, placed: &[PlacedCollider<'_>]) -> Option<(Vec<Vec3>, f64)> {
    let drawn = curve.points();
    let near = rooted_within(radius, curve.length());
    let rooted = |c: &PlacedCollider<'_>| {
        let inside = |p: &&Vec3| away(c, p) < 0.5 * radius;
        if away(c, &drawn[0]) > near { 0 } else { drawn.iter().take_while(inside).count() }
    };
    let around = Around { placed, rooted: placed.iter().map(rooted).collect(), radius };
    let given = |place: usize| {
        let point = Point { at: drawn[place], drawn: drawn[place], place, held: false };
        Point { held: around.is_inside(&point), ..point }
    };
    let mut points = vec![Point { held: false, ..given(0) }];
    for i in 1..drawn.len() {
        let (a, b) = (points[points.len() - 1], given(i));
        let part = |k: usize| {
            let point = Point::between(&a, &b, k as f64 / PARTS as f64, false);
            Point { held: around.is_inside(&point), ..point }
        };
        let parts: Vec<Point> = (1..PARTS).map(part).collect();
        if parts.iter().any(|p| p.held) {
            points.extend(parts);
        }
        points.push(b);
    }
    if !points.iter().any(|p| p.held) {
        return None;
    }
    for round in 0..=SMOOTHING {
        if round > 0 {
            let last = points.clone();
            // What was moved and what is beside it, but not the root and where it points.
            for k in 2..points.len() - 1 {
                if last[k - 1..=k + 1].iter().any(|p| p.held) {
                    points[k].at = (last[k - 1].at + last[k].at * 2.0 + last[k + 1].at) * 0.25;
                }
            }
        }
        points[1..].iter_mut().for_each(|p| around.push(p));
        if round < HALVINGS {
            points = around.refine(&points);
        }
    }
    let way = points.iter().map(|p| (p.at - p.drawn).norm()).fold(0.0, f64::max);
    Some((points.iter().map(|p| p.at).collect(), way))
}
