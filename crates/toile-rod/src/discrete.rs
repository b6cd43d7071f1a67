//! The discrete elastic rod: nodes and angles, the usual model of others, to compare with.
//!
//! Edges carry an angle θ of their material frame from a reference director that follows them by parallel transport. Between two
//! edges with tangents a and b the curvature binormal is κb = 2 a × b / (1 + a·b); its parts along the mean directors and the
//! angle between the frames, over the length that belongs to the node, are curvatures and twist. Stretching is a stiff spring.
//! The clamp is the frame before the first node, half an edge away. Gradient and Hessian of a node are those of its energy over
//! dual numbers: exact and slow, as a comparison may be.
//! Reference: Bergou, Wardetzky, Robinson, Audoly and Grinspun 2008.

use nalgebra::{DMatrix, DVector};
use toile_num::{Dual, Scalar};

use crate::certificate::{CERTIFIED_RESIDUAL, RodCertificate};
use crate::rod::{Clamp, NaturalCurvature, Rod, Section, Station};
use crate::rotation::{Mat3, Vec3, straightened};
use crate::{RodError, RodSpec};

/// Strain under the weight of the whole that is left by the springs.
const STRAIN: f64 = 1e-7;
/// Unknowns of a bent node: three nodes and two angles.
pub(crate) const BENT: usize = 11;
/// Most edges: the Hessian is dense.
const MOST_EDGES: usize = 400;

pub(crate) type Second = Dual<Dual<f64, BENT>, BENT>;

/// Nodes and frames of a discrete rod at rest, or the best that was found.
#[derive(Clone, Debug)]
pub struct DiscreteEquilibrium {
    /// Nodes, clamp first \[m\].
    pub positions: Vec<Vec3>,
    /// Material frame of each edge.
    pub frames: Vec<Mat3>,
    /// The clamp.
    pub clamp: Clamp,
    /// Length of the rod \[m\].
    pub length: f64,
    /// Newton steps taken.
    pub steps: usize,
    /// Elastic energy \[J\].
    pub elastic_energy: f64,
    /// Potential of the weight from the origin \[J\].
    pub load_energy: f64,
    /// Whether it is an equilibrium.
    pub certificate: RodCertificate,
}

/// Way, over the length, that takes nodes out of a balance that would not last.
const ASIDE: f64 = 0.01;

impl DiscreteEquilibrium {
    /// `count` stations at equal arclengths: positions linear between nodes, frames between the middles of edges.
    pub fn equal_stations(&self, count: usize) -> Vec<Station> {
        stations_between(&self.positions, &self.frames, &self.clamp, self.length, count)
    }
}

/// Stations between nodes, clamp first, and the frames of the edges between them.
pub(crate) fn stations_between(
    positions: &[Vec3],
    frames: &[Mat3],
    clamp: &Clamp,
    length: f64,
    count: usize,
) -> Vec<Station> {
    let n = frames.len();
    let last = count.max(2) - 1;
    let edge = length / n as f64;
    let one = |i: usize| {
        let s = length * i as f64 / last as f64;
        let at = (s / edge).clamp(0.0, n as f64);
        let e = (at.floor() as usize).min(n - 1);
        let t = at - e as f64;
        let position = positions[e] * (1.0 - t) + positions[e + 1] * t;
        // The clamp's frame stands at s = 0, that of edge e at its middle.
        let middle = at - 0.5;
        let frame = if middle <= 0.0 {
            mixed(&clamp.frame, &frames[0], 2.0 * at)
        } else {
            let e = (middle.floor() as usize).min(n - 1);
            mixed(&frames[e], &frames[(e + 1).min(n - 1)], middle - e as f64)
        };
        Station { s, position, frame }
    };
    (0..=last).map(one).collect()
}

fn mixed(a: &Mat3, b: &Mat3, t: f64) -> Mat3 {
    straightened(&(a * (1.0 - t) + b * t))
}

