//! The sparse saddle-point system of one step: shape, rest shape and multipliers at once.
//!
//! Each vertex is one node of nine unknowns (x, x̄, λ), or of six (x̄, λ) where the shape stays, each edge angle one of two
//! (ξ, λ), in the elimination order of the model: what a vertex costs is eliminated together, and the multiplier comes
//! after what it multiplies, so that its pivot is there although its own diagonal is empty.

use std::sync::Arc;

use nalgebra::Matrix3;
use toile_geometry::Vec3;
use toile_sim::{MixedPattern, Model};
use toile_solve::{FactorSettings, Ldlt, NodeGraph, SolveError, SymmetricPattern};

/// Weights of one system; the units of length and force make them comparable.
pub(crate) struct Weights<'a> {
    /// Diagonal of the metric on x, per unknown of the model.
    pub(crate) shape: &'a [f64],
    /// Factor on the metric of x̄.
    pub(crate) rest: f64,
    /// Stiffness of the cones.
    pub(crate) cone: f64,
}

/// What the rows of a node say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows {
    /// Forces balance.
    Balance,
    /// Nothing: a support carries whatever comes.
    Free,
    /// A contact: the root of the cone's Hessian times the force.
    Cone(Matrix3<f64>),
    /// A contact whose force is an unknown: how it yields to its multiplier.
    Yields(Matrix3<f64>),
}

struct Block {
    a: u32,
    b: u32,
    /// Offset of the first row of the later node in the first column of the earlier one, in the model.
    model: usize,
    /// The same in the saddle point.
    saddle: usize,
    /// Offset of the first row of `a` in the columns of `b` of the mixed Hessian.
    mixed: usize,
}

/// Pattern, factor and maps, reused from step to step.
pub(crate) struct Kkt {
    /// First unknown of each node in the saddle point.
    first: Vec<usize>,
    /// First unknown of each node in the model.
    model_first: Vec<usize>,
    sizes: Vec<u8>,
    /// Whether positions are unknowns.
    moves: bool,
    pattern: Arc<SymmetricPattern>,
    blocks: Vec<Block>,
    /// Edges of the metric on x̄ with their weights.
    edges: Vec<(u32, u32, f64)>,
    /// Diagonal of the metric on x̄, per node.
    ground: Vec<f64>,
    signs: Vec<i8>,
    /// None where it was let go, until the next factorisation.
    ldlt: Option<Ldlt>,
    pub(crate) values: Vec<f64>,
    pub(crate) rhs: Vec<f64>,
    pub(crate) solution: Vec<f64>,
}

/// Smallest diagonal that keeps an edge angle from floating while the factor is computed.
const ANGLE: f64 = 1e-4;
/// Diagonal of the balance rows: far below the pivots, which elimination puts there.
const SOFT: f64 = 1e-12;

fn analysed(pattern: &Arc<SymmetricPattern>) -> Result<Ldlt, SolveError> {
    let settings = FactorSettings { max_refinements: 6, ..FactorSettings::default() };
    Ldlt::with_settings(pattern.clone(), settings)
}

impl Kkt {
    /// Analyses the system of a model; `edges` and `ground` are the metric on rest positions, `moves` says whether
    /// positions are unknowns.
    pub(crate) fn new(
        model: &Model,
        mixed: &MixedPattern,
        edges: Vec<(u32, u32, f64)>,
        ground: Vec<f64>,
        moves: bool,
    ) -> Result<Self, SolveError> {
        let graph = model.graph();
        let model_first = model.first_unknowns().to_vec();
        let sizes = graph.sizes.clone();
        let vertex = if moves { 9 } else { 6 };
        let grown = sizes.iter().map(|&s| if s == 3 { vertex } else { 2 * s }).collect();
        let saddle =
            NodeGraph { sizes: grown, adj_ptr: graph.adj_ptr.clone(), adj: graph.adj.clone() };
        let mut order: Vec<u32> = (0..graph.len() as u32).collect();
        order.sort_unstable_by_key(|&v| model_first[v as usize]);
        let (pattern, first) = SymmetricPattern::from_node_graph(&saddle, &order)?;
        let mut blocks = Vec::new();
        for a in 0..graph.len() {
            let near = graph.neighbours(a).iter().map(|&b| b as usize);
            for b in std::iter::once(a).chain(near) {
                let offset = |pattern: &SymmetricPattern, first: &[usize]| {
                    let (row, column) = (first[a].max(first[b]), first[a].min(first[b]));
                    pattern.position(row, column).map(|p| p - pattern.col_ptr[column])
                };
                let column = model_first[b];
                let in_mixed = mixed.position(model_first[a], column);
                if let (Some(m), Some(s), Some(x)) =
                    (offset(model.pattern(), &model_first), offset(&pattern, &first), in_mixed)
                {
                    blocks.push(Block {
                        a: a as u32,
                        b: b as u32,
                        model: m,
                        saddle: s,
                        mixed: x - mixed.col_ptr[column],
                    });
                }
            }
        }
        let pattern = Arc::new(pattern);
        let ldlt = Some(analysed(&pattern)?);
        let n = pattern.n;
        let mut signs = vec![1i8; n];
        for (v, &size) in sizes.iter().enumerate() {
            let last = vertex as usize;
            let multipliers = if size == 3 { last - 3..last } else { 1..2 };
            for k in multipliers {
                signs[first[v] + k] = -1;
            }
        }
        Ok(Self {
            values: vec![0.0; pattern.nnz()],
            rhs: vec![0.0; n],
            solution: vec![0.0; n],
            first,
            model_first,
            sizes,
            moves,
            pattern,
            blocks,
            edges,
            ground,
            signs,
            ldlt,
        })
    }

