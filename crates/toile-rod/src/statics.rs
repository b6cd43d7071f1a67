//! Static equilibrium of a clamped rod under dead loads, on the stable branch from zero load.

use crate::chain::Chain;
use crate::forms::{Mix, Shape};
use crate::rod::{Loads, Rod};
use crate::rotation::Vec3;
use crate::{RodCertificate, RodError, certify};

/// How an equilibrium is sought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticSettings {
    /// Residual (see [`RodCertificate`]) to reach; the iteration goes on to round-off anyway if it can.
    pub tolerance: f64,
    /// Newton steps at most, over all loads.
    pub max_steps: usize,
    /// First fraction of the load to try: most hair takes all of it at once, but then may land on another branch.
    pub first_fraction: f64,
}

impl Default for StaticSettings {
    /// Ten load steps at first; a thousand Newton steps cost milliseconds.
    fn default() -> Self {
        Self { tolerance: 1e-10, max_steps: 5000, first_fraction: 0.1 }
    }
}

/// An equilibrium, or the best that was found.
#[derive(Clone, Debug)]
pub struct RodEquilibrium {
    /// The curvatures; of all branches, one after the other, in a tree.
    pub q: Vec<Vec3>,
    /// Elastic energy \[J\].
    pub elastic_energy: f64,
    /// Potential of the loads from the origin \[J\].
    pub load_energy: f64,
    /// Newton steps taken.
    pub steps: usize,
    /// Times an unstable equilibrium was left along its falling direction.
    pub escapes: usize,
    /// Fraction of the load that was carried: 1 unless the search failed.
    pub fraction: f64,
    /// Whether it is an equilibrium.
    pub certificate: RodCertificate,
}

/// Energy and gradient at q.
pub(crate) fn elastic_energy(rod: &Rod, q: &[Vec3], kq: &[Vec3]) -> f64 {
    let own: f64 = kq.iter().zip(q).map(|(f, q)| f.dot(q)).sum();
    let rest: f64 = rod.rest_moment().iter().zip(q).map(|(f, q)| f.dot(q)).sum();
    0.5 * own - rest + rod.rest_energy()
}

/// What has an energy of curvatures and loads: a rod, or a tree of them.
pub(crate) trait Body {
    type Loads;
    type Shape;
    type Factor: Factor;
    /// Loads, so many times as large.
    fn scaled(loads: &Self::Loads, factor: f64) -> Self::Loads;
    /// Energy, gradient and everything its forms need.
    fn evaluate(&self, q: &[Vec3], loads: &Self::Loads) -> Point<Self::Shape>;
    /// A mix of its forms, factorised.
    fn factorise(&self, shape: &Self::Shape, mix: Mix) -> Self::Factor;
    /// A mix of its forms times a change of the unknowns, where that is cheap.
    fn product(&self, _shape: &Self::Shape, _mix: Mix, _x: &[Vec3]) -> Option<Vec<Vec3>> {
        None
    }
    /// K q.
    fn elastic(&self, q: &[Vec3]) -> Vec<Vec3>;
    /// K⁻¹ f.
    fn solve_elastic(&self, f: &[Vec3]) -> Vec<Vec3>;
    /// Length over which a curvature turns \[m\].
    fn length(&self) -> f64;
    /// The largest stiffness \[N·m²\] and the smallest density \[kg/m\].
    fn scales(&self) -> (f64, f64);
}

/// A factorised form.
pub(crate) trait Factor {
    /// Eigenvalues that are not positive.
    fn not_positive(&self) -> usize;
    /// Unknown vectors.
    fn blocks(&self) -> usize;
    fn solve(&self, f: &[Vec3]) -> Vec<Vec3>;
}

impl Factor for Chain {
    fn not_positive(&self) -> usize {
        self.negative + usize::from(self.singular)
    }

    fn blocks(&self) -> usize {
        Chain::blocks(self)
    }

    fn solve(&self, f: &[Vec3]) -> Vec<Vec3> {
        Chain::solve(self, f)
    }
}

impl Body for Rod {
    type Loads = Loads;
    type Shape = Shape;
    type Factor = Chain;

    fn scaled(loads: &Loads, factor: f64) -> Loads {
        loads.scaled(factor)
    }

    fn evaluate(&self, q: &[Vec3], loads: &Loads) -> Point<Shape> {
        evaluate(self, q, loads, true)
    }

    fn factorise(&self, shape: &Shape, mix: Mix) -> Chain {
        shape.chain(self, mix)
    }

    fn product(&self, shape: &Shape, mix: Mix, x: &[Vec3]) -> Option<Vec<Vec3>> {
        Some(shape.product(self, mix, x))
    }

    fn elastic(&self, q: &[Vec3]) -> Vec<Vec3> {
        Rod::elastic(self, q)
    }

    fn solve_elastic(&self, f: &[Vec3]) -> Vec<Vec3> {
        Rod::solve_elastic(self, f)
    }

    fn length(&self) -> f64 {
        Rod::length(self)
    }

    fn scales(&self) -> (f64, f64) {
        (self.section().stiffness().max(), self.section().linear_density)
    }
}

