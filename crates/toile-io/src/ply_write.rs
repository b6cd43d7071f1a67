//! Writing PLY: binary little endian, doubles, with fields per vertex.

use crate::atomic::{WriteError, atomic_write, invalid_data};
use crate::mesh::Group;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// What goes into a PLY file beside positions and faces.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlyWriter<'a> {
    /// Numbers per vertex by name, such as `stretch`; not finite ones are allowed.
    pub fields: &'a [(&'a str, &'a [f64])],
    /// Groups, written as `uchar group_<name>` per vertex.
    pub groups: Option<&'a BTreeMap<String, Group>>,
    /// A comment for the header.
    pub comment: Option<&'a str>,
}

/// A property name that the header can hold: no blanks.
fn property_name(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

/// Writes a binary little-endian PLY. Vertices and faces keep their order and every number its bits.
pub fn ply_to(
    mut out: impl Write,
    positions: &[[f64; 3]],
    faces: &[[u32; 3]],
    extras: &PlyWriter<'_>,
) -> io::Result<()> {
    let n = positions.len();
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    for line in extras.comment.iter().flat_map(|c| c.lines()) {
        writeln!(out, "comment {line}")?;
    }
    writeln!(out, "element vertex {n}")?;
    let mut used: Vec<String> = Vec::new();
    let mut property = |kind: &str, name: String| -> io::Result<String> {
        if used.contains(&name) {
            return Err(invalid_data(format!("the property `{name}` comes twice")));
        }
        used.push(name.clone());
        Ok(format!("property {kind} {name}\n"))
    };
    let mut lines = String::new();
    for axis in ["x", "y", "z"] {
        lines += &property("double", axis.into())?;
    }
    for (name, values) in extras.fields {
        if values.len() != n {
            return Err(invalid_data(format!(
                "field `{name}` has {} values for {n} vertices",
                values.len()
            )));
        }
        lines += &property("double", property_name(name))?;
    }
    let mut flags: Vec<Vec<u8>> = Vec::new();
    for (name, group) in extras.groups.into_iter().flatten() {
        lines += &property("uchar", format!("group_{}", property_name(name)))?;
        let mut flag = vec![0; n];
        for &v in &group.vertices {
            match flag.get_mut(v as usize) {
                Some(f) => *f = 1,
                None => {
                    return Err(invalid_data(format!("group `{name}` names vertex {v} of {n}")));
                }
            }
        }
        flags.push(flag);
    }
    out.write_all(lines.as_bytes())?;
    writeln!(
        out,
        "element face {}\nproperty list uchar int vertex_indices\nend_header",
        faces.len()
    )?;
    for (i, p) in positions.iter().enumerate() {
        for v in p {
            out.write_all(&v.to_le_bytes())?;
        }
        for (_, values) in extras.fields {
            out.write_all(&values[i].to_le_bytes())?;
        }
        for flag in &flags {
            out.write_all(&flag[i..=i])?;
        }
    }
    for face in faces {
        out.write_all(&[3])?;
        for &v in face {
            let v =
                i32::try_from(v).map_err(|_| invalid_data(format!("vertex {v} is too large")))?;
            out.write_all(&v.to_le_bytes())?;
        }
    }
    Ok(())
}

/// [`ply_to`] a file, whole or not at all.
pub fn write_ply(
    path: impl AsRef<Path>,
    positions: &[[f64; 3]],
    faces: &[[u32; 3]],
    extras: &PlyWriter<'_>,
) -> Result<(), WriteError> {
    atomic_write(path, |out| ply_to(out, positions, faces, extras))
}
