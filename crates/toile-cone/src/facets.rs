//! The baseline: cones cut to pyramids, and a linear complementarity problem solved by pivots.

use nalgebra::DMatrix;

use crate::problem::Problem;
use crate::solver::{Monitor, Settings, Solution, Solver, Stop, Watch};

/// Pyramid of friction solved by Lemke's pivots (Stewart, Trinkle 1996).
///
/// Not exact: friction depends on the heading by up to 1 − cos(π/k), so that its residual stays at
/// that size. It is here to be compared with.
#[derive(Clone, Copy, Debug)]
pub struct Faceted {
    /// Sides k of the pyramid in dimension 3; dimension 2 has two, higher ones two per axis.
    pub facets: usize,
}

impl Default for Faceted {
    fn default() -> Self {
        Faceted { facets: 4 }
    }
}

/// Rows of the largest problem: the tableau of the pivots is dense.
const LARGEST: usize = 1600;

impl Faceted {
    /// Directions of the facets in the tangent space.
    fn directions<const D: usize>(&self) -> Vec<Vec<f64>> {
        if D == 3 {
            let k = self.facets.max(3);
            let angle = |j: usize| std::f64::consts::TAU * j as f64 / k as f64;
            return (0..k).map(|j| vec![angle(j).cos(), angle(j).sin()]).collect();
        }
        (0..2 * (D - 1))
            .map(|j| {
                let mut d = vec![0.0; D - 1];
                d[j / 2] = if j % 2 == 0 { 1.0 } else { -1.0 };
                d
            })
            .collect()
    }
}

impl<const D: usize> Solver<D> for Faceted {
    fn name(&self) -> &'static str {
        "faceted"
    }

    fn solve(
        &self,
        problem: &Problem<'_, D>,
        _start: Option<&[f64]>,
        settings: &Settings,
        watch: Watch<'_>,
    ) -> Solution {
        let mut monitor = Monitor::new(problem, settings, watch);
        let n = problem.contacts();
        let directions = self.directions::<D>();
        let k = directions.len();
        let size = n * (k + 2);
        monitor.measure(0, &vec![0.0; D * n]);
        let w = if size > LARGEST { None } else { problem.operator().dense() };
        let Some(w) = w else { return monitor.finish(Stop::Unsupported) };
        // r = G z: normals, then k sides of each contact, then the multipliers λ, which give no force.
        let mut g = DMatrix::zeros(D * n, size);
        for i in 0..n {
            g[(D * i, i)] = 1.0;
            for (j, d) in directions.iter().enumerate() {
                for (t, value) in d.iter().enumerate() {
                    g[(D * i + 1 + t, n + k * i + j)] = *value;
                }
            }
        }
        let mut m = g.transpose() * w * &g;
        let mut q: Vec<f64> = vec![0.0; size];
        for (row, value) in q.iter_mut().enumerate() {
            *value = g.column(row).iter().zip(problem.b()).map(|(g, b)| g * b).sum();
        }
        for i in 0..n {
            let lambda = n + k * n + i;
            m[(lambda, i)] = problem.mu()[i];
            for j in 0..k {
                m[(n + k * i + j, lambda)] = 1.0;
                m[(lambda, n + k * i + j)] = -1.0;
            }
        }
        let (z, pivots) = lemke(m, &q, settings.max_iterations.max(10 * size));
        let r = &g * nalgebra::DVector::from_vec(z);
        let stop = monitor.measure(pivots, r.as_slice());
        monitor.finish(stop.unwrap_or(Stop::Stalled))
    }
}

/// z with 0 ≤ z ⟂ Mz + q ≥ 0 by complementary pivots; the last basic point when they end on a ray.
pub fn lemke(m: DMatrix<f64>, q: &[f64], most: usize) -> (Vec<f64>, usize) {
    let n = q.len();
    let mut z = vec![0.0; n];
    let lowest = (0..n).min_by(|&i, &j| q[i].total_cmp(&q[j]));
    let Some(mut row) = lowest.filter(|&i| q[i] < 0.0) else { return (z, 0) };
    // w − Mz − e z₀ = q, columns w, z, z₀, q; w is basic at first.
    let mut t = vec![vec![0.0; 2 * n + 2]; n];
    for (i, row) in t.iter_mut().enumerate() {
        row[i] = 1.0;
        for j in 0..n {
            row[n + j] = -m[(i, j)];
        }
        row[2 * n] = -1.0;
        // A slight tilt, different for each row, keeps ties from cycling.
        let tilt = 1e-13 * (1.0 + i as f64) * (1.0 + q[i].abs());
        row[2 * n + 1] = q[i] + tilt;
    }
    let mut basis: Vec<usize> = (0..n).collect();
    let mut entering = 2 * n;
    let mut pivots = 0;
    loop {
        let scale = 1.0 / t[row][entering];
        t[row].iter_mut().for_each(|v| *v *= scale);
        let pivot = std::mem::take(&mut t[row]);
        for other in t.iter_mut().filter(|other| !other.is_empty()) {
            let factor = other[entering];
            if factor != 0.0 {
                other.iter_mut().zip(&pivot).for_each(|(o, p)| *o -= factor * p);
            }
        }
        t[row] = pivot;
        pivots += 1;
        let leaving = std::mem::replace(&mut basis[row], entering);
        if leaving == 2 * n || pivots >= most {
            break;
        }
        entering = if leaving < n { leaving + n } else { leaving - n };
        let mut best: Option<(f64, usize)> = None;
        for i in 0..n {
            let slope = t[i][entering];
            if slope > 1e-10 {
                let ratio = t[i][2 * n + 1].max(0.0) / slope;
                let better = best.is_none_or(|(least, at)| {
                    ratio < least || (ratio == least && basis[i] == 2 * n && at != i)
                });
                if better {
                    best = Some((ratio, i));
                }
            }
        }
        match best {
            Some((_, i)) => row = i,
            None => break,
        }
    }
    for (i, &variable) in basis.iter().enumerate() {
        if (n..2 * n).contains(&variable) {
            z[variable - n] = t[i][2 * n + 1].max(0.0);
        }
    }
    (z, pivots)
}
