//! Garments as they are found in files: panels with seams, drawings that enter the body, layers, scans with flaws.
//!
//! Made by rule to imitate what modelling programs, pattern programs and scanners write; triangles as a file has them, which need
//! not be a surface. Metres, z up. The body is a torso from the thighs to the neck.

use std::f64::consts::TAU;

use toile_geometry::Vec3;
use toile_sim::Stitch;

/// Triangles as a file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heap {
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Faces.
    pub faces: Vec<[u32; 3]>,
    /// Stitches, vertices counted from 0.
    pub stitches: Vec<Stitch>,
}

impl Heap {
    /// Adds rows × columns points; `closed` joins the last column with the first. Returns the first vertex.
    fn grid(
        &mut self,
        rows: usize,
        columns: usize,
        closed: bool,
        point: impl Fn(f64, f64) -> Vec3,
    ) -> u32 {
        let base = self.positions.len() as u32;
        let steps = if closed { columns } else { columns - 1 };
        for i in 0..rows {
            for j in 0..columns {
                let s = i as f64 / (rows - 1) as f64;
                self.positions.push(point(s, j as f64 / steps as f64));
            }
        }
        let at = |i: usize, j: usize| base + (i * columns + j % columns) as u32;
        for i in 0..rows - 1 {
            for j in 0..steps {
                let (a, b, c, d) = (at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1));
                if (i + j) % 2 == 0 {
                    self.faces.extend([[a, c, d], [a, d, b]]);
                } else {
                    self.faces.extend([[a, c, b], [b, c, d]]);
                }
            }
        }
        base
    }
}

/// Half-axes of the torso at a height: (height, along x, along y) \[m\].
const TORSO: [[f64; 3]; 8] = [
    [-0.10, 0.150, 0.120],
    [0.00, 0.175, 0.135],
    [0.12, 0.190, 0.145],
    [0.32, 0.135, 0.105],
    [0.50, 0.165, 0.120],
    [0.62, 0.160, 0.105],
    [0.70, 0.085, 0.070],
    [0.78, 0.055, 0.055],
];

/// Half-axes at a height, by monotone cubic-free smooth blending between the sections above.
fn torso_axes(height: f64) -> [f64; 2] {
    let last = TORSO.len() - 1;
    let k = (1..last).find(|&k| height < TORSO[k][0]).unwrap_or(last);
    let [(h0, h1), (a0, a1), (b0, b1)] = [0, 1, 2].map(|c| (TORSO[k - 1][c], TORSO[k][c]));
    let t = ((height - h0) / (h1 - h0)).clamp(0.0, 1.0);
    let t = t * t * (3.0 - 2.0 * t);
    [a0 + (a1 - a0) * t, b0 + (b1 - b0) * t]
}

/// Point of the torso moved out by `off` \[m\].
fn on_torso(height: f64, turn: f64, off: f64) -> Vec3 {
    let place = |turn: f64, height: f64| {
        let [a, b] = torso_axes(height);
        Vec3::new(a * turn.cos(), b * turn.sin(), height)
    };
    let p = place(turn, height);
    let around = place(turn + 1e-5, height) - place(turn - 1e-5, height);
    let up = place(turn, height + 1e-5) - place(turn, height - 1e-5);
    p + around.cross(&up).normalize() * off
}

/// The torso as a mesh; without lids it is open at the thighs and at the neck, as bodies of other programs are.
pub fn torso(rows: usize, around: usize, lids: bool) -> Heap {
    let mut heap = Heap::default();
    let [low, high] = [TORSO[0][0], TORSO[TORSO.len() - 1][0]];
    let first =
        heap.grid(rows, around, true, |s, t| on_torso(high + (low - high) * s, TAU * t, 0.0));
    if lids {
        for (row, height, up) in [(0, high, true), (rows - 1, low, false)] {
            let centre = heap.positions.len() as u32;
            heap.positions.push(Vec3::new(0.0, 0.0, height));
            for j in 0..around {
                let [a, b] = [j, (j + 1) % around].map(|j| first + (row * around + j) as u32);
                heap.faces.push(if up { [centre, a, b] } else { [centre, b, a] });
            }
        }
    }
    heap
}

/// Height of the waistband of skirts above the thighs \[m\].
const WAIST: f64 = 0.26;
/// Height of that band \[m\].
const BAND: f64 = 0.08;

/// A skirt at the hips: s from 0 at the waist to 1 at the hem, `off` from the body at the band \[m\].
fn skirt_point(s: f64, turn: f64, length: f64, off: f64) -> Vec3 {
    let height = WAIST - length * s;
    let below = (WAIST - BAND - height).max(0.0);
    if below == 0.0 {
        return on_torso(height, turn, off);
    }
    // Below the band it stands away, in waves.
    let edge = on_torso(WAIST - BAND, turn, off);
    let out = Vec3::new(turn.cos(), turn.sin(), 0.0);
    let wave = 0.25 * below * below / length * (6.0 * turn).cos();
    edge + out * (0.30 * below + wave) - Vec3::z() * below
}

/// A one-piece skirt of about so many vertices, its band `off` from the torso \[m\].
pub fn one_piece(vertices: usize, off: f64) -> Heap {
    let rows = ((vertices as f64 / 2.0).sqrt() as usize).max(4);
    let mut heap = Heap::default();
    heap.grid(rows, 2 * rows, true, |s, t| skirt_point(s, TAU * t, 0.5, off));
    heap
}

