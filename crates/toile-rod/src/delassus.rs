//! How contact forces move contact points: W = Σ H A⁻¹ Hᵀ over the fibres.

use toile_cone::{BlockSparseOperator, Operator};
use toile_num::parallel::map_items;

use crate::RodError;
use crate::assembly::GRAIN;
use crate::body::{Bodies, Body};
use crate::chain::Compliance;
use crate::rotation::{Mat3, Vec3};
use crate::supple::Supple;
use crate::touch::{Pair, Side, Sites};

/// W in blocks where contacts share a fibre, and how forces act on the fibres.
///
/// A contact acts on at most two joints of each of its fibres, so W needs only J A⁻¹ Jᵀ between joints that are touched.
pub(crate) struct Delassus {
    pub(crate) w: BlockSparseOperator<3>,
    /// Contact and side of each contact of a fibre, in the order of the contacts.
    touched: Vec<Vec<(u32, Side)>>,
    frames: Vec<Mat3>,
}

/// What fibres touch that yields by laws of its own.
pub(crate) struct Beside<'a> {
    /// The first of the pairs with it; they are the last of all.
    pub(crate) first: usize,
    /// How each of these pairs (row after row) gives way to impulses at each of them, in space.
    pub(crate) compliance: &'a [Mat3],
    /// What drag leaves of the rates of the fibres.
    pub(crate) drag: f64,
}

/// A side of a contact with its joints found in the compliance of its body.
#[derive(Clone, Copy)]
struct Placed {
    contact: u32,
    places: [(u32, f64); 2],
}

/// The side's fibre begins with joint `first` of its body.
fn placed(compliance: &Compliance, contact: u32, side: &Side, first: usize) -> Placed {
    let mut places = [(0, 0.0); 2];
    for (slot, (joint, share)) in places.iter_mut().zip(side.joints()) {
        if let Some(place) = compliance.place(first + joint) {
            *slot = (place as u32, share * side.sign);
        }
    }
    Placed { contact, places }
}

fn between(compliance: &Compliance, a: &Placed, b: &Placed) -> Mat3 {
    let mut sum = Mat3::zeros();
    for (i, wi) in a.places {
        for (k, wk) in b.places {
            if wi * wk != 0.0 {
                sum += compliance.block(i as usize, k as usize) * (wi * wk);
            }
        }
    }
    sum
}

impl Delassus {
    /// For factorised fibres; `lift` times the mean of the diagonal is added to it.
    pub(crate) fn new<F: Supple>(
        bodies: &Bodies,
        chains: &[&F],
        pairs: &[Pair],
        lift: f64,
    ) -> Result<Self, RodError> {
        let alone = Beside { first: pairs.len(), compliance: &[], drag: 1.0 };
        Self::beside(bodies, chains, pairs, lift, &alone)
    }

    /// The same operator where a force at contact c is dearer: `dearer[c]` times the mean of its own diagonal block is added to that.
    pub(crate) fn priced(&self, dearer: &[f64]) -> Result<BlockSparseOperator<3>, RodError> {
        let row = |c: usize| {
            let (columns, blocks) = self.w.row_blocks(c).unwrap_or_default();
            let mut row: Vec<(u32, Mat3)> =
                columns.iter().copied().zip(blocks.iter().copied()).collect();
            if let Some(own) = row.iter_mut().find(|e| e.0 == c as u32) {
                own.1 += Mat3::identity() * (dearer[c] * own.1.trace() / 3.0);
            }
            row
        };
        BlockSparseOperator::<3>::from_rows((0..dearer.len()).map(row).collect())
            .map_err(|_| RodError::NotFinite { what: "contact problem" })
    }

