//! Discrete rods in motion: a step of nodes and angles that is linear in the impulses on it.
//!
//! Forces at the end of the step are taken from their derivative at its start, K; angles have no mass and follow:
//!
//! ```text
//! (M + θ²h² K + νh K₀) a = f(x) − θh K v − ν K₀ v,   v⁺ = v + h a,   x⁺ = x + h (θ v⁺ + (1 − θ) v)
//! ```
//!
//! K₀ is the part of K that strains alone make: positive, and blind to turns of the whole. Where M + θ²h²K is not positive definite K₀ stands
//! for K. Edges turn without being stretched by it ([`Nodes::moved_with`]), so nothing has to be corrected. The matrix is a band.

use toile_num::Dual;

use crate::assembly::Fibre;
use crate::chain::Compliance;
use crate::discrete::{BENT, Nodal, Nodes, stations_between};
use crate::motion::{ClampMotion, StepSettings};
use crate::rod::Station;
use crate::rotation::{Mat3, Vec3, axial_angle};
use crate::supple::Supple;
use crate::{RodCertificate, RodError, RodSpec};

/// Unknowns before its own that an unknown is coupled to: those of its node and the two nodes before.
const BAND: usize = 11;

/// A discrete rod at an instant.
#[derive(Clone, Debug)]
pub(crate) struct NodalFibre {
    nodal: Nodal,
    nodes: Nodes,
    /// Velocities of the nodes after the clamp, then rates of the angles, each the first of three numbers.
    rate: Vec<Vec3>,
}

/// A symmetric band, row by row: entry k of row i is that of column i − k.
#[derive(Clone, Debug)]
struct Band(Vec<[f64; BAND + 1]>);

/// L with L S Lᵀ a band, S = ±1 on its diagonal.
#[derive(Clone, Debug)]
struct Factor {
    rows: Band,
    signs: Vec<f64>,
}

impl Band {
    fn zeros(n: usize) -> Self {
        Self(vec![[0.0; BAND + 1]; n])
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        if column <= row {
            self.0[row][row - column] += value;
        }
    }

    fn plus(&self, other: &Self, factor: f64) -> Self {
        let sum = |(a, b): (&[f64; BAND + 1], &[f64; BAND + 1])| {
            std::array::from_fn(|k| a[k] + factor * b[k])
        };
        Self(self.0.iter().zip(&other.0).map(sum).collect())
    }

    /// The factor; `None` where a pivot is not a number or nothing.
    fn factorised(mut self) -> Option<Factor> {
        let mut signs = Vec::with_capacity(self.0.len());
        for i in 0..self.0.len() {
            for j in i.saturating_sub(BAND)..=i {
                let mut sum = self.0[i][i - j];
                for k in i.saturating_sub(BAND)..j {
                    if j - k <= BAND {
                        sum -= self.0[i][i - k] * self.0[j][j - k] * signs[k];
                    }
                }
                if i == j {
                    if sum.is_nan() || sum == 0.0 {
                        return None;
                    }
                    signs.push(sum.signum());
                    self.0[i][0] = sum.abs().sqrt();
                } else {
                    self.0[i][i - j] = sum / self.0[j][0] * signs[j];
                }
            }
        }
        Some(Factor { rows: self, signs })
    }
}

impl Factor {
    fn negative(&self) -> usize {
        self.signs.iter().filter(|s| **s < 0.0).count()
    }

    fn solve(&self, x: &mut [f64]) {
        let (n, rows) = (x.len(), &self.rows.0);
        for i in 0..n {
            let row = &rows[i];
            for k in 1..=BAND.min(i) {
                x[i] -= row[k] * x[i - k];
            }
            x[i] /= row[0];
        }
        for i in 0..n {
            x[i] *= self.signs[i];
        }
        for i in (0..n).rev() {
            x[i] /= rows[i][0];
            let (before, at) = x.split_at_mut(i);
            for k in 1..=BAND.min(i) {
                before[i - k] -= rows[i][k] * at[0];
            }
        }
    }
}

/// The factorised matrix of a step.
#[derive(Clone, Debug)]
pub(crate) struct NodalFactor(Factor);

