//! Gauss–Legendre nodes on a panel, and integrals from its start to each of them.

use std::sync::LazyLock;

/// Nodes of a panel.
///
/// With 12 nodes and at most [`PHASE`] radians turned on a panel, integrals of products of three frame vectors from the start
/// of the panel to any node are exact to 1e-13.
pub(crate) const NODES: usize = 12;

/// The largest angle \[rad\] by which a frame may turn on a panel.
pub(crate) const PHASE: f64 = 0.5;

/// Nodes of a panel that turns by no more than [`FEW_PHASE`]: as exact there, at half the work.
pub(crate) const FEW: usize = 8;

/// The largest angle \[rad\] for few nodes.
pub(crate) const FEW_PHASE: f64 = 0.1;

/// The rule on \[0, 1\].
pub(crate) struct Rule<const N: usize> {
    /// Nodes, increasing.
    pub(crate) at: [f64; N],
    /// Weights, adding to 1.
    pub(crate) weight: [f64; N],
    /// `until[i][j]`: weight of node j in the integral from 0 to node i.
    pub(crate) until: [[f64; N]; N],
}

/// Legendre polynomials P₀…Pₙ at x.
fn legendre<const M: usize>(x: f64) -> [f64; M] {
    let mut p = [1.0; M];
    if M > 1 {
        p[1] = x;
    }
    for n in 2..M {
        let k = n as f64;
        p[n] = ((2.0 * k - 1.0) * x * p[n - 1] - (k - 1.0) * p[n - 2]) / k;
    }
    p
}

pub(crate) static RULE: LazyLock<Rule<NODES>> = LazyLock::new(rule);
pub(crate) static FEW_RULE: LazyLock<Rule<FEW>> = LazyLock::new(rule);

fn rule<const N: usize>() -> Rule<N> {
    const M: usize = NODES + 2;
    let n = N as f64;
    let mut x = [0.0; N];
    let mut w = [0.0; N];
    for i in 0..N {
        let mut t = -(std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        for _ in 0..100 {
            let p = legendre::<M>(t);
            let slope = n * (t * p[N] - p[N - 1]) / (t * t - 1.0);
            let step = p[N] / slope;
            t -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        let p = legendre::<M>(t);
        let slope = n * (t * p[N] - p[N - 1]) / (t * t - 1.0);
        (x[i], w[i]) = (t, 2.0 / ((1.0 - t * t) * slope * slope));
    }
    // The interpolant through the nodes is Σ cₖ Pₖ with cₖ = (k + ½) Σ wⱼ Pₖ(xⱼ) fⱼ, and
    // ∫₋₁ˣ Pₖ = (Pₖ₊₁ − Pₖ₋₁)(x) / (2k + 1).
    let mut until = [[0.0; N]; N];
    for i in 0..N {
        let here = legendre::<M>(x[i]);
        for j in 0..N {
            let there = legendre::<M>(x[j]);
            let mut sum = 0.5 * (x[i] + 1.0);
            for k in 1..N {
                sum += 0.5 * there[k] * (here[k + 1] - here[k - 1]);
            }
            until[i][j] = 0.5 * w[j] * sum;
        }
    }
    Rule { at: x.map(|t| 0.5 * (t + 1.0)), weight: w.map(|w| 0.5 * w), until }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomials<const N: usize>(rule: &Rule<N>) {
        for power in 0..N as i32 {
            let f = |t: f64| t.powi(power);
            let integral = |t: f64| t.powi(power + 1) / f64::from(power + 1);
            let whole: f64 = (0..N).map(|j| rule.weight[j] * f(rule.at[j])).sum();
            assert!((whole - integral(1.0)).abs() < 1e-15, "{power}");
            for i in 0..N {
                let part: f64 = (0..N).map(|j| rule.until[i][j] * f(rule.at[j])).sum();
                assert!((part - integral(rule.at[i])).abs() < 1e-15, "{power} {i}");
            }
        }
    }

    #[test]
    fn polynomials_are_integrated_exactly() {
        polynomials(&RULE);
        polynomials(&FEW_RULE);
    }

    fn oscillations<const N: usize>(rule: &Rule<N>, phase: f64) {
        // Three frame vectors turn by three times the phase.
        let n = 3.0 * phase;
        for i in 0..N {
            let part: f64 = (0..N).map(|j| rule.until[i][j] * (n * rule.at[j]).cos()).sum();
            assert!((part - (n * rule.at[i]).sin() / n).abs() < 1e-13, "{part}");
        }
    }

    #[test]
    fn oscillations_of_a_panel_are_resolved() {
        oscillations(&RULE, PHASE);
        oscillations(&FEW_RULE, FEW_PHASE);
    }
}
