//! Thresholds of stability of rods: Euler, Greenhill, Prandtl–Michell, Michell–Zajac, and bending out of the plane.

use nalgebra::{DMatrix, DVector};
use toile_rod::{
    Loads, Model, NaturalCurvature, Rod, Section, StaticSettings, Vec3, equilibrium_from, hessian,
    stability_margin,
};

use super::progress::{Meter, Progress};
use super::rods::{MODELS, PLANE, RodRow, RodSettings, clamped, judged, name, sorted};
use super::{Outcome, ProtocolError};
use crate::kirchhoff::bend_twist_threshold;

/// A threshold with a closed form.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    Euler,
    Greenhill,
    PrandtlMichell,
    Ring,
}

impl Case {
    fn words(self) -> &'static str {
        match self {
            Case::Euler => "Euler: P L²/EI, clamped and free",
            Case::Greenhill => "Greenhill: w L³/EI, standing",
            Case::PrandtlMichell => "Prandtl-Michell: P L²/√(EI GJ), blade on edge",
            Case::Ring => "Michell-Zajac: twist of a ring [rad], EI/GJ = 1.5",
        }
    }

    /// π²/4; the root of J₋₁⸝₃(⅔√Γ); that of J₋₁⸝₄(c/2); 2π√3 EI/GJ.
    fn expected(self) -> f64 {
        match self {
            Case::Euler => std::f64::consts::PI.powi(2) / 4.0,
            Case::Greenhill => 7.837_347_438_943_48,
            Case::PrandtlMichell => 4.012_599_343_578_9,
            Case::Ring => 2.0 * std::f64::consts::PI * 3f64.sqrt() * 1.5,
        }
    }
}