impl NodalFactor {
    fn solve(&self, mut x: Vec<f64>) -> Vec<Vec3> {
        self.0.solve(&mut x);
        let place = |c: &[f64]| Vec3::new(c[0], c[1], c[2]);
        let angle = |c: &[f64]| Vec3::new(c[3], 0.0, 0.0);
        x.chunks(4).map(place).chain(x.chunks(4).map(angle)).collect()
    }
}

impl Supple for NodalFactor {
    fn chain(&self) -> Option<&crate::chain::Chain> {
        None
    }

    fn pushed(&self, forces: &[Vec3]) -> Vec<Vec3> {
        let rows = forces.iter().skip(1).flat_map(|f| [f.x, f.y, f.z, 0.0]);
        self.solve(rows.collect())
    }

    fn solve(&self, right: &[Vec3]) -> Vec<Vec3> {
        NodalFactor::solve(self, in_rows(right))
    }

    fn negative(&self) -> usize {
        self.0.negative()
    }

    fn velocities(&self, rates: &[Vec3], motion: &ClampMotion) -> Vec<Vec3> {
        let nodes = rates[..rates.len() / 2].iter().copied();
        std::iter::once(motion.velocity).chain(nodes).collect()
    }

    fn compliance(&self, joints: &[usize]) -> Compliance {
        let count = joints.len();
        let mut blocks = vec![Mat3::zeros(); count * count];
        for (b, joint) in joints.iter().enumerate() {
            // The clamp does not move.
            let Some(node) = joint.checked_sub(1) else { continue };
            for k in 0..3 {
                let mut x = vec![0.0; self.0.signs.len()];
                x[4 * node + k] = 1.0;
                self.0.solve(&mut x);
                for (a, other) in joints.iter().enumerate() {
                    let Some(other) = other.checked_sub(1) else { continue };
                    let moved = Vec3::from_column_slice(&x[4 * other..4 * other + 3]);
                    blocks[a * count + b].set_column(k, &moved);
                }
            }
        }
        Compliance::new(joints.to_vec(), blocks)
    }
}

/// Vectors of nodes, then angles, as the rows of the band have them.
fn in_rows(unknowns: &[Vec3]) -> Vec<f64> {
    let (nodes, angles) = unknowns.split_at(unknowns.len() / 2);
    nodes.iter().zip(angles).flat_map(|(x, a)| [x.x, x.y, x.z, a.x]).collect()
}

impl NodalFibre {
    /// At rest in its natural shape.
    pub(crate) fn new(spec: &RodSpec, edges: usize, gravity: Vec3) -> Result<Self, RodError> {
        let (nodal, nodes) = Nodal::new(spec, edges, gravity)?;
        Ok(Self { nodal, nodes, rate: vec![Vec3::zeros(); 2 * edges] })
    }

    /// Nodes from the clamp on.
    pub(crate) fn points(&self) -> Vec<Vec3> {
        self.nodes.positions(self.nodal.clamp.position)
    }

    /// Velocities of the nodes, clamp first.
    pub(crate) fn velocities(&self, motion: &ClampMotion) -> Vec<Vec3> {
        let nodes = self.rate[..self.nodal.edges].iter().copied();
        std::iter::once(motion.velocity).chain(nodes).collect()
    }

    /// Takes all motion away.
    pub(crate) fn stop(&mut self) {
        self.rate.fill(Vec3::zeros());
    }

    /// Gives nodes and angles these rates.
    pub(crate) fn set_rate(&mut self, rate: &[Vec3]) {
        self.rate.copy_from_slice(rate);
    }

    /// A direction in which it would fall from rest under forces at its nodes: by inverse iteration with about the least multiple of
    /// the mass that makes its stiffness positive.
    pub(crate) fn falling(&self, forces: &[Vec3]) -> Result<Vec<Vec3>, RodError> {
        let mut shift = 1.0;
        let mut factor = self.held(forces, -shift)?.1;
        while Supple::negative(&factor) > 0 && shift < 1e12 {
            shift *= 2.0;
            factor = self.held(forces, -shift)?.1;
        }
        let n = self.nodal.edges;
        let mut x: Vec<Vec3> = (0..n).map(|e| Vec3::new(1.0, 0.7, 0.4) * (e + 1) as f64).collect();
        for _ in 0..30 {
            // Angles have no mass; they follow.
            let mut right: Vec<Vec3> = (0..n).map(|e| x[e] * self.mass(e + 1)).collect();
            right.resize(2 * n, Vec3::zeros());
            x = Supple::solve(&factor, &right);
            let size = x.iter().map(|x| x.norm_squared()).sum::<f64>().sqrt();
            x.iter_mut().for_each(|x| *x /= size);
        }
        Ok(x)
    }

