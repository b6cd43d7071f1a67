//! Which columns are eliminated together: the tree of dense fronts.

use crate::SymmetricPattern;

/// No parent.
pub(super) const ROOT: u32 = u32::MAX;

/// Columns eliminated together, and the later rows they reach.
pub(super) struct Group {
    /// First column, in the order of the tree.
    pub(super) first: usize,
    /// Number of columns.
    pub(super) columns: usize,
    /// Rows below the columns, as a range of [`Tree::rows`].
    pub(super) rows: std::ops::Range<usize>,
    /// Group that receives what the elimination leaves, or [`ROOT`].
    pub(super) parent: u32,
}

/// Groups in postorder: each subtree is contiguous, in groups and in columns.
pub(super) struct Tree {
    /// `order[new]` is the column of the matrix.
    pub(super) order: Vec<u32>,
    pub(super) groups: Vec<Group>,
    /// Rows of all groups, in the order of the tree, ascending in each.
    pub(super) rows: Vec<u32>,
}

impl Tree {
    /// From the elimination tree of a checked pattern (−1 for a root) and the lengths of the columns of
    /// its factor, diagonal included. Fewer than 2³² columns.
    pub(super) fn new(pattern: &SymmetricPattern, parents: &[isize], lengths: &[usize]) -> Self {
        let post = postorder(parents);
        let merged = Merged::new(&post, parents, lengths);
        let (order, mut groups) = merged.in_order(&post);
        let rows = rows(pattern, &order, &mut groups);
        Self { order, groups, rows }
    }
}

/// Children before parents, each subtree contiguous, children in the order they have.
fn postorder(parents: &[isize]) -> Vec<u32> {
    let n = parents.len();
    let children = Children::new(n, |j| if parents[j] < 0 { ROOT } else { parents[j] as u32 });
    children.postorder()
}

/// Linked lists of children, in ascending order.
struct Children {
    first: Vec<u32>,
    sibling: Vec<u32>,
    first_root: u32,
}

impl Children {
    fn new(n: usize, parent: impl Fn(usize) -> u32) -> Self {
        let mut this = Self { first: vec![ROOT; n], sibling: vec![ROOT; n], first_root: ROOT };
        for j in (0..n).rev() {
            let head = match parent(j) {
                ROOT => &mut this.first_root,
                p => &mut this.first[p as usize],
            };
            this.sibling[j] = std::mem::replace(head, j as u32);
        }
        this
    }

    fn of(&self, j: usize) -> impl Iterator<Item = usize> {
        let next = |c: u32| (c != ROOT).then_some(c);
        std::iter::successors(next(self.first[j]), move |&c| next(self.sibling[c as usize]))
            .map(|c| c as usize)
    }

    fn postorder(&self) -> Vec<u32> {
        let mut result = Vec::with_capacity(self.first.len());
        let mut open = Vec::new();
        let mut next = self.first_root;
        loop {
            while next != ROOT {
                open.push(next);
                next = self.first[next as usize];
            }
            let Some(done) = open.pop() else { break };
            result.push(done);
            next = self.sibling[done as usize];
        }
        result
    }
}

/// Modelled time of eliminating `columns` columns with `rows` rows below, without assembly, in units of
/// one multiplication of eight numbers.
///
/// Measured on an AVX-512 core; only its proportions matter, and those little.
pub(super) fn elimination_work(columns: usize, rows: usize) -> f64 {
    let (k, m) = (padded(columns), padded(rows));
    let products = (k * k * k / 3.0 + k * k * m + k * m * m) / 16.0;
    // Pivots are a chain of square roots and divisions; each number stored is written once and read
    // by solves.
    200.0 + 30.0 * columns as f64 + products + 0.35 * k * (k + m) + 0.1 * m * m
}

/// Modelled time of adding what a front leaves to its parent.
fn assembly_work(rows: usize) -> f64 {
    let m = padded(rows);
    100.0 + 0.4 * m * m
}

fn padded(count: usize) -> f64 {
    count.next_multiple_of(8) as f64
}

/// Columns with equal patterns together, then groups with their parents where the arithmetic on stored
/// zeros costs less than another front.
struct Merged {
    /// Group j holds `begin[j]..begin[j + 1]` of the postorder before merging.
    begin: Vec<usize>,
    parent: Vec<u32>,
    /// Merged into its parent.
    gone: Vec<bool>,
}

