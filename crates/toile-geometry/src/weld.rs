//! Merging vertices that lie in the same place.

use std::collections::HashMap;

use crate::Vec3;
use crate::mesh::is_finite;

/// A mesh whose coincident vertices have been merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Welded {
    /// The vertices that stay, in their old order and place \[m\].
    pub positions: Vec<Vec3>,
    /// The faces that stay, in their old order, with new vertex numbers.
    pub faces: Vec<[u32; 3]>,
    /// New number of each old vertex.
    pub vertex_map: Vec<u32>,
    /// Old numbers of the faces that are gone, because two of their vertices have become one
    /// or because they named a vertex that does not exist.
    pub dropped_faces: Vec<usize>,
}

/// Merges each vertex with the first one that lies within `tolerance` \[m\].
///
/// Vertices stay where they are, so nothing moves by more than the tolerance. A tolerance of
/// zero (or one that is no number) merges only equal positions; vertices that are not finite
/// merge with none. Linear time; only the order of vertices matters for the result.
pub fn weld(positions: &[Vec3], faces: &[[u32; 3]], tolerance: f64) -> Welded {
    let partner = coincident(positions, tolerance);
    let mut kept = Vec::new();
    let mut vertex_map = Vec::with_capacity(positions.len());
    for (v, &first) in partner.iter().enumerate() {
        if first == v {
            vertex_map.push(kept.len() as u32);
            kept.push(positions[v]);
        } else {
            vertex_map.push(vertex_map[first]);
        }
    }
    let mut new_faces = Vec::with_capacity(faces.len());
    let mut dropped_faces = Vec::new();
    for (f, face) in faces.iter().enumerate() {
        let mapped = face.map(|v| vertex_map.get(v as usize).copied());
        match mapped {
            [Some(a), Some(b), Some(c)] if a != b && b != c && c != a => new_faces.push([a, b, c]),
            _ => dropped_faces.push(f),
        }
    }
    Welded { positions: kept, faces: new_faces, vertex_map, dropped_faces }
}

