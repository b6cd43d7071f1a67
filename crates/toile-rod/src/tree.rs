//! Trees of rods: branches grow from the joints of others, and everything moves together.
//!
//! What lies beyond a joint asks of it a quadratic form and a force in its motion (δr, δθ) only, so a branch is factorised and
//! solved as a rod whose root moves: its crown is added where it grows, tip to root, and the motion found there is handed on, root
//! to tip. Time stays linear in the elements. Reference: Bertails 2009; Bertails-Descoubes 2017, §2.4.

use toile_num::{Matrix, Vector};

use crate::certificate::{judged, residual_n};
use crate::chain::{Chain, Inward};
use crate::forms::{Hung, Mix, Shape};
use crate::motion::{
    ClampMotion, Moving, RodState, StepSettings, advance, energies, with_elasticity,
};
use crate::rod::{Clamp, Loads, Rod, Station};
use crate::rotation::{Mat3, Vec3, straightened};
use crate::statics::{Body, Factor, Point, RodEquilibrium, StaticSettings, elastic_energy, follow};
use crate::turning::Turning;
use crate::{RodCertificate, RodError};

/// Where a branch grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The branch that bears it, by its place in the tree.
    pub parent: usize,
    /// The joint of that branch, the root being 0.
    pub joint: usize,
    /// Its first frame in the axes of the parent's frame there.
    pub turn: Mat3,
}

/// A rod of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The rod; its clamp is used where it does not grow from another.
    pub rod: Rod,
    /// Where it grows; `None` where it is clamped.
    pub growth: Option<Growth>,
}

/// Rods that grow from each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    branches: Vec<Branch>,
}

impl Tree {
    /// Branches, each after the one that bears it.
    pub fn new(branches: Vec<Branch>) -> Result<Self, RodError> {
        if branches.is_empty() {
            return Err(RodError::Count { what: "branches", found: 0, expected: 1 });
        }
        let mut branches = branches;
        for i in 0..branches.len() {
            let Some(growth) = branches[i].growth else { continue };
            let joints = |b: &Branch| b.rod.lengths().len() + 1;
            let bears = branches[..i].get(growth.parent).is_some_and(|p| growth.joint < joints(p));
            if !bears {
                let (parent, joint) = (growth.parent, growth.joint);
                return Err(RodError::Growth { branch: i, parent, joint });
            }
            let by = (growth.turn.transpose() * growth.turn - Mat3::identity()).norm();
            if by.is_nan() || by > 1e-6 || growth.turn.determinant() < 0.0 {
                return Err(RodError::Frame { by });
            }
            branches[i].growth = Some(Growth { turn: straightened(&growth.turn), ..growth });
        }
        Ok(Self { branches })
    }

    /// The branches.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Unknown vectors of all branches.
    pub fn blocks(&self) -> usize {
        self.branches.iter().map(|b| b.rod.blocks()).sum()
    }

    /// Elements of all branches.
    pub fn elements(&self) -> usize {
        self.branches.iter().map(|b| b.rod.lengths().len()).sum()
    }

    /// The natural curvatures.
    pub fn rest(&self) -> Vec<Vec3> {
        self.branches.iter().flat_map(|b| b.rod.rest()).collect()
    }

