//! From a drawn curve to a rod that has its shape.

use nalgebra::{DMatrix, DVector};

use crate::RodError;
use crate::curve::Curve;
use crate::element::Model;
use crate::helix_fit::floating_tangents;
use crate::refine::resampled;
use crate::rod::{Clamp, Rod, Section};
use crate::rotation::{Mat3, Vec3, cross_matrix, straightened, turn};

/// How a curve is fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitSettings {
    /// Elements of the rod.
    pub elements: usize,
    /// How curvature varies along an element.
    pub model: Model,
    /// Root-mean-square distance by which the points may be missed \[m\]: the noise of the drawing. The smoothest rod within
    /// it is taken (super-clothoids); 0 follows the points as closely as the elements can.
    pub noise: f64,
}

/// A rod in the shape of a curve.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The rod, straight by nature so far, clamped at the start of the curve.
    pub rod: Rod,
    /// Its curvatures. A super-clothoid has no twist: its frame turns as little as it can (Bishop).
    pub q: Vec<Vec3>,
    /// Largest distance from a point of the polyline to the rod \[m\].
    pub error_max: f64,
    /// Root mean square of these distances \[m\].
    pub error_rms: f64,
}

impl Fit {
    /// The same shape with its elements cut at these arclengths \[m\], where others grow from it. Also returns their joints.
    pub fn cut(&self, at: &[f64]) -> Result<(Self, Vec<usize>), RodError> {
        let rod = &self.rod;
        let shortest = rod.lengths().iter().copied().fold(f64::INFINITY, f64::min);
        let mut cuts = vec![0.0];
        for l in rod.lengths() {
            cuts.push(cuts[cuts.len() - 1] + l);
        }
        let (last, count) = (cuts[cuts.len() - 1], cuts.len());
        // A cut beside a joint is that joint.
        let near = |cuts: &[f64], s: f64| cuts.iter().position(|c| (c - s).abs() < 1e-6 * shortest);
        for s in at {
            let s = s.clamp(0.0, last);
            if near(&cuts, s).is_none() {
                cuts.push(s);
            }
        }
        if cuts.len() == count {
            let joints = at.iter().map(|s| near(&cuts, s.clamp(0.0, last)).unwrap_or(0)).collect();
            return Ok((self.clone(), joints));
        }
        cuts.sort_by(f64::total_cmp);
        let lengths: Vec<f64> = cuts.windows(2).map(|w| w[1] - w[0]).collect();
        let finer = Rod::with_lengths(rod.model(), lengths, *rod.section(), *rod.clamp())?
            .with_planar(rod.is_planar());
        let q = resampled(rod, &self.q, &finer);
        let joints = at.iter().map(|s| near(&cuts, s.clamp(0.0, last)).unwrap_or(0)).collect();
        Ok((Self { rod: finer, q, ..*self }, joints))
    }
}

/// Fits a rod to a curve; `d1` asks for a direction of the first axis of the section at the clamp.
///
/// Super-clothoids by damped Gauss–Newton on positions, with exact Jacobians; super-helices by floating tangents
/// (Derouet-Jourdan et al. 2013): arcs of helices whose tangents are those of the curve, joined without kinks.
pub fn fit(
    curve: &Curve,
    section: Section,
    d1: Option<Vec3>,
    settings: &FitSettings,
) -> Result<Fit, RodError> {
    let (rod, q) = fit_unmeasured(curve, section, d1, settings)?;
    let (error_max, error_rms) = distances(curve, &rod, &q);
    if !error_rms.is_finite() {
        return Err(RodError::NotFinite { what: "fitted shape" });
    }
    Ok(Fit { rod, q, error_max, error_rms })
}

/// [`fit`] without measuring how far it is from the curve.
pub fn fit_unmeasured(
    curve: &Curve,
    section: Section,
    d1: Option<Vec3>,
    settings: &FitSettings,
) -> Result<(Rod, Vec<Vec3>), RodError> {
    match settings.model {
        Model::SuperHelix => floating_tangents(curve, section, d1, settings.elements),
        Model::SuperClothoid => clothoids(curve, section, d1, settings),
    }
}

/// Pieces of an element between which a rod is taken for a cubic where distances from it are measured.
const PIECES: usize = 8;

