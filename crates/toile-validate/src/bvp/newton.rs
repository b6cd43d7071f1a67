//! Damped Newton on a fixed mesh, with the slopes of each interval condensed out.

use super::collocation::Rule;
use super::elimination::{Border, Elimination};
use super::solution::Solution;
use super::{BoundaryValueProblem, BvpError, Settings};
use nalgebra::{DMatrix, DVector, Dyn, LU};

/// Residuals of the collocation equations.
struct Residual {
    /// F_ij = K_ij − f(s_ij, Y_ij, p), stacked per interval.
    stages: Vec<DVector<f64>>,
    /// C_i = y_{i+1} − y_i − h Σ b_j K_ij.
    joints: Vec<DVector<f64>>,
    /// g(y(0), y(1), p).
    boundary: DVector<f64>,
}

/// Linearisation: δK = V δy_i + U δp − M⁻¹F per interval, and the factorised condensed system.
struct Linearisation {
    local: Vec<Local>,
    global: Elimination,
}

struct Local {
    m: LU<f64, Dyn, Dyn>,
    v: DMatrix<f64>,
    u: DMatrix<f64>,
}

/// A Newton correction.
struct Correction {
    nodes: Vec<f64>,
    slopes: Vec<f64>,
    parameters: Vec<f64>,
}

/// Solves the collocation equations on the mesh of `u`, in place.
///
/// A step is damped until the simplified correction at its end is shorter than the step's own (the affine-invariant
/// test of Deuflhard, Ascher–Mattheij–Russell §8.1.1): scaling the equations changes nothing.
pub(crate) fn solve_on_mesh<P: BoundaryValueProblem>(
    problem: &P,
    rule: &Rule,
    u: &mut Solution,
    settings: &Settings,
) -> Result<(), BvpError> {
    let mut here = residual(problem, rule, u);
    if let Some(interval) = here.not_finite() {
        return Err(BvpError::NotFinite { interval });
    }
    let mut size = f64::INFINITY;
    for step in 0..settings.newton_steps {
        let linear = linearise(problem, rule, u)?;
        let full = linear.correct(rule, u, &here)?;
        let scales = scales(u, &full);
        let previous = size;
        size = full.norm(&scales);
        if !size.is_finite() {
            return Err(BvpError::Singular);
        }
        // Rounding can stop the decrease a little above the tolerance on ill-conditioned meshes; a correction this
        // small that no longer shrinks cannot be improved.
        if size <= settings.newton_tolerance || (size < 1e-8 && size > 0.5 * previous) {
            u.add(&full, 1.0);
            return Ok(());
        }
        let mut damping = 1.0;
        loop {
            let mut trial = u.clone();
            trial.add(&full, damping);
            let there = residual(problem, rule, &trial);
            if there.not_finite().is_none() {
                let simplified = linear.correct(rule, &trial, &there)?;
                let left = simplified.norm(&scales);
                if left <= (1.0 - 0.25 * damping) * size || left <= settings.newton_tolerance {
                    if damping == 1.0 && left <= settings.newton_tolerance {
                        trial.add(&simplified, 1.0);
                        *u = trial;
                        return Ok(());
                    }
                    *u = trial;
                    here = there;
                    break;
                }
                if size < 1e-8 {
                    // Same rounding limit as above, seen from the line search.
                    *u = trial;
                    return Ok(());
                }
            }
            damping *= 0.5;
            if damping < 1e-4 {
                return Err(BvpError::Newton { steps: step + 1, correction: size });
            }
        }
    }
    Err(BvpError::Newton { steps: settings.newton_steps, correction: size })
}

/// Y_ij = y_i + h Σ_l a_jl K_il.
fn stage_value(u: &Solution, rule: &Rule, i: usize, j: usize) -> Vec<f64> {
    let h = u.mesh[i + 1] - u.mesh[i];
    let mut y = u.node(i).to_vec();
    for (y, increment) in y.iter_mut().zip(u.combine(i, &rule.coefficients[j])) {
        *y += h * increment;
    }
    y
}

fn residual<P: BoundaryValueProblem>(problem: &P, rule: &Rule, u: &Solution) -> Residual {
    let (n, k) = (u.dimension, rule.stages());
    let mut f = vec![0.0; n];
    let (mut stages, mut joints) =
        (Vec::with_capacity(u.intervals()), Vec::with_capacity(u.intervals()));
    for i in 0..u.intervals() {
        let h = u.mesh[i + 1] - u.mesh[i];
        let mut stage = DVector::zeros(n * k);
        for j in 0..k {
            problem.rhs(
                u.mesh[i] + rule.points[j] * h,
                &stage_value(u, rule, i, j),
                &u.parameters,
                &mut f,
            );
            for c in 0..n {
                stage[j * n + c] = u.slope(i, j)[c] - f[c];
            }
        }
        stages.push(stage);
        let increment = u.combine(i, &rule.weights);
        joints.push(DVector::from_fn(n, |c, _| u.node(i + 1)[c] - u.node(i)[c] - h * increment[c]));
    }
    let mut boundary = DVector::zeros(n + u.parameters.len());
    problem.boundary(u.node(0), u.node(u.intervals()), &u.parameters, boundary.as_mut_slice());
    Residual { stages, joints, boundary }
}

impl Residual {
    fn not_finite(&self) -> Option<usize> {
        let bad = |v: &DVector<f64>| v.iter().any(|x| !x.is_finite());
        (0..self.stages.len())
            .find(|&i| bad(&self.stages[i]) || bad(&self.joints[i]))
            .or_else(|| bad(&self.boundary).then_some(0))
    }
}

