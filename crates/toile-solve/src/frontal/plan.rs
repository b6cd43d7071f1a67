//! Everything a factorisation needs to know before it sees a number: shapes, places, who adds to whom,
//! and which parts are independent.

use super::tree::{Group, ROOT, Tree, elimination_work};
use crate::SolveError;
use crate::SymmetricPattern;
use std::ops::Range;

/// Rows of a strip: fronts are stored by strips of that many rows, the last one filled up with zeros.
pub(super) const STRIP: usize = 8;

/// Independent subtrees are cut until none has more than this fraction of all work, so that a few
/// threads share them evenly.
const LARGEST_TASK: f64 = 1.0 / 12.0;

/// Work (see [`elimination_work`]) below which nothing is cut: about a millisecond.
const SMALLEST_CUT: f64 = 2e6;

/// Consecutive rows of what a front leaves that are consecutive in its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// First row, among those the front leaves.
    pub(super) from: u32,
    /// Its row in the parent, see [`Front`].
    pub(super) to: u32,
    pub(super) len: u32,
}

/// A dense front: columns to eliminate, the rows below them, and what the elimination leaves on those
/// rows for the parent.
///
/// Its rows are numbered with the pivots first, filled up to whole strips, then the rows below.
#[derive(Clone, Debug)]
pub(super) struct Front {
    /// First column, in the order of the tree.
    pub(super) first: usize,
    pub(super) columns: usize,
    /// Rows below, as a range of [`Plan::rows`].
    pub(super) rows: Range<usize>,
    /// Place of its part of the factor.
    pub(super) at: usize,
    /// First of its entries of the matrix in [`Plan::scatter`].
    pub(super) scatter: usize,
    pub(super) children: Range<usize>,
    /// Rows it leaves for its parent, as a range of [`Plan::runs`].
    pub(super) runs: Range<usize>,
    /// How many of those runs are pivots of the parent.
    pub(super) pivot_runs: usize,
    /// What it leaves is handed from a task to the top, in memory of its own.
    pub(super) handed: bool,
    /// Otherwise, which of two stacks holds it.
    pub(super) side: usize,
    /// Where what it leaves begins.
    pub(super) left_at: usize,
}

impl Front {
    /// Strips of pivot rows.
    pub(super) fn pivot_strips(&self) -> usize {
        self.columns.div_ceil(STRIP)
    }
    /// Strips of rows below.
    pub(super) fn row_strips(&self) -> usize {
        self.rows.len().div_ceil(STRIP)
    }
    pub(super) fn strips(&self) -> usize {
        self.pivot_strips() + self.row_strips()
    }
    /// Numbers in its part of the factor.
    pub(super) fn factor_len(&self) -> usize {
        self.strips() * STRIP * self.columns
    }
    /// Numbers in the square of its pivots and the rectangle below, before elimination.
    pub(super) fn window_len(&self) -> usize {
        self.strips() * self.pivot_strips() * STRIP * STRIP
    }
    /// Numbers in what it leaves.
    pub(super) fn left_len(&self) -> usize {
        column_strip(self.row_strips(), self.row_strips())
    }
}

/// Where column strip `c` of a lower triangle of `strips` strips begins: strip after strip, each with
/// its eight columns from the diagonal strip down.
pub(super) fn column_strip(strips: usize, c: usize) -> usize {
    STRIP * STRIP * (c * strips - c * c.saturating_sub(1) / 2)
}

/// A run of fronts, complete subtrees, that depend on nothing else.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) fronts: Range<usize>,
    pub(super) columns: Range<usize>,
    /// Later rows its fronts reach, in the order of the tree.
    pub(super) outside: Vec<u32>,
    /// Place of what it hands to the top.
    pub(super) handed: Range<usize>,
}

/// Lengths of the memory in which fronts are eliminated one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArenaLen {
    pub(super) sides: [usize; 2],
    pub(super) window: usize,
    pub(super) factor: usize,
}

impl ArenaLen {
    /// Long enough for both.
    pub(super) fn max(&self, other: &Self) -> Self {
        let sides = [self.sides[0].max(other.sides[0]), self.sides[1].max(other.sides[1])];
        let (window, factor) = (self.window.max(other.window), self.factor.max(other.factor));
        Self { sides, window, factor }
    }
}

/// The analysis of a pattern.
pub(super) struct Plan {
    /// `order[new]` is the column of the matrix; the identity for postordered matrices.
    pub(super) order: Vec<u32>,
    pub(super) fronts: Vec<Front>,
    pub(super) children: Vec<u32>,
    pub(super) runs: Vec<Run>,
    /// Rows below each front: in the top, of the whole system; in a task, of its columns followed by its
    /// outside.
    pub(super) rows: Vec<u32>,
    /// Where in its front each entry of the matrix goes, column after column in the order of the tree.
    pub(super) scatter: Vec<u32>,
    /// Independent parts, in the order of the tree.
    pub(super) tasks: Vec<Task>,
    /// Tasks by falling work.
    pub(super) dearest_first: Vec<u32>,
    /// Fronts above the tasks, in the order of the tree.
    pub(super) top: Vec<u32>,
    /// Memory for any task.
    pub(super) task_arena: ArenaLen,
    /// Memory for the top.
    pub(super) top_arena: ArenaLen,
    /// Numbers handed from the tasks to the top.
    pub(super) handed_len: usize,
    pub(super) factor_len: usize,
}

