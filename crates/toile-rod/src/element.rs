//! One element at its quadrature nodes: frames, positions and how both answer to its curvatures.
//!
//! A small change δκ turns the frame at s by δθ = ∫₀ˢ R δκ and moves its point by δr = ∫₀ˢ (R δκ) × (r(s) − r(σ)) dσ. With
//! the shape function h of a degree of freedom on component c,
//!
//! ```text
//! Θ(s) = ∫₀ˢ h d_c,     J(s) = Θ(s) × r(s) − ∫₀ˢ h d_c × r,
//! ```
//!
//! and past the element both go on rigidly. Reference: Bertails-Descoubes 2017, §2.3.

use toile_num::Matrix;

use crate::panel::{FEW_PHASE, FEW_RULE, PHASE, RULE, Rule};
use crate::rotation::{Mat3, Vec3, cross_matrix, straightened, turn, turn_integral};
use crate::series::sum_terms;

/// Columns for the curvature at the start (three) and at the end (three).
pub(crate) type Columns = Matrix<3, 6>;

/// How the curvature varies along an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Constant: arcs of helices, tangents continuous. One unknown vector per element.
    SuperHelix,
    /// Linear and continuous: curvature has no jumps. One unknown vector per joint.
    SuperClothoid,
}

impl Model {
    /// Shape functions of the curvatures at start and end, at the fraction t of the element.
    ///
    /// A super-helix knows only its own curvature, which is counted as the one at its end.
    pub(crate) fn shape(self, t: f64) -> [f64; 2] {
        match self {
            Model::SuperHelix => [0.0, 1.0],
            Model::SuperClothoid => [1.0 - t, t],
        }
    }

    /// Integrals of products of the shape functions over an element of length one.
    pub(crate) fn gram(self) -> [[f64; 2]; 2] {
        match self {
            Model::SuperHelix => [[0.0, 0.0], [0.0, 1.0]],
            Model::SuperClothoid => [[1.0 / 3.0, 1.0 / 6.0], [1.0 / 6.0, 1.0 / 3.0]],
        }
    }
}

/// A point of an element, relative to its first joint, in world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Arclength from the joint \[m\].
    pub(crate) s: f64,
    /// Weight in integrals over the element \[m\].
    pub(crate) weight: f64,
    /// Shape functions.
    pub(crate) shape: [f64; 2],
    /// (d₁, d₂, d₃).
    pub(crate) frame: Mat3,
    /// r(s) − r(joint) \[m\].
    pub(crate) r: Vec3,
    /// ∫₀ˢ (r − r(joint)) \[m²\].
    pub(crate) moment: Vec3,
    /// ∂θ/∂κ.
    pub(crate) theta: Columns,
    /// ∂r/∂κ.
    pub(crate) j: Columns,
}

/// Curvature of an element and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub(crate) model: Model,
    pub(crate) length: f64,
    pub(crate) start: Vec3,
    pub(crate) end: Vec3,
}

impl Arc {
    /// Curvature at s = 0 and its slope.
    fn linear(&self) -> (Vec3, Vec3) {
        match self.model {
            Model::SuperHelix => (self.end, Vec3::zeros()),
            Model::SuperClothoid => (self.start, (self.end - self.start) / self.length),
        }
    }

    /// Curvature at s.
    pub(crate) fn curvature(&self, s: f64) -> Vec3 {
        let (k, g) = self.linear();
        k + g * s
    }

    /// Frame and position at s, without derivatives.
    pub(crate) fn reach(&self, start: &Mat3, s: f64) -> (Mat3, Vec3) {
        let (k, g) = self.linear();
        if g == Vec3::zeros() {
            return (start * turn(&k, s), start * turn_integral(&k, s).column(2));
        }
        let (frame, r, _) = crate::series::clothoid_from(start, &k, &g, s, crate::series::BOUND);
        (frame, r)
    }

    /// The larger of the angles by which a frame would turn on \[0, upto\] at the curvatures of its ends \[rad\].
    fn angle(&self, upto: f64) -> f64 {
        let (k, gamma) = self.linear();
        k.norm().max((k + gamma * upto).norm()) * upto
    }

    /// Whether few nodes are enough.
    pub(crate) fn is_gentle(&self, upto: f64) -> bool {
        self.angle(upto) <= FEW_PHASE
    }

    /// Calls `each` with the nodes of \[0, upto\] in order and returns the state at its end (with weight 0).
    pub(crate) fn sample(&self, start: &Mat3, upto: f64, each: impl FnMut(&Node)) -> Node {
        self.dispatch::<true>(start, upto, each)
    }

