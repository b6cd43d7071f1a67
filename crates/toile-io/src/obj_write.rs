//! Writing Wavefront OBJ.

use crate::atomic::{WriteError, atomic_write, invalid_data};
use crate::mesh::Group;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// What goes into an OBJ file beside positions and faces.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjWriter<'a> {
    /// Texture coordinates; written when `face_uvs` is given too.
    pub uvs: &'a [[f64; 2]],
    /// Per face the indices of its corners into `uvs`.
    pub face_uvs: Option<&'a [[u32; 3]]>,
    /// Groups, written as `g name` with the points `p` of their vertices.
    pub groups: Option<&'a BTreeMap<String, Group>>,
    /// First line of the file, as a comment.
    pub comment: Option<&'a str>,
}

/// Writes an OBJ: vertices and faces in the given order, every number with the fewest digits (at most
/// 17) that read back to the same bits. Numbers that are not finite are an error.
pub fn obj_to(
    mut out: impl Write,
    positions: &[[f64; 3]],
    faces: &[[u32; 3]],
    extras: &ObjWriter<'_>,
) -> io::Result<()> {
    for line in extras.comment.iter().flat_map(|c| c.lines()) {
        // A backslash at the end would swallow the line after it.
        writeln!(out, "# {}", line.trim_end_matches('\\'))?;
    }
    for (i, p) in positions.iter().enumerate() {
        if !p.iter().all(|v| v.is_finite()) {
            return Err(invalid_data(format!("vertex {i} is not finite: {p:?}")));
        }
        writeln!(out, "v {:?} {:?} {:?}", p[0], p[1], p[2])?;
    }
    if let Some(face_uvs) = extras.face_uvs {
        if face_uvs.len() != faces.len() {
            return Err(invalid_data(format!(
                "{} faces but texture corners for {}",
                faces.len(),
                face_uvs.len()
            )));
        }
        for (i, uv) in extras.uvs.iter().enumerate() {
            if !uv.iter().all(|v| v.is_finite()) {
                return Err(invalid_data(format!("texture coordinate {i} is not finite: {uv:?}")));
            }
            writeln!(out, "vt {:?} {:?}", uv[0], uv[1])?;
        }
        for (f, t) in faces.iter().zip(face_uvs) {
            let [a, b, c] = f.map(|i| u64::from(i) + 1);
            let [ta, tb, tc] = t.map(|i| u64::from(i) + 1);
            writeln!(out, "f {a}/{ta} {b}/{tb} {c}/{tc}")?;
        }
    } else {
        for f in faces {
            let [a, b, c] = f.map(|i| u64::from(i) + 1);
            writeln!(out, "f {a} {b} {c}")?;
        }
    }
    for (name, group) in extras.groups.into_iter().flatten() {
        let name: String =
            name.chars()
                .map(|c| {
                    if c.is_whitespace() || c.is_control() || c == '#' || c == '\\' {
                        '_'
                    } else {
                        c
                    }
                })
                .collect();
        writeln!(out, "g {name}")?;
        for line in group.vertices.chunks(16) {
            out.write_all(b"p")?;
            for &v in line {
                write!(out, " {}", u64::from(v) + 1)?;
            }
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// [`obj_to`] a file, whole or not at all.
pub fn write_obj(
    path: impl AsRef<Path>,
    positions: &[[f64; 3]],
    faces: &[[u32; 3]],
    extras: &ObjWriter<'_>,
) -> Result<(), WriteError> {
    atomic_write(path, |out| obj_to(out, positions, faces, extras))
}
