//! Hair files: polylines, roots first. OBJ lines, PLY with strand ids, Cem Yuksel's `.hair`, TressFX `.tfx`, curves of USD text.

use std::fmt::Write as _;
use std::path::Path;

use crate::atomic::{WriteError, atomic_write, invalid_data};
use crate::error::{MeshError, Place, excerpt};
use crate::mesh::read_whole;
use crate::ply::Body;
use crate::ply_header::header;
use crate::usd_curves::{usda, usda_strands};

/// How strands are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrandFormat {
    /// Wavefront OBJ with `l` elements.
    Obj,
    /// PLY vertices with a strand number each.
    Ply,
    /// Cem Yuksel's HAIR format.
    Hair,
    /// AMD TressFX.
    Tfx,
    /// USD as text, with `BasisCurves`.
    Usda,
}

impl StrandFormat {
    /// By the ending of a file name.
    pub fn from_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "obj" => Self::Obj,
            "ply" => Self::Ply,
            "hair" => Self::Hair,
            "tfx" => Self::Tfx,
            "usda" | "usd" => Self::Usda,
            _ => return None,
        })
    }
}

/// Strands of a file, in its units and axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strands {
    /// Points of each strand, root first.
    pub strands: Vec<Vec<[f64; 3]>>,
    /// What was unusual.
    pub notes: Vec<String>,
}

const CUT: &str = "the file is cut short or damaged; export it again";

/// Reads strands; the format follows from the name.
pub fn read_strands(path: impl AsRef<Path>) -> Result<Strands, MeshError> {
    let path = path.as_ref();
    let Some(format) = StrandFormat::from_path(path) else {
        let what = "the ending tells no format of strands";
        return Err(MeshError::invalid(Place::Whole, what, "use .obj, .ply, .hair, .tfx or .usda")
            .in_file(path));
    };
    parse_strands(&read_whole(path)?, format).map_err(|e| e.in_file(path))
}

/// Largest coordinate that can be meant, in any unit: lengths of what is farther overflow.
const FARTHEST: f64 = 1e12;

/// Reads strands held in memory.
pub fn parse_strands(bytes: &[u8], format: StrandFormat) -> Result<Strands, MeshError> {
    let mut found = match format {
        StrandFormat::Obj => obj(bytes)?,
        StrandFormat::Ply => ply(bytes)?,
        StrandFormat::Hair => hair(bytes)?,
        StrandFormat::Tfx => tfx(bytes)?,
        StrandFormat::Usda => usda(bytes)?,
    };
    for (i, strand) in found.strands.iter().enumerate() {
        let near = |p: &[f64; 3]| p.iter().all(|x| x.abs() <= FARTHEST);
        if let Some(p) = strand.iter().position(|p| !near(p)) {
            let finite = strand[p].iter().all(|x| x.is_finite());
            let far = if finite { "too far away to be meant" } else { "not finite" };
            let what = format!("point {p} of strand {i} is {far}");
            return Err(MeshError::invalid(
                Place::Part(format!("strand {i}")),
                what,
                "correct the file",
            ));
        }
    }
    if found.strands.is_empty() {
        return Err(MeshError::invalid(
            Place::Whole,
            "there is no strand",
            "export curves as polylines",
        ));
    }
    let short = found.strands.iter().filter(|s| s.len() < 2).count();
    if short > 0 {
        found.notes.push(format!("{short} strand(s) have fewer than two points"));
    }
    Ok(found)
}

fn obj(bytes: &[u8]) -> Result<Strands, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let mut points: Vec<[f64; 3]> = Vec::new();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut faces = 0;
    for (number, line) in text.lines().enumerate() {
        let place = || Place::Line(number + 1);
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut p = [0.0; 3];
                for x in &mut p {
                    let word = words.next().unwrap_or("");
                    *x = word.parse().map_err(|_| {
                        let what = format!("`{}` is no coordinate", excerpt(word.as_bytes()));
                        MeshError::invalid(place(), what, "a vertex is `v x y z`")
                    })?;
                }
                points.push(p);
            }
            Some("l") => {
                let mut chain = Vec::new();
                for word in words {
                    let first = word.split('/').next().unwrap_or("");
                    let index: i64 = first.parse().unwrap_or(0);
                    let at = if index > 0 { index - 1 } else { points.len() as i64 + index };
                    if index == 0 || at < 0 || at >= points.len() as i64 {
                        let what = format!(
                            "`{}` is no vertex; {} are known here",
                            excerpt(word.as_bytes()),
                            points.len()
                        );
                        return Err(MeshError::invalid(place(), what, "indices count from 1"));
                    }
                    chain.push(at as usize);
                }
                // Some programs write a strand edge by edge.
                match chains.last_mut() {
                    Some(last) if last.last() == chain.first() && !chain.is_empty() => {
                        last.extend(&chain[1..]);
                    }
                    _ => chains.push(chain),
                }
            }
            Some("f") => faces += 1,
            _ => {}
        }
    }
    let mut found = Strands::default();
    if chains.is_empty() && faces > 0 {
        let what = format!("the file is a surface of {faces} faces, without lines");
        let help = "export hair as curves or polylines (`l` elements); a surface is the mesh of a [[shell]] or a [[collider]]";
        return Err(MeshError::invalid(Place::Whole, what, help));
    }
    if chains.is_empty() && !points.is_empty() {
        found.notes.push("no `l` elements: all vertices are taken as one strand".into());
        found.strands.push(points);
        return Ok(found);
    }
    found.strands = chains.iter().map(|c| c.iter().map(|&i| points[i]).collect()).collect();
    Ok(found)
}

