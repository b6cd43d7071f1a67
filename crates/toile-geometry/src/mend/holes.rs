//! Filling small holes.

use crate::topology::components;
use crate::{Topology, Vec3};

/// Fills holes whose border, squared, is less than `most` of the area of their piece, with a fan around the middle of the
/// border; returns how many.
pub(super) fn fill(places: &mut Vec<Vec3>, list: &mut Vec<[u32; 3]>, most: f64) -> usize {
    let Ok(topology) = Topology::new(places.len(), list.clone()) else { return 0 };
    let pieces = components(places.len(), list);
    let mut area = vec![0.0; pieces.count];
    for (face, &piece) in list.iter().zip(&pieces.of_face) {
        let [a, b, c] = face.map(|v| places[v as usize]);
        area[piece as usize] += 0.5 * (b - a).cross(&(c - a)).norm();
    }
    let mut filled = 0;
    for border in topology.boundary_loops() {
        let point = |k: usize| places[border[k % border.len()] as usize];
        let length: f64 = (0..border.len()).map(|k| (point(k + 1) - point(k)).norm()).sum();
        let Some(piece) = pieces.of_vertex[border[0] as usize] else { continue };
        if border.len() < 3 || length * length >= most * area[piece as usize] {
            continue;
        }
        // A border that visits a vertex twice would need more than a fan.
        let mut once = border.clone();
        once.sort_unstable();
        if once.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        // Border loops run along their faces; what fills the hole runs against them.
        let runs = |a: u32, b: u32| {
            topology.edges().iter().any(|e| e.is_boundary() && e.vertices == [a, b])
        };
        let forward = runs(border[0], border[1]);
        let middle = (0..border.len()).fold(Vec3::zeros(), |sum, k| sum + point(k));
        let centre = places.len() as u32;
        places.push(middle / border.len() as f64);
        for k in 0..border.len() {
            let (a, b) = (border[k], border[(k + 1) % border.len()]);
            list.push(if forward { [b, a, centre] } else { [a, b, centre] });
        }
        filled += 1;
    }
    filled
}
