//! Pictures of meshes, drawn by us: no graphics card, no window, the same bits everywhere.

use std::io::{self, Write};

type Point = [f64; 3];

/// A mesh to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct PictureMesh<'a> {
    /// Positions, z up \[m\].
    pub positions: &'a [Point],
    /// Triangles.
    pub faces: &'a [[u32; 3]],
    /// Value at each vertex, shown as colour from the least to the greatest; plain cloth without.
    pub field: Option<&'a [f64]>,
}

/// From where and how large.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Direction of the eye around z, from +x towards +y \[rad\].
    pub azimuth: f64,
    /// Direction of the eye above the horizon \[rad\].
    pub elevation: f64,
}

impl Default for View {
    fn default() -> Self {
        // Half from the front: pinned edges stay readable and folds show.
        Self { width: 900, height: 700, azimuth: -1.1, elevation: 0.35 }
    }
}

/// An image, three bytes a pixel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Red, green, blue of each pixel.
    pub pixels: Vec<u8>,
}

/// Samples per pixel in each direction.
const SAMPLES: usize = 2;
const BACKGROUND: [f64; 3] = [0.97, 0.97, 0.98];
const FRONT: [f64; 3] = [0.27, 0.47, 0.66];
const BACK: [f64; 3] = [0.80, 0.56, 0.36];

fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn unit(a: Point) -> Point {
    let length = dot(a, a).sqrt();
    if length > 0.0 { a.map(|c| c / length) } else { a }
}