impl Plan {
    /// Plans the factorisation of a checked pattern with this elimination tree (−1 for a root) and
    /// these lengths of the columns of the factor, diagonal included.
    pub(super) fn new(
        pattern: &SymmetricPattern,
        parents: &[isize],
        lengths: &[usize],
    ) -> Result<Self, SolveError> {
        if pattern.n >= ROOT as usize {
            return Err(SolveError::TooLarge { entries: pattern.n });
        }
        let Tree { order, groups, rows } = Tree::new(pattern, parents, lengths);
        let mut this = Self {
            fronts: fronts(&groups),
            order,
            children: Vec::with_capacity(groups.len()),
            runs: Vec::new(),
            rows,
            scatter: Vec::with_capacity(pattern.nnz()),
            tasks: Vec::new(),
            dearest_first: Vec::new(),
            top: Vec::new(),
            task_arena: ArenaLen::default(),
            top_arena: ArenaLen::default(),
            handed_len: 0,
            factor_len: 0,
        };
        this.link_children(&groups);
        this.place_factor(pattern)?;
        this.find_runs(&groups);
        this.cut(&groups);
        this.place_stacks(&groups);
        this.number_rows_in_tasks(&groups);
        Ok(this)
    }

    fn link_children(&mut self, groups: &[Group]) {
        let mut counts = vec![0usize; groups.len() + 1];
        for group in groups.iter().filter(|g| g.parent != ROOT) {
            counts[group.parent as usize + 1] += 1;
        }
        for g in 0..groups.len() {
            counts[g + 1] += counts[g];
            self.fronts[g].children = counts[g]..counts[g + 1];
        }
        self.children = vec![0; counts[groups.len()]];
        for (g, group) in groups.iter().enumerate().filter(|(_, g)| g.parent != ROOT) {
            let slot = &mut counts[group.parent as usize];
            self.children[*slot] = g as u32;
            *slot += 1;
        }
    }

    fn place_factor(&mut self, pattern: &SymmetricPattern) -> Result<(), SolveError> {
        let mut place = vec![0u32; pattern.n];
        for (new, &old) in self.order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let mut local = vec![0u32; pattern.n];
        for front in &mut self.fronts {
            front.at = self.factor_len;
            self.factor_len += front.factor_len();
            if front.window_len() > u32::MAX as usize {
                return Err(SolveError::TooLarge { entries: self.factor_len });
            }
            front.scatter = self.scatter.len();
            let below = STRIP * front.pivot_strips();
            for (k, &row) in self.rows[front.rows.clone()].iter().enumerate() {
                local[row as usize] = (below + k) as u32;
            }
            let columns = front.first..front.first + front.columns;
            for new in columns.clone() {
                local[new] = (new - front.first) as u32;
            }
            let height = (STRIP * front.strips()) as u32;
            for new in columns.clone() {
                let old = self.order[new] as usize;
                let rows = &pattern.row_idx[pattern.col_ptr[old]..pattern.col_ptr[old + 1]];
                let column = (new - front.first) as u32;
                self.scatter
                    .extend(rows.iter().map(|&row| column * height + local[place[row] as usize]));
            }
        }
        Ok(())
    }

    fn find_runs(&mut self, groups: &[Group]) {
        for (g, group) in groups.iter().enumerate() {
            let begin = self.runs.len();
            if group.parent != ROOT {
                let parent = &self.fronts[group.parent as usize];
                let pivots = parent.first..parent.first + parent.columns;
                let below = STRIP * parent.pivot_strips();
                let theirs = &self.rows[parent.rows.clone()];
                let mut k = 0;
                for (from, &row) in self.rows[group.rows.clone()].iter().enumerate() {
                    let to = if pivots.contains(&(row as usize)) {
                        row as usize - pivots.start
                    } else {
                        while theirs[k] != row {
                            k += 1;
                        }
                        below + k
                    } as u32;
                    match self.runs[begin..].last_mut() {
                        // Pivots and rows below do not share a run: they are stored apart.
                        Some(run) if run.to + run.len == to && to as usize != below => run.len += 1,
                        _ => self.runs.push(Run { from: from as u32, to, len: 1 }),
                    }
                }
                let is_pivot = |run: &Run| (run.to as usize) < below;
                self.fronts[g].pivot_runs =
                    self.runs[begin..].iter().filter(|r| is_pivot(r)).count();
            }
            self.fronts[g].runs = begin..self.runs.len();
        }
    }