pub(crate) struct Point<S = Shape> {
    pub(crate) shape: S,
    pub(crate) energy: f64,
    pub(crate) gradient: Vec<Vec3>,
}

pub(crate) fn evaluate(rod: &Rod, q: &[Vec3], loads: &Loads, second: bool) -> Point {
    evaluate_held(rod, q, loads, &[], second)
}

/// The same with further dead forces at the joints.
pub(crate) fn evaluate_held(
    rod: &Rod,
    q: &[Vec3],
    loads: &Loads,
    at_joints: &[Vec3],
    second: bool,
) -> Point {
    let shape = Shape::held(rod, q, loads, at_joints, second);
    let kq = rod.elastic(q);
    let energy = elastic_energy(rod, q, &kq) + shape.load_energy;
    let gradient = kq
        .iter()
        .zip(rod.rest_moment())
        .zip(&shape.load_gradient)
        .map(|((k, b), g)| k - b + g)
        .collect();
    Point { shape, energy, gradient }
}

pub(crate) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

/// gᵀ K⁻¹ g: the gradient measured by the energy it could free.
fn natural_norm<B: Body>(rod: &B, g: &[Vec3]) -> f64 {
    dot(g, &rod.solve_elastic(g)).max(0.0).sqrt()
}

enum Ended {
    /// At a minimum, after this many steps.
    Minimum(usize),
    /// Where forces balance but a way falls off.
    Saddle(usize),
    /// Not there.
    Lost(usize),
}

/// Newton with a shift by the elastic stiffness where the exact form is not positive.
fn minimise<B: Body>(
    rod: &B,
    q: &mut Vec<Vec3>,
    loads: &B::Loads,
    limit: f64,
    most: usize,
) -> Ended {
    let mut here = rod.evaluate(q, loads);
    let mut norm = natural_norm(rod, &here.gradient);
    let floor = limit.max(1e-300);
    let mut stalled = 0;
    for step in 0..most {
        if !norm.is_finite() {
            return Ended::Lost(step);
        }
        let exact = Mix { mass: 0.0, elastic: 1.0, geometric: 1.0 };
        let mut chain = rod.factorise(&here.shape, exact);
        let positive = chain.not_positive() == 0;
        if norm <= floor || stalled >= 3 {
            return if positive { Ended::Minimum(step) } else { Ended::Saddle(step) };
        }
        let mut shift = 0.1;
        while chain.not_positive() > 0 {
            chain = rod.factorise(&here.shape, Mix { elastic: 1.0 + shift, ..exact });
            shift *= 3.0;
            if shift > 1e12 {
                return Ended::Lost(step);
            }
        }
        let minus: Vec<Vec3> = here.gradient.iter().map(|g| -g).collect();
        let d = chain.solve(&minus);
        let slope = dot(&here.gradient, &d);
        let mut scale = 1.0;
        let mut taken = false;
        // A turn of the tip by more than about a radian per step leaves the quadratic model.
        let turn: f64 = d.iter().map(|k| k.norm()).sum::<f64>() * rod.length() / d.len() as f64;
        if turn > 1.5 {
            scale = 1.5 / turn;
        }
        for _ in 0..40 {
            let trial: Vec<Vec3> = q.iter().zip(&d).map(|(q, d)| q + d * scale).collect();
            let there = rod.evaluate(&trial, loads);
            let there_norm = natural_norm(rod, &there.gradient);
            let noise = 1e-13 * (there.energy.abs() + here.energy.abs());
            let descends = there.energy <= here.energy + 1e-4 * scale * slope;
            let balances =
                positive && there.energy <= here.energy + noise && there_norm < 0.9 * norm;
            if there.energy.is_finite() && (descends || balances) {
                let enough = there_norm <= 0.5 * norm || there.energy < here.energy - noise;
                stalled = if enough { 0 } else { stalled + 1 };
                (*q, here, norm, taken) = (trial, there, there_norm, true);
                break;
            }
            scale *= 0.5;
        }
        if !taken {
            // Rounding: as good as it gets.
            return if positive { Ended::Minimum(step + 1) } else { Ended::Saddle(step + 1) };
        }
    }
    Ended::Lost(most)
}

/// The equilibrium reached from the natural shape as the loads grow from nothing.
///
/// At each load the energy is minimised from the last shape and its tangent; where the path loses its
/// stability it is left along the falling direction, so that the result is stable whenever one exists nearby.
/// Linear time per Newton step. A search that ends early returns its best state, and its certificate says so.
pub fn equilibrium(
    rod: &Rod,
    loads: &Loads,
    settings: &StaticSettings,
) -> Result<RodEquilibrium, RodError> {
    equilibrium_from(rod, rod.rest(), 0.0, loads, settings)
}

