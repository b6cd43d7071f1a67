//! Irregular triangulations: displaced grid points, Delaunay by edge flips.

use crate::{Topology, Vec3, rng::Rng};

/// How often points are displaced; once would leave the grid visible.
const ROUNDS: usize = 4;
/// Largest displacement per round, in cells.
const REACH: f64 = 0.3;
/// Least height of a triangle over any of its sides, in cells: keeps slivers out.
const LEAST_HEIGHT: f64 = 0.25;

/// Displaces interior vertices of a flat mesh and makes it Delaunay again.
///
/// A displacement that would leave a triangle flatter than [`LEAST_HEIGHT`] cells is dropped,
/// so every intermediate mesh is valid.
pub(super) fn shuffle(positions: &mut [Vec3], faces: &mut [[u32; 3]], cell: [f64; 2], seed: u64) {
    let mut rng = Rng::new(seed);
    let scale = cell[0].min(cell[1]);
    let topology = Topology::new(positions.len(), faces.to_vec()).expect("a grid is a surface");
    let fixed: Vec<bool> = (0..positions.len()).map(|v| topology.is_boundary_vertex(v)).collect();
    for _ in 0..ROUNDS {
        let (starts, around) = crate::topology::faces_by_vertex(positions.len(), faces);
        for v in 0..positions.len() {
            if fixed[v] {
                continue;
            }
            let old = positions[v];
            positions[v] +=
                Vec3::new(rng.symmetric() * cell[0], rng.symmetric() * cell[1], 0.0) * REACH;
            let star = &around[starts[v] as usize..starts[v + 1] as usize];
            let spoils = |&f: &u32| {
                let corners = faces[f as usize].map(|v| positions[v as usize]);
                height(corners) < LEAST_HEIGHT * scale
            };
            if star.iter().any(spoils) {
                positions[v] = old;
            }
        }
        make_delaunay(positions, faces);
    }
}

/// Twice the signed area of a triangle in the plane z = 0.
fn double_area([a, b, c]: [Vec3; 3]) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// Least height over a side; negative for a triangle turned over.
fn height(corners @ [a, b, c]: [Vec3; 3]) -> f64 {
    let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
    double_area(corners) / longest
}

/// How far d lies inside the circle through a, b, c (counter-clockwise): the sine of the
/// excess of the angles at c and d over π, for the quadrilateral a d b c.
///
/// Scale-free, so one tolerance serves all meshes.
pub(super) fn circle_excess(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let (ca, cb, da, db) = (a - c, b - c, a - d, b - d);
    let (cos_c, cos_d) = (ca.dot(&cb), da.dot(&db));
    let (sin_c, sin_d) = (ca.x * cb.y - ca.y * cb.x, db.x * da.y - db.y * da.x);
    let size = ca.norm() * cb.norm() * da.norm() * db.norm();
    -(sin_c * cos_d + cos_c * sin_d) / size
}

/// Lawson's flips: replaces edges whose neighbours' circles contain the vertex across.
///
/// Every flip raises the vector of sorted angles, so the process ends; a flip needs more
/// than round-off so that four points on a circle do not flip for ever.
/// Reference: Lawson 1977, "Software for C¹ surface interpolation".
fn make_delaunay(positions: &[Vec3], faces: &mut [[u32; 3]]) {
    let at = |v: u32| positions[v as usize];
    let topology = Topology::new(positions.len(), faces.to_vec()).expect("flips keep a surface");
    // neighbour[f][m]: face across the side opposite to corner m.
    let mut neighbour: Vec<[Option<u32>; 3]> =
        (0..faces.len()).map(|f| [0, 1, 2].map(|m| topology.neighbour(f, m))).collect();
    let mut queue: Vec<(usize, usize)> =
        (0..faces.len()).rev().flat_map(|f| [(f, 2), (f, 1), (f, 0)]).collect();
    while let Some((f, m)) = queue.pop() {
        let Some(g) = neighbour[f][m].map(|g| g as usize) else {
            continue;
        };
        let Some(n) = (0..3).find(|&n| neighbour[g][n] == Some(f as u32)) else {
            continue;
        };
        // f = (c, a, b), g = (d, b, a); after the flip f = (c, a, d), g = (d, b, c).
        let [c, a, b] = [0, 1, 2].map(|k| faces[f][(m + k) % 3]);
        let d = faces[g][n];
        if circle_excess(at(a), at(b), at(c), at(d)) < 1e-12 {
            continue;
        }
        let turns_over = [[c, a, d], [d, b, c]].iter().any(|t| double_area(t.map(at)) <= 0.0);
        if turns_over {
            continue;
        }
        let (over_a, over_b) = (neighbour[f][(m + 1) % 3], neighbour[f][(m + 2) % 3]);
        let (under_b, under_a) = (neighbour[g][(n + 1) % 3], neighbour[g][(n + 2) % 3]);
        // over_a lies across side b c, under_b across side a d.
        faces[f] = [c, a, d];
        faces[g] = [d, b, c];
        neighbour[f] = [under_b, Some(g as u32), over_b];
        neighbour[g] = [over_a, Some(f as u32), under_a];
        for (moved, from, to) in [(under_b, g, f), (over_a, f, g)] {
            if let Some(h) = moved {
                let entry = neighbour[h as usize].iter_mut().find(|x| **x == Some(from as u32));
                *entry.expect("adjacency is mutual") = Some(to as u32);
            }
        }
        queue.extend([(f, 0), (f, 2), (g, 0), (g, 2)]);
    }
}
