//! STL, ascii and binary. The triangles of an STL share nothing: equal corners are joined, exactly.

use crate::error::{MeshError, Place, excerpt};
use crate::mesh::{Group, MeshData};
use crate::weld::PointWeld;

const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// True when the length of the file is what its binary header promises (with at least one triangle).
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    promised(bytes).is_some_and(|n| n > 0 && (bytes.len() - HEADER) as u64 == n * TRIANGLE as u64)
}

/// True when the file begins like an ascii STL: "solid" and soon a keyword.
pub(crate) fn is_ascii(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let head = &start[..start.len().min(4096)];
    let has = |word: &[u8]| head.windows(word.len()).any(|w| w == word);
    head.starts_with(b"solid") && (has(b"facet") || has(b"endsolid"))
}

fn promised(bytes: &[u8]) -> Option<u64> {
    let count = bytes.get(80..HEADER)?.try_into().ok()?;
    Some(u64::from(u32::from_le_bytes(count)))
}

pub(crate) fn parse(bytes: &[u8]) -> Result<MeshData, MeshError> {
    // Binary headers may begin with "solid" too: the length decides, then the words that follow.
    if !is_binary(bytes) && is_ascii(bytes) { ascii(bytes) } else { binary(bytes) }
}

fn binary(bytes: &[u8]) -> Result<MeshData, MeshError> {
    let Some(count) = promised(bytes) else {
        return Err(MeshError::invalid(
            Place::Byte(0),
            format!("{} bytes are too few for an STL header of {HEADER}", bytes.len()),
            "the file is cut short or not an STL; export it again",
        ));
    };
    let body = &bytes[HEADER..];
    if count * TRIANGLE as u64 > body.len() as u64 {
        return Err(MeshError::invalid(
            Place::Byte(80),
            format!(
                "the header promises {count} triangles ({} bytes), but {} bytes follow",
                count * TRIANGLE as u64,
                body.len()
            ),
            "the file is cut short or damaged; export it again",
        ));
    }
    let count = count as usize;
    let mut mesh = MeshData::default();
    let mut weld = PointWeld::default();
    mesh.faces.reserve(count);
    for (t, triangle) in body.chunks_exact(TRIANGLE).take(count).enumerate() {
        let mut face = [0; 3];
        for (c, corner) in triangle[12..48].chunks_exact(12).enumerate() {
            let mut p = [0.0; 3];
            for (k, word) in corner.chunks_exact(4).enumerate() {
                p[k] = f64::from(f32::from_le_bytes([word[0], word[1], word[2], word[3]]));
                if !p[k].is_finite() {
                    return Err(MeshError::invalid(
                        Place::Byte(HEADER + TRIANGLE * t + 12 + 12 * c + 4 * k),
                        format!("corner {c} of triangle {t} is not finite"),
                        "the file is damaged or its maker failed; export it again",
                    ));
                }
            }
            face[c] = weld.id(p, &mut mesh.positions);
        }
        mesh.faces.push(face);
    }
    let left = body.len() - count * TRIANGLE;
    if left > 0 {
        mesh.notes.push(format!("{left} bytes after the last triangle were passed over"));
    }
    Ok(mesh)
}

fn ascii(bytes: &[u8]) -> Result<MeshData, MeshError> {
    let mut mesh = MeshData::default();
    let mut weld = PointWeld::default();
    let mut corners: Vec<u32> = Vec::with_capacity(3);
    let mut solid: Option<(String, usize)> = None;
    let mut last = 0;
    for (number, line) in bytes.split(|&c| c == b'\n').enumerate() {
        let number = number + 1;
        last = number;
        let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let fail = |what: String| {
            Err(MeshError::invalid(
                Place::Line(number),
                what,
                "triangles are `facet normal … outer loop`, three `vertex x y z`, `endloop endfacet`",
            ))
        };
        let Some(key) = words.next() else { continue };
        match key {
            b"vertex" => {
                let mut p = [0.0; 3];
                for v in &mut p {
                    let word = words.next().unwrap_or(&[]);
                    match std::str::from_utf8(word).ok().and_then(|t| t.parse::<f64>().ok()) {
                        Some(x) if x.is_finite() => *v = x,
                        _ => return fail(format!("`{}` is not a finite number", excerpt(word))),
                    }
                }
                if corners.len() == 3 {
                    return fail("a fourth vertex in a triangle".into());
                }
                corners.push(weld.id(p, &mut mesh.positions));
            }
            b"endfacet" => {
                let [a, b, c] = corners[..] else {
                    return fail(format!("a triangle of {} vertices", corners.len()));
                };
                mesh.faces.push([a, b, c]);
                corners.clear();
            }
            b"solid" => {
                close(&mut mesh, solid.take());
                let name = line.trim_ascii()[5..].trim_ascii();
                solid = Some((String::from_utf8_lossy(name).into_owned(), mesh.faces.len()));
            }
            b"endsolid" => close(&mut mesh, solid.take()),
            b"facet" | b"outer" | b"endloop" => {}
            other => return fail(format!("unexpected word `{}`", excerpt(other))),
        }
    }
    if !corners.is_empty() {
        return Err(MeshError::invalid(
            Place::Line(last),
            "the file ends inside a triangle",
            "it is cut short; export it again",
        ));
    }
    close(&mut mesh, solid);
    // Once at the end: solids of one name may come back very often.
    for group in mesh.groups.values_mut() {
        group.vertices.sort_unstable();
        group.vertices.dedup();
    }
    Ok(mesh)
}

/// The faces since `solid` become the group of that name.
fn close(mesh: &mut MeshData, solid: Option<(String, usize)>) {
    let Some((name, first)) = solid else { return };
    if name.is_empty() || first == mesh.faces.len() {
        return;
    }
    let faces = first as u32..mesh.faces.len() as u32;
    let group: &mut Group = mesh.groups.entry(name).or_default();
    group.vertices.extend(mesh.faces[first..].iter().flatten().copied());
    group.faces.extend(faces);
}
