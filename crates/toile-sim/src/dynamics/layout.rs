//! Where the entries of a stage's matrix are, and its factorisation.

use std::sync::Arc;

use toile_num::Matrix;
use toile_solve::{
    Cholesky, Compliance, NodeGraph, Ordering, SolveError, SymmetricPattern,
    elimination_order_with_last,
};

use crate::{Model, SimError};

/// A block of three rows and columns in the values of a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// First unknown of the other node, in the numbering of the model.
    pub(super) other: usize,
    /// Where column c of the block starts in the values is `starts[c]`; the diagonal block has
    /// its lower triangle only.
    starts: [usize; 3],
    /// Whether what is stored is the transpose.
    flipped: bool,
}

/// A block of the elastic matrix that a layout has no place for, of the vertices i and j.
struct Dropped {
    /// Where its columns start in the elastic values.
    starts: [usize; 3],
    /// First unknowns of i and j.
    unknowns: [u32; 2],
    /// The diagonal blocks of i and j.
    own: [Block; 2],
    /// A vertex k next to both, if there is one: its diagonal block, and those it has with i and j.
    between: Option<[Block; 3]>,
}

/// Entries a layout has no place for.
const NOWHERE: u32 = u32::MAX;

/// Pattern, factor and neighbourhoods for one set of couplings.
pub(super) struct Layout {
    pub(super) pattern: Arc<SymmetricPattern>,
    cholesky: Cholesky,
    /// A second factor, of the same pattern.
    braced: Option<Cholesky>,
    /// Place of each unknown of the model, `None` when they are the same.
    place: Option<Vec<usize>>,
    /// Where each elastic entry goes, empty when they are the same.
    map: Vec<u32>,
    dropped: Vec<Dropped>,
    /// Sum of the sizes of the blocks dropped, by unknown of the model \[N/m\].
    pub(super) left_out: Vec<f64>,
    /// A, inertia included.
    pub(super) values: Vec<f64>,
    /// What is factorised.
    pub(super) held: Vec<f64>,
    /// First of the unknowns, as they are placed, that are eliminated last.
    pub(super) tail: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Layout {
    /// All entries of the model, where the model has them.
    pub(super) fn plain(model: &Model) -> Result<Self, SolveError> {
        Self::new(model.pattern().clone())
    }

    fn new(pattern: Arc<SymmetricPattern>) -> Result<Self, SolveError> {
        Ok(Self {
            cholesky: Cholesky::new(pattern.clone())?,
            braced: None,
            place: None,
            map: Vec::new(),
            dropped: Vec::new(),
            left_out: Vec::new(),
            values: vec![0.0; pattern.nnz()],
            held: vec![0.0; pattern.nnz()],
            tail: pattern.n,
            x: vec![0.0; pattern.n],
            y: vec![0.0; pattern.n],
            pattern,
        })
    }

    /// The entries of the pairs in `kept`, and room for more pairs of nodes; those in `last` are eliminated after all others.
    pub(super) fn over(
        model: &Model,
        kept: &NodeGraph,
        more: impl Iterator<Item = (u32, u32)>,
        ordering: Ordering,
        last: &[u32],
    ) -> Result<Self, SimError> {
        let lower = |graph: &NodeGraph| -> Vec<(u32, u32)> {
            (0..graph.len() as u32)
                .flat_map(|u| graph.neighbours(u as usize).iter().map(move |&v| (u, v)))
                .filter(|(u, v)| v < u)
                .collect()
        };
        // What is not between vertices is kept whatever it is.
        let vertex = |u: u32| kept.sizes[u as usize] == 3;
        let others = lower(model.graph()).into_iter().filter(|(u, v)| !vertex(*u) || !vertex(*v));
        let pairs = lower(kept).into_iter().chain(others).chain(more);
        let graph = NodeGraph::from_pairs(kept.sizes.clone(), pairs)?;
        let order = elimination_order_with_last(&graph, ordering, last);
        let (pattern, first) = SymmetricPattern::from_node_graph(&graph, &order)?;
        let (base, old_first, from) = (model.graph(), model.first_unknowns(), model.pattern());
        let mut map = vec![NOWHERE; from.nnz()];
        let mut missing = Vec::new();
        for u in 0..base.len() {
            let own = std::iter::once(u as u32);
            for v in base.neighbours(u).iter().copied().chain(own) {
                let v = v as usize;
                let old = [old_first[u], old_first[v]];
                if old[0] < old[1] {
                    continue; // the other order of the pair is stored
                }
                if u == v || graph.neighbours(u).binary_search(&(v as u32)).is_ok() {
                    let sizes = [base.sizes[u], base.sizes[v]].map(usize::from);
                    map_block(from, &pattern, sizes, old, [first[u], first[v]], &mut map);
                } else {
                    missing.push([u, v]);
                }
            }
        }
        let mut place = vec![usize::MAX; from.n];
        for (node, &size) in base.sizes.iter().enumerate() {
            for k in 0..size as usize {
                place[old_first[node] + k] = first[node] + k;
            }
        }
        let mut layout = Self::new(Arc::new(pattern))?;
        layout.place = Some(place);
        layout.map = map;
        layout.tail -= last.iter().map(|v| usize::from(kept.sizes[*v as usize])).sum::<usize>();
        if !missing.is_empty() {
            layout.left_out = vec![0.0; from.n];
        }
        let block = |u: usize, v: usize| layout.block(old_first[u], old_first[v]);
        let dropped = missing.iter().filter_map(|&[u, v]| {
            let shared = graph.neighbours(u).iter().map(|k| *k as usize).find(|&k| {
                base.sizes[k] == 3 && graph.neighbours(v).binary_search(&(k as u32)).is_ok()
            });
            let old = [old_first[u], old_first[v]];
            let offset = offset(from, old[0], old[1]);
            Some(Dropped {
                starts: std::array::from_fn(|c| from.col_ptr[old[1] + c] + offset - c),
                unknowns: old.map(|i| i as u32),
                own: [block(u, u)?, block(v, v)?],
                between: shared.and_then(|k| Some([block(k, k)?, block(u, k)?, block(v, k)?])),
            })
        });
        let dropped = dropped.collect();
        layout.dropped = dropped;
        Ok(layout)
    }

    /// Numbers in the factor.
    pub(super) fn entries(&self) -> usize {
        self.cholesky.factor_entries()
    }

    /// Where an unknown is in the matrix.
    pub(super) fn place(&self, unknown: usize) -> usize {
        self.place.as_ref().map_or(unknown, |place| place[unknown])
    }

    /// A ← elastic + inertia.
    ///
    /// A block B of vertices i and j without a place acts on their diagonals by BBᵀ/‖B‖ and BᵀB/‖B‖: B is nearly of rank one, b·n·mᵀ with
    /// the normals of both, so that A gains b(n·xᵢ − m·xⱼ)² and stays positive definite; where they go together it changes
    /// next to nothing (diagonally compensated reduction: Axelsson, Kolotilina 1994).
    pub(super) fn assemble(&mut self, elastic: &[f64], inertia: &[f64]) {
        if self.map.is_empty() {
            self.values.copy_from_slice(elastic);
        } else {
            self.values.fill(0.0);
            for (value, &at) in elastic.iter().zip(&self.map) {
                if at != NOWHERE {
                    self.values[at as usize] = *value;
                }
            }
        }
        self.left_out.fill(0.0);
        for dropped in &self.dropped {
            let column = |c: usize| &elastic[dropped.starts[c]..][..3];
            let block = Matrix::<3, 3>::from_fn(|r, c| column(c)[r]);
            let size = block.norm();
            if size == 0.0 {
                continue;
            }
            let mut mean = Matrix::<3, 3>::zeros();
            for (end, factor) in [block, block.transpose()].iter().enumerate() {
                let own = factor * factor.transpose() / size;
                mean += own * 0.5;
                add(&mut self.values, &dropped.own[end], &own, true);
                for left in &mut self.left_out[dropped.unknowns[end] as usize..][..3] {
                    *left += size;
                }
            }
            // Where they pull at each other it gains by way of k: 2(xᵢ − xₖ)² + 2(xₖ − xⱼ)² ≥ (xᵢ − xⱼ)².
            if block.trace() < 0.0
                && let Some([k, ik, jk]) = &dropped.between
            {
                add(&mut self.values, k, &(mean * 4.0), true);
                add(&mut self.values, ik, &(mean * -2.0), false);
                add(&mut self.values, jk, &(mean * -2.0), false);
            }
        }
        for (i, inertia) in inertia.iter().enumerate() {
            let at = self.pattern.col_ptr[self.place(i)];
            self.values[at] += inertia;
        }
    }

    /// Begins a matrix to be factorised: A, to which [`Layout::hold`] adds.
    pub(super) fn release(&mut self) {
        self.held.copy_from_slice(&self.values);
    }

    /// Adds a stiffness between two vertices to what will be factorised.
    pub(super) fn hold(&mut self, i: usize, j: usize, stiffness: &Matrix<3, 3>) {
        if let Some(block) = self.block(i, j) {
            add(&mut self.held, &block, stiffness, i == j);
        }
    }

    pub(super) fn factorize(&mut self) -> Result<(), SolveError> {
        self.cholesky.factorize(&self.held)
    }

    /// How the unknowns from the tail on yield, in what was factorised last.
    pub(super) fn compliance(&self) -> Result<Compliance, SolveError> {
        self.cholesky.compliance(self.tail)
    }

    /// Factorises what is held into the second factor.
    pub(super) fn factorize_braced(&mut self) -> Result<(), SolveError> {
        let braced = match self.braced.take() {
            Some(braced) => braced,
            None => Cholesky::new(self.pattern.clone())?,
        };
        self.braced.insert(braced).factorize(&self.held)
    }

    /// x ← A⁻¹x, of what was factorised last.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        solve_placed(&mut self.cholesky, self.place.as_deref(), &mut self.x, x);
    }