/// The classical thresholds of straight rods and of the ring.
pub fn buckling(
    settings: &RodSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<RodRow>, ProtocolError> {
    settings.check()?;
    let mut cases = Vec::new();
    for case in [Case::Euler, Case::Greenhill, Case::PrandtlMichell, Case::Ring] {
        for model in MODELS {
            cases.extend(settings.elements.iter().map(|&n| (case, model, n)));
        }
    }
    let rows = {
        let meter = Meter::new(progress, cases.len());
        let work = |&(case, model, n): &(Case, Model, usize)| {
            let measured = match case {
                Case::Euler => linear(model, n, PLANE, Vec3::z(), Vec3::zeros(), -Vec3::z())?,
                Case::Greenhill => linear(model, n, PLANE, Vec3::z(), -Vec3::z(), Vec3::zeros())?,
                Case::PrandtlMichell => blade(model, n)?,
                Case::Ring => ring(model, n)?,
            };
            meter.finished(&format!("{}, {} × {n}", case.words(), name(model)));
            let (case, expected) = (case.words().to_string(), case.expected());
            Ok(RodRow { case, model, elements: n, parameter: 0.0, measured, expected })
        };
        meter.run(&cases, |c| (c.2 as f64).powi(if c.0 == Case::Ring { 3 } else { 1 }), work)?
    };
    Ok(judged("Thresholds of rods", "buckling.svg", settings, sorted(rows)))
}

/// Factor on the loads at which a straight rod loses its stability: its shape does not depend on them, so the least
/// eigenvalue against the elastic stiffness falls linearly from 1.
fn linear(
    model: Model,
    n: usize,
    section: Section,
    tangent: Vec3,
    per_length: Vec3,
    tip: Vec3,
) -> Result<f64, ProtocolError> {
    let rod = Rod::new(model, n, 1.0, section, clamped(tangent))?;
    let margin = stability_margin(&rod, &rod.rest(), &Loads { per_length, tip })?;
    Ok(1.0 / (1.0 - margin))
}

/// Lateral buckling of a blade by a force across it, in its plane. Stiffness in the plane is 10⁵ times that out of it, so
/// that it does not bend before it turns over.
fn blade(model: Model, n: usize) -> Result<f64, ProtocolError> {
    let section = Section { bending_stiffness: [1e5, 1.0], ..PLANE };
    linear(model, n, section, Vec3::x(), Vec3::zeros(), -Vec3::z())
}

/// Twist at which a closed ring of a straight, isotropic rod leaves its plane.
///
/// The frame that does not follow the twist is used: for an isotropic section a natural twist −τ of it is the same as a twist τ
/// of the material, and the ring is one curvature for all elements. The closing conditions on position
/// and rotation of the end enter with their multipliers, found from equilibrium.
pub fn ring(model: Model, n: usize) -> Result<f64, ProtocolError> {
    let n = n.max(6);
    let (ei, gj) = (1.0, 1.0 / 1.5);
    let section =
        Section { bending_stiffness: [ei, ei], twisting_stiffness: gj, linear_density: 1.0 };
    let length = 2.0 * std::f64::consts::PI;
    let blocks = if model == Model::SuperHelix { n } else { n + 1 };
    let q = vec![Vec3::x(); blocks];
    let unstable = |twist: f64| -> Result<bool, ProtocolError> {
        let natural = NaturalCurvature::uniform(Vec3::new(0.0, 0.0, -twist / length));
        let rod = Rod::new(model, n, length, section, clamped(Vec3::x()))?
            .with_natural_curvature(&natural)?;
        let (_, j, theta) = rod.jacobian(&q, length);
        let m = 3 * blocks;
        let closing =
            DMatrix::from_fn(6, m, |r, c| if r < 3 { j[(r, c)] } else { theta[(r - 3, c)] });
        // Multipliers: elastic forces = closingᵀ λ.
        let change: Vec<Vec3> = q.iter().zip(rod.rest()).map(|(q, bar)| q - bar).collect();
        let forces = rod.elastic(&change);
        let forces = DVector::from_fn(m, |i, _| forces[i / 3][i % 3]);
        let gram = &closing * closing.transpose();
        let solve = gram.clone().lu();
        let lambda = solve.solve(&(&closing * &forces)).unwrap_or_else(|| DVector::zeros(6));
        let tip = Vec3::new(lambda[0], lambda[1], lambda[2]);
        let moment = Vec3::new(lambda[3], lambda[4], lambda[5]);
        let loads = Loads { per_length: Vec3::zeros(), tip };
        let mut form = hessian(&rod, &q, &loads)?;
        form -= rotation_form(&rod, &q, &moment);
        // On the space that keeps the ring closed, measured by the elastic stiffness.
        let h = length / n as f64;
        let scale = DVector::from_fn(m, |i, _| 1.0 / (h * if i % 3 == 2 { gj } else { ei }).sqrt());
        let scaled = DMatrix::from_fn(m, m, |r, c| form[(r, c)] * scale[r] * scale[c]);
        let rows = DMatrix::from_fn(6, m, |r, c| closing[(r, c)] * scale[c]);
        let inner = (&rows * rows.transpose()).lu();
        let Some(weighed) = inner.solve(&rows) else { return Ok(true) };
        let project = DMatrix::identity(m, m) - rows.transpose() * weighed;
        // The conditions' own directions are lifted out of the way.
        let lifted = &project * scaled * &project + (DMatrix::identity(m, m) - &project) * 10.0;
        let symmetric = (&lifted + lifted.transpose()) * 0.5;
        // Turning all sections alike costs nothing: one eigenvalue is zero.
        Ok(symmetric.symmetric_eigenvalues().iter().any(|v| *v < -1e-7))
    };
    let (mut low, mut high) = (1.0, 60.0);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if unstable(middle)? { high = middle } else { low = middle }
    }
    Ok(0.5 * (low + high))
}

/// Nodes and weights of Gauss on \[0, 1\].
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_3, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// Second derivative of moment·(rotation vector of the end): ½ (θ₁ × θ₂)·moment for a change θ₁ before a change θ₂.
fn rotation_form(rod: &Rod, q: &[Vec3], moment: &Vec3) -> DMatrix<f64> {
    let m = 3 * rod.blocks();
    let mut out = DMatrix::zeros(m, m);
    let mut from = 0.0;
    for (e, l) in rod.lengths().iter().enumerate() {
        for (t, weight) in GAUSS {
            let s = from + t * l;
            let (_, _, before) = rod.jacobian(q, s);
            let frame = rod.stations(q, &[s])[0].frame;
            // Curvatures of this element turn everything beyond by their share of d.
            let own = match rod.model() {
                Model::SuperHelix => vec![(e, 1.0)],
                Model::SuperClothoid => vec![(e, 1.0 - t), (e + 1, t)],
            };
            for (block, shape) in own {
                for k in 0..3 {
                    let after: Vec3 = frame.column(k) * (weight * l * shape);
                    let c = 3 * block + k;
                    for r in 0..m {
                        let first = Vec3::new(before[(0, r)], before[(1, r)], before[(2, r)]);
                        let value = 0.5 * moment.dot(&first.cross(&after));
                        out[(r, c)] += value;
                        out[(c, r)] += value;
                    }
                }
            }
        }
        from += l;
    }
    out
}

