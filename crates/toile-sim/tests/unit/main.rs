//! Equilibria, their certificates and motion against closed forms and each other.
//!
//! Modules whose tests need their insides keep them and are compiled again here.

#![allow(dead_code, unreachable_pub)]

use toile_sim::{Model, ModelBuilder, Shell, ShellMaterial, SimError, State};

mod assembly;
mod continuation;
mod damping;
mod dynamics;
mod equilibrium;
mod frictional;
mod mixed;
mod motion;
mod seam;
mod state;
mod surroundings;
mod together;
