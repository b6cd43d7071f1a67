//! Writing GLB, the binary form of glTF 2.0.

use crate::atomic::{WriteError, atomic_write, invalid_data};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// One named mesh of a GLB file.
#[derive(Clone, Copy, Debug)]
pub struct GlbMesh<'a> {
    /// Name of the mesh and of its node.
    pub name: &'a str,
    /// Vertices; glTF means metres with +y up, so pass them through `Axes { up: Up::Y, .. }.to_file`.
    pub positions: &'a [[f64; 3]],
    /// Triangles.
    pub faces: &'a [[u32; 3]],
    /// Red, green, blue and opacity per vertex, linear, 0 to 1.
    pub colors: Option<&'a [[f32; 4]]>,
}

/// Writes the meshes as one scene: positions in single precision, one node per mesh, a two-sided matt
/// material. Refused: no mesh at all, a mesh without faces, numbers a float cannot hold, indices out of
/// range, more than 4 GiB.
pub fn glb_to(mut out: impl Write, meshes: &[GlbMesh<'_>]) -> io::Result<()> {
    let mut binary: Vec<u8> = Vec::new();
    let (mut views, mut accessors) = (Vec::new(), Vec::new());
    let (mut json_meshes, mut nodes) = (Vec::new(), Vec::new());
    if meshes.is_empty() {
        return Err(invalid_data("no mesh to write"));
    }
    for mesh in meshes {
        let name = mesh.name;
        let mut attributes = serde_json::Map::new();
        let n = mesh.positions.len();
        if mesh.faces.is_empty() {
            return Err(invalid_data(format!("mesh `{name}` has no faces")));
        }
        let mut least = [f32::INFINITY; 3];
        let mut most = [f32::NEG_INFINITY; 3];
        let start = binary.len();
        for (i, p) in mesh.positions.iter().enumerate() {
            for k in 0..3 {
                let v = p[k] as f32;
                if !v.is_finite() {
                    return Err(invalid_data(format!(
                        "vertex {i} of `{name}` does not fit single precision: {p:?}"
                    )));
                }
                least[k] = least[k].min(v);
                most[k] = most[k].max(v);
                binary.extend(v.to_le_bytes());
            }
        }
        push_view(&mut views, start, &binary, 34962);
        attributes.insert("POSITION".into(), accessors.len().into());
        accessors.push(accessor(&views, 5126, n, "VEC3", Some((least, most))));
        if let Some(colors) = mesh.colors {
            if colors.len() != n {
                return Err(invalid_data(format!(
                    "`{name}` has {} colours for {n} vertices",
                    colors.len()
                )));
            }
            let start = binary.len();
            for c in colors.iter().flatten() {
                // A colour that is not a number must not spoil the file.
                let c = if c.is_nan() { 0.0 } else { c.clamp(0.0, 1.0) };
                binary.extend(c.to_le_bytes());
            }
            push_view(&mut views, start, &binary, 34962);
            attributes.insert("COLOR_0".into(), accessors.len().into());
            accessors.push(accessor(&views, 5126, n, "VEC4", None));
        }
        let start = binary.len();
        for &v in mesh.faces.iter().flatten() {
            if v as usize >= n {
                return Err(invalid_data(format!("a face of `{name}` uses vertex {v} of {n}")));
            }
            binary.extend(v.to_le_bytes());
        }
        push_view(&mut views, start, &binary, 34963);
        json_meshes.push(json!({
            "name": name,
            "primitives": [{
                "attributes": attributes,
                "indices": accessors.len(),
                "material": 0,
                "mode": 4,
            }],
        }));
        accessors.push(accessor(&views, 5125, 3 * mesh.faces.len(), "SCALAR", None));
        nodes.push(json!({ "name": name, "mesh": nodes.len() }));
    }
    let document = json!({
        "asset": { "version": "2.0", "generator": "toile" },
        "scene": 0,
        "scenes": [{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
        "nodes": nodes,
        "meshes": json_meshes,
        "materials": [{
            "doubleSided": true,
            "pbrMetallicRoughness": { "metallicFactor": 0.0, "roughnessFactor": 0.9 },
        }],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{ "byteLength": binary.len() }],
    });
    let mut text = serde_json::to_vec(&document)?;
    // Chunks end on multiples of four: JSON with blanks, data (always whole words) as it is.
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = u32::try_from(12 + 8 + text.len() + 8 + binary.len())
        .map_err(|_| invalid_data("a GLB cannot hold more than 4 GiB"))?;
    out.write_all(b"glTF")?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&total.to_le_bytes())?;
    for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &binary)] {
        out.write_all(&(chunk.len() as u32).to_le_bytes())?;
        out.write_all(kind)?;
        out.write_all(chunk)?;
    }
    Ok(())
}

fn push_view(views: &mut Vec<Value>, start: usize, binary: &[u8], target: u32) {
    views.push(json!({
        "buffer": 0,
        "byteOffset": start,
        "byteLength": binary.len() - start,
        "target": target,
    }));
}

/// An accessor on the last view.
fn accessor(
    views: &[Value],
    component: u32,
    count: usize,
    kind: &str,
    bounds: Option<([f32; 3], [f32; 3])>,
) -> Value {
    let mut value = json!({
        "bufferView": views.len() - 1,
        "componentType": component,
        "count": count,
        "type": kind,
    });
    if let Some((least, most)) = bounds {
        value["min"] = json!(least);
        value["max"] = json!(most);
    }
    value
}

/// [`glb_to`] a file, whole or not at all.
pub fn write_glb(path: impl AsRef<Path>, meshes: &[GlbMesh<'_>]) -> Result<(), WriteError> {
    atomic_write(path, |out| glb_to(out, meshes))
}
