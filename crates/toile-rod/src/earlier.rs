//! Where a rod was a step ago: momentum that is carried on as it was.
//!
//! With q̈ = 0 points go on with J(q) q̇ − h a*, a* their acceleration by velocities squared: the first terms of J(q − h q̇) q̇, what they had. A rod that turns far
//! within a step does not gain speed by that only as long as the terms left out are small; after a tenth of a radian they are not, and rods fling themselves
//! about. Then the velocities of the earlier shape are taken as they were. Projected on how the rod may move now they can only lose, so no step adds kinetic
//! energy; of a steady turn at ω that takes the part (ω h)²/2 in a step.

use crate::element::{Arc, Node};
use crate::motion::{ClampMotion, RodState};
use crate::panel::{FEW_RULE, RULE, Rule};
use crate::rod::Rod;
use crate::rotation::{Mat3, Vec3, turn};

/// Turn of a rod in a step, all its elements added, up to which the first terms are enough \[rad\].
const FAR: f64 = 0.1;

/// The earlier shape, walked from the clamp to the tip.
pub(crate) struct Earlier<'a> {
    rod: &'a Rod,
    /// Curvatures a step ago.
    q: Vec<Vec3>,
    /// Frame of the joint.
    frame: Mat3,
    /// Angular velocity of the joint.
    spin: Vec3,
    /// Velocity of the joint, without that of the clamp.
    velocity: Vec3,
}

impl<'a> Earlier<'a> {
    /// Of a rod that turned far in its last step, so long.
    pub(crate) fn of(
        rod: &'a Rod,
        state: &RodState,
        motion: &ClampMotion,
        dt: f64,
    ) -> Option<Self> {
        let rate = |b: Option<usize>| b.map_or(0.0, |b| state.rate[b].norm());
        let one = |(e, l): (usize, &f64)| {
            let [a, b] = rod.blocks_of(e).map(rate);
            l * a.max(b)
        };
        let turned: f64 = rod.lengths().iter().enumerate().map(one).sum();
        if turned.is_nan() || turned * dt <= FAR {
            return None;
        }
        let back = (motion.spin - motion.spin_rate * (0.5 * dt)) * -dt;
        Some(Self {
            rod,
            q: state.q.iter().zip(&state.rate).map(|(q, v)| q - v * dt).collect(),
            frame: turn(&back, 1.0) * rod.clamp().frame,
            spin: motion.spin - motion.spin_rate * dt,
            velocity: Vec3::zeros(),
        })
    }

    /// Velocities, without that of the clamp, at the nodes of the next element as it is now, and on to its end.
    pub(crate) fn velocities(
        &mut self,
        e: usize,
        now: &Arc,
        nodes: &[Node],
        rates: [Vec3; 2],
    ) -> Vec<Vec3> {
        if now.is_gentle(now.length) {
            self.by_rule(e, &FEW_RULE, nodes, rates)
        } else {
            self.by_rule(e, &RULE, nodes, rates)
        }
    }

    fn by_rule<const N: usize>(
        &mut self,
        e: usize,
        rule: &Rule<N>,
        nodes: &[Node],
        [left, right]: [Vec3; 2],
    ) -> Vec<Vec3> {
        let arc = self.rod.arc(&self.q, e);
        let mut out = Vec::with_capacity(nodes.len());
        for panel in nodes.chunks(N) {
            let h = panel[0].weight / rule.weight[0];
            let (mut first, mut second) = ([Vec3::zeros(); N], [Vec3::zeros(); N]);
            let mut tangents = [Vec3::zeros(); N];
            for (i, node) in panel.iter().enumerate() {
                let (frame, _) = arc.reach(&self.frame, node.s);
                let rate = left * node.shape[0] + right * node.shape[1];
                first[i] = frame * rate * h;
                tangents[i] = frame.column(2).into();
            }
            for i in 0..N {
                let mut spin = self.spin;
                (0..N).for_each(|j| spin += first[j] * rule.until[i][j]);
                second[i] = spin.cross(&tangents[i]) * h;
            }
            for i in 0..N {
                let mut velocity = self.velocity;
                (0..N).for_each(|j| velocity += second[j] * rule.until[i][j]);
                out.push(velocity);
            }
            for j in 0..N {
                self.spin += first[j] * rule.weight[j];
                self.velocity += second[j] * rule.weight[j];
            }
        }
        self.frame = arc.reach(&self.frame, arc.length).0;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Model;
    use crate::rod::{Clamp, Section};

    /// J q̇ of the shape of a step ago, by its Jacobian, where the clamp stands still; a rod that hardly turns has no need of it.
    #[test]
    fn velocities_are_those_of_the_earlier_shape() {
        let section =
            Section { bending_stiffness: [1.0, 1.7], twisting_stiffness: 0.6, linear_density: 0.9 };
        let frame = turn(&Vec3::new(0.3, 0.5, -0.2), 1.0);
        let clamp = Clamp { position: Vec3::new(0.1, 0.2, 0.3), frame };
        for model in [Model::SuperHelix, Model::SuperClothoid] {
            let rod = Rod::new(model, 5, 1.0, section, clamp).unwrap();
            let wave = |i: usize, a: f64| {
                Vec3::new((a * i as f64).sin(), (1.3 * a * i as f64).cos(), 0.5) * 3.0
            };
            let state = RodState {
                q: (0..rod.blocks()).map(|i| wave(i, 0.7)).collect(),
                rate: (0..rod.blocks()).map(|i| wave(i, 1.1) * 9.0).collect(),
            };
            let (dt, still) = (0.02, ClampMotion::default());
            assert!(Earlier::of(&rod, &state, &still, 1e-3 * dt).is_none());
            let mut earlier = Earlier::of(&rod, &state, &still, dt).unwrap();
            let before: Vec<Vec3> =
                state.q.iter().zip(&state.rate).map(|(q, v)| q - v * dt).collect();
            let flat =
                nalgebra::DVector::from_fn(3 * rod.blocks(), |i, _| state.rate[i / 3][i % 3]);
            let (mut at, mut checked) = (0.0, 0);
            for e in 0..5 {
                let arc = rod.arc(&state.q, e);
                let mut nodes = Vec::new();
                arc.sample(&Mat3::identity(), arc.length, |node| nodes.push(*node));
                let rates = rod.blocks_of(e).map(|b| b.map_or(Vec3::zeros(), |b| state.rate[b]));
                for (node, found) in nodes.iter().zip(earlier.velocities(e, &arc, &nodes, rates)) {
                    let (_, j, _) = rod.jacobian(&before, at + node.s);
                    let expected = j * &flat;
                    let error = (found - Vec3::new(expected[0], expected[1], expected[2])).norm();
                    assert!(error < 1e-9, "{model:?} {e} {}: {error:e}", node.s);
                    checked += usize::from(expected.norm() > 0.1);
                }
                at += arc.length;
            }
            assert!(checked > 20);
        }
    }
}
