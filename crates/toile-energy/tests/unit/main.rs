//! Energies against dual numbers, rigid motions and closed forms.

mod anchor;
mod area;
mod dart;
mod edge;
mod gravity;
mod hinge;
mod koiter;
mod moment;
mod seam;
mod stiffness;
mod thread;
mod tie;
