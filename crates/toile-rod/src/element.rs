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

use crate::panel::{NODES, PHASE, RULE};
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

    /// Calls `each` with the nodes of \[0, upto\] in order and returns the state at its end (with weight 0).
    pub(crate) fn sample(&self, start: &Mat3, upto: f64, each: impl FnMut(&Node)) -> Node {
        self.walk::<true>(start, upto, each)
    }

    /// The state at `upto` only, with derivatives: much cheaper than with all nodes.
    pub(crate) fn end(&self, start: &Mat3, upto: f64) -> Node {
        self.walk::<false>(start, upto, |_| {})
    }

    fn walk<const EACH: bool>(&self, start: &Mat3, upto: f64, mut each: impl FnMut(&Node)) -> Node {
        let (k0, gamma) = self.linear();
        let straight = gamma == Vec3::zeros();
        let angle = k0.norm().max((k0 + gamma * upto).norm()) * upto;
        let panels = if angle.is_finite() { (angle / PHASE).ceil().clamp(1.0, 1e6) } else { 1.0 };
        let h = upto / panels;
        let rule = &*RULE;
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
        // ∫ h [r]× R up to the joint, for both shape functions.
        let mut q = [Mat3::zeros(); 2];
        let mut th = [Mat3::zeros(); 2];
        for panel in 0..panels as usize {
            let from = h * panel as f64;
            let (frames, points) = if straight {
                let turned = rule.at_and_end.map(|t| joint.frame * turn(&k0, t * h));
                let gone =
                    rule.at_and_end.map(|t| joint.frame * turn_integral(&k0, t * h).column(2));
                (turned, gone)
            } else {
                sum_terms(&joint.frame, &(k0 + gamma * from), &gamma, h, &rule.at_and_end)
            };
            let points = points.map(|p| joint.r + p);
            let arms: [Mat3; NODES] = std::array::from_fn(|i| cross_matrix(&points[i]) * frames[i]);
            let shapes: [[f64; 2]; NODES] =
                std::array::from_fn(|i| self.model.shape((from + rule.at[i] * h) / self.length));
            let state = |weights: &[f64; NODES]| {
                let (mut a, mut b, mut m) = (th, q, joint.moment);
                for j in 0..NODES {
                    let w = weights[j] * h;
                    m += points[j] * w;
                    for side in 0..2 {
                        let w = w * shapes[j][side];
                        if w != 0.0 {
                            a[side] += frames[j] * w;
                            b[side] += arms[j] * w;
                        }
                    }
                }
                (a, b, m)
            };
            let finish = |r: &Vec3, a: &[Mat3; 2], b: &[Mat3; 2]| {
                let arm = cross_matrix(r);
                let (mut theta, mut j) = (Columns::zeros(), Columns::zeros());
                for side in 0..2 {
                    theta.fixed_columns_mut::<3>(3 * side).copy_from(&a[side]);
                    j.fixed_columns_mut::<3>(3 * side).copy_from(&(b[side] - arm * a[side]));
                }
                (theta, j)
            };
            for i in 0..if EACH { NODES } else { 0 } {
                let (a, b, moment) = state(&rule.until[i]);
                let (theta, j) = finish(&points[i], &a, &b);
                each(&Node {
                    s: from + rule.at[i] * h,
                    weight: rule.weight[i] * h,
                    shape: shapes[i],
                    frame: frames[i],
                    r: points[i],
                    moment,
                    theta,
                    j,
                });
            }
            let moment;
            (th, q, moment) = state(&rule.weight);
            let (theta, j) = finish(&points[NODES], &th, &q);
            let s = from + h;
            joint = Node {
                s,
                weight: 0.0,
                shape: self.model.shape(s / self.length),
                frame: straightened(&frames[NODES]),
                r: points[NODES],
                moment,
                theta,
                j,
            };
        }
        joint
    }
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
            let ([f], [p]) = sum_terms(&frame, &k, &g, D::constant(h), &[1.0]);
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
