//! How forces change with the rest shape: ∂²E/∂x∂x̄ of a whole model.
//!
//! The matrix is not symmetric, so it has a pattern of its own: all nodes that share a stencil, both ways.
//! Columns are rest coordinates; each belongs to one task of the assembly, as the columns of the Hessian do.

use std::ops::Range;

use toile_solve::NodeGraph;

use crate::stencils::{NO_NODE, Stencils};

/// Compressed columns of ∂²E/∂x∂x̄: rows are unknowns, columns their rest values.
///
/// All columns of a node have the same rows: the node's own and those of its neighbours, in increasing order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedPattern {
    /// Column j occupies `col_ptr[j]..col_ptr[j + 1]`.
    pub col_ptr: Vec<usize>,
    /// Row of each entry.
    pub row_idx: Vec<usize>,
}

impl MixedPattern {
    pub(crate) fn new(graph: &NodeGraph, first: &[usize]) -> Self {
        let mut order: Vec<usize> = (0..graph.len()).collect();
        order.sort_unstable_by_key(|&v| first[v]);
        let mut col_ptr = vec![0];
        let mut row_idx = Vec::new();
        let mut near: Vec<usize> = Vec::new();
        for &v in &order {
            near.clear();
            near.push(v);
            near.extend(graph.neighbours(v).iter().map(|&u| u as usize));
            near.sort_unstable_by_key(|&u| first[u]);
            for _ in 0..graph.sizes[v] {
                for &u in &near {
                    row_idx.extend(first[u]..first[u] + graph.sizes[u] as usize);
                }
                col_ptr.push(row_idx.len());
            }
        }
        Self { col_ptr, row_idx }
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }

    /// Index in the value array of entry (row, column), if it is stored.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let begin = *self.col_ptr.get(column)?;
        let end = *self.col_ptr.get(column + 1)?;
        let offset = self.row_idx[begin..end].binary_search(&row).ok()?;
        Some(begin + offset)
    }

    /// `out` ← A v. Panics on wrong lengths.
    pub fn multiply(&self, values: &[f64], v: &[f64], out: &mut [f64]) {
        assert_eq!(v.len() + 1, self.col_ptr.len());
        out.fill(0.0);
        for (j, &factor) in v.iter().enumerate() {
            for k in self.col_ptr[j]..self.col_ptr[j + 1] {
                out[self.row_idx[k]] += values[k] * factor;
            }
        }
    }

    /// `out` ← Aᵀ v. Panics on wrong lengths.
    pub fn multiply_transposed(&self, values: &[f64], v: &[f64], out: &mut [f64]) {
        assert_eq!(out.len() + 1, self.col_ptr.len());
        for (j, sum) in out.iter_mut().enumerate() {
            let range = self.col_ptr[j]..self.col_ptr[j + 1];
            *sum = range.map(|k| values[k] * v[self.row_idx[k]]).sum();
        }
    }
}

/// Receives the mixed Hessians of one group and keeps the columns of one task.
pub(crate) struct MixedSink<'a> {
    pub(crate) group: &'a dyn Stencils,
    pub(crate) first: &'a [usize],
    pub(crate) columns: Range<usize>,
    pub(crate) pattern: &'a MixedPattern,
    /// Entries before those of the task.
    pub(crate) offset: usize,
    pub(crate) values: &'a mut [f64],
    pub(crate) scale: f64,
}

impl MixedSink<'_> {
    /// Adds the mixed Hessian of stencil `element`, by columns.
    pub(crate) fn take(&mut self, element: usize, block: &[f64]) {
        let (nodes, sizes) = (self.group.nodes(element), self.group.node_sizes());
        let dimension: usize = sizes.iter().map(|&s| s as usize).sum();
        let mut column_at = 0;
        for (&b, &column_size) in nodes.iter().zip(sizes) {
            let column_size = column_size as usize;
            let from = column_at;
            column_at += column_size;
            if b == NO_NODE || !self.columns.contains(&self.first[b as usize]) {
                continue;
            }
            let column = self.first[b as usize];
            let mut row_at = 0;
            for (&a, &row_size) in nodes.iter().zip(sizes) {
                let row_size = row_size as usize;
                let row_from = row_at;
                row_at += row_size;
                if a == NO_NODE {
                    continue;
                }
                let begin = self.pattern.col_ptr[column];
                let end = self.pattern.col_ptr[column + 1];
                let rows = &self.pattern.row_idx[begin..end];
                let Ok(at) = rows.binary_search(&self.first[a as usize]) else {
                    // Only loads may join nodes that no elastic stencil joins; nothing weighs there.
                    debug_assert!(self.group.is_linear(), "a stencil outside the pattern");
                    continue;
                };
                for c in 0..column_size {
                    let to = self.pattern.col_ptr[column + c] + at - self.offset;
                    let entries = &block[(from + c) * dimension + row_from..][..row_size];
                    for (value, e) in self.values[to..][..row_size].iter_mut().zip(entries) {
                        *value += self.scale * e;
                    }
                }
            }
        }
    }
}
