use toile_solve::internal::{approximate_minimum_degree, postordered};
use toile_solve::{NodeGraph, Ordering, elimination_order, elimination_order_with_last};

use crate::common::grid_pairs;

/// Grid of m × m nodes with both diagonals.
fn grid(m: u32) -> NodeGraph {
    NodeGraph::from_pairs(vec![1; (m * m) as usize], grid_pairs(m, true)).unwrap()
}

/// Parent of each column and total fill, by elimination on sets.
fn eliminate(graph: &NodeGraph, order: &[u32]) -> (Vec<Option<usize>>, usize) {
    let n = graph.len();
    let mut rank = vec![0; n];
    for (k, &v) in order.iter().enumerate() {
        rank[v as usize] = k;
    }
    let mut columns: Vec<std::collections::BTreeSet<usize>> = order
        .iter()
        .enumerate()
        .map(|(k, &v)| {
            let later = graph.neighbours(v as usize).iter();
            later.map(|&u| rank[u as usize]).filter(|&i| i > k).collect()
        })
        .collect();
    let mut parents = vec![None; n];
    for k in 0..n {
        let column = columns[k].clone();
        parents[k] = column.first().copied();
        if let Some(p) = parents[k] {
            columns[p].extend(column.iter().filter(|&&i| i > p));
        }
    }
    (parents, columns.iter().map(|c| c.len()).sum())
}

#[test]
fn every_ordering_is_a_postordered_permutation() {
    let graph = grid(13);
    for ordering in [Ordering::Auto, Ordering::Natural, Ordering::Amd, Ordering::NestedDissection] {
        let order = elimination_order(&graph, ordering);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..graph.len() as u32));
        // Postorder: the descendants of k are exactly the columns just before it.
        let (parents, _) = eliminate(&graph, &order);
        let mut size = vec![1; graph.len()];
        for k in 0..graph.len() {
            if let Some(p) = parents[k] {
                size[p] += size[k];
            }
        }
        let mut first = vec![0; graph.len()];
        for k in 0..graph.len() {
            first[k] = k + 1 - size[k];
            if let Some(p) = parents[k] {
                assert!(first[k] + size[p] > p && k < p, "{ordering:?}");
            }
        }
    }
}

#[test]
fn postordering_keeps_the_fill() {
    let graph = grid(11);
    let order = approximate_minimum_degree(&graph).unwrap();
    let (_, before) = eliminate(&graph, &order);
    let (_, after) = eliminate(&graph, &postordered(&graph, order));
    assert_eq!(before, after);
}

#[test]
fn minimum_degree_and_dissection_beat_the_natural_order() {
    let graph = grid(40);
    let fill = |ordering| eliminate(&graph, &elimination_order(&graph, ordering)).1;
    let natural = fill(Ordering::Natural);
    assert!(3 * fill(Ordering::Amd) < 2 * natural);
    assert!(3 * fill(Ordering::NestedDissection) < 2 * natural);
}

#[test]
fn separate_pieces_and_empty_graphs_are_ordered_too() {
    let forest = NodeGraph::from_pairs(vec![1; 6], [(0, 3), (1, 4)]).unwrap();
    let empty = NodeGraph::from_pairs(vec![], []).unwrap();
    for ordering in [Ordering::Natural, Ordering::Amd, Ordering::NestedDissection] {
        assert_eq!(elimination_order(&forest, ordering).len(), 6);
        assert!(elimination_order(&empty, ordering).is_empty());
    }
}

#[test]
fn chosen_nodes_are_eliminated_last() {
    let graph = grid(12);
    let last = [70, 3, 17, 101, 22];
    for ordering in [Ordering::Natural, Ordering::Amd, Ordering::NestedDissection] {
        let order = elimination_order_with_last(&graph, ordering, &last);
        assert_eq!(order[graph.len() - last.len()..], last);
        let mut seen = order.clone();
        seen.sort_unstable();
        assert!(seen.iter().enumerate().all(|(k, v)| k == *v as usize), "{ordering:?}");
        let all: Vec<u32> = (0..graph.len() as u32).rev().collect();
        assert_eq!(elimination_order_with_last(&graph, ordering, &all), all);
        let none = elimination_order_with_last(&graph, ordering, &[]);
        assert_eq!(none, elimination_order(&graph, ordering));
    }
}
