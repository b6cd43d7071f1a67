//! Protocols and reference solutions against closed forms, published numbers and each other.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub)]

use toile_validate::{quadrature, verdict};

mod bvp;
mod elastica_cantilever;
mod elastica_stick_slip;
mod kirchhoff;
mod lateral_buckling;
mod patch;
mod plate;
mod protocol;
mod protocol_cantilever;
mod protocol_capstan;
mod protocol_cylinder;
mod protocol_incline;
mod protocol_lateral_buckling;
mod protocol_rod_buckling;
mod protocol_rod_orders;
mod protocol_rods;
mod protocol_rotation;
mod protocol_stick_slip;
mod quadrature_rules;
mod reference;
mod shells;
mod shells_end_shear;
mod shells_heavy_strip;
mod shells_mirror;
mod shells_scordelis_lo;
mod shells_strip;
mod verdicts;
