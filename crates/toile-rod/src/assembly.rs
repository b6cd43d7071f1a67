//! Many fibres in contact with colliders and each other: one step with exact dry friction.
//!
//! Without contact every fibre would have the rates v. A contact force r changes them by A⁻¹ Hᵀ r, with A = M + (θ²h² + νh) K
//! factorised per fibre; so the velocities at all contacts are u = W r + b with W = Σ H A⁻¹ Hᵀ over the fibres they share,
//! and the conic kernel finds the r that sticks, slides or takes off. Separated pairs may close their gap but no more:
//! u_N + gap/h ≥ 0. Reference: Daviet, Bertails-Descoubes and Boissieux 2011.

use std::collections::HashMap;

use rayon::prelude::*;
use toile_cone::{
    Auto, BlockSparseOperator, DENSE_LIMIT, GaussSeidel, Problem, Settings, Solver, Status,
};
use toile_contact::{Collider, segment_segment};

use crate::RodError;
use crate::chain::Chain;
use crate::motion::{ClampMotion, Moving, RodState, StepSettings, advance, check, right_hand_side};
use crate::rod::Rod;
use crate::rotation::{Mat3, Vec3, cross_matrix};

/// A fibre that moves.
#[derive(Clone, Debug)]
pub struct Fibre {
    /// The rod.
    pub rod: Rod,
    /// Where it is and how fast.
    pub state: RodState,
    /// How its clamp moves.
    pub motion: ClampMotion,
    /// Radius for contact \[m\].
    pub radius: f64,
}

/// How an assembly is stepped.
#[derive(Clone, Debug)]
pub struct AssemblySettings {
    /// The step of each fibre; θ = 1.
    pub step: StepSettings,
    /// Gravity \[m/s²\].
    pub gravity: Vec3,
    /// Friction between fibres; `None` lets them pass through each other.
    pub fibre_friction: Option<f64>,
    /// Residual of the friction law that is good enough, relative to the largest force.
    pub tolerance: f64,
    /// Sweeps at most.
    pub max_sweeps: usize,
}

/// Names a contact from one step to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FibreContactKey {
    /// A point of a fibre on a collider.
    Collider {
        /// Which fibre.
        fibre: u32,
        /// Which point along it.
        point: u32,
        /// Which collider.
        collider: u32,
    },
    /// Two fibres that cross.
    Fibres {
        /// Fibre and segment of the first.
        first: (u32, u32),
        /// Fibre and segment of the second.
        second: (u32, u32),
    },
}

/// A contact after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibreContact {
    /// What touches what.
    pub key: FibreContactKey,
    /// Where \[m\].
    pub point: Vec3,
    /// Unit normal towards the (first) fibre.
    pub normal: Vec3,
    /// Force on the (first) fibre \[N\], in world axes.
    pub force: Vec3,
    /// Distance beyond the radii before the step \[m\]; negative when too close.
    pub gap: f64,
    /// Stick, slip or take-off.
    pub status: Status,
}

/// What a step found.
#[derive(Clone, Debug, Default)]
pub struct AssemblyReport {
    /// All contacts, sorted by key.
    pub contacts: Vec<FibreContact>,
    /// Sweeps of the friction solver.
    pub sweeps: usize,
    /// Residual of the friction law, relative to the largest force.
    pub residual: f64,
    /// Whether it is within the tolerance.
    pub converged: bool,
    /// Deepest gap below zero before the step \[m\].
    pub penetration: f64,
}

/// Fibres and what they touch.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// The fibres.
    pub fibres: Vec<Fibre>,
    /// What they touch.
    pub colliders: Vec<Collider>,
    /// How they are stepped.
    pub settings: AssemblySettings,
    /// Time \[s\].
    pub time: f64,
    impulses: HashMap<FibreContactKey, Vec3>,
}

/// Points per element at which contact is sought: its end. With more, contacts on a collider along a whole fibre outnumber its
/// unknowns, and their forces are not determined any more.
pub(crate) const POINTS: usize = 1;

/// A fibre during a step.
struct Prepared {
    chain: Chain,
    /// Rates at the end of the step without contact.
    free: Vec<Vec3>,
}

/// Where a fibre may touch.
pub(crate) struct Sites {
    /// Contact points, clamp first.
    pub(crate) points: Vec<Vec3>,
    /// Their velocities without contact.
    pub(crate) velocities: Vec<Vec3>,
}

