//! The numbers of a factorisation: fronts assembled, eliminated and handed up the tree.

use super::kernels::{self, Into, Panel, Pivots, Strips, Target};
use super::memory::Memory;
use super::plan::{ArenaLen, Front, Plan, Run, STRIP, column_strip};
use super::threads::share;
use crate::SolveError;
use pulp::{Arch, Simd, WithSimd};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pivot strips eliminated at once: 192 columns, so that three strips of them stay in the nearest
/// cache.
const PANEL_STRIPS: usize = 24;

/// Strips, of rows or of columns, that one thread takes of a large front.
const SHARED_STRIPS: usize = 12;

/// Memory in which the fronts of a task are eliminated one after the other.
pub(super) struct Arena {
    /// What fronts leave for their parents, by the parity of their depth.
    sides: [Memory; 2],
    /// The front at hand before elimination.
    window: Memory,
    /// Its L D; empty for LLᵀ.
    scaled: Memory,
}

impl Arena {
    pub(super) fn new(len: &ArenaLen, signed: bool) -> Result<Self, SolveError> {
        Ok(Self {
            sides: [Memory::new(len.sides[0])?, Memory::new(len.sides[1])?],
            window: Memory::new(len.window)?,
            scaled: Memory::new(if signed { len.factor } else { 0 })?,
        })
    }
}

/// One factorisation.
pub(super) struct Factorization<'a> {
    pub(super) arch: Arch,
    pub(super) plan: &'a Plan,
    /// Entries of the matrix, and where its columns start among them.
    pub(super) values: &'a [f64],
    pub(super) col_ptr: &'a [usize],
    pub(super) pivots: Pivots<'a>,
    pub(super) threads: usize,
    /// First column of the matrix without a pivot, so far.
    failed: AtomicUsize,
}

/// What a task writes.
struct TaskData<'a> {
    factor: &'a mut [f64],
    inverses: &'a mut [f64],
    handed: &'a mut [f64],
}

impl<'a> Factorization<'a> {
    pub(super) fn new(
        arch: Arch,
        plan: &'a Plan,
        values: &'a [f64],
        col_ptr: &'a [usize],
        pivots: Pivots<'a>,
        threads: usize,
    ) -> Self {
        let failed = AtomicUsize::new(usize::MAX);
        Self { arch, plan, values, col_ptr, pivots, threads, failed }
    }