    /// The part of each branch.
    fn parts<'a>(&'a self, q: &'a [Vec3]) -> impl Iterator<Item = (usize, &'a Rod, &'a [Vec3])> {
        let mut from = 0;
        self.branches.iter().enumerate().map(move |(i, b)| {
            let part = &q[from..from + b.rod.blocks()];
            from += b.rod.blocks();
            (i, &b.rod, part)
        })
    }

    fn check(&self, q: &[Vec3]) -> Result<(), RodError> {
        let (found, expected) = (q.len(), self.blocks());
        if found != expected {
            return Err(RodError::Count { what: "curvature vectors", found, expected });
        }
        self.parts(q).try_for_each(|(_, rod, q)| rod.check_blocks(q))
    }

    /// The branches with their clamps where the shape puts them.
    pub fn placed(&self, q: &[Vec3]) -> Result<Vec<Rod>, RodError> {
        self.check(q)?;
        Ok(self.place(q))
    }

    fn place(&self, q: &[Vec3]) -> Vec<Rod> {
        let mut rods: Vec<Rod> = Vec::with_capacity(self.branches.len());
        let mut joints: Vec<Vec<Clamp>> = Vec::with_capacity(self.branches.len());
        for (i, rod, q) in self.parts(q) {
            let mut rod = rod.clone();
            if let Some(growth) = &self.branches[i].growth {
                rod.set_clamp(grown(&joints[growth.parent][growth.joint], growth));
            }
            let mut at = *rod.clamp();
            let mut list = vec![at];
            for e in 0..rod.lengths().len() {
                let (frame, step) = rod.arc(q, e).reach(&at.frame, rod.lengths()[e]);
                at = Clamp { position: at.position + step, frame: straightened(&frame) };
                list.push(at);
            }
            rods.push(rod);
            joints.push(list);
        }
        rods
    }

    /// `count` stations at equal arclengths of every branch.
    pub fn equal_stations(&self, q: &[Vec3], count: usize) -> Result<Vec<Vec<Station>>, RodError> {
        let rods = self.placed(q)?;
        Ok(self.parts(q).zip(rods).map(|((_, _, q), rod)| rod.equal_stations(q, count)).collect())
    }

    fn growths(&self) -> Vec<Option<Growth>> {
        self.branches.iter().map(|b| b.growth).collect()
    }

    /// The equilibrium under gravity \[m/s²\], reached from the natural shape as the weight grows from nothing.
    pub fn equilibrium(
        &self,
        gravity: &Vec3,
        settings: &StaticSettings,
    ) -> Result<RodEquilibrium, RodError> {
        if !gravity.iter().all(|x| x.is_finite()) {
            return Err(RodError::NotFinite { what: "gravity" });
        }
        let found = follow(self, self.rest(), 0.0, gravity, settings);
        let certificate = self.certify(&found.q, gravity)?;
        let elastic: f64 =
            self.parts(&found.q).map(|(_, rod, q)| elastic_energy(rod, q, &rod.elastic(q))).sum();
        let energy = self.evaluate(&found.q, gravity).energy;
        Ok(RodEquilibrium {
            q: found.q,
            elastic_energy: elastic,
            load_energy: energy - elastic,
            steps: found.steps,
            escapes: found.escapes,
            fraction: found.fraction,
            certificate,
        })
    }

    /// Energy, gradient and forms under gravity and further dead forces at the joints of every branch \[N\], root first; empty for
    /// none. The energy of these is not counted.
    pub(crate) fn evaluate_held(
        &self,
        q: &[Vec3],
        gravity: &Vec3,
        at_joints: &[Vec<Vec3>],
    ) -> Point<Vec<(Rod, Shape)>> {
        let rods = self.place(q);
        let parts: Vec<&[Vec3]> = self.parts(q).map(|p| p.2).collect();
        let growths = self.growths();
        let mut hung: Vec<Option<Hung>> = vec![None; rods.len()];
        let mut shapes = Vec::with_capacity(rods.len());
        let (mut energy, mut gradients) = (0.0, Vec::with_capacity(rods.len()));
        for (i, rod) in rods.into_iter().enumerate().rev() {
            let loads = Loads::weight(rod.section(), *gravity);
            let borne = at_joint(&growths, i, &hung);
            let pushed = |joint: usize| {
                let force = *at_joints.get(i)?.get(joint)?;
                Some(Hung { force, tensor: Mat3::zeros() })
            };
            let both = |joint: usize| match (borne(joint), pushed(joint)) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
            let (shape, beyond, _) = Shape::bearing(&rod, parts[i], &loads, both, true);
            hung[i] = Some(beyond);
            let kq = rod.elastic(parts[i]);
            energy += elastic_energy(&rod, parts[i], &kq) + shape.load_energy;
            let sum = |((k, b), g): ((&Vec3, &Vec3), &Vec3)| k - b + g;
            let gradient: Vec<Vec3> =
                kq.iter().zip(rod.rest_moment()).zip(&shape.load_gradient).map(sum).collect();
            gradients.push(gradient);
            shapes.push((rod, shape));
        }
        shapes.reverse();
        let gradient = gradients.into_iter().rev().flatten().collect();
        Point { shape: shapes, energy, gradient }
    }

    /// ∂E/∂q of the weight alone, what every branch bears included \[N·m²\].
    pub(crate) fn load_gradient(&self, q: &[Vec3], gravity: &Vec3) -> Result<Vec<Vec3>, RodError> {
        self.check(q)?;
        let all = self.evaluate_held(q, gravity, &[]).gradient;
        let own = self.parts(q).flat_map(|(_, rod, q)| {
            let elastic = rod.elastic(q).into_iter().zip(rod.rest_moment());
            elastic.map(|(k, b)| k - b).collect::<Vec<Vec3>>()
        });
        Ok(all.iter().zip(own).map(|(g, own)| g - own).collect())
    }

    /// Judges a shape under gravity.
    pub fn certify(&self, q: &[Vec3], gravity: &Vec3) -> Result<RodCertificate, RodError> {
        self.certify_held(q, gravity, &[])
    }

    /// Judges a shape that forces at the joints help to hold: dead ones, as for a rod.
    pub(crate) fn certify_held(
        &self,
        q: &[Vec3],
        gravity: &Vec3,
        at_joints: &[Vec<Vec3>],
    ) -> Result<RodCertificate, RodError> {
        self.check(q)?;
        let point = self.evaluate_held(q, gravity, at_joints);
        let residual_n =
            (self.parts(&point.gradient)).map(|(_, rod, g)| residual_n(rod, g)).fold(0.0, f64::max);
        let mass: f64 =
            self.branches.iter().map(|b| b.rod.section().linear_density * b.rod.length()).sum();
        let joints = (self.elements() + self.branches.len()) as f64;
        let weight = mass * gravity.norm();
        let unit = if weight > 0.0 { weight } else { self.scales().0 / self.length().powi(2) };
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(-f64::INFINITY));
        for station in self.equal_stations(q, 21)?.iter().flatten() {
            (low, high) = (low.inf(&station.position), high.sup(&station.position));
        }
        let residual = residual_n * joints / unit;
        Ok(judged(self, &point.shape, residual, residual_n, (high - low).norm()))
    }

    /// Accelerations q̈ of one step, in linear time. `motion` is that of all clamps.
    pub fn acceleration(
        &self,
        state: &RodState,
        gravity: &Vec3,
        motion: &ClampMotion,
        settings: &StepSettings,
    ) -> Result<Vec<Vec3>, RodError> {
        self.check(&state.q)?;
        self.check(&state.rate)?;
        if !(settings.dt > 0.0 && settings.dt.is_finite()) {
            return Err(RodError::NotPositive { what: "time step", value: settings.dt });
        }
        let turning = Turning::of_step(settings, motion);
        let moving = self.moving(state, gravity, motion, Some(&turning));
        let parts: Vec<(&Rod, &RodState, &Moving)> =
            moving.iter().map(|g| (&g.rod, &g.state, &g.parts)).collect();
        Ok(accelerated(&self.growths(), &parts, settings).1.concat())
    }

    /// Root to tip: where every branch is and how it moves.
    fn moving(
        &self,
        state: &RodState,
        gravity: &Vec3,
        motion: &ClampMotion,
        turning: Option<&Turning>,
    ) -> Vec<Going> {
        let count = self.branches.len();
        let mut moving: Vec<Going> = Vec::with_capacity(count);
        let mut joints: Vec<Vec<(Clamp, ClampMotion)>> = Vec::with_capacity(count);
        for ((i, rod, q), (_, _, rate)) in self.parts(&state.q).zip(self.parts(&state.rate)) {
            let (mut rod, mut root) = (rod.clone(), *motion);
            if let Some(growth) = &self.branches[i].growth {
                let (clamp, moves) = joints[growth.parent][growth.joint];
                rod.set_clamp(grown(&clamp, growth));
                root = moves;
            }
            let state = RodState { q: q.to_vec(), rate: rate.to_vec() };
            let mut list = Vec::with_capacity(rod.lengths().len() + 1);
            let note = |_, c, m| list.push((c, m));
            let parts = Moving::traced(&rod, &state, gravity, &root, turning, note);
            joints.push(list);
            moving.push(Going { rod, state, root, parts });
        }
        moving
    }

    /// Takes one step; clamps are moved as well.
    pub fn step(
        &mut self,
        state: &mut RodState,
        gravity: &Vec3,
        motion: &mut ClampMotion,
        settings: &StepSettings,
    ) -> Result<(), RodError> {
        let a = self.acceleration(state, gravity, motion, settings)?;
        advance(state, &a, settings);
        self.check(&state.q)?;
        for branch in self.branches.iter_mut().filter(|b| b.growth.is_none()) {
            let clamp = motion.advanced(branch.rod.clamp(), settings.dt);
            branch.rod.set_clamp(clamp);
        }
        *motion = motion.after(settings.dt);
        Ok(())
    }

    /// Kinetic and elastic energy and the potential of the weight from the origin \[J\].
    pub fn energies(
        &self,
        state: &RodState,
        gravity: &Vec3,
        motion: &ClampMotion,
    ) -> Result<[f64; 3], RodError> {
        self.check(&state.q)?;
        self.check(&state.rate)?;
        let mut sum = [0.0; 3];
        for Going { rod, state, root, .. } in self.moving(state, gravity, motion, None) {
            let part = energies(&rod, &state, gravity, &root)?;
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
        }
        Ok(sum)
    }
}

