//! Seams that are as open as what they carry opens them.
//!
//! Where the seams of a target are closed their threads pull nothing, so what they carry is sought as unknown forces. Threads that are to carry it by
//! themselves are longer by a few nanometres. Small as that is, cloth that is not moved along would pull at the contacts beside the seams, and weakly pressed ones
//! would leave their cones.

use toile_geometry::Vec3;
use toile_sim::{Stitch, open_seams};

use super::{Exact, TOLERANCE, Watch};
use crate::InverseError;

impl Exact {
    /// Moves the sides of the seams so far apart that their threads, of such stiffnesses \[N/m\], carry what was found for them, and balances forces anew.
    /// Where that fails nothing is changed.
    pub(crate) fn stretch_threads(
        &mut self,
        seams: &[Stitch],
        stiffness: &[f64],
        watch: &mut Watch<'_>,
    ) -> Result<(), InverseError> {
        if seams.is_empty() {
            return Ok(());
        }
        let before = self.point();
        let mut positions = self.model.positions(&self.x);
        let start = positions.clone();
        let mut touches = vec![false; self.model.first_unknowns().len()];
        for (node, _) in self.contacts.iter().flat_map(|c| &c.carriers) {
            touches[*node] = true;
        }
        let stays = |&v: &u32| self.pinned[self.model.unknown(v)] || touches[v as usize];
        let held: Vec<bool> = self.model.vertices().iter().map(stays).collect();
        // What they pull by already, on the way from elsewhere, stays.
        let opening = |((s, f), k): ((&Stitch, &Vec3), &f64)| {
            s.opening(&start) - f * (self.force / k.max(f64::MIN_POSITIVE))
        };
        let wanted: Vec<Vec3> =
            seams.iter().zip(&self.threads).zip(stiffness).map(opening).collect();
        open_seams(&mut positions, seams, &held, &wanted);
        let mut moved = vec![0.0; self.model.len()];
        for ((&v, p), s) in self.model.vertices().iter().zip(&positions).zip(&start) {
            let i = self.model.unknown(v);
            moved[i..i + 3].copy_from_slice((p - s).as_slice());
        }
        before.x.advanced_into(&moved, 1.0, &mut self.x);
        self.threads.fill(Vec3::zeros());
        self.stretched = true;
        if !(self.balance(TOLERANCE, 0, watch)? && self.stable()?) {
            self.stretched = false;
            self.return_to(before);
        }
        Ok(())
    }
}
