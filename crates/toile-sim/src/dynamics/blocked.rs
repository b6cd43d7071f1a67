//! The matrix of a stage by rows of blocks, to be multiplied with many times and never factorised.
//!
//! Such a product takes the time in which the blocks come from memory, so those between two nodes are kept in single precision. What that rounds off is given to
//! the block of the node with itself: rows keep their sums, moving everything alike costs what it did, and only strains feel a stiffness that is off by 1e-7 of itself.

use toile_num::lanes::{Simd, WithSimd, wide};
use toile_num::{Matrix, Vector, parallel};

use crate::Model;

/// Nodes to a task.
const CHUNK: usize = 256;

/// Where the values of a block are: column c of what is stored starts at `starts[c]`.
struct Source {
    starts: [u32; 3],
    /// Rows and columns of the block, at most three each.
    sizes: [u8; 2],
    /// Whether the transpose is stored.
    flipped: bool,
}

/// A symmetric matrix over nodes of up to three unknowns each, in the order of the unknowns; nodes that have fewer are filled up with zeros.
pub(super) struct Blocked {
    /// Node that begins at an unknown.
    node_at: Vec<u32>,
    /// First unknown of each node, and how many it has.
    nodes: Vec<(u32, u8)>,
    /// Blocks of node p with others are `starts[p]..starts[p + 1]`.
    starts: Vec<usize>,
    columns: Vec<u32>,
    sources: Vec<Source>,
    /// [`ENTRIES`] of each, column by column, and some more, so that four can be read from anywhere.
    blocks: Vec<f32>,
    /// Blocks of nodes with themselves: where they come from, and their values.
    own_sources: Vec<Source>,
    own: Vec<Matrix<3, 3>>,
}

/// Numbers of a block.
const ENTRIES: usize = 9;

