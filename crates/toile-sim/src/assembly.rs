//! From stencils to global gradient and Hessian: owner computes.
//!
//! The unknowns are cut into ranges; each range is one task that visits, in order, all stencils touching
//! it and keeps only what falls into its own rows (gradient) or columns (Hessian). Stencils on a cut
//! are computed twice. In return there is nothing to synchronise, and every entry is summed in the
//! order of the stencils: the bits depend neither on the number of threads nor on the cuts.

use std::sync::Arc;

use toile_energy::Curvature;
use toile_num::parallel::for_chunks;
use toile_solve::{NodeGraph, Ordering, SolveError, SymmetricPattern, elimination_order};

use crate::State;
use crate::mixed::{MixedPattern, MixedSink};
use crate::stencils::{NO_NODE, Stencils};

/// About this many unknowns make one task: large enough that few stencils lie on a cut, small
/// enough that two cores always have work.
const UNKNOWNS_PER_TASK: usize = 8000;

/// A pair of stencil nodes of which one is absent.
const NOWHERE: u32 = u32::MAX;

/// Where the block of two nodes is in the lower triangle.
#[derive(Clone, Copy)]
struct Slot {
    /// Index in the values of the first entry of each column of the block; the diagonal block has its lower triangle only.
    /// [`NOWHERE`] for what is absent.
    starts: [u32; 3],
    /// Whether the rows of the block are those of the second node.
    flipped: bool,
}

/// Where the stencils of one group go.
struct Scatter {
    /// For each stencil and pair of its nodes (i, j ≤ i), row by row.
    slots: Vec<Slot>,
    /// For each task, the stencils that touch it, in order.
    elements: Vec<Vec<u32>>,
}

/// Pattern, elimination order and scatter maps of a fixed set of stencils.
pub(crate) struct Assembly {
    /// Lower triangle of the Hessian, in elimination order.
    pub(crate) pattern: Arc<SymmetricPattern>,
    /// First unknown of each node.
    pub(crate) first: Vec<usize>,
    /// Which nodes share a stencil.
    pub(crate) graph: NodeGraph,
    /// Which nodes the stiff part of a stencil joins.
    pub(crate) core: NodeGraph,
    sizes: Vec<u8>,
    scatters: Vec<Scatter>,
    /// Bounds of the tasks: unknowns `tasks[t]..tasks[t + 1]`.
    tasks: Vec<usize>,
}

impl Assembly {
    pub(crate) fn new(
        sizes: Vec<u8>,
        groups: &[Box<dyn Stencils>],
        ordering: Ordering,
    ) -> Result<Self, SolveError> {
        let (mut pairs, mut stiff) = (Vec::new(), Vec::new());
        for group in groups.iter().filter(|g| !g.is_linear()) {
            for e in 0..group.len() {
                let nodes = group.nodes(e);
                for (i, &a) in nodes.iter().enumerate() {
                    for &b in &nodes[..i] {
                        if a != NO_NODE && b != NO_NODE && a != b {
                            pairs.push((a, b));
                            if i < group.core() {
                                stiff.push((a, b));
                            }
                        }
                    }
                }
            }
        }
        let graph = NodeGraph::from_pairs(sizes.clone(), pairs)?;
        let core = NodeGraph::from_pairs(sizes.clone(), stiff)?;
        let order = elimination_order(&graph, ordering);
        let (pattern, first) = SymmetricPattern::from_node_graph(&graph, &order)?;

        // Cuts between nodes, at about equal numbers of unknowns.
        let mut tasks = vec![0];
        for &node in &order {
            let begin = first[node as usize];
            if begin - tasks[tasks.len() - 1] >= UNKNOWNS_PER_TASK {
                tasks.push(begin);
            }
        }
        tasks.push(pattern.n);

        let scatters: Vec<Scatter> =
            groups.iter().map(|g| Scatter::new(&**g, &pattern, &first, &tasks)).collect();
        Ok(Self { pattern: Arc::new(pattern), first, graph, core, sizes, scatters, tasks })
    }

