//! The matrix of a stage by rows of blocks, to be multiplied with many times and never factorised.

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
    /// Blocks of node p are `starts[p]..starts[p + 1]`, its own first.
    starts: Vec<usize>,
    columns: Vec<u32>,
    sources: Vec<Source>,
    blocks: Vec<Matrix<3, 3>>,
}

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
        let (mut columns, mut sources) = (Vec::new(), Vec::new());
        for (p, &u) in order.iter().enumerate() {
            let u = u as usize;
            columns.push(p as u32);
            sources.push(source(u, u));
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
            blocks: vec![Matrix::zeros(); columns.len()],
            node_at,
            starts,
            columns,
            sources,
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
        let (starts, sources, nodes) = (&self.starts, &self.sources, &self.nodes);
        // Rows of a chunk are together, so each task has its own run of blocks.
        let mut rest = self.blocks.as_mut_slice();
        let mut parts = Vec::new();
        for from in (0..nodes.len()).step_by(CHUNK) {
            let to = (from + CHUNK).min(nodes.len());
            let (own, others) = rest.split_at_mut(starts[to] - starts[from]);
            rest = others;
            parts.push((from..to, own));
        }
        parallel::for_chunks(&mut parts, 1, |_, part| {
            for (range, blocks) in part {
                let base = starts[range.start];
                for p in range.clone() {
                    for k in starts[p]..starts[p + 1] {
                        let block = &mut blocks[k - base];
                        let source = &sources[k];
                        let own = k == starts[p];
                        let [rows, columns] = source.sizes.map(usize::from);
                        for c in 0..columns {
                            for r in 0..rows {
                                let (r, c, to) = if source.flipped || (own && r < c) {
                                    (c, r, (r, c))
                                } else {
                                    (r, c, (r, c))
                                };
                                block[to] = elastic[source.starts[c] as usize + r];
                            }
                        }
                        if own {
                            for c in 0..rows {
                                block[(c, c)] += inertia[nodes[p].0 as usize + c];
                            }
                        }
                    }
                }
            }
        });
    }

    /// The block of a node with itself.
    pub(super) fn diagonal(&self, p: usize) -> &Matrix<3, 3> {
        &self.blocks[self.starts[p]]
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

    /// Row p of A x.
    pub(super) fn product(&self, p: usize, x: &[Vector<3>]) -> Vector<3> {
        let range = self.starts[p]..self.starts[p + 1];
        let mut sum = Vector::<3>::zeros();
        for (block, &q) in self.blocks[range.clone()].iter().zip(&self.columns[range]) {
            sum += block * x[q as usize];
        }
        sum
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
