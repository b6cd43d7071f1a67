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

    /// Judges a shape under gravity.
    pub fn certify(&self, q: &[Vec3], gravity: &Vec3) -> Result<RodCertificate, RodError> {
        self.check(q)?;
        let point = self.evaluate(q, gravity);
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
        let count = self.branches.len();
        let moving = self.moving(state, gravity, motion);
        // Tip to root: forms, forces, and the first half of the solution.
        let growths = self.growths();
        let (h, theta, nu) = (settings.dt, settings.theta, settings.damping);
        let mut crowns: Vec<Option<Matrix<6, 6>>> = vec![None; count];
        let mut wrenches: Vec<Option<Vector<6>>> = vec![None; count];
        let mut handed: Vec<Option<Vector<6>>> = vec![None; count];
        let mut halves: Vec<Option<(Chain, Inward)>> = vec![None; count];
        for i in (0..count).rev() {
            let Going { rod, state: own, parts, .. } = &moving[i];
            let borne = at_joint(&growths, i, &crowns);
            let chain = parts.chain_bearing(rod, theta * theta * h * h + nu * h, borne);
            let (loads, wrench) =
                parts.projected(rod, &parts.loads, at_joint(&growths, i, &wrenches));
            let f = with_elasticity(rod, own, &loads, theta * h + nu);
            let inward = chain.inward(&f, at_joint(&growths, i, &handed));
            (crowns[i], wrenches[i]) = (Some(chain.crown()), Some(wrench));
            handed[i] = Some(inward.handed);
            halves[i] = Some((chain, inward));
        }
        let halves = halves.iter().map(|h| h.as_ref().map(|(c, i)| (c, i.clone()))).collect();
        Ok(outward(&growths, halves))
    }

    /// Where every branch is: its rod with its clamp, its part of the state, and how its clamp moves. `motion` is that of all clamps.
    pub(crate) fn moved(
        &self,
        state: &RodState,
        motion: &ClampMotion,
    ) -> Result<Vec<(Rod, RodState, ClampMotion)>, RodError> {
        self.check(&state.q)?;
        self.check(&state.rate)?;
        let all = self.moving(state, &Vec3::zeros(), motion);
        Ok(all.into_iter().map(|g| (g.rod, g.state, g.root)).collect())
    }

    /// Puts the clamps of branches that do not grow.
    pub(crate) fn set_clamps(&mut self, clamps: impl Iterator<Item = Clamp>) {
        for (branch, clamp) in self.branches.iter_mut().zip(clamps) {
            if branch.growth.is_none() {
                branch.rod.set_clamp(clamp);
            }
        }
    }

    /// Root to tip: where every branch is and how it moves.
    fn moving(&self, state: &RodState, gravity: &Vec3, motion: &ClampMotion) -> Vec<Going> {
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
            let parts = Moving::traced(&rod, &state, gravity, &root, |_, c, m| list.push((c, m)));
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
        for Going { rod, state, root, .. } in self.moving(state, gravity, motion) {
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

/// The clamp of a branch that grows from a joint.
fn grown(joint: &Clamp, growth: &Growth) -> Clamp {
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

/// Root to tip: the second half of a solution.
fn outward(growths: &[Option<Growth>], halves: Vec<Option<(&Chain, Inward)>>) -> Vec<Vec3> {
    let mut out = Vec::new();
    let mut moves: Vec<Vec<Vector<6>>> = Vec::with_capacity(halves.len());
    for (growth, half) in growths.iter().zip(halves) {
        let mut list = Vec::new();
        if let Some((chain, inward)) = half {
            let root = growth.map_or(Vector::zeros(), |g| moves[g.parent][g.joint]);
            out.extend(chain.outward(inward, &root, |_, z| list.push(z)));
        }
        moves.push(list);
    }
    out
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
    chains: Vec<Chain>,
}

impl Factor for TreeChain {
    fn not_positive(&self) -> usize {
        self.chains.iter().map(Factor::not_positive).sum()
    }

    fn solve(&self, f: &[Vec3]) -> Vec<Vec3> {
        let count = self.chains.len();
        let mut handed: Vec<Option<Vector<6>>> = vec![None; count];
        let mut halves: Vec<Option<(&Chain, Inward)>> = vec![None; count];
        let mut end = f.len();
        for i in (0..count).rev() {
            let part = &f[end - self.blocks[i]..end];
            end -= self.blocks[i];
            let inward = self.chains[i].inward(part, at_joint(&self.growths, i, &handed));
            handed[i] = Some(inward.handed);
            halves[i] = Some((&self.chains[i], inward));
        }
        outward(&self.growths, halves)
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
        let rods = self.place(q);
        let parts: Vec<&[Vec3]> = self.parts(q).map(|p| p.2).collect();
        let growths = self.growths();
        let mut hung: Vec<Option<Hung>> = vec![None; rods.len()];
        let mut shapes = Vec::with_capacity(rods.len());
        let (mut energy, mut gradients) = (0.0, Vec::with_capacity(rods.len()));
        for (i, rod) in rods.into_iter().enumerate().rev() {
            let loads = Loads::weight(rod.section(), *gravity);
            let borne = at_joint(&growths, i, &hung);
            let (shape, beyond, _) = Shape::bearing(&rod, parts[i], &loads, borne, true);
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
