//! Joining corners that formats without shared vertices store several times.

use std::collections::HashMap;

/// Bits of a number such that equal numbers have equal bits (−0 becomes 0).
fn key(v: f64) -> u64 {
    (v + 0.0).to_bits()
}

/// Numbers points by first appearance; points with equal coordinates share a number.
///
/// The join is exact: two points a rounding apart stay apart, because a tolerance would be a guess.
#[derive(Default)]
pub(crate) struct PointWeld {
    ids: HashMap<[u64; 3], u32>,
}

impl PointWeld {
    /// Number of `point`, which is appended to `positions` when it is new.
    pub(crate) fn id(&mut self, point: [f64; 3], positions: &mut Vec<[f64; 3]>) -> u32 {
        *self.ids.entry(point.map(key)).or_insert_with(|| {
            positions.push(point);
            (positions.len() - 1) as u32
        })
    }
}

/// Numbers texture coordinates per vertex: a vertex keeps one uv per side of a seam.
#[derive(Default)]
pub(crate) struct UvWeld {
    ids: HashMap<(u32, [u64; 2]), u32>,
}

impl UvWeld {
    /// Number of the coordinates `uv` of `vertex`, appended to `uvs` when they are new.
    pub(crate) fn id(&mut self, vertex: u32, uv: [f64; 2], uvs: &mut Vec<[f64; 2]>) -> u32 {
        *self.ids.entry((vertex, uv.map(key))).or_insert_with(|| {
            uvs.push(uv);
            (uvs.len() - 1) as u32
        })
    }
}
