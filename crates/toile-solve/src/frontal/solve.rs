//! Triangular solves with the strips of a factor, for one right-hand side or eight side by side.
//!
//! Tasks work on vectors of their own, the columns of the task followed by the later rows it reaches;
//! what they add to those is summed in the order of the tasks, so that bits do not depend on threads.

use super::kernels::{self, add, load, scale, store};
use super::memory::Memory;
use super::plan::{Front, Plan, STRIP};
use super::threads::share;
use crate::SolveError;
use pulp::{Arch, Simd, WithSimd};

/// Right-hand sides that are solved side by side when there are several.
pub(super) const BLOCK: usize = STRIP;

/// Vectors of a solve, of one right-hand side or of [`BLOCK`].
pub(super) struct Vectors {
    width: usize,
    /// One per task: its columns, then its outside.
    tasks: Vec<TaskVectors>,
    /// All columns; those of tasks are not used.
    top: Memory,
    sums: Memory,
}

struct TaskVectors {
    x: Memory,
    /// For each column of a front a register of partial sums.
    sums: Memory,
}

impl Vectors {
    pub(super) fn new(plan: &Plan, width: usize) -> Result<Self, SolveError> {
        let widest = |fronts: &mut dyn Iterator<Item = &Front>| {
            STRIP * STRIP * fronts.map(Front::pivot_strips).max().unwrap_or(0)
        };
        let tasks = plan.tasks.iter().map(|task| {
            let rows = task.columns.len() + task.outside.len();
            let fronts = &plan.fronts[task.fronts.clone()];
            Ok(TaskVectors {
                x: Memory::new(width * rows)?,
                sums: Memory::new(widest(&mut fronts.iter()))?,
            })
        });
        Ok(Self {
            width,
            tasks: tasks.collect::<Result<_, SolveError>>()?,
            top: Memory::new(width * plan.order.len())?,
            sums: Memory::new(widest(&mut plan.top.iter().map(|&f| &plan.fronts[f as usize])))?,
        })
    }
}

/// A factor to solve with.
pub(super) struct Solver<'a> {
    pub(super) arch: Arch,
    pub(super) plan: &'a Plan,
    pub(super) factor: &'a [f64],
    pub(super) inverses: &'a [f64],
    /// LDLᵀ.
    pub(super) signed: bool,
    pub(super) threads: usize,
}

impl Solver<'_> {
    /// X ← A⁻¹X for column-major X of at most as many columns as the vectors are wide.
    pub(super) fn solve(&self, x: &mut [f64], vectors: &mut Vectors) {
        let plan = self.plan;
        let n = plan.order.len();
        let width = vectors.width;
        let columns = x.len() / n;
        assert!(columns <= width);
        let Vectors { tasks, top, sums, .. } = vectors;
        {
            let x = &*x;
            share(self.threads, tasks.iter_mut().enumerate(), |(t, vectors)| {
                let task = &plan.tasks[t];
                let (inside, outside) = vectors.x.split_at_mut(width * task.columns.len());
                take(inside, x, &plan.order[task.columns.clone()], n, width);
                outside.fill(0.0);
                for front in &plan.fronts[task.fronts.clone()] {
                    self.forward(front, task.columns.start, &mut vectors.x, width);
                }
            });
        }
        for &f in &plan.top {
            let front = &plan.fronts[f as usize];
            let columns = front.first..front.first + front.columns;
            let part = &mut top[width * columns.start..width * columns.end];
            take(part, x, &plan.order[columns], n, width);
        }
        for (task, vectors) in plan.tasks.iter().zip(&*tasks) {
            let reached = vectors.x[width * task.columns.len()..].chunks_exact(width);
            for (&row, reached) in task.outside.iter().zip(reached) {
                let row = width * row as usize;
                top[row..row + width].iter_mut().zip(reached).for_each(|(to, from)| *to += from);
            }
        }
        for &f in &plan.top {
            self.forward(&plan.fronts[f as usize], 0, top, width);
        }
        for &f in plan.top.iter().rev() {
            self.backward(&plan.fronts[f as usize], 0, top, sums, width);
        }
        let top = &**top;
        share(self.threads, tasks.iter_mut().enumerate(), |(t, vectors)| {
            let task = &plan.tasks[t];
            let outside = vectors.x[width * task.columns.len()..].chunks_exact_mut(width);
            for (&row, reached) in task.outside.iter().zip(outside) {
                reached.copy_from_slice(&top[width * row as usize..][..width]);
            }
            for front in plan.fronts[task.fronts.clone()].iter().rev() {
                let TaskVectors { x, sums } = vectors;
                self.backward(front, task.columns.start, x, sums, width);
            }
        });
        for (task, vectors) in plan.tasks.iter().zip(&*tasks) {
            give(x, &vectors.x, &plan.order[task.columns.clone()], n, columns, width);
        }
        for &f in &plan.top {
            let front = &plan.fronts[f as usize];
            let range = front.first..front.first + front.columns;
            give(x, &top[width * range.start..], &plan.order[range.clone()], n, columns, width);
        }
    }

    fn forward(&self, front: &Front, origin: usize, x: &mut [f64], width: usize) {
        let op = Forward { front, solver: self, begin: front.first - origin, x };
        if width == 1 {
            self.arch.dispatch(op);
        } else {
            self.arch.dispatch(ForwardBlock(op));
        }
    }

    fn backward(
        &self,
        front: &Front,
        origin: usize,
        x: &mut [f64],
        sums: &mut [f64],
        width: usize,
    ) {
        let op = Forward { front, solver: self, begin: front.first - origin, x };
        if width == 1 {
            self.arch.dispatch(Backward(op, sums));
        } else {
            self.arch.dispatch(BackwardBlock(op));
        }
    }
}

