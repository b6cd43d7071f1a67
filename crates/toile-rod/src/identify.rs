//! Stiffness of a fibre from its shapes in two or more poses.
//!
//! The natural shape is the same in all poses, so between two of them K (q_a − q_b) + G(q_a) − G(q_b) = 0: linear in the
//! stiffnesses over the density, and each of EI₁, EI₂ and GJ stands in equations of its own,
//!
//! ```text
//! k_c · (∫hh)(q_a − q_b)_c = −(G_a − G_b)_c / ρA,   c = κ₁, κ₂, twist.
//! ```
//!
//! Reference: Bertails-Descoubes 2017, ch. 5 (identification from several poses).

use crate::RodError;
use crate::element::Model;
use crate::forms::Shape;
use crate::rod::{Clamp, Loads, Rod, Section, Station};
use crate::rotation::{Vec3, axial_angle, straightened};

/// One stiffness over the density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// EI or GJ over ρA \[m⁴/s²\]; `None` where the poses do not tell.
    pub value: Option<f64>,
    /// Part of the forces in these equations that the ratio does not explain: 0 for exact shapes.
    pub misfit: f64,
    /// How much this curvature differs between poses, over how much the shapes differ in all: 0 is blind.
    pub seen: f64,
}

/// What poses tell of a fibre.
#[derive(Clone, Debug, PartialEq)]
pub struct Identification {
    /// EI₁, EI₂ and GJ over the density.
    pub ratios: [Ratio; 3],
    /// Natural curvatures, the mean over the poses; a curvature that no pose bends is taken as it is.
    pub natural: Vec<Vec3>,
    /// Largest difference of the natural curvatures between poses \[1/m\].
    pub spread: f64,
}

/// Curvatures that differ by less than this part of all differences are not seen.
const BLIND: f64 = 1e-6;

/// Finds stiffness over density and natural curvatures from equilibria of one fibre with clamps held differently.
///
/// Of the rods only the elements and clamps are used, not their stiffness, density or nature. At least two poses.
pub fn identify(poses: &[(&Rod, &[Vec3])], gravity: Vec3) -> Result<Identification, RodError> {
    let Some((first, _)) = poses.first().filter(|_| poses.len() > 1) else {
        return Err(RodError::Count { what: "poses", found: poses.len(), expected: 2 });
    };
    // Unit stiffness and density: K is the Gram matrix, G the load gradient over the density.
    let unit =
        Section { bending_stiffness: [1.0; 2], twisting_stiffness: 1.0, linear_density: 1.0 };
    let loads = Loads::weight(&unit, gravity);
    let mut known = Vec::with_capacity(poses.len());
    for (rod, q) in poses {
        rod.check_blocks(q)?;
        let (found, expected) = (rod.blocks(), first.blocks());
        if found != expected || rod.model() != first.model() || rod.lengths() != first.lengths() {
            return Err(RodError::Count { what: "unknowns of a pose", found, expected });
        }
        let bare = Rod::with_lengths(rod.model(), rod.lengths().to_vec(), unit, *rod.clamp())?;
        let gradient = Shape::new(&bare, q, &loads, false).load_gradient;
        known.push((bare.elastic(q), gradient, *q, bare));
    }
    let (mut dd, mut dg, mut gg) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
    for a in 0..known.len() {
        for b in a + 1..known.len() {
            for i in 0..first.blocks() {
                let d = known[a].0[i] - known[b].0[i];
                let g = known[a].1[i] - known[b].1[i];
                dd += d.component_mul(&d);
                dg += d.component_mul(&g);
                gg += g.component_mul(&g);
            }
        }
    }
    let all = dd.sum().max(f64::MIN_POSITIVE);
    let ratios: [Ratio; 3] = std::array::from_fn(|c| {
        let seen = (dd[c] / all).sqrt();
        let value = -dg[c] / dd[c].max(f64::MIN_POSITIVE);
        let left = (gg[c] - dg[c] * dg[c] / dd[c].max(f64::MIN_POSITIVE)).max(0.0);
        let misfit = if gg[c] > 0.0 { (left / gg[c]).sqrt() } else { 0.0 };
        Ratio { value: (seen > BLIND && value > 0.0).then_some(value), misfit, seen }
    });
    // q̄ = q + K⁻¹ G in each pose.
    let soft = Vec3::from_fn(|c, _| ratios[c].value.map_or(0.0, |k| 1.0 / k));
    let natures: Vec<Vec<Vec3>> = known
        .iter()
        .map(|(_, gradient, q, bare)| {
            let by_load = bare.solve_elastic(gradient);
            q.iter().zip(by_load).map(|(q, l)| q + l.component_mul(&soft)).collect()
        })
        .collect();
    let count = natures.len() as f64;
    let mean = |i: usize| natures.iter().map(|n| n[i]).sum::<Vec3>() / count;
    let natural: Vec<Vec3> = (0..first.blocks()).map(mean).collect();
    let far = natures.iter().flat_map(|n| n.iter().zip(&natural)).map(|(a, b)| (a - b).amax());
    let spread = far.fold(0.0, f64::max);
    Ok(Identification { ratios, natural, spread })
}

/// The same from positions and frames at stations of each pose, clamp first, as `drape` writes them: a helix between two stations.
///
/// Exact for super-helices whose joints are among the stations; for others the error falls with the square of their distance.
/// Also returns the arclengths of the middles of the helices, to which the natural curvatures belong.
pub fn identify_stations(
    poses: &[Vec<Station>],
    gravity: Vec3,
) -> Result<(Identification, Vec<f64>), RodError> {
    let unit =
        Section { bending_stiffness: [1.0; 2], twisting_stiffness: 1.0, linear_density: 1.0 };
    let mut rods: Vec<(Rod, Vec<Vec3>)> = Vec::with_capacity(poses.len());
    let end = |p: &[Station]| p.last().map_or(0.0, |s| s.s);
    for (pose, stations) in poses.iter().enumerate() {
        let (found, length) = (stations.len(), end(stations));
        let (expected, first) = (poses[0].len(), end(&poses[0]));
        let same = stations.iter().zip(&poses[0]).all(|(a, b)| (a.s - b.s).abs() <= 1e-9 * first);
        if found < 2 || found != expected || !same {
            return Err(RodError::Pose { pose, found, length, expected, first });
        }
        let lengths = stations.windows(2).map(|w| w[1].s - w[0].s).collect();
        let clamp = Clamp { position: stations[0].position, frame: stations[0].frame };
        let rod = Rod::with_lengths(Model::SuperHelix, lengths, unit, clamp)?;
        let bend = |w: &[Station]| {
            let turned = straightened(&w[0].frame).transpose() * straightened(&w[1].frame);
            axial_angle(&turned) / (w[1].s - w[0].s)
        };
        rods.push((rod, stations.windows(2).map(bend).collect()));
    }
    let list: Vec<(&Rod, &[Vec3])> = rods.iter().map(|(rod, q)| (rod, q.as_slice())).collect();
    let middles =
        poses.first().map_or(vec![], |p| p.windows(2).map(|w| 0.5 * (w[0].s + w[1].s)).collect());
    Ok((identify(&list, gravity)?, middles))
}
