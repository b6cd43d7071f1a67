//! Faces that cannot be computed with: said twice, or of no width.

use std::collections::{BTreeMap, BTreeSet};

use super::{MendCounts, join, root};
use crate::Vec3;
use crate::measure::dihedral_angle;

/// Faces with three different vertices, each set of them once, in their order.
pub(super) fn distinct(faces: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::with_capacity(faces.len());
    for face in faces {
        let mut sorted = *face;
        sorted.sort_unstable();
        let [a, b, c] = sorted;
        if a != b && b != c && seen.insert(sorted) {
            kept.push(*face);
        }
    }
    kept
}

/// Height of a triangle over its longest side, and the corner across from that side.
pub(super) fn slenderness(p: [Vec3; 3]) -> (f64, usize) {
    let side = |m: usize| (p[(m + 2) % 3] - p[(m + 1) % 3]).norm();
    let across = (1..3).fold(0, |best, m| if side(m) > side(best) { m } else { best });
    let longest = side(across);
    if longest == 0.0 {
        return (0.0, across);
    }
    let (u, v) = ((p[1] - p[0]) / longest, (p[2] - p[0]) / longest);
    (u.cross(&v).norm(), across)
}

/// A side this much shorter than the longest makes a needle of a slender triangle.
const NEEDLE: f64 = 0.05;

/// Gets rid of triangles thinner than `slender`: those with a short side are merged away, and of the others the long side is
/// replaced by the other diagonal of the two triangles at it; where it is a border, the triangle is left out.
pub(super) fn reshape(
    positions: &[Vec3],
    slender: f64,
    list: &mut Vec<[u32; 3]>,
    same: &mut [u32],
    counts: &mut MendCounts,
) {
    // A few rounds: mending one can bare another.
    for _ in 0..8 {
        let merged = collapse(positions, slender, list, same);
        let flipped = flip(positions, slender, list) + unfold(positions, list);
        let trimmed = trim(positions, slender, list);
        counts.collapsed += merged;
        counts.flipped += flipped;
        counts.trimmed += trimmed;
        if merged + flipped + trimmed == 0 {
            break;
        }
    }
}

fn collapse(positions: &[Vec3], slender: f64, list: &mut Vec<[u32; 3]>, same: &mut [u32]) -> usize {
    let at = |v: u32| positions[v as usize];
    let mut touched = BTreeSet::new();
    let mut merged = 0;
    let around = neighbours(list);
    for face in list.iter() {
        let p = face.map(at);
        let (height, across) = slenderness(p);
        if height >= slender {
            continue;
        }
        let (a, b) = {
            // The shortest side.
            let side = |m: usize| (p[(m + 2) % 3] - p[(m + 1) % 3]).norm();
            let m = (0..3).fold(0, |best, m| if side(m) < side(best) { m } else { best });
            if side(m) > NEEDLE * side(across) {
                continue; // flat, not a needle
            }
            (face[(m + 1) % 3], face[(m + 2) % 3])
        };
        // The surface stays one when the two have no neighbours in common but across their faces.
        let common = around[&a].intersection(&around[&b]).count();
        let faces = list.iter().filter(|f| f.contains(&a) && f.contains(&b)).count();
        let near = around[&a].iter().chain(&around[&b]).chain([&a, &b]);
        if common != faces || near.clone().any(|v| touched.contains(v)) {
            continue;
        }
        touched.extend(near.copied());
        join(same, a, b);
        merged += 1;
    }
    if merged > 0 {
        let joined: Vec<[u32; 3]> = list.iter().map(|f| f.map(|v| root(same, v))).collect();
        *list = distinct(&joined);
    }
    merged
}

/// Fold beyond which two neighbours lie on each other, and up to which they do not \[rad\].
const FOLDED: f64 = 2.1;
const OPEN: f64 = 1.6;

