//! Dry friction as a conic complementarity problem: find r ∈ K with u = Wr + b, u + s(u) ∈ K*,
//! r ⟂ u + s(u).