    /// The state at `upto` only, with derivatives: much cheaper than with all nodes.
    pub(crate) fn end(&self, start: &Mat3, upto: f64) -> Node {
        self.dispatch::<false>(start, upto, |_| {})
    }

    fn dispatch<const EACH: bool>(&self, start: &Mat3, upto: f64, each: impl FnMut(&Node)) -> Node {
        match (self.model, self.is_gentle(upto)) {
            (Model::SuperHelix, true) => self.walk::<EACH, 8, 24>(&FEW_RULE, start, upto, each),
            (Model::SuperHelix, false) => self.walk::<EACH, 12, 24>(&RULE, start, upto, each),
            (Model::SuperClothoid, true) => self.walk::<EACH, 8, 40>(&FEW_RULE, start, upto, each),
            (Model::SuperClothoid, false) => self.walk::<EACH, 12, 40>(&RULE, start, upto, each),
        }
    }

    /// With N nodes a panel; what is integrated are W numbers: the point, and for the curvature at the end (and that at the start) the frame and its
    /// lever \[r\]× R, weighed by the shape function.
    fn walk<const EACH: bool, const N: usize, const W: usize>(
        &self,
        rule: &Rule<N>,
        start: &Mat3,
        upto: f64,
        mut each: impl FnMut(&Node),
    ) -> Node {
        let (k0, gamma) = self.linear();
        let straight = gamma == Vec3::zeros();
        let angle = self.angle(upto);
        let panels = if angle.is_finite() { (angle / PHASE).ceil().clamp(1.0, 1e6) } else { 1.0 };
        let h = upto / panels;
        let mut joint = Node {
            s: 0.0,
            weight: 0.0,
            shape: self.model.shape(0.0),
            frame: *start,
            r: Vec3::zeros(),
            moment: Vec3::zeros(),
            theta: Columns::zeros(),
            j: Columns::zeros(),
        };
        let mut gathered = [0.0; W];
        for panel in 0..panels as usize {
            let from = h * panel as f64;
            let (frames, points, end) = if straight {
                let turned = |t: f64| joint.frame * turn(&k0, t * h);
                let gone = |t: f64| joint.frame * turn_integral(&k0, t * h).column(2);
                (rule.at.map(turned), rule.at.map(gone), (turned(1.0), gone(1.0)))
            } else {
                sum_terms(&joint.frame, &(k0 + gamma * from), &gamma, h, &rule.at)
            };
            let points = points.map(|p| joint.r + p);
            let shapes = rule.at.map(|t| self.model.shape((from + t * h) / self.length));
            let data: [[f64; W]; N] =
                std::array::from_fn(|i| integrands(&frames[i], &points[i], &shapes[i], h));
            for i in 0..if EACH { N } else { 0 } {
                let state = integrals(&data, &rule.until[i], &gathered);
                let (theta, j) = columns(&state, &points[i]);
                each(&Node {
                    s: from + rule.at[i] * h,
                    weight: rule.weight[i] * h,
                    shape: shapes[i],
                    frame: frames[i],
                    r: points[i],
                    moment: Vec3::new(state[0], state[1], state[2]),
                    theta,
                    j,
                });
            }
            gathered = integrals(&data, &rule.weight, &gathered);
            let (s, r) = (from + h, joint.r + end.1);
            let (theta, j) = columns(&gathered, &r);
            joint = Node {
                s,
                weight: 0.0,
                shape: self.model.shape(s / self.length),
                frame: straightened(&end.0),
                r,
                moment: Vec3::new(gathered[0], gathered[1], gathered[2]),
                theta,
                j,
            };
        }
        joint
    }
}

/// What is integrated at a node: r, then h R and h \[r\]× R with the shape function h of the end, then those of the start if there is place.
fn integrands<const W: usize>(frame: &Mat3, r: &Vec3, shape: &[f64; 2], h: f64) -> [f64; W] {
    let lever = cross_matrix(r) * frame;
    let mut out = [0.0; W];
    (0..3).for_each(|k| out[k] = r[k] * h);
    for (side, from) in [(1, 3), (0, 21)] {
        if W < from + 18 {
            break;
        }
        let weight = shape[side] * h;
        for k in 0..9 {
            out[from + k] = frame[k] * weight;
            out[from + 9 + k] = lever[k] * weight;
        }
    }
    out
}

