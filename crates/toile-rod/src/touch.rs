//! Where fibres touch colliders and each other.
//!
//! A fibre is seen as the capsules between its joints. Colliders meet the joints only: with more points to an element, contacts
//! along a whole fibre outnumber its unknowns, and their forces are not determined any more. Fibres meet where their
//! capsules are nearest.

use toile_cone::Status;
use toile_contact::{Collider, segment_segment};
use toile_num::parallel::map_items;

use crate::account::{FibreContact, FibreContactKey};
use crate::assembly::{Fibre, GRAIN};
use crate::body::Bodies;
use crate::chain::Chain;
use crate::motion::ClampMotion;
use crate::rod::Rod;
use crate::rotation::{Mat3, Vec3};

/// Joints of a fibre, clamp first, with the velocities they would have without contact.
#[derive(Clone, Debug)]
pub(crate) struct Sites {
    pub(crate) points: Vec<Vec3>,
    pub(crate) velocities: Vec<Vec3>,
}

impl Sites {
    /// Where the joints are, from the transitions of a factorised form.
    pub(crate) fn points_along(fibre: &Fibre, chain: &Chain) -> Vec<Vec3> {
        let mut at = fibre.rod.clamp().position;
        let mut points = vec![at];
        points.extend(chain.reaches().map(|reach| {
            at += reach;
            at
        }));
        points
    }

    /// The joints of all fibres with other velocities.
    pub(crate) fn with(sites: &[Self], velocities: Vec<Vec<Vec3>>) -> Vec<Self> {
        let one = |(s, velocities): (&Self, _)| Self { points: s.points.clone(), velocities };
        sites.iter().zip(velocities).map(one).collect()
    }

    /// Joints of a fibre that does not move.
    pub(crate) fn at_rest(fibre: &Fibre) -> Self {
        let points = Self::points_of(&fibre.rod, &fibre.state.q);
        let velocities = vec![Vec3::zeros(); points.len()];
        Self { points, velocities }
    }

    /// Joints of a rod, clamp first: a third of the work of [`along`](Self::along), which needs derivatives.
    pub(crate) fn points_of(rod: &Rod, q: &[Vec3]) -> Vec<Vec3> {
        let clamp = rod.clamp();
        let (mut frame, mut r) = (clamp.frame, clamp.position);
        let mut points = Vec::with_capacity(rod.lengths().len() + 1);
        points.push(r);
        for e in 0..rod.lengths().len() {
            let (next, step) = rod.arc(q, e).reach(&frame, rod.lengths()[e]);
            (frame, r) = (next, r + step);
            points.push(r);
        }
        points
    }

    /// Joints of any rod in motion.
    pub(crate) fn along(rod: &Rod, q: &[Vec3], rates: &[Vec3], motion: &ClampMotion) -> Self {
        let clamp = rod.clamp();
        let (mut points, mut velocities) = (vec![clamp.position], vec![motion.velocity]);
        let (mut frame, mut r) = (clamp.frame, clamp.position);
        let (mut spin, mut velocity) = (motion.spin, motion.velocity);
        for e in 0..rod.lengths().len() {
            let arc = rod.arc(q, e);
            let end = arc.end(&frame, arc.length);
            r += end.r;
            velocity += spin.cross(&end.r);
            for (s, block) in rod.blocks_of(e).iter().enumerate() {
                if let Some(block) = block {
                    velocity += end.j.fixed_columns::<3>(3 * s) * rates[*block];
                    spin += end.theta.fixed_columns::<3>(3 * s) * rates[*block];
                }
            }
            points.push(r);
            velocities.push(velocity);
            frame = end.frame;
        }
        Self { points, velocities }
    }

    /// Velocity of a point between two joints.
    pub(crate) fn velocity(&self, side: &Side) -> Vec3 {
        let v = &self.velocities;
        let here = v[side.point] * (1.0 - side.weight);
        if side.weight > 0.0 { here + v[side.point + 1] * side.weight } else { here }
    }
}

/// One fibre's part in a contact: a point between two of its joints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) fibre: usize,
    /// The joint before it.
    pub(crate) point: usize,
    /// How far it is on the way to the next.
    pub(crate) weight: f64,
    /// Which way a force acts on it.
    pub(crate) sign: f64,
}

