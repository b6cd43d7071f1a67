//! Where the entries of a symmetric matrix live.

use crate::error::check_length;
use crate::{NodeGraph, SolveError};

/// Lower triangle (diagonal included) of a symmetric matrix in compressed columns, rows sorted,
/// already in elimination order: the caller assembles in that order and a factorisation permutes
/// nothing.
///
/// Every column starts with its diagonal, stored even where it is zero (as in the constraint rows
/// of a saddle point). Indices are `usize`: that is the type the factorisation indexes with, so no
/// conversion happens on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymmetricPattern {
    /// Number of unknowns.
    pub n: usize,
    /// Column j occupies `col_ptr[j]..col_ptr[j + 1]`.
    pub col_ptr: Vec<usize>,
    /// Row of each entry.
    pub row_idx: Vec<usize>,
}

impl SymmetricPattern {
    /// A checked pattern, see [`SymmetricPattern::check`].
    pub fn new(n: usize, col_ptr: Vec<usize>, row_idx: Vec<usize>) -> Result<Self, SolveError> {
        let pattern = Self { n, col_ptr, row_idx };
        pattern.check()?;
        Ok(pattern)
    }

    /// Pattern of the matrix that couples every unknown of a node with every unknown of the node
    /// itself and of its neighbours, its nodes laid out in elimination order.
    ///
    /// Also returns the first unknown of each node, indexed by node: unknown `c` of node `v` is row
    /// `first[v] + c`. Fails when `order` is not a permutation of the nodes.
    pub fn from_node_graph(
        graph: &NodeGraph,
        order: &[u32],
    ) -> Result<(Self, Vec<usize>), SolveError> {
        graph.check()?;
        let nodes = graph.len();
        check_length("elimination order", order.len(), nodes)?;
        let mut first = vec![usize::MAX; nodes];
        let mut n = 0;
        for &v in order {
            let v = v as usize;
            if v >= nodes || first[v] != usize::MAX {
                return Err(SolveError::BadGraph {
                    node: v,
                    reason: "the elimination order repeats it, or it does not exist",
                });
            }
            first[v] = n;
            n += graph.sizes[v] as usize;
        }
        let mut col_ptr = Vec::with_capacity(n + 1);
        let mut row_idx = Vec::new();
        col_ptr.push(0);
        let mut later: Vec<(usize, usize)> = Vec::new();
        for &v in order {
            let v = v as usize;
            let (begin, size) = (first[v], graph.sizes[v] as usize);
            later.clear();
            later.extend(
                graph
                    .neighbours(v)
                    .iter()
                    .map(|&u| (first[u as usize], graph.sizes[u as usize] as usize))
                    .filter(|&(at, _)| at >= begin + size),
            );
            later.sort_unstable();
            for column in 0..size {
                row_idx.extend(begin + column..begin + size);
                for &(at, count) in &later {
                    row_idx.extend(at..at + count);
                }
                col_ptr.push(row_idx.len());
            }
        }
        Ok((Self { n, col_ptr, row_idx }, first))
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }

    /// Index in the value array of entry (row, column) of the lower triangle, if it is stored.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        position(&self.col_ptr, &self.row_idx, row, column)
    }

    /// Checks that columns are in range, sorted, strictly lower after a leading diagonal.
    pub fn check(&self) -> Result<(), SolveError> {
        check_columns(self.n, &self.col_ptr, &self.row_idx, |j, rows| {
            (rows.first() != Some(&j)).then_some(
                "the diagonal must be stored and come first (a missing one makes the matrix \
                 singular or indefinite; store an explicit zero in saddle points)",
            )
        })
    }

    /// y = A x, in one thread and one order.
    ///
    /// Panics when an array does not have the length of the pattern.
    pub fn multiply(&self, values: &[f64], x: &[f64], y: &mut [f64]) {
        assert_eq!(values.len(), self.nnz(), "one value per stored entry");
        assert_eq!(x.len(), self.n, "x has one entry per unknown");
        assert_eq!(y.len(), self.n, "y has one entry per unknown");
        y.fill(0.0);
        for j in 0..self.n {
            let (begin, end) = (self.col_ptr[j], self.col_ptr[j + 1]);
            let xj = x[j];
            let mut sum = values[begin] * xj;
            for (&i, &v) in self.row_idx[begin + 1..end].iter().zip(&values[begin + 1..end]) {
                y[i] += v * xj;
                sum += v * x[i];
            }
            y[j] += sum;
        }
    }

    /// ‖A‖∞, the largest sum of magnitudes in a row; NaN or infinite as soon as an entry is.
    ///
    /// `row_sums` is scratch of length n.
    pub fn norm_inf(&self, values: &[f64], row_sums: &mut [f64]) -> f64 {
        row_sums.fill(0.0);
        for j in 0..self.n {
            let (begin, end) = (self.col_ptr[j], self.col_ptr[j + 1]);
            let mut sum = values[begin].abs();
            for (&i, &v) in self.row_idx[begin + 1..end].iter().zip(&values[begin + 1..end]) {
                let magnitude = v.abs();
                row_sums[i] += magnitude;
                sum += magnitude;
            }
            row_sums[j] += sum;
        }
        // `f64::max` would drop a NaN.
        row_sums.iter().fold(
            0.0,
            |largest: f64, &sum| {
                if sum.is_nan() || sum > largest { sum } else { largest }
            },
        )
    }
}

/// Index of entry (row, column) in columns whose rows are sorted, if it is stored.
pub(crate) fn position(
    col_ptr: &[usize],
    row_idx: &[usize],
    row: usize,
    column: usize,
) -> Option<usize> {
    let begin = *col_ptr.get(column)?;
    let end = *col_ptr.get(column + 1)?;
    let offset = row_idx[begin..end].binary_search(&row).ok()?;
    Some(begin + offset)
}

/// Checks that columns are in range, sorted, without repetition, and what `also` finds wrong with one.
pub(crate) fn check_columns(
    n: usize,
    col_ptr: &[usize],
    row_idx: &[usize],
    also: impl Fn(usize, &[usize]) -> Option<&'static str>,
) -> Result<(), SolveError> {
    let bad = |column, reason| Err(SolveError::BadPattern { column, reason });
    if col_ptr.len() != n.saturating_add(1) || col_ptr[0] != 0 {
        return bad(n, "col_ptr must hold n + 1 offsets and start at 0");
    }
    if col_ptr[n] != row_idx.len() {
        return bad(n, "col_ptr does not end at the number of entries");
    }
    for j in 0..n {
        let (begin, end) = (col_ptr[j], col_ptr[j + 1]);
        if begin > end || end > row_idx.len() {
            return bad(j, "col_ptr decreases");
        }
        let rows = &row_idx[begin..end];
        if let Some(reason) = also(j, rows) {
            return bad(j, reason);
        }
        if rows.windows(2).any(|w| w[0] >= w[1]) {
            return bad(j, "rows are not sorted or repeat");
        }
        if rows.last().is_some_and(|&i| i >= n) {
            return bad(j, "a row lies beyond the matrix");
        }
    }
    Ok(())
}
