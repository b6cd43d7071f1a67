//! Bending across a seam, whose two sides rest apart.

use toile_geometry::measure::{Hinge, dihedral_angle, edge, triangle_area, triangle_area_gradient};
use toile_num::{Matrix, Scalar, Vector};

use crate::stencil::material_product;
use crate::{Curvature, HingeBend, MaterialEnergy, StencilEnergy};

/// Bending of the part of a seam at which an edge of one panel meets an edge of another:
/// E = ½ k f 6 L̄/(h̄₁ + h̄₂) (θ − θ̄)², which is [`HingeBend`] where the panels are one.
///
/// Points (c, p, q, d, a, b): the first face is (c, p, q), the second (d, a, b), sewn along p–q and a–b over the part f of p–q. θ is the
/// angle of the hinge (c, p, q, d), the second face moved along with its edge to the first: a seam that is still open, as those of panels that are drawn together, bends
/// as it will when it is closed. L̄ is the length of p–q, h̄ the altitude of each rest face over its own edge. θ̄ is measured in the same way, for at rest the panels may lie apart, or the seam
/// is pressed open, θ̄ = 0. The difference of angles is taken modulo 2π. Not finite when a face has no area.
/// Check: `derivatives_match_dual_numbers`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeamBend {
    /// k, bending stiffness as that of [`HingeBend`] \[N·m\].
    pub stiffness: f64,
    /// f, the part of the edge p–q that is sewn to a–b.
    pub part: f64,
    /// The middle of that part: (1 − s) p + s q meets (1 − u) a + u b.
    pub middle: [f64; 2],
    /// Whether θ̄ = 0 whatever the rest shape: panels that lie elsewhere in a pattern say nothing about the angle of their seam.
    pub pressed_open: bool,
}

/// Rest angle and stiffness factor f 6 L̄/(h̄₁ + h̄₂) of a seam.
#[derive(Clone, Copy, Debug)]
pub struct SeamRest {
    theta_bar: f64,
    factor: f64,
}

fn points<T: Scalar>(x: &Vector<18, T>) -> [Vector<3, T>; 6] {
    std::array::from_fn(|i| x.fixed_rows::<3>(3 * i).into_owned())
}

/// θ − θ̄ brought back to (−π, π].
fn fold<T: Scalar>(difference: T) -> T {
    let turns = (difference.real() / std::f64::consts::TAU).round();
    difference - turns * std::f64::consts::TAU
}

impl SeamBend {
    /// The second apex, moved with its edge to the first face.
    fn moved<T: Scalar>(&self, x_bar: &Vector<18, T>) -> Vector<3, T> {
        let [_, p, q, d, a, b] = points(x_bar);
        let [s, u] = self.middle.map(T::constant);
        let one = T::one();
        d + (p * (one - s) + q * s) - (a * (one - u) + b * u)
    }

    /// The hinge of the first face and the second, moved to it.
    fn hinge(&self, x: &Vector<18>) -> Hinge {
        let [c, p, q, ..] = points(x);
        Hinge::new(&c, &p, &q, &self.moved(x))
    }

    /// What the points p, q, a and b weigh in the second apex moved to the first face.
    fn weights(&self) -> [(usize, f64); 4] {
        let [s, u] = self.middle;
        [(1, 1.0 - s), (2, s), (4, u - 1.0), (5, -u)]
    }

    /// Derivative by all six points from that by the four of the hinge.
    fn spread(&self, own: &Vector<12>) -> Vector<18> {
        let mut gradient = Vector::<18>::zeros();
        gradient.fixed_rows_mut::<12>(0).copy_from(own);
        let apex = own.fixed_rows::<3>(9).into_owned();
        for (node, weight) in self.weights() {
            let mut rows = gradient.fixed_rows_mut::<3>(3 * node);
            rows += apex * weight;
        }
        gradient
    }

    /// The same for second derivatives.
    fn spread_hessian(&self, own: &Matrix<12, 12>) -> Matrix<18, 18> {
        let mut rows = Matrix::<18, 12>::zeros();
        for column in 0..12 {
            rows.set_column(column, &self.spread(&own.column(column).into_owned()));
        }
        let mut hessian = Matrix::<18, 18>::zeros();
        for row in 0..18 {
            let spread = self.spread(&rows.row(row).transpose());
            hessian.set_row(row, &spread.transpose());
        }
        hessian
    }

    fn angle<T: Scalar>(&self, x: &Vector<18, T>) -> T {
        let [c, p, q, ..] = points(x);
        dihedral_angle(&c, &p, &q, &self.moved(x))
    }

    fn rest_angle<T: Scalar>(&self, x_bar: &Vector<18, T>) -> T {
        if self.pressed_open { T::zero() } else { self.angle(x_bar) }
    }

    fn rest_angle_gradient(&self, x_bar: &Vector<18>) -> Vector<18> {
        if self.pressed_open {
            return Vector::zeros();
        }
        self.spread(&self.hinge(x_bar).gradient())
    }