    fn mass(&self, node: usize) -> f64 {
        let ends = if node == self.nodal.edges { 0.5 } else { 1.0 };
        ends * self.nodal.section.linear_density * self.nodal.edge
    }

    /// The matrix of a step, and the rates at its end without contact.
    pub(crate) fn prepared(
        &self,
        motion: &ClampMotion,
        settings: &StepSettings,
    ) -> Result<(NodalFactor, Vec<Vec3>), RodError> {
        let StepSettings { dt: h, theta, damping: nu, .. } = *settings;
        let Self { nodal, rate, .. } = self;
        let n = nodal.edges;
        // Where the step ends the clamp moves like this.
        let clamp = motion.after(h);
        let linear = self.linearised(&clamp);
        let mut mass = Band::zeros(4 * n);
        for e in 0..n {
            (0..3).for_each(|k| mass.add(4 * e + k, 4 * e + k, self.mass(e + 1)));
        }
        let implicit = theta * theta * h * h;
        let positive = |band: Band| band.factorised().filter(|f| f.negative() == 0);
        let whole = mass.plus(&linear.exact, implicit).plus(&linear.strained, nu * h);
        let (exact, matrix) = match positive(whole) {
            Some(factor) => (true, factor),
            None => {
                let part = mass.plus(&linear.strained, implicit + nu * h);
                let what = "state of nodes and angles";
                (false, positive(part).ok_or(RodError::NotFinite { what })?)
            }
        };
        let ahead = if exact { &linear.exact_rate } else { &linear.strained_rate };
        let mut right: Vec<f64> = (linear.force.iter().zip(ahead).zip(&linear.strained_rate))
            .map(|((f, k), k_0)| f - theta * h * k - nu * k_0)
            .collect();
        for e in 0..n {
            let weight = nodal.weight(e + 1, 1.0);
            (0..3).for_each(|k| right[4 * e + k] += weight[k]);
        }
        let factor = NodalFactor(matrix);
        let a = factor.solve(right);
        Ok((factor, rate.iter().zip(a).map(|(v, a)| v + a * h).collect()))
    }

    /// What is left of its balance at rest under forces at its nodes, clamp first, and its stiffness less σ times its mass, factorised.
    pub(crate) fn held(
        &self,
        forces: &[Vec3],
        shift: f64,
    ) -> Result<(Vec<Vec3>, NodalFactor), RodError> {
        let linear = self.linearised(&ClampMotion::default());
        let n = self.nodal.edges;
        let mut mass = Band::zeros(4 * n);
        for e in 0..n {
            (0..3).for_each(|k| mass.add(4 * e + k, 4 * e + k, self.mass(e + 1)));
        }
        let factor = linear.exact.plus(&mass, -shift).factorised();
        let factor = factor.ok_or(RodError::NotFinite { what: "stiffness of nodes and angles" })?;
        let node = |e: usize| {
            let elastic = Vec3::from_column_slice(&linear.force[4 * e..4 * e + 3]);
            let pushed = forces.get(e + 1).copied().unwrap_or_else(Vec3::zeros);
            -(elastic + self.nodal.weight(e + 1, 1.0) + pushed)
        };
        let angle = |e: usize| Vec3::new(-linear.force[4 * e + 3], 0.0, 0.0);
        Ok(((0..n).map(node).chain((0..n).map(angle)).collect(), NodalFactor(factor)))
    }

    /// Largest force that is left of the balance: over the weight of a node, and \[N\].
    pub(crate) fn left(&self, gradient: &[Vec3]) -> [f64; 2] {
        let newtons = self.nodal.residual_n(&in_rows(gradient));
        [newtons / self.nodal.force_unit(), newtons]
    }

    /// Changes nodes and angles; edges turn without being stretched by it.
    pub(crate) fn change_by(&mut self, changes: &[Vec3]) {
        self.nodes = self.nodes.moved_with(&in_rows(changes), 1.0, Vec3::zeros());
        self.nodes.carried();
    }

