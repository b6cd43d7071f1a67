//! What moves together: a fibre that stands alone, or fibres that grow from each other.
//!
//! Every fibre has a chain of its own. Where it bears others their crowns are part of it, and what acts on one is handed on to what
//! bears it, so solutions, velocities and compliances of joints go through the whole body.

use std::collections::HashSet;

use toile_num::Vector;
use toile_num::parallel::{map_items, try_map};

use crate::assembly::{Fibre, GRAIN};
use crate::chain::{Chain, Compliance, STATE};
use crate::forms::Mix;
use crate::motion::{ClampMotion, Moving};
use crate::rod::{Clamp, Loads};
use crate::rotation::{Mat3, Vec3};
use crate::statics::{Body as _, evaluate_held, falling_mode};
use crate::supple::Supple;
use crate::tree::{Branch, Growth, Tree, grown, solved};
use crate::{RodCertificate, RodError};

type Matrix<const R: usize, const C: usize> = toile_num::Matrix<R, C>;

/// One fibre, or such as grow from each other, each after the one that bears it.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Their places in the assembly.
    pub(crate) fibres: Vec<usize>,
    /// Where each grows; parents are places in `fibres`.
    pub(crate) growths: Vec<Option<Growth>>,
    /// Number of the first joint of each among those of the body.
    first: Vec<usize>,
}