impl Side {
    /// The joints that carry the point, with their shares.
    pub(crate) fn joints(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        let all = [(self.point, 1.0 - self.weight), (self.point + 1, self.weight)];
        all.into_iter().filter(|(_, share)| *share > 0.0)
    }
}

/// Two things that touch or may do so within the step.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) key: FibreContactKey,
    pub(crate) point: Vec3,
    /// Unit normal towards the first fibre.
    pub(crate) normal: Vec3,
    pub(crate) gap: f64,
    /// Gap or overlap that is none \[m\].
    pub(crate) slack: f64,
    pub(crate) friction: f64,
    /// How fast they may part because they overlap \[m/s\].
    pub(crate) parting: f64,
    /// Velocity of the collider.
    pub(crate) velocity: Vec3,
    pub(crate) first: Side,
    pub(crate) second: Option<Side>,
}

impl Pair {
    /// As a contact with this force on the first fibre \[N\].
    pub(crate) fn contact(&self, force: Vec3, status: Status) -> FibreContact {
        let Self { key, point, normal, gap, friction, .. } = *self;
        FibreContact { key, point, normal, force, gap, friction, status }
    }

    /// Of two fibres, each with its segment and the place on it, nothing else known yet.
    pub(crate) fn of_fibres(
        (f, i, s): (usize, usize, f64),
        (g, k, t): (usize, usize, f64),
    ) -> Self {
        let (first, second) = ((f as u32, i as u32), (g as u32, k as u32));
        Self {
            key: FibreContactKey::Fibres { first, second },
            point: Vec3::zeros(),
            normal: Vec3::zeros(),
            gap: 0.0,
            slack: 0.0,
            friction: 0.0,
            parting: f64::INFINITY,
            velocity: Vec3::zeros(),
            first: Side { fibre: f, point: i, weight: s, sign: 1.0 },
            second: Some(Side { fibre: g, point: k, weight: t, sign: -1.0 }),
        }
    }

    /// How far the two may come closer \[m\]; negative where they must go apart.
    fn way_in(&self) -> f64 {
        self.gap - self.gap.clamp(-self.slack, self.slack)
    }

    /// Speed at which they may close their gap in a step of length h \[m/s\]; negative where they must part.
    pub(crate) fn closing(&self, h: f64) -> f64 {
        (self.way_in() / h).max(-self.parting)
    }

    /// Which fibres meet.
    fn fibres(&self) -> (usize, Option<usize>) {
        (self.first.fibre, self.second.map(|s| s.fibre))
    }

    pub(crate) fn sides(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.first).chain(&self.second)
    }

    /// Normal first, then two tangents.
    pub(crate) fn frame(&self) -> Mat3 {
        let axis = Vec3::ith(self.normal.iamin(), 1.0);
        let t1 = self.normal.cross(&axis).normalize();
        Mat3::from_columns(&[self.normal, t1, self.normal.cross(&t1)])
    }
}

/// All pairs closer than they could come in a step of length h that ends at `time`, sorted by key; of several at one place one is kept, rather
/// a `known` one, and all where nothing is said of that.
pub(crate) fn find(
    (fibres, bodies): (&[Fibre], &Bodies),
    sites: &[Sites],
    colliders: &[Collider],
    fibre_friction: Option<f64>,
    time: f64,
    h: f64,
    known: Option<&dyn Fn(&FibreContactKey) -> bool>,
) -> Vec<Pair> {
    let placed: Vec<_> = colliders.iter().map(|c| c.at(time)).collect();
    let on_colliders = |f: usize, p: &Sites| {
        let mut found = Vec::new();
        let radius = fibres[f].radius;
        for (c, collider) in placed.iter().enumerate() {
            // The first point is held.
            for i in 1..p.points.len() {
                let near = collider.query(&p.points[i]);
                let gap = near.distance - collider.gap() - radius;
                let closing = (near.velocity - p.velocities[i]).dot(&near.normal).max(0.0);
                if gap > 2.0 * h * closing + 0.5 * radius {
                    continue;
                }
                let key = FibreContactKey::Collider {
                    fibre: f as u32,
                    point: i as u32,
                    collider: c as u32,
                };
                found.push(Pair {
                    key,
                    point: near.point,
                    normal: near.normal,
                    gap,
                    slack: TOUCHING * radius,
                    friction: collider.friction(),
                    parting: f64::INFINITY,
                    velocity: near.velocity,
                    first: Side { fibre: f, point: i, weight: 0.0, sign: 1.0 },
                    second: None,
                });
            }
        }
        found
    };
    let mut pairs: Vec<Pair> =
        map_items(sites, GRAIN, on_colliders).into_iter().flatten().collect();
    if let Some(friction) = fibre_friction {
        let mut between = between_fibres((fibres, bodies), sites, friction, h);
        // Pairs of the same two fibres together, whatever else each of them touches.
        between.sort_unstable_by_key(|p| (p.fibres(), p.key));
        match known {
            Some(known) => pairs.extend(thinned(between, fibres, sites, known)),
            None => pairs.append(&mut between),
        }
    }
    pairs.sort_unstable_by_key(|p| p.key);
    pairs
}

