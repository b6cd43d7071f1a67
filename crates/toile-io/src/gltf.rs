//! Reading glTF 2.0, as JSON or GLB.
//!
//! Taken: the default scene with the transforms of its nodes; triangles, strips and fans, indexed or
//! not; positions in floats; the first set of texture coordinates, with v turned upward (1 − v) as in
//! OBJ; buffers in the GLB, in base64 or in files beside. Vertices that were split for their attributes
//! are joined again where their positions are equal, within one mesh. glTF is y up and in metres.
//! Reference: Khronos glTF 2.0 specification, sections 3.5–3.7 and 4.4.

use crate::base64;
use crate::error::{MeshError, Place, excerpt};
use crate::mesh::{Group, MeshData, read_whole};
use crate::weld::{PointWeld, UvWeld};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Gives the bytes of a buffer in another file, or says why it cannot.
pub(crate) type Fetch<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(default)]
    extensions_required: Vec<String>,
    scene: Option<usize>,
    #[serde(default)]
    scenes: Vec<SceneNodes>,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    meshes: Vec<Mesh>,
    #[serde(default)]
    accessors: Vec<Accessor>,
    #[serde(default)]
    buffer_views: Vec<View>,
    #[serde(default)]
    buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
struct SceneNodes {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    name: Option<String>,
    mesh: Option<usize>,
    #[serde(default)]
    children: Vec<usize>,
    // Boxed: most nodes have none, and a damaged file may have very many nodes.
    matrix: Option<Box<[f64; 16]>>,
    translation: Option<Box<[f64; 3]>>,
    rotation: Option<Box<[f64; 4]>>,
    scale: Option<Box<[f64; 3]>>,
}

#[derive(Deserialize)]
struct Mesh {
    name: Option<String>,
    #[serde(default)]
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    #[serde(default)]
    attributes: BTreeMap<String, usize>,
    indices: Option<usize>,
    mode: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: u64,
    component_type: u32,
    #[serde(default)]
    normalized: bool,
    count: u64,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    #[serde(default)]
    byte_offset: u64,
    byte_length: u64,
    byte_stride: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    uri: Option<String>,
    byte_length: u64,
}

fn part(list: &str, i: usize) -> Place {
    Place::Part(format!("{list}[{i}]"))
}

const DAMAGED: &str = "the file is damaged; export it again";

/// The `i`-th of a list, or an error that names the one who asked for it.
fn get<'a, T>(list: &'a [T], i: usize, name: &str, by: &Place) -> Result<&'a T, MeshError> {
    list.get(i).ok_or_else(|| {
        MeshError::invalid(
            by.clone(),
            format!("refers to {name}[{i}], but there are {}", list.len()),
            DAMAGED,
        )
    })
}

pub(crate) fn parse(bytes: &[u8], fetch: Fetch<'_>) -> Result<MeshData, MeshError> {
    let (json, binary) = if bytes.starts_with(b"glTF") {
        let (json, binary) = chunks(bytes)?;
        (json, Some(binary))
    } else {
        (bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None)
    };
    let document: Document = serde_json::from_slice(json).map_err(|e| {
        let place = match binary {
            Some(_) => Place::Part(format!("JSON chunk, line {}", e.line())),
            None => Place::Line(e.line()),
        };
        MeshError::invalid(place, format!("not a glTF document: {e}"), DAMAGED)
    })?;
    for extension in &document.extensions_required {
        // These change materials and lights only.
        if !extension.starts_with("KHR_materials_")
            && !matches!(extension.as_str(), "KHR_texture_transform" | "KHR_lights_punctual")
        {
            return Err(MeshError::invalid(
                Place::Part("extensionsRequired".into()),
                format!("needs the extension `{}`", excerpt(extension.as_bytes())),
                "export without mesh compression and quantisation",
            ));
        }
    }
    let buffers = load_buffers(&document, binary.flatten(), fetch)?;
    let total: usize = buffers.iter().map(|b| b.len()).sum::<usize>() + bytes.len();
    let mut reader = Reader {
        document: &document,
        buffers,
        budget: (8 * total).max(1_000_000),
        mesh: MeshData::default(),
        face_uvs: Vec::new(),
        uv_weld: UvWeld::default(),
        groups: BTreeMap::new(),
        joined: 0,
        without_uv: 0,
        passed_over: 0,
    };
    reader.read_scene()?;
    reader.finish()
}

/// The JSON chunk and the binary chunk of a GLB.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), MeshError> {
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

fn load_buffers<'a>(
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

/// Rows of an affine map: x ↦ A x + b with columns A₀ A₁ A₂ b.
type Affine = [[f64; 4]; 3];

