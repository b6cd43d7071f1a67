//! Curves of USD text files (`.usda`): `BasisCurves`, linear or cubic.
//!
//! Cubic curves are read as points on them: those of Bézier and Catmull–Rom curves that are given, those of B-splines at their knots, with
//! [`BETWEEN`] more in every segment. Of moving curves the first frame is read. Transformations of the stage are applied (`usd_transform.rs`).

use std::io::{self, Write};

use crate::error::{MeshError, Place, excerpt};
use crate::strands::Strands;
use crate::usd_transform::Places;

/// Points that are read inside a segment of a cubic curve.
const BETWEEN: usize = 3;

/// How the points of a cubic curve are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    Bezier,
    Spline,
    CatmullRom,
}

impl Basis {
    /// Control points from a segment to the next.
    fn stride(self) -> usize {
        if self == Self::Bezier { 3 } else { 1 }
    }

    /// Weights of four control points at t.
    fn weights(self, t: f64) -> [f64; 4] {
        let (t2, t3, u) = (t * t, t * t * t, 1.0 - t);
        match self {
            Self::Bezier => [u * u * u, 3.0 * u * u * t, 3.0 * u * t2, t3],
            Self::Spline => [
                u * u * u / 6.0,
                (3.0 * t3 - 6.0 * t2 + 4.0) / 6.0,
                (-3.0 * t3 + 3.0 * t2 + 3.0 * t + 1.0) / 6.0,
                t3 / 6.0,
            ],
            Self::CatmullRom => [
                0.5 * (-t3 + 2.0 * t2 - t),
                0.5 * (3.0 * t3 - 5.0 * t2 + 2.0),
                0.5 * (-3.0 * t3 + 4.0 * t2 + t),
                0.5 * (t3 - t2),
            ],
        }
    }
}

const HELP: &str = "export BasisCurves as text (.usda), or as .obj, .ply, .hair or .tfx";

pub(crate) fn wrong(at: usize, what: String) -> MeshError {
    MeshError::invalid(Place::Byte(at), what, HELP)
}

/// Text without comments and with what stands between quotes kept.
fn uncommented(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut quoted = false;
        let end = line
            .char_indices()
            .find(|(_, c)| {
                quoted ^= *c == '"';
                *c == '#' && !quoted
            })
            .map_or(line.len(), |(i, _)| i);
        // Bytes stay where they are, for messages.
        out.push_str(&line[..end]);
        out.extend(line[end..].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
    }
    out
}

