//! The parts of a glTF file: its JSON, its chunks and its buffers.

use crate::base64;
use crate::error::{MeshError, Place, excerpt};
use crate::mesh::read_whole;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Gives the bytes of a buffer in another file, or says why it cannot.
pub(crate) type Fetch<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    #[serde(default)]
    pub(crate) extensions_required: Vec<String>,
    pub(crate) scene: Option<usize>,
    #[serde(default)]
    pub(crate) scenes: Vec<SceneNodes>,
    #[serde(default)]
    pub(crate) nodes: Vec<Node>,
    #[serde(default)]
    pub(crate) meshes: Vec<Mesh>,
    #[serde(default)]
    pub(crate) accessors: Vec<Accessor>,
    #[serde(default)]
    pub(crate) buffer_views: Vec<View>,
    #[serde(default)]
    pub(crate) buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
pub(crate) struct SceneNodes {
    #[serde(default)]
    pub(crate) nodes: Vec<usize>,
}

#[derive(Deserialize)]
pub(crate) struct Node {
    pub(crate) name: Option<String>,
    pub(crate) mesh: Option<usize>,
    #[serde(default)]
    pub(crate) children: Vec<usize>,
    // Boxed: most nodes have none, and a damaged file may have very many nodes.
    pub(crate) matrix: Option<Box<[f64; 16]>>,
    pub(crate) translation: Option<Box<[f64; 3]>>,
    pub(crate) rotation: Option<Box<[f64; 4]>>,
    pub(crate) scale: Option<Box<[f64; 3]>>,
}

#[derive(Deserialize)]
pub(crate) struct Mesh {
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub(crate) struct Primitive {
    #[serde(default)]
    pub(crate) attributes: BTreeMap<String, usize>,
    pub(crate) indices: Option<usize>,
    pub(crate) mode: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accessor {
    pub(crate) buffer_view: Option<usize>,
    #[serde(default)]
    pub(crate) byte_offset: u64,
    pub(crate) component_type: u32,
    #[serde(default)]
    pub(crate) normalized: bool,
    pub(crate) count: u64,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct View {
    pub(crate) buffer: usize,
    #[serde(default)]
    pub(crate) byte_offset: u64,
    pub(crate) byte_length: u64,
    pub(crate) byte_stride: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Buffer {
    pub(crate) uri: Option<String>,
    pub(crate) byte_length: u64,
}

pub(crate) fn part(list: &str, i: usize) -> Place {
    Place::Part(format!("{list}[{i}]"))
}

pub(crate) const DAMAGED: &str = "the file is damaged; export it again";

/// The `i`-th of a list, or an error that names the one who asked for it.
pub(crate) fn get<'a, T>(
    list: &'a [T],
    i: usize,
    name: &str,
    by: &Place,
) -> Result<&'a T, MeshError> {
    list.get(i).ok_or_else(|| {
        MeshError::invalid(
            by.clone(),
            format!("refers to {name}[{i}], but there are {}", list.len()),
            DAMAGED,
        )
    })
}

/// The JSON chunk and the binary chunk of a GLB.
pub(crate) fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), MeshError> {
    let fail = |at: usize, what: String| Err(MeshError::invalid(Place::Byte(at), what, DAMAGED));
    let word = |at: usize| -> Option<u32> {
        let raw = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]))
    };
    match (word(4), word(8)) {
        (Some(2), Some(length)) if length as usize <= bytes.len() => {}
        (Some(2), Some(length)) => {
            return fail(8, format!("the GLB header promises {length} bytes of {}", bytes.len()));
        }
        (Some(version), _) if version != 2 => {
            return fail(4, format!("GLB version {version}; only 2 is known"));
        }
        _ => return fail(0, "the GLB header is cut short".into()),
    }
    let mut at = 12;
    let mut json = None;
    let mut binary = None;
    while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
        let Some(content) = bytes[at + 8..].get(..length as usize) else {
            return fail(
                at,
                format!("a chunk of {length} bytes, but {} are left", bytes.len() - at - 8),
            );
        };
        match kind {
            0x4E4F_534A if json.is_none() => json = Some(content),
            0x004E_4942 if binary.is_none() => binary = Some(content),
            _ => {}
        }
        at += 8 + length as usize;
    }
    match json {
        Some(json) => Ok((json, binary)),
        None => fail(12, "the GLB has no JSON chunk".into()),
    }
}

/// Files fetched for one document may take 2 GiB together.
const MOST_FETCHED: usize = 1 << 31;

pub(crate) fn load_buffers<'a>(
    document: &Document,
    binary: Option<&'a [u8]>,
    fetch: Fetch<'_>,
) -> Result<Vec<Cow<'a, [u8]>>, MeshError> {
    let mut buffers = Vec::new();
    let mut fetched = 0;
    for (i, buffer) in document.buffers.iter().enumerate() {
        let fail =
            |what: String, remedy: &str| Err(MeshError::invalid(part("buffers", i), what, remedy));
        let data: Cow<'a, [u8]> = match (&buffer.uri, binary) {
            (None, Some(binary)) if i == 0 => Cow::Borrowed(binary),
            (None, _) => {
                return fail("has neither a uri nor the binary chunk".into(), DAMAGED);
            }
            (Some(uri), _) if uri.starts_with("data:") => {
                let Some((_, text)) = uri.split_once(";base64,") else {
                    return fail("a data uri that is not base64".into(), "export as GLB");
                };
                match base64::decode(text) {
                    Ok(data) => Cow::Owned(data),
                    Err(at) => {
                        return fail(format!("base64 broken at character {at}"), DAMAGED);
                    }
                }
            }
            (Some(uri), _) => match fetch(uri) {
                Ok(data) => Cow::Owned(data),
                Err(why) => {
                    return fail(why, "keep the .bin file beside the .gltf, or export as GLB");
                }
            },
        };
        if (data.len() as u64) < buffer.byte_length {
            return fail(
                format!("promises {} bytes, but has {}", buffer.byte_length, data.len()),
                DAMAGED,
            );
        }
        fetched += data.len();
        if fetched > MOST_FETCHED {
            return fail("the buffers take more than 2 GiB".into(), "simplify or split the mesh");
        }
        buffers.push(data);
    }
    Ok(buffers)
}

/// Bytes of a file named by a uri relative to `folder`. Files elsewhere are refused.
pub(crate) fn read_beside(folder: &Path, uri: &str) -> Result<Vec<u8>, String> {
    let mut name = Vec::new();
    let mut rest = uri.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail
            .get(..2)
            .and_then(|h| std::str::from_utf8(h).ok())
            .and_then(|h| u8::from_str_radix(h, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => {
                name.push(byte);
                rest = &tail[2..];
            }
            _ => {
                name.push(*first);
                rest = tail;
            }
        }
    }
    let name = String::from_utf8(name).map_err(|_| format!("the uri {uri:?} is not text"))?;
    let outside =
        name.contains([':', '\\', '\0']) || name.split('/').any(|p| p.is_empty() || p == "..");
    if outside {
        return Err(format!("the uri {:?} leads outside the folder", excerpt(uri.as_bytes())));
    }
    read_whole(&folder.join(name)).map_err(|e| e.to_string())
}