/// Faces at each edge.
fn faces_at(list: &[[u32; 3]]) -> BTreeMap<[u32; 2], Vec<usize>> {
    let mut sides: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    for (f, face) in list.iter().enumerate() {
        for m in 0..3 {
            let (a, b) = (face[m], face[(m + 1) % 3]);
            sides.entry([a.min(b), a.max(b)]).or_default().push(f);
        }
    }
    sides
}

/// By how much the triangles (c, a, b) and (d, b, a) are folded, whichever way their faces run \[rad\].
pub(super) fn fold(positions: &[Vec3], c: u32, [a, b]: [u32; 2], d: u32) -> f64 {
    let [c, a, b, d] = [c, a, b, d].map(|v| positions[v as usize]);
    dihedral_angle(&c, &a, &b, &d).abs()
}

/// Faces that lie upside down among their neighbours: folded onto two of them or more.
pub fn inverted_faces(positions: &[Vec3], faces: &[[u32; 3]]) -> Vec<u32> {
    let sides = faces_at(faces);
    let inverted = |f: &usize| {
        let face = faces[*f];
        let folded = |m: &usize| {
            let (c, a, b) = (face[*m], face[(m + 1) % 3], face[(m + 2) % 3]);
            let Some([x, y]) = sides.get(&[a.min(b), a.max(b)]).map(Vec::as_slice) else {
                return false;
            };
            let other = faces[if x == f { *y } else { *x }];
            let across = other.iter().find(|v| **v != a && **v != b);
            across.is_some_and(|&d| fold(positions, c, [a, b], d) > FOLDED)
        };
        (0..3).filter(folded).count() > 1
    };
    (0..faces.len()).filter(inverted).map(|f| f as u32).collect()
}

/// Joins faces that lie upside down with a neighbour otherwise, where that unfolds them: a vertex that noise has moved across an edge is put among the faces on the
/// other side. Creases of the cloth stay, for there no other diagonal lies flatter. Returns how many.
fn unfold(positions: &[Vec3], list: &mut [[u32; 3]]) -> usize {
    let mut count = 0;
    let sides = faces_at(list);
    // What surrounds a face that was changed is for the next round.
    let mut changed = vec![false; list.len()];
    for f in inverted_faces(positions, list) {
        let f = f as usize;
        let across = |[a, b]: [u32; 2], not: usize| match sides[&[a.min(b), a.max(b)]].as_slice() {
            [x, y] => {
                let g = if *x == not { *y } else { *x };
                list[g].iter().find(|v| **v != a && **v != b).map(|v| (g, *v))
            }
            _ => None,
        };
        let face = list[f];
        let near = |f: usize| -> Vec<usize> {
            let sides = (0..3).map(|m| [list[f][m], list[f][(m + 1) % 3]]);
            sides.filter_map(|s| across(s, f)).map(|(g, _)| g).collect()
        };
        if changed[f] || near(f).iter().any(|g| changed[*g]) {
            continue;
        }
        // The largest fold at the four sides of two triangles (c, a, b) and (d, b, a), with the other diagonal if `turned`.
        let worst = |c: u32, [a, b]: [u32; 2], (g, d): (usize, u32), turned: bool| {
            let mut most = match turned {
                false => fold(positions, c, [a, b], d),
                true => fold(positions, a, [c, d], b),
            };
            for (side, own, other, of) in
                [([a, c], b, d, f), ([b, c], a, d, f), ([a, d], b, c, g), ([b, d], a, c, g)]
            {
                if let Some((_, e)) = across(side, of) {
                    most = most.max(fold(positions, if turned { other } else { own }, side, e));
                }
            }
            most
        };
        let choices = (0..3).filter_map(|m| {
            let (c, a, b) = (face[m], face[(m + 1) % 3], face[(m + 2) % 3]);
            let (g, d) = across([a, b], f)?;
            if near(g).iter().any(|h| changed[*h]) {
                return None;
            }
            let new = sides.contains_key(&[c.min(d), c.max(d)]);
            let after = worst(c, [a, b], (g, d), true);
            (!new && worst(c, [a, b], (g, d), false) > FOLDED && after < OPEN).then_some((
                after,
                [[c, a, d], [c, d, b]],
                g,
            ))
        });
        if let Some((_, new, g)) = choices.min_by(|x, y| x.0.total_cmp(&y.0)) {
            (list[f], list[g]) = (new[0], new[1]);
            (changed[f], changed[g]) = (true, true);
            count += 1;
        }
    }
    count
}