    /// Σ scale · ∂E/∂x over the groups, written to `out`; returns Σ scale · E if that is asked for, else zero.
    pub(crate) fn gradient(
        &self,
        groups: &[Box<dyn Stencils>],
        scales: &[f64],
        state: &State,
        with_energy: bool,
        out: &mut [f64],
    ) -> f64 {
        let parts = self.split(out, |t| self.tasks[t]);
        let mut parts: Vec<(&mut [f64], f64)> = parts.into_iter().map(|rows| (rows, 0.0)).collect();
        for_chunks(&mut parts, 1, |t, part| {
            let (rows, energy) = &mut part[0];
            rows.fill(0.0);
            for (g, group) in groups.iter().enumerate() {
                let mut sink = GradientSink {
                    first: &self.first,
                    begin: self.tasks[t],
                    rows,
                    scale: scales[g],
                    energy: with_energy.then_some(0.0),
                };
                group.gradient(state, &self.first, &self.scatters[g].elements[t], &mut sink);
                *energy += sink.energy.unwrap_or(0.0);
            }
        });
        parts.iter().map(|(_, energy)| energy).sum()
    }

    /// Σ scale · ∂²E/∂x² over the groups into the values of the pattern. Rows and columns of
    /// fixed unknowns are those of the identity.
    pub(crate) fn hessian(
        &self,
        groups: &[Box<dyn Stencils>],
        scales: &[f64],
        state: &State,
        before: Option<&State>,
        curvature: Curvature,
        fixed: &[bool],
        values: &mut [f64],
    ) {
        let start = |t: usize| self.pattern.col_ptr[self.tasks[t]];
        let held: Vec<bool> = (0..self.first.len())
            .map(|node| {
                let begin = self.first[node];
                fixed[begin..begin + self.sizes[node] as usize].contains(&true)
            })
            .collect();
        for_chunks(&mut self.split(values, start), 1, |t, part| {
            let values = &mut *part[0];
            values.fill(0.0);
            let offset = start(t);
            for column in self.tasks[t]..self.tasks[t + 1] {
                if fixed[column] {
                    values[self.pattern.col_ptr[column] - offset] = 1.0;
                }
            }
            for (g, group) in groups.iter().enumerate() {
                if group.is_linear() {
                    continue;
                }
                let mut sink = HessianSink {
                    assembly: self,
                    slots: &self.scatters[g].slots,
                    offset,
                    values,
                    fixed,
                    held: &held,
                    scale: scales[g],
                };
                let elements = &self.scatters[g].elements[t];
                group.hessian(state, &self.first, elements, before, curvature, &mut sink);
            }
        });
    }

    /// Σ scale · ∂²E/∂x∂x̄ over the groups into the values of the pattern.
    pub(crate) fn mixed_hessian(
        &self,
        groups: &[Box<dyn Stencils>],
        scales: &[f64],
        state: &State,
        rest: &State,
        pattern: &MixedPattern,
        values: &mut [f64],
    ) {
        assert_eq!(values.len(), pattern.nnz(), "one value per entry");
        let start = |t: usize| pattern.col_ptr[self.tasks[t]];
        for_chunks(&mut self.split(values, start), 1, |t, part| {
            let values = &mut *part[0];
            values.fill(0.0);
            for (g, group) in groups.iter().enumerate() {
                let mut sink = MixedSink {
                    group: &**group,
                    first: &self.first,
                    columns: self.tasks[t]..self.tasks[t + 1],
                    pattern,
                    offset: start(t),
                    values,
                    scale: scales[g],
                };
                let elements = &self.scatters[g].elements[t];
                group.mixed_hessian(state, rest, &self.first, elements, &mut sink);
            }
        });
    }