impl Merged {
    fn new(post: &[u32], parents: &[isize], lengths: &[usize]) -> Self {
        let n = post.len();
        let mut place = vec![0u32; n];
        for (k, &j) in post.iter().enumerate() {
            place[j as usize] = k as u32;
        }
        let mut begin = Vec::new();
        let mut group = vec![0u32; n];
        for (k, &j) in post.iter().enumerate() {
            let follows = k > 0 && {
                let before = post[k - 1] as usize;
                parents[before] == j as isize && lengths[before] == lengths[j as usize] + 1
            };
            if !follows {
                begin.push(k);
            }
            group[k] = begin.len() as u32 - 1;
        }
        let count = begin.len();
        begin.push(n);
        let mut columns: Vec<usize> = begin.windows(2).map(|w| w[1] - w[0]).collect();
        let last = |g: usize| post[begin[g + 1] - 1] as usize;
        let rows: Vec<usize> = (0..count).map(|g| lengths[last(g)] - 1).collect();
        let parent: Vec<u32> = (0..count)
            .map(|g| match parents[last(g)] {
                p if p < 0 => ROOT,
                p => group[place[p as usize] as usize],
            })
            .collect();
        let children = Children::new(count, |g| parent[g]);
        let mut gone = vec![false; count];
        let mut candidates = Vec::new();
        for p in 0..count {
            // The fewer zeros a child brings the sooner it is looked at.
            candidates.clear();
            candidates.extend(children.of(p));
            candidates.sort_by_key(|&c| (columns[c] * (columns[p] + rows[p] - rows[c]), c));
            for &c in &candidates {
                let apart = elimination_work(columns[c], rows[c])
                    + assembly_work(rows[c])
                    + elimination_work(columns[p], rows[p]);
                if elimination_work(columns[c] + columns[p], rows[p]) <= apart {
                    columns[p] += columns[c];
                    gone[c] = true;
                }
            }
        }
        Self { begin, parent, gone }
    }

    /// Order of all columns, and the groups that remain, without their rows.
    fn in_order(&self, post: &[u32]) -> (Vec<u32>, Vec<Group>) {
        let count = self.gone.len();
        // Parents come after their children, so that going down owners are known.
        let mut owner: Vec<u32> = (0..count as u32).collect();
        for g in (0..count).rev() {
            if self.gone[g] {
                owner[g] = owner[self.parent[g] as usize];
            }
        }
        let up = |g: usize| match self.parent[g] {
            ROOT => ROOT,
            p => owner[p as usize],
        };
        let members = Children::new(count, |g| owner[g]);
        // Those that are gone hang below a node that does not exist, where the traversal never comes.
        let nowhere = count as u32;
        let tree =
            Children::new(count + 1, |g| if g == count || self.gone[g] { nowhere } else { up(g) });
        let mut order = Vec::with_capacity(post.len());
        let mut groups: Vec<Group> = Vec::new();
        let mut renumbered = vec![ROOT; count];
        for g in tree.postorder() {
            let g = g as usize;
            renumbered[g] = groups.len() as u32;
            let first = order.len();
            for member in members.of(g) {
                order.extend_from_slice(&post[self.begin[member]..self.begin[member + 1]]);
            }
            // As in the matrix, which ancestors follow too: the first failure in a front is then the
            // first of its columns.
            order[first..].sort_unstable();
            let columns = order.len() - first;
            groups.push(Group { first, columns, rows: 0..0, parent: up(g) });
        }
        for group in &mut groups {
            if group.parent != ROOT {
                group.parent = renumbered[group.parent as usize];
            }
        }
        (order, groups)
    }
}

/// Rows below each group: those of its columns in the matrix and those its children reach.
fn rows(pattern: &SymmetricPattern, order: &[u32], groups: &mut [Group]) -> Vec<u32> {
    let n = order.len();
    let mut place = vec![0u32; n];
    for (new, &old) in order.iter().enumerate() {
        place[old as usize] = new as u32;
    }
    let children = Children::new(groups.len(), |g| groups[g].parent);
    let mut rows: Vec<u32> = Vec::new();
    let mut seen = vec![ROOT; n];
    for g in 0..groups.len() {
        let begin = rows.len();
        let end = (groups[g].first + groups[g].columns) as u32;
        let mut meet = |row: u32, rows: &mut Vec<u32>| {
            if row >= end && seen[row as usize] != g as u32 {
                seen[row as usize] = g as u32;
                rows.push(row);
            }
        };
        for child in children.of(g) {
            for k in groups[child].rows.clone() {
                meet(rows[k], &mut rows);
            }
        }
        for &old in &order[groups[g].first..end as usize] {
            let old = old as usize;
            for &row in &pattern.row_idx[pattern.col_ptr[old]..pattern.col_ptr[old + 1]] {
                meet(place[row], &mut rows);
            }
        }
        rows[begin..].sort_unstable();
        groups[g].rows = begin..rows.len();
    }
    rows
}
