//! PLY: ascii and binary of either byte order.
//!
//! Taken: `vertex` with `x y z`; texture coordinates `u v`, `s t` or `texture_u texture_v` per vertex, or a
//! list `texcoord` per face; scalars `group_<name>`, whose non-zero values make a group of vertices;
//! other scalars per vertex as fields. `face` with the list `vertex_indices` or `vertex_index`.

use crate::error::{MeshError, Place, excerpt};
use crate::mesh::MeshData;
use crate::ply_header::{Element, Encoding, Header, Kind, Property, header};
use crate::weld::UvWeld;

/// The data after the header, read number by number.
pub(crate) struct Body<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
    line: usize,
}

const CUT: &str = "the file is cut short or damaged; export it again";

impl<'a> Body<'a> {
    /// What follows a header.
    pub(crate) fn new(bytes: &'a [u8], header: &Header) -> Self {
        Body { bytes, at: header.length, encoding: header.encoding, line: header.lines + 1 }
    }

    pub(crate) fn place(&self) -> Place {
        match self.encoding {
            Encoding::Ascii => Place::Line(self.line),
            _ => Place::Byte(self.at),
        }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Least bytes a number of this kind takes.
    fn least(&self, kind: Kind) -> u64 {
        match self.encoding {
            Encoding::Ascii => 2, // a digit and a blank
            _ => kind.size() as u64,
        }
    }

    pub(crate) fn number(&mut self, kind: Kind) -> Result<f64, MeshError> {
        if self.encoding == Encoding::Ascii {
            return self.word();
        }
        let size = kind.size();
        let Some(raw) = self.bytes.get(self.at..self.at + size) else {
            return Err(MeshError::invalid(self.place(), "the data ends too early", CUT));
        };
        let mut b = [0u8; 8];
        b[..size].copy_from_slice(raw);
        if self.encoding == Encoding::Big {
            b[..size].reverse();
        }
        self.at += size;
        let [b0, b1, b2, b3, ..] = b;
        Ok(match kind {
            Kind::I8 => f64::from(b0 as i8),
            Kind::U8 => f64::from(b0),
            Kind::I16 => f64::from(i16::from_le_bytes([b0, b1])),
            Kind::U16 => f64::from(u16::from_le_bytes([b0, b1])),
            Kind::I32 => f64::from(i32::from_le_bytes([b0, b1, b2, b3])),
            Kind::U32 => f64::from(u32::from_le_bytes([b0, b1, b2, b3])),
            Kind::F32 => f64::from(f32::from_le_bytes([b0, b1, b2, b3])),
            Kind::F64 => f64::from_le_bytes(b),
        })
    }

    fn word(&mut self) -> Result<f64, MeshError> {
        let blank = |c: &&u8| c.is_ascii_whitespace();
        let rest = &self.bytes[self.at..];
        let skip = rest.iter().take_while(blank).count();
        self.line += rest[..skip].iter().filter(|&&c| c == b'\n').count();
        let rest = &rest[skip..];
        let length = rest.iter().take_while(|c| !blank(c)).count();
        let word = &rest[..length];
        if word.is_empty() {
            return Err(MeshError::invalid(self.place(), "the data ends too early", CUT));
        }
        self.at += skip + length;
        std::str::from_utf8(word).ok().and_then(|t| t.parse::<f64>().ok()).ok_or_else(|| {
            MeshError::invalid(
                self.place(),
                format!("`{}` is not a number", excerpt(word)),
                "mend the line or export the file again",
            )
        })
    }

    /// Length of a list whose items are of `kind`, no longer than the data that is left.
    fn list_length(&mut self, length: Kind, kind: Kind) -> Result<usize, MeshError> {
        let place = self.place();
        let n = self.number(length)?;
        let most = (self.left() as u64 + 1) / self.least(kind);
        if !(n >= 0.0 && n.fract() == 0.0 && n <= most as f64) {
            return Err(MeshError::invalid(
                place,
                format!("a list of {n} items, but {} bytes are left", self.left()),
                CUT,
            ));
        }
        Ok(n as usize)
    }

    pub(crate) fn skip(&mut self, property: &Property) -> Result<(), MeshError> {
        let times = match property.list {
            Some(length) => self.list_length(length, property.kind)?,
            None => 1,
        };
        for _ in 0..times {
            self.number(property.kind)?;
        }
        Ok(())
    }
}

pub(crate) fn parse(bytes: &[u8]) -> Result<MeshData, MeshError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let header = header(bytes)?;
    let mut body = Body::new(bytes, &header);
    let mut mesh = MeshData::default();
    let mut corners = Corners::default();
    for (i, element) in header.elements.iter().enumerate() {
        let row: u64 =
            element.properties.iter().map(|p| body.least(p.list.unwrap_or(p.kind))).sum();
        if row == 0 {
            continue; // rows without content take no bytes
        }
        let need = u128::from(row) * u128::from(element.count);
        if need > body.left() as u128 + 1 {
            return Err(MeshError::invalid(
                Place::Line(element.line),
                format!(
                    "the header promises {} of `{}` (at least {need} bytes), but {} bytes are left",
                    element.count,
                    excerpt(element.name.as_bytes()),
                    body.left()
                ),
                CUT,
            ));
        }
        let again = header.elements[..i].iter().any(|e| e.name == element.name);
        match element.name.as_str() {
            "vertex" if !again => vertices(element, &mut body, &mut mesh)?,
            "face" if !again => faces(element, &mut body, &mut mesh, &mut corners)?,
            _ => {
                for _ in 0..element.count {
                    for property in &element.properties {
                        body.skip(property)?;
                    }
                }
                if element.count > 0 {
                    mesh.notes.push(format!(
                        "{} of element `{}` were passed over",
                        element.count,
                        excerpt(element.name.as_bytes())
                    ));
                }
            }
        }
    }
    corners.finish(&mut mesh)?;
    Ok(mesh)
}

