//! Limited-memory BFGS with a line search that brackets.

use std::collections::VecDeque;

/// When to stop, as in Ly 2021, §5.4 and §5.5.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Iterations at most.
    pub(super) iterations: usize,
    /// Largest gradient at which to stop (Euclidean norm).
    pub(super) gradient: f64,
    /// Largest component of a step at which to stop.
    pub(super) step: f64,
    /// Value at which to stop.
    pub(super) value: f64,
    /// Length of the first step.
    pub(super) first: f64,
}

/// Pairs of steps and changes of the gradient that are kept.
const MEMORY: usize = 30;
/// Armijo's and Wolfe's constants (Nocedal and Wright 2006, §3.1).
const SUFFICIENT: f64 = 1e-4;
const CURVATURE: f64 = 0.9;

pub(super) struct Minimum {
    pub(super) x: Vec<f64>,
    pub(super) value: f64,
    pub(super) iterations: usize,
    pub(super) interrupted: bool,
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// x + s d.
fn moved(x: &[f64], d: &[f64], s: f64) -> Vec<f64> {
    x.iter().zip(d).map(|(x, d)| x + s * d).collect()
}

/// Makes a function with its gradient least; `None` is where it has no value, which counts as infinite.
///
/// `observe` sees iterations and value, and ends the search by returning `false`. `Err` of the function ends it at once.
pub(super) fn minimise<E>(
    mut function: impl FnMut(&[f64]) -> Result<Option<(f64, Vec<f64>)>, E>,
    start: Vec<f64>,
    limits: &Limits,
    mut observe: impl FnMut(usize, f64) -> bool,
) -> Result<Option<Minimum>, E> {
    let Some((mut value, mut gradient)) = function(&start)? else { return Ok(None) };
    let mut x = start;
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::new();
    let mut iterations = 0;
    let mut interrupted = false;
    while iterations < limits.iterations {
        let size = dot(&gradient, &gradient).sqrt();
        if size <= limits.gradient || value <= limits.value {
            break;
        }
        if !observe(iterations, value) {
            interrupted = true;
            break;
        }
        let mut direction = two_loops(&gradient, &pairs);
        let mut slope = dot(&direction, &gradient);
        let fresh = pairs.is_empty();
        if slope >= 0.0 || slope.is_nan() {
            pairs.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -size * size;
        }
        let start_part = if fresh || pairs.is_empty() { limits.first / size } else { 1.0 };
        // Lewis and Overton 2013: bisect until Armijo's and Wolfe's conditions hold.
        let (mut low, mut high, mut part) = (0.0, f64::INFINITY, start_part);
        let mut found = None;
        for _ in 0..60 {
            let there = moved(&x, &direction, part);
            let tried = function(&there)?.filter(|(v, _)| v.is_finite());
            match tried {
                Some((v, g)) if v <= value + SUFFICIENT * part * slope => {
                    let steep = dot(&direction, &g) < CURVATURE * slope;
                    found = Some((part, there, v, g));
                    if !steep {
                        break;
                    }
                    low = part;
                }
                _ => high = part,
            }
            if high - low < 1e-14 * (1.0 + low) {
                break;
            }
            part = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * low };
        }
        let Some((part, there, v, g)) = found else {
            if pairs.is_empty() {
                break; // rounding
            }
            pairs.clear();
            continue;
        };
        let step: Vec<f64> = direction.iter().map(|d| d * part).collect();
        let change: Vec<f64> = g.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let along = dot(&step, &change);
        let short = largest(&step) <= limits.step;
        let still = v >= value && short;
        (x, value, gradient) = (there, v, g);
        iterations += 1;
        if along > 1e-14 * dot(&step, &step).sqrt() * dot(&change, &change).sqrt() {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back((step, change, 1.0 / along));
        }
        if short || still {
            break;
        }
    }
    Ok(Some(Minimum { x, value, iterations, interrupted }))
}

/// −H⁻¹ g by the pairs (Nocedal and Wright 2006, algorithm 7.4).
fn two_loops(gradient: &[f64], pairs: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut alphas = Vec::with_capacity(pairs.len());
    for (s, y, rho) in pairs.iter().rev() {
        let alpha = rho * dot(s, &q);
        q.iter_mut().zip(y).for_each(|(q, y)| *q -= alpha * y);
        alphas.push(alpha);
    }
    if let Some((_, y, rho)) = pairs.back() {
        let scale = 1.0 / (rho * dot(y, y));
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((s, y, rho), alpha) in pairs.iter().zip(alphas.iter().rev()) {
        let beta = rho * dot(y, &q);
        q.iter_mut().zip(s).for_each(|(q, s)| *q += (alpha - beta) * s);
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_end_of_a_curved_valley() {
        let valley = |x: &[f64]| -> Result<Option<(f64, Vec<f64>)>, ()> {
            if x[0] > 3.0 {
                return Ok(None); // no value there
            }
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            Ok(Some((a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b])))
        };
        let limits = Limits { iterations: 200, gradient: 1e-12, step: 0.0, value: 0.0, first: 1.0 };
        let found = minimise(valley, vec![-1.2, 1.0], &limits, |_, _| true).unwrap().unwrap();
        assert!((found.x[0] - 1.0).abs() < 1e-9 && (found.x[1] - 1.0).abs() < 1e-9);
        assert!(found.iterations < 60, "{}", found.iterations);
    }
}
