//! Reading Wavefront OBJ.
//!
//! Taken: `v`, `vt`, `f` (polygons are cut into fans, negative indices count back), `g` and `o`,
//! `stitch i a b w` (see [`Stitch`]; lines `seam`, which head them in some files, say nothing more), `\` at the end of a line, comments. A group is the vertices of
//! its faces, and also those of its points: the lines `g waist` and `p 1 2 3` make a group of
//! vertices without faces, in standard OBJ. Vertices keep their order and are not doubled along texture
//! seams. Normals, lines, materials and smoothing are passed over.

use crate::error::{MeshError, Place, excerpt};
use crate::mesh::{Group, MeshData, Stitch, read_whole};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Names on one `g` line. More would let a small file ask for a product of names and faces.
const MOST_NAMES: usize = 16;

/// Reads the stitches of an OBJ file held in memory, which needs no vertices or faces.
pub fn parse_stitches(bytes: &[u8]) -> Result<Vec<Stitch>, MeshError> {
    let mesh = parse(bytes)?;
    if mesh.stitches.is_empty() {
        return Err(MeshError::invalid(
            Place::Whole,
            "no stitches",
            "write one line `stitch i a b w` per sewn vertex: vertex i meets (1 − w) a + w b",
        ));
    }
    Ok(mesh.stitches)
}

/// Reads the stitches of an OBJ file.
pub fn read_stitches(path: impl AsRef<Path>) -> Result<Vec<Stitch>, MeshError> {
    let path = path.as_ref();
    parse_stitches(&read_whole(path)?).map_err(|e| e.in_file(path))
}

/// What is gathered while the lines go by.
#[derive(Default)]
struct Reader {
    mesh: MeshData,
    face_uvs: Vec<[u32; 3]>,
    faces_without_uv: usize,
    polygons: usize,
    /// Names in force: the object, then the groups, as indices into `groups`.
    object: Option<usize>,
    active: Vec<usize>,
    names: BTreeMap<String, usize>,
    groups: Vec<Group>,
    /// Largest index that was ahead of its definition, and its line.
    ahead: Option<(u32, usize)>,
    uv_ahead: Option<(u32, usize)>,
    passed_over: BTreeMap<String, usize>,
    corners: Vec<(u32, Option<u32>)>,
}

/// Reads an OBJ file in memory; a file without faces is accepted.
pub(crate) fn parse(bytes: &[u8]) -> Result<MeshData, MeshError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = Reader::default();
    let mut lines = Lines { rest: bytes, line: 0 };
    while let Some((number, line)) = lines.next() {
        let text = line.split(|&c| c == b'#').next().unwrap_or(&[]);
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let Some(key) = words.next() else { continue };
        match key {
            b"v" => reader.vertex(words, number)?,
            b"vt" => reader.texture(words, number)?,
            b"f" => reader.face(words, number)?,
            b"p" => reader.points(words, number)?,
            b"g" => reader.group(words, number)?,
            b"o" => {
                // An object's name may hold spaces, and ends the groups of the one before it.
                let name = text.trim_ascii()[1..].trim_ascii();
                reader.active.clear();
                reader.object = (!name.is_empty()).then(|| reader.name(name));
            }
            b"stitch" => reader.stitch(words, number)?,
            b"vn" | b"s" | b"usemtl" | b"mtllib" | b"seam" => {}
            other if reader.passed_over.len() < 16 => {
                *reader.passed_over.entry(excerpt(other)).or_default() += 1;
            }
            _ => {}
        }
    }
    reader.finish()
}

