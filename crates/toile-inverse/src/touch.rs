//! Where the target touches: contacts from colliders, small gaps and penetrations closed.

use toile_contact::{Collider, Layers, PlacedCollider, part_layers};
use toile_geometry::{Vec3, even_out, unfit_faces};
use toile_sim::{close_seams, tied_vertices};

use crate::design::extent;
use crate::ease::ease;
use crate::held::size_of;
use crate::hover::Tolerance;
use crate::judge::distances;
use crate::{Garment, InverseError, InverseSettings};

/// A vertex of the target on a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetContact {
    /// Vertex of the cloth.
    pub vertex: u32,
    /// Place of the collider in the scene.
    pub collider: u32,
    /// Unit normal, out of the collider.
    pub normal: Vec3,
    /// Coefficient of friction.
    pub friction: f64,
    /// How far the vertex was from the distance the collider keeps \[m\]; negative when too close.
    pub gap: f64,
}

/// The contacts of a target, and what had to be moved to make them.
#[derive(Clone, Debug, Default)]
pub struct Touching {
    /// One per touching vertex, in the order of the vertices.
    pub contacts: Vec<TargetContact>,
    /// Vertices that were too close or inside, now at the contact distance.
    pub pushed_out: usize,
    /// Vertices that hovered within the tolerance, now at the contact distance.
    pub drawn_in: usize,
    /// The longest of these moves \[m\].
    pub longest_move: f64,
    /// The deepest point of the target inside a collider \[m\].
    pub deepest: f64,
    /// What counted as touching.
    pub tolerance: Tolerance,
    /// What was done to the seams before.
    pub sewing: Sewing,
    /// What was done to layers that were drawn through each other.
    pub parting: Parting,
    /// What was done to faces that no cloth can have.
    pub evening: Evening,
}

/// Layers of a target that pass through each other, and what had to be moved to part them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parting {
    /// Edges that passed through faces.
    pub crossings: usize,
    /// By how much the deepest did \[m\].
    pub deepest: f64,
    /// Those that still do.
    pub left: usize,
    /// Vertices that were moved.
    pub moved: usize,
    /// The longest of these moves \[m\].
    pub longest_move: f64,
}

/// The seams of a target, and what had to be moved to close them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sewing {
    /// Stitches in all.
    pub stitches: usize,
    /// Stitches that were open.
    pub open: usize,
    /// By how much the widest was \[m\].
    pub widest: f64,
    /// The longest move that closed them \[m\].
    pub longest_move: f64,
}

/// Faces of the target that were upside down, flat on others or of no width once it touched, and what had to be moved to spread them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evening {
    /// Such faces at first.
    pub faces: usize,
    /// Those that are left: all of them where the target is held as it was drawn.
    pub left: usize,
    /// The longest move that spread them \[m\].
    pub longest_move: f64,
}

impl Evening {
    /// Faces that were spread.
    pub fn spread(&self) -> usize {
        self.faces.saturating_sub(self.left)
    }
}

/// Width over longest side below which a face of the target is spread: what balances thinner ones is lost in rounding.
const SLENDER: f64 = 0.01;
/// Times that such faces are spread at most; the more often, the farther around.
const SPREADING: usize = 40;

/// Depth inside a collider at which a target is not drawn on it, in units of the size; drawn garments are inside by up to 4 %.
const TOO_DEEP: f64 = 0.07;

/// Closes the seams of the target, in `positions`, and moves what nearly touches to where it touches; faces that cannot be cloth then are counted.
pub(crate) fn prepare(
    positions: &mut [Vec3],
    garment: &Garment,
    settings: &InverseSettings,
    size: f64,
) -> Result<Touching, InverseError> {
    let pinned = garment.pinned();
    let sewing = sew(positions, garment, &pinned, settings.seam_tolerance)?;
    let mut tolerance = Tolerance::of_target(positions, garment, settings, size)?;
    let mut touching = close_smoothly(positions, garment, &mut tolerance, size, &pinned)?;
    if touching.deepest > TOO_DEEP * size {
        let count = touching.pushed_out;
        let placed: Vec<PlacedCollider<'_>> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
        let sizes = [size, size_of(&placed)];
        return Err(InverseError::Inside { count, deepest: touching.deepest, sizes });
    }
    part(positions, garment, &tolerance, size, &pinned, &mut touching)?;
    let faces = unfit_faces(positions, &garment.topology()?, SLENDER).len();
    touching.sewing = sewing;
    touching.tolerance = tolerance;
    touching.evening = Evening { faces, left: faces, longest_move: 0.0 };
    Ok(touching)
}