/// Gathers some rows of column-major X side by side.
fn take(to: &mut [f64], x: &[f64], order: &[u32], n: usize, width: usize) {
    if width == 1 {
        to.iter_mut().zip(order).for_each(|(to, &row)| *to = x[row as usize]);
        return;
    }
    let columns = x.len() / n;
    for (to, &row) in to.chunks_exact_mut(width).zip(order) {
        for c in 0..columns {
            to[c] = x[c * n + row as usize];
        }
        to[columns..].fill(0.0);
    }
}

/// Puts rows back where [`take`] had them from.
fn give(x: &mut [f64], from: &[f64], order: &[u32], n: usize, columns: usize, width: usize) {
    for (from, &row) in from.chunks_exact(width).zip(order) {
        for c in 0..columns {
            x[c * n + row as usize] = from[c];
        }
    }
}

/// One front of a solve; `begin` is its first column in `x`.
struct Forward<'a> {
    front: &'a Front,
    solver: &'a Solver<'a>,
    begin: usize,
    x: &'a mut [f64],
}

/// A front taken apart: pivots and later rows of the vector, strips, inverses, rows.
struct Parts<'a> {
    pivots: &'a mut [f64],
    later: &'a mut [f64],
    strips: std::slice::ChunksExact<'a, f64>,
    inverses: &'a [f64],
    rows: &'a [u32],
    /// Column at which `later` starts.
    offset: usize,
}

impl<'a> Forward<'a> {
    #[inline(always)]
    fn parts(self, width: usize) -> Parts<'a> {
        let Self { front, solver, begin, x } = self;
        let offset = begin + front.columns;
        let (pivots, later) = x.split_at_mut(width * offset);
        Parts {
            pivots: &mut pivots[width * begin..],
            later,
            strips: solver.factor[front.at..front.at + front.factor_len()]
                .chunks_exact(STRIP * front.columns),
            inverses: &solver.inverses[front.first..offset - begin + front.first],
            rows: &solver.plan.rows[front.rows.clone()],
            offset,
        }
    }
}

/// Runs a function with as many registers per eight numbers as it takes.
macro_rules! for_lanes {
    ($simd:ident: $set:ty, $function:ident($($argument:expr),*)) => {
        match <$set>::F64_LANES {
            8 => $function::<$set, 1>($simd, $($argument),*),
            4 => $function::<$set, 2>($simd, $($argument),*),
            2 => $function::<$set, 4>($simd, $($argument),*),
            _ => $function::<$set, 8>($simd, $($argument),*),
        }
    };
}

impl WithSimd for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let signed = self.solver.signed;
        for_lanes!(simd: S, forward(self.parts(1), signed));
    }
}

struct Backward<'a>(Forward<'a>, &'a mut [f64]);

