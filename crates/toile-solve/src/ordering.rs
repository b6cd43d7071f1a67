//! In which order to eliminate.

use crate::NodeGraph;
use crate::backend::approximate_minimum_degree;
use feral_metis::{CscPattern, metis_order};

/// How to choose the order of elimination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// Minimum degree for small graphs, nested dissection for large ones.
    #[default]
    Auto,
    /// As numbered (then postordered): for chains, or to compare.
    Natural,
    /// Approximate minimum degree: quick, and as good as dissection on small meshes. The choice when
    /// the pattern changes at every step.
    Amd,
    /// Nested dissection: several times slower to find, less fill on large meshes. Pays when the
    /// pattern serves for several factorisations.
    NestedDissection,
}

/// Nodes from which nested dissection repays its own cost within about ten factorisations.
///
/// Measured on sheets: the search costs 10, 53 and 265 ms more than minimum degree at 2.5, 10 and
/// 40 thousand vertices, and saves 0.5–1, 9–12 and 155–180 ms per factorisation.
const DISSECTION_PAYS_FROM: usize = 5_000;

/// Elimination order of the nodes: `order[k]` is eliminated k-th. Postordered along the elimination
/// tree, so that columns with equal pattern are consecutive. Depends on nothing but the graph.
///
/// Panics when the graph is malformed, see [`NodeGraph::check`].
pub fn elimination_order(graph: &NodeGraph, ordering: Ordering) -> Vec<u32> {
    if let Err(error) = graph.check() {
        panic!("{error}");
    }
    let dissect = match ordering {
        Ordering::Natural => return postordered(graph, natural(graph)),
        Ordering::Amd => false,
        Ordering::NestedDissection => true,
        Ordering::Auto => graph.len() >= DISSECTION_PAYS_FROM,
    };
    let order = if dissect { nested_dissection(graph) } else { None };
    // Any order is correct: falling back costs time only.
    let order =
        order.or_else(|| approximate_minimum_degree(graph).ok()).unwrap_or_else(|| natural(graph));
    postordered(graph, order)
}

/// [`elimination_order`] with the nodes of `last` after all others, as they are given: what is left of the
/// matrix when the others are eliminated is then at the end of the factor.
///
/// Panics when the graph is malformed, or `last` names a node twice or one that does not exist.
pub fn elimination_order_with_last(
    graph: &NodeGraph,
    ordering: Ordering,
    last: &[u32],
) -> Vec<u32> {
    if last.is_empty() {
        return elimination_order(graph, ordering);
    }
    const LAST: u32 = u32::MAX;
    let mut number = vec![0u32; graph.len()];
    for &v in last {
        let before = std::mem::replace(&mut number[v as usize], LAST);
        assert!(before != LAST, "node {v} is named twice");
    }
    let others: Vec<u32> =
        (0..graph.len() as u32).filter(|v| number[*v as usize] != LAST).collect();
    for (k, &v) in others.iter().enumerate() {
        number[v as usize] = k as u32;
    }
    // Fill among the others is not changed by what comes after them.
    let mut rest = NodeGraph { sizes: Vec::new(), adj_ptr: vec![0], adj: Vec::new() };
    for &v in &others {
        rest.sizes.push(graph.sizes[v as usize]);
        let around = graph.neighbours(v as usize).iter().map(|u| number[*u as usize]);
        rest.adj.extend(around.filter(|u| *u != LAST));
        rest.adj_ptr.push(rest.adj.len());
    }
    let order = elimination_order(&rest, ordering);
    order.into_iter().map(|k| others[k as usize]).chain(last.iter().copied()).collect()
}

fn natural(graph: &NodeGraph) -> Vec<u32> {
    (0..graph.len() as u32).collect()
}