/// Largest and root-mean-square distance of the polyline's points from the rod.
///
/// Each is measured to the nearest piece of the rod within a tenth of the length of where arclength puts it. Between stations the rod is taken for the
/// cubic with its points and tangents there: where a piece turns by φ that is off by φ³/384 of its length at most.
pub fn distances(curve: &Curve, rod: &Rod, q: &[Vec3]) -> (f64, f64) {
    let points = curve.points();
    let count = (PIECES * rod.lengths().len()).max(points.len()).clamp(64, 8000);
    let stations = rod.equal_stations(q, count + 1);
    let reach = (count / 10).max(4);
    let piece = rod.length() / count as f64;
    let (mut most, mut sum) = (0.0f64, 0.0);
    for (p, s) in points.iter().zip(curve.arclengths()) {
        let middle = ((s / curve.length() * count as f64) as usize).min(count - 1);
        let along = |i: usize| {
            let (a, b) = (stations[i].position, stations[i + 1].position);
            let edge = b - a;
            let t = ((p - a).dot(&edge) / edge.norm_squared()).clamp(0.0, 1.0);
            ((a + edge * t - p).norm(), t)
        };
        let (d, t) = along(middle);
        let mut nearest = (d, middle, t);
        let mut look = |i: usize| {
            let (d, t) = along(i);
            if d < nearest.0 {
                nearest = (d, i, t);
            }
            // From one piece to the next the distance changes by the length of a piece at most: those that cannot be nearer are passed over.
            (((d - nearest.0) / piece) as usize).max(1)
        };
        let last = (middle + reach).min(count);
        let mut i = middle + 1;
        while i < last {
            i += look(i);
        }
        let first = middle.saturating_sub(reach);
        let mut i = middle;
        while i > first {
            i = i.saturating_sub(look(i - 1));
        }
        let (_, i, mut t) = nearest;
        let (from, to) = (&stations[i], &stations[i + 1]);
        let cubic = Cubic {
            start: from.position,
            chord: to.position - from.position,
            slopes: [from, to].map(|s| Vec3::from(s.frame.column(2)) * piece),
        };
        // A little beyond the piece, but not beyond the rod.
        let low = if i == 0 { 0.0 } else { -0.25 };
        let high = if i + 1 == count { 1.0 } else { 1.25 };
        for _ in 0..2 {
            let (at, slope) = cubic.at(t);
            t = (t + (p - at).dot(&slope) / slope.norm_squared()).clamp(low, high);
        }
        let nearest = (cubic.at(t).0 - p).norm();
        most = most.max(nearest);
        sum += nearest * nearest;
    }
    (most, (sum / points.len() as f64).sqrt())
}

/// A piece of a curve by its ends and its slopes there.
struct Cubic {
    start: Vec3,
    chord: Vec3,
    slopes: [Vec3; 2],
}

impl Cubic {
    /// Point and slope at the fraction t.
    fn at(&self, t: f64) -> (Vec3, Vec3) {
        let ([u, v], c) = (&self.slopes, &self.chord);
        let (bend, twist) = (c * 3.0 - u * 2.0 - v, u + v - c * 2.0);
        let point = self.start + (u + (bend + twist * t) * t) * t;
        (point, u + (bend * 2.0 + twist * (3.0 * t)) * t)
    }
}

/// A frame whose third axis is the tangent and whose first is as near to `wish` as it can be.
pub(crate) fn frame_along(tangent: &Vec3, wish: Option<Vec3>) -> Mat3 {
    let across = |w: Vec3| {
        let d = w - tangent * tangent.dot(&w);
        (d.norm() > 1e-6 * w.norm() && w.norm() > 0.0).then(|| d.normalize())
    };
    // Else the coordinate axis that is furthest from the tangent.
    let axis = tangent.iamin();
    let d1 = wish.and_then(across).or_else(|| across(Vec3::ith(axis, 1.0))).unwrap_or(Vec3::x());
    Mat3::from_columns(&[d1, tangent.cross(&d1), *tangent])
}

/// Turns a frame by the smallest rotation that brings its tangent to another one.
pub(crate) fn transported(frame: &Mat3, tangent: &Vec3) -> Mat3 {
    let from: Vec3 = frame.column(2).into();
    let axis = from.cross(tangent);
    let sine = axis.norm();
    let angle = sine.atan2(from.dot(tangent));
    if sine < 1e-12 {
        return *frame;
    }
    turn(&(axis / sine), angle) * frame
}

/// Squares of the mean residual in the unknowns (tilt of the clamp about d₁ and d₂; κ₁, κ₂ per joint), linearised: JᵀJ and −Jᵀ residual over the number
/// of targets.
struct Linear {
    normal: DMatrix<f64>,
    right: DVector<f64>,
}

