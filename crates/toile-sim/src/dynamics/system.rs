//! One sparse system for inertia, elasticity and contact.

use std::collections::BTreeMap;
use std::sync::Arc;

use toile_num::{Matrix, Vector};
use toile_solve::{Cholesky, NodeGraph, Ordering, SolveError, SymmetricPattern, elimination_order};

use super::rows::Row;
use crate::{Model, SimError};

/// Stages a coupling stays in the pattern after its contact has gone: contacts come and go, and every
/// change of the pattern costs a new analysis.
const MEMORY: u32 = 20;

/// A block of three rows and columns in the values of a pattern.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// First unknown of the other node, in the numbering of the model.
    other: usize,
    /// Where column c of the block starts in the values is `starts[c]`; the diagonal block has
    /// its lower triangle only.
    starts: [usize; 3],
    /// Whether what is stored is the transpose.
    flipped: bool,
}

/// Pattern, factor and neighbourhoods for one set of couplings.
struct Layout {
    pattern: Arc<SymmetricPattern>,
    cholesky: Cholesky,
    /// Place of each unknown of the model, `None` when they are the same.
    place: Option<Vec<usize>>,
    /// Where each elastic entry goes, empty when they are the same.
    map: Vec<u32>,
    /// A, inertia and contacts between layers included.
    values: Vec<f64>,
    /// What is factorised.
    held: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Layout {
    fn new(pattern: Arc<SymmetricPattern>) -> Result<Self, SolveError> {
        Ok(Self {
            cholesky: Cholesky::new(pattern.clone())?,
            place: None,
            map: Vec::new(),
            values: vec![0.0; pattern.nnz()],
            held: vec![0.0; pattern.nnz()],
            x: vec![0.0; pattern.n],
            y: vec![0.0; pattern.n],
            pattern,
        })
    }

    fn place(&self, unknown: usize) -> usize {
        self.place.as_ref().map_or(unknown, |place| place[unknown])
    }

    /// The block of the vertices at unknowns i and j.
    fn block(&self, i: usize, j: usize) -> Option<Block> {
        let (to_i, to_j) = (self.place(i), self.place(j));
        let flipped = to_i < to_j;
        let (row, column) = if flipped { (to_j, to_i) } else { (to_i, to_j) };
        let at = self.pattern.position(row, column)?;
        let offset = at - self.pattern.col_ptr[column];
        let starts = std::array::from_fn(|c| self.pattern.col_ptr[column + c] + offset - c);
        Some(Block { other: j, starts, flipped })
    }

    fn read(values: &[f64], block: &Block, diagonal: bool) -> Matrix<3, 3> {
        let mut m = Matrix::<3, 3>::zeros();
        for c in 0..3 {
            let skip = if diagonal { c } else { 0 };
            for r in skip..3 {
                let value = values[block.starts[c] + r];
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

    fn add(values: &mut [f64], block: &Block, m: &Matrix<3, 3>, diagonal: bool) {
        for c in 0..3 {
            let skip = if diagonal { c } else { 0 };
            for r in skip..3 {
                let value = if block.flipped { m[(c, r)] } else { m[(r, c)] };
                values[block.starts[c] + r] += value;
            }
        }
    }
}

/// Matrix, pattern and factorisation, kept from step to step.
pub(crate) struct System {
    plain: Layout,
    extended: Option<Layout>,
    /// Pairs of nodes beyond the elastic pattern, with the stage that last used them.
    couplings: BTreeMap<(u32, u32), u32>,
    clock: u32,
    /// Node that begins at an unknown.
    node_at: Vec<u32>,
    /// Elastic Hessian.
    pub(crate) elastic: Vec<f64>,
}

impl System {
    pub(crate) fn new(model: &Model) -> Result<Self, SimError> {
        let pattern = model.pattern().clone();
        let mut node_at = vec![u32::MAX; model.len() + 1];
        for (node, &first) in model.first_unknowns().iter().enumerate() {
            node_at[first] = node as u32;
        }
        Ok(Self {
            elastic: vec![0.0; pattern.nnz()],
            plain: Layout::new(pattern)?,
            extended: None,
            couplings: BTreeMap::new(),
            clock: 0,
            node_at,
        })
    }

    fn layout(&self) -> &Layout {
        self.extended.as_ref().unwrap_or(&self.plain)
    }

    fn layout_mut(&mut self) -> &mut Layout {
        self.extended.as_mut().unwrap_or(&mut self.plain)
    }

    /// Makes room for the couplings of these contacts. Call once per stage, before the values are set.
    pub(crate) fn prepare(&mut self, model: &Model, rows: &[Row]) -> Result<(), SimError> {
        self.clock += 1;
        let mut new = false;
        for row in rows {
            let count = row.contact.count as usize;
            for a in 0..count {
                for b in 0..a {
                    let (i, j) = (row.unknowns[a], row.unknowns[b]);
                    if self.plain.pattern.position(i.max(j), i.min(j)).is_none() {
                        let pair = (self.node_at[i.max(j)], self.node_at[i.min(j)]);
                        new |= self.couplings.insert(pair, self.clock).is_none();
                    }
                }
            }
        }
        if new {
            let clock = self.clock;
            self.couplings.retain(|_, last| clock - *last <= MEMORY);
            self.extended = Some(self.extend(model)?);
        } else if self.couplings.values().all(|last| self.clock - last > MEMORY) {
            self.couplings.clear();
            self.extended = None;
        }
        Ok(())
    }

    /// Pairs of nodes beyond the elastic pattern, and how many stages ago each was used.
    pub(crate) fn couplings(&self) -> Vec<[u32; 3]> {
        self.couplings.iter().map(|(&(a, b), last)| [a, b, self.clock - last]).collect()
    }

    /// Takes the couplings of another system of the same model: the order of elimination, and with it the
    /// last bits, depend on them. `false` if they do not fit.
    pub(crate) fn set_couplings(
        &mut self,
        model: &Model,
        couplings: &[[u32; 3]],
    ) -> Result<bool, SimError> {
        let nodes = model.graph().len() as u32;
        if couplings.iter().any(|[a, b, _]| *a >= nodes || *b >= nodes || a == b) {
            return Ok(false);
        }
        self.clock = couplings.iter().map(|[.., age]| *age).max().unwrap_or(0);
        self.couplings = couplings.iter().map(|&[a, b, age]| ((a, b), self.clock - age)).collect();
        self.extended = if couplings.is_empty() { None } else { Some(self.extend(model)?) };
        Ok(true)
    }

    fn extend(&self, model: &Model) -> Result<Layout, SimError> {
        let base = model.graph();
        let elastic = (0..base.len() as u32).flat_map(|u| {
            base.neighbours(u as usize).iter().filter(move |v| **v < u).map(move |&v| (u, v))
        });
        let pairs = elastic.chain(self.couplings.keys().copied());
        let graph = NodeGraph::from_pairs(base.sizes.clone(), pairs)?;
        // The pattern lives for a few steps only: a quick order is the better one.
        let order = elimination_order(&graph, Ordering::Amd);
        let (pattern, first) = SymmetricPattern::from_node_graph(&graph, &order)?;
        let old_first = model.first_unknowns();
        let mut map = vec![u32::MAX; self.elastic.len()];
        for u in 0..base.len() {
            let own = std::iter::once(u as u32);
            for v in base.neighbours(u).iter().copied().chain(own) {
                let v = v as usize;
                let old = [old_first[u], old_first[v]];
                if old[0] < old[1] {
                    continue; // the other order of the pair is stored
                }
                let sizes = [base.sizes[u] as usize, base.sizes[v] as usize];
                self.map_block(&pattern, sizes, old, [first[u], first[v]], &mut map);
            }
        }
        debug_assert!(!map.contains(&u32::MAX));
        let mut place = vec![usize::MAX; self.plain.pattern.n];
        for (node, &size) in base.sizes.iter().enumerate() {
            for k in 0..size as usize {
                place[old_first[node] + k] = first[node] + k;
            }
        }
        let mut layout = Layout::new(Arc::new(pattern))?;
        layout.place = Some(place);
        layout.map = map;
        Ok(layout)
    }

    fn map_block(
        &self,
        to: &SymmetricPattern,
        sizes: [usize; 2],
        old: [usize; 2],
        new: [usize; 2],
        map: &mut [u32],
    ) {
        let start = |pattern: &SymmetricPattern, row: usize, column: usize| {
            // Stored by construction: the pattern was made from this graph.
            pattern.position(row, column).map_or(0, |at| at - pattern.col_ptr[column])
        };
        let from = &*self.plain.pattern;
        let from_offset = start(from, old[0], old[1]);
        let flipped = new[0] < new[1];
        let to_offset = if flipped { start(to, new[1], new[0]) } else { start(to, new[0], new[1]) };
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

    /// A = elastic Hessian + inertia.
    pub(crate) fn assemble(&mut self, model: &Model, inertia: impl Fn(usize) -> f64) {
        let elastic = std::mem::take(&mut self.elastic);
        let layout = self.layout_mut();
        if layout.map.is_empty() {
            layout.values.copy_from_slice(&elastic);
        } else {
            layout.values.fill(0.0);
            for (value, &at) in elastic.iter().zip(&layout.map) {
                layout.values[at as usize] = *value;
            }
        }
        for (i, fixed) in model.fixed().iter().enumerate() {
            if !fixed {
                let at = layout.pattern.col_ptr[layout.place(i)];
                layout.values[at] += inertia(i);
            }
        }
        self.elastic = elastic;
    }

    /// Factorises A with stiffnesses added in the directions of contacts.
    pub(crate) fn factorize<'a>(
        &mut self,
        model: &Model,
        holds: impl Iterator<Item = (&'a Row, Matrix<3, 3>)>,
    ) -> Result<(), SolveError> {
        let fixed = model.fixed();
        let layout = self.layout_mut();
        layout.held.copy_from_slice(&layout.values);
        for (row, stiffness) in holds {
            for a in 0..row.contact.count as usize {
                for b in 0..=a {
                    let (i, j) = (row.unknowns[a], row.unknowns[b]);
                    let Some(block) = layout.block(i, j) else { continue };
                    let mut k = stiffness * (row.contact.weights[a] * row.contact.weights[b]);
                    for r in 0..3 {
                        for c in 0..3 {
                            if fixed[i + r] || fixed[j + c] {
                                k[(r, c)] = 0.0;
                            }
                        }
                    }
                    Layout::add(&mut layout.held, &block, &k, a == b);
                }
            }
        }
        layout.cholesky.factorize(&layout.held)
    }

    /// x ← A⁻¹x, of what was factorised last.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let layout = self.layout_mut();
        match &layout.place {
            None => layout.cholesky.apply_inverse(x),
            Some(place) => {
                for (i, &at) in place.iter().enumerate() {
                    layout.x[at] = x[i];
                }
                layout.cholesky.apply_inverse(&mut layout.x);
                for (i, &at) in place.iter().enumerate() {
                    x[i] = layout.x[at];
                }
            }
        }
    }

    /// y = A x.
    pub(crate) fn multiply(&mut self, x: &[f64], y: &mut [f64]) {
        let layout = self.layout_mut();
        match &layout.place {
            None => layout.pattern.multiply(&layout.values, x, y),
            Some(place) => {
                for (i, &at) in place.iter().enumerate() {
                    layout.x[at] = x[i];
                }
                layout.pattern.multiply(&layout.values, &layout.x, &mut layout.y);
                for (i, &at) in place.iter().enumerate() {
                    y[i] = layout.y[at];
                }
            }
        }
    }

    /// Diagonal block of A at a vertex.
    pub(crate) fn diagonal(&self, unknown: usize) -> Matrix<3, 3> {
        let layout = self.layout();
        layout
            .block(unknown, unknown)
            .map_or_else(Matrix::zeros, |block| Layout::read(&layout.values, &block, true))
    }

    /// Blocks of A in the rows of one vertex, for sweeps over contacts.
    pub(crate) fn neighbourhood(&self, model: &Model, unknown: usize) -> Neighbourhood {
        let node = self.node_at[unknown] as usize;
        let layout = self.layout();
        let first = model.first_unknowns();
        let graph = model.graph();
        let vertices = graph.neighbours(node).iter().filter(|v| graph.sizes[**v as usize] == 3);
        let blocks = vertices.filter_map(|&v| layout.block(unknown, first[v as usize])).collect();
        Neighbourhood { blocks, own: layout.block(unknown, unknown) }
    }

    /// y += A·(unit columns of the vertex) e, over its neighbours and itself.
    pub(crate) fn spread(
        &self,
        around: &Neighbourhood,
        unknown: usize,
        e: &Vector<3>,
        y: &mut [f64],
    ) {
        let values = &self.layout().values;
        for block in &around.blocks {
            // The block holds A(vertex, other); its transpose acts on the other.
            let push = Layout::read(values, block, false).transpose() * e;
            for c in 0..3 {
                y[block.other + c] += push[c];
            }
        }
        if let Some(own) = &around.own {
            let push = Layout::read(values, own, true) * e;
            for c in 0..3 {
                y[unknown + c] += push[c];
            }
        }
    }
}

/// Where the blocks in the rows of a vertex are.
pub(crate) struct Neighbourhood {
    blocks: Vec<Block>,
    own: Option<Block>,
}