impl Body {
    /// The only fibre, where there is only one.
    pub(crate) fn alone(&self) -> Option<usize> {
        match self.fibres[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// Changes of the unknowns by forces at the joints \[N\] of all fibres of the assembly.
    pub(crate) fn pushed<F: Supple>(&self, chains: &[&F], forces: &[Vec<Vec3>]) -> Vec<Vec<Vec3>> {
        if let Some(f) = self.alone() {
            return vec![chains[f].pushed(&forces[f])];
        }
        let own = self.own(chains);
        solved(&self.growths, &own, |i, handed| {
            let forces = &forces[self.fibres[i]];
            let push = |joint: usize| {
                let mut wrench = handed(joint).unwrap_or_else(Vector::zeros);
                let mut force = wrench.fixed_rows_mut::<3>(0);
                force += forces[joint];
                Some(wrench)
            };
            own[i].inward(&vec![Vec3::zeros(); own[i].blocks()], push)
        })
    }

    /// The factorised forms solved for right-hand sides of all fibres of the assembly.
    pub(crate) fn solve<F: Supple>(&self, chains: &[&F], right: &[Vec<Vec3>]) -> Vec<Vec<Vec3>> {
        if let Some(f) = self.alone() {
            return vec![chains[f].solve(&right[f])];
        }
        let own = self.own(chains);
        solved(&self.growths, &own, |i, handed| own[i].inward(&right[self.fibres[i]], handed))
    }

    fn own<'a, F: Supple>(&self, chains: &[&'a F]) -> Vec<&'a Chain> {
        self.fibres.iter().filter_map(|f| chains[*f].chain()).collect()
    }

    /// Velocities of the joints of each fibre at rates of the unknowns and motion of the clamp.
    pub(crate) fn velocities<'a, F: Supple + 'a>(
        &self,
        chain: impl Fn(usize) -> &'a F,
        rates: impl Fn(usize) -> &'a [Vec3],
        motion: &ClampMotion,
    ) -> Vec<Vec<Vec3>> {
        if let Some(f) = self.alone() {
            return vec![chain(f).velocities(rates(f), motion)];
        }
        let mut moves: Vec<Vec<Vector<6>>> = Vec::with_capacity(self.fibres.len());
        for (f, growth) in self.fibres.iter().zip(&self.growths) {
            let root = match growth {
                Some(g) => moves[g.parent][g.joint],
                None => {
                    let (v, w) = (motion.velocity, motion.spin);
                    Vector::<6>::new(v.x, v.y, v.z, w.x, w.y, w.z)
                }
            };
            let mut list = Vec::new();
            if let Some(chain) = chain(*f).chain() {
                chain.joint_motions(rates(*f), &root, |z| list.push(z));
            }
            moves.push(list);
        }
        let linear = |z: &Vector<6>| Vec3::from(z.fixed_rows::<3>(0));
        moves.iter().map(|list| list.iter().map(linear).collect()).collect()
    }

    /// J A⁻¹ Jᵀ at pairs of joints, by their numbers in the body, ascending; of more joints than asked for where some bear fibres.
    ///
    /// As along a chain ([`Chain::compliance`]); where a fibre grows, covariances begin with those of the joint that bears it.
    pub(crate) fn compliance<F: Supple>(&self, chains: &[&F], joints: &[usize]) -> Compliance {
        if let Some(f) = self.alone() {
            return chains[f].compliance(joints);
        }
        let own_chains = self.own(chains);
        let mut asked = joints.to_vec();
        asked.extend(self.growths.iter().flatten().map(|g| self.first[g.parent] + g.joint));
        asked.sort_unstable();
        asked.dedup();
        let count = asked.len();
        let mut blocks = vec![Matrix::<6, 6>::zeros(); count * count];
        let mut next = 0;
        for (i, growth) in self.growths.iter().enumerate() {
            let chain = own_chains[i];
            let (follows, mut own) = chain.root_spread();
            let mut columns: Vec<Matrix<STATE, 6>> = vec![Matrix::zeros(); next];
            if let Some(g) = growth {
                let number = self.first[g.parent] + g.joint;
                let bearer = asked.partition_point(|j| *j < number);
                own += follows * blocks[bearer * count + bearer] * follows.transpose();
                for (k, column) in columns.iter_mut().enumerate() {
                    *column = follows * blocks[bearer * count + k];
                }
            }
            let mut joint = self.first[i];
            let mut spreads = chain.spreads();
            let end = self.first.get(i + 1).copied().unwrap_or(usize::MAX);
            while next < count && asked[next] < end {
                while joint < asked[next] {
                    let Some((spread, added)) = spreads.next() else { break };
                    own = spread * own * spread.transpose() + added;
                    columns.iter_mut().for_each(|column| *column = spread * *column);
                    joint += 1;
                }
                for (k, column) in columns.iter().enumerate() {
                    let block: Matrix<6, 6> = column.fixed_rows::<6>(0).into();
                    blocks[next * count + k] = block;
                    blocks[k * count + next] = block.transpose();
                }
                let here: Matrix<6, 6> = own.fixed_view::<6, 6>(0, 0).into();
                blocks[next * count + next] = (here + here.transpose()) * 0.5;
                columns.push(own.fixed_columns::<6>(0).into());
                next += 1;
            }
        }
        let corner = |b: &Matrix<6, 6>| Mat3::from(b.fixed_view::<3, 3>(0, 0));
        Compliance::new(asked, blocks.iter().map(corner).collect())
    }

    /// Where the fibres that grow are, and how their clamps move, by what bears them.
    fn places(&self, fibres: &[Fibre]) -> Vec<(usize, Clamp, ClampMotion)> {
        let mut joints: Vec<Vec<(Clamp, ClampMotion)>> = Vec::with_capacity(self.fibres.len());
        let mut out = Vec::new();
        for (f, growth) in self.fibres.iter().zip(&self.growths) {
            let Fibre { rod, state, motion, .. } = &fibres[*f];
            let (mut rod, mut motion) = (rod.clone(), *motion);
            if let Some(growth) = growth {
                let (clamp, moves) = joints[growth.parent][growth.joint];
                rod.set_clamp(grown(&clamp, growth));
                motion = moves;
                out.push((*f, *rod.clamp(), motion));
            }
            let mut list = Vec::with_capacity(rod.lengths().len() + 1);
            let note = |_, c, m| list.push((c, m));
            Moving::traced(&rod, state, &Vec3::zeros(), &motion, None, note);
            joints.push(list);
        }
        out
    }

    fn tree(&self, fibres: &[Fibre]) -> Result<(Tree, Vec<Vec3>), RodError> {
        let one = |(f, growth): (&usize, &Option<Growth>)| Branch {
            rod: fibres[*f].rod.clone(),
            growth: *growth,
        };
        let tree = Tree::new(self.fibres.iter().zip(&self.growths).map(one).collect())?;
        let q = self.fibres.iter().flat_map(|f| fibres[*f].state.q.iter().copied()).collect();
        Ok((tree, q))
    }

    /// Gradient and factorised mix of each fibre that rests under gravity and forces at its joints.
    pub(crate) fn held(
        &self,
        fibres: &[Fibre],
        gravity: &Vec3,
        forces: &[Vec<Vec3>],
        mix: Mix,
    ) -> Result<Vec<(Vec<Vec3>, Chain)>, RodError> {
        if let Some(f) = self.alone() {
            let Fibre { rod, state, .. } = &fibres[f];
            let loads = Loads::weight(rod.section(), *gravity);
            let point = evaluate_held(rod, &state.q, &loads, &forces[f], true);
            let chain = point.shape.chain(rod, mix);
            return Ok(vec![(point.gradient, chain)]);
        }
        let (tree, q) = self.tree(fibres)?;
        let point = tree.evaluate_held(&q, gravity, &self.part(forces));
        let chains = tree.factorise(&point.shape, mix).chains;
        Ok(self.cut(fibres, &point.gradient).into_iter().zip(chains).collect())
    }

    /// A direction in which it would fall from rest under gravity and forces at its joints.
    pub(crate) fn falling(
        &self,
        fibres: &[Fibre],
        gravity: &Vec3,
        forces: &[Vec<Vec3>],
    ) -> Result<Vec<Vec<Vec3>>, RodError> {
        if let Some(f) = self.alone() {
            let Fibre { rod, state, .. } = &fibres[f];
            let loads = Loads::weight(rod.section(), *gravity);
            let point = evaluate_held(rod, &state.q, &loads, &forces[f], true);
            return Ok(vec![falling_mode(rod, &point.shape, rod.blocks())]);
        }
        let (tree, q) = self.tree(fibres)?;
        let point = tree.evaluate_held(&q, gravity, &self.part(forces));
        Ok(self.cut(fibres, &falling_mode(&tree, &point.shape, q.len())))
    }

    /// Unknowns of the whole body by its fibres.
    fn cut(&self, fibres: &[Fibre], mut whole: &[Vec3]) -> Vec<Vec<Vec3>> {
        let one = |f: &usize| {
            let (own, rest) = whole.split_at(fibres[*f].rod.blocks());
            whole = rest;
            own.to_vec()
        };
        self.fibres.iter().map(one).collect()
    }

    fn part(&self, forces: &[Vec<Vec3>]) -> Vec<Vec<Vec3>> {
        self.fibres.iter().map(|f| forces[*f].clone()).collect()
    }

    /// The certificate of each fibre under forces at its joints; what belongs to the whole body is counted with the first.
    pub(crate) fn certify(
        &self,
        fibres: &[Fibre],
        gravity: &Vec3,
        forces: &[Vec<Vec3>],
    ) -> Result<Vec<RodCertificate>, RodError> {
        if let Some(f) = self.alone() {
            let Fibre { rod, state, .. } = &fibres[f];
            let loads = Loads::weight(rod.section(), *gravity);
            return Ok(vec![crate::certificate::certify_held(rod, &state.q, &loads, &forces[f])?]);
        }
        let (tree, q) = self.tree(fibres)?;
        let whole = tree.certify_held(&q, gravity, &self.part(forces))?;
        let mut out = vec![whole; self.fibres.len()];
        out.iter_mut().skip(1).for_each(|c| c.negative_modes = 0);
        Ok(out)
    }
}

