//! Targets whose rest shape is known, and garments held by friction.

mod flat;
mod layers;
mod sewn;
mod skirt;
mod told;
mod yielding;
