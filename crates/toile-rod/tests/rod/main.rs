//! Physics of rods against closed forms, the checks of the literature and independent solutions.

mod inverse;
mod reference;
mod single;