/// A rod of nodes, with what does not change.
#[derive(Clone, Debug)]
pub(crate) struct Nodal {
    pub(crate) section: Section,
    pub(crate) clamp: Clamp,
    pub(crate) edge: f64,
    stretch: f64,
    natural: Vec<Vec3>,
    pub(crate) gravity: Vec3,
    pub(crate) edges: usize,
}

/// Where it is: nodes after the clamp, angles, and the directors the angles are counted from.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    /// Edges, and by how much they are longer than they should be over that: kept apart, because springs as stiff as these turn
    /// the rounding of their ends into forces.
    pub(crate) ways: Vec<Vec3>,
    pub(crate) strain: Vec<f64>,
    pub(crate) theta: Vec<f64>,
    /// Tangents and directors of the edges at which θ was last counted.
    pub(crate) tangents: Vec<Vec3>,
    pub(crate) directors: Vec<Vec3>,
}

impl RodSpec {
    /// The equilibrium of the discrete elastic rod with so many edges, from the natural shape as gravity grows from nothing.
    pub fn discrete_equilibrium(
        &self,
        edges: usize,
        gravity: Vec3,
        max_steps: usize,
    ) -> Result<DiscreteEquilibrium, RodError> {
        if edges == 0 || edges > MOST_EDGES {
            return Err(RodError::Elements { elements: edges, most: MOST_EDGES });
        }
        let (nodal, mut nodes) = Nodal::new(self, edges, gravity)?;
        let (mut steps, mut share, mut add) = (0, 0.0, 0.1);
        while share < 1.0 {
            let next = f64::min(share + add, 1.0);
            let mut trial = nodes.clone();
            let left = max_steps.saturating_sub(steps).min(200);
            let (taken, found) = nodal.minimise(&mut trial, next, left);
            steps += taken;
            if found {
                (nodes, share) = (trial, next);
            } else {
                add *= 0.4;
                if add < 1e-5 || steps >= max_steps {
                    break;
                }
            }
        }
        nodal.judged(&nodes, steps)
    }
}

/// Mean natural curvature of the stretch that belongs to a node.
fn natural_mean(natural: &NaturalCurvature, node: usize, edge: f64) -> Vec3 {
    let (from, to) = if node == 0 {
        (0.0, 0.5 * edge)
    } else {
        ((node as f64 - 0.5) * edge, (node as f64 + 0.5) * edge)
    };
    let rule = &*crate::panel::RULE;
    rule.at.iter().zip(&rule.weight).map(|(t, w)| natural.at(from + t * (to - from)) * *w).sum()
}

impl Nodes {
    /// On the curve of a rod.
    fn along(rod: &Rod, q: &[Vec3]) -> Self {
        let n = rod.lengths().len();
        let stations = rod.equal_stations(q, 2 * n + 1);
        // Along the tangents at the middles of edges: chords would be too short.
        let tangents: Vec<Vec3> =
            (0..n).map(|e| stations[2 * e + 1].frame.column(2).into()).collect();
        let ways = tangents.iter().zip(rod.lengths()).map(|(t, l)| t * *l).collect();
        let director = |(e, t): (usize, &Vec3)| {
            let d1: Vec3 = stations[2 * e + 1].frame.column(0).into();
            (d1 - t * t.dot(&d1)).normalize()
        };
        let directors = tangents.iter().enumerate().map(director).collect();
        Self { ways, strain: vec![0.0; n], theta: vec![0.0; n], tangents, directors }
    }

    fn unknowns(&self) -> usize {
        4 * self.theta.len()
    }

    /// Moved by a step: three numbers of each node after the clamp, then its edge's angle.
    ///
    /// Edges turn as the step says and stretch as it says to first order: else every turn would stretch the stiff springs.
    fn moved(&self, step: &DVector<f64>, scale: f64) -> Self {
        self.moved_with(step.as_slice(), scale, Vec3::zeros())
    }