/// Sums of the integrands at the nodes, added to what there is; eight numbers at a time, so that they stay in registers.
fn integrals<const N: usize, const W: usize>(
    data: &[[f64; W]; N],
    weights: &[f64; N],
    before: &[f64; W],
) -> [f64; W] {
    let mut out = [0.0; W];
    for from in (0..W).step_by(8) {
        let mut sum: [f64; 8] = std::array::from_fn(|k| before[from + k]);
        for (row, w) in data.iter().zip(weights) {
            for k in 0..8 {
                sum[k] += row[from + k] * w;
            }
        }
        out[from..from + 8].copy_from_slice(&sum);
    }
    out
}

/// ∂θ/∂κ and ∂r/∂κ at r from the integrals up to there.
fn columns<const W: usize>(state: &[f64; W], r: &Vec3) -> (Columns, Columns) {
    let arm = cross_matrix(r);
    let (mut theta, mut j) = (Columns::zeros(), Columns::zeros());
    for (side, from) in [(1, 3), (0, 21)] {
        if W < from + 18 {
            break;
        }
        let a = Mat3::from_column_slice(&state[from..from + 9]);
        let b = Mat3::from_column_slice(&state[from + 9..from + 18]);
        theta.fixed_columns_mut::<3>(3 * side).copy_from(&a);
        j.fixed_columns_mut::<3>(3 * side).copy_from(&(b - arm * a));
    }
    (theta, j)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_num::{Dual, Scalar};

    type D = Dual<f64, 6>;

    /// Frame and position by the series over dual numbers, in pieces.
    fn by_duals(model: Model, kl: Vec3, kr: Vec3, length: f64, s: f64) -> (Mat3<D>, Vec3<D>) {
        let l = Vec3::from_fn(|i, _| D::variable(kl[i], i));
        let r = Vec3::from_fn(|i, _| D::variable(kr[i], 3 + i));
        let (k0, g) = match model {
            Model::SuperHelix => (r, Vec3::<D>::zeros()),
            Model::SuperClothoid => (l, (r - l) / D::constant(length)),
        };
        if model == Model::SuperHelix {
            let s = D::constant(s);
            return (turn(&k0, s), turn_integral(&k0, s).column(2).into());
        }
        let (mut frame, mut x) = (Mat3::<D>::identity(), Vec3::<D>::zeros());
        let pieces = 16;
        for i in 0..pieces {
            let h = s / f64::from(pieces);
            let k = k0 + g * D::constant(h * f64::from(i));
            let (_, _, (f, p)) = sum_terms(&frame, &k, &g, D::constant(h), &[]);
            (frame, x) = (f, x + p);
        }
        (frame, x)
    }

    fn check(model: Model, kl: Vec3, kr: Vec3, length: f64, s: f64) {
        let arc = Arc { model, length, start: kl, end: kr };
        let end = arc.sample(&Mat3::identity(), s, |_| {});
        let (frame, x) = by_duals(model, kl, kr, length, s);
        let only = arc.end(&Mat3::identity(), s);
        assert!((only.j - end.j).norm() == 0.0 && (only.theta - end.theta).norm() == 0.0);
        let (reached, there) = arc.reach(&Mat3::identity(), s);
        for i in 0..3 {
            assert!((end.r[i] - x[i].value).abs() < 2e-14 && (there[i] - x[i].value).abs() < 2e-14);
            for c in 0..6 {
                let exact = x[i].partials[c];
                assert!(
                    (end.j[(i, c)] - exact).abs() < 5e-14,
                    "{model:?} {} {exact}",
                    end.j[(i, c)]
                );
            }
        }
        assert!((reached - end.frame).norm() < 5e-14);
        for c in 0..6 {
            // ∂R/∂κ = [Θ]× R.
            let turned = cross_matrix(&end.theta.column(c).into()) * end.frame;
            let exact = frame.map(|x| x.partials[c]);
            assert!((turned - exact).norm() < 1e-13, "{model:?} column {c}");
        }
    }

    #[test]
    fn jacobians_match_dual_numbers() {
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            check(model, Vec3::new(0.7, -1.1, 1.9), Vec3::new(-0.3, 2.0, 0.4), 1.0, 1.0);
            check(model, Vec3::new(0.7, -1.1, 1.9), Vec3::new(-0.3, 2.0, 0.4), 1.0, 0.37);
            check(model, Vec3::new(6.0, -3.0, 5.0), Vec3::new(-4.0, 2.0, 9.0), 0.8, 0.8); // many panels
            check(model, Vec3::zeros(), Vec3::zeros(), 0.5, 0.5); // straight
        }
    }
}