fn linearise<P: BoundaryValueProblem>(
    problem: &P,
    rule: &Rule,
    u: &Solution,
) -> Result<Linearisation, BvpError> {
    let (n, k, m) = (u.dimension, rule.stages(), u.parameters.len());
    let (mut fy, mut fp) = (DMatrix::zeros(n, n), DMatrix::zeros(n, m));
    let mut local = Vec::with_capacity(u.intervals());
    let mut transfers = Vec::with_capacity(u.intervals());
    for i in 0..u.intervals() {
        let h = u.mesh[i + 1] - u.mesh[i];
        let mut matrix = DMatrix::identity(n * k, n * k);
        let (mut v, mut w) = (DMatrix::zeros(n * k, n), DMatrix::zeros(n * k, m));
        for j in 0..k {
            fy.fill(0.0);
            fp.fill(0.0);
            let y = stage_value(u, rule, i, j);
            problem.rhs_jacobian(
                u.mesh[i] + rule.points[j] * h,
                &y,
                &u.parameters,
                &mut fy,
                &mut fp,
            );
            for l in 0..k {
                let mut block = matrix.view_mut((j * n, l * n), (n, n));
                block -= &fy * (h * rule.coefficients[j][l]);
            }
            v.view_mut((j * n, 0), (n, n)).copy_from(&fy);
            w.view_mut((j * n, 0), (n, m)).copy_from(&fp);
        }
        let lu = matrix.lu();
        if !(lu.solve_mut(&mut v) && lu.solve_mut(&mut w)) {
            return Err(BvpError::Singular);
        }
        let (mut g, mut p) = (DMatrix::identity(n, n), DMatrix::zeros(n, m));
        for j in 0..k {
            g += v.rows(j * n, n) * (h * rule.weights[j]);
            p += w.rows(j * n, n) * (h * rule.weights[j]);
        }
        if g.iter().chain(p.iter()).any(|x| !x.is_finite()) {
            return Err(BvpError::NotFinite { interval: i });
        }
        local.push(Local { m: lu, v, u: w });
        transfers.push((g, p));
    }
    let mut border = Border {
        start: DMatrix::zeros(n + m, n),
        end: DMatrix::zeros(n + m, n),
        parameters: DMatrix::zeros(n + m, m),
    };
    problem.boundary_jacobian(
        u.node(0),
        u.node(u.intervals()),
        &u.parameters,
        &mut border.start,
        &mut border.end,
        &mut border.parameters,
    );
    Ok(Linearisation { local, global: Elimination::new(&transfers, &border)? })
}

impl Linearisation {
    /// The correction that removes `residual`, with this (possibly older) linearisation.
    fn correct(
        &self,
        rule: &Rule,
        u: &Solution,
        residual: &Residual,
    ) -> Result<Correction, BvpError> {
        let (n, k) = (u.dimension, rule.stages());
        let (mut own, mut r) =
            (Vec::with_capacity(self.local.len()), Vec::with_capacity(self.local.len()));
        for (i, local) in self.local.iter().enumerate() {
            let h = u.mesh[i + 1] - u.mesh[i];
            let mut q = -&residual.stages[i];
            if !local.m.solve_mut(&mut q) {
                return Err(BvpError::Singular);
            }
            let mut joint = -&residual.joints[i];
            for j in 0..k {
                joint += q.rows(j * n, n) * (h * rule.weights[j]);
            }
            own.push(q);
            r.push(joint);
        }
        let (y, p) = self.global.solve(&r, &-&residual.boundary)?;
        let mut slopes = Vec::with_capacity(u.slopes.len());
        for (i, local) in self.local.iter().enumerate() {
            slopes.extend_from_slice((&own[i] + &local.v * &y[i] + &local.u * &p).as_slice());
        }
        let nodes = y.iter().flat_map(|y| y.iter().copied()).collect();
        Ok(Correction { nodes, slopes, parameters: p.as_slice().to_vec() })
    }
}

/// What each component and then each parameter is measured against: its size with and without the correction.
fn scales(u: &Solution, correction: &Correction) -> Vec<f64> {
    let n = u.dimension;
    let mut scales = u.sizes();
    let mut change = vec![0.0_f64; n];
    for (at, d) in correction.nodes.iter().enumerate() {
        change[at % n] = change[at % n].max(d.abs());
    }
    for (scale, change) in scales.iter_mut().zip(change) {
        *scale += change;
    }
    scales.extend(u.parameters.iter().zip(&correction.parameters).map(|(p, d)| p.abs() + d.abs()));
    scales
}

impl Correction {
    fn norm(&self, scales: &[f64]) -> f64 {
        let n = scales.len() - self.parameters.len();
        let nodes = self.nodes.iter().enumerate().map(|(at, d)| (d, scales[at % n]));
        let parameters = self.parameters.iter().zip(scales[n..].iter().copied());
        // A component that is zero and stays zero has no scale and no error; NaN must survive the maximum.
        nodes.chain(parameters).fold(0.0, |worst: f64, (d, scale)| {
            let relative = if *d == 0.0 { 0.0 } else { d.abs() / scale };
            if relative > worst || relative.is_nan() { relative } else { worst }
        })
    }
}

impl Solution {
    fn add(&mut self, correction: &Correction, factor: f64) {
        let add = |to: &mut [f64], from: &[f64]| {
            for (a, b) in to.iter_mut().zip(from) {
                *a += factor * b;
            }
        };
        add(&mut self.nodes, &correction.nodes);
        add(&mut self.slopes, &correction.slopes);
        add(&mut self.parameters, &correction.parameters);
    }
}
