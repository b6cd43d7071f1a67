//! Reading glTF 2.0, as JSON or GLB.
//!
//! Taken: the default scene with the transforms of its nodes; triangles, strips and fans, indexed or
//! not; positions in floats; the first set of texture coordinates, with v turned upward (1 − v) as in
//! OBJ; buffers in the GLB, in base64 or in files beside. Vertices that were split for their attributes
//! are joined again where their positions are equal, within one mesh. glTF is y up and in metres.
//! Reference: Khronos glTF 2.0 specification, sections 3.5–3.7 and 4.4.

use crate::error::{MeshError, Place, excerpt};
use crate::gltf_data::{
    DAMAGED, Document, Fetch, Node, Primitive, chunks, get, load_buffers, part,
};
use crate::mesh::{Group, MeshData};
use crate::weld::{PointWeld, UvWeld};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

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
