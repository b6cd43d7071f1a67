//! Contacts that roll.
//!
//! A contact inside an edge or face is found once and then stays where it is in the cloth while a balance is sought. On a round collider it does not: cloth that
//! tilts is touched further on, and the force there holds against the tilt. Left out, that moment comes a step too late, and where steps are not short it
//! overshoots: coarse cloth on round things would never come to rest. With the force it had when it was found, N, the moment is that of a spring of
//! stiffness N R against the tilt since; the next look finds the contact where it has gone.

use toile_num::Vector;
use toile_solve::SymmetricPattern;

use super::rows::{Row, at};

/// A spring against tilting: energy ½ k s², s = Σ pᵢ · xᵢ − s₀.
#[derive(Clone, Debug)]
pub(crate) struct Rolling {
    unknowns: [usize; 4],
    count: usize,
    /// p \[1/m\].
    pull: [Vector<3>; 4],
    /// s₀.
    start: f64,
    /// k \[N·m\].
    stiffness: f64,
}

impl Rolling {
    /// Those of contacts that press.
    pub(crate) fn of(rows: &[Row]) -> Vec<Self> {
        let pressing = rows.iter().filter(|row| row.force[0] > 0.0);
        let springs = pressing.flat_map(|row| {
            row.rolls.iter().flatten().map(|(roll, start)| Self {
                unknowns: row.unknowns,
                count: row.contact.count as usize,
                pull: roll.weights.map(|w| row.contact.normal * w),
                start: *start,
                stiffness: roll.radius * row.force[0],
            })
        });
        springs.collect()
    }

    /// Adds ∂/∂x of the energy to a balance; returns the energy \[J\].
    pub(crate) fn add_to(&self, x: &[f64], balance: &mut [f64]) -> f64 {
        let slope = |k: usize| self.pull[k].dot(&at(x, self.unknowns[k]));
        let tilt = (0..self.count).map(slope).sum::<f64>() - self.start;
        for k in 0..self.count {
            let force = self.pull[k] * (self.stiffness * tilt);
            for c in 0..3 {
                balance[self.unknowns[k] + c] += force[c];
            }
        }
        0.5 * self.stiffness * tilt * tilt
    }

    /// Adds ∂²/∂x² to a matrix; vertices of an edge or face have their places in it.
    pub(crate) fn stiffen(&self, pattern: &SymmetricPattern, fixed: &[bool], values: &mut [f64]) {
        for a in 0..self.count {
            for b in 0..self.count {
                for (c, d) in (0..9).map(|k| (k / 3, k % 3)) {
                    let (i, j) = (self.unknowns[a] + c, self.unknowns[b] + d);
                    if i < j || fixed[i] || fixed[j] {
                        continue;
                    }
                    if let Some(place) = pattern.position(i, j) {
                        values[place] += self.stiffness * self.pull[a][c] * self.pull[b][d];
                    }
                }
            }
        }
    }
}
