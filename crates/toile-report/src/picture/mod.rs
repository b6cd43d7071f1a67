//! Pictures of meshes, drawn by us: no graphics card, no window, the same bits everywhere.

mod colour;
mod raster;
mod solid;

use std::io::{self, Write};

pub use colour::{ColourMap, SLIP, STICK};
pub use raster::render;
pub use solid::{Solid, arrow, tube};

/// A place \[m\], z up.
pub type Point = [f64; 3];

/// How a mesh is coloured.
#[derive(Clone, Copy, Debug)]
pub enum Paint<'a> {
    /// Cloth: its two sides have their own colours.
    Cloth,
    /// One colour on both sides, red, green and blue from 0 to 1.
    Plain([f64; 3]),
    /// A value at each vertex, from the first number to the second.
    Field(&'a [f64], (f64, f64), ColourMap),
}

/// A mesh to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct PictureMesh<'a> {
    /// Positions, z up \[m\].
    pub positions: &'a [Point],
    /// Triangles.
    pub faces: &'a [[u32; 3]],
    /// Its colours.
    pub paint: Paint<'a>,
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
    /// Colour behind everything; nothing without, so that the page shows through.
    pub background: Option<[f64; 3]>,
    /// Opposite corners of the box that fills the picture; that of all meshes without.
    pub focus: Option<[Point; 2]>,
}

impl Default for View {
    fn default() -> Self {
        // Half from the front: pinned edges stay readable and folds show.
        Self {
            width: 900,
            height: 700,
            azimuth: -1.1,
            elevation: 0.35,
            background: Some([0.97, 0.97, 0.98]),
            focus: None,
        }
    }
}

/// An image, four bytes a pixel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Red, green, blue and opacity of each pixel.
    pub pixels: Vec<u8>,
}

/// Opposite corners of the box around points; `None` where none is finite.
pub fn bounds<'a>(points: impl IntoIterator<Item = &'a Point>) -> Option<[Point; 2]> {
    let mut found: Option<[Point; 2]> = None;
    for p in points.into_iter().filter(|p| p.iter().all(|c| c.is_finite())) {
        let [low, high] = found.get_or_insert([*p, *p]);
        for k in 0..3 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
    }
    found
}

/// Writes a picture as PNG.
pub fn png_to(mut out: impl Write, picture: &Picture) -> io::Result<()> {
    let size =
        |n: usize| u32::try_from(n).map_err(|_| io::Error::other("picture too large for PNG"));
    let mut encoder = png::Encoder::new(&mut out, size(picture.width)?, size(picture.height)?);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    writer.write_image_data(&picture.pixels).map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)
}
