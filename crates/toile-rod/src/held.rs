//! Fibres at rest, linearised with their contacts held.
//!
//! Curvatures or nodes, alone or grown from each other: each fibre gives what is left of its balance and a factorised form, and W, how contact points
//! yield to forces at them, is made of these.

use nalgebra::{DMatrix, DVector};
use toile_cone::Operator;

use crate::RodError;
use crate::assembly::Assembly;
use crate::body::Body;
use crate::certificate::residual_n;
use crate::delassus::Delassus;
use crate::forms::Mix;
use crate::lanczos::negative_eigenvalues;
use crate::motion::ClampMotion;
use crate::rod::Loads;
use crate::rotation::Vec3;
use crate::supple::{Factorised, Supple};
use crate::touch::{Pair, Side, Sites};

/// Components of contacts up to which dense algebra is used.
const DENSE: usize = 900;

/// An assembly linearised with its contacts held.
pub(crate) struct Held {
    /// Forces on the joints of each fibre.
    pub(crate) forces: Vec<Vec<Vec3>>,
    gradients: Vec<Vec<Vec3>>,
    pub(crate) chains: Vec<Factorised>,
    pub(crate) delassus: Delassus,
    frictionless: Vec<bool>,
    /// The fibres of each contact.
    pairs_of: Vec<[Option<u32>; 2]>,
    /// Largest residual over the weight of a joint.
    pub(crate) residual: f64,
    /// The same \[N\].
    pub(crate) residual_n: f64,
}

/// Trace of the identity in W: shares forces between contacts that hold the same thing.
const SHARED: f64 = 1e-10;

/// Changes of the unknowns of all fibres.
type Changes = Vec<Vec<Vec3>>;

impl Held {
    /// Under forces of contacts in their frames; forms are shifted by σ times the mass.
    pub(crate) fn new(
        scene: &Assembly,
        sites: &[Sites],
        pairs: &[Pair],
        r: &[f64],
        shift: f64,
    ) -> Result<Self, RodError> {
        let forces: Vec<Vec<Vec3>> = joint_forces(scene, sites, pairs, r);
        let (gradients, chains): (Changes, Vec<Factorised>) =
            scene.linearised(&forces, shift)?.into_iter().unzip();
        let left: Vec<[f64; 2]> =
            gradients.iter().enumerate().map(|(f, g)| scene.left(f, g)).collect();
        let delassus =
            Delassus::new(&scene.bodies, &chains.iter().collect::<Vec<_>>(), pairs, 0.0)?;
        let frictionless = pairs.iter().map(|p| p.friction == 0.0).collect();
        let fibre = |side: &Side| side.fibre as u32;
        let pairs_of =
            pairs.iter().map(|p| [Some(fibre(&p.first)), p.second.as_ref().map(fibre)]).collect();
        let [residual, residual_n] = [0, 1].map(|k| left.iter().map(|l| l[k]).fold(0.0, f64::max));
        Ok(Self {
            forces,
            gradients,
            chains,
            delassus,
            frictionless,
            pairs_of,
            residual,
            residual_n,
        })
    }

    /// Negative eigenvalues of all fibres alone.
    pub(crate) fn negative(&self) -> usize {
        self.chains.iter().map(Supple::negative).sum()
    }

    /// A⁻¹ g, which all forces that are left would undo, and for each contact how far it moves its point, less how far that has gone from
    /// where it was at the start: what contacts that hold have to make good.
    pub(crate) fn ways(
        &self,
        scene: &Assembly,
        start: &[Sites],
        pairs: &[Pair],
    ) -> (Changes, Vec<Vec3>) {
        let still = ClampMotion::default();
        let chains: Vec<&Factorised> = self.chains.iter().collect();
        let free: Changes = scene.bodies.map(|body| body.solve(&chains, &self.gradients));
        let velocities =
            scene.bodies.map(|body| body.velocities(|f| chains[f], |f| &free[f], &still));
        let mut now = scene.sites_at_rest();
        for (site, velocities) in now.iter_mut().zip(velocities) {
            site.velocities = velocities;
        }
        let way = |pair: &Pair| {
            let mut way = Vec3::zeros();
            for side in pair.sides() {
                let (a, b) = (&now[side.fibre], &start[side.fibre]);
                let gone: Vec3 = side.joints().map(|(j, w)| (a.points[j] - b.points[j]) * w).sum();
                way += (a.velocity(side) - gone) * side.sign;
            }
            way
        };
        (free, pairs.iter().map(way).collect())
    }