fn ply(bytes: &[u8]) -> Result<Strands, MeshError> {
    let head = header(bytes)?;
    let mut body = Body::new(bytes, &head);
    let mut found = Strands::default();
    for element in &head.elements {
        if element.properties.is_empty() {
            continue; // rows without content take no bytes
        }
        if element.name != "vertex" {
            for _ in 0..element.count {
                for property in &element.properties {
                    body.skip(property)?;
                }
            }
            continue;
        }
        let of = |names: &[&str]| {
            element
                .properties
                .iter()
                .position(|p| p.list.is_none() && names.contains(&p.name.as_str()))
        };
        let axes = [of(&["x"]), of(&["y"]), of(&["z"])];
        let strand =
            of(&["strand", "strand_id", "strandid", "strand_index", "curve", "curve_id", "id"]);
        let ([Some(x), Some(y), Some(z)], Some(strand)) = (axes, strand) else {
            let what = "the vertices need x, y, z and a strand number";
            return Err(MeshError::invalid(
                Place::Line(element.line),
                what,
                "name the number `strand`",
            ));
        };
        let mut row = vec![0.0; element.properties.len()];
        let mut current: Option<f64> = None;
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..element.count {
            for (value, property) in row.iter_mut().zip(&element.properties) {
                if property.list.is_some() {
                    body.skip(property)?;
                } else {
                    *value = body.number(property.kind)?;
                }
            }
            if current != Some(row[strand]) {
                current = Some(row[strand]);
                if !seen.insert(row[strand].to_bits()) {
                    let what = format!("strand {} is interrupted by others", row[strand]);
                    return Err(MeshError::invalid(
                        body.place(),
                        what,
                        "keep the points of a strand together",
                    ));
                }
                found.strands.push(Vec::new());
            }
            if let Some(last) = found.strands.last_mut() {
                last.push([row[x], row[y], row[z]]);
            }
        }
    }
    Ok(found)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, MeshError> {
    let raw = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
    raw.map(u32::from_le_bytes)
        .ok_or_else(|| MeshError::invalid(Place::Byte(at), "the data ends too early", CUT))
}

fn f32_at(bytes: &[u8], at: usize) -> Result<f64, MeshError> {
    u32_at(bytes, at).map(|bits| f64::from(f32::from_bits(bits)))
}

/// Header of `.hair`: "HAIR", strands, points, arrays present, default segments, defaults, 88 bytes of words.
const HAIR_HEADER: usize = 128;

fn hair(bytes: &[u8]) -> Result<Strands, MeshError> {
    if bytes.get(..4) != Some(b"HAIR".as_slice()) {
        return Err(MeshError::invalid(Place::Byte(0), "the file does not begin with `HAIR`", CUT));
    }
    let (count, points) = (u32_at(bytes, 4)? as usize, u32_at(bytes, 8)? as usize);
    let (arrays, default) = (u32_at(bytes, 12)?, u32_at(bytes, 16)? as usize);
    if arrays & 2 == 0 {
        return Err(MeshError::invalid(
            Place::Byte(12),
            "the file has no points",
            "export them too",
        ));
    }
    let has_segments = arrays & 1 == 1;
    let segments_at = HAIR_HEADER;
    let points_at = segments_at + if has_segments { 2 * count } else { 0 };
    let need = points_at as u128 + 12 * points as u128;
    if need > bytes.len() as u128 {
        let what = format!(
            "{count} strands and {points} points need {need} bytes, {} are there",
            bytes.len()
        );
        return Err(MeshError::invalid(Place::Byte(4), what, CUT));
    }
    if !has_segments && (count as u128) * (default as u128 + 1) > points as u128 {
        let what = format!("{count} strands of {default} segments have more than {points} points");
        return Err(MeshError::invalid(Place::Byte(16), what, CUT));
    }
    let mut found = Strands::default();
    let mut next = 0;
    for i in 0..count {
        let segments = if has_segments {
            usize::from(u16::from_le_bytes([
                bytes[segments_at + 2 * i],
                bytes[segments_at + 2 * i + 1],
            ]))
        } else {
            default
        };
        if next + segments + 1 > points {
            let what = format!("strand {i} of {segments} segments goes beyond the {points} points");
            return Err(MeshError::invalid(Place::Byte(segments_at + 2 * i), what, CUT));
        }
        let mut strand = Vec::with_capacity(segments + 1);
        for p in next..=next + segments {
            let at = points_at + 12 * p;
            strand.push([f32_at(bytes, at)?, f32_at(bytes, at + 4)?, f32_at(bytes, at + 8)?]);
        }
        next += segments + 1;
        found.strands.push(strand);
    }
    if next < points {
        found.notes.push(format!("{} points belong to no strand", points - next));
    }
    Ok(found)
}

/// Header of `.tfx`: version, strands, points per strand, five offsets, 32 reserved words.
const TFX_HEADER: usize = 160;

fn tfx(bytes: &[u8]) -> Result<Strands, MeshError> {
    let (count, per) = (u32_at(bytes, 4)? as usize, u32_at(bytes, 8)? as usize);
    let at = u32_at(bytes, 12)? as usize;
    let need = at as u128 + 16 * count as u128 * per as u128;
    if at < TFX_HEADER || per == 0 || need > bytes.len() as u128 {
        let what = format!(
            "{count} strands of {per} points from byte {at} need {need} bytes, {} are there",
            bytes.len()
        );
        return Err(MeshError::invalid(Place::Byte(4), what, CUT));
    }
    let mut found = Strands::default();
    for i in 0..count {
        let point = |p: usize| {
            let at = at + 16 * (i * per + p);
            Ok([f32_at(bytes, at)?, f32_at(bytes, at + 4)?, f32_at(bytes, at + 8)?])
        };
        found.strands.push((0..per).map(point).collect::<Result<_, MeshError>>()?);
    }
    Ok(found)
}

/// Writes strands; the format follows from the name. `.hair` and `.tfx` hold single precision, and `.tfx` strands of one
/// length only.
pub fn write_strands(path: impl AsRef<Path>, strands: &[Vec<[f64; 3]>]) -> Result<(), WriteError> {
    let path = path.as_ref();
    atomic_write(path, |out| {
        let format = StrandFormat::from_path(path).ok_or_else(|| {
            invalid_data("use a name that ends in .obj, .ply, .hair, .tfx or .usda")
        })?;
        let all = || strands.iter().flatten();
        if !all().flatten().all(|x| x.is_finite()) {
            return Err(invalid_data("a point of a strand is not finite"));
        }
        match format {
            StrandFormat::Obj => {
                let mut first = 1;
                for strand in strands {
                    let mut line = String::from("l");
                    for (i, p) in strand.iter().enumerate() {
                        writeln!(out, "v {:?} {:?} {:?}", p[0], p[1], p[2])?;
                        let _ = write!(line, " {}", first + i);
                    }
                    first += strand.len();
                    writeln!(out, "{line}")?;
                }
                Ok(())
            }
            StrandFormat::Ply => {
                let count = all().count();
                write!(
                    out,
                    "ply\nformat ascii 1.0\nelement vertex {count}\nproperty double x\nproperty double y\n\
                     property double z\nproperty int strand\nend_header\n"
                )?;
                for (i, strand) in strands.iter().enumerate() {
                    for p in strand {
                        writeln!(out, "{:?} {:?} {:?} {i}", p[0], p[1], p[2])?;
                    }
                }
                Ok(())
            }
            StrandFormat::Hair => {
                let mut head = [0u8; HAIR_HEADER];
                head[..4].copy_from_slice(b"HAIR");
                head[4..8].copy_from_slice(&(strands.len() as u32).to_le_bytes());
                head[8..12].copy_from_slice(&(all().count() as u32).to_le_bytes());
                head[12..16].copy_from_slice(&3u32.to_le_bytes());
                for (at, value) in [(20, 1.0f32), (28, 0.5), (32, 0.5), (36, 0.5)] {
                    head[at..at + 4].copy_from_slice(&value.to_le_bytes());
                }
                out.write_all(&head)?;
                for strand in strands {
                    let segments = u16::try_from(strand.len().saturating_sub(1))
                        .map_err(|_| invalid_data("a strand has more than 65536 points"))?;
                    if strand.is_empty() {
                        return Err(invalid_data("a strand has no point"));
                    }
                    out.write_all(&segments.to_le_bytes())?;
                }
                for x in all().flatten() {
                    out.write_all(&(*x as f32).to_le_bytes())?;
                }
                Ok(())
            }
            StrandFormat::Usda => usda_strands(out, strands),
            StrandFormat::Tfx => {
                let per = strands.first().map_or(0, Vec::len);
                if per == 0 || strands.iter().any(|s| s.len() != per) {
                    return Err(invalid_data("TressFX needs strands of the same number of points"));
                }
                let mut head = [0u8; TFX_HEADER];
                head[..4].copy_from_slice(&4.0f32.to_le_bytes());
                for (at, value) in [(4, strands.len()), (8, per), (12, TFX_HEADER)] {
                    head[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
                }
                out.write_all(&head)?;
                for strand in strands {
                    for (i, p) in strand.iter().enumerate() {
                        for x in p {
                            out.write_all(&(*x as f32).to_le_bytes())?;
                        }
                        // Inverse mass: the first two points are held.
                        let free: f32 = if i < 2 { 0.0 } else { 1.0 };
                        out.write_all(&free.to_le_bytes())?;
                    }
                }
                Ok(())
            }
        }
    })
}