fn vertices(element: &Element, body: &mut Body<'_>, mesh: &mut MeshData) -> Result<(), MeshError> {
    let find =
        |name: &str| element.properties.iter().position(|p| p.name == name && p.list.is_none());
    let [Some(x), Some(y), Some(z)] = ["x", "y", "z"].map(find) else {
        return Err(MeshError::invalid(
            Place::Line(element.line),
            "vertices without x, y and z",
            "add the properties x, y and z",
        ));
    };
    let count = element.count as usize;
    if u32::try_from(count).is_err() {
        return Err(MeshError::invalid(
            Place::Line(element.line),
            format!("{count} vertices are more than can be numbered"),
            "simplify or split the mesh",
        ));
    }
    let uv = [("u", "v"), ("s", "t"), ("texture_u", "texture_v")]
        .iter()
        .find_map(|(u, v)| find(u).zip(find(v)));
    mesh.positions.reserve_exact(count);
    let mut groups: Vec<(usize, Vec<u32>)> = Vec::new();
    let mut fields: Vec<(usize, Vec<f64>)> = Vec::new();
    for (i, property) in element.properties.iter().enumerate() {
        if [x, y, z].contains(&i) || uv.is_some_and(|(u, v)| i == u || i == v) {
            continue;
        }
        match property.list {
            Some(_) => mesh.notes.push(format!(
                "list `{}` of the vertices was passed over",
                excerpt(property.name.as_bytes())
            )),
            None if property.name.starts_with("group_") => groups.push((i, Vec::new())),
            None => fields.push((i, Vec::with_capacity(count))),
        }
    }
    let mut row = vec![0.0; element.properties.len()];
    for vertex in 0..count {
        let place = body.place();
        for (i, property) in element.properties.iter().enumerate() {
            match property.list {
                None => row[i] = body.number(property.kind)?,
                Some(_) => body.skip(property)?,
            }
        }
        let finite = |values: &[f64], what: &str| {
            if values.iter().all(|v| v.is_finite()) {
                return Ok(());
            }
            Err(MeshError::invalid(
                place.clone(),
                format!("{what} of vertex {vertex} is not finite: {values:?}"),
                "the file is damaged or its maker failed; export it again",
            ))
        };
        let p = [row[x], row[y], row[z]];
        finite(&p, "position")?;
        mesh.positions.push(p);
        if let Some((u, v)) = uv {
            let uv = [row[u], row[v]];
            finite(&uv, "texture coordinate")?;
            mesh.uvs.push(uv);
        }
        for (i, members) in &mut groups {
            if row[*i] != 0.0 {
                members.push(vertex as u32);
            }
        }
        for (i, values) in &mut fields {
            values.push(row[*i]);
        }
    }
    for (i, members) in groups {
        let name = &element.properties[i].name["group_".len()..];
        let group = mesh.groups.entry(name.into()).or_default();
        group.vertices = members;
    }
    for (i, values) in fields {
        mesh.fields.insert(element.properties[i].name.clone(), values);
    }
    Ok(())
}