/// Gap or overlap over the radius within which two things touch: rest must not depend on the last digits of a distance.
pub(crate) const TOUCHING: f64 = 1e-3;

/// How much closer than one that is known another contact at one place must be, in units of what counts as touching.
const CLEARLY: f64 = 2.0;

/// Part of an element's length within which two fibres touch once. With a quarter, pairs on two sides of a joint, 0.27 of an element apart, stalled sweeps.
const ONE_PLACE: f64 = 0.4;

/// Cosine of the angle between normals beyond which two contacts press from different sides.
const ONE_SIDE: f64 = 0.7;

/// Leaves out contacts of two fibres at one place, but for the closest.
///
/// Near a joint both of its elements come close to the other fibre. How two contacts at one place share a force is not determined,
/// and sweeps over single contacts then creep: the residual falls as 1/k instead of geometrically. A contact that is known keeps its
/// place unless another is clearly closer: what rests must not be held here and there in turn.
fn thinned(
    pairs: Vec<Pair>,
    fibres: &[Fibre],
    sites: &[Sites],
    known: &dyn Fn(&FibreContactKey) -> bool,
) -> Vec<Pair> {
    let element = |side: &Side| {
        let points = &sites[side.fibre].points;
        let i = side.point.min(points.len() - 2);
        (points[i + 1] - points[i]).norm()
    };
    let reach = |p: &Pair| {
        let one = |side: &Side| (ONE_PLACE * element(side)).max(2.0 * fibres[side.fibre].radius);
        p.sides().map(one).fold(0.0, f64::max)
    };
    // Within a diameter along both fibres: on two sides of a joint, say. Normals may differ much there, but only because elements are straight.
    let beside = |a: &Pair, b: &Pair| {
        a.sides().zip(b.sides()).all(|(a, b)| {
            let apart = a.point as f64 + a.weight - b.point as f64 - b.weight;
            apart.abs() * element(a).min(element(b)) <= 2.0 * fibres[a.fibre].radius
        })
    };
    let mut out: Vec<Pair> = Vec::with_capacity(pairs.len());
    for group in pairs.chunk_by(|a, b| a.fibres() == b.fibres()) {
        let from = out.len();
        let seen = |p: &Pair| p.gap - if known(&p.key) { CLEARLY * p.slack } else { 0.0 };
        let mut order: Vec<(f64, &Pair)> = group.iter().map(|p| (seen(p), p)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.key.cmp(&b.1.key)));
        for (_, pair) in order {
            let near = reach(pair);
            let same = |kept: &Pair| {
                let close = (kept.point - pair.point).norm() <= near;
                close && kept.normal.dot(&pair.normal) > ONE_SIDE || beside(kept, pair)
            };
            if !out[from..].iter().any(same) {
                out.push(pair.clone());
            }
        }
    }
    out
}

/// A capsule between two joints, with its box.
struct Capsule {
    fibre: usize,
    segment: usize,
    low: Vec3,
    high: Vec3,
}

/// Place of a cell in the order of x, y, z, so that cells above each other follow each other.
type Cell = u128;

fn cell_at([x, y, z]: [i64; 3]) -> Cell {
    let part = |i: i64| (i + (1 << 31)) as u128;
    part(x) << 64 | part(y) << 32 | part(z)
}