/// Where the body that opens at `open` ends.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (mut depth, mut quoted) = (0usize, false);
    for (i, b) in text.bytes().enumerate().skip(open) {
        match b {
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// What an attribute of a prim is set to, of one that moves the first: the text from its value on, and where.
pub(crate) fn attribute<'a>(
    text: &'a str,
    body: (usize, usize),
    name: &str,
) -> Option<(usize, &'a str)> {
    let inside = &text[body.0..body.1];
    let mut from = 0;
    while let Some(found) = inside[from..].find(name) {
        let at = from + found;
        from = at + name.len();
        let before = inside[..at].chars().next_back().is_none_or(char::is_whitespace);
        let rest = inside[from..].trim_start();
        let moving = rest.strip_prefix(".timeSamples").map(str::trim_start);
        if !before || !(rest.starts_with('=') || moving.is_some()) {
            continue;
        }
        let value = moving.unwrap_or(rest).strip_prefix('=')?.trim_start();
        let value = match value.strip_prefix('{') {
            Some(samples) => samples.split_once(':')?.1.trim_start(),
            None => value,
        };
        return Some((body.0 + at, value));
    }
    None
}

/// The numbers of a list `[…]`, of points too.
pub(crate) fn numbers(at: usize, value: &str, what: &str) -> Result<Vec<f64>, MeshError> {
    let inner = value.strip_prefix('[').and_then(|v| v.split_once(']')).map(|v| v.0);
    let inner =
        inner.ok_or_else(|| wrong(at, format!("`{what}` is no list that begins and ends")))?;
    let words = inner.split(|c: char| c == ',' || c == '(' || c == ')' || c.is_whitespace());
    words
        .filter(|w| !w.is_empty())
        .map(|w| {
            w.parse::<f64>().map_err(|_| {
                wrong(at, format!("`{}` in `{what}` is no number", excerpt(w.as_bytes())))
            })
        })
        .collect()
}

/// Reads all `BasisCurves` of a stage.
pub(crate) fn usda(bytes: &[u8]) -> Result<Strands, MeshError> {
    if bytes.starts_with(b"PXR-USDC") || bytes.starts_with(b"PK") {
        return Err(wrong(0, "the file is binary USD, which is not read".into()));
    }
    if !bytes.starts_with(b"#usda") {
        return Err(wrong(0, "the file does not begin with `#usda`".into()));
    }
    let text = String::from_utf8_lossy(bytes);
    let text = uncommented(&text);
    let mut found = Strands::default();
    let (mut from, mut placed) = (0, 0);
    let mut places = Places::new(&text);
    while let Some(start) = text[from..].find("def BasisCurves").map(|i| from + i) {
        let open = text[start..].find('{').map(|i| start + i);
        let body = open.and_then(|open| Some((open + 1, closing(&text, open)?)));
        let body =
            body.ok_or_else(|| wrong(start, "the curves that begin here do not end".into()))?;
        from = body.1;
        let first = found.strands.len();
        curves(&text, body, start, &mut found)?;
        let placing = places.placing(body.0)?;
        if !placing.is_none() {
            placed += found.strands.len() - first;
            let points = found.strands[first..].iter_mut().flatten();
            points.for_each(|p| *p = placing.apply(p));
        }
    }
    if placed > 0 {
        found.notes.push(format!("{placed} strand(s) are placed by transformations of the stage"));
    }
    if !places.left_out.is_empty() {
        let names = places.left_out.join(", ");
        found
            .notes
            .push(format!("transformations that move or are not known are not applied: {names}"));
    }
    if let Some(unit) = text.split_once("metersPerUnit").and_then(|t| t.1.split('=').nth(1)) {
        let unit = unit.split_whitespace().next().unwrap_or("");
        if unit.parse::<f64>().is_ok_and(|u| u != 1.0) {
            found.notes.push(format!("the stage says metersPerUnit = {unit}: set `scale` to it"));
        }
    }
    Ok(found)
}

fn curves(
    text: &str,
    body: (usize, usize),
    start: usize,
    found: &mut Strands,
) -> Result<(), MeshError> {
    let missing = |what: &str| wrong(start, format!("the curves that begin here have no `{what}`"));
    let (at, counts) = attribute(text, body, "curveVertexCounts")
        .ok_or_else(|| missing("int[] curveVertexCounts"))?;
    let counts = numbers(at, counts, "curveVertexCounts")?;
    let (at, points) =
        attribute(text, body, "points").ok_or_else(|| missing("point3f[] points"))?;
    let flat = numbers(at, points, "points")?;
    let token = |name: &str| attribute(text, body, name).map_or("", |t| t.1);
    // Curves of USD are cubic Bézier curves unless they say otherwise.
    let linear = token("type").starts_with("\"linear\"");
    let basis = match token("basis") {
        b if b.starts_with("\"bspline\"") => Basis::Spline,
        b if b.starts_with("\"catmullRom\"") => Basis::CatmullRom,
        _ => Basis::Bezier,
    };
    let pinned = token("wrap").starts_with("\"pinned\"");
    if token("wrap").starts_with("\"periodic\"") {
        return Err(wrong(
            start,
            "the curves that begin here are closed; a strand has a root".into(),
        ));
    }
    let total: f64 = counts.iter().sum();
    let whole = counts.iter().all(|c| *c >= 0.0 && c.fract() == 0.0);
    if !whole || 3.0 * total != flat.len() as f64 {
        let what = format!(
            "{} curves of {total} points in all have {} coordinates",
            counts.len(),
            flat.len()
        );
        return Err(wrong(start, what));
    }
    let points: Vec<[f64; 3]> = flat.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    let mut next = 0;
    for count in counts {
        let own = &points[next..next + count as usize];
        next += count as usize;
        let strand = if linear { own.to_vec() } else { on_curve(own, basis, pinned) };
        found.strands.push(strand);
    }
    Ok(())
}

/// Points on a cubic curve; too few control points are left as they are.
fn on_curve(control: &[[f64; 3]], basis: Basis, pinned: bool) -> Vec<[f64; 3]> {
    let mut all = control.to_vec();
    if pinned && basis != Basis::Bezier && control.len() >= 2 {
        // A point before and behind, such that the curve begins and ends at the first and the last.
        let n = control.len();
        let beyond = |a: [f64; 3], b: [f64; 3]| std::array::from_fn(|k| 2.0 * a[k] - b[k]);
        all.insert(0, beyond(control[0], control[1]));
        all.push(beyond(control[n - 1], control[n - 2]));
    }
    if all.len() < 4 {
        return control.to_vec();
    }
    let segments = (all.len() - 4) / basis.stride() + 1;
    let mut out = Vec::with_capacity(segments * (BETWEEN + 1) + 1);
    for s in 0..segments {
        let part = &all[s * basis.stride()..];
        let last = if s + 1 == segments { BETWEEN + 1 } else { BETWEEN };
        for i in 0..=last {
            let w = basis.weights(i as f64 / (BETWEEN + 1) as f64);
            out.push(std::array::from_fn(|k| (0..4).map(|c| w[c] * part[c][k]).sum()));
        }
    }
    out
}

/// Writes strands as linear `BasisCurves`.
pub(crate) fn usda_strands(out: &mut dyn Write, strands: &[Vec<[f64; 3]>]) -> io::Result<()> {
    writeln!(out, "#usda 1.0\n(\n    defaultPrim = \"hair\"\n    metersPerUnit = 1\n)\n")?;
    writeln!(out, "def BasisCurves \"hair\"\n{{\n    uniform token type = \"linear\"")?;
    let counts: Vec<String> = strands.iter().map(|s| s.len().to_string()).collect();
    writeln!(out, "    int[] curveVertexCounts = [{}]", counts.join(", "))?;
    write!(out, "    point3f[] points = [")?;
    for (i, [x, y, z]) in strands.iter().flatten().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        // All digits: others take what single precision holds of them.
        write!(out, "{comma}({x:?}, {y:?}, {z:?})")?;
    }
    writeln!(out, "]\n}}")
}