/// A branch where it is, and how it moves.
struct Going {
    rod: Rod,
    state: RodState,
    /// Motion of its clamp.
    root: ClampMotion,
    parts: Moving,
}

/// Factorised forms and accelerations of branches in motion, each after the one that bears it: tip to root, then back.
pub(crate) fn accelerated(
    growths: &[Option<Growth>],
    moving: &[(&Rod, &RodState, &Moving)],
    settings: &StepSettings,
) -> (Vec<Chain>, Vec<Vec<Vec3>>) {
    let count = moving.len();
    let (h, theta, nu) = (settings.dt, settings.theta, settings.damping);
    let mut crowns: Vec<Option<Matrix<6, 6>>> = vec![None; count];
    let mut wrenches: Vec<Option<Vector<6>>> = vec![None; count];
    let (mut chains, mut right) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (i, (rod, state, parts)) in moving.iter().enumerate().rev() {
        let borne = at_joint(growths, i, &crowns);
        let chain = parts.chain_bearing(rod, theta * theta * h * h + nu * h, borne);
        let (loads, wrench) = parts.projected(rod, &parts.loads, at_joint(growths, i, &wrenches));
        right.push(with_elasticity(rod, state, &loads, theta * h + nu));
        (crowns[i], wrenches[i]) = (Some(chain.crown()), Some(wrench));
        chains.push(chain);
    }
    chains.reverse();
    right.reverse();
    let found = solved(growths, &chains.iter().collect::<Vec<_>>(), |i, handed| {
        chains[i].inward(&right[i], handed)
    });
    (chains, found)
}

