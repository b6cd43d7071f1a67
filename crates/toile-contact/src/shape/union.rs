//! The surface of overlapping closed parts.

use toile_geometry::Vec3;

use super::SurfacePoint;
use super::mesh::MeshShape;
use crate::bounds::Bounds;
use crate::bvh::Bvh;
use crate::distance::{point_segment, point_triangle};

/// How much of a face belongs to the surface of the union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    All,
    None,
    /// Another part may pass through the face.
    Some,
}

/// What of each face is surface, and the lines where parts cross.
///
/// Seen from inside, the nearest point of the visible rest of a face is either its nearest point,
/// if that is visible, or on a line where another part cuts it: a triangle is convex, so the
/// distance has no other minimum. With these lines the distance to the union is exact.
#[derive(Clone, Debug)]
pub(super) struct Cover {
    seen: Vec<Seen>,
    /// Visible pieces of crossing lines, with one of the two faces.
    creases: Vec<([Vec3; 2], u32)>,
    bvh: Bvh,
    tolerance: f64,
}

impl Cover {
    /// `None` when no two closed parts come near each other.
    pub(super) fn new(shape: &MeshShape) -> Option<Self> {
        let closed: Vec<usize> =
            (0..shape.parts.len()).filter(|&k| shape.parts[k].closed).collect();
        let meet = |&i: &usize, &j: &usize| {
            shape.parts[i].bvh.bounds().overlaps(&shape.parts[j].bvh.bounds())
        };
        if !closed.iter().enumerate().any(|(n, i)| closed[n + 1..].iter().any(|j| meet(i, j))) {
            return None;
        }
        let mesh = shape.mesh();
        let tolerance = 1e-9 * shape.bounds().diagonal();
        let mut seen = vec![Seen::All; mesh.faces().len()];
        let mut lines = Vec::new();
        for (n, &i) in closed.iter().enumerate() {
            for &j in closed[n + 1..].iter().filter(|j| meet(&i, j)) {
                for &f in &shape.parts[i].faces {
                    let a = mesh.corners(f as usize);
                    let other = &shape.parts[j];
                    other.bvh.overlapping(&Bounds::around(&a), |k| {
                        let g = other.faces[k as usize];
                        // Boxes that touch are enough: looking twice is slow but never wrong.
                        seen[f as usize] = Seen::Some;
                        seen[g as usize] = Seen::Some;
                        if let Some(line) = crossing_line(&a, &mesh.corners(g as usize)) {
                            lines.push((line, [f, g]));
                        }
                    });
                }
            }
        }
        for &k in &closed {
            for &f in &shape.parts[k].faces {
                let x = mesh.corners(f as usize);
                let middle = (x[0] + x[1] + x[2]) / 3.0;
                if seen[f as usize] == Seen::All && shape.is_covered(&middle, k as u32, tolerance) {
                    seen[f as usize] = Seen::None;
                }
            }
        }
        let mut creases = Vec::new();
        for (line, faces) in lines {
            cut_by_third_parts(shape, &closed, &line, faces, tolerance, &mut creases);
        }
        let boxes: Vec<Bounds> = creases.iter().map(|(line, _)| Bounds::around(line)).collect();
        Some(Self { seen, bvh: Bvh::new(&boxes), creases, tolerance })
    }