    /// The same where the clamp goes a way of its own.
    pub(crate) fn moved_with(&self, step: &[f64], scale: f64, clamp: Vec3) -> Self {
        let mut out = self.clone();
        let mut before = clamp;
        for e in 0..self.theta.len() {
            let now = Vec3::from_fn(|k, _| scale * step[4 * e + k]);
            let (way, change) = (self.ways[e], now - before);
            let length = way.norm();
            let edge = length / (1.0 + self.strain[e]);
            out.strain[e] += change.dot(&way) / (length * edge);
            out.ways[e] = (way + change).normalize() * (edge * (1.0 + out.strain[e]));
            out.theta[e] += scale * step[4 * e + 3];
            before = now;
        }
        out
    }

    /// Nodes from the clamp on.
    pub(crate) fn positions(&self, from: Vec3) -> Vec<Vec3> {
        let mut x = vec![from];
        for way in &self.ways {
            x.push(x[x.len() - 1] + way);
        }
        x
    }

    /// Counts angles from directors carried to the present tangents.
    pub(crate) fn carried(&mut self) {
        for e in 0..self.theta.len() {
            let t = self.ways[e].normalize();
            self.directors[e] = transported(&self.directors[e], &self.tangents[e], &t).normalize();
            self.tangents[e] = t;
        }
    }

    pub(crate) fn frame(&self, e: usize) -> Mat3 {
        let t = self.ways[e].normalize();
        let u = transported(&self.directors[e], &self.tangents[e], &t);
        let (s, c) = self.theta[e].sin_cos();
        let d1 = u * c + t.cross(&u) * s;
        Mat3::from_columns(&[d1, t.cross(&d1), t])
    }
}

/// v ⟂ a carried to b without turning about it. Fails where b = −a.
fn transported<T: Scalar>(v: &Vec3<T>, a: &Vec3<T>, b: &Vec3<T>) -> Vec3<T> {
    let sum = a + b;
    v - sum * (v.dot(b) / (T::constant(1.0) + a.dot(b)))
}

fn lifted<T: Scalar>(v: &Vec3) -> Vec3<T> {
    v.map(T::constant)
}

/// Tangent and first director of an edge between two points.
fn framed<T: Scalar>(
    a: &Vec3<T>,
    b: &Vec3<T>,
    theta: T,
    tangent: &Vec3,
    director: &Vec3,
) -> (Vec3<T>, Vec3<T>) {
    let way = b - a;
    let t = way / way.dot(&way).sqrt();
    let u = transported(&lifted(director), &lifted(tangent), &t);
    (t, u * theta.cos() + t.cross(&u) * theta.sin())
}

impl Nodal {
    /// The rod with so many edges, and its nodes in the natural shape.
    pub(crate) fn new(
        spec: &RodSpec,
        edges: usize,
        gravity: Vec3,
    ) -> Result<(Self, Nodes), RodError> {
        // Checks everything, and has the natural shape to start from.
        let rod = spec.build(edges)?;
        let edge = spec.length / edges as f64;
        let weight = spec.section.linear_density * spec.length * gravity.norm();
        let bending = spec.section.stiffness().max() / spec.length.powi(2);
        let nodal = Self {
            section: spec.section,
            clamp: *rod.clamp(),
            edge,
            stretch: weight.max(bending) / STRAIN,
            natural: (0..edges).map(|i| natural_mean(&spec.natural, i, edge)).collect(),
            gravity,
            edges,
        };
        Ok((nodal, Nodes::along(&rod, &rod.rest())))
    }

    /// Energy of the bend at node i, in the points before, at and after it and the angles of both edges.
    fn bend<T: Scalar>(&self, i: usize, v: &[T; BENT], nodes: &Nodes) -> T {
        let (off, stiffness) = self.turned(i, v, nodes);
        let mut energy = T::constant(0.0);
        for (off, stiffness) in off.into_iter().zip(stiffness) {
            energy += off * off * T::constant(0.5 * stiffness);
        }
        energy
    }

