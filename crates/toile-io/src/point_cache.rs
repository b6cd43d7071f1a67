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

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(frame: usize) -> io::Result<Vec<[f64; 3]>> {
        let f = frame as f64;
        Ok(vec![[f, 0.5, -0.25], [1.0 + f, 2.0, 3.0]])
    }

    #[test]
    fn pc2_has_its_header_and_every_point() {
        let mut out = Vec::new();
        pc2_to(&mut out, 2, 3, &mut moving).unwrap();
        assert_eq!(out.len(), 32 + 3 * 2 * 12);
        assert_eq!(&out[..12], b"POINTCACHE2\0");
        let word = |at: usize| <[u8; 4]>::try_from(&out[at..at + 4]).unwrap();
        assert_eq!(i32::from_le_bytes(word(16)), 2);
        assert_eq!(i32::from_le_bytes(word(28)), 3);
        assert_eq!(f32::from_le_bytes(word(32 + 24 + 12)), 2.0, "x of point 1 at frame 1");
    }

    #[test]
    fn mdd_is_big_endian_with_times() {
        let mut out = Vec::new();
        mdd_to(&mut out, 2, &[0.0, 0.25], &mut moving).unwrap();
        assert_eq!(out.len(), 8 + 8 + 2 * 2 * 12);
        assert_eq!(&out[..8], &[0, 0, 0, 2, 0, 0, 0, 2]);
        assert_eq!(f32::from_be_bytes(out[12..16].try_into().unwrap()), 0.25);
        assert_eq!(f32::from_be_bytes(out[16 + 24..16 + 28].try_into().unwrap()), 1.0);
    }

    #[test]
    fn frames_of_another_mesh_are_refused() {
        let mut frames = |frame: usize| Ok(vec![[0.0; 3]; 2 + frame]);
        let error = pc2_to(io::sink(), 2, 2, &mut frames).unwrap_err();
        assert!(error.to_string().contains("frame 1 has 3 vertices"), "{error}");
    }
}