    /// Whether it rests under forces at its nodes, clamp first: these counted as dead.
    pub(crate) fn certify(&self, forces: &[Vec3]) -> Result<RodCertificate, RodError> {
        self.nodal.certify_held(&self.nodes, forces)
    }

    /// `count` stations at equal arclengths.
    pub(crate) fn equal_stations(&self, count: usize) -> Vec<Station> {
        let frames: Vec<Mat3> = (0..self.nodal.edges).map(|e| self.nodes.frame(e)).collect();
        let length = self.nodal.edge * self.nodal.edges as f64;
        stations_between(&self.points(), &frames, &self.nodal.clamp, length, count)
    }

    /// Elastic forces, their derivatives, and how they change at the present rates and the motion of the clamp.
    fn linearised(&self, clamp: &ClampMotion) -> Linear {
        let Self { nodal, nodes, rate } = self;
        let n = nodal.edges;
        let mut out = Linear {
            force: vec![0.0; 4 * n],
            exact: Band::zeros(4 * n),
            strained: Band::zeros(4 * n),
            exact_rate: vec![0.0; 4 * n],
            strained_rate: vec![0.0; 4 * n],
        };
        let velocity = |node: usize| match node {
            0 => clamp.velocity,
            node => rate[node - 1],
        };
        for i in 0..n {
            let (energy, at) = nodal.bent(i, nodes);
            let v = nodal.stencil(i, nodes).0;
            let first: [Dual<f64, BENT>; BENT] = std::array::from_fn(|k| Dual::variable(v[k], k));
            let (off, stiffness) = nodal.turned(i, &first, nodes);
            // Rates of the values: at the clamp as it sees them.
            let mut moves = [0.0; BENT];
            let mut put = |k: usize, v: Vec3| moves[3 * k..3 * k + 3].copy_from_slice(v.as_slice());
            if i == 0 {
                let way = nodes.ways[0];
                put(2, velocity(1) - clamp.velocity - clamp.spin.cross(&way));
                moves[10] = rate[n].x - clamp.spin.dot(&way.normalize());
            } else {
                (0..3).for_each(|k| put(k, velocity(i + k - 1)));
                (moves[9], moves[10]) = (rate[n + i - 1].x, rate[n + i].x);
            }
            let mut rows = [[0.0; BENT]; BENT];
            for (off, stiffness) in off.iter().zip(stiffness) {
                for a in 0..BENT {
                    for b in 0..BENT {
                        rows[a][b] += stiffness * off.partials[a] * off.partials[b];
                    }
                }
            }
            for (a, row) in at.iter().enumerate() {
                let Some(row) = *row else { continue };
                out.force[row] -= energy.partials[a].value;
                for b in 0..BENT {
                    let (exact, strained) = (energy.partials[a].partials[b], rows[a][b]);
                    out.exact_rate[row] += exact * moves[b];
                    out.strained_rate[row] += strained * moves[b];
                    if let Some(column) = at[b] {
                        out.exact.add(row, column, exact);
                        out.strained.add(row, column, strained);
                    }
                }
            }
            let (pull, along, across) = nodal.stretched(i, nodes);
            let longer = velocity(i + 1) - velocity(i);
            let (both, strained) = ((along + across) * longer, along * longer);
            for (end, sign) in [(Some(i), 1.0), (i.checked_sub(1), -1.0)] {
                let Some(end) = end else { continue };
                for a in 0..3 {
                    let row = 4 * end + a;
                    out.force[row] -= sign * pull[a];
                    out.exact_rate[row] += sign * both[a];
                    out.strained_rate[row] += sign * strained[a];
                    for (other, sign_b) in [(Some(i), 1.0), (i.checked_sub(1), -1.0)] {
                        let Some(other) = other else { continue };
                        for b in 0..3 {
                            let (k, s) = (along[(a, b)], sign * sign_b);
                            out.exact.add(row, 4 * other + b, s * (k + across[(a, b)]));
                            out.strained.add(row, 4 * other + b, s * k);
                        }
                    }
                }
            }
        }
        out
    }