/// Texture coordinates per corner, and the checks that need all vertices.
#[derive(Default)]
struct Corners {
    uvs: Vec<[[f64; 2]; 3]>,
    polygons: usize,
    largest: Option<(u32, usize, Place)>,
}

fn faces(
    element: &Element,
    body: &mut Body<'_>,
    mesh: &mut MeshData,
    out: &mut Corners,
) -> Result<(), MeshError> {
    let find = |names: &[&str]| {
        element.properties.iter().position(|p| p.list.is_some() && names.contains(&p.name.as_str()))
    };
    let Some(indices) = find(&["vertex_indices", "vertex_index"]) else {
        return Err(MeshError::invalid(
            Place::Line(element.line),
            "faces without the list vertex_indices",
            "add `property list uchar int vertex_indices`",
        ));
    };
    let texcoord = find(&["texcoord"]);
    mesh.faces.reserve(element.count as usize);
    let mut polygon: Vec<u32> = Vec::new();
    let mut uvs: Vec<f64> = Vec::new();
    for face in 0..element.count {
        let place = body.place();
        polygon.clear();
        uvs.clear();
        for (i, property) in element.properties.iter().enumerate() {
            let Some(length) = property.list.filter(|_| i == indices || Some(i) == texcoord) else {
                body.skip(property)?;
                continue;
            };
            let n = body.list_length(length, property.kind)?;
            for _ in 0..n {
                let v = body.number(property.kind)?;
                if i != indices {
                    uvs.push(v);
                } else if v >= 0.0 && v.fract() == 0.0 && v < f64::from(u32::MAX) {
                    polygon.push(v as u32);
                } else {
                    return Err(MeshError::invalid(
                        place,
                        format!("face {face} has the vertex index {v}"),
                        "indices are whole numbers from 0",
                    ));
                }
            }
        }
        if polygon.len() < 3 {
            return Err(MeshError::invalid(
                place,
                format!("face {face} has {} corners", polygon.len()),
                "a face needs three or more; remove it",
            ));
        }
        let most = polygon.iter().copied().max().unwrap_or(0);
        if out.largest.as_ref().is_none_or(|(i, ..)| most > *i) {
            out.largest = Some((most, face as usize, place.clone()));
        }
        out.polygons += usize::from(polygon.len() > 3);
        let with_uv = uvs.len() == 2 * polygon.len();
        if with_uv && uvs.iter().any(|v| !v.is_finite()) {
            return Err(MeshError::invalid(
                place,
                format!("texture coordinates of face {face} are not finite"),
                "the file is damaged or its maker failed; export it again",
            ));
        }
        for i in 1..polygon.len() - 1 {
            let fan = [0, i, i + 1];
            mesh.faces.push(fan.map(|k| polygon[k]));
            if with_uv {
                out.uvs.push(fan.map(|k| [uvs[2 * k], uvs[2 * k + 1]]));
            }
        }
    }
    Ok(())
}

impl Corners {
    fn finish(self, mesh: &mut MeshData) -> Result<(), MeshError> {
        let count = mesh.positions.len();
        if let Some((i, face, place)) = self.largest.filter(|(i, ..)| *i as usize >= count) {
            return Err(MeshError::invalid(
                place,
                format!("face {face} uses vertex {i}, but the file has {count} vertices"),
                CUT,
            ));
        }
        if self.polygons > 0 {
            mesh.notes.push(format!(
                "{} polygons were cut into triangles, as fans from their first corner",
                self.polygons
            ));
        }
        if mesh.faces.is_empty() {
            return Ok(());
        }
        if self.uvs.len() == mesh.faces.len() {
            // Coordinates per corner know about seams, those per vertex do not.
            let mut weld = UvWeld::default();
            mesh.uvs.clear();
            let uvs = &mut mesh.uvs;
            mesh.face_uvs = Some(
                std::iter::zip(&mesh.faces, &self.uvs)
                    .map(|(f, t)| [0, 1, 2].map(|k| weld.id(f[k], t[k], uvs)))
                    .collect(),
            );
        } else if !mesh.uvs.is_empty() {
            mesh.face_uvs = Some(mesh.faces.clone());
        }
        Ok(())
    }
}