/// Moves what nearly touches to where it touches, and the rest along with it.
fn close_smoothly(
    positions: &mut [Vec3],
    garment: &Garment,
    tolerance: &mut Tolerance,
    size: f64,
    pinned: &[bool],
) -> Result<Touching, InverseError> {
    let drawn = positions.to_vec();
    let first = close(positions, garment, tolerance, size, pinned);
    if first.longest_move <= 0.0 {
        return Ok(first);
    }
    let mut given = pinned.to_vec();
    first.contacts.iter().for_each(|c| given[c.vertex as usize] = true);
    ease(positions, &drawn, &given, &garment.topology()?, &garment.seams());
    // What came nearer on the way does not touch for that; what came too near does.
    tolerance.only(|v| given[v]);
    let mut touching = close(positions, garment, tolerance, size, pinned);
    touching.contacts = keep_gaps(touching.contacts, &first.contacts);
    touching.longest_move = first.longest_move.max(touching.longest_move);
    (touching.pushed_out, touching.drawn_in) = (first.pushed_out, first.drawn_in);
    touching.deepest = first.deepest;
    Ok(touching)
}

/// Distance to which layers that cross are parted, in units of their thickness: what is nearer than that may stay, and
/// what carries is closed later.
const APART: f64 = 0.2;
/// Longest move that parts layers, in units of the size.
const LONGEST_PARTING: f64 = 0.02;

/// Parts layers that were drawn through each other, where they mind.
fn part(
    positions: &mut [Vec3],
    garment: &Garment,
    tolerance: &Tolerance,
    size: f64,
    pinned: &[bool],
    touching: &mut Touching,
) -> Result<(), InverseError> {
    let Some(own) = garment.self_contact else { return Ok(()) };
    let mut still = pinned.to_vec();
    touching.contacts.iter().for_each(|c| still[c.vertex as usize] = true);
    let placed: Vec<PlacedCollider<'_>> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let topology = garment.topology()?;
    let (distance, most) = (APART * own.thickness, LONGEST_PARTING * size);
    let parted = part_layers(positions, &topology, &placed, distance, most, |v| !still[v])?;
    touching.parting = Parting {
        crossings: parted.found.len(),
        deepest: parted.deepest(),
        left: parted.left.len(),
        moved: parted.moved,
        longest_move: parted.longest,
    };
    if parted.moved > 0 {
        let again = close(positions, garment, tolerance, size, pinned);
        touching.contacts = keep_gaps(again.contacts, &touching.contacts);
        touching.parting.left = Layers::new(&topology, positions)?.crossings(positions)?.len();
    }
    Ok(())
}

/// Parts layers that closing their gaps has put through each other; whether anything was moved.
pub(crate) fn part_again(
    positions: &mut [Vec3],
    garment: &Garment,
    still: &[bool],
) -> Result<bool, InverseError> {
    let Some(own) = garment.self_contact else { return Ok(false) };
    let placed: Vec<PlacedCollider<'_>> = garment.colliders.iter().map(|c| c.at(0.0)).collect();
    let (distance, most) = (APART * own.thickness, LONGEST_PARTING * extent(positions));
    let parted =
        part_layers(positions, &garment.topology()?, &placed, distance, most, |v| !still[v])?;
    Ok(parted.moved > 0)
}

/// Spreads faces of a prepared target that cannot be cloth, as far as that goes.
pub(crate) fn spread(
    positions: &mut [Vec3],
    touching: &mut Touching,
    garment: &Garment,
    size: f64,
) -> Result<(), InverseError> {
    let pinned = garment.pinned();
    let topology = garment.topology()?;
    let closed = positions.to_vec();
    let mut trial = closed.clone();
    let mut unfit = unfit_faces(&trial, &topology, SLENDER);
    for round in 0..SPREADING {
        if unfit.is_empty() {
            break;
        }
        even_out(&mut trial, &topology, &unfit, round / 8, |v| !pinned[v]);
        let again = close(&mut trial, garment, &touching.tolerance, size, &pinned);
        unfit = unfit_faces(&trial, &topology, SLENDER);
        if unfit.len() < touching.evening.left {
            touching.evening.left = unfit.len();
            positions.copy_from_slice(&trial);
            // How far a vertex was from touching is told as it was found.
            touching.contacts = keep_gaps(again.contacts, &touching.contacts);
        }
    }
    touching.evening.longest_move = distances(positions, &closed).0;
    Ok(())
}

/// Moves what nearly touches to where it touches, and closes the seams again.
fn close(
    positions: &mut [Vec3],
    garment: &Garment,
    tolerance: &Tolerance,
    size: f64,
    pinned: &[bool],
) -> Touching {
    let seams = garment.seams();
    // A vertex that is sewn to others rests where they do.
    let tied = tied_vertices(positions.len(), &seams);
    let may_touch = |v: usize| !pinned[v] && !tied[v];
    let touching = touch(positions, &garment.colliders, |v| tolerance.of(v), size, may_touch);
    if !seams.is_empty() {
        // Where the other side was moved onto a collider, this one follows.
        let mut still = pinned.to_vec();
        for contact in &touching.contacts {
            still[contact.vertex as usize] = true;
        }
        close_seams(positions, &seams, &still);
    }
    touching
}