/// Leaves out slender triangles whose long side is a border: nothing is across to join them with. Returns how many.
fn trim(positions: &[Vec3], slender: f64, list: &mut Vec<[u32; 3]>) -> usize {
    let mut sides: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for face in list.iter() {
        for m in 0..3 {
            let (a, b) = (face[m], face[(m + 1) % 3]);
            *sides.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    let before = list.len();
    list.retain(|face| {
        let (height, across) = slenderness(face.map(|v| positions[v as usize]));
        let side = |m: usize| {
            let (a, b) = (face[(m + 1) % 3], face[(m + 2) % 3]);
            [a.min(b), a.max(b)]
        };
        // Its other sides hold on to faces of their own, so that no vertex is lost and nothing is cut apart.
        let edge = sides[&side(across)] == 1;
        let inside = (1..3).all(|k| sides[&side((across + k) % 3)] == 2);
        let kept = height >= slender || !edge || !inside;
        if !kept {
            // What is next to it is a border now.
            (0..3).for_each(|m| *sides.entry(side(m)).or_default() -= 1);
        }
        kept
    });
    before - list.len()
}

/// Normal of a triangle, as long as twice its area.
fn normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(&(c - a))
}

fn neighbours(list: &[[u32; 3]]) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut around: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for face in list {
        for m in 0..3 {
            let (a, b) = (face[m], face[(m + 1) % 3]);
            around.entry(a).or_default().insert(b);
            around.entry(b).or_default().insert(a);
        }
    }
    around
}

fn flip(positions: &[Vec3], slender: f64, list: &mut [[u32; 3]]) -> usize {
    let at = |v: u32| positions[v as usize];
    let quality = |f: [u32; 3]| slenderness(f.map(at)).0;
    let mut sides: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
    for (f, face) in list.iter().enumerate() {
        for m in 0..3 {
            let (a, b) = (face[m], face[(m + 1) % 3]);
            sides.entry([a.min(b), a.max(b)]).or_default().push(f);
        }
    }
    let mut changed = vec![false; list.len()];
    let mut count = 0;
    for f in 0..list.len() {
        let face = list[f];
        let (height, across) = slenderness(face.map(at));
        if height >= slender || changed[f] {
            continue;
        }
        let (b, c, a) = (face[across], face[(across + 1) % 3], face[(across + 2) % 3]);
        let Some([x, y]) = sides.get(&[a.min(c), a.max(c)]).map(Vec::as_slice) else { continue };
        let g = if *x == f { *y } else { *x };
        let Some(&d) = list[g].iter().find(|v| **v != a && **v != c) else { continue };
        if changed[g] || sides.contains_key(&[b.min(d), b.max(d)]) {
            continue;
        }
        // b c a with c a as its long side; the other triangle is a c d. Both get the diagonal b d.
        let new = [[b, c, d], [b, d, a]];
        // Not where the two would lie on each other.
        let [u, v] = new.map(|f| normal(f.map(at)));
        if u.dot(&v) <= 0.0 {
            continue;
        }
        if new.map(quality).into_iter().fold(f64::INFINITY, f64::min)
            <= height.min(quality(list[g]))
        {
            continue;
        }
        for old in [f, g] {
            changed[old] = true;
        }
        list[f] = new[0];
        list[g] = new[1];
        count += 1;
        // Sides of what surrounds them keep their faces only nearly; the next round sees them anew.
        for face in [f, g] {
            for m in 0..3 {
                let (p, q) = (list[face][m], list[face][(m + 1) % 3]);
                sides.insert([p.min(q), p.max(q)], Vec::new());
            }
        }
    }
    count
}