    /// Cuts an array at `start(task)`.
    fn split<'a>(
        &self,
        mut array: &'a mut [f64],
        start: impl Fn(usize) -> usize,
    ) -> Vec<&'a mut [f64]> {
        let mut parts = Vec::with_capacity(self.tasks.len() - 1);
        for t in 0..self.tasks.len() - 1 {
            let (part, rest) = array.split_at_mut(start(t + 1) - start(t));
            parts.push(part);
            array = rest;
        }
        parts
    }
}

impl Scatter {
    fn new(
        group: &dyn Stencils,
        pattern: &SymmetricPattern,
        first: &[usize],
        tasks: &[usize],
    ) -> Self {
        let mut slots = Vec::new();
        let mut elements = vec![Vec::new(); tasks.len() - 1];
        for e in 0..group.len() {
            let nodes = group.nodes(e);
            for &node in nodes {
                if node == NO_NODE {
                    continue;
                }
                let task = tasks.partition_point(|&t| t <= first[node as usize]) - 1;
                let list: &mut Vec<u32> = &mut elements[task];
                if list.last() != Some(&(e as u32)) {
                    list.push(e as u32);
                }
            }
            if group.is_linear() {
                continue;
            }
            for (i, &a) in nodes.iter().enumerate() {
                for &b in &nodes[..=i] {
                    let mut slot = Slot { starts: [NOWHERE; 3], flipped: false };
                    if a != NO_NODE && b != NO_NODE {
                        let (a, b) = (first[a as usize], first[b as usize]);
                        slot.flipped = a < b;
                        // The columns of a node have the same rows, each one fewer than the last.
                        let column = a.min(b);
                        for c in 0..3.min(pattern.n - column) {
                            let row = a.max(b).max(column + c);
                            let at = pattern.position(row, column + c);
                            slot.starts[c] = at.map_or(NOWHERE, |at| at as u32);
                        }
                    }
                    slots.push(slot);
                }
            }
        }
        Self { slots, elements }
    }
}

/// Receives the gradients of one group.
pub(crate) struct GradientSink<'a> {
    first: &'a [usize],
    begin: usize,
    rows: &'a mut [f64],
    scale: f64,
    /// Sum of the energies, where they are asked for.
    energy: Option<f64>,
}

impl GradientSink<'_> {
    /// Whether the energy of a stencil with this first node is to be counted: only by the task the node belongs to.
    pub(crate) fn counts(&self, node: u32) -> bool {
        self.energy.is_some()
            && self.first[node as usize].wrapping_sub(self.begin) < self.rows.len()
    }

    pub(crate) fn count(&mut self, energy: f64) {
        if let Some(sum) = &mut self.energy {
            *sum += self.scale * energy;
        }
    }

    /// Adds the gradient of a stencil, every `STRIDE`-th number of `block`.
    #[inline(always)]
    pub(crate) fn take<const K: usize, const STRIDE: usize>(
        &mut self,
        nodes: &[u32; K],
        sizes: &'static [u8],
        block: &[f64],
    ) {
        let mut at = 0;
        for (&node, &size) in nodes.iter().zip(sizes) {
            let size = size as usize;
            if node != NO_NODE {
                // Below the first row of the task this wraps to a large number.
                let row = self.first[node as usize].wrapping_sub(self.begin);
                if row < self.rows.len() {
                    for (k, row) in self.rows[row..][..size].iter_mut().enumerate() {
                        *row += self.scale * block[(at + k) * STRIDE];
                    }
                }
            }
            at += size;
        }
    }
}

/// Receives the Hessians of one group.
pub(crate) struct HessianSink<'a> {
    assembly: &'a Assembly,
    slots: &'a [Slot],
    offset: usize,
    values: &'a mut [f64],
    fixed: &'a [bool],
    /// Nodes with a fixed unknown.
    held: &'a [bool],
    scale: f64,
}