    /// Ends a step at these rates; the clamp has moved already.
    pub(crate) fn advance(&mut self, fibre: &Fibre, rates: Vec<Vec3>, settings: &StepSettings) {
        let (h, theta) = (settings.dt, settings.theta);
        let n = self.nodal.edges;
        let drag = 1.0 / (1.0 + h * settings.drag);
        let before = std::mem::replace(&mut self.rate, rates);
        self.rate.iter_mut().for_each(|v| *v *= drag);
        let mean = |i: usize| self.rate[i] * theta + before[i] * (1.0 - theta);
        let step: Vec<f64> = (0..n)
            .flat_map(|e| {
                let (v, turn) = (mean(e), mean(n + e).x);
                [v.x, v.y, v.z, turn]
            })
            .collect();
        let clamp = fibre.rod.clamp();
        let gone = clamp.position - self.nodal.clamp.position;
        self.nodes = self.nodes.moved_with(&step, h, gone);
        self.nodes.carried();
        self.nodal.clamp = *clamp;
    }

    /// Curvatures of helices between the frames: what others see of its shape.
    pub(crate) fn curvatures(&self) -> Vec<Vec3> {
        let n = self.nodal.edges;
        let frames: Vec<Mat3> = (0..n).map(|e| self.nodes.frame(e)).collect();
        let turn = |e: usize| {
            // Over the edge: half of the bend at each of its ends, all of that at the clamp.
            let before = if e == 0 { self.nodal.clamp.frame } else { frames[e - 1] };
            let here = axial_angle(&(before.transpose() * frames[e]));
            let share = if e == 0 { 1.0 } else { 0.5 };
            let after = frames.get(e + 1).map(|next| axial_angle(&(frames[e].transpose() * next)));
            (here * share + after.unwrap_or_else(Vec3::zeros) * 0.5) / self.nodal.edge
        };
        (0..n).map(turn).collect()
    }

    /// Kinetic and elastic energy and the potential of the weight from the origin \[J\].
    pub(crate) fn energies(&self) -> [f64; 3] {
        let kinetic = |e: usize| 0.5 * self.mass(e + 1) * self.rate[e].norm_squared();
        let (elastic, load) = self.nodal.energy(&self.nodes, 1.0);
        [(0..self.nodal.edges).map(kinetic).sum(), elastic, load]
    }

    /// All that its next steps follow from besides its clamp, as a checkpoint keeps it.
    pub(crate) fn kept(&self) -> (Vec<Vec3>, Vec<Vec3>) {
        let Nodes { ways, strain, theta, tangents, directors } = &self.nodes;
        let numbers = strain.iter().zip(theta).map(|(s, t)| Vec3::new(*s, *t, 0.0));
        let vectors = ways.iter().chain(tangents).chain(directors).copied();
        (vectors.chain(numbers).collect(), self.rate.clone())
    }

    /// Goes on from there.
    pub(crate) fn restore(&mut self, q: &[Vec3], rate: &[Vec3]) -> Result<(), RodError> {
        let n = self.nodal.edges;
        for (found, expected) in [(q.len(), 4 * n), (rate.len(), 2 * n)] {
            if found != expected {
                return Err(RodError::Count {
                    what: "vectors of nodes and angles",
                    found,
                    expected,
                });
            }
        }
        let part = |k: usize| q[k * n..(k + 1) * n].to_vec();
        self.nodes = Nodes {
            ways: part(0),
            tangents: part(1),
            directors: part(2),
            strain: q[3 * n..].iter().map(|v| v.x).collect(),
            theta: q[3 * n..].iter().map(|v| v.y).collect(),
        };
        self.rate = rate.to_vec();
        Ok(())
    }

    /// Puts the clamp where the fibre has it.
    pub(crate) fn follow(&mut self, fibre: &Fibre) {
        self.nodal.clamp = *fibre.rod.clamp();
    }

    /// Whether all numbers are finite.
    pub(crate) fn check(&self) -> Result<(), RodError> {
        let fine =
            self.nodes.ways.iter().chain(&self.rate).all(|v| v.iter().all(|x| x.is_finite()));
        if fine { Ok(()) } else { Err(RodError::NotFinite { what: "state of nodes and angles" }) }
    }
}

/// Elastic forces and their derivatives.
struct Linear {
    force: Vec<f64>,
    exact: Band,
    strained: Band,
    exact_rate: Vec<f64>,
    strained_rate: Vec<f64>,
}
