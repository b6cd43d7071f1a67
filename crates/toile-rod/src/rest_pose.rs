//! Natures read off a second drawing: a fibre as it was drawn, and as its file says that it rests.
//!
//! Both curves are fitted alike. A curve does not tell how the section turns about it, so the drawing is framed as a fibre of that nature
//! would turn ([`least_energy_turn`]): θ(s) from the frame that was fitted. A round section has no axes of its own: there θ is taken out of the
//! nature, and the drawing stays as it was fitted. Otherwise the curvatures of the drawing are turned; how a flat section is twisted at rest no curve
//! tells, and it is taken not to be.

use crate::RodError;
use crate::certificate::{force_unit, residual_n};
use crate::curve::Curve;
use crate::element::Model;
use crate::fit::{Fit, FitSettings, bent_along, distances, fit, transported};
use crate::framing::least_energy_turn;
use crate::rod::{Loads, Rod};
use crate::rotation::{Mat3, Vec3};
use crate::statics::{StaticSettings, equilibrium, equilibrium_from};

/// The nature that a second drawing gives a fibre.
#[derive(Clone, Debug)]
pub struct RestPose {
    /// Natural curvatures, in the unknowns of the fitted rod.
    pub natural: Vec<Vec3>,
    /// Largest distance from a point of the second drawing to its rod \[m\].
    pub error_max: f64,
    /// Length of the first drawing over that of the second, less 1: fibres do not stretch, so curvatures are taken at equal parts of the length.
    pub stretch: f64,
    /// Angle between the first directions of the two drawings, once their roots lie on each other \[rad\].
    pub tilt: f64,
}

/// Pieces of an element on which the turn of the section is linear.
const PIECES: usize = 4;

/// Reads the nature of a fitted fibre off a second drawing, which `turn` brings to the first by its roots. The first is framed for it.
pub fn rest_pose(
    drawn: (&Curve, &mut Fit),
    rest: &Curve,
    turn: &Mat3,
    settings: &FitSettings,
) -> Result<RestPose, RodError> {
    let (curve, shape) = drawn;
    let section = *shape.rod.section();
    let clamp = shape.rod.clamp().frame;
    let d3: Vec3 = clamp.column(2).into();
    // The section of the rest begins as that of the drawing does, but for the tilt between their first directions.
    let first = turn * rest.at(0.0).1;
    let begins: Vec3 = transported(&clamp, &first).column(0).into();
    let found = fit(rest, section, Some(turn.transpose() * begins), settings)?;
    let own: Vec3 = turn * found.rod.clamp().frame.column(2);
    let tilt = d3.cross(&own).norm().atan2(d3.dot(&own));
    let ratio = found.rod.length() / shape.rod.length();
    // Curvatures at equal parts of the length, so that the whole turns as much.
    let natural = |s: f64| found.rod.curvature(&found.q, s * ratio) * ratio;
    let length = shape.rod.length();
    let elements = shape.rod.lengths().len();
    let along = |s: f64| shape.rod.curvature(&shape.q, s);
    let pieces = PIECES * elements;
    let framing = least_energy_turn(&section, length, pieces, along, natural)?;
    let h = length / pieces as f64;
    let theta = |s: f64| {
        let x = (s / h).clamp(0.0, pieces as f64);
        let i = (x as usize).min(pieces - 1);
        let t = x - i as f64;
        framing.theta[i] * (1.0 - t) + framing.theta[i + 1] * t
    };
    let [a, b] = section.bending_stiffness;
    let round = (a - b).abs() <= 1e-9 * (a + b);
    let mut out = Vec::with_capacity(shape.rod.blocks());
    let mut turned = Vec::with_capacity(shape.rod.blocks());
    for (from, s, to) in places(&shape.rod) {
        let rate = (theta(to) - theta(from)) / (to - from);
        let (k, wish) = (shape.q[out.len()], natural(s));
        if round {
            // The nature as seen from the frame of the drawing: turned back by θ.
            let (sin, cos) = theta(s).sin_cos();
            let seen = [wish.x * cos - wish.y * sin, wish.y * cos + wish.x * sin];
            out.push(Vec3::new(seen[0], seen[1], wish.z - rate));
        } else {
            let (sin, cos) = theta(s).sin_cos();
            turned.push(Vec3::new(k.x * cos + k.y * sin, k.y * cos - k.x * sin, k.z + rate));
            out.push(wish);
        }
    }
    if !round {
        shape.q = turned;
        bent_along(curve, &mut shape.rod, &mut shape.q);
        (shape.error_max, shape.error_rms) = distances(curve, &shape.rod, &shape.q);
    }
    Ok(RestPose { natural: out, error_max: found.error_max, stretch: 1.0 / ratio - 1.0, tilt })
}