    /// Writes the factor and the inverses of its pivots; on failure returns the first column of the
    /// matrix without a pivot, whatever the threads met first.
    ///
    /// There is an arena per thread, one of them large enough for the top.
    pub(super) fn run(
        &self,
        arenas: &Mutex<Vec<Arena>>,
        handed: &mut [f64],
        factor: &mut [f64],
        inverses: &mut [f64],
    ) -> Result<(), usize> {
        let plan = self.plan;
        // Cut the factor where tasks begin and end; what lies between belongs to the top.
        let mut tasks: Vec<Option<TaskData<'_>>> = Vec::with_capacity(plan.tasks.len());
        let mut top = Vec::with_capacity(plan.top.len());
        let (mut factor, mut inverses, mut rest) = (factor, inverses, &mut *handed);
        let mut top_fronts = plan.top.iter().peekable();
        let mut next_task = plan.tasks.iter().peekable();
        loop {
            let from_top = match (top_fronts.peek(), next_task.peek()) {
                (Some(&&front), Some(task)) => (front as usize) < task.fronts.start,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            if from_top {
                let front = &plan.fronts[*top_fronts.next().expect("peeked") as usize];
                let part = factor.split_off_mut(..front.factor_len()).expect("planned");
                let inverses = inverses.split_off_mut(..front.columns).expect("planned");
                top.push((front, part, inverses));
            } else {
                let task = next_task.next().expect("peeked");
                let fronts = &plan.fronts[task.fronts.clone()];
                let len = fronts.iter().map(Front::factor_len).sum();
                let factor = factor.split_off_mut(..len).expect("planned");
                let inverses = inverses.split_off_mut(..task.columns.len()).expect("planned");
                let handed = rest.split_off_mut(..task.handed.len()).expect("planned");
                tasks.push(Some(TaskData { factor, inverses, handed }));
            }
        }
        let by_work = plan.dearest_first.iter().map(|&t| {
            let t = t as usize;
            (t, tasks[t].take().expect("each task once"))
        });
        let lock = || arenas.lock().expect("a task that panics ends the whole");
        share(self.threads, by_work, |(t, data)| {
            let mut arena = lock().pop().expect("an arena per thread");
            self.run_task(t, data, &mut arena);
            lock().push(arena);
        });
        let mut arenas = lock();
        let largest = |arena: &&mut Arena| arena.window.len();
        let arena = arenas.iter_mut().max_by_key(largest).expect("an arena per thread");
        for (front, factor, inverses) in top {
            self.eliminate(front, arena, handed, &mut [], factor, inverses, self.threads);
        }
        match self.failed.load(Ordering::Relaxed) {
            usize::MAX => Ok(()),
            column => Err(column),
        }
    }

    fn run_task(&self, t: usize, data: TaskData<'_>, arena: &mut Arena) {
        let TaskData { mut factor, mut inverses, mut handed } = data;
        for front in &self.plan.fronts[self.plan.tasks[t].fronts.clone()] {
            let factor = factor.split_off_mut(..front.factor_len()).expect("planned");
            let inverses = inverses.split_off_mut(..front.columns).expect("planned");
            let len = if front.handed { front.left_len() } else { 0 };
            let handed = handed.split_off_mut(..len).expect("planned");
            self.eliminate(front, arena, &[], handed, factor, inverses, 1);
        }
    }

    /// Assembles a front, eliminates its columns, and leaves the rest for its parent.
    ///
    /// What its children left is in `arena` or, from tasks to the top, in `taken`; what it leaves goes
    /// to `arena` or, from a task to the top, to `given`.
    fn eliminate(
        &self,
        front: &Front,
        arena: &mut Arena,
        taken: &[f64],
        given: &mut [f64],
        factor: &mut [f64],
        inverses: &mut [f64],
        threads: usize,
    ) {
        let plan = self.plan;
        let order = &plan.order[front.first..front.first + front.columns];
        // Descendants of a column come before it: with the first one beyond a failure nothing here
        // can be the first failure. Below it, what failed cannot have been among the descendants.
        if order[0] as usize > self.failed.load(Ordering::Relaxed) {
            return;
        }
        let [even, odd] = &mut arena.sides;
        let (mine, theirs) = if front.side == 0 { (even, &*odd) } else { (odd, &*even) };
        let left =
            if front.handed { given } else { &mut mine[front.left_at..][..front.left_len()] };
        let window = &mut arena.window[..front.window_len()];
        let children = || {
            plan.children[front.children.clone()].iter().map(|&c| {
                let child = &plan.fronts[c as usize];
                let side: &[f64] = if child.handed { taken } else { theirs };
                Child {
                    strips: child.row_strips(),
                    rows: child.rows.len(),
                    left: &side[child.left_at..][..child.left_len()],
                    runs: &plan.runs[child.runs.clone()],
                    pivot_runs: child.pivot_runs,
                }
            })
        };
        let height = STRIP * front.strips();
        let width = STRIP * if threads > 1 { SHARED_STRIPS } else { front.pivot_strips() };
        share(threads, window.chunks_mut(width * height).enumerate(), |(piece, window)| {
            let columns = piece * width..piece * width + window.len() / height;
            self.assemble_window(front, &columns, height, window, children());
        });
        let strips = front.row_strips();
        let add_children = |columns: Range<usize>, left: &mut [f64]| {
            for child in children() {
                self.arch.dispatch(AddLeft {
                    child,
                    front,
                    columns: columns.clone(),
                    strips,
                    left,
                });
            }
        };
        let outcome = if self.pivots.is_signed() {
            let scaled = &mut arena.scaled[..front.factor_len()];
            self.eliminate_window::<true>(
                front,
                window,
                factor,
                scaled,
                inverses,
                left,
                threads,
                add_children,
            )
        } else {
            self.eliminate_window::<false>(
                front,
                window,
                factor,
                &mut [],
                inverses,
                left,
                threads,
                add_children,
            )
        };
        if let Err(column) = outcome {
            self.failed.fetch_min(order[column] as usize, Ordering::Relaxed);
        }
    }

    /// The entries of the matrix and what children left, in some columns of the window.
    fn assemble_window<'c>(
        &self,
        front: &Front,
        columns: &Range<usize>,
        height: usize,
        window: &mut [f64],
        children: impl Iterator<Item = Child<'c>>,
    ) {
        window.fill(0.0);
        let begin = columns.start.min(front.columns);
        let end = columns.end.min(front.columns);
        let entries = |c: usize| {
            let column = self.plan.order[front.first + c] as usize;
            self.col_ptr[column]..self.col_ptr[column + 1]
        };
        let mut at = front.scatter;
        if begin > 0 {
            at += (0..begin).map(|c| entries(c).len()).sum::<usize>();
        }
        let offset = begin * height;
        for c in begin..end {
            let values = &self.values[entries(c)];
            for (&value, &to) in values.iter().zip(&self.plan.scatter[at..]) {
                window[to as usize - offset] = value;
            }
            at += values.len();
        }
        for child in children {
            self.arch.dispatch(AddWindow { child, columns: columns.clone(), height, window });
        }
    }