/// Reference: Karypis, Kumar 1998, "A fast and high quality multilevel scheme for partitioning
/// irregular graphs"; George 1973 for the principle.
fn nested_dissection(graph: &NodeGraph) -> Option<Vec<u32>> {
    if graph.adj.len() > i32::MAX as usize || graph.is_empty() {
        return None;
    }
    let pointers: Vec<i32> = graph.adj_ptr.iter().map(|&p| p as i32).collect();
    let neighbours: Vec<i32> = graph.adj.iter().map(|&v| v as i32).collect();
    let pattern = CscPattern::new(graph.len(), &pointers, &neighbours)?;
    let order: Vec<u32> = metis_order(&pattern).ok()?.into_iter().map(|v| v as u32).collect();
    // A foreign answer is checked before it is used as an index.
    let mut seen = vec![false; graph.len()];
    for &v in &order {
        if std::mem::replace(seen.get_mut(v as usize)?, true) {
            return None;
        }
    }
    (order.len() == graph.len()).then_some(order)
}

/// The same elimination, renumbered so that each subtree of the elimination tree is contiguous and
/// the child with the longest column comes last, right before its parent: the two then share their
/// pattern or nearly so, and merge into one dense block.
///
/// Fill is unchanged. Reference: Liu 1990, "The role of elimination trees in sparse factorization".
pub fn postordered(graph: &NodeGraph, order: Vec<u32>) -> Vec<u32> {
    let n = graph.len();
    let mut rank = vec![0u32; n];
    for (k, &v) in order.iter().enumerate() {
        rank[v as usize] = k as u32;
    }
    const ROOT: u32 = u32::MAX;
    // Elimination tree, with path compression in `ancestor`.
    let mut parent = vec![ROOT; n];
    let mut ancestor = vec![ROOT; n];
    for k in 0..n as u32 {
        for &u in graph.neighbours(order[k as usize] as usize) {
            let mut i = rank[u as usize];
            while i < k && i != ROOT {
                let next = ancestor[i as usize];
                ancestor[i as usize] = k;
                if next == ROOT {
                    parent[i as usize] = k;
                    break;
                }
                i = next;
            }
        }
    }
    let lengths = column_lengths(graph, &order, &rank, &parent);
    // Children as linked lists, longest column first: the traversal below takes them from the head
    // and the output is written backwards.
    let mut by_length: Vec<u32> = (0..n as u32).collect();
    by_length.sort_by_key(|&k| (lengths[k as usize], k));
    let mut first_child = vec![ROOT; n];
    let mut sibling = vec![ROOT; n];
    let mut first_root = ROOT;
    for &k in &by_length {
        let head = match parent[k as usize] {
            ROOT => &mut first_root,
            p => &mut first_child[p as usize],
        };
        sibling[k as usize] = std::mem::replace(head, k);
    }
    // A preorder that visits the longest child first, read backwards, is a postorder with the
    // longest child last.
    let mut result = vec![0u32; n];
    let mut at = n;
    let mut stack = Vec::new();
    let mut next = first_root;
    loop {
        while next != ROOT {
            at -= 1;
            result[at] = order[next as usize];
            stack.push(sibling[next as usize]);
            next = first_child[next as usize];
        }
        match stack.pop() {
            Some(waiting) => next = waiting,
            None => break,
        }
    }
    assert_eq!(at, 0, "every node is reached once");
    result
}

/// Nodes in each column of the factor, by walking the row subtrees.
fn column_lengths(graph: &NodeGraph, order: &[u32], rank: &[u32], parent: &[u32]) -> Vec<u32> {
    let n = graph.len();
    let mut lengths = vec![1u32; n];
    let mut visited = vec![u32::MAX; n];
    for k in 0..n as u32 {
        visited[k as usize] = k;
        for &u in graph.neighbours(order[k as usize] as usize) {
            let mut i = rank[u as usize];
            while i < k && visited[i as usize] != k {
                visited[i as usize] = k;
                lengths[i as usize] += 1;
                i = parent[i as usize];
            }
        }
    }
    lengths
}
