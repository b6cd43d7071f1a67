//! Matrices with known answers, and a dense solve to compare with.

use std::sync::Arc;
use toile_solve::{GeneralPattern, NodeGraph, Ordering, SymmetricPattern, elimination_order};

/// Reproducible numbers in [−1, 1).
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub(crate) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// A symmetric matrix in elimination order.
pub(crate) struct Symmetric {
    pub(crate) pattern: Arc<SymmetricPattern>,
    pub(crate) values: Vec<f64>,
    /// First unknown of each node.
    pub(crate) first: Vec<usize>,
}

impl Symmetric {
    /// Entries `f(node, component, node, component)`, symmetric in its two pairs.
    pub(crate) fn build(
        graph: &NodeGraph,
        ordering: Ordering,
        f: impl Fn(usize, usize, usize, usize) -> f64,
    ) -> Self {
        let order = elimination_order(graph, ordering);
        let (pattern, first) = SymmetricPattern::from_node_graph(graph, &order).unwrap();
        let mut owner = vec![(0, 0); pattern.n];
        for (v, &at) in first.iter().enumerate() {
            for c in 0..graph.sizes[v] as usize {
                owner[at + c] = (v, c);
            }
        }
        let mut values = Vec::new();
        for j in 0..pattern.n {
            for &i in &pattern.row_idx[pattern.col_ptr[j]..pattern.col_ptr[j + 1]] {
                let ((v, c), (u, d)) = (owner[i], owner[j]);
                values.push(f(v, c, u, d));
            }
        }
        Self { pattern: Arc::new(pattern), values, first }
    }

    pub(crate) fn multiply(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        self.pattern.multiply(&self.values, x, &mut y);
        y
    }

    /// Both triangles, row by row.
    pub(crate) fn dense(&self) -> Vec<Vec<f64>> {
        let n = self.pattern.n;
        let mut a = vec![vec![0.0; n]; n];
        for j in 0..n {
            for k in self.pattern.col_ptr[j]..self.pattern.col_ptr[j + 1] {
                let i = self.pattern.row_idx[k];
                a[i][j] = self.values[k];
                a[j][i] = self.values[k];
            }
        }
        a
    }

    /// Both triangles, by columns.
    pub(crate) fn general(&self) -> (Arc<GeneralPattern>, Vec<f64>) {
        general(&self.dense())
    }
}

/// Nonzeros of a dense matrix by columns.
pub(crate) fn general(a: &[Vec<f64>]) -> (Arc<GeneralPattern>, Vec<f64>) {
    let n = a.len();
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for i in 0..n {
            if a[i][j] != 0.0 {
                row_idx.push(i);
                values.push(a[i][j]);
            }
        }
        col_ptr.push(row_idx.len());
    }
    let pattern = GeneralPattern::new(n, col_ptr, row_idx).unwrap();
    (Arc::new(pattern), values)
}

/// Gaussian elimination with partial pivoting.
pub(crate) fn dense_solve(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut rows: Vec<Vec<f64>> =
        a.iter().zip(b).map(|(row, b)| row.iter().copied().chain([*b]).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
        rows.swap(k, pivot);
        for i in k + 1..n {
            let factor = rows[i][k] / rows[k][k];
            for j in k..=n {
                rows[i][j] -= factor * rows[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}

/// Largest difference relative to the largest entry.
pub(crate) fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let worst = a.iter().zip(b).fold(0.0, |m: f64, (a, b)| {
        let d = (a - b).abs();
        if d.is_nan() || d > m { d } else { m }
    });
    worst / size
}

/// Pairs of neighbours on an m × m grid, with both diagonals when asked.
pub(crate) fn grid_pairs(m: u32, diagonals: bool) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for y in 0..m {
        for x in 0..m {
            let v = y * m + x;
            if x + 1 < m {
                pairs.push((v, v + 1));
            }
            if y + 1 < m {
                pairs.push((v, v + m));
                if diagonals && x + 1 < m {
                    pairs.push((v, v + m + 1));
                    pairs.push((v + 1, v + m));
                }
            }
        }
    }
    pairs
}

/// Sheet of m × m vertices with three unknowns each: coupled 3 × 3 blocks, diagonally dominant.
pub(crate) fn sheet(m: u32, ordering: Ordering) -> Symmetric {
    let graph = NodeGraph::from_pairs(vec![3; (m * m) as usize], grid_pairs(m, true)).unwrap();
    Symmetric::build(&graph, ordering, |v, c, u, d| {
        let noise = (((v + u) * 31 + (c + d) * 17 + v * u + c * d) as f64).sin();
        if v == u && c == d { 20.0 + noise } else { 0.5 * noise - 0.25 }
    })
}

/// Minus the five-point Laplacian on m × m interior points, plus `shift`, and its exact eigenvalues
/// 4 sin²(pπ/2(m+1)) + 4 sin²(qπ/2(m+1)) + shift.
pub(crate) fn laplacian(m: u32, shift: f64, ordering: Ordering) -> (Symmetric, Vec<f64>) {
    let graph = NodeGraph::from_pairs(vec![1; (m * m) as usize], grid_pairs(m, false)).unwrap();
    let matrix =
        Symmetric::build(&graph, ordering, |v, _, u, _| if v == u { 4.0 + shift } else { -1.0 });
    let wave = |p: u32| {
        let angle = f64::from(p) * std::f64::consts::PI / f64::from(2 * (m + 1));
        4.0 * angle.sin().powi(2)
    };
    let eigenvalues =
        (1..=m).flat_map(|p| (1..=m).map(move |q| wave(p) + wave(q) + shift)).collect();
    (matrix, eigenvalues)
}

/// 27-point operator on m³ points: 26 on the diagonal plus a little, −1 to every neighbour.
pub(crate) fn brick(m: u32) -> Symmetric {
    let at = |x: u32, y: u32, z: u32| (z * m + y) * m + x;
    let mut pairs = Vec::new();
    for z in 0..m {
        for y in 0..m {
            for x in 0..m {
                for dz in 0..2 {
                    for dy in 0..3 {
                        for dx in 0..3 {
                            let (x2, y2, z2) = (x + dx, y + dy, z + dz);
                            if (1..=m).contains(&x2) && (1..=m).contains(&y2) && z2 < m {
                                pairs.push((at(x, y, z), at(x2 - 1, y2 - 1, z2)));
                            }
                        }
                    }
                }
            }
        }
    }
    let graph = NodeGraph::from_pairs(vec![1; (m * m * m) as usize], pairs).unwrap();
    Symmetric::build(
        &graph,
        Ordering::NestedDissection,
        |v, _, u, _| {
            if v == u { 26.1 } else { -1.0 }
        },
    )
}