/// One fibre's part in a contact: a point between two of its contact points.
pub(crate) struct Side {
    pub(crate) fibre: usize,
    pub(crate) point: usize,
    pub(crate) weight: f64,
    pub(crate) sign: f64,
}

pub(crate) struct Pair {
    pub(crate) key: FibreContactKey,
    pub(crate) point: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) gap: f64,
    pub(crate) friction: f64,
    /// Velocity of the collider.
    pub(crate) velocity: Vec3,
    pub(crate) sides: Vec<Side>,
}

impl Assembly {
    /// Fibres in their surroundings at time 0. Rods must not be empty and radii positive.
    pub fn new(
        fibres: Vec<Fibre>,
        colliders: Vec<Collider>,
        settings: AssemblySettings,
    ) -> Result<Self, RodError> {
        for fibre in &fibres {
            check(&fibre.rod, &fibre.state, &settings.step)?;
            if !(fibre.radius > 0.0 && fibre.radius.is_finite()) {
                return Err(RodError::NotPositive { what: "radius", value: fibre.radius });
            }
        }
        Ok(Self { fibres, colliders, settings, time: 0.0, impulses: HashMap::new() })
    }

    /// Takes one step.
    pub fn step(&mut self) -> Result<AssemblyReport, RodError> {
        let h = self.settings.step.dt;
        let (prepared, sites): (Vec<Prepared>, Vec<Sites>) =
            self.fibres.par_iter().map(|f| prepare(f, &self.settings)).unzip();
        let pairs = self.find(&sites);
        let mut report = AssemblyReport { converged: true, ..AssemblyReport::default() };
        let mut rates: Vec<Vec<Vec3>> = prepared.iter().map(|p| p.free.clone()).collect();
        if !pairs.is_empty() {
            self.solve(&prepared, &sites, &pairs, h, &mut rates, &mut report)?;
        }
        for (fibre, rate) in self.fibres.iter_mut().zip(rates) {
            let acceleration: Vec<Vec3> =
                rate.iter().zip(&fibre.state.rate).map(|(new, old)| (new - old) / h).collect();
            advance(&mut fibre.state, &acceleration, &self.settings.step);
            fibre.rod.check_blocks(&fibre.state.q)?;
            let clamp = fibre.motion.advanced(fibre.rod.clamp(), h);
            fibre.rod.set_clamp(clamp);
            fibre.motion = fibre.motion.after(h);
        }
        self.time += h;
        Ok(report)
    }

    /// All pairs closer than they could come in this step, sorted by key.
    pub(crate) fn find(&self, prepared: &[Sites]) -> Vec<Pair> {
        let h = self.settings.step.dt;
        let placed: Vec<_> = self.colliders.iter().map(|c| c.at(self.time + h)).collect();
        let on_colliders = |(f, p): (usize, &Sites)| {
            let mut found = Vec::new();
            let radius = self.fibres[f].radius;
            for (c, collider) in placed.iter().enumerate() {
                // The first point is held.
                for i in 1..p.points.len() {
                    let near = collider.query(&p.points[i]);
                    let gap = near.distance - collider.gap() - radius;
                    let closing = (near.velocity - p.velocities[i]).dot(&near.normal).max(0.0);
                    if gap > 2.0 * h * closing + 0.5 * radius {
                        continue;
                    }
                    found.push(Pair {
                        key: FibreContactKey::Collider {
                            fibre: f as u32,
                            point: i as u32,
                            collider: c as u32,
                        },
                        point: near.point,
                        normal: near.normal,
                        gap,
                        friction: collider.friction(),
                        velocity: near.velocity,
                        sides: vec![Side { fibre: f, point: i, weight: 0.0, sign: 1.0 }],
                    });
                }
            }
            found
        };
        let mut pairs: Vec<Pair> = prepared
            .par_iter()
            .enumerate()
            .map(on_colliders)
            .collect::<Vec<_>>()
            .into_iter()
            .flatten()
            .collect();
        if let Some(friction) = self.settings.fibre_friction {
            pairs.extend(self.between_fibres(prepared, friction));
        }
        pairs.sort_by_key(|p| p.key);
        pairs
    }