impl Blocked {
    /// Room for the elastic matrix of a model.
    pub(super) fn new(model: &Model) -> Self {
        let (graph, first, pattern) = (model.graph(), model.first_unknowns(), model.pattern());
        let mut order: Vec<u32> = (0..graph.len() as u32).collect();
        order.sort_unstable_by_key(|v| first[*v as usize]);
        let mut place = vec![0; graph.len()];
        let mut node_at = vec![u32::MAX; model.len()];
        for (p, &v) in order.iter().enumerate() {
            place[v as usize] = p as u32;
            node_at[first[v as usize]] = p as u32;
        }
        let source = |u: usize, v: usize| {
            // Stored with the rows of the later one.
            let flipped = first[u] < first[v];
            let (row, column) = if flipped { (v, u) } else { (u, v) };
            let at = pattern.position(first[row], first[column]);
            let offset = at.map_or(0, |at| at - pattern.col_ptr[first[column]]);
            let width = usize::from(graph.sizes[column]);
            let start = |c: usize| (pattern.col_ptr[first[column] + c] + offset - c) as u32;
            Source {
                starts: std::array::from_fn(|c| if c < width { start(c) } else { 0 }),
                sizes: [graph.sizes[u], graph.sizes[v]],
                flipped,
            }
        };
        let mut starts = vec![0];
        let (mut columns, mut sources, mut own_sources) = (Vec::new(), Vec::new(), Vec::new());
        for &u in &order {
            let u = u as usize;
            own_sources.push(source(u, u));
            let mut around: Vec<u32> = graph.neighbours(u).to_vec();
            around.sort_unstable_by_key(|v| place[*v as usize]);
            for v in around {
                columns.push(place[v as usize]);
                sources.push(source(u, v as usize));
            }
            starts.push(columns.len());
        }
        let nodes = order.iter().map(|&v| (first[v as usize] as u32, graph.sizes[v as usize]));
        Self {
            nodes: nodes.collect(),
            blocks: vec![0.0; columns.len() * ENTRIES + 4],
            own: vec![Matrix::zeros(); own_sources.len()],
            node_at,
            starts,
            columns,
            sources,
            own_sources,
        }
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node that begins at an unknown.
    pub(super) fn node_at(&self, unknown: usize) -> u32 {
        self.node_at[unknown]
    }

    /// Takes the values of an elastic matrix and adds to its diagonal.
    pub(super) fn fill(&mut self, elastic: &[f64], inertia: &[f64]) {
        let (starts, nodes) = (&self.starts, &self.nodes);
        let (sources, own_sources) = (&self.sources, &self.own_sources);
        // Rows of a chunk are together, so each task has its own run of blocks.
        let mut rest = self.blocks.as_mut_slice();
        let mut parts = Vec::new();
        for (chunk, diagonal) in self.own.chunks_mut(CHUNK).enumerate() {
            let from = chunk * CHUNK;
            let to = from + diagonal.len();
            let (blocks, others) = rest.split_at_mut((starts[to] - starts[from]) * ENTRIES);
            rest = others;
            parts.push((from..to, blocks, diagonal));
        }
        parallel::for_chunks(&mut parts, 1, |_, part| {
            for (range, blocks, diagonal) in part {
                let mut blocks = blocks.chunks_exact_mut(ENTRIES);
                for (p, own) in range.clone().zip(diagonal.iter_mut()) {
                    *own = own_sources[p].read(elastic, true);
                    for c in 0..usize::from(nodes[p].1) {
                        own[(c, c)] += inertia[nodes[p].0 as usize + c];
                    }
                    for (source, block) in sources[starts[p]..starts[p + 1]].iter().zip(&mut blocks)
                    {
                        let exact = source.read(elastic, false);
                        for (kept, value) in block.iter_mut().zip(exact.iter()) {
                            *kept = *value as f32;
                        }
                        // Only what moves with everything else has a sum to keep.
                        if source.sizes == [3, 3] {
                            let kept = Matrix::<3, 3>::from_fn(|r, c| f64::from(block[3 * c + r]));
                            *own += exact - kept;
                        }
                    }
                }
            }
        });
    }

    /// The block of a node with itself.
    pub(super) fn diagonal(&self, p: usize) -> &Matrix<3, 3> {
        &self.own[p]
    }

    /// How many unknowns a node has, and where they begin.
    pub(super) fn unknowns(&self, p: usize) -> std::ops::Range<usize> {
        let (first, size) = self.nodes[p];
        first as usize..first as usize + usize::from(size)
    }

    /// Mean over the nodes of their stiffness, in all directions together, over the inertia of one of their unknowns, both \[N/m\].
    pub(super) fn stiffness_over(&self, inertia: impl Fn(usize) -> f64) -> f64 {
        let ratio = |p: usize| self.diagonal(p).trace() / inertia(self.nodes[p].0 as usize);
        (0..self.len()).map(ratio).sum::<f64>() / self.len().max(1) as f64
    }

    /// Rows of A x from `first` on, as many as there is room for.
    pub(super) fn product(&self, first: usize, x: &[Vector<3>], rows: &mut [Vector<3>]) {
        if let Err(product) = wide(Product { matrix: self, first, x, rows }) {
            product.run();
        }
    }

    /// What is known at the nodes, at their unknowns.
    pub(super) fn scatter(&self, from: &[Vector<3>], to: &mut [f64]) {
        for (p, from) in from.iter().enumerate() {
            for (c, i) in self.unknowns(p).enumerate() {
                to[i] = from[c];
            }
        }
    }
}

impl Source {
    /// The block, filled up with zeros. Of one that is on the diagonal only the lower half is stored.
    fn read(&self, elastic: &[f64], diagonal: bool) -> Matrix<3, 3> {
        let mut block = Matrix::zeros();
        let [rows, columns] = self.sizes.map(usize::from);
        for c in 0..columns {
            for r in 0..rows {
                let stored = if self.flipped || (diagonal && r < c) { (c, r) } else { (r, c) };
                block[(r, c)] = elastic[self.starts[stored.1] as usize + stored.0];
            }
        }
        block
    }
}

/// Some rows of A x.
struct Product<'a> {
    matrix: &'a Blocked,
    first: usize,
    x: &'a [Vector<3>],
    rows: &'a mut [Vector<3>],
}

impl Product<'_> {
    /// Four numbers at a time, of which the last belongs to the next column and is forgotten.
    #[inline(always)]
    fn run(self) {
        let Blocked { starts, columns, blocks, own, .. } = self.matrix;
        for (row, p) in self.rows.iter_mut().zip(self.first..) {
            let range = starts[p]..starts[p + 1];
            let mut sum = [0.0f64; 4];
            let entries = &blocks[range.start * ENTRIES..range.end * ENTRIES + 4];
            for (k, &q) in columns[range].iter().enumerate() {
                let x = &self.x[q as usize];
                let block = &entries[k * ENTRIES..k * ENTRIES + ENTRIES + 1];
                for c in 0..3 {
                    for r in 0..4 {
                        sum[r] += f64::from(block[3 * c + r]) * x[c];
                    }
                }
            }
            *row = own[p] * self.x[p] + Vector::<3>::new(sum[0], sum[1], sum[2]);
        }
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.run();
    }
}
