//! Times the factorisation of shell-like matrices: square sheets of n × n vertices triangulated
//! with alternating diagonals, three unknowns per vertex, every two vertices of a hinge coupled.
//!
//! `cargo run --release -p toile-solve --example factor_sheet [-- n n ...]`, default 50 100 200.
//! Prints milliseconds: ordering, analysis (symbolic), numeric, solve with 1 and with 8 columns,
//! the smallest of several repetitions; set `THREADS` for threads in factorisation and solves (default 1,
//! 0 for all). The columns `faer` are the factorisation and the solve with one column of the library
//! called directly, in turn with ours, on one thread; our solves also measure their residual.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::cholesky::simplicial::prefactorize_symbolic_cholesky;
use faer::sparse::linalg::cholesky::supernodal::{
    SupernodalLltRef, SymbolicSupernodalCholesky, factorize_supernodal_numeric_llt,
    factorize_supernodal_numeric_llt_scratch, factorize_supernodal_symbolic_cholesky,
    factorize_supernodal_symbolic_cholesky_scratch,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};
use std::sync::Arc;
use std::time::Instant;
use toile_solve::{
    Cholesky, FactorSettings, Ldlt, NodeGraph, Ordering, SymmetricPattern, elimination_order,
};

/// Triangles of the sheet.
fn triangles(n: u32) -> Vec<[u32; 3]> {
    let mut faces = Vec::new();
    for y in 0..n - 1 {
        for x in 0..n - 1 {
            let (a, b, c, d) = (y * n + x, y * n + x + 1, (y + 1) * n + x, (y + 1) * n + x + 1);
            if (x + y).is_multiple_of(2) {
                faces.extend([[a, b, d], [a, d, c]]);
            } else {
                faces.extend([[a, b, c], [b, d, c]]);
            }
        }
    }
    faces
}

/// The edge of each pair of neighbouring triangles, with the two opposite vertices.
fn hinges(faces: &[[u32; 3]]) -> Vec<[u32; 4]> {
    let mut sides: Vec<([u32; 2], u32)> = faces
        .iter()
        .flat_map(|f| (0..3).map(move |k| (f[k], f[(k + 1) % 3], f[(k + 2) % 3])))
        .map(|(a, b, c)| ([a.min(b), a.max(b)], c))
        .collect();
    sides.sort_unstable();
    sides
        .windows(2)
        .filter(|w| w[0].0 == w[1].0)
        .map(|w| [w[0].0[0], w[0].0[1], w[0].1, w[1].1])
        .collect()
}

/// Graph and a positive definite matrix on it: rank-one terms per hinge plus a small mass.
struct Sheet {
    graph: NodeGraph,
    hinges: Vec<[u32; 4]>,
}

impl Sheet {
    fn new(n: u32) -> Self {
        let faces = triangles(n);
        let hinges = hinges(&faces);
        let face_pairs = faces.iter().flat_map(|f| [(f[0], f[1]), (f[1], f[2]), (f[0], f[2])]);
        let hinge_pairs =
            hinges.iter().flat_map(|h| (0..4).flat_map(move |i| (0..i).map(move |j| (h[i], h[j]))));
        let graph = NodeGraph::from_pairs(vec![3; (n * n) as usize], face_pairs.chain(hinge_pairs))
            .unwrap();
        Self { graph, hinges }
    }

    fn values(&self, pattern: &SymmetricPattern, first: &[usize]) -> Vec<f64> {
        let mut values = vec![0.0; pattern.nnz()];
        for (k, hinge) in self.hinges.iter().enumerate() {
            // Two vectors per hinge whose sums over the vertices vanish: translations cost nothing.
            for (direction, weights) in
                [[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 0.4, -0.4]].into_iter().enumerate()
            {
                let turn = (k + 7 * direction) as f64;
                let axis = [turn.sin(), turn.cos(), (0.7 * turn).sin()];
                let g = |i: usize, c: usize| weights[i] * axis[c];
                for i in 0..4 {
                    for j in 0..4 {
                        let (row, column) = (first[hinge[i] as usize], first[hinge[j] as usize]);
                        for c in 0..3 {
                            for d in 0..3 {
                                if row + c >= column + d {
                                    let at = pattern.position(row + c, column + d).unwrap();
                                    values[at] += g(i, c) * g(j, d);
                                }
                            }
                        }
                    }
                }
            }
        }
        for j in 0..pattern.n {
            values[pattern.col_ptr[j]] += 1e-2;
        }
        values
    }
}

/// The library's factorisation by dense blocks, in the order of the pattern.
struct Direct<'a> {
    pattern: &'a SymmetricPattern,
    symbolic: SymbolicSupernodalCholesky<usize>,
    factor: Vec<f64>,
    memory: MemBuffer,
}