    /// Angles by which the bend at node i differs from the natural one, about d₁, d₂ and the tangent, and how stiff it is against each
    /// \[N·m\].
    pub(crate) fn turned<T: Scalar>(
        &self,
        i: usize,
        v: &[T; BENT],
        nodes: &Nodes,
    ) -> ([T; 3], [f64; 3]) {
        let point = |k: usize| Vec3::new(v[3 * k], v[3 * k + 1], v[3 * k + 2]);
        let (ta, da) = if i == 0 {
            let column = |c: usize| lifted::<T>(&self.clamp.frame.column(c).into());
            (column(2), column(0))
        } else {
            let (t, d) = (&nodes.tangents[i - 1], &nodes.directors[i - 1]);
            framed(&point(0), &point(1), v[9], t, d)
        };
        let (tb, db) = framed(&point(1), &point(2), v[10], &nodes.tangents[i], &nodes.directors[i]);
        let one = T::constant(1.0);
        let binormal = ta.cross(&tb) * (T::constant(2.0) / (one + ta.dot(&tb)));
        let half = T::constant(0.5);
        let k1 = binormal.dot(&(da + db)) * half;
        let k2 = binormal.dot(&(ta.cross(&da) + tb.cross(&db))) * half;
        let carried = transported(&da, &ta, &tb);
        let twist = carried.cross(&db).dot(&tb).atan2(carried.dot(&db));
        let length = if i == 0 { 0.5 * self.edge } else { self.edge };
        let turns = [k1, k2, twist];
        let off = |c: usize| turns[c] - T::constant(self.natural[i][c] * length);
        (std::array::from_fn(off), std::array::from_fn(|c| self.section.stiffness()[c] / length))
    }

    /// Values of the stencil of node i, and the unknown each of them is.
    pub(crate) fn stencil(&self, i: usize, nodes: &Nodes) -> ([f64; BENT], [Option<usize>; BENT]) {
        let (mut v, mut at) = ([0.0; BENT], [None; BENT]);
        for (k, node) in [i.checked_sub(1), Some(i), Some(i + 1)].into_iter().enumerate() {
            let Some(node) = node else { continue };
            for c in 0..3 {
                // From the node itself.
                v[3 * k + c] = match k {
                    0 => -nodes.ways[i - 1][c],
                    1 => 0.0,
                    _ => nodes.ways[i][c],
                };
                at[3 * k + c] = node.checked_sub(1).map(|e| 4 * e + c);
            }
        }
        if i > 0 {
            (v[9], at[9]) = (nodes.theta[i - 1], Some(4 * (i - 1) + 3));
        }
        (v[10], at[10]) = (nodes.theta[i], Some(4 * i + 3));
        (v, at)
    }

    /// Weight of a node at an end of so many edges.
    pub(crate) fn weight(&self, node: usize, share: f64) -> Vec3 {
        let ends = if node == self.edges { 0.5 } else { 1.0 };
        self.gravity * (share * ends * self.section.linear_density * self.edge)
    }

    /// Elastic energy and potential of the weight.
    pub(crate) fn energy(&self, nodes: &Nodes, share: f64) -> (f64, f64) {
        let (mut elastic, mut load) = (0.0, 0.0);
        let x = nodes.positions(self.clamp.position);
        for i in 0..self.edges {
            elastic += self.bend(i, &self.stencil(i, nodes).0, nodes);
            elastic += 0.5 * self.stretch * self.edge * nodes.strain[i].powi(2);
            load -= self.weight(i + 1, share).dot(&x[i + 1]);
        }
        (elastic, load)
    }

