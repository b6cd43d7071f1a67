//! Arrows and tubes as meshes.

use super::Point;
use super::raster::{cross, dot, sub, unit};

/// A surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solid {
    /// Vertices \[m\].
    pub positions: Vec<Point>,
    /// Triangles.
    pub faces: Vec<[u32; 3]>,
}

impl Solid {
    /// Adds another one.
    pub fn add(&mut self, other: &Solid) {
        let base = self.positions.len() as u32;
        self.positions.extend_from_slice(&other.positions);
        self.faces.extend(other.faces.iter().map(|f| f.map(|v| base + v)));
    }

    /// A ring of vertices around a point, in the plane of `side` and `other`.
    fn ring(&mut self, at: Point, side: Point, other: Point, radius: f64, count: usize) {
        for i in 0..count {
            let (s, c) = (std::f64::consts::TAU * i as f64 / count as f64).sin_cos();
            self.positions
                .push(std::array::from_fn(|k| at[k] + radius * (c * side[k] + s * other[k])));
        }
    }

    /// Joins the last two rings.
    fn join(&mut self, count: usize) {
        let end = self.positions.len() as u32;
        let n = count as u32;
        let (a, b) = (end - 2 * n, end - n);
        for i in 0..n {
            let j = (i + 1) % n;
            self.faces.push([a + i, a + j, b + i]);
            self.faces.push([a + j, b + j, b + i]);
        }
    }
}

/// Two unit vectors across a direction.
fn across(direction: Point) -> [Point; 2] {
    let helper = if direction[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let side = unit(cross(direction, helper));
    [side, cross(direction, side)]
}

const ARROW_SIDES: usize = 8;

/// An arrow from `start` along `vector`, its shaft of radius `width`; nothing for a vector without length.
pub fn arrow(start: Point, vector: Point, width: f64) -> Solid {
    let length = dot(vector, vector).sqrt();
    let mut solid = Solid::default();
    if length.is_nan() || length <= 0.0 || !start.iter().all(|c| c.is_finite()) {
        return solid;
    }
    let direction = unit(vector);
    let [side, other] = across(direction);
    // A short arrow is all head.
    let head = (5.0 * width).min(0.6 * length);
    let along = |d: f64| std::array::from_fn(|k| start[k] + d * direction[k]);
    let neck = along(length - head);
    for (at, radius) in [(start, width), (neck, width), (neck, 2.4 * width), (along(length), 0.0)] {
        solid.ring(at, side, other, radius, ARROW_SIDES);
        if solid.positions.len() > ARROW_SIDES {
            solid.join(ARROW_SIDES);
        }
    }
    solid
}

/// A tube of `sides` sides around a polyline; points that coincide are left out.
pub fn tube(points: &[Point], radius: f64, sides: usize) -> Solid {
    let sides = sides.max(3);
    let mut line: Vec<Point> = Vec::with_capacity(points.len());
    for p in points.iter().filter(|p| p.iter().all(|c| c.is_finite())) {
        if line.last() != Some(p) {
            line.push(*p);
        }
    }
    let mut solid = Solid::default();
    if line.len() < 2 {
        return solid;
    }
    let mut frame = across(unit(sub(line[1], line[0])));
    for i in 0..line.len() {
        let (a, b) = (line[i.saturating_sub(1)], line[(i + 1).min(line.len() - 1)]);
        let tangent = unit(sub(b, a));
        // The side follows the curve without turning about it.
        let kept = sub(frame[0], tangent.map(|t| t * dot(frame[0], tangent)));
        if dot(kept, kept) > 1e-12 {
            frame[0] = unit(kept);
        } else {
            frame = across(tangent);
        }
        frame[1] = cross(tangent, frame[0]);
        solid.ring(line[i], frame[0], frame[1], radius, sides);
        if i > 0 {
            solid.join(sides);
        }
    }
    solid
}
