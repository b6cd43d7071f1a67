//! Step two: the rest shape changes until every force of contact is in its cone, the shape staying where it is.
//!
//! Minimises ½ Σ ‖Gᵢ‖² over x̄ at fixed x (Ly 2021, §5.5, signs corrected): at free unknowns G is the force left, at a contact
//! G = g(F_N) + g(μ′F_N − ‖F_T‖) with g(t) = max(0, −t); it vanishes where F is in the cone of μ′ = 0.975 μ.

use toile_geometry::Vec3;
use toile_sim::State;

use super::drape::Draping;
use super::match_target::keep;

/// A contact of step two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed {
    /// First unknown of its vertex.
    pub(super) unknown: usize,
    pub(super) normal: Vec3,
    /// μ′.
    pub(super) friction: f64,
}

/// G of a contact, and its derivative by the force.
pub(super) fn outside(c: &Pressed, force: &Vec3) -> (f64, Vec3) {
    let along = force.dot(&c.normal);
    let across = force - c.normal * along;
    let size = across.norm();
    let radial = if size > 0.0 { across / size } else { Vec3::zeros() };
    let (mut g, mut slope) = (0.0, Vec3::zeros());
    if along < 0.0 {
        g -= along;
        slope -= c.normal;
    }
    if c.friction * along < size {
        g += size - c.friction * along;
        slope += radial - c.normal * c.friction;
    }
    (g, slope)
}

/// ½ Σ ‖G‖² of the rest shape `base` + `change` at x, with its gradient.
pub(super) fn evaluate(
    draping: &mut Draping,
    x: &State,
    contacts: &[Pressed],
    base: &State,
    change: &[f64],
    free: &[bool],
) -> (f64, Vec<f64>) {
    let mut rest = base.clone();
    base.advanced_into(change, 1.0, &mut rest);
    draping.model.set_rest(&rest);
    let forces = draping.forces(x);
    let mut g = forces.clone();
    // Pins and contacts are fixed: pins may carry anything.
    draping.model.clear_fixed(&mut g);
    for (g, lever) in g.iter_mut().zip(draping.model.levers()) {
        *g /= lever * lever; // G is the force at the lever, and its derivative has the lever again
    }
    let levers = draping.model.levers();
    let mut value: f64 = g.iter().zip(levers).map(|(g, l)| 0.5 * (g * l).powi(2)).sum();
    for c in contacts {
        let force = Vec3::from_column_slice(&forces[c.unknown..c.unknown + 3]);
        let (size, slope) = outside(c, &force);
        value += 0.5 * size * size;
        for k in 0..3 {
            g[c.unknown + k] = size * slope[k];
        }
    }
    let mixed = draping.mixed_values(x);
    let mut gradient = vec![0.0; g.len()];
    draping.mixed.multiply_transposed(&mixed, &g, &mut gradient);
    keep(free, &mut gradient);
    (value, gradient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_outside_in_the_cone_and_the_slope_is_right_elsewhere() {
        let c = Pressed { unknown: 0, normal: Vec3::new(0.6, 0.0, 0.8), friction: 0.4 };
        assert_eq!(outside(&c, &c.normal).0, 0.0);
        for f in [[0.1, 0.6, 0.3], [-1.0, 0.1, -0.8], [1.0, -0.5, 0.2]] {
            let f = Vec3::from(f);
            let (_, slope) = outside(&c, &f);
            for k in 0..3 {
                let mut step = Vec3::zeros();
                step[k] = 1e-6;
                let change = outside(&c, &(f + step)).0 - outside(&c, &(f - step)).0;
                assert!((change / 2e-6 - slope[k]).abs() < 1e-8, "{f} {slope}");
            }
        }
    }
}
