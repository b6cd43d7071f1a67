//! Fibres that overlap where they begin, as drawings of hair do.
//!
//! Roots of dense hair are closer than its strands are thick. Clamps do not yield, so from their roots to where they part two such strands do not
//! touch. Elsewhere overlaps are opened, but not at once: what is pushed out by its depth in one step flies on with that speed.

use std::collections::{HashMap, HashSet};

use toile_contact::segment_segment;

use crate::account::FibreContactKey;
use crate::assembly::{Assembly, Fibre};
use crate::body::Bodies;
use crate::rotation::Vec3;
use crate::touch::{Pair, Sites, grid_pairs};

/// Speed at which fibres that overlapped from the start part \[m/s\]: a millimetre in a fiftieth of a second.
const PARTING: f64 = 0.05;

/// Sum of the radii beyond which roots are apart, over that sum: as far as contacts are looked for.
const TOGETHER: f64 = 1.25;

/// What is known of fibres that began too close.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    /// Two fibres rooted together, and up to where on each, in joints, they do not touch.
    rooted: HashMap<(u32, u32), (f64, f64)>,
    /// Two fibres that overlapped, or a fibre and a collider, that one counted from the end.
    parting: HashSet<(u32, u32)>,
}

/// Overlaps of fibres where they begin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crowding {
    /// Pairs of fibres, and of a fibre and a collider, that overlap.
    pub pairs: usize,
    /// Pairs of fibres whose roots overlap: they do not touch up to where they part.
    pub rooted: usize,
    /// The deepest overlap that is to be opened \[m\].
    pub deepest: f64,
}

fn named(pair: &Pair) -> Option<(u32, u32)> {
    match pair.key {
        FibreContactKey::Fibres { first, second } => Some((first.0, second.0)),
        FibreContactKey::Collider { fibre, collider, .. } => Some((fibre, u32::MAX - collider)),
        FibreContactKey::Surface { .. } => None,
    }
}

impl Crowd {
    /// Sees which fibres are rooted together.
    pub(crate) fn new(fibres: &[Fibre], bodies: &Bodies, sites: &[Sites]) -> Self {
        let widest = 2.0 * TOGETHER * fibres.iter().map(|f| f.radius).fold(0.0, f64::max);
        let mut out = Self::default();
        if !(widest > 0.0 && widest.is_finite()) {
            return out;
        }
        let root = |f: usize| sites[f].points[0];
        let to = |x: f64| (x / widest).floor().clamp(-1e15, 1e15) as i64;
        let cell = |p: &Vec3| (to(p.x), to(p.y), to(p.z));
        let mut grid: HashMap<(i64, i64, i64), Vec<usize>> = HashMap::new();
        for f in 0..fibres.len() {
            let at = cell(&root(f));
            let around = (-1..=1).flat_map(|x| {
                (-1..=1).flat_map(move |y| (-1..=1).map(move |z| (at.0 + x, at.1 + y, at.2 + z)))
            });
            for g in around.filter_map(|c| grid.get(&c)).flatten() {
                let near = TOGETHER * (fibres[f].radius + fibres[*g].radius);
                let joined = bodies.of[f].0 == bodies.of[*g].0;
                if !joined && (root(f) - root(*g)).norm() < near {
                    let own =
                        (apart(&sites[*g], &sites[f], near), apart(&sites[f], &sites[*g], near));
                    out.rooted.insert((*g as u32, f as u32), own);
                }
            }
            grid.entry(at).or_default().push(f);
        }
        out
    }

    /// Whether the two do not touch there because of their roots.
    pub(crate) fn ignores(&self, pair: &Pair) -> bool {
        if self.rooted.is_empty() {
            return false;
        }
        let Some(second) = pair.second else { return false };
        let limits = named(pair).and_then(|name| self.rooted.get(&name));
        let at = |s: &crate::touch::Side| s.point as f64 + s.weight;
        limits.is_some_and(|(a, b)| at(&pair.first) <= *a && at(&second) <= *b)
    }

    /// How fast the two may part \[m/s\].
    pub(crate) fn parting(&self, pair: &Pair) -> f64 {
        if self.parting.is_empty() {
            return f64::INFINITY;
        }
        let slow = named(pair).is_some_and(|name| self.parting.contains(&name));
        if slow { PARTING } else { f64::INFINITY }
    }
}

/// Joints from the root on up to where a fibre is farther than `near` from another, and one element more.
fn apart(own: &Sites, other: &Sites, near: f64) -> f64 {
    let within = |p: &&Vec3| {
        other.points.windows(2).any(|w| {
            let edge = w[1] - w[0];
            let t = ((*p - w[0]).dot(&edge) / edge.norm_squared()).clamp(0.0, 1.0);
            (w[0] + edge * t - *p).norm_squared() < near * near
        })
    };
    own.points.iter().take_while(within).count() as f64
}

/// Pairs of polylines that come closer than their radii, and the deepest overlap \[m\].
pub fn polyline_overlaps(lines: &[Vec<Vec3>], radii: &[f64]) -> (usize, f64) {
    let segments: Vec<usize> = lines.iter().map(|l| l.len().saturating_sub(1)).collect();
    let boxed = |f: usize, i: usize| {
        let (a, b, margin) = (lines[f][i], lines[f][i + 1], Vec3::repeat(radii[f]));
        (a.inf(&b) - margin, a.sup(&b) + margin)
    };
    let test = |(f, i): (usize, usize), (g, k): (usize, usize)| {
        if f == g {
            return None;
        }
        let (a, b) = ([lines[f][i], lines[f][i + 1]], [lines[g][k], lines[g][k + 1]]);
        let between = segment_segment(&a, &b, 1e-9);
        let gap = between.distance_squared.sqrt() - radii[f] - radii[g];
        (gap < 0.0).then(|| Pair { gap, ..Pair::of_fibres((f, i, between.s), (g, k, between.t)) })
    };
    let found = grid_pairs(&Bodies::alone(lines.len()), &segments, &boxed, &test);
    let deepest = found.iter().map(|p| -p.gap).fold(0.0, f64::max);
    let pairs: HashSet<(u32, u32)> = found.iter().filter_map(named).collect();
    (pairs.len(), deepest)
}

impl Assembly {
    /// Sees which fibres overlap as they are: these part slowly from now on.
    pub fn part_slowly(&mut self) -> Crowding {
        let sites = self.sites_at_rest();
        let overlapping: Vec<((u32, u32), f64)> = self
            .find_all(&sites)
            .iter()
            .filter(|p| p.gap < -p.slack)
            .filter_map(|p| Some((named(p)?, -p.gap)))
            .collect();
        let deepest = overlapping.iter().map(|o| o.1).fold(0.0, f64::max);
        self.crowd.parting = overlapping.iter().map(|o| o.0).collect();
        Crowding { pairs: self.crowd.parting.len(), rooted: self.crowd.rooted.len(), deepest }
    }
}
