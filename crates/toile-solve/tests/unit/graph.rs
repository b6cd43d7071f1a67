use toile_solve::{NodeGraph, SolveError};

#[test]
fn pairs_in_any_order_give_one_symmetric_graph() {
    let g = NodeGraph::from_pairs(vec![3, 3, 1], [(2, 0), (0, 2), (1, 1), (0, 1)]).unwrap();
    g.check().unwrap();
    assert_eq!(g.neighbours(0), [1, 2]);
    assert_eq!(g.neighbours(2), [0]);
    assert_eq!(g.unknowns(), 7);
    assert!(NodeGraph::from_pairs(vec![1], [(0, 1)]).is_err());
}

#[test]
fn a_one_way_edge_is_refused() {
    let g = NodeGraph { sizes: vec![1, 1], adj_ptr: vec![0, 1, 1], adj: vec![1] };
    assert_eq!(
        g.check(),
        Err(SolveError::BadGraph { node: 0, reason: "a neighbour does not know it back" })
    );
    let short = NodeGraph { adj_ptr: vec![0], ..g };
    assert!(short.check().is_err());
}
