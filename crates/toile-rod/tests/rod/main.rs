//! Physics of rods against closed forms, the checks of the literature and independent solutions.

mod bearing;
mod checks;
mod contact;
mod falling;
mod inverse;
mod models;
mod motion;
mod nodal;
mod reference;
mod single;
mod tree;
mod tree_contact;