    fn eliminate_window<const SIGNED: bool>(
        &self,
        front: &Front,
        window: &mut [f64],
        l: &mut [f64],
        ld: &mut [f64],
        inverses: &mut [f64],
        left: &mut [f64],
        threads: usize,
        add_children: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) -> Result<(), usize> {
        let pivot_strips = front.pivot_strips();
        let stride = STRIP * front.columns;
        let height = STRIP * front.strips();
        for begin in (0..pivot_strips).step_by(PANEL_STRIPS) {
            let end = (begin + PANEL_STRIPS).min(pivot_strips);
            let panel = Panel { strips: begin..end, columns: front.columns, all: front.strips() };
            self.arch.dispatch(EliminatePivots::<SIGNED> {
                panel: &panel,
                window,
                factor: Strips { l, ld },
                inverses,
                pivots: &self.pivots,
                first: front.first,
            })?;
            let (l_pivots, l_rows) = l.split_at_mut(end * stride);
            let (ld_pivots, ld_rows) = ld.split_at_mut(if SIGNED { end * stride } else { 0 });
            let share_rows = if threads > 1 { SHARED_STRIPS } else { front.strips() };
            let mut ld_chunks = ld_rows.chunks_mut(share_rows * stride);
            let pieces = l_rows
                .chunks_mut(share_rows * stride)
                .enumerate()
                .map(|(piece, l)| (piece, Strips { l, ld: ld_chunks.next().unwrap_or_default() }));
            share(threads, pieces, |(piece, rows)| {
                self.arch.dispatch(EliminateRows::<SIGNED> {
                    panel: &panel,
                    from: end + piece * share_rows,
                    window,
                    rows,
                    l_pivots,
                    ld_pivots,
                    inverses,
                });
            });
            let (l, ld) = (&*l, if SIGNED { &*ld } else { &*l });
            let multiply = |columns, to: &mut [f64], target, into| {
                let panel = &panel;
                self.arch.dispatch(Multiply { panel, columns, l, ld, to, target, into });
            };
            if end < pivot_strips {
                let later = &mut window[end * STRIP * height..];
                let share_columns = if threads > 1 { SHARED_STRIPS } else { PANEL_STRIPS };
                let pieces = later.chunks_mut(share_columns * STRIP * height).enumerate();
                share(threads, pieces, |(piece, window)| {
                    let first = end + piece * share_columns;
                    let columns = first..first + window.len() / (STRIP * height);
                    multiply(columns, window, Target::Window, Into::Subtract);
                });
            }
            let into = if begin == 0 { Into::Assign } else { Into::Subtract };
            share(threads, left_pieces(left, front.row_strips(), threads), |(columns, left)| {
                let shifted = columns.start + pivot_strips..columns.end + pivot_strips;
                multiply(shifted, left, Target::Left, into);
                if end == pivot_strips {
                    // While the columns are near.
                    add_children(columns, left);
                }
            });
        }
        Ok(())
    }
}

