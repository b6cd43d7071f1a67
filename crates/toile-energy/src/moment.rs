//! A moment along a free border.

use toile_num::{Matrix, Scalar, ScalarFunction, Vector, gradient_of, hessian_of};

use crate::{Curvature, StencilEnergy};

/// Moment about a fixed axis on the border of a face: E = −m L̄ φ, φ the angle by which the edge normal
/// has turned about the axis.
///
/// Coordinates: apex, the two ends of the border edge, and the edge's angle ξ. The normal of the face
/// turned by ξ towards the outside of the face is the edge normal, so φ follows both. Conservative as
/// long as the edge stays along the axis. φ is counted from `reference`, which the caller moves along
/// when the border turns by more than half a turn. Derivatives by dual numbers: borders are short.
#[derive(Clone, Copy, Debug)]
pub struct EdgeMoment {
    /// Moment per unit of rest length \[N\].
    pub moment: f64,
    /// Unit vector of the axis.
    pub axis: Vector<3>,
    /// Angle of the normal about the axis from which φ is counted \[rad\].
    pub reference: f64,
    /// Sign that turns ξ, positive towards the outside of the face, into an angle about the axis.
    pub turn: f64,
}

impl EdgeMoment {
    /// Angle about the axis of the normal of the face (apex, a, b), in (−π, π], counted from a fixed
    /// direction that depends on the axis alone.
    fn face_angle<T: Scalar>(&self, x: &Vector<10, T>) -> T {
        let p = |i: usize| x.fixed_rows::<3>(3 * i).into_owned();
        let n = (p(1) - p(0)).cross(&(p(2) - p(0)));
        let least = self.axis.iamin();
        let mut seed = Vector::<3>::zeros();
        seed[least] = 1.0;
        let u = self.axis.cross(&seed).normalize();
        let v = self.axis.cross(&u);
        let along = |d: &Vector<3>| n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
        along(&v).atan2(along(&u))
    }

    /// The angle of the edge normal about the axis, without regard to `reference`, in (−π, π].
    pub fn angle(&self, x: &Vector<10>) -> f64 {
        self.face_angle(x) + self.turn * x[9]
    }

    fn turned<T: Scalar>(&self, x: &Vector<10, T>) -> T {
        let angle = self.face_angle(x) + x[9] * self.turn - self.reference;
        let turns = (angle.real() / std::f64::consts::TAU).round();
        angle - turns * std::f64::consts::TAU
    }
}

struct AtRest<'a>(&'a EdgeMoment, f64);
impl ScalarFunction<10> for AtRest<'_> {
    fn call<T: Scalar>(&self, x: &Vector<10, T>) -> T {
        self.0.turned(x) * (-self.0.moment * self.1)
    }
}

fn border_length<T: Scalar>(x_bar: &Vector<10, T>) -> T {
    let d = x_bar.fixed_rows::<3>(6) - x_bar.fixed_rows::<3>(3);
    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
}

impl StencilEnergy<10> for EdgeMoment {
    const NODES: &'static [u8] = &[3, 3, 3, 1];
    type Rest = f64;

    fn rest(&self, x_bar: &Vector<10>) -> f64 {
        border_length(x_bar)
    }

    fn value<T: Scalar>(&self, x: &Vector<10, T>, x_bar: &Vector<10, T>) -> T {
        self.turned(x) * border_length(x_bar) * -self.moment
    }

    fn energy(&self, x: &Vector<10>, length: &f64) -> f64 {
        AtRest(self, *length).call(x)
    }

    fn gradient(&self, x: &Vector<10>, length: &f64) -> Vector<10> {
        gradient_of(&AtRest(self, *length), x)
    }

    fn hessian(&self, x: &Vector<10>, length: &f64, curvature: Curvature) -> Matrix<10, 10> {
        match curvature {
            Curvature::Exact => hessian_of(&AtRest(self, *length), x),
            Curvature::Positive | Curvature::Material => Matrix::zeros(),
        }
    }

    fn mixed_hessian(&self, x: &Vector<10>, x_bar: &Vector<10>) -> Matrix<10, 10> {
        let d = x_bar.fixed_rows::<3>(6) - x_bar.fixed_rows::<3>(3);
        let t = d / d.norm();
        let mut length_gradient = Vector::<10>::zeros();
        length_gradient.fixed_rows_mut::<3>(3).copy_from(&-t);
        length_gradient.fixed_rows_mut::<3>(6).copy_from(&t);
        gradient_of(&AtRest(self, 1.0), x) * length_gradient.transpose()
    }
}
