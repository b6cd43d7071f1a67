//! Seams: panels sewn together by stitches.
//!
//! A stitch joins a vertex to a point of an edge, so the two sides of a seam need not have the same vertices, three
//! layers may meet in a pleat, and each panel keeps a rest shape of its own: positions meet at a seam, rest positions need
//! not. In a model every stitch is a thread of no length ([`toile_energy::Thread`]), a thousand times stiffer than the cloth.

use toile_energy::Thread;
use toile_geometry::Vec3;

use crate::ShellMaterial;

/// Vertex `vertex` is sewn to the point (1 − w) a + w b of the edge from a to b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stitch {
    /// The sewn vertex.
    pub vertex: u32,
    /// The ends a and b of the edge.
    pub edge: [u32; 2],
    /// w in 0..=1.
    pub weight: f64,
}

/// Stiffness of a thread over that of the cloth it joins. A seam under the pull of a garment then opens by less than a micron,
/// which is below what a target is matched to, and well above what equations can bear.
const THREAD: f64 = 1e3;

impl Stitch {
    /// The vertices and their weights in the opening, which sum to zero.
    pub fn carriers(&self) -> [(u32, f64); 3] {
        let [a, b] = self.edge;
        [(self.vertex, 1.0), (a, self.weight - 1.0), (b, -self.weight)]
    }

    /// The pairs of vertices it makes neighbours.
    pub fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let [_, a, b] = self.carriers();
        [a, b].into_iter().filter(|(_, w)| *w != 0.0).map(move |(e, _)| [self.vertex, e])
    }

    /// How far it is open \[m\].
    pub fn opening(&self, positions: &[Vec3]) -> Vec3 {
        self.carriers().iter().fold(Vec3::zeros(), |d, (v, w)| d + positions[*v as usize] * *w)
    }

    pub(crate) fn thread(&self, stiffness: f64) -> Thread {
        Thread { weight: self.weight, stiffness }
    }
}

/// Stiffness of the threads that sew a cloth of such a material with edges of such a length \[N/m\].
pub(crate) fn thread_stiffness(material: &ShellMaterial, edge: f64) -> f64 {
    THREAD
        * match material {
            ShellMaterial::Koiter { stiffness, .. }
            | ShellMaterial::HingedMembrane { stiffness, .. } => {
                stiffness.membrane.iter().copied().fold(0.0, f64::max)
            }
            ShellMaterial::DiscreteShells { k_length, .. } => k_length / edge,
        }
}

/// Vertices that a stitch ties to others that are free: what the others do, they do.
///
/// Of each cycle of stitches one vertex stays out.
pub fn tied_vertices(count: usize, seams: &[Stitch]) -> Vec<bool> {
    let mut on: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut seen = vec![usize::MAX; count];
    for (s, stitch) in seams.iter().enumerate() {
        let v = stitch.vertex as usize;
        if !on[v].is_empty() {
            continue;
        }
        let ends: Vec<u32> =
            stitch.carriers()[1..].iter().filter(|(_, w)| *w != 0.0).map(|(e, _)| *e).collect();
        // Does an end hang on this vertex already?
        let mut stack = ends.clone();
        let mut round = false;
        while let Some(u) = stack.pop() {
            round |= u == stitch.vertex;
            if seen[u as usize] != s {
                seen[u as usize] = s;
                stack.extend(&on[u as usize]);
            }
        }
        if !round {
            on[v] = ends;
        }
    }
    on.iter().map(|ends| !ends.is_empty()).collect()
}

/// Closes all seams by the shortest way: moves x by least δ (in the sum of squares) so that every opening vanishes.
///
/// Vertices with `held` do not move. Returns the longest move \[m\]. The equations C Cᵀ λ = C x are solved by
/// conjugate gradients, so stitches may repeat each other.
pub fn close_seams(positions: &mut [Vec3], seams: &[Stitch], held: &[bool]) -> f64 {
    let start: Vec<Vec3> = positions.to_vec();
    let free = |v: u32| !held[v as usize];
    // Cᵀ λ on the vertices, then C of that on the stitches.
    let spread = |lambda: &[Vec3]| {
        let mut moved = vec![Vec3::zeros(); start.len()];
        for (stitch, l) in seams.iter().zip(lambda) {
            for (v, w) in stitch.carriers().into_iter().filter(|(v, _)| free(*v)) {
                moved[v as usize] += l * w;
            }
        }
        moved
    };
    let openings = |x: &[Vec3]| -> Vec<Vec3> { seams.iter().map(|s| s.opening(x)).collect() };
    let dot = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    let mut residual = openings(&start);
    for (opening, stitch) in residual.iter_mut().zip(seams) {
        // Between held vertices nothing can be closed.
        if stitch.carriers().iter().all(|(v, w)| *w == 0.0 || !free(*v)) {
            *opening = Vec3::zeros();
        }
    }
    let mut direction = residual.clone();
    let mut lambda = vec![Vec3::zeros(); seams.len()];
    let mut size = dot(&residual, &residual);
    let enough = 1e-30 * size;
    for _ in 0..(4 * seams.len()).min(20_000) {
        if size <= enough || size == 0.0 {
            break;
        }
        let image = openings(&spread(&direction));
        let along = dot(&direction, &image);
        if along.is_nan() || along <= 1e-12 * dot(&direction, &direction) {
            break; // what is left cannot be closed
        }
        let step = size / along;
        for k in 0..seams.len() {
            lambda[k] += direction[k] * step;
            residual[k] -= image[k] * step;
        }
        let next = dot(&residual, &residual);
        for (d, r) in direction.iter_mut().zip(&residual) {
            *d = r + *d * (next / size);
        }
        size = next;
    }
    let mut longest = 0.0f64;
    for (p, moved) in positions.iter_mut().zip(spread(&lambda)) {
        *p -= moved;
        longest = longest.max(moved.norm());
    }
    longest
}