    /// Changes of the unknowns where forces of contacts change by these, in their frames; `None` where they are not finite.
    pub(crate) fn changes(
        &self,
        scene: &Assembly,
        start: &[Sites],
        free: &[Vec<Vec3>],
        dr: &[f64],
    ) -> Option<Changes> {
        let chains: Vec<&Factorised> = self.chains.iter().collect();
        let by_contact = self.delassus.pushed(&scene.bodies, &chains, start, dr);
        let less = |(pushed, free): (Vec<Vec3>, &Vec<Vec3>)| -> Vec<Vec3> {
            pushed.iter().zip(free).map(|(c, v)| c - v).collect()
        };
        let dq: Changes = by_contact.into_iter().zip(free).map(less).collect();
        dq.iter().flatten().all(|d| d.iter().all(|x| x.is_finite())).then_some(dq)
    }

    /// Changes of unknowns and forces; `None` where they cannot be found.
    pub(crate) fn step(
        &self,
        scene: &Assembly,
        start: &[Sites],
        pairs: &[Pair],
    ) -> Option<(Changes, Vec<f64>)> {
        let (free, ways) = self.ways(scene, start, pairs);
        let mut right = vec![0.0; 3 * pairs.len()];
        for (c, way) in ways.iter().enumerate() {
            let mut local = self.delassus.frame(c).tr_mul(way);
            if self.frictionless[c] {
                (local[1], local[2]) = (0.0, 0.0);
            }
            right[3 * c..3 * c + 3].copy_from_slice(local.as_slice());
        }
        let dr = self.solve(&right)?;
        Some((self.changes(scene, start, &free, &dr)?, dr))
    }

    /// W x = y with W dense or by conjugate gradients.
    fn solve(&self, y: &[f64]) -> Option<Vec<f64>> {
        let n = y.len();
        if n == 0 {
            return Some(Vec::new());
        }
        if let Some(mut w) = self.dense() {
            let lift = SHARED * w.diagonal().amax();
            for i in 0..n {
                w[(i, i)] += lift;
            }
            let x = w.lu().solve(&DVector::from_column_slice(y))?;
            return x.iter().all(|v| v.is_finite()).then(|| x.as_slice().to_vec());
        }
        conjugate_gradients(&self.delassus, &self.frictionless, y)
    }

    /// W with frictionless contacts free in their tangents.
    fn dense(&self) -> Option<DMatrix<f64>> {
        let n = 3 * self.frictionless.len();
        if n > DENSE {
            return None;
        }
        let mut w = DMatrix::zeros(n, n);
        let mut unit = vec![0.0; n];
        for j in 0..n {
            unit[j] = 1.0;
            self.delassus.w.apply(&unit, w.column_mut(j).as_mut_slice());
            unit[j] = 0.0;
        }
        for (c, free) in self.frictionless.iter().enumerate() {
            if *free {
                for i in [3 * c + 1, 3 * c + 2] {
                    w.row_mut(i).fill(0.0);
                    w.column_mut(i).fill(0.0);
                    w[(i, i)] = 1.0;
                }
            }
        }
        Some(w)
    }

    /// Falling directions that held contacts leave: those of the fibres alone less the negative eigenvalues of W.
    ///
    /// The inertia of ((A, Hᵀ), (H, 0)) is that of A and of −H A⁻¹ Hᵀ together, and nothing falls with H δq = 0 when it has as
    /// many negative eigenvalues as there are constraints.
    ///
    /// Where W is large, as many negative eigenvalues are counted as Lanczos' process has seen: never too many.
    pub(crate) fn negative_modes(&self, alone: usize) -> usize {
        if self.frictionless.is_empty() {
            return alone;
        }
        let stopped = match self.dense() {
            Some(w) => {
                let values = w.symmetric_eigenvalues();
                let floor = 1e-12 * values.amax();
                values.iter().filter(|v| **v < -floor).count()
            }
            None => self.seen_negative(alone),
        };
        alone.saturating_sub(stopped)
    }

    fn seen_negative(&self, most: usize) -> usize {
        let n = 3 * self.frictionless.len();
        let taken = |x: &mut [f64]| {
            for (c, free) in self.frictionless.iter().enumerate() {
                if *free {
                    x[3 * c + 1..3 * c + 3].fill(0.0);
                }
            }
        };
        // Contacts of the fibres that would fall alone, no two alike.
        let falls = |c: usize| {
            self.pairs_of[c].iter().flatten().any(|f| self.chains[*f as usize].negative() > 0)
        };
        let begin = |i: usize| if falls(i / 3) { 1.0 + (1.3 * i as f64).sin() } else { 0.0 };
        let mut start: Vec<f64> = (0..n).map(begin).collect();
        taken(&mut start);
        let apply = |x: &[f64], y: &mut [f64]| {
            self.delassus.w.apply(x, y);
            taken(y);
        };
        negative_eigenvalues(&apply, start, most)
    }
}