/// A solution for branches whose first half each finds with what others hand to its joints.
pub(crate) fn solved(
    growths: &[Option<Growth>],
    chains: &[&Chain],
    first: impl Fn(usize, &dyn Fn(usize) -> Option<Vector<6>>) -> Inward,
) -> Vec<Vec<Vec3>> {
    let count = chains.len();
    let mut handed: Vec<Option<Vector<6>>> = vec![None; count];
    let mut halves: Vec<Inward> = Vec::with_capacity(count);
    for i in (0..count).rev() {
        let half = first(i, &at_joint(growths, i, &handed));
        handed[i] = Some(half.handed);
        halves.push(half);
    }
    let mut moves: Vec<Vec<Vector<6>>> = Vec::with_capacity(count);
    let mut out = Vec::with_capacity(count);
    for ((growth, chain), half) in growths.iter().zip(chains).zip(halves.into_iter().rev()) {
        let root = growth.map_or(Vector::zeros(), |g| moves[g.parent][g.joint]);
        let mut list = Vec::new();
        out.push(chain.outward(half, &root, |_, z| list.push(z)));
        moves.push(list);
    }
    out
}

/// The clamp of a branch that grows from a joint.
pub(crate) fn grown(joint: &Clamp, growth: &Growth) -> Clamp {
    Clamp { position: joint.position, frame: straightened(&(joint.frame * growth.turn)) }
}