    /// Cuts the tree into independent tasks, from its structure alone.
    fn cut(&mut self, groups: &[Group]) {
        let count = groups.len();
        // Work of whole subtrees, which are contiguous and end at their root.
        let mut work: Vec<f64> =
            self.fronts.iter().map(|f| elimination_work(f.columns, f.rows.len())).collect();
        let mut first: Vec<usize> = (0..count).collect();
        for g in 0..count {
            if groups[g].parent != ROOT {
                let parent = groups[g].parent as usize;
                work[parent] += work[g];
                first[parent] = first[parent].min(first[g]);
            }
        }
        let is_root = |g: usize| groups[g].parent == ROOT;
        let total: f64 = (0..count).filter(|&g| is_root(g)).map(|g| work[g]).sum();
        let limit = if total < SMALLEST_CUT { f64::INFINITY } else { total * LARGEST_TASK };
        let mut works: Vec<f64> = Vec::new();
        let mut g = count;
        // From the last front back: a subtree is taken whole or its root goes to the top.
        while g > 0 {
            let root = g - 1;
            if work[root] > limit {
                self.top.push(root as u32);
                g = root;
                continue;
            }
            // Neighbours share a task while they are small.
            match (self.tasks.last_mut(), works.last_mut()) {
                (Some(task), Some(sum)) if task.fronts.start == g && *sum + work[root] <= limit => {
                    task.fronts.start = first[root];
                    *sum += work[root];
                }
                _ => {
                    let fronts = first[root]..g;
                    let outside = Vec::new();
                    self.tasks.push(Task { fronts, columns: 0..0, outside, handed: 0..0 });
                    works.push(work[root]);
                }
            }
            g = first[root];
        }
        self.top.reverse();
        self.tasks.reverse();
        works.reverse();
        for task in &mut self.tasks {
            let last = &self.fronts[task.fronts.end - 1];
            task.columns = self.fronts[task.fronts.start].first..last.first + last.columns;
        }
        self.dearest_first = (0..works.len() as u32).collect();
        self.dearest_first.sort_by(|&a, &b| works[b as usize].total_cmp(&works[a as usize]));
    }

    /// Places what fronts leave on two stacks, by the parity of their depth: a front then reads from
    /// the top of one stack what its children left, and pushes on the other. What the roots of tasks
    /// leave has to wait for all tasks and lies apart.
    fn place_stacks(&mut self, groups: &[Group]) {
        for g in (0..groups.len()).rev() {
            if groups[g].parent != ROOT {
                self.fronts[g].side = 1 - self.fronts[groups[g].parent as usize].side;
            }
        }
        for t in 0..self.tasks.len() {
            let fronts = self.tasks[t].fronts.clone();
            let begin = self.handed_len;
            for g in fronts.clone().filter(|&g| groups[g].parent as usize >= fronts.end) {
                self.fronts[g].handed = true;
                self.fronts[g].left_at = self.handed_len;
                self.handed_len += self.fronts[g].left_len();
            }
            self.tasks[t].handed = begin..self.handed_len;
            let len = self.place_on_stacks(fronts);
            self.task_arena = self.task_arena.max(&len);
        }
        let top = std::mem::take(&mut self.top);
        self.top_arena = self.place_on_stacks(top.iter().map(|&g| g as usize));
        self.top = top;
    }

    fn place_on_stacks(&mut self, fronts: impl Iterator<Item = usize>) -> ArenaLen {
        let mut len = ArenaLen::default();
        let mut heights = [0usize; 2];
        for g in fronts {
            let front = &self.fronts[g];
            let side = front.side;
            len.window = len.window.max(front.window_len());
            len.factor = len.factor.max(front.factor_len());
            // The lowest of its children: everything from there on is theirs.
            let mut children = self.children[front.children.clone()].iter();
            let freed = children
                .find(|&&c| !self.fronts[c as usize].handed)
                .map(|&c| self.fronts[c as usize].left_at);
            if !front.handed {
                let left = front.left_len();
                self.fronts[g].left_at = heights[side];
                heights[side] += left;
                len.sides[side] = len.sides[side].max(heights[side]);
            }
            if let Some(at) = freed {
                heights[1 - side] = at;
            }
        }
        len
    }

    /// Numbers the rows of fronts in tasks within their task.
    fn number_rows_in_tasks(&mut self, groups: &[Group]) {
        let mut local = vec![0u32; self.order.len()];
        for task in &mut self.tasks {
            let columns = task.columns.clone();
            for g in task.fronts.clone() {
                // What a subtree reaches outside, its root reaches too.
                if groups[g].parent as usize >= task.fronts.end {
                    task.outside.extend_from_slice(&self.rows[self.fronts[g].rows.clone()]);
                }
            }
            task.outside.sort_unstable();
            task.outside.dedup();
            for (k, &row) in task.outside.iter().enumerate() {
                local[row as usize] = (columns.len() + k) as u32;
            }
            for front in &self.fronts[task.fronts.clone()] {
                for row in &mut self.rows[front.rows.clone()] {
                    *row = if (*row as usize) < columns.end {
                        *row - columns.start as u32
                    } else {
                        local[*row as usize]
                    };
                }
            }
        }
    }
}

fn fronts(groups: &[Group]) -> Vec<Front> {
    groups
        .iter()
        .map(|group| Front {
            first: group.first,
            columns: group.columns,
            rows: group.rows.clone(),
            at: 0,
            scatter: 0,
            children: 0..0,
            runs: 0..0,
            pivot_runs: 0,
            handed: false,
            side: 0,
            left_at: 0,
        })
        .collect()
}
