//! Shapes, distances, proximity and continuous detection against brute force and closed forms.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub)]

use toile_contact::segment_segment;

#[path = "../../src/advance.rs"]
mod advance;
mod bvh;
mod collider;
#[path = "../../src/crossing.rs"]
mod crossing;
#[path = "../../src/distance.rs"]
mod distance;
mod impact;
mod layers;
mod motion;
#[path = "../../src/passing.rs"]
mod passing;
mod penetration;
mod pierce;
#[path = "../../src/predicate.rs"]
mod predicate;
mod proximity;
mod random;
mod shape;
mod shape_mesh;
mod surface;
mod touch;
mod way;
