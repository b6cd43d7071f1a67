//! Which groups of unknowns touch each other.

use crate::SolveError;

/// Graph over nodes; a node is a group of consecutive unknowns that share their neighbours
/// (3 for a vertex, 1 for an edge angle).
///
/// Ordering this graph instead of the unknowns gives the same fill several times sooner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeGraph {
    /// Unknowns of each node.
    pub sizes: Vec<u8>,
    /// Neighbours of node v are `adj[adj_ptr[v]..adj_ptr[v + 1]]`.
    pub adj_ptr: Vec<usize>,
    /// Neighbours, sorted; symmetric, without self loops or repetitions.
    pub adj: Vec<u32>,
}

impl NodeGraph {
    /// Graph whose nodes u and v are neighbours for every pair (u, v), given in any order, any
    /// number of times; pairs (u, u) are ignored.
    ///
    /// Fails when a pair names a node that has no size.
    pub fn from_pairs(
        sizes: Vec<u8>,
        pairs: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, SolveError> {
        let n = sizes.len();
        if n >= u32::MAX as usize {
            return Err(SolveError::TooLarge { entries: n });
        }
        // Both directions of an edge, as one sortable word each.
        let mut arcs: Vec<u64> = Vec::new();
        for (u, v) in pairs {
            for w in [u, v] {
                if w as usize >= n {
                    return Err(SolveError::BadGraph {
                        node: w as usize,
                        reason: "named by a pair but beyond the last node",
                    });
                }
            }
            if u != v {
                arcs.push((u64::from(u) << 32) | u64::from(v));
                arcs.push((u64::from(v) << 32) | u64::from(u));
            }
        }
        arcs.sort_unstable();
        arcs.dedup();
        let mut adj_ptr = vec![0usize; n + 1];
        for arc in &arcs {
            adj_ptr[(arc >> 32) as usize + 1] += 1;
        }
        for v in 0..n {
            adj_ptr[v + 1] += adj_ptr[v];
        }
        let adj = arcs.iter().map(|arc| *arc as u32).collect();
        Ok(Self { sizes, adj_ptr, adj })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Number of unknowns: the sum of the sizes.
    pub fn unknowns(&self) -> usize {
        self.sizes.iter().map(|&s| s as usize).sum()
    }

    /// Neighbours of a node.
    ///
    /// Panics when the node does not exist.
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.adj[self.adj_ptr[node]..self.adj_ptr[node + 1]]
    }

    /// Checks lengths, ranges, sorted neighbours, absence of self loops, and symmetry.
    pub fn check(&self) -> Result<(), SolveError> {
        let bad = |node, reason| Err(SolveError::BadGraph { node, reason });
        let n = self.len();
        if n >= u32::MAX as usize {
            return Err(SolveError::TooLarge { entries: n });
        }
        if self.adj_ptr.len() != n + 1 || self.adj_ptr[0] != 0 || self.adj_ptr[n] != self.adj.len()
        {
            return bad(n, "adj_ptr does not span adj");
        }
        for v in 0..n {
            if self.adj_ptr[v] > self.adj_ptr[v + 1] || self.adj_ptr[v + 1] > self.adj.len() {
                return bad(v, "adj_ptr decreases");
            }
            let neighbours = self.neighbours(v);
            if neighbours.windows(2).any(|w| w[0] >= w[1]) {
                return bad(v, "neighbours are not sorted or repeat");
            }
            if neighbours.iter().any(|&u| u as usize >= n) {
                return bad(v, "a neighbour does not exist");
            }
            if neighbours.binary_search(&(v as u32)).is_ok() {
                return bad(v, "it is its own neighbour");
            }
        }
        for v in 0..n {
            for &u in self.neighbours(v) {
                if self.neighbours(u as usize).binary_search(&(v as u32)).is_err() {
                    return bad(v, "a neighbour does not know it back");
                }
            }
        }
        Ok(())
    }
}