/// A fibre and a segment of it.
type Segment = (usize, usize);

/// All bodies of an assembly.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    pub(crate) list: Vec<Body>,
    /// Body of each fibre, and number of its first joint in it.
    pub(crate) of: Vec<(usize, usize)>,
    /// Segments of different fibres that touch by being joined, the lower first.
    together: HashSet<(Segment, Segment)>,
}

/// Bodies that are treated before somebody is told: a fraction of a second.
const BATCH: usize = 256;

impl Bodies {
    /// Fibres that stand alone.
    pub(crate) fn alone(count: usize) -> Self {
        let one = |f: usize| Body { fibres: vec![f], growths: vec![None], first: vec![0] };
        let list = (0..count).map(one).collect();
        Self { list, of: (0..count).map(|f| (f, 0)).collect(), together: HashSet::new() }
    }

    /// Fibres of which some grow from others before them.
    pub(crate) fn grown(fibres: &[Fibre], growths: &[Option<Growth>]) -> Result<Self, RodError> {
        let one =
            |(f, growth): (&Fibre, &Option<Growth>)| Branch { rod: f.rod.clone(), growth: *growth };
        // Refuses what grows from nothing.
        let whole = Tree::new(fibres.iter().zip(growths).map(one).collect())?;
        let mut list: Vec<Body> = Vec::new();
        let mut of: Vec<(usize, usize)> = Vec::with_capacity(fibres.len());
        for (f, branch) in whole.branches().iter().enumerate() {
            let body = branch.growth.map_or(list.len(), |g| of[g.parent].0);
            if body == list.len() {
                list.push(Body { fibres: Vec::new(), growths: Vec::new(), first: Vec::new() });
            }
            let body_now = &mut list[body];
            let first = body_now.first.last().map_or(0, |last| {
                let before = body_now.fibres[body_now.fibres.len() - 1];
                last + fibres[before].rod.lengths().len() + 1
            });
            let place = |p: usize| body_now.fibres.iter().position(|g| *g == p).unwrap_or(0);
            let growth = branch.growth.map(|g| Growth { parent: place(g.parent), ..g });
            body_now.fibres.push(f);
            body_now.growths.push(growth);
            body_now.first.push(first);
            of.push((body, first));
        }
        Ok(Self { list, of, together: HashSet::new() })
    }