    /// Unknowns of a node in the saddle point: where x, x̄ and λ begin (x̄ only for vertices, their x only if they move).
    pub(crate) fn at(&self, node: usize) -> (usize, usize, usize) {
        let f = self.first[node];
        match (self.sizes[node], self.moves) {
            (3, true) => (f, f + 3, f + 6),
            (3, false) => (f, f, f + 3),
            _ => (f, f, f + 1),
        }
    }

    /// Index of the entry in local row i of node a and local column j of node b.
    fn slot(&self, block: &Block, i: usize, j: usize) -> usize {
        let (a, b) = (block.a as usize, block.b as usize);
        let (fa, fb) = (self.first[a], self.first[b]);
        if fa == fb {
            self.pattern.col_ptr[fa + i.min(j)] + i.abs_diff(j)
        } else if fa > fb {
            self.pattern.col_ptr[fb + j] + block.saddle - j + i
        } else {
            self.pattern.col_ptr[fa + i] + block.saddle - i + j
        }
    }

    /// Entry (i, j) of the Hessian's block of nodes a and b.
    fn hessian_entry(&self, model: &Model, h: &[f64], block: &Block, i: usize, j: usize) -> f64 {
        let col_ptr = &model.pattern().col_ptr;
        let fa = self.model_first[block.a as usize];
        let fb = self.model_first[block.b as usize];
        if fa == fb {
            h[col_ptr[fa + i.min(j)] + i.abs_diff(j)]
        } else if fa > fb {
            h[col_ptr[fb + j] + block.model - j + i]
        } else {
            h[col_ptr[fa + i] + block.model - i + j]
        }
    }

    /// Assembles the matrix. `hessian` and `mixed` are the derivatives of the forces, `rows` what each node's rows say,
    /// `held` which unknowns of the model (positions) and which nodes (rest positions) stay, `unit` turns entries
    /// into units of force per unit of length, row lever and column lever included.
    pub(crate) fn assemble(
        &mut self,
        model: &Model,
        hessian: &[f64],
        mixed: (&MixedPattern, &[f64]),
        weights: &Weights<'_>,
        rows: &[Rows],
        held: &[bool],
        rest_held: &[bool],
        unit: f64,
    ) {
        let mut values = std::mem::take(&mut self.values);
        values.fill(0.0);
        let levers = model.levers();
        for block in &self.blocks {
            let (a, b) = (block.a as usize, block.b as usize);
            let (sa, sb) = (self.sizes[a] as usize, self.sizes[b] as usize);
            let (ma, mb) = (self.model_first[a], self.model_first[b]);
            let row0 = self.at(a).2 - self.first[a];
            let rest0 = self.at(b).1 - self.first[b];
            if matches!(rows[a], Rows::Free) {
                continue;
            }
            let turned = |m: Matrix3<f64>| match rows[a] {
                Rows::Cone(root) => root * m,
                _ => m,
            };
            // Force rows of `a`, then position columns of `b`.
            if self.moves || sb != 3 {
                let mut k = Matrix3::zeros();
                for j in 0..sb {
                    if held[mb + j] {
                        continue;
                    }
                    for i in 0..sa {
                        let scale = unit / (levers[ma + i] * levers[mb + j]);
                        k[(i, j)] = scale * self.hessian_entry(model, hessian, block, i, j);
                    }
                }
                let k = turned(k);
                for j in 0..sb {
                    for i in 0..sa {
                        values[self.slot(block, row0 + i, j)] = k[(i, j)];
                    }
                }
            }
            if sb == 3 && !rest_held[b] {
                let mut k = Matrix3::zeros();
                for j in 0..3 {
                    let at = mixed.0.col_ptr[mb + j] + block.mixed;
                    for i in 0..sa {
                        k[(i, j)] = unit / levers[ma + i] * mixed.1[at + i];
                    }
                }
                let k = turned(k);
                for j in 0..3 {
                    for i in 0..sa {
                        values[self.slot(block, row0 + i, rest0 + j)] = k[(i, j)];
                    }
                }
            }
        }
        let diagonal = |at: usize| self.pattern.col_ptr[at];
        for v in 0..self.sizes.len() {
            let (x, rest, multiplier) = self.at(v);
            let m = self.model_first[v];
            for k in 0..self.sizes[v] as usize {
                if self.sizes[v] != 3 {
                    values[diagonal(x + k)] = if held[m + k] { 1.0 } else { ANGLE };
                } else if self.moves {
                    values[diagonal(x + k)] = if held[m + k] { 1.0 } else { weights.shape[m + k] };
                }
                values[diagonal(multiplier + k)] = match rows[v] {
                    Rows::Balance => -SOFT,
                    Rows::Free => -1.0,
                    Rows::Cone(_) => -1.0 / weights.cone,
                    Rows::Yields(compliance) => -compliance[(k, k)] - SOFT,
                };
                if let Rows::Yields(compliance) = &rows[v] {
                    for i in k + 1..3 {
                        values[diagonal(multiplier + k) + i - k] = -compliance[(i, k)];
                    }
                }
                if self.sizes[v] == 3 {
                    values[diagonal(rest + k)] =
                        if rest_held[v] { 1.0 } else { weights.rest * self.ground[v] };
                }
            }
        }
        for &(a, b, weight) in &self.edges {
            let (a, b) = (a as usize, b as usize);
            let w = weights.rest * weight;
            for v in [a, b] {
                if !rest_held[v] {
                    let rest = self.at(v).1;
                    for k in 0..3 {
                        values[diagonal(rest + k)] += w;
                    }
                }
            }
            if !rest_held[a] && !rest_held[b] {
                let (ra, rb) = (self.at(a).1, self.at(b).1);
                for k in 0..3 {
                    let (row, column) = ((ra + k).max(rb + k), (ra + k).min(rb + k));
                    if let Some(at) = self.pattern.position(row, column) {
                        values[at] -= w;
                    }
                }
            }
        }
        self.values = values;
    }