/// Draws meshes with parallel projection, hidden surfaces removed, both sides of the cloth in different
/// colours. Faces with corners that do not exist or are not finite are left out.
pub fn render(meshes: &[PictureMesh<'_>], view: &View) -> Picture {
    let (wide, high) = (view.width.max(1) * SAMPLES, view.height.max(1) * SAMPLES);
    let eye = [
        view.elevation.cos() * view.azimuth.cos(),
        view.elevation.cos() * view.azimuth.sin(),
        view.elevation.sin(),
    ];
    let right = unit(cross([0.0, 0.0, 1.0], eye));
    let up = cross(eye, right);
    let flat = |p: Point| [dot(p, right), dot(p, up), dot(p, eye)];
    let finite = |p: &&Point| p.iter().all(|c| c.is_finite());

    let mut bounds = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    for p in meshes.iter().flat_map(|m| m.positions).filter(finite) {
        let q = flat(*p);
        for k in 0..2 {
            bounds[0][k] = bounds[0][k].min(q[k]);
            bounds[1][k] = bounds[1][k].max(q[k]);
        }
    }
    let extent = |k: usize| (bounds[1][k] - bounds[0][k]).max(1e-300);
    let scale = 0.9 * (wide as f64 / extent(0)).min(high as f64 / extent(1));
    let middle = [0.5 * (bounds[0][0] + bounds[1][0]), 0.5 * (bounds[0][1] + bounds[1][1])];

    let mut depth = vec![f64::NEG_INFINITY; wide * high];
    let mut color = vec![BACKGROUND; wide * high];
    // From above and beside the eye: folds throw their own shade.
    let light = unit(std::array::from_fn(|k| 0.6 * eye[k] - 0.8 * right[k] + 0.7 * up[k]));
    for mesh in meshes {
        let normals = vertex_normals(mesh);
        let range = mesh.field.map(|f| {
            let finite = f.iter().copied().filter(|v| v.is_finite());
            let least = finite.clone().fold(f64::INFINITY, f64::min);
            (least, (finite.fold(f64::NEG_INFINITY, f64::max) - least).max(1e-300))
        });
        for face in mesh.faces {
            let Some(p) = corners(mesh, face) else { continue };
            let screen = p.map(|p| {
                let q = flat(p);
                let x = wide as f64 / 2.0 + scale * (q[0] - middle[0]);
                [x, high as f64 / 2.0 - scale * (q[1] - middle[1]), q[2]]
            });
            let [a, b, c] = screen;
            let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            if area == 0.0 || !area.is_finite() {
                continue;
            }
            let facing = dot(cross(sub(p[1], p[0]), sub(p[2], p[0])), eye) > 0.0;
            let span = |k: usize, limit: usize| {
                let least = a[k].min(b[k]).min(c[k]).floor().max(0.0) as usize;
                let most = a[k].max(b[k]).max(c[k]).ceil().min(limit as f64 - 1.0).max(0.0);
                least..most as usize + 1
            };
            for y in span(1, high) {
                for x in span(0, wide) {
                    let at = [x as f64 + 0.5, y as f64 + 0.5];
                    let part = |u: Point, v: Point| {
                        ((u[0] - at[0]) * (v[1] - at[1]) - (u[1] - at[1]) * (v[0] - at[0])) / area
                    };
                    let weights = [part(b, c), part(c, a), part(a, b)];
                    if weights.iter().any(|w| *w < 0.0) {
                        continue;
                    }
                    let z = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
                    let pixel = y * wide + x;
                    if z <= depth[pixel] {
                        continue;
                    }
                    depth[pixel] = z;
                    let mut normal = [0.0; 3];
                    for (w, &v) in weights.iter().zip(face) {
                        for k in 0..3 {
                            normal[k] += w * normals[v as usize][k];
                        }
                    }
                    let normal = unit(normal);
                    let lambert = dot(normal, light).abs();
                    let shine = dot(normal, light).abs().powi(24) * 0.15;
                    let base = match (mesh.field, range) {
                        (Some(field), Some((least, extent))) => {
                            let value: f64 = weights
                                .iter()
                                .zip(face)
                                .map(|(w, &v)| w * field.get(v as usize).copied().unwrap_or(least))
                                .sum();
                            colormap((value - least) / extent)
                        }
                        _ => {
                            if facing {
                                FRONT
                            } else {
                                BACK
                            }
                        }
                    };
                    color[pixel] = base.map(|c| (c * (0.22 + 0.88 * lambert) + shine).min(1.0));
                }
            }
        }
    }
    let mut pixels = Vec::with_capacity(3 * view.width * view.height);
    for y in 0..view.height {
        for x in 0..view.width {
            for k in 0..3 {
                let mut sum = 0.0;
                for dy in 0..SAMPLES {
                    for dx in 0..SAMPLES {
                        sum += color[(y * SAMPLES + dy) * wide + x * SAMPLES + dx][k];
                    }
                }
                let mean = sum / (SAMPLES * SAMPLES) as f64;
                pixels.push((mean * 255.0).round().clamp(0.0, 255.0) as u8);
            }
        }
    }
    Picture { width: view.width, height: view.height, pixels }
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

/// Dark blue over green to yellow, even in brightness, readable without colour vision.
fn colormap(t: f64) -> [f64; 3] {
    const STOPS: [[f64; 3]; 5] = [
        [0.25, 0.10, 0.40],
        [0.22, 0.35, 0.58],
        [0.14, 0.58, 0.56],
        [0.45, 0.80, 0.34],
        [0.98, 0.90, 0.20],
    ];
    let at = t.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let i = (at as usize).min(STOPS.len() - 2);
    let f = at - i as f64;
    std::array::from_fn(|k| STOPS[i][k] * (1.0 - f) + STOPS[i + 1][k] * f)
}

/// Writes a picture as PNG.
pub fn png_to(mut out: impl Write, picture: &Picture) -> io::Result<()> {
    let size =
        |n: usize| u32::try_from(n).map_err(|_| io::Error::other("picture too large for PNG"));
    let mut encoder = png::Encoder::new(&mut out, size(picture.width)?, size(picture.height)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    writer.write_image_data(&picture.pixels).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn square(x: f64) -> [Point; 4] {
        [[x, -1.0, -1.0], [x, 1.0, -1.0], [x, 1.0, 1.0], [x, -1.0, 1.0]]
    }

    /// Seen along −x from far away on the x axis.
    fn from_x() -> View {
        View { width: 40, height: 30, azimuth: 0.0, elevation: 0.0 }
    }

    fn mesh(positions: &[Point]) -> PictureMesh<'_> {
        PictureMesh { positions, faces: &SQUARE, field: None }
    }

    fn center(p: &Picture) -> [u8; 3] {
        let at = 3 * (p.height / 2 * p.width + p.width / 2);
        [p.pixels[at], p.pixels[at + 1], p.pixels[at + 2]]
    }

    #[test]
    fn front_and_back_have_their_own_colours() {
        let points = square(0.0);
        let front = render(&[mesh(&points)], &from_x());
        let behind = View { azimuth: std::f64::consts::PI, ..from_x() };
        let back = render(&[mesh(&points)], &behind);
        let (f, b) = (center(&front), center(&back));
        assert!(f[2] > f[0], "front is blue: {f:?}");
        assert!(b[0] > b[2], "back is warm: {b:?}");
        assert_eq!(front.pixels[..3], [247, 247, 250], "the corner is background");
    }

    #[test]
    fn the_nearer_mesh_hides_the_other() {
        let (near, far) = (square(1.0), square(-1.0));
        let marked = PictureMesh { field: Some(&[0.0, 1.0, 0.0, 1.0]), ..mesh(&far) };
        let hidden = render(&[mesh(&near), marked], &from_x());
        assert_eq!(hidden, render(&[mesh(&near)], &from_x()));
        assert_eq!(hidden, render(&[marked, mesh(&near)], &from_x()), "whatever the order");
    }

    #[test]
    fn bad_faces_and_points_are_left_out() {
        let mut points = square(0.0).to_vec();
        points.push([f64::NAN, 0.0, 0.0]);
        let faces = [[0, 1, 2], [0, 2, 3], [0, 1, 4], [0, 1, 99]];
        let bad = PictureMesh { positions: &points, faces: &faces, field: None };
        assert_eq!(
            center(&render(&[bad], &from_x())),
            center(&render(&[mesh(&points[..4])], &from_x()))
        );
        let nothing = render(&[], &from_x());
        assert_eq!(nothing.pixels.len(), 40 * 30 * 3);
    }

    #[test]
    fn png_reads_back() {
        let picture = render(&[mesh(&square(0.0))], &from_x());
        let mut bytes = Vec::new();
        png_to(&mut bytes, &picture).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; picture.pixels.len()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (40, 30));
        assert_eq!(pixels, picture.pixels);
    }
}
