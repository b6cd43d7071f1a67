//! Trims: small pieces of a garment that nothing carries, such as buttons, loops and pockets drawn over it. They are left out of the computation and written beside
//! the cloth that they are next to, where that has gone.

use std::collections::BTreeSet;

use toile_geometry::{MeshError, Topology, Vec3};
use toile_sim::Stitch;

use crate::model::LoadedShell;

/// Part of the area of a garment that trims have at most; what is larger and carried by nothing is a mistake.
const MOST: f64 = 0.05;

/// Leaves out the pieces of these shells with the given vertices, numbered through all shells, if they are small enough for trims; whether they are.
///
/// What was left out is told in the notes of its shell.
pub fn leave_out_trims(shells: &mut [LoadedShell], vertices: &[u32]) -> Result<bool, MeshError> {
    let (mut trims, mut counts): (Vec<Vec<bool>>, Vec<usize>) = Default::default();
    let (mut base, mut all, mut small) = (0, 0.0, 0.0);
    for loaded in shells.iter() {
        let shell = &loaded.shell;
        let components = shell.topology.components();
        let count = shell.positions.len();
        let of = |v: &u32| components.of_vertex.get((*v as usize).checked_sub(base)?).copied()?;
        let pieces: BTreeSet<u32> = vertices.iter().filter_map(of).collect();
        let trim: Vec<bool> = (0..count)
            .map(|v| components.of_vertex[v].is_some_and(|c| pieces.contains(&c)))
            .collect();
        for face in shell.topology.faces() {
            let [a, b, c] = face.map(|v| shell.positions[v as usize]);
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            all += area;
            small += if trim[face[0] as usize] { area } else { 0.0 };
        }
        trims.push(trim);
        counts.push(pieces.len());
        base += count;
    }
    // Each file keeps some cloth for its trims to go along with.
    let found = trims.iter().flatten().any(|t| *t);
    if !found || small > MOST * all || trims.iter().any(|t| t.iter().all(|t| *t)) {
        return Ok(false);
    }
    for (loaded, (trim, pieces)) in shells.iter_mut().zip(trims.iter().zip(counts)) {
        if pieces > 0 {
            loaded.leave_out(trim, pieces)?;
        }
    }
    Ok(true)
}

impl LoadedShell {
    fn leave_out(&mut self, trim: &[bool], pieces: usize) -> Result<(), MeshError> {
        let shell = &mut self.shell;
        let mut number = 0;
        let new: Vec<Option<u32>> = trim
            .iter()
            .map(|trim| {
                let here = (!trim).then_some(number);
                number += u32::from(!trim);
                here
            })
            .collect();
        let kept = |v: u32| new[v as usize];
        let faces: Vec<[u32; 3]> = shell
            .topology
            .faces()
            .iter()
            .filter_map(|&[a, b, c]| Some([kept(a)?, kept(b)?, kept(c)?]))
            .collect();
        let topology = Topology::new(number as usize, faces)?;
        let places: Vec<Vec3> =
            shell.positions.iter().zip(trim).filter(|(_, t)| !**t).map(|(p, _)| *p).collect();
        let nearest = |p: &Vec3| {
            let off = |q: &Vec3| (q - p).norm_squared();
            let near =
                (0..places.len()).min_by(|&a, &b| off(&places[a]).total_cmp(&off(&places[b])));
            near.map(|v| v as u32)
        };
        self.follows.resize(self.image.len(), None);
        for (image, follows) in self.image.iter_mut().zip(&mut self.follows) {
            if let Some(v) = *image {
                if trim[v as usize] {
                    *follows = nearest(&shell.positions[v as usize]);
                }
                *image = kept(v);
            } else if let Some(v) = *follows {
                *follows = kept(v);
            }
        }
        let mut keep = trim.iter().map(|t| !t);
        self.origin.retain(|_| keep.next().unwrap_or(true));
        let mut keep = trim.iter().map(|t| !t);
        shell.rest_positions.retain(|_| keep.next().unwrap_or(true));
        shell.positions = places;
        shell.topology = topology;
        shell.pins = shell.pins.iter().filter_map(|&v| kept(v)).collect();
        let sewn = |s: &Stitch| {
            let edge = [kept(s.edge[0])?, kept(s.edge[1])?];
            Some(Stitch { vertex: kept(s.vertex)?, edge, weight: s.weight })
        };
        shell.seams = shell.seams.iter().filter_map(sewn).collect();
        self.notes.push(format!(
            "{} small piece(s) that nothing carries ({} vertices) were left out of the computation as trims, without weight, and are written beside the cloth they are next to; sew them on (`stitches`) where they matter",
            pieces,
            trim.iter().filter(|t| **t).count()
        ));
        Ok(())
    }
}
