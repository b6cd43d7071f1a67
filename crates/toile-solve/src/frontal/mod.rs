//! Factorisation front by front: a tree of dense eliminations.
//!
//! Columns that reach the same rows are eliminated together in a dense front; what the elimination
//! leaves on the rows below is added to the front of the parent in the tree. Compared with collecting
//! all updates of a column when its turn comes, each number is added once per level instead of once per
//! descendant, in long runs, and products are of one size: that of the front. Subtrees that share no
//! column are eliminated by different threads, and large fronts by all of them.
//!
//! Reading order: `tree` decides which columns go together, `plan` where everything is, `kernels` is the
//! arithmetic, `factor` and `solve` walk the tree. References: Duff, Reid 1983, "The multifrontal
//! solution of indefinite sparse symmetric linear equations"; Liu 1992, "The multifrontal method for
//! sparse matrix solution: theory and practice".

mod factor;
mod kernels;
mod memory;
mod plan;
mod solve;
mod threads;
mod tree;

use crate::backend::PivotRegularization;
use crate::{SolveError, SymmetricPattern};
use factor::{Arena, Factorization};
use kernels::Pivots;
use memory::Memory;
use plan::{Plan, STRIP};
use pulp::Arch;
use solve::{BLOCK, Solver, Vectors};
use std::sync::Mutex;
use threads::sharing;

/// LLᵀ or LDLᵀ in dense fronts, with the memory to compute and use it.
pub(crate) struct FrontalFactor {
    plan: Plan,
    signed: bool,
    arch: Arch,
    col_ptr: Vec<usize>,
    factor: Memory,
    /// 1/Lⱼⱼ or 1/Dⱼⱼ, in the order of the tree.
    inverses: Vec<f64>,
    /// One per thread, one of them large enough for the top of the tree.
    arenas: Mutex<Vec<Arena>>,
    handed: Memory,
    threads: usize,
    single: Vectors,
    block: Option<Vectors>,
}

impl FrontalFactor {
    /// Analyses a checked pattern, given its elimination tree (−1 for a root) and the lengths of the
    /// columns of the factor, diagonal included. `signed` for LDLᵀ. Bits do not depend on the number of
    /// threads (0 for all of the pool).
    pub(crate) fn new(
        pattern: &SymmetricPattern,
        parents: &[isize],
        lengths: &[usize],
        signed: bool,
        threads: usize,
    ) -> Result<Self, SolveError> {
        let plan = Plan::new(pattern, parents, lengths)?;
        let threads = match (plan.tasks.len(), threads) {
            (..2, _) | (_, 1) => 1,
            (_, 0) => toile_num::parallel::threads(),
            (_, some) => some,
        };
        let largest = plan.task_arena.max(&plan.top_arena);
        let lens = (0..threads.min(plan.tasks.len()).max(1))
            .map(|k| if k == 0 { &largest } else { &plan.task_arena });
        let arenas = lens.map(|len| Arena::new(len, signed)).collect::<Result<_, _>>()?;
        Ok(Self {
            arenas: Mutex::new(arenas),
            handed: Memory::new(plan.handed_len)?,
            threads,
            factor: Memory::new(plan.factor_len)?,
            inverses: vec![0.0; pattern.n],
            single: Vectors::new(&plan, 1)?,
            block: None,
            signed,
            arch: Arch::new(),
            col_ptr: pattern.col_ptr.clone(),
            plan,
        })
    }

    /// Numbers stored for the factor, zeros included.
    pub(crate) fn entries(&self) -> usize {
        self.factor.len()
    }

    /// Factorises the matrix with these entries; on failure, the first column without a pivot.
    pub(crate) fn factorize(
        &mut self,
        values: &[f64],
        regularization: Option<PivotRegularization<'_>>,
    ) -> Result<(), usize> {
        let pivots = if self.signed {
            Pivots::Signed(regularization.map(|r| (r, self.plan.order.as_slice())))
        } else {
            Pivots::Positive
        };
        let (plan, threads) = (&self.plan, self.threads);
        let run = Factorization::new(self.arch, plan, values, &self.col_ptr, pivots, threads);
        let (handed, factor, inverses) = (&mut self.handed, &mut self.factor, &mut self.inverses);
        sharing(threads, || run.run(&self.arenas, handed, factor, inverses))
    }

    /// Diagonal of L or of D, with the columns of the matrix in the order of the tree.
    pub(crate) fn for_each_pivot(&self, mut visit: impl FnMut(usize, f64)) {
        for front in &self.plan.fronts {
            for c in 0..front.columns {
                let strip = c / STRIP * STRIP * front.columns;
                let at = front.at + strip + STRIP * c + c % STRIP;
                visit(self.plan.order[front.first + c] as usize, self.factor[at]);
            }
        }
    }

    /// Calls `visit` with row, column and value of every stored entry of the lower triangle, zeros
    /// included: of L for LLᵀ; of D and, below, of L for LDLᵀ. Rows and columns are those of the matrix.
    pub(crate) fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let plan = &self.plan;
        let tasks = plan.tasks.iter().flat_map(|t| t.fronts.clone().map(move |f| (f, Some(t))));
        for (f, task) in tasks.chain(plan.top.iter().map(|&f| (f as usize, None))) {
            let front = &plan.fronts[f];
            let row = |r: u32| match task {
                Some(task) if r as usize >= task.columns.len() => {
                    task.outside[r as usize - task.columns.len()] as usize
                }
                Some(task) => task.columns.start + r as usize,
                None => r as usize,
            };
            let below = STRIP * front.pivot_strips();
            for c in 0..front.columns {
                let mut entry = |at: usize, row: usize| {
                    let strip = at / STRIP * STRIP * front.columns;
                    let value = self.factor[front.at + strip + STRIP * c + at % STRIP];
                    visit(plan.order[row] as usize, plan.order[front.first + c] as usize, value);
                };
                (c..front.columns).for_each(|r| entry(r, front.first + r));
                let rows = plan.rows[front.rows.clone()].iter().enumerate();
                rows.for_each(|(k, &r)| entry(below + k, row(r)));
            }
        }
    }

    /// Uses registers of that many numbers from now on; `false` where there are none.
    pub(crate) fn use_lanes(&mut self, lanes: usize) -> bool {
        self.arch = match lanes {
            1 => Arch::Scalar,
            #[cfg(target_arch = "x86_64")]
            4 => match pulp::x86::V3::try_new() {
                Some(registers) => Arch::V3(registers),
                None => return false,
            },
            _ => return false,
        };
        true
    }

    /// Makes room for solves with several right-hand sides at once.
    pub(crate) fn reserve_solve(&mut self, columns: usize) -> Result<(), SolveError> {
        if columns > 1 && self.block.is_none() {
            self.block = Some(Vectors::new(&self.plan, BLOCK)?);
        }
        Ok(())
    }

    /// X ← A⁻¹X for column-major X of n rows. Bits do not depend on the number of threads (0 for all of the pool).
    ///
    /// Panics for more than one column without [`Self::reserve_solve`].
    pub(crate) fn solve_in_place(&mut self, x: &mut [f64]) {
        let n = self.plan.order.len();
        let solver = Solver {
            arch: self.arch,
            plan: &self.plan,
            factor: &self.factor,
            inverses: &self.inverses,
            signed: self.signed,
            threads: self.threads,
        };
        let (single, block) = (&mut self.single, &mut self.block);
        sharing(solver.threads, || {
            for x in x.chunks_mut(BLOCK * n) {
                if x.len() == n {
                    solver.solve(x, single);
                } else {
                    solver.solve(x, block.as_mut().expect("room for several columns"));
                }
            }
        });
    }
}