/// The natural curvature at which a hanging rod bends out of its plane, against the linearised Kirchhoff equations.
///
/// The plane shape is followed from the straight rod with the plane held by stiffness, and its stability judged without.
pub fn bend_twist(
    settings: &RodSettings,
    progress: &mut Progress<'_>,
) -> Result<Outcome<RodRow>, ProtocolError> {
    settings.check()?;
    let mut cases = Vec::new();
    for (gamma, ratio) in [(20.0, 2.0 / 3.0), (50.0, 2.0 / 3.0), (200.0, 2.0 / 3.0), (50.0, 0.9)] {
        for model in MODELS {
            // Fewer than eight elements do not show the boundary layer at the clamp.
            cases.extend(
                settings.elements.iter().filter(|n| **n >= 8).map(|&n| (gamma, ratio, model, n)),
            );
        }
    }
    let rows = {
        let meter = Meter::new(progress, cases.len());
        let work = |&(gamma, ratio, model, n): &(f64, f64, Model, usize)| {
            let expected = bend_twist_threshold(gamma, ratio, 40.0).map_or(f64::NAN, |t| t.0);
            let measured = plane_threshold(gamma, ratio, model, n)?;
            let case = format!("κ̄ L at Γ = {gamma}, GJ/EI = {ratio:.3}");
            meter.finished(&format!("{case}, {} × {n}", name(model)));
            Ok(RodRow { case, model, elements: n, parameter: gamma, measured, expected })
        };
        meter.run(&cases, |c| c.3 as f64, work)?
    };
    Ok(judged("Bending out of the plane", "bend_twist.svg", settings, sorted(rows)))
}

fn plane_threshold(gamma: f64, ratio: f64, model: Model, n: usize) -> Result<f64, ProtocolError> {
    let free =
        Section { bending_stiffness: [1.0, 1.0], twisting_stiffness: ratio, linear_density: 1.0 };
    let held = Section { bending_stiffness: [1.0, 1e6], twisting_stiffness: 1e6, ..free };
    let loads = Loads { per_length: Vec3::new(0.0, 0.0, -gamma), tip: Vec3::zeros() };
    let build = |section: Section, natural: f64| {
        Rod::new(model, n, 1.0, section, clamped(-Vec3::z()))?
            .with_natural_curvature(&NaturalCurvature::uniform(Vec3::new(natural, 0.0, 0.0)))
    };
    let margin = |natural: f64, start: &[Vec3]| -> Result<(f64, Vec<Vec3>), ProtocolError> {
        let plane = build(held, natural)?;
        let found =
            equilibrium_from(&plane, start.to_vec(), 1.0, &loads, &StaticSettings::default())?;
        if found.certificate.residual > 1e-6 {
            return Ok((f64::NAN, found.q));
        }
        Ok((stability_margin(&build(free, natural)?, &found.q, &loads)?, found.q))
    };
    let mut q = vec![Vec3::zeros(); build(free, 0.0)?.blocks()];
    let (mut low, step) = (0.0, 0.4);
    while low < 40.0 {
        let (found, next) = margin(low + step, &q)?;
        if found.is_nan() {
            return Ok(f64::NAN);
        }
        if found <= 0.0 {
            let (mut a, mut b) = (low, low + step);
            for _ in 0..30 {
                let middle = 0.5 * (a + b);
                if margin(middle, &q)?.0 > 0.0 { a = middle } else { b = middle }
            }
            return Ok(0.5 * (a + b));
        }
        (low, q) = (low + step, next);
    }
    Ok(f64::NAN)
}