/// Lines with their numbers; `\` before the end of a line joins it with the next.
struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Lines<'a> {
    fn single(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let end = self.rest.iter().position(|&c| c == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    fn next(&mut self) -> Option<(usize, Cow<'a, [u8]>)> {
        let first = self.single()?;
        let number = self.line;
        let Some(mut head) = first.strip_suffix(b"\\") else {
            return Some((number, Cow::Borrowed(first)));
        };
        let mut joined = Vec::new();
        loop {
            joined.extend_from_slice(head);
            joined.push(b' ');
            match self.single() {
                None => break,
                Some(line) => match line.strip_suffix(b"\\") {
                    Some(more) => head = more,
                    None => {
                        joined.extend_from_slice(line);
                        break;
                    }
                },
            }
        }
        Some((number, Cow::Owned(joined)))
    }
}

fn number(word: &[u8], line: usize) -> Result<f64, MeshError> {
    std::str::from_utf8(word)
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .filter(|v| v.is_finite())
        .ok_or_else(|| {
            MeshError::invalid(
                Place::Line(line),
                format!("`{}` is not a finite number", excerpt(word)),
                "write coordinates like -1.25e-3",
            )
        })
}

/// The 0-based index for one written in a file, with `count` elements defined so far.
fn index(word: &[u8], count: usize, what: &str, line: usize) -> Result<u32, MeshError> {
    let fail = |problem: String, remedy: &str| {
        Err(MeshError::invalid(
            Place::Line(line),
            format!("{what} index `{}` {problem}", excerpt(word)),
            remedy,
        ))
    };
    let parsed = std::str::from_utf8(word).ok().and_then(|t| t.parse::<i64>().ok());
    match parsed {
        None => fail(
            "is not a whole number in range".into(),
            "faces are lines like `f 1 2 3` or `f 1/1 2/2 3/3`",
        ),
        Some(0) => fail("is zero".into(), "OBJ counts from 1"),
        Some(i) if i > 0 => match u32::try_from(i - 1) {
            Ok(i) if i < u32::MAX => Ok(i),
            _ => fail(
                "is beyond what a mesh can hold".into(),
                "the file is damaged; export it again",
            ),
        },
        Some(i) => match usize::try_from(i.unsigned_abs()) {
            Ok(back) if back <= count => Ok((count - back) as u32),
            _ => fail(
                format!("goes back beyond the first of {count}"),
                "negative indices count back from the last one defined",
            ),
        },
    }
}

impl Reader {
    fn vertex<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [u8]>,
        line: usize,
    ) -> Result<(), MeshError> {
        let mut p = [0.0; 3];
        let mut found = 0;
        // A fourth number is a weight and six are a colour: neither is needed.
        for word in words.take(3) {
            p[found] = number(word, line)?;
            found += 1;
        }
        if found < 3 {
            return Err(MeshError::invalid(
                Place::Line(line),
                format!("vertex with {found} coordinates"),
                "a vertex is `v x y z`",
            ));
        }
        self.mesh.positions.push(p);
        Ok(())
    }

    fn texture<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [u8]>,
        line: usize,
    ) -> Result<(), MeshError> {
        let mut uv = [0.0; 2];
        let mut found = 0;
        for word in words.take(2) {
            uv[found] = number(word, line)?;
            found += 1;
        }
        if found == 0 {
            return Err(MeshError::invalid(
                Place::Line(line),
                "texture coordinates without a number",
                "they are `vt u v`",
            ));
        }
        self.mesh.uvs.push(uv);
        Ok(())
    }

    fn face<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [u8]>,
        line: usize,
    ) -> Result<(), MeshError> {
        let (vertices, uvs) = (self.mesh.positions.len(), self.mesh.uvs.len());
        let mut corners = std::mem::take(&mut self.corners);
        corners.clear();
        for word in words {
            let mut parts = word.split(|&c| c == b'/');
            let v = index(parts.next().unwrap_or(&[]), vertices, "vertex", line)?;
            let uv = match parts.next() {
                None | Some(b"") => None,
                Some(part) => Some(index(part, uvs, "texture", line)?),
            };
            if v as usize >= vertices && self.ahead.is_none_or(|(i, _)| v > i) {
                self.ahead = Some((v, line));
            }
            if let Some(uv) = uv
                && uv as usize >= uvs
                && self.uv_ahead.is_none_or(|(i, _)| uv > i)
            {
                self.uv_ahead = Some((uv, line));
            }
            corners.push((v, uv));
        }
        if corners.len() < 3 {
            return Err(MeshError::invalid(
                Place::Line(line),
                format!("face with {} corners", corners.len()),
                "a face needs three or more; remove it",
            ));
        }
        if corners.len() > 3 {
            self.polygons += 1;
        }
        let all_uv = corners.iter().all(|(_, uv)| uv.is_some());
        for i in 1..corners.len() - 1 {
            let fan = [corners[0], corners[i], corners[i + 1]];
            let face = self.mesh.faces.len() as u32;
            self.mesh.faces.push(fan.map(|c| c.0));
            if all_uv {
                self.face_uvs.push(fan.map(|c| c.1.unwrap_or(0)));
            } else {
                self.faces_without_uv += 1;
            }
            for &g in self.object.iter().chain(&self.active) {
                self.groups[g].faces.push(face);
            }
        }
        self.corners = corners;
        Ok(())
    }

    fn points<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [u8]>,
        line: usize,
    ) -> Result<(), MeshError> {
        let vertices = self.mesh.positions.len();
        for word in words {
            let v = index(word, vertices, "vertex", line)?;
            if v as usize >= vertices && self.ahead.is_none_or(|(i, _)| v > i) {
                self.ahead = Some((v, line));
            }
            for &g in self.object.iter().chain(&self.active) {
                self.groups[g].vertices.push(v);
            }
        }
        Ok(())
    }

    fn name(&mut self, name: &[u8]) -> usize {
        let name = String::from_utf8_lossy(name).into_owned();
        *self.names.entry(name).or_insert_with(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        })
    }

    fn group<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [u8]>,
        line: usize,
    ) -> Result<(), MeshError> {
        self.active.clear();
        for (count, word) in words.enumerate() {
            if count >= MOST_NAMES {
                return Err(MeshError::invalid(
                    Place::Line(line),
                    format!("more than {MOST_NAMES} group names on one line"),
                    "give faces fewer groups",
                ));
            }
            let g = self.name(word);
            // The same name as object and group must not count its faces twice.
            if self.object != Some(g) && !self.active.contains(&g) {
                self.active.push(g);
            }
        }
        Ok(())
    }

    fn stitch<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [u8]>,
        line: usize,
    ) -> Result<(), MeshError> {
        let fail = |what: String| {
            Err(MeshError::invalid(
                Place::Line(line),
                what,
                "a stitch is `stitch i a b w`: vertex i meets (1 − w) a + w b, 0 ≤ w ≤ 1",
            ))
        };
        let words: Vec<&[u8]> = words.take(5).collect();
        let [i, a, b, w] = words[..] else {
            return fail(format!("stitch with {} numbers", words.len()));
        };
        let mut ids = [0u32; 3];
        for (id, word) in ids.iter_mut().zip([i, a, b]) {
            match std::str::from_utf8(word).ok().and_then(|t| t.parse().ok()) {
                Some(v) => *id = v,
                None => return fail(format!("`{}` is not a vertex number", excerpt(word))),
            }
        }
        let weight = number(w, line)?;
        if !(0.0..=1.0).contains(&weight) {
            return fail(format!("stitch weight {weight} outside 0..1"));
        }
        self.mesh.stitches.push(Stitch { vertex: ids[0], edge: [ids[1], ids[2]], weight });
        Ok(())
    }

    fn finish(self) -> Result<MeshData, MeshError> {
        let mut mesh = self.mesh;
        for (ahead, count, what) in [
            (self.ahead, mesh.positions.len(), "vertex"),
            (self.uv_ahead, mesh.uvs.len(), "texture coordinate"),
        ] {
            if let Some((i, line)) = ahead.filter(|&(i, _)| i as usize >= count) {
                return Err(MeshError::invalid(
                    Place::Line(line),
                    format!("{what} {} is used, but the file has {count}", u64::from(i) + 1),
                    "the file is cut short or damaged; export it again",
                ));
            }
        }
        if self.polygons > 0 {
            mesh.notes.push(format!(
                "{} polygons were cut into triangles, as fans from their first corner",
                self.polygons
            ));
        }
        if self.faces_without_uv == 0 && !mesh.faces.is_empty() {
            mesh.face_uvs = Some(self.face_uvs);
        } else if !mesh.uvs.is_empty() {
            mesh.notes.push(format!(
                "{} of {} triangles have no texture coordinates: they are ignored on all",
                self.faces_without_uv,
                mesh.faces.len()
            ));
        }
        for (key, count) in self.passed_over {
            mesh.notes.push(format!("{count} lines starting with `{key}` were passed over"));
        }
        let mut groups = self.groups;
        for (name, i) in self.names {
            let mut group = std::mem::take(&mut groups[i]);
            for &face in &group.faces {
                group.vertices.extend(mesh.faces[face as usize]);
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
