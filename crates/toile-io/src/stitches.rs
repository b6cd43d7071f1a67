//! Stitches of a shell: from the lines of a file to seams of its mesh.
//!
//! A line `stitch i a b w` sews vertex i to the point (1 − w) a + w b of the edge from a to b. Programs that write such lines
//! count vertices from 0 (as Codim-IPC does), but OBJ counts from 1, so both are found in the wild. Which one is meant shows
//! in the mesh: a and b are neighbours.

use std::collections::BTreeSet;

use toile_geometry::Vec3;
use toile_sim::Stitch as Sewn;

use crate::mesh::Stitch;

/// Stitches of a mesh, and what is to be said about them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seams {
    /// The stitches, vertices counted from 0, each once.
    pub(crate) stitches: Vec<Sewn>,
    pub(crate) notes: Vec<String>,
}

/// What is wrong with stitches, and what to do.
pub(crate) struct Misfit {
    pub(crate) what: String,
    pub(crate) help: String,
}

/// Finds which vertices the stitches of a file mean.
pub(crate) fn fit(
    given: &[Stitch],
    faces: &[[u32; 3]],
    positions: &[Vec3],
) -> Result<Seams, Misfit> {
    let sides = |f: &[u32; 3]| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]].map(sorted);
    let edges: BTreeSet<[u32; 2]> = faces.iter().flat_map(sides).collect();
    // How many stitches go to an edge of the mesh, and how wide they are open, counted from 0 and from 1.
    let judge = |base: u32| -> Option<(usize, f64, Vec<Sewn>)> {
        let mut sewn = Vec::with_capacity(given.len());
        for s in given {
            let [i, a, b] = [s.vertex, s.edge[0], s.edge[1]].map(|v| v.checked_sub(base));
            let (Some(vertex), Some(a), Some(b)) = (i, a, b) else { return None };
            if [vertex, a, b].iter().any(|&v| v as usize >= positions.len()) {
                return None;
            }
            sewn.push(Sewn { vertex, edge: [a, b], weight: s.weight });
        }
        // A vertex may be sewn to a vertex: both ends are it.
        let fits = |s: &&Sewn| s.edge[0] == s.edge[1] || edges.contains(&sorted(s.edge));
        let fits = sewn.iter().filter(fits).count();
        let open = sewn.iter().map(|s| s.opening(positions).norm()).sum();
        Some((fits, open, sewn))
    };
    let count = positions.len();
    let (base, (fits, _, sewn)) = match (judge(0), judge(1)) {
        (None, None) => {
            let most = given.iter().flat_map(|s| [s.vertex, s.edge[0], s.edge[1]]).max();
            let most = most.unwrap_or(0);
            return Err(Misfit {
                what: format!("a stitch names vertex {most}, but the mesh has {count} vertices"),
                help:
                    "the stitches belong to another mesh, or vertices were merged on export: sew \
                       the mesh they were made for"
                        .into(),
            });
        }
        (Some(zero), None) => (0, zero),
        (None, Some(one)) => (1, one),
        // The tie goes to counting from 0, the custom of this line.
        (Some(zero), Some(one)) => {
            if (one.0, -one.1) > (zero.0, -zero.1) {
                (1, one)
            } else {
                (0, zero)
            }
        }
    };
    if 2 * fits < given.len() {
        return Err(Misfit {
            what: format!(
                "only {fits} of {} stitches go to an edge of the mesh; the others name two vertices that are no \
                 neighbours",
                given.len()
            ),
            help: "a stitch is `stitch i a b w`: vertex i meets the point (1 − w) a + w b of the edge \
                   from a to b; the stitches seem to belong to another mesh"
                .into(),
        });
    }
    let mut seams = Seams::default();
    let mut said = BTreeSet::new();
    let (mut repeated, mut idle) = (0, 0);
    for s in sewn {
        // What the point means: one end, or a point between two.
        let (edge, weight) = match s.weight {
            w if w <= 0.0 || s.edge[0] == s.edge[1] => (s.edge, 0.0),
            w if w >= 1.0 => ([s.edge[1], s.edge[0]], 0.0),
            w => (s.edge, w),
        };
        let ends: Vec<u32> = if weight == 0.0 { vec![edge[0]] } else { edge.to_vec() };
        if ends.contains(&s.vertex) {
            idle += 1; // sewn to itself
            continue;
        }
        let far = if weight == 0.0 { u32::MAX } else { edge[1] };
        let pair = (s.vertex, edge[0], far, weight.to_bits());
        let mirrored = (edge[0], s.vertex, far, weight.to_bits());
        if said.contains(&pair) || (weight == 0.0 && said.contains(&mirrored)) {
            repeated += 1;
            continue;
        }
        said.insert(pair);
        seams.stitches.push(Sewn { vertex: s.vertex, edge, weight });
    }
    seams.notes.push(format!(
        "{} stitches sew it together (vertices of the stitch lines are counted from {base})",
        seams.stitches.len()
    ));
    if repeated > 0 {
        seams.notes.push(format!("{repeated} stitches say what another says and count once"));
    }
    if idle > 0 {
        seams.notes.push(format!("{idle} stitches sew a vertex to itself and are left out"));
    }
    let widest = seams.stitches.iter().map(|s| s.opening(positions).norm()).fold(0.0, f64::max);
    if widest > 1e-6 {
        let open = seams.stitches.iter().filter(|s| s.opening(positions).norm() > 1e-6).count();
        seams.notes.push(format!(
            "{open} stitches are open in the mesh, by {:.2} mm at most: the thread draws them together",
            1e3 * widest
        ));
    }
    Ok(seams)
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two squares side by side, each with vertices of its own.
    fn squares() -> (Vec<[u32; 3]>, Vec<Vec3>) {
        let mut x = Vec::new();
        for side in [0.0, 1.001] {
            for p in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
                x.push(Vec3::new(p[0] + side, p[1], 0.0));
            }
        }
        (vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]], x)
    }

    fn line(vertex: u32, a: u32, b: u32, weight: f64) -> Stitch {
        Stitch { vertex, edge: [a, b], weight }
    }

    #[test]
    fn numbers_from_zero_and_from_one_mean_the_same() {
        let (faces, x) = squares();
        let zero = [line(4, 1, 2, 0.0), line(7, 1, 2, 1.0)];
        let one = zero.map(|s| line(s.vertex + 1, s.edge[0] + 1, s.edge[1] + 1, s.weight));
        let found = [&zero[..], &one[..]].map(|s| fit(s, &faces, &x).ok().unwrap());
        assert_eq!(found[0].stitches, found[1].stitches);
        assert_eq!(found[0].stitches[1], Sewn { vertex: 7, edge: [2, 1], weight: 0.0 });
        assert!(found[0].notes[0].contains("counted from 0"), "{:?}", found[0].notes);
        assert!(found[1].notes[0].contains("counted from 1"), "{:?}", found[1].notes);
        assert!(
            found[0].notes[1].contains("2 stitches are open")
                && found[0].notes[1].contains("1.00 mm")
        );
    }

    #[test]
    fn repeated_and_idle_stitches_count_once_or_not() {
        let (faces, x) = squares();
        let given = [
            line(4, 1, 2, 0.0),
            line(4, 1, 2, 0.0),
            line(1, 4, 5, 0.0), // the same from the other side
            line(7, 1, 2, 1.0),
            line(2, 2, 1, 0.0),
        ];
        let found = fit(&given, &faces, &x).ok().unwrap();
        assert_eq!(found.stitches.len(), 2);
        assert!(found.notes.iter().any(|n| n.starts_with("2 stitches say")), "{:?}", found.notes);
        assert!(found.notes.iter().any(|n| n.starts_with("1 stitches sew a vertex to itself")));
    }

    #[test]
    fn stitches_of_another_mesh_are_refused() {
        let (faces, x) = squares();
        let error = fit(&[line(4, 1, 90, 0.0)], &faces, &x).err().unwrap();
        assert!(error.what.contains("names vertex 90") && error.what.contains("8 vertices"));
        let error = fit(&[line(0, 1, 3, 0.5), line(4, 1, 7, 0.5)], &faces, &x).err().unwrap();
        assert!(error.what.contains("only 0 of 2"), "{}", error.what);
    }
}