impl Linear {
    /// Adds one target, of which only the first unknowns know: those of the clamp and up to its element.
    fn add(&mut self, miss: &Vec3, columns: &[Vec3], share: f64) {
        for (j, own) in columns.iter().enumerate() {
            let own = own * share;
            self.right[j] -= own.dot(miss);
            // The lower triangle, column by column.
            let below = self.normal.view_mut((j, j), (columns.len() - j, 1));
            for (to, other) in below.into_iter().zip(&columns[j..]) {
                *to += own.dot(other);
            }
        }
    }
}

fn linearised(rod: &Rod, q: &[Vec3], targets: &[(f64, Vec3)]) -> Linear {
    let m = 2 + 2 * rod.blocks();
    let mut linear = Linear { normal: DMatrix::zeros(m, m), right: DVector::zeros(m) };
    let share = 1.0 / targets.len() as f64;
    let mut columns: Vec<Vec3> = Vec::with_capacity(m);
    // Rotation of the joint by each unknown, and its displacement.
    let mut theta = DMatrix::<f64>::zeros(3, m);
    let mut moved = DMatrix::<f64>::zeros(3, m);
    let clamp = rod.clamp();
    theta.set_column(0, &clamp.frame.column(0));
    theta.set_column(1, &clamp.frame.column(1));
    let (mut frame, mut r, mut from) = (clamp.frame, clamp.position, 0.0);
    let mut next = 0;
    let n = rod.lengths().len();
    for e in 0..n {
        let l = rod.lengths()[e];
        let arc = rod.arc(q, e);
        let blocks = rod.blocks_of(e);
        // Columns in use: the clamp and everything up to this element.
        let used = 2 + 2 * (blocks[1].unwrap_or(0) + 1);
        while next < targets.len() && (targets[next].0 <= from + l || e + 1 == n) {
            let (s, target) = targets[next];
            let end = arc.end(&frame, (s - from).clamp(0.0, l));
            let miss = r + end.r - target;
            let arm = cross_matrix(&end.r);
            columns.clear();
            columns.extend((0..used).map(|c| {
                let d: Vec3 = moved.fixed_view::<3, 1>(0, c).into();
                d - arm * theta.fixed_view::<3, 1>(0, c)
            }));
            for (side, block) in blocks.iter().enumerate() {
                let Some(block) = block else { continue };
                for c in 0..2 {
                    columns[2 + 2 * block + c] += end.j.column(3 * side + c);
                }
            }
            linear.add(&miss, &columns, share);
            next += 1;
        }
        let end = arc.end(&frame, l);
        let arm = cross_matrix(&end.r);
        for c in 0..used {
            let turned: Vec3 = theta.fixed_view::<3, 1>(0, c).into();
            let mut to = moved.column_mut(c);
            to -= arm * turned;
        }
        for (side, block) in blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            for c in 0..2 {
                let mut to = moved.column_mut(2 + 2 * block + c);
                to += end.j.column(3 * side + c);
                let mut to = theta.column_mut(2 + 2 * block + c);
                to += end.theta.column(3 * side + c);
            }
        }
        (frame, r, from) = (end.frame, r + end.r, from + l);
    }
    linear.normal.fill_upper_triangle_with_lower_triangle();
    linear
}

/// Σ residual² / count + roughness · Σ |Δκ|² ℓ³: of the dimension of a squared length.
fn cost(rod: &Rod, q: &[Vec3], targets: &[(f64, Vec3)], roughness: f64) -> f64 {
    let at: Vec<f64> = targets.iter().map(|t| t.0).collect();
    let stations = rod.stations(q, &at);
    let miss = stations.iter().zip(targets).map(|(s, t)| (s.position - t.1).norm_squared());
    miss.sum::<f64>() / targets.len() as f64 + roughness * bumps(rod, q)
}

fn bumps(rod: &Rod, q: &[Vec3]) -> f64 {
    let l = rod.length();
    let rough = q.windows(2).zip(rod.lengths()).map(|(w, h)| (w[1] - w[0]).norm_squared() / h);
    rough.sum::<f64>() * l.powi(5)
}

/// Brings the bending of a super-clothoid nearest to a curve again, with the twist it has.
pub(crate) fn bent_along(curve: &Curve, rod: &mut Rod, q: &mut Vec<Vec3>) {
    if rod.model() == Model::SuperClothoid {
        let targets = targets(curve, rod.lengths().len());
        improve(rod, q, &targets, SMOOTH);
    }
}

/// Points of a curve that rods of so many elements are fitted to.
fn targets(curve: &Curve, n: usize) -> Vec<(f64, Vec3)> {
    let (count, length) = ((4 * n).max(24), curve.length());
    let one = |k: usize| {
        let s = length * k as f64 / count as f64;
        (s, curve.at(s).0)
    };
    (1..=count).map(one).collect()
}

