//! From meshes to pixels.

use super::{Paint, Picture, PictureMesh, Point, View, bounds};

/// Samples per pixel in each direction.
const SAMPLES: usize = 2;
const FRONT: [f64; 3] = [0.27, 0.47, 0.66];
const BACK: [f64; 3] = [0.80, 0.56, 0.36];

pub(super) fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
pub(super) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
pub(super) fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
pub(super) fn unit(a: Point) -> Point {
    let length = dot(a, a).sqrt();
    if length > 0.0 { a.map(|c| c / length) } else { a }
}

/// Draws meshes with parallel projection, hidden surfaces removed, both sides of the cloth in different
/// colours. Faces with corners that do not exist or are not finite are left out.
pub fn render(meshes: &[PictureMesh<'_>], view: &View) -> Picture {
    let mut canvas = Canvas::new(meshes, view);
    for mesh in meshes {
        canvas.draw(mesh);
    }
    canvas.picture(view)
}

struct Canvas {
    wide: usize,
    high: usize,
    eye: Point,
    right: Point,
    up: Point,
    light: Point,
    scale: f64,
    middle: [f64; 2],
    depth: Vec<f64>,
    color: Vec<[f64; 3]>,
}

impl Canvas {
    fn new(meshes: &[PictureMesh<'_>], view: &View) -> Self {
        let (wide, high) = (view.width.max(1) * SAMPLES, view.height.max(1) * SAMPLES);
        let eye = [
            view.elevation.cos() * view.azimuth.cos(),
            view.elevation.cos() * view.azimuth.sin(),
            view.elevation.sin(),
        ];
        // Beside the azimuth, so that it is right even when looking straight down.
        let right = [-view.azimuth.sin(), view.azimuth.cos(), 0.0];
        let up = cross(eye, right);
        let corners = |[a, b]: [Point; 2]| -> Vec<Point> {
            (0..8)
                .map(|i| std::array::from_fn(|k| if i >> k & 1 == 0 { a[k] } else { b[k] }))
                .collect()
        };
        let flat = |p: &Point| [dot(*p, right), dot(*p, up), 0.0];
        let seen: Vec<Point> = match view.focus {
            Some(focus) => corners(focus).iter().map(flat).collect(),
            None => meshes.iter().flat_map(|m| m.positions).map(flat).collect(),
        };
        let [low, high_corner] = bounds(&seen).unwrap_or([[0.0; 3]; 2]);
        let extent = |k: usize| (high_corner[k] - low[k]).max(1e-300);
        Self {
            wide,
            high,
            eye,
            right,
            up,
            // From above and beside the eye: folds throw their own shade.
            light: unit(std::array::from_fn(|k| 0.6 * eye[k] - 0.8 * right[k] + 0.7 * up[k])),
            scale: 0.9 * (wide as f64 / extent(0)).min(high as f64 / extent(1)),
            middle: [0.5 * (low[0] + high_corner[0]), 0.5 * (low[1] + high_corner[1])],
            depth: vec![f64::NEG_INFINITY; wide * high],
            color: vec![[0.0; 3]; wide * high],
        }
    }

    fn on_screen(&self, p: Point) -> Point {
        let x = self.wide as f64 / 2.0 + self.scale * (dot(p, self.right) - self.middle[0]);
        let y = self.high as f64 / 2.0 - self.scale * (dot(p, self.up) - self.middle[1]);
        [x, y, dot(p, self.eye)]
    }

    fn draw(&mut self, mesh: &PictureMesh<'_>) {
        let normals = vertex_normals(mesh);
        for face in mesh.faces {
            let Some(p) = corners(mesh, face) else { continue };
            let [a, b, c] = p.map(|p| self.on_screen(p));
            let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            if area == 0.0 || !area.is_finite() {
                continue;
            }
            let facing = dot(cross(sub(p[1], p[0]), sub(p[2], p[0])), self.eye) > 0.0;
            let span = |k: usize, limit: usize| {
                let least = a[k].min(b[k]).min(c[k]).floor().max(0.0) as usize;
                let most = a[k].max(b[k]).max(c[k]).ceil().min(limit as f64 - 1.0).max(0.0);
                least..most as usize + 1
            };
            for y in span(1, self.high) {
                for x in span(0, self.wide) {
                    let at = [x as f64 + 0.5, y as f64 + 0.5];
                    let part = |u: Point, v: Point| {
                        ((u[0] - at[0]) * (v[1] - at[1]) - (u[1] - at[1]) * (v[0] - at[0])) / area
                    };
                    let weights = [part(b, c), part(c, a), part(a, b)];
                    if weights.iter().any(|w| *w < 0.0) {
                        continue;
                    }
                    let z = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
                    let pixel = y * self.wide + x;
                    if z <= self.depth[pixel] {
                        continue;
                    }
                    self.depth[pixel] = z;
                    let mut normal = [0.0; 3];
                    for (w, &v) in weights.iter().zip(face) {
                        for k in 0..3 {
                            normal[k] += w * normals[v as usize][k];
                        }
                    }
                    let lambert = dot(unit(normal), self.light).abs();
                    let shine = lambert.powi(24) * 0.15;
                    let base = base_colour(mesh, face, weights, facing);
                    self.color[pixel] =
                        base.map(|c| (c * (0.22 + 0.88 * lambert) + shine).min(1.0));
                }
            }
        }
    }

    fn picture(&self, view: &View) -> Picture {
        let (width, height) = (view.width.max(1), view.height.max(1));
        let mut pixels = Vec::with_capacity(4 * width * height);
        for y in 0..height {
            for x in 0..width {
                let mut sum = [0.0; 3];
                let mut covered = 0.0;
                for dy in 0..SAMPLES {
                    for dx in 0..SAMPLES {
                        let at = (y * SAMPLES + dy) * self.wide + x * SAMPLES + dx;
                        let drawn = self.depth[at] > f64::NEG_INFINITY;
                        let color = match (drawn, view.background) {
                            (true, _) => self.color[at],
                            (false, Some(background)) => background,
                            (false, None) => continue,
                        };
                        covered += 1.0;
                        for k in 0..3 {
                            sum[k] += color[k];
                        }
                    }
                }
                let byte = |v: f64| (v * 255.0).round().clamp(0.0, 255.0) as u8;
                pixels.extend(sum.map(|s| byte(s / f64::max(covered, 1.0))));
                pixels.push(byte(covered / (SAMPLES * SAMPLES) as f64));
            }
        }
        Picture { width, height, pixels }
    }
}

fn base_colour(
    mesh: &PictureMesh<'_>,
    face: &[u32; 3],
    weights: [f64; 3],
    facing: bool,
) -> [f64; 3] {
    match mesh.paint {
        Paint::Cloth => {
            if facing {
                FRONT
            } else {
                BACK
            }
        }
        Paint::Plain(colour) => colour,
        Paint::Field(values, (low, high), map) => {
            let value = |v: u32| values.get(v as usize).copied().unwrap_or(low);
            let value: f64 = weights.iter().zip(face).map(|(w, &v)| w * value(v)).sum();
            map.at((value - low) / (high - low).max(1e-300))
        }
    }
}

fn corners(mesh: &PictureMesh<'_>, face: &[u32; 3]) -> Option<[Point; 3]> {
    let mut p = [[0.0; 3]; 3];
    for (p, &v) in p.iter_mut().zip(face) {
        *p = *mesh.positions.get(v as usize)?;
        if !p.iter().all(|c| c.is_finite()) {
            return None;
        }
    }
    Some(p)
}

fn vertex_normals(mesh: &PictureMesh<'_>) -> Vec<Point> {
    let mut normals = vec![[0.0; 3]; mesh.positions.len()];
    for face in mesh.faces {
        if let Some(p) = corners(mesh, face) {
            let n = cross(sub(p[1], p[0]), sub(p[2], p[0]));
            for &v in face {
                for k in 0..3 {
                    normals[v as usize][k] += n[k];
                }
            }
        }
    }
    normals
}