    /// The same by the second factor.
    pub(super) fn solve_braced(&mut self, x: &mut [f64]) {
        if let Some(braced) = &mut self.braced {
            solve_placed(braced, self.place.as_deref(), &mut self.x, x);
        }
    }

    /// y = A x.
    pub(super) fn multiply(&mut self, x: &[f64], y: &mut [f64]) {
        match &self.place {
            None => self.pattern.multiply(&self.values, x, y),
            Some(place) => {
                for (i, &at) in place.iter().enumerate() {
                    self.x[at] = x[i];
                }
                self.pattern.multiply(&self.values, &self.x, &mut self.y);
                for (i, &at) in place.iter().enumerate() {
                    y[i] = self.y[at];
                }
            }
        }
    }

    /// The block of the vertices at unknowns i and j.
    pub(super) fn block(&self, i: usize, j: usize) -> Option<Block> {
        let (to_i, to_j) = (self.place(i), self.place(j));
        let flipped = to_i < to_j;
        let (row, column) = if flipped { (to_j, to_i) } else { (to_i, to_j) };
        let at = self.pattern.position(row, column)?;
        let offset = at - self.pattern.col_ptr[column];
        let starts = std::array::from_fn(|c| self.pattern.col_ptr[column + c] + offset - c);
        Some(Block { other: j, starts, flipped })
    }

