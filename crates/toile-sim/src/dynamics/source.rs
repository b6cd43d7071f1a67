//! What finds contacts.

use toile_contact::{Contact, Roll};
use toile_num::Vector;

use super::zones::Collision;
use crate::SimError;

/// How far around a configuration contacts are sought.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a> {
    /// Everywhere \[m\].
    pub everywhere: f64,
    /// What is added around each vertex \[m\], for it may be elsewhere by that much; empty for nothing.
    pub more: &'a [f64],
}

impl Reach<'_> {
    /// The same around all vertices \[m\].
    pub fn of(everywhere: f64) -> Self {
        Self { everywhere, more: &[] }
    }

    /// The largest \[m\].
    pub fn most(&self) -> f64 {
        self.everywhere + self.more.iter().fold(0.0f64, |a, b| a.max(*b))
    }
}

/// Finds the contacts of a configuration.
pub trait ContactSource {
    /// Appends all contacts nearer than `reach` \[m\] with the vertices at `positions` and everything
    /// else where it is at `time` \[s\].
    fn contacts(
        &mut self,
        positions: &[Vector<3>],
        time: f64,
        reach: &Reach<'_>,
        out: &mut Vec<Contact>,
    ) -> Result<(), SimError>;

    /// Part of the straight way from `start` to `end` that can be gone before anything passes through anything:
    /// one if all of it. The last line of defence, when the contacts have failed.
    fn safe_part(
        &mut self,
        _start: &[Vector<3>],
        _end: &[Vector<3>],
        _from: f64,
        _to: f64,
    ) -> Result<f64, SimError> {
        Ok(1.0)
    }

    /// What would pass through each other on the straight way from `start` to `end`, layers or the cloth and sharp things of colliders, as contacts
    /// with the normals they have when they meet; gaps are those at the end.
    fn meetings(
        &mut self,
        _start: &[Vector<3>],
        _end: &[Vector<3>],
        _from: f64,
        _to: f64,
    ) -> Result<Vec<Contact>, SimError> {
        Ok(Vec::new())
    }

    /// What would collide on the straight way from `start` to `end`, or be deeper in a collider at its end than it was.
    fn collisions(
        &mut self,
        _start: &[Vector<3>],
        _end: &[Vector<3>],
        _from: f64,
        _to: f64,
    ) -> Result<Vec<Collision>, SimError> {
        Ok(Vec::new())
    }

    /// How a contact inside an edge or face that was found moves along it when that tilts.
    fn rolls(&self, _contact: &Contact, _positions: &[Vector<3>], _time: f64) -> [Option<Roll>; 2] {
        [None; 2]
    }

    /// Displacement of a point at `place` that goes with a collider.
    fn carried(&self, _collider: u32, _place: &Vector<3>, _from: f64, _to: f64) -> Vector<3> {
        Vector::zeros()
    }

    /// How much nearer than they should be layers may end a step \[m\]: the next one moves them apart.
    fn layer_slack(&self) -> f64 {
        0.0
    }

    /// Told where a step has ended.
    fn arrived(&mut self, _positions: &[Vector<3>]) {}
}

/// Nothing to touch.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContact;

impl ContactSource for NoContact {
    fn contacts(
        &mut self,
        _: &[Vector<3>],
        _: f64,
        _: &Reach<'_>,
        _: &mut Vec<Contact>,
    ) -> Result<(), SimError> {
        Ok(())
    }
}