const IDENTITY: Affine = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

fn product(a: &Affine, b: &Affine) -> Affine {
    let mut c = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..4 {
            c[i][j] = (0..3).map(|k| a[i][k] * b[k][j]).sum::<f64>();
        }
        c[i][3] += a[i][3];
    }
    c
}

fn determinant(a: &Affine) -> f64 {
    a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1])
        - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
        + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])
}

impl Node {
    fn transform(&self) -> Affine {
        let mut t = IDENTITY;
        if let Some(m) = &self.matrix {
            for i in 0..3 {
                for j in 0..4 {
                    t[i][j] = m[4 * j + i]; // stored by columns
                }
            }
            return t;
        }
        let [x, y, z, w] = self.rotation.as_deref().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let rotation = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ];
        let scale = self.scale.as_deref().copied().unwrap_or([1.0; 3]);
        let shift = self.translation.as_deref().copied().unwrap_or([0.0; 3]);
        for i in 0..3 {
            for j in 0..3 {
                t[i][j] = rotation[i][j] * scale[j];
            }
            t[i][3] = shift[i];
        }
        t
    }
}

struct Reader<'a> {
    document: &'a Document,
    buffers: Vec<Cow<'a, [u8]>>,
    /// Vertices and corners that may still be produced. Instances and shared accessors would let a
    /// small file ask for any number; eight times the file's bytes is far above honest use.
    budget: usize,
    mesh: MeshData,
    face_uvs: Vec<[u32; 3]>,
    uv_weld: UvWeld,
    groups: BTreeMap<String, Vec<std::ops::Range<u32>>>,
    joined: usize,
    without_uv: usize,
    passed_over: usize,
}

