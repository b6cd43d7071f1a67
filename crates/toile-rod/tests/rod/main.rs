//! Physics of rods against closed forms, the checks of the literature and independent solutions.

mod bearing;
mod checks;
mod contact;
mod crowd;
mod falling;
mod inverse;
mod models;
mod motion;
mod nodal;
mod reference;
mod rest_pose;
mod single;
mod tree;
mod tree_contact;
mod wild;
