//! Making a surface of triangles that are nearly one: scans, exports of other programs, bodies with flaws.

use std::collections::{BTreeMap, HashMap};

use crate::half_edges::{by_edge, sorted_half_edges};
use crate::topology::components;
use crate::weld::coincident;
use crate::{Topology, Vec3};

mod even;
mod faces;
mod holes;

pub use even::{even_out, unfit_faces};
pub use faces::inverted_faces;

/// What may be done to a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MendSettings {
    /// Vertices of borders this close are in one place \[m\]; none where negative.
    pub tolerance: f64,
    /// Pieces with a smaller part of the area are crumbs and left out; 0 keeps all.
    pub crumb: f64,
    /// Triangles thinner than this part of their longest side are merged away, joined with a neighbour otherwise, or left out at a border, and
    /// ones that lie upside down are joined otherwise; 0 keeps all.
    pub slender: f64,
    /// Holes whose border squared is less than this part of the area of their piece are filled; 0 fills none.
    pub hole: f64,
}

/// What was done to a mesh, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MendCounts {
    /// Faces that named a vertex twice or that repeated another face, left out.
    pub dropped: usize,
    /// Vertices merged because borders meet there.
    pub zipped: usize,
    /// Edges with three faces or more, or between faces that cannot be turned alike: cut open.
    pub cut: usize,
    /// Faces turned round.
    pub turned: usize,
    /// Triangles of no width that were merged away.
    pub collapsed: usize,
    /// Triangles of no width whose long edge was turned over, and folded ones that were unfolded by it.
    pub flipped: usize,
    /// Triangles of no width whose long edge is a border, left out.
    pub trimmed: usize,
    /// Faces of crumbs, left out.
    pub crumbs: usize,
    /// Holes filled.
    pub filled: usize,
}

