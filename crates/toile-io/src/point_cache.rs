//! Point caches: the moving vertices of one mesh, for Blender's Mesh Cache modifier, Maya and others.
//!
//! Both formats hold 32-bit coordinates in the order of the mesh and nothing else; the mesh itself travels as OBJ.

use std::io::{self, Write};
use std::path::Path;

use crate::atomic::{WriteError, atomic_write, invalid_data};

/// Positions of the vertices at frame number `i` \[file units\].
pub type Frames<'a> = dyn FnMut(usize) -> io::Result<Vec<[f64; 3]>> + 'a;

fn points_of(frames: &mut Frames<'_>, frame: usize, points: usize) -> io::Result<Vec<[f64; 3]>> {
    let found = frames(frame)?;
    if found.len() == points {
        return Ok(found);
    }
    Err(invalid_data(format!(
        "frame {frame} has {} vertices, the first has {points}; all frames must be of one mesh",
        found.len()
    )))
}

fn count(what: &str, n: usize) -> io::Result<i32> {
    i32::try_from(n).map_err(|_| invalid_data(format!("{n} {what} are more than the format holds")))
}

/// Writes a PC2 cache: little-endian, one sample per frame.
///
/// Layout: `POINTCACHE2\0`, then 32-bit version 1, number of points, first frame 0, rate 1, number of samples.
pub fn pc2_to(
    mut out: impl Write,
    points: usize,
    samples: usize,
    frames: &mut Frames<'_>,
) -> io::Result<()> {
    out.write_all(b"POINTCACHE2\0")?;
    out.write_all(&1i32.to_le_bytes())?;
    out.write_all(&count("vertices", points)?.to_le_bytes())?;
    out.write_all(&0f32.to_le_bytes())?;
    out.write_all(&1f32.to_le_bytes())?;
    out.write_all(&count("frames", samples)?.to_le_bytes())?;
    for frame in 0..samples {
        for v in points_of(frames, frame, points)?.as_flattened() {
            out.write_all(&(*v as f32).to_le_bytes())?;
        }
    }
    Ok(())
}

/// Writes an MDD cache: big-endian numbers of frames and points, the times \[s\], then the points of every frame.
pub fn mdd_to(
    mut out: impl Write,
    points: usize,
    times: &[f64],
    frames: &mut Frames<'_>,
) -> io::Result<()> {
    out.write_all(&count("frames", times.len())?.to_be_bytes())?;
    out.write_all(&count("vertices", points)?.to_be_bytes())?;
    for time in times {
        out.write_all(&(*time as f32).to_be_bytes())?;
    }
    for frame in 0..times.len() {
        for v in points_of(frames, frame, points)?.as_flattened() {
            out.write_all(&(*v as f32).to_be_bytes())?;
        }
    }
    Ok(())
}

/// [`pc2_to`] into a file, whole or not at all.
pub fn write_pc2(
    path: impl AsRef<Path>,
    points: usize,
    samples: usize,
    frames: &mut Frames<'_>,
) -> Result<(), WriteError> {
    atomic_write(path, |w| pc2_to(w, points, samples, frames))
}

/// [`mdd_to`] into a file, whole or not at all.
pub fn write_mdd(
    path: impl AsRef<Path>,
    points: usize,
    times: &[f64],
    frames: &mut Frames<'_>,
) -> Result<(), WriteError> {
    atomic_write(path, |w| mdd_to(w, points, times, frames))
}
