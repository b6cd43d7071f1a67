//! Writing USD as text (`.usda`): moving meshes for Houdini, Blender, Maya and Omniverse.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use crate::atomic::{WriteError, atomic_write, invalid_data};
use crate::axes::Up;

/// One mesh of a stage.
pub struct UsdMesh<'a> {
    /// Its name; what USD does not allow in names becomes `_`.
    pub name: &'a str,
    /// Triangles.
    pub faces: &'a [[u32; 3]],
    /// Number of vertices.
    pub points: usize,
}

/// Units and times of a stage.
#[derive(Clone, Copy, Debug)]
pub struct UsdStage<'a> {
    /// The upward axis of the points.
    pub up: Up,
    /// Length of one unit \[m\].
    pub unit: f64,
    /// Frames per second; a time code is a frame.
    pub rate: f64,
    /// Time of every frame \[s\].
    pub times: &'a [f64],
}

/// Positions of the vertices of a mesh at a frame: `(mesh, frame)`.
pub type MeshFrames<'a> = dyn FnMut(usize, usize) -> io::Result<Vec<[f64; 3]>> + 'a;

/// Writes a stage. A single frame is written as plain points, several as time samples.
pub fn usda_to(
    mut out: impl Write,
    stage: &UsdStage<'_>,
    meshes: &[UsdMesh<'_>],
    frames: &mut MeshFrames<'_>,
) -> io::Result<()> {
    let up = match stage.up {
        Up::Z => "Z",
        Up::Y => "Y",
    };
    let codes: Vec<f64> = stage.times.iter().map(|t| t * stage.rate).collect();
    let (Some(first), Some(last)) = (codes.first(), codes.last()) else {
        return Err(invalid_data("there are no frames"));
    };
    writeln!(out, "#usda 1.0\n(")?;
    writeln!(out, "    defaultPrim = \"toile\"\n    metersPerUnit = {:?}", stage.unit)?;
    writeln!(
        out,
        "    upAxis = \"{up}\"\n    startTimeCode = {first:?}\n    endTimeCode = {last:?}"
    )?;
    writeln!(out, "    framesPerSecond = {0:?}\n    timeCodesPerSecond = {0:?}\n)\n", stage.rate)?;
    writeln!(out, "def Xform \"toile\"\n{{")?;
    for (m, mesh) in meshes.iter().enumerate() {
        writeln!(out, "    def Mesh \"{}\"\n    {{", identifier(mesh.name, m))?;
        let counts = vec!["3"; mesh.faces.len()].join(", ");
        writeln!(out, "        int[] faceVertexCounts = [{counts}]")?;
        let corners: Vec<String> =
            mesh.faces.as_flattened().iter().map(ToString::to_string).collect();
        writeln!(out, "        int[] faceVertexIndices = [{}]", corners.join(", "))?;
        writeln!(out, "        uniform token subdivisionScheme = \"none\"")?;
        writeln!(out, "        uniform bool doubleSided = 1")?;
        let mut extents = Vec::with_capacity(codes.len());
        let still = codes.len() == 1;
        write!(
            out,
            "        point3f[] points{}",
            if still { " = " } else { ".timeSamples = {\n" }
        )?;
        for (f, code) in codes.iter().enumerate() {
            let points = frames(m, f)?;
            if points.len() != mesh.points {
                return Err(invalid_data(format!(
                    "frame {f} of {} has {} vertices instead of {}; all frames must be of one mesh",
                    mesh.name,
                    points.len(),
                    mesh.points
                )));
            }
            let list = list(&points)?;
            extents.push((code, extent(&points)));
            if still {
                writeln!(out, "{list}")?;
            } else {
                writeln!(out, "            {code:?}: {list},")?;
            }
        }
        if still {
            writeln!(out, "        float3[] extent = {}", list(&extents[0].1)?)?;
        } else {
            writeln!(out, "        }}\n        float3[] extent.timeSamples = {{")?;
            for (code, corners) in &extents {
                writeln!(out, "            {code:?}: {},", list(corners)?)?;
            }
            writeln!(out, "        }}")?;
        }
        writeln!(out, "    }}")?;
    }
    writeln!(out, "}}")
}

/// [`usda_to`] into a file, whole or not at all.
pub fn write_usda(
    path: impl AsRef<Path>,
    stage: &UsdStage<'_>,
    meshes: &[UsdMesh<'_>],
    frames: &mut MeshFrames<'_>,
) -> Result<(), WriteError> {
    atomic_write(path, |w| usda_to(w, stage, meshes, frames))
}

fn list(points: &[[f64; 3]]) -> io::Result<String> {
    let mut text = String::with_capacity(36 * points.len());
    text.push('[');
    for (i, [x, y, z]) in points.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let [x, y, z] = [*x as f32, *y as f32, *z as f32];
        if ![x, y, z].iter().all(|v| v.is_finite()) {
            return Err(invalid_data(format!("vertex {i} is not a finite single-precision point")));
        }
        // Writing into a String cannot fail.
        let _ = write!(text, "{comma}({x:?}, {y:?}, {z:?})");
    }
    text.push(']');
    Ok(text)
}

fn extent(points: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let start = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    let found = points.iter().fold(start, |[mut low, mut high], p| {
        for k in 0..3 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
        [low, high]
    });
    if points.is_empty() { [[0.0; 3]; 2] } else { found }
}

/// A name USD allows: letters, digits and `_`, no digit first.
fn identifier(name: &str, index: usize) -> String {
    let made: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match made.chars().next() {
        None => format!("mesh_{index}"),
        Some(c) if c.is_ascii_digit() => format!("_{made}"),
        Some(_) => made,
    }
}