    /// Energy of the bend at node i with its derivatives, and the unknown each of its values is.
    pub(crate) fn bent(&self, i: usize, nodes: &Nodes) -> (Second, [Option<usize>; BENT]) {
        let (v, at) = self.stencil(i, nodes);
        let lifted: [Second; BENT] = std::array::from_fn(|k| {
            let mut inner = Dual::<f64, BENT>::constant(v[k]);
            inner.partials[k] = 1.0;
            Dual::variable(inner, k)
        });
        (self.bend(i, &lifted, nodes), at)
    }

    /// The pull of the edge after node i on its start \[N\], k (L/ℓ − 1)² ℓ / 2 being its energy, and its stiffness along and across.
    pub(crate) fn stretched(&self, i: usize, nodes: &Nodes) -> (Vec3, Mat3, Mat3) {
        let way = nodes.ways[i];
        let length = way.norm();
        let t = way / length;
        let tension = self.stretch * nodes.strain[i];
        let along = t * t.transpose();
        let across = (Mat3::identity() - along) * (tension / length);
        (t * tension, along * (self.stretch / self.edge), across)
    }

    fn derivatives(&self, nodes: &Nodes, share: f64) -> (DVector<f64>, DMatrix<f64>) {
        let n = nodes.unknowns();
        let (mut g, mut h) = (DVector::zeros(n), DMatrix::zeros(n, n));
        for i in 0..self.edges {
            let (e, at) = self.bent(i, nodes);
            for (a, row) in at.iter().enumerate() {
                let Some(row) = *row else { continue };
                g[row] += e.partials[a].value;
                for (b, column) in at.iter().enumerate() {
                    if let Some(column) = *column {
                        h[(row, column)] += e.partials[a].partials[b];
                    }
                }
            }
            let (pull, along, across) = self.stretched(i, nodes);
            let block = along + across;
            let weight = self.weight(i + 1, share);
            for a in 0..3 {
                g[4 * i + a] += pull[a] - weight[a];
                if i > 0 {
                    g[4 * (i - 1) + a] -= pull[a];
                }
                for b in 0..3 {
                    h[(4 * i + a, 4 * i + b)] += block[(a, b)];
                    if i > 0 {
                        let j = i - 1;
                        h[(4 * j + a, 4 * j + b)] += block[(a, b)];
                        h[(4 * j + a, 4 * i + b)] -= block[(a, b)];
                        h[(4 * i + a, 4 * j + b)] -= block[(a, b)];
                    }
                }
            }
        }
        (g, h)
    }

    /// Largest force that is not balanced \[N\].
    pub(crate) fn residual_n(&self, g: &[f64]) -> f64 {
        // The moment about an edge over its length.
        let force = |i: usize| if i % 4 == 3 { g[i].abs() / self.edge } else { g[i].abs() };
        (0..g.len()).map(force).fold(0.0, f64::max)
    }

    pub(crate) fn force_unit(&self) -> f64 {
        let length = self.edge * self.edges as f64;
        let weight = self.section.linear_density * length * self.gravity.norm();
        let bending = self.section.stiffness().max() / length.powi(2);
        (if weight > 0.0 { weight } else { bending }) / (self.edges as f64 + 1.0)
    }