impl<'a> Direct<'a> {
    fn new(pattern: &'a SymmetricPattern) -> Self {
        let n = pattern.n;
        let transposed = Self::lower(pattern).to_row_major().unwrap();
        let upper = transposed.as_ref().transpose();
        let (mut parents, mut counts) = (vec![0isize; n], vec![0usize; n]);
        let mut memory = MemBuffer::new(
            StackReq::new::<usize>(n)
                .or(factorize_supernodal_symbolic_cholesky_scratch::<usize>(n)),
        );
        let stack = MemStack::new(&mut memory);
        let tree = prefactorize_symbolic_cholesky(&mut parents, &mut counts, upper, stack);
        let params = Default::default();
        let symbolic =
            factorize_supernodal_symbolic_cholesky(upper, tree, &counts, stack, params).unwrap();
        let memory = MemBuffer::new(
            factorize_supernodal_numeric_llt_scratch::<usize, f64>(
                &symbolic,
                Par::Seq,
                Default::default(),
            )
            .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)),
        );
        let factor = vec![0.0; symbolic.len_val()];
        Self { pattern, symbolic, factor, memory }
    }

    fn lower(pattern: &SymmetricPattern) -> SymbolicSparseColMatRef<'_, usize> {
        let n = pattern.n;
        SymbolicSparseColMatRef::new_checked(n, n, &pattern.col_ptr, None, &pattern.row_idx)
    }

    /// Time [ms] of one factorisation.
    fn factorize(&mut self, values: &[f64]) -> f64 {
        let matrix = SparseColMatRef::new(Self::lower(self.pattern), values);
        best(1, || {
            factorize_supernodal_numeric_llt(
                &mut self.factor,
                matrix,
                Default::default(),
                &self.symbolic,
                Par::Seq,
                MemStack::new(&mut self.memory),
                Default::default(),
            )
            .unwrap();
        })
    }

    /// Time [ms] of one solve.
    fn solve(&mut self, x: &mut [f64]) -> f64 {
        let n = self.pattern.n;
        best(1, || {
            SupernodalLltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(&mut *x, n, 1),
                Par::Seq,
                MemStack::new(&mut self.memory),
            );
        })
    }
}

/// Smallest time over repetitions [ms].
fn best(repetitions: usize, mut run: impl FnMut()) -> f64 {
    (0..repetitions)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    let mut sizes: Vec<u32> =
        std::env::args().skip(1).filter_map(|a| a.parse().ok()).filter(|&n| n >= 2).collect();
    if sizes.is_empty() {
        sizes = vec![50, 100, 200];
    }
    println!(
        "vertices  ordering           order  symbolic  numeric    faer  ratio   LDLt   solve1    faer  solve8  factor [M]  residual"
    );
    for n in sizes {
        let sheet = Sheet::new(n);
        let repetitions = if n > 150 { 7 } else { 20 };
        for ordering in [Ordering::Amd, Ordering::NestedDissection] {
            let order_time = best(3, || {
                elimination_order(&sheet.graph, ordering);
            });
            let order = elimination_order(&sheet.graph, ordering);
            let (pattern, first) = SymmetricPattern::from_node_graph(&sheet.graph, &order).unwrap();
            let pattern = Arc::new(pattern);
            let values = sheet.values(&pattern, &first);
            let symbolic_time = best(3, || {
                Cholesky::new(pattern.clone()).unwrap();
            });
            let threads = std::env::var("THREADS").ok().and_then(|t| t.parse().ok());
            let settings =
                FactorSettings { threads: threads.unwrap_or(1), ..FactorSettings::default() };
            let mut ldlt = Ldlt::with_settings(pattern.clone(), settings).unwrap();
            let ldlt_time = best(repetitions / 2, || {
                ldlt.factorize(&values, None).unwrap();
            });
            drop(ldlt);
            let mut cholesky = Cholesky::with_settings(pattern.clone(), settings).unwrap();
            let mut direct = Direct::new(&pattern);
            let (mut numeric_time, mut direct_time) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..repetitions {
                numeric_time = numeric_time.min(best(1, || cholesky.factorize(&values).unwrap()));
                direct_time = direct_time.min(direct.factorize(&values));
            }
            let rhs: Vec<f64> = (0..8 * pattern.n).map(|i| (i as f64 * 0.37).sin()).collect();
            let mut x = vec![0.0; rhs.len()];
            let one = ..pattern.n;
            let mut residual = 0.0;
            let solve_time = best(repetitions, || {
                let report = cholesky.solve(&values, &rhs[one], &mut x[one]).unwrap();
                residual = report.residual;
            });
            let direct_solve_time = (0..repetitions)
                .map(|_| {
                    x[one].copy_from_slice(&rhs[one]);
                    direct.solve(&mut x[one])
                })
                .fold(f64::INFINITY, f64::min);
            let block_time = best(repetitions, || {
                cholesky.solve_many(&values, &rhs, &mut x, 8).unwrap();
            });
            println!(
                "{:8}  {:16} {:7.1}  {:8.1}  {:7.1}  {:6.1}  {:5.2}  {:6.1}  {:6.2}  {:6.2}  {:6.2}  {:10.2}  {:.1e}",
                n * n,
                format!("{ordering:?}"),
                order_time,
                symbolic_time,
                numeric_time,
                direct_time,
                direct_time / numeric_time,
                ldlt_time,
                solve_time,
                direct_solve_time,
                block_time,
                cholesky.factor_entries() as f64 * 1e-6,
                residual,
            );
        }
    }
}