    /// Whether any fibre grows from another.
    pub(crate) fn any_grown(&self) -> bool {
        self.list.len() < self.of.len()
    }

    /// What is found of the fibres of each body, in the order of the fibres.
    pub(crate) fn map<T: Send + Clone>(&self, one: impl Fn(&Body) -> Vec<T> + Sync) -> Vec<T> {
        self.scattered(map_items(&self.list, GRAIN, |_, body| one(body)))
    }

    /// The same where something may fail.
    pub(crate) fn try_map<T: Send + Clone>(
        &self,
        one: impl Fn(&Body) -> Result<Vec<T>, RodError> + Sync,
    ) -> Result<Vec<T>, RodError> {
        Ok(self.scattered(try_map(self.list.len(), GRAIN, |b| one(&self.list[b]))?))
    }

    /// The same, a batch at a time; `goes_on` is told the part that is done before each.
    pub(crate) fn try_map_watched<T: Send + Clone>(
        &self,
        goes_on: impl Fn(f64) -> bool,
        one: impl Fn(&Body) -> Result<Vec<T>, RodError> + Sync,
    ) -> Result<Vec<T>, RodError> {
        let of = self.list.len();
        let mut found = Vec::with_capacity(of);
        while found.len() < of {
            let done = found.len();
            if !goes_on(done as f64 / of as f64) {
                return Err(RodError::Stopped);
            }
            let batch = |b: usize| one(&self.list[done + b]);
            found.extend(try_map(BATCH.min(of - done), GRAIN, batch)?);
        }
        Ok(self.scattered(found))
    }

    fn scattered<T: Clone>(&self, found: Vec<Vec<T>>) -> Vec<T> {
        if !self.any_grown() {
            return found.into_iter().flatten().collect();
        }
        let mut out: Vec<Option<T>> = vec![None; self.of.len()];
        for (body, found) in self.list.iter().zip(found) {
            for (f, x) in body.fibres.iter().zip(found) {
                out[*f] = Some(x);
            }
        }
        out.into_iter().flatten().collect()
    }

    /// Whether segments of fibres touch by being joined.
    pub(crate) fn joined(&self, a: Segment, b: Segment) -> bool {
        if a.0 == b.0 {
            return a.1.abs_diff(b.1) <= NEIGHBOURS;
        }
        !self.together.is_empty() && self.together.contains(&(a.min(b), a.max(b)))
    }

    /// Takes segments as joined that are neighbours where one fibre grows from another, and such as `overlap` from there on.
    pub(crate) fn join(&mut self, fibres: &[Fibre], overlap: &dyn Fn(Segment, Segment) -> bool) {
        self.together.clear();
        for body in self.list.iter().filter(|b| b.fibres.len() > 1) {
            let segments = |place: usize| fibres[body.fibres[place]].rod.lengths().len();
            // A fibre that grows from the first joint of another grows from what bears that.
            let bearer = |place: usize| {
                let mut at = body.growths[place]?;
                while at.joint == 0
                    && let Some(below) = body.growths[at.parent]
                {
                    at = below;
                }
                Some((at.parent, at.joint))
            };
            let roots: Vec<_> = (0..body.fibres.len()).map(bearer).collect();
            // Segments that end where a segment begins or ends.
            let beside = |(place, segment): Segment| {
                let mut out: Vec<Segment> = Vec::new();
                let mut meet = |joint: (usize, usize)| {
                    let (p, j) = joint;
                    out.extend(j.checked_sub(1).map(|s| (p, s)));
                    out.extend((j < segments(p)).then_some((p, j)));
                    let grow = roots.iter().enumerate().filter(|(_, r)| **r == Some(joint));
                    out.extend(grow.map(|(other, _)| (other, 0)));
                };
                meet((place, segment + 1));
                meet(match (segment, roots[place]) {
                    (0, Some(root)) => root,
                    _ => (place, segment),
                });
                out.retain(|s| *s != (place, segment));
                out
            };
            let name = |(place, segment): Segment| (body.fibres[place], segment);
            let key = |a: Segment, b: Segment| (name(a).min(name(b)), name(a).max(name(b)));
            let mut left: Vec<(Segment, Segment)> = Vec::new();
            for place in 0..body.fibres.len() {
                for segment in 0..segments(place) {
                    let near = beside((place, segment)).into_iter();
                    left.extend(near.map(|near| ((place, segment), near)));
                }
            }
            while let Some((a, b)) = left.pop() {
                if a.0 == b.0 || !self.together.insert(key(a, b)) {
                    continue;
                }
                let further = beside(a).into_iter().map(|a| (a, b));
                let further = further.chain(beside(b).into_iter().map(|b| (a, b)));
                left.extend(further.filter(|(a, b)| a.0 != b.0 && overlap(name(*a), name(*b))));
            }
        }
    }