    /// Segments of different fibres (or far apart on one) that come close, through a grid.
    fn between_fibres(&self, prepared: &[Sites], friction: f64) -> Vec<Pair> {
        let h = self.settings.step.dt;
        let mut longest = 0.0f64;
        let mut fastest = 0.0f64;
        for (p, f) in prepared.iter().zip(&self.fibres) {
            for w in p.points.windows(2) {
                longest = longest.max((w[1] - w[0]).norm() + 2.0 * f.radius);
            }
            fastest = p.velocities.iter().map(|v| v.norm()).fold(fastest, f64::max);
        }
        // Nothing moves further than half a cell in a step, or steps are too long anyway.
        let reach = (2.0 * h * fastest).min(0.5 * longest);
        let cell = longest + reach;
        if !(cell > 0.0 && cell.is_finite()) {
            return Vec::new();
        }
        let place = |p: &Vec3| {
            let c = |x: f64| (x / cell).floor().clamp(-1e9, 1e9) as i64;
            (c(p.x), c(p.y), c(p.z))
        };
        let mut grid: HashMap<(i64, i64, i64), Vec<(u32, u32)>> = HashMap::new();
        for (f, p) in prepared.iter().enumerate() {
            for (i, w) in p.points.windows(2).enumerate() {
                let middle = (w[0] + w[1]) * 0.5;
                grid.entry(place(&middle)).or_default().push((f as u32, i as u32));
            }
        }
        let one = |(f, p): (usize, &Sites)| {
            let mut found = Vec::new();
            for (i, w) in p.points.windows(2).enumerate() {
                let a = [w[0], w[1]];
                let (x, y, z) = place(&((w[0] + w[1]) * 0.5));
                let mut near: Vec<(u32, u32)> = Vec::new();
                for dx in -1..=1 {
                    for dy in -1..=1 {
                        for dz in -1..=1 {
                            if let Some(list) = grid.get(&(x + dx, y + dy, z + dz)) {
                                near.extend(list);
                            }
                        }
                    }
                }
                near.sort_unstable();
                for (g, k) in near {
                    let (other, k) = (g as usize, k as usize);
                    // Each pair once; neighbours on one fibre touch by being joined.
                    if other < f || (other == f && k <= i + 2 * POINTS) {
                        continue;
                    }
                    let q = &prepared[other];
                    let b = [q.points[k], q.points[k + 1]];
                    let radii = self.fibres[f].radius + self.fibres[other].radius;
                    let between = segment_segment(&a, &b, 1e-9);
                    let distance = between.distance_squared.sqrt();
                    let gap = distance - radii;
                    let at = |v: &[Vec3], n: usize, t: f64| v[n] * (1.0 - t) + v[n + 1] * t;
                    let pa = at(&p.points, i, between.s);
                    let pb = at(&q.points, k, between.t);
                    if distance < 1e-12 {
                        continue; // crossing exactly: no side to push to
                    }
                    let normal = (pa - pb) / distance;
                    let closing = (at(&q.velocities, k, between.t)
                        - at(&p.velocities, i, between.s))
                    .dot(&normal)
                    .max(0.0);
                    if gap > 2.0 * h * closing + 0.25 * radii {
                        continue;
                    }
                    // An end inside its fibre belongs to the next segment as well: count it there.
                    let last_a = i + 2 == p.points.len();
                    let last_b = k + 2 == q.points.len();
                    if (between.s >= 1.0 && !last_a) || (between.t >= 1.0 && !last_b) {
                        continue;
                    }
                    found.push(Pair {
                        key: FibreContactKey::Fibres {
                            first: (f as u32, i as u32),
                            second: (g, k as u32),
                        },
                        point: (pa + pb) * 0.5,
                        normal,
                        gap,
                        friction,
                        velocity: Vec3::zeros(),
                        sides: vec![
                            Side { fibre: f, point: i, weight: between.s, sign: 1.0 },
                            Side { fibre: other, point: k, weight: between.t, sign: -1.0 },
                        ],
                    });
                }
            }
            found
        };
        prepared.par_iter().enumerate().map(one).collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn solve(
        &mut self,
        prepared: &[Prepared],
        sites: &[Sites],
        pairs: &[Pair],
        h: f64,
        rates: &mut [Vec<Vec3>],
        report: &mut AssemblyReport,
    ) -> Result<(), RodError> {
        let frames: Vec<Mat3> = pairs.iter().map(|p| contact_frame(&p.normal)).collect();
        let solve = |f: usize, row: &[Vec3]| prepared[f].chain.solve(row);
        let Delassus { w, touched, answers } =
            Delassus::new(&self.fibres, pairs, &frames, 0.0, solve)?;
        let count = pairs.len();
        let mut b = vec![0.0; 3 * count];
        let mu: Vec<f64> = pairs.iter().map(|p| p.friction).collect();
        for (c, pair) in pairs.iter().enumerate() {
            let mut u = -pair.velocity;
            for side in &pair.sides {
                u += side_velocity(&sites[side.fibre], side) * side.sign;
            }
            let local = frames[c].transpose() * u;
            b[3 * c] = local[0] + pair.gap / h;
            b[3 * c + 1] = local[1];
            b[3 * c + 2] = local[2];
        }
        let mut start = vec![0.0; 3 * count];
        for (c, pair) in pairs.iter().enumerate() {
            if let Some(impulse) = self.impulses.get(&pair.key) {
                let local = frames[c].transpose() * impulse;
                start[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
            }
        }
        let failed = |_| RodError::NotFinite { what: "contact problem" };
        let problem = Problem::new(&w, &b, &mu).map_err(failed)?;
        let settings = Settings {
            tolerance: self.settings.tolerance,
            max_iterations: self.settings.max_sweeps,
            ..Settings::default()
        };
        let mut found =
            GaussSeidel::default().solve(&problem, Some(&start), &settings, &|_, _| true);
        // Where sweeps stall, the other ways of the kernel take over.
        if !found.converged() && 3 * count <= DENSE_LIMIT {
            let sweeps = found.iterations;
            let few = Settings { max_iterations: 200, ..settings };
            let other = Auto.solve(&problem, Some(&found.r), &few, &|_, _| true);
            if other.residuals.alart_curnier < found.residuals.alart_curnier {
                found = other;
            }
            found.iterations += sweeps;
        }
        report.sweeps = found.iterations;
        report.residual = found.residuals.alart_curnier;
        report.converged = found.converged();
        report.penetration = pairs.iter().map(|p| -p.gap).fold(0.0, f64::max);
        self.impulses.clear();
        for (c, pair) in pairs.iter().enumerate() {
            let local = Vec3::new(found.r[3 * c], found.r[3 * c + 1], found.r[3 * c + 2]);
            let impulse = frames[c] * local;
            self.impulses.insert(pair.key, impulse);
            report.contacts.push(FibreContact {
                key: pair.key,
                point: pair.point,
                normal: pair.normal,
                force: impulse / h,
                gap: pair.gap,
                status: found.status[c],
            });
        }
        rates.par_iter_mut().enumerate().for_each(|(f, rate)| {
            for (answer, (c, _)) in answers[f].iter().zip(&touched[f]) {
                for d in 0..3 {
                    let r = found.r[3 * c + d];
                    if r != 0.0 {
                        for (x, a) in rate.iter_mut().zip(&answer[d]) {
                            *x += a * r;
                        }
                    }
                }
            }
        });
        Ok(())
    }

    /// Speed of the fastest joint \[m/s\].
    pub fn speed(&self) -> f64 {
        let one = |f: &Fibre| {
            let joints = walk(&f.rod, &f.state.q, &f.state.rate, &f.motion, 1);
            joints.1.iter().map(|v| v.norm()).fold(0.0, f64::max)
        };
        self.fibres.iter().map(one).fold(0.0, f64::max)
    }

    /// Contact points of a fibre, clamp first \[m\].
    pub fn points(&self, fibre: usize) -> Vec<Vec3> {
        sites_at_rest(&self.fibres[fibre]).points
    }
}

/// One vector per block of a fibre, for each of the three directions of a contact.
type Rows = [Vec<Vec3>; 3];

/// Row, column and block of W.
type Block = (usize, usize, Mat3);

/// W = Σ H A⁻¹ Hᵀ over the fibres, for any symmetric A per fibre, with a multiple of the identity added: `lift` times the mean of
/// the diagonal.
pub(crate) struct Delassus {
    pub(crate) w: BlockSparseOperator<3>,
    /// Contacts of each fibre: contact and side.
    pub(crate) touched: Vec<Vec<(usize, usize)>>,
    /// A⁻¹ Hᵀ for these.
    pub(crate) answers: Vec<Vec<Rows>>,
}

impl Delassus {
    pub(crate) fn new(
        fibres: &[Fibre],
        pairs: &[Pair],
        frames: &[Mat3],
        lift: f64,
        solve: impl Fn(usize, &[Vec3]) -> Vec<Vec3> + Sync,
    ) -> Result<Self, RodError> {
        let mut touched: Vec<Vec<(usize, usize)>> = vec![Vec::new(); fibres.len()];
        for (c, pair) in pairs.iter().enumerate() {
            for (s, side) in pair.sides.iter().enumerate() {
                touched[side.fibre].push((c, s));
            }
        }
        let one = |f: usize| {
            let list = &touched[f];
            let n = list.len();
            let rows = rows_of(&fibres[f], list, pairs, frames);
            let answers: Vec<Rows> =
                rows.iter().map(|row| std::array::from_fn(|d| solve(f, &row[d]))).collect();
            let mut blocks = Vec::with_capacity(n * n);
            for (i, (ci, _)) in list.iter().enumerate() {
                for (k, (ck, _)) in list.iter().enumerate() {
                    let block = Mat3::from_fn(|a, b| {
                        rows[i][a].iter().zip(&answers[k][b]).map(|(x, y)| x.dot(y)).sum::<f64>()
                    });
                    blocks.push((*ci, *ck, block));
                }
            }
            // Exactly symmetric, whatever rounding did.
            for i in 0..n {
                for k in i..n {
                    let mean = (blocks[i * n + k].2 + blocks[k * n + i].2.transpose()) * 0.5;
                    blocks[i * n + k].2 = mean;
                    blocks[k * n + i].2 = mean.transpose();
                }
            }
            (answers, blocks)
        };
        let parts: Vec<(Vec<Rows>, Vec<Block>)> =
            (0..fibres.len()).into_par_iter().map(one).collect();
        let mut entries = Vec::new();
        let mut answers = Vec::with_capacity(parts.len());
        for (answer, blocks) in parts {
            entries.extend(blocks);
            answers.push(answer);
        }
        if lift > 0.0 {
            let own = entries.iter().filter(|(i, k, _)| i == k);
            let trace: f64 = own.map(|(_, _, block)| block.trace()).sum();
            let add = Mat3::identity() * (lift * trace / (3 * pairs.len()).max(1) as f64);
            entries.extend((0..pairs.len()).map(|c| (c, c, add)));
        }
        let w = BlockSparseOperator::<3>::from_blocks(pairs.len(), entries)
            .map_err(|_| RodError::NotFinite { what: "contact problem" })?;
        Ok(Self { w, touched, answers })
    }
}

/// Normal first, then two tangents.
pub(crate) fn contact_frame(normal: &Vec3) -> Mat3 {
    let axis = Vec3::ith(normal.iamin(), 1.0);
    let t1 = normal.cross(&axis).normalize();
    Mat3::from_columns(&[*normal, t1, normal.cross(&t1)])
}

fn side_velocity(prepared: &Sites, side: &Side) -> Vec3 {
    let v = &prepared.velocities;
    let here = v[side.point] * (1.0 - side.weight);
    if side.weight > 0.0 { here + v[side.point + 1] * side.weight } else { here }
}

fn prepare(fibre: &Fibre, settings: &AssemblySettings) -> (Prepared, Sites) {
    let Fibre { rod, state, motion, .. } = fibre;
    let StepSettings { dt: h, theta, damping, .. } = settings.step;
    let moving = Moving::new(rod, state, &settings.gravity, motion);
    let chain = moving.chain(rod, theta * theta * h * h + damping * h);
    let a = chain.solve(&right_hand_side(rod, state, &moving, theta * h + damping));
    let free: Vec<Vec3> = state.rate.iter().zip(&a).map(|(v, a)| v + a * h).collect();
    // The clamp's motion at the end of the step.
    let (points, velocities) = walk(rod, &state.q, &free, &motion.after(h), POINTS);
    (Prepared { chain, free }, Sites { points, velocities })
}

/// Contact points of a fibre that does not move.
pub(crate) fn sites_at_rest(fibre: &Fibre) -> Sites {
    let still = vec![Vec3::zeros(); fibre.state.q.len()];
    let motion = ClampMotion::default();
    let (points, velocities) = walk(&fibre.rod, &fibre.state.q, &still, &motion, POINTS);
    Sites { points, velocities }
}

/// Points of a rod, `per` to an element, and their velocities at given rates; the clamp first.
fn walk(
    rod: &Rod,
    q: &[Vec3],
    rates: &[Vec3],
    motion: &ClampMotion,
    per: usize,
) -> (Vec<Vec3>, Vec<Vec3>) {
    let clamp = rod.clamp();
    let (mut points, mut velocities) = (vec![clamp.position], vec![motion.velocity]);
    let (mut frame, mut r) = (clamp.frame, clamp.position);
    let (mut spin, mut velocity) = (motion.spin, motion.velocity);
    for e in 0..rod.lengths().len() {
        let arc = rod.arc(q, e);
        let mut rate = toile_num::Vector::<6>::zeros();
        for (s, block) in rod.blocks_of(e).iter().enumerate() {
            if let Some(block) = block {
                rate.fixed_rows_mut::<3>(3 * s).copy_from(&rates[*block]);
            }
        }
        for k in 1..per {
            let node = arc.end(&frame, arc.length * k as f64 / per as f64);
            points.push(r + node.r);
            velocities.push(velocity + spin.cross(&node.r) + node.j * rate);
        }
        let end = arc.end(&frame, arc.length);
        points.push(r + end.r);
        velocity += spin.cross(&end.r) + end.j * rate;
        velocities.push(velocity);
        spin += end.theta * rate;
        (frame, r) = (end.frame, r + end.r);
    }
    (points, velocities)
}

/// Rows of H for the contacts of one fibre: per contact and direction, one vector per block.
fn rows_of(fibre: &Fibre, list: &[(usize, usize)], pairs: &[Pair], frames: &[Mat3]) -> Vec<Rows> {
    if list.is_empty() {
        return Vec::new();
    }
    let rod = &fibre.rod;
    let blocks = rod.blocks();
    // ∂(point)/∂q for all contact points in use.
    let mut wanted: Vec<usize> = Vec::new();
    for (c, s) in list {
        let side = &pairs[*c].sides[*s];
        wanted.push(side.point);
        if side.weight > 0.0 {
            wanted.push(side.point + 1);
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    let last = wanted[wanted.len() - 1];
    let mut jacobians: HashMap<usize, Vec<Mat3>> = HashMap::new();
    // Point 0 is the clamp and does not move.
    jacobians.insert(0, vec![Mat3::zeros(); blocks]);
    let mut theta = vec![Mat3::zeros(); blocks];
    let mut moved = vec![Mat3::zeros(); blocks];
    let mut frame = rod.clamp().frame;
    for e in 0..rod.lengths().len() {
        if POINTS * e >= last {
            break;
        }
        let arc = rod.arc(&fibre.state.q, e);
        for k in 1..=POINTS {
            let index = POINTS * e + k;
            let at_end = k == POINTS;
            let used = wanted.binary_search(&index).is_ok();
            if !used && !at_end {
                continue;
            }
            let node = arc.end(&frame, arc.length * k as f64 / POINTS as f64);
            let arm = cross_matrix(&node.r);
            let mut here: Vec<Mat3> = moved.iter().zip(&theta).map(|(m, t)| m - arm * t).collect();
            for (s, block) in rod.blocks_of(e).iter().enumerate() {
                if let Some(block) = block {
                    here[*block] += node.j.fixed_columns::<3>(3 * s);
                }
            }
            if at_end {
                for (s, block) in rod.blocks_of(e).iter().enumerate() {
                    if let Some(block) = block {
                        theta[*block] += node.theta.fixed_columns::<3>(3 * s);
                    }
                }
                moved.clone_from(&here);
                frame = node.frame;
            }
            if used {
                jacobians.insert(index, here);
            }
        }
    }
    list.iter()
        .map(|(c, s)| {
            let side = &pairs[*c].sides[*s];
            let a = &jacobians[&side.point];
            let b = if side.weight > 0.0 { Some(&jacobians[&(side.point + 1)]) } else { None };
            std::array::from_fn(|d| {
                let direction: Vec3 = frames[*c].column(d) * side.sign;
                (0..blocks)
                    .map(|k| {
                        let mut j = a[k] * (1.0 - side.weight);
                        if let Some(b) = b {
                            j += b[k] * side.weight;
                        }
                        j.tr_mul(&direction)
                    })
                    .collect()
            })
        })
        .collect()
}