impl WithSimd for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let signed = self.0.solver.signed;
        for_lanes!(simd: S, backward(self.0.parts(1), self.1, signed));
    }
}

struct ForwardBlock<'a>(Forward<'a>);

impl WithSimd for ForwardBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let signed = self.0.solver.signed;
        for_lanes!(simd: S, forward_block(self.0.parts(BLOCK), signed));
    }
}

struct BackwardBlock<'a>(Forward<'a>);

impl WithSimd for BackwardBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let signed = self.0.solver.signed;
        for_lanes!(simd: S, backward_block(self.0.parts(BLOCK), signed));
    }
}

/// Σ_q strip_q x_q, four partial sums at a time: one would wait for itself.
#[inline(always)]
fn product<S: Simd, const V: usize>(simd: S, strip: &[f64], x: &[f64]) -> [f64; STRIP] {
    let strip = S::as_simd_f64s(strip).0.as_chunks::<V>().0;
    let strip = &strip[..x.len()];
    let mut sums = [[simd.splat_f64s(0.0); V]; 4];
    let (fours, rest) = x.as_chunks::<4>();
    let (strip_fours, strip_rest) = strip.as_chunks::<4>();
    for (columns, x) in strip_fours.iter().zip(fours) {
        for k in 0..4 {
            let factor = simd.splat_f64s(x[k]);
            for v in 0..V {
                sums[k][v] = simd.mul_add_e_f64s(columns[k][v], factor, sums[k][v]);
            }
        }
    }
    for (column, &x) in strip_rest.iter().zip(rest) {
        let factor = simd.splat_f64s(x);
        for v in 0..V {
            sums[0][v] = simd.mul_add_e_f64s(column[v], factor, sums[0][v]);
        }
    }
    let mut total = [0.0; STRIP];
    let low = add::<S, V>(simd, sums[0], sums[1]);
    let high = add::<S, V>(simd, sums[2], sums[3]);
    let sum = add::<S, V>(simd, low, high);
    store::<S, V>(&mut total, sum);
    total
}

/// Eliminates the pivots of a front from a right-hand side.
#[inline(always)]
fn forward<S: Simd, const V: usize>(simd: S, parts: Parts<'_>, signed: bool) {
    let Parts { pivots, later, mut strips, inverses, rows, offset } = parts;
    for begin in (0..pivots.len()).step_by(STRIP) {
        let strip = strips.next().expect("a strip per eight pivots");
        let (done, rest) = pivots.split_at_mut(begin);
        let sums = product::<S, V>(simd, strip, done);
        let width = rest.len().min(STRIP);
        let triangle = &strip.as_chunks::<STRIP>().0[begin..begin + width];
        let mut z = [0.0; STRIP];
        for r in 0..width {
            z[r] = rest[r] - sums[r];
        }
        for c in 0..width {
            let x = if signed { z[c] } else { z[c] * inverses[begin + c] };
            rest[c] = x;
            for r in 0..STRIP {
                z[r] -= triangle[c][r] * x;
            }
        }
    }
    for (strip, rows) in strips.zip(rows.chunks(STRIP)) {
        let sums = product::<S, V>(simd, strip, pivots);
        for (sum, &row) in sums.iter().zip(rows) {
            later[row as usize - offset] -= sum;
        }
    }
}

/// Strips whose products are summed together: each takes the sums out of the cache and back.
const TOGETHER: usize = 4;

/// sums_q ← sums_q + strip_q ∘ z, summed over some strips.
#[inline(always)]
fn add_products<S: Simd, const V: usize, const N: usize>(
    simd: S,
    sums: &mut [f64],
    strips: [&[f64]; N],
    z: [[f64; STRIP]; N],
) {
    let sums = S::as_mut_simd_f64s(sums).0.as_chunks_mut::<V>().0;
    let strips = strips.map(|strip| &S::as_simd_f64s(strip).0.as_chunks::<V>().0[..sums.len()]);
    let mut loaded = [[simd.splat_f64s(0.0); V]; N];
    for k in 0..N {
        loaded[k] = load::<S, V>(&z[k]);
    }
    for q in 0..sums.len() {
        for v in 0..V {
            let mut sum = sums[q][v];
            for k in 0..N {
                sum = simd.mul_add_e_f64s(strips[k][q][v], loaded[k][v], sum);
            }
            sums[q][v] = sum;
        }
    }
}