impl HessianSink<'_> {
    /// Adds the block of two nodes with fixed unknowns, of other sizes than three, or that are the same node.
    ///
    /// `entry(r, c)` is the entry in row r of the node with the rows and column c of the other.
    fn add_any(
        &mut self,
        starts: &[u32; 3],
        [row, column]: [usize; 2],
        [row_size, column_size]: [usize; 2],
        entry: impl Fn(usize, usize) -> f64,
    ) {
        for c in 0..column_size {
            if self.fixed[column + c] {
                continue;
            }
            let at = starts[c] as usize - self.offset;
            // Later columns of a node lack the entries above their diagonal.
            let skip = if row == column { c } else { 0 };
            for r in skip..row_size {
                if !self.fixed[row + r] {
                    self.values[at + r - skip] += self.scale * entry(r, c);
                }
            }
        }
    }

    /// Adds the N × N Hessian of stencil `element`, of which only the lower triangle is read. Its entries lie in `block` by
    /// columns, every `STRIDE`-th number.
    #[inline(always)]
    pub(crate) fn take<const N: usize, const K: usize, const STRIDE: usize>(
        &mut self,
        element: usize,
        nodes: &[u32; K],
        sizes: &'static [u8],
        block: &[f64],
    ) {
        let pairs = K * (K + 1) / 2;
        let slots = &self.slots[element * pairs..][..pairs];
        let checked = nodes.iter().any(|&n| n != NO_NODE && self.held[n as usize]);
        let (scale, offset) = (self.scale, self.offset);
        let (mut pair, mut row_at) = (0, 0);
        for i in 0..K {
            let row_size = sizes[i] as usize;
            let mut column_at = 0;
            for j in 0..=i {
                let column_size = sizes[j] as usize;
                let Slot { starts, flipped } = slots[pair];
                // First entry of the block in the stencil's matrix.
                let from = column_at * N + row_at;
                let entry = |p: usize, q: usize| block[(from + q * N + p) * STRIDE];
                pair += 1;
                column_at += column_size;
                // What is absent or belongs to another task lies outside.
                if (starts[0] as usize).wrapping_sub(offset) >= self.values.len() {
                    continue;
                }
                let mut add = |c: usize, entries: &[f64]| {
                    let at = starts[c] as usize - offset;
                    for (value, e) in self.values[at..][..entries.len()].iter_mut().zip(entries) {
                        *value += scale * e;
                    }
                };
                let simple = !checked && (i == j || nodes[i] != nodes[j]);
                if simple && row_size == 3 && column_size == 3 {
                    // Nearly all blocks are these.
                    let column = |q: usize| {
                        let c = &block[(from + q * N) * STRIDE..][..2 * STRIDE + 1];
                        [c[0], c[STRIDE], c[2 * STRIDE]]
                    };
                    let mut c = [column(0), column(1), column(2)];
                    if flipped {
                        c = [0, 1, 2].map(|p| [c[0][p], c[1][p], c[2][p]]);
                    }
                    let skip = usize::from(i == j);
                    add(0, &c[0]);
                    add(1, &c[1][skip..]);
                    add(2, &c[2][2 * skip..]);
                } else if simple && row_size == 1 && column_size == 3 {
                    let row = [0, 1, 2].map(|q| entry(0, q));
                    if flipped {
                        add(0, &row);
                    } else {
                        add(0, &row[..1]);
                        add(1, &row[1..2]);
                        add(2, &row[2..]);
                    }
                } else if simple && row_size == 1 && column_size == 1 {
                    add(0, &[entry(0, 0)]);
                } else {
                    let [a, b] = [i, j].map(|k| self.assembly.first[nodes[k] as usize]);
                    if a > b {
                        self.add_any(&starts, [a, b], [row_size, column_size], entry);
                    } else if a < b {
                        let turned = |r, c| entry(c, r);
                        self.add_any(&starts, [b, a], [column_size, row_size], turned);
                    } else if i == j {
                        self.add_any(&starts, [a, a], [row_size, row_size], entry);
                    } else {
                        // One node in two places of the stencil: both halves fall on its diagonal block.
                        let both = |p, q| entry(p, q) + entry(q, p);
                        self.add_any(&starts, [a, a], [row_size, row_size], both);
                    }
                }
            }
            row_at += row_size;
        }
    }
}
