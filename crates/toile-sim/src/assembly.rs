//! From stencils to global gradient and Hessian: owner computes.
//!
//! The unknowns are cut into ranges; each range is one task that visits, in order, all stencils touching
//! it and keeps only what falls into its own rows (gradient) or columns (Hessian). Stencils on a cut
//! are computed twice. In return there is nothing to synchronise, and every entry is summed in the
//! order of the stencils: the bits depend neither on the number of threads nor on the cuts.

use std::sync::Arc;

use rayon::prelude::*;
use toile_energy::Curvature;
use toile_solve::{NodeGraph, Ordering, SolveError, SymmetricPattern, elimination_order};

use crate::State;
use crate::stencils::{NO_NODE, Sink, Stencils};

/// About this many unknowns make one task: large enough that few stencils lie on a cut, small
/// enough that two cores always have work.
const UNKNOWNS_PER_TASK: usize = 8000;

/// A pair of stencil nodes whose block lies in the upper triangle, or is absent.
const NOWHERE: u32 = u32::MAX;

/// Where the stencils of one group go.
struct Scatter {
    /// For each stencil and ordered pair (row node, column node): index in the values of the first
    /// entry of the block, or [`NOWHERE`].
    slots: Vec<u32>,
    /// For each task, the stencils that touch it, in order.
    elements: Vec<Vec<u32>>,
}

/// Pattern, elimination order and scatter maps of a fixed set of stencils.
pub(crate) struct Assembly {
    /// Lower triangle of the Hessian, in elimination order.
    pub(crate) pattern: Arc<SymmetricPattern>,
    /// First unknown of each node.
    pub(crate) first: Vec<usize>,
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
        let mut pairs = Vec::new();
        for group in groups.iter().filter(|g| !g.is_linear()) {
            for e in 0..group.len() {
                let nodes = group.nodes(e);
                for (i, &a) in nodes.iter().enumerate() {
                    for &b in &nodes[..i] {
                        if a != NO_NODE && b != NO_NODE && a != b {
                            pairs.push((a, b));
                        }
                    }
                }
            }
        }
        let graph = NodeGraph::from_pairs(sizes.clone(), pairs)?;
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
        Ok(Self { pattern: Arc::new(pattern), first, sizes, scatters, tasks })
    }

    /// Σ scale · ∂E/∂x over the groups, written to `out`.
    pub(crate) fn gradient(
        &self,
        groups: &[Box<dyn Stencils>],
        scales: &[f64],
        state: &State,
        out: &mut [f64],
    ) {
        self.split(out, |t| self.tasks[t]).into_par_iter().enumerate().for_each(|(t, rows)| {
            rows.fill(0.0);
            for (g, group) in groups.iter().enumerate() {
                let mut sink = GradientSink {
                    group: &**group,
                    first: &self.first,
                    begin: self.tasks[t],
                    rows,
                    scale: scales[g],
                };
                group.gradient(state, &self.first, &self.scatters[g].elements[t], &mut sink);
            }
        });
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
        self.split(values, start).into_par_iter().enumerate().for_each(|(t, values)| {
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
                    group: &**group,
                    assembly: self,
                    slots: &self.scatters[g].slots,
                    columns: self.tasks[t]..self.tasks[t + 1],
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
            for &row in nodes {
                for &column in nodes {
                    let lower = row != NO_NODE
                        && column != NO_NODE
                        && first[row as usize] >= first[column as usize];
                    let slot = lower
                        .then(|| pattern.position(first[row as usize], first[column as usize]))
                        .flatten();
                    slots.push(slot.map_or(NOWHERE, |s| s as u32));
                }
            }
        }
        Self { slots, elements }
    }
}

struct GradientSink<'a> {
    group: &'a dyn Stencils,
    first: &'a [usize],
    begin: usize,
    rows: &'a mut [f64],
    scale: f64,
}

impl Sink for GradientSink<'_> {
    fn take(&mut self, element: usize, block: &[f64]) {
        let mut at = 0;
        for (&node, &size) in self.group.nodes(element).iter().zip(self.group.node_sizes()) {
            let size = size as usize;
            if node != NO_NODE {
                let begin = self.first[node as usize];
                if begin >= self.begin && begin < self.begin + self.rows.len() {
                    let rows = &mut self.rows[begin - self.begin..][..size];
                    for (row, value) in rows.iter_mut().zip(&block[at..at + size]) {
                        *row += self.scale * value;
                    }
                }
            }
            at += size;
        }
    }
}

struct HessianSink<'a> {
    group: &'a dyn Stencils,
    assembly: &'a Assembly,
    slots: &'a [u32],
    columns: std::ops::Range<usize>,
    offset: usize,
    values: &'a mut [f64],
    fixed: &'a [bool],
    /// Nodes with a fixed unknown.
    held: &'a [bool],
    scale: f64,
}

impl Sink for HessianSink<'_> {
    fn take(&mut self, element: usize, block: &[f64]) {
        let (first, col_ptr) = (&self.assembly.first, &self.assembly.pattern.col_ptr);
        let (nodes, sizes) = (self.group.nodes(element), self.group.node_sizes());
        let count = nodes.len();
        let dimension: usize = sizes.iter().map(|&s| s as usize).sum();
        let slots = &self.slots[element * count * count..][..count * count];
        let mut column_at = 0;
        for j in 0..count {
            let column_size = sizes[j] as usize;
            let local_column = column_at;
            column_at += column_size;
            if nodes[j] == NO_NODE || !self.columns.contains(&first[nodes[j] as usize]) {
                continue;
            }
            let column = first[nodes[j] as usize];
            let mut row_at = 0;
            for i in 0..count {
                let row_size = sizes[i] as usize;
                let local_row = row_at;
                row_at += row_size;
                let slot = slots[i * count + j];
                if slot == NOWHERE {
                    continue;
                }
                let diagonal = nodes[i] == nodes[j];
                let row = first[nodes[i] as usize];
                let checked = self.held[nodes[i] as usize] || self.held[nodes[j] as usize];
                if row_size == 3 && column_size == 3 && !diagonal && !checked {
                    // Nearly all blocks are this one.
                    for c in 0..3 {
                        let at =
                            slot as usize - col_ptr[column] + col_ptr[column + c] - c - self.offset;
                        let target = &mut self.values[at..at + 3];
                        let source = &block[(local_column + c) * dimension + local_row..][..3];
                        target[0] += self.scale * source[0];
                        target[1] += self.scale * source[1];
                        target[2] += self.scale * source[2];
                    }
                    continue;
                }
                for c in 0..column_size {
                    if checked && self.fixed[column + c] {
                        continue;
                    }
                    // Later columns of a node lack the entries above their diagonal.
                    let skip = if diagonal { c } else { 0 };
                    let at =
                        slot as usize - col_ptr[column] + col_ptr[column + c] - c - self.offset;
                    let target = &mut self.values[at + skip..at + row_size];
                    let source =
                        &block[(local_column + c) * dimension + local_row..][skip..row_size];
                    if checked {
                        for (r, (t, s)) in target.iter_mut().zip(source).enumerate() {
                            if !self.fixed[row + skip + r] {
                                *t += self.scale * s;
                            }
                        }
                    } else {
                        for (t, s) in target.iter_mut().zip(source) {
                            *t += self.scale * s;
                        }
                    }
                }
            }
        }
    }
}