impl Assembly {
    /// What is left of the balance of each fibre at rest under gravity and forces at its joints, and its stiffness less σ times its mass,
    /// factorised.
    pub(crate) fn linearised(
        &self,
        forces: &[Vec<Vec3>],
        shift: f64,
    ) -> Result<Vec<(Vec<Vec3>, Factorised)>, RodError> {
        let mix = Mix { mass: -shift, elastic: 1.0, geometric: 1.0 };
        let gravity = self.settings.gravity;
        self.bodies.try_map(|body: &Body| {
            if let Some((f, nodes)) = body.alone().and_then(|f| self.nodal.get_key_value(&f)) {
                let (gradient, factor) = nodes.held(&forces[*f], shift)?;
                return Ok(vec![(gradient, Factorised::Nodes(factor))]);
            }
            let parts = body.held(&self.fibres, &gravity, forces, mix)?;
            let boxed = |(g, chain)| (g, Factorised::Curvatures(Box::new(chain)));
            Ok(parts.into_iter().map(boxed).collect())
        })
    }

    /// Largest force that is left of the balance of a fibre: over the weight of a joint, and \[N\].
    fn left(&self, fibre: usize, gradient: &[Vec3]) -> [f64; 2] {
        if let Some(nodes) = self.nodal.get(&fibre) {
            return nodes.left(gradient);
        }
        let rod = &self.fibres[fibre].rod;
        let weight = Loads::weight(rod.section(), self.settings.gravity).per_length.norm();
        let unit = weight * rod.length() / rod.blocks() as f64;
        let left = residual_n(rod, gradient);
        [if unit > 0.0 { left / unit } else { left }, left]
    }

    /// Changes the unknowns of all fibres.
    pub(crate) fn change_by(&mut self, changes: Vec<Vec<Vec3>>) -> Result<(), RodError> {
        for (f, (fibre, changes)) in self.fibres.iter_mut().zip(changes).enumerate() {
            if let Some(nodes) = self.nodal.get_mut(&f) {
                nodes.change_by(&changes);
                nodes.check()?;
                fibre.state.q = nodes.curvatures();
            } else {
                for (q, d) in fibre.state.q.iter_mut().zip(changes) {
                    *q += d;
                }
            }
            fibre.rod.check_blocks(&fibre.state.q)?;
        }
        self.place_grown();
        Ok(())
    }
}

fn joint_forces(scene: &Assembly, sites: &[Sites], pairs: &[Pair], r: &[f64]) -> Vec<Vec<Vec3>> {
    let mut forces: Vec<Vec<Vec3>> =
        (0..scene.fibres.len()).map(|f| vec![Vec3::zeros(); sites[f].points.len()]).collect();
    for (c, pair) in pairs.iter().enumerate() {
        let force = pair.frame() * Vec3::from_column_slice(&r[3 * c..3 * c + 3]);
        for side in pair.sides() {
            for (joint, share) in side.joints() {
                forces[side.fibre][joint] += force * (share * side.sign);
            }
        }
    }
    forces
}

fn conjugate_gradients(delassus: &Delassus, frictionless: &[bool], y: &[f64]) -> Option<Vec<f64>> {
    let n = y.len();
    let scale: Vec<f64> = (0..n)
        .map(|i| {
            if i % 3 > 0 && frictionless[i / 3] {
                return 0.0;
            }
            let d = delassus.w.diagonal(i / 3)[(i % 3, i % 3)];
            if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut x = vec![0.0; n];
    let mut left: Vec<f64> = y.iter().zip(&scale).map(|(y, s)| y * s).collect();
    let mut way = left.clone();
    let (mut scaled, mut product) = (vec![0.0; n], vec![0.0; n]);
    let begun = dot(&left, &left);
    let mut size = begun;
    for _ in 0..3000 {
        if size <= 1e-26 * begun || begun == 0.0 {
            break;
        }
        for i in 0..n {
            scaled[i] = way[i] * scale[i];
        }
        delassus.w.apply(&scaled, &mut product);
        for i in 0..n {
            product[i] = product[i] * scale[i] + SHARED * way[i];
        }
        let step = size / dot(&way, &product);
        if !step.is_finite() {
            return None;
        }
        for i in 0..n {
            x[i] += step * way[i];
            left[i] -= step * product[i];
        }
        let next = dot(&left, &left);
        for i in 0..n {
            way[i] = left[i] + way[i] * (next / size);
        }
        size = next;
    }
    Some(x.iter().zip(&scale).map(|(x, s)| x * s).collect())
}