    /// Adds a force that acts on several nodes by weights and yields to its multiplier, the weighted sum of theirs; after [`Kkt::assemble`].
    ///
    /// The nodes must share a stencil of the model.
    pub(crate) fn share(&mut self, carriers: &[(usize, f64)], compliance: &Matrix3<f64>) {
        for &(a, wa) in carriers {
            for &(b, wb) in carriers {
                let (ma, mb) = (self.at(a).2, self.at(b).2);
                for i in 0..3 {
                    for j in 0..3 {
                        if ma + i >= mb + j
                            && let Some(at) = self.pattern.position(ma + i, mb + j)
                        {
                            self.values[at] -= wa * wb * compliance[(i, j)];
                        }
                    }
                }
            }
        }
    }

    /// Makes it dear to move the weighted sum of the shape of several nodes; after [`Kkt::assemble`]. The nodes must share a stencil of the model; those `held`
    /// (unknowns of the model) do not move.
    pub(crate) fn tie(&mut self, carriers: &[(usize, f64)], weight: f64, held: &[bool]) {
        for &(a, wa) in carriers {
            for &(b, wb) in carriers {
                let (xa, xb) = (self.at(a).0, self.at(b).0);
                let (ma, mb) = (self.model_first[a], self.model_first[b]);
                for k in 0..3 {
                    if xa >= xb
                        && !held[ma + k]
                        && !held[mb + k]
                        && let Some(at) = self.pattern.position(xa + k, xb + k)
                    {
                        self.values[at] += weight * wa * wb;
                    }
                }
            }
        }
    }

    /// Adds the square of a weighted sum of unknowns; after [`Kkt::assemble`]. The nodes must share a stencil of the model.
    pub(crate) fn square(&mut self, sum: &[(usize, f64)], weight: f64) {
        for &(i, a) in sum {
            for &(j, b) in sum {
                if i >= j
                    && let Some(at) = self.pattern.position(i, j)
                {
                    self.values[at] += weight * a * b;
                }
            }
        }
    }

    /// Makes it dearer to move the shape of a node along a direction; after [`Kkt::assemble`].
    pub(crate) fn lean(&mut self, node: usize, along: &Vec3, weight: f64) {
        let x = self.at(node).0;
        for j in 0..3 {
            for i in j..3 {
                self.values[self.pattern.col_ptr[x + j] + i - j] += weight * along[i] * along[j];
            }
        }
    }

    /// Lets the memory of the factor go, most of what an inversion holds; the next factorisation takes it again.
    pub(crate) fn let_go(&mut self) {
        self.ldlt = None;
    }

    /// Factorises; `false` when there is no factor.
    pub(crate) fn factorize(&mut self) -> Result<bool, SolveError> {
        let ldlt = match &mut self.ldlt {
            Some(ldlt) => ldlt,
            none => none.insert(analysed(&self.pattern)?),
        };
        match ldlt.factorize(&self.values, Some(&self.signs)) {
            Ok(_) => Ok(true),
            Err(SolveError::ZeroPivot { .. } | SolveError::NotFinite { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Solves for `self.rhs` with the factor at hand; `false` when the answer cannot be trusted.
    pub(crate) fn solve(&mut self) -> bool {
        let Some(ldlt) = &mut self.ldlt else { return false };
        let solved = ldlt.solve(&self.values, &self.rhs, &mut self.solution);
        solved.is_ok() && self.solution.iter().all(|s| s.is_finite())
    }
}
