//! A contact of several vertices that sticks, as a stiff spring.

use toile_energy::{Curvature, StencilEnergy};
use toile_num::{Matrix, Scalar, Vector};

/// Spring between a blend of four points and a fixed one: E = ½ k |Σ wᵢ xᵢ − p|².
///
/// With p set off by r/k the spring carries r where the contact is, and k decides only how far it yields when the rest of the
/// cloth settles: forces in balance are exact whatever k.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tie {
    /// k \[N/m\].
    pub(crate) stiffness: f64,
    /// w; zero where there is no vertex.
    pub(crate) weights: [f64; 4],
    /// p \[m\].
    pub(crate) point: Vector<3>,
}

impl Tie {
    fn off(&self, x: &Vector<12>) -> Vector<3> {
        let mut sum = -self.point;
        for (i, w) in self.weights.iter().enumerate() {
            sum += x.fixed_rows::<3>(3 * i) * *w;
        }
        sum
    }
}

impl StencilEnergy<12> for Tie {
    const NODES: &'static [u8] = &[3, 3, 3, 3];
    const TRANSLATION_INVARIANT: bool = false;
    type Rest = ();

    fn rest(&self, _: &Vector<12>) {}

    fn value<T: Scalar>(&self, x: &Vector<12, T>, _: &Vector<12, T>) -> T {
        let mut sum = T::zero();
        for k in 0..3 {
            let mut off = T::constant(-self.point[k]);
            for (i, w) in self.weights.iter().enumerate() {
                off += x[3 * i + k] * *w;
            }
            sum += off.squared();
        }
        sum * (0.5 * self.stiffness)
    }

    fn energy(&self, x: &Vector<12>, (): &()) -> f64 {
        0.5 * self.stiffness * self.off(x).norm_squared()
    }

    fn gradient(&self, x: &Vector<12>, (): &()) -> Vector<12> {
        let pull = self.off(x) * self.stiffness;
        Vector::from_fn(|i, _| self.weights[i / 3] * pull[i % 3])
    }

    fn hessian(&self, _: &Vector<12>, (): &(), _: Curvature) -> Matrix<12, 12> {
        Matrix::from_fn(|i, j| {
            let same = f64::from(u8::from(i % 3 == j % 3));
            same * self.stiffness * self.weights[i / 3] * self.weights[j / 3]
        })
    }

    fn mixed_hessian(&self, _: &Vector<12>, _: &Vector<12>) -> Matrix<12, 12> {
        Matrix::zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_its_force_and_obeys_its_energy() {
        let tie = Tie {
            stiffness: 50.0,
            weights: [0.25, 0.75, -1.0, 0.0],
            point: Vector::<3>::new(0.1, -0.2, 0.3),
        };
        let x = Vector::<12>::from_fn(|i, _| (1.7 * i as f64).sin());
        let (g, h) = (tie.gradient(&x, &()), tie.hessian(&x, &(), Curvature::Exact));
        assert!((tie.value(&x, &x) - tie.energy(&x, &())).abs() < 1e-12);
        let step = 1e-5;
        for i in 0..12 {
            let at = |s: f64| {
                let mut y = x;
                y[i] += s;
                y
            };
            let slope = (tie.energy(&at(step), &()) - tie.energy(&at(-step), &())) / (2.0 * step);
            assert!((slope - g[i]).abs() < 1e-7, "{i}: {slope} {}", g[i]);
            let change =
                (tie.gradient(&at(step), &()) - tie.gradient(&at(-step), &())) / (2.0 * step);
            assert!((change - h.column(i)).norm() < 1e-7, "{i}");
        }
    }
}
