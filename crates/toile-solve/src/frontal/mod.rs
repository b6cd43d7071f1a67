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

/// LLᵀ or LDLᵀ in dense fronts, with the memory to compute and use it.
pub(crate) struct FrontalFactor {
    plan: Plan,
    signed: bool,
    arch: Arch,
    col_ptr: Vec<usize>,
    factor: Memory,
    /// 1/Lⱼⱼ or 1/Dⱼⱼ, in the order of the tree.
    inverses: Vec<f64>,
    arenas: Vec<Arena>,
    single: Vectors,
    block: Option<Vectors>,
}

impl FrontalFactor {
    /// Analyses a checked pattern, given its elimination tree (−1 for a root) and the lengths of the
    /// columns of the factor, diagonal included. `signed` for LDLᵀ.
    pub(crate) fn new(
        pattern: &SymmetricPattern,
        parents: &[isize],
        lengths: &[usize],
        signed: bool,
    ) -> Result<Self, SolveError> {
        let plan = Plan::new(pattern, parents, lengths)?;
        let arenas = plan.arenas.iter().map(|len| Arena::new(len, signed));
        Ok(Self {
            arenas: arenas.collect::<Result<_, _>>()?,
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

    /// Threads to use of those asked for, 0 for all of the pool.
    fn threads(&self, asked: usize) -> usize {
        match (self.plan.tasks.len(), asked) {
            (..2, _) | (_, 1) => 1,
            (_, 0) => rayon::current_num_threads(),
            (_, some) => some.min(rayon::current_num_threads()),
        }
    }

    /// Numbers of working memory.
    pub(crate) fn scratch(&self) -> usize {
        self.arenas.iter().map(Arena::len).sum()
    }

    /// Factorises the matrix with these entries; on failure, the first column without a pivot. Bits do
    /// not depend on the number of threads (0 for all of the pool).
    pub(crate) fn factorize(
        &mut self,
        values: &[f64],
        regularization: Option<PivotRegularization<'_>>,
        threads: usize,
    ) -> Result<(), usize> {
        let threads = self.threads(threads);
        let pivots = if self.signed {
            Pivots::Signed(regularization.map(|r| (r, self.plan.order.as_slice())))
        } else {
            Pivots::Positive
        };
        Factorization::new(self.arch, &self.plan, values, &self.col_ptr, pivots, threads).run(
            &mut self.arenas,
            &mut self.factor,
            &mut self.inverses,
        )
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
    pub(crate) fn solve_in_place(&mut self, x: &mut [f64], threads: usize) {
        let n = self.plan.order.len();
        let solver = Solver {
            arch: self.arch,
            plan: &self.plan,
            factor: &self.factor,
            inverses: &self.inverses,
            signed: self.signed,
            threads: self.threads(threads),
        };
        for x in x.chunks_mut(BLOCK * n) {
            if x.len() == n {
                solver.solve(x, &mut self.single);
            } else {
                solver.solve(x, self.block.as_mut().expect("room for several columns"));
            }
        }
    }
}