/// Closes the seams of a target that are open by no more than `tolerance` \[m\].
fn sew(
    positions: &mut [Vec3],
    garment: &Garment,
    pinned: &[bool],
    tolerance: f64,
) -> Result<Sewing, InverseError> {
    let seams = garment.seams();
    let mut sewing = Sewing { stitches: seams.len(), ..Sewing::default() };
    let (mut worst, mut too_far) = (0, 0);
    for stitch in &seams {
        let gap = stitch.opening(positions).norm();
        if gap > sewing.widest {
            (sewing.widest, worst) = (gap, stitch.vertex as usize);
        }
        sewing.open += usize::from(gap > 1e-6);
        too_far += usize::from(gap > tolerance);
    }
    if too_far > 0 {
        return Err(InverseError::OpenSeam {
            count: too_far,
            vertex: worst,
            gap: sewing.widest,
            tolerance,
        });
    }
    if sewing.widest > 0.0 {
        sewing.longest_move = close_seams(positions, &seams, pinned);
    }
    Ok(sewing)
}

/// Contacts with the gaps that those of the same vertices had at first.
fn keep_gaps(mut now: Vec<TargetContact>, first: &[TargetContact]) -> Vec<TargetContact> {
    for contact in &mut now {
        if let Ok(at) = first.binary_search_by_key(&contact.vertex, |c| c.vertex) {
            contact.gap = first[at].gap;
        }
    }
    now
}

/// Moves shorter than this part of the size are rounding and left out.
const ROUNDING: f64 = 1e-12;

/// Finds the vertices within their `tolerance` \[m\] of touching and moves them to where they touch.
///
/// A vertex that is too close to several colliders leaves the one it is deepest in.
pub(crate) fn touch(
    positions: &mut [Vec3],
    colliders: &[Collider],
    tolerance: impl Fn(usize) -> f64,
    size: f64,
    may_touch: impl Fn(usize) -> bool,
) -> Touching {
    let placed: Vec<PlacedCollider<'_>> = colliders.iter().map(|c| c.at(0.0)).collect();
    let mut found = Touching::default();
    for (v, p) in positions.iter_mut().enumerate() {
        if !may_touch(v) {
            continue;
        }
        let Some((c, gap)) = nearest(&placed, p) else { continue };
        if gap > tolerance(v) {
            continue;
        }
        let start = *p;
        // On a curved or folded surface the nearest point moves along with the vertex.
        let mut near = placed[c].query(p);
        for _ in 0..8 {
            let off = near.distance - placed[c].gap();
            if off.abs() <= ROUNDING * size {
                break;
            }
            *p -= near.normal * off;
            near = placed[c].query(p);
        }
        let way = (*p - start).norm();
        if way > ROUNDING * size {
            found.longest_move = found.longest_move.max(way);
            if gap < 0.0 {
                found.pushed_out += 1;
            } else {
                found.drawn_in += 1;
            }
        }
        found.deepest = found.deepest.max(-(gap + placed[c].gap()));
        found.contacts.push(TargetContact {
            vertex: v as u32,
            collider: c as u32,
            normal: near.normal,
            friction: placed[c].friction(),
            gap,
        });
    }
    found
}

/// The collider that is nearest in terms of its gap, and what is left of the gap \[m\].
pub(crate) fn nearest(placed: &[PlacedCollider<'_>], p: &Vec3) -> Option<(usize, f64)> {
    placed
        .iter()
        .map(|c| c.query(p).distance - c.gap())
        .enumerate()
        .filter(|(_, gap)| gap.is_finite())
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toile_contact::Shape;

    #[test]
    fn near_vertices_touch_and_far_ones_do_not() {
        let ball = Shape::sphere(Vec3::zeros(), 1.0).unwrap();
        let ball = Collider::fixed(ball).with_friction(0.3).unwrap().with_gap(0.01).unwrap();
        let mut points: Vec<Vec3> =
            [0.9, 1.005, 1.01, 1.015, 1.03].iter().map(|r| Vec3::new(0.6, 0.0, 0.8) * *r).collect();
        points.push(Vec3::new(0.0, 1.01, 0.0)); // may not touch
        let found = touch(&mut points, &[ball], |_| 0.01, 1.0, |v| v != 5);
        let vertices: Vec<u32> = found.contacts.iter().map(|c| c.vertex).collect();
        assert_eq!(vertices, [0, 1, 2, 3]);
        for p in &points[..4] {
            assert!((p.norm() - 1.01).abs() < 1e-12);
        }
        assert_eq!((found.pushed_out, found.drawn_in), (2, 1));
        assert!((found.longest_move - 0.11).abs() < 1e-12);
        assert!((found.deepest - 0.1).abs() < 1e-12);
        assert!((found.contacts[1].normal - Vec3::new(0.6, 0.0, 0.8)).norm() < 1e-12);
        assert_eq!(found.contacts[3].friction, 0.3);
    }
}
