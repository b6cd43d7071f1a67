//! Inverse statics of an isolated fibre: the natural shape for which a given one is an equilibrium.

use crate::certificate::stiffening;
use crate::forms::Shape;
use crate::rod::{Loads, Rod};
use crate::rotation::Vec3;
use crate::tree::Tree;
use crate::{RodCertificate, RodError, certify};

/// A rod that rests in the shape it was given.
#[derive(Clone, Debug)]
pub struct FibreInversion {
    /// The rod with its natural curvatures.
    pub rod: Rod,
    /// The natural curvatures, in the rod's unknowns.
    pub natural: Vec<Vec3>,
    /// Residual and stability of the shape.
    pub certificate: RodCertificate,
    /// All stiffnesses must be multiplied by more than this to make the shape stable; at most 1 if it is.
    pub stiffening: f64,
    /// Whether another framing of the same curve gives another natural shape: it does unless EI₁ = EI₂.
    pub unique: bool,
}

impl FibreInversion {
    /// What was found of a rod whose nature is known.
    pub fn new(rod: Rod, natural: Vec<Vec3>, certificate: RodCertificate) -> Self {
        let [a, b] = rod.section().bending_stiffness;
        let unique = (a - b).abs() <= 1e-9 * (a + b);
        Self { stiffening: 1.0 - certificate.margin, rod, natural, certificate, unique }
    }
}

/// Natural curvatures q̄ = q + K⁻¹ ∂E_load/∂q: always exist, in linear time.
///
/// Stability does not depend on them: it needs K + 𝕊(q) positive, which stiffness decides.
/// Reference: Derouet-Jourdan, Bertails-Descoubes and Thollot 2010; Bertails-Descoubes 2017, §4.2.
pub fn natural_curvatures(rod: &Rod, q: &[Vec3], loads: &Loads) -> Result<Vec<Vec3>, RodError> {
    rod.check_blocks(q)?;
    let shape = Shape::new(rod, q, loads, false);
    let by_load = rod.solve_elastic(&shape.load_gradient);
    Ok(q.iter().zip(&by_load).map(|(q, d)| q + d).collect())
}

/// Part of the weight under which a fibre would just stand that one too soft for its shape is made for.
const BORNE: f64 = 0.9;

/// Natures that hold a shape under as much of its loads as it can bear.
#[derive(Clone, Debug, PartialEq)]
pub struct Bearable {
    /// Natural curvatures, in the rod's unknowns.
    pub natural: Vec<Vec3>,
    /// Part of the loads that they hold: 1 where the shape is stable under all.
    pub part: f64,
}

/// Natural curvatures that hold q under all of the loads where it is stable, and else under that part of them under which it would still be.
///
/// Those that [`natural_curvatures`] gives a fibre too soft for its shape are a spring that is let go: a strand of 1 m drawn across the air asks for
/// curvatures of 3000 1/m, whose energy is a hundred times that of its weight. With these it sags instead.
pub fn bearable_natures(rod: &Rod, q: &[Vec3], loads: &Loads) -> Result<Bearable, RodError> {
    rod.check_blocks(q)?;
    let shape = Shape::new(rod, q, loads, true);
    // K + part · 𝕊 is singular where part is one over what K would have to be multiplied by.
    let part = stiffening(rod, &shape).map_or(1.0, |by| BORNE / by);
    let by_load = rod.solve_elastic(&shape.load_gradient);
    let natural = q.iter().zip(&by_load).map(|(q, d)| q + d * part).collect();
    Ok(Bearable { natural, part })
}

/// Gives a rod the nature that makes q its equilibrium, and judges it.
pub fn invert_fibre(rod: &Rod, q: &[Vec3], loads: &Loads) -> Result<FibreInversion, RodError> {
    let natural = natural_curvatures(rod, q, loads)?;
    let rod = rod.clone().with_rest(&natural)?;
    let certificate = certify(&rod, q, loads)?;
    Ok(FibreInversion::new(rod, natural, certificate))
}

/// Gives the branches of a tree the natures that make q its equilibrium, and judges it: what a branch bears is part of its load. Stability is that of
/// the whole tree, and counted with the first branch.
pub fn invert_tree(
    tree: &Tree,
    q: &[Vec3],
    gravity: &Vec3,
) -> Result<Vec<FibreInversion>, RodError> {
    let load = tree.load_gradient(q, gravity)?;
    let (mut from, mut branches) = (0, tree.branches().to_vec());
    for branch in &mut branches {
        let part = from..from + branch.rod.blocks();
        from = part.end;
        let by_load = branch.rod.solve_elastic(&load[part.clone()]);
        let natural: Vec<Vec3> = q[part].iter().zip(&by_load).map(|(q, d)| q + d).collect();
        branch.rod = branch.rod.clone().with_rest(&natural)?;
    }
    let tree = Tree::new(branches)?;
    let whole = tree.certify(q, gravity)?;
    let one = |(i, rod): (usize, Rod)| {
        let mut certificate = whole.clone();
        if i > 0 {
            certificate.negative_modes = 0;
        }
        let natural = rod.rest();
        FibreInversion::new(rod, natural, certificate)
    };
    Ok(tree.placed(q)?.into_iter().enumerate().map(one).collect())
}

/// [`invert_tree`] under as much of the weight as the tree can bear in this shape, and which part that is.
pub fn bearable_tree(
    tree: &Tree,
    q: &[Vec3],
    gravity: &Vec3,
) -> Result<(Vec<FibreInversion>, f64), RodError> {
    let found = invert_tree(tree, q, gravity)?;
    let falls = found.first().filter(|f| f.certificate.negative_modes > 0);
    let Some(part) = falls.map(|f| BORNE / f.stiffening) else { return Ok((found, 1.0)) };
    Ok((invert_tree(tree, q, &(gravity * part))?, part))
}

/// κ̄(s) = κ(s) − K⁻¹ Rᵀ M(s) with M the moment of the weight beyond s: the continuous inversion of a rod's shape, by
/// quadrature. A check on [`natural_curvatures`], which it approaches as elements shrink.
pub fn natural_curvature_at(rod: &Rod, q: &[Vec3], loads: &Loads, s: f64) -> Vec3 {
    let length = rod.length();
    let here = rod.stations(q, &[s])[0];
    let n = 400;
    let h = (length - s) / f64::from(n);
    // Simpson's rule on the arm of the load.
    let at: Vec<f64> = (0..=n).map(|i| s + h * f64::from(i)).collect();
    let stations = rod.stations(q, &at);
    let mut arm = Vec3::zeros();
    for (i, station) in stations.iter().enumerate() {
        let w = if i == 0 || i == n as usize {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        };
        arm += (station.position - here.position) * (w * h / 3.0);
    }
    let tip = stations[n as usize].position - here.position;
    let moment = arm.cross(&loads.per_length) + tip.cross(&loads.tip);
    let k = rod.section().stiffness();
    rod.curvature(q, s) - (here.frame.transpose() * moment).component_div(&k)
}
