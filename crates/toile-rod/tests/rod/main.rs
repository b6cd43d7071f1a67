//! Physics of rods against closed forms, the checks of the literature and independent solutions.

mod reference;
mod single;
