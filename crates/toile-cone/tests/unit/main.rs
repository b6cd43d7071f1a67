//! The friction kernel: projections, one contact, operators and solvers against each other and physics.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub, clippy::neg_cmp_op_on_partial_ord)]

mod alart_curnier;
mod aligned;
mod banded;
mod block_sparse;
mod cadoux;
mod cone;
mod facets;
mod factored;
mod fischer_burmeister;
mod gauss_seidel;
#[path = "../../src/krylov.rs"]
mod krylov;
mod local;
#[path = "../../src/mixing.rs"]
mod mixing;
mod operator;
mod physics;
mod problem;
mod random;
#[path = "../../src/roots.rs"]
mod roots;
mod sensitivity;
mod sheet;
#[path = "../../src/small.rs"]
mod small;