    /// The same where some pairs have another side that yields as well.
    pub(crate) fn beside<F: Supple>(
        bodies: &Bodies,
        chains: &[&F],
        pairs: &[Pair],
        lift: f64,
        other: &Beside<'_>,
    ) -> Result<Self, RodError> {
        let (first, beside) = (other.first, pairs.len() - other.first);
        let mut touched: Vec<Vec<(u32, Side)>> = vec![Vec::new(); chains.len()];
        for (c, pair) in pairs.iter().enumerate() {
            for side in pair.sides() {
                touched[side.fibre].push((c as u32, *side));
            }
        }
        let frames: Vec<Mat3> = pairs.iter().map(Pair::frame).collect();
        let soft = |_: usize, body: &Body| {
            let sides = || {
                body.fibres.iter().flat_map(|f| {
                    let first = bodies.of[*f].1;
                    touched[*f].iter().map(move |(c, side)| (*c, side, first))
                })
            };
            let mut joints: Vec<usize> = sides()
                .flat_map(|(_, side, first)| side.joints().map(move |j| first + j.0))
                .collect();
            joints.sort_unstable();
            joints.dedup();
            let compliance = body.compliance(chains, &joints);
            let list: Vec<Placed> =
                sides().map(|(c, side, first)| placed(&compliance, c, side, first)).collect();
            (compliance, list)
        };
        let soft: Vec<(Compliance, Vec<Placed>)> = map_items(&bodies.list, GRAIN, soft);
        // Rows: contacts of the one or two bodies of a contact, merged.
        let row = |c: usize, pair: &Pair| {
            let mut all: Vec<(u32, Mat3)> = Vec::new();
            for side in pair.sides() {
                let (body, first) = bodies.of[side.fibre];
                let (compliance, sides) = &soft[body];
                let own = placed(compliance, c as u32, side, first);
                let moved = |o: &Placed| between(compliance, &own, o) * other.drag;
                all.extend(sides.iter().map(|o| (o.contact, moved(o))));
            }
            if c >= first {
                let blocks = &other.compliance[(c - first) * beside..(c - first + 1) * beside];
                all.extend((first as u32..).zip(blocks.iter().copied()));
            }
            // Two fibres may share several contacts, and one may touch itself.
            all.sort_by_key(|entry| entry.0);
            let mut out: Vec<(u32, Mat3)> = Vec::with_capacity(all.len());
            for (k, block) in all {
                match out.last_mut() {
                    Some(last) if last.0 == k => last.1 += block,
                    _ => out.push((k, block)),
                }
            }
            let turned = frames[c].transpose();
            for (k, block) in &mut out {
                *block = turned * *block * frames[*k as usize];
            }
            out
        };
        let mut rows: Vec<Vec<(u32, Mat3)>> = map_items(pairs, 8 * GRAIN, row);
        if lift > 0.0 {
            let own =
                |c: usize| rows[c].iter().find(|e| e.0 == c as u32).map_or(0.0, |e| e.1.trace());
            let trace: f64 = (0..rows.len()).map(own).sum();
            let add = Mat3::identity() * (lift * trace / (3 * rows.len()).max(1) as f64);
            for (c, row) in rows.iter_mut().enumerate() {
                if let Some(own) = row.iter_mut().find(|e| e.0 == c as u32) {
                    own.1 += add;
                }
            }
        }
        let w = BlockSparseOperator::<3>::from_rows(rows)
            .map_err(|_| RodError::NotFinite { what: "contact problem" })?;
        Ok(Self { w, touched, frames })
    }

    /// Changes of the unknowns of all fibres by contact forces in their frames.
    pub(crate) fn pushed<F: Supple>(
        &self,
        bodies: &Bodies,
        chains: &[&F],
        sites: &[Sites],
        r: &[f64],
    ) -> Vec<Vec<Vec3>> {
        let forces: Vec<Vec<Vec3>> =
            map_items(sites, GRAIN, |f, site| self.joint_forces(f, site.points.len(), r));
        bodies.map(|body| body.pushed(chains, &forces))
    }

    /// Frame of a contact: normal, then two tangents.
    pub(crate) fn frame(&self, contact: usize) -> &Mat3 {
        &self.frames[contact]
    }

    /// Forces on the joints of a fibre, clamp first, by contact forces in their frames.
    pub(crate) fn joint_forces(&self, fibre: usize, joints: usize, r: &[f64]) -> Vec<Vec3> {
        let mut forces = vec![Vec3::zeros(); joints];
        for (c, side) in &self.touched[fibre] {
            let c = *c as usize;
            let force = self.frames[c] * Vec3::new(r[3 * c], r[3 * c + 1], r[3 * c + 2]);
            for (joint, share) in side.joints() {
                forces[joint] += force * (share * side.sign);
            }
        }
        forces
    }
}
