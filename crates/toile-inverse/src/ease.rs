//! The surroundings of contacts that were closed go along.
//!
//! A drawn garment hovers over its body by some millimetres here and dips into it there. Moving only what touches would leave a step around it as high as the gap, which no soft
//! cloth can hold. The other vertices follow by
//!
//! minimise  ½ ∫ |∇d|² + |d|²/ℓ²   with d given where the target touches,
//!
//! which is nowhere longer than it is there and fades within some ℓ; ℓ goes with the longest way, so that what was drawn to touch stays as it was drawn.

use toile_geometry::{Topology, Vec3};
use toile_sim::Stitch;

/// ℓ over the longest way that closed a contact: a crease of a sixth of a radian.
const FADING: f64 = 6.0;
/// How much more two sides of a seam are to each other than neighbours of well-shaped faces.
const SEWN: f64 = 10.0;
/// Sweeps at most, and change at which they end, in units of the longest way.
const SWEEPS: usize = 1000;
const SETTLED: f64 = 1e-6;

/// Moves the vertices that are not `given` along with those that are, in `positions`, which were `drawn` elsewhere \[m\].
pub(crate) fn ease(
    positions: &mut [Vec3],
    drawn: &[Vec3],
    given: &[bool],
    topology: &Topology,
    seams: &[Stitch],
) {
    let mut way: Vec<Vec3> = positions.iter().zip(drawn).map(|(p, d)| p - d).collect();
    let longest = way.iter().map(Vec3::norm).fold(0.0, f64::max);
    if longest.is_nan() || longest <= 0.0 {
        return;
    }
    for (w, _) in way.iter_mut().zip(given).filter(|(_, given)| !**given) {
        *w = Vec3::zeros();
    }
    let (springs, masses) = springs(drawn, topology, seams);
    let stay = (FADING * longest).powi(-2);
    let free: Vec<usize> =
        (0..way.len()).filter(|v| !given[*v] && !springs[*v].is_empty()).collect();
    for sweep in 0..SWEEPS {
        let mut change = 0.0f64;
        let mut relax = |v: usize| {
            let (mut sum, mut total) = (Vec3::zeros(), masses[v] * stay);
            for &(other, weight) in &springs[v] {
                sum += way[other as usize] * weight;
                total += weight;
            }
            let next = sum / total.max(f64::MIN_POSITIVE);
            change = change.max((next - way[v]).amax());
            way[v] = next;
        };
        // There and back, since vertices are often numbered along the cloth.
        match sweep % 2 {
            0 => free.iter().for_each(|v| relax(*v)),
            _ => free.iter().rev().for_each(|v| relax(*v)),
        }
        if change <= SETTLED * longest {
            break;
        }
    }
    for &v in &free {
        positions[v] = drawn[v] + way[v];
    }
}

/// A vertex, and how much it is to another.
type Spring = (u32, f64);

/// What vertices are to each other, as linear elements would have it for well-shaped faces and never negative, and their areas \[m²\].
fn springs(drawn: &[Vec3], topology: &Topology, seams: &[Stitch]) -> (Vec<Vec<Spring>>, Vec<f64>) {
    let mut springs: Vec<Vec<Spring>> = vec![Vec::new(); drawn.len()];
    let mut masses = vec![0.0; drawn.len()];
    let mut join = |a: u32, b: u32, weight: f64| {
        for (a, b) in [(a, b), (b, a)] {
            match springs[a as usize].iter_mut().find(|(v, _)| *v == b) {
                Some((_, w)) => *w += weight,
                None => springs[a as usize].push((b, weight)),
            }
        }
    };
    for face in topology.faces() {
        let [a, b, c] = face.map(|v| drawn[v as usize]);
        let area = 0.5 * (b - a).cross(&(c - a)).norm();
        for k in 0..3 {
            let (u, v) = (face[k], face[(k + 1) % 3]);
            masses[u as usize] += area / 3.0;
            let length_squared = (drawn[u as usize] - drawn[v as usize]).norm_squared();
            if length_squared > 0.0 {
                join(u, v, area / (1.5 * length_squared));
            }
        }
    }
    for stitch in seams {
        let all = stitch.carriers().into_iter().filter(|(v, w)| *v != stitch.vertex && *w != 0.0);
        for (v, w) in all {
            join(stitch.vertex, v, SEWN * w.abs());
        }
    }
    (springs, masses)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip of width 1 and length 40 along x, cells of edge 1.
    fn strip() -> (Vec<Vec3>, Topology) {
        let positions =
            (0..82).map(|k| Vec3::new(f64::from(k / 2), f64::from(k % 2), 0.0)).collect();
        let faces = (0..40).flat_map(|k| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| 2 * k + i);
            [[a, c, b], [b, c, d]]
        });
        (positions, Topology::new(82, faces.collect()).unwrap())
    }

    /// Moved at one end by h, the rest follows by h exp(-x/ℓ), ℓ = 6 h.
    #[test]
    fn what_follows_fades_exponentially() {
        let (drawn, topology) = strip();
        let mut positions = drawn.clone();
        let mut given = vec![false; 82];
        for v in 0..2 {
            positions[v].z = 1.0;
            given[v] = true;
        }
        ease(&mut positions, &drawn, &given, &topology, &[]);
        for (p, d) in positions.iter().zip(&drawn) {
            let expected = (-d.x / FADING).exp();
            assert!((p.z - expected).abs() < 0.03, "{} instead of {expected} at {}", p.z, d.x);
            assert!((p - d).xy().norm() < 1e-12);
        }
    }

    #[test]
    fn what_was_drawn_to_touch_stays() {
        let (drawn, topology) = strip();
        let mut positions = drawn.clone();
        let mut given = vec![false; 82];
        (positions[40].z, given[40]) = (1e-9, true);
        ease(&mut positions, &drawn, &given, &topology, &[]);
        let far = positions.iter().zip(&drawn).enumerate().filter(|(v, _)| *v != 40);
        let moved = far.map(|(_, (p, d))| (p - d).norm()).fold(0.0, f64::max);
        assert!(moved < 1e-20, "{moved}");
    }
}