/// For each vertex, the first vertex within the tolerance that stands for itself; itself if
/// there is none.
pub(crate) fn coincident(positions: &[Vec3], tolerance: f64) -> Vec<usize> {
    let tolerance = if tolerance > 0.0 && tolerance.is_finite() { tolerance } else { 0.0 };
    // Vertices that stand for themselves lie further apart than the tolerance, so a cell of four
    // tolerances holds a bounded number of them, and most vertices have to look into few cells.
    // Beyond 2⁵² cells the tolerance is below the spacing of numbers and only equal coordinates
    // can meet: they are their own cells.
    let cell = |c: f64| {
        let number = (c / (4.0 * tolerance)).floor();
        let whole = number.abs() < 2f64.powi(52);
        ((if whole { number } else { c }) + 0.0).to_bits() // + 0.0 makes −0 equal 0
    };
    // The distinct cells within the tolerance and a little round-off on both sides.
    let reach = 1.001 * tolerance;
    let near = |c: f64| {
        let [low, own, high] = [cell(c - reach), cell(c), cell(c + reach)];
        [Some(own), (low != own).then_some(low), (high != own).then_some(high)]
            .into_iter()
            .flatten()
    };
    let mut cells: HashMap<[u64; 3], Vec<usize>> = HashMap::new();
    let mut partner: Vec<usize> = (0..positions.len()).collect();
    for (v, x) in positions.iter().enumerate() {
        if !is_finite(x) {
            continue;
        }
        // `amax` first: it cannot overflow where the norm would.
        let meets = |u: &&usize| {
            let gap = positions[**u] - x;
            gap.amax() <= tolerance && gap.norm() <= tolerance
        };
        let mut best = v;
        for i in near(x.x) {
            for j in near(x.y) {
                for k in near(x.z) {
                    let others = cells.get(&[i, j, k]).into_iter().flatten();
                    best = others.filter(meets).copied().fold(best, usize::min);
                }
            }
        }
        if best == v {
            cells.entry([cell(x.x), cell(x.y), cell(x.z)]).or_default().push(v);
        }
        partner[v] = best;
    }
    partner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TriMesh, generate, rng::Rng};

    #[test]
    fn two_panels_become_one_surface() {
        let left = generate::rectangle(1.0, 1.0, 3, 4, Default::default());
        let n = left.positions.len() as u32;
        let mut positions = left.positions.clone();
        positions.extend(left.positions.iter().map(|x| x + Vec3::new(1.0, 1e-7, 0.0)));
        let mut faces = left.faces().to_vec();
        faces.extend(left.faces().iter().map(|f| f.map(|v| v + n)));
        let apart = TriMesh::new(positions.clone(), faces.clone()).unwrap();
        assert_eq!(apart.topology.components().count, 2);

        let welded = weld(&positions, &faces, 1e-6);
        assert_eq!(welded.positions.len(), positions.len() - 5);
        assert!(welded.dropped_faces.is_empty());
        let joined = TriMesh::new(welded.positions, welded.faces).unwrap();
        assert_eq!(joined.topology.components().count, 1);
        assert_eq!(joined.topology.boundary_loops().len(), 1);
        // A tolerance below the gap leaves them apart.
        assert_eq!(weld(&positions, &faces, 1e-8).positions.len(), positions.len());
    }

    #[test]
    fn merged_vertices_are_those_within_the_tolerance_wherever_the_cells_lie() {
        for offset in [0.0, -0.3, 1e3, -12345.678] {
            for (gap, meets) in [(0.99e-3, true), (1.01e-3, false)] {
                let x = Vec3::new(offset, -offset, 0.5 * offset);
                let d = Vec3::new(1.0, -2.0, 2.0) / 3.0 * gap;
                let partner = coincident(&[x, x + d], 1e-3);
                assert_eq!(partner[1] == 0, meets, "offset {offset}, gap {gap}");
            }
        }
    }

    #[test]
    fn zero_tolerance_merges_equal_positions_only() {
        let x = Vec3::new(1.0, 0.0, -2.0);
        let y = Vec3::new(1.0, -0.0, -2.0);
        let z = Vec3::new(1.0 + f64::EPSILON, 0.0, -2.0);
        for tolerance in [0.0, -1.0, f64::NAN] {
            assert_eq!(coincident(&[x, y, z], tolerance), [0, 0, 2]);
        }
    }

    #[test]
    fn faces_that_collapse_or_point_nowhere_are_dropped_and_named() {
        let positions = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::y()];
        let welded = weld(&positions, &[[0, 1, 2], [1, 2, 3], [0, 1, 9]], 0.0);
        assert_eq!(welded.faces, [[0, 1, 2]]);
        assert_eq!(welded.vertex_map, [0, 1, 2, 2]);
        assert_eq!(welded.dropped_faces, [1, 2]);
    }

    #[test]
    fn huge_and_non_finite_coordinates_do_not_slow_it_down() {
        let far = |i: usize| Vec3::new(1e308 - i as f64 * 1e300, 1e-300 * i as f64, f64::MAX);
        let mut positions: Vec<Vec3> = (0..20_000).map(far).collect();
        positions.push(Vec3::new(f64::NAN, 0.0, 0.0));
        positions.push(Vec3::new(f64::NAN, 0.0, 0.0));
        assert_eq!(weld(&positions, &[], 1e-300).positions.len(), positions.len());
    }

    /// The definition itself: the first earlier representative within the tolerance.
    fn by_comparing_all(positions: &[Vec3], tolerance: f64) -> Vec<usize> {
        let mut partner: Vec<usize> = Vec::new();
        for (v, x) in positions.iter().enumerate() {
            let meets = |&u: &usize| partner[u] == u && (positions[u] - x).norm() <= tolerance;
            partner.push((0..v).find(meets).unwrap_or(v));
        }
        partner
    }

    #[test]
    fn cells_find_what_comparing_all_pairs_finds() {
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let shift = Vec3::repeat(1e3 * rng.symmetric());
            let points: Vec<Vec3> = (0..rng.below(80))
                .map(|_| Vec3::from_fn(|_, _| 3.0 * rng.symmetric()) + shift)
                .collect();
            assert_eq!(coincident(&points, 1.0), by_comparing_all(&points, 1.0), "seed {seed}");
        }
    }
}