impl Reader<'_> {
    fn read_scene(&mut self) -> Result<(), MeshError> {
        let document = self.document;
        let nodes = &document.nodes;
        let chosen = match document.scene {
            Some(i) => Some(get(&document.scenes, i, "scenes", &Place::Part("scene".into()))?),
            None => document.scenes.first(),
        };
        let roots: Vec<usize> = match chosen {
            Some(scene) => scene.nodes.clone(),
            None => {
                let children: BTreeSet<usize> =
                    nodes.iter().flat_map(|n| n.children.iter().copied()).collect();
                (0..nodes.len()).filter(|i| !children.contains(i)).collect()
            }
        };
        let mut seen = vec![false; nodes.len()];
        let mut stack: Vec<(usize, Affine)> = roots.iter().rev().map(|&i| (i, IDENTITY)).collect();
        let mut any = false;
        while let Some((i, parent)) = stack.pop() {
            let place = part("nodes", i);
            let node = get(nodes, i, "nodes", &Place::Part("the scene".into()))?;
            if std::mem::replace(&mut seen[i], true) {
                return Err(MeshError::invalid(
                    place,
                    "is reached twice; nodes must form a tree",
                    DAMAGED,
                ));
            }
            let transform = product(&parent, &node.transform());
            if let Some(m) = node.mesh {
                any = true;
                get(&document.meshes, m, "meshes", &place)?;
                self.read_mesh(m, &transform, node.name.as_deref())?;
            }
            stack.extend(node.children.iter().rev().map(|&c| (c, transform)));
        }
        if !any {
            // A library without a scene: take its meshes as they are.
            for m in 0..document.meshes.len() {
                self.read_mesh(m, &IDENTITY, None)?;
            }
        }
        Ok(())
    }

    fn read_mesh(&mut self, m: usize, t: &Affine, node: Option<&str>) -> Result<(), MeshError> {
        let document = self.document;
        let mesh = &document.meshes[m];
        let place = part("meshes", m);
        let first_face = self.mesh.faces.len() as u32;
        let first_vertex = self.mesh.positions.len();
        let mut weld = PointWeld::default();
        for (i, primitive) in mesh.primitives.iter().enumerate() {
            let place = Place::Part(format!("meshes[{m}].primitives[{i}]"));
            self.read_primitive(primitive, &mut weld, &place)?;
        }
        let mirrored = determinant(t) < 0.0;
        for p in &mut self.mesh.positions[first_vertex..] {
            *p = [0, 1, 2].map(|i| t[i][0] * p[0] + t[i][1] * p[1] + t[i][2] * p[2] + t[i][3]);
            if !p.iter().all(|v| v.is_finite()) {
                return Err(MeshError::invalid(
                    place,
                    "the transforms of its nodes give positions that are not finite",
                    DAMAGED,
                ));
            }
        }
        if mirrored {
            // The specification keeps the front side in front under a mirror.
            for face in &mut self.mesh.faces[first_face as usize..] {
                face.swap(1, 2);
            }
            let first_uv = (first_face as usize).min(self.face_uvs.len());
            for face in &mut self.face_uvs[first_uv..] {
                face.swap(1, 2);
            }
        }
        let range = first_face..self.mesh.faces.len() as u32;
        let mut names: Vec<&str> = node.into_iter().chain(mesh.name.as_deref()).collect();
        names.dedup();
        for name in names.into_iter().filter(|n| !n.is_empty()) {
            self.groups.entry(name.into()).or_default().push(range.clone());
        }
        Ok(())
    }

    fn spend(&mut self, amount: u64, place: &Place) -> Result<(), MeshError> {
        match usize::try_from(amount).ok().and_then(|a| self.budget.checked_sub(a)) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(MeshError::invalid(
                place.clone(),
                "instances and shared data unroll to far more triangles than the file holds",
                "apply the instances you need and export those",
            )),
        }
    }

    fn read_primitive(
        &mut self,
        primitive: &Primitive,
        weld: &mut PointWeld,
        place: &Place,
    ) -> Result<(), MeshError> {
        let mode = primitive.mode.unwrap_or(4);
        if !(4..=6).contains(&mode) {
            self.passed_over += 1;
            return Ok(());
        }
        let Some(&positions) = primitive.attributes.get("POSITION") else {
            return Err(MeshError::invalid(place.clone(), "has no POSITION", DAMAGED));
        };
        let points = self.floats::<3>(positions, "VEC3", place)?;
        let uvs = match primitive.attributes.get("TEXCOORD_0") {
            Some(&a) => Some(self.floats::<2>(a, "VEC2", place)?),
            None => None,
        };
        if let Some(uvs) = uvs.as_ref().filter(|uvs| uvs.len() != points.len()) {
            return Err(MeshError::invalid(
                place.clone(),
                format!("{} positions but {} texture coordinates", points.len(), uvs.len()),
                DAMAGED,
            ));
        }
        let before = self.mesh.positions.len();
        let ids: Vec<u32> = points.iter().map(|&p| weld.id(p, &mut self.mesh.positions)).collect();
        self.joined += points.len() - (self.mesh.positions.len() - before);
        let indices: Vec<u32> = match primitive.indices {
            Some(a) => self.indices(a, points.len(), place)?,
            None => {
                self.spend(points.len() as u64, place)?;
                (0..points.len() as u32).collect()
            }
        };
        if mode == 4 && !indices.len().is_multiple_of(3) {
            return Err(MeshError::invalid(
                place.clone(),
                format!("{} corners do not make whole triangles", indices.len()),
                DAMAGED,
            ));
        }
        let count = if mode == 4 { indices.len() / 3 } else { indices.len().saturating_sub(2) };
        for i in 0..count {
            let corner = match mode {
                4 => [3 * i, 3 * i + 1, 3 * i + 2],
                5 => [i, i + 1 + i % 2, i + 2 - i % 2],
                _ => [i + 1, i + 2, 0],
            }
            .map(|k| indices[k] as usize);
            let face = corner.map(|k| ids[k]);
            self.mesh.faces.push(face);
            match &uvs {
                Some(uvs) => {
                    let mut face_uv = [0; 3];
                    for k in 0..3 {
                        let [u, v] = uvs[corner[k]];
                        face_uv[k] = self.uv_weld.id(face[k], [u, 1.0 - v], &mut self.mesh.uvs);
                    }
                    self.face_uvs.push(face_uv);
                }
                None => self.without_uv += 1,
            }
        }
        Ok(())
    }

    /// The raw items of an accessor: bytes from the first item on, and the stride.
    fn items(
        &mut self,
        a: usize,
        size: u64,
        by: &Place,
    ) -> Result<(&[u8], usize, usize), MeshError> {
        let document = self.document;
        let accessor = get(&document.accessors, a, "accessors", by)?;
        let place = part("accessors", a);
        self.spend(accessor.count, by)?;
        let Some(view) = accessor.buffer_view.filter(|_| accessor.sparse.is_none()) else {
            return Err(MeshError::invalid(
                place,
                "is sparse or has no data",
                "export without sparse accessors",
            ));
        };
        let view = get(&document.buffer_views, view, "bufferViews", &place)?;
        let buffer = get(&self.buffers, view.buffer, "buffers", &place)?;
        let stride = view.byte_stride.unwrap_or(size);
        let need = u128::from(accessor.byte_offset)
            + u128::from(accessor.count.saturating_sub(1)) * u128::from(stride)
            + u128::from(size);
        let end = u128::from(view.byte_offset) + u128::from(view.byte_length);
        if accessor.count == 0
            || stride < size
            || need > u128::from(view.byte_length)
            || end > buffer.len() as u128
        {
            return Err(MeshError::invalid(
                place,
                format!(
                    "{} items of {size} bytes every {stride} from byte {} do not fit a view of {} bytes \
                     at {} of a buffer of {}",
                    accessor.count,
                    accessor.byte_offset,
                    view.byte_length,
                    view.byte_offset,
                    buffer.len()
                ),
                DAMAGED,
            ));
        }
        let start = (view.byte_offset + accessor.byte_offset) as usize;
        Ok((&buffer[start..end as usize], stride as usize, accessor.count as usize))
    }

    fn floats<const N: usize>(
        &mut self,
        a: usize,
        kind: &str,
        by: &Place,
    ) -> Result<Vec<[f64; N]>, MeshError> {
        let document = self.document;
        let accessor = get(&document.accessors, a, "accessors", by)?;
        let (size, unit) = match (accessor.component_type, accessor.normalized) {
            (5126, _) => (4, 1.0),
            (5121, true) if N == 2 => (1, 255.0),
            (5123, true) if N == 2 => (2, 65535.0),
            _ => (0, 1.0),
        };
        if size == 0 || accessor.kind != kind {
            return Err(MeshError::invalid(
                part("accessors", a),
                format!(
                    "type {} of component {} where {kind} of floats is wanted",
                    excerpt(accessor.kind.as_bytes()),
                    accessor.component_type
                ),
                "export without quantisation",
            ));
        }
        let (data, stride, count) = self.items(a, (size * N) as u64, by)?;
        let mut out = Vec::with_capacity(count);
        for i in 0..count {
            let item = &data[i * stride..][..size * N];
            let mut v = [0.0; N];
            for (value, raw) in v.iter_mut().zip(item.chunks_exact(size)) {
                *value = match *raw {
                    [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
                    [a, b] => f64::from(u16::from_le_bytes([a, b])) / unit,
                    _ => f64::from(raw[0]) / unit,
                };
            }
            if !v.iter().all(|x| x.is_finite()) {
                return Err(MeshError::invalid(
                    part("accessors", a),
                    format!("item {i} is not finite: {v:?}"),
                    DAMAGED,
                ));
            }
            out.push(v);
        }
        Ok(out)
    }

    fn indices(&mut self, a: usize, vertices: usize, by: &Place) -> Result<Vec<u32>, MeshError> {
        let document = self.document;
        let accessor = get(&document.accessors, a, "accessors", by)?;
        let size = match (accessor.component_type, accessor.kind.as_str()) {
            (5121, "SCALAR") => 1,
            (5123, "SCALAR") => 2,
            (5125, "SCALAR") => 4,
            (component, kind) => {
                return Err(MeshError::invalid(
                    part("accessors", a),
                    format!(
                        "type {} of component {component} for indices",
                        excerpt(kind.as_bytes())
                    ),
                    DAMAGED,
                ));
            }
        };
        let (data, stride, count) = self.items(a, size as u64, by)?;
        let mut out = Vec::with_capacity(count);
        for i in 0..count {
            let v = match data[i * stride..][..size] {
                [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
                [a, b] => u32::from(u16::from_le_bytes([a, b])),
                ref raw => u32::from(raw[0]),
            };
            if v as usize >= vertices {
                return Err(MeshError::invalid(
                    part("accessors", a),
                    format!("index {i} is {v}, but there are {vertices} vertices"),
                    DAMAGED,
                ));
            }
            out.push(v);
        }
        Ok(out)
    }

    fn finish(self) -> Result<MeshData, MeshError> {
        let mut mesh = self.mesh;
        if self.joined > 0 {
            mesh.notes.push(format!(
                "{} vertices were joined to others at the same position",
                self.joined
            ));
        }
        if self.passed_over > 0 {
            mesh.notes.push(format!(
                "{} primitives of points or lines were passed over",
                self.passed_over
            ));
        }
        if self.without_uv == 0 && !mesh.faces.is_empty() {
            mesh.face_uvs = Some(self.face_uvs);
        } else if !mesh.uvs.is_empty() {
            mesh.notes.push(format!(
                "{} of {} triangles have no texture coordinates: they are ignored on all",
                self.without_uv,
                mesh.faces.len()
            ));
        }
        for (name, ranges) in self.groups {
            let mut group =
                Group { faces: ranges.into_iter().flatten().collect(), ..Group::default() };
            for &f in &group.faces {
                group.vertices.extend(mesh.faces[f as usize]);
            }
            group.vertices.sort_unstable();
            group.vertices.dedup();
            if !group.vertices.is_empty() {
                mesh.groups.insert(name, group);
            }
        }
        Ok(mesh)
    }
}
