//! A triangle mesh as files know it, and the choice of the reader.

use crate::error::{MeshError, Place};
use crate::{gltf, gltf_data, obj, ply, stl};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Triangles with what files carry beside them. Lengths and axes are those of the file: see
/// [`crate::Axes`].
///
/// Indices are counted from 0 and always in range. Nothing else is checked here: flat, doubled or
/// inconsistently turned faces are the business of the mesh diagnosis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshData {
    /// Vertices in the order of the file, finite \[file units\].
    pub positions: Vec<[f64; 3]>,
    /// Triangles as indices into `positions`.
    pub faces: Vec<[u32; 3]>,
    /// Texture coordinates, for garments the flat pattern \[file units\].
    pub uvs: Vec<[f64; 2]>,
    /// Per face the indices of its corners into `uvs`; a vertex on a seam has several. None when some
    /// face has no texture coordinates.
    pub face_uvs: Option<Vec<[u32; 3]>>,
    /// Named parts: OBJ groups and objects, PLY `group_<name>` properties, STL solids, glTF meshes.
    pub groups: BTreeMap<String, Group>,
    /// Numbers per vertex found in a PLY file beside the known ones, by name.
    pub fields: BTreeMap<String, Vec<f64>>,
    /// Sewing lines of an OBJ file.
    pub stitches: Vec<Stitch>,
    /// What the reader did or passed over that the user may want to know.
    pub notes: Vec<String>,
}

/// A named part of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its vertices, ascending, each once.
    pub vertices: Vec<u32>,
    /// Its faces, ascending; empty for groups of vertices only.
    pub faces: Vec<u32>,
}

/// One line `stitch i a b w`: vertex i is sewn to the point (1 − w) a + w b of the edge from a to b.
///
/// The numbers are those of the file, counted from 0 or from 1: which, only the mesh can tell, and a file of
/// stitches may stand apart from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stitch {
    /// The sewn vertex i.
    pub vertex: u32,
    /// The ends a and b of the edge.
    pub edge: [u32; 2],
    /// w in 0..=1: 0 sews to a, 1 to b.
    pub weight: f64,
}

/// The mesh formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// PLY, ascii or binary of either byte order.
    Ply,
    /// STL, ascii or binary.
    Stl,
    /// glTF 2.0, as JSON or as a binary GLB.
    Gltf,
}

impl MeshFormat {
    /// The format that goes with a file name, by its extension.
    pub fn from_path(path: &Path) -> Option<MeshFormat> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "obj" => MeshFormat::Obj,
            "ply" => MeshFormat::Ply,
            "stl" => MeshFormat::Stl,
            "gltf" | "glb" => MeshFormat::Gltf,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            MeshFormat::Obj => "OBJ",
            MeshFormat::Ply => "PLY",
            MeshFormat::Stl => "STL",
            MeshFormat::Gltf => "glTF",
        }
    }
}

/// The format that the content itself gives away, None when nothing is certain.
pub fn sniff_format(bytes: &[u8]) -> Option<MeshFormat> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = text.trim_ascii_start();
    if bytes.starts_with(b"glTF") || start.starts_with(b"{") {
        return Some(MeshFormat::Gltf);
    }
    if text.starts_with(b"ply\n") || text.starts_with(b"ply\r") {
        return Some(MeshFormat::Ply);
    }
    if stl::is_binary(bytes) {
        return Some(MeshFormat::Stl);
    }
    if stl::is_ascii(bytes) {
        return Some(MeshFormat::Stl);
    }
    let head = &start[..start.len().min(4096)];
    let has = |word: &[u8]| head.windows(word.len()).any(|w| w == word);
    if start.starts_with(b"v ") || has(b"\nv ") || has(b"\nv\t") {
        return Some(MeshFormat::Obj);
    }
    None
}

/// Reads a mesh held in memory. Buffers in other files are refused; use [`read_mesh`] for those.
///
/// Time and memory are bounded by a multiple of the length of `bytes`.
pub fn parse_mesh(bytes: &[u8], format: MeshFormat) -> Result<MeshData, MeshError> {
    let no_files = |uri: &str| -> Result<Vec<u8>, String> {
        Err(format!("the data lies in another file, {uri:?}"))
    };
    parse_with_files(bytes, format, &no_files)
}

fn parse_with_files(
    bytes: &[u8],
    format: MeshFormat,
    fetch: gltf_data::Fetch<'_>,
) -> Result<MeshData, MeshError> {
    let mesh = match format {
        MeshFormat::Obj => obj::parse(bytes)?,
        MeshFormat::Ply => ply::parse(bytes)?,
        MeshFormat::Stl => stl::parse(bytes)?,
        MeshFormat::Gltf => gltf::parse(bytes, fetch)?,
    };
    if mesh.faces.is_empty() {
        return Err(MeshError::invalid(
            Place::Whole,
            format!("no faces ({} vertices)", mesh.positions.len()),
            "export the surface as triangles, not as points or curves",
        ));
    }
    Ok(mesh)
}

/// Reads a mesh file. The extension chooses the reader, unless the content clearly is of another
/// format; then the content is believed and a note says so.
pub fn read_mesh(path: impl AsRef<Path>) -> Result<MeshData, MeshError> {
    let path = path.as_ref();
    let bytes = read_whole(path)?;
    let (named, sniffed) = (MeshFormat::from_path(path), sniff_format(&bytes));
    let Some(format) = sniffed.or(named) else {
        return Err(MeshError::invalid(
            Place::Whole,
            "unknown mesh format",
            "use a file ending in .obj, .ply, .stl, .gltf or .glb",
        )
        .in_file(path));
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let fetch = |uri: &str| gltf_data::read_beside(folder, uri);
    let mut mesh = parse_with_files(&bytes, format, &fetch).map_err(|e| e.in_file(path))?;
    if let Some(named) = named.filter(|&n| n != format) {
        mesh.notes.push(format!(
            "the name says {}, but the content is {}: read as {}",
            named.name(),
            format.name(),
            format.name()
        ));
    }
    Ok(mesh)
}

/// The largest file that is read, 2 GiB: beyond it the data would not fit the computation either.
const LARGEST: u64 = 1 << 31;

/// All bytes of a regular file; a device or pipe could go on for ever.
pub(crate) fn read_whole(path: &Path) -> Result<Vec<u8>, MeshError> {
    let unreadable = |source: std::io::Error| {
        let remedy = match source.kind() {
            std::io::ErrorKind::NotFound => "check the name and the folder",
            std::io::ErrorKind::PermissionDenied => "check the permissions of the file",
            _ => "check the disk and the file",
        };
        MeshError::Unreadable { path: path.to_path_buf(), source, remedy: remedy.into() }
    };
    let meta = fs::metadata(path).map_err(unreadable)?;
    let refuse = |what: String, remedy: &str| {
        Err(MeshError::invalid(Place::Whole, what, remedy).in_file(path))
    };
    if !meta.is_file() {
        return refuse("not a regular file".into(), "give the path of a file");
    }
    if meta.len() > LARGEST {
        return refuse(
            format!("{} bytes, more than the {LARGEST} that are read", meta.len()),
            "simplify or split the mesh",
        );
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    fs::File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    Ok(bytes)
}
