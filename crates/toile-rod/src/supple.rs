//! How a fibre yields within a step, whatever its unknowns are.

use crate::chain::{Chain, Compliance};
use crate::motion::ClampMotion;
use crate::nodal_step::NodalFactor;
use crate::rotation::Vec3;

/// A factorised form that answers to forces at joints.
pub(crate) trait Supple: Sync {
    /// The chain of curvatures, where these are the unknowns: others bear no fibres.
    fn chain(&self) -> Option<&Chain>;
    /// Changes of the unknowns by forces at the joints \[N\], clamp first.
    fn pushed(&self, forces: &[Vec3]) -> Vec<Vec3>;
    /// The form solved for a right-hand side in the unknowns.
    fn solve(&self, right: &[Vec3]) -> Vec<Vec3>;
    /// Its negative eigenvalues.
    fn negative(&self) -> usize;
    /// Velocities of the joints, clamp first, at rates of the unknowns.
    fn velocities(&self, rates: &[Vec3], motion: &ClampMotion) -> Vec<Vec3>;
    /// How far a force at one of some joints, ascending, moves the others.
    fn compliance(&self, joints: &[usize]) -> Compliance;
}

impl Supple for Chain {
    fn chain(&self) -> Option<&Chain> {
        Some(self)
    }

    fn pushed(&self, forces: &[Vec3]) -> Vec<Vec3> {
        self.solve_joint_forces(forces)
    }

    fn solve(&self, right: &[Vec3]) -> Vec<Vec3> {
        Chain::solve(self, right)
    }

    fn negative(&self) -> usize {
        self.negative
    }

    fn velocities(&self, rates: &[Vec3], motion: &ClampMotion) -> Vec<Vec3> {
        self.joint_velocities(rates, motion)
    }

    fn compliance(&self, joints: &[usize]) -> Compliance {
        Chain::compliance(self, joints)
    }
}

/// A fibre of curvatures, or of nodes and angles.
#[derive(Clone, Debug)]
pub(crate) enum Factorised {
    Curvatures(Box<Chain>),
    Nodes(NodalFactor),
}

impl Factorised {
    fn supple(&self) -> &dyn Supple {
        match self {
            Self::Curvatures(chain) => chain.as_ref(),
            Self::Nodes(nodes) => nodes,
        }
    }
}

impl Supple for Factorised {
    fn chain(&self) -> Option<&Chain> {
        self.supple().chain()
    }

    fn pushed(&self, forces: &[Vec3]) -> Vec<Vec3> {
        self.supple().pushed(forces)
    }

    fn solve(&self, right: &[Vec3]) -> Vec<Vec3> {
        self.supple().solve(right)
    }

    fn negative(&self) -> usize {
        self.supple().negative()
    }

    fn velocities(&self, rates: &[Vec3], motion: &ClampMotion) -> Vec<Vec3> {
        self.supple().velocities(rates, motion)
    }

    fn compliance(&self, joints: &[usize]) -> Compliance {
        self.supple().compliance(joints)
    }
}
