//! Where a prim of a USD text file is: the transformations (`xformOp`) of all that holds it.
//!
//! The operations of `xformOpOrder` are applied from the last to the first, then those of the parent. Of operations that move with time nothing is
//! known here: they are told and left out.

use crate::error::MeshError;
use crate::usd_curves::{attribute, numbers, wrong};

/// p ↦ linear p + shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placing {
    linear: [[f64; 3]; 3],
    shift: [f64; 3],
}

const NOWHERE: Placing =
    Placing { linear: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], shift: [0.0; 3] };

impl Placing {
    pub(crate) fn apply(&self, p: &[f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| {
            self.shift[i] + (0..3).map(|k| self.linear[i][k] * p[k]).sum::<f64>()
        })
    }

    pub(crate) fn is_none(&self) -> bool {
        *self == NOWHERE
    }

    /// This one after another.
    fn after(&self, first: &Self) -> Self {
        let linear = |i: usize, j: usize| -> f64 {
            (0..3).map(|k| self.linear[i][k] * first.linear[k][j]).sum()
        };
        Self {
            linear: std::array::from_fn(|i| std::array::from_fn(|j| linear(i, j))),
            shift: self.apply(&first.shift),
        }
    }

    fn inverse(&self) -> Option<Self> {
        let m = nalgebra::Matrix3::from_fn(|i, k| self.linear[i][k]).try_inverse()?;
        let shift = -(m * nalgebra::Vector3::from(self.shift));
        let linear = std::array::from_fn(|i| std::array::from_fn(|k| m[(i, k)]));
        Some(Self { linear, shift: shift.into() })
    }

    fn turned(axis: usize, degrees: f64) -> Self {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut out = NOWHERE;
        (out.linear[a][a], out.linear[a][b]) = (cos, -sin);
        (out.linear[b][a], out.linear[b][b]) = (sin, cos);
        out
    }

    /// One operation by its name without `xformOp:`.
    fn of(name: &str, values: &[f64]) -> Option<Self> {
        let kind = name.split(':').next()?;
        let three = || <[f64; 3]>::try_from(values).ok();
        let mut out = NOWHERE;
        match kind {
            "translate" => out.shift = three()?,
            "scale" => {
                let by = three()?;
                (0..3).for_each(|k| out.linear[k][k] = by[k]);
            }
            "orient" => {
                let [w, x, y, z] = <[f64; 4]>::try_from(values).ok()?;
                let q = nalgebra::Quaternion::new(w, x, y, z);
                let turn = nalgebra::UnitQuaternion::try_new(q, 1e-12)?.to_rotation_matrix();
                out.linear = std::array::from_fn(|i| std::array::from_fn(|k| turn[(i, k)]));
            }
            "transform" => {
                // Rows of USD multiply from the left.
                let m = <[f64; 16]>::try_from(values).ok()?;
                out.linear = std::array::from_fn(|i| std::array::from_fn(|k| m[4 * k + i]));
                out.shift = [m[12], m[13], m[14]];
            }
            _ => {
                let axes = kind.strip_prefix("rotate")?;
                let number = |axis: u8| usize::from(axis - b'X');
                if !(1..=3).contains(&axes.len())
                    || !axes.bytes().all(|a| (b'X'..=b'Z').contains(&a))
                {
                    return None;
                }
                if axes.len() != values.len() {
                    return None;
                }
                // The first axis of the name turns first; values are those about x, y and z.
                for axis in axes.bytes().map(number) {
                    let degrees = if values.len() == 1 { values[0] } else { *values.get(axis)? };
                    out = Self::turned(axis, degrees).after(&out);
                }
            }
        }
        Some(out)
    }
}

/// The prims around a place of a text that is walked from its beginning to its end.
pub(crate) struct Places<'a> {
    text: &'a str,
    at: usize,
    quoted: bool,
    /// Where the bodies begin that are open, the outermost first, and where their points are, once that was asked.
    open: Vec<(usize, Option<Placing>)>,
    /// Operations that are not applied.
    pub(crate) left_out: Vec<String>,
}

/// What a body says itself, from its beginning to its end, without what stands in braces in it.
fn own_words(text: &str, begin: usize) -> String {
    let (mut depth, mut quoted) = (0usize, false);
    let mut out = Vec::new();
    for b in text.bytes().skip(begin) {
        match b {
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted && depth == 0 => break,
            b'}' if !quoted => {
                depth -= 1;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            out.push(b);
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, quoted: false, open: Vec::new(), left_out: Vec::new() }
    }

    /// Where the points of the prim are whose body begins here, not before the last that was asked for.
    pub(crate) fn placing(&mut self, body: usize) -> Result<Placing, MeshError> {
        let bytes = &self.text.as_bytes()[..body];
        for (i, b) in bytes.iter().enumerate().skip(self.at) {
            match b {
                b'"' => self.quoted = !self.quoted,
                b'{' if !self.quoted => self.open.push((i + 1, None)),
                b'}' if !self.quoted => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        self.at = body.max(self.at);
        let mut whole = NOWHERE;
        for level in 0..self.open.len() {
            let (begin, known) = self.open[level];
            whole = match known {
                Some(known) => known,
                None => self.within(begin, whole)?,
            };
            self.open[level].1 = Some(whole);
        }
        Ok(whole)
    }

    /// Where the points of a body are that stands in one which is there.
    fn within(&mut self, begin: usize, outer: Placing) -> Result<Placing, MeshError> {
        let own = own_words(self.text, begin);
        let Some((_, order)) = attribute(&own, (0, own.len()), "xformOpOrder") else {
            return Ok(outer);
        };
        let order = order.strip_prefix('[').and_then(|o| o.split_once(']')).map(|o| o.0);
        let order = order.ok_or_else(|| wrong(begin, "`xformOpOrder` is no list".into()))?;
        let mut whole = outer;
        for name in order.split(',').map(|n| n.trim().trim_matches('"')).filter(|n| !n.is_empty()) {
            if name == "!resetXformStack!" {
                whole = NOWHERE;
                continue;
            }
            let (plain, inverted) =
                name.strip_prefix("!invert!").map_or((name, false), |plain| (plain, true));
            let value = attribute(&own, (0, own.len()), plain);
            let values = value.and_then(|(_, v)| numbers(begin, &listed(v), plain).ok());
            let kind = plain.strip_prefix("xformOp:").unwrap_or("");
            let op = values.and_then(|v| Placing::of(kind, &v));
            match op.and_then(|op| if inverted { op.inverse() } else { Some(op) }) {
                Some(op) => whole = whole.after(&op),
                None if !self.left_out.iter().any(|l| l == name) => self.left_out.push(name.into()),
                None => {}
            }
        }
        Ok(whole)
    }
}

/// The numbers of a value that is one number, a tuple or a tuple of tuples, as a list.
fn listed(value: &str) -> String {
    let mut depth = 0usize;
    let mut end = value.len();
    for (i, b) in value.bytes().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    end = i + 1;
                    break;
                }
            }
            b if depth == 0 && b.is_ascii_whitespace() => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    format!("[{}]", &value[..end])
}