impl MendCounts {
    /// What was done, in words; empty when nothing was.
    pub fn words(&self) -> Vec<String> {
        let say = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
        [
            say(self.dropped, "faces without area or said twice left out"),
            say(self.zipped, "vertices merged where borders meet"),
            say(self.cut, "edges with three faces or more, or that cannot be oriented, cut open"),
            say(self.turned, "faces turned round to look the same way as their neighbours"),
            say(self.collapsed, "needle-like triangles merged away"),
            say(self.flipped, "flat or folded triangles joined with their neighbours otherwise"),
            say(self.trimmed, "flat triangles on a border left out"),
            say(self.crumbs, "faces of loose crumbs left out"),
            say(self.filled, "holes filled"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A surface made of faulty triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Mended {
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Faces that [`Topology::new`] accepts.
    pub faces: Vec<[u32; 3]>,
    /// The old vertex each vertex was; filled holes add none.
    pub origin: Vec<u32>,
    /// A vertex each old one became; `None` for those no face is left of.
    pub image: Vec<Option<u32>>,
    /// What was done.
    pub counts: MendCounts,
}

/// Makes a surface of triangles: drops doubles, zips borders that meet, cuts crowded edges, turns faces alike, and what else
/// the settings ask for. Vertices stay where they are. Sound meshes come back as they were.
///
/// Indices must be in range and positions finite.
pub fn mend(positions: &[Vec3], faces: &[[u32; 3]], settings: &MendSettings) -> Mended {
    let mut counts = MendCounts::default();
    let mut list = faces::distinct(faces);
    counts.dropped = faces.len() - list.len();

    // Vertices that are one, as a forest over the old numbers.
    let mut same: Vec<u32> = (0..positions.len() as u32).collect();
    let place = coincident(positions, settings.tolerance);
    let mut merging = settings.tolerance >= 0.0;
    while merging {
        let joined: Vec<[u32; 3]> = list.iter().map(|f| f.map(|v| root(&same, v))).collect();
        let merged = zip(&joined, &place, &mut same);
        counts.zipped += merged;
        merging = merged > 0;
    }
    list = list.iter().map(|f| f.map(|v| root(&same, v))).collect();
    let before = list.len();
    list = faces::distinct(&list);
    counts.dropped += before - list.len();

    if settings.slender > 0.0 {
        faces::reshape(positions, settings.slender, &mut list, &mut same, &mut counts);
    }
    counts.turned = 0;
    let (mut list, corners) = oriented(&list, &mut counts);
    // A vertex where a crowded edge was cut becomes several.
    let mut origin = Vec::new();
    let mut number: HashMap<u32, u32> = HashMap::new();
    for (f, face) in list.iter_mut().enumerate() {
        for (m, v) in face.iter_mut().enumerate() {
            let old = *v;
            *v = *number.entry(corners[f][m]).or_insert_with(|| {
                origin.push(old);
                origin.len() as u32 - 1
            });
        }
    }
    if settings.crumb > 0.0 {
        let kept = without_crumbs(positions, &list, &origin, settings.crumb);
        counts.crumbs = list.len() - kept.len();
        list = kept;
    }
    let mut places: Vec<Vec3> = origin.iter().map(|&v| positions[v as usize]).collect();
    if settings.hole > 0.0 {
        counts.filled = holes::fill(&mut places, &mut list, settings.hole);
    }
    finish(positions.len(), places, list, &origin, &same, counts)
}

/// Numbers vertices in their old order and drops those without faces.
fn finish(
    old_count: usize,
    places: Vec<Vec3>,
    mut list: Vec<[u32; 3]>,
    origin: &[u32],
    same: &[u32],
    counts: MendCounts,
) -> Mended {
    let mut used = vec![false; places.len()];
    for &v in list.iter().flatten() {
        used[v as usize] = true;
    }
    // Points that fill holes have no origin and come last.
    let mut order: Vec<usize> = (0..places.len()).filter(|&v| used[v]).collect();
    order.sort_by_key(|&v| (origin.get(v).copied().unwrap_or(u32::MAX), v));
    let mut number = vec![0; places.len()];
    for (new, &v) in order.iter().enumerate() {
        number[v] = new as u32;
    }
    for v in list.iter_mut().flatten() {
        *v = number[*v as usize];
    }
    let origin: Vec<u32> = order.iter().filter_map(|&v| origin.get(v).copied()).collect();
    let mut image = vec![None; old_count];
    for (new, &old) in origin.iter().enumerate().rev() {
        image[old as usize] = Some(new as u32);
    }
    for v in 0..old_count {
        image[v] = image[root(same, v as u32) as usize];
    }
    let positions = order.iter().map(|&v| places[v]).collect();
    Mended { positions, faces: list, origin, image, counts }
}

pub(crate) fn root(same: &[u32], mut v: u32) -> u32 {
    while same[v as usize] != v {
        v = same[v as usize];
    }
    v
}

pub(crate) fn join(same: &mut [u32], a: u32, b: u32) -> bool {
    let (a, b) = (root(same, a), root(same, b));
    same[a.max(b) as usize] = a.min(b);
    a != b
}

/// Pairs of vertices at which two borders meet within a tolerance \[m\], edge to edge.
pub fn meeting_borders(positions: &[Vec3], faces: &[[u32; 3]], tolerance: f64) -> Vec<[u32; 2]> {
    let mut same: Vec<u32> = (0..positions.len() as u32).collect();
    let place = coincident(positions, tolerance);
    let mut pairs = Vec::new();
    for [[a, b], [c, d]] in meeting(faces, &place) {
        for [p, q] in [[a, c], [b, d]] {
            if join(&mut same, p, q) {
                pairs.push([p, q]);
            }
        }
    }
    pairs
}

/// Merges the ends of border edges that lie in one place in pairs; returns how many vertices were merged.
fn zip(faces: &[[u32; 3]], place: &[usize], same: &mut [u32]) -> usize {
    let mut merged = 0;
    for [[a, b], [c, d]] in meeting(faces, place) {
        merged += usize::from(join(same, a, c)) + usize::from(join(same, b, d));
    }
    merged
}

/// Border edges that lie in one place, two and two, ends in the same order.
fn meeting(faces: &[[u32; 3]], place: &[usize]) -> Vec<[[u32; 2]; 2]> {
    let half_edges = sorted_half_edges(faces, |f| {
        let [a, b, c] = faces[f];
        a != b && b != c && c != a
    });
    let mut borders: BTreeMap<[usize; 2], Vec<[u32; 2]>> = BTreeMap::new();
    for group in by_edge(&half_edges).filter(|group| group.len() == 1) {
        let [a, b] = group[0].ends();
        let [p, q] = [place[a as usize], place[b as usize]];
        if p != q {
            let (key, ends) = if p < q { ([p, q], [a, b]) } else { ([q, p], [b, a]) };
            borders.entry(key).or_default().push(ends);
        }
    }
    let pairs = borders.values().filter(|group| group.len() == 2);
    pairs.map(|group| [group[0], group[1]]).collect()
}

/// Faces turned so that neighbours agree, and for each corner a number that corners joined through faces share.
fn oriented(list: &[[u32; 3]], counts: &mut MendCounts) -> (Vec<[u32; 3]>, Vec<[u32; 3]>) {
    let half_edges = sorted_half_edges(list, |_| true);
    let mut neighbours = vec![[None; 3]; list.len()];
    for group in by_edge(&half_edges) {
        match group {
            [p, q] => {
                let clash = p.directed(list) == q.directed(list);
                neighbours[p.face()][p.corner()] = Some((q.face() as u32, clash));
                neighbours[q.face()][q.corner()] = Some((p.face() as u32, clash));
            }
            [_] => {}
            _ => counts.cut += 1,
        }
    }
    let mut choice: Vec<Option<bool>> = vec![None; list.len()];
    for seed in 0..list.len() {
        if choice[seed].is_some() {
            continue;
        }
        choice[seed] = Some(false);
        let mut piece = vec![seed];
        let mut next = 0;
        while next < piece.len() {
            let f = piece[next];
            next += 1;
            let own = choice[f] == Some(true);
            for &(g, clash) in neighbours[f].iter().flatten() {
                if choice[g as usize].is_none() {
                    choice[g as usize] = Some(own != clash);
                    piece.push(g as usize);
                }
            }
        }
        let turned = piece.iter().filter(|&&f| choice[f] == Some(true)).count();
        let swap = 2 * turned > piece.len();
        counts.turned += if swap { piece.len() - turned } else { turned };
        for f in piece {
            choice[f] = choice[f].map(|reverse| reverse != swap);
        }
    }
    // Corners are one vertex when a chain of agreeing neighbours joins them.
    let mut parent: Vec<u32> = (0..3 * list.len() as u32).collect();
    let corner = |f: usize, v: u32| {
        let m = (0..3).find(|&m| list[f][m] == v).expect("a vertex of the face");
        3 * f as u32 + m as u32
    };
    let mut cuts = 0;
    for group in by_edge(&half_edges) {
        let [p, q] = group else { continue };
        let clash = p.directed(list) == q.directed(list);
        if (choice[p.face()] != choice[q.face()]) != clash {
            cuts += 1; // one-sided like a Möbius strip: open here
            continue;
        }
        for v in p.ends() {
            join(&mut parent, corner(p.face(), v), corner(q.face(), v));
        }
    }
    counts.cut += cuts;
    let crowded = by_edge(&half_edges).any(|group| group.len() > 2) || cuts > 0;
    let mut corners: Vec<[u32; 3]> = (0..list.len())
        .map(|f| {
            std::array::from_fn(|m| {
                if crowded { root(&parent, (3 * f + m) as u32) } else { list[f][m] }
            })
        })
        .collect();
    let mut turned = list.to_vec();
    for (f, reverse) in choice.iter().enumerate() {
        if *reverse == Some(true) {
            turned[f].swap(1, 2);
            corners[f].swap(1, 2);
        }
    }
    (turned, corners)
}

fn without_crumbs(
    positions: &[Vec3],
    list: &[[u32; 3]],
    origin: &[u32],
    crumb: f64,
) -> Vec<[u32; 3]> {
    let pieces = components(origin.len(), list);
    let mut area = vec![0.0; pieces.count];
    for (face, &piece) in list.iter().zip(&pieces.of_face) {
        let [a, b, c] = face.map(|v| positions[origin[v as usize] as usize]);
        area[piece as usize] += 0.5 * (b - a).cross(&(c - a)).norm();
    }
    let all: f64 = area.iter().sum();
    let kept = list.iter().zip(&pieces.of_face).filter(|(_, p)| area[**p as usize] >= crumb * all);
    kept.map(|(face, _)| *face).collect()
}

/// Whether triangles make a surface as they are.
pub fn is_surface(vertex_count: usize, faces: &[[u32; 3]]) -> bool {
    Topology::new(vertex_count, faces.to_vec()).is_ok()
}
