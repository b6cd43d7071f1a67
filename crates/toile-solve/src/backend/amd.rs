//! Approximate minimum degree, on graphs.

use super::{allocate, too_large};
use crate::{NodeGraph, SolveError};
use faer::dyn_stack::MemStack;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

/// Elimination order of the nodes with little fill; `order[k]` is eliminated k-th.
///
/// Reference: Amestoy, Davis, Duff 1996, "An approximate minimum degree ordering algorithm".
pub fn approximate_minimum_degree(graph: &NodeGraph) -> Result<Vec<u32>, SolveError> {
    let n = graph.len();
    if graph.adj.len() >= (u32::MAX / 4) as usize {
        return Err(SolveError::TooLarge { entries: graph.adj.len() });
    }
    let pointers: Vec<u32> = graph.adj_ptr.iter().map(|&p| p as u32).collect();
    let adjacency = SymbolicSparseColMatRef::new_checked(n, n, &pointers, None, &graph.adj);
    let mut memory = allocate(amd::order_scratch::<u32>(n, graph.adj.len()))?;
    let (mut order, mut inverse) = (vec![0u32; n], vec![0u32; n]);
    amd::order(
        &mut order,
        &mut inverse,
        adjacency,
        amd::Control::default(),
        MemStack::new(&mut memory),
    )
    .map_err(too_large)?;
    Ok(order)
}