    /// Newton's method; steps taken and whether it ended at a minimum.
    fn minimise(&self, nodes: &mut Nodes, share: f64, most: usize) -> (usize, bool) {
        let goal = 1e-2 * CERTIFIED_RESIDUAL * self.force_unit();
        let mut stalled = 0;
        let mut last = f64::INFINITY;
        for step in 0..most {
            let (g, h) = self.derivatives(nodes, share);
            let residual = self.residual_n(g.as_slice());
            let exact = h.clone().cholesky();
            stalled = if residual < 0.5 * last { 0 } else { stalled + 1 };
            last = residual.min(last);
            let balanced = residual <= goal || stalled > 4 && residual <= 1e2 * goal;
            if balanced && exact.is_some() {
                return (step, true);
            }
            if balanced {
                *nodes = nodes.moved(&self.falling(&h), 1.0);
                nodes.carried();
                (stalled, last) = (0, f64::INFINITY);
                continue;
            }
            let mut shift = 1e-3 * self.section.stiffness().min() / self.edge.powi(3);
            let mut factor = exact;
            while factor.is_none() {
                let mut lifted = h.clone();
                for i in 0..lifted.nrows() {
                    lifted[(i, i)] += if i % 4 == 3 { shift * self.edge.powi(2) } else { shift };
                }
                factor = lifted.cholesky();
                shift *= 4.0;
                if !shift.is_finite() {
                    return (step, false);
                }
            }
            let Some(factor) = factor else { return (step, false) };
            let d = factor.solve(&-&g);
            let slope = g.dot(&d);
            let (elastic, load) = self.energy(nodes, share);
            let (now, noise) = (elastic + load, 1e-12 * (elastic.abs() + load.abs()));
            // An edge that turns by more than a radian leaves its model.
            let turn = (0..d.len())
                .map(|i| if i % 4 == 3 { d[i].abs() } else { d[i].abs() / self.edge })
                .fold(0.0, f64::max);
            let mut scale = f64::min(1.0, 1.0 / turn.max(1e-300));
            let mut taken = false;
            for _ in 0..30 {
                let trial = nodes.moved(&d, scale);
                let (elastic, load) = self.energy(&trial, share);
                if elastic + load <= now + 1e-4 * scale * slope + noise {
                    *nodes = trial;
                    taken = true;
                    break;
                }
                scale *= 0.5;
            }
            if !taken {
                return (step + 1, false);
            }
            nodes.carried();
        }
        (most, false)
    }

    /// A small change along the way on which a balance with this Hessian would be left: what falls furthest, angles counted by edges.
    fn falling(&self, h: &DMatrix<f64>) -> DVector<f64> {
        let unit = |i: usize| if i % 4 == 3 { 1.0 / self.edge } else { 1.0 };
        let mut even = h.clone();
        for i in 0..h.nrows() {
            for j in 0..h.ncols() {
                even[(i, j)] *= unit(i) * unit(j);
            }
        }
        let modes = even.symmetric_eigen();
        let mut way: DVector<f64> = modes.eigenvectors.column(modes.eigenvalues.imin()).into();
        for i in 0..way.len() {
            way[i] *= unit(i);
        }
        let largest =
            (0..way.len()).filter(|i| i % 4 < 3).map(|i| way[i].abs()).fold(0.0, f64::max);
        way * (ASIDE * self.edge * self.edges as f64 / largest.max(1e-300))
    }

    /// Judges nodes that forces at them help to hold \[N\], clamp first: dead ones, as for a rod of curvatures.
    pub(crate) fn certify_held(
        &self,
        nodes: &Nodes,
        forces: &[Vec3],
    ) -> Result<RodCertificate, RodError> {
        if self.edges > MOST_EDGES {
            return Err(RodError::Elements { elements: self.edges, most: MOST_EDGES });
        }
        let (mut g, h) = self.derivatives(nodes, 1.0);
        for (e, force) in forces.iter().skip(1).enumerate() {
            (0..3).for_each(|k| g[4 * e + k] -= force[k]);
        }
        let residual_n = self.residual_n(g.as_slice());
        let residual = residual_n / self.force_unit();
        // Stability against mass: angles have none and follow.
        let n = self.edges;
        let pick = |a: &dyn Fn(usize) -> usize, b: &dyn Fn(usize) -> usize, r: usize, c: usize| {
            DMatrix::from_fn(r, c, |i, j| h[(a(i), b(j))])
        };
        let (place, angle) = (|i: usize| 4 * (i / 3) + i % 3, |i: usize| 4 * i + 3);
        let (xx, xt) = (pick(&place, &place, 3 * n, 3 * n), pick(&place, &angle, 3 * n, n));
        let tt = pick(&angle, &angle, n, n);
        let scaled = tt.cholesky().map(|f| {
            let mut left = xx - &xt * f.solve(&xt.transpose());
            let mass = |i: usize| {
                let ends = if i / 3 + 1 == n { 0.5 } else { 1.0 };
                f64::sqrt(ends * self.section.linear_density * self.edge)
            };
            for i in 0..3 * n {
                for j in 0..3 * n {
                    left[(i, j)] /= mass(i) * mass(j);
                }
            }
            left.symmetric_eigenvalues()
        });
        let stability = scaled.as_ref().map(nalgebra::Vector::min);
        let negative_modes = scaled.map_or(1, |values| values.iter().filter(|v| **v < 0.0).count());
        let positions = nodes.positions(self.clamp.position);
        let (mut low, mut high) = (positions[0], positions[0]);
        for p in &positions {
            (low, high) = (low.inf(p), high.sup(p));
        }
        let certified = residual <= CERTIFIED_RESIDUAL && negative_modes == 0;
        let reason = format!(
            "forces {} to {residual:.1e} of a node's weight; {}",
            if residual <= CERTIFIED_RESIDUAL { "balance" } else { "balance only" },
            if negative_modes == 0 {
                "every small motion is resisted".to_owned()
            } else {
                format!("but it is unstable: {negative_modes} way(s) to fall")
            }
        );
        Ok(RodCertificate {
            residual,
            residual_n,
            stability,
            margin: f64::NAN,
            negative_modes,
            size: (high - low).norm(),
            certified,
            reason,
        })
    }

