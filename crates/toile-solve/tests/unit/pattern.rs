use toile_solve::{NodeGraph, SolveError, SymmetricPattern};

#[test]
fn blocks_follow_the_elimination_order() {
    // Path 0 - 1 - 2 with sizes 2, 1, 1; eliminate 2, then 0, then 1.
    let graph = NodeGraph::from_pairs(vec![2, 1, 1], [(0, 1), (1, 2)]).unwrap();
    let (pattern, first) = SymmetricPattern::from_node_graph(&graph, &[2, 0, 1]).unwrap();
    assert_eq!(first, [1, 3, 0]);
    assert_eq!(pattern.col_ptr, [0, 2, 5, 7, 8]);
    assert_eq!(pattern.row_idx, [0, 3, 1, 2, 3, 2, 3, 3]);
    pattern.check().unwrap();
    assert_eq!(pattern.position(3, 1), Some(4));
    assert_eq!(pattern.position(1, 0), None);
    assert!(SymmetricPattern::from_node_graph(&graph, &[2, 0, 0]).is_err());
}

#[test]
fn product_equals_the_dense_one() {
    let pattern = SymmetricPattern::new(3, vec![0, 2, 4, 5], vec![0, 2, 1, 2, 2]).unwrap();
    let values = [4.0, -1.0, 3.0, 2.0, 5.0];
    let mut y = [0.0; 3];
    pattern.multiply(&values, &[1.0, 2.0, 3.0], &mut y);
    assert_eq!(y, [1.0, 12.0, 18.0]);
    assert_eq!(pattern.norm_inf(&values, &mut y), 8.0);
}

#[test]
fn malformed_patterns_are_named() {
    let column_of = |n, col_ptr: &[usize], row_idx: &[usize]| match SymmetricPattern::new(
        n,
        col_ptr.to_vec(),
        row_idx.to_vec(),
    ) {
        Err(SolveError::BadPattern { column, .. }) => Some(column),
        _ => None,
    };
    assert_eq!(column_of(2, &[0, 1, 1], &[0]), Some(1)); // no diagonal
    assert_eq!(column_of(2, &[0, 3, 4], &[0, 1, 1, 1]), Some(0)); // repeats
    assert_eq!(column_of(2, &[0, 2, 3], &[0, 2, 1]), Some(0)); // out of range
    assert_eq!(column_of(2, &[0, 2], &[0, 1]), Some(2)); // short
    assert_eq!(column_of(2, &[0, 9, 1], &[0]), Some(0)); // runs away
    assert_eq!(column_of(0, &[0], &[]), None);
}