/// Sums of what branches hand to each joint of the branch that bears them.
fn at_joint<T: Copy + std::ops::Add<Output = T>>(
    growths: &[Option<Growth>],
    bearer: usize,
    handed: &[Option<T>],
) -> impl Fn(usize) -> Option<T> + use<T> {
    let list: Vec<(usize, T)> = (growths.iter().zip(handed).skip(bearer + 1))
        .filter_map(|(growth, handed)| {
            let growth = growth.filter(|g| g.parent == bearer)?;
            Some((growth.joint, (*handed)?))
        })
        .collect();
    move |joint| list.iter().filter(|l| l.0 == joint).map(|l| l.1).reduce(|a, b| a + b)
}

impl std::ops::Add for Hung {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { force: self.force + other.force, tensor: self.tensor + other.tensor }
    }
}

/// The factorised form of a tree.
pub(crate) struct TreeChain {
    growths: Vec<Option<Growth>>,
    blocks: Vec<usize>,
    /// Those of the branches.
    pub(crate) chains: Vec<Chain>,
}

impl Factor for TreeChain {
    fn not_positive(&self) -> usize {
        self.chains.iter().map(Factor::not_positive).sum()
    }

    fn blocks(&self) -> usize {
        self.blocks.iter().sum()
    }

    fn solve(&self, f: &[Vec3]) -> Vec<Vec3> {
        let mut from = 0;
        let ends = self.blocks.iter().map(|blocks| {
            from += blocks;
            from - blocks..from
        });
        let ranges: Vec<_> = ends.collect();
        let chains: Vec<&Chain> = self.chains.iter().collect();
        let first = |i: usize, handed: &dyn Fn(usize) -> Option<Vector<6>>| {
            self.chains[i].inward(&f[ranges[i].clone()], handed)
        };
        solved(&self.growths, &chains, first).concat()
    }
}

impl Body for Tree {
    /// Gravity.
    type Loads = Vec3;
    type Shape = Vec<(Rod, Shape)>;
    type Factor = TreeChain;

    fn scaled(gravity: &Vec3, factor: f64) -> Vec3 {
        gravity * factor
    }

    fn evaluate(&self, q: &[Vec3], gravity: &Vec3) -> Point<Self::Shape> {
        self.evaluate_held(q, gravity, &[])
    }

    fn factorise(&self, shapes: &Self::Shape, mix: Mix) -> TreeChain {
        let growths = self.growths();
        let mut crowns: Vec<Option<Matrix<6, 6>>> = vec![None; shapes.len()];
        let mut chains = Vec::with_capacity(shapes.len());
        for (i, (rod, shape)) in shapes.iter().enumerate().rev() {
            let chain = shape.chain_bearing(rod, mix, at_joint(&growths, i, &crowns));
            crowns[i] = Some(chain.crown());
            chains.push(chain);
        }
        chains.reverse();
        let blocks = self.branches.iter().map(|b| b.rod.blocks()).collect();
        TreeChain { growths, blocks, chains }
    }

    fn elastic(&self, q: &[Vec3]) -> Vec<Vec3> {
        self.parts(q).flat_map(|(_, rod, q)| rod.elastic(q)).collect()
    }

    fn solve_elastic(&self, f: &[Vec3]) -> Vec<Vec3> {
        self.parts(f).flat_map(|(_, rod, f)| rod.solve_elastic(f)).collect()
    }

    /// The longest branch.
    fn length(&self) -> f64 {
        self.branches.iter().map(|b| b.rod.length()).fold(0.0, f64::max)
    }

    fn scales(&self) -> (f64, f64) {
        let sections = || self.branches.iter().map(|b| b.rod.section());
        (
            sections().map(|s| s.stiffness().max()).fold(0.0, f64::max),
            sections().map(|s| s.linear_density).fold(f64::INFINITY, f64::min),
        )
    }
}