/// The columns a front leaves, cut for the threads; their strips are numbered from the first row below.
fn left_pieces(
    left: &mut [f64],
    strips: usize,
    threads: usize,
) -> impl Iterator<Item = (Range<usize>, &mut [f64])> {
    let width = if threads > 1 { SHARED_STRIPS } else { PANEL_STRIPS };
    let mut rest = left;
    (0..strips).step_by(width).map(move |begin| {
        let end = (begin + width).min(strips);
        let len = column_strip(strips, end) - column_strip(strips, begin);
        (begin..end, rest.split_off_mut(..len).expect("planned"))
    })
}

/// What a child left, and where its rows are in the parent.
#[derive(Clone, Copy)]
struct Child<'a> {
    strips: usize,
    rows: usize,
    left: &'a [f64],
    runs: &'a [Run],
    pivot_runs: usize,
}

impl<'a> Child<'a> {
    /// Column `j` from its diagonal down.
    #[inline(always)]
    fn column(&self, j: usize) -> &'a [f64] {
        let strip = j / STRIP;
        let height = STRIP * (self.strips - strip);
        let at = column_strip(self.strips, strip) + (j % STRIP) * height;
        &self.left[at + j % STRIP..at + self.rows - STRIP * strip]
    }

    /// Adds the column that is `passed` columns into run `k` to a column of the parent, whose first
    /// number is that of row `base`.
    #[inline(always)]
    fn add_column(&self, k: usize, passed: usize, target: &mut [f64], base: usize) {
        let run = self.runs[k];
        let mut source = self.column(run.from as usize + passed);
        let mut at = run.to as usize + passed - base;
        let mut len = run.len as usize - passed;
        for next in &self.runs[k + 1..] {
            add(&mut target[at..at + len], &source[..len]);
            source = &source[len..];
            at = next.to as usize - base;
            len = next.len as usize;
        }
        add(&mut target[at..at + len], &source[..len]);
    }
}

#[inline(always)]
fn add(to: &mut [f64], from: &[f64]) {
    // Runs are short, often of few threes: the loop a compiler makes of this would hardly begin.
    let (to, from) = add_by::<8>(to, from);
    let (to, from) = add_by::<4>(to, from);
    let (to, from) = add_by::<2>(to, from);
    add_by::<1>(to, from);
}

/// Adds as many whole chunks as there are, and returns the rest.
#[inline(always)]
fn add_by<'a, 'b, const N: usize>(
    to: &'a mut [f64],
    from: &'b [f64],
) -> (&'a mut [f64], &'b [f64]) {
    let ((to, to_rest), (from, from_rest)) = (to.as_chunks_mut::<N>(), from.as_chunks::<N>());
    for (to, from) in to.iter_mut().zip(from) {
        for k in 0..N {
            to[k] += from[k];
        }
    }
    (to_rest, from_rest)
}

/// Adds what a child left to some columns of the window of its parent.
struct AddWindow<'a, 'w> {
    child: Child<'a>,
    columns: Range<usize>,
    height: usize,
    window: &'w mut [f64],
}