/// Finds the pivots of a front from the later unknowns.
#[inline(always)]
fn backward<S: Simd, const V: usize>(simd: S, parts: Parts<'_>, sums: &mut [f64], signed: bool) {
    let Parts { pivots, later, mut strips, inverses, rows, offset } = parts;
    let sums = &mut sums[..STRIP * pivots.len()];
    sums.fill(0.0);
    let mut pivot_strips = strips.clone();
    let count = pivots.len().div_ceil(STRIP);
    if count > 0 {
        strips.nth(count - 1);
    }
    let gather = |rows: &[u32]| {
        let mut z = [0.0; STRIP];
        for (z, &row) in z.iter_mut().zip(rows) {
            *z = later[row as usize - offset];
        }
        z
    };
    let mut groups = rows.chunks(TOGETHER * STRIP);
    while strips.len() >= TOGETHER {
        let group: [&[f64]; TOGETHER] = std::array::from_fn(|_| strips.next().expect("counted"));
        let mut rows = groups.next().expect("rows for each strip").chunks(STRIP);
        let z = std::array::from_fn(|_| gather(rows.next().unwrap_or_default()));
        add_products::<S, V, TOGETHER>(simd, sums, group, z);
    }
    for (strip, rows) in strips.zip(groups.next().unwrap_or_default().chunks(STRIP)) {
        add_products::<S, V, 1>(simd, sums, [strip], [gather(rows)]);
    }
    for t in (0..count).rev() {
        let strip = pivot_strips.nth_back(pivot_strips.len() - 1 - t).expect("counted");
        let begin = STRIP * t;
        let width = (pivots.len() - begin).min(STRIP);
        let triangle = &strip.as_chunks::<STRIP>().0[begin..begin + width];
        let mut z = [0.0; STRIP];
        for c in (0..width).rev() {
            let inverse = inverses[begin + c];
            let mut sum: f64 = sums[STRIP * (begin + c)..][..STRIP].iter().sum();
            for r in c + 1..STRIP {
                sum += triangle[c][r] * z[r];
            }
            let x = pivots[begin + c];
            z[c] = if signed { x * inverse - sum } else { (x - sum) * inverse };
            pivots[begin + c] = z[c];
        }
        add_products::<S, V, 1>(simd, &mut sums[..STRIP * begin], [strip], [z]);
    }
}

/// [`forward`] for [`BLOCK`] right-hand sides: the roles of strip and vector change.
#[inline(always)]
fn forward_block<S: Simd, const V: usize>(simd: S, parts: Parts<'_>, signed: bool) {
    let Parts { pivots, later, mut strips, inverses, rows, offset } = parts;
    let count = pivots.len() / BLOCK;
    for begin in (0..count).step_by(STRIP) {
        let strip = strips.next().expect("a strip per eight pivots");
        let (done, rest) = pivots.split_at_mut(BLOCK * begin);
        let width = (count - begin).min(STRIP);
        let triangle = &strip.as_chunks::<STRIP>().0[begin..begin + width];
        subtract_rows::<S, V>(simd, done, &strip[..done.len()], |r, sum| {
            if r < width {
                let row = &mut rest[BLOCK * r..][..BLOCK];
                store::<S, V>(row, add::<S, V>(simd, load::<S, V>(row), sum));
            }
        });
        for c in 0..width {
            let (row, below) = rest[BLOCK * c..BLOCK * width].split_at_mut(BLOCK);
            let mut x = load::<S, V>(row);
            if !signed {
                let inverse = simd.splat_f64s(inverses[begin + c]);
                x = scale::<S, V>(simd, x, inverse);
                store::<S, V>(row, x);
            }
            for (row, &factor) in below.chunks_exact_mut(BLOCK).zip(&triangle[c][c + 1..]) {
                let factor = simd.splat_f64s(factor);
                let mut y = load::<S, V>(row);
                for v in 0..V {
                    y[v] = simd.negate_mul_add_e_f64s(x[v], factor, y[v]);
                }
                store::<S, V>(row, y);
            }
        }
    }
    for (strip, rows) in strips.zip(rows.chunks(STRIP)) {
        subtract_rows::<S, V>(simd, pivots, strip, |r, sum| {
            if r < rows.len() {
                let row = &mut later[BLOCK * (rows[r] as usize - offset)..][..BLOCK];
                store::<S, V>(row, add::<S, V>(simd, load::<S, V>(row), sum));
            }
        });
    }
}

