//! Whether contacts can carry a garment at all, and how much friction that takes.
//!
//! Whatever the cloth, the contact forces on a piece without pins must balance its weight, in force and torque, inside their cones: a
//! second-order cone programme with six equations per piece. If it has no solution neither has the inversion.

use nalgebra::{Matrix6, SVector};
use toile_geometry::Vec3;

use crate::cone::Cone;

type Vec6 = SVector<f64, 6>;

/// A contact of a piece: where, its normal, its friction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Support {
    pub(crate) point: Vec3,
    pub(crate) normal: Vec3,
    pub(crate) friction: f64,
}

/// Rounds of the alternating projections.
const ROUNDS: usize = 1000;
/// Distance between balance and cones at which forces count as found, over the weight.
const FOUND: f64 = 1e-4;

/// Whether forces inside cones with `factor` times the friction balance a weight at a point.
pub(crate) fn can_carry(supports: &[Support], weight: &Vec3, centre: &Vec3, factor: f64) -> bool {
    let count = supports.len().max(1) as f64;
    let size = weight.norm();
    if size == 0.0 {
        return true;
    }
    let reach = supports.iter().map(|s| (s.point - centre).norm()).fold(1e-12, f64::max);
    // Wrench of the forces about the centre of mass, torques over the reach; in units of the mean force.
    let arm = |s: &Support| (s.point - centre) / reach;
    let wrench = |forces: &[Vec3]| {
        let mut sum = Vec6::zeros();
        for (s, f) in supports.iter().zip(forces) {
            let torque = arm(s).cross(f);
            for k in 0..3 {
                sum[k] += f[k];
                sum[3 + k] += torque[k];
            }
        }
        sum
    };
    let mut gram = Matrix6::zeros();
    for s in supports {
        let p = arm(s);
        for axis in 0..3 {
            let mut e = Vec3::zeros();
            e[axis] = 1.0;
            let t = p.cross(&e);
            let column = Vec6::new(e.x, e.y, e.z, t.x, t.y, t.z);
            gram += column * column.transpose();
        }
    }
    gram += Matrix6::identity() * (1e-12 * gram.trace().max(f64::MIN_POSITIVE));
    let Some(inverse) = gram.try_inverse() else { return false };
    let needed = -*weight / size * count;
    let needed = Vec6::new(needed.x, needed.y, needed.z, 0.0, 0.0, 0.0);
    let cones: Vec<Cone> = supports
        .iter()
        .map(|s| Cone { normal: s.normal, friction: factor * s.friction, least: 0.0, soft: 0.0 })
        .collect();
    // Douglas–Rachford between the balanced forces and the cones.
    let mut y: Vec<Vec3> = supports.iter().map(|s| s.normal).collect();
    let mut inside = y.clone();
    for round in 0..ROUNDS {
        for (i, cone) in cones.iter().enumerate() {
            inside[i] = cone.project(&y[i]);
        }
        let mirrored: Vec<Vec3> = inside.iter().zip(&y).map(|(z, y)| z * 2.0 - y).collect();
        let off = inverse * (wrench(&mirrored) - needed);
        let (push, turn) = (Vec3::new(off[0], off[1], off[2]), Vec3::new(off[3], off[4], off[5]));
        for (i, s) in supports.iter().enumerate() {
            let balanced = mirrored[i] - push - turn.cross(&arm(s));
            y[i] += balanced - inside[i];
        }
        if round % 10 == 9 && (wrench(&inside) - needed).norm() <= FOUND * count {
            return true;
        }
    }
    false
}

/// The least factor on the friction with which forces inside the cones balance a weight; `None` when no friction would do.
pub(crate) fn least_friction(supports: &[Support], weight: &Vec3, centre: &Vec3) -> Option<f64> {
    if supports.iter().all(|s| s.friction == 0.0) {
        return can_carry(supports, weight, centre, 0.0).then_some(0.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while !can_carry(supports, weight, centre, high) {
        low = high;
        high *= 2.0;
        if high > 200.0 {
            return None;
        }
    }
    while high - low > 5e-3 * high {
        let middle = 0.5 * (low + high);
        if can_carry(supports, weight, centre, middle) {
            high = middle;
        } else {
            low = middle;
        }
        if high < 1e-3 {
            return Some(0.0);
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plate on a slope: the friction it takes is the slope's.
    #[test]
    fn a_slope_takes_the_friction_of_its_angle() {
        let (sin, cos) = 0.3f64.sin_cos();
        let normal = Vec3::new(sin, 0.0, cos);
        let along = Vec3::new(cos, 0.0, -sin);
        let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
        let supports: Vec<Support> = corners
            .iter()
            .map(|[a, b]| Support { point: along * *a + Vec3::y() * *b, normal, friction: 0.5 })
            .collect();
        let weight = Vec3::new(0.0, 0.0, -3.0);
        let found = least_friction(&supports, &weight, &Vec3::zeros()).unwrap();
        let exact = 0.3f64.tan() / 0.5;
        assert!((found / exact - 1.0).abs() < 0.02, "{found} instead of {exact}");
        // With the centre beyond the corners it tips over, whatever the friction.
        let beyond = along * 3.0;
        assert!(!can_carry(&supports, &weight, &beyond, 1.0));
    }

    #[test]
    fn a_ring_can_squeeze_with_hardly_any_friction_but_not_with_none() {
        let ring: Vec<Support> = (0..12)
            .map(|k| {
                let (s, c) = (0.5 * f64::from(k)).sin_cos();
                let normal = Vec3::new(c, s, 0.0);
                Support { point: normal * 0.2, normal, friction: 0.1 }
            })
            .collect();
        let (weight, centre) = (Vec3::new(0.0, 0.0, -1.0), Vec3::new(0.0, 0.0, -0.3));
        assert!(can_carry(&ring, &weight, &centre, 1.0));
        assert!(!can_carry(&ring, &weight, &centre, 0.0));
    }
}