/// A trace of smoothness fixes what the points cannot tell.
const SMOOTH: f64 = 1e-16;

fn clothoids(
    curve: &Curve,
    section: Section,
    d1: Option<Vec3>,
    settings: &FitSettings,
) -> Result<(Rod, Vec<Vec3>), RodError> {
    // Noise makes a curve longer and its tangents useless: what is followed is its local mean.
    let thinned =
        (settings.noise > 0.0).then(|| curve.thinned(8.0 * settings.noise)).transpose()?;
    let drawn = curve;
    let curve = thinned.as_ref().unwrap_or(curve);
    let (n, length) = (settings.elements, curve.length());
    let (start, tangent) = curve.at(0.0);
    let clamp = Clamp { position: start, frame: frame_along(&tangent, d1) };
    let mut rod = Rod::new(Model::SuperClothoid, n, length, section, clamp)?;
    // Curvatures of the spline along a frame that does not twist.
    let h = length / n as f64;
    let mut frame = clamp.frame;
    let mut q = Vec::with_capacity(n + 1);
    for i in 0..=n {
        let s = h * i as f64;
        let (_, t) = curve.at(s);
        frame = transported(&frame, &t);
        let (before, after) = ((s - 0.5 * h).max(0.0), (s + 0.5 * h).min(length));
        let bend = (curve.at(after).1 - curve.at(before).1) / (after - before);
        let k = frame.transpose() * t.cross(&bend);
        q.push(Vec3::new(k[0], k[1], 0.0));
    }
    let targets = targets(curve, n);
    let mut roughness = SMOOTH;
    improve(&mut rod, &mut q, &targets, roughness);
    if settings.noise > 0.0 {
        // The smoothest rod within the noise: raise the weight while the misfit stays below.
        let mut best = (rod.clone(), q.clone());
        for _ in 0..25 {
            roughness *= 10.0;
            improve(&mut rod, &mut q, &targets, roughness);
            if distances(drawn, &rod, &q).1 > settings.noise {
                break;
            }
            best = (rod.clone(), q.clone());
        }
        (rod, q) = best;
    }
    Ok((rod, q))
}

/// Part of the squares below which a step gains too little to be worth its time.
const LEAST_GAIN: f64 = 1e-6;

/// Damped Gauss–Newton.
fn improve(rod: &mut Rod, q: &mut Vec<Vec3>, targets: &[(f64, Vec3)], roughness: f64) {
    let l = rod.length();
    let mut damping = 1e-9;
    let mut now = cost(rod, q, targets, roughness);
    for _ in 0..40 {
        let Linear { mut normal, mut right } = linearised(rod, q, targets);
        let m = right.len();
        for (i, h) in rod.lengths().iter().enumerate() {
            let w = roughness * l.powi(5) / h;
            for c in 0..2 {
                let (a, b) = (2 + 2 * i + c, 4 + 2 * i + c);
                let jump = q[i + 1][c] - q[i][c];
                normal[(a, a)] += w;
                normal[(b, b)] += w;
                normal[(a, b)] -= w;
                normal[(b, a)] -= w;
                right[a] += w * jump;
                right[b] -= w * jump;
            }
        }
        let mut taken = false;
        while damping < 1e6 {
            let mut damped = normal.clone();
            for i in 0..m {
                // Curvatures weigh in by the lengths they move.
                let unit = if i < 2 { l * l } else { (l * l / rod.lengths().len() as f64).powi(2) };
                damped[(i, i)] += damping * unit * 1e-3;
            }
            let Some(factor) = damped.cholesky() else {
                damping *= 10.0;
                continue;
            };
            let step = factor.solve(&right);
            // What the squares promise at most.
            if 2.0 * step.dot(&right) < LEAST_GAIN * now {
                return;
            }
            let (mut there, mut moved) = (rod.clone(), q.clone());
            let mut clamp = *rod.clamp();
            let tilt = clamp.frame.column(0) * step[0] + clamp.frame.column(1) * step[1];
            clamp.frame = straightened(&(turn(&tilt, 1.0) * clamp.frame));
            there.set_clamp(clamp);
            for (i, k) in moved.iter_mut().enumerate() {
                k[0] += step[2 + 2 * i];
                k[1] += step[3 + 2 * i];
            }
            let then = cost(&there, &moved, targets, roughness);
            if then < now {
                let gain = now - then;
                (*rod, *q, now, taken) = (there, moved, then, true);
                damping = (damping * 0.1).max(1e-14);
                if gain < LEAST_GAIN * now || now < 1e-26 * l * l {
                    return;
                }
                break;
            }
            damping *= 10.0;
        }
        if !taken {
            return;
        }
    }
}