    fn judged(&self, nodes: &Nodes, steps: usize) -> Result<DiscreteEquilibrium, RodError> {
        let n = self.edges;
        let (elastic_energy, load_energy) = self.energy(nodes, 1.0);
        Ok(DiscreteEquilibrium {
            positions: nodes.positions(self.clamp.position),
            frames: (0..n).map(|e| nodes.frame(e)).collect(),
            clamp: self.clamp,
            length: self.edge * n as f64,
            steps,
            elastic_energy,
            load_energy,
            certificate: self.certify_held(nodes, &[])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradient_is_the_slope_of_the_energy() {
        let section =
            Section { bending_stiffness: [1.0, 1.7], twisting_stiffness: 0.6, linear_density: 0.9 };
        let clamp = Clamp { position: Vec3::zeros(), frame: Mat3::identity() };
        let nodal = Nodal {
            section,
            clamp,
            edge: 0.25,
            stretch: 50.0,
            natural: vec![Vec3::new(1.0, -0.5, 2.0); 4],
            gravity: Vec3::new(0.3, 0.1, -1.0),
            edges: 4,
        };
        let rod = Rod::new(crate::Model::SuperHelix, 4, 1.0, section, clamp).unwrap();
        let q: Vec<Vec3> = (0..4).map(|i| Vec3::new(1.0, 0.5 * f64::from(i), 1.5)).collect();
        let mut nodes = Nodes::along(&rod, &q);
        // Away from where the angles were counted.
        let bump = DVector::from_fn(16, |i, _| 0.05 * (1.7 * i as f64).sin());
        nodes = nodes.moved(&bump, 1.0);
        let (g, h) = nodal.derivatives(&nodes, 1.0);
        let step = 1e-5;
        for c in 0..16 {
            let unit = DVector::from_fn(16, |i, _| f64::from(u8::from(i == c)));
            let at = |by: f64| nodes.moved(&unit, by);
            let energy = |n: &Nodes| nodal.energy(n, 1.0).0 + nodal.energy(n, 1.0).1;
            let slope = (energy(&at(step)) - energy(&at(-step))) / (2.0 * step);
            assert!((slope - g[c]).abs() < 1e-8 * g.amax(), "{c}: {slope} {}", g[c]);
            let bend = (nodal.derivatives(&at(step), 1.0).0 - nodal.derivatives(&at(-step), 1.0).0)
                / (2.0 * step);
            assert!((&bend - h.column(c)).amax() < 1e-7 * h.amax(), "{c}");
        }
    }
}
