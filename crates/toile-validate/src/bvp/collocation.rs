//! The Gauss collocation rule: points, weights and the integrals of its Lagrange polynomials.

use crate::quadrature::{gauss_legendre, legendre};

/// k Gauss points c on [0, 1], quadrature weights b and the coefficients a of the implicit Runge–Kutta form.
pub(crate) struct Rule {
    /// c_j.
    pub(crate) points: Vec<f64>,
    /// b_j = ∫₀¹ ℓ_j.
    pub(crate) weights: Vec<f64>,
    /// a_{jl} = ∫₀^{c_j} ℓ_l, by rows.
    pub(crate) coefficients: Vec<Vec<f64>>,
}

impl Rule {
    pub(crate) fn gauss(stages: usize) -> Self {
        let rule = gauss_legendre(stages);
        let mut this = Self {
            points: rule.iter().map(|(t, _)| 0.5 * (1.0 + t)).collect(),
            weights: rule.iter().map(|(_, w)| 0.5 * w).collect(),
            coefficients: Vec::new(),
        };
        this.coefficients = this.points.iter().map(|&c| this.integrals(c)).collect();
        this
    }

    pub(crate) fn stages(&self) -> usize {
        self.points.len()
    }

    /// ℓ_j(τ), the Lagrange polynomials on the Gauss points.
    ///
    /// By the Legendre expansion ℓ_j = w_j Σ_r (2r+1)/2 P_r(t_j) P_r, exact because the rule integrates the products.
    pub(crate) fn lagrange(&self, tau: f64) -> Vec<f64> {
        self.expand(
            &legendre(self.stages(), 2.0 * tau - 1.0).iter().map(|p| p[0]).collect::<Vec<_>>(),
        )
    }

    /// ∫₀^τ ℓ_j, from ∫₋₁ᵗ P_r = (P_{r+1} − P_{r−1})/(2r+1).
    pub(crate) fn integrals(&self, tau: f64) -> Vec<f64> {
        let p = legendre(self.stages() + 1, 2.0 * tau - 1.0);
        let integrals: Vec<f64> = (0..self.stages())
            .map(|r| {
                let before = if r == 0 { -1.0 } else { p[r - 1][0] };
                0.5 * (p[r + 1][0] - before) / (2 * r + 1) as f64
            })
            .collect();
        self.expand(&integrals)
    }

    fn expand(&self, values: &[f64]) -> Vec<f64> {
        (0..self.stages())
            .map(|j| {
                let p = legendre(self.stages(), 2.0 * self.points[j] - 1.0);
                let sum: f64 =
                    (0..self.stages()).map(|r| (2 * r + 1) as f64 * p[r][0] * values[r]).sum();
                self.weights[j] * sum
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_stage_rule_is_that_of_hammer_and_hollingsworth() {
        let rule = Rule::gauss(2);
        let r = 3.0_f64.sqrt() / 6.0;
        let expected = [[0.25, 0.25 - r], [0.25 + r, 0.25]];
        for j in 0..2 {
            for l in 0..2 {
                assert!((rule.coefficients[j][l] - expected[j][l]).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn lagrange_polynomials_reproduce_powers_and_their_integrals() {
        let rule = Rule::gauss(5);
        let tau = 0.37_f64;
        for power in 0..5 {
            let value: f64 =
                rule.lagrange(tau).iter().zip(&rule.points).map(|(l, c)| l * c.powi(power)).sum();
            let integral: f64 =
                rule.integrals(tau).iter().zip(&rule.points).map(|(l, c)| l * c.powi(power)).sum();
            assert!((value - tau.powi(power)).abs() < 1e-15);
            assert!((integral - tau.powi(power + 1) / (power + 1) as f64).abs() < 1e-15);
        }
    }
}