/// A skirt of four panels whose divisions differ, with seams that stand `open` apart \[m\].
pub fn panelled_skirt(fineness: usize, off: f64, open: f64) -> Heap {
    let mut heap = Heap::default();
    let panels = 4;
    let mut sides = Vec::new();
    for p in 0..panels {
        let rows = 2 * fineness + [0, 3, 1, 5][p];
        let columns = fineness + [1, 0, 2, 0][p];
        let base = heap.grid(rows, columns, false, |s, t| {
            let [a, b] = [p, p + 1].map(|k| TAU * k as f64 / panels as f64);
            let middle = 0.5 * (a + b);
            let turn = a + (b - a) * t;
            let point = skirt_point(s, turn, 0.5, off);
            // The panel ends half the opening before its seam.
            let radius = point.xy().norm();
            let inset = (0.5 * open / radius) * ((turn - middle) / (b - middle));
            skirt_point(s, turn - inset, 0.5, off)
        });
        let side =
            |j: usize| -> Vec<u32> { (0..rows).map(|i| base + (i * columns + j) as u32).collect() };
        sides.push([side(0), side(columns - 1)]);
    }
    for p in 0..panels {
        let (own, other) = (sides[p][1].clone(), sides[(p + 1) % panels][0].clone());
        let (from, last) = (own.len() - 1, other.len() - 1);
        for (k, &vertex) in own.iter().enumerate() {
            let at = (k * last) as f64 / from as f64;
            let e = (at.floor() as usize).min(last - 1);
            let weight = at - e as f64;
            heap.stitches.push(Stitch { vertex, edge: [other[e], other[e + 1]], weight });
        }
    }
    heap
}

/// A drawn top that hangs from the shoulders, with noise of so many metres, some of it inside the body.
pub fn drawn_top(vertices: usize, noise: f64, seed: u64) -> Heap {
    let rows = ((vertices as f64 / 2.0).sqrt() as usize).max(6);
    let mut heap = Heap::default();
    heap.grid(rows, 2 * rows, true, |s, t| {
        // From the collar over the shoulders, and straight down from the chest.
        let height = 0.69 - 0.55 * s;
        let turn = TAU * t;
        let chest = 0.60;
        let here = on_torso(height.max(chest), turn, 1e-3);
        if height >= chest {
            return here;
        }
        let below = chest - height;
        let out = Vec3::new(turn.cos(), turn.sin(), 0.0);
        here + out * (0.06 * below.sqrt() + 0.06 * below * (5.0 * turn).cos()) - Vec3::z() * below
    });
    let mut random = Random(seed);
    for p in &mut heap.positions {
        let shake = Vec3::new(random.next(), random.next(), random.next());
        *p += shake * noise;
    }
    heap
}

/// Two skirts over each other, the outer one `apart` from the inner \[m\] and a fifth shorter, in one file. Their vertices are elsewhere, so that chords cross.
pub fn layered_skirt(vertices: usize, off: f64, apart: f64) -> Heap {
    let mut heap = one_piece(vertices / 2, off);
    let rows = ((vertices as f64 / 4.0).sqrt() as usize).max(4) + 1;
    heap.grid(rows, 2 * rows + 1, true, |s, t| {
        skirt_point(0.8 * s, TAU * (t + 0.003), 0.5, off + apart)
    });
    heap
}

/// A scan of a skirt: noise, holes, vertices said several times, faces turned round, triangles of no width, crumbs.
pub fn scan(vertices: usize, noise: f64, seed: u64) -> Heap {
    let mut heap = one_piece(vertices, 1e-3);
    let mut random = Random(seed);
    for p in &mut heap.positions {
        *p += Vec3::new(random.next(), random.next(), random.next()) * noise;
    }
    let count = heap.positions.len();
    // Needles: some vertices nearly on a neighbour.
    for _ in 0..count / 200 {
        let face = heap.faces[random.below(heap.faces.len())];
        let [a, b, _] = face.map(|v| v as usize);
        heap.positions[a] = heap.positions[b] + (heap.positions[a] - heap.positions[b]) * 1e-4;
    }
    // Holes in the lower part.
    for _ in 0..count / 300 {
        let f = random.below(heap.faces.len());
        if heap.faces[f].iter().all(|&v| heap.positions[v as usize].z < WAIST - BAND - 0.05) {
            heap.faces.swap_remove(f);
        }
    }
    for _ in 0..count / 50 {
        // Turned round, and with a vertex of its own.
        let f = random.below(heap.faces.len());
        heap.faces[f].swap(0, 1);
        let f = random.below(heap.faces.len());
        let v = heap.faces[f][0];
        let again = heap.positions.len() as u32;
        heap.positions.push(heap.positions[v as usize]);
        heap.faces[f][0] = again;
    }
    // Said twice, and crumbs in the air.
    heap.faces.push(heap.faces[3]);
    for k in 0..5 {
        let base = heap.positions.len() as u32;
        let at = Vec3::new(0.5, 0.1 * f64::from(k), -0.1);
        heap.positions.extend([at, at + Vec3::x() * 0.01, at + Vec3::y() * 0.01]);
        heap.faces.push([base, base + 1, base + 2]);
    }
    heap
}

/// Numbers between −1 and 1, the same for the same seed (Steele et al. 2014, SplitMix).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn next(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, count: usize) -> usize {
        (self.bits() % count.max(1) as u64) as usize
    }
}
