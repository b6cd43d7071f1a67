//! Turning faces so that neighbours agree.

use crate::half_edges::{HalfEdge, by_edge, sorted_half_edges};
use crate::topology::MAX_ELEMENTS;

/// Reverses faces until neighbours run along their common edge in opposite directions.
///
/// In each piece joined through edges, as few faces as possible are reversed (at a tie the
/// first one stays), by exchanging their last two vertices. `None` when there is no such
/// choice: a Möbius strip, an edge with three faces or more, a face that repeats a vertex.
pub fn orient_consistently(faces: &[[u32; 3]]) -> Option<Vec<[u32; 3]>> {
    let degenerate = |&[a, b, c]: &[u32; 3]| a == b || b == c || c == a;
    if faces.len() > MAX_ELEMENTS || faces.iter().any(degenerate) {
        return None;
    }
    let half_edges = sorted_half_edges(faces, |_| true);
    if by_edge(&half_edges).any(|group| group.len() > 2) {
        return None;
    }
    let reversed = reversals(faces, &half_edges)?;
    let turn =
        |(&[a, b, c], &reverse): (&[u32; 3], &bool)| if reverse { [a, c, b] } else { [a, b, c] };
    Some(faces.iter().zip(&reversed).map(turn).collect())
}

/// Which faces to reverse so that all edges with exactly two faces agree; other edges do not
/// count. `None` if there is no such choice.
pub(crate) fn reversals(faces: &[[u32; 3]], half_edges: &[HalfEdge]) -> Option<Vec<bool>> {
    // Neighbours across each side, and whether the two run the same way now.
    let mut neighbours = vec![[None; 3]; faces.len()];
    for group in by_edge(half_edges) {
        if let &[p, q] = group {
            let clash = p.directed(faces) == q.directed(faces);
            neighbours[p.face()][p.corner()] = Some((q.face() as u32, clash));
            neighbours[q.face()][q.corner()] = Some((p.face() as u32, clash));
        }
    }
    let mut choice: Vec<Option<bool>> = vec![None; faces.len()];
    for seed in 0..faces.len() {
        if choice[seed].is_some() {
            continue;
        }
        choice[seed] = Some(false);
        let mut piece = vec![seed];
        let mut next = 0;
        while next < piece.len() {
            let f = piece[next];
            next += 1;
            let own = choice[f] == Some(true);
            for &(g, clash) in neighbours[f].iter().flatten() {
                let wanted = own != clash;
                match choice[g as usize] {
                    None => {
                        choice[g as usize] = Some(wanted);
                        piece.push(g as usize);
                    }
                    Some(has) if has != wanted => return None,
                    Some(_) => {}
                }
            }
        }
        let turned = piece.iter().filter(|&&f| choice[f] == Some(true)).count();
        if 2 * turned > piece.len() {
            for f in piece {
                choice[f] = choice[f].map(|reverse| !reverse);
            }
        }
    }
    Some(choice.into_iter().map(|c| c == Some(true)).collect())
}