    pub(super) fn read(&self, block: &Block, diagonal: bool) -> Matrix<3, 3> {
        let mut m = Matrix::<3, 3>::zeros();
        for c in 0..3 {
            let skip = if diagonal { c } else { 0 };
            for r in skip..3 {
                let value = self.values[block.starts[c] + r];
                if block.flipped {
                    m[(c, r)] = value;
                } else {
                    m[(r, c)] = value;
                }
                if diagonal {
                    m[(c, r)] = value;
                }
            }
        }
        m
    }
}

/// x ← A⁻¹x for unknowns that are placed elsewhere.
fn solve_placed(cholesky: &mut Cholesky, place: Option<&[usize]>, y: &mut [f64], x: &mut [f64]) {
    let Some(place) = place else {
        return cholesky.apply_inverse(x);
    };
    for (i, &at) in place.iter().enumerate() {
        y[at] = x[i];
    }
    cholesky.apply_inverse(y);
    for (i, &at) in place.iter().enumerate() {
        x[i] = y[at];
    }
}

fn add(values: &mut [f64], block: &Block, m: &Matrix<3, 3>, diagonal: bool) {
    for c in 0..3 {
        let skip = if diagonal { c } else { 0 };
        for r in skip..3 {
            let value = if block.flipped { m[(c, r)] } else { m[(r, c)] };
            values[block.starts[c] + r] += value;
        }
    }
}

/// Where the entry in a row of a column is, from the start of the column.
fn offset(pattern: &SymmetricPattern, row: usize, column: usize) -> usize {
    // Stored by construction: the pattern was made from this graph.
    pattern.position(row, column).map_or(0, |at| at - pattern.col_ptr[column])
}

fn map_block(
    from: &SymmetricPattern,
    to: &SymmetricPattern,
    sizes: [usize; 2],
    old: [usize; 2],
    new: [usize; 2],
    map: &mut [u32],
) {
    let from_offset = offset(from, old[0], old[1]);
    let flipped = new[0] < new[1];
    let to_offset = if flipped { offset(to, new[1], new[0]) } else { offset(to, new[0], new[1]) };
    for c in 0..sizes[1] {
        let skip = if old[0] == old[1] { c } else { 0 };
        for r in skip..sizes[0] {
            let at = from.col_ptr[old[1] + c] + from_offset - c + r;
            let target = if flipped {
                to.col_ptr[new[0] + r] + to_offset - r + c
            } else {
                to.col_ptr[new[1] + c] + to_offset - c + r
            };
            map[at] = target as u32;
        }
    }
}