/// Cells from (x, y, z − 1) to (x, y, z + 1) beside a cell, for the half of its neighbours that come after it: every pair of cells once.
const COLUMNS: [(i64, i64); 4] = [(0, 1), (1, -1), (1, 0), (1, 1)];

/// Segments of each fibre.
pub(crate) fn segments_of(sites: &[Sites]) -> Vec<usize> {
    sites.iter().map(|s| s.points.len() - 1).collect()
}

/// Capsules of different fibres (or far apart on one) that come close.
fn between_fibres(
    (fibres, bodies): (&[Fibre], &Bodies),
    sites: &[Sites],
    friction: f64,
    h: f64,
) -> Vec<Pair> {
    let length = |w: &[Vec3]| (w[1] - w[0]).norm();
    let longest = sites.iter().flat_map(|p| p.points.windows(2)).map(length).fold(0.0f64, f64::max);
    let boxed = |f: usize, i: usize| {
        let p = &sites[f];
        let (a, b) = (p.points[i], p.points[i + 1]);
        let speed = p.velocities[i].norm().max(p.velocities[i + 1].norm());
        // What moves further than half its length in a step is found by its way.
        let margin = 1.25 * fibres[f].radius + (2.0 * h * speed).min(0.5 * longest);
        let margin = Vec3::repeat(margin);
        (a.inf(&b) - margin, a.sup(&b) + margin)
    };
    let test = |a: (usize, usize), b: (usize, usize)| capsules(fibres, sites, a, b, friction, h);
    grid_pairs(bodies, &segments_of(sites), &boxed, &test)
}

/// What `test` finds for (fibre, segment) pairs whose boxes meet, each once and in order, what is joined left out; through
/// a grid as wide as the largest box.
pub(crate) fn grid_pairs(
    bodies: &Bodies,
    segments: &[usize],
    boxed: &(impl Fn(usize, usize) -> (Vec3, Vec3) + Sync),
    test: &(impl Fn((usize, usize), (usize, usize)) -> Option<Pair> + Sync),
) -> Vec<Pair> {
    let of_fibre = |fibre: usize, count: &usize| {
        let one = |segment: usize| {
            let (low, high) = boxed(fibre, segment);
            Capsule { fibre, segment, low, high }
        };
        (0..*count).map(one).collect::<Vec<_>>()
    };
    let boxes: Vec<Capsule> = map_items(segments, GRAIN, of_fibre).into_iter().flatten().collect();
    let cell = boxes.iter().map(|c| (c.high - c.low).max()).fold(0.0f64, f64::max);
    if !(cell > 0.0 && cell.is_finite()) {
        return Vec::new();
    }
    let place = |c: &Capsule| {
        let middle = (c.low + c.high) * (0.5 / cell);
        let to = |x: f64| x.floor().clamp(-1e9, 1e9) as i64;
        [to(middle.x), to(middle.y), to(middle.z)]
    };
    let mut order: Vec<(Cell, u32)> =
        boxes.iter().zip(0..).map(|(c, i)| (cell_at(place(c)), i)).collect();
    order.sort_unstable();
    let sorted: Vec<&Capsule> = order.iter().map(|(_, i)| &boxes[*i as usize]).collect();
    let meet = |a: &Capsule, others: &[&Capsule], found: &mut Vec<Pair>| {
        for b in others {
            let apart = (0..3).any(|k| a.low[k] > b.high[k] || b.low[k] > a.high[k]);
            let (first, second) = ((a.fibre, a.segment), (b.fibre, b.segment));
            let (first, second) = (first.min(second), first.max(second));
            if !apart && !bodies.joined(first, second) {
                found.extend(test(first, second));
            }
        }
    };
    let mut cells: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, (at, _)) in order.iter().enumerate() {
        match cells.last_mut() {
            Some(last) if order[last.start].0 == *at => last.end = i + 1,
            _ => cells.push(i..i + 1),
        }
    }
    let one = |_: usize, range: &std::ops::Range<usize>| {
        let mut found = Vec::new();
        let [x, y, z] = place(sorted[range.start]);
        let rest = &order[range.end..];
        // The cell above comes next, if anything is there.
        let above = rest.iter().take_while(|(at, _)| *at == cell_at([x, y, z + 1])).count();
        for i in range.clone() {
            meet(sorted[i], &sorted[i + 1..range.end + above], &mut found);
        }
        for (dx, dy) in COLUMNS {
            let column = |dz: i64| cell_at([x + dx, y + dy, z + dz]);
            let from = range.end + rest.partition_point(|(at, _)| *at < column(-1));
            let beside = order[from..].iter().take_while(|(at, _)| *at <= column(1)).count();
            for i in range.clone() {
                meet(sorted[i], &sorted[from..from + beside], &mut found);
            }
        }
        found
    };
    map_items(&cells, GRAIN, one).into_iter().flatten().collect()
}