impl WithSimd for AddWindow<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { child, columns, height, window } = self;
        for k in 0..child.pivot_runs {
            let run = child.runs[k];
            let to = run.to as usize..(run.to + run.len) as usize;
            for column in to.start.max(columns.start)..to.end.min(columns.end) {
                let target = &mut window[(column - columns.start) * height..][..height];
                child.add_column(k, column - to.start, target, 0);
            }
        }
    }
}

/// Adds what a child left to some column strips of what its parent leaves.
struct AddLeft<'a, 'w> {
    child: Child<'a>,
    front: &'a Front,
    columns: Range<usize>,
    strips: usize,
    left: &'w mut [f64],
}

impl WithSimd for AddLeft<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { child, front, columns, strips, left } = self;
        let below = STRIP * front.pivot_strips();
        let begin = column_strip(strips, columns.start);
        let wanted = below + STRIP * columns.start..below + STRIP * columns.end;
        for k in child.pivot_runs..child.runs.len() {
            let run = child.runs[k];
            let to = run.to as usize..(run.to + run.len) as usize;
            for column in to.start.max(wanted.start)..to.end.min(wanted.end) {
                let strip = (column - below) / STRIP;
                let height = STRIP * (strips - strip);
                let at = column_strip(strips, strip) - begin + (column - below) % STRIP * height;
                let target = &mut left[at..at + height];
                child.add_column(k, column - to.start, target, below + STRIP * strip);
            }
        }
    }
}

/// As many strips side by side, and columns of a tile at once, as there are registers for.
macro_rules! for_registers {
    ($simd:ident: $set:ty, $function:ident<V, R, NR $(, $signed:ident)?>($($argument:expr),* $(,)?)) => {
        match <$set>::F64_LANES {
            8 => kernels::$function::<$set, 1, 3, 8 $(, $signed)?>($simd, $($argument),*),
            4 => kernels::$function::<$set, 2, 1, 4 $(, $signed)?>($simd, $($argument),*),
            2 => kernels::$function::<$set, 4, 1, 4 $(, $signed)?>($simd, $($argument),*),
            _ => kernels::$function::<$set, 8, 1, 2 $(, $signed)?>($simd, $($argument),*),
        }
    };
}

struct EliminatePivots<'a, const SIGNED: bool> {
    panel: &'a Panel,
    window: &'a [f64],
    factor: Strips<'a>,
    inverses: &'a mut [f64],
    pivots: &'a Pivots<'a>,
    first: usize,
}

impl<const SIGNED: bool> WithSimd for EliminatePivots<'_, SIGNED> {
    type Output = Result<(), usize>;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { panel, window, factor, inverses, pivots, first } = self;
        for_registers!(simd: S, eliminate_pivots<V, R, NR, SIGNED>(
            panel, window, factor, inverses, pivots, first
        ))
    }
}

struct EliminateRows<'a, const SIGNED: bool> {
    panel: &'a Panel,
    from: usize,
    window: &'a [f64],
    rows: Strips<'a>,
    l_pivots: &'a [f64],
    ld_pivots: &'a [f64],
    inverses: &'a [f64],
}

impl<const SIGNED: bool> WithSimd for EliminateRows<'_, SIGNED> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { panel, from, window, rows, l_pivots, ld_pivots, inverses } = self;
        for_registers!(simd: S, eliminate_rows<V, R, NR, SIGNED>(
            panel, from, window, rows, l_pivots, ld_pivots, inverses
        ));
    }
}

struct Multiply<'a> {
    panel: &'a Panel,
    columns: Range<usize>,
    l: &'a [f64],
    ld: &'a [f64],
    to: &'a mut [f64],
    target: Target,
    into: Into,
}

impl WithSimd for Multiply<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { panel, columns, l, ld, to, target, into } = self;
        for_registers!(simd: S, multiply<V, R, NR>(panel, columns, l, ld, to, target, into));
    }
}