    /// f 6 L̄/(h̄₁ + h̄₂) = 3 f L̄₁/(A₁/L̄₁ + A₂/L̄₂).
    fn factor<T: Scalar>(&self, x_bar: &Vector<18, T>) -> T {
        let [c, p, q, d, a, b] = points(x_bar);
        let (first, second) = (edge(&p, &q).0, edge(&a, &b).0);
        let half = triangle_area(&[c, p, q]) / first + triangle_area(&[d, a, b]) / second;
        first / half * (3.0 * self.part)
    }

    fn factor_gradient(&self, x_bar: &Vector<18>) -> Vector<18> {
        let [c, p, q, d, a, b] = points(x_bar);
        let mut half = 0.0;
        let mut half_gradient = Vector::<18>::zeros();
        let mut length_gradient = Vector::<18>::zeros();
        for (first, nodes, face) in [(true, [0, 1, 2], [c, p, q]), (false, [3, 4, 5], [d, a, b])] {
            let (l, t) = edge(&face[1], &face[2]);
            let area = triangle_area(&face);
            half += area / l;
            for (node, g) in nodes.into_iter().zip(triangle_area_gradient(&face)) {
                let mut rows = half_gradient.fixed_rows_mut::<3>(3 * node);
                rows += g / l;
            }
            for (node, sign) in [(nodes[1], -1.0), (nodes[2], 1.0)] {
                let mut rows = half_gradient.fixed_rows_mut::<3>(3 * node);
                rows -= t * (sign * area / (l * l));
                if first {
                    length_gradient.fixed_rows_mut::<3>(3 * node).copy_from(&(t * sign));
                }
            }
        }
        let l = (q - p).norm();
        (length_gradient / half - half_gradient * (l / (half * half))) * (3.0 * self.part)
    }
}

impl StencilEnergy<18> for SeamBend {
    const NODES: &'static [u8] = &[3; 6];
    const CORE: usize = 3;
    type Rest = SeamRest;

    fn rest(&self, x_bar: &Vector<18>) -> SeamRest {
        SeamRest { theta_bar: self.rest_angle(x_bar), factor: self.factor(x_bar) }
    }

    fn value<T: Scalar>(&self, x: &Vector<18, T>, x_bar: &Vector<18, T>) -> T {
        let difference = fold(self.angle(x) - self.rest_angle(x_bar));
        difference.squared() * self.factor(x_bar) * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<18>, rest: &SeamRest) -> f64 {
        0.5 * self.stiffness * rest.factor * fold(self.hinge(x).angle() - rest.theta_bar).powi(2)
    }

    fn gradient(&self, x: &Vector<18>, rest: &SeamRest) -> Vector<18> {
        let hinge = self.hinge(x);
        let moment = self.stiffness * rest.factor * fold(hinge.angle() - rest.theta_bar);
        self.spread(&hinge.gradient()) * moment
    }

    fn hessian(&self, x: &Vector<18>, rest: &SeamRest, curvature: Curvature) -> Matrix<18, 18> {
        let hinge = self.hinge(x);
        let k = self.stiffness * rest.factor;
        let g = self.spread(&hinge.gradient());
        let law = g * g.transpose() * k;
        match curvature {
            Curvature::Exact => {
                let bent = k * fold(hinge.angle() - rest.theta_bar);
                law + self.spread_hessian(&(hinge.hessian() * bent))
            }
            Curvature::Positive | Curvature::Material => law,
        }
    }

    fn mixed_hessian(&self, x: &Vector<18>, x_bar: &Vector<18>) -> Matrix<18, 18> {
        let now = self.hinge(x);
        let opened = fold(now.angle() - self.rest_angle(x_bar));
        let moment_slope = self.factor_gradient(x_bar) * opened
            - self.rest_angle_gradient(x_bar) * self.factor(x_bar);
        self.spread(&now.gradient()) * moment_slope.transpose() * self.stiffness
    }

    fn material_names() -> &'static [&'static str] {
        HingeBend::material_names()
    }

    fn add_material_product(
        &self,
        x: &Vector<18>,
        x_bar: &Vector<18>,
        lambda: &Vector<18>,
        out: &mut [f64],
    ) {
        material_product::<18, 1, _>(self, x, x_bar, lambda, out);
    }
}

impl MaterialEnergy<18, 1> for SeamBend {
    const PARAMETERS: [&'static str; 1] = ["k_bend"];

    fn parameters(&self) -> Vector<1> {
        Vector::<1>::new(self.stiffness)
    }

    fn with_parameters(&self, p: &Vector<1>) -> Self {
        Self { stiffness: p[0], ..*self }
    }

    fn material_hessian(&self, x: &Vector<18>, x_bar: &Vector<18>) -> Matrix<18, 1> {
        self.with_parameters(&Vector::<1>::new(1.0)).gradient(x, &self.rest(x_bar))
    }
}
