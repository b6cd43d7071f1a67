//! Writing VTK: PolyData in XML (`.vtp`), for ParaView.

use crate::atomic::{WriteError, atomic_write, invalid_data};
use crate::base64;
use std::io::{self, Write};
use std::path::Path;

/// Writes a `.vtp` with double positions, triangles and named numbers per point.
///
/// Arrays are inline and uncompressed: base64 of the length in bytes as `UInt64`, then the data.
pub fn vtp_to(
    mut out: impl Write,
    positions: &[[f64; 3]],
    faces: &[[u32; 3]],
    fields: &[(&str, &[f64])],
) -> io::Result<()> {
    let n = positions.len();
    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(
        out,
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
    )?;
    writeln!(out, "<PolyData>")?;
    writeln!(
        out,
        "<Piece NumberOfPoints=\"{n}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" \
         NumberOfPolys=\"{}\">",
        faces.len()
    )?;
    writeln!(out, "<PointData>")?;
    for (name, values) in fields {
        if values.len() != n {
            return Err(invalid_data(format!(
                "field `{name}` has {} values for {n} vertices",
                values.len()
            )));
        }
        array(&mut out, "Float64", name, 1, values.iter().map(|v| v.to_le_bytes()))?;
    }
    writeln!(out, "</PointData>\n<Points>")?;
    let coordinates = positions.iter().flatten().map(|v| v.to_le_bytes());
    array(&mut out, "Float64", "Points", 3, coordinates)?;
    writeln!(out, "</Points>\n<Polys>")?;
    let corners = faces.iter().flatten().map(|&v| i64::from(v).to_le_bytes());
    array(&mut out, "Int64", "connectivity", 1, corners)?;
    let offsets = (1..=faces.len()).map(|i| (3 * i as i64).to_le_bytes());
    array(&mut out, "Int64", "offsets", 1, offsets)?;
    writeln!(out, "</Polys>\n</Piece>\n</PolyData>\n</VTKFile>")
}

fn array(
    out: &mut impl Write,
    kind: &str,
    name: &str,
    components: usize,
    words: impl Iterator<Item = [u8; 8]>,
) -> io::Result<()> {
    let mut data = vec![0; 8];
    data.extend(words.flatten());
    let length = (data.len() as u64 - 8).to_le_bytes();
    data[..8].copy_from_slice(&length);
    let mut escaped = String::new();
    for c in name.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            c if c.is_control() => escaped.push('_'),
            c => escaped.push(c),
        }
    }
    writeln!(
        out,
        "<DataArray type=\"{kind}\" Name=\"{escaped}\" NumberOfComponents=\"{components}\" \
         format=\"binary\">{}</DataArray>",
        base64::encode(&data)
    )
}

/// Writes a `.pvd`: files in the same folder and the time of each \[s\], for ParaView's time line.
pub fn write_pvd(path: impl AsRef<Path>, files: &[(f64, String)]) -> Result<(), WriteError> {
    atomic_write(path, |out| {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(out, "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">")?;
        writeln!(out, "<Collection>")?;
        for (time, file) in files {
            writeln!(out, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{file}\"/>")?;
        }
        writeln!(out, "</Collection>\n</VTKFile>")
    })
}

/// [`vtp_to`] a file, whole or not at all.
pub fn write_vtp(
    path: impl AsRef<Path>,
    positions: &[[f64; 3]],
    faces: &[[u32; 3]],
    fields: &[(&str, &[f64])],
) -> Result<(), WriteError> {
    atomic_write(path, |out| vtp_to(out, positions, faces, fields))
}