    /// Nearest visible surface from a point inside.
    pub(super) fn way_out(&self, shape: &MeshShape, p: &Vec3) -> Option<SurfacePoint> {
        let mesh = shape.mesh();
        let mut best = f64::INFINITY;
        let mut face = None;
        for (k, part) in shape.parts.iter().enumerate().filter(|(_, part)| part.closed) {
            let found = part.bvh.nearest(p, best, |i| {
                let f = part.faces[i as usize];
                let corners = mesh.corners(f as usize);
                let on = point_triangle(p, &corners);
                let visible = || {
                    let q = crate::distance::blend(&corners, &on.weights);
                    !shape.is_covered(&q, k as u32, self.tolerance)
                };
                match self.seen[f as usize] {
                    Seen::All => on.distance_squared,
                    Seen::Some if on.distance_squared < best && visible() => on.distance_squared,
                    _ => f64::INFINITY,
                }
            });
            if let Some((i, d)) = found {
                best = d;
                face = Some(part.faces[i as usize]);
            }
        }
        let nearest_on = |i: u32| {
            let [a, b] = self.creases[i as usize].0;
            a + (b - a) * point_segment(p, &a, &b)
        };
        let crease = self.bvh.nearest(p, best, |i| (p - nearest_on(i)).norm_squared());
        if let Some((i, d)) = crease {
            let f = self.creases[i as usize].1;
            let q = nearest_on(i);
            let on = point_triangle(&q, &mesh.corners(f as usize));
            let mut near = shape.surface(&q, f, &on, true);
            let d = d.sqrt();
            near.distance = -d;
            near.point = q;
            if d > self.tolerance {
                near.normal = (q - p) / d;
            }
            return Some(near);
        }
        let face = face?;
        let on = point_triangle(p, &mesh.corners(face as usize));
        Some(shape.surface(p, face, &on, true))
    }
}

/// The segment in which two triangles cross; `None` when they do not or only touch.
fn crossing_line(a: &[Vec3; 3], b: &[Vec3; 3]) -> Option<[Vec3; 2]> {
    let mut ends = [Vec3::zeros(); 2];
    let mut count = 0;
    for (sides, face) in [(a, b), (b, a)] {
        for m in 0..3 {
            let (p, q) = (sides[m], sides[(m + 1) % 3]);
            if let Some(s) = crossing_place(&p, &q, face) {
                let x = p + (q - p) * s;
                if count < 2 {
                    ends[count] = x;
                    count += 1;
                } else if (x - ends[0]).norm_squared() > (ends[1] - ends[0]).norm_squared() {
                    ends[1] = x;
                }
            }
        }
    }
    (count == 2 && ends[0] != ends[1]).then_some(ends)
}

/// Place where the segment p q passes through a triangle, or so near to its border that round-off
/// cannot tell: parts that are mirror images of each other cross border on border.
fn crossing_place(p: &Vec3, q: &Vec3, face: &[Vec3; 3]) -> Option<f64> {
    let n = (face[1] - face[0]).cross(&(face[2] - face[0]));
    let (dp, dq) = (n.dot(&(p - face[0])), n.dot(&(q - face[0])));
    if (dp > 0.0) == (dq > 0.0) || dp == dq {
        return None;
    }
    let s = dp / (dp - dq);
    let x = p + (q - p) * s;
    let inside = (0..3).all(|m| {
        let side = face[(m + 1) % 3] - face[m];
        n.dot(&side.cross(&(x - face[m]))) >= -1e-9 * n.norm_squared()
    });
    inside.then_some(s)
}

/// Keeps the pieces of a crossing line that lie in no third part.
fn cut_by_third_parts(
    shape: &MeshShape,
    closed: &[usize],
    line: &[Vec3; 2],
    faces: [u32; 2],
    tolerance: f64,
    creases: &mut Vec<([Vec3; 2], u32)>,
) {
    let own = faces.map(|f| shape.part_of_face[f as usize] as usize);
    let third: Vec<usize> = closed.iter().copied().filter(|k| !own.contains(k)).collect();
    let mut cuts = vec![0.0, 1.0];
    for &k in &third {
        let part = &shape.parts[k];
        part.bvh.overlapping(&Bounds::around(line), |i| {
            let corners = shape.mesh().corners(part.faces[i as usize] as usize);
            cuts.extend(crossing_place(&line[0], &line[1], &corners));
        });
    }
    cuts.sort_unstable_by(f64::total_cmp);
    let at = |s: f64| line[0] + (line[1] - line[0]) * s;
    for pair in cuts.windows(2).filter(|pair| pair[1] > pair[0]) {
        let middle = at(0.5 * (pair[0] + pair[1]));
        if !third.iter().any(|&k| shape.is_within(k, &middle, tolerance)) {
            creases.push(([at(pair[0]), at(pair[1])], faces[0]));
        }
    }
}