/// The same from any shape, for instance a neighbouring solution: `fraction` of the loads is on already.
pub fn equilibrium_from(
    rod: &Rod,
    start: Vec<Vec3>,
    fraction: f64,
    loads: &Loads,
    settings: &StaticSettings,
) -> Result<RodEquilibrium, RodError> {
    rod.check_blocks(&start)?;
    if !loads.per_length.iter().chain(loads.tip.iter()).all(|x| x.is_finite()) {
        return Err(RodError::NotFinite { what: "load" });
    }
    let found = follow(rod, start, fraction, loads, settings);
    let certificate = certify(rod, &found.q, loads)?;
    let elastic = elastic_energy(rod, &found.q, &rod.elastic(&found.q));
    let load_energy = Shape::new(rod, &found.q, loads, false).load_energy;
    Ok(RodEquilibrium {
        q: found.q,
        elastic_energy: elastic,
        load_energy,
        steps: found.steps,
        escapes: found.escapes,
        fraction: found.fraction,
        certificate,
    })
}

/// Where a search for an equilibrium ended.
pub(crate) struct Followed {
    pub(crate) q: Vec<Vec3>,
    pub(crate) steps: usize,
    pub(crate) escapes: usize,
    pub(crate) fraction: f64,
}

/// Follows the stable branch from a shape under a fraction of the loads to all of them.
pub(crate) fn follow<B: Body>(
    rod: &B,
    start: Vec<Vec3>,
    fraction: f64,
    loads: &B::Loads,
    settings: &StaticSettings,
) -> Followed {
    let mut q = start;
    let mut w = fraction.clamp(0.0, 1.0);
    let mut dw = settings.first_fraction.clamp(1e-6, 1.0);
    let (mut steps, mut escapes) = (0, 0);
    // Energies the gradient could still free, relative to the rod's own scale: round-off in practice.
    let scale = (rod.scales().0 / rod.length()).sqrt();
    let limit = 1e-15 * scale;
    let mut last: Option<(f64, Vec<Vec3>)> = None;
    loop {
        let next = if w < 1.0 { (w + dw).min(1.0) } else { 1.0 };
        // Secant predictor.
        let mut trial = q.clone();
        if let Some((before, old)) = &last
            && w > *before
        {
            let t = (next - w) / (w - before);
            for (x, o) in trial.iter_mut().zip(old) {
                *x += (*x - o) * t;
            }
        }
        let left = settings.max_steps.saturating_sub(steps);
        let now = B::scaled(loads, next);
        let accurate = if next < 1.0 { 1e-9 * scale } else { limit };
        let mut ended = minimise(rod, &mut trial, &now, accurate, left.min(60));
        let mut found = false;
        for _ in 0..8 {
            match ended {
                Ended::Minimum(n) => {
                    steps += n;
                    found = true;
                    break;
                }
                Ended::Saddle(n) => {
                    steps += n;
                    escapes += 1;
                    let shape = rod.evaluate(&trial, &now).shape;
                    let mode = falling_mode(rod, &shape, trial.len());
                    let size = mode.iter().map(|k| k.norm()).fold(0.0, f64::max) * rod.length();
                    for (x, m) in trial.iter_mut().zip(&mode) {
                        *x += m * (0.05 / size);
                    }
                    let left = settings.max_steps.saturating_sub(steps);
                    ended = minimise(rod, &mut trial, &now, accurate, left.min(200));
                }
                Ended::Lost(n) => {
                    steps += n;
                    break;
                }
            }
        }
        // A jump is cut finer, so that the branch is followed where it exists.
        let moved: f64 = trial.iter().zip(&q).map(|(a, b)| (a - b).norm()).sum::<f64>()
            * rod.length()
            / q.len() as f64;
        let jumped = found && next < 1.0 + 1e-15 && w < 1.0 && moved > 1.5 && dw > 1e-4;
        if found && !jumped {
            if w >= 1.0 || next >= 1.0 {
                return Followed { q: trial, steps, escapes, fraction: 1.0 };
            }
            last = Some((w, std::mem::replace(&mut q, trial)));
            w = next;
            dw = (dw * if moved < 0.5 { 2.0 } else { 1.0 }).min(0.25);
        } else {
            dw *= 0.4;
            if w >= 1.0 || dw < 1e-7 || steps >= settings.max_steps {
                return Followed { q: trial, steps, escapes, fraction: w };
            }
        }
    }
}

/// A change of so many unknowns that is no mode of anything.
pub(crate) fn any_change(blocks: usize) -> Vec<Vec3> {
    (0..blocks).map(|i| Vec3::new(1.0, 0.7 + 0.1 * (i % 3) as f64, 0.4)).collect()
}

/// A direction of negative curvature relative to the elastic stiffness, by inverse iteration with the least shift that
/// makes the form positive.
pub(crate) fn falling_mode<B: Body>(rod: &B, shape: &B::Shape, blocks: usize) -> Vec<Vec3> {
    let mut shift = 1e-3;
    let mix = |shift| Mix { mass: 0.0, elastic: 1.0 + shift, geometric: 1.0 };
    let mut chain = rod.factorise(shape, mix(shift));
    while chain.not_positive() > 0 && shift < 1e12 {
        shift *= 2.0;
        chain = rod.factorise(shape, mix(shift));
    }
    let mut x = any_change(blocks);
    for _ in 0..30 {
        let y = chain.solve(&rod.elastic(&x));
        let size = dot(&y, &y).sqrt();
        x = y.iter().map(|y| y / size).collect();
    }
    x
}