    /// Puts fibres that grow where those that bear them have them.
    pub(crate) fn place(&self, fibres: &mut [Fibre]) {
        if !self.any_grown() {
            return;
        }
        let grown: Vec<&Body> = self.list.iter().filter(|b| b.fibres.len() > 1).collect();
        let now = &*fibres;
        for (f, clamp, motion) in
            map_items(&grown, 1, |_, body| body.places(now)).into_iter().flatten()
        {
            fibres[f].rod.set_clamp(clamp);
            fibres[f].motion = motion;
        }
    }
}

/// Segments of one fibre that are so many apart do not touch.
const NEIGHBOURS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::AssemblySettings;
    use crate::element::Model;
    use crate::motion::{RodState, StepSettings};
    use crate::rod::{Rod, Section};
    use crate::rotation::turn;

    /// J A⁻¹ Jᵀ through covariances, and by solving for each force: A alone is compared with full matrices elsewhere.
    #[test]
    fn forces_at_joints_move_joints_of_all_branches() {
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            let section = Section {
                bending_stiffness: [1.0, 1.7],
                twisting_stiffness: 0.6,
                linear_density: 0.9,
            };
            let clamp = Clamp { position: Vec3::zeros(), frame: Mat3::identity() };
            let fibre = |n: usize| {
                let rod = Rod::new(model, n, 0.3 * n as f64, section, clamp).unwrap();
                let bend = |i: usize| Vec3::new((i as f64).sin() * 3.0, 2.0 - i as f64, 1.0);
                let state = RodState::at_rest((0..rod.blocks()).map(bend).collect());
                Fibre { rod, state, motion: ClampMotion::default(), radius: 1e-3 }
            };
            let fibres: Vec<Fibre> = [4, 3, 2, 2].map(fibre).into();
            let grows = |parent, joint| {
                let turn = turn(&Vec3::new(0.4, -0.9, 0.3), 1.0);
                Some(Growth { parent, joint, turn })
            };
            let growths = [None, grows(0, 2), grows(1, 3), grows(0, 2)];
            let settings = AssemblySettings {
                step: StepSettings::new(0.1),
                gravity: Vec3::zeros(),
                fibre_friction: None,
                tolerance: 1e-8,
                max_sweeps: 10,
            };
            let scene = crate::Assembly::new(fibres, vec![], settings).unwrap();
            let scene = scene.grown(&growths).unwrap();
            let (prepared, sites) = scene.prepared().unwrap();
            let chains: Vec<_> = prepared.iter().map(|p| &p.chain).collect();
            let body = &scene.bodies.list[0];
            // By fibre and joint, and by number.
            let joints = [(0, 1), (0, 2), (0, 4), (1, 0), (1, 2), (1, 3), (2, 1), (2, 2), (3, 2)];
            let numbers: Vec<usize> =
                joints.iter().map(|(f, j)| scene.bodies.of[*f].1 + j).collect();
            let soft = body.compliance(&chains, &numbers);
            let still = ClampMotion::default();
            let none: Vec<Vec<Vec3>> =
                sites.iter().map(|s| vec![Vec3::zeros(); s.points.len()]).collect();
            for (b, (f, joint)) in joints.iter().enumerate() {
                for k in 0..3 {
                    let mut forces = none.clone();
                    forces[*f][*joint] = Vec3::ith(k, 1.0);
                    let change = body.pushed(&chains, &forces);
                    let moved = body.velocities(|f| chains[f], |f| &change[f], &still);
                    for (a, (g, other)) in joints.iter().enumerate() {
                        let place = |n: usize| soft.place(numbers[n]).unwrap();
                        let found = soft.block(place(a), place(b)).column(k);
                        let error = (moved[*g][*other] - found).norm();
                        assert!(error < 1e-12, "{model:?} {f} {joint} {g} {other}: {error:e}");
                        assert!(found.norm() > 1e-9);
                    }
                }
            }
        }
    }
}
