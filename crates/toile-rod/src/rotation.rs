//! Rotations of a frame that turns at a constant rate: the super-helix in closed form.

use toile_num::{Matrix, Scalar, Vector};

/// Three coordinates of any scalar.
pub type Vec3<T = f64> = Vector<3, T>;
/// A 3 × 3 matrix of any scalar.
pub type Mat3<T = f64> = Matrix<3, 3, T>;

/// \[u\]×, the matrix of v ↦ u × v.
pub fn cross_matrix<T: Scalar>(u: &Vec3<T>) -> Mat3<T> {
    let o = T::zero();
    Mat3::new(o, -u[2], u[1], u[2], o, -u[0], -u[1], u[0], o)
}

/// sin(ns)/n, (1 − cos ns)/n² and (s − sin(ns)/n)/n², from n² and s.
///
/// Below ns ≈ 0.3 by their series, where the closed forms lose digits to cancellation.
fn coefficients<T: Scalar>(n_squared: T, s: T) -> [T; 3] {
    let x2 = n_squared * s * s;
    if x2.real() < 0.09 {
        let one = T::one();
        // Nested from the highest term: x² / (k (k+1)) at each level.
        let nest =
            |ks: [f64; 5]| ks.iter().rev().fold(one, |sum, &k| one - x2 * sum / (k * (k + 1.0)));
        let first = s * nest([2.0, 4.0, 6.0, 8.0, 10.0]);
        let second = s * s * nest([3.0, 5.0, 7.0, 9.0, 11.0]) / 2.0;
        let third = s * s * s * nest([4.0, 6.0, 8.0, 10.0, 12.0]) / 6.0;
        return [first, second, third];
    }
    let n = n_squared.sqrt();
    let x = n * s;
    let half = (x / 2.0).sin();
    [x.sin() / n, half * half * 2.0 / n_squared, (s - x.sin() / n) / n_squared]
}

/// exp(s \[k\]×): the frame after the arclength s at the constant material curvature k \[1/m\].
pub fn turn<T: Scalar>(k: &Vec3<T>, s: T) -> Mat3<T> {
    let [a, b, _] = coefficients(k.dot(k), s);
    let kx = cross_matrix(k);
    Mat3::identity() + kx * a + kx * kx * b
}

/// ∫₀ˢ exp(σ \[k\]×) dσ: its third column is where a helix with tangent d₃ has gone.
pub fn turn_integral<T: Scalar>(k: &Vec3<T>, s: T) -> Mat3<T> {
    let [_, b, c] = coefficients(k.dot(k), s);
    let kx = cross_matrix(k);
    Mat3::identity() * s + kx * b + kx * kx * c
}

/// The rotation nearest to a matrix that has left the group by rounding: one Newton step of the polar
/// decomposition, R (3 − RᵀR) / 2.
pub fn straightened(r: &Mat3) -> Mat3 {
    r * (Mat3::identity() * 3.0 - r.transpose() * r) * 0.5
}

/// The vector along the axis of a rotation, as long as its angle.
pub fn axial_angle(rotation: &Mat3) -> Vec3 {
    nalgebra::Rotation3::from_matrix_unchecked(straightened(rotation)).scaled_axis()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_form_and_series_meet() {
        // Either side of the switch at ns = 0.3.
        let k = Vec3::new(0.6, -0.5, 0.6244997998398398); // |k| = 1
        for s in [0.3 - 1e-9, 0.3 + 1e-9, 1e-9, 7.0] {
            let halves = turn(&k, s / 2.0);
            assert!((halves * halves - turn(&k, s)).norm() < 3e-15, "{s}");
            let there = turn_integral(&k, s / 2.0);
            let whole = there + halves * there;
            assert!((whole - turn_integral(&k, s)).norm() < 3e-15 * (1.0 + s), "{s}");
        }
    }

    #[test]
    fn frames_stay_orthonormal() {
        let r = turn(&Vec3::new(12.0, -3.0, 41.0), 2.0);
        assert!((r.transpose() * r - Mat3::identity()).norm() < 1e-14);
        let bent = r * 1.0001;
        let again = straightened(&bent);
        assert!((again.transpose() * again - Mat3::identity()).norm() < 1e-7);
    }
}
