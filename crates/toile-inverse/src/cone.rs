//! How far a contact force is outside its cone, and how that changes with the force.

use nalgebra::Matrix3;
use toile_geometry::Vec3;

/// A Coulomb cone moved out along its axis: ‖f_T‖ ≤ μ (f_N − least), with a soft border.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone {
    /// Unit axis, out of the collider.
    pub(crate) normal: Vec3,
    /// μ.
    pub(crate) friction: f64,
    /// Least normal force \[N\].
    pub(crate) least: f64,
    /// Width of the border \[N\]: forces that much inside feel it already.
    pub(crate) soft: f64,
}

/// The penalty on a force, to second order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    /// p(λ₁) + p(λ₂) \[N²\].
    pub(crate) energy: f64,
    /// M with MᵀM the Hessian of the energy.
    pub(crate) root: Matrix3<f64>,
    /// c with Mᵀc its gradient \[N\].
    pub(crate) target: Vec3,
}

impl Cone {
    /// Penalty on f: p(λ₁) + p(λ₂) with λ = μ f_N ∓ ‖f_T‖ its distances to the border (the spectral values of (μ f_N, f_T) in the
    /// second-order cone) and p(λ) = λ²/2 for λ < 0, made smooth over ±`soft`.
    ///
    /// Convex, zero inside. With a border of no width a step of Newton sees only forces that are outside already, and throws
    /// others out; a soft one lets it see them coming.
    pub(crate) fn outside(&self, force: &Vec3) -> Outside {
        let f = force - self.normal * self.least;
        let along = f.dot(&self.normal);
        let across = f - self.normal * along;
        let size = across.norm();
        let radial = if size > 0.0 { across / size } else { any_across(&self.normal) };
        let around = self.normal.cross(&radial);
        let [(p1, d1, h1), (p2, d2, h2)] =
            [self.friction * along - size, self.friction * along + size].map(|s| self.bend(s));
        // Rows: along the two spectral directions and around the axis, in the coordinates (μ f_N, f_T).
        let turn = if size > 0.0 { ((d2 - d1) / size).max(0.0) } else { h1 + h2 };
        let first = self.normal * self.friction - radial;
        let second = self.normal * self.friction + radial;
        let root = Matrix3::from_rows(&[
            (first * h1.sqrt()).transpose(),
            (second * h2.sqrt()).transpose(),
            (around * turn.sqrt()).transpose(),
        ]);
        let over = |d: f64, h: f64| if h > 0.0 { d / h.sqrt() } else { 0.0 };
        Outside { energy: p1 + p2, root, target: Vec3::new(over(d1, h1), over(d2, h2), 0.0) }
    }

    /// p, p′ and p″.
    fn bend(&self, s: f64) -> (f64, f64, f64) {
        let h = self.soft;
        if s >= h {
            (0.0, 0.0, 0.0)
        } else if s <= -h {
            (0.5 * s * s + h * h / 6.0, s, 1.0)
        } else {
            let d = h - s;
            (d * d * d / (12.0 * h), -d * d / (4.0 * h), d / (2.0 * h))
        }
    }

    /// Distance of a force from the cone (of no soft border, `least` not counted) \[N\].
    pub(crate) fn distance(&self, force: &Vec3) -> f64 {
        let along = force.dot(&self.normal);
        let across = (force - self.normal * along).norm();
        let mu = self.friction;
        if across <= mu * along {
            0.0
        } else if mu * across <= -along {
            force.norm()
        } else {
            (across - mu * along) / (1.0 + mu * mu).sqrt()
        }
    }

    /// The nearest force inside (of no soft border).
    pub(crate) fn project(&self, force: &Vec3) -> Vec3 {
        let f = force - self.normal * self.least;
        let along = f.dot(&self.normal);
        let across = f - self.normal * along;
        let size = across.norm();
        let mu = self.friction;
        let inside = if size <= mu * along {
            f
        } else if mu * size <= -along {
            Vec3::zeros()
        } else {
            let reach = (along + mu * size) / (1.0 + mu * mu);
            (self.normal + across * (mu / size)) * reach
        };
        inside + self.normal * self.least
    }

    /// 1 − ‖f_T‖ / (μ f_N): one on the axis, zero on the border, negative outside.
    pub(crate) fn margin(&self, force: &Vec3) -> f64 {
        let along = force.dot(&self.normal);
        let across = (force - self.normal * along).norm();
        if across == 0.0 && along >= 0.0 {
            1.0
        } else if along <= 0.0 || self.friction == 0.0 {
            f64::NEG_INFINITY
        } else {
            1.0 - across / (self.friction * along)
        }
    }
}

/// Some unit vector across n.
fn any_across(n: &Vec3) -> Vec3 {
    let axis = if n.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() };
    n.cross(&axis).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_target_are_the_derivatives_of_the_energy() {
        for soft in [0.0, 0.3] {
            let cone = Cone { normal: Vec3::new(0.6, 0.0, 0.8), friction: 0.4, least: 0.1, soft };
            // Inside, near the border, outside, behind the tip.
            for f in [[0.7, 0.1, 0.9], [1.0, 0.5, -0.1], [0.1, 0.6, 0.3], [-1.0, 0.1, -0.8]] {
                let f = Vec3::from(f);
                let here = cone.outside(&f);
                let (gradient, hessian) =
                    (here.root.tr_mul(&here.target), here.root.tr_mul(&here.root));
                for k in 0..3 {
                    let h = 1e-6;
                    let mut step = Vec3::zeros();
                    step[k] = h;
                    let (up, down) = (cone.outside(&(f + step)), cone.outside(&(f - step)));
                    let slope = (up.energy - down.energy) / (2.0 * h);
                    assert!((slope - gradient[k]).abs() < 1e-8, "{f}: {slope} {}", gradient[k]);
                    let at = |o: &Outside| o.root.tr_mul(&o.target);
                    let change = (at(&up) - at(&down)) / (2.0 * h);
                    assert!((change - hessian.column(k)).norm() < 1e-7, "{f}: {change}");
                }
            }
        }
        let cone = Cone { normal: Vec3::z(), friction: 0.5, least: 0.0, soft: 0.1 };
        assert_eq!(cone.outside(&Vec3::z()).energy, 0.0);
        assert!(cone.outside(&Vec3::new(0.5, 0.0, 1.0)).energy > 0.0);
    }

    #[test]
    fn the_margin_vanishes_on_the_border_and_the_distance_inside() {
        let cone = Cone { normal: Vec3::z(), friction: 0.5, least: 0.0, soft: 0.0 };
        assert_eq!(cone.margin(&Vec3::new(0.5, 0.0, 1.0)), 0.0);
        assert_eq!(cone.margin(&Vec3::z()), 1.0);
        assert!(cone.margin(&-Vec3::z()) < 0.0);
        assert!(cone.margin(&Vec3::x()) < 0.0);
        assert_eq!(cone.distance(&Vec3::new(0.4, 0.0, 1.0)), 0.0);
        assert_eq!(cone.distance(&Vec3::new(0.0, 0.0, -2.0)), 2.0);
        let far = cone.distance(&Vec3::new(1.0, 0.0, 0.0));
        assert!((far - 1.0 / 1.25f64.sqrt()).abs() < 1e-15, "{far}");
        // The projection is where the distance says, and on the border.
        let f = Vec3::new(0.3, 1.0, 0.2);
        let p = cone.project(&f);
        assert!(((f - p).norm() - cone.distance(&f)).abs() < 1e-15);
        assert!(cone.margin(&p).abs() < 1e-14);
        assert_eq!(cone.project(&-Vec3::z()), Vec3::zeros());
    }
}