/// Where the unknowns of a rod are, with the stretch over which a rate is taken there.
fn places(rod: &Rod) -> Vec<(f64, f64, f64)> {
    let mut joints = vec![0.0];
    for l in rod.lengths() {
        joints.push(joints[joints.len() - 1] + l);
    }
    match rod.model() {
        Model::SuperHelix => joints.windows(2).map(|w| (w[0], 0.5 * (w[0] + w[1]), w[1])).collect(),
        Model::SuperClothoid => {
            let last = joints.len() - 1;
            let half = |i: usize, k: usize| 0.5 * (joints[i] + joints[k]);
            (0..=last)
                .map(|i| (half(i, i.saturating_sub(1)), joints[i], half(i, (i + 1).min(last))))
                .collect()
        }
    }
}

/// The rotation that brings one set of roots to another best. Where roots do not determine one, as of a single strand, the least turn that
/// brings the mean of the first `directions` to the other.
pub fn root_turn(from: &[(Vec3, Vec3)], to: &[(Vec3, Vec3)]) -> Mat3 {
    let mean = |all: &[(Vec3, Vec3)]| -> Vec3 {
        all.iter().map(|p| p.0).sum::<Vec3>() / all.len().max(1) as f64
    };
    let (a, b) = (mean(from), mean(to));
    let spread: Mat3 = from.iter().zip(to).map(|(p, q)| (q.0 - b) * (p.0 - a).transpose()).sum();
    let svd = spread.svd(true, true);
    let values = svd.singular_values;
    if let (Some(u), Some(v)) = (svd.u, svd.v_t)
        && values[1] > 1e-6 * values[0]
        && values[0] > 0.0
    {
        // No mirror image.
        let sign = (u * v).determinant().signum();
        return u * Mat3::from_diagonal(&Vec3::new(1.0, 1.0, sign)) * v;
    }
    let way = |all: &[(Vec3, Vec3)]| all.iter().map(|p| p.1).sum::<Vec3>();
    let (p, q) = (way(from), way(to));
    if p.norm() < 1e-9 || q.norm() < 1e-9 {
        return Mat3::identity();
    }
    let frame = crate::fit::frame_along(&p.normalize(), None);
    transported(&frame, &q.normalize()) * frame.transpose()
}

/// How a drawing, the nature that was found for it and the one of its file agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestComparison {
    /// Largest force that is not balanced in the drawing with the nature of the file (and the contact forces that were found), over the weight of a joint.
    pub residual: f64,
    /// The same \[N\].
    pub residual_n: f64,
    /// Root mean square of what the curvatures of the two natures differ by \[1/m\].
    pub curvature_rms: f64,
    /// Root mean square of the curvatures of the file's \[1/m\].
    pub curvature_size: f64,
    /// Root mean square of the distances between the two natural shapes, both from the clamp of the drawing \[m\].
    pub position_rms: f64,
    /// The largest of them \[m\].
    pub position_max: f64,
}

/// Stations at which shapes are compared.
const COMPARED: usize = 41;

/// Root mean square and largest distance between two shapes of a rod \[m\].
pub fn shape_distance(rod: &Rod, a: &[Vec3], b: &[Vec3]) -> (f64, f64) {
    let (a, b) = (rod.equal_stations(a, COMPARED), rod.equal_stations(b, COMPARED));
    let away = || a.iter().zip(&b).map(|(a, b)| (a.position - b.position).norm_squared());
    ((away().sum::<f64>() / COMPARED as f64).sqrt(), away().fold(0.0, f64::max).sqrt())
}

/// Compares the nature that holds a drawing with another one.
pub fn compare_natures(rod: &Rod, found: &[Vec3], given: &[Vec3], loads: &Loads) -> RestComparison {
    let differ: Vec<Vec3> = found.iter().zip(given).map(|(a, b)| a - b).collect();
    // What balances with one nature is out of balance by K (q̄ − q̄′) with the other.
    let left = residual_n(rod, &rod.elastic(&differ));
    let rms = |k: &[Vec3]| {
        (k.iter().map(|k| k.norm_squared()).sum::<f64>() / k.len().max(1) as f64).sqrt()
    };
    let (position_rms, position_max) = shape_distance(rod, found, given);
    RestComparison {
        residual: left / force_unit(rod, loads),
        residual_n: left,
        curvature_rms: rms(&differ),
        curvature_size: rms(given),
        position_rms,
        position_max,
    }
}

/// The equilibrium of a rod of known nature near a shape; where none is found from there, the one it comes to as its weight grows.
pub fn equilibrium_near(
    rod: &Rod,
    q: &[Vec3],
    loads: &Loads,
) -> Result<crate::RodEquilibrium, RodError> {
    let settings = StaticSettings::default();
    let near = equilibrium_from(rod, q.to_vec(), 1.0, loads, &settings)?;
    if near.certificate.certified {
        return Ok(near);
    }
    let grown = equilibrium(rod, loads, &settings)?;
    Ok(if grown.certificate.residual < near.certificate.residual { grown } else { near })
}