fn capsules(
    fibres: &[Fibre],
    sites: &[Sites],
    (f, i): (usize, usize),
    (g, k): (usize, usize),
    friction: f64,
    h: f64,
) -> Option<Pair> {
    let (p, q) = (&sites[f], &sites[g]);
    let radii = fibres[f].radius + fibres[g].radius;
    let between =
        segment_segment(&[p.points[i], p.points[i + 1]], &[q.points[k], q.points[k + 1]], 1e-9);
    let distance = between.distance_squared.sqrt();
    let gap = distance - radii;
    let at = |v: &[Vec3], n: usize, t: f64| v[n] * (1.0 - t) + v[n + 1] * t;
    let pa = at(&p.points, i, between.s);
    let pb = at(&q.points, k, between.t);
    if distance < 1e-12 {
        return None; // crossing exactly: no side to push to
    }
    let normal = (pa - pb) / distance;
    let closing = (at(&q.velocities, k, between.t) - at(&p.velocities, i, between.s)).dot(&normal);
    if gap > 2.0 * h * closing.max(0.0) + 0.25 * radii {
        return None;
    }
    // An end inside its fibre belongs to the next segment as well: count it there.
    let last_a = i + 2 == p.points.len();
    let last_b = k + 2 == q.points.len();
    if (between.s >= 1.0 && !last_a) || (between.t >= 1.0 && !last_b) {
        return None;
    }
    Some(Pair {
        point: (pa + pb) * 0.5,
        normal,
        gap,
        slack: TOUCHING * fibres[f].radius.min(fibres[g].radius),
        friction,
        ..Pair::of_fibres((f, i, between.s), (g, k, between.t))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Model;
    use crate::rod::{Clamp, Rod, Section};
    use crate::rotation::Mat3;

    /// Beside a joint two strands of hair meet twice, a quarter of an element apart: how they share their force is not determined. Half an element apart it
    /// is, and so it is on two sides.
    #[test]
    fn two_fibres_touch_once_beside_a_joint() {
        let section = Section {
            bending_stiffness: [1e-6; 2],
            twisting_stiffness: 7e-7,
            linear_density: 2e-5,
        };
        let fibre = |y: f64| {
            let frame = Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]);
            let clamp = Clamp { position: Vec3::y() * y, frame };
            let rod = Rod::new(Model::SuperClothoid, 20, 0.2, section, clamp).unwrap();
            let state = crate::motion::RodState::at_rest(rod.rest());
            Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 }
        };
        let fibres = [fibre(1e-3), fibre(-1e-3)];
        let sites: Vec<Sites> = fibres.iter().map(Sites::at_rest).collect();
        let pair = |at: f64, normal: Vec3, gap: f64| {
            let (i, s) = ((at / 0.01) as usize, at / 0.01 - (at / 0.01).floor());
            let slack = 1e-6;
            let point = Vec3::x() * at;
            Pair {
                point,
                normal: normal.normalize(),
                gap,
                slack,
                ..Pair::of_fibres((0, i, s), (1, i, s))
            }
        };
        let kept = |a: Pair, b: Pair| thinned(vec![a, b], &fibres, &sites, &|_| false).len();
        // As in a fall of two thousand strands.
        let (one, other) = (Vec3::new(0.50, 0.16, -0.85), Vec3::new(0.73, -0.02, -0.69));
        assert_eq!(kept(pair(0.1583, other, 5e-7), pair(0.1610, one, -1e-6)), 1);
        assert_eq!(kept(pair(0.1583, other, 5e-7), pair(0.1640, one, -1e-6)), 2);
        assert_eq!(kept(pair(0.1583, other, 5e-7), pair(0.1610, -one, -1e-6)), 2);
    }
}