/// Calls `put` with −Σ_q x_q strip_qr for each of the eight rows r of a strip.
#[inline(always)]
fn subtract_rows<S: Simd, const V: usize>(
    simd: S,
    x: &[f64],
    strip: &[f64],
    mut put: impl FnMut(usize, [S::f64s; V]),
) {
    // With fewer registers half of the rows at a time.
    if V == 1 {
        let sums = kernels::sums::<S, V, 1, 8>(simd, [x], strip, 0);
        for r in 0..8 {
            put(r, sums[r][0]);
        }
    } else {
        for from in [0, 4] {
            let sums = kernels::sums::<S, V, 1, 4>(simd, [x], strip, from);
            for r in 0..4 {
                put(from + r, sums[r][0]);
            }
        }
    }
}

/// x_q ← x_q − Σ_r strip_qr z_r.
#[inline(always)]
fn subtract_columns<S: Simd, const V: usize>(
    simd: S,
    x: &mut [f64],
    strip: &[f64],
    z: &[[S::f64s; V]; STRIP],
) {
    let strip = strip.as_chunks::<STRIP>().0;
    for (x, factors) in x.chunks_exact_mut(BLOCK).zip(strip) {
        // Two chains of sums: one would wait for itself.
        let mut even = load::<S, V>(x);
        let mut odd = [simd.splat_f64s(0.0); V];
        for r in (0..STRIP).step_by(2) {
            let (a, b) = (simd.splat_f64s(factors[r]), simd.splat_f64s(factors[r + 1]));
            for v in 0..V {
                even[v] = simd.negate_mul_add_e_f64s(z[r][v], a, even[v]);
                odd[v] = simd.negate_mul_add_e_f64s(z[r + 1][v], b, odd[v]);
            }
        }
        store::<S, V>(x, add::<S, V>(simd, even, odd));
    }
}

/// [`backward`] for [`BLOCK`] right-hand sides.
#[inline(always)]
fn backward_block<S: Simd, const V: usize>(simd: S, parts: Parts<'_>, signed: bool) {
    let Parts { pivots, later, mut strips, inverses, rows, offset } = parts;
    let count = pivots.len() / BLOCK;
    let zero = [simd.splat_f64s(0.0); V];
    let mut pivot_strips = strips.clone();
    if count > 0 {
        strips.nth(count.div_ceil(STRIP) - 1);
    }
    if signed {
        for (row, &inverse) in pivots.chunks_exact_mut(BLOCK).zip(inverses) {
            let inverse = simd.splat_f64s(inverse);
            store::<S, V>(row, scale::<S, V>(simd, load::<S, V>(row), inverse));
        }
    }
    for (strip, rows) in strips.zip(rows.chunks(STRIP)) {
        let mut z = [zero; STRIP];
        for (z, &row) in z.iter_mut().zip(rows) {
            *z = load::<S, V>(&later[BLOCK * (row as usize - offset)..]);
        }
        subtract_columns::<S, V>(simd, pivots, strip, &z);
    }
    for t in (0..count.div_ceil(STRIP)).rev() {
        let strip = pivot_strips.nth_back(pivot_strips.len() - 1 - t).expect("counted");
        let begin = STRIP * t;
        let width = (count - begin).min(STRIP);
        let (before, here) = pivots.split_at_mut(BLOCK * begin);
        let triangle = &strip.as_chunks::<STRIP>().0[begin..begin + width];
        let mut z = [zero; STRIP];
        for c in (0..width).rev() {
            let row = &mut here[BLOCK * c..][..BLOCK];
            let mut x = load::<S, V>(row);
            for r in c + 1..width {
                let factor = simd.splat_f64s(triangle[c][r]);
                for v in 0..V {
                    x[v] = simd.negate_mul_add_e_f64s(z[r][v], factor, x[v]);
                }
            }
            if !signed {
                let inverse = simd.splat_f64s(inverses[begin + c]);
                x = scale::<S, V>(simd, x, inverse);
            }
            z[c] = x;
            store::<S, V>(row, x);
        }
        subtract_columns::<S, V>(simd, before, strip, &z);
    }
}
